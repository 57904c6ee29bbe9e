"""Models that other programs write load with their dims, and compute what ONNX Runtime computes."""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import SymlayoutError

SHAPES = [(2, 8, 12, 16), (1, 4, 8, 4), (3, 8, 4, 8), (2, 2, 6, 3)]
DIMS = ("N", "C", "H", "W")

Array = np.ndarray[Any, Any]

# Nodes of ONNX on x: an operation, its constant inputs, its attributes.
Node = tuple[str, Sequence[Any], dict[str, Any]]
NODES: dict[str, list[Node]] = {
    "space_to_depth": [("SpaceToDepth", [], {"blocksize": 2})],
    "depth_to_space DCR": [("DepthToSpace", [], {"blocksize": 2, "mode": "DCR"})],
    "depth_to_space CRD": [("DepthToSpace", [], {"blocksize": 2, "mode": "CRD"})],
    "transpose": [("Transpose", [], {"perm": [0, 2, 3, 1]})],
    "reshape": [("Reshape", [[0, 2, -1, 0]], {})],
    "reshape of three": [("Reshape", [[0, -1, 4]], {})],
    "pad": [("Pad", [[0, 0, 1, 2, 0, 0, 0, 1], np.float32(3)], {})],
    "pad of axes": [("Pad", [[1, -1], None, [-1]], {"mode": "constant"})],
    "reflect": [("Pad", [[0, 0, 1, 1, 0, 0, 1, 1]], {"mode": "reflect"})],
    "edge": [("Pad", [[0, 0, 1, 0, 0, 0, 0, 2]], {"mode": "edge"})],
    "slice": [("Slice", [[1, -1], [2**63 - 1, -(2**63)], [2, 3], [2, -1]], {})],
    "tile": [("Tile", [[1, 2, 1, 3]], {})],
    "expand": [("Unsqueeze", [[0]], {}), ("Expand", [[3, 1, 1, 1, 1]], {})],
    "split": [("Split", [], {"num_outputs": 2, "axis": 1})],
    "flatten": [("Flatten", [], {"axis": 2})],
    "squeeze": [("Unsqueeze", [[1, -1]], {}), ("Squeeze", [[1]], {})],
    "identity": [("Identity", [], {})],
    "chain": [("SpaceToDepth", [], {"blocksize": 2}), ("Transpose", [], {"perm": [0, 2, 3, 1]}), ("Flatten", [], {})],
}


