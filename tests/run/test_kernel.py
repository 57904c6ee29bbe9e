"""Calls of kernels: what is computed and what is refused."""

from __future__ import annotations

import itertools
import math
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout.run.kernel import Kernel
from symlayout.run.lower import lower
from symlayout_codegen import PreconditionFailed, compile_nest
from symlayout_codegen.ir.integer_expressions import evaluate
from symlayout_codegen.ir.nest import Precondition
from symlayout_codegen.jit.instruction_set import available
from tests.promises.integers import empty_result


def test_errors_of_arrays_say_both_values_and_what_to_do() -> None:
    two = sl.compile(sl.stack([sl.tensor("N", name="a"), sl.tensor("N", name="b")]), dtype="f4")
    with pytest.raises(sl.ShapeError, match=r"array b has 3 on axis 0, declared is N = 2$"):
        two(np.zeros(2, "f4"), np.zeros(3, "f4"))
    with pytest.raises(sl.ArrayError, match="compiled for float32, the array has float64\n  help: convert the array"):
        two(np.zeros(2), np.zeros(2))
    padded = sl.pad(sl.tensor("N"), (1, 1), constant_values=1.5)
    with pytest.raises(sl.ArrayError, match=r"fill 1\.5 does not fit int32: .*\n  help: fill with a value of int32"):
        sl.compile(padded)(np.zeros(2, "i4"))
    with pytest.raises(sl.ArrayError, match=r"fill 1\.5 does not fit int32"):  # as soon as the type is known
        sl.compile(padded, dtype="i4")


def test_an_element_type_replaces_the_declared_one_where_elements_are_moved() -> None:
    height, width = sl.dims("H W")
    x = sl.tensor((height, width), dtype="float32", name="x")
    kernel = sl.compile(sl.pad(sl.flip(x, 0), 1), dims={height: 2}, dtype="uint8", strict=True)
    image = np.arange(6, dtype="uint8").reshape(2, 3)
    assert kernel(image).dtype == np.uint8
    assert np.array_equal(kernel(image), np.pad(image[::-1], 1))
    with pytest.raises(sl.ArrayError, match="array x has dtype float32, declared is uint8"):
        kernel(image.astype("float32"))
    with pytest.raises(sl.ArrayError, match=r"fill 1\.5 does not fit uint8"):
        sl.compile(sl.pad(x, 1, constant_values=1.5), dtype="uint8")
    for computed in (sl.onnx.exp(x), sl.concatenate([x, sl.constant(np.ones((2, 2), "float32"))], 1), sl.adjoint(x)):
        with pytest.raises(sl.ArrayError, match="dtype uint8 is not the tensor's float32"):
            sl.compile(computed, dtype="uint8")


def test_strides_need_not_be_whole_elements() -> None:
    record = np.dtype({"names": ["a", "b"], "formats": ["i2", "u1"], "offsets": [0, 2], "itemsize": 3})
    source = np.zeros(4, record)
    source["a"] = [1, 2, 3, 4]
    target = np.zeros(4, record)
    target["b"] = 7
    kernel = sl.compile(sl.flip(sl.tensor("N", dtype="i2")), strict=True)
    assert isinstance(kernel, Kernel)
    assert kernel(source["a"]).tolist() == [4, 3, 2, 1]
    kernel(source["a"], out=target["a"])
    assert target["a"].tolist() == [4, 3, 2, 1]
    assert target["b"].tolist() == [7] * 4


