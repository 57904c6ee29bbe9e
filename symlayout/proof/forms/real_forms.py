"""Expressions over real numbers: what NumPy functions of bodies compute of elements that are not known.

A `Form` is a sum of products.  It takes part in NumPy's protocols, so the function of a body runs on forms as it runs
on arrays, and there is no second definition of what an operation computes.  A function that is no sum, product or power
gives an atom: the function with its arguments.  Two values are equal over the real numbers if their forms are.

Each step beyond writing down what a function does needs a law (`LAW_OF_STEP`).  Where the law is not granted, the
operand is kept as a group: an atom with a form in it.  So forms that are equal name the laws by which they are.  Where
forms only say which formula a function has, all steps are free, and nothing is cancelled: ``x - x`` keeps a term with
the coefficient 0, and ``x / x`` is not 1.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from symlayout.proof.forms.coefficients import Coefficient, Rounding, scalar
from symlayout.proof.laws import FOLD, REAL, REASSOCIATE, RECIPROCAL, SIGNED_ZERO

Array = np.ndarray[Any, Any]
Monomial = tuple[tuple[int, Fraction], ...]
Key = tuple[Monomial, tuple[str, ...]]
"""A product of powers of atoms, and the digits over which it is added."""

BOXED = ("mean", "sum", "max", "min")
"""Kinds of atoms that are reductions of a form, with the box of digits that it is reduced over."""

LAW_OF_STEP = {
    "terms in another order": REASSOCIATE,  # (x + y) + z = x + (y + z)
    "factors in another order": REASSOCIATE,  # (x * y) * z = x * (y * z)
    "a quotient as a product": RECIPROCAL,  # x / y = x * (1 / y)
    "a negated sum": SIGNED_ZERO,  # -(x + y) = -x - y is another zero where x is -y
    "a summand 0": SIGNED_ZERO,  # x + 0 = x
    "a constant 0 or -0": SIGNED_ZERO,
    "a product with a sum": REAL,  # x * (y + z) = x * y + x * z
    "like terms": REAL,  # 2 * x + 3 * x = 5 * x
    "terms that cancel": REAL,  # x - x = 0; x / x = 1 does not hold for real numbers either
    "powers": REAL,  # x ** 0.5 = sqrt(x), 1 / (x * y) = 1 / x * (1 / y)
    "a product with 0": REAL,  # 0 * x = 0
    "constants that are computed": FOLD,  # (x * scale) * weights = x * (scale * weights)
}
"""The law of each step that makes another form of a function of forms.

