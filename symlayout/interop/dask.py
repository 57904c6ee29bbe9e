"""Compute a tensor of dask arrays as a dask array.  Each chunk is one task that reads only the boxes it needs."""

from __future__ import annotations

import itertools
import uuid
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.highlevelgraph import HighLevelGraph

import symlayout as sl
from symlayout.errors import ArrayError
from symlayout.interop.chunked import Blockwise, Box

Slices = tuple[slice, ...]


def apply_dask(y: sl.Tensor, *sources: Any, chunks: Any = "auto", dims: Mapping[Any, int] | None = None) -> Any:
    """Return *y* as a lazy dask array.

    Parameters
    ----------
    y : Tensor
        The tensor to compute.
    *sources : dask.array.Array
        Its inputs in order of first use.  Other arrays are converted to dask arrays.
    chunks : as in `dask.array.from_array`
        The chunks of the result.
    dims : mapping, optional
        Values of dims that the shapes do not determine.

    Raises
    ------
    ArrayError
        The number of arrays is not that of the inputs, or the arrays have several dtypes.
    ShapeError
        A shape does not fit, with the kind that a call of the kernel has.

    Examples
    --------
    >>> x = da.arange(12, chunks=5).reshape(3, 4)
    >>> apply_dask(sl.transpose(sl.tensor("N, M", name="x")), x, chunks=2)[0].compute()
    array([0, 4, 8])
    """
    if len(sources) != len(y.leaves()):
        raise ArrayError(f"{y.name} has {len(y.leaves())} inputs, got {len(sources)} arrays")
    arrays = [source if isinstance(source, da.Array) else da.from_array(source) for source in sources]
    if len(dtypes := {array.dtype for array in arrays}) > 1:
        raise ArrayError(f"the inputs have dtypes {', '.join(sorted(map(str, dtypes)))}")
    dtype = arrays[0].dtype
    blockwise = Blockwise(y, [array.shape for array in arrays], dims)
    sizes = da.core.normalize_chunks(chunks, blockwise.shape, dtype=dtype)
    name = f"{y.name}-{uuid.uuid4().hex}"
    ends = [_ends(axis) for axis in sizes]
    chunk_ends = [[_ends(axis) for axis in array.chunks] for array in arrays]
    graph: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for number in np.ndindex(*(len(axis) for axis in sizes)):
        block = tuple([(axis[k], axis[k + 1]) for axis, k in zip(ends, number, strict=True)])
        boxes = blockwise.boxes(block)
        parts = [list(_parts(*given)) for given in zip(arrays, chunk_ends, boxes, strict=True)]
        task = _Task(blockwise, block, boxes, [[part[1:] for part in found] for found in parts], dtype)
        graph[name, *number] = (task, [[part[0] for part in found] for found in parts])
    return da.Array(HighLevelGraph.from_collections(name, graph, arrays), name, sizes, dtype=dtype)


def _ends(sizes: Sequence[int]) -> list[int]:
    return list(itertools.accumulate(sizes, initial=0))


def _parts(array: Any, ends: Sequence[Sequence[int]], box: Box) -> Iterator[tuple[Any, Slices, Slices]]:
    """Yield each chunk that a box reads: its key, where its elements are in the box, and where in the chunk."""
    spans: list[list[tuple[int, slice, slice]]] = []
    for at, (low, high) in zip(ends, box, strict=True):
        first, last = bisect_right(at, low) - 1, bisect_left(at, high)
        cut = [(k, max(low, at[k]), min(high, at[k + 1])) for k in range(first, last)]
        spans.append([(k, slice(a - low, b - low), slice(a - at[k], b - at[k])) for k, a, b in cut if a < b])
    for span in itertools.product(*spans):
        yield (array.name, *[k for k, _, _ in span]), tuple([to for _, to, _ in span]), tuple([at for *_, at in span])


@dataclass(frozen=True, slots=True)
class _Task:
    """The computation of one block from the chunks that it reads.

    Attributes
    ----------
    places : list for each input, of a pair for each chunk
        Where the chunk's elements are in the box of the input, and where they are in the chunk.
    """

    blockwise: Blockwise
    block: Box
    boxes: list[Box]
    places: list[list[tuple[Slices, Slices]]]
    dtype: np.dtype[Any]

    def __call__(self, chunks: list[list[Any]]) -> Any:
        """Return the elements of the block."""
        read = []
        for box, places, given in zip(self.boxes, self.places, chunks, strict=True):
            shape = tuple([high - low for low, high in box])
            if len(given) == 1 and given[0][places[0][1]].shape == shape:
                read.append(np.asarray(given[0][places[0][1]]))
                continue
            whole = np.empty(shape, self.dtype)
            for (to, at), chunk in zip(places, given, strict=True):
                whole[to] = chunk[at]
            read.append(whole)
        return self.blockwise.compute(self.block, self.boxes, read)
