"""Compute a tensor of dask arrays as a dask array.  Each chunk is one task that reads only the boxes it needs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import dask
import dask.array as da
import numpy as np

import symlayout as sl
from symlayout.errors import ArrayError
from symlayout.interop.chunked import Blockwise, Box


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
    ends = [list(itertools.accumulate(axis, initial=0)) for axis in sizes]
    blocks = np.empty([len(axis) for axis in sizes], object)
    for number in np.ndindex(*blocks.shape):
        block = tuple((ends[axis][k], ends[axis][k + 1]) for axis, k in enumerate(number))
        boxes = blockwise.boxes(block)
        read = [array[tuple(slice(*pair) for pair in box)] for array, box in zip(arrays, boxes, strict=True)]
        made = dask.delayed(_compute_block)(blockwise, block, boxes, read)
        blocks[number] = da.from_delayed(made, [high - low for low, high in block], dtype)
    return da.block(blocks.tolist()) if blocks.ndim else blocks[()]


def _compute_block(blockwise: Blockwise, block: Box, boxes: list[Box], read: list[np.ndarray[Any, Any]]) -> Any:
    """Return the elements of a block.  This is the body of a task."""
    return blockwise.compute(block, boxes, [np.asarray(a) for a in read])
