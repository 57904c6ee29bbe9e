"""ONNX's attention: made of products, masks and a softmax, so that proofs see through it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import along_axis, contractions
from symlayout.compute import attention as core
from symlayout.compute.contractions import Spatial
from symlayout.compute.demands import demanding, spread
from symlayout.compute.whole import room_of, where_elements, whole
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.elementwise import apply, where
from symlayout.frontends.onnx.indexing import gather
from symlayout.frontends.onnx.operator import AT_LEAST_0, AT_LEAST_1, as_tensor, is_known, known, operator
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.onnx.windows import with_bias
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.ops.axes import expand_dims, swapaxes
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.ops.slicing import getitem
from symlayout.ops.tile import repeat
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute, constant
from symlayout.tensors.declaration import Body, Places

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


_PRECISIONS = (1, 10, 11, 16)  # the numbers of element types that a softmax may have


_ROW: dict[str, Any] = {
    "example": ("N, 8, S, D; N, 8, T, D; N, 8, T, E", "", "(N, 8, S, E)"),
    "kinds": "rank, attr_missing, size_mismatch",
    "about": _ATTENTION,
    "allowed": {"q_num_heads": AT_LEAST_1, "kv_num_heads": AT_LEAST_1, "qk_matmul_output_mode": range(4)}
    | dict.fromkeys(("left_window_size", "right_window_size"), range(-1, AT_LEAST_0.stop)),
}


@operator("Attention", **_ROW)
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
    for x in (K, V):
        require_rank("Attention", x, rank, rank)
    for past in (past_key, past_value):
        if past is not None:
            require_rank("Attention", past, 4, 4)
    if (past_key is None) != (past_value is None):
        raise ShapeError("past_key and past_value are used together", "attr_missing")
    precision = of_number("softmax_precision", softmax_precision) if softmax_precision in _PRECISIONS else None
    is_open = outputs == 2 or (softmax_precision not in (None, 0) and precision is None)
    is_open |= scale is not None and not scale > 0
    q, k, v = Q, K, V
    if rank == 4:
        counted = [(x.shape[1], n) for x, n in ((Q, q_num_heads), (K, kv_num_heads)) if n is not None]
        q = demanding(q, "there are {} heads, the attribute says {}", counted)
    else:
        if q_num_heads is None or kv_num_heads is None:
            raise ShapeError("inputs of rank 3 need q_num_heads and kv_num_heads", "attr_missing")
        counts = attributes.constants("num_heads", [q_num_heads, kv_num_heads])
        q, k, v = (_heads(x, n) for x, n in zip((Q, K, V), (counts[0], counts[1], counts[1]), strict=True))
    news = k
    if past_key is not None and past_value is not None:
        positions = [(x.shape[2], y.shape[2]) for x, y in ((k, v), (past_key, past_value))]
        k = demanding(k, "{} positions of keys, and {} of values", positions)
        k, v = concatenate([past_key, k], 2), concatenate([past_value, v], 2)
    keys, values = k, v
    heads, kv_heads = q.shape[1], k.shape[1]
    q, values = _alike(q, k, v)
    if nonpad_kv_seqlen is not None:
        nonpad_kv_seqlen = require_shape("nonpad_kv_seqlen", nonpad_kv_seqlen, q.shape[:1])
    some = [(n, 1) for n in (*q.shape, kv_heads, news.shape[2], v.shape[3])]
    what, full = "an extent of {}, where runtimes need {}", []
    if attn_mask is not None and attn_mask.rank and attn_mask.shape[-1] != 1:
        (*_, keys_seen), (*_, every, _) = attn_mask.shape, k.shape
        q = demanding(q, "{} keys, fewer than the {} of the mask", at_least=[(every, keys_seen)])
        full = [] if isinstance(keys_seen, int) and isinstance(every, int) else [(keys_seen, every)]
    q = demanding(q, what, full, some, LEFT_OUT)
    if heads != kv_heads:
        each = part(heads, kv_heads)  # heads of queries that share one of the keys
        keys, values = (repeat(x, each, 1) for x in (k, values))
    if is_open:  # the standard does not say what the scores are, or runtimes refuse that
        open_to = [("scale", scale), ("precision", softmax_precision), ("outputs", outputs)]
        raw = whole("open_scores", [q, keys], (*q.shape[:3], keys.shape[2]), attributes=open_to)
    else:
        raw = contractions.matmul(_scaled(q, scale), swapaxes(_scaled(keys, scale), -1, -2))
    capped = raw
    if softcap > 0:
        limit = as_tensor("Attention", "softcap", float(softcap), raw)
        capped = apply("Mul", apply("Tanh", apply("Div", raw, limit)), limit)
    scores, is_masked = capped, attn_mask is not None
    if attn_mask is not None:
        scores = apply("Add", scores, spread(additive(attn_mask, scores), scores.shape))
    flags = [attributes.flag("is_causal", is_causal), past_key is not None, nonpad_kv_seqlen is not None]
    sides = [int(left_window_size), int(right_window_size)]
    if flags[0] or flags[2] or max(sides) >= 0:
        scores, is_masked = _visible(scores, flags, sides, news, nonpad_kv_seqlen), True
    precise = cast_to(scores, precision)
    function = core.softmax_or_zero if is_masked else along_axis.softmax
    weights = cast_to(along_axis.along(precise, [3], function), scores.dtype)
    y = contractions.matmul(weights, values)
    if rank == 3:
        y = reshape(swapaxes(y, 1, 2), (Q.shape[0], Q.shape[1], heads * v.shape[3]))
    found = [y, k, v, (raw, capped, scores, weights)[int(qk_matmul_output_mode)]]
    return found[:outputs] if outputs > 1 else y


def _with_heads_of_rank_3(*args: Any, **kwargs: Any) -> Tensor | list[Tensor]:
    """Return what `attention` returns, in version 25: inputs of rank 4 have no numbers of heads beside their own."""
    given = inspect.signature(attention).bind(*args, **kwargs).arguments
    rank = require_rank("Attention", given["Q"], 3, 4)
    if rank == 4 and any(given.get(name) is not None for name in ("q_num_heads", "kv_num_heads")):
        raise ShapeError("inputs of rank 4 have q_num_heads or kv_num_heads", "attr_range")
    return attention(*args, **kwargs)


_with_heads_of_rank_3.__signature__ = inspect.signature(attention)  # type: ignore[attr-defined]
attention_25 = operator("Attention-25", **_ROW)(_with_heads_of_rank_3)


def _heads(x: Tensor, count: int) -> Tensor:
    """Return (batch, time, count*size) as (batch, count, time, size)."""
    require_rank("Attention", x, 3, 3)
    return swapaxes(reshape(x, (*x.shape[:2], count, part(x.shape[2], count))), 1, 2)


def _alike(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """Return queries and values that have the batches of the keys; values also have as many heads and times."""
    what = "an extent of {} beside one of {} in the keys"
    q = demanding(q, what, [(q.shape[a], k.shape[a]) for a in (0, 3)])
    return q, demanding(v, what, [(v.shape[a], k.shape[a]) for a in (0, 1, 2)])


def part(n: Any, count: Any) -> Any:
    """Return an extent divided by a number that divides it; `ShapeError` ``non_divisible`` if it does not."""
    if isinstance(count, int) and (count < 1 or (isinstance(n, int) and n % count)):
        raise ShapeError(f"{n} is no multiple of {count}", "non_divisible")
    return n // count if isinstance(n, int) and isinstance(count, int) else n / count


def _scaled(x: Tensor, scale: float | None) -> Tensor:
    """Return *x* times the root of the factor of the scores; its own type rounds the root."""
    size = x.shape[-1]
    if scale is None and size == 0:
        raise NotDeclaredError(f"scale is {scale} for heads of {size} elements, which has no root")
    if scale is None and not isinstance(size, int):
        return along_axis.along(x, [x.rank - 1], core.scaled_by_size)
    factor = math.sqrt(1 / math.sqrt(size) if scale is None else float(scale))
    return apply("Mul", x, as_tensor("Attention", "scale", factor, x))


def additive(mask: Tensor, scores: Tensor) -> Tensor:
    """Return a mask as what is added to scores; keys that it leaves out are not seen."""
    dtype = scores.dtype or np.dtype(np.float32)
    keys = mask.shape[-1] if mask.rank else 1  # OpenVINO writes a 0 without axes where there is no mask
    missing = scores.shape[-1] - keys if keys != 1 else 0
    if mask.dtype not in (None, np.bool_, dtype):
        mask = cast_to(mask, dtype)
    if missing != 0:
        fill = False if mask.dtype == np.bool_ else -math.inf
        mask = pad(mask, [(0, 0)] * (mask.rank - 1) + [(0, missing)], constant_values=fill)
    if mask.dtype != np.bool_:
        return mask
    made: Tensor = where(mask, *(constant(np.asarray(e, dtype), "mask") for e in (0, -math.inf)))
    return made


def _visible(scores: Tensor, flags: Sequence[bool], sides: Sequence[int], news: Tensor, count: Tensor | None) -> Tensor:
    """Return scores, with negative infinity for keys that a query does not see."""
    causal, cached, padded = flags
    views = [scores]
    if count is not None:
        views.append(broadcast_to(expand_dims(count, 1), scores.shape[:2]))
    elif cached:
        views.append(room_of((*scores.shape[:2], news.shape[2])))
    given = (
        ("causal", causal),
        ("left", sides[0]),
        ("right", sides[1]),
        ("cached", cached and not padded),
        ("padded", padded),
    )
    places = (Places(1, axes=(1,), lengths=True),) if padded else ()
    body = Body("visible_scores", core.visible_scores, given, over=True, places=places)
    return compute(body, views, batch=2, result=scores.shape[2:])


@operator(
    "RotaryEmbedding",
    example=("N, 8, S, 64; N, S, 32; N, S, 32", "", "(N, 8, S, 64)"),
    kinds="rank, size_mismatch",
    about={
        "interleaved": "Whether pairs are neighbours.",
        "num_heads": "The number of heads, for an input of rank 3.",
        "rotary_embedding_dim": "How many elements turn; 0 is all.",
    },
    allowed={"num_heads": AT_LEAST_0, "rotary_embedding_dim": AT_LEAST_0},
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
    rank = require_rank("RotaryEmbedding", X, 3, 4)
    neighbours = attributes.flag("interleaved", interleaved)
    x = X
    if rank == 3:
        count = attributes.constant("num_heads", num_heads)
        x = reshape(X, (*X.shape[:2], count, part(X.shape[2], count)))
    sequence = (X.shape[0], X.shape[2 if rank == 4 else 1])
    size = x.shape[-1]
    turning = attributes.constant("rotary_embedding_dim", rotary_embedding_dim) or size
    half = part(turning, 2)
    before = sequence if position_ids is None else cos_cache.shape[:1]
    caches = [require_shape("a cache", c, (*before, half)) for c in (cos_cache, sin_cache)]
    x = demanding(x, "{} elements, fewer than the {} that turn", at_least=[(size, turning)])
    if position_ids is not None:
        require_rank("RotaryEmbedding", position_ids, 2, 2)
        what = "position_ids have an extent of {}, not {}"
        x = demanding(x, what, list(zip(position_ids.shape, sequence, strict=True)))
        x = demanding(x, "{} positions, fewer than {}", at_least=[(before[0], sequence[1])], kind=LEFT_OUT)
        if is_known(position_ids) and (known("position_ids", position_ids) < 0).any():
            raise ShapeError("position_ids are below 0", "attr_range")
        if not is_known(position_ids):
            x = where_elements(x, position_ids, "positions", Places(0, limits=(0, AT_LEAST_0.stop)))
        caches = [gather(c, position_ids, 0) for c in caches]
    head = -2 if rank == 3 else 1
    cos, sin = (expand_dims(c, head) if rank == 3 or c.rank == 3 else c for c in caches)
    turned, rest = getitem(x, (..., slice(0, turning))), getitem(x, (..., slice(turning, None)))
    if neighbours:
        first, second = (getitem(turned, (..., slice(k, None, 2))) for k in (0, 1))
    else:
        first, second = getitem(turned, (..., slice(0, half))), getitem(turned, (..., slice(half, None)))
    cos, sin = (spread(c, first.shape) for c in (cos, sin))
    real = apply("Sub", apply("Mul", cos, first), apply("Mul", sin, second))
    imaginary = apply("Add", apply("Mul", sin, first), apply("Mul", cos, second))
    made = reshape(stack([real, imaginary], -1), turned.shape) if neighbours else concatenate([real, imaginary], -1)
    if turning != size:
        made = concatenate([made, rest], -1)
    return reshape(made, X.shape) if rank == 3 else made


@operator(
    "LinearAttention",
    example=("N, T, 16; N, T, 16; N, T, 8", 'q_num_heads=4, kv_num_heads=4, update_rule="linear"', "(N, T, 8)"),
    kinds="rank, attr_missing, bad_mode",
    about=_ATTENTION
    | {
        "chunk_size": "Has no effect.",
        "update_rule": "How a key changes the state, as the standard spells it.",
        "scale": "The factor of the queries; 0 is the root of the inverse head size.",
    },
    allowed={"q_num_heads": AT_LEAST_1, "kv_num_heads": AT_LEAST_1},
)
def linear_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    past_state: Tensor | None = None,
    decay: Tensor | None = None,
    beta: Tensor | None = None,
    chunk_size: Any = 64,
    kv_num_heads: Any = None,
    q_num_heads: Any = None,
    scale: float = 0.0,
    update_rule: str = "gated_delta",
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return what queries read from a state to which keys add values; with two *outputs* also the last state."""
    for x in (query, key, value):
        require_rank("LinearAttention", x, 3, 3)
    rule = attributes.choice("update_rule", update_rule, ("linear", "gated", "delta", "gated_delta"))
    for name, given_one, needed in (("decay", decay, "gated" in rule), ("beta", beta, "delta" in rule)):
        if (given_one is not None) != needed:
            wrong = "is missing" if needed else "has no meaning"
            raise ShapeError(f"{name} {wrong} where update_rule is {rule}", "attr_missing")
    if q_num_heads is None or kv_num_heads is None:
        raise ShapeError("LinearAttention needs q_num_heads and kv_num_heads", "attr_missing")
    heads = tuple(attributes.constants("num_heads", [q_num_heads, kv_num_heads]))
    part(heads[0], heads[1])
    size, width = part(key.shape[2], heads[1]), part(value.shape[2], heads[1])
    shapes = [(*query.shape[:2], heads[0] * width), (query.shape[0], heads[1], size, width)]
    steps = query.shape[:2]
    some = [(n, 1) for n in (*steps, size, width)]
    query = demanding(query, "an extent of {}, not at least {}", at_least=some, kind=LEFT_OUT)
    query = require_shape("the query", query, (*steps, heads[0] * size))
    key = require_shape("the key", key, (*steps, key.shape[2]))
    value = require_shape("the value", value, (*steps, value.shape[2]))
    past_state = None if past_state is None else require_shape("past_state", past_state, shapes[1])
    decay = None if decay is None else _of_one_of("decay", decay, steps, (heads[1] * size, heads[1]))
    beta = None if beta is None else _of_one_of("beta", beta, steps, (heads[1], 1))
    optional = (past_state, decay, beta)
    xs = [query, key, value, *(x for x in optional if x is not None)]
    given = [("given", [x is not None for x in optional]), ("heads", heads), ("scale", float(scale or 0))]
    types = [query.dtype, query.dtype if past_state is None else past_state.dtype]
    found = [
        whole("linear_attention", xs, shapes[k], function=core.linear_attention, attributes=[*given, ("output", k)],
              dtype=types[k])
        for k in range(outputs)
    ]  # fmt: skip
    return found if outputs > 1 else found[0]


