"""Layouts of whole networks: channels first (NCHW), as ONNX's operators for images have them, and channels last (NHWC).

A layout is about the values inside.  Inputs and outputs keep their shapes, so each may get one transpose.
"""

from __future__ import annotations

from symlayout.errors import ShapeError, shown
from symlayout.models.model import Model
from symlayout.optimize_models.crossings.permuted_nodes import Perm, inverse, name_of
from symlayout.optimize_models.crossings.transpose_cut import Crossing
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.onnx_graph import EditedGraph

LAYOUTS = ("NCHW", "NHWC")
_RANKS = (3, 4, 5)  # of batches of signals, images and volumes
_CHANNELS_FIRST = (
    "Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "DeformConv", "Col2Im",
    "MaxPool", "AveragePool", "LpPool", "GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool", "MaxUnpool",
    "BatchNormalization", "InstanceNormalization", "GroupNormalization", "LRN",
    "DepthToSpace", "SpaceToDepth", "GridSample", "RoiAlign", "MaxRoiPool",
)  # fmt: skip
"""Operators whose channels are axis 1 by ONNX's standard; it has none of them with the channels last."""


def check_layout(layout: str | None) -> None:
    """Raise for a layout that is not known."""
    if layout is not None and layout not in LAYOUTS:
        raise ShapeError(f"layout {shown(layout)} is not known\n  known: None, {', '.join(LAYOUTS)}", "bad_mode")


def crossings_to(layout: str) -> list[Crossing]:
    """Return the crossings whose permuted side has this layout.

    >>> [c.perm for c in crossings_to("NCHW") if len(c.perm) == 4]
    [(0, 2, 3, 1)]
    """
    perms: list[Perm] = []
    for rank in _RANKS:
        last = (0, *range(2, rank), 1)
        perms.append(last if layout == "NCHW" else inverse(last))
    return [
        Crossing(perm, flipped, free_ends=True, reorder=True)
        for perm in perms
        for flipped in ((False, True) if perm == inverse(perm) else (False,))
    ]


def interior_cost(model: Model) -> Cost:
    """Return what the movement of the main graph costs, without one transpose of each input and of each output."""
    graph, movement = EditedGraph(model.source), Movement(model)
    inputs = {v.name for v in graph.message.graph.input}
    seen: set[str] = set()
    nodes = []
    for node in graph.nodes:
        if graph.is_standard(node, "Transpose"):
            end = node.output[0] if node.output[0] in graph.outputs else node.input[0]
            if end in inputs | graph.outputs and end not in seen:
                seen.add(end)
                continue
        nodes.append(node)
    return cost_of(nodes, movement.tensors, movement.sources)


def held_back(model: Model, layout: str, failed: list[str]) -> tuple[str, ...]:
    """Return the operators that keep values of a model in the other layout, as ``"Conv c1"``.

    Parameters
    ----------
    failed : list of str
        Operators that would have been carried, but have no spelling in the layout.
    """
    graph = EditedGraph(model.source)
    if layout == "NHWC":
        return tuple(name_of(node) for node in graph.nodes if graph.is_standard(node, *_CHANNELS_FIRST))
    return tuple(failed) if interior_cost(model).transposes else ()
