"""How the shapes of arrays tell the dims of a kernel."""

from __future__ import annotations

import symlayout as sl
from symlayout.run.bound_kernels import solve


def test_each_dim_is_solved_from_an_axis_that_has_only_this_dim() -> None:
    x = sl.tensor("n*m, 2*n + 3, m, 5", name="x")
    solved = solve(x[:, ::-1], [x])
    assert solved is not None
    found = {s.dim: (s.axis, s.times, s.plus, s.by) for s in solved}
    assert found == {"n": (1, 1, 3, 2), "m": (2, 1, 0, 1)}


def test_dims_that_no_axis_shows_alone_are_not_solved() -> None:
    x = sl.tensor("n*m, m", name="x")
    y = sl.tensor("n*m, 3", name="y")
    assert solve(x, [x]) is None
    assert solve(y, [y]) is None
