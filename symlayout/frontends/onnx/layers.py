"""ONNX's layers with states, attention, dropout, random values and losses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import along_axis
from symlayout.compute.whole import whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.operator import is_known, known, operator
from symlayout.frontends.onnx.shape_values import dims_of
from symlayout.frontends.rank import require_rank
from symlayout.ops.broadcast import broadcast_to
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant

_LAYER = {
    "activations": "Names of functions.",
    "activation_alpha": "Coefficients of the functions.",
    "activation_beta": "Coefficients of the functions.",
    "clip": "The largest absolute value of what functions get.",
    "hidden_size": "The number of values of a state.",
    "input_forget": "Whether the input gate follows from the forget gate.",
    "layout": "0: time is the first axis; 1: the batch is.",
    "linear_before_reset": "Where the reset gate is applied.",
    "output_sequence": "Has no effect since opset 7.",
}


def _layer(
    name: str, xs: Sequence[Tensor | None], states: int, hidden: Any, direction: str, layout: Any, given: Any, n: int
) -> Tensor | list[Tensor]:
    X, R = xs[0], xs[2]
    assert X is not None
    assert R is not None
    require_rank(name, X, 3, 3)
    require_rank(name, R, 3, 3)
    mode = attributes.choice("direction", direction, ("forward", "reverse", "bidirectional"))
    ways, size = 2 if mode == "bidirectional" else 1, R.shape[2] if hidden is None else hidden
    batch_first = attributes.flag("layout", layout)
    time, batch = (X.shape[1], X.shape[0]) if batch_first else X.shape[:2]
    every = (batch, time, ways, size) if batch_first else (time, ways, batch, size)
    last = (batch, ways, size) if batch_first else (ways, batch, size)
    present = [
        ("given", [x is not None for x in xs]),
        ("direction", mode),
        ("layout", batch_first),
        *sorted(given.items()),
    ]
    operands = [x for x in xs if x is not None]
    found = [
        whole(name, operands, shape, attributes=[*present, ("output", k)], dtype=X.dtype)
        for k, shape in enumerate([every, *[last] * states][:n])
    ]
    return found if n > 1 else found[0]


@operator(
    "RNN", example=("T, N, C; 1, 8, C; 1, 8, 8", "hidden_size=8", "(T, 1, N, 8)"), kinds="rank, bad_mode", about=_LAYER
)
def rnn(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    hidden_size: Any = None,
    direction: str = "forward",
    layout: Any = 0,
    activations: Any = ("Tanh",),
    activation_alpha: Any = (),
    activation_beta: Any = (),
    clip: Any = None,
    output_sequence: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the states of a recurrent layer at all times, and the last state."""
    given = {"activations": activations, "alpha": activation_alpha, "beta": activation_beta, "clip": clip}
    xs = (X, W, R, B, sequence_lens, initial_h)
    return _layer("RNN", xs, 1, hidden_size, direction, layout, given, outputs)


