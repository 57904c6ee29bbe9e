"""Read an ONNX model: from its nodes to its values as tensors."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.algebra.facts import Facts
from symlayout.deadlines import at_phase, check_time
from symlayout.errors import FormatError, ShapeError, SymlayoutError, shortened
from symlayout.frontends.onnx.operator import known_number
from symlayout.frontends.registry import is_attribute_error
from symlayout.language.grammar_trees import Tree
from symlayout.language.parse import evaluate, names_of, parse_shape
from symlayout.language.sympy_bridge import dim, extreme
from symlayout.models import onnx_model, onnx_types, onnx_values
from symlayout.models.apply_node import identifier
from symlayout.models.arithmetic.shape_arithmetic import OPS, exact_target, required, settled
from symlayout.models.evaluate_graph import Evaluation, has_expressions
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Items, Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.onnx_model import Input, OnnxGraph
from symlayout.models.onnx_nodes import schemas
from symlayout.models.onnx_nodes.control_flow import CONTROL_FLOW
from symlayout.models.onnx_nodes.sequences import SEQUENCES
from symlayout.models.onnx_subgraphs import outer_names, standard, version_of
from symlayout.models.onnx_values import dtype_of
from symlayout.models.opaque import OutputType, opaque
from symlayout.models.subgraph_keys import (
    CONSTANTS,
    RANDOM,
    TOTAL,
    attribute_key,
    constant_of,
    digest,
    digest_of_array,
    draws,
)
from symlayout.tensors.apply_operation import operand_of
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.element_types import STRING
from symlayout.tensors.input_tensor import tensor

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

_PARTS_ARE_STATED = 18  # since this version, Split has no equal parts without their number
MAX_NODES = 50_000  # plus the inputs

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
    if (count := len(graph.nodes) + len(graph.unused) + len(graph.inputs)) > MAX_NODES:
        raise FormatError(f"model has {count} nodes and inputs, at most {MAX_NODES} are read")
    evaluation = settled(lambda exact: _evaluated(graph, exact, known, same_bits), count)
    inputs = {x.name: evaluation.shown(evaluation.values[x.name], x.name) for x in graph.inputs}
    outputs: dict[str, Tensor | Unshaped] = {}
    for name in graph.outputs:
        value = evaluation.value(name)
        assert value is not None
        outputs[name] = evaluation.shown(value, name)
    values: dict[str, Any] = dict(evaluation.values)
    for name in graph.constants:
        values.setdefault(name, lambda name=name: graph.constant(name))
    by_runtime = {name for name, value in evaluation.values.items() if evaluation.is_by_runtime(value)}
    tensors = Tensors(values, evaluation.shown, by_runtime)
    return Model(
        file,
        "ONNX",
        inputs,
        outputs,
        tensors,
        evaluation.nodes,
        graph.source,
        evaluation.demands,
        unused=evaluation.unused,
        demanded_by=evaluation.demanded_by,
        partial=evaluation.partial,
        assumed=evaluation.assumed,
        notes=graph.notes,
    )


def _evaluated(
    graph: OnnxGraph, exact: Collection[Any], known: KnownDims, same_bits: bool
) -> tuple[OnnxEvaluation, set[Any]]:
    """Return the values of the graph, and the rounded quotients that some node requires to be exact.

    *exact* holds the quotients already known to be exact, from an earlier evaluation; earlier nodes use them, too.
    """
    evaluation = OnnxEvaluation(graph, exact, same_bits=same_bits)
    for x, leaf in zip(graph.inputs, _leaves(graph.inputs), strict=True):
        if isinstance(leaf, Tensor):
            leaf = required(known.of_leaf(leaf), exact)
            evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
        evaluation.define(x.name, leaf)
    evaluation.nodes = tuple(evaluation.run(graph.nodes))
    evaluation.unused = tuple(evaluation.run(graph.unused))
    return evaluation, evaluation.exact | evaluation.shapes.supposed


class OnnxEvaluation(Evaluation):
    """The values of an ONNX graph."""

    def __init__(self, graph: OnnxGraph, exact: Collection[Any], *, same_bits: bool = False) -> None:
        super().__init__({}, exact, len(graph.nodes), same_bits=same_bits)
        self.graph = graph
        self.exact = set(exact)
        self.nodes: tuple[ModelNode, ...] = ()
        self.unused: tuple[ModelNode, ...] = ()
        self._in_bodies: dict[int, list[Tensor]] = {}  # what demands something in a subgraph that may not run, by id
        self._partial_in: dict[int, list[Tensor]] = {}  # what there may not be valid for all elements
        self._origins: MutableMapping[str, ModelNode | str | None] = {}  # nodes, or texts of what a pass starts with
        self._digests: dict[int, tuple[ModelNode, str]] = {}  # of nodes, by id
        self._checks = schemas.Checks()
        self.loops = 0  # how many loops the evaluation is inside

    def value(self, name: str) -> Value | None:
        """Return what is called *name*; constants are read when they are first asked for."""
        if not name:
            return None
        if name not in self.values:
            if name not in self.graph.constants:
                raise FormatError(f"{shortened(name)!r} is read before it is defined")
            self.values[name] = self.graph.constant(name)
        return self.values[name]

    def run(self, nodes: Iterable[NodeProto]) -> list[ModelNode]:
        """Compute the values of *nodes*, which are in order, and return the nodes."""
        made = []
        protos = list(nodes)
        for k, proto in enumerate(protos):
            check_time()
            at_phase("read", k, len(protos))
            domain, version = standard(proto.domain), version_of(proto, self.graph.opsets)
            node = ModelNode(proto.name, proto.op_type, domain, tuple(proto.input), tuple(proto.output), version, proto)
            made.append(node)
            self._origins.update(dict.fromkeys(filter(None, node.outputs), node))
            results = self.computed(node)
            schemas.check_results(node, len(results))
            for name, value in zip(node.outputs, results, strict=False):
                if name and value is not None:
                    self.define(name, value)
        return made

    # ------------------------------------------------------------------ one node

    def computed(self, node: ModelNode) -> Sequence[Value | None]:
        """Return the outputs of a node."""
        self.partly = None
        inputs = [self.value(name) for name in node.inputs]
        if not node.domain or node.domain in self.graph.opsets:  # else the version is not known
            self._checks.check(node, inputs, self._origins)
        op = node.op_type if not node.domain else ""
        if op == "Constant" and any(a.name in CONSTANTS for a in node.source.attribute):
            return [constant_of(node.source)]
        if op == "Identity" and len(inputs) == 1 and isinstance(inputs[0], Unshaped | Items):
            return inputs
        if op in CONTROL_FLOW:
            return CONTROL_FLOW[op](self, node, inputs)
        if op == "NonZero" and isinstance(inputs[0], np.ndarray) and _is_small_array(inputs[0]):
            return [np.array(np.nonzero(inputs[0]), np.int64)]
        if op == "ConstantOfShape" and (filled := self._filled(node, inputs)) is not None:
            return filled
        if op in SEQUENCES and (made := SEQUENCES[op](self, node, inputs)) is not None:
            return made
        if op == "Reshape" and len(inputs) == 2:
            copies = not any(a.name == "allowzero" and a.i for a in node.source.attribute)
            inputs[1], quotients = exact_target(*inputs, copies=copies)  # type: ignore[arg-type]
            self.exact |= quotients
        if op == "Slice" and len(inputs) > 2:
            inputs[2] = self.ends_of(inputs[0], inputs[2], inputs[3] if len(inputs) > 3 else None)
        ends = self.ends_of_range(inputs) if op == "Range" else None
        results: list[Value] | None = None
        self.undeclared = None
        if ends is None:
            results = self._declared(node, op, inputs)
        elif self.counts_up(ends):
            results = [self.range_of(inputs, ends)]
        if results is None:
            return self.opaque(node, inputs, self._types_of_odd(node))
        if len(results) < len(node.outputs) and schemas.may_leave_out_outputs(node):
            return [*results, *self.opaque(node, inputs)[len(results) :]]
        return results

    def _types_of_odd(self, node: ModelNode) -> list[OutputType | None] | None:
        """Return what is known of the outputs where the operation's own row says it, whatever the file states.

        That is nothing if a flag is no truth value, whose meaning runtimes choose.
        """
        if self.undeclared is None or (self.undeclared.kind != "attr_dtype" and self.undeclared.result is None):
            return None
        types = [OutputType(None, None) if name else None for name in node.outputs]
        if self.undeclared.result is not None and types and types[0] is not None:
            dtype, shape = self.undeclared.result
            types[0] = OutputType(dtype, tuple(shape))
        return types

    def _declared(self, node: ModelNode, op: str, inputs: list[Value | None]) -> list[Value] | None:
        """Return the outputs by the operation's declaration; None if it has none, or does not take these inputs."""
        titles = [f"{node.title}-{schemas.since_version(node)}", node.title] if op else [node.title]
        if op and schemas.schema(node) is None:
            titles.append(f"microsoft:{op}")  # onnxruntime writes some of its operators in the standard's domain
        on_shape = bool(op) and self.is_shape_node(op, inputs)
        title = op if op in OPS else node.title
        if op == "Cast" and self._attributes(node).get("to") == STRING:
            return None
        row = next((t for t in titles if _is_known(t)), None)
        if op in RANDOM or not (row or (on_shape and op in OPS)):
            return None
        attributes = self._attributes(node)
        if row:
            attributes = {**schemas.other_defaults(node, row), **attributes}
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
            if is_attribute_error(error):  # the standard knows the attribute, the declaration does not
                return None
            raise
        if results is None:
            return None
        self.elements.note(op, inputs, given, results)
        results = self.with_choices(title, inputs, given, self.folded(results, inputs), str(node))
        return self.with_reals(op, inputs, given, results, str(node))

    def _filled(self, node: ModelNode, inputs: list[Value | None]) -> list[Value] | None:
        """Return the value of a ConstantOfShape whose shape holds expressions: one element, broadcast."""
        shape = inputs[0] if inputs else None
        if not isinstance(shape, np.ndarray) or not any(hasattr(n, "free_symbols") for n in shape.reshape(-1)):
            return None
        value = self._attributes(node).get("value", np.zeros(1, np.float32))
        return self.declared(["onnx:Expand"], [np.asarray(known_number("value", value)), shape], {}, str(node))

    def _attributes(self, node: ModelNode, *, raw: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = onnx_values.attributes(node.source)
        found = {_RENAMED.get(node.op_type, {}).get(name, name): value for name, value in found.items()}
        if raw or node.domain:
            return found
        if node.op_type == "Cast" and "to" in found:
            found["to"] = dtype_of(found["to"], str(node))
        if node.op_type == "Split" and len(node.inputs) < 2 and not {"split", "num_outputs"} & found.keys():
            if node.version >= _PARTS_ARE_STATED:
                raise FormatError(f"neither split nor num_outputs is given\n  in: {node}")
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
        self,
        node: ModelNode,
        inputs: Sequence[Value | None],
        types: Sequence[OutputType | None] | None = None,
        bodies: Sequence[Sequence[Value]] = (),
    ) -> list[Value | None]:
        """Return the outputs of a node as functions of whole operands, those of its subgraphs too.

        Parameters
        ----------
        types : sequence, optional
            What is known of the outputs.
        bodies : sequence of sequence
            What each subgraph returns.  These values are operands if they demand no more of the sizes than the other
            operands do: a branch may never be taken.  Otherwise the subgraphs are compared as text.
        """
        partly = self.partly if types is None else None
        operands: list[Tensor | None] = []
        for name, value in zip(node.inputs, inputs, strict=True):
            if isinstance(value, Items):
                operands.extend(self.tensor(v, name) for v in value.elements)
            else:
                operands.append(None if value is None else self.tensor(value, name))
        count = len(inputs) if len(operands) == len(inputs) else 0  # `SameAs` counts inputs
        attributes: tuple[tuple[str, Any], ...] = (("version", schemas.since_version(node)),)
        outer: list[Value | None] = []
        returned = self._returned(node, operands, bodies)
        if returned is not None:
            operands += returned[0]
            attributes += (*_without_graphs(node), ("bodies", returned[1]))
        else:
            key, names = self._attribute_key(node)
            attributes += key
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
            types = types if partly is None else partly.merged(types)
        digest = self.digest_of(node)
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
                total=not node.domain and node.op_type in RANDOM and node.op_type in TOTAL,
                demands=() if partly is None else partly.demands,
            )
        )

    def _returned(
        self, node: ModelNode, operands: Sequence[Tensor | None], bodies: Sequence[Sequence[Value]]
    ) -> tuple[list[Tensor], tuple[int, ...]] | None:
        """Return what subgraphs return, if they demand no more of the sizes than what they and their node read.

        Origins of extents stand before that, then what may not be valid for all elements, returned or not: it is
        refused in its own subgraph only.  The second value is how many there are: of origins, and in each subgraph.
        """
        if not bodies or any(isinstance(value, Items) for values in bodies for value in values):
            return None
        graphs = [id(a.g) for a in sorted(node.source.attribute, key=lambda a: a.name) if a.type == a.GRAPH]
        demanding = [t for key in graphs for t in self._in_bodies.get(key, ())]
        partial = [self._partial_in.get(key, ()) for key in graphs]
        returned = [t for each in partial for t in each] + [self.tensor(v) for values in bodies for v in values]
        around = [self.value(name) for name in outer_names(node.source)]
        read = [self.tensor(value) for value in around if value is not None and not isinstance(value, Items)]
        read += [t for t in operands if t is not None]
        facts = operand_of(node.title, read).facts.fork() if read else Facts()
        dims, demands = set(facts.dims), len(facts.requirements)
        try:
            _merge(facts, [*returned, *demanding])
            origins = self._unread_origins(returned, facts.dims.keys() - dims)
            _merge(facts, origins)
        except ShapeError:  # a branch is valid for no sizes for which the others are
            return None
        counts = len(origins), *map(len, (*partial, *bodies))
        return None if len(facts.requirements) > demands else ([*origins, *returned], counts)

    def _unread_origins(self, returned: Sequence[Tensor], own: Collection[str]) -> list[Tensor]:
        """Return the values whose extents, dims of their *own*, subgraphs return without reading their elements."""
        found: list[Tensor] = []
        seen: set[int] = set()
        waiting = list(returned) if own else []
        while waiting:
            nodes = [node for node in graph_of(waiting) if id(node) not in seen]
            seen |= {id(node) for node in nodes}
            read = {id(node): {name for x in node.inputs for name in x.facts.dims} for node in nodes}
            own = {*own} - {n for t in nodes if t.body is not None for n in t.facts.dims.keys() - read[id(t)]}
            shown = dict.fromkeys(name for t in waiting for name in t.facts.dims if name in own)
            places = {id(t): t for t, _ in (self._places[name] for name in shown if name in self._places)}
            waiting = [t for key, t in places.items() if key not in seen]
            found = [*waiting, *found]  # a value stands after those that it has extents of
        return found

    def _by_shape_inputs(
        self, node: ModelNode, inputs: Sequence[Value | None], types: list[OutputType | None]
    ) -> list[OutputType | None]:
        """Give the output the shape that an input holds as expressions in dims."""
        known = types[0] if types else None
        if known is None or node.domain:
            return types
        shape: tuple[Any, ...] | None = None
        if node.op_type == "Range" and (ends := self.ends_of_range(inputs)) is not None:
            start, limit, delta = ends
            if isinstance(delta, int) and delta:
                span, step = (limit - start, delta) if delta > 0 else (start - limit, -delta)
                span = span if self.shapes.at_least(span, 0) else extreme("max", (span, 0))
                shape = (-(-span // step),)
        if node.op_type == "Resize":
            shape = self._resized(node, inputs)
        return types if shape is None else [OutputType(known.dtype, shape), *types[1:]]

    def _resized(self, node: ModelNode, inputs: Sequence[Value | None]) -> tuple[Any, ...] | None:
        """Return the shape of a Resize by scales that are computed from dims."""
        if len(inputs) < 2:
            return None
        data, scales = inputs[0], inputs[2 if len(inputs) > 2 else 1]
        axes = next((a.ints for a in node.source.attribute if a.name == "axes"), ())
        factors = self.reals_of(scales)
        if not isinstance(data, Tensor) or factors is None or axes or factors.shape != (data.rank,):
            return None
        sizes = self.shapes.reals("Mul", [np.array(data.shape, object), factors], {}, str(node))
        whole = None if sizes is None else self.shapes.integers_of(sizes)
        return None if whole is None else tuple(whole)

    def digest_of(self, node: ModelNode) -> str:
        """Return text that two nodes share only if they compute equal values, in this and in other models.

        In the body of a loop, they do in each pass of it.
        """
        waiting = [node]
        while waiting:
            at = waiting[-1]
            if id(at) in self._digests:
                waiting.pop()
                continue
            own, outer = self._attribute_key(at)
            names = [*at.inputs, *outer]
            before = [self._origins.get(n) for n in names if self._constant(n) is None]
            missing = [n for n in before if isinstance(n, ModelNode) and id(n) not in self._digests and n is not at]
            if missing:
                waiting.extend(missing)
                continue
            parts = [at.title, str(at.version), repr(own)]
            parts += [self._digest_of_value(n) for n in names]
            if draws(at.source):
                parts.append(f"{next(onnx_model.COUNT)}.{id(self)}")
            self._digests[id(at)] = at, digest("\n".join(parts))
            waiting.pop()
        return self._digests[id(node)][1]

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
            return onnx_values.array(constant, str(node), self.graph.files)

        return attribute_key(node.source, self.graph.opsets, array, around)

    def _constant(self, name: str) -> np.ndarray[Any, Any] | None:
        """Return what a node makes if that is the same constant in all runtimes, however it is made."""
        value = self.values.get(name)
        if value is None or self.is_by_runtime(value):
            return None
        if isinstance(value, Tensor):
            return value.values
        return self.tensor(value, name).values if isinstance(value, np.ndarray) and not has_expressions(value) else None

    def _digest_of_value(self, name: str) -> str:
        origin = self._origins.get(name)
        if isinstance(origin, ModelNode):
            constant = self._constant(name)
            if constant is not None:
                return digest_of_array(constant)
            return f"{self._digests[id(origin)][1]}.{origin.outputs.index(name)}"
        if origin is not None:
            return origin
        if name in self.graph.constants:
            return digest_of_array(self.graph.constant(name))
        return f"input {name}"

    # ------------------------------------------------------------------ subgraphs

    def inside(
        self, node: ModelNode, graph: GraphProto, known: Mapping[str, Value], text: str = "", *, runs: bool = False
    ) -> list[Value]:
        """Return the outputs of a subgraph of a node, with *known* for its inputs; *text* tells these from others.

        What its nodes demand is a demand of the model if it *runs* whenever the node does.
        """
        for name in outer_names(node.source):  # what is around is known by its digest
            if isinstance(origin := self._origins.get(name), ModelNode):
                self.digest_of(origin)
        outer, outer_graph, origins = self.values, self.graph, self._origins
        self.values = ChainMap(dict(known), outer)
        own: dict[str, ModelNode | str | None] = dict.fromkeys(t.name for t in graph.initializer)
        self._origins = ChainMap(own | {name: f"{text} {place}" for place, name in enumerate(known)}, origins)
        self.loops += bool(known)
        self.graph = onnx_model.inner(outer_graph, graph)
        before = self.demands, self.demanded_by, self.partial, self._stated, self._known_facts, self._walked
        if not runs:
            self.demands, self.demanded_by, self.partial = {}, {}, []
            self._stated, self._known_facts, self._walked = {*self._stated}, {**self._known_facts}, {**self._walked}
        try:
            self.run(self.graph.nodes)
            found = [self.value(name) for name in self.graph.outputs]
            if not runs:
                self._in_bodies[id(graph)] = list(self.demanded_by.values())
                self._partial_in[id(graph)] = self.partial
        finally:
            if not runs:
                self.demands, self.demanded_by, self.partial, self._stated, self._known_facts, self._walked = before
            self.values, self.graph, self._origins = outer, outer_graph, origins
            self.loops -= bool(known)
        if any(v is None for v in found):
            raise FormatError("an output of a subgraph is left out")
        return [v for v in found if v is not None]


def _merge(facts: Facts, tensors: Iterable[Tensor]) -> None:
    for t in tensors:
        if not facts.includes(t.facts):
            facts.merge(t.facts)


def _without_graphs(node: ModelNode) -> list[tuple[str, Any]]:
    """Return the attributes of a node that are no subgraphs, as plain values, sorted by name."""
    plain = [a for a in node.source.attribute if a.type not in (a.GRAPH, a.GRAPHS)]
    return sorted((a.name, (int(a.type), onnx_values.plain_attribute(a))) for a in plain)


def _is_known(title: str) -> bool:
    return frontends.is_known(title)


_MOVING = frozenset(
    f"onnx:{op}"
    for op in (
        "Concat", "Unsqueeze", "Squeeze", "Reshape", "Slice", "Split", "Transpose", "Expand", "Tile", "Flatten",
        "Identity", "Pad", "DepthToSpace", "SpaceToDepth",
    )
)  # fmt: skip


def _is_small_array(value: np.ndarray[Any, Any]) -> bool:
    return value.ndim > 0 and value.size <= MAX_CONSTANT and not has_expressions(value)


def _stem(op: str) -> str:
    return re.sub(r"\W", "_", op[:40], flags=re.ASCII) if op[:1].isalpha() else f"op_{len(op)}"


# ---------------------------------------------------------------------- constants and inputs


def _leaves(inputs: tuple[Input, ...]) -> list[Tensor | Unshaped]:
    """Return the leaf of each input; what is called alike in their shapes is one dim."""
    stated = {n: None for x in inputs for n in x.shape or () if isinstance(n, str)}
    trees = {name: tree for name in stated if (tree := _expression(name, stated)) is not None}
    dims = {name: dim(name, *bounds) for name, bounds in names_of(*trees.values()).items()}
    taken = set(dims)
    sizes = {name: evaluate(tree, dims) for name, tree in trees.items()}
    for name in (n for x in inputs for n in x.shape or () if isinstance(n, str)):
        if name not in sizes:
            sizes[name] = dim(identifier(name, taken))
    names: set[str] = set()
    leaves: list[Tensor | Unshaped] = []
    for x in inputs:
        name = identifier(x.name, names)
        if x.shape is None:
            leaves.append(Unshaped(tensor((), x.dtype, name), x.kind))
        else:
            leaves.append(tensor([sizes[n] if isinstance(n, str) else n for n in x.shape], x.dtype, name))
    return leaves


def _expression(text: str, stated: Collection[str]) -> Tree | None:
    """Return an extent such as ``N`` or ``2*h + 1``; None for a name that is nothing of the kind.

    The standard has names only, and exporters write expressions.  ``batch-size`` and ``a+b`` are names, unless all
    names in them are extents of the inputs too: of the *stated* ones.
    """
    if not re.fullmatch(r"[\w+* -]{1,80}", text, re.ASCII) or not re.search(r"[^\W\d]", text) or "**" in text:
        return None
    try:
        (tree,) = parse_shape(text)
    except (FormatError, ValueError):
        return None
    names = names_of(tree).keys()
    return tree if names <= set(stated) or ("-" not in text and len(names) == 1) else None
