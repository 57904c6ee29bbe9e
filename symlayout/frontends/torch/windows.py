"""PyTorch's convolutions, pools and resampling; images are (batch, channels, ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from symlayout.compute import contractions, pooling, reductions
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import nonempty
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import Sizes, operator
from symlayout.frontends.onnx.resampling import grid_sample, resize
from symlayout.frontends.onnx.windows import with_bias
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims, squeeze
from symlayout.tensors.chain import Tensor

KINDS = "rank, size_mismatch, infeasible, length_mismatch, attr_dtype, block_lt_1, bad_mode, not_declared, overflow"
ABOUT = {
    "align_corners": "Whether the first and last elements stay in their places.",
    "bias": "What is added to each channel.",
    "ceil_mode": "Whether a last window may reach past the end.",
    "count_include_pad": "Whether the pads count as elements.",
    "dilation": "The distance of a window's elements.",
    "divisor_override": "None: the number of elements.",
    "groups": "The number of groups of channels.",
    "interpolation_mode": "0: linear; 1: nearest; 2: cubic.",
    "kernel_size": "The extents of a window.",
    "output_padding": "What is added at the ends of the result.",
    "output_size": "The extents of the result.",
    "padding": 'What is added at both ends, or ``"valid"`` or ``"same"``.',
    "padding_mode": "0: zeros outside; 1: the border; 2: a reflection.",
    "scale_factors": "A factor for each axis; None if there is *output_size*.",
    "stride": "The distance of windows; none is that of *kernel_size*.",
    "transposed": "Whether the convolution is transposed.",
}


def _each(name: str, value: Any, rank: int, low: int) -> list[Any]:
    """Return a number for each spatial axis; one stands for all."""
    found = attributes.listed(name, value)
    found = found * rank if len(found) == 1 else found
    if len(found) != rank:
        raise ShapeError(f"{name} has {len(found)} numbers for {rank} axes", "length_mismatch")
    return attributes.fill(name, found, low)


def _batched(input: Tensor, rank: int, name: str) -> tuple[Tensor, bool]:
    """Return images with a batch, and whether it was added."""
    require_rank(name, input, rank + 1, rank + 2)
    return (expand_dims(input, 0), True) if input.rank == rank + 1 else (input, False)


def _padding(value: Any, rank: int, reach: Sequence[Any]) -> list[tuple[Any, Any]]:
    if isinstance(value, str):
        mode = attributes.choice("padding", value, ("valid", "same"))
        if mode == "valid":
            return [(0, 0)] * rank
        return [((r - 1) // 2, r - 1 - (r - 1) // 2) for r in reach]
    return [(p, p) for p in _each("padding", value, rank, 0)]


def _conv(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any, dilation: Any, groups: Any
) -> Tensor:
    rank = require_rank("the weight", weight, 3) - 2
    x, alone = _batched(input, rank, "a convolution")
    steps, apart = _each("stride", stride, rank, 1), _each("dilation", dilation, rank, 1)
    if isinstance(padding, str) and padding == "same" and any(s != 1 for s in steps):
        raise ShapeError("padding is same, and there are strides", "bad_mode")
    pads = _padding(padding, rank, [(n - 1) * d + 1 for n, d in zip(weight.shape[2:], apart, strict=True)])
    spatial = Spatial(tuple(steps), tuple(apart), tuple(pads))
    made = with_bias(contractions.conv(x, weight, attributes.scalar("groups", groups, 1), spatial), bias)
    return squeeze(made, 0) if alone else made


@operator(
    "torch:conv1d", "torch:conv2d", "torch:conv3d", example=("N, C, H, W; M, C, 3, 3", "padding=1", "(N, M, H, W)"),
    kinds=KINDS, about=ABOUT,
)  # fmt: skip
def conv(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    groups: Any = 1,
) -> Tensor:  # fmt: skip
    """Return the convolution with filters (out, in, ...), plus the bias."""
    return _conv(input, weight, bias, stride, padding, dilation, groups)


@operator(
    "torch:conv_transpose1d", "torch:conv_transpose2d", "torch:conv_transpose3d",
    example=("N, 8, H; 8, M, 3", "stride=2", "(N, M, 2*H + 1)"), kinds=KINDS, about=ABOUT,
)  # fmt: skip
def conv_transpose(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
    output_padding: Any = 0, groups: Any = 1, dilation: Any = 1,
) -> Tensor:  # fmt: skip
    """Return the transposed convolution with filters (in, out, ...), plus the bias."""
    rank = require_rank("the weight", weight, 3) - 2
    x, alone = _batched(input, rank, "a transposed convolution")
    steps, apart = _each("stride", stride, rank, 1), _each("dilation", dilation, rank, 1)
    pads, extra = _padding(padding, rank, ()), _each("output_padding", output_padding, rank, 0)
    x = nonempty(x, range(2, x.rank))
    count = attributes.constant("groups", groups)
    made = with_bias(contractions.conv_transpose(x, weight, count, steps, apart, pads, extra), bias)
    return squeeze(made, 0) if alone else made


@operator(
    "torch:convolution", example=("N, C, H; M, C, 3", "padding=[1], transposed=False", "(N, M, H)"), kinds=KINDS,
    about=ABOUT,
)  # fmt: skip
def convolution(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
    transposed: Any = False, output_padding: Any = 0, groups: Any = 1,
) -> Tensor:  # fmt: skip
    """Return a convolution or a transposed one, plus the bias."""
    if attributes.flag("transposed", transposed):
        made: Tensor = conv_transpose(input, weight, bias, stride, padding, output_padding, groups, dilation)
        return made
    return _conv(input, weight, bias, stride, padding, dilation, groups)


def _pooled(input: Tensor, rank: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: Any,
            pool: Callable[[Tensor, Any, Spatial], Any]) -> Any:  # fmt: skip
    x, alone = _batched(input, rank, "a pool")
    window = _each("kernel_size", kernel_size, rank, 1)
    steps = (
        window if stride is None or len(attributes.listed("stride", stride)) == 0 else _each("stride", stride, rank, 1)
    )
    pads = [(p, p) for p in _each("padding", padding, rank, 0)]
    for (p, _), k in zip(pads, window, strict=True):
        if isinstance(p, int) and isinstance(k, int) and 2 * p > k:
            raise ShapeError(f"a pad of {p} is more than half of a window of {k}", "size_mismatch")
    apart = _each("dilation", dilation, rank, 1)
    ceil = attributes.flag("ceil_mode", ceil_mode)
    made = pool(nonempty(x, range(1, x.rank)), window, Spatial(tuple(steps), tuple(apart), tuple(pads), ceil))
    if not alone:
        return made
    return [squeeze(y, 0) for y in made] if isinstance(made, list) else squeeze(made, 0)


def _max_pool(rank: int) -> Callable[..., Tensor]:
    def applied(
        input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: Any = False
    ) -> Tensor:
        made: Tensor = _pooled(input, rank, kernel_size, stride, padding, dilation, ceil_mode, pooling.max_pool)
        return made

    return _registered(applied, f"max_pool{rank}d", rank, "Return the maximum of each window.")


def _avg_pool(rank: int) -> Callable[..., Tensor]:
    def applied(
        input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: Any = False,
        count_include_pad: Any = True, divisor_override: Any = None,
    ) -> Tensor:  # fmt: skip
        if divisor_override is not None:
            raise NotDeclaredError("a pool with a divisor of its own")
        counts = attributes.flag("count_include_pad", count_include_pad)
        pool = partial(pooling.average_pool, count_pads=counts)
        made: Tensor = _pooled(input, rank, kernel_size, stride, padding, 1, ceil_mode, pool)
        return made

    return _registered(applied, f"avg_pool{rank}d", rank, "Return the mean of each window.")


def _registered(applied: Callable[..., Tensor], name: str, rank: int, about: str) -> Callable[..., Tensor]:
    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = about
    axes, small = ", ".join("2*" + c for c in "dhw"[-rank:]), ", ".join("dhw"[-rank:])
    example = (f"N, C, {axes}", "kernel_size=2", f"(N, C, {small})")
    return operator(f"torch:{name}", example=example, kinds=KINDS, about=ABOUT)(applied)


max_pool1d, max_pool2d, max_pool3d = (_max_pool(rank) for rank in (1, 2, 3))
avg_pool1d, avg_pool2d, avg_pool3d = (_avg_pool(rank) for rank in (1, 2, 3))


@operator(
    "torch:max_pool2d_with_indices", example=("N, C, 2*h, 2*w", "kernel_size=2", "[(N, C, h, w), (N, C, h, w)]"),
    kinds=KINDS, about=ABOUT,
)  # fmt: skip
def max_pool2d_with_indices(
    input: Tensor, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1, ceil_mode: Any = False
) -> list[Tensor]:
    """Return the maximum of each window, and its position in the image."""

    def pool(x: Tensor, window: Any, spatial: Spatial) -> list[Tensor]:
        places = pooling.max_pool_numbers(x, window, spatial, pooling.numbers_from_axis, (("axis", 2),))
        return [pooling.max_pool(x, window, spatial), places]

    made: list[Tensor] = _pooled(input, 2, kernel_size, stride, padding, dilation, ceil_mode, pool)
    return made


def _adaptive(rank: int) -> Callable[..., Tensor]:
    def applied(input: Tensor, output_size: Any) -> Tensor:
        x, alone = _batched(input, rank, "an adaptive pool")
        wanted = _each("output_size", output_size, rank, 1)
        x = nonempty(x, range(1, x.rank))
        if wanted == [1] * rank:
            made = reductions.reduced(x, list(range(2, rank + 2)), reductions.mean, keepdims=True)
        elif all(_divides(m, n) for m, n in zip(wanted, x.shape[2:], strict=True)):
            window = tuple(n // m for m, n in zip(wanted, x.shape[2:], strict=True))
            made = pooling.average_pool(x, window, Spatial(window, (1,) * rank, ((0, 0),) * rank), count_pads=False)
        else:
            made = x
            for k, m in enumerate(wanted):
                if m != made.shape[2 + k]:
                    made = pooling.means_of_parts(made, 2 + k, m)
        return squeeze(made, 0) if alone else made

    applied.__name__ = applied.__qualname__ = f"adaptive_avg_pool{rank}d"
    applied.__doc__ = "Return the means of *output_size* parts of each spatial axis, which may overlap by one element."
    axes = ", ".join("DHW"[-rank:])
    example = (f"N, C, {axes}", "output_size=1", f"(N, C{', 1' * rank})")
    return operator(f"torch:adaptive_avg_pool{rank}d", example=example, kinds=KINDS, about=ABOUT)(applied)


def _divides(m: Any, n: Any) -> bool:
    return isinstance(m, int) and isinstance(n, int) and m > 0 and n % m == 0


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive(rank) for rank in (1, 2, 3))


def _resized(input: Tensor, rank: int, output_size: Any, scale_factors: Any, **given: Any) -> Tensor:
    require_rank("a resampling", input, rank + 2, rank + 2)
    axes = tuple(range(2, rank + 2))
    if (output_size is None) == (scale_factors is None):
        raise ShapeError("one of output_size and scale_factors is given", "attr_missing")
    if output_size is not None:
        made: Tensor = resize(
            input, sizes=np.array(_each("output_size", output_size, rank, 1), object), axes=axes, **given
        )
        return made
    factors = [float(s) for s in scale_factors]
    made = resize(input, scales=np.array(factors, np.float64), axes=axes, **given)
    return made


def _is_exact(extent: Any, n: Any, factor: Any) -> bool:
    """Return whether torch's places, which it computes in float32, are those of the exact scale."""
    if factor is not None:
        ratio = Fraction(factor)
    elif isinstance(extent, int) and isinstance(n, int):
        ratio = Fraction(extent, n) if n else Fraction(1)
    else:
        found: Any = extent / n
        if not getattr(found, "is_Rational", False):
            return False
        ratio = Fraction(int(found.p), int(found.q))
    inverse = 1 / ratio if ratio else Fraction(1)
    if inverse.denominator & (inverse.denominator - 1) == 0:
        return inverse.numerator < 1 << 24
    return inverse.numerator == 1 and Fraction(float(np.float32(float(inverse)))) >= inverse


