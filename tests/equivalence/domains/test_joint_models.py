"""Two models over one set of inputs: `joint_models` makes dims of one extent one dim, and keeps what each demands."""

from __future__ import annotations

from pathlib import Path

import symlayout as sl
from symlayout.equivalence.joint_models import DEMAND, joint_models
from symlayout.equivalence.shared_ends import EndsAsStated
from symlayout.equivalence.unknown_ranks import ShapedValues, with_handles
from tests.support.onnx_writer import model, node, value_info


def read(folder: Path, name: str, x: tuple[int | str, ...]) -> ShapedValues:
    path = folder / name
    nodes = [node("MatMul", "x, x", "dead"), node("Relu", "x", "y")]
    path.write_bytes(model(nodes, [value_info("x", x)]))
    return with_handles(sl.read_model(path))


def test_a_dim_that_has_two_names_is_one_and_a_dead_node_demands(tmp_path: Path) -> None:
    before, after = read(tmp_path, "a.onnx", ("N", "C")), read(tmp_path, "b.onnx", ("M", "K"))
    joint = joint_models(before, after, EndsAsStated().of(before, after))
    assert str(joint.left["y"].shape) == str(joint.right["y"].shape)
    assert any(name.startswith(DEMAND) for name in joint.left)
    demanded = {str(r) for t in joint.left.values() for r in t.requires}
    assert demanded & {"Eq(N, C)", "Eq(C, N)"}
    assert not joint.stated


def test_a_constant_of_the_shape_of_an_input_has_a_point_where_dims_have_other_names(tmp_path: Path) -> None:
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path, dims in zip(paths, (("N", "H"), ("M", "K")), strict=True):
        of_shape = [node("Shape", "x", "s"), node("ConstantOfShape", "s", "c"), node("Softmax", "c", "even")]
        nodes = [*of_shape, node("Relu", "x", "r"), node("Add", "r, even", "y")]
        path.write_bytes(model(nodes, [value_info("x", dims)]))
    found = sl.verify(*paths)
    assert found.verdict is sl.Verdict.PROVED
    assert found.point is not None
    assert len(found.point) == 2


def test_a_number_after_is_stated(tmp_path: Path) -> None:
    before, after = read(tmp_path, "a.onnx", ("N", "C")), read(tmp_path, "b.onnx", (3, "C"))
    assert [str(r) for r in joint_models(before, after, EndsAsStated().of(before, after)).stated] == ["Eq(N, 3)"]
