"""OpenVINO's operations that resample images and signals."""

from __future__ import annotations

from typing import Any

from symlayout.compute.resample import COORDINATES, NEAREST
from symlayout.frontends import attributes
from symlayout.frontends.onnx import resampling as onnx
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import as_tensor, known, operator
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.pad import pad
from symlayout.tensors.chain import Tensor

_KINDS = "rank, bad_axis, bad_mode, length_mismatch, attr_dtype, not_declared"
_ABOUT = {
    "align_corners": "Whether -1 and 1 are centres of elements.",
    "aligned_mode": "Whether places move by half an element, as the specification spells it.",
    "antialias": "Whether elements are smoothed where there are fewer results.",
    "coordinate_transformation_mode": "How places in the input follow, as the specification spells it.",
    "cube_coeff": "The coefficient of cubic interpolation.",
    "mode": '``"nearest"``, ``"linear"``, ``"linear_onnx"`` or ``"cubic"``.',
    "nearest_mode": "How places are rounded, as the specification spells it.",
    "pads_begin": "Zeros before each axis.",
    "pads_end": "Zeros after each axis.",
    "padding_mode": "What is read outside.",
    "pooled_h": "Rows of the result.",
    "pooled_w": "Columns of the result.",
    "sampling_ratio": "How many places each element is the mean of.",
    "scales": "A factor for each axis.",
    "scales_or_sizes": "A factor, or an extent, for each axis.",
    "shape_calculation_mode": '``"scales"`` or ``"sizes"``.',
    "sizes": "The extents.",
    "spatial_scale": "The factor from the boxes' coordinates to the input's.",
}
_MODES = ("nearest", "linear", "linear_onnx", "cubic", "bilinear_pillow", "bicubic_pillow")


def _interpolated(
    data: Tensor, sizes: Any, scales: Any, axes: Any, given: dict[str, Any], pads_begin: Any, pads_end: Any
) -> Tensor:
    rank = require_rank("Interpolate", data, 1)
    along = list(range(rank)) if axes is None else known("axes", axes).reshape(-1).tolist()
    mode = attributes.choice("mode", given["mode"], _MODES)
    if mode.endswith("_pillow") or given["nearest_mode"] == "simple":
        raise NotDeclaredError(f"Interpolate has no declaration for mode {mode}, {given['nearest_mode']}")
    coordinates = attributes.choice("coordinate_transformation_mode", given["coordinates"], COORDINATES)
    attributes.choice("nearest_mode", given["nearest_mode"], NEAREST)
    smooth = attributes.flag("antialias", given["antialias"])
    if smooth and mode != "nearest":
        raise NotDeclaredError("Interpolate smooths by a filter of its own")
    widths = []
    for begin, end in zip(_pads(pads_begin, rank), _pads(pads_end, rank), strict=True):
        widths.append((begin, end))
    if any(e != 0 for pair in widths for e in pair):
        data = pad(data, widths)
    made: Tensor = onnx.resize(
        data,
        scales=scales,
        sizes=sizes,
        axes=along,
        coordinate_transformation_mode=coordinates,
        cubic_coeff_a=attributes.number("cube_coeff", given["cube_coeff"]),
        mode={"linear_onnx": "linear"}.get(mode, mode),
        nearest_mode=given["nearest_mode"],
    )
    return made


def _pads(value: Any, rank: int) -> list[Any]:
    found = [] if value in (None, "") else attributes.listed("pads", value)
    return [*found, *[0] * (rank - len(found))]


def _chosen(mode: Any, sizes: Any, scales: Any) -> dict[str, Any]:
    kind = attributes.choice("shape_calculation_mode", mode, ("sizes", "scales"))
    return {"sizes": sizes, "scales": None} if kind == "sizes" else {"sizes": None, "scales": scales}


