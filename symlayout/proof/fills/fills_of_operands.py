"""The fills of operands that make a fill of a function's value: what it takes to pull a function out of a pad.

The padded value of a function of single elements is the function of padded operands, if the function of their fills is
the fill.  ``pad(relu(x), 0)`` is ``relu(pad(x, 0))``, since the relu of 0 is 0 bit for bit; ``pad(exp(x), 1)`` is
``exp(pad(x, 0))``.  A constant that has one value everywhere has it in the pads, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.errors import SymlayoutError
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import UNDETERMINED, Body, Case, Declared, Fill, Operand
from symlayout.tensors.element_types import fill_text, same_fill
from symlayout.tensors.uniform_constants import everywhere

_TRIED = (0, -np.inf, np.inf)  # as fills of operands, beside the fill of the value itself
_MOST_OPERANDS = 4

Fills = Mapping[str, Fill]
"""The fill that replaces a fill, by the text of that one."""


@dataclass(frozen=True, slots=True)
class Refilled:
    """A declaration with other fills."""

    declaration: Callable[..., Declared]
    dtype: Any
    fills: Fills

    @property
    def __name__(self) -> str:
        return self.declaration.__name__

    def __call__(self, x: Operand, *args: Any, **attributes: Any) -> Declared:
        """Return the declared map with other fills."""
        declared = self.declaration(x, *args, **attributes)
        return Declared(declared.domain, tuple(map(self._refilled, declared.cases)))

    def _refilled(self, case: Case) -> Case:
        return case if case.fill is None else case._replace(fill=self.fills[fill_text(case.fill.value, self.dtype)])


def fills_of_operands(
    body: Body, operands: Sequence[Sequence[Tensor]], fills: Sequence[Fill], dtype: Any
) -> list[Fills] | None:
    """Return for each operand of a function the fills that make *fills* of its value, bit for bit; None if none do.

    Parameters
    ----------
    body : Body
        A function of single elements.
    operands : sequence of sequence of Tensor
        Each operand, for each value of the function that is moved.
    fills : sequence of Fill
        The fills of the value.
    dtype : dtype
        The element type of the value.
    """
    if body.over or body.function is None or body.random or dtype is None or len(operands) > _MOST_OPERANDS:
        return None
    constants = [everywhere(views) for views in operands]
    if all(c is not None for c in constants) or any(view.dtype is None for views in operands for view in views):
        return None
    found: list[dict[str, Fill]] = [{} for _ in operands]
    for fill in fills:
        made = None if fill.value is UNDETERMINED else _fills_of(body, operands, constants, fill.value, dtype)
        if made is None:
            return None
        for own, value in zip(found, made, strict=True):
            own[fill_text(fill.value, dtype)] = Fill(value)
    return list(found)


def _fills_of(
    body: Body, operands: Sequence[Sequence[Tensor]], constants: Sequence[Any], fill: Any, dtype: Any
) -> list[Any] | None:
    """Return an element for each operand of which the function makes *fill*; all but constants are one number."""
    assert body.function is not None
    for tried in (fill, *_TRIED):
        try:
            with np.errstate(all="ignore"):
                values = [
                    np.full((), tried, views[0].dtype) if c is None else np.asarray(c)
                    for views, c in zip(operands, constants, strict=True)
                ]
                free = [v for v, c in zip(values, constants, strict=True) if c is None]
                if not all(same_fill(v.item(), tried, v.dtype) for v in free):  # a type that lacks the number
                    continue
                made = np.asarray(body.function(*values, **dict(body.attributes)))
            if made.size == 1 and same_fill(made.item(), fill, dtype):  # it may not fit the type of the value
                return [v.item() for v in values]
        except (TypeError, ValueError, OverflowError, SymlayoutError):
            continue
    return None
