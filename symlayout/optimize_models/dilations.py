"""Convolutions of interleaved parts: space to batch, a convolution and batch to space are one dilated convolution.

TensorFlow writes a dilated convolution so.  What is looked for is no spelling: at one example of sizes, the elements
that each output element reads through the convolution say which axes are the picture's, how far apart the taps are,
and where the first one is.  The convolution that these numbers name is proved equal for all sizes before it is used,
so that pads and crops which do not fit leave the model as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError, one_line
from symlayout.maps.gather_elements import numbers_read
from symlayout.models.model import Model
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import implies
from symlayout.tensors.stand_in import rebased
from symlayout.walks import Walk

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Array = np.ndarray[Any, Any]

_MAX_ELEMENTS = 1 << 22  # of an example
_SIZES = (12, 16, 30, 28, 36, 8, 9, 11)  # of all dims of an example, as large as most pads and blocks need
_MAX_VALUES = 32  # before and after a convolution that may be the ends of its region


def dilate(model: Model, kept: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with convolutions of interleaved parts as dilated ones, and what was changed.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    """
    graph = EditedGraph(model.source)
    regions = _Regions(graph, Movement(model))
    changes = [
        change
        for node in list(graph.nodes)
        if graph.is_standard(node, "Conv") and (change := regions.rewrite(node, kept)) is not None
    ]
    return graph.finish(), changes


@dataclass(frozen=True, slots=True)
class _Fit:
    """A dilated convolution that fits an example.

    Attributes
    ----------
    source, end : tuple of int
        The axes of the source and of the end in the order of Conv: the batch, the channels, the picture.
    dilations, pads : list of int
        Its attributes.
    """

    source: tuple[int, ...]
    end: tuple[int, ...]
    dilations: list[int]
    pads: list[int]


