"""PyTorch's layers: products, normalizations, attention and recurrent ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute import along_axis, contractions, normalization
from symlayout.compute.demands import demanding, nonempty, spread
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx import products
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.onnx.transformer_layers import attention
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError, find
from symlayout.frontends.torch.along_axes import standardized
from symlayout.ops.axes import expand_dims, squeeze, swapaxes
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant

KINDS = "rank, size_mismatch, length_mismatch, attr_dtype, bad_axis, not_declared, overflow"
ABOUT = {
    "N": "The batch, as torch counted it.",
    "C": "The channels, as torch counted them.",
    "HxW": "The other elements, as torch counted them.",
    "alpha": "The factor of the product.",
    "attn_mask": "What is added to the scores; truth values say which keys are seen.",
    "batch_first": "Whether the first axis is the batch.",
    "beta": "The factor of *input*.",
    "bias": "What is added.",
    "bidirectional": "Whether there is a second direction.",
    "cudnn_enable": "Has no effect.",
    "cudnn_enabled": "Has no effect.",
    "dropout": "Has no effect on inference.",
    "dropout_p": "0, for inference.",
    "enable_gqa": "Whether heads of queries share heads of keys.",
    "eps": "What is added to the variance.",
    "equation": "Letters for the axes of each operand, and of the result after ``->``.",
    "group": "The number of groups.",
    "has_biases": "Whether there are biases.",
    "is_causal": "Whether a query sees no keys after its own.",
    "momentum": "Has no effect on inference.",
    "normalized_shape": "The extents of the last axes.",
    "num_groups": "The number of groups of channels.",
    "num_layers": "The number of layers.",
    "path": "Has no effect.",
    "scale": "The factor of the scores; None is the root of the inverse head size.",
    "train": "False, for inference.",
    "training": "False, for inference.",
    "use_input_stats": "Whether mean and variance are those of *input*.",
}


def _scaled(x: Tensor, factor: Any) -> Tensor:
    return x if factor == 1 else products.scaled(x, float(factor))


@operator("torch:linear", example=("N, T, C; M, C; M", "", "(N, T, M)"), kinds=KINDS, about=ABOUT)
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return the product of the last axis with weights (out, in), plus the bias."""
    require_rank("linear", weight, 1, 2)
    made = contractions.matmul(input, swapaxes(weight, 0, 1) if weight.rank == 2 else weight)
    return made if bias is None else apply("Add", made, spread(bias, made.shape))


@operator(
    "torch:matmul", "torch:bmm", "torch:mm", "torch:mv", "torch:dot", example=("B, M, K; B, K, N", "", "(B, M, N)"),
    kinds=KINDS,
)  # fmt: skip
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Return the matrix product, whose first axes are broadcast together."""
    return contractions.matmul(input, other)


@operator("torch:addmm", "torch:baddbmm", example=("N; M, K; K, N", "", "(M, N)"), kinds=KINDS, about=ABOUT)
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Return *beta* times *input* plus *alpha* times the matrix product."""
    made = _scaled(contractions.matmul(mat1, mat2), alpha)
    return made if beta == 0 else apply("Add", made, spread(_scaled(input, beta), made.shape))


@operator(
    "torch:einsum", example=("B, I, K; B, K, J", 'equation="bik,bkj->bij"', "(B, I, J)"), kinds=KINDS, about=ABOUT
)
def einsum(*tensors: Tensor, equation: Any, path: Any = None) -> Tensor:
    """Return a sum of products over the letters that the result lacks."""
    made: Tensor = products.einsum(*tensors, equation=equation)
    return made


