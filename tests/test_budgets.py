"""What takes long is bounded: searches for bounds, facts of thousands of terms, and the length of the C."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout import limits
from symlayout.run import kernel as compiling
from symlayout.run.lower import lower
from symlayout_codegen.ir import text_budget
from symlayout_codegen.passes.schedule import schedule
from tests.support.steps import STEPS, counted


def long_extent(count: int) -> sympy.Expr:
    """Return the sum of all products of two of *count* dims."""
    a = [sl.dim(f"a{i}") for i in range(count)]
    return sympy.Add(*[a[i] * a[j] for i in range(count) for j in range(i)])


def divided_in_turn(count: int) -> sl.Tensor:
    """Return a tensor whose dims are tied, each to the next, by moduli that are coprime."""
    d = [sl.dim(f"d{i}") for i in range(count + 1)]
    moduli = list(sympy.primerange(5, 200))
    ties = [sympy.Eq(sympy.Mod(3 * d[i] + 2 * d[i + 1] + 1, moduli[i]), 0) for i in range(count)]
    return sl.assume(sl.tensor(tuple(d)), *ties)


def ordered_at_random(count: int) -> sl.Tensor:
    """Return a tensor whose dims meet *2 count* inequalities between sums of four of them."""
    draw = random.Random(1)
    d = [sl.dim(f"d{i}") for i in range(count)]

    def some() -> sympy.Expr:
        return sympy.Add(*[draw.randint(1, 9) * x for x in draw.sample(d, 4)])

    relations = [some() <= some() + draw.randint(0, 50) for _ in range(2 * count)]
    return sl.assume(sl.tensor(tuple(d)), *(r for r in relations if r not in (True, False)))


def divided_by_symbols(count: int) -> sl.Tensor:
    """Return a tensor whose extent is *count* ceilings within each other."""
    blocks = [sl.dim(f"k{i}", min=1) for i in range(count)]
    return reduce(lambda t, k: sl.pack(t, 0, k)[:, 0], blocks, sl.tensor("N"))


SYSTEMS: dict[str, Callable[[], sl.Tensor]] = {
    "coprime moduli": lambda: divided_in_turn(20),
    "inequalities": lambda: ordered_at_random(14),
    "nested ceilings": lambda: divided_by_symbols(12),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_bounds_of_adversarial_systems_take_few_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "search_terms", 200_000)
    t = SYSTEMS[name]()
    with counted(3 * STEPS):  # without a limit a hundred times as many, and more
        bounds = t.bounds()
    assert all(low == 0 for low, _ in bounds)


@pytest.mark.slow
def test_a_search_without_work_gives_bounds_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    t = ordered_at_random(6)
    exact = t.bounds()
    monkeypatch.setattr(limits, "search_terms", 0)
    loose = t.bounds()
    assert loose != exact
    for (least, most), (low, high) in zip(exact, loose, strict=True):
        assert (low or 0) <= (least or 0)
        assert high is None or (most is not None and most <= high)


@pytest.mark.slow
@pytest.mark.parametrize(("count", "end"), [(20, "//2, i1)"), (100, "...,")])
def test_maps_of_nested_quotients_are_printed_after_few_steps(count: int, end: str) -> None:
    t = reduce(lambda t, _: sl.channel_shuffle(t, 2, axis=0), range(count), sl.tensor("C, W"))
    with counted(20 * STEPS):  # 20 doublings take a million times as many as one
        assert end in str(t.index_map)
        assert t.index_map.latex()


@pytest.mark.slow
def test_a_symbol_without_any_value_leaves_no_box() -> None:
    relation = "4611686018427387904//2 == 3/(N*C - (4611686018427387904/W)/(C//2) - N - h//C + W + h - 1)"
    assert len(sl.assume(sl.tensor("N, C, h, W"), relation).bounds()) == 4


@pytest.mark.slow
def test_an_extent_of_ten_thousand_terms() -> None:
    x = sl.tensor((sl.dim("N"), long_extent(142), 3))
    for y in (sl.transpose(x, (1, 0, 2)), sl.concatenate([x, x], axis=1)):
        with counted(40 * STEPS):
            assert (y.bounds()[2][0] or 0) >= 3
            nest, _ = lower(y)
            with pytest.raises(sl.CompilerError, match="more than 262144 characters"):
                schedule(nest) if y.name == "concatenate" else sl.compile(y, strict=True)


@pytest.mark.slow
def test_numpy_computes_what_would_be_too_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))  # what is built needs no text
    x = sl.tensor((long_extent(20), 2))
    dims = {f"a{i}": int(i < 3) for i in range(20)}
    monkeypatch.setattr(limits, "kernel_characters", 4_000)
    with pytest.raises(sl.CompilerError, match="more than 4000 characters\n  help: fix some dims"):
        sl.compile(sl.transpose(x), strict=True)
    monkeypatch.setattr(compiling, "_fallback_warned", threading.Event())
    kernel = sl.compile(sl.transpose(x))
    with pytest.warns(RuntimeWarning, match="more than 4000 characters"):
        assert kernel(np.arange(6).reshape(3, 2), dims=dims).tolist() == [[0, 2, 4], [1, 3, 5]]
    assert sl.compile(sl.transpose(x), dims=dims, strict=True)(np.arange(6).reshape(3, 2)).shape == (2, 3)
    monkeypatch.setattr(limits, "kernel_characters", 1 << 18)
    assert len(sl.compile(sl.transpose(x), strict=True).source) > 4_000


def test_a_text_is_refused_as_soon_as_it_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "kernel_characters", 10)
    read = []

    def lines() -> Iterator[str]:
        for k in range(100):
            read.append(k)
            yield "four"

    with pytest.raises(sl.CompilerError):
        text_budget.within(lines())
    assert read == [0, 1, 2]
    assert text_budget.within(iter(["four", "four"])) == "four\nfour\n"


def test_quotients_too_deep_within_each_other_are_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "nesting", 20)
    t = sl.tensor("N, 4*C", name="x")
    for k in range(30):
        t = sl.channel_shuffle(t, 2 + 2 * (k % 2), axis=1)
    for use in (lambda: str(t.index_map), lambda: sl.compile(t, dtype="i4", strict=True)):
        with pytest.raises(sl.InconclusiveError, match="it has 21 quotients within each other"):
            use()
    x = np.arange(24, dtype="i4").reshape(2, 12)
    assert sl.interpret(t, x).shape == (2, 12)


@pytest.mark.slow
def test_parts_beyond_all_measure_are_inconclusive_after_few_steps() -> None:
    t = sl.tensor("N", name="x")
    for _ in range(200):
        t = sl.concatenate([t, t])
    message = f"in no more than {limits.normal_form_parts} parts"
    with counted(4 * STEPS), pytest.raises(sl.InconclusiveError, match=message):
        str(t.index_map)


def test_a_kernel_with_a_number_beyond_64_bits_is_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    t = sl.tensor("N", name="x")
    for _ in range(70):
        t = sl.tile(t, 2)
    with pytest.raises(sl.CompilerError, match=f"the number {2**70}"):
        sl.compile(t, dtype="i4", strict=True)
    monkeypatch.setattr(compiling, "_fallback_warned", threading.Event())
    with pytest.warns(RuntimeWarning, match="NumPy computes"):
        k = sl.compile(t, dtype="i4")
    assert k(np.zeros(0, "i4")).shape == (0,)
