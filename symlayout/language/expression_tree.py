"""Expressions in dims as trees of JSON, which a program without a parser evaluates."""

from __future__ import annotations

from typing import Any, TypeAlias

Tree: TypeAlias = "int | str | list[Any] | None"
"""An int, a dim's name, ``["int", "digits"]`` for a long one, ``[operation, operand...]``, or None for all else."""

_MOST_EXACT = 2**53 - 1  # beyond it, a number of JSON may be rounded by who reads it
_OPERATIONS = {
    "Add": "+", "Mul": "*", "Pow": "**", "floor": "floor", "ceiling": "ceiling", "Mod": "%", "Min": "min", "Max": "max",
    "Equality": "==", "Unequality": "!=", "GreaterThan": ">=", "LessThan": "<=", "StrictGreaterThan": ">",
    "StrictLessThan": "<", "And": "and", "Or": "or", "Not": "not", "Piecewise": "cases", "ExprCondPair": "case",
}  # fmt: skip


def tree(e: Any) -> Tree:
    """Return an int, a SymPy expression or a relation as a tree; None if it has an operation that trees lack.

    The operations are ``+ * ** / floor ceiling % min max``, ``table`` (the values, then the index), ``cases`` of
    ``["case", value, condition]``, the relations ``== != >= <= > <``, and ``and or not``.

    >>> from symlayout.language.sympy_bridge import dim
    >>> tree(dim("H") / 2 + 1)
    ['+', 1, ['*', ['/', 1, 2], 'H']]
    >>> tree(2**60), tree(dim("H") >= 3), tree(True)
    (['int', '1152921504606846976'], ['>=', 'H', 3], ['and'])
    """
    if isinstance(e, bool) or type(e).__name__ in ("BooleanTrue", "BooleanFalse"):
        return ["and"] if e else ["or"]
    if isinstance(e, int) or getattr(e, "is_Integer", False):
        value = int(e)
        return value if abs(value) <= _MOST_EXACT else ["int", str(value)]
    if getattr(e, "is_Rational", False):
        return ["/", tree(int(e.p)), tree(int(e.q))]
    if getattr(e, "is_Symbol", False):
        return str(e.name)
    kind = type(e).__name__
    if kind == "Indexed" and len(e.args) == 2:
        parts = [*map(tree, e.args[0].args), tree(e.args[1])]
        return None if None in parts else ["table", *parts]
    if kind not in _OPERATIONS:
        return None
    parts = [tree(part) for part in e.args]
    return None if None in parts else [_OPERATIONS[kind], *parts]
