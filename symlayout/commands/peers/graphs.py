"""Peers that run a model, onnxruntime and OpenVINO, with input and result bound to NumPy arrays."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from symlayout.commands.peers.program import UnsupportedError
from symlayout.commands.peers.task import Call, Limits, Task, Verbs


def onnxruntime(task: Task) -> Call:
    """Return a call of the chain as an ONNX model."""
    task.only_forward()
    helper = import_module("onnx").helper
    library = import_module("onnxruntime")
    nodes: list[Any] = []
    constants: list[Any] = []

    def node(op: str, inputs: list[Any], **attributes: Any) -> str:
        names = []
        for given in inputs:
            if not isinstance(given, str):
                constants.append(import_module("onnx").numpy_helper.from_array(given, f"c{len(constants)}"))
                given = constants[-1].name
            names.append(given)
        nodes.append(helper.make_node(op, names, [f"v{len(nodes)}"], **attributes))
        return str(nodes[-1].output[0])

    verbs: Verbs = {
        "reshape": lambda x, shape: node("Reshape", [x, _ints(shape)]),
        "transpose": lambda x, axes: node("Transpose", [x], perm=axes),
        "slice": lambda x, key: node("Slice", [x, *_cuts(key)]),
        "concatenate": lambda *parts: node("Concat", list(parts[:-1]), axis=parts[-1]),
        "pad": lambda x, widths, mode, value: node(
            "Pad", [x, _ints([*(w[0] for w in widths), *(w[1] for w in widths)])], mode=mode
        ),
        "broadcast_to": lambda x, shape: node("Expand", [x, _ints(shape)]),
        "tile": lambda x, reps: node("Tile", [x, _ints(reps)]),
        "space_to_depth": lambda x, block, mode, depth: node("SpaceToDepth", [x], blocksize=block),
        "depth_to_space": lambda x, block, mode, depth: node(
            "DepthToSpace", [x], blocksize=block, mode="DCR" if mode == "blocks_first" else "CRD"
        ),
    }
    limits: Limits = {
        "pad": lambda shape, widths, mode, value: mode in ("constant", "reflect", "edge", "wrap") and value == 0,
        "space_to_depth": lambda shape, _, mode, depth: (len(shape), mode, depth) == (4, "blocks_first", 1),
        "depth_to_space": lambda shape, _, mode, depth: (len(shape), depth) == (4, 1),
    }
    moves, functions = task.program(verbs, limits, lambda name: lambda x, _, keywords: node(name, [x], **keywords))
    names = ["x"]
    for move, function in zip(moves, functions, strict=True):
        names.append(function(*[names[k] for k in move.inputs], *move.arguments))
    element = helper.np_dtype_to_tensor_dtype(task.source.dtype)
    shapes = {"x": task.source.shape, names[-1]: moves[-1].shape}
    ends = [helper.make_tensor_value_info(name, element, shape) for name, shape in shapes.items()]
    graph = helper.make_graph(nodes, "chain", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = task.threads
    options.log_severity_level = 4
    session = library.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    if task.out is None:
        return lambda: session.run(None, {"x": task.source})[0]
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", library.OrtValue.ortvalue_from_numpy(task.source))
    out = task.out
    binding.bind_output(names[-1], "cpu", 0, out.dtype.type, out.shape, out.ctypes.data)
    return lambda: session.run_with_iobinding(binding)


def openvino(task: Task) -> Call:
    """Return a call of the chain as an OpenVINO model.

    OpenVINO uses as many threads as the process may use processors (`os.sched_setaffinity`).  Its property
    ``INFERENCE_NUM_THREADS`` is not set: with 1, OpenVINO ignores errors of shapes.
    """
    task.only_forward()
    if task.out is None:
        raise UnsupportedError("a new array for each result: an OpenVINO request reuses its own")
    library = import_module("openvino")
    opset = import_module("openvino.opset13")
    pads = {"constant": "constant", "edge": "edge", "reflect": "reflect", "symmetric": "symmetric"}
    verbs: Verbs = {
        "reshape": lambda x, shape: opset.reshape(x, _ints(shape), False),
        "transpose": lambda x, axes: opset.transpose(x, _ints(axes)),
        "slice": lambda x, key: opset.slice(x, *_bounds(key), _ints(range(len(key)))),
        "concatenate": lambda *parts: opset.concat(list(parts[:-1]), parts[-1]),
        "pad": lambda x, widths, mode, value: opset.pad(
            x, _ints([w[0] for w in widths]), _ints([w[1] for w in widths]), pads[mode],
            *([np.array(value, task.source.dtype)] if mode == "constant" else []),
        ),
        "broadcast_to": lambda x, shape: opset.broadcast(x, _ints(shape)),
        "tile": lambda x, reps: opset.tile(x, _ints(reps)),
        "roll": lambda x, shifts, axes: opset.roll(x, _ints(shifts), _ints(axes)),
        "space_to_batch": lambda x, block, widths: opset.space_to_batch(x, *_blocks(x, block, widths)),
        "batch_to_space": lambda x, block, crops: opset.batch_to_space(x, *_blocks(x, block, crops)),
        "space_to_depth": lambda x, block, mode, depth: opset.space_to_depth(x, mode, block),
        "depth_to_space": lambda x, block, mode, depth: opset.depth_to_space(x, mode, block),
    }  # fmt: skip
    limits: Limits = {
        "pad": lambda shape, widths, mode, value: mode in pads,
        "space_to_batch": lambda shape, *_: len(shape) >= 4,
        "batch_to_space": lambda shape, *_: len(shape) >= 4,
        "space_to_depth": lambda shape, _, mode, depth: depth == 1,
        "depth_to_space": lambda shape, _, mode, depth: depth == 1,
    }

    def native(name: str) -> Any:
        function = getattr(opset, "".join(f"_{c.lower()}" if c.isupper() else c for c in name.split("-")[0])[1:])
        return lambda x, values, keywords: function(x, *values, **keywords)

    moves, functions = task.program(verbs, limits, native)
    x = opset.parameter(task.source.shape, task.source.dtype.type)
    values = [x]
    for move, function in zip(moves, functions, strict=True):
        values.append(function(*[values[k] for k in move.inputs], *move.arguments))
    model = library.Model([values[-1]], [x])
    compiled = library.Core().compile_model(model, "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    request.set_input_tensor(library.Tensor(task.source, shared_memory=True))
    request.set_output_tensor(library.Tensor(task.out, shared_memory=True))
    return lambda: request.infer()


def _ints(values: Any) -> Any:
    return np.array(list(values), np.int64)


def _bounds(key: Any) -> tuple[Any, Any, Any]:
    """Return the starts, stops and steps of slices, as ONNX and OpenVINO take them."""
    least = np.iinfo(np.int64).min
    steps = [1 if cut.step is None else cut.step for cut in key]
    starts = [
        cut.start if cut.start is not None else 0 if step > 0 else -1 for cut, step in zip(key, steps, strict=True)
    ]
    stops = [
        cut.stop if cut.stop is not None else -1 - least if step > 0 else least
        for cut, step in zip(key, steps, strict=True)
    ]  # fmt: skip
    return _ints(starts), _ints(stops), _ints(steps)


def _cuts(key: Any) -> tuple[Any, Any, Any, Any]:
    starts, stops, steps = _bounds(key)
    return starts, stops, _ints(range(len(key))), steps


def _blocks(x: Any, block: Any, pairs: Any) -> tuple[Any, Any, Any]:
    """Return block sizes and margins for every axis: 1 and 0 for the batch axis and for axes without blocks."""
    rest = [1] * (len(x.shape) - 1 - len(block))
    begin, end = zip(*pairs, strict=True)
    nothing = [0] * len(rest)
    return _ints([1, *block, *rest]), _ints([0, *begin, *nothing]), _ints([0, *end, *nothing])
