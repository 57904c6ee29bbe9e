"""Read OpenVINO's intermediate representation, an ``.xml`` with a ``.bin``, to a typed graph.

The file is not trusted: everything is checked before it is used, and an inconsistent file is a `FormatError`.  The
constants of the ``.bin`` are mapped.  `symlayout.models.load_openvino` knows what operations mean.

Left out: the shapes that OpenVINO wrote beside each port, which are its own inference; the ``rt_info``; and
bodies of loops, whose layers are not in the main graph.  Format: OpenVINO, "Operation sets" and "Intermediate
Representation format", versions 10 and 11.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.errors import FormatError, shortened
from symlayout.frontends.openvino.element_types import NAMES
from symlayout.models import hardened_xml
from symlayout.models.hardened_xml import Element
from symlayout.models.model_file import MAX_RANK, ConstantFiles, open_model
from symlayout.tensors.element_types import STRING

IR_VERSIONS = ("10", "11")

Extent = int | tuple[int, int | None] | None  # fixed, an interval, unknown


@dataclass(frozen=True, slots=True)
class Port:
    """An output: *index* counts from 0 among those of the layer with the id *layer*."""

    layer: int
    index: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One operation of the graph.

    Attributes
    ----------
    id : int
        Its number in the file.
    name : str
        The friendly name; any text.
    type : str
        The operation without its version, such as ``"BatchToSpace"``.
    opset : int or None
        The operation set that the type is taken from; None if it is not one of OpenVINO's own.
    attributes : mapping
        The attributes of the ``<data>`` element, as text.
    inputs : tuple of Port
        The source of each input, in order.
    tensor_names : tuple of tuple of str
        The names of each output, sorted.
    stated : tuple
        For each output the extents that the file states, None for one that it does not know, and the element type.
    """

    id: int
    name: str
    type: str
    opset: int | None
    attributes: Mapping[str, str]
    inputs: tuple[Port, ...]
    tensor_names: tuple[tuple[str, ...], ...]
    stated: tuple[tuple[tuple[int | None, ...], str], ...]

    def attribute(self, name: str) -> str:
        """Return the attribute *name*; `FormatError` if it is missing."""
        if name not in self.attributes:
            raise FormatError(f"layer has no attribute {name!r}\n  in: {self}")
        return self.attributes[name]

    def __str__(self) -> str:
        return f"layer {self.id}, {shortened(self.type, 40)} {shortened(self.name)!r}"


@dataclass(frozen=True, slots=True)
class IRGraph:
    """A model.

    Attributes
    ----------
    layers : tuple of Layer
        The layers that the results need, each after its inputs.
    results : tuple of Layer
        The ``Result`` layers, in the order of the file.
    weights : Path
        The file with the constants.
    """

    layers: tuple[Layer, ...]
    results: tuple[Layer, ...]
    weights: Path

    def constants(self) -> dict[int, np.ndarray[Any, Any]]:
        """Return the value of each ``Const`` layer by the layer's id, mapped and not read: the file is mapped once.

        Raises
        ------
        FormatError
            If the bytes of one are not all in the ``.bin``, its size is not that of its shape and element type, or
            it has an element type that NumPy has not.
        """
        found: dict[int, np.ndarray[Any, Any]] = {}
        files = ConstantFiles(self.weights.parent)
        for layer in self.layers:
            if layer.type != "Const":
                continue
            if (dtype := element_type(layer)) == STRING:
                raise FormatError(f"a constant of strings is not read\n  in: {layer}")
            shape = [_natural(entry, str(layer)) for entry in _entries(layer.attribute("shape"))]
            offset, size = (_natural(layer.attribute(name), str(layer)) for name in ("offset", "size"))
            count = math.prod(shape)
            if size != count * dtype.itemsize:
                raise FormatError(
                    f"constant has {size} bytes, {dtype} {shape} needs {count * dtype.itemsize}\n  in: {layer}"
                )
            data = files.part(self.weights, offset, size, str(layer))
            found[layer.id] = data.view(dtype.newbyteorder("<")).reshape(shape)
        return found


