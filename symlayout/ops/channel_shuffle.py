"""Interleave the groups of an axis."""

from __future__ import annotations

from typing import Any

from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.declaration import Declared, Operand, index_map


@core_operation
def channel_shuffle(x: Operand, groups: Any, axis: int = 1) -> Declared:
    """Return *x* with the channels of its groups interleaved: ``i = o % groups * (n / groups) + o // groups``.

    The inverse is a shuffle with ``n / groups`` groups.

    Parameters
    ----------
    groups : int, dim or expression
        The number of groups, >= 1 and a divisor of the axis.
    axis : int
        The axis of the channels.

    Raises
    ------
    ShapeError
        ``block_lt_1``, ``non_divisible``, ``bad_axis``.

    References
    ----------
    torch's ``torch.nn.ChannelShuffle``, OpenVINO's ShuffleChannels-1.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> sl.interpret(sl.channel_shuffle(sl.tensor("C"), 2, axis=0), np.array([1, 2, 3, 4, 5, 6]))
    array([1, 4, 2, 5, 3, 6])
    """
    along = x.axis(axis)
    count = x.extent(groups, "groups")
    x.require(count - 1, "block_lt_1", "groups {} is not >= 1", count)
    size = x.divide(x.shape[along], count)
    return index_map(
        x.shape,
        lambda *o: [c % count * size + c // count if k == along else c for k, c in enumerate(o)],
    )
