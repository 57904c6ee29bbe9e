"""What the base of a view becomes where the view is written, in torch's graphs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.frontends.torch import movement
from symlayout.models.model import Value
from symlayout.ops.reshape import reshape
from symlayout.tensors.chain import Tensor


def _as_base(base: Tensor, view: Tensor, given: Mapping[str, Any], number: int, parts: Sequence[Value]) -> Tensor:
    return reshape(view, base.shape)


def _of_part(base: Tensor, view: Tensor, given: Mapping[str, Any], number: int, parts: Sequence[Value]) -> Tensor:
    axis = _int(given.get("dim", 0)) % base.rank
    start: Any = 0
    for part in parts[:number]:
        assert isinstance(part, Tensor | np.ndarray)
        start = start + part.shape[axis]
    return movement.slice_scatter(base, view, axis, start, start + view.shape[axis])


def _int(value: Any) -> int:
    return int(value.item()) if isinstance(value, np.ndarray) else int(value)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.ndarray) and not value.ndim else value


def _permuted(base: Tensor, view: Tensor, given: Mapping[str, Any], number: int, parts: Sequence[Value]) -> Tensor:
    order = [int(d) % base.rank for d in np.asarray(given["dims"]).reshape(-1)]
    made: Tensor = frontends.find("torch:permute")(view, dims=[order.index(k) for k in range(base.rank)])
    return made


_SHAPES = ("view", "view_as", "unsqueeze", "squeeze", "flatten", "unflatten", "reshape", "clone")

PUTS: dict[str, Callable[..., Tensor]] = {
    **dict.fromkeys((f"torch:{n}" for n in _SHAPES), _as_base),
    "torch:permute": _permuted,
    "torch:transpose": lambda base, view, given, number, parts: movement.transpose(view, **given),
    "torch:t": lambda base, view, given, number, parts: movement.t(view),
    "torch:select": lambda base, view, given, number, parts: movement.select_scatter(
        base, view, _int(given["dim"]), _plain(given["index"])
    ),
    "torch:slice": lambda base, view, given, number, parts: movement.slice_scatter(
        base, view, _int(given.get("dim", 0)), *(_plain(given.get(k, d)) for k, d in (("start", None), ("end", None),
                                                                                    ("step", 1)))
    ),
    "torch:unbind": lambda base, view, given, number, parts: movement.select_scatter(
        base, view, _int(given.get("dim", 0)), number
    ),
    "torch:split": _of_part,
    "torch:split_with_sizes": _of_part,
    "torch:chunk": _of_part,
}  # fmt: skip
"""By declaration: the base, of itself, the new view, the arguments of the view, its number, and all views before."""
