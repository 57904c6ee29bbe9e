"""Run a model in onnxruntime as it is written: without onnxruntime's own optimisation."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def is_installed() -> bool:
    """Return whether onnxruntime can be imported."""
    return find_spec("onnxruntime") is not None


def outputs(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]]) -> list[np.ndarray[Any, Any]]:
    """Return what the model computes; the test is skipped where onnxruntime is not installed."""
    ort = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    found: list[np.ndarray[Any, Any]] = session.run(None, dict(arrays))
    return found
