"""Uses of pads and slices, each changed in one thing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.peers.asked import FAR, Use
from tests.peers.asked import LEFT_OUT as _LEFT

ANY = (0, None)
MOST = {"reflect": 1, "symmetric": 0, "wrap": 0, "circular": 0}  # less than the extent: how much may be added
SHAPE = (2, 3, 4)


def uses() -> Iterator[Use]:
    """Yield the uses."""
    yield from onnx_pads()
    yield from openvino_pads()
    yield from tensorflow_pads()
    yield from torch_pads()
    yield from slices("onnx:Slice", "starts", "ends", "steps")
    yield from slices("openvino:Slice-8", "start", "stop", "step")
    yield from tensorflow_slices()


def onnx_pads() -> Iterator[Use]:
    """Yield ONNX's pads: the begins, then the ends."""
    for mode in ("constant", "reflect", "edge", "wrap"):
        use = Use("onnx:Pad", SHAPE, {"pads": [1, 0, 2, 0, 2, 1], "mode": mode})
        use.ask(pads=[0] * 6).ask(pads=[1, 2, 3, 1, 2, 3]) if mode != "wrap" else use.ask(pads=[0] * 6).ask(
            pads=[2, 3, 4, 2, 3, 4]
        )
        use.ask(pads=[0, -1, 0, 0, 0, 0]).ask(pads=[0, -1, 1, 0, 1, -2])
        use.ask(pads=[1, 2], axes=[2]).ask(pads=[1, 0, 1, 2], axes=[0, -1]).ask(pads=[2, 0, 1, 1], axes=[2, 0])
        use.ask("bad_axis", pads=[1, 2], axes=[3]).ask("bad_axis", pads=[1, 2], axes=[-4]).ask(
            "bad_axis", pads=[1, 0, 1, 2], axes=[1, 1]
        )
        use.each("length_mismatch", "pads", [1, 0, 2], [1, 0, 2, 0, 2], [1, 0, 2, 0, 2, 1, 0], [[1, 0, 2, 0, 2, 1]], 1)
        use.ask("length_mismatch", axes=[0, 1]).ask("crop_exceeds", pads=[0, -2, 0, 0, -2, 0])
        use.ask(of=(2, 1, 4)) if mode in ("constant", "edge") else None
        if mode in ("reflect", "wrap") and mode in MOST:
            use.ask("size_mismatch", pads=[3 - MOST[mode], 0, 0, 0, 0, 0]) if mode == "reflect" else None
            use.ask(of=(2, 0, 4), pads=[1, 0, 0, 0, 0, 1])
        if mode == "constant":
            use.ask(constant_value=7).ask(mode=_LEFT).shapes("", (0, 3, 4), (2, 0, 4)).ask(of=(), pads=[])
            use.each("bad_mode", "mode", "Constant", "symmetric", "", "replicate")
            use.ask("overflow", pads=[FAR - 1, 0, 0, 0, 0, 0]).ask("length_mismatch", constant_value=[7, 7])
            use.ask("attr_missing", pads=_LEFT)
        elif mode != "wrap":
            use.ask("size_mismatch", of=(2, 3, 0), pads=[0, 0, 1, 0, 0, 0])
        yield use.partly((ANY, 3, (4, 6)), ((2, 5), (3, None), (3, 4)))


def openvino_pads() -> Iterator[Use]:
    """Yield OpenVINO's pads, which may be negative."""
    for mode in ("constant", "edge", "reflect", "symmetric"):
        use = Use("openvino:Pad-12", SHAPE, {"pads_begin": [1, 0, 2], "pads_end": [0, 2, 1], "pad_mode": mode})
        use.ask(pads_begin=[0, 0, 0], pads_end=[0, 0, 0]).ask(pads_begin=[0, -1, 0]).ask(
            pads_begin=[0, -1, 0], pads_end=[0, 0, -2]
        )
        use.ask(pads_begin=[1, 2, 3], pads_end=[1, 2, 3])
        for name in ("pads_begin", "pads_end"):
            use.each("length_mismatch", name, [1, 0], [1, 0, 2, 0], [[1, 0, 2]], 1).ask("attr_missing", **{name: _LEFT})
        use.ask("crop_exceeds", pads_begin=[0, -2, 0], pads_end=[0, -2, 0])
        if mode == "constant":
            use.ask(pad_value=7).shapes("", (0, 3, 4), (2, 0, 4)).ask(of=(), pads_begin=[], pads_end=[])
            use.each("bad_mode", "pad_mode", "CONSTANT", "wrap", "", "replicate").ask("attr_missing", pad_mode=_LEFT)
            use.ask("overflow", pads_begin=[FAR - 1, 0, 0]).ask("length_mismatch", pad_value=[7, 7])
        elif mode in MOST:
            use.ask("size_mismatch", pads_begin=[3 - MOST[mode], 0, 0]).ask(
                "size_mismatch", pads_end=[0, 4 - MOST[mode], 0]
            )
        yield use.partly((ANY, 3, (4, 6)), ((2, 5), (3, None), (3, 4)))


