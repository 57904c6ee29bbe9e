"""Peers that compute eagerly or under a `jit`: NumPy, torch, jax and TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from symlayout.commands.peers.program import Move
from symlayout.commands.peers.task import Call, Function, Limits, Task, Verbs, replay


def numpy(task: Task) -> Call:
    """Return a call that takes views where it can and then copies the result; `concatenate` writes it directly."""
    task.only_forward()
    verbs: Verbs = {
        "reshape": np.ndarray.reshape,
        "transpose": np.ndarray.transpose,
        "slice": np.ndarray.__getitem__,
        "concatenate": lambda *parts: np.concatenate(parts[:-1], parts[-1]),
        "pad": lambda x, widths, mode, value: np.pad(x, widths, mode, **_fill("constant_values", mode, value)),
        "broadcast_to": np.broadcast_to,
        "tile": np.tile,
        "repeat": np.repeat,
        "flip": np.flip,
        "roll": np.roll,
        "window": sliding_window_view,
    }
    return _into_place(
        task, *task.program(verbs), task.source, task.out,
        join=lambda *parts, out: np.concatenate(parts[:-1], parts[-1], out=out),
        copy=np.copyto,
        whole=np.ascontiguousarray,
        fresh=lambda y: y.flags.c_contiguous and not np.may_share_memory(y, task.source),
    )  # fmt: skip


def torch(task: Task) -> Call:
    """Return a call that takes views where it can and then copies the result."""
    library = import_module("torch")
    library.set_num_threads(task.threads)
    modes = {"constant": "constant", "edge": "replicate", "reflect": "reflect", "wrap": "circular"}
    functional = library.nn.functional
    verbs: Verbs = {
        "reshape": library.Tensor.reshape,
        "transpose": library.Tensor.permute,
        "slice": library.Tensor.__getitem__,
        "concatenate": lambda *parts: library.cat(parts[:-1], parts[-1]),
        "pad": lambda x, widths, mode, value: functional.pad(
            x, _reversed_widths(widths, mode), modes[mode], **_fill("value", mode, value)
        ),
        "broadcast_to": library.Tensor.expand,
        "tile": library.tile,
        "repeat": library.repeat_interleave,
        "flip": library.flip,
        "roll": library.roll,
        "window": lambda x, sizes, axes: _unfolded(x, sizes, axes),
    }
    limits: Limits = {"pad": lambda shape, widths, mode, value: mode in modes}
    native = lambda name: lambda x, values, keywords: getattr(functional, name)(x, *values, **keywords)  # noqa: E731
    moves, functions = task.program(verbs, limits, native)
    x = library.from_numpy(task.source)
    if task.adjoint_of is not None:
        _, pull = library.func.vjp(replay(moves, functions), library.zeros(task.adjoint_of, dtype=x.dtype))
        return lambda: pull(x, retain_graph=True)[0].contiguous()
    storage = x.untyped_storage().data_ptr()
    return _into_place(
        task, moves, functions, x, None if task.out is None else library.from_numpy(task.out),
        join=lambda *parts, out: library.cat(parts[:-1], parts[-1], out=out),
        copy=library.Tensor.copy_,
        whole=library.Tensor.contiguous,
        fresh=lambda y: y.is_contiguous() and y.untyped_storage().data_ptr() != storage,
    )  # fmt: skip


def jax(task: Task) -> Call:
    """Return a call of the chain under `jit`.  It has no ``out``."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    if task.threads == 1:
        os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    library = import_module("jax")
    np_of = import_module("jax.numpy")
    verbs: Verbs = {
        "slice": lambda x, key: x[key],
        "concatenate": lambda *parts: np_of.concatenate(parts[:-1], parts[-1]),
        "pad": lambda x, widths, mode, value: np_of.pad(x, widths, mode, **_fill("constant_values", mode, value)),
        **{
            name: getattr(np_of, name)
            for name in ("reshape", "transpose", "broadcast_to", "tile", "repeat", "flip", "roll")
        },
    }
    run = replay(*task.program(verbs))
    x = library.device_put(task.source)
    if task.adjoint_of is not None:
        like = library.ShapeDtypeStruct(task.adjoint_of, task.source.dtype)
        forward, run = run, lambda y: library.linear_transpose(forward, like)(y)[0]
    compiled = library.jit(run)
    return lambda: compiled(x).block_until_ready()


