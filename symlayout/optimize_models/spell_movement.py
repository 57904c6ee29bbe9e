"""Spell the movement from one value to another as few operations of ONNX, each spelling proved for all sizes."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.errors import InconclusiveError, SymlayoutError
from symlayout.maps.interpreter import interpret
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Cost, bytes_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.proof.prove import Verdict, implies, prove_equal
from symlayout.show.small_sizes import small
from symlayout.tensors.chain import Tensor

if TYPE_CHECKING:
    from onnx import NodeProto

_MAX_ELEMENTS = 1 << 22  # of the example that candidates are compared with
_MAX_RANK = 7  # of the permutations that are tried
_MAX_PROOFS = 24  # permutations of one shape that are tried to be proved
_PROBES = 4096  # elements at which candidates are compared with the example


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a spelling.

    Attributes
    ----------
    op : str
        The operation of ONNX.
    attributes : tuple of (str, value)
        Its attributes.
    shape : tuple
        The extents of the result.
    """

    op: str
    attributes: tuple[tuple[str, Any], ...]
    shape: tuple[Any, ...]

    def apply(self, x: Tensor) -> Tensor:
        """Return the step on a tensor."""
        if self.op == "Reshape":
            return reshape(x, self.shape)
        if self.op == "Transpose":
            return transpose(x, dict(self.attributes)["perm"])
        made: Tensor = frontends.find(f"onnx:{self.op}")(x, **dict(self.attributes))
        return made


@dataclass(frozen=True, slots=True)
class Spelling:
    """Operations that move a source to a value.

    Attributes
    ----------
    steps : tuple of Step
        The operations in order; none if the value is the source.
    cost : Cost
        What they cost.
    """

    steps: tuple[Step, ...]
    cost: Cost

    def emit(self, graph: EditedGraph, source: str, shape: Sequence[Any], target: str) -> list[NodeProto]:
        """Return the nodes that move *source*, which has this *shape*, to *target*."""
        nodes: list[NodeProto] = []
        at = source
        for k, step in enumerate(self.steps):
            output = target if k == len(self.steps) - 1 else graph.new_name(f"{target}_{step.op.lower()}")
            inputs = [at]
            if step.op == "Reshape":
                numbers = target_shape(shape, step.shape)
                assert numbers is not None
                name, extra = graph.constant(np.array(numbers, np.int64), f"{output}_shape")
                nodes += extra
                inputs.append(name)
            nodes.append(graph.node(step.op, inputs, output, **dict(step.attributes)))
            at, shape = output, step.shape
        return nodes


def target_shape(shape: Sequence[Any], wanted: Sequence[Any]) -> list[int] | None:
    """Return the constant with which Reshape makes *wanted* of *shape*; None if no constant does for all sizes."""
    numbers: list[int] = []
    for k, e in enumerate(wanted):
        if _is_number(e):
            if int(e) == 0:
                return None
            numbers.append(int(e))
        elif k < len(shape) and shape[k] == e:
            numbers.append(0)
        elif -1 in numbers:
            return None
        else:
            numbers.append(-1)
    return numbers


def _is_number(e: Any) -> bool:
    return isinstance(e, int) or bool(e.is_Integer)


def rebased(t: Tensor, source: Tensor, leaf: Tensor) -> Tensor | None:
    """Return *t* with *leaf* in the place of *source*; None if it reads other values too."""
    made: dict[int, Tensor] = {id(source): leaf}
    waiting = [t]
    while waiting:
        at = waiting[-1]
        if id(at) in made:
            waiting.pop()
        elif at.declared is None:
            return None
        elif missing := [x for x in at.inputs if id(x) not in made]:
            waiting += missing
        else:
            made[id(at)] = at.remade(tuple(made[id(x)] for x in at.inputs), {})
            waiting.pop()
    return made[id(t)]


