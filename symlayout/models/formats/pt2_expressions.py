"""Read the expressions in dims of torch.export's files, by our own parser: SymPy's and Python's would run the text.

Sizes are written as SymPy's ``srepr`` does, such as ``Mul(Integer(2), Symbol('s0', positive=True, integer=True))``.
Guards are Python, such as ``L['x'].size()[0] // 2 >= 2``.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symlayout.errors import FormatError, shortened
from symlayout.language.sympy_arithmetic import exact_ratio, floor_quotient
from symlayout.language.sympy_bridge import extreme

MAX_TEXT = 1 << 14  # characters of one expression
MAX_DEPTH = 40
MAX_PARTS = 1000  # numbers, names and operations of one expression
_MAX_NUMBER = 1 << 62
_MAX_POWER = 8
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]{1,20}(?![0-9.\w]))|(?P<name>[A-Za-z_]\w*)|'(?P<text>[^'\\]*)'"
    r"|(?P<sign>\*\*|//|==|!=|<=|>=|[-+*%<>()\[\].,=]))",
    re.ASCII,
)


class UnreadError(Exception):
    """The text has a function, a name or a form that is not known, or a number that is no size."""


@dataclass(slots=True)
class _Tokens:
    """The tokens of a text, from left to right.

    Attributes
    ----------
    text : str
        All of it.
    found : list of pairs of str
        The kind and the text of each token.
    at : int
        The number of the next one.
    depth : int
        How many parts are open.
    """

    text: str
    found: list[tuple[str, str]] = field(default_factory=list)
    at: int = 0
    depth: int = 0

    @classmethod
    def of(cls, text: str) -> _Tokens:
        """Return the tokens of a text; raise `UnreadError` for one that is too long or has other characters."""
        if len(text) > MAX_TEXT:
            raise UnreadError("a text of very many characters")
        made, place = cls(text), 0
        end = len(text.rstrip())
        while place < end:
            match = _TOKEN.match(text, place)
            if match is None or len(made.found) > 4 * MAX_PARTS:
                raise UnreadError(f"what begins with {shortened(text[place:], 20)!r}")
            assert match.lastgroup is not None
            made.found.append((match.lastgroup, match[match.lastgroup]))
            place = match.end()
        return made

    def peek(self) -> tuple[str, str]:
        """Return the next token, which stays; two empty texts at the end."""
        return self.found[self.at] if self.at < len(self.found) else ("", "")

    def next(self) -> tuple[str, str]:
        """Return the next token, and go on."""
        token = self.peek()
        self.at += 1
        return token

    def takes(self, *signs: str) -> str:
        """Return the next token if it is one of these signs, and go on; else an empty text."""
        kind, sign = self.peek()
        if kind != "sign" or sign not in signs:
            return ""
        self.at += 1
        return sign

    def need(self, sign: str) -> None:
        """Go on over a sign; raise `UnreadError` if there is another token."""
        if not self.takes(sign):
            raise UnreadError(f"{shortened(self.peek()[1], 20)!r} in the place of {sign!r}")

    def open(self) -> None:
        """Count a part that is opened; raise `UnreadError` where there are too many."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadError("very deep parentheses")

    def close(self) -> None:
        """Count a part that is closed."""
        self.depth -= 1

    def end(self) -> None:
        """Raise `UnreadError` if there are more tokens."""
        if self.at < len(self.found):
            raise UnreadError(f"{shortened(self.peek()[1], 20)!r} after the end")


def _checked(e: Any) -> Any:
    """Return a result, as an int if it is one; raise `UnreadError` if it is no size."""
    if getattr(e, "is_Integer", False):
        e = int(e)
    if isinstance(e, int) and abs(e) > _MAX_NUMBER:
        raise UnreadError("a number that is no size")
    return e


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(exponent, int) or not 0 <= exponent <= _MAX_POWER:
        raise UnreadError(f"the exponent {exponent}")
    made: Any = 1
    for _ in range(exponent):
        made = _checked(made * base)
    return made


def _exact(a: Any, b: Any) -> Any:
    found = exact_ratio(a, b) if b != 0 else None
    return _floor(a, b) if found is None else found


def _floor(a: Any, b: Any) -> Any:
    if b == 0:
        raise UnreadError("a quotient by 0")
    exact = exact_ratio(a, b)
    return floor_quotient(a, b) if exact is None else exact


def _remainder(a: Any, b: Any) -> Any:
    if b == 0:
        raise UnreadError("a remainder by 0")
    return 0 if exact_ratio(a, b) is not None else a % b


