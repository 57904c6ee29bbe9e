"""Give sizes at the borders of machine integers: ``python -m tests.promises.integers``.

Every core operation, with extents and attributes around 2^31, 2^32, 2^53 and 2^63, symbolic and bound: the shape is the
one that Python's integers give, or the error is ``overflow`` or another `ShapeError`.  Never a wrapped or rounded one.
Random chains whose result is empty, for sizes as large: the kernel and the interpreter give the same kind of error, or
the result.  With ``--sparse``, kernels also read a sparse memory-mapped file of more than 2^31 elements, and write one
of 2 GiB.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np

import symlayout as sl
from symlayout.algebra.facts import Dim
from symlayout.algebra.polynomial import evaluate
from symlayout.tensors.chain import check_bound
from symlayout.tensors.element_types import new_array
from symlayout_codegen.errors import PreconditionFailed
from tests.fuzz import chains, judge

INT64 = 2**63 - 1
BORDERS = tuple(2**k + d for k in (31, 32, 53, 62, 63, 64) for d in (-1, 0, 1))
Shape = tuple[int, ...]
Rule = tuple[str, Callable[[sl.Tensor, int], sl.Tensor], Callable[[Shape, int], Shape | None]]

# name, the operation, and the shape by exact integers for a shape (n, 4) and a border b; None where b must be refused
RULES: tuple[Rule, ...] = (
    ("transpose", lambda x, b: sl.transpose(x), lambda s, b: (s[1], s[0])),
    ("flip", lambda x, b: sl.flip(x), lambda s, b: s),
    ("roll", lambda x, b: sl.roll(x, b, axis=0), lambda s, b: s),
    ("pad", lambda x, b: sl.pad(x, [[b, 1], [0, 0]]), lambda s, b: (s[0] + b + 1, s[1])),
    ("crop", lambda x, b: sl.pad(x, [[-b, 0], [0, 0]]), lambda s, b: (s[0] - b, s[1]) if b <= s[0] else None),
    ("tile", lambda x, b: sl.tile(x, [1, b]), lambda s, b: (s[0], s[1] * b)),
    ("repeat", lambda x, b: sl.repeat(x, b, axis=0), lambda s, b: (s[0] * b, s[1])),
    ("broadcast", lambda x, b: sl.broadcast_to(x, [b, *x.shape]), lambda s, b: (b, *s)),
    ("slice", lambda x, b: x[b:], lambda s, b: (max(0, s[0] - b), s[1])),
    ("slice from the end", lambda x, b: x[-b:], lambda s, b: (min(b, s[0]), s[1])),
    ("step", lambda x, b: x[::b], lambda s, b: (-(-s[0] // b), s[1])),
    ("step back", lambda x, b: x[::-b], lambda s, b: (-(-s[0] // b), s[1])),
    ("pack", lambda x, b: sl.pack(x, axis=0, block=b), lambda s, b: (-(-s[0] // b), s[1], b)),
    ("space_to_batch", lambda x, b: sl.space_to_batch(sl.swapaxes(x, 0, 1), [b], [[0, 0]]),
     lambda s, b: (s[1] * b, s[0] // b) if s[0] % b == 0 else None),
    ("batch_to_space", lambda x, b: sl.batch_to_space(x, [b], [[0, 0]]),
     lambda s, b: (s[0] // b, s[1] * b) if s[0] % b == 0 else None),
    ("reshape", lambda x, b: sl.reshape(x, [-1, b]),
     lambda s, b: (s[0] * s[1] // b, b) if s[0] * s[1] % b == 0 else None),
    ("ravel", lambda x, b: sl.ravel(x), lambda s, b: (s[0] * s[1],)),
    ("window", lambda x, b: sl.window(x, [b], axis=[0]), lambda s, b: (s[0] - b + 1, s[1], b) if s[0] >= b else None),
    ("window steps", lambda x, b: sl.window(x, [2], axis=[0], strides=[b]),
     lambda s, b: ((s[0] - 2) // b + 1, s[1], 2) if s[0] >= 2 else None),
    ("resize", lambda x, b: sl.resize_nearest(x, scale=[b], axes=[0]), lambda s, b: (s[0] * b, s[1])),
)  # fmt: skip


def allowed(shape: Shape | None) -> bool:
    """Return whether an exact shape is int64, and the number of elements of its axes that are not empty."""
    size = 1
    for extent in shape or (INT64 + 1,):
        size *= extent or 1
    return shape is not None and all(0 <= extent <= INT64 for extent in shape) and size <= INT64


def attempts() -> Iterator[tuple[str, Callable[[], Shape], Shape | None, bool]]:
    """Yield descriptions, what makes a shape, the exact shape or None where it must be refused, and where it may be."""
    n = sl.dim("n")
    extents = (0, 1, 2, 7, *BORDERS)
    for name, operation, exact in RULES:
        for b in BORDERS:
            symbolic: sl.Tensor | None
            try:
                symbolic = operation(sl.tensor((n, 4)), b)
            except sl.ShapeError:
                symbolic = None  # refused for every n: then it has to be for each
            for extent in extents:
                shape = exact((extent, 4), b) if allowed((extent, 4)) else None
                wanted = shape if allowed(shape) else None

                beyond = b > INT64 or (name == "resize" and not extent)  # a scale is refused whatever it multiplies
                what = f"{name}, n = {extent}, b = {b}"
                yield f"{what}, fixed", partial(_fixed, operation, extent, b), wanted, beyond
                yield f"{what}, bound", partial(_bound, symbolic, extent), wanted, beyond


def _fixed(operation: Callable[[sl.Tensor, int], sl.Tensor], extent: int, b: int) -> Shape:
    return _shape(operation(sl.tensor((extent, 4)), b))


def _bound(t: sl.Tensor | None, extent: int) -> Shape:
    if t is None:
        raise sl.ShapeError("refused for every n", "overflow")
    return _shape(t.subs({"n": extent}))


def _shape(t: sl.Tensor) -> Shape:
    assert all(type(extent) is int for extent in t.shape), t.shape
    return tuple(int(extent) for extent in t.shape)


def check(counts: Counter[str]) -> list[str]:
    """Return what is wrong."""
    wrong = []
    for what, make, wanted, beyond in attempts():
        try:
            found: Shape | None = make()
        except sl.ShapeError as error:
            found = None
            counts[f"refused: {error.kind}"] += 1
        else:
            counts["right shape"] += 1
        if found != wanted and not (found is None and beyond):
            wrong.append(f"{what}: {found}, exactly {wanted}")
    return wrong


def empty_results(seeds: Sequence[int], calls: int, counts: Counter[str]) -> list[str]:
    """Return where a kernel that is called as from C and the meaning in Python differ though the result is empty."""
    wrong = []
    for seed in seeds:
        rnd = random.Random(seed)
        drawn = chains.draw(rnd)
        try:
            t = judge.build(drawn.chain)
            kernel = sl.compile(t, dtype="uint8", strict=True)
        except sl.SymlayoutError:
            counts["chains that are refused for all sizes, or have no kernel"] += 1
            continue
        for _ in range(calls):
            dims = {dim.name: _hostile(rnd, dim) for dim in t.facts.dims.values()}
            if (found := empty_result(t, kernel, dims)) is not None:
                python, c = found
                counts[f"empty: {python or 'a result'}"] += 1
                broken = t.facts.failing(t.facts.values(dims))
                both = {python, c} == {"overflow", broken.kind} if broken else False  # C looks for overflow last
                if python != c and not both:
                    wrong.append(f"seed {seed}, {dims}: Python {python}, C {c}")
    return wrong


def _hostile(rnd: random.Random, dim: Dim) -> int:
    value: int = rnd.choice((0, 0, 0, 0, 1, 2, 3, 4, *BORDERS))
    value -= value % dim.multiple_of
    return min(max(value, dim.min or 0), value if dim.max is None else dim.max)


def empty_result(t: sl.Tensor, kernel: sl.Kernel, dims: dict[str, int]) -> tuple[str, str] | None:
    """Return the kinds of error of Python and of the C function, "" for none; None unless the result is empty."""
    if all(evaluate(e, t.facts.values(dims)) for e in t.extents):
        return None
    try:
        for dim in t.facts.dims.values():
            check_bound(dim, dims[dim.name])
        new_array(_shape(t.bind(dims)), np.dtype(np.uint8))
        python = ""
    except sl.ShapeError as error:
        python = error.kind
    native = kernel._native(np.dtype(np.uint8), strided=False)
    assert native is not None
    memory = np.zeros(64, np.uint8)
    try:
        fills = memory if native.nest.fills else None
        native(tuple(dims.values()), [memory] * len(native.nest.sources), bytearray(64), fills)
    except PreconditionFailed as error:
        return python, error.kind
    return python, ""


def sparse(folder: Path, counts: Counter[str]) -> None:
    """Read and write files of more than 2^31 elements, of which a few are not 0."""
    n = 2**31 + 4096
    x = np.memmap(folder / "x", np.uint8, "w+", shape=(n,))
    places = (0, 1, 4095, 2**31 - 1, 2**31, 2**31 + 1, n - 2, n - 1)
    for k, place in enumerate(places):
        x[place] = k + 1
    size = sl.dim("n")
    t = sl.tensor((size,), dtype="uint8")
    middle = 2**31
    chains: dict[str, tuple[sl.Tensor, Callable[[int], int]]] = {  # the place in the output of a place in the input
        "the last rows": (t[middle - 4096 :], lambda i: i - (middle - 4096)),
        "the last rows, reversed": (sl.flip(t)[:8192], lambda i: n - 1 - i),
        "every 4096th": (t[::4096], lambda i: i // 4096 if i % 4096 == 0 else -1),
        "rolled": (sl.roll(t, 4096)[:8192], lambda i: (i + 4096) % n),
        "columns": (sl.transpose(sl.reshape(t, [-1, 4096]))[4095:], lambda i: i // 4096 if i % 4096 == 4095 else -1),
    }
    for name, (chain, place_of) in chains.items():
        kernel = sl.compile(chain, strict=True)
        result = kernel(x)
        expected = np.zeros(result.shape, np.uint8).ravel()
        for k, place in enumerate(places):
            if 0 <= (to := place_of(place)) < expected.size:
                expected[to] = k + 1
        assert np.array_equal(result.ravel(), expected), name
        counts["reads beyond 2^31 elements"] += 1
    out = np.memmap(folder / "y", np.uint8, "w+", shape=(n + 8,))
    small = np.arange(1, 17, dtype=np.uint8)
    sl.compile(sl.pad(sl.tensor("m"), [[n - 8, 0]]), strict=True)(small, out=out)
    assert np.array_equal(out[-16:], small)
    assert not out[2**31 - 5000 : 2**31 + 4000].any()
    counts["writes beyond 2^31 elements"] += 1


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a size is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.integers", description=__doc__.splitlines()[0])
    parser.add_argument("--chains", type=int, default=20, help="how many random chains have kernels (20)")
    parser.add_argument("--sparse", action="store_true", help="also files of more than 2^31 elements")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    wrong = check(counts) + empty_results(range(options.chains), 200, counts)
    print("\n".join(wrong[:20]))
    if options.sparse:
        with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
            sparse(Path(name), counts)
    for what, number in sorted(counts.items()):
        print(f"{number:7} {what}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
