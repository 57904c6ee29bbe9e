"""A claim about two models is about all sizes that the model before is valid for, and about no others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.checker.schema import sealed
from tests.support.onnx_writer import model, node, value_info

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
X, Z = ("N", "C"), ("K", "M")
RELU = [node("Relu", "x", "y")]
PRODUCT = [node("MatMul", "x, z", "p")]
SHAPE_OF_PRODUCT = [*PRODUCT, node("Shape", "p", "y")]
SHAPE_FROM_INPUTS = [
    node("Shape", "x", "n", start=0, end=1),
    node("Shape", "z", "m", start=1, end=2),
    node("Concat", "n, m", "y", axis=0),
]
PAIRS = [node("Constant", "", "pairs", value_ints=[2, -1]), node("Reshape", "x, pairs", "r")]


class Files:
    """Models in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, nodes: Sequence[NodeProto], *, constants: Sequence[TensorProto] = (), **shapes: Any) -> Path:
        path = self.folder / f"{len(list(self.folder.iterdir()))}.onnx"
        inputs = [value_info(name, shape) for name, shape in ({"x": X, "z": Z} | shapes).items()]
        path.write_bytes(model(nodes, inputs, constants=constants))
        return path


@pytest.fixture
def file(tmp_path: Path) -> Files:
    return Files(tmp_path)


def requires(found: sl.Verification) -> list[str]:
    return [str(r) for r in found.requires]


@pytest.mark.parametrize(
    ("strict", "loose", "demand"),
    [
        (SHAPE_OF_PRODUCT, SHAPE_FROM_INPUTS, "Eq(C, K)"),
        ([*PRODUCT, *RELU], RELU, "Eq(C, K)"),
        ([*PAIRS, *RELU], RELU, "Eq(Mod(C*N, 2), 0)"),
        ([node("Concat", "x, z", "p", axis=1), *RELU], RELU, "Eq(K, N)"),
        ([node("Add", "x, z", "s"), node("Relu", "s", "p"), *RELU], RELU, None),
    ],
)
def test_what_unused_values_demand_is_part_of_the_claim(
    file: Files, strict: list[NodeProto], loose: list[NodeProto], demand: str | None
) -> None:
    before, after = file(strict), file(loose)
    found = sl.verify(before, after)
    assert found.verdict is PROVED
    if demand is not None:
        assert requires(found) == [demand]
        assert "for all sizes with " in found.explain()
    assert sl.check(found.certificate, before=before, after=after)
    assert not sl.check(found.certificate, before=after, after=before)
    other = sl.verify(after, before)
    assert other.verdict is REFUTED
    assert other.witness is not None
    assert "refused" in str(other.witness.right)
    with pytest.raises(AssertionError, match="refused"):
        sl.assert_same_model(after, before)


def test_the_point_of_a_claim_meets_the_demands_of_all_nodes(file: Files) -> None:
    before, after = file([*PRODUCT, *PAIRS, *RELU]), file(RELU)
    found = sl.verify(before, after)
    assert found.verdict is PROVED
    assert found.point is not None
    at = {str(dim): value for dim, value in found.point.items()}
    assert at["C"] == at["K"]
    assert at["N"] * at["C"] % 2 == 0
    assert found.certificate is not None
    assert found.certificate["point"] == at
    for change in ({"C": at["C"] + 1}, {"N": 3, "C": 1, "K": 1}, {"N": -2}, {"N": True}, {"Q": 1}):
        changed = sealed({**found.certificate, "point": at | change})
        assert check_models(changed, before, after), change
    without = {key: value for key, value in found.certificate.items() if key != "point"}
    assert "point" in check_models(sealed(without), before, after)
    domains: list[Any] = [{"requires": [], "assumed": []}, None, found.certificate["domain"] | {"requires": ["C == K"]}]
    for domain in domains:
        assert "other sizes" in check_models(sealed({**found.certificate, "domain": domain}), before, after)


