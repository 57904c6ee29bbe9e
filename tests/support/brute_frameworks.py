"""The frameworks' operations by brute force, from their documentation and not from any index map.

Nothing of symlayout is imported.  Each function has its operation's own names of attributes, and
says in NumPy what the framework's documentation says in words or in its reference code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tests.support.brute import JOINT, OPERATIONS, Grid, Invalid, exact


def _openvino_space_to_batch(data: Grid, block_shape: list[int], pads_begin: list[int], pads_end: list[int]) -> Grid:
    pairs = [[b, e] for b, e in zip(pads_begin, pads_end, strict=True)]
    _require(block_shape[0] == 1 and pairs[0] == [0, 0])
    return OPERATIONS["space_to_batch"](data, block_shape[1:], pairs[1:])


def _openvino_batch_to_space(data: Grid, block_shape: list[int], crops_begin: list[int], crops_end: list[int]) -> Grid:
    pairs = [[b, e] for b, e in zip(crops_begin, crops_end, strict=True)]
    _require(block_shape[0] == 1 and pairs[0] == [0, 0])
    return OPERATIONS["batch_to_space"](data, block_shape[1:], pairs[1:])


def _openvino_reshape(data: Grid, shape: list[int], special_zero: bool) -> Grid:
    return OPERATIONS["reshape"](data, [data.shape[k] if n == 0 and special_zero else n for k, n in enumerate(shape)])


def _openvino_pad(data: Grid, pads_begin: list[int], pads_end: list[int], pad_value: int = 0, *, pad_mode: str) -> Grid:
    pairs = [[b, e] for b, e in zip(pads_begin, pads_end, strict=True)]
    return _padded(data, pairs, pad_mode, pad_value)


def _onnx_slice(data: Grid, starts: list[int], ends: list[int], axes: Any = None, steps: Any = None) -> Grid:
    return _slice(data, starts, ends, steps, axes)


def _slice(data: Grid, start: list[int], stop: list[int], step: Any = None, axes: Any = None) -> Grid:
    """Slice as ONNX and OpenVINO do: bounds clamp to where an element or the place before or after one is."""
    key = [slice(None)] * data.ndim
    for axis, first, last, by in zip(axes or range(data.ndim), start, stop, step or [1] * len(start), strict=False):
        n = data.shape[axis]
        low, high = (0, n) if by > 0 else (-1, n - 1)
        first, last = (min(max(k + n if k < 0 else k, low), high) for k in (first, last))
        first = max(first, 0)
        key[axis] = slice(first, None if last < 0 else last, by)
    sliced: Grid = data[tuple(key)]
    return sliced


def _openvino_broadcast(data: Grid, target_shape: list[int], axes_mapping: Any = None, mode: str = "numpy") -> Grid:
    if mode == "explicit":
        data = np.expand_dims(data, tuple(k for k in range(len(target_shape)) if k not in axes_mapping))
    if mode == "bidirectional":
        return _expand(data, target_shape)
    return OPERATIONS["broadcast_to"](data, target_shape)


def _expand(input: Grid, shape: list[int]) -> Grid:
    try:
        return np.broadcast_to(input, np.broadcast_shapes(input.shape, tuple(shape)))
    except ValueError:
        raise Invalid from None


def _openvino_transpose(arg: Grid, input_order: list[int]) -> Grid:
    return arg.transpose(input_order or None)


def _tensorflow_space_to_batch(input: Grid, paddings: Any, block_size: int) -> Grid:
    _require(block_size > 1)
    return OPERATIONS["space_to_batch"](input, [block_size] * 2, paddings)


def _tensorflow_batch_to_space(input: Grid, crops: Any, block_size: int) -> Grid:
    _require(block_size > 1)
    return OPERATIONS["batch_to_space"](input, [block_size] * 2, crops)


_AXES = {"NHWC": (3, [1, 2]), "NCHW": (1, [2, 3]), "NCHW_VECT_C": (1, [2, 3])}


def _tensorflow_space_to_depth(input: Grid, block_size: int, data_format: str = "NHWC") -> Grid:
    _require(block_size > 1)
    depth, space = _AXES[data_format]
    return OPERATIONS["space_to_depth"](input, block_size, "blocks_first", depth, space)


def _tensorflow_depth_to_space(input: Grid, block_size: int, data_format: str = "NHWC") -> Grid:
    _require(block_size > 1)
    depth, space = _AXES[data_format]
    return OPERATIONS["depth_to_space"](input, block_size, "blocks_first", depth, space)


def _tensorflow_pad(input: Grid, paddings: Any) -> Grid:
    _require(all(n >= 0 for pair in paddings for n in pair))
    return OPERATIONS["pad"](input, paddings)


def _tensorflow_pad_v2(input: Grid, paddings: Any, constant_values: int) -> Grid:
    _require(all(n >= 0 for pair in paddings for n in pair))
    return OPERATIONS["pad"](input, paddings, "constant", constant_values)


def _tensorflow_mirror_pad(input: Grid, paddings: Any, mode: str) -> Grid:
    return _padded(input, paddings, mode.lower(), 0)


def _tensorflow_slice(input: Grid, begin: list[int], size: list[int]) -> Grid:
    ends = [n if k == -1 else b + k for n, b, k in zip(input.shape, begin, size, strict=True)]
    _require(all(0 <= b <= e <= n for b, e, n in zip(begin, ends, input.shape, strict=True)))
    sliced: Grid = input[tuple(slice(b, e) for b, e in zip(begin, ends, strict=True))]
    return sliced


def _tensorflow_strided_slice(
    input: Grid,
    begin: list[int],
    end: list[int],
    strides: list[int],
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Grid:
    key: list[Any] = []
    for k, (first, last, by) in enumerate(zip(begin, end, strides, strict=True)):
        bit = 1 << k
        if ellipsis_mask & bit:
            key.append(...)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            _require(-input.shape[k] <= first < input.shape[k])
            key.append(first)
        else:
            key.append(slice(None if begin_mask & bit else first, None if end_mask & bit else last, by))
    sliced: Grid = input[tuple(key)]
    return sliced


_ONNX_MODES = {"DCR": "blocks_first", "CRD": "depth_first"}


def _onnx_space_to_depth(input: Grid, blocksize: int, mode: str = "DCR") -> Grid:
    return OPERATIONS["space_to_depth"](input, blocksize, _ONNX_MODES[mode])


def _onnx_depth_to_space(input: Grid, blocksize: int, mode: str = "DCR") -> Grid:
    """Return what the reference code in ONNX's operator schema returns."""
    n, c, h, w = input.shape
    _require(blocksize > 0 and c % blocksize**2 == 0)
    depth = c // blocksize**2
    if mode == "DCR":
        split = input.reshape([n, blocksize, blocksize, depth, h, w]).transpose([0, 3, 4, 1, 5, 2])
    else:
        split = input.reshape([n, depth, blocksize, blocksize, h, w]).transpose([0, 1, 4, 2, 5, 3])
    return split.reshape([n, depth, h * blocksize, w * blocksize])


