"""How languages write integer expressions: a row for each, which `to_text.spell` reads.

A language may lack an operation, take two operands only, or round quotients towards 0.  `lowered` rewrites an
expression to operations that mean the same in the language; so a new language is a new row.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce

from symlayout.errors import FormatError
from symlayout.language.readable import Apply, Factor, Sum, atom, collected, number
from symlayout_codegen.ir.identifiers import KEYWORDS
from symlayout_codegen.values import Value


class Notation(Value):
    """How a language writes integer expressions.

    Attributes
    ----------
    name : str
        The language, in messages.
    operations : mapping of str to str
        For each form of `Apply` that the language has: the sign of an infix operation, with its spaces, or a function.
    number : function of an int
        How a number >= 0 is written.
    has_power : bool
        Whether ``**`` is a power.
    rounds_down : bool
        Whether ``//`` and ``%`` round down for negative dividends too.
    takes_many : bool
        Whether a minimum or maximum takes more than two operands.
    words : frozenset of str
        Names that a dim must not have.
    """

    name: str
    operations: Mapping[str, str]
    number: Callable[[int], str] = str
    has_power: bool = False
    rounds_down: bool = True
    takes_many: bool = False
    words: frozenset[str] = frozenset()

    def _key(self) -> tuple[str]:
        return (self.name,)


_PYTHON = frozenset(keyword.kwlist)
TEXT = Notation(
    "text", {form: form for form in ("//", "/", "min", "max", "ceil_div")} | {"%": " % "}, str, True, True, True
)
"""What symlayout prints, and reads."""
PYTHON = Notation(
    "Python",
    {"//": "//", "/": "//", "%": " % ", "min": "min", "max": "max"},
    has_power=True,
    takes_many=True,
    words=_PYTHON | {"min", "max", "Layout", "ComposedLayout", "Swizzle"},
)
CUTE_CPP = Notation(
    "CuTe C++",
    {"//": "/", "/": "/", "%": " % ", "min": "cute::min", "max": "cute::max", "ceil_div": "ceil_div"},
    number=lambda n: f"{'Int' if n < 1 << 31 else 'C'}<{n}>{{}}",
    rounds_down=False,
    words=KEYWORDS
    | {"assert", "C", "Int", "Swizzle", "ceil_div", "composition", "cute", "make_layout", "make_shape", "make_stride"},
)
"""Numbers are types, so that what is static stays static; ``using namespace cute`` is assumed."""
CUTE_DSL = Notation(
    "CuTe DSL",
    {"//": "//", "/": "//", "%": " % ", "min": "min", "max": "max", "ceil_div": "cute.ceil_div"},
    rounds_down=False,  # the % of run-time numbers does not
    words=_PYTHON | {"min", "max", "cute", "cutlass"},
)
TRITON = Notation(
    "Triton",
    {"//": "//", "/": "//", "%": " % ", "min": "tl.minimum", "max": "tl.maximum", "ceil_div": "tl.cdiv"},
    rounds_down=False,
    words=_PYTHON | {"tl", "triton"},
)
TVM = Notation(
    "TVM",
    {"//": "//", "/": "//", "%": " % ", "min": "T.min", "max": "T.max", "ceil_div": "T.ceildiv"},
    words=_PYTHON | {"T"},
)


def lowered(
    e: Sum, notation: Notation, names: Mapping[str, str], is_nonnegative: Callable[[Sum], bool] | None = None
) -> Sum:
    """Return *e* in the operations of a language, with its names as *names* has them.

    Where the language rounds towards 0, *is_nonnegative* decides whether a dividend needs more operations to round
    down; without it, all of them do.

    Raises
    ------
    FormatError
        The language has no tables.

    Examples
    --------
    >>> from symlayout.language.to_text import spell
    >>> n, d = atom("n"), atom("d")
    >>> e = atom(Apply("ceil_div", (n, d))) + atom(Apply("%", (n, d)))
    >>> spell(lowered(e, PYTHON, {}), PYTHON)
    '(d + n - 1)//d + (n % d)'
    >>> spell(lowered(e, TRITON, {"n": "m"}, lambda e: True), TRITON)
    'tl.cdiv(m, d) + (m % d)'
    >>> spell(lowered(atom(Apply("//", (n, d))), TRITON, {}), TRITON)
    '(n - ((d + (n % d)) % d))//d'
    """

    def sum_(e: Sum) -> Sum:
        return collected(term for c, factors in e.terms for term in _product(c, map(factor, factors)).terms)

    def factor(f: Factor) -> Sum:
        if isinstance(f, str):
            return atom(names.get(f, f))
        if f.table is not None:
            raise FormatError(f"a table of values has no notation in {notation.name}")
        if f.form in ("min", "max"):
            parts = list(map(sum_, f.parts))
            if notation.takes_many:
                return atom(Apply(f.form, tuple(parts)))
            return reduce(lambda a, b: atom(Apply(f.form, (a, b))), parts)
        n, d = f.parts
        is_safe = f.form == "/" or notation.rounds_down or (is_nonnegative is not None and is_nonnegative(n))
        if f.form == "ceil_div" and not (is_safe and f.form in notation.operations):
            return factor(Apply("//", (n + d + number(-1), d)))
        dividend, divisor = sum_(n), sum_(d)
        if is_safe:
            return atom(Apply(f.form, (dividend, divisor)))
        rest = atom(Apply("%", (atom(Apply("%", (dividend, divisor))) + divisor, divisor)))
        return rest if f.form == "%" else atom(Apply("/", (dividend + -rest, divisor)))

    return sum_(e)


def _product(coefficient: int, factors: Iterable[Sum]) -> Sum:
    return reduce(lambda a, b: a * b, factors, number(coefficient))


def legal_names(names: Iterable[str], notation: Notation) -> dict[str, str]:
    """Return a name for each dim that the language allows, as near to its own as possible; no two are the same.

    >>> legal_names(["N", "for", "for_", "max.0"], PYTHON)
    {'N': 'N', 'for': 'for__', 'for_': 'for_', 'max.0': 'max_0'}
    """
    wanted = list(names)
    found: dict[str, str] = {}
    for name in wanted:
        legal = name.replace(".", "_")
        while legal in notation.words or (legal != name and legal in wanted) or legal in found.values():
            legal += "_"
        found[name] = legal
    return found


def in_tvm(e: str) -> str:
    """Return an expression that is one of TVM, too, where it is a number: TVM takes none of Python.

    >>> in_tvm("i + 4"), in_tvm("4")
    ('i + 4', "T.const(4, 'int64')")
    """
    return f"T.const({e}, 'int64')" if e.lstrip("-").isdigit() else e


def index_lambda(indices: Sequence[str], entries: Sequence[str]) -> str:
    """Return a lambda from indices to a list of expressions, as ``IndexMap.from_func`` of TVM takes it.

    >>> index_lambda(["i", "j"], ["i + j", "0"])
    "lambda i, j: [i + j, T.const(0, 'int64')]"
    """
    return f"lambda {', '.join(indices)}: [{', '.join(map(in_tvm, entries))}]"
