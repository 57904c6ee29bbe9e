"""Kernels that compute: what they write is what the interpreter computes, bit for bit."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from benchmarks import bodies
from symlayout.compute.contractions import Spatial
from symlayout.compute.pooling import average_pool, max_pool
from symlayout.compute.reductions import greatest, least, mean, product, reduced, total
from symlayout.maps.gather_elements import int_extents
from symlayout.run.body_kernel import BodyKernel
from symlayout.run.lower_bodies import lower_bodies
from symlayout.run.standalone_c import Unit, emit
from symlayout.tensors.chain import Tensor
from symlayout_codegen.ir.nest import simulate
from symlayout_codegen.jit.compiler import find_compiler
from symlayout_codegen.jit.instruction_set import LEVELS, available

Array = np.ndarray[Any, Any]
N, H, W, C = sl.dims("N H W C")


def x(dtype: str, *shape: Any, name: str = "x") -> Tensor:
    return sl.tensor(shape, dtype=dtype, name=name)


def pool(*strides: int, pad: int = 0) -> Spatial:
    return Spatial(strides, (1, 1), ((pad, pad), (pad, pad)))


def preprocessed() -> Tensor:
    """Return an image cropped, scaled and shifted per channel, channels first."""
    image = sl.onnx.cast(x("uint8", H + 4, W + 4, 3)[2:-2, 2:-2], to=1)
    scaled = sl.onnx.mul(image, np.array([0.5, 0.25, 0.125], np.float32))
    made: Tensor = sl.transpose(sl.onnx.add(scaled, np.array([1, 2, 3], np.float32)), (2, 0, 1))
    return made


def unpacked() -> Tensor:
    """Return the nibbles of bytes, the low one first, dequantised."""
    shifted = sl.onnx.bit_shift(sl.expand_dims(x("uint8", H, W), -1), np.array([0, 4], np.uint8), direction="RIGHT")
    nibbles = sl.reshape(sl.onnx.bitwise_and(shifted, np.uint8(15)), (H, 2 * W))
    made: Tensor = sl.onnx.dequantize_linear(nibbles, np.float32(0.5), np.uint8(8))
    return made


CHAINS: dict[str, Callable[[], Tensor]] = {
    "preprocess": preprocessed,
    "unpack nibbles": unpacked,
    "pad before and after": lambda: sl.pad(
        sl.onnx.relu(sl.pad(x("float32", H, W), [(1, 2), (0, 3)], constant_values=-5.0)), [(0, 1), (1, 0)]
    ),
    "pad between bodies": lambda: sl.onnx.neg(
        sl.pad(sl.onnx.abs(x("float32", H, W)), [(1, 0), (0, 1)], constant_values=2.0)
    ),
    "two inputs": lambda: sl.onnx.add(x("int32", H, W), sl.transpose(x("int32", W, H, name="y"), (1, 0))),
    "concat": lambda: sl.concatenate([sl.onnx.relu(x("float64", H, W)), x("float64", N, W, name="y")], axis=0),
    "roll and flip": lambda: sl.roll(sl.onnx.neg(sl.flip(x("int8", H, W), axis=1)), 1, axis=0),
    "space to depth": lambda: sl.space_to_depth(sl.onnx.cast(x("uint8", N, C, 2 * H, 2 * W), to=1), 2),
    "quantize": lambda: sl.onnx.quantize_linear(x("float32", H, W), np.float32(0.3), np.uint8(7)),
    "half layout": lambda: sl.transpose(sl.onnx.cast(x("float32", N, H, W, C), to=10), (0, 3, 1, 2)),
    "sum of rows": lambda: reduced(x("float32", H, W), [1], total, keepdims=False),
    "mean of integers": lambda: reduced(x("int8", N, C), [1], mean, keepdims=True),
    "mean over a moved axis": lambda: reduced(sl.onnx.cast(x("uint8", N, H, W, C), to=1), [1, 2], mean, keepdims=True),
    "maximum": lambda: reduced(sl.onnx.neg(x("float32", H, W)), [0], greatest, keepdims=False),
    "minimum of all": lambda: reduced(x("float64", H, W), [0, 1], least, keepdims=False),
    "product of halves": lambda: reduced(x("float16", N, C), [1], product, keepdims=False),
    "less the mean": lambda: sl.onnx.sub(x("float32", H, W), reduced(x("float32", H, W), [1], mean, keepdims=True)),
    "max pool": lambda: max_pool(x("float32", N, C, 2 * H + 2, 2 * W + 2), (2, 2), pool(2, 2)),
    "padded max pool": lambda: max_pool(sl.onnx.relu(x("uint8", N, C, H + 3, W + 3)), (3, 3), pool(2, 2, pad=1)),
    "average pool": lambda: average_pool(x("float32", N, C, H + 3, W + 3), (3, 2), pool(1, 1, pad=1), count_pads=False),
    "relu of exp": lambda: sl.transpose(sl.onnx.relu(sl.onnx.exp(x("float32", H, W))), (1, 0)),
}
SIZES = [{"N": 2, "H": 5, "W": 7, "C": 3}, {"N": 1, "H": 70, "W": 66, "C": 33}, {"N": 1, "H": 0, "W": 4, "C": 2}]
SIZES += [{"N": 1, "H": 3, "W": 0, "C": 1}, {"N": 0, "H": 1, "W": 1, "C": 0}]


def drawn(dtype: Any, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return elements of *dtype*, with the extremes, signed zeros, halves, infinities and NaN among them."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "f":
        a = (rng.standard_normal(count) * rng.choice([0.3, 3, 300, 1e4], count)).astype(dtype)
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5], dtype)
    elif dtype.kind == "b":
        a, special = rng.integers(0, 2, count).astype(bool), np.array([True, False])
    else:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        special = np.array([0, 1, info.min, info.max, 7], dtype)
    chosen = rng.random(count) < 0.1
    a[chosen] = rng.choice(special, int(chosen.sum()))
    made: Array = a.reshape(shape)
    return made


def same_bits(a: Array, b: Array) -> bool:
    """Return whether all elements have equal bits; a NaN equals each NaN."""
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    bits = np.ascontiguousarray(a).view(f"V{a.itemsize}") == np.ascontiguousarray(b).view(f"V{b.itemsize}")
    return bool(np.all(bits | ((a != a) & (b != b)) if a.dtype.kind == "f" else bits))


def natives(k: Any) -> list[Any]:
    return [native for native in k._bodies._natives.values() if native is not None]


def check(y: Tensor, seed: int = 0, **options: Any) -> None:
    """Compare the kernel of *y* with the interpreter at several sizes, for contiguous and strided arrays."""
    rng = np.random.default_rng(seed)
    k = sl.compile(y, **options)
    for dims, strided in itertools.product(SIZES, (False, True)):
        arrays = []
        for leaf in y.arguments():
            shape = tuple(int(e) for e in leaf.bind({n: v for n, v in dims.items() if n in leaf.facts.dims}).shape)
            a = drawn(leaf.dtype, shape, rng)
            arrays.append(np.repeat(a, 2, axis=-1)[..., ::2] if strided and a.ndim else a)
        try:
            expected = sl.interpret(y, *arrays)
        except sl.ShapeError:
            continue
        out = np.empty((*expected.shape, 2), expected.dtype)[..., 0]
        assert same_bits(k(*arrays), expected), dims
        assert same_bits(k(*arrays, out=out), expected), dims
        assert same_bits(k(*arrays, out=out, threads=3), expected), dims
    assert len(natives(k)) == 2


def compiler() -> bool:
    try:
        return bool(find_compiler())
    except sl.CompilerError:
        return False


@pytest.mark.skipif(not compiler(), reason="no C compiler")
@pytest.mark.sample(2)
@pytest.mark.parametrize("name", list(CHAINS))
def test_kernel_is_the_interpreter(name: str) -> None:
    check(CHAINS[name]())


SLOW = ("max pool", "padded max pool")  # whose loops take 20 seconds in Python


def lowered(y: Tensor) -> Any:
    return lower_bodies(y, {leaf.key: leaf.dtype for leaf in y.arguments() if leaf.dtype is not None})


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in CHAINS])
def test_each_output_element_is_written_once_from_inside_of_the_sources(name: str) -> None:
    y = CHAINS[name]()
    found = lowered(y)
    assert found is not None
    for dims in SIZES:
        values = {p: dims[p] for p in found.nest.parameters}
        shapes = [s.bind({n: v for n, v in dims.items() if n in s.facts.dims}) for s in found.sources]
        sizes = {n: prod(int_extents(s)) for n, s in zip(found.nest.sources, shapes, strict=True)}
        try:
            extents = int_extents(y.bind({n: v for n, v in dims.items() if n in y.facts.dims}))
        except sl.ShapeError:
            continue
        if 70 in extents:
            continue  # the small sizes have all parts
        written = simulate(found.nest, values)
        assert sorted(written) == list(range(prod(extents)))
        for ((kind, value),) in written.values():
            if kind == "value":
                for loads in value[1]:
                    for source, at in loads:
                        assert source not in sizes or 0 <= at < sizes[source]


def test_a_body_that_libraries_round_differently_stays_with_the_interpreter() -> None:
    y = sl.onnx.relu(sl.onnx.exp(x("float32", H)))
    found = lowered(y)
    assert [source.body.name for source in found.sources if source.body] == ["Exp"]
    assert lowered(sl.transpose(sl.onnx.tanh(x("float32", H, W)))) is None


def test_the_c_of_a_kernel_says_what_it_computes_and_holds_small_constants() -> None:
    source = sl.compile(preprocessed()).source
    assert "computes cast, Mul, Add" in source
    assert "static const sl_float32 from1[3] = {0x1p-1F, 0x1p-2F, 0x1p-3F};" in source
    assert "sl_load_octet(from0 + (" in source


def test_a_large_constant_is_a_source() -> None:
    y = sl.onnx.mul(x("float32", H, 100), np.arange(100, dtype=np.float32))
    found = lowered(y)
    assert [source.name for source in found.sources] == ["x", "B"]
    assert found.nest.constants == ()


def test_types_that_c_lacks_and_reads_with_cases_are_left_to_the_interpreter() -> None:
    big = sl.onnx.add(x(">f4", H), x(">f4", H, name="y"))
    assert lowered(big) is None
    joined = sl.onnx.relu(sl.concatenate([x("float32", H), x("float32", W, name="y")], axis=0))
    assert lowered(joined) is None
    a, b = np.array([-1, 2], np.float32), np.array([3, -4], np.float32)
    assert sl.compile(joined)(a, b).tolist() == [0, 2, 3, 0]


def test_errors_of_a_call_come_before_the_output_is_written() -> None:
    k = sl.compile(preprocessed())
    image = np.zeros((8, 9, 3), np.uint8)
    out = np.full((3, 4, 5), 7, np.float32)
    with pytest.raises(sl.ShapeError):
        k(image, out=out[:, :3])
    with pytest.raises(sl.ArrayError):
        k(image.astype(np.float32), out=out)
    with pytest.raises(sl.ArrayError):
        k(image, out=out.astype(np.float64))
    out.flags.writeable = False
    with pytest.raises(sl.ArrayError):
        k(image, out=out)
    assert (out == 7).all()


@pytest.mark.slow
@pytest.mark.parametrize("level", available())
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_colours_in_turn_are_computed_in_vectors(dtype: str, level: str) -> None:
    """Widths around eight, with outputs at addresses that are no multiples of a vector, and not one byte beyond."""
    rng = np.random.default_rng(0)
    for colours in (2, 3, 4):
        image = sl.onnx.cast(x(dtype, H, W + 1, colours)[:, 1:], to=1)
        scale, shift = (rng.standard_normal(colours).astype(np.float32) for _ in range(2))
        y = sl.transpose(sl.onnx.add(sl.onnx.div(sl.onnx.sub(image, shift), scale), shift), (2, 0, 1))
        kernel = sl.compile(y, strict=True, march=level)
        assert "sl_load_octet" in kernel.source
        for width in (0, 1, 7, 8, 9, 15, 16, 17, 31, 40):
            a = drawn(np.dtype(dtype), (3, width + 1, colours), rng)
            expected = sl.interpret(y, a)
            room = np.full(expected.size + 16, np.nan, np.float32)
            for first in (0, 1, 5, 7):
                out = room[first : first + expected.size].reshape(expected.shape)
                assert kernel(a, out=out).tobytes() == expected.tobytes()
                assert np.isnan(room[:first]).all()
                assert np.isnan(room[first + expected.size :]).all()
                room[:] = np.nan


def test_a_repeated_call_checks_what_the_first_one_did() -> None:
    y = sl.onnx.add(sl.onnx.cast(x("uint8", H, W), to=1), x("float32", H, W, name="y"))
    kernel = sl.compile(y)
    a, b = np.arange(6, dtype=np.uint8).reshape(2, 3), np.full((2, 3), 0.5, np.float32)
    out = np.empty((2, 3), np.float32)
    for _ in range(3):
        assert kernel(a, b, out=out) is out
        np.testing.assert_array_equal(kernel(a, b), a + b)
    for wrong in ((b, b), (a, a), (a,), (a, b[:1])):
        with pytest.raises((sl.ArrayError, sl.ShapeError)):
            kernel(*wrong, out=out)
    with pytest.raises(sl.ArrayError):
        kernel(a, b, out=b)
    frozen = out.copy()
    frozen.flags.writeable = False
    with pytest.raises(sl.ArrayError):
        kernel(a, b, out=frozen)
    assert kernel(a, b, out=out).tobytes() == (a + b).tobytes()


def test_a_call_is_planned_once() -> None:
    k = BodyKernel(preprocessed(), "native", 1)
    image = np.zeros((8, 9, 3), np.uint8)
    if (made := k([image], None, None, None)) is not None:
        again = k.again([image], None)
        assert again is not None
        assert again.tobytes() == made.tobytes()
        assert len(k._plans) == 1


def test_emitted_c_says_its_types_and_what_c_cannot_compute_is_refused() -> None:
    files = emit([Unit(preprocessed(), "preprocess", 4, "symlayout emit")])
    assert {"preprocess.c", "symlayout_values.h", "symlayout_runtime.h"} <= set(files)
    assert "src : x, uint8" in files["preprocess.c"]
    with pytest.raises(sl.InconclusiveError, match="C computes each value of Exp"):
        emit([Unit(sl.onnx.exp(x("float32", H)), "exp", 4, "")])


@pytest.mark.sample(2)
@pytest.mark.skipif(not available(), reason="levels of x86-64")
@pytest.mark.parametrize("level", available())
def test_halves_are_converted_alike_at_every_instruction_set(level: str) -> None:
    """All halves; and all floats between them that are rounded in another way than their neighbours."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    floats = halves[np.isfinite(halves)].astype(np.float32)
    nearer = np.nextafter(floats.astype(np.float16), np.float16(0)).astype(np.float32)
    ties = (floats + nearer) / 2
    beside = np.concatenate([ties, *(np.nextafter(ties, np.float32(end)) for end in (-np.inf, np.inf)), floats])
    beside = np.concatenate([beside, np.array([65519.9, 65520, 1e38, 1e-45, np.inf, -np.inf], np.float32)])
    widened = sl.compile(sl.onnx.cast(x("float16", N), to=1), march=level)(halves)
    numbers = ~np.isnan(halves)
    assert widened[numbers].tobytes() == halves[numbers].astype(np.float32).tobytes()
    assert (widened[~numbers].view(np.uint32) == (halves[~numbers].view(np.uint16) & 0x3FF).astype(np.uint32) << 13
            | (halves[~numbers].view(np.uint16) & 0x8000).astype(np.uint32) << 16 | 0x7FC00000).all()  # fmt: skip
    narrow = sl.compile(sl.onnx.cast(x("float32", N), to=10), march=level)
    with np.errstate(over="ignore"):
        assert narrow(beside).tobytes() == beside.astype(np.float16).tobytes()
    assert np.array_equal(narrow(widened).view(np.uint16)[~numbers], halves[~numbers].view(np.uint16) | 0x200)


