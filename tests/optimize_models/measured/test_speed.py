"""The page of times is made of what was measured; the architecture that grows is read, and has less to move after."""

from __future__ import annotations

from pathlib import Path

import pytest

import symlayout as sl
from tests.optimize_models.measured.deep_models import transformer
from tests.optimize_models.measured.speed import Time, exponent, page

SMALL, LARGE = Time("a", 500, 2.0), Time("b", 5000, 20.0)


def test_the_page_has_the_median_and_the_growth() -> None:
    text = page([SMALL, Time("c", 100, 1.0), LARGE], [SMALL, LARGE], ["d"])
    assert "- 3 models: 4.0 units for 1000 nodes in the median, 2.0 units for a model." in text
    assert "- the longest: 20.0 units (b, 5000 nodes)." in text
    assert "- growth from 500 to 5000 nodes: n^1.00." in text
    assert "- d: not measured." in text


@pytest.mark.parametrize(("units", "found"), [(20.0, 1.0), (200.0, 2.0)])
def test_the_exponent_of_growth(units: float, found: float) -> None:
    assert exponent([SMALL, Time("b", 5000, units)]) == pytest.approx(found)


def test_the_architecture_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "deep.onnx"
    count = transformer(path, 2)
    o = sl.optimize(path)
    assert len(sl.read_model(path).nodes) == count
    assert o.report.after.transposes < o.report.before.transposes
    assert set(o.report.verdicts.values()) == {sl.Verdict.PROVED}