def written(nodes: list[Node], path: Path) -> None:
    """Write a model of nodes one after the other, with ONNX's own package."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    made, initializers, source = [], [], "x"
    for k, (op, constants, attributes) in enumerate(nodes):
        names = []
        for i, value in enumerate(constants):
            names.append("" if value is None else f"c{k}_{i}")
            if value is not None:
                array = np.asarray(value, None if isinstance(value, np.floating) else np.int64)
                initializers.append(numpy_helper.from_array(array, names[-1]))
        outputs = ["y", "rest"] if op == "Split" else ["y" if k == len(nodes) - 1 else f"t{k}"]
        made.append(helper.make_node(op, [source, *names], outputs, **attributes))
        source = outputs[0]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, DIMS)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(made, "g", [x], [y], initializers)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), path)


def onnxruntime(path: Path) -> Callable[[Array], Array]:
    """Return a model as ONNX Runtime computes it."""
    ort: Any = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    ort.set_default_logger_severity(4)
    session = ort.InferenceSession(path)
    (given,) = session.get_inputs()

    def run(x: Array) -> Array:
        found: Array = session.run(None, {given.name: x})[0]
        return found

    return run


def openvino(path: Path) -> Callable[[Array], Array]:
    """Return a model as OpenVINO computes it: its own conversion may accept more than the model that it is of."""
    ov: Any = pytest.importorskip("openvino", reason="openvino is not installed")
    compiled = ov.Core().compile_model(path, "CPU")
    return lambda x: np.array(compiled(x)[0])


def agrees(run: Callable[[Array], Array], y: sl.Tensor) -> int:
    """Assert that *y* is what *run* computes; return for how many shapes that was. Where *y* refuses, both may."""
    both = 0
    for shape in SHAPES:
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        try:
            found = sl.interpret(y, x)
        except SymlayoutError:
            continue
        expected = run(x)
        assert found.shape == expected.shape
        assert found.tobytes() == np.ascontiguousarray(expected).tobytes()
        assert np.array_equal(sl.compile(y)(x), found)
        both += 1
    return both


@pytest.mark.parametrize("name", NODES)
def test_models_of_onnx(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    path = tmp_path / "model.onnx"
    written(NODES[name], path)
    y = sl.load(path)["y"]
    assert {dim.name for e in y.shape for dim in getattr(e, "free_symbols", ())} <= set(DIMS)
    assert agrees(onnxruntime(path), y) >= 2


@pytest.mark.parametrize("name", sorted(NODES.keys() - {"identity"}))  # an operation of OpenVINO's own
def test_the_same_models_as_openvino_ir(name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="onnx is not installed")
    ov: Any = pytest.importorskip("openvino", reason="openvino is not installed")
    path = tmp_path / "model.onnx"
    written(NODES[name], path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ov.save_model(ov.convert_model(path), tmp_path / "model.xml", compress_to_fp16=False)
    assert agrees(openvino(tmp_path / "model.xml"), sl.load(tmp_path / "model.xml")["y"]) >= 2


# ---------------------------------------------------------------------- what PyTorch exports


def focus(x: Any) -> Any:
    import torch

    return torch.cat([x[..., ::2, ::2], x[..., 1::2, ::2], x[..., ::2, 1::2], x[..., 1::2, 1::2]], 1)


def shuffled(x: Any) -> Any:
    n, c, h, w = x.shape
    return x.view(n, 2, c // 2, h, w).transpose(1, 2).reshape(n, c, h, w)


def windows(x: Any) -> Any:
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 4, 4, w // 4, 4).permute(0, 2, 4, 3, 5, 1).reshape(-1, 16, c)


def padded(x: Any) -> Any:
    import torch

    return torch.nn.functional.pad(x, (0, (4 - x.shape[3] % 4) % 4))


def unshuffled(x: Any) -> Any:
    import torch

    return torch.pixel_unshuffle(x, 2)


def rolled(x: Any) -> Any:
    import torch

    return torch.roll(x, (1, -1), (2, 3))


FUNCTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "pixel_unshuffle": (unshuffled, "(N, 4*C, H/2, W/2)"),
    "focus": (focus, "(N, 4*C, H/2, W/2)"),
    "channel_shuffle": (shuffled, "(N, C, H, W)"),
    "windows": (windows, "(H*N*W/16, 16, C)"),
    "flip": (lambda x: x.flip(2), "(N, C, H, W)"),
    "roll": (rolled, "(N, C, H, W)"),
    "repeat": (lambda x: x.repeat(1, 2, 1, 1), "(N, 2*C, H, W)"),
    "flatten": (lambda x: x.flatten(1), "(N, C*H*W)"),
    "to a multiple": (padded, "(N, C, H, 4*ceiling(W/4))"),
}


@pytest.mark.parametrize(("name", "dynamo"), list(itertools.product(FUNCTIONS, [False, True])))
def test_exports_of_pytorch(name: str, dynamo: bool, tmp_path: Path) -> None:
    torch: Any = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("onnx", reason="onnx is not installed")
    if dynamo:
        pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    function, shape = FUNCTIONS[name]

    class Model(torch.nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
        def forward(self, x: Any) -> Any:
            return function(x)

    path, dynamic = tmp_path / "model.onnx", torch.export.Dim.DYNAMIC
    options: dict[str, Any] = {"dynamic_axes": {"x": dict(enumerate(DIMS))}}
    if dynamo:
        options = {"dynamic_shapes": (dict.fromkeys(range(4), dynamic),), "verbose": False}
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Model().eval(), (torch.zeros(SHAPES[0]),), str(path), dynamo=dynamo, input_names=["x"], **options
        )
    (y,) = sl.load(path).values()
    (x,) = y.leaves()
    names = dict(zip(x.shape, sl.dims(" ".join(DIMS)), strict=True))
    assert str(tuple(e.subs(names, simultaneous=True) if hasattr(e, "subs") else e for e in y.shape)) == shape
    assert agrees(onnxruntime(path), y) >= 2
    ov: Any = pytest.importorskip("openvino", reason="openvino is not installed")
    ov.save_model(ov.convert_model(path), tmp_path / "model.xml", compress_to_fp16=False)
    (again,) = sl.load(tmp_path / "model.xml").values()
    assert agrees(openvino(tmp_path / "model.xml"), again) >= 2
