"""Text that two subgraphs share only if they are one function of their inputs and of the values around them.

What branches and passes of loops return is compared by the prover, as operands of their node
(`symlayout.models.onnx_nodes.control_flow`).  The text is for the nodes for which that is not possible, such as loops
that carry sequences, and names the extents that nodes bring in.

A subgraph is a graph of data: the order of its nodes and the names of its values have no meaning, Identity copies, and
equal nodes of equal values compute equal values.  So the text of a value is made of its operation and the texts of what
that reads.  A constant is known by its bits, whether it is an initializer or a Constant, in the subgraph or around it.

An operation may refuse what it reads, and does so only where its subgraph runs.  So the text has those operations too
that no output needs, and says for each one in which of the subgraphs around it stands.  Operations that take
everything (`TOTAL`) count for what they return only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, shortened
from symlayout.frontends.onnx.elementwise import ROWS
from symlayout.models import onnx_values
from symlayout.models.model import ModelNode
from symlayout.models.onnx_nodes.schemas import since_version
from symlayout.models.onnx_subgraphs import graphs_of, inner_nodes, outer_names, standard, version_of

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto, TensorProto

STANDARD = ("", "ai.onnx")  # names of the domain of the standard
CONSTANTS = (
    "value",
    "value_int",
    "value_ints",
    "value_float",
    "value_floats",
    "sparse_value",
)  # attributes of a Constant
RANDOM = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Multinomial", "Bernoulli")
TOTAL = frozenset(
    {"Constant", "Identity", "Shape", "Size", "RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike"}
    | {name for name, row in ROWS.items() if len(row.inputs.split()) == 1}
)  # operators of the standard that take all shapes and all elements of the types that they have


def draws(node: NodeProto) -> bool:
    """Return whether a node is random, or contains a random operation."""
    return any(inner.op_type in RANDOM for inner in (node, *inner_nodes(node)))


def constant_of(node: NodeProto) -> np.ndarray[Any, Any]:
    """Return the value of a ``Constant``."""
    attributes = onnx_values.attributes(node)
    if len(attributes) != 1 or not attributes.keys() <= set(CONSTANTS):
        raise FormatError(
            f"constant is given by {shortened(', '.join(attributes)) or 'nothing'}\n  in: {onnx_values.label(node)}"
        )
    ((name, value),) = attributes.items()
    return np.asarray(value, np.int64 if "int" in name else np.float32 if "float" in name else None)


def digest_of_array(array: np.ndarray[Any, Any]) -> str:
    """Return text that two constants share only if their types, shapes and bits are equal."""
    plain = np.ascontiguousarray(array).reshape(-1).view(np.uint8)  # a buffer, whatever the element type is
    return digest(f"{array.dtype} {array.shape} {hashlib.sha256(plain.data).hexdigest()}")


def digest(text: str) -> str:
    """Return the digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def attribute_key(
    node: NodeProto,
    opsets: Mapping[str, int] | None = None,
    array: Callable[[TensorProto], np.ndarray[Any, Any]] | None = None,
    around: Callable[[str], str | int] | None = None,
) -> tuple[tuple[tuple[str, Any], ...], list[str]]:
    """Return the attributes of *node* as plain values, sorted by name, and the names that its subgraphs read around it.

    Two nodes with equal attributes, of which the values with these names are equal in turn, compute the same of equal
    inputs.

    Parameters
    ----------
    opsets : mapping, optional
        The version of each domain's operation set.
    array : callable, optional
        Returns the elements of a constant.  Without it, constants are equal if the file has them as the same bytes.
    around : callable, optional
        Returns the digest of what a name around the node stands for, if that is a constant, else a number that is that
        of all names of one value.
    """
    reader = _Reader(opsets or {}, array, around)
    whole = _Operation(node, None)
    reader.number(whole)
    return reader.attributes(whole), reader.names


