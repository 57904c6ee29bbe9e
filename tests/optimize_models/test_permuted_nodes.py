"""Operations between transposes run in the other layout, where a spelling there is proved."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper, save

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.optimize_models.crossings.permuted_nodes import PermutedNodes, rounds_alike
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from tests.equivalence.unoptimized_onnxruntime import outputs
from tests.models.compare_shapes import FOLDER
from tests.optimize_models.compare import compare
from tests.optimize_models.spellings.dilation_spellings import Parts
from tests.optimize_models.test_optimize_model import (
    SHAPES,
    TO_NCHW,
    TO_NHWC,
    ops,
    optimized,
    same_in_onnxruntime,
)
from tests.support.onnx_writer import model, node, value_info


def between(*nodes: NodeProto, **given: object) -> tuple[list[NodeProto], list[TensorProto]]:
    """Return nodes from a to b between transposes, and their constants: integers where no dtype says otherwise."""
    constants = [numpy_helper.from_array(np.asarray(values), name) for name, values in given.items()]
    return [
        node("Abs", "x", "x0"),
        node("Transpose", "x0", "a", perm=TO_NHWC),
        *nodes,
        node("Transpose", "b", "c", perm=TO_NCHW),
        node("Exp", "c", "y"),
    ], constants


def floats(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


ZERO, CHANNELS = np.float32(0), np.linspace(0.1, 0.8, 8, dtype=np.float32)
MOVED = {
    "pad": between(node("Pad", "a, p, zero", "b"), p=[0, 1, 2, 0, 0, 3, 1, 0], zero=ZERO),
    "pad of some axes": between(node("Pad", "a, p, zero, n", "b"), p=[1, 2, 3, 1], zero=ZERO, n=[1, -2]),
    "pad by reflection": between(node("Pad", "a, p", "b", mode="reflect"), p=[0, 1, 2, 0, 0, 1, 1, 0]),
    "resize": between(node("Resize", "a, , s", "b", mode="nearest"), s=floats(1, 2, 2, 1)),
    "linear resize": between(node("Resize", "a, , s", "b", mode="linear"), s=floats(1, 2, 2, 1)),
    "resize to sizes": between(node("Resize", "a, , , s", "b", mode="linear", axes=[1, 2]), s=[9, 11]),
    "slice": between(node("Slice", "a, s, e, n, t", "b"), s=[1, 0], e=[100, -1], n=[1, 2], t=[2, 1]),
    "slice of the first axes": between(node("Slice", "a, s, e", "b"), s=[0, 1], e=[100, 3]),
    "split": between(node("Split", "a", "d, e", axis=-1, num_outputs=2), node("Add", "d, e", "b")),
    "argmax": between(node("ArgMax", "a", "i", axis=3), node("Cast", "i", "b", to=1)),
    "maximum": between(node("ReduceMax", "a, n", "s", keepdims=0), node("Unsqueeze", "s, n", "b"), n=[1, 2]),
    "maximum and reshape": between(
        node("ReduceMax", "a, n", "s", keepdims=0), node("Reshape", "s, t", "b"), n=[1, 2], t=[-1, 1, 1, 8]
    ),
    "slopes": between(node("PRelu", "a, s", "b"), s=CHANNELS),
    "where": between(node("Greater", "a, zero", "g"), node("Where", "g, a, k", "b"), zero=ZERO, k=CHANNELS),
    "expand": between(node("ReduceMax", "a, n", "s"), node("Expand", "s, t", "b"), n=[1, 2], t=[4, 6, 1]),
    "tile": between(node("Tile", "a, r", "b"), r=[1, 2, 2, 1]),
    "tile by a size": between(
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "n, k", "r", axis=0),
        node("Tile", "a, r", "b"),
        k=[1, 1, 1],
    ),
    "tile of rows by a size": between(
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "one, n, k", "r", axis=0),
        node("Tile", "a, r", "b"),
        one=[1],
        k=[1, 1],
    ),
    "expand to sizes": between(
        node("ReduceMax", "a, n", "m"),
        node("Shape", "x", "s"),
        node("Gather", "s, order", "t"),
        node("Expand", "m, t", "b"),
        n=[1, 2],
        order=TO_NHWC,
    ),
    "slice to a size": between(
        node("Shape", "x", "h", start=2, end=3),
        node("Sub", "h, one", "e"),
        node("Slice", "a, zero, e, one", "b"),
        one=[1],
        zero=[0],
    ),
    "pad by a size": between(
        node("Shape", "x", "n", start=0, end=1),
        node("Concat", "k, n, three", "p", axis=0),
        node("Pad", "a, p, zero", "b"),
        k=[0, 1, 0],
        three=[0, 0, 2, 0],
        zero=ZERO,
    ),
    "cumulated": between(node("CumSum", "a, n", "b"), n=3),
    "the largest": between(node("TopK", "a, k", "b, i", axis=3), k=[2]),
    "gather": between(node("Gather", "a, i", "b", axis=3), i=[2, 0, 1]),
    "quantized": between(
        node("QuantizeLinear", "a, s, z", "q"), node("DequantizeLinear", "q, s, z", "b"), s=CHANNELS[0], z=np.uint8(3)
    ),
    "quantized by channel": between(
        node("QuantizeLinear", "a, s, z", "q", axis=3),
        node("DequantizeLinear", "q, s, z", "b", axis=-1),
        s=CHANNELS,
        z=np.zeros(8, np.uint8),
    ),
    "shape": between(node("Relu", "a", "r"), node("Shape", "a", "s"), node("Reshape", "r, s", "b")),
    "log of softmax": between(node("LogSoftmax", "a", "b", axis=-1)),
    "another transpose": between(
        node("Transpose", "a", "t", perm=[0, 2, 1, 3]),
        node("Relu", "t", "r"),
        node("Transpose", "r", "b", perm=[0, 2, 1, 3]),
    ),
}


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", MOVED)
@pytest.mark.parametrize(
    "kind",
    [
        "dynamic batch",
        pytest.param("static", marks=pytest.mark.slow),
        pytest.param("all dynamic", marks=pytest.mark.slow),
    ],
)
def test_an_operation_between_transposes_runs_without_them(tmp_path: Path, kind: str, name: str) -> None:
    nodes, constants = MOVED[name]
    shape = tuple(8 if e == "C" else e for e in SHAPES[kind])
    assert "Transpose" not in ops(optimized(tmp_path, nodes, shape, constants))


ANGLES = np.linspace(0.1, 9, 8, dtype=np.float32)
CONSTANTS = {  # nodes that compute a factor of each channel, and those of them that the result has
    "cosines": ([node("Cos", "k", "r")], ["Cos"]),
    "cosines of products": ([node("Mul", "k, k", "m"), node("Cos", "m", "r")], ["Cos"]),
    "sums": ([node("CumSum", "k, zero", "r")], ["CumSum"]),
    "single tangents": ([node("Tanh", "two", "s"), node("Concat", "s, s, s, s, s, s, s, s", "r", axis=0)], ["Tanh"]),
    "single roots": ([node("Sqrt", "two", "s"), node("Concat", "s, s, s, s, s, s, s, s", "r", axis=0)], []),
    "products": ([node("Mul", "k, k", "r")], []),
    "quotients of integers": (
        [node("Range", "zero, eight, one", "i"), node("Cast", "i", "e", to=1), node("Div", "e, k", "r")],
        [],
    ),
}


def with_factors(folder: Path, name: str) -> Path:
    """Return a model that multiplies the channels between transposes by constants that nodes compute."""
    nodes, _ = between(*CONSTANTS[name][0], node("Unsqueeze", "r, n", "f"), node("Mul", "a, f", "b"))
    values = {"k": ANGLES, "n": [0, 1, 2], "zero": 0, "one": 1, "eight": 8, "two": floats(2)}
    read = {n for each in nodes for n in each.input}
    constants = [numpy_helper.from_array(np.asarray(v), k) for k, v in values.items() if k in read]
    path = folder / "before.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 8, 4, 6))], constants=constants))
    return path


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_whose_last_bits_depend_on_the_runtime_stays_computed(tmp_path: Path, name: str) -> None:
    o = sl.optimize(with_factors(tmp_path, name))
    found = [n.op_type for n in o.source.graph.node]
    assert "Transpose" not in found
    assert [op for op in found if op in ("Cos", "CumSum", "Tanh", "Sqrt", "Mul", "Cast", "Div")] == [
        *CONSTANTS[name][1],
        "Mul",
    ]


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_model_with_computed_constants_has_the_same_bits_in_onnxruntime(tmp_path: Path, name: str) -> None:
    path, after = with_factors(tmp_path, name), tmp_path / "after.onnx"
    sl.optimize(path).save(after)
    same_in_onnxruntime(path, after, ("N", 8, 4, 6))


@pytest.mark.slow
def test_rotary_embeddings_have_the_same_bits_in_onnxruntime(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    path, after = FOLDER / "llama_batch.onnx", tmp_path / "after.onnx"
    o = sl.optimize(path)
    o.save(after)
    assert o.report.laws == ()
    assert o.report.after.transposes < o.report.before.transposes
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    sizes, equal = compare(path, after, 1)
    assert sizes == equal > 0


STAY = {
    "a normalisation of the last axis": between(
        node("LayerNormalization", "a, s", "b", axis=-1), s=np.ones(8, np.float32)
    ),
    "a triangle": between(node("Trilu", "a", "b")),
    "a mean": between(node("ReduceMean", "a, n", "m"), node("Add", "a, m", "b"), n=[1, 2]),
    "channels first": between(node("GlobalMaxPool", "a", "m"), node("Add", "a, m", "b")),
    "a cubic resize": between(node("Resize", "a, , s", "b", mode="cubic"), s=floats(1, 2, 2, 1)),
}


@pytest.mark.parametrize("name", STAY)
def test_an_operation_without_a_spelling_stays(tmp_path: Path, name: str) -> None:
    """Equal extents do not make a spelling."""
    nodes, constants = STAY[name]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", (8, 8, 8, 8))], constants=constants))
    m = sl.read_model(path)
    graph = EditedGraph(m.source)
    found = PermutedNodes(graph, Movement(m).tensors, tuple(TO_NHWC), {})
    assert found.find(graph.nodes[2]) is None
    assert found.refused == ({"ReduceMean m"} if name == "a mean" else {"Resize b"} if "cubic" in name else set())


@pytest.mark.slow
def test_a_reshape_without_a_spelling_is_given_up_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rounded extents that are divided gave the proof so many cases that a model of twelve nodes took 20 seconds."""
    constants = {"two": [2], "all": [-1], "four": [4], "rows": [0, -1, 2, 8], "joined": [0, -1, 16]}
    nodes = [
        node("MaxPool", "x", "p", kernel_shape=[1, 1], strides=[2, 2]),
        node("Shape", "p", "h", start=2, end=3),
        node("Shape", "p", "w", start=3, end=4),
        node("Div", "h, two", "h2"),
        node("Div", "w, two", "w2"),
        node("Mul", "h2, w2", "count"),
        node("Concat", "all, count, four", "t", axis=0),
        node("Reshape", "p, t", "q"),
        node("Transpose", "q", "v", perm=[0, 2, 1]),
        node("Reshape", "v, rows", "a"),
        node("Reshape", "a, joined", "y"),
    ]
    given = [numpy_helper.from_array(np.array(values), name) for name, values in constants.items()]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 16, "H", "W"))], constants=given))
    m = sl.read_model(path)
    graph = EditedGraph(m.source)
    calls: list[Extent] = []
    original = Facts.excludes

    def counted(facts: Facts, e: Extent) -> bool:
        calls.append(e)
        return original(facts, e)

    monkeypatch.setattr(Facts, "excludes", counted)
    assert PermutedNodes(graph, Movement(m).tensors, (0, 2, 1, 3), {}).find(graph.nodes[-1]) is None
    assert len(calls) < 1000  # there were 10000


