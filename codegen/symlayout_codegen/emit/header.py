"""The headers that go with printed kernels: statuses and prototypes, and the runtime that the kernels call."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from pkgutil import get_data
from string import Template

from symlayout_codegen.emit.runtime import NIBBLES, PARTS, VALUES, in_order, join
from symlayout_codegen.emit.text import comment_text, folded, signature
from symlayout_codegen.ir.identifiers import PARTED, rename_signature
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.ir.statements import (
    AccumulateRows,
    AccumulateRun,
    Body,
    Compute,
    CopyGrid,
    CopyRows,
    CopyRun,
    CutGrid,
    Deal,
    FillRows,
    FillRun,
    FoldTerms,
    JoinGrid,
    Loop,
    Stage,
    StartFolds,
    Statement,
    Transpose,
    walk,
)
from symlayout_codegen.status import MEANING, PRECONDITION, status_name

VERSION = "0.1.0"
"""Version of the backend: part of every generated text, and so of every cache key."""

INTERFACE = 1
"""Grows when a call that compiled against an older header would mean something else."""

RUNTIME_HEADER = "symlayout_runtime.h"
HALVES_HEADER = "symlayout_halves.h"
VALUES_HEADER = "symlayout_values.h"
LIBRARY = "symlayout_kernels"
KERNELS_HEADER = f"{LIBRARY}.h"

_RUNTIME = """\
/* What generated kernels call.  Define SL_ELEMENT_SIZE, the bytes of an element, before including; and
 * SL_NUMBER, a type of that size, where elements are added.  Joined of the parts in emit/runtime/ of
 * symlayout_codegen; each begins with a comment that says what it holds, assumes and needs. */"""
_VALUES = """\
/* What kernels that compute call.  Define SL_FLOAT16 before including where they compute floats of 16 bits. */"""
_HALVES = "/* What kernels of elements of half a byte call.  Define SL_ELEMENT_SIZE as 1 before including. */"


_LAST_STATUS = "not a status"  # in the header, before the prototypes
_BLOCK = re.compile(r"^((?:/\*\n(?: \*.*\n)*? \*/\n)?)((?:int32_t \w+\([^;]*\);\n)+)", re.MULTILINE)
_PROTOTYPE = re.compile(r"^int32_t (\w+)\([^;]*\);", re.MULTILINE)


@cache
def template(name: str) -> str:
    """Return the text of the file *name* in `templates/`."""
    content = get_data("symlayout_codegen", f"templates/{name}")  # a third of the time of importlib.resources
    assert content is not None  # the package's loader has files
    return content.decode("ascii")


def runtime(halves: bool, computes: bool = False) -> dict[str, str]:
    """Return the runtime's headers by name, with all parts: what any kernels call.

    Parameters
    ----------
    halves : whether kernels of half a byte are among them.
    computes : whether kernels that compute are among them.
    """
    return _headers([name for name in PARTS if computes or name not in VALUES], halves)


def runtime_of(body: Body, halves: bool, linked: Collection[str] = ()) -> dict[str, str]:
    """Return the runtime's headers by name, with the parts that the statements *body* call: less to compile.

    Of the parts to which the kernel is *linked*, since they are compiled apart, they have the prototypes.
    """
    names = ["shares", *sorted(parts_of(body, halves))]
    if linked:
        names = ["reach", *("streams" if name == "split_join" else name for name in names)]
    return _headers(names, halves, linked)


def parts_of(body: Body, halves: bool) -> frozenset[str]:
    """Return the parts of the runtime whose functions the C of *body* calls."""
    return frozenset(name for statement in walk(body) if (name := _part(statement, halves)))


def _headers(names: list[str], halves: bool, apart: Collection[str] = ()) -> dict[str, str]:
    """Return the headers that have the parts *names* and what they need; those of *apart* are linked."""
    whole = [name for name in in_order(names, apart) if name not in NIBBLES | VALUES]
    first = f"{_CALLS_ONLY}#define SL_LINKED\n\n" if apart else f"{_gcc_options()}\n"
    texts = {RUNTIME_HEADER: _guarded(_RUNTIME, "SYMLAYOUT_RUNTIME_H", first + join(whole, apart=apart))}
    if halves:
        own = f'#include "{RUNTIME_HEADER}"\n\n{join([name for name in names if name in NIBBLES], given=whole)}'
        texts[HALVES_HEADER] = _guarded(_HALVES, "SYMLAYOUT_HALVES_H", own)
    if VALUES & set(names):
        texts[VALUES_HEADER] = _guarded(_VALUES, "SYMLAYOUT_VALUES_H", join(sorted(VALUES)))
    return texts


def without_passes(*further: str) -> str:
    """Return the C that has gcc leave out passes which take a tenth of its time and find nothing in the runtime.

    It also has the options *further*.
    """
    return _gcc_options(*further, "no-thread-jumps", "no-ipa-pure-const", "no-ipa-modref")


def _gcc_options(*further: str) -> str:
    """Return the C that gives gcc the options of every kernel, and *further* ones.

    A pragma, not flags: other compilers refuse flags that they do not know, and users compile what is written out by
    flags of their own.  Where gcc knows which registers a function of its text leaves alone, it does not clear the
    upper halves of vectors before the call, nor after it: what runs next without wide vectors took twice the time.
    """
    options = ", ".join(f'"{option}"' for option in ("no-ipa-ra", *further))
    return f"#if defined __GNUC__ && !defined __clang__\n#pragma GCC optimize({options})\n#endif\n"


_CALLS_ONLY = without_passes(
    "O2", "vect-cost-model=dynamic", "no-tree-slp-vectorize", "no-tree-vrp", "no-gcse", "no-tree-pre", "no-tree-ccp",
    "no-schedule-insns2", "ira-region=one", "align-loops=32",
)  # fmt: skip
"""What has gcc take two thirds of the time for a kernel that is linked: its loops are around calls of the runtime.

