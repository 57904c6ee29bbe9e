"""ONNX's If, Loop and Scan: functions of whole operands, whose outputs have what all passes and branches share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symlayout.algebra.facts import Dim
from symlayout.errors import FormatError
from symlayout.language.sympy_arithmetic import at_least
from symlayout.language.sympy_bridge import symbol_of
from symlayout.models import onnx_model
from symlayout.models.model import Items, ModelNode, Unshaped, Value
from symlayout.models.opaque import OutputType, SameAs, UnknownExtent
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

if TYPE_CHECKING:
    from onnx import GraphProto

MAX_LOOP_PASSES = 3  # over the body of a loop, until no shape changes


class Nested(Protocol):
    """The evaluation of a graph with subgraphs."""

    def tensor(self, value: Value, name: str = "constant") -> Tensor:
        """Return a value as a tensor."""

    def inside(self, graph: GraphProto, known: Mapping[str, Value]) -> list[Value]:
        """Return the outputs of a subgraph, with *known* for its inputs."""

    def opaque(
        self, node: ModelNode, inputs: Sequence[Value | None], types: Sequence[OutputType | None] | None = None
    ) -> list[Value | None]:
        """Return the outputs of a node, of these *types*, as functions of whole operands."""


def joined(graph: Nested, a: Value, b: Value) -> OutputType:
    """Return what two values have in common, of which one is taken."""
    if isinstance(a, Unshaped | Items) or isinstance(b, Unshaped | Items):
        return OutputType(None, None)
    left, right = graph.tensor(a), graph.tensor(b)
    dtype = left.dtype if left.dtype == right.dtype else None
    if left.rank != right.rank:
        return OutputType(dtype, None)
    entries = []
    for m, n, (lo, hi), (low, high) in zip(left.shape, right.shape, left.bounds(), right.bounds(), strict=True):
        if m == n:
            entries.append(m)
        else:
            most = (max(hi, high),) if hi is not None and high is not None else None
            entries.append(UnknownExtent(max(min(lo or 0, low or 0), 0), most))
    return OutputType(dtype, tuple(entries))


def _if(graph: Nested, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    branches = {a.name: a.g for a in node.source.attribute if a.name in ("then_branch", "else_branch")}
    if len(branches) != 2 or len(inputs) != 1:
        raise FormatError(f"If has not a condition and two branches\n  in: {node}")
    condition = inputs[0]
    if isinstance(condition, np.ndarray) and condition.size == 1 and not hasattr(condition.item(), "free_symbols"):
        return graph.inside(branches["then_branch" if condition.item() else "else_branch"], {})
    then, otherwise = (graph.inside(branches[name], {}) for name in ("then_branch", "else_branch"))
    if len(then) != len(otherwise):
        raise FormatError(f"the branches have {len(then)} and {len(otherwise)} outputs\n  in: {node}")
    return graph.opaque(node, inputs, [joined(graph, a, b) for a, b in zip(then, otherwise, strict=True)])


def _loop(graph: Nested, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    body = next((a.g for a in node.source.attribute if a.name == "body"), None)
    carried = inputs[2:]
    if body is None or len(body.input) != len(inputs) or len(body.output) < 1 + len(carried):
        raise FormatError(f"the body of the loop does not fit its inputs\n  in: {node}")
    state, results = _fixed_point(graph, node, [v for v in carried if v is not None], lambda leaves: {
        body.input[0].name: tensor((), np.int64, "iteration"),
        body.input[1].name: tensor((), np.bool_, "condition"),
        **{x.name: leaf for x, leaf in zip(list(body.input)[2:], leaves, strict=True)},
    }, body, 1)  # fmt: skip
    trips = inputs[0]
    most = (trips.item(),) if isinstance(trips, np.ndarray) and trips.size == 1 and at_least(trips.item(), 0) else None
    count = UnknownExtent(0, most)
    return graph.opaque(node, inputs, [*state, *(_stacked(graph, v, count) for v in results)])


def _scan(graph: Nested, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    body = next((a.g for a in node.source.attribute if a.name == "body"), None)
    scanned = next((int(a.i) for a in node.source.attribute if a.name == "num_scan_inputs"), 0)
    simple = not any(any(a.ints) for a in node.source.attribute if a.name in ("scan_input_axes", "scan_output_axes"))
    values = [v for v in inputs if v is not None]
    if body is None or not simple or node.version < 9 or len(body.input) != len(values) or not scanned:
        return graph.opaque(node, inputs)
    count = len(values) - scanned
    rows = [graph.tensor(v) for v in values[count:] if not isinstance(v, Items)]
    if any(t.rank < 1 for t in rows) or len(rows) != scanned:
        return graph.opaque(node, inputs)
    slices = {
        x.name: tensor(t.shape[1:], t.dtype, "slice") for x, t in zip(list(body.input)[count:], rows, strict=True)
    }
    state, results = _fixed_point(graph, node, values[:count], lambda leaves: {
        **{x.name: leaf for x, leaf in zip(body.input, leaves, strict=False)}, **slices,
    }, body, 0)  # fmt: skip
    return graph.opaque(node, inputs, [*state, *(_stacked(graph, v, SameAs(count, 0)) for v in results)])


def _fixed_point(
    graph: Nested, node: ModelNode, first: list[Value], known: Any, body: GraphProto, skipped: int
) -> tuple[list[OutputType], list[Value]]:
    """Return the types of what a loop carries, which each pass keeps, and the values that one pass adds."""
    kinds: list[OutputType] = []
    for v in first:
        kinds.append(OutputType(None, None) if isinstance(v, Items | Unshaped) else _type(graph.tensor(v)))
    for _ in range(MAX_LOOP_PASSES):
        leaves = [_leaf(kind, f"carried_{k}", node) for k, kind in enumerate(kinds)]
        found = graph.inside(body, known(leaves))
        after = found[skipped : skipped + len(first)]
        shared = [
            OutputType(None, None) if kind.shape is None else joined(graph, leaf, v)
            for kind, leaf, v in zip(kinds, leaves, after, strict=True)
        ]
        changed = False
        news = []
        for kind, leaf, new in zip(kinds, leaves, shared, strict=True):
            same = kind.shape is None or _kept(kind.shape, graph.tensor(leaf).shape, new.shape)
            changed |= not same
            news.append(kind if same else _widened(kind, new))
        kinds = news
        if not changed:
            return kinds, found[skipped + len(first) :]
    kinds = [OutputType(kind.dtype, None) for kind in kinds]
    return kinds, [Unshaped(graph.tensor(np.zeros(0))) for _ in found[skipped + len(first) :]]


def _kept(kind: tuple[Any, ...], before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
    """Return whether a pass keeps each extent that is not unknown already."""
    if after is None:
        return False
    return all(isinstance(e, UnknownExtent) or a == b for e, a, b in zip(kind, before, after, strict=True))


def _type(t: Tensor) -> OutputType:
    return OutputType(t.dtype, tuple(t.shape))


def _widened(kind: OutputType, new: OutputType) -> OutputType:
    """Return the type with each extent that a pass changes unknown."""
    if new.shape is None or kind.shape is None:
        return OutputType(kind.dtype, None)
    pairs = zip(kind.shape, new.shape, strict=True)
    return OutputType(kind.dtype, tuple(a if a == b else UnknownExtent() for a, b in pairs))


def _leaf(kind: OutputType, name: str, node: ModelNode) -> Value:
    if kind.shape is None:
        return Unshaped(tensor((), kind.dtype, name))
    unique = f"{name}.{next(onnx_model.COUNT)}"
    entries = [
        symbol_of(Dim(f"{name}.{axis}", e.least, None, process=unique)) if isinstance(e, UnknownExtent) else e
        for axis, e in enumerate(kind.shape)
    ]
    return tensor(entries, kind.dtype, name)


def _stacked(graph: Nested, value: Value, count: Any) -> OutputType:
    """Return the type of the values of all passes, one after the other."""
    if isinstance(value, Unshaped | Items):
        return OutputType(None, None)
    t = graph.tensor(value)
    inside = [any(d.process for d in _dims(e, t)) for e in t.extents]
    return OutputType(
        t.dtype, (count, *(UnknownExtent() if own else e for own, e in zip(inside, t.shape, strict=True)))
    )


def _dims(e: Any, t: Tensor) -> list[Dim]:
    return [] if isinstance(e, int) else [t.facts.dims[n] for n in e.names if n in t.facts.dims]


CONTROL_FLOW = {"If": _if, "Loop": _loop, "Scan": _scan}
"""The function for each operator: it takes the evaluation, the node and the inputs, and returns the outputs."""
