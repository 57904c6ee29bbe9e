"""A whole model is drawn as what moves and what computes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import symlayout as sl
from symlayout.reports.model_outline import MOST_BOXES, outline, picture, text
from tests.commands.outcome import MODELS, Command
from tests.models.compare_shapes import FOLDER
from tests.support.onnx_writer import model, node, tensor, value_info


def lines(path: Path) -> list[str]:
    return [" ".join(line.split()) for line in text(outline(sl.read_model(path))).splitlines()]


def test_a_network_is_its_moves_and_its_computations() -> None:
    """Three nodes that move are the one that does the same; the shapes that they compute are not drawn."""
    assert lines(FOLDER / "space_to_depth_stem_dynamic.onnx") == [
        "input x (N, 3, H, W)",
        "SpaceToDepth, of 3 nodes (N, 48, H/4, W/4)",
        "Conv, 3x3, Relu (N, 8, H/4, W/4)",
        "output 57 (N, 8, H/4, W/4)",
    ]


def test_a_skip_is_an_edge() -> None:
    graph = outline(sl.read_model(FOLDER / "unet_dynamic.onnx"))
    heads = [box.lines[0] for box in graph.boxes]
    assert heads == ["x", "Conv", "MaxPool", "Conv", "Resize", "Concat", "Conv", "Conv", "37"]
    assert set(graph.edges) == {(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (4, 5), (5, 6), (6, 7), (7, 8)}
    assert [box.kind for box in graph.boxes].count("move") == 2


def write_blocks(path: Path, count: int) -> None:
    """Write *count* blocks that sum a value with its softmax, then one move."""
    nodes = []
    for k in range(count):
        nodes += [node("Softmax", f"v{k}", f"s{k}", axis=-1), node("Add", f"s{k}, v{k}", f"v{k + 1}")]
    nodes += [node("Identity", f"v{count}", "i"), node("Transpose", "i", "t", perm=[1, 0]),
              node("Transpose", "t", "u", perm=[1, 0]), node("CumSum", "u, axis", "y")]  # fmt: skip
    path.write_bytes(model(nodes, [value_info("v0", ("N", "M"))], ["y"], [tensor([1], [], "axis")]))


def test_blocks_are_drawn_once(tmp_path: Path) -> None:
    write_blocks(tmp_path / "m.onnx", 12)
    assert lines(tmp_path / "m.onnx") == [
        "input v0 (N, M)",
        "12 x Softmax, axis -1",
        "12 x Add",
        "nothing, of 2 nodes",
        "CumSum",
        "output y (N, M)",
    ]
    graph = outline(sl.read_model(tmp_path / "m.onnx"))
    assert graph.frames == (((1, 2), 12),)
    assert set(graph.edges) == {(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5)}


def test_outputs_that_are_inputs_or_constants_are_drawn(tmp_path: Path) -> None:
    nodes = [node("Identity", "x", "y"), node("Shape", "x", "s"), node("Exp", "x", "e")]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 2)), value_info("unread", (3,))], ["y", "s", "e", "c"],
                           [tensor([1], [1], "c")]))  # fmt: skip
    graph = outline(sl.read_model(path))
    ends = [(box.kind, box.lines[0]) for box in graph.boxes]
    assert sorted(ends) == [("compute", "Exp"), ("input", "unread"), ("input", "x"), ("output", "c"), ("output", "e"),
                            ("output", "s"), ("output", "y")]  # fmt: skip
    assert len(graph.edges) == 3


def test_a_branch_reads_the_graph_around_it(tmp_path: Path) -> None:
    """Neither an edge into a subgraph nor a value without a shape is lost."""
    from onnx import helper

    branches = [helper.make_graph([node(op, "e", f"of{op}")], op, [], [value_info(f"of{op}", None)])
                for op in ("Relu", "Neg")]  # fmt: skip
    nodes = [node("Exp", "x", "e"), node("If", "c", "y", then_branch=branches[0], else_branch=branches[1]),
             node("SplitToSequence", "y", "s", axis=0), node("ConcatFromSequence", "s", "z", axis=1)]  # fmt: skip
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", "M")), value_info("c", (), 9)], ["z"]))
    graph = outline(sl.read_model(path))
    heads = [box.lines[0] for box in graph.boxes]
    assert heads == ["x", "Exp", "c", "If", "SplitToSequence", "ConcatFromSequence", "z"]
    assert set(graph.edges) == {(0, 1), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6)}
    assert graph.boxes[4].label == "?"


def test_the_command_draws_the_graph(symlayout: Command, tmp_path: Path) -> None:
    svg = tmp_path / "graph.svg"
    done = symlayout("show", FOLDER / "resnet_dynamic.onnx", "--dim", "H=1..", "--svg", svg, "--json")
    assert done.status == 0, done.err
    root = ElementTree.parse(svg).getroot()
    words = "".join(root.itertext())
    assert "7x7, stride 2" in words
    assert "--dim H=1.." in (root.findtext("{http://www.w3.org/2000/svg}metadata") or "")
    assert done.data["svg"] == str(svg)
    assert len(done.data["boxes"]) == 17
    assert symlayout("show", FOLDER / "resnet_dynamic.onnx", "--dims", "H=4").err.startswith("FormatError: --dims")
    assert "(i0, i1, i2, i3) ->" in symlayout("show", MODELS / "pixel_unshuffle.onnx").out


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted([*FOLDER.glob("*.onnx"), *MODELS.glob("*.xml")]), ids=lambda p: p.name)
def test_every_model_is_drawn(path: Path) -> None:
    m = sl.read_model(path)
    graph = outline(m)
    assert len(graph.boxes) <= MOST_BOXES
    assert {box.title for box in graph.boxes if box.kind == "input"} == set(m.inputs)
    drawn = {b for _, b in graph.edges}
    assert all(k in drawn for k, box in enumerate(graph.boxes) if box.kind != "input")
    ElementTree.fromstring(picture(m, graph))
