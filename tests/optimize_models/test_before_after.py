"""What an optimisation changed is a list of regions, drawn before and after."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

import symlayout as sl
from symlayout.optimize_models.before_after import picture
from symlayout.optimize_models.changed_regions import ChangedRegion, RegionNode, changed_regions
from tests.optimize_models.spellings.movement_spellings import spelled
from tests.support.onnx_writer import model, node, value_info

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]


@pytest.mark.slow
def test_a_region_has_its_nodes_before_and_after(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(spelled("SpaceToDepth", "computed shapes", "all dynamic"))
    o = sl.optimize(path)
    (region,) = o.report.regions
    assert [n.op for n in region.before] == ["Reshape", "Transpose", "Reshape"]
    assert [(n.op, n.shape, n.bytes) for n in region.after] == [
        ("SpaceToDepth", "(N, 4*C, H/2, W/2)", "4*C*H*N*W")
    ]  # fmt: skip
    assert region.shape_nodes[0] > 9
    assert region.shape_nodes[1] == 0
    data = o.report.to_json()["regions"][0]
    assert [n["op"] for n in data["after"]] == ["SpaceToDepth"]


def test_regions_that_look_alike_are_one(tmp_path: Path) -> None:
    nodes, at = [], "x"
    for k in range(3):
        nodes += [
            node("Transpose", at, f"a{k}", perm=TO_NHWC),
            node("Transpose", f"a{k}", f"b{k}", perm=TO_NCHW),
            node("CumSum", f"b{k}, axis", f"c{k}"),
            node("Exp", f"c{k}", f"d{k}"),
        ]
        at = f"d{k}"
    from tests.support.onnx_writer import tensor

    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 3, 4, 5))], [at], [tensor([1], [], "axis")]))
    o = sl.optimize(path)
    assert o.report.after.transposes == 0
    assert [r.count for r in o.report.regions] == [3]
    assert changed_regions(o, o) == ()


@pytest.mark.parametrize("count", [0, 1, 40])
def test_the_picture_is_a_document_of_any_size(count: int) -> None:
    nodes = tuple(
        RegionNode(f"<Op{k}>", (f"v{k - 1}",), (f"v{k}",), "(N & M)", "8" if k % 2 else "") for k in range(80)
    )
    regions = [ChangedRegion(nodes, (), (3, 0), 2)] * count
    text = picture("a <model>", ["transposes  2 -> 0"], regions)
    root = ElementTree.fromstring(text)
    assert root.tag.endswith("svg")
    words = "".join(root.itertext())
    assert "a <model>" in words
    assert ("nothing was changed" in words) == (count == 0)
    assert ("28 regions more" in words) == (count == 40)


def test_the_command_draws_the_picture(tmp_path: Path) -> None:
    from symlayout.commands.command_line import main

    path, out, drawn = (tmp_path / name for name in ("m.onnx", "o.onnx", "o.svg"))
    path.write_bytes(spelled("pixel shuffle", "two transposes", "static"))
    assert main(["optimize", str(path), "-o", str(out), "--svg", str(drawn)]) == 0
    assert "DepthToSpace" in drawn.read_text(encoding="utf-8")


def test_a_shape_stands_whole_in_its_box() -> None:
    shape = "(N, 8, 2*floor(H/4), 2*floor(W/4), floor(C/2) + 1)"
    svg = picture("m", [], [ChangedRegion((RegionNode("Reshape", ("x",), ("y",), shape, "4"),), (), (0, 0))])
    lines = re.findall(r">([^<]*)</text>", svg)
    assert shape in " ".join(lines)