def test_demands_that_contradict_each_other_prove_nothing(file: Files) -> None:
    never = [*PAIRS, *RELU]
    with pytest.raises(sl.ShapeError) as error:
        sl.verify(file(never, x=(3, 5)), file(RELU, x=(3, 5)))
    assert error.value.kind != "infeasible"  # the file is refused already: 15 elements are no pairs


def test_the_model_after_is_refused_for_all_sizes(file: Files) -> None:
    """Both models alone have sizes, and no size is valid for both."""
    row = [node("Constant", "", "three", value_ints=[3]), node("Reshape", "x, three", "r"), *RELU]
    other = [node("Constant", "", "five", value_ints=[5]), node("Reshape", "x, five", "r"), *RELU]
    found = sl.verify(file(row), file(other))
    assert found.verdict is REFUTED
    assert requires(found) == ["Eq(C*N, 3)"]


def test_a_dim_that_one_model_states_is_said(file: Files) -> None:
    before, after = file(RELU), file(RELU, x=(4, "C"))
    found = sl.verify(before, after)
    assert (found.verdict, [str(r) for r in found.assumed]) == (PROVED, ["Eq(N, 4)"])
    assert "nothing is said of sizes without N == 4" in found.explain()
    back = sl.verify(after, before)
    assert (back.verdict, back.assumed) == (PROVED, ())


def test_a_demand_of_the_reader_alone_is_said_and_refuses_nothing(file: Files) -> None:
    """A 0 of a target that is computed copies an extent; the reader leaves these sizes out (`errors.LEFT_OUT`)."""
    target = [
        node("Shape", "z", "m", start=1, end=2),
        node("Constant", "", "rest", value_ints=[-1]),
        node("Concat", "m, rest", "target", axis=0),
    ]
    computed = [*target, node("Reshape", "x, target", "y")]
    found = sl.verify(file(computed), file(computed))
    assert (found.verdict, [str(r) for r in found.assumed]) == (PROVED, ["M >= 1"])
    unused = [*target, node("Reshape", "x, target", "r"), *RELU]
    found = sl.verify(file(RELU, z=("K", "C")), file(unused, z=("K", "C")))
    assert (found.verdict, requires(found)) == (PROVED, [])
    assert [str(r) for r in found.assumed] == ["C >= 1"]
    assert "nothing is said of sizes without C >= 1" in found.explain()


def test_sizes_that_the_reader_leaves_out_are_said_where_the_model_after_refuses_them(file: Files) -> None:
    """One demand took the place of the other one, as both are the same relation."""
    target = [
        node("Shape", "z", "m", start=1, end=2),
        node("Constant", "", "rest", value_ints=[-1]),
        node("Concat", "m, rest", "target", axis=0),
        node("Reshape", "x, target", "y"),
    ]
    refusing = [node("Constant", "", "first", value_int=0), node("Gather", "z, first", "g", axis=1), *target]
    for before, after in ((target, refusing), (refusing, target)):
        found = sl.verify(file(before), file(after))
        assert found.verdict is PROVED
        assert "M >= 1" in {str(r) for r in (*found.assumed, *found.requires)}


def extent(x: str, axis: int, op: str, number: int, y: str) -> list[NodeProto]:
    """Return nodes that compute *y* of an extent of *x*."""
    return [
        node("Shape", x, f"{y}_s"),
        node("Constant", "", f"{y}_i", value_ints=[axis]),
        node("Gather", f"{y}_s, {y}_i", f"{y}_g", axis=0),
        node("Constant", "", f"{y}_n", value_ints=[number]),
        node(op, f"{y}_g, {y}_n", y),
    ]


