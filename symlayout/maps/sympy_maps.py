"""Operations whose index maps users write in SymPy, or as a function of indices.

A map gives the input coordinate of each output coordinate: ``(symbols, coordinates)``, or a `Lambda` of these, with an
optional condition and fill.  Or it gives the element itself, as a `Lambda` such as
``Piecewise((x[i - 1], i >= 1), (0, True))``, which may mention several inputs and fills.  ``Min``, ``Max``, ``Abs`` and
``Piecewise`` become cases of one declared map.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from symlayout.algebra.polynomial import Extent, product
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.maps.coordinate_ranges import CoordinateRange
from symlayout.tensors.apply_operation import apply
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.declaration import Case, Declared, Fill, Operand, as_list, is_list
from symlayout.tensors.input_tensor import empty_source
from symlayout.tensors.ranged_coordinate import RangedBox, exclusive_or_of_all
from symlayout.tensors.trial_coordinate import TrialCoordinate

MAX_CASES = 256
"""Most cases of one map: each choice of a minimum, a maximum or a piece adds a case.  Users may set it."""

Conjunction = tuple[Any, ...]  # SymPy expressions that are all >= 0


def index_map(
    x: Tensor, shape: Any, f: Callable[..., Any], *, fill: Any = None, where: Callable[..., Any] | None = None
) -> Tensor:
    """Return a tensor of the given shape that reads *x* at ``f(*output coordinate)``.

    Parameters
    ----------
    x : Tensor
        The input.
    shape : sequence
        The extents of the result: ints, dims and expressions.
    f : function
        Takes one integer expression for each axis of the result, and returns the coordinate in *x*.  The coordinate is
        written with ``+ - * // %``, dims, and the functions of SymPy that `from_sympy` supports; ``i ^ j`` is the
        exclusive or of bits, one side of which has a known number of bits.  *f* is called once.
    fill : scalar, optional
        The element at coordinates outside *x*.  Without a fill, every coordinate must be proved to be inside.
    where : function, optional
        Takes the same integers and returns a condition.  Where it fails, the element is *fill* (by default 0).

    Raises
    ------
    ShapeError
        ``rank`` if the number of coordinates is not the rank of *x*; ``infeasible`` for a negative extent;
        ``unbounded`` if both sides of a ``^`` may be large or of either sign.
    FormatError
        *f* returns something other than integer expressions, or *where* something other than a condition.

    Examples
    --------
    >>> import symlayout as sl
    >>> N, H = sl.dims("N H")
    >>> x = sl.tensor((N, H), name="x")
    >>> sl.index_map(x, (H, N), lambda i, j: (j, H - 1 - i)).index_map
    (i0, i1) -> (i1, H - i0 - 1)
    >>> sl.index_map(x, (N, H), lambda i, j: (i, j - 1), fill=0).index_map
    (i0, i1) -> (i0, i1 - 1) if 0 <= i1 - 1 < H else 0
    >>> y = sl.tensor((N, 2), name="y")
    >>> z = sl.index_map(y, (N, 2), lambda i, j: (i, i % 2 ^ j))
    >>> sl.prove_equal(sl.index_map(z, (N, 2), lambda i, j: (i, i % 2 ^ j)), y).verdict
    <Verdict.PROVED: 'proved'>
    """
    check_tensors("index_map", x)
    indices, coordinates = _coordinates(f, len(as_list(shape)))
    condition = None if where is None else _called(where, indices)
    return from_sympy(x, shape, indices, coordinates, where=condition, fill=fill)


def reached(x: Tensor, f: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the extents of the box, from 0, of the coordinates ``f(*indices of x)``, by interval arithmetic."""
    indices, coordinates = _coordinates(f, x.rank)
    return apply(reached_box, (x,), (indices, _sympified(coordinates)), {}, own=False).shape


def reached_box(x: Operand, indices: Sequence[Any], coordinates: Sequence[Any]) -> Declared:
    """Return fills in the box of the coordinates that the indices of *x* give."""
    reader = _Reader(x, x.shape, indices, ())
    domain = [reader.most(reader.function(e)) + 1 for e in coordinates]
    for axis, e in enumerate(domain):
        x.require(e, "infeasible", "coordinate {} of the result is negative: its extent is {}", axis, e)
    return Declared(tuple(domain), (Case(lambda *_: [-1] * x.rank, fill=Fill(0)),))


