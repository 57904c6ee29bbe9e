"""Random cases against the frameworks themselves, each where it is installed.

The cases stay away from the inputs on which a peer is known to be wrong (tests/conformance/findings.json):
OpenVINO with empty axes or with a block wider than its axis, PyTorch with empty arrays.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import symlayout as sl

CASES = 25
Array = np.ndarray[Any, Any]
Peer = Callable[[Array, dict[str, Any]], Array]


def check(op: str, peer: Peer, case: Callable[[random.Random], tuple[tuple[int, ...], dict[str, Any]]]) -> None:
    """Assert that *peer* and the interpreter agree on random cases."""
    rng = random.Random(op)
    for number in range(CASES):
        shape, attributes = case(rng)
        x = np.random.default_rng(number).standard_normal(shape, np.float32)
        ours = sl.interpret(sl.op(op)(sl.tensor(shape), **attributes), x)
        theirs = peer(x, attributes)
        assert theirs.shape == ours.shape, (shape, attributes)
        assert theirs.tobytes() == ours.tobytes(), (shape, attributes)


# -- random attributes


def block_and_margins(rng: random.Random, axes: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield block, begin, end and cells for each axis: ``block * cells`` is what pads fill and crops cut."""
    for _ in range(axes):
        block, cells = rng.randint(1, 3), rng.randint(1, 4)
        begin = rng.randint(0, min(2, block * cells - 1))
        yield block, begin, rng.randint(0, min(2, block * cells - 1 - begin)), cells


def openvino_space_to_batch(rng: random.Random) -> tuple[tuple[int, ...], dict[str, Any]]:
    shape, block, begins, ends = [rng.randint(1, 3)], [1], [0], [0]
    for b, begin, end, cells in block_and_margins(rng, rng.randint(1, 4)):
        if b * cells - end < b:  # where OpenVINO's kernel reads neighbours
            end = 0
        shape.append(b * cells - begin - end)
        block.append(b)
        begins.append(begin)
        ends.append(end)
    return tuple(shape), {"block_shape": block, "pads_begin": begins, "pads_end": ends}


def openvino_batch_to_space(rng: random.Random) -> tuple[tuple[int, ...], dict[str, Any]]:
    shape, block, begins, ends = [rng.randint(1, 3)], [1], [0], [0]
    for b, begin, end, cells in block_and_margins(rng, rng.randint(1, 4)):
        shape[0] *= b
        shape.append(cells)
        block.append(b)
        begins.append(begin)
        ends.append(end)
    return tuple(shape), {"block_shape": block, "crops_begin": begins, "crops_end": ends}


def tensorflow_space_to_batch(rng: random.Random) -> tuple[tuple[int, ...], dict[str, Any]]:
    shape, block, paddings = [rng.randint(1, 3)], [], []
    for b, begin, end, cells in block_and_margins(rng, rng.randint(0, 3)):
        shape.append(b * cells - begin - end)
        block.append(b)
        paddings.append([begin, end])
    return (*shape, *(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))), {
        "block_shape": block,
        "paddings": paddings,
    }


def tensorflow_batch_to_space(rng: random.Random) -> tuple[tuple[int, ...], dict[str, Any]]:
    shape, block, crops = [rng.randint(1, 3)], [], []
    for b, begin, end, cells in block_and_margins(rng, rng.randint(0, 3)):
        shape[0] *= b
        shape.append(cells)
        block.append(b)
        crops.append([begin, end])
    return (*shape, *(rng.randint(1, 3) for _ in range(rng.randint(0, 2)))), {
        "block_shape": block,
        "crops": crops,
    }


def depth(name: str, *, deep: bool, axes: Any = (2,), least: int = 1, last: bool = False, **choices: Any) -> Any:
    """Return a strategy for ops with one block: *deep* inputs hold the blocks in the depth."""

    def case(rng: random.Random) -> tuple[tuple[int, ...], dict[str, Any]]:
        block, spatial = rng.randint(least, 3), rng.choice(axes)
        channels = [rng.randint(1, 3) * (block**spatial if deep else 1)]
        space = [rng.randint(1, 3) * (1 if deep else block) for _ in range(spatial)]
        shape = (rng.randint(1, 3), *(space + channels if last else channels + space))
        return shape, {name: block, **{k: rng.choice(v) for k, v in choices.items()}}

    return case


