"""Random changes of model files that are valid: ONNX field by field, OpenVINO IR element by element.

Fields, dims and attributes become odd, huge or negative; nodes get cycles, other operators and other bodies; graphs are
nested, looped, repeated, called as functions that call themselves, and crossed with those of another file; files are
cut.
"""

from __future__ import annotations

import copy
import random
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import onnx

from tests.promises.hostile_inputs.alter import changed

Damage = Callable[..., None]

INTEGERS = (0, 1, -1, 2, 3, 7, 64, 1000, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e-30, 1e30, float("inf"), float("nan"))
TEXTS = ("", "N", "N*N", "x", "../../etc/passwd", "/dev/zero", "\0", "a" * 5000, "é", "N//2", "-1", "1 + 2*h", "N - 5")
OUTSIDE = ("../secret.bin", "/etc/passwd", "/dev/zero", "link", "sub/../../secret.bin", ".", "", "model.onnx", "pipe")


def damaged(whole: bytes, other: bytes, rnd: random.Random) -> bytes:
    """Return an ONNX model with a few fields changed, or a few bytes, or crossed with *other*."""
    if rnd.random() < 0.15:
        return _in_bytes(whole, other, rnd)
    model = onnx.ModelProto.FromString(whole)
    if rnd.random() < 0.2:
        _crossed(model, onnx.ModelProto.FromString(other), rnd)
    for damage in _few(DAMAGES, rnd):
        if model.graph.node:  # another damage may have taken all away
            damage(model, rnd)
    if model.graph.node and rnd.random() < 0.15:  # last: protobuf reads 100 messages deep
        rnd.choice((_nested, _looped))(model, rnd)
    return bytes(model.SerializeToString())


def _few(damages: Sequence[Damage], rnd: random.Random) -> list[Damage]:
    return [rnd.choice(damages) for _ in range(rnd.choice((1, 1, 1, 2, 3, 8)))]


def _in_bytes(whole: bytes, other: bytes, rnd: random.Random) -> bytes:
    """Change bytes, cut the file, or go on as *other* does."""
    at = rnd.randint(0, len(whole))
    match rnd.randrange(4):
        case 0:
            return whole[:at]
        case 1:
            return whole[:at] + other[rnd.randint(0, len(other)) :]
        case _:
            return changed([whole], rnd)


def _field(model: Any, rnd: random.Random) -> None:
    """Change one field of one message."""
    messages = list(_messages(model))
    message = rnd.choice(messages)
    fields = [f for f, _ in message.ListFields()] if rnd.random() < 0.7 else list(message.DESCRIPTOR.fields)
    if fields:
        _change(message, rnd.choice(fields), messages, rnd)


def _change(message: Any, field: Any, messages: list[Any], rnd: random.Random) -> None:
    value = getattr(message, field.name)
    if field.is_repeated:
        match rnd.randrange(4):
            case 0 if len(value):
                del value[rnd.randrange(len(value))]
            case 1 if len(value):
                kept = list(value)
                rnd.shuffle(kept)
                del value[:]
                value.extend(kept)
            case 2 if len(value):
                value.extend([rnd.choice(list(value))] * rnd.choice((1, 3, 100)))
            case _ if field.message_type is None:
                value.extend([_plain(field, messages, rnd)])
                if len(value) > 1:
                    value[rnd.randrange(len(value))] = _plain(field, messages, rnd)
    elif rnd.random() < 0.2:
        message.ClearField(field.name)
    elif field.message_type is not None:
        same = [m for m in messages if m.DESCRIPTOR is field.message_type]
        if same:
            value.CopyFrom(type(value).FromString(rnd.choice(same).SerializeToString()))
    else:
        setattr(message, field.name, _plain(field, messages, rnd))


def _plain(field: Any, messages: list[Any], rnd: random.Random) -> Any:
    """Return a value of a field that is no message."""
    if field.enum_type is not None:
        return rnd.choice([v.number for v in field.enum_type.values])
    if field.cpp_type in (field.CPPTYPE_FLOAT, field.CPPTYPE_DOUBLE):
        return rnd.choice(FLOATS)
    if field.type == field.TYPE_BYTES:
        return rnd.choice((b"", b"\xff", b"\0" * 64, b"SAME_UPPER", b"N->", b"linear", b"...ij,jk", b"a" * 4000))
    if field.cpp_type == field.CPPTYPE_STRING:
        used = [n for m in messages if m.DESCRIPTOR.name == "NodeProto" for n in (*m.input, *m.output, m.op_type)]
        return rnd.choice(used if used and rnd.random() < 0.7 else TEXTS)
    low, high = {
        field.CPPTYPE_INT32: (-(2**31), 2**31 - 1), field.CPPTYPE_UINT64: (0, 2**64 - 1), field.CPPTYPE_BOOL: (0, 1),
    }.get(field.cpp_type, (-(2**63), 2**63 - 1))  # fmt: skip
    return min(max(rnd.choice(INTEGERS), low), high)