def element_type(layer: Layer, attribute: str = "element_type") -> np.dtype[Any]:
    """Return the element type that an attribute of *layer* names; `FormatError` if NumPy has none for it."""
    name = layer.attribute(attribute)
    if name == "string":
        return STRING
    if name not in NAMES:
        raise FormatError(f"element type {shortened(name, 40)!r} is not among {', '.join(NAMES)}\n  in: {layer}")
    return np.dtype(NAMES[name])


def dtype_of(name: str) -> np.dtype[Any] | None:
    """Return the element type of a name in lower case; None if NumPy has none for it."""
    return STRING if name == "string" else np.dtype(NAMES[name]) if name in NAMES else None


def parameter_shape(layer: Layer) -> list[Extent] | None:
    """Return the shape of a ``Parameter``, one entry per axis, or None if its rank is not known.

    ``"2,?,1..8,3.."`` is ``[2, None, (1, 8), (3, None)]``.
    """
    text = layer.attribute("shape")
    return None if text.strip() == "..." else [_extent(entry, str(layer)) for entry in _entries(text)]


def read(path: Path) -> IRGraph:
    """Return the graph of the model in the ``.xml`` file *path*; its ``.bin`` is beside it.

    Raises
    ------
    FormatError
        If *path* is no regular file, no IR of one of `IR_VERSIONS`, or a graph that does not hold together:
        an id twice, an edge from or to nothing, an input without a source or with two, a cycle.
    MissingFileError
        If there is no such file.
    """
    with open_model(path) as file:
        try:
            net = hardened_xml.parse(file.read(hardened_xml.MAX_BYTES + 1))
        except FormatError as error:
            raise FormatError(f"{error}\n  in: {shortened(path.name)!r}") from None
    if net.tag != "net" or net.attributes.get("version") not in IR_VERSIONS:
        version, known = shortened(net.attributes.get("version", ""), 40), " and ".join(IR_VERSIONS)
        raise FormatError(
            f"root is <{shortened(net.tag, 40)}> of version {version!r}\n  known: <net> of version {known}"
        )
    elements: dict[int, Element] = {}
    for section in net.all("layers"):
        for element in section.all("layer"):
            number = _number(element, "id")
            if number in elements:
                raise FormatError(
                    f"layer id {number} stands twice\n  in: lines {elements[number].line}, {element.line}"
                )
            elements[number] = element
    outputs = {number: _ports(element, "output") for number, element in elements.items()}
    sources = _sources(net, elements, outputs)
    layers = {number: _layer(number, element, sources[number]) for number, element in elements.items()}
    results = tuple(layer for layer in layers.values() if layer.type == "Result")
    if not results:
        raise FormatError("model has no Result layer")
    for layer in layers.values():
        if made := next((layers[port.layer] for port in layer.inputs if layers[port.layer].type == "Result"), None):
            raise FormatError(f"a result is read by {layer}, and is none\n  in: {made}")
    return IRGraph(_needed_in_order(results, layers), results, path.with_suffix(".bin"))


def _sources(net: Element, elements: dict[int, Element], outputs: dict[int, list[int]]) -> dict[int, tuple[Port, ...]]:
    """Return the source of each input of each layer, from the edges."""
    found: dict[int, dict[int, Port | None]] = {
        number: dict.fromkeys(_ports(element, "input")) for number, element in elements.items()
    }
    for section in net.all("edges"):
        for edge in section.all("edge"):
            start, start_port = _number(edge, "from-layer"), _number(edge, "from-port")
            end, end_port = _number(edge, "to-layer"), _number(edge, "to-port")
            if start_port not in outputs.get(start, ()):
                raise FormatError(f"edge from port {start_port} of layer {start}, no output\n  in: line {edge.line}")
            if end_port not in found.get(end, ()):
                raise FormatError(f"edge to port {end_port} of layer {end}, no input\n  in: line {edge.line}")
            if found[end][end_port] is not None:
                raise FormatError(f"input port {end_port} of layer {end} has two edges\n  in: line {edge.line}")
            found[end][end_port] = Port(start, outputs[start].index(start_port))
    sources = {}
    for number, ports in found.items():
        connected = tuple(port for port in ports.values() if port is not None)
        if len(connected) < len(ports):
            raise FormatError(f"layer {number} has an input without an edge\n  in: line {elements[number].line}")
        sources[number] = connected
    return sources


