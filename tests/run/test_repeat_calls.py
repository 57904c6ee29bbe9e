"""Remembered calls: they compute and refuse what first calls do, in C and in Python."""

from __future__ import annotations

import gc
import itertools
import shutil
import sys
import threading
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.run import repeat_calls
from symlayout.run.repeat_calls import Remembered, Trampolined, memory
from symlayout_codegen.emit.header import template
from symlayout_codegen.errors import CompilerError
from symlayout_codegen.jit import build, cache, trampoline
from tests.promises.forked import forked

SHAPE = (2, 3)
HAS_COMPILER = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")


@pytest.fixture(params=["C", "Python"], autouse=True)
def where(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Say where calls are remembered."""
    if request.param == "Python":
        monkeypatch.setattr(trampoline, "calls", lambda: None)
    return str(request.param)


@pytest.fixture
def kernel() -> sl.Kernel:
    """Return a kernel that has seen the shape, so that the call goes by what it remembers."""
    made = sl.compile(sl.flip(sl.tensor("N, M", dtype="i2", name="x")), strict=True)
    made(np.zeros(SHAPE, "i2"), out=np.zeros(SHAPE, "i2"))
    return made


def test_a_remembered_call_computes(kernel: sl.Kernel) -> None:
    x = np.arange(6, dtype="i2").reshape(SHAPE)
    out = np.zeros(SHAPE, "i2")
    assert kernel(x, out=out) is out
    assert out.tolist() == [[5, 4, 3], [2, 1, 0]]


def test_remembered_calls_keep_the_code_that_they_run() -> None:
    kernel = sl.compile(sl.flip(sl.tensor("N, M", dtype="i2", name="x")), strict=True)
    x, out = np.arange(6, dtype="i2").reshape(SHAPE), np.zeros(SHAPE, "i2")
    kernel(x, out=out)
    call = kernel._memories.call(None)

    def without_kernel() -> None:
        nonlocal kernel
        del kernel
        build._recent.clear()
        gc.collect()
        out[:] = 0
        assert call((x,), out) is out
        assert out.tolist() == [[5, 4, 3], [2, 1, 0]]

    assert forked(without_kernel) == 0  # a process of its own: to run what is not there would end it


def test_a_remembered_view_refuses_an_out_of_another_shape(kernel: sl.Kernel) -> None:
    x = np.arange(12, dtype="i2").reshape(2, 6)[:, ::2]
    for _ in range(2):
        assert kernel(x, out=np.zeros(SHAPE, "i2")).tolist() == [[10, 8, 6], [4, 2, 0]]
    memory = np.zeros((4, 3), "i2")
    for out in (memory[:1], memory[:3], memory[:2, :2], memory[:2, :0]):  # the strides are those that are remembered
        with pytest.raises(sl.ShapeError, match="out= has shape"):
            kernel(x, out=out)
    assert not memory.any()


def test_a_remembered_call_looks_at_dims_and_threads(kernel: sl.Kernel) -> None:
    x = np.arange(6, dtype="i2").reshape(SHAPE)
    for _ in range(2):
        assert kernel(x, dims={"N": 2}).tolist() == kernel(x, threads=2).tolist() == [[5, 4, 3], [2, 1, 0]]
        with pytest.raises(sl.ShapeError, match="N"):
            kernel(x, dims={"N": 3})
        with pytest.raises(ValueError, match="threads"):
            kernel(x, threads=0)


def test_calls_are_remembered_with_the_dims_that_they_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    n, p = sl.dims("n p")
    kernel = sl.compile(sl.pad(sl.tensor((n,), dtype="i2", name="x"), ((p, 1),)), strict=True)
    x = np.arange(1, 4, dtype="i2")
    passed = [{"p": 2}, {"p": 0}, {p: 2}, {"n": 3, "p": 1}, {"p": 3, "n": 3}]
    expected = [np.pad(x, (width, 1)).tolist() for width in (2, 0, 2, 1, 3)]
    assert [kernel(x, dims=dims).tolist() for dims in passed] == expected

    def found_new(*_: object) -> None:
        raise AssertionError("a call that is remembered")

    with monkeypatch.context() as patch:
        patch.setattr(kernel, "_call", found_new)
        for k in (4, 2, 0, 1, 3, 0, 4):
            assert kernel(x, dims=dict(passed[k])).tolist() == expected[k]
        new: tuple[Any, ...] = (
            {"p": 4},
            {"p": True},
            {"p": np.int64(2)},
            {"n": 3},
            {},
            types.MappingProxyType({"p": 2}),
            None,
        )
        for unknown in new:
            with pytest.raises(AssertionError):
                kernel(x, dims=unknown)
    assert kernel(x, dims=types.MappingProxyType({"p": np.int64(2)})).tolist() == expected[0]
    refused: dict[str, Any] = {"integer": {"p": 2.0}, "p": {"p": -1}, "n": {"n": 4, "p": 2}, "dims": {}, "mapping": 7}
    for message, wrong in refused.items():
        with pytest.raises(sl.ShapeError, match=message):
            kernel(x, dims=wrong)


def test_dims_of_many_values_are_remembered_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeat_calls, "_MAX_DIMS", 3)
    kernel = sl.compile(sl.pad(sl.tensor("n", dtype="i2", name="x"), ((sl.dim("p"), 0),)), strict=True)
    x = np.arange(1, 4, dtype="i2")
    for width in (*range(9), *range(9), 8):
        assert kernel(x, dims={"p": width}).tolist() == [*[0] * width, 1, 2, 3]
    assert len(kernel._memories._known) <= 3


def test_a_remembered_call_refuses_what_the_first_does(kernel: sl.Kernel) -> None:
    x = np.arange(6, dtype="i2").reshape(SHAPE)
    frozen = np.zeros(SHAPE, "i2")
    frozen.setflags(write=False)
    for out, message in (
        (frozen, "read-only"),
        (x, "shares memory"),
        (np.zeros(SHAPE, "u2"), "dtype"),
        (np.zeros(SHAPE, ">i2"), "dtype"),
    ):
        with pytest.raises(sl.ArrayError, match=message):
            kernel(x, out=out)
    with pytest.raises(sl.ArrayError, match="dtype"):
        kernel(x.astype("f2"), out=np.zeros(SHAPE, "i2"))
    with pytest.raises(sl.ShapeError, match="shape"):
        kernel(x, out=np.zeros((3, 2), "i2"))
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert not frozen.any()


def test_remembered_views_compute_and_refuse_what_the_first_call_does() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, M", dtype="i2", name="x")), strict=True)
    room = np.arange(24, dtype="i2").reshape(2, 12)
    x, out = room[::-1, 1:10:3], np.zeros((3, 4), "i2")[:, ::2]
    for _ in range(3):  # the second and third go by what the first left
        assert kernel(x, out=out) is out
        assert np.array_equal(out, x.T)
        assert np.array_equal(kernel(x), x.T)
        assert np.array_equal(kernel(x=x), x.T)
        assert np.array_equal(kernel(x.copy(), out=out), x.T)
        out[:] = 0
    other = np.zeros((3, 6), "i2")[:, ::3]  # of other strides
    assert np.array_equal(kernel(x, out=other), x.T)
    frozen = np.zeros((3, 4), "i2")[:, ::2]
    frozen.setflags(write=False)
    for wrong, message in (
        (frozen, "read-only"),
        (x[:, :2].T, "shape"),
        (room[:, :3].T, "shares memory"),
        (np.zeros((3, 4), "u2")[:, ::2], "dtype"),
        ([[0, 0]] * 3, "not a numpy array"),
    ):
        with pytest.raises((sl.ArrayError, sl.ShapeError), match=message):
            kernel(x, out=wrong)  # type: ignore[arg-type]
    with pytest.raises(sl.ArrayError, match="dtype"):
        kernel(x.view("f2"), out=out)
    assert np.array_equal(room, np.arange(24).reshape(2, 12))
    assert not frozen.any()


def test_several_remembered_inputs_are_refused_as_on_the_first_call() -> None:
    kernel = sl.compile(sl.concatenate([sl.tensor("N", name="a"), sl.tensor("M", name="b")]), dtype="i2", strict=True)
    a, b, out = np.arange(2, dtype="i2"), np.arange(3, dtype="i2"), np.zeros(5, "i2")
    for _ in range(2):
        assert kernel(a, b, out=out).tolist() == [0, 1, 0, 1, 2]
    room = np.zeros(10, "i2")
    frozen = np.zeros(5, "i2")
    frozen.setflags(write=False)
    for second, target, message in (
        (room[3:6], room[:5], "shares memory"),
        (b, frozen, "read-only"),
        (b.astype("i4"), out, "dtypes int16 and int32"),
        (b, np.zeros(5, "i4"), "dtype"),
        (b.tolist(), out, "not an array"),
    ):
        with pytest.raises(sl.ArrayError, match=message):
            kernel(a, second, out=target)
    assert kernel(a, b[::-1], out=out[::-1]).tolist() == [0, 1, 2, 1, 0]
    assert not room.any()
    assert not frozen.any()


@pytest.mark.slow
def test_one_shape_is_remembered_for_each_type_and_rank() -> None:
    kernel = sl.compile(sl.flip(sl.tensor("N, M", name="x")), strict=True)
    types = ("u1", "i1", "<i2", ">i2", "<f2", "i4", ">u4", "f8", "c16", "S3", "i2,u1")
    arrays = [np.arange(6).astype("u1").astype(dtype).reshape(SHAPE) for dtype in types]
    for _ in range(3):
        for x in arrays:
            assert np.array_equal(kernel(x), x[::-1, ::-1])
            assert kernel(x).dtype == x.dtype
            out = np.empty(SHAPE, x.dtype.str if x.dtype.names is None else x.dtype)  # an equal type of its own
            assert kernel(x, out=out) is out
            assert np.array_equal(out, x[::-1, ::-1])


def test_more_shapes_than_are_remembered() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, M", dtype="u2", name="x")), strict=True)
    sizes = list(itertools.product(range(1, 21), range(1, 17)))
    for n, m in sizes + sizes[::-1] + sizes[:5]:
        x = np.arange(n * m, dtype="u2").reshape(n, m)
        assert np.array_equal(kernel(x), x.T)


def test_axes_of_one_step_may_have_any_stride() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, M, K", dtype="u2", name="x")), strict=True)
    room = np.arange(24, dtype="u2")
    for x in (
        room[:12].reshape(3, 1, 4),
        room.reshape(3, 2, 4)[:, :1],
        np.lib.stride_tricks.as_strided(room, (3, 1, 4), (8, 2, 2)),
    ):
        for _ in range(2):
            assert np.array_equal(kernel(x), x.T)


@pytest.mark.slow
def test_fills_are_kept_as_long_as_the_call_is() -> None:
    kernel = sl.compile(sl.pad(sl.tensor("N", name="x"), (1, 2), constant_values=7), strict=True)
    for _ in range(3):
        for dtype in ("u1", "f4", ">i2"):
            assert kernel(np.ones(2, dtype)).tolist() == [7, 1, 1, 7, 7]
        gc.collect()


def test_inputs_that_are_views_are_remembered() -> None:
    kernel = sl.compile(sl.stack([sl.tensor("N", name="a"), sl.tensor("N", name="b")]), dtype="i4", strict=True)
    room = np.arange(12, dtype="i4")
    for _ in range(3):
        assert kernel(room[::-4], room[::4]).tolist() == [[11, 7, 3], [0, 4, 8]]
        with pytest.raises(sl.ArrayError, match="shares memory"):
            kernel(room[::-4], room[::4], out=room[:6].reshape(2, 3))
    assert room.tolist() == list(range(12))


def test_sizes_beyond_those_of_a_dim_are_refused_after_a_remembered_call() -> None:
    kernel = sl.compile(sl.space_to_depth(sl.tensor("1, c, 2*h, 2*w", dtype="u1", name="x"), 2), strict=True)
    for _ in range(3):
        assert kernel(np.zeros((1, 2, 4, 6), "u1")).shape == (1, 8, 2, 3)
        with pytest.raises(sl.ShapeError):
            kernel(np.zeros((1, 2, 4, 5), "u1"))
        with pytest.raises(sl.ShapeError):
            kernel(np.zeros((1, 2, 4), "u1"))


def test_nothing_of_a_call_is_kept(kernel: sl.Kernel) -> None:
    x, out = np.zeros(SHAPE, "i2"), np.zeros(SHAPE, "i2")
    before = [sys.getrefcount(thing) for thing in (x, out, x.dtype)]
    for _ in range(100):
        kernel(x, out=out)
        kernel(x)
        with pytest.raises(sl.ArrayError):
            kernel(x, out=x)
    assert [sys.getrefcount(thing) for thing in (x, out, x.dtype)] == before


@pytest.mark.slow
def test_threads_add_calls_while_others_make_them() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, M", dtype="u1", name="x")), strict=True)
    wrong: list[tuple[int, int]] = []

    def work(seed: int) -> None:
        for n, m in itertools.product(range(1, 40), range(100, 1200, 100)):
            x = np.arange(n * m, dtype="u1").reshape(n, m) + np.uint8(seed)
            if not np.array_equal(kernel(x), x.T):
                wrong.append((n, m))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- the trampoline itself ------------------------------------------------------------------------


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache folder, and a process that has compiled nothing."""
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(trampoline, "_own", trampoline._Trampoline())
    return tmp_path


def right() -> None:
    """Compile a kernel, and call it as often as it takes to go by what is remembered."""
    kernel = sl.compile(sl.transpose(sl.tensor("N, M", dtype="u2", name="x")), strict=True)
    x = np.arange(6, dtype="u2").reshape(SHAPE)
    for _ in range(3):
        assert np.array_equal(kernel(x), x.T)


def trampolines(folder: Path) -> list[Path]:
    source = template(f"{trampoline.MODULE}.c")
    return [text.parent for text in (folder / "cache").glob("*/kernel.c") if text.read_text("ascii") == source]


@pytest.mark.slow
@HAS_COMPILER
def test_it_is_built_once_and_kept(fresh: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert trampoline.state() == "not in use: nothing has been compiled yet"
    right()
    assert trampoline.state() == "in use"
    assert len(trampolines(fresh)) == 1
    monkeypatch.setattr(trampoline, "_own", trampoline._Trampoline())
    monkeypatch.setattr(trampoline, "compiling", lambda *_: pytest.fail("the compiler ran"))
    right()
    assert trampoline.state() == "in use"


@pytest.mark.slow
@HAS_COMPILER
def test_a_spoiled_one_is_built_anew(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right()
    (entry,) = trampolines(fresh)
    whole = (entry / cache.LIBRARY).read_bytes()
    (entry / cache.LIBRARY).write_bytes(whole[:-1] + b"!")
    monkeypatch.setattr(trampoline, "_own", trampoline._Trampoline())
    right()
    assert trampoline.state() == "in use"
    assert cache.load(trampolines(fresh)[0].name) is not None


@HAS_COMPILER
def test_kernels_do_without_headers_of_python(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda name: str(fresh / name))
    right()
    assert trampoline.state().startswith(f"not in use: {fresh}/include has no Python.h\n  help: install")
    assert trampolines(fresh) == []


@pytest.mark.slow
@HAS_COMPILER
@pytest.mark.parametrize("lie", ["exit 1", "echo garbage > kernel.so", "echo 'int a;' | cc -shared -xc -o kernel.so -"])
def test_kernels_do_without_one_that_cannot_be_built(fresh: Path, monkeypatch: pytest.MonkeyPatch, lie: str) -> None:
    compiler = fresh / "cc"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *-I*) {lie}; exit;; esac\nexec {shutil.which("cc")} "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    right()
    assert trampoline.state().startswith("not in use: the compile")
    assert trampolines(fresh) == []
    monkeypatch.setattr(trampoline, "compiling", lambda *_: pytest.fail("it is tried again"))
    right()


def test_one_may_do_without(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMLAYOUT_TRAMPOLINE", "0")
    monkeypatch.setattr(trampoline, "_own", trampoline._Trampoline())
    right()
    assert trampoline.state() == "not in use: SYMLAYOUT_TRAMPOLINE is 0"


def test_a_compiler_that_fails_is_the_error_of_the_kernel(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "false")
    with pytest.raises(CompilerError, match="failed with status 1"):
        right()
    assert trampoline.state() == "not in use: the compiler failed"
    assert not list(fresh.glob("cache/*"))


@pytest.mark.slow
@HAS_COMPILER
def test_a_fork_while_another_thread_builds_it_does_not_hang(fresh: Path) -> None:
    with trampoline._own.lock:
        assert forked(right, 30) == 0
    assert trampoline.calls() is None


def test_the_module_refuses_what_are_no_arrays(where: str) -> None:
    right()
    if where == "Python" or trampoline.calls() is None:
        pytest.skip("there is none")
    calls = trampoline.calls()(np.ndarray, np.empty)
    x = np.zeros(3, "u1")
    for wrong in ((), ([x], None), ((x,),), ((x,), None, None)):
        with pytest.raises(TypeError):
            calls.call(*wrong)
    with pytest.raises(TypeError):
        calls.add(0, b"", None, False, (3,), (3,), (1,), None)
    for other in ((3,), (x[::-1],), (x, x), (np.zeros(3, "u1").view(np.memmap),)):
        assert calls.call(other, None) is None
    assert trampoline.MODULE not in sys.modules


def test_the_memory_is_in_c_where_the_trampoline_is_built() -> None:
    assert isinstance(memory(1), Trampolined if trampoline.calls() is not None else Remembered)
