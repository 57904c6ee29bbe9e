"""Layouts that are printed for other libraries have the same values there, for numbers and for symbols."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

import symlayout as sl
from symlayout.layouts.print_layout import LayoutText
from tests.layouts.printed_programs import RUN, TWICE, Case, absent

CASES = [
    Case(sl.layout("((2,4),3):((3,6),1)"), {}),
    Case(sl.layout("12:1"), {}),
    Case(sl.layout("(1,1):(0,0)"), {}),
    Case(sl.layout("(2,(3,2)):(0,(5,1))"), {}),
    Case(sl.layout("(4,3):(8,9000000000)"), {}),
]
SYMBOLIC = [
    Case(sl.layout("(M,N):(N,1)"), {"M": 3, "N": 5}),
    Case(sl.layout("((2,M),(3,N)):((1,6*N),(2,6))"), {"M": 2, "N": 3}),
    Case(sl.layout("(M,(4,N/4)):(N,(1,4))"), {"M": 3, "N": 8}),
    Case(sl.layout("((M + 3)//4,4):(4,1)"), {"M": 6}),
    Case(sl.layout("(max(M,N),min(M,N)):(1,M*N)"), {"M": 2, "N": 4}),
    Case(sl.layout("((M,N),2):((N*N,M),N**3)"), {"M": 2, "N": 3}),
    Case(sl.layout("(4,N):(1,N//3 + 1)"), {"N": 7}),
    Case(sl.layout("(M,N):(N,1)").composition("4:1"), {"M": 5, "N": 3}),
    Case(sl.layout("(M/N,N):(1,M/N)", given="M % N == 0"), {"M": 12, "N": 4}),
]
SWIZZLED = [
    Case(sl.layout("S<3,0,3> o 0 o (8,8):(8,1)"), {}),
    Case(sl.layout("S<2,1,-3> o 8 o ((2,4),3):((3,6),1)"), {}),
    Case(sl.layout("S<2,1,3> o K o (4,N):(N,1)"), {"K": 6, "N": 12}),
    Case(sl.layout("S<2,0,2> o 6 o (3,N):(0,0)"), {"N": 2}),
]
NEGATIVE = [Case(sl.layout("4:-1"), {}), Case(sl.layout("(2,N):(-N,1)"), {"N": 5})]
DECREASING = [Case(sl.layout("(4,N):(1,N//3 - 3)"), {"N": 4}), Case(sl.layout("(2,M):(1,(M - 7)//2)"), {"M": 4})]
"""Quotients that round down to a negative number; CuTe's own libraries keep away from them."""


M, N = sl.dims("M N")
COORDINATES = [
    Case(sl.make_identity_layout("(3,(2,2))"), {}),
    Case(sl.make_identity_layout("(M,(4,N))"), {"M": 3, "N": 2}),
    Case(sl.layout((M, (N, 2)), (3 * sl.E(0), (N * sl.E(1), (2 * N + 1) * sl.E(1)))), {"M": 2, "N": 3}),
]
"""Layouts whose values are coordinates."""


def _agrees(peer: str, cases: list[Case], folder: Path) -> bool:
    if why := absent(peer):
        pytest.skip(why)
    times = 2 if peer in TWICE else 1
    return RUN[peer](cases, folder) == [case.offsets() for case in cases for _ in range(times)]


def test_pycute(tmp_path: Path) -> None:
    assert _agrees("pycute", [*CASES, *SYMBOLIC, *SWIZZLED, *NEGATIVE, *DECREASING], tmp_path)


