"""onnxruntime's fused operations (domain ``com.microsoft``), as the operations of the standard that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.compute import contractions
from symlayout.errors import ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.products import gemm, scaled
from symlayout.frontends.onnx.windows import conv
from symlayout.frontends.registry import register
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor

_ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "": (), "Relu": (), "Sigmoid": (), "Tanh": (), "LeakyRelu": ("alpha",), "HardSigmoid": ("alpha", "beta"),
}  # fmt: skip


def _activated(x: Tensor, activation: str, parameters: Sequence[float]) -> Tensor:
    """Return *x* after an activation, with its parameters in the standard's order."""
    name = attributes.choice("activation", activation, _ACTIVATIONS)
    names = _ACTIVATIONS[name]
    if len(parameters) > len(names):
        raise ShapeError(f"activation {name} has {len(names)} parameters, not {shown(parameters)}", "length_mismatch")
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
    return _activated(y if Z is None else apply("Add", y, Z), activation, activation_params)


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
    for x, swap, batch in ((A, transA, transBatchA), (B, transB, transBatchB)):
        order = list(range(x.rank))
        if attributes.flag("transBatch", batch):
            order = [*order[1:-1], 0, order[-1]]
        if attributes.flag("trans", swap):
            order[-2:] = order[-2:][::-1]
        sides.append(transpose(x, order) if order != list(range(x.rank)) else x)
    return scaled(contractions.matmul(*sides), alpha)
