"""ONNX's operators whose shapes follow from values, and values from shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from symlayout.compute import along_axis
from symlayout.compute.demands import demanding
from symlayout.compute.whole import eye_like as eye_like_body
from symlayout.compute.whole import one_hot as one_hot_body
from symlayout.compute.whole import range_of, ranged, room_of, shape_of, size_of, triangle, whole
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.operator import Sizes, as_tensor, is_known, known, known_number, operator
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.language.sympy_arithmetic import at_least
from symlayout.language.sympy_bridge import fresh
from symlayout.ops.axes import moveaxis
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.computation import constant as known_constant
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import strings

_MOST_AXES = 64  # NumPy's
_MOST_ELEMENTS = 1 << 24  # of a range that is a constant; a longer one is computed when it is asked for


def dims_of(name: str, value: Any) -> list[Any]:
    """Return extents that an input has: known ones, or a new dim for each that is read at run time."""
    numbers = known(name, value).reshape(-1) if is_known(value) else None
    count = len(numbers) if numbers is not None else value.shape[0] if value.rank else 1
    if not isinstance(count, int):
        raise ShapeError(f"{name} has {count} values: the rank is unknown", "unknown_rank")
    if count > _MOST_AXES:
        raise ShapeError(f"{name} has {count} values, a shape has at most {_MOST_AXES} axes", "rank")
    return attributes.fill(name, [None] * count if numbers is None else attributes.listed(name, numbers), 0)


def dim_of(name: str, value: Any) -> Any:
    """Return the only extent that an input has, as `dims_of` does.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if it has none or several, and as for `dims_of`.
    """
    dims = dims_of(name, value)
    if len(dims) != 1:
        raise ShapeError(f"{name} is one number, got {len(dims)}", "attr_dtype")
    return dims[0]


_CONSTANT = {key: "The value, as the standard spells it." for key in ("value", "sparse_value")} | {
    f"value_{kind}": "The value." for kind in ("float", "floats", "int", "ints", "string", "strings")
}


@operator("Constant", example=("", "value_ints=(1, 2)", "(2,)"), kinds="attr_missing", about=_CONSTANT)
def constant(
    value: Any = None,
    sparse_value: Any = None,
    value_float: Any = None,
    value_floats: Any = None,
    value_int: Any = None,
    value_ints: Any = None,
    value_string: Any = None,
    value_strings: Any = None,
) -> Tensor:
    """Return a constant."""
    if value is not None:
        return known_constant(np.asarray(value))
    for given, dtype in (
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
    ):
        if given is not None:
            return known_constant(np.asarray(given, dtype))
    if value_string is not None:
        return known_constant(strings([str(value_string).encode()]).reshape(()))
    if value_strings is not None:
        return known_constant(strings([str(text).encode() for text in value_strings]))
    raise ShapeError("Constant has no value that is read", "attr_missing")


@operator(
    "Shape",
    example=("N, C, H", "start=1", "(2,)"),
    kinds="attr_dtype",
    about={"start": "The first axis.", "end": "The axis after the last."},
)
def shape(data: Tensor, start: Any = 0, end: Any = None) -> Tensor:
    """Return the extents of *data* from axis *start* to before axis *end*, as int64."""
    first = attributes.constant("start", start)
    last = None if end is None else attributes.constant("end", end)
    found = data.shape[first:last]
    if all(isinstance(n, int) for n in found):
        return known_constant(np.asarray(found, np.int64))
    given = (("start", first), ("end", last))
    return whole("shape_of", [data], (len(found),), function=shape_of, attributes=given, dtype=np.int64)


@operator("Size", example=("N, C, H", "", "()"), kinds="overflow")
def size(data: Tensor) -> Tensor:
    """Return the number of elements of *data*, as int64."""
    if all(isinstance(n, int) for n in data.shape):
        return known_constant(np.asarray(math.prod(data.shape), np.int64))
    return whole("size_of", [data], (), function=size_of, dtype=np.int64)


@operator(
    "ConstantOfShape",
    example=("", "input=(2, 3)", "(2, 3)"),
    kinds="attr_dtype, size_mismatch",
    about={"input": "The extents.", "value": "The value of each element; None is 0.0."},
)
def constant_of_shape(input: Tensor | Any, value: Any = None) -> Tensor:
    """Return a tensor whose elements are one value."""
    element = np.zeros((), np.float32) if value is None else np.asarray(known_number("value", value))
    return broadcast_to(known_constant(element), dims_of("input", input))


@operator(
    "Range",
    example=("", "start=0, limit=10, delta=3", "(4,)"),
    kinds="attr_dtype, infeasible",
    about={
        "start": "The first value.",
        "limit": "What no value reaches.",
        "delta": "The step.",
        "stash_type": "As in the standard.",
    },
)
def range(start: Tensor | Any, limit: Tensor | Any, delta: Tensor | Any, stash_type: Any = 1) -> Tensor:
    """Return the values from *start* to before *limit*, every *delta*."""
    operands = (start, limit, delta)
    if not all(map(is_known, operands)):
        return _range_of_data(operands)
    first, last, step = (known_number("value", v) for v in operands)
    if step == 0:
        raise ShapeError("delta is 0", "infeasible")
    if all(isinstance(v, np.generic) for v in (first, last, step)):
        count = _count(first, last, step)
        if count is None:
            return _range_of_data(operands)
        if count > _MOST_ELEMENTS:
            values = (("values", (first.item(), last.item(), step.item())),)
            return whole("range", [], (count,), attributes=values, dtype=first.dtype)
        return known_constant((first + np.arange(count) * step).astype(np.asarray(first).dtype))
    if step == 1 and getattr(first, "free_symbols", ()) and at_least(first, 0):  # positions behind those of a cache
        return getitem(range(0, last, 1), slice(first, None))
    distance, by = attributes.scalar("limit", last - first, 0), attributes.constant("delta", int(step))
    count = (distance + by - 1) // by
    room = room_of((count,))
    given = (("start", int(first)), ("delta", by), ("to", np.dtype(np.int64)))
    return whole("range", [room], (count,), function=ranged, attributes=given, dtype=np.int64)


def _range_of_data(operands: Sequence[Any]) -> Tensor:
    xs = [as_tensor("Range", "value", np.asarray(v) if is_known(v) else v) for v in operands]
    return whole("range", xs, (fresh("count", 0),), function=range_of)


def _count(first: Any, last: Any, step: Any) -> int | None:
    """Return the length of a range of numbers; None if runtimes differ: they subtract and divide in other types."""
    if isinstance(first, np.integer):
        return max(-((int(first) - int(last)) // int(step)), 0)
    numbers = [float(v) for v in (first, last, step)]
    if not all(map(math.isfinite, numbers)):
        return None
    a, b, by = numbers
    counts = {math.ceil((Fraction(b) - Fraction(a)) / Fraction(by))}
    with np.errstate(all="ignore"):
        quotients = ((b - a) / by, float(last - first) / by, float((last - first) / step))
    counts.update(math.ceil(q) if math.isfinite(q) else -1 for q in quotients)
    return max(counts.pop(), 0) if len(counts) == 1 else None


@operator("EyeLike", example=("N, M", "", "(N, M)"), kinds="rank", about={"k": "The number of the diagonal."})
def eye_like(input: Tensor, dtype: Any = None, k: Any = 0) -> Tensor:
    """Return a tensor of the shape of *input* that is 1 on a diagonal and 0 elsewhere."""
    require_rank("EyeLike", input, 2, 2)
    to = of_number("dtype", dtype) if dtype is not None else input.dtype
    given = (("k", attributes.constant("k", k)), ("to", to))
    return whole("eye_like", [input], input.shape, function=eye_like_body, attributes=given, dtype=to)


@operator(
    "Trilu",
    example=("N, H, W", "upper=0", "(N, H, W)"),
    kinds="rank, attr_dtype",
    about={"k": "The number of the diagonal.", "upper": "Which side stays."},
)
def trilu(input: Tensor, k: Any = None, upper: Any = 1) -> Tensor:
    """Return the elements on one side of a diagonal of each matrix, and 0 elsewhere."""
    rank = require_rank("Trilu", input, 2)
    number = 0 if k is None else int(known_number("k", k))
    given = (("k", number), ("upper", attributes.flag("upper", upper)))
    return along_axis.along(input, [rank - 2, rank - 1], triangle, given)


@operator(
    "OneHot",
    example=("N; 1; 2", "", "2"),
    kinds="bad_axis, attr_dtype, unknown_rank, length_mismatch",
    about={"depth": "The extent of the new axis."},
)
def one_hot(indices: Tensor, depth: Tensor | Sizes, values: Tensor, axis: Any = -1) -> Tensor:
    """Return the second of *values* at each index along a new axis, and the first elsewhere."""
    rank = indices.rank
    along = attributes.axis("axis", axis, rank + 1)
    if is_known(depth):
        numbers = known("depth", depth).reshape(-1)
        if numbers.size != 1:
            raise ShapeError(f"depth holds {numbers.size} numbers, not one", "length_mismatch")
        number = numbers[0]
        count = dims_of("depth", int(number) if isinstance(number, np.generic) else number)[0]
    else:
        count = fresh("depth", 0)
    what = "a depth of {}, not at least {}"
    indices = demanding(indices, what, at_least=[(count, 1)] if is_known(depth) else [], kind=LEFT_OUT)
    room = room_of((*indices.shape, count))
    values = require_shape("values", values, (2,), "length_mismatch")
    pair = broadcast_to(reshape(values, (*(1,) * rank, 2)), (*indices.shape, 2))
    body = Body("one_hot", one_hot_body, over=True)
    made = compute(body, [indices, pair, room], batch=rank, result=(count,), dtype=values.dtype)
    return made if along == rank else moveaxis(made, -1, along)
