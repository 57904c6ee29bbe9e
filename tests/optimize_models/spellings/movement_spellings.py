"""Regions of movement in many spellings: each family of reorderings as the graphs that exporters write for it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto

from tests.support.onnx_writer import model, node, tensor, value_info

KINDS = ("static", "dynamic batch", "all dynamic")
_END = (1 << 63) - 1

Digits = tuple[str, ...]  # the digits of an axis, the most significant first; ``a`` to ``g`` have fixed extents
Axes = tuple[Digits, ...]


@dataclass(frozen=True)
class Reordering:
    """The digits of the axes of an input in another order.

    Attributes
    ----------
    source, target : tuple of tuples of str
        The digits of each axis, before and after.
    sizes : dict of str to int
        The extents of digits.  Digits ``a`` to ``g`` are always fixed; others are dims where the model is dynamic.
    """

    source: Axes
    target: Axes
    sizes: dict[str, int]

    def shape(self, kind: str) -> tuple[int | str, ...]:
        """Return the shape of the input."""
        return tuple(
            self.axis_name(axis) if self.is_dynamic(axis, kind) else prod(self.sizes[d] for d in axis)
            for axis in self.source
        )

    def axis_name(self, axis: Digits) -> str:
        return next(d for d in axis if d > "g" or d < "a").upper()

    def is_dynamic(self, axis: Digits, kind: str) -> bool:
        return kind != "static" and any(not "a" <= d <= "g" and (d == "N" or kind == "all dynamic") for d in axis)

    def arrays(self, random: Callable[[int], int], kind: str) -> tuple[int, ...]:
        """Return an input's shape where each dim has a random size."""
        chosen = {
            d: n if "a" <= d <= "g" or not (kind == "all dynamic" or (kind != "static" and d == "N")) else random(5) + 1
            for d, n in self.sizes.items()
        }
        return tuple(prod(chosen[d] for d in axis) for axis in self.source)


_S = {"N": 2, "C": 3, "h": 3, "w": 5, "a": 2, "b": 2}
_NCHW = (("N",), ("C",), ("h", "a"), ("w", "b"))
REORDERINGS = {
    "SpaceToDepth": Reordering(_NCHW, (("N",), ("a", "b", "C"), ("h",), ("w",)), _S),
    "DepthToSpace DCR": Reordering((("N",), ("a", "b", "C"), ("h",), ("w",)), _NCHW, _S),
    "pixel shuffle": Reordering((("N",), ("C", "a", "b"), ("h",), ("w",)), _NCHW, _S),
    "pixel unshuffle": Reordering(_NCHW, (("N",), ("C", "a", "b"), ("h",), ("w",)), _S),
    "channel shuffle": Reordering(
        (("N",), ("a", "C"), ("h",), ("w",)), (("N",), ("C", "a"), ("h",), ("w",)), {**_S, "a": 3}
    ),
    "Focus": Reordering(_NCHW, (("N",), ("b", "a", "C"), ("h",), ("w",)), _S),
    "window partition": Reordering(
        (("N",), ("h", "a"), ("w", "b"), ("C",)), (("N", "h", "w"), ("a",), ("b",), ("C",)), {**_S, "a": 4, "b": 4}
    ),
    "window merge": Reordering(
        (("N", "a", "b"), ("h",), ("w",), ("C",)), (("N",), ("a", "h"), ("b", "w"), ("C",)), {**_S, "a": 3, "b": 2}
    ),
}


@dataclass
class Writer:
    """Writes nodes that move one value; `at` is its name, and `axes` are its digits."""

    what: Reordering
    kind: str
    axes: Axes
    computed: bool = False
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)
    at: str = "x0"
    _names: Iterator[int] = field(default_factory=itertools.count)

    def name(self) -> str:
        return f"v{next(self._names)}"

    def numbers(self, *values: int) -> str:
        made = self.name()
        self.constants.append(tensor(list(values), name=made))
        return made

    def put(self, op: str, inputs: str = "", **attributes: Any) -> str:
        made = self.name()
        self.nodes.append(node(op, inputs, made, **attributes))
        return made

    def move(self, op: str, *inputs: str, **attributes: Any) -> None:
        self.at = self.put(op, ", ".join((self.at, *inputs)), **attributes)

    def is_dim(self, digit: str) -> bool:
        return self.what.is_dynamic((digit,), self.kind)

    def extent(self, digits: Digits) -> int:
        return prod(self.what.sizes[d] for d in digits)

    def reshape(self, axes: Axes) -> None:
        """Reshape to *axes*, with a constant where one is enough."""
        dims = [k for k, axis in enumerate(axes) if any(map(self.is_dim, axis))]
        if len(dims) > 1 or (dims and self.computed):
            parts = [self.computed_extent(axis) for axis in axes]
            self.move("Reshape", self.put("Concat", ", ".join(parts), axis=0))
        else:
            self.move("Reshape", self.numbers(*[-1 if k in dims else self.extent(a) for k, a in enumerate(axes)]))
        self.axes = axes

    def computed_extent(self, axis: Digits) -> str:
        """Return the name of a list with the product of digits, computed from the input's shape."""
        fixed = prod(self.what.sizes[d] for d in axis if not self.is_dim(d))
        made = self.numbers(fixed) if fixed != 1 or not any(map(self.is_dim, axis)) else ""
        for digit in filter(self.is_dim, axis):
            home = next(k for k, a in enumerate(self.what.source) if digit in a)
            size = self.put("Gather", f"{self.put('Shape', 'x0')}, {self.numbers(home)}", axis=0)
            others = self.extent(tuple(d for d in self.what.source[home] if d != digit))
            if others != 1:
                size = self.put("Div", f"{size}, {self.numbers(others)}")
            made = self.put("Mul", f"{made}, {size}") if made else size
        return made

    def transpose(self, axes: Axes) -> None:
        if axes != self.axes:
            self.move("Transpose", perm=[self.axes.index(a) for a in axes])
            self.axes = axes

    def split(self) -> None:
        """Give each digit an axis of its own."""
        self.reshape(tuple((d,) for axis in self.axes for d in axis))

    def merge(self) -> None:
        self.reshape(self.what.target)

    def order(self) -> Axes:
        return tuple((d,) for axis in self.what.target for d in axis)