@operator("torch:outer", example=("N; M", "", "(N, M)"), kinds=KINDS)
def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Return the products of each element of one vector with each of another one."""
    for x in (input, vec2):
        require_rank("outer", x, 1, 1)
    return apply("Mul", expand_dims(input, 1), vec2)


def _by_channel(x: Tensor, p: Tensor | None) -> Tensor | None:
    """Return numbers of which there is one for each channel, with the axes of *x*."""
    if p is None:
        return None
    p = require_shape("a parameter by channel", p, (x.shape[1],))
    return expand_dims(p, list(range(1, x.rank - 1))) if x.rank > 2 else p


def _with_weights(made: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    made = made if weight is None else apply("Mul", made, weight)
    return made if bias is None else apply("Add", made, bias)


def _inference(name: str, flag: Any) -> None:
    if attributes.flag(name, flag):
        raise NotDeclaredError(f"{name} is true: training is not declared")


@operator("torch:batch_norm", example=("N, C, H; C; C; C; C", "", "(N, C, H)"), kinds=KINDS, about=ABOUT)
def batch_norm(
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    training: Any = False,
    momentum: Any = 0.1,
    eps: Any = 1e-5,
    cudnn_enabled: Any = False,
) -> Tensor:
    """Return *input* minus a mean for each channel, divided by the deviation; *weight* and *bias* are applied after."""
    _inference("training", training)
    require_rank("batch_norm", input, 2)
    if running_mean is None or running_var is None:
        raise NotDeclaredError("a batch normalisation without statistics")
    given = [_of_channels(p, input, k % 2 == 0) for k, p in enumerate((weight, bias))]
    for p in (running_mean, running_var):
        given.append(require_shape("a parameter by channel", p, (input.shape[1],)))
    return normalization.batch_norm(input, *given, float(eps))


def _of_channels(p: Tensor | None, x: Tensor, one: bool) -> Tensor:
    """Return numbers of which there is one for each channel; those that are left out are 1 or 0."""
    if p is not None:
        return require_shape("a parameter by channel", p, (x.shape[1],))
    return broadcast_to(constant(np.full((1,), int(one), x.dtype or np.float32), "parameter"), (x.shape[1],))


@operator(
    "torch:_native_batch_norm_legit_no_training", example=("N, C; C; C; C; C", "momentum=0.1, eps=1e-5",
    "[(N, C), (0,), (0,)]"), kinds=KINDS, about=ABOUT,
)  # fmt: skip
def native_batch_norm(
    input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, running_mean: Tensor | None = None,
    running_var: Tensor | None = None, momentum: Any = 0.1, eps: Any = 1e-5,
) -> list[Tensor]:  # fmt: skip
    """Return the batch normalisation of inference, and two tensors without elements."""
    made = batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)
    nothing = constant(np.zeros(0, np.float32), "nothing")
    return [made, nothing, nothing]


@operator("torch:layer_norm", example=("N, S, 8", "normalized_shape=[8]", "(N, S, 8)"), kinds=KINDS, about=ABOUT)
def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: Any = 1e-5,
    cudnn_enable: Any = True,
) -> Tensor:  # fmt: skip
    """Return *input* minus its mean over the last axes, divided by its deviation; then *weight* and *bias*."""
    sizes = attributes.fill("normalized_shape", attributes.listed("normalized_shape", normalized_shape), 1)
    first = input.rank - len(sizes)
    if not sizes or first < 0:
        raise ShapeError(f"layer_norm has {len(sizes)} extents for rank {input.rank}", "rank")
    x = demanding(input, "an extent of {}, not {}", list(zip(input.shape[first:], sizes, strict=True)))
    weight, bias = (None if p is None else require_shape("a parameter", p, tuple(sizes)) for p in (weight, bias))
    return _with_weights(standardized(x, list(range(first, x.rank)), eps), weight, bias)


@operator(
    "torch:rms_norm", example=("N, S, 8", "normalized_shape=[8], eps=1e-5", "(N, S, 8)"), kinds=KINDS, about=ABOUT
)
def rms_norm(input: Tensor, normalized_shape: Any, weight: Tensor | None = None, eps: Any = None) -> Tensor:
    """Return *input* divided by the root of its mean square over the last axes, times *weight*."""
    if eps is None:
        raise NotDeclaredError("rms_norm without eps, which is that of the element type")
    sizes = attributes.fill("normalized_shape", attributes.listed("normalized_shape", normalized_shape), 1)
    first = input.rank - len(sizes)
    if not sizes or first < 0:
        raise ShapeError(f"rms_norm has {len(sizes)} extents for rank {input.rank}", "rank")
    axes = range(first, input.rank)
    x = nonempty(demanding(input, "an extent of {}, not {}", list(zip(input.shape[first:], sizes, strict=True))), axes)
    made = along_axis.along(x, axes, normalization.root_mean_square_normalized, (("epsilon", float(eps)),))
    return _with_weights(made, weight, None)


@operator("torch:group_norm", example=("N, 4*c, H", "num_groups=4", "(N, 4*c, H)"), kinds=KINDS, about=ABOUT)
def group_norm(
    input: Tensor, num_groups: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: Any = 1e-5,
    cudnn_enabled: Any = True,
) -> Tensor:  # fmt: skip
    """Return each group of channels minus its mean, divided by its deviation; then *weight* and *bias* by channel."""
    require_rank("group_norm", input, 2)
    groups = attributes.constant("num_groups", num_groups)
    n, c, *spatial = input.shape
    if groups < 1 or (isinstance(c, int) and c % groups):
        raise ShapeError(f"{c} channels are no {groups} groups", "non_divisible")
    each = c // groups if isinstance(c, int) else c / groups
    parts = reshape(input, (n, groups, each, *spatial))
    made = reshape(standardized(parts, list(range(2, parts.rank)), eps), input.shape)
    return _with_weights(made, _by_channel(input, weight), _by_channel(input, bias))


@operator(
    "torch:instance_norm", example=("N, C, H; C; C", "use_input_stats=True", "(N, C, H)"), kinds=KINDS, about=ABOUT
)
def instance_norm(
    input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, running_mean: Tensor | None = None,
    running_var: Tensor | None = None, use_input_stats: Any = True, momentum: Any = 0.1, eps: Any = 1e-5,
    cudnn_enabled: Any = True,
) -> Tensor:  # fmt: skip
    """Return each channel of each image minus its mean, divided by its deviation; then *weight* and *bias*."""
    require_rank("instance_norm", input, 3)
    if not attributes.flag("use_input_stats", use_input_stats):
        return batch_norm(input, weight, bias, running_mean, running_var, eps=eps)
    if running_mean is not None or running_var is not None:
        raise NotDeclaredError("an instance normalisation that writes statistics")
    made = standardized(input, list(range(2, input.rank)), eps)
    return _with_weights(made, _by_channel(input, weight), _by_channel(input, bias))


@operator(
    "torch:scaled_dot_product_attention", example=("N, 8, T, 16; N, 8, S, 16; N, 8, S, 16", "", "(N, 8, T, 16)"),
    kinds=KINDS, about=ABOUT,
)  # fmt: skip
def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: Any = 0.0,
    is_causal: Any = False, scale: Any = None, enable_gqa: Any = False,
) -> Tensor:  # fmt: skip
    """Return the values of the keys, each weighted by the softmax of its product with the query."""
    if dropout_p != 0:
        raise NotDeclaredError("attention with dropout")
    rank = require_rank("scaled_dot_product_attention", query, 3, 4)
    for x in (key, value):
        require_rank("scaled_dot_product_attention", x, rank, rank)
    xs = [query, key, value] if rank == 4 else [expand_dims(x, 1) for x in (query, key, value)]
    if attn_mask is not None and rank == 3 and attn_mask.rank == 3:
        attn_mask = expand_dims(attn_mask, 1)
    if rank == 4 and not attributes.flag("enable_gqa", enable_gqa):
        xs[0] = demanding(xs[0], "{} heads of queries, {} of keys", [(xs[0].shape[1], xs[1].shape[1])])
    q, k, v = xs
    made = attention(q, k, v, attn_mask, is_causal=int(attributes.flag("is_causal", is_causal)), scale=scale)
    assert isinstance(made, Tensor)
    return made if rank == 4 else squeeze(made, 1)


_GATES = {"lstm": (4, (0, 3, 1, 2)), "gru": (3, (1, 0, 2)), "rnn_tanh": (1, (0,)), "rnn_relu": (1, (0,))}
"""For each layer the number of its gates, and which of torch's are ONNX's, in its order."""


def _ordered(name: str, w: Tensor) -> Tensor:
    """Return weights with their gates in ONNX's order, for one direction."""
    gates, order = _GATES[name]
    if order == (0,):
        return w
    n = w.shape[0]
    if not isinstance(n, int) or n % gates:
        raise ShapeError(f"{n} rows are no {gates} gates", "non_divisible")
    size = n // gates
    return concatenate([getitem(w, (slice(k * size, (k + 1) * size),)) for k in order], 0)


