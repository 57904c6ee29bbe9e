"""Explain a claim that two tensors are equal as a derivation: sizes, shapes, each side step by step.

The account is a list of words and mathematics, which is printed as text or as LaTeX.  It is derived again from the two
chains on request; the caller passes the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from symlayout.algebra.facts import Dim, Facts, Requirement
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.language import latex
from symlayout.language.readable import Sum, atom, canonical, fold, fold_fixed, number
from symlayout.language.to_text import spell
from symlayout.language.unsimplified import Literal, literal
from symlayout.maps.compose_chain import Read, Window, normalise, output_digits
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import requirements

_MOST_PARTS = 6  # most parts of one side to print


@dataclass(frozen=True, slots=True)
class Tuple:
    """A coordinate or a shape; with a name, a coordinate in that input."""

    entries: tuple[Sum, ...]
    of: str = ""


@dataclass(frozen=True, slots=True)
class Inequality:
    """A chain of sums with a sign between each two: ``0 <= i0 < N``."""

    first: Sum
    rest: tuple[tuple[str, Sum], ...]


Fragment = str | Tuple | Inequality
Line = tuple[Fragment, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A numbered step of the derivation."""

    title: str
    lines: tuple[Line, ...]


def explain(left: Tensor, right: Tensor, facts: Facts, conclusion: str) -> str:
    """Return the derivation as text; *facts* is the joint system of both sides, *conclusion* the last sentence."""
    written = []
    for k, paragraph in enumerate(account(left, right, facts), 1):
        lines = ["".join(map(_as_text, line)) for line in paragraph.lines]
        one = len(lines) == 1
        written.append(f"{k}. {paragraph.title}" + (f" {lines[0]}" if one else ""))
        written += [] if one else [f"   {line}" for line in lines]
    return "\n".join([*written, conclusion])


def explain_latex(left: Tensor, right: Tensor, facts: Facts, conclusion: str) -> str:
    """Return the derivation in LaTeX, as one ``aligned`` block for display."""
    rows = []
    for k, paragraph in enumerate(account(left, right, facts), 1):
        lines = ["".join(map(_as_latex, line)) for line in paragraph.lines]
        one = len(lines) == 1
        rows.append(rf"{k}.\ & {latex.text(paragraph.title)}" + (r"\ " + lines[0] if one else ""))
        rows += [] if one else [rf"& \quad {line}" for line in lines]
    rows.append(f"& {latex.text(conclusion)}")
    return r"\begin{aligned}" + " \\\\\n".join(rows) + r"\end{aligned}"


def account(left: Tensor, right: Tensor, facts: Facts) -> Iterator[Paragraph]:
    """Yield the steps of the derivation, up to the first step that fails."""
    yield _sizes(facts)
    shapes = [Tuple(tuple(fold_fixed(facts.reduce(e), facts) for e in t.extents)) for t in (left, right)]
    same = left.rank == right.rank and all(
        facts.vanishes(facts.reduce(facts.reduce(a) - facts.reduce(b)))
        for a, b in zip(left.extents, right.extents, strict=True)
    )
    if not same:
        yield Paragraph("Shapes.", (("The left side has the shape ", shapes[0], ", the right side ", shapes[1], "."),))
        return
    yield Paragraph("Shapes.", (("Both sides have the shape ", shapes[0], "."),))
    here = facts.fork()
    try:
        digits = output_digits(left, here)
    except ShapeError:
        yield Paragraph("Coordinates.", (("There are none: the shape holds no element.",),))
        return
    names = {digit_name(k): f"i{k}" for k in range(left.rank)}
    coordinate = Tuple(tuple(fold(d, here, names) for d in digits))
    yield Paragraph("Coordinates.", (("Let ", coordinate, " be a coordinate of the output."),))
    found: list[list[Read]] = []
    for side, t in (("left", left), ("right", right)):
        try:
            reads = normalise(t, here.fork(), digits, shown=all(node.own for node in t.nodes()))
        except InconclusiveError as error:
            yield Paragraph(f"The {side} side.", ((str(error).splitlines()[0],),))
            return
        found.append(reads)
        yield _side(side, t, reads, coordinate, names)
    if all(len(reads) == 1 for reads in found):
        a, b = (_element(reads[0], names) for reads in found)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and a.of == b.of and _same(a, b):
            yield Paragraph("Equality.", (("Both sides are ", b, "."),))


# ---------------------------------------------------------------------- paragraphs


def _sizes(facts: Facts) -> Paragraph:
    if not facts.dims:
        return Paragraph("Sizes.", (("All sizes are fixed.",),))
    bounds: list[Fragment] = []
    for d in facts.dims.values():
        bounds += [", ", _bound(d)]
        if d.multiple_of != 1:
            bounds.append(f" a multiple of {d.multiple_of}")
    lines: list[Line] = [("For all integers ", *bounds[1:], ".")]
    for r in requirements(facts):
        lines.append(("It is required that ", *_requirement(r, facts), f", by {r.where}." if r.where else "."))
    return Paragraph("Sizes.", tuple(lines))


