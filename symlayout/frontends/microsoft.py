"""onnxruntime's fused operations (domain ``com.microsoft``), as the operations of the standard that they stand for."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from symlayout.compute import contractions
from symlayout.compute.demands import demanding, spread
from symlayout.errors import ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply, clip
from symlayout.frontends.onnx.normalization import layer_normalization, rms_normalization
from symlayout.frontends.onnx.operator import as_tensor, operator
from symlayout.frontends.onnx.products import gemm, scaled
from symlayout.frontends.onnx.windows import conv
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import register
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor

_ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "": (), "Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
}  # fmt: skip
_SIZES = "rank, size_mismatch, bad_axis"


def _activated(x: Tensor, activation: str, parameters: Sequence[float]) -> Tensor:
    """Return *x* after an activation, with its parameters in the standard's order."""
    name = attributes.choice("activation", activation, _ACTIVATIONS)
    names = _ACTIVATIONS[name]
    if len(parameters) > len(names):
        raise ShapeError(f"activation {name} has {len(names)} parameters, not {shown(parameters)}", "length_mismatch")
    if name == "Clip":
        low, high = (as_tensor(name, n, float(v), x) for n, v in zip(names, parameters, strict=True))
        return clip(x, low, high)
    return apply(name, x, **dict(zip(names, map(float, parameters), strict=False))) if name else x


@register("microsoft:FusedConv")
def fused_conv(
    X: Tensor,
    W: Tensor,
    B: Tensor | None = None,
    Z: Tensor | None = None,
    activation: str = "",
    activation_params: Sequence[float] = (),
    **spatial: Any,
) -> Tensor:
    """Return the activation of a convolution, to which *Z* is added.

    Parameters
    ----------
    X, W, B : Tensor
        As of ONNX's Conv.
    Z : Tensor, optional
        What is added before the activation.
    activation : str
        The name of an elementwise operator of the standard; empty for none.
    activation_params : sequence of float
        Its attributes, in the standard's order.
    **spatial
        The attributes of ONNX's Conv.

    Raises
    ------
    ShapeError
        The kinds of Conv; ``bad_mode`` for another activation, ``length_mismatch`` for its parameters.

    References
    ----------
    onnxruntime, docs/ContribOperators.md, com.microsoft.FusedConv.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.op("microsoft:FusedConv")(sl.tensor("N, 3, H, W"), sl.tensor("8, 3, 1, 1"), activation="Relu").shape
    (N, 8, H, W)
    """
    y = conv(X, W, B, **spatial)
    added = y if Z is None else apply("Add", y, require_shape("Z", Z, y.shape))
    return _activated(added, activation, activation_params)


@register("microsoft:FusedGemm")
def fused_gemm(
    A: Tensor,
    B: Tensor,
    C: Tensor | None = None,
    activation: str = "",
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    **product: Any,
) -> Tensor:
    """Return the activation of ``alpha * A @ B + beta * C``.

    Parameters
    ----------
    A, B, C : Tensor
        As of ONNX's Gemm.
    activation : str
        The name of an elementwise operator of the standard; empty for none.
    activation_alpha, activation_beta : float, optional
        Its attributes.
    **product
        The attributes of ONNX's Gemm.

    Raises
    ------
    ShapeError
        The kinds of Gemm; ``bad_mode`` for another activation, ``length_mismatch`` for its parameters.

    References
    ----------
    onnxruntime, docs/ContribOperators.md, com.microsoft.FusedGemm.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.op("microsoft:FusedGemm")(sl.tensor("M, K"), sl.tensor("K, N"), activation="Relu").shape
    (M, N)
    """
    given = [float(v) for v in (activation_alpha, activation_beta) if v is not None]
    return _activated(gemm(A, B, C, **product), activation, given)


@register("microsoft:FusedMatMul", "microsoft:TransposeMatMul")
def fused_mat_mul(
    A: Tensor,
    B: Tensor,
    alpha: float = 1.0,
    transA: Any = 0,
    transB: Any = 0,
    transBatchA: Any = 0,
    transBatchB: Any = 0,
) -> Tensor:
    """Return ``alpha`` times the matrix product of *A* and *B*, whose last axes may change places first.

    Parameters
    ----------
    A, B : Tensor
        As of ONNX's MatMul.
    alpha : float
        A factor.
    transA, transB : int
        Whether the last two axes of *A* or *B* change places.
    transBatchA, transBatchB : int
        Whether the first axis moves to before the last one.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch``, ``attr_dtype``, ``overflow``.

    References
    ----------
    onnxruntime, docs/ContribOperators.md, com.microsoft.FusedMatMul.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.op("microsoft:FusedMatMul")(sl.tensor("B, K, M"), sl.tensor("B, K, N"), transA=1).shape
    (B, M, N)
    """
    sides = []
    if any(attributes.flag("transBatch", batch) for batch in (transBatchA, transBatchB)):
        require_rank("FusedMatMul", B, require_rank("FusedMatMul", A, 3), A.rank)
    for x, swap, batch in ((A, transA, transBatchA), (B, transB, transBatchB)):
        order = list(range(x.rank))
        if attributes.flag("transBatch", batch):
            order = [*order[1:-1], 0, order[-1]]
        if attributes.flag("trans", swap):
            order[-2:] = order[-2:][::-1]
        sides.append(transpose(x, order) if order != list(range(x.rank)) else x)
    return scaled(contractions.matmul(*sides), alpha)


