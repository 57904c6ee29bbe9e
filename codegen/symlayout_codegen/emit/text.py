"""Lines of C: comments that end where they should, lines of a bounded width, numbers, a kernel's prototype."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.ir.nest import Nest

_WIDTH = 110


def signature(nest: Nest, suffix: str = "") -> str:
    """Return the kernel's prototype; that of the function that does one part has the suffix `PARTED`."""
    names = [*(("part", "parts") if suffix else ()), *nest.parameters]
    arguments = [f"int64_t {name}" for name in names]
    arguments += [f"const void *{name}" for name in nest.sources]
    arguments += ["void *dst"] + (["const void *fill"] if nest.fills else [])
    return wrapped(f"int32_t {nest.name}{suffix}(", arguments, ")")


def wrapped(start: str, items: Sequence[str], end: str) -> str:
    """Return ``start item, item, ... end``, continued under the first item where a line is full."""
    lines = [start]
    for i, item in enumerate(items):
        text = item + (end if i == len(items) - 1 else ",")
        if len(lines[-1]) + len(text) + 1 > _WIDTH:
            lines.append(" " * len(start) + text)
        else:
            lines[-1] += text if lines[-1] == start else f" {text}"
    return "\n".join(lines)


def folded(line: str) -> str:
    """Return *line*, continued on further lines at its last spaces where it is too long.

    A comment at its end goes on a line of its own, before it.
    """
    if len(line) <= _WIDTH:
        return line
    margin = line[: len(line) - len(line.lstrip())]
    if line.startswith(" * "):
        return "\n".join(wrap(line, _WIDTH, subsequent_indent=" *   ", break_on_hyphens=False))
    if line.endswith(" */"):
        code, comment = line.rsplit("  /*", 1)
        return f"{margin}/*{comment}\n{folded(code)}"
    indent = len(margin) + 8
    lines = []
    while len(line) > _WIDTH and "\n" not in line:
        at = line.rfind(" ", indent, _WIDTH)
        if at < 0:
            break
        lines.append(line[:at])
        line = " " * indent + line[at + 1 :]
    return "\n".join([*lines, line])


def comment_text(text: str) -> str:
    """Return *text* as it may stand in a C comment: printable ASCII, no ends, splices or trigraphs."""
    printable = re.sub(r"[^ -~]|\\", "_", text)
    return re.sub(r"[*]+(?=/)|/(?=[*])|[?](?=[?])", r"\g<0> ", printable)


def literal(value: int) -> str:
    """Return the number *value* as C.

    Raises
    ------
    CompilerError
        It is not an int64.
    """
    if not -(2**63) <= value < 2**63:
        raise CompilerError(f"the kernel has the number {value}, which is no 64-bit integer\n  help: fix some dims")
    if value == -(2**63):
        return "INT64_MIN"
    return str(value) if abs(value) < 2**31 else f"INT64_C({value})"
