"""Transpose an array from file to file, in blocks, with at most 2 MB in memory.

python examples/big_arrays.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import symlayout as sl
from symlayout.interop.chunked import Blockwise, apply_chunked

scans = sl.tensor("T, Y, X", dtype="uint16", name="scans")
turned = sl.transpose(scans, (2, 0, 1))  # a time series for each column of pixels

with tempfile.TemporaryDirectory() as folder:
    source = np.lib.format.open_memmap(Path(folder, "scans.npy"), "w+", np.uint16, (64, 200, 300))
    for t in range(64):
        source[t] = np.arange(300) + t
    out = np.lib.format.open_memmap(Path(folder, "turned.npy"), "w+", np.uint16, (300, 64, 200))
    apply_chunked(turned, source, out=out, memory="2MB")
    equal = np.array_equal(out, source.transpose(2, 0, 1))
    print(f"{source.nbytes / 1e6:.1f} MB transposed, equal to NumPy's result: {equal}")
    (box,) = Blockwise(turned, [source.shape]).boxes(((0, 50), (0, 64), (0, 200)))
    print(f"the first 50 columns read {box}")
    del source, out  # closes the files
