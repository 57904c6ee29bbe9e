"""Compute the nodes by which a model makes its shapes, on integers and expressions in dims.

The operations have ONNX's names; those of OpenVINO are translated by its loader.  A value is an array of any rank.
Operations that move elements are those of the catalogue.  They are applied to the numbers of the elements, which shows
where each element moves.

Left out: floats, which are passed on but not computed with, and subgraphs.  Semantics: ONNX, "Operator Schemas".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from symlayout import frontends
from symlayout.errors import FormatError, InconclusiveError, ShapeError, SymlayoutError, shown
from symlayout.frontends.attributes import at_least
from symlayout.language.sympy_bridge import exact_quotients, extreme, quotients, same_products
from symlayout.maps.interpreter import interpret
from symlayout.models.apply_node import Constant, Value, apply_layer
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.tensors.chain import Tensor, tensor

MAX_TERMS = 64  # of an expression, were it multiplied out
MAX_PASSES = 8  # over the nodes, each with more quotients that are known to be exact
MAX_WORK = 10_000  # of a model, on different expressions
_DECISION = 100  # the work of what asks for a sign, where a sum or product is 1
_LIMIT = 1 << 63

Rule = Callable[..., Any]
R = TypeVar("R")


class NotComputedError(FormatError):
    """A value is not computed as an array of expressions, because it is too large or has another form.

    It is a value of the graph nevertheless: a tensor.
    """


class ShapeNodes:
    """Computes the shape nodes of one model, with one budget for all of them.

    Parameters
    ----------
    exact : collection of expressions
        Rounded quotients that are known to be exact.
    """

    def __init__(self, exact: Collection[Any] = ()) -> None:
        self._exact = exact
        self._work = MAX_WORK
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
            elif op in _RULES:
                results = [_RULES[op](*inputs, **attributes)]
            else:
                results = _moved(op, inputs, attributes, where)
            return [_checked(result) for result in results]
        except SymlayoutError as error:
            if where not in f"{error} {getattr(error, '__notes__', '')}":
                error.add_note(f"in: {where}")
            raise
        except (TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:  # NumPy's refusals too
            raise FormatError(f"{op} cannot be computed from {_words(inputs, attributes)}\n  in: {where}") from error

    def _elementwise(self, rule: Rule, inputs: Sequence[Any]) -> Constant:
        """Return *rule* applied to each element of the inputs, which are broadcast together."""
        values = [_integers(value) for value in inputs]
        _countable(np.broadcast_shapes(*(value.shape for value in values)))
        spread = np.broadcast_arrays(*values)
        found = [self._number(rule, numbers) for numbers in zip(*(value.flat for value in spread), strict=True)]
        return _array(found, spread[0].shape)

    def _number(self, rule: Rule, numbers: tuple[Any, ...]) -> Any:
        if all(isinstance(number, int) for number in numbers):
            return rule(*numbers)
        if (rule, numbers) not in self._known:
            self._work -= _DECISION if rule in _DECIDING else 1
            if self._work < 0:
                raise NotComputedError("model computes with too many different expressions in dims")
            found = rule(*numbers)
            self._known[rule, numbers] = exact_quotients([found])[0] if found in self._exact else found
        return self._known[rule, numbers]


def _words(inputs: Sequence[Any], attributes: Mapping[str, Any]) -> str:
    """Return the inputs and attributes of a node as an error names them."""
    values = [shown(value.tolist() if isinstance(value, np.ndarray) else value) for value in inputs]
    given = [f"{name[:40]} = {shown(value)}" for name, value in attributes.items()]
    return ", ".join([*(f"input {k} = {value}" for k, value in enumerate(values)), *given])[:400]


def settled(evaluate: Callable[[Collection[Any]], tuple[R, set[Any]]]) -> R:
    """Return the result of *evaluate*, repeated until it finds no more exact quotients.

    *evaluate* takes the rounded quotients that are known to be exact, and returns those that it found to be exact
    with its result.  A later node can require exactness of a quotient that an earlier node computes.
    """
    exact: set[Any] = set()
    for _ in range(MAX_PASSES):
        result, found = evaluate(exact)
        if found <= exact:
            break
        exact |= found
    return result


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


def is_shape_node(op: str, inputs: Sequence[Value | None]) -> bool:
    """Return whether a node reads no elements of a tensor; it may read the shape."""
    return op in ("Shape", "Size") or not any(isinstance(value, Tensor) for value in inputs)


# ---------------------------------------------------------------------- element by element


def _quotient(a: Any, b: Any) -> Any:
    """Return a / b rounded towards 0; ``b >= 1`` becomes a requirement where the quotient is used."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    if not at_least(a, 0):
        raise InconclusiveError(f"{a} >= 0, on which the rounding of {a} / {b} depends")
    return a // b


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a - b, int) or a == b:
        return bool(a == b)
    if at_least(a - b, 1) or at_least(b - a, 1):
        return False
    raise InconclusiveError(f"{a} == {b}")


def _where(condition: Any, a: Any, b: Any) -> Any:
    return a if condition else b


def _minimum(*numbers: Any) -> Any:
    return extreme("min", numbers)


def _maximum(*numbers: Any) -> Any:
    return extreme("max", numbers)


_ELEMENTWISE: dict[str, Rule] = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "Div": _quotient, "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "Neg": operator.neg, "Min": _minimum, "Max": _maximum, "Equal": _equal, "Where": _where,
}  # fmt: skip
_DECIDING = (_quotient, operator.floordiv, operator.mod, _equal, _minimum, _maximum)

