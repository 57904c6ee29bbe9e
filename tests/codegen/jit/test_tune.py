"""Tuned kernels: the same elements, an answer that is kept, and records that are not trusted."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout_codegen import CompiledKernel, Nest, compile_nest
from symlayout_codegen.ir.choice import CANDIDATES, MODEL, NEVER, Choice
from symlayout_codegen.jit import cache, tune
from tests.codegen.jit.test_compile_nest import check, samples
from tests.support import nests

IMAGE = np.arange(3 * 4 * 5 * 6, dtype="i4").reshape(3, 4, 5, 6)
SOME = (
    "transpose_planes",
    "pad",
    "space_to_depth_2",
    "depth_to_space_b",
    "space_to_batch_2",
    "two_windows",
)
EXPECTED = IMAGE.transpose(2, 1, 0, 3)


def tensor() -> sl.Tensor:
    return sl.transpose(sl.tensor("N, C, H, W", name="x"), (2, 1, 0, 3))


def notes() -> list[Path]:
    return list(cache.cache_root().glob("*/tuned-*.json"))


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what is compiled here in a folder of its own: answers of earlier runs would be read."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(importlib.import_module("symlayout_codegen.jit.build"), "_loaded", {})
        yield


@pytest.fixture(autouse=True)
def no_answers() -> None:
    """Forget the answers of the tests before."""
    for note in notes():
        note.unlink()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the candidates that are timed; the one that walks the source is the faster one."""
    timed: list[str] = []

    def times(kernels: list[CompiledKernel], run: tune.Run) -> list[float]:
        for kernel in kernels:
            run(kernel)
        timed.extend(kernel.choice.walk for kernel in kernels)
        return [{"output": 2.0, "source": 1.0}[kernel.choice.walk] for kernel in kernels]

    monkeypatch.setattr(tune, "_times", times)
    return timed


@pytest.mark.sample(2)
@pytest.mark.parametrize("choice", [c for c in CANDIDATES if c != MODEL], ids=str)
@pytest.mark.parametrize("nest", [n for n in nests.ALL if n.name in SOME], ids=lambda nest: nest.name)
def test_every_candidate_does_what_the_nest_says(nest: Nest, choice: Choice) -> None:
    kernel = compile_nest(nest, 2, choice)
    for arguments in samples(nest)[::6]:
        check(kernel, nest, arguments)


@pytest.mark.slow
def test_the_faster_candidate_is_taken_and_kept(clock: list[str]) -> None:
    before = len(notes())
    for timed in (["output", "source"], []):
        clock.clear()
        kernel = sl.compile(tensor(), tune=True, strict=True)
        assert np.array_equal(kernel(IMAGE), EXPECTED)
        assert np.array_equal(kernel(IMAGE), EXPECTED)
        assert clock == timed
        assert kernel.schedule.startswith(
            "outer loops in the order of the source, transposes by 8 x 8 tiles, written past the caches from 24 MiB "
            "on; timed on the arrays of a call: output"
        )
    assert len(notes()) == before + 1
    assert kernel.schedule.split("\n")[0].endswith("kept in the cache")


@pytest.mark.parametrize("damage", ["truncated", "edited", "no record", "nonsense", "another's"])
def test_a_record_that_is_not_what_was_kept_is_made_again(clock: list[str], damage: str) -> None:
    x = np.ascontiguousarray(IMAGE[..., : 1 + len(damage) % 5])
    sl.compile(tensor(), tune=True, strict=True)(x)
    note = max(notes(), key=lambda path: path.stat().st_mtime_ns)
    text = note.read_text()
    if damage == "truncated":
        note.write_text(text[:-9])
    elif damage == "edited":
        note.write_text(text.replace('"source"', '"output"', 1))
    elif damage == "nonsense":
        note.write_text(json.dumps({"note": [1], "sha256": 3}))
    elif damage == "another's":
        note.chmod(0o622)
    else:
        note.unlink()
    clock.clear()
    kernel = sl.compile(tensor(), tune=True, strict=True)
    assert np.array_equal(kernel(x), x.transpose(2, 1, 0, 3))
    assert clock == ["output", "source"]
    clock.clear()
    sl.compile(tensor(), tune=True, strict=True)(x)
    assert clock == []


def test_with_all_dims_given_the_time_is_taken_as_it_is_compiled(clock: list[str]) -> None:
    kernel = sl.compile(tensor(), dims=dict(zip("NCHW", (7, 4, 5, 6), strict=True)), dtype="i4", tune=True, strict=True)
    assert clock == ["output", "source"]
    clock.clear()
    x = np.arange(7 * 4 * 5 * 6, dtype="i4").reshape(7, 4, 5, 6)
    assert np.array_equal(kernel(x), x.transpose(2, 1, 0, 3))
    assert clock == []


def test_candidates_that_are_the_same_are_not_timed(clock: list[str]) -> None:
    kernel = sl.compile(sl.reshape(sl.tensor("N, M", name="x"), (-1,)), tune=True, strict=True)
    assert kernel(IMAGE[0, 0]).tolist() == list(range(30))
    assert clock == []
    assert "all candidates are the same loops" in kernel.schedule


@pytest.mark.slow
def test_transposes_are_timed_by_tiles_of_several_sizes_and_past_the_caches(clock: list[str]) -> None:
    labels = [choice.label for choice in CANDIDATES]
    assert len(set(labels)) == len(CANDIDATES)
    assert {"2 x 2 tiles", "16 x 16 tiles", "always past the caches", "never past the caches"} <= set(labels)
    kernel = sl.compile(sl.transpose(sl.tensor("H, W", name="x"), (1, 0)), tune=True, strict=True)
    x = np.arange(100 * 130, dtype="i2").reshape(100, 130)
    assert np.array_equal(kernel(x), x.T)
    assert len(clock) == len(CANDIDATES) - 1  # two digits have one order
    assert "16 x 16 tiles 2000000.0 us" in kernel.schedule
    (text,) = {compile_nest(nests.transpose(), 2, c).source for c in (MODEL, Choice(walk="source"))}
    tiled = compile_nest(nests.transpose(), 2, Choice(tiles=2, past=NEVER)).source
    assert "#define SL_TILES_PER_BLOCK 2\n" in tiled
    assert "#define SL_TILES_PER_BLOCK" not in text
    assert "#define SL_TILES_PER_BLOCK" not in compile_nest(nests.pad(), 2, Choice(tiles=2)).source


def test_real_times_give_an_answer() -> None:
    kernel = sl.compile(tensor(), tune=True, strict=True)
    x = np.ascontiguousarray(IMAGE[:2])
    assert np.array_equal(kernel(x), EXPECTED[:, :, :2])
    assert " us" in kernel.schedule.split("\n")[0]
    out = np.zeros((5, 4, 3, 12), "i4")[..., ::2]
    assert np.array_equal(kernel(IMAGE[::-1, :, :, ::-1], out=out), EXPECTED[:, :, ::-1, ::-1])
    assert "by the model" in sl.compile(tensor(), strict=True).schedule