def tensorflow(task: Task) -> Call:
    """Return a call of the raw operations, eagerly.  They have no ``out``; on a CPU, those of depth take NHWC only."""
    task.only_forward()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    library = import_module("tensorflow")
    if library.config.threading.get_intra_op_parallelism_threads() != task.threads:  # 0 before the first task
        library.config.threading.set_intra_op_parallelism_threads(task.threads)
        library.config.threading.set_inter_op_parallelism_threads(task.threads)
    ops = library.raw_ops
    verbs: Verbs = {
        "reshape": lambda x, shape: ops.Reshape(tensor=x, shape=shape),
        "transpose": lambda x, axes: ops.Transpose(x=x, perm=axes),
        "slice": lambda x, key: x[key],
        "concatenate": lambda *parts: ops.ConcatV2(values=parts[:-1], axis=parts[-1]),
        "pad": lambda x, widths, mode, value: (
            library.pad(x, widths, mode, value) if mode == "constant" else library.pad(x, widths, mode)
        ),
        "broadcast_to": lambda x, shape: ops.BroadcastTo(input=x, shape=shape),
        "tile": lambda x, reps: ops.Tile(input=x, multiples=reps),
        "repeat": library.repeat,
        "flip": lambda x, axes: ops.ReverseV2(tensor=x, axis=axes),
        "roll": lambda x, shifts, axes: ops.Roll(input=x, shift=shifts, axis=axes),
        "space_to_batch": lambda x, block, pads: ops.SpaceToBatchND(input=x, block_shape=block, paddings=pads),
        "batch_to_space": lambda x, block, crops: ops.BatchToSpaceND(input=x, block_shape=block, crops=crops),
        "space_to_depth": lambda x, block, mode, depth: ops.SpaceToDepth(input=x, block_size=block),
        "depth_to_space": lambda x, block, mode, depth: ops.DepthToSpace(input=x, block_size=block),
    }
    images = lambda shape, block, mode, depth: (len(shape), mode, depth) == (4, "blocks_first", 3)  # noqa: E731
    limits: Limits = {
        "pad": lambda shape, widths, mode, value: mode in ("constant", "reflect", "symmetric"),
        "space_to_batch": lambda shape, block, pads: len(block) <= 4,
        "batch_to_space": lambda shape, block, crops: len(block) <= 4,
        "space_to_depth": images,
        "depth_to_space": images,
    }
    native = lambda name: lambda x, _, keywords: getattr(ops, name)(input=x, **keywords)  # noqa: E731
    run, x = replay(*task.program(verbs, limits, native)), library.constant(task.source)
    return lambda: run(x)


# ---------------------------------------------------------------------- shared


def _into_place(
    task: Task, moves: list[Move], functions: list[Function], x: Any, out: Any, *,
    join: Function, copy: Function, whole: Function, fresh: Callable[[Any], bool],
) -> Call:  # fmt: skip
    """Return the call of a library with views.  It writes the result to *out*.

    Parameters
    ----------
    join : concatenates into ``out=``.
    copy : copies its second argument into its first.
    whole : returns a contiguous copy of a view.
    fresh : returns whether a result is a new contiguous array, which needs no copy.
    """
    if out is None:
        run = replay(moves, functions)
        return lambda: whole(run(x))
    if moves and moves[-1].verb == "reshape":  # reshape *out* instead, as a view
        moves, functions = moves[:-1], functions[:-1]
        out = out.reshape(moves[-1].shape if moves else task.shape)
    if moves and moves[-1].verb == "concatenate":
        functions = [*functions[:-1], partial(join, out=out)]
    run = replay(moves, functions)
    if moves and (moves[-1].verb == "concatenate" or fresh(run(x))):
        return lambda: run(x)
    return lambda: copy(out, run(x))


def _fill(name: str, mode: str, value: Any) -> dict[str, Any]:
    return {name: value} if mode == "constant" else {}


def _reversed_widths(widths: Any, mode: str) -> list[int]:
    """Return the widths in torch's order, last axis first.  Other modes than constant omit unpadded outer axes."""
    kept = list(widths)
    while mode != "constant" and len(kept) > 1 and tuple(kept[0]) == (0, 0):
        kept.pop(0)
    return [n for pair in reversed(kept) for n in pair]


def _unfolded(x: Any, sizes: Any, axes: Any) -> Any:
    for size, axis in zip(sizes, axes, strict=True):
        x = x.unfold(axis, size, 1)
    return x