# -- the peers


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("openvino:SpaceToBatch-2", openvino_space_to_batch),
        ("openvino:BatchToSpace-2", openvino_batch_to_space),
        (
            "openvino:SpaceToDepth-1",
            depth("block_size", deep=False, axes=(1, 2, 3), mode=("blocks_first", "depth_first")),
        ),
        (
            "openvino:DepthToSpace-1",
            depth("block_size", deep=True, axes=(1, 2, 3), mode=("blocks_first", "depth_first")),
        ),
    ],
)
def test_openvino(op: str, case: Any) -> None:
    openvino = pytest.importorskip("openvino")
    opset: Any = pytest.importorskip("openvino.opset13")
    core = openvino.Core()

    def peer(x: Array, attributes: dict[str, Any]) -> Array:
        data = opset.parameter(x.shape, x.dtype)
        name = {"Space": "space_to_", "Batch": "batch_to_", "Depth": "depth_to_"}[op[9:14]] + op[16:21].lower()
        inputs = [np.array(v, np.int64) if isinstance(v, list) else v for v in attributes.values()]
        if "mode" in attributes:
            inputs = [attributes["mode"], attributes["block_size"]]
        model = openvino.Model([getattr(opset, name)(data, *inputs)], [data])
        result: Array = core.compile_model(model, "CPU")([x])[0]
        return result

    check(op, peer, case)


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("onnx:SpaceToDepth", depth("blocksize", deep=False)),
        ("onnx:DepthToSpace", depth("blocksize", deep=True, mode=("DCR", "CRD"))),
    ],
)
def test_onnxruntime(op: str, case: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    helper: Any = pytest.importorskip("onnx.helper")
    float32 = pytest.importorskip("onnx").TensorProto.FLOAT

    def peer(x: Array, attributes: dict[str, Any]) -> Array:
        node = helper.make_node(op.partition(":")[2], ["x"], ["y"], **attributes)
        graph = helper.make_graph(
            [node],
            "case",
            [helper.make_tensor_value_info("x", float32, x.shape)],
            [helper.make_tensor_value_info("y", float32, [None] * x.ndim)],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        result: Array = session.run(None, {"x": x})[0]
        return result

    check(op, peer, case)


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("torch:pixel_shuffle", depth("upscale_factor", deep=True)),
        ("torch:pixel_unshuffle", depth("downscale_factor", deep=False)),
    ],
)
def test_torch(op: str, case: Any) -> None:
    torch = pytest.importorskip("torch")
    function = getattr(torch.nn.functional, op.partition(":")[2])
    check(op, lambda x, attributes: function(torch.from_numpy(x), **attributes).numpy(), case)


@pytest.fixture(scope="module")
def tensorflow() -> Any:
    """TensorFlow takes seconds to import: only the tests that ask for it pay."""
    return pytest.importorskip("tensorflow")


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("tensorflow:SpaceToBatchND", tensorflow_space_to_batch),
        ("tensorflow:BatchToSpaceND", tensorflow_batch_to_space),
        ("tensorflow:SpaceToDepth", depth("block_size", deep=False, least=2, last=True)),
        ("tensorflow:DepthToSpace", depth("block_size", deep=True, least=2, last=True)),
    ],
)
def test_tensorflow(op: str, case: Any, tensorflow: Any) -> None:
    function = getattr(tensorflow.raw_ops, op.partition(":")[2])

    def peer(x: Array, attributes: dict[str, Any]) -> Array:
        pairs = {k: np.array(v, np.int64).reshape(-1, 2) for k, v in attributes.items() if k in ("paddings", "crops")}
        blocks = {k: np.array(v, np.int64) for k, v in attributes.items() if k == "block_shape"}
        result: Array = function(input=x, **{**attributes, **pairs, **blocks}).numpy()
        return result

    check(op, peer, case)
