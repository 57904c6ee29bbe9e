"""Where a framework and we differ on purpose, each with the reason; findings.json has the frameworks' bugs in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.peers.case import Case

ONLY_THEY, ONLY_WE, LATE, VALUES, SHAPES = (
    "only they refuse", "only we refuse", "another kind when extents come late", "values", "shapes",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exemption:
    """A difference that is agreed: what differs, in which operations, on what condition, and why."""

    what: str
    ops: str
    holds: Callable[[Case, str, str], bool]
    reason: str


def agreed(case: Case, what: str, kind: str, theirs: Any) -> str | None:
    """Return why the answers may differ in this way, or None."""
    for row in EXEMPTIONS:
        if row.what == what and re.match(row.ops, case.op) and row.holds(case, kind, str(theirs)):
            return f"{what}: {row.reason}"
    return None


def _always(case: Case, kind: str, theirs: str) -> bool:
    return True


def _says(pattern: str) -> Callable[[Case, str, str], bool]:
    return lambda case, kind, theirs: re.search(pattern, theirs, re.DOTALL) is not None


def _of_kind(*kinds: str) -> Callable[[Case, str, str], bool]:
    return lambda case, kind, theirs: kind in kinds


def _is_empty(case: Case, kind: str, theirs: str) -> bool:
    return any(0 in shape for shape in case.shapes)


def _empty_and(*kinds: str) -> Callable[[Case, str, str], bool]:
    return lambda case, kind, theirs: _is_empty(case, kind, theirs) and kind in kinds


def _is_scalar(case: Case, kind: str, theirs: str) -> bool:
    return not case.shapes[0]


def _nested(case: Case, kind: str, theirs: str) -> bool:
    """Return whether a list stands where an integer does, or a list of lists where a list does."""
    return kind == "length_mismatch" and any(
        str(value).startswith("[[") or name == "axis" for name, value in case.attributes.items()
    )


def _is_far(name: str, limit: int) -> Callable[[Case, str, str], bool]:
    return lambda case, kind, theirs: any(abs(n) >= limit for n in case.attributes[name])


def _narrow(case: Case, kind: str, theirs: str) -> bool:
    """Return whether a block is wider than its axis with the pads before it."""
    given = [case.attributes[name] for name in ("block_shape", "pads_begin")]
    return any(n + begin < block for n, block, begin in zip(case.shapes[0], *given, strict=False))


def _result_is_small(case: Case, kind: str, theirs: str) -> bool:
    """Return whether the target of a broadcast, or what is broadcast, is empty or a scalar."""
    target = case.attributes["target_shape"]
    return not target or 0 in target or _is_empty(case, kind, theirs)


def _ends_at_greatest(case: Case, kind: str, theirs: str) -> bool:
    steps = case.attributes.get("steps", [])
    return any(end == 2**63 - 1 and step < 0 for end, step in zip(case.attributes["ends"], steps, strict=False))


def _last_part_is_empty(case: Case, kind: str, theirs: str) -> bool:
    n, count = case.shapes[0][case.attributes.get("axis", 0)], case.attributes.get("num_outputs", 1)
    return bool(n <= -(-n // count) * (count - 1))


EXEMPTIONS = (
    # what a kernel lacks, which is no rule about the operation
    Exemption(ONLY_THEY, "onnx:", _says("NOT_IMPLEMENTED"), "no kernel for the element type"),
    Exemption(
        ONLY_THEY,
        "tensorflow:",
        _says(r"device='CPU'|is not in the list of allowed values|only supports? NHWC"),
        "no kernel for the element type or format on the CPU",
    ),
    Exemption(ONLY_THEY, "tensorflow:", _says("up to|not support(ed)?|Unhandled"), "limits of a kernel's rank"),
    Exemption(ONLY_THEY, "torch:", _says("not implemented for|without overflow"), "no kernel for the element type"),
    # empty arrays are valid everywhere
    Exemption(ONLY_THEY, "torch:pad", _says("other non-zero dimensions|non-empty"), "empty arrays are valid"),
    Exemption(ONLY_THEY, "tensorflow:MirrorPad", _is_empty, "empty arrays are valid"),
    Exemption(ONLY_THEY, "openvino:Pad", _is_empty, "empty arrays are valid"),
    Exemption(ONLY_THEY, "onnx:Pad", _is_empty, "empty arrays are valid"),
    Exemption(ONLY_THEY, "onnx:Pad", _says("zero effective input extent"), "a crop may take everything"),
    Exemption(ONLY_THEY, "torch:pad", _says("Calculated output [A-Z]+: 0"), "a crop may take everything"),
    Exemption(ONLY_WE, ".*:pad", _of_kind("array"), "a fill that the element type lacks is refused, used or not"),
    Exemption(ONLY_WE, "openvino:Pad", _of_kind("crop_exceeds"), "one side takes more than there is"),
    Exemption(
        ONLY_THEY, "tensorflow:PadV2", _says("out of bounds for"), "a fill that no element takes is not looked at"
    ),
    Exemption(ONLY_WE, "openvino:Broadcast", _of_kind("size_mismatch"), "OpenVINO takes a negative extent for 0"),
    Exemption(
        ONLY_WE,
        "openvino:Broadcast",
        _of_kind("bad_axis", "length_mismatch"),
        "the axes of a mapping are in order, one for each axis",
    ),
    Exemption(VALUES, "openvino:", _is_empty, "memory that is not initialised where an empty array is padded"),
    Exemption(SHAPES, "torch:pixel_unshuffle", _is_empty, "torch keeps the shape of empty arrays"),
    Exemption(SHAPES, "openvino:", _is_empty, "OpenVINO keeps shapes of empty arrays"),
    Exemption(
        ONLY_WE,
        "tensorflow:ReverseV2",
        _of_kind("bad_axis", "attr_dtype"),
        "TensorFlow does not look at the axes of scalars and empty arrays",
    ),
    Exemption(ONLY_WE, "torch:roll", _empty_and("bad_axis"), "torch does not look at the axes of empty arrays"),
    Exemption(
        ONLY_WE,
        "onnx:Pad",
        _empty_and("crop_exceeds", "size_mismatch"),
        "ONNX Runtime does not look at the pads of empty arrays",
    ),
    Exemption(ONLY_WE, "torch:tile", _empty_and("size_mismatch"), "torch does not look at the signs of empty arrays"),
    Exemption(ONLY_WE, ".*:Reshape", _empty_and("size_mismatch"), "-1 beside a 0 stands for anything"),
    Exemption(ONLY_THEY, "openvino:Broadcast", _result_is_small, "OpenVINO's process dies, or refuses"),
    Exemption(ONLY_THEY, "openvino:(Space|Depth|Batch)", _is_empty, "empty arrays are valid"),
    Exemption(SHAPES, "openvino:Broadcast", _result_is_small, "OpenVINO broadcasts nothing to one"),
    # attributes
    Exemption(
        ONLY_THEY,
        "openvino:(SpaceToDepth|DepthToSpace)",
        lambda case, kind, theirs: "block_size" not in case.attributes,
        "the specification's default is 1",
    ),
    Exemption(ONLY_WE, "openvino:", _of_kind("attr_dtype"), "OpenVINO truncates a float to an integer"),
    Exemption(LATE, "openvino:Squeeze", _of_kind("size_mismatch"), "an axis that may be of extent 1 is removed"),
    Exemption(
        ONLY_WE, "openvino:(Squeeze|Roll)", lambda case, kind, theirs: not case.shapes[0], "a scalar has no axis"
    ),
    Exemption(ONLY_WE, "openvino:Tile", _of_kind("size_mismatch"), "OpenVINO takes a negative number for 0"),
    Exemption(
        ONLY_WE,
        "openvino:Reshape",
        lambda case, kind, theirs: case.attributes.get("special_zero") is True and 0 in case.attributes["shape"],
        "OpenVINO does not count the elements of copied axes",
    ),
    Exemption(
        "looser bounds",
        "onnx:Squeeze",
        lambda case, kind, theirs: case.attributes.get("axes") == [],
        "ONNX's inference and ONNX Runtime disagree about no axes",
    ),
    Exemption(ONLY_WE, "tensorflow:", _of_kind("attr_dtype"), "TensorFlow truncates a float to an integer"),
    Exemption(ONLY_WE, "onnx:Reshape", _of_kind("attr_dtype"), "a flag is 0 or 1"),
    Exemption(ONLY_WE, "onnx:Expand", _nested, "ONNX Runtime does not look at the rank of the shape"),
    Exemption(ONLY_WE, "tensorflow:ConcatV2", _nested, "TensorFlow takes a list of one axis for the axis"),
    Exemption(ONLY_THEY, ".*:Pad", _is_scalar, "a scalar is padded on none of its axes"),
    Exemption(ONLY_WE, "tensorflow:Tile", _of_kind("overflow"), "TensorFlow's extents wrap around"),
    Exemption(
        ONLY_THEY,
        "openvino:Roll",
        lambda case, kind, theirs: isinstance(case.attributes["shift"], int),
        "OpenVINO's inference takes one shift for all axes, its kernel does not",
    ),
    Exemption(VALUES, "openvino:Roll", _is_far("shift", 2**31), "OpenVINO's kernel has shifts of 32 bits"),
    Exemption(VALUES, "openvino:Slice", _is_far("step", 2**62), "OpenVINO's kernel steps outside the array"),
    Exemption(ONLY_WE, "", _of_kind("attr_missing"), "defaults of a Python function that are not the specification's"),
    Exemption(ONLY_WE, "openvino:", _of_kind("bad_mode"), "modes match exactly"),
    Exemption(
        ONLY_WE,
        "openvino:(SpaceToBatch|BatchToSpace)",
        _of_kind(
            "batch_block_not_one",
            "batch_pad_nonzero",
            "batch_crop_nonzero",
            "length_mismatch",
            "negative_pad",
            "negative_crop",
            "block_lt_1",
            "crop_exceeds",
        ),
        "DESIGN section 6: OpenVINO does not check it",
    ),
    Exemption(ONLY_WE, "openvino:Unsqueeze", _of_kind("bad_axis"), "OpenVINO joins repeated axes"),
    Exemption(ONLY_WE, "torch:unfold", _of_kind("block_lt_1"), "windows have one element or more"),
    Exemption(ONLY_WE, "tensorflow:BatchToSpaceND", _empty_and("block_lt_1"), "only the product of blocks is checked"),
    # known bugs
    Exemption(VALUES, "openvino:SpaceToBatch", _narrow, "OpenVINO pads with neighbours where a block is wide"),
    Exemption(
        VALUES,
        "openvino:Tile",
        lambda case, kind, theirs: len(case.attributes["repeats"]) != len(case.shapes[0]) or not case.shapes[0],
        "OpenVINO's Tile with other than one number per axis",
    ),
    Exemption(SHAPES, "onnx:Slice", _ends_at_greatest, "ONNX Runtime reads 2^63 - 1 as an end of either direction"),
    Exemption(
        ONLY_WE,
        "torch:pad",
        lambda case, kind, theirs: case.attributes.get("mode") == "circular" and min(case.attributes["pad"]) < 0,
        "torch wraps what it has not written where it also crops",
    ),
    Exemption(
        VALUES,
        "torch:pad",
        lambda case, kind, theirs: case.attributes.get("mode") == "circular" and min(case.attributes["pad"]) < 0,
        "torch wraps what it has not written where it also crops",
    ),
    Exemption(ONLY_THEY, "onnx:Split", _last_part_is_empty, "the last part may be empty"),
    # extents that come late
    Exemption(
        LATE,
        "",
        lambda case, kind, theirs: kind == "infeasible" and theirs != "",
        "no extents that are possible would do",
    ),
    Exemption(LATE, ".*:(Squeeze|Squeeze-1)", _of_kind("unknown_rank"), "the rank is always known"),
)
