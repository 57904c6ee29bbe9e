"""Elements of half a byte, two to a byte: kernels, NumPy and brute force agree; what cannot be is refused."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout.run import call_plan
from symlayout.run.standalone_c import Unit, emit
from symlayout.run.storage import NIBBLES
from tests.support.effort import examples
from tests.support.halves import check_halves, cut, joined
from tests.support.strategies import DYNAMIC, Case, cases

quick = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
K, N = sl.dims("K N")
WORDS = sl.tensor("rows, words, 8", name="w")
rows, words, _ = WORDS.shape


def awq(w: sl.Tensor) -> sl.Tensor:
    pairs = sl.reshape(w, (*w.shape[:-1], 4, 2))
    return sl.reshape(sl.transpose(pairs, (0, 1, 3, 2)), w.shape)


def matrix(shape: str = "K, N") -> sl.Tensor:
    return sl.tensor(shape, name="x")


def random_bytes(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(1).integers(0, 256, shape, np.uint8)


@pytest.fixture(autouse=True)
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small arrays be worth several threads, on a machine of any size."""
    monkeypatch.setattr(call_plan, "GRAIN", 1)
    monkeypatch.setattr(call_plan, "processors", lambda: 8)


@settings(quick, max_examples=examples(30))
@given(cases())
def test_random_chains(case: Case) -> None:
    check_halves(case)


@pytest.mark.slow
@settings(quick, max_examples=examples(15))
@given(cases(only=DYNAMIC, most_steps=3))
def test_random_chains_for_all_shapes(case: Case) -> None:
    check_halves(case, dynamic=True)


# Chains, the bytes of an input, and whether the halves of each byte stay together: all ways that the runtime has.
WAYS: dict[str, tuple[sl.Tensor, tuple[int, ...], bool]] = {
    "rows of bytes": (sl.transpose(matrix("A, B, C"), (1, 0, 2)), (5, 4, 3), True),
    "tiles": (sl.transpose(matrix()), (150, 71), False),
    "thin tiles": (sl.transpose(matrix()), (4, 150), False),
    "tiles in blocks": (sl.transpose(matrix("A, B, C"), (0, 2, 1)), (3, 10, 9), False),
    "words of 8": (awq(WORDS), (7, 5, 4), False),
    "words of 16": (sl.transpose(matrix("A, 8, 2"), (0, 2, 1)), (9, 8, 1), False),
    "words of 4 by 4": (sl.transpose(matrix("A, 4, 4"), (0, 2, 1)), (9, 4, 2), False),
    "two streams": (sl.transpose(matrix("A, 22, 2"), (0, 2, 1)), (9, 22, 1), False),
    "two streams joined": (sl.transpose(matrix("A, 2, 22"), (0, 2, 1)), (9, 2, 11), False),
    "eight streams": (sl.transpose(matrix("A, B, 8"), (0, 2, 1)), (3, 6, 4), False),
    "other half": (sl.roll(matrix(), 1, 1), (4, 9), False),
    "swapped": (sl.reshape(sl.flip(sl.reshape(matrix(), (K, N / 2, 2)), 2), (K, N)), (4, 9), False),
    "backwards": (sl.flip(matrix(), 1), (4, 9), False),
    "backwards from an even one": (sl.pad(sl.flip(matrix(), 1)[:, 1:], ((0, 0), (1, 0))), (4, 9), False),
    "every second": (matrix()[:, ::2], (4, 10), False),
    "every second from an odd one": (matrix()[:, 1::2], (4, 10), False),
    "every third": (matrix()[:, ::3], (4, 9), False),
    "odd rows": (sl.transpose(sl.pad(matrix(), ((1, 0), (1, 1)), constant_values=9)), (5, 4), False),
    "cut": (sl.transpose(matrix()[:, 1:-1]), (6, 9), False),
    "odd columns": (sl.pad(sl.transpose(matrix("A, 5, C"), (0, 2, 1)), ((0, 0), (0, 0), (0, 1))), (2, 5, 4), False),
    "even fills": (sl.pad(matrix(), ((0, 1), (2, 4)), constant_values=3), (4, 5), True),
    "odd fills": (sl.pad(matrix(), ((1, 0), (1, 3)), constant_values=9), (4, 5), False),
    "column of fill": (sl.pad(matrix("K, 6"), ((0, 0), (1, 1)), constant_values=12), (9, 3), False),
    "reflected": (sl.pad(matrix(), ((1, 1), (3, 1)), mode="reflect"), (4, 3), False),
    "repeated": (sl.repeat(matrix(), 2, 1), (4, 3), False),
    "joined": (sl.concatenate([sl.pad(matrix(), ((0, 0), (0, 1))), matrix()[:, 1:]], axis=1), (4, 3), False),
    "tiled": (sl.tile(matrix(), (2, 3)), (4, 3), True),
    "one long row": (sl.reshape(matrix(), (-1,)), (4, 3), True),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WAYS)
