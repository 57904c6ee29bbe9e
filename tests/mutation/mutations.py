"""Side conditions of the prover's and the checker's rules, each with the text that removes it."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.paths import source


@dataclass(frozen=True, slots=True)
class Mutation:
    """Without the condition *name*: *old*, which occurs once in *file*, becomes *new*.

    ``harmless`` says why no wrong verdict follows, where that is known: then no test needs to notice.
    """

    file: str
    name: str
    old: str
    new: str
    harmless: str = ""


Row = tuple[str, ...]  # the last three or four parts of a mutation


def _never(name: str, test: str, *harmless: str) -> Row:
    """Return the row of the condition *test* of an ``if``, as if it never held."""
    return (name, f"if {test}:", "if False:", *harmless)


def _always(name: str, test: str, *harmless: str) -> Row:
    """Return the row of the condition *test* of an ``if``, as if it always held."""
    return (name, f"if {test}:", "if True:", *harmless)


def _without(name: str, statement: str, *harmless: str) -> Row:
    """Return the row of a *statement* that is left out."""
    return (name, f"{statement}\n", "pass\n", *harmless)


_DIGITS: list[Row] = [
    _never("the divisor is positive", "not (k >= 1 if isinstance(k, int) else facts.positive(k))"),
    (
        "a remainder is less than its divisor",
        "(most := facts.derive(k - 1 - below)) is not None:",
        "(most := facts.derive(k - 1 - below) or k - 1 - below) is not None:",
    ),
    (
        "a remainder is not negative",
        "if (least := facts.derive(below)) is not None",
        "if (least := facts.derive(below) or below) is not None",
    ),
    ("a floor folds into a division of coefficient 1", "if c == 1 and names[0] in", "if names[0] in"),
    ("a negated floor rounds up", "_floor(facts, k - 1 - rest, k)", "_floor(facts, -rest, k)"),
    ("a term is divided by a divisor of its coefficient", "None if c % unit else without", "without"),
    (
        "a quotient is not written in itself",
        " and not facts.is_made_of(value, name):\n            facts.rep",
        ":\n            facts.rep",
        "the equation holds; it is not used, so that each definition is made of older symbols and rewriting ends",
    ),
]

_INEQUALITIES: list[Row] = [
    _always("a fact's factor is not negative", "self.holds_at_lows(factor)"),
    ("a goal's scale is positive", "if scale != 1 and self.holds_at_lows(scale - 1):", "if scale != 1:"),
    ("what moves to its upper bound falls", "and self.holds_at_lows(-split[0]):", "and True:"),
    ("a factor that is divided out is not negative", "is not None and low >= least:", "is not None:"),
    (
        "a maximum is proved for its value too",
        "return None if other is None else Derivation(e, ((1, zero), (1, other)), maximum=name)",
        "return Derivation(e, ((1, zero), (1, zero)), maximum=name)",
    ),
    ("a known fact is as strong as the goal", "if best is not None and best + constant >= 0:", "if best is not None:"),
    ("a quotient's remainder is subtracted", "bound - c * (q.step - 1) if rising else bound, ((size", "bound, ((size"),
    ("a remainder's end is of the sign of its factor", "if times > 0:  #", "if True:  #"),
]

_DERIVED: list[Row] = [
    ("a floor's highest value is of rising digits", " or not self.nonnegative(split[0]):", ":"),
    (
        "a maximum in a maximum is less a nonnegative",
        " and split[0] == 1 and self.nonnegative(-split[1]):",
        " and split[0] == 1:",
    ),
    ("the least value of a negative quotient", "n[0] // d_low if n[0] < 0 else 0 if d_high", "0 if d_high"),
]

_DIVISIONS: list[Row] = [
    ("a coefficient is a unit of the modulus", "if not unit or gcd(unit, modulus) != 1 or", "if not unit or"),
    (
        "the gcd of the coefficients divides the constant",
        "if constant % common:\n            return None",
        "if False:\n            return None",
        "what is left has no multiple either: the last division says so, or an equation without solutions is kept",
    ),
    (
        "an equation is divided by what divides its constant",
        "if constant % common:\n        return e, False",
        "if False:\n        return e, False",
    ),
    (
        "a symbol of a symbolic divisor's multiple has a unit",
        "split is not None and split[0] in (1, -1):",
        "split is not None:",
    ),
    (
        "a symbol that is solved for has a unit",
        "split[0] in (1, -1) and not self.is_made_of(split[1], name):",
        "not self.is_made_of(split[1], name):",
    ),
    (
        "the value of a rewritten multiple has the sign of its coefficient",
        " - equation * (1 if c > 0 else -1)",
        " - equation",
    ),
    (
        "a monomial is not rewritten into itself",
        "not rule.loops()\n                and ",
        "",
        "the equation holds; used as a rewrite it would not end",
    ),
    _always("a factor that is left out of an equation is not 0", "(self.low.get(name) or 0) >= 1"),
    ("a divisor is not larger than what is positive", "elif low is not None and low > 0:  #", "else:  #"),
]

_INTERVALS: list[Row] = [
    (
        "the remainder of a solved floor is below its divisor, not 0",
        "self.learn(d * value + d - 1 - n)",
        "self.learn(d * value - n)",
    ),
    (
        "a product of what may be negative has no bound",
        "most if least is not None or len(names) == 1 else None",
        "most",
    ),
    ("symbols start at 0 or later", "if not falling and (degree == 1 or min(lows.values()) >= 0):", "if not falling:"),
    ("a least value follows from a positive rest", "c_low >= 0 and c_high and most < 0:", "c_low >= 0 and c_high:"),
    ("a greatest value of a falling term", "c_high < 0 and (most >= 0 or isinstance(c, int)):", "c_high < 0:"),
]

_FACTS: list[Row] = [
    (
        "a maximum is its value where it is positive",
        "if self.nonnegative(value) or self.positive(m):",
        "if self.nonnegative(value) or self.nonnegative(m):",
    ),
    (
        "a case is excluded by a proof",
        "return self.nonnegative(-1 - self.reduce(e))",
        "return not self.nonnegative(self.reduce(e))",
    ),
    (
        "a bound of a digit mentions nothing else",
        "if name[0] == DIGIT and e.form == symbol(name).form:",
        "if name[0] == DIGIT and ((name,), 1) in e.form:",
    ),
]

_SPLITS: list[Row] = [
    ("both branches of a split are decided", "zip((value, -1 - value), plans", "zip((value, value), plans"),
]

_COMPARED: list[Row] = [
    _never("two fills are the same", "not same_fill(a.fill, b.fill, self.dtype)"),
    (
        "all fills are the same",
        "return all(same_fill(fills[0], fill, self.dtype) for fill in fills[1:])",
        "return True",
    ),
    (
        "one fill for all is for maps without cases",
        "            return False\n        fills = [",
        "            pass\n        fills = [",
        "where neither side reads inside all its sources both read that fill, whatever cases they take; the condition"
        " is the checker's, which would refuse the certificate",
    ),
    _always("two reads are of one input", "a.leaf.key == b.leaf.key"),
    _never("two shapes are equal", "not equal(a, b, facts)"),
    ("two coordinates are equal", "if not equal(x, y, facts)), None)", "if False), None)"),
]

_READS: list[Row] = [
    (
        "reads are inside in the branch that assumes it",
        "if inside and case.fill is not None:",
        "if case.fill is not None:",
    ),
    ("a read outside the package is shown to be inside", "shown and node.own", "shown"),
    (
        "no axis is empty where as many are read",
        "if case.fill is None and same_size(extents, node.extents, facts):",
        "if case.fill is None:",
    ),
    ("a read is inside on both sides", '(("below", value), ("above", extent - 1 - value)):', '(("below", value),):'),
    (
        "the window of a case holds",
        "undecided = question.value if undecided is None else undecided\n    if undecided is None:",
        "return number\n    if undecided is None:",
    ),
]

_NORMALISE: list[Row] = [
    ("a coordinate is less than its extent", " and facts.nonnegative(extent - 1 - coordinate)", ""),
    ("a read that was not shown is shown", "if case.fill is not None or not shown:", "if case.fill is not None:"),
    (
        "a window's ends are both assumed",
        "    facts.assume_nonnegative(window.extent - 1 - window.value)\n",
        "    facts.assume_nonnegative(-window.value)\n",
    ),
]

_KNOWN: list[Row] = [
    _never("what is shown not to hold is not known", "not self.holds(e)"),
    _never("what is not shown to be 0 is not known", "not self.vanishes(e)"),
    _never("a symbol is new", "name in self.symbols"),
]

_RULES: list[Row] = [
    _without("a divisor of a floor is positive", "known.need(d - 1)"),
    ("a goal's scale is positive", "    known.need(s - 1)\n    rest", "    rest"),
    _without("the first factor is not negative", "known.need(a)"),
    _without("the second factor is not negative", "known.need(b)"),
    _without("a lower bound is known", "known.need(known.read([[1, name]]) - low)"),
    ("a symbol is not solved by itself", "if name in v.names or name in known.solved", "if name in known.solved"),
    ("a rewrite is an equation", "    known.need_zero(known.reduce(m - v))\n    known.rewrite", "    known.rewrite"),
    _without("an exact quotient's divisor is positive", "known.need(b - 1)"),
    (
        "a maximum is 0 where its value is not positive",
        "        known.need(-e)\n        known.zero.add(m)",
        "        known.zero.add(m)",
    ),
    _never("a symbol of the claim has one meaning", "name in known.meaning"),
]

_BLOCKS: list[Row] = [
    (
        "what one branch supposes the other does not",
        "supposed = known.fork()\n            supposed.nonnegative.add(bound)",
        "supposed = known\n            supposed.nonnegative.add(bound)",
    ),
    _never("a case has no coordinate of its own", "supposed.point != known.point"),
    _without("each operation is shown to be a map", "check_block(place, block)"),
    _without("parts are shown to be equal", "check_block(part, block)"),
    _without("parts are about their own nodes", "part.sides = left, right"),
]

_READINGS: list[Row] = [
    ("an axis without elements is shown to have none", "known.need(-extent)", "known.need(1 - extent)"),
    ("fills are one where they mask", "len(fills) > 1 or any(", "any("),
    _without("the sides' coordinates are equal", "known.need_zero(a - b)"),
    _never("no coordinate is introduced before the maps", "known.point is not None"),
    ("every name of the claim has a meaning", "    if missing := {", "    if False and {"),
    _never(
        "a case that is supposed to read inside is on the side that is supposed to",
        'case["fill"] is not None and known.inside != side',
    ),
    _without("another case fails", "_need_outside(known, value, known.claimed(extent), at, end)"),
    (
        "a case without a fill reads inside",
        '    if case["fill"] is None:\n        for coordinate',
        "    if False:\n        for coordinate",
    ),
]

_MEETINGS: list[Row] = [
    _never("values that meet are one expression", "forms[a] != forms[b]"),
    _never("equal elements are read from their constants", 'read != ("input", constant)'),
    _without("equal elements are from the least values of their box on", "known.need(value - low)"),
    _without("equal elements are to the greatest values of their box", "known.need(known.number(high) - value)"),
]

_ELEMENTS: list[Row] = [
    _never(
        "the bits of constants are equal",
        "_bits(one, values, size, constants) != _bits(other, values, size, constants)",
    ),
    _never("elements are inside their constants", "found.min() < 0 or found.max() >= extent"),
]

_SCHEMA: list[Row] = [
    ("an object has no other members", "value.keys() != inner.keys()", "value.keys() < inner.keys()"),
    (
        "a bool is not an integer",
        "    if type(value) is not int:  # not isinstance: a bool is not an integer here\n",
        "    if not isinstance(value, int):\n",
    ),
    _never("a name stands for one thing", "symbol in known"),
    (
        "a claim's names are its own",
        "            if unknown := set(names) - known:\n",
        "            if unknown := set():\n",
    ),
    ("nodes are read by later ones", "source >= number for source", "source > number for source"),
    _never("every node is read", "number not in used"),
]

MUTATIONS = [
    Mutation(source(module), *row)
    for module, rows in {
        "floor_normal_form": _DIGITS,
        "nonnegative": _INEQUALITIES,
        "defined_symbols": _DERIVED,
        "solve_divisibility": _DIVISIONS,
        "intervals": _INTERVALS,
        "facts": _FACTS,
        "split_cases": _SPLITS,
        "compare_reads": _COMPARED,
        "read_element": _READS,
        "compose_chain": _NORMALISE,
        "checker.known": _KNOWN,
        "checker.rules": _RULES,
        "checker.blocks": _BLOCKS,
        "checker.readings": _READINGS + _MEETINGS,
        "checker.elements": _ELEMENTS,
        "checker.schema": _SCHEMA,
    }.items()
    for row in rows
]
