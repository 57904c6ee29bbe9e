"""Our answer beside a framework's: the same arrays, or both refuse; and what is allowed to differ, with the reason."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import symlayout as sl
from tests.peers.case import Array, Case
from tests.peers.exceptions import agreed
from tests.peers.worker import PeerError, Worker

KINDS = {
    "attr_dtype", "attr_missing", "attr_unknown", "bad_axis", "bad_format", "bad_mode", "batch_block_not_one",
    "batch_crop_nonzero", "batch_pad_nonzero", "block_lt_1", "block_lt_2", "crop_exceeds", "infeasible",
    "length_mismatch", "negative_crop", "negative_pad", "non_divisible", "overflow", "rank", "size_mismatch",
    "unknown_rank",
}  # fmt: skip
WITH_INTERVALS = {"onnx", "openvino", "tensorflow"}
MOST_NEIGHBOURS = 60


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs, in words; *reason* if that is agreed."""

    case: Case
    what: str
    ours: str
    theirs: str
    reason: str | None = None

    def __str__(self) -> str:
        return f"{self.what}: {self.case}\n  ours:   {self.ours}\n  theirs: {self.theirs}"


@dataclass(frozen=True, slots=True)
class Refused:
    """The kind of our error, and its text."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


@dataclass(frozen=True, slots=True)
class Answer:
    """Our results, and the arrays that they give."""

    made: list[sl.Tensor]
    arrays: list[Array]

    @property
    def shapes(self) -> list[tuple[Any, ...]]:
        """The shapes that are inferred."""
        return [y.shape for y in self.made]


def applied(case: Case, entries: Any) -> list[sl.Tensor]:
    """Return our results for inputs with these extents."""
    leaves = [sl.tensor(shape, dtype=case.dtype, name=f"x{k}") for k, shape in enumerate(entries)]
    made = sl.op(case.op)(leaves if case.joint else leaves[0], **case.attributes)
    return made if isinstance(made, list) else [made]


def answered(case: Case, *, late: bool) -> Answer | Refused:
    """Return our answer, where extents are known before the operation or *late*, after it.

    Any error but a typed one is raised.
    """
    try:
        made = applied(case, case.known if late else case.shapes)
        made = [y.subs(case.unknown()) for y in made] if late else made
        arrays: dict[str, Any] = {f"x{k}": x for k, x in enumerate(case.arrays())}
        return Answer(made, [sl.interpret(y, **{x.name: arrays[x.name] for x in y.leaves()}) for y in made])
    except sl.ShapeError as error:
        if error.kind not in KINDS:
            raise
        return Refused(error.kind, str(error).partition("\n")[0])
    except sl.ArrayError as error:
        return Refused("array", str(error).partition("\n")[0])


def compare(case: Case, peer: Worker) -> list[Difference]:
    """Return what differs between us and a framework, on the known shapes and on those that contain them."""
    found: list[Difference] = []
    try:
        found.extend(_compared(case, peer))
    except Exception as error:  # of ours: nothing but a typed error is an answer
        found.append(Difference(case, "an error that is no answer", f"{type(error).__name__}: {error}", ""))
    return found


def _compared(case: Case, peer: Worker) -> Iterator[Difference]:
    ours = answered(case, late=False)
    if (found := difference(case, ours, peer)) is not None:
        yield found
    yield from _late(case, ours)
    try:
        bounds = [y.bounds() for y in applied(case, case.known)]
    except sl.ShapeError:
        return  # `_late` compares it
    if case.op.partition(":")[0] in WITH_INTERVALS:
        yield from _intervals(case, bounds, peer)
    yield from _hull(case, bounds)


def difference(case: Case, ours: Answer | Refused, peer: Worker) -> Difference | None:
    """Return what differs from the framework's answer where the shapes are known, if anything."""
    try:
        theirs: list[Array] | str = peer.results(case)
    except PeerError as error:
        theirs = str(error)

    def found(what: str, mine: Any, other: Any) -> Difference:
        reason = agreed(case, what, ours.kind if isinstance(ours, Refused) else "", theirs)
        return Difference(case, what, str(mine), str(other), reason)

    if isinstance(theirs, str):
        if isinstance(ours, Answer):
            return found("only they refuse", ours.shapes, re.sub(r"\s+", " ", theirs)[-300:])
        return None
    if isinstance(ours, Refused):
        return found("only we refuse", ours, [x.shape for x in theirs])
    if ours.shapes != [x.shape for x in ours.arrays]:
        return found("our shape is not that of our array", ours.shapes, [x.shape for x in ours.arrays])
    if ours.shapes != [x.shape for x in theirs]:
        return found("shapes", ours.shapes, [x.shape for x in theirs])
    if not _same(ours.arrays, theirs):
        return found("values", [a.tolist() for a in ours.arrays], [b.tolist() for b in theirs])
    return None


