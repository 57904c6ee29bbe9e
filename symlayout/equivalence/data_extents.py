"""Extents that depend on data, in two models: which are one, the proof of that, and its check."""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, symbol
from symlayout.equivalence.valid_sizes import dims_of_inputs, facts_of
from symlayout.proof.attempts import decide, form_of, pairs_known, pairs_of
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.certificate.computed import certificate_of_computed
from symlayout.proof.congruence import Congruence, equal
from symlayout.proof.counterexample import Witness
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor, graph_of, rebuilt
from symlayout.tensors.computation import with_extents_of
from symlayout.tensors.declaration import Replacement


def made_again(
    outputs: Mapping[str, Tensor],
    leaves: Mapping[str, Tensor],
    values: Mapping[str, Extent],
    named: Mapping[int, Tensor] = MappingProxyType({}),
) -> tuple[dict[str, Tensor], dict[int, Tensor]]:
    """Return tensors on other leaves, with dims replaced, and all values that were made for them.

    *named* has, by the ``id`` of computed values, others after which their extents are named: see `with_extents_of`.
    Values that nothing changes are the same ones.
    """

    def again(node: Tensor, inputs: tuple[Tensor, ...]) -> Tensor:
        if id(node) in named:
            return with_extents_of(node, named[id(node)], inputs)
        if (leaf := leaves.get(node.key)) is not None:
            return leaf
        same = node.facts.dims.keys().isdisjoint(values) and all(map(operator.is_, inputs, node.inputs))
        return node if same else node.remade(inputs, values)

    made = rebuilt(graph_of(outputs.values()), again)
    return {name: made[id(t)] for name, t in outputs.items()}, made


