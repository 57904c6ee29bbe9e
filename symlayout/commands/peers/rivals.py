"""Which peers there are, and those that this environment has."""

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
"""Each prepares a call of a task, whose result it returns unless that is in the task's ``out``."""

OF_FRAMEWORK = {"onnx": "onnxruntime", "openvino": "openvino", "tensorflow": "tensorflow", "torch": "torch"}
"""Which of them has the operations of a framework."""

_NEEDS = {"onnxruntime": ("onnx", "onnxruntime")}


def installed(names: Iterable[str] = RIVALS) -> list[str]:
    """Return those of *names* that can be imported."""
    return [name for name in names if all(find_spec(part) is not None for part in _NEEDS.get(name, (name,)))]