def _recurrent(name: str, tensors: tuple[Tensor, ...], states: int, given: dict[str, Any]) -> list[Tensor]:
    _inference("train", given["train"])
    x, *rest = tensors
    require_rank(name, x, 3, 3)
    first, weights = rest[:states], rest[states:]
    ways = 2 if attributes.flag("bidirectional", given["bidirectional"]) else 1
    each = 4 if attributes.flag("has_biases", given["has_biases"]) else 2
    layers = attributes.constant("num_layers", given["num_layers"])
    if layers < 1 or len(weights) != layers * ways * each:
        raise NotDeclaredError(f"{name} has {len(weights)} weights for {layers} layers")
    batch_first = attributes.flag("batch_first", given["batch_first"])
    x = swapaxes(x, 0, 1) if batch_first else x
    function = find("onnx:" + {"lstm": "LSTM", "gru": "GRU"}.get(name, "RNN"))
    last: list[list[Tensor]] = [[] for _ in range(states)]
    for layer in range(layers):
        parts = [weights[(layer * ways + k) * each : (layer * ways + k + 1) * each] for k in range(ways)]
        w, r = (stack([_ordered(name, part[n]) for part in parts], 0) for n in (0, 1))
        b = None
        if each == 4:
            b = stack([concatenate([_ordered(name, part[n]) for n in (2, 3)], 0) for part in parts], 0)
        begin = [getitem(s, (slice(layer * ways, (layer + 1) * ways),)) for s in first]
        size = r.shape[2]
        more: dict[str, Any] = {"direction": "bidirectional" if ways == 2 else "forward", "hidden_size": size}
        if name == "gru":
            more["linear_before_reset"] = 1
        if name == "rnn_relu":
            more["activations"] = ["Relu"] * ways
        y, *ends = function(x, w, r, b, None, *begin, **more, outputs=1 + states)
        y = getitem(y, (slice(None), 0)) if ways == 1 else swapaxes(y, 1, 2)
        x = y if ways == 1 else reshape(y, (*y.shape[:2], y.shape[2] * y.shape[3]))
        for found, end in zip(last, ends, strict=True):
            found.append(end)
    return [swapaxes(x, 0, 1) if batch_first else x, *(e[0] if len(e) == 1 else concatenate(e, 0) for e in last)]


