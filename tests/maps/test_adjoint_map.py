"""Adjoints: brute force, the dot product, torch's autograd, and the same bits from interpreter and kernel."""

from __future__ import annotations

import functools
import itertools
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symlayout as sl
from symlayout.maps.adjoint_map import Adjoint
from symlayout.run.lower import lower
from symlayout_codegen import simulate
from symlayout_codegen.jit.instruction_set import available
from tests.codegen.emit.test_printer import call, run_sanitized
from tests.support import oracle
from tests.support.chains import build, symbolic
from tests.support.effort import examples
from tests.support.strategies import DYNAMIC, STEPS, Case, chains, make_array

Array = np.ndarray[Any, Any]

NUMBERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")

quick = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@st.composite
def linear_cases(draw: st.DrawFn, most_steps: int = 5, only: tuple[str, ...] = tuple(STEPS)) -> Case:
    """Draw a chain on an array of int64, whose sums are exact modulo 2^64."""
    shape = tuple(draw(st.lists(st.sampled_from((4, 2, 6, 3, 1, 0)), max_size=4)))
    while math.prod(shape) > 200:
        shape = shape[:-1]
    steps = draw(chains(shape, np.dtype("i8"), most_steps, only))
    return Case(shape, steps, "i8", seed=draw(st.integers(0, 2**16)))


