"""A graph of boxes is drawn from top to bottom, and no box covers another one."""

from __future__ import annotations

import random
from itertools import combinations
from xml.etree import ElementTree

import pytest

from symlayout.show.layered_graph import BoxGraph, GraphBox, LayeredGraph
from symlayout.show.svg import Canvas

Place = tuple[float, float, float, float]


def drawn(graph: BoxGraph, columns: bool) -> tuple[LayeredGraph, list[Place], str]:
    """Return the layout, the rectangle of each box, and the document."""
    layout = LayeredGraph(graph, columns=columns)
    canvas = Canvas()
    layout.draw(canvas, 5, 7)
    text = canvas.document(layout.width + 10, layout.height + 14, "t", "d")
    groups = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}g")
    rectangles = [next(iter(g.iter("{http://www.w3.org/2000/svg}rect"))) for g in groups]
    places = [tuple(float(r.get(key, "")) for key in ("x", "y", "width", "height")) for r in rectangles]
    return layout, [(x, y, w, h) for x, y, w, h in places], text


def wild(size: int, seed: int) -> BoxGraph:
    draw = random.Random(seed)
    boxes = tuple(GraphBox(("o" * draw.randrange(1, 20), "7x7")[: draw.randrange(1, 3)], label="(N, C)" * (k % 2))
                  for k in range(size))  # fmt: skip
    edges = {(draw.randrange(max(0, k - 9), k), k) for k in range(1, size) for _ in range(2)}
    return BoxGraph(boxes, tuple(sorted(edges)), (((2, 3), 7),))


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_boxes_are_inside_and_apart(seed: int, columns: bool) -> None:
    graph = wild(60, seed)
    layout, places, _ = drawn(graph, columns)
    assert len(places) == 60
    for x, y, w, h in places:
        assert x >= 4.9
        assert y >= 6.9
        assert x + w <= layout.width + 5.1
        assert y + h <= layout.height + 7.1
    for (x, y, w, h), (a, b, c, d) in combinations(places, 2):
        assert x + w <= a or a + c <= x or y + h <= b or b + d <= y


def test_edges_lead_downwards_in_one_column() -> None:
    graph = wild(60, 9)
    _, places, _ = drawn(graph, columns=False)
    assert all(places[a][1] + places[a][3] < places[b][1] for a, b in graph.edges)


def test_a_tall_graph_gets_columns() -> None:
    chain = BoxGraph(tuple(GraphBox((str(k),)) for k in range(90)), tuple((k, k + 1) for k in range(89)))
    tall, wide = LayeredGraph(chain), LayeredGraph(chain, columns=True)
    assert tall.height > 2000
    assert 0.5 < wide.width / wide.height < 3


def test_the_drawing_is_deterministic_and_names_repetitions() -> None:
    assert drawn(wild(60, 2), True)[2] == drawn(wild(60, 2), True)[2]
    assert "x 7" in drawn(wild(60, 2), True)[2]


def test_nothing_is_a_graph() -> None:
    layout = LayeredGraph(BoxGraph((), ()), columns=True)
    assert (layout.width, layout.height) == (0, 0)
