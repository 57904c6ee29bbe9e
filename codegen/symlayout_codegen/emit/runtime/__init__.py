"""The C runtime of kernels, in parts: each header of this folder is one part, and includes the parts that it needs.

A part is a C header of its own, so that editors and compilers read it alone.  What is emitted is one header: the parts
in an order in which each follows those that it needs, without their ``#include`` and ``#pragma`` lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache
from pkgutil import get_data

NIBBLES = frozenset({"nibble_copies", "nibble_transposes"})
"""The parts for elements of half a byte."""

VALUES = frozenset({"values", "float16"})
"""The parts for elements that are computed."""

PARTS = (
    "accumulate",
    "copy_rows",
    "cut_grid",
    "deal",
    "fill",
    "octets",
    "shares",
    "transpose",
    *sorted(NIBBLES),
    *sorted(VALUES),
)
"""The parts that kernels call; the others are those that these need."""

APART = frozenset(
    {
        "row_plans",
        "split_join",
        "transpose_large",
        "transpose_matrices",
        "transpose_narrow",
        "transpose_pieces",
        "transpose_tiles",
        "transpose_ways",
    }
)
"""The parts that may be compiled apart, once for many kernels, which then have only their prototypes."""

OWN_CACHES = "cache_sizes"
"""The part that the object of tiles has for all that a kernel is linked to; without tiles, the kernel itself has it."""

_INCLUDE = re.compile(r'^#include "(\w+)\.h"\n', re.MULTILINE)
_GLUE = re.compile(r'^#(?:pragma once|include "\w+\.h")\n', re.MULTILINE)


@cache
def part(name: str) -> str:
    """Return the text of the part *name*."""
    content = get_data(__name__, f"{name}.h")  # a third of the time of importlib.resources
    assert content is not None  # the package's loader has files
    return content.decode("ascii")


def in_order(names: Iterable[str], apart: Collection[str] = ()) -> tuple[str, ...]:
    """Return the parts *names* and all that they need, each once and after those that it needs.

    Of the parts *apart* there are none, nor any that only these need.
    """
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        if name not in found and name not in apart:
            for needed in _INCLUDE.findall(part(name)):
                visit(needed)
            found[name] = None

    for name in names:
        visit(name)
    return tuple(found)


def join(names: Iterable[str], given: Collection[str] = (), apart: Collection[str] = ()) -> str:
    """Return the text of the parts *names* and all that they need, but for the parts *given*, and without *apart*."""
    return "\n".join(_bare(name) for name in in_order(names, apart) if name not in given)


def _bare(name: str) -> str:
    """Return the text of a part without the lines that join it to others."""
    return re.sub(r"\n{3,}", "\n\n", _GLUE.sub("", part(name)))
