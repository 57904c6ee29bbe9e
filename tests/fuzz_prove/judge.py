"""What symlayout says of random claims, each verdict, witness and requirement judged by enumeration."""

from __future__ import annotations

import itertools
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any

from sympy import Integer

import symlayout as sl
from symlayout.tensors.requirements import requirements
from tests.fuzz_prove.claims import Claim, Family
from tests.fuzz_prove.truth import Point, Truth, by_sum, same
from tests.support import brute, brute_compare
from tests.support.brute import Chain, Expression

MOST_SMALLER = 2000  # points that are looked at for a smaller witness


class WrongError(AssertionError):
    """A verdict, a witness or a requirement that enumeration contradicts."""


class NoAnswerError(BaseException):
    """A call has not come back in time; no `Exception`, so that nothing on the way handles it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise `NoAnswerError` in the body when it has run for so long on the processor."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise NoAnswerError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def expression(e: Expression, dims: dict[str, Any]) -> Any:
    """Return an expression, or a list of them, in dims of symlayout."""
    if isinstance(e, str):
        return dims[e]
    if isinstance(e, list):
        return [expression(item, dims) for item in e]
    if not isinstance(e, tuple):
        return e
    a, b = expression(e[1], dims), expression(e[2], dims)
    return a + b if e[0] == "+" else a - b if e[0] == "-" else a * b if e[0] == "*" else Integer(1) * a / b


def build(chain: Chain, dims: dict[str, Any]) -> sl.Tensor:
    """Return a chain as a tensor of symlayout."""
    return applied(sl.tensor([expression(e, dims) for e in chain.shape], name="x"), chain.steps, dims)


def applied(t: sl.Tensor, steps: tuple[brute.Step, ...], dims: dict[str, Any]) -> sl.Tensor:
    """Return what steps make of a tensor; a step of a framework is named as `sl.op` names it."""
    for name, attributes in steps:
        given = {k: v if k in brute.PLAIN else expression(v, dims) for k, v in attributes.items()}
        part = given.pop("part", None)
        if name == "getitem":
            t = t[tuple(given["key"])]
        elif name == "slice":
            cut = slice(given["start"], given["stop"], given["step"])
            t = t[(slice(None),) * given["axis"] + (cut,)]
        elif name == "input":
            t = sl.tensor(given["shape"], dtype=t.dtype, name=f"x{given['number']}")
        else:
            operation = sl.op(name) if ":" in name else getattr(sl, name)
            x = [applied(t, branch, dims) for branch in given.pop("branches")] if "branches" in given else t
            made = operation(x, **given)
            t = made if part is None else made[part]
    return t


@dataclass(frozen=True, slots=True)
class Finding:
    """What was said of a pair of chains of a family, and what is so at the points that were enumerated.

    Attributes
    ----------
    verdict : str
        ``proved``, ``refuted``, ``unknown`` or ``infeasible``; ``no answer`` within the limit of time;
        ``wrong`` if enumeration contradicts it.
    truth : str
        ``equal``, ``empty`` (equal, and no element was compared), ``different``, or ``no point``.
    text : str
        With UNKNOWN the obligation, with ``wrong`` what is wrong.
    """

    pair: tuple[int, int]
    kind: str
    verdict: str
    truth: str
    seconds: float
    text: str = ""


class Judge:
    """A family, built and enumerated."""

    def __init__(self, family: Family, rnd: random.Random, budget: int, limit: float = 60.0) -> None:
        self.family, self.budget, self.limit = family, budget, limit
        self.truth = Truth(family.chains, family.dims)
        self.points = self.truth.sample(rnd)
        self.symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in family.dims}
        self.tensors: list[sl.Tensor | None] = []
        self.refused: list[str] = []  # why the chains that are None were

    def build(self) -> None:
        """Build all chains and check what is required of their dims.

        Raises
        ------
        WrongError
            A chain is refused that has a meaning somewhere, or a requirement says other than enumeration.
        """
        for number, chain in enumerate(self.family.chains):
            try:
                t = build(chain, self.symbols)
            except sl.ShapeError as error:
                self.tensors.append(None)
                self.refused.append(error.kind)
                if (point := next((p for p in self.points if self.truth.at(p)[number] is not None), None)) is not None:
                    raise WrongError(f"{chain} has a meaning at {self._named(point)}, but: {error}") from error
            except sl.InconclusiveError as error:
                self.tensors.append(None)
                self.refused.append(f"inconclusive: {error.claim}")
            else:
                self.tensors.append(t)
                self._check_requirements(t, number)

    def findings(self) -> Iterator[Finding]:
        """Yield what is said of each pair of chains that could be built."""
        for i, k, kind in self.family.pairs():
            left, right = self.tensors[i], self.tensors[k]
            if left is not None and right is not None:
                yield self.finding(i, k, kind)

    def finding(self, i: int, k: int, kind: str) -> Finding:
        """Return what is said of one pair."""
        left, right = self.tensors[i], self.tensors[k]
        assert left is not None
        assert right is not None
        truth, point = self._compare(i, k)
        started = time.process_time()
        try:
            with within(self.limit):
                proof = sl.prove_equal(left, right, budget=self.budget)
        except NoAnswerError:
            return Finding((i, k), kind, "no answer", truth, time.process_time() - started, "no answer in time")
        except sl.ShapeError as error:
            seconds = time.process_time() - started
            wrong = (
                "" if error.kind == "infeasible" and truth == "no point" else f"both are valid at a point, but {error}"
            )
            return Finding((i, k), kind, "wrong" if wrong else "infeasible", truth, seconds, wrong)
        seconds = time.process_time() - started
        verdict, text = proof.verdict.value, proof.obligation
        if proof.verdict is sl.Verdict.PROVED and truth == "different":
            verdict, text = "wrong", f"proved, but they differ at {self._named(point)}"
        if proof.witness is not None and (text := self._wrong_witness(proof.witness, i, k)):
            verdict = "wrong"
        return Finding((i, k), kind, verdict, truth, seconds, text)

    def _named(self, point: Point) -> dict[str, int]:
        return dict(zip(self.truth.names, point, strict=True))

    def _compare(self, i: int, k: int) -> tuple[str, Point]:
        """Return what is so of a pair at the points of the family, and the first where they differ."""
        truth: str = "no point"
        last: Point = ()
        for point in self.points:
            values = self.truth.at(point)
            a, b = values[i], values[k]
            if a is None or b is None:
                continue
            if not same(a, b):
                return "different", point
            if truth != "equal":
                truth, last = "equal" if a.size else "empty", point
        return truth, last

    def _check_requirements(self, t: sl.Tensor, number: int) -> None:
        needed = requirements(t.facts)
        for point in self.points:
            valid = self.truth.at(point)[number] is not None
            if (point, number) in self.truth.unjudged:
                continue
            known = t.facts.values(self._named(point))
            if valid != all(r.holds(known) for r in needed):
                text = f"{'a' if valid else 'no'} meaning at {self._named(point)}: [{', '.join(map(str, needed))}]"
                raise WrongError(f"{self.family.chains[number]} has {text}")

    def _wrong_witness(self, witness: sl.Witness, i: int, k: int) -> str:
        """Return what is wrong with a witness; empty if it is the smallest difference, and as it says."""
        found = {symbol.name: n for symbol, n in witness.dims.items()}
        chains = self.family.chains
        dims = {d.name: d for d in self.family.dims}
        rest = {d.name: d.values(d.min + d.multiple_of)[0] for d in self.family.dims if d.name not in found}
        said = brute_compare.Difference(found, witness.coord, witness.left, witness.right)
        if any(n not in dims[name].values(n) for name, n in found.items()):
            return f"the witness {said} is outside the bounds of the dims"
        true = brute_compare.difference(
            chains[i], chains[k], {**rest, **found}
        )  # p - p has no p, but is written with it
        if isinstance(true, brute_compare.Difference):
            true = replace(true, dims=found)
        if true != said:
            return f"the witness says {said}, but {true}"
        smaller = by_sum([dims[name] for name in found], until=sum(found.values()))
        for values in itertools.islice(smaller, MOST_SMALLER):
            here = dict(zip(found, values, strict=True))
            if here == found:
                break
            a, b = self._values(i, k, {**rest, **here})
            if a is not None and b is not None and not same(a, b):
                return f"the witness {said} is larger than {here}"
        return ""

    def _values(self, i: int, k: int, dims: dict[str, int]) -> tuple[brute.Grid | None, brute.Grid | None]:
        values = self.truth.at(tuple(dims[name] for name in self.truth.names))
        return values[i], values[k]


def check(claim: Claim, budget: int = 300) -> str:
    """Check what symlayout says of a claim by enumeration, and return what it says.

    Raises
    ------
    WrongError
        Enumeration contradicts it.
    """
    judge = Judge(Family([claim.left, claim.right], [0, 0], claim.dims), random.Random(0), budget)
    judge.build()
    if judge.refused:
        return f"{judge.refused[0]} when built"
    finding = judge.finding(0, 1, claim.kind)
    if finding.verdict == "wrong":
        raise WrongError(finding.text)
    return finding.verdict


def check_requirements(t: sl.Tensor, chain: Chain, claim: Claim) -> None:
    """Raise `WrongError` unless the requirements hold where the chain has a meaning, and only there."""
    judge = Judge(Family([chain], [0], claim.dims), random.Random(0), 0)
    judge._check_requirements(t, 0)


def most(claim: Claim) -> int:
    """Return how far the dims of a claim can be enumerated, so that the points are not too many."""
    return next((k for k in (6, 5, 4) if (k + 1) ** len(claim.dims) <= 1200), 3 - (len(claim.dims) > 5))
