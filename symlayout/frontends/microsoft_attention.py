"""onnxruntime's fused attention (domain ``com.microsoft``), made of products, masks and a softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import along_axis, contractions
from symlayout.compute.demands import demanding, spread
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply, where
from symlayout.frontends.onnx.operator import as_tensor, operator
from symlayout.frontends.onnx.products import scaled
from symlayout.frontends.onnx.transformer_layers import part, rotary_embedding
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims, swapaxes
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant

_KINDS = "rank, size_mismatch, attr_missing, overflow"
_ABOUT = {
    "num_heads": "The number of heads.",
    "scale": "The factor of the scores; 0 is the root of the inverse head size.",
    "mask_filter_value": "What is added to the score of a key that a mask leaves out.",
    "unidirectional": "Whether a query sees no later keys: then there is no declaration.",
    "bias": "What is added to queries, keys and values, one after the other.",
    "attention_bias": "What is added to the scores.",
}


@operator(
    "microsoft:Attention",
    example=("N, S, 32; 32, 96; 96", "num_heads=4", "(N, S, 32)"),
    kinds=_KINDS,
    about=_ABOUT
    | {
        "weights": "A matrix for queries, keys and values, side by side.",
        "mask_index": "Which keys are seen: (batch, keys) or (batch, queries, keys); others have no declaration.",
        "past": "Keys and values of the past, as one tensor.",
        "qkv_hidden_sizes": "The extents of queries, keys and values; None is three equal ones.",
        "do_rotary": "Whether queries and keys turn: then there is no declaration.",
    },
)
def attention(
    input: Tensor,
    weights: Tensor,
    bias: Tensor | None = None,
    mask_index: Tensor | None = None,
    past: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    num_heads: Any = None,
    qkv_hidden_sizes: Any = None,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    unidirectional: Any = 0,
    do_rotary: Any = 0,
    past_present_share_buffer: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return attention of the products of *input* and *weights*; then keys and values with those of the past."""
    require_rank("Attention", input, 3, 3)
    require_rank("Attention", weights, 2, 2)
    if qkv_hidden_sizes is None:
        sizes = [part(weights.shape[1], 3)] * 3
    else:
        sizes = attributes.constants("qkv_hidden_sizes", qkv_hidden_sizes)
    result = input.dtype, (*input.shape[:2], sizes[-1])
    _refuse("Attention", result, unidirectional, do_rotary, past_present_share_buffer, past_sequence_length)
    weights = require_shape("the weights", weights, (input.shape[2], sum(sizes)))
    projected = contractions.matmul(input, weights)
    if bias is not None:
        projected = apply("Add", projected, require_shape("the bias", bias, (sum(sizes),)))
    q, k, v = _parts(projected, sizes)
    if past is not None:
        if outputs == 1:
            raise ShapeError("Attention with a past has the present as an output, too", "attr_missing")
        past = require_shape("the past", past, (2, *past.shape[1:]))
    pasts = (None, None) if past is None else (getitem(past, 0), getitem(past, 1))
    masks = _masks(mask_index, attention_bias, input.shape[0], mask_filter_value, result)
    y, keys, values = _attended((q, k, v), num_heads, scale, masks, pasts)
    return y if outputs == 1 else [y, stack([keys, values], 0)]


