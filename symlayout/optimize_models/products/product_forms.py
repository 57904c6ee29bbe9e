"""What products of some columns look like: columns as batches, or as rows; and groups of parts in these forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symlayout.ops.concatenate import concatenate
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.movement_cost import Cost, bytes_of
from symlayout.optimize_models.products.column_parts import ColumnPart, Columns, runs
from symlayout.optimize_models.spellings.spell_movement import Spelling
from symlayout.tensors.chain import Tensor

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class ProductForm:
    """What a product with the columns of a group looks like.

    Attributes
    ----------
    batches : int
        How many blocks of columns are batches of the product.
    turned : bool
        Whether columns are rows, and rows are columns.
    """

    batches: int = 1
    turned: bool = False

    def extents(self, extents: Sequence[Any]) -> tuple[Any, ...]:
        """Return the extents of the product in this form."""
        *lead, rows, columns = extents
        if self.turned:
            return (*lead, columns, rows)
        return (*lead, rows, columns) if self.batches == 1 else (*lead, self.batches, rows, columns // self.batches)

    def flat(self, t: Tensor, shape: Sequence[Any]) -> Tensor:
        """Return the product with rows and columns of a product in this form."""
        axes = list(range(t.rank))
        if self.turned:
            return transpose(t, [*axes[:-2], axes[-1], axes[-2]])
        return t if self.batches == 1 else reshape(transpose(t, [*axes[:-3], axes[-2], axes[-3], axes[-1]]), shape)

    def constant(self, values: Array) -> Array:
        """Return a constant that has an element for each column, or one for all, in this form.

        >>> ProductForm(batches=2).constant(np.array([1, 2, 3, 4])).tolist()
        [[[1, 2]], [[3, 4]]]
        >>> ProductForm(turned=True).constant(np.array([1, 2])).tolist()
        [[1], [2]]
        """
        if self == FLAT:
            return values
        rows = values.reshape((1,) * (2 - values.ndim) + values.shape)
        if self.turned:
            return np.swapaxes(rows, -1, -2)
        blocks = self.batches if rows.shape[-1] > 1 else 1
        return np.moveaxis(rows.reshape(*rows.shape[:-1], blocks, -1), -2, -3)


FLAT = ProductForm()


@dataclass(frozen=True, slots=True)
class ColumnGroup:
    """Parts that are computed together.

    Attributes
    ----------
    columns : tuple of int
        The columns of all.
    parts : tuple of ColumnPart
        The parts.
    form : ProductForm
        What their product looks like.
    spellings : tuple of Spelling
        The movement to each end; in a group of several parts, to their ends stacked.
    """

    columns: Columns
    parts: tuple[ColumnPart, ...]
    form: ProductForm
    spellings: tuple[Spelling, ...]

    def cost(self, tensors: Mapping[str, Tensor | None]) -> Cost:
        """Return what the movement costs, and taking the parts apart."""
        total = Cost()
        for spelling, name in zip(self.spellings, self.parts[0].ends, strict=True):
            t, count = tensors[name], len(self.parts)
            assert t is not None
            taken = Cost(Counter({bytes_of(t): count}), 0, count) if count > 1 else Cost()
            total = total + spelling.cost + taken
        return total


@dataclass(slots=True)
class ProductPlan:
    """The groups of parts that are computed together, with the movement after each.

    Attributes
    ----------
    groups : list of ColumnGroup
        The groups.
    cost : Cost
        What all movement costs.
    """

    groups: list[ColumnGroup] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    @property
    def is_new(self) -> bool:
        """Whether the product is not what it was."""
        return len(self.groups) > 1 or any(group.form != FLAT for group in self.groups)


def spread(part: Tensor, columns: Columns, count: int) -> Tensor:
    """Return a value of *count* columns, in which *columns* are those of *part*, and others are 0."""
    starts = np.cumsum([0, *(b - a for a, b in runs(columns))])
    pieces, at = [], 0
    placed = sorted(zip(runs(columns), starts, strict=False))
    for k, ((low, high), first) in enumerate(placed):
        end = count if k == len(placed) - 1 else high
        piece = part[..., int(first) : int(first) + high - low]
        widths = [(0, 0)] * (part.rank - 1) + [(low - at, end - high)]
        pieces.append(pad(piece, widths))
        at = end
    return concatenate(pieces, -1) if len(pieces) > 1 else pieces[0]
