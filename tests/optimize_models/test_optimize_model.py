"""`sl.optimize` takes away movement, and its result is proved and bit-equal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, numpy_helper

import symlayout as sl
from symlayout.models.model import Model
from symlayout.optimize_models.optimize_model import OptimizedModel, _Search
from tests.equivalence import unoptimized_onnxruntime
from tests.models.onnx_files import extent_nodes, joined
from tests.support.onnx_writer import model, node, tensor, value_info

SHAPES: dict[str, tuple[int | str, ...]] = {
    "static": (1, 8, 4, 6),
    "dynamic batch": ("N", 8, 4, 6),
    "all dynamic": ("N", "C", "H", "W"),
}
Shape = tuple[int | str, ...]


def floats(name: str, *shape: int) -> TensorProto:
    values = np.random.default_rng(len(name)).normal(size=shape).astype(np.float32)
    made: TensorProto = numpy_helper.from_array(values, name)
    return made


def optimized(
    folder: Path, nodes: Sequence[NodeProto], shape: Shape, constants: Sequence[TensorProto] = (), opset: int = 20
) -> OptimizedModel:
    """Return the optimized model, after the checks that hold for every result."""
    path = folder / "before.onnx"
    path.write_bytes(model(nodes, [value_info("x", shape)], constants=constants, opset=opset))
    made = onnx.load(path)
    made.graph.output[0].CopyFrom(value_info("y", [None] * sl.load(path)["y"].rank))  # the checker wants a rank
    path.write_bytes(made.SerializeToString())
    o = sl.optimize(path)
    after = folder / "after.onnx"
    o.save(after)
    onnx.checker.check_model(onnx.load(after))
    assert sl.verify(path, after).verdict is sl.Verdict.PROVED
    assert o.report.after.at_most(o.report.before)
    again = sl.optimize(after)
    assert again.source.SerializeToString() == after.read_bytes()
    assert not [c for c in again.report.changes if c.accepted]
    if unoptimized_onnxruntime.is_installed():  # the test goes on without it
        same_in_onnxruntime(path, after, shape)
    return o


def same_in_onnxruntime(before: Path, after: Path, shape: Shape) -> None:
    sizes = {"N": 3, "C": 8, "H": 4, "W": 6}
    x = np.random.default_rng(0).normal(size=[n if isinstance(n, int) else sizes[n] for n in shape]).astype(np.float32)
    results = [unoptimized_onnxruntime.outputs(path, {"x": x}) for path in (before, after)]
    for a, b in zip(*results, strict=True):
        np.testing.assert_array_equal(a, b)


def ops(o: Model) -> list[str]:
    return [n.op_type for n in o.source.graph.node]


TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
every_shape = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)


@every_shape
def test_a_pair_of_transposes_goes(tmp_path: Path, shape: Shape) -> None:
    nodes = [
        node("Relu", "x", "a"),
        node("Transpose", "a", "b", perm=TO_NHWC),
        node("Transpose", "b", "c", perm=TO_NCHW),
        node("Exp", "c", "y"),
    ]
    o = optimized(tmp_path, nodes, shape)
    assert ops(o) == ["Relu", "Exp"]
    assert (o.report.before.transposes, o.report.after.transposes, o.report.after.total) == (2, 0, 0)


@every_shape
def test_three_transposes_become_one(tmp_path: Path, shape: Shape) -> None:
    nodes = [
        node("Transpose", "x", "a", perm=TO_NHWC),
        node("Transpose", "a", "b", perm=[0, 2, 1, 3]),
        node("Transpose", "b", "c", perm=[3, 1, 2, 0]),
        node("Relu", "c", "y"),
    ]
    assert ops(optimized(tmp_path, nodes, shape)) == ["Transpose", "Relu"]


@pytest.mark.sample(14)
@every_shape
@pytest.mark.parametrize(
    "between",
    [
        [node("Relu", "a", "b")],
        [node("Relu", "a", "r"), node("Sigmoid", "r", "b")],
        [node("Add", "a, bias", "b")],
        [node("Mul", "a, one", "b")],
        [node("Softmax", "a", "b", axis=3)],
        [node("Concat", "a, a", "b", axis=2)],
        [node("Relu", "a", "r"), node("Add", "r, a", "b")],
        [node("ReduceMax", "a, axes", "b", keepdims=1)],
    ],
    ids=["relu", "two", "bias", "scalar", "softmax", "concat", "residual", "reduction"],
)
def test_transposes_around_computing_operations_cancel(tmp_path: Path, shape: Shape, between: list[NodeProto]) -> None:
    nodes = [
        node("Abs", "x", "x0"),
        node("Transpose", "x0", "a", perm=TO_NHWC),
        *between,
        node("Transpose", "b", "c", perm=TO_NCHW),
        node("Exp", "c", "y"),
    ]
    read = {name for n in nodes for name in n.input}
    given = [c for c in (floats("bias", 8), floats("one"), tensor([-1], name="axes")) if c.name in read]
    if "bias" in read:
        shape = tuple(8 if n == "C" else n for n in shape)
    o = optimized(tmp_path, nodes, shape, given)
    assert "Transpose" not in ops(o)


@pytest.mark.sample(4)
@every_shape
@pytest.mark.parametrize("depth", [1, 4])
def test_a_residual_network_is_transposed_once_each_way(tmp_path: Path, shape: Shape, depth: int) -> None:
    nodes, at = [], "x"
    for k in range(depth):
        nodes += [
            node("Transpose", at, f"t{k}", perm=TO_NCHW),
            node("InstanceNormalization", f"t{k}, scale, shift", f"c{k}"),
            node("Transpose", f"c{k}", f"u{k}", perm=TO_NHWC),
            node("Relu", f"u{k}", f"r{k}"),
            node("Add", f"r{k}, {at}", f"a{k}"),
        ]
        at = f"a{k}"
    nodes.append(node("Exp", at, "y"))
    shape = (*shape[:3], 6)
    o = optimized(tmp_path, nodes, shape, [floats("scale", 6), floats("shift", 6)])
    assert ops(o).count("Transpose") == 2


def test_transposes_that_do_not_pay_stay(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "a", perm=TO_NHWC), node("Relu", "a", "y")]
    o = optimized(tmp_path, nodes, SHAPES["all dynamic"])
    assert ops(o) == ["Transpose", "Relu"]
    assert o.source.SerializeToString() == (tmp_path / "before.onnx").read_bytes()


def pixel_shuffle(mode: str) -> list[NodeProto]:
    """Return a pixel shuffle of a Relu as reshape, transpose, reshape."""
    perm = [0, 3, 4, 1, 5, 2] if mode == "DCR" else [0, 1, 4, 2, 5, 3]
    return [
        node("Relu", "x", "x0"),
        node("Reshape", "x0, split", "a"),
        node("Transpose", "a", "b", perm=perm),
        node("Reshape", "b, whole", "c"),
        node("Exp", "c", "y"),
    ]


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("batch", [1, "N"])
def test_a_pixel_shuffle_is_one_operation(tmp_path: Path, mode: str, batch: int | str) -> None:
    constants = [tensor([-1, 2, 2, 2, 4, 6], name="split"), tensor([-1, 2, 8, 12], name="whole")]
    o = optimized(tmp_path, pixel_shuffle(mode), (batch, 8, 4, 6), constants)
    assert ops(o) == ["Relu", "DepthToSpace", "Exp"]
    made = o.source.graph.node[1]
    assert {a.name: onnx.helper.get_attribute_value(a) for a in made.attribute} == {
        "blocksize": 2, "mode": mode.encode(),
    }  # fmt: skip


def test_a_value_that_was_kept_is_tried_again_beside_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run would do it otherwise."""
    nodes = [
        node("Transpose", "x", "a", perm=TO_NHWC),
        node("Transpose", "a", "b", perm=TO_NCHW),
        node("Exp", "b", "c"),
        node("Transpose", "c", "d", perm=TO_NHWC),
        node("Transpose", "d", "e", perm=TO_NCHW),
        node("Tanh", "e", "y"),
    ]
    decide = _Search._why_not

    def why_not(search: _Search, made: Model) -> str:
        if search.best is search.original and ops(made) == ["Exp", "Tanh"]:  # both at once
            return "it is not proved"
        return decide(search, made)

    monkeypatch.setattr(_Search, "_why_not", why_not)
    o = optimized(tmp_path, nodes, ("N", 8, 4, 6))
    assert ops(o) == ["Exp", "Tanh"]
    assert all(change.accepted for change in o.report.changes)


