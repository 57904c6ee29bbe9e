"""Block by block: the same elements, nothing read beyond the box that is needed, in the memory that is given."""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout.errors import ArrayError, FormatError, ShapeError
from symlayout.interop.chunked import Blockwise, apply_chunked, bytes_of, split
from tests.support.chains import build
from tests.support.effort import examples
from tests.support.paths import ROOT
from tests.support.strategies import Case, cases

Array = np.ndarray[Any, Any]


class Counting:
    """An array that notes which boxes of it are read."""

    def __init__(self, array: Array) -> None:
        self.array, self.shape, self.dtype = array, array.shape, array.dtype
        self.read: list[tuple[tuple[int, int], ...]] = []

    def __getitem__(self, key: tuple[slice, ...]) -> Array:
        self.read.append(tuple((s.start, s.stop) for s in key))
        return self.array[key]


CHAINS: dict[str, Callable[[], sl.Tensor]] = {
    "transpose": lambda: sl.transpose(sl.tensor((12, 10, 8), name="x"), (2, 0, 1)),
    "space_to_depth": lambda: sl.space_to_depth(sl.pad(sl.tensor((3, 6, 10), name="x"), 1)[None, 1:4], 2),
    "space_to_batch": lambda: sl.space_to_batch(sl.tensor((2, 12, 8, 3), name="x"), [2, 2], [[1, 1], [0, 0]]),
    "concatenate": lambda: sl.concatenate([sl.tensor((9, 5), name="a"), sl.tensor((7, 5), name="b")]),
    "reflected": lambda: sl.pad(sl.tensor((9, 8), name="x"), 3, mode="reflect"),
    "windows": lambda: sl.window(sl.tensor((20,), name="x"), [5], axis=[0]),
    "regrouped": lambda: sl.reshape(sl.transpose(sl.tensor((6, 12), name="x")), (8, 9)),
    "flipped": lambda: sl.flip(sl.tensor((9, 8), name="x"))[::2, 1:],
    "repeated": lambda: sl.repeat(sl.tensor((5, 4), name="x"), 3, axis=1),
}  # fmt: skip


