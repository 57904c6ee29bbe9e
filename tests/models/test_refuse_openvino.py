"""OpenVINO files that are hostile, broken or not supported are refused with typed errors after few steps."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import symlayout as sl
from symlayout.errors import FormatError, MissingFileError, ShapeError
from symlayout.models.hardened_xml import MAX_BYTES, MAX_DEPTH, MAX_ELEMENTS
from symlayout.models.read_model import load
from symlayout.proof.verdict import Verdict
from tests.models.openvino_files import GOOD, changed, edge, extended, write
from tests.support.paths import ROOT
from tests.support.steps import STEPS, counted

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
        "<net" + "".join(f' a{i}="{MAX_BYTES // 10**6 * "v"}"' for i in range(1_000_000)) + "/>",
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
        f"'{'9' * 39}…' is not a non-negative integer",
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
        "constant has 16 bytes, int64 [9999999999, 9999999999] needs",
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
    "a result that is read": (
        '<layer id="1" name="block" type="Const" version="opset1">',
        '<layer id="1" name="block" type="Result" version="opset1">',
        "a result is read by layer 4, BatchToSpace 'b2s', and is none\n  in: layer 1, Result 'block'",
    ),
    "constant of strings": (
        'element_type="i64" shape="2" offset="32"',
        'element_type="string" shape="2" offset="32"',
        "a constant of strings is not read",
    ),
    "constant without size": ('offset="32" size="16"', 'offset="32"', "layer has no attribute 'size'"),
    "input of unknown type": ('element_type="f32"', 'element_type="f31"', "element type 'f31' is not among"),
    "input of no shape": ('shape="10,2"', "", "layer has no attribute 'shape'"),
    "input of bad shape": ('"10,2"', '"10,x"', "'x' is not a non-negative integer"),
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


@pytest.mark.sample(8)
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
        ('type="BatchToSpace"', 'type="DetectionOutput"'),
        ('version="opset2"', 'version="opset1"'),
        ('version="opset2"', 'version="extension"'),
        ('type="BatchToSpace"', f'type="{"x" * 1_000_000}"'),
        ('from-layer="1" from-port="0"', 'from-layer="0" from-port="0"'),
    ],
    ids=["type", "older", "extension", "long", "computed block"],
)
def test_an_operation_without_a_declaration_is_opaque(tmp_path: Path, before: str, after: str) -> None:
    path = write(tmp_path, changed(before, after))
    with counted(STEPS):
        y = load(path)["out"]
    assert (y.rank, y.shape, str(y)) == (None, None, "?")  # the ports of the file have no extents
    assert sl.verify(path, path).verdict is Verdict.PROVED


def test_a_constant_may_be_an_output(tmp_path: Path) -> None:
    (y,) = load(write(tmp_path, changed('from-layer="4" from-port="4"', 'from-layer="1" from-port="0"'))).values()
    assert y.values is not None


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


@pytest.mark.parametrize("text", ["", "six", "1e"])
def test_an_attribute_that_is_no_number_is_refused(tmp_path: Path, text: str) -> None:
    files = ROOT / "tests" / "models" / "exported"
    xml = (files / "mobilenet_v10.xml").read_text(encoding="utf-8")
    path = tmp_path / "model.xml"
    path.write_text(xml.replace('min="0"', f'min="{text}"'), "utf-8")
    shutil.copy(files / "mobilenet_v10.bin", tmp_path / "model.bin")
    with pytest.raises(ShapeError, match=f"min is {text!r}, no number"):
        sl.read_model(path)
