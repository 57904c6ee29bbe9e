"""``sl.tensor("N, *S, C")``: an input of any rank, to which the rules of the modules beside this one apply."""

from __future__ import annotations

from typing import Any

from symlayout.any_rank import compute_groups as compute_groups
from symlayout.any_rank.grouped_tensor import AnyRankTensor, Origin, Slot, extents_at, product_of
from symlayout.any_rank.move_groups import texts_of
from symlayout.errors import FormatError, shown
from symlayout.language.group_patterns import read_shape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor


def any_rank_tensor(shape: str, dtype: Any, name: str | None) -> AnyRankTensor:
    """Return the input of any rank that the text of a shape describes."""
    entries = read_shape(shape)
    if any(a == b is False for e in entries for a, b in zip(e.stars, e.stars[1:], strict=False)):
        raise FormatError(f"two digits outside of the group follow each other in {shown(shape)}\n  help: write N*M")
    plain, each = (tensor(", ".join(texts_of(entries, star)) or "()", dtype, name) for star in (False, True))
    each = Tensor(each.name, each.dtype, each.extents, each.facts, key=plain.key)
    return _input(plain, each, [Slot(e.stars, e.joined) for e in entries], dtype, name)


def _input(plain: Tensor, each: Tensor, slots: list[Slot], dtype: Any, name: str | None) -> AnyRankTensor:

    def at(count: int) -> Tensor:
        extents = tuple(product_of(axis) for axis in extents_at(slots, plain, each, count))
        return tensor(extents, dtype, name)

    made = AnyRankTensor(plain, each, slots, at, {})
    made.origins[plain.key] = Origin(made.slots, made.shape, made.dtype)
    return made.made_by(_input, plain, each, slots, dtype, name)
