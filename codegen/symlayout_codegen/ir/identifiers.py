"""Legal, unique C identifiers, and the names in a kernel's prototype.

Names come from the user (dims, axes), and none may reach the C unchecked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from symlayout_codegen.ir.nest import Local, Nest

PARTED = "_part"
"""Suffix of the C function that does one part of a kernel's work."""

PACKED = "_packed"
"""Suffix of the C function that takes a kernel's arguments from arrays."""

WAYS = "_ways"
"""Suffix of the C function that says which ways to move elements a kernel's calls wanted."""

_MOST_CHARACTERS = 40
KEYWORDS = frozenset(  # both include the header
    """auto break case char const continue default do double else enum extern float for goto if inline int
    long register restrict return short signed sizeof static struct switch typedef union unsigned void
    volatile while asm bool true false typeof alignas alignof and and_eq bitand bitor catch char8_t char16_t
    char32_t class compl concept const_cast consteval constexpr constinit co_await co_return co_yield decltype
    delete dynamic_cast explicit export friend mutable namespace new noexcept not not_eq nullptr operator or
    or_eq private protected public reinterpret_cast requires static_assert static_cast template this
    thread_local throw try typeid typename using virtual wchar_t xor xor_eq""".split()  # noqa: SIM905 - a list of strings is no easier to read
)
"""The keywords of C and of C++."""

_USED = frozenset(  # by the printed text
    "dst fill reach to part parts element overflow main memcpy memmove memset memcmp linux unix".split()  # noqa: SIM905
)
# Macros and types of the standard headers, and names that the runtime defines.
_TAKEN = re.compile(r"(sl_|SL_|U?INT|NULL$|SIZE_MAX$|PTRDIFF_|WCHAR_|WINT_|SIG_ATOMIC_|from\d|fill\d|table\d|\w*_t$)")


def identifier(name: str, taken: set[str]) -> str:
    """Return a C identifier close to *name* that is not in *taken*, and add it to *taken*.

    A name that is legal and free stays as it is.

    >>> taken = {"n"}
    >>> identifier("n", taken), identifier("2 x", taken), identifier("while", taken)
    ('n_2', 'v2_x', 'while_')
    """
    legal = re.sub(r"[^A-Za-z0-9_]", "_", name[:_MOST_CHARACTERS])
    if not re.match(r"[A-Za-z]", legal):
        legal = f"v{legal}"
    if legal in KEYWORDS | _USED or _TAKEN.match(legal):
        legal = f"v_{legal}" if _TAKEN.match(f"{legal}_") else f"{legal}_"
    unique, count = legal, 1
    while unique in taken:
        count += 1
        unique = f"{legal}_{count}"
    taken.add(unique)
    return unique


@dataclass(frozen=True, slots=True)
class RenamedSignature:
    """A nest whose kernel, parameters and sources have legal names.

    Attributes
    ----------
    nest : the nest with these names; the expressions in it still have the old ones.
    renamed : ``{old: new}`` for the parameters and locals.
    taken : the names in use.
    """

    nest: Nest
    renamed: dict[str, str]
    taken: set[str]


def rename_signature(nest: Nest) -> RenamedSignature:
    """Return *nest* with legal names in its prototype."""
    taken: set[str] = set()
    kernel = identifier(nest.name, taken)
    taken.update((f"{kernel}{PARTED}", f"{kernel}{PACKED}", f"{kernel}{WAYS}"))
    locals_ = [step.name for step in nest.prelude if isinstance(step, Local)]
    renamed = {old: identifier(old, taken) for old in (*nest.parameters, *locals_)}
    sources = tuple(identifier(old, taken) for old in nest.sources)
    parameters = tuple(renamed[old] for old in nest.parameters)
    return RenamedSignature(replace(nest, name=kernel, parameters=parameters, sources=sources), renamed, taken)
