"""Write shapes, requirements and digits as text: in the syntax that `parse` reads, and in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from symlayout.algebra.facts import Facts
from symlayout.run.lower import lower
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import type_name


class AnyValue(Protocol):
    """A tensor, or a value of a model whose rank is not known."""

    @property
    def shape(self) -> tuple[Any, ...] | None:
        """The extents."""

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements."""

    @property
    def facts(self) -> Facts:
        """What is known of the dims."""

    @property
    def dtype(self) -> Any:
        """The element type."""


def shape(extents: Sequence[Any] | None) -> str:
    """Return a shape in the syntax that `parse.parse_shape` reads; ``?`` if the rank is not known.

    >>> shape((3, 4)), shape((3,)), shape(()), shape(None)
    ('(3, 4)', '(3,)', '()', '?')
    """
    if extents is None:
        return "?"
    return f"({', '.join(map(str, extents))}{',' if len(extents) == 1 else ''})"


def interval(low: int | None, high: int | None) -> str:
    """Return bounds in words.

    >>> interval(0, None), interval(1, 8), interval(5, 5)
    ('at least 0', '1 to 8', 'exactly 5')
    """
    if high is None:
        return "unbounded" if low is None else f"at least {low}"
    if low == high:
        return f"exactly {low}"
    return f"at most {high}" if low is None else f"{low} to {high}"


def relation(r: Any) -> str:
    """Return a requirement in the syntax that `parse.parse_relations` reads: ``H % 2 == 0``, ``2*b >= H + 1``.

    >>> from symlayout.language.sympy_bridge import dim
    >>> relation(dim("H") >= 3)
    'H >= 3'
    """
    left = str(r.lhs)
    if r.lhs.func.__name__ == "Mod":
        value, modulus = r.lhs.args
        left = f"{_factor(value)} % {_factor(modulus)}"
    sign = {"Eq": "==", "Equality": "==", "Ne": "!=", "Unequality": "!="}.get(type(r).__name__, r.rel_op)
    return f"{left} {sign} {r.rhs}"


def words(r: Any) -> str:
    """Return a requirement in plain words.

    >>> from symlayout.language.sympy_bridge import dim
    >>> words(dim("H") >= 3)
    'H is at least 3'
    """
    if r.lhs.func.__name__ == "Mod" and r.rel_op == "==":
        value, modulus = r.lhs.args
        if r.rhs == 0:
            return f"{value} is a multiple of {modulus}"
        return f"{value} leaves {r.rhs} when divided by {modulus}"
    says = {"==": "equals", "!=": "is not", ">=": "is at least", "<=": "is at most", ">": "is more than"}
    return f"{r.lhs} {says.get(r.rel_op, r.rel_op)} {r.rhs}"


def facts(t: AnyValue) -> dict[str, Any]:
    """Return the shape, requirements, dims with their bounds, and dtype of *t* as JSON data."""
    return {
        "shape": shape_data(t.shape),
        "requires": [relation(r) for r in t.requires],
        "dims": {d.name: [d.min, d.max] for d in t.facts.dims.values()},
        "dtype": type_name(t.dtype),
    }


def shape_data(extents: Sequence[Any] | None) -> list[int | str] | None:
    """Return a shape as JSON data; None if the rank is not known."""
    return None if extents is None else [e if isinstance(e, int) else str(e) for e in extents]


def digits(t: Tensor) -> list[str]:
    """Return the digits of each piece of the map of *t*, as lines ``name: part of the output coordinate < extent``."""
    nest, _ = lower(t)
    lines = []
    for k, piece in enumerate(nest.pieces):
        prefix = f"piece {k}, " if len(nest.pieces) > 1 else ""
        lines += [f"{prefix}{digit.name}: {digit.comment}" for digit in piece.digits]
    return lines


def _factor(e: Any) -> str:
    """Return *e* as an operand of ``%``."""
    written = str(e)
    return written if written.isidentifier() or written.isdigit() else f"({written})"
