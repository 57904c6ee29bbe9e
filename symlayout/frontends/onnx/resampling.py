"""ONNX's operators that resample images."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symlayout.compute import resample as core
from symlayout.compute import sampling
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import chosen_from, demanding, nonempty
from symlayout.compute.whole import room_of, whole
from symlayout.errors import LEFT_OUT, ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import AT_LEAST_0, AT_LEAST_1, Sizes, is_known, known, operator
from symlayout.frontends.onnx.shape_values import dims_of
from symlayout.frontends.onnx.windows import check_windows, of_kernel_shape, spatial_of
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.scales import is_dyadic, rounded, same_places, scaled
from symlayout.language.sympy_bridge import fresh
from symlayout.ops.resize import resize_nearest
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Places

_RESIZE = {
    "roi": "Starts, then ends, of the part that ``tf_crop_and_resize`` takes.",
    "scales": "A factor for each axis.",
    "sizes": "The extents.",
    "antialias": "Whether elements are smoothed where there are fewer results.",
    "coordinate_transformation_mode": "How places in the input follow, as the standard spells it.",
    "cubic_coeff_a": "The coefficient of cubic interpolation.",
    "exclude_outside": "Whether places outside have no weight.",
    "extrapolation_value": "What ``tf_crop_and_resize`` reads outside.",
    "keep_aspect_ratio_policy": "``stretch``, ``not_larger`` or ``not_smaller``.",
    "nearest_mode": "How places are rounded, as the standard spells it.",
}
_KINDS = "rank, bad_axis, bad_mode, length_mismatch, attr_dtype, attr_missing"


@operator("Resize", example=("N, C, H, W", "scales=(1, 1, 2, 2)", "(N, C, 2*H, 2*W)"), kinds=_KINDS, about=_RESIZE)
def resize(
    X: Tensor,
    roi: Any = None,
    scales: Any = None,
    sizes: Any = None,
    antialias: Any = 0,
    axes: Any = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: Any = 0,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    """Return *X* with other extents, by nearest elements or by linear or cubic interpolation."""
    rank = require_rank("Resize", X, 1)
    scales, sizes = _unless_empty(scales), _unless_empty(sizes)
    along = list(range(rank)) if axes is None else attributes.axes("axes", axes, rank)
    attributes.choice("mode", mode, ("nearest", "linear", "cubic"))
    attributes.choice("coordinate_transformation_mode", coordinate_transformation_mode, core.COORDINATES)
    attributes.choice("nearest_mode", nearest_mode, core.NEAREST)
    if coordinate_transformation_mode == "tf_half_pixel_for_nn" and (mode, nearest_mode) not in _FOR_NEAREST:
        raise NotDeclaredError(
            f"tf_half_pixel_for_nn moves elements of axes that keep their extents by half an element, mode {mode}"
        )
    given: list[tuple[str, Any]] = [("mode", mode), ("coordinates", coordinate_transformation_mode)]
    if mode == "nearest":
        given.append(("nearest", nearest_mode))
    else:
        given += [("exclude", attributes.flag("exclude_outside", exclude_outside))]
        given += [("smooth", attributes.flag("antialias", antialias))]
    if mode == "cubic":
        given.append(("cubic", float(cubic_coeff_a)))
    if coordinate_transformation_mode == "tf_crop_and_resize":
        given.append(("outside", float(extrapolation_value)))
    parts = None if roi is None else known("roi", roi).reshape(-1).tolist()
    if coordinate_transformation_mode == "tf_crop_and_resize" and parts is not None and len(parts) != 2 * len(along):
        raise ShapeError(f"roi has {len(parts)} values for {len(along)} axes, not 2 for each", "length_mismatch")
    _check_modes(mode, antialias, exclude_outside, scales, keep_aspect_ratio_policy)
    extents, factors = _extents(X, along, scales, sizes, keep_aspect_ratio_policy)
    if coordinate_transformation_mode == "tf_crop_and_resize" and any(e is None for e in parts or ()):
        shape = [extents[along.index(axis)] if axis in along else e for axis, e in enumerate(X.shape)]
        result = None if any(e is None for e in shape) else (X.dtype, shape)
        raise NotDeclaredError("Resize has no declaration for a box that is computed", result=result)
    if any(e is None for e in extents):
        limits = _limits(X, along, extents, factors)
        shape = list(X.shape)
        for axis, e in zip(along, extents, strict=True):
            shape[axis] = e
        return whole("resize", [X], shape, attributes=[*given, ("axes", along), ("factors", factors)], limits=limits)
    for k, axis in enumerate(along):
        same = factors[k] == 1 or (factors[k] is None and extents[k] == X.shape[axis])
        if same and coordinate_transformation_mode != "tf_crop_and_resize":
            continue
        own = list(given)
        X = X if factors[k] is not None else chosen_from(X, [axis], [extents[k]])
        if coordinate_transformation_mode == "tf_crop_and_resize" and parts:
            own.append(("roi", (float(parts[k]), float(parts[k + len(along)]))))
        X = _resized(X, axis, extents[k], factors[k], own)
    return X


def _check_modes(mode: str, antialias: Any, exclude_outside: Any, scales: Any, policy: str) -> None:
    """Refuse combinations of attributes that the standard excludes, and those that it says nothing of."""
    attributes.choice("keep_aspect_ratio_policy", policy, ("stretch", "not_larger", "not_smaller"))
    if scales is not None and policy != "stretch":
        raise ShapeError(f"scales are given, and keep_aspect_ratio_policy is {shown(policy)}", "bad_mode")
    smooth = attributes.flag("antialias", antialias)
    if smooth and mode == "nearest":
        raise NotDeclaredError("antialias has no meaning with mode nearest")
    if attributes.flag("exclude_outside", exclude_outside) and mode != "cubic" and not (smooth and mode == "linear"):
        raise NotDeclaredError(f"exclude_outside has no meaning with mode {mode}")


def _unless_empty(value: Any) -> Any:
    if value is None or not is_known(value):
        return value
    array = known("value", value)
    return array if array.size else None


def _extents(X: Tensor, along: list[int], scales: Any, sizes: Any, policy: str) -> tuple[list[Any], list[float | None]]:
    """Return the extents of the axes, and the factors that are given; None for what is not known."""
    if scales is not None and is_known(scales):
        factors = [None if s is None else float(s) for s in known("scales", scales).reshape(-1)]
        if len(factors) != len(along) or not all(f is None or f > 0 for f in factors):
            raise ShapeError(f"scales {factors} are not a positive factor for {len(along)} axes", "length_mismatch")
        return [None if f is None else scaled(X.shape[a], f) for a, f in zip(along, factors, strict=True)], factors
    if scales is not None:
        return [None] * len(along), [None] * len(along)
    if sizes is None:
        raise ShapeError("Resize has neither scales nor sizes", "attr_missing")
    extents = dims_of("sizes", sizes)
    if len(extents) != len(along):
        raise ShapeError(f"sizes has {len(extents)} values for {len(along)} axes", "length_mismatch")
    if policy == "stretch":
        return extents, [None] * len(along)
    if not all(isinstance(n, int) and n for n in (*extents, *(X.shape[a] for a in along))):
        return [None] * len(along), [None] * len(along)
    ratios = [Fraction(m, X.shape[a]) for m, a in zip(extents, along, strict=True)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return [rounded(X.shape[a], ratio) for a in along], [float(ratio)] * len(along)


def _limits(X: Tensor, along: list[int], extents: list[Any], factors: list[float | None]) -> list[tuple[Any, Any]]:
    """Put dims in the place of *extents* that are not known; return what they are at most."""
    limits = []
    for k, (axis, factor) in enumerate(zip(along, factors, strict=True)):
        if extents[k] is None:
            n = X.shape[axis]
            low = math.floor(n * Fraction(factor)) if isinstance(n, int) and factor is not None else 0
            extents[k] = fresh("extent", low)
            if factor is not None:
                limits.append((extents[k], low + 1 if isinstance(n, int) else n * math.ceil(factor)))
    return limits


def _resized(x: Tensor, axis: int, extent: Any, factor: float | None, given: list[tuple[str, Any]]) -> Tensor:
    """Return *x* resampled along an axis; by an index map where places are rounded as it rounds."""
    n = x.shape[axis]
    exact = Fraction(factor) if factor is not None else _ratio(extent, n)
    known_ = dict(given) | _in_one_spelling(dict(given)["coordinates"], n, extent, exact)
    if known_["mode"] == "nearest":
        way = (known_["coordinates"], known_["nearest"])
        mode = "asymmetric" if way == ("asymmetric", "floor") else None
        if exact is not None and exact.denominator == 1 and way == ("tf_half_pixel_for_nn", "floor"):
            mode = "asymmetric"  # half an element moves no place to another element
        if exact is not None and exact.denominator % 2 and way in _ROUNDED:
            mode = "half_pixel"
        if mode is not None and exact is not None and same_places(n, extent, exact, mode):
            return _nearest(x, axis, extent, exact if factor is not None else None, mode)
    return core.resample(x, axis, extent, tuple(({"scale": factor} | known_).items()))


def _in_one_spelling(coordinates: str, n: Any, extent: Any, ratio: Fraction | None) -> dict[str, Any]:
    """Return the coordinates and, if it is exact, the scale: one spelling of those that read the same places.

    The extents are multiplied by *ratio*; None if that depends on the sizes.
    """
    exact = ratio is not None and is_dyadic(ratio) and n * ratio.numerator == extent * ratio.denominator
    multiple = exact and ratio is not None and ratio.denominator == 1 and ratio > 1
    if coordinates == "pytorch_half_pixel" and (multiple or (isinstance(extent, int) and extent != 1)):
        coordinates = "half_pixel"  # they differ where one element is left
    if coordinates == "half_pixel_symmetric" and exact and ratio is not None and _is_power_of_2(ratio):
        coordinates = "half_pixel"  # they differ where a scale leaves part of an element, or places are rounded
    return {"coordinates": coordinates} | ({"scale": float(ratio)} if exact and ratio is not None else {})


def _is_power_of_2(n: Fraction) -> bool:
    return n.numerator & (n.numerator - 1) == 0 and n.denominator & (n.denominator - 1) == 0


_FOR_NEAREST = (("nearest", "floor"), ("nearest", "round_prefer_floor"))  # runtimes copy an axis that keeps its extent
_ROUNDED = (("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil"))


def _ratio(extent: Any, n: Any) -> Fraction | None:
    """Return by which number *n* is multiplied; None if it depends on the sizes, or is 0."""
    if isinstance(extent, int) and isinstance(n, int):
        return Fraction(extent, n) if extent and n else None
    ratio: Any = extent / n if n != 0 else 0
    return Fraction(int(ratio.p), int(ratio.q)) if getattr(ratio, "is_Rational", False) and ratio != 0 else None


def _nearest(x: Tensor, axis: int, extent: Any, scale: Fraction | None, mode: str) -> Tensor:
    if scale is None:
        return resize_nearest(x, shape=[extent], axes=[axis], mode=mode)
    return resize_nearest(x, scale=[scale], axes=[axis], mode=mode)


@operator("Resize-10", example=("N, C, H, W", "scales=(1, 1, 2, 2)", "(N, C, 2*H, 2*W)"), kinds=_KINDS, about=_RESIZE)
def resize_10(X: Tensor, scales: Any, mode: str = "nearest") -> Tensor:
    """Return *X* with other extents, by nearest elements or by linear interpolation, as in version 10.

    The standard does not say where elements are read.  They are read as onnxruntime reads them: at the place divided by
    the scale, which is rounded down, or up along an axis that becomes shorter.
    """
    attributes.choice("mode", mode, ("nearest", "linear"))
    known_scales = _unless_empty(scales)
    if known_scales is None or not is_known(known_scales):
        raise NotDeclaredError("Resize of version 10 has a declaration for known scales only")
    listed = known("scales", known_scales).reshape(-1).tolist()
    if any(s is None for s in listed):
        raise NotDeclaredError("Resize of version 10 has a declaration for known scales only")
    factors, rank = [float(s) for s in listed], require_rank("Resize", X, 1)
    if len(factors) != rank:
        raise ShapeError(f"scales {factors} are not a factor for {rank} axes", "length_mismatch")
    for axis, factor in enumerate(factors):
        way = "ceil" if factor < 1 else "floor"
        X = resize(
            X, None, [factor], axes=[axis], mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode=way
        )
    return X


@operator("Upsample", example=("N, C, H, W", "scales=(1, 1, 2, 2)", "(N, C, 2*H, 2*W)"), kinds=_KINDS, about=_RESIZE)
def upsample(X: Tensor, scales: Any, mode: str = "nearest") -> Tensor:
    """Return *X* with larger extents, by nearest elements or by linear interpolation."""
    made: Tensor = resize(X, None, scales, mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    return made


_GRID = {
    "align_corners": "Whether -1 and 1 are centres of elements.",
    "padding_mode": "What is read outside.",
    "output_height": "Rows of the result.",
    "output_width": "Columns of the result.",
    "sampling_ratio": "How many places each element is the mean of.",
    "spatial_scale": "The factor from the boxes' coordinates to the input's.",
    "coordinate_transformation_mode": "Whether places move by half an element.",
    "pooled_shape": "Rows and columns of the result.",
    "offset_group": "The number of groups of offsets.",
    "size": "The extents of the images.",
    "image_shape": "The extents of the images.",
    "block_shape": "The extents of the blocks.",
    "output_shape": "The extents of the result.",
}


def _extents_of_images(size: Any) -> list[Any]:
    """Return the extents of images of rank 4 or 5."""
    extents = dims_of("size", size)
    if len(extents) not in (4, 5):
        raise ShapeError(f"size has {len(extents)} values, not 4 or 5", "length_mismatch")
    return extents


def _placed(way: Spatial) -> list[tuple[str, Any]]:
    return [("strides", way.strides), ("dilations", way.dilations), ("pads", way.pads)]


@operator(
    "GridSample",
    example=("N, C, H, W; N, P, Q, 2", "", "(N, C, P, Q)"),
    kinds="rank, size_mismatch",
    about=_GRID,
    allowed={"mode": ("linear", "nearest", "cubic"), "padding_mode": ("zeros", "border", "reflection")},
)
def grid_sample(
    X: Tensor, grid: Tensor, align_corners: Any = 0, mode: str = "linear", padding_mode: str = "zeros"
) -> Tensor:
    """Return the elements of *X* at the places of *grid*, interpolated."""
    rank = require_rank("GridSample", X, 3)
    require_rank("GridSample", grid, rank, rank)
    given = [("align", attributes.flag("align_corners", align_corners)), ("mode", mode), ("padding", padding_mode)]
    shape = (*X.shape[:2], *grid.shape[1:-1])
    X = demanding(X, "the grid has {}, not {}", [(grid.shape[0], X.shape[0]), (grid.shape[-1], rank - 2)])
    X = demanding(X, "{} places to read at, not {}", at_least=[(n, 1) for n in X.shape[2:]], kind=LEFT_OUT)
    return whole("grid_sample", [X, grid], shape, function=sampling.grid_sample, attributes=given, dtype=X.dtype)


@operator(
    "GridSample-16",
    example=("N, C, H, W; N, P, Q, 2", 'mode="bicubic"', "(N, C, P, Q)"),
    kinds="rank, size_mismatch",
    about=_GRID,
    allowed={"mode": ("bilinear", "nearest", "bicubic"), "padding_mode": ("zeros", "border", "reflection")},
)
def grid_sample_16(
    X: Tensor, grid: Tensor, align_corners: Any = 0, mode: str = "bilinear", padding_mode: str = "zeros"
) -> Tensor:
    """Return the elements of *X* at the places of *grid*, interpolated: with the names of modes before version 20."""
    made: Tensor = grid_sample(X, grid, align_corners, mode.removeprefix("bi"), padding_mode)
    return made


@operator("AffineGrid", example=("N, 2, 3", "size=(1, 3, 8, 9)", "(1, 8, 9, 2)"), kinds="rank, attr_dtype", about=_GRID)
def affine_grid(theta: Tensor, size: Tensor | Sizes, align_corners: Any = 0) -> Tensor:
    """Return the places that *theta* maps a regular grid to."""
    require_rank("AffineGrid", theta, 3, 3)
    count, _, *spatial = _extents_of_images(size)
    fitting = [(theta.shape[1], len(spatial)), (theta.shape[2], len(spatial) + 1)]
    fitting += [(theta.shape[0], count)] if is_known(size) else []
    theta = demanding(theta, "theta has an extent of {}, not {}", fitting)
    given, shape = (
        [("align", attributes.flag("align_corners", align_corners))],
        (theta.shape[0], *spatial, len(spatial)),
    )
    return whole("affine_grid", [theta, room_of(spatial)], shape, function=sampling.affine_grid, attributes=given)


@operator(
    "RoiAlign",
    example=("N, C, H, W; R, 4; R", "output_height=7, output_width=7", "(R, C, 7, 7)"),
    kinds="rank",
    about=_GRID,
    allowed={"sampling_ratio": AT_LEAST_0, "output_height": AT_LEAST_0, "output_width": AT_LEAST_0},
)
def roi_align(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: Any = 1,
    output_width: Any = 1,
    sampling_ratio: Any = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return a grid of values of each box, interpolated."""
    require_rank("RoiAlign", X, 4, 4)
    rows, columns = (attributes.scalar("output", e, 1) for e in (output_height, output_width))
    way = attributes.choice(
        "coordinate_transformation_mode", coordinate_transformation_mode, ("half_pixel", "output_half_pixel")
    )
    given = [
        ("coordinates", way),
        ("mode", attributes.choice("mode", mode, ("avg", "max"))),
        ("ratio", attributes.constant("sampling_ratio", sampling_ratio)),
        ("scale", float(spatial_scale)),
        ("size", (rows, columns)),
    ]
    require_rank("RoiAlign", rois, 2, 2)
    X = chosen_from(X, [0], batch_indices.shape)
    xs = [X, require_shape("the boxes", rois, (rois.shape[0], 4))]
    xs.append(require_shape("batch_indices", batch_indices, rois.shape[:1]))
    shape, places = (rois.shape[0], X.shape[1], rows, columns), (Places(2, axes=(0,), from_end=False),)
    way_of = sampling.roi_align
    return whole("roi_align", xs, shape, function=way_of, attributes=given, dtype=X.dtype, places=places)


