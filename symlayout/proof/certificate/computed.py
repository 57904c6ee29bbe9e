"""The certificate that computed values are equal: a certificate of movement for each view of each pair of them.

Two computed values are one if their function is one and each view of the first is that view of the second.  Views are
movement, from inputs and from other computed values.  In the claims each computed value after stands as an input of
its own, ``value k`` for pair number k, and the value before that equals it stands as that input with its axes permuted.
The text says of both sides which values are in pairs, of which functions, and what they read.  Where both sides of a
view's claim are then the same operations of the same inputs, None stands for its certificate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.budgets import limits
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.proof.certificate.checker.formulas import agreement
from symlayout.proof.certificate.checker.pairs import ROUNDED
from symlayout.proof.certificate.checker.schema import sealed
from symlayout.proof.certificate.claim import constant_name
from symlayout.proof.certificate.computed_claims import (
    ClaimText,
    ComputedClaims,
    function_of,
    laws_needed,
    nodes_of,
    why_no_pair,
)
from symlayout.proof.certificate.formula_terms import Term, bits_of, term_of
from symlayout.proof.certificate.write import certify
from symlayout.proof.classes import are_one_expression
from symlayout.proof.congruence import RESHAPED, ROUNDED_CONSTANTS, Congruence, Pair, Way
from symlayout.proof.decide_equal import attempt
from symlayout.proof.rewritings import FORMS, OUTERMOST, Form, RewrittenSides, rewritten
from symlayout.tensors.chain import Tensor

_DEEPEST = 4  # values, one read by the next, that get pairs because only a view needs them


def certificate_of_computed(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    facts: Facts,
    known: Congruence,
    laws: Sequence[str] = (),
    *,
    form: Form = frozenset(),
    brief: bool = True,
) -> dict[str, Any]:
    """Return the certificate of a proof under *laws* that tensors of the same names are equal.

    The proof's pairs are *known*.  If it rewrote the tensors to a *form*, or compares values at some coordinates only,
    it is made once more of the rewritten tensors: the last form has functions outermost, so that values are compared as
    a whole.  *brief* leaves out the certificates of outputs that are one expression on both sides.

    Raises
    ------
    InconclusiveError
        That is not proved, or a claim of movement has no certificate.
    """
    sides = RewrittenSides(form, dict(left), dict(right), set(), set(), changed=False)
    failed: InconclusiveError | None = None
    if not form:
        try:
            return certify_computed(sides, facts, known, brief=brief)
        except InconclusiveError as error:
            failed = error
    reasons = set(known.uncertified)
    for tried in dict.fromkeys((form, form | {OUTERMOST})) if form else [frozenset({OUTERMOST})]:
        sides = rewritten(left, right, tried, laws)
        known = Congruence(facts, limits.decision_goals, frozenset(laws))
        claims = [(t, sides.right[name]) for name, t in sides.left.items()]
        if any(isinstance(attempt(*claim, facts, known, finite=True), str) for claim in claims):
            reasons.add("another form is not proved equal")
            continue
        reasons |= known.uncertified
        try:
            return certify_computed(sides, facts, known, brief=brief)
        except InconclusiveError as error:
            failed = failed or error
    if failed is not None and not reasons:
        raise failed
    raise InconclusiveError(f"the proof has a certificate: {'; '.join(sorted(reasons))}")


def certify_computed(sides: RewrittenSides, facts: Facts, known: Congruence, *, brief: bool = True) -> dict[str, Any]:
    """Return the certificate that each tensor on the left of *sides* equals that of the same name on the right.

    Unless *brief*, the tensors themselves get a certificate of movement even where both sides are one expression, and
    views where only the inputs that are read are the same.

    Raises
    ------
    InconclusiveError
        The proof takes a step that is no pair, or a claim of movement has no certificate.
    """
    writer = _Writer(sides, facts, known.laws, brief=brief)
    if ROUNDED in known.laws and ROUNDED_CONSTANTS in known.uncertified:
        writer.round_constants()
    for (_, _, order), why in known.known.items():
        if why is not None and writer.is_new(why):
            writer.add(why, tuple(range(why.a.batch)) if order == RESHAPED else order)
    return writer.end()


class _Writer:
    """Writes the pairs of a certificate, each after those that it needs, and then the outputs."""

    def __init__(self, sides: RewrittenSides, facts: Facts, laws: frozenset[str], *, brief: bool) -> None:
        self._sides, self._facts, self._laws, self._brief = sides, facts, laws, brief
        self._places = [
            {id(node): k for k, node in enumerate(nodes_of(side.values()))} for side in (sides.left, sides.right)
        ]
        self._claims = ComputedClaims(facts)
        self._text = ClaimText(self._claims, self._places)
        self._pairs: list[dict[str, Any]] = []
        self._tried: set[tuple[int, int]] = set()
        self._rounded: list[list[int]] = []

    def round_constants(self) -> None:
        """Let constants stand for those that are rounded in another way."""
        before, after = (
            [x for x in nodes_of(side.values()) if x.values is not None]
            for side in (self._sides.left, self._sides.right)
        )
        bits = {constant_name(x.values) for x in after if x.values is not None}
        for a in before:
            if a.values is None or constant_name(a.values) in bits:
                continue
            used = {k for _, k in self._rounded}
            for b in after:
                place = self._places[1][id(b)]
                if a.rounding + b.rounding > 0 and place not in used and not self._claims.add_rounded(a, b):
                    self._rounded.append([self._places[0][id(a)], place])
                    break

    def is_new(self, why: Pair) -> bool:
        """Return whether a pair is of values of the two sides, for which not one thing stands already."""
        return id(why.a) in self._places[0] and id(why.b) in self._places[1] and not self._claims.join(why)

    def end(self) -> dict[str, Any]:
        """Return the certificate, with the outputs."""
        show, outputs = _shown if self._brief else _shown_in_full, {}
        for name, t in self._sides.left.items():
            other = self._sides.right[name]
            self._add_below([(t, other)], 0)
            outputs[name] = show(self._claims.movement(t, other))
        self._text.end(self._sides.left, self._sides.right)
        needed = sorted({*laws_needed(self._pairs, self._rounded), *self._sides.laws})
        form: dict[str, Any] = {name: True for name in FORMS if name in self._sides.form}
        form |= {"rounded": self._rounded} if self._rounded else {}
        return sealed({"pairs": self._pairs, "outputs": outputs, "laws": needed, "text": self._text.data, **form})

    def add(self, why: Pair, order: tuple[int, ...], depth: int = 0) -> None:
        """Add a pair; axis ``order[k]`` of the first value is axis k of the second.

        *depth* is the number of pairs that need this one because their views read it.

        Raises
        ------
        InconclusiveError
            The pair has no certificate.
        """
        if why.by_formula:
            pair = self._of_one_formula(why, order, depth)
        else:
            pair = self._of_one_function(why, order, depth)
            self._text.add(why)
        self._claims.add(len(self._pairs), why, order)
        self._pairs.append(pair)

    def _of_one_function(self, why: Pair, order: tuple[int, ...], depth: int) -> dict[str, Any]:
        """Return the pair of two values of one function."""
        one = why.b if why.way.back else why.a
        if one.inputs and len(why.way.order) != one.inputs[0].rank - one.batch:
            raise InconclusiveError("the proof has a certificate: folds have the same terms but for some of no effect")
        is_plain = list(order) == sorted(order) and not why.reshaped  # else a view shows it
        views = self._views(why, order, depth)
        if not is_plain and (not self._brief or not any(views)):
            views = [_shown_in_full(sides) for sides in self._claims.views(why, order)]
        if not is_plain and not any(views):
            raise InconclusiveError("the proof has a certificate: no view shows in which order the axes are")
        groups = None if why.way.groups is None else [list(group) for group in why.way.groups]
        pair: dict[str, Any] = {
            "before": self._places[0][id(why.a)],
            "after": self._places[1][id(why.b)],
            "function": function_of(why.a),
            "order": list(order),
            "swapped": why.swapped,
            "box": [list(why.way.order), groups, why.way.back, list(why.way.reversed)],
            "law": why.way.law,
            "views": views,
        }
        if why.reshaped:
            pair["reshaped"] = why.b.batch
        if why.way.places is not None:
            shown = [_shown(self._claims.movement(*two), brief=self._brief) for two in why.way.places.claims()]
            pair["bijection"] = {"number": why.way.number, "is_one": shown}
        return pair

    def _of_one_formula(self, why: Pair, order: tuple[int, ...], depth: int) -> dict[str, Any]:
        """Return the pair of two values that have one formula."""
        mark, tried = self._claims.mark(), list[Any]()
        for wholes in product((self._claims.has, _never), repeat=2):
            terms = [term_of(t, is_whole) for t, is_whole in zip((why.a, why.b), wholes, strict=True)]
            if terms[0] is None or terms[1] is None or list(order) != sorted(order):
                break
            (left, views), (right, others) = terms[0], terms[1]
            if (left, right) in tried:
                continue
            tried.append((left, right))
            if depth <= _DEEPEST:
                self._add_below(product(views, others), depth)
                mark = self._claims.mark()
            at = self._equal_views(views, others, order)
            if (found := self._agreement(left, right, at, bits_of(why.a))) is None:
                continue
            at = self._needed(left, right, at, bits_of(why.a))
            shown = [_shown(two, brief=self._brief) for two in self._claims.views_of_terms((views, others), at, order)]
            reads = [
                [self._claims.read_by(v, numbers) for v in side]
                for side, numbers in zip((views, others), self._places, strict=True)
            ]
            return {
                "before": self._places[0][id(why.a)],
                "after": self._places[1][id(why.b)],
                "function": ["formula", "()"],
                "order": list(order),
                "swapped": False,
                "box": [[], None, False, []],
                "law": found[0],
                "views": shown,
                "formula": {
                    "left": left,
                    "right": right,
                    "bits": bits_of(why.a),
                    "places": [list(place) for place in at],
                    "reads": reads,
                    "fused": found[1],
                },
            }
        self._claims.forget(mark)
        raise InconclusiveError(f"the proof has a certificate: {why.a.name} and {why.b.name} have one formula")

    def _equal_views(
        self, views: Sequence[Tensor], others: Sequence[Tensor], order: tuple[int, ...]
    ) -> list[tuple[int, int]]:
        """Return which views of one formula are proved to be which of another one; nothing stands for more than before.

        Only those are compared that read the same.
        """
        found: list[tuple[int, int]] = []
        for i, k in product(range(len(views)), range(len(others))):
            if self._claims.leaf_keys(views[i]) != self._claims.leaf_keys(others[k]):
                continue
            mark = self._claims.mark()
            with suppress(InconclusiveError, ShapeError):
                for two in self._claims.views_of_terms((views, others), [(i, k)], order):
                    _shown(two, brief=self._brief)
                found.append((i, k))
            self._claims.forget(mark)
        return found

    def _agreement(self, left: Term, right: Term, at: Sequence[tuple[int, int]], bits: int) -> Any:
        """Return the law and the fused functions by which two terms are one; None if they are not, or without a law."""
        found = agreement(left, right, at, bits) if at else None
        return None if found is None or found[0] not in {"", *self._laws} else found

    def _needed(self, left: Term, right: Term, at: Sequence[tuple[int, int]], bits: int) -> list[tuple[int, int]]:
        """Return the equal views without which two terms are not one in that way."""
        kept, found = list(at), self._agreement(left, right, at, bits)
        for place in at:
            fewer = [each for each in kept if each != place]
            if self._agreement(left, right, fewer, bits) == found:
                kept = fewer
        return kept

    def _views(self, why: Pair, order: tuple[int, ...], depth: int) -> list[dict[str, Any] | None]:
        """Return the certificates of the claims about views of a pair, after pairs that only these claims need."""
        if depth <= _DEEPEST:
            self._add_below(zip(_inputs(why), why.b.inputs, strict=True), depth)
        mark = self._claims.mark()
        try:
            return [_shown(sides, brief=self._brief) for sides in self._claims.views(why, order)]
        except InconclusiveError:
            self._claims.forget(mark)
            raise

    def _add_below(self, views: Iterable[tuple[Tensor, Tensor]], depth: int) -> None:
        """Add pairs of values that *views* read, and for which nothing stands yet.

        A proof at some coordinates of views, or of signs that are turned, is no pair.  Often the values are equal
        everywhere, up to the shape of their batch, or have one formula.
        """
        for view, other in views:
            for a, b in product(*([x for x in v.leaves_read() if x.body is not None] for v in (view, other))):
                is_open = not (self._claims.has(a) and self._claims.has(b)) and a.key != b.key
                if is_open and (id(a), id(b)) not in self._tried:
                    self._tried.add((id(a), id(b)))
                    self._add_if_equal(a, b, depth + 1)

    def _add_if_equal(self, a: Tensor, b: Tensor, depth: int) -> None:
        """Add the pair of two values of one function, or of one formula, if it has a certificate."""
        box, order = Way(tuple(range(a.inputs[0].rank - a.batch))), tuple(range(a.batch))
        is_reshaped = a.extents[: a.batch] != b.extents[: b.batch]
        tried = [Pair(a, b, box, swapped, reshaped=is_reshaped) for swapped in (False, True)]
        tried = [why for why in tried if not why_no_pair(why, order, sorted(self._laws), self._facts)]
        if not is_reshaped:
            tried.append(Pair(a, b, Way(()), swapped=False, by_formula=True))
        for why in tried:
            with suppress(InconclusiveError, ShapeError):
                self.add(why, order, depth)
                return


def _never(_: Tensor) -> bool:
    return False


def _inputs(why: Pair) -> tuple[Tensor, ...]:
    """Return the views of the first value of a pair, in the order of those of the second."""
    return why.a.inputs[::-1] if why.swapped else why.a.inputs


def _shown(sides: tuple[Tensor, Tensor, Facts, Any], *, brief: bool = True) -> dict[str, Any] | None:
    """Return the certificate of a claim, or None where both sides are one expression (see `are_one_expression`)."""
    return None if are_one_expression(*sides[:2], unread=not brief) else certify(*sides)


def _shown_in_full(sides: tuple[Tensor, Tensor, Facts, Any], *, brief: bool = False) -> dict[str, Any] | None:
    """Return the certificate of a claim; None where there is none, and both sides are one expression."""
    try:
        return certify(*sides)
    except InconclusiveError:
        if are_one_expression(*sides[:2]):
            return None
        raise
