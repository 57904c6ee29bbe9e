"""Every core operation against NumPy, on symbolic shapes, in proofs, and where it is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

import symlayout as sl
from tests.support.chains import build, check_dynamic
from tests.support.effort import examples
from tests.support.strategies import DYNAMIC, STEPS, Case, make_array

Array = np.ndarray[Any, Any]
quick = settings(
    deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def numpy_pad(x: Array, pad_width: Any, **attributes: Any) -> Array:
    kept = tuple(slice(max(-a, 0), n + min(b, 0)) for n, (a, b) in zip(x.shape, pad_width, strict=True))
    return np.pad(x[kept], np.maximum(pad_width, 0), **attributes) if x.ndim else x


def numpy_window(x: Array, window_shape: Any, axis: Any, strides: Any, dilation: Any, padding: Any) -> Array:
    widths = [(0, 0)] * x.ndim
    key = [slice(None)] * (x.ndim + len(axis))
    for k, (a, step, gap, pair) in enumerate(zip(axis, strides, dilation, padding, strict=True)):
        widths[a] = pair
        key[a], key[x.ndim + k] = slice(None, None, step), slice(None, None, gap)
    spans = tuple((size - 1) * gap + 1 for size, gap in zip(window_shape, dilation, strict=True))
    return sliding_window_view(numpy_pad(x, widths), spans, axis=tuple(axis))[tuple(key)]


def numpy_pack(x: Array, axis: int, block: int, constant_values: Any = 0) -> Array:
    widths = [(0, -n % block if k == axis else 0) for k, n in enumerate(x.shape)]
    padded = numpy_pad(x, widths, constant_values=constant_values)
    count = padded.shape[axis] // block
    return np.moveaxis(padded.reshape(*x.shape[:axis], count, block, *x.shape[axis + 1 :]), axis + 1, -1)


def numpy_unpack(x: Array, axis: int, extent: int | None = None) -> Array:
    joined = np.moveaxis(x, -1, axis + 1)
    shape = (*x.shape[:axis], x.shape[axis] * x.shape[-1], *x.shape[axis + 1 : -1])
    return joined.reshape(shape)[(slice(None),) * axis + (slice(extent),)]


def numpy_channel_shuffle(x: Array, groups: int, axis: int = 1) -> Array:
    before, n, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
    return x.reshape(*before, groups, n // groups, *after).swapaxes(axis, axis + 1).reshape(x.shape)


def numpy_resize_nearest(x: Array, axes: Any, mode: str, shape: Any = None, scale: Any = None) -> Array:
    shift = Fraction(mode == "half_pixel", 2)
    for k, a in enumerate(axes):
        ratio = Fraction(shape[k], x.shape[a]) if shape is not None else Fraction(scale[k])
        x = x.take([int((o + shift) / ratio) for o in range(int(x.shape[a] * ratio))], a)
    return x


def numpy_swapping(name: str) -> Callable[..., Array]:
    def call(x: Array, **attributes: Any) -> Array:
        for key in ("axis", "shift"):
            if isinstance(attributes.get(key), list):
                attributes[key] = tuple(attributes[key])
        result: Array = getattr(np, name)(x, **attributes)
        return result

    return call


NUMPY: Mapping[str, Callable[..., Array]] = {
    **{
        name: numpy_swapping(name)
        for name in (
            "transpose", "moveaxis", "swapaxes", "reshape", "ravel", "squeeze", "expand_dims",
            "flip", "roll", "tile", "repeat", "broadcast_to",
        )
    },
    "getitem": lambda x, key: x[tuple(key)],
    "pad": numpy_pad,
    "window": numpy_window,
    "pack": numpy_pack,
    "unpack": numpy_unpack,
    "channel_shuffle": numpy_channel_shuffle,
    "resize_nearest": numpy_resize_nearest,
}  # fmt: skip


@st.composite
def single(draw: st.DrawFn, name: str) -> Case:
    """Draw one step of operation *name*, on a shape that it takes."""
    rank, attributes = STEPS[name]
    extents = st.sampled_from((4, 2, 3, 6, 1, 0))
    shape = tuple(draw(st.lists(extents, min_size=rank, max_size=4)))
    return Case(shape, ((name, draw(attributes(shape, np.dtype("i4")))),))


def check_against_numpy(case: Case, *, compiled: bool) -> None:
    x = case.array()
    ((name, attributes),) = case.steps
    expected = np.asarray(NUMPY[name](x, **attributes))
    y = build(sl.tensor(case.shape, dtype="i4", name="x"), case.steps)
    assert y.shape == expected.shape
    result = sl.compile(y, strict=True)(x) if compiled else sl.interpret(y, x)
    np.testing.assert_array_equal(result, expected)


def check_each(name: str, count: int, check: Callable[[Case], object]) -> None:
    """Run *check* on random attributes and shapes of one operation."""

    @settings(quick, max_examples=examples(count))
    @given(single(name))
    def run(case: Case) -> None:
        check(case)

    run()


@pytest.mark.parametrize("name", NUMPY)
def test_interpreter_agrees_with_numpy(name: str) -> None:
    check_each(name, 60, lambda case: check_against_numpy(case, compiled=False))


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", NUMPY)
def test_kernel_agrees_with_numpy(name: str) -> None:
    check_each(name, 8, lambda case: check_against_numpy(case, compiled=True))


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", [name for name in NUMPY if name in DYNAMIC])
def test_one_declaration_holds_for_all_shapes_and_attributes(name: str) -> None:
    check_each(name, 25, lambda case: check_dynamic(case, compiled=False))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NUMPY if name in DYNAMIC])
def test_one_kernel_holds_for_all_shapes_and_attributes(name: str) -> None:
    check_each(name, 3, lambda case: check_dynamic(case, compiled=True))


@pytest.mark.parametrize(
    ("cut", "axis"), [(2, 0), (3, -1), (1, 1), ([1, 3], 0), ([3, 1], 0), ([-2], 2), ([2, 9], 0), ([], 1)], ids=str
)
def test_split_agrees_with_numpy(cut: Any, axis: int) -> None:
    x = make_array((4, 2, 3), "i4", "contiguous", 0)
    parts = sl.split(sl.tensor(x.shape, name="x"), cut, axis)
    for part, expected in zip(parts, np.split(x, cut, axis), strict=True):
        np.testing.assert_array_equal(sl.interpret(part, x), expected)


@pytest.mark.sample(5)
@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_pads_may_exceed_the_extent(mode: str, n: int) -> None:
    x = make_array((n, 2), "u1", "contiguous", 0)
    y = sl.pad(sl.tensor(x.shape, dtype="u1", name="x"), [(13, 7), (0, 0)], mode)
    expected = np.pad(x, [(13, 7), (0, 0)], mode)  # type: ignore[call-overload]  # NumPy has a literal for each mode
    np.testing.assert_array_equal(sl.interpret(y, x), expected)
    np.testing.assert_array_equal(sl.compile(y, strict=True)(x), expected)


@pytest.mark.parametrize(("mode", "spare"), [("reflect", 1), ("symmetric", 0), ("wrap", 0)])
def test_pads_that_repeat_at_most_once_are_the_same(mode: str, spare: int) -> None:
    limited = sl.pad(x2(), [(p, q), (0, 0)], mode, bounded=True)
    for n, before, after in itertools.product(range(4), repeat=3):
        sizes = {H: n, W: 2, p: before, q: after}
        if max(before, after) > max(n - spare, 0):
            with pytest.raises(sl.ShapeError) as caught:
                limited.subs(sizes)
            assert caught.value.kind == "size_mismatch"
        elif n >= spare:  # of an empty axis the requirement asks for less than nothing
            x = make_array((n, 2), "u1", "contiguous", n)
            expected = np.pad(x, [(before, after), (0, 0)], mode)  # type: ignore[call-overload]  # a literal each
            np.testing.assert_array_equal(sl.interpret(limited.subs(sizes), x), expected)


@pytest.mark.parametrize("width", [{1: 2}, {-2: (1, 0), 1: (0, 3)}, {}], ids=str)
def test_widths_by_axis_agree_with_numpy(width: Any) -> None:
    x = make_array((2, 3), "u1", "contiguous", 0)
    pairs = np.zeros((2, 2), int)
    for axis, pair in width.items():
        pairs[axis] = pair
    np.testing.assert_array_equal(sl.interpret(sl.pad(sl.tensor((2, 3)), width), x), np.pad(x, pairs))


BOUNDS_OF_SLICES = (None, -6, -3, -1, 0, 1, 3, 6)


@pytest.mark.slow
@pytest.mark.parametrize("step", [-3, -1, 1, 2])
def test_slices_of_any_extent_have_exact_bounds_and_read_inside(step: int) -> None:
    for start, stop in itertools.product(BOUNDS_OF_SLICES, repeat=2):
        y = sl.tensor((H,), name="x")[start:stop:step]
        counts = [len(range(n)[start:stop:step]) for n in range(24)]
        least, most = y.bounds()[0]
        assert least == min(counts)
        assert most == (None if counts[-1] > max(counts[:15]) else max(counts))
        assert str(y.index_map).startswith("(i0) -> ")  # an error if a read is not shown to be inside
        for n in (0, 1, 4, 11):
            assert sl.interpret(y, np.arange(n)).tolist() == list(range(n)[start:stop:step])


@pytest.mark.parametrize("values", [[7], [7, 8], [[7, 8]], [[7, 8], [9, 10], [11, 12]]], ids=str)
@pytest.mark.parametrize("shape", [(2, 3, 1), (0, 2, 3)], ids=str)
def test_fills_of_each_side_agree_with_numpy(shape: tuple[int, ...], values: Any) -> None:
    x = make_array(shape, "i2", "contiguous", 0)
    widths = [(1, 2), (0, 1), (3, 0)]
    y = sl.pad(sl.tensor(shape, dtype="i2", name="x"), widths, constant_values=values)
    expected = np.pad(x, widths, constant_values=values)
    np.testing.assert_array_equal(sl.interpret(y, x), expected)
    np.testing.assert_array_equal(sl.compile(y, strict=True)(x), expected)


def test_shifts_of_any_size_are_exact() -> None:
    x = np.arange(5)
    for shift in (2**70 + 1, -(2**70), [2**64, -(2**64), 1]):
        y = sl.roll(sl.tensor((5,), name="x"), shift, None if isinstance(shift, int) else 0)
        total = shift if isinstance(shift, int) else sum(shift)
        np.testing.assert_array_equal(sl.interpret(y, x), np.roll(x, total % 5))


# ---------------------------------------------------------------------- shapes

N, H, W, C, p, q, r, h = sl.dims("N H W C p q r h")
b, g, k = sl.dims("b g k", min=1)
n = sl.dim("n", min=2)
s, t = sl.dims("s t", min=-1000)


def x2() -> sl.Tensor:
    return sl.tensor((H, W), name="x")


def x4() -> sl.Tensor:
    return sl.tensor((N, C, H, W), name="x")


SHAPES: Mapping[str, tuple[Callable[[], sl.Tensor], str, str]] = {
    "roll": (lambda: sl.roll(x2(), s, 0), "(H, W)", "()"),
    "tile": (lambda: sl.tile(x2(), (r, 2, 1)), "(r, 2*H, W)", "()"),
    "repeat": (lambda: sl.repeat(x2(), r, 0), "(H*r, W)", "()"),
    "repeat of all": (lambda: sl.repeat(x2(), 2), "(2*H*W,)", "()"),
    "broadcast_to": (lambda: sl.broadcast_to(sl.tensor((1, W), name="x"), (N, H, W)), "(N, H, W)", "()"),
    "broadcast_to of another": (lambda: sl.broadcast_to(x2(), (5, W)), "(5, W)", "(Eq((H - 5)*(H - 1), 0),)"),
    "squeeze": (lambda: sl.squeeze(x2(), 0), "(W,)", "(Eq(H, 1),)"),
    "squeeze of all": (lambda: sl.squeeze(sl.tensor((1, n, 1), name="x")), "(n,)", "()"),
    "expand_dims": (lambda: sl.expand_dims(x2(), (0, -1)), "(1, H, W, 1)", "()"),
    "moveaxis": (lambda: sl.moveaxis(x4(), 1, -1), "(N, H, W, C)", "()"),
    "swapaxes": (lambda: sl.swapaxes(x4(), 0, -1), "(W, C, H, N)", "()"),
    "ravel": (lambda: sl.ravel(x2()), "(H*W,)", "()"),
    "split": (lambda: sl.split(sl.tensor((2 * h, W), name="x"), 2)[1], "(h, W)", "()"),
    "split in parts": (lambda: sl.split(x2(), 2)[1], "(H/2, W)", "(Eq(Mod(H, 2), 0),)"),
    "split at a dim": (lambda: sl.split(x2(), [p])[1], "(H - p, W)", "(H >= p,)"),
    "window": (lambda: sl.window(x2(), k, 1), "(H, W - k + 1, k)", "(W >= k,)"),
    "window with steps": (lambda: sl.window(x2(), 3, 1, strides=2, padding=1), "(H, ceiling(W/2), 3)", "(W >= 1,)"),
    "pack": (lambda: sl.pack(x4(), 1, 4), "(N, ceiling(C/4), H, W, 4)", "()"),
    "pack exactly": (lambda: sl.pack(sl.tensor((N, 4 * C), name="x"), 1, 4), "(N, C, 4)", "()"),
    "unpack": (lambda: sl.unpack(sl.tensor((N, C, W, b), name="x"), 1), "(N, C*b, W)", "()"),
    "unpack of some": (lambda: sl.unpack(sl.tensor((N, C, b), name="x"), 1, H), "(N, H)", "(C*b >= H,)"),
    "channel_shuffle": (lambda: sl.channel_shuffle(x4(), g), "(N, C, H, W)", "(Eq(Mod(C, g), 0),)"),
    "resize by 2": (lambda: sl.resize_nearest(x2(), scale=2), "(2*H, 2*W)", "()"),
    "resize by a dim": (lambda: sl.resize_nearest(x2(), scale=b, axes=0), "(H*b, W)", "()"),
    "resize by a ratio": (lambda: sl.resize_nearest(x2(), scale=b / 3, axes=0), "(floor(H*b/3), W)", "()"),
    "resize to": (lambda: sl.resize_nearest(x2(), shape=(7, k)), "(7, k)", "(H >= 1, W >= 1)"),
    "pad edge": (lambda: sl.pad(x2(), [(p, 1), (0, 0)], "edge"), "(H + p + 1, W)", "(H >= 1,)"),
    "pad reflect": (lambda: sl.pad(x2(), [(p, 1), (0, 0)], "reflect"), "(H + p + 1, W)", "(H >= 2,)"),
    "pad with fills": (lambda: sl.pad(x2(), [(p, 1), (0, q)], constant_values=(1, 2)), "(H + p + 1, W + q)", "()"),
    "pad nothing": (lambda: sl.pad(x2(), 0, "wrap"), "(H, W)", "()"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_symbolic_shapes(name: str) -> None:
    make, shape, requires = SHAPES[name]
    y = make()
    assert (str(y.shape), str(y.requires)) == (shape, requires)


@pytest.mark.parametrize("scale", [Fraction(3, 2), 2, "3/2"], ids=str)
def test_scales_are_exact_ratios(scale: Any) -> None:
    if isinstance(scale, str):
        scale = (3 * k / 2).subs(k, 1)  # a SymPy rational
    y = sl.resize_nearest(sl.tensor((5,), name="x"), scale=scale)
    assert y.shape == (int(5 * Fraction(scale)),)


def test_index_maps_are_what_the_texts_say() -> None:
    assert str(sl.roll(x2(), s, 0).index_map) == "(i0, i1) -> ((i0 - s) % H, i1)"
    assert str(sl.tile(x2(), (r, 1)).index_map) == "(i0, i1) -> (i0 % H, i1)"
    assert str(sl.repeat(x2(), r, 1).index_map) == "(i0, i1) -> (i0, i1//r)"
    assert str(sl.window(x2(), k, 1).index_map) == "(i0, i1, i2) -> (i0, i1 + i2)"
    assert str(sl.pad(x2(), [(0, 0), (p, q)], "wrap").index_map) == "(i0, i1) -> (i0, (i1 - p) % W)"


# ---------------------------------------------------------------------- proofs

SAME: Mapping[str, tuple[Callable[[], sl.Tensor], Callable[[], sl.Tensor]]] = {
    "roll back": (lambda: sl.roll(sl.roll(x2(), s, 0), -s, 0), x2),
    "roll all back": (lambda: sl.roll(sl.roll(x2(), s), -s), x2),
    "roll by the extent": (lambda: sl.roll(x2(), H, 0), x2),
    "roll twice": (lambda: sl.roll(sl.roll(x2(), s, 0), t, 0), lambda: sl.roll(x2(), s + t, 0)),
    "roll all": (lambda: sl.roll(x2(), s), lambda: sl.reshape(sl.roll(sl.ravel(x2()), s, 0), (H, W))),
    "roll of flipped": (lambda: sl.flip(sl.roll(x2(), s, 0), 0), lambda: sl.roll(sl.flip(x2(), 0), -s, 0)),
    "tile, then crop": (lambda: sl.tile(x2(), (b, 1))[:H], x2),
    "tile twice": (lambda: sl.tile(sl.tile(x2(), (b, 1)), (g, 1)), lambda: sl.tile(x2(), (b * g, 1))),
    "tile and broadcast": (
        lambda: sl.tile(x2(), (b, 1)),
        lambda: sl.reshape(sl.broadcast_to(x2(), (b, H, W)), (b * H, W)),
    ),
    "repeat, then every third": (lambda: sl.repeat(x2(), 3, 0)[::3], x2),
    "repeat and broadcast": (
        lambda: sl.repeat(x2(), b, 1),
        lambda: sl.reshape(sl.broadcast_to(sl.expand_dims(x2(), 2), (H, W, b)), (H, W * b)),
    ),
    "expand, then squeeze": (lambda: sl.squeeze(sl.expand_dims(x2(), (0, -1)), (0, -1)), x2),
    "move back": (lambda: sl.moveaxis(sl.moveaxis(x4(), 1, -1), -1, 1), x4),
    "ravel, then reshape": (lambda: sl.reshape(sl.ravel(x4()), (N, C, H, W)), x4),
    "windows of one": (lambda: sl.squeeze(sl.window(x2(), 1, 1), -1), x2),
    "windows side by side": (
        lambda: sl.window(sl.tensor((b * h, W), name="x"), b, 0, strides=b),
        lambda: sl.swapaxes(sl.reshape(sl.tensor((b * h, W), name="x"), (h, b, W)), 1, 2),
    ),
    "pack, then unpack": (lambda: sl.unpack(sl.pack(x4(), 1, b), 1, C), x4),
    "unpack, then pack": (
        lambda: sl.pack(sl.unpack(sl.tensor((N, C, H, b), name="x"), 1), 1, b),
        lambda: sl.tensor((N, C, H, b), name="x"),
    ),
    "shuffle back": (lambda: sl.channel_shuffle(sl.channel_shuffle(x4(), g), C / g), x4),
    "resize and repeat": (
        lambda: sl.resize_nearest(x2(), scale=b, axes=0, mode="half_pixel"),
        lambda: sl.repeat(x2(), b, 0),
    ),
    "edge, then crop": (lambda: sl.pad(x2(), [(p, q), (0, 0)], "edge")[p : p + H], x2),
    "reflect, then crop": (lambda: sl.pad(x2(), [(p, q), (0, 0)], "reflect")[p : p + H], x2),
    "symmetric, then crop": (lambda: sl.pad(x2(), [(p, q), (0, 0)], "symmetric")[p : p + H], x2),
    "wrap and tile": (
        lambda: sl.pad(sl.tensor((k, W), name="x"), [(k, k), (0, 0)], "wrap"),
        lambda: sl.tile(sl.tensor((k, W), name="x"), (3, 1)),
    ),
    "split and slice": (
        lambda: sl.split(sl.tensor((2 * h, W), name="x"), 2)[1],
        lambda: sl.tensor((2 * h, W), name="x")[h:],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_for_all_shapes(name: str) -> None:
    left, right = SAME[name]
    proof = sl.prove_equal(left(), right())
    assert proof.verdict is sl.Verdict.PROVED, proof.explain()


DIFFERENT: Mapping[str, tuple[Callable[[], sl.Tensor], Callable[[], sl.Tensor]]] = {
    "roll twice the same way": (lambda: sl.roll(sl.roll(x2(), s, 0), s, 0), x2),
    "tile and repeat": (lambda: sl.tile(x2(), (2, 1)), lambda: sl.repeat(x2(), 2, 0)),
    "shuffle twice": (lambda: sl.channel_shuffle(sl.channel_shuffle(x4(), 2), 2), x4),
    "resize modes": (
        lambda: sl.resize_nearest(x2(), scale=Fraction(3, 2), axes=0),
        lambda: sl.resize_nearest(x2(), scale=Fraction(3, 2), axes=0, mode="half_pixel"),
    ),
    "fills of pack": (lambda: sl.pack(x2(), 1, 4), lambda: sl.pack(x2(), 1, 4, constant_values=1)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_different_with_a_witness(name: str) -> None:
    left, right = DIFFERENT[name]
    proof = sl.prove_equal(left(), right())
    assert proof.verdict is sl.Verdict.REFUTED
    assert proof.witness is not None
    assert proof.witness.left != proof.witness.right


# ---------------------------------------------------------------------- errors

x = sl.tensor((4, 6), name="x")
ERRORS: Mapping[str, tuple[Callable[[], Any], str]] = {
    "roll along an axis that is not there": (lambda: sl.roll(x, 1, 2), "bad_axis"),
    "roll with more shifts than axes": (lambda: sl.roll(x, (1, 2), (0, 1, 0)), "length_mismatch"),
    "roll by a float": (lambda: sl.roll(x, 1.5), "attr_dtype"),
    "roll by more than int64": (lambda: sl.roll(x2(), 2**63, 0), "overflow"),
    "tile less than never": (lambda: sl.tile(x, (1, -1)), "size_mismatch"),
    "tile beyond int64": (lambda: sl.tile(x, 2**62), "overflow"),
    "repeat less than never": (lambda: sl.repeat(x, -1), "size_mismatch"),
    "repeat each differently": (lambda: sl.repeat(x, [1, 2, 3], 0), "length_mismatch"),
    "broadcast to another extent": (lambda: sl.broadcast_to(x, (5, 6)), "size_mismatch"),
    "broadcast to fewer axes": (lambda: sl.broadcast_to(x, (6,)), "rank"),
    "broadcast to a negative extent": (lambda: sl.broadcast_to(x, (-2, 4, 6)), "size_mismatch"),
    "squeeze a long axis": (lambda: sl.squeeze(x, 0), "size_mismatch"),
    "squeeze an axis twice": (lambda: sl.squeeze(sl.tensor((1, 4)), (0, -2)), "bad_axis"),
    "squeeze what may be 1": (lambda: sl.squeeze(x2()), "unknown_rank"),
    "expand beyond the rank": (lambda: sl.expand_dims(x, 3), "bad_axis"),
    "expand an axis twice": (lambda: sl.expand_dims(x, (0, -4)), "bad_axis"),
    "move to as many places": (lambda: sl.moveaxis(x, (0, 1), 0), "length_mismatch"),
    "move an axis twice": (lambda: sl.moveaxis(x, (0, 0), (0, 1)), "bad_axis"),
    "swap an axis that is not there": (lambda: sl.swapaxes(x, 0, 2), "bad_axis"),
    "split unevenly": (lambda: sl.split(x, 3), "non_divisible"),
    "split into none": (lambda: sl.split(x, 0), "block_lt_1"),
    "split into a dim": (lambda: sl.split(x, b), "attr_dtype"),
    "split along an axis that is not there": (lambda: sl.split(x, 2, 2), "bad_axis"),
    "windows larger than the axis": (lambda: sl.window(x, 5, 0), "size_mismatch"),
    "windows dilated too far": (lambda: sl.window(x, 3, 0, dilation=2), "size_mismatch"),
    "windows of nothing": (lambda: sl.window(x, 0, 0), "block_lt_1"),
    "windows that stand still": (lambda: sl.window(x, 2, 0, strides=0), "block_lt_1"),
    "windows without an axis": (lambda: sl.window(x, 2), "length_mismatch"),
    "windows over an axis twice": (lambda: sl.window(x, (2, 2), (0, 0)), "bad_axis"),
    "windows over fewer zeros than none": (lambda: sl.window(x, 2, 0, padding=-1), "negative_pad"),
    "windows stepping beyond int64": (lambda: sl.window(x, 2, 0, strides=2**63), "overflow"),
    "pack into nothing": (lambda: sl.pack(x, 0, 0), "block_lt_1"),
    "unpack without blocks": (lambda: sl.unpack(sl.tensor((4,)), 0), "rank"),
    "unpack the blocks": (lambda: sl.unpack(x, 1), "bad_axis"),
    "unpack more than there is": (lambda: sl.unpack(x, 0, 25), "crop_exceeds"),
    "shuffle no groups": (lambda: sl.channel_shuffle(x, 0), "block_lt_1"),
    "shuffle uneven groups": (lambda: sl.channel_shuffle(x, 4), "non_divisible"),
    "resize in an unknown mode": (lambda: sl.resize_nearest(x, shape=(1, 1), mode="nearest"), "bad_mode"),
    "resize to two things": (lambda: sl.resize_nearest(x, shape=(1, 1), scale=2), "length_mismatch"),
    "resize by nothing": (lambda: sl.resize_nearest(x, scale=0), "size_mismatch"),
    "resize by a float": (lambda: sl.resize_nearest(x, scale=1.5), "attr_dtype"),
    "resize nothing to something": (lambda: sl.resize_nearest(sl.tensor((0,)), shape=2), "size_mismatch"),
    "pad in an unknown mode": (lambda: sl.pad(x, 1, "mean"), "bad_mode"),
    "pad with a fill for each of three axes": (lambda: sl.pad(x, 1, constant_values=[1, 2, 3]), "length_mismatch"),
    "pad by less than nothing": (lambda: sl.pad(x, -1, "edge"), "negative_pad"),
    "pad with what is not there": (lambda: sl.pad(sl.tensor((0, 2)), 1, "wrap"), "size_mismatch"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_refused_by_kind(name: str) -> None:
    make, kind = ERRORS[name]
    with pytest.raises(sl.ShapeError) as caught:
        make()
    assert caught.value.kind == kind


BOUND: Mapping[str, tuple[Callable[[], sl.Tensor], Mapping[Any, int], str]] = {
    "channel_shuffle": (lambda: sl.channel_shuffle(x4(), g), {C: 5, g: 2}, "non_divisible"),
    "split": (lambda: sl.split(x2(), 2)[0], {H: 5}, "non_divisible"),
    "squeeze": (lambda: sl.squeeze(x2(), 0), {H: 2}, "size_mismatch"),
    "window": (lambda: sl.window(x2(), k, 1), {W: 2, k: 3}, "size_mismatch"),
    "unpack": (lambda: sl.unpack(sl.tensor((C, b)), 0, H), {C: 2, b: 3, H: 7}, "crop_exceeds"),
    "pad": (lambda: sl.pad(x2(), [(p, p), (0, 0)], "edge"), {H: 0, p: 1}, "size_mismatch"),
}


@pytest.mark.parametrize("name", BOUND)
def test_refused_by_the_same_kind_when_bound(name: str) -> None:
    make, dims, kind = BOUND[name]
    with pytest.raises(sl.ShapeError) as caught:
        make().subs(dims)
    assert caught.value.kind == kind


def test_kernels_refuse_by_the_same_kind() -> None:
    kernel = sl.compile(sl.window(sl.tensor((W,), dtype="i4", name="x"), k), strict=True)
    with pytest.raises(sl.ShapeError) as caught:
        kernel(np.zeros(2, "i4"), dims={k: 3})
    assert caught.value.kind == "size_mismatch"


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 2, 3, 4, 7])
def test_parts_that_are_nearly_equal_are_numpys_at_every_extent(count: int) -> None:
    parts = sl.array_split(sl.tensor((H, 2), name="x"), count)
    assert str(parts[0].shape[0]) == ("H" if count == 1 else f"ceiling(H/{count})")
    kernels = [sl.compile(part, strict=True) for part in parts]
    for size in range(10):
        x = np.arange(2 * size).reshape(size, 2)
        for part, kernel, expected in zip(parts, kernels, np.array_split(x, count), strict=True):
            np.testing.assert_array_equal(sl.interpret(part, x), expected)
            np.testing.assert_array_equal(kernel(x), expected)


def test_elements_may_be_repeated_by_different_numbers() -> None:
    y = sl.repeat(sl.tensor((H, W), name="x"), [2, 0, p], axis=0)
    assert (str(y.shape), str(y.requires)) == ("(p + 2, W)", "(Eq(H, 3),)")
    x = np.arange(6).reshape(3, 2)
    kernel = sl.compile(y, strict=True)
    for times in range(4):
        expected = np.repeat(x, [2, 0, times], axis=0)
        np.testing.assert_array_equal(sl.interpret(y, x, dims={p: times}), expected)
        np.testing.assert_array_equal(kernel(x, dims={p: times}), expected)
    with pytest.raises(sl.ShapeError) as caught:
        y.subs({H: 4})
    assert caught.value.kind == "length_mismatch"
    z = sl.tensor((3, W))
    proof = sl.prove_equal(sl.repeat(z, [2, 2, 2], axis=0), sl.repeat(z, 2, axis=0))
    assert proof.verdict is sl.Verdict.PROVED
