"""The runner that compares the algebra with peers on operands of their tests, on calls that are written here."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.layouts import compare_peers, cute_dsl_peer

A, B = ("layout", (4, 3), (3, 1)), ("layout", 6, 2)
COMPOSED = ("composition", A, (B,))


def test_an_equal_answer_a_wrong_one_and_one_that_is_refused_are_told_apart() -> None:
    right = ("layout", (2, 3), (6, 1))
    assert compare_peers.compare({COMPOSED: right}) == {"equal": 1}
    assert compare_peers.compare({COMPOSED: ("layout", 6, 6)}) == {
        "different: symlayout is right, the peer is wrong": 1
    }
    assert compare_peers.compare({COMPOSED: None}) == {"different: symlayout is right, the peer refuses": 1}
    overlap = ("complement", ("layout", (3, 2), (2, 3)), ())
    assert compare_peers.compare({overlap: None}) == {"refused by both": 1}
    by_mode = ("zipped_divide", A, (("tiler", 2, 3),))
    assert compare_peers.compare({by_mode: ("layout", ((2, 3), (2, 1)), ((3, 1), (6, 0)))}) == {"equal": 1}
    assert sum(compare_peers.compare({("composition", A, ("other",)): None}).values()) == 1


def test_numbers_become_symbols_and_answers_are_judged() -> None:
    calls = [COMPOSED, ("coalesce", A, ()), ("complement", B, (24,)), ("logical_divide", A, (("layout", 2, 1),))]
    for seed in range(4):
        tally, _ = compare_peers.with_symbols(calls, random.Random(seed))
        assert sum(tally.values()) == len(calls)
        assert not any("WRONG" in label for label in tally)


def test_the_cells_of_a_notebook_are_played_and_recorded(tmp_path: Path) -> None:
    pytest.importorskip("cutlass.cute", reason="CuTe DSL is absent")
    composed = "cute.composition(cute.make_layout((4, 3), stride=(3, 1)), cute.make_layout(6, stride=2))"
    cells = [
        {"cell_type": "markdown", "source": ["# words"]},
        {"cell_type": "code", "source": ["%magic\n", "import cutlass.cute as cute"]},
        {"cell_type": "code", "source": [f"@cute.jit\ndef f():\n    {composed}\n", "f()"]},
        {"cell_type": "code", "source": ["raise OSError"]},
    ]
    (tmp_path / "layouts.ipynb").write_text(json.dumps({"cells": cells}), encoding="utf-8")
    assert compare_peers.recorded("cutlass.cute", tmp_path) == {COMPOSED: ("layout", (2, 3), (6, 1))}


def test_cute_dsl_is_asked_the_same() -> None:
    pytest.importorskip("cutlass.cute", reason="CuTe DSL is absent")
    refused = ("composition", A, (("layout", (3, 2), (2, 3)),))
    asked = [COMPOSED, refused, ("complement", B, ()), ("upcast", A, (2,)), ("coalesce", A, (("tiler", 1, 1),))]
    found = cute_dsl_peer.answers(asked, compare_peers.plain)
    assert [*found] == [COMPOSED, refused, ("complement", B, ()), ("coalesce", A, (("tiler", 1, 1),))]
    assert compare_peers.compare(found) == {"equal": 3, "refused by both": 1}
