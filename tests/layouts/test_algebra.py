"""The algebra of layouts with symbols: conditions with the answer, cases, tilers, and every operation's definition."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.layouts import modes, operations
from symlayout.layouts.conditions import Conditions
from symlayout.layouts.strided_layout import layout
from tests.layouts import brute_symbols

M, N = sl.dims("M N")


def answered(a: sl.Layout) -> tuple[str, ...]:
    return (str(a), *map(str, a.requires))


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("(M,N):(N,1)", "4:1", ("4:N", "M >= 4")),
        ("(6,2):(1,N)", "(3,2):(2,3)", ("(3,2):(2,3)", "Eq(N, 6)")),
        ("(M,N):(ld,1)", "((64,M/64),N):((1,64),M)", ("((64,M/64),N):((ld,64*ld),1)", "Eq(Mod(M, 64), 0)")),
        ("(4,N):(N,1)", "K:1", ("(4,K/4):(N,1)", "Eq(Mod(K, 4), 0)")),
        ("(4,1):(1,4)", "(N,2):(2,1)", ("(N,2):(2,1)",)),
        ("(192,K):(1,192)", "K:2", ("K:2",)),
    ],
)
def test_a_composition_states_the_sizes_for_which_it_is_right(
    outer: str, inner: str, expected: tuple[str, ...]
) -> None:
    assert answered(layout(outer).composition(inner)) == expected


def test_cases_cover_all_sizes_and_say_where_there_is_no_layout() -> None:
    found = layout("(6,2):(1,N)").cases.composition("(3,2):(2,3)")
    assert [(*map(str, case.requires), case.kind, case.witness) for case in found] == [
        ("Eq(N, 6)", "layout", {"N": 6}),
        ("N >= 7", "no_layout", {"N": 7}),
        ("N <= 5", "no_layout", {"N": 0}),
    ]
    assert str(found[0].layout) == "(3,2):(2,3)"
    assert found[1].layout is None
    assert "is not less than 6" in found[1].reason


def test_no_layout_is_said_only_where_no_sizes_have_one() -> None:
    with pytest.raises(sl.ShapeError, match="no layout") as caught:
        layout("(6,N):(1,7)").composition("(3,2):(2,3)")
    assert caught.value.kind == "no_layout"
    assert answered(layout("(4,N):(1,2*N)").left_inverse()) == ("(2*N,N):(1,4)", "N >= 2")


def test_a_tuple_is_a_tiler_for_each_mode() -> None:
    a = layout("(16,8):(1,16)")
    assert str(a.composition((4, 2))) == "(4,2):(1,16)"
    assert str(a.composition((None, "4:2"))) == "(16,4):(1,32)"
    assert str(a.composition([4])) == "(4,8):(1,16)"
    assert str(layout("((4,2),8):((1,16),4)").composition(((2, 2), 4))) == "((2,2),4):((1,16),4)"
    with pytest.raises(sl.ShapeError, match="3 tilers do not fit 2 modes") as caught:
        a.composition((1, 2, 3))
    assert caught.value.kind == "rank"


def test_the_sizes_of_an_operand_are_read_with_what_the_other_one_requires() -> None:
    a = layout("(M,N)", given="M % 64 == 0")
    assert answered(a.composition("((64,M/64),N):((1,64),M)")) == (
        "((64,M/64),N):((1,64),M)",
        "Eq(Mod(M, 64), 0)",
    )
    with sl.assume("M >= 8"):
        assert answered(layout("(M,N):(N,1)").composition(4)) == ("4:N", "M >= 8")


def test_a_symbolic_layout_is_called_with_numbers_and_dims() -> None:
    a = layout("(M,N):(N,1)")
    i, j = sl.dims("i j")
    assert str(a(i, j)) == "N*i + j"
    for m, n in ((1, 3), (2, 3), (7, 1)):
        assert a(5).subs({M: m, N: n}) == 5 % m * n + 5 // m
    assert a[0](i) == N * i
    assert layout(())() == 0


def test_a_result_is_read_as_an_index_map_with_its_requirements() -> None:
    x = sl.tensor("M, N", name="x")
    tile = layout("(M,N):(N,1)").composition("4:1").view(x)
    assert list(map(str, tile.requires)) == ["M*N >= 3*N + 1", "M >= 4"]
    with sl.assume("M >= 4"):
        assert sl.prove_equal(tile, sl.tensor("M, N", name="x")[:4, 0]).verdict is sl.Verdict.PROVED


def test_complements_of_what_is_padded_negative_or_of_a_stride_that_may_be_zero() -> None:
    assert str(layout("(2,2):(1,3)").complement(12)) == "2:6"
    assert str(layout("(4,2):(1,8)").complement((4, 8))) == "(2,2):(4,16)"
    assert answered(layout("4:N").complement(8 * N)) == ("(N,2):(1,4*N)", "N >= 1")
    with pytest.raises(sl.ShapeError) as caught:
        layout("(2,3):(-1,2)").complement()
    assert caught.value.kind == "infeasible"
    with pytest.raises(sl.ShapeError, match="the size 0 may be below 1"):
        layout("2:1").complement(0)


def test_divisions_and_products_that_cutes_documentation_states() -> None:
    a = layout("(9,(4,8)):(59,(13,1))")
    assert str(a.logical_divide(("3:3", "(2,4):(1,8)"))) == "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"
    assert str(a.zipped_divide(("3:3", "(2,4):(1,8)"))) == "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"
    assert str(a.tiled_divide(("3:3", "(2,4):(1,8)"))) == "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))"
    assert str(a.flat_divide(("3:3", "(2,4):(1,8)"))) == "(3,(2,4),3,(2,2)):(177,(13,2),59,(26,1))"
    assert str(layout("(4,2,3):(2,1,8)").logical_divide("4:2")) == "((2,2),(2,3)):((4,1),(2,8))"
    assert str(layout("(2,2):(4,1)").logical_product("(4,2):(2,1)")) == "((2,2),(4,2)):((4,1),(8,2))"
    block = layout("(2,5):(5,1)")
    assert str(block.blocked_product("(3,4):(1,3)")) == "((2,3),(5,4)):((5,10),(1,30))"
    assert str(block.raked_product("(3,4):(1,3)")) == "((3,2),(4,5)):((10,5),(30,1))"


def test_widths_nullspace_and_common_layouts() -> None:
    assert str(layout("(8,N):(1,8)").upcast(4)) == "(2,N):(1,2)"
    assert answered(layout("(N,4):(1,N)").upcast(4)) == ("(N/4,4):(1,N/4)", "Eq(Mod(N, 4), 0)")
    assert str(layout("(2,N):(1,2)").downcast(4)) == "(8,N):(1,8)"
    assert str(layout("(8,4):(1,8)").recast(8, 32)) == "(2,4):(1,2)"
    with pytest.raises(sl.ShapeError, match="no multiple of 2, and no divisor"):
        layout("4:3").upcast(2)
    with pytest.raises(sl.ShapeError, match="several modes share one"):
        layout("(4,4):(1,1)").upcast(4)
    assert str(layout("(2,4,3):(1,0,2)").nullspace()) == "4:2"
    assert str(layout("(4,2):(1,8)").max_common_layout("8:1")) == "4:1"
    assert str(layout("(2,2):(1,2)").tile_to_shape((4, 6))) == "((2,2),(2,3)):((1,4),(2,8))"


def test_random_symbolic_layouts_agree_with_an_enumeration() -> None:
    tally, _ = brute_symbols.run(60, seed=7)
    assert sum(many for label, many in tally.items() if ": right" in label) > 35


def test_a_layout_of_no_modes_has_one_element() -> None:
    a = layout(())
    assert (a.size, a.cosize, str(a.coalesce()), str(a.complement(4))) == (1, 1, "1:0", "4:1")


def test_an_order_of_axes_says_which_is_fastest() -> None:
    facts = layout("(M,N)").facts
    assert operations.ordered((2, (3, 4), 5), (2, 0, 1), facts).stride == (60, (1, 3), 12)
    assert operations.ordered((2, 3), (7, 7), facts).stride == (1, 2)


def kind_of(ask: Any) -> str:
    with pytest.raises(sl.ShapeError) as caught:
        ask()
    return caught.value.kind


def test_wrong_arguments_are_typed() -> None:
    a = layout("(4,8)")
    assert kind_of(lambda: a.upcast(0)) == "infeasible"
    assert kind_of(lambda: a.recast(16, 24)) == "no_layout"
    assert kind_of(lambda: a.composition("2:-1")) == "infeasible"
    assert kind_of(lambda: a.tile_to_shape((6, 8))) == "non_divisible"
    assert kind_of(lambda: layout("4", given="N >= 3, N <= 2")) == "infeasible"
    assert kind_of(lambda: a.composition("S<1,0,1> o 0 o 4:1")) == "no_layout"
    assert kind_of(lambda: a.composition(layout("S<1,0,1> o 0 o 4:1"))) == "no_layout"
    with pytest.raises(TypeError, match="not a tuple of tilers"):
        a.blocked_product((2, 2))
    with pytest.raises(IndexError):
        a[2]


def test_a_carry_that_ends_in_the_next_digit_leaves_no_layout_for_any_stride_beyond() -> None:
    assert kind_of(lambda: layout("(2,4,4,6):(4,1,0,N)").composition("(2,3,2):(1,2,6)")) == "no_layout"
    kinds = {case.kind for case in layout("(2,4,4,6):(4,1,N,0)").cases.composition("(2,3,2):(1,2,6)")}
    assert kinds == {"layout", "no_layout"}  # N == 4 joins the sizes


def test_a_mode_is_split_where_its_digits_carry() -> None:
    c = Conditions(layout("1").facts)
    assert modes.composed([(2, 5), (3, 1)], [(30, 2)], c) == [[(30, 1)]]
    assert modes.composed([(2, 5), (3, 1)], [(4, 1)], c) == [[(2, 5), (2, 1)]]
    assert modes.value([(2, 5), (1, 1)], 7) == 8
