"""ONNX's If, Loop and Scan: functions of whole operands, whose outputs have what all passes and branches share.

What the bodies compute are operands, too: the outputs of branches, and those of one pass of a loop.  These are values
like any other, but for the values that change from pass to pass.  Each of those is `any_value` of a type that all
passes keep: an opaque function of what the loop starts with.  Nothing else is known of it, so what is proved of it
holds in each pass.  So two loops of equal operands are one function: they start alike, and if a pass starts with equal
values, it ends with equal ones, goes on or stops alike, and adds equal rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from symlayout.algebra.facts import Dim
from symlayout.errors import FormatError
from symlayout.language.sympy_arithmetic import at_least
from symlayout.models.model import TENSOR, Items, ModelNode, Unshaped, Value
from symlayout.models.opaque import OutputType, SameAs, UnknownExtent, opaque
from symlayout.models.subgraph_keys import digest
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

if TYPE_CHECKING:
    from onnx import GraphProto

MAX_LOOP_PASSES = 3  # over the body of a loop, until no shape changes
_REPEATED = 3  # loops within each other that look for extents which no pass changes: the passes of all of them multiply


class Nested(Protocol):
    """The evaluation of a graph with subgraphs."""

    def tensor(self, value: Value, name: str = "constant") -> Tensor:
        """Return a value as a tensor."""

    @property
    def loops(self) -> int:
        """How many loops the evaluation is inside."""

    def digest_of(self, node: ModelNode) -> str:
        """Return text that two nodes share only if they compute equal values."""

    def inside(
        self, node: ModelNode, graph: GraphProto, known: Mapping[str, Value], text: str = "", *, runs: bool = False
    ) -> list[Value]:
        """Return the outputs of a subgraph of a node, with *known* for its inputs; *text* tells these from others."""

    def opaque(
        self,
        node: ModelNode,
        inputs: Sequence[Value | None],
        types: Sequence[OutputType | None] | None = None,
        bodies: Sequence[Sequence[Value]] = (),
    ) -> list[Value | None]:
        """Return the outputs of a node, of these *types*, as functions of whole operands and of what *bodies* return.

        Without *bodies*, the subgraphs are compared as text.
        """


def kind_of_value(value: Value) -> str:
    """Return what a value is: see `Unshaped`."""
    return "sequence" if isinstance(value, Items) else value.kind if isinstance(value, Unshaped) else TENSOR


def joined(graph: Nested, a: Value, b: Value) -> OutputType:
    """Return what two values have in common, of which one is taken."""
    if isinstance(a, Items) or isinstance(b, Items):
        return OutputType(None, None, "sequence" if kind_of_value(a) == kind_of_value(b) else TENSOR)
    if isinstance(a, Unshaped) or isinstance(b, Unshaped):
        types = [v.dtype if isinstance(v, Unshaped) else graph.tensor(v).dtype for v in (a, b)]
        kinds = {kind_of_value(a), kind_of_value(b)}
        return OutputType(types[0] if types[0] == types[1] else None, None, kinds.pop() if len(kinds) == 1 else TENSOR)
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
        return graph.inside(node, branches["then_branch" if condition.item() else "else_branch"], {}, runs=True)
    then, otherwise = (graph.inside(node, branches[name], {}) for name in ("then_branch", "else_branch"))
    if len(then) != len(otherwise):
        raise FormatError(f"the branches have {len(then)} and {len(otherwise)} outputs\n  in: {node}")
    types = [joined(graph, a, b) for a, b in zip(then, otherwise, strict=True)]
    return graph.opaque(node, inputs, types, (then, otherwise))


def _loop(graph: Nested, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    body = next((a.g for a in node.source.attribute if a.name == "body"), None)
    carried = inputs[2:]
    fits = body is not None and len(body.input) == len(inputs) and len(body.output) >= 1 + len(carried)
    if body is None or not fits or any(v is None for v in carried):
        raise FormatError(f"the body of the loop does not fit its inputs\n  in: {node}")
    own = [
        any_value(graph, node, place, OutputType(kind, _shape_of_counter(body, place)), "")
        for place, kind in ((0, np.int64), (1, np.bool_))
    ]
    state, results, bodies = _fixed_point(graph, node, [v for v in carried if v is not None], lambda leaves: {
        x.name: leaf for x, leaf in zip(body.input, (*own, *leaves), strict=True)
    }, body, 2, 1)  # fmt: skip
    trips = inputs[0]
    most = (trips.item(),) if isinstance(trips, np.ndarray) and trips.size == 1 and at_least(trips.item(), 0) else None
    count = UnknownExtent(0, most)
    return graph.opaque(node, inputs, [*state, *(_stacked(graph, v, count) for v in results)], bodies)


def _shape_of_counter(body: GraphProto, place: int) -> tuple[int, ...]:
    """Return the shape of the number of a pass, or of the condition: one element, in an axis if the body states one."""
    stated = body.input[place].type.tensor_type
    return (1,) if stated.HasField("shape") and len(stated.shape.dim) == 1 else ()


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
    if len(body.output) < count:
        raise FormatError(f"the body of the scan does not fit its inputs\n  in: {node}")
    slices = [
        any_value(graph, node, place, OutputType(t.dtype, t.shape[1:]), "", t, skipped=1)
        for place, t in enumerate(rows, start=count)
    ]
    state, results, bodies = _fixed_point(graph, node, values[:count], lambda leaves: {
        x.name: leaf for x, leaf in zip(body.input, (*leaves, *slices), strict=True)
    }, body, 0, 0)  # fmt: skip
    return graph.opaque(node, inputs, [*state, *(_stacked(graph, v, SameAs(count, 0)) for v in results)], bodies)


def _fixed_point(
    graph: Nested, node: ModelNode, first: list[Value], known: Any, body: GraphProto, start: int, skipped: int
) -> tuple[list[OutputType], list[Value], list[list[Value]]]:
    """Return the types of what a loop carries, which each pass keeps, and the values that one pass adds.

    What is carried stands from number *start* of the body's inputs, and from number *skipped* of its outputs.  The last
    is all that the body returns of any values of these types; nothing if the types are not known.
    """
    kinds: list[OutputType] = []
    for v in first:
        unknown = OutputType(v.dtype if isinstance(v, Unshaped) else None, None, kind_of_value(v))
        kinds.append(unknown if isinstance(v, Items | Unshaped) else _type(graph.tensor(v)))
    if deep := graph.loops >= _REPEATED:
        kinds = [k if k.shape is None else OutputType(k.dtype, (UnknownExtent(),) * len(k.shape)) for k in kinds]
    for number in range(1 if deep else MAX_LOOP_PASSES):
        text = f"{graph.digest_of(node)} {number}"
        leaves = [
            any_value(graph, node, place, kind, text, v)
            for place, (kind, v) in enumerate(zip(kinds, first, strict=True), start=start)
        ]
        found = graph.inside(node, body, known(leaves), text)
        after = found[skipped : skipped + len(first)]
        shared = [
            kind if kind.shape is None else joined(graph, leaf, v)
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
            tensors = not any(isinstance(v, Items | Unshaped) for v in first)
            return kinds, found[skipped + len(first) :], [found] if tensors else []
    kinds = [OutputType(kind.dtype, None, kind.kind) for kind in kinds]
    return kinds, [Unshaped(graph.tensor(np.zeros(0))) for _ in found[skipped + len(first) :]], []


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


def any_value(
    graph: Nested,
    node: ModelNode,
    place: int,
    kind: OutputType,
    text: str,
    first: Value | None = None,
    skipped: int = 0,
) -> Value:
    """Return any value of this type, for input number *place* of the body of a loop that *text* tells from others.

    It is an opaque function of *first*: the value that the loop starts with, or takes rows of, which are then without
    the first *skipped* axes.  Its extents are those of *first*, but for the unknown ones.  So two of them have one type
    if they are one function of equal values.  Loops in one another have different ones.  Loops beside each other may
    share them, since what is proved of them holds for all values.
    """
    if isinstance(first, Items | Unshaped):
        return Unshaped(tensor((), kind.dtype, f"input_{place}"), kind.kind)
    entries = None
    if kind.shape is not None:
        entries = tuple(
            e if first is None or isinstance(e, UnknownExtent) else SameAs(0, axis + skipped)
            for axis, e in enumerate(kind.shape)
        )
    identity = digest(f"{text} {place}")
    (made,) = opaque(
        f"{node.title}.input",
        [] if first is None else [graph.tensor(first)],
        (("loops", graph.loops), ("place", place), ("extents", entries)),
        [OutputType(kind.dtype, entries)],
        stem=f"pass_{identity[:6]}",
        identity=identity,
        total=True,
    )
    assert made is not None
    return made


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
