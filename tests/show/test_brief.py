"""Answers show themselves in notebooks as HTML in which foreign text is escaped."""

from __future__ import annotations

from pathlib import Path

import pytest

import symlayout as sl
from symlayout.show.brief import brief_html, table_html
from tests.commands.outcome import MODELS
from tests.support.onnx_writer import model, node, value_info


def test_text_is_escaped() -> None:
    assert (
        brief_html("<b>", "a & b\x00")
        == '<div><b>&lt;b&gt;</b><pre style="white-space:pre-wrap;margin:0">a &amp; b\\x00</pre></div>'
    )
    assert table_html([["<td>"]]) == "<table><tr><td>&lt;td&gt;</td></tr></table>"


def test_a_model_is_its_graph_and_its_names_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model([node("Transpose", "<script>", "y", perm=[1, 0])], [value_info("<script>", ("N", 4))]))
    html = sl.read_model(path)._repr_html_()
    assert html.startswith("<div><b>Model(&lt;script&gt; (N, 4) -&gt; y (4, N); 1 nodes)</b><svg")
    assert "<script" not in html


def test_a_verdict_is_its_text() -> None:
    m = sl.read_model(MODELS / "pixel_unshuffle.onnx")
    html = sl.verify(m, m)._repr_html_()
    assert html.startswith("<div><b>PROVED</b>")
    assert "both models compute the same for all sizes with H % 2 == 0" in html


@pytest.mark.slow
def test_an_optimised_model_is_what_was_changed() -> None:
    html = sl.optimize(MODELS / "pixel_unshuffle.onnx")._repr_html_()
    assert "transposes" in html
    assert "<svg" in html


def test_a_small_layout_is_a_table_of_offsets() -> None:
    html = sl.layout("(2,3):(3,1)")._repr_html_()
    assert html.endswith(
        "<table><tr><td>0</td><td>1</td><td>2</td></tr><tr><td>3</td><td>4</td><td>5</td></tr></table></div>"
    )
    assert "<tr><td>0</td><td>2</td><td>1</td><td>3</td></tr>" in sl.layout("((2,2)):((2,1))")._repr_html_()


def test_another_layout_is_its_text() -> None:
    assert "<table>" not in sl.layout("(M,N)")._repr_html_()
    assert "<table>" not in sl.layout("(64,64)")._repr_html_()
    assert "<table>" not in sl.layout("(2,2,2)")._repr_html_()


def test_an_inverse_has_both_round_trips() -> None:
    html = sl.inverse(sl.pad(sl.tensor("N", name="x"), (1, 1)))._repr_html_()
    assert "inverse(f(x)) == x: PROVED" in html
    assert "f(inverse(z)) == z: REFUTED" in html
    assert "<svg" in html


def test_a_kernel_has_its_map() -> None:
    html = sl.compile(sl.transpose(sl.tensor("N, C", name="x")), dtype="int32")._repr_html_()
    assert "(i0, i1) -&gt; (i1, i0)" in html
    assert "<svg" in html
