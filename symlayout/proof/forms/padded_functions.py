"""Functions of single elements whose values are padded with 0: what their operands are then."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute.elementwise import broadcast_jointly
from symlayout.proof.forms.function_forms import form_of
from symlayout.proof.forms.real_forms import Form
from symlayout.proof.pull_functions import read_leaves
from symlayout.tensors.chain import Tensor


def is_finite(view: Tensor) -> bool:
    """Return whether a view reads finite constants alone."""
    found = read_leaves(view)
    return all(x.values is not None and bool(np.isfinite(x.values).all()) for x in found)


def has_each_element(view: Tensor) -> bool:
    """Return whether an operand is read at the coordinates of the value: it is not repeated along an axis."""
    if view.declared is None:
        return True
    source = view.inputs[view.declared.cases[0].source]
    return view.name == broadcast_jointly.__name__ and source.extents == view.extents


def polynomial(value: Tensor, constants: Sequence[Any]) -> Form | None:
    """Return a function of single elements as a sum of products of operands; None for another function.

    No operand is more than once a factor of a product.
    """
    body = value.body
    if body is None or body.over or body.random or body.function is None or value.dtype is None:
        return None
    made, atoms = form_of(body, constants, value.dtype)
    if made is None or any(atom.kind != "read" for atom in atoms.found):
        return None
    return made if all(not box and all(e == 1 for _, e in powers) for powers, box in made.terms) else None


def is_zero_of(value: Tensor, padded: Sequence[int], constants: Sequence[Any]) -> bool:
    """Return whether a function of single elements is 0 if the operands *padded* are, whatever the others are."""
    body = value.body
    if body is None or body.over or body.random or body.function is None:
        return False
    made, _ = form_of(body, [0 if k in padded else c for k, c in enumerate(constants)])
    return made is not None and all(not value.array.any() for value in made.terms.values())