def tensorflow_pads() -> Iterator[Use]:
    """Yield TensorFlow's pads, of which none is negative."""
    kinds: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Pad", {}),
        ("PadV2", {"constant_values": 7}),
        ("MirrorPad", {"mode": "REFLECT"}),
        ("MirrorPad", {"mode": "SYMMETRIC"}),
    )
    for name, more in kinds:
        use = Use(f"tensorflow:{name}", SHAPE, {"paddings": [[1, 0], [0, 2], [2, 1]], **more})
        use.ask(paddings=[[0, 0]] * 3).ask(paddings=[[1, 1], [2, 2], [3, 3]])
        use.each("negative_pad", "paddings", [[-1, 0], [0, 2], [2, 1]], [[1, 0], [0, -1], [2, 1]])
        wrong = ([[1, 0], [0, 2]], [[1, 0]] * 4, [1, 0, 2], [[1], [0], [2]], [[1, 0, 0]] * 3, 1)
        use.each("length_mismatch", "paddings", *wrong).ask("attr_missing", paddings=_LEFT)
        mode = more.get("mode", "").lower()
        if mode:
            k = MOST[mode]
            use.each("size_mismatch", "paddings", [[3 - k, 0], [0, 0], [0, 0]], [[0, 0], [0, 4 - k], [0, 0]])
            use.each("bad_mode", "mode", mode, "EDGE", "").ask("attr_missing", mode=_LEFT)
        else:
            use.shapes("", (0, 3, 4), (2, 0, 4)).ask("overflow", paddings=[[FAR - 1, 0], [0, 0], [0, 0]])
        if name == "PadV2":
            use.ask("attr_missing", constant_values=_LEFT).ask("length_mismatch", constant_values=[7, 7])
        use.ask(of=(), paddings=[]).shapes("length_mismatch", (2, 3))
        yield use.partly((ANY, 3, (4, 6)), ((2, 5), (3, None), (3, 4)))


def torch_pads() -> Iterator[Use]:
    """Yield torch's pads: the last axis first."""
    for mode in ("constant", "reflect", "replicate", "circular"):
        use = Use("torch:pad", (2, 3, 4), {"pad": [1, 2], "mode": mode}).each("", "pad", [0, 0], [3, 3], [1, 0, 0, 2])
        use.each("", "pad", [-1, 0], [0, -2], [-1, 1]).each(
            "length_mismatch", "pad", [1], [1, 2, 3], [[1, 2]], [0] * 8, 1
        )
        use.ask("crop_exceeds", pad=[-3, -2]).ask("attr_missing", pad=_LEFT)
        if mode == "constant":
            use.ask(value=7).ask(mode=_LEFT).each("", "pad", [], [1, 1, 1, 1, 1, 1]).shapes("", (2, 3, 0), (0, 4), (4,))
            use.each("bad_mode", "mode", "edge", "wrap", "Constant", "").ask(pad=[-4, 0]).ask(
                "crop_exceeds", pad=[2, -7]
            )
            use.ask("overflow", pad=[FAR - 1, 0]).ask("length_mismatch", value=[7, 7])
        else:
            use.ask("attr_unknown", value=7).shapes("rank", (4,), (2, 2, 3, 4)).ask("rank", pad=[])
            use.ask("rank", pad=[1, 1, 1, 1, 1, 1]).ask(of=(2, 2, 3, 4, 3), pad=[1, 1, 0, 1, 1, 0])
            use.ask(of=(3, 4), pad=[1, 1]).ask(of=(2, 2, 3, 4), pad=[1, 0, 2, 1])
        if mode in MOST:
            use.ask("size_mismatch", pad=[5 - MOST[mode], 0]).ask("size_mismatch", pad=[0, 5 - MOST[mode]])
        yield use.partly((2, ANY, (4, 6)), ((2, 5), 3, (4, None)))


