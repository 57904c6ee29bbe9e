"""An expression means the same in each language, by the language's own division."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings

from symlayout.algebra.table import Table
from symlayout.errors import FormatError
from symlayout.language.notations import CUTE_CPP, CUTE_DSL, PYTHON, TRITON, TVM, Notation, legal_names, lowered
from symlayout.language.readable import Apply, Sum, atom, number
from symlayout.language.to_text import spell
from tests.language.test_to_text import NAMES, TREES, evaluate
from tests.support.effort import examples


class Truncated(int):
    """An integer that divides towards 0, as those of C do."""

    def __floordiv__(self, d: int) -> Truncated:
        q = abs(int(self)) // abs(int(d))
        return Truncated(q if (self < 0) == (d < 0) else -q)

    __truediv__ = __floordiv__

    def __mod__(self, d: int) -> Truncated:
        return Truncated(int(self) - int(d) * int(self // d))

    def __add__(self, other: int) -> Truncated:
        return Truncated(int(self) + int(other))

    def __sub__(self, other: int) -> Truncated:
        return Truncated(int(self) - int(other))

    def __mul__(self, other: int) -> Truncated:
        return Truncated(int(self) * int(other))

    def __neg__(self) -> Truncated:
        return Truncated(-int(self))


def _ceil_div(n: int, d: int) -> int:
    return (n + d - 1) // d


def value(text: str, notation: Notation) -> int:
    """Return the number that a text is in a language; a dividend of C's kind rounds towards 0."""
    kind = int if notation.rounds_down else Truncated
    plain = re.sub(r"(?:Int|C)<(\d+)>\{\}", r"\1", text).replace("cute::", "")
    module = SimpleNamespace(minimum=min, maximum=max, min=min, max=max, cdiv=_ceil_div, ceil_div=_ceil_div)
    module.ceildiv = _ceil_div
    known = {"tl": module, "T": module, "cute": module, "min": min, "max": max, "ceil_div": _ceil_div}
    names = {name: kind(n) for name, n in NAMES.items()}
    return int(eval(re.sub(r"\b(\d+)\b", r"kind(\1)", plain), {**known, "kind": kind}, names))


@pytest.mark.parametrize("notation", [PYTHON, CUTE_CPP, CUTE_DSL, TRITON, TVM], ids=lambda row: row.name)
@given(e=TREES)
@settings(max_examples=examples(200), deadline=None)
def test_an_expression_has_its_value_in_each_language(notation: Notation, e: Sum) -> None:
    found = evaluate(e)
    assert value(spell(lowered(e, notation, {}), notation), notation) == found
    known = lowered(e, notation, {}, lambda dividend: evaluate(dividend) >= 0)
    assert value(spell(known, notation), notation) == found


def test_a_dividend_that_may_be_negative_is_rounded_down() -> None:
    e = atom(Apply("//", (atom("b") + number(-10), number(4)))) + atom(Apply("%", (atom("b") + number(-10), number(4))))
    assert value("(b - 10)//4 + (b - 10) % 4", TRITON) != evaluate(e)  # what must not be printed
    assert value(spell(lowered(e, TRITON, {}), TRITON), TRITON) == evaluate(e)


def test_a_table_has_no_notation() -> None:
    entry = Apply("[]", (atom("i0"),), Table((3, 1, 2)))
    with pytest.raises(FormatError):
        lowered(atom(entry), TRITON, {})


def test_no_two_names_become_one() -> None:
    assert legal_names(["a.1", "a_1", "a_1_", "cute"], CUTE_DSL) == {
        "a.1": "a_1__",
        "a_1": "a_1",
        "a_1_": "a_1_",
        "cute": "cute_",
    }
