"""Two models over one set of inputs: `joint_models` makes dims of one extent one dim, and keeps what each demands."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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


def test_an_input_of_the_model_after_alone_is_no_input_before_of_its_name(tmp_path: Path) -> None:
    """The inputs x before and z after are one, so the x after is another one."""
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for path, names in zip(paths, (("x",), ("x", "z")), strict=True):
        path.write_bytes(model([node("Relu", "x", "y")], [value_info(name, ("N",)) for name in names]))
    assert sl.verify(*paths, match={"x": "z"}).verdict is not sl.Verdict.PROVED
    assert sl.verify(*paths, match={"x": "x"}).verdict is sl.Verdict.PROVED
    assert sl.verify(*paths).verdict is sl.Verdict.PROVED


@pytest.mark.parametrize(("own", "is_one"), [("N", False), ("K", False), ("M", True)])
def test_a_dim_of_the_model_after_alone_is_no_dim_before_of_its_name(tmp_path: Path, own: str, is_one: bool) -> None:
    """The dims N before and M after are one, so the N after is another one."""
    paths = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    ends = ["x", "x"], ["x", "z"]
    for path, (first, second), dims in zip(paths, ends, ({"x": "N"}, {"x": "M", "z": own}), strict=True):
        shapes = [node("Shape", first, "s"), node("Shape", second, "t"), node("Concat", "t, s", "both", axis=0)]
        rows = [*shapes, node("Expand", "x, both", "y")]
        path.write_bytes(model(rows, [value_info(name, (dim,)) for name, dim in dims.items()]))
    found = sl.verify(*paths, run=False)
    assert (found.verdict is sl.Verdict.PROVED) is is_one


def test_a_dim_that_has_two_names_is_one_in_expressions_too() -> None:
    """The length of *a* is twice that of *b* after, and not before."""

    def values(*shapes: str) -> Any:
        inputs = {name: sl.tensor(shape, name=name) for name, shape in zip("ab", shapes, strict=True)}
        outputs = {"y": sl.flip(inputs["a"])}
        return SimpleNamespace(inputs=inputs, outputs=outputs, tensors={**inputs, **outputs})

    with pytest.raises(sl.ShapeError, match=r"axis 0 of input a is 2\*h before and 2\*h after, where"):
        sl.verify(values("2*h", "k"), values("2*h", "h"))
    assert sl.verify(values("2*h", "h"), values("2*h", "h")).verdict is sl.Verdict.PROVED
