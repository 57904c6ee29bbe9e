"""Tell whether two chains of movement are one expression: the same operations, node by node, of leaves that correspond.

Then both read the same elements of corresponding leaves wherever they are evaluated, and no case has to be decided.
"""

from __future__ import annotations

from typing import Any

from symlayout.algebra.polynomial import Extent
from symlayout.proof.certificate.claim import TracedCoordinate
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import UNDETERMINED, Case
from symlayout.tensors.element_types import fill_text

Pairs = list[tuple[Tensor, Tensor]]
Forms = dict[int, tuple[Tensor, Any]]


def leaves_of_one_expression(left: Tensor, right: Tensor, forms: Forms) -> Pairs | None:
    """Return the leaves that correspond if both sides are the same operations of them; None otherwise.

    Inputs of one name and constants of equal bits are left out; the pairs that remain are computed values, which are
    equal or not.  An element whose value is undetermined equals no other, so that such chains are no expression.
    *forms* keeps what operations read, by ``id``.
    """
    found = parts_of_one_expression(left, right, forms)
    return None if found is None or found[1] else found[0]


def are_one_expression(left: Tensor, right: Tensor, *, unread: bool = False) -> bool:
    """Return whether both sides are the same operations of the same inputs, whatever these are.

    Inputs that no case reads, such as those that only give an extent, count if *unread*.
    """
    return parts_of_one_expression(left, right, {}, unread=unread) == ([], [])


def parts_of_one_expression(
    left: Tensor, right: Tensor, forms: Forms, *, unread: bool = False
) -> tuple[Pairs, Pairs] | None:
    """Return what corresponds if both sides are the same operations of it; None if they end in two operations.

    Both sides are equal if all pairs are.  The first pairs are leaves, as `leaves_of_one_expression` has them.  The
    others are values of one shape at which the operations part, and are movement, at least on one side.
    """
    found: Pairs = []
    parts: Pairs = []
    seen: set[tuple[int, int]] = set()
    waiting = [(left, right)]
    while waiting:
        a, b = waiting.pop()
        if a is b or (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        if a.declared is None and b.declared is None:
            if a.rank != b.rank or not _may_be_equal(a, b):
                return None
            if a.key != b.key and a.body is not None:
                found.append((a, b))
        elif a.declared is not None and b.declared is not None and _is_one_operation(a, b, forms):
            # of inputs that no case reads, only the extents matter, which the form has
            read = range(len(a.inputs)) if unread else {case.source for case in a.declared.cases}
            waiting += [(a.inputs[k], b.inputs[k]) for k in sorted(read, reverse=True)]
        elif (a, b) == (left, right) or a.extents != b.extents or a.dtype != b.dtype:
            return None
        else:
            parts.append((a, b))
    return found, parts


def _is_one_operation(a: Tensor, b: Tensor, forms: Forms) -> bool:
    form = _form(a, forms) if len(a.inputs) == len(b.inputs) else None
    return form is not None and form == _form(b, forms)


def _may_be_equal(a: Tensor, b: Tensor) -> bool:
    """Return whether two leaves are one input, constants of equal bits, or values of one function."""
    if a.key == b.key:
        return a.extents == b.extents
    if a.dtype != b.dtype or a.extents != b.extents:
        return False
    if a.values is not None and b.values is not None:
        return a.values.dtype == b.values.dtype and a.values.tobytes() == b.values.tobytes()
    if a.body is None or b.body is None:
        return False
    return a.body == b.body and not a.body.random and a.batch == b.batch and len(a.inputs) == len(b.inputs)


def _form(node: Tensor, forms: Forms) -> Any:
    """Return what an operation reads at each coordinate, as data; None if some of its elements are undetermined."""
    if id(node) not in forms:
        assert node.declared is not None
        cases = node.declared.cases
        undetermined = any(case.fill is not None and case.fill.value is UNDETERMINED for case in cases)
        form = None if undetermined else (node.extents, [_form_of_case(case, node) for case in cases])
        forms[id(node)] = node, form
    return forms[id(node)][1]


def _form_of_case(case: Case, node: Tensor) -> tuple[Any, ...]:
    axes = [TracedCoordinate(["axis", k]) for k in range(node.rank)]
    windows = [] if case.where is None else [(_expression(v), extent) for v, extent in case.where(*axes)]
    fill = None if case.fill is None else fill_text(case.fill.value, node.dtype)
    return case.source, windows, [_expression(c) for c in case.coords(*axes)], fill


def _expression(value: Any) -> list[Any] | Extent:
    return value.data if isinstance(value, TracedCoordinate) else value