class Speller:
    """Finds the cheapest spelling of the movement between two values.

    Parameters
    ----------
    opset : int
        The version of ONNX's operations.
    """

    def __init__(self, opset: int) -> None:
        self._opset = opset
        self._stand_ins = itertools.count()

    def cheapest(self, source: Tensor, value: Tensor, shapes: Iterable[Sequence[Any]], below: Cost) -> Spelling | None:
        """Return the cheapest spelling that is proved and costs less than *below*; None if none was found.

        Parameters
        ----------
        source, value : Tensor
            The value is moved from the source.
        shapes : iterable of shapes
            Those of the values between them: a reshape to one of them may be the first step.
        """
        key = f"stand-in {next(self._stand_ins)}"
        leaf = Tensor("x", source.dtype, source.extents, source.facts, key=key)
        wanted = rebased(value, source, leaf)
        if wanted is None:
            return None
        try:
            numbers = _example(wanted, leaf)
        except InconclusiveError:
            return None
        if numbers is None:
            return None
        candidates = [s for s in self._candidates(leaf, wanted, shapes, numbers) if _is_below(s.cost, below)]
        for candidate in sorted(candidates, key=lambda s: s.cost.key()):
            if self._is_proved(candidate, leaf, wanted):
                return candidate
        return None

    def _is_proved(self, candidate: Spelling, leaf: Tensor, wanted: Tensor) -> bool:
        """Return whether a spelling is proved: equal for all sizes, and valid for all sizes of the original."""
        t, shape = leaf, tuple(leaf.shape)
        for step in candidate.steps:
            if step.op == "Reshape" and target_shape(shape, step.shape) is None:
                return False
            try:
                t = step.apply(t)
            except SymlayoutError:  # the candidate is not valid for these shapes
                return False
            shape = step.shape
        return prove_equal(t, wanted).verdict is Verdict.PROVED and implies(wanted.facts, t.facts)

    def _candidates(
        self, leaf: Tensor, wanted: Tensor, shapes: Iterable[Sequence[Any]], numbers: _Example
    ) -> Iterator[Spelling]:
        size = bytes_of(wanted)
        start, end = tuple(leaf.shape), tuple(wanted.shape)
        if numbers.is_identity:
            yield _spelling(size) if start == end else _spelling(size, Step("Reshape", (), end))
            return
        for perm, moved in numbers.permutations(start, start):
            if moved == end:
                yield _spelling(size, _transpose(perm, moved))
            else:
                yield _spelling(size, _transpose(perm, moved), Step("Reshape", (), end))
        for first, perm in numbers.permutations_to(end):
            if first != start:
                yield _spelling(size, Step("Reshape", (), first), _transpose(perm, end))
        yield from self._blocks(start, end, size, numbers)
        for middle in dict.fromkeys(tuple(s) for s in shapes):
            if middle in (start, end):
                continue
            for perm, moved in numbers.permutations(start, middle):
                steps = [Step("Reshape", (), middle), _transpose(perm, moved)]
                yield _spelling(size, *steps, *([] if moved == end else [Step("Reshape", (), end)]))

    def _blocks(self, start: tuple[Any, ...], end: tuple[Any, ...], size: Any, numbers: _Example) -> Iterator[Spelling]:
        """Yield DepthToSpace in both modes, and SpaceToDepth, with the block that the shapes have."""
        if len(start) != 4 or len(end) != 4:
            return
        (_, c, h, _), (_, d, g, _) = numbers.start, numbers.end
        if g > h and g % h == 0 and c == d * (g // h) ** 2:
            for mode in ("DCR", "CRD") if self._opset >= _MODES else ("DCR",):
                attributes: tuple[tuple[str, Any], ...] = (("blocksize", g // h),)
                if self._opset >= _MODES:
                    attributes += (("mode", mode),)
                yield _spelling(size, Step("DepthToSpace", attributes, end))
        elif h > g and g and h % g == 0 and d == c * (h // g) ** 2:
            yield _spelling(size, Step("SpaceToDepth", (("blocksize", h // g),), end))


_MODES = 11  # from this version on DepthToSpace has two modes


def _transpose(perm: tuple[int, ...], shape: tuple[Any, ...]) -> Step:
    return Step("Transpose", (("perm", list(perm)),), shape)


def _spelling(size: Any, *steps: Step) -> Spelling:
    cost = Cost(nodes=len(steps), transposes=sum(step.op == "Transpose" for step in steps))
    for step in steps:
        if step.op != "Reshape":
            cost.sizes[size] += 1
    return Spelling(steps, cost)


def copy_of(value: Tensor, below: Cost) -> Spelling | None:
    """Return the spelling of a value that equals its source and keeps its own name; None if it costs too much."""
    cost = Cost(nodes=1)
    return Spelling((Step("Identity", (), tuple(value.shape)),), cost) if _is_below(cost, below) else None


def _is_below(cost: Cost, other: Cost) -> bool:
    return cost.at_most(other) and cost.key() < other.key()


class _Example:
    """What the elements of a value are read from, at one choice of sizes."""

    def __init__(self, reads: np.ndarray[Any, Any], start: tuple[int, ...], sizes: Any) -> None:
        flat = reads.ravel()
        self.start, self.end, self._sizes = start, reads.shape, sizes
        self.is_identity = flat.size == prod(start) and bool((flat == np.arange(flat.size)).all())
        self._is_whole = flat.size == prod(start)
        self._at = np.unique(np.linspace(0, flat.size - 1, min(_PROBES, flat.size)).astype(np.int64))
        self._reads = flat[self._at]

    def permutations(
        self, start: Sequence[Any], first: Sequence[Any]
    ) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
        """Yield permutations of the axes of the shape *first* that move the example as the value does."""
        shape = self._numbers(first)
        if not self._is_whole or shape is None or len(shape) > _MAX_RANK or prod(shape) != prod(self.start):
            return
        found = 0
        for perm in itertools.permutations(range(len(shape))):
            if perm != tuple(range(len(perm))) and self._fits(shape, perm):
                yield perm, tuple(first[k] for k in perm)
                found += 1
                if found == _MAX_PROOFS:
                    return

    def permutations_to(self, end: Sequence[Any]) -> Iterator[tuple[tuple[Any, ...], tuple[int, ...]]]:
        """Yield shapes and the permutations of their axes that give the value, with its shape *end*."""
        if not self._is_whole or len(end) > _MAX_RANK:
            return
        found = 0
        for inverse in itertools.permutations(range(len(end))):
            perm = tuple(np.argsort(inverse).tolist())
            if perm != tuple(range(len(perm))) and self._fits([self.end[k] for k in inverse], perm):
                yield tuple(end[k] for k in inverse), perm
                found += 1
                if found == _MAX_PROOFS:
                    return

    def _fits(self, shape: Sequence[int], perm: Sequence[int]) -> bool:
        strides = [prod(shape[k + 1 :]) for k in range(len(shape))]
        digits = np.unravel_index(self._at, [shape[k] for k in perm])
        number = sum((d * strides[k] for d, k in zip(digits, perm, strict=True)), np.zeros_like(self._at))
        return bool((number == self._reads).all())

    def _numbers(self, shape: Sequence[Any]) -> tuple[int, ...] | None:
        found = []
        for e in shape:
            n = e if isinstance(e, int) else e.subs(self._sizes)
            if not _is_number(n) or int(n) <= 0:
                return None
            found.append(int(n))
        return tuple(found)


def _example(wanted: Tensor, leaf: Tensor) -> _Example | None:
    """Return what the value reads at sizes that are apart, if there are such; None if it is too large or fills."""

    def apart(bound: Tensor) -> bool:
        shape = [n for n, e in zip(bound.leaves()[0].shape, leaf.shape, strict=True) if not _is_number(e)]
        return len(set(shape)) == len(set(e for e in leaf.shape if not _is_number(e))) and min(shape, default=2) > 1

    plain = Tensor("x", None, leaf.extents, leaf.facts, key=leaf.key)
    t = rebased(wanted, leaf, plain)
    if t is None or t.leaves() != [plain]:
        return None
    if t.facts.dims:
        try:
            bound, values = small(t, apart, _SIZES)
        except InconclusiveError:
            bound, values = small(t)
    else:
        bound, values = t, {}
    (source,) = bound.leaves()
    if not all(isinstance(n, int) for n in (*source.shape, *bound.shape)):
        return None
    if not 0 < prod(source.shape) <= _MAX_ELEMENTS or not 0 < prod(bound.shape) <= _MAX_ELEMENTS:
        return None
    reads = interpret(bound, np.arange(1, prod(source.shape) + 1).reshape(source.shape)) - 1
    sizes = {s: values[str(s)] for e in (*wanted.shape, *leaf.shape) for s in _symbols(e) if str(s) in values}
    return _Example(reads, source.shape, sizes)


_SIZES = (2, 3, 4, 6, 5, 8, 7, 12)


def _symbols(e: Any) -> Iterable[Any]:
    return () if isinstance(e, int) else e.free_symbols
