"""Read an ONNX model: from its nodes to its values as tensors."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.algebra.facts import Dim
from symlayout.errors import FormatError, ShapeError, SymlayoutError
from symlayout.language.grammar_trees import Tree
from symlayout.language.parse import evaluate, names_of, parse_shape
from symlayout.language.sympy_bridge import at_least, dim, extreme, symbol_of
from symlayout.models import onnx_model, onnx_types
from symlayout.models.apply_node import identifier
from symlayout.models.evaluate_graph import Evaluation, is_attribute_error
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Items, Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.onnx_model import Input, OnnxGraph, dtype_of
from symlayout.models.opaque import OutputType, SameAs, Unknown, opaque
from symlayout.models.shape_arithmetic import OPS, exact_target, is_shape_node, required, settled
from symlayout.models.subgraph_keys import (
    CONSTANTS,
    RANDOM,
    STANDARD,
    attribute_key,
    constant_of,
    digest,
    digest_of_array,
    draws,
)
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

MAX_NODES = 50_000  # needed by the outputs, plus the inputs
MAX_LOOP_PASSES = 3  # over the body of a loop, until no shape changes

_RENAMED = {"Pad": {"value": "constant_value"}}  # attributes with another name in an older version


def read_onnx(file: Path, known: KnownDims) -> Model:
    """Return the model in *file*, an ``.onnx``: see `symlayout.models.read_model.read_model`."""
    return model_of(onnx_model.read(file), file, known)


def model_of(graph: OnnxGraph, file: Path, known: KnownDims, *, same_bits: bool = False) -> Model:
    """Return the model with this graph; *file* is where it comes from.

    Parameters
    ----------
    same_bits : bool
        See `Evaluation`.
    """
    if (count := len(graph.nodes) + len(graph.inputs)) > MAX_NODES:
        raise FormatError(f"model has {count} nodes and inputs, at most {MAX_NODES} are read")
    evaluation = settled(lambda exact: _evaluated(graph, exact, known, same_bits))
    inputs = {x.name: evaluation.tensor(evaluation.values[x.name], x.name) for x in graph.inputs}
    outputs: dict[str, Tensor] = {}
    for name in graph.outputs:
        value = evaluation.value(name)
        assert value is not None
        outputs[name] = evaluation.tensor(value, name)
    values: dict[str, Any] = dict(evaluation.values)
    for name in graph.constants:
        values.setdefault(name, lambda name=name: graph.constant(name))
    tensors = Tensors(values, evaluation.tensor)
    return Model(file, "ONNX", inputs, outputs, tensors, evaluation.nodes, graph.source, evaluation.demands)


def _evaluated(
    graph: OnnxGraph, exact: Collection[Any], known: KnownDims, same_bits: bool
) -> tuple[OnnxEvaluation, set[Any]]:
    """Return the values of the graph, and the rounded quotients that some node requires to be exact.

    *exact* holds the quotients already known to be exact, from an earlier evaluation; earlier nodes use them, too.
    """
    evaluation = OnnxEvaluation(graph, exact, same_bits=same_bits)
    for x, leaf in zip(graph.inputs, _leaves(graph.inputs), strict=True):
        leaf = required(known.of_leaf(leaf), exact)
        evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
        evaluation.define(x.name, leaf)
    evaluation.nodes = tuple(evaluation.run(graph.nodes))
    return evaluation, evaluation.exact | evaluation.shapes.supposed


class OnnxEvaluation(Evaluation):
    """The values of an ONNX graph."""

    def __init__(self, graph: OnnxGraph, exact: Collection[Any], *, same_bits: bool = False) -> None:
        super().__init__({}, exact, len(graph.nodes), same_bits=same_bits)
        self.graph = graph
        self.exact = set(exact)
        self.nodes: tuple[ModelNode, ...] = ()
        self._producers: dict[str, ModelNode] = {}
        self._digests: dict[str, str] = {}
        self._inner = 0  # how many subgraphs the evaluation is inside

    def value(self, name: str) -> Value | None:
        """Return what is called *name*; constants are read when they are first asked for."""
        if not name:
            return None
        if name not in self.values:
            if name not in self.graph.constants:
                raise FormatError(f"{name[:80]!r} is read before it is defined")
            self.values[name] = self.graph.constant(name)
        return self.values[name]

    def run(self, nodes: Iterable[NodeProto]) -> list[ModelNode]:
        """Compute the values of *nodes*, which are in order, and return the nodes."""
        made = []
        for proto in nodes:
            domain = "" if proto.domain in STANDARD else proto.domain
            version = self.graph.opsets.get(domain, 1)
            node = ModelNode(proto.name, proto.op_type, domain, tuple(proto.input), tuple(proto.output), version, proto)
            made.append(node)
            if not self._inner:
                for name in node.outputs:
                    self._producers[name] = node
            results = self.computed(node)
            if len(results) < len(node.outputs):
                expected, got = len(node.outputs), len(results)
                raise FormatError(f"node has {expected} outputs, its operation has {got}\n  in: {node}")
            for name, value in zip(node.outputs, results, strict=False):
                if name and value is not None:
                    self.define(name, value)
        return made

    # ------------------------------------------------------------------ one node

    def computed(self, node: ModelNode) -> Sequence[Value | None]:
        """Return the outputs of a node."""
        inputs = [self.value(name) for name in node.inputs]
        op = node.op_type if not node.domain else ""
        if op == "Constant" and any(a.name in CONSTANTS for a in node.source.attribute):
            return [constant_of(node.source)]
        if op in _CONTROL:
            return _CONTROL[op](self, node, inputs)
        if op == "ConstantOfShape" and (filled := self._filled(node, inputs)) is not None:
            return filled
        if op in _SEQUENCES and (made := _SEQUENCES[op](self, node, inputs)) is not None:
            return made
        if op == "Reshape" and len(inputs) == 2:
            copies = not any(a.name == "allowzero" and a.i for a in node.source.attribute)
            inputs[1], quotients = exact_target(*inputs, copies=copies)  # type: ignore[arg-type]
            self.exact |= quotients
        if op == "Slice" and len(inputs) > 2:
            inputs[2] = self.ends_of(inputs[0], inputs[2], inputs[3] if len(inputs) > 3 else None)
        if op == "Range":
            inputs = [v if (whole := self.integers_of(v)) is None else whole for v in inputs]
        if _is_range_of_dims(op, inputs):
            results = [frontends.find("onnx:Range")(*inputs)] if self._counts_up(inputs) else None
        else:
            results = self._declared(node, op, inputs)
        if results is None:
            return self.opaque(node, inputs)
        if len(results) < len(node.outputs) and onnx_types.is_standard(node) and _may_have(node, len(node.outputs)):
            return [*results, *self.opaque(node, inputs)[len(results) :]]
        return results

    def _declared(self, node: ModelNode, op: str, inputs: list[Value | None]) -> list[Value] | None:
        """Return the outputs by the operation's declaration; None if it has none, or does not take these inputs."""
        titles = [f"{node.title}-{onnx_types.since_version(node)}", node.title] if op else [node.title]
        if op and not onnx_types.is_standard(node):
            titles.append(f"microsoft:{op}")  # onnxruntime writes some of its operators in the standard's domain
        on_shape = is_shape_node(op, inputs) if op else False  # type: ignore[arg-type]
        title = op if op in OPS else node.title
        known = any(_is_known(t) for t in titles)
        if op in RANDOM or not (known or (on_shape and op in OPS)):
            return None
        attributes = self._attributes(node)
        if on_shape and (title in OPS or title in _MOVING):
            made = self.shape_values(title, inputs, attributes, str(node))
            if made is not None:
                return made
            if op in ("Shape", "Size"):
                return None
        given = dict(attributes)
        if "to" in attributes and op == "Cast":
            attributes["to"] = self._attributes(node, raw=True)["to"]
        try:
            results = self.declared(titles, inputs, attributes, str(node), len(node.outputs))
        except SymlayoutError as error:
            if is_attribute_error(error) and all(onnx_types.knows_attribute(node, name) for name in attributes):
                return None
            raise
        if results is None:
            return None
        results = self.with_choices(title, inputs, given, self.folded(results, inputs), str(node))
        return self.with_reals(op, inputs, given, results, str(node))

    def _filled(self, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
        """Return the value of a ConstantOfShape whose shape holds expressions: one element, broadcast."""
        shape = inputs[0] if inputs else None
        if not isinstance(shape, np.ndarray) or not any(hasattr(n, "free_symbols") for n in shape.flat):
            return None
        value = self._attributes(node).get("value", np.zeros(1, np.float32))
        return self.declared(["onnx:Expand"], [np.asarray(value).reshape(()), shape], {}, str(node))

    def _attributes(self, node: ModelNode, *, raw: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = onnx_model.attributes(node.source)
        found = {_RENAMED.get(node.op_type, {}).get(name, name): value for name, value in found.items()}
        if raw or node.domain:
            return found
        if node.op_type == "Cast" and "to" in found:
            found["to"] = dtype_of(found["to"], str(node))
        if node.op_type == "Split" and len(node.inputs) < 2 and not {"split", "num_outputs"} & found.keys():
            found["split"] = self._equal_parts(node, found)
        return found

    def _equal_parts(self, node: ModelNode, attributes: Mapping[str, Any]) -> list[Any]:
        """Return the extents of parts that are equal, as `Split` has them before version 18 where none are given."""
        axis, data = attributes.get("axis", 0), self.value(node.inputs[0]) if node.inputs else None
        if not isinstance(data, Tensor | np.ndarray):
            raise FormatError(f"input or axis is not there\n  in: {node}")
        if not isinstance(axis, int) or not -len(data.shape) <= axis < len(data.shape):
            raise FormatError(f"input or axis is not there\n  in: {node}")
        extent, count = data.shape[axis], len(node.outputs)
        if isinstance(extent, int) and extent % count:
            raise ShapeError(f"{extent} is no {count} equal parts\n  in: {node}", "size_mismatch")
        return [extent // count if isinstance(extent, int) else extent / count] * count

    # ------------------------------------------------------------------ opaque operations

    def opaque(
        self, node: ModelNode, inputs: Sequence[Value | None], types: Sequence[OutputType | None] | None = None
    ) -> list[Value | None]:
        """Return the outputs of a node as functions of whole operands, those of its subgraphs too."""
        operands: list[Tensor | None] = []
        for name, value in zip(node.inputs, inputs, strict=True):
            if isinstance(value, Items):
                operands.extend(self.tensor(v, name) for v in value.elements)
            else:
                operands.append(None if value is None else self.tensor(value, name))
        count = len(inputs) if len(operands) == len(inputs) else 0  # `SameAs` counts inputs
        key, names = self._attribute_key(node)
        outer = [self.value(name) for name in names]
        for value in outer:
            if isinstance(value, Items):
                operands.extend(map(self.tensor, value.elements))
            elif value is not None:
                operands.append(self.tensor(value))
        if types is None:
            hints = self.graph.types
            types = onnx_types.output_types(node, inputs, operands[:count], hints)
            types = self._by_shape_inputs(node, inputs, list(types))
        digest = self._digest(node)
        attributes = (("version", onnx_types.since_version(node)), *key)
        if any(isinstance(value, Items) for value in (*inputs, *outer)):
            lengths = tuple(len(v.elements) if isinstance(v, Items) else None for v in (*inputs, *outer))
            attributes += (("sequences", lengths),)
        return list(
            opaque(
                node.title,
                operands,
                attributes,
                types,
                stem=f"{_stem(node.op_type)}_{digest[:6]}",
                identity=digest,
                random=draws(node.source),
            )
        )

    def _by_shape_inputs(
        self, node: ModelNode, inputs: Sequence[Value | None], types: list[OutputType | None]
    ) -> list[OutputType | None]:
        """Give the output the shape that an input holds as expressions in dims."""
        known = types[0] if types else None
        if known is None or node.domain:
            return types
        shape: tuple[Any, ...] | None = None
        if node.op_type == "Range" and _is_range_of_dims("Range", inputs):
            start, limit, delta = (v.reshape(()).item() for v in inputs if isinstance(v, np.ndarray))
            if isinstance(delta, int) and delta:
                span, step = (limit - start, delta) if delta > 0 else (start - limit, -delta)
                span = span if self.shapes.at_least(span, 0) else extreme("max", (span, 0))
                shape = (-(-span // step),)
        if node.op_type == "Resize":
            shape = self._resized(node, inputs)
        return types if shape is None else [OutputType(known.dtype, shape), *types[1:]]

    def _counts_up(self, inputs: Sequence[Value | None]) -> bool:
        """Return whether a range of dims starts at a number, and goes up to an end that is not below it."""
        start, limit, delta = (v.reshape(()).item() for v in inputs if isinstance(v, np.ndarray))
        up = isinstance(start, int) and isinstance(delta, int) and delta > 0
        return up and self.shapes.at_least(limit - start, 0)

    def _resized(self, node: ModelNode, inputs: Sequence[Value | None]) -> tuple[Any, ...] | None:
        """Return the shape of a Resize by scales that are computed from dims."""
        data, scales = inputs[0], inputs[2 if len(inputs) > 2 else 1]
        axes = next((a.ints for a in node.source.attribute if a.name == "axes"), ())
        factors = self.reals_of(scales)
        if not isinstance(data, Tensor) or factors is None or axes or factors.shape != (data.rank,):
            return None
        sizes = self.shapes.reals("Mul", [np.array(data.shape, object), factors], {}, str(node))
        whole = None if sizes is None else self.shapes.integers_of(sizes)
        return None if whole is None else tuple(whole)

    def _digest(self, node: ModelNode) -> str:
        """Return text that two nodes share only if they compute equal values, in this and in other models."""
        if self._inner:
            return digest(f"{id(self)}.{len(self.values)}.{next(onnx_model.COUNT)}")
        waiting = [node]
        while waiting:
            at = waiting[-1]
            key = at.outputs[0] if at.outputs else ""
            if key in self._digests:
                waiting.pop()
                continue
            own, outer = self._attribute_key(at)
            names = [*at.inputs, *outer]
            before = [self._producers[n] for n in names if n in self._producers]
            missing = [n for n in before if n.outputs[0] not in self._digests and n is not at]
            if missing:
                waiting.extend(missing)
                continue
            parts = [at.title, str(at.version), repr(own)]
            parts += [self._digest_of(n) for n in names]
            if draws(at.source):
                parts.append(f"{next(onnx_model.COUNT)}.{id(self)}")
            self._digests[key] = digest("\n".join(parts))
            waiting.pop()
        return self._digests[node.outputs[0]]

    def _attribute_key(self, node: ModelNode) -> tuple[tuple[tuple[str, Any], ...], list[str]]:
        """Return the attributes of a node, and the names that its subgraphs read around it, but for constants."""

        def around(name: str) -> str | int:
            value = self.value(name)
            if isinstance(value, np.ndarray):
                made = self.tensor(value)
                if made.values is not None:
                    return digest_of_array(made.values)
            return id(value)

        def array(constant: TensorProto) -> np.ndarray[Any, Any]:
            return onnx_model.array(constant, str(node), self.graph.files)

        return attribute_key(node.source, self.graph.opsets, array, around)

    def _digest_of(self, name: str) -> str:
        if name in self._producers:
            node = self._producers[name]
            return f"{self._digests[node.outputs[0]]}.{node.outputs.index(name)}"
        if name in self.graph.constants:
            return digest_of_array(self.graph.constant(name))
        return f"input {name}"

    # ------------------------------------------------------------------ subgraphs

    def inside(self, graph: GraphProto, known: Mapping[str, Value]) -> list[Value]:
        """Return the outputs of a subgraph, with *known* for its inputs."""
        outer, outer_graph = self.values, self.graph
        self.values = ChainMap(dict(known), outer)
        self._inner += 1
        self.graph = onnx_model.inner(outer_graph, graph)
        try:
            self.run(self.graph.nodes)
            found = [self.value(name) for name in self.graph.outputs]
        finally:
            self.values, self.graph = outer, outer_graph
            self._inner -= 1
        if any(v is None for v in found):
            raise FormatError("an output of a subgraph is left out")
        return [v for v in found if v is not None]

    def joined(self, a: Value, b: Value) -> OutputType:
        """Return what two values have in common, of which one is taken."""
        if isinstance(a, Unshaped | Items) or isinstance(b, Unshaped | Items):
            return OutputType(None, None)
        left, right = self.tensor(a), self.tensor(b)
        dtype = left.dtype if left.dtype == right.dtype else None
        if left.rank != right.rank:
            return OutputType(dtype, None)
        entries = []
        for m, n, (lo, hi), (low, high) in zip(left.shape, right.shape, left.bounds(), right.bounds(), strict=True):
            if m == n:
                entries.append(m)
            else:
                most = (max(hi, high),) if hi is not None and high is not None else None
                entries.append(Unknown(max(min(lo or 0, low or 0), 0), most))
        return OutputType(dtype, tuple(entries))


def _is_known(title: str) -> bool:
    from symlayout import frontends

    return frontends.is_known(title)


_MOVING = frozenset(
    f"onnx:{op}"
    for op in (
        "Concat", "Unsqueeze", "Squeeze", "Reshape", "Slice", "Split", "Transpose", "Expand", "Tile", "Flatten",
        "Identity", "Pad", "DepthToSpace", "SpaceToDepth",
    )
)  # fmt: skip


def _stem(op: str) -> str:
    return re.sub(r"\W", "_", op[:40], flags=re.ASCII) if op[:1].isalpha() else f"op_{len(op)}"


def _is_range_of_dims(op: str, inputs: Sequence[Value | None]) -> bool:
    """Return whether a node counts up to an expression in dims: then its length is known, and its elements are not."""
    arrays = [v for v in inputs if isinstance(v, np.ndarray) and v.size == 1]
    return op == "Range" and len(arrays) == 3 and any(hasattr(n, "free_symbols") for v in arrays for n in v.flat)


def _may_have(node: ModelNode, count: int) -> bool:
    return onnx_types.most_outputs(node) >= count


# ---------------------------------------------------------------------- control flow


def _if(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    branches = {a.name: a.g for a in node.source.attribute if a.name in ("then_branch", "else_branch")}
    if len(branches) != 2 or len(inputs) != 1:
        raise FormatError(f"If has not a condition and two branches\n  in: {node}")
    condition = inputs[0]
    if isinstance(condition, np.ndarray) and condition.size == 1 and not hasattr(condition.item(), "free_symbols"):
        return self.inside(branches["then_branch" if condition.item() else "else_branch"], {})
    then, otherwise = (self.inside(branches[name], {}) for name in ("then_branch", "else_branch"))
    if len(then) != len(otherwise):
        raise FormatError(f"the branches have {len(then)} and {len(otherwise)} outputs\n  in: {node}")
    return self.opaque(node, inputs, [self.joined(a, b) for a, b in zip(then, otherwise, strict=True)])


def _loop(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    body = next((a.g for a in node.source.attribute if a.name == "body"), None)
    carried = inputs[2:]
    if body is None or len(body.input) != len(inputs) or len(body.output) < 1 + len(carried):
        raise FormatError(f"the body of the loop does not fit its inputs\n  in: {node}")
    state, results = _fixed_point(self, node, [v for v in carried if v is not None], lambda leaves: {
        body.input[0].name: tensor((), np.int64, "iteration"),
        body.input[1].name: tensor((), np.bool_, "condition"),
        **{x.name: leaf for x, leaf in zip(list(body.input)[2:], leaves, strict=True)},
    }, body, 1)  # fmt: skip
    trips = inputs[0]
    most = (trips.item(),) if isinstance(trips, np.ndarray) and trips.size == 1 and at_least(trips.item(), 0) else None
    count = Unknown(0, most)
    return self.opaque(node, inputs, [*state, *(_stacked(self, v, count) for v in results)])


def _scan(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> Sequence[Value | None]:
    body = next((a.g for a in node.source.attribute if a.name == "body"), None)
    scanned = next((int(a.i) for a in node.source.attribute if a.name == "num_scan_inputs"), 0)
    simple = not any(any(a.ints) for a in node.source.attribute if a.name in ("scan_input_axes", "scan_output_axes"))
    values = [v for v in inputs if v is not None]
    if body is None or not simple or node.version < 9 or len(body.input) != len(values) or not scanned:
        return self.opaque(node, inputs)
    count = len(values) - scanned
    rows = [self.tensor(v) for v in values[count:] if not isinstance(v, Items)]
    if any(t.rank < 1 for t in rows) or len(rows) != scanned:
        return self.opaque(node, inputs)
    slices = {
        x.name: tensor(t.shape[1:], t.dtype, "slice") for x, t in zip(list(body.input)[count:], rows, strict=True)
    }
    state, results = _fixed_point(self, node, values[:count], lambda leaves: {
        **{x.name: leaf for x, leaf in zip(body.input, leaves, strict=False)}, **slices,
    }, body, 0)  # fmt: skip
    return self.opaque(node, inputs, [*state, *(_stacked(self, v, SameAs(count, 0)) for v in results)])


def _fixed_point(
    self: OnnxEvaluation, node: ModelNode, first: list[Value], known: Any, body: GraphProto, skipped: int
) -> tuple[list[OutputType], list[Value]]:
    """Return the types of what a loop carries, which each pass keeps, and the values that one pass adds."""
    kinds: list[OutputType] = []
    for v in first:
        kinds.append(OutputType(None, None) if isinstance(v, Items | Unshaped) else _type(self.tensor(v)))
    for _ in range(MAX_LOOP_PASSES):
        leaves = [_leaf(kind, f"carried_{k}", node) for k, kind in enumerate(kinds)]
        found = self.inside(body, known(leaves))
        after = found[skipped : skipped + len(first)]
        joined = [
            OutputType(None, None) if kind.shape is None else self.joined(leaf, v)
            for kind, leaf, v in zip(kinds, leaves, after, strict=True)
        ]
        changed = False
        news = []
        for kind, leaf, new in zip(kinds, leaves, joined, strict=True):
            same = kind.shape is None or _kept(kind.shape, self.tensor(leaf).shape, new.shape)
            changed |= not same
            news.append(kind if same else _widened(kind, new))
        kinds = news
        if not changed:
            return kinds, found[skipped + len(first) :]
    kinds = [OutputType(kind.dtype, None) for kind in kinds]
    return kinds, [Unshaped(self.tensor(np.zeros(0))) for _ in found[skipped + len(first) :]]


def _kept(kind: tuple[Any, ...], before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
    """Return whether a pass keeps each extent that is not unknown already."""
    if after is None:
        return False
    return all(isinstance(e, Unknown) or a == b for e, a, b in zip(kind, before, after, strict=True))


def _type(t: Tensor) -> OutputType:
    return OutputType(t.dtype, tuple(t.shape))


def _widened(kind: OutputType, new: OutputType) -> OutputType:
    """Return the type with each extent that a pass changes unknown."""
    if new.shape is None or kind.shape is None:
        return OutputType(kind.dtype, None)
    pairs = zip(kind.shape, new.shape, strict=True)
    return OutputType(kind.dtype, tuple(a if a == b else Unknown() for a, b in pairs))


def _leaf(kind: OutputType, name: str, node: ModelNode) -> Value:
    if kind.shape is None:
        return Unshaped(tensor((), kind.dtype, name))
    unique = f"{name}.{next(onnx_model.COUNT)}"
    entries = [
        symbol_of(Dim(f"{name}.{axis}", e.least, None, process=unique)) if isinstance(e, Unknown) else e
        for axis, e in enumerate(kind.shape)
    ]
    return tensor(entries, kind.dtype, name)


def _stacked(self: OnnxEvaluation, value: Value, count: Any) -> OutputType:
    """Return the type of the values of all passes, one after the other."""
    if isinstance(value, Unshaped | Items):
        return OutputType(None, None)
    t = self.tensor(value)
    inside = [any(d.process for d in _dims(e, t)) for e in t.extents]
    return OutputType(t.dtype, (count, *(Unknown() if own else e for own, e in zip(inside, t.shape, strict=True))))


def _dims(e: Any, t: Tensor) -> list[Dim]:
    return [] if isinstance(e, int) else [t.facts.dims[n] for n in e.names if n in t.facts.dims]


_CONTROL = {"If": _if, "Loop": _loop, "Scan": _scan}

# ---------------------------------------------------------------------- sequences


def _sequence_construct(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    return [Items(tuple(v for v in inputs if v is not None))]


def _sequence_empty(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    return [Items(())]


def _sequence_insert(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence, value = inputs[0], inputs[1]
    if not isinstance(sequence, Items) or value is None:
        return None
    at = _place(inputs[2], len(sequence.elements) + 1) if len(inputs) > 2 else len(sequence.elements)
    return None if at is None else [Items((*sequence.elements[:at], value, *sequence.elements[at:]))]


def _sequence_at(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    if not isinstance(sequence, Items):
        return None
    at = _place(inputs[1], len(sequence.elements))
    return None if at is None else [sequence.elements[at]]


def _sequence_length(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    return [np.array(len(sequence.elements), np.int64)] if isinstance(sequence, Items) else None


def _split_to_sequence(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    data, split = inputs[0], inputs[1] if len(inputs) > 1 else None
    axis = next((a.i for a in node.source.attribute if a.name == "axis"), 0)
    keepdims = next((a.i for a in node.source.attribute if a.name == "keepdims"), 1)
    if not isinstance(data, Tensor) or not -data.rank <= axis < data.rank:
        return None
    extent = data.shape[axis]
    if isinstance(split, np.ndarray) and split.ndim == 1:
        sizes = list(split)
    elif not isinstance(extent, int) or extent > _MAX_PARTS:
        return None
    elif split is None:
        sizes = [1] * extent
    elif isinstance(split, np.ndarray) and split.size == 1 and isinstance(split.item(), int) and split.item() > 0:
        step = split.item()
        sizes = [min(step, extent - start) for start in range(0, extent, step)]
    else:
        return None
    parts = self.declared(["onnx:Split"], [data, np.array(sizes, object)], {"axis": axis}, str(node))
    if parts is not None and split is None and not keepdims:
        parts = [_one(self.declared(["onnx:Squeeze"], [p, np.array([axis])], {}, str(node))) for p in parts]
    return None if parts is None else [Items(tuple(parts))]


def _concat_from_sequence(self: OnnxEvaluation, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
    sequence = inputs[0]
    axis = next((a.i for a in node.source.attribute if a.name == "axis"), 0)
    stacked = next((a.i for a in node.source.attribute if a.name == "new_axis"), 0)
    if not isinstance(sequence, Items) or not sequence.elements:
        return None
    parts: list[Value | None] = list(sequence.elements)
    if stacked:
        parts = [_one(self.declared(["onnx:Unsqueeze"], [p, np.array([axis])], {}, str(node))) for p in parts]
    return self.declared(["onnx:Concat"], parts, {"axis": axis}, str(node))


def _one(results: list[Value] | None) -> Value:
    assert results is not None
    return results[0]


def _place(value: Value | None, count: int) -> int | None:
    if not isinstance(value, np.ndarray) or value.size != 1 or not isinstance(at := value.item(), int):
        return None
    return at % count if count and -count <= at < count else None


_MAX_PARTS = 1024
_SEQUENCES = {
    "SequenceConstruct": _sequence_construct,
    "SequenceEmpty": _sequence_empty,
    "SequenceInsert": _sequence_insert,
    "SequenceAt": _sequence_at,
    "SequenceLength": _sequence_length,
    "SplitToSequence": _split_to_sequence,
    "ConcatFromSequence": _concat_from_sequence,
}

# ---------------------------------------------------------------------- constants and inputs


def _leaves(inputs: tuple[Input, ...]) -> list[Tensor]:
    """Return the leaf of each input; what is called alike in their shapes is one dim."""
    trees: dict[str, Tree] = {}
    for name in (n for x in inputs for n in x.shape or () if isinstance(n, str)):
        if name not in trees and (tree := _expression(name)) is not None:
            trees[name] = tree
    dims = {name: dim(name, *bounds) for name, bounds in names_of(*trees.values()).items()}
    taken = set(dims)
    sizes = {name: evaluate(tree, dims) for name, tree in trees.items()}
    for name in (n for x in inputs for n in x.shape or () if isinstance(n, str)):
        if name not in sizes:
            sizes[name] = dim(identifier(name, taken))
    names: set[str] = set()
    return [
        tensor(
            None if x.shape is None else [sizes[n] if isinstance(n, str) else n for n in x.shape],
            x.dtype,
            identifier(x.name, names),
        )
        for x in inputs
    ]


def _expression(text: str) -> Tree | None:
    """Return an extent such as ``N`` or ``2*h + 1``; None for a name that is nothing of the kind."""
    if not re.fullmatch(r"[\w+* -]{1,80}", text, re.ASCII) or not re.search(r"[^\W\d]", text) or "**" in text:
        return None
    try:
        (tree,) = parse_shape(text)
    except (FormatError, ValueError):
        return None
    return tree