def test_a_spelling_names_its_axes_anew(tmp_path: Path) -> None:
    nodes, constants = MOVED["pad of some axes"]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(nodes, [value_info("x", ("N", 8, 4, 6))], constants=constants))
    m = sl.read_model(path)
    graph = EditedGraph(m.source)
    found = PermutedNodes(graph, Movement(m).tensors, tuple(TO_NHWC), {}).find(graph.nodes[2])
    assert found is not None
    assert [o if isinstance(o, str) else o.tolist() for o in found.operands] == ["permuted", "same", "same", [2, 3]]
    assert found.outputs == (True,)


@pytest.mark.parametrize("left", [False, True], ids=["weights right", "weights left"])
def test_a_product_between_transposes_has_its_operands_swapped(tmp_path: Path, left: bool) -> None:
    n = Parts(opset=18)
    w = n.weights(12, 8) if left else n.weights(8, 12)
    x = n.turn(n("Relu", "x"), 0, 2, 1)
    y = n("Add", n("MatMul", *((w, x) if left else (x, w))), n.weights(12, 1) if left else n.weights(12))
    made = n.model(["N", 16, 8] if left else ["N", 8, 16], n("Sigmoid", n.turn(y, 0, 2, 1)), 3)
    save(made, tmp_path / "before.onnx")
    o = sl.optimize(tmp_path / "before.onnx")
    o.save(tmp_path / "after.onnx")
    assert o.report.after.transposes == 0
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    sizes, equal = compare(tmp_path / "before.onnx", tmp_path / "after.onnx", 0)
    assert sizes == equal > 0