def test_a_focus_stem_is_space_to_depth(tmp_path: Path) -> None:
    rows = [node("Slice", f"x, s{i}{j}, ends, axes, steps", f"p{i}{j}") for i in (0, 1) for j in (0, 1)]
    nodes = [*rows, node("Concat", "p00, p01, p10, p11", "a", axis=1), node("Relu", "a", "y")]
    given = [tensor([i, j], name=f"s{i}{j}") for i in (0, 1) for j in (0, 1)]
    given += [tensor([1 << 40] * 2, name="ends"), tensor([2, 3], name="axes"), tensor([2, 2], name="steps")]
    o = optimized(tmp_path, nodes, ("N", 3, 4, 6), given)
    assert ops(o) == ["SpaceToDepth", "Relu"]


@every_shape
def test_a_reshape_to_the_same_shape_goes_with_its_scaffold(tmp_path: Path, shape: Shape) -> None:
    nodes = [node("Relu", "x", "a"), node("Shape", "a", "s"), node("Reshape", "a, s", "b"), node("Exp", "b", "y")]
    assert ops(optimized(tmp_path, nodes, shape)) == ["Relu", "Exp"]


@every_shape
def test_a_scaffold_of_a_shape_that_a_constant_spells_goes(tmp_path: Path, shape: Shape) -> None:
    nodes = [
        node("Relu", "x", "a"),
        node("Shape", "a", "s"),
        node("Gather", "s, zero", "n", axis=0),
        node("Concat", "n, rest", "t", axis=0),
        node("Reshape", "a, t", "b"),
        node("Exp", "b", "y"),
    ]
    o = optimized(tmp_path, nodes, shape, [tensor([0], name="zero"), tensor([-1], name="rest")])
    assert ops(o) == ["Relu", "Reshape", "Exp"]