def _of_one_of(what: str, x: Tensor, before: Sequence[Any], counts: tuple[Any, Any]) -> Tensor:
    """Return *x*, which has the first axes *before*, and then one of these numbers."""
    x = require_shape(what, x, (*before, x.shape[-1]))
    n = x.shape[-1]
    return x if n in counts else demanding(x, f"{{}}, not {{}}, of {what}", [((n - counts[0]) * (n - counts[1]), 0)])


@operator(
    "CausalConvWithState",
    example=("N, C, L; C, 1, 4", "", "(N, C, L)"),
    kinds="rank, size_mismatch, bad_mode",
    about={"activation": '``"none"``, ``"silu"`` or ``"swish"``.'},
)
def causal_conv_with_state(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    past_state: Tensor | None = None,
    activation: str = "none",
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the convolution of each channel with the elements before; with two *outputs* also the last elements."""
    require_rank("CausalConvWithState", input, 3, 3)
    require_rank("CausalConvWithState", weight, 3, 3)
    mode = attributes.choice("activation", activation, ("none", "silu", "swish"))
    before = weight.shape[2] - 1
    count = input.shape[1]
    weight = require_shape("the weights", weight, (count, 1, weight.shape[2]))
    weight = demanding(weight, "a kernel of {}, not at least {}", at_least=[(weight.shape[2], 1)], kind="infeasible")
    if past_state is not None:
        past_state = require_shape("past_state", past_state, (input.shape[0], count, before))
    if bias is not None:
        bias = require_shape("the bias", bias, (count,))
    x = pad(input, [(0, 0), (0, 0), (before, 0)]) if past_state is None else concatenate([past_state, input], 2)
    y = with_bias(contractions.conv(x, weight, weight.shape[0], Spatial((1,), (1,), ((0, 0),))), bias)
    if mode != "none":
        y = apply("Swish", y, alpha=1.0)
    return [y, getitem(x, (..., slice(input.shape[2], None)))] if outputs > 1 else y
