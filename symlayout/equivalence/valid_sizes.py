"""Find sizes for which one model is valid and another one is not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from symlayout.algebra.facts import Facts, Requirement
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.errors import LEFT_OUT, InconclusiveError, ShapeError, one_line
from symlayout.language import sympy_bridge
from symlayout.proof.counterexample import Witness
from symlayout.proof.points import bound_sides
from symlayout.show.wording import relation
from symlayout.tensors.chain import Tensor, graph_of
from symlayout.tensors.requirements import implies, part_of, requirements
from symlayout_codegen.forks import cached_property

_MOST_SIZES = 2000  # most sizes that are tried


def facts_of(*models: Mapping[str, Tensor]) -> Facts:
    """Return what holds for all outputs of models.

    Where maxima are defined, the system with the most requirements comes first: it often states what the others do, and
    proves no maximum again.  Dims keep the order of the outputs.
    """
    systems = list({id(t.facts): t.facts for outputs in models for t in outputs.values()}.values())
    most = max(systems, key=lambda each: len(each.requirements) if each.definitions else 0)
    facts = most.fork() if most.definitions else systems[0].fork()
    for each in systems:
        facts.merge(each)
    facts.dims = {name: facts.dims[name] for each in systems for name in each.dims}
    return facts


def dims_of_inputs(values: Iterable[Tensor]) -> set[str]:
    """Return the dims of the inputs that *values* read."""
    return {name for leaf in graph_of(values) if not leaf.inputs for name in leaf.facts.dims}


def domain_of(
    here: Facts,
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    outputs: Collection[str],
    stated: tuple[Any, ...],
    refused: Collection[str] = (),
) -> Domain:
    """Return what a claim about the values of two models is about, of which *outputs* are outputs, but for *refused*.

    A proof and its check both ask here: which symbols a system of facts keeps, and which of its requirements follow
    from others, depends on the order in which values are merged.  *here* is what the values *left* demand.
    """
    sides = left, right
    origins = [{name: t for name, t in side.items() if name not in outputs} for side in sides]
    ends = [{name: side[name] for name in outputs if name not in refused} for side in sides]
    both = facts_of(*origins, *ends) if ends[0] else here
    left_out = _with_left_out(here, {name: right[name] for side in (origins[1], ends[1]) for name in side})
    return Domain(here, both, left_out, frozenset(dims_of_inputs([*left.values(), *right.values()])), stated)


@dataclass(frozen=True)
class Domain:
    """The sizes that a claim about two models is about: those for which the model before is valid.

    Attributes
    ----------
    before : Facts
        What the model before demands of the sizes.
    both : Facts
        What both models demand.
    left_out : Facts
        What the model before demands, and what the model after demands beyond the standard.  What the standard demands
        for the model after is not in it: that would take the place of an equal demand that leaves out sizes.
    dims : set of str
        The dims of the inputs.
    stated : tuple of relations
        What one model states of dims that the other one leaves open.
    """

    before: Facts
    both: Facts
    left_out: Facts
    dims: frozenset[str]
    stated: tuple[Any, ...]

    @cached_property
    def requires(self) -> tuple[Any, ...]:
        """What the model before demands of the sizes beyond their bounds, as SymPy relations."""
        return self._relations(self.before, left_out=False)

    @cached_property
    def assumed(self) -> tuple[Any, ...]:
        """What leaves out more sizes, because a model states them or the reader has no meaning for others."""
        return (*self.stated, *self._relations(self.left_out, left_out=True))

    @property
    def data(self) -> dict[str, list[str]]:
        """The relations as JSON data."""
        return {"requires": [*map(relation, self.requires)], "assumed": [*map(relation, self.assumed)]}

    def _relations(self, facts: Facts, *, left_out: bool) -> tuple[Any, ...]:
        """Return the requirements of one kind, without those that others of this kind imply.

        What the standard demands may follow from what the reader demands beyond it, so it makes that not superfluous.
        """
        kept = [r for r in facts.requirements if (r.kind == LEFT_OUT) is left_out]
        system = part_of(facts, kept) if left_out else facts
        reduced = (r for r in requirements(system) if (r.kind == LEFT_OUT) is left_out)
        found = (sympy_bridge.to_relation(r, facts) for r in reduced)
        return tuple(r for r in found if left_out or {s.name for s in r.free_symbols} <= self.dims)


@dataclass(frozen=True, slots=True)
class RefusedSizes:
    """Sizes for which the output before is valid, and the output after is not.

    Attributes
    ----------
    sizes : dict
        A value for each dim, by its name.
    output : str
        The name of the output.
    why : str
        Why the output after is not valid.
    """

    sizes: dict[str, int]
    output: str
    why: str

    def witness(self, left: Tensor, facts: Facts) -> Witness:
        """Return the sizes of the dims of *facts* as a witness: the shape before, and why there is none after."""
        dims = {sympy_bridge.symbol_of(d): self.sizes[name] for name, d in facts.dims.items() if name in self.sizes}
        return Witness(dims, None, left.bind(_of(left, self.sizes)).extents, f"refused ({self.why})")


def demanded_beyond(here: Facts, after: Mapping[str, Tensor]) -> tuple[list[Requirement], Facts]:
    """Return what the values *after* demand and *here* is not proved to imply, but for demands beyond the standard.

    The second value is the system of facts that knows the symbols of these requirements.

    Raises
    ------
    ShapeError
        ``infeasible`` if no sizes meet both.
    """
    known = _with_left_out(here, after)
    count = len(known.requirements)
    known.merge(facts_of(after))
    return [r for r in known.requirements[count:] if r.kind != LEFT_OUT], known


def _with_left_out(here: Facts, after: Mapping[str, Tensor]) -> Facts:
    """Return the facts *here*, and what the values *after* demand beyond the standard.

    A system of facts states each requirement with the symbols that its equalities leave.  So what a value demands
    beyond the standard counts for the others only where the equalities that it comes with are implied.
    """
    known = here.fork()
    waiting = {id(t.facts): (t.facts, *_beyond(t.facts)) for t in after.values()}
    while sound := [key for key, (facts, _, equal) in waiting.items() if implies(known, part_of(facts, equal))]:
        for facts, beyond, _ in map(waiting.pop, sound):
            if beyond:
                known.merge(part_of(facts, beyond))
    return known


def _beyond(facts: Facts) -> tuple[list[Requirement], list[Requirement]]:
    """Return what is demanded beyond the standard, and the equalities that the standard demands."""
    beyond = [r for r in facts.requirements if r.kind == LEFT_OUT]
    return beyond, [r for r in facts.requirements if r.kind != LEFT_OUT and r.relation == "zero"]


def refused_after(
    left: Mapping[str, Tensor], right: Mapping[str, Tensor], outputs: Collection[str] | None = None
) -> RefusedSizes | None:
    """Return the first sizes for which the values *left* are valid, and one of *right* is not valid.

    The *outputs*, all values if none are given, have elements there.  None says that there are no such sizes, that none
    is among the first ones, or that an extent depends on data.  What is demanded beyond the standard refuses nothing.
    """
    here, there = facts_of(left), facts_of(right)
    leaves = [leaf for leaf in graph_of((*left.values(), *right.values())) if not leaf.inputs]
    given = {name for leaf in leaves for name in leaf.facts.dims}
    if not here.dims.keys() <= given or not _may_refuse(here, right):
        return None
    shown = [t for name, t in left.items() if outputs is None or name in outputs]
    others = [t for name, t in left.items() if outputs is not None and name not in outputs]
    for values in islice(sizes(here, dict.fromkeys(here.dims, 1)), _MOST_SIZES):
        if _refuses(here, values) or not _refuses(there, values) or not _are_valid(shown, values, elements=True):
            continue
        refused = _refusal(right, values)
        if refused is not None and _are_valid(others, values):
            return refused
    return None


def refused_everywhere(left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> RefusedSizes | None:
    """Return sizes for which the values *left* are valid, if no sizes are valid for them and *right*; else None.

    Raises
    ------
    ShapeError
        ``infeasible`` if no sizes are valid for *left*.
    """
    here = facts_of(left)
    if not _exclude_each_other(here, facts_of(right)):
        return None
    refused = (_refusal(right, values) for values, _ in bound_sides(list(left.values()), here, _MOST_SIZES))
    return next(filter(None, refused), None)


def _refusal(right: Mapping[str, Tensor], values: Mapping[str, int]) -> RefusedSizes | None:
    """Return the first of the values *right* that is not valid for these sizes; None if none is known not to be.

    Where a demand beyond the standard fails, what the reader says of the others says nothing of the standard.
    """
    systems = {id(t.facts): t.facts for t in right.values()}.values()
    if any(_refuses(facts, values, (r for r in facts.requirements if r.kind == LEFT_OUT)) for facts in systems):
        return None
    for name, t in right.items():
        try:
            t.bind(_of(t, values))
        except ShapeError as error:
            if error.kind != LEFT_OUT:
                return RefusedSizes(dict(values), name, one_line(str(error).splitlines()[0]))
        except InconclusiveError:
            continue
    return None


def _exclude_each_other(here: Facts, there: Facts) -> bool:
    """Return whether it is seen at once that no sizes meet both."""
    try:
        here.fork().merge(there)
    except ShapeError:
        return True
    return False


def _may_refuse(here: Facts, after: Mapping[str, Tensor]) -> bool:
    """Return whether what the values *after* demand is not proved to hold wherever *here* does."""
    try:
        return bool(demanded_beyond(here, after)[0])
    except ShapeError:  # no sizes meet both
        return True


def _refuses(facts: Facts, values: Mapping[str, int], asked: Iterable[Requirement] | None = None) -> bool:
    """Return whether a requirement fails, or one of those *asked*, as far as the dims have values."""
    known = facts.values(values)
    for r in facts.requirements if asked is None else asked:
        try:
            if not r.holds(known):
                return True
        except KeyError:  # it is about an extent that depends on data
            continue
    return False


def _are_valid(values: Iterable[Tensor], at: Mapping[str, int], *, elements: bool = False) -> bool:
    """Return whether all values are valid for these sizes, and none is empty if they must have *elements*."""
    try:
        bound = [t.bind(_of(t, at)) for t in values]
    except (ShapeError, InconclusiveError):
        return False
    return not elements or not any(e == 0 for t in bound for e in t.extents)


def _of(t: Tensor, values: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if name in t.facts.dims}