def _onnx_reshape(data: Grid, shape: list[int], allowzero: int = 0) -> Grid:
    return OPERATIONS["reshape"](data, [data.shape[k] if n == 0 and not allowzero else n for k, n in enumerate(shape)])


def _onnx_pad(
    data: Grid, pads: list[int], constant_value: int = 0, axes: list[int] | None = None, mode: str = "constant"
) -> Grid:
    pairs = [[0, 0] for _ in range(data.ndim)]
    along = list(range(data.ndim)) if axes is None else axes
    for axis, begin, end in zip(along, pads[: len(along)], pads[len(along) :], strict=True):
        pairs[axis] = [begin, end]
    return _padded(data, pairs, mode, constant_value, once=mode != "wrap")


def _onnx_flatten(input: Grid, axis: int = 1) -> Grid:
    cut = axis + input.ndim if axis < 0 else axis
    return input.reshape([math.prod(input.shape[:cut]), math.prod(input.shape[cut:])])


def _onnx_split(
    input: Grid, split: list[int] | None = None, num_outputs: int | None = None, axis: int = 0
) -> list[Grid]:
    n = input.shape[axis]
    sizes = [exact(n, num_outputs)] * num_outputs if num_outputs is not None else split or []
    _require(sum(sizes) == n and min(sizes) >= 0)
    return np.split(input, np.cumsum(sizes)[:-1], axis)


