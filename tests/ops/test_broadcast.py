"""Broadcasts of extents that are not known to be 1, against NumPy on every size."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

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


def test_a_broadcast_says_which_two_extents_an_axis_may_have() -> None:
    y = sl.broadcast_to(sl.tensor((n, m)), (k, m))
    assert [str(r) for r in y.requires] == ["k*n >= k", "Eq((-k + n)*(n - 1), 0)"]
    z = broadcast_with(sl.tensor((n, sl.dim("q", min=1))), (k, sl.dim("r", min=1)))
    assert str(z.shape) == "(Min(k*n, Max(k, n)), Max(q, r))"
    x = sl.tensor((n,))
    p = sl.prove_equal(sl.broadcast_to(sl.broadcast_to(x, (5,)), (2, 5)), sl.broadcast_to(x, (2, 5)))
    assert p.verdict is sl.Verdict.PROVED
    sl.check(p.certificate)
