"""Formulas of bodies: a body's NumPy function, called with operands that write down what is done to them.

A body has one definition, its function in NumPy.  The interpreter calls it with arrays.  `BodyTrace` calls it with
`TracedElement` operands, which stand for one element each and have a type.  Each NumPy function that is applied to them
becomes a step.  The types of a step are those that NumPy itself chooses (``ufunc.resolve_dtypes``).  So the steps are
what the interpreter computes, one processor operation each, and a kernel can do the same.

A function is refused (`UntraceableError`) if it does anything else: if it looks at values or at shapes, if it computes
a type that C does not have, or if it calls a function that each mathematical library rounds in its own way (``exp``,
``tanh``, ``pow``).

`fold` is the one reduction.  Its order is part of its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]

_FLOATS, _INTEGERS, _TRUTH = "efd", "bhilqBHILQ", "?"
_TYPES = frozenset(np.dtype(c) for c in f"{_FLOATS}{_INTEGERS}{_TRUTH}")

_FUNCTIONS: dict[str, str] = {  # by name, the kinds of operands for which a processor has them
    **dict.fromkeys(("add", "multiply", "maximum", "minimum"), "fiub"),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"), "fiu"),
    **dict.fromkeys(("subtract", "negative", "absolute", "clip"), "fiu"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "invert"), "iub"),
    **dict.fromkeys(("left_shift", "right_shift", "floor_divide"), "iu"),
    **dict.fromkeys(("divide", "rint", "floor", "ceil", "trunc"), "f"),
}
_TRUTHS = {
    "logical_and": "bitwise_and", "logical_or": "bitwise_or", "logical_xor": "bitwise_xor", "logical_not": "invert",
    "equal": "bitwise_xor", "not_equal": "bitwise_xor",
}  # fmt: skip


class UntraceableError(TypeError):
    """A body does something that has no step."""


class TracedStep(NamedTuple):
    """A step of a formula, with the meaning of `symlayout_codegen.ir.formula.Step`."""

    function: str
    type: str
    operands: tuple[int, ...] = ()
    number: int = 0


@dataclass(slots=True)
class BodyTrace:
    """The steps that bodies do, each once."""

    steps: list[TracedStep] = field(default_factory=list)
    _known: dict[TracedStep, int] = field(default_factory=dict)
    _reduced: list[bool] = field(default_factory=list)  # whether a step depends on the place in the reduced box
    _folds: list[bool] = field(default_factory=list)  # whether a step depends on a fold

    def step(self, function: str, dtype: Any, operands: Iterable[TracedElement] = (), number: int = 0) -> TracedElement:
        """Return the result of a step.

        Raises
        ------
        UntraceableError
            C has no such type.
        """
        dtype = np.dtype(dtype)
        if dtype not in _TYPES or not dtype.isnative:
            raise UntraceableError(f"{function} of type {dtype}")
        given = tuple(operands)
        made = TracedStep(function, _type_name(dtype), tuple(o.number for o in given), number)
        if made not in self._known:
            self._known[made] = len(self.steps)
            self.steps.append(made)
            self._reduced.append(any(self._reduced[o.number] for o in given))
            self._folds.append(any(self._folds[o.number] for o in given))
        return TracedElement(self, self._known[made], dtype)

    def load(self, number: int, dtype: Any, *, reduced: bool) -> TracedElement:
        """Return the element that load *number* reads; *reduced* says that it depends on the reduced box."""
        made = self.step("load", dtype, (), number)
        self._reduced[made.number] = reduced
        return made

    def literal(self, value: Any, dtype: Any) -> TracedElement:
        """Return a constant."""
        dtype = np.dtype(dtype)
        if dtype not in _TYPES:
            raise UntraceableError(f"a constant of type {dtype}")
        pattern = np.asarray(value).astype(dtype).tobytes()
        return self.step("literal", dtype, (), int.from_bytes(pattern, "little"))

    def is_reduced(self, x: TracedElement) -> bool:
        """Return whether *x* depends on the place in the reduced box."""
        return self._reduced[x.number]

    def fold(self, name: str, x: TracedElement, start: Any) -> TracedElement:
        """Return the fold of *x* over the reduced box.

        Raises
        ------
        UntraceableError
            *x* is a fold's result itself.
        """
        if self._folds[x.number]:
            raise UntraceableError("a reduction of a reduction")
        first = self.literal(start, x.dtype)
        made = self.step(f"fold_{name}", x.dtype, (x,), self.steps[first.number].number)
        self._reduced[made.number], self._folds[made.number] = False, True
        return made

    def call(self, function: Callable[..., Any], *operands: TracedElement, **attributes: Any) -> TracedElement:
        """Return what the function of a body makes of *operands*.

        Raises
        ------
        UntraceableError
            The function has no steps.
        """
        try:
            with np.errstate(all="ignore"):
                made = function(*operands, **attributes)
        except UntraceableError:
            raise
        except (TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
            raise UntraceableError(str(error)) from error
        if isinstance(made, TracedElement):
            return made
        made = np.asarray(made)
        if made.ndim:
            raise UntraceableError("an array")
        return self.literal(made, made.dtype)


def _type_name(dtype: np.dtype[Any]) -> str:
    return "bool" if dtype.kind == "b" else f"{_KINDS[dtype.kind]}{8 * dtype.itemsize}"


_KINDS = {"i": "int", "u": "uint", "f": "float"}


class TracedElement(NDArrayOperatorsMixin):
    """An element that a trace writes down: NumPy functions of it become steps."""

    __array_priority__ = 1000.0

    def __init__(self, trace: BodyTrace, number: int, dtype: np.dtype[Any]) -> None:
        self.trace, self.number, self.dtype = trace, number, dtype

    def astype(self, dtype: Any) -> TracedElement:
        """Return the element in another type."""
        dtype = np.dtype(dtype)
        return self if dtype == self.dtype else self.trace.step("cast", dtype, (self,))

    def __array__(self, *_: Any, **__: Any) -> Array:
        raise UntraceableError("an array of elements that are not known")

    def __bool__(self) -> bool:
        raise UntraceableError("the truth of an element that is not known")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or ufunc.nout != 1:
            raise UntraceableError(f"{ufunc.__name__}.{method} with {sorted(options)}")
        return _applied(self.trace, ufunc, inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if options:
            raise UntraceableError(f"{function.__name__} with {sorted(options)}")
        if function is np.where and len(args) == 3:
            condition, x, y = (_operand(self.trace, a) for a in args)
            dtype = np.result_type(*(a.dtype if isinstance(a, TracedElement) else a for a in args[1:]))
            return self.trace.step("where", dtype, (_truth(condition), x.astype(dtype), y.astype(dtype)))
        if function is np.clip and len(args) == 3:
            return _applied(self.trace, _CLIP, args)
        raise UntraceableError(function.__name__)


_CLIP: Any = np._core.umath.clip if hasattr(np, "_core") else np.core.umath.clip  # type: ignore[attr-defined]


def _operand(trace: BodyTrace, value: Any) -> TracedElement:
    """Return an operand as it is, or a number as a constant of its own type."""
    if isinstance(value, TracedElement):
        return value
    made = np.asarray(value)
    if made.ndim:
        raise UntraceableError("an array in the function of single elements")
    return trace.literal(made, made.dtype)


def _truth(x: TracedElement) -> TracedElement:
    return x if x.dtype.kind == "b" else x.trace.step("cast", np.bool_, (x,))


def _applied(trace: BodyTrace, ufunc: Any, inputs: Any) -> TracedElement:
    """Return the step of *ufunc*, in the types that NumPy chooses."""
    name = ufunc.__name__
    weak = [type(a) if type(a) in (int, float) else None for a in inputs]  # Python's numbers take the other's type
    given = [a if isinstance(a, TracedElement) or w else _operand(trace, a) for a, w in zip(inputs, weak, strict=True)]
    chosen = ufunc.resolve_dtypes((*(w or a.dtype for a, w in zip(given, weak, strict=True)), None))
    operands = []
    for a, w, dtype in zip(given, weak, chosen, strict=False):
        if w:
            if dtype.kind in "iu" and not np.iinfo(dtype).min <= a <= np.iinfo(dtype).max:
                raise UntraceableError(f"{a} as {dtype}")
            a = trace.literal(a, dtype)
        operands.append(a.astype(dtype))
    kind, result = chosen[0].kind, chosen[-1]
    if name == "square":
        name, operands = "multiply", operands * 2
    elif name == "positive" or (name == "absolute" and kind in "ub") or (name in _WHOLE and kind in "iu"):
        return operands[0]
    elif name == "isnan" and kind == "f":
        name, operands = "not_equal", operands * 2
    elif name == "isinf" and kind == "f":
        infinite = trace.literal(np.inf, operands[0].dtype)
        name, operands = "equal", [_applied(trace, np.absolute, operands), infinite]
    elif name in _TRUTHS and (name.startswith("logical") or kind == "b"):
        made = trace.step(_TRUTHS[name], np.bool_, [_truth(x) for x in operands])
        return trace.step("invert", np.bool_, (made,)) if name == "equal" else made
    if operands[0].dtype.kind not in _FUNCTIONS.get(name, ""):
        raise UntraceableError(f"{name} of {operands[0].dtype}")
    if name == "clip" and any(_may_be_nan(trace, x) for x in operands[1:]):
        raise UntraceableError("clip between bounds that may be NaN")
    return trace.step(name, result, operands)


_WHOLE = ("rint", "floor", "ceil", "trunc")


def _may_be_nan(trace: BodyTrace, x: TracedElement) -> bool:
    """Return whether *x* may be NaN: it is, unless it is an integer or a constant number."""
    if x.dtype.kind != "f":
        return False
    step = trace.steps[x.number]
    pattern = step.number.to_bytes(x.dtype.itemsize, "little")
    return step.function != "literal" or bool(np.isnan(np.frombuffer(pattern, x.dtype)[0]))


# ---------------------------------------------------------------------- what bodies are made of


def elements(x: Any) -> Array:
    """Return *x* as an array, or as the traced element that it is."""
    found: Any = x if isinstance(x, TracedElement) else np.asarray(x)
    return cast(Array, found)


def fold(ufunc: Any, x: Any, axes: Axes, start: Any, *, exact: bool = False) -> Array:
    """Return ``ufunc(... ufunc(ufunc(start, x_1), x_2) ..., x_n)`` of the terms along the last axes.

    The terms are taken one after the other, in row-major order.  So the result does not depend on the processor, on how
    the terms are stored, or on how the work is divided.  *exact* says that the order does not matter.

    >>> float(fold(np.add, np.array([0.1, 0.2, 0.3]), (-1,), 0.0))
    0.6000000000000001
    """
    if isinstance(x, TracedElement):
        return cast(Array, x.trace.fold(ufunc.__name__, x, start))
    if exact or x.dtype.kind in "iub":
        return np.asarray(ufunc.reduce(x, axis=axes, initial=x.dtype.type(start), dtype=x.dtype))
    if not axes:
        return np.asarray(ufunc(x.dtype.type(start), x))
    batch = x.shape[: x.ndim - len(axes)]
    count = int(np.prod(x.shape[len(batch) :], dtype=np.int64))
    if not count:
        return np.full(batch, start, x.dtype)
    terms = x.reshape(*batch, count)
    first = ufunc(x.dtype.type(start), terms[..., :1])
    return np.asarray(ufunc.accumulate(np.concatenate([first, terms[..., 1:]], axis=-1), axis=-1)[..., -1])


def number_of_terms(x: Any, axes: Axes) -> Any:
    """Return how many terms there are, as a float64."""
    if isinstance(x, TracedElement):
        return x.trace.fold("add", x.trace.literal(1.0, np.float64), 0.0)
    return np.float64(np.prod(x.shape[x.ndim - len(axes) :], dtype=np.float64)) if axes else np.float64(1)


def larger(x: Any, y: Any) -> Array:
    """Return the larger of two; NaN if one is NaN, and 0.0 rather than -0.0.

    >>> float(larger(np.float32(-0.0), np.float32(0.0)))
    0.0
    """
    m = elements(np.maximum(x, y))
    return m if m.dtype.kind not in "fV" else np.where((x == 0) & (y == 0), x + y, m)


def smaller(x: Any, y: Any) -> Array:
    """Return the smaller of two; NaN if one is NaN, and -0.0 rather than 0.0."""
    m = elements(np.minimum(x, y))
    return m if m.dtype.kind not in "fV" else np.where((x == 0) & (y == 0), -(-x - y), m)
