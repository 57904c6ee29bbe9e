"""Kernels on several threads: the same elements, whoever calls from where, and no call that hangs."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout.run import call_plan
from symlayout_codegen.jit.pool import run
from tests.support.chains import build
from tests.support.effort import examples
from tests.support.strategies import Case, cases

IMAGE = np.random.default_rng(0).integers(1, 256, (3, 5, 64, 66), np.uint8)


@pytest.fixture(autouse=True)
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small arrays be worth several threads, on a machine of any size; end what hangs."""
    monkeypatch.setattr(call_plan, "GRAIN", 16)
    monkeypatch.setattr(call_plan, "processors", lambda: 8)


# --- the pool ---------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("parts", [1, 2, 7])
def test_each_part_is_done_once(parts: int, threads: int) -> None:
    done = [0] * parts

    def count(part: int) -> int:
        done[part] += 1
        return 0

    assert run(count, parts, threads) == 0
    assert done == [1] * parts


def test_a_status_that_is_not_0_is_returned() -> None:
    assert run(lambda part: -part, 2, 2) == -1


def test_an_exception_is_raised_where_run_was_called() -> None:
    caller = threading.get_ident()

    def fail(part: int) -> int:
        raise KeyError(part, threading.get_ident() == caller)

    for _ in range(20):
        with pytest.raises(KeyError):
            run(fail, 6, 3)


def test_parts_run_at_once() -> None:
    """Each part waits for the other: one thread alone would wait for ever."""
    both = threading.Barrier(2, timeout=600)
    assert run(lambda part: both.wait() * 0, 2, 2) == 0


def test_jobs_within_jobs_end() -> None:
    done: list[int] = []

    def outer(part: int) -> int:
        def inner(within: int) -> int:
            done.append(10 * part + within)
            return 0

        return run(inner, 4, 4)

    assert run(outer, 4, 4) == 0
    assert sorted(done) == [10 * part + within for part in range(4) for within in range(4)]


def test_no_part_is_under_way_when_an_interrupted_call_returns() -> None:
    under_way = 0
    begun = threading.Event()

    def slow(part: int) -> int:
        nonlocal under_way
        if threading.current_thread() is threading.main_thread():
            begun.wait(600)
            raise KeyboardInterrupt
        under_way += 1
        begun.set()
        threading.Event().wait(0.05)
        under_way -= 1
        return 0

    with pytest.raises(KeyboardInterrupt):
        run(slow, 2, 2)
    assert begun.is_set()
    assert under_way == 0


# --- kernels ----------------------------------------------------------------------------------


def both_ways(kernel: sl.Kernel, *arrays: np.ndarray) -> None:
    expected = kernel(*arrays)
    for threads in (2, 3, 8):
        out = np.full_like(expected, 7)
        assert kernel(*arrays, out=out, threads=threads) is out
        np.testing.assert_array_equal(out, expected)


CHAINS: dict[str, Callable[[sl.Tensor], sl.Tensor]] = {
    "copy": lambda x: sl.reshape(x, (-1,)),
    "transpose": lambda x: sl.transpose(x, (0, 2, 3, 1)),
    "planes": lambda x: sl.transpose(x, (1, 0, 3, 2)),
    "pad": lambda x: sl.pad(x, ((0, 0), (0, 0), (1, 2), (3, 4)), constant_values=5),
    "reflect": lambda x: sl.pad(x, ((0, 0), (0, 0), (1, 2), (3, 4)), "reflect"),
    "flip": lambda x: sl.flip(x, (2, 3)),
    "roll": lambda x: sl.roll(x, (7, -3), (2, 3)),
    "slice": lambda x: x[::-1, :, :-1, ::2],
    "space to depth": lambda x: sl.space_to_depth(x, 2),
    "tile": lambda x: sl.tile(x, (2, 1, 1, 3)),
    "all fill": lambda x: sl.pad(x[:0], ((2, 0), (0, 0), (0, 0), (0, 0)), constant_values=9),
    "joined": lambda x: sl.concatenate([x, sl.flip(x, 0), x[:, :, :5]], axis=2),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CHAINS)
def test_threads_write_what_one_does(name: str) -> None:
    both_ways(sl.compile(CHAINS[name](sl.tensor("N, C, 2*h, 2*w", name="x")), strict=True), IMAGE)


