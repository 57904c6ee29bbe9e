"""Spell the movement from one value to another as few operations of ONNX, each spelling proved for all sizes.

The composed map of the movement decides, as `movement_digits` finds it: no spelling of the original is looked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout import frontends
from symlayout.algebra.facts import Facts
from symlayout.compute.gather import take
from symlayout.errors import InconclusiveError, SymlayoutError
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import stack
from symlayout.ops.reshape import reshape
from symlayout.ops.tile import tile
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Cost, expanded
from symlayout.optimize_models.movement_digits import (
    Digits,
    Example,
    affine,
    digits_of,
    examples,
    is_number,
)
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.reshape_steps import (
    COMPUTED,
    ComputedExtent,
    Groups,
    Shape,
    added_ones,
    computed_shape,
    node_count,
    reshapes,
    target_shape,
)
from symlayout.optimize_models.spell_flips import turned
from symlayout.optimize_models.spell_windows import WINDOWS, stacked, tiled
from symlayout.proof.prove import Proof, Verdict, implies, prove_equal
from symlayout.tensors.chain import Tensor
from symlayout.tensors.chain_key import chain_key
from symlayout.tensors.stand_in import dims_between, stand_in

if TYPE_CHECKING:
    from onnx import NodeProto

_MAX_TABLE = 1 << 16  # indices of a Gather
_MAX_PROOFS = 8  # spellings of one movement that are tried to be proved
_POINTS = 1000  # at which a spelling is compared before the last attempt to prove it
_IN_PLACE = ("Reshape", "Unsqueeze", "Squeeze", COMPUTED)
_END = (1 << 63) - 1  # a bound of Slice that is past every extent
_MODES = 11  # from this version on DepthToSpace has two modes
_INPUTS = {"Slice": 10, "Unsqueeze": 13, "Squeeze": 13, "Split": 13}
"""From which version on operations take their numbers as inputs."""
_RESIZE = (("mode", "nearest"), ("coordinate_transformation_mode", "asymmetric"), ("nearest_mode", "floor"))
_OPTIONAL_REGION = 13  # the version from which on Resize needs no region of interest
_RESIZED = frozenset(map(np.dtype, (np.float32, np.int32, np.int8, np.uint8)))  # the types that runtimes resize


@dataclass(frozen=True, slots=True)
class Step:
    """One operation of a spelling.

    Attributes
    ----------
    op : str
        The operation of ONNX.
    attributes : tuple of (str, value)
        Its attributes, and the inputs that are constants, by their names.
    shape : tuple
        The extents of the result.
    """

    op: str
    attributes: tuple[tuple[str, Any], ...]
    shape: Shape

    def apply(self, x: Tensor) -> Tensor:
        """Return the step on a tensor."""
        given = dict(self.attributes)
        slice_of = frontends.find("onnx:Slice")
        if self.op in _IN_PLACE:
            return reshape(x, self.shape)
        if self.op == "Transpose":
            return transpose(x, given["perm"])
        if self.op == "Expand":
            return broadcast_to(x, self.shape)
        if self.op == "Tile":
            return tile(x, given["repeats"])
        if self.op == WINDOWS:
            return stack([slice_of(x, **dict(bounds)) for bounds in given["slices"]], given["axis"])
        if self.op == "Gather":
            taken = take(x, given["indices"], given["axis"])
            if taken is None:
                raise InconclusiveError("the index is few slices")
            return taken
        made: Tensor = frontends.find(f"onnx:{self.op}")(x, **given)
        return made

    def emit(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return the nodes that make *target* of *source*, which has this *shape*; *known* is a value and its shape."""
        if self.op == COMPUTED:
            return self._emit_computed(graph, source, shape, target, known)
        if self.op == WINDOWS:
            return self._emit_windows(graph, source, shape, target, known)
        attributes = dict(self.attributes)
        inputs: dict[str, Any] = {}
        if self.op == "Reshape":
            inputs["shape"] = target_shape(shape, self.shape)
        elif self.op == "Unsqueeze":
            attributes["axes"] = added_ones(shape, self.shape)
        elif self.op == "Squeeze":
            attributes["axes"] = added_ones(self.shape, shape)
        elif self.op == "Expand":
            inputs["shape"] = [int(e) if is_number(e) else 1 for e in self.shape]
        elif self.op in ("Tile", "Gather"):
            name = "repeats" if self.op == "Tile" else "indices"
            inputs[name] = attributes.pop(name)
        if graph.opset >= _INPUTS.get(self.op, _END):
            inputs, attributes = attributes, {}
        nodes: list[NodeProto] = []
        names = [source]
        for name, numbers in inputs.items():
            made, extra = graph.constant(np.array(numbers, np.int64), f"{target}_{name}")
            nodes += extra
            names.append(made)
        if self.op == "Resize":
            scales, nodes = graph.constant(np.array(attributes.pop("scales"), np.float32), f"{target}_scales")
            names += ["", scales]  # "" leaves out the region of interest
        return [*nodes, graph.node(self.op, names, target, **attributes)]

    def _emit_windows(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return slices of the source with an axis of extent 1, and what joins them there."""
        axis = dict(self.attributes)["axis"]
        wide = (*shape[:axis], 1, *shape[axis:])
        at = graph.new_name(f"{target}_unsqueeze")
        nodes = Step("Unsqueeze", (), wide).emit(graph, source, shape, at, known)
        pieces: list[str] = []
        if (tiles := tiled(shape, dict(self.attributes)["slices"])) is not None:
            pieces = [graph.new_name(f"{target}_split") for _ in range(tiles[1])]
            at_axis, size = tiles[0] + (tiles[0] >= axis), int(shape[tiles[0]]) // tiles[1]
            nodes += self._emit_split(graph, at, pieces, at_axis, size)
            return [*nodes, graph.node("Concat", pieces, target, axis=axis)]
        for given in dict(self.attributes)["slices"]:
            bounds = dict(given)
            bounds["axes"] = [k + (k >= axis) for k in bounds["axes"]]
            pieces.append(graph.new_name(f"{target}_slice"))
            nodes += Step("Slice", tuple(bounds.items()), ()).emit(graph, at, wide, pieces[-1], known)
        return [*nodes, graph.node("Concat", pieces, target, axis=axis)]

    def _emit_split(self, graph: EditedGraph, at: str, pieces: list[str], axis: int, size: int) -> list[NodeProto]:
        """Return a Split into pieces of one size, and the constant that it reads."""
        sizes = [size] * len(pieces)
        names, nodes, attributes = [at], list["NodeProto"](), {"split": sizes}
        if graph.opset >= _INPUTS["Split"]:
            made, nodes = graph.constant(np.array(sizes, np.int64), f"{pieces[0]}_sizes")
            names, attributes = [at, made], {}
        split = graph.node("Split", names, pieces[0], axis=axis, **attributes)
        split.output.extend(pieces[1:])
        return [*nodes, split]

    def _emit_computed(
        self, graph: EditedGraph, source: str, shape: Shape, target: str, known: tuple[str, Shape]
    ) -> list[NodeProto]:
        """Return a Reshape, and the nodes that compute its target from the shape of the known value."""
        parts = computed_shape(shape, self.shape, known[1])
        assert parts is not None
        nodes: list[NodeProto] = []
        wanted = emit_shape(graph, known[0], parts, target, nodes)
        return [*nodes, graph.node("Reshape", [source, wanted], target)]


def emit_shape(
    graph: EditedGraph, known: str, parts: Sequence[ComputedExtent], target: str, nodes: list[NodeProto]
) -> str:
    """Append the nodes that compute a shape from that of the value *known*, for *target*, and return its name."""

    def constant(*numbers: int) -> str:
        name, extra = graph.constant(np.array(numbers, np.int64), f"{target}_number")
        nodes.extend(extra)
        return name

    def put(op: str, *inputs: str, **attributes: Any) -> str:
        name = graph.new_name(f"{target}_{op.lower()}")
        nodes.append(graph.node(op, inputs, name, **attributes))
        return name

    extents, names = put("Shape", known), []
    for part in parts:
        if not part.axes:
            names.append(constant(part.times))
            continue
        at = put("Gather", extents, constant(*part.axes), axis=0)
        at = put("ReduceProd", at, keepdims=1) if len(part.axes) > 1 else at
        at = put("Mul", at, constant(part.times)) if part.times != 1 else at
        names.append(put("Div", at, constant(part.by)) if part.by != 1 else at)
    return put("Concat", *names, axis=0)


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


def rebased(t: Tensor, sources: Mapping[int, Tensor]) -> Tensor | None:
    """Return *t* with other tensors in the places of some, by their ``id``; None if it reads others too.

    Constants stay.
    """
    made: dict[int, Tensor] = dict(sources)
    waiting = [t]
    while waiting:
        at = waiting[-1]
        if id(at) in made:
            waiting.pop()
        elif at.values is not None:
            made[id(at)] = at
        elif not at.inputs:
            return None
        elif missing := [x for x in at.inputs if id(x) not in made]:
            waiting += missing
        else:
            made[id(at)] = at.remade(tuple(made[id(x)] for x in at.inputs), {})
            waiting.pop()
    return made[id(t)]


class Speller:
    """Finds the cheapest spelling of the movement between two values.

    What it found is remembered: a model that is read again after a rewrite moves most values as it did before.

    Parameters
    ----------
    opset : int
        The version of ONNX's operations.
    """

    def __init__(self, opset: int) -> None:
        self._opset = opset
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
        steps = (s for s in self._candidates(leaf, wanted, found) if s is not None and self._runs(s, source.dtype))
        candidates = [
            s
            for s in (_spelling(tuple(leaf.shape), width, each) for each in steps)
            if is_below(s.cost, below, wanted) and s.key() < below.key() and _is_simpler(s.key(), below.key())
        ]
        for candidate in sorted(candidates, key=Spelling.key)[:_MAX_PROOFS]:
            proof = self._proof(candidate, leaf, wanted)
            if proof is not None:
                return replace(candidate, proofs=(proof,))
        return None

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
            if tuple(t.shape) != step.shape:
                return None
            if step.op == "Reshape" and not accepts(before, step.shape, wanted.facts):
                return None
        proof = prove_equal(t, wanted, budget=_POINTS)
        return proof if proof.verdict is Verdict.PROVED and implies(wanted.facts, t.facts) else None

    # ------------------------------------------------------------------ candidates

    def _candidates(self, leaf: Tensor, wanted: Tensor, found: Sequence[Example]) -> Iterator[list[Step] | None]:
        start, end = tuple(leaf.shape), tuple(wanted.shape)
        if all(x.is_identity for x in found):
            yield [] if start == end else _only(("Reshape", end), start)
        digits = digits_of(found, start, end)
        if digits is not None:
            for known in (None, start):
                yield from self._of_digits(start, end, digits, known)
        else:  # a table says nothing of other sizes, and takes long to prove
            yield _gather(start, end, found)

    def _of_digits(self, start: Shape, end: Shape, digits: Digits, known: Shape | None) -> Iterator[list[Step] | None]:
        cut = _slice(start, digits)
        yield from self._in_pieces(start, end, digits, known)
        yield from self._in_turned_digits(start, end, digits, known)
        if cut is None:
            return
        steps, start, digits = cut
        if steps and self._opset < _INPUTS["Slice"]:
            return
        own = [k for k, d in enumerate(digits.digits) if d.source >= 0]
        if len(own) == len(digits.digits):
            for found in self._reorderings(start, end, digits, known):
                yield None if found is None else [*steps, *found]
        else:
            for found in _expansions(start, end, digits, known):
                yield None if found is None else [*steps, *found]

    def _in_pieces(self, start: Shape, end: Shape, digits: Digits, known: Shape | None) -> Iterator[list[Step] | None]:
        """Yield slices that are joined: what overlaps has no other spelling, and a transpose may be too many."""
        if self._opset < _INPUTS["Slice"] or any(d.source < 0 for d in digits.digits):
            return
        for axis, slices, shape, inner in stacked(start, digits, _one_slice):
            step = Step(WINDOWS, (("axis", axis), ("slices", slices)), shape)
            for found in self._reorderings(shape, end, inner, known):
                yield None if found is None else [step, *found]

    def _in_turned_digits(
        self, start: Shape, end: Shape, digits: Digits, known: Shape | None
    ) -> Iterator[list[Step] | None]:
        """Yield spellings that read digits backwards, each on an axis of its own."""
        found = turned(start, digits) if self._opset >= _INPUTS["Slice"] else None
        if found is None:
            return
        before, after, axes, inner = found
        extents = [d.extent for d in digits.digits]
        wide = tuple(prod((extents[k] for k in group), start=1) for group in after)
        first = reshapes(extents, before, after, known)
        ones, last = [-1] * len(axes), [-_END] * len(axes)
        step = Step("Slice", (("starts", ones), ("ends", last), ("axes", axes), ("steps", ones)), wide)
        if first is None or len(after) == len(start):  # whole axes are turned: the Slice of what is read does that
            return
        for rest in self._reorderings(wide, end, inner, known):
            yield None if rest is None else [*_steps(first), step, *rest]

    def _reorderings(
        self, start: Shape, end: Shape, digits: Digits, known: Shape | None
    ) -> Iterator[list[Step] | None]:
        """Yield spellings of a movement that reads each element once."""
        order = _by_stride(digits)
        extents = [d.extent for d in digits.digits]
        before, after = _axes(digits, len(start), len(end))
        for groups in _groupings(digits, order):
            yield _around(extents, before, groups, after, known)
        if sorted(before) == sorted(after):  # whole axes move
            yield _transpose(extents, _told_apart(before), _told_apart(after))
        yield from self._blocks(extents, order, before, after, known)

    def _blocks(
        self, extents: Sequence[Any], order: Sequence[int], before: Groups, after: Groups, known: Shape | None
    ) -> Iterator[list[Step] | None]:
        """Yield SpaceToDepth, and DepthToSpace in both modes, between reshapes to four axes and back."""
        for op, mode, source, target in _BLOCK_OPS:
            if mode == "CRD" and self._opset < _MODES:
                continue
            for named in _named("".join(source), order):
                if not (named["h"] and named["w"]):  # a block as large as the picture is a transpose
                    continue
                if [d for x in "".join(target) for d in named[x]] != sorted(order):
                    continue
                size, other = (extents[named[x][0]] for x in "ab")
                if not is_number(size) or size != other:
                    continue
                attributes: tuple[tuple[str, Any], ...] = (("blocksize", int(size)),)
                if op == "DepthToSpace" and self._opset >= _MODES:
                    attributes += (("mode", mode),)
                sides = [tuple(tuple(d for x in axis for d in named[x]) for axis in axes) for axes in (source, target)]
                shape = tuple(prod((extents[d] for d in g), start=1) for g in sides[1])
                first, last = (
                    reshapes(extents, before, sides[0], known),
                    reshapes(extents, sides[1], after, known),
                )
                if first is not None and last is not None:
                    yield [*_steps(first), Step(op, attributes, shape), *_steps(last)]


Group = tuple[int, ...]

_BLOCK_OPS = (  # operation, mode, axes before and after in digits: blocks are a and b
    ("SpaceToDepth", "", ("n", "c", "ha", "wb"), ("n", "abc", "h", "w")),
    ("DepthToSpace", "DCR", ("n", "abc", "h", "w"), ("n", "c", "ha", "wb")),
    ("DepthToSpace", "CRD", ("n", "cab", "h", "w"), ("n", "c", "ha", "wb")),
)


def _named(letters: str, order: Sequence[int]) -> Iterator[dict[str, Group]]:
    """Yield the ways to cut *order* into a group for each letter: one digit for a block, any number for others."""
    free = [x for x in letters if x not in "ab"]
    count = len(order) - len(letters) + len(free)
    for cuts in itertools.combinations_with_replacement(range(count + 1), len(free) - 1) if count >= 0 else ():
        bounds = (0, *cuts, count)
        sizes = dict.fromkeys("ab", 1) | {x: bounds[k + 1] - bounds[k] for k, x in enumerate(free)}
        named, at = {}, 0
        for x in letters:
            named[x] = tuple(order[at : at + sizes[x]])
            at += sizes[x]
        yield named


def _steps(found: Iterable[tuple[str, Shape]]) -> list[Step]:
    return [Step(op, (), shape) for op, shape in found]


def accepts(x: Tensor, shape: Shape, given: Facts) -> bool:
    """Return whether a constant reshapes *x* to *shape* for all sizes that *given* allows."""
    numbers = target_shape(x.shape, shape)
    if numbers is None:
        return False
    wanted = [x.shape[k] if n == 0 else n for k, n in enumerate(numbers)]
    return -1 not in wanted or implies(given, reshape(x, wanted).facts)


def _only(last: tuple[str, Shape], start: Shape) -> list[Step] | None:
    return None if target_shape(start, last[1]) is None else _steps([last])


def _by_stride(digits: Digits) -> list[int]:
    """Return the numbers of the digits that read, in the order of the input."""
    own = [k for k, d in enumerate(digits.digits) if d.source >= 0]
    return sorted(own, key=lambda k: -digits.digits[k].stride)


def _axes(digits: Digits, start: int, end: int) -> tuple[Groups, Groups]:
    """Return the digits of each axis of the input and of the output."""
    order, all_ = _by_stride(digits), range(len(digits.digits))
    before = tuple(tuple(k for k in order if digits.digits[k].source == axis) for axis in range(start))
    return before, tuple(tuple(k for k in all_ if digits.digits[k].target == axis) for axis in range(end))


def _runs(order: Sequence[int], may: Callable[[int, int], bool]) -> list[Group]:
    """Return the digits in groups that stay together: neighbours in the input and in the output."""
    runs: list[Group] = []
    for k in order:
        if runs and k == runs[-1][-1] + 1 and may(runs[-1][-1], k):
            runs[-1] = (*runs[-1], k)
        else:
            runs.append((k,))
    return runs


def _groupings(digits: Digits, order: Sequence[int]) -> Iterator[list[Group]]:
    """Yield the ways to group the digits: as far as they stay together, and not beyond axes."""
    all_ = digits.digits
    ways: list[Callable[[int, int], bool]] = [
        lambda _a, _b: True,
        lambda a, b: all_[a].source == all_[b].source,
        lambda a, b: all_[a].target == all_[b].target,
        lambda _a, _b: False,
    ]
    yield from {tuple(made): made for made in (_runs(order, way) for way in ways)}.values()


def _around(
    extents: Sequence[Any], before: Groups, groups: Sequence[Group], after: Groups, known: Shape | None
) -> list[Step] | None:
    """Return reshape, transpose, reshape, as far as they are needed."""
    moved = sorted(groups)
    first, last = (
        reshapes(extents, before, tuple(groups), known),
        reshapes(extents, tuple(moved), after, known),
    )
    if first is None or last is None:
        return None
    return [*_steps(first), *_transpose(extents, groups, moved), *_steps(last)]


def _told_apart(axes: Groups) -> list[Group]:
    """Return the groups with axes of extent 1 numbered: -1, -2 and so on."""
    ones = itertools.count(1)
    return [g or (-next(ones),) for g in axes]


def _transpose(extents: Sequence[Any], groups: Sequence[Group], moved: Sequence[Group]) -> list[Step]:
    if list(groups) == list(moved):
        return []
    shape = tuple(prod((extents[d] for d in g if d >= 0), start=1) for g in moved)
    return [Step("Transpose", (("perm", [groups.index(g) for g in moved]),), shape)]


def _expansions(start: Shape, end: Shape, digits: Digits, known: Shape | None) -> Iterator[list[Step] | None]:
    """Yield spellings of a movement that repeats elements."""
    extents = [d.extent for d in digits.digits]
    order = _by_stride(digits)
    repeated = [k for k, d in enumerate(digits.digits) if d.source < 0]
    if not all(is_number(extents[k]) for k in repeated):
        return
    before, after = _axes(digits, len(start), len(end))
    if len(before) == len(after) and all(
        now == (*(k for k in now if k in repeated), *old) for old, now in zip(before, after, strict=True)
    ):
        repeats = [int(prod(extents[k] for k in now if k in repeated)) for now in after]
        yield [Step("Tile", (("repeats", repeats),), end)]
    if len(before) == len(after) and all(
        now == (*old, *(k for k in now if k in repeated)) for old, now in zip(before, after, strict=True)
    ):
        scales = [int(prod(extents[k] for k in now if k in repeated)) for now in after]
        if all(scale.bit_count() == 1 for scale in scales):  # runtimes divide floats, which is exact for these
            yield [Step("Resize", (*_RESIZE, ("scales", scales)), end)]
    for groups in _groupings(digits, order):
        moved = sorted(groups)
        spread = sorted([*moved, *_runs(repeated, lambda _a, _b: True)])
        ones = tuple(() if g[0] in repeated else g for g in spread)
        wide = tuple(prod(extents[d] for d in g) for g in spread)
        turned = _transpose(extents, groups, moved)
        middle = tuple(groups) if turned else ones
        first, last = (
            reshapes(extents, before, middle, known),
            reshapes(extents, tuple(spread), after, known),
        )
        added = reshapes(extents, tuple(moved), ones, known) if turned else []
        if first is not None and last is not None and added is not None:
            yield [*_steps(first), *turned, *_steps(added), Step("Expand", (), wide), *_steps(last)]


def _slice(start: Shape, digits: Digits) -> tuple[list[Step], Shape, Digits] | None:
    """Return a slice of what is read, and the digits over it; None if that is no slice."""
    bounds: list[tuple[int, int, int, int]] = []  # axis, start, end, step
    shape = list(start)
    sizes = [list(s) for s in digits.starts]
    steps: dict[int, int] = {}
    for axis in range(len(start)):
        own = sorted(
            (k for k, d in enumerate(digits.digits) if d.source == axis), key=lambda k: abs(digits.digits[k].step)
        )
        unit = digits.digits[own[0]].step if own else 1
        counts = [1] * len(sizes)
        for k in own:
            d = digits.digits[k]
            if d.step != unit * counts[0]:
                return None
            steps[k] = counts[0]
            counts = [c * n for c, n in zip(counts, d.numbers, strict=True)]
        extent = prod((digits.digits[k].extent for k in own), start=1)
        firsts = [corner[axis] for corner in digits.corners]
        if unit != 1 or extent != start[axis]:
            bound = _bounds(firsts, unit, counts, [s[axis] for s in sizes])
            if bound is None:
                return None
            bounds.append((axis, *bound, unit))
        shape[axis] = extent
        for size, count in zip(sizes, counts, strict=True):
            size[axis] = count
    if not bounds:
        return [], start, digits
    made = tuple(
        d if d.source < 0 else replace(d, step=steps[k], stride=steps[k] * prod(sizes[0][d.source + 1 :]))
        for k, d in enumerate(digits.digits)
    )
    axes, firsts, ends, units = (list(column) for column in zip(*bounds, strict=True))
    given = (("starts", firsts), ("ends", ends), ("axes", axes), ("steps", units))
    corners = tuple((0,) * len(start) for _ in sizes)
    return [Step("Slice", given, tuple(shape))], tuple(shape), Digits(made, corners, tuple(map(tuple, sizes)))


def _one_slice(start: Shape, digits: Digits) -> tuple[tuple[tuple[str, Any], ...], Shape, Digits] | None:
    """Return the bounds of the slice that digits read, its shape, and the digits over it; None if they read none."""
    found = _slice(start, digits)
    return None if found is None or not found[0] else (found[0][0].attributes, *found[1:])


def _bounds(firsts: Sequence[int], unit: int, counts: Sequence[int], sizes: Sequence[int]) -> tuple[int, int] | None:
    """Return constants for the start and the end of a slice, counted from either end; None if none fit all examples."""
    begin = _constant(firsts, sizes)
    past = [f + unit * c for f, c in zip(firsts, counts, strict=True)]
    if unit > 0 and all(p >= n for p, n in zip(past, sizes, strict=True)):
        stop: int | None = _END
    elif unit < 0 and all(p < 0 for p in past):
        stop = -_END
    else:
        stop = _constant([p - unit + (1 if unit > 0 else -1) for p in past], sizes)
    return None if begin is None or stop is None else (begin, stop)


def _constant(places: Sequence[int], sizes: Sequence[int]) -> int | None:
    """Return a place counted from the start, or from the end, as a constant."""
    if len(set(places)) == 1:
        return places[0]
    from_end = {p - n for p, n in zip(places, sizes, strict=True)}
    return from_end.pop() if len(from_end) == 1 and max(from_end) < 0 else None


def _gather(start: Shape, end: Shape, found: Sequence[Example]) -> list[Step] | None:
    """Return a gather by a constant index along the fewest axes, which become one."""
    tables = [_table(x, start) for x in found]
    first = tables[0]
    if first is None or any(t is None or t[:2] != first[:2] or not np.array_equal(t[2], first[2]) for t in tables):
        return None
    low, high, index = first
    if not 0 < index.size <= _MAX_TABLE:
        return None
    before, whole, after = start[:low], prod(start[low:high]), start[high:]
    runs = affine(index)
    shape = tuple(n for n, _ in reversed(runs)) if runs else (index.size,)
    inner = end[low : len(end) - len(after)]
    if all(map(is_number, inner)) and prod(inner) == index.size:
        shape = tuple(map(int, inner))
    steps = []
    flat = (*before, whole, *after)
    if flat != start:
        if target_shape(start, flat) is None:
            return None
        steps.append(Step("Reshape", (), flat))
    made = (*before, *shape, *after)
    steps.append(Step("Gather", (("indices", index.reshape(shape)), ("axis", low)), made))
    if made != end:
        if target_shape(made, end) is None:
            return None
        steps.append(Step("Reshape", (), end))
    return steps


def _table(x: Example, start: Shape) -> tuple[int, int, np.ndarray[Any, Any]] | None:
    """Return the axes of a gather in an example, and its index."""
    best: tuple[int, int, np.ndarray[Any, Any]] | None = None
    for low in range(len(start)):
        for high in range(low + 1, len(start) + 1):
            if not all(is_number(e) for e in start[low:high]):
                break
            outer, whole, inner = prod(x.start[:low]), prod(x.start[low:high]), prod(x.start[high:])
            if x.reads.size % (outer * inner):
                continue
            reads = x.reads.reshape(outer, -1, inner)
            index = reads[0, :, 0] // inner
            wanted = np.arange(outer)[:, None, None] * whole * inner + index[:, None] * inner + np.arange(inner)
            if index.min() >= 0 and index.max() < whole and (reads == wanted).all():
                if best is None or index.size < best[2].size:
                    best = low, high, index
                break
    return best


def _spelling(start: Shape, width: int, steps: Sequence[Step]) -> Spelling:
    shapes = [start, *(step.shape for step in steps)]
    nodes = sum(node_count((step.op, step.shape), shape, start) for step, shape in zip(steps, shapes, strict=False))
    for step, shape in zip(steps, shapes, strict=False):
        if step.op == WINDOWS:
            slices = dict(step.attributes)["slices"]
            nodes += 1 + (len(slices) if tiled(shape, slices) is None else 1)
    cost = Cost(nodes=nodes, transposes=sum(step.op == "Transpose" for step in steps))
    table = 0
    for step in steps:
        if step.op not in _IN_PLACE:
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
