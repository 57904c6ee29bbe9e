"""SymPy in and out: dims as symbols, expressions to extents, extents to expressions.

SymPy is the language of the public API and nothing else here uses it, so this module imports
it only when a symbol is made or read.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from symlayout.errors import FormatError, ShapeError
from symlayout.facts import Dim, Facts, Requirement
from symlayout.polynomial import Extent, Monomial, Poly, collapse, symbol, terms_of

if TYPE_CHECKING:
    import sympy

_NAME = re.compile(r"[^\W\d]\w*(\.\d+)*", re.ASCII)
_FRESH = itertools.count()
_MAX_POWER = 64


def dim(name: str, min: int = 0, max: int | None = None, multiple_of: int = 1) -> sympy.Symbol:
    """Return a dim: a SymPy integer symbol that carries its bounds.

    The bounds are part of the dim's identity: ``dim("b") != dim("b", min=1)``, and two dims of one
    name that meet in one tensor or claim are an error of kind ``dim_conflict``.

    Parameters
    ----------
    name : str
        Letters, digits and underscores, not starting with a digit.
    min, max : int
        ``min <= dim <= max``; a *max* of None is unbounded.
    multiple_of : int
        A positive integer that divides the dim.

    Raises
    ------
    FormatError
        The name is not an identifier.
    ShapeError
        ``infeasible`` if the bounds leave no value, ``attr_dtype`` if one is not an integer.

    Examples
    --------
    >>> dim("b", min=1) * 2
    2*b
    """
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name, re.ASCII):
        raise FormatError(f"dim name {name!r:.80} is not an identifier\n  help: use letters, digits and _")
    record = Dim(
        name,
        _integer(min, "min"),
        None if max is None else _integer(max, "max"),
        _integer(multiple_of, "multiple_of"),
    )
    if record.multiple_of < 1:
        raise ShapeError(f"dim {name}: multiple_of {multiple_of} < 1", "infeasible")
    Facts().declare(record)
    return symbol_of(record)


def dims(names: str, min: int = 0, max: int | None = None, multiple_of: int = 1) -> tuple[sympy.Symbol, ...]:
    """Return a tuple of dims, one for each name in *names*, separated by spaces or commas.

    >>> dims("N H")
    (N, H)
    """
    return tuple(dim(name, min, max, multiple_of) for name in names.replace(",", " ").split())


def fresh(stem: str, min: int = 0, max: int | None = None) -> sympy.Symbol:
    """Return a dim that the user did not name, for an attribute that is unknown."""
    return symbol_of(Dim(f"{stem}.{next(_FRESH)}", min, max))


def _integer(value: Any, what: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise ShapeError(f"{what} {value!r:.80} is not an integer", "attr_dtype") from None


@lru_cache(maxsize=1)
def _dim_symbol() -> type:
    """Return the class of dims: a SymPy symbol whose identity includes its `Dim`."""
    import sympy

    class DimSymbol(sympy.Symbol):  # type: ignore[misc]  # SymPy has no types
        """A SymPy integer symbol with bounds."""

        __slots__ = ("record",)
        record: Dim

        def __new__(cls, record: Dim) -> DimSymbol:
            # plain nonnegative/positive assumptions, so that SymPy's own rules see the bounds
            if record.min > 0:
                made = sympy.Symbol.__xnew__(cls, record.name, integer=True, positive=True)
            elif record.min == 0:
                made = sympy.Symbol.__xnew__(cls, record.name, integer=True, nonnegative=True)
            else:
                made = sympy.Symbol.__xnew__(cls, record.name, integer=True)
            made.record = record
            return made  # type: ignore[no-any-return]

        def __getnewargs_ex__(self) -> tuple[tuple[Dim], dict[str, Any]]:
            return (self.record,), {}

        def __reduce__(self) -> tuple[Callable[[Dim], Any], tuple[Dim]]:
            return symbol_of, (self.record,)

        def _hashable_content(self) -> tuple[Any, ...]:
            return (*super()._hashable_content(), self.record)

        @property
        def min(self) -> int:
            """The least value."""
            return self.record.min

        @property
        def max(self) -> int | None:
            """The greatest value, or None."""
            return self.record.max

        @property
        def multiple_of(self) -> int:
            """What divides the dim."""
            return self.record.multiple_of

    return DimSymbol


@lru_cache(maxsize=4096)
def symbol_of(record: Dim) -> sympy.Symbol:
    """Return the SymPy symbol of a dim."""
    made: sympy.Symbol = _dim_symbol()(record)
    return made


def to_extent(value: Any, facts: Facts, what: str = "value") -> Extent:
    """Return an integer, a dim or an expression as an extent, in the symbols of *facts*.

    Dims are declared in *facts*.  An expression may divide: that the quotient is an integer becomes
    a requirement of kind ``non_divisible``.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if it is not an integer expression in dims; what `Facts.divide` raises.
    """
    if type(value) is int:
        return value
    record = getattr(value, "record", None)
    if type(record) is Dim:
        facts.declare(record)
        return facts.reduce(symbol(record.name))
    if isinstance(value, Poly):
        return facts.reduce(value)
    if hasattr(value, "free_symbols"):
        return _from_sympy(value, facts, what)
    return _integer(value, what)


def _from_sympy(e: Any, facts: Facts, what: str) -> Extent:
    import sympy

    if isinstance(e, sympy.Integer):
        return int(e)
    if isinstance(e, sympy.Symbol):
        return to_extent(symbol_of(_record_of(e)), facts, what)
    numerator, denominator = _fraction(e, facts, what)
    numerator, denominator = facts.reduce(numerator), facts.reduce(denominator)
    if denominator == 1:
        return numerator
    if not facts.positive(denominator):
        facts.require_nonnegative(denominator - 1, "non_divisible", what)
    return facts.divide(numerator, denominator, "non_divisible", what)


def _record_of(e: Any) -> Dim:
    """Return the dim of a symbol; a plain SymPy symbol is a dim with the bounds it is assumed to have."""
    record = getattr(e, "record", None)
    if isinstance(record, Dim):
        return record
    if not _NAME.fullmatch(e.name):
        raise FormatError(f"symbol name {e.name!r:.80} is not an identifier\n  help: make it with dim()")
    return Dim(e.name, 1 if e.is_positive else 0)


def _fraction(e: Any, facts: Facts, what: str) -> tuple[Extent, Extent]:
    """Return numerator and denominator of a rational expression, as polynomials in dims."""
    import sympy

    total: Extent
    over: Extent
    if isinstance(e, sympy.Rational):
        return int(e.p), int(e.q)
    if isinstance(e, sympy.Symbol):
        record = _record_of(e)
        facts.declare(record)
        return symbol(record.name), 1
    if isinstance(e, sympy.Add):
        sums: dict[Extent, dict[Monomial, int]] = {}  # by denominator
        for argument in e.args:
            n, d = _fraction(argument, facts, what)
            terms = sums.setdefault(d, {})
            for monomial, coefficient in terms_of(n).items():
                terms[monomial] = terms.get(monomial, 0) + coefficient
        total, over = 0, 1
        for d, terms in sums.items():
            n = collapse({m: c for m, c in terms.items() if c})
            total, over = (total + n, over) if d == over else (total * d + n * over, over * d)
        return total, over
    if isinstance(e, sympy.Mul):
        total, over = 1, 1
        for argument in e.args:
            n, d = _fraction(argument, facts, what)
            total, over = n * total, d * over
        return total, over
    if isinstance(e, sympy.Pow) and isinstance(e.exp, sympy.Integer) and abs(int(e.exp)) <= _MAX_POWER:
        n, d = _fraction(e.base, facts, what)
        total, over = 1, 1
        for _ in range(abs(int(e.exp))):
            total, over = n * total, d * over
        return (total, over) if e.exp > 0 else (over, total)
    raise ShapeError(
        f"{what} {str(e)[:80]} is not an integer, a dim, or an expression of + - * and exact /", "attr_dtype"
    )


def to_sympy(e: Extent, facts: Facts) -> Any:
    """Return *e* in the user's dims: an ``int``, or a SymPy expression."""
    if isinstance(e, int):
        return e
    top, bottom = facts.to_user(e)
    if bottom == 1 and (pair := facts.extremes(top)) is not None:
        import sympy

        form, a, b = pair
        return (sympy.Max if form == "max" else sympy.Min)(to_sympy(a, facts), to_sympy(b, facts))
    written = _polynomial(top, facts)
    return written if bottom == 1 else written / _polynomial(bottom, facts)


