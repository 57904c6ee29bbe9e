"""The page of notations: it is current, and each cell is proved equal to its map."""

from __future__ import annotations

import itertools
from math import prod
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from tests.layouts import rosetta

PAGE = Path(__file__).parents[2] / "docs" / "rosetta.md"


@pytest.mark.parametrize("m", rosetta.MAPS, ids=lambda m: m.title)
@pytest.mark.parametrize("notation", rosetta.WRITERS)
def test_a_cell_is_the_map(m: rosetta.Map, notation: str) -> None:
    x = rosetta.source(m)
    wanted = rosetta.READERS["symlayout"](m.operations, x, None)
    cell = rosetta.cells()[m.title, notation]
    if isinstance(cell, rosetta.Gap):
        assert cell.reason
        return
    found = rosetta.READERS[notation](cell, x, wanted.shape)
    proof = sl.prove_equal(found, wanted)
    assert proof.verdict is sl.Verdict.PROVED, proof.explain()


def test_another_map_in_a_cell_is_refuted() -> None:
    m = rosetta.MAPS[0]
    x = rosetta.source(m)
    wanted = rosetta.READERS["symlayout"](m.operations, x, None)
    wrong = rosetta.READERS["CuTe"]("(N,M):(M,1)", x, wanted.shape)
    assert sl.prove_equal(wrong, wanted).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("m", rosetta.MAPS, ids=lambda m: m.title)
def test_tvm_reads_what_is_written_for_it(m: rosetta.Map) -> None:
    tirx = pytest.importorskip("tvm.tirx", reason="TVM is absent")
    cell = rosetta.cells()[m.title, "TVM"]
    if isinstance(cell, rosetta.Gap):
        pytest.skip(cell.reason)
    x = rosetta.source(m)
    t = rosetta.READERS["symlayout"](m.operations, x, None)
    dims = {name: 3 + k % 2 for k, name in enumerate(t.facts.dims)}
    at = t.subs(dims) if dims else t
    array = np.arange(prod(x.subs(dims).shape)).reshape(x.subs(dims).shape)
    expected = sl.interpret(t, array, dims=dims)
    names = [*dims, *(f"i{k}" for k in range(at.rank))]
    f = eval(f"lambda {', '.join(names)}: ({cell})({', '.join(names[len(dims) :])})", {"T": tirx})
    index_map = tirx.IndexMap.from_func(f, index_dtype="int64")
    for place in itertools.product(*map(range, at.shape)):
        numbers = [tirx.IntImm("int64", n) for n in (*dims.values(), *place)]
        assert array[tuple(map(int, index_map.map_indices(numbers)))] == expected[place]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == rosetta.page()
