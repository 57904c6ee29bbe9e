"""TensorFlow's operations, by the argument names of its raw ops.

`space_to_batch_nd` and `batch_to_space_nd` take blocks >= 1 on any number of axes after the batch.  TensorFlow's
kernels support four such axes; that is a limit of the kernels, not of the operations.  The four older operations take
blocks >= 2.

>>> from symlayout import tensor
>>> y = space_to_batch_nd(tensor("N, H, W, C"), block_shape=[2, 2], paddings=[[1, 1], [1, 1]])
>>> y.shape
(4*N, H/2 + 1, W/2 + 1, C)
>>> depth_to_space(tensor("N, h, w, 4*c"), block_size=2).shape
(N, 2*h, 2*w, c)
"""

from symlayout.frontends.tensorflow.blocks import (
    batch_to_space,
    batch_to_space_nd,
    depth_to_space,
    space_to_batch,
    space_to_batch_nd,
    space_to_depth,
)
from symlayout.frontends.tensorflow.bounds import mirror_pad, pad, pad_v2, slice, strided_slice
from symlayout.frontends.tensorflow.shapes import broadcast_to, concat_v2, reshape, reverse_v2, roll, tile, transpose

__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "broadcast_to",
    "concat_v2",
    "depth_to_space",
    "mirror_pad",
    "pad",
    "pad_v2",
    "reshape",
    "reverse_v2",
    "roll",
    "slice",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
    "strided_slice",
    "tile",
    "transpose",
]
