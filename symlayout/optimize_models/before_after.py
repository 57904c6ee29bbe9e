"""The picture of what an optimisation changed: each region before and after, side by side."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.errors import one_line
from symlayout.optimize_models.changed_regions import ChangedRegion, RegionNode
from symlayout.show.layered_graph import BoxGraph, GraphBox, LayeredGraph
from symlayout.show.svg import Canvas, width_of, wrapped

_MARGIN, _HEAD, _GAP = 20, 74, 46
_NOTE = 200  # the least width of a side, for the words below it
_MOST_REGIONS = 12
_MOST_NODES = 60  # of a side
_LABEL, _SHAPE = 24, 40  # characters in a line of a box: of an operation, and of a shape
_TITLE = 400  # characters of what a box says when it is pointed at


def picture(title: str, lines: Sequence[str], regions: Sequence[ChangedRegion], made_by: str = "") -> str:
    """Return the regions as an SVG document; *lines* stand above them.

    >>> node = RegionNode("Transpose", ("x",), ("y",), "(N, 3)", "12*N")
    >>> text = picture("model", ["1 transpose"], [ChangedRegion((node,), (), (0, 0))])
    >>> text.count("<rect"), "Transpose" in text
    (2, True)
    """
    shown = regions[:_MOST_REGIONS]
    layouts = [[_layout(side[:_MOST_NODES]) for side in (r.before, r.after)] for r in shown]
    widths = [max([_NOTE, *(pair[k].width for pair in layouts)]) for k in (0, 1)]
    right = _MARGIN + widths[0] + _GAP
    width = max(right + widths[1] + _MARGIN, _MARGIN * 2 + max((width_of(t) for t in lines), default=0))
    canvas = Canvas()
    canvas.text(_MARGIN, 28, title, "strong", size=15)
    for k, line in enumerate(lines):
        canvas.text(_MARGIN, 48 + 16 * k, line, "mono")
    y: float = _HEAD + 16 * len(lines)
    canvas.text(_MARGIN, y - 14, "before", "strong")
    canvas.text(right, y - 14, "after", "strong")
    for region, pair in zip(shown, layouts, strict=True):
        height = max(side.height for side in pair) + 22
        if region.count > 1:
            canvas.text(_MARGIN, y + 4, f"{region.count} times", "soft")
            y += 14
        for x, side, found, hidden in zip(
            (_MARGIN, right), (region.before, region.after), pair, region.shape_nodes, strict=True
        ):
            found.draw(canvas, x, y)
            left_out = [f"{hidden} nodes that compute shapes"] if hidden else []
            left_out += [f"{len(side) - _MOST_NODES} nodes more"] if len(side) > _MOST_NODES else []
            note = ", ".join(left_out) if side else "nothing" + (f", but {left_out[0]}" if left_out else "")
            if note:
                canvas.text(x, y + found.height + 12, note if not side else f"and {note}", "soft")
        canvas.path(f"M{_MARGIN} {y + height}H{width - _MARGIN}", "line")
        y += height + 16
    if len(regions) > len(shown):
        canvas.text(_MARGIN, y, f"{len(regions) - len(shown)} regions more", "soft")
        y += 20
    if not regions:
        canvas.text(_MARGIN, y, "nothing was changed", "soft")
        y += 20
    return canvas.document(width, y + 4, title, "; ".join(lines), made_by=made_by)


def _layout(nodes: Sequence[RegionNode]) -> LayeredGraph:
    """Return the places of the boxes of one side."""
    made: dict[str, int] = {}
    edges: dict[tuple[int, int], None] = {}
    boxes = []
    for k, node in enumerate(nodes):
        edges.update({(made[name], k): None for name in node.inputs if name in made})
        made.update(dict.fromkeys(node.outputs, k))
        moved = f"moves {node.bytes} bytes" if node.bytes else "computes"
        title = one_line(f"{node.op} {', '.join(node.outputs)}: {node.shape}, {moved}", _TITLE)
        lines = one_line(node.op, _LABEL), *wrapped(one_line(node.shape, _TITLE), _SHAPE, 2)
        boxes.append(GraphBox(lines, "move" if node.bytes else "compute", title=title))
    return LayeredGraph(BoxGraph(tuple(boxes), tuple(edges)))
