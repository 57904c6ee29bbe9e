"""Values that have no known rank, and values of no known element type: nothing is guessed of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, NodeProto, TensorProto, ValueInfoProto, helper

import symlayout as sl
from symlayout.commands import command_line
from symlayout.errors import FormatError, ShapeError
from symlayout.models.model import Unshaped
from tests.support.onnx_writer import INT64, model, node, tensor, value_info

X = value_info("x", ("N", "C"))
FOO = node("Foo", "x", "f", domain="mine")


def written(
    path: Path,
    *nodes: NodeProto,
    inputs: tuple[ValueInfoProto, ...] = (X,),
    outputs: str = "y",
    infos: tuple[ValueInfoProto, ...] = (),
    untyped: bool = True,
    constants: Sequence[TensorProto] = (),
) -> Path:
    """Write a model of which the outputs state nothing but their names, and of the values only *infos*."""
    made = ModelProto.FromString(model(nodes, inputs, outputs.split(), constants))
    if untyped:
        for value in made.graph.output:
            value.ClearField("type")
    made.graph.value_info.extend(infos)
    path.write_bytes(made.SerializeToString())
    return path


def test_nothing_is_guessed_of_an_operation_that_nobody_knows(tmp_path: Path) -> None:
    path = written(tmp_path / "m.onnx", FOO, node("Flatten", "f", "y"), node("Relu", "x", "r"), outputs="f y r")
    m = sl.read_model(path)
    for value in (*(m.outputs[n] for n in "fy"), *(m.tensors[n] for n in "fy"), sl.load(path)["f"]):
        assert isinstance(value, Unshaped)
        assert (value.rank, value.shape, value.dtype, value.bounds(), str(value)) == (None, None, None, None, "?")
    assert m.outputs["r"].rank == 2
    assert set(m.tensors.shaped) == {"x", "r"}
    assert "y ?" in repr(m)
    assert m.explain("y").splitlines() == ["y: ?", "  y ? = Flatten(f ?)", "  f ? = Foo(x (N, C))"]


@pytest.mark.parametrize(
    ("op", "rank", "given"),
    [("EyeLike", 2, {}), ("Size", 0, {}), ("DepthToSpace", 4, {"blocksize": 2}), ("SpaceToDepth", 4, {"blocksize": 2})],
)
def test_a_rank_that_an_operation_fixes_is_known_though_its_operands_is_not(
    tmp_path: Path, op: str, rank: int, given: dict[str, Any]
) -> None:
    path = written(tmp_path / "m.onnx", FOO, node(op, "f", "y", **given), infos=(value_info("y", (1, 2, 3)),))
    assert sl.read_model(path).outputs["y"].rank == rank


def test_the_table_the_data_and_the_outline_have_a_question_mark(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(written(tmp_path / "m.onnx", FOO, node("Flatten", "f", "y")))
    assert command_line.main(["infer", path]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["shape", "type", "from"], ["x", "(N,", "C)", "float32", "input"], ["y", "?", "any", "output,", "Flatten"],
    ]  # fmt: skip
    assert command_line.main(["infer", path, "--json", "--all"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["shape"], data["dtype"], data["bounds"]) == (None, None, None)
    assert data["values"]["f"] == {"shape": None, "dtype": None, "kind": "tensor", "op": "Foo"}
    assert command_line.main(["show", path]) == 0
    assert "y ?" in capsys.readouterr().out
    for words in (["emit", path, "-o", str(tmp_path)], ["explain", path], ["prove", path, "--", "flip(0)"]):
        assert command_line.main(words) != 0
        assert "output 'y' of" in capsys.readouterr().err


def test_values_of_unknown_rank_are_equal_if_they_are_one_function_of_equal_operands(tmp_path: Path) -> None:
    flat = node("Flatten", "f", "y")
    before = written(tmp_path / "a.onnx", node("Transpose", "x", "t"), node("Foo", "t", "f", domain="mine"), flat)
    twice = [node("Transpose", "x", "p"), node("Transpose", "p", "q"), node("Transpose", "q", "t")]
    after = written(tmp_path / "b.onnx", *twice, node("Foo", "t", "f", domain="mine"), flat)
    other = written(tmp_path / "c.onnx", FOO, flat)
    changed = written(tmp_path / "d.onnx", node("Foo", "x", "f", domain="mine", k=1), flat)
    v = sl.verify(before, after)
    assert v.verdict is sl.Verdict.PROVED
    assert sl.check(v.certificate, before=before, after=after)
    for pair in ((before, other), (other, changed)):
        v = sl.verify(*pair)
        assert v.verdict is sl.Verdict.UNKNOWN
        assert v.witness is None
        assert "UNKNOWN" in v.explain()


def test_an_unknown_rank_beside_a_known_one_is_not_decided(tmp_path: Path) -> None:
    before = written(tmp_path / "a.onnx", FOO, node("Identity", "f", "y"))
    for k, after in enumerate([node("Relu", "x", "y"), node("ReduceSum", "x", "y", keepdims=0)]):
        path = written(tmp_path / f"{k}.onnx", after)
        assert sl.verify(before, path, run=False).verdict is sl.Verdict.UNKNOWN
        assert sl.verify(path, before, run=False).verdict is sl.Verdict.UNKNOWN


def test_optimize_leaves_what_has_no_known_rank(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "t"), node("Transpose", "t", "u"), node("Foo", "u", "f", domain="mine"),
             node("Transpose", "f", "y", perm=[1, 0])]  # fmt: skip
    path = written(tmp_path / "m.onnx", *nodes)
    o = sl.optimize(path)
    assert [n.op_type for n in o.nodes] == ["Foo", "Transpose"]
    assert o.outputs["y"].rank is None
    assert sl.verify(path, o).verdict is sl.Verdict.PROVED


def test_an_unknown_operation_does_not_have_the_type_of_its_operand(tmp_path: Path) -> None:
    """`Foo` of int32 is added to float32: the sum is float32."""
    x = value_info("x", (2, 3), TensorProto.INT32)
    added = node("Add", "f, c", "y")
    one = helper.make_tensor("c", TensorProto.FLOAT, [3], [1, 2, 3])
    stated = value_info("f", ("A", 3))
    stated.type.tensor_type.elem_type = 0
    path = written(tmp_path / "m.onnx", FOO, added, inputs=(x,), infos=(stated,), constants=(one,))
    m = sl.read_model(path)
    assert m.tensors["f"].dtype is None
    assert m.outputs["y"].dtype == np.float32
    assert sl.verify(path, path).verdict is sl.Verdict.PROVED


def test_what_is_inferred_from_an_unknown_type_is_not_known(tmp_path: Path) -> None:
    """The output of `Einsum` has the type of its operand, that of `NonZero` is int64."""
    stated = value_info("f", (3, 3))
    stated.type.tensor_type.elem_type = 0
    nodes = [node("Unique", "f", "y, i"), node("NonZero", "f", "n"), node("Compress", "f, c", "p")]
    c = value_info("c", (3,), TensorProto.BOOL)
    path = written(tmp_path / "m.onnx", FOO, *nodes, infos=(stated,), inputs=(X, c), outputs="y n p")
    assert [t.dtype for t in sl.load(path).values()] == [None, np.int64, None]


@pytest.mark.parametrize("kind", ["sequence", "optional", "map"])
def test_an_input_that_is_no_tensor_is_a_leaf_without_a_shape(tmp_path: Path, kind: str) -> None:
    element = helper.make_tensor_type_proto(TensorProto.FLOAT, ["N", 2])
    types = {"sequence": helper.make_sequence_type_proto(element), "optional": helper.make_optional_type_proto(element)}
    s = ValueInfoProto(name="s")
    if kind == "map":
        s.type.map_type.key_type = INT64
        s.type.map_type.value_type.CopyFrom(element)
    else:
        s.type.CopyFrom(types[kind])
    nodes = [node("Identity", "s", "y"), node("Foo", "s", "z", domain="mine"), node("Relu", "x", "r")]
    path = written(tmp_path / "m.onnx", *nodes, inputs=(s, X), outputs="y z r")
    m = sl.read_model(path)
    assert [str(t) for t in (m.inputs["s"], m.outputs["y"])] == [kind, kind]
    assert m.outputs["z"].rank is None
    assert m.outputs["r"].shape == m.inputs["x"].shape
    assert sl.verify(path, path).verdict is sl.Verdict.PROVED
    assert [n.op_type for n in sl.optimize(path).nodes] == [n.op_type for n in m.nodes]


def test_an_element_of_a_sequence_has_its_type(tmp_path: Path) -> None:
    s = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT16, None)
    nodes = [node("SequenceAt", "s, zero", "y"), node("SequenceLength", "s", "n")]
    zero = tensor([0], [], "zero")
    m = sl.read_model(written(tmp_path / "m.onnx", *nodes, inputs=(s,), outputs="y n", constants=(zero,)))
    assert (m.outputs["y"].rank, m.outputs["y"].dtype) == (None, np.float16)
    assert (m.outputs["n"].shape, m.outputs["n"].dtype) == ((), np.int64)


def test_a_sequence_that_is_an_output_is_its_elements_in_order(tmp_path: Path) -> None:
    flips = [node("Transpose", "x", "t"), node("Transpose", "t", "u")]
    pair = written(tmp_path / "a.onnx", node("SequenceConstruct", "x, x", "y"))
    same = written(tmp_path / "b.onnx", *flips, node("SequenceConstruct", "u, x", "y"))
    one = written(tmp_path / "c.onnx", node("SequenceConstruct", "x", "y"))
    swapped = written(tmp_path / "d.onnx", *flips, node("SequenceConstruct", "x, t", "y"))
    assert str(sl.load(pair)["y"]) == "sequence"
    assert sl.verify(pair, same).verdict is sl.Verdict.PROVED
    assert sl.verify(pair, one).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(pair, swapped).verdict is sl.Verdict.UNKNOWN


def test_what_reads_an_input_of_unknown_rank_is_unknown_and_nothing_else(tmp_path: Path) -> None:
    a = value_info("a", None)
    nodes = [node("Relu", "a", "y"), node("Shape", "a", "s"), node("Relu", "x", "r")]
    path = written(tmp_path / "m.onnx", *nodes, inputs=(a, X), outputs="y s r")
    m = sl.read_model(path)
    assert (m.inputs["a"].rank, m.inputs["a"].dtype) == (None, np.float32)
    assert (m.outputs["y"].rank, m.outputs["y"].dtype) == (None, np.float32)
    assert m.outputs["s"].rank == 1
    assert m.outputs["r"].shape == m.inputs["x"].shape
    assert sl.verify(path, path).verdict is sl.Verdict.PROVED
    known = written(tmp_path / "k.onnx", *nodes, inputs=(value_info("a", ("A", "B")), X), outputs="y s r")
    with pytest.raises(ShapeError, match="input a is a tensor before and a tensor of rank 2 after"):
        sl.verify(path, known)


def test_strings_move_as_other_elements_do(tmp_path: Path) -> None:
    s = value_info("s", ("N", 2), TensorProto.STRING)
    words = helper.make_tensor("w", TensorProto.STRING, [1, 2], [b"a", b"bc"])
    rows = [node("Concat", "s, w", "c", axis=0), node("Transpose", "c", "y")]
    before = written(tmp_path / "a.onnx", *rows, inputs=(s,), constants=(words,))
    parts = [node("Transpose", "s", "t"), node("Transpose", "w", "v"), node("Concat", "t, v", "y", axis=1)]
    after = written(tmp_path / "b.onnx", *parts, inputs=(s,), constants=(words,))
    assert [str(e) for e in sl.load(before)["y"].shape] == ["2", "N + 1"]
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    others = helper.make_tensor("w", TensorProto.STRING, [1, 2], [b"a", b"bd"])
    changed = written(tmp_path / "c.onnx", *rows, inputs=(s,), constants=(others,))
    assert sl.verify(before, changed).verdict is not sl.Verdict.PROVED
    assert sl.optimize(before).outputs["y"].rank == 2


@pytest.mark.parametrize(
    ("op", "attributes"),
    [
        ("Cast", {"to": INT64}),
        ("Equal", {}),
        ("StringConcat", {}),
        ("LabelEncoder", {"domain": "ai.onnx.ml", "keys_strings": ["a"], "values_int64s": [1]}),
        ("Unique", {}),
        ("Where", {}),
    ],
)
def test_what_computes_from_strings_is_opaque(tmp_path: Path, op: str, attributes: dict[str, Any]) -> None:
    inputs = (*(value_info(n, ("N", 2), TensorProto.STRING) for n in "st"), value_info("b", (2,), TensorProto.BOOL))
    paths = []
    for name in "st":
        text = node("Constant", "", "c", value_strings=["a", "b"])
        read = {"Where": f"b, {name}, c", "Equal": f"{name}, c", "StringConcat": f"{name}, c"}.get(op, name)
        paths.append(written(tmp_path / f"{name}.onnx", text, node(op, read, "y", **attributes), inputs=inputs))
    assert repr(sl.read_model(paths[0]))
    assert sl.verify(paths[0], paths[0]).verdict is sl.Verdict.PROVED
    assert sl.verify(*paths, run=False).verdict is not sl.Verdict.PROVED
    assert [n.op_type for n in sl.optimize(paths[0]).nodes][-1] == op


def test_nodes_out_of_order_are_sorted_and_that_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ordered = [node("Transpose", "x", "t"), node("Relu", "t", "u"), node("Add", "u, t", "y")]
    fine = written(tmp_path / "a.onnx", *ordered)
    unsorted = written(tmp_path / "b.onnx", ordered[2], ordered[0], ordered[1])
    assert sl.read_model(fine).notes == ()
    m = sl.read_model(unsorted)
    assert [n.op_type for n in m.nodes] == ["Transpose", "Relu", "Add"]
    (note,) = m.notes
    assert sl.verify(fine, unsorted).verdict is sl.Verdict.PROVED
    assert command_line.main(["infer", str(unsorted)]) == 0
    assert capsys.readouterr().out.count(note) == 1
    assert command_line.main(["infer", str(unsorted), "--all"]) == 0
    assert capsys.readouterr().out.count(note) == 1
    assert [n.op_type for n in sl.optimize(unsorted).nodes] == [n.op_type for n in sl.optimize(fine).nodes]


def test_an_order_that_fits_stays(tmp_path: Path) -> None:
    nodes = [node("Relu", "x", "b"), node("Neg", "x", "a"), node("Sum", "c, a, b", "y"), node("Exp", "b", "c")]
    assert [n.op_type for n in sl.read_model(written(tmp_path / "m.onnx", *nodes)).nodes] == [
        "Relu", "Neg", "Exp", "Sum",
    ]  # fmt: skip


def test_branches_out_of_order_are_sorted(tmp_path: Path) -> None:
    def branch(*nodes: NodeProto) -> object:
        return helper.make_graph(nodes, "g", [], [value_info("z", None)])

    inside = node("Relu", "x", "t"), node("Neg", "t", "z")
    c = value_info("c", (), TensorProto.BOOL)
    paths = [
        written(tmp_path / f"{k}.onnx", node("If", "c", "y", then_branch=branch(*order), else_branch=branch(*order)),
                inputs=(c, X))
        for k, order in enumerate([inside, inside[::-1]])
    ]  # fmt: skip
    assert sl.verify(*paths).verdict is sl.Verdict.PROVED


def test_a_model_without_operations_of_the_standard_needs_no_version_of_it(tmp_path: Path) -> None:
    tree = node("TreeEnsembleRegressor", "x", "y", domain="ai.onnx.ml", n_targets=1)
    graph = helper.make_graph([tree], "trees", [X], [value_info("y", ("N", 1))])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 3)], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    y = sl.load(tmp_path / "m.onnx")["y"]
    assert (y.rank, y.dtype) == (2, np.float32)
    made.graph.node.append(node("Relu", "y", "z"))
    made.graph.output[0].name = "z"
    (tmp_path / "m.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(FormatError, match=r"does not say which operation set of ONNX it uses\n  in: node 'z', Relu"):
        sl.load(tmp_path / "m.onnx")


def test_a_node_without_outputs_stays(tmp_path: Path) -> None:
    nodes = [node("Transpose", "x", "t"), node("Log", "t", "", domain="mine"), node("Transpose", "t", "u"),
             node("Shape", "x", "", name="none"), node("Relu", "u", "y")]  # fmt: skip
    path = written(tmp_path / "m.onnx", *nodes)
    o = sl.optimize(path)
    o.save(tmp_path / "o.onnx")
    found = ModelProto.FromString((tmp_path / "o.onnx").read_bytes()).graph.node
    assert [n.op_type for n in found] == ["Transpose", "Relu", "Log", "Shape"]
    assert sl.verify(path, tmp_path / "o.onnx").verdict is sl.Verdict.PROVED


def test_the_text_of_a_requirement_that_a_subgraph_states_names_its_node(tmp_path: Path) -> None:
    """Both branches reshape rows to pairs."""

    def branch(op: str) -> object:
        nodes = [node("Reshape", "x, pairs", "p"), node(op, "p", "z")]
        return helper.make_graph(nodes, "g", [], [value_info("z", None)])

    c = value_info("c", (), TensorProto.BOOL)
    given = tensor([-1, 2], [2], "pairs")
    choice = node("If", "c", "y", name="choice", then_branch=branch("Relu"), else_branch=branch("Neg"))
    m = sl.read_model(written(tmp_path / "m.onnx", choice, inputs=(c, value_info("x", ("N",))), constants=(given,)))
    text = m.explain("y")
    for r, nodes in zip(m.outputs["y"].requires, m.asked_by(m.outputs["y"]), strict=True):
        assert str(r.lhs)
        assert nodes == ["node 'choice', If"]
    assert text.startswith("y: ")


def test_an_opaque_operation_reads_constants_of_ml_dtypes(tmp_path: Path) -> None:
    kinds = [TensorProto.BFLOAT16, TensorProto.FLOAT8E4M3FN, TensorProto.INT4]
    constants = [helper.make_tensor(f"c{k}", kind, [3], [1, 2, 3]) for k, kind in enumerate(kinds)]
    others = [helper.make_tensor(f"c{k}", kind, [3], [1, 2, 4]) for k, kind in enumerate(kinds)]
    nodes = [node("Foo", f"x, c{k}", f"y{k}", domain="mine") for k in range(3)]
    a = written(tmp_path / "a.onnx", *nodes, constants=constants, outputs="y0 y1 y2")
    b = written(tmp_path / "b.onnx", *nodes, constants=others, outputs="y0 y1 y2")
    assert sl.verify(a, a).verdict is sl.Verdict.PROVED
    assert set(sl.verify(a, b).outputs.values()) == {sl.Verdict.UNKNOWN}


@pytest.mark.parametrize("zeros", [None, (), (1,)], ids=str)
@pytest.mark.parametrize(("a", "b"), [((4,), (4, 3)), ((2, 4), (4,)), ((4,), (4,)), ((4,), (5, 4, 3))], ids=str)
def test_products_of_quantised_vectors_have_the_shape_of_numpy(
    tmp_path: Path, a: tuple[int, ...], b: tuple[int, ...], zeros: tuple[int, ...] | None
) -> None:
    draw = np.random.default_rng(0)
    left, right = draw.integers(0, 9, a), draw.integers(0, 9, b)
    points = [] if zeros is None else [3, 1]
    inputs = [value_info("a", a, TensorProto.UINT8), value_info("b", b, TensorProto.UINT8)]
    inputs += [value_info(n, zeros, TensorProto.UINT8) for n, _ in zip("pq", points, strict=False)]
    y = sl.load(written(tmp_path / "m.onnx", node("MatMulInteger", ", ".join(i.name for i in inputs), "y"),
                        inputs=tuple(inputs)))["y"]  # fmt: skip
    arrays = {"a": left, "b": right} | {n: np.full(zeros or (), v) for n, v in zip("pq", points, strict=False)}
    expected = (left - 3 * bool(points)) @ (right - 1 * bool(points))
    found = sl.interpret(y, *[arrays[leaf.name].astype(np.uint8) for leaf in y.arguments()])
    assert found.shape == expected.shape
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("kind", [TensorProto.INT32, TensorProto.INT8, TensorProto.UINT8, TensorProto.FLOAT16])
def test_a_mask_of_another_type_is_what_the_standard_casts_to_the_type_of_the_scores(tmp_path: Path, kind: int) -> None:
    draw = np.random.default_rng(0)
    q, k, v = (draw.normal(size=(1, 2, 3, 4)).astype(np.float32) for _ in range(3))
    mask = draw.integers(0, 5, (3, 3)).astype(helper.tensor_dtype_to_np_dtype(kind))
    shapes = [value_info(n, (1, 2, 3, 4)) for n in "qkv"] + [value_info("m", (3, 3), kind)]
    path = written(tmp_path / "m.onnx", node("Attention", "q, k, v, m", "y"), inputs=tuple(shapes))
    made = ModelProto.FromString(path.read_bytes())
    made.opset_import[0].version = 23
    path.write_bytes(made.SerializeToString())
    scores = q @ k.swapaxes(-1, -2) / 2 + mask.astype(np.float32)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    expected = weights / weights.sum(-1, keepdims=True) @ v
    y = sl.load(path)["y"]
    found = sl.interpret(
        y, *[{"q": q, "k": k, "v": v, "m": mask}[leaf.name] for leaf in y.arguments()]
    )  # fmt: skip
    assert found.dtype == np.float32
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axes", [(), (1,)], ids=str)
def test_the_number_of_a_pass_has_the_axes_that_the_body_states(tmp_path: Path, axes: tuple[int, ...]) -> None:
    """Onnxruntime 1.32 gives the body a number with an axis if it states one."""
    add = [node("Cast", "i", "f", to=1), node("Add", "f, one", "o"), node("Identity", "c", "d")]
    body = helper.make_graph(
        add, "body", [value_info("i", axes, INT64), value_info("c", (), TensorProto.BOOL)],
        [value_info("d", (), TensorProto.BOOL), value_info("o", None)],
    )  # fmt: skip
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1])
    trips = tensor([3], [1], "trips")
    y = sl.load(written(tmp_path / "m.onnx", node("Loop", "trips, ", "y", body=body), constants=(one, trips)))["y"]
    assert y.shape[1:] == axes
    assert y.bounds()[0] == (0, 3)


@pytest.mark.parametrize(
    ("op", "domain", "inputs", "attributes", "shape"),
    [
        ("Relu", "", "x", {}, ["N", "C"]),
        ("Transpose", "", "x", {}, ["C", "N"]),
        ("LSTM", "", "v, w, r", {"hidden_size": 4}, ["T", "1", "B", "4"]),
        ("Gelu", "com.microsoft", "x", {}, ["N", "C"]),
        ("FusedMatMul", "com.microsoft", "x, x", {"transB": 1}, ["N", "N"]),
        ("NonZero", "", "x", {}, ["2", None]),
    ],
)
def test_a_false_shape_that_the_file_states_is_not_believed(
    tmp_path: Path, op: str, domain: str, inputs: str, attributes: dict[str, Any], shape: list[str | None]
) -> None:
    given = (X, value_info("v", ("T", "B", 3)), value_info("w", (1, 16, 3)), value_info("r", (1, 16, 4)))
    false = value_info("y", (7, 11, 13))
    path = written(tmp_path / "m.onnx", node(op, inputs, "y", domain=domain, **attributes), node("Relu", "y", "z"),
                   inputs=given, outputs="z", infos=(false,))  # fmt: skip
    made = ModelProto.FromString(path.read_bytes())
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    path.write_bytes(made.SerializeToString())
    for name in ("y", "z"):
        found = [str(e) for e in sl.read_model(path).tensors[name].shape]
        assert len(found) == len(shape)
        assert all(want is None or want == e for want, e in zip(shape, found, strict=True))


def test_extents_that_one_file_states_and_the_other_does_not_are_not_paired_by_order(tmp_path: Path) -> None:
    """Before, axis 0 of `f` is not known; after, axes 0 and 1: names of dims are paired by the axes that show them."""
    paths = []
    for k, shape in enumerate([(None, 7), (None, None), (5, None)]):
        nodes = [FOO, node("Transpose", "f", "t"), node("Transpose", "t", "y")]
        paths.append(written(tmp_path / f"{k}.onnx", *nodes, infos=(value_info("f", shape),)))
    for before in paths:
        assert sl.optimize(before).outputs["y"].rank == 2
        for after in paths:
            v = sl.verify(before, after, run=False).verdict
            assert v is (sl.Verdict.PROVED if before == after else sl.Verdict.UNKNOWN)


def test_a_resize_of_a_box_that_is_computed_keeps_its_shape(tmp_path: Path) -> None:
    inputs = (value_info("x", ("N", 3, "H", "W")), value_info("r", (8,)), value_info("s", (8,)))
    size = tensor([1, 3, 8, 9], name="size")
    paths = []
    for name in "rs":
        crop = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize"}
        resize = node("Resize", f"x, {name}, , size", "y", **crop)
        paths.append(written(tmp_path / f"{name}.onnx", resize, inputs=inputs, constants=(size,)))
    assert [str(e) for e in sl.load(paths[0])["y"].shape] == ["1", "3", "8", "9"]
    assert sl.verify(paths[0], paths[0]).verdict is sl.Verdict.PROVED
    assert sl.verify(*paths, run=False).verdict is sl.Verdict.UNKNOWN