def from_sympy(
    x: Tensor | Sequence[Tensor],
    shape: Any,
    f: Any,
    coordinates: Any = None,
    *,
    where: Any = None,
    fill: Any = None,
) -> Tensor:
    """Return a tensor of the given shape whose map is given in SymPy.  `IndexMap.to_sympy` is the inverse.

    Parameters
    ----------
    x : Tensor or sequence of Tensor
        The inputs; the map refers to several inputs by their names.  A map of fills alone reads none.
    shape : sequence
        The extents of the result: ints, dims and expressions.
    f : sympy.Lambda, (symbols, coordinates) or symbols
        A Lambda of a tuple gives the coordinate in *x*.  A Lambda of an expression gives the element: ``x[i, j]``, with
        ``x`` an ``IndexedBase``, or a number, which is a fill.  Expressions may contain ``floor``, ``ceiling``,
        ``Mod``, ``Min``, ``Max``, ``Abs``, ``Piecewise`` and `symlayout.xor`.  Symbols other than the indices are dims.
    coordinates : expressions, optional
        The coordinate or the element, if *f* has the symbols alone.
    where : sympy condition or sequence of them, optional
        Where a condition fails, the element is *fill* (by default 0).
    fill : scalar, optional
        The element at coordinates outside *x*.

    Raises
    ------
    ShapeError
        ``rank`` if the number of coordinates is not the rank of the input; ``infeasible`` for a negative extent;
        ``source`` if an element belongs to no input; ``non_divisible`` if a division is not exact; ``unbounded`` if
        both sides of an `xor` may be large or of either sign.
    FormatError
        An expression is not an integer expression, or a condition not a condition; or there are more than `MAX_CASES`
        cases.

    Examples
    --------
    >>> import sympy
    >>> import symlayout as sl
    >>> N = sl.dim("N")
    >>> i, j = sympy.symbols("i j", integer=True)
    >>> x = sl.tensor((N,), name="x")
    >>> sl.from_sympy(x, (N, 3), sympy.Lambda((i, j), (sympy.Min(i + j, N - 1),))).index_map
    (i0, i1) -> (N - 1) where 0 <= i0 - N + i1 + 1 < 3; (i0 + i1) where 0 <= N - i0 - i1 - 2 < N - 1
    >>> sl.from_sympy(x, (N + 1,), ((i,), (i - 1,)), where=i >= 1, fill=7).index_map
    (i0) -> (i0 - 1) where 0 <= i0 - 1 < N; 7 where 0 <= -i0 < 1
    >>> sl.from_sympy(x, (3, N), (j, i), (i,)).index_map
    (i0, i1) -> (i1)
    """
    import sympy

    tensors = (x,) if isinstance(x, Tensor) else tuple(as_list(x)) or (empty_source(),)
    check_tensors("from_sympy", *tensors)
    if coordinates is not None and (is_list(f) or isinstance(f, sympy.Symbol)):
        indices, body = tuple(as_list(f)) if is_list(f) else (f,), coordinates
    elif coordinates is not None:
        raise FormatError(f"{shown(f)} are not symbols, and the coordinates are given apart")
    elif isinstance(f, sympy.Lambda):
        indices, body = tuple(f.variables), f.expr
    elif is_list(f) and len(f) == 2 and is_list(f[0]):
        indices, body = tuple(f[0]), f[1]
    else:
        raise FormatError(f"{shown(f)} is neither a Lambda nor a pair (symbols, coordinates)")
    if any(not isinstance(i, sympy.Symbol) for i in indices) or len(set(indices)) != len(indices):
        raise FormatError(f"{shown(indices)} are not different symbols")
    extents = as_list(shape)
    if len(indices) != len(extents):
        raise ShapeError(f"from_sympy: {len(indices)} indices for a shape of {len(extents)} axes", "rank")
    body = _sympified(body)
    condition = None if where is None else _condition(where)
    labels = tuple(t.name for t in tensors)
    return apply(written_map, tensors, (labels, extents, indices, body, condition, fill), {}, own=False)


def written_map(
    x: Operand, labels: Sequence[str], shape: Sequence[Any], indices: Sequence[Any], body: Any, where: Any, fill: Any
) -> Declared:
    """Return the map that SymPy expressions describe: one case for each combination of their pieces."""
    domain = x.extents(list(shape), "shape")
    for axis, e in enumerate(domain):
        x.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)
    reader = _Reader(x, domain, indices, labels)
    cases = list(itertools.islice(reader.cases(body, where, fill), MAX_CASES + 1))
    if len(cases) > MAX_CASES:
        raise FormatError(f"the map has more than {MAX_CASES} cases")
    return Declared(tuple(domain), tuple(cases))


