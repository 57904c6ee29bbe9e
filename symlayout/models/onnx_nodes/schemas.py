"""Check a node against the standard: its inputs, outputs and attributes, before any other module looks at them.

The package ``onnx`` has a schema for each version of each operator: how many inputs there are and which may be left
out, their element types, the attributes with their types and defaults.  A runtime refuses a node that does not follow
it, and so does the reader, with a `FormatError` that names the node.  What a schema does not state, such as the numbers
that an attribute may be, is a column of the operator's row (`symlayout.frontends.onnx.operator`).

A node of a domain that the package does not know has no schema, and is not checked here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from symlayout.errors import FormatError, shortened
from symlayout.frontends.parameters import defaults_of
from symlayout.frontends.registry import AttributeNameError
from symlayout.models.model import TENSOR, Items, ModelNode, Unshaped, Value
from symlayout.models.onnx_values import attribute_value, dtype_or_none, number_of

_NOT_CHECKED = "__"  # what the names of attributes begin with that runtimes keep for themselves
_EARLIER = ("LayerNormalization", "ThresholdedRelu")  # runtimes have them in the versions before their first, too


@dataclass(frozen=True, slots=True)
class _Input:
    """One input of an operator: its name, whether it may be left out, and what its types are called and are."""

    name: str
    optional: bool
    variable: str  # inputs with the same one have the same type; empty if they need not
    types: frozenset[str]


@dataclass(frozen=True, slots=True)
class Schema:
    """What the standard says of an operator since one version.

    Attributes
    ----------
    since : int
        The version.
    deprecated : bool
        Whether the version takes an operator away that earlier ones have.
    inputs : tuple
        The last one stands for all further ones if their number varies.
    outputs : tuple
        For each output what its types are called, as for inputs, and its type if it has only one.
    any_outputs : bool
        Whether the number of outputs varies: then a node has all of them.
    fewest_inputs, most_inputs, most_outputs : int
        How many there are.
    attributes : mapping
        For each attribute the number of its type.
    required : tuple of str
        The attributes without which a node means nothing.
    defaults : mapping
        The values of attributes that are left out.
    """

    since: int
    deprecated: bool
    inputs: tuple[_Input, ...]
    outputs: tuple[tuple[str, str], ...]
    any_outputs: bool
    fewest_inputs: int
    most_inputs: int
    most_outputs: int
    attributes: Mapping[str, int]
    required: tuple[str, ...]
    defaults: Mapping[str, Any]


_LAST = (1 << 31) - 1  # the package takes versions of 32 bits, and a file has 64


@functools.lru_cache(maxsize=4096)
def package_schema(op: str, version: int, domain: str) -> Any:
    """Return the package's schema of an operator in a version of its domain; None if there is none."""
    from onnx import defs

    try:
        return defs.get_schema(op, max(0, min(version, _LAST)), domain)
    except defs.SchemaError:
        return None


@functools.lru_cache(maxsize=4096)
def schema_of(op: str, version: int, domain: str) -> Schema | None:
    """Return the schema of an operator in a version of its domain; None if the standard has no such operator.

    >>> schema_of("Clip", 13, "").most_inputs, schema_of("Softmax", 11, "").defaults["axis"]
    (3, 1)
    """
    known = package_schema(op, version, domain)
    if known is None:
        return None
    options = type(known).FormalParameterOption
    inputs = tuple(
        _Input(
            i.name,
            i.option == options.Optional,
            i.type_str if i.option != options.Variadic or i.is_homogeneous else "",
            frozenset(i.types),
        )
        for i in known.inputs
    )
    defaults = {
        name: attribute_value(a.default_value, f"attribute {name!r} of {op}")
        for name, a in known.attributes.items()
        if a.default_value.type
    }
    return Schema(
        known.since_version,
        known.deprecated and package_schema(op, known.since_version - 1, domain) is not None,
        inputs,
        tuple((o.type_str, next(iter(o.types)) if len(o.types) == 1 else "") for o in known.outputs),
        any(o.option == options.Variadic for o in known.outputs),
        known.min_input,
        known.max_input,
        known.max_output,
        MappingProxyType({name: int(a.type.value) for name, a in known.attributes.items()}),
        tuple(name for name, a in known.attributes.items() if a.required),
        MappingProxyType(defaults),
    )


@functools.lru_cache(maxsize=4096)
def _first_version(op: str, version: int, domain: str) -> int | None:
    """Return the first version after *version* that has an operator; None if the package knows of none."""
    from onnx import defs

    later = range(version + 1, defs.onnx_opset_version() + 1)  # other domains have fewer versions
    return next((v for v in later if package_schema(op, v, domain) is not None), None)


def schema(node: ModelNode) -> Schema | None:
    """Return the schema of a node; None if the standard has no such operator."""
    return schema_of(node.op_type, node.version, node.domain)


def since_version(node: ModelNode) -> int:
    """Return the version of ONNX's operation set that gave the node's operation its meaning."""
    known = schema(node)
    return node.version if known is None else known.since


class Checks:
    """Checks of the nodes of a model, and the element types that they find.

    An array of expressions, such as what Shape makes, does not say its own type.
    """

    def __init__(self) -> None:
        self._types: dict[str, tuple[ModelNode, str]] = {}

    def check(self, node: ModelNode, inputs: Sequence[Value | None], origins: Mapping[str, object]) -> None:
        """Check a node: see `check`; *origins* has the node that makes each value."""
        made = ((name, *self._types.get(name, (None, ""))) for name in node.inputs)
        known = [kind if by is not None and by is origins.get(name) else "" for name, by, kind in made]
        for name, kind in zip(node.outputs, check(node, inputs, known), strict=False):
            if kind:
                self._types[name] = node, kind


