"""Expressions over real numbers: what NumPy functions of bodies compute of elements that are not known.

A `Form` is a sum of products.  It takes part in NumPy's protocols, so the function of a body runs on forms as it runs
on arrays, and there is no second definition of what an operation computes.  A function that is no sum, product or power
gives an atom: the function with its arguments.  Two values are equal over the real numbers if their forms are.

Nothing is cancelled: ``x - x`` keeps a term with the coefficient 0, and ``x / x`` is not 1, since neither holds for all
floats.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symlayout.proof.forms.coefficients import Coefficient, Rounding, scalar

Array = np.ndarray[Any, Any]
Monomial = tuple[tuple[int, Fraction], ...]
Key = tuple[Monomial, tuple[str, ...]]
"""A product of powers of atoms, and the digits over which it is added."""

BOXED = ("mean", "sum", "max", "min")
"""Kinds of atoms that are reductions of a form, with the box of digits that it is reduced over."""

_MOST_TERMS = 64
_MOST_POWER = 4  # larger whole exponents are not multiplied out


class UnformedError(TypeError):
    """A function does more than forms can express."""


@dataclass(frozen=True, slots=True)
class Atom:
    """What is not taken apart: *kind* says how to compare *content*."""

    kind: str
    content: tuple[Any, ...]


@dataclass(slots=True)
class Atoms:
    """The atoms of forms that are compared with each other.

    Attributes
    ----------
    same : function
        Says of two atoms that are not functions of forms whether they are equal.
    rounding : Rounding
        How numbers are rounded that are computed of numbers.
    steps : int
        How many operations were applied to forms.
    divided, folded : bool
        Whether a form was divided, and whether constants were multiplied or added with each other.
    """

    same: Callable[[Atom, Atom], bool]
    rounding: Rounding
    found: list[Atom] = field(default_factory=list)
    steps: int = 0
    divided: bool = False
    folded: bool = False

    def form(self, atom: Atom) -> Form:
        """Return an atom as a form: one that is known already, if it is equal to it."""
        number = next((k for k, a in enumerate(self.found) if self._is(a, atom)), len(self.found))
        if number == len(self.found):
            self.found.append(atom)
        return Form(self, {(((number, Fraction(1)),), ()): scalar(1)})

    def number(self, value: Any) -> Form:
        """Return a number that is exact, or a coefficient, as a form."""
        return Form(self, {((), ()): value if isinstance(value, Coefficient) else scalar(value)})

    def _is(self, a: Atom, b: Atom) -> bool:
        if a.kind != b.kind:
            return False
        if a.kind not in ("call", "power", *BOXED):
            return self.same(a, b)
        if len(a.content) != len(b.content):
            return False
        pairs = list(zip(a.content, b.content, strict=True))
        if all(self._near(x, y) for x, y in pairs):
            return True
        turned = a.content[0] in _SYMMETRIC and len(a.content) == 3
        return turned and all(
            self._near(x, y) for x, y in zip(a.content, (b.content[0], *b.content[:0:-1]), strict=True)
        )

    def _near(self, x: Any, y: Any) -> bool:
        if isinstance(x, Form) and isinstance(y, Form):
            return x.is_near(y)
        return type(x) is type(y) and bool(x == y)


class Form:
    """A sum of products of powers of atoms, with coefficients.

    Attributes
    ----------
    atoms : Atoms
        What the numbers in monomials stand for.
    terms : dict
        The coefficient of each product.
    inner : Form or None
        If the form is an element of a vector: the element at any place of it.
    box : tuple of (str, extent)
        The digits of that place, with their extents.
    """

    __slots__ = ("atoms", "box", "inner", "terms")

    dtype = np.dtype(object)
    __array_priority__ = 1000

    def __init__(
        self,
        atoms: Atoms,
        terms: dict[Key, Coefficient],
        inner: Form | None = None,
        box: tuple[tuple[str, Any], ...] = (),
    ) -> None:
        if len(terms) > _MOST_TERMS:
            raise UnformedError("a form has too many terms")
        self.atoms, self.terms, self.inner, self.box = atoms, terms, inner, box

    # ------------------------------------------------------------------ comparison

    def is_near(self, other: Form) -> bool:
        """Return whether two forms have the same terms, up to the errors of coefficients."""
        constant: Key = ((), ())
        for a, b in ((self.terms, other.terms), (other.terms, self.terms)):
            for key, value in a.items():
                if key not in b:
                    if key != constant or not value.may_be_zero:
                        return False
                elif not value.is_near(b[key]):
                    return False
        return True

    @property
    def constant(self) -> Coefficient | None:
        """The coefficient, if the form has no atoms."""
        if not self.terms:
            return scalar(0)
        return self.terms.get(((), ())) if len(self.terms) == 1 else None

    # ------------------------------------------------------------------ arithmetic

    def _lifted(self, value: Any) -> Form:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value.item()
        if isinstance(value, Form):
            return value
        if isinstance(value, int | float | np.integer | np.floating):
            return self.atoms.number(self.atoms.rounding.real(float(value)))
        raise UnformedError("an operand of a form is an array")

    def _apart(self, function: Callable[..., Form], *others: Form) -> Form:
        """Return a function of forms; of vectors also at any place of them."""
        made = function(self, *others)
        vector = next((f for f in (self, *others) if f.inner is not None), None)
        if vector is not None:
            made = Form(made.atoms, made.terms, function(*(f.inner or f for f in (self, *others))), vector.box)
        return made

    def _binary(self, other: Any, function: Callable[[Form, Form], Form]) -> Form:
        self.atoms.steps += 1
        return self._apart(function, self._lifted(other))

    def __add__(self, other: Any) -> Form:
        return self._binary(other, _sum)

    __radd__ = __add__

    def __neg__(self) -> Form:
        self.atoms.steps += 1
        return self._apart(lambda x: _product(x, x.atoms.number(-1)))

    def __sub__(self, other: Any) -> Form:
        return self._binary(other, lambda x, y: _sum(x, _product(y, y.atoms.number(-1))))

    def __rsub__(self, other: Any) -> Form:
        return self._lifted(other) - self

    def __mul__(self, other: Any) -> Form:
        return self._binary(other, _product)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Form:
        return self._binary(other, _quotient)

    def __rtruediv__(self, other: Any) -> Form:
        return self._lifted(other) / self

    def __pow__(self, exponent: Any) -> Form:
        value = self._lifted(exponent).constant
        if value is None or not value.is_scalar:
            return self._call(np.power, self, exponent)
        self.atoms.steps += 1
        rational = Fraction(value.array.item()).limit_denominator(64)
        if float(rational) != value.array.item():
            return self._call(np.power, self, exponent)
        return self._apart(lambda x: _power(x, rational))

    def __lt__(self, other: Any) -> Form:
        return self._call(np.less, self, other)

    def __le__(self, other: Any) -> Form:
        return self._call(np.less_equal, self, other)

    def __gt__(self, other: Any) -> Form:
        return self._call(np.greater, self, other)

    def __ge__(self, other: Any) -> Form:
        return self._call(np.greater_equal, self, other)

    # ------------------------------------------------------------------ NumPy's protocols

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Form:
        if method != "__call__" or options:
            raise UnformedError(f"{ufunc} of a form")
        forms = [self._lifted(x) for x in inputs]
        if ufunc in _ARITHMETIC:
            made: Form = _ARITHMETIC[ufunc](*forms)
            return made
        return self._call(ufunc, *forms)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Mapping[str, Any]) -> Any:
        if function is np.result_type:
            return self.dtype
        if function is np.squeeze:
            return args[0]
        if function is np.clip and not options:
            x, low, high = args
            return np.minimum(np.maximum(x, low), high)
        if function is not np.where or options:
            raise UnformedError(f"{function} of a form")
        if (chosen := self._chosen(*args)) is not None:
            return chosen
        return self._call(function, *args)

    def _chosen(self, condition: Any, yes: Any, no: Any) -> Form | None:
        """Return what a condition that is one number chooses; None for another condition."""
        value = self._lifted(condition).constant
        if value is None or not value.is_scalar or value.error.any():
            return None
        self.atoms.steps += 1
        return self._lifted(yes if value.array.item() else no)

    def __getattr__(self, name: str) -> Callable[[], Form]:
        """Return NumPy's function *name* of this form, as arrays of objects ask for it."""
        ufunc = getattr(np, name, None)
        if not isinstance(ufunc, np.ufunc) or ufunc.nin != 1:
            raise AttributeError(name)
        return lambda: self.__array_ufunc__(ufunc, "__call__", self)

    def astype(self, dtype: Any) -> Form:
        """Return the form itself: real numbers have no type."""
        return self

    def mean(self, axes: Sequence[int], keepdims: bool = False) -> Form:
        """Return the mean of all elements of the vector."""
        return self._reduced("mean", axes)

    def sum(self, axes: Sequence[int], keepdims: bool = False) -> Form:
        """Return the sum of all elements of the vector."""
        return self._reduced("sum", axes)

    def max(self, axes: Sequence[int], keepdims: bool = False, initial: Any = -np.inf) -> Form:
        """Return the maximum of all elements of the vector."""
        return self._reduced("max", axes)

    def min(self, axes: Sequence[int], keepdims: bool = False, initial: Any = np.inf) -> Form:
        """Return the minimum of all elements of the vector."""
        return self._reduced("min", axes)

    def _reduced(self, kind: str, axes: Sequence[int]) -> Form:
        inner, box = self._vector(axes)
        self.atoms.steps += 1
        return self.atoms.form(Atom(kind, (inner, box)))

    def _vector(self, axes: Sequence[int]) -> tuple[Form, tuple[tuple[str, Any], ...]]:
        if self.inner is None or len(axes) != len(self.box):
            raise UnformedError("a reduction along some axes of a form")
        return self.inner, self.box

    def _call(self, function: Any, *args: Any) -> Form:
        self.atoms.steps += 1
        return self._lifted(args[0])._apart(_called(function), *(self._lifted(a) for a in args[1:]))


