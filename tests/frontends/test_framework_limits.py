"""Attributes that a framework refuses are refused with a kind, also if shapes become known later."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.frontends.calls import C, H, N, W, kind_of

X = sl.tensor((2, 3, 4))
OV, TF, ONNX, TORCH = sl.openvino, sl.tensorflow, sl.onnx, sl.torch


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: OV.transpose(X, [0, 1]), "length_mismatch"),
        (lambda: OV.transpose(X, [0, 1, -1]), "bad_axis"),
        (lambda: OV.transpose(X, [0, 1, 1]), "bad_axis"),
        (lambda: OV.transpose(X, [0, 1, None]), "attr_dtype"),
        (lambda: OV.transpose(X, [0, 1, N]), "attr_dtype"),
        (lambda: ONNX.transpose(X, [0, 1, -1]), "bad_axis"),
        (lambda: OV.reshape(X, [5, 5], False), "size_mismatch"),
        (lambda: OV.reshape(X, [-1, -1], False), "size_mismatch"),
        (lambda: OV.reshape(X, [0, -1, 5], True), "non_divisible"),
        (lambda: OV.reshape(X, [1, 2, 3, 0], True), "bad_axis"),
        (lambda: OV.reshape(X, [24], "yes"), "attr_dtype"),
        (lambda: ONNX.reshape(X, [0, -1], 1), "size_mismatch"),
        (lambda: ONNX.reshape(sl.tensor((0, 3)), [0, -1]), "size_mismatch"),
        (lambda: TF.reshape(X, [-2, 12]), "size_mismatch"),
        (lambda: TORCH.reshape(X, [7, -1]), "size_mismatch"),
        (lambda: OV.pad(X, [0, 0], [0, 0, 0], pad_mode="edge"), "length_mismatch"),
        (lambda: OV.pad(X, [0, 0, 0], [0, 0, 0], pad_mode="wrap"), "bad_mode"),
        (lambda: OV.pad(X, [-1, 0, 0], [-2, 0, 0], pad_mode="constant"), "crop_exceeds"),
        (lambda: OV.pad(X, [0, 0, 4], [0, 0, 0], pad_mode="reflect"), "size_mismatch"),
        (lambda: OV.pad(X, [0, 0, 0], [0, 0, 5], pad_mode="symmetric"), "size_mismatch"),
        (lambda: TF.pad(X, [[0, 0], [0, -1], [0, 0]]), "negative_pad"),
        (lambda: TF.pad(X, [[0, 0], [0, 0]]), "length_mismatch"),
        (lambda: TF.pad_v2(X, [[0, 0]] * 3, [1, 2]), "length_mismatch"),
        (lambda: ONNX.pad(X, [0] * 6, np.zeros(2)), "length_mismatch"),
        (lambda: TF.mirror_pad(X, [[0, 0]] * 3, "reflect"), "bad_mode"),
        (lambda: TF.mirror_pad(X, [[2, 0], [0, 0], [0, 0]], "REFLECT"), "size_mismatch"),
        (lambda: TF.mirror_pad(X, [[3, 0], [0, 0], [0, 0]], "SYMMETRIC"), "size_mismatch"),
        (lambda: ONNX.pad(X, [1, 1]), "length_mismatch"),
        (lambda: ONNX.pad(X, [1, 1], axes=[3]), "bad_axis"),
        (lambda: ONNX.pad(X, [1, 1, 1, 1], axes=[0, -3]), "bad_axis"),
        (lambda: ONNX.pad(X, [-3, 4], axes=[0], mode="edge"), "crop_exceeds"),
        (lambda: ONNX.pad(X, [-2, 3], axes=[2], mode="reflect"), "size_mismatch"),
        (lambda: ONNX.pad(X, [1, 1], axes=[0], mode="symmetric"), "bad_mode"),
        (lambda: TORCH.pad(X, [1]), "length_mismatch"),
        (lambda: TORCH.pad(X, [1] * 8), "length_mismatch"),
        (lambda: TORCH.pad(X, [1, 1], "edge"), "bad_mode"),
        (lambda: TORCH.pad(X, [4, 0], "reflect"), "size_mismatch"),
        (lambda: TORCH.pad(X, [5, 0], "circular"), "size_mismatch"),
        (lambda: TORCH.pad(X, [1] * 6, "replicate"), "rank"),
        (lambda: TORCH.pad(X, [-5, 2]), "crop_exceeds"),
        (lambda: OV.slice(X, [0], [1], [0]), "bad_axis"),
        (lambda: OV.slice(X, [0, 0], [1], [1]), "length_mismatch"),
        (lambda: OV.slice(X, [0] * 4, [1] * 4, [1] * 4), "length_mismatch"),
        (lambda: OV.slice(X, [0, 0], [1, 1], [1, 1], [0, -3]), "bad_axis"),
        (lambda: OV.slice(sl.tensor(()), [], [], []), "rank"),
        (lambda: ONNX.slice(X, [0], [1], [3]), "bad_axis"),
        (lambda: ONNX.slice(X, [0], [1], [0], [N]), "attr_dtype"),
        (lambda: TF.slice(X, [0, 0, 0], [3, 1, 1]), "crop_exceeds"),
        (lambda: TF.slice(X, [3, 0, 0], [-1, 1, 1]), "crop_exceeds"),
        (lambda: TF.slice(X, [-1, 0, 0], [1, 1, 1]), "crop_exceeds"),
        (lambda: TF.slice(X, [0, 0], [1, 1]), "length_mismatch"),
        (lambda: TF.strided_slice(X, [0], [1], [1, 1]), "length_mismatch"),
        (lambda: TF.strided_slice(X, [0] * 4, [1] * 4, [1] * 4), "bad_axis"),
        (lambda: TF.strided_slice(X, [2], [0], [1], shrink_axis_mask=1), "bad_axis"),
        (lambda: TF.strided_slice(X, [1], [0], [-1], shrink_axis_mask=1), "bad_axis"),
        (lambda: TF.strided_slice(X, [0, 0], [1, 1], [1, 1], ellipsis_mask=3), "bad_axis"),
        (lambda: ONNX.tile(X, [1, 1]), "length_mismatch"),
        (lambda: TF.tile(X, [1, 1, -1]), "size_mismatch"),
        (lambda: OV.roll(X, [1, 2], [0]), "length_mismatch"),
        (lambda: TF.roll(X, 1, [0, 1]), "length_mismatch"),
        (lambda: TORCH.roll(X, [1, 2]), "length_mismatch"),
        (lambda: TORCH.roll(X, 1, 3), "bad_axis"),
        (lambda: TF.reverse_v2(X, [0, 0]), "bad_axis"),
        (lambda: OV.broadcast(X, [4, 3, 4]), "size_mismatch"),
        (lambda: OV.broadcast(X, [3, 4]), "rank"),
        (lambda: OV.broadcast(X, [2, 3, 4], mode="pdpd"), "bad_mode"),
        (lambda: OV.broadcast(X, [2, 3, 4], mode="explicit"), "attr_missing"),
        (lambda: OV.broadcast(X, [2, 3, 4], [0, 1, 2]), "attr_unknown"),
        (lambda: OV.broadcast(X, [2, 3, 4, 5], [0, 2, 1], "explicit"), "bad_axis"),
        (lambda: OV.broadcast(X, [2, 3, 4, 5], [0, 1], "explicit"), "length_mismatch"),
        (lambda: TF.broadcast_to(X, [-1, 2, 3, 4]), "size_mismatch"),
        (lambda: ONNX.expand(X, [5, 4]), "size_mismatch"),
        (lambda: OV.shuffle_channels(X, 1, 2), "non_divisible"),
        (lambda: OV.shuffle_channels(X, 1, 0), "block_lt_1"),
        (lambda: TORCH.channel_shuffle(sl.tensor((2, 3)), 1), "rank"),
        (lambda: OV.concat([X, sl.tensor((2, 3))], 0), "rank"),
        (lambda: OV.concat([X, X], 3), "bad_axis"),
        (lambda: ONNX.concat([X, sl.tensor((2, 3, 5))], 0), "size_mismatch"),
        (lambda: TF.concat_v2([sl.tensor(()), sl.tensor(())], 0), "rank"),
        (lambda: TF.concat_v2([], 0), "length_mismatch"),
        (lambda: OV.split(X, 1, 2), "non_divisible"),
        (lambda: OV.split(X, 1, 0), "block_lt_1"),
        (lambda: ONNX.split(X, [1, 1], axis=1), "size_mismatch"),
        (lambda: ONNX.split(X, [4, -1], axis=1), "size_mismatch"),
        (lambda: ONNX.split(X, num_outputs=5, axis=1), "size_mismatch"),
        (lambda: ONNX.split(X), "attr_missing"),
        (lambda: ONNX.split(X, [3], 1, 1), "attr_unknown"),
        (lambda: ONNX.flatten(X, 4), "bad_axis"),
        (lambda: ONNX.squeeze(X, [1]), "size_mismatch"),
        (lambda: ONNX.squeeze(X, [3]), "bad_axis"),
        (lambda: OV.unsqueeze(X, [0, -5]), "bad_axis"),
        (lambda: OV.unsqueeze(X, []), "length_mismatch"),
        (lambda: OV.roll(X, [1], [0, 1]), "length_mismatch"),
        (lambda: TF.concat_v2([X], 0), "length_mismatch"),
        (lambda: TF.strided_slice(X, [0], [1], [1], ellipsis_mask=6), "bad_axis"),
        (lambda: TF.slice(X, [0, 0, 0], [-2, 1, 1]), "crop_exceeds"),
        (lambda: TORCH.pad(X, [1, 1], "replicate", 3), "attr_unknown"),
        (lambda: ONNX.unsqueeze(X, [4]), "bad_axis"),
        (lambda: TORCH.permute(X, (0, 1)), "length_mismatch"),
        (lambda: TORCH.flip(X, [0, -3]), "bad_axis"),
        (lambda: TORCH.unfold(X, 1, 4, 1), "size_mismatch"),
        (lambda: TORCH.unfold(X, 1, 1, 0), "block_lt_1"),
    ],
)
def test_what_a_framework_refuses_has_a_kind(call: Any, kind: str) -> None:
    assert kind_of(call) == kind


def test_the_kind_is_the_same_when_the_shape_comes_later() -> None:
    n = sl.dim("n")
    x = sl.tensor((n, 3))
    later: list[tuple[sl.Tensor, int, str]] = [
        (TF.slice(x, [1, 0], [3, -1]), 3, "crop_exceeds"),
        (OV.pad(x, [-2, 0], [-1, 0], pad_mode="constant"), 2, "crop_exceeds"),
        (ONNX.split(x, [2, 3])[0], 4, "size_mismatch"),
        (OV.split(x, 0, 2)[1], 3, "non_divisible"),
        (TF.strided_slice(x, [2], [0], [1], shrink_axis_mask=1), 2, "bad_axis"),
        (OV.squeeze(x, [0]), 2, "size_mismatch"),
        (TORCH.unfold(x, 0, 4, 1), 3, "size_mismatch"),
        (TF.mirror_pad(x, [[1, 0], [0, 0]], "SYMMETRIC"), 0, "size_mismatch"),
    ]
    for y, value, kind in later:
        assert kind_of(lambda y=y, value=value: y.subs({n: value})) == kind


def test_the_limits_of_pads_hold_for_symbolic_widths_and_extents_too() -> None:
    n, p = sl.dim("n"), sl.dim("p", min=-3)
    x = sl.tensor((n, 3))
    limited: list[tuple[sl.Tensor, int]] = [
        (TF.mirror_pad(x, [[p, 0], [0, 0]], "REFLECT"), 1),
        (TF.mirror_pad(x, [[0, p], [0, 0]], "SYMMETRIC"), 0),
        (OV.pad(x, [p, 0], [0, 0], pad_mode="reflect"), 1),
        (OV.pad(x, [p, 0], [0, 0], pad_mode="symmetric"), 0),
        (ONNX.pad(x, [p, 0, 0, 0], mode="reflect"), 1),
        (TORCH.pad(sl.tensor((1, 2, n)), [p, p], "circular"), 0),
    ]
    for y, spare in limited:
        assert y.subs({n: 4, p: 4 - spare}).shape
        assert kind_of(lambda y=y, spare=spare: y.subs({n: 4, p: 5 - spare})) == "size_mismatch"
        assert kind_of(lambda y=y: y.subs({n: 4, p: -1})) == "negative_pad"
    for y in (TF.pad(x, [[p, 0], [0, 0]]), TF.pad_v2(x, [[0, p], [0, 0]], 7)):
        assert kind_of(lambda y=y: y.subs({p: -1})) == "negative_pad"
    with pytest.raises(sl.ShapeError, match=r"axis 0: 5 elements are added, mode reflect has 3 to repeat"):
        limited[0][0].subs({n: 4, p: 5})


def test_a_wrap_of_onnx_may_go_round_more_than_once() -> None:
    y = ONNX.pad(sl.tensor((2,)), [5, 0], mode="wrap")
    assert sl.interpret(y, np.arange(2)).tolist() == [1, 0, 1, 0, 1, 0, 1]


def test_the_last_part_has_what_is_left_also_where_the_extent_is_not_known() -> None:
    n = sl.dim("n")
    parts = ONNX.split(sl.tensor((n,), name="x"), num_outputs=3)
    assert [str(part.shape) for part in parts] == ["(ceiling(n/3),)", "(ceiling(n/3),)", "(n - 2*ceiling(n/3),)"]
    for size in range(2, 9):
        chunk = -(-size // 3)
        cuts = [range(size)[k * chunk : (k + 1) * chunk] for k in range(3)]
        assert [sl.interpret(part, np.arange(size)).tolist() for part in parts] == [list(cut) for cut in cuts]
    assert kind_of(lambda: parts[0].subs({n: 1})) == "size_mismatch"
    assert kind_of(lambda: ONNX.split(sl.tensor((1,)), num_outputs=3)) == "size_mismatch"


def test_parts_of_given_sizes_are_the_axis() -> None:
    n, p = sl.dims("n p")
    first, second = ONNX.split(sl.tensor((n,)), [p, 3])
    assert (first.shape, second.shape) == ((n - 3,), (3,))
    assert kind_of(lambda: second.subs({n: 5, p: 3})) == "size_mismatch"


def test_groups_of_four_channels_are_demanded_where_the_extent_is_not_known() -> None:
    v = sl.dim("v")
    y = TF.space_to_depth(sl.tensor((1, 2, 4, 4, v)), 2, "NCHW_VECT_C")
    assert y.shape == (1, 8, 2, 2, 4)
    assert kind_of(lambda: y.subs({v: 3})) == "size_mismatch"


def test_torch_takes_an_axis_of_a_scalar() -> None:
    x = sl.tensor((), name="x")
    assert sl.interpret(TORCH.flip(x, [0]), np.array(7)).tolist() == 7
    assert sl.interpret(TORCH.unfold(x, 0, 1, 1), np.array(7)).tolist() == [7]
    assert kind_of(lambda: TORCH.flip(x, [1])) == "bad_axis"


def test_one_shift_stands_for_all_axes_only_if_it_is_no_list() -> None:
    y = OV.roll(sl.tensor((2, 3), name="x"), 1, [0, 1])
    x = np.arange(6).reshape(2, 3)
    assert np.array_equal(sl.interpret(y, x), np.roll(x, (1, 1), (0, 1)))


@pytest.mark.parametrize(
    ("y", "shape", "requires"),
    [
        (lambda: OV.transpose(sl.tensor("N, C, H"), []), "(H, C, N)", []),
        (lambda: OV.reshape(sl.tensor("N, C, H"), [0, -1], True), "(N, C*H)", []),
        (lambda: OV.reshape(sl.tensor("N, C, 2*h"), [0, -1, 2], True), "(N, C*h, 2)", []),
        (lambda: ONNX.reshape(sl.tensor("N, C, H"), [0, -1]), "(N, C*H)", ["N >= 1"]),
        (lambda: ONNX.flatten(sl.tensor("N, C, H"), -1), "(C*N, H)", []),
        (lambda: TF.pad(sl.tensor("n"), [[1, H]]), "(H + n + 1,)", []),
        (lambda: OV.pad(sl.tensor("n"), [-1], [2], pad_mode="edge"), "(n + 1,)", ["n >= 1"]),
        (lambda: OV.slice(sl.tensor("n"), [0], [2**63 - 1], [2]), "(ceiling(n/2),)", []),
        (lambda: ONNX.slice(sl.tensor("n"), [-1], [-(2**63)], [0], [-1]), "(n,)", []),
        (lambda: ONNX.slice(sl.tensor("n"), [1], [H]), "(Max(0, Min(H - 1, n - 1)),)", []),
        (lambda: TF.slice(sl.tensor("n"), [1], [3]), "(3,)", ["n >= 4"]),
        (lambda: TF.slice(sl.tensor("n"), [1], [-1]), "(n - 1,)", ["n >= 1"]),
        (lambda: TF.strided_slice(sl.tensor("n, m"), [0, 0], [0, 2], [1, 1], 1, 1), "(n, Min(2, m))", []),
        (lambda: TF.tile(sl.tensor("n"), [C]), "(C*n,)", []),
        (lambda: OV.broadcast(sl.tensor((1, W)), [N, H, W]), "(N, H, W)", []),
        (lambda: OV.broadcast(sl.tensor("n, 1"), [1, 5], mode="bidirectional"), "(n, 5)", []),
        (lambda: ONNX.expand(sl.tensor("n, 4"), [3, 1, 1]), "(3, n, 4)", []),
        (lambda: OV.concat([sl.tensor("n, c"), sl.tensor("m, c")], 0), "(m + n, c)", []),
        (lambda: ONNX.split(sl.tensor("n, 2*h"), num_outputs=2, axis=1)[1], "(n, h)", []),
        (lambda: ONNX.split(sl.tensor("n"), [2, 3])[1], "(3,)", ["Eq(n, 5)"]),
        (lambda: ONNX.unsqueeze(sl.tensor("n"), [0, -1]), "(1, n, 1)", []),
        (lambda: TORCH.unfold(sl.tensor("n"), 0, 3, 2), "(ceiling(n/2) - 1, 3)", ["n >= 3"]),
        (lambda: OV.shuffle_channels(sl.tensor("n, 6*c"), 1, 3), "(n, 6*c)", []),
    ],
)
def test_shapes_and_requirements_are_exact(y: Any, shape: str, requires: list[str]) -> None:
    made = y()
    assert str(made.shape) == shape
    assert [str(r) for r in made.requires] == requires


def test_unknown_entries_are_dims() -> None:
    assert TF.pad(sl.tensor((4,)), [[None, 1]]).bounds() == [(5, None)]
    assert TF.tile(sl.tensor((4,)), [None]).bounds() == [(0, None)]
    assert ONNX.slice(sl.tensor((4,)), [None], [None]).bounds() == [(0, 4)]
    assert ONNX.pad(sl.tensor((4,)), None).bounds() == [(4, None)]


def test_a_start_before_the_first_element_is_the_first_only_in_onnx_and_openvino() -> None:
    x = np.arange(3)
    leaf = sl.tensor((3,))
    assert sl.interpret(ONNX.slice(leaf, [-5], [-7], [0], [-1]), x).tolist() == [0]
    assert sl.interpret(OV.slice(leaf, [-5], [-7], [-1]), x).tolist() == [0]
    assert sl.interpret(TF.strided_slice(leaf, [-5], [-7], [-1]), x).tolist() == []
    large, small = sl.tensor((sl.dim("large", min=5),)), sl.tensor((sl.dim("small", max=5),))
    assert ONNX.slice(large, [-5], [-(2**63)], [0], [-1]).bounds() == [(1, None)]
    assert ONNX.slice(small, [-5], [-(2**63)], [0], [-1]).bounds() == [(0, 1)]
    n = sl.dim("n")
    some = ONNX.slice(sl.tensor((n,)), [-5], [-(2**63)], [0], [-1])
    for size in range(9):
        found = sl.interpret(some, np.arange(size)).tolist()
        assert found == ([size - 5, *range(size - 6, -1, -1)] if size >= 5 else [0] if size else [])


BEFORE = (-6, -3, -2)


@pytest.mark.parametrize("stop", [-(2**63), -7, -3, -1, 0, 2])
def test_a_start_before_the_first_element_is_the_first_at_every_extent(stop: int) -> None:
    n = sl.dim("n")
    for start, step in itertools.product(BEFORE, (-1, -2)):
        y = ONNX.slice(sl.tensor((n,), name="x"), [start], [stop], [0], [step])
        for size in range(10):
            end = max(stop + size if stop < 0 else stop, -1)
            expected = list(range(max(start + size, 0), min(end, size - 1), step)) if size else []
            assert sl.interpret(y, np.arange(size)).tolist() == expected


def test_negative_pads_crop_before_or_after_as_the_framework_does() -> None:
    x = np.arange(1, 5)
    leaf = sl.tensor((4,))
    assert sl.interpret(OV.pad(leaf, [-1], [3], pad_mode="reflect"), x).tolist() == [2, 3, 4, 3, 2, 1]
    assert sl.interpret(ONNX.pad(leaf, [-1, 3], mode="wrap"), x).tolist() == [2, 3, 4, 2, 3, 4]
    row = sl.tensor((1, 4))
    assert sl.interpret(TORCH.pad(row, [-1, 3], "reflect"), x[None]).tolist() == [[2, 3, 4, 3, 2, 1]]
    assert sl.interpret(TORCH.pad(row, [-1, 3], "circular"), x[None]).tolist() == [[2, 3, 4, 2, 3, 4]]


def test_a_bound_that_exceeds_every_axis_keeps_its_side() -> None:
    far = 2**63 - 1
    for start, stop, step in [(0, far, 1), (far, 0, -1), (far, far, 1), (-far - 1, -far - 1, 1), (-1, -far - 1, -2)]:
        y = ONNX.slice(sl.tensor("n"), [start], [stop], [0], [step])
        assert sl.interpret(y, np.arange(5)).tolist() == list(range(5))[start:stop:step]
