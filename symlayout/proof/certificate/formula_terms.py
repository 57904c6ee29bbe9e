"""The formula of a computed value as the checker reads it: a term of functions, numbers and views."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symlayout.compute import scalars
from symlayout.proof.pull_functions import fills_of, moved, read_leaves
from symlayout.tensors.apply_operation import Application
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body
from symlayout.tensors.uniform_constants import everywhere

DEEPEST = 2  # functions, one in another, that are taken apart
_TYPES = (np.dtype(np.float16), np.dtype(np.float32), np.dtype(np.float64))
_FUNCTIONS: tuple[tuple[Any, str, dict[str, float]], ...] = (  # with the numbers that are their attributes
    (np.multiply, "multiply", {}),
    (scalars.divide, "divide", {}),
    (scalars.reciprocal, "reciprocal", {}),
    (scalars.scaled, "scaled", {"factor": math.nan}),
    (scalars.hard_sigmoid, "hard_sigmoid", {"alpha": 0.2, "beta": 0.5}),
    (scalars.hard_swish, "hard_swish", {}),
    (scalars.sigmoid, "sigmoid", {}),
    (scalars.swish, "swish", {"alpha": 1.0}),
)


def term_of(t: Tensor, depth: int) -> tuple[list[Any], list[Tensor]] | None:
    """Return each element of *t* as a term, and the views in it, each of the shape of *t*; None if it is no term.

    Functions that *t* reads are taken apart, *depth* of them one in another.  The name of a function in a term is that
    of the function which computes it, whatever a body calls itself.
    """
    views: list[Tensor] = []
    term = None if t.dtype not in _TYPES else _of_value(t, t.inputs, depth, views)
    return None if term is None else (term, views)


def _of_value(x: Tensor, operands: tuple[Tensor, ...], depth: int, views: list[Tensor]) -> list[Any] | None:
    """Return the function of *x* of these operands as a term."""
    if x.body is None or x.rank != x.batch or any(v.dtype != x.dtype for v in operands):
        return None
    head = _head(x.body)
    return None if head is None else [*head, *(_of_operand(v, depth, views) for v in operands)]


def _of_operand(view: Tensor, depth: int, views: list[Tensor]) -> list[Any]:
    number = everywhere([view])
    if number is not None and math.isfinite(number) and number != 0:
        return ["number", float(number).hex()]
    found = read_leaves(view)
    if depth and len(found) == 1 and found[0].body is not None and _is_plain(view):
        (leaf,) = found
        operands = tuple(v if view is leaf else moved(view, {leaf.key: v}, leaf.batch) for v in leaf.inputs)
        own = list[Tensor](views)
        if leaf.dtype == view.dtype and (term := _of_value(leaf, operands, depth - 1, own)) is not None:
            views[:] = own
            return term
    views.append(view)
    return ["view", len(views) - 1]


def _is_plain(view: Tensor) -> bool:
    """Return whether each element of a view is one that it reads, by operations that can be applied again."""
    return not fills_of(view) and all(isinstance(n.again, Application) for n in view.nodes() if n.declared is not None)


def _head(body: Body) -> list[str] | None:
    """Return the name of a function in terms, with its numbers; None if it has none."""
    if body.over or body.random:
        return None
    for function, name, numbers in _FUNCTIONS:
        if body.function is function:
            given = dict(body.attributes)
            values = [given.get(key, number) for key, number in numbers.items()]
            known = given.keys() <= numbers.keys() and all(type(v) is float and math.isfinite(v) and v for v in values)
            return [name, *(v.hex() for v in values)] if known else None
    return None
