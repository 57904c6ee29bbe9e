"""A model as a graph of boxes: what computes, what moves, inputs and outputs; without constants and computed shapes."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from symlayout.errors import FormatError, shortened
from symlayout.models.model import Model, ModelNode
from symlayout.models.onnx_subgraphs import outer_names
from symlayout.models.onnx_values import attributes
from symlayout.models.subgraph_keys import attribute_key
from symlayout.optimize_models.movement_cost import Movement, cost_of
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.show import wording
from symlayout.show.fold_graph import folded
from symlayout.show.layered_graph import BoxGraph, GraphBox, LayeredGraph
from symlayout.show.svg import Canvas, width_of, wrapped
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import is_pointwise
from symlayout.walks import Walk

MOST_BOXES = 200  # of a picture
_MARGIN, _HEAD = 20.0, 60.0
_LABEL = 80  # characters below a box
_LINE = 30  # characters in a box
_MOST_LINES = 3  # for the operations of a box
_MOST_SPELLED = 32  # different regions whose composed effect is searched
_MOST_COMPARED = 1 << 10  # bytes of a constant that tells regions apart
_SHAPE_READERS = ("Shape", "Size", "ShapeOf")  # they read a shape, no element
_ATTRIBUTES = {
    "kernel_shape": "kernel", "kernel": "kernel", "strides": "stride", "dilations": "dilation", "group": "groups",
    "axis": "axis", "axes": "axes", "perm": "", "blocksize": "block", "block_size": "block", "num_heads": "heads",
}  # fmt: skip
_USUAL = ("1", "1x1", "1x1x1")  # strides, dilations and groups that are not worth a word


def picture_on_page(model: Model) -> str:
    """Return the graph of a model as SVG in the colours of the page around it."""
    return picture(model, outline(model), page=True)


def picture(model: Model, graph: BoxGraph, made_by: str = "", *, page: bool = False) -> str:
    """Return the graph of a model as an SVG document."""
    layout = LayeredGraph(graph, columns=True)
    line = f"{len(model.nodes)} nodes in {len(graph.boxes)} boxes; round boxes move elements, the others compute"
    canvas = Canvas()
    canvas.text(_MARGIN, 26, shortened(model.path.name, 80), "strong", size=15)
    canvas.text(_MARGIN, 44, line, "mono", "soft")
    layout.draw(canvas, _MARGIN, _HEAD)
    width = max(layout.width, width_of(line) + 10) + 2 * _MARGIN
    return canvas.document(width, layout.height + _HEAD + _MARGIN, model.path.name, line, page=page, made_by=made_by)


def text(graph: BoxGraph) -> str:
    """Return the boxes of a graph as lines: what each does, and its shape where that changes."""
    times = {k: count for members, count in graph.frames for k in members}
    rows = []
    for k, box in enumerate(graph.boxes):
        ends = box.kind in ("input", "output")
        words = f"{box.kind} {box.lines[0]}" if ends else ", ".join(box.lines)
        rows.append((f"{times[k]} x" if k in times else "", words, box.lines[1] if ends else box.label))
    widths = [max(len(row[k]) for row in rows) for k in range(2)]
    return "\n".join(f"{a:{widths[0]}} {b:{widths[1]}}  {c}".rstrip() for a, b, c in rows)


def data(graph: BoxGraph) -> Mapping[str, Any]:
    """Return a graph as JSON data."""
    return {
        "boxes": [{"kind": b.kind, "lines": list(b.lines), "shape": b.label} for b in graph.boxes],
        "edges": [list(edge) for edge in graph.edges],
        "repeated": [{"boxes": list(members), "count": count} for members, count in graph.frames],
    }


def outline(model: Model, most: int = MOST_BOXES) -> BoxGraph:
    """Return the graph of a model with at most *most* boxes.

    A connected part that only moves elements, of one value to another, is one box; so are elementwise operations that
    follow each other, and those that follow another operation stand in its box.  Repeated parts are drawn once.
    """
    return folded(Outline(model).graph, most)


class Outline:
    """The boxes of a model before parts are folded.

    Attributes
    ----------
    graph : BoxGraph
        The boxes in the order of the file; inputs stand first, or before the only box that reads them.
    members : list of tuple of int
        For each box the numbers of its nodes in the model; none for an input and an output.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.movement = Movement(model)
        self.tensors = self.movement.tensors
        self.alias: dict[str, str] = {}
        self.reads: dict[int, tuple[str, ...]] = {}  # by the number of a drawn node: the values whose elements it reads
        self.maker: dict[str, int] = {}
        self._find_data()
        self.readers: dict[str, list[int]] = {}
        for k, names in self.reads.items():
            for name in names:
                self.readers.setdefault(name, []).append(k)
        self.ends = {self._real(name) for name in model.outputs}
        self.region: dict[int, list[int]] = {}  # by the last node of a region: all its nodes, in order
        self._find_regions()
        self.effects: dict[Any, list[str]] = {}
        self.speller = None
        if model.format == "ONNX":
            opset = max((n.version for n in model.nodes if not n.domain), default=1)
            self.speller = Speller(opset)
        self.members: list[tuple[int, ...]] = []
        self.graph = self._graph()

    # ------------------------------------------------------------------ which nodes are drawn

    def _real(self, name: str) -> str:
        return self.alias.get(name, name)

    def _find_data(self) -> None:
        """Note the nodes that read elements which depend on an input of the model, and on which an output depends."""
        known = dict.fromkeys(self.model.inputs)
        found: dict[int, tuple[str, ...]] = {}
        for k, node in enumerate(self.model.nodes):
            if node.op_type in _SHAPE_READERS:
                continue
            inner = outer_names(node.source) if self.model.format == "ONNX" else []
            read = tuple(dict.fromkeys(self._real(n) for n in (*node.inputs, *inner) if self._real(n) in known))
            made = [n for n in node.outputs if n and not self._is_constant(n)]
            if not read or not made:
                continue
            same = self.tensors.get(made[0])
            if len(made) == 1 and same is not None and same is self.tensors.get(read[0]):
                self.alias[made[0]] = read[0]
                continue
            found[k] = read
            known.update(dict.fromkeys(made))
            self.maker.update(dict.fromkeys(made, k))
        needed = Walk(self.maker[n] for n in map(self._real, self.model.outputs) if n in self.maker)
        for k in needed:
            needed.to(self.maker[n] for n in found[k] if n in self.maker)
        self.reads = {k: names for k, names in found.items() if k in needed.seen}

    def _is_constant(self, name: str) -> bool:
        t = self.tensors.get(name)
        return name in self.tensors and (t is None or t.values is not None)

    # ------------------------------------------------------------------ regions

    def _kind(self, k: int) -> str:
        """Return what a node does: ``"move"``, ``"point"`` (elementwise) or ``"compute"``."""
        outputs = [n for n in self.model.nodes[k].outputs if n]
        if all(n in self.movement.sources for n in outputs):
            return "move"
        t = self.tensors.get(outputs[0])
        return "point" if len(outputs) == 1 and t is not None and self._is_elementwise(t, k) else "compute"

    def _is_elementwise(self, t: Tensor, k: int) -> bool:
        ends = {self.tensors.get(n) for n in self.model.nodes[k].inputs if n}
        if t.body is None or not any(self._extents(n) == t.extents for n in self.reads[k]):
            return False
        walk = Walk([t])
        for at in walk:
            if at not in ends:
                if at.body is not None and not is_pointwise(at):
                    return False
                walk.to(at.inputs)
        return True

    def _extents(self, name: str) -> Any:
        t = self.tensors.get(name)
        return None if t is None else t.extents

    def _find_regions(self) -> None:
        kinds = {k: self._kind(k) for k in self.reads}
        taken: set[int] = set()
        for k in sorted(self.reads, reverse=True):
            if k in taken:
                continue
            nodes = [k]
            if kinds[k] == "point":
                nodes = self._cone(k, kinds, taken)
            elif kinds[k] == "move":
                cones = (self._cone(k, kinds, taken, joins) for joins in (True, False))
                nodes = next((c for c in cones if len(self._entries(c)) == 1), nodes)
            taken.update(nodes)
            self.region[k] = nodes
        self.kinds = kinds
        self._join_points()

    def _cone(self, last: int, kinds: Mapping[int, str], taken: Iterable[int], joins: bool = True) -> list[int]:
        """Return the nodes of the kind of *last* that nothing reads but the others and *last*."""
        nodes: set[int] = set()
        waiting = [-last]
        queued = {last}
        while waiting:
            k = -heapq.heappop(waiting)
            if k != last and not self._is_inside(k, nodes):
                continue
            if not joins and len(self.reads[k]) > 1:
                if k == last:
                    return [last]
                continue
            nodes.add(k)
            for name in self.reads[k]:
                m = self.maker.get(name)
                if m is not None and m not in queued and m not in taken and kinds[m] == kinds[last]:
                    queued.add(m)
                    heapq.heappush(waiting, -m)
        return sorted(nodes)

    def _is_inside(self, k: int, nodes: set[int]) -> bool:
        outputs = [n for n in self.model.nodes[k].outputs if n]
        return not any(n in self.ends for n in outputs) and all(
            reader in nodes for n in outputs for reader in self.readers.get(n, ())
        )

    def _entries(self, nodes: Iterable[int]) -> list[str]:
        inside = set(nodes)
        read = (n for k in nodes for n in self.reads[k])
        return list(dict.fromkeys(n for n in read if self.maker.get(n) not in inside))

    def _join_points(self) -> None:
        """Put elementwise operations into the box of the operation that alone feeds them."""
        for last in sorted(self.region):
            nodes = self.region[last]
            entries = self._entries(nodes)
            if self.kinds[last] != "point" or len(entries) != 1:
                continue
            m = self.maker.get(entries[0])
            if m in self.region and self.kinds[m] == "compute" and self._is_inside(m, set(nodes)):
                self.region[last] = sorted([*self.region.pop(m), *nodes])

    # ------------------------------------------------------------------ boxes

    def _graph(self) -> BoxGraph:
        boxes: list[GraphBox] = []
        edges: dict[tuple[int, int], None] = {}
        place: dict[str, int] = {}
        inputs, outputs = self.model.inputs, self.model.outputs

        def add(box: GraphBox, reads: Iterable[str], members: Iterable[int] = ()) -> None:
            boxes.append(box)
            self.members.append(tuple(members))
            edges.update({(place[n], len(boxes) - 1): None for n in reads})

        def add_end(kind: str, name: str, reads: Iterable[str] = ()) -> None:
            shape = shortened(self._shape(name), _LINE + 10)
            key = f"{re.sub('[0-9]+', '#', name)} {shape}"
            add(GraphBox((shortened(name, _LINE), shape), kind, title=name, key=key), reads)

        def add_outputs(made: Iterable[str]) -> None:
            here = set(made)
            for name in outputs:
                if self._real(name) in here:
                    add_end("output", name, [self._real(name)])

        def add_input(name: str) -> None:
            if name not in place:
                add_end("input", name)
                place[name] = len(boxes) - 1

        found = {last: self._entries(self.region[last]) for last in sorted(self.region)}
        read = Counter(name for entries in found.values() for name in entries if name in inputs)
        for name in reversed(read):  # what several boxes read, so that parts which repeat are alike
            if read[name] > 1:
                add_input(name)
        for last, entries in found.items():
            for name in entries:
                if name in inputs:
                    add_input(name)
            add(self._box(last, entries), entries, self.region[last])
            made = [n for n in self.model.nodes[last].outputs if n]
            place.update(dict.fromkeys(made, len(boxes) - 1))
            add_outputs(made)
        for name in inputs:  # what no drawn node reads
            add_input(name)
        add_outputs(inputs)
        for name in outputs:
            if self._real(name) not in place:
                add_end("output", name)
        return BoxGraph(tuple(boxes), tuple(edges))

    def _box(self, last: int, entries: list[str]) -> GraphBox:
        nodes = [self.model.nodes[k] for k in self.region[last]]
        made = [n for n in nodes[-1].outputs if n and (n in self.readers or n in self.ends)]
        shapes = list(dict.fromkeys(self._shape(n) for n in made))
        kept = len(shapes) == 1 and shapes[0] in [self._shape(n) for n in entries]
        label = "" if kept else shortened(" | ".join(shapes), _LABEL)
        kind = "move" if self.kinds[last] == "move" else "compute"
        heads, more = self._moved(nodes, entries, made) if kind == "move" else self._computed(last, nodes)
        lines = (*heads, *more)
        names = ", ".join(str(n) for n in nodes[:12])
        title = f"{names}{', …' if len(nodes) > 12 else ''}: {' | '.join(shapes)}"
        return GraphBox(lines, kind, label, title, f"{lines} {' | '.join(shapes)} {len(nodes)}", len(heads))

    def _shape(self, name: str) -> str:
        t = self.tensors.get(name)
        return "?" if t is None else wording.shape(t.shape)

    def _computed(self, last: int, nodes: list[ModelNode]) -> tuple[list[str], list[str]]:
        """Return the bold lines and the others of a box that computes."""
        first, *rest = nodes
        if self.kinds[self.region[last][0]] == "point":
            return wrapped(", ".join(n.op_type for n in nodes), _LINE, _MOST_LINES), []
        lines = [shortened(said, _LINE)] if (said := self._said(first)) else []
        lines += wrapped(", ".join(n.op_type for n in rest), _LINE, _MOST_LINES)
        return [shortened(first.op_type, _LINE)], lines

    def _said(self, node: ModelNode) -> str:
        """Return the attributes of a node that people look for."""
        try:
            found: Mapping[str, Any] = (
                attributes(node.source) if self.model.format == "ONNX" else dict(node.source.attributes)
            )
        except FormatError:  # an attribute that holds a graph
            return ""
        said = []
        for name, word in _ATTRIBUTES.items():
            if name not in found:
                continue
            value = found[name]
            parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else [value]
            parts = [str(p).strip() for p in parts]
            joint = ("x" if word in ("kernel", "stride", "dilation") else ", ").join(parts)
            if word in ("stride", "dilation", "groups") and joint in _USUAL:
                continue
            if word in ("stride", "dilation") and len(set(parts)) == 1:
                joint = parts[0]
            said.append(f"{word} {joint}".strip() if word != "kernel" else joint)
        return ", ".join(said)

    def _moved(self, nodes: list[ModelNode], entries: list[str], made: list[str]) -> tuple[list[str], list[str]]:
        """Return the lines of a box that moves: the composed effect if it has fewer operations, else the operations."""
        if len(nodes) == 1:
            said = self._said(nodes[0])
            return [shortened(nodes[0].op_type, _LINE)], [shortened(said, _LINE)] if said else []
        names = self._effect(nodes, entries, made)
        note = [f"of {len(nodes)} nodes"] if names else []
        names = names or [n.op_type for n in nodes]
        text = " + ".join(n for k, n in enumerate(names) if k == 0 or n != names[k - 1])
        return wrapped(text, _LINE, _MOST_LINES), note

    def _effect(self, nodes: list[ModelNode], entries: list[str], made: list[str]) -> list[str]:
        """Return fewer operations that do what a region does, proved; none if there are none."""
        source = self.tensors.get(entries[0])
        value = self.tensors.get(made[0])
        if self.speller is None or len(made) != 1 or len(entries) != 1 or source is None or value is None:
            return []
        key = (
            self._shape(entries[0]),
            tuple((n.op_type, attribute_key(n.source)[0], *map(self._shape, n.outputs)) for n in nodes),
            tuple(self._content(name) for n in nodes for name in n.inputs),
        )
        if key not in self.effects:
            if len(self.effects) >= _MOST_SPELLED:
                return []
            cost = cost_of([n.source for n in nodes], self.tensors, self.movement.sources)
            found = self.speller.cheapest(source, value, cost)
            steps = [s.op for s in found.steps] or ["nothing"] if found is not None else []
            self.effects[key] = steps if len(steps) < len(nodes) else []
        return self.effects[key]

    def _content(self, name: str) -> Any:
        """Return what tells an input of a node from others: its elements if it is a small constant."""
        t = self.tensors.get(name)
        if t is None or t.values is None:
            return self._shape(name)
        return t.values.tobytes() if t.values.nbytes <= _MOST_COMPARED else name
