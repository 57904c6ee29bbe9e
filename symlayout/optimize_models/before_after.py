"""The picture of what an optimisation changed: each region before and after, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from symlayout.optimize_models.changed_regions import ChangedRegion, RegionNode
from symlayout.show.svg import Canvas, shortened, width_of

_WIDTH, _HEIGHT = 132, 34  # of a box
_ACROSS, _DOWN = 12, 22  # between boxes
_MARGIN, _HEAD, _GAP = 20, 74, 46
_NOTE = 200  # the least width of a side, for the words below it
_MOST_REGIONS = 12
_MOST_NODES = 60  # of a side
_LABEL = 20  # characters in a box


def picture(title: str, lines: Sequence[str], regions: Sequence[ChangedRegion]) -> str:
    """Return the regions as an SVG document; *lines* stand above them.

    >>> node = RegionNode("Transpose", ("x",), ("y",), "(N, 3)", "12*N")
    >>> text = picture("model", ["1 transpose"], [ChangedRegion((node,), (), (0, 0))])
    >>> text.count("<rect"), "Transpose" in text
    (2, True)
    """
    shown = regions[:_MOST_REGIONS]
    layers = [[_layers(side[:_MOST_NODES]) for side in (r.before, r.after)] for r in shown]
    widths = [max((_width(pair[k]) for pair in layers), default=0) for k in (0, 1)]
    widths = [max(w, _NOTE) for w in widths]
    right = _MARGIN + widths[0] + _GAP
    width = max(right + widths[1] + _MARGIN, _MARGIN * 2 + max((width_of(t) for t in lines), default=0))
    canvas = Canvas()
    canvas.text(_MARGIN, 28, title, "strong", size=15)
    for k, line in enumerate(lines):
        canvas.text(_MARGIN, 48 + 16 * k, line, "mono")
    y = _HEAD + 16 * len(lines)
    canvas.text(_MARGIN, y - 14, "before", "strong")
    canvas.text(right, y - 14, "after", "strong")
    for region, pair in zip(shown, layers, strict=True):
        height = max(map(_tall, pair)) + 22
        if region.count > 1:
            canvas.text(_MARGIN, y + 4, f"{region.count} times", "soft")
            y += 14
        for x, side, found, hidden in zip(
            (_MARGIN, right), (region.before, region.after), pair, region.shape_nodes, strict=True
        ):
            _draw(canvas, x, y, found)
            left_out = [f"{hidden} nodes that compute shapes"] if hidden else []
            left_out += [f"{len(side) - _MOST_NODES} nodes more"] if len(side) > _MOST_NODES else []
            note = ", ".join(left_out) if side else "nothing" + (f", but {left_out[0]}" if left_out else "")
            if note:
                canvas.text(x, y + _tall(found) + 12, note if not side else f"and {note}", "soft")
        canvas.path(f"M{_MARGIN} {y + height}H{width - _MARGIN}", "line")
        y += height + 16
    if len(regions) > len(shown):
        canvas.text(_MARGIN, y, f"{len(regions) - len(shown)} regions more", "soft")
        y += 20
    if not regions:
        canvas.text(_MARGIN, y, "nothing was changed", "soft")
        y += 20
    return canvas.document(width, y + 4, title, "; ".join(lines))


def _layers(nodes: Sequence[RegionNode]) -> list[list[RegionNode]]:
    """Return the nodes by the length of the longest way to them."""
    depth: dict[str, int] = {}
    layers: list[list[RegionNode]] = []
    for node in nodes:
        at = max((depth[name] + 1 for name in node.inputs if name in depth), default=0)
        depth.update(dict.fromkeys(node.outputs, at))
        while len(layers) <= at:
            layers.append([])
        layers[at].append(node)
    return layers


def _width(layers: Sequence[Sequence[RegionNode]]) -> int:
    count = max(map(len, layers), default=1)
    return count * _WIDTH + (count - 1) * _ACROSS


def _tall(layers: Sequence[object]) -> int:
    return max(len(layers) * (_HEIGHT + _DOWN) - _DOWN, 0)


def _draw(canvas: Canvas, x: float, y: float, layers: Sequence[Sequence[RegionNode]]) -> None:
    """Draw the boxes of one side, and lines between them."""
    total = _width(layers)
    places: dict[str, tuple[float, float]] = {}
    spots: dict[int, tuple[float, float]] = {}
    for k, layer in enumerate(layers):
        start = x + (total - _width([layer])) / 2
        for j, node in enumerate(layer):
            spot = start + j * (_WIDTH + _ACROSS), y + k * (_HEIGHT + _DOWN)
            spots[id(node)] = spot
            places.update(dict.fromkeys(node.outputs, (spot[0] + _WIDTH / 2, spot[1] + _HEIGHT)))
    for _, layer in pairwise([[], *layers]):
        for node in layer:
            left, top = spots[id(node)]
            for name in dict.fromkeys(node.inputs):
                if name in places:
                    x1, y1 = places[name]
                    x2, middle = left + _WIDTH / 2, (y1 + top) / 2
                    canvas.path(f"M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {top:g}", "line")
    for layer in layers:
        for node in layer:
            left, top = spots[id(node)]
            moved = f"moves {node.bytes} bytes" if node.bytes else "computes"
            with canvas.group(f"{node.op} {', '.join(node.outputs)}: {node.shape}, {moved}"):
                canvas.rect(left, top, _WIDTH, _HEIGHT, "h2" if node.bytes else "box")
                canvas.text(left + _WIDTH / 2, top + 14, shortened(node.op, _LABEL), "strong", anchor="middle")
                canvas.text(left + _WIDTH / 2, top + 28, shortened(node.shape, _LABEL), "n")
