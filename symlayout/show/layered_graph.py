"""Draw a graph of boxes from top to bottom: each box below those that it reads, tall graphs in several columns."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from symlayout.show.svg import Canvas, width_of, wrapped

_ACROSS = 16.0  # between the boxes of a layer
_DOWN = 24.0  # between layers
_LINE = 14.0  # height of a line of text
_LONGEST = 44  # characters in a line of a label
_FRAME = 26.0  # around a graph with frames
_LETTER = 6.7  # width of a bold letter
_LANE = 7.0  # distance of two lines beside a column
_GUTTER = 34.0  # between columns, without the lines there
_TALL = 1100.0  # a graph that is not taller has one column
_ASPECT = 1.4  # width to height that columns are chosen for
_CUT_FRAME = 4  # edges that a column may rather cut than a frame
_SWEEPS = 8
_KINDS = {"compute": ("box", 4.0), "move": ("h2", 13.0), "input": ("h14", 4.0), "output": ("h20", 4.0)}


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A box of a graph.

    Attributes
    ----------
    lines : tuple of str
        Its text.
    kind : str
        ``"compute"``, ``"move"``, ``"input"`` or ``"output"``.
    label : str
        What stands below the box, where its edges begin; may be empty.
    title : str
        Its tooltip.
    key : str
        Boxes with equal keys are alike.
    heads : int
        How many of its lines are bold.
    """

    lines: tuple[str, ...]
    kind: str = "compute"
    label: str = ""
    title: str = ""
    key: str = ""
    heads: int = 1

    @property
    def width(self) -> float:
        """The width of the rectangle."""
        return max(40.0, *self._widths()) + 16

    def _widths(self) -> Iterator[float]:
        for k, line in enumerate(self.lines):
            yield _LETTER * len(line) if k < self.heads else width_of(line)

    @property
    def slot(self) -> float:
        """The width with the label."""
        return max([self.width, *map(width_of, self.below)])

    @property
    def height(self) -> float:
        """The height of the rectangle."""
        return _LINE * len(self.lines) + 8

    @property
    def depth(self) -> float:
        """The height with the label."""
        return self.height + _LINE * len(self.below) + (3 if self.label else 0)

    @property
    def below(self) -> list[str]:
        """The lines of the label."""
        return wrapped(self.label, _LONGEST, 2)


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle around boxes that stand for several parts: its upper left corner, its size and what it says."""

    x: float
    y: float
    width: float
    height: float
    text: str


@dataclass(frozen=True, slots=True)
class BoxGraph:
    """Boxes and edges.

    Attributes
    ----------
    boxes : tuple of GraphBox
        Each after those that it reads.
    edges : tuple of (int, int)
        The numbers of the box that is read, and of its reader.
    frames : tuple of (tuple of int, int)
        Boxes that stand for several equal parts of the graph, and for how many.
    """

    boxes: tuple[GraphBox, ...]
    edges: tuple[tuple[int, int], ...]
    frames: tuple[tuple[tuple[int, ...], int], ...] = ()


class LayeredGraph:
    """The places of the boxes of a graph: each edge leads downwards, or from the end of a column to the next one.

    The layers are those of the longest way.  An edge over several layers has a place of its own in each of them.
    Places in a layer are sorted by the mean of their neighbours', as Sugiyama, Tagawa and Toda do ("Methods for Visual
    Understanding of Hierarchical System Structures", 1981).

    Parameters
    ----------
    graph : BoxGraph
        The graph.
    columns : bool
        Whether a tall graph gets several columns.

    Attributes
    ----------
    width, height : float
        Of the drawing.
    """

    def __init__(self, graph: BoxGraph, *, columns: bool = False) -> None:
        self._graph = graph
        self._sizes = [(box.slot, box.depth) for box in graph.boxes]
        self._layer = _depths(graph)  # of each place; the first places are the boxes
        self._links: dict[tuple[int, int], None] = {}  # from a place to one in the next layer
        self._bends = defaultdict[int, list[int]](list)  # by box: the places that the edges to it pass
        self._add_bends()
        self._layers: list[list[int]] = [[] for _ in range(max(self._layer, default=-1) + 1)]
        for place, layer in enumerate(self._layer):
            self._layers[layer].append(place)
        self._above, self._below = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
        for a, b in self._links:
            self._above[b].append(a)
            self._below[a].append(b)
        self._sort()
        self._x = self._spread()
        self._tops: list[float] = []
        self._heights = [max(self._size(p)[1] for p in layer) for layer in self._layers]
        self._starts = self._column_starts() if columns and graph.boxes else [0]
        self.width, self.height = self._put_columns()

    def _add_bends(self) -> None:
        """Add a place in each layer that an edge passes; edges from one box share them."""
        bends: dict[tuple[int, int], int] = {}
        self._bends_of = defaultdict[int, list[int]](list)  # by box: the places that the edges from it pass
        for source, target in self._graph.edges:
            at = source
            for layer in range(self._layer[source] + 1, self._layer[target]):
                if (source, layer) not in bends:
                    bends[source, layer] = len(self._layer)
                    self._bends_of[source].append(len(self._layer))
                    self._layer.append(layer)
                self._bends[target].append(bends[source, layer])
                self._links[at, bends[source, layer]] = None
                at = bends[source, layer]
            self._links[at, target] = None

    def _size(self, place: int) -> tuple[float, float]:
        """Return the width and the height of a place; an edge that passes has no height."""
        return self._sizes[place] if place < len(self._sizes) else (6.0, 0.0)

    def _sort(self) -> None:
        position = {p: float(k) for layer in self._layers for k, p in enumerate(layer)}
        for sweep in range(_SWEEPS):
            near = self._above if sweep % 2 == 0 else self._below
            for layer in self._layers if sweep % 2 == 0 else reversed(self._layers):
                layer.sort(key=lambda p: (_mean([position[q] for q in near[p]], position[p]), p))
                position.update({p: float(k) for k, p in enumerate(layer)})

    def _spread(self) -> list[float]:
        """Return the middle of each place: near its neighbours, and not nearer to the next one than both are wide."""
        x = [0.0] * len(self._layer)
        for sweep in range(2 * _SWEEPS + 1):
            down = sweep % 2 == 0
            for layer in self._layers if down else reversed(self._layers):
                gaps = [(self._size(a)[0] + self._size(b)[0]) / 2 + _ACROSS for a, b in pairwise(layer)]
                near = self._above if down else self._below
                wanted = [_mean([x[q] for q in near[p]], x[p]) for p in layer]
                for p, value in zip(layer, _spaced(wanted, gaps), strict=True):
                    x[p] = value
        return x

    # ------------------------------------------------------------------ columns

    def _column_starts(self) -> list[int]:
        """Return the first layer of each column; a column ends where few edges pass."""
        total = sum(self._heights) + _DOWN * (len(self._heights) - 1)
        widest = max(self._extent(range(len(self._layers)))[1] - self._extent(range(len(self._layers)))[0], 1.0)
        count = 1 if total <= _TALL else max(round(math.sqrt(_ASPECT * total / (widest + _GUTTER))), 1)
        ends = list(accumulate(h + _DOWN for h in self._heights))
        passing = [sum(1 for a, _ in self._links if self._layer[a] == k) for k in range(len(self._layers))]
        for members, _ in self._graph.frames:
            inside = [self._layer[p] for p in members]
            for k in range(min(inside), max(inside)):
                passing[k] += _CUT_FRAME
        starts = [0]
        for column in range(1, count):
            near = [
                k
                for k in range(starts[-1] + 1, len(ends))
                if abs(ends[k - 1] - total * column / count) <= total / count / 3
            ]
            if near:
                starts.append(min(near, key=lambda k: (passing[k - 1], abs(ends[k - 1] - total * column / count))))
        return starts

    def _extent(self, layers: Sequence[int]) -> tuple[float, float]:
        places = [p for k in layers for p in self._layers[k]]
        sides = [(self._x[p] - self._size(p)[0] / 2, self._x[p] + self._size(p)[0] / 2) for p in places]
        return min((a for a, _ in sides), default=0.0), max((b for _, b in sides), default=0.0)

    def _put_columns(self) -> tuple[float, float]:
        """Give each layer its height and each place its final middle; return the size of the drawing."""
        left = tallest = 0.0
        self._column: list[int] = []
        self._gutters: list[float] = []  # where the lines to the next column rise
        framed = _FRAME if self._graph.frames else 0.0
        for number, (start, end) in enumerate(pairwise([*self._starts, len(self._layers)])):
            low, high = self._extent(range(start, end))
            lines = sum(1 for a, _ in self._links if self._layer[a] == end - 1) if end < len(self._layers) else 0
            before = len({a for a, _ in self._links if self._layer[a] == start - 1}) if start else 0
            y = framed + (before * _LANE + 10 if before else 0.0)
            for k in range(start, end):
                self._tops.append(y)
                self._column.append(number)
                for p in self._layers[k]:
                    self._x[p] += left + framed - low
                y += self._heights[k] + _DOWN
            tallest = max(tallest, y - _DOWN + (lines * _LANE + 10 if lines else 0.0) + framed)
            left += high - low + 2 * framed
            self._gutters.append(left + _GUTTER / 2)
            left += (_GUTTER + lines * _LANE) if end < len(self._layers) else 0.0
        return left, tallest

    # ------------------------------------------------------------------ drawing

    def draw(self, canvas: Canvas, x: float, y: float) -> None:
        """Draw the graph with its upper left corner at (x, y)."""
        boxes = self._graph.boxes
        for frame in self.frames():
            canvas.rect(x + frame.x, y + frame.y, frame.width, frame.height, "line", radius=8)
            canvas.text(x + frame.x + 2, y + frame.y - 3, frame.text, "strong", size=12)
        for (_, b), way in self._ways().items():
            (x1, y1), *corners, (x2, y2) = [(x + left, y + top) for left, top in way]
            middle = (y1 + y2) / 2
            path = f"M{x1:.1f} {y1:.1f}"
            if corners:
                _, (_, low), (rise, high), _ = corners
                path += f"V{low:.1f}H{rise:.1f}V{high:.1f}H{x2:.1f}V{y2:.1f}"
            else:
                path += f"C{x1:.1f} {middle:.1f} {x2:.1f} {middle:.1f} {x2:.1f} {y2:.1f}"
            if b >= len(boxes):  # the edge passes this layer
                path += f"V{y + self._tops[self._layer[b]] + self._heights[self._layer[b]]:.1f}"
            canvas.path(path, "line")
            if b < len(boxes):
                canvas.path(f"M{x2 - 3:.1f} {y2 - 5:.1f}h6l-3 5z", "tip")
        for place, box in enumerate(boxes):
            _draw_box(canvas, x + self._x[place], y + self._tops[self._layer[place]], box)

    def _ways(self) -> dict[tuple[int, int], list[Point]]:
        """Return the points of each link: two, or six with the corners of a way to the next column."""
        found: dict[tuple[int, int], list[Point]] = {}
        lanes: dict[int, dict[int, int]] = defaultdict(dict)  # by column: the lane of each place that is left
        for a, b in self._links:
            (x1, y1), (x2, y2) = self._out(a), (self._x[b], self._tops[self._layer[b]])
            column = self._column[self._layer[a]]
            between: list[Point] = []
            if column != self._column[self._layer[b]]:
                lane = lanes[column].setdefault(a, len(lanes[column])) * _LANE
                low = self._tops[self._layer[a]] + self._heights[self._layer[a]] + 8 + lane
                rise, high = self._gutters[column] + lane, y2 - 10 - lane
                between = [(x1, low), (rise, low), (rise, high), (x2, high)]
            found[a, b] = [(x1, y1), *between, (x2, y2)]
        return found

    def _out(self, place: int) -> Point:
        """Return where the edges of a place begin."""
        layer = self._layer[place]
        passes = place >= len(self._graph.boxes)
        return self._x[place], self._tops[layer] + (self._heights[layer] if passes else self._size(place)[1])

    # ------------------------------------------------------------------ places

    def places(self) -> list[Point]:
        """Return the middle of the upper side of each box."""
        return [(self._x[k], self._tops[self._layer[k]]) for k in range(len(self._graph.boxes))]

    def routes(self) -> list[list[Point]]:
        """Return the points of each edge of the graph, from the lower side of a box to the upper side of its reader."""
        ways = self._ways()
        passed: dict[tuple[int, int], int] = {}
        for source, places in self._bends_of.items():
            passed.update({(source, self._layer[p]): p for p in places})
        found = []
        for source, target in self._graph.edges:
            at, points = source, [self._out(source)]
            for layer in range(self._layer[source] + 1, self._layer[target] + 1):
                to = passed[source, layer] if layer < self._layer[target] else target
                points += ways[at, to][1:]
                if to != target:
                    points.append(self._out(to))
                at = to
            found.append(_without_idle_points(points))
        return found

    def frames(self) -> list[Frame]:
        """Return the frames around the boxes that stand for several parts: one in each column that has such boxes."""
        found = []
        for members, count in self._graph.frames:
            top_layer = min(self._layer[p] for p in members)
            passed = [q for p in members for q in self._bends[p] if self._layer[q] >= top_layer]
            columns = sorted({self._column[self._layer[p]] for p in members})
            for column in columns:
                here = [p for p in (*members, *passed) if self._column[self._layer[p]] == column]
                left = min(self._x[p] - self._size(p)[0] / 2 for p in here) - 8
                right = max(self._x[p] + self._size(p)[0] / 2 for p in here) + 8
                top = min(self._tops[self._layer[p]] for p in here) - 9
                low = max(self._tops[self._layer[p]] + self._size(p)[1] for p in here) + 6
                words = f"x {count}" if column == columns[0] else f"x {count}, continued"
                found.append(Frame(left, top, right - left, low - top, words))
        return found


def _without_idle_points(points: Sequence[Point]) -> list[Point]:
    """Return a way without points that lie between their neighbours on a vertical or horizontal line.

    >>> _without_idle_points([(0, 0), (0, 4), (0, 9), (5, 9)])
    [(0, 0), (0, 9), (5, 9)]
    """
    kept: list[Point] = []
    for point in points:
        while len(kept) > 1 and any(abs(kept[-2][k] - point[k]) + abs(kept[-1][k] - point[k]) < 0.1 for k in (0, 1)):
            kept.pop()
        kept.append(point)
    return kept


def _draw_box(canvas: Canvas, middle: float, top: float, box: GraphBox) -> None:
    colour, radius = _KINDS[box.kind]
    with canvas.group(box.title):
        canvas.rect(middle - box.width / 2, top, box.width, box.height, colour, radius=radius)
        for k, line in enumerate(box.lines):
            y = top + _LINE * (k + 1) + 1
            if k < box.heads:
                canvas.text(middle, y, line, "strong", anchor="middle")
            else:
                canvas.text(middle, y, line, "n", anchor="middle", size=10.5)
        for k, line in enumerate(box.below):
            canvas.text(middle, top + box.height + 12 + _LINE * k, line, "n", "soft", anchor="middle", size=10.5)


def _depths(graph: BoxGraph) -> list[int]:
    """Return the layer of each box: below all that it reads; a box that reads nothing is just above its readers."""
    depth = [0] * len(graph.boxes)
    for source, target in sorted(graph.edges, key=lambda e: e[1]):
        depth[target] = max(depth[target], depth[source] + 1)
    readers: dict[int, list[int]] = defaultdict(list)
    for source, target in graph.edges:
        readers[source].append(depth[target])
    fed = {target for _, target in graph.edges}
    return [d if k in fed or k not in readers else min(readers[k]) - 1 for k, d in enumerate(depth)]


def _mean(values: Sequence[float], default: float) -> float:
    return sum(values) / len(values) if values else default


def _spaced(wanted: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the values nearest to *wanted*, by least squares, that are at least *gaps* apart.

    The pool adjacent violators algorithm: Barlow et al., "Statistical Inference under Order Restrictions", 1972.

    >>> _spaced([0.0, 0.0, 10.0], [4.0, 4.0])
    [-2.0, 2.0, 10.0]
    """
    offsets = list(accumulate(gaps, initial=0.0))[: len(wanted)]
    pools: list[tuple[float, int]] = []
    for value, offset in zip(wanted, offsets, strict=True):
        total, count = value - offset, 1
        while pools and pools[-1][0] / pools[-1][1] > total / count:
            more, n = pools.pop()
            total, count = total + more, count + n
        pools.append((total, count))
    level = [total / count for total, count in pools for _ in range(count)]
    return [value + offset for value, offset in zip(level, offsets, strict=True)]