def test_the_report_says_what_went(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "a", perm=[1, 0]), node("Transpose", "a", "b", perm=[1, 0]), node("Exp", "b", "y")]
    o = optimized(tmp_path, nodes, ("N", 3))
    text = str(o.report)
    assert text.startswith("transposes   2 -> 0\nbytes moved  24*N -> 0\nnodes        3 -> 1\noutput y: PROVED\n")
    data: dict[str, Any] = o.report.to_json()
    assert data["before"] == {"transposes": 2, "bytes": "24*N", "nodes": 3}
    assert data["verdicts"] == {"y": "proved"}


def test_an_output_keeps_its_name(tmp_path: Path) -> None:
    nodes = [
        node("Relu", "x", "a"),
        node("Transpose", "a", "b", perm=TO_NHWC),
        node("Transpose", "b", "y", perm=TO_NCHW),
    ]
    o = optimized(tmp_path, nodes, SHAPES["dynamic batch"])
    assert ops(o) == ["Relu"]
    assert list(o.outputs) == ["y"]


def test_an_output_that_is_an_input_keeps_a_node(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "a", perm=[1, 0]), node("Transpose", "a", "y", perm=[1, 0])]
    assert ops(optimized(tmp_path, nodes, ("N", 3))) == ["Identity"]


def test_a_layout_and_a_law_are_known(tmp_path: Path) -> None:
    path = tmp_path / "x.onnx"
    path.write_bytes(model([node("Relu", "x", "y")], [value_info("x", ("N",))]))
    with pytest.raises(sl.ShapeError, match="layout 'CHWN' is not known\n  known: None, NCHW, NHWC"):
        sl.optimize(path, layout="CHWN")
    with pytest.raises(sl.ShapeError, match="law 'commute' is none of reassociate"):
        sl.optimize(path, laws=["commute"])


def test_a_mean_stays_where_it_is(tmp_path: Path) -> None:
    nodes = [
        node("Abs", "x", "x0"),
        node("Transpose", "x0", "a", perm=TO_NHWC),
        node("ReduceMean", "a, axes", "b", keepdims=1),
        node("Transpose", "b", "c", perm=TO_NCHW),
        node("Exp", "c", "y"),
    ]
    shape = SHAPES["dynamic batch"]
    o = optimized(tmp_path, nodes, shape, [tensor([-1], name="axes")])  # its sum would have another order in a runtime
    assert ops(o)[:3] == ["Abs", "Transpose", "ReduceMean"]
    assert (o.report.held, o.report.laws) == (("ReduceMean b",), ())
    granted = sl.optimize(tmp_path / "before.onnx", laws=["reassociate"])
    assert ops(granted) == ["Abs", "ReduceMean", "Exp"]
    assert (granted.report.held, granted.report.laws) == ((), ("reassociate",))


