"""Move a photograph through space_to_depth and back, and through a padded space_to_batch and back.

    python examples/photo_demo.py examples/photo/chelsea.png demo-output

The chains are declared once, for images of any size.  The program proves the round trips, compares each kernel with
the interpreter, times it beside NumPy and memcpy, and writes the images.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import symlayout as sl

Pixels = np.ndarray[Any, np.dtype[np.uint8]]


BLOCK = 2  # of space_to_depth
PIECES = 4  # of space_to_batch: 4 x 4 small images


def best_us(call: Callable[[], object], seconds: float = 0.2) -> float:
    """Return the least time of one *call* in microseconds, over the calls that fit in *seconds*."""
    best, end = float("inf"), time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        call()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


def measure(title: str, y: sl.Tensor, array: Pixels, numpy_way: Callable[[Pixels, Pixels], None]) -> Pixels:
    """Return the result of the kernel of *y*, after comparing it and printing its time."""
    kernel = sl.compile(y)
    result: Pixels = kernel(array)
    meant = sl.interpret(y, array)
    if not np.array_equal(result, meant):
        raise SystemExit(f"{title}: the kernel differs from the interpreter")
    other = np.empty_like(result)
    numpy_way(array, other)
    if not np.array_equal(other, meant):
        raise SystemExit(f"{title}: NumPy differs from the interpreter")
    out, copy = np.empty_like(result), max(array, result, key=lambda a: a.nbytes)
    target = np.empty_like(copy)
    kernel_us = best_us(lambda: kernel(array, out=out))
    numpy_us = best_us(lambda: numpy_way(array, other))
    memcpy_us = best_us(lambda: np.copyto(target, copy))
    print(f"{title:16} {kernel_us:10.1f} {numpy_us:10.1f} {memcpy_us:10.1f}   equals the interpreter")
    return result


def prove(claim: str, left: sl.Tensor, right: sl.Tensor) -> None:
    """Print one line saying that *left* equals *right* for all sizes; end the program if that is not proved."""
    proof = sl.prove_equal(left, right)
    if proof.verdict is not sl.Verdict.PROVED:
        raise SystemExit(proof.explain())
    requirements = " and ".join(map(str, proof.requires)) or "no requirement"
    print(f"proved: {claim}, for all {left.shape} with {requirements}")


def grid(x: sl.Tensor, block: int) -> sl.Tensor:
    """Return one image with the *block* times *block* images of the batch *x* side by side."""
    _, h, w, c = x.shape
    images = sl.reshape(x, (block, block, h, w, c))
    return sl.reshape(sl.transpose(images, (0, 2, 1, 3, 4)), (block * h, block * w, c))


def main(path: Path, folder: Path) -> None:
    """Run the demo on the photograph in *path*; the images go to *folder*."""
    photo: Pixels = np.asarray(Image.open(path).convert("RGB"))
    height, width, _ = photo.shape
    even: Pixels = np.ascontiguousarray(photo[: height - height % BLOCK, : width - width % BLOCK])
    pads = [(0, -height % PIECES), (0, -width % PIECES)]

    image = sl.tensor("H, W, 3", dtype="uint8", name="image")
    deep = sl.space_to_depth(image, BLOCK, depth_axis=2, spatial_axes=(0, 1))
    flat = sl.depth_to_space(deep, BLOCK, depth_axis=2, spatial_axes=(0, 1))
    prove("depth_to_space undoes space_to_depth", flat, image)

    batch = sl.tensor("1, H, W, 3", dtype="uint8", name="batch")
    apart = sl.space_to_batch(batch, [PIECES, PIECES], pads)
    joined = sl.batch_to_space(apart, [PIECES, PIECES], pads)
    prove("batch_to_space with crops undoes space_to_batch with pads", joined, batch)

    def numpy_space_to_depth(a: Pixels, out: Pixels) -> None:
        h, w, c = a.shape
        blocks = a.reshape(h // BLOCK, BLOCK, w // BLOCK, BLOCK, c).transpose(0, 2, 1, 3, 4)
        np.copyto(out.reshape(blocks.shape), blocks)

    def numpy_depth_to_space(a: Pixels, out: Pixels) -> None:
        h, w, depth = a.shape
        blocks = a.reshape(h, w, BLOCK, BLOCK, depth // BLOCK**2).transpose(0, 2, 1, 3, 4)
        np.copyto(out.reshape(blocks.shape), blocks)

    def numpy_space_to_batch(a: Pixels, out: Pixels) -> None:
        padded = np.pad(a, [(0, 0), *pads, (0, 0)])
        n, h, w, c = padded.shape
        blocks = padded.reshape(n, h // PIECES, PIECES, w // PIECES, PIECES, c).transpose(2, 4, 0, 1, 3, 5)
        np.copyto(out.reshape(blocks.shape), blocks)

    def numpy_batch_to_space(a: Pixels, out: Pixels) -> None:
        n, h, w, c = a.shape
        blocks = a.reshape(PIECES, PIECES, n // PIECES**2, h, w, c).transpose(2, 3, 0, 4, 1, 5)
        np.copyto(out, blocks.reshape(-1, h * PIECES, w * PIECES, c)[:, : out.shape[1], : out.shape[2]])

    print(f"\n{'microseconds':16} {'kernel':>10} {'numpy':>10} {'memcpy':>10}")
    depth = sl.tensor("h, w, 12", dtype="uint8", name="depth")
    undone = sl.depth_to_space(depth, BLOCK, depth_axis=2, spatial_axes=(0, 1))
    deep_pixels = measure("space_to_depth", deep, even, numpy_space_to_depth)
    flat_pixels = measure("depth_to_space", undone, deep_pixels, numpy_depth_to_space)

    small = sl.tensor("16, h, w, 3", dtype="uint8", name="small")
    rejoined = sl.batch_to_space(small, [PIECES, PIECES], pads)
    small_pixels = measure("space_to_batch", apart, photo[None], numpy_space_to_batch)
    joined_pixels = measure("batch_to_space", rejoined, small_pixels, numpy_batch_to_space)
    print()

    folder.mkdir(parents=True, exist_ok=True)
    h, w, _ = deep.shape
    images = sl.transpose(sl.reshape(deep, (h, w, BLOCK**2, 3)), (2, 0, 1, 3))
    save(sl.compile(grid(images, BLOCK))(even), folder / "space_to_depth.png")
    save(sl.compile(grid(apart, PIECES))(photo[None]), folder / "space_to_batch.png")
    for name, pixels, original in (
        ("depth_to_space.png", flat_pixels, even),
        ("batch_to_space.png", joined_pixels[0], photo),
    ):
        if not np.array_equal(pixels, original):
            raise SystemExit(f"{name} differs from the photograph")
        save(pixels, folder / name)
    print("both round trips returned the photograph, bit for bit")


def save(pixels: Pixels, path: Path) -> None:
    """Write an image, and print its name and size."""
    Image.fromarray(pixels).save(path)
    print(f"wrote {path}: {pixels.shape[1]} x {pixels.shape[0]} pixels")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="a photograph through block operations and back")
    parser.add_argument("photo", type=Path, help="an image file")
    parser.add_argument("folder", type=Path, help="where the images go")
    arguments = parser.parse_args()
    main(arguments.photo, arguments.folder)
