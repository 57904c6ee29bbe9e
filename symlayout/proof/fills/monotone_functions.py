"""Maxima and minima of what a function makes of terms, where the function keeps their order or turns it around.

``relu(max(x))`` is ``max(relu(x))``: relu keeps the order of all floats, of zeros of either sign too, and makes NaN of
NaN, as a maximum does.  Only functions that are rounded correctly count, since an exponential of a library may fall
where the exact one grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from typing import Any

import numpy as np

from symlayout.compute import quantization, scalars
from symlayout.compute.elementwise import broadcast_jointly
from symlayout.compute.reductions import JOINS, greatest, least
from symlayout.compute.trace import larger, smaller
from symlayout.errors import SymlayoutError
from symlayout.ops.slicing import getitem
from symlayout.proof.decide_equal import agree
from symlayout.proof.fills.copies_of_terms import is_neutral, neutral
from symlayout.proof.pull_functions import constant_of_shape, fills_of, moved, moved_values, refilled
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body, Fill
from symlayout.tensors.element_types import fill_text, same_fill
from symlayout.tensors.uniform_constants import everywhere

_OPPOSITE = {greatest: least, least: greatest}
_MOST_PLACES = 9  # of a box, at which an element may be that is no fill
_GOALS = 300  # for each of them

# ---------------------------------------------------------------------- which functions keep or turn the order


def direction(value: Tensor) -> tuple[int, int] | None:
    """Return which operand of a function of single elements varies, and 1 if the value keeps its order, -1 if not.

    All other operands are constants with one value.  None if the function does neither, or that is not known.

    >>> import symlayout as sl
    >>> x = sl.tensor("N", "float32", name="x")
    >>> direction(sl.onnx.relu(x)), direction(sl.onnx.neg(x)), direction(sl.onnx.abs(x))
    ((0, 1), (0, -1), None)
    """
    body = value.body
    if body is None or body.over or body.random or body.function is None or value.dtype is None:
        return None
    constants = [everywhere([view]) for view in value.inputs]
    free = [k for k, c in enumerate(constants) if c is None]
    if len(free) != 1 or any(view.dtype is None for view in value.inputs):
        return None
    rule = _RULES.get(body.function)
    given = [None if c is None else float(c) for c in constants]
    sign = 0 if rule is None else rule(value, free[0], given)
    return (free[0], sign) if sign else None


_Rule = Callable[[Tensor, int, list[Any]], int]


def _always(value: Tensor, place: int, given: list[Any]) -> int:
    return 1


def _of_floats(value: Tensor, place: int, given: list[Any]) -> int:
    return int(value.dtype is not None and value.dtype.kind == "f")


def _negative(value: Tensor, place: int, given: list[Any]) -> int:
    return -_of_floats(value, place, given)


def _leaky(value: Tensor, place: int, given: list[Any]) -> int:
    (alpha,) = (v for key, v in value.body.attributes if key == "alpha") if value.body is not None else (-1.0,)
    used = (np.float64 if value.dtype == np.float64 else np.float32)(alpha)  # as the function rounds it
    return int(_sign(float(used)) > 0) * _of_floats(value, place, given)


def _sum(value: Tensor, place: int, given: list[Any]) -> int:
    return int(np.isfinite(given[1 - place])) * _of_floats(value, place, given)


def _difference(value: Tensor, place: int, given: list[Any]) -> int:
    return _sum(value, place, given) * (-1 if place else 1)


def _sign(factor: float) -> int:
    """Return the sign of a finite number that is not 0; 0 for others, whose products with infinities are NaN."""
    return int(np.sign(factor)) if 0 < abs(factor) < np.inf else 0


def _product(value: Tensor, place: int, given: list[Any]) -> int:
    factor = given[1 - place]
    return _sign(factor) * _of_floats(value, place, given)


def _quotient(value: Tensor, place: int, given: list[Any]) -> int:
    return 0 if place else _product(value, place, given)


def _dequantized(value: Tensor, place: int, given: list[Any]) -> int:
    if place or value.inputs[0].dtype is None or value.inputs[0].dtype.kind not in "iu":
        return 0
    return _sign(given[1]) * _of_floats(value, place, given)


def _cast(value: Tensor, place: int, given: list[Any]) -> int:
    source = value.inputs[place].dtype
    return int(source is not None and source.kind in "fiu") * _of_floats(value, place, given)


_RULES: dict[Any, _Rule] = {
    quantization.cast: _cast,
    scalars.relu: _of_floats,
    scalars.leaky_relu: _leaky,
    larger: _always,
    smaller: _always,
    np.ceil: _of_floats,
    np.floor: _of_floats,
    np.rint: _of_floats,
    np.negative: _negative,
    np.add: _sum,
    np.subtract: _difference,
    np.multiply: _product,
    scalars.divide: _quotient,
    quantization.dequantized: _dequantized,
}

# ---------------------------------------------------------------------- folds


def with_function_inside(node: Tensor, source: Callable[[Tensor], Tensor | None]) -> Tensor | None:
    """Return a function of a maximum or minimum as one of the function of its terms; None if *node* is no such.

    *source* returns the value that a view reads everywhere, if there is one.
    """
    found = direction(node)
    if found is None:
        return None
    place, sign = found
    view = _without_broadcast(node.inputs[place])
    fold = source(view)
    if fold is None or fold.body is None or fold.body.function not in _OPPOSITE or fold.rank != fold.batch:
        return None
    (terms,) = fold.inputs
    if fold.dtype != terms.dtype or not all(node.facts.positive(node.facts.reduce(e)) for e in _box(fold)):
        return None
    over = moved(view, {fold.key: terms}, fold.batch)
    operands = [over if k == place else constant_of_shape([v], over) for k, v in enumerate(node.inputs)]
    if any(v is None for v in operands):
        return None
    assert node.body is not None
    made = compute(node.body, [v for v in operands if v is not None], batch=over.rank, dtype=node.dtype)
    return compute(fold.body if sign > 0 else _turned(fold.body), [made], batch=node.rank, dtype=node.dtype)


def _without_broadcast(view: Tensor) -> Tensor:
    """Return the tensor that *view* broadcasts together with others, if it has the extents of *view* already."""
    while view.declared is not None and view.name == broadcast_jointly.__name__:
        source = view.inputs[view.declared.cases[0].source]
        if not _same_extents(source, view):
            break
        view = source
    return view


def _same_extents(a: Tensor, b: Tensor) -> bool:
    """Return whether two tensors have the same extents, as *b* knows them."""
    return [b.facts.reduce(e) for e in a.extents] == [b.facts.reduce(e) for e in b.extents]


def with_fills_of_function(node: Tensor) -> Tensor | None:
    """Return a maximum with fills that change nothing, as one with fills that the function of its terms makes.

    The function makes them of what changes nothing either, so they are below all terms.  They change nothing if each
    box has a term that is no fill (`has_a_term`).  None if *node* is no such maximum or minimum.
    """
    body = node.body
    if body is None or body.function not in _OPPOSITE or len(node.inputs) != 1 or node.dtype is None:
        return None
    (view,) = node.inputs
    fills, leaves = fills_of(view), moved_values(view)
    if not fills or not leaves or view.dtype != node.dtype or any(not is_neutral(f, body, node.dtype) for f in fills):
        return None
    bounds = [_bound(leaf, body) for leaf in leaves]
    bound = bounds[0]
    if bound is None or any(b is None or b.tobytes() != bound.tobytes() for b in bounds):
        return None
    if same_fill(bound.item(), fills[0].value, node.dtype):
        return None
    new = {fill_text(f.value, node.dtype): Fill(bound.item()) for f in fills}
    return compute(body, [refilled(view, new)], batch=node.batch, dtype=node.dtype)


def _bound(leaf: Tensor, body: Body) -> Any:
    """Return the least value of the function of *leaf*, or its greatest, if the function is monotone.

    It is the value at the operand's own least or greatest element: that of its type, or of the monotone function that
    computes it.
    """
    found = direction(leaf)
    if found is None or leaf.body is None or leaf.body.function is None:
        return None
    place, sign = found
    fold, operand = body if sign > 0 else _turned(body), _without_broadcast(leaf.inputs[place])
    start = _bound(operand, fold) if direction(operand) else neutral(fold, operand.dtype)
    if start is None:
        return None
    operands = [start if k == place else everywhere([view]) for k, view in enumerate(leaf.inputs)]
    with np.errstate(all="ignore"):
        made = np.asarray(leaf.body.function(*map(np.asarray, operands), **dict(leaf.body.attributes)))
    return None if made.dtype != leaf.dtype or made != made else made


def has_a_term(view: Tensor, batch: int) -> bool:
    """Return whether it is proved that *view* reads an element that is no fill in each box, the axes from *batch* on.

    The place of the element in the box is the same for all boxes: places in the middle are tried first.
    """
    places = product(*(_places(view.facts, e) for e in view.extents[batch:]))
    return any(_reads_no_fill(view, batch, place) for place in islice(places, _MOST_PLACES))


def _places(facts: Any, extent: Any) -> Iterator[int]:
    extent = facts.reduce(extent)
    if isinstance(extent, int):
        yield from sorted(range(extent), key=lambda k: abs(2 * k - extent + 1))[:_MOST_PLACES]
    else:
        yield from (k for k in range(_MOST_PLACES) if facts.nonnegative(extent - 1 - k))


def _reads_no_fill(view: Tensor, batch: int, place: Sequence[int]) -> bool:
    """Return whether *view* reads no fill at one place of each box: it is the same with any other fill."""
    try:
        here = getitem(view, (*(slice(None),) * batch, *place))
        fills = fills_of(here)
        new = {fill_text(f.value, here.dtype): Fill(int(same_fill(f.value, 0, here.dtype))) for f in fills}
        other = refilled(here, new)
        agree(here, other, here.facts.fork(), here.dtype, shown=True, finite=False, effort=_GOALS)
    except SymlayoutError:
        return False
    return True


def _box(fold: Tensor) -> Sequence[Any]:
    return fold.inputs[0].extents[fold.batch :]


def _turned(body: Body) -> Body:
    """Return the body of minima for that of maxima, and the other way round."""
    assert body.function is not None
    function = _OPPOSITE[body.function]
    return body._replace(name=function.__name__, function=function, joins=JOINS[function])