def _same(left: list[Array], right: list[Array]) -> bool:
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(left, right, strict=True))


def _late(case: Case, ours: Answer | Refused) -> Iterator[Difference]:
    """Yield what is another answer when the extents come late."""
    late = answered(case, late=True)
    if isinstance(late, Refused) or isinstance(ours, Refused):
        kinds = [r.kind if isinstance(r, Refused) else "" for r in (late, ours)]
        if kinds[0] != kinds[1]:
            what = "another kind when extents come late"
            before, after = (str(r) if isinstance(r, Refused) else str(r.shapes) for r in (ours, late))
            reason = agreed(case, what, *kinds)
            if reason is None and "" not in kinds and _refused_if_nothing_is_known(case) == kinds[1]:
                reason = "of two faults the one that is seen first is told"
            yield Difference(case, what, after, before, reason)
    elif late.shapes != ours.shapes:
        yield Difference(case, "another shape when extents come late", str(late.shapes), str(ours.shapes))
    elif not _same(late.arrays, ours.arrays):
        yield Difference(case, "other values when extents come late", str(late.arrays), str(ours.arrays))


def _refused_if_nothing_is_known(case: Case) -> str:
    """Return the kind of error where no extent is known before the operation."""
    unknown = replace(case, known=tuple(((0, None),) * len(shape) for shape in case.shapes))
    answer = answered(unknown, late=True)
    return answer.kind if isinstance(answer, Refused) else ""


def _intervals(case: Case, bounds: list[Any], peer: Worker) -> Iterator[Difference]:
    """Yield where our bounds are looser than what the framework infers."""
    try:
        theirs = peer.extents(case)
    except PeerError:
        return  # what it refuses, `_results` compares
    possible = _sizes(case)
    for number, (mine, intervals) in enumerate(zip(bounds, theirs, strict=True)):
        if intervals is not None and not _within(mine, intervals):
            what, reason = "looser bounds", agreed(case, "looser bounds", "", theirs)
            if not all(_within([(n, n) for n in shapes[number]], intervals) for shapes in possible):
                reason = "the framework excludes sizes that are possible"
            yield Difference(case, what, str(mine), str(intervals), reason)


def _within(inner: Any, outer: Any) -> bool:
    return len(inner) == len(outer) and all(
        low >= least and (most is None or (high is not None and high <= most))
        for (low, high), (least, most) in zip(inner, outer, strict=True)
    )


def _sizes(case: Case) -> list[list[tuple[Any, ...]]]:
    """Return the shapes of our results for all inputs that are possible, as far as `Case.neighbours` goes."""
    found = []
    for each in case.neighbours(MOST_NEIGHBOURS):
        with contextlib.suppress(sl.ShapeError):
            found.append([y.shape for y in applied(each, each.shapes)])
    return found


def _hull(case: Case, bounds: list[Any]) -> Iterator[Difference]:
    """Yield where our bounds are not the hull of the extents over all shapes, if these are few."""
    if not all(isinstance(e, int) or e[1] is not None for entries in case.known for e in entries):
        return
    if len(list(case.neighbours(MOST_NEIGHBOURS + 1))) > MOST_NEIGHBOURS or not (sizes := _sizes(case)):
        return
    for number, mine in enumerate(bounds):
        alike = [shapes[number] for shapes in sizes if len(shapes[number]) == len(mine)]  # no axis is skipped
        extents = list(zip(*alike, strict=True))
        hull = [(min(e), max(e)) for e in extents]
        if mine != hull:
            yield Difference(case, "bounds are not the hull", str(mine), str(hull))
