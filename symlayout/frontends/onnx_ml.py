"""ONNX's operations of classical learning (domain ``ai.onnx.ml``) that are arithmetic, or have a shape of their own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symlayout.compute.demands import demanding
from symlayout.compute.whole import where_elements, whole
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply, where
from symlayout.frontends.onnx.indexing import gather
from symlayout.frontends.onnx.normalization import lp_normalization
from symlayout.frontends.onnx.operator import AT_LEAST_0, AT_LEAST_1, as_tensor, is_known, known, operator
from symlayout.frontends.onnx.products import mat_mul
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.concatenate import concatenate
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Places

_FLOAT = np.dtype(np.float32)
_KINDS = "rank, size_mismatch, length_mismatch"


def _numbers(values: Any) -> np.ndarray[Any, Any]:
    return np.asarray([] if values is None else values, np.float32).reshape(-1)


def _rows(name: str, x: Tensor) -> Tensor:
    """Return a row for each sample, in float32; a vector is one sample."""
    if require_rank(name, x, 1, 2) == 1:
        x = reshape(x, (1, x.shape[0]))
    return cast_to(x, _FLOAT)


@operator(
    "ml:Scaler",
    example=("N, 3", "offset=(1.0, 2.0, 3.0), scale=(0.5, 0.5, 0.5)", "(N, 3)"),
    kinds=_KINDS,
    about={"offset": "What is subtracted: one number, or one for each feature.", "scale": "The factors, likewise."},
)
def scaler(X: Tensor, offset: Any = (), scale: Any = ()) -> Tensor:
    """Return *X* minus *offset*, times *scale*, in float32."""
    rank = require_rank("Scaler", X, 1)
    below, by = _numbers(offset), _numbers(scale)
    if not below.size or below.size != by.size or (below.size > 1 and rank > 2):  # runtimes choose an axis
        raise NotDeclaredError("Scaler has a declaration for offsets and scales of features", result=(_FLOAT, X.shape))
    if below.size > 1:
        X = demanding(X, "{} features, not {}", [(X.shape[-1], below.size)])
    first, second = (constant(v if v.size > 1 else v.reshape(()), "features") for v in (below, by))
    return apply("Mul", apply("Sub", cast_to(X, _FLOAT), first), second)


@operator(
    "ml:Normalizer",
    example=("N, C", 'norm="L2"', "(N, C)"),
    kinds=_KINDS,
    about={"norm": '``"L1"`` or ``"L2"``; ``"MAX"`` has no declaration, since runtimes differ in its sign.'},
    allowed={"norm": ("MAX", "L1", "L2")},
)
def normalizer(X: Tensor, norm: str = "MAX") -> Tensor:
    """Return each sample divided by its norm, in float32."""
    rank = require_rank("Normalizer", X, 1)
    if norm == "MAX" or rank > 2:
        raise NotDeclaredError("Normalizer has a declaration for two norms of rows", result=(_FLOAT, X.shape))
    made: Tensor = lp_normalization(cast_to(X, _FLOAT), axis=-1, p=int(norm[1]))
    return made


@operator(
    "ml:Imputer",
    example=("N, 3", "imputed_value_floats=(7.0,), replaced_value_float=0.5", "(N, 3)"),
    kinds=_KINDS,
    about={
        "imputed_value_floats": "What stands in the place of a value: one number, or one for each feature.",
        "imputed_value_int64s": "The same for integers.",
        "replaced_value_float": "The value that is replaced.",
        "replaced_value_int64": "The same for integers.",
    },
)
def imputer(
    X: Tensor,
    imputed_value_floats: Any = None,
    imputed_value_int64s: Any = None,
    replaced_value_float: float = 0.0,
    replaced_value_int64: Any = 0,
) -> Tensor:
    """Return *X* with other values in the place of one value."""
    rank = require_rank("Imputer", X, 1)
    integer = X.dtype is not None and X.dtype.kind in "iu"
    given, old = (
        (imputed_value_int64s, replaced_value_int64) if integer else (imputed_value_floats, replaced_value_float)
    )
    dtype = X.dtype or _FLOAT
    new = np.asarray([] if given is None else given, dtype).reshape(-1)
    if not new.size or (new.size > 1 and rank != 2):
        raise NotDeclaredError("Imputer has a declaration for values of features", result=(X.dtype, X.shape))
    if new.size > 1:
        X = demanding(X, "{} features, not {}", [(X.shape[-1], new.size)])
    value = as_tensor("Imputer", "value", np.asarray(old, dtype))
    is_nan = not integer and math.isnan(float(old))
    found = apply("IsNaN", X) if is_nan else apply("Equal", X, value)
    made: Tensor = where(found, constant(new if new.size > 1 else new.reshape(()), "imputed"), X)
    return made


@operator("ml:ArrayFeatureExtractor", example=("N, C; K", "", "(N, K)"), kinds=f"{_KINDS}, bad_axis, attr_range")
def array_feature_extractor(X: Tensor, Y: Tensor) -> Tensor:
    """Return the elements of the last axis at the places *Y*, which are counted from 0 on; a vector is one sample."""
    rank = require_rank("ArrayFeatureExtractor", X, 1)
    if is_known(Y) and (known("Y", Y) < 0).any():
        raise ShapeError("a place is below 0", "attr_range")
    count = math.prod(Y.shape)
    flat = demanding(reshape(Y, (count,)), "{} places, at least {}", at_least=[(count, 1)], kind=LEFT_OUT)
    if not is_known(Y):
        X = where_elements(X, Y, "places", Places(0, limits=(0, AT_LEAST_0.stop)))
    made: Tensor = gather(X, flat, axis=-1)
    return reshape(made, (1, count)) if rank == 1 else made


@operator(
    "ml:LinearRegressor",
    example=("N, 3", "coefficients=(1.0, 2.0, 3.0), intercepts=(0.5,)", "(N, 1)"),
    kinds=f"{_KINDS}, bad_mode",
    about={
        "coefficients": "Those of each feature, one target after the other.",
        "intercepts": "What is added to each target.",
        "targets": "How many there are.",
        "post_transform": "What is applied to the targets: others than none have no declaration.",
    },
    allowed={"targets": AT_LEAST_1},
)
def linear_regressor(
    X: Tensor, coefficients: Any = None, intercepts: Any = None, post_transform: str = "NONE", targets: Any = 1
) -> Tensor:
    """Return sums of the features times coefficients, to which intercepts are added, in float32."""
    x, count = _rows("LinearRegressor", X), attributes.constant("targets", targets)
    factors, added = _numbers(coefficients), _numbers(intercepts)
    if factors.size % count or not factors.size:
        raise ShapeError(f"{factors.size} coefficients of {count} targets", "length_mismatch")
    if post_transform != "NONE" or added.size not in (0, count):
        what = "LinearRegressor has no declaration for transforms, and for other intercepts"
        raise NotDeclaredError(what, result=(_FLOAT, (x.shape[0], count)))
    x = demanding(x, "{} features, not {}", [(x.shape[1], factors.size // count)])
    made: Tensor = mat_mul(x, constant(np.ascontiguousarray(factors.reshape(count, -1).T), "coefficients"))
    return apply("Add", made, constant(added, "intercepts")) if added.size else made


_SVM = {
    "coefficients": "The factors of the kernel's values.",
    "kernel_params": "The numbers of the kernel.",
    "kernel_type": "The kernel.",
    "n_supports": "The number of vectors.",
    "one_class": "Whether the result is a sign.",
    "post_transform": "What is applied to the result.",
    "rho": "What is added.",
    "support_vectors": "The vectors, one after the other.",
}


@operator("ml:SVMRegressor", example=("N, C", "n_supports=2", "(N, 1)"), kinds="rank", about=_SVM)
def svm_regressor(
    X: Tensor,
    coefficients: Any = (),
    kernel_params: Any = (),
    kernel_type: str = "LINEAR",
    n_supports: Any = 0,
    one_class: Any = 0,
    post_transform: str = "NONE",
    rho: Any = (),
    support_vectors: Any = (),
) -> Tensor:
    """Return the value of a support vector machine for each sample: nothing is known of it but what it depends on."""
    given = [
        ("numbers", [tuple(_numbers(v).tolist()) for v in (coefficients, kernel_params, rho, support_vectors)]),
        ("kernel", (str(kernel_type), str(post_transform))),
        ("counts", (attributes.constant("n_supports", n_supports), attributes.flag("one_class", one_class))),
    ]
    samples = 1 if require_rank("SVMRegressor", X, 1, 2) == 1 else X.shape[0]
    return whole("svm_regressor", [X], (samples, 1), attributes=given, dtype=_FLOAT)


@operator(
    "ml:FeatureVectorizer",
    example=("N, 3; N, 2", "inputdimensions=(3, 2)", "(N, 5)"),
    kinds=f"{_KINDS}, attr_missing",
    about={"X": "Samples.", "inputdimensions": "The number of features of each input."},
)
def feature_vectorizer(*X: Tensor, inputdimensions: Any = None) -> Tensor:
    """Return the features of all inputs side by side, in float32; inputs of other lengths are cut or filled up."""
    if inputdimensions is None:
        raise ShapeError("inputdimensions is missing", "attr_missing")
    counts = attributes.constants("inputdimensions", list(inputdimensions))
    if not X or len(counts) != len(X):
        raise ShapeError(f"there are {len(X)} inputs of {len(counts)} dimensions", "length_mismatch")
    parts = [_samples(x) for x in X]
    fitting = [(x.shape[0], parts[0].shape[0]) for x in parts[1:]]
    parts[0] = demanding(parts[0], "{} samples, not {}", fitting)
    if all(x.shape[1] == n for x, n in zip(parts, counts, strict=True)):
        return concatenate([cast_to(x, _FLOAT) for x in parts], 1)
    return whole(
        "feature_vectorizer",
        parts,
        (parts[0].shape[0], sum(counts)),
        attributes=[("counts", tuple(counts))],
        dtype=_FLOAT,
    )


def _samples(x: Tensor) -> Tensor:
    """Return the features of each sample as a row; a vector is one sample."""
    if require_rank("FeatureVectorizer", x, 1) == 1:
        return reshape(x, (1, x.shape[0]))
    return x if x.rank == 2 else reshape(x, (x.shape[0], math.prod(x.shape[1:])))
