"""The networks of ``files`` as jaxlib parses them, for tests that run without it."""

from __future__ import annotations

import importlib.util
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symlayout.models.formats.stablehlo import mlir_module

FOLDER = Path(__file__).parent / "files"
NAMES = sorted(path.stem for path in FOLDER.glob("*.mlir"))
Change = Callable[[dict[str, Any]], None]
needs_jaxlib = pytest.mark.skipif(importlib.util.find_spec("jaxlib") is None, reason="jaxlib parses MLIR")


def entries(name: str) -> tuple[dict[str, Any], bytes]:
    """Return the module of a network and the elements of its constants."""
    with zipfile.ZipFile(FOLDER / "parsed.zip") as archive:
        return json.loads(archive.read(f"{name}/module.json")), archive.read(f"{name}/elements.bin")


def as_parsed(monkeypatch: pytest.MonkeyPatch, change: Change | None = None) -> None:
    """Let texts of ``files`` be parsed by what is committed, and changed."""

    def parse(file: Path, folder: Path) -> int:
        module, elements = entries(file.stem)
        if change is not None:
            change(module)
        (folder / "module.json").write_text(json.dumps(module), "utf-8")
        (folder / "elements.bin").write_bytes(elements)
        return 0

    monkeypatch.setattr(mlir_module, "_call", parse)


def operations(module: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the operations of a name, in order."""
    found = [
        op
        for function in module["functions"]
        for block in function["blocks"]
        for op in block["operations"]
        if op["name"] == f"stablehlo.{name}"
    ]
    assert found
    return found


def feeds(name: str) -> tuple[list[Any], list[Any]]:
    """Return arrays for the inputs, and what JAX makes of them."""
    arrays = np.load(FOLDER / f"{name}.npz")
    return [[arrays[key] for key in sorted(arrays.files) if key.startswith(start)] for start in ("in.", "out.")]  # type: ignore[return-value]
