"""Models come back as OpenVINO saved them; every hostile file is a typed error after few steps."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from symlayout.errors import FormatError, MissingFileError, ShapeError, SymlayoutError, UnknownOpError
from symlayout.maps.interpreter import interpret
from symlayout.models.hardened_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from symlayout.models.load_openvino import load_openvino
from symlayout.models.load_outputs import load
from symlayout.models.openvino_ir import read
from tests.support.paths import ROOT
from tests.support.steps import STEPS, counted

MODELS = ROOT / "examples" / "models"

# A model with two dims and one operation, as OpenVINO writes it, and its constants: [1, 5], [0, 2], [0, 0].
WEIGHTS = np.array([1, 5, 0, 2, 0, 0], "<i8").tobytes()
GOOD = """<?xml version="1.0"?>
<net name="small" version="11">
  <layers>
    <layer id="0" name="data" type="Parameter" version="opset1">
      <data shape="10,2" element_type="f32" />
      <output><port id="0" precision="FP32" names="data"><dim>10</dim><dim>2</dim></port></output>
    </layer>
    <layer id="1" name="block" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="0" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="2" name="begin" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="16" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="3" name="end" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="32" size="16" />
      <output><port id="0" precision="I64"><dim>2</dim></port></output>
    </layer>
    <layer id="4" name="b2s" type="BatchToSpace" version="opset2">
      <input><port id="0" /><port id="1" /><port id="2" /><port id="3" /></input>
      <output><port id="4" names="out"><dim>2</dim><dim>8</dim></port></output>
    </layer>
    <layer id="5" name="result" type="Result" version="opset1"><input><port id="0" /></input></layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="4" to-port="0" />
    <edge from-layer="1" from-port="0" to-layer="4" to-port="1" />
    <edge from-layer="2" from-port="0" to-layer="4" to-port="2" />
    <edge from-layer="3" from-port="0" to-layer="4" to-port="3" />
    <edge from-layer="4" from-port="4" to-layer="5" to-port="0" />
  </edges>
  <rt_info><info name="OpenVINO Runtime" value="2026" /></rt_info>
