"""Random cases against the frameworks themselves, each where it is installed.

The cases stay away from the inputs on which a peer is known to be wrong (tests/conformance/findings.json):
OpenVINO with empty axes or with a block wider than its axis, PyTorch with empty arrays, OpenVINO's Tile with
fewer numbers than axes and its Roll with one shift for several axes.  They also stay away
from what a peer refuses; tests/test_frontends.py has what we refuse.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl

CASES = 25
Array = np.ndarray[Any, Any]
Peer = Callable[[Array, dict[str, Any]], Array]


def agree(op: str, peer: Callable[[list[Array], dict[str, Any]], list[Array]], case: Any) -> None:
    """Assert as `check` for operations on one or several tensors, with one or several results."""
    rng = random.Random(op)
    for number in range(CASES):
        shapes, attributes = case(rng)
        joint = isinstance(shapes, list)
        xs = [np.random.default_rng(number).standard_normal(s, np.float32) for s in (shapes if joint else [shapes])]
        leaves = [sl.tensor(x.shape, name=f"x{k}") for k, x in enumerate(xs)]
        made = sl.op(op)(leaves if joint else leaves[0], **attributes)
        theirs = peer(xs, attributes)
        made = made if isinstance(made, list) else [made]
        assert len(made) == len(theirs), attributes
        for y, expected in zip(made, theirs, strict=True):
            ours = sl.interpret(y, **{x.name: xs[int(x.name[1:])] for x in y.leaves()})
            assert y.shape == ours.shape == expected.shape, (shapes, attributes)
            assert ours.tobytes() == expected.tobytes(), (shapes, attributes)


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


# -- random attributes of the operations on shapes, axes and bounds


def some_shape(rng: random.Random, least: int = 1, most: int = 4) -> tuple[int, ...]:
    return tuple(rng.randint(1, 4) for _ in range(rng.randint(least, most)))


def permuted(name: str, *, negative: bool = False) -> Any:
    def case(rng: random.Random) -> Any:
        shape = some_shape(rng)
        order = rng.sample(range(len(shape)), len(shape))
        return shape, {name: [a - len(shape) if negative and rng.random() < 0.3 else a for a in order]}

    return case


def reshaped(*, zeros: dict[str, Any] | None = None) -> Any:
    """Return a strategy for reshapes; with *zeros*, the attribute that says that 0 copies an axis."""

    def case(rng: random.Random) -> Any:
        shape = [rng.randint(1, 4) for _ in range(rng.randint(1, 4))]
        kept = rng.randint(0, len(shape)) if zeros else 0
        tail = [n for n in shape[kept:] for n in ([n] if n < 4 else [2, 2])]
        rng.shuffle(tail)
        if tail and rng.random() < 0.5:
            tail[rng.randrange(len(tail))] = -1
        return tuple(shape), {"shape": [0] * kept + tail, **(zeros or {})}

    return case


def widths(rng: random.Random, n: int, mode: str) -> tuple[int, int]:
    """Return pads of an axis within what every framework takes."""
    most = {"reflect": n - 1, "symmetric": n, "wrap": n, "circular": n}.get(mode.lower(), 3)
    return rng.randint(0, most), rng.randint(0, most)


def openvino_pad(rng: random.Random) -> Any:
    shape = some_shape(rng, 2)
    mode = rng.choice(("constant", "edge", "reflect", "symmetric"))
    pairs = [widths(rng, n, mode) for n in shape]
    if rng.random() < 0.4:
        pairs[0] = (-1, pairs[0][1]) if shape[0] > 1 else pairs[0]
    begin, end = zip(*pairs, strict=True)
    value = {"pad_value": np.float32(7)} if mode == "constant" else {}
    return shape, {"pads_begin": list(begin), "pads_end": list(end), **value, "pad_mode": mode}


def onnx_pad(rng: random.Random) -> Any:
    shape = some_shape(rng)
    mode = rng.choice(("constant", "edge", "reflect", "wrap"))
    axes = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
    pairs = [widths(rng, shape[a], mode) for a in axes]
    if rng.random() < 0.4 and mode in ("constant", "edge") and shape[axes[0]] > 1:
        pairs[0] = (-1, pairs[0][1])
    begin, end = zip(*pairs, strict=True)
    value = {"constant_value": np.float32(7)} if mode == "constant" else {}
    return shape, {"pads": [*begin, *end], **value, "axes": axes, "mode": mode}


def tensorflow_pad(value: bool = False, *modes: str) -> Any:
    def case(rng: random.Random) -> Any:
        shape, mode = some_shape(rng), rng.choice(modes or ("",))
        more: dict[str, Any] = {"mode": mode} if mode else {"constant_values": np.float32(7)} if value else {}
        return shape, {"paddings": [list(widths(rng, n, mode)) for n in shape], **more}

    return case


def torch_pad(rng: random.Random) -> Any:
    mode = rng.choice(("constant", "reflect", "replicate", "circular"))
    given = rng.randint(1, 3)
    shape = some_shape(rng, given + 1, given + (2 if given < 3 else 1))
    pairs = [widths(rng, n, mode) for n in shape[: -given - 1 : -1]]
    if rng.random() < 0.4 and mode in ("constant", "replicate") and shape[-1] > 1:
        pairs[0] = (-1, pairs[0][1])
    value = {"value": 7.0} if mode == "constant" else {}
    return shape, {"pad": [n for pair in pairs for n in pair], "mode": mode, **value}


def sliced(start: str, stop: str, axes: str, step: str) -> Any:
    def case(rng: random.Random) -> Any:
        shape = some_shape(rng)
        along = rng.sample(range(len(shape)), rng.randint(1, len(shape)))
        steps = [rng.choice((-3, -2, -1, 1, 2, 3)) for _ in along]
        # ONNX Runtime reads the greatest integer as an end of either direction, which no specification says
        bounds = [rng.sample((rng.randint(-7, 7), rng.randint(-2, 4), -(2**63)), 2) for _ in along]
        first, last = (
            [a for a, _ in bounds],
            [2**63 - 1 if s > 0 and b > 4 else b for s, (_, b) in zip(steps, bounds, strict=True)],
        )
        return shape, {start: first, stop: last, **{n: {step: steps, axes: along}[n] for n in (step, axes)}}

    return case


def tensorflow_slice(rng: random.Random) -> Any:
    shape = some_shape(rng)
    begin = [rng.randint(0, n) for n in shape]
    return shape, {
        "begin": begin,
        "size": [rng.choice((-1, rng.randint(0, n - b))) for b, n in zip(begin, shape, strict=True)],
    }


def strided_slice(rng: random.Random) -> Any:
    shape = some_shape(rng)
    length = rng.randint(1, len(shape))
    masks = {name: rng.randrange(2**length) for name in ("begin_mask", "end_mask", "new_axis_mask")}
    ellipsis = rng.choice((0, 1 << rng.randrange(length)))
    index = rng.choice((0, 0, 1 << rng.randrange(length)))
    entries = {
        "begin": [0 if index >> i & 1 else rng.randint(-5, 5) for i in range(length)],
        "end": [rng.randint(-5, 5) for _ in range(length)],
        "strides": [1 if index >> i & 1 else rng.choice((-2, -1, 1, 2)) for i in range(length)],
    }
    return shape, {**entries, **masks, "ellipsis_mask": ellipsis, "shrink_axis_mask": index}


def repeated(name: str, *lengths: int, least: int = 1) -> Any:
    """Return a strategy for tiles; *lengths* are how many more numbers than axes there may be."""

    def case(rng: random.Random) -> Any:
        shape = some_shape(rng)
        return shape, {name: [rng.randint(least, 3) for _ in range(max(1, len(shape) + rng.choice(lengths)))]}

    return case


def rolled(shift: str, axes: str) -> Any:
    def case(rng: random.Random) -> Any:
        shape = some_shape(rng)
        along = [rng.randrange(-len(shape), len(shape)) for _ in range(rng.randint(1, 3))]
        return shape, {shift: [rng.randint(-9, 9) for _ in along], axes: along}

    return case


def broadcast(name: str, *, both: bool, **more: Any) -> Any:
    def case(rng: random.Random) -> Any:
        shape = tuple(rng.choice((1, n)) for n in some_shape(rng, 0))
        target = [rng.randint(1, 4) if n == 1 else rng.choice((1, n)) if both else n for n in shape]
        if both and rng.random() < 0.3:
            target = target[1:]
        else:
            target = [rng.randint(1, 3) for _ in range(rng.randint(0 if shape else 1, 2))] + target
        return shape, {name: target or [1], **more}

    return case


def explicit_broadcast(rng: random.Random) -> Any:
    target = some_shape(rng)
    mapping = sorted(rng.sample(range(len(target)), rng.randint(1, len(target))))
    shape = tuple(rng.choice((1, target[k])) for k in mapping)
    return shape, {"target_shape": list(target), "axes_mapping": mapping, "mode": "explicit"}


def joined(rng: random.Random) -> Any:
    shape = some_shape(rng)
    axis = rng.randrange(-len(shape), len(shape))
    shapes = [list(shape) for _ in range(rng.randint(2, 4))]
    for each in shapes:
        each[axis] = rng.randint(1, 4)
    return [tuple(each) for each in shapes], {"axis": axis}


def shuffled(least: int, count: str, *, axis: bool) -> Any:
    def case(rng: random.Random) -> Any:
        shape = list(some_shape(rng, least))
        along = rng.randrange(-len(shape), len(shape)) if axis else 1
        groups = rng.randint(1, 3)
        shape[along] = groups * rng.randint(1, 3)
        return tuple(shape), {**({"axis": along} if axis else {}), count: groups}

    return case


def onnx_split(rng: random.Random) -> Any:
    shape = list(some_shape(rng))
    axis = rng.randrange(-len(shape), len(shape))
    if rng.random() < 0.5:
        parts = [rng.randint(0, 3) for _ in range(rng.randint(1, 4))]
        parts[0] += 1
        shape[axis] = sum(parts)
        return tuple(shape), {"split": parts, "axis": axis}
    count = rng.randint(1, 3)
    shape[axis] = rng.choice((3, 5, 6, 7))
    return tuple(shape), {"num_outputs": count, "axis": axis}


def squeezed(*, given: bool) -> Any:
    def case(rng: random.Random) -> Any:
        shape = tuple(rng.choice((1, 1, 2, 3)) for _ in range(rng.randint(1, 4)))
        ones = [k - rng.choice((0, len(shape))) for k, n in enumerate(shape) if n == 1]
        chosen = rng.sample(ones, rng.randint(0, len(ones)))
        return shape, {"axes": chosen} if given and chosen else {}

    return case


def unsqueezed(rng: random.Random) -> Any:
    shape = some_shape(rng, 0, 3)
    new = rng.randint(1, 2)
    rank = len(shape) + new
    return shape, {"axes": [a - rng.choice((0, rank)) for a in rng.sample(range(rank), new)]}


def flattened(rng: random.Random) -> Any:
    shape = some_shape(rng)
    return shape, {"axis": rng.randint(-len(shape), len(shape))}


def reversed_along(name: str) -> Any:
    def case(rng: random.Random) -> Any:
        shape = some_shape(rng)
        axes = rng.sample(range(len(shape)), rng.randint(0, len(shape)))
        return shape, {name: [a - rng.choice((0, len(shape))) for a in axes]}

    return case


def windows(rng: random.Random) -> Any:
    shape = some_shape(rng)
    axis = rng.randrange(-len(shape), len(shape))
    return shape, {"dimension": axis, "size": rng.randint(1, shape[axis]), "step": rng.randint(1, 3)}


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


OPENVINO_ATTRIBUTES = ("special_zero", "pad_mode", "mode", "group", "num_splits")
BOUNDS = ("start", "stop", "axes", "step")


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("openvino:Transpose-1", permuted("input_order")),
        ("openvino:Reshape-1", reshaped(zeros={"special_zero": True})),
        ("openvino:Pad-12", openvino_pad),
        ("openvino:Slice-8", sliced(*BOUNDS)),
        ("openvino:Tile-1", repeated("repeats", 0, 1)),
        ("openvino:Roll-7", rolled("shift", "axes")),
        ("openvino:Broadcast-3", broadcast("target_shape", both=False)),
        ("openvino:Broadcast-3", broadcast("target_shape", both=True, mode="bidirectional")),
        ("openvino:Broadcast-3", explicit_broadcast),
        ("openvino:ShuffleChannels-1", shuffled(1, "group", axis=True)),
        ("openvino:Concat-1", joined),
        ("openvino:Split-1", shuffled(1, "num_splits", axis=True)),
        ("openvino:Squeeze-1", squeezed(given=True)),
        ("openvino:Unsqueeze-1", unsqueezed),
    ],
)
def test_openvino_on_shapes_axes_and_bounds(op: str, case: Any) -> None:
    openvino = pytest.importorskip("openvino")
    opset: Any = pytest.importorskip("openvino.opset13")
    factory: Any = pytest.importorskip("openvino.utils.node_factory").NodeFactory("opset13")
    core = openvino.Core()
    title = op[9:].partition("-")[0]
    own = (*OPENVINO_ATTRIBUTES, *(("axis",) if title in ("Concat", "ShuffleChannels") else ()))

    def peer(xs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        data = [opset.parameter(x.shape, x.dtype) for x in xs]
        inputs = [
            opset.constant(np.asarray(v, None if isinstance(v, np.float32) else np.int64))
            for k, v in attributes.items()
            if k not in own
        ]
        settings = {k: v for k, v in attributes.items() if k in own}
        node = factory.create(title, [x.output(0) for x in data] + [v.output(0) for v in inputs], settings)
        results = core.compile_model(openvino.Model(list(node.outputs()), data), "CPU")(xs)
        return [results[k] for k in range(len(node.outputs()))]

    agree(op, peer, case)


def test_a_model_that_openvino_saves_is_loaded(tmp_path: Path) -> None:
    openvino = pytest.importorskip("openvino")
    o: Any = pytest.importorskip("openvino.opset13")
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    data = o.parameter(x.shape, np.float32)
    joined = o.concat([o.roll(data, [1], [2]), o.shuffle_channels(data, 1, 3)], 1)
    parts = o.split(o.pad(joined, [0, 0, 1], [0, 0, -1], "constant", np.float32(7)), 1, 2)
    tiled = o.tile(o.slice(o.transpose(parts.output(1), [0, 2, 1]), [-1], [-9], [-2], [1]), [1, 2, 1])
    column = o.squeeze(o.unsqueeze(o.reshape(tiled, [0, -1], True), [0]), [0])
    model = openvino.Model([o.broadcast(column, [2, 2, 12]).output(0), parts.output(0)], [data])
    openvino.save_model(model, tmp_path / "model.xml", compress_to_fp16=False)
    theirs = openvino.Core().compile_model(model, "CPU")([x])
    for number, y in enumerate(sl.load(tmp_path / "model.xml").values()):
        assert sl.interpret(y, x).tobytes() == theirs[number].tobytes()


ONNX_ATTRIBUTES = ("perm", "allowzero", "mode", "axis", "num_outputs")


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("onnx:Transpose", permuted("perm")),
        ("onnx:Reshape", reshaped(zeros={"allowzero": 0})),
        ("onnx:Pad", onnx_pad),
        ("onnx:Slice", sliced("starts", "ends", "axes", "steps")),
        ("onnx:Tile", repeated("repeats", 0, least=0)),
        ("onnx:Expand", broadcast("shape", both=True)),
        ("onnx:Concat", joined),
        ("onnx:Split", onnx_split),
        ("onnx:Flatten", flattened),
        ("onnx:Squeeze", squeezed(given=True)),
        ("onnx:Unsqueeze", unsqueezed),
        ("onnx:Identity", squeezed(given=False)),
    ],
)
def test_onnxruntime_on_shapes_axes_and_bounds(op: str, case: Any) -> None:
    runtime = pytest.importorskip("onnxruntime")
    onnx: Any = pytest.importorskip("onnx")
    helper: Any = pytest.importorskip("onnx.helper")
    float32, title = onnx.TensorProto.FLOAT, op[5:]
    order = [i.name for i in onnx.defs.get_schema(title, 21).inputs]

    def peer(xs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        count = len(attributes.get("split", range(attributes.get("num_outputs", 1))))
        given = {k: v for k, v in attributes.items() if k not in ONNX_ATTRIBUTES}
        constants = [
            onnx.numpy_helper.from_array(np.asarray(v, None if isinstance(v, np.float32) else np.int64), k)
            for k, v in given.items()
        ]
        last = max((k for k, name in enumerate(order) if name in given), default=0)
        inputs = [f"x{k}" for k in range(len(xs))] + [n if n in given else "" for n in order[1 : last + 1]]
        settings = {k: v for k, v in attributes.items() if k in ONNX_ATTRIBUTES}
        outputs = [f"y{k}" for k in range(count)]
        graph = helper.make_graph(
            [helper.make_node(title, inputs, outputs, **settings)],
            "case",
            [helper.make_tensor_value_info(f"x{k}", float32, x.shape) for k, x in enumerate(xs)],
            [helper.make_tensor_value_info(name, float32, None) for name in outputs],
            constants,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
        session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        results: list[Array] = session.run(None, {f"x{k}": x for k, x in enumerate(xs)})
        return results

    agree(op, peer, case)


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("torch:permute", permuted("dims", negative=True)),
        ("torch:reshape", reshaped()),
        ("torch:pad", torch_pad),
        ("torch:flip", reversed_along("dims")),
        ("torch:roll", rolled("shifts", "dims")),
        ("torch:tile", repeated("dims", -2, -1, 0, 1, least=0)),
        ("torch:unfold", windows),
        ("torch:channel_shuffle", shuffled(3, "groups", axis=False)),
    ],
)
def test_torch_on_shapes_axes_and_bounds(op: str, case: Any) -> None:
    torch = pytest.importorskip("torch")
    title = op[6:]
    function = {"pad": torch.nn.functional.pad, "unfold": torch.Tensor.unfold}.get(title) or getattr(torch, title)
    agree(op, lambda xs, attributes: [function(torch.from_numpy(xs[0]), *attributes.values()).numpy()], case)


@pytest.mark.parametrize(
    ("op", "case"),
    [
        ("tensorflow:Transpose", permuted("perm", negative=True)),
        ("tensorflow:Reshape", reshaped()),
        ("tensorflow:Pad", tensorflow_pad()),
        ("tensorflow:PadV2", tensorflow_pad(True)),
        ("tensorflow:MirrorPad", tensorflow_pad(False, "REFLECT", "SYMMETRIC")),
        ("tensorflow:Slice", tensorflow_slice),
        ("tensorflow:StridedSlice", strided_slice),
        ("tensorflow:Tile", repeated("multiples", 0, least=0)),
        ("tensorflow:Roll", rolled("shift", "axis")),
        ("tensorflow:ReverseV2", reversed_along("axis")),
        ("tensorflow:BroadcastTo", broadcast("shape", both=False)),
        ("tensorflow:ConcatV2", joined),
    ],
)
def test_tensorflow_on_shapes_axes_and_bounds(op: str, case: Any, tensorflow: Any) -> None:
    function = getattr(tensorflow.raw_ops, op[11:])
    first = {"Transpose": "x", "Reshape": "tensor", "ReverseV2": "tensor", "ConcatV2": "values"}.get(op[11:], "input")

    def peer(xs: list[Array], attributes: dict[str, Any]) -> list[Array]:
        given = {k: np.array(v, np.int32) if isinstance(v, list) else v for k, v in attributes.items()}
        return [function(**{first: xs if first == "values" else xs[0]}, **given).numpy()]

    agree(op, peer, case)
