"""Translate between SymPy and the algebra: dims as symbols, expressions to extents, extents to expressions.

The public API takes and returns SymPy expressions; nothing else uses SymPy.  SymPy is imported when the first symbol
is made or read.
"""

from __future__ import annotations

import functools
import itertools
import operator
import os
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from symlayout.algebra import floor_normal_form
from symlayout.algebra.facts import Dim, Facts, Requirement
from symlayout.algebra.polynomial import Extent, Monomial, Poly, collapse, exact_quotient, names_of, symbol, terms_of
from symlayout.errors import FormatError, ShapeError, shortened, shown
from symlayout.language.readable import Factor, Sum, fold_fixed
from symlayout_codegen.forks import held_off

if TYPE_CHECKING:
    import sympy

_NAME = re.compile(r"[^\W\d]\w*(\.\d+)*", re.ASCII)
MAX_BITS = 4096
"""The most bits of an integer that users may pass.  A larger one is not a size, and is slow to print in a message."""

_FRESH = itertools.count()  # numbers for the dims that `fresh` makes
_PROCESS = os.urandom(8).hex()
_MAX_POWER = 64  # the largest exponent that is read
_COMPARED = 60  # nodes of expressions of which SymPy takes the greatest or the least


def dim(name: str, min: int | None = 0, max: int | None = None, multiple_of: int = 1) -> sympy.Symbol:
    """Return a dim: a SymPy integer symbol that carries its bounds.

    The bounds are part of the dim's identity: ``dim("b") != dim("b", min=1)``.  Two different dims of one name in
    one tensor or claim raise `ShapeError` of kind ``dim_conflict``.

    Parameters
    ----------
    name : str
        Letters, digits and underscores, not starting with a digit.
    min, max : int or None
        The bounds, both included; None is unbounded.  A shift or a pad may be negative; a dim that is an extent is
        at least 0.
    multiple_of : int
        A positive integer that divides the dim.

    Raises
    ------
    FormatError
        The name is not an identifier.
    ShapeError
        ``infeasible`` if the bounds exclude every value, ``attr_dtype`` if one is not an integer.

    Examples
    --------
    >>> dim("b", min=1) * 2
    2*b
    """
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name, re.ASCII):
        raise FormatError(f"dim name {shown(name)} is not an identifier\n  help: use letters, digits and _")
    record = Dim(
        name,
        None if min is None else _integer(min, "min"),
        None if max is None else _integer(max, "max"),
        _integer(multiple_of, "multiple_of"),
    )
    if record.multiple_of < 1:
        raise ShapeError(f"dim {name}: multiple_of {multiple_of} < 1", "infeasible")
    Facts().declare(record)
    return symbol_of(record)


def dims(names: str, min: int | None = 0, max: int | None = None, multiple_of: int = 1) -> tuple[sympy.Symbol, ...]:
    """Return a tuple of dims, one for each name in *names*.

    Parameters
    ----------
    names : str
        Names as for `dim`, separated by spaces or commas.
    min, max, multiple_of : int
        The bounds of every dim, as for `dim`.

    Raises
    ------
    FormatError, ShapeError
        As for `dim`.

    Examples
    --------
    >>> dims("N H")
    (N, H)
    """
    if not isinstance(names, str):
        raise TypeError(f"dims takes the names as one string, not {type(names).__name__}")
    return tuple(dim(name, min, max, multiple_of) for name in names.replace(",", " ").split())


def fresh(stem: str, min: int | None = 0, max: int | None = None) -> sympy.Symbol:
    """Return a new dim with a generated name, for an attribute whose value is unknown."""
    return symbol_of(Dim(f"{stem}.{next(_FRESH)}", min, max, process=f"{os.getpid()}.{_PROCESS}"))


def _integer(value: Any, label: str) -> int:
    try:
        if isinstance(value, bool):
            raise TypeError
        return whole(operator.index(value), label)
    except TypeError:
        raise ShapeError(f"{label} {shown(value)} is not an integer", "attr_dtype") from None


def whole(value: int, what: str) -> int:
    """Return *value*; raise `ShapeError` of kind ``overflow`` if it has more than `MAX_BITS` bits.

    *what* names the value in the message.
    """
    if value.bit_length() > MAX_BITS:
        raise ShapeError(f"{what} has {value.bit_length()} bits, at most {MAX_BITS} are read", "overflow")
    return value


