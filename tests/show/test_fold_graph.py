"""Parts of a graph that repeat are drawn once, and a graph of any size gets few boxes."""

from __future__ import annotations

import random

from symlayout.show.fold_graph import folded
from symlayout.show.layered_graph import BoxGraph, GraphBox


def graph(keys: str, *edges: tuple[int, int]) -> BoxGraph:
    return BoxGraph(tuple(GraphBox((key,), key=key) for key in keys), edges)


def line(keys: str) -> tuple[tuple[int, int], ...]:
    return tuple((k, k + 1) for k in range(len(keys) - 1))


def names(small: BoxGraph) -> str:
    return "".join(box.lines[0] for box in small.boxes)


def test_parts_with_a_skip_are_one() -> None:
    """Each part reads the last box of the part before twice: at its start, and at its end."""
    keys = "x" + "abc" * 5 + "y"
    skips = [(3 * k, 3 * k + 3) for k in range(5)]
    small = folded(graph(keys, *line(keys), *skips), 99)
    assert names(small) == "xabcy"
    assert small.frames == (((1, 2, 3), 5),)
    assert set(small.edges) == {(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)}


def test_all_parts_may_read_one_box() -> None:
    keys = "mx" + "ab" * 4
    small = folded(graph(keys, *line(keys)[1:], *((0, k) for k in range(2, 10, 2))), 99)
    assert names(small) == "mxab"
    assert (0, 2) in small.edges


def test_branches_side_by_side_are_not_one() -> None:
    small = folded(graph("xaaay", (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)), 99)
    assert names(small) == "xaaay"


def test_parts_whose_middle_is_read_are_not_one() -> None:
    """What reads the third of five parts would seem to read the last one."""
    keys = "xaaaaay"
    assert names(folded(graph(keys, *line(keys)), 99)) == "xay"
    small = folded(graph(keys, *line(keys), (3, 6)), 99)
    assert names(small) == "xaaay"
    assert small.frames == (((1,), 3),)
    assert set(small.edges) == {(0, 1), (1, 2), (2, 3), (3, 4), (1, 4)}


def test_a_part_begins_where_few_edges_enter() -> None:
    """The parts ba repeat as often as the parts ab, but read two boxes of the part before."""
    keys = "xAbabababy"
    edges = [*line(keys), *((k, k + 2) for k in range(0, 8, 2))]
    small = folded(graph(keys, *sorted(edges)), 99)
    assert names(small) == "xAbaby"
    assert small.frames == (((3, 4), 3),)


def test_any_graph_gets_few_boxes() -> None:
    draw = random.Random(3)
    for size in (50, 700):
        edges = {(draw.randrange(k), k) for k in range(1, size) for _ in range(2)}
        wild = graph("".join(draw.choice("abcdef") for _ in range(size)), *sorted(edges))
        small = folded(wild, 40)
        assert 1 < len(small.boxes) <= 40
        assert all(a < b for a, b in small.edges)
        counted = sum(int(box.lines[0].split()[0]) if "boxes" in box.lines[0] else 1 for box in small.boxes)
        assert counted == size
