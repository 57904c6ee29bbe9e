"""A core step in the words of the frameworks: the operations of the catalogue that mean the same, or nearly.

What such a step means, and where it has a meaning, `tests.support.brute_frameworks` says; here it is only written down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.fuzz_prove.extents import minus, product
from tests.support.brute import Expression, Step

Shape = Sequence[Expression]
END = (1 << 31) - 1  # a bound beyond every axis


def in_words(step: Step, shape: Shape) -> list[Step]:
    """Return *step*, for an input of *shape*, as the frameworks write it."""
    name, given = step
    words = {"made" if key == "shape" else key: e for key, e in given.items()}
    return list(_WORDS[name](shape, **words)) if name in _WORDS else []


def _transpose(shape: Shape, axes: list[int]) -> Iterator[Step]:
    if shape:
        yield "openvino:Transpose-1", {"input_order": axes}
        yield "tensorflow:Transpose", {"perm": axes}
        yield "onnx:Transpose", {"perm": axes}
        yield "torch:permute", {"dims": axes}


def _flip(shape: Shape, axis: list[int]) -> Iterator[Step]:
    yield "tensorflow:ReverseV2", {"axis": axis}
    yield "torch:flip", {"dims": axis}
    if not axis:
        yield "onnx:Identity", {}


def _reshape(shape: Shape, made: list[Expression]) -> Iterator[Step]:
    yield "openvino:Reshape-1", {"shape": made, "special_zero": False}
    yield "tensorflow:Reshape", {"shape": made}
    yield "onnx:Reshape", {"shape": made, "allowzero": 1}
    yield "torch:reshape", {"shape": made}
    for axis in range(len(shape) + 1):
        if made == [product(shape[:axis]), product(shape[axis:])]:
            yield "onnx:Flatten", {"axis": axis}
    copied = [0 if k < len(shape) and e == shape[k] else e for k, e in enumerate(made)]
    if 0 in copied and all(isinstance(e, int) for e in copied):
        yield "openvino:Reshape-1", {"shape": copied, "special_zero": True}
        yield "onnx:Reshape", {"shape": copied}


def _ravel(shape: Shape) -> Iterator[Step]:
    yield "torch:reshape", {"shape": [-1]}


def _pad(shape: Shape, pad_width: Any, mode: str = "constant", constant_values: int = 0) -> Iterator[Step]:
    begins, ends = ([pair[k] for pair in pad_width] for k in (0, 1))
    both = [n for pair in reversed(pad_width) for n in pair]
    axes = [k for k, pair in enumerate(pad_width) if pair != [0, 0]]
    some = [begins[k] for k in axes] + [ends[k] for k in axes]
    adds = all(n >= 0 if isinstance(n, int) else isinstance(n, str) for n in both)
    if mode == "constant" and all(map(_one_way, pad_width)):
        openvino = {"pads_begin": begins, "pads_end": ends, "pad_mode": mode, "pad_value": constant_values}
        yield "openvino:Pad-12", openvino
        yield "onnx:Pad", {"pads": [*begins, *ends], "constant_value": constant_values}
        yield "onnx:Pad", {"pads": some, "constant_value": constant_values, "axes": axes}
        yield "torch:pad", {"pad": both, "value": constant_values}
        if adds:
            yield "tensorflow:PadV2", {"paddings": pad_width, "constant_values": constant_values}
        if adds and constant_values == 0:
            yield "tensorflow:Pad", {"paddings": pad_width}
    if mode in ("edge", "reflect", "symmetric"):
        yield "openvino:Pad-12", {"pads_begin": begins, "pads_end": ends, "pad_mode": mode}
    if mode in ("edge", "reflect", "wrap"):
        yield "onnx:Pad", {"pads": [*begins, *ends], "mode": mode}
    if mode in ("reflect", "symmetric"):
        yield "tensorflow:MirrorPad", {"paddings": pad_width, "mode": mode.upper()}
    named = {"edge": "replicate", "reflect": "reflect", "wrap": "circular"}
    if mode in named and len(shape) in (2, 3) and axes == [len(shape) - 1]:
        yield "torch:pad", {"pad": pad_width[-1], "mode": named[mode]}


def _one_way(pair: list[Expression]) -> bool:
    """Return whether a pair of pads adds, or takes away, at both ends: in which order is told of numbers alone."""
    takes = [n < 0 if isinstance(n, int) else isinstance(n, tuple) for n in pair]
    return all(isinstance(n, int) for n in pair) or takes[0] == takes[1] or 0 in pair


def _getitem(shape: Shape, key: list[Any]) -> Iterator[Step]:
    *before, item = key
    axis, bit = len(before), 1 << len(before)
    whole = {"begin_mask": bit - 1, "end_mask": bit - 1}
    if item is None:
        yield "openvino:Unsqueeze-1", {"axes": [axis]}
        yield "onnx:Unsqueeze", {"axes": [axis]}
        rest = {"begin": [0] * (axis + 1), "end": [0] * (axis + 1), "strides": [1] * (axis + 1)}
        yield "tensorflow:StridedSlice", {**rest, **whole, "new_axis_mask": bit}
    elif isinstance(item, int):
        bounds = {"begin": [0] * axis + [item], "end": [0] * axis + [item + 1], "strides": [1] * (axis + 1)}
        yield "tensorflow:StridedSlice", {**bounds, **whole, "shrink_axis_mask": bit}
    else:
        by = 1 if item.step is None else item.step
        first = item.start if item.start is not None else 0 if by > 0 else END
        last = item.stop if item.stop is not None else END if by > 0 else -END
        yield "openvino:Slice-8", {"start": [first], "stop": [last], "step": [by], "axes": [axis]}
        yield "onnx:Slice", {"starts": [first], "ends": [last], "axes": [axis], "steps": [by]}
        masks = {"begin_mask": bit - 1 | bit * (item.start is None), "end_mask": bit - 1 | bit * (item.stop is None)}
        bounds = {"begin": [0] * axis + [item.start or 0], "end": [0] * axis + [item.stop or 0]}
        yield "tensorflow:StridedSlice", {**bounds, "strides": [1] * axis + [by], **masks}
        if axis == len(shape) - 1:
            masks = {"begin_mask": 2 * (item.start is None), "end_mask": 2 * (item.stop is None), "ellipsis_mask": 1}
            bounds = {"begin": [0, item.start or 0], "end": [0, item.stop or 0], "strides": [1, by]}
            yield "tensorflow:StridedSlice", {**bounds, **masks}


def _slice(shape: Shape, axis: int, start: Expression, stop: Expression, step: int) -> Iterator[Step]:
    if step == 1:
        rest = len(shape) - axis - 1
        sizes = [-1] * axis + [minus(stop, start)] + [-1] * rest
        yield "tensorflow:Slice", {"begin": [0] * axis + [start] + [0] * rest, "size": sizes}


def _blocks(shape: Shape, block_shape: list[Expression], pairs: list[list[Expression]], kind: str) -> Iterator[Step]:
    word, margins, attribute = (
        ("SpaceToBatch", "pads", "paddings") if kind == "s" else ("BatchToSpace", "crops", "crops")
    )
    rest = len(shape) - len(block_shape) - 1
    begins, ends = ([0, *(pair[k] for pair in pairs), *[0] * rest] for k in (0, 1))
    whole = {"block_shape": [1, *block_shape, *[1] * rest], f"{margins}_begin": begins, f"{margins}_end": ends}
    yield f"openvino:{word}-2", whole
    yield f"tensorflow:{word}ND", {"block_shape": block_shape, attribute: pairs}
    if len(shape) == 4 and len(block_shape) == 2 and block_shape[0] == block_shape[1]:
        yield f"tensorflow:{word}", {attribute: pairs, "block_size": block_shape[0]}


def _space_to_batch(shape: Shape, block_shape: Any, paddings: Any) -> Iterator[Step]:
    yield from _blocks(shape, block_shape, paddings, "s")


def _batch_to_space(shape: Shape, block_shape: Any, crops: Any) -> Iterator[Step]:
    yield from _blocks(shape, block_shape, crops, "b")


def _depth(shape: Shape, kind: str, block: Expression, mode: str, depth_axis: int = 1, **_: Any) -> Iterator[Step]:
    word, factor = ("SpaceToDepth", "pixel_unshuffle") if kind == "s" else ("DepthToSpace", "pixel_shuffle")
    rank, first = len(shape), mode == "blocks_first"
    if depth_axis == rank - 1:
        yield f"tensorflow:{word}", {"block_size": block}
        return
    yield f"openvino:{word}-1", {"block_size": block, "mode": mode}
    if rank != 4:
        return
    yield f"onnx:{word}", {"blocksize": block, "mode": "DCR" if first else "CRD"}
    if first:
        yield f"tensorflow:{word}", {"block_size": block, "data_format": "NCHW"}
    else:
        yield f"torch:{factor}", {"downscale_factor" if kind == "s" else "upscale_factor": block}


def _space_to_depth(shape: Shape, block_size: Expression, **rest: Any) -> Iterator[Step]:
    yield from _depth(shape, "s", block_size, **rest)


def _depth_to_space(shape: Shape, block_size: Expression, **rest: Any) -> Iterator[Step]:
    yield from _depth(shape, "d", block_size, **rest)


def _roll(shape: Shape, shift: Expression, axis: int | None = None) -> Iterator[Step]:
    if axis is None:
        yield "torch:roll", {"shifts": shift}
        return
    yield "openvino:Roll-7", {"shift": [shift], "axes": [axis]}
    yield "tensorflow:Roll", {"shift": [shift], "axis": [axis]}
    yield "torch:roll", {"shifts": [shift], "dims": [axis]}


def _tile(shape: Shape, reps: list[Expression]) -> Iterator[Step]:
    yield "openvino:Tile-1", {"repeats": reps}
    yield "torch:tile", {"dims": reps}
    if len(reps) == len(shape):
        yield "tensorflow:Tile", {"multiples": reps}
        yield "onnx:Tile", {"repeats": reps}


def _broadcast_to(shape: Shape, made: list[Expression]) -> Iterator[Step]:
    yield "openvino:Broadcast-3", {"target_shape": made}
    axes = list(range(len(made) - len(shape), len(made)))
    yield "openvino:Broadcast-3", {"target_shape": made, "axes_mapping": axes, "mode": "explicit"}
    yield "openvino:Broadcast-3", {"target_shape": made, "mode": "bidirectional"}
    yield "tensorflow:BroadcastTo", {"shape": made}
    yield "onnx:Expand", {"shape": made}


def _squeeze(shape: Shape, axis: list[int]) -> Iterator[Step]:
    yield "openvino:Squeeze-1", {"axes": axis}
    yield "onnx:Squeeze", {"axes": axis}


def _expand_dims(shape: Shape, axis: list[int]) -> Iterator[Step]:
    yield "openvino:Unsqueeze-1", {"axes": axis}
    yield "onnx:Unsqueeze", {"axes": axis}


def _channel_shuffle(shape: Shape, groups: Expression, axis: int) -> Iterator[Step]:
    yield "openvino:ShuffleChannels-1", {"axis": axis, "group": groups}
    if axis == 1 and len(shape) > 2:
        yield "torch:channel_shuffle", {"groups": groups}


def _window(
    shape: Shape, window_shape: Any, axis: list[int], strides: Any, dilation: Any, padding: Any
) -> Iterator[Step]:
    if len(axis) == 1 and dilation == [1] and padding == [[0, 0]]:
        yield "torch:unfold", {"dimension": axis[0], "size": window_shape[0], "step": strides[0]}


def _concatenate(shape: Shape, axis: int, branches: Any) -> Iterator[Step]:
    for name in ("openvino:Concat-1", "tensorflow:ConcatV2", "onnx:Concat"):
        yield name, {"axis": axis, "branches": branches}


def _split(shape: Shape, indices_or_sections: int, axis: int, part: int) -> Iterator[Step]:
    yield "openvino:Split-1", {"axis": axis, "num_splits": indices_or_sections, "part": part}
    extent = shape[axis]
    if isinstance(extent, int) and extent % indices_or_sections == 0:
        sizes = [extent // indices_or_sections] * indices_or_sections
        yield "onnx:Split", {"split": sizes, "axis": axis, "part": part}
        yield "onnx:Split", {"num_outputs": indices_or_sections, "axis": axis, "part": part}


_WORDS: dict[str, Any] = {
    "transpose": _transpose, "flip": _flip, "reshape": _reshape,
    "ravel": _ravel, "pad": _pad, "getitem": _getitem, "slice": _slice, "space_to_batch": _space_to_batch,
    "batch_to_space": _batch_to_space, "space_to_depth": _space_to_depth, "depth_to_space": _depth_to_space,
    "roll": _roll, "tile": _tile, "broadcast_to": _broadcast_to,
    "squeeze": _squeeze, "expand_dims": _expand_dims, "channel_shuffle": _channel_shuffle, "window": _window,
    "concatenate": _concatenate, "split": _split,
}  # fmt: skip
