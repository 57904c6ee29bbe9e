"""Draw how a tensor is made, and its map as nested boxes, one for each loop.

A chain is drawn as a strip of shapes.  If an operation has several inputs, or a tensor several readers, the operations
are drawn as a graph: a row for each, with lines at the left from its inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from symlayout.errors import InconclusiveError, shortened
from symlayout.run.lower import lower
from symlayout.show import wording
from symlayout.show.svg import CHAR, Canvas, width_of
from symlayout.tensors.chain import Tensor
from symlayout_codegen.ir.integer_expressions import evaluate
from symlayout_codegen.ir.nest import AffineForm, Digit, Local, NestPiece

_MOST_STAGES = 12  # boxes in the strip; the middle of a longer chain is left out
_MOST_ROWS = 24  # rows of a graph; the middle of a larger one is left out
_ROW = 20.0  # height of a row, in pixels
_LANE = 12.0  # distance of two lines of a graph, in pixels
_MOST_PIECES = 3  # pieces whose loops are drawn
_MOST_LOWERED = 8  # pieces of a map that is lowered for its loops: lowering takes longer than the rest of a picture
_LONGEST = 64  # characters in a line of a stage: as wide as a picture
_BOX_HEIGHT = 36.0  # of a stage in the strip, in pixels
_LOOP_HEAD = 21.0  # height of the line that names a loop, in pixels
_LOOP_FOOT = 4.0  # height of a loop's box below its contents, in pixels
_SANS_WIDTH = 5.6  # width of a letter of the proportional font, in pixels


@dataclass(frozen=True, slots=True)
class Stage:
    """A box of the strip: the operation that leads to it, and its lines of text."""

    by: str
    lines: tuple[str, ...]
    inputs: tuple[int, ...] = ()  # the numbers of the stages that it reads


def stages(t: Tensor, example: Tensor, walked: tuple[str, ...] = ()) -> list[Stage]:
    """Return the stages of the chain: first its leaves, then its operations.

    *example* is *t* with small sizes; *walked* has one more line for each stage.
    """
    found = []
    pairs = list(zip(t.nodes(), example.nodes(), strict=True))
    leaves = [pair for pair in pairs if pair[0].declared is None]
    ordered = [*leaves, *(pair for pair in pairs if pair[0].declared is not None)]
    place = {id(node): k for k, (node, _) in enumerate(ordered)}
    for k, (node, small) in enumerate(ordered):
        written = wording.shape(node.shape)
        head = f"{node.name} {written}" if node.declared is None else written
        lines = [head, *([wording.shape(small.shape)] if node.facts.dims else []), *walked[k : k + 1]]
        inputs = () if node.declared is None else tuple(dict.fromkeys(place[id(i)] for i in node.inputs))
        by = node.name if node.declared is not None else ""
        found.append(Stage(by, tuple(shortened(line, _LONGEST) for line in lines), inputs))
    return _without_middle(found, _MOST_STAGES if _is_strip(found) else _MOST_ROWS)


def _is_strip(chain: Sequence[Stage]) -> bool:
    """Return whether each stage but the first reads the one before it alone."""
    return all(stage.inputs == ((k - 1,) if k else ()) for k, stage in enumerate(chain))


def _without_middle(chain: list[Stage], most: int) -> list[Stage]:
    """Return a long chain with one stage in place of those in its middle."""
    left_out = len(chain) - most + 1
    if left_out <= 1:
        return chain
    half = most // 2

    def kept(k: int) -> int:
        return k if k < half else max(half, k - left_out + 1)

    middle = chain[half : half + left_out]
    read = {i for stage in middle for i in stage.inputs if i < half}
    rest = Stage("", (f"{left_out} more steps",), tuple(sorted(read)))
    stages = [*chain[:half], rest, *chain[half + left_out :]]
    return [replace(stage, inputs=tuple(dict.fromkeys(map(kept, stage.inputs)))) for stage in stages]


def strip(canvas: Canvas, x: float, y: float, limit: float, chain: list[Stage]) -> float:
    """Draw the chain with its upper left corner at (x, y), in rows at most *limit* wide; return the height."""
    if not _is_strip(chain):
        return _graph(canvas, x, y, limit, chain)
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


def lanes(chain: Sequence[Stage]) -> list[int]:
    """Return the lane of each row: the first that no earlier stage needs, which a later one still reads.

    >>> lanes([Stage("", ("x",)), Stage("a", (), (0,)), Stage("b", (), (0,)), Stage("c", (), (1, 2))])
    [0, 1, 0, 0]
    """
    last = {i: k for k, stage in enumerate(chain) for i in stage.inputs}
    found: list[int] = []
    for k in range(len(chain)):
        taken = {lane for i, lane in enumerate(found) if last.get(i, i) > k}
        found.append(next(lane for lane in range(k + 1) if lane not in taken))
    return found


def _graph(canvas: Canvas, x: float, y: float, limit: float, chain: list[Stage]) -> float:
    """Draw the stages as rows, the first above, each with lines from the stages that it reads; return the height."""
    lane = lanes(chain)
    text = x + _LANE * (max(lane) + 1) + 4

    def at(k: int) -> tuple[float, float]:
        return x + _LANE * lane[k] + 5, y + _ROW * k + 10

    for k, stage in enumerate(chain):
        to_x, to_y = at(k)
        for i in stage.inputs:
            from_x, from_y = at(i)
            turn = to_y - _ROW * 0.7
            canvas.path(f"M{from_x:g} {from_y:g}V{turn:g}L{to_x:g} {to_y:g}", "line")
    for k, stage in enumerate(chain):
        left, top = at(k)
        canvas.rect(left - 3.5, top - 3.5, 7, 7, "box", radius=3.5)
        name = f"{stage.by} " if stage.by else ""
        canvas.text(text, top + 3.5, name, "soft", size=10)
        room = int((x + limit - text - width_of(name)) / CHAR)
        lines = "   ".join(stage.lines)
        canvas.text(text + width_of(name), top + 3.5, shortened(lines, room), "mono", size=10.5)
    return _ROW * len(chain)


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
    known = {parameter: values[name] for parameter, name in zip(nest.parameters, t.facts.dims, strict=False)}
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
    if _is_strip(chain):
        yield from (f"{stage.by} gives {stage.lines[0]}" if stage.by else stage.lines[0] for stage in chain)
        return
    for number, stage in enumerate(chain):
        read = " and ".join(str(i + 1) for i in stage.inputs)
        by = f"{stage.by or 'they'} of {read} gives " if read else ""
        yield f"{number + 1}: {by}{stage.lines[0]}"
