"""Products whose columns part at once become products of the parts: the joint value is not cut and not moved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.optimize_model import OptimizedModel
from symlayout.optimize_models.products.split_products import split_products
from tests.equivalence.tools import EXPORTED
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.optimize_models.spellings.dilation_spellings import Parts

HEADS, WIDTH = 2, 8
CHANNELS = HEADS * WIDTH


def by_slices(n: Parts, joint: str) -> list[str]:
    parts = []
    for k in range(3):
        ends = [n.integers(k * CHANNELS), n.integers((k + 1) * CHANNELS), n.integers(2)]
        part = n("Reshape", n("Slice", joint, *ends), n.integers(0, 0, HEADS, WIDTH))
        parts.append(n.turn(part, 0, 2, 1, 3))
    return parts


def by_gathers(n: Parts, joint: str) -> list[str]:
    joint = n.turn(n("Reshape", joint, n.integers(0, 0, 3, HEADS, WIDTH)), 2, 0, 3, 1, 4)
    return [n("Gather", joint, n.given(k, np.int64), axis=0) for k in range(3)]


def by_heads(n: Parts, joint: str) -> list[str]:
    """Return queries, keys and values, which stand together for each head."""
    joint = n.turn(n("Reshape", joint, n.integers(0, 0, HEADS, 3 * WIDTH)), 0, 2, 1, 3)
    bounds = [(n.integers(k * WIDTH), n.integers((k + 1) * WIDTH)) for k in range(3)]
    return [n("Slice", joint, *ends, n.integers(3)) for ends in bounds]


WAYS = {"slices": by_slices, "gathers": by_gathers, "heads": by_heads}
SHAPES: dict[str, list[int | str]] = {
    "static": [2, 5, CHANNELS],
    "dynamic batch": ["N", 5, CHANNELS],
    "all dynamic": ["N", "L", CHANNELS],
}


def attention(way: str, kind: str, listed: bool = False, rows: int | None = None) -> onnx.ModelProto:
    """Return attention of queries, keys and values of one product; its value is an output too where it is *listed*."""
    n = Parts(opset=18)
    joint = n.dense(n("Relu", "x"), CHANNELS, 3 * CHANNELS)
    q, k, v = WAYS[way](n, joint)
    weights = n("Softmax", n("MatMul", q, n.turn(k, 0, 1, 3, 2)), axis=-1)
    y = n.turn(n("MatMul", weights, v), 0, 2, 1, 3)
    shape = SHAPES[kind] if rows is None else [2, rows, CHANNELS]
    made = n.model(shape, n("Reshape", y, n.integers(0, 0, CHANNELS)), 3)
    if listed:
        value = n.nodes[2].output[0]
        made.graph.output.append(onnx.helper.make_tensor_value_info(value, onnx.TensorProto.FLOAT, [None] * 3))
    return made


def gate(parts: tuple[tuple[int, int], ...], kind: str = "N", transposed: bool = True) -> onnx.ModelProto:
    """Return a Gemm of 16 columns, of which *parts* are moved apart."""
    n = Parts(opset=18)
    w = n.weights(16, 8) if transposed else n.weights(8, 16)
    joint = n("Gemm", n("Relu", "x"), w, n.weights(16), transB=int(transposed), alpha=0.5)
    made = [n("Slice", joint, n.integers(a), n.integers(b), n.integers(1)) for a, b in parts]
    y = n("Mul", n("Sigmoid", made[0]), made[1])
    return n.model([kind, 8] if kind else [3, 8], y, 2)


def optimized(folder: Path, made: onnx.ModelProto) -> OptimizedModel:
    """Return the optimized model, after the checks that hold for every result."""
    onnx.save(made, folder / "before.onnx")
    o = sl.optimize(folder / "before.onnx")
    o.save(folder / "after.onnx")
    onnx.checker.check_model(onnx.load(folder / "after.onnx"), full_check=True)
    assert sl.verify(folder / "before.onnx", folder / "after.onnx").verdict is sl.Verdict.PROVED
    again = sl.optimize(folder / "after.onnx")
    assert again.source.SerializeToString() == (folder / "after.onnx").read_bytes()
    return o


def is_split(o: OptimizedModel) -> bool:
    return any(c.rule == "products" and c.accepted for c in o.report.changes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("way", WAYS)
def test_attention_has_products_of_its_own(tmp_path: Path, way: str, kind: str) -> None:
    o = optimized(tmp_path, attention(way, kind))
    assert is_split(o)
    assert o.report.after.transposes <= o.report.before.transposes
    for size in (1, 3) if kind == "all dynamic" else (5,):
        x = np.random.default_rng(size).normal(size=(2, size, CHANNELS)).astype(np.float32)
        before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
        assert after.tobytes() == before.tobytes()


@pytest.mark.slow
def test_a_part_is_joined_where_there_are_too_few_transposes(tmp_path: Path) -> None:
    """One Transpose of queries, keys and values becomes that of values; queries are joined of their heads."""
    o = optimized(tmp_path, attention("gathers", "all dynamic"))
    assert o.report.after.transposes == o.report.before.transposes == 3
    assert o.report.after.total == o.report.before.total / 2
    x = np.random.default_rng(1).normal(size=(2, 3, CHANNELS)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


@pytest.mark.slow
def test_heads_of_few_columns_are_split_not_multiplied_apart() -> None:
    o = sl.optimize(EXPORTED / "bert_dynamic.onnx")
    ops = [n.op_type for n in o.source.graph.node]
    assert ops.count("Split") == 2  # one in each layer
    assert o.report.after.transposes == o.report.before.transposes


@pytest.mark.parametrize("transposed", [False, True])
def test_halves_of_a_gate_are_products(tmp_path: Path, transposed: bool) -> None:
    o = optimized(tmp_path, gate(((0, 8), (8, 16)), transposed=transposed))
    assert is_split(o)
    assert sorted(n.op_type for n in o.source.graph.node) == ["Gemm", "Gemm", "Mul", "Relu", "Sigmoid"]
    assert o.report.after.total == 0
    x = np.random.default_rng(0).normal(size=(3, 8)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


def test_parts_that_overlap_stay_together(tmp_path: Path) -> None:
    assert not is_split(optimized(tmp_path, gate(((0, 10), (6, 16)))))


def test_columns_that_nothing_reads_are_not_computed(tmp_path: Path) -> None:
    o = optimized(tmp_path, gate(((0, 4), (12, 16))))
    assert is_split(o)
    widths = {tuple(t.dims) for t in o.source.graph.initializer if len(t.dims) == 2}
    assert (4, 8) in widths


@pytest.mark.slow
def test_a_value_that_is_read_whole_stays(tmp_path: Path) -> None:
    assert not is_split(optimized(tmp_path, attention("slices", "dynamic batch", listed=True)))


@pytest.mark.parametrize("dtype", [onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16])
def test_products_whose_sums_depend_on_the_number_of_columns_stay(tmp_path: Path, dtype: int) -> None:
    """Onnxruntime adds in blocks whose size depends on the columns; for float32 it does not."""
    made = gate(((0, 8), (8, 16)))
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.elem_type = dtype
    for t in made.graph.initializer:
        if t.data_type == onnx.TensorProto.FLOAT:
            t.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(t).astype(kind), t.name))
    assert not is_split(optimized(tmp_path, made))


def test_products_of_two_inputs_stay(tmp_path: Path) -> None:
    made = gate(((0, 8), (8, 16)))
    (w,) = [t for t in made.graph.initializer if list(t.dims) == [16, 8]]
    made.graph.input.append(onnx.helper.make_tensor_value_info(w.name, onnx.TensorProto.FLOAT, [16, 8]))
    made.graph.initializer.remove(w)
    onnx.save(made, tmp_path / "m.onnx")
    assert split_products(sl.read_model(tmp_path / "m.onnx"))[1] == []


def heads(rows: int | str, terms: int = 8, width: int = 8, bias: tuple[int, ...] = (HEADS * 8,)) -> onnx.ModelProto:
    """Return a product whose columns are transposed to heads."""
    n = Parts(opset=18)
    y = n("MatMul", n("Relu", "x"), n.weights(terms, HEADS * width))
    y = n("Add", y, n.weights(*bias)) if width == 8 else y
    y = n.turn(n("Reshape", y, n.integers(0, 0, HEADS, width)), 0, 2, 1, 3)
    return n.model(["N", rows, terms], n("Sigmoid", y), 4)


@pytest.mark.parametrize("bias", [(HEADS * 8,), (1, HEADS * 8), (1,), (9, 1), (1, 9, HEADS * 8)])
def test_heads_are_batches_of_a_product(tmp_path: Path, bias: tuple[int, ...]) -> None:
    o = optimized(tmp_path, heads(9, bias=bias))
    assert is_split(o)
    assert sorted(n.op_type for n in o.source.graph.node) == ["Add", "MatMul", "Relu", "Sigmoid", "Unsqueeze"]
    assert (o.report.after.transposes, o.report.after.total) == (0, 0)
    x = np.random.default_rng(0).normal(size=(3, 9, 8)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


@pytest.mark.slow
def test_queries_and_values_with_many_rows_are_batches(tmp_path: Path) -> None:
    few, many = (optimized(tmp_path, attention("gathers", "static", rows=rows)) for rows in (5, 24))
    assert [o.report.after.transposes for o in (few, many)] == [3, 2]
    x = np.random.default_rng(0).normal(size=(2, 24, CHANNELS)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()


def test_a_row_that_is_added_to_batches_is_written_for_all_rows(tmp_path: Path) -> None:
    """Onnxruntime adds elements of one row among batches one by one; a constant for too many rows would be large."""
    few, many = (optimized(tmp_path, heads(rows)) for rows in (9, 1100))
    assert (is_split(few), is_split(many)) == (True, False)
    assert (HEADS, 9, 8) in {tuple(t.dims) for t in few.source.graph.initializer}
    assert many.report.after.transposes == 1


@pytest.mark.parametrize(("rows", "terms", "width"), [(7, 8, 8), ("L", 8, 8), (300, 300, 16), (40, 40, 4)])
def test_heads_are_transposed_where_batches_cost_more_or_round_otherwise(
    tmp_path: Path, rows: int | str, terms: int, width: int
) -> None:
    """Few rows, or an unknown number; sums of two blocks of other lengths; few columns, and many terms."""
    o = optimized(tmp_path, heads(rows, terms, width))
    assert not is_split(o)
    assert o.report.after.transposes == 1


def across(rows: int | str) -> onnx.ModelProto:
    """Return attention of channels by channels: queries, keys and values have their rows last."""
    n = Parts(opset=18)
    joint = n.dense(n("Relu", "x"), CHANNELS, 3 * CHANNELS)
    joint = n.turn(n("Reshape", joint, n.integers(0, 0, 3, HEADS, WIDTH)), 2, 0, 3, 4, 1)
    q, k, v = (n("Gather", joint, n.given(part, np.int64), axis=0) for part in range(3))
    y = n("MatMul", n("Softmax", n("MatMul", q, n.turn(k, 0, 1, 3, 2)), axis=-1), v)
    y = n("Reshape", n.turn(y, 0, 3, 1, 2), n.integers(0, 0, CHANNELS))
    return n.model(["N", rows, CHANNELS], n("Add", n("MatMul", y, n.weights(CHANNELS, CHANNELS)), n("Relu", "x")), 3)


def test_parts_with_their_rows_last_are_rows_of_products(tmp_path: Path) -> None:
    o = optimized(tmp_path, across(16))
    assert is_split(o)
    x = np.random.default_rng(0).normal(size=(3, 16, CHANNELS)).astype(np.float32)
    before, after = (outputs(tmp_path / name, {"x": x})[0] for name in ("before.onnx", "after.onnx"))
    assert after.tobytes() == before.tobytes()
    # queries, keys and values were turned and cut; now what they are products of is turned, and the result is
    assert (o.report.before.transposes, o.report.after.transposes) == (3, 2)
    size = 16 * CHANNELS * 4
    assert (o.report.before.typical(), o.report.after.typical()) == (8 * 16 * size, 2 * 16 * size)


@pytest.mark.slow
def test_rows_stay_where_their_number_is_not_known(tmp_path: Path) -> None:
    assert not any("as rows" in each for c in optimized(tmp_path, across("L")).report.changes for each in c.details)