def slices(op: str, start: str, stop: str, step: str) -> Iterator[Use]:
    """Yield the slices of ONNX and OpenVINO."""
    first: dict[str, Any] = {start: [1, 0], stop: [3, 4], step: [1, 2]}
    use = Use(op, (5, 6), {**first, "axes": [0, 1]})
    use.ask(axes=_LEFT).ask(axes=[1, 0]).ask(axes=[-1, 0]).ask(**{start: [1], stop: [3], step: [1]}, axes=[1])
    for a, b, s in (
        (0, FAR - 1, 1), (0, 100, 1), (-3, FAR - 1, 1), (-100, 2, 1), (2, 1, 1), (5, 9, 1), (1, -1, 3), (-1, -4, 1),
        (-1, -FAR, -1), (4, 0, -1), (4, -100, -2), (100, 1, -2), (-2, -4, -1), (1, 4, -1), (-9, -100, -1), (-6, -8, -1),
        (0, -100, -1), (0, -1, -1), (FAR - 1, -FAR, -3), (1, 4, 100), (4, 1, -100), (0, 5, FAR - 1), (-1, 0, -FAR),
    ):  # fmt: skip
        use.ask(**{start: [a], stop: [b], step: [s]}, axes=[0])
        use.ask(**{start: [a], stop: [b], step: [s]}, axes=[0], known=(ANY, 6))
        use.ask(**{start: [a], stop: [b], step: [s]}, axes=[0], known=((2, 6), (0, 6)))
    use.ask("bad_axis", axes=[0, 2]).ask("bad_axis", axes=[-3, 0]).ask("bad_axis", axes=[1, 1]).ask(
        "bad_axis", axes=[1, -1]
    )
    use.ask("bad_axis", **{step: [0, 1]})
    for name in first:
        use.each("length_mismatch", name, [1], [1, 1, 1], [[1, 1]], 1)
        use.ask("" if name == "steps" else "attr_missing", **{name: _LEFT})
    use.ask("length_mismatch", axes=[0]).shapes("rank", ()).shapes("", (0, 6), (5, 0), (2, 2, 3))
    yield use.ask("length_mismatch|bad_axis", of=(5,))


def tensorflow_slices() -> Iterator[Use]:
    """Yield TensorFlow's slices, exact and strided."""
    use = Use("tensorflow:Slice", (5, 6), {"begin": [1, 0], "size": [3, -1]}).each("", "begin", [0, 0], [2, 6])
    use.each("", "size", [-1, -1], [0, 0], [4, 6]).each("crop_exceeds", "size", [5, 1], [1, 7], [-2, 1])
    use.each("crop_exceeds", "begin", [-1, 0], [6, 0], [3, 0])
    for name in use.attributes:
        use.each("length_mismatch", name, [1], [1, 0, 0], [[1, 0]], 1).ask("attr_missing", **{name: _LEFT})
    yield use.shapes("", (4, 0)).shapes("crop_exceeds", (3, 6)).partly((ANY, 6), ((4, 9), ANY), ((3, 5), (2, 4)))
    use = Use("tensorflow:StridedSlice", (5, 6, 2), {"begin": [1, 0], "end": [3, 4], "strides": [1, 2]})
    for mask in ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask"):
        use.each("", mask, 1, 2, 3)
    use.each("", "ellipsis_mask", 1, 2).ask("bad_axis", ellipsis_mask=3).ask(begin_mask=3, end_mask=3)
    use.ask(new_axis_mask=1, shrink_axis_mask=2).ask(new_axis_mask=1, shrink_axis_mask=1).ask(
        ellipsis_mask=1, shrink_axis_mask=2
    )
    use.ask(ellipsis_mask=2, new_axis_mask=1).ask(begin=[-1, -1], shrink_axis_mask=3).ask(
        "bad_axis", begin=[5, 0], shrink_axis_mask=1
    )
    use.ask("bad_axis", begin=[-6, 0], shrink_axis_mask=1).ask("bad_axis", strides=[0, 1]).ask(
        "bad_axis", strides=[-1, 1], shrink_axis_mask=1
    )
    for a, b, s in ((0, 100, 1), (-3, 100, 2), (4, 0, -1), (-1, -100, -2), (-6, -9, -1), (3, 1, 1), (-100, 3, 1)):
        use.ask(begin=[a, 0], end=[b, 4], strides=[s, 1]).ask(
            begin=[a, 0], end=[b, 4], strides=[s, 1], known=((3, 6), ANY, 2)
        )
    for name in ("begin", "end", "strides"):
        use.each("length_mismatch", name, [1], [1, 1, 1], [[1, 1]], 1).ask("attr_missing", **{name: _LEFT})
    use.ask("bad_axis", of=(5,)).ask(begin=[], end=[], strides=[]).shapes("", (0, 6, 2), (5, 6))
    yield use.ask(begin=[0, 0, 0], end=[9, 9, 9], strides=[1, 1, 1]).ask(
        "bad_axis", begin=[0] * 4, end=[9] * 4, strides=[1] * 4
    )