def _nearest(name: str, rank: int) -> Callable[..., Tensor]:
    def applied(input: Tensor, output_size: Sizes = None, scale_factors: Any = None) -> Tensor:
        sizes = [None] * rank if output_size is None else _each("output_size", output_size, rank, 1)
        factors = [None] * rank if scale_factors is None or output_size is not None else list(scale_factors)
        for e, n, s in zip(sizes, input.shape[2:], factors, strict=False):
            if not _is_exact(e, n, s):
                raise NotDeclaredError("nearest elements at a scale that torch rounds")
        way = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        return _resized(input, rank, output_size, None if output_size is not None else scale_factors, **way)

    return _resampling(applied, name, rank, "Return images with other extents, by nearest elements.")


def _linear(name: str, rank: int, mode: str) -> Callable[..., Tensor]:
    def applied(
        input: Tensor, output_size: Sizes = None, align_corners: Any = False, scale_factors: Any = None
    ) -> Tensor:
        corners = attributes.flag("align_corners", align_corners)
        way = {"mode": mode, "coordinate_transformation_mode": "align_corners" if corners else "half_pixel"}
        return _resized(input, rank, output_size, None if output_size is not None else scale_factors, **way)

    return _resampling(applied, name, rank, f"Return images with other extents, by {mode} interpolation.")