_LAYER = "has_biases=True, num_layers=1, dropout=0.0, train=False, bidirectional=False, batch_first=False"


def _layer(name: str, states: int) -> Any:
    gates = _GATES[name][0]

    def applied(
        *tensors: Tensor, has_biases: Any, num_layers: Any, dropout: Any, train: Any, bidirectional: Any,
        batch_first: Any,
    ) -> list[Tensor]:  # fmt: skip
        given = {"has_biases": has_biases, "num_layers": num_layers, "train": train, "bidirectional": bidirectional}
        return _recurrent(name, tensors, states, {**given, "batch_first": batch_first})

    applied.__name__ = applied.__qualname__ = name
    applied.__doc__ = f"Return the states of {name} at all times, then the last ones; *tensors* are as torch has them."
    one = "1, N, 8; " * states
    example = (f"T, N, C; {one}{8 * gates}, C; {8 * gates}, 8; {8 * gates}; {8 * gates}", _LAYER,
               f"[(T, N, 8){', (1, N, 8)' * states}]")  # fmt: skip
    return operator(f"torch:{name}", example=example, kinds=KINDS, about=ABOUT)(applied)


LAYERS = {name: _layer(name, 2 if name == "lstm" else 1) for name in _GATES}


@operator(
    "torch:dropout", example=("N, C", "p=0.5, train=False", "(N, C)"), kinds=KINDS, about=ABOUT | {"p": "The share."}
)
def dropout(input: Tensor, p: Any = 0.5, train: Any = False) -> Tensor:
    """Return *input*, as inference does."""
    if p != 0:
        _inference("train", train)
    return input