def mixed(rows: int | str, terms: int = 8, dtype: type = np.float32) -> ModelProto:
    """Return a product along the first axis of (terms, rows), between transposes."""
    n = Parts(opset=18)
    w = n.given(np.random.default_rng(0).normal(size=(terms, 12)), dtype)
    y = n("MatMul", n.turn(n("Relu", "x"), 0, 2, 1), w)
    made = n.model(["N", terms, rows], n("Sigmoid", n.turn(y, 0, 2, 1)), 3)
    for value in (*made.graph.input, *made.graph.output):
        value.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return made


@pytest.mark.parametrize(
    ("rows", "terms", "dtype"),
    [
        ("L", 8, np.float32),
        (17, 64, np.float32),
        (1, 8, np.float32),
        (256, 200, np.float32),
        (33, 8, np.float32),
        (16, 8, np.float64),
    ],
)
def test_a_product_stays_that_would_be_slower_or_rounded_otherwise(
    tmp_path: Path, rows: int | str, terms: int, dtype: type
) -> None:
    save(mixed(rows, terms, dtype), tmp_path / "m.onnx")
    assert not any(c.rule == "layout" for c in sl.optimize(tmp_path / "m.onnx").report.changes)


def test_under_a_law_sums_of_several_blocks_are_swapped(tmp_path: Path) -> None:
    save(mixed(256, 200), tmp_path / "m.onnx")
    report = sl.optimize(tmp_path / "m.onnx", laws=("reassociate",)).report
    assert (report.laws, report.after.transposes) == (("reassociate",), 0)