def test_an_outermost_axis_of_one_step_is_no_hindrance() -> None:
    done: list[tuple[int, ...]] = []
    kernel = sl.compile(sl.transpose(sl.tensor("N, C, H, W", dtype="u1"), (0, 2, 3, 1)), strict=True)
    kernel(IMAGE[:1], out=(out := np.zeros((1, 64, 66, 5), np.uint8)))
    native = next(iter(kernel._natives.values()))
    assert native is not None
    for part in range(4):
        mine = np.zeros_like(out)
        native.function(part, 4, 1, 5, 64, 66, native.pointer(IMAGE[:1]), native.pointer(mine))
        done.append(tuple(np.flatnonzero(mine)))
    assert sorted(len(part) > 0 for part in done) == [True] * 4
    assert sorted(at for part in done for at in part) == list(np.flatnonzero(out))


ADJOINTS: dict[str, Callable[[sl.Tensor], sl.Tensor]] = {
    "tile": lambda x: sl.tile(x, (2, 1, 1, 2)),
    "window": lambda x: sl.window(x, (3, 2), axis=(2, 3)),
    "edge": lambda x: sl.pad(x, ((0, 0), (0, 0), (2, 1), (1, 3)), "edge"),
    "joined": lambda x: sl.concatenate([x, sl.flip(x, 2)], axis=1),
    "flipped": lambda x: sl.tile(sl.flip(x, 0), (1, 1, 1, 3)),
    "crop": lambda x: x[:, :, 1:, 2:],
    "columns": lambda x: sl.repeat(sl.reshape(x, (-1, x.shape[2], x.shape[3])), 2, axis=0),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ADJOINTS)
def test_sums_are_the_same_bits_on_any_number_of_threads(name: str) -> None:
    y = ADJOINTS[name](sl.tensor("N, C, H, W", name="x", dtype="f4"))
    image = np.random.default_rng(1).standard_normal((2, 3, 7, 8), np.float32)
    both_ways(
        sl.compile(sl.adjoint(y), dims=dict(zip("NCHW", image.shape, strict=True)), strict=True), sl.interpret(y, image)
    )


def test_sums_are_shared_out_where_an_axis_tells_elements_apart() -> None:
    image, row = sl.tensor("N, C, H, W", name="x", dtype="f4"), sl.tensor("N", name="x", dtype="f4")
    for y, shares in ((sl.tile(image, (2, 1, 1, 2)), True), (sl.pad(row, (2, 1), "edge"), False)):
        source = sl.compile(sl.adjoint(y), dims={"N": 5}, strict=True).source
        assert ("sl_share" in source, "if (part < 1)" in source) == (shares, not shares)


@pytest.mark.slow
@settings(deadline=None, derandomize=True, max_examples=examples(20), suppress_health_check=list(HealthCheck))
@given(cases())
def test_threads_write_what_one_does_for_random_chains(case: Case) -> None:
    x = case.array()
    both_ways(sl.compile(build(sl.tensor(case.shape, dtype=x.dtype, name="x"), case.steps), strict=True), x)


def test_many_callers_at_once() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, C, H, W", name="x"), (0, 2, 3, 1)), strict=True, threads=3)
    expected = IMAGE.transpose(0, 2, 3, 1)

    def one(_: int) -> bool:
        return np.array_equal(kernel(IMAGE), expected)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(one, range(64)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process.*multi-threaded:DeprecationWarning")
def test_a_child_has_threads_of_its_own() -> None:
    kernel = sl.compile(sl.transpose(sl.tensor("N, C, H, W", name="x"), (0, 2, 3, 1)), strict=True, threads=4)
    expected = kernel(IMAGE)
    for _ in range(5):
        child = os.fork()
        if not child:
            signal.alarm(30)  # a child that hangs ends
            os._exit(0 if np.array_equal(kernel(IMAGE), expected) else 1)
        assert os.waitpid(child, 0)[1] == 0


def test_small_arrays_take_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert call_plan.worthwhile(4, 100) == 1
    assert call_plan.worthwhile(1, 1 << 40) == 1
    monkeypatch.setattr(call_plan, "processors", lambda: 3)
    assert call_plan.worthwhile(8, 1 << 40) == 3
    assert call_plan.worthwhile(3, 2 * call_plan.GRAIN) == 2


@pytest.mark.parametrize(
    ("threads", "kind"), [(0, "infeasible"), (-1, "infeasible"), (1.5, "attr_dtype"), (True, "attr_dtype")]
)
def test_a_number_of_threads_that_is_none(threads: Any, kind: str) -> None:
    x = sl.tensor((2, 3), name="x")
    for attempt in (
        lambda: sl.compile(x, threads=threads),
        lambda: sl.compile(x)(np.zeros((2, 3)), threads=threads),
    ):
        with pytest.raises(sl.ShapeError) as caught:
            attempt()
        assert caught.value.kind == kind
