"""Sizes and elements at which answers are judged: small sizes, special values, integer extremes, small integers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from symlayout.proof.laws import HALF, LAWS

GRANTED = tuple(law for law in LAWS if law != HALF)
"""The laws under which results have one element type; half precision has tests of its own."""

Array = np.ndarray[Any, Any]

SPECIAL = (
    0.0,
    -0.0,
    np.nan,
    np.inf,
    -np.inf,
    1e-45,
    -1e-45,
    1e-40,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.0,
    3.0,
    -2.5,
    3e38,
    6e4,
)
# operators for which any integer is as good as another
_ANY_INTEGER = {"Abs", "Neg", "Sign", "Add", "Sub", "Mul", "Max", "Min", "Relu", "Equal", "Less", "Greater", "Cast",
                "LessOrEqual", "GreaterOrEqual", "Clip", "Where", "Identity", "Transpose", "BitwiseAnd", "BitwiseOr",
                "BitwiseXor", "BitwiseNot", "ReduceMax", "ReduceMin", "ReduceSum", "Concat", "Sum", "Not"}  # fmt: skip


def dims_of(model: Any) -> list[str]:
    """Return the names of the dims of a model's inputs."""
    dims = (d.dim_param for x in model.graph.input for d in x.type.tensor_type.shape.dim)
    return list(dict.fromkeys(d for d in dims if d))


def sizes(model: Any, base: Mapping[str, int], rnd: random.Random, count: int) -> list[dict[str, int]]:
    """Return sizes for the dims of a model: *base* first, sizes near to it, and any of 0 to 4."""
    names = dims_of(model)
    found = [{n: base.get(n, 1) for n in names}]
    for k in range(count - 1 if names else 0):
        if k % 3 == 0:
            drawn = {n: rnd.choice((base.get(n, 1), base.get(n, 1), rnd.randint(0, 4))) for n in names}
        elif k % 3 == 1:
            one = rnd.choice(names)
            drawn = {n: rnd.choice((0, 1, 2, 3, 4, 5, 7, 12)) if n == one else base.get(n, 1) for n in names}
        else:
            drawn = {n: rnd.randint(0, 4) for n in names}
        found.append(drawn)
    return found


def arrays(
    model: Any,
    at: Mapping[str, int],
    rnd: random.Random,
    base: Mapping[str, Array] | None = None,
    manner: str = "",
    others: Sequence[Any] = (),
) -> dict[str, Array]:
    """Return inputs of these sizes.  Elements are those of *base* where that has the shape, or drawn ones.

    The models *others* take them, too.  *manner* is one of "small" (exact quarters), "special", "normal" and "extreme";
    without it, any.
    """
    rng = np.random.default_rng(rnd.getrandbits(32))
    manner = manner or rnd.choice(("small", "small", "special", "special", "normal", "extreme"))
    operators = {node.op_type for m in (model, *others) for node in m.graph.node}
    wild, divides = operators <= _ANY_INTEGER, bool(operators & {"Div", "Mod", "BitShift"})
    made = {}
    for x in model.graph.input:
        shape = [at[d.dim_param] if d.dim_param else d.dim_value for d in x.type.tensor_type.shape.dim]
        dtype = import_module("onnx.helper").tensor_dtype_to_np_dtype(x.type.tensor_type.elem_type)
        own = None if base is None else base.get(x.name)
        if own is not None and own.shape == tuple(shape) and (own.dtype.kind not in "fc" or rnd.random() < 0.3):
            made[x.name] = own
        else:
            made[x.name] = drawn(rng, shape, dtype, manner if wild or manner != "extreme" else "small", divides)
    return made


def drawn(rng: np.random.Generator, shape: Sequence[int], dtype: Any, manner: str, positive: bool = False) -> Array:
    """Return an array of elements drawn in one *manner*."""
    dtype = np.dtype(dtype)
    if dtype.kind in "USO":
        return np.asarray(rng.choice(["", "a", "b", "0", "-0", "nan"], shape), object)
    if dtype.kind == "b":
        return np.asarray(rng.integers(0, 2, shape), bool)
    if dtype.kind == "c":
        return np.asarray(rng.integers(-8, 9, shape) / 4 + 1j * rng.integers(-8, 9, shape) / 4, dtype)
    if dtype.kind in "iu" or "int" in dtype.name:
        low = 1 if positive else 0 if dtype.kind == "u" or "uint" in dtype.name else -3
        if manner in ("special", "extreme") and dtype.kind in "iu" and not positive:
            info = np.iinfo(dtype)
            near = np.array([info.min, info.max, 0, 1, 2, 3], dtype)
            return (
                np.asarray(rng.choice(near, shape))
                if manner == "extreme"
                else np.asarray(rng.integers(low, 8, shape), dtype)
            )
        return np.asarray(rng.integers(low, 6, shape), dtype)
    with np.errstate(all="ignore"):
        if manner in ("special", "extreme"):
            return np.asarray(np.asarray(rng.choice(SPECIAL, shape)).astype(np.float64)).astype(dtype)
        if manner == "normal":
            return np.asarray(rng.normal(size=shape)).astype(dtype)
        return np.asarray(rng.integers(-16, 17, shape) / 4).astype(dtype)
