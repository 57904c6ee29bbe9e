"""Tensors of dask arrays: values, what a graph costs to build, and what a task carries to another process."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.interop import chunked
from symlayout.maps import box_image

da: Any = pytest.importorskip("dask.array", reason="the extra dask is not installed")

from symlayout.interop.dask import apply_dask  # noqa: E402  # needs dask

IMAGES = sl.tensor("N, C, H, W", name="x")
DATA = np.arange(6 * 2 * 14 * 10, dtype="i4").reshape(6, 2, 14, 10)
BLOCKS = sl.space_to_depth(sl.pad(IMAGES, [(0, 0), (0, 0), (1, 1), (1, 1)]), 2)

CASES = {
    "blocks": BLOCKS,
    "rolled": sl.roll(IMAGES, 3, 2),
    "reflected": sl.pad(IMAGES, [(0, 0), (0, 0), (3, 2), (0, 0)], mode="reflect"),
    "flipped part": sl.flip(IMAGES, 3)[1:, :, ::2],
    "rows": sl.reshape(IMAGES, (-1, IMAGES.shape[3])),
    "padding only": sl.pad(IMAGES[:, :, :0], [(0, 0), (0, 0), (4, 0), (0, 0)], constant_values=7),
}


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
@pytest.mark.parametrize("name", CASES)
def test_values_are_the_interpreters(name: str, scheduler: str) -> None:
    y = CASES[name]
    source = da.from_array(DATA, chunks=(4, 1, 5, 6))
    found = apply_dask(y, source, chunks=3).compute(scheduler=scheduler)
    assert np.array_equal(found, sl.interpret(y, DATA))


def test_several_inputs() -> None:
    pair = [sl.tensor("N, C", name="a"), sl.tensor("N, D", name="b")]
    y = sl.concatenate(pair, axis=1)
    a, b = np.arange(12).reshape(4, 3), np.arange(20).reshape(4, 5)
    found = apply_dask(y, da.from_array(a, chunks=2), b, chunks=(3, 2)).compute()
    assert np.array_equal(found, np.concatenate([a, b], 1))


def test_a_graph_finds_each_range_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cost of a chunk does not grow with the number of chunks along other axes."""
    counted: list[Any] = []
    image = box_image.image

    def counting(*given: Any) -> Any:
        counted.append(given)
        return image(*given)

    monkeypatch.setattr(box_image, "image", counting)
    made = apply_dask(BLOCKS, da.from_array(DATA, chunks=2), chunks=(1, 2, 2, 2))
    assert made.npartitions == 6 * 4 * 4 * 3
    assert 0 < len(counted) <= 6 + 4 * 4 + 4 * 3
    layer = made.dask.layers[made.name]
    assert len(layer) == made.npartitions  # one task for each chunk


def test_the_boxes_of_ranges_that_are_known_are_those_of_the_block() -> None:
    for y in CASES.values():
        blockwise = chunked.Blockwise(y, [DATA.shape])
        for _ in range(2):
            for block in np.ndindex(*(-(-n // 4) for n in blockwise.shape)):
                ranges = tuple((4 * k, min(4 * k + 4, n)) for k, n in zip(block, blockwise.shape, strict=True))
                fresh = chunked.Blockwise(y, [DATA.shape])
                assert blockwise.boxes(ranges) == fresh.boxes(ranges)


def test_a_process_makes_the_computation_of_many_tasks_once() -> None:
    made = apply_dask(BLOCKS, da.from_array(DATA, chunks=2), chunks=2)
    tasks = [task for task, _ in made.dask.layers[made.name].mapping.values()]
    arrived = [pickle.loads(pickle.dumps(task)) for task in tasks]
    assert len({id(task.blockwise) for task in arrived}) == 1
    assert arrived[0].blockwise is not tasks[0].blockwise
    assert max(len(pickle.dumps(task)) for task in tasks) < 4096


def test_a_block_is_computed_without_binding_the_tensor_again(monkeypatch: pytest.MonkeyPatch) -> None:
    blockwise = chunked.Blockwise(BLOCKS, [DATA.shape])
    blocks = [((k, k + 1), (0, 8), (0, 3), (k, k + 1)) for k in range(4)]
    boxes = [blockwise.boxes(block) for block in blocks]
    arrays = [[DATA[tuple(slice(*ends) for ends in box)] for box in found] for found in boxes]
    first = blockwise.compute(blocks[0], boxes[0], arrays[0])

    def bind(*_given: object) -> None:
        raise AssertionError("the tensor is bound again")

    monkeypatch.setattr(sl.Tensor, "bind", bind)
    expected = sl.interpret
    found = [blockwise.compute(*given) for given in zip(blocks, boxes, arrays, strict=True)]
    monkeypatch.undo()
    assert np.array_equal(first, found[0])
    whole = expected(BLOCKS, DATA)
    for block, part in zip(blocks, found, strict=True):
        assert np.array_equal(part, whole[tuple(slice(*ends) for ends in block)])


@pytest.mark.slow
def test_a_cluster_of_processes_computes_it() -> None:
    distributed: Any = pytest.importorskip("distributed", reason="the package distributed is not installed")
    source = da.arange(DATA.size, chunks=DATA.size, dtype="i4").reshape(DATA.shape).rechunk((2, 2, 7, 5))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = apply_dask(BLOCKS, source, chunks=(2, 8, 4, 3)).compute()
        kept = client.run(_computations)
    assert np.array_equal(found, sl.interpret(BLOCKS, DATA))
    assert all(number <= 1 for number in kept.values())
    assert any(number == 1 for number in kept.values())


def _computations() -> int:
    """Return how many computations a worker has made of what its tasks carried."""
    from symlayout.interop.chunked import _MADE

    return len(_MADE)
