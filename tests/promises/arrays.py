"""Hand kernels arrays that they have to refuse, and arrays that lie: ``python -m tests.promises.arrays N``.

Each refusal is tried on a kernel that is new, and on those that remember a call of the same shapes; with ``out=`` the
bytes of the buffer that it lies in stay as they are.  Then N random views, as input and as ``out=``, of one buffer:
either the result is what NumPy computes and nothing else is written, or it is refused because elements are shared.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import symlayout as sl
from symlayout.run.repeat_calls import Memories, Remembered

Array = np.ndarray[Any, Any]
Refusal = tuple[type[Exception], str]
SHARED: Refusal = (sl.ArrayError, "shares memory")
NO_ARRAY: Refusal = (sl.ArrayError, "cannot be read as an array")


def x() -> Array:
    return np.arange(12, dtype="f4").reshape(3, 4)


def lying(**entries: Any) -> Any:
    """Return an object whose ``__array_interface__`` is that of an array, but for the *entries*."""
    held = np.zeros((3, 4), "f4")
    return SimpleNamespace(__array_interface__={**held.__array_interface__, **entries}, held=held)


class Raises:
    """An object whose attribute *name* raises."""

    def __init__(self, name: str, error: Exception) -> None:
        self.name, self.error = name, error

    def __getattribute__(self, name: str) -> Any:
        if name == object.__getattribute__(self, "name"):
            raise object.__getattribute__(self, "error")
        return object.__getattribute__(self, name)


class Capsule:
    """An exporter of DLPack with what is given: a device, and what ``__dlpack__`` returns."""

    def __init__(self, device: Any, made: Any) -> None:
        self.device, self.made = device, made

    def __dlpack_device__(self) -> Any:
        return self.device

    def __dlpack__(self, **_: Any) -> Any:
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


class Descending(np.ndarray[Any, Any]):
    """A subclass, whose own rules an output would not follow."""


INPUTS: dict[str, tuple[Callable[[], Any], Refusal]] = {
    "objects": (lambda: x().astype(object), (sl.ArrayError, "no fixed-size elements")),
    "objects in a structure": (lambda: np.zeros((3, 4), "i4,O"), (sl.ArrayError, "no fixed-size elements")),
    "no bytes": (lambda: np.zeros((3, 4), "V0"), (sl.ArrayError, "no fixed-size elements")),
    "masked": (lambda: np.ma.masked_array(x(), x() > 3), (sl.ArrayError, "masked")),
    "a list": (lambda: x().tolist(), (sl.ArrayError, "not an array")),
    "a string": (lambda: "abcd", (sl.ArrayError, "not an array")),
    "nothing": (lambda: None, (sl.ArrayError, "not an array")),
    "a type": (lambda: np.ndarray, (sl.ArrayError, ".")),
    "another type": (lambda: x().astype("f8"), (sl.ArrayError, "dtype")),
    "another rank": (lambda: x().ravel(), (sl.ShapeError, "rank")),
    "an axis more": (lambda: x()[None], (sl.ShapeError, "rank")),
    "a shape that does not fit": (lambda: x()[:, :3], (sl.ShapeError, "never equals")),
    "an interface without type": (lambda: lying(typestr=None), NO_ARRAY),
    "an interface of no type": (lambda: lying(typestr="<q77"), NO_ARRAY),
    "an interface of objects": (lambda: lying(typestr="|O8"), (sl.ArrayError, ".")),
    "an interface of negative shape": (lambda: lying(shape=(-3, 4)), NO_ARRAY),
    "an interface of huge shape": (lambda: lying(shape=(2**62, 4)), NO_ARRAY),
    "an interface of no shape": (lambda: lying(shape="ab"), NO_ARRAY),
    "an interface of few strides": (lambda: lying(strides=(4,)), NO_ARRAY),
    "an interface of no data": (lambda: lying(data="here"), NO_ARRAY),
    "an interface that is none": (lambda: SimpleNamespace(__array_interface__=3), NO_ARRAY),
    "an interface that raises": (lambda: Raises("__array_interface__", ZeroDivisionError("no")), NO_ARRAY),
    "an interface on a buffer that is too small": (lambda: lying(data=bytearray(47)), (sl.ArrayError, "outside")),
    "an interface far into a buffer": (lambda: lying(data=bytearray(48), offset=4), (sl.ArrayError, "outside")),
    "an interface before a buffer": (lambda: lying(data=bytearray(48), strides=(-16, 4)), (sl.ArrayError, "outside")),
    "DLPack on a GPU": (lambda: Capsule((2, 0), BufferError("on a GPU")), NO_ARRAY),
    "DLPack on no device": (lambda: Capsule("cpu", 3), NO_ARRAY),
    "DLPack that is no capsule": (lambda: Capsule((1, 0), 3), NO_ARRAY),
    "DLPack that raises": (lambda: Capsule((1, 0), KeyError("no")), NO_ARRAY),
    "released memory": (lambda: _released(), NO_ARRAY),
}
OUTPUTS: dict[str, tuple[Callable[[Array], Any], Refusal]] = {
    "read-only": (lambda room: _read_only(room[:12].reshape(4, 3)), (sl.ArrayError, "read-only")),
    "another shape": (lambda room: room[:12].reshape(3, 4), (sl.ShapeError, "shape")),
    "an axis more": (lambda room: room[:12].reshape(4, 3, 1), (sl.ShapeError, "shape")),
    "too long": (lambda room: room[:15].reshape(5, 3), (sl.ShapeError, "shape")),
    "another type": (lambda room: room[:12].reshape(4, 3).view("i4"), (sl.ArrayError, "dtype")),
    "another byte order": (lambda room: room[:12].reshape(4, 3).view(">f4"), (sl.ArrayError, "dtype")),
    "a list": (lambda room: [[0.0] * 3] * 4, (sl.ArrayError, "list")),
    "a buffer": (lambda room: bytearray(48), (sl.ArrayError, "bytearray")),
    "a subclass": (lambda room: room[:12].reshape(4, 3).view(Descending), (sl.ArrayError, "Descending")),
    "broadcast": (lambda room: as_strided(room, (4, 3), (0, 4)), (sl.ArrayError, "overlaps itself")),
    "rows that overlap": (lambda room: as_strided(room, (4, 3), (8, 4)), (sl.ArrayError, "overlaps itself")),
    "one place": (lambda room: as_strided(room, (4, 3), (0, 0)), (sl.ArrayError, "overlaps itself")),
    "overlap by bytes": (lambda room: as_strided(room, (4, 3), (10, 4)), (sl.ArrayError, "overlaps itself")),
}
ALIASES: dict[str, Callable[[Array], tuple[Array, Array]]] = {  # of 40 elements
    "the input": lambda room: (room[:12].reshape(3, 4), room[:12].reshape(4, 3)),
    "its end": lambda room: (room[:12].reshape(3, 4), room[11:23].reshape(4, 3)),
    "its beginning": lambda room: (room[11:23].reshape(3, 4), room[:12].reshape(4, 3)),
    "around it": lambda room: (room[4:16].reshape(3, 4), room[:24].reshape(4, 6)[:, ::2]),
    "reversed": lambda room: (room[:12].reshape(3, 4), room[:12][::-1].reshape(4, 3)),
}


def _released() -> Any:
    view = memoryview(bytearray(48)).cast("f", (3, 4))
    view.release()
    return view


def _read_only(a: Array) -> Array:
    a.flags.writeable = False
    return a


def kernels() -> list[sl.Kernel]:
    """Return a new kernel, one that remembers a call, and one that does so without the trampoline."""
    made = [sl.compile(sl.transpose(sl.tensor("n, 4*m", dtype="f4")), strict=True) for _ in range(3)]
    in_python(made[2])
    for _ in range(2):
        for kernel in made[1:]:
            kernel(x(), out=np.empty((4, 3), "f4"))
            kernel(x())
    return made


def in_python(kernel: sl.Kernel) -> None:
    """Have the kernel remember its calls as it does where there is no trampoline."""
    kernel._memories = Memories(Remembered)
    kernel._call_remembered = kernel._memories.call(None)


def refusals(counts: Counter[str]) -> None:
    """Try each of them."""
    for what, (make, (kind, words)) in INPUTS.items():
        for kernel in kernels():
            for out in (None, np.full((4, 3), 7, "f4")):
                with pytest.raises(kind, match=words):
                    kernel(make(), out=out)
                assert out is None or (out == 7).all(), what
                counts["inputs refused"] += 1
    for what, (view, (kind, words)) in OUTPUTS.items():
        for kernel in kernels():
            room = np.arange(40, dtype="f4")
            with pytest.raises(kind, match=words):
                kernel(x(), out=view(room))
            assert np.array_equal(room, np.arange(40, dtype="f4")), what
            good = room[20:32].reshape(4, 3)  # the refusal is not remembered either
            kernel(x(), out=good)
            assert np.array_equal(good, x().T), what
            counts["outputs refused"] += 1
    for what, views in ALIASES.items():
        for kernel in kernels():
            room = np.arange(40, dtype="f4")
            a, out = views(room)
            with pytest.raises(SHARED[0], match=SHARED[1]):
                kernel(a, out=out)
            assert np.array_equal(room, np.arange(40, dtype="f4")), what
            counts["aliases refused"] += 1


def hard() -> None:
    """Give an input and an output of which NumPy takes a minute to say whether they share an element."""
    room = np.zeros(192_163_377, np.int8)
    a = as_strided(room, (1049, 1049, 1049), (36_674, 61_119, 85_569))
    out = as_strided(room[64_023_025:], (1049, 1049, 1), (12_223, 12_224, 1))
    kernel = sl.compile(sl.tensor("n, m, k")[:, :, :1], strict=True)
    searching = mock.patch.object(np, "shares_memory", wraps=np.shares_memory)
    with searching as asked, pytest.raises(SHARED[0], match=SHARED[1]):
        kernel(a, out=out)
    assert asked.called
    assert all(0 <= call.kwargs["max_work"] <= 10**7 for call in asked.call_args_list)


def views(count: int, rnd: random.Random, counts: Counter[str]) -> None:
    """Call two kernels, which remember calls in their ways, on random views of one buffer."""
    both = [sl.compile(sl.transpose(sl.tensor("n, m")), strict=True) for _ in range(2)]
    in_python(both[1])
    for turn in range(count):
        kernel = both[turn % 2]
        n, m = rnd.choice(((3, 4), (4, 3), (1, 5), (5, 1), (4, 4), (2, 0)))
        room = np.random.default_rng(rnd.randrange(1 << 30)).integers(0, 256, 400, np.uint8)
        before = room.copy()
        a, out = _view(room, (n, m), rnd), _view(room, (m, n), rnd)
        expected = a.T.copy()
        shared = bool({*_bytes(a)} & {*_bytes(out)})
        folded = len({*_bytes(out)}) < out.nbytes
        try:
            kernel(a, out=out)
        except sl.ArrayError:
            assert shared or folded or not _nested(out), (a.strides, out.strides)
            assert np.array_equal(room, before)
            counts["views refused"] += 1
            continue
        assert not shared
        assert not folded
        assert np.array_equal(out, expected), (a.shape, a.strides, out.strides)
        written = [k - room.ctypes.data for k in _bytes(out)]
        before[written] = room[written]
        assert np.array_equal(room, before), "something else was written"
        counts["views used"] += 1


def _view(room: Array, shape: tuple[int, int], rnd: random.Random) -> Array:
    """Return a view of *room* of two-byte elements with random strides."""
    strides = tuple(rnd.choice((-24, -8, -2, 0, 2, 2, 3, 4, 6, 8, 8, 10, 16)) for _ in shape)
    if rnd.random() < 0.4:
        strides = (2 * shape[1], 2)
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True) if n)
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, strides, strict=True) if n) + 2
    start = rnd.randint(-low, room.size - high)
    return as_strided(room[start : start + 2].view("i2"), shape, strides)


def _bytes(a: Array) -> list[int]:
    """Return the addresses of all bytes of the elements."""
    start = a.__array_interface__["data"][0]
    return [
        start + sum(i * s for i, s in zip(index, a.strides, strict=True)) + byte
        for index in np.ndindex(a.shape)
        for byte in range(a.itemsize)
    ]


def _nested(a: Array) -> bool:
    """Return whether the strides nest, as those of all slices and transposes do; others may be refused."""
    reach = a.itemsize
    for stride, n in sorted((abs(s), n) for s, n in zip(a.strides, a.shape, strict=True) if n > 1):
        if stride < reach:
            return False
        reach += stride * (n - 1)
    return True


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless something is accepted that has to be refused, or the other way round."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.arrays", description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=100_000, help="random views (100000)")
    parser.add_argument("--seed", type=int, default=0, help="of the views (0)")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    refusals(counts)
    hard()
    views(options.count, random.Random(options.seed), counts)
    for what, number in sorted(counts.items()):
        print(f"{number:7} {what}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