def _total(values: tuple[Any, ...], function: Callable[[Any, Any], Any], start: int) -> Any:
    made: Any = start
    for value in values:
        made = _checked(function(made, value))
    return made


_FUNCTIONS: dict[str, tuple[int | None, Callable[..., Any]]] = {
    "Add": (None, lambda *v: _total(v, operator.add, 0)),
    "Mul": (None, lambda *v: _total(v, operator.mul, 1)),
    "Pow": (2, _power),
    "PowByNatural": (2, _power),
    "FloorDiv": (2, _floor),
    "CleanDiv": (2, _exact),
    "CeilDiv": (2, lambda a, b: -_floor(-a, b)),
    "Mod": (2, _remainder),
    "PythonMod": (2, _remainder),
    "Max": (None, lambda *v: extreme("max", v)),
    "Min": (None, lambda *v: extreme("min", v)),
    "Identity": (1, lambda v: v),
    "max": (None, lambda *v: extreme("max", v)),
    "min": (None, lambda *v: extreme("min", v)),
}
"""What functions compute, those of ``srepr`` and those of Python, with the number of their arguments; None is any."""


def _call(name: str, values: list[Any]) -> Any:
    count, function = _FUNCTIONS.get(name, (-1, None))
    if function is None or not values or count not in (None, len(values)):
        raise UnreadError(f"{shortened(name, 30)} of {len(values)} values")
    return _checked(function(*values))


def size_of(text: str, dims: Mapping[str, Any]) -> Any:
    """Return a size, an int or an expression in *dims*, of which ``srepr`` wrote *text*.

    Raises
    ------
    UnreadError
        It has another form, or a symbol that is none of *dims*.
    """
    tokens = _Tokens.of(text)
    made = _srepr(tokens, dims)
    tokens.end()
    return made


def _srepr(tokens: _Tokens, dims: Mapping[str, Any]) -> Any:
    kind, name = tokens.next()
    if kind != "name":
        raise UnreadError(f"{shortened(name, 20)!r} in the place of a function")
    tokens.open()
    tokens.need("(")
    if name in ("Symbol", "Integer"):
        made = _symbol(tokens, dims) if name == "Symbol" else _integer(tokens)
    else:
        values = [_srepr(tokens, dims)]
        while tokens.takes(","):
            values.append(_srepr(tokens, dims))
        made = _call(name, values)
    tokens.need(")")
    tokens.close()
    return made


def _integer(tokens: _Tokens) -> int:
    sign = -1 if tokens.takes("-") else 1
    kind, digits = tokens.next()
    if kind != "number":
        raise UnreadError(f"{shortened(digits, 20)!r} in the place of a number")
    return int(_checked(sign * int(digits)))


def _symbol(tokens: _Tokens, dims: Mapping[str, Any]) -> Any:
    kind, name = tokens.next()
    if kind != "text" or name not in dims:
        raise UnreadError(f"the symbol {shortened(name, 20)!r}")
    while tokens.takes(","):  # assumptions, such as positive=True
        if tokens.next()[0] != "name":
            raise UnreadError("a symbol with a second name")
        tokens.need("=")
        if tokens.next()[1] not in ("True", "False"):
            raise UnreadError("an assumption that is neither true nor false")
    return dims[name]


def symbols_of(text: str) -> set[str]:
    """Return the names of the symbols in a text of ``srepr``; none if it is not read."""
    try:
        found = _Tokens.of(text).found
    except UnreadError:
        return set()
    return {
        found[k + 2][1]
        for k in range(len(found) - 2)
        if found[k] == ("name", "Symbol") and found[k + 1] == ("sign", "(") and found[k + 2][0] == "text"
    }


@dataclass(frozen=True, slots=True)
class SizeGuard:
    """A condition on sizes: two sides with a sign between."""

    left: Any
    sign: str
    right: Any


def guards_of(text: str, size: Callable[[str, int], Any]) -> list[list[SizeGuard]]:
    """Return what *text* states: each list has conditions of which one holds.

    Parameters
    ----------
    size : callable
        Returns the extent of an axis of an input, called by the path to it in the arguments: ``"x"``, ``"xs_0"``.

    Raises
    ------
    UnreadError
        It has another form.
    """
    tokens = _Tokens.of(text)
    found = [_comparison(tokens, size)]
    kind, word = tokens.peek()
    while word in ("and", "or") and tokens.peek() == (kind, word):
        tokens.next()
        found.append(_comparison(tokens, size))
    tokens.end()
    return [found] if word == "or" else [[guard] for guard in found]


