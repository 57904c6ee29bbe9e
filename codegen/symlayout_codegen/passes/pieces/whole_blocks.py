"""An axis that is cut in blocks, and the whole blocks that a window leaves of it.

A pad or a crop by ``p`` of an axis cut in blocks of ``k`` has the window ``0 <= k*block + within - p < k*m``.  With
``p = k*q + r`` the array itself is cut in ``m`` whole blocks.  Their digits are the two digits turned by ``r``:

    r = 0            within = w       block = b + q
    k = 2, r = 1     within = 1 - w   block = b + q + w

So two loops over the whole blocks need no bounds.  Outside lies, for each value of *within*, a margin before the
``m`` blocks and one after them.
"""

from __future__ import annotations

from dataclasses import dataclass

from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, add, mul
from symlayout_codegen.ir.nest import AffineForm, NestWindow
from symlayout_codegen.ir.queries import ONE, ZERO, SignFacts, equal, expanded, floor_div, subtract


@dataclass(frozen=True, slots=True)
class WholeBlocks:
    """Whole blocks: *count* of them, from block ``first[w]`` on where the digit *within* is ``w``.

    Attributes
    ----------
    within, block : the numbers of the two digits.
    """

    within: int
    block: int
    count: Expr
    first: tuple[int, ...]

    def turned(self, form: AffineForm) -> AffineForm:
        """Return *form*, which is in the digits of the axis, in the digits of the whole blocks."""
        steps = form.coefficients()
        if not steps.keys() & {self.within, self.block}:
            return form
        within, block = steps.get(self.within, ZERO), steps.get(self.block, ZERO)
        constant = add(form.constant, mul(self.first[-1], block))
        if self.first[0] != self.first[-1]:
            constant = add(constant, within)
            steps[self.within] = subtract(block, within)
        return AffineForm(constant, tuple(steps.items()))


def whole_blocks(
    window: NestWindow, within: int, block: int, size: Expr, blocks: Expr, facts: SignFacts
) -> WholeBlocks | None:
    """Return the whole blocks that *window* leaves; None where the digits are no such axis, or that is not proved.

    Parameters
    ----------
    within, block : the two digits of the window's value.
    size, blocks : their extents.
    """
    steps = window.value.coefficients()
    if not isinstance(size, IntLiteral) or size.value < 2 or not isinstance(window.value.constant, IntLiteral):
        return None
    if steps.keys() != {within, block}:
        return None
    k = size.value
    q, r = divmod(-window.value.constant.value, k)
    count = floor_div(expanded(window.extent), size)
    margin = subtract(subtract(blocks, count), IntLiteral(q + (r > 0)))
    proved = (
        steps[within] == ONE
        and equal(steps[block], size)
        and equal(mul(size, count), window.extent)
        and facts.is_nonnegative(count)
        and facts.is_nonnegative(margin)
    )
    if not proved or q < 0 or (r and k != 2):
        return None
    return WholeBlocks(within, block, count, tuple(q + (w < r) for w in range(k)))
