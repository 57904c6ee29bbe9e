"""Values of one shape that are joined along another axis, where what is moved after needs less then.

A channel shuffle after a Concat of two halves is a Concat along an axis of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from symlayout.deadlines import work
from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Cost, Movement, cost_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.reshape_steps import Shape
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

    _Readers = Mapping[str, Sequence[NodeProto]]

_MAX_CHAIN = 8  # moves after a Concat that are looked at


def join_elsewhere(
    model: Model, untouched: Set[str] = frozenset(), speller: Speller | None = None
) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with values joined along the axis that leaves the least to move, and what was changed.

    Nothing is proved here of the model; each spelling of what is moved after is.

    Parameters
    ----------
    untouched : set of str
        Values that are made as they are.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph, movement = EditedGraph(model.source), Movement(model)
    speller = speller or Speller(graph.opset)
    needed = graph.outputs | graph.captured()
    changes: list[Rewritten] = []
    touched: set[str] = set()
    readers = graph.readers()
    for node in list(graph.nodes):
        if not graph.is_standard(node, "Concat") or touched & set(node.input):
            continue
        best: tuple[tuple[int, int, int], str, int, Spelling] | None = None
        if not _is_of_equals(node, movement):
            continue
        for name, below in _chain(readers, node, movement, needed, untouched):
            for axis, found in _spellings(speller, node, name, movement, below):
                key = tuple(a - b for a, b in zip(found.key(), below.key(), strict=True))
                if best is None or key < best[0]:
                    best = (key[0], key[1], key[2]), name, axis, found
        if best is not None:
            _, name, axis, found = best
            _apply(graph, node, name, axis, found, movement)
            readers = graph.readers()
            work(len(graph.nodes))
            touched.add(name)
            made = ", ".join(s.op for s in found.steps) or "nothing"
            changes.append(
                Rewritten(name, f"{one_line(name)}: Concat along an axis of its own, then {made}", ends=(name,))
            )
    return graph.finish(), changes


def _chain(
    readers: _Readers, node: NodeProto, movement: Movement, needed: Set[str], untouched: Set[str]
) -> Iterator[tuple[str, Cost]]:
    """Yield the values that the output of a node is moved to, up to one that is needed, and what that costs.

    If such a value is made in another way, nobody needs the node any more.
    """
    name, moves = node.output[0], []
    for _ in range(_MAX_CHAIN):
        if name in needed or name in untouched:
            return
        following = [
            n for n in readers.get(name, []) if len(n.output) == 1 and movement.sources.get(n.output[0]) == [name]
        ]
        if len(following) != 1:
            return
        name = following[0].output[0]
        moves.append(following[0])
        if name not in untouched and not _is_needed(needed, readers, node, following[0]):
            yield name, cost_of(moves, movement.tensors, movement.sources)


def _is_of_equals(node: NodeProto, movement: Movement) -> bool:
    """Return whether a Concat joins several values of one shape."""
    shapes = {None if (t := movement.tensors.get(x)) is None else tuple(t.shape) for x in node.input}
    known = movement.tensors.get(node.output[0]) is not None
    return known and len(node.input) > 1 and len(shapes) == 1 and shapes.isdisjoint((None, ()))


def _is_needed(needed: Set[str], readers: _Readers, node: NodeProto, without: NodeProto) -> bool:
    """Return whether the *needed* values of a graph need a node if another one is not run."""
    waiting, seen = [node], {id(node), id(without)}
    while waiting:
        at = waiting.pop()
        work(1)
        if any(out in needed for out in at.output):
            return True
        for reader in (r for out in at.output for r in readers.get(out, [])):
            if id(reader) not in seen:
                seen.add(id(reader))
                waiting.append(reader)
    return False


def _spellings(
    speller: Speller, node: NodeProto, name: str, movement: Movement, below: Cost
) -> Iterator[tuple[int, Spelling]]:
    """Yield the axes along which equal parts may be joined, and how the value is moved from that."""
    first, whole, value = (movement.tensors[n] for n in (node.input[0], node.output[0], name))
    assert first is not None
    assert whole is not None
    assert value is not None
    shape = tuple(first.shape)
    old = next(a.i for a in node.attribute if a.name == "axis") % len(shape)
    for axis in range(len(shape) + 1):
        if axis == old:
            continue
        wide = (*shape[:axis], len(node.input), *shape[axis:])
        extents = (*first.extents[:axis], len(node.input), *first.extents[axis:])
        leaf = Tensor("x", whole.dtype, extents, whole.facts, key="joined values")
        rest = [k for k in range(len(wide)) if k != axis]
        try:
            joined = reshape(transpose(leaf, [*rest[:old], axis, *rest[old:]]), whole.shape)
        except SymlayoutError:
            return
        wanted = rebased(value, {id(whole): joined})
        found = None if wanted is None else speller.cheapest(leaf, wanted, below)
        if found is not None:
            yield axis, found


def _apply(graph: EditedGraph, node: NodeProto, name: str, axis: int, spelling: Spelling, movement: Movement) -> None:
    """Make a value of the parts of a Concat, joined along a new axis."""
    producer = graph.producers()[name]
    producer.output[0] = graph.new_name(f"{name}_before")
    joined = graph.new_name(f"{name}_joined") if spelling.steps else name
    new: list[NodeProto] = []
    pieces: dict[str, str] = {}
    shape: Shape = ()
    for part in node.input:
        t = movement.tensors[part]
        assert t is not None
        shape = tuple(t.shape)
        if part not in pieces:
            pieces[part] = graph.new_name(f"{name}_part")
            step = Step("Unsqueeze", (), (*shape[:axis], 1, *shape[axis:]))
            new += step.emit(graph, part, shape, pieces[part], (part, shape))
    new.append(graph.node("Concat", [pieces[part] for part in node.input], joined, axis=axis))
    wide = (*shape[:axis], len(node.input), *shape[axis:])
    graph.insert([*new, *spelling.emit(graph, joined, wide, name)], before=producer)
