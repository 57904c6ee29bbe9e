"""Give every name of a nest a legal, unique C identifier.

Names come from the user (dims, axes); none reaches the C as it came.  A name that is legal
and free stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from symlayout_codegen.ir.integer_expressions import Expr, Name
from symlayout_codegen.ir.nest import Affine, Carried, Guard, Local, Nest, Piece, Precondition, Window
from symlayout_codegen.ir.queries import substitute

PARTED = "_part"
"""What the name of a kernel has at its end where it is the function that does one part."""

PACKED = "_packed"
"""And where it is the function that takes its arguments from arrays."""

_LONGEST = 40
_KEYWORDS = frozenset(  # C's and C++'s own, since the header serves both, and the names that the text itself uses
    """auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while asm bool true false typeof alignas alignof and and_eq bitand bitor catch char8_t char16_t
    char32_t class compl concept const_cast consteval constexpr constinit co_await co_return co_yield decltype
    delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public reinterpret_cast requires static_assert static_cast template this
    thread_local throw try typeid typename using virtual wchar_t xor xor_eq
    dst fill far to part parts element overflow main memcpy memmove memset memcmp linux unix""".split()  # noqa: SIM905 - a list of strings is no easier to read
)
# Macros and types of the two standard headers, and what the runtime defines.
_TAKEN = re.compile(r"(sl_|SL_|U?INT|NULL$|SIZE_MAX$|PTRDIFF_|WCHAR_|WINT_|SIG_ATOMIC_|from\d|fill\d|\w*_t$)")


def identifier(name: str, taken: set[str]) -> str:
    """Return a C identifier close to *name* that is not in *taken*, and add it there.

    >>> taken = {"n"}
    >>> identifier("n", taken), identifier("2 x", taken), identifier("while", taken)
    ('n_2', 'v2_x', 'while_')
    """
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name[:_LONGEST])
    if not re.match(r"[A-Za-z]", plain):
        plain = f"v{plain}"
    if plain in _KEYWORDS or _TAKEN.match(plain):
        plain = f"v_{plain}" if _TAKEN.match(f"{plain}_") else f"{plain}_"
    unique, count = plain, 1
    while unique in taken:
        count += 1
        unique = f"{plain}_{count}"
    taken.add(unique)
    return unique


def rename(nest: Nest) -> tuple[Nest, set[str]]:
    """Return *nest* with legal and unique names, and the set of the names in use.

    Digits of different pieces may share a name: their loops never nest.
    """
    renamed, new, taken = _signature(nest)
    values: dict[str, Expr] = {old: Name(name) for old, name in new.items() if old != name}
    reserved = frozenset(taken)

    def renamed_piece(piece: Piece) -> Piece:
        inside = set(reserved)
        made = _rename_piece(piece, values, inside)
        taken.update(inside)
        return made

    def step(old: Local | Precondition) -> Local | Precondition:
        value = substitute(old.value, values)
        return Local(new[old.name], value) if isinstance(old, Local) else replace(old, value=value)

    renamed = replace(
        renamed,
        prelude=tuple(map(step, nest.prelude)),
        source_sizes=tuple(size and substitute(size, values) for size in nest.source_sizes),
        output_size=nest.output_size and substitute(nest.output_size, values),
        pieces=tuple(map(renamed_piece, nest.pieces)),
        background=nest.background and renamed_piece(nest.background),
        positive=frozenset(substitute(e, values) for e in nest.positive),
        nonnegative=frozenset(substitute(e, values) for e in nest.nonnegative),
    )
    return renamed, taken


def rename_signature(nest: Nest) -> Nest:
    """Return *nest* with the names that its prototype has as `rename` makes them, and the others as they are."""
    return _signature(nest)[0]


def _signature(nest: Nest) -> tuple[Nest, dict[str, str], set[str]]:
    """Return *nest* with its prototype renamed, what its parameters and locals become, and the names in use."""
    taken: set[str] = set()
    kernel = identifier(nest.name, taken)
    taken.update((f"{kernel}{PARTED}", f"{kernel}{PACKED}"))
    locals_ = [step.name for step in nest.prelude if isinstance(step, Local)]
    new = {old: identifier(old, taken) for old in (*nest.parameters, *locals_)}
    sources = tuple(identifier(old, taken) for old in nest.sources)
    return (
        replace(nest, name=kernel, parameters=tuple(new[old] for old in nest.parameters), sources=sources),
        new,
        taken,
    )


def _rename_piece(piece: Piece, values: Mapping[str, Expr], taken: set[str]) -> Piece:
    piece = substitute_piece(piece, values)
    digits = tuple(replace(d, name=identifier(d.name, taken)) for d in piece.digits)
    return replace(
        piece, digits=digits, carried=tuple(replace(c, name=identifier(c.name, taken)) for c in piece.carried)
    )


def substitute_piece(piece: Piece, values: Mapping[str, Expr]) -> Piece:
    """Return *piece* with the names in *values* replaced in its expressions."""

    def affine(old: Affine) -> Affine:
        terms = tuple((k, substitute(coefficient, values)) for k, coefficient in old.terms)
        return Affine(substitute(old.constant, values), terms)

    def window(old: Window) -> Window:
        return Window(affine(old.value), substitute(old.extent, values))

    return replace(
        piece,
        digits=tuple(replace(d, extent=substitute(d.extent, values)) for d in piece.digits),
        carried=tuple(Carried(c.name, affine(c.value), substitute(c.divisor, values)) for c in piece.carried),
        output=affine(piece.output),
        offset=affine(piece.offset) if piece.offset is not None else None,
        windows=tuple(map(window, piece.windows)),
        guards=tuple(Guard(window(g.window), g.fill) for g in piece.guards),
    )