@operator(
    "openvino:Interpolate-4",
    example=("N, C, H, W", 'sizes=(8, 8), scales=(1.0, 1.0), axes=(2, 3), mode="linear", '
             'shape_calculation_mode="sizes"', "(N, C, 8, 8)"),
    kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def interpolate_4(
    data: Tensor,
    sizes: Any,
    scales: Any,
    axes: Any = None,
    mode: str = "",
    shape_calculation_mode: str = "",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    antialias: Any = False,
    pads_begin: Any = None,
    pads_end: Any = None,
    cube_coeff: float = -0.75,
) -> Tensor:
    """Return *data* with other extents, by nearest elements or by linear or cubic interpolation."""
    given = {"mode": mode, "coordinates": coordinate_transformation_mode, "nearest_mode": nearest_mode,
             "antialias": antialias, "cube_coeff": cube_coeff}  # fmt: skip
    kind = _chosen(shape_calculation_mode, sizes, scales)
    return _interpolated(data, kind["sizes"], kind["scales"], axes, given, pads_begin, pads_end)


@operator(
    "openvino:Interpolate-11",
    example=("N, C, H, W", 'scales_or_sizes=(8, 8), axes=(2, 3), mode="linear", shape_calculation_mode="sizes"',
             "(N, C, 8, 8)"),
    kinds=_KINDS, about=_ABOUT,
)  # fmt: skip
def interpolate(
    data: Tensor,
    scales_or_sizes: Any,
    axes: Any = None,
    mode: str = "",
    shape_calculation_mode: str = "",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    antialias: Any = False,
    pads_begin: Any = None,
    pads_end: Any = None,
    cube_coeff: float = -0.75,
) -> Tensor:
    """Return *data* with other extents, by nearest elements or by linear or cubic interpolation."""
    return interpolate_4(
        data, scales_or_sizes, scales_or_sizes, axes, mode, shape_calculation_mode, coordinate_transformation_mode,
        nearest_mode, antialias, pads_begin, pads_end, cube_coeff,
    )  # fmt: skip


@operator(
    "openvino:GridSample-9", example=("N, C, H, W; N, P, Q, 2", "", "(N, C, P, Q)"), kinds="rank, size_mismatch",
    about={**_ABOUT, "mode": '``"bilinear"``, ``"bicubic"`` or ``"nearest"``.'},
)  # fmt: skip
def grid_sample(
    data: Tensor, grid: Tensor, align_corners: Any = False, mode: str = "bilinear", padding_mode: str = "zeros"
) -> Tensor:
    """Return the elements of *data* at the places of *grid*, interpolated."""
    flag = int(attributes.flag("align_corners", align_corners))
    made: Tensor = onnx.grid_sample(data, grid, flag, mode.removeprefix("bi"), padding_mode)
    return made


@operator(
    "openvino:ROIAlign-3", "openvino:ROIAlign-9",
    example=("N, C, H, W; R, 4; R", 'pooled_h=7, pooled_w=7, sampling_ratio=2, spatial_scale=1.0, mode="avg"',
             "(R, C, 7, 7)"),
    kinds="rank, bad_mode", about={**_ABOUT, "mode": '``"avg"`` or ``"max"``.'},
)  # fmt: skip
def roi_align(
    data: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    pooled_h: Any,
    pooled_w: Any,
    sampling_ratio: Any,
    spatial_scale: float,
    mode: str,
    aligned_mode: str = "asymmetric",
) -> Tensor:
    """Return a grid of values of each box, interpolated."""
    way = attributes.choice("aligned_mode", aligned_mode, ("asymmetric", "half_pixel", "half_pixel_for_nn"))
    if attributes.choice("mode", mode, ("avg", "max")) == "max":
        raise NotDeclaredError("ROIAlign has no declaration for mode max")
    if way == "half_pixel":
        rois = apply("Add", rois, as_tensor("ROIAlign", "half", 0.5, rois))
    made: Tensor = onnx.roi_align(
        data,
        rois,
        batch_indices,
        coordinate_transformation_mode="output_half_pixel" if way == "asymmetric" else "half_pixel",
        mode=mode,
        output_height=pooled_h,
        output_width=pooled_w,
        sampling_ratio=sampling_ratio,
        spatial_scale=attributes.number("spatial_scale", spatial_scale),
    )
    return made
