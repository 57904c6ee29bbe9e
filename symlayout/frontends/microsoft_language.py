"""onnxruntime's operations of language models (domain ``com.microsoft``).

Attention with a cache is known by its shapes, and by what it demands: such a value equals another one of the same
operation, attributes and operands.
"""

from __future__ import annotations

from typing import Any

from symlayout.compute import reductions
from symlayout.compute.demands import demanding, spread
from symlayout.compute.whole import room_of, whole
from symlayout.errors import ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.indexing import gather
from symlayout.frontends.onnx.normalization import layer_normalization
from symlayout.frontends.onnx.operator import AT_LEAST_1, as_tensor, operator
from symlayout.frontends.onnx.transformer_layers import part
from symlayout.frontends.onnx.types import cast
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import fresh
from symlayout.ops.slicing import getitem
from symlayout.tensors.chain import Tensor

_SIZES = "rank, size_mismatch, bad_axis"
_INT32 = 6


@operator(
    "microsoft:EmbedLayerNormalization",
    example=("N, S; N, S; V, D; P, D; T, D; D; D", "", "(N, S, D)"),
    kinds=_SIZES,
    about={
        "input_ids": "The words of each text.",
        "segment_ids": "The segment of each word.",
        "word_embedding": "A row for each word.",
        "position_embedding": "A row for each position.",
        "segment_embedding": "A row for each segment.",
        "gamma": "A factor for each element of the last axis.",
        "beta": "What is added for each element of the last axis.",
        "mask": "1 for each word that counts.",
        "position_ids": "The position of each word; without them words stand in order.",
        "mask_index_type": "Whether the second output counts the words of a text.",
    },
)
def embed_layer_normalization(
    input_ids: Tensor,
    segment_ids: Tensor | None = None,
    word_embedding: Tensor | None = None,
    position_embedding: Tensor | None = None,
    segment_embedding: Tensor | None = None,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    mask: Tensor | None = None,
    position_ids: Tensor | None = None,
    epsilon: float = 1e-12,
    mask_index_type: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the layer normalisation of the sum of the rows of words, positions and segments.

    Other outputs are the number of words of each text that count, and the sum.
    """
    name = "EmbedLayerNormalization"
    require_rank(name, input_ids, 2, 2)
    if word_embedding is None or position_embedding is None or gamma is None or beta is None:
        raise ShapeError(f"{name} needs word_embedding, position_embedding, gamma and beta", "attr_missing")
    for x in (segment_ids, word_embedding, position_embedding, segment_embedding, mask, position_ids):
        if x is not None:
            require_rank(name, x, 2, 2)
    for x in (gamma, beta):
        require_rank(name, x, 1, 1)
    length, width = input_ids.shape[1], word_embedding.shape[1]
    widths = [(x.shape[-1], width) for x in (position_embedding, segment_embedding, gamma, beta) if x is not None]
    given = [x.shape for x in (segment_ids, mask) if x is not None]
    sizes = [pair for shape in given for pair in zip(shape, input_ids.shape, strict=True)]
    if position_ids is not None:
        position_ids = spread(
            demanding(position_ids, "{} positions, not {}", [(position_ids.shape[-1], length)]), input_ids.shape
        )
    total = gather(demanding(word_embedding, "rows of {} elements, not {}", widths), input_ids)
    if position_ids is None:
        at_least = [(position_embedding.shape[0], length)]
        placed = getitem(demanding(position_embedding, "{} positions, {} words", at_least=at_least), slice(0, length))
    else:
        placed = gather(position_embedding, position_ids)
    total = apply("Add", demanding(total, "{} words, not {}", sizes), placed)
    if segment_ids is not None and segment_embedding is not None:
        total = apply("Add", total, gather(segment_embedding, segment_ids))
    made = layer_normalization(total, gamma, beta, epsilon=epsilon)
    if outputs == 1 or not isinstance(made, Tensor):
        return made
    if mask is None or attributes.constant("mask_index_type", mask_index_type):
        counted = cast(room_of(input_ids.shape[:1]), to=_INT32)
    else:
        counts = cast(apply("Equal", mask, as_tensor(name, "one", 1, mask)), to=_INT32)
        counted = reductions.reduced(counts, [1], reductions.total, keepdims=False)
    return [made, counted, total][:outputs]


_QUERY = {
    "query": "The queries, with their heads side by side; without keys, then keys and values beside them.",
    "key": "The keys, likewise.",
    "value": "The values, likewise.",
    "past_key": "Keys of the past, with an axis of heads.",
    "past_value": "Values of the past.",
    "seqlens_k": "For each text the number of its keys, less one.",
    "total_sequence_length": "The number of keys, with those of the past.",
    "cos_cache": "The cosines of rotation.",
    "sin_cache": "The sines.",
    "position_ids": "The position of each query.",
    "attention_bias": "What is added to the scores.",
    "head_sink": "A score for each head that no key has.",
    "num_heads": "The number of heads of queries.",
    "kv_num_heads": "The number of heads of keys and values.",
    "scale": "The factor of the scores; 0 is the root of the inverse head size.",
    "softcap": "A bound of the scores; 0 is none.",
    "do_rotary": "Whether queries and keys turn.",
    "rotary_interleaved": "Whether pairs that turn are neighbours.",
    "smooth_softmax": "Whether 1 is added to the sum of exponentials.",
    "local_window_size": "How many keys a query sees; -1 is all before it.",
    "qk_output": "Which scores the fourth output has: then there is no declaration.",
}


@operator(
    "microsoft:GroupQueryAttention",
    example=("N, S, 32; N, S, 16; N, S, 16", "num_heads=4, kv_num_heads=2", "(N, S, 32)"),
    kinds="rank, size_mismatch, attr_missing, non_divisible",
    about=_QUERY,
    allowed={"num_heads": AT_LEAST_1, "kv_num_heads": AT_LEAST_1},
)
def group_query_attention(
    query: Tensor,
    key: Tensor | None = None,
    value: Tensor | None = None,
    past_key: Tensor | None = None,
    past_value: Tensor | None = None,
    seqlens_k: Tensor | None = None,
    total_sequence_length: Tensor | None = None,
    cos_cache: Tensor | None = None,
    sin_cache: Tensor | None = None,
    position_ids: Tensor | None = None,
    attention_bias: Tensor | None = None,
    head_sink: Tensor | None = None,
    num_heads: Any = None,
    kv_num_heads: Any = None,
    scale: float = 0.0,
    softcap: float = 0.0,
    do_rotary: Any = 0,
    rotary_interleaved: Any = 0,
    smooth_softmax: Any = 0,
    local_window_size: Any = -1,
    qk_output: Any = 0,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return causal attention of queries to keys and values, of which each head serves a group of heads of queries.

    Other outputs are the keys and values with those of the past: as many as the number of keys, or as the past has room
    for, which is a new dim.
    """
    name = "GroupQueryAttention"
    if num_heads is None or kv_num_heads is None:
        raise ShapeError(f"{name} needs num_heads and kv_num_heads", "attr_missing")
    heads, groups = (attributes.constant("heads", n) for n in (num_heads, kv_num_heads))
    if heads % groups:
        raise ShapeError(f"{heads} heads are no multiple of {groups}", "non_divisible")
    require_rank(name, query, 3, 3)
    batch, _, width = query.shape
    size = part(width, heads if key is not None else heads + 2 * groups)
    if outputs > 3 or attributes.constant("qk_output", qk_output):
        raise NotDeclaredError(f"{name} has no declaration for scores as an output", result=None)
    fitting: list[tuple[Any, Any]] = []
    for x in (key, value):
        if x is not None:
            require_rank(name, x, 3, 3)
            fitting += zip(x.shape, (batch, query.shape[1], groups * size), strict=True)
    for x in (past_key, past_value):
        if x is not None:
            require_rank(name, x, 4, 4)
            fitting += [(x.shape[0], batch), (x.shape[1], groups), (x.shape[3], size)]
    if seqlens_k is not None:
        require_rank(name, seqlens_k, 1)
        fitting += [(seqlens_k.shape[0], batch)]
    query = demanding(query, "an extent of {}, not {}", fitting)
    read = [key, value, past_key, past_value, seqlens_k, total_sequence_length, cos_cache, sin_cache, position_ids]
    read += [attention_bias, head_sink]
    turns, smooth = attributes.flag("do_rotary", do_rotary), attributes.flag("smooth_softmax", smooth_softmax)
    given = [
        ("operands", tuple(x is not None for x in read)),
        ("heads", (heads, groups)),
        ("factors", (float(scale), float(softcap))),
        ("rotation", (turns, attributes.flag("rotary_interleaved", rotary_interleaved))),
        ("softmax", (smooth, attributes.constant("local_window_size", local_window_size))),
    ]
    xs, cache = [query, *(x for x in read if x is not None)], (batch, groups, fresh("keys", 0), size)
    shapes = [(batch, query.shape[1], heads * size), cache, cache][:outputs]
    found = [
        whole("group_query_attention", xs, shape, attributes=[*given, ("output", k)], dtype=query.dtype)
        for k, shape in enumerate(shapes)
    ]
    return found[0] if outputs == 1 else found