def test_tensor_layouts(tmp_path: Path) -> None:
    assert _agrees("tensor-layouts", [*CASES, *SYMBOLIC], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("peer", ["C++", "CuTe DSL", "Triton", "TVM"])
def test_a_peer_with_integers_of_its_own(peer: str, tmp_path: Path) -> None:
    based = [] if peer == "Triton" else COORDINATES
    cases = [*CASES, *SYMBOLIC, *SWIZZLED, *NEGATIVE, *DECREASING, *based]
    assert _agrees(peer, [case for case in cases if max(case.offsets()) < 1 << 31], tmp_path)


def test_sympy() -> None:
    for case in [*CASES, *SYMBOLIC, *SWIZZLED, *NEGATIVE, *DECREASING]:
        f = case.layout.to_sympy()
        places = itertools.product(*(range(size) for size in reversed(case.sizes())))
        by_name = {s: case.dims[s.name] for s in f.expr.free_symbols if s.name in case.dims}
        assert [int(f.xreplace(by_name)(*reversed(at))) for at in places] == case.offsets()


def test_a_swizzle_in_sympy_is_read_again() -> None:
    a = sl.ComposedLayout(sl.swizzle(2, 1, 3), 0, sl.layout("(8,8):(8,1)"))
    f = a.to_sympy()
    x = sl.tensor("64", name="x")
    assert sl.prove_equal(sl.from_sympy(x, (8, 8), f.variables, (f.expr,)), a.view(x)).verdict is sl.Verdict.PROVED


def test_cute_reads_its_own_text() -> None:
    for case in [*CASES, *SYMBOLIC[:-2], *SWIZZLED]:
        assert sl.layout(case.layout.to_cute()) == case.layout


def test_what_is_required_is_asserted() -> None:
    a = sl.layout("(M,(4,N/4)):(N,(1,4))").composition("(8,1):(1,0)")
    assert a.to_pycute().splitlines()[:-1] == [f"assert {r}" for r in ("N % 4 == 0", "M >= 8")]
    n, m = sl.dim("n", min=2, max=64, multiple_of=8), sl.dim("m")
    assert sl.layout((n, m), given="(m + n) % 3 == 0").to_cute_dsl().splitlines()[:-1] == [
        "n = cute.assume(n, divby=8)",
        "cute.testing.assert_(n >= 2)",
        "cute.testing.assert_(n <= 64)",
        "cute.testing.assert_((m + n) % 3 == 0)",
    ]


def test_each_language_has_both_kinds_of_layouts() -> None:
    for name in (n for n in vars(LayoutText) if n.startswith("to_")):
        assert all(getattr(case.layout, name)() for case in (CASES[0], SWIZZLED[0])), name


def test_coordinates_are_written_where_a_library_has_them() -> None:
    a = sl.layout((M, 4), (sl.E(0), (N + 1) * sl.E(1, 0)))
    made = "make_layout(make_shape(M, Int<4>{}), make_stride(E<0>{}, (N + Int<1>{})*E<1, 0>{}))"
    assert a.to_cute_cpp() == f"auto a = {made};"
    for refused in (a.to_pycute, a.to_triton, a.to_sympy):
        with pytest.raises(sl.ShapeError):
            refused()
    with pytest.raises(sl.ShapeError, match="several coordinates"):
        sl.layout(2, sl.E(0) + sl.E(1)).to_cute_dsl()


def test_names_are_free_in_the_language() -> None:
    a = sl.layout("(for,class):(class,1)")
    assert sl.layout("(a,offset):(offset,1)").to_pycute() == "a_ = Layout((a, offset), (offset, 1))"
    assert sl.layout("(a,offset):(offset,1)").to_triton() == "offset_ = i0*offset + i1"
    under = sl.layout("S<1,0,1> o n o (n,2):(1,n_)").to_tvm()
    assert under == "lambda i0, i1: [(n__ := i1*n_ + i0 + n) ^ ((n__ & 2) >> 1)]"
    assert a.to_triton(indices=("x", "y")) == "offset = class_*x + y"
    assert a.to_cute_cpp("b") == "auto b = make_layout(make_shape(for_, class_), make_stride(class_, Int<1>{}));"
    for wrong in ("class_", "a b", "int", ""):
        with pytest.raises(sl.FormatError):
            a.to_cute_cpp(wrong)
    with pytest.raises(sl.FormatError):
        sl.layout("(i,j):(j,1)").to_tvm(indices="ij")
    with pytest.raises(sl.ShapeError) as caught:
        a.to_triton(indices="xyz")
    assert caught.value.kind == "rank"
