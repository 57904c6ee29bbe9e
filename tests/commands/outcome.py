"""Commands that tests run, and what came of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.support.paths import ROOT

MODELS = ROOT / "examples" / "models"
PAD = "space_to_batch([2,2], [[1,1],[1,1]])"
CROP = "batch_to_space([2,2], [[1,1],[1,1]])"


def environment() -> dict[str, str]:
    """Return the variables of a process that imports this tree."""
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "codegen")])}


class Outcome:
    """What a command line did: exit status and both streams."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def data(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.out)
        return loaded


Command = Callable[..., Outcome]


def process(*words: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start a command line in a process of its own."""
    return subprocess.Popen([sys.executable, "-m", "symlayout", *words], env=environment(), **options)
