"""The requirements and bounds of shapes, in the form that users read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from math import gcd

from symlayout.algebra.facts import QUOTIENT, Facts, Interval, Requirement
from symlayout.algebra.floor_normal_form import renew
from symlayout.algebra.polynomial import Extent, Poly, collapse, content, exact_quotient, names_of, symbol, terms_of
from symlayout.algebra.search.branch_and_bound import searches
from symlayout.errors import ShapeError

_MOST_OTHERS = 16  # a requirement may be dropped if so many others imply it; more are not tried
_BUDGET = 300  # most boxes that the search for one bound of an extent visits


def requirements(facts: Facts) -> list[Requirement]:
    """Return the requirements of *facts* in the order of the steps: in lowest terms, and none implied by the others.

    Congruences of one expression are joined: ``H % 4 == 0`` and ``H % 6 == 0`` become ``H % 12 == 0``.  A requirement
    is left out if the bounds of the dims and the other requirements are proved to imply it.
    """
    kept = dict(enumerate(_joined([_primitive(r) for r in facts.requirements])))
    names = {number: _mentioned([r], facts) for number, r in kept.items()}
    readers: dict[str, list[int]] = {}
    for number in kept:
        for name in names[number]:
            readers.setdefault(name, []).append(number)
    for number in reversed(range(len(kept))):
        r = kept.pop(number)
        others = kept if len(kept) <= _MOST_OTHERS else _nearest(number, kept, names, readers)
        if not _implied(r, [kept[n] for n in sorted(others)], facts):
            kept[number] = r
    return [r for _, r in sorted(kept.items())]


def _nearest(
    number: int, kept: Container[int], names: Mapping[int, set[str]], readers: Mapping[str, list[int]]
) -> set[int]:
    """Return which of the *kept* requirements may imply another one: at most `_MOST_OTHERS`.

    They are those that share most names with it, and those that share names with these; the others cannot.
    """
    near: set[int] = set()
    waiting = [number]
    while waiting and len(near) < _MOST_OTHERS:
        shared = Counter(n for at in waiting for name in names[at] for n in readers[name] if n in kept)
        fresh = [n for n in shared if n not in near]
        waiting = sorted(fresh, key=lambda n: (-shared[n], n))[: _MOST_OTHERS - len(near)]
        near.update(waiting)
    return near


def part_of(facts: Facts, kept: list[Requirement], mentioned: Sequence[Requirement] = ()) -> Facts:
    """Return the system that states the requirements *kept* of *facts* only, with the symbols that are *mentioned*."""
    names = _mentioned([*kept, *mentioned], facts)
    return Facts(
        dims={name: d for name, d in facts.dims.items() if name in names},
        definitions={name: d for name, d in facts.definitions.items() if name in names},
        quotients={name: q for name, q in facts.quotients.items() if name in names},
        requirements=kept,
    )


def implies(given: Facts, wanted: Facts) -> bool:
    """Return whether *given* is proved to imply every requirement of *wanted*."""
    if given is wanted:
        return True
    trial = given.fork()
    before = len(trial.requirements)
    try:
        trial.merge(wanted)
    except ShapeError:
        return False
    return len(trial.requirements) == before


def origins(facts: Facts, stages: Sequence[Facts]) -> list[list[int]]:
    """Return, for each of the `requirements`, the numbers of the stages that state it or a part of it.

    *stages* holds the facts of the tensors of a chain, in order; *facts* are the facts of the last tensor.
    """

    def asked(r: Requirement) -> Requirement | tuple[Extent]:
        """Return what is the same for a requirement in lowest terms and those that it is joined from."""
        return r if r.relation != "divides" else (_split_constant(r.value)[0],)

    first: dict[Requirement, int] = {}
    for number, stage in enumerate(stages):
        for o in stage.requirements:
            first.setdefault(o, number)
    stating: dict[Requirement | tuple[Extent], set[int]] = {}
    for o in facts.requirements:
        if o in first:
            stating.setdefault(asked(_primitive(o)), set()).add(first[o])
    return [sorted(stating.get(asked(r), ())) for r in requirements(facts)]


def bounds(extents: Sequence[Extent], facts: Facts) -> list[Interval]:
    """Return ``(lo, hi)`` of each extent, over all dims that meet *facts*; None is unbounded.

    The bounds always hold.  They are tight (the extent has both values) unless the search gives up.
    """
    extents = [facts.reduce(e) for e in extents]
    result = [(e, e) if isinstance(e, int) else facts.interval(e) for e in extents]
    unsure = [k for k, e in enumerate(extents) if isinstance(e, Poly) and not _independent(e, facts)]
    for k, search in zip(unsure, searches(facts, [extents[k] for k in unsure]) if unsure else (), strict=True):
        low, high = result[k]
        least, most = search.least(extents[k], _BUDGET), search.greatest(extents[k], _BUDGET)
        lows, highs = [b for b in (low, least) if b is not None], [b for b in (high, most) if b is not None]
        result[k] = max(lows, default=None), min(highs, default=None)
    return [(max(low or 0, 0), high) for low, high in result]


def _independent(e: Poly, facts: Facts) -> bool:
    """Return whether `interval` is exact: each symbol of *e* occurs once and no constraint ties it to others."""
    if sum(map(len, e.terms)) > len(e.names) or not e.names.isdisjoint(facts.definitions):
        return False
    ties = [f.names for f in facts.known] + [names_of(r.equation) for r in facts.rules]
    ties += [names_of(facts.reduce(bottom * symbol(q) - top)) for q, (top, bottom) in facts.quotients.items()]
    ties += [names_of(n) | names_of(d) for n, d in facts.floors.values()]
    ties += [names_of(facts.reduce(d.right)) for d in facts.definitions.values()]
    return all(e.names.isdisjoint(names) for names in ties)


def _primitive(r: Requirement) -> Requirement:
    """Return *r* in lowest terms: ``(4*H + 2) % 6`` becomes ``(H + 2) % 3``."""
    if r.relation != "divides" or not isinstance(r.modulus, int):
        return r
    modulus = r.modulus
    terms = {m: c % modulus for m, c in terms_of(r.value).items() if c % modulus}
    common = gcd(content(terms), modulus)
    modulus //= common
    terms = {m: c // common % modulus for m, c in terms.items()}
    lead = min((m for m in terms if m), key=lambda m: (len(m), m), default=())
    if lead and gcd(terms[lead], modulus) == 1:
        inverse = pow(terms[lead], -1, modulus)
        terms = {m: c * inverse % modulus for m, c in terms.items()}
    value = collapse({m: c for m, c in terms.items() if c})
    return Requirement(r.kind, r.relation, value, modulus, r.where)


def _joined(requirements: list[Requirement]) -> list[Requirement]:
    """Join congruences of one expression by the Chinese remainder theorem, at the place of the first."""
    result: list[Requirement] = []
    places: dict[Extent, int] = {}
    for r in requirements:
        if r.relation != "divides" or not isinstance(r.modulus, int):
            result.append(r)
            continue
        form, residue = _split_constant(r.value)
        if form in places:
            at = places[form]
            before = result[at]
            joined = _remainder(before, residue, r.modulus)
            if joined is not None:
                result[at] = Requirement(before.kind, "divides", form - joined[0], joined[1], before.where)
                continue
        places.setdefault(form, len(result))
        result.append(r)
    return result


def _split_constant(e: Extent) -> tuple[Extent, int]:
    constant = terms_of(e).get((), 0)
    return e - constant, constant


def _remainder(before: Requirement, constant: int, modulus: int) -> tuple[int, int] | None:
    """Return ``(r, m)`` with ``form = r mod m`` from ``form = -c_1 mod m_1`` and ``form = -c_2 mod m_2``."""
    first = before.modulus
    if not isinstance(first, int):
        return None
    a = -_split_constant(before.value)[1]
    b = -constant
    common = gcd(first, modulus)
    if (b - a) % common:
        return None
    step = (b - a) // common * pow(first // common, -1, modulus // common) % (modulus // common)
    total = first * modulus // common
    return (a + first * step) % total, total


def _mentioned(requirements: list[Requirement], facts: Facts) -> set[str]:
    """Return the symbols in requirements, and the symbols in the definitions of these."""
    return facts.behind(name for r in requirements for e in (r.value, r.modulus) for name in names_of(e))


def _implied(r: Requirement, others: list[Requirement], facts: Facts) -> bool:
    """Return whether the bounds of the dims and *others* are proved to imply *r*."""
    if any((o.relation, o.value, o.modulus) == (r.relation, r.value, r.modulus) for o in others):
        return True
    apart = Facts()
    try:
        apart.merge(part_of(facts, others, [r, *others]))
        if any(o.where == QUOTIENT for o in apart.requirements):
            return False  # the others mention an exact quotient that r makes exact
        renew(apart)  # the others may make a floor exact that r mentions
    except ShapeError:  # no sizes meet the others: drop nothing
        return False
    value, modulus = apart.reduce(r.value), apart.reduce(r.modulus)
    if r.relation == "divides":
        return exact_quotient(value, modulus) is not None
    if r.relation == "nonnegative":
        return apart.nonnegative(value)
    return not isinstance(value, Poly) and value == 0
