"""Take out functions that return one of their operands bit for bit, because the others are constants.

Examples are ``x * 1``, ``x - 0``, ``x ** 1``, ``max(x, -inf)``, ``x and True`` and ``where(True, x, y)``.  The sum
``x + 0`` of floats is none: it is 0 where ``x`` is -0 (see `symlayout.proof.added_zeros`).  A choice by the negation of
a condition is the choice by the condition, with its operands exchanged: then the negation is taken out.  Prover and
check both take these functions out before they compare.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symlayout.compute.trace import larger, smaller
from symlayout.proof.congruence import equal
from symlayout.proof.forms.function_forms import applied, form_of, plain_atoms
from symlayout.proof.forms.real_forms import Atom
from symlayout.proof.pull_functions import fills_of, moved, moved_values
from symlayout.tensors.chain import Tensor, graph_of, rebuilt
from symlayout.tensors.computation import compute, is_pointwise
from symlayout.tensors.declaration import Body
from symlayout.tensors.element_types import end_of_type
from symlayout.tensors.uniform_constants import everywhere

_MOST_OPERANDS = 4
_MOST_KEPT = 1000  # answers about functions of constants that are kept
_LARGEST = 2.0**53  # integers up to this are floats of 64 bits


def without_idle_functions(tensors: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], dict[int, Tensor]]:
    """Return *tensors* with each function that returns an operand replaced by it, and what was made, by ``id``.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x = sl.tensor("N", dtype="float32", name="x")
    >>> made, _ = without_idle_functions({"y": sl.onnx.mul(x, np.float32(1)), "z": sl.onnx.mul(x, np.float32(2))})
    >>> made["y"].name, made["z"].name
    ('broadcast_jointly', 'Mul')
    """
    return with_operands(tensors, idle_operand)


def with_operands(
    tensors: Mapping[str, Tensor], operand_of: Callable[[Tensor], int | None]
) -> tuple[dict[str, Tensor], dict[int, Tensor]]:
    """Return *tensors* with values replaced by the operand that *operand_of* names, and what was made, by ``id``.

    Values that nothing changes are the same ones.
    """

    def again(node: Tensor, inputs: tuple[Tensor, ...]) -> Tensor:
        if (kept := operand_of(node)) is not None:
            return inputs[kept]
        made = node.remade(inputs, {})
        return made if made.body is None else _without_negation(made)

    nodes = graph_of(tensors.values())
    made = rebuilt(nodes, again)
    changed = {id(node): made[id(node)] for node in nodes if made[id(node)] is not node}
    return {name: made[id(t)] for name, t in tensors.items()}, changed


def idle_operand(node: Tensor) -> int | None:
    """Return the operand that a function returns bit for bit, whatever its elements are; None if it is none."""
    body = node.body
    if not is_of_single_elements(node) or not 1 <= len(node.inputs) <= _MOST_OPERANDS:
        return None
    assert body is not None
    assert node.dtype is not None
    constants = [everywhere([view]) for view in node.inputs]
    free = [k for k, c in enumerate(constants) if c is None]
    if not free or (len(free) == len(constants) and len(free) > 1):
        return None
    given = tuple([None if c is None else (c.dtype, c.tobytes()) for c in constants])
    kept = _kept_operand(body, given, tuple([view.dtype for view in node.inputs]), node.dtype)
    return kept if kept is not None and stands_for(node.inputs[kept], node) else None


def _without_negation(node: Tensor) -> Tensor:
    """Return a choice by a negated condition as the choice by the condition; other values as they are."""
    if not is_of_single_elements(node) or len(node.inputs) != 3:
        return node
    for k, view in enumerate(node.inputs):
        others = [j for j in range(3) if j != k]
        bare = _negated(view) if view.dtype == np.bool_ else None
        if bare is not None and node.body is not None and _turns(node.body, k, others):
            views = list(node.inputs)
            views[k], views[others[0]], views[others[1]] = bare, views[others[1]], views[others[0]]
            return _without_negation(compute(node.body, views, batch=node.batch, dtype=node.dtype))
    return node


def _negated(view: Tensor) -> Tensor | None:
    """Return what a view is the negation of; None if it is none."""
    leaves = [view] if view.declared is None else moved_values(view)
    if len(leaves) != 1 or (view.declared is not None and fills_of(view)):
        return None
    (leaf,) = leaves
    body = leaf.body
    if not is_of_single_elements(leaf) or len(leaf.inputs) != 1 or leaf.inputs[0].dtype != np.bool_ or body is None:
        return None
    assert body.function is not None
    table = np.asarray(body.function(np.array([False, True]), **dict(body.attributes)))
    if table.dtype != np.bool_ or table.tolist() != [True, False] or not stands_for(leaf.inputs[0], leaf):
        return None
    bare = leaf.inputs[0] if leaf is view else moved(view, {leaf.key: leaf.inputs[0]}, leaf.batch)
    return bare if stands_for(bare, view) else None


def _turns(body: Body, condition: int, others: Sequence[int]) -> bool:
    """Return whether a function chooses one of two operands, and the other one by the other condition."""
    for value in (False, True):
        chosen = [_chosen(body, condition, value, others), _chosen(body, condition, not value, others[::-1])]
        if chosen[0] is None or chosen[0] != chosen[1]:
            return False
    return True


def _chosen(body: Body, condition: int, value: bool, others: Sequence[int]) -> int | None:
    """Return the operand, 0 or 1 of the two at *others*, that a function returns for a condition; None if neither."""
    atoms = plain_atoms()
    operands = {others[k]: atoms.form(Atom("read", (k,))) for k in (0, 1)}
    operands[condition] = atoms.number(float(value))
    made = applied(body, [operands[k] for k in range(3)])
    return next((k for k in (0, 1) if made is operands[others[k]]), None)


def is_of_single_elements(node: Tensor) -> bool:
    """Return whether a value is computed by a function of single elements of a known type."""
    body = node.body
    if body is None or body.function is None or body.random or body.sums_products:
        return False
    return node.dtype is not None and is_pointwise(node)


def stands_for(view: Tensor, node: Tensor) -> bool:
    """Return whether a view has the type and the shape of the value that reads it, and all that is required of it."""
    if view.dtype != node.dtype or view.rank != node.rank:
        return False
    facts = view.facts.fork()
    before = len(facts.requirements)
    facts.merge(node.facts)
    same = all(equal(a, b, facts) for a, b in zip(view.extents, node.extents, strict=True))
    return same and len(facts.requirements) == before


@functools.lru_cache(maxsize=_MOST_KEPT)
def _kept_operand(
    body: Body,
    constants: tuple[tuple[np.dtype[Any], bytes] | None, ...],
    dtypes: tuple[np.dtype[Any] | None, ...],
    dtype: np.dtype[Any],
) -> int | None:
    """Return what `_operand` returns, of constants by type and bits: graphs have the same functions many times."""
    return _operand(body, [None if c is None else np.frombuffer(c[1], c[0])[0] for c in constants], dtypes, dtype)


def _operand(body: Body, constants: Sequence[Any], dtypes: Sequence[Any], dtype: np.dtype[Any]) -> int | None:
    """Return the operand that a function returns if the operands that have one are these constants.

    Types with few values are tried with all of them.  Of others it has to be one operation, which gives the number next
    to its value over the real numbers: that is the operand, and the type has it.  What depends on the sign of zeros, on
    infinities or on another type in between shows at some elements.
    """
    free = [k for k, c in enumerate(constants) if c is None]
    few = _all_values(dtype) if len(free) == 1 else None
    kept = free[0] if few is not None else _operand_of_extreme(body, constants, dtype)
    kept = _operand_of_form(body, constants) if kept is None else kept
    if kept is None or dtypes[kept] != dtype:
        return None
    some = _some_values(dtype) if few is None else few
    operands = []
    for k, c in enumerate(constants):
        if c is not None or k == kept:
            operands.append(some if c is None else np.full(some.shape, c))
        elif dtypes[k] is None:
            return None
        else:
            operands.append(np.ones(some.shape, dtypes[k]))
    assert body.function is not None
    try:
        with np.errstate(all="ignore"):
            made = np.asarray(body.function(*operands, **dict(body.attributes)))
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None
    return kept if made.dtype == dtype and _are_one(made, some) else None


def _operand_of_extreme(body: Body, constants: Sequence[Any], dtype: np.dtype[Any]) -> int | None:
    """Return the operand that a maximum or minimum is beside the last number of a type; None for another function."""
    lowest = {larger: True, smaller: False}.get(body.function) if body.function in (larger, smaller) else None
    free = [k for k, c in enumerate(constants) if c is None]
    if lowest is None or len(free) != 1 or dtype.kind not in "iuf":
        return None
    end = end_of_type(dtype, lowest=lowest)
    return free[0] if all(c is None or (c.dtype == dtype and c == end) for c in constants) else None


def _operand_of_form(body: Body, constants: Sequence[Any]) -> int | None:
    """Return the operand that one operation is over the real numbers; None for another function."""
    if any(c is not None and (c.dtype.kind not in "biuf" or not abs(float(c)) <= _LARGEST) for c in constants):
        return None
    names = {number: k for number, k in enumerate(k for k, c in enumerate(constants) if c is None)}
    made, atoms = form_of(body, constants)
    if made is None or atoms.steps != 1:
        return None
    terms = {key: value for key, value in made.terms.items() if key != ((), ()) or value.array.any()}
    if len(terms) != 1:
        return None
    (((powers, box), value),) = terms.items()
    is_one = value.is_scalar and value.array.item() == 1 and not value.error.any()
    return names.get(powers[0][0]) if is_one and not box and len(powers) == 1 and powers[0][1] == 1 else None


def _all_values(dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Return all values of a type that has few; None if it has many."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu" and dtype.itemsize == 1:
        return np.arange(256, dtype=np.uint8).view(dtype)
    return None


def _some_values(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return zeros, infinities, what is no number, and the smallest and largest numbers of a type."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        some = {0, 1, 2, 3, 100, info.max, info.max - 1, info.max // 3, info.min, info.min // 3, max(info.min, -1)}
        return np.array(sorted(some), dtype)
    if dtype.kind != "f":
        return np.empty(0, dtype)
    info_of_floats = np.finfo(dtype)
    eps, tiny = info_of_floats.eps, info_of_floats.smallest_subnormal
    sizes = [tiny, info_of_floats.tiny, 1, 1 + eps, 2 - eps, 1 / 3, 3, info_of_floats.max, np.inf]
    return np.array([0, -0.0, np.nan, *sizes, *(-size for size in sizes)], dtype)


def _are_one(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    """Return whether two arrays have the same elements, with the signs of zeros; NaNs are one value."""
    if not a.size or a.shape != b.shape or not np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return False
    return a.dtype.kind != "f" or np.array_equal(np.signbit(a[a == 0]), np.signbit(b[b == 0]))