def _called(function: Any) -> Callable[..., Form]:
    def made(*forms: Form) -> Form:
        values = [f.constant for f in forms]
        if all(value is not None for value in values):
            found = [value for value in values if value is not None]
            names = tuple(sorted({name for value in found for name in value.names}))
            with np.errstate(all="ignore"):
                array = np.asarray(function(*(value.aligned(names) for value in found)))
            if array.dtype.kind == "f":
                if any(value.error.any() for value in found):
                    raise UnformedError("a function of numbers that are not exact")
                return forms[0].atoms.number(forms[0].atoms.rounding.of_exact(names, array))
        bare = tuple(Form(f.atoms, f.terms) for f in forms)
        return forms[0].atoms.form(Atom("call", (function, *bare)))

    return made


_SYMMETRIC = (np.maximum, np.minimum, np.equal, np.logaddexp)
_ARITHMETIC: dict[Any, Callable[..., Any]] = {
    np.add: operator.add,
    np.subtract: operator.sub,
    np.multiply: operator.mul,
    np.divide: operator.truediv,
    np.negative: operator.neg,
    np.power: operator.pow,
    np.square: lambda x: x * x,
    np.sqrt: lambda x: x**0.5,
    np.reciprocal: lambda x: 1 / x,
}


def _sum(a: Form, b: Form) -> Form:
    terms = dict(a.terms)
    for key, value in b.terms.items():
        if key in terms:
            a.atoms.folded |= not (value.is_scalar and terms[key].is_scalar)
            terms[key] = a.atoms.rounding.sum(terms[key], value)
        else:
            terms[key] = value
    return Form(a.atoms, terms)


