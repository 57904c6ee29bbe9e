"""Uses of the operations that move blocks, each changed in one thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.peers.asked import LEFT_OUT as _LEFT
from tests.peers.asked import Use

ANY = (0, None)


def uses() -> Iterator[Use]:
    """Yield the uses of all operations with blocks."""
    yield from openvino_blocks("SpaceToBatch-2", "pads", (2, 4, 6, 3), (2, 4, 6))
    yield from openvino_blocks("BatchToSpace-2", "crops", (12, 4, 3, 2), (8, 4, 3))
    yield from tensorflow_blocks("SpaceToBatchND", "paddings", (2, 4, 6, 3))
    yield from tensorflow_blocks("BatchToSpaceND", "crops", (12, 4, 3, 2))
    for name, pairs, shape in (("SpaceToBatch", "paddings", (2, 3, 4, 3)), ("BatchToSpace", "crops", (8, 3, 4, 2))):
        yield older_blocks(name, pairs, shape)
    for mode in ("blocks_first", "depth_first"):
        for name, deep in (("SpaceToDepth-1", False), ("DepthToSpace-1", True)):
            yield depth(f"openvino:{name}", "block_size", deep, "mode", mode, range(3, 6), least=1)
    for mode in ("DCR", "CRD"):
        yield depth("onnx:DepthToSpace", "blocksize", True, "mode", mode, (4,), least=1)
    yield depth("onnx:SpaceToDepth", "blocksize", False, "", "", (4,), least=1)
    for layout in ("NHWC", "NCHW", "NCHW_VECT_C"):
        for name, deep in (("SpaceToDepth", False), ("DepthToSpace", True)):
            ranks = (5,) if layout == "NCHW_VECT_C" else (4,)
            yield depth(f"tensorflow:{name}", "block_size", deep, "data_format", layout, ranks, least=2)
    yield depth("torch:pixel_shuffle", "upscale_factor", True, "", "", range(3, 6), least=1)
    yield depth("torch:pixel_unshuffle", "downscale_factor", False, "", "", range(3, 6), least=1)
    yield (
        groups("openvino:ShuffleChannels-1", "group", (1, 2, 3, 4, 5))
        .each("", "axis", 1, -2)
        .each("bad_axis", "axis", 3, -4)
        .ask("length_mismatch", axis=[1])
    )
    yield groups("torch:channel_shuffle", "groups", (3, 4, 5))


def openvino_blocks(name: str, what: str, shape: Any, third: Any) -> Iterator[Use]:
    """Yield SpaceToBatch-2 and BatchToSpace-2, where *what* is ``pads`` or ``crops``."""
    begin, end, one = f"{what}_begin", f"{what}_end", what.removesuffix("s")
    op = f"openvino:{name}"
    use = Use(op, shape, {"block_shape": [1, 2, 3, 1], begin: [0, 1, 2, 0], end: [0, 1, 1, 0]})
    use.ask(block_shape=[1, 2, 1, 1], **{begin: [0, 2, 0, 0], end: [0, 0, 0, 0]})
    use.ask(**{begin: [0, 0, 3, 0], end: [0, 2, 0, 0]})
    use.ask("batch_block_not_one", block_shape=[2, 2, 3, 1]).ask("block_lt_1", block_shape=[0, 2, 3, 1])
    use.ask("block_lt_1", block_shape=[1, 0, 3, 1]).ask("block_lt_1", block_shape=[1, 2, -3, 1])
    for side in (begin, end):
        use.ask(f"batch_{one}_nonzero", **{side: [1, 1, 2, 0]}).ask(f"negative_{one}", **{side: [0, -1, 2, 0]})
        use.ask(f"negative_{one}", **{side: [-1, 1, 2, 0]})
        use.ask("length_mismatch", **{side: [0, 1, 2]}).ask("length_mismatch", **{side: [0, 1, 2, 0, 0]})
        use.ask("length_mismatch", **{side: [[0, 1, 2, 0]]}).ask("length_mismatch", **{side: 0})
    use.each("length_mismatch", "block_shape", [1, 2, 3], [1, 2, 3, 1, 1], [[1, 2, 3, 1]], 1, [])
    use.ask("attr_missing", block_shape=_LEFT).ask("attr_missing", **{end: _LEFT})
    use.shapes("length_mismatch", (4, 4, 6), (4, 4, 6, 3, 1))
    if what == "pads":
        use.shapes("non_divisible", (2, 5, 6, 3), (2, 4, 7, 3))
        use.shapes("", (0, 4, 6, 3), (2, 4, 6, 0), (2, 0, 0, 3)).ask("overflow", block_shape=[1, 2**32, 2**32, 1])
        use.ask("overflow", of=(2**62, 4, 6, 3))
        use.partly((ANY, 4, 6, 3), (2, ANY, ANY, 3), ((1, 2), (2, 6), (0, 9), 3), (2, (1, None), 6, (3, 4)))
    else:
        use.shapes("non_divisible", (7, 4, 3, 2), (9, 4, 3, 2)).shapes("crop_exceeds", (12, 0, 3, 2), (12, 4, 0, 2))
        use.shapes("", (12, 1, 3, 2), (0, 4, 3, 2), (12, 4, 1, 2), (12, 4, 3, 0)).ask(
            "crop_exceeds", **{end: [0, 8, 1, 0]}
        )
        use.ask("crop_exceeds", **{begin: [0, 9, 2, 0]}).ask("overflow", block_shape=[1, 2**32, 2**32, 1])
        use.ask("overflow", of=(6, 2**62, 3, 2))
        use.partly((ANY, 4, 3, 2), (12, ANY, ANY, 2), ((6, 13), (0, 3), (1, 2), 2), (12, (1, None), 3, 2))
    yield use
    use = Use(op, third, {"block_shape": [1, 2, 2], begin: [0, 0, 0], end: [0, 0, 0]})
    yield use.ask(**{begin: [0, 1, 0], end: [0, 1, 2]})
    blocks, none = [1, 2, 1, 2, 1], [0] * 5
    yield Use(op, (4, 2, 3, 4, 2), {"block_shape": blocks, begin: none, end: none}).ask(
        **{begin: [0, 0, 0, 1, 0], end: [0, 2, 1, 1, 0]}
    )
    yield (
        Use(op, (4, 2), {"block_shape": [1, 2], begin: [0, 0], end: [0, 0]})
        .ask(**{end: [0, 2]})
        .shapes("rank", (4,), ())
    )


def tensorflow_blocks(name: str, pairs: str, shape: Any) -> Iterator[Use]:
    """Yield the operations on any number of axes; *pairs* is what their pads or crops are called."""
    one = "pad" if pairs == "paddings" else "crop"
    use = Use(f"tensorflow:{name}", shape, {"block_shape": [2, 3], pairs: [[1, 1], [2, 1]]})
    use.ask(block_shape=[2], **{pairs: [[1, 1]]}).ask(block_shape=[], **{pairs: []})
    use.ask(block_shape=[2, 3, 1], **{pairs: [[0, 2], [0, 0], [0, 0]]}).ask(
        block_shape=[1, 1], **{pairs: [[0, 0], [0, 0]]}
    )
    use.each("block_lt_1", "block_shape", [0, 3], [2, 0], [-2, -3], [2, -3])
    use.each("length_mismatch", "block_shape", [2], [2, 3, 1], [[2, 3]], 2)
    use.each(
        "length_mismatch",
        pairs,
        [[1, 1]],
        [[1, 1], [2, 1], [0, 0]],
        [1, 1, 2, 1],
        [[1, 1, 0], [2, 1, 0]],
        [[1], [2]],
        0,
    )
    use.each(f"negative_{one}", pairs, [[-1, 1], [2, 1]], [[1, 1], [2, -1]], [[-1, -1], [0, 0]])
    use.ask("attr_missing", block_shape=_LEFT).ask("attr_missing", **{pairs: _LEFT})
    use.shapes("rank", (12, 4), (12,), ())
    use.ask("rank", block_shape=[2, 3, 1, 1], **{pairs: [[0, 0]] * 4})
    if one == "pad":
        use.shapes("non_divisible", (2, 5, 6, 3), (2, 4, 7, 3)).shapes(
            "", (0, 4, 6, 3), (2, 0, 0, 3), (2, 4, 6), (2, 4, 6, 1, 2)
        )
        use.ask("overflow", block_shape=[2**32, 2**32], of=(4, 2**32, 2**32, 0), **{pairs: [[0, 0]] * 2})
        use.partly((ANY, 4, 6, 3), (2, ANY, ANY, 3), ((1, 2), (2, 6), (0, 9), 3))
    else:
        use.shapes("non_divisible", (7, 4, 3, 2), (8, 4, 3, 2)).shapes("crop_exceeds", (12, 0, 3, 2), (12, 4, 0, 2))
        use.shapes("", (12, 1, 3, 2), (0, 4, 3, 2), (12, 4, 1, 2), (12, 4, 3), (6, 4, 3, 1, 2))
        use.each("crop_exceeds", pairs, [[5, 4], [0, 0]], [[0, 0], [10, 0]]).ask(**{pairs: [[8, 0], [4, 5]]})
        use.partly((ANY, 4, 3, 2), (12, ANY, ANY, 2), ((6, 13), (0, 3), (1, 2), 2))
    yield use


def older_blocks(name: str, pairs: str, shape: Any) -> Use:
    """Return the operations with one block for height and width."""
    one = "pad" if pairs == "paddings" else "crop"
    use = Use(f"tensorflow:{name}", shape, {pairs: [[1, 0], [0, 2]], "block_size": 2})
    use.ask("block_lt_2", block_size=1).each("block_lt_1", "block_size", 0, -2).ask("length_mismatch", block_size=[2])
    use.ask("attr_missing", block_size=_LEFT).ask("attr_missing", **{pairs: _LEFT})
    use.each("length_mismatch", pairs, [[1, 0]], [[1, 0], [0, 2], [0, 0]], [1, 0, 0, 2], 1)
    use.each(f"negative_{one}", pairs, [[-1, 0], [0, 2]], [[1, 0], [0, -2]])
    use.shapes("rank", (8, 3, 4), (8, 3, 4, 2, 1), ())
    use.shapes("non_divisible", *([(2, 4, 4, 3), (2, 3, 5, 3)] if one == "pad" else [(6, 3, 4, 2), (9, 3, 4, 2)]))
    if one == "crop":
        use.ask("crop_exceeds", crops=[[4, 3], [0, 0]]).ask(crops=[[4, 2], [1, 1]]).shapes("crop_exceeds", (8, 0, 4, 2))
    return use.shapes("", (0, *shape[1:]), (*shape[:3], 0)).partly((ANY, *shape[1:]), (shape[0], ANY, ANY, shape[3]))


def depth(op: str, name: str, deep: bool, choice: str, chosen: str, ranks: Any, *, least: int) -> Use:
    """Return an operation that moves square blocks of space to the depth, or *deep* back."""
    rank = ranks[len(ranks) // 2]
    layout = chosen if choice == "data_format" else "NCHW"
    free = op.startswith("torch")  # axes before the depth, not after it

    def shape(rank: int, block: int = 2, cells: int = 3, channels: int = 2) -> tuple[int, ...]:
        axes = 2 if free or layout != "NCHW" or rank == 4 else rank - 2
        space = [cells * (1 if deep else block)] * axes
        if layout == "NHWC":
            return (2, *space, channels * (block**axes if deep else 1))
        core = [channels * (block**axes if deep else 1), *space]
        if layout == "NCHW_VECT_C":
            return (2, *core, 4)
        return (2,) * (rank - len(core)) + tuple(core)

    use = Use(op, shape(rank), {name: 2, **({choice: chosen} if choice else {})})
    at = {"NHWC": (3, 1)}.get(layout, (rank - 3, rank - 1) if free else (1, 2))  # of the depth, of an axis of space
    size = list(use.shape)

    def with_extent(axis: int, n: Any) -> tuple[Any, ...]:
        return tuple(n if k == axis else e for k, e in enumerate(size))

    for each in ranks:
        use.ask(of=shape(each)).ask(of=shape(each, 3, 2), **{name: 3})
    for each in {0, 1, 2, 3, 4, 5, 6} - set(ranks):
        if each < min(ranks) or (each > max(ranks) and not op.startswith(("openvino", "torch"))):
            use.ask("rank", of=(4,) * each)
    if least == 1:
        use.ask(**{name: 1})
    else:
        use.ask("block_lt_2", **{name: 1})
    use.each("block_lt_1", name, 0, -1, -2).ask("length_mismatch", **{name: [2]}).ask(
        "overflow|non_divisible", **{name: 2**33}
    )
    if op.startswith("openvino") or chosen in ("DCR", "NHWC"):
        use.ask("", **{choice: _LEFT}) if not op.startswith("openvino") else use.ask("attr_missing", **{choice: _LEFT})
    if op.startswith("openvino"):
        use.ask("", **{name: _LEFT})
    else:
        use.ask("attr_missing", **{name: _LEFT})
    if choice:
        use.each("bad_format" if choice == "data_format" else "bad_mode", choice, chosen.swapcase(), "", "other")
    whole = at[0] if deep else at[1]
    use.shapes("non_divisible", with_extent(whole, size[whole] + 1), with_extent(whole, 1))
    use.shapes("", with_extent(0, 0), with_extent(at[0], 0), with_extent(at[1], 0))
    if layout == "NCHW_VECT_C":
        use.shapes("size_mismatch", (*size[:-1], 3), (*size[:-1], 8))
    use.partly(with_extent(0, ANY), with_extent(whole, ANY), with_extent(whole, (1, 9)), with_extent(at[1], (2, 7)))
    return use


def groups(op: str, name: str, ranks: Any) -> Use:
    """Return an operation that interleaves the groups of axis 1."""
    use = Use(op, (2, 6, 4), {name: 3}).each("", name, 1, 2, 6).each("non_divisible", name, 4, 5, 7, 12)
    use.each("block_lt_1", name, 0, -1).ask("length_mismatch", **{name: [3]})
    use.shapes("", (0, 6, 4), (2, 0, 4), (2, 3, 0)).shapes("rank", ())
    if min(ranks) == 3:
        use.shapes("rank", (6,), (2, 6))
    return use.partly((2, ANY, 4), ((1, 2), (1, 7), ANY))