</net>
"""


def changed(before: str, after: str) -> str:
    """Return the good model with one text in it replaced."""
    assert GOOD.count(before) == 1, before
    return GOOD.replace(before, after)


def edge(start: int, start_port: int, end: int, end_port: int) -> str:
    """Return an edge as the model writes it."""
    return f'<edge from-layer="{start}" from-port="{start_port}" to-layer="{end}" to-port="{end_port}" />'


def extended(xml: str, layers: str, edges: str) -> str:
    """Return a model with more layers and edges."""
    return xml.replace("</layers>", layers + "</layers>").replace("</edges>", edges + "</edges>")


def write(folder: Path, xml: str | bytes, weights: bytes | None = WEIGHTS) -> Path:
    """Return the path of a model made of *xml* and *weights*."""
    path = folder / "model.xml"
    path.write_bytes(xml if isinstance(xml, bytes) else xml.encode())
    if weights is not None:
        path.with_suffix(".bin").write_bytes(weights)
    return path


# ---------------------------------------------------------------------- models that OpenVINO saved


@pytest.mark.parametrize(
    ("model", "corpus", "row"),
    [
        ("batch_to_space_2d", "openvino_batch_to_space", "ov.b2s.spec.2d"),
        ("batch_to_space_5d", "openvino_batch_to_space", "ov.b2s.spec.5d"),
        ("space_to_batch_5d", "openvino_space_to_batch", "ov.s2b.spec.5d"),
        ("space_to_depth", "openvino_space_to_depth", "ov.s2d.spec"),
    ],
)
def test_saved_model_computes_the_worked_example_of_its_spec(model: str, corpus: str, row: str) -> None:
    rows = json.loads((ROOT / "tests" / "conformance" / f"{corpus}.json").read_text(encoding="utf-8"))
    (expected,) = [r for r in rows if r["id"] == row]
    (output,) = load(MODELS / f"{model}.xml").values()
    shape = expected["input"]["shape"]
    found = interpret(output, np.arange(np.prod(shape), dtype=np.float32).reshape(shape))
    assert output.shape == found.shape == tuple(expected["expect"]["shape"])
    assert found.ravel().tolist() == expected["expect"]["values"]


def test_dynamic_shapes_keep_their_intervals() -> None:
    (output,) = load(MODELS / "round_trip_dynamic.xml").values()
    (data,) = output.leaves()
    assert data.bounds() == [(0, None), (1, 8), (2, None), (0, None)]
    assert output.shape == data.shape
    assert output.bounds() == [(0, None), (1, 8), (2, None), (1, None)]  # pads 1 + 0 and block 2: odd
    assert [str(r) for r in output.requires] == ["Eq(Mod(data.2, 2), 0)", "Eq(Mod(data.3, 2), 1)"]


def test_outputs_are_called_by_tensor_name_else_by_layer(tmp_path: Path) -> None:
    assert list(load(write(tmp_path, GOOD))) == ["out"]
    assert list(load(write(tmp_path, changed(' names="out"', r' names="z,b\,1"')))) == ["b,1"]
    assert list(load(write(tmp_path, changed(' names="out"', "")))) == ["b2s"]


@pytest.mark.parametrize(
    ("name", "leaf"),
    [("a:0", "a_0"), ("1/é", "_1__"), ("", "data"), ("x" * 999, "x" * 80)],
    ids=["colon", "digit", "none", "long"],
)
def test_leaves_are_identifiers(tmp_path: Path, name: str, leaf: str) -> None:
    (output,) = load(write(tmp_path, changed('names="data"', f'names="{name}"'))).values()
    assert [x.name for x in output.leaves()] == [leaf]


def test_leaves_of_one_name_stay_apart(tmp_path: Path) -> None:
    second = """<layer id="9" name="x" type="Parameter" version="opset1"><data shape="?" element_type="u8" />
      <output><port id="0" names="da:ta" /></output></layer>
      <layer id="10" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>"""
    first = changed('names="data"', 'names="da_ta"')
    outputs = load(write(tmp_path, extended(first, second, edge(9, 0, 10, 0))))
    leaves = [(name, x.name) for name, output in outputs.items() for x in output.leaves()]
    assert leaves == [("out", "da_ta"), ("da:ta", "da_ta_2")]


def test_outputs_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    result = '<layer id="8" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>'
    assert list(load(write(tmp_path, extended(GOOD, result, edge(0, 0, 8, 0))))) == ["out", "data"]


@pytest.mark.parametrize(
    ("source", "target", "error"),
    [
        ("u8", "i64", None),
        ("i8", "i64", None),
        ("u8", "f32", "constant of uint8 cannot be converted to float32 exactly"),
        ("i8", "u64", "constant of int8 cannot be converted to uint64 exactly"),
    ],
)
def test_converted_integer_constant_is_a_constant_if_it_fits(
    tmp_path: Path, source: str, target: str, error: str | None
) -> None:
    block = [1, 5] if source == "u8" else [1, 5 if error is None else -5]
    convert = f"""<layer id="7" name="c" type="Convert" version="opset1">
      <data destination_type="{target}" />
      <input><port id="0" /></input><output><port id="1" /></output></layer>"""
    xml = changed('"i64" shape="2" offset="0" size="16"', f'"{source}" shape="2" offset="48" size="2"')
    xml = extended(xml.replace(edge(1, 0, 4, 1), edge(1, 0, 7, 0)), convert, edge(7, 1, 4, 1))
    path = write(tmp_path, xml, WEIGHTS + bytes(b % 256 for b in block))
    if error is None:
        assert load(path)["out"].shape == (2, 8)
    else:
        with pytest.raises(FormatError, match=error):
            load(path)


def test_newer_operation_sets_have_the_older_operations(tmp_path: Path) -> None:
    assert load(write(tmp_path, changed('version="opset2"', 'version="opset15"')))["out"].shape == (2, 8)


def test_operations_on_several_tensors_and_with_several_results(tmp_path: Path) -> None:
    """The data in two halves along axis 0, joined in the other order along axis 1."""
    layers = """<layer id="10" name="halves" type="Split" version="opset1"><data num_splits="2" />
      <input><port id="0" /><port id="1" /></input>
      <output><port id="2" /><port id="3" names="second" /></output></layer>
      <layer id="11" name="axis" type="Const" version="opset1">
      <data element_type="i64" shape="" offset="32" size="8" /><output><port id="0" /></output></layer>
      <layer id="12" name="pair" type="Concat" version="opset1"><data axis="1" />
      <input><port id="0" /><port id="1" /></input><output><port id="2" names="pair" /></output></layer>
      <layer id="13" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>
      <layer id="14" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>
      <layer id="15" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>"""
    edges = [
        (0, 0, 10, 0),
        (11, 0, 10, 1),
        (10, 3, 12, 0),
        (10, 2, 12, 1),
        (12, 2, 13, 0),
        (10, 2, 14, 0),
        (10, 3, 15, 0),
    ]
    path = write(tmp_path, extended(GOOD, layers, "".join(edge(*e) for e in edges)))
    outputs = load(path)
    assert list(outputs) == ["out", "pair", "halves.0", "second"]
    x = np.arange(20, dtype=np.float32).reshape(10, 2)
    assert interpret(outputs["pair"], x).tolist() == np.concatenate([x[5:], x[:5]], axis=1).tolist()
    assert interpret(outputs["second"], x).tolist() == x[5:].tolist()


def test_an_input_of_several_that_is_constant(tmp_path: Path) -> None:
    layers = """<layer id="12" name="pair" type="Concat" version="opset1"><data axis="0" />
      <input><port id="0" /><port id="1" /></input><output><port id="2" /></output></layer>
      <layer id="13" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>"""
    edges = edge(0, 0, 12, 0) + edge(1, 0, 12, 1) + edge(12, 2, 13, 0)
    with pytest.raises(FormatError, match=r"input inputs\[1\] is not computed from an input of the model"):
        load(write(tmp_path, extended(GOOD, layers, edges)))


def test_truth_values_of_attributes(tmp_path: Path) -> None:
    layers = """<layer id="11" name="shape" type="Const" version="opset1">
      <data element_type="i64" shape="2" offset="32" size="16" /><output><port id="0" /></output></layer>
      <layer id="12" name="flat" type="Reshape" version="opset1"><data special_zero="true" />
      <input><port id="0" /><port id="1" /></input><output><port id="2" /></output></layer>
      <layer id="13" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>"""
    edges = edge(0, 0, 12, 0) + edge(11, 0, 12, 1) + edge(12, 2, 13, 0)
    assert load(write(tmp_path, extended(GOOD, layers, edges)))["flat"].shape == (10, 2)


def test_shapes_that_the_model_computes(tmp_path: Path) -> None:
    """The rows in pairs, ``x.reshape(x.shape[0] // 2, 2, x.shape[1])``, as OpenVINO writes it."""

    def layer(number: int, kind: str, inputs: int, data: str = "", version: int = 1) -> str:
        ports = "".join(f'<port id="{k}" />' for k in range(inputs))
        output = f'<output><port id="9" names="t{number}" /></output>' if kind != "Result" else ""
        return (
            f'<layer id="{number}" name="l{number}" type="{kind}" version="opset{version}">{data}'
            f"<input>{ports}</input>{output}</layer>"
        )

    def number(value: int, at: int, shape: str = "1") -> str:
        offset = 8 * [1, 5, 0, 2].index(value)
        data = f'<data element_type="i64" shape="{shape}" offset="{offset}" size="8" />'
        return layer(at, "Const", 0, data)

    layers = [
        layer(10, "ShapeOf", 1, '<data output_type="i64" />', 3),
        number(0, 11),
        number(1, 12),
        number(0, 13, ""),
        number(2, 14),
        layer(15, "Gather", 3, '<data batch_dims="0" />', 8),
        layer(16, "Gather", 3, '<data batch_dims="0" />', 8),
        layer(17, "Divide", 2, '<data auto_broadcast="numpy" m_pythondiv="true" />'),
        layer(18, "Convert", 1, '<data destination_type="i64" />'),
        layer(19, "Concat", 3, '<data axis="0" />'),
        layer(20, "Reshape", 2, '<data special_zero="false" />'),
        layer(21, "Result", 1),
    ]
    into = {
        10: [0],
        15: [10, 11, 13],
        16: [10, 12, 13],
        17: [15, 14],
        18: [17],
        19: [18, 14, 16],
        20: [0, 19],
        21: [20],
    }
    edges = [edge(start, 9 if start else 0, end, k) for end, starts in into.items() for k, start in enumerate(starts)]
    xml = extended(changed('shape="10,2"', 'shape="?,?"'), "".join(layers), "".join(edges))
    y = load(write(tmp_path, xml))["t20"]
    assert str(y.shape) == "(data.0/2, 2, data.1)"
    assert [str(r) for r in y.requires] == ["Eq(Mod(data.0, 2), 0)"]


# ---------------------------------------------------------------------- files that nobody should trust

LAUGHS = (
    '<!DOCTYPE net [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
HOSTILE: dict[str, tuple[str | bytes, str]] = {
    "billion laughs": (LAUGHS + "<net>&i;</net>", "XML declares a document type"),
    "external entity": (
        '<!DOCTYPE net [<!ENTITY x SYSTEM "file:///etc/passwd">]><net>&x;</net>',
        "XML declares a document type",
    ),
    "external DTD": (
        '<!DOCTYPE net SYSTEM "http://127.0.0.1/x.dtd">' + GOOD.partition("?>")[2],
        "XML declares a document type",
    ),
    "deep nesting": ("<a>" * (MAX_DEPTH + 1), f"XML is nested more than {MAX_DEPTH} elements deep"),
    "very deep nesting": ("<a>" * 1_000_000, f"XML is nested more than {MAX_DEPTH} elements deep"),
    "many attributes": (
        "<net" + "".join(f' a{i}=""' for i in range(500_000)) + "/>",
        "XML element has more than 64 attributes",
    ),
    "a million attributes": (
        "<net" + "".join(f' a{i}=""' for i in range(1_000_000)) + "/>",
        f"XML has more than {MAX_BYTES} bytes",
    ),
    "many names": (
        "<net>" + "".join(f"<a{i}/>" for i in range(100_000)) + "</net>",
        "XML has more than 10000 different names",
    ),
    "many elements": (
        "<net>" + "<a/>" * MAX_ELEMENTS + "</net>",
        f"XML has more than {MAX_ELEMENTS} elements",
    ),
    "oversized": (b"<net>" + b" " * MAX_BYTES + b"</net>", f"XML has more than {MAX_BYTES} bytes"),
    "long text": (b"<net>" + b" " * (MAX_BYTES - 11) + b"</net>", "root is <net> of version ''"),
    "truncated": (GOOD[: len(GOOD) // 2], "XML is not well formed"),
    "empty": ("", "XML is not well formed: no element found"),
    "binary": (bytes(range(256)), "XML is not UTF-8"),
    "not UTF-8": (GOOD.replace("small", "é").encode("latin-1"), "XML is not UTF-8"),
    "UTF-16": (GOOD.encode("utf-16"), "XML is not UTF-8"),
    "another encoding declared": (
        GOOD.replace('"1.0"', '"1.0" encoding="latin-1"', 1).replace("small", "é").encode("latin-1"),
        "XML is not UTF-8",
    ),
    "another root": ("<svg/>", "root is <svg>"),
    "no layers": ('<net version="11"/>', "model has no Result layer"),
    "layer missing": (
        GOOD.replace('id="3" name="end"', 'id="33" name="end"'),
        "edge from port 0 of layer 3, no output",
    ),
    "operation without inputs": (
        changed('<input><port id="0" /><port id="1" /><port id="2" /><port id="3" /></input>', "").replace(
            'to-layer="4"', 'to-layer="5"'
        ),
        "edge to port 1 of layer 5, no input",
    ),
}
# What is changed in the good model, to what, and the error.
BROKEN: dict[str, tuple[str, str, str]] = {
    "unknown entity": ("<dim>8</dim>", "&x;", "XML is not well formed"),
    "an attribute twice": (
        'name="b2s"',
        'name="b2s" name="b2s"',
        "XML is not well formed: duplicate attribute",
    ),
    "another version": ('version="11"', 'version="7"', "root is <net> of version '7'"),
    "negative offset": ('offset="32"', 'offset="-8"', "'-8' is not a non-negative integer"),
    "offset beyond the end": (
        'offset="32"',
        'offset="40"',
        "constant is at bytes 40 to 56, 'model.bin' has 48",
    ),
    "offset beyond int64": (
        'offset="32"',
        'offset="9999999999999999999"',
        "constant is at bytes 9999999999999999999 to",
    ),
    "offset of a million digits": (
        'offset="32"',
        f'offset="{"9" * 1_000_000}"',
        f"'{'9' * 40}' is not a non-negative integer",
    ),
    "offset in other digits": ('offset="32"', 'offset="٣"', "'٣' is not a non-negative integer"),
    "size of other shape": (
        'shape="2" offset="32"',
        'shape="3" offset="32"',
        "constant has 16 bytes, int64 [3] needs 24",
    ),
    "size of other type": (
        'element_type="i64" shape="2" offset="32"',
        'element_type="i32" shape="2" offset="32"',
        "constant has 16 bytes, int32 [2] needs 8",
    ),
    "huge constant": (
        'shape="2" offset="32"',
        'shape="9999999999,9999999999" offset="32"',
        "constant of shape [9999999999, 9999999999] has more than 4096 elements",
    ),
    "constant of high rank": (
        'shape="2" offset="32"',
        f'shape="{"1," * 999}2" offset="32"',
        "shape has 1000 axes, at most 64 are known",
    ),
    "constant of dynamic shape": (
        'shape="2" offset="32"',
        'shape="?" offset="32"',
        "'?' is not a non-negative integer",
    ),
    "constant of strings": (
        'element_type="i64" shape="2" offset="32"',
        'element_type="string" shape="2" offset="32"',
        "element type 'string' is not among",
    ),
    "constant without size": ('offset="32" size="16"', 'offset="32"', "layer has no attribute 'size'"),
    "input of unknown type": ('element_type="f32"', 'element_type="f31"', "element type 'f31' is not among"),
    "input of no shape": ('shape="10,2"', "", "layer has no attribute 'shape'"),
    "input of bad shape": ('"10,2"', '"10,x"', "'x' is not a non-negative integer"),
    "computed block": (
        'from-layer="1" from-port="0"',
        'from-layer="0" from-port="0"',
        "input block_shape is not a constant",
    ),
    "constant data": (
        'from-layer="0" from-port="0"',
        'from-layer="1" from-port="0"',
        "input data is not computed from an input of the model",
    ),
    "constant output": (
        'from-layer="4" from-port="4"',
        'from-layer="1" from-port="0"',
        "a result is one tensor that is computed from an input",
    ),
    "cycle": (
        'from-layer="0" from-port="0"',
        'from-layer="4" from-port="4"',
        "layers 4 and 4 are on a cycle of edges",
    ),
    "edge from nowhere": ('from-layer="0"', 'from-layer="77"', "edge from port 0 of layer 77, no output"),
    "edge from no port": (
        'from-layer="0" from-port="0"',
        'from-layer="0" from-port="1"',
        "edge from port 1 of layer 0, no output",
    ),
    "edge to nowhere": ('to-layer="5"', 'to-layer="77"', "edge to port 0 of layer 77, no input"),
    "edge without end": ('to-layer="5" to-port="0"', 'to-layer="5"', "<edge> has no 'to-port'"),
    "two edges to one input": (
        'to-layer="4" to-port="3"',
        'to-layer="4" to-port="2"',
        "input port 2 of layer 4 has two edges",
    ),
    "input without edge": (
        '<edge from-layer="3" from-port="0" to-layer="4" to-port="3" />',
        "",
        "layer 4 has an input without an edge",
    ),
    "layer id twice": ('id="3" name="end"', 'id="2" name="end"', "layer id 2 stands twice"),
    "port id twice": (
        '<port id="2" /><port id="3" />',
        '<port id="2" /><port id="2" />',
        "layer has two input ports of one id",
    ),
    "layer without type": ('type="BatchToSpace" ', "", "layer 4 has no type"),
    "two outputs": (
        '<port id="4" names="out">',
        '<port id="9" /><port id="4" names="out">',
        "layer has 2 outputs, its operation has 1",
    ),
}


@pytest.mark.parametrize("case", [*HOSTILE, *BROKEN])
def test_a_hostile_file_is_a_format_error_after_few_steps(tmp_path: Path, case: str) -> None:
    *edit, message = HOSTILE.get(case) or BROKEN[case]
    path = write(tmp_path, edit[0] if case in HOSTILE else changed(*edit))
    with counted(STEPS), pytest.raises(FormatError) as caught:
        load(path)
    assert str(caught.value).startswith(message)
    assert len(str(caught.value)) < 500  # whatever stands in the file


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ('shape="10,2"', 'shape="..."', "unknown_rank"),
        ('shape="10,2"', 'shape="8,2"', "non_divisible"),
        ('shape="10,2"', 'shape=""', "rank"),
        ('shape="10,2"', 'shape="10,8..2"', "infeasible"),
        ('shape="10,2"', 'shape="10,9999999999999999999"', "overflow"),
        ('element_type="i64" shape="2" offset="0"', 'element_type="f64" shape="2" offset="0"', "attr_dtype"),
        ('shape="2" offset="0" size="16"', 'shape="3" offset="0" size="24"', "length_mismatch"),
        ('offset="0" size="16"', 'offset="32" size="16"', "block_lt_1"),
        ('<port id="3" /></input>', "</input>", "attr_missing"),
        (
            '<input><port id="0" /><port id="1"',
            '<data mode="x" /><input><port id="0" /><port id="1"',
            "attr_unknown",
        ),
    ],
)
def test_wrong_attributes_have_the_kind_of_the_operation(tmp_path: Path, before: str, after: str, kind: str) -> None:
    xml = changed(before, after)
    if kind == "attr_missing":
        xml = xml.replace('<edge from-layer="3" from-port="0" to-layer="4" to-port="3" />', "")
    with pytest.raises(ShapeError) as caught:
        load(write(tmp_path, xml))
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('type="BatchToSpace"', 'type="Convolution"'),
        ('version="opset2"', 'version="opset1"'),
        ('version="opset2"', 'version="extension"'),
        ('type="BatchToSpace"', f'type="{"x" * 1_000_000}"'),
    ],
    ids=["type", "older", "extension", "long"],
)
def test_operation_that_is_not_in_the_catalogue(tmp_path: Path, before: str, after: str) -> None:
    path = write(tmp_path, changed(before, after))
    with counted(STEPS), pytest.raises(UnknownOpError, match="openvino:") as caught:
        load(path)
    assert len(str(caught.value)) < 500


