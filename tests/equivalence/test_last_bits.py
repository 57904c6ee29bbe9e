"""A difference in the last bits of transcendental functions is no witness: runtimes round them in their own ways."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, defs, helper

import symlayout as sl


@pytest.mark.parametrize("size", [7, 10])
@pytest.mark.parametrize("op", ["BlackmanWindow", "HannWindow", "HammingWindow"])
def test_a_window_is_not_another_one_than_its_own_function_body(tmp_path: Path, op: str, size: int) -> None:
    body = onnx.FunctionProto()
    body.CopyFrom(defs.get_schema(op, 17).function_body)
    body.domain = "local"
    paths = []
    for domain, functions in (("", []), ("local", [body])):
        call = helper.make_node(op, ["n"], ["y"], domain=domain, periodic=1, output_datatype=TensorProto.FLOAT)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        constants = [helper.make_tensor("n", TensorProto.INT64, [], [size])]
        graph = helper.make_graph([call], "g", [], [y], constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
        paths.append(tmp_path / f"{domain or 'standard'}.onnx")
        onnx.save(helper.make_model(graph, opset_imports=opsets, functions=functions, ir_version=9), paths[-1])
    assert sl.verify(*paths).verdict is not sl.Verdict.REFUTED