def _product(a: Form, b: Form) -> Form:
    terms: dict[Key, Coefficient] = {}
    for (powers, box), x in a.terms.items():
        for (others, over), y in b.terms.items():
            if box and over:
                raise UnformedError("a product of two sums")
            key = (_joined(powers, others), box or over)
            a.atoms.folded |= not (x.is_unit or y.is_unit) and not (x.is_scalar and y.is_scalar)
            value = a.atoms.rounding.product(x, y)
            terms[key] = a.atoms.rounding.sum(terms[key], value) if key in terms else value
    return Form(a.atoms, terms)


def _quotient(x: Form, y: Form) -> Form:
    divisor = y.constant
    if divisor is not None and x.constant is None:
        x.atoms.divided |= not divisor.is_power_of_two
    return _product(x, _power(y, Fraction(-1)))


def _joined(a: Monomial, b: Monomial) -> Monomial:
    """Return a product of monomials; powers of one atom are added if their signs are equal."""
    found: dict[tuple[int, bool], Fraction] = {}
    for number, exponent in (*a, *b):
        key = number, exponent > 0
        found[key] = found.get(key, Fraction(0)) + exponent
    return tuple(sorted((number, exponent) for (number, _), exponent in found.items()))


def _power(x: Form, exponent: Fraction) -> Form:
    if exponent.denominator == 1 and 1 <= exponent <= _MOST_POWER:
        made = x
        for _ in range(int(exponent) - 1):
            made = _product(made, x)
        return made
    value = x.constant
    if value is not None:
        return x.atoms.number(x.atoms.rounding.power(value, exponent))
    x.atoms.divided |= exponent < 0
    if len(x.terms) == 1 and exponent == -1:
        (((powers, box), value),) = x.terms.items()
        if not box:
            inverse = x.atoms.rounding.power(value, exponent)
            return Form(x.atoms, {(tuple(sorted((n, -e) for n, e in powers)), ()): inverse})
    if len(x.terms) == 1:  # a power of a power of one atom, such as the inverse of a root
        (((powers, box), value),) = x.terms.items()
        is_root = not box and len(powers) == 1 and powers[0][1].denominator == 2
        if is_root and value.is_scalar and value.array.item() == 1:
            return Form(x.atoms, {(((powers[0][0], powers[0][1] * exponent),), ()): scalar(1)})
    base = x.atoms.form(Atom("power", (Form(x.atoms, x.terms),)))
    ((number, _),) = next(iter(base.terms))[0]
    return Form(x.atoms, {(((number, exponent),), ()): scalar(1)})
