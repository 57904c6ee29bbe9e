"""ONNX's own tests of its operators: the shape is right in all, the value wherever a function is declared."""

from __future__ import annotations

import pytest

from tests import onnx_nodes
from tests.onnx_nodes.__main__ import page
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(not onnx_nodes.is_installed(), reason="onnx, whose package has the tests, is missing")
MODULES = onnx_nodes.modules() if onnx_nodes.is_installed() else []


@pytest.mark.sample(12)
@pytest.mark.parametrize("module", MODULES)
def test_the_tests_of_an_operator_pass(module: str) -> None:
    for case in onnx_nodes.cases(module):
        onnx_nodes.outcome(case)


@pytest.mark.slow
def test_the_page_has_the_counts() -> None:
    assert page() + "\n" == (ROOT / "docs" / "onnx.md").read_text(encoding="utf-8"), "run: python -m tests.onnx_nodes"