def _messages(message: Any) -> Iterator[Any]:
    yield message
    for field, value in message.ListFields():
        if field.message_type is not None:
            for inner in value if field.is_repeated else [value]:
                yield from _messages(inner)


def _type(model: Any, rnd: random.Random) -> None:
    """Give an input or a value another element type or shape."""
    values = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    if not values:
        return
    value = rnd.choice(values)
    kind = value.type.tensor_type
    match rnd.randrange(4):
        case 0:
            kind.elem_type = rnd.randrange(-1, 30)
        case 1:
            kind.ClearField("shape")
        case 2:
            kind.shape.dim.add().dim_value = rnd.choice(INTEGERS)
        case _ if kind.shape.dim:
            entry = rnd.choice(kind.shape.dim)
            if rnd.random() < 0.5:
                entry.dim_value = rnd.choice(INTEGERS)
            else:
                entry.dim_param = rnd.choice(TEXTS)
        case _:
            kind.shape.SetInParent()


def _cycle(model: Any, rnd: random.Random) -> None:
    """Let a node read a value that is computed later."""
    node, later = rnd.choice(model.graph.node), rnd.choice(model.graph.node)
    if node.input and later.output:
        node.input[rnd.randrange(len(node.input))] = rnd.choice(later.output)


def _missing(model: Any, rnd: random.Random) -> None:
    """Take an initializer away."""
    if model.graph.initializer:
        del model.graph.initializer[rnd.randrange(len(model.graph.initializer))]