def _bound(d: Dim) -> Inequality:
    if d.min is None or d.max is None:
        limit = (">=", number(d.min)) if d.min is not None else ("<=", number(d.max)) if d.max is not None else None
        return Inequality(atom(d.name), () if limit is None else (limit,))
    return Inequality(number(d.min), (("<=", atom(d.name)), ("<=", number(d.max))))


def _requirement(r: Requirement, facts: Facts) -> Line:
    value = fold_fixed(r.value, facts)
    if r.relation == "divides":
        return Inequality(value, ()), " is a multiple of ", Inequality(fold_fixed(r.modulus, facts), ())
    left = Sum(tuple((c, factors) for c, factors in value.terms if c > 0 and factors))
    return (Inequality(left, ((">=" if r.relation == "nonnegative" else "=", left + -value),)),)


def _side(side: str, t: Tensor, reads: Sequence[Read], coordinate: Tuple, names: dict[str, str]) -> Paragraph:
    title = f"The {side} side"
    if t.declared is None:
        return Paragraph(title, (("is ", Tuple(coordinate.entries, t.name), "."),))
    lines: list[Line] = []
    for k, read in enumerate(reads[:_MOST_PARTS]):
        if len(reads) > 1:
            where = [f for w in read.windows for f in (" and ", _window(w, names))][1:]
            lines.append((f"Part {k + 1} of {len(reads)}", *((", where ", *where) if where else ()), ":"))
        lines += _steps(t, read, coordinate, names)
    if len(reads) > _MOST_PARTS:
        lines.append((f"The other {len(reads) - _MOST_PARTS} parts are alike.",))
    return Paragraph(f"{title}.", tuple(lines))


def _steps(t: Tensor, read: Read, coordinate: Tuple, names: dict[str, str]) -> Iterator[Line]:
    """Yield a line for each operation: the coordinate that it reads, as declared and simplified."""
    node, at = t, coordinate
    guards = list(read.guards)
    for chosen, (name, coords) in zip(read.path, read.trail, strict=False):
        if node.declared is None:
            break
        case = node.declared.cases[chosen]
        source = node.inputs[case.source]
        given = [Literal(e, read.facts) for e in at.entries]
        as_declared = Tuple(tuple(literal(c, read.facts).e for c in case.coords(*given)))
        at = Tuple(tuple(fold(e, read.facts, names) for e in coords))
        rewritten = () if _same(at, as_declared) else (" = ", at)
        what = source.name if source.declared is None else "its input"
        yield f"{name} reads {what} at ", as_declared, *rewritten, "."
        while guards and guards[0].step == name and guards[0].window.value in coords:
            guard = guards.pop(0)
            window = _window(guard.window, names)
            yield "There ", window, f"; elsewhere {name} fills with {guard.fill}."
        node = source
    yield "So it is ", _element(read, names), "."


def _element(read: Read, names: dict[str, str]) -> Fragment:
    if read.leaf is None:
        return f"the fill {read.fill}"
    return Tuple(tuple(fold(e, read.facts, names) for e in read.coords), read.leaf.name)


def _same(a: Tuple, b: Tuple) -> bool:
    """Return whether two coordinates have the same terms, in any order."""
    return [canonical(e) for e in a.entries] == [canonical(e) for e in b.entries]


def _window(w: Window, names: dict[str, str]) -> Inequality:
    return Inequality(Sum(()), (("<=", fold(w.value, w.facts, names)), ("<", fold(w.extent, w.facts, names))))


# ---------------------------------------------------------------------- text and LaTeX


def _as_text(fragment: Fragment) -> str:
    if isinstance(fragment, str):
        return fragment
    if isinstance(fragment, Tuple):
        inner = ", ".join(map(spell, fragment.entries))
        return f"{fragment.of}[{inner}]" if fragment.of else f"({inner})"
    return spell(fragment.first) + "".join(f" {sign} {spell(e)}" for sign, e in fragment.rest)


def _as_latex(fragment: Fragment) -> str:
    if isinstance(fragment, str):
        return " = " if fragment == " = " else latex.text(fragment)
    if isinstance(fragment, Tuple):
        entries = [latex.sum_(e) for e in fragment.entries]
        return latex.element(fragment.of, entries) if fragment.of else latex.tuple_(entries)
    signs = {"<=": r"\le", ">=": r"\ge"}
    return latex.sum_(fragment.first) + "".join(f" {signs.get(s, s)} {latex.sum_(e)}" for s, e in fragment.rest)