@operator(
    "GRU",
    example=("T, N, C; 1, 24, C; 1, 24, 8", "hidden_size=8", "(T, 1, N, 8)"),
    kinds="rank, bad_mode",
    about=_LAYER,
)
def gru(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    hidden_size: Any = None,
    direction: str = "forward",
    layout: Any = 0,
    linear_before_reset: Any = 0,
    activations: Any = (),
    activation_alpha: Any = (),
    activation_beta: Any = (),
    clip: Any = None,
    output_sequence: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the states of a gated recurrent layer at all times, and the last state."""
    given = {"activations": activations, "alpha": activation_alpha, "beta": activation_beta, "clip": clip}
    given["linear"] = attributes.flag("linear_before_reset", linear_before_reset)
    xs = (X, W, R, B, sequence_lens, initial_h)
    return _layer("GRU", xs, 1, hidden_size, direction, layout, given, outputs)


@operator(
    "LSTM",
    example=("T, N, C; 1, 32, C; 1, 32, 8", "hidden_size=8", "(T, 1, N, 8)"),
    kinds="rank, bad_mode",
    about=_LAYER,
)
def lstm(
    X: Tensor,
    W: Tensor,
    R: Tensor,
    B: Tensor | None = None,
    sequence_lens: Tensor | None = None,
    initial_h: Tensor | None = None,
    initial_c: Tensor | None = None,
    P: Tensor | None = None,
    hidden_size: Any = None,
    direction: str = "forward",
    layout: Any = 0,
    input_forget: Any = 0,
    activations: Any = (),
    activation_alpha: Any = (),
    activation_beta: Any = (),
    clip: Any = None,
    output_sequence: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the outputs of a layer of long short-term memory at all times, the last one, and the last cell."""
    given = {"activations": activations, "alpha": activation_alpha, "beta": activation_beta, "clip": clip}
    given["forget"] = attributes.flag("input_forget", input_forget)
    xs = (X, W, R, B, sequence_lens, initial_h, initial_c, P)
    return _layer("LSTM", xs, 2, hidden_size, direction, layout, given, outputs)


@operator(
    "Dropout",
    example=("N, C", "", "(N, C)"),
    kinds="attr_dtype",
    about={
        "ratio": "The part of elements that becomes 0 in training.",
        "training_mode": "Whether elements are dropped.",
    },
)
def dropout(
    data: Tensor,
    ratio: Tensor | Any = None,
    training_mode: Tensor | Any = None,
    seed: Any = None,
    is_test: Any = None,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return *data*, and with two *outputs* the mask of the elements that stay.  In training, the result is random."""
    trains = training_mode is not None and not (is_known(training_mode) and not known("t", training_mode).any())
    none = ratio is not None and is_known(ratio) and not known("ratio", ratio).any()
    if trains and not none:
        xs = [x for x in (data, ratio, training_mode) if isinstance(x, Tensor)]
        made = [
            whole("dropout", xs, data.shape, dtype=dtype, random=True, attributes=[("output", k)])
            for k, dtype in enumerate((data.dtype, np.dtype(bool))[:outputs])
        ]
    else:
        made = [data, broadcast_to(constant(np.ones((), bool)), data.shape)][:outputs]
    return made if outputs > 1 else made[0]


def _drawn(name: str, xs: Sequence[Tensor], shape: Sequence[Any], dtype: Any, given: dict[str, Any]) -> Tensor:
    return whole(name, xs, shape, dtype=dtype, random=True, attributes=sorted(given.items()))


_RANDOM = {
    "mean": "The mean.",
    "scale": "The standard deviation.",
    "low": "The lower limit.",
    "high": "The upper limit.",
    "sample_size": "How many are drawn for each row.",
}


@operator("RandomNormal", example=("", "shape=(2, 3)", "(2, 3)"), kinds="attr_dtype", about=_RANDOM)
def random_normal(shape: Any, mean: float = 0.0, scale: float = 1.0, dtype: Any = 1, seed: Any = None) -> Tensor:
    """Return values of a normal distribution."""
    given = {"mean": mean, "scale": scale}
    return _drawn("RandomNormal", [], dims_of("shape", shape), of_number("dtype", dtype), given)


@operator("RandomUniform", example=("", "shape=(2, 3)", "(2, 3)"), kinds="attr_dtype", about=_RANDOM)
def random_uniform(shape: Any, low: float = 0.0, high: float = 1.0, dtype: Any = 1, seed: Any = None) -> Tensor:
    """Return values of a uniform distribution."""
    given = {"low": low, "high": high}
    return _drawn("RandomUniform", [], dims_of("shape", shape), of_number("dtype", dtype), given)


def _like(input: Tensor, dtype: Any) -> Any:
    return input.dtype if dtype is None else of_number("dtype", dtype)


@operator("RandomNormalLike", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def random_normal_like(
    input: Tensor, mean: float = 0.0, scale: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Return values of a normal distribution, of the shape of *input*."""
    return _drawn("RandomNormalLike", [input], input.shape, _like(input, dtype), {"mean": mean, "scale": scale})


@operator("RandomUniformLike", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def random_uniform_like(
    input: Tensor, low: float = 0.0, high: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Return values of a uniform distribution, of the shape of *input*."""
    return _drawn("RandomUniformLike", [input], input.shape, _like(input, dtype), {"low": low, "high": high})


@operator("Bernoulli", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def bernoulli(input: Tensor, dtype: Any = None, seed: Any = None) -> Tensor:
    """Return 0 or 1, with the probability of 1 that each element has."""
    return _drawn("Bernoulli", [input], input.shape, _like(input, dtype), {})


@operator("Multinomial", example=("N, C", "sample_size=4", "(N, 4)"), kinds="rank, attr_dtype", about=_RANDOM)
def multinomial(input: Tensor, sample_size: Any = 1, dtype: Any = 6, seed: Any = None) -> Tensor:
    """Return numbers of columns, drawn with the logarithms of probabilities that each row has."""
    require_rank("Multinomial", input, 2, 2)
    count = attributes.scalar("sample_size", sample_size, 0)
    return _drawn("Multinomial", [input], (input.shape[0], count), of_number("dtype", dtype), {})


_ATTENTION = {
    "is_causal": "Whether a query sees no later keys.",
    "kv_num_heads": "The number of heads of keys and values, for inputs of rank 3.",
    "q_num_heads": "The number of heads of queries, for inputs of rank 3.",
    "qk_matmul_output_mode": "What the fourth output is.",
    "softcap": "The limit of the scores; 0 is none.",
    "softmax_precision": "The number of the element type of the softmax.",
    "scale": "The factor of the scores; None is the root of the inverse head size.",
    "left_window_size": "How many earlier keys a query sees; -1 is all.",
    "right_window_size": "How many later keys a query sees; -1 is all.",
}


@operator(
    "Attention",
    example=("N, 8, S, D; N, 8, T, D; N, 8, T, E", "", "(N, 8, S, E)"),
    kinds="rank, attr_missing",
    about=_ATTENTION,
)
def attention(
    Q: Tensor,
    K: Tensor,
    V: Tensor,
    attn_mask: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    nonpad_kv_seqlen: Tensor | None = None,
    is_causal: Any = 0,
    kv_num_heads: Any = None,
    q_num_heads: Any = None,
    qk_matmul_output_mode: Any = 0,
    scale: Any = None,
    softcap: float = 0.0,
    softmax_precision: Any = None,
    left_window_size: Any = -1,
    right_window_size: Any = -1,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return scaled dot-product attention; then the keys and the values with those of the past, and the scores."""
    rank = require_rank("Attention", Q, 3, 4)
    n, s, t = Q.shape[0], Q.shape[-2], K.shape[-2]
    if rank == 4:
        heads, kv_heads, head, value = Q.shape[1], K.shape[1], K.shape[3], V.shape[3]
        y: tuple[Any, ...] = (n, heads, s, value)
    else:
        if q_num_heads is None or kv_num_heads is None:
            raise ShapeError("inputs of rank 3 need q_num_heads and kv_num_heads", "attr_missing")
        heads, kv_heads = attributes.constants("num_heads", [q_num_heads, kv_num_heads])
        head, value = (_part(x.shape[2], kv_heads) for x in (K, V))
        y = (n, s, heads * value)
    total = t if past_key is None else past_key.shape[2] + t
    shapes: list[tuple[Any, ...]] = [y, (n, kv_heads, total, head), (n, kv_heads, total, value), (n, heads, s, total)]
    optional = (attn_mask, past_key, past_value, nonpad_kv_seqlen)
    xs = [Q, K, V, *(x for x in optional if x is not None)]
    given = [
        ("causal", bool(is_causal)),
        ("heads", (q_num_heads, kv_num_heads)),
        ("mode", qk_matmul_output_mode),
        ("scale", scale),
        ("softcap", float(softcap)),
        ("precision", softmax_precision),
        ("windows", (left_window_size, right_window_size)),
        ("given", [x is not None for x in optional]),
    ]
    found = [whole("attention", xs, e, attributes=[*given, ("output", k)]) for k, e in enumerate(shapes[:outputs])]
    return found if outputs > 1 else found[0]


def _part(n: Any, count: int) -> Any:
    return n // count if isinstance(n, int) else n / count


@operator(
    "RotaryEmbedding",
    example=("N, 8, S, 64; S, 32; S, 32", "", "(N, 8, S, 64)"),
    kinds="rank",
    about={
        "interleaved": "Whether pairs are neighbours.",
        "num_heads": "The number of heads, for an input of rank 3.",
        "rotary_embedding_dim": "How many elements turn; 0 is all.",
    },
)
def rotary_embedding(
    X: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    position_ids: Tensor | None = None,
    interleaved: Any = 0,
    num_heads: Any = 0,
    rotary_embedding_dim: Any = 0,
) -> Tensor:
    """Return *X* with pairs of elements turned by the angle of their position."""
    require_rank("RotaryEmbedding", X, 3, 4)
    xs = [X, cos_cache, sin_cache, *([] if position_ids is None else [position_ids])]
    given = [("interleaved", interleaved), ("heads", num_heads), ("dim", rotary_embedding_dim)]
    return whole("rotary_embedding", xs, X.shape, attributes=given)


_LOSS = {"ignore_index": "The class that does not count.", "reduction": '``"none"``, ``"sum"`` or ``"mean"``.'}


def _loss(name: str, x: Tensor, labels: Tensor, weight: Tensor | None, ignore: Any, reduction: str) -> Tensor:
    mode = attributes.choice("reduction", reduction, ("none", "sum", "mean"))
    require_rank(name, x, 2)
    require_rank(name, labels, x.rank - 1, x.rank - 1)
    xs = [x, labels, *([] if weight is None else [weight])]
    given = [("ignore", ignore), ("reduction", mode)]
    return whole(name, xs, labels.shape if mode == "none" else (), attributes=given, dtype=x.dtype)


@operator("NegativeLogLikelihoodLoss", example=("N, C; N", "", "()"), kinds="rank, bad_mode", about=_LOSS)
def negative_log_likelihood_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: Any = None, reduction: str = "mean"
) -> Tensor:
    """Return the loss of logarithms of probabilities against classes."""
    return _loss("NegativeLogLikelihoodLoss", input, target, weight, ignore_index, reduction)


@operator("SoftmaxCrossEntropyLoss", example=("N, C; N", "", "()"), kinds="rank, bad_mode", about=_LOSS)
def softmax_cross_entropy_loss(
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    ignore_index: Any = None,
    reduction: str = "mean",
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the loss of scores against classes, and with two *outputs* the logarithm of the softmax."""
    logarithm = along_axis.along(scores, [1], along_axis.log_softmax)
    loss = _loss("NegativeLogLikelihoodLoss", logarithm, labels, weights, ignore_index, reduction)
    return [loss, logarithm] if outputs > 1 else loss
