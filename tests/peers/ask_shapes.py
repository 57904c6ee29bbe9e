"""Uses of the operations that permute, reshape, squeeze, repeat, join and cut, each changed in one thing."""

from __future__ import annotations

from collections.abc import Iterator

from tests.peers.asked import FAR, Use
from tests.peers.asked import LEFT_OUT as _LEFT

ANY = (0, None)


def uses() -> Iterator[Use]:
    """Yield the uses."""
    for op, name, negative in (
        ("onnx:Transpose", "perm", False),
        ("openvino:Transpose-1", "input_order", False),
        ("tensorflow:Transpose", "perm", True),
        ("torch:permute", "dims", True),
    ):
        yield permutation(op, name, negative=negative)
    yield from reshapes()
    yield from axes()
    for op, name, extra in (
        ("onnx:Tile", "repeats", False),
        ("openvino:Tile-1", "repeats", True),
        ("tensorflow:Tile", "multiples", False),
        ("torch:tile", "dims", True),
    ):
        yield tiles(op, name, extra=extra)
    yield from broadcasts()
    yield from joins()
    yield from parts()
    yield from rolls()
    for op, name in (("tensorflow:ReverseV2", "axis"), ("torch:flip", "dims")):
        use = Use(op, (2, 3, 4), {name: [1]}).each("", name, [0], [-1], [0, 2], [-3, -2, -1], [])
        use.each("bad_axis", name, [3], [-4], [1, 1], [1, -2]).ask("attr_missing", **{name: _LEFT})
        use.shapes("", (0, 3, 4), (2, 3), (2, 0, 4)).partly((ANY, ANY, 4))
        yield use.ask(of=(), **{name: []}).ask("length_mismatch", **{name: [[1]]})
    use = Use("torch:unfold", (2, 7, 3), {"dimension": 1, "size": 3, "step": 2})
    use.each("", "dimension", -2).each("bad_axis", "dimension", 3, -4).each("", "size", 1, 7)
    use.ask(dimension=0, size=2, step=1).each("size_mismatch", "size", 8, 100).each("block_lt_1", "size", -1)
    use.each("block_lt_1", "step", 0, -1).each("", "step", 1, 5, 9, 100).ask("length_mismatch", size=[3])
    for name in use.attributes:
        use.ask("attr_missing", **{name: _LEFT})
    use.shapes("", (0, 7, 3), (2, 3, 0)).shapes("size_mismatch", (2, 2, 3), (2, 0, 3))
    yield use.ask(of=(), dimension=0, size=1, step=1).ask("size_mismatch", of=(), dimension=0, size=2, step=1)
    yield Use("onnx:Identity", (2, 3)).shapes("", (), (0,), (2, 0)).partly((ANY, 3))


def permutation(op: str, name: str, *, negative: bool) -> Use:
    """Return a transpose; where *negative*, axes may count from the end."""
    use = Use(op, (2, 3, 4), {name: [2, 0, 1]}).each("", name, [0, 1, 2], [2, 1, 0], [1, 0, 2])
    use.each("bad_axis", name, [0, 0, 1], [0, 1, 3], [0, 1, -4])
    use.each("" if negative else "bad_axis", name, [-1, 0, 1], [0, -2, 2])
    use.each("length_mismatch", name, [0, 1], [0, 1, 2, 3], [[2, 0, 1]])
    use.ask(of=(), **{name: []}).ask(of=(5,), **{name: [0]}).shapes("", (0, 3, 4), (2, 0, 0), (1, 1, 1))
    if op.startswith("onnx"):
        use.ask(**{name: _LEFT})
    else:
        use.ask("attr_missing", **{name: _LEFT})
    if op.startswith("openvino"):
        use.ask(**{name: []})
    else:
        use.ask("length_mismatch", **{name: []})
    return use.shapes("length_mismatch", (2, 3), (2, 3, 4, 5)).partly((ANY, 3, (4, 5)))


