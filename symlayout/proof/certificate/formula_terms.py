"""The formula of a computed value as the checker reads it: a term of functions, numbers and views."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute import scalars
from symlayout.compute.trace import larger, smaller
from symlayout.proof.pull_functions import fills_of, moved, read_leaves
from symlayout.tensors.apply_operation import Application
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body
from symlayout.tensors.uniform_constants import everywhere

_BITS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24, np.dtype(np.float64): 53}
_DEEPEST = 8  # functions, one in another, that are taken apart
_FUNCTIONS: tuple[tuple[Any, str, dict[str, Any]], ...] = (  # with their attributes: numbers stand in terms
    (np.add, "add", {}),
    (np.subtract, "subtract", {}),
    (np.negative, "negate", {}),
    (np.multiply, "multiply", {}),
    (np.tanh, "tanh", {}),
    (np.absolute, "absolute", {}),
    (larger, "larger", {}),
    (smaller, "smaller", {}),
    (scalars.divide, "divide", {}),
    (scalars.power, "power", {}),
    (scalars.reciprocal, "reciprocal", {}),
    (scalars.scaled, "scaled", {"factor": math.nan}),
    (scalars.erf, "erf", {}),
    (scalars.softplus, "softplus", {}),
    (scalars.hard_sigmoid, "hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    (scalars.hard_swish, "hard_swish", {}),
    (scalars.sigmoid, "sigmoid", {}),
    (scalars.swish, "swish", {"alpha": 1.0}),
    (scalars.mish, "mish", {}),
    (scalars.softsign, "softsign", {}),
    (scalars.gelu, "gelu", {"approximate": "none"}),
    (scalars.gelu, "gelu_tanh", {"approximate": "tanh"}),
)
Term = list[Any]


def bits_of(t: Tensor) -> int:
    """Return the precision of the elements of *t*, in bits; 0 if terms are not about such elements."""
    return _BITS.get(np.dtype(t.dtype), 0) if t.dtype is not None else 0


def term_of(t: Tensor, is_whole: Callable[[Tensor], bool]) -> tuple[Term, list[Tensor]] | None:
    """Return each element of *t* as a term, and the views in it, each of the shape of *t*; None if it is no term.

    Functions that *t* reads are taken apart, but for values of which *is_whole* says that they are not.  The name of a
    function in a term is that of the function which computes it, whatever a body calls itself.
    """
    views: list[Tensor] = []
    term = _of_value(t, t.inputs, _DEEPEST, is_whole, views) if bits_of(t) else None
    return None if term is None else (term, views)


def views_of(t: Tensor, term: Term) -> list[Tensor] | None:
    """Return the views of a *term* that each element of *t* is, each of the shape of *t*; None if it is no such term.

    The checker has accepted the form of the term.
    """
    views: list[Tensor] = []
    return views if bits_of(t) and _is_value(t, t.inputs, term, views) else None


def _of_value(
    x: Tensor, operands: tuple[Tensor, ...], depth: int, is_whole: Callable[[Tensor], bool], views: list[Tensor]
) -> Term | None:
    """Return the function of *x* of these operands as a term."""
    head = _head(x, operands)
    return None if head is None else [*head, *(_of_operand(v, depth, is_whole, views) for v in operands)]


def _of_operand(view: Tensor, depth: int, is_whole: Callable[[Tensor], bool], views: list[Tensor]) -> Term:
    if (number := _number(view)) is not None:
        return ["number", number]
    found = _read(view) if depth else None
    if found is not None and not is_whole(found[0]):
        own = list[Tensor](views)
        if (term := _of_value(*found, depth - 1, is_whole, own)) is not None:
            views[:] = own
            return term
    views.append(view)
    return ["view", len(views) - 1]


def _is_value(x: Tensor, operands: tuple[Tensor, ...], term: Term, views: list[Tensor]) -> bool:
    """Return whether a term is the function of *x* of these operands."""
    head = _head(x, operands)
    if head is None or term[: len(head)] != head or len(term) != len(head) + len(operands):
        return False
    return all(_is_operand(v, part, views) for v, part in zip(operands, term[len(head) :], strict=True))


def _is_operand(view: Tensor, term: Term, views: list[Tensor]) -> bool:
    if term[0] == "view":
        views.append(view)
        return bool(term[1] == len(views) - 1)
    if term[0] == "number":
        return bool(term[1] == _number(view))
    found = _read(view)
    return found is not None and _is_value(*found, term, views)


def _number(view: Tensor) -> str | None:
    """Return the finite number that a view reads everywhere, as terms have it; None if there is none."""
    number = everywhere([view])
    return float(number).hex() if number is not None and math.isfinite(number) else None


def _read(view: Tensor) -> tuple[Tensor, tuple[Tensor, ...]] | None:
    """Return the computed value that a view reads, and that value's operands as the view moves them."""
    found = read_leaves(view)
    if len(found) != 1 or found[0].body is None or found[0].dtype != view.dtype or not _is_plain(view):
        return None
    (leaf,) = found
    if _head(leaf, leaf.inputs) is None:
        return None
    return leaf, tuple(v if view is leaf else moved(view, {leaf.key: v}, leaf.batch) for v in leaf.inputs)


def _is_plain(view: Tensor) -> bool:
    """Return whether each element of a view is one that it reads, by operations that can be applied again."""
    return not fills_of(view) and all(isinstance(n.again, Application) for n in view.nodes() if n.declared is not None)


def _head(x: Tensor, operands: tuple[Tensor, ...]) -> list[str] | None:
    """Return the name of the function of a value in terms, with its numbers; None if it has none."""
    if x.body is None or x.rank != x.batch or any(v.dtype != x.dtype for v in operands):
        return None
    return _head_of(x.body)


def _head_of(body: Body) -> list[str] | None:
    if body.over or body.random:
        return None
    for function, name, attributes in _FUNCTIONS:
        if body.function is function:
            given = {**attributes, **dict(body.attributes)}
            texts = {key: value for key, value in attributes.items() if isinstance(value, str)}
            numbers = [value for key, value in given.items() if key not in texts]
            if given.keys() != attributes.keys() or any(given[key] != text for key, text in texts.items()):
                continue
            if all(type(v) is float and math.isfinite(v) and v for v in numbers):
                return [name, *(given[key].hex() for key in attributes if key not in texts)]
    return None
