"""What a page shows of shapes, dims and graphs, as data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symlayout.algebra.facts import Dim
from symlayout.errors import legible, shortened
from symlayout.language.expression_tree import Tree, tree
from symlayout.models.model import Model, ModelNode, Unshaped
from symlayout.reports.model_outline import Outline
from symlayout.show import wording
from symlayout.show.fold_graph import fold
from symlayout.show.layered_graph import BoxGraph, GraphBox, LayeredGraph
from symlayout.show.svg import wrapped
from symlayout.tensors.element_types import type_name

Data = dict[str, Any]
MOST_NODES = 20_000
"""A graph with more nodes is not drawn."""
_LONGEST = 400  # characters of a name or an expression that a page has
_LINE = 44  # characters of a line in a box


def clean(text: object, most: int = _LONGEST) -> str:
    """Return a foreign text in one line, without control characters, cut at its end."""
    return shortened(legible(str(text)).replace("\n", " "), most)


class PageData:
    """The shapes and dims that a page speaks of, each once.

    Attributes
    ----------
    shapes : list of dict
        Each shape as text, and its extents as trees.
    dims : dict of str to dict
        The dims in the shapes and relations, with their bounds.
    renamed : mapping of str to tree
        What dims of the shapes that come next are in the dims of the page.
    """

    def __init__(self) -> None:
        self.shapes: list[Data] = []
        self.dims: dict[str, Data] = {}
        self.renamed: Mapping[str, Tree] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def shape(self, value: Any) -> int:
        """Return the number of the shape of a tensor or a value of unknown rank."""
        if value is None or isinstance(value, Unshaped) or value.shape is None:
            return self._number("?" if value is None else str(value), None)
        known: Mapping[str, Dim] = value.facts.dims
        for e in value.shape:
            self.add_dims((s for s in getattr(e, "free_symbols", ()) if s.name not in self.renamed), known)
        return self._number(wording.shape(value.shape), value.shape)

    def _number(self, text: str, extents: Sequence[Any] | None) -> int:
        key = text, str(self.renamed)
        if key not in self._numbers:
            self._numbers[key] = len(self.shapes)
            trees = None if extents is None else [_replaced(expression(e), self.renamed) for e in extents]
            self.shapes.append({"text": clean(text), "extents": trees})
        return self._numbers[key]

    def add_dims(self, symbols: Iterable[Any], known: Mapping[str, Dim]) -> None:
        """Note the dims among *symbols*, with the bounds that are *known* of them."""
        for symbol in sorted(symbols, key=str):
            if symbol.name not in self.dims:
                d = known.get(symbol.name, Dim(symbol.name))
                self.dims[symbol.name] = {
                    "name": d.name,
                    "min": None if d.min is None else str(d.min),
                    "max": None if d.max is None else str(d.max),
                    "step": d.multiple_of,
                }

    def relation(self, r: Any, known: Mapping[str, Dim], by: Iterable[str] = ()) -> Data:
        """Return a requirement as data: in words, as a tree, and which nodes state it."""
        self.add_dims(r.free_symbols, known)
        return {"text": clean(wording.words(r)), "tree": expression(r), "by": [clean(name) for name in by]}


def expression(e: Any) -> Tree:
    """Return an expression as a tree; None if it is too long to be looked at."""
    return tree(e) if isinstance(e, int) or len(str(e)) <= _LONGEST else None


def _replaced(e: Tree, renamed: Mapping[str, Tree]) -> Tree:
    """Return a tree with other trees for some of its dims."""
    if isinstance(e, list) and e[0] != "int":
        return [e[0], *(_replaced(part, renamed) for part in e[1:])]
    return renamed.get(e, e) if isinstance(e, str) else e


def graph_data(model: Model, title: str, page: PageData) -> Data:
    """Return the graph of a model: its nodes, its boxes, and where these stand with repeats once and with every box.

    A box is ``[kind, lines, number of its shape or -1, numbers of its nodes, names of its values]``.
    """
    nodes = [*model.nodes, *model.unused]
    found: Data = {"title": clean(title), "nodes": [_node(n, model, page) for n in nodes], "boxes": [], "views": []}
    if len(model.nodes) > MOST_NODES:
        return found
    outline = Outline(model)
    boxes = []
    for box, numbers in zip(outline.graph.boxes, outline.members, strict=True):
        values = [n for k in numbers for n in nodes[k].outputs if n] or [box.title]
        shape = page.shape(_value(model, values[-1]))
        lines = [clean(line, _LINE) for line in (box.lines[:1] if box.kind in ("input", "output") else box.lines)]
        boxes.append(GraphBox((*lines, *wrapped(page.shapes[shape]["text"], _LINE, 2)), box.kind, key=box.key))
        found["boxes"].append([box.kind, lines, shape, list(numbers), [*map(clean, values)]])
    graph = BoxGraph(tuple(boxes), outline.graph.edges)
    small, place = fold(graph)
    if small.frames:
        found["views"].append(_view("repeats once", small, place))
    found["views"].append(_view("every box", graph, list(range(len(boxes)))))
    return found


def _value(model: Model, name: str) -> Any:
    found = model.outputs.get(name)
    return model.tensors.get(name) if found is None else found


def _node(node: ModelNode, model: Model, page: PageData) -> list[Any]:
    """Return the operation, the name, and the values that a node reads and makes, each with the number of its shape."""

    def ends(names: Iterable[str]) -> list[list[Any]]:
        values = [(name, _value(model, name)) for name in names if name]
        return [[clean(name), page.shape(t), "" if t is None else type_name(t.dtype) or ""] for name, t in values]

    return [clean(node.title), clean(node.name), ends(node.inputs), ends(node.outputs)]


def _view(title: str, graph: BoxGraph, place: Sequence[int]) -> Data:
    """Return where the boxes of a graph stand; *place* says for each box of the outline which one is drawn for it."""
    layout = LayeredGraph(graph, columns=True)
    first: dict[int, int] = {}
    for k, drawn in enumerate(place):
        first.setdefault(drawn, k)
    boxes = [
        [first[k], *_rounded((x, top + box.height / 2, box.width, box.height))]
        for k, (box, (x, top)) in enumerate(zip(graph.boxes, layout.places(), strict=True))
    ]
    routes = [[number for point in route for number in _rounded(point)] for route in layout.routes()]
    return {
        "title": title,
        "place": list(place),
        "boxes": boxes,
        "edges": [[a, b, route] for (a, b), route in zip(graph.edges, routes, strict=True)],
        "frames": [[*_rounded((f.x, f.y, f.width, f.height)), f.text] for f in layout.frames()],
    }


def _rounded(numbers: Iterable[float]) -> list[float]:
    return [round(number, 1) for number in numbers]