@pytest.mark.slow
def test_what_is_said_to_round_alike_does_so_in_onnxruntime(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    seen: Counter[bool] = Counter()
    for _ in range(400):
        sizes = (3, 64, 100, 128, 129, 300), (1, 2, 3, 5, 17, 40), (1, 2, 16, 17, 33, 64, 96, 250)
        terms, rows, columns = (int(random.choice(some)) for some in sizes)
        alike = rounds_alike(terms, rows, columns, Facts())
        seen[alike] += 1
        if not alike:
            continue
        a, b = (random.normal(size=s).astype(np.float32) for s in ((rows, terms), (terms, columns)))
        packed, plain = (Parts(opset=18) for _ in range(2))
        save(packed.model([rows, terms], packed("MatMul", "x", packed.given(b)), 2), tmp_path / "packed.onnx")
        save(
            plain.model([1, rows, terms], plain("MatMul", "x", plain.given(np.stack([b, b]))), 3),
            tmp_path / "plain.onnx",
        )
        (y,), (z,) = outputs(tmp_path / "packed.onnx", {"x": a}), outputs(tmp_path / "plain.onnx", {"x": a[None]})
        assert y.tobytes() == z[0].tobytes() == z[1].tobytes(), (terms, rows, columns)
    assert min(seen[False], seen[True]) > 50
