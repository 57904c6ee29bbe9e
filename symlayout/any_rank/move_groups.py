"""Operations that move the elements of tensors of any rank, each of them applied to both factors of the map.

An operation takes one value for each entry of the shape.  That of a group, such as the pair of a pad, is meant for each
axis of the group.  Tensors that are joined have one map of the axes of the group.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symlayout.any_rank.grouped_tensor import (
    KIND,
    RULES,
    AnyRankTensor,
    Rule,
    Slot,
    extents_at,
    of_axis,
    product_of,
)
from symlayout.errors import ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.group_patterns import read_shape
from symlayout.ops.axes import expand_dims, moveaxis, moved_order, squeeze, swapaxes
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.channel_shuffle import channel_shuffle
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.flip import flip
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.ops.resize import resize_nearest
from symlayout.ops.roll import roll
from symlayout.ops.slicing import getitem
from symlayout.ops.space_batch import batch_to_space, space_to_batch
from symlayout.ops.split import ceil_part, equal_part, near_part, sized_part, split
from symlayout.ops.tile import repeat, tile
from symlayout.ops.transpose import transpose
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import as_list, is_list
from symlayout.tensors.input_tensor import tensor

_WHOLE = slice(None)
_NO_PAD = (0, 0)


def _rule(*operations: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """Return a decorator that keeps a rule under the names of operations."""

    def keep(rule: Rule) -> Rule:
        RULES.update({operation.__name__: rule for operation in operations})
        return rule

    return keep


@_rule(transpose)
def _transpose(x: AnyRankTensor, axes: Any = None) -> AnyRankTensor:
    order = [x.slot_number(axis) for axis in as_list(axes)] if axes is not None else []
    if sorted(order) != list(range(len(x.slots))):
        raise ShapeError(f"axes {shown(axes)} is no permutation of the {len(x.slots)} entries of {x}", "bad_axis")
    slots = [x.slots[k] for k in order]

    def moved(t: Tensor, star: bool) -> Tensor:
        counts = [slot.each.count(star) for slot in x.slots]
        return transpose(t, [sum(counts[:k]) + j for k in order for j in range(counts[k])])

    def at(count: int) -> Tensor:
        widths = [count if slot.is_group else 1 for slot in x.slots]
        return transpose(x.at(count), [sum(widths[:k]) + j for k in order for j in range(widths[k])])

    return AnyRankTensor(moved(x.plain, False), moved(x.each, True), slots, at, x.origins)


@_rule(pad)
def _pad(
    x: AnyRankTensor,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = 0,
    bounded: bool = False,
    interior: Any = 0,
) -> AnyRankTensor:
    if is_list(constant_values) or interior != 0:
        raise ShapeError("pad of a tensor of any rank takes one fill, and none between elements", KIND)
    if isinstance(pad_width, Mapping):
        found = {x.slot_number(k): pair for k, pair in pad_width.items()}
        pairs = [found.get(k, _NO_PAD) for k in range(len(x.slots))]
    else:
        pairs = as_list(pad_width)
    if len(pairs) != len(x.slots):
        raise ShapeError(f"pad_width has {len(pairs)} entries, {x} has {len(x.slots)}", "length_mismatch")
    values = [tuple(as_list(pair)) if is_list(pair) else (pair, pair) for pair in pairs]
    return x.along(values, _NO_PAD, lambda t, own: pad(t, own, mode, constant_values, bounded))


@_rule(flip)
def _flip(x: AnyRankTensor, axis: Any = None) -> AnyRankTensor:
    given = range(len(x.slots)) if axis is None else as_list(axis) if is_list(axis) else [axis]
    axes = {x.slot_number(k) for k in given}
    values = [k in axes for k in range(len(x.slots))]
    return x.along(values, False, lambda t, own: flip(t, [k for k, yes in enumerate(own) if yes]))


@_rule(roll)
def _roll(x: AnyRankTensor, shift: Any, axis: Any = None) -> AnyRankTensor:
    axes = as_list(axis) if is_list(axis) else [axis]
    shifts = as_list(shift) if is_list(shift) else [shift] * len(axes)
    if len(shifts) != len(axes):
        raise ShapeError(f"roll has {len(shifts)} shifts and {len(axes)} axes", "length_mismatch")
    found = {x.slot_number(k): by for k, by in zip(axes, shifts, strict=True)}
    if len(found) != len(axes):
        raise ShapeError(f"axes {shown(axis)} repeat an axis", "bad_axis")
    values = [found.get(k, 0) for k in range(len(x.slots))]
    return x.along(values, 0, lambda t, own: roll(t, own, list(range(len(own)))))


@_rule(getitem)
def _getitem(x: AnyRankTensor, key: Any, bounds: Any = "clamp") -> AnyRankTensor:
    items = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in items:
        k = items.index(Ellipsis)
        items[k : k + 1] = [_WHOLE] * (len(x.slots) - len(items) + 1)
    items += [_WHOLE] * (len(x.slots) - len(items))
    if len(items) != len(x.slots) or not all(isinstance(item, slice) for item in items):
        raise ShapeError(f"{x} takes one slice for each of its {len(x.slots)} entries", KIND)
    return x.along(items, _WHOLE, lambda t, own: getitem(t, tuple(own), bounds))


@_rule(space_to_batch)
def _space_to_batch(x: AnyRankTensor, block_shape: Any, paddings: Any) -> AnyRankTensor:
    if len(x.slots) < 2 or not x.slots[0].is_plain or not x.slots[1].is_group:
        raise ShapeError(f"space_to_batch moves blocks of a group to the axis before it, not of {x}", KIND)
    # an axis of the group, on a batch of one element: its blocks become the digit of the group in the batch
    moved = space_to_batch(expand_dims(x.each, 0), [block_shape], [paddings])

    def at(count: int) -> Tensor:
        own = range(1, count + 1)
        return space_to_batch(x.at(count), [of_axis(block_shape, k) for k in own], [of_axis(paddings, k) for k in own])

    return AnyRankTensor(x.plain, moved, [Slot((True, False), True), *x.slots[1:]], at, x.origins)


@_rule(batch_to_space)
def _batch_to_space(x: AnyRankTensor, block_shape: Any, crops: Any) -> AnyRankTensor:
    if len(x.slots) < 2 or x.slots[0] != Slot((True, False), True) or not x.slots[1].is_group:
        raise ShapeError(
            f"batch_to_space takes a batch with a digit for each axis of the group that follows, not {x}\n"
            '  help: write the batch as (*b N), as in "(*b N), *S, C"',
            KIND,
        )
    facts = x.each.facts.fork()
    if facts.reduce(sympy_bridge.to_extent(block_shape, facts, "block_shape") - x.each.extents[0]) != 0:
        raise ShapeError(f"block_shape {shown(block_shape)} is not shown to be the digits in the batch of {x}", KIND)
    moved = squeeze(batch_to_space(x.each, [block_shape], [crops]), 0)

    def at(count: int) -> Tensor:
        own = range(1, count + 1)
        return batch_to_space(x.at(count), [of_axis(block_shape, k) for k in own], [of_axis(crops, k) for k in own])

    return AnyRankTensor(x.plain, moved, [Slot((False,)), *x.slots[1:]], at, x.origins)


@_rule(tile)
def _tile(x: AnyRankTensor, reps: Any) -> AnyRankTensor:
    given = as_list(reps) if is_list(reps) else [reps]
    if len(given) > len(x.slots):
        raise ShapeError(f"tile has {len(given)} numbers of copies, {x} has {len(x.slots)} entries", "length_mismatch")
    return x.along([1] * (len(x.slots) - len(given)) + given, 1, tile)


@_rule(resize_nearest)
def _resize_nearest(
    x: AnyRankTensor, shape: Any = None, scale: Any = None, axes: Any = None, mode: str = "asymmetric"
) -> AnyRankTensor:
    along = [x.slot_number(k) for k in (range(x.rank) if axes is None else as_list(axes))]
    name, given = ("scale", scale) if shape is None else ("shape", shape)
    listed = as_list(given) if is_list(given) else [given] * len(along)
    if (shape is None) == (scale is None) or len(listed) != len(along) or len(set(along)) != len(along):
        raise ShapeError("resize_nearest takes either shape or scale, with one value for each axis", "length_mismatch")
    found = dict(zip(along, listed, strict=True))

    def resized(t: Tensor, own: list[Any]) -> Tensor:
        changed = [k for k, value in enumerate(own) if value is not None]
        return resize_nearest(t, axes=changed, mode=mode, **{name: [own[k] for k in changed]})

    return x.along([found.get(k) for k in range(x.rank)], None, resized)


@_rule(broadcast_to)
def _broadcast_to(x: AnyRankTensor, shape: Any) -> AnyRankTensor:
    entries = as_list(shape) if is_list(shape) else []
    if len(entries) != x.rank:
        raise ShapeError(f"broadcast_to takes one extent for each of the {x.rank} entries of {x}", "length_mismatch")
    entries = [
        None if slot.joined and str(e) == old else e for e, slot, old in zip(entries, x.slots, x.shape, strict=True)
    ]

    def spread(t: Tensor, own: list[Any]) -> Tensor:
        return broadcast_to(t, [n if e is None else e for e, n in zip(own, t.shape, strict=True)])

    return x.along(entries, None, spread)


@_rule(moveaxis)
def _moveaxis(x: AnyRankTensor, source: Any, destination: Any) -> Any:
    moved, places = ([x.slot_number(k) for k in as_list(side)] for side in (source, destination))
    return _transpose(x, moved_order(x.rank, moved, places))


@_rule(swapaxes)
def _swapaxes(x: AnyRankTensor, axis1: Any, axis2: Any) -> Any:
    a, b = x.slot_number(axis1), x.slot_number(axis2)
    return _transpose(x, [b if k == a else a if k == b else k for k in range(x.rank)])


def _on_one_axis(operation: Callable[..., Tensor]) -> None:
    """Keep the rule of an operation that moves elements along one axis, given as ``axis``."""
    signature = inspect.signature(operation)

    @_rule(operation)
    def applied(x: AnyRankTensor, *args: Any, **attributes: Any) -> AnyRankTensor:
        bound = signature.bind(x, *args, **attributes)
        bound.apply_defaults()
        _, *names = bound.arguments
        given = {name: bound.arguments[name] for name in names}
        slot = x.slot_number(given.pop("axis"))
        if x.slots[slot].joined:
            raise ShapeError(
                f"{operation.__name__} takes no axis whose digits are axes of the group, as one of {x} has\n"
                "  help: change the axes of the group before they are joined",
                KIND,
            )

        def changed(t: Tensor, axis: int, k: int = 0) -> Tensor:
            return operation(t, axis=axis, **{name: of_axis(value, k) for name, value in given.items()})

        def at(count: int) -> Tensor:
            t, first = x.at(count), x.place(slot, count)
            if not x.slots[slot].is_group:
                return changed(t, first)
            for k in range(count):
                t = changed(t, first + k, k + 1)
            return t

        plain, each = x.plain, x.each
        if x.slots[slot].is_group:
            each = changed(each, x.place(slot))
        else:
            plain = changed(plain, x.place(slot))
        return AnyRankTensor(plain, each, x.slots, at, x.origins)


for _operation in (repeat, channel_shuffle, equal_part, sized_part, ceil_part, near_part):
    _on_one_axis(_operation)


@_rule(split)
def _split(x: AnyRankTensor, cuts: Any, axis: int = 0) -> list[AnyRankTensor]:
    along = x.slot_number(axis)
    return [
        x[(_WHOLE,) * along + (slice(a, b),)] for a, b in zip([0, *as_list(cuts)], [*as_list(cuts), None], strict=True)
    ]


@_rule(expand_dims)
def _expand_dims(x: AnyRankTensor, axis: Any) -> AnyRankTensor:
    given = as_list(axis) if is_list(axis) else [axis]
    size = x.rank + len(given)
    new = sorted({k % size for k in given if type(k) is int and -size <= k < size})
    if len(new) != len(given):
        raise ShapeError(f"axes {shown(axis)} are out of range for {size} entries, or repeat one", "bad_axis")
    old = iter(x.slots)
    slots = [Slot((False,)) if k in new else next(old) for k in range(size)]
    made = AnyRankTensor(x.plain, x.each, slots, x.at, x.origins)  # for the places of its slots
    plain = expand_dims(x.plain, [made.place(k) for k in new])
    return AnyRankTensor(
        plain, x.each, slots, lambda count: expand_dims(x.at(count), [made.place(k, count) for k in new]), x.origins
    )


@_rule(squeeze)
def _squeeze(x: AnyRankTensor, axis: Any = None) -> AnyRankTensor:
    if axis is None:
        raise ShapeError("squeeze of a tensor of any rank takes the axes", "unknown_rank")
    gone = [x.slot_number(k) for k in (as_list(axis) if is_list(axis) else [axis])]
    if any(x.slots[k].joined for k in gone):
        raise ShapeError(f"squeeze takes no axis whose digits are axes of the group, as one of {x} has", KIND)

    def without(t: Tensor, star: bool) -> Tensor:
        own = [x.place(k) for k in gone if x.slots[k].each[0] == star]
        return squeeze(t, own) if own else t

    def at(count: int) -> Tensor:
        own = [x.place(k, count) + j for k in gone for j in range(count if x.slots[k].is_group else 1)]
        return squeeze(x.at(count), own)

    kept = [slot for k, slot in enumerate(x.slots) if k not in gone]
    return AnyRankTensor(without(x.plain, False), without(x.each, True), kept, at, x.origins)


@_rule(reshape)
def _reshape(x: AnyRankTensor, shape: Any) -> AnyRankTensor:
    if not isinstance(shape, str):
        raise ShapeError(
            f"reshape of a tensor of any rank takes the new shape as text, not {shown(shape)}\n"
            '  help: write reshape(x, "N, (*S), 2, C/2")',
            KIND,
        )
    entries = read_shape(shape)
    slots = [Slot(e.stars, e.joined) for e in entries]
    wanted = [texts_of(entries, star) for star in (False, True)]
    new = [tensor(", ".join(texts) or "()").shape for texts in wanted]
    facts = x.plain.facts.fork()
    runs = [
        _runs_of(slots_of, [sympy_bridge.to_extent(e, facts, "shape") for e in plain])
        for slots_of, plain in ((x.slots, x.plain.shape), (slots, new[0]))
    ]
    inside = x.each.facts.fork()
    kept = [inside.reduce(sympy_bridge.to_extent(e, inside, "shape")) for e in new[1]]
    if kept != [inside.reduce(e) for e in x.each.extents] or len(runs[0]) != len(runs[1]):
        raise ShapeError(
            f"reshape keeps the axes of the group and their order: {shown(shape)} does not have those of {x}\n"
            '  help: einops.rearrange(x, "N *(s b) C -> ...", b=2) splits and joins the axes of the group',
            KIND,
        )
    for old, made in zip(*runs, strict=True):
        if facts.reduce(product_of(old) - product_of(made)) != 0:
            sizes = " and ".join(facts.spell(facts.reduce(product_of(run))) for run in (old, made))
            raise ShapeError(
                f"reshape at any rank keeps the number of elements between axes of the group: {sizes} are not shown "
                "to be equal\n"
                "  help: give entries with the same product on each side of the group",
                KIND,
            )
    plain = reshape(x.plain, new[0])
    made = AnyRankTensor(plain, x.each, slots, x.at, x.origins)
    return AnyRankTensor(
        plain,
        x.each,
        slots,
        lambda count: reshape(x.at(count), [product_of(axis) for axis in extents_at(slots, plain, made.each, count)]),
        x.origins,
    )


def _runs_of(slots: Sequence[Slot], plain: Sequence[Any]) -> list[list[Any]]:
    """Return the extents outside of the group, divided where an axis of the group stands."""
    found: list[list[Any]] = [[]]
    extents = iter(plain)
    for slot in slots:
        for is_each in slot.each:
            if is_each:
                found.append([])
            else:
                found[-1].append(next(extents))
    return found


# ---------------------------------------------------------------------- several tensors


@_rule(concatenate)
def _concatenate(xs: Sequence[Any], axis: Any = 0) -> AnyRankTensor:
    parts, each = _alike("concatenate", xs)
    first = parts[0]
    slot = first.slot_number(axis)
    if not first.slots[slot].is_plain:
        raise ShapeError(
            f"concatenate joins along an axis outside of the group, not along {first.shape[slot]}\n"
            "  help: at(2) makes tensors with 2 axes in the group",
            KIND,
        )
    return AnyRankTensor(
        concatenate([x.plain for x in parts], first.place(slot)),
        each,
        first.slots,
        lambda count: concatenate([x.at(count) for x in parts], first.place(slot, count)),
        {key: origin for x in parts for key, origin in x.origins.items()},
    )


@_rule(stack)
def _stack(xs: Sequence[Any], axis: Any = 0) -> Any:
    return _concatenate([x.applied("expand_dims", (axis,), {}) for x in _alike("stack", xs)[0]], axis)


def _alike(name: str, xs: Sequence[Any]) -> tuple[list[AnyRankTensor], Tensor]:
    """Return tensors of any rank, and the one map that all of them have on the axes of the group.

    That map reads the input whose key comes first.  The map of the other axes says which input an element is in.
    """
    for x in xs:
        if not isinstance(x, AnyRankTensor):
            raise ShapeError(
                f"{name} takes tensors of any rank, or tensors with a rank, not both: {shown(x)} has a rank\n"
                '  help: give it a group of axes, as in tensor("N, *S")',
                KIND,
            )
    leaves = [x.each.leaves() for x in xs]
    for x, own in zip(xs, leaves, strict=True):
        if x.slots != xs[0].slots:
            raise ShapeError(f"{name}: {x} does not have the entries of {xs[0]}", "rank")
        if len(own) != 1 or own[0].body is not None:
            raise ShapeError(
                f"{name} of tensors of any rank takes elements that are moved, and those of {x} are computed\n"
                f"  help: {name} the operands, then compute",
                KIND,
            )
    first = min((own[0] for own in leaves), key=lambda leaf: leaf.key)
    maps = [x.each.replace({own[0].key: first}) for x, own in zip(xs, leaves, strict=True)]
    for x, own, one in zip(xs, leaves, maps, strict=True):
        if own[0].extents != first.extents or prove_equal(one, maps[0], budget=0).verdict is not Verdict.PROVED:
            raise ShapeError(
                f"{name}: the axes of the group of {x} are not shown to be those of {xs[0]}\n"
                "  help: give each tensor the same extents and the same operations on the group",
                KIND,
            )
    return list(xs), maps[0]


def texts_of(entries: Sequence[Any], star: bool) -> list[str]:
    """Return the texts of the extents of the group, or of those outside of it."""
    return [n for e in entries for n, s in zip(e.names, e.stars, strict=True) if s == star]


RULES["rearrange"] = AnyRankTensor.arranged
