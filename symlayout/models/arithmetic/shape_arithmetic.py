"""Compute the nodes by which a model makes its shapes, on integers and expressions in dims.

The operations have ONNX's names; those of OpenVINO are translated by its loader.  A value is an array of any rank.

Here are the elementwise operations, casts, and the decisions that they need.  Beside them, `shape_arrays` has the
operations on whole arrays, `real_arithmetic` floats.  Left out: subgraphs.  Semantics: ONNX, "Operator Schemas".
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.deadlines import in_question, question
from symlayout.errors import LEFT_OUT, FormatError, InconclusiveError, ShapeError, SymlayoutError, shortened, shown
from symlayout.frontends.slices import PAST_THE_END
from symlayout.language.sympy_arithmetic import (
    exact_quotients,
    exact_ratio,
    floor_quotient,
    least,
    quotients,
    same_products,
)
from symlayout.language.sympy_bridge import extreme, to_extent
from symlayout.models.apply_node import Constant, Value
from symlayout.models.arithmetic import real_arithmetic
from symlayout.models.arithmetic.choices import Choice, branches, compared, is_open, joined
from symlayout.models.arithmetic.shape_arrays import (
    WHOLE_ARRAYS,
    NotComputedError,
    Rule,
    array_of,
    check_countable,
    checked,
    elements,
    exact_integers,
    gather,
    is_small,
    moved,
)
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import part_of

MAX_PASSES = 8  # over the nodes, each with more quotients that are known to be exact
MAX_WORK = 10_000  # of a model, on different expressions
LAST = "last"  # the hint that no evaluation follows
_DECISION = 100  # the work of a search for a proof, where a sum or product is 1
_WORK_OF_A_NODE = 20
INT32 = (1 << 31) - 1
_WIDE = (np.dtype(np.int32), np.dtype(np.int64))  # types in which a size is taken to fit

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Supposed:
    """An expression that is required to be at least 0.

    A quotient that is rounded towards 0 has one form only where its numerator keeps its sign.  PyTorch writes
    ``(W - 1) // 4``, which rounds down, as such a quotient: the models that it exports are for ``W >= 1``.
    """

    value: Any


class ShapeNodes:
    """Computes the shape nodes of one model, with one budget for all of them.

    Parameters
    ----------
    hints : collection of expressions and `Supposed`
        Rounded quotients that are known to be exact, and expressions that are required to be at least 0.
    nodes : int
        How many nodes the model has; the budget grows with it.
    """

    def __init__(self, hints: Collection[Any] = (), nodes: int = 0) -> None:
        self._exact = {e for e in hints if not isinstance(e, Supposed | str)}
        self._facts = Facts()
        for e in hints:
            if isinstance(e, Supposed):
                self._facts.assume_nonnegative(to_extent(e.value, self._facts))
        self.supposed: set[Supposed] = set()
        self._guesses = LAST not in hints  # whether this evaluation may use what only the next one requires
        self._choosing = False  # whether a comparison that is not decided is a `Choice`
        self.leaf_dims: list[set[str]] = []  # the dims of each input of the model
        self._work = MAX_WORK + _WORK_OF_A_NODE * nodes
        self._decided: dict[tuple[Any, int], bool] = {}
        self._known: dict[tuple[Rule, tuple[Any, ...]], Any] = {}

    def compute(self, op: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], where: str) -> list[Any]:
        """Return the outputs of an operation on values; `Shape` and `Size` also take a tensor.

        Parameters
        ----------
        op : str
            One of `OPS`, or an operation of the catalogue, such as ``"onnx:Concat"``.

        Raises
        ------
        FormatError
            An input or attribute has a form that the operation does not take; the result, or the work, is too large.
        InconclusiveError
            The result depends on an unknown property of the dims.
        ShapeError
            ``overflow`` for an integer beyond int64, and whatever a moving operation raises.
        UnknownOpError
            Neither this module nor the catalogue has the operation.
        """
        try:
            if op in _ELEMENTWISE:
                results = [self._elementwise(_ELEMENTWISE[op], inputs)]
            elif op == "Cast":
                results = [_cast(self, *inputs, **attributes)]  # type: ignore[arg-type]
            elif op in WHOLE_ARRAYS:
                results = [WHOLE_ARRAYS[op](*inputs, **attributes)]
            else:
                results = moved(op, inputs, attributes, where)
            return [checked(result) for result in results]
        except SymlayoutError as error:
            if where not in f"{error} {getattr(error, '__notes__', '')}":
                error.add_note(f"in: {where}")
            raise
        except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:  # NumPy's refusals too
            raise FormatError(f"{op} cannot be computed from {_words(inputs, attributes)}\n  in: {where}") from error

    def choices(self, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any], where: str) -> Constant | None:
        """Return the output of a node, with a `Choice` for each element that a comparison of dims decides.

        The result is None if it is not known.
        """
        if any(v is None or not is_small(v) for v in inputs) or not inputs:
            return None
        self._choosing = True
        try:
            return np.asarray(self.compute(op, inputs, attributes, where)[0], object)
        except SymlayoutError:
            return None  # the value is a tensor whose elements are not known
        finally:
            self._choosing = False

    def end_of(self, end: Any, extent: Any) -> Any:
        """Return where a slice of an axis ends, an int or an expression; a `Choice` if its sides do not meet.

        That an *end* beyond int32 lies outside the axis becomes a requirement: extents are smaller.

        Raises
        ------
        InconclusiveError
            Such an end may lie within the axis, and no input has all dims of its extent.
        """
        if isinstance(end, Choice):
            then, other = self._end(end.then, extent), self._end(end.other, extent, end.zero)
            return Choice(end.zero, then, other) if is_open((then, other)) else joined(end.zero, then, other)
        if not isinstance(end, int) or end < INT32 or isinstance(extent, int):
            return end
        if end >= PAST_THE_END:
            return extent
        if not self.at_least(end - extent, 0) and not (self._state(end - extent) and self._guesses):
            raise InconclusiveError(f"{extent} <= {end}, which a slice depends on")
        return extent

    def _end(self, end: Any, extent: Any, other_than_0: Any = None) -> Any:
        """Return the end on one side of a choice, counted from the start of the axis."""
        crop = -end if not isinstance(end, Choice) else None
        is_below = crop is not None and self.at_least(crop, int(other_than_0 not in (crop, end)))
        return extent - crop if is_below else self.end_of(end, extent)

    def _elementwise(self, rule: Rule, inputs: Sequence[Any]) -> Constant:
        """Return *rule* applied to each element of the inputs, which are broadcast together."""
        values = [exact_integers(value) for value in inputs]
        check_countable(np.broadcast_shapes(*(value.shape for value in values)))
        spread = np.broadcast_arrays(*values)
        found = [self._number(rule, numbers) for numbers in zip(*(value.reshape(-1) for value in spread), strict=True)]
        return array_of(found, spread[0].shape)

    def _number(self, rule: Rule, numbers: tuple[Any, ...]) -> Any:
        if is_open(numbers):
            self._spend(1)
            zero, then, other = branches(numbers)
            return joined(zero, self._number(rule, tuple(then)), self._number(rule, tuple(other)))
        if all(isinstance(number, int) for number in numbers):
            return rule(self, *numbers) if rule in _DECIDING else rule(*numbers)
        if (rule, numbers) not in self._known:
            self._spend(1)
            found = rule(self, *numbers) if rule in _DECIDING else rule(*numbers)
            if isinstance(found, Choice):
                return found
            self._known[rule, numbers] = found.args[0] if found in self._exact else found  # floors in it stay
        return self._known[rule, numbers]

    def truth(self, number: Any) -> Any:
        """Return whether a number is not 0."""
        return self._number(_not, (self._number(_equal, (number, 0)),))

    def _spend(self, work: int) -> None:
        self._work -= work
        if self._work < 0:
            raise NotComputedError("model computes with too many different expressions in dims")

    def at_least(self, e: Any, low: int) -> bool:
        """Return whether ``e >= low`` is proved for all values of its dims for which the hints hold."""
        if isinstance(e, int):
            return e >= low
        if (e, low) not in self._decided:
            bound = least(e)
            if bound is None or bound < low:
                self._spend(_DECISION)
                facts = self._facts.fork()
                proved = in_question(lambda: facts.nonnegative(to_extent(e, facts) - low), lambda: False)
                self._decided[e, low] = proved
            else:
                self._decided[e, low] = True
        return self._decided[e, low]

    def _state(self, e: Any) -> bool:
        """Ask that the next evaluation requires ``e >= 0``; return whether one input has all dims of *e*."""
        names = {s.name for s in e.free_symbols}
        if not any(names <= dims for dims in self.leaf_dims):
            return False
        self.supposed.add(Supposed(e))
        return True

    def suppose(self, e: Any) -> None:
        """Ask that the next evaluation requires ``e >= 0``, which this one takes for granted.

        Raises
        ------
        InconclusiveError
            No evaluation follows, or no input has all dims of *e*.
        """
        if not (self._state(e) and self._guesses):
            raise InconclusiveError(f"{e} >= 0, on which the rounding of a quotient depends")

    def choice(self, a: Any, b: Any) -> Choice:
        """Return whether two expressions are equal, as a choice; raise `InconclusiveError` if none is wanted."""
        if not self._choosing:
            raise InconclusiveError(f"{a} == {b}")
        return compared(a, b)

    # ------------------------------------------------------------------ floats

    def reals(self, op: str, inputs: Sequence[Any], attributes: Mapping[str, Any], where: str) -> Constant | None:
        """Return what a float output of a node stands for, an array of `Real`; None if that is not known.

        *inputs* holds arrays of integers, expressions and reals; None stands for an input that is not known.
        """
        if any(v is None or not is_small(v) for v in inputs) or not inputs:
            return None
        try:
            if op in real_arithmetic.OPERATIONS or op in _ROUNDINGS:
                rule = _ROUNDINGS.get(op) or real_arithmetic.OPERATIONS[op]
                return self._each_real(rule, inputs)
            if op == "Cast":
                return self._each_real(_as_float, inputs)
            if op == "Gather":
                return np.asarray(gather(*inputs, **attributes), object)
            if op in _MOVING_REALS:
                return moved(f"onnx:{op}", inputs, attributes, where)[0]
        except (SymlayoutError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError):
            pass  # the value is a tensor whose elements are not known
        return None

    def _each_real(self, rule: Callable[..., Any], inputs: Sequence[Any]) -> Constant | None:
        spread = np.broadcast_arrays(*(np.asarray(v, object) for v in inputs))
        found = []
        for numbers in zip(*(v.reshape(-1) for v in spread), strict=True):
            self._spend(1)
            reals = [real_arithmetic.real(n) for n in numbers]
            made = None if any(r is None for r in reals) else rule(*reals)
            if made is None:
                return None
            found.append(made)
        return elements(found, spread[0].shape)

    def whole(self, reals: Constant) -> Constant | None:
        """Return reals that equal integers as these; None if one does not."""
        found = [real_arithmetic.floor_of(r) if r.roundings == 0 else None for r in reals.reshape(-1)]
        whole = all(n is not None and _is_whole(r, n) for r, n in zip(reals.reshape(-1), found, strict=True))
        return array_of(found, reals.shape) if whole else None

    def integers_of(self, reals: Constant) -> Constant | None:
        """Return reals cast to integers, which rounds them towards 0; None if the result is not known."""
        found = []
        for r in reals.reshape(-1):
            self._spend(1)
            whole = real_arithmetic.floor_of(r)
            if whole is None or not (_is_whole(r, whole) or self.at_least(whole, 0)):
                return None
            found.append(whole)
        return array_of(found, reals.shape)


def _words(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> str:
    """Return the inputs and attributes of a node as an error names them."""
    values = [shown(value.tolist() if isinstance(value, np.ndarray) else value) for value in inputs]
    given = [f"{shortened(name, 40)} = {shown(value)}" for name, value in attributes.items()]
    return shortened(", ".join([*(f"input {k} = {value}" for k, value in enumerate(values)), *given]), 400)


def settled(evaluate: Callable[[Collection[Any]], tuple[R, set[Any]]], nodes: int) -> R:
    """Return the result of *evaluate*, repeated until it finds no more exact quotients; it evaluates so many *nodes*.

    *evaluate* takes the rounded quotients that are known to be exact, and returns those that it found to be exact
    with its result.  A later node can require exactness of a quotient that an earlier node computes.
    """
    exact: set[Any] = set()
    goals = limits.reading_goals + limits.reading_node_goals * nodes
    for _ in range(MAX_PASSES):
        with question(goals):
            result, found = evaluate(exact)
        if found <= exact:
            return result
        exact |= found
    with question(goals):
        return evaluate(exact | {LAST})[0]


def exact_target(data: Value | None, shape: Value | None, *, copies: bool = False) -> tuple[Value | None, set[Any]]:
    """Return the target of a Reshape with exact quotients, and the rounded ones, if *data* fits only exact quotients.

    A rounded quotient is at most the exact one.  If the numbers of elements are equal with exact quotients, a target
    with a rounded quotient holds fewer elements, unless there are none at all.

    Parameters
    ----------
    copies : bool
        Whether a 0 stands for the extent of *data* on the same axis.
    """
    if not isinstance(data, Tensor) or not isinstance(shape, np.ndarray) or shape.dtype != object:
        return shape, set()
    whole = [data.shape[k] if copies and n == 0 and k < data.rank else n for k, n in enumerate(shape.reshape(-1))]
    if -1 in shape or same_products(whole, data.shape):
        return shape, set()
    for kept in ((), data.shape):
        target = exact_quotients(whole, kept)
        if same_products(target, data.shape):
            return np.array(target, object), quotients(whole) - quotients(kept)
    return shape, set()


def required(leaf: Tensor, hints: Collection[Any]) -> Tensor:
    """Return an input of a model that requires what is supposed of its dims (see `Supposed`).

    Divisors in it are positive, which is not the standard's demand either.
    """
    for e in sorted((hint.value for hint in hints if isinstance(hint, Supposed)), key=str):
        if {s.name for s in e.free_symbols} <= leaf.facts.dims.keys():
            apart = leaf.facts.fork()
            to_extent(e, apart)
            own = apart.requirements[len(leaf.facts.requirements) :]
            leaf.facts.merge(part_of(apart, [r.replaced(kind=LEFT_OUT) for r in own]))
            leaf.facts.require_nonnegative(to_extent(e, leaf.facts), LEFT_OUT, "shape of the input")
    return leaf


def is_shape_node(op: str, inputs: Sequence[Value | None]) -> bool:
    """Return whether a node reads no elements of a tensor; it may read the shape."""
    return op in ("Shape", "Size") or not any(isinstance(value, Tensor) for value in inputs)


# ---------------------------------------------------------------------- element by element


def _quotient(decide: ShapeNodes, a: Any, b: Any) -> Any:
    """Return a / b rounded towards 0; ``b >= 1`` becomes a requirement where the quotient is used.

    If the sign of *a* is not known, ``a >= 0`` is supposed, in the next evaluation (see `Supposed`).
    """
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if b != 0 and (exact := exact_ratio(a, b)) is not None:
        return exact
    if not decide.at_least(a, 0):
        if decide.at_least(-a, 0):
            return -floor_quotient(-a, b)
        decide.suppose(a)
    return floor_quotient(a, b)


def _floor_quotient(decide: ShapeNodes, a: Any, b: Any) -> Any:
    exact = exact_ratio(a, b) if b != 0 else None
    return floor_quotient(a, b) if exact is None else exact


def _remainder(decide: ShapeNodes, a: Any, b: Any) -> Any:
    return a - b * exact if b != 0 and (exact := exact_ratio(a, b)) is not None else a % b


def _equal(decide: ShapeNodes, a: Any, b: Any) -> bool | Choice:
    if isinstance(a - b, int) or a == b:
        return bool(a == b)
    if decide.at_least(a - b, 1) or decide.at_least(b - a, 1):
        return False
    return decide.choice(a, b)


def _not(truth: Any) -> bool:
    return not truth


def _where(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _minimum(decide: ShapeNodes, *numbers: Any) -> Any:
    return extreme("min", numbers)


def _maximum(decide: ShapeNodes, *numbers: Any) -> Any:
    return extreme("max", numbers)


def _as_float(r: Any) -> Any:
    return r


def _down(r: Any) -> Any:
    whole = real_arithmetic.floor_of(r)
    return None if whole is None else real_arithmetic.real(whole)


def _up(r: Any) -> Any:
    whole = real_arithmetic.floor_of(real_arithmetic.negated(r))
    return None if whole is None else real_arithmetic.real(-whole)


_ROUNDINGS: dict[str, Rule] = {"Floor": _down, "Ceil": _up}
_MOVING_REALS = frozenset(("Concat", "Unsqueeze", "Squeeze", "Slice", "Reshape"))


def _is_whole(r: Any, whole: Any) -> bool:
    return bool(r.roundings == 0 and r.value == whole)


_ELEMENTWISE: dict[str, Rule] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": _quotient, "FloorDiv": _floor_quotient,
    "Mod": _remainder,
    "Neg": operator.neg, "Min": _minimum, "Max": _maximum, "Equal": _equal, "Where": _where,
    "Not": _not,
}  # fmt: skip
_DECIDING = (_quotient, _floor_quotient, _remainder, _equal, _minimum, _maximum)

# ---------------------------------------------------------------------- types


def _cast(decide: ShapeNodes, data: Constant, to: np.dtype[Any], **_: Any) -> Constant:
    if data.dtype != object:
        return data.astype(to)
    if to.kind == "b":
        return array_of([decide.truth(number) for number in data.reshape(-1)], data.shape)
    if to.kind not in "iu":
        raise NotComputedError(f"a shape is cast to {to}, which is no integer type")
    limits = np.iinfo(to)
    if any(isinstance(number, int) and not limits.min <= number <= limits.max for number in data.reshape(-1)):
        raise ShapeError(f"an integer does not fit {to}", "overflow")
    if to not in _WIDE and any(hasattr(number, "free_symbols") for number in data.reshape(-1)):
        raise NotComputedError(f"a shape is cast to {to}, in which sizes may wrap")
    return data.copy()  # whose element type is another


REAL_OPS = frozenset({"Cast", "Gather"} | real_arithmetic.OPERATIONS.keys() | _ROUNDINGS.keys() | _MOVING_REALS)
# What is computed here, beside the operations of the catalogue.
OPS = frozenset(WHOLE_ARRAYS.keys() | _ELEMENTWISE.keys() | {"Cast"})
