"""Apply a chain to a dask array: the result is lazy, and each chunk of it needs only the chunks that it reads.

pip install symlayout[chunked]
python examples/dask_chunks.py
"""

from __future__ import annotations

import dask.array as da
import numpy as np

import symlayout as sl
from symlayout.interop.dask import apply_dask

x = da.random.random((2, 3, 64, 96), chunks=(1, 3, 16, 16))
blocks = sl.space_to_depth(sl.tensor("N, C, H, W", name="x"), 2)
y = apply_dask(blocks, x, chunks=(1, 12, 16, 16))
print(f"{x.shape} -> {y.shape}, {y.npartitions} chunks")
part, whole = y[0, :, :16, :16].compute(), sl.interpret(blocks, x.compute())
print(f"a chunk computed alone is right: {np.array_equal(part, whole[0, :, :16, :16])}")
