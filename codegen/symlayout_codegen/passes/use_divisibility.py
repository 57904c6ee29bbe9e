"""Write what a precondition makes a multiple as that multiple of its quotient.

Where ``n % 2 == 0`` is checked and ``n_2 = n // 2`` is computed, ``n`` is ``2*n_2``: with one name for both, digits
are seen to be contiguous, and bounds to be equal, that are so because of what was checked.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, Literal, Name, Sum, mul
from symlayout_codegen.ir.nest import Local, Nest, Precondition
from symlayout_codegen.ir.queries import substitute
from symlayout_codegen.passes.rename import substitute_piece


def exact(nest: Nest) -> Nest:
    """Return *nest* with the multiples in its pieces, and in what is known of signs, written as such.

    What its prelude checks to be non-negative is among what is known.
    """
    quotients: dict[tuple[str, int], str] = {}
    divisors: set[tuple[str, int]] = set()
    for step in nest.prelude:
        match step:
            case Local(name, FloorDiv(Name(whole), Literal(divisor))):
                quotients[whole, divisor] = name
            case Precondition(FloorMod(Name(whole), Literal(divisor)), "=="):
                divisors.add((whole, divisor))
            case Precondition(FloorMod(Sum((Name(whole), Literal(more))), Literal(divisor)), "=="):
                if more % divisor == 0:
                    divisors.add((whole, divisor))
    values: dict[str, Expr] = {name: Name(whole) for (whole, divisor), name in quotients.items() if divisor == 1}
    for whole, divisor in sorted(divisors & quotients.keys(), key=lambda pair: pair[1]):
        values[whole] = mul(divisor, Name(quotients[whole, divisor]))  # the largest is the last
    checked = {step.value for step in nest.prelude if isinstance(step, Precondition) and step.relation == ">="}
    nonnegative = nest.nonnegative | checked
    return replace(
        nest,
        pieces=tuple(substitute_piece(piece, values) for piece in nest.pieces),
        background=nest.background and substitute_piece(nest.background, values),
        positive=nest.positive | {substitute(e, values) for e in nest.positive},
        nonnegative=nonnegative | {substitute(e, values) for e in nonnegative},
    )