def _polynomial(e: Extent, facts: Facts) -> Any:
    import sympy

    if isinstance(e, int):
        return sympy.Integer(e)
    terms = [
        sympy.Mul(coefficient, *(_named(name, facts) for name in monomial))
        for monomial, coefficient in terms_of(e).items()
    ]
    return sympy.Add(*terms)


def _named(name: str, facts: Facts) -> Any:
    """Return the SymPy value of a symbol: a dim, or what a derived symbol is defined as."""
    import sympy

    if name in facts.dims:
        return symbol_of(facts.dims[name])
    if name in facts.quotients:
        return to_sympy(symbol(name), facts)
    d = facts.definitions[name]
    if d.form != "floor":
        return sympy.Max(to_sympy(d.left, facts), to_sympy(d.right, facts))
    if isinstance(d.right, int) and terms_of(d.left).get((), 0) == d.right - 1:
        return sympy.ceiling(to_sympy(d.left - (d.right - 1), facts) / d.right)
    return sympy.floor(to_sympy(d.left, facts) / to_sympy(d.right, facts))


def to_relation(r: Requirement, facts: Facts) -> Any:
    """Return a requirement as a SymPy relation."""
    import sympy

    value = _polynomial(r.value, facts)
    if r.relation == "divides":
        if isinstance(r.modulus, int) and isinstance(r.value, Poly):
            residue = r.value.terms.get((), 0)
            form = _polynomial(r.value - residue, facts)
            return sympy.Eq(sympy.Mod(form, r.modulus, evaluate=False), -residue % r.modulus, evaluate=False)
        modulus = _polynomial(r.modulus, facts)
        return sympy.Eq(sympy.Mod(value, modulus, evaluate=False), 0, evaluate=False)
    e = r.value
    if r.relation == "zero" and not any(c > 0 for m, c in terms_of(e).items() if m):
        e = -e
    positive = {m: c for m, c in terms_of(e).items() if c > 0 and m}
    left = _polynomial(_collapsed(positive), facts)
    right = _polynomial(_collapsed(positive) - e, facts)
    relation = sympy.Ge if r.relation == "nonnegative" else sympy.Eq
    return relation(left, right, evaluate=False)


def _collapsed(terms: dict[tuple[str, ...], int]) -> Extent:
    return Poly(terms) if terms else 0