def arrays_of(y: sl.Tensor) -> list[Array]:
    """Return arrays whose elements all differ."""
    made, first = [], 1
    for leaf in y.leaves():
        made.append(np.arange(first, first + math.prod(leaf.shape), dtype=np.int32).reshape(leaf.shape))
        first += math.prod(leaf.shape)
    return made


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CHAINS)
def test_no_block_reads_more_than_it_needs(name: str) -> None:
    """Each block reads each input once, and the box is the hull of the elements in the block, by brute force."""
    y = CHAINS[name]()
    arrays = arrays_of(y)
    sources = [Counting(a) for a in arrays]
    expected = sl.interpret(y, *arrays)
    found = apply_chunked(y, *sources, memory=4 * max(40, sum(a.size for a in arrays) // 2))
    assert np.array_equal(found, expected)
    blockwise = Blockwise(y, [a.shape for a in arrays])
    blocks = split(blockwise, (1,) * y.rank, max(40, sum(a.size for a in arrays) // 2))
    assert len(blocks) > 2
    for source, array in zip(sources, arrays, strict=True):
        reads = iter(source.read)
        for block in blocks:
            needed = np.isin(array, expected[tuple(slice(*ends) for ends in block)])
            if needed.any():
                hull = tuple((int(k.min()), int(k.max()) + 1) for k in np.nonzero(needed))
                assert next(reads) == hull or name == "regrouped"
        assert next(reads, None) is None


@pytest.mark.slow
@settings(max_examples=examples(6), deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(most_steps=3))
def test_random_chains_in_small_blocks(case: Case) -> None:
    case = replace(case, dtype="i4", layout="contiguous")
    y = build(sl.tensor(case.shape, name="x"), case.steps)
    x = case.array()
    expected = sl.interpret(y, x)
    assert np.array_equal(apply_chunked(y, x, memory=max(x.nbytes, expected.nbytes, 64) * 2), expected)


def test_blocks_end_where_chunks_do() -> None:
    blockwise = Blockwise(sl.transpose(sl.tensor((100, 70), name="x")), [(100, 70)])
    for block in split(blockwise, (16, 24), 6000):
        assert [low % chunk for (low, _), chunk in zip(block, (16, 24), strict=True)] == [0, 0]
        assert [high % chunk == 0 or high == n for (_, high), chunk, n in zip(block, (16, 24), (70, 100), strict=True)]
    assert len(split(blockwise, (70, 100), 100)) > 100  # smaller blocks where a chunk is too large


def test_memory_is_enough_for_an_element() -> None:
    with pytest.raises(ArrayError, match=r"one element and what it reads take 4 elements, memory is for 3"):
        apply_chunked(sl.transpose(sl.tensor("N, M", name="x")), np.zeros((4, 4)), memory=31)


@pytest.mark.parametrize(
    ("text", "size"), [("1B", 1), ("3 kB", 3000), ("1.5GB", 1_500_000_000), ("2KiB", 2048), ("1Ti", 1 << 40), (5, 5)]
)
def test_sizes_as_people_write_them(text: Any, size: int) -> None:
    assert bytes_of(text) == size


@pytest.mark.parametrize("text", ["", "-1", "0", "1 XB", "1e3", "B", "0.0001kB", 0, -5, True, None, "9" * 99])
def test_sizes_that_are_none(text: Any) -> None:
    with pytest.raises(FormatError, match="is no number of bytes"):
        bytes_of(text)


def test_errors() -> None:
    y = sl.space_to_depth(sl.tensor("N, C, H, W", name="x"), 2)
    x = np.zeros((1, 1, 4, 4), np.float32)
    with pytest.raises(ShapeError) as caught:
        apply_chunked(y, x[:, :, :3])
    assert caught.value.kind == "non_divisible"
    with pytest.raises(ShapeError, match=r"out has shape \(1,\), the result has \(1, 4, 2, 2\)"):
        apply_chunked(y, x, out=np.zeros(1, np.float32))
    with pytest.raises(ArrayError, match="out has dtype float64, the result has float32"):
        apply_chunked(y, x, out=np.zeros((1, 4, 2, 2)))
    with pytest.raises(ArrayError, match="has 1 inputs, got 2 arrays"):
        apply_chunked(y, x, x)
    with pytest.raises(ArrayError, match="the inputs have dtypes float32 and float64"):
        apply_chunked(CHAINS["concatenate"](), np.zeros((9, 5), np.float32), np.zeros((7, 5)))
    assert apply_chunked(y, x[:, :0]).shape == (1, 0, 2, 2)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    y, x = sl.transpose(sl.tensor("N, M", name="x")), np.zeros((64, 64))
    terminal, file = Terminal(), io.StringIO()
    apply_chunked(y, x, memory="20kB", progress=terminal)
    apply_chunked(y, x, memory="20kB", progress=file)
    apply_chunked(y, x, memory="20kB", progress=None)
    assert "100%" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[1A\x1b[2K")
    assert file.getvalue() == ""


SCRIPT = """
import resource, sys
import numpy as np
import symlayout as sl
from symlayout.interop.chunked import apply_chunked
x = np.load("x.npy", mmap_mode="r")
out = np.lib.format.open_memmap("y.npy", "w+", x.dtype, (300, 400, 500))
y = sl.transpose(sl.tensor("T, Y, X", name="x"), (2, 0, 1))
small = x[:8, :8, :8]
apply_chunked(y, small, memory="1MB")                # what Python, NumPy and the kernel take
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
apply_chunked(y, x, out=out, memory="32MB")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the peak is asked of Linux")
def test_peak_of_memory_stays_near_what_is_given(tmp_path: Path) -> None:
    """Arrays of 240 MB each way, of which 32 MB may be in memory."""
    x = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float32, (400, 500, 300))
    for k in range(400):
        x[k] = k
    x.flush()
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT), str(ROOT / "codegen")]))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 96e6
    y = np.load(tmp_path / "y.npy", mmap_mode="r")
    assert np.array_equal(y[7], np.repeat(np.arange(400, dtype=np.float32), 500).reshape(400, 500))
    assert np.array_equal(y[:, :, 3], np.repeat(np.arange(400, dtype=np.float32)[None], 300, axis=0))


# ---------------------------------------------------------------------- zarr and dask


def test_from_zarr_to_zarr(tmp_path: Path) -> None:
    zarr: Any = pytest.importorskip("zarr", reason="the extra chunked is not installed")
    x = np.random.default_rng(0).normal(size=(4, 3, 40, 56)).astype(np.float32)
    source = zarr.create_array(tmp_path / "x.zarr", data=x, chunks=(1, 3, 16, 16))
    out = zarr.create_array(tmp_path / "y.zarr", shape=(4, 12, 20, 28), chunks=(1, 12, 8, 8), dtype="float32")
    y = sl.space_to_depth(sl.tensor("N, C, H, W", name="x"), 2)
    assert apply_chunked(y, source, out=out, memory="100kB") is out
    assert np.array_equal(out[:], sl.interpret(y, x))


def test_a_zarr_chunk_is_written_once(tmp_path: Path) -> None:
    zarr: Any = pytest.importorskip("zarr", reason="the extra chunked is not installed")
    written: list[Any] = []

    class Noting:
        def __init__(self, array: Any) -> None:
            self.array, self.shape, self.dtype, self.chunks = array, array.shape, array.dtype, array.chunks

        def __setitem__(self, key: tuple[slice, ...], value: Array) -> None:
            written.append([s.start % c for s, c in zip(key, self.chunks, strict=True)])
            self.array[key] = value

    out = Noting(zarr.create_array(tmp_path / "y.zarr", shape=(70, 90), chunks=(16, 24), dtype="int64"))
    x = np.arange(90 * 70).reshape(90, 70)
    apply_chunked(sl.transpose(sl.tensor("N, M", name="x")), x, out=out, memory="40kB")
    assert np.array_equal(out.array[:], x.T)
    assert len(written) > 2
    assert all(start == [0, 0] for start in written)


@pytest.mark.parametrize("name", CHAINS)
def test_dask(name: str) -> None:
    da: Any = pytest.importorskip("dask.array", reason="the extra chunked is not installed")
    from symlayout.interop.dask import apply_dask

    y = CHAINS[name]()
    arrays = arrays_of(y)
    found = apply_dask(y, *(da.from_array(a, chunks=4) for a in arrays), chunks=3)
    assert found.chunksize == tuple(min(3, n) for n in found.shape)
    assert np.array_equal(found.compute(), sl.interpret(y, *arrays))


def test_a_dask_chunk_needs_only_the_chunks_that_it_reads() -> None:
    da: Any = pytest.importorskip("dask.array", reason="the extra chunked is not installed")
    from symlayout.interop.dask import apply_dask

    made: list[Any] = []

    def block(block_info: Any = None) -> Array:
        made.append(tuple(block_info[None]["chunk-location"]))
        return np.zeros(block_info[None]["chunk-shape"], np.float32)

    x = da.map_blocks(block, chunks=((10,) * 5, (10,) * 5), dtype=np.float32)
    y = apply_dask(sl.transpose(sl.tensor("N, M", name="x")), x, chunks=10)
    y[:10, 40:].compute(scheduler="synchronous")
    assert made == [(4, 0)]
    with pytest.raises(ArrayError, match="has 1 inputs, got 2 arrays"):
        apply_dask(sl.tensor("N, M", name="x"), x, x)


def test_a_dask_array_that_threads_have_computed_is_computed_by_processes() -> None:
    da: Any = pytest.importorskip("dask.array")
    from symlayout.interop.dask import apply_dask

    data = np.arange(120).reshape(10, 12)
    y = apply_dask(sl.transpose(sl.pad(sl.tensor("N, M", name="x"), 1)), da.from_array(data, chunks=5), chunks=6)
    expected = np.pad(data, 1).T
    assert np.array_equal(y.compute(scheduler="threads"), expected)
    assert np.array_equal(y.compute(scheduler="processes", num_workers=1), expected)