def with_unread_origins(outputs: Mapping[str, Tensor], tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return *outputs*, after the values whose extents they have without reading them.

    Examples are a slice as long as there are elements that are not zero, and the places in an input, of which only the
    shape is read.  *tensors* are all values of the model, in which each value stands after those that it reads.
    """
    found = dict(outputs)
    while missing := _without_origin(found.values()):
        more: dict[str, Tensor] = {}
        for t in tensors.values():
            is_origin = t.body is not None or not t.inputs
            for name in sorted(missing & t.facts.dims.keys()) if is_origin else ():
                if name in t.facts.dims.keys() - _dims(t.inputs):
                    missing.remove(name)
                    key = f"extent {name}"
                    more[key if key not in found else f"{key} of {len(found)} values"] = t
        if not more:
            break
        found = {**more, **found}
    return found


def _without_origin(outputs: Iterable[Tensor]) -> set[str]:
    """Return the dims that are none of the inputs', and that no computed value brings in."""
    nodes = graph_of(outputs)
    own = [node for node in nodes if not node.inputs or node.body is not None]
    known = {name for node in own for name in node.facts.dims.keys() - _dims(node.inputs)}
    return _dims(nodes) - known


def with_one_data(
    left: Mapping[str, Tensor], right: dict[str, Tensor]
) -> tuple[dict[str, Tensor], dict[int, Tensor], list[tuple[int, int]]]:
    """Return outputs after in which an extent that depends on data has the name that it has before, and what was made.

    Two such extents are one if one function of equal operands brings them in.  The values that bring them in are among
    the outputs, or among what these are made of (see `with_unread_origins`).  The last are the numbers of the values
    before and after that bring in what has another name now.
    """
    made: dict[int, Tensor] = {}
    settled: set[int] = set()
    apart: dict[tuple[int, int], set[str]] = {}
    renamed_at: list[tuple[int, int]] = []
    while found := _next_origins(left, right, settled, apart):
        names = _brought_in(left), _brought_in(right)
        symbols: dict[str, Extent] = {}
        for b, a in found.items():
            renamed_at.append((_place(a, left), _place(b, right)))
            symbols |= zip(names[1][b], map(symbol, names[0][a]), strict=True)
        named = Replacement(symbols, {n: d for a in found.values() for n, d in a.facts.dims.items()})
        right, others = made_again(right, {}, named, {id(b): a for b, a in found.items()})
        settled |= {id(others[id(b)]) for b in found}
        made = {**others, **{key: others.get(id(t), t) for key, t in made.items()}}
    return right, made, renamed_at


def _next_origins(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    settled: Collection[int],
    apart: dict[tuple[int, int], set[str]],
) -> dict[Tensor, Tensor]:
    """Return pairs of values that are the same function of equal operands and name their extents differently.

    Values after of which the ``id`` is *settled* are left out.  *apart* has the pairs that were not shown to be one,
    by their places, with the dims of the operands: they are tried again only where such a dim has got another name.
    """
    before, after = _brought_in(left), _brought_in(right)
    if not before or not after:
        return {}
    facts = facts_of(left, right)
    known = pairs_known(facts, ())
    places = _places(left), _places(right)
    found: dict[Tensor, Tensor] = {}
    for b, names in after.items():
        if id(b) in settled or any(names == others for others in before.values()):
            continue
        dims = _dims(b.inputs)
        for a in before:
            key = places[0][id(a)], places[1][id(b)]
            if apart.get(key) == dims:
                continue
            if _axes(a, before[a]) == _axes(b, names) and _have_equal_operands(a, b, facts, known):
                found[b] = a
                break
            apart[key] = dims
    return found


def _brought_in(outputs: Mapping[str, Tensor]) -> dict[Tensor, list[str]]:
    """Return for each computed value that brings in dims their names."""
    found: dict[Tensor, list[str]] = {}
    for name, node in _origins(outputs.values()).items():
        if node.body is not None:
            found.setdefault(node, []).append(name)
    return {node: sorted(names) for node, names in found.items()}


def _axes(t: Tensor, names: Iterable[str]) -> list[list[int]]:
    """Return for each dim the axes whose extents show it."""
    return [[axis for axis, e in enumerate(t.extents) if name in names_of(e)] for name in names]


def _have_equal_operands(a: Tensor, b: Tensor, facts: Facts, known: tuple[Congruence, Congruence]) -> bool:
    """Return whether two values are one function of operands that are proved to be equal."""
    if a.body is None or a.body != b.body or a.body.random or len(a.inputs) != len(b.inputs) or a.batch or b.batch:
        return False
    pairs = list(zip(a.inputs, b.inputs, strict=True))
    if any(x.rank != y.rank or x.dtype != y.dtype for x, y in pairs):
        return False
    ends = [pair for x, y in pairs for pair in zip(x.extents, y.extents, strict=True)]
    if not all(equal(facts.reduce(e), facts.reduce(n), facts) for e, n in ends):
        return False
    return all(proof_of(x, y, facts, known, 0).verdict is Verdict.PROVED for x, y in pairs)


def other_data(
    left: Iterable[Tensor], right: Iterable[Tensor], facts: Facts, known: tuple[Congruence, Congruence]
) -> str:
    """Return a dim of both models that depends on data and is not shown to be the same in both; empty if there is none.

    The dims of one name are taken to be equal.  That holds for those of the inputs.  A dim that a value brings in, such
    as how many elements are not zero, is the same if the values are, which are compared in order.
    """
    made = _origins(left), _origins(right)
    for name, a in made[0].items():
        b = made[1].get(name)
        if b is None or (a.body is not None and b.body is not None and _same(a, b, facts, known)):
            continue
        if a is not b:
            return f"{name}, an extent that depends on data, is the same in both models"
    return ""


def _same(a: Tensor, b: Tensor, facts: Facts, known: tuple[Congruence, Congruence]) -> bool:
    return proof_of(a, b, facts, known, 0).verdict is Verdict.PROVED


def _origins(outputs: Iterable[Tensor]) -> dict[str, Tensor]:
    """Return for each dim that is none of the inputs' the value that brings it in, in order."""
    nodes = graph_of(outputs)
    seen = {name for node in nodes if not node.inputs for name in node.facts.dims}
    found: dict[str, Tensor] = {}
    for node in nodes:
        if len(node.facts.dims) > 0 and not node.facts.dims.keys() <= seen:
            found.update(dict.fromkeys(node.facts.dims.keys() - seen, node))
            seen |= node.facts.dims.keys()
    return found


def certificate_of_data(
    left: Mapping[str, Tensor], right: Mapping[str, Tensor], renamed_at: Iterable[tuple[int, int]]
) -> list[dict[str, Any]]:
    """Return the proofs that the extents that depend on data are one in both models, which `with_data_as_shown` checks.

    Each names the values that bring them in, by their numbers, and proves that the operands of these are equal.

    Raises
    ------
    InconclusiveError
        A proof has no certificate.
    """
    places = set(renamed_at)
    after = {tuple(names): b for b, names in _brought_in(right).items()}
    for a, names in _brought_in(left).items():
        if (b := after.get(tuple(names))) is not None and all(_place(b, right) != at for _, at in places):
            places.add((_place(a, left), _place(b, right)))
    values = _values(left), _values(right)
    shown = []
    for here, there in sorted(places):  # operands before the values that read them
        operands = _operands(values[0][here]), _operands(values[1][there])
        facts = facts_of(*operands)
        known = pairs_known(facts, ())
        proofs = [proof_of(t, operands[1][place], facts, known, 0) for place, t in operands[0].items()]
        certificate = certificate_of_computed(*operands, facts, pairs_of(proofs, facts), form=form_of(proofs))
        shown.append({"before": here, "after": there, "operands": certificate})
    return shown


def with_data_as_shown(
    shown: Sequence[Mapping[str, Any]], left: Mapping[str, Tensor], right: dict[str, Tensor]
) -> tuple[dict[str, Tensor], str]:
    """Return outputs after in which the extents that are *shown* to be one have their names before.

    The text says why it is not shown that all extents of one name are one; it is empty if that is shown.  Each proof is
    about the operands of the values that bring in an extent.  It assumes only what holds for these operands, and that
    extents are one for which that is shown before.
    """
    given = {name for t in (*left.values(), *right.values()) for leaf in t.arguments() for name in leaf.facts.dims}
    one = set(given)
    for number, part in enumerate(shown):
        a, b = _values(left)[part["before"]], _values(right)[part["after"]]
        if reason := _refusal_of_origin(a, b, part["operands"], one):
            return right, f"extent {number} that depends on data: {reason}"
        names = _extents_brought_in(a, b)
        if names is None:
            return right, f"extent {number} that depends on data: no axis has it"
        new = {theirs: symbol(ours) for ours, theirs in names.items() if ours != theirs}
        if new:
            if not one.isdisjoint(new) or not _dims(right.values()).isdisjoint(names.keys() - names.values() - one):
                return right, f"extent {number} that depends on data: another one has its name"
            right, _ = made_again(right, {}, Replacement(new, a.facts.dims), {id(b): a})
        one |= names.keys()
    if not (_dims(left.values()) & _dims(right.values())) <= one:
        return right, "an extent depends on data, and is not shown to be the same in both models"
    return right, ""


def _refusal_of_origin(a: Tensor, b: Tensor, certificate: Any, one: set[str]) -> str:
    """Return why *certificate* does not prove that two values are one function of equal operands."""
    if a.body is None or a.body != b.body or a.batch or b.batch or len(a.inputs) != len(b.inputs):
        return "the functions differ"
    if a.body.random and a is not b:
        return "the function is random"
    operands = _operands(a), _operands(b)
    if not (_dims(a.inputs) & _dims(b.inputs)) <= one:
        return "its operands have an extent that is not shown to be the same in both models"
    if certificate["laws"]:
        return "laws do not show that two sizes are the same"
    return refusal_of_computed(certificate, *operands, facts_of(*operands))


def _extents_brought_in(a: Tensor, b: Tensor) -> dict[str, str] | None:
    """Return the names after, by the names before, of the dims that two values bring in: each is an axis of both."""
    found = {}
    for e, n in zip(a.extents, b.extents, strict=True):
        if not isinstance(e, int) and not isinstance(n, int) and str(e) in a.facts.dims and str(n) in b.facts.dims:
            found[str(e)] = str(n)
    own = [t.facts.dims.keys() - _dims(t.inputs) for t in (a, b)]
    names = {ours: found.get(ours, "") for ours in own[0]}
    return names if set(names.values()) == own[1] and len(own[1]) == len(own[0]) else None


def _operands(t: Tensor) -> dict[str, Tensor]:
    return {str(k): operand for k, operand in enumerate(t.inputs)}


def _dims(tensors: Iterable[Tensor]) -> set[str]:
    return {name for t in tensors for name in t.facts.dims}


def _values(outputs: Mapping[str, Tensor]) -> list[Tensor]:
    return graph_of(outputs.values())


def _places(outputs: Mapping[str, Tensor]) -> dict[int, int]:
    """Return the number of each value, by ``id``."""
    return {id(node): k for k, node in enumerate(_values(outputs))}


def _place(value: Tensor, outputs: Mapping[str, Tensor]) -> int:
    return _places(outputs)[id(value)]


def proof_of(
    left: Tensor,
    right: Tensor,
    facts: Facts,
    known: tuple[Congruence, Congruence],
    budget: int,
    given: Iterable[str] = (),
    reading: Iterable[Tensor] = (),
) -> Proof:
    """Return the proof that two values are equal, or the witness; none is searched for where extents depend on data.

    Those *given* do not, and those of the inputs that are read.  The values *reading* are valid at the witness.
    """
    if left.dtype != right.dtype and left.dtype is not None and right.dtype is not None:
        return Proof(left, right, facts, Verdict.REFUTED, Witness({}, None, str(left.dtype), str(right.dtype)))

    def is_free() -> bool:
        others = (left.facts.dims.keys() | right.facts.dims.keys()) - set(given)
        return bool(others) and not others <= dims_of_inputs((left, right))

    others = [] if budget == 0 else [t for t in reading if t.facts.dims.keys() <= set(given)]
    proof = decide(left, right, facts, known, budget=0 if budget and is_free() else budget, reading=others)
    if proof.verdict is Verdict.UNKNOWN and is_free():
        proof.obligation = f"{proof.obligation}, where extents depend on data"
    return proof