def reshapes() -> Iterator[Use]:
    """Yield the reshapes; in some a 0 copies an extent."""
    for op, more in (
        ("onnx:Reshape", {}),
        ("onnx:Reshape", {"allowzero": 1}),
        ("openvino:Reshape-1", {"special_zero": True}),
        ("openvino:Reshape-1", {"special_zero": False}),
        ("tensorflow:Reshape", {}),
        ("torch:reshape", {}),
    ):
        copies = (op.startswith("onnx") and not more) or more.get("special_zero") is True
        use = Use(op, (2, 3, 4), {"shape": [4, 6], **more})
        use.each("", "shape", [24], [-1], [4, -1], [-1, 4, 3], [2, 3, 4], [1, 24, 1], [2, -1, 1, 4])
        use.each("size_mismatch", "shape", [5, 5], [23], [], [2, 3], [-1, -1], [-2, 12], [-1, -1, 24])
        use.each("size_mismatch|non_divisible", "shape", [5, -1], [-1, 7], [48, -1])
        use.each("length_mismatch", "shape", [[4, 6]])
        if copies:
            use.each("", "shape", [0, 0, 0], [0, 12], [0, -1], [-1, 0], [0, 0, -1], [2, 0, 4], [0, 3, -1, 2])
            use.each("size_mismatch|non_divisible", "shape", [0, 5, -1], [0, 13], [-1, 0, 5])
            use.each("bad_axis", "shape", [2, 3, 4, 0], [2, 3, -1, 0])
        else:
            use.each("size_mismatch", "shape", [0, 12], [0], [0, -1], [-1, 0])
        empty = Use(op, (0, 3, 4), {"shape": [0, 12], **more}) if copies else Use(op, (0, 3), {"shape": [3, 0], **more})
        empty.each("", "shape", [0], [-1], [0, 3]).each("size_mismatch", "shape", [1], [5, 1])
        if not copies:
            empty.each("size_mismatch", "shape", [0, -1]).each("", "shape", [3, -1], [-1, 3], [0, 5], [0, 0, 7])
        yield empty
        yield (
            Use(op, (), {"shape": [1, 1], **more}).each("", "shape", [], [1], [-1]).each("size_mismatch", "shape", [2])
        )
        yield use.partly((ANY, 3, 4), (ANY, ANY, ANY)).ask(known=(2, (0, 3), 4)).ask("overflow", shape=[2**32, 2**32])
        use = Use(op, (2, 3, 4), {"shape": [-1, 4], **more}).partly(
            (ANY, 3, 4), (ANY, ANY, 4), ((1, 3), (0, 3), 4), ((1, 3), 3, (2, 5))
        )
        yield use
    use = (
        Use("onnx:Flatten", (2, 3, 4), {"axis": 1})
        .each("", "axis", 0, 1, 2, 3, -1, -2, -3, _LEFT)
        .each("bad_axis", "axis", 4, -4)
    )
    yield use.ask(of=(), axis=0).ask("bad_axis", of=(), axis=1).shapes("", (0, 3), (2, 0)).partly((ANY, 3, ANY))


def axes() -> Iterator[Use]:
    """Yield the operations that add and remove axes of extent 1."""
    for op in ("onnx:Squeeze", "openvino:Squeeze-1"):
        other = "" if op.startswith("openvino") else "size_mismatch"  # for an axis of another extent than 1
        use = Use(op, (1, 3, 1, 2), {"axes": [0]}).each("", "axes", [2], [-2], [0, 2], [-4, -2], [2, 0], _LEFT)
        use.each("bad_axis", "axes", [4], [-5], [0, 9]).each(other, "axes", [1], [0, 3], [-1])
        use.ask(of=(1, 1), axes=[0, 1]).ask(of=(3, 4), axes=_LEFT).ask(of=(), axes=_LEFT).ask(of=(1, 0), axes=[0])
        yield (
            use.ask("length_mismatch", axes=[[0]])
            .partly((1, ANY, 1, 2), (ANY, 3, 1, 2))
            .ask(other, of=(0, 3), axes=[0])
        )
    for op in ("onnx:Unsqueeze", "openvino:Unsqueeze-1"):
        use = Use(op, (3, 2), {"axes": [0]}).each(
            "", "axes", [1], [2], [-1], [-3], [0, 2], [0, 3], [3, 0], [-1, 0], [1, 2]
        )
        use.each("bad_axis", "axes", [3], [-4], [0, 0], [1, -3], [0, 4]).ask("attr_missing", axes=_LEFT)
        yield use.ask(of=(), axes=[0]).ask(of=(0,), axes=[1]).ask("length_mismatch", axes=[[0]]).partly((ANY, 2))


