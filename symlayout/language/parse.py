"""Parse shapes, steps and relations, the text that users type: a small recursive-descent parser.

Nothing here evaluates Python or calls SymPy.  Text becomes a tree of frozen values (`grammar_trees`).  Text that is
not in the grammar raises a `FormatError` that points at the position.

::

    shape  : entry ("," entry)* [","]          also inside one pair of ( ) or [ ];  () has no axes
    entry  : "?" | "None" | "-1" | sum ".." [sum] | dim
    dim    : sum | name ">=" int | name "<=" int | int "<=" name ["<=" int]
    sum    : term (("+" | "-") term)*
    term   : factor (("*" | "/" | "//" | "%") factor)*
    factor : "-" factor | atom ["**" int] | function "(" sum ("," sum)* ")"
    step   : opname ["(" [argument ("," argument)* [","]] ")"] | "[" index ("," index)* "]"
    opname : [framework ":"] name ["-" version]
    index  : "..." | "None" | dim | [sum] ":" [sum] [":" [sum]]
    facts  : chain ("," chain)*
    chain  : sum (("==" | ">=" | "<=" | ">" | "<") sum)+
    value  : dim | "?" | "None" | "true" | "false" | real | "inf" | "nan" | "text" | [values] | (values)
    layout : nested [":" nested]
    nested : sum | "(" nested ("," nested)* [","] ")"

``/`` is exact division, ``//`` and ``%`` are floor division and its remainder.  A range ``lo..hi``
includes both ends; ``lo..`` is unbounded.  A bound such as ``b>=1`` may be written at any occurrence of the dim and
holds for all of them.  The attributes in `WORDS` take a bare word (``mode=DCR``); every other name is a dim.  In a
layout, ``_4`` is the number 4, as C++ prints it.  The functions are those of `sympy_bridge.FUNCTIONS`: ``max``,
``min``, ``ceil``, ``floor``, ``ceil_div(n, d)``, ``mod(n, d)`` and other spellings of these.

The grammar has no ``!=`` and no comments.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

from symlayout.language.grammar_trees import (
    Call,
    Chain,
    Comparison,
    Constant,
    Dots,
    Group,
    Int,
    Name,
    Negative,
    ParsedStep,
    Power,
    Range,
    Size,
    Slice,
    Tree,
    Unknown,
    evaluate,
    names_of,
)
from symlayout.language.read_tokens import TokenReader
from symlayout.language.sympy_bridge import FUNCTIONS

__all__ = ["evaluate", "names_of", "parse_layout", "parse_relations", "parse_shape", "parse_step"]

MAX_DIGITS = 40  # decimal digits of an integer
MAX_AXES = 64  # entries of a shape
MAX_FACTORS = 64  # factors of a product
MAX_EXPONENT = 64
MAX_BITS = 4096  # bits of a coefficient, when a product is multiplied out
MAX_TERMS = 65_536  # terms of a product, when it is multiplied out
MAX_NAMES = 256  # different dims in a text
MAX_QUOTIENTS = 64  # divisions in a text

SIGNS = ("==", ">=", "<=", ">", "<")  # of relations
WORDS = frozenset({"mode", "data_format", "pad_mode"})  # attributes whose value may be a word without quotes
CONSTANTS: Mapping[str, bool | float] = {
    "true": True, "True": True, "false": False, "False": False, "inf": math.inf, "nan": math.nan,
}  # fmt: skip


def parse_shape(text: str) -> tuple[Tree, ...]:
    """Return the entries of the shape *text*, one tree for each axis.

    >>> parse_shape("N, 3, ?, 1..8")
    (Name(name='N', low=None, high=None), Int(value=3), Unknown(), Range(low=Int(value=1), high=Int(value=8)))

    Raises
    ------
    FormatError
        The text is not a shape of the module's grammar, or exceeds a limit.
    """
    reader = _TextParser(text, "a shape")
    close = reader.enclosing_bracket()
    if close:
        reader.take()
    entries: list[Tree] = []
    while reader.token.text != close and (entries or reader.token.kind != "end"):
        if len(entries) == MAX_AXES:
            raise reader.error(f"a shape has at most {MAX_AXES} axes")
        entries.append(reader.entry())
        if not reader.accept(","):
            break
    if close:
        reader.expect(close)
    elif not entries:
        raise reader.error("expected a shape, found nothing", "a shape without axes is ()")
    reader.expect_end()
    return tuple(entries)


def parse_step(text: str) -> ParsedStep:
    """Return the operation that *text* names, with its arguments.

    >>> parse_step("onnx:SpaceToDepth(blocksize=2)").keywords
    (('blocksize', Int(value=2)),)

    Raises
    ------
    FormatError
        The text is not a step of the module's grammar, or exceeds a limit.
    """
    reader = _TextParser(text, "a step")
    if reader.accept("["):
        indices = reader.items("]", reader.index)
        if not indices:
            raise reader.error("expected an index, found an empty []")
        reader.expect_end()
        return ParsedStep("[]", tuple(indices), (), text)
    name = reader.operation()
    positional: list[Tree] = []
    keywords: dict[str, Tree] = {}
    if reader.accept("("):
        while not reader.accept(")"):
            key = reader.keyword()
            if key is None and keywords:
                raise reader.error("expected name=value: a value without a name follows one with a name")
            if key is None:
                positional.append(reader.value())
            elif key in keywords:
                raise reader.error(f"{key} is given twice")
            else:
                keywords[key] = reader.word() if key in WORDS else reader.value()
            if not reader.accept(","):
                reader.expect(")")
                break
    reader.expect_end()
    return ParsedStep(name, tuple(positional), tuple(keywords.items()), text)


def parse_relations(text: str) -> tuple[Comparison, ...]:
    """Return the comparisons in *text*; ``1 <= H <= 8`` is two comparisons.

    >>> [r.sign for r in parse_relations("1 <= H <= 8, H % 4 == 0")]
    ['<=', '<=', '==']

    Raises
    ------
    FormatError
        The text is not a list of relations of the module's grammar, or exceeds a limit.
    """
    reader = _TextParser(text, "a relation")
    found: list[Comparison] = []
    while True:
        left = reader.sum()
        if reader.token.text not in SIGNS:
            raise reader.unexpected(f"one of {' '.join(SIGNS)}")
        while reader.token.text in SIGNS:
            sign = reader.take().text
            right = reader.sum()
            found.append(Comparison(left, sign, right))
            left = right
        if not reader.accept(","):
            break
    reader.expect_end()
    return tuple(found)


def parse_layout(text: str) -> tuple[Tree, Tree | None]:
    """Return the shape and the strides of a layout, as CuTe writes it; None for strides that are left out.

    Both are trees of `Group` of one profile.  A pair of parentheses is a tuple unless an operator follows it.

    >>> parse_layout("(_4, N):(2, 8)")[1]
    Group(items=(Int(value=2), Int(value=8)), is_tuple=True)

    Raises
    ------
    FormatError
        The text is not a layout of the module's grammar, exceeds a limit, or the profiles differ.
    """
    reader = _TextParser(text, "a layout")
    shape = reader.nested()
    stride = reader.nested_like(shape) if reader.accept(":") else None
    reader.expect_end()
    return shape, stride


_OPERATION = re.compile(r"(?:[A-Za-z_]\w*:)?[A-Za-z_][\w.]*(?:-[0-9]{1,9})?", re.ASCII)
_STATIC = re.compile(rf"_([0-9]{{1,{MAX_DIGITS}}})")  # an integer as C++ prints it in a layout
_OPERATORS = frozenset({"+", "-", "*", "/", "//", "%", "**"})
_NAME = "a name such as N"
_DIM = "a number or a dim such as N"


class _TextParser(TokenReader):
    """The parser of one text: the rules of the grammar as methods."""

    def __init__(self, text: str, form: str) -> None:
        super().__init__(text, form)
        self._names: set[str] = set()
        self._quotients = 0

    def items(self, close: str, item: Callable[[], Tree]) -> list[Tree]:
        """Read items separated by commas, each by *item*, up to the bracket *close*, and take that bracket."""
        self.enter()
        found: list[Tree] = []
        while not self.accept(close):
            found.append(item())
            if not self.accept(","):
                self.expect(close)
                break
        self.depth -= 1
        return found

    def nested(self) -> Tree:
        """Read a size of a layout, or a tuple of nested ones."""
        if not self._begins_tuple():
            return self._number()
        self.take()
        if self.token.text == ")":
            if self.depth:
                raise self.unexpected(_DIM)
            self.take()  # a layout without modes
            return Group((), is_tuple=True)
        return Group(tuple(self.items(")", self.nested)), is_tuple=True)

    def nested_like(self, shape: Tree) -> Tree:
        """Read strides with the profile of *shape*."""
        if not isinstance(shape, Group):
            if self._begins_tuple():
                raise self.error("the shape has one size here, the stride a tuple")
            return self._number()
        if not self._begins_tuple():
            raise self.unexpected(f"'(' and {len(shape.items)} strides, as in the shape")
        self.take()
        self.enter()
        found: list[Tree] = []
        for item in shape.items:
            if found:
                self.expect(",")
            if self.token.text == ")":
                raise self.unexpected(f"{len(shape.items)} strides, as in the shape")
            found.append(self.nested_like(item))
        if self.accept(",") and self.token.text != ")":
            raise self.unexpected(f"{len(shape.items)} strides, as in the shape")
        self.expect(")")
        self.depth -= 1
        return Group(tuple(found), is_tuple=True)

    def _number(self) -> Tree:
        """Read a sum; ``_4`` is the number 4."""
        found = _STATIC.fullmatch(self.token.text)
        if found is None:
            return self.sum()
        self.take()
        return Int(int(found[1]))

    def _begins_tuple(self) -> bool:
        """Return whether the current token is a parenthesis after whose end no operator follows."""
        if self.token.text != "(":
            return False
        depth, position = 0, self.token.position
        while True:
            token = self.scan(position)
            depth += (token.text == "(") - (token.text == ")")
            position = token.position + len(token.text)
            if token.kind == "end":
                return True
            if depth == 0:
                return self.scan(position).text not in _OPERATORS

    def operation(self) -> str:
        """Return the name of an operation, with its framework and version."""
        found = _OPERATION.match(self.text, self.token.position)
        if found is None:
            raise self.unexpected("the name of an operation", "for example transpose(0, 2, 3, 1)")
        self.token = self.scan(found.end())
        return found[0]

    def keyword(self) -> str | None:
        """Take ``name =`` and return the name.  If the text goes on in any other way, take nothing and return None."""
        if self.token.kind != "name":
            return None
        after = self.scan(self.token.position + len(self.token.text))
        if after.text != "=":
            return None
        key = self.take().text
        self.take()
        return key

    def word(self) -> Tree:
        """Read the value of an attribute in `WORDS`: text, in quotes or bare."""
        return Constant(self.take().text) if self.token.kind == "name" else self.value()

    def entry(self) -> Tree:
        """Read one entry of a shape."""
        if self._unknown():
            return Unknown()
        low = self.dim()
        if low == Negative(Int(1)):
            return Unknown()
        if not self.accept(".."):
            return low
        return Range(low, None if self.token.text in (",", ")", "]", "") else self.sum())

    def index(self) -> Tree:
        """Read one index of an indexing step."""
        if self.accept("..."):
            return Dots()
        if self._unknown():
            return Unknown()
        parts: list[Tree | None] = [self._bound()]
        while len(parts) < 3 and self.accept(":"):
            parts.append(self._bound())
        if len(parts) == 1:
            if parts[0] is None:
                raise self.unexpected("an index or a slice")
            return parts[0]
        start, stop, step = [*parts, None][:3]
        return Slice(start, stop, step)

    def _bound(self) -> Tree | None:
        """Read one part of a slice, if there is one."""
        return None if self.token.text in (":", ",", "]") else self.dim()

    def value(self) -> Tree:
        """Read one value of an argument."""
        if self._unknown():
            return Unknown()
        if self.accept("["):
            return Group(tuple(self.items("]", self.value)))
        if self.token.kind == "text":
            return Constant(self.take().text[1:-1])
        return self.dim()

    def _unknown(self) -> bool:
        """Take ``?`` or ``None`` if the current token is one; return whether it was."""
        if self.token.text not in ("?", "None"):
            return False
        self.take()
        return True

    def dim(self) -> Tree:
        """Read a sum, or a name with its bounds."""
        left = self.sum()
        if self.token.text not in (">=", "<="):
            return left
        sign = self.take().text
        if isinstance(left, Name):
            return Name(left.name, **{"low" if sign == ">=" else "high": self._integer("a bound")})
        if sign == ">=" or not isinstance(left, Int):
            raise self.error("a bound is name >= int, name <= int or int <= name <= int")
        if self.token.kind != "name":
            raise self.unexpected(_NAME)
        name = self.take().text
        return Name(name, left.value, self._integer("a bound") if self.accept("<=") else None)

    def _integer(self, what: str) -> int:
        """Read an integer; *what* is its name in the error if it is none."""
        atom = self.atom()
        if not isinstance(atom, Int):
            raise self.error(f"{what} is an integer")
        return atom.value

    def sum(self) -> Tree:
        """Read terms with ``+`` and ``-`` between them."""
        return self._chain(("+", "-"), self.term)

    def term(self) -> Tree:
        """Read factors with ``*``, ``/``, ``//`` and ``%`` between them."""
        return self._chain(("*", "/", "//", "%"), self.factor)

    def _chain(self, signs: tuple[str, ...], operand: Callable[[], Tree]) -> Tree:
        """Read operands with any of *signs* between them."""
        operands, taken = [operand()], []
        while self.token.text in signs:
            self._check_number(operands[-1])
            taken.append(self.take().text)
            self._count_quotient(taken[-1] in ("/", "//", "%"))
            operands.append(operand())
        if not taken:
            return operands[0]
        self._check_number(operands[-1])
        sizes = [_size(tree) for tree in operands]
        if "+" in signs:
            size = Size(max(part.bits for part in sizes) + len(sizes).bit_length(), sum(part.terms for part in sizes))
        else:
            size = Size(sum(part.bits for part in sizes), math.prod(part.terms for part in sizes))
            self._check_product(len(sizes), size)
        return Chain(operands[0], tuple(zip(taken, operands[1:], strict=True)), size)

    def _check_product(self, factors: int, size: Size) -> None:
        """Raise `FormatError` if a product exceeds a limit when it is multiplied out."""
        if factors > MAX_FACTORS or size.bits > MAX_BITS or size.terms > MAX_TERMS:
            raise self.error(
                f"a product has at most {MAX_FACTORS} factors, {MAX_TERMS} terms when it is multiplied out, "
                f"and coefficients below 2**{MAX_BITS}"
            )

    def _check_number(self, tree: Tree) -> None:
        """Raise `FormatError` if *tree* is not a number or an expression in dims."""
        if isinstance(tree, Group) or (isinstance(tree, Constant) and not isinstance(tree.value, float)):
            raise self.error("only numbers and dims can be calculated with")

    def factor(self) -> Tree:
        """Read an atom, optionally negated or raised to a power."""
        if self.token.text == "-":
            self.enter()
            self.take()
            operand = self.factor()
            self._check_number(operand)
            self.depth -= 1
            return Negative(operand)
        atom = self.atom()
        if self.token.text != "**":
            return atom
        self.take()
        exponent = self._integer("an exponent")
        if not isinstance(atom, Name) or exponent > MAX_EXPONENT:
            raise self.error(f"a power is a dim to an integer of at most {MAX_EXPONENT}")
        return Power(atom, exponent)

    def atom(self) -> Tree:
        """Read a literal, a name, or an expression in parentheses."""
        token, in_step = self.token, self.form == "a step"
        if token.kind == "int":
            if len(token.text) > MAX_DIGITS:
                raise self.error(f"an integer has at most {MAX_DIGITS} digits, not {len(token.text)}")
            return Int(int(self.take().text))
        if token.kind == "real" and in_step:
            return Constant(float(self.take().text))
        if token.text in CONSTANTS and in_step:
            return Constant(CONSTANTS[self.take().text])
        if token.text in FUNCTIONS and self.scan(token.position + len(token.text)).text == "(":
            return self._call()
        if token.kind == "name" and token.text not in CONSTANTS and token.text != "None":
            self._names.add(token.text)
            if len(self._names) > MAX_NAMES:
                raise self.error(f"{self.form} has at most {MAX_NAMES} different names")
            return Name(self.take().text)
        if self.accept("("):
            return self._parenthesis(in_step)
        raise self.unexpected(_DIM)

    def _call(self) -> Tree:
        """Read a function of sums; the current token is its name."""
        start, name = self.token, self.take().text
        self.expect("(")
        _, least, most = FUNCTIONS[name]
        arguments = self.items(")", self.sum)
        for argument in arguments:
            self._check_number(argument)
        if len(arguments) < least or (most is not None and len(arguments) > most):
            self.token = start
            count = f"{least} or more" if most is None else str(least)
            raise self.error(f"{name} takes {count} arguments, not {len(arguments)}")
        self._count_quotient(name not in ("max", "min"))
        return Call(name, tuple(arguments))

    def _count_quotient(self, is_one: bool) -> None:
        """Count a division; raise `FormatError` beyond the limit."""
        self._quotients += is_one
        if self._quotients > MAX_QUOTIENTS:
            raise self.error(f"{self.form} has at most {MAX_QUOTIENTS} divisions")

    def _parenthesis(self, in_step: bool) -> Tree:
        """Read the rest of an expression in parentheses, or of a tuple in a step.  ``(`` has been taken."""
        if in_step and self.accept(")"):
            return Group((), is_tuple=True)
        self.enter()
        inner = self.value() if in_step else self.sum()
        if in_step and self.accept(","):
            inner = Group((inner, *self.items(")", self.value)), is_tuple=True)
        else:
            self.expect(")")
        self.depth -= 1
        return inner


def _size(tree: Tree) -> Size:
    """Return an upper bound of the size of *tree* when it is multiplied out."""
    match tree:
        case Int(value):
            return Size(value.bit_length())
        case Negative(operand):
            return _size(operand)
        case Chain(size=size):
            return size
        case _:
            return Size()
