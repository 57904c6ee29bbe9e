"""What `sl.optimize` changed, as data, text and a picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from symlayout.errors import legible, one_line
from symlayout.optimize_models.before_after import picture
from symlayout.optimize_models.changed_regions import ChangedRegion
from symlayout.optimize_models.movement_cost import Cost
from symlayout.optimize_models.report_in_words import Stayed, lines_of, words_of
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.proof.verdict import Verdict

_MANY, _SHOWN = ("constants", "nodes"), 6  # rules that rewrite a value in many places, and how many the text names


@dataclass(frozen=True, slots=True)
class Change:
    """One rewrite of the graph, and what came of it.

    Attributes
    ----------
    rule : str
        ``"movement"`` for regions in their cheapest spelling, ``"layout"`` for operations that run in another layout,
        ``"pads"`` for pads that convolutions do themselves, ``"repeats"`` for what operands that broadcast repeat,
        ``"dilation"`` for convolutions of interleaved parts, ``"products"`` for products with constant weights in the
        parts in which they are read, ``"joins"`` for values that are joined along another axis, ``"fills"`` for
        values of one constant, ``"signs"`` for signs of joined parts that go into a factor, ``"functions"`` for
        functions of single elements before movement, ``"twice"`` for what is computed in two orders of its axes,
        ``"terms"`` for channels in another order than before, ``"constants"`` for values and targets that are known,
        ``"nodes"`` for values that fewer nodes compute, ``"kernel"`` for regions that one kernel moves.
    rewritten : tuple of Rewritten
        What was rewritten, each with its own proof.
    accepted : bool
        Whether the rewrite is in the result.
    reason : str
        Why it is not.
    """

    rule: str
    rewritten: tuple[Rewritten, ...]
    accepted: bool
    reason: str = ""

    @property
    def details(self) -> tuple[str, ...]:
        """What was rewritten, as text."""
        return tuple(each.text for each in self.rewritten)


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """What `optimize` did.

    Attributes
    ----------
    changes : tuple of Change
        The rewrites that were tried, in order.
    before, after : Cost
        What movement costs in the model before and after.
    nodes : tuple of int
        The number of nodes before and after.
    verdicts : dict of str to Verdict
        The verdict of each output.
    laws : tuple of str
        ``"reassociate"`` if a sum runs in another layout, where runtimes may add up its terms in another order.
    held : tuple of str
        With a layout, the operators that keep values in the other one, such as ``"Conv c1"``.  Without one, sums that
        stay where they are because the law ``"reassociate"`` is not granted.
    regions : tuple of ChangedRegion
        The parts of the graph that are changed, each with its nodes before and after.
    stayed : tuple of Stayed
        The nodes of the result that move elements, each with the reason.
    out_of_time : bool
        Whether the time limit ended the search, so that more may be found.
    out_of_goals : bool
        Whether the goals of one search ended it: see ``symlayout.limits.optimize_goals``.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> model = Path(sl.__file__).parents[1] / "examples" / "models" / "pixel_unshuffle.onnx"  # in a checkout
    >>> report = sl.optimize(model).report
    >>> report.nodes[1] < report.nodes[0], report.verdicts
    (True, {'y': <Verdict.PROVED: 'proved'>})
    """

    changes: tuple[Change, ...]
    before: Cost
    after: Cost
    nodes: tuple[int, int]
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    laws: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    regions: tuple[ChangedRegion, ...] = ()
    stayed: tuple[Stayed, ...] = ()
    out_of_time: bool = False
    out_of_goals: bool = False

    def to_json(self, *, certificates: bool = False) -> dict[str, Any]:
        """Return the report as JSON data.

        Parameters
        ----------
        certificates : bool
            Whether each value that was rewritten has its certificate in the data, which `sl.check` verifies.  A text
            stands for a proof that has none.
        """
        return {
            "changes": [
                {
                    "rule": c.rule,
                    "details": list(c.details),
                    "accepted": c.accepted,
                    "reason": c.reason,
                    "rewritten": [each.to_json(certificates) for each in c.rewritten],
                }
                for c in self.changes
            ],
            "before": _cost_data(self.before, self.nodes[0]),
            "after": _cost_data(self.after, self.nodes[1]),
            "verdicts": {name: verdict.value for name, verdict in self.verdicts.items()},
            "laws": list(self.laws),
            "held": list(self.held),
            "regions": [{**region.to_json(), **words} for region, words in self._in_words()],
            "stayed": [each.to_json() for each in self.stayed],
            "out_of_time": self.out_of_time,
            "out_of_goals": self.out_of_goals,
        }

    def in_words(self) -> str:
        """Return what went and why that is right, for each region, and what stayed and why: for a pull request."""
        outputs = Counter(verdict.name for verdict in self.verdicts.values())
        proofs = ", ".join(f"{count} {name}" for name, count in outputs.items())
        lines = [*str(self).splitlines()[:3], f"outputs      {proofs}, for all sizes and all inputs"]
        lines += [f"laws         {', '.join(self.laws)}"] if self.laws else []
        return legible("\n".join([*lines, "", *lines_of(self._in_words(), self.stayed)]))

    def _in_words(self) -> list[tuple[ChangedRegion, dict[str, Any]]]:
        accepted: dict[str, list[Rewritten]] = {}
        for change in self.changes:
            if change.accepted:
                accepted.setdefault(change.rule, []).extend(change.rewritten)
        return [(region, words_of(region, accepted)) for region in self.regions]

    def svg(self, title: str = "what symlayout optimize changed", made_by: str = "") -> str:
        """Return a picture of the regions before and after, as an SVG document.

        Coloured boxes move elements, and the others compute.  *made_by* is the command that draws the picture again;
        it is written into the SVG as metadata.
        """
        summary = str(self).splitlines()[:3]
        proofs = Counter(verdict.name for verdict in self.verdicts.values())
        summary += [f"outputs      {', '.join(f'{count} {name}' for name, count in proofs.items())}, for all sizes"]
        summary += [f"laws         {', '.join(self.laws)}"] if self.laws else []
        return picture(title, summary, self.regions, made_by=made_by)

    def __str__(self) -> str:
        before, after = self.before, self.after
        lines = [
            f"transposes   {before.transposes} -> {after.transposes}",
            f"bytes moved  {before.total} -> {after.total}",
            f"nodes        {self.nodes[0]} -> {self.nodes[1]}",
            *(f"output {one_line(name)}: {verdict.name}" for name, verdict in self.verdicts.items()),
        ]
        lines += ["the time limit ended the search: more may be found"] if self.out_of_time else []
        lines += ["symlayout.limits.optimize_goals ended the search: more may be found"] if self.out_of_goals else []
        lines += [f"under the laws: {', '.join(self.laws)}"] if self.laws else []
        lines += [f"held back by {one_line(name)}" for name in self.held]
        for change in self.changes:
            shown = change.rewritten if change.rule not in _MANY else change.rewritten[:_SHOWN]
            lines += [f"{'' if change.accepted else 'not done: '}{change.rule}: {each}" for each in shown]
            if len(shown) < len(change.rewritten):
                lines.append(f"{change.rule}: {len(change.rewritten) - len(shown)} more, which `changes` has")
            lines += [f"  because {change.reason}"] if change.reason else []
        return legible("\n".join(lines))


def _cost_data(cost: Cost, nodes: int) -> dict[str, Any]:
    total = cost.total
    return {
        "transposes": cost.transposes,
        "bytes": total if isinstance(total, int) else str(total),
        "nodes": nodes,
    }
