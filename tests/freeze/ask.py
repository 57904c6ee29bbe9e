"""Ask one question, and note the answer with the work that it took."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import symlayout as sl
from symlayout import deadlines
from symlayout.proof.attempts import DEFAULT_BUDGET
from symlayout.tensors.chain import Tensor
from tests.fuzz_prove.judge import NoAnswerError, within

NO_ANSWER = "no answer"
ENOUGH_GOALS = 1 << 62
Sides = tuple[Any, Any]  # two tensors, or the paths of two models


@dataclass(frozen=True, slots=True)
class Question:
    """Whether two sides are equal.

    Attributes
    ----------
    group, name : str
        The corpus, and the question's name in it, for readers.
    content : str
        All that the answer depends on beside the package.  The key is made of it.
    sides : callable
        Makes both sides; it may write files into the folder that it is given.
    laws : sequence of str
        The laws that are granted if the claim is UNKNOWN without one.
    budget : int
        The points that the search for a witness may evaluate.
    """

    group: str
    name: str
    content: str
    sides: Callable[[Path], Sides]
    laws: Sequence[str] = ()
    budget: int = DEFAULT_BUDGET

    @property
    def key(self) -> str:
        """The group and a digest of the content."""
        return f"{self.group} {sha256(self.content.encode()).hexdigest()[:16]}"


@dataclass(slots=True)
class Answer:
    """What was said of one question.

    Attributes
    ----------
    verdict : str
        ``proved``, ``refuted`` or ``unknown``; ``refused`` with the kind of the error; ``no answer`` within the limit;
        ``error`` with the exception or the exit status.
    laws : list of str
        The laws that the verdict needs.
    certificate : str
        Of what is proved: ``accepted`` or ``REFUSED`` by `symlayout.check`, or ``none`` with the reason.
    goals : int
        The goals that the verdict took, without the certificate.
    seconds, certificate_seconds : float
        Time of the processor for the verdict; and for the certificate with its check.
    """

    key: str
    name: str
    verdict: str = NO_ANSWER
    laws: list[str] = field(default_factory=list)
    certificate: str = ""
    goals: int = 0
    seconds: float = 0.0
    certificate_seconds: float = 0.0

    def to_json(self) -> str:
        """Return the answer as a line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, line: str) -> Answer:
        """Return the answer of a line."""
        return cls(**json.loads(line))


def answer(question: Question, folder: Path, limit: float) -> Answer:
    """Return the answer; sides, verdict and certificate may each take *limit* seconds of the processor."""
    made = Answer(question.key, question.name)
    try:
        with within(limit):
            before, after = question.sides(folder)
            if isinstance(before, Path):
                before, after = sl.read_model(before), sl.read_model(after)
        begun = time.process_time()
        try:
            with within(limit), _goals_counted(made):
                found = _decided(before, after, question)
        finally:
            made.seconds = round(time.process_time() - begun, 4)
        made.verdict, made.laws = found.verdict.value, sorted(found.laws)
        if found.verdict is sl.Verdict.PROVED:
            begun = time.process_time()
            made.certificate = _certified(found, before, after, limit)
            made.certificate_seconds = round(time.process_time() - begun, 4)
    except NoAnswerError:
        pass  # then the verdict is still that there is none
    except sl.SymlayoutError as error:
        made.verdict = f"refused: {type(error).__name__} {getattr(error, 'kind', '')}".rstrip()
    except Exception as error:  # a crash is an answer to compare as well, and tools have errors of their own
        made.verdict = f"error: {type(error).__name__}"
    return made


def _decided(before: Any, after: Any, question: Question) -> sl.Proof | sl.Verification:
    """Decide without a law, and with the laws of the question what that leaves open."""

    def decide(laws: Sequence[str]) -> sl.Proof | sl.Verification:
        if isinstance(before, Tensor):
            return sl.prove_equal(before, after, laws=laws, budget=question.budget)
        return sl.verify(before, after, laws=laws, budget=question.budget, run=False)

    found = decide(())
    return decide(question.laws) if question.laws and found.verdict is sl.Verdict.UNKNOWN else found


def _certified(found: sl.Proof | sl.Verification, before: Any, after: Any, limit: float) -> str:
    try:
        with within(limit):
            shown = json.loads(json.dumps(found.certificate))
            return "accepted" if sl.check(shown, before=before, after=after) else "REFUSED"
    except NoAnswerError:
        return f"none: {NO_ANSWER}"
    except sl.InconclusiveError as error:
        return f"none: {str(error).splitlines()[0]}"


@contextmanager
def _goals_counted(made: Answer) -> Iterator[None]:
    """Count the goals of the body, as `symlayout.deadlines.goals_within` does."""
    left = [ENOUGH_GOALS]
    token = deadlines._goals.set(left)
    try:
        yield
    finally:
        deadlines._goals.reset(token)
        made.goals = ENOUGH_GOALS - left[0]