def _constant(model: Any, rnd: random.Random) -> None:
    """Give a constant other numbers or another shape."""
    found = [m for m in _messages(model) if m.DESCRIPTOR.name == "TensorProto"]
    if not found:
        return
    tensor = rnd.choice(found)
    if tensor.data_type == onnx.TensorProto.INT64 and rnd.random() < 0.7:
        size = max(1, min(len(tensor.raw_data) // 8 or len(tensor.int64_data), 64))
        values = [rnd.choice(INTEGERS) for _ in range(size)]
        tensor.CopyFrom(onnx.helper.make_tensor(tensor.name, tensor.data_type, [size], values))
    elif rnd.random() < 0.5:
        tensor.dims[:] = [rnd.choice(INTEGERS) for _ in range(rnd.choice((0, 1, 2, 5, 70)))]
    else:
        tensor.data_type = rnd.randrange(-1, 30)


def _external(model: Any, rnd: random.Random) -> None:
    """Keep a constant in a file that is none of the model's."""
    found = [m for m in _messages(model) if m.DESCRIPTOR.name == "TensorProto"]
    if found:
        tensor = rnd.choice(found)
        tensor.ClearField("raw_data")
        tensor.data_location = tensor.EXTERNAL
        for key, values in (("location", OUTSIDE), ("offset", ("0", "-1", str(1 << 62), "x")), ("length", ("8", "-1"))):
            if rnd.random() < 0.8:
                tensor.external_data.add(key=key, value=rnd.choice(values))


def _taken_apart(model: Any) -> Any:
    """Return the model's graph without its inputs, as the body of a node is."""
    inner = onnx.GraphProto()
    inner.CopyFrom(model.graph)
    inner.ClearField("input")
    return inner


def _put_back(model: Any, node: Any, outputs: Any, more: list[Any]) -> None:
    """Make a node, which has the model's graph in its attributes, the one node of the model."""
    inputs = [*model.graph.input, *more]
    kept = onnx.GraphProto(name="g", node=[node], output=outputs, input=inputs)
    model.graph.CopyFrom(kept)


def _nested(model: Any, rnd: random.Random) -> None:
    """Put the graph into branches within branches."""
    depth = rnd.choice((1, 2, 20, 28))
    inner = _taken_apart(model)
    for level in range(depth):
        names = [value.name for value in inner.output]
        node = onnx.NodeProto(op_type="If", input=["condition"], output=names)
        for name in ("then_branch", "else_branch")[: 1 if depth > 2 else 2]:
            node.attribute.add(name=name, type=onnx.AttributeProto.GRAPH).g.CopyFrom(inner)
        if level == depth - 1:
            more = onnx.helper.make_tensor_value_info("condition", onnx.TensorProto.BOOL, [])
            _put_back(model, node, inner.output, [more])
            return
        inner = onnx.GraphProto(name="g", node=[node], output=inner.output)


def _looped(model: Any, rnd: random.Random) -> None:
    """Put the graph into the body of a Loop or Scan, its inputs carried or captured."""
    body = _taken_apart(model)
    outputs = list(body.output)
    carried = list(model.graph.input)[: rnd.choice((0, 1, 1, 2))]
    if rnd.random() < 0.3:
        node = onnx.NodeProto(op_type="Scan", input=[x.name for x in carried])
        node.attribute.append(onnx.helper.make_attribute("num_scan_inputs", rnd.choice((0, 1, 1, 2, -1))))
        heads: list[Any] = []
        more: list[Any] = []
    else:
        node = onnx.NodeProto(op_type="Loop", input=["trips", "", *(x.name for x in carried)])
        heads = [
            onnx.helper.make_tensor_value_info("i", onnx.TensorProto.INT64, []),
            onnx.helper.make_tensor_value_info("go", onnx.TensorProto.BOOL, []),
        ]
        more = [onnx.helper.make_tensor_value_info("trips", onnx.TensorProto.INT64, [])]
        body.node.add(op_type="Identity", input=["go"], output=["go_on"])
        body.output.insert(0, onnx.helper.make_tensor_value_info("go_on", onnx.TensorProto.BOOL, []))
    body.input.extend([*heads, *carried])
    node.output.extend(value.name for value in outputs)
    node.attribute.add(name="body", type=onnx.AttributeProto.GRAPH).g.CopyFrom(body)
    _put_back(model, node, outputs, more)
    if more and rnd.random() < 0.6:
        del model.graph.input[-1]
        trips = onnx.helper.make_tensor("trips", onnx.TensorProto.INT64, [], [rnd.choice(INTEGERS)])
        model.graph.initializer.append(trips)


def _repeated(model: Any, rnd: random.Random) -> None:
    """Let a node read its own output in a chain of copies."""
    found = [node for node in model.graph.node if node.input and node.output]
    if not found:
        return
    node = rnd.choice(found)
    last, at = node.output[0], rnd.randrange(len(node.input))
    for k in range(rnd.choice((2, 10, 100, 1000))):
        again = model.graph.node.add()
        again.CopyFrom(node)
        again.input[at] = last
        again.output[:] = [f"{name}.{k}" for name in node.output]
        last = again.output[0]
    if model.graph.output:
        model.graph.output[0].name = last
        if rnd.random() < 0.8:
            model.graph.output[0].type.tensor_type.ClearField("shape")


def _called(model: Any, rnd: random.Random) -> None:
    """Make a node a call of a local function: of another opset, that calls itself, or calls another one twice."""
    node = rnd.choice(model.graph.node)
    domain = rnd.choice(("local", "local", "", "com.microsoft"))
    sets = list(model.opset_import)
    if rnd.random() < 0.4:
        sets = [onnx.helper.make_opsetid("", rnd.choice((1, 7, 9, 11, 13, 18, 21, 24, 99)))]
    names = [name for name in dict.fromkeys(node.input) if name]
    kept = onnx.NodeProto()
    kept.CopyFrom(node)
    depth = rnd.choice((1, 1, 2, 12, 40))
    for k in range(depth):
        inner = onnx.NodeProto(op_type=f"F{k - 1}", domain=domain, input=names, output=node.output)
        body = [kept] if not k else [inner]
        if k and names and rnd.random() < 0.8:
            again = onnx.NodeProto()
            again.CopyFrom(inner)
            again.input[0] = node.output[0] if node.output else ""
            again.output[:] = [f"{name}.2" for name in node.output]
            body.append(again)
        results = body[-1].output
        model.functions.add(
            name=f"F{k}", domain=domain, input=names, output=results, node=body,
            opset_import=[*sets, onnx.helper.make_opsetid(domain, 1)][: rnd.choice((2, 2, 2, 1, 0))],
        )  # fmt: skip
    if rnd.random() < 0.2:
        model.functions[0].node[0].op_type = f"F{depth - 1}"
        model.functions[0].node[0].domain = domain
    call = onnx.NodeProto(op_type=f"F{depth - 1}", domain=domain, input=names, output=node.output)
    node.CopyFrom(call)
    if rnd.random() < 0.8:
        model.opset_import.append(onnx.helper.make_opsetid(domain, 1))


def _version(model: Any, rnd: random.Random) -> None:
    """Import another version of operators, or leave a domain out."""
    if model.opset_import and rnd.random() < 0.9:
        entry = rnd.choice(model.opset_import)
        entry.version = rnd.choice((-1, 0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 15, 18, 20, 23, 26, 1000, 2**62))
    else:
        del model.opset_import[:]


def _unordered(model: Any, rnd: random.Random) -> None:
    """Write the nodes in another order."""
    nodes = list(model.graph.node)
    rnd.shuffle(nodes)
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def _crossed(model: Any, other: Any, rnd: random.Random) -> None:
    """Take a node, a graph or the functions of another model into this one."""
    if not (model.graph.node and other.graph.node):
        return
    match rnd.randrange(3):
        case 0:  # another operator in the place of a node
            node, taken = rnd.choice(model.graph.node), rnd.choice(other.graph.node)
            inputs, outputs = list(node.input), list(node.output)
            node.CopyFrom(taken)
            count = len(taken.input)
            node.input[:] = (inputs + list(taken.input))[: rnd.choice((count, count, len(inputs)))]
            node.output[:] = (outputs + list(taken.output))[: max(len(outputs), 1)]
            model.graph.initializer.extend(t for t in other.graph.initializer if t.name in node.input)
        case 1:  # one model behind the other
            if not (model.graph.output and other.graph.input):
                return
            first = other.graph.input[0].name
            model.graph.node.add(op_type="Identity", input=[rnd.choice(model.graph.output).name], output=[first])
            for part in ("node", "initializer", "output", "value_info"):
                getattr(model.graph, part).extend(getattr(other.graph, part))
            model.graph.input.extend(list(other.graph.input)[1:])
            model.functions.extend(other.functions)
        case _:  # the body of a node
            node = rnd.choice(model.graph.node)
            graphs = [a for a in node.attribute if a.type == onnx.AttributeProto.GRAPH]
            if not graphs:
                node.op_type = rnd.choice(("If", "Loop", "Scan", "SequenceMap"))
                graphs = [node.attribute.add(name=rnd.choice(("body", "then_branch")), type=5)]
            rnd.choice(graphs).g.CopyFrom(other.graph)


def _operator(model: Any, rnd: random.Random) -> None:
    """Make a node another operation, or give it an attribute of another one."""
    node = rnd.choice(model.graph.node)
    schema = rnd.choice(_SCHEMAS)
    if rnd.random() < 0.5:
        node.op_type = schema.name
    for attribute in rnd.sample(sorted(schema.attributes), min(2, len(schema.attributes))):
        kind = schema.attributes[attribute].type.value
        value = {1: 0.5, 2: rnd.choice(INTEGERS), 3: rnd.choice(TEXTS), 6: [1.0, -1.0], 8: ["a", "b"],
                 7: [rnd.choice(INTEGERS) for _ in range(rnd.choice((0, 1, 2, 4)))]}.get(kind)  # fmt: skip
        if value not in (None, []):
            node.attribute.append(onnx.helper.make_attribute(attribute, value))


_SCHEMAS = [s for s in onnx.defs.get_all_schemas() if s.domain == ""]
DAMAGES: tuple[Damage, ...] = (
    _field, _field, _field, _type, _type, _cycle, _missing, _constant, _constant, _external, _operator, _operator,
    _repeated, _called, _version, _unordered,
)  # fmt: skip


def damaged_ir(text: str, other: str, rnd: random.Random) -> bytes:
    """Return the ``.xml`` of an IR with a few elements or attributes changed, or a few bytes, or more of *other*."""
    if rnd.random() < 0.15:
        return _in_bytes(text.encode(), other.encode(), rnd)
    root, donor = ET.fromstring(text), ET.fromstring(other)
    for damage in _few(IR_DAMAGES, rnd):
        if len(root):
            with suppress(RecursionError):  # elements that an earlier change nested deeply are not copied
                damage(root, donor, rnd)
    entity = b'<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/passwd">]>' if rnd.random() < 0.03 else b""
    return entity + ET.tostring(root).replace(b"\0", b"")


def _parents(root: ET.Element) -> dict[ET.Element, ET.Element]:
    return {child: parent for parent in root.iter() for child in parent}


def _one_of(root: ET.Element, rnd: random.Random, *tags: str) -> ET.Element | None:
    found = [element for element in root.iter() if element.tag in tags]
    return rnd.choice(found) if found else None


def _ir_structure(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Remove an element, write it twice, or put one of its kind from the other file in its place."""
    parents = _parents(root)
    element = rnd.choice(list(parents))
    parent, twin = parents[element], _one_of(donor, rnd, element.tag)
    match rnd.randrange(3):
        case 0:
            parent.remove(element)
        case 1:
            parent.append(copy.deepcopy(element))
        case _ if twin is not None:
            parent[list(parent).index(element)] = copy.deepcopy(twin)


def _ir_text(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Write something else for an attribute, or between tags."""
    element = rnd.choice(list(_parents(root)))
    if element.text and element.text.strip():
        element.text = rnd.choice((*map(str, INTEGERS), "", "?", "-1", "1.5", "9" * 400))
    elif element.attrib:
        name = rnd.choice(sorted(element.attrib))
        element.set(name, rnd.choice((*map(str, INTEGERS), *TEXTS[1:5], "1,2", "f16", "i64", "Concat", "8,", "?", "")))


def _ir_exchange(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Exchange the attributes of two elements of one kind."""
    element = rnd.choice(list(_parents(root)))
    other = _one_of(root, rnd, element.tag)
    if other is not None:
        element.attrib, other.attrib = other.attrib, element.attrib


def _ir_dim(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Make a dim odd, huge or negative, or a shape longer or shorter; in the layers' data too."""
    element = _one_of(root, rnd, "dim", "port", "data")
    if element is None:
        return
    if element.tag == "dim":
        element.text = rnd.choice((*map(str, INTEGERS), "9" * 400))
    elif element.tag == "port":
        for _ in range(rnd.choice((1, 1, 70))):
            ET.SubElement(element, "dim").text = str(rnd.choice(INTEGERS))
    elif element.attrib:
        name = rnd.choice(sorted(element.attrib))
        parts = element.get(name, "").split(",")
        parts[rnd.randrange(len(parts))] = str(rnd.choice(INTEGERS))
        element.set(name, ",".join(parts * rnd.choice((1, 1, 2, 50))))


def _ir_edge(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Let an edge begin or end at another layer or port, so that there may be a cycle."""
    edge, other = _one_of(root, rnd, "edge"), _one_of(root, rnd, "edge")
    if edge is not None and other is not None:
        name = rnd.choice(("from-layer", "from-port", "to-layer", "to-port"))
        source = rnd.choice(("from-layer", "from-port", "to-layer", "to-port"))
        edge.set(name, rnd.choice((other.get(source, ""), other.get(source, ""), str(rnd.choice(INTEGERS)), "")))


def _ir_layer(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Make a layer another operation of another opset, with the data of one from the other file."""
    layer, taken = _one_of(root, rnd, "layer"), _one_of(donor, rnd, "layer")
    if layer is None or taken is None:
        return
    layer.set("type", rnd.choice((taken.get("type", ""), *LAYERS)))
    if rnd.random() < 0.5:
        layer.set("version", rnd.choice(("opset1", "opset5", "opset8", "opset16", "opset0", "extension", "")))
    data, other = layer.find("data"), taken.find("data")
    if other is not None and rnd.random() < 0.7:
        if data is not None:
            layer.remove(data)
        layer.insert(0, copy.deepcopy(other))


def _ir_body(root: ET.Element, donor: ET.Element, rnd: random.Random) -> None:
    """Put a whole network into the body of a layer, a few levels deep."""
    layer = _one_of(root, rnd, "layer")
    if layer is None:
        return
    inner = rnd.choice((root, donor))
    layers, edges = inner.find("layers"), inner.find("edges")
    held = [copy.deepcopy(part) for part in (layers, edges) if part is not None]
    for _ in range(rnd.choice((1, 1, 3, 300))):
        body = ET.Element(rnd.choice(("body", "then_body", "else_body")))
        body.extend(held)
        held = [body]
    layer.set("type", rnd.choice(("TensorIterator", "Loop", "If")))
    layer.extend(held)


IrDamage = Callable[[ET.Element, ET.Element, random.Random], None]
IR_DAMAGES: tuple[IrDamage, ...] = (
    _ir_structure, _ir_structure, _ir_text, _ir_text, _ir_exchange, _ir_dim, _ir_dim, _ir_edge, _ir_layer, _ir_layer,
    _ir_body,
)  # fmt: skip
LAYERS = (
    "Concat", "Reshape", "Transpose", "Convolution", "GroupConvolution", "MatMul", "Const", "Parameter", "Result",
    "Pad", "Split", "VariadicSplit", "Gather", "GatherND", "ShapeOf", "StridedSlice", "Broadcast", "Tile",
    "Loop", "If", "TensorIterator", "TopK", "NonMaxSuppression", "ReadValue", "Assign", "Interpolate", "Range",
    "OneHot", "LSTMSequence", "BatchToSpace", "SpaceToBatch", "DepthToSpace", "ShuffleChannels", "ReduceMean", "Einsum",
)  # fmt: skip