@dataclass(eq=False, slots=True)
class _Operation:
    """A node of a subgraph, with the subgraphs in it.

    Attributes
    ----------
    bodies : list of list of _Scope
        The subgraphs of each attribute.
    key : str
        What is known of the node, when that is: text that equal nodes of equal values share.
    draw : int
        The place of a random node among those that are read; two of them are never one.
    """

    node: NodeProto
    scope: _Scope | None
    bodies: list[list[_Scope]] = field(init=False)
    key: str = ""
    draw: int = -1
    visited: bool = False

    def __post_init__(self) -> None:
        depth = 0 if self.scope is None else self.scope.depth + 1
        self.bodies = [[_Scope(g, self.scope, depth) for g in graphs_of(a)] for a in self.node.attribute]

    def scopes(self) -> Iterator[_Scope]:
        """Yield the subgraphs, those of the attribute whose name is the first one first."""
        named = zip((a.name for a in self.node.attribute), self.bodies, strict=True)
        for _, scopes in sorted(named, key=lambda pair: pair[0]):
            yield from scopes

    @property
    def may_refuse(self) -> bool:
        """Whether there may be shapes or elements that the operation does not take."""
        node = self.node
        return node.domain not in STANDARD or node.op_type not in TOTAL or any(self.bodies)

    @property
    def copies(self) -> bool:
        """Whether the node returns its input."""
        node = self.node
        return node.op_type == "Identity" and node.domain in STANDARD and len(node.input) == len(node.output) == 1


class _Scope:
    """A subgraph.

    Attributes
    ----------
    values : dict
        What it makes, by name: a constant, an output of an operation, or the text of an input.
    operations : list of _Operation
        Its nodes.
    unread : list of _Operation
        Those that may refuse what they read, and that no output needs.
    """

    def __init__(self, graph: GraphProto, around: _Scope | None, depth: int) -> None:
        self.graph, self.around, self.depth = graph, around, depth
        self.operations: list[_Operation] = []
        self.unread: list[_Operation] = []
        self.values: dict[str, str | TensorProto | tuple[_Operation, int]] = {t.name: t for t in graph.initializer}
        made = set[str]()
        for node in graph.node:
            operation = _Operation(node, self)
            self.operations.append(operation)
            for place, name in enumerate(node.output):
                if name in made:
                    raise FormatError(f"{shortened(name)!r} is defined twice\n  in: {onnx_values.label(node)}")
                if name:
                    made.add(name)
                    self.values[name] = operation, place
        for place, value in enumerate(graph.input):
            if value.name in made:
                raise FormatError(f"{shortened(value.name)!r} is an input of a subgraph, and defined in it")
            self.values[value.name] = f"input {depth} {place}"


