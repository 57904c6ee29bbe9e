"""Write the certificate of a proof: derive each of its cases again, and log every step as data.

The derivation runs on a `Recorder`, a system of facts that logs its conclusions and their proofs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, encode, substitute, symbol
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError
from symlayout.proof.cases.case_tree import Agreed, Chosen, Masked, Met, Split, Tree
from symlayout.proof.cases.common_values import share_operations
from symlayout.proof.cases.compare_constants import EqualElements
from symlayout.proof.cases.one_case import show_map
from symlayout.proof.certificate.checker import Refused, refusal, seal
from symlayout.proof.certificate.checker.blocks import budget, check_end
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.readings import SIDES, check_given, read_side, suppositions
from symlayout.proof.certificate.checker.schema import size
from symlayout.proof.certificate.claim import Claim
from symlayout.proof.certificate.logged_facts import Recorder, data_of
from symlayout.proof.decide_equal import agree
from symlayout.tensors.chain import Tensor

_MOST_TAKE = 16  # most proofs that an operation is a map take less than this part of the goals of a decision
_MORE = 4  # times the goals that a proof may visit: more than that proof took, which did not write


def certify(left: Tensor, right: Tensor, facts: Facts, dtype: Any, tree: Tree | None = None) -> dict[str, Any]:
    """Return the certificate that *left* equals *right* for all sizes that satisfy *facts*.

    It proves first that the cases of each operation are a map into its sources, then that both sides agree: by the
    cases of *tree*, the proof that gave the verdict.

    Raises
    ------
    InconclusiveError
        The rules of the checker cannot express a step.
    """
    claim = Claim(left, right, facts, dtype)
    try:
        return _certify(claim, tree)
    except Refused as error:
        raise InconclusiveError(f"the proof has a certificate: {error}") from error


def _certify(claim: Claim, plan: Tree | None) -> dict[str, Any]:
    """Return the certificate, all of whose steps and ends the checker has accepted while they were written."""
    recorder = Recorder(turned=claim.facts.turned)
    recorder.begin(claim.data)
    recorder.introduce(claim)
    check_given(recorder.context.known)
    maps = [_map(claim, recorder, number) for number in claim.operations]
    plan = plan or _meeting(claim)
    parts = [_part(claim, recorder, *part) for part in _parts(plan)]
    tree = agree(
        claim.left,
        claim.right,
        recorder.fork(),
        claim.dtype,
        shown=True,
        effort=_MORE * limits.decision_goals,
        plan=plan,
    )
    proof = {"given": recorder.steps, "maps": maps, "sides": _block(tree), **({"parts": parts} if parts else {})}
    certificate: dict[str, Any] = {"claim": claim.data, "proof": proof}
    certificate["seal"] = seal(certificate)
    if recorder.context.known.work.done > budget(size(certificate)) and (reason := refusal(certificate)):
        raise Refused(reason)
    return certificate


def _meeting(claim: Claim) -> Met | None:
    """Return the proof that both sides read one value on their way, if there is a short one."""
    if not share_operations(claim.left, claim.right):
        return None
    facts, few = claim.facts.fork(), limits.decision_goals // _MOST_TAKE
    try:
        tree = agree(claim.left, claim.right, facts, claim.dtype, shown=True, finite=False, effort=few)
    except InconclusiveError:
        return None
    return tree if isinstance(tree, Met) else None


def _parts(plan: Tree | None) -> Iterator[tuple[Tensor, Tensor, Tree]]:
    """Yield the pairs of equal values that a proof needs, each after those that it needs itself."""
    if isinstance(plan, Met):
        for part in plan.parts:
            yield from _parts(part[2])
            yield part


def _part(claim: Claim, recorder: Recorder, left: Tensor, right: Tensor, plan: Tree) -> list[Any]:
    """Return the proof that two values are equal at every coordinate; the checker knows it from now on."""
    numbers = claim.number(left), claim.number(right)
    here = recorder.fork()
    here.context.known.sides = numbers
    goals = _MORE * limits.decision_goals
    block = _block(agree(left, right, here, claim.dtype, shown=True, effort=goals, plan=plan))
    recorder.context.known.equal.append(numbers)
    return [*numbers, block]


def _map(claim: Claim, recorder: Recorder, number: int) -> dict[str, Any]:
    """Return the proof that operation *number* is a map, from all that the claim assumes, or else from its own part.

    What the other operations assume may rewrite what the proof needs.  Its own part is solved as the claim was, or with
    the rules turned (see `System.turn`).  Most proofs take few goals in one of these ways, so each is tried with few.
    """
    few, turned = limits.decision_goals // _MOST_TAKE, claim.facts.turned
    attempts = [(goals, way) for goals in (few, _MORE * limits.decision_goals) for way in (None, turned, not turned)]
    for goals, way in attempts[:-1]:
        with suppress(InconclusiveError, Refused):
            return _map_in(claim, recorder, number, goals, way)
    return _map_in(claim, recorder, number, *attempts[-1])


def _map_in(claim: Claim, recorder: Recorder, number: int, goals: int, turned: bool | None) -> dict[str, Any]:
    """Return the proof that operation *number* is a map: from its own part, *turned* or not, or from all for None."""
    node = claim.operations[number]
    if turned is None:
        return _block(show_map(node, recorder.about(number), effort=goals))
    alone = Recorder(turned=turned)
    alone.begin(claim.data)
    alone.introduce(claim, node.facts)
    block = _block(show_map(node, alone.about(number), effort=goals))
    return {"alone": {**block, "steps": [*alone.steps, *block["steps"]]}}


def _block(tree: Tree) -> dict[str, Any]:
    """Return a tree of cases as data; its facts are recorders.

    Raises
    ------
    Refused
        The checker does not accept the end of a block.
    """
    assert isinstance(tree.facts, Recorder)
    steps, known = tree.facts.steps, tree.facts.context.known
    if isinstance(tree, Split):
        known.read(encode(tree.value))
        return {"steps": steps, "split": [encode(tree.value), _block(tree.yes), _block(tree.no)]}
    if isinstance(tree, Masked):
        list(suppositions(known))
        return {"steps": steps, "masked": [_block(tree.left), _block(tree.right)]}
    block: dict[str, Any] = {"steps": steps}
    if isinstance(tree, Agreed):
        paths = [data_of(path) for path in tree.paths]
        if tree.elements is None:
            block["agree"] = paths
        else:
            block["elements"] = [*paths, *_elements(tree.elements, paths, known)]
    elif isinstance(tree, Met):
        block["meet"] = [data_of(path) for path in tree.paths]
    elif isinstance(tree, Chosen):
        block["case"] = [tree.number, [list(window) for window in tree.others]]
    else:
        block["absurd"] = []
    check_end(known, block)
    return block


def _elements(equal: EqualElements, paths: list[Any], known: Known) -> list[Any]:
    """Return the number of the claim's statement that elements of constants are equal, and what its names stand for.

    The claim states it from now on.
    """
    names: dict[str, Extent] = {name: symbol(f"i{k}") for k, (name, *_) in enumerate(equal.box)}
    sides = [
        [read_side(known, side, path)[0][1], [encode(substitute(e, names)) for e in coords]]
        for side, path, coords in zip(SIDES, paths, equal.coords, strict=True)
    ]
    statement = [*sides, [[f"i{k}", low, high] for k, (_, _, low, high) in enumerate(equal.box)]]
    stated: list[Any] = known.claim.setdefault("elements", [])
    if statement not in stated:
        stated.append(statement)
    return [stated.index(statement), [encode(value) for _, value, *_ in equal.box]]
