"""Compose chains: outputs of some become inputs of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from symlayout.algebra.polynomial import Extent, names_of, substitute
from symlayout.errors import ArrayError, FormatError, InconclusiveError, ShapeError, shown
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.declaration import Declared, Operand, Replacement, index_map
from symlayout.tensors.element_types import type_name


def compose(first: Tensor, then: Tensor, source: str | None = None) -> Tensor:
    """Return the chain *then* with *first* in the place of its input *source*, or of its only input.

    A dim of *then* that is an extent of that input gets its value from the shape of *first*.  Any other dim of *then*
    means the dim of that name in *first*.

    Raises
    ------
    ShapeError
        ``source`` if no input, or several, match; ``rank`` or ``size_mismatch`` if the shapes differ; ``dim_conflict``
        if two dims share a name.
    """
    leaf = _leaf(then, source)
    demand_rank(first, leaf)
    values: dict[str, Extent] = {}
    for e, given in zip(leaf.extents, first.extents, strict=True):
        (name,) = names_of(e) if len(names_of(e)) == 1 else ("",)
        if name in leaf.facts.dims and leaf.facts.to_user(e) == (e, 1) and str(e) == name:
            values.setdefault(name, given)
    fitted = demand_shape(first, leaf, values)
    return then.replace({leaf.key: fitted}, Replacement(values, first.facts.dims))


def _leaf(t: Tensor, source: str | None) -> Tensor:
    leaves = [leaf for leaf in t.leaves() if source in (None, leaf.name)]
    if len(leaves) != 1:
        known = ", ".join(leaf.name for leaf in t.leaves())
        count = f"{t!r} has {len(t.leaves())} inputs"
        rule = f"compose: {count if source is None else f'{source} does not name one input'}"
        raise ShapeError(f"{rule}\n  known: {known}\n  help: name one that occurs once", "source")
    return leaves[0]


def demand_rank(x: Tensor, like: Tensor) -> None:
    """Raise ``rank`` unless *x* has the rank of *like*."""
    if x.rank != like.rank:
        raise ShapeError(f"{x!r} has rank {x.rank}, expected {like.rank}, as of {like!r}", "rank")


def demand_shape(x: Tensor, like: Tensor, values: Mapping[str, Extent] | None = None) -> Tensor:
    """Return *x*, and require that it has the shape of *like* and that its dims meet their bounds in *like*.

    *values* gives dims of *like* in the symbols of *x*.
    """
    demand_rank(x, like)
    given = dict(values or {})
    demanded = apply(composed, (x,), (like, given), {}, given, own=True)
    return x if demanded.facts.requirements == x.facts.requirements else demanded


def composed(z: Operand, like: Tensor, given: Mapping[str, Extent]) -> Declared:
    """Return *z*, and require the shape of *like*, with the *given* values for dims of *like*."""
    for name, value in given.items():
        dim = like.facts.dims[name]
        for e, rule in dim.limits(value):
            z.require(e, "infeasible", f"{rule} fails for {{}}", value)
        z.divide(value, dim.multiple_of, "infeasible")
    for axis, (n, e) in enumerate(zip(z.shape, like.extents, strict=True)):
        expected = z.translate(e, like.facts)
        z.require_equal(n, expected, "size_mismatch", "axis {} has extent {}, expected {}", axis, n, expected)
    return index_map(z.shape, lambda *i: i)


def called(inputs: Mapping[str, Any], outputs: Mapping[str, Any], given: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return *outputs* where some *inputs* are other tensors: see `Model.__call__`."""
    for name in given:
        if name not in inputs:
            raise FormatError(f"the model has no input {shown(name)}")
    if unknown := [n for ends in (inputs, outputs) for n, t in ends.items() if not isinstance(t, Tensor)]:
        raise ShapeError(f"the rank of {shown(unknown[0])} is not known", "unknown_rank")
    nodes = graph_of(outputs.values())
    own = {name for t in inputs.values() for name in t.facts.dims}
    if others := sorted({name for t in nodes for name in t.facts.dims} - own):
        raise InconclusiveError(f"{others[0]} depends on data, and no call says what it is")
    values = _dims_of({name: (inputs[name], t) for name, t in given.items()})
    leaves = {inputs[name].key: t for name, t in given.items()}
    made: dict[int, Tensor] = {}
    for node in nodes:
        leaf = leaves.get(node.key) if node.again is None else None
        made[id(node)] = leaf or node.remade(tuple(made[id(x)] for x in node.inputs), values)
    return {name: made[id(t)] for name, t in outputs.items()}


def _dims_of(pairs: Mapping[str, tuple[Tensor, Tensor]]) -> Replacement:
    """Return what the dims of inputs are, where other tensors are in their places, and check that these fit."""
    values: dict[str, Extent] = {}
    for name, (own, t) in pairs.items():
        if own.rank != t.rank:
            raise ShapeError(f"input {shown(name)} has rank {own.rank}, and {t.rank} is given", "size_mismatch")
        if own.dtype is not None and t.dtype is not None and own.dtype != t.dtype:
            types = f"{type_name(own.dtype)}, and {type_name(t.dtype)} is given"
            raise ArrayError(f"input {shown(name)} has dtype {types}")
        for e, n in zip(own.extents, t.extents, strict=True):
            names = names_of(e)
            if len(names) == 1 and str(e) in names:
                values.setdefault(str(e), n)
    brought_in = {dim: d for _, t in pairs.values() for dim, d in t.facts.dims.items()}
    found = Replacement(values, brought_in)
    for name, (own, t) in pairs.items():
        for axis, (e, n) in enumerate(zip(own.extents, t.extents, strict=True)):
            expected: Any = e if isinstance(e, int) else substitute(e, found)
            if expected != n and t.facts.reduce(expected) != t.facts.reduce(n):
                sizes = f"{own.facts.spell(e)}, and {t.facts.spell(n)} is given"
                raise ShapeError(f"axis {axis} of input {shown(name)} has extent {sizes}", "size_mismatch")
    return found
