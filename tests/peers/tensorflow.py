"""What TensorFlow's raw ops answer, at once and in a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.peers.case import Array, Case, Entry
from tests.peers.worker import Intervals

FIRST = {"Transpose": "x", "Reshape": "tensor", "ReverseV2": "tensor", "ConcatV2": "values"}
INPUTS = {
    "block_shape", "paddings", "crops", "perm", "shape", "constant_values", "begin", "end", "strides", "size",
    "multiples", "shift", "axis",
}  # fmt: skip


def results(case: Case) -> list[Array]:
    """Return the array that the kernel makes."""
    return [_called(case, case.arrays()).numpy()]


def extents(case: Case) -> list[Intervals | None]:
    """Return what the shape function of the operation infers."""
    with tf.Graph().as_default():
        given = [tf.compat.v1.placeholder(case.dtype, [_entry(e) for e in entries]) for entries in case.known]
        shape = _called(case, given).shape
        return [None if shape.rank is None else [(0, None) if n is None else (n, n) for n in shape.as_list()]]


def _called(case: Case, given: list[Any]) -> Any:
    title = case.op.partition(":")[2]
    attributes = {k: _input(k, v, case) if k in INPUTS else v for k, v in case.attributes.items()}
    first = given if case.joint else given[0]
    return getattr(tf.raw_ops, title)(**{FIRST.get(title, "input"): first}, **attributes)


def _input(name: str, value: Any, case: Case) -> Any:
    if name == "constant_values":
        return np.asarray(value, case.dtype)
    array = np.asarray(value)
    if array.size == 0:
        array = array.astype(np.int32).reshape((-1, 2) if name in ("paddings", "crops") else (-1,))
    return array.astype(np.int32) if array.dtype.kind == "i" and np.all(abs(array) < 2**31) else array


def _entry(entry: Entry) -> int | None:
    return entry if isinstance(entry, int) else entry[0] if entry[0] == entry[1] else None