def test_two_outputs_of_one_name(tmp_path: Path) -> None:
    result = '<layer id="8" name="r" type="Result" version="opset1"><input><port id="0" /></input></layer>'
    xml = extended(changed('names="data"', 'names="out"'), result, edge(0, 0, 8, 0))
    with pytest.raises(FormatError, match="two outputs are called 'out'"):
        load(write(tmp_path, xml))


def test_missing_files_are_ours_and_file_not_found_errors(tmp_path: Path) -> None:
    assert issubclass(MissingFileError, FileNotFoundError)
    with pytest.raises(MissingFileError, match=r"there is no file 'none\.xml'"):
        load(tmp_path / "none.xml")
    with pytest.raises(MissingFileError, match=r"there is no file 'model\.bin'"):
        load(write(tmp_path, GOOD, weights=None))


def test_other_formats_pipes_and_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"'model\.pb' is no model that can be read"):
        load(tmp_path / "model.pb")
    (tmp_path / "folder.xml").mkdir()
    os.mkfifo(tmp_path / "pipe.xml")
    for name in ("folder.xml", "pipe.xml"):
        with pytest.raises(FormatError, match="is not a regular file"):
            load(tmp_path / name)


def test_only_the_constants_that_are_needed_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    os.truncate(path.with_suffix(".bin"), 1 << 40)  # a sparse file: reading all of it would fail
    assert load(path)["out"].shape == (2, 8)


def test_every_prefix_of_a_model_is_a_typed_error(tmp_path: Path) -> None:
    xml = GOOD.strip()
    for end in range(0, len(xml), 37):
        with pytest.raises(SymlayoutError):
            load(write(tmp_path, xml[:end]))


def test_the_graph_of_a_model_has_the_layers_that_its_results_need(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    graph = read(path)
    assert graph.results
    made = {layer.id for layer in graph.layers}
    assert all(source.layer in made for result in graph.results for source in result.inputs)
    assert list(load_openvino(path)) == list(load(path))
