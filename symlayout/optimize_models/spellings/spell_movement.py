"""Spell the movement from one value to another as few operations of ONNX, each spelling proved for all sizes.

The composed map of the movement decides, as `movement_digits` finds it: no spelling of the original is looked for.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.errors import SymlayoutError
from symlayout.language.sympy_bridge import to_extent
from symlayout.ops.reshape import reshape
from symlayout.optimize_models.movement_cost import Cost, expanded
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.computed_bounds import Bounds, Places
from symlayout.optimize_models.spellings.movement_digits import examples
from symlayout.optimize_models.spellings.movement_steps import IN_PLACE, Step
from symlayout.optimize_models.spellings.reshape_steps import Shape, node_count, target_shape
from symlayout.optimize_models.spellings.spell_windows import WINDOWS, tiled
from symlayout.optimize_models.spellings.spelling_candidates import candidates_of
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.chain_key import chain_key
from symlayout.tensors.requirements import implies
from symlayout.tensors.stand_in import dims_between, rebased, stand_in

if TYPE_CHECKING:
    from onnx import NodeProto

_MAX_PROOFS = 8  # spellings of one movement that are tried to be proved
_POINTS = 1000  # at which a spelling is compared before the last attempt to prove it
_OPTIONAL_REGION = 13  # the version from which on Resize needs no region of interest
_RESIZED = frozenset(map(np.dtype, (np.float32, np.int32, np.int8, np.uint8)))  # the types that runtimes resize


@dataclass(frozen=True, slots=True)
class Spelling:
    """Operations that move a source to a value.

    Attributes
    ----------
    steps : tuple of Step
        The operations in order; none if the value is the source.
    cost : Cost
        What they cost.
    table : int
        The bytes of the indices that they read.
    proofs : tuple of Proof
        The proof that they make the value.
    """

    steps: tuple[Step, ...]
    cost: Cost
    table: int = 0
    proofs: tuple[Proof, ...] = ()

    def key(self) -> tuple[int, int, int]:
        """Return what to minimise: bytes, then transposes, then nodes."""
        moved, transposes, nodes = self.cost.key()
        return moved + self.table, transposes, nodes

    def emit(self, graph: EditedGraph, source: str, shape: Sequence[Any], target: str) -> list[NodeProto]:
        """Return the nodes that move *source*, which has this *shape*, to *target*."""
        nodes: list[NodeProto] = []
        at, now = source, tuple(shape)
        for k, step in enumerate(self.steps):
            output = target if k == len(self.steps) - 1 else graph.new_name(f"{target}_{step.op.lower().split()[-1]}")
            nodes += step.emit(graph, at, now, output, (source, tuple(shape)))
            at, now = output, step.shape
        return nodes


class Speller:
    """Finds the cheapest spelling of the movement between two values.

    What it found is remembered: a model that is read again after a rewrite moves most values as it did before.

    Parameters
    ----------
    opset : int
        The version of ONNX's operations.
    places : mapping
        The dims that a model's inputs have as extents: an input, and the axis.  Nodes compute bounds of slices by them.
    """

    def __init__(self, opset: int, places: Places | None = None) -> None:
        self._opset, self._places = opset, places or {}
        self._known: dict[Hashable, Spelling | None] = {}
        self._leaves: dict[Hashable, tuple[Facts, Tensor]] = {}  # the facts are kept, since the key has their id

    def cheapest(self, source: Tensor, value: Tensor, below: Cost) -> Spelling | None:
        """Return the cheapest spelling that is proved and costs less than *below*; None if none was found.

        Parameters
        ----------
        source, value : Tensor
            The value is moved from the source.
        """
        leaf = self._stand_in(source, value)
        chain = chain_key(source, value, leaf)
        if chain is None:
            return self._found(source, value, leaf, below)
        key = chain, below.transposes, below.nodes, frozenset(below.sizes.items())
        if key not in self._known:
            self._known[key] = self._found(source, value, leaf, below)
        return self._known[key]

    def _stand_in(self, source: Tensor, value: Tensor) -> Tensor:
        """Return a leaf in the place of the source, with the facts that the movement needs."""
        dims = frozenset(dims_between(source, value))
        key = id(source.facts), source.dtype, source.extents, dims
        if key not in self._leaves:
            self._leaves[key] = source.facts, stand_in(source, dims, "stand-in")
        return self._leaves[key][1]

    def _found(self, source: Tensor, value: Tensor, leaf: Tensor, below: Cost) -> Spelling | None:
        """Return what `cheapest` does, found anew."""
        bare = Tensor("x", None, leaf.extents, leaf.facts, key=leaf.key)
        wanted, moved = (rebased(value, {id(source): t}) for t in (leaf, bare))
        if wanted is None or moved is None or moved.leaves() != [bare]:
            return None
        found = examples(moved)
        if not found:
            return None
        width = 4 if source.dtype is None else source.dtype.itemsize
        bounds = Bounds(moved, self._places, self._opset) if self._places else None
        steps = (
            [self._placed(step) for step in s]
            for s in candidates_of(tuple(leaf.shape), tuple(wanted.shape), found, self._opset, bounds)
            if s is not None and self._runs(s, source.dtype)
        )
        candidates = [
            s
            for s in (_spelling(tuple(leaf.shape), width, each, self._opset) for each in steps)
            if is_below(s.cost, below, wanted) and s.key() < below.key() and _is_simpler(s.key(), below.key())
        ]
        for candidate in sorted(candidates, key=Spelling.key)[:_MAX_PROOFS]:
            proof = self._proof(candidate, leaf, wanted)
            if proof is not None:
                return replace(candidate, proofs=(proof,))
        return None

    def _placed(self, step: Step) -> Step:
        """Return a step that knows where the dims are that it computes with."""
        return replace(step, places=self._places) if step.is_computed_slice else step

    def _runs(self, steps: Iterable[Step], dtype: np.dtype[Any] | None) -> bool:
        """Return whether the operations take elements of this type, in the opset at hand."""
        resizes = any(step.op == "Resize" for step in steps)
        return not resizes or (dtype in _RESIZED and self._opset >= _OPTIONAL_REGION)

    def _proof(self, candidate: Spelling, leaf: Tensor, wanted: Tensor) -> Proof | None:
        """Return the proof that a spelling is equal for all sizes; None if it has none.

        The spelling is valid for all sizes of the original then.
        """
        t = leaf
        for step in candidate.steps:
            before = t
            try:
                t = step.apply(t)
            except SymlayoutError:  # the candidate is not valid for these shapes
                return None
            if tuple(t.shape) != step.shape and not (step.is_computed_slice and have_one_shape(t, step.shape)):
                return None
            if step.op == "Reshape" and not accepts(before, step.shape, wanted.facts):
                return None
        proof = prove_equal(t, wanted, budget=_POINTS)
        return proof if proof.verdict is Verdict.PROVED and implies(wanted.facts, t.facts) else None


def accepts(x: Tensor, shape: Shape, given: Facts) -> bool:
    """Return whether a constant reshapes *x* to *shape* for all sizes that *given* allows."""
    numbers = target_shape(x.shape, shape)
    if numbers is None:
        return False
    wanted = [x.shape[k] if n == 0 else n for k, n in enumerate(numbers)]
    return -1 not in wanted or implies(given, reshape(x, wanted).facts)


def have_one_shape(t: Tensor, shape: Shape) -> bool:
    """Return whether *t* is proved to have a shape, in whatever form its extents are written."""
    facts = t.facts.fork()
    ends = [to_extent(e, facts) for e in shape]
    return len(ends) == t.rank and all(
        facts.vanishes(facts.reduce(a - b)) for a, b in zip(t.extents, ends, strict=True)
    )


def _spelling(start: Shape, width: int, steps: Sequence[Step], opset: int) -> Spelling:
    shapes = [start, *(step.shape for step in steps)]
    nodes = sum(node_count((step.op, step.shape), shape, start) for step, shape in zip(steps, shapes, strict=False))
    for step, shape in zip(steps, shapes, strict=False):
        if step.is_computed_slice:
            nodes += step.nodes_of_bounds(opset)
        if step.op == WINDOWS:
            slices = dict(step.attributes)["slices"]
            nodes += 1 + (len(slices) if tiled(shape, slices) is None else 1)
    cost = Cost(nodes=nodes, transposes=sum(step.op == "Transpose" for step in steps))
    table = 0
    for step in steps:
        if step.op not in IN_PLACE:
            size = prod(step.shape, start=width)
            cost.sizes[expanded(size)] += 1
            if step.op == WINDOWS:
                pieces = step.shape[dict(step.attributes)["axis"]]
                cost.sizes[expanded(size / pieces if not isinstance(size, int) else size // pieces)] += pieces
        if step.op == "Gather":
            table += dict(step.attributes)["indices"].nbytes
    return Spelling(tuple(steps), cost, table)


def _is_simpler(key: tuple[int, int, int], other: tuple[int, int, int]) -> bool:
    """Return whether fewer bytes are moved, or no more nodes do it: a transpose of other names saves nothing."""
    return key[0] < other[0] or key[2] <= other[2]


def copy_of(value: Tensor, below: Cost, found: Spelling) -> Spelling | None:
    """Return the spelling of a value that is *found* to equal its source and keeps its own name.

    None if it costs too much.
    """
    cost = Cost(nodes=1)
    step = Step("Identity", (), tuple(value.shape))
    return Spelling((step,), cost, proofs=found.proofs) if is_below(cost, below, value) else None


def is_below(cost: Cost, other: Cost, value: Tensor) -> bool:
    """Return whether one cost is at most another for all sizes that *value* allows, and less."""
    if cost.transposes > other.transposes or not cost.key() < other.key():
        return False
    return cost.at_most(other) or cost.at_most(other, value.requires)  # to find what is required takes long