@operator(
    "RoiAlign-10",
    example=("N, C, H, W; R, 4; R", "output_height=7, output_width=7", "(R, C, 7, 7)"),
    kinds="rank",
    about=_GRID,
    allowed={"output_height": AT_LEAST_0, "output_width": AT_LEAST_0},
)
def roi_align_10(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    mode: str = "avg",
    output_height: Any = 1,
    output_width: Any = 1,
    sampling_ratio: Any = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    """Return a grid of values of each box, whose places are not moved by half an element."""
    way = "output_half_pixel"
    made: Tensor = roi_align(
        X, rois, batch_indices, way, mode, output_height, output_width, sampling_ratio, spatial_scale
    )
    return made


@operator("MaxRoiPool", example=("N, C, H, W; R, 5", "pooled_shape=(7, 7)", "(R, C, 7, 7)"), kinds="rank", about=_GRID)
def max_roi_pool(X: Tensor, rois: Tensor, pooled_shape: Any, spatial_scale: float = 1.0) -> Tensor:
    """Return the maxima of a grid of parts of each box."""
    require_rank("MaxRoiPool", X, 4, 4)
    require_rank("MaxRoiPool", rois, 2, 2)
    size = attributes.vector("pooled_shape", pooled_shape, 2)
    X = demanding(X, "pooled_shape has {}, not at least {}", at_least=[(n, 1) for n in size], kind="infeasible")
    rois = demanding(rois, "a region has {} numbers, not {}", [(rois.shape[1], 5)])
    X = chosen_from(X, [0], rois.shape[:1])
    first = getitem(rois, (slice(None), 0)) if rois.values is None else constant(rois.values[:, 0])
    xs, places = [X, rois, first], (Places(2, axes=(0,), from_end=False),)
    shape, given = (rois.shape[0], X.shape[1], *size), [("scale", float(spatial_scale)), ("size", size)]
    way = sampling.max_roi_pool
    return whole("max_roi_pool", xs, shape, function=way, attributes=given, dtype=X.dtype, places=places)


@operator(
    "MaxUnpool",
    example=("N, C, H; N, C, H", "kernel_shape=(2,), strides=(2,)", "(N, C, 2*H)"),
    kinds="rank, size_mismatch",
    about=_GRID,
)
def max_unpool(
    X: Tensor,
    I: Tensor,  # noqa: E741  the standard's name
    output_shape: Any = None,
    kernel_shape: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return zeros, with the elements of *X* at the positions *I*."""
    rank = require_rank("MaxUnpool", X, 3) - 2
    require_rank("MaxUnpool", I, X.rank, X.rank)
    X = demanding(X, "an extent of {}, and {} of the places", list(zip(X.shape, I.shape, strict=True)))
    check_windows(rank, kernel_shape=kernel_shape, strides=strides)
    kernel = attributes.vector("kernel_shape", kernel_shape, rank)
    way = spatial_of(rank, "NOTSET", None, pads, strides)
    shape: list[Any] = list(X.shape[:2])
    for n, k, s, (begin, end) in zip(X.shape[2:], kernel, way.strides, way.pads, strict=True):
        shape.append((n - 1) * s + k - begin - end)
    X = demanding(X, "the result has an extent of {}, not {}", at_least=[(n, 1) for n in shape[2:]])
    xs, places = [X, I, room_of(shape)], (Places(1, 2, flat=True, from_end=False),)
    if output_shape is not None:
        whole_shape = dims_of("output_shape", output_shape)
        if len(whole_shape) != X.rank:
            raise ShapeError(f"output_shape has {len(whole_shape)} values for {X.rank} axes", "length_mismatch")
        if is_known(output_shape):
            same = list(zip(whole_shape[:2], shape[:2], strict=True))
            larger = list(zip(whole_shape[2:], shape[2:], strict=True))
            xs[0] = demanding(X, "output_shape has an extent of {}, not {}", same, larger)
        shape = whole_shape
        xs.append(room_of(shape))
    return whole("max_unpool", xs, shape, function=sampling.max_unpool, dtype=X.dtype, places=places)


@operator(
    "Col2Im",
    example=("N, 4*c, L", "image_shape=(5, 5), block_shape=(2, 2)", "(N, c, 5, 5)"),
    kinds="rank, block_lt_1",
    about=_GRID,
)
def col2im(
    input: Tensor, image_shape: Any, block_shape: Any, dilations: Any = None, pads: Any = None, strides: Any = None
) -> Tensor:
    """Return images to which the columns of *input* are added as blocks."""
    require_rank("Col2Im", input, 3, 3)
    images, block = dims_of("image_shape", image_shape), dims_of("block_shape", block_shape)
    if len(images) != len(block):
        raise ShapeError(f"image_shape has {len(images)} values, block_shape {len(block)}", "length_mismatch")
    count, channels = math.prod(block), input.shape[1]
    if isinstance(channels, int) and isinstance(count, int) and (count == 0 or channels % count):
        raise ShapeError(f"{channels} channels are no multiple of a block of {count}", "non_divisible")
    each = channels // count if isinstance(channels, int) and isinstance(count, int) else channels / count
    check_windows(len(block), strides=strides, dilations=dilations)
    way = spatial_of(len(block), "NOTSET", dilations, pads, strides)
    places = [
        (n + begin + end - d * (b - 1) - 1) // s + 1
        for n, b, s, d, (begin, end) in zip(images, block, way.strides, way.dilations, way.pads, strict=True)
    ]
    sizes = [(n, 1) for n in (*images, *block)]
    input = demanding(input, "an image or a block has an extent of {}, not at least {}", at_least=sizes)
    input = demanding(
        input, "the block has {} places along an axis, not at least {}", at_least=[(n, 1) for n in places]
    )
    input = demanding(input, "{} columns for {} places of the block", [(input.shape[2], math.prod(places))])
    input = demanding(input, "{} channels, not at least {}", at_least=[(channels, 1)], kind=LEFT_OUT)
    given = [("block", block), *_placed(way)]
    shape, xs = (input.shape[0], each, *images), [input, room_of(images)]
    return whole("col2im", xs, shape, function=sampling.columns_to_images, attributes=given)


@operator(
    "DeformConv",
    example=("N, C, 8, 8; M, C, 3, 3; N, 18, 6, 6", "", "(N, M, 6, 6)"),
    kinds="rank, size_mismatch, length_mismatch, attr_dtype, block_lt_1, non_divisible",
    about=_GRID,
    allowed={"group": AT_LEAST_1, "offset_group": AT_LEAST_1},
)
def deform_conv(
    X: Tensor,
    W: Tensor,
    offset: Tensor,
    B: Tensor | None = None,
    mask: Tensor | None = None,
    dilations: Any = None,
    group: Any = 1,
    kernel_shape: Any = None,
    offset_group: Any = 1,
    pads: Any = None,
    strides: Any = None,
) -> Tensor:
    """Return a convolution whose kernel elements are moved by *offset*."""
    rank = require_rank("DeformConv", X, 3) - 2
    for x in (W, offset):
        require_rank("DeformConv", x, rank + 2, rank + 2)
    check_windows(rank, kernel_shape=kernel_shape, strides=strides, dilations=dilations, pads=pads)
    W = of_kernel_shape(W, kernel_shape)
    way = spatial_of(rank, "NOTSET", dilations, pads, strides)
    groups = attributes.constants("group", [group, offset_group])
    kernel = W.shape[2:]
    moved = groups[1] * math.prod(kernel)
    grid = [
        (n + begin + end - d * (k - 1) - 1) // s + 1
        for n, k, d, s, (begin, end) in zip(X.shape[2:], kernel, way.dilations, way.strides, way.pads, strict=True)
    ]
    X = demanding(X, "{} channels, of which the kernels take {}", [(X.shape[1], W.shape[1] * groups[0])])
    for n, g in ((X.shape[1], groups[1]), (W.shape[0], groups[0])):
        X = demanding(X, "groups leave over {} channels, not {}", [(n % g, 0)], kind="non_divisible")
    for given_there, count in ((offset, moved * rank), (mask, moved)):
        if given_there is not None:
            require_rank("DeformConv", given_there, rank + 2, rank + 2)
            pairs = list(zip(given_there.shape, (X.shape[0], count, *grid), strict=True))
            X = demanding(X, "offsets or a mask of {}, not {}", pairs)
    if B is not None:
        X = demanding(X, "{} biases of {} kernels", [(B.shape[0], W.shape[0])])
    X, W = nonempty(X, range(1, X.rank)), nonempty(W)
    xs = [X, W, offset, *(x for x in (B, mask) if x is not None)]
    given = [*_placed(way), ("groups", groups), ("given", (B is not None, mask is not None))]
    shape, function = (X.shape[0], W.shape[0], *offset.shape[2:]), sampling.deformed_convolution
    return whole("deform_conv", xs, shape, function=function, attributes=given, dtype=X.dtype)


@operator(
    "CenterCropPad",
    example=("9, C", "shape=[5], axes=[0]", "(5, C)"),
    kinds="rank, length_mismatch, attr_dtype, bad_axis, infeasible, overflow",
)
def center_crop_pad(input_data: Tensor, shape: Any, axes: Any = None) -> Tensor:
    """Return *input_data* with the extents *shape* along *axes*: cropped around the middle, or padded with zeros."""
    rank = require_rank("CenterCropPad", input_data, 1)
    along = list(range(rank)) if axes is None else attributes.distinct("axes", axes, rank)
    return core.centered(input_data, attributes.vector("shape", shape, len(along)), along)