The runtime's vectors are explicit there, but for loops over single elements, which gcc still makes vectors of.
"""


def _guarded(about: str, guard: str, text: str) -> str:
    return f"{about}\n#ifndef {guard}\n#define {guard}\n\n{text}\n#endif\n"


def _part(statement: Statement, halves: bool) -> str | None:
    """Return the part of the runtime whose functions the C of *statement* calls; None for loops and the like."""
    match statement:
        case Transpose() if halves:
            return "nibble_transposes"
        case CopyRun() | CopyGrid() | CopyRows() | FillRun() | FillRows() if halves:
            return "nibble_copies"
        case Transpose(splits=None, joins=None):
            return "transpose"
        case Transpose() | JoinGrid():
            return "split_join"
        case Deal():
            return "deal"
        case CutGrid():
            return "cut_grid"
        case CopyRun():
            return "copy"
        case CopyGrid() | CopyRows():
            return "copy_rows"
        case FillRun() | FillRows():
            return "fill"
        case AccumulateRun() | AccumulateRows():
            return "accumulate"
        case StartFolds() | FoldTerms() | Compute():
            return "values"
        case Loop(streams=int()):
            return "octets"
        case Stage():
            return _part(statement.transpose, halves)
    return None


def print_header(nests: Iterable[Nest], library: str = LIBRARY, kept: Iterable[str] = ()) -> str:
    """Return the header of a library: the statuses, and the prototypes of each kernel under its map.

    Parameters
    ----------
    library : str
        The library's name, an identifier of C: the header is ``<library>.h``.
    kept : iterable of str
        Lines with prototypes that come first, as `kept_prototypes` finds them in an older header.
    """
    statuses = [
        ("SL_OK", 0, "the output is written, or is empty"),
        *((status_name(kind), code, meaning) for kind, (code, meaning) in MEANING.items()),
        ("SL_PRECONDITION", PRECONDITION, "another rule of the map is broken"),
    ]
    width = max(len(f"{name} = {code},") for name, code, _ in statuses)
    return Template(template(KERNELS_HEADER)).substitute(
        guard=library.upper(),
        version=VERSION,
        interface=INTERFACE,
        statuses="\n".join(
            f"    {f'{name} = {code}{comma}':{width}}  /* {meaning} */"
            for (name, code, meaning), comma in zip(statuses, [","] * (len(statuses) - 1) + [""], strict=True)
        ),
        texts="\n".join(f'    case {name}:\n        return "{meaning}";' for name, _, meaning in statuses),
        prototypes="\n".join([*kept, *_prototypes(nests)]),
    )


def kernels_of(header: str) -> list[str]:
    """Return the names of the kernels that the text of a header declares."""
    found = _PROTOTYPE.findall(header.partition(_LAST_STATUS)[2])
    return list(dict.fromkeys(name for name in found if f"{name}{PARTED}" in found))


def kept_prototypes(header: str, names: Collection[str]) -> list[str]:
    """Return the lines of the prototypes of *names* in the text of a header, with the comments above them."""
    kept: list[str] = []
    for comment, prototypes in _BLOCK.findall(header.partition(_LAST_STATUS)[2]):
        found = [m[0] for m in _PROTOTYPE.finditer(prototypes) if m[1] in names or m[1].removesuffix(PARTED) in names]
        kept += ["", *comment.splitlines(), *found] if found else []
    return kept


def _prototypes(nests: Iterable[Nest]) -> Iterator[str]:
    """Yield the prototypes; kernels of one map, for elements of different sizes, have one comment."""
    before: list[str] = []
    for nest in nests:
        about = [line.removeprefix(f"{nest.name} : ") for line in nest.about()]
        if about and about != before:
            yield ""
            yield "/*"
            yield from (folded(f" * {comment_text(line)}") for line in about)
            yield " */"
        before = about
        legal = rename_signature(nest).nest
        yield f"{signature(legal)};"
        yield f"{signature(legal, PARTED)};"
