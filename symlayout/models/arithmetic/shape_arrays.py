"""Arrays of integers and expressions in dims, and what operations on whole arrays make of them.

Operations that move elements are those of the catalogue.  They are applied to the numbers of the elements, which shows
where each element moves.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.errors import FormatError, ShapeError, shortened
from symlayout.maps.interpreter import interpret
from symlayout.models.apply_node import Constant, Value, apply_layer
from symlayout.models.arithmetic.choices import Choice
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

MAX_TERMS = 64  # of an expression, were it multiplied out
_MAX_AXES = 32  # that NumPy broadcasts
_LIMIT = 1 << 63

Rule = Callable[..., Any]


class NotComputedError(FormatError):
    """A value is not computed as an array of expressions, because it is too large or has another form.

    It is a value of the graph nevertheless: a tensor.
    """


def _shape(data: Value, start: int = 0, end: int | None = None) -> Constant:
    return array_of(list(data.shape)[slice(start, end)])


def _size(data: Value) -> Constant:
    return array_of([math.prod(data.shape)], ())


def gather(data: Constant, indices: Constant, axis: Any = 0) -> Constant:
    """Return the elements of *data* at *indices* along an axis."""
    chosen = np.asarray(exact_integers(indices), np.int64)
    axis = range(data.ndim)[operator.index(np.ravel(axis).item())]
    check_countable((*data.shape, *chosen.shape))
    return np.take(data, chosen.ravel(), axis).reshape(data.shape[:axis] + chosen.shape + data.shape[axis:][1:])


def _constant_of_shape(shape: Constant, value: Constant | None = None) -> Constant:
    extents = [_known(n) for n in exact_integers(shape)]
    check_countable(extents)
    filled = np.zeros(1, np.float32) if value is None else value
    return np.full(extents, filled.reshape(()))


def _range(start: Constant, limit: Constant, delta: Constant) -> Constant:
    found = range(*(_known(exact_integers(end).reshape(()).item()) for end in (start, limit, delta)))
    check_countable([len(found)])
    return array_of(list(found))


def _product(data: Constant, axes: Constant | None = None, keepdims: int = 1, **_: Any) -> Constant:
    along = None if axes is None else tuple(operator.index(axis) for axis in np.ravel(axes))
    return np.asarray(np.prod(exact_integers(data), axis=along, keepdims=bool(keepdims)), object)


WHOLE_ARRAYS: dict[str, Rule] = {
    "Shape": _shape, "Size": _size, "Gather": gather, "ConstantOfShape": _constant_of_shape,
    "Range": _range, "ReduceProd": _product,
}  # fmt: skip
"""The function for each operation on whole arrays; `Shape` and `Size` also take a tensor."""


def moved(title: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], where: str) -> list[Constant]:
    """Return the outputs of an operation of the catalogue, which moves the elements of its first input, or of all."""
    frontends.find(title)
    count = len(inputs) if frontends.is_joint(title) else 1
    data = [value for value in inputs[:count] if isinstance(value, np.ndarray)]
    if not data or len(data) < count:
        raise FormatError("data is left out")
    elements = np.concatenate([np.zeros(1, data[0].dtype), *(value.ravel() for value in data)])
    leaves: list[Value | None] = []
    numbers: dict[str, Constant] = {}
    first = 1  # number 0 is the fill
    for k, value in enumerate(data):
        leaves.append(tensor(value.shape, name=f"v{k}"))
        numbers[f"v{k}"] = np.arange(first, first + value.size).reshape(value.shape)
        first += value.size
    results = apply_layer(title, [*leaves, *inputs[count:]], attributes, where)
    for result in results:
        if not all(isinstance(n, int) for n in result.shape):
            raise NotComputedError(f"shape {result.shape} of what is computed from shapes is not known")
        check_countable(result.shape)
        if any(case.fill is not None and case.fill.value != 0 for node in result.nodes() for case in _cases(node)):
            raise NotComputedError("only 0 can be put beside what is computed from shapes")
        if result.facts.requirements:
            raise NotComputedError("what is computed from shapes is there for some sizes only")
    try:
        places = [interpret(result, *(numbers[leaf.name] for leaf in result.leaves())) for result in results]
    except ShapeError as error:
        if error.kind != "unbound_dim":
            raise
        raise NotComputedError("which element of a shape is read depends on a size") from error
    return [elements[place.ravel()].reshape(place.shape) for place in places]


def _cases(node: Tensor) -> Sequence[Any]:
    return node.declared.cases if node.declared else ()


def elements(found: Sequence[Any], shape: tuple[int, ...]) -> Constant:
    """Return an array of these objects, whatever they are."""
    made = np.empty(len(found), object)
    made[:] = found
    return made.reshape(shape)


def array_of(numbers: Sequence[Any], shape: tuple[int, ...] | None = None) -> Constant:
    """Return an array of Python ints and expressions."""
    made = np.empty(len(numbers), object)
    made[:] = [int(n) if getattr(n, "is_Integer", False) else n for n in numbers]
    return made if shape is None else made.reshape(shape)


def exact_integers(value: Any) -> Constant:
    """Return the integers and truth values of *value* as Python's, which do not wrap."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iubO":
        what = value.dtype if isinstance(value, np.ndarray) else "nothing"
        raise NotComputedError(f"a shape is computed from {what}, not from integers")
    return value.astype(object)