def _layer(number: int, element: Element, inputs: tuple[Port, ...]) -> Layer:
    opset = re.fullmatch(r"opset([1-9][0-9]?)", element.attributes.get("version", ""), re.ASCII)
    if "type" not in element.attributes:
        raise FormatError(f"layer {number} has no type\n  in: line {element.line}")
    return Layer(
        id=number,
        name=element.attributes.get("name", ""),
        type=element.attributes["type"],
        opset=int(opset[1]) if opset else None,
        attributes={name: text for data in element.all("data") for name, text in data.attributes.items()},
        inputs=inputs,
        tensor_names=tuple(
            _names(port.attributes.get("names", "")) for ports in element.all("output") for port in ports.all("port")
        ),
        stated=tuple(_stated(port) for ports in element.all("output") for port in ports.all("port")),
    )


def _stated(port: Element) -> tuple[tuple[int | None, ...], str]:
    """Return the extents of a port, and its element type in the spelling of constants."""
    texts = [dim.text.strip() for dim in port.all("dim")]
    extents = [int(t) if re.fullmatch(r"[0-9]{1,18}", t, re.ASCII) else None for t in texts[: MAX_RANK + 1]]
    return tuple(extents), port.attributes.get("precision", "").lower().replace("fp", "f").replace("bool", "boolean")


def _needed_in_order(results: tuple[Layer, ...], layers: dict[int, Layer]) -> tuple[Layer, ...]:
    """Return all layers that the results need, each after its inputs."""
    before: dict[int, list[int]] = {}
    waiting = [port.layer for result in results for port in result.inputs]
    while waiting:
        number = waiting.pop()
        if number not in before:
            before[number] = [port.layer for port in layers[number].inputs]
            waiting.extend(before[number])
    in_file_order = {number: before[number] for number in layers if number in before}
    try:
        return tuple(layers[number] for number in TopologicalSorter(in_file_order).static_order())
    except CycleError as error:
        first, second = error.args[1][:2]
        raise FormatError(f"layers {first} and {second} are on a cycle of edges") from None


def _ports(element: Element, side: str) -> list[int]:
    """Return the ids of the ports on the side ``"input"`` or ``"output"`` of a layer, in order."""
    ids = [_number(port, "id") for ports in element.all(side) for port in ports.all("port")]
    if len(set(ids)) < len(ids):
        raise FormatError(f"layer has two {side} ports of one id\n  in: line {element.line}")
    return ids


def _names(text: str) -> tuple[str, ...]:
    r"""Return the tensor names of a port, sorted; a comma in a name is written ``\,``."""
    return tuple(sorted(name.replace(r"\,", ",") for name in re.split(r"(?<!\\),", text) if name))


def _extent(text: str, where: str) -> Extent:
    if text in ("?", "-1"):
        return None
    low, dots, high = text.partition("..")
    if not dots:
        return _natural(text, where)
    return _natural(low or "0", where), _natural(high, where) if high else None


def _entries(text: str) -> list[str]:
    """Return the entries of a shape; the empty text is a scalar's."""
    entries = [entry.strip() for entry in text.split(",")] if text.strip() else []
    if len(entries) > MAX_RANK:
        raise FormatError(f"shape has {len(entries)} axes, at most {MAX_RANK} are known")
    return entries


def _number(element: Element, attribute: str) -> int:
    where = f"line {element.line}"
    if attribute not in element.attributes:
        raise FormatError(f"<{shortened(element.tag, 40)}> has no {attribute!r}\n  in: {where}")
    return _natural(element.attributes[attribute], where)


def _natural(text: str, where: str) -> int:
    """Return an integer of at most 19 digits: an int64 has no more."""
    if not re.fullmatch(r"[0-9]{1,19}", text, re.ASCII):
        raise FormatError(f"{shortened(text, 40)!r} is not a non-negative integer\n  in: {where}")
    return int(text)
