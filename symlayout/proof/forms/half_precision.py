"""Take values in half precision for values in single precision, under the law ``"half"``.

A float16 or bfloat16 value counts as the float32 that it stands for, so a cast between these types changes nothing.
Each constant counts as rounded to the half precision that one of the sides has, if that holds its elements.  Prover
and check rewrite alike.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from symlayout.compute import quantization
from symlayout.proof.idle_functions import stands_for
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.computation import Computation, constant
from symlayout.tensors.declaration import Body

_FLOAT = np.dtype(np.float32)
_HALVES = ("float16", "bfloat16")
Sides = Sequence[Mapping[str, Tensor]]


def without_half(sides: Sides) -> list[dict[str, Tensor]]:
    """Return both sides in single precision; the same tensors if none, or two kinds, of half precision are in them.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x, w = sl.tensor("N, 2", dtype="float32", name="x"), np.float32([0.1, 0.2])
    >>> half = sl.onnx.cast(sl.onnx.mul(sl.onnx.cast(x, to=10), w.astype(np.float16)), to=1)
    >>> (one,), (other,) = (side.values() for side in without_half([{"y": sl.onnx.mul(x, w)}, {"y": half}]))
    >>> sl.prove_equal(one, other).verdict
    <Verdict.PROVED: 'proved'>
    """
    kinds = half_types([t for side in sides for t in side.values()])
    if len(kinds) != 1:
        return [dict(side) for side in sides]
    (half,) = kinds
    made: dict[int, Tensor] = {}
    for node in graph_of([t for side in sides for t in side.values()]):
        made[id(node)] = _single(node, tuple([made[id(x)] for x in node.inputs]), half)
    return [{name: made[id(t)] for name, t in side.items()} for side in sides]


def half_types(tensors: Iterable[Tensor]) -> set[np.dtype[np.generic]]:
    """Return the types of half precision among the values that *tensors* are made of."""
    return {node.dtype for node in graph_of(tensors) if node.dtype is not None and node.dtype.name in _HALVES}


def _single(node: Tensor, inputs: tuple[Tensor, ...], half: np.dtype[np.generic]) -> Tensor:
    """Return a value in single precision, of operands in single precision."""
    is_half = node.dtype == half
    if node.values is not None:
        if node.dtype not in (half, _FLOAT):
            return node
        with np.errstate(over="ignore"):
            rounded = node.values.astype(half).astype(_FLOAT)
        is_held = bool(np.array_equal(np.isinf(rounded), np.isinf(node.values)))  # within its range
        same = node.dtype == _FLOAT and rounded.tobytes() == node.values.tobytes()
        return node if same or not is_held else constant(rounded, node.name)
    if node.again is None:
        return Tensor(node.name, _FLOAT, node.extents, node.facts, key=node.key) if is_half else node
    same = all(map(operator.is_, inputs, node.inputs))
    if node.body is None or not isinstance(node.again, Computation):
        return node if same else node.again(inputs, {})
    body = _of_single(node.body, half)
    if same and body is node.body and not is_half:
        return node
    made = node.again._replace(body=body, dtype=_FLOAT if is_half else node.dtype)(inputs, {})
    is_idle = body.function is quantization.cast and made.dtype == _FLOAT == inputs[0].dtype
    return inputs[0] if is_idle and stands_for(inputs[0], made) else made


def _of_single(body: Body, half: np.dtype[np.generic]) -> Body:
    """Return a body with the attributes that it has in single precision."""
    given = tuple((name, _FLOAT if isinstance(v, np.dtype) and v == half else v) for name, v in body.attributes)
    return body if given == tuple(body.attributes) else body._replace(attributes=given)
