"""What changed between two runs: verdicts, laws, certificates, goals and seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tests.freeze.ask import NO_ANSWER, Answer

WORST = 10
DECIDED = ("proved", "refuted")
ACCEPTED = "accepted"


@dataclass
class Changes:
    """The questions that are answered otherwise, a line for each.

    `contradictions`, `worse`, `more_laws` and `lost` (certificates) make a comparison fail.
    """

    contradictions: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    more_laws: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    better: list[str] = field(default_factory=list)
    fewer_laws: list[str] = field(default_factory=list)
    won: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)

    @property
    def is_worse(self) -> bool:
        """Whether anything is worse than before."""
        return bool(self.contradictions or self.worse or self.more_laws or self.lost)


def changes(old: Mapping[str, Answer], new: Mapping[str, Answer]) -> Changes:
    """Return what changed for the questions that both runs asked."""
    found = Changes()
    for key in (key for key in old if key in new):
        a, b = old[key], new[key]
        line = f"{b.name} ({key}): {a.verdict} -> {b.verdict}"
        if a.verdict != b.verdict:
            _place(found, a.verdict, b.verdict).append(line)
        elif a.verdict == "proved":
            laws = f"{b.name} ({key}): {' '.join(a.laws) or 'no law'} -> {' '.join(b.laws) or 'no law'}"
            if set(b.laws) - set(a.laws):
                found.more_laws.append(laws)
            elif set(a.laws) - set(b.laws):
                found.fewer_laws.append(laws)
        if b.verdict == "proved" and a.certificate != b.certificate and a.verdict == b.verdict:
            place = found.won if b.certificate == ACCEPTED else found.lost if a.certificate == ACCEPTED else found.other
            place.append(f"{b.name} ({key}): {a.certificate} -> {b.certificate}")
    return found


def _place(found: Changes, old: str, new: str) -> list[str]:
    if old in DECIDED and new in DECIDED:
        return found.contradictions
    if old in DECIDED or (_fails(new) and not _fails(old)):
        return found.worse
    return found.better if new in DECIDED or (_fails(old) and not _fails(new)) else found.other


def _fails(verdict: str) -> bool:
    return verdict == NO_ANSWER or verdict.startswith("error")


def report(old: Mapping[str, Answer], new: Mapping[str, Answer]) -> str:
    """Return the comparison as text."""
    found = changes(old, new)
    both = [(old[key], new[key]) for key in old if key in new]
    missing, added = len(old) - len(both), len(new) - len(both)
    lines = [f"{len(both)} questions in both, {missing} only in the old file, {added} only in the new one"]
    for title, some in (
        ("CONTRADICTION: PROVED and REFUTED", found.contradictions),
        ("WORSE verdict", found.worse),
        ("MORE LAWS", found.more_laws),
        ("certificate LOST", found.lost),
        ("better verdict", found.better),
        ("fewer laws", found.fewer_laws),
        ("certificate won", found.won),
        ("another refusal or reason", found.other),
    ):
        lines += [f"{len(some)} {title}", *(f"    {line}" for line in some)] if some else []
    lines += _work("goals", both, lambda a: a.goals)
    lines += _work("seconds", both, lambda a: a.seconds)
    lines += _work("seconds of certificates", both, lambda a: a.certificate_seconds)
    return "\n".join([*lines, "worse" if found.is_worse else "nothing is worse"])


def _work(what: str, both: Iterable[tuple[Answer, Answer]], of: Callable[[Answer], float]) -> list[str]:
    """Return the sums of some work, and the questions for which it grew most."""
    pairs = list(both)
    before, after = (sum(of(pair[side]) for pair in pairs) for side in (0, 1))
    ratio = f", {after / before:.2f} of it" if before else ""
    grown = sorted(pairs, key=lambda p: of(p[0]) - of(p[1]))[:WORST]
    worst = [f"    {b.name} ({b.key}): {of(a):g} -> {of(b):g}" for a, b in grown if of(b) > of(a)]
    return [f"{what}: {before:.10g} before, {after:.10g} after{ratio}", *worst]


def counts(answers: Iterable[Answer]) -> str:
    """Return a table: how many questions of each group have which verdict, the certificates, and the work."""
    groups: dict[str, list[Answer]] = {}
    for a in answers:
        groups.setdefault(a.key.partition(" ")[0], []).append(a)
    lines = [
        f"{'':12} {'asked':>6} {'proved':>7} {'accepted':>9} {'refuted':>8} {'unknown':>8} {'other':>6} {'seconds':>8}"
    ]
    for group, some in groups.items():
        said = [sum(a.verdict == verdict for a in some) for verdict in (*DECIDED, "unknown")]
        accepted = sum(a.certificate == ACCEPTED for a in some)
        seconds = sum(a.seconds + a.certificate_seconds for a in some)
        lines.append(
            f"{group:12} {len(some):6} {said[0]:7} {accepted:9} {said[1]:8} {said[2]:8} {len(some) - sum(said):6}"
            f" {seconds:8.0f}"
        )
    return "\n".join(lines)
