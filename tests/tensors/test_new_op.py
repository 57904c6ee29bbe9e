"""An operation that nobody built in: declared in coordinates, here, and everything follows from it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout.declare import Declared, Fill, Operand, index_map


@sl.operation
def shear(x: Operand, step: object) -> Declared:
    """Rotate row ``i`` of a matrix by ``step*i`` places: ``y[i, j] = x[i, (j + step*i) % n]``."""
    rows, n = x.shape
    s = x.extent(step, "step")
    return index_map((rows, n), lambda i, j: (i, (j + i * s) % n))


@sl.operation
def unfold_blocks(x: Operand, block: object, shift: object) -> Declared:
    """Cut a vector, moved by *shift* with zeros before it, into rows of *block*."""
    (n,) = x.shape
    b, s = x.extent(block), x.extent(shift)
    x.require(b - 1, "block_lt_1", "the block is not >= 1")
    return index_map((x.divide(n + s, b), b), lambda i, j: (i * b + j - s,), fill=Fill(0))


@pytest.fixture
def dims() -> dict[str, sympy.Symbol]:
    names = {name: sl.dim(name) for name in ("H", "W", "s", "n")}
    return {**names, "b": sl.dim("b", min=1)}


def test_it_has_a_shape_and_requirements(dims: dict[str, sympy.Symbol]) -> None:
    n, b, s = dims["n"], dims["b"], dims["s"]
    y = unfold_blocks(sl.tensor((n,), name="x"), b, s)
    assert y.shape == ((n + s) / b, b)
    assert y.requires == (sympy.Eq(sympy.Mod(n + s, b), 0),)
    assert str(y.index_map) == "(i0, i1) -> (i0*b + i1 - s) if 0 <= i0*b + i1 - s < n else 0"
    assert unfold_blocks(sl.tensor((10,)), 4, 2).shape == (3, 4)


@pytest.mark.parametrize(("block", "shift", "kind"), [(0, 0, "block_lt_1"), (4, 1, "non_divisible")])
def test_its_rules_have_the_same_kind_early_and_late(
    dims: dict[str, sympy.Symbol], block: int, shift: int, kind: str
) -> None:
    with pytest.raises(sl.ShapeError) as early:
        unfold_blocks(sl.tensor((10,)), block, shift)
    y = unfold_blocks(sl.tensor((dims["n"],), name="x"), sl.dim("b"), dims["s"])
    with pytest.raises(sl.ShapeError) as late:
        sl.interpret(y, np.zeros(10), dims={"b": block, "s": shift})
    assert (early.value.kind, late.value.kind) == (kind, kind)


@pytest.mark.parametrize("step", [0, 1, 3])
def test_interpreter_and_kernel_agree_with_numpy(dims: dict[str, sympy.Symbol], step: int) -> None:
    x = np.arange(20, dtype=np.int16).reshape(4, 5)
    expected = np.stack([np.roll(row, -step * i) for i, row in enumerate(x)])
    y = shear(sl.tensor((dims["H"], dims["W"]), name="x"), dims["s"])
    assert np.array_equal(sl.interpret(y, x, dims={"s": step}), expected)
    assert np.array_equal(sl.compile(y, strict=True)(x, dims={"s": step}), expected)


def test_a_kernel_fills_what_lies_outside(dims: dict[str, sympy.Symbol]) -> None:
    y = unfold_blocks(sl.tensor((dims["n"],), name="x"), dims["b"], dims["s"])
    kernel = sl.compile(y, strict=True)
    x = np.arange(1, 11, dtype=np.uint8)
    assert kernel(x, dims={"b": 4, "s": 2}).tolist() == [[0, 0, 1, 2], [3, 4, 5, 6], [7, 8, 9, 10]]


@sl.operation
def rows_apart(x: Operand, rows: object, columns: object, start: int, step: int, turn: int) -> Declared:
    """Return ``y[i, j] = x[start + step*i + turn*j]``, and 7 where that is outside."""
    domain = (x.extent(rows), x.extent(columns))
    return index_map(domain, lambda i, j: (start + step * i + turn * j,), fill=Fill(7))


@pytest.mark.sample(2)
@pytest.mark.parametrize(("start", "step", "turn"), [(0, 3, 1), (3, -3, -1), (-57, 3, 1), (60, -3, -1)])
def test_rows_that_lie_far_beyond_the_ends_are_filled_alone(
    dims: dict[str, sympy.Symbol], start: int, step: int, turn: int
) -> None:
    y = rows_apart(sl.tensor((dims["n"],), name="x"), dims["H"], dims["W"], start, step, turn)
    x = np.arange(10, 14, dtype=np.uint8)
    memory = np.zeros(240, np.uint8)
    out = memory[100:140].reshape(20, 2)
    sl.compile(y, strict=True)(x, out=out, dims={"H": 20, "W": 2})
    places = start + step * np.arange(20)[:, None] + turn * np.arange(2)
    expected = np.where((places >= 0) & (places < 4), x[np.clip(places, 0, 3)], 7)
    assert (expected != 7).any()
    assert np.array_equal(out, expected)
    assert not memory[:100].any()
    assert not memory[140:].any()


@sl.operation
def slanted(x: Operand, rows: object, columns: object, down: object, along: object) -> Declared:
    """Return ``y[i, j] = x[down*i + (along - 2)*j]``, and 7 where that is outside."""
    a, b = x.extent(down), x.extent(along)
    return index_map((x.extent(rows), x.extent(columns)), lambda i, j: (i * a + j * (b - 2),), fill=Fill(7))


def test_steps_of_any_sign_are_bounded(dims: dict[str, sympy.Symbol]) -> None:
    down, along = sl.dims("down along")
    kernel = sl.compile(slanted(sl.tensor((dims["n"],), name="x"), dims["H"], dims["W"], down, along), strict=True)
    x = np.arange(10, 14, dtype=np.uint8)
    i, j = np.ogrid[:9, :7]
    for a, b in itertools.product((0, 1, 3, 20), range(6)):
        memory = np.zeros(463, np.uint8)
        out = memory[200:263].reshape(9, 7)
        kernel(x, out=out, dims={"H": 9, "W": 7, "down": a, "along": b})
        places = a * i + (b - 2) * j
        assert np.array_equal(out, np.where((places >= 0) & (places < 4), x[np.clip(places, 0, 3)], 7)), (a, b)
        assert not memory[:200].any()
        assert not memory[263:].any()


@sl.operation
def patches(x: Operand, rows: int, columns: int, count: int, apart: int) -> Declared:
    """Return ``y[j, i, k] = x[6*i + apart*j + k]``."""
    return index_map((rows, columns, count), lambda j, i, k: (6 * i + apart * j + k,))


@pytest.mark.parametrize(("beside", "apart"), [(0, 1), (1, 1), (2, 1), (0, 2)])
def test_short_rows_that_overlap_keep_their_places_beside_others(beside: int, apart: int) -> None:
    x, z = np.arange(64, dtype="i4"), np.full((9, 8, beside), -1, "i4")
    y = sl.concatenate([patches(sl.tensor((64,), name="x"), 9, 8, 3, apart), sl.tensor(z.shape, name="z")], 2)
    j, i, k = np.ogrid[:9, :8, :3]
    expected = np.concatenate([x[6 * i + apart * j + k], z], 2)
    assert np.array_equal(sl.compile(y, dtype="i4", strict=True)(x, z), expected)


def test_proofs_know_it(dims: dict[str, sympy.Symbol]) -> None:
    x = sl.tensor((dims["H"], dims["W"]), name="x")
    s = dims["s"]
    assert sl.prove_equal(shear(shear(x, s), 2 * s), shear(x, 3 * s)).verdict is sl.Verdict.PROVED
    refuted = sl.prove_equal(shear(x, s), x)
    assert refuted.verdict is sl.Verdict.REFUTED
    assert refuted.witness is not None
    assert {str(dim): value for dim, value in refuted.witness.dims.items()} == {"H": 2, "W": 2, "s": 1}
    assert refuted.witness.coord == (1, 0)


@sl.operation
def beyond(x: Operand) -> Declared:
    """Read one place further on, which the last element has not."""
    (n,) = x.shape
    return index_map((n,), lambda i: (i + 1,))


@sl.operation
def before(x: Operand) -> Declared:
    """Read one place further back, which the first element has not."""
    (n,) = x.shape
    return index_map((n,), lambda i: (i - 1,))


@sl.operation
def first(x: Operand, count: object) -> Declared:
    """Repeat the first element, which an empty input has not."""
    return index_map((x.extent(count),), lambda i: (i - i,))


@pytest.mark.parametrize(
    ("make", "length"),
    [(beyond, 3), (before, 3), (lambda x: first(x, sl.dim("count", min=1, max=1)), 0)],
    ids=["beyond", "before", "first"],
)
def test_an_op_that_reads_outside_its_input_is_not_compiled(
    make: Callable[[sl.Tensor], sl.Tensor], length: int
) -> None:
    y = make(sl.tensor("n"))
    with pytest.raises(sl.InconclusiveError, match=f"{y.name} reads inside its input"):
        sl.compile(y, dtype="u1", strict=True)
    with pytest.raises(sl.InconclusiveError, match=f"{y.name} reads inside its input"):
        sl.interpret(y, np.zeros(length, np.uint8), dims={d: 1 for d in y.facts.dims if d == "count"})
    assert sl.prove_equal(y, y, budget=100).verdict is sl.Verdict.UNKNOWN


def test_an_op_that_reads_an_input_with_an_element_is_compiled() -> None:
    y = first(sl.tensor("n>=1"), sl.dim("count"))
    assert sl.compile(y, strict=True)(np.array([5, 6], np.uint8), dims={"count": 3}).tolist() == [5, 5, 5]
    assert sl.prove_equal(y, y).verdict is sl.Verdict.PROVED


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "-i": lambda i: (-i) % 4,
    "+i": lambda i: +i,
    "i**2": lambda i: i**2 % 4,
    "divmod": lambda i: sum(divmod(i + 2, 3)) % 4,
    "n // i": lambda i: 3 // (i + 1),
    "n % i": lambda i: 3 % (i + 1),
    "i - -i": lambda i: (i - -i) // 2,
}


@pytest.mark.filterwarnings("ignore:NumPy computes what a C kernel would")
@pytest.mark.parametrize("name", FORMULAS)
def test_operators_that_arrays_have_are_those_of_the_normal_form(name: str) -> None:
    @sl.operation
    def formula(x: Operand) -> Declared:
        return index_map(x.shape, lambda i: (FORMULAS[name](i),))

    t, data = formula(sl.tensor("4", name="x")), np.arange(10, 14)
    expected = [data[FORMULAS[name](i)] for i in range(4)]
    assert sl.interpret(t, data).tolist() == expected
    assert sl.compile(t)(data).tolist() == expected
    proof = sl.prove_equal(t, t)
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)
    assert proof.explain()
    assert sl.prove_equal(t, sl.flip(t)).verdict is sl.Verdict.REFUTED


def test_only_declarations_of_the_package_count_as_shown_whatever_their_module_is_called() -> None:
    """A map of the package's own is known by how it was made: neither a folder nor a name decides."""

    def foreign(x: Operand) -> Declared:
        return index_map(x.shape, lambda i: (i,))

    foreign.__module__ = "symlayout.ops.foreign"
    x = sl.tensor("2*N, 4*C, 6", name="x")
    assert not sl.operation(foreign)(sl.tensor("N")).own
    made = [
        *(sl.flip(x, 0), sl.transpose(x), sl.reshape(x, (-1, 6)), sl.pad(x, 1), sl.roll(x, 1, 0), x[1:], x[..., None]),
        *(sl.repeat(x, 2, 0), sl.tile(x, (1, 1, 2)), sl.concatenate([x, x], 0), sl.stack([x, x]), *sl.split(x, 2, 0)),
        *(sl.squeeze(sl.expand_dims(x, 0), 0), sl.broadcast_to(x, x.shape), sl.window(x, [2], axis=[2])),
        *(sl.pack(x, 1, 4), sl.unpack(sl.pack(x, 1, 4), 1), sl.channel_shuffle(x, 2, 1)),
        *(sl.resize_nearest(x, (2, 1, 1)), sl.space_to_depth(x, 2, depth_axis=0), sl.assume(x, "N >= 2")),
    ]
    assert all(node.own for t in made for node in t.nodes())