@functools.lru_cache(maxsize=1)
def _dim_symbol() -> type:
    """Return the class of dims: a SymPy symbol whose identity includes the `Dim`."""
    with held_off:
        import sympy

    class DimSymbol(sympy.Symbol):  # type: ignore[misc]  # SymPy has no types
        """A SymPy integer symbol with bounds."""

        __slots__ = ("record",)
        record: Dim

        def __new__(cls, record: Dim) -> DimSymbol:
            # SymPy simplifies with its own assumptions, which say the sign only.
            if record.min is not None and record.min > 0:
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
        def min(self) -> int | None:
            """The least value, or None."""
            return self.record.min

        @property
        def max(self) -> int | None:
            """The greatest value, or None."""
            return self.record.max

        @property
        def multiple_of(self) -> int:
            """The integer that divides the dim."""
            return self.record.multiple_of

    return DimSymbol


@functools.lru_cache(maxsize=4096)
def symbol_of(record: Dim) -> sympy.Symbol:
    """Return the SymPy symbol of a dim."""
    made: sympy.Symbol = _dim_symbol()(record)
    return made


def to_extent(value: Any, facts: Facts, what: str = "value") -> Extent:
    """Return an integer, a dim or an expression as an extent, in the symbols of *facts*.

    The dims are declared in *facts*.  If the expression divides, "the quotient is an integer" becomes a requirement of
    kind ``non_divisible``.  *what* names the value in messages.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if *value* is not an integer expression in dims; the kinds of `Facts.divide`.
    """
    if type(value) is int:
        return whole(value, what)
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
        return whole(int(e), what)
    if isinstance(e, sympy.Symbol):
        return to_extent(symbol_of(_record_of(e)), facts, what)
    numerator, denominator = to_fraction(e, facts, what)
    return numerator if denominator == 1 else facts.divide(numerator, denominator, "non_divisible", what)


def to_fraction(e: Any, facts: Facts, what: str = "value", *, rounding: bool = True) -> tuple[Extent, Extent]:
    """Return ``(n, d)`` with ``e == n/d`` and ``d >= 1``, for a rational expression in dims.

    ``d >= 1`` becomes a requirement of kind ``non_divisible`` if it is not proved.

    Parameters
    ----------
    rounding : bool
        Whether floor, ceiling, Mod, Min and Max may occur.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if *e* is not a rational expression in dims, ``non_divisible`` if it divides by 0, ``budget`` if
        it is nested too deeply.
    """
    import sympy

    try:
        n, d = _fraction(sympy.Integer(e) if isinstance(e, int) else e, facts, what, rounding)
    except RecursionError:
        raise ShapeError(f"{what}: the expression is nested too deeply to be read", "budget") from None
    n, d = facts.reduce(n), facts.reduce(d)
    if isinstance(d, int) and d < 0:
        n, d = -n, -d
    _require_positive(d, e, facts, what)
    return n, d


def _require_positive(divisor: Extent, e: Any, facts: Facts, what: str) -> None:
    if divisor == 0:
        raise ShapeError(f"{what} {shortened(str(e))} divides by 0", "non_divisible")
    if not facts.positive(divisor):
        rule = f"{shortened(str(e))} divides by {facts.spell(divisor)}, and a divisor is at least 1"
        facts.require_nonnegative(divisor - 1, "non_divisible", what, rule=rule)


def _record_of(e: Any) -> Dim:
    """Return the dim of a symbol.  A plain SymPy symbol is a dim from 1 if it is assumed positive, else from 0."""
    record = getattr(e, "record", None)
    if isinstance(record, Dim):
        return record
    if not _NAME.fullmatch(e.name):
        raise FormatError(f"symbol name {shown(e.name)} is not an identifier\n  help: make it with dim()")
    return Dim(e.name, 1 if e.is_positive else 0)


def _fraction(e: Any, facts: Facts, what: str, rounding: bool) -> tuple[Extent, Extent]:
    """Return the numerator and the denominator of a rational expression, as polynomials in dims."""
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
            n, d = _fraction(argument, facts, what, rounding)
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
            n, d = _fraction(argument, facts, what, rounding)
            total, over = n * total, d * over
        return total, over
    if isinstance(e, sympy.Pow) and isinstance(e.exp, sympy.Integer) and abs(int(e.exp)) <= _MAX_POWER:
        n, d = _fraction(e.base, facts, what, rounding)
        total, over = 1, 1
        for _ in range(abs(int(e.exp))):
            total, over = n * total, d * over
        return (total, over) if e.exp > 0 else (over, total)
    if rounding and isinstance(e, (sympy.floor, sympy.ceiling, sympy.Mod, sympy.Min, sympy.Max)):
        return _rounded(e, facts, what), 1
    raise ShapeError(
        f"{what} {shortened(str(e))} is not an integer, a dim, or an expression of + - * and exact /", "attr_dtype"
    )