def _resampling(applied: Callable[..., Tensor], name: str, rank: int, about: str) -> Callable[..., Tensor]:
    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = about
    axes, large = ", ".join("DHW"[-rank:]), ", ".join("2*" + c for c in "DHW"[-rank:])
    example = (f"N, C, {axes}", f"scale_factors={[2.0] * rank}", f"(N, C, {large})")
    return operator(f"torch:{name}", example=example, kinds=KINDS, about=ABOUT)(applied)


upsample_nearest1d, upsample_nearest2d, upsample_nearest3d = (
    _nearest(f"upsample_nearest{rank}d", rank) for rank in (1, 2, 3)
)
upsample_linear1d = _linear("upsample_linear1d", 1, "linear")
upsample_bilinear2d = _linear("upsample_bilinear2d", 2, "linear")
upsample_trilinear3d = _linear("upsample_trilinear3d", 3, "linear")
upsample_bicubic2d = _linear("upsample_bicubic2d", 2, "cubic")

_MODES, _OUTSIDE = ("linear", "nearest", "cubic"), ("zeros", "border", "reflection")


@operator(
    "torch:grid_sampler", example=("N, C, H, W; N, P, Q, 2", "", "(N, C, P, Q)"), kinds=KINDS, about=ABOUT
)  # fmt: skip
def grid_sampler(
    input: Tensor, grid: Tensor, interpolation_mode: Any = 0, padding_mode: Any = 0, align_corners: Any = False
) -> Tensor:
    """Return the elements of *input* at the places of *grid*, interpolated."""
    mode, outside = (attributes.constant("mode", m) for m in (interpolation_mode, padding_mode))
    if not 0 <= mode < len(_MODES) or not 0 <= outside < len(_OUTSIDE):
        raise ShapeError(f"modes {mode} and {outside} are not known", "bad_mode")
    corners = int(attributes.flag("align_corners", align_corners))
    made: Tensor = grid_sample(input, grid, align_corners=corners, mode=_MODES[mode], padding_mode=_OUTSIDE[outside])
    return made
