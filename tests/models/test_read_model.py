"""Every value of a model has a shape in the inputs' dims, or a named bounded dim; no operation is refused."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.model import Items, Model, Unshaped
from symlayout.models.onnx_nodes.schemas import since_version
from symlayout.models.opaque import OutputType, SameAs, UnknownExtent, opaque
from tests.support.onnx_writer import INT64, model, node, tensor, value_info

X = value_info("x", ("N", "C", "H", "W"))


def read(folder: Path, data: bytes) -> Model:
    (folder / "model.onnx").write_bytes(data)
    return sl.read_model(folder / "model.onnx")


def test_every_value_is_there_by_its_name(tmp_path: Path) -> None:
    nodes = [node("Shape", "x", "s"), node("Transpose", "x", "t"), node("Custom", "t, k", "u", domain="mine"),
             node("Reshape", "t, s", "y")]  # fmt: skip
    data = model(nodes, [X], constants=(tensor([1, 2], name="k"),), outputs=("y", "u"))
    m = read(tmp_path, data)
    assert list(m.inputs) == ["x"]
    assert list(m.outputs) == ["y", "u"]
    assert {name: str(t.shape) for name, t in m.tensors.items()} == {
        "x": "(N, C, H, W)", "s": "(4,)", "t": "(W, H, C, N)", "y": "(N, C, H, W)", "k": "(2,)",
        "u": "None",
    }  # fmt: skip
    assert [n.op_type for n in m.nodes] == ["Shape", "Transpose", "Custom", "Reshape"]
    assert isinstance(m.source, ModelProto)
    assert sl.interpret(m.tensors["s"], np.zeros((2, 3, 4, 5), np.float32)).tolist() == [2, 3, 4, 5]


def test_the_rank_that_the_file_states_is_believed_for_an_operation_that_nobody_knows(tmp_path: Path) -> None:
    made = ModelProto.FromString(model([node("Custom", "x", "y", domain="mine")], [X]))
    made.graph.output[0].CopyFrom(value_info("y", ("N", 7, "other")))
    y = read(tmp_path, made.SerializeToString()).tensors["y"]
    assert y.shape[1] == 7
    assert y.bounds() == [(0, None), (7, 7), (0, None)]
    assert len(set(map(str, y.shape))) == 3


def test_a_dim_that_depends_on_data_is_bounded_and_the_same_for_the_same_function(tmp_path: Path) -> None:
    nodes = [node("NonZero", "x", "a"), node("NonZero", "x", "b"), node("Identity", "x", "i"),
             node("NonZero", "c", "c0")]  # fmt: skip
    x, c = value_info("x", (3, 5)), value_info("c", (3, 5))
    m = read(tmp_path, model(nodes, [x, c], outputs=("a", "b", "i", "c0")))
    a, b, c0 = (m.outputs[name] for name in ("a", "b", "c0"))
    assert a.shape == b.shape
    assert a.shape[0] == 2
    assert a.bounds()[1] == (0, 15)
    assert a.shape[1] != c0.shape[1]
    assert sl.prove_equal(a, b).verdict is sl.Verdict.PROVED


def test_random_operations_are_equal_to_nothing(tmp_path: Path) -> None:
    nodes = [node("RandomNormal", "", "y", shape=[2, 3]), node("RandomNormal", "", "z", shape=[2, 3])]
    m = read(tmp_path, model(nodes, [X], outputs=("y", "z")))
    assert m.outputs["y"].shape == (2, 3)
    assert sl.prove_equal(m.outputs["y"], m.outputs["z"]).verdict is not sl.Verdict.PROVED


def test_recurrent_layers_have_the_shapes_of_the_standard(tmp_path: Path) -> None:
    made = node("LSTM", "x, w, r", "y, h, c", hidden_size=4)
    inputs = [value_info("x", ("S", "B", 3)), value_info("w", (1, 16, 3)), value_info("r", (1, 16, 4))]
    m = read(tmp_path, model([made], inputs, outputs=("y", "h", "c")))
    assert [str(t.shape) for t in m.outputs.values()] == ["(S, 1, B, 4)", "(1, B, 4)", "(1, B, 4)"]


def test_local_functions_are_inlined(tmp_path: Path) -> None:
    function = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [node("Concat", "a, a", "b", axis=0)], [helper.make_opsetid("", 20)]
    )
    made = ModelProto.FromString(model([node("Twice", "x", "y", domain="mine")], [X]))
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("mine", 1))
    m = read(tmp_path, made.SerializeToString())
    assert str(m.outputs["y"].shape) == "(2*N, C, H, W)"
    assert [n.op_type for n in m.nodes] == ["Concat"]


def test_functions_that_grow_without_end_are_refused(tmp_path: Path) -> None:
    made = ModelProto.FromString(model([node("f20", "x", "y", domain="mine")], [X]))
    made.opset_import.append(helper.make_opsetid("mine", 1))
    for k in range(21):
        inner = [node(f"f{k - 1}", "a", "b", "mine"), node(f"f{k - 1}", "b", "c", "mine")] if k else [
            node("Identity", "a", "c")]  # fmt: skip
        made.functions.append(helper.make_function("mine", f"f{k}", ["a"], ["c"], inner, made.opset_import))
    with pytest.raises(sl.FormatError, match="nodes, with its functions inlined"):
        read(tmp_path, made.SerializeToString())
    made.graph.node[0].op_type = "loop"
    made.functions.append(
        helper.make_function("mine", "loop", ["a"], ["c"], [node("loop", "a", "c", "mine")], made.opset_import)
    )
    with pytest.raises(sl.FormatError, match="calls itself"):
        read(tmp_path, made.SerializeToString())


def test_functions_that_copy_a_constant_without_end_are_refused(tmp_path: Path) -> None:
    made = ModelProto.FromString(model([node("f3", "x", "y", domain="mine")], [X]))
    made.opset_import.append(helper.make_opsetid("mine", 1))
    constant = numpy_helper.from_array(np.zeros(5000, np.float32))
    bodies = [[helper.make_node("Constant", [], ["k"], value=constant), node("Identity", "a", "c")]]
    bodies += [[node(f"f{k}", "a", "c", "mine")] * 20 for k in range(3)]
    for k, body in enumerate(bodies):
        made.functions.append(helper.make_function("mine", f"f{k}", ["a"], ["c"], body, made.opset_import))
    with pytest.raises(sl.FormatError, match="bytes, with its functions inlined"):
        read(tmp_path, made.SerializeToString())


def test_explain_names_the_nodes_that_demand_something(tmp_path: Path) -> None:
    nodes = [node("DepthToSpace", "x", "d", name="unpack", blocksize=2), node("Transpose", "d", "y", name="turn")]
    text = read(tmp_path, model(nodes, [X])).explain("y")
    assert text.splitlines()[:2] == [
        "y: (2*W, 2*H, C/4, N)",
        "  y (2*W, 2*H, C/4, N) = Transpose(d (N, C/4, 2*H, 2*W))",
    ]
    assert "  requires C % 4 == 0\n    in: node 'unpack', DepthToSpace" in text


def test_explain_lists_what_is_required_once(tmp_path: Path) -> None:
    """That H is a multiple of 4 follows from 8, and was listed beside it; so were all the steps that state it again."""
    four = node("SpaceToDepth", "x", "a", name="four", blocksize=4)
    nodes = [four, node("SpaceToDepth", "a", "y", name="two", blocksize=2)]
    text = read(tmp_path, model(nodes, [X])).explain("y")
    assert [line for line in text.splitlines() if "requires" in line] == [
        "  requires H % 8 == 0",
        "  requires W % 8 == 0",
    ]
    assert text.count("in: node 'four', SpaceToDepth") == text.count("in: node 'two', SpaceToDepth") == 2
    with pytest.raises(TypeError, match="a mapping from their names, not str"):
        sl.load(tmp_path / "model.onnx", dims="H=8")  # type: ignore[arg-type]


def test_a_chain_costs_the_same_for_each_node(tmp_path: Path) -> None:
    """Calls of Python functions, for two lengths."""
    from tests.support.steps import counted

    costs = []
    for count in (100, 200):
        names = ["x", *(f"v{k}" for k in range(count - 1)), "y"]
        nodes = [node("Mul", f"{a}, {a}", b) for a, b in itertools.pairwise(names)]
        (tmp_path / "model.onnx").write_bytes(model(nodes, [X]))
        with counted(10**7) as steps:
            sl.read_model(tmp_path / "model.onnx")
        costs.append(steps.count)
    assert costs[1] < 2.5 * costs[0]


def test_the_parts_of_an_opaque_operation() -> None:
    x = sl.tensor("N, C", name="x")
    kinds = [
        OutputType(np.dtype("int64"), (SameAs(1, 1), UnknownExtent(0, (SameAs(1, 0), 3)))),
        None,
        OutputType(None, None),
    ]
    y, nothing, z = opaque("mine:f", [None, x], (), kinds, stem="f", identity="1")
    assert isinstance(y, sl.Tensor)
    assert [str(n) for n in y.shape] == ["C", "f.1"]
    assert nothing is None
    assert isinstance(z, Unshaped)
    assert isinstance(Evaluation({}).tensor(z), sl.Tensor)
    with pytest.raises(sl.FormatError, match="is a sequence"):
        Evaluation({}).tensor(Items(()), "s")


def test_versions_of_operations(tmp_path: Path) -> None:
    m = read(tmp_path, model([node("Relu", "x", "y")], [X], opset=20))
    assert since_version(m.nodes[0]) == 14


@pytest.mark.parametrize("shape", [("N", "C"), (2, 3)])
def test_numbers_of_a_shape_have_the_element_type_that_they_are_cast_to(
    tmp_path: Path, shape: tuple[int | str, ...]
) -> None:
    def read_cast(name: str, *nodes: NodeProto) -> Model:
        (tmp_path / name).mkdir()
        return read(tmp_path / name, model([node("Shape", "x", "s"), *nodes], [value_info("x", shape)]))

    plain = read_cast("plain", node("Add", "s, s", "y"))
    cast = read_cast("cast", node("Cast", "s", "i", to=TensorProto.INT32), node("Add", "i, i", "y"))
    back = read_cast(
        "back", node("Cast", "s", "i", to=TensorProto.INT32), node("Add", "i, i", "t"), node("Cast", "t", "y", to=INT64)
    )
    assert [m.outputs["y"].dtype for m in (plain, cast, back)] == [np.int64, np.int32, np.int64]
    found = sl.interpret(cast.outputs["y"], *[np.zeros((2, 3), np.float32)] * len(cast.outputs["y"].arguments()))
    assert (found.dtype, found.tolist()) == (np.int32, [4, 6])
    assert sl.verify(plain, cast).verdict is sl.Verdict.REFUTED
    assert sl.verify(plain, back).verdict is sl.Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("to", [TensorProto.INT8, TensorProto.UINT32, TensorProto.FLOAT16])
def test_numbers_of_a_shape_are_not_taken_to_fit_a_narrow_type(tmp_path: Path, to: int) -> None:
    def read_cast(name: str, *nodes: NodeProto) -> Model:
        (tmp_path / name).mkdir()
        head = node("Shape", "x", "s"), node("Add", "s, s", "a"), node("Sub", "s, a", "d")  # minus the extents
        return read(tmp_path / name, model([*head, *nodes], [value_info("x", ("N", "C"))]))

    plain = read_cast("plain", node("Identity", "d", "y"))
    cast = read_cast("cast", node("Cast", "d", "n", to=to), node("Cast", "n", "y", to=INT64))
    assert sl.verify(plain, cast, budget=1).verdict is not sl.Verdict.PROVED
