"""Draw a tensor's chain as a strip of shapes, and its map as nested boxes, one for each loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symlayout.errors import InconclusiveError
from symlayout.run.lower import lower
from symlayout.show import wording
from symlayout.show.svg import Canvas, shortened, width_of
from symlayout.tensors.chain import Tensor
from symlayout_codegen.ir.integer_expressions import evaluate
from symlayout_codegen.ir.nest import AffineForm, Digit, Local, NestPiece

_MOST_STAGES = 12  # boxes in the strip; the middle of a longer chain is left out
_MOST_PIECES = 3  # pieces whose loops are drawn
_MOST_LOWERED = 8  # pieces of a map that is lowered for its loops: lowering takes longer than the rest of a picture
_LONGEST = 30  # characters in a line of a stage
_BOX_HEIGHT = 36.0  # of a stage in the strip, in pixels
_LOOP_HEAD = 21.0  # height of the line that names a loop, in pixels
_LOOP_FOOT = 4.0  # height of a loop's box below its contents, in pixels
_SANS_WIDTH = 5.6  # width of a letter of the proportional font, in pixels


@dataclass(frozen=True, slots=True)
class Stage:
    """A box of the strip: the operation that leads to it, and its lines of text."""

    by: str
    lines: tuple[str, ...]


def stages(t: Tensor, example: Tensor, walked: tuple[str, ...] = ()) -> list[Stage]:
    """Return the stages of the chain: first its leaves, then its operations.

    *example* is *t* with small sizes; *walked* has one more line for each stage.
    """
    found = []
    pairs = list(zip(t.nodes(), example.nodes(), strict=True))
    leaves = [pair for pair in pairs if pair[0].declared is None]
    for k, (node, small) in enumerate([*leaves, *(pair for pair in pairs if pair[0].declared is not None)]):
        written = wording.shape(node.shape)
        head = f"{node.name} {written}" if node.declared is None else written
        lines = [head, *([wording.shape(small.shape)] if node.facts.dims else []), *walked[k : k + 1]]
        by = node.name if node.declared is not None else ""
        if len(node.inputs) > 1:
            by += f" of {len(node.inputs)}"
        found.append(Stage(by, tuple(shortened(line, _LONGEST) for line in lines)))
    if len(found) > _MOST_STAGES:
        left_out = len(found) - _MOST_STAGES + 1
        half = _MOST_STAGES // 2
        found[half : half + left_out] = [Stage("", (f"{left_out} more steps",))]
    return found


def strip(canvas: Canvas, x: float, y: float, limit: float, chain: list[Stage]) -> float:
    """Draw the chain with its upper left corner at (x, y), in rows at most *limit* wide; return the height."""
    left, top, bottom = x, y, y
    for k, stage in enumerate(chain):
        width = max(map(width_of, stage.lines)) + 16
        label = width_of(stage.by) * 0.95 + 18 if stage.by else 0.0
        if not stage.by and k:
            label = 12.0
        if left > x and left + label + width > x + limit:
            left, top = x, bottom + 10
        height = max(_BOX_HEIGHT - 12, 13.0 * len(stage.lines) + 10)
        if stage.by:
            canvas.text(left + label / 2, top + 10, stage.by, "soft", anchor="middle", size=10)
            canvas.arrow(left + 4, top + 16, left + label - 5, top + 16)
        left += label
        canvas.rect(left, top, width, height, "box", radius=5)
        for row, line in enumerate(stage.lines):
            classes = ("mono",) if row == 0 else ("mono", "soft")
            canvas.text(left + width / 2, top + 16 + 13 * row, line, *classes, anchor="middle", size=10.5)
        left += width
        bottom = max(bottom, top + height)
    return bottom - y


def loops(canvas: Canvas, x: float, y: float, limit: float, t: Tensor, values: Mapping[str, int]) -> float:
    """Draw the loops of *t* with their upper left corner at (x, y); return the height.

    The text at the right of each loop says how many elements one iteration moves in the output and in the source,
    where the dims have *values*.
    """
    if (pieces := len(t.index_map.reads)) > _MOST_LOWERED:
        canvas.text(x, y + 12, f"loops: {pieces} nests, one for each piece of the map", "soft")
        return 16
    try:
        nest, fills = lower(t)
    except InconclusiveError as error:
        canvas.text(x, y + 12, shortened(f"no nest of loops: {str(error).splitlines()[0]}", 80), "soft")
        return 16
    canvas.text(x, y + 10, "loops, the innermost last", "strong")
    canvas.text(x + limit, y + 10, "elements moved by a step, in the example", "soft", anchor="end", size=10)
    names = [leaf.name for leaf in t.leaves()]
    known = dict(values)
    for step in nest.prelude:
        if isinstance(step, Local):
            known[step.name] = evaluate(step.value, known)
    top = y + 18
    for piece in nest.pieces[:_MOST_PIECES]:
        heads = [(*_head(digit), _moves(piece, k, names, known)) for k, digit in enumerate(piece.digits)]
        top += _nested(canvas, x, top, limit, heads, _body(piece, names, fills)) + 8
    if (more := len(nest.pieces) - _MOST_PIECES) > 0:
        canvas.text(x, top + 10, f"and {more} more piece{'s' * (more > 1)}", "soft")
        top += 24
    return top - y - 8


def _head(digit: Digit) -> tuple[str, str]:
    """Return the range of a loop, and the part of the output coordinate that it runs over."""
    place, _, extent = digit.comment.rpartition(" < ")
    return f"{digit.name} < {extent}", place.removeprefix("output ")


def _moves(piece: NestPiece, digit: int, names: list[str], values: Mapping[str, int]) -> str:
    """Return how many elements a step of the digit moves in the output and in the source, as text."""
    carried = piece.carried and piece.offset is not None
    moved = [f"output {_coefficient(piece.output, digit, values):+d}"]
    if piece.source is not None and piece.offset is not None and not carried:
        moved.append(f"{names[piece.source]} {_coefficient(piece.offset, digit, values):+d}")
    return " · ".join(moved)


def _coefficient(face: AffineForm, digit: int, values: Mapping[str, int]) -> int:
    return sum(evaluate(coefficient, values) for number, coefficient in face.terms if number == digit)


def _body(piece: NestPiece, names: list[str], fills: list[object]) -> str:
    """Return in words what one iteration of a piece does."""
    if piece.source is None:
        return f"fill with {fills[piece.fill or 0]}"
    action = f"copy from {names[piece.source]}"
    if piece.guards:
        others = ", ".join(dict.fromkeys(str(fills[guard.fill]) for guard in piece.guards))
        action += f" if inside, else fill with {others}"
    return f"inside this piece: {action}" if piece.windows else action


def _nested(canvas: Canvas, x: float, y: float, limit: float, heads: list[tuple[str, str, str]], body: str) -> float:
    """Draw one box for each loop, nested, and *body* in the innermost; return the height."""
    depth = len(heads)
    total_height = (_LOOP_HEAD + _LOOP_FOOT) * depth + _LOOP_HEAD
    for level, (head, place, moves) in enumerate(heads):
        inset, top = 8.0 * level, y + _LOOP_HEAD * level
        height = total_height - (_LOOP_HEAD + _LOOP_FOOT) * level
        canvas.rect(x + inset, top, limit - 2 * inset, height, "box", radius=5)
        room = limit - 2 * inset - 30 - width_of(moves)
        head_text = shortened(f"for {head}", int(room / width_of(" ")))
        canvas.text(x + inset + 8, top + 14.5, head_text, "mono", "strong", size=10.5)
        canvas.text(x + limit - inset - 8, top + 14.5, moves, "mono", "soft", anchor="end", size=10)
        if _SANS_WIDTH * len(place) < room - width_of(head_text):
            canvas.text(x + inset + 16 + width_of(head_text), top + 14.5, place, "soft", size=10)
    most = max(20, int((limit - 16.0 * depth - 8) / 6.35))
    canvas.text(x + 8.0 * depth + 2, y + _LOOP_HEAD * depth + 14, shortened(body, most), "mono", size=10.5)
    return total_height


def words(chain: list[Stage]) -> Iterator[str]:
    """Yield each stage of the chain in words, for the description of a picture."""
    for stage in chain:
        yield f"{stage.by} gives {stage.lines[0]}" if stage.by else stage.lines[0]