def _comparison(tokens: _Tokens, size: Callable[[str, int], Any]) -> SizeGuard:
    before = tokens.at
    left = _sum(tokens, size)
    sign = tokens.takes("==", "!=", "<=", ">=", "<", ">")
    if not sign and tokens.found[before] == ("sign", "("):  # all of it is in parentheses
        tokens.at = before + 1
        tokens.open()
        made = _comparison(tokens, size)
        tokens.need(")")
        tokens.close()
        return made
    if not sign:
        raise UnreadError("no comparison")
    return SizeGuard(left, sign, _sum(tokens, size))


def _sum(tokens: _Tokens, size: Callable[[str, int], Any]) -> Any:
    made = _product(tokens, size)
    while sign := tokens.takes("+", "-"):
        other = _product(tokens, size)
        made = _checked(made + other if sign == "+" else made - other)
    return made


def _product(tokens: _Tokens, size: Callable[[str, int], Any]) -> Any:
    made = _signed(tokens, size)
    while sign := tokens.takes("*", "//", "%"):
        other = _signed(tokens, size)
        made = _checked({"*": operator.mul, "//": _floor, "%": _remainder}[sign](made, other))
    return made


def _signed(tokens: _Tokens, size: Callable[[str, int], Any]) -> Any:
    if tokens.takes("-"):
        tokens.open()
        made = -_signed(tokens, size)
        tokens.close()
        return made
    made = _atom(tokens, size)
    return _power(made, _signed(tokens, size)) if tokens.takes("**") else made


def _atom(tokens: _Tokens, size: Callable[[str, int], Any]) -> Any:
    tokens.open()
    try:
        if tokens.takes("("):
            made = _sum(tokens, size)
            tokens.need(")")
            return made
        kind, word = tokens.next()
        if kind == "number":
            return _checked(int(word))
        if kind != "name":
            raise UnreadError(f"{shortened(word, 20)!r} in the place of a value")
        if word == "L":
            return _extent(tokens, size)
        tokens.need("(")
        values = [_sum(tokens, size)]
        while tokens.takes(","):
            values.append(_sum(tokens, size))
        tokens.need(")")
        return _call(word, values)
    finally:
        tokens.close()


def _extent(tokens: _Tokens, size: Callable[[str, int], Any]) -> Any:
    """Return the extent that ``['x'].size()[0]`` stands for, after an L."""
    path = []
    while tokens.takes("["):
        kind, key = tokens.next()
        if kind not in ("text", "number"):
            raise UnreadError("an input without a name")
        path.append(key)
        tokens.need("]")
    tokens.need(".")
    if tokens.next() != ("name", "size"):
        raise UnreadError("a condition that is not about sizes")
    tokens.need("(")
    tokens.need(")")
    tokens.need("[")
    kind, digits = tokens.next()
    if kind != "number":
        raise UnreadError("an axis without a number")
    tokens.need("]")
    return size("_".join(path), int(digits))


def one_of(guards: list[SizeGuard], at_least: Callable[[Any, int], bool]) -> list[Any]:
    """Return what has to be at least 0 for one of several guards to hold, as `conditions` does.

    Raises
    ------
    UnreadError
        More than one may hold.
    """
    found = []
    for guard in guards:
        try:
            found.append(conditions(guard, at_least))
        except FormatError:  # it never holds
            if len(guards) == 1:
                raise
    if [] in found:
        return []
    if len(found) != 1:
        raise UnreadError("one of several conditions")
    return found[0]


def conditions(guard: SizeGuard, at_least: Callable[[Any, int], bool]) -> list[Any]:
    """Return what has to be at least 0 for a guard to hold: nothing if it always holds.

    *at_least* says whether an expression is proved to be at least a number.

    Raises
    ------
    FormatError
        It never holds.
    """
    a, b = guard.left, guard.right
    if guard.sign in ("<", "<="):
        found = [b - a - int(guard.sign == "<")]
    elif guard.sign in (">", ">="):
        found = [a - b - int(guard.sign == ">")]
    elif guard.sign == "==":
        found = [a - b, b - a]
    elif at_least(a - b, 0) or at_least(b - a, 0):
        found = [a - b - 1 if at_least(a - b, 0) else b - a - 1]
    else:
        found = [(a - b) ** 2 - 1]  # two integers differ if and only if the square of their difference is 1 or more
    if any(isinstance(e, int) and e < 0 for e in found):
        raise FormatError("a guard of the file holds for no sizes")
    return [e for e in found if not isinstance(e, int) and not at_least(e, 0)]
