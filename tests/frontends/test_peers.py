"""A sample of what `tests.fuzz_peers` asks the frameworks, each where it is installed."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.conformance.corpus import FOLDER
from tests.frontends.calls import MOVEMENT
from tests.fuzz_peers import cases
from tests.peers.case import Case
from tests.peers.compare import Refused, answered, compare, difference
from tests.peers.draws import DRAWS
from tests.peers.exceptions import EXEMPTIONS
from tests.peers.worker import NEEDED, PeerError, Worker, missing

CASES = 60


@pytest.fixture(scope="module")
def workers() -> Iterator[dict[str, Worker]]:
    """Workers that were started, to be stopped at the end."""
    started: dict[str, Worker] = {}
    yield started
    for worker in started.values():
        worker.__exit__()


@pytest.mark.parametrize("framework", sorted(NEEDED))
def test_answers_agree(framework: str, workers: dict[str, Worker]) -> None:
    if (package := missing(framework)) is not None:
        pytest.skip(f"{package}, which is compared with, is not installed")
    worker = workers.setdefault(framework, Worker(framework))
    found = [difference for case in cases(framework, CASES) for difference in compare(case, worker)]
    assert [str(difference) for difference in found if difference.reason is None] == []


def test_every_operation_is_asked_about() -> None:
    assert set(DRAWS) == set(MOVEMENT)
    assert all(any(op.startswith(f"{framework}:") for op in DRAWS) for framework in NEEDED)


@pytest.mark.parametrize("framework", sorted(NEEDED))
def test_half_of_the_cases_have_an_answer_and_some_are_refused(framework: str) -> None:
    answers = [answered(case, late=False) for case in cases(framework, 400)]
    refused = sum(isinstance(answer, Refused) for answer in answers)
    assert 40 < refused < 200


def test_a_difference_is_seen(workers: dict[str, Worker]) -> None:
    if missing("torch") is not None:
        pytest.skip("torch, which is compared with, is not installed")
    worker = workers.setdefault("torch", Worker("torch"))

    class Wrong(Worker):
        """Answers for another operation than is asked."""

        def results(self, case: Any) -> Any:
            found = worker.results(case)
            return [np.flip(x) for x in found]

    with Wrong("torch") as wrong:
        seen = [d.what for case in cases("torch", 40) for d in compare(case, wrong) if d.reason is None]
    assert "values" in seen


def test_a_peer_that_refuses_says_so(workers: dict[str, Worker]) -> None:
    if missing("torch") is not None:
        pytest.skip("torch, which is compared with, is not installed")
    with pytest.raises(PeerError, match="negative dimension"):
        workers.setdefault("torch", Worker("torch")).results(Case("torch:tile", ((2,),), {"dims": [-1]}))


def test_a_peer_whose_process_ends_has_died() -> None:
    with Worker("of_no_framework") as worker, pytest.raises(PeerError, match="died"):
        worker.results(Case("torch:tile", ((2,),), {"dims": [1]}))


def test_each_exemption_is_of_an_operation() -> None:
    assert [row for row in EXEMPTIONS if not any(re.match(row.ops, op) for op in DRAWS)] == []


def test_a_model_that_openvino_saves_is_loaded(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    o: Any = pytest.importorskip("openvino.opset13")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    data = o.parameter(x.shape, np.float32)
    joined = o.concat([o.roll(data, [1], [2]), o.shuffle_channels(data, 1, 3)], 1)
    parts = o.split(o.pad(joined, [0, 0, 1], [0, 0, -1], "constant", np.float32(7)), 1, 2)
    tiled = o.tile(o.slice(o.transpose(parts.output(1), [0, 2, 1]), [-1], [-9], [-2], [1]), [1, 2, 1])
    column = o.squeeze(o.unsqueeze(o.reshape(tiled, [0, -1], True), [0]), [0])
    model = openvino.Model([o.broadcast(column, [2, 2, 12]).output(0), parts.output(0)], [data])
    openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    theirs = openvino.Core().compile_model(model, "CPU")([x])
    for number, y in enumerate(sl.load(tmp_path / "model.xml").values()):
        assert sl.interpret(y, x).tobytes() == theirs[number].tobytes()


FINDINGS = [row for row in json.loads((FOLDER / "findings.json").read_text(encoding="utf-8")) if "ask" in row]


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda row: row["id"])
def test_findings_are_as_they_are_told(finding: dict[str, Any], workers: dict[str, Worker]) -> None:
    """What a framework does wrong, in the version that the finding names, and that we do not."""
    package, version = finding["peer"].split()[:2]
    if importlib.util.find_spec(package) is None or importlib.metadata.version(package) != version:
        pytest.skip(f"{package} {version}, of which it is told, is not installed")
    ask = finding["ask"]
    case = Case(ask["op"], (tuple(ask["shape"]),), ask["attrs"], seed=None)
    framework = case.op.partition(":")[0]
    worker = workers.setdefault(framework, Worker(framework))
    if finding["symptom"] == "died":
        with pytest.raises(PeerError, match="died"):
            worker.results(case)
        return
    symptoms = {"only they refuse": "refuses", "only we refuse": "answers", "values": "values", "shapes": "shape"}
    found = difference(case, answered(case, late=False), worker)
    assert found is not None
    assert symptoms[found.what] == finding["symptom"]
