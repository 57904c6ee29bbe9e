"""Formulas: what a point computes of the elements that it loads.

A formula is a list of steps.  Each step has a type and refers to earlier steps by their numbers.  Its functions are
those of a processor: sums, comparisons, conversions.  They have the meaning that NumPy's functions of the same name
have: integers wrap, a quotient of floats is rounded once, a comparison with NaN is false.

===================  =======================================================================================
function             value
===================  =======================================================================================
load                 the element of load *number* of the piece
literal              the value of the type with the bits *number*
cast                 the operand in another type
fold_F               ``F(... F(F(start, t_1), t_2) ..., t_n)``: the operand at each point of the reduced digits,
                     in their order; *number* has the bits of the start
add, subtract, ...   the function of the operands; all have one type, but for the condition of ``where``
===================  =======================================================================================

The last row stands for arithmetic (``add subtract multiply divide floor_divide negative absolute``), comparisons
(``less less_equal greater greater_equal equal not_equal``), choices (``maximum minimum clip where``), bits
(``bitwise_and bitwise_or bitwise_xor invert left_shift right_shift``) and rounding (``rint floor ceil trunc``).

A half is computed in float32 and rounded after each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TYPES: dict[str, int] = {
    "bool": 1,
    "int8": 1,
    "int16": 2,
    "int32": 4,
    "int64": 8,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "float16": 2,
    "float32": 4,
    "float64": 8,
}
"""The types of elements, with their bytes."""

ROUNDING = ("rint", "floor", "ceil", "trunc")
"""The functions that round a float to an integer."""
FOLD = "fold_"
"""How the names of steps that reduce begin."""
FOLDS = frozenset(f"{FOLD}{name}" for name in ("add", "multiply", "maximum", "minimum"))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a formula: *function* of earlier steps, with a result of *type*."""

    function: str
    type: str
    operands: tuple[int, ...] = ()
    number: int = 0


@dataclass(frozen=True, slots=True)
class Formula:
    """Steps, in order of evaluation; the last one is the value."""

    steps: tuple[Step, ...]

    @property
    def type(self) -> str:
        """The type of the value."""
        return self.steps[-1].type

    @property
    def folds(self) -> tuple[int, ...]:
        """The numbers of the steps that reduce."""
        return tuple(k for k, step in enumerate(self.steps) if step.function in FOLDS)

    def needed(self, wanted: tuple[int, ...]) -> list[int]:
        """Return the numbers of the steps that *wanted* need, in order; folds are known, and need nothing."""
        found = set(wanted)
        for k in reversed(range(len(self.steps))):
            if k in found and self.steps[k].function not in FOLDS:
                found.update(self.steps[k].operands)
        return sorted(found)

    @property
    def terms(self) -> list[int]:
        """The numbers of the steps that are computed at each point of the reduced digits."""
        return self.needed(tuple(self.steps[k].operands[0] for k in self.folds))

    def loads(self, numbers: list[int]) -> Iterator[int]:
        """Yield the number of each load among the steps *numbers*."""
        for k in numbers:
            if self.steps[k].function == "load":
                yield self.steps[k].number


def literal(type: str, bits: int) -> Formula:
    """Return the formula of a constant.

    >>> literal("uint8", 7).type
    'uint8'
    """
    return Formula((Step("literal", type, (), bits),))
