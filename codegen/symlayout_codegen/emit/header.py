"""The header that goes with printed kernels: the statuses, and a prototype for each kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pkgutil import get_data
from string import Template

from symlayout_codegen.emit.text import comment_text, folded, signature
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.passes.rename import PARTED, rename_signature
from symlayout_codegen.status import MEANING, PRECONDITION, status_name

VERSION = "0.1.0"
"""Version of the backend: part of every generated text, and so of every cache key."""

INTERFACE = 1
"""Grows when a call that compiled against an older header would mean something else."""

RUNTIME_HEADER = "symlayout_runtime.h"
HALVES_HEADER = "symlayout_halves.h"
KERNELS_HEADER = "symlayout_kernels.h"


@cache
def template(name: str) -> str:
    """Return the text of the file *name* in `templates/`."""
    content = get_data("symlayout_codegen", f"templates/{name}")  # a third of the time of importlib.resources
    assert content is not None  # the package's loader has files
    return content.decode("ascii")


def runtime(nests: Iterable[Nest]) -> dict[str, str]:
    """Return the headers that the kernels of *nests* need beside `symlayout_kernels.h`, by name."""
    names = [RUNTIME_HEADER, *([HALVES_HEADER] if any(nest.halves for nest in nests) else [])]
    return {name: template(name) for name in names}


def print_header(nests: Iterable[Nest]) -> str:
    """Return `symlayout_kernels.h`: the statuses, and the prototypes of each kernel under its map."""
    statuses = [
        ("SL_OK", 0, "the output is written, or is empty"),
        *((status_name(kind), code, meaning) for kind, (code, meaning) in MEANING.items()),
        ("SL_PRECONDITION", PRECONDITION, "another rule of the map is broken"),
    ]
    width = max(len(f"{name} = {code},") for name, code, _ in statuses)
    return Template(template(KERNELS_HEADER)).substitute(
        version=VERSION,
        interface=INTERFACE,
        statuses="\n".join(
            f"    {f'{name} = {code}{comma}':{width}}  /* {meaning} */"
            for (name, code, meaning), comma in zip(statuses, [","] * (len(statuses) - 1) + [""], strict=True)
        ),
        texts="\n".join(f'    case {name}:\n        return "{meaning}";' for name, _, meaning in statuses),
        prototypes="\n".join(_prototypes(nests)),
    )


def _prototypes(nests: Iterable[Nest]) -> Iterator[str]:
    """Yield the prototypes; kernels of one map, for elements of different sizes, have one comment."""
    before: list[str] = []
    for nest in nests:
        about = [line.removeprefix(f"{nest.name} : ") for line in nest.about]
        if about and about != before:
            yield ""
            yield "/*"
            yield from (folded(f" * {comment_text(line)}") for line in about)
            yield " */"
        before = about
        legal = rename_signature(nest)
        yield f"{signature(legal)};"
        yield f"{signature(legal, PARTED)};"
