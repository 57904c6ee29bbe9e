"""Compose two chains: the output of one becomes an input of the other."""

from __future__ import annotations

from collections.abc import Mapping

from symlayout.algebra.polynomial import Extent, names_of
from symlayout.errors import ShapeError
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Declared, Operand, index_map


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
    return then.replace({leaf.key: fitted}, values)


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
