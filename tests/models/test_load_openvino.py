"""Models come back as OpenVINO saved them; every hostile file is a typed error after few steps."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import ShapeError, SymlayoutError
from symlayout.maps.interpreter import interpret
from symlayout.models.known_dims import KnownDims
from symlayout.models.load_openvino import read_openvino
from symlayout.models.openvino_ir import read
from symlayout.models.read_model import load
from tests.models.openvino_files import GOOD, MODELS, WEIGHTS, changed, edge, extended, write
from tests.support.paths import ROOT


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


@pytest.mark.parametrize(("source", "target"), [("u8", "i64"), ("i8", "i64")])
def test_converted_integer_constant_is_a_constant_if_it_fits(tmp_path: Path, source: str, target: str) -> None:
    block = [1, 5]
    convert = f"""<layer id="7" name="c" type="Convert" version="opset1">
      <data destination_type="{target}" />
      <input><port id="0" /></input><output><port id="1" /></output></layer>"""
    xml = changed('"i64" shape="2" offset="0" size="16"', f'"{source}" shape="2" offset="48" size="2"')
    xml = extended(xml.replace(edge(1, 0, 4, 1), edge(1, 0, 7, 0)), convert, edge(7, 1, 4, 1))
    path = write(tmp_path, xml, WEIGHTS + bytes(b % 256 for b in block))
    assert load(path)["out"].shape == (2, 8)


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
    with pytest.raises(ShapeError, match="input 1 has rank 1, input 0 has 2"):
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


def test_only_the_constants_that_are_needed_are_read(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    os.truncate(path.with_suffix(".bin"), 1 << 40)  # a sparse file: reading all of it would fail
    assert load(path)["out"].shape == (2, 8)


def test_the_file_of_constants_is_mapped_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = Mock(side_effect=np.memmap)
    monkeypatch.setattr(np, "memmap", mapping)
    model = MODELS / "space_to_batch_5d.xml"
    assert sum(layer.type == "Const" for layer in read(model).layers) == 3
    assert load(model)
    assert mapping.call_count == 1


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
    assert list(read_openvino(path, KnownDims({})).outputs) == list(load(path))


@pytest.mark.parametrize(("dtype", "precision"), [(np.float32, "f32"), (np.int32, "i32")])
def test_a_range_of_dims_has_the_element_type_of_its_ends(tmp_path: Path, dtype: Any, precision: str) -> None:
    """Positions of pixels, as a detector's anchors have them."""
    ov = pytest.importorskip("openvino", reason="openvino, which writes the model, is not installed")
    ops = pytest.importorskip("openvino.opset13")
    x = ops.parameter(ov.PartialShape([-1, -1]), np.float32, name="x")
    limit = ops.convert(ops.gather(ops.shape_of(x), np.int64(1), np.int64(0)), precision)
    counted = ops.range(ops.constant(dtype(0)), limit, ops.constant(dtype(1)), precision)
    ov.save_model(ov.Model([ops.add(counted, counted)], [x], "m"), tmp_path / "m.xml", compress_to_fp16=False)
    (output,) = load(tmp_path / "m.xml").values()
    assert str(output.shape) == "(x.1,)"
    found = interpret(output, dims={"x.1": 3})
    assert found.dtype == dtype
    assert found.tolist() == [0, 2, 4]


STRINGS = """<net name="s" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="string"/>
<output><port id="0" precision="STRING" names="x"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="r" type="StringTensorUnpack" version="opset15">
<input><port id="0" precision="STRING"><dim>-1</dim><dim>3</dim></port></input>
<output><port id="1" precision="I32" names="b"><dim>-1</dim><dim>3</dim></port>
<port id="2" precision="I32" names="e"><dim>-1</dim><dim>3</dim></port>
<port id="3" precision="U8" names="c"><dim>-1</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1">
<input><port id="0" precision="U8"><dim>-1</dim></port></input></layer></layers><edges>
<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="3" to-layer="2" to-port="0"/>
</edges></net>"""


def test_strings_are_read_by_opaque_operations(tmp_path: Path) -> None:
    path = tmp_path / "model.xml"
    path.write_text(STRINGS, encoding="utf-8")
    model = sl.read_model(path)
    assert repr(model.inputs["x"]).endswith("dtype=string)")
    assert model.outputs["c"].dtype == np.uint8
    assert sl.verify(path, path, run=False).verdict is sl.Verdict.PROVED