PADDED = {
    "concatenate": lambda x, n: sl.concatenate([x, x]),
    "stack": lambda x, n: sl.stack([x, x]),
    "edge": lambda x, n: sl.pad(x, (2, 1), mode="edge"),
    "reflect": lambda x, n: sl.pad(x, (2, 1), mode="reflect"),
    "padded parts": lambda x, n: sl.concatenate([sl.pad(x, (1, 0), constant_values=7), sl.flip(x)]),
    "parts of parts": lambda x, n: sl.concatenate([sl.pad(sl.concatenate([x, x]), (0, 1), constant_values=7), x]),
    "tile": lambda x, n: sl.tile(x, 2),
    "roll": lambda x, n: sl.roll(x, 1),
    "reshape": lambda x, n: sl.reshape(sl.broadcast_to(x, (3, n)), (n, 3)),
    "pad of a tile": lambda x, n: sl.pad(sl.tile(x, 2), (1, 1), constant_values=7),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", [None, 0, 1, 3])
@pytest.mark.parametrize("name", PADDED)
def test_a_pad_around_pieces_or_an_empty_input_is_filled(name: str, size: int | None) -> None:
    n, p = sl.dim("n") if size is None else size, sl.dim("p")
    if name in ("edge", "reflect") and size in (None, 0, 1):
        n = sl.dim("n", min=2)
    y = sl.pad(PADDED[name](sl.tensor((n,), name="x"), n), [p, 2], constant_values=5)
    kernel = sl.compile(y, dtype="int32", strict=True)
    for extent in [e for e in (0, 1, 2, 3) if size is None or e == size]:
        for begin in (0, 1, 4):
            x = np.arange(1, extent + 1, dtype=np.int32)
            if extent < 2 and name in ("edge", "reflect"):
                continue
            expected = sl.interpret(y, x, dims={"p": begin})
            for out in (np.full_like(expected, -1), np.full(expected.shape[::-1], -1, np.int32).T):
                assert kernel(x, out=out, dims={"p": begin}).tolist() == expected.tolist()


def test_focus_is_space_to_depth_for_all_sizes() -> None:
    x = sl.tensor("N, C, 2*h, 2*w", name="x")
    corners = [x[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)]
    focus = sl.concatenate(corners, axis=1)
    assert sl.prove_equal(focus, sl.space_to_depth(x, 2)).verdict is sl.Verdict.PROVED
    swapped = sl.concatenate([corners[k] for k in (0, 2, 1, 3)], axis=1)
    assert sl.prove_equal(swapped, sl.space_to_depth(x, 2)).verdict is sl.Verdict.REFUTED
    a = np.arange(2 * 3 * 4 * 6, dtype="i4").reshape(2, 3, 4, 6)
    expected = np.concatenate([a[:, :, i::2, j::2] for i in (0, 1) for j in (0, 1)], axis=1)
    assert np.array_equal(sl.compile(focus, strict=True)(a), expected)
    assert np.array_equal(sl.interpret(focus, a), expected)


@pytest.mark.slow
def test_several_inputs_are_joined_and_stacked() -> None:
    u, v = sl.tensor("N, A", name="u"), sl.tensor("N, B", name="v")
    a, b = np.arange(6).reshape(2, 3), -np.arange(4).reshape(2, 2)
    joined = sl.concatenate([u, v, u], axis=-1)
    assert [str(n) for n in joined.shape] == ["N", "2*A + B"]
    for result in (sl.interpret(joined, a, b), sl.compile(joined, strict=True)(a, v=b)):
        assert np.array_equal(result, np.concatenate([a, b, a], axis=-1))
    piled = sl.stack([u, u], axis=1)
    assert np.array_equal(sl.compile(piled, strict=True)(a), np.stack([a, a], axis=1))
    with pytest.raises(sl.ShapeError) as caught:
        sl.stack([sl.tensor((2, 3)), sl.tensor((2, 4))])
    assert caught.value.kind == "size_mismatch"


def test_a_requirement_is_checked_though_the_bound_shape_could_be_read_otherwise() -> None:
    h = sl.dim("H")
    y = sl.broadcast_to(sl.tensor((h, 2), name="x"), (5, 2))
    with pytest.raises(sl.ShapeError) as caught:
        y.subs({h: 2})
    assert caught.value.kind == "size_mismatch"
    assert y.subs({h: 1}).shape == y.subs({h: 5}).shape == (5, 2)


def test_an_equation_gives_the_exact_extent() -> None:
    d = sl.dim("d")
    y = sl.reshape(sl.tensor((4,)), (d, 2))
    assert y.bounds() == [(2, 2), (2, 2)]
    assert str(y.requires) == "(Eq(d, 2),)"
    with pytest.raises(sl.ShapeError) as caught:
        sl.reshape(sl.tensor((5,)), (d, 2))
    assert caught.value.kind == "size_mismatch"


@pytest.mark.slow
def test_a_product_beyond_the_budget_is_a_typed_error() -> None:
    total = sum(sl.dims("N M K L"))
    with pytest.raises(sl.ShapeError, match="exceeds 50000") as caught:
        sl.tensor((total**60,))
    assert caught.value.kind == "budget"


def test_a_window_without_extent_leaves_no_piece() -> None:
    y = sl.pad(sl.tensor("N", name="x"), [(-1, 2)], constant_values=(1, 2))
    assert len(y.index_map.reads) == 2
    assert "< -1" not in str(y.index_map)


def test_an_extent_that_only_the_size_needs_is_computed() -> None:
    """Inside the loops ``Max(0, H - 5)`` is ``H - 5``; whether there is anything to loop over needs the maximum."""
    kernel = sl.compile(sl.tensor("H, W")[2:-3, 1:-1], dtype="i4", strict=True)
    for shape in ((8, 5), (6, 3), (4, 9), (0, 2)):
        x = np.arange(shape[0] * shape[1], dtype="i4").reshape(shape)
        assert kernel(x).tolist() == x[2:-3, 1:-1].tolist()


@pytest.mark.slow
def test_out_may_be_a_mapped_file(tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.int16).reshape(2, 3)
    out = np.lib.format.open_memmap(tmp_path / "out.npy", mode="w+", dtype=np.int16, shape=(3, 2))
    assert sl.compile(sl.transpose(sl.tensor("N, C")), strict=True)(x, out=out) is out
    out.flush()
    assert np.array_equal(np.load(tmp_path / "out.npy"), x.T)


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_short_runs_beside_each_other_become_rows_in_strips(dtype: str) -> None:
    """Pixels of three become pixels of four; strips end where the loop does."""
    kernel = sl.compile(sl.pad(sl.tensor("N, 3"), ((0, 0), (0, 1)), constant_values=7), dtype=dtype, strict=True)
    assert "sl_copy_rows" in kernel.schedule
    assert "sl_fill_rows" in kernel.schedule
    for n in (0, 1, 2, 63, 255, 256, 257, 511, 512, 1000):
        x = np.arange(3 * n).astype(dtype).reshape(n, 3)
        for threads in (1, 3):
            assert np.array_equal(kernel(x, threads=threads), np.pad(x, ((0, 0), (0, 1)), constant_values=7))


@pytest.mark.sample(4)
@pytest.mark.parametrize("size", [3, 5, 12, 17, 40])
def test_constant_shapes_leave_no_divisions(size: int) -> None:
    kernel = sl.compile(sl.roll(sl.tensor((300, size)), 2, 1), dtype="uint8", strict=True)
    x = np.random.default_rng(0).integers(0, 255, (300, size), "uint8")
    assert np.array_equal(kernel(x), np.roll(x, 2, 1))
    assert f"//{size}" not in kernel.schedule


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_an_output_that_no_cache_holds_is_the_same(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines are written past the caches wherever the output begins, and nothing beside it is touched."""
    monkeypatch.setenv("CFLAGS", "-DSL_FAR_BYTES=1")
    for t in (
        sl.space_to_depth(sl.tensor((2, 3, 6, 400)), 2),
        sl.depth_to_space(sl.tensor((2, 8, 3, 205)), 2),
        sl.transpose(sl.tensor((3, 5, 1100)), (1, 0, 2)),
    ):
        kernel = sl.compile(t, dtype=dtype, strict=True)
        assert "sl_reach(" in kernel.source
        (leaf,) = t.leaves()
        x = np.random.default_rng(0).integers(0, 255, [int(n) for n in leaf.shape]).astype(dtype)
        for begin in range(0, 70, 3):
            memory = np.zeros(200 * x.itemsize + x.nbytes, "uint8")
            out = memory[begin * x.itemsize :][: x.nbytes].view(dtype).reshape([int(n) for n in t.shape])
            kernel(x, out=out)
            assert np.array_equal(out, sl.interpret(t, x))
            assert not memory[: begin * x.itemsize].any()
            assert not memory[begin * x.itemsize + x.nbytes :].any()


@pytest.mark.sample(3)
@pytest.mark.parametrize("march", available())
@pytest.mark.parametrize("streams", [2, 3, 4])
def test_streams_past_the_caches_write_what_those_in_them_do(
    streams: int, march: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CFLAGS", "-DSL_FAR_BYTES=1024")  # outputs are far from here on
    n, rows = sl.dims("N R")
    join = sl.transpose(sl.tensor((rows, streams, n), name="x"), (0, 2, 1))
    split = sl.transpose(sl.tensor((rows, n, streams), name="x"), (0, 2, 1))
    for dtype, moved in itertools.product(("u1", "f2", "f4", "f8"), (join, split)):
        kernel = sl.compile(moved, dtype=dtype, strict=True, march=march)
        least = 1024 // streams // np.dtype(dtype).itemsize  # rows of 1024 bytes
        for width, lead in itertools.product((least - 1, least, least + 1, 2 * least + 7), (0, 1, 5)):
            shape = (3, streams, width) if moved is join else (3, width, streams)
            x = (
                np.random.default_rng(width)
                .integers(0, 256, (*shape, np.dtype(dtype).itemsize), "u1")
                .view(dtype)[..., 0]
            )
            whole = np.full(x.size + 64, 7, dtype)
            out = whole[lead : lead + x.size].reshape(3, *shape[:0:-1])
            kernel(np.ascontiguousarray(x), out=out)
            assert out.tobytes() == x.transpose(0, 2, 1).tobytes(), (dtype, shape, lead)
            assert (whole[:lead] == 7).all()
            assert (whole[lead + x.size :] == 7).all()


@pytest.mark.parametrize("half", [0, 1, 2])
def test_a_fill_is_written_by_strides_that_hold_without_what_is_read(half: int) -> None:
    """Where something is read, ``max(0, 2*h - 2)`` is ``2*h - 2``; the padding of an empty row has another stride."""
    x = sl.tensor("N, 2*h", name="x")
    y = sl.pad(x[:, :-2], ((1, 2), (0, sl.dim("p"))), constant_values=5)
    kernel = sl.compile(y, dtype="int32", strict=True)
    array = np.arange(3 * 2 * half, dtype=np.int32).reshape(3, 2 * half)
    expected = sl.interpret(y, array, dims={"p": 4})
    assert kernel(array, out=np.full_like(expected, -1), dims={"p": 4}).tolist() == expected.tolist()


def test_digits_that_make_up_a_number_are_walked_as_that_number() -> None:
    n, a = sl.dims("N A")
    x, y = (sl.tensor((n, a), name=name) for name in "xy")
    nest, _ = lower(sl.reshape(sl.stack([x, y], 0), (n, 2 * a)))
    assert len(nest.pieces) == 2
    assert not any(piece.carried for piece in nest.pieces)  # nothing is divided at each element


def test_a_result_that_no_array_of_numpy_can_be_is_a_typed_error() -> None:
    x, n = sl.tensor("L", name="x"), np.zeros(3)
    large, many = sl.pad(x, ((2**62, 0),)), sl.reshape(x, (1,) * 70 + (-1,))
    split = sl.tensorflow.space_to_batch_nd(
        sl.tensor("N, L", name="x"), [2**62], [[0, 0]]
    )  # (2**62 * N, 0) of no element
    for t, a, kind in ((large, n, "overflow"), (many, n, "rank"), (split, np.zeros((1, 0)), "overflow")):
        for call in (partial(sl.interpret, t), sl.compile(t)):
            with pytest.raises(sl.ShapeError) as caught:
                call(a)
            assert caught.value.kind == kind


M, N, C = sl.dims("M N C")
BLOCK = sl.dim("b", min=1)


@pytest.mark.parametrize(
    ("t", "dims", "kind"),
    [
        (sl.transpose(sl.tensor((M, N, C))), {"M": 2**31, "N": 2**31, "C": 0}, ""),
        (sl.transpose(sl.tensor((M, N, C))), {"M": 0, "N": 2**32, "C": 2**31}, "overflow"),
        (sl.ravel(sl.tensor((M, N, C))), {"M": 2**32, "N": 2**32, "C": 0}, "overflow"),
        (sl.ravel(sl.tensor((2 * M * N, C))), {"M": 2**62, "N": 2**62, "C": 0}, "overflow"),
        (sl.ravel(sl.tensor((2 * M * N * C,))), {"M": 2**62, "N": 2**62, "C": 0}, ""),
        (sl.pad(sl.tensor((M, N)), [[0, 0], [0, C]])[:, :0], {"M": 2, "N": 1, "C": 2**62}, "overflow"),
        (sl.pack(sl.tensor((M, N)), axis=1, block=3), {"M": 0, "N": 2**63 - 2}, ""),
        (sl.pack(sl.tensor((M,)), axis=0, block=BLOCK), {"M": 0, "b": 2**62 + 1}, ""),
        (
            sl.depth_to_space(sl.tensor((M, N, C, 1)), block_size=BLOCK),
            {"M": 0, "N": 0, "C": 0, "b": 2**32},
            "overflow",
        ),
        (sl.flip(sl.tensor((M * N,))), {"M": 2**63, "N": 0}, "overflow"),
        (sl.reshape(sl.tensor((2 * M, N)), (M, -1)), {"M": 0, "N": 3}, "size_mismatch"),
    ],
)
def test_a_kernel_called_from_c_and_the_meaning_agree_where_the_result_is_empty(
    t: sl.Tensor, dims: dict[str, int], kind: str
) -> None:
    assert empty_result(t, sl.compile(t, dtype="uint8", strict=True), dims) == (kind, kind)


def test_a_kernel_checks_the_bounds_of_its_dims_itself() -> None:
    """As from C, where nothing is bound before the call."""
    nest, _ = lower(sl.flip(sl.tensor((sl.dim("H", 4, 8, multiple_of=3),), name="x")))
    checks = [step for step in nest.prelude if isinstance(step, Precondition)]
    for size in range(14):
        values = [(check.relation, evaluate(check.value, {"H": size})) for check in checks]
        holds = all(value == 0 if relation == "==" else value >= 0 for relation, value in values)
        assert holds == (size == 6)


def test_a_strict_kernel_of_any_type_is_built_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/no/such/cc")
    t = sl.flip(sl.tensor("N, H", name="x"))
    sl.compile(t)
    with pytest.raises(sl.CompilerError, match="is not a program"):
        sl.compile(t, strict=True)


def test_a_tile_of_what_may_be_empty_is_moved_without_divisions() -> None:
    """The extent, by which is divided, may be 0 where the pad is written: the kernel has a part for each case."""
    n, p = sl.dims("n p")
    y = sl.pad(sl.tile(sl.tensor((n,), name="x"), 2), [p, 1], constant_values=7)
    k = sl.compile(y, dtype="i4", strict=True)
    body = k.source.partition("from0 = src")[2]
    assert "sl_copy_rows(" in body
    assert "div" not in body
    for size in (0, 1, 3):
        x = np.arange(size, dtype="i4")
        assert k(x, dims={"p": 2}).tolist() == [7, 7, *x, *x, 7]


@pytest.mark.slow
def test_boxes_for_divisors_that_may_be_0_are_made_once_each() -> None:
    """Of several such extents, one of which stays a divisor where it is 0: that one is divided by as it is."""
    h, w, c, p, q = sl.dims("H W C p q")
    b = sl.dim("b", min=1)
    crop = sl.tensor((h, w, b * c), name="x")[:, : w - q - 2, : b * b * c - p - 2]
    packed = sl.pack(crop, axis=0, block=b, constant_values=1)
    y = sl.reshape(packed, [-1])
    k = sl.compile(y, dtype="i4", strict=True)
    seen = set()
    for sizes in itertools.product((1, 2), (2, 3, 4), (1, 2), (0, 1), (0, 1), (1, 2)):
        dims = dict(zip(("H", "W", "C", "p", "q", "b"), sizes, strict=True))
        try:
            shape = y.subs(dims).shape
        except sl.ShapeError:
            continue
        extents = [dims["H"], dims["W"], dims["b"] * dims["C"]]
        x = np.arange(1, 1 + math.prod(extents), dtype="i4").reshape(extents)
        out = np.full(shape, -1, "i4")
        k(x, out=out, dims=dims)
        assert np.array_equal(out, sl.interpret(y, x, dims=dims))
        seen.add(0 in shape)
    assert seen == {False, True}


L, R = sl.dims("p q")
X, Z = sl.tensor("W", name="x"), sl.tensor("c", name="z")
P = sl.pad(X[:-2], [L, 1], constant_values=5)  # of a crop that is empty where W < 3, and is not W - 2 there
AROUND_EMPTY = {
    "pads": sl.pad(P, [R, 2], constant_values=7),
    "crop": sl.pad(P[1:], [R, 2], constant_values=7),
    "tile": sl.pad(sl.tile(P, 2), [R, 2], constant_values=7),
    "pads of axes": sl.pad(
        sl.reshape(sl.pad(sl.expand_dims(X[:-2], 0), ((1, 1), (L, 1)), constant_values=5), -1), [R, 1]
    ),
    "join": sl.concatenate([P, Z]),
    "joins": sl.pad(sl.concatenate([sl.concatenate([Z, P]), P]), [R, 1], constant_values=8),
    "roll": sl.pad(sl.roll(P, R), [1, R], constant_values=6),
    "edge": sl.pad(sl.pad(P, [R, 1], mode="edge"), [1, 1], constant_values=6),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", AROUND_EMPTY)
def test_where_a_fill_ends_does_not_follow_from_what_is_read_inside(name: str) -> None:
    y = AROUND_EMPTY[name]
    kernel = sl.compile(y, dtype="i4", strict=True)
    names = [leaf.name for leaf in y.leaves()]
    for w, c, p, q in itertools.product((0, 1, 2, 3, 4), (0, 2), (0, 1, 2), (0, 2)):
        arrays = {"x": np.arange(10, 10 + w, dtype="i4"), "z": np.arange(50, 50 + c, dtype="i4")}
        dims = {name: n for name, n in {"p": p, "q": q}.items() if name in y.facts.dims}
        expected = sl.interpret(y, *(arrays[name] for name in names), dims=dims)
        out = np.full_like(expected, -1)
        assert kernel(*(arrays[name] for name in names), out=out, dims=dims).tolist() == expected.tolist()


def test_a_quotient_of_a_maximum_and_a_digit_stays_one_quotient() -> None:
    """Both parts of the maximum may hold somewhere; a maximum of two quotients of digits is no digit of a loop."""
    n, m, q = sl.dims("N M q")
    b = sl.dim("b", min=1)
    y = sl.space_to_batch(sl.tensor((n * b, m * b), name="x"), [b], [[1, q]])[-3:-1]
    assert str(y.index_map).startswith("(i0, i1) -> ((i0 + max(0, N*b**2 - 3)) % (N*b), ")
    kernel = sl.compile(y, dtype="i4", strict=True)
    for rows, columns, block in itertools.product((0, 1, 2), (0, 1, 2), (1, 2, 3)):
        x = np.arange(1, 1 + rows * columns * block**2, dtype="i4").reshape(rows * block, columns * block)
        dims = {"q": (-columns * block - 1) % block, "b": block}
        assert kernel(x, dims=dims).tolist() == sl.interpret(y, x, dims=dims).tolist()


def test_a_source_that_no_memory_holds_is_refused_though_little_of_it_is_read() -> None:
    nest, _ = lower(sl.tensor("N, H, W", name="x")[:1])
    kernel = compile_nest(nest, 1)
    out = np.zeros(6, "u1")
    x = np.arange(12, dtype="u1")
    kernel((2, 2, 3), [x], out)
    assert out.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(PreconditionFailed) as caught:
        kernel((2**62, 2, 3), [x], out)
    assert caught.value.kind == "overflow"


@pytest.mark.slow
@pytest.mark.parametrize("last", [0, 1])
def test_the_fill_of_a_branch_is_found_where_other_digits_need_another_guard(last: int) -> None:
    """A pad of nothing is shown to be inside the output's axes, and not in the digits that a window cuts."""
    h, c, q = sl.dims("H C q")
    x = sl.pad(sl.tensor((h, c, 4), name="x"), [(0, 0), (1, 0), (0, 0)], mode="reflect")
    flat = sl.reshape(sl.pad(x, [(0, 0), (0, q), (0, 0)], constant_values=1), (h * (c + 1 + q) * 4,))
    parts = [flat, sl.tensor(flat.shape, name="z")]
    y = sl.pad(sl.stack(parts if last else parts[::-1], axis=1)[:-2], 0)
    kernel = sl.compile(y, dtype="u1", strict=True)
    for rows, columns, more in itertools.product((1, 2, 3), (2, 4), (0, 1, 3)):
        a = np.arange(1, 1 + rows * columns * 4, dtype="u1").reshape(rows, columns, 4)
        z = np.arange(100, 100 + rows * (columns + 1 + more) * 4).astype("u1")
        arrays = [{"x": a, "z": z}[leaf.name] for leaf in y.leaves()]
        expected = sl.interpret(y, *arrays, dims={"q": more})
        out = np.full_like(expected, 255)
        assert kernel(*arrays, out=out, dims={"q": more}).tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:NumPy computes")
def test_a_digit_that_was_split_is_not_split_again() -> None:
    """A floor of it may be left in a window: then the kernel, whose strides are given, divides, or NumPy computes."""
    h, w, c, p = sl.dims("H W C p")
    rolled = sl.op("torch:roll")(sl.tensor((2 * w, h + 1, c + 1), name="x"), shifts=0 - p)
    y = sl.pack(sl.pack(sl.pack(rolled, 0, 3), 3, 3), 2, 2, constant_values=5)
    x = np.arange(24, dtype="i4").reshape(4, 3, 2)
    found = sl.compile(y, dtype="i4")(x[:, ::-1], dims={"p": 1})
    assert found.tolist() == sl.interpret(y, x[:, ::-1], dims={"p": 1}).tolist()


@pytest.mark.parametrize(
    ("shape", "axes"), [((3, 5, 6, 40), (2, 1, 3, 0)), ((6, 40, 5, 3), (2, 0, 1, 3)), ((5, 6, 40, 3), (0, 3, 2, 1))]
)
def test_streams_and_bands_of_axes_with_levels(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """The first joins three streams whose rows have three levels in the output."""
    x = np.arange(np.prod(shape), dtype="float32").reshape(shape)
    t = sl.transpose(sl.tensor([sl.dim(f"n{k}") for k in range(4)], dtype="float32", name="x"), axes)
    assert np.array_equal(sl.compile(t, dtype="float32")(x), x.transpose(axes))
