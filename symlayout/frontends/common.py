"""Operations that ONNX and OpenVINO share, including the names of inputs and attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.frontends import attributes
from symlayout.frontends.rank import require_tensors
from symlayout.frontends.registry import register
from symlayout.ops.concatenate import concatenate
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant


@register("onnx:Concat", "openvino:Concat-1", joint=True)
def concat(inputs: Sequence[Tensor], axis: Any) -> Tensor:
    """Return the *inputs* one after the other along *axis*.

    Parameters
    ----------
    inputs : sequence of Tensor
        Rank 1 or more.
    axis : int
        Negative ones count from the end.

    Raises
    ------
    ShapeError
        ``rank``, ``length_mismatch`` for no inputs, ``attr_dtype``, ``bad_axis``, ``size_mismatch``, ``overflow``.

    References
    ----------
    ONNX, operator Concat: https://onnx.ai/onnx/operators/onnx__Concat.html
    OpenVINO, operation specification Concat-1.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, y = sl.tensor("H, W", name="x"), sl.tensor("K, W", name="y")
    >>> sl.onnx.concat([x, y], axis=0).shape
    (H + K, W)
    """
    if isinstance(inputs, (list, tuple)):
        inputs = [constant(np.asarray(x)) if hasattr(x, "__array__") else x for x in inputs]
    return concatenate(require_tensors("Concat", inputs, 1), attributes.constant("axis", axis))