def reshaped(shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return what `Reshape` makes of a shape, by the words of the standard; None where it is refused."""
    try:
        return np.empty(shape).reshape([n or shape[k] for k, n in enumerate(target)]).shape
    except ValueError:
        return None


def test_sizes_that_the_reader_leaves_out_are_no_witness_whatever_else_fails_there(file: Files) -> None:
    """A 0 in a target copies an extent; the number of elements, or a later divisor, is none of the standard's there."""
    rest = node("Constant", "", "rest", value_ints=[-1])
    nodes = [rest, *extent("x", 0, "Mod", 2, "e"), node("Concat", "rest, e", "t", axis=0), node("Reshape", "x, t", "v")]
    found = [sl.verify(file([node("Relu", "x", "y")]), file([*nodes, node("Relu", "v", "y")]))]
    nodes += [*extent("v", -2, "Sub", 1, "f"), node("Concat", "rest, f", "u", axis=0), node("Reshape", "v, u", "w")]
    found.append(sl.verify(file([node("Relu", "x", "y")]), file([*nodes, node("Relu", "w", "y")])))
    for steps, each in enumerate(found, 1):
        assert each.verdict is REFUTED
        assert each.witness is not None
        at = {str(dim): n for dim, n in each.witness.dims.items()}
        shape: tuple[int, ...] | None = (at["N"], at["C"])
        for k in range(steps):
            shape = None if shape is None else reshaped(shape, (-1, (shape[-2] - 1) if k else (shape[0] % 2)))
        assert shape is None or shape != (at["N"], at["C"]), each


def test_places_beyond_an_axis_are_refused_where_other_axes_are_empty(file: Files) -> None:
    """``Gather(x[:, :-1], Range(0, 2 * N))`` is valid for no N but 0, where C is 1 too: runtimes look at all places."""
    number = [node("Constant", "", "two", value_int=2), node("Constant", "", "zero", value_int=0)]
    number += [node("Constant", "", "one", value_int=1), node("Constant", "", "axis", value_ints=[1])]
    number += [node("Constant", "", "first", value_ints=[0]), node("Constant", "", "last", value_ints=[-1])]
    cut = [*number, node("Slice", "x, first, last, axis", "v")]
    places = [node("Shape", "v", "s"), node("Gather", "s, zero", "n", axis=0), node("Mul", "n, two", "e")]
    places += [node("Range", "zero, e, one", "r"), node("Gather", "v, r", "y", axis=0)]
    found = sl.verify(file([*cut, *places]), file([*cut, node("Relu", "v", "y")]))
    assert found.verdict is UNKNOWN
    assert found.witness is None


def test_one_name_for_two_dims_is_said(file: Files) -> None:
    """The reader takes one name for one dim; what the model after does with others is not known."""
    unused = [node("Add", "x, z", "s"), *RELU]
    found = sl.verify(file(RELU), file(unused, z=("N", "C")))
    assert (found.verdict, {str(r) for r in found.assumed}) == (PROVED, {"Eq(N, K)", "Eq(C, M)"})
    other = sl.verify(file(unused), file(unused, z=("N", "C")))
    assert (other.verdict, {str(r) for r in other.assumed}) == (PROVED, {"Eq(N, K)", "Eq(C, M)"})
    assert sl.verify(file(RELU, z=("N", "C")), file(unused, z=("N", "C"))).verdict is PROVED


def _of_so_many(extent: int, *last: NodeProto) -> list[NodeProto]:
    return [node("Constant", "", "target", value_ints=[extent]), node("Reshape", "x, target", "r"), *last]


NOTHING = [
    node("Constant", "", "zero", value_ints=[0]),
    node("Slice", "r, zero, zero", "y"),
]


PLACES = [node("NonZero", "r", "places"), node("Cast", "places", "y", to=TensorProto.FLOAT)]


@pytest.mark.parametrize("last", [PLACES, NOTHING, [node("Relu", "r", "y")]])
def test_models_without_a_common_size_differ_wherever_the_model_before_is_valid(file: Files, last: Any) -> None:
    """Also where the outputs are empty, or depend on data."""
    before, after = file(_of_so_many(4, *last)), file(_of_so_many(6, *last))
    for pair, n in (((before, after), 4), ((after, before), 6)):
        found = sl.verify(*pair)
        assert (found.verdict, found.certificate) == (REFUTED, None)
        assert found.witness is not None
        sizes = {str(dim): value for dim, value in found.witness.dims.items()}
        assert sizes["N"] * sizes["C"] == n
        assert "refused (" in str(found.witness)
        assert "REFUTED" in found.explain()


_ATTENTION = [(n, tuple(f"{n}_{k}" for k in range(4))) for n in ("q", "k", "v")]
MASKED = [*_ATTENTION, ("mask", ("rows", "columns"))]
MASK_COPIED = [
    node("Constant", "", "pairs", value_ints=[-1, 0]),
    node("Reshape", "mask, pairs", "flat"),
    node("Shape", "mask", "shape"),
    node("Reshape", "flat, shape", "same"),
]
TO_AND_FRO = [node("Transpose", "x", "t", perm=[1, 0]), node("Transpose", "t", "same", perm=[1, 0])]
FOUR_WEIGHTS = helper.make_tensor("w", TensorProto.FLOAT, [4], [1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize(
    ("inputs", "before", "after"),
    [
        pytest.param(
            MASKED,
            [node("Attention", "q, k, v, mask", "y", is_causal=1)],
            [*MASK_COPIED, node("Attention", "q, k, v, same", "y", is_causal=1)],
            id="demands beyond the standard that follow from each other",
        ),
        pytest.param(
            [("x", ("N", "C")), ("b", ("C",))],
            [*TO_AND_FRO, node("LayerNormalization", "same, w, b", "y")],
            [node("LayerNormalization", "x, w, b", "y"), node("MatMul", "b, w", "dead")],
            id="a dim that a dead node finds to be a number",
        ),
    ],
)
def test_a_proof_and_its_check_are_about_the_same_sizes(tmp_path: Path, inputs: Any, before: Any, after: Any) -> None:
    """What is merged first decides which symbols a system of facts keeps, and which demands follow from others."""
    paths = tmp_path / "before.onnx", tmp_path / "after.onnx"
    given = [value_info(name, shape) for name, shape in inputs]
    for path, nodes in zip(paths, (before, after), strict=True):
        path.write_bytes(model(nodes, given, constants=[FOUR_WEIGHTS], opset=23))
    found = sl.verify(*paths, run=False)
    assert found.verdict is PROVED
    assert check_models(found.certificate, *paths) == ""


def test_extents_that_depend_on_data_are_left_out_by_name(file: Files) -> None:
    """A target of 0 rows copies an extent."""
    rows = [node("NonZero", "x", "t"), node("Transpose", "t", "r", perm=[1, 0])]
    again = [
        *rows,
        node("Constant", "", "row", value_ints=[1, -1]),
        node("Reshape", "r, row", "flat"),
        node("Shape", "r", "shape"),
        node("Reshape", "flat, shape", "y"),
    ]
    found = sl.verify(file([*rows, node("Identity", "r", "y")]), file(again))
    assert found.verdict is PROVED
    assert [str(r) for r in found.assumed] != []


def test_a_nan_that_no_runtime_computes_refutes_nothing(file: Files) -> None:
    pytest.importorskip("onnxruntime")
    places = np.array([-1, np.nan, 0.5, 0.5], np.float32).reshape(1, 2, 1, 2)
    sampled = node("GridSample", "x, grid", "y", padding_mode="reflection")
    paths = [
        file([sampled], x=("N", "C", "H", "W"), constants=[numpy_helper.from_array(grid, "grid")])
        for grid in (places, np.nan_to_num(places))
    ]
    assert sl.verify(*paths).verdict is UNKNOWN


def test_the_limits_of_chosen_boxes_are_single_numbers(file: Files) -> None:
    """Onnxruntime reads beyond a limit that has no element."""
    chosen = [node("NonMaxSuppression", "z, x, k", "y")]
    limit = [node("Cast", "l", "k", to=TensorProto.INT64)]
    path = file([*limit, *chosen], x=("N", "C", "M"), z=("N", "M", 4), l=("K",))
    assert "Eq(K, 1)" in {str(r) for r in sl.read_model(path).requires}