# ---------------------------------------------------------------------- whole arrays


def _shape(data: Value, start: int = 0, end: int | None = None) -> Constant:
    return _array(list(data.shape)[slice(start, end)])


def _size(data: Value) -> Constant:
    return _array([math.prod(data.shape)], ())


def _gather(data: Constant, indices: Constant, axis: Any = 0) -> Constant:
    chosen = np.asarray(_integers(indices), np.int64)
    axis = range(data.ndim)[operator.index(axis)]
    _countable((*data.shape, *chosen.shape))
    return np.take(data, chosen.ravel(), axis).reshape(data.shape[:axis] + chosen.shape + data.shape[axis:][1:])


def _cast(data: Constant, to: np.dtype[Any], **_: Any) -> Constant:
    if data.dtype != object:
        return data.astype(to)
    if to.kind == "b":
        return _array([bool(_equal(number, 0)) is False for number in data.flat], data.shape)
    if to.kind not in "iu":
        raise NotComputedError(f"a shape is cast to {to}, which is no integer type")
    limits = np.iinfo(to)
    if any(isinstance(number, int) and not limits.min <= number <= limits.max for number in data.flat):
        raise ShapeError(f"an integer does not fit {to}", "overflow")
    return data


def _constant_of_shape(shape: Constant, value: Constant | None = None) -> Constant:
    extents = [_known(n) for n in _integers(shape)]
    _countable(extents)
    filled = np.zeros(1, np.float32) if value is None else value
    return np.full(extents, filled.reshape(()))


def _range(start: Constant, limit: Constant, delta: Constant) -> Constant:
    found = range(*(_known(_integers(end).reshape(()).item()) for end in (start, limit, delta)))
    _countable([len(found)])
    return _array(list(found))


def _product(data: Constant, axes: Constant | None = None, keepdims: int = 1, **_: Any) -> Constant:
    along = None if axes is None else tuple(operator.index(axis) for axis in np.ravel(axes))
    return np.asarray(np.prod(_integers(data), axis=along, keepdims=bool(keepdims)), object)


_RULES: dict[str, Rule] = {
    "Shape": _shape, "Size": _size, "Gather": _gather, "Cast": _cast, "ConstantOfShape": _constant_of_shape,
    "Range": _range, "ReduceProd": _product,
}  # fmt: skip

OPS = frozenset(_RULES.keys() | _ELEMENTWISE.keys())  # what is computed here, beside the operations of the catalogue


def _moved(title: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], where: str) -> list[Constant]:
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
        _countable(result.shape)
        if any(case.fill is not None and case.fill.value != 0 for node in result.nodes() for case in _cases(node)):
            raise NotComputedError("only 0 can be put beside what is computed from shapes")
    places = [interpret(result, *(numbers[leaf.name] for leaf in result.leaves())) for result in results]
    return [elements[place.ravel()].reshape(place.shape) for place in places]


def _cases(node: Tensor) -> Sequence[Any]:
    return node.declared.cases if node.declared else ()


# ---------------------------------------------------------------------- values


def _array(numbers: Sequence[Any], shape: tuple[int, ...] | None = None) -> Constant:
    """Return an array of Python ints and expressions."""
    made = np.empty(len(numbers), object)
    made[:] = [int(n) if getattr(n, "is_Integer", False) else n for n in numbers]
    return made if shape is None else made.reshape(shape)


def _integers(value: Any) -> Constant:
    """Return the integers and truth values of *value* as Python's, which do not wrap."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iubO":
        what = value.dtype if isinstance(value, np.ndarray) else "nothing"
        raise NotComputedError(f"a shape is computed from {what}, not from integers")
    return value.astype(object)


def _known(n: Any) -> int:
    """Return a number; an expression makes the shape of a value unknown here."""
    if hasattr(n, "free_symbols"):
        raise NotComputedError(f"the shape of a value depends on {str(n)[:80]}")
    return operator.index(n)


def _countable(shape: Sequence[int]) -> None:
    """Refuse a large value: attributes have a few elements per axis."""
    if any(n < 0 for n in shape) or math.prod(shape) > MAX_CONSTANT:
        raise NotComputedError(f"a value of shape {str(tuple(shape))[:80]} has not 0 to {MAX_CONSTANT} elements")


def _checked(value: Constant) -> Constant:
    """Return *value*, whose numbers fit int64 and whose expressions are small."""
    if value.dtype == object:
        for number in value.flat:
            _terms(number)
    return value


def _terms(e: Any) -> int:
    """Return an upper bound of the number of terms of *e* multiplied out, and of the depth of its parts."""
    if isinstance(e, int) or e.is_Rational:
        if not max(abs(int(getattr(e, "p", e))), int(getattr(e, "q", 1))) < _LIMIT:
            raise ShapeError("an integer of a shape exceeds int64", "overflow")
        return 1
    parts = [_terms(part) for part in e.args]
    if e.is_Add:
        count = sum(parts)
    elif e.is_Mul:
        count = math.prod(parts)
    elif e.is_Pow:
        count = max(parts[0], 2) ** min(abs(int(e.exp)), MAX_TERMS)
    else:
        count = sum(parts) + 1
    if count > MAX_TERMS:
        raise NotComputedError(f"an expression of a shape has more than {MAX_TERMS} terms")
    return count