@sl.operation
def turned(x: Operand, by: object) -> Declared:
    """Return ``y[i] = x[i % m]`` for as many elements as *x* has, which is at most ``m``."""
    m = x.extent(by)
    return index_map(x.shape, lambda i: (i % m,), fill=Fill(0))


@sl.operation
def begun(x: Operand, by: object) -> Declared:
    """Return the first elements of *x*, from ``1 % m`` on, without the last ``m // 2``."""
    (n,), m = x.shape, x.extent(by)
    return index_map((n - m // 2,), lambda i: (i + 1 % m,), fill=Fill(0))


def test_what_a_map_divides_by_is_at_least_1(dims: dict[str, sympy.Symbol]) -> None:
    m = sl.dim("m")
    y = turned(sl.tensor((dims["n"],), name="x"), m)
    assert y.requires == (m >= 1,)
    for make in (lambda: turned(sl.tensor((3,)), 0), lambda: sl.interpret(y, np.ones(3), dims={"m": 0})):
        with pytest.raises(sl.ShapeError) as error:
            make()
        assert error.value.kind == "non_divisible"
    assert sl.interpret(y, np.arange(5), dims={"m": 2}).tolist() == [0, 1, 0, 1, 0]
    assert sl.index_map(sl.tensor((dims["n"],)), (dims["n"],), lambda i: (i % m,), fill=0).requires == y.requires


@pytest.mark.parametrize("m", [1, 2, 5])
def test_extents_of_a_map_are_divided_like_coordinates(m: int) -> None:
    x = np.arange(1, 7)
    expected = [*x[1 % m :], 0][: 6 - m // 2]
    n, by = sl.dims("n m")
    y = begun(sl.tensor((n,), name="x"), by)
    assert sl.interpret(y, x, dims={"m": m}).tolist() == expected
    assert sl.compile(y, strict=True)(x, dims={"m": m}).tolist() == expected
    assert sl.interpret(begun(sl.tensor((n,)), m), x).tolist() == expected
    assert sl.prove_equal(sl.flip(sl.flip(y, 0), 0), y).verdict is sl.Verdict.PROVED


def test_a_map_that_divides_by_zero_says_so() -> None:
    with pytest.raises(sl.ShapeError, match="divides by 0") as error:
        begun(sl.tensor((4,)), 0)
    assert error.value.kind == "non_divisible"
