"""What tensors and index maps offer that higher rooms compute.

This is the only module whose imports run upwards.  Each function imports what it needs when it is called; the names
under ``TYPE_CHECKING`` are for annotations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from symlayout.inverses.find_inverse import Inverse as Inverse
    from symlayout.layouts.strided_layout import Layout as Layout
    from symlayout.maps.composed_map import IndexMap as IndexMap
    from symlayout.show.picture import Picture as Picture
    from symlayout.tensors.chain import Tensor


def index_map_of(t: Tensor) -> IndexMap:
    """Return `symlayout.Tensor.index_map`."""
    from symlayout.maps.composed_map import index_map_of

    return index_map_of(t)


def getitem(t: Tensor, key: Any) -> Tensor:
    """Return ``t[key]``."""
    from symlayout.ops.slicing import getitem

    return getitem(t, key)


def pickled(t: Tensor) -> tuple[Any, ...]:
    """Return ``t.__reduce__()``: a function, and the arguments of which it makes the chain again."""
    from symlayout.tensors.pickled_chain import pickled

    return pickled(t)


def inverse(t: Tensor) -> Inverse:
    """Return the inverse of the map of *t*."""
    from symlayout.inverses.find_inverse import inverse

    return inverse(t)


def proved_inverse(t: Tensor, guesses: Sequence[Tensor], *, both: bool) -> Any:
    """Return the tensor that undoes *t*, and that *t* undoes if *both*; None if that is not proved.

    *guesses* are tried first.
    """
    from symlayout.inverses.find_inverse import proved_inverse

    return proved_inverse(t, guesses, both=both)


def picture(t: Tensor, dims: Mapping[Any, Any] | None, at: Sequence[int] | None) -> Picture:
    """Return `symlayout.Tensor.show`."""
    from symlayout.show.picture import picture

    return picture(t, dims, at)


def picture_of_tensor(t: Tensor) -> str | None:
    """Return the picture of *t* as HTML for a notebook, None where there is none."""
    from symlayout.show.picture import of_tensor

    return of_tensor(t)


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts as tensors that read one memory; return anything else as it is."""
    from symlayout.layouts.strided_layout import Layout

    return left.beside(right) if isinstance(left, Layout) else (left, right)


def any_rank_tensor(shape: str, dtype: Any, name: str | None) -> Any:
    """Return the input of any rank that the text *shape* describes."""
    from symlayout.any_rank.any_rank_input import any_rank_tensor

    return any_rank_tensor(shape, dtype, name)


def prove_any_rank(left: Any, right: Any, budget: int, time_limit: float | None) -> Any:
    """Return the proof attempt for the claim that two tensors of any rank are equal."""
    from symlayout.any_rank.prove_all_ranks import prove_all_ranks

    return prove_all_ranks(left, right, budget=budget, time_limit=time_limit)
