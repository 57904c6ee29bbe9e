"""Integer expressions with ``^`` and ``%``: SymPy has no exclusive or of integers, and simplifies remainders wrongly.

A function of indices is called with `IndexExpression` values.  SymPy's functions take them, and their operators are
those of SymPy's integers, and ``^``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import sympy

from symlayout.errors import FormatError, shown


class FloorMod(sympy.Mod):  # type: ignore[misc]
    """The remainder ``a - b*floor(a/b)``, kept as it is.

    SymPy 1.14 has ``2*Mod(i, 4)`` for ``Mod(2*Mod(i, 4), 4)``, which is 4 where i is 2.

    >>> FloorMod(2 * FloorMod(sympy.Symbol("i", integer=True), 4), 4), FloorMod(-7, 4)
    (Mod(2*(Mod(i, 4)), 4), 1)
    """

    @classmethod
    def eval(cls, a: Any, b: Any) -> Any:
        """Return the value of numbers."""
        return a - b * sympy.floor(a / b) if a.is_Rational and b.is_Rational and b != 0 else None

    def _sympystr(self, printer: Any) -> str:
        return f"Mod({', '.join(map(printer._print, self.args))})"


def with_floor_mods(e: Any) -> Any:
    """Return an expression or a condition with each remainder as a `FloorMod`, which SymPy does not simplify."""
    if not e.has(sympy.Mod):
        return e
    parts = [with_floor_mods(part) for part in e.args]
    return FloorMod(*parts) if isinstance(e, sympy.Mod) else e.func(*parts)


class ExclusiveOr(sympy.Function):  # type: ignore[misc]
    """The exclusive or of integers, bit by bit, in SymPy; printed ``xor(i, j)``.

    >>> i, j = sympy.symbols("i j", integer=True)
    >>> ExclusiveOr(ExclusiveOr(i, 6), ExclusiveOr(j, 5)), ExclusiveOr(ExclusiveOr(i, j), j)
    (xor(3, i, j), i)
    """

    is_integer = True

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """Return the same of fewer sides, in order: without pairs that cancel, and with one number at most."""
        number, others = 0, set[Any]()
        todo = list(args)
        while todo:
            side = todo.pop()
            if isinstance(side, cls):
                todo += side.args
            elif side.is_Integer:
                number ^= int(side)
            else:
                others ^= {side}
        kept = sorted(others, key=sympy.default_sort_key)
        kept = [sympy.Integer(number), *kept] if number or not kept else kept
        return kept[0] if len(kept) == 1 else None if tuple(kept) == args else cls(*kept)

    def _sympystr(self, printer: Any) -> str:
        return f"xor({', '.join(map(printer._print, self.args))})"


def xor(a: Any, b: Any) -> Any:
    """Return ``a ^ b``, the exclusive or of integers bit by bit, for maps that are written in SymPy.

    In `symlayout.index_map` and in declarations it is written ``i ^ j``.  One side has a known number of bits: it is a
    constant, ``j % 8``, or an index of an axis with a largest extent.

    Parameters
    ----------
    a, b : int or SymPy integer expression
        The sides.  A negative integer is its two's complement, as in Python.

    Returns
    -------
    int or SymPy expression

    Raises
    ------
    FormatError
        A side is not an integer expression.

    Examples
    --------
    >>> import sympy
    >>> import symlayout as sl
    >>> i, j = sympy.symbols("i j", integer=True)
    >>> xor(6, 3), xor(i, i // 8 % 8)
    (5, xor(i, Mod(floor(i/8), 8)))
    >>> x = sl.tensor("8, 8", name="x")
    >>> swizzled = sl.from_sympy(x, (8, 8), (i, j), (i, xor(i, j)))
    >>> sl.prove_equal(swizzled, sl.index_map(x, (8, 8), lambda i, j: (i, j ^ i))).verdict
    <Verdict.PROVED: 'proved'>
    """
    found = ExclusiveOr(integer_expression(a), integer_expression(b))
    return int(found) if found.is_Integer else found


def integer_expression(value: Any) -> Any:
    """Return an int or an expression as a SymPy expression.

    ``i ^ j`` of two SymPy symbols is a logical Xor, which is read as an exclusive or of integers.

    Raises
    ------
    FormatError
        *value* is neither.
    """
    e = plain(value)
    if isinstance(e, sympy.Expr):
        return e
    if isinstance(e, sympy.Xor) and all(isinstance(part, sympy.Symbol) for part in e.args):
        return ExclusiveOr(*e.args)
    if hasattr(e, "__index__"):
        return sympy.Integer(e.__index__())
    raise FormatError(f"{shown(value)} is not an integer expression")


def plain(value: Any) -> Any:
    """Return the SymPy expression of an `IndexExpression`; anything else as it is."""
    return value.e if isinstance(value, IndexExpression) else value


def _operator(name: str, *, swapped: bool = False) -> Callable[[IndexExpression, Any], Any]:
    """Return the method that applies an operator to SymPy expressions."""
    function = FloorMod if name == "mod" else getattr(operator, name)

    def method(self: IndexExpression, other: Any) -> Any:
        b = plain(other)
        if not isinstance(b, sympy.Expr) and not hasattr(b, "__index__") and not isinstance(b, float):
            return NotImplemented
        found = function(b, self.e) if swapped else function(self.e, b)
        return IndexExpression(found) if isinstance(found, sympy.Expr) else found

    return method


class IndexExpression:
    """An integer expression in indices, with SymPy's operators and ``^``.

    Attributes
    ----------
    e : sympy.Expr
        The expression.

    Examples
    --------
    >>> i = IndexExpression(sympy.Symbol("i", integer=True))
    >>> 2 * (i // 2 ^ i % 4) + 1
    2*xor(Mod(i, 4), floor(i/2)) + 1
    """

    __slots__ = ("e",)
    _op_priority = 11.0  # SymPy's expressions leave an operator to this class

    def __init__(self, e: Any) -> None:
        self.e = e

    __add__, __radd__ = _operator("add"), _operator("add", swapped=True)
    __sub__, __rsub__ = _operator("sub"), _operator("sub", swapped=True)
    __mul__, __rmul__ = _operator("mul"), _operator("mul", swapped=True)
    __truediv__, __rtruediv__ = _operator("truediv"), _operator("truediv", swapped=True)
    __floordiv__, __rfloordiv__ = _operator("floordiv"), _operator("floordiv", swapped=True)
    __mod__, __rmod__ = _operator("mod"), _operator("mod", swapped=True)
    __pow__, __rpow__ = _operator("pow"), _operator("pow", swapped=True)
    __lt__, __le__, __gt__, __ge__ = _operator("lt"), _operator("le"), _operator("gt"), _operator("ge")

    def __xor__(self, other: Any) -> IndexExpression:
        return IndexExpression(ExclusiveOr(self.e, integer_expression(other)))

    __rxor__ = __xor__

    def __neg__(self) -> IndexExpression:
        return IndexExpression(-self.e)

    def __pos__(self) -> IndexExpression:
        return self

    def __abs__(self) -> IndexExpression:
        return IndexExpression(sympy.Abs(self.e))

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __eq__(self, other: object) -> bool:
        return bool(self.e == plain(other))

    def __hash__(self) -> int:
        return hash(self.e)

    def __bool__(self) -> bool:
        return bool(self.e)

    def __repr__(self) -> str:
        return str(self.e)

    def _sympy_(self) -> Any:
        return self.e

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the SymPy expression, such as ``free_symbols``."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.e, name)
