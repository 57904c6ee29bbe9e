"""What `tests.freeze` calls worse, and that two runs of it say the same."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import symlayout as sl
from tests.freeze.__main__ import main, read, spread
from tests.freeze.ask import NO_ANSWER, Answer, Question, answer
from tests.freeze.compare import changes, counts, report
from tests.freeze.questions import GROUPS
from tests.freeze.run import asked
from tests.support.paths import ROOT

PROVED = Answer("claims 0", "a claim", "proved", certificate="accepted", goals=10, seconds=0.5)
REFUTED, UNKNOWN = (replace(PROVED, verdict=verdict, certificate="") for verdict in ("refuted", "unknown"))
REFUSED = replace(UNKNOWN, verdict="refused: ShapeError infeasible")
FAILED, LATE = (replace(UNKNOWN, verdict=verdict) for verdict in ("error: KeyError", NO_ANSWER))
UNDER_LAW = replace(PROVED, laws=["real"])
UNCERTIFIED = replace(PROVED, certificate="none: it enumerates sizes")


def kinds(old: Answer, new: Answer) -> dict[str, int]:
    """Return how many changes there are of each kind that there is."""
    found = changes({old.key: old}, {new.key: new})
    return {kind: len(lines) for kind, lines in vars(found).items() if lines}


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (PROVED, REFUTED, "contradictions"),
        (REFUTED, PROVED, "contradictions"),
        (PROVED, UNKNOWN, "worse"),
        (REFUTED, UNKNOWN, "worse"),
        (PROVED, REFUSED, "worse"),
        (REFUTED, LATE, "worse"),
        (UNKNOWN, FAILED, "worse"),
        (REFUSED, LATE, "worse"),
        (PROVED, UNDER_LAW, "more_laws"),
        (UNDER_LAW, replace(PROVED, laws=["reassociate"]), "more_laws"),
        (PROVED, UNCERTIFIED, "lost"),
        (PROVED, replace(PROVED, certificate="REFUSED"), "lost"),
    ],
)
def test_what_is_worse_fails(old: Answer, new: Answer, kind: str, tmp_path: Path) -> None:
    assert kinds(old, new) == {kind: 1}
    assert changes({"": old}, {"": new}).is_worse
    assert main(["--compare", *written(tmp_path, old, new)]) == 1


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (UNKNOWN, PROVED, "better"),
        (UNKNOWN, REFUTED, "better"),
        (FAILED, UNKNOWN, "better"),
        (LATE, REFUSED, "better"),
        (UNDER_LAW, PROVED, "fewer_laws"),
        (UNCERTIFIED, PROVED, "won"),
        (UNKNOWN, REFUSED, "other"),
        (FAILED, LATE, "other"),
        (UNCERTIFIED, replace(PROVED, certificate="none: another reason"), "other"),
    ],
)
def test_what_is_better_or_only_another_answer_does_not_fail(
    old: Answer, new: Answer, kind: str, tmp_path: Path
) -> None:
    assert kinds(old, new) == {kind: 1}
    assert main(["--compare", *written(tmp_path, old, new)]) == 0


@pytest.mark.parametrize("same", [PROVED, REFUTED, UNKNOWN, REFUSED, FAILED, LATE, UNDER_LAW, UNCERTIFIED])
def test_the_same_answer_with_other_work_is_no_change(same: Answer) -> None:
    assert kinds(same, replace(same, goals=99, seconds=9.0, certificate_seconds=1.0)) == {}


def written(folder: Path, *answers: Answer) -> list[str]:
    """Return the files of runs that asked one question each."""
    paths = [folder / f"{number}.jsonl" for number in range(len(answers))]
    for path, one in zip(paths, answers, strict=True):
        path.write_text(f"{one.to_json()}\n")
    return list(map(str, paths))


def test_the_report_names_what_changed_and_where_work_grew() -> None:
    old = {f"k{n}": replace(PROVED, key=f"k{n}", name=f"claim {n}") for n in range(4)}
    new = {key: replace(one, goals=10 * n, seconds=1.0) for n, (key, one) in enumerate(old.items()) if n}
    new["k3"] = replace(new["k3"], verdict="refuted", certificate="")
    new["more"] = PROVED
    lines = report(old, new).splitlines()
    assert lines[0] == "3 questions in both, 1 only in the old file, 1 only in the new one"
    assert lines[1:3] == ["1 CONTRADICTION: PROVED and REFUTED", "    claim 3 (k3): proved -> refuted"]
    assert lines[3] == "goals: 30 before, 60 after, 2.00 of it"
    assert lines[4:6] == ["    claim 3 (k3): 10 -> 30", "    claim 2 (k2): 10 -> 20"]
    assert lines[-1] == "worse"
    assert report(old, old).splitlines()[-1] == "nothing is worse"
    assert counts([PROVED, UNKNOWN, REFUSED, UNCERTIFIED]).splitlines()[1].split()[:7] == [
        "claims", "4", "2", "1", "0", "1", "1",
    ]  # fmt: skip


# ---------------------------------------------------------------------- asking


def reversed_twice(_: Path) -> tuple[sl.Tensor, sl.Tensor]:
    x = sl.tensor("N, C", name="x")
    return sl.flip(sl.flip(x, 0), 0), x


def refused(_: Path) -> tuple[sl.Tensor, sl.Tensor]:
    return sl.flip(sl.tensor("N"), 5), sl.tensor("N")


def dies(_: Path) -> tuple[sl.Tensor, sl.Tensor]:
    os._exit(7)


def never_ends(_: Path) -> tuple[sl.Tensor, sl.Tensor]:
    while True:
        pass


def test_each_question_is_answered_whatever_its_process_does() -> None:
    sides = [dies, reversed_twice, refused, never_ends]
    found = list(asked([Question("some", s.__name__, s.__name__, s) for s in sides], jobs=2, limit=0.3))
    verdicts = ["error: exit status 7", "proved", "refused: ShapeError bad_axis", NO_ANSWER]
    assert [(a.name, a.verdict) for a in found] == [(s.__name__, v) for s, v in zip(sides, verdicts, strict=True)]
    assert found[1].certificate == "accepted"


def test_a_law_is_granted_only_where_a_claim_is_open_without_one(tmp_path: Path) -> None:
    def added(_: Path) -> tuple[sl.Tensor, sl.Tensor]:
        x, y, z = (sl.tensor("N", "float32", name=name) for name in "xyz")
        add = sl.onnx.add
        return add(add(x, y), z), add(x, add(y, z))

    laws = ("reassociate",)
    assert answer(Question("some", "added", "added", added, laws), tmp_path, 60.0).laws == ["reassociate"]
    assert answer(Question("some", "added", "added", added), tmp_path, 60.0).verdict == "unknown"
    assert answer(Question("some", "flip", "flip", reversed_twice, laws), tmp_path, 60.0).laws == []


def questions() -> Iterator[Question]:
    for group in ("claims", "conformance", "compute", "exported"):
        yield from GROUPS[group]()


def test_a_key_is_made_of_the_group_and_the_content_only() -> None:
    some = list(questions())
    assert len({q.key for q in some}) > 0.95 * len(some)
    a = some[0]
    assert replace(a, name="another").key == a.key != replace(a, content="another").key


def test_a_sample_is_spread_over_a_group() -> None:
    some = list(GROUPS["claims"]())
    assert spread(some, None) == some
    assert [some.index(q) for q in spread(some, 4)] == [0, len(some) // 4, len(some) // 2, 3 * len(some) // 4]


@pytest.mark.slow
def test_two_runs_say_the_same_whatever_the_seed_of_hashes_and_the_number_of_processes(tmp_path: Path) -> None:
    answers = []
    for seed in (1, 2):
        path = tmp_path / f"{seed}.jsonl"
        words = ["--out", str(path), "--sample", "4", "--jobs", str(seed)]
        environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
        subprocess.run([sys.executable, "-m", "tests.freeze", *words], cwd=ROOT, env=environment, check=True)
        answers.append([replace(a, seconds=0.0, certificate_seconds=0.0) for a in read(path).values()])
    assert answers[0] == answers[1]
    assert len(answers[0]) > 20
