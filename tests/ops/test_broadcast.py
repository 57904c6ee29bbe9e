"""Broadcasts of extents that are not known to be 1, against NumPy on every size."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout.ops.broadcast import broadcast_with

n, m, k = sl.dims("n m k")
SOME = (0, 1, 2, 3, 5)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("shape", "target"),
    [
        ((n,), (5,)),
        ((n, m), (k, 4)),
        ((n, 3), (2, n, 3)),
        ((n,), (0,)),
        ((m,), (1,)),
        ((2 * n,), (k,)),
        ((n,), (sl.dim("l", min=2),)),
        ((sympy.Min(n, 2),), (n,)),
        ((sympy.Min(n, 3), m), (n, sympy.Min(m, 2))),
    ],
    ids=str,
)
@pytest.mark.parametrize("both", [False, True])
def test_an_extent_that_may_be_1_is_broadcast_as_numpy_does(shape: Any, target: Any, both: bool) -> None:
    x = sl.tensor(shape, name="x")
    y = broadcast_with(x, target) if both else sl.broadcast_to(x, target)
    kernel = sl.compile(y, strict=True)
    dims = sorted({d for e in (*shape, *target) if not isinstance(e, int) for d in e.free_symbols}, key=str)
    for values in itertools.product(SOME, repeat=len(dims)):
        at = dict(zip(dims, values, strict=True))
        if any(value < d.min for d, value in at.items()):
            continue
        sizes, wanted = (tuple(e if isinstance(e, int) else int(e.subs(at)) for e in each) for each in (shape, target))
        array = np.arange(math.prod(sizes)).reshape(sizes)
        try:
            expected = np.broadcast_to(array, np.broadcast_shapes(sizes, wanted) if both else wanted)
        except ValueError:
            for call in (sl.interpret, lambda y, *a, **given: kernel(*a, **given)):
                with pytest.raises(sl.ShapeError) as caught:
                    call(y, array, dims=at)
                assert caught.value.kind == "size_mismatch"
            continue
        np.testing.assert_array_equal(sl.interpret(y, array, dims=at), expected)
        np.testing.assert_array_equal(kernel(array, dims=at), expected)
        assert y.subs({d: v for d, v in at.items() if d.name in y.facts.dims}).shape == expected.shape


@pytest.mark.parametrize("both", [False, True])
def test_a_slice_up_to_a_large_end_is_broadcast_where_it_is_everything(both: bool) -> None:
    whole = sl.tensor((n,), "float32", name="x")
    part = whole[: 10**9]
    y = sl.onnx.add(whole, part) if both else sl.broadcast_to(part, (n,))
    assert (y.shape, y.requires) == ((n,), (n <= 10**9,))
    assert sl.prove_equal(part if not both else sl.onnx.add(part, part), y).verdict is sl.Verdict.PROVED
    few = whole[:1]  # this one has an element that is repeated
    z = sl.onnx.add(whole, few) if both else sl.broadcast_to(few, (n,))
    assert z.subs({n: 3}).shape == (3,)


def test_a_broadcast_says_which_two_extents_an_axis_may_have() -> None:
    y = sl.broadcast_to(sl.tensor((n, m)), (k, m))
    assert [str(r) for r in y.requires] == ["k*n >= k", "Eq((-k + n)*(n - 1), 0)"]
    z = broadcast_with(sl.tensor((n, sl.dim("q", min=1))), (k, sl.dim("r", min=1)))
    assert str(z.shape) == "(Min(k*n, Max(k, n)), Max(q, r))"
    x = sl.tensor((n,))
    p = sl.prove_equal(sl.broadcast_to(sl.broadcast_to(x, (5,)), (2, 5)), sl.broadcast_to(x, (2, 5)))
    assert p.verdict is sl.Verdict.PROVED
    sl.check(p.certificate)


@pytest.mark.parametrize("least", [0, 1])
def test_an_extent_that_is_broadcast_again_with_its_parts_stays_the_same_and_takes_no_search(least: int) -> None:
    a, b, c = sl.dims("a b c", min=least)
    y = broadcast_with(broadcast_with(sl.tensor((a,)), (b,)), (c,))
    assert str(y.shape) == ("(Max(a, b, c),)" if least else "(Min(a*b*c, Max(a, b, c)),)")
    again, goals = y, y.facts.effort
    for n in (a, b, c):
        again = broadcast_with(again, (n,))
    assert (again.shape, again.requires, again.facts.effort) == (y.shape, y.requires, goals)
    for z in (broadcast_with(y, y.shape), sl.broadcast_to(y, y.shape), sl.onnx.add(y, sl.tensor((b,)))):
        assert (z.shape, z.requires) == (y.shape, y.requires)


def test_a_joint_extent_is_one_whatever_the_order_of_its_parts() -> None:
    parts = sl.dims("a b c")
    shapes = set()
    for first, *others in itertools.permutations(parts):
        y = sl.tensor((first,))
        for n in others:
            y = broadcast_with(y, (n,))
        shapes.add(y.shape)
        for values in itertools.product((0, 1, 2, 3), repeat=3):
            at = dict(zip(parts, values, strict=True))
            try:
                (expected,) = np.broadcast_shapes(*((v,) for v in values))
            except ValueError:
                with pytest.raises(sl.ShapeError):
                    y.subs(at)
            else:
                assert y.shape[0].subs(at) == expected
                assert y.subs(at).shape == (expected,)
    assert len(shapes) == 1


def test_an_extent_that_only_looks_like_a_joint_one_requires_that_it_fits() -> None:
    a, b = sl.dims("a b")
    x = sl.tensor((sympy.Min(a * b, sympy.Max(a, b)),))
    for y in (broadcast_with(x, (a,)), sl.broadcast_to(sl.tensor((a,)), x.shape)):
        assert y.requires
        with pytest.raises(sl.ShapeError):
            y.subs({a: 2, b: 3})
    z = broadcast_with(sl.tensor((a, sympy.Max(a, b))), (b, a))  # if a is 0, the maximum may be 1
    assert [e.subs({a: 0, b: 1}) for e in z.shape] == [0, 0]


@pytest.mark.slow
def test_an_extent_that_is_0_or_1_multiplies_what_it_is_broadcast_with() -> None:
    a, b = sl.dims("a b")
    first = sl.tensor((b,))[:1]  # one element, or none
    y = broadcast_with(first, (a,))
    other = broadcast_with(sl.tensor((a,)), y.shape)  # whose facts do not say that a is at most 1 if b is 0
    for z in (y, broadcast_with(y, (a,)), broadcast_with(y, first.shape), other):
        assert str(z.shape) == "(a*b - a*Max(0, b - 1),)"
        assert len(z.requires) == 1
        for n, m in itertools.product((0, 1, 2, 3), repeat=2):
            fits = m > 0 or n < 2
            assert all(r.subs({a: n, b: m}) for r in z.requires) == fits
            if fits:
                assert (z.shape[0].subs({a: n, b: m}),) == np.broadcast_shapes((n,), (min(m, 1),))
    assert not sl.broadcast_to(first, y.shape).requires