def _coordinates(f: Callable[..., Any], rank: int) -> tuple[tuple[Any, ...], Sequence[Any]]:
    """Return one index for each of *rank* axes, and the coordinates that *f* makes of them."""
    import sympy

    indices = tuple(sympy.Dummy(f"i{k}", integer=True, nonnegative=True) for k in range(rank))
    found = _called(f, indices)
    return indices, found if is_list(found) or isinstance(found, sympy.Tuple) else (found,)


def _called(f: Callable[..., Any], indices: Sequence[Any]) -> Any:
    from symlayout.language.index_expressions import IndexExpression

    try:
        return f(*map(IndexExpression, indices))
    except TypeError as error:  # for example "cannot determine truth value of Relational"
        raise FormatError(
            f"the function of indices fails: {error}\n"
            "  help: indices have + - * // % ^; sympy.Min, Max and Piecewise choose; conditions are joined by & and |"
        ) from error


def _sympified(value: Any) -> Any:
    """Return coordinates as a tuple of SymPy expressions, or an element as one expression."""
    import sympy

    from symlayout.language.index_expressions import integer_expression, with_floor_mods

    if isinstance(value, (sympy.Tuple, tuple, list)):
        return tuple(with_floor_mods(integer_expression(e)) for e in value)
    return with_floor_mods(integer_expression(value))


def _condition(value: Any) -> Any:
    import sympy

    from symlayout.language.index_expressions import with_floor_mods

    if is_list(value) or isinstance(value, sympy.Tuple):
        return sympy.And(*(_condition(part) for part in value))
    if isinstance(value, bool):
        return sympy.true if value else sympy.false
    if isinstance(value, sympy.logic.boolalg.Boolean) and not isinstance(value, sympy.Symbol):
        return with_floor_mods(value)
    raise FormatError(f"{shown(value)} is not a condition\n  help: use <=, <, Eq, and & | ~ between them")


def _joined(left: Sequence[Conjunction], right: Sequence[Conjunction]) -> list[Conjunction]:
    """Return the conjunction of each of *left* with each of *right*.

    An inequality is dropped if another one with a smaller constant implies it; a contradictory conjunction is dropped.
    """
    found = []
    for a, b in itertools.product(left, right):
        constants: dict[Any, Any] = {}  # least constant by form: form + c >= 0 implies it for larger constants
        for e in (*a, *b):
            constant, form = e.as_coeff_Add()
            constants[form] = min(constant, constants.get(form, constant))
        if all(c + constants.get(-form, -c) >= 0 for form, c in constants.items()):
            found.append(tuple(c + form for form, c in constants.items()))
    return found


