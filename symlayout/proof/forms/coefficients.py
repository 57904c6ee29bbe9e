"""Numbers of formulas over the real numbers, each with a bound of the error that another way to round may give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

_NO_ERROR = np.zeros(())
_DOUBLE = float(np.finfo(np.float64).eps)  # numbers are computed in this precision


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A number for each value of some digits, in the order of their names; one axis for each.

    Attributes
    ----------
    error : array
        How far each number may be from the one that another way to round gives: 0 if there is no rounding.
    real : bool
        Whether the number is of a formula, which is not rounded, and not of a model.
    """

    names: tuple[str, ...]
    array: Array
    error: Array = field(default_factory=lambda: _NO_ERROR)
    real: bool = False

    def aligned(self, names: Sequence[str]) -> Array:
        """Return the array with an axis for each of *names*, which are sorted as its own are."""
        return self._aligned(self.array, names)

    def errors(self, names: Sequence[str]) -> Array:
        """Return the errors with an axis for each of *names*."""
        return self._aligned(self.error, names) if self.error.ndim else self.error

    def _aligned(self, array: Array, names: Sequence[str]) -> Array:
        own = iter(array.shape)
        return array.reshape([next(own) if name in self.names else 1 for name in names])

    def is_near(self, other: Coefficient) -> bool:
        """Return whether two coefficients differ by no more than their errors, everywhere."""
        names = tuple(sorted({*self.names, *other.names}))
        a, b = self.aligned(names), other.aligned(names)
        if not (np.isfinite(a).all() and np.isfinite(b).all()):
            return False
        return bool((np.abs(a - b) <= self.errors(names) + other.errors(names)).all())

    def is_other_zero(self, other: Coefficient) -> bool:
        """Return whether both coefficients are 0 somewhere, and of another sign."""
        names = tuple(sorted({*self.names, *other.names}))
        a, b = self.aligned(names), other.aligned(names)
        return bool(((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))).any())

    def signed(self, sign: int) -> Coefficient:
        """Return the coefficient times 1 or -1."""
        return self if sign > 0 else Coefficient(self.names, -self.array, self.error, self.real)

    @property
    def may_be_zero(self) -> bool:
        """Whether all numbers are 0 up to their errors."""
        return bool((np.abs(self.array) <= self.error).all())

    @property
    def is_scalar(self) -> bool:
        """Whether the coefficient is one number."""
        return self.array.size == 1

    @property
    def is_unit(self) -> bool:
        """Whether a product with the coefficient is exact: all numbers are 1 or -1."""
        return bool((np.abs(self.array) == 1).all())

    @property
    def is_power_of_two(self) -> bool:
        """Whether all numbers are powers of two, or their negatives."""
        mantissa, _ = np.frexp(np.abs(self.array))
        return bool((mantissa == 0.5).all())


def scalar(value: float) -> Coefficient:
    """Return a number that is exact as a coefficient."""
    return Coefficient((), np.asarray(value, np.float64), real=True)


@dataclass(frozen=True, slots=True)
class Rounding:
    """How numbers are rounded that are computed of numbers.

    Attributes
    ----------
    dtype : dtype
        The type of the elements: a number of a formula is rounded to it once.
    folds : bool
        Whether a tool may compute numbers of a model from each other, and round each result.
    """

    dtype: np.dtype[Any]
    folds: bool = False

    def real(self, value: float) -> Coefficient:
        """Return a number of a formula: a model has it rounded."""
        array = np.asarray(value, np.float64)
        return Coefficient((), array, self._half_ulp(array), real=True)

    def product(self, a: Coefficient, b: Coefficient) -> Coefficient:
        """Return the product, element by element.

        Where a tool may compute numbers, it computes the product of the factors or, as for the root of a scale on both
        sides, the factors of the product.  So the factors may be rounded, too.
        """
        names = tuple(sorted({*a.names, *b.names}))
        (x, y), (d, e) = (tuple(c.aligned(names) for c in (a, b)), tuple(c.errors(names) for c in (a, b)))
        exact = a.is_power_of_two or b.is_power_of_two
        with np.errstate(all="ignore"):
            if self.folds and not exact:
                d, e = np.maximum(d, self._spacing(x) / 2), np.maximum(e, self._spacing(y) / 2)
            error = np.abs(x) * e + np.abs(y) * d + d * e
            return self._rounded(names, x * y, error, (a, b), exact=exact)

    def sum(self, a: Coefficient, b: Coefficient) -> Coefficient:
        """Return the sum, element by element."""
        names = tuple(sorted({*a.names, *b.names}))
        with np.errstate(all="ignore"):
            return self._rounded(names, a.aligned(names) + b.aligned(names), a.errors(names) + b.errors(names), (a, b))

    def power(self, x: Coefficient, exponent: Fraction) -> Coefficient:
        """Return a power of each number."""
        size, p = np.abs(x.array), float(exponent)
        with np.errstate(all="ignore"):
            ends = [np.abs(np.power(size + e, p) - np.power(size, p)) for e in (x.error, -x.error)]
            exact = x.is_power_of_two and exponent.denominator == 1
            return self._rounded(x.names, np.power(x.array, p), np.maximum(*ends), (x,), exact=exact)

    def of_exact(self, names: tuple[str, ...], array: Array) -> Coefficient:
        """Return numbers that a function gives for numbers that are exact."""
        return self._rounded(names, array, _NO_ERROR, (Coefficient((), array),))

    def _rounded(
        self, names: tuple[str, ...], array: Any, error: Any, of: Sequence[Coefficient], exact: bool = False
    ) -> Coefficient:
        """Return a result whose operands had errors; it is a number of a formula if all of them are.

        A number of a formula is in a model as its parts, each rounded, or as one number that is rounded once.
        """
        array, real = np.asarray(array, np.float64), all(c.real for c in of)
        if not exact:
            error = error + _DOUBLE * np.abs(array)
            if self.folds:
                error = error + self._half_ulp(array)
            elif real:
                error = np.maximum(error, self._half_ulp(array))
        return Coefficient(names, array, np.asarray(error), real)

    def has(self, array: Array) -> bool:
        """Return whether the type has all of these numbers."""
        with np.errstate(all="ignore"):
            return bool((array.astype(self.dtype).astype(np.float64) == array).all())

    def _half_ulp(self, array: Array) -> Array:
        """Return half a unit in the last place of each number, and 0 for those that the type has."""
        with np.errstate(all="ignore"):
            return np.where(array.astype(self.dtype) == array, 0.0, self._spacing(array) / 2)

    def _spacing(self, array: Array) -> Array:
        """Return a unit in the last place of each number."""
        with np.errstate(all="ignore"):
            return np.asarray(np.spacing(np.abs(array.astype(self.dtype)))).astype(np.float64)
