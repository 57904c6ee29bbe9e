"""The parts of nests written by hand: symbols, digits, affine forms."""

from __future__ import annotations

from contextlib import suppress

from symlayout_codegen.ir.integer_expressions import Expr, NamedInt, add, evaluate, mul
from symlayout_codegen.ir.nest import (
    AffineForm,
    Digit,
    Local,
    Nest,
    NestPiece,
    Precondition,
    Term,
    simulate,
)

N, C, H, W, b, p, q = map(NamedInt, ("N", "C", "H", "W", "b", "p", "q"))


def affine(constant: Expr | int = 0, *terms: tuple[int, Expr | int]) -> AffineForm:
    return AffineForm(add(constant), tuple((k, mul(c)) for k, c in terms))


def digits(**extents: Expr | int) -> tuple[Digit, ...]:
    return tuple(Digit(name, add(extent)) for name, extent in extents.items())


def not_negative(*names: str) -> tuple[Precondition, ...]:
    return tuple(Precondition(NamedInt(name), ">=", "bad_extent", f"{name} >= 0") for name in names)


def nest(name: str, parameters: str, pieces: list[NestPiece], size: Expr | int, **more: object) -> Nest:
    """Return a nest of one source ``x`` whose parameters are all non-negative."""
    names = tuple(parameters.split())
    values: dict[str, object] = {
        "prelude": not_negative(*names),
        "sources": ("x",),
        "source_sizes": (None,),
        "nonnegative": frozenset(map(NamedInt, names)),
    }
    return Nest(name, names, output_size=add(size), pieces=tuple(pieces), **{**values, **more})  # type: ignore[arg-type]


def simulated(nest: Nest) -> list[tuple[dict[str, int], dict[int, tuple[Term, ...]]]]:
    """Return small values of the parameters that meet the preconditions, each with what the nest then writes."""
    found = []
    for scale in range(6):
        values = {name: (scale * (k + 2)) % 5 for k, name in enumerate(nest.parameters)}
        with suppress(ValueError):
            found.append((values, simulate(nest, values)))
    return found


def with_locals(nest: Nest, values: dict[str, int]) -> dict[str, int]:
    """Return *values* of the parameters and what the locals of the prelude then are."""
    known = dict(values)
    for step in nest.prelude:
        if isinstance(step, Local):
            known[step.name] = evaluate(step.value, known)
    return known
