"""Large graphs and large weights: work that grows with the number of nodes, and weights that are not read."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import onnx
import pytest
from onnx import NodeProto, TensorProto, ValueInfoProto

import symlayout as sl
from tests.models.onnx_files import ZERO, constants, extent_nodes, joined
from tests.promises.forked import forked
from tests.support.onnx_writer import INT64, model, node, value_info
from tests.support.steps import counted

GIB = 1 << 30


def blocks(count: int) -> bytes:
    """Return a network of *count* blocks with heads, transposes, a residual and a computed shape: 12 nodes each."""
    nodes: list[NodeProto] = [*extent_nodes(n=1), *joined("whole", "-1", "n", "16")]
    at = "x"
    for k in range(count):
        nodes += [
            node("MatMul", f"{at}, w", f"q{k}"), node("Reshape", f"q{k}, heads", f"r{k}"),
            node("Transpose", f"r{k}", f"t{k}", perm=[0, 2, 1, 3]), node("Softmax", f"t{k}", f"s{k}", axis=-1),
            node("Transpose", f"s{k}", f"u{k}", perm=[0, 2, 1, 3]), node("Shape", at, f"sh{k}"),
            node("Gather", f"sh{k}, one", f"g{k}", axis=0), node("Unsqueeze", f"g{k}, zero", f"un{k}"),
            node("Concat", f"zero, un{k}, sixteen", f"c{k}", axis=0), node("Reshape", f"u{k}, c{k}", f"o{k}"),
            node("Relu", f"o{k}", f"e{k}"), node("Add", f"{at}, e{k}", f"y{k}"),
        ]  # fmt: skip
        at = f"y{k}"
    nodes.append(node("Reshape", f"{at}, whole", "y"))
    weight = onnx.helper.make_tensor("w", TensorProto.FLOAT, [16, 16], [0.0] * 256)
    given = (*ZERO, *constants(one=1, heads=[0, 0, 4, 4], sixteen=[16]), weight)
    return model(nodes, [value_info("x", ("N", "S", 16))], constants=given)


def steps_of(folder: Path, count: int) -> int:
    path = folder / f"{count}.onnx"
    path.write_bytes(blocks(count))
    with counted() as steps:
        m = sl.read_model(path)
    assert str(m.outputs["y"].shape) == "(N, S, 16)"
    return steps.count


def test_twice_the_nodes_take_twice_the_work(tmp_path: Path) -> None:
    steps_of(tmp_path, 2)  # imports and caches
    small, large = steps_of(tmp_path, 10), steps_of(tmp_path, 20)
    assert large < 2.3 * small


def test_weights_of_gigabytes_are_mapped_and_not_read(tmp_path: Path) -> None:
    size = 6 * GIB
    with open(tmp_path / "weights.bin", "wb") as file:
        os.truncate(file.fileno(), size)  # a sparse file: it takes no room on the disk
    rows = size // 4 // 1024
    held = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[1024, rows], data_location=TensorProto.EXTERNAL)
    held.external_data.add(key="location", value="weights.bin")
    path = tmp_path / "model.onnx"
    x = value_info("x", ("N", 1024))
    path.write_bytes(model([node("MatMul", "x, w", "y")], [x], constants=(held,)))
    assert forked(lambda: _read_within(path, 64 << 20)) == 0


def _read_within(path: Path, most: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    m = sl.read_model(path)
    assert str(m.outputs["y"].shape[0]) == "N"
    assert m.tensors["w"].values is not None
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10 < most


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        ("ConstantOfShape", [value_info("s", (1 << 31,), INT64)]),
        ("AffineGrid", [value_info("t", ("N", 2, 3)), value_info("s", (1 << 31,), INT64)]),
    ],
)
def test_a_shape_of_more_axes_than_an_array_has_is_refused_before_it_is_made(
    op: str, inputs: list[ValueInfoProto], tmp_path: Path
) -> None:
    (tmp_path / "model.onnx").write_bytes(model([node(op, ", ".join(x.name for x in inputs), "y")], inputs))
    with pytest.raises(sl.ShapeError, match=r"has 2147483648 values, a shape has at most 64 axes") as caught:
        sl.read_model(tmp_path / "model.onnx")
    assert caught.value.kind == "rank"


def test_an_operand_that_is_longer_than_any_shape_gives_no_shape_by_its_length(tmp_path: Path) -> None:
    inputs = [value_info("x", ("N", 3, "H", "W")), value_info("s", (1 << 31,), INT64)]
    (tmp_path / "model.onnx").write_bytes(model([node("CenterCropPad", "x, s", "y")], inputs))
    assert sl.read_model(tmp_path / "model.onnx").outputs


def _steps_of_sum(path: Path, count: int) -> int:
    """Return the steps of reading the sum of *count* values, one by one, whose numbers of rows are all unknown."""
    names = [f"x{k}" for k in range(count)]
    sums = [names[0], *(f"s{k}" for k in range(1, count - 1)), "y"]
    nodes = [node("Add", f"{sums[k - 1]}, x{k}", sums[k]) for k in range(1, count)]
    path.write_bytes(model(nodes, [value_info(name, (None, "C")) for name in names]))
    with counted() as steps:
        assert str(sl.read_model(path).outputs["y"].shape[1]) == "C"
    return steps.count


def test_unknown_sizes_of_one_axis_do_not_multiply(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    _steps_of_sum(path, 12)  # imports and caches
    small, large = _steps_of_sum(path, 24), _steps_of_sum(path, 48)
    assert large < 3 * small


def _training(layers: int) -> bytes:
    """Return a graph forward and backward, with operations whose sizes are unknown, that are broadcast together."""
    nodes: list[NodeProto] = []
    unknown = 0

    def of_unknown_size(source: str) -> str:
        nonlocal unknown
        unknown += 1
        nodes.append(node("Custom", source, f"c{unknown}", domain="custom", number=unknown))
        nodes.append(node("Reshape", f"c{unknown}, s", f"r{unknown}"))
        return f"r{unknown}"

    at = "x"
    for k in range(layers):
        nodes.append(node("Mul", f"{of_unknown_size(at)}, {of_unknown_size(at)}", f"scores{k}"))
        nodes.append(node("Add", f"scores{k}, {of_unknown_size(f'scores{k}')}", f"out{k}"))
        at = f"out{k}"
    for k in reversed(range(layers)):
        nodes.append(node("Mul", f"{of_unknown_size(at)}, out{k}", f"back{k}"))
        nodes.append(node("Min", f"back{k}, scores{k}, {at}", f"least{k}"))
        nodes.append(node("Max", f"least{k}, out{k}", f"most{k}"))
        at = f"most{k}"
    nodes.append(node("Identity", at, "y"))
    return model(nodes, [value_info("x", ("batch", "seq", "H")), value_info("s", (3,), INT64)])


def test_a_training_graph_of_unknown_sizes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(_training(6))
    with counted(20_000_000):
        assert sl.read_model(path).outputs["y"].rank == 3
