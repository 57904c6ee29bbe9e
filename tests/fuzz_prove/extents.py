"""Extents of random chains, as brute force writes them: None is one that has no such form.

What cancels is left out, as it is in symlayout: a slice whose bounds are numbers clamps them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.support.brute import Expression, Step

Shape = Sequence[Expression]


def add(a: Expression, b: Expression) -> Expression:
    """Return ``a + b``."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    for one, other in ((a, b), (b, a)):
        if isinstance(one, tuple) and one[0] == "-" and one[2] == other:
            return one[1]
    return b if a == 0 else a if b == 0 else ("+", a, b)


def minus(a: Expression, b: Expression) -> Expression:
    """Return ``a - b``."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a - b
    if isinstance(a, tuple) and a[0] == "+" and b in a[1:]:
        return a[2] if a[1] == b else a[1]
    if isinstance(b, tuple) and b[:2] == ("-", a):
        return b[2]
    return a if b == 0 else 0 if a == b else ("-", a, b)


def times(a: Expression, b: Expression) -> Expression:
    """Return ``a * b``."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return b if a == 1 else a if b == 1 else ("*", a, b)


def over(a: Expression, b: Expression) -> Expression:
    """Return ``a / b``, which is an integer wherever the chain has a meaning; *b* is a block or divides *a*."""
    if a is None or b is None:
        return None
    if isinstance(a, int) and isinstance(b, int) and b > 0 and a % b == 0:
        return a // b
    if isinstance(a, tuple) and a[0] == "*" and b in a[1:]:
        return a[2] if a[1] == b else a[1]
    if isinstance(b, tuple):  # could be 0
        return b[2] if b[:2] == ("/", a) else None
    return a if b == 1 else ("/", a, b)


def product(extents: Shape) -> Expression:
    """Return the product of extents."""
    size: Expression = 1
    for n in extents:
        size = times(size, n)
    return size


def difference(a: Expression, pair: Sequence[Expression]) -> Expression:
    """Return ``a - pair[0] - pair[1]``."""
    return minus(minus(a, pair[0]), pair[1])


def total(a: Expression, pair: Sequence[Expression]) -> Expression:
    """Return ``a + pair[0] + pair[1]``."""
    return add(add(a, pair[0]), pair[1])


def after(step: Step, shape: Shape) -> list[Expression]:
    """Return the shape that a step makes of *shape*.

    Raises
    ------
    ValueError, IndexError
        The step is for another rank.
    """
    name, given = step
    return _AFTER[name](list(shape), given)


def along(shape: Shape, steps: Sequence[Step]) -> list[list[Expression]]:
    """Return the shape before each step, and at the end."""
    shapes = [list(shape)]
    for step in steps:
        shapes.append(after(step, shapes[-1]))
    return shapes


