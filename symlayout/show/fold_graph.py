"""Make a graph of boxes small: parts that follow each other and are alike become one, with their number."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain

from symlayout.errors import shortened
from symlayout.show.layered_graph import BoxGraph, GraphBox

_LONGEST_PART = 240  # boxes of a part that may repeat
_LEAST_SAVED = 2  # boxes that a fold has to save
_NAMED = 4  # kinds of boxes that a summary names


def folded(graph: BoxGraph, most: int) -> BoxGraph:
    """Return the graph with repeated parts once, and with at most *most* boxes.

    If more than *most* boxes are left by `fold`, boxes that follow each other become one that counts them.

    >>> boxes = tuple(GraphBox((name,), key=name) for name in "xababy")
    >>> small = folded(BoxGraph(boxes, tuple((k, k + 1) for k in range(5))), 9)
    >>> [box.lines[0] for box in small.boxes], small.edges, small.frames
    (['x', 'a', 'b', 'y'], ((0, 1), (1, 2), (2, 3)), (((1, 2), 2),))
    """
    small, _ = fold(graph)
    return small if len(small.boxes) <= most else _summed(small, most)


def fold(graph: BoxGraph) -> tuple[BoxGraph, list[int]]:
    """Return the graph with repeated parts once, and for each box of *graph* the one that is drawn for it.

    A part repeats if the boxes after it have the same keys in the same order, and read the same boxes: of their own
    part and of the part before, or one box that all parts read.  Each part reads the one before, and what follows reads
    only the last part.

    >>> boxes = tuple(GraphBox((name,), key=name) for name in "xababy")
    >>> fold(BoxGraph(boxes, tuple((k, k + 1) for k in range(5))))[1]
    [0, 1, 2, 1, 2, 3]
    """
    repeats = _Repeats(graph)
    place: list[int] = []
    kept: list[GraphBox] = []
    frames = []
    drawn_first: set[int] = set()
    at = 0
    while at < len(graph.boxes):
        first, size, count = repeats.best(at)
        for k in range(at, first):
            place.append(len(kept))
            drawn_first.add(k)
            kept.append(graph.boxes[k])
        at, start = first, len(kept)
        kept.extend(graph.boxes[at : at + size])
        drawn_first.update(range(at, at + size))
        for _ in range(count):
            place.extend(range(start, start + size))
        if count > 1:
            frames.append((tuple(range(start, start + size)), count))
        at += size * count
    edges: dict[tuple[int, int], None] = {}
    for source, target in graph.edges:
        a, b = place[source], place[target]
        if target in drawn_first and a < b:  # what a later part reads, the first part reads alike
            edges[a, b] = None
    return BoxGraph(tuple(kept), tuple(edges), tuple(frames)), place


class _Repeats:
    """Which parts of a graph follow each other and are alike."""

    def __init__(self, graph: BoxGraph) -> None:
        self.keys = [f"{box.kind} {box.key}" for box in graph.boxes]
        self.reads: list[list[int]] = [[] for _ in graph.boxes]
        self.last_reader = list(range(len(self.keys)))
        for source, target in graph.edges:
            self.reads[target].append(source)
            self.last_reader[source] = max(self.last_reader[source], target)

    def best(self, at: int) -> tuple[int, int, int]:
        """Return the first box, the size and the number of the parts to fold: those from a box on that save the most.

        The first box is a later one if the parts that begin there read fewer boxes of the part before.
        """
        size, count = 1, 1
        for n in range(1, min(_LONGEST_PART, (len(self.keys) - at) // 2) + 1):
            if self.keys[at] == self.keys[at + n]:
                found = self._count(at, n)
                if n * (found - 1) > max(size * (count - 1), _LEAST_SAVED - 1):
                    size, count = n, found
        if count == 1:
            return at, 1, 1
        starts = [k for k in range(at, at + size) if k == at or self._count(k, size) == count]
        return min(starts, key=lambda k: (self._entering(k, size), k)), size, count

    def _count(self, at: int, size: int) -> int:
        """Return how many parts of this size follow each other from a box on."""
        end = at
        while end < len(self.keys) - size and self.keys[end] == self.keys[end + size] and self._alike(end, size, at):
            end += 1
        count = (end - at) // size + 1
        while count > 1 and any(r >= at + size * count for r in self.last_reader[at : at + size * (count - 1)]):
            count -= 1
        return count if count > 1 and self._entering(at, size) else 1

    def _entering(self, at: int, size: int) -> int:
        """Return how many boxes of a part the next part reads."""
        return len({r for k in range(at + size, at + 2 * size) for r in self.reads[k] if at <= r < at + size})

    def _alike(self, box: int, size: int, at: int) -> bool:
        """Return whether a box and the one that stands *size* boxes after it read alike."""
        first, second = self.reads[box], self.reads[box + size]
        return len(first) == len(second) and all(
            b - a == size or (a == b and a < at) for a, b in zip(first, second, strict=True)
        )


def _summed(graph: BoxGraph, most: int) -> BoxGraph:
    """Return the graph with boxes that follow each other as one; a repeated part is never cut."""
    groups = [list(group) for group in _cuts(graph)]
    size = -(-len(graph.boxes) // most)
    merged: list[list[int]] = []
    frames = {members[0]: (members, count) for members, count in graph.frames}
    for group in groups:
        if merged and len(merged[-1]) + len(group) <= size and len(groups) > most:
            merged[-1].extend(group)
        else:
            merged.append(list(group))
    while len(merged) > most:  # neighbours in pairs, until they are few enough
        merged = [[*chain.from_iterable(merged[k : k + 2])] for k in range(0, len(merged), 2)]
    place = {box: k for k, group in enumerate(merged) for box in group}
    boxes = [graph.boxes[group[0]] if len(group) == 1 else _summary(graph, group, frames) for group in merged]
    edges = {(place[a], place[b]): None for a, b in graph.edges if place[a] != place[b]}
    alone = {group[0] for group in merged if len(group) == 1}
    left = tuple(((place[m[0]],), count) for m, count in graph.frames if len(m) == 1 and m[0] in alone)
    return BoxGraph(tuple(boxes), tuple(edges), left)


def _cuts(graph: BoxGraph) -> Iterator[Sequence[int]]:
    """Yield the boxes in order, those of a repeated part together."""
    frames = {members[0]: members for members, _ in graph.frames}
    at = 0
    while at < len(graph.boxes):
        group = frames.get(at, (at,))
        yield group
        at += len(group)


def _summary(graph: BoxGraph, group: Sequence[int], frames: dict[int, tuple[tuple[int, ...], int]]) -> GraphBox:
    """Return one box for several, which counts them."""
    times: dict[int, int] = defaultdict(lambda: 1)
    for members, count in frames.values():
        times.update(dict.fromkeys(members, count))
    names: Counter[str] = Counter()
    for k in group:
        names[graph.boxes[k].lines[0]] += times[k]
    shown = [shortened(f"{name} x {count}" if count > 1 else name, 30) for name, count in names.most_common(_NAMED)]
    lines = (f"{names.total()} boxes", *shown, *(["…"] if len(names) > _NAMED else []))
    kinds = {graph.boxes[k].kind for k in group}
    return GraphBox(lines, "move" if kinds == {"move"} else "compute", graph.boxes[group[-1]].label, ", ".join(names))
