"""Two models over one set of inputs, with what each demands of the sizes."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Container, Iterable
from dataclasses import dataclass
from typing import Any

from symlayout.algebra.facts import Dim, Facts, Requirement
from symlayout.algebra.polynomial import Extent, names_of, substitute, symbol
from symlayout.equivalence.data_extents import made_again, with_unread_origins
from symlayout.equivalence.shared_ends import SharedEnds
from symlayout.equivalence.unknown_ranks import ShapedValues
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.language import sympy_bridge
from symlayout.proof.idle_functions import without_idle_functions
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Replacement

DEMAND, PARTIAL = "demand ", "partial "
"""How the names of values begin that state demands, and of those that may not be valid for all elements."""


@dataclass(frozen=True, slots=True)
class JointModels:
    """Two models over one set of inputs.

    Attributes
    ----------
    left, right : dict of str to Tensor
        The outputs by the names before.  Before these stand values that bring in extents that depend on data, that
        state what the models demand of the sizes, or that may not be valid for all elements of what they read.
    again : pair of dict
        The values that had to be made again for that, by ``id`` of the values of the models.
    stated : tuple of relations
        What one model states of dims that the other one leaves open.
    spare : dict of str to Tensor
        The inputs that the model after has alone, by their names there.
    """

    left: dict[str, Tensor]
    right: dict[str, Tensor]
    again: tuple[dict[int, Tensor], dict[int, Tensor]]
    stated: tuple[Any, ...]
    spare: dict[str, Tensor]


def joint_models(before: ShapedValues, after: ShapedValues, ends: SharedEnds) -> JointModels:
    """Return both models over one set of inputs."""
    outputs = (
        {name: before.outputs[name] for name, _ in ends.outputs},
        {name: ends.made_before(name, after.outputs[other]) for name, other in ends.outputs},
    )
    left, right = (
        with_unread_origins(_with_demands(side, model), model.tensors)
        for side, model in zip(outputs, (before, after), strict=True)
    )
    left = {**_stated_after(before, after, ends), **left}
    found = _over_one_set_of_inputs(before, after, ends, left, right)
    for side, made in zip((found.left, found.right), found.again, strict=True):
        demanding = {name: t for name, t in side.items() if name.startswith(DEMAND) and name not in before.outputs}
        plain = {name: t for name, t in side.items() if name not in demanding}
        busy, changed = without_idle_functions(plain)
        made |= {key: changed.get(id(t), t) for key, t in made.items()} | changed
        lost = {name: t for name, t in plain.items() if not busy[name].facts.includes(t.facts)}
        side.clear()
        side |= {**demanding, **named_apart(DEMAND, lost.values(), {*demanding, *plain}), **busy}
    return found


def _stated_after(before: ShapedValues, after: ShapedValues, ends: SharedEnds) -> dict[str, Tensor]:
    """Return a value without elements that demands what the names and bounds of dims after say of extents before.

    These are sizes that the reader of the model after knows nothing else of, so other ones are left out.
    """
    found: dict[str, Extent] = {}
    facts = Facts()
    for name, other in ends.inputs:
        a, b = ends.given_after(name, before.inputs[name]), after.inputs[other]
        for e, n in zip(a.extents, b.extents, strict=False):
            if (pair := _dim_of(b, n, a, e)) is None:
                continue
            dim, value = pair
            facts.merge(a.facts)
            facts.require_zero(found.setdefault(dim, value) - value, LEFT_OUT, other)
            known = b.facts.dims[dim]
            for end, _ in known.limits(facts.reduce(value)):
                facts.require_nonnegative(end, LEFT_OUT, other)
            if known.multiple_of != 1:
                facts.divide(value, known.multiple_of, LEFT_OUT, other)
    if not facts.requirements:
        return {}
    return {f"{DEMAND}stated": Tensor("stated", None, (0,), facts, key=f"{DEMAND}stated")}


def _with_demands(outputs: dict[str, Tensor], model: ShapedValues) -> dict[str, Tensor]:
    """Return *outputs*, after the inputs and values that have more dims, or demand more of the sizes, than these do."""
    partial = named_apart(PARTIAL, model.partial, outputs)
    seen = {id(t.facts) for t in outputs.values()}
    found: list[Tensor] = []
    for t in reversed([*model.inputs.values(), *model.demanding]):
        if id(t.facts) not in seen and not any(o.facts.includes(t.facts) for o in (*outputs.values(), *found)):
            found.append(t)
        seen.add(id(t.facts))
    return {**named_apart(DEMAND, found, outputs), **partial, **outputs}


def named_apart(stem: str, values: Iterable[Tensor], taken: Container[str]) -> dict[str, Tensor]:
    """Return values by names that begin with *stem* and are not *taken*."""
    names = (name for name in (f"{stem}{k}" for k in itertools.count()) if name not in taken)
    return {name: t for t, name in zip(values, names, strict=False)}


def _over_one_set_of_inputs(
    before: ShapedValues,
    after: ShapedValues,
    ends: SharedEnds,
    left: dict[str, Tensor],
    right: dict[str, Tensor],
) -> JointModels:
    """Return values of both models over the same inputs.

    Dims of an input that have two names are one dim; a dim that is a number in the other model is that number.
    """
    here: dict[str, Extent] = {}
    there: dict[str, Extent] = {}
    renamed = bool(ends.axes)
    for name, other in ends.inputs:
        a, b = before.inputs[name], after.inputs[other]
        kinds = before.unknown.get(name), after.unknown.get(other)
        if kinds[0] != kinds[1]:
            was, becomes = (k or f"tensor of rank {t.rank}" for t, k in zip((a, b), kinds, strict=True))
            raise ShapeError(f"input {name} is a {was} before and a {becomes} after", "size_mismatch")
        if a.rank != b.rank:
            raise ShapeError(f"input {name} has rank {a.rank} before and {b.rank} after", "size_mismatch")
        renamed |= a.key != b.key
        a = ends.given_after(name, a)
        for axis, (e, n) in enumerate(zip(a.extents, b.extents, strict=True)):
            if e == n:  # dims of one name may have other bounds, those before hold
                apart = [d for d in names_of(n) - there.keys() if a.facts.dims.get(d) != b.facts.dims.get(d)]
                there |= {d: symbol(d) for d in apart}
                continue
            if (pair := _dim_of(b, n, a, e)) is not None:
                there.setdefault(*pair)
            elif isinstance(n, int) and (dim := plain_dim(a, e)) is not None and here.setdefault(dim, n) == n:
                continue
            else:
                sizes = f"{a.facts.spell(e)} before and {b.facts.spell(n)} after"
                raise ShapeError(f"axis {axis} of input {name} is {sizes}", "size_mismatch")
    for name, other in ends.inputs:
        a, b = ends.given_after(name, before.inputs[name]), after.inputs[other]
        for axis, (e, n) in enumerate(zip(a.extents, b.extents, strict=True)):
            if plain_dim(b, n) is None and not isinstance(n, int) and substitute(n, there) != e:
                sizes = f"{a.facts.spell(e)} before and {b.facts.spell(n)} after, where dims have other names"
                raise ShapeError(f"axis {axis} of input {name} is {sizes}", "size_mismatch")
    matched = {other for _, other in ends.inputs}
    leaves, renames = _spare_leaves(before, after, matched)
    spare = {name: leaves.get(t.key, t) for name, t in after.inputs.items() if name not in matched}
    if not (here or there or renamed or leaves):
        return JointModels(left, right, ({}, {}), (), spare)
    there |= renames
    bound, made = made_again(left, {}, here)
    for name, other in ends.inputs:
        leaf = before.inputs[name]
        leaves[after.inputs[other].key] = ends.given_after(name, made.get(id(leaf), leaf.bind(here)))
    brought_in = {n: d for t in (*before.inputs.values(), *leaves.values()) for n, d in t.facts.dims.items()}
    moved, others = made_again(right, leaves, Replacement(there, brought_in))
    known = {name: t.facts for t in before.inputs.values() for name in t.facts.dims}
    equations = ((known[name], Requirement("", "zero", symbol(name) - number)) for name, number in here.items())
    stated = tuple(sympy_bridge.to_relation(r, facts) for facts, r in equations)
    return JointModels(bound, moved, (made, others), stated, spare)


def _spare_leaves(
    before: ShapedValues, after: ShapedValues, matched: Collection[str]
) -> tuple[dict[str, Tensor], dict[str, Extent]]:
    """Return inputs that are not *matched*, by their keys, where an input or a dim before has a name of theirs.

    They get other names, and so do their dims but for those of inputs that both models have.  The second value has the
    other names of dims, as symbols.
    """
    spare = [t for name, t in after.inputs.items() if name not in matched]
    sides = [*before.inputs.values(), *after.inputs.values()]
    keys, dims = {t.key for t in sides}, {name for t in sides for name in t.facts.dims}
    here = {t.key for t in before.inputs.values()}, {n for t in before.inputs.values() for n in t.facts.dims}
    shared = {name for other in matched for name in after.inputs[other].facts.dims}
    renamed: dict[str, Dim] = {}
    found: dict[str, Tensor] = {}
    for t in spare:
        own = [d for name, d in t.facts.dims.items() if name in here[1] and name not in shared]
        for d in own:
            if d.name not in renamed:
                renamed[d.name] = Dim(_unlike(d.name, dims), d.min, d.max, d.multiple_of, d.process)
                dims.add(renamed[d.name].name)
        if own or t.key in here[0]:
            facts = Facts()
            for d in own:
                facts.declare(renamed[d.name])
            leaf = t.bind({d.name: symbol(renamed[d.name].name) for d in own}, facts)
            name, key = (_unlike(t.key, keys),) * 2 if t.key in here[0] else (t.name, t.key)
            keys.add(key)
            found[t.key] = Tensor(name, t.dtype, leaf.extents, leaf.facts, key=key)
    return found, {name: symbol(d.name) for name, d in renamed.items()}


def _unlike(name: str, taken: Container[str]) -> str:
    """Return another name for what is called *name*, which is none of those *taken*."""
    return next(other for k in itertools.count(1) if (other := f"{name}_{k}") not in taken)


def plain_dim(t: Tensor, e: Extent) -> str | None:
    """Return the name of the dim that an extent is; None if it is anything else."""
    names = names_of(e)
    if len(names) != 1 or str(e) not in names:
        return None
    (name,) = names
    return name if name in t.facts.dims else None


def _dim_of(t: Tensor, n: Extent, other: Tensor, e: Extent) -> tuple[str, Extent] | None:
    """Return the dim of *t* in its extent *n*, and what it is where *n* is the extent *e* of another tensor.

    The extent is the dim itself, or both are one multiple of a dim plus one number.  None if it is anything else.
    """
    if (dim := plain_dim(t, n)) is not None:
        return dim, e
    here, there = _linear(t, n), _linear(other, e)
    if here is None or there is None or here[1:] != there[1:]:
        return None
    return here[0], symbol(there[0])


def _linear(t: Tensor, e: Extent) -> tuple[str, int, int] | None:
    """Return the dim of a linear extent, its factor and what is added; None if it is anything else."""
    names = names_of(e)
    if isinstance(e, int) or len(names) != 1:
        return None
    (name,) = names
    if name not in t.facts.dims or not e.terms.keys() <= {(name,), ()}:
        return None
    return name, e.terms[name,], e.terms.get((), 0)