def _plain(w: Writer) -> None:
    w.split()
    w.transpose(w.order())
    w.merge()


def _two_transposes(w: Writer) -> None:
    w.split()
    w.transpose(tuple(sorted(w.axes, key=lambda a: (a[0].swapcase(), a))))
    w.transpose(w.order())
    w.merge()


def _transposes_at_the_ends(w: Writer) -> None:
    w.transpose((w.axes[0], w.axes[2], w.axes[3], w.axes[1]))
    w.split()
    target = w.what.target
    turned = (target[0], target[2], target[3], target[1])
    w.transpose(tuple((d,) for axis in turned for d in axis))
    w.reshape(turned)
    w.transpose(target)


def _one_axis_after_another(w: Writer) -> None:
    for k in reversed(range(4)):
        axes = w.axes
        if len(w.what.source[k]) > 1:
            w.reshape((*axes[:k], *((d,) for d in axes[k]), *axes[k + 1 :]))
    for k in range(len(w.axes)):  # one digit to its place after another
        wanted = w.order()[k]
        rest = [a for a in w.axes if a != wanted]
        w.transpose((*rest[:k], wanted, *rest[k:]))
    for k, axis in enumerate(w.what.target):
        if len(axis) > 1:
            w.reshape((*w.axes[:k], axis, *w.axes[k + len(axis) :]))


def _axes_of_one(w: Writer) -> None:
    w.split()
    rank = len(w.axes)
    w.move("Unsqueeze", w.numbers(1, rank + 1))
    order = [w.axes.index(a) for a in w.order()]
    w.move("Transpose", perm=[rank + 1, *(k + (k > 0) for k in order), 1])
    w.move("Squeeze", w.numbers(0, rank + 1))
    w.axes = w.order()
    w.merge()


def _stacked(w: Writer, pieces: Callable[[Writer, int], list[str]]) -> None:
    """Cut along each fixed digit into pieces, and stack these where the digit goes."""
    w.split()
    fixed = [a for a in w.axes if "a" <= a[0] <= "g"]
    for digit in fixed:
        k = w.axes.index(digit)
        rest = (*w.axes[:k], *w.axes[k + 1 :])
        placed = [a for a in w.order() if a == digit or a in rest]
        at = placed.index(digit)
        w.at = w.put("Concat", ", ".join(_unsqueezed(w, p, at) for p in pieces(w, k)), axis=at)
        w.axes = (*rest[:at], digit, *rest[at:])
    w.transpose(w.order())
    w.merge()


def _unsqueezed(w: Writer, name: str, at: int) -> str:
    return w.put("Unsqueeze", f"{name}, {w.numbers(at)}")


def _gathered(w: Writer) -> None:
    def pieces(w: Writer, k: int) -> list[str]:
        made = []
        for n in range(w.extent(w.axes[k])):
            index = w.name()
            w.constants.append(tensor([n], [], name=index))
            made.append(w.put("Gather", f"{w.at}, {index}", axis=k))
        return made

    _stacked(w, pieces)


def _split_and_stacked(w: Writer) -> None:
    def pieces(w: Writer, k: int) -> list[str]:
        names = [w.name() for _ in range(w.extent(w.axes[k]))]
        w.nodes.append(node("Split", w.at, ", ".join(names), axis=k, num_outputs=len(names)))
        return [w.put("Squeeze", f"{name}, {w.numbers(k)}") for name in names]

    _stacked(w, pieces)


