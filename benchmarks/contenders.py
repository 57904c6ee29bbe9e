"""Who is measured: each contender as a function that prepares one call of a case.

A preparation takes the case, the source and a buffer for the result, and returns a call without arguments
that gives the result; the buffer itself where the contender can write into it.  It returns None where the
contender has no such operation.  All run in one thread, except OpenVINO, which keeps its default: its
``INFERENCE_NUM_THREADS`` is never set here.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import symlayout as sl
from benchmarks.cases import Case, Step, recipe

Array = np.ndarray[Any, Any]
Call = Callable[[], Any]
Prepare = Callable[[Case, Array, Array], Call | None]


def restrict_threads() -> None:
    """Ask for one thread, before any library that reads these variables is imported."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")


# --- symlayout -----------------------------------------------------------------------------------


def tensor(steps: tuple[Step, ...], rank: int, dtype: str) -> sl.Tensor:
    """Return the chain on a tensor whose extents are all dims."""
    t = sl.tensor([sl.dim(f"n{k}") for k in range(rank)], dtype=dtype, name="x")
    for step in steps:
        if step.op == "transpose":
            t = sl.transpose(t, step.axes)
        elif "depth" in step.op:
            t = getattr(sl, step.op)(t, step.block, depth_axis=step.depth, spatial_axes=step.spatial)
        else:
            blocks, margins = step.per_axis(step.block, 1)[1:], step.per_axis(step.margins, (0, 0))[1:]
            t = getattr(sl, step.op)(t, blocks, margins)
    return t


@cache
def _kernel(steps: tuple[Step, ...], rank: int, dtype: str) -> sl.Kernel:
    return sl.compile(tensor(steps, rank, dtype), strict=True)


def symlayout(case: Case, source: Array, out: Array) -> Call:
    """One kernel for all shapes."""
    kernel = _kernel(case.steps, source.ndim, case.dtype)
    return lambda: kernel(source, out=out)


# --- by views and copies -------------------------------------------------------------------------


def numpy(case: Case, source: Array, out: Array) -> Call:
    """Reshape, permute, copy into place."""
    moves, _ = recipe(case)

    def call() -> Array:
        view = source
        for verb, argument in moves[:-1] if moves[-1][0] == "reshape" else moves:
            view = view[argument] if verb == "crop" else getattr(np, verb)(view, argument)
        np.copyto(out.reshape(view.shape), view)
        return out

    return call


def torch(case: Case, source: Array, out: Array) -> Call:
    """Reshape, permute, copy into place."""
    library = importlib.import_module("torch")
    library.set_num_threads(1)
    moves, _ = recipe(case)
    x, result = library.from_numpy(source), library.from_numpy(out)

    def call() -> Array:
        view = x
        for verb, argument in moves[:-1] if moves[-1][0] == "reshape" else moves:
            if verb == "pad":
                view = library.nn.functional.pad(view, [n for pair in reversed(argument) for n in pair])
            elif verb == "crop":
                view = view[argument]
            else:
                view = view.permute(argument) if verb == "transpose" else view.reshape(argument)
        result.view(view.shape).copy_(view)
        return out

    return call


def jax(case: Case, source: Array, out: Array) -> Call:
    """Reshape and permute under `jit`, which has no `out`."""
    library = importlib.import_module("jax")
    moves, _ = recipe(case)

    def chain(view: Any) -> Any:
        for verb, argument in moves:
            view = view[argument] if verb == "crop" else getattr(library.numpy, verb)(view, argument)
        return view

    compiled, x = library.jit(chain), library.device_put(source)
    return lambda: compiled(x).block_until_ready()


# --- by operations of their own ------------------------------------------------------------------


