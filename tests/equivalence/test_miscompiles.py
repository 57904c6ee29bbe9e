"""Rewrites that tools got wrong, rebuilt as small models: each keeps every shape, and each has a witness."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto, TensorProto, numpy_helper

import symlayout as sl
from symlayout.maps.interpreter import interpret
from tests.support.onnx_writer import model, node, tensor, value_info

Graph = tuple[list[NodeProto], list[TensorProto]]
SQUARE = ("N", 8, 4, 4)


def chain(*steps: tuple[str, Any], constants: Sequence[TensorProto] = ()) -> Graph:
    """Return nodes from x to y; a step is an operator with its attributes, or with its constant inputs."""
    nodes, made, name = [], list(constants), "x"
    for k, (op, given) in enumerate(steps):
        target = "y" if k + 1 == len(steps) else f"v{k}"
        extra: list[str] = []
        if isinstance(given, list):
            for values in given:
                extra.append(f"c{len(made)}")
                is_array = isinstance(values, np.ndarray)
                made.append(numpy_helper.from_array(values, extra[-1]) if is_array else tensor(values, name=extra[-1]))
        attributes = given if isinstance(given, dict) else {}
        nodes.append(node(op, ", ".join([name, *extra]), target, **attributes))
        name = target
    return nodes, made


def shuffled(first: Sequence[int], perm: Sequence[int], last: Sequence[int], op: str = "Relu") -> Graph:
    return chain(("Reshape", [first]), ("Transpose", {"perm": perm}), ("Reshape", [last]), (op, {}))


BIAS = np.arange(16, dtype=np.float32).reshape(4, 4)
UNSHUFFLE = ([0, 8, 2, 2, 2, 2], [0, 1, 3, 5, 2, 4], [0, 32, 2, 2])
TO_BATCH = [0, 8, 2, 2, 2, 2]

# name: the shape of x, the model before, a right model after, and the wrong one
CASES: dict[str, tuple[Any, Graph, Graph, Graph]] = {
    "depth to space: CRD for DCR": (
        SQUARE,
        chain(("DepthToSpace", {"blocksize": 2, "mode": "DCR"}), ("Relu", {})),
        shuffled([0, 2, 2, 2, 4, 4], [0, 3, 4, 1, 5, 2], [0, 2, 8, 8]),
        chain(("DepthToSpace", {"blocksize": 2, "mode": "CRD"}), ("Relu", {})),
    ),
    "transposes composed backwards (onnx#2446)": (
        (4, 4, 4),
        chain(("Transpose", {"perm": [1, 0, 2]}), ("Transpose", {"perm": [2, 0, 1]})),
        chain(("Transpose", {"perm": [2, 1, 0]})),
        chain(("Transpose", {"perm": [0, 2, 1]})),
    ),
    "a constant between transposes that are taken away (coremltools#2784)": (
        ("N", 4, 4),
        chain(("Transpose", {"perm": [0, 2, 1]}), ("Add", [BIAS]), ("Transpose", {"perm": [0, 2, 1]})),
        chain(("Add", [np.ascontiguousarray(BIAS.T)])),
        chain(("Add", [BIAS])),
    ),
    "a reduction between transposes that are taken away": (
        ("N", 4, 4),
        chain(("Transpose", {"perm": [0, 2, 1]}), ("Softmax", {"axis": 2}), ("Transpose", {"perm": [0, 2, 1]})),
        chain(("Softmax", {"axis": 1})),
        chain(("Softmax", {"axis": 2})),
    ),
    "a pixel unshuffle as space to depth (onnxscript#2891)": (
        SQUARE,
        shuffled(*UNSHUFFLE),
        shuffled(*UNSHUFFLE),
        chain(("SpaceToDepth", {"blocksize": 2}), ("Relu", {})),
    ),
    "a pixel shuffle whose block axes change places (torch-mlir#4544)": (
        SQUARE,
        chain(("DepthToSpace", {"blocksize": 2, "mode": "CRD"}), ("Relu", {})),
        shuffled([0, 2, 2, 2, 4, 4], [0, 1, 4, 2, 5, 3], [0, 2, 8, 8]),
        shuffled([0, 2, 2, 2, 4, 4], [0, 1, 4, 3, 5, 2], [0, 2, 8, 8]),
    ),
    "pads in the order of the last axis first": (
        SQUARE,
        chain(("Pad", [[0, 0, 1, 2, 0, 0, 2, 1]]), ("Relu", {})),
        chain(("Relu", {}), ("Pad", [[0, 0, 1, 2, 0, 0, 2, 1]])),
        chain(("Pad", [[0, 0, 2, 1, 0, 0, 1, 2]]), ("Relu", {})),
    ),
    "pads of begin and end as pairs": (
        SQUARE,
        chain(("Pad", [[0, 0, 1, 2, 0, 0, 2, 1]]), ("Relu", {})),
        chain(("Relu", {}), ("Pad", [[0, 0, 1, 2, 0, 0, 2, 1]])),
        chain(("Pad", [[0, 0, 1, 1, 0, 0, 2, 2]]), ("Relu", {})),
    ),
    "a fusion to space to batch that compares shapes only": (
        ("N", 8, 4, 4),
        shuffled(TO_BATCH, [3, 5, 0, 1, 2, 4], [-1, 8, 2, 2]),
        shuffled(TO_BATCH, [3, 5, 0, 1, 2, 4], [-1, 8, 2, 2]),
        shuffled(TO_BATCH, [5, 3, 0, 1, 2, 4], [-1, 8, 2, 2]),
    ),
    "zeros of a pad that a sum of exponentials counts (llvm#159467)": (
        SQUARE,
        chain(("Exp", {}), ("ReduceSum", [[2]])),
        chain(("Exp", {}), ("Pad", [[0, 0, 0, 0, 0, 0, 3, 0]]), ("ReduceSum", [[2]])),
        chain(("Pad", [[0, 0, 0, 0, 0, 0, 3, 0]]), ("Exp", {}), ("ReduceSum", [[2]])),
    ),
    "slices with the begin and the end of another axis": (
        SQUARE,
        chain(("Slice", [[1, 0], [4, 3], [2, 3]]), ("Relu", {})),
        chain(("Relu", {}), ("Slice", [[0, 1], [3, 4], [3, 2]])),
        chain(("Slice", [[0, 1], [3, 4], [2, 3]]), ("Relu", {})),
    ),
}
UNDECIDED = {"zeros of a pad that a sum of exponentials counts (llvm#159467)"}  # the right one needs a law of sums


def written(folder: Path, name: str, graph: Graph, shape: Any) -> Path:
    path = folder / name
    nodes, constants = graph
    path.write_bytes(model(nodes, [value_info("x", shape)], constants=constants))
    return path


@pytest.mark.parametrize("name", CASES)
def test_a_known_miscompile_is_refuted_with_a_witness_that_can_be_run(name: str, tmp_path: Path) -> None:
    shape, before, right, wrong = CASES[name]
    paths = [written(tmp_path, f"{k}.onnx", g, shape) for k, g in enumerate((before, right, wrong))]
    shapes = [sl.read_model(path).outputs["y"].shape for path in paths]
    assert len(set(shapes)) == 1  # nothing is to be seen in the shapes
    if name not in UNDECIDED:
        assert sl.verify(paths[0], paths[1]).verdict is sl.Verdict.PROVED
    found = sl.verify(paths[0], paths[2])
    assert found.verdict is sl.Verdict.REFUTED
    witness = found.witness
    assert witness is not None
    assert witness.coord is not None
    arrays = dict(np.load(witness.save(tmp_path / "witness")))
    values = [interpret(sl.read_model(path).outputs["y"], **arrays)[witness.coord] for path in (paths[0], paths[2])]
    assert values[0] != values[1]
