"""The benchmarks: chains written once mean the same to everyone, turns are fair, and the report says what was lost."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

import symlayout as sl
from benchmarks.cases import Case, cases
from benchmarks.goals import goals
from benchmarks.measure import Row, measure
from benchmarks.plot import plot
from benchmarks.report import Run, as_json, as_markdown
from symlayout.commands import timing
from symlayout.commands.peers.arrays import numpy
from symlayout.commands.peers.program import Chain, UnsupportedError, output_shape, trace
from symlayout.commands.peers.task import Task, agrees
from symlayout.commands.timing import Spread, ratios, take_turns

CHAINS: list[tuple[Chain, tuple[int, ...]]] = [
    (lambda op, x: op.space_to_batch(x, (2, 3), ((1, 1), (0, 2))), (2, 4, 7, 3)),
    (lambda op, x: op.space_to_batch(x, (1, 2, 2), ((0, 0), (1, 0), (0, 1))), (1, 2, 3, 5)),
    (lambda op, x: op.batch_to_space(x, (2, 3), ((1, 0), (0, 2))), (12, 2, 3, 5)),
    (lambda op, x: op.space_to_depth(x, 2, "depth_first"), (2, 3, 4, 6)),
    (lambda op, x: op.space_to_depth(x, 3, "blocks_first", 3), (1, 3, 6, 2)),
    (lambda op, x: op.space_to_depth(x, 2, "blocks_first"), (1, 3, 2, 4, 6)),
    (lambda op, x: op.depth_to_space(x, 2, "depth_first"), (2, 12, 2, 3)),
    (lambda op, x: op.depth_to_space(x, 2, "blocks_first", 3), (1, 3, 2, 8)),
    (lambda op, x: op.depth_to_space(x, 2, "depth_first"), (1, 16, 2, 3, 2)),
    (lambda op, x: op.window(x, (2, 3), (1, 2)), (2, 4, 5)),
    (lambda op, x: op.concatenate([x[:, 1:], op.flip(x, 1)], axis=1), (3, 4)),
    (lambda op, x: op.roll(x, (1, -2), (0, 1)), (3, 4)),
    (lambda op, x: op.repeat(op.tile(x, (2, 1)), 3, 1), (3, 4)),
    (lambda op, x: op.pad(x, ((1, 2), (2, 1)), mode="reflect"), (3, 4)),
    (lambda op, x: op.reshape(op.transpose(x, (1, 0)), (2, -1)), (3, 4)),
]
FEW = {"reshape", "transpose", "slice", "concatenate", "pad", "broadcast_to", "tile"}


@pytest.mark.parametrize(("chain", "shape"), CHAINS, ids=lambda value: str(value) if isinstance(value, tuple) else "")
def test_a_chain_means_the_same_to_numpy(chain: Chain, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    t = chain(sl, sl.tensor(shape))
    expected = sl.interpret(t, x)
    assert output_shape(chain, shape) == expected.shape == t.shape
    out = np.empty_like(expected)
    assert agrees(numpy(Task(chain, x, out)), out, expected)
    assert agrees(numpy(Task(chain, x)), out, expected)


@pytest.mark.parametrize(("chain", "shape"), CHAINS, ids=lambda value: str(value) if isinstance(value, tuple) else "")
def test_few_verbs_are_enough(chain: Chain, shape: tuple[int, ...]) -> None:
    moves = trace(chain, shape, dict.fromkeys(FEW, lambda *_: True))
    assert {move.verb for move in moves} <= FEW
    assert moves[-1].shape == output_shape(chain, shape)


def test_what_a_library_lacks_is_said() -> None:
    with pytest.raises(UnsupportedError, match="pad"):
        trace(lambda op, x: op.pad(x, ((1, 1),)), (3,), {"reshape": lambda *_: True})


def test_a_result_that_differs_is_noticed() -> None:
    out, expected = np.zeros(3, "f4"), np.array([0.0, -0.0, 1.0], "f4")
    assert agrees(lambda: expected.copy(), out, expected)
    assert not agrees(lambda: np.array([0.0, 0.0, 1.0], "f4"), out, expected)
    assert not agrees(lambda: expected.astype("f8"), out, expected)
    assert not agrees(lambda: None, out, expected)  # nothing was written to out


def test_calls_take_turns_and_slow_ones_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    now = 0.0
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now))

    def slow() -> None:
        nonlocal now
        order.append("slow")
        now += 5e-3

    calls = {"base": lambda: order.append("base"), "slow": slow, "fast": lambda: order.append("fast")}
    times = take_turns(calls, 9e-3, least=2, most=5, before=lambda: None)
    assert order == ["base", "slow", "fast"] * 2 + ["base", "fast"] * 3
    assert {name: len(taken) for name, taken in times.items()} == {"base": 5, "slow": 2, "fast": 5}


def test_ratios_are_of_the_same_round() -> None:
    found = ratios({"base": [1.0, 2.0, 4.0, 100.0], "slow": [3.0, 6.0, 12.0]}, "base")
    assert found == {"slow": Spread(3.0, 3.0, 3.0)}


def test_every_case_has_its_own_name() -> None:
    names = [f"{c.group}: {c}" for c in cases()]
    assert len(set(names)) == len(names) > 300
    assert 30 < sum(c.quick for c in cases()) < 120


@pytest.fixture(scope="module")
def row() -> Row:
    """Return a small case, measured."""
    chain: Chain = lambda op, x: op.transpose(x, (1, 0))  # noqa: E731
    return measure(Case("transposes, powers of two", "transpose", chain, (64, 64), 4), ["numpy"], 0.0, 1)


def test_a_case_is_measured_beside_memcpy_and_numpy(row: Row) -> None:
    assert row.size == 64 * 64 * 4
    assert row.seconds.keys() == {"memcpy", "symlayout", "numpy"}
    assert row.fastest_peer == "numpy"
    assert row.differs == ()


def test_the_report_lists_lost_rows_first(row: Row) -> None:
    won = replace(row, ratios={"symlayout": Spread(1.0, 1.0, 1.0), "numpy": Spread(2.0, 2.0, 2.0)})
    lost = replace(row, ratios={"symlayout": Spread(4.0, 5.0, 6.0), "numpy": Spread(1.0, 2.0, 3.0)})
    run = Run("python -m benchmarks", "a machine", "versions", ["numpy"], 1, 2.0, (0.0, 1.0))
    text = as_markdown(run, [won, lost], {})
    _, _, after = text.partition("## Rows where a peer is faster: ")
    assert "| transposes, powers of two: transpose, float32 64x64 |" in after.partition("\n## ")[0]
    assert "5.00 (4.00-6.00) | 2.00 (1.00-3.00)" in after.partition("\n## ")[0]
    assert "missed in 1" in text
    powers = next(goal for goal in goals([lost]) if "power" in goal.what)
    assert (powers.measured, powers.met, powers.missed) == (5.0, False, (lost,))
    data = json.loads(as_json(run, [won, lost], {}))
    assert [r["by_memcpy"]["symlayout"][1] for r in data["rows"]][1] == 5.0
    assert len(ElementTree.fromstring(plot([won, lost])).findall(".//{*}circle")) == 2 + 4 + 2
