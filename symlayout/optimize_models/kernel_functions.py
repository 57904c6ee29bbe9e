"""Regions of movement as local functions of a model, with a C kernel for each.

A function has the region's own nodes as its body: all runtimes run it, and `verify` reads it.  onnxruntime runs the
kernel where a library with an operator of the same name is registered.  The name is a digest of the body and of the
shapes, so that two different movements never have one name.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING

from symlayout.errors import FormatError, SymlayoutError, one_line, shortened
from symlayout.models.model import Model
from symlayout.models.onnx_subgraphs import has_graphs
from symlayout.models.onnx_values import number_of
from symlayout.optimize_models.movement_cost import Cost, Movement, bytes_of, cost_of
from symlayout.optimize_models.movement_regions import is_end
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.spell_movement import is_below
from symlayout.run.bound_kernels import BoundKernel, solve
from symlayout.run.lower import lower
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import FunctionProto, ModelProto, NodeProto, TensorProto

DOMAIN = "symlayout"
_VERSION = 1  # of the domain's operators
_LEAST_IR = 8  # the first version of the format that has local functions
_EARLIER_IR = 4  # before this version, initializers are inputs
_MOST_COPIED = 1024  # bytes of a constant that a body holds itself
_MOVED_AS_BYTES = frozenset((*range(1, 8), *range(9, 17)))  # ONNX's numbers of element types of whole bytes


def call_kernels(model: Model, kept: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with a function for each region that one kernel moves with fewer bytes, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    """
    graph = EditedGraph(model.source)
    if model.source.ir_version < _EARLIER_IR:
        return graph.finish(), []
    changes = _Functions(graph, model, kept).run()
    return graph.finish(), changes


def kernels_of(model: Model) -> list[BoundKernel]:
    """Return the kernels of the functions that a model calls, each once.

    Raises
    ------
    FormatError
        A function is not what its name says.
    """
    functions = {f.name: f for f in model.source.functions if f.domain == DOMAIN}
    tensors = Movement(model).tensors if functions else {}
    found: dict[str, BoundKernel] = {}
    for node in model.source.graph.node:
        if node.domain != DOMAIN or node.op_type in found:
            continue
        function = functions.get(node.op_type)
        kernel = None
        if function is not None:
            kernel = _kernel(function, node.input, node.output[0], tensors)
        if kernel is None or kernel.name != node.op_type:
            where = f"function {shortened(node.op_type)!r}"
            raise FormatError(f"{where} is not one that symlayout wrote\n  help: optimize the model again")
        found[kernel.name] = kernel
    return list(found.values())


def _kernel(
    function: FunctionProto, inputs: Iterable[str], output: str, tensors: Mapping[str, Tensor | None]
) -> BoundKernel | None:
    """Return the kernel that makes a value of others; None if there is none.

    Its name is the digest of the function's body, whatever the function is called.
    """
    given = [tensors.get(name) for name in inputs]
    value = tensors.get(output)
    if value is None or any(t is None for t in given):
        return None
    read = [t for t in given if t is not None]
    leaves = [Tensor(f"x{k}", t.dtype, t.extents, t.facts, key=f"x{k}") for k, t in enumerate(read)]
    moved = rebased(value, {id(t): leaf for t, leaf in zip(read, leaves, strict=True)})
    if moved is None or not moved.leaves() or not {t.key for t in moved.leaves()} <= {leaf.key for leaf in leaves}:
        return None
    numbers = [number_of(t.dtype) for t in (*read, value)]
    if any(d.process for d in moved.facts.dims.values()):  # a number that the data tells
        return None
    if solve(moved, leaves) is None or not _MOVED_AS_BYTES.issuperset(numbers):
        return None
    types = tuple(n for n in numbers if n is not None)
    told: list[list[str]] = [[str(n), *(str(e) for e in t.shape)] for n, t in zip(types, (*read, value), strict=True)]
    told.append([str(r) for r in moved.requires])
    text = [function.opset_import[0].SerializeToString(), *(node.SerializeToString() for node in function.node)]
    digest = hashlib.sha256(repr((text, told)).encode()).hexdigest()[:16]
    return BoundKernel(f"move_{digest}", moved, tuple(leaves), types)