def test_subgraphs_and_metadata_stay(tmp_path: Path) -> None:
    branch = [
        onnx.helper.make_graph([node(op, "b", out)], op, [], [value_info(out, None)])
        for op, out in (("Relu", "then"), ("Neg", "else"))
    ]
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Transpose", "a", "b", perm=[1, 0]),
        node("If", "yes", "c", then_branch=branch[0], else_branch=branch[1]),
        node("Add", "b, c", "y"),
    ]
    path = tmp_path / "m.onnx"
    yes = numpy_helper.from_array(np.array(True), "yes")
    made = onnx.ModelProto.FromString(model(nodes, [value_info("x", ("N", 3))], constants=[yes]))
    made.doc_string = "a document"
    made.metadata_props.add(key="author", value="someone")
    path.write_bytes(made.SerializeToString())
    o = sl.optimize(path)
    assert (o.source.doc_string, list(o.source.metadata_props)) == ("a document", list(made.metadata_props))
    assert o.source.graph.node[-2].SerializeToString() == made.graph.node[2].SerializeToString()
    assert sl.verify(path, o).verdict is sl.Verdict.PROVED


def test_constants_in_other_files_stay_there_or_go_along(tmp_path: Path) -> None:
    nodes = [
        node("Transpose", "x", "a", perm=[1, 0]),
        node("Transpose", "a", "b", perm=[1, 0]),
        node("Add", "b, bias", "y"),
    ]
    made = onnx.ModelProto.FromString(model(nodes, [value_info("x", ("N", 512))], constants=[floats("bias", 512)]))
    path = tmp_path / "m.onnx"
    onnx.save(made, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    o = sl.optimize(path)
    assert ops(o) == ["Add"]
    o.save(tmp_path / "after.onnx")
    assert sl.verify(path, tmp_path / "after.onnx").verdict is sl.Verdict.PROVED
    (tmp_path / "other").mkdir()
    o.save(tmp_path / "other" / "after.onnx")
    assert sl.verify(path, tmp_path / "other" / "after.onnx").verdict is sl.Verdict.PROVED


@pytest.mark.sample(2)
@every_shape
def test_a_pixel_shuffle_whose_shapes_are_computed_is_one_operation(tmp_path: Path, shape: Shape) -> None:
    nodes = [
        *extent_nodes(N=0, C=1, H=2, W=3),
        node("Constant", "", "four", value=tensor([4], [])),
        node("Constant", "", "two", value=tensor([2], [])),
        node("Div", "C, four", "D"),
        node("Mul", "H, two", "H2"),
        node("Mul", "W, two", "W2"),
        *joined("split", "N", "D", "2", "2", "H", "W"),
        *joined("whole", "N", "D", "H2", "W2"),
        *pixel_shuffle("CRD"),
    ]
    o = optimized(tmp_path, nodes, shape, [tensor([0], name="zero")])
    assert ops(o) == ["Relu", "DepthToSpace", "Exp"]


@pytest.mark.sample(11)
@pytest.mark.parametrize("seed", range(12))
def test_random_chains_are_bit_equal(tmp_path: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    nodes, values = [], ["x"]
    for k in range(9):
        a, axis = values[-1 - int(random.integers(min(2, len(values))))], int(random.integers(4))
        made = [
            node("Transpose", a, f"v{k}", perm=random.permutation(4).tolist()),
            node("Transpose", a, f"v{k}", perm=[TO_NHWC, TO_NCHW][axis % 2]),
            node("Relu", a, f"v{k}"),
            node("Concat", f"{a}, {a}", f"v{k}", axis=axis),
            node("Softmax", a, f"v{k}", axis=axis),
            node("Add", f"{a}, one", f"v{k}"),
        ]
        nodes.append(made[int(random.integers(len(made)))])
        values.append(f"v{k}")
    optimized(tmp_path, [*nodes, node("Exp", values[-1], "y")], SHAPES["dynamic batch"], [floats("one")])
