r"""Write folded coordinates and index maps in LaTeX, with floors, ``\bmod``, fractions, and ``cases`` for pieces.

The output needs amsmath only, and MathJax renders it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from symlayout.language.readable import Apply, Factor, Sum
from symlayout.language.to_text import ordered

_SPECIAL = {"_": r"\_", "%": r"\%", "#": r"\#", "&": r"\&", "$": r"\$", "{": r"\{", "}": r"\}", "\\": r"\backslash "}


def sum_(e: Sum) -> str:
    r"""Return a sum in LaTeX; dots if it is nested too deeply.

    >>> sum_(Sum(((2, ("i0", "b")), (-1, ("top",)))))
    '2 i_{0} b - \\mathrm{top}'
    """
    try:
        return _sum(e)
    except RecursionError:
        return r"\ldots"


def _sum(e: Sum) -> str:
    if not e.terms:
        return "0"
    (c, factors), *others = ordered(e)
    first = ("-" if c < 0 else "") + _term(abs(c), factors, alone=not others)
    return " ".join([first, *(f"{'-' if c < 0 else '+'} {_term(abs(c), factors)}" for c, factors in others)])


def name(written: str) -> str:
    r"""Return a name in LaTeX: one letter in italics, several letters upright, a number at the end as an index.

    >>> name("N"), name("i0"), name("block_h")
    ('N', 'i_{0}', '\\mathrm{block\\_h}')
    """
    stem, _, number = re.match(r"(.*?)(_?)(\d*)$", written, re.DOTALL).groups()  # type: ignore[union-attr]
    if not stem:
        return text(written)
    letters = stem if len(stem) == 1 and stem.isalpha() else rf"\mathrm{{{_escaped(stem)}}}"
    return letters + (f"_{{{number}}}" if number else "")


def text(written: str) -> str:
    """Return plain text in LaTeX."""
    return rf"\text{{{_escaped(written)}}}"


def _escaped(written: str) -> str:
    return "".join(_SPECIAL.get(c, c) for c in written)


def _term(coefficient: int, factors: tuple[Factor, ...], *, alone: bool = False) -> str:
    parts = [] if coefficient == 1 and factors else [str(coefficient)]
    single = alone and len(factors) == 1 and not parts
    for f in dict.fromkeys(factors):
        power = factors.count(f)
        written = _factor(f) if single else _operand(f, power)
        parts.append(written + (f"^{{{power}}}" if power > 1 else ""))
    return " ".join(parts)


def _operand(f: Factor, power: int) -> str:
    """Return an operand of a product or a sum, in brackets if it is a remainder or a fraction raised to a power."""
    open_ended = isinstance(f, Apply) and (f.form == "%" or (f.form == "/" and power > 1))
    return rf"\left({_factor(f)}\right)" if open_ended else _factor(f)


def _factor(f: Factor) -> str:
    if isinstance(f, str):
        return name(f)
    parts = [_sum(part) for part in f.parts]
    if f.table is not None:
        entries = repr(f.table).replace("...", r"\ldots")
        return rf"{entries}_{{{parts[0]}}}"
    if f.form == "%":
        left, right = (_grouped(part) for part in f.parts)
        return rf"{left} \bmod {right}"
    if f.form in ("min", "max"):
        return rf"\{f.form}\left({', '.join(parts)}\right)"
    fraction = rf"\frac{{{parts[0]}}}{{{parts[1]}}}"
    left, right = {"/": ("", ""), "//": (r"\left\lfloor ", r" \right\rfloor")}.get(
        f.form, (r"\left\lceil ", r" \right\rceil")
    )
    return left + fraction + right


def _grouped(e: Sum) -> str:
    single = len(e.terms) <= 1 and all(c > 0 and (not factors or c == 1) for c, factors in e.terms)
    remainder = any(isinstance(f, Apply) and f.form == "%" for _, factors in e.terms for f in factors)
    return _sum(e) if single and not remainder else rf"\left({_sum(e)}\right)"


def tuple_(coordinates: Sequence[str]) -> str:
    """Return a tuple of coordinates that are LaTeX already."""
    return f"({', '.join(coordinates)})"


def element(source: str, coordinates: Sequence[str]) -> str:
    """Return the element of input *source* at coordinates that are LaTeX already."""
    return f"{name(source)}[{', '.join(coordinates)}]"


def fill(value: Any) -> str:
    """Return a fill in LaTeX."""
    return str(value) if isinstance(value, int | float) and value == value else text(str(value))


def window(value: Sum, extent: Sum) -> str:
    """Return a window in LaTeX: ``0 <= value < extent``."""
    return rf"0 \le {sum_(value)} < {sum_(extent)}"


def index_map(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Return a map in LaTeX.  Each row has a read and its conditions; the first row whose conditions hold applies."""
    left = tuple_([name(n) for n in names])
    if len(rows) == 1 and not rows[0][1]:
        return rf"{left} \mapsto {rows[0][0]}"
    lines = [rf"{read} & {_if(conditions)}" for read, conditions in rows]
    return rf"{left} \mapsto \begin{{cases}}" + r" \\ ".join(lines) + r"\end{cases}"


def _if(conditions: Sequence[str]) -> str:
    return r"\text{if } " + r" \text{ and } ".join(conditions) if conditions else r"\text{otherwise}"