class _Functions:
    """The functions that take the place of regions."""

    def __init__(self, graph: EditedGraph, model: Model, kept: Set[str]) -> None:
        self.graph, self.model, self.kept = graph, model, kept
        self.movement = Movement(model)
        self.made_by, self.captured = graph.producers(), graph.captured()
        self.readers = graph.readers()
        self.constants = {t.name: t for t in model.source.graph.initializer}
        self.given = {v.name for v in model.source.graph.input}
        self.order = {id(node): k for k, node in enumerate(graph.nodes)}
        self.taken: set[int] = set()
        self.functions = {f.name for f in model.source.functions if f.domain == DOMAIN}

    def run(self) -> list[Rewritten]:
        changes = []
        for name in [n for node in reversed(self.graph.nodes) for n in node.output]:
            if name in self.movement.sources and name not in self.kept and self._is_end(name):
                change = self._call(name)
                if change is not None:
                    changes.append(change)
        changes.reverse()
        return changes

    def _is_end(self, name: str) -> bool:
        return is_end(name, self.movement, self.readers, self.graph.outputs | self.captured)

    def _call(self, name: str) -> Rewritten | None:
        """Let a function make a value if that saves bytes; return what was done, or None."""
        value = self.movement.tensors[name]
        region = self._region(name)
        if value is None or not region:
            return None
        below = cost_of(region, self.movement.tensors, self.movement.sources)
        cost = _one_write(value)
        if cost.typical() >= below.typical() or not is_below(cost, below, value):
            return None
        made = self._function(name, region)
        if made is None:
            return None
        function, inputs = made
        self._replace(name, region, function, inputs)
        ops = ", ".join(n.op_type for n in region if n.op_type != "Constant")
        read = ", ".join(one_line(n) for n in inputs)
        return Rewritten(name, f"{one_line(name)} from {read}: {ops} became {function.name}", ends=(name,))

    def _region(self, name: str) -> list[NodeProto]:
        """Return the nodes that only this value needs: what moves, and what computes shapes."""
        found: dict[int, NodeProto] = {}
        waiting = [self.made_by[name]]
        while waiting:
            node = waiting.pop()
            outputs = [out for out in node.output if out]
            if id(node) in found or id(node) in self.taken or node.domain == DOMAIN or not self._may_join(node):
                continue
            if any(out != name and self._is_read_elsewhere(out, found) for out in outputs):
                continue
            found[id(node)] = node
            waiting += [self.made_by[n] for n in node.input if n in self.made_by]
        return sorted(found.values(), key=lambda node: self.order[id(node)])

    def _is_read_elsewhere(self, name: str, inside: Mapping[int, NodeProto]) -> bool:
        if name in self.graph.outputs or name in self.captured:
            return True
        return any(id(reader) not in inside for reader in self.readers.get(name, []))

    def _may_join(self, node: NodeProto) -> bool:
        if node.domain not in ("", "ai.onnx") or has_graphs(node):
            return False
        outputs = [out for out in node.output if out]
        if node.op_type == "Constant":
            return True
        return all(out in self.movement.sources or self._is_shape(out) for out in outputs)

    def _is_shape(self, name: str) -> bool:
        t = self.movement.tensors.get(name)
        return t is not None and t.rank <= 1 and t.dtype is not None and t.dtype.kind in "iu"

    def _function(self, name: str, region: list[NodeProto]) -> tuple[FunctionProto, list[str]] | None:
        """Return the function with the region's nodes, and the values that it reads; None if no kernel does it."""
        from onnx import helper

        inside = {out for node in region for out in node.output if out}
        read = list(dict.fromkeys(n for node in region for n in node.input if n and n not in inside))
        copied = [n for n in read if self._is_copied(n)]
        inputs = [n for n in read if n not in copied]
        spare = [n for n in self.model.inputs if n not in inputs]
        while True:
            nodes = [helper.make_node("Constant", [], [n], value=self.constants[n]) for n in copied] + region
            function = self._named(nodes, inputs, name)
            try:
                kernel = _kernel(function, inputs, name, self.movement.tensors)
                if kernel is not None:
                    lower(kernel.tensor, kernel.name)
                    function.name = kernel.name
                    function.doc_string = str(kernel.tensor.index_map)[:_MOST_COPIED]
                    return function, inputs
            except SymlayoutError:  # C cannot do it
                return None
            if not spare:
                return None
            inputs.append(spare.pop(0))  # its shape may tell the dims that are not known

    def _is_copied(self, name: str) -> bool:
        """Return whether a body holds a constant itself."""
        tensor: TensorProto | None = self.constants.get(name)
        if tensor is None or name in self.given or tensor.external_data:
            return False
        t = self.movement.tensors.get(name)
        if t is None or self._is_shape(name):
            return int(tensor.ByteSize()) <= _MOST_COPIED
        return t.rank == 0 and t.values is not None

    def _named(self, nodes: list[NodeProto], inputs: list[str], output: str) -> FunctionProto:
        """Return a function of these nodes, with names that do not depend on the model's."""
        from onnx import AttributeProto, NodeProto, helper

        names = {n: f"x{k}" for k, n in enumerate(inputs)}
        for node in nodes:
            for out in node.output:
                if out:
                    names[out] = f"v{len(names)}"
        names[output] = "y"
        body = []
        for node in nodes:
            made = NodeProto()
            made.CopyFrom(node)
            made.ClearField("name")
            made.ClearField("doc_string")
            for field in (made.input, made.output):
                field[:] = [names[n] if n else "" for n in field]
            for a in made.attribute:
                if a.type == AttributeProto.TENSOR:
                    a.t.ClearField("name")
            body.append(made)
        opsets = [helper.make_opsetid("", self.graph.opset)]
        return helper.make_function(DOMAIN, "move", [names[n] for n in inputs], ["y"], body, opsets)

    def _replace(self, name: str, region: list[NodeProto], function: FunctionProto, inputs: list[str]) -> None:
        from onnx import helper

        graph = self.graph
        call = graph.node(function.name, inputs, name, domain=DOMAIN)
        graph.insert([call], before=self.made_by[name])
        gone = {id(node) for node in region}
        graph.nodes = [node for node in graph.nodes if id(node) not in gone]
        self.taken |= gone
        message = graph.message
        if function.name not in self.functions:
            self.functions.add(function.name)
            message.functions.append(function)
        if all(o.domain != DOMAIN for o in message.opset_import):
            message.opset_import.append(helper.make_opsetid(DOMAIN, _VERSION))
        message.ir_version = max(message.ir_version, _LEAST_IR)


def _one_write(t: Tensor) -> Cost:
    """Return what a kernel costs that writes a value."""
    return Cost(Counter({bytes_of(t): 1}), 0, 1)
