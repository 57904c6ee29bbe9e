"""Take values as runtimes round them for their formulas, under the law ``"requantize"``.

A runtime computes a function of quantized tensors with integers, or of tensors that it quantizes first, and rounds on
its way.  Such a value (`Body.rounds`) has the formula of its page as its first operand.  Prover and check both put the
formula in its place before they compare.
"""

from __future__ import annotations

from collections.abc import Mapping

from symlayout.proof.idle_functions import stands_for, with_operands
from symlayout.tensors.chain import Tensor


def without_rounding(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return *tensors* with each value that a runtime rounds replaced by its formula; the same ones without any.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, s = sl.tensor("N", dtype="uint8", name="x"), sl.tensor((), dtype="float32", name="s")
    >>> y = sl.op("microsoft:QLinearSigmoid")(x, s, None, s)
    >>> [value.body.name for value in without_rounding({"y": y})["y"].graph() if value.body]
    ['dequantized', 'Sigmoid', 'quantized']
    """
    return with_operands(tensors, _formula)[0]


def _formula(node: Tensor) -> int | None:
    """Return the operand that is the formula of a value that a runtime rounds; None for other values."""
    if node.body is None or not node.body.rounds:
        return None
    return 0 if stands_for(node.inputs[0], node) else None