@pytest.mark.skipif(not available(), reason="levels of x86-64")
@pytest.mark.parametrize("level", available())
def test_doubles_are_rounded_to_halves_once(level: str) -> None:
    """Doubles beside a tie of two halves are rounded to the tie where they become floats first."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    doubles = halves[np.isfinite(halves)].astype(np.float64)
    ties = (doubles + np.nextafter(doubles.astype(np.float16), np.float16(0)).astype(np.float64)) / 2
    beside = np.concatenate([ties, *(np.nextafter(ties, end) for end in (-np.inf, np.inf)), doubles])
    limits = np.array([65519.999999, 65520, 1e38, 3.5e38, 1e300, 1e-45, 1e-300, 5e-324, 2.0**-25, 0.0, np.inf])
    narrow = sl.compile(sl.onnx.cast(x("float64", N), to=10), march=level)
    for given in (beside, limits, -limits, halves.astype(np.float64)):
        with np.errstate(over="ignore"):
            expected = given.astype(np.float16)
        numbers = ~np.isnan(given)
        assert narrow(given)[numbers].tobytes() == expected[numbers].tobytes()
        assert np.isnan(narrow(given)[~numbers]).all()


@pytest.mark.skipif(shutil.which("gcc") is None or not available(), reason="needs gcc, and levels of x86-64")
@pytest.mark.parametrize("level", LEVELS)
def test_a_max_pool_is_compiled_to_vectors(level: str, tmp_path: Path) -> None:
    """A jump for each element takes thirty times as long."""
    for name, text in emit([Unit(CHAINS["max pool"](), "pool", 4, "")]).items():
        (tmp_path / name).write_text(text)
    words = ["gcc", "-std=c11", "-O3", f"-march={level}", "-S", "pool.c", "-o", "-"]
    assembly = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^\tv?cmp\w*ps\t", assembly, re.MULTILINE)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_compilers_have_no_warning_about_what_kernels_compute(compiler: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wpedantic", "-Werror", "-fsyntax-only"]
    for k, name in enumerate(CHAINS):
        if "exp" in name:
            continue  # C computes no exponential
        for file, text in emit([Unit(CHAINS[name](), f"kernel_{k}", 4, "")]).items():
            (tmp_path / file).write_text(text)
        words = [compiler, *flags, f"kernel_{k}.c"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout + done.stderr == "", name


LACKING = ["-U__FLT16_MANT_DIG__", "-D_Float16=none"]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_compilers_without_halves_convert_them_and_refuse_to_add_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On x86-64, gcc 11 and clang 14 have no _Float16: here the word and the macro of a newer one are taken away."""

    def compiled(t: Tensor) -> str:
        for file, text in emit([Unit(t, "halves", 2, "")]).items():
            (tmp_path / file).write_text(text)
        words = ["gcc", "-std=c11", *LACKING, "-Wall", "-Werror", "-fsyntax-only"]
        return subprocess.run([*words, "halves.c"], cwd=tmp_path, capture_output=True, text=True, check=False).stderr

    for name in CHAINS:
        if "half" in name or "halves" in name:
            assert compiled(CHAINS[name]()) == "", name
    assert compiled(sl.onnx.cast(x("float64", N), to=10)) == ""
    monkeypatch.setenv("CC", "gcc")
    monkeypatch.setenv("CFLAGS", " ".join(LACKING))
    with pytest.raises(sl.CompilerError) as caught:
        sl.compile(sl.adjoint(sl.pad(x("float16", N), 1, mode="edge")), strict=True)
    assert "sums of float16 need a compiler that has _Float16" in caught.value.log


def test_benchmarks_compare_what_is_equal() -> None:
    for chain in (bodies.preprocess(40), bodies.unpack()):
        expected = sl.interpret(chain.tensor, chain.array)
        out = np.empty_like(expected)
        chain.numpy(chain.array, out)
        assert np.array_equal(out, expected)
