"""Domains of an ONNX file: one that is called as the catalogue calls a framework is another one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper, save

import symlayout as sl
from symlayout.frontends.registry import names
from symlayout.models.model import CATALOGUE


def written(path: Path, domain: str, op: str, **attributes: Any) -> Path:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "C"])
    node = helper.make_node(op, ["x"], ["y"], domain=domain, **attributes)
    graph = helper.make_graph([node], "graph", [x], [helper.make_empty_tensor_value_info("y")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(domain, 1)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
    return path


def test_the_names_of_frameworks_are_those_of_the_catalogue() -> None:
    assert {name.partition(":")[0] for name in names()} == set(CATALOGUE)


@pytest.mark.parametrize(
    ("domain", "op", "given"),
    [
        ("microsoft", "Gelu", {}),
        ("ml", "Scaler", {"offset": [1.0], "scale": [2.0]}),
        ("onnx", "Relu", {}),
        ("tensorflow", "Transpose", {}),
        ("torch", "flip", {"dims": [0]}),
    ],
)
def test_an_operation_of_a_domain_with_the_name_of_a_framework_has_no_declaration(
    domain: str, op: str, given: dict[str, Any], tmp_path: Path
) -> None:
    model = sl.read_model(written(tmp_path / "m.onnx", domain, op, **given))
    assert model.outputs["y"].rank is None
    assert model.nodes[0].title == f"{domain} (domain):{op}"


def test_an_operation_of_onnxruntime_is_not_that_of_a_domain_with_its_name_in_the_catalogue(tmp_path: Path) -> None:
    one, other = (written(tmp_path / f"{domain}.onnx", domain, "Unheard") for domain in ("com.microsoft", "microsoft"))
    assert sl.verify(one, other, run=False).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(one, one, run=False).verdict is sl.Verdict.PROVED
