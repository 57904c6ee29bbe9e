"""Constants as operands, gathers by constant indices, updates and interior pads: NumPy's and JAX's values, proofs."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.ops.full import constant
from symlayout.ops.slicing import updated_slice
from symlayout.ops.take import take

N, W, P, S = sl.dims("N W p s")
A = sl.dim("a", min=None)
X = sl.tensor((N, W), name="x")


def agree(t: sl.Tensor, expected: np.ndarray[Any, Any], *arrays: Any, **options: Any) -> None:
    """Assert that interpreter and kernel both compute *expected*."""
    found = sl.interpret(t, *arrays, **options)
    assert (found.dtype, found.shape, found.tolist()) == (expected.dtype, expected.shape, expected.tolist())
    assert sl.compile(t, strict=True)(*arrays, **options).tolist() == expected.tolist()


# ---------------------------------------------------------------------- full


def test_a_constant_is_an_operand_of_every_size() -> None:
    t = sl.concatenate([X, sl.full((2, W), 7)])
    assert t.shape == (N + 2, W)
    assert t.requires == ()
    assert [leaf.name for leaf in t.leaves()] == ["x"]
    for n, w in itertools.product(range(3), range(3)):
        data = np.arange(n * w, dtype="i2").reshape(n, w)
        agree(t, np.concatenate([data, np.full((2, w), 7, "i2")]), data)
    proof = sl.prove_equal(t, sl.pad(X, ((0, 2), (0, 0)), constant_values=7))
    assert proof.verdict is sl.Verdict.PROVED
    sl.check(proof.certificate)
    other = sl.prove_equal(t, sl.pad(X, ((0, 2), (0, 0)), constant_values=8))
    assert other.verdict is sl.Verdict.REFUTED


def test_a_constant_alone_takes_its_sizes_from_dims_and_its_type_from_dtype() -> None:
    t = sl.full((N, 3), 5, "int16")
    agree(t, np.full((4, 3), 5, "int16"), dims={N: 4})
    agree(t.subs({N: 2})[:, ::2], np.full((2, 2), 5, "int16"))
    assert str(t.index_map) == "(i0, i1) -> 5"
    assert pickle.loads(pickle.dumps(t)).shape == (N, 3)
    with pytest.raises(sl.ArrayError, match="pass dtype= to full"):
        sl.interpret(sl.full((2,), 5))


def test_a_constant_has_an_element_type_like_any_operand() -> None:
    t = sl.concatenate([sl.full((2,), 1, "float32"), sl.tensor("N", name="x")])
    assert t.dtype == np.float32
    with pytest.raises(sl.ArrayError, match="declared is float32"):
        sl.interpret(t, np.arange(3))
    with pytest.raises(sl.ArrayError, match="declared is float32"):
        sl.compile(t)(np.arange(3))
    with pytest.raises(sl.ArrayError, match="does not fit int8"):
        sl.full((2,), 200, "int8")
    for shape, value, kind in (((2,), N, "attr_dtype"), ((-1,), 0, "infeasible"), ((1.5,), 0, "attr_dtype")):
        with pytest.raises(sl.ShapeError) as caught:
            sl.full(shape, value)
        assert caught.value.kind == kind
    assert constant.__name__ == "constant"


# ---------------------------------------------------------------------- take

INDICES: dict[str, Any] = {
    "none": [],
    "one": [3],
    "a scalar": 2,
    "a run": [1, 2, 3],
    "a run down": [5, 3, 1],
    "the same": [2, 2, 2],
    "two runs": [0, 1, 2, 5, 4, 3],
    "no run": [0, 4, 1, 5, 5, 2, 0],
    "from the end": [-1, -2, 0],
    "affine in two axes": [[0, 1, 2], [2, 3, 4]],
    "a row that differs": [[0, 1], [3, 3], [1, 2], [2, 3]],
    "from both ends": [0, 1, 2, 1, -1, 0],
    "a table": [k * k % 11 % 6 - 3 * (k % 2) for k in range(20)],
    "a table from the end": [k * k % 11 % 3 - 3 for k in range(20)],
    "a table of two axes": [[k * k % 11 % 6, k % 5, k * k * k % 7 % 6] for k in range(9)],
    "three axes": [[[0, 5], [1, 4]], [[1, 5], [2, 4]]],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", INDICES)
def test_take_is_numpys(name: str) -> None:
    indices = INDICES[name]
    for axis, n, w in ((0, 6, 2), (1, 2, 6), (-1, 3, 7), (None, 3, 4)):
        data = np.arange(n * w).reshape(n, w)
        agree(sl.take(X, indices, axis), data.take(np.asarray(indices, int), axis), data)


@pytest.mark.parametrize(
    ("indices", "pieces"), [("affine in two axes", 1), ("a run down", 1), ("two runs", 2), ("a row that differs", 3)]
)
def test_runs_of_indices_become_pieces(indices: str, pieces: int) -> None:
    assert len(take(X, INDICES[indices], 0).declared.cases) == pieces  # type: ignore[union-attr]


def test_taking_all_rows_in_turn_is_proved_to_be_what_it_is() -> None:
    x = sl.tensor((6, W), name="x")
    assert sl.prove_equal(sl.take(x, [5, 4, 3, 2, 1, 0], 0), sl.flip(x, 0)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(sl.take(x, [3, 4, 5, 0, 1, 2], 0), sl.roll(x, 3, 0)).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(sl.take(x, [3, 4, 5, 0, 2, 1], 0), sl.roll(x, 3, 0)).verdict is sl.Verdict.REFUTED
    again = sl.take(sl.take(x, [2, 0, 1, 5, 3, 4], 0), [1, 2, 0, 4, 5, 3], 0)
    assert sl.prove_equal(again, x).verdict is sl.Verdict.PROVED


def test_indices_are_required_to_be_inside() -> None:
    t = sl.take(X, [0, 3, P], axis=0)
    assert str(t.requires) == "(N >= 4, N >= p + 1)"
    with pytest.raises(sl.ShapeError) as caught:
        t.subs({N: 3})
    assert caught.value.kind == "bad_axis"
    for indices, kind in (
        ([0, 6], "bad_axis"),
        ([-7], "bad_axis"),
        ([[1], [1, 2]], "length_mismatch"),
        ([0.5], "attr_dtype"),
    ):
        with pytest.raises(sl.ShapeError) as caught:
            sl.take(sl.tensor((6,)), indices, 0)
        assert caught.value.kind == kind
    most = sl.limits.take_pieces
    with pytest.raises(sl.ShapeError, match=f"{most + 1} pieces, more than {most}"):
        sl.take(sl.tensor((9,)), [P, *(k % 3 // 2 for k in range(2 * most))], 0)


# ---------------------------------------------------------------------- update_slice


@pytest.mark.slow
@pytest.mark.parametrize("start", [(0, 0), (1, 0), (-2, 1), (99, -99), (A, 0), (P, A), (N - 2, W - 1)], ids=str)
def test_update_slice_clamps_as_jax_does(start: tuple[Any, ...]) -> None:
    t = sl.update_slice(X, sl.tensor((2, 1), name="u"), start)
    assert set(t.requires) == set(sl.tensor((N + 2, W + 1))[2:, 1:].requires) | {N >= 2, W >= 1}
    kernel = sl.compile(t, strict=True)
    u = np.array([[-1], [-2]])
    for n, w, a, p in itertools.product((2, 5), (1, 3), (-9, -2, 0, 1, 9), (0, 2)):
        data, values = np.arange(n * w).reshape(n, w), {A: a, P: p, N: n, W: w}
        at = [int(e.subs(values)) if hasattr(e, "subs") else e for e in start]
        first = [min(max(k + m if k < 0 else k, 0), m - s) for k, m, s in zip(at, (n, w), (2, 1), strict=True)]
        expected = data.copy()
        expected[first[0] : first[0] + 2, first[1] : first[1] + 1] = u
        dims = {d: v for d, v in values.items() if d.name in t.facts.dims}
        assert sl.interpret(t, x=data, u=u, dims=dims).tolist() == expected.tolist()
        assert kernel(x=data, u=u, dims=dims).tolist() == expected.tolist()


def test_jax_agrees() -> None:
    lax = pytest.importorskip("jax.lax")
    u = sl.tensor((2,), name="u")
    data, new = np.arange(5, dtype="f4"), np.array([-1, -2], "f4")
    for start in range(-8, 8):
        t = sl.update_slice(sl.tensor("N", name="x"), u, (start,))
        expected = np.asarray(lax.dynamic_update_slice(data, new, (start,)))
        assert sl.interpret(t, x=data, u=new).tolist() == expected.tolist(), start
    b = sl.dim("b", min=None)
    t = sl.pad(sl.tensor("N", name="x"), (A, b), constant_values=9, interior=S)
    kernel = sl.compile(t, strict=True)
    for before, after, gap, n in itertools.product((-2, 0, 1), (-1, 0, 2), (0, 1, 3), (0, 1, 4)):
        dims = {A: before, b: after, S: gap}
        try:
            expected = np.asarray(lax.pad(data[:n], np.float32(9), [(before, after, gap)]))
        except (TypeError, ValueError):  # nothing is left
            with pytest.raises(sl.ShapeError):
                kernel(data[:n], dims=dims)
            continue
        assert kernel(data[:n], dims=dims).tolist() == expected.tolist(), dims
        assert sl.interpret(t, data[:n], dims=dims).tolist() == expected.tolist(), dims


def test_what_is_written_is_read_back_and_the_rest_stays() -> None:
    u = sl.tensor((2, W), name="u")
    x = sl.tensor((N + 5, W), name="x")
    t = sl.update_slice(x, u, (3, 0))
    assert sl.prove_equal(t[3:5], u).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(t[:3], x[:3]).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(t, sl.concatenate([x[:3], u, x[5:]])).verdict is sl.Verdict.PROVED
    assert sl.prove_equal(sl.update_slice(x, x, (P, A)), x).verdict is sl.Verdict.PROVED
    proof = sl.prove_equal(t[5:], x[5:])
    assert proof.verdict is sl.Verdict.PROVED
    sl.check(proof.certificate)
    assert updated_slice.__name__ == "updated_slice"


def test_an_update_fits_its_operand() -> None:
    for shape, starts, kind in (
        ((4, 3), (0, 0), "size_mismatch"),
        ((3,), (0,), "rank"),
        ((1, 1), (0,), "length_mismatch"),
        ((1, 1), (0, 0.5), "attr_dtype"),
    ):
        with pytest.raises(sl.ShapeError) as caught:
            sl.update_slice(sl.tensor((3, 3)), sl.tensor(shape), starts)
        assert caught.value.kind == kind


# ---------------------------------------------------------------------- interior pads


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [(0, 0), (1, 0), (0, 2), (2, 1), (S, 1)], ids=str)
@pytest.mark.parametrize("widths", [((0, 0), (0, 0)), ((1, 2), (P, 0)), ((-1, 1), (0, -1))], ids=str)
def test_an_interior_pad_spreads_the_elements(gaps: Any, widths: Any) -> None:
    t = sl.pad(X, widths, constant_values=9, interior=gaps)
    kernel = sl.compile(t, strict=True)
    for n, w, p, s in itertools.product((0, 1, 3), (1, 2), (0, 2), (0, 1, 3)):
        values = {P: p, S: s}
        (g0, g1), ((a, b), (c, d)) = (
            tuple(values.get(e, e) for e in gaps),
            tuple(tuple(values.get(e, e) for e in pair) for pair in widths),
        )
        data = np.arange(n * w).reshape(n, w)
        spread = np.full((max(n + (n - 1) * g0, 0), max(w + (w - 1) * g1, 0)), 9)
        spread[:: g0 + 1, :: g1 + 1] = data
        if min(spread.shape[0] + a + b, spread.shape[1] + c + d) < 0:
            continue
        grown = np.pad(spread, [(max(e, 0), max(f, 0)) for e, f in ((a, b), (c, d))], constant_values=9)
        expected = grown[max(-a, 0) : grown.shape[0] - max(-b, 0), max(-c, 0) : grown.shape[1] - max(-d, 0)]
        if (len(spread) + a + b, spread.shape[1] + c + d) != expected.shape:
            continue  # one side removes what the other added
        dims = {e: v for e, v in values.items() if e.name in t.facts.dims}
        assert sl.interpret(t, data, dims=dims).tolist() == expected.tolist()
        assert kernel(data, dims=dims).tolist() == expected.tolist()


def test_a_stride_undoes_an_interior_pad() -> None:
    t = sl.pad(X, 1, interior=(S, 2))
    proof = sl.prove_equal(t[1 :: S + 1, 1:-1:3][:N], X)
    assert proof.verdict is sl.Verdict.PROVED
    sl.check(sl.prove_equal(sl.pad(X, 1, interior=1)[1:-1:2, 1:-1:2], X).certificate)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"interior": -1}, "negative_pad"),
        ({"interior": 1, "mode": "edge"}, "bad_mode"),
        ({"interior": 1, "constant_values": [(1, 2)]}, "bad_mode"),
        ({"interior": (1, 2)}, "length_mismatch"),
        ({"interior": 0.5}, "attr_dtype"),
    ],
    ids=str,
)
def test_interior_is_refused(options: Any, kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.pad(sl.tensor("N"), 1, **options)
    assert caught.value.kind == kind
