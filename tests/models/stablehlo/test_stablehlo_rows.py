"""StableHLO's operations: values by the formulas of its specification, written again as loops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import scalars
from symlayout.compute.gather import Boxes, read_boxes, written_boxes
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.stablehlo import indexing, movement, windows
from symlayout.frontends.stablehlo.elementwise import FUNCTIONS

RANDOM = np.random.default_rng(3)


def applied(name: str, *arrays: Any, **given: Any) -> Any:
    """Return the values of an operation of inputs of these arrays."""
    leaves = [sl.tensor(x.shape, dtype=x.dtype, name=f"x{k}") for k, x in enumerate(arrays)]
    made = sl.op(f"stablehlo:{name}")(*leaves, **given)
    return sl.interpret(made, **{f"x{k}": x for k, x in enumerate(arrays)})


def test_shifts_move_all_bits_out() -> None:
    x, by = np.array([-8, 7, -128, 1], np.int8), np.array([1, 2, 9, 7], np.int8)
    assert applied("shift_left", x, by).tolist() == [-16, 28, 0, -128]
    assert applied("shift_right_arithmetic", x, by).tolist() == [-4, 1, -1, 0]
    assert applied("shift_right_logical", x, by).tolist() == [124, 1, 0, 0]
    assert applied("shift_right_arithmetic", np.array([128], np.uint8), np.array([7], np.uint8)).tolist() == [255]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64"])
def test_bits_are_counted(dtype: str) -> None:
    x = np.array([0, 1, 6, 127], dtype)
    width = 8 * x.dtype.itemsize
    texts = [format(int(n), f"0{width}b") for n in x]
    assert applied("popcnt", x).tolist() == [text.count("1") for text in texts]
    assert applied("count_leading_zeros", x).tolist() == [len(text) - len(text.lstrip("0")) for text in texts]
    assert scalars.number_of_ones(x).dtype == x.dtype


def test_halves_are_rounded_as_the_name_says() -> None:
    x = np.array([0.5, 1.5, -0.5, -2.5, 0.49999997], np.float32)
    assert applied("round_nearest_even", x).tolist() == [0, 2, -0.0, -2, 0]
    assert applied("round_nearest_afz", x).tolist() == [1, 2, -1, -3, 0]


def test_small_arguments_keep_their_digits() -> None:
    x = np.array([1e-9], np.float32)
    np.testing.assert_allclose(applied("log_plus_one", x), [1e-9], rtol=1e-6)
    np.testing.assert_allclose(applied("exponential_minus_one", x), [1e-9], rtol=1e-6)
    assert applied("cbrt", np.array([-8.0])).tolist() == [-2.0]


def test_operands_have_one_shape() -> None:
    x, y = sl.tensor("N, 3", name="x"), sl.tensor("M, 3", name="y")
    assert len(FUNCTIONS["add"](x, y).requires) == 1
    with pytest.raises(sl.ShapeError):
        FUNCTIONS["add"](sl.tensor("2, 3"), sl.tensor("3", name="y"))
    with pytest.raises(sl.ShapeError):
        FUNCTIONS["multiply"](sl.tensor("2, 3"), sl.tensor("1, 3", name="y"))


def test_a_total_order_of_floats_and_powers_below_0_have_no_declaration() -> None:
    x, n = sl.tensor("N", name="x", dtype="float32"), sl.tensor("N", name="n", dtype="int32")
    with pytest.raises(NotDeclaredError):
        FUNCTIONS["compare"](x, x, "LT", "TOTALORDER")
    with pytest.raises(NotDeclaredError):
        FUNCTIONS["power"](n, n)
    with pytest.raises(NotDeclaredError):
        indexing.sort(x, 0, "LT")
    with pytest.raises(NotDeclaredError):
        indexing.chlo_top_k(x, 1)


def test_a_broadcast_names_the_axes_of_the_result() -> None:
    x = np.arange(6).reshape(2, 3)
    made = applied("broadcast_in_dim", x, output_shape=[3, 4, 2], broadcast_dimensions=[2, 0])
    for i, j, k in itertools.product(range(3), range(4), range(2)):
        assert made[i, j, k] == x[k, i]
    one = movement.broadcast_in_dim(sl.tensor("1, N", name="x"), [5, sl.dim("N")], [0, 1])
    assert str(one.shape) == "(5, N)"


def test_interior_padding_and_negative_edges() -> None:
    x = np.arange(1, 5, dtype=np.float32)
    y = sl.op("stablehlo:pad")(sl.tensor("N", name="x", dtype="float32"), 9.0, [1], [-1], [1])
    assert sl.interpret(y, x).tolist() == [9, 1, 9, 2, 9, 3, 9]


def test_iota_counts_along_one_axis() -> None:
    assert sl.interpret(movement.iota([2, 3], 1, "int32")).tolist() == [[0, 1, 2]] * 2
    N = sl.dim("N")
    made = movement.iota([N, 2], 0, "float32")
    assert sl.interpret(made, dims={"N": 3}).tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("starts", [(-3, 0), (1, 1), (9, 9)])
def test_a_slice_is_moved_inside(starts: tuple[int, int]) -> None:
    x = np.arange(20).reshape(4, 5)
    moved = [min(max(s, 0), n - m) for s, n, m in zip(starts, (4, 5), (2, 3), strict=True)]
    wanted = x[moved[0] : moved[0] + 2, moved[1] : moved[1] + 3]
    assert np.array_equal(applied("dynamic_slice", x, starts=list(starts), slice_sizes=[2, 3]), wanted)
    read = [np.array(s, np.int32) for s in starts]
    assert np.array_equal(applied("dynamic_slice", x, *read, slice_sizes=[2, 3]), wanted)
    new = -np.ones((2, 3), x.dtype)
    expected = x.copy()
    expected[moved[0] : moved[0] + 2, moved[1] : moved[1] + 3] = new
    assert np.array_equal(applied("dynamic_update_slice", x, new, starts=list(starts)), expected)
    assert np.array_equal(applied("dynamic_update_slice", x, new, *read), expected)


def test_a_start_in_dims_is_moved_inside_too() -> None:
    N, s = sl.dim("N", min=3), sl.dim("s")
    made = indexing.dynamic_slice(sl.tensor((N,), name="x"), slice_sizes=[2], starts=[s])
    x = np.arange(5)
    for at in range(8):
        first = min(at, 3)
        assert sl.interpret(made, x, dims={"s": at}).tolist() == [first, first + 1]
    assert [str(r) for r in made.requires] == []


GATHER = {"offset_dims": [2, 3], "collapsed_slice_dims": [0], "start_index_map": [1, 0], "index_vector_dim": 2}


def test_a_gather_is_that_of_the_specification() -> None:
    """The example of the specification, of which one place lies outside."""
    data = np.arange(1, 25).reshape(3, 4, 2)
    index = np.array([[[0, 0], [1, 0], [2, 1]], [[0, 1], [1, 1], [0, 9]]])
    made = applied("gather", data, index, slice_sizes=[1, 2, 2], **GATHER)
    for i, j in itertools.product(range(2), range(3)):
        column, row = index[i, j]
        row, column = min(row, 2), min(column, 2)
        assert np.array_equal(made[i, j], data[row, column : column + 2])


def test_a_gather_at_constant_places_moves_elements() -> None:
    x = sl.tensor("N, 6", name="x")
    given = {"offset_dims": [0], "collapsed_slice_dims": [1], "start_index_map": [1], "index_vector_dim": 1}
    made = sl.op("stablehlo:gather")(x, np.array([[5], [3], [1]]), [sl.dim("N"), 1], **given)
    assert sl.prove_equal(made, x[:, 5::-2]).verdict is sl.Verdict.PROVED
    one = sl.op("stablehlo:gather")(x, np.array([2]), [sl.dim("N"), 3], offset_dims=[0, 1], start_index_map=[1])
    assert sl.prove_equal(one, x[:, 2:5]).verdict is sl.Verdict.PROVED


def test_batches_of_places() -> None:
    boxes = Boxes((2,), (1,), (0,), (0,), (1,), 2)
    data, index = np.arange(24).reshape(2, 4, 3), np.array([[[1], [3]], [[0], [7]]])
    made = read_boxes(data, index, (), boxes, (1, 1, 3))
    assert np.array_equal(made, np.stack([data[0, [1, 3]], data[1, [0, 3]]]))
    written = written_boxes(data, index, -made, (), boxes, "add")
    assert not written[0, [1, 3]].any()
    assert not written[1, 0].any()
    assert np.array_equal(written[1, 3], data[1, 3])  # place 7 is outside: nothing is written


@pytest.mark.parametrize("body", ["add", "second", "maximum"])
def test_a_scatter_writes_one_box_after_the_other(body: str) -> None:
    data, index = np.zeros((4, 2), np.int64), np.array([[1], [1], [9]])
    new = np.array([[1, 5], [3, 2], [7, 7]])
    given = {"update_window_dims": [1], "inserted_window_dims": [0], "scatter_dims_to_operand_dims": [0]}
    made = applied("scatter", data, index, new, body=body, index_vector_dim=1, **given)
    wanted = {"add": [4, 7], "second": [3, 2], "maximum": [3, 5]}[body]
    assert made.tolist() == [[0, 0], wanted, [0, 0], [0, 0]]


def test_products_have_batch_axes_first() -> None:
    x, y = RANDOM.integers(-4, 4, (2, 3, 4)), RANDOM.integers(-4, 4, (4, 5, 2))
    axes = ([0], [2], [2], [0])
    names = [f"{side}_{kind}_dimensions" for kind in ("batching", "contracting") for side in ("lhs", "rhs")]
    made = applied("dot_general", x, y, **dict(zip(names, axes, strict=True)))
    assert np.array_equal(made, np.einsum("bik,kjb->bij", x, y))
    with pytest.raises(sl.ShapeError):
        windows.dot_general(sl.tensor("2, 3"), sl.tensor("4, 5", name="y"), [], [], [1], [0])


def test_products_of_narrow_integers_are_made_in_the_type_of_the_result() -> None:
    x = np.full((1, 4), 100, np.int8)
    made = applied("dot_general", x, x, lhs_batching_dimensions=[], rhs_batching_dimensions=[],
                   lhs_contracting_dimensions=[1], rhs_contracting_dimensions=[1], dtype="int32")  # fmt: skip
    assert made.tolist() == [[40000]]


def convolved(x: Any, w: Any, strides: Any, pads: Any, spread: Any, dilation: Any, turned: bool) -> Any:
    """Return the convolution of NWC with WIO: a loop over all that is read."""
    wide = np.zeros((x.shape[0], (x.shape[1] - 1) * spread + 1, x.shape[2]), x.dtype)
    wide[:, ::spread] = x
    low, high = pads
    rows = {k: wide[:, k - low] for k in range(low, low + wide.shape[1])}
    length = wide.shape[1] + low + high
    reach = (w.shape[0] - 1) * dilation + 1
    made = np.zeros((x.shape[0], (length - reach) // strides + 1, w.shape[2]), x.dtype)
    for o, k in itertools.product(range(made.shape[1]), range(w.shape[0])):
        at = o * strides + k * dilation
        if at in rows and at < length:
            made[:, o] += rows[at] @ w[w.shape[0] - 1 - k if turned else k]
    return made


@pytest.mark.parametrize(
    ("strides", "pads", "spread", "dilation", "turned"),
    [(1, (0, 0), 1, 1, False), (2, (1, 2), 1, 1, True), (1, (1, 1), 2, 1, False), (2, (0, 3), 3, 2, False),
     (1, (-1, -2), 1, 1, False), (1, (-1, 1), 2, 2, True)],
)  # fmt: skip
def test_convolutions(strides: int, pads: tuple[int, int], spread: int, dilation: int, turned: bool) -> None:
    x, w = RANDOM.integers(-4, 4, (2, 7, 3)), RANDOM.integers(-4, 4, (3, 3, 4))
    made = applied(
        "convolution", x, w, window_strides=[strides], padding=[list(pads)], lhs_dilation=[spread],
        rhs_dilation=[dilation], window_reversal=[turned], input_dimensions=[0, 2, 1], kernel_dimensions=[2, 1, 0],
        output_dimensions=[0, 2, 1],
    )  # fmt: skip
    assert np.array_equal(made, convolved(x, w, strides, pads, spread, dilation, turned))


def test_groups_of_the_batch_have_kernels_of_their_own() -> None:
    x, w = RANDOM.integers(-4, 4, (4, 5, 3)), RANDOM.integers(-4, 4, (2, 3, 6))
    orders = {"input_dimensions": [0, 2, 1], "kernel_dimensions": [2, 1, 0], "output_dimensions": [0, 2, 1]}
    made = applied("convolution", x, w, batch_group_count=2, **orders)
    parts = [convolved(x[2 * k : 2 * k + 2], w[..., 3 * k : 3 * k + 3], 1, (0, 0), 1, 1, False) for k in range(2)]
    assert np.array_equal(made, np.concatenate(parts, -1))


@pytest.mark.parametrize(("body", "init"), [("add", 0), ("maximum", -(1 << 63)), ("minimum", 5), ("multiply", 1)])
def test_windows_have_strides_dilations_and_pads(body: str, init: int) -> None:
    x = RANDOM.integers(-9, 9, (3, 8))
    start = np.array(init, np.int64)
    made = sl.op("stablehlo:reduce_window")(
        sl.tensor(x.shape, name="x", dtype="int64"), start, window_dimensions=[1, 2], window_strides=[1, 3],
        base_dilations=[1, 2], window_dilations=[1, 3], padding=[[0, 0], [2, 1]], body=(body,),
    )[0]  # fmt: skip
    function = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}[body]
    wide = np.full((3, 2 + 15 + 1), init)
    wide[:, 2:17:2] = x
    wanted = [function(start, function(wide[:, k], wide[:, k + 3])) for k in range(0, 18 - 3, 3)]
    assert np.array_equal(sl.interpret(made, x), np.stack(wanted, 1))


def test_a_start_counts() -> None:
    x = sl.tensor("N, 3", name="x", dtype="int64")
    made = sl.op("stablehlo:reduce")(x, np.array(10), dimensions=[1], body=("add",))[0]
    assert sl.interpret(made, np.arange(6).reshape(2, 3)).tolist() == [13, 22]
    with pytest.raises(NotDeclaredError):
        sl.op("stablehlo:reduce")(x, np.array(0), dimensions=[1], body=("subtract",))
    truth = sl.tensor("N, 3", name="x", dtype="bool")
    either = sl.op("stablehlo:reduce")(truth, np.array(False), dimensions=[1], body=("add",))[0]
    assert sl.interpret(either, np.array([[True, True, False]])).tolist() == [True]


def test_an_order_of_integers() -> None:
    x = np.array([[3, 1, 2]], np.int32)
    assert applied("sort", x, dimension=1, comparator="GT").tolist() == [[3, 2, 1]]
    assert applied("arg_extreme", x, dimension=1, largest=False).tolist() == [1]
