"""Values that are the same constant for all sizes and all inputs: they become initializers.

A value is one if the reader computes its bits, and if every runtime computes the same bits: integers, what is moved,
and floats that IEEE 754 rounds in one way.  What is stated twice as a node and an initializer, as shared weights are,
is read from the initializer.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.deadlines import work
from symlayout.errors import FormatError, SymlayoutError, one_line
from symlayout.maps.gather_elements import READ_PER_GOAL
from symlayout.maps.interpreter import interpret
from symlayout.models.model import Model
from symlayout.models.subgraph_keys import CONSTANTS, STANDARD, constant_of, draws
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten, ends_of
from symlayout.tensors.chain import Tensor
from symlayout.walks import Walk, settle

if TYPE_CHECKING:
    from onnx import NodeProto

_SMALL = 1 << 16  # bytes of a new constant; larger ones take the place of a constant of their size
_LARGE = 1 << 26  # bytes of a constant that is moved


def fold_constants(graph: EditedGraph, model: Model, kept: Set[str]) -> list[Rewritten]:
    """Give the graph initializers in the places of nodes whose values are known, and return what was changed.

    Nothing is proved here.

    Parameters
    ----------
    model : Model
        What the graph is a copy of, read so that constants have the same bits in all runtimes.
    kept : set of str
        Values that are made as they are.
    """
    if not graph.has_free_initializers:
        return []
    constants = {t.name for t in graph.message.graph.initializer} - {v.name for v in graph.message.graph.input}
    changes = _without_copies(graph, constants, kept | graph.outputs | graph.captured())
    values = _known_values(graph, model, kept | graph.outputs)
    known = [node for node in graph.nodes if values.keys() >= {name for name in node.output if name} != set()]
    made = {name: node for node in known for name in node.output if name}
    needed = graph.captured() | graph.outputs
    needed.update(name for node in graph.nodes if id(node) not in {id(n) for n in known} for name in node.input)
    stated = {t.name: t for t in graph.message.graph.initializer if t.name in constants and not t.data_location}
    while True:
        wanted = [name for name, node in made.items() if name in needed and not _is_stated(node)]
        sizes = {name: len(t.raw_data) for name, t in stated.items() if name not in needed}
        large = next((n for n in wanted if not _is_worth_its_bytes(n, values, made, sizes, needed)), None)
        if large is None:
            break
        needed.update(made[large].input)
        for name in made[large].output:
            made.pop(name, None)
    for name in wanted:
        graph.add_initializer(values[name], name)
        changes.append(Rewritten(name, f"{one_line(name)}: {made[name].op_type} is a constant", ends=(name,)))
    written = [node for node in known if _is_stated(node) and not needed.isdisjoint(node.output)]
    for node in written:
        _write(graph, node)
    if written:
        first = str(written[0].output[0])
        text = f"{one_line(first)}: {len(written)} nodes that state constants became initializers"
        changes.append(Rewritten(first, text, ends=(first,)))
    gone = {id(node) for node in made.values()}
    graph.nodes[:] = [node for node in graph.nodes if id(node) not in gone]
    return changes


def _without_copies(graph: EditedGraph, constants: Set[str], kept: Set[str]) -> list[Rewritten]:
    """Let what reads a copy of an initializer read that; return what was changed."""
    source: dict[str, str] = {}
    for node in graph.nodes:
        if graph.is_standard(node, "Identity") and node.output[0] not in kept:
            read = source.get(node.input[0], node.input[0])
            if read in constants:
                source[node.output[0]] = read
    readers = graph.readers()
    graph.redirect_all(source)
    graph.nodes[:] = [node for node in graph.nodes if source.keys().isdisjoint(node.output)]
    return [
        Rewritten(
            name, f"{one_line(name)}: {one_line(read)}, of which it is a copy", ends=ends_of(readers.get(name, ()))
        )
        for name, read in source.items()
    ]


def _known_values(graph: EditedGraph, model: Model, kept: Set[str]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the constants that nodes make, of which all runtimes compute the same bits."""
    found: dict[str, np.ndarray[Any, Any]] = {}
    by_runtime = set(model.tensors.by_runtime)  # constants, and the constants that are made of them
    stated = sum(len(t.raw_data) for t in graph.message.graph.initializer)
    stated += sum(8 * node.ByteSize() for node in graph.nodes if _is_stated(node))  # an integer has a byte or more
    most = min(max(stated, _SMALL), _LARGE)  # a larger one takes the place of none (see `_is_worth_its_bytes`)
    known: dict[Tensor, int | None] = {}
    for node in graph.nodes:
        if draws(node) or (_is_stated(node) and not {a.name for a in node.attribute} <= set(CONSTANTS)):
            continue
        for name in node.output:
            try:
                t = model.tensors.shaped.get(name)
            except FormatError:  # numbers of dims that no value shows
                continue
            values = None if t is None or t.dtype is None or t.dtype.kind not in "biuf" else _values(t, most, known)
            if values is None:
                continue
            if not by_runtime.isdisjoint(node.input):
                by_runtime.add(name)
            if name not in by_runtime and name not in kept:
                found[name] = values
    return found


def _values(t: Tensor, most: int, known: dict[Tensor, int | None]) -> np.ndarray[Any, Any] | None:
    """Return the elements of a constant, or of one that is moved and has at most so many bytes; None of others."""
    if t.values is not None:
        return np.asarray(t.values)
    if any(not isinstance(e, int) for e in t.extents) or prod(t.extents) * t.dtype.itemsize > most:  # type: ignore
        return None
    if (steps := _steps(t, known)) is None:
        return None
    work(steps * (1 + prod(t.extents) // READ_PER_GOAL))  # type: ignore[arg-type]
    try:
        return np.asarray(interpret(t))
    except SymlayoutError:
        return None


def _steps(t: Tensor, known: dict[Tensor, int | None]) -> int | None:
    """Return how many operations move the elements of constants to *t*, one after the other; None of other values.

    *known* has the answers so far, so that a chain is looked at once.
    """

    def parts(at: Tensor) -> tuple[Tensor, ...]:
        return at.inputs if at.values is None and at.body is None else ()

    def made(at: Tensor) -> int | None:
        if at.values is not None:
            return 0
        steps = [known[x] for x in parts(at)]
        return None if None in steps or not steps else 1 + max(n for n in steps if n is not None)

    return settle(t, parts, known, made)


def _is_stated(node: NodeProto) -> bool:
    return bool(node.op_type == "Constant" and node.domain in STANDARD)


def _is_worth_its_bytes(
    name: str,
    values: Mapping[str, np.ndarray[Any, Any]],
    made: Mapping[str, NodeProto],
    sizes: Mapping[str, int],
    needed: Set[str],
) -> bool:
    """Return whether a constant is small, or takes the place of some that go and are as large together."""
    if values[name].nbytes <= _SMALL:
        return True
    gone, walk = 0, Walk([name])
    for at in walk:
        gone += sizes.get(at, 0)
        if at in made and _is_stated(made[at]):
            gone += values[at].nbytes if at not in needed else 0
        elif at in made:
            walk.to(made[at].input)
    return values[name].nbytes <= gone


def _write(graph: EditedGraph, node: NodeProto) -> None:
    """Give the graph an initializer in the place of a Constant."""
    (attribute,) = node.attribute
    if attribute.name == "value":
        tensor = graph.message.graph.initializer.add()
        tensor.CopyFrom(attribute.t)
        tensor.name = node.output[0]
    else:
        graph.add_initializer(constant_of(node), node.output[0])