def cotangent(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    """Return random numbers: any integers, or floats that round, with zeros of both signs among them."""
    generator = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind in "iu":
        return make_array(shape, dtype, "contiguous", seed)
    values = generator.normal(size=(*shape, 2)) * (generator.random((*shape, 2)) < 0.7) * generator.choice((-1, 1))
    values *= generator.choice((-1, 1), values.shape)
    made = values[..., 0] + 1j * values[..., 1] if kind.kind == "c" else values[..., 0]
    return np.asarray(made, kind)


def brute(case: Case, dy: Array) -> Array:
    """Return the adjoint by asking the oracle which element each output holds: fills are below 1000."""
    numbers = np.arange(math.prod(case.shape), dtype="i8").reshape(case.shape) + 1000
    read = np.frombuffer(oracle.run(oracle.grid(numbers), case.steps).data(), "i8")
    sums = [0] * numbers.size
    for number, term in zip(read.tolist(), dy.ravel().tolist(), strict=True):
        if number >= 1000:
            sums[number - 1000] += term
    return np.array([n % 2**64 for n in sums], "u8").view("i8").reshape(case.shape)


def dot(a: Array, b: Array) -> int:
    total: int = sum(x * y for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
    return total % 2**64


def same_bits(a: Array, b: Array) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


# --- random chains ----------------------------------------------------------------------------


@settings(quick, max_examples=examples(120))
@given(linear_cases())
def test_interpreter_agrees_with_brute_force_and_with_the_dot_product(case: Case) -> None:
    x = case.array()
    y = build(sl.tensor(case.shape, name="x"), case.steps)
    adjoint = sl.adjoint(y)
    dy = cotangent(y.shape, "i8", case.seed + 1)
    dx = sl.interpret(adjoint, dy)
    assert adjoint.shape == dx.shape == case.shape
    assert np.array_equal(dx, brute(case, dy))
    constant = sl.interpret(y, np.zeros_like(x))  # what is not linear: the fills
    assert dot(sl.interpret(y, x) - constant, dy) == dot(x, dx)


@settings(quick, max_examples=examples(40))
@given(linear_cases(), st.sampled_from(NUMBERS))
def test_kernel_and_interpreter_give_the_same_bits(case: Case, dtype: str) -> None:
    adjoint = sl.adjoint(build(sl.tensor(case.shape, name="x"), case.steps))
    dy = cotangent(adjoint.tensor.shape, dtype, case.seed)
    try:
        kernel = sl.compile(adjoint, dtype=dtype, strict=True)
    except sl.InconclusiveError:  # an honest answer: a read is not shown to be inside its source
        return
    assert same_bits(kernel(dy), sl.interpret(adjoint, dy))


@settings(quick, max_examples=examples(60))
@given(linear_cases(3, DYNAMIC))
def test_adjoint_for_all_shapes_is_the_one_of_each(case: Case) -> None:
    adjoint, dims = dynamic(case)
    dy = cotangent(adjoint.subs(dims).tensor.shape, "i8", case.seed)
    assert np.array_equal(sl.interpret(adjoint, dy, dims=dims), brute(case, dy))


@settings(quick, max_examples=examples(15))
@given(linear_cases(3, DYNAMIC), st.sampled_from(NUMBERS))
def test_kernel_for_all_shapes_gives_the_interpreters_bits(case: Case, dtype: str) -> None:
    adjoint, dims = dynamic(case)
    dy = cotangent(adjoint.subs(dims).tensor.shape, dtype, case.seed)
    try:
        kernel = sl.compile(adjoint, dtype=dtype, strict=True)
    except sl.InconclusiveError:
        return
    assert same_bits(kernel(dy, dims=dims), sl.interpret(adjoint, dy, dims=dims))


@settings(quick, max_examples=examples(60))
@given(linear_cases(3, DYNAMIC))
def test_nest_stays_inside_both_arrays(case: Case) -> None:
    adjoint, dims = dynamic(case)
    try:
        nest, _ = lower(adjoint)
    except sl.InconclusiveError:
        return
    written = simulate(nest, {p: dims[d] for p, d in zip(nest.parameters, adjoint.tensor.facts.dims, strict=True)})
    size = math.prod(adjoint.subs(dims).tensor.shape)
    assert sorted(written) == list(range(math.prod(case.shape)))
    read = [at for terms in written.values() for source, at in terms if source == "src"]
    assert len(read) == len(set(read))
    assert set(read) <= set(range(size))


def dynamic(case: Case) -> tuple[sl.Adjoint, dict[str, int]]:
    """Return the adjoint with a dim for every extent and attribute, and their values."""
    dims = {f"n{k}": n for k, n in enumerate(case.shape)}
    steps = [(name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps)]
    leaf = sl.tensor([sl.dim(f"n{k}") for k in range(len(case.shape))], name="x")
    return sl.adjoint(build(leaf, steps)), dims


# --- torch ------------------------------------------------------------------------------------

N, C, H, W = sl.dims("N C H W")


def joined(xs: list[Any], axis: int) -> Any:
    import torch

    return torch.cat(xs, axis)


def functional(name: str, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    def applied(x: Any) -> Any:
        import torch

        return getattr(torch.nn.functional, name)(x, *args, **kwargs)

    return applied


def columns(x: sl.Tensor) -> sl.Tensor:
    """Return what `torch.nn.functional.unfold` does: the windows' elements in rows."""
    y = sl.window(x, [3, 2], axis=[2, 3], strides=[2, 1], dilation=[1, 2], padding=1)
    return sl.reshape(sl.transpose(y, (0, 1, 4, 5, 2, 3)), (x.shape[0], x.shape[1] * 6, -1))


def blocks(x: Any, reshape: Callable[..., Any], permute: Callable[..., Any]) -> Any:
    """Space to depth, as people write it."""
    n, c, h, w = x.shape
    return reshape(permute(reshape(x, (n, c, h // 2, 2, w // 2, 2)), (0, 3, 5, 1, 2, 4)), (n, 4 * c, h // 2, w // 2))


PAD = [[0, 0], [0, 0], [1, 2], [3, 1]]
TORCH: dict[str, tuple[Callable[[sl.Tensor], sl.Tensor], Callable[[Any], Any]]] = {
    "tile": (lambda x: sl.tile(x, (2, 1, 3, 2)), lambda x: x.tile(2, 1, 3, 2)),
    "repeat_interleave": (lambda x: sl.repeat(x, 3, axis=2), lambda x: x.repeat_interleave(3, 2)),
    "expand": (
        lambda x: sl.broadcast_to(x[:, :, None], (x.shape[0], x.shape[1], 3, x.shape[2], x.shape[3])),
        lambda x: x[:, :, None].expand(-1, -1, 3, -1, -1),
    ),
    "unfold": (lambda x: sl.window(x, 3, axis=3, strides=2), lambda x: x.unfold(3, 3, 2)),
    "im2col": (columns, functional("unfold", (3, 2), stride=(2, 1), dilation=(1, 2), padding=1)),
    "constant": (lambda x: sl.pad(x, PAD, constant_values=7), functional("pad", (3, 1, 1, 2), value=7)),
    "reflect": (lambda x: sl.pad(x, PAD, mode="reflect"), functional("pad", (3, 1, 1, 2), mode="reflect")),
    "replicate": (lambda x: sl.pad(x, PAD, mode="edge"), functional("pad", (3, 1, 1, 2), mode="replicate")),
    "circular": (lambda x: sl.pad(x, PAD, mode="wrap"), functional("pad", (3, 1, 1, 2), mode="circular")),
    "flip": (lambda x: sl.flip(x, (1, 3)), lambda x: x.flip(1, 3)),
    "roll": (lambda x: sl.roll(x, (2, -1), (2, 3)), lambda x: x.roll((2, -1), (2, 3))),
    "slice": (lambda x: x[:, ::2, 1:-1:3, 2:], lambda x: x[:, ::2, 1:-1:3, 2:]),
    "concatenate": (
        lambda x: sl.concatenate([x, sl.flip(x, 3), x[:, 1:]], axis=1),
        lambda x: joined([x, x.flip(3), x[:, 1:]], 1),
    ),
    "pixel_shuffle": (lambda x: sl.torch.pixel_shuffle(x, 2), functional("pixel_shuffle", 2)),
    "space_to_depth": (
        lambda x: sl.space_to_depth(x, 2),
        lambda x: blocks(x, lambda t, s: t.reshape(s), lambda t, p: t.permute(p)),
    ),
    "upsample": (
        lambda x: sl.resize_nearest(x, scale=[2, 3], axes=[2, 3]),
        functional("interpolate", scale_factor=(2, 3), mode="nearest"),
    ),
}


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", TORCH)
def test_torch_autograd_gives_the_same(name: str, dtype: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    ours, theirs = TORCH[name]
    shape = (2, 4, 6, 8)
    x = torch.zeros(shape, dtype=getattr(torch, np.dtype(dtype).name), requires_grad=True)
    output = theirs(x)
    dy = np.random.default_rng(0).integers(-99, 99, tuple(output.shape)).astype(dtype)  # their sums are exact
    (expected,) = torch.autograd.grad(output, x, torch.from_numpy(dy))
    dims = dict(zip((N, C, H, W), shape, strict=True))
    leaf = sl.tensor((N, C, 2 * sl.dim("h"), 2 * sl.dim("w")) if name == "space_to_depth" else (N, C, H, W), name="x")
    if name == "pixel_shuffle":
        leaf = sl.tensor((N, 4 * sl.dim("c"), H, W), name="x")
    dims |= {sl.dim("c"): 1, sl.dim("h"): 3, sl.dim("w"): 4}
    adjoint = sl.adjoint(ours(leaf))
    assert np.array_equal(sl.interpret(adjoint, dy, dims=dims), expected.numpy())
    assert np.array_equal(sl.compile(adjoint, dtype=dtype, strict=True)(dy, dims=dims), expected.numpy())
    fixed = sl.adjoint(ours(sl.tensor(shape, name="x")))
    assert np.array_equal(sl.compile(fixed, dtype=dtype, strict=True)(dy), expected.numpy())


# --- what it is -------------------------------------------------------------------------------


def test_attributes_are_those_of_the_leaf_and_of_the_tensor() -> None:
    x = sl.tensor("N, 2*h", dtype="f4", name="x")
    y = sl.space_to_depth(x[:, None, None, :], [1, 2])
    adjoint = sl.adjoint(y)
    assert isinstance(adjoint, Adjoint)
    assert adjoint.leaf is x
    assert adjoint.tensor is y
    assert adjoint.shape == x.shape
    assert adjoint.dtype == np.float32
    assert adjoint.requires == y.requires
    assert str(adjoint.index_map) == str(y.index_map)
    assert adjoint.subs({"h": 3}).shape[1] == 6
    assert repr(adjoint) == f"Adjoint(of {y!r} with respect to {x!r})"


@pytest.mark.parametrize(
    ("copies", "make"),
    [
        (True, lambda x: sl.transpose(x)),
        (True, lambda x: sl.flip(x)[1:, ::2]),
        (True, lambda x: sl.pad(x, [[1, 2], [0, 1]])),
        (True, lambda x: sl.reshape(sl.transpose(x), (-1,))),
        (True, lambda x: sl.reshape(sl.reshape(x, (-1,))[: 6 * N], (N, 2, 3))),
        (True, lambda x: sl.space_to_batch(x[..., None], [2], [[1, 1]])),
        (True, lambda x: sl.window(x, 2, axis=1, strides=2)),
        (True, lambda x: x[2:2]),
        (True, lambda x: sl.roll(x, (N, -1), (0, 1))),
        (False, lambda x: sl.window(x, 3, axis=1, strides=2)),
        (False, lambda x: sl.tile(x, (1, 2))),
        (False, lambda x: sl.pad(x, 1, mode="edge")),
        (False, lambda x: sl.broadcast_to(x, (N, H, W))),
        (False, lambda x: sl.concatenate([x, x])),
    ],
)
def test_elements_move_where_none_is_read_twice(copies: bool, make: Callable[[sl.Tensor], sl.Tensor]) -> None:
    adjoint = sl.adjoint(make(sl.tensor((H, W), name="x")))
    assert adjoint.copies is copies
    assert adjoint.subs({H: 8, W: 6, N: 2}).copies is copies  # which decides the sign of zeros, so it stays


P = sl.dim("p")
SIZES = [
    dict(zip("HWp", sizes, strict=True)) for sizes in itertools.product((0, 1, 2, 3, 6), (0, 1, 2, 4, 5), (0, 1, 3))
]


def numbered(y: sl.Tensor, sizes: dict[str, int]) -> tuple[Array, dict[str, int]] | None:
    """Return the numbers of the elements that *y* reads, negative for fills, and its sizes; None if not valid."""
    sizes = {name: n for name, n in sizes.items() if name in y.facts.dims}
    x = np.arange(sizes["H"] * sizes["W"], dtype="i8").reshape(sizes["H"], sizes["W"]) + 1000
    try:
        return sl.interpret(y, x, dims=sizes) - 1000, sizes
    except sl.ShapeError:
        return None


@pytest.mark.parametrize(
    ("each", "make"),
    [
        (True, lambda x: sl.pad(x, [[1, 2], [0, 1]])),
        (True, lambda x: sl.pad(x, [[P, 2], [0, P]])),
        (True, lambda x: sl.flip(sl.transpose(sl.pad(x, 2)), 0)),
        (True, lambda x: sl.pad(x, 2)[1:-1, 2:]),
        (True, lambda x: sl.pad(x, 3)[sl.dim("p", max=3) :]),
        (False, lambda x: sl.pad(x, 2)[P:]),
        (True, lambda x: sl.space_to_batch(x[..., None], [2], [[1, 1]])),
        (True, lambda x: sl.window(sl.pad(x, [[0, 0], [1, 1]]), 2, axis=1, strides=2)),
        (False, lambda x: sl.window(x, 2, axis=1, strides=2)),
        (False, lambda x: sl.flip(x)[1:, ::2]),
        (False, lambda x: sl.pad(x, 2)[3:]),
        (False, lambda x: sl.pad(x, [[-P, 2], [0, 0]])),
        (False, lambda x: sl.pad(x, [[0, 0], [-1, 0]])),
        (False, lambda x: x[1:2]),
        (False, lambda x: x[2:2]),
        (False, lambda x: sl.pad(x[:, :2], [[0, 0], [0, 2]])),
        (False, lambda x: sl.pad(sl.pad(x, [[1, 1], [0, 0]])[2:-2], [[2, 2], [0, 0]])),
        (False, lambda x: sl.pad(x, [[H, 3 * H], [0, 0]])[::2]),
    ],
)
def test_zeros_are_written_first_unless_each_element_is_read(
    each: bool, make: Callable[[sl.Tensor], sl.Tensor]
) -> None:
    y = make(sl.tensor((H, W), name="x"))
    adjoint = sl.adjoint(y)
    assert adjoint.copies
    assert (lower(adjoint)[0].background is None) is each
    kernel = sl.compile(adjoint, dtype="f4", strict=True)
    missed = 0
    for valid in SIZES:
        if (made := numbered(y, valid)) is None:
            continue
        read, sizes = made
        missed += not set(range(sizes["H"] * sizes["W"])) <= set(read.ravel().tolist())
        expected = np.zeros(sizes["H"] * sizes["W"], "f4")
        dy = cotangent(read.shape, "f4")
        expected[read[read >= 0]] = dy[read >= 0]
        out = np.full((sizes["H"], sizes["W"]), 7, "f4")
        assert same_bits(kernel(dy, out=out, dims=sizes), expected.reshape(out.shape)), sizes
    assert (missed == 0) is each


def test_a_diagonal_leaves_elements_unread() -> None:
    @sl.operation
    def diagonal(x: Any) -> Any:
        from symlayout.tensors.declaration import index_map

        return index_map(x.shape[:1], lambda i: (i, i))

    adjoint = sl.adjoint(diagonal(sl.tensor((H, H), name="x")))
    assert adjoint.copies
    out = np.full((3, 3), 7, "f4")
    assert (
        sl.compile(adjoint, strict=True)(np.arange(1, 4, dtype="f4"), out=out).tolist() == np.diag([1, 2, 3]).tolist()
    )


def test_an_output_that_may_be_empty_leaves_elements_unread() -> None:
    adjoint = sl.adjoint(sl.tensor((1, W), name="x")[: sl.dim("p", max=1)])
    assert adjoint.copies
    kernel = sl.compile(adjoint, strict=True)
    for rows in (0, 1):
        dy = np.full((rows, 3), 2, "f4")
        assert kernel(dy, out=np.full((1, 3), 7, "f4"), dims={"p": rows}).tolist() == [[2 * rows] * 3]


def test_a_product_of_coordinates_is_no_stride() -> None:
    """The coefficient of i is j: where j is 0, all i read one element."""

    @sl.operation
    def product(x: Any) -> Any:
        from symlayout.tensors.declaration import index_map

        return index_map((3, 3), lambda i, j: (i * j,))

    adjoint = sl.adjoint(product(sl.tensor((5,), name="x")))
    assert not adjoint.copies
    assert sl.interpret(adjoint, np.ones((3, 3), "i4")).tolist() == [5, 1, 2, 0, 1]


def test_a_zero_keeps_its_sign_where_elements_move() -> None:
    minus = np.array([-0.0, 1.0, -0.0], "f4")
    for adjoint, negative in (
        (sl.adjoint(sl.flip(sl.tensor("N", name="x"))), [True, False, True]),
        (sl.adjoint(sl.repeat(sl.tensor("N", name="x"), sl.dim("r"))), [False, False, False]),
    ):
        kernel = sl.compile(adjoint, strict=True)
        dims = {name: n for name, n in {"N": 3, "r": 1}.items() if name in adjoint.tensor.facts.dims}
        for dx in (sl.interpret(adjoint, minus, dims=dims), kernel(minus, dims=dims)):
            assert np.signbit(dx).tolist() == negative


def test_terms_are_added_in_row_major_order() -> None:
    huge = np.array([[1e8], [1.0], [-1e8], [3.0]], "f4")
    expected = functools.reduce(lambda total, term: np.float32(total + term), huge.ravel(), np.float32(0))
    assert expected != np.float32(4.0)
    x = sl.tensor((1,), name="x")
    for y in (sl.broadcast_to(x, (4, 1)), sl.tile(x[None], (4, 1)), sl.repeat(x[:, None], 4, axis=0)):
        adjoint = sl.adjoint(y)
        assert sl.interpret(adjoint, huge).tolist() == [expected]
        assert sl.compile(adjoint, strict=True)(huge).tolist() == [expected]


@pytest.mark.sample(3)
@pytest.mark.parametrize("march", available())
@pytest.mark.parametrize(("window", "stride"), [(2, 1), (3, 1), (5, 1), (3, 2)])
def test_windows_of_pictures_are_added_in_order(window: int, stride: int, march: str) -> None:
    """Patches with their channels one after the other, as a convolution's columns: runs overlap in the picture."""
    x = sl.tensor((2, N, sl.dim("H", min=window), sl.dim("W", min=window)), name="x")
    windows = sl.window(x, (window, window), (2, 3), strides=stride)
    taken = sl.transpose(windows, (0, 2, 3, 1, 4, 5))
    adjoint = sl.adjoint(taken)
    sizes = ((3, window, window), (1, window + 1, window + 1), (2, window, 2 * window), (5, 7, 33), (2, 9, 18))
    for dtype in ("f4", "f8", "u1", "f2"):
        kernel = sl.compile(adjoint, dtype=dtype, strict=True, march=march)
        for channels, high, wide in sizes:
            dims = {"N": channels, "H": high, "W": wide}
            dy = cotangent(taken.subs(dims).shape, dtype, wide)
            out = np.full((2, channels, high, wide), 7, dtype)
            assert same_bits(kernel(dy, out=out, dims=dims), sl.interpret(adjoint, dy, dims=dims)), (dtype, dims)


def test_pieces_are_added_one_after_the_other() -> None:
    x = sl.tensor((2,), name="x")
    y = sl.concatenate([x, sl.flip(x), x])
    dy = np.array([1e8, 1, 2, -1e8, 3, 1], "f4")
    expected = [np.float32(np.float32(dy[0] + dy[3]) + dy[4]), np.float32(np.float32(dy[1] + dy[2]) + dy[5])]
    adjoint = sl.adjoint(y)
    assert sl.interpret(adjoint, dy).tolist() == expected
    assert sl.compile(adjoint, strict=True)(dy).tolist() == expected


def test_digits_of_axes_apart_are_summed_in_order() -> None:
    """Reading (i0, i2) as one number needs a digit of both, which would come before i1: the floors are carried."""
    x = sl.tensor((8, 3), name="x")
    y = sl.transpose(sl.broadcast_to(sl.reshape(sl.transpose(x), (4, 1, 6)), (4, 5, 6)), (0, 1, 2))
    adjoint = sl.adjoint(y)
    dy = cotangent((4, 5, 6), "f4")
    assert same_bits(sl.compile(adjoint, strict=True)(dy), sl.interpret(adjoint, dy))


@pytest.mark.slow
def test_several_inputs_each_have_their_adjoint() -> None:
    u, v = sl.tensor("N, A", name="u"), sl.tensor("N, B", name="v")
    y = sl.concatenate([u, v, sl.flip(u, 1)], axis=1)
    dy = np.arange(2 * 8, dtype="i4").reshape(2, 8)
    dims = {"A": 3, "B": 2}
    for wrt in (u, "u"):
        adjoint = sl.adjoint(y, wrt)
        for dx in (sl.interpret(adjoint, dy, dims=dims), sl.compile(adjoint, strict=True)(dy, dims=dims)):
            assert np.array_equal(dx, dy[:, :3] + dy[:, :4:-1])
    adjoint = sl.adjoint(y, wrt="v")
    assert np.array_equal(sl.compile(adjoint, strict=True)(dy, dims=dims), dy[:, 3:5])
    with pytest.raises(sl.ArrayError, match=r"which of 2 inputs: u, v\n  help: pass wrt="):
        sl.adjoint(y)
    for wrong in ("w", sl.tensor("N, A", name="w")):
        with pytest.raises(sl.ArrayError, match=r"'w', which is not an input\n  known: u, v"):
            sl.adjoint(y, wrong)


@pytest.mark.slow
def test_what_is_never_read_is_zero_and_extents_may_be_zero() -> None:
    n, r = sl.dims("n r")
    x = sl.tensor((n,), name="x")
    for y in (sl.tile(x, r), sl.repeat(x, r), sl.broadcast_to(x, (r, n)), sl.tile(x[None], (r, 2))):
        adjoint = sl.adjoint(y)
        kernel = sl.compile(adjoint, strict=True)
        for sizes in itertools.product((0, 1, 3), repeat=2):
            dims = dict(zip((n, r), sizes, strict=True))
            dy = cotangent(adjoint.subs(dims).tensor.shape, "f4")
            assert same_bits(kernel(dy, dims=dims), sl.interpret(adjoint, dy, dims=dims))
    empty = sl.adjoint(sl.tensor((3,), name="x")[2:2])
    assert sl.interpret(empty, np.empty(0, "f4")).tolist() == [0, 0, 0]
    assert sl.compile(empty, strict=True)(np.empty(0, "f4")).tolist() == [0, 0, 0]
    scalar = sl.adjoint(sl.broadcast_to(sl.tensor((), name="x"), (2, 3)))
    assert sl.interpret(scalar, np.full((2, 3), 2)).tolist() == 12
    assert sl.compile(scalar, strict=True)(np.full((2, 3), 2)).tolist() == 12
    identity = sl.adjoint(sl.tensor("N", name="dy"))
    assert sl.compile(identity, strict=True)(np.arange(3)).tolist() == [0, 1, 2]


# --- element types ----------------------------------------------------------------------------


@pytest.mark.sample(8)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type_of_numbers_adds_up_as_in_numpy(dtype: str) -> None:
    adjoint = sl.adjoint(sl.tile(sl.tensor("N", name="x"), 5))
    dy = cotangent((35,), dtype)
    expected = np.zeros(7, dtype)
    for part in dy.reshape(5, 7):
        expected += part
    assert same_bits(sl.interpret(adjoint, dy), expected)
    assert same_bits(sl.compile(adjoint, dtype=dtype, strict=True)(dy), expected)


def test_one_kernel_serves_types_of_one_size() -> None:
    kernel = sl.compile(sl.adjoint(sl.repeat(sl.tensor("N", name="x"), 2)), strict=True)
    for dtype in ("i4", "f4", "u4", "f4"):
        assert kernel(np.array([1, 2, 3, 4], dtype)).tolist() == [3, 7]


@pytest.mark.parametrize("dtype", ["bool", "M8[s]", "S4", "V3"])
def test_elements_that_have_no_sum_are_refused(dtype: str) -> None:
    adjoint = sl.adjoint(sl.flip(sl.tensor("N", name="x")))
    kernel = sl.compile(adjoint)
    for refused in (
        lambda: sl.interpret(adjoint, np.zeros(2, dtype)),
        lambda: kernel(np.zeros(2, dtype)),
        lambda: sl.compile(adjoint, dtype=dtype),
        lambda: sl.adjoint(sl.tensor("N", dtype=dtype)),
    ):
        with pytest.raises(sl.ArrayError, match="an adjoint adds elements, and"):
            refused()


@pytest.mark.parametrize("dtype", [">f4", ">i2", "longdouble"])
def test_numpy_adds_what_c_has_no_type_for(dtype: str) -> None:
    adjoint = sl.adjoint(sl.tile(sl.tensor("N", name="x"), 2))
    dy = np.arange(6).astype(dtype)
    with pytest.raises(sl.CompilerError, match=f"C cannot add elements of dtype {np.dtype(dtype)}"):
        sl.compile(adjoint, dtype=dtype, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of the first kernel of this process that NumPy computes
        dx = sl.compile(adjoint)(dy)
    assert dx.dtype == np.dtype(dtype)
    assert dx.tolist() == [3, 5, 7]


# --- calls ------------------------------------------------------------------------------------


def test_any_strides_on_both_sides() -> None:
    adjoint = sl.adjoint(sl.window(sl.tensor("H, W", name="x"), 2, axis=1))
    kernel = sl.compile(adjoint, dtype="f4", strict=True)
    dy = cotangent((3, 4, 2), "f4")
    expected = sl.interpret(adjoint, dy)
    assert same_bits(kernel(np.asfortranarray(dy)), expected)
    wide = np.full((6, 10), 7, "f4")
    assert kernel(dy[:, ::-1][:, ::-1], out=wide[::2, ::-2]) is not None
    assert same_bits(np.ascontiguousarray(wide[::2, ::-2]), expected)
    assert (wide[1::2] == 7).all()
    assert (wide[:, ::2] == 7).all()
    constant = np.broadcast_to(np.float32(1.5), (3, 4, 2))
    assert same_bits(kernel(constant), sl.interpret(adjoint, constant))


def test_a_call_is_checked_like_any_other() -> None:
    adjoint = sl.adjoint(sl.tensor("H", name="x")[::2])
    kernel = sl.compile(adjoint, dtype="f4", strict=True)
    dy = np.arange(3, dtype="f4")
    out = np.full(5, 7, "f4")
    assert kernel(dy, dims={H: 5}, out=out) is out
    assert out.tolist() == [0, 0, 1, 0, 2]
    assert kernel(dy=dy, dims={"H": 6}).tolist() == [0, 0, 1, 0, 2, 0]
    runs: list[Callable[..., Array]] = [functools.partial(kernel, dy), functools.partial(sl.interpret, adjoint, dy)]
    for run in runs:
        with pytest.raises(sl.ShapeError) as caught:
            run()
        assert caught.value.kind == "unbound_dim"
        with pytest.raises(sl.ShapeError, match="array dy has 3 on axis 0") as caught:
            run(dims={H: 9})
        assert caught.value.kind == "size_mismatch"
    with pytest.raises(sl.ArrayError, match="shares memory"):
        kernel(out[:3], dims={H: 5}, out=out)
    with pytest.raises(TypeError, match="adjoint takes a symlayout tensor"):
        sl.adjoint(dy)  # type: ignore[arg-type]


@pytest.mark.slow
def test_sanitizers_find_nothing_in_lowered_adjoints(tmp_path: Path) -> None:
    """On memory cut to what may be touched, with dims from 0 on."""
    x = sl.tensor((H, W), name="x")
    r = sl.dim("r")
    ys = [
        sl.tile(x, (2, r)),
        sl.repeat(x, r, axis=1),
        sl.broadcast_to(x, (r, H, W)),
        sl.window(x, 3, axis=1, strides=2, padding=r),
        sl.pad(x, [[0, r], [1, 0]], mode="edge"),
        sl.roll(x, r, 1),
        sl.concatenate([x, sl.flip(x, 1)[:, ::2]], axis=1),
        x[1:, ::-2],
        sl.transpose(x),
    ]
    kernels, calls = [], []
    for k, y in enumerate(ys):
        nest, _ = lower(sl.adjoint(y), f"adjoint{k}")
        kernels.append((nest, 4))
        for values in itertools.product((0, 1, 2, 5), repeat=len(nest.parameters)):
            try:
                written = simulate(nest, dict(zip(nest.parameters, values, strict=True)))
            except ValueError:
                continue
            calls.append(call(nest, values, written, 4))
    assert len(calls) > 200
    run_sanitized(tmp_path, kernels, calls)