def _known(n: Any) -> int:
    """Return a number; an expression makes the shape of a value unknown here."""
    if hasattr(n, "free_symbols"):
        raise NotComputedError(f"the shape of a value depends on {shortened(str(n))}")
    return operator.index(n)


def check_countable(shape: Sequence[int]) -> None:
    """Refuse a large value: attributes have a few elements per axis."""
    if any(n < 0 for n in shape) or math.prod(shape) > MAX_CONSTANT:
        raise NotComputedError(f"a value of shape {shortened(str(tuple(shape)))} has not 0 to {MAX_CONSTANT} elements")


def is_small(value: Constant) -> bool:
    """Return whether *value* is one to compute with: attributes have few elements, and NumPy broadcasts 32 axes."""
    return value.size <= MAX_CONSTANT and value.ndim <= _MAX_AXES


def checked(value: Constant) -> Constant:
    """Return *value*, whose numbers fit int64 and whose expressions are small."""
    if value.ndim > _MAX_AXES:
        raise NotComputedError(f"a value has {value.ndim} axes, more than {_MAX_AXES}")
    if value.dtype == object:
        for number in value.reshape(-1):
            count_terms(number)
    return value


def count_terms(e: Any) -> int:
    """Return an upper bound of the number of terms of *e* multiplied out.

    A quotient, remainder or extreme is one factor, and the terms of what it is made of count once beside.
    """
    if isinstance(e, Choice):
        return count_terms(e.zero) + count_terms(e.then) + count_terms(e.other)
    inner: dict[Any, int] = {}
    count = _multiplied_out(e, inner) + sum(inner.values())
    _check_count(count)
    return count


def _multiplied_out(e: Any, inner: dict[Any, int]) -> int:
    """Return how many terms *e* has; add those within its quotients, remainders and extremes to *inner*."""
    if isinstance(e, int) or e.is_Rational:
        if not max(abs(int(getattr(e, "p", e))), int(getattr(e, "q", 1))) < _LIMIT:
            raise ShapeError("an integer of a shape exceeds int64", "overflow")
        return 1
    if e.is_Add:
        count = sum(_multiplied_out(part, inner) for part in e.args)
    elif e.is_Mul:
        count = math.prod(_multiplied_out(part, inner) for part in e.args)
    elif e.is_Pow:
        base, exponent = (_multiplied_out(e.base, inner), int(e.exp))
        count = max(base, 2) ** min(abs(exponent), MAX_TERMS)
    else:
        count = 1
        if e.args and e not in inner:
            inner[e] = 0
            inner[e] = sum(_multiplied_out(part, inner) for part in e.args)
    _check_count(count + len(inner))
    return count


def _check_count(count: int) -> None:
    if count > MAX_TERMS:
        raise NotComputedError(f"an expression of a shape has more than {MAX_TERMS} terms")