class _Reader:
    """Reads SymPy expressions over *indices*, which walk *domain*, as parts of a declared map."""

    def __init__(self, x: Operand, domain: Sequence[Extent], indices: Sequence[Any], labels: Sequence[str]) -> None:
        self.x, self.domain, self.labels = x, domain, labels
        self.place = {i: k for k, i in enumerate(indices)}

    def cases(self, body: Any, where: Any, fill: Any) -> Iterator[Case]:
        """Yield the disjoint cases of a map."""
        outside = None if fill is None else Fill(fill)
        holds, fails = ([()], []) if where is None else self._split(where)
        if isinstance(body, tuple):
            self._demand_rank(0, body)
            for c in holds:
                for more, coords in self._each(body):
                    yield Case(self._coords(coords), where=self._windows((*c, *more)), fill=outside)
        else:
            for c in holds:
                for conditions, e in self._alternatives(body):
                    yield self._element(e, (*c, *conditions), outside)
        for c in fails:
            yield self._filled(c, Fill(0) if outside is None else outside)

    def _element(self, e: Any, conditions: Conjunction, outside: Fill | None) -> Case:
        """Return the case of an element: ``x[...]``, or a number."""
        import sympy

        if isinstance(e, sympy.Symbol) and e not in self.place:  # an input without axes
            name, coords = e.name, ()
        elif isinstance(e, sympy.Indexed):
            name, coords = str(e.base.label), e.indices
        else:
            if e.is_Integer:
                return self._filled(conditions, Fill(int(e)))
            if e.is_Float:
                return self._filled(conditions, Fill(float(e)))
            raise FormatError(f"{shown(e)} is neither an element of an input nor a number")
        found = [k for k, label in enumerate(self.labels) if label == name]
        if len(found) != 1 and len(self.labels) > 1:
            raise ShapeError(f"{name} does not name one input\n  known: {', '.join(self.labels)}", "source")
        source = found[0] if found else 0
        self._demand_rank(source, coords)
        return Case(self._coords(coords), source=source, where=self._windows(conditions), fill=outside)

    def _demand_rank(self, source: int, coords: Sequence[Any]) -> None:
        rank = len(self.x.shapes[source])
        if len(coords) != rank:
            raise ShapeError(f"{self.x.where}: {len(coords)} coordinates for an input of rank {rank}", "rank")

    def _filled(self, conditions: Conjunction, fill: Fill) -> Case:
        source = next((k for k, shape in enumerate(self.x.shapes) if shape), None)
        if source is None:
            raise ShapeError(f"{self.x.where}: a map with a condition reads an input with an axis", "rank")
        rank = len(self.x.shapes[source])
        return Case(lambda *_: [-1] * rank, source=source, where=self._windows(conditions), fill=fill)

    # ------------------------------------------------------------------ pieces

    def _varies(self, e: Any) -> bool:
        return not self.place.keys().isdisjoint(e.free_symbols)

    def _each(self, parts: Sequence[Any]) -> Iterator[tuple[Conjunction, tuple[Any, ...]]]:
        """Yield the combined alternatives of several expressions."""
        for chosen in itertools.product(*(list(self._alternatives(e)) for e in parts)):
            conditions = tuple(dict.fromkeys(c for more, _ in chosen for c in more))
            yield conditions, tuple(e for _, e in chosen)

    def _alternatives(self, e: Any) -> Iterator[tuple[Conjunction, Any]]:
        """Yield disjoint conditions that cover all points, each with an expression without cases for *e* there."""
        import sympy

        if (not self._varies(e) and not isinstance(e, sympy.Piecewise)) or not e.args:
            yield (), e
        elif isinstance(e, sympy.Piecewise):
            left: list[Conjunction] = [()]
            for value, condition in e.args:
                holds, fails = self._split(condition)
                for c in _joined(left, holds):
                    yield from (((*c, *more), v) for more, v in self._alternatives(value))
                left = _joined(left, fails)
            if left:
                raise FormatError(f"{shown(e)} has no last piece with the condition True")
        elif isinstance(e, (sympy.Min, sympy.Max)):
            first, *rest = e.args
            other = e.func(*rest)
            for conditions, (a, b) in self._each((first, other)):
                gap = (b - a) if isinstance(e, sympy.Min) else (a - b)
                for c, value in (((gap,), a), ((-gap - 1,), b)):
                    yield (*conditions, *(self._integral(g) for g in c)), value
        elif isinstance(e, sympy.Abs):
            for conditions, (a,) in self._each(e.args):
                yield (*conditions, self._integral(a)), a
                yield (*conditions, self._integral(-a - 1)), -a
        else:
            for conditions, parts in self._each(e.args):
                yield conditions, e if parts == e.args else e.func(*parts)

    def _split(self, condition: Any) -> tuple[list[Conjunction], list[Conjunction]]:
        """Return two lists of disjoint conjunctions: where a condition holds, and where it fails."""
        import sympy

        if condition == sympy.true:
            return [()], []
        if condition == sympy.false:
            return [], [()]
        if isinstance(condition, sympy.Not):
            holds, fails = self._split(condition.args[0])
            return fails, holds
        if isinstance(condition, (sympy.And, sympy.Or)):
            is_and = isinstance(condition, sympy.And)
            all_, some = [()], list[Conjunction]()
            for part in sorted(condition.args, key=sympy.default_sort_key):
                holds, fails = self._split(part)
                keeps, leaves = (holds, fails) if is_and else (fails, holds)
                some += _joined(all_, leaves)
                all_ = _joined(all_, keeps)
                if len(some) + len(all_) > MAX_CASES:
                    raise FormatError(f"the map has more than {MAX_CASES} cases")
            return (all_, some) if is_and else (some, all_)
        if not isinstance(condition, sympy.core.relational.Relational):
            raise FormatError(f"{shown(condition)} is not a condition\n  help: use <=, <, Eq, and & | ~ between them")
        holds, fails = [], []
        for more, gap in self._alternatives(condition.lhs - condition.rhs):
            e = self._integral(gap)
            signs = {">=": [e], "<=": [-e], ">": [e - 1], "<": [-e - 1], "==": [e, -e], "!=": [e, -e]}[condition.rel_op]
            yes = [(*more, *signs)]
            no = [(*more, *signs[:k], -s - 1) for k, s in enumerate(signs)]
            holds += no if condition.rel_op == "!=" else yes
            fails += yes if condition.rel_op == "!=" else no
        return holds, fails

    def _integral(self, e: Any) -> Any:
        """Return *e* times its denominator; the denominator is >= 1."""
        import sympy

        top, bottom = sympy.fraction(sympy.together(e))
        if bottom != 1:
            self._demand_positive(bottom)
        return sympy.expand(top, deep=False)

    def _demand_positive(self, e: Any) -> None:
        if self._varies(e):
            raise FormatError(f"{shown(e)} is a divisor and has an index")
        n = self.x.extent(e, "divisor")
        self.x.require(n - 1, "non_divisible", "the divisor {} is not positive", n)

    # ------------------------------------------------------------------ functions of coordinates

    def _windows(self, conditions: Conjunction) -> Callable[..., list[tuple[Any, Extent]]] | None:
        """Return conditions as windows ``0 <= value < extent``; two bounds of one value become one window."""
        import sympy

        windows: list[tuple[Callable[..., Any], Extent]] = []
        todo = list(dict.fromkeys(conditions))
        while todo:
            e = todo.pop(0)
            sums = [(other, sympy.expand(e + other)) for other in todo]
            pair = next(((other, total) for other, total in sums if self._varies(e) and not self._varies(total)), None)
            if pair is not None:
                todo.remove(pair[0])
            value = self.function(e)
            extent = self.most(value) + 1 if pair is None else self.x.extent(pair[1], "condition") + 1
            windows.append((value, self.x.maximum(extent, 0)))
        if not windows:
            return None
        return lambda *o: [(value(*o) + 0 * (o[0] if o else 0), extent) for value, extent in windows]

    def most(self, value: Callable[..., Any]) -> Extent:
        """Return an upper bound of a function of coordinates in the domain."""
        found = value(*(CoordinateRange(0, n - 1, self.x) for n in self.domain))
        most: Extent = found.high if isinstance(found, CoordinateRange) else found
        return most

    def _coords(self, coords: Sequence[Any]) -> Callable[..., list[Any]]:
        values = [self.function(e) for e in coords]
        return lambda *o: [value(*o) for value in values]

    def function(self, e: Any) -> Callable[..., Any]:
        """Return an integer expression as a function of coordinates; it is a sum of products of `_factor` values."""
        import sympy

        terms: dict[tuple[Any, ...], list[Any]] = {}
        for term in sympy.Add.make_args(e.expand(deep=False) if self._varies(e) else e):
            factors = sympy.Mul.make_args(term)
            varying = tuple(f for f in factors if self._varies(f))
            terms.setdefault(varying, []).append(sympy.Mul(*(f for f in factors if f not in varying)))
        parts = [
            ([self._factor(f) for f in varying], self.x.extent(_number(sympy.Add(*coefficients)), "coefficient"))
            for varying, coefficients in terms.items()
        ]

        def value(*o: Any) -> Any:
            total: Any = 0
            for factors, coefficient in parts:
                term: Any = coefficient
                for factor in factors:
                    term = factor(*o) * term
                total = term + total
            return total

        return value

    def _factor(self, f: Any) -> Callable[..., Any]:
        """Return an index, a rounded quotient, a remainder, an exclusive or, or a power of one as a function."""
        import sympy

        from symlayout.language.index_expressions import ExclusiveOr

        if f in self.place:
            k = self.place[f]
            return lambda *o: o[k]
        if isinstance(f, sympy.Pow) and f.exp.is_Integer and f.exp > 0:
            base, power = self.function(f.base), int(f.exp)
            return lambda *o: product([base(*o)] * power)
        if isinstance(f, (sympy.floor, sympy.ceiling)):
            top, bottom = sympy.fraction(sympy.together(f.args[0]))
            self._demand_positive(bottom)
            value, divisor = self.function(top), self.x.extent(_number(bottom), "divisor")
            if isinstance(f, sympy.floor):
                return lambda *o: value(*o) // divisor
            return lambda *o: 0 - (0 - value(*o)) // divisor
        if isinstance(f, sympy.Mod):
            self._demand_positive(f.args[1])
            value, divisor = self.function(f.args[0]), self.x.extent(_number(f.args[1]), "divisor")
            return lambda *o: value(*o) % divisor
        if isinstance(f, ExclusiveOr):
            values = [self.function(e) for e in f.args]
            at = RangedBox(self.domain, self.x).coordinates([TrialCoordinate(self.x)] * len(self.domain))
            joined = exclusive_or_of_all([at[0].of(value(*at)) for value in values])
            return lambda *o: joined([value(*o) for value in values])
        raise FormatError(
            f"{shown(f)} is not an integer expression in indices\n"
            "  help: use + - * // %, xor, Min, Max, Abs and Piecewise"
        )


def _number(e: Any) -> Any:
    return int(e) if e.is_Integer else e
