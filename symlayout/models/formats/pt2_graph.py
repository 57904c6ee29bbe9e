"""Read torch.export's files, ``.pt2``, to a typed graph: nodes, what is stated of their values, weights, guards.

The file is not trusted: everything is checked before it is used, and an inconsistent file is a `FormatError`.
`symlayout.models.formats.load_pt2` knows what operations mean.  Format: torch/_export/serde/schema.py, version 8.

Left out: what belongs to training, such as losses and gradients.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.errors import FormatError, one_line, shortened
from symlayout.models.formats.pt2_archive import Archive, element_type, listed, mapping, text
from symlayout.models.model_file import MAX_RANK

SCHEMA = 8
MAX_LIST = 1 << 16  # entries of one argument
_MAX_DEPTH = 8  # of graphs within graphs


@dataclass(frozen=True, slots=True)
class Ref:
    """A value of the graph, by its name; *number* says that it is a number and no tensor."""

    name: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class ElementType:
    """An argument that is an element type: its number in the file."""

    number: int


@dataclass(frozen=True, slots=True)
class Other:
    """An argument that changes no element, such as a device; or one that is not read, by its text."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Subgraph:
    """A graph that is an argument: its text, and its part of the file."""

    name: str
    data: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Stated:
    """What the file states of a tensor.

    Attributes
    ----------
    dtype : numpy.dtype or None
        Its element type; None if NumPy has none for it.
    sizes : tuple of int and str
        Its extents: text for an expression.
    plain : bool
        Whether the extents and the distances of elements are numbers, and these are those of row-major order.
    """

    dtype: np.dtype[Any] | None
    sizes: tuple[int | str, ...]
    plain: bool = False


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node of the graph.

    Attributes
    ----------
    number : int
        Its number in the file.
    name : str
        Its name in the file.
    target : str
        The operation with its overload, such as ``"aten.add.Tensor"``.
    inputs : tuple of pairs
        The names of arguments, and these.
    outputs : tuple of Ref and None
        The values that it computes; None for one that is not there.
    """

    number: int
    name: str
    target: str
    inputs: tuple[tuple[str, Any], ...]
    outputs: tuple[Ref | None, ...]

    def __str__(self) -> str:
        return f"node {self.number}, {one_line(self.target, 60)}"

    def refs(self) -> Iterator[Ref]:
        """Yield the values that it reads."""
        for _, value in self.inputs:
            for one in value if isinstance(value, tuple) else (value,):
                if isinstance(one, Ref):
                    yield one


@dataclass(frozen=True, slots=True)
class InputRecord:
    """An input of the graph.

    Attributes
    ----------
    name : str
        Its name in the graph.
    ref : Ref or None
        The value; None for one that is no value.
    stored : str
        The name of the weight that it is; empty for what callers pass.
    constant : object
        The number or truth value that it always is; None if it is none.
    """

    name: str
    ref: Ref | None
    stored: str = ""
    constant: Any = None


@dataclass(frozen=True)
class PT2Graph:
    """A model.

    Attributes
    ----------
    inputs : tuple of InputRecord
        All inputs of the graph, those too that are weights.
    outputs : tuple of Ref, int, float, bool and None
        What callers get; numbers that depend on nothing stand for themselves.
    nodes : tuple of NodeRecord
        The nodes, each after what it reads.
    stated : mapping of str to Stated
        What the file states of tensors.
    numbers : mapping of str to int and str
        What it states of numbers: text for an expression.
    bounds : mapping of str to pair
        The least and the largest value of each symbol; None is unbounded.
    guards : tuple of str
        Conditions on sizes, outside which the graph is not meant.
    tensors : mapping of str to array or str
        Weights by name; text for one whose elements are not read.
    mutated : tuple of str
        What the model writes beside its outputs.
    """

    inputs: tuple[InputRecord, ...]
    outputs: tuple[Any, ...]
    nodes: tuple[NodeRecord, ...]
    stated: Mapping[str, Stated] = field(repr=False)
    numbers: Mapping[str, int | str] = field(repr=False)
    bounds: Mapping[str, tuple[int | None, int | None]]
    guards: tuple[str, ...]
    tensors: Mapping[str, np.ndarray[Any, Any] | str] = field(repr=False)
    mutated: tuple[str, ...]


def read(path: Path) -> PT2Graph:
    """Return the graph of the model in the file *path*.

    Raises
    ------
    FormatError
        *path* is no regular file, no archive of torch.export, or a graph that does not hold together: a value that
        nothing computes, one that two nodes compute, a weight that is not there.
    MissingFileError
        There is no such file.
    """
    try:
        archive = Archive(path)
        program = mapping(archive.json("models/model.json"), "the model")
        version = mapping(program.get("schema_version"), "the version").get("major")
        if version != SCHEMA:
            raise FormatError(f"the file has version {shortened(str(version), 20)} of the schema, {SCHEMA} is known")
        return _program(program, {**archive.tensors("weights"), **archive.tensors("constants")})
    except FormatError as error:
        raise FormatError(f"{error}\n  in: {shortened(path.name)!r}") from None


def _program(program: Mapping[str, Any], tensors: Mapping[str, Any]) -> PT2Graph:
    module = mapping(program.get("graph_module"), "the module")
    graph = mapping(module.get("graph"), "the graph")
    signature = mapping(module.get("signature"), "the signature")
    inputs = tuple(_input(spec) for spec in listed(signature.get("input_specs"), "the inputs"))
    outputs, mutated = _outputs(listed(signature.get("output_specs"), "the outputs"))
    for record in inputs:
        if record.stored and record.stored not in tensors:
            raise FormatError(f"{record.name!r} is the weight {shortened(record.stored)!r}, which is not there")
    names = {ref.name for ref in (record.ref for record in inputs) if ref is not None}
    if len(names) < sum(record.ref is not None for record in inputs):
        raise FormatError("two inputs have one name")
    stated = stated_of(graph)
    nodes = inlined(nodes_of(graph, names), stated)
    for ref in outputs:
        if isinstance(ref, Ref) and ref.name not in names:
            raise FormatError(f"{shortened(ref.name)!r} is an output, and nothing computes it")
    if not outputs:
        raise FormatError("the model has no outputs")
    bounds = {}
    for key, limits in mapping(program.get("range_constraints") or {}, "the bounds").items():
        pair = mapping(limits, f"the bounds of {shortened(key)!r}")
        bounds[key] = _limit(pair.get("min_val")), _limit(pair.get("max_val"))
    guards = tuple(text(g, "a guard") for g in listed(program.get("guards_code") or [], "the guards"))
    return PT2Graph(
        inputs, outputs, nodes, stated, _numbers(graph), bounds, guards, tensors, mutated,
    )  # fmt: skip


def _limit(value: Any) -> int | None:
    if value is not None and type(value) is not int:
        raise FormatError(f"{shortened(str(value), 40)!r} is no bound of a dim")
    return value if value is None or abs(value) < 1 << 53 else None


def _union(value: Any, where: str) -> tuple[str, Any]:
    """Return the kind and the value of what the schema calls a union: an object with one entry."""
    given = mapping(value, where)
    if len(given) != 1:
        raise FormatError(f"{where}: {shortened(str(sorted(given)), 60)} is not one kind of value")
    return next(iter(given.items()))


def _input(value: Any) -> InputRecord:
    kind, spec = _union(value, "an input")
    spec = mapping(spec, "an input")
    if kind in ("parameter", "buffer", "tensor_constant"):
        name = text(mapping(spec.get("arg"), "an input").get("name"), "an input")
        return InputRecord(name, Ref(name), text(spec.get(f"{kind}_name"), f"the input {shortened(name)!r}"))
    if kind == "constant_input":
        name = text(spec.get("name"), "an input")
        return InputRecord(name, None, constant=argument(spec.get("value"), "an input"))
    if kind != "user_input":
        return InputRecord(kind, None)
    made = argument(spec.get("arg"), "an input")
    return InputRecord(made.name, made) if isinstance(made, Ref) else InputRecord("", None, constant=made)


def _outputs(specs: Any) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    outputs, mutated = [], []
    for spec in specs:
        kind, value = _union(spec, "an output")
        value = mapping(value, "an output")
        if kind == "user_output":
            made = argument(value.get("arg"), "an output")
            if isinstance(made, tuple | Other | ElementType | Subgraph | str):
                raise FormatError(f"an output is neither a tensor nor a number: {shortened(str(made), 60)}")
            outputs.append(made)
        elif kind.endswith("_mutation"):
            names = [v for key, v in value.items() if key.endswith("_name")]
            mutated.append(text(names[0] if names else None, "an output"))
        else:
            raise FormatError(f"the model has an output of training, {shortened(kind, 40)!r}")
    return tuple(outputs), tuple(mutated)


_PLAIN = {"as_int": int, "as_bool": bool, "as_string": str}
_LISTS = {"as_ints": int, "as_bools": bool, "as_strings": str}
_REFS = {"as_sym_int": "as_int", "as_sym_bool": "as_bool", "as_sym_float": "as_float"}
_NAMED = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


def argument(value: Any, where: str) -> Any:
    """Return an argument: a `Ref`, a number, text, a tuple of these, None, or what the classes here stand for.

    Raises
    ------
    FormatError
        It is no argument of the schema.
    """
    kind, given = _union(value, where)
    if kind == "as_none":
        return None
    if kind == "as_tensor":
        return _ref(given, where)
    if kind in _PLAIN:
        return _plain(given, _PLAIN[kind], where)
    if kind == "as_float":
        return _float(given, where)
    if kind in _REFS:
        return _symbolic(given, _REFS[kind], where)
    if kind in _LISTS or kind in ("as_floats", "as_tensors", "as_optional_tensors") or kind[:-1] in _REFS:
        entries = listed(given, where)
        if len(entries) > MAX_LIST:
            raise FormatError(f"{where} has {len(entries)} entries, at most {MAX_LIST} are read")
        return tuple(_entry(kind, e, where) for e in entries)
    if kind == "as_optional_tensor":
        return argument(given, where)
    if kind == "as_scalar_type":
        return ElementType(_plain(given, int, where))
    if kind == "as_graph":
        graph = mapping(given, where)
        return Subgraph(text(graph.get("name"), where), mapping(graph.get("graph"), where))
    if kind in ("as_device", "as_memory_format", "as_layout"):
        return Other(kind)
    return Other(kind, json.dumps(given, sort_keys=True))


def _entry(kind: str, value: Any, where: str) -> Any:
    if kind == "as_tensors":
        return _ref(value, where)
    if kind == "as_optional_tensors":
        return argument(value, where)
    if kind == "as_floats":
        return _float(value, where)
    return _plain(value, _LISTS[kind], where) if kind in _LISTS else _symbolic(value, _REFS[kind[:-1]], where)


def _plain(value: Any, kind: type, where: str) -> Any:
    if type(value) is not kind or (isinstance(value, int) and abs(value) > 1 << 64):
        raise FormatError(f"{where} is {shortened(str(value), 40)!r}, no {kind.__name__}")
    return value


def _float(value: Any, where: str) -> float:
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]
    if type(value) is int and abs(value) < 1 << 64:
        return float(value)
    made: float = _plain(value, float, where)
    return made


def _ref(value: Any, where: str) -> Ref:
    return Ref(text(mapping(value, where).get("name"), where))


def _symbolic(value: Any, plain: str, where: str) -> Any:
    kind, given = _union(value, where)
    if kind == "as_name":
        return Ref(text(given, where), number=True)
    if kind != plain:
        raise FormatError(f"{where} has {shortened(kind, 40)!r} in the place of {plain!r}")
    return _float(given, where) if plain == "as_float" else _plain(given, _PLAIN[plain], where)


ALIAS = "inlined.alias"
"""The target of a node that gives a value a second name."""

_NO_GRAD = "higher_order.wrap_with_set_grad_enabled"
_AUTOCAST = "higher_order.wrap_with_autocast"
_MAX_NODES = 1 << 20  # with those of graphs within graphs


def inlined(nodes: tuple[NodeRecord, ...], stated: dict[str, Stated], depth: int = 0) -> tuple[NodeRecord, ...]:
    """Return nodes with those of graphs that are only run without gradients, or without other types, in their place.

    Raises
    ------
    FormatError
        Such a graph has other inputs or outputs than its node.
    """
    found: list[NodeRecord] = []
    for node in nodes:
        graph = _plain_graph(node)
        if graph is None or depth > _MAX_DEPTH:
            found.append(replace(node, number=len(found)))
            continue
        prefix = f"{node.name or node.number}/"
        inputs = [argument(one, f"the graph of {node}") for one in listed(graph.get("inputs"), str(node))]
        outputs = [argument(one, f"the graph of {node}") for one in listed(graph.get("outputs"), str(node))]
        given = [value for _, value in node.inputs if isinstance(value, Ref)]
        if len(inputs) != len(given) or len(outputs) != len(node.outputs):
            raise FormatError(f"{node} has {len(given)} operands, its graph {len(inputs)}")
        known = {ref.name for ref in inputs if isinstance(ref, Ref)}
        inner = nodes_of(graph, known)
        for name, meta in stated_of(graph).items():
            stated.setdefault(f"{prefix}{name}", meta)
        pairs = [(value, _renamed(ref, prefix)) for value, ref in zip(given, inputs, strict=True)]
        ends = [(_renamed(ref, prefix), made) for ref, made in zip(outputs, node.outputs, strict=True)]
        if any(isinstance(ref, Ref) and ref.name not in known for ref in outputs):
            raise FormatError(f"{node} has a graph whose outputs nothing computes")
        parts = [_renamed_node(one, prefix) for one in inlined(inner, stated_within(stated, prefix), depth + 1)]
        if len(found) + len(parts) > _MAX_NODES:
            raise FormatError("the model has very many nodes")
        aliases = [_alias(value, ref, str(node)) for value, ref in pairs]
        for one in (*aliases, *parts, *(_alias(ref, made, str(node)) for ref, made in ends if made is not None)):
            found.append(replace(one, number=len(found)))
    return tuple(found)


def stated_within(stated: dict[str, Stated], prefix: str) -> dict[str, Stated]:
    """Return a table that states what *stated* does of the names with a prefix, without it."""
    return {name[len(prefix) :]: meta for name, meta in stated.items() if name.startswith(prefix)}


def _plain_graph(node: NodeRecord) -> Mapping[str, Any] | None:
    """Return the graph that a node runs as it is; None if it runs none, or in another way."""
    values = [value for _, value in node.inputs]
    graphs = [value for value in values if isinstance(value, Subgraph)]
    if len(graphs) != 1 or node.target not in (_NO_GRAD, _AUTOCAST):
        return None
    if node.target == _AUTOCAST and not (len(values) > 2 and isinstance(values[0], str) and values[2] is False):
        return None  # the types of operands may be others
    return graphs[0].data


def _alias(value: Any, made: Any, where: str) -> NodeRecord:
    if not isinstance(value, Ref) or not isinstance(made, Ref):
        raise FormatError(f"{where} has a graph with an operand that is no value")
    return NodeRecord(0, made.name, ALIAS, (("self", value),), (made,))


def _renamed(value: Any, prefix: str) -> Any:
    if isinstance(value, Ref):
        return Ref(f"{prefix}{value.name}", value.number)
    return tuple(_renamed(v, prefix) for v in value) if isinstance(value, tuple) else value


def _renamed_node(node: NodeRecord, prefix: str) -> NodeRecord:
    inputs = tuple((name, _renamed(value, prefix)) for name, value in node.inputs)
    return replace(node, inputs=inputs, outputs=_renamed(node.outputs, prefix))


def nodes_of(graph: Mapping[str, Any], known: set[str]) -> tuple[NodeRecord, ...]:
    """Return the nodes of a graph whose inputs are *known*; the names that they compute are added to these.

    Raises
    ------
    FormatError
        A node reads what none before it computes, or computes what has a value already.
    """
    nodes = []
    for number, value in enumerate(listed(graph.get("nodes"), "the nodes")):
        node = mapping(value, f"node {number}")
        target = text(node.get("target"), f"node {number}").removeprefix("torch.ops.")
        where = f"node {number}, {one_line(target, 60)}"
        inputs = []
        for one in listed(node.get("inputs"), where):
            pair = mapping(one, where)
            inputs.append((text(pair.get("name"), where), argument(pair.get("arg"), where)))
        outputs: list[Ref | None] = []
        for one in listed(node.get("outputs"), where):
            made = argument(one, where)
            for ref in made if isinstance(made, tuple) else (made,):
                if ref is not None and not isinstance(ref, Ref):
                    raise FormatError(f"{where} has an output that is no value")
                outputs.append(ref)
        name = node.get("name")
        record = NodeRecord(
            number, name if isinstance(name, str) else "", target, tuple(inputs), tuple(outputs)
        )  # fmt: skip
        for ref in record.refs():
            if ref.name not in known:
                raise FormatError(f"{record} reads {shortened(ref.name)!r}, which nothing before it computes")
        for ref in record.outputs:
            if ref is not None and ref.name in known:
                raise FormatError(f"{record} computes {shortened(ref.name)!r}, which has a value already")
            if ref is not None:
                known.add(ref.name)
        nodes.append(record)
    return tuple(nodes)


def stated_of(graph: Mapping[str, Any]) -> dict[str, Stated]:
    """Return what a graph states of its tensors."""
    found = {}
    for name, value in mapping(graph.get("tensor_values") or {}, "the tensors").items():
        where = f"the sizes of {shortened(name)!r}"
        meta = mapping(value, where)
        sizes = tuple(_size(size, where) for size in listed(meta.get("sizes"), where))
        if len(sizes) > MAX_RANK:
            raise FormatError(f"{where} are {len(sizes)}, more than {MAX_RANK}")
        strides = tuple(_size(size, where) for size in listed(meta.get("strides"), where))
        offset = _size(meta.get("storage_offset"), where)
        found[name] = Stated(element_type(meta.get("dtype")), sizes, offset == 0 and strides == _row_major(sizes))
    return found


def _row_major(sizes: tuple[int | str, ...]) -> tuple[int, ...] | None:
    steps, step = [], 1
    for n in reversed(sizes):
        if isinstance(n, str):
            return None
        steps.append(step)
        step *= n
    return tuple(reversed(steps))


def _size(value: Any, where: str) -> int | str:
    kind, given = _union(value, where)
    if kind == "as_expr":
        return text(mapping(given, where).get("expr_str"), where)
    made: int = _plain(given, int, where)
    if kind != "as_int" or made < 0:
        raise FormatError(f"{where} are no sizes: {shortened(str(given), 40)}")
    return made


def _numbers(graph: Mapping[str, Any]) -> dict[str, int | str]:
    found: dict[str, int | str] = {}
    for name, value in mapping(graph.get("sym_int_values") or {}, "the numbers").items():
        kind, given = _union(value, f"the number {shortened(name)!r}")
        if kind == "as_expr":
            given = text(mapping(given, "a number").get("expr_str"), "a number")
        elif type(given) is not int:
            raise FormatError(f"the number {shortened(name)!r} is {shortened(str(given), 40)!r}")
        found[name] = given
    return found