def tiles(op: str, name: str, *, extra: bool) -> Use:
    """Return a tile; *extra* if there may be other than one number per axis."""
    use = Use(op, (2, 3), {name: [2, 1]}).each("", name, [1, 1], [3, 2], [0, 2], [1, 0])
    use.each("size_mismatch", name, [-1, 2], [2, -3]).ask("length_mismatch", **{name: [[2, 1]]})
    use.each("" if extra else "length_mismatch", name, [2], [2, 1, 3]).ask("attr_missing", **{name: _LEFT})
    if extra:
        use.each("", name, [], [3, 1, 1, 2])
    use.ask(of=(), **{name: []}).ask(of=(3,), **{name: [2]}).shapes("", (0, 3), (2, 0), (1, 1))
    return (
        use.ask("overflow", **{name: [2**32, 2**32]})
        .ask("overflow", **{name: [1, FAR - 1]})
        .partly((ANY, 3), ((1, 2), (0, 3)))
    )


def broadcasts() -> Iterator[Use]:
    """Yield the broadcasts, those that also go the other way last."""
    one_way = [("tensorflow:BroadcastTo", "shape", {}), ("openvino:Broadcast-3", "target_shape", {"mode": "numpy"})]
    both = [("onnx:Expand", "shape", {}), ("openvino:Broadcast-3", "target_shape", {"mode": "bidirectional"})]
    for op, name, more in one_way + both:
        use = Use(op, (3, 1), {name: [3, 4], **more}).each("", name, [2, 3, 4], [3, 1], [1, 3, 1], [2, 2, 3, 2])
        use.each("size_mismatch", name, [2, 4], [4, 4], [5, 2, 4]).ask("length_mismatch", **{name: [[3, 4]]})
        use.ask(of=(), **{name: [2, 3]}).ask(of=(1,), **{name: [4]}).ask(of=(1, 3), **{name: [0, 3]})
        if (op, name, more) in both:
            use.each("", name, [1], [4], [], [1, 1], [1, 4], [1, 1, 4])
        else:
            use.each("rank", name, [4]).each("size_mismatch", name, [1, 4])
        use.partly((ANY, 1), (3, ANY), ((1, 3), (1, 4)), ((2, 5), 1))
        yield use.ask("attr_missing", **{name: _LEFT})
    use = Use("openvino:Broadcast-3", (3, 2), {"target_shape": [3, 4, 2], "axes_mapping": [0, 2], "mode": "explicit"})
    use.ask(target_shape=[3, 2], axes_mapping=[0, 1]).ask(target_shape=[5, 3, 2], axes_mapping=[1, 2])
    use.ask(of=(3,), target_shape=[3, 4], axes_mapping=[0]).ask(of=(1, 2)).ask(of=(), axes_mapping=[])
    use.ask("size_mismatch", target_shape=[3, 4, 5]).ask("size_mismatch", axes_mapping=[0, 1])
    use.each("bad_axis", "axes_mapping", [0, 3], [-3, 2], [2, 0], [0, 0])
    use.each("length_mismatch", "axes_mapping", [0], [0, 1, 2]).ask("attr_missing", axes_mapping=_LEFT)
    use.ask("attr_unknown", target_shape=[3, 2], axes_mapping=[0, 1], mode="numpy")
    yield use.each("bad_mode", "mode", "NUMPY", "pdpd", "").partly((ANY, 2), ((1, 3), (1, 2)))


def joins() -> Iterator[Use]:
    """Yield the concatenations."""
    for op in ("onnx:Concat", "openvino:Concat-1", "tensorflow:ConcatV2"):
        use = Use(op, ((2, 3), (2, 4)), {"axis": 1}).each("", "axis", -1).each("bad_axis", "axis", 2, -3)
        use.each("size_mismatch", "axis", 0, -2).shapes(
            "", ((2, 3), (2, 3), (2, 1)), ((2, 0), (2, 3)), ((0, 3), (0, 1))
        )
        use.shapes("size_mismatch", ((2, 3), (3, 3))).shapes("rank", ((2, 3), (2, 3, 1)), ((), ()))
        use.ask(of=((2,), (3,)), axis=0).ask("attr_missing", axis=_LEFT).ask("length_mismatch", axis=[1])
        use.shapes("length_mismatch" if op.startswith("tensorflow") else "", ((2, 3),))
        use.ask("overflow", of=((2, FAR - 1), (2, 2)))
        yield use.ask(known=((ANY, 3), (2, ANY))).ask(known=((2, (1, 3)), ((0, 4), (2, 4))))


