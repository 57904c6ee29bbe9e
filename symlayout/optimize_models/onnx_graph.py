"""The main graph of an ONNX model, to be edited: nodes are replaced, and what nobody reads any more goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.models.load_onnx import OnnxEvaluation
from symlayout.models.model import ModelNode
from symlayout.models.model_file import ConstantFiles
from symlayout.models.onnx_model import OnnxGraph, in_order
from symlayout.models.onnx_subgraphs import inner_nodes, outer_names

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

_ONNX = ("", "ai.onnx")


class EditedGraph:
    """A copy of a model whose main graph is edited.

    Attributes
    ----------
    message : ModelProto
        The copy.
    nodes : list of NodeProto
        The nodes of the main graph, each after those that it reads; `finish` writes them back.
    idle : list of NodeProto
        Those that have no outputs.  They stay, at the end.
    opset : int
        The version of ONNX's own operations.
    outputs : set of str
        The names of the outputs, and of what nodes without outputs read.
    """

    def __init__(self, source: ModelProto) -> None:
        from onnx import ModelProto

        self.message: ModelProto = ModelProto()
        self.message.CopyFrom(source)
        graph = self.message.graph
        ordered = in_order(graph.node)
        self.idle = [node for node in ordered if not any(node.output)]
        self.nodes: list[NodeProto] = [node for node in ordered if any(node.output)]
        self.opset = max((o.version for o in source.opset_import if o.domain in _ONNX), default=1)
        self.outputs = {value.name for value in graph.output}
        self.outputs.update(name for node in self.idle for name in (*node.input, *outer_names(node)) if name)
        self._last = 0  # where the last node was found
        self._inside: dict[int, tuple[NodeProto, list[str]]] = {}  # what the subgraphs of a node read, by its id
        used = set(self.uses())
        self._unread = {name for node in self.nodes if used.isdisjoint(node.output) for name in node.output}
        self._unread |= {t.name for t in graph.initializer} - used
        self._names = {name for node in self.nodes for name in (*node.input, *node.output)}
        self._names |= {v.name for v in (*graph.input, *graph.output)} | {t.name for t in graph.initializer}
        self._names |= {node.name for node in self.nodes}
        for node in self.nodes:
            for inside in inner_nodes(node):
                self._names.update((*inside.input, *inside.output))

    # ------------------------------------------------------------------ what it is

    def is_standard(self, node: NodeProto, *ops: str) -> bool:
        """Return whether *node* is one of ONNX's own operations *ops*."""
        return node.domain in _ONNX and node.op_type in ops

    def uses(self) -> Counter[str]:
        """Return how often each value is read; an output of the model and what a subgraph reads count too."""
        found = Counter(self.outputs)
        for node in self.nodes:
            found.update(name for name in node.input if name)
            found.update(self._read_inside(node))
        return found

    def readers(self) -> dict[str, list[NodeProto]]:
        """Return the nodes that read each value, in order; what a subgraph reads does not count."""
        found: dict[str, list[NodeProto]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.input):
                if name:
                    found.setdefault(name, []).append(node)
        return found

    def captured(self) -> set[str]:
        """Return the names of values that subgraphs read."""
        return {name for node in self.nodes for name in self._read_inside(node)}

    def _read_inside(self, node: NodeProto) -> list[str]:
        """Return the names that the subgraphs of a node read from the main graph."""
        if id(node) not in self._inside:
            self._inside[id(node)] = node, outer_names(node)
        return self._inside[id(node)][1]

    def producers(self) -> dict[str, NodeProto]:
        """Return the node that computes each value."""
        return {name: node for node in self.nodes for name in node.output if name}

    def named(self) -> set[str]:
        """Return the names that nodes of the main graph may read; what is inside functions has none here."""
        graph = self.message.graph
        given = {v.name for v in graph.input} | {t.name for t in graph.initializer}
        return given | {t.values.name for t in graph.sparse_initializer} | set(self.producers())

    def attribute(self, node: NodeProto, name: str) -> Any:
        """Return an attribute of *node*; None if it has none."""
        from onnx import helper

        found = next((a for a in node.attribute if a.name == name), None)
        return None if found is None else helper.get_attribute_value(found)

    def permutation(self, node: NodeProto, rank: int) -> tuple[int, ...] | None:
        """Return the permutation of a Transpose; None for another node, and for a Transpose without a meaning."""
        if not self.is_standard(node, "Transpose"):
            return None
        given = self.attribute(node, "perm")
        if given is None:
            return tuple(reversed(range(rank)))
        return tuple(given) if isinstance(given, list) and sorted(given) == list(range(rank)) else None

    def evaluated(self, node: NodeProto, values: Mapping[str, Any]) -> list[Any]:
        """Return the outputs of a node, given its operands as tensors and arrays by their names."""
        opsets = {"" if o.domain == "ai.onnx" else o.domain: o.version for o in self.message.opset_import}
        graph = OnnxGraph((), (), (), (), {}, opsets, {}, self.message, ConstantFiles(Path()))
        evaluation = OnnxEvaluation(graph, (), same_bits=True)
        for name, value in values.items():
            evaluation.define(name, value)
        domain = "" if node.domain == "ai.onnx" else node.domain
        version = opsets.get(domain, 1)
        made = ModelNode(node.name, node.op_type, domain, tuple(node.input), tuple(node.output), version, node)
        return list(evaluation.computed(made))

    # ------------------------------------------------------------------ edits

    def new_name(self, stem: str) -> str:
        """Return a name that begins with *stem* and is not taken, and take it."""
        name, k = stem, 2
        while name in self._names:
            name, k = f"{stem}_{k}", k + 1
        self._names.add(name)
        return name

    def node(self, op: str, inputs: Sequence[str], output: str, **attributes: Any) -> NodeProto:
        """Return a new node."""
        from onnx import helper

        name = self.new_name(f"{output}_{op}")
        made: NodeProto = helper.make_node(op, list(inputs), [output], name, **attributes)
        return made

    @property
    def has_free_initializers(self) -> bool:
        """Whether an initializer needs no input of the model beside it."""
        return bool(self.message.ir_version >= _FREE_INITIALIZERS)

    def constant(self, values: np.ndarray[Any, Any], stem: str) -> tuple[str, list[NodeProto]]:
        """Return the name of a new constant, and the node that makes it where initializers would be inputs."""
        name = self.new_name(stem)
        if self.has_free_initializers:
            self.add_initializer(values, name)
            return name, []
        return name, [self.node("Constant", [], name, value=_tensor(values, name))]

    def add_initializer(self, values: np.ndarray[Any, Any], name: str) -> None:
        """Give the graph an initializer with a name that is taken already."""
        self.message.graph.initializer.append(_tensor(values, name))

    def insert(self, new: Sequence[NodeProto], before: NodeProto) -> None:
        """Put nodes before another one."""
        at = self.place(before)
        self.nodes[at:at] = new

    def place(self, node: NodeProto) -> int:
        """Return where a node stands in `nodes`.

        The search begins where the last one ended, since rules go through the nodes in order.
        """
        begin = min(self._last, len(self.nodes))
        self._last = next(k for k in chain(range(begin, len(self.nodes)), range(begin)) if self.nodes[k] is node)
        return self._last

    def replace(self, node: NodeProto, new: Sequence[NodeProto]) -> None:
        """Put nodes in the place of another one, or take it out."""
        at = self.place(node)
        self.nodes[at : at + 1] = new

    def redirect_all(self, names: Mapping[str, str]) -> None:
        """Let the nodes that read a name of a mapping read the name that it stands for."""
        for node in self.nodes:
            for k, name in enumerate(node.input):
                if name in names:
                    node.input[k] = names[name]

    def drop_unread(self) -> Counter[str]:
        """Take out the nodes that nobody reads any more, and return how often each value is read."""
        kept: list[NodeProto] = []
        used = Counter(self.outputs)
        for node in reversed(self.nodes):
            if any(used[name] for name in node.output if name) or self._unread.issuperset(node.output):
                kept.append(node)
                used.update(node.input)
                used.update(self._read_inside(node))
        kept.reverse()
        self.nodes[:] = kept
        return used

    def finish(self) -> ModelProto:
        """Write the nodes back without those that nobody reads any more, and return the message.

        What nobody read before stays.
        """
        used = self.drop_unread()
        graph = self.message.graph
        copies = [_copy(node) for node in self.nodes]
        del graph.node[:]
        graph.node.extend(copies)
        self.nodes = list(graph.node)
        graph.node.extend(map(_copy, self.idle))
        inputs = {v.name for v in graph.input}
        _filter(graph.initializer, lambda t: used[t.name] > 0 or t.name in self._unread or t.name in inputs)
        made = {name for node in self.nodes for name in node.output} | {t.name for t in graph.initializer} | inputs
        _filter(graph.value_info, lambda v: v.name in made)
        return self.message


_FREE_INITIALIZERS = 4  # from this IR version on an initializer is no input


def _tensor(values: np.ndarray[Any, Any], name: str) -> TensorProto:
    from onnx import numpy_helper

    made: TensorProto = numpy_helper.from_array(np.asarray(values, order="C"), name)
    return made


def _copy(node: NodeProto) -> NodeProto:
    made = type(node)()
    made.CopyFrom(node)
    return made


def _filter(field: Any, keep: Any) -> None:
    """Remove the messages of a repeated field that are not kept."""
    for k in reversed(range(len(field))):
        if not keep(field[k]):
            del field[k]


def names_of(nodes: Iterable[NodeProto]) -> list[str]:
    """Return the names of nodes for messages."""
    return [node.name or next(iter(node.output), "") for node in nodes]
