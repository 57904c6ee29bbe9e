"""A tensor with a group of axes of unknown number, as a product of two tensors.

All axes of the group are treated alike.  So the map of such a tensor is a product: one map of the axes outside of the
group, and one map for each axis of the group, which is the same for all of them but for its dims.  Two ordinary tensors
hold both: `AnyRankTensor.plain`, and `AnyRankTensor.each` for an arbitrary axis.  An element is inside if it is inside
for all of these maps; elsewhere it is the fill, of which there is only one.

An operation is applied to both tensors with the attributes of their axes.  What no product can express, such as a slice
of an axis whose digits are all axes of the group, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.group_patterns import STAR, Item, read_pattern
from symlayout.ops.reshape import rearrange
from symlayout.tensors.chain import Applicable, Tensor
from symlayout.tensors.declaration import as_list, is_list
from symlayout.tensors.element_types import same_fill

KIND = "any_rank"
Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
"""What each operation of the package makes of tensors of any rank; the modules of the rules fill it."""


class NoMemberError(ShapeError, AttributeError):
    """A member of `symlayout.Tensor` that a tensor of any rank does not have."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where axes of the two tensors stand in the shape; both tensors have their axes in the order of the slots.

    Attributes
    ----------
    each : for each digit, whether it is an axis of the group's tensor, and not one of the other tensor.
    joined : whether the digits are those of one axis.  If not, there is one digit; an axis of the group's tensor then
        stands for one axis for each axis of the group.
    """

    each: tuple[bool, ...]
    joined: bool = False

    @property
    def is_group(self) -> bool:
        """Whether the slot is one axis for each axis of the group."""
        return not self.joined and self.each[0]

    @property
    def is_plain(self) -> bool:
        """Whether the slot is one axis that has nothing to do with the group."""
        return not self.joined and not self.each[0]


@dataclass(frozen=True, slots=True)
class Origin:
    """An input or a computed value that elements come from.

    Attributes
    ----------
    slots : the slots of an input; none of a computed value.
    shape : the entries of the shape of an input, as text.
    dtype : the element type of an input.
    over : for each digit that the body of a computed value reads, in order, whether it is an axis of the group.
    """

    slots: tuple[Slot, ...] = ()
    shape: tuple[str, ...] = ()
    dtype: Any = None
    over: tuple[bool, ...] = ()


class AnyRankTensor(Applicable):
    """A tensor some of whose axes are a group of unknown number; ``sl.tensor("N, *S, C")`` makes one.

    ``*S`` is one axis for each axis of the group, with the extents ``S_1``, ``S_2`` and so on.  All starred names of a
    claim are about one group.  An attribute for a group, such as the pair of a pad, is meant for each axis of it: its
    dims differ from axis to axis.

    Attributes
    ----------
    plain : Tensor
        The axes outside of the group.
    each : Tensor
        What an arbitrary axis of the group becomes.
    slots : tuple of Slot
        Where the axes of both tensors stand.
    origins : dict
        For each input, by its key, its slots.  For each computed value, by the key of its part outside of the group,
        the digits that its body reads: whether each is an axis of the group.

    Examples
    --------
    >>> import symlayout as sl
    >>> b, p, q = sl.dims("b p q")
    >>> y = sl.space_to_batch(sl.tensor("N, *S, C", name="x"), b, (p, q))
    >>> y
    AnyRankTensor(x: ((*b N), *((S + p + q)/b), C))
    >>> y.at(2).shape
    (N*b_1*b_2, (S_1 + p_1 + q_1)/b_1, (S_2 + p_2 + q_2)/b_2, C)
    """

    __slots__ = ("_at", "_made", "_recipe", "each", "origins", "plain", "slots")

    def __init__(
        self,
        plain: Tensor,
        each: Tensor,
        slots: Sequence[Slot],
        at: Callable[[int], Tensor],
        origins: Mapping[str, Origin],
    ) -> None:
        self.plain, self.each, self.slots, self.origins = plain, each, tuple(slots), dict(origins)
        self._at, self._made = at, dict[int, Tensor]()
        self._recipe: tuple[Callable[..., AnyRankTensor], tuple[Any, ...]] | None = None
        if both := sorted(plain.facts.dims.keys() & each.facts.dims.keys()):
            raise ShapeError(
                f"{both[0]} is a dim of the group, with a value for each axis of it, and a dim outside of the group\n"
                "  help: give one of them another name",
                "dim_conflict",
            )
        fills = [
            c.fill.value
            for t in (plain, each)
            for node in t.nodes()
            if node.declared
            for c in node.declared.cases
            if c.fill
        ]
        if any(not same_fill(fills[0], fill, plain.dtype) for fill in fills[1:]):
            raise ShapeError(f"a tensor of any rank has one fill, not {fills[0]} and {fills[-1]}", KIND)

    @property
    def dtype(self) -> Any:
        """The element type; None accepts any array."""
        return self.plain.dtype

    @property
    def shape(self) -> tuple[str, ...]:
        """The entries of the shape as text: ``*S`` for a group, ``(*b N)`` for an axis with these digits."""
        plain, each = iter(self.plain.shape), iter(self.each.shape)
        entries = []
        for slot in self.slots:
            digits = [f"{STAR}{_spelled(next(each))}" if e else _spelled(next(plain), slot.joined) for e in slot.each]
            entries.append(f"({' '.join(digits)})" if slot.joined else digits[0])
        return tuple(entries)

    @property
    def rank(self) -> int:
        """The number of entries of the shape; axes are numbered as they are."""
        return len(self.slots)

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of the dims as SymPy relations; those with dims of the group hold for each axis of it."""
        return (*self.plain.requires, *self.each.requires)

    def at(self, count: int) -> Tensor:
        """Return the tensor with *count* axes in the group; the dim ``S`` of axis ``k`` is ``S_k``.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.pad(sl.tensor("N, *S"), [(0, 0), (1, 1)]).at(3).shape
        (N, S_1 + 2, S_2 + 2, S_3 + 2)
        """
        if count not in self._made:
            self._made[count] = self._at(count)
        return self._made[count]

    def __repr__(self) -> str:
        return f"AnyRankTensor({self.plain.leaves()[0].name}: ({', '.join(self.shape)}))"

    def __reduce__(self) -> tuple[Callable[..., AnyRankTensor], tuple[Any, ...]]:
        """Return the call that made the tensor, since how it is at a rank is a function, which has no pickle."""
        if self._recipe is None:
            raise ShapeError(f"{self} is part of an operation on tensors of any rank, and has no pickle", KIND)
        return self._recipe

    def made_by(self, function: Callable[..., AnyRankTensor], *args: Any) -> AnyRankTensor:
        """Keep the call that makes the tensor, for copies and other processes; return the tensor."""
        if self._recipe is None:
            self._recipe = (function, args)
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Tensor, name):
            raise AttributeError(f"a tensor of any rank has no member {name}")
        raise NoMemberError(
            f"{name} is a member of a tensor with a rank, and {self} has any rank\n"
            f"  help: at(2).{name} is that with 2 axes in the group",
            KIND,
        )

    def __getitem__(self, key: Any) -> Any:
        return self.applied("getitem", (key,), {})

    def __iter__(self) -> Any:
        raise TypeError("a tensor of any rank is not iterable")

    # ------------------------------------------------------------------ operations

    def applied(self, name: str, args: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """Return what the operation *name* of the package makes of this tensor.

        Raises
        ------
        ShapeError
            ``any_rank``: the operation has no meaning for all ranks, or is not applied to the axes of a group alike.
        """
        rule = RULES.get(name)
        if rule is None:
            raise self.refusal(name)
        result = rule(self, *args, **attributes)
        if isinstance(result, AnyRankTensor):
            result.made_by(_applied, self, name, args, attributes)
        return result

    def applied_to_several(
        self, name: str, xs: Sequence[Any], args: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> Any:
        """Return what the operation *name* makes of several tensors, one of which is this one."""
        rule = RULES.get(name)
        if rule is None:
            raise self.refusal(name)
        result = rule(xs, *args, **attributes)
        if isinstance(result, AnyRankTensor):
            result.made_by(_applied_to_several, self, name, xs, args, attributes)
        return result

    def refusal(self, name: str) -> ShapeError:
        """Return the error that says that the function *name* takes no tensor of any rank."""
        known = ", ".join(sorted(known for known in RULES if known[0] != "_"))
        return ShapeError(
            f"{name} does not take a tensor of any rank\n"
            f"  known: {known} do, and operators of ONNX that are elementwise or reduce axes\n"
            "  help: at(2) makes a tensor with 2 axes in the group",
            KIND,
        )

    def arranged(self, pattern: str, sizes: Mapping[str, Any]) -> AnyRankTensor:
        """Return the tensor with its axes split, joined and permuted, as `symlayout.einops.rearrange` does."""
        left, right = read_pattern(pattern)
        stars = {name: star for item in left for name, star in zip(item.names, item.stars, strict=True)}
        if unknown := sorted(sizes.keys() - stars.keys()):
            raise FormatError(f"{unknown[0]} is no axis of the pattern {pattern}")
        self._check_pattern(left, sizes)

        def half(t: Tensor, star: bool) -> Tensor:
            groups = [[run for item in side for run in _runs(item, star)] for side in (left, right)]
            given = {name: size for name, size in sizes.items() if stars[name] == star}
            return rearrange(t, groups[0], groups[1], given)

        apart = [Item(tuple(run), (star,) * len(run), False) for item in left for run, star in _digits(item)]

        def at(count: int) -> Tensor:
            groups = [[_expanded(digits, count) for digits in _axes(side, count)] for side in (apart, right)]
            given = {
                numbered: of_axis(size, k)
                for name, size in sizes.items()
                for numbered, k in (_numbers(name, count) if stars[name] else [(name, 0)])
            }
            return rearrange(self._split_at(count), groups[0], groups[1], given)

        return AnyRankTensor(
            half(self.plain, False), half(self.each, True), [_slot(item) for item in right], at, self.origins
        )

    def _check_pattern(self, left: Sequence[Item], sizes: Mapping[str, Any]) -> None:
        """Raise unless the left side of a pattern has the digits that the slots have."""
        if len(left) != len(self.slots):
            raise ShapeError(f"the pattern has {len(left)} items, the shape {self} has {len(self.slots)}", "rank")
        axes = iter(self.each.extents)
        for item, slot in zip(left, self.slots, strict=True):
            if _slot(item) != slot:
                raise ShapeError(f"the item {_text(item)} does not have the digits of {self}", KIND)
            for run in _runs(item, True):
                extent = next(axes)
                if item.joined and run[0] in sizes:
                    facts = self.each.facts.fork()
                    size = sympy_bridge.to_extent(sizes[run[0]], facts, run[0])
                    if facts.reduce(size - extent) != 0:
                        raise ShapeError(f"the size of {STAR}{run[0]} is not shown to be that in {self}", KIND)

    def _split_at(self, count: int) -> Tensor:
        """Return the tensor at a rank, with each joined axis split into its digits, which have their own extents."""
        t = self.at(count)
        if not any(slot.joined for slot in self.slots):
            return t
        groups, sizes = list[list[str]](), dict[str, Any]()
        for axis in extents_at(self.slots, self.plain, self.each, count):
            groups.append([f"d{len(sizes) + k}" for k in range(len(axis))])
            sizes |= zip(groups[-1], axis, strict=True)
        return rearrange(t, groups, [[name] for name in sizes], sizes)

    def slot_number(self, value: Any) -> int:
        """Return the number of an entry of the shape, given as an axis; negative ones count from the end."""
        if type(value) is not int or not -len(self.slots) <= value < len(self.slots):
            raise ShapeError(f"axis {shown(value)} is out of range for {self}", "bad_axis")
        return value % len(self.slots)

    def place(self, slot: int, count: int | None = None) -> int:
        """Return the number of the first axis of a slot: at a rank, or without it in `plain` or in `each`."""
        if count is None:
            return sum(s.each.count(self.slots[slot].each[0]) for s in self.slots[:slot])
        return sum(count if s.is_group else 1 for s in self.slots[:slot])

    def along(
        self, values: Sequence[Any], neutral: Any, operation: Callable[[Tensor, list[Any]], Tensor]
    ) -> AnyRankTensor:
        """Return the tensor after an operation with one value for each slot, for a group for each axis of it."""
        plain: list[Any] = []
        each: list[Any] = []
        for slot, value in zip(self.slots, values, strict=True):
            if slot.joined and value != neutral:
                raise ShapeError(
                    f"an axis of {self} whose digits are axes of the group cannot be changed\n"
                    "  help: change the axes of the group before they are joined",
                    KIND,
                )
            for is_each in slot.each:
                (each if is_each else plain).append(value)

        def at(count: int) -> Tensor:
            spread: list[Any] = []
            for slot, value in zip(self.slots, values, strict=True):
                spread += [of_axis(value, k + 1) for k in range(count)] if slot.is_group else [value]
            return changed(self.at(count), spread)

        def changed(t: Tensor, own: list[Any]) -> Tensor:
            return t if all(value == neutral for value in own) else operation(t, own)

        return AnyRankTensor(changed(self.plain, plain), changed(self.each, each), self.slots, at, self.origins)


def _applied(x: AnyRankTensor, name: str, args: tuple[Any, ...], attributes: Mapping[str, Any]) -> AnyRankTensor:
    return x.applied(name, args, attributes)  # type: ignore[no-any-return]


def _applied_to_several(
    x: AnyRankTensor, name: str, xs: Sequence[Any], args: tuple[Any, ...], attributes: Mapping[str, Any]
) -> AnyRankTensor:
    return x.applied_to_several(name, xs, args, attributes)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------- axes and their dims


def of_axis(value: Any, k: int) -> Any:
    """Return an attribute for axis *k* of the group, in the dims of that axis; number 0 is the arbitrary axis."""
    if k == 0:
        return value
    if isinstance(value, slice):
        return slice(*(of_axis(part, k) for part in (value.start, value.stop, value.step)))
    if is_list(value):
        return [of_axis(part, k) for part in as_list(value)]
    if not hasattr(value, "free_symbols"):
        return value
    own = {s: sympy_bridge.symbol_of(s.record.replaced(name=f"{s.name}_{k}")) for s in value.free_symbols}
    return value.xreplace(own)


def extents_at(slots: Sequence[Slot], plain: Tensor, each: Tensor, count: int) -> list[list[Any]]:
    """Return the extents of the digits of each axis for *count* axes of the group."""
    outside, inside = iter(plain.shape), iter(each.shape)
    found: list[list[Any]] = []
    for slot in slots:
        digits: list[Any] = []
        for is_each in slot.each:
            extent = next(inside if is_each else outside)
            digits += [of_axis(extent, k) for k in range(1, count + 1)] if is_each else [extent]
        found += [digits] if slot.joined else [[extent] for extent in digits]
    return found


def product_of(extents: Sequence[Any]) -> Any:
    """Return the product of extents."""
    found: Any = 1
    for e in extents:
        found = found * e
    return found


def _numbers(name: str, count: int) -> list[tuple[str, int]]:
    return [(f"{name}_{k}", k) for k in range(1, count + 1)]


def _slot(item: Item) -> Slot:
    return Slot(tuple(star for _, star in _digits(item)), item.joined)


def _digits(item: Item) -> list[tuple[list[str], bool]]:
    """Return the digits of the slot of an item: their names, and whether they are axes of the group.

    Names outside of the group that follow each other are one digit.
    """
    if not item.joined:
        return [([*item.names], item.stars[0])]
    found: list[tuple[list[str], bool]] = []
    for name, star in zip(item.names, item.stars, strict=True):
        if found and not star and not found[-1][1]:
            found[-1][0].append(name)
        else:
            found.append(([name], star))
    return found


def _runs(item: Item, star: bool) -> list[list[str]]:
    """Return the names on each axis that an item has of the group's tensor, or of the other one."""
    return [names for names, starred in _digits(item) if starred == star]


def _axes(side: Sequence[Item], count: int) -> list[list[tuple[str, int]]]:
    """Return the digits of each axis for *count* axes of the group: a name, and the axis of the group or 0."""
    found: list[list[tuple[str, int]]] = []
    for item in side:
        if not item.joined and item.stars[0]:
            found += [[(name, k) for name in item.names] for k in range(1, count + 1)]
        else:
            digits: list[tuple[str, int]] = []
            for name, star in zip(item.names, item.stars, strict=True):
                digits += [(name, k) for k in range(1, count + 1)] if star else [(name, 0)]
            found.append(digits)
    return found


def _expanded(digits: Sequence[tuple[str, int]], count: int) -> list[str]:
    return [f"{name}_{k}" if k else name for name, k in digits]


def _text(item: Item) -> str:
    digits = [f"{STAR * star}{name}" for name, star in zip(item.names, item.stars, strict=True)]
    return f"({' '.join(digits)})" if len(digits) > 1 else digits[0]


def _spelled(extent: Any, close: bool = True) -> str:
    text = str(extent)
    return text if text.isidentifier() or text.isdecimal() or not close else f"({text})"