def tensorflow(case: Case, source: Array, out: Array) -> Call | None:
    """Use the raw operations, which have no `out`; depth only in NHWC, as on any CPU."""
    library = importlib.import_module("tensorflow")
    library.config.threading.set_intra_op_parallelism_threads(1)
    library.config.threading.set_inter_op_parallelism_threads(1)
    ops, x = library.raw_ops, library.constant(source)
    chain: list[tuple[Any, dict[str, Any]]] = []
    for step in case.steps:
        blocks, margins = step.per_axis(step.block, 1)[1:], step.per_axis(step.margins, (0, 0))[1:]
        if step.op == "transpose":
            chain.append((lambda input, perm: ops.Transpose(x=input, perm=perm), {"perm": step.axes}))
        elif step.op == "space_to_batch":
            chain.append((ops.SpaceToBatchND, {"block_shape": blocks, "paddings": margins}))
        elif step.op == "batch_to_space":
            chain.append((ops.BatchToSpaceND, {"block_shape": blocks, "crops": margins}))
        elif step.layout == "NCHW":
            return None
        else:
            operation = ops.SpaceToDepth if step.op == "space_to_depth" else ops.DepthToSpace
            chain.append((operation, {"block_size": step.block}))

    def call() -> Any:
        value = x
        for operation, attributes in chain:
            value = operation(input=value, **attributes)
        return value

    return call


def onnxruntime(case: Case, source: Array, out: Array) -> Call | None:
    """Run a model of one node with its result bound to the buffer."""
    (step, *more) = case.steps
    if more or "batch" in step.op or step.layout == "NHWC":
        return None
    library, helper = importlib.import_module("onnxruntime"), importlib.import_module("onnx").helper
    names = {"space_to_depth": "SpaceToDepth", "depth_to_space": "DepthToSpace", "transpose": "Transpose"}
    attributes: dict[str, Any] = {"perm": step.axes} if step.op == "transpose" else {"blocksize": step.block}
    element = helper.np_dtype_to_tensor_dtype(source.dtype)
    ends = [helper.make_tensor_value_info(n, element, a.shape) for n, a in (("x", source), ("y", out))]
    node = helper.make_node(names[step.op], ["x"], ["y"], **attributes)
    graph = helper.make_graph([node], "case", ends[:1], ends[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    options = library.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = library.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_ortvalue_input("x", library.OrtValue.ortvalue_from_numpy(source))
    binding.bind_output("y", "cpu", 0, out.dtype.type, out.shape, out.ctypes.data)

    def call() -> Array:
        session.run_with_iobinding(binding)
        return out

    return call


def openvino(case: Case, source: Array, out: Array) -> Call | None:
    """Run a model of the chain with its result bound to the buffer, in as many threads as OpenVINO takes."""
    library = importlib.import_module("openvino")
    opset = importlib.import_module("openvino.opset8")
    x = value = opset.parameter(source.shape, source.dtype.type)
    for step in case.steps:
        blocks = step.per_axis(step.block, 1)
        begin, end = (step.per_axis(m, 0) for m in step.margins)
        if step.op == "transpose":
            value = opset.transpose(value, list(step.axes))
        elif "batch" in step.op:
            value = getattr(opset, step.op)(value, blocks, begin, end)
        elif step.layout == "NHWC":
            return None
        else:
            value = getattr(opset, step.op)(value, "blocks_first", step.block)
    compiled = library.Core().compile_model(library.Model([value], [x]), "CPU", {"PERFORMANCE_HINT": "LATENCY"})
    request = compiled.create_infer_request()
    request.set_input_tensor(library.Tensor(source, shared_memory=True))
    request.set_output_tensor(library.Tensor(out, shared_memory=True))

    def call() -> Array:
        request.infer()
        return out

    return call


PEERS: dict[str, Prepare] = {
    "numpy": numpy,
    "torch": torch,
    "onnxruntime": onnxruntime,
    "openvino": openvino,
    "tensorflow": tensorflow,
    "jax": jax,
}


def installed() -> dict[str, Prepare]:
    """Return the peers that can be imported."""
    found = {}
    for name, prepare in PEERS.items():
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        found[name] = prepare
    return found
