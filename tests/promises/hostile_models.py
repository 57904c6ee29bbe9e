"""Damage whole models, and do with them what users do.

An ONNX model is damaged field by field: types, shapes, names, attributes, cycles, missing initializers, nested graphs,
external data outside the folder.  An IR is damaged element by element, and its ``.bin`` is cut or absent.  Then the
model is read and explained, verified against the model that it was, optimized, and given to the commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import onnx

import symlayout as sl
from symlayout.commands import command_line
from tests.onnx_nodes import cases, modules
from tests.promises.alter import Item, changed
from tests.support.paths import ROOT

EXPORTED = ROOT / "tests" / "models" / "exported"
EXAMPLES = ROOT / "examples" / "models"
MOST = 20_000  # bytes of an undamaged model, so that what is done with it takes few steps
SHOWN = 40  # values of a model that are explained
INTEGERS = (0, 1, -1, 2, 3, 7, 64, 1000, 2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))
FLOATS = (0.0, -1.0, 1e-30, 1e30, float("inf"), float("nan"))
TEXTS = ("", "N", "N*N", "x", "../../etc/passwd", "/dev/zero", "\0", "a" * 5000, "é", "N//2", "-1", "1 + 2*h", "N - 5")
OUTSIDE = ("../secret.bin", "/etc/passwd", "/dev/zero", "link", "sub/../../secret.bin", ".", "", "model.onnx", "pipe")


def onnx_models(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield ONNX models that are damaged, of exported networks and of the tests of all operators."""
    seeds = [p.read_bytes() for p in sorted((*EXPORTED.glob("*.onnx"), *EXAMPLES.glob("*.onnx"))) if _is_small(p)]
    tests = rnd.sample(modules(), min(count, 60))
    for number in range(count):
        whole = rnd.choice(seeds) if rnd.random() < 0.4 else _test_model(rnd, tests)
        if whole is not None:
            seed = rnd.randrange(1 << 30)
            yield f"onnx-models {number}, {seed}", partial(_use_onnx, whole, seed, folder)