def _same(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    axis = given["axis"]
    for a in axis if isinstance(axis, list) else [] if axis is None else [axis]:
        n[a]
    return n


def _transpose(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    return [n[a] for _, a in zip(n, given["axes"], strict=True)]


def _moveaxis(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    n.insert(given["destination"], n.pop(given["source"]))
    return n


def _swapaxes(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    a, b = given["axis1"], given["axis2"]
    n[a], n[b] = n[b], n[a]
    return n


def _pad(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    return [total(e, pair) for e, pair in zip(n, given["pad_width"], strict=True)]


def _getitem(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    if sum(item is not None for item in given["key"]) > len(n):
        raise IndexError
    made: list[Expression] = []
    axes = iter(n)
    for item in given["key"]:
        if item is None:
            made.append(1)
        elif not isinstance(item, slice):
            next(axes)
        else:
            e = next(axes)
            made.append(e if item in _WHOLE else None)
    return [*made, *axes]


_WHOLE = (slice(None), slice(None, None, 1), slice(None, None, -1))


def _slice(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    start, stop, step = given["start"], given["stop"], given["step"]
    span = minus(stop, start) if step > 0 else minus(start, stop)
    n[given["axis"]] = span if abs(step) == 1 else None
    return n


def _space_to_batch(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    for k, (b, pair) in enumerate(zip(given["block_shape"], given["paddings"], strict=True), 1):
        n[0], n[k] = times(n[0], b), over(total(n[k], pair), b)
    return n


def _batch_to_space(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    for k, (b, pair) in enumerate(zip(given["block_shape"], given["crops"], strict=True), 1):
        n[0], n[k] = over(n[0], b), difference(times(n[k], b), pair)
    return n


def _space_to_depth(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    depth = given.get("depth_axis", 1)
    for k in given.get("spatial_axes", range(2, len(n))):
        n[depth], n[k] = times(n[depth], given["block_size"]), over(n[k], given["block_size"])
    return n


def _depth_to_space(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    depth = given.get("depth_axis", 1)
    for k in given.get("spatial_axes", range(2, len(n))):
        n[depth], n[k] = over(n[depth], given["block_size"]), times(n[k], given["block_size"])
    return n


def _reshape(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    made = list(given["shape"])
    if -1 in made:
        at = made.index(-1)
        rest = [e for k, e in enumerate(made) if k != at]
        made[at] = product(n) if not rest else None
    return made


def _tile(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    reps = given["reps"]
    whole = [1] * (len(reps) - len(n)) + n
    counts = [1] * (len(n) - len(reps)) + list(reps)
    return [times(e, count) for e, count in zip(whole, counts, strict=True)]


def _repeat(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    n[given["axis"]] = times(n[given["axis"]], given["repeats"])
    return n


def _broadcast_to(_: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    return list(given["shape"])


def _squeeze(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    return [e for k, e in enumerate(_same(n, given)) if k not in given["axis"]]


def _expand_dims(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    for a in sorted(given["axis"]):
        n.insert(a, 1)
    return n


def _ravel(n: list[Expression], _: Mapping[str, Any]) -> list[Expression]:
    return [product(n)]


def _pack(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    a, b = given["axis"], given["block"]
    exact = over(n[a], b)  # a ceiling otherwise, which has no form here
    n[a] = None if isinstance(exact, tuple) and exact[0] == "/" else exact
    return [*n, b]


def _unpack(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    *n, b = n
    a = given["axis"]
    n[a] = times(n[a], b) if given["extent"] is None else given["extent"]
    return n


def _window(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    for a, size, step, gap, pair in zip(
        given["axis"], given["window_shape"], given["strides"], given["dilation"], given["padding"], strict=True
    ):
        span = times(minus(size, 1), gap)
        n[a] = minus(total(n[a], pair), span) if step == 1 else None
    return [*n, *given["window_shape"]]


def _resize_nearest(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    for a, scale in zip(given["axes"], given["scale"], strict=True):
        n[a] = times(n[a], scale) if isinstance(scale, int | str) else None
    return n


def _concatenate(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    parts = [along(n, branch)[-1] for branch in given["branches"]]
    extent: Expression = 0
    for part in parts:
        extent = add(extent, part[given["axis"]])
    made = list(parts[0])
    made[given["axis"]] = extent
    return made


def _split(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    n[given["axis"]] = over(n[given["axis"]], given["indices_or_sections"])
    return n


def _input(_: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    return list(given["shape"])


def _stack(n: list[Expression], given: Mapping[str, Any]) -> list[Expression]:
    made = along(n, given["branches"][0])[-1]
    made.insert(given["axis"], len(given["branches"]))
    return made


_AFTER: Mapping[str, Callable[[list[Expression], Mapping[str, Any]], list[Expression]]] = {
    "flip": _same, "roll": _same, "channel_shuffle": _same, "concatenate": _concatenate, "stack": _stack,
    "transpose": _transpose, "moveaxis": _moveaxis, "swapaxes": _swapaxes, "pad": _pad, "getitem": _getitem,
    "slice": _slice, "space_to_batch": _space_to_batch, "batch_to_space": _batch_to_space,
    "space_to_depth": _space_to_depth, "depth_to_space": _depth_to_space, "reshape": _reshape, "ravel": _ravel,
    "tile": _tile, "repeat": _repeat, "broadcast_to": _broadcast_to, "squeeze": _squeeze,
    "expand_dims": _expand_dims, "pack": _pack, "unpack": _unpack, "window": _window,
    "resize_nearest": _resize_nearest, "split": _split, "input": _input,
}  # fmt: skip
