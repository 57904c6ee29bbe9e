"""A computing operation as a user declares it: a depthwise convolution with symbolic stride and dilation."""

from __future__ import annotations

from typing import Any

import numpy as np

import symlayout as sl
from symlayout.declare import Operand


def _sum_of_products(x: Any, w: Any, axes: Any) -> Any:
    return (x * w).sum(axes)


sum_of_products = sl.Body(
    "sum_of_products", _sum_of_products, over=True, commutative=True, symmetric=True, joins=np.add
)


@sl.computation
def depthwise(x: Operand, stride: Any, dilation: Any) -> sl.Computed:
    """Return the convolution of images (n, c, h, w) with one kernel (c, k, l) for each channel."""
    (n, c, h, w), (channels, k, m) = x.shapes
    s, d = x.extent(stride), x.extent(dilation)
    x.require_equal(c, channels, "size_mismatch", "the images have {} channels, the kernels {}", c, channels)
    for e, size in ((h, k), (w, m)):
        x.require(e - 1 - d * (size - 1), "infeasible", "a kernel of {} is larger than an image of {}", size, e)
    rows, columns = (x.floor_div(e - 1 - d * (size - 1), s) + 1 for e, size in ((h, k), (w, m)))
    pixels = sl.View(lambda n, c, y, x, i, j: (n, c, y * s + i * d, x * s + j * d), (k, m))
    return sl.Computed(
        (n, c, rows, columns), (pixels, sl.View(lambda n, c, y, x, i, j: (c, i, j), (k, m), 1)), sum_of_products
    )