def openvino_models(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield IRs that are damaged, of exported networks."""
    files = [p for p in sorted((*EXPORTED.glob("*.xml"), *EXAMPLES.glob("*.xml"))) if _is_small(p)]
    for number in range(count):
        file, seed = rnd.choice(files), rnd.randrange(1 << 30)
        yield f"openvino-models {number}: {file.name}, {seed}", partial(_use_openvino, file, seed, folder)


def _is_small(path: Path) -> bool:
    return path.stat().st_size <= MOST


def _test_model(rnd: random.Random, tests: list[str]) -> bytes | None:
    """Return the model of a test of an operator."""
    found = [case.model for case in cases(rnd.choice(tests)) if case.model is not None]
    data = rnd.choice(found).SerializeToString() if found else b""
    return data if 0 < len(data) <= MOST else None


def damaged(whole: bytes, rnd: random.Random) -> bytes:
    """Return an ONNX model with a few fields changed, or a few bytes."""
    if rnd.random() < 0.1:
        return changed([whole], rnd)
    model = onnx.ModelProto.FromString(whole)
    damages = rnd.sample(DAMAGES, rnd.choice((1, 1, 1, 2, 3, 8)))
    for damage in sorted(damages, key=lambda damage: damage is _nested):  # last: protobuf reads 100 messages deep
        if model.graph.node:  # another damage may have taken all away
            damage(model, rnd)
    return bytes(model.SerializeToString())


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


def _nested(model: Any, rnd: random.Random) -> None:
    """Put the graph into branches within branches."""
    depth = rnd.choice((1, 2, 20, 28))
    inner = onnx.GraphProto()
    inner.CopyFrom(model.graph)
    inner.ClearField("input")
    for _ in range(depth):
        names = [value.name for value in inner.output]
        node = onnx.NodeProto(op_type="If", input=["condition"], output=names)
        for name in ("then_branch", "else_branch")[: 1 if depth > 2 else 2]:
            node.attribute.add(name=name, type=onnx.AttributeProto.GRAPH).g.CopyFrom(inner)
        outer = onnx.GraphProto(name="g", node=[node], output=inner.output)
        inner = outer
    inner.input.extend(model.graph.input)
    inner.input.append(onnx.helper.make_tensor_value_info("condition", onnx.TensorProto.BOOL, []))
    model.graph.CopyFrom(inner)


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
DAMAGES: tuple[Callable[[Any, random.Random], None], ...] = (
    _field, _field, _field, _type, _type, _cycle, _missing, _constant, _constant, _external, _nested, _operator,
)  # fmt: skip


def damaged_ir(text: str, rnd: random.Random) -> bytes:
    """Return the ``.xml`` of an IR with a few elements or attributes changed, or a few bytes."""
    if rnd.random() < 0.1:
        return changed([text.encode()], rnd)
    root = ET.fromstring(text)
    for _ in range(rnd.choice((1, 1, 1, 2, 3, 8))):
        parents = {child: parent for parent in root.iter() for child in parent}
        element = rnd.choice(list(parents))
        match rnd.randrange(6):
            case 0:
                parents[element].remove(element)
            case 1:
                parents[element].append(element)
            case 2 if element.text and element.text.strip():
                element.text = rnd.choice((*map(str, INTEGERS), "", "?", "-1", "1.5", "9" * 400))
            case 3:
                other = rnd.choice(list(parents))
                if element.tag == other.tag:
                    element.attrib, other.attrib = other.attrib, element.attrib
            case _ if element.attrib:
                name = rnd.choice(sorted(element.attrib))
                element.set(
                    name, rnd.choice((*map(str, INTEGERS), *TEXTS[1:5], "1,2", "f16", "i64", "Concat", "8,", "?"))
                )
    entity = b'<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/passwd">]>' if rnd.random() < 0.03 else b""
    return entity + ET.tostring(root).replace(b"\0", b"")


def _use_onnx(whole: bytes, seed: int, folder: Path) -> None:
    rnd = random.Random(seed)
    inside, before = _folder(folder), folder / "before.onnx"
    before.write_bytes(whole)
    path = inside / "model.onnx"
    path.write_bytes(damaged(whole, rnd))
    _use(path, before, rnd)


def _use_openvino(file: Path, seed: int, folder: Path) -> None:
    rnd = random.Random(seed)
    path = _folder(folder) / "model.xml"
    path.write_bytes(damaged_ir(file.read_text(encoding="utf-8"), rnd))
    constants = file.with_suffix(".bin").read_bytes() if file.with_suffix(".bin").exists() else b""
    match rnd.randrange(8):
        case 0:
            path.with_suffix(".bin").unlink(missing_ok=True)
        case 1:
            path.with_suffix(".bin").write_bytes(constants[: rnd.randint(0, len(constants))])
        case _:
            path.with_suffix(".bin").write_bytes(constants)
    _use(path, file, rnd)


def _folder(folder: Path) -> Path:
    """Return a folder inside *folder* with traps: a link that leaves it, and a pipe that nobody writes."""
    inside = folder / "inside"
    if not inside.exists():
        inside.mkdir()
        (folder / "secret.bin").write_bytes(b"secret" * 64)
        (inside / "link").symlink_to(folder / "secret.bin")
        os.mkfifo(inside / "pipe")
    return inside


def _use(path: Path, before: Path, rnd: random.Random) -> None:
    """Do one thing with the model, and assert that only the folder of the model is written to."""
    held = _files(path.parent.parent)
    try:
        USES[rnd.randrange(len(USES))](path, before)
    finally:
        assert _files(path.parent.parent) == held, "a file outside the folder is written"


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the time of the files beside the folder of the model."""
    found = {p.name: p.stat() for p in folder.iterdir() if p.is_file() and p.name != "notes"}
    return {name: (s.st_size, s.st_mtime_ns) for name, s in found.items()}


def _read(path: Path, _: Path) -> None:
    model = sl.read_model(path)
    for name in list(model.tensors)[-SHOWN:]:
        t = model.tensors[name]
        str(t.shape), str(t.requires), t.bounds(), model.explain(name)


def _verify(path: Path, before: Path) -> None:
    str(sl.verify(before, path).explain())


def _optimize(path: Path, _: Path) -> None:
    sl.optimize(path).save(path.with_name("smaller.onnx"))


def _command(*words: str) -> Callable[[Path, Path], None]:
    """Return a use of a command; MODEL, BEFORE and OUT in *words* are files."""

    def use(path: Path, before: Path) -> None:
        files = {"MODEL": str(path), "BEFORE": str(before), "OUT": str(path.with_name("out.onnx"))}
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = command_line.main([files.get(word, word) for word in words])
        assert status in (0, 1, 2, 3, 4), f"exit status {status}"
        assert "Traceback" not in said.getvalue(), said.getvalue()[-400:]
        assert "defect of symlayout" not in said.getvalue(), said.getvalue()[-400:]

    return use


USES: tuple[Callable[[Path, Path], None], ...] = (
    _read, _read, _verify, _optimize,
    _command("infer", "MODEL", "--all", "--json"), _command("infer", "MODEL", "--write", "OUT"),
    _command("show", "MODEL"), _command("explain", "MODEL"),
    _command("verify", "BEFORE", "MODEL"), _command("optimize", "MODEL", "-o", "OUT"),
)  # fmt: skip
