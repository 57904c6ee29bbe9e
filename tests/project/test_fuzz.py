"""The fuzz itself: that it reaches every operation, that its brute force is right, and that it finds what is wrong."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends import names
from symlayout.frontends.onnx.operator import EXAMPLES
from symlayout_codegen.jit.instruction_set import NATIVE, available
from tests.fuzz import __main__ as command
from tests.fuzz import judge
from tests.fuzz.chains import PROPOSALS, Chain, Drawn, Link, at_points, draw, run
from tests.fuzz.memory import LAYOUTS, PLACES, Bytes, Guarded, by_size, layout
from tests.fuzz.shrink import smallest, typed
from tests.fuzz.tally import Summary, Tally
from tests.fuzz.words import in_words
from tests.fuzz_prove.steps import random_leaf
from tests.support import brute
from tests.support.effort import examples


@pytest.fixture(scope="module")
def all_drawn() -> list[Drawn]:
    return [draw(random.Random(seed)) for seed in range(examples(20))]


def test_every_operation_of_the_catalogue_can_be_drawn() -> None:
    found: Counter[str] = Counter()
    rnd = random.Random(0)
    for _ in range(1500):
        shape = random_leaf(rnd).shape
        for propose in PROPOSALS:
            if (step := propose(rnd, shape)) is not None:
                found[step[0]] += 1
                found.update(name for name, _ in in_words(step, shape))
    moving = {name for name in names() if name not in EXAMPLES and not name.startswith("microsoft:")}
    assert moving - set(found) == set()
    assert set(brute.OPERATIONS) | set(brute.JOINT) | set(brute.SEVERAL) <= {*found, "input"}


def test_a_step_in_other_words_means_the_same(all_drawn: list[Drawn]) -> None:
    compared = 0
    for drawn in all_drawn:
        core = Chain(
            drawn.chain.shape, tuple(Link(link.core, link.core) for link in drawn.chain.links), drawn.chain.dims
        )
        if any(link.said[0].endswith(("Slice-8", ":Slice", "StridedSlice")) for link in drawn.chain.links):
            continue  # bounds beyond the ends are clamped otherwise
        for point, grid in drawn.points[:10]:
            assert np.array_equal(run(core, point), grid)
            compared += 1
    assert compared > 2 * len(all_drawn)


def test_each_point_is_drawn_once_and_has_the_meaning_that_was_drawn(all_drawn: list[Drawn]) -> None:
    for drawn in all_drawn:
        again = at_points(drawn.chain, [point for point, _ in drawn.points])
        assert again.without == []
        assert all(np.array_equal(a, b) for (_, a), (_, b) in zip(again.points, drawn.points, strict=True))
        assert len({tuple(point.values()) for point, _ in drawn.points}) == len(drawn.points)
        assert at_points(drawn.chain, drawn.without).points == []


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_lie_inside_their_memory_and_guards_are_beside_it(name: str) -> None:
    rnd, memory = random.Random(0), Guarded(1 << 20)
    for shape in ((), (0, 3), (5,), (2, 3, 4), (1, 1, 6)):
        for place in PLACES:
            laid = layout(rnd, name, shape, 4)
            part = memory.part(laid.size, place)
            Bytes(0).fill(rnd, part, np.dtype("i4"))
            a = laid.view(part, shape, "i4")
            assert a.shape == shape
            low, high = np.lib.array_utils.byte_bounds(a) if a.size else (0, 0)
            first, last = np.lib.array_utils.byte_bounds(part) if a.size else (0, 0)
            assert first <= low <= high <= last


def test_element_types_are_of_many_sizes() -> None:
    assert {1, 2, 3, 4, 8, 16} <= set(by_size())


def test_every_instruction_set_of_the_processor_is_drawn_and_the_portable_one(all_drawn: list[Drawn]) -> None:
    drawn = {judge.plan(random.Random(seed), all_drawn[0]).march for seed in range(100)}
    assert drawn == {NATIVE, judge.PORTABLE, *available()}


@pytest.mark.slow
def test_a_chain_agrees_and_is_counted(tmp_path: Path) -> None:
    summary = tmp_path / "counts.json"
    assert command.main(["1", "--summary", str(summary)]) == 0
    first = json.loads(summary.read_text())
    assert first["cases"] > 100
    assert sum(first["dtypes"].values()) == first["cases"] == sum(first["outputs"].values())
    assert [(r["first"], r["next"]) for r in first["runs"]] == [(0, command.TOGETHER)]
    assert Summary.read(summary).next == command.TOGETHER
    assert command.main(["1", "--summary", str(summary)]) == 0  # there are enough
    assert json.loads(summary.read_text()) == first


@pytest.mark.slow
def test_a_wrong_result_is_found_and_made_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    right = sl.interpret

    def wrong(t: Any, *arrays: Any, **given: Any) -> Any:
        result = right(t, *arrays, **given)
        return result[::-1] if result.ndim and result.shape[0] > 2 else result

    monkeypatch.setattr(sl, "interpret", wrong)
    tally = Tally()
    for seed in range(40):
        drawn = draw(random.Random(seed))
        how = judge.plan(random.Random(seed), drawn)
        found = judge.judge(drawn, how, seed)
        if found.failure:
            less, plan, failure = smallest(drawn, how, seed, 3.0)
            assert "the interpreter gives other elements" in failure
            assert len(less.chain.links) <= len(drawn.chain.links)
            assert judge.judge(less, plan, seed).failure
            tally.failures.append(typed(less.chain))
            break
    assert tally.failures
    assert all("sl.tensor" in text for text in tally.failures)


def test_a_process_that_is_killed_names_its_chain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(command, "judged", lambda seed, tally: os.kill(os.getpid(), 9))
    failures = command.Worker(30, tmp_path).result().failures
    assert [failure.partition(",")[0] for failure in failures] == ["seed 30: the process was ended"]
