"""Take out additions of constants that are 0, under the law ``"signed-zero"``: the value of ``x + 0`` may be ``x``.

The floats ``-0 + 0`` and 0 are one, so ``x + 0`` is ``x`` bit for bit but where ``x`` is -0.  The law replaces the sum
itself, and what reads it is compared as it stands: a quotient, a sign or a cast of bits that tells -0 from 0 is the
same function of the replaced value.  Prover and check both take the additions out before they compare.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symlayout.proof.forms.function_forms import form_of
from symlayout.proof.idle_functions import is_of_single_elements, stands_for, with_operands
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body
from symlayout.walks import Walk


def without_added_zeros(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return *tensors* with each sum of a value and constants 0 replaced by the value; the same ones without such sums.

    Facts of a sum that is taken out are lost, so they have to be known from *tensors*.
    """
    return with_operands(tensors, _summand)[0]


def _summand(node: Tensor) -> int | None:
    """Return the operand that *node* equals if a zero's sign does not matter: it adds constants 0 to it, or none."""
    body = node.body
    if not is_of_single_elements(node) or node.dtype is None or node.dtype.kind != "f" or len(node.inputs) < 2:
        return None
    assert body is not None
    others = [k for k, view in enumerate(node.inputs) if not _is_zero(view)]
    if len(others) != 1 or not _adds(body, len(node.inputs), others[0]) or not _keeps(node, body, others[0]):
        return None
    if any(view.dtype != node.dtype for view in node.inputs):
        return None
    return others[0] if stands_for(node.inputs[others[0]], node) else None


def _adds(body: Body, operands: int, kept: int) -> bool:
    """Return whether a function is one sum or difference that has operand *kept* itself, if all others are 0."""
    made, atoms = form_of(body, [None] * operands)
    if made is None or atoms.steps != 1 or len(made.terms) != operands or len(atoms.found) != operands:
        return False
    numbers = {powers[0][0]: value for (powers, box), value in made.terms.items() if len(powers) == 1 and not box}
    if len(numbers) != operands or any(exponent != 1 for powers, _ in made.terms for _, exponent in powers):
        return False
    return all(value.is_unit and value.is_scalar for value in numbers.values()) and numbers[kept].array.item() == 1


def _keeps(node: Tensor, body: Body, kept: int) -> bool:
    """Return whether a sum with 0 keeps some floats: forms do not see that a function computes in another type."""
    assert node.dtype is not None
    assert body.function is not None
    info = np.finfo(node.dtype)
    sizes = [info.smallest_subnormal, info.tiny, 1 + info.eps, info.max, np.inf]
    some = np.array([0, -0.0, np.nan, *sizes, *(-size for size in sizes)], node.dtype)
    operands = [some if k == kept else np.zeros_like(some) for k in range(len(node.inputs))]
    with np.errstate(all="ignore"):
        made = np.asarray(body.function(*operands, **dict(body.attributes)))
    return made.dtype == some.dtype and np.array_equal(made, some, equal_nan=True)


def _is_zero(view: Tensor) -> bool:
    """Return whether all elements of a view are constants 0 or -0."""
    walk = Walk([view])
    for node in walk:
        if node.declared is None:
            if node.values is None or node.values.dtype.kind != "f" or node.values.any():
                return False
            continue
        for case in node.declared.cases:  # inputs that no case reads only give extents
            if case.fill is not None and not _is_number_zero(case.fill.value):
                return False
            walk.to([node.inputs[case.source]])
    return True


def _is_number_zero(fill: Any) -> bool:
    return isinstance(fill, int | float | np.integer | np.floating) and fill == 0