def check(node: ModelNode, inputs: Sequence[Value | None], types: Sequence[str]) -> list[str]:
    """Return the types of a node's outputs, if it is what the standard says of its operator in the model's version.

    Parameters
    ----------
    inputs : sequence
        The values; None is left out.
    types : sequence of str
        Their types, as schemas write them, for those that do not say them; empty texts where they are not known.

    Raises
    ------
    FormatError
        The node has another number of inputs or outputs, leaves out what it may not, or has an attribute of another
        type; an element type is none that the operator takes; or only later versions have the operator.
    AttributeNameError
        The node has an attribute that the operator does not have, or lacks one that it needs.
    """
    known = schema(node)
    if known is None:
        later = _first_version(node.op_type, node.version, node.domain)
        if later is not None and node.op_type not in _EARLIER:
            raise FormatError(f"version {node.version} has no {node.op_type}, version {later} does\n  in: {node}")
        return []
    if known.deprecated:
        raise FormatError(f"version {node.version} has no {node.op_type} any more\n  in: {node}")
    _check_count("inputs", len(inputs), known.fewest_inputs, known.most_inputs, node)
    _check_count("outputs", len(node.outputs), 0, known.most_outputs, node)  # runtimes take a node without outputs
    _check_attributes(node, known)
    bound: dict[str, tuple[str, str]] = {}
    for k, value in enumerate(inputs):
        formal = known.inputs[min(k, len(known.inputs) - 1)]
        if value is None:
            if not formal.optional:
                raise FormatError(f"input {formal.name} is left out\n  in: {node}")
        elif (other := _other_kind(value)) and all(t.startswith("tensor(") for t in formal.types):
            raise FormatError(f"input {formal.name} is a {other}, {node.op_type} takes a tensor\n  in: {node}")
        elif kind := _type_of(value) or (types[k] if _is_of_expressions(value) else ""):
            if kind not in formal.types:
                raise FormatError(f"input {formal.name} is a {kind}, which {node.op_type} does not take\n  in: {node}")
            name, first = bound.setdefault(formal.variable or f"{k}", (formal.name, kind))
            if kind != first:
                raise FormatError(f"input {formal.name} is a {kind}, and input {name} a {first}\n  in: {node}")
    if node.op_type == "Cast":
        dtype = dtype_or_none(next((a.i for a in node.source.attribute if a.name == "to"), 0))
        return [(dtype is not None and _type_name(dtype)) or ""]
    return [only or bound.get(variable, ("", ""))[1] for variable, only in known.outputs]


def may_leave_out_outputs(node: ModelNode) -> bool:
    """Return whether a node may have more or fewer outputs than its operation makes, by its schema."""
    known = schema(node)
    return known is not None and not known.any_outputs


def check_results(node: ModelNode, count: int) -> None:
    """Raise `FormatError` if a node has not the outputs that its operation makes, of which there are *count*."""
    known = schema(node)
    if len(node.outputs) > count or (known is not None and known.any_outputs and len(node.outputs) < count):
        raise FormatError(f"node has {len(node.outputs)} outputs, its operation has {count}\n  in: {node}")


def other_defaults(node: ModelNode, title: str) -> Mapping[str, Any]:
    """Return the defaults of a node's version that its row, the operation *title*, does not have."""
    return _other_defaults(title, node.op_type, node.version, node.domain)


@functools.lru_cache(maxsize=4096)
def _other_defaults(title: str, op: str, version: int, domain: str) -> Mapping[str, Any]:
    known, row = schema_of(op, version, domain), defaults_of(title)
    if known is None:
        return {}
    return {name: value for name, value in known.defaults.items() if name in row and row[name] != value}


def _check_count(what: str, count: int, fewest: int, most: int, node: ModelNode) -> None:
    if not fewest <= count <= most:
        number = f"{fewest}" if fewest == most else f"{fewest} or more" if count < fewest else f"at most {most}"
        raise FormatError(f"{node.op_type} has {number} {what}, the node has {count}\n  in: {node}")


def _check_attributes(node: ModelNode, known: Schema) -> None:
    given = set()
    for a in node.source.attribute:
        given.add(a.name)
        if (kind := known.attributes.get(a.name)) is None:
            if not a.name.startswith(_NOT_CHECKED):
                what = f"{node.op_type} has no attribute {shortened(a.name, 40)!r} in version {node.version}"
                raise AttributeNameError(f"{what}\n  in: {node}", "attr_unknown")
        elif a.type != kind:
            name = type(a).AttributeType.Name
            stated = name(a.type) if a.type in type(a).AttributeType.values() else a.type
            raise FormatError(f"attribute {a.name!r} is of type {stated}, not {name(kind)}\n  in: {node}")
    for needed in known.required:
        if needed not in given:
            raise AttributeNameError(f"attribute {needed!r} is missing\n  in: {node}", "attr_missing")


def _other_kind(value: Value) -> str:
    """Return what a value is that is no tensor; an empty text for a tensor, and for what may be one."""
    if isinstance(value, Items):
        return "sequence"
    return value.kind if isinstance(value, Unshaped) and value.kind != TENSOR else ""


def _is_of_expressions(value: Value) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == object


def _type_of(value: Value) -> str | None:
    """Return how schemas write the type of a value; None if it is not known."""
    if isinstance(value, Items) or (isinstance(value, Unshaped) and value.kind != TENSOR):
        return None
    if value.dtype is None or (isinstance(value, np.ndarray) and value.dtype == object):
        return None
    return _type_name(value.dtype)


@functools.lru_cache(maxsize=256)
def _type_name(dtype: np.dtype[Any]) -> str | None:
    from onnx import helper

    number = number_of(dtype)
    return None if number is None else f"tensor({helper.tensor_dtype_to_string(number).rpartition('.')[2].lower()})"
