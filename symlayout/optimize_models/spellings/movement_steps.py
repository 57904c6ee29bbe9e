"""The operations that spell a movement: what each makes of a tensor, and the nodes of ONNX that it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.compute.gather import take
from symlayout.errors import InconclusiveError
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import stack
from symlayout.ops.reshape import reshape
from symlayout.ops.tile import tile
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.computed_bounds import Places, emit_bounds, node_count_of
from symlayout.optimize_models.spellings.movement_digits import is_number
from symlayout.optimize_models.spellings.reshape_steps import (
    COMPUTED,
    ComputedExtent,
    Shape,
    added_ones,
    computed_shape,
    target_shape,
)
from symlayout.optimize_models.spellings.spell_windows import WINDOWS, tiled
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

_ALLOWZERO = 14  # the version of Reshape from which on an extent may be 0
IN_PLACE = ("Reshape", "Unsqueeze", "Squeeze", COMPUTED)
"""The operations that move no bytes."""
END = (1 << 63) - 1
"""A bound of Slice that is past every extent."""
INPUTS = {"Slice": 10, "Unsqueeze": 13, "Squeeze": 13, "Split": 13}
"""From which version on operations take their numbers as inputs."""


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a spelling.

    Attributes
    ----------
    op : str
        The operation of ONNX.
    attributes : tuple of (str, value)
        Its attributes, and the inputs that are constants, by their names.
    shape : tuple
        The extents of the result.
    places : mapping
        Where the dims are that bounds are computed with.
    """

    op: str
    attributes: tuple[tuple[str, Any], ...]
    shape: Shape
    places: Places = field(default_factory=dict, compare=False)

    @property
    def is_computed_slice(self) -> bool:
        """Whether this is a Slice with a bound that is no constant."""
        return self.op == "Slice" and not all(is_number(e) for e in self._bounds())

    def _bounds(self) -> list[Any]:
        given = dict(self.attributes)
        return [*given["starts"], *given["ends"]]

    def nodes_of_bounds(self, opset: int) -> int:
        """Return how many nodes compute the bounds of a Slice."""
        given, count = dict(self.attributes), 0
        for bounds in (given["starts"], given["ends"]):
            if not all(map(is_number, bounds)):
                count += sum(node_count_of(e, self.places, opset) or 0 for e in bounds) + (len(bounds) > 1)
        return count

    def apply(self, x: Tensor) -> Tensor:
        """Return the step on a tensor."""
        given = dict(self.attributes)
        slice_of = frontends.find("onnx:Slice")
        if self.op in IN_PLACE:
            return reshape(x, self.shape)
        if self.op == "Transpose":
            return transpose(x, given["perm"])
        if self.op == "Expand":
            return broadcast_to(x, self.shape)
        if self.op == "Tile":
            return tile(x, given["repeats"])
        if self.op == WINDOWS:
            return stack([slice_of(x, **dict(bounds)) for bounds in given["slices"]], given["axis"])
        if self.op == "Gather":
            taken = take(x, given["indices"], given["axis"])
            if taken is None:
                raise InconclusiveError("the index is few slices")
            return taken
        made: Tensor = frontends.find(f"onnx:{self.op}")(x, **given)
        return made

    def emit(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return the nodes that make *target* of *source*, which has this *shape*; *known* is a value and its shape."""
        if self.op == COMPUTED:
            return self._emit_computed(graph, source, shape, target, known)
        if self.op == WINDOWS:
            return self._emit_windows(graph, source, shape, target, known)
        attributes = dict(self.attributes)
        inputs: dict[str, Any] = {}
        if self.op == "Reshape":
            inputs["shape"] = target_shape(shape, self.shape)
        elif self.op == "Unsqueeze":
            attributes["axes"] = added_ones(shape, self.shape)
        elif self.op == "Squeeze":
            attributes["axes"] = added_ones(self.shape, shape)
        elif self.op == "Expand":
            inputs["shape"] = [int(e) if is_number(e) else 1 for e in self.shape]
        elif self.op in ("Tile", "Gather"):
            name = "repeats" if self.op == "Tile" else "indices"
            inputs[name] = attributes.pop(name)
        if graph.opset >= INPUTS.get(self.op, END):
            inputs, attributes = attributes, {}
        nodes: list[NodeProto] = []
        names = [source]
        for name, numbers in inputs.items():
            if all(map(is_number, numbers)) if self.op == "Slice" else True:
                made, extra = graph.constant(np.array(numbers, np.int64), f"{target}_{name}")
                nodes += extra
            else:
                made = emit_bounds(graph, numbers, self.places, f"{target}_{name}", nodes)
            names.append(made)
        if self.op == "Resize":
            scales, nodes = graph.constant(np.array(attributes.pop("scales"), np.float32), f"{target}_scales")
            names += ["", scales]  # "" leaves out the region of interest
        return [*nodes, graph.node(self.op, names, target, **attributes)]

    def _emit_windows(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return slices of the source with an axis of extent 1, and what joins them there."""
        axis = dict(self.attributes)["axis"]
        wide = (*shape[:axis], 1, *shape[axis:])
        at = graph.new_name(f"{target}_unsqueeze")
        nodes = Step("Unsqueeze", (), wide).emit(graph, source, shape, at, known)
        pieces: list[str] = []
        if (tiles := tiled(shape, dict(self.attributes)["slices"])) is not None:
            pieces = [graph.new_name(f"{target}_split") for _ in range(tiles[1])]
            at_axis, size = tiles[0] + (tiles[0] >= axis), int(shape[tiles[0]]) // tiles[1]
            nodes += self._emit_split(graph, at, pieces, at_axis, size)
            return [*nodes, graph.node("Concat", pieces, target, axis=axis)]
        for given in dict(self.attributes)["slices"]:
            bounds = dict(given)
            bounds["axes"] = [k + (k >= axis) for k in bounds["axes"]]
            pieces.append(graph.new_name(f"{target}_slice"))
            nodes += Step("Slice", tuple(bounds.items()), ()).emit(graph, at, wide, pieces[-1], known)
        return [*nodes, graph.node("Concat", pieces, target, axis=axis)]

    def _emit_split(self, graph: EditedGraph, at: str, pieces: list[str], axis: int, size: int) -> list[NodeProto]:
        """Return a Split into pieces of one size, and the constant that it reads."""
        sizes = [size] * len(pieces)
        names, nodes, attributes = [at], list["NodeProto"](), {"split": sizes}
        if graph.opset >= INPUTS["Split"]:
            made, nodes = graph.constant(np.array(sizes, np.int64), f"{pieces[0]}_sizes")
            names, attributes = [at, made], {}
        split = graph.node("Split", names, pieces[0], axis=axis, **attributes)
        split.output.extend(pieces[1:])
        return [*nodes, split]

    def _emit_computed(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return a Reshape, and the nodes that compute its target from the shape of the known value."""
        parts = computed_shape(shape, self.shape, known[1])
        assert parts is not None
        attributes: dict[str, Any] = {}
        if graph.opset >= _ALLOWZERO and any(part.axes for part in parts[: len(shape)]):
            without_copies = computed_shape((), self.shape, known[1])  # a computed 0 would copy an extent, too
            if without_copies is not None:
                parts, attributes = without_copies, {"allowzero": 1}
        nodes: list[NodeProto] = []
        wanted = emit_shape(graph, known[0], parts, target, nodes)
        return [*nodes, graph.node("Reshape", [source, wanted], target, **attributes)]


def emit_shape(
    graph: EditedGraph, known: str, parts: Sequence[ComputedExtent], target: str, nodes: list[NodeProto]
) -> str:
    """Append the nodes that compute a shape from that of the value *known*, for *target*, and return its name."""

    def constant(*numbers: int) -> str:
        name, extra = graph.constant(np.array(numbers, np.int64), f"{target}_number")
        nodes.extend(extra)
        return name

    def put(op: str, *inputs: str, **attributes: Any) -> str:
        name = graph.new_name(f"{target}_{op.lower()}")
        nodes.append(graph.node(op, inputs, name, **attributes))
        return name

    extents, names = put("Shape", known), []
    for part in parts:
        if not part.axes:
            names.append(constant(part.times))
            continue
        at = put("Gather", extents, constant(*part.axes), axis=0)
        at = put("ReduceProd", at, keepdims=1) if len(part.axes) > 1 else at
        at = put("Mul", at, constant(part.times)) if part.times != 1 else at
        names.append(put("Div", at, constant(part.by)) if part.by != 1 else at)
    return put("Concat", *names, axis=0)


def steps_of(found: Iterable[tuple[str, Shape]]) -> list[Step]:
    """Return operations without attributes as steps."""
    return [Step(op, (), shape) for op, shape in found]