def _openvino_split(data: Grid, axis: int, num_splits: int) -> list[Grid]:
    exact(data.shape[axis], num_splits)
    return np.split(data, num_splits, axis)


def _onnx_identity(input: Grid) -> Grid:
    return input


def _torch_pixel_shuffle(input: Grid, upscale_factor: int) -> Grid:
    """Return ``(..., C*r*r, H, W)`` as ``(..., C, H*r, W*r)``, as torch documents it."""
    *lead, depth, h, w = input.shape
    r = upscale_factor
    _require(r > 0 and depth % r**2 == 0)
    k = len(lead)
    split = input.reshape([*lead, depth // r**2, r, r, h, w])
    order = [*range(k + 1), k + 3, k + 1, k + 4, k + 2]
    return split.transpose(order).reshape([*lead, depth // r**2, h * r, w * r])


def _torch_pixel_unshuffle(input: Grid, downscale_factor: int) -> Grid:
    *lead, c, h, w = input.shape
    r = downscale_factor
    _require(r > 0 and h % r == 0 and w % r == 0)
    k = len(lead)
    split = input.reshape([*lead, c, h // r, r, w // r, r])
    order = [*range(k + 1), k + 2, k + 4, k + 1, k + 3]
    return split.transpose(order).reshape([*lead, c * r * r, h // r, w // r])


_TORCH_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _torch_pad(input: Grid, pad: list[int], mode: str = "constant", value: int = 0) -> Grid:
    pairs = [[0, 0]] * (input.ndim - len(pad) // 2) + [[pad[k], pad[k + 1]] for k in range(len(pad) - 2, -1, -2)]
    return _padded(input, pairs, _TORCH_MODES[mode], value)


def _padded(x: Grid, pairs: Sequence[Sequence[int]], mode: str, fill: int, *, once: bool = True) -> Grid:
    """Pad as the frameworks do: most repeat what there is *once* at most, and negative widths take some away."""
    spare = {"reflect": 1, "symmetric": 0, "wrap": 0}.get(mode) if once else None
    if spare is not None:
        _require(all(max(pair) <= max(n - spare, 0) for n, pair in zip(x.shape, pairs, strict=True)))
    if mode == "constant":
        _require(all(n + min(b, 0) + min(e, 0) >= 0 for n, (b, e) in zip(x.shape, pairs, strict=True)))
        return OPERATIONS["pad"](x, pairs, mode, fill)
    taken = [[min(n, 0) for n in pair] for pair in pairs]
    return OPERATIONS["pad"](OPERATIONS["pad"](x, [[max(n, 0) for n in pair] for pair in pairs], mode), taken)


def _require(condition: bool) -> None:
    if not condition:
        raise Invalid


# Operations that are a core one under another name: its name, and what its attributes are called there.
_RENAMED: dict[str, tuple[str, dict[str, str]]] = {
    "openvino:SpaceToDepth-1": ("space_to_depth", {}),
    "openvino:DepthToSpace-1": ("depth_to_space", {}),
    "openvino:Tile-1": ("tile", {"repeats": "reps"}),
    "openvino:Roll-7": ("roll", {"axes": "axis"}),
    "openvino:ShuffleChannels-1": ("channel_shuffle", {"group": "groups"}),
    "openvino:Squeeze-1": ("squeeze", {"axes": "axis"}),
    "openvino:Unsqueeze-1": ("expand_dims", {"axes": "axis"}),
    "tensorflow:SpaceToBatchND": ("space_to_batch", {}),
    "tensorflow:BatchToSpaceND": ("batch_to_space", {}),
    "tensorflow:Transpose": ("transpose", {"perm": "axes"}),
    "tensorflow:Reshape": ("reshape", {}),
    "tensorflow:Tile": ("tile", {"multiples": "reps"}),
    "tensorflow:Roll": ("roll", {}),
    "tensorflow:ReverseV2": ("flip", {}),
    "tensorflow:BroadcastTo": ("broadcast_to", {}),
    "onnx:Transpose": ("transpose", {"perm": "axes"}),
    "onnx:Tile": ("tile", {"repeats": "reps"}),
    "onnx:Squeeze": ("squeeze", {"axes": "axis"}),
    "onnx:Unsqueeze": ("expand_dims", {"axes": "axis"}),
    "torch:channel_shuffle": ("channel_shuffle", {}),
    "torch:permute": ("transpose", {"dims": "axes"}),
    "torch:reshape": ("reshape", {}),
    "torch:flip": ("flip", {"dims": "axis"}),
    "torch:roll": ("roll", {"shifts": "shift", "dims": "axis"}),
    "torch:tile": ("tile", {"dims": "reps"}),
    "torch:unfold": ("window", {"dimension": "axis", "size": "window_shape", "step": "strides"}),
}


def _renamed(core: str, names: Mapping[str, str]) -> Callable[..., Grid]:
    def run(x: Grid, **attributes: Any) -> Grid:
        return OPERATIONS[core](x, **{names.get(name, name): value for name, value in attributes.items()})

    return run


FRAMEWORKS: dict[str, Callable[..., Any]] = {
    **{name: _renamed(*row) for name, row in _RENAMED.items()},
    "openvino:SpaceToBatch-2": _openvino_space_to_batch,
    "openvino:BatchToSpace-2": _openvino_batch_to_space,
    "openvino:Transpose-1": _openvino_transpose,
    "openvino:Reshape-1": _openvino_reshape,
    "openvino:Pad-12": _openvino_pad,
    "openvino:Slice-8": _slice,
    "openvino:Split-1": _openvino_split,
    "openvino:Broadcast-3": _openvino_broadcast,
    "tensorflow:SpaceToBatch": _tensorflow_space_to_batch,
    "tensorflow:BatchToSpace": _tensorflow_batch_to_space,
    "tensorflow:SpaceToDepth": _tensorflow_space_to_depth,
    "tensorflow:DepthToSpace": _tensorflow_depth_to_space,
    "tensorflow:Pad": _tensorflow_pad,
    "tensorflow:PadV2": _tensorflow_pad_v2,
    "tensorflow:MirrorPad": _tensorflow_mirror_pad,
    "tensorflow:Slice": _tensorflow_slice,
    "tensorflow:StridedSlice": _tensorflow_strided_slice,
    "onnx:SpaceToDepth": _onnx_space_to_depth,
    "onnx:DepthToSpace": _onnx_depth_to_space,
    "onnx:Reshape": _onnx_reshape,
    "onnx:Pad": _onnx_pad,
    "onnx:Slice": _onnx_slice,
    "onnx:Expand": _expand,
    "onnx:Split": _onnx_split,
    "onnx:Flatten": _onnx_flatten,
    "onnx:Identity": _onnx_identity,
    "torch:pixel_shuffle": _torch_pixel_shuffle,
    "torch:pixel_unshuffle": _torch_pixel_unshuffle,
    "torch:pad": _torch_pad,
}
FRAMEWORK_JOINT = dict.fromkeys(("openvino:Concat-1", "tensorflow:ConcatV2", "onnx:Concat"), JOINT["concatenate"])
