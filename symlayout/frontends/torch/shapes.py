"""PyTorch's operations: permute, reshape, repeat, roll and reverse."""

from __future__ import annotations

from typing import Any

from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import register
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.ops.flip import flip as core_flip
from symlayout.ops.reshape import reshape as core_reshape
from symlayout.ops.roll import roll as core_roll
from symlayout.ops.tile import tile as core_tile
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor


@register("torch:permute")
def permute(input: Tensor, dims: Any) -> Tensor:
    """Return *input* with its axes permuted: output axis ``k`` is ``dims[k]``.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    dims : sequence of int
        A permutation of the axes; negative ones count from the end.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.permute.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.permute(sl.tensor("N, C, H, W"), dims=[0, 2, 3, 1]).shape
    (N, H, W, C)
    """
    require_rank("permute", input, 0)
    return transpose(input, attributes.constants("dims", dims))


@register("torch:reshape")
def reshape(input: Tensor, shape: Any) -> Tensor:
    """Return the elements of *input* in row-major order in another shape.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shape : sequence of int
        The extents; one -1 stands for the remaining elements.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.reshape.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.reshape(sl.tensor("N, H, W"), shape=[6, -1]).shape
    (6, H*N*W/6)
    """
    require_rank("reshape", input, 0)
    return core_reshape(input, attributes.fill("shape", attributes.listed("shape", shape), 0))


@register("torch:flip")
def flip(input: Tensor, dims: Any) -> Tensor:
    """Return *input* reversed along the axes *dims*.

    Parameters
    ----------
    input : Tensor
        Of any rank; one of rank 0 has the axis 0.
    dims : int or sequence of int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``attr_dtype``, ``bad_axis`` if one is out of range or repeated.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.flip.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.flip(sl.tensor("H, W"), dims=[1]).index_map
    (i0, i1) -> (i0, W - i1 - 1)
    """
    if require_rank("flip", input, 0) == 0:
        return squeeze(core_flip(expand_dims(input, 0), attributes.constants("dims", dims)), 0)
    return core_flip(input, attributes.constants("dims", dims))


@register("torch:roll")
def roll(input: Tensor, shifts: Any, dims: Any = None) -> Tensor:
    """Return *input* with its elements moved along the axes *dims*; elements that leave come back.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    shifts : int or sequence of int
        The distances, one for each axis of *dims*.
    dims : int or sequence of int, optional
        None moves the elements in row-major order.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``bad_axis``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.roll.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.roll(sl.tensor("H, W"), shifts=1, dims=1).index_map
    (i0, i1) -> (i0, (i1 - 1) % W)
    """
    require_rank("roll", input, 0)
    steps = attributes.fill("shifts", attributes.listed("shifts", shifts), 0)
    along = None if dims is None else attributes.constants("dims", dims) or None
    if len(steps) != (1 if along is None else len(along)):
        raise ShapeError(f"shifts has {len(steps)} values, not one for each of dims {along}", "length_mismatch")
    return core_roll(input, steps, along)


@register("torch:tile")
def tile(input: Tensor, dims: Any) -> Tensor:
    """Return *dims* copies of *input* side by side, along its last axes.

    Parameters
    ----------
    input : Tensor
        Of any rank.
    dims : sequence of int
        At least 0 each; more numbers than axes make new axes before those of *input*.

    Raises
    ------
    ShapeError
        ``length_mismatch``, ``attr_dtype``, ``size_mismatch``, ``overflow``.

    References
    ----------
    torch: https://docs.pytorch.org/docs/stable/generated/torch.tile.html

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.torch.tile(sl.tensor("H, W"), dims=[2, 1]).shape
    (2*H, W)
    """
    require_rank("tile", input, 0)
    return core_tile(input, attributes.fill("dims", attributes.listed("dims", dims), 0))
