"""The table of peers, and those that are installed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib.util import find_spec

from symlayout.commands.peers import arrays, graphs
from symlayout.commands.peers.task import Call, Task

Prepare = Callable[[Task], Call]

RIVALS: dict[str, Prepare] = {
    "numpy": arrays.numpy,
    "torch": arrays.torch,
    "onnxruntime": graphs.onnxruntime,
    "openvino": graphs.openvino,
    "tensorflow": arrays.tensorflow,
    "jax": arrays.jax,
}
"""Functions that return a call of a task.  The call returns the result, unless it writes it to the task's ``out``."""

OF_FRAMEWORK = {"onnx": "onnxruntime", "openvino": "openvino", "tensorflow": "tensorflow", "torch": "torch"}
"""The peer that has the operations of each framework."""

_NEEDS = {"onnxruntime": ("onnx", "onnxruntime")}


def installed(names: Iterable[str] = RIVALS) -> list[str]:
    """Return the peers in *names* whose packages can be imported."""
    return [name for name in names if all(find_spec(part) is not None for part in _NEEDS.get(name, (name,)))]