def test_each_way_on_several_threads_and_strides(name: str) -> None:
    y, shape, whole = WAYS[name]
    kernel = sl.compile(y, dtype="uint4x2", strict=True)
    assert ("symlayout_halves.h" in kernel.source) is not whole
    given = random_bytes(*shape)
    want = joined(sl.interpret(y, cut(given)))
    wide = np.repeat(np.repeat(given, 2, axis=0), 3, axis=-1)
    views = [
        given,
        wide[::2, ..., ::3],
        np.concatenate([given, given], axis=-1)[..., : shape[-1]],
        given[::-1].copy()[::-1],
    ]
    for a, threads in itertools.product(views, (1, 2, 5)):
        out = np.full_like(want, 0x5A)
        np.testing.assert_array_equal(kernel(a, out=out, threads=threads), want)
    np.testing.assert_array_equal(kernel._storage.interpret(kernel._chain, [given], _values(kernel, given)), want)


def _values(kernel: sl.Kernel, a: np.ndarray[Any, Any]) -> dict[str, int]:
    kernel(a)
    return next(iter(kernel._plans.values())).dims


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiles", "words of 8", "odd fills", "joined", "reflected"])
def test_parts_never_share_a_byte(name: str) -> None:
    """Each part is done on an output of its own; what they changed is apart, and together it is all."""
    y, shape, _ = WAYS[name]
    given = random_bytes(*shape)
    kernel = sl.compile(y, dtype="uint4x2", strict=True)
    want = kernel(given)
    native = next(iter(kernel._natives.values()))
    assert native is not None
    plan = next(iter(kernel._plans.values()))
    touched = np.zeros(want.size, int)
    fills = () if plan.fills is None else (native.pointer(plan.fills),)
    for part in range(3):
        changed = np.zeros(want.size, bool)
        for ground in (0x00, 0xFF):  # a byte may be what the ground is
            out = np.full(want.shape, ground, np.uint8)
            native.function(part, 3, *plan.arguments, native.pointer(given), native.pointer(out), *fills)
            changed |= out.ravel() != ground
        np.testing.assert_array_equal(out.ravel()[changed], want.ravel()[changed])
        touched += changed
    assert (touched == 1).all()


@pytest.mark.slow
def test_awq_and_back_in_packed_words() -> None:
    """The order is that of AWQ's packing loop, here in Python's integers."""
    weights = np.random.default_rng(0).integers(0, 16, (3, 16))
    packed = [
        [sum(int(row[8 * w + p]) << 4 * k for k, p in enumerate((0, 2, 4, 6, 1, 3, 5, 7))) for w in range(2)]
        for row in weights
    ]
    words_of_awq = np.array(packed, "<u4")
    plain = [[sum(int(row[8 * w + k]) << 4 * k for k in range(8)) for w in range(2)] for row in weights]
    forward = sl.compile(awq(WORDS), dtype="uint4x2", strict=True)
    back = sl.compile(sl.inverse(awq(WORDS))(WORDS), dtype="uint4x2", strict=True)
    as_bytes = np.array(plain, "<u4").view("u1").reshape(3, 2, 4)
    assert forward(as_bytes).tobytes() == words_of_awq.tobytes()
    assert back(words_of_awq.view("u1").reshape(3, 2, 4)).tobytes() == as_bytes.tobytes()


