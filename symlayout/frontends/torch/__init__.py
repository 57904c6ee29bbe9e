"""PyTorch's functions and methods, by its argument names; ``self`` of a method is *input*.

>>> from symlayout import tensor
>>> pixel_shuffle(tensor("N, 4*c, h, w"), upscale_factor=2).shape
(N, c, 2*h, 2*w)
"""

from symlayout.frontends.torch import along_axes, elementwise, layers, movement, windows
from symlayout.frontends.torch.blocks import channel_shuffle, pixel_shuffle, pixel_unshuffle
from symlayout.frontends.torch.bounds import pad, unfold
from symlayout.frontends.torch.shapes import flip, permute, reshape, roll, tile

MODULES = (along_axes, elementwise, layers, movement, windows)
"""The operations of exported graphs, which ``sl.op("torch:conv2d")`` finds."""

__all__ = [
    "channel_shuffle",
    "flip",
    "pad",
    "permute",
    "pixel_shuffle",
    "pixel_unshuffle",
    "reshape",
    "roll",
    "tile",
    "unfold",
]
