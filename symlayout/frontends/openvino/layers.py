"""OpenVINO's layers with states, and its attention."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symlayout.compute import along_axis, contractions, recurrent
from symlayout.compute.attention import scaled_by_size, visible_scores
from symlayout.compute.whole import whole
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import as_tensor, operator
from symlayout.frontends.onnx.transformer_layers import additive
from symlayout.frontends.rank import require_rank
from symlayout.ops.axes import swapaxes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body

_ABOUT = {
    "activations": "Names of functions.",
    "activations_alpha": "Coefficients of the functions.",
    "activations_beta": "Coefficients of the functions.",
    "causal": "Whether a query sees no later keys.",
    "clip": "The largest absolute value of what functions get; 0 is none.",
    "scale": "The factor of the scores; None is the root of the inverse size.",
    "direction": '``"forward"``, ``"reverse"`` or ``"bidirectional"``.',
    "hidden_size": "The number of values of a state.",
    "linear_before_reset": "Where the reset gate is applied.",
}
_KINDS = "rank, bad_mode, attr_dtype, length_mismatch"
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def _texts(value: Any) -> tuple[str, ...]:
    texts = value.split(",") if isinstance(value, str) else value or ()
    return tuple(text.strip() for text in texts if text.strip())


def _numbers(value: Any) -> tuple[float, ...]:
    return tuple(map(float, np.atleast_1d(value))) if value not in (None, "", ()) else ()


def _layer(cell: str, xs: list[Tensor], last: bool, hidden: Any, direction: str, given: dict[str, Any]) -> list[Tensor]:
    """Return the states of a layer at all times, then the last states; of a cell that runs once, the last ones only."""
    states = 2 if cell == "LSTM" else 1
    size = attributes.scalar("hidden_size", hidden, 1)
    mode = attributes.choice("direction", direction, ("forward", "reverse", "bidirectional"))
    require_rank(cell, xs[0], 2 if last else 3, 2 if last else 3)
    clip = attributes.number("clip", given.get("clip") or 0)
    names = _texts(given.get("activations"))
    known = [key.lower() for key in recurrent.ACTIVATIONS]
    for name in names:
        attributes.choice("activations", name.lower(), known)
    ways = 2 if mode == "bidirectional" else 1
    settings = [
        ("cell", cell),
        ("once", last),
        ("direction", mode),
        ("activations", names * ways),
        ("alpha", _numbers(given.get("activations_alpha")) * ways),
        ("beta", _numbers(given.get("activations_beta")) * ways),
        ("clip", clip or None),
        ("variant", attributes.flag("linear_before_reset", given.get("linear_before_reset", False))),
    ]
    batch = xs[0].shape[0]
    final = (batch, size) if last else (batch, ways, size)
    shapes: list[tuple[Any, ...]] = [final] * states
    if not last:
        shapes = [(batch, ways, xs[0].shape[1], size), *shapes]
    name = f"openvino_{cell.lower()}"
    first = 1 if last else 0
    return [
        whole(name, xs, shape, function=recurrent.batch_first, attributes=[*settings, ("output", k)], dtype=xs[0].dtype)
        for k, shape in enumerate(shapes, first)
    ]


def _registered(cell: str, version: int, *, once: bool) -> Callable[..., Any]:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    states = ["initial_hidden_state", *(["initial_cell_state"] if cell == "LSTM" else [])]
    inputs = ["X", *states, *([] if once else ["sequence_lengths"]), "W", "R", "B"]
    own: dict[str, Any] = {} if once else {"direction": "forward"}
    own |= {"activations": (), "activations_alpha": (), "activations_beta": (), "clip": 0.0}
    if cell == "GRU":
        own["linear_before_reset"] = False
    parameters = [inspect.Parameter(n, kind, annotation="Tensor") for n in inputs]
    parameters += [inspect.Parameter("hidden_size", kind, annotation="Any")]
    parameters += [inspect.Parameter(n, kind, default=d, annotation="Any") for n, d in own.items()]
    signature = inspect.Signature(parameters, return_annotation="Tensor | list[Tensor]")

    def applied(*args: Any, **kwargs: Any) -> Tensor | list[Tensor]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        xs = [values.pop(n) for n in inputs]
        made = _layer(cell, xs, once, values.pop("hidden_size"), values.pop("direction", "forward"), values)
        return made if made[1:] else made[0]

    name = f"{cell}{'Cell' if once else 'Sequence'}"
    applied.__name__ = applied.__qualname__ = f"{cell.lower()}_{'cell' if once else 'sequence'}"
    what = "a step" if once else "all times, then the last state"
    also = ", then the last cell" if cell == "LSTM" else ""
    applied.__doc__ = f"Return the state of an {cell} layer after {what}{also}."
    applied.__signature__ = signature  # type: ignore[attr-defined]
    g = 8 * _GATES[cell]
    if once:
        shapes = ["N, C", *["N, 8"] * len(states), f"{g}, C", f"{g}, 8", f"{g}"]
        result = "[(N, 8), (N, 8)]" if cell == "LSTM" else "(N, 8)"
    else:
        shapes = ["N, T, C", *["N, 1, 8"] * len(states), "N", f"1, {g}, C", f"1, {g}, 8", f"1, {g}"]
        result = "[(N, 1, T, 8), " + ", ".join(["(N, 1, 8)"] * len(states)) + "]"
    example = ("; ".join(shapes), "hidden_size=8", result)
    return operator(f"openvino:{name}-{version}", example=example, kinds=_KINDS, about=_ABOUT)(applied)


rnn_cell = _registered("RNN", 1, once=True)
gru_cell = _registered("GRU", 3, once=True)
lstm_cell = _registered("LSTM", 4, once=True)
rnn_sequence = _registered("RNN", 5, once=False)
gru_sequence = _registered("GRU", 5, once=False)
lstm_sequence = _registered("LSTM", 5, once=False)


@operator(
    "openvino:ScaledDotProductAttention-13", example=("N, S, D; N, T, D; N, T, E", "causal=True", "(N, S, E)"),
    kinds="rank, size_mismatch, attr_dtype", about=_ABOUT,
)  # fmt: skip
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None = None,
    scale: Any = None,
    causal: Any = False,
) -> Tensor:
    """Return ``softmax(scale * query @ key.T + attention_mask) @ value``."""
    rank = require_rank("ScaledDotProductAttention-13", query, 3)
    queries, keys = (_scaled(x, scale) for x in (query, key))
    scores = contractions.matmul(queries, swapaxes(keys, -1, -2))
    if attributes.flag("causal", causal):
        given = (("causal", True), ("left", -1), ("right", -1), ("cached", False), ("padded", False))
        body = Body("visible_scores", visible_scores, given, over=True)
        scores = compute(body, [scores], batch=rank - 2, result=scores.shape[-2:])
    elif attention_mask is not None:
        scores = apply("Add", scores, additive(attention_mask, scores))
    return contractions.matmul(along_axis.along(scores, [scores.rank - 1], along_axis.softmax), value)


def _scaled(x: Tensor, scale: Any) -> Tensor:
    """Return *x* times the root of the factor of the scores."""
    if scale is None:
        return along_axis.along(x, [x.rank - 1], scaled_by_size)
    factor = float(np.asarray(scale).reshape(-1)[0])
    return apply("Mul", x, as_tensor("ScaledDotProductAttention-13", "scale", math.sqrt(factor), x))