@pytest.mark.parametrize(("dtype", "value", "byte"), [("uint4x2", 15, 0xFF), ("int4x2", -8, 0x88), ("int4x2", 7, 0x77)])
def test_fills_are_the_bits_of_the_type(dtype: str, value: int, byte: int) -> None:
    y = sl.pad(matrix(), ((1, 0), (2, 0)), constant_values=value)
    assert sl.compile(y, dtype=dtype, strict=True)(random_bytes(1, 1))[0].tolist() == [byte, byte]
    assert NIBBLES[dtype].fill(value, np.dtype("u1")) == bytes([byte])


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint4x2", 16), ("uint4x2", -1), ("int4x2", 8), ("int4x2", -9), ("int4x2", 0.5)],
)
def test_a_fill_that_the_type_cannot_hold(dtype: str, value: Any) -> None:
    with pytest.raises(sl.ArrayError, match="fill"):
        sl.compile(sl.pad(matrix(), 2, constant_values=value), dtype=dtype)


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "odd input": (lambda: sl.compile(matrix("K, 3"), dtype="uint4x2"), "non_divisible"),
    "odd result": (lambda: sl.compile(matrix("K, 8")[:, 1:], dtype="uint4x2"), "non_divisible"),
    "odd at run time": (lambda: sl.compile(matrix()[:, ::2], dtype="uint4x2")(random_bytes(2, 1)), "non_divisible"),
    "odd dim": (lambda: sl.compile(matrix(), {"N": 3}, dtype="uint4x2"), "non_divisible"),
    "no axis": (lambda: sl.compile(sl.reshape(matrix("1, 1"), ()), dtype="uint4x2"), "rank"),
    "other shape": (lambda: sl.compile(matrix("K, 8"), dtype="uint4x2")(random_bytes(2, 3)), "size_mismatch"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_shapes_that_are_no_whole_bytes(name: str) -> None:
    refused, kind = REFUSED[name]
    with pytest.raises(sl.ShapeError) as caught:
        refused()
    assert caught.value.kind == kind


def test_arrays_and_types_that_cannot_be() -> None:
    kernel = sl.compile(matrix(), dtype="int4x2")
    for a in (random_bytes(2, 2).astype("int8"), random_bytes(2, 2).astype("float32")):
        with pytest.raises(sl.ArrayError, match=r"int4x2 are two to a byte of uint8"):
            kernel(a)
    with pytest.raises(sl.ArrayError, match="cannot add elements of"):
        sl.compile(sl.adjoint(sl.tile(matrix(), (2, 1))), dtype="uint4x2")
    with pytest.raises(sl.ArrayError, match="not the tensor's float32"):
        sl.compile(sl.tensor("K, N", dtype="float32"), dtype="uint4x2")
    with pytest.raises(sl.ArrayError, match=r"share a byte; give it to compile"):
        sl.tensor("K, N", dtype="uint4x2")
    with pytest.raises(sl.ArrayError, match="shares memory"):
        kernel(a := random_bytes(2, 2), out=a)
    assert repr(kernel) == "Kernel(Tensor(x: (K, N)), int4x2)"


@pytest.mark.slow
def test_a_specialised_kernel_and_a_tuned_one() -> None:
    given = random_bytes(12, 10)
    want = joined(cut(given).T)
    fixed = sl.compile(sl.transpose(matrix()), {"K": 12, "N": 20}, dtype="uint4x2", strict=True)
    np.testing.assert_array_equal(fixed(given), want)
    tuned = sl.compile(sl.transpose(matrix()), dtype="uint4x2", strict=True, tune=True)
    np.testing.assert_array_equal(tuned(given), want)
    np.testing.assert_array_equal(tuned(np.concatenate([given, given], 1)[:, :10]), want)


def test_numpy_does_it_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sl.Kernel, "_native", lambda *_, **__: None)
    for y, shape, _ in WAYS.values():
        given = random_bytes(*shape)
        np.testing.assert_array_equal(sl.compile(y, dtype="uint4x2")(given), joined(sl.interpret(y, cut(given))))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_standalone_c_is_clean(compiler: str, tmp_path: Path) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"there is no {compiler}")
    units = [Unit(y, f"k{i}", 1, "none", NIBBLES["uint4x2"]) for i, (y, _, _) in enumerate(WAYS.values())]
    for name, text in emit(units).items():
        (tmp_path / name).write_text(text, "ascii")
    flags = [
        "-std=c11",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wsign-conversion",
        "-Wshadow",
        "-Wpedantic",
        "-Werror",
    ]
    everything = "".join(f'#include "{unit.name}.c"\n' for unit in units)
    (tmp_path / "all.c").write_text(everything, "ascii")
    subprocess.run([compiler, *flags, "-c", "all.c", "-o", "all.o"], cwd=tmp_path, check=True)


@pytest.mark.slow
def test_command_line(tmp_path: Path) -> None:
    given = random_bytes(4, 3)
    np.save(tmp_path / "weights.npy", given)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "symlayout", *arguments], capture_output=True, text=True, check=False
        )

    chain = ["K,N", "transpose(1,0)", "--dtype", "uint4x2"]
    files = ["-i", str(tmp_path / "weights.npy"), "-o", str(tmp_path / "turned.npy")]
    assert run("run", *chain, *files).returncode == 0
    np.testing.assert_array_equal(np.load(tmp_path / "turned.npy"), joined(cut(given).T))
    assert "larger --memory" in run("run", *chain, *files, "--memory", "4").stderr
    assert run("emit", *chain, "-o", str(tmp_path / "c")).returncode == 0
    text = (tmp_path / "c" / "kernel.c").read_text()
    assert "Regenerate: symlayout emit K,N 'transpose(1,0)' --name kernel --dtype uint4x2 -o ." in text
    assert (tmp_path / "c" / "symlayout_halves.h").exists()
    assert run("emit", *chain, "--element-size", "2", "-o", str(tmp_path / "c")).returncode == 2