class _Regions:
    """The regions of movement around the convolutions of a graph."""

    def __init__(self, graph: EditedGraph, movement: Movement) -> None:
        self.graph, self.tensors, self.sources = graph, movement.tensors, movement.sources
        self.producers, self.kept = graph.producers(), graph.outputs | graph.captured()
        self.named = graph.named()
        self.readers = graph.readers()

    def rewrite(self, node: NodeProto, kept: Set[str]) -> Rewritten | None:
        """Rewrite the region around a convolution; return what was done, or None."""
        y = self.tensors.get(node.output[0])
        if y is None or not self._is_plain(node):
            return None
        starts = self._before(node.input[0], y.rank)
        ends = [name for name in self._after(node.output[0], y.rank) if name not in kept]
        for end, source in itertools.product(reversed(ends), reversed(starts)):
            try:
                found = self._proved(node, source, end)
            except SymlayoutError:  # the sizes or the attributes are not valid
                continue
            if found is not None:
                fit, proof = found
                self._apply(node, source, end, fit)
                text = f"{one_line(end)} from {one_line(source)}: space to batch, Conv, batch to space became dilations"
                return Rewritten(end, f"{text} {fit.dilations}", (proof,))
        return None

    def _is_plain(self, node: NodeProto) -> bool:
        """Return whether a convolution has strides of 1, and numbers for its pads."""
        strides = self.graph.attribute(node, "strides") or [1]
        return set(strides) == {1} and self.graph.attribute(node, "auto_pad") in (None, b"NOTSET", b"VALID")

    def _before(self, name: str, rank: int) -> list[str]:
        """Return the values of this rank that a value is moved from, the nearest first."""
        found: dict[str, None] = {}
        level = [name]
        while level and len(found) < _MAX_VALUES:
            level = [s for n in level for s in self.sources.get(n, ()) if s not in found]
            found.update(dict.fromkeys(level))
        return [n for n in found if self._has_rank(n, rank)]

    def _after(self, name: str, rank: int) -> list[str]:
        """Return the values of this rank that are moved from a value alone and are all that is read of it."""
        moved, waiting = {name: None}, [name]
        while waiting and len(moved) < _MAX_VALUES:
            for made in self._made_of(waiting.pop(0)):
                if made not in moved and all(s in moved for s in self.sources.get(made, [""])):
                    moved[made] = None
                    waiting.append(made)
        return [n for n in moved if n != name and self._has_rank(n, rank) and self._is_all(name, n)]

    def _made_of(self, name: str) -> list[str]:
        """Return the values that are computed from a value, without its shape."""
        readers = (n for n in self.readers.get(name, []) if not self.graph.is_standard(n, "Shape", "Size"))
        return [out for n in readers for out in n.output if out]

    def _is_all(self, name: str, end: str) -> bool:
        """Return whether all that is read of a value is read by way of *end*."""
        walk = Walk([end])
        for at in walk:
            walk.to(self.sources.get(at, ()) if at != name else ())
        inside = {name} | walk.seen.keys() - {end}
        return all(n not in self.kept and walk.seen.keys() >= set(self._made_of(n)) for n in inside)

    def _has_rank(self, name: str, rank: int) -> bool:
        t = self.tensors.get(name)
        return name in self.named and t is not None and t.rank == rank and t.values is None

    # ------------------------------------------------------------------ the example

    def _proved(self, node: NodeProto, source: str, end: str) -> tuple[_Fit, Proof] | None:
        """Return a dilated convolution from *source* to *end*, and the proof that it is the region."""
        moved = self.tensors[node.input[0]]
        y, last = self.tensors[node.output[0]], self.tensors[end]
        assert moved is not None
        assert last is not None
        assert y is not None
        leaf, bare = self._stand_in(source), self._stand_in(source, typed=False)
        part = Tensor("y", None, y.extents, y.facts, key="the convolution")
        before = rebased(moved, {id(self.tensors[source]): bare})
        after = rebased(last, {id(y): part})
        if before is None or after is None or before.leaves() != [bare] or after.leaves() != [part]:
            return None  # a constant is joined with it
        fit = self._fit(node, before, after)
        if fit is None:
            return None
        leaves = {n: self._stand_in(n) for n in node.input[1:] if n and self._is_read(n)}
        values: dict[str, Any] = {n: t.values for n in node.input if n and (t := self.tensors[n]) is not None}
        values |= {**leaves, "source": transpose(leaf, fit.source)}
        conv = self._dilated(node, fit, "source", "made")
        (made,) = self.graph.evaluated(conv, values)
        made = transpose(made, _inverse(fit.end))
        wanted = rebased(last, {id(self.tensors[n]): t for n, t in (*leaves.items(), (source, leaf))})
        if wanted is None or tuple(made.shape) != tuple(wanted.shape) or not implies(wanted.facts, made.facts):
            return None
        proof = prove_equal(made, wanted, budget=0)
        return (fit, proof) if proof.verdict is Verdict.PROVED else None

    def _stand_in(self, name: str, *, typed: bool = True) -> Tensor:
        t = self.tensors[name]
        assert t is not None
        return Tensor("x", t.dtype if typed else None, t.extents, t.facts, key=f"stand-in {name}")

    def _is_read(self, name: str) -> bool:
        t = self.tensors.get(name)
        return t is not None and t.values is None

    def _fit(self, node: NodeProto, before: Tensor, after: Tensor) -> _Fit | None:
        """Return the dilated convolution that reads what *after* reads through the convolution, at one example."""
        weights = self.tensors.get(node.input[1])
        kernel = None if weights is None else weights.shape[2:]
        if kernel is None or not all(isinstance(n, int) for n in kernel):
            return None
        example = _example(before, after)
        if example is None:
            return None
        count = len(kernel)
        steps = self.graph.attribute(node, "dilations") or [1] * count
        pads = self.graph.attribute(node, "pads") or [0] * 2 * count
        return example.fit(kernel, steps, list(zip(pads[:count], pads[count:], strict=True)))

    # ------------------------------------------------------------------ the new graph

    def _dilated(self, node: NodeProto, fit: _Fit, source: str, target: str) -> NodeProto:
        kept = {a.name: self.graph.attribute(node, a.name) for a in node.attribute}
        kept = {name: value for name, value in kept.items() if name not in ("auto_pad", "pads", "dilations")}
        given = {**kept, "dilations": fit.dilations, "pads": fit.pads}
        return self.graph.node("Conv", [source, *node.input[1:]], target, **given)

    def _apply(self, node: NodeProto, source: str, end: str, fit: _Fit) -> None:
        graph, producer = self.graph, self.producers[end]
        nodes: list[NodeProto] = []
        at, target = source, end
        plain = tuple(range(len(fit.end)))
        if fit.source != plain:
            at = graph.new_name(f"{end}_transpose")
            nodes.append(graph.node("Transpose", [source], at, perm=list(fit.source)))
        if fit.end != plain:
            target = graph.new_name(f"{end}_conv")
        nodes.append(self._dilated(node, fit, at, target))
        if fit.end != plain:
            nodes.append(graph.node("Transpose", [target], end, perm=list(_inverse(fit.end))))
        producer.output[list(producer.output).index(end)] = graph.new_name(f"{end}_before")
        graph.insert(nodes, before=producer)


def _inverse(perm: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(k) for k in np.argsort(perm))