@operator(
    "microsoft:MultiHeadAttention",
    example=("N, S, 32; N, T, 32; N, T, 64", "num_heads=4", "(N, S, 64)"),
    kinds=_KINDS,
    about=_ABOUT
    | {
        "query": "The queries, with their heads side by side.",
        "key": "The keys, likewise, or with an axis of heads before theirs.",
        "value": "The values, likewise.",
        "key_padding_mask": "Which keys are seen: (batch, keys) or (batch, queries, keys); others have no declaration.",
        "past_key": "Keys of the past, with an axis of heads.",
        "past_value": "Values of the past.",
    },
)
def multi_head_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    bias: Tensor | None = None,
    key_padding_mask: Tensor | None = None,
    attention_bias: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    past_sequence_length: Tensor | None = None,
    cache_indirection: Tensor | None = None,
    num_heads: Any = None,
    scale: float = 0.0,
    mask_filter_value: float = -10000.0,
    unidirectional: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return attention of queries to keys and values; then keys and values with those of the past."""
    result = None
    if query.rank == 3 and value is not None and value.rank in (3, 4):
        last = value.shape[2] if value.rank == 3 else value.shape[1] * value.shape[3]
        result = query.dtype, (*query.shape[:2], last)
    _refuse("MultiHeadAttention", result, unidirectional, past_sequence_length, cache_indirection)
    if key is None or value is None or query.rank != 3 or key.rank != value.rank or outputs > 3:
        what = "packed inputs, or for scores as an output"
        raise NotDeclaredError(f"MultiHeadAttention has no declaration for {what}", result=result)
    inputs = [query, key, value]
    if bias is not None:
        if key.rank != 3:
            what = "a bias of keys that have heads"
            raise NotDeclaredError(f"MultiHeadAttention has no declaration for {what}", result=result)
        sizes = [x.shape[2] for x in inputs]
        parts = _parts(require_shape("the bias", bias, (sum(sizes),)), sizes)
        inputs = [apply("Add", x, b) for x, b in zip(inputs, parts, strict=True)]
    masks = _masks(key_padding_mask, attention_bias, query.shape[0], mask_filter_value, result)
    y, keys, values = _attended(inputs, num_heads, scale, masks, (past_key, past_value))
    return y if outputs == 1 else [y, keys, values][:outputs]


@operator(
    "microsoft:RotaryEmbedding",
    example=("N, 8, S, 64; N, S; 128, 32; 128, 32", "", "(N, 8, S, 64)"),
    kinds="rank, size_mismatch",
    about={
        "position_ids": "The position of each token; one number for all has no declaration.",
        "interleaved": "Whether pairs are neighbours.",
        "num_heads": "The number of heads, for an input of rank 3; 0 follows from the caches.",
        "rotary_embedding_dim": "How many elements turn; 0 is all.",
        "is_packed_batching": "Whether tokens of several texts are one axis: then there is no declaration.",
        "scale": "A factor; others than 1 have no declaration.",
    },
)
def rotary_embedding_by_positions(
    input: Tensor,
    position_ids: Tensor,
    cos_cache: Tensor,
    sin_cache: Tensor,
    interleaved: Any = 0,
    num_heads: Any = 0,
    rotary_embedding_dim: Any = 0,
    is_packed_batching: Any = 0,
    scale: float = 1.0,
) -> Tensor:
    """Return *input* with pairs of elements turned by the angle of their position."""
    require_rank("RotaryEmbedding", position_ids, 0, 2)
    for cache in (cos_cache, sin_cache):
        require_rank("RotaryEmbedding", cache, 2, 2)
    if position_ids.rank == 1:
        position_ids = demanding(position_ids, "{} positions, not {}", [(position_ids.shape[0], 1)])
    if position_ids.rank != 2 or scale != 1 or attributes.flag("is_packed_batching", is_packed_batching):
        what = "RotaryEmbedding has a declaration for the position of each token only"
        raise NotDeclaredError(what, result=(input.dtype, input.shape))
    if input.rank == 3 and not num_heads:
        if attributes.constant("rotary_embedding_dim", rotary_embedding_dim):
            raise ShapeError("rotary_embedding_dim needs num_heads", "attr_missing")
        num_heads = part(input.shape[2], 2 * cos_cache.shape[1])
    made: Tensor = rotary_embedding(
        input, cos_cache, sin_cache, position_ids, interleaved, num_heads, rotary_embedding_dim
    )
    return made


def _refuse(name: str, result: tuple[Any, Any] | None, *unsupported: Any) -> None:
    """Raise where one of the arguments is given that change what is computed, and are not declared.

    *result* is the type and shape of the first output, which they do not change.
    """
    if any(x is not None and (isinstance(x, Tensor) or int(x)) for x in unsupported):
        raise NotDeclaredError(
            f"{name} has no declaration for causal masks, rotation and shared buffers", result=result
        )


def _parts(x: Tensor, sizes: Sequence[Any]) -> list[Tensor]:
    """Return slices of the last axis, of these extents, one after the other."""
    if not isinstance(sizes, list | tuple) or len(sizes) != 3:
        raise ShapeError(f"there are {len(sizes)} extents of queries, keys and values", "length_mismatch")
    ends = [0, sizes[0], sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]]
    return [getitem(x, (..., slice(ends[k], ends[k + 1]))) for k in range(3)]


def _masks(
    mask: Tensor | None, bias: Tensor | None, texts: Any, filter_value: float, result: tuple[Any, Any] | None
) -> list[tuple[Tensor, bool]]:
    """Return what is added to scores, each with whether it has a row for each query; a mask has one for each text."""
    found: list[tuple[Tensor, bool]] = []
    if mask is not None:
        if mask.rank not in (2, 3):
            raise NotDeclaredError("attention has no declaration for masks that count keys", result=result)
        mask = demanding(mask, "masks of {} texts, not {}", [(mask.shape[0], texts)])
        seen = apply("Greater", mask, as_tensor("Attention", "none", 0, mask))
        values = (constant(np.float32(v), "mask") for v in (0, filter_value))
        added = where(seen, *values)
        found.append((expand_dims(added, (1, 2) if mask.rank == 2 else 1), mask.rank == 3))
    return found if bias is None else [*found, (bias, True)]


def _attended(
    inputs: Sequence[Tensor],
    num_heads: Any,
    scale: float,
    masks: Sequence[tuple[Tensor, bool]],
    past: Sequence[Tensor | None],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return attention with the heads side by side, and its keys and values with those of the *past*."""
    if num_heads is None:
        raise ShapeError("num_heads is missing", "attr_missing")
    count = attributes.constant("num_heads", num_heads)
    q, k, v = (_heads(x, count) for x in inputs)
    v = require_shape("the values", v, (*v.shape[:2], k.shape[2], v.shape[3]))
    k, v = (x if old is None else concatenate([old, x], 2) for x, old in zip((k, v), past, strict=True))
    size = q.shape[3]
    k = require_shape("the keys", k, (*q.shape[:2], k.shape[2], size))
    v = require_shape("the values", v, (*k.shape[:3], v.shape[3]))
    if not scale and not isinstance(size, int):
        raise NotDeclaredError("attention has no declaration for a scale that depends on a dim")
    scores = scaled(contractions.matmul(q, swapaxes(k, -1, -2)), float(scale) if scale else 1 / math.sqrt(size))
    for mask, by_query in masks:
        require_rank("Attention", mask, 4, 4)
        fitting = (*mask.shape[:2], scores.shape[2] if by_query else 1, scores.shape[3])
        scores = apply("Add", scores, spread(require_shape("a mask", mask, fitting), scores.shape))
    y = contractions.matmul(along_axis.along(scores, [3], along_axis.softmax), v)
    return reshape(swapaxes(y, 1, 2), (y.shape[0], y.shape[2], count * v.shape[3])), k, v


def _heads(x: Tensor, count: int) -> Tensor:
    """Return (batch, time, count*size) as (batch, count, time, size); what has an axis of heads is left as it is."""
    if x.rank == 4:
        return x
    require_rank("Attention", x, 3, 3)
    return swapaxes(reshape(x, (*x.shape[:2], count, part(x.shape[2], count))), 1, 2)
