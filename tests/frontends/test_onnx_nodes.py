"""ONNX's own tests of its operators: the shape is right in all, the value wherever a function is declared."""

from __future__ import annotations

import pytest

from tests import onnx_nodes

pytestmark = pytest.mark.skipif(not onnx_nodes.is_installed(), reason="onnx, whose package has the tests, is missing")
MODULES = onnx_nodes.modules() if onnx_nodes.is_installed() else []


@pytest.mark.sample(12)
@pytest.mark.parametrize("module", MODULES)
def test_the_tests_of_an_operator_pass(module: str) -> None:
    for case in onnx_nodes.cases(module):
        if onnx_nodes.operators(case) <= onnx_nodes.OPS and onnx_nodes.has_tensors_only(case):
            onnx_nodes.check(case)
