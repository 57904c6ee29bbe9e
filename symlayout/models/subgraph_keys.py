"""Text that two subgraphs share only if they are one function of their inputs and of the values around them.

What branches and passes of loops return is compared by the prover, as operands of their node
(`symlayout.models.onnx_nodes.control_flow`).  The text is for the nodes for which that is not possible, such as loops
that carry sequences, and names the extents that nodes bring in.

A subgraph is a graph of data: the order of its nodes and the names of its values have no meaning, a node that no output
needs does nothing, Identity copies, and equal nodes of equal values compute equal values.  So the text of a value is
made of its operation and the texts of what that reads.  A constant is known by its bits, whether it is an initializer
or a Constant, in the subgraph or around it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import FormatError, shortened
from symlayout.models import onnx_values
from symlayout.models.model import ModelNode
from symlayout.models.onnx_nodes.schemas import since_version
from symlayout.models.onnx_subgraphs import graphs_of, inner_nodes, outer_names

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

    def ends(self) -> Iterator[tuple[_Scope, str]]:
        """Yield the outputs of the subgraphs, those of the attribute whose name is the first one first."""
        named = zip((a.name for a in self.node.attribute), self.bodies, strict=True)
        for _, scopes in sorted(named, key=lambda pair: pair[0]):
            for scope in scopes:
                yield from ((scope, value.name) for value in scope.graph.output)

    @property
    def copies(self) -> bool:
        """Whether the node returns its input."""
        node = self.node
        return node.op_type == "Identity" and node.domain in STANDARD and len(node.input) == len(node.output) == 1


class _Scope:
    """The values that a subgraph makes, by name: a constant, an output of an operation, or the text of an input."""

    def __init__(self, graph: GraphProto, around: _Scope | None, depth: int) -> None:
        self.graph, self.around, self.depth = graph, around, depth
        self.values: dict[str, str | TensorProto | tuple[_Operation, int]] = {t.name: t for t in graph.initializer}
        made = set[str]()
        for node in graph.node:
            operation = _Operation(node, self)
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
        self.names: list[str] = []

    def number(self, whole: _Operation) -> None:
        """Note the values around the subgraphs of *whole*, and the random nodes in them, from the outputs inwards."""
        waiting = list(whole.ends())[::-1]
        draws_found = 0
        while waiting:
            scope, name = waiting.pop()
            source = self._source(scope, name)
            if source is None:
                self._note(name)
            elif isinstance(source, tuple) and not source[0].visited:
                operation = source[0]
                operation.visited = True
                if operation.node.op_type in RANDOM:
                    operation.draw, draws_found = draws_found, draws_found + 1
                assert operation.scope is not None
                own = [(operation.scope, read) for read in operation.node.input if read]
                waiting += [*own, *operation.ends()][::-1]

    def attributes(self, operation: _Operation) -> tuple[tuple[str, Any], ...]:
        """Return the attributes of a node, of whose subgraphs the values around are known, sorted by name."""
        found: list[tuple[str, Any]] = []
        for a, scopes in zip(operation.node.attribute, operation.bodies, strict=True):
            texts = [(len(s.graph.input), tuple(self._text(s, v.name) for v in s.graph.output)) for s in scopes]
            plain = () if a.type in (a.GRAPH, a.GRAPHS) else (onnx_values.plain_attribute(a),)
            found.append((a.name, (int(a.type), *plain, *texts)))
        return tuple(sorted(found, key=lambda pair: pair[0]))

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
        domain = "" if node.domain in STANDARD else node.domain
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
        version = self._opsets.get(domain, 1)
        shown = ModelNode("", node.op_type, domain, (), (), version, node)
        meaning = (domain, node.op_type, node.overload, since_version(shown), operation.draw)
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