@operator("microsoft:Gelu", example=("N, C", "", "(N, C)"))
def gelu(X: Tensor) -> Tensor:
    """Return *X* times the normal distribution function of it."""
    return apply("Gelu", X)


@operator("microsoft:BiasGelu", example=("N, C; C", "", "(N, C)"))
def bias_gelu(A: Tensor, B: Tensor) -> Tensor:
    """Return the Gelu of the sum of *A* and *B*."""
    return apply("Gelu", apply("Add", A, require_shape("the bias", B, A.shape[-1:])))


@operator("microsoft:FastGelu", example=("N, C; C", "", "(N, C)"), kinds="rank")
def fast_gelu(X: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return the Gelu of *X*, to which *bias* is added, with the approximation by ``tanh``."""
    require_rank("FastGelu", X, 1)
    added = X if bias is None else apply("Add", X, require_shape("the bias", bias, X.shape[-1:]))
    return apply("Gelu", added, approximate="tanh")


@operator("microsoft:QuickGelu", example=("N, C", "", "(N, C)"))
def quick_gelu(X: Tensor, alpha: float = 1.702) -> Tensor:
    """Return *X* times the sigmoid of *alpha* times *X*."""
    return apply("Swish", X, alpha=alpha)


_SKIP = "N, S, D; N, S, D; D"
_SKIP_ABOUT = {
    "input": "What is normalised over its last axis, after *skip* and *bias* are added.",
    "skip": "What is added, broadcast.",
    "gamma": "A factor for each element of the last axis.",
    "beta": "What is added for each element of the last axis, after the factor.",
    "bias": "What is added before.",
}


def _skipped(
    count: int,
    input: Tensor,
    skip: Tensor,
    vectors: Sequence[Tensor | None],
    normalize: Callable[..., Tensor | list[Tensor]],
) -> Tensor | list[Tensor | None]:
    """Return the outputs of a normalisation of the sum of *input*, *skip* and a bias; the fourth output is the sum.

    *vectors* have the extent of the last axis: the bias, then what the normalisation reads.
    """
    require_rank("SkipLayerNormalization", input, 2, 3)
    require_rank("SkipLayerNormalization", skip, 2, input.rank)
    input = demanding(input, "{} elements to normalise, not {}", at_least=[(input.shape[-1], 1)], kind="infeasible")
    skip = spread(require_shape("skip", skip, (*skip.shape[:-2], *input.shape[-2:])), input.shape)
    bias, *others = (None if x is None else require_shape("a vector", x, input.shape[-1:]) for x in vectors)
    first = apply("Add", input, skip)
    if bias is not None:
        first = apply("Add", first, bias)
    made = normalize(first, *others, outputs=min(count, 3))
    outputs: list[Tensor | None] = [*made] if isinstance(made, list) else [made, None, None]
    return [*outputs, first][:count] if count > 1 else outputs[0]  # type: ignore[return-value]


@operator("microsoft:SkipLayerNormalization", example=(_SKIP, "", "(N, S, D)"), kinds=_SIZES, about=_SKIP_ABOUT)
def skip_layer_normalization(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    beta: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-12,
    outputs: int = 1,
) -> Tensor | list[Tensor | None]:
    """Return the layer normalisation of the sum of *input*, *skip* and *bias*.

    Other outputs are the mean, the inverse of the deviation, and the sum.
    """
    normalize = functools.partial(layer_normalization, epsilon=epsilon)
    return _skipped(outputs, input, skip, (bias, gamma, beta), normalize)


@operator(
    "microsoft:SkipSimplifiedLayerNormalization", example=(_SKIP, "", "(N, S, D)"), kinds=_SIZES, about=_SKIP_ABOUT
)
def skip_simplified_layer_normalization(
    input: Tensor,
    skip: Tensor,
    gamma: Tensor,
    bias: Tensor | None = None,
    epsilon: float = 1e-12,
    outputs: int = 1,
) -> Tensor | list[Tensor | None]:
    """Return the sum of *input*, *skip* and *bias*, divided by the root of its mean square over the last axis."""

    def normalize(x: Tensor, scale: Tensor, outputs: int) -> Tensor:
        return rms_normalization(x, scale, epsilon=epsilon)

    return _skipped(outputs, input, skip, (bias, gamma), normalize)


@operator("microsoft:SimplifiedLayerNormalization", example=("N, S, D; D", "", "(N, S, D)"), kinds=_SIZES)
def simplified_layer_normalization(
    X: Tensor, scale: Tensor, axis: Any = -1, epsilon: float = 1e-5, stash_type: Any = 1
) -> Tensor:
    """Return RMSNormalization, for which onnxruntime writes this name in the standard's domain."""
    return rms_normalization(X, scale, axis=axis, epsilon=epsilon, stash_type=stash_type)
