"""Shapes, dims and graphs as a page has them: each once, and nothing too large."""

from __future__ import annotations

from pathlib import Path

import pytest

import symlayout as sl
from symlayout.reports import page_data
from symlayout.reports.page_data import PageData, clean, expression, graph_data
from tests.reports.test_pages import written
from tests.support.onnx_writer import node


def test_a_shape_is_there_once_and_its_dims_have_their_bounds() -> None:
    page = PageData()
    t = sl.tensor((sl.dim("N", min=2, max=8, multiple_of=2), sl.dim("M")), name="x")
    assert [page.shape(t), page.shape(sl.flip(t)), page.shape(sl.transpose(t))] == [0, 0, 1]
    assert list(page.dims.values()) == [
        {"name": "N", "min": "2", "max": "8", "step": 2},
        {"name": "M", "min": "0", "max": None, "step": 1},
    ]


def test_dims_with_other_names_are_those_of_the_page() -> None:
    page = PageData()
    page.shape(sl.tensor("N", name="x"))
    page.renamed = {"K": ["*", 2, "N"]}
    assert page.shape(sl.tensor("K + 1", name="x")) == 1
    assert page.shapes[1] == {"text": "(K + 1,)", "extents": [["+", 1, ["*", 2, "N"]]]}
    assert list(page.dims) == ["N"]


def test_a_value_of_unknown_rank_has_no_extents() -> None:
    page = PageData()
    assert page.shapes[page.shape(None)] == {"text": "?", "extents": None}


def test_what_is_too_long_is_cut_or_left_out() -> None:
    N, M = sl.dims("N M")
    assert expression(N + M) == ["+", "M", "N"]
    assert expression(sum(N**k * M for k in range(200))) is None
    assert len(clean("x" * 5000)) <= 400
    assert clean("a\nb\x00") == "a b\\x00"


def test_a_graph_of_too_many_nodes_is_not_drawn_and_its_nodes_are_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = written(tmp_path / "m.onnx", node("Relu", "x", "t", name="first"), node("Abs", "t", "y"))
    monkeypatch.setattr(page_data, "MOST_NODES", 1)
    graph = graph_data(m, "g", PageData())
    assert (graph["boxes"], graph["views"]) == ([], [])
    assert [n[:2] for n in graph["nodes"]] == [["onnx:Relu", "first"], ["onnx:Abs", ""]]
