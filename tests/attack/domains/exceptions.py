"""Where onnxruntime is no judge of the sizes: it departs from the standard's text, or the text is silent."""

from __future__ import annotations

import re
from collections.abc import Callable

from onnx import defs

from tests.attack.one_nodes import OneNode
from tests.attack.runtimes import BEYOND_OF_LRN

_CHECKED_IF_READ = {
    "Concat",
    "DepthToSpace",
    "Gather",
    "GatherElements",
    "GatherND",
    "Pad",
    "Softmax",
    "TopK",
    "RotaryEmbedding",
    "TensorScatter",
    "ScatterND",
    "ScatterElements",
}
_LAYERS = {"RNN", "GRU", "LSTM"}
_BY_FUNCTIONS = {
    "Attention",
    "CausalConvWithState",
    "Einsum",
    "LinearAttention",
    "NegativeLogLikelihoodLoss",
    "SoftmaxCrossEntropyLoss",
    "AffineGrid",
    "RotaryEmbedding",
}


def _reads_nothing(one: OneNode, text: str) -> bool:
    """Return whether an input or a result is empty where the standard's demand does not ask whether it is."""
    given = re.search(r"at {(.*?)}: runs, gives \[(.*?)\]; we refuse", text)
    return given is not None and one.op in _CHECKED_IF_READ and re.search(r"\b0\b", given[1] + given[2]) is not None


def _stretches(one: OneNode, text: str) -> bool:
    """Return whether a function that onnxruntime computes a node by broadcasts what has one shape in the standard."""
    return one.op in _BY_FUNCTIONS and "size_mismatch" in text


def _has_function(one: OneNode, text: str) -> bool:
    """Return whether onnxruntime refuses the types within the function that the standard has for the operator."""
    schema = defs.get_schema(one.op, one.opset, one.domain)
    return "Type Error" in text and (schema.has_function or schema.has_context_dependent_function)


def _has_no_odd_layer(one: OneNode, text: str) -> bool:
    """Return whether onnxruntime refuses a recurrent layer without the size of its state, or with a limit up to 0."""
    said = "during initialization" in text and ("hidden_size" in text or "clip_" in text)
    return one.op in _LAYERS and said


def _leaves_empty_axes(one: OneNode, text: str) -> bool:
    """Return whether an axis is empty, and there is an axis that a Pad leaves as it is."""
    given = re.search(r"at {(.*?)}", text)
    pads, data = one.inputs[1], one.inputs[0]
    if given is None or pads is None or data is None or re.search(r": 0\b", given[1]) is None:
        return False
    ends = pads.reshape(2, -1)
    return ends.shape[1] < data.ndim or bool((ends <= 0).all(0).any())


def _is_op(op: str, part: str = "") -> Callable[[OneNode, str], bool]:
    return lambda one, text: one.op == op and part in text


EXCEPTIONS: dict[str, tuple[str, Callable[[OneNode, str], bool]]] = {
    "onnxruntime does not look at what the standard demands where it reads nothing": ("narrow", _reads_nothing),
    "onnxruntime broadcasts the scales of GroupNormalization, of which the standard has one for each channel": (
        "narrow", _is_op("GroupNormalization", "size_mismatch")),
    "onnxruntime has LRN for odd sizes and positive coefficients only": (
        "wide", lambda one, text: one.op == "LRN" and any(demand in text for demand in BEYOND_OF_LRN)),
    "onnxruntime computes MeanVarianceNormalization by a function that is about float32": (
        "wide", _is_op("MeanVarianceNormalization", "Type Error")),
    "onnxruntime has modes of Resize in version 10 that the standard does not have": (
        "narrow", lambda one, text: one.op == "Resize" and one.opset == 10 and "mode is" in text),
    "onnxruntime has no mode wrap where another axis is empty": (
        "wide", lambda one, text: _is_op("Pad", "Unexpected mode of 3")(one, text) and _leaves_empty_axes(one, text)),
    "onnxruntime broadcasts within functions, reads the first of what is too long, and turns odd heads": (
        "narrow", _stretches),
    "onnxruntime has the attribute saturate for the narrowest floats only": ("wide", _is_op("Cast", "saturate")),
    "onnxruntime has the attribute saturate of CastLike for the narrowest floats only": (
        "wide", _is_op("CastLike", "saturate")),
    "onnxruntime has functions for operands of one type": ("wide", _has_function),
    "onnxruntime has no layers of doubles": (
        "wide", lambda one, text: one.op in _LAYERS and "does not support double" in text),
    "onnxruntime needs the size of a state, and a limit above 0": (
        "wide", _has_no_odd_layer),
    "onnxruntime takes no mask that is shorter than the keys": (
        "wide", _is_op("Attention", "total_sequence_length")),
    "onnxruntime has no frames without a window and a length": (
        "wide", lambda one, text: one.op == "STFT" and "shape.Size() must be" in text),
    "a grid of boxes that is as fine as they are large": (
        "wide", _is_op("RoiAlign", "Integer overflow")),
    "indices below 0, which OneHot has since version 11": ("wide", _is_op("OneHot", "non-negative")),
    "onnxruntime has no least and largest truth value": (
        "wide", lambda one, text: one.op in ("ReduceMax", "ReduceMin") and "for empty set with bool" in text),
}  # fmt: skip


def exceptions(one: OneNode, kind: str, text: str) -> str:
    """Return why onnxruntime does not judge a finding of this kind; an empty text if it does."""
    return next((why for why, (of, holds) in EXCEPTIONS.items() if of == kind and holds(one, text)), "")
