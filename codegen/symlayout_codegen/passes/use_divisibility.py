"""Write each multiple that a precondition checks as that multiple of its quotient.

    n, n_2 where n % 2 == 0 is checked and n_2 = n // 2    becomes    2*n_2, n_2

With one name for both, later passes see that digits are contiguous, and that bounds are equal, where that holds
because of what was checked.

Assumes: each local of the prelude has a name of its own (`rename`).
Guarantees: the pieces and the known signs use the quotient's name alone; the old signs stay known too.  The prelude
and the sizes are unchanged.  What the prelude checks to be non-negative is among the known signs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, IntLiteral, NamedInt, Summation, mul
from symlayout_codegen.ir.nest import Local, Nest, Precondition
from symlayout_codegen.ir.queries import substitute


def use_divisibility(nest: Nest) -> Nest:
    """Return *nest* with the multiples in its pieces, and in the known signs, written as such."""
    quotients: dict[tuple[str, int], str] = {}
    divisors: set[tuple[str, int]] = set()
    for step in nest.prelude:
        match step:
            case Local(name, FloorDiv(NamedInt(whole), IntLiteral(divisor))):
                quotients[whole, divisor] = name
            case Precondition(FloorMod(NamedInt(whole), IntLiteral(divisor)), "=="):
                divisors.add((whole, divisor))
            case Precondition(FloorMod(Summation((NamedInt(whole), IntLiteral(more))), IntLiteral(divisor)), "=="):
                if more % divisor == 0:
                    divisors.add((whole, divisor))
    values: dict[str, Expr] = {name: NamedInt(whole) for (whole, divisor), name in quotients.items() if divisor == 1}
    for whole, divisor in sorted(divisors & quotients.keys(), key=lambda pair: pair[1]):
        values[whole] = mul(divisor, NamedInt(quotients[whole, divisor]))  # the largest divisor comes last and stays
    if not values:
        return replace(nest, nonnegative=nest.nonnegative | _checked(nest))
    multiple = partial(substitute, values=values)
    nonnegative = nest.nonnegative | _checked(nest)
    return replace(
        nest.map_boxes(lambda piece: piece.map_expressions(multiple)),
        positive=nest.positive | set(map(multiple, nest.positive)),
        nonnegative=nonnegative | set(map(multiple, nonnegative)),
    )


def _checked(nest: Nest) -> set[Expr]:
    """Return the expressions that the prelude checks to be non-negative."""
    return {step.value for step in nest.prelude if isinstance(step, Precondition) and step.relation == ">="}
