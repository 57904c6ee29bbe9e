"""Answers that depend on sizes: a question is asked again for each way in which its conditions can be answered.

An algorithm of the algebra asks `Conditions` for each side condition: whether *d* divides *n*, whether ``e >= 0``,
whether ``e == 0``.  The facts may decide it.  If they do not, one answer is taken and added to the facts of this case.
`cases` runs the algorithm again for every other answer, so that the cases are disjoint and cover all sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import renew
from symlayout.algebra.polynomial import Extent, evaluate, exact_quotient, symbol
from symlayout.algebra.search.branch_and_bound import searches
from symlayout.algebra.solve_divisibility import evident_floor
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.layouts.shapes import basis

Answer = TypeVar("Answer")

MOST_CASES = 24
"""The most cases that one question is asked for; if more are left, the question stays open."""
MOST_ANSWERS = 10
"""The most conditions that one case has; a question that has more stays open."""
_BOXES = 60  # most boxes that the search for sizes of a case visits
KIND = "no_layout"
"""The kind of a condition that sizes break."""


class Conditions:
    """The side conditions of one case.

    Attributes
    ----------
    facts : Facts
        What holds in the case: the facts of the question, and each answer that was taken.
    taken : list of (int, int)
        The number of each answer that was taken, and how many answers there are.
    """

    def __init__(self, facts: Facts, path: Sequence[int] = ()) -> None:
        self.facts = facts.fork()
        self.taken: list[tuple[int, int]] = []
        self._path = path

    def at_least(self, e: Extent) -> bool:
        """Return whether ``e >= 0``.

        Raises
        ------
        ShapeError
            ``attr_dtype`` for a step of coordinates, which is neither more nor less than a number.
        """
        e = self.facts.reduce(e)
        if basis.is_based(e):
            raise ShapeError("the strides are steps of coordinates: they are not ordered", "attr_dtype")
        if isinstance(e, int):
            return e >= 0
        if self.facts.nonnegative(e):
            return True
        if self.facts.nonnegative(-1 - e):
            return False
        return self._take(lambda facts: _demand(facts, e), lambda facts: _demand(facts, -1 - e)) == 0

    def zero(self, e: Extent) -> bool:
        """Return whether ``e == 0``; of a step of coordinates, whether each factor is 0."""
        e = self.facts.reduce(e)
        if basis.is_based(e):
            return all(map(self.zero, basis.parts(e).values()))
        if isinstance(e, int):
            return e == 0
        if self.facts.nonnegative(e - 1) or self.facts.nonnegative(-1 - e):
            return False
        if self.facts.vanishes(e):
            return True
        more, less = e - 1, -1 - e
        return (
            self._take(
                lambda facts: facts.require_zero(e, KIND),
                lambda facts: _demand(facts, more),
                lambda facts: _demand(facts, less),
            )
            == 0
        )

    def known_quotient(self, n: Extent, d: Extent) -> Extent | None:
        """Return ``n/d`` if the facts say that it is an integer; *d* is at least 1."""
        n, d = self.facts.reduce(n), self.facts.reduce(d)
        if basis.is_based(n):
            return _by_part(n, lambda factor: self.known_quotient(factor, d))
        exact = exact_quotient(n, d)
        if exact is not None or (isinstance(n, int) and isinstance(d, int)):
            return exact
        trial = self.facts.fork()
        try:
            quotient = trial.divide(n, d, KIND)
        except ShapeError:  # no sizes divide
            return None
        return quotient if len(trial.requirements) == len(self.facts.requirements) else None

    def quotient(self, n: Extent, d: Extent) -> Extent | None:
        """Return ``n/d``, or None where *d* does not divide *n*; *d* is at least 1."""
        if (known := self.known_quotient(n, d)) is not None:
            return self.facts.reduce(known)
        n, d = self.facts.reduce(n), self.facts.reduce(d)
        if basis.is_based(n):
            return _by_part(n, lambda factor: self.quotient(factor, d))
        if isinstance(n, int) and isinstance(d, int):
            return None
        if self.facts.nonnegative(n - 1) and self.facts.nonnegative(d - 1 - n):
            return None
        found: list[Extent] = []

        def divides(facts: Facts) -> None:
            found[:] = [facts.divide(n, d, KIND)]
            if facts.definitions:
                renew(facts)  # the quotient may make a floor exact

        def leaves_rest(facts: Facts) -> None:
            _demand(facts, n - d * facts.add_floor(n, d) - 1)

        return self.facts.reduce(found[0]) if self._take(divides, leaves_rest) == 0 else None

    def floor(self, n: Extent, d: Extent) -> Extent:
        """Return ``floor(n/d)`` as a size may mention it; *d* is at least 1."""
        n, d = self.facts.reduce(n), self.facts.reduce(d)
        if (exact := self.known_quotient(n, d)) is not None:
            return self.facts.reduce(exact)
        if isinstance(n, int) and isinstance(d, int):
            return n // d
        return floor_in(self.facts, n, d)

    def _take(self, *answers: Callable[[Facts], None]) -> int:
        """Return the number of the first answer, from the place in the path on, that the facts do not exclude."""
        place = len(self.taken)
        if place == MOST_ANSWERS:
            raise InconclusiveError(f"one more than {MOST_ANSWERS} conditions holds")
        for number in range(self._path[place] if place < len(self._path) else 0, len(answers)):
            trial = self.facts.fork()
            try:
                answers[number](trial)
            except ShapeError:  # no sizes of this case have the answer
                continue
            self.facts = trial
            self.taken.append((number, len(answers)))
            return number
        raise _NoSizes

    def next_path(self) -> list[int] | None:
        """Return the answers of the next case; None if this is the last one."""
        path = [number for number, _ in self.taken]
        while path:
            if path[-1] + 1 < self.taken[len(path) - 1][1]:
                return [*path[:-1], path[-1] + 1]
            path.pop()
        return None


def _by_part(e: Extent, quotient: Callable[[Extent], Extent | None]) -> Extent | None:
    """Return a step of coordinates with each factor divided; None if one is not divisible."""
    found: Extent = 0
    for path, factor in basis.parts(e).items():
        if (divided := quotient(factor)) is None:
            return None
        found = found + divided * basis.element(path)
    return found


class _NoSizes(Exception):
    """No sizes are left in this case."""


class CaseFound(Generic[Answer]):
    """The answer for one case, or why there is none, with sizes of the case: None if none are known."""

    def __init__(
        self,
        facts: Facts,
        answer: Answer | None,
        error: ShapeError | InconclusiveError | None,
        point: dict[str, int] | None,
    ) -> None:
        self.facts, self.answer, self.error, self.point = facts, answer, error, point


def cases(facts: Facts, question: Callable[[Conditions], Answer]) -> Iterator[CaseFound[Answer]]:
    """Yield the answer for each case that has sizes; the cases are disjoint and cover all sizes of *facts*.

    The last one has an `InconclusiveError` if there are more than `MOST_CASES`.
    """
    path: list[int] = []
    for _ in range(MOST_CASES):
        now = Conditions(facts, path)
        answer, error, empty = None, None, False
        try:
            answer = question(now)
        except (ShapeError, InconclusiveError) as raised:
            error = raised
        except _NoSizes:
            empty = True
        if not empty:
            point, certain = sizes_of(now.facts) if now.taken else (None, False)
            if point is not None or not certain:
                yield CaseFound(now.facts, answer, error, point)
        if (following := now.next_path()) is None:
            return
        path = following
    yield CaseFound(facts, None, InconclusiveError(f"one of the first {MOST_CASES} cases is left"), None)


def first_answer(facts: Facts, question: Callable[[Conditions], Answer]) -> tuple[Facts, Answer]:
    """Return the first case that has an answer and sizes, with the facts of the case.

    Raises
    ------
    ShapeError
        No case has an answer, and this is certain in each.
    InconclusiveError
        A case is open, and none has an answer.
    """
    errors: list[ShapeError | InconclusiveError] = []
    for case in cases(facts, question):
        if case.error is not None:
            errors.append(case.error)
        elif case.answer is not None and (case.point is not None or case.facts.requirements == facts.requirements):
            return case.facts, case.answer
    if not errors:
        raise InconclusiveError("any sizes are left")
    raise next((e for e in errors if isinstance(e, InconclusiveError)), errors[0])


def sizes_of(facts: Facts) -> tuple[dict[str, int] | None, bool]:
    """Return values of the dims that meet the facts, or None, and whether that answer is certain."""
    values: dict[str, int] = {}
    sure = True
    for part in dict.fromkeys(searches(facts, map(symbol, facts.dims))):
        point, certain = part.any_point(_BOXES)
        if point is None:
            if certain:
                return None, True
            sure = False
        else:
            values |= part.dims_at(point)
    if not sure or any(not r.holds(_with_definitions(facts, values)) for r in facts.requirements):
        return None, False
    return values, True


def _with_definitions(facts: Facts, values: dict[str, int]) -> dict[str, int]:
    """Return the values of dims with those of the floors and maxima that requirements mention."""
    known = dict(values)
    for name, definition in facts.definitions.items():
        if (value := definition.value(known)) is not None:
            known[name] = value
    for name, (top, bottom) in facts.quotients.items():
        if (divisor := evaluate(bottom, known)) != 0:
            known[name] = evaluate(top, known) // divisor
    return known


def floor_in(facts: Facts, n: Extent, d: Extent) -> Extent:
    """Return ``floor(n/d)`` as a size may mention it, where it is neither a number nor exact."""
    if facts.nonnegative(n) and facts.nonnegative(d - 1 - n):
        return 0
    known = evident_floor(n, d)
    return facts.add_floor(n, d) if known is None else known


def _demand(facts: Facts, e: Extent) -> None:
    facts.require_nonnegative(e, KIND)