class _Reader:
    """Makes the texts of values; the values around have the places in which the outputs lead to them."""

    def __init__(
        self,
        opsets: Mapping[str, int],
        array: Callable[[TensorProto], np.ndarray[Any, Any]] | None,
        around: Callable[[str], str | int] | None,
    ) -> None:
        self._opsets, self._array, self._around = opsets, array, around
        self._outer: dict[str, str] = {}  # texts by name
        self._places: dict[str | int, str] = {}  # texts of values that are no constants
        self._draws = 0
        self.names: list[str] = []

    def number(self, whole: _Operation) -> None:
        """Note the values around the subgraphs of *whole*, and the random nodes in them.

        The outputs lead to them first, then the operations that these do not need, in the order of their names.
        """
        waiting = list(whole.scopes())
        while waiting:
            found = [*waiting, *self._visit([(s, value.name) for s in waiting for value in s.graph.output])]
            for scope in found:
                unread = [o for o in scope.operations if not o.visited and o.may_refuse]
                scope.unread = sorted(unread, key=lambda operation: operation.node.op_type)
            waiting = [inner for s in found for o in s.unread if not o.visited for inner in self._open(o)]

    def _open(self, operation: _Operation) -> list[_Scope]:
        """Visit an operation that no output needs, and what it leads to; return the subgraphs in these."""
        return [*operation.scopes(), *self._visit(self._enter(operation))]

    def _enter(self, operation: _Operation) -> list[tuple[_Scope, str]]:
        """Visit one operation, and return the values that it and its subgraphs lead to."""
        operation.visited = True
        if operation.node.op_type in RANDOM:
            operation.draw, self._draws = self._draws, self._draws + 1
        assert operation.scope is not None
        own = [(operation.scope, read) for read in operation.node.input if read]
        return own + [(s, value.name) for s in operation.scopes() for value in s.graph.output]

    def _visit(self, ends: list[tuple[_Scope, str]]) -> list[_Scope]:
        """Visit what values lead to, from the first one to the last; return the subgraphs on the way."""
        waiting = ends[::-1]
        found: list[_Scope] = []
        while waiting:
            scope, name = waiting.pop()
            source = self._source(scope, name)
            if source is None:
                self._note(name)
            elif isinstance(source, tuple) and not source[0].visited:
                waiting += self._enter(source[0])[::-1]
                found += source[0].scopes()
        return found

    def attributes(self, operation: _Operation) -> tuple[tuple[str, Any], ...]:
        """Return the attributes of a node, of whose subgraphs the values around are known, sorted by name."""
        found: list[tuple[str, Any]] = []
        for a, scopes in zip(operation.node.attribute, operation.bodies, strict=True):
            texts = [(len(s.graph.input), *self._texts(s)) for s in scopes]
            plain = () if a.type in (a.GRAPH, a.GRAPHS) else (onnx_values.plain_attribute(a),)
            found.append((a.name, (int(a.type), *plain, *texts)))
        return tuple(sorted(found, key=lambda pair: pair[0]))

    def _texts(self, scope: _Scope) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the texts of the outputs of a subgraph, and of the operations that these do not need."""
        outputs = tuple(self._text(scope, value.name) for value in scope.graph.output)
        for operation in scope.unread:
            self._settle(operation)
        unread = {o.key for o in scope.unread}
        places = {id(o) for o in scope.unread}
        return outputs, tuple(sorted(unread - {o.key for o in scope.operations if id(o) not in places}))

    def _source(self, scope: _Scope | None, name: str) -> str | TensorProto | tuple[_Operation, int] | None:
        """Return what *name* stands for in a subgraph; None if it is a value around them all."""
        while scope is not None:
            if name in scope.values:
                return scope.values[name]
            scope = scope.around
        return None

    def _note(self, name: str) -> None:
        if name in self._outer:
            return
        value = name if self._around is None else self._around(name)
        if self._around is not None and isinstance(value, str):
            self._outer[name] = value
            return
        if value not in self._places:
            self._places[value] = f"outer {len(self.names)}"
            self.names.append(name)
        self._outer[name] = self._places[value]

    def _text(self, scope: _Scope, name: str) -> str:
        """Return the text of a value."""
        source = self._source(scope, name)
        if source is None:
            return self._outer[name]
        if isinstance(source, str):
            return source
        if isinstance(source, tuple):
            self._settle(source[0])
            return self._text_of(source)
        return self._constant(source)

    def _settle(self, operation: _Operation) -> None:
        """Give an operation its key, and before it those that it reads."""
        waiting, opened = [operation], set[int]()
        while waiting:
            at = waiting[-1]
            if at.key:
                waiting.pop()
                continue
            names = [*at.node.input, *outer_names(at.node)]
            sources = [self._source(at.scope, name) for name in names if name]
            missing = [s[0] for s in sources if isinstance(s, tuple) and s[0].visited and not s[0].key]
            if missing:
                if id(at) in opened:
                    raise FormatError(f"a node reads what it computes\n  in: {onnx_values.label(at.node)}")
                opened.add(id(at))
                waiting += missing
                continue
            at.key = self._key(at)
            waiting.pop()

    def _key(self, operation: _Operation) -> str:
        node, scope = operation.node, operation.scope
        assert scope is not None
        domain = standard(node.domain)
        if not domain and node.op_type == "Constant" and any(a.name in CONSTANTS for a in node.attribute):
            try:
                return digest_of_array(constant_of(node))
            except FormatError:  # text, or elements without a type of NumPy: equal if its attributes are
                return digest(repr(self.attributes(operation)))
        read = [self._text(scope, name) if name else "" for name in node.input]
        if operation.copies and read[0]:
            return read[0]
        while read and not read[-1]:  # an input that is left out at the end
            read.pop()
        version = version_of(node, self._opsets)
        shown = ModelNode("", node.op_type, domain, (), (), version, node)
        runs_in = scope.depth if operation.may_refuse else None
        meaning = (domain, node.op_type, node.overload, since_version(shown), operation.draw, runs_in)
        return digest(repr((meaning, self.attributes(operation), len(node.output), read)))

    def _text_of(self, source: tuple[_Operation, int]) -> str:
        operation, place = source
        return operation.key if len(operation.node.output) == 1 else f"{operation.key}.{place}"

    def _constant(self, tensor: TensorProto) -> str:
        if self._array is not None:
            try:
                return digest_of_array(self._array(tensor))
            except FormatError:
                if tensor.external_data or tensor.data_location:
                    raise
        bare = type(tensor)()  # text, or elements without a type of NumPy: equal if its bytes are
        bare.CopyFrom(tensor)
        for name in ("name", "doc_string", "metadata_props"):
            bare.ClearField(name)
        return digest(repr(bare.SerializeToString(deterministic=True)))
