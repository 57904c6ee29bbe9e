"""Operations that are not valid for all elements: gathers, scatters, labels; and operations that are random."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, TensorProto, helper

import symlayout as sl
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.checker.schema import sealed
from tests.support.onnx_writer import INT64, model, node, tensor, value_info

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
RELU = node("Relu", "x", "y")
LOSS = "NegativeLogLikelihoodLoss"
INPUTS = [value_info("x", ("N", "C")), value_info("i", ("K",), INT64), value_info("labels", ("N",), INT64)]
INPUTS += [value_info("row", (1, "C"))]
MANY = tensor([0, 3, 1, 9, 2, 8, 4, 7, 5, 6, 0, 2, 0, 1], name="many")  # more runs than become slices


def written(folder: Path, nodes: Sequence[NodeProto], constants: Sequence[TensorProto] = ()) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.onnx"
    path.write_bytes(model(nodes, INPUTS, constants=constants))
    return path


@pytest.mark.parametrize(
    ("reads", "constants", "requires"),
    [
        (node("Gather", "x, many", "g"), [MANY], ["N >= 10"]),
        (node("Gather", "x, many", "g", axis=1), [tensor([0, -5, 1, -6, 2, -1, 3, 0, 1, 0], name="many")], ["C >= 6"]),
        (node("GatherND", "x, many", "g"), [tensor([0, 4, 2, -3], [2, 2], "many")], ["N >= 3", "C >= 5"]),
        (node("GatherElements", "x, many", "g"), [tensor([3, 0], [1, 2], "many")], ["N >= 4", "C >= 2"]),
        (node("ScatterND", "x, many, row", "g"), [tensor([4], [1, 1], "many")], ["N >= 5"]),
    ],
)
def test_a_constant_index_demands_an_extent(
    tmp_path: Path, reads: NodeProto, constants: list[TensorProto], requires: list[str]
) -> None:
    found = sl.read_model(written(tmp_path, [reads, RELU], constants))
    assert {str(r) for r in found.requires} == set(requires)


def test_a_witness_is_where_an_index_is_in_range(tmp_path: Path) -> None:
    before = written(tmp_path, [node("Gather", "x, many", "y")], [MANY])
    after = written(tmp_path, [node("Gather", "x, many", "z"), node("Neg", "z", "y")], [MANY])
    found = sl.verify(before, after)
    assert found.verdict is REFUTED
    assert found.witness is not None
    assert {str(d): n for d, n in found.witness.dims.items()}["N"] >= 10


@pytest.mark.parametrize(
    ("reads", "other"),
    [
        (node("Gather", "x, i", "y"), node("Gather", "x, i", "y", axis=1)),
        (node("ScatterElements", "x, i2, u", "y"), node("ScatterElements", "x, i2, u", "y", reduction="add")),
        (node("ReverseSequence", "x, labels", "y", batch_axis=0, time_axis=1), node("Identity", "x", "y")),
        (node(LOSS, "x, labels", "y"), node(LOSS, "x, labels", "y", reduction="sum")),
    ],
)  # fmt: skip
def test_indices_and_labels_of_a_witness_are_in_range(tmp_path: Path, reads: NodeProto, other: NodeProto) -> None:
    column = [
        node("Constant", "", "one", value_ints=[1]),
        node("Unsqueeze", "i, one", "i2"),
        node("Cast", "i2", "u", to=1),
    ]
    found = sl.verify(written(tmp_path, [*column, reads]), written(tmp_path, [*column, other]))
    assert found.verdict is REFUTED
    assert found.witness is not None
    at = {str(d): n for d, n in found.witness.dims.items()}
    arrays = found.witness.inputs
    if any("i2" in n.input for n in (reads, other)) or "i" in reads.input:
        assert -at["N"] <= arrays["i"].min()
        assert arrays["i"].max() < at["N"]
    if "labels" in reads.input:
        assert arrays["labels"].min() >= 0
        assert arrays["labels"].max() < at["C"] + (reads.op_type == "ReverseSequence")


def test_a_model_that_reads_at_more_indices_is_not_the_same(tmp_path: Path) -> None:
    """The model after is refused for an index that the model before does not look at."""
    before = written(tmp_path, [RELU])
    after = written(tmp_path, [node("Gather", "x, i", "unused"), RELU])
    assert sl.verify(before, after).verdict is UNKNOWN
    assert sl.verify(after, before).verdict is PROVED
    twice = written(tmp_path, [node("Gather", "x, i", "unused"), node("Gather", "x, i", "too"), RELU])
    found = sl.verify(after, twice)
    assert found.verdict is PROVED
    assert found.certificate is not None
    assert sl.check(found.certificate, before=after, after=twice)
    for partial in ({}, None, {"partial 0": "partial 0"}, {"partial 0": "x", "partial 1": "partial 0"}):
        assert check_models(sealed({**found.certificate, "partial": partial}), after, twice)
    other = written(tmp_path, [node("Gather", "x, i", "unused", axis=1), RELU])
    assert sl.verify(after, other).verdict is UNKNOWN


DEAD = {  # nodes that no output needs, and that do not take all elements; some are several steps here
    "lengths": [node("ReverseSequence", "row, i1", "u", time_axis=1, batch_axis=0)],
    "labels": [node(LOSS, "x, labels", "u")],
    "positions": [
        node("Constant", "", "shape", value_ints=[1, 1, 1, 2]),
        node("Expand", "f, shape", "heads"),
        node("RotaryEmbedding", "heads, table, table, ids", "u"),
    ],
    "flat": [node("MaxUnpool", "image, spots", "u", kernel_shape=[1, 1])],
    "divisors": [node("Div", "labels, labels", "u")],
    "remainders": [node("Mod", "labels, labels", "u")],
    "images": [node("MaxRoiPool", "image, boxes", "u", pooled_shape=[1, 1])],
}
ENDS = [
    *INPUTS[:3],
    value_info("row", (1, "C")),
    value_info("i1", (1,), INT64),
    value_info("f", (1, 1, 1, 1)),
    value_info("table", (5, 1)),
    value_info("ids", (1, 1), INT64),
    value_info("image", (1, 1, 2, 2)),
    value_info("spots", (1, 1, 2, 2), INT64),
    value_info("boxes", (3, 5)),
]


def with_ends(folder: Path, nodes: Sequence[NodeProto], opset: int = 23) -> Path:
    path = folder / f"{len(list(folder.iterdir()))}.onnx"
    path.write_bytes(model(nodes, ENDS, opset=opset, ir_version=10))
    return path


@pytest.mark.parametrize("kind", DEAD)
def test_steps_of_a_node_that_no_output_needs_may_refuse_elements(tmp_path: Path, kind: str) -> None:
    opset = 21 if kind == "images" else 23
    plain, reading = with_ends(tmp_path, [RELU], opset), with_ends(tmp_path, [*DEAD[kind], RELU], opset)
    assert sl.verify(plain, reading, run=False).verdict is UNKNOWN
    assert sl.verify(reading, plain, run=False).verdict is PROVED
    assert sl.verify(reading, reading, run=False).verdict is PROVED


VALID = {
    "lengths": lambda given: given["i1"].min() >= 0 and given["i1"].max() <= given["row"].shape[1],
    "labels": lambda given: given["labels"].min() >= 0 and given["labels"].max() < given["x"].shape[1],
    "flat": lambda given: given["spots"].min() >= 0 and given["spots"].max() < 4,
    "divisors": lambda given: given["labels"].all(),
    "images": lambda given: (given["boxes"][:, 0] == 0).all(),
}


@pytest.mark.parametrize("kind", VALID)
def test_a_witness_is_where_nodes_that_no_output_needs_are_valid(tmp_path: Path, kind: str) -> None:
    opset = 21 if kind == "images" else 23
    read = {"lengths": "i1", "labels": "labels", "flat": "spots", "divisors": "labels", "images": "boxes"}[kind]
    half = [node("Constant", "", "half", value_float=0.5), node("Cast", read, "c", to=1)]
    before = with_ends(tmp_path, [*DEAD[kind], *half, node("Sub", "c, half", "y")], opset)
    after = with_ends(tmp_path, [*half, node("Sub", "half, c", "y")], opset)
    found = sl.verify(before, after, run=False)
    assert found.verdict is REFUTED
    assert found.witness is not None
    assert VALID[kind](found.witness.inputs)


def test_models_that_differ_where_the_model_before_is_not_valid_are_not_refuted(tmp_path: Path) -> None:
    loss, cast = node(LOSS, "x, labels", "unused"), node("Cast", "labels", "c", to=1)
    before, after = (
        written(tmp_path, [loss, cast, node(op, "c", "y")]) for op in ("Identity", "Abs")
    )  # labels are not below 0
    assert sl.verify(before, after, run=False).verdict is UNKNOWN
    shifted = [
        node("Constant", "", "one", value_ints=[1]),
        node("Add", "labels, one", "more"),
        node(LOSS, "x, more", "unused"),
    ]
    before, after = (written(tmp_path, [*shifted, cast, node(op, "c", "y")]) for op in ("Identity", "Neg"))
    found = sl.verify(before, after, run=False)
    if found.verdict is REFUTED:
        assert found.witness is not None
        assert (found.witness.inputs["labels"] >= -1).all()
        assert (found.witness.inputs["labels"] < found.witness.inputs["x"].shape[1] - 1).all()


@pytest.mark.parametrize(("threshold", "refused"), [(0.5, False), (1.5, True), (-0.25, True)])
def test_a_threshold_lies_between_0_and_1(tmp_path: Path, threshold: float, refused: bool) -> None:
    ends = [value_info("x", ("N", "C")), value_info("boxes", (1, 4, 4)), value_info("scores", (1, 1, 4))]
    ends.append(value_info("share", (1,)))
    chosen = [node("Constant", "", "most", value_ints=[3]), node("Constant", "", "known", value_floats=[threshold])]

    def file(*nodes: NodeProto) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.onnx"
        path.write_bytes(model([*chosen, *nodes, RELU], ends))
        return path

    reading = file(node("NonMaxSuppression", "boxes, scores, most, share", "u"))
    assert sl.verify(file(), reading, run=False).verdict is UNKNOWN
    assert sl.verify(reading, reading, run=False).verdict is PROVED
    fixed = file(node("NonMaxSuppression", "boxes, scores, most, known", "u"))
    if refused:
        with pytest.raises(sl.SymlayoutError):
            sl.read_model(fixed)
    else:
        assert sl.verify(fixed, file(), run=False).verdict is PROVED


def test_a_custom_operation_that_nobody_needs_may_refuse(tmp_path: Path) -> None:
    custom = node("Strange", "x", "unused", domain="somewhere")

    def file(*nodes: NodeProto) -> Path:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.onnx"
        graph = helper.make_graph(nodes, "g", INPUTS[:1], [value_info("y", None)])
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("somewhere", 1)]
        path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString())
        return path

    assert sl.verify(file(RELU), file(custom, RELU)).verdict is UNKNOWN
    assert sl.verify(file(custom, RELU), file(custom, RELU)).verdict is PROVED
    assert sl.verify(file(custom, RELU), file(RELU)).verdict is PROVED


SORTED, UNSORTED = (node("TopK", "x, k", "v, p", sorted=n) for n in (1, 0))  # the order of the second one is open
THREE = tensor([3], name="k")


@pytest.mark.parametrize("run", [False, True])
def test_a_witness_counts_if_a_model_with_a_node_without_a_meaning_is_valid_there(tmp_path: Path, run: bool) -> None:
    before, after = written(tmp_path, [UNSORTED, RELU], [THREE]), written(tmp_path, [node("Neg", "x", "y")])
    found = sl.verify(before, after, run=run)  # the smallest witness has one element, of which TopK takes no three
    if found.verdict is REFUTED:
        assert run
        assert found.witness is not None
        assert found.witness.inputs["x"].shape[1] >= 3
    plain = written(tmp_path, [SORTED, RELU], [THREE])
    assert sl.verify(plain, after, run=run).verdict is REFUTED


@pytest.mark.parametrize("reads", [[node("Gather", "four, i", "g")], [node("Strange", "x", "g", domain="somewhere")]])
def test_what_a_branch_does_not_return_may_refuse(tmp_path: Path, reads: list[NodeProto]) -> None:

    def branched(*nodes: NodeProto) -> Path:
        without: tuple[NodeProto, ...] = ()
        then, other = (
            helper.make_graph([*own, node("Relu", "x", "z")], "branch", [], [value_info("z", None)])
            for own in (nodes, without)
        )
        choice = node("If", "some", "y", then_branch=then, else_branch=other)
        size = [node("Size", "i", "size"), node("Cast", "size", "some", to=TensorProto.BOOL)]
        return written(tmp_path, [*size, choice], [tensor([1, 2, 3, 4], name="four")])

    plain, reading = branched(), branched(*reads)
    assert sl.verify(plain, reading, run=False).verdict is UNKNOWN
    assert sl.verify(reading, reading, run=False).verdict is PROVED
    assert sl.verify(plain, branched(node("Identity", "x", "g")), run=False).verdict is PROVED


@pytest.mark.parametrize("nested", [False, True])
def test_what_one_branch_may_refuse_the_other_one_may_not(tmp_path: Path, nested: bool) -> None:
    """Nothing reads the gather, and all that branches return is one."""
    reads = node("Gather", "four, i", "g")

    def file(then: list[NodeProto], otherwise: list[NodeProto]) -> Path:
        branches = [
            helper.make_graph([*own, node(op, "x", "z")], "branch", [], [value_info("z", None)])
            for own, op in ((then, "Relu"), (otherwise, "Neg"))
        ]
        some = [node("Size", "i", "size"), node("Cast", "size", "some", to=TensorProto.BOOL)]
        choice = node("If", "some", "w", then_branch=branches[0], else_branch=branches[1])
        last = [choice, node("Identity", "w", "y")]
        if nested:
            ends = [value_info("k", [], INT64), value_info("go", [], TensorProto.BOOL), value_info("s", None)]
            results = [value_info("on", [], TensorProto.BOOL), value_info("w", None)]
            body = helper.make_graph([choice, node("Identity", "go", "on")], "body", ends, results)
            last = [node("Loop", "size, , x", "y", body=body)]
        return written(tmp_path, [*some, *last], [tensor([1, 2, 3, 4], name="four")])

    first, second = file([reads], []), file([], [reads])
    assert sl.verify(first, second, run=False).verdict is UNKNOWN
    assert sl.verify(second, first, run=False).verdict is UNKNOWN
    assert sl.verify(first, first, run=False).verdict is PROVED


def test_what_a_body_that_is_compared_as_text_does_not_return_may_refuse(tmp_path: Path) -> None:
    def scan(*nodes: NodeProto) -> Path:
        ends = [value_info("row", ("N",))], [value_info("z", None)]
        body = helper.make_graph([*nodes, node("Relu", "row", "z")], "body", *ends)
        return written(tmp_path, [node("Scan", "x", "y", body=body, num_scan_inputs=1, scan_input_axes=[1])])

    plain, reading = scan(), scan(node("Gather", "row, i", "g"))
    assert sl.verify(plain, reading, run=False).verdict is UNKNOWN
    assert sl.verify(reading, reading, run=False).verdict is PROVED
    assert sl.verify(plain, scan(node("Neg", "row", "g")), run=False).verdict is PROVED


def test_what_runs_in_a_branch_may_be_refused_outside_of_it(tmp_path: Path) -> None:
    def scan(*nodes: NodeProto, outside: bool) -> Path:
        inside = [node("ReduceSum", "g", "s", keepdims=0), node("Mul", "row, s", "t")]
        inside = inside if outside else [*nodes, *inside]
        then = helper.make_graph(inside, "branch", [], [value_info("t", None)])
        other = helper.make_graph([node("Identity", "row", "u")], "branch", [], [value_info("u", None)])
        choice = [node("ReduceMax", "row", "most", keepdims=0), node("Cast", "most", "some", to=TensorProto.BOOL)]
        choice += [node("If", "some", "z", then_branch=then, else_branch=other)]
        ends = [value_info("row", ("N",))], [value_info("z", None)]
        body = helper.make_graph([*nodes, *choice] if outside else choice, "body", *ends)
        return written(tmp_path, [node("Scan", "x", "y", body=body, num_scan_inputs=1, scan_input_axes=[1])])

    reads = node("Gather", "row, i", "g")
    assert sl.verify(scan(reads, outside=False), scan(reads, outside=True), run=False).verdict is UNKNOWN
    total = node("Exp", "row", "g")
    assert sl.verify(scan(total, outside=False), scan(total, outside=True), run=False).verdict is PROVED


def test_a_branch_that_draws_may_refuse_what_it_reads(tmp_path: Path) -> None:
    def branch(*nodes: NodeProto) -> GraphProto:
        return helper.make_graph(nodes, "branch", [], [value_info("z", None)])

    drawn = [node("RandomUniformLike", "x", "z")], [node("Gather", "x, i", "read"), node("RandomUniformLike", "x", "z")]
    sides = [
        written(
            tmp_path,
            [
                node("Size", "i", "size"),
                node("Cast", "size", "some", to=TensorProto.BOOL),
                node("If", "some", "unused", then_branch=branch(*nodes), else_branch=branch(*drawn[0])),
                RELU,
            ],
        )
        for nodes in drawn
    ]
    assert sl.verify(*sides).verdict is UNKNOWN  # the branch after reads at an index that has no place
    assert sl.verify(sides[0], written(tmp_path, [node("Neg", "x", "y")]), run=False).verdict is UNKNOWN


@pytest.mark.parametrize("kind", ["dropout", "uniform"])
def test_what_is_random_is_equal_to_nothing(tmp_path: Path, kind: str) -> None:
    training = helper.make_tensor("t", TensorProto.BOOL, [], [True])
    ratio = helper.make_tensor("r", TensorProto.FLOAT, [], [0.5])
    nodes = {
        "dropout": [node("Dropout", "x, r, t", "d"), node("Relu", "d", "y")],
        "uniform": [node("RandomUniformLike", "x", "d"), node("Add", "x, d", "y")],
    }[kind]
    path = written(tmp_path, nodes, [ratio, training])
    read = sl.read_model(path)
    for before, after in ((path, path), (read, read)):
        found = sl.verify(before, after)
        assert (found.verdict, found.witness) == (UNKNOWN, None)
    unused = written(tmp_path, [nodes[0], node("Relu", "x", "y")], [ratio, training])
    assert sl.verify(unused, unused).verdict is PROVED


@pytest.mark.parametrize(
    ("op", "verdict"), [("RandomNormalLike", PROVED), ("Bernoulli", UNKNOWN), ("Multinomial", UNKNOWN)]
)
def test_what_is_drawn_by_probabilities_may_refuse_them(tmp_path: Path, op: str, verdict: sl.Verdict) -> None:
    drawn = written(tmp_path, [node(op, "x", "unread"), RELU])
    assert sl.verify(written(tmp_path, [RELU]), drawn, run=False).verdict is verdict


def test_labels_in_range_are_compared_by_the_standards_meaning() -> None:
    x, labels = np.log(np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)), np.array([1, 0])
    y = sl.onnx.negative_log_likelihood_loss(sl.tensor("N, C", "float32", "x"), sl.tensor("N", "int64", "l"))
    found: Any = sl.interpret(y, x, labels)
    np.testing.assert_allclose(found, -(np.log(0.75) + np.log(0.5)) / 2, rtol=1e-6)
    with pytest.raises(sl.SymlayoutError):
        sl.interpret(y, x, np.array([2, 0]))
