"""PyTorch's functions and methods, by its argument names.

>>> from symlayout import tensor
>>> pixel_shuffle(tensor("N, 4*c, h, w"), upscale_factor=2).shape
(N, c, 2*h, 2*w)
"""

from symlayout.frontends.torch.blocks import channel_shuffle, pixel_shuffle, pixel_unshuffle
from symlayout.frontends.torch.bounds import pad, unfold
from symlayout.frontends.torch.shapes import flip, permute, reshape, roll, tile

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