Where a constant becomes part of another one, steps of the order, of distribution and of like terms are taken by the law
for that.
"""

COMPUTED = "constants that are computed"
_NOT_IN_FORMULAS = ("a summand 0", "a constant 0 or -0", "terms that cancel", "a product with 0")
_LARGEST = 2.0**53  # whole numbers below this are floats of 64 bits
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
    laws : frozenset of str, optional
        The laws that forms may be rewritten by; None means that they only say which formula a function has.
    used : set of str
        The laws of the steps that were taken.
    computed : bool
        Whether constants were computed from each other.
    """

    same: Callable[[Atom, Atom], bool]
    rounding: Rounding
    laws: frozenset[str] | None = None
    found: list[Atom] = field(default_factory=list)
    steps: int = 0
    used: set[str] = field(default_factory=set)
    computed: bool = False

    def may(self, step: str, *, of_constant: bool = False) -> bool:
        """Return whether a step may be taken, and note its law; *of_constant* says that it moves a constant."""
        if self.laws is None:
            self.computed |= step == COMPUTED
            return step not in _NOT_IN_FORMULAS
        law = next((law for law in (LAW_OF_STEP[step], *[FOLD] * of_constant) if law in self.laws), None)
        if law is not None:
            self.used.add(law)
            self.computed |= step == COMPUTED
        return law is not None

    def may_compute(self) -> bool:
        """Return whether a function of constants may be one constant; its own rounding may be another one."""
        return self.laws is None or self.may(COMPUTED)

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
        if a.kind not in ("call", "group", *BOXED):
            return self.same(a, b)
        if len(a.content) != len(b.content):
            return False
        pairs = list(zip(a.content, b.content, strict=True))
        if all(self._near(x, y) for x, y in pairs):
            return True
        turned = len(a.content) == 3 and any(a.content[0] is function for function in _SYMMETRIC)
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
                    if key != constant or not value.may_be_zero or not self._may_lack_zero():
                        return False
                elif not (value.is_near(b[key]) and self._may_be_zero_of(value, b[key])):
                    return False
        return True

    def _may_be_zero_of(self, x: Coefficient, y: Coefficient) -> bool:
        return not x.is_other_zero(y) or self.atoms.may("a constant 0 or -0", of_constant=True)

    def _may_lack_zero(self) -> bool:
        return self.atoms.laws is None or self.atoms.may("a summand 0")

    @property
    def is_zero(self) -> bool:
        """Whether the form is the constant 0."""
        value = self.constant
        return value is not None and value.is_scalar and not value.error.any() and not value.array.any()

    def grouped(self) -> Form:
        """Return the form as one atom, but for its sign: what is in it is not taken apart."""
        if self.constant is not None or self.is_factor:
            return self
        sign = 1
        if len(self.terms) == 1:
            (value,) = self.terms.values()
            sign = -1 if value.is_scalar and value.array.item() < 0 else 1
        bare = Form(self.atoms, {key: value.signed(sign) for key, value in self.terms.items()})
        made = bare if bare.is_factor else self.atoms.form(Atom("group", (bare,)))
        return made if sign > 0 else Form(self.atoms, {key: value.signed(-1) for key, value in made.terms.items()})

    @property
    def is_factor(self) -> bool:
        """Whether the form is a number, or one atom or its negative."""
        if len(self.terms) != 1:
            return False
        (((powers, box), value),) = self.terms.items()
        if not powers:
            return not box
        return not box and len(powers) == 1 and powers[0][1] == 1 and value.is_scalar and value.is_unit

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
            inner = [f if f.inner is None else f.inner for f in (self, *others)]
            made = Form(made.atoms, made.terms, function(*inner), vector.box)
        return made

    def _binary(self, other: Any, function: Callable[[Form, Form], Form]) -> Form:
        self.atoms.steps += 1
        return self._apart(function, self._lifted(other))

    def __add__(self, other: Any) -> Form:
        return self._binary(other, _sum)

    __radd__ = __add__

    def __neg__(self) -> Form:
        self.atoms.steps += 1
        return self._apart(_negative)

    def __sub__(self, other: Any) -> Form:
        return self._binary(other, lambda x, y: _sum(x, _negative(y)))

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
        if not np.isfinite(value.array.item()):
            return self._call(np.power, self, exponent)
        rational = Fraction(value.array.item()).limit_denominator(64)
        if float(rational) != value.array.item() or not (rational in (1, 2) or self.atoms.may("powers")):
            return self._call(np.power, self, exponent)
        return self._apart(lambda x: _power(x, rational))

    def root(self) -> Form:
        """Return the square root."""
        if self.constant is None and not self.atoms.may("powers"):
            return self._call(np.sqrt, self)
        self.atoms.steps += 1
        return self._apart(lambda x: _power(x, Fraction(1, 2)))

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

    def __eq__(self, other: object) -> Form:  # type: ignore[override]
        return self._call(np.equal, self, other)

    def __ne__(self, other: object) -> Form:  # type: ignore[override]
        return self._call(np.not_equal, self, other)

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise UnformedError("the truth of an element that is not known")

    def astype(self, dtype: Any) -> Form:
        """Return the form itself in a type that has all numbers of its own: real numbers have no type."""
        dtype = np.dtype(dtype)
        if dtype.kind != "O" and (dtype.kind != "f" or dtype.itemsize < self.atoms.rounding.dtype.itemsize):
            raise UnformedError(f"a conversion to {dtype}")
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
        if all(value is not None for value in values) and forms[0].atoms.may_compute():
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
    np.sqrt: Form.root,
    np.reciprocal: lambda x: 1 / x,
}


def _sum(a: Form, b: Form) -> Form:
    atoms = a.atoms
    for one, other in ((a, b), (b, a)):
        if one.is_zero and other.constant is None and atoms.may("a summand 0"):
            return other
    if not a.terms or not b.terms:
        return a if a.terms else b
    if (known := _of_numbers(a, b, operator.add)) is not None:
        return known
    number = a.constant is not None or b.constant is not None
    is_sum = any(len(f.terms) > 1 for f in (a, b))
    if is_sum and not atoms.may("terms in another order", of_constant=number):
        a, b = a.grouped(), b.grouped()
    if any(not _may_add(atoms, key, value, b.terms[key]) for key, value in a.terms.items() if key in b.terms):
        a, b = _one_group(a), _one_group(b)
    terms = dict(a.terms)
    for key, value in b.terms.items():
        if key not in terms:
            terms[key] = value
            continue
        terms[key] = atoms.rounding.sum(terms[key], value)
        if key[0] and not terms[key].array.any() and not terms[key].error.any() and atoms.may("terms that cancel"):
            del terms[key]
    return Form(atoms, terms)


def _of_numbers(a: Form, b: Form, function: Callable[[Array, Array], Array]) -> Form | None:
    """Return a sum or product of two numbers that is rounded, and no law allows that, as one atom; None of others."""
    x, y = a.constant, b.constant
    if x is None or y is None or a.atoms.laws is None:
        return None
    names = tuple(sorted({*x.names, *y.names}))
    made = function(x.aligned(names), y.aligned(names))
    whole = bool((np.rint(made) == made).all() and (np.abs(made) < _LARGEST).all())  # then a float64 has it
    fits = whole or a.atoms.rounding.dtype.itemsize < 8
    if fits and a.atoms.rounding.has(made) and not (x.error.any() or y.error.any()):
        return Form(a.atoms, {((), ()): Coefficient(names, made, real=x.real and y.real)})
    return None if a.atoms.may(COMPUTED) else a.atoms.form(Atom("call", (function, a, b)))