def _strided_slices(w: Writer) -> None:
    """Cut the input's axes by slices: every n-th element for a last digit, a run for a first one."""
    cuts: list[tuple[int, str]] = []
    for k, axis in enumerate(w.what.source):
        fixed = [(k, d) for d in axis if "a" <= d <= "g"]
        cuts += fixed if fixed and fixed[0][1] == axis[0] else reversed(fixed)
    rest: Axes = tuple(tuple(d for d in axis if not "a" <= d <= "g") for axis in w.what.source)
    ways = itertools.product(*(range(w.what.sizes[d]) for _, d in cuts))
    leaves: dict[tuple[int, ...], str] = {way: _cut(w, cuts, way) for way in ways}
    order = [d for axis in w.what.target for d in axis]
    digits = sorted((d for _, d in cuts), key=order.index)
    at_end = tuple((d,) for d in order if not "a" <= d <= "g")
    begun = [a for a in rest if a]

    def joined(chosen: dict[str, int], left: list[str]) -> str:
        if not left:
            way = tuple(chosen[d] for _, d in cuts)
            w.at, w.axes = leaves[way], rest
            if rest != at_end:
                w.split()
                w.transpose(at_end)
            return w.at
        digit, *others = left
        parts = [joined({**chosen, digit: n}, others) for n in range(w.what.sizes[digit])]
        kept = [d for d in order if d in others or not "a" <= d <= "g"]
        place = sum(order.index(d) < order.index(digit) for d in kept)
        return w.put("Concat", ", ".join(_unsqueezed(w, p, place) for p in parts), axis=place)

    assert begun
    w.at = joined({}, digits)
    w.axes = w.order()
    w.merge()


def _cut(w: Writer, cuts: Sequence[tuple[int, str]], way: Sequence[int]) -> str:
    at = w.at
    left = {k: list(axis) for k, axis in enumerate(w.what.source)}
    for (k, digit), number in zip(cuts, way, strict=True):
        after = tuple(left[k][left[k].index(digit) + 1 :])
        left[k].remove(digit)
        if not after:
            bounds = number, _END, w.what.sizes[digit]
        elif not any(map(w.is_dim, after)):
            bounds = number * w.extent(after), (number + 1) * w.extent(after), 1
        else:  # a run of a dynamic length
            names = [w.name() for _ in range(w.what.sizes[digit])]
            w.nodes.append(node("Split", at, ", ".join(names), axis=k, num_outputs=len(names)))
            at = names[number]
            continue
        at = w.put("Slice", ", ".join([at, *(w.numbers(n) for n in (*bounds[:2], k, bounds[2]))]))
    return at


def _flipped(w: Writer) -> None:
    last = len(w.what.source) - 1
    w.move("Slice", *(w.numbers(n) for n in (-1, -_END, last, -1)))
    w.split()
    flipped = [w.order().index((d,)) for d in w.what.source[last]]
    w.transpose(w.order())
    for k in flipped:
        w.move("Slice", *(w.numbers(n) for n in (-1, -_END, k, -1)))
    w.merge()


def _padded_and_cropped(w: Writer) -> None:
    w.move("Pad", w.numbers(0, 0, 0, 0, 0, 1, 0, 0))
    w.move("Slice", *(w.numbers(n) for n in (0, -1, 1)))
    w.split()
    w.move("Pad", w.numbers(2, *[0] * (2 * len(w.axes) - 1)))
    w.transpose(w.order())
    w.move("Slice", *(w.numbers(n) for n in (2, _END, w.axes.index(("N",)))))
    w.merge()


def _through_one_axis(w: Writer) -> None:
    w.move("Reshape", w.numbers(-1))
    w.split()
    w.transpose(w.order())
    w.move("Reshape", w.numbers(-1))
    w.merge()


def _computed_shapes(w: Writer) -> None:
    w.computed = True
    _plain(w)


WAYS: dict[str, Callable[[Writer], None]] = {
    "reshape, transpose, reshape": _plain,
    "two transposes": _two_transposes,
    "transposes at the ends": _transposes_at_the_ends,
    "one axis after another": _one_axis_after_another,
    "axes of extent one": _axes_of_one,
    "strided slices": _strided_slices,
    "splits": _split_and_stacked,
    "gathers": _gathered,
    "computed shapes": _computed_shapes,
    "flips": _flipped,
    "pads and crops": _padded_and_cropped,
    "through one axis": _through_one_axis,
}


def moved(what: Reordering, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array reordered by NumPy."""
    extents: dict[str, int] = {}
    for axis, n in zip(what.source, x.shape, strict=True):
        free = next((d for d in axis if not "a" <= d <= "g"), "")
        extents |= {d: what.sizes[d] for d in axis if d != free}
        if free:
            extents[free] = n // prod(what.sizes[d] for d in axis if d != free)
    before, after = ([d for axis in axes for d in axis] for axes in (what.source, what.target))
    split = x.reshape([extents[d] for d in before]).transpose([before.index(d) for d in after])
    return split.reshape([prod(extents[d] for d in axis) for axis in what.target])


def spelled(family: str, way: str, kind: str, opset: int = 20) -> bytes:
    """Return a model with a region of movement between a Relu and an Exp."""
    what = REORDERINGS[family]
    w = Writer(what, kind, what.source)
    w.nodes.append(node("Relu", "x", "x0"))
    WAYS[way](w)
    w.nodes.append(node("Exp", w.at, "y"))
    return model(w.nodes, [value_info("x", what.shape(kind))], constants=w.constants, opset=opset)
