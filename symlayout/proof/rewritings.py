"""The sides of a claim as other expressions of the same values, which may be easier to compare.

A form says how both sides are rewritten, in this order: in single precision, with formulas in place of what runtimes
round, without added zeros, with their folds merged (of joined folds, the terms of the second side may change places),
and with their functions outermost.  Prover and check rewrite alike, so a certificate names its form.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from symlayout.errors import ShapeError
from symlayout.proof.added_zeros import without_added_zeros
from symlayout.proof.folds import Merging
from symlayout.proof.forms.half_precision import Sides, without_half
from symlayout.proof.forms.rounded_functions import without_rounding
from symlayout.proof.laws import HALF, REQUANTIZE, SIGNED_ZERO
from symlayout.proof.pull_functions import pulled
from symlayout.tensors.chain import Tensor

Form = frozenset[str]
WITHOUT_HALF, WITHOUT_ROUNDING, WITHOUT_ZEROS = "without_half", "without_rounding", "without_added_zeros"
MERGED, TURNED, OUTERMOST = "merged", "merged_turned", "outermost"
FORMS = (WITHOUT_HALF, WITHOUT_ROUNDING, WITHOUT_ZEROS, MERGED, TURNED, OUTERMOST)


def _each(function: Callable[[Mapping[str, Tensor]], dict[str, Tensor]]) -> Callable[[Sides], list[dict[str, Tensor]]]:
    """Return what does to both sides what *function* does to one."""
    return lambda sides: [function(side) for side in sides]


_BY_LAW = (
    (WITHOUT_HALF, without_half, HALF),
    (WITHOUT_ROUNDING, _each(without_rounding), REQUANTIZE),
    (WITHOUT_ZEROS, _each(without_added_zeros), SIGNED_ZERO),
)
FORM_OF = {law: name for name, _, law in _BY_LAW}
"""The form that a law allows, of those that replace values by other ones."""


@dataclass(frozen=True, slots=True)
class RewrittenSides:
    """Both sides of a claim in another form.

    Attributes
    ----------
    form : Form
        The names of what was done.
    left, right : dict of str to Tensor
        The tensors of the claim, by their names.
    laws, wanted : set of str
        The laws that this needs, and those with which more would be merged.
    changed : bool
        Whether the form makes a difference.
    """

    form: Form
    left: dict[str, Tensor]
    right: dict[str, Tensor]
    laws: set[str]
    wanted: set[str]
    changed: bool


def rewritten(
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    form: Collection[str],
    laws: Collection[str],
    *,
    decides: bool = False,
) -> RewrittenSides:
    """Return both sides of a claim in a *form*, as the granted *laws* allow.

    Something is proved for that only if *decides*: that windows with a fill have another element.
    """
    sides, used, wanted, changed = [dict(left), dict(right)], set[str](), set[str](), False
    for name, function, law in _BY_LAW:
        if name in form:
            before, sides = sides, function(sides)
            changed |= any(
                t is not side[key] for side, new in zip(before, sides, strict=True) for key, t in new.items()
            )
            used.add(law)
    if MERGED in form or TURNED in form:
        mergings = [Merging(frozenset(laws), turned, decides) for turned in (False, TURNED in form)]
        sides = [{name: m.of(t) for name, t in side.items()} for m, side in zip(mergings, sides, strict=True)]
        changed |= any(m.joined if TURNED in form else m.merged for m in mergings)
        used, wanted = used.union(*(m.used for m in mergings)), wanted.union(*(m.wanted for m in mergings))
    if OUTERMOST in form:
        outermost = [{name: pulled([t])[0][0] for name, t in side.items()} for side in sides]
        changed |= any(
            t is not side[name] for side, new in zip(sides, outermost, strict=True) for name, t in new.items()
        )
        sides = outermost
    return RewrittenSides(frozenset(form), sides[0], sides[1], used, wanted, changed)


def with_folds_merged(left: Tensor, right: Tensor, laws: frozenset[str], wanted: set[str]) -> Iterator[RewrittenSides]:
    """Yield two tensors with their folds merged: first without *laws*, and those that would merge more are *wanted*."""
    sides = {"": left}, {"": right}
    with suppress(ShapeError):  # merged folds may have more terms than int64 counts
        for granted in dict.fromkeys((frozenset[str](), laws)):
            merged = rewritten(*sides, {MERGED}, granted, decides=True)
            if merged.changed:
                yield merged
                if (turned := rewritten(*sides, {TURNED}, granted, decides=True)).changed:
                    yield turned
            if not merged.wanted:
                break
        wanted |= merged.wanted


def with_functions_outermost(left: Tensor, right: Tensor) -> Iterator[RewrittenSides]:
    """Yield two tensors with their functions outermost, if that makes a difference."""
    if left.computes and right.computes and (found := rewritten({"": left}, {"": right}, {OUTERMOST}, ())).changed:
        yield found