def _rounded(e: Any, facts: Facts, what: str) -> Extent:
    """Return a floor, ceiling, remainder, minimum or maximum as an extent."""
    import sympy

    parts = [to_fraction(argument, facts, what) for argument in e.args]
    if isinstance(e, sympy.floor):
        return _floor(facts, *parts[0])
    if isinstance(e, sympy.ceiling):
        n, d = parts[0]
        return floor_normal_form.floor_div(facts, n + d - 1, d)
    values = [facts.divide(n, d, "non_divisible", what) for n, d in parts]
    if isinstance(e, sympy.Mod):
        _require_positive(values[1], e, facts, what)
        n, d = map(facts.reduce, values)
        if isinstance(n, Poly) and isinstance(d, int):  # SymPy writes -H % 4 as 3*H % 4
            nearest = {m: (c + (d - 1) // 2) % d - (d - 1) // 2 if m else c for m, c in n.terms.items()}
            n = collapse({m: c for m, c in nearest.items() if c})
        return facts.reduce(n - d * _floor(facts, n, d))
    return functools.reduce(facts.minimum if isinstance(e, sympy.Min) else facts.maximum, values)


FUNCTIONS: Mapping[str, tuple[str, int, int | None]] = {
    "max": ("max", 1, None), "Max": ("max", 1, None), "min": ("min", 1, None), "Min": ("min", 1, None),
    "ceil": ("ceiling", 1, 1), "ceiling": ("ceiling", 1, 1), "floor": ("floor", 1, 1),
    "ceil_div": ("ceiling", 2, 2), "floordiv": ("floor", 2, 2), "mod": ("%", 2, 2), "Mod": ("%", 2, 2),
}  # fmt: skip
"""The functions that texts may call: what each is, and its least and most arguments (None: no limit).

A function has the names that this package, SymPy and JAX print.
"""


def applied(name: str, values: Sequence[Any]) -> Any:
    """Return a function of `FUNCTIONS` at *values*: ints, fractions and SymPy expressions.

    >>> applied("max", [3, 5]), applied("ceil_div", [7, 2]), applied("ceil", [dim("a") / 2])
    (5, 4, ceiling(a/2))
    """
    import sympy

    form, *_ = FUNCTIONS[name]
    parts = [sympy.Rational(v.numerator, v.denominator) if isinstance(v, int | Fraction) else v for v in values]
    if form in ("max", "min"):
        return extreme(form, parts)
    if len(parts) == 2 and parts[1] == 0:
        raise FormatError(f"{name}({parts[0]}, 0) divides by zero")
    if form == "%":
        found = remainder(*parts)
    else:
        ratio = parts[0] / parts[1] if len(parts) == 2 else parts[0]
        found = sympy.floor(ratio) if form == "floor" else sympy.ceiling(ratio)
    return int(found) if found.is_Integer else found


def remainder(a: Any, b: Any) -> Any:
    """Return ``a % b`` of numbers or SymPy expressions; SymPy simplifies remainders of remainders wrongly.

    >>> remainder(-7, 4), remainder(2 * remainder(dim("N"), 4), 4)
    (1, Mod(2*(Mod(N, 4)), 4))
    """
    if not hasattr(a, "has"):
        return a % b
    import sympy

    from symlayout.language.index_expressions import FloorMod

    return FloorMod(a, b) if a.has(sympy.Mod) else a % b


def _floor(facts: Facts, n: Extent, d: Extent) -> Extent:
    """Return ``floor(n/d)``; that of a negative numerator as ``-ceil(-n/d)``, so that each number has one form."""
    n, d = facts.reduce(n), facts.reduce(d)
    if isinstance(n, Poly) and all(c < 0 for m, c in n.terms.items() if m):
        return -floor_normal_form.floor_div(facts, -n + d - 1, d)
    return floor_normal_form.floor_div(facts, n, d)


def relations_of(value: Any) -> list[tuple[Any, str, Any]]:
    """Return a SymPy relation, or several joined by And, as triples ``(left, sign, right)``.

    This is the inverse of `to_relation`.  ``True`` gives no triple; ``False`` gives ``(0, ">=", 1)``.

    Raises
    ------
    FormatError
        *value* is neither, for example Ne or Or.
    """
    import sympy

    if isinstance(value, sympy.And):
        return [triple for part in sorted(value.args, key=str) for triple in relations_of(part)]
    if value is True or value == sympy.true:
        return []
    if value is False or value == sympy.false:
        return [(0, ">=", 1)]
    if isinstance(value, sympy.core.relational.Relational) and value.rel_op in ("==", ">=", "<=", ">", "<"):
        return [(value.lhs, value.rel_op, value.rhs)]
    raise FormatError(
        f"{shown(value)} is not a relation that can be assumed\n"
        "  help: use Eq, >=, <=, >, <, or text such as 'H % 4 == 0'"
    )


def remainder_of(e: Any) -> tuple[Any, Any] | None:
    """Return ``(value, modulus)`` of a SymPy Mod; None for anything else."""
    import sympy

    return e.args if isinstance(e, sympy.Mod) else None


def to_sympy(e: Extent, facts: Facts) -> Any:
    """Return *e* in the user's dims, as an int or a SymPy expression."""
    if isinstance(e, int):
        return e
    dims, constant, linear = facts.dims, 0, None
    if len(e.terms) <= 2:
        for monomial, c in e.terms.items():
            if not monomial:
                constant = c
            elif linear is None and len(monomial) == 1 and monomial[0] in dims:
                linear = _times(c, symbol_of(dims[monomial[0]]))
            else:
                break
        else:
            return _plus(constant, linear)
    records = [dims.get(name) for name in e.names]
    if None not in records:  # no floor, quotient or maximum to fold
        return _of_dims(e, tuple(records))
    return written(fold_fixed(e, facts), lambda name: symbol_of(facts.dims[name]))


@functools.lru_cache(maxsize=4096)
def _of_dims(e: Poly, records: tuple[Dim, ...]) -> Any:
    """Return *e* as a SymPy expression of the symbols of *records*.

    >>> _of_dims(Poly({("h",): 2, (): 4}), (Dim("h"),))
    2*h + 4
    """
    import sympy

    symbols = {record.name: symbol_of(record) for record in records}
    constant, terms = 0, []
    for names, c in e.terms.items():
        if not names:
            constant = c
        elif len(names) > 1:
            terms.append(sympy.Mul(c, *(symbols[name] for name in names)))
        else:
            terms.append(_times(c, symbols[names[0]]))
    return sympy.Add(constant, *terms) if len(terms) > 1 else _plus(constant, terms[0])


def _times(c: int, symbol: Any) -> Any:
    """Return the SymPy product, of which the arguments are in canonical order: SymPy takes twice the time to sort."""
    import sympy

    return symbol if c == 1 else sympy.Mul._from_args((sympy.Integer(c), symbol), True)


def _plus(constant: int, term: Any) -> Any:
    """Return the SymPy sum with a *term* that is no number and no sum, in canonical order as in `_times`."""
    import sympy

    return sympy.Add._from_args((sympy.Integer(constant), term), True) if constant else term


def written(e: Sum, value: Callable[[str], Any]) -> Any:
    """Return a folded expression as a SymPy expression; *value* returns the SymPy symbol of a name."""
    import sympy

    def factor(f: Factor) -> Any:
        if isinstance(f, str):
            return value(f)
        parts = [written(part, value) for part in f.parts]
        if f.form in ("min", "max"):
            is_decided = all(isinstance(each, str) for part in f.parts for _, factors in part.terms for each in factors)
            return _extreme_of(f.form, tuple(parts), is_decided)
        if f.table is not None:
            return sympy.Indexed(sympy.Tuple(*f.table.values), *parts)
        left, right = parts
        if f.form == "%":
            # An unevaluated Mod keeps the user's form, but Max and Min refuse one of numbers.
            return sympy.Mod(left, right, evaluate=bool(left.is_number and right.is_number))
        return {"/": lambda q: q, "//": sympy.floor, "ceil_div": sympy.ceiling}[f.form](left / right)

    return sympy.Add(*(sympy.Mul(c, *map(factor, factors)) for c, factors in e.terms))


def with_plain_dims(e: Any) -> Any:
    """Return an int or an expression with each dim as one that need not be a multiple of a number.

    >>> with_plain_dims(dim("N", multiple_of=4) + 1).free_symbols == {dim("N")}
    True
    """
    if not (symbols := getattr(e, "free_symbols", None)):
        return e
    from symlayout.language.index_expressions import with_floor_mods

    return with_floor_mods(e).xreplace({s: symbol_of(_record_of(s).replaced(multiple_of=1)) for s in symbols})


def function_of(names: Sequence[str], e: Extent, facts: Facts) -> Any:
    """Return *e* as a SymPy Lambda of the dims *names*.

    >>> function_of(["N"], 2 * symbol("N"), Facts(dims={"N": Dim("N", 0)}))
    Lambda(N, 2*N)
    """
    import sympy

    return sympy.Lambda(tuple(symbol_of(facts.dims[name]) for name in names), to_sympy(e, facts))


def extreme(form: str, values: Sequence[Any]) -> Any:
    """Return the minimum or maximum, by *form*, of ints and SymPy expressions, as an int if it is a constant."""
    found = _extreme_of(form, tuple(values))
    return int(found) if found.is_Integer else found


@functools.lru_cache(maxsize=4096)  # an extent may have one within each other many times
def _extreme_of(form: str, values: tuple[Any, ...], is_decided: bool = False) -> Any:
    """Return the minimum or maximum, by *form*, of SymPy expressions; SymPy compares them if they are small.

    It does so by factoring their differences, which takes seconds where they have many terms.  Polynomials in dims, of
    which the algebra *is_decided* to keep the minimum or maximum, it could not compare either.
    """
    import sympy

    if is_decided:
        return (sympy.Max if form == "max" else sympy.Min)(*values, evaluate=False)

    nodes = itertools.chain.from_iterable(
        sympy.preorder_traversal(value) for value in values if not isinstance(value, int)
    )
    is_small = next(itertools.islice(nodes, _COMPARED, None), None) is None
    return (sympy.Max if form == "max" else sympy.Min)(*values, evaluate=is_small)


def everywhere() -> Any:
    """Return SymPy's ``true``, the condition of a piece without windows."""
    import sympy

    return sympy.true


def to_relation(r: Requirement, facts: Facts) -> Any:
    """Return a requirement as a SymPy relation."""
    import sympy

    value = _relation_side(r.value, facts)
    if r.relation == "divides":
        if isinstance(r.modulus, int) and isinstance(r.value, Poly):
            residue = r.value.terms.get((), 0)
            form = _relation_side(r.value - residue, facts)
            return sympy.Eq(sympy.Mod(form, r.modulus, evaluate=False), -residue % r.modulus, evaluate=False)
        modulus = _relation_side(r.modulus, facts)
        return sympy.Eq(sympy.Mod(value, modulus, evaluate=False), 0, evaluate=False)
    e, constant = r.value, terms_of(r.value).get((), 0)
    relation = sympy.Ge if r.relation == "nonnegative" else sympy.Eq
    if facts.extremes(e - constant) is not None:
        return relation(_relation_side(e - constant, facts), -constant, evaluate=False)
    if r.relation == "zero" and len(factors := _factors(e)) > 1:
        return sympy.Eq(sympy.Mul(*(_relation_side(f, facts) for f in factors)), 0, evaluate=False)
    if not any(c > 0 for m, c in terms_of(e).items() if m):
        e, relation = -e, sympy.Le if r.relation == "nonnegative" else sympy.Eq
    positive = {m: c for m, c in terms_of(e).items() if c > 0 and m}
    left = _relation_side(_collapsed(positive), facts)
    right = _relation_side(_collapsed(positive) - e, facts)
    return relation(left, right, evaluate=False)


def _factors(e: Extent) -> list[Extent]:
    """Return factors whose product is *e*: those of the form ``s - 1``, for a symbol *s*, and the remaining one."""
    for name in sorted(names_of(e)):
        rest = exact_quotient(e, symbol(name) - 1)
        if isinstance(rest, Poly):
            return [symbol(name) - 1, *_factors(rest)]
    return [e]


def _relation_side(e: Extent, facts: Facts) -> Any:
    """Return one side of a relation, always as a SymPy expression."""
    import sympy

    return sympy.Integer(e) if isinstance(e, int) else to_sympy(e, facts)


def _collapsed(terms: dict[tuple[str, ...], int]) -> Extent:
    return Poly(terms) if terms else 0