def parts() -> Iterator[Use]:
    """Yield the splits."""
    use = (
        Use("onnx:Split", (2, 7), {"split": [2, 4, 1], "axis": 1})
        .each("", "split", [7], [7, 0], [3, 4])
        .each("", "axis", -1)
    )
    use.each("size_mismatch", "split", [2, 4], [2, 4, 2], [8, -1]).each("bad_axis", "axis", 2, -3)
    use.ask(of=(7, 2), axis=_LEFT).ask("attr_missing", split=_LEFT).ask("attr_unknown", num_outputs=3)
    use.ask("length_mismatch", split=[[2, 4, 1]]).ask("length_mismatch", split=[]).shapes("rank", ()).partly((ANY, 7))
    yield use.ask("size_mismatch", of=(2, 6))
    use = (
        Use("onnx:Split", (6, 2), {"num_outputs": 3})
        .each("", "num_outputs", 1, 2, 4, 6)
        .each("block_lt_1", "num_outputs", 0, -1)
    )
    yield (
        use.shapes("", (7, 2), (5, 2))
        .ask("size_mismatch", num_outputs=5)
        .ask("size_mismatch", of=(3, 2), num_outputs=5)
    )
    use = (
        Use("openvino:Split-1", (2, 6), {"axis": 1, "num_splits": 3})
        .each("", "axis", -1)
        .each("", "num_splits", 1, 2, 6)
    )
    use.each("bad_axis", "axis", 2, -3).each("non_divisible", "num_splits", 4, 5, 12).each(
        "block_lt_1", "num_splits", 0, -2
    )
    use.ask("non_divisible", axis=0).ask("attr_missing", axis=_LEFT).ask("attr_missing", num_splits=_LEFT)
    use.shapes("rank", ()).shapes("", (2, 0), (0, 6)).ask("length_mismatch", num_splits=[3])
    yield use.partly((ANY, 6), (2, ANY), (2, (1, 8)))


def rolls() -> Iterator[Use]:
    """Yield the rolls."""
    for op, shift, axis in (
        ("openvino:Roll-7", "shift", "axes"),
        ("tensorflow:Roll", "shift", "axis"),
        ("torch:roll", "shifts", "dims"),
    ):
        use = Use(op, (2, 3, 4), {shift: [1, -2], axis: [0, 2]}).ask(**{shift: [5, -7]}).ask(**{shift: [0, 0]})
        use.ask(**{axis: [-3, -1]}).ask(**{axis: [1, 1]}).ask(**{axis: [1, -2]}).ask(**{shift: 2, axis: 1}).ask(
            **{shift: [2], axis: [1]}
        )
        use.ask("bad_axis", **{axis: [0, 3]}).ask("bad_axis", **{axis: [-4, 0]})
        use.ask("length_mismatch", **{shift: [1]}).ask("length_mismatch", **{shift: [1, 2, 3]}).ask(
            "length_mismatch", **{axis: [0]}
        )
        use.ask("length_mismatch", **{shift: [[1, -2]]}).ask("attr_missing", **{shift: _LEFT})
        use.shapes("", (0, 3, 4), (2, 3, 0), (1, 1, 1)).ask(**{shift: [10**12, -(10**12)]}).partly((ANY, 3, ANY))
        if op.startswith("openvino"):
            use.ask(**{shift: 1})
        if op.startswith("torch"):
            use.ask(**{shift: 5, axis: _LEFT}).ask(**{shift: -30, axis: _LEFT}).ask(of=(), **{shift: 1, axis: _LEFT})
            use.ask("length_mismatch", **{shift: [1, 2], axis: _LEFT})
        else:
            use.ask("attr_missing", **{axis: _LEFT}).shapes("rank", ())
        yield use
