"""`solve_shape` gives exactly the inputs that have an output shape: by enumeration, and for named cases."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections import Counter
from typing import Any

import pytest

import symlayout as sl
from symlayout.tensors.shape_solver import solve_shape
from tests.tensors.test_requirements import bounded_case

N, H, W, C, M = sl.dims("N H W C M")
B, P = sl.dim("b", min=1), sl.dim("p")
X = sl.tensor((N, H, W, C), name="x")
PADDED = sl.space_to_batch(X, [2, 2], [[1, 1], [1, 1]])
SYMBOLIC = sl.space_to_batch(X, [B, B], [[P, P], [0, 0]])

Entry = Any


def asked(rnd: random.Random, shape: tuple[int, ...]) -> list[Entry]:
    """Return an output shape near one that there is: some entries open, some intervals, one perhaps wrong."""
    entries: list[Entry] = list(shape)
    for k, n in enumerate(shape):
        change = rnd.random()
        if change < 0.2:
            entries[k] = None
        elif change < 0.3:
            entries[k] = (max(0, n - 1), rnd.choice((n, n + 1, None)))
        elif change < 0.45:
            entries[k] = max(0, n + rnd.choice((-1, 1)))
    return entries


def allows(entry: Entry, n: int) -> bool:
    if isinstance(entry, tuple):
        return bool(entry[0] <= n and (entry[1] is None or n <= entry[1]))
    return entry is None or bool(entry == n)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 240, 40))
def test_the_solutions_are_those_that_enumeration_finds(first: int) -> None:
    counts: Counter[sl.Status] = Counter()
    for seed in range(first, first + 40):
        rnd = random.Random(seed)
        if (case := bounded_case(seed)) is None:
            continue
        t, shapes = case
        if not shapes:
            continue
        for _ in range(3):
            entries = asked(rnd, rnd.choice(list(shapes)))
            true = [p for shape, found in shapes.items() if all(map(allows, entries, shape)) for p in found]
            solution = solve_shape(t, entries)
            counts[solution.status] += 1
            check(t, solution, true, [p for found in shapes.values() for p in found], f"{seed}: {entries}")
    assert min(counts[s] for s in (sl.Status.UNIQUE, sl.Status.FAMILY, sl.Status.NONE)) > 2
    assert not counts[sl.Status.UNKNOWN]


def check(t: sl.Tensor, s: sl.Solution, true: list[dict[str, int]], points: list[dict[str, int]], label: str) -> None:
    """Check a solution against all sizes that there are, and those that give the shape."""
    named = [{d.name: d for d in s.dims}[name] for name in t.facts.dims] if s.dims else []
    values = {tuple(p[name] for name in t.facts.dims) for p in true}
    assert (s.status is sl.Status.NONE) is (not values), label
    if s.status is sl.Status.NONE:
        assert s.reason, label
        return
    assert (s.status is sl.Status.UNIQUE) is (len(values) == 1), label
    if s.points is not None:
        assert {tuple(p[d] for d in named) for p in s.points} == values, label
    for p in points[:40]:
        at = {d: p[d.name] for d in named}
        meets = all(subs(value, at) == at[d] for d, value in s.dims.items())
        meets = meets and all(bool(r.subs(at)) for r in s.relations)
        assert meets is (tuple(at.values()) in values), f"{label} at {p}"
        if meets:
            assert [tuple(subs(e, at) for e in shape) for shape in s.inputs.values()] == leaf_shapes(t, p), label


def subs(e: Any, at: dict[Any, int]) -> Any:
    return e if isinstance(e, int) else e.subs(at)


def leaf_shapes(t: sl.Tensor, p: dict[str, int]) -> list[tuple[int, ...]]:
    at = {name: p[name] for name in t.facts.dims}
    return [leaf.shape for leaf in t.subs(at).leaves()]


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("y", "shape", "text"),
    [
        (PADDED, (8, 5, 3, 1), "unique: N = 2, H = 8, W = 4, C = 1"),
        (PADDED, (8, None, 3, -1), "family: N = 2, W = 4 where Eq(Mod(H, 2), 0)"),
        (PADDED, (4 * N, M + 1, None, C), "family: H = 2*M where Eq(Mod(W, 2), 0)"),
        (PADDED, "4*N, m, ?, 3", "family: H = 2*m - 2, C = 3 where m >= 1, Eq(Mod(W, 2), 0)"),
        (PADDED, (8, (2, 4), 3, 1), "family: N = 2, W = 4, C = 1 where Eq(Mod(H, 2), 0), H >= 2, H <= 6"),
        (PADDED, (4 * N, M + 1, W + 1, C), "unique: H = 2*M, W = 0 where Eq(W, 0)"),
        (SYMBOLIC, (5, 3, 2, 1), "family: N = 5, H = 3 - 2*p, W = 2, C = 1, b = 1 where p <= 1"),
        (SYMBOLIC, (12, 3, 2, 1), "family: H = 3*b - 2*p, W = 2*b, C = 1 where 3*b >= 2*p, Eq(N*b**2, 12)"),
        (sl.reshape(sl.tensor((H, W)), (-1,)), (1,), "unique: H = 1, W = 1"),
        (X[:3], (2, 1, 1, 1), "unique: N = 2, H = 1, W = 1, C = 1"),
        (sl.concatenate([sl.tensor((H, 2)), sl.tensor((W, 2))]), (5, 2), "family: W = 5 - H where H <= 5"),
        (sl.pad(sl.tensor((2 * H, 3 * H)), [(1, 0), (0, 0)]), (5, 6), "unique: H = 2"),
        (sl.tensor(()), (), "unique: all sizes"),
        (sl.tensor((3, 4)), (3, 4), "unique: all sizes"),
    ],
    ids=str,
)
def test_solutions_read_as_people_write_them(y: sl.Tensor, shape: Any, text: str) -> None:
    assert str(solve_shape(y, shape)) == text


def test_products_are_solved_by_the_divisors() -> None:
    flat = sl.reshape(sl.tensor((H, W), name="x"), (-1,))
    s = solve_shape(flat, (12,))
    assert s.status is sl.Status.FAMILY
    assert s.points is not None
    assert [(p[H], p[W]) for p in s.points] == [(1, 12), (2, 6), (3, 4), (4, 3), (6, 2), (12, 1)]
    assert str(s.relations) == "(Eq(H*W, 12),)"
    assert s.inputs == {"x": (H, W)}
    unbounded = solve_shape(flat, (0,))
    assert unbounded.status is sl.Status.FAMILY
    assert unbounded.points is None


def test_the_points_of_blocks_that_divide_twice() -> None:
    s = solve_shape(SYMBOLIC, (12, 3, 2, 1))
    assert s.points is not None
    found = [(p[N], p[H], p[W], p[B], p[P]) for p in s.points]
    assert found == sorted((n, 3 * b - 2 * p, 2 * b, b, p) for b, n in ((1, 12), (2, 3)) for p in range(3 * b // 2 + 1))


@pytest.mark.parametrize(
    ("y", "shape", "reason"),
    [
        (PADDED, (6, 5, 3, 1), "no sizes allow axis 0, which is 4*N, to be 6"),
        (PADDED, (8, 0, 3, 1), "no sizes allow axis 1, which is (H + 2)/2, to be 0"),
        (
            sl.pad(sl.tensor((2 * H, 3 * H, W)), [(1, 0), (0, 0), (0, 0)]),
            (5, 9, 1),
            "no sizes allow axis 0, which is 2*H + 1, to be 5 and axis 1, which is 3*H, to be 9",
        ),
        (sl.reshape(sl.tensor((sl.dim("H", min=4), W + 3)), (-1,)), (11,), "no sizes allow axis 0, "),
        (X[:3], (4, 1, 1, 1), "no sizes allow axis 0, which is min(3, N), to be 4"),
        (sl.tensor((3, 4)), (3, 5), "no sizes allow axis 1, which is 4, to be 5"),
        (sl.tensor((H,)), ((5, 4),), "no sizes allow axis 0, which is H, to be 5 to 4"),
        (PADDED, (8, (0, 0), None, None), "no sizes allow axis 1, which is (H + 2)/2, to be 0"),
    ],
    ids=str,
)
def test_why_there_is_no_solution_names_the_axes_that_conflict(y: sl.Tensor, shape: Any, reason: str) -> None:
    s = solve_shape(y, shape)
    assert s.status is sl.Status.NONE
    assert s.reason.startswith(reason)
    assert (s.dims, s.relations, s.points, s.inputs) == ({}, (), None, {})


@pytest.mark.parametrize(
    ("shape", "error", "kind"),
    [
        ((8, 5, 3), sl.ShapeError, "rank"),
        ((8, 5, 3, 1, 1), sl.ShapeError, "rank"),
        ((8, -2, 3, 1), sl.ShapeError, "infeasible"),
        (("a", 5, 3, 1), sl.ShapeError, "attr_dtype"),
        ((8.0, 5, 3, 1), sl.ShapeError, "attr_dtype"),
        ((8, (1, 2, 3), 3, 1), sl.ShapeError, "length_mismatch"),
        ((8, sl.dim("H", min=1), 3, 1), sl.ShapeError, "dim_conflict"),
        ("8, 5, 3", sl.ShapeError, "rank"),
        ("8, 5,, 3", sl.FormatError, None),
    ],
    ids=str,
)
def test_what_is_no_output_shape_is_refused(shape: Any, error: type[Exception], kind: str | None) -> None:
    with pytest.raises(error) as caught:
        solve_shape(PADDED, shape)
    assert getattr(caught.value, "kind", None) == kind


def test_a_status_is_compared_and_not_tested_for_truth() -> None:
    with pytest.raises(TypeError):
        bool(solve_shape(X, (1, 2, 3, 4)).status)


def test_the_dims_of_the_output_shape_are_what_the_others_are_written_in() -> None:
    s = solve_shape(sl.space_to_depth(X, 2, depth_axis=3, spatial_axes=[1, 2]), (N, M, M + 1, 4 * C))
    assert s.status is sl.Status.UNIQUE
    assert s.dims == {N: N, H: 2 * M, W: 2 * M + 2, C: C}
    assert s.inputs == {"x": (N, 2 * M, 2 * M + 2, C)}
    assert s.relations == ()


# -- output shapes with a dim of their own, against enumeration

n4, m4 = sl.dims("n m", max=4)
b3, p2, t9 = sl.dim("b", min=1, max=3), sl.dim("p", max=2), sl.dim("t", max=9)
XNM = sl.tensor((n4, m4), name="x")
MADE = {
    "pad": sl.pad(XNM, [(p2, 1), (0, p2)]),
    "blocks": sl.space_to_batch(sl.tensor((n4, 2 * m4, 3), name="x"), [b3], [[p2, p2]]),
    "slice": XNM[1:3, ::2],
    "window": sl.window(sl.tensor((n4 + 2, m4), name="x"), 2, 0, strides=b3),
    "broadcast": sl.broadcast_to(XNM, (b3, 3, m4)),
    "reshape": sl.reshape(XNM, (-1, 2)),
    "pack": sl.pack(XNM, 1, b3),
    "reversed": sl.onnx.slice(XNM, [-2], [-4], [0], [-1]),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", MADE)
def test_solutions_in_a_dim_of_the_output_shape_are_those_that_enumeration_finds(name: str) -> None:
    y, rnd = MADE[name], random.Random(name)
    dims = list(y.facts.dims.values())
    shapes: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for sizes in itertools.product(*(range(d.nearest(), (d.max or 0) + 1) for d in dims)):
        with contextlib.suppress(sl.ShapeError):
            shape = y.subs({d.name: n for d, n in zip(dims, sizes, strict=True)}).shape
            shapes.setdefault(shape, []).append(sizes)
    everywhere = [(sizes, t) for found in shapes.values() for sizes in found for t in range(10)]
    for _ in range(8):
        entries = [rnd.choice((t9, t9 + 1, None, n, n)) for n in rnd.choice(list(shapes))]
        true = {
            (sizes, t)
            for t in range(10)
            for shape, found in shapes.items()
            if all(e is None or subs(e, {t9: t}) == n for e, n in zip(entries, shape, strict=True))
            for sizes in found
        }
        s = solve_shape(y, entries)
        assert (s.status is sl.Status.NONE) is (not true), entries
        named = {d.name: d for d in s.dims}
        chosen = rnd.sample(sorted(true), min(6, len(true))) + rnd.sample(everywhere, 12)
        for sizes, t in chosen if s.dims else ():
            at = {named[d.name]: n for d, n in zip(dims, sizes, strict=True)} | {t9: t}
            meets = all(subs(value, at) == at[d] for d, value in s.dims.items())
            meets = meets and all(bool(r.subs(at)) for r in s.relations)
            assert meets is ((sizes, t) in true), f"{entries}: {s} at {at}"
