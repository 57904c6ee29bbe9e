"""Run kernels of random chains on arrays between pages that nobody may touch: ``python -m tests.promises.guard N``.

Each array ends where such a page begins, or begins where one ends, so that a vector that reads or writes one byte
too far, which the sanitizers see only where the compiler put a check, kills the process.  The kernels are those that
users get.  The process that is killed is a child, and the chain at hand is printed.
"""

from __future__ import annotations

import argparse
import ctypes
import mmap
import random
import sys
import tempfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.tensors.element_types import byte_bounds
from tests.promises.corpus import each_chain
from tests.promises.forked import forked
from tests.support import oracle
from tests.support.chains import build, check, symbolic
from tests.support.strategies import Case

Array = np.ndarray[Any, Any]
EXTENTS = (1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 129, 257)
LARGEST = 1 << 22  # bytes of an input
LIBC = ctypes.CDLL(None, use_errno=True)


class Guarded:
    """Memory of *size* bytes between two pages without any access; it ends or begins at one of them."""

    def __init__(self, size: int, *, at_end: bool) -> None:
        page = mmap.PAGESIZE
        room = -(-size // page) * page
        self.memory = mmap.mmap(-1, room + 2 * page)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        for guard in (address, address + page + room):
            if LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        start = page + room - size if at_end else page
        self.bytes: Array = np.ndarray(size, np.uint8, self.memory, start)


def guarded(a: Array, *, at_end: bool) -> Array:
    """Return an array equal to *a*, of its strides, whose bytes fill guarded memory."""
    low, high = byte_bounds(a)
    memory = Guarded(high - low, at_end=at_end).bytes
    memory[:] = np.frombuffer(ctypes.string_at(low, high - low), np.uint8)
    return np.ndarray(a.shape, a.dtype, memory, a.__array_interface__["data"][0] - low, a.strides)


def fixed(case: Case) -> None:
    """Check the kernel that has the case's shape, with both ends guarded in turn."""
    x = case.array()
    kernel = sl.compile(build(sl.tensor(case.shape, dtype=x.dtype, name="x"), case.steps), strict=True)
    call(kernel, case, x, {})


def dynamic(case: Case) -> None:
    """Check the kernel for all shapes, where it is shown to be in bounds."""
    x = case.array()
    dims: dict[str, int] = {}
    steps = [(name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps)]
    leaf = sl.tensor([sl.dim(f"n{k}") for k in range(x.ndim)], dtype=x.dtype, name="x")
    try:
        kernel = sl.compile(build(leaf, steps), strict=True)
    except sl.InconclusiveError:
        return
    call(kernel, case, x, dims)


def call(kernel: sl.Kernel, case: Case, x: Array, dims: dict[str, int]) -> None:
    """Call *kernel* on guarded memory, and compare with brute force."""
    expected = oracle.run(oracle.grid(x), case.steps)
    for at_end in (False, True):
        out = guarded(np.zeros(expected.shape, expected.dtype), at_end=at_end) if expected.cells else None
        check(kernel(guarded(x, at_end=at_end) if x.size else x, out=out, dims=dims or None), expected)


def blocks() -> dict[str, sl.Tensor]:
    """Return chains whose kernels have vectors, tiles and peeled ends, for all shapes."""
    a, b, c, d = sl.dims("a b c d")
    x = sl.tensor((a, b, c, d), name="x")
    whole = sl.tensor((4 * a, b, 2 * c, 2 * d), name="x")
    return {
        "nchw to nhwc": sl.transpose(x, (0, 2, 3, 1)),
        "nhwc to nchw": sl.transpose(x, (0, 3, 1, 2)),
        "all reversed": sl.transpose(x),
        "rows and columns": sl.swapaxes(x, 2, 3),
        "space_to_depth": sl.space_to_depth(whole, block_size=2),
        "space_to_depth, last axis": sl.space_to_depth(whole, block_size=2, depth_axis=1, spatial_axes=[2, 3]),
        "depth_to_space": sl.depth_to_space(sl.tensor((a, 4 * b, c, d), name="x"), block_size=2),
        "space_to_batch": sl.space_to_batch(whole, block_shape=[1, 2, 2], paddings=[[0, 0], [1, 1], [2, 0]]),
        "batch_to_space": sl.batch_to_space(whole, block_shape=[1, 2, 2], crops=[[0, 0], [0, 0], [0, 0]]),
        "flip": sl.flip(x),
        "roll": sl.roll(x, 5, axis=3),
        "pad": sl.pad(x, [[0, 0], [1, 2], [0, 3], [5, 1]]),
        "repeat": sl.repeat(x, 2, axis=3),
        "every other": x[..., ::2],
    }


def large(count: int, seed: int, last: Path) -> int:
    """Check those kernels on *count* random shapes each, for elements of 1 to 16 bytes; return how many calls."""
    rnd = random.Random(seed)
    done = 0
    for name, t in blocks().items():
        kernel = sl.compile(t, strict=True)
        leaf = t.leaves()[0].shape
        for _ in range(count):
            dims = {d: rnd.choice(EXTENTS) for d in "abcd"}
            while 16 * prod(dims.values()) > LARGEST:
                dims[rnd.choice("abcd")] = rnd.choice((1, 2, 3))
            shape = tuple(int(extent.subs({sl.dim(d): n for d, n in dims.items()})) for extent in leaf)
            dtype = rnd.choice(("u1", "u2", "u4", "u8", "c16", "V3"))
            last.write_text(f"{name}, {shape}, {dtype}", encoding="utf-8")
            x = np.random.default_rng(0).integers(0, 255, (*shape, np.dtype(dtype).itemsize), np.uint8)
            array = x.view(dtype).reshape(shape)
            expected = sl.interpret(t, array)
            for at_end in (False, True):
                out = guarded(np.zeros_like(expected), at_end=at_end)
                assert kernel(guarded(array, at_end=at_end), out=out).tobytes() == expected.tobytes()
                done += 1
    return done


def overrun() -> None:
    """Read one byte too far: this has to end the process, or the guards are none."""
    memory = Guarded(10, at_end=True).bytes
    print(ctypes.string_at(memory.ctypes.data, 11))


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a kernel leaves its arrays."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.guard", description=__doc__.splitlines()[0])
    parser.add_argument("chains", type=int, nargs="?", default=1000, help="how many, and half as many for all shapes")
    parser.add_argument("--seed", type=int, default=0, help="of the chains (0)")
    options = parser.parse_args(arguments)
    assert forked(overrun) != 0, "the guard pages guard nothing"
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        last = Path(name) / "last"

        def run() -> None:
            print(f"{large(max(1, options.chains // 20), options.seed, last):7} calls on blocks")
            print(f"{each_chain(options.chains, options.seed, last, fixed, dynamic):7} chains")

        status = forked(run, 1e6)
        if status:
            print(f"status {status} at {last.read_text(encoding='utf-8')}", file=sys.stderr)
    return int(status != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
