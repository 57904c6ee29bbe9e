"""Give every name of a nest a legal, unique C identifier.

    for "2 x" < while: ...    becomes    for v2_x < while_: ...

Assumes: nothing; this is the first pass.
Guarantees: the kernel, its parameters, locals, sources, digits and carried digits have legal C identifiers, unique
except that different pieces may share the names of digits: their loops never nest.  The later passes take new names
from `identifier` with the set of names in use, and so keep all names unique.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from symlayout_codegen.ir.identifiers import identifier, rename_signature
from symlayout_codegen.ir.integer_expressions import Expr, NamedInt
from symlayout_codegen.ir.nest import Local, Nest, NestPiece, Precondition
from symlayout_codegen.ir.queries import substitute


def rename(nest: Nest) -> tuple[Nest, set[str]]:
    """Return *nest* with legal and unique names, and the set of the names in use."""
    signature = rename_signature(nest)
    new, taken = signature.renamed, signature.taken
    values: dict[str, Expr] = {old: NamedInt(name) for old, name in new.items() if old != name}
    renamed = partial(substitute, values=values)
    reserved = frozenset(taken)

    def renamed_piece(piece: NestPiece) -> NestPiece:
        inside = set(reserved)
        made = _rename_digits(piece.map_expressions(renamed) if values else piece, inside)
        taken.update(inside)
        return made

    def renamed_step(step: Local | Precondition) -> Local | Precondition:
        value = renamed(step.value)
        return Local(new[step.name], value) if isinstance(step, Local) else replace(step, value=value)

    return (
        replace(
            signature.nest.map_boxes(renamed_piece),
            prelude=tuple(map(renamed_step, nest.prelude)),
            source_sizes=tuple(size and renamed(size) for size in nest.source_sizes),
            output_size=nest.output_size and renamed(nest.output_size),
            spans=tuple(map(renamed, nest.spans)),
            positive=frozenset(map(renamed, nest.positive)),
            nonnegative=frozenset(map(renamed, nest.nonnegative)),
        ),
        taken,
    )


def _rename_digits(piece: NestPiece, taken: set[str]) -> NestPiece:
    digits = tuple(replace(digit, name=identifier(digit.name, taken)) for digit in piece.digits)
    carried = tuple(replace(digit, name=identifier(digit.name, taken)) for digit in piece.carried)
    return replace(piece, digits=digits, carried=carried)