@dataclass(frozen=True, slots=True)
class _Example:
    """What is read at one choice of sizes.

    Attributes
    ----------
    taps : array
        For each element of the convolution's input the number of the source's element; -1 for a pad.
    parts : array
        For each element of the end the number of the element of the convolution's result.
    start, result : tuple of int
        The shapes of the source and of the convolution's result.
    """

    taps: Array
    parts: Array
    start: tuple[int, ...]
    result: tuple[int, ...]

    def fit(self, kernel: Sequence[int], steps: Sequence[int], pads: Sequence[tuple[int, int]]) -> _Fit | None:
        """Return the dilated convolution that reads the same, given the attributes of the convolution."""
        rank, start, end = self.taps.ndim, self.start, self.parts.shape
        taps = np.pad(self.taps, [(0, 0), (0, 0), *pads], constant_values=-1)
        rows = np.stack(np.unravel_index(self.parts.ravel(), self.result))
        rows[1] = 0
        first = _sources(taps, rows, start)

        def moved(axis: int, by: int) -> tuple[int, int] | None:
            """Return the source's axis that changes, and by how much, if a tap is moved."""
            shift = np.zeros((rank, 1), np.int64)
            shift[axis] = by
            return _change(first, _sources(taps, rows + shift, start))

        found = [moved(k + 2, step) for k, step in enumerate(steps)]
        axes = [axis for axis, _ in filter(None, found)]
        dilations = [by if n > 1 else 1 for (_, by), n in zip(filter(None, found), kernel, strict=False)]
        if len(axes) != len(kernel) or len(set(axes)) != len(axes) or min(dilations) < 1:
            return None
        if dilations == [step if n > 1 else 1 for step, n in zip(steps, kernel, strict=True)]:
            return None  # nothing is interleaved
        channel = moved(1, 1)
        sides = [k for k in range(rank) if k not in axes]
        if channel is not None:
            sides.sort(key=lambda k: k == channel[0])
        coordinates = np.stack(np.unravel_index(np.arange(self.parts.size), end))
        places = [place for axis in axes if (place := _place(first[axis], coordinates)) is not None]
        ends = [k for k, _ in places]
        channels = np.unravel_index(self.parts.ravel(), self.result)[1]
        left = [k for k in range(rank) if k not in ends]
        left.sort(key=lambda k: end[k] == self.result[1] and np.array_equal(coordinates[k], channels))
        if len(ends) != len(axes) or len(left) != 2 or len(sides) != 2:
            return None
        begins = [p for _, p in places]
        stops = [
            end[e] - start[a] - p + d * (n - 1)
            for e, a, p, d, n in zip(ends, axes, begins, dilations, kernel, strict=True)
        ]
        if min(*begins, *stops) < 0:
            return None
        return _Fit((*sides, *axes), (*left, *ends), dilations, [*begins, *stops])


def _example(before: Tensor, after: Tensor) -> _Example | None:
    """Return an example of what a convolution's input reads, and the end of its result; None if it is too large."""
    for size in _SIZES:
        try:
            bound, last = (t.subs(dict.fromkeys(t.facts.dims, size)) for t in (before, after))
        except SymlayoutError:  # the model does not allow these sizes
            continue
        break
    else:
        return None
    (leaf,), (part,) = bound.leaves(), last.leaves()
    shapes = [tuple(t.shape) for t in (leaf, bound, part, last)]
    if not all(isinstance(n, int) for shape in shapes for n in shape):
        return None
    if not all(0 < prod(shape) <= _MAX_ELEMENTS for shape in shapes):
        return None
    taps, parts = numbers_read(bound), numbers_read(last)
    return _Example(taps, parts, shapes[0], shapes[2]) if parts.min() >= 0 else None


def _sources(taps: Array, rows: Array, start: Sequence[int]) -> Array:
    """Return the coordinates of the source that are read at *rows*, a column each; -1 where none is."""
    inside = ((rows >= 0) & (rows < np.array(taps.shape)[:, None])).all(0)
    numbers = np.full(rows.shape[1], -1)
    numbers[inside] = taps[tuple(rows[:, inside])]
    found = np.stack(np.unravel_index(np.maximum(numbers, 0), tuple(start)))
    return np.where(numbers < 0, -1, found)


def _change(first: Array, second: Array) -> tuple[int, int] | None:
    """Return the only axis on which coordinates differ, and by how much; None if they differ in other ways."""
    both = (first[0] >= 0) & (second[0] >= 0)
    if not both.any():
        return None
    differences = np.unique((second - first)[:, both], axis=1)
    axes = np.flatnonzero(differences[:, 0])
    return (int(axes[0]), int(differences[axes[0], 0])) if differences.shape[1] == len(axes) == 1 else None


def _place(read: Array, coordinates: Array) -> tuple[int, int] | None:
    """Return the axis of the end that an axis of the source follows, and how far it lags behind."""
    inside = read >= 0
    for axis, own in enumerate(coordinates):
        lag = own[inside] - read[inside]
        if lag.size and (lag == lag[0]).all() and own[inside].min() != own[inside].max():
            return axis, int(lag[0])
    return None
