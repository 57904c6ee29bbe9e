"""Shapes, coordinates and modes by CuTe's names: what its documentation states, and random ones beside definitions."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import symlayout as sl
from symlayout.layouts.shapes.basis import E
from symlayout.layouts.shapes.compare_shapes import compatible, congruent, weakly_compatible, weakly_congruent
from symlayout.layouts.shapes.coordinates import crd2crd, crd2idx, idx2crd
from symlayout.layouts.shapes.layout_modes import has_open, is_open
from symlayout.layouts.shapes.make_layout import (
    make_identity_layout,
    make_layout,
    make_layout_like,
    make_ordered_layout,
)
from tests.layouts.shapes import brute_shapes

M, N, i, j, k = sl.dims("M N i j k")


def kind_of(ask: Any) -> str:
    with pytest.raises(sl.ShapeError) as caught:
        ask()
    return caught.value.kind


def test_random_shapes_agree_with_their_definitions() -> None:
    tally = brute_shapes.run(60, seed=3)
    assert tally["idx2crd, crd2idx, crd2crd"] == 60
    assert tally["slice"] > 20
    assert tally["tile_to_shape"] > 0


def test_layouts_are_made_of_shapes_and_of_layouts() -> None:
    assert str(make_layout("(M,N)")) == "(M,N):(1,M)"
    assert str(make_layout("(M,(2,N))", "LayoutRight")) == "(M,(2,N)):(2*N,(N,1))"
    assert str(make_layout((2, 3), "LayoutLeft")) == "(2,3):(1,2)"
    assert str(make_layout("(M,N)", (N, 1))) == "(M,N):(N,1)"
    assert str(make_layout(sl.layout("2:1"))) == "(2):(1)"
    assert str(make_layout([sl.layout("2:1"), "M:2"])) == "(2,M):(1,2)"
    with pytest.raises(TypeError, match="and not 3 values"):
        make_layout(1, 2, 3)


def test_orders_and_strides_give_compact_layouts() -> None:
    assert str(make_ordered_layout((2, 2, 2, 2), (0, 2, 3, 1))) == "(2,2,2,2):(1,4,8,2)"
    assert str(make_ordered_layout("((2,M),N)", (1, 0))) == "((2,M),N):((N,2*N),1)"
    assert kind_of(lambda: make_ordered_layout((2, 3), (0, 1, 2))) == "length_mismatch"
    assert kind_of(lambda: make_ordered_layout((2, 3), (0, "a"))) == "attr_dtype"
    found = make_layout_like("(M,N):(ld,1)")
    assert (str(found), *map(str, found.requires)) == ("(M,N):(N,1)", "ld >= 2")
    assert kind_of(lambda: make_layout_like("(2,3):(-1,2)")) == "infeasible"


def test_a_slice_and_its_offset_make_the_layout() -> None:
    a = sl.layout("((2,4),N):((1,2),8)")
    assert str(a[:, 3]) == str(a(None, 3)) == str(a.slice((None, 3))) == "((2,4)):((1,2))"
    assert str(a[(1, None), ...]) == "(4,N):(2,8)"
    assert a.slice(None) == a[...] == a
    assert a.slice_and_offset(((1, None), j)) == (sl.layout((4,), (2,)), 8 * j + 1)
    assert a.slice((1, 2)).size == 1
    assert str(a.dice((None, 3))) == "(N):(8)"
    assert kind_of(lambda: a[:, :, :]) == "rank"
    with pytest.raises(TypeError, match="leaves no mode open"):
        a[0, 1]


@pytest.mark.parametrize(
    ("coordinate", "itself", "somewhere"),
    [
        (None, True, True),
        (slice(None), True, True),
        (3, False, False),
        ((1, None), False, True),
        ((1, (2, slice(None))), False, True),
        ((1, (2, 0)), False, False),
    ],
)
def test_a_coordinate_is_open_at_none_and_at_a_whole_slice(coordinate: Any, itself: bool, somewhere: bool) -> None:
    assert is_open(coordinate) is itself
    assert has_open(coordinate) is somewhere


def test_modes_that_are_not_there_are_typed_errors() -> None:
    a = sl.layout("(2,3)")
    assert kind_of(lambda: a.group(1, 3)) == "rank"
    assert kind_of(lambda: a.take(1, 1)) == "rank"
    assert kind_of(lambda: a.append("1:0", 1)) == "rank"
    assert kind_of(lambda: a.unflatten((1, 1, 1))) == "rank"
    with pytest.raises(IndexError):
        a.replace(2, "4:1")
    assert a.group_modes(0, 2) == a.group(0)
    assert a.depth == 1


def test_a_dim_of_two_layouts_is_one_dim_in_what_is_made_of_them() -> None:
    a = sl.layout("(M,N)", given="M % 4 == 0")
    assert [*map(str, a.append("M:0").requires)] == ["Eq(Mod(M, 4), 0)"]
    assert [*map(str, sl.layout("M:1").append(a).requires)] == ["Eq(Mod(M, 4), 0)"]


def test_numbers_and_coordinates_of_symbols() -> None:
    assert str(idx2crd(k, "(M,N)")) == "(Mod(k, M), floor(k/M))"
    assert crd2idx((i, j), (M, N)) == i + M * j
    assert crd2idx((i, j), sl.layout("(M,N):(N,1)")) == i * N + j
    assert crd2idx((None, j), (M, N)) == M * j
    assert crd2crd((i, j), M * N, (M, N)) == i + M * j
    assert kind_of(lambda: crd2crd((1, 2), 8)) == "rank"
    assert kind_of(lambda: idx2crd((1, 2), 8)) == "rank"


def test_shapes_compare_for_all_sizes_or_under_a_condition() -> None:
    assert compatible("(4*M,8)", "((4,M),8)") is True
    assert compatible(24, "(4,N)") == compatible("24", "(4,N)")
    assert str(compatible(24, "(4,N)")) == "Eq(N, 6)"
    assert str(compatible("(N,K)", "((4,M),(2,M))")) == "Eq(K, 2*M) & Eq(N, 4*M)"
    assert compatible("(M,2)", "(2*M,2)") is False
    assert compatible(sl.layout("(M,N)", given="M == 4*N"), "((4,N),N)") is True
    assert weakly_compatible("64", "128*M") is True
    assert weakly_compatible("2*M", 3) is False
    assert weakly_congruent((1, 2), 3) is False
    assert congruent("(M,(2,N))", (1, (2, 3))) is True


# ---------------------------------------------------------------------- coordinates as values


def test_an_identity_layout_has_coordinates_as_its_values() -> None:
    same = make_identity_layout("(M,(4,N))")
    assert str(same) == "(M,(4,N)):(1@0,(1@0@1,1@1@1))"
    assert same(5, (1, 2)) == (5, (1, 2))
    assert same.coshape == (M, (4, N))
    assert same.cosize == 4 * M * N
    assert pickle.loads(pickle.dumps(same)) == same
    tiles = make_identity_layout("(M,N)").zipped_divide((64, 32))
    assert tiles((3, 5), (1, 2)) == (67, 69)
    assert str(sl.layout("(M,N):(ld,1)").composition(tiles)) == (
        "((64,32),((M + 63)//64,(N + 31)//32)):((ld,1),(64*ld,32))"
    )
    assert make_identity_layout("M") == sl.layout("M")


def test_coordinates_read_a_tensor_of_their_rank() -> None:
    x = sl.tensor("M, N", name="x")
    assert sl.prove_equal(make_identity_layout("(M,N)").view(x), x).verdict is sl.Verdict.PROVED
    turned = sl.layout("(N,M)", None).with_modes(make_layout((N, M), (E(1), E(0))).nest)
    assert sl.prove_equal(turned.view(x), sl.transpose(x)).verdict is sl.Verdict.PROVED
    assert kind_of(lambda: turned.view(sl.tensor("M", name="x"))) == "rank"
    assert kind_of(lambda: make_identity_layout("(4,8)").view(sl.tensor("3, 90", name="x"))) == "size_mismatch"
    assert [*map(str, make_identity_layout((4, 8)).view(x).requires)] == ["M >= 4", "N >= 8"]


def test_steps_of_coordinates_are_added_and_multiplied() -> None:
    step = 2 * E(0) + E(1) * N
    assert repr(step) == "E(0)*(2) + E(1)*(N)"
    assert step == E(1) * N + E(0) * 2
    assert str(sl.layout((4, M), (step, E(1)))) == "(4,M):(2@0+N@1,1@1)"
    assert sl.layout((4, M), (step, E(1)))(3, 1) == (6, 3 * N + 1)
    assert str(sl.layout((4, 2), (E(0), 4 * E(0))).coalesce()) == "8:1@0"
    assert str(sl.layout((4, M), (0 * E(0), E(1))).filter()) == "M:1@1"
    assert str(make_identity_layout((4, M)).upcast(1)) == "(4,M):(1@0,1@1)"


def test_what_orders_offsets_is_refused_for_coordinates() -> None:
    same = make_identity_layout("(4,M)")
    for ask in (same.complement, same.right_inverse, same.left_inverse, lambda: same.upcast(2), same.to_triton):
        assert kind_of(ask) == "attr_dtype"
    assert kind_of(lambda: sl.layout((2, 2), (E(0), 1))) == "attr_dtype"
    assert kind_of(lambda: sl.layout((2, 2), (E(0), E(0, 1)))) == "rank"
    assert kind_of(lambda: E()) == "rank"
    assert kind_of(lambda: sl.layout("(M,2)").composition(sl.layout((2, 2), (E(0), E(2))))) == "rank"
    with pytest.raises(sl.InconclusiveError, match="in several modes"):
        sl.layout("(M,N)").composition(sl.layout(2, E(0) + E(1)))


def test_widths_that_do_not_divide_each_other_go_through_their_divisor() -> None:
    assert str(sl.layout("(6,4):(1,6)").recast(16, 24)) == "(4,4):(1,4)"
    assert str(sl.layout("(6,N):(1,6)").recast(24, 16)) == "(9,N):(1,9)"


def test_the_common_vector_of_two_layouts_is_a_number_or_has_conditions() -> None:
    assert sl.layout("(4,2):(1,8)").max_common_vector("8:1") == 4
    assert sl.layout("(2,N):(1,4)").max_common_vector("(2,N):(1,2)") == 2