def _may_add(atoms: Atoms, key: Key, x: Coefficient, y: Coefficient) -> bool:
    """Return whether the coefficients of like terms may be added; ``x + x`` is ``2 * x`` bit for bit."""
    if not (x.is_scalar and y.is_scalar):
        return atoms.may(COMPUTED)
    powers, box = key
    twice = x.is_unit and y.is_unit and x.array.item() == y.array.item()
    return (not powers and not box) or (twice and not box) or atoms.may("like terms")


def _one_group(x: Form) -> Form:
    """Return a form as one atom, also where it is a factor already."""
    if x.atoms.laws is None:
        raise UnformedError("terms that cannot be added")
    return x.atoms.form(Atom("group", (Form(x.atoms, x.terms),)))


def _negative(x: Form) -> Form:
    if len(x.terms) > 1 and not x.atoms.may("a negated sum"):
        x = x.grouped()
    return Form(x.atoms, {key: value.signed(-1) for key, value in x.terms.items()})


def _product(a: Form, b: Form) -> Form:
    atoms = a.atoms
    for one, other in ((a, b), (b, a)):
        if (value := one.constant) is not None and value.is_scalar and value.is_unit and not value.error.any():
            return other if value.array.item() > 0 else _negative(other)
    if (known := _of_numbers(a, b, operator.mul)) is not None:
        return known
    number = a.constant is not None or b.constant is not None
    is_sum = any(len(f.terms) > 1 or any(box for _, box in f.terms) for f in (a, b))
    if is_sum and not atoms.may("a product with a sum", of_constant=number):
        a, b = a.grouped(), b.grouped()
    is_product = any(_factors(f) > 1 for f in (a, b))
    if is_product and not atoms.may("factors in another order", of_constant=number):
        a, b = a.grouped(), b.grouped()
    if not all(_may_multiply(atoms, *pair) for pair in itertools.product(a.terms.items(), b.terms.items())):
        a, b = _one_group(a), _one_group(b)
    terms: dict[Key, Coefficient] = {}
    for (powers, box), x in a.terms.items():
        for (others, over), y in b.terms.items():
            if box and over:
                raise UnformedError("a product of two sums")
            key = (_joined(powers, others), box or over)
            value = atoms.rounding.product(x, y)
            terms[key] = atoms.rounding.sum(terms[key], value) if key in terms else value
    return Form(atoms, terms)


def _factors(form: Form) -> int:
    """Return how many factors the terms of a form have at most."""
    return max(
        (
            sum(max(1, abs(int(e))) for _, e in powers) + (not value.is_unit)
            for (powers, _), value in form.terms.items()
        ),
        default=0,
    )


def _may_multiply(atoms: Atoms, a: tuple[Key, Coefficient], b: tuple[Key, Coefficient]) -> bool:
    """Return whether two terms may be one: numbers of models that are computed, and powers, need a law."""
    ((powers, _), x), ((others, _), y) = a, b
    scalars = (x.is_unit or y.is_unit) or (x.is_scalar and y.is_scalar)
    if not scalars and not atoms.may(COMPUTED):
        return False
    roots = {number for number, e in powers if e.denominator > 1} & {
        number for number, e in others if e.denominator > 1
    }
    return not roots or atoms.may("powers")


def _quotient(x: Form, y: Form) -> Form:
    divisor = y.constant
    exact = divisor is not None and (x.constant is not None or divisor.is_power_of_two)
    if not exact and not x.atoms.may("a quotient as a product"):
        return x.atoms.form(Atom("call", (np.divide, Form(x.atoms, x.terms), Form(y.atoms, y.terms))))
    if divisor is not None and x.constant is None:
        return _product(x, x.atoms.number(x.atoms.rounding.power(divisor, Fraction(-1))))
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
        exact = exponent == -1 and value.is_power_of_two
        if not exact and not x.atoms.may_compute():
            return _one_group_of_power(x, exponent)
        return x.atoms.number(x.atoms.rounding.power(value, exponent))
    if len(x.terms) == 1 and exponent == -1 and (x.is_factor or x.atoms.may("powers")):
        (((powers, box), value),) = x.terms.items()
        if not box:
            inverse = x.atoms.rounding.power(value, exponent)
            return Form(x.atoms, {(tuple(sorted((n, -e) for n, e in powers)), ()): inverse})
    if len(x.terms) == 1:  # a power of a power of one atom, such as the inverse of a root
        (((powers, box), value),) = x.terms.items()
        is_root = not box and len(powers) == 1 and powers[0][1].denominator == 2
        if is_root and value.is_scalar and value.array.item() == 1 and x.atoms.may("powers"):
            return Form(x.atoms, {(((powers[0][0], powers[0][1] * exponent),), ()): scalar(1)})
    return _one_group_of_power(x, exponent)


def _one_group_of_power(x: Form, exponent: Fraction) -> Form:
    base = x.atoms.form(Atom("group", (Form(x.atoms, x.terms),)))
    ((number, _),) = next(iter(base.terms))[0]
    return Form(x.atoms, {(((number, exponent),), ()): scalar(1)})
