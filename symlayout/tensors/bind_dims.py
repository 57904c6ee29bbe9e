"""Find the values of dims from the shapes of arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, coefficient_of, evaluate, names_of, substitute
from symlayout.errors import ShapeError, shown
from symlayout.tensors.chain import Tensor, check_bound


def bind_shapes(t: Tensor, shapes: Sequence[tuple[int, ...]], dims: Mapping[Any, Any] | None = None) -> dict[str, int]:
    """Return the value of every dim of *t*, found from the shapes of its inputs and from *dims*.

    Parameters
    ----------
    t : the tensor whose leaves get arrays.
    shapes : one shape per leaf, in order of first use.
    dims : values of the dims that the shapes do not determine, by symbol or by name.

    Raises
    ------
    ShapeError
        ``rank``, ``size_mismatch`` or ``non_divisible`` if a shape is not as declared; ``infeasible`` if a dim is
        outside its bounds; ``unbound_dim`` if nothing determines a dim; ``unknown_dim`` for one that *t* has not.
    """
    values = dim_values(dims or {})
    check_known(values, t.facts.dims)
    waiting: list[tuple[Tensor, int, Extent, Extent, int]] = []
    for leaf, shape in zip(t.arguments(), shapes, strict=True):
        if len(shape) != leaf.rank:
            raise ShapeError(f"array {leaf.name} has rank {len(shape)}, declared is {leaf!r}", "rank")
        for axis, (e, n) in enumerate(zip(leaf.extents, shape, strict=True)):
            top, bottom = leaf.facts.to_user(e)
            waiting.append((leaf, axis, top, bottom, n))
    while waiting:
        left = [entry for entry in waiting if not _solve(*entry, values)]
        if len(left) == len(waiting):
            break
        waiting = left
    missing = [name for name in t.facts.dims if name not in values]
    if missing:
        raise ShapeError(
            f"nothing determines the dim{'s' * (len(missing) > 1)} {', '.join(missing)}\n"
            f"  help: pass dims={{{missing[0]}: ...}}",
            "unbound_dim",
        )
    for name, dim in t.facts.dims.items():
        check_bound(dim, values[name])
    for leaf, shape in zip(t.arguments(), shapes, strict=True):
        known = leaf.facts.values(values)  # with the symbols for floors and maxima
        for axis, (e, n) in enumerate(zip(leaf.extents, shape, strict=True)):
            if names_of(e) <= known.keys() and (expected := evaluate(e, known)) != n:
                raise _mismatch(leaf, axis, n, expected)
    return {name: values[name] for name in t.facts.dims}


def _mismatch(leaf: Tensor, axis: int, n: int, expected: int | None) -> ShapeError:
    declared = leaf.facts.spell(leaf.extents[axis])
    value = "" if expected is None or declared == str(expected) else f" = {expected}"
    return ShapeError(f"array {leaf.name} has {n} on axis {axis}, declared is {declared}{value}", "size_mismatch")


def dim_values(dims: Mapping[Any, Any]) -> dict[str, int]:
    """Return values of dims, given by symbol or by name, as a dict by name; ``attr_dtype`` if one is not an integer."""
    if not isinstance(dims, Mapping):
        raise ShapeError(f"dims is a {type(dims).__name__}, not a mapping of dims to integers", "attr_dtype")
    values = {}
    for key, value in dims.items():
        name = key if isinstance(key, str) else getattr(key, "name", str(key))
        try:
            values[name] = int(value.__index__())
        except (AttributeError, TypeError):
            raise ShapeError(f"dims: {name} = {shown(value)} is not an integer", "attr_dtype") from None
    return values


def check_known(names: Iterable[str], dims: Iterable[str]) -> None:
    """Raise `ShapeError` of kind ``unknown_dim`` if a name that a caller gave a value is none of the *dims*."""
    known = list(dims)
    if unknown := [name for name in names if name not in known]:
        verb = "is not a dim" if len(unknown) == 1 else "are not dims"
        raise ShapeError(
            f"dims: {', '.join(map(shown, unknown))} {verb} of the tensor\n  known: {', '.join(known) or 'none'}",
            "unknown_dim",
        )


def _solve(leaf: Tensor, axis: int, top: Extent, bottom: Extent, n: int, values: dict[str, int]) -> bool:
    """Solve ``top / bottom == n`` for its unknown dim, or check it if there is none; False if there are several."""
    top, bottom = substitute(top, values), substitute(bottom, values)
    equation = top - n * bottom
    unknown = names_of(equation)
    if not unknown:
        if evaluate(equation, values):
            above, below = evaluate(top, values), evaluate(bottom, values)
            raise _mismatch(leaf, axis, n, above // below if below and not above % below else None)
        return True
    if len(unknown) > 1 or isinstance(equation, int):
        return False
    (name,) = unknown
    split = coefficient_of(equation, name)
    if split is None or not isinstance(split[0], int) or not isinstance(split[1], int):
        return False
    value, remainder = divmod(-split[1], split[0])
    if remainder:
        declared = leaf.facts.spell(leaf.extents[axis])
        raise ShapeError(f"array {leaf.name} has {n} on axis {axis}, which {declared} never equals", "non_divisible")
    values[name] = value
    return True
