"""Layouts in CuTe's notation: the parser, the algebra, and proofs that they equal other maps."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.layouts.strided_layout import layout
from tests.layouts import brute_layouts

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
M, N, K = sl.dims("M N K")

# The pairs that CUTLASS's own tests of pycute compose, and layouts that they invert and complement.
COMPOSED = [
    ("1:0", "1:0"), ("1:0", "1:1"), ("1:1", "1:0"), ("1:1", "1:1"), ("4", "4"), ("4:2", "4"), ("4", "4:2"),
    ("4:0", "4"), ("4", "4:0"), ("1:0", "4"), ("4", "1:0"), ("4", "2"), ("4:2", "2"), ("4", "2:2"), ("4:2", "2:2"),
    ("12", "(4,3)"), ("12:2", "(4,3)"), ("12", "(4,3):(3,1)"), ("12:2", "(4,3):(3,1)"), ("12", "(2,3):(2,4)"),
    ("(4,3)", "(4,3)"), ("(4,3)", "12"), ("(4,3)", "6:2"), ("(4,3)", "(6,2):(2,1)"), ("(4,3):(3,1)", "(4,3)"),
    ("(4,3):(3,1)", "12"), ("(4,3):(3,1)", "6:2"), ("(4,3):(3,1)", "(6,2):(2,1)"),
    ("(8,8)", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"), ("(8,8):(8,1)", "((2,2,2),(2,2,2)):((1,16,4),(8,2,32))"),
    ("((2,2,2),(2,2,2)):((1,16,4),(8,2,32))", "8:4"), ("((4,2)):((1,16))", "(4,2):(2,1)"),
    ("(2,2):(2,1)", "(2,2):(2,1)"), ("(4,8,2)", "(2,2,2):(2,8,1)"), ("(4,8,2):(2,8,1)", "(2,2,2):(1,8,2)"),
    ("(4,8,2):(2,8,1)", "(4,2,2):(2,8,1)"), ("(4,6,8):(1,4,7)", "6:1"), ("(4,6,8,10):(2,3,5,7)", "6:12"),
]  # fmt: skip
INVERTED = [
    "1:0", "(1,1):(0,0)", "1:1", "4:1", "4:2", "(8,4):(1,8)", "(8,4):(4,1)", "(2,4,6):(1,2,8)", "(2,4,6):(4,1,8)",
    "(4,2):(1,16)",
]  # fmt: skip


def spread(a: sl.Layout) -> list[int]:
    return [a(k) for k in range(a.size)]


@pytest.mark.parametrize(
    "text", ["((2,4),3):((3,6),1)", "4:1", "(4):(1)", "((M,2*N + 1),3):((1,M),K)", "(M,N/4):(N,1)", "(2,3):(-1,0)"]
)
def test_a_layout_prints_as_it_is_read(text: str) -> None:
    assert str(layout(text)) == text
    assert layout(layout(text).shape, layout(text).stride) == layout(text)
    assert pickle.loads(pickle.dumps(layout(text))) == layout(text)


def test_cpp_prints_static_numbers_with_an_underscore() -> None:
    assert layout("(_2,(_4,N)):(_1,(_2,_8))") == layout((2, (4, N)), (1, (2, 8)))


def test_strides_that_are_left_out_are_compact() -> None:
    assert str(layout("((2,M),N)")) == "((2,M),N):((1,2),2*M)"


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("(4,8):(1,4", "expected ')', found the end", 11),
        ("(4,8):(1,(4,2))", "the shape has one size here, the stride a tuple", 10),
        ("(4,(8,2)):(1,4)", "expected '(' and 2 strides, as in the shape, found '4'", 14),
        ("(4,8):(1,4,2)", "expected 2 strides, as in the shape, found '2'", 12),
        ("(4,8):(1)", "expected ',', found ')'", 9),
        ("4:1:2", "expected the end, found ':'", 4),
        ("(4, ())", "expected a number or a dim such as N, found ')'", 6),
        ("(4,@)", "cannot read '@'", 4),
        ("", "expected a number or a dim such as N, found the end", 1),
    ],
)
def test_a_text_that_is_no_layout_is_refused_with_a_caret(text: str, message: str, column: int) -> None:
    with pytest.raises(sl.FormatError) as caught:
        layout(text)
    first, shown, caret = str(caught.value).splitlines()[:3]
    assert first == f"{message}, at column {column} of a layout"
    assert shown == f"  in: {text}"
    assert caret == " " * (6 + column - 1) + "^"


def test_other_errors_are_typed() -> None:
    with pytest.raises(sl.ShapeError, match="size 0 is less than 1") as caught:
        layout("(0,3):(1,1)")
    assert caught.value.kind == "infeasible"
    with pytest.raises(sl.ShapeError, match="nested differently") as caught:
        layout((2, 3), (1, (2, 3)))
    assert caught.value.kind == "length_mismatch"
    with pytest.raises(sl.FormatError, match="contains its strides"):
        layout("4:1", 2)
    with pytest.raises(sl.ShapeError, match="does not fit the shape"):
        layout("(2,3)")(1, 2, 3)
    with pytest.raises(sl.FormatError, match="nested more than 64 deep"):
        layout("(" * 100 + "1" + ")" * 100)
    with pytest.raises(TypeError, match="a layout is compared with a layout"):
        sl.prove_equal(layout("4"), sl.tensor("4"))


@pytest.mark.parametrize(("left", "right"), COMPOSED)
def test_pycutes_compositions_have_the_values_of_both(left: str, right: str) -> None:
    a, b = layout(left), layout(right)
    assert spread(a.composition(b)) == [a(offset) for offset in spread(b)]


@pytest.mark.parametrize("text", INVERTED)
def test_pycutes_layouts_are_inverted(text: str) -> None:
    a = layout(text)
    assert [a.left_inverse()(offset) for offset in spread(a)] == list(range(a.size))
    r = a.right_inverse()
    assert [a(offset) for offset in spread(r)] == list(range(r.size))


def test_results_that_cutes_documentation_states() -> None:
    assert str(layout("20:2").composition("(5,4):(4,1)")) == "(5,4):(8,2)"
    assert str(layout("(10,2):(16,4)").composition("(5,4):(1,5)")) == "(5,(2,2)):(16,(80,4))"
    assert str(layout("4:1").complement(24)) == "6:4"
    assert str(layout("6:4").complement(24)) == "4:1"
    assert str(layout("4:2").complement(24)) == "(2,3):(1,8)"
    assert str(layout("(2,2):(1,6)").complement(24)) == "(3,2):(2,12)"
    assert str(layout("(2,(1,6)):(1,(6,2))").coalesce()) == "12:1"


def test_what_no_layout_has_is_refused_with_the_reason() -> None:
    with pytest.raises(sl.ShapeError, match="composition is no layout") as caught:
        layout("((2,4),3):((3,6),1)").composition("(4,6):(6,1)")
    assert caught.value.kind == "no_layout"
    with pytest.raises(sl.ShapeError, match=r"2 of 3 elements have one stride"):
        layout("(4,3):(1,5)").composition("3:2")
    with pytest.raises(sl.ShapeError, match="the stride 3 is less than 6, where the smaller ones end") as caught:
        layout("(3,2):(2,3)").complement()
    assert caught.value.kind == "overlap"
    with pytest.raises(sl.ShapeError, match="the stride -1 may be negative"):
        layout("4:-1").left_inverse()


def test_random_layouts_agree_with_an_enumeration() -> None:
    tally = brute_layouts.run(60, seed=1)
    assert tally["composition"] > 20
    assert tally["no composition"] > 5
    assert tally["complement"] > 10
    assert tally["left inverse"] > 10
    assert tally["left inverse that is one of several"] > 5


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("(M,N):(N,1)", "(M,N):(1,M)", "(M,N):(N,1)"),
        ("(4*M,N):(N,1)", "((4,M),N):((M,1),4*M)", "((4,M),N):((M*N,N),1)"),
        ("(M,N,K):(N*K,K,1)", "(M*N,K)", "((M,N),K):((K*N,K),1)"),
        ("(M*N,K)", "((M,N),K):((N,1),M*N)", "((M,N),K):((N,1),M*N)"),
    ],
)
def test_layouts_of_symbolic_sizes_are_composed(left: str, right: str, expected: str) -> None:
    a, b = layout(left), layout(right)
    found = a.composition(b)
    assert str(found) == expected
    for sizes in ({"M": 1, "N": 3, "K": 2}, {"M": 2, "N": 1, "K": 3}, {"M": 3, "N": 2, "K": 2}):
        x, y, z = (at(e, sizes) for e in (a, b, found))
        assert spread(z) == [x(offset) for offset in spread(y)]


def at(a: sl.Layout, sizes: dict[str, int]) -> sl.Layout:
    """Return the layout with numbers for its dims."""

    def number(e: Any) -> Any:
        if isinstance(e, tuple):
            return tuple(map(number, e))
        return e if isinstance(e, int) else int(e.subs({s: sizes[s.name] for s in e.free_symbols}))

    return layout(number(a.shape), number(a.stride))


def test_inverses_and_complements_of_symbolic_layouts() -> None:
    a = layout("(M,N):(N,1)")
    assert str(a.left_inverse()) == str(a.right_inverse()) == "(N,M):(M,1)"
    assert str(layout("M:N").complement(4 * M * N)) == "(N,4):(1,M*N)"
    found = layout("(2,3):(M,N)").left_inverse()
    assert str(found) == "(M,N/M,3):(0,1,2)"
    assert set(map(str, found.requires)) == {"Eq(Mod(N, M), 0)", "M >= 1", "N >= 2*M"}
    found = a.composition("4:3")
    assert (str(found), *map(str, found.requires)) == ("4:3*N", "M >= 10")


def test_layouts_are_compared_as_functions_to_offsets() -> None:
    assert sl.prove_equal(layout("(2,3)"), layout("(2,3):(1,2)")).verdict is PROVED
    assert sl.prove_equal(layout("((2,M)):((N,2*N))"), layout("(2*M):(N)")).verdict is PROVED
    refuted = sl.prove_equal(layout("(2,3)"), layout("(2,3):(3,1)"))
    assert refuted.verdict is REFUTED
    assert refuted.witness is not None
    assert refuted.witness.coord == (0, 1)
    assert sl.prove_equal(layout("(2,3):(-1,1)"), layout("(2,3):(-1,1)")).verdict is PROVED
    assert sl.prove_equal(layout("(1,3):(-1,1)"), layout("(1,3):(5,1)")).verdict is PROVED
    assert sl.prove_equal(layout("(2,3):(-1,1)"), layout("(2,3):(0,1)")).verdict is REFUTED


def test_a_layout_equals_the_same_map_in_other_notations() -> None:
    x = sl.tensor("H, W", name="x")
    h, w = x.shape
    assert sl.prove_equal(layout((w, h), (1, w)).view(x), sl.transpose(x)).verdict is PROVED
    y = sl.tensor("M, 4*N", name="y")
    split = sl.einops.rearrange(y, "m (n f) -> n m f", f=4)
    assert sl.prove_equal(layout("(N,M,4):(4,4*N,1)").view(y), split).verdict is PROVED
    assert sl.prove_equal(layout("(N,M,4):(4,4*N,1)").view(y), sl.flip(split)).verdict is REFUTED


@pytest.mark.parametrize(
    ("t", "expected"),
    [
        (sl.transpose(sl.tensor("N, C, H, W"), (0, 2, 3, 1)), "(N,H,W,C):(C*H*W,W,1,H*W)"),
        (sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), 2), "(N,(C,2,2),h,w):(4*C*h*w,(4*h*w,1,2*w),4*w,2)"),
        (sl.broadcast_to(sl.tensor("M, 1"), (3, M, 5)), "(3,M,5):(0,1,0)"),
        (sl.tensor("12, 2")[::3, 0], "(4):(6)"),
    ],
    ids=str,
)
def test_the_layout_of_a_map(t: sl.Tensor, expected: str) -> None:
    assert str(layout(t)) == expected
    assert sl.prove_equal(layout(t).view(t.leaves()[0]), t).verdict is PROVED


def test_a_map_that_is_no_layout_is_refused() -> None:
    x = sl.tensor("N, 2*M", name="x")
    for t, message in (
        (sl.pad(x, 1), "pads or several pieces"),
        (sl.flip(x, 1), "begins at element"),
        (x[:, 1:], "begins at element 1"),
    ):
        with pytest.raises(sl.ShapeError, match=message) as caught:
            layout(t)
        assert caught.value.kind == "no_layout"
    for t in (sl.reshape(sl.transpose(sl.tensor("4, 6")), (8, 3)), sl.roll(x, 1, 0)):
        with pytest.raises(sl.InconclusiveError, match="that of a layout"):
            layout(t)


def test_a_mode_past_its_end_counts_on_in_the_last_digit() -> None:
    assert [layout("(2,3):(5,1)")(k) for k in (5, 6, 7, 60)] == [7, 3, 8, 30]
    assert str(layout("(2,3):(5,1)").composition("30:2")) == "30:1"
    assert str(layout("(2,1):(5,0)").composition("6:2")) == "6:0"


@pytest.mark.slow
def test_as_strided_is_numpys_in_elements() -> None:
    data = np.arange(24, dtype="i4").reshape(4, 6)
    x = sl.tensor((4, 6), name="x")
    for shape, strides, offset in (
        ((3, 4), (6, 1), 2), ((5, 3), (1, 1), 0), ((2, 3), (-2, -5), 20), ((4, 4), (0, 3), 1),
        ((), (), 7), ((0, 5), (9, 99), 3),
    ):  # fmt: skip
        expected = np.lib.stride_tricks.as_strided(data.ravel()[offset:], shape, [4 * s for s in strides])
        t = sl.as_strided(x, shape, strides, offset)
        assert sl.interpret(t, data).tolist() == sl.compile(t, strict=True)(data).tolist() == expected.tolist()


def test_as_strided_requires_that_it_stays_inside() -> None:
    s = sl.dim("s", min=None)
    t = sl.as_strided(sl.tensor((N,), name="x"), (3,), (s,), 4)
    assert sl.interpret(t, np.arange(9), dims={s: -2}).tolist() == [4, 2, 0]
    for step in (3, -3):
        with pytest.raises(sl.ShapeError) as caught:
            sl.interpret(t, np.arange(9), dims={s: step})
        assert caught.value.kind == "size_mismatch"
    for shape, strides in (((2, 3), (1,)), ((2, (3, 4)), (1, 2)), (((2, 3),), ((1,),)), (4, 1)):
        with pytest.raises(sl.ShapeError) as caught:
            sl.as_strided(sl.tensor("99"), shape, strides)
        assert caught.value.kind == "length_mismatch"


def test_a_layout_without_modes_is_read_as_it_is_written() -> None:
    a = sl.layout((), ())
    assert str(a) == "():()"
    assert sl.layout("():()") == sl.layout("()") == a
    assert a.coalesce() == sl.layout("1:0")
