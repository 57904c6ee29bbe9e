"""Compute a tensor block by block, from and to arrays that are larger than memory.

An array is anything with a shape, a dtype and slices: a memory-mapped file, a zarr array, an HDF5 data set.  A block
of the output reads one box of each input, which `IndexMap.image` returns.  One kernel computes all blocks: the
positions of a block and its boxes are dims.

Blocks are computed one after another.  A box has no step: for ``x[::2]`` it includes the elements between.
"""

from __future__ import annotations

import itertools
import math
import mmap
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TextIO

import numpy as np

import symlayout as sl
from symlayout.deadlines import at_phase
from symlayout.errors import ArrayError, FormatError, ShapeError, shown
from symlayout.maps.box_image import axes_read
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.chain import check_moves
from symlayout.tensors.element_types import check_dtype, element_type
from symlayout_codegen.forks import cached_property

Box = tuple[tuple[int, int], ...]  # a half-open range for each axis
Sliceable = Any  # an object with shape, dtype and NumPy's slices

_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


class Blockwise:
    """A tensor with known extents that is computed block by block.

    Parameters
    ----------
    y : Tensor
        The tensor to compute.
    shapes : sequence of shape
        The shape of each input, in order of first use.
    dims : mapping, optional
        Values of dims that the shapes do not determine.
    strict : bool
        Raise if no C kernel can be built, instead of computing in NumPy with a warning.

    Raises
    ------
    ShapeError
        The shapes do not fit, with the kind that a call of the kernel has.

    Examples
    --------
    >>> blockwise = Blockwise(sl.pad(sl.tensor("N, C", name="x"), 1), [(8, 8)])
    >>> blockwise.boxes(((0, 4), (0, 10)))
    [((0, 3), (0, 8))]
    """

    def __init__(
        self,
        y: sl.Tensor,
        shapes: Sequence[tuple[int, ...]],
        dims: Mapping[Any, int] | None = None,
        *,
        strict: bool = False,
    ) -> None:
        check_moves("apply", y)
        self._set(y.bind(bind_shapes(y, [tuple(shape) for shape in shapes], dims)), strict, os.urandom(16).hex())

    def _set(self, tensor: sl.Tensor, strict: bool, key: str) -> None:
        self.tensor, self._strict, self._key = tensor, strict, key
        self.shape: tuple[int, ...] = tensor.shape
        self._leaves = tensor.leaves()

    def __reduce__(self) -> tuple[Callable[..., Blockwise], tuple[Any, ...]]:
        """Return the tensor as data.  A process that gets it many times, with many tasks, makes it once."""
        return _made_once, (self._key, self._strict, *self.tensor.__reduce__())

    def boxes(self, block: Box) -> list[Box]:
        """Return the box of each input that a block of the output reads.  A box may be empty."""
        if (known := self._known_boxes(block)) is not None:
            return known
        read = {image.source: image.box for image in self.tensor.index_map.image(block)}
        found = []
        for leaf in self._leaves:
            box = read.get(leaf.name)
            found.append(tuple((low, max(low, high)) for low, high in box) if box else ((0, 0),) * leaf.rank)
        if all(low < high for box in found for low, high in box):
            for box, known_ranges, axes in zip(found, self._ranges, self._axes, strict=True):
                for pair, ranges, used in zip(box, known_ranges, axes, strict=True):
                    ranges[tuple([block[k] for k in used])] = pair
        return found

    def _known_boxes(self, block: Box) -> list[Box] | None:
        """Return the boxes of a block each of whose ranges an earlier block has read; None if one has not."""
        found = []
        for known_ranges, axes in zip(self._ranges, self._axes, strict=True):
            box = [ranges.get(tuple([block[k] for k in used])) for ranges, used in zip(known_ranges, axes, strict=True)]
            if None in box:
                return None
            found.append(tuple(pair for pair in box if pair is not None))
        return found

    @cached_property
    def _axes(self) -> list[list[tuple[int, ...]]]:
        """The axes of a block on which the range of each axis of each input depends."""
        return [axes_read(self.tensor, leaf) for leaf in self._leaves]

    @cached_property
    def _ranges(self) -> list[list[dict[Box, tuple[int, int]]]]:
        """The ranges that blocks have read, none of them empty: for each axis of each input, by the block's ranges."""
        return [[{} for _ in range(leaf.rank)] for leaf in self._leaves]

    def compute(self, block: Box, boxes: Sequence[Box], arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
        """Return the elements of *block*; *arrays* has the elements of each of its *boxes*."""
        dims = {f"at{k}": low for k, (low, _) in enumerate(block)}
        dims |= {f"count{k}": high - low for k, (low, high) in enumerate(block)}
        for number, box in enumerate(boxes):
            dims |= {f"from{number}_{k}": low for k, (low, _) in enumerate(box)}
        counts = {f"box{n}_{k}": high - low for n, box in enumerate(boxes) for k, (low, high) in enumerate(box)}
        out = np.empty([high - low for low, high in block], arrays[0].dtype)
        given = [np.ascontiguousarray(a) for a in arrays]
        return out if self._kernel.write(out, given, dims | counts) else self._kernel(*arrays, dims=dims)

    @cached_property
    def _kernel(self) -> sl.Kernel:
        """The kernel of every block.

        It reads boxes.  A pad around each box stands for the rest of the input, which the block does not read.
        """
        padded = {}
        for number, leaf in enumerate(self.tensor.leaves()):
            counts = [sl.dim(f"box{number}_{k}", max=n) for k, n in enumerate(leaf.shape)]
            starts = [sl.dim(f"from{number}_{k}", max=n) for k, n in enumerate(leaf.shape)]
            box = sl.tensor(counts, leaf.dtype, f"box{number}")
            around = [(a, n - a - m) for a, m, n in zip(starts, counts, leaf.shape, strict=True)]
            padded[leaf.key] = sl.pad(box, around) if leaf.rank else box
        starts = [sl.dim(f"at{k}", max=n) for k, n in enumerate(self.shape)]
        stops = [
            start + sl.dim(f"count{k}", max=n) for k, (start, n) in enumerate(zip(starts, self.shape, strict=True))
        ]
        return sl.compile(self.tensor.replace(padded)[tuple(map(slice, starts, stops))], strict=self._strict)


_MADE: dict[str, Blockwise] = {}  # of other processes, by key
_MOST_MADE = 64


def _made_once(key: str, strict: bool, rebuild: Callable[..., sl.Tensor], records: tuple[Any, ...]) -> Blockwise:
    """Return the computation that another process has with this key."""
    found = _MADE.get(key)
    if found is None:
        if len(_MADE) >= _MOST_MADE:
            _MADE.clear()
        found = Blockwise.__new__(Blockwise)
        found._set(rebuild(*records), strict, key)
        found = _MADE.setdefault(key, found)
    return found


def apply_chunked(
    y: sl.Tensor,
    *sources: Sliceable,
    out: Sliceable | None = None,
    dims: Mapping[Any, int] | None = None,
    memory: int | str = "256MB",
    progress: TextIO | None = sys.stderr,
    strict: bool = False,
) -> Sliceable:
    """Compute *y* block by block into *out*, and return *out*.

    Parameters
    ----------
    y : Tensor
        The tensor to compute.
    *sources : array
        Its inputs in order of first use.  Each has a shape, a dtype and slices, as memory-mapped files and zarr arrays
        have.
    out : array, optional
        An array with slices and with the result's shape and dtype.  If it has ``chunks``, a block consists of whole
        chunks where *memory* allows.  By default the result is a new NumPy array.
    dims : mapping, optional
        Values of dims that the shapes do not determine.
    memory : int or str
        The most bytes for a block and its boxes together: an int, or text such as ``"1.5GB"`` or ``"512MiB"``.
    progress : text stream, optional
        The stream for a progress bar.  The bar appears only on a terminal.
    strict : bool
        Raise if no C kernel can be built, instead of computing in NumPy with a warning.

    Raises
    ------
    ArrayError
        The dtypes of the inputs and of *out* differ, or *memory* is too small for a single element.
    FormatError
        *memory* is not a number of bytes.
    ShapeError
        A shape does not fit, with the kind that a call of the kernel has.

    Examples
    --------
    >>> turned = sl.transpose(sl.tensor("N, M", name="x"))
    >>> apply_chunked(turned, np.arange(6).reshape(2, 3), memory="64B").tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    check_moves("apply_chunked", y)
    leaves = y.leaves()
    if len(sources) != len(leaves):
        raise ArrayError(f"{y.name} has {len(leaves)} inputs, got {len(sources)} arrays")
    dtypes = [element_type(source.dtype) for source in sources]
    for leaf, dtype in zip(leaves, dtypes, strict=True):
        check_dtype(np.empty(0, dtype), leaf.dtype, leaf.name)
        if dtype != dtypes[0]:
            raise ArrayError(f"the inputs have dtypes {dtypes[0]} and {dtype}")
    blockwise = Blockwise(y, [source.shape for source in sources], dims, strict=strict)
    if out is None:
        out = np.empty(blockwise.shape, dtypes[0])
    elif tuple(out.shape) != blockwise.shape:
        raise ShapeError(f"out has shape {tuple(out.shape)}, the result has {blockwise.shape}", "size_mismatch")
    elif element_type(out.dtype) != dtypes[0]:
        raise ArrayError(f"out has dtype {out.dtype}, the result has {dtypes[0]}")
    chunks = getattr(out, "shards", None) or getattr(out, "chunks", None) or (1,) * len(blockwise.shape)
    blocks = split(blockwise, tuple(chunks), bytes_of(memory) // dtypes[0].itemsize)
    with _progress(progress, math.prod(blockwise.shape) * dtypes[0].itemsize) as advance:
        for k, block in enumerate(blocks):
            at_phase("write blocks", k, len(blocks))
            boxes = blockwise.boxes(block)
            read = [np.asarray(_read(source, box, dtypes[0])) for source, box in zip(sources, boxes, strict=True)]
            out[tuple(slice(*ends) for ends in block)] = blockwise.compute(block, boxes, read)
            for array in (*sources, out):
                _release_pages(array)
            advance(_count(block) * dtypes[0].itemsize)
    return out


def split(blockwise: Blockwise, chunks: tuple[int, ...], most: int) -> list[Box]:
    """Return blocks that cover the output; each block and its boxes have at most *most* elements together.

    The blocks end at multiples of *chunks* where *most* allows that.  At each step, the axis is halved that makes the
    cost least; for a transpose, this keeps the boxes as narrow as the blocks.
    """
    shape = blockwise.shape
    if 0 in shape:
        return []
    steps = list(shape)

    def cost(sizes: Sequence[int]) -> int:
        """Return the elements of a block, its boxes and a copy of each: the most of a first, middle and last block."""
        found = []
        for place in (0, 1, 2):
            starts = [(n - 1) * place // 2 // s * s for s, n in zip(sizes, shape, strict=True)]
            block = tuple((a, min(a + s, n)) for a, s, n in zip(starts, sizes, shape, strict=True))
            found.append(2 * (_count(block) + sum(map(_count, blockwise.boxes(block)))))
        return max(found)

    def halves(axis: int, unit: int) -> list[int]:
        half = -(-steps[axis] // 2 // unit) * unit
        return [*steps[:axis], half, *steps[axis + 1 :]]

    needed = cost(steps)
    while needed > most:
        at_chunks = [halves(k, unit) for k, unit in enumerate(chunks) if steps[k] > unit]
        candidates = at_chunks or [halves(k, 1) for k, step in enumerate(steps) if step > 1]
        if not candidates:
            raise ArrayError(f"one element and what it reads take {needed} elements, memory is for {most}")
        needed, steps = min(((cost(sizes), sizes) for sizes in candidates), key=lambda found: found[0])
    return list(itertools.product(*(list(_ranges(n, step)) for n, step in zip(shape, steps, strict=True))))


def bytes_of(memory: int | str) -> int:
    """Return *memory* in bytes: a positive int, or text with a unit such as ``"256MB"`` or ``"1.5GiB"``.

    >>> bytes_of("1.5kB"), bytes_of("2MiB"), bytes_of(7)
    (1500, 2097152, 7)
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    found = re.fullmatch(r"(\d{1,15}(?:\.\d{1,9})?) ?(k|[MGT]|[KMGT]i|)B?", str(memory), re.ASCII)
    if not found or not (size := int(float(found[1]) * _UNITS[found[2]])):
        raise FormatError(f"memory {shown(memory)} is no number of bytes\n  help: write it as 256MB, 1.5GB or 512MiB")
    return size


def _ranges(n: int, step: int) -> Iterator[tuple[int, int]]:
    return ((start, min(start + step, n)) for start in range(0, n, step))


def _count(box: Box) -> int:
    return math.prod(high - low for low, high in box)


def _read(source: Sliceable, box: Box, dtype: np.dtype[Any]) -> Any:
    """Return the elements of a box.  *source* is not read for an empty box."""
    if _count(box) == 0:
        return np.empty([high - low for low, high in box], dtype)
    return source[tuple(slice(*ends) for ends in box)]


def _release_pages(array: Sliceable) -> None:
    """Return the memory of a mapped file's pages to the system.  What was written stays in the file."""
    mapped = getattr(array, "_mmap", None)
    if isinstance(mapped, mmap.mmap) and getattr(array, "mode", "c") != "c" and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _progress(stream: TextIO | None, total: int) -> Iterator[Callable[[int], None]]:
    """Yield a function that counts written bytes; it advances a progress bar if *stream* is a terminal."""
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TransferSpeedColumn

    columns = (BarColumn(), TaskProgressColumn(), TransferSpeedColumn())
    console = Console(file=stream, force_terminal=True)
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total)
        yield lambda count: bar.advance(task, count)
