"""Read shapes and patterns in which ``*name`` stands for one axis for each axis of a group.

::

    shape   : entry ("," entry)*            entry: "*" extent | "(" factor+ ")" | extent
    factor  : "*" extent | extent           without spaces
    pattern : side "->" side
    side    : (name | "*" name | "(" name+ ")" | "*(" name+ ")" | "(" ("*" name | name)+ ")")*

``*(s b)`` is one axis for each axis of the group, with the digits ``s`` and ``b``.  ``(*b n)`` is one axis whose digits
are all axes of the group ``b``, and ``n``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from symlayout.errors import FormatError, shown
from symlayout.language.read_tokens import MAX_TEXT, pointed
from symlayout_codegen.values import Value

STAR = "*"
_TOKEN = re.compile(r"\s*(?:(?P<name>\*?[^\W\d]\w*)|(?P<open>\*?\()|(?P<close>\))|(?P<other>\S))", re.ASCII)


class Item(Value):
    """One item of a shape or of a pattern.

    Attributes
    ----------
    names : the digits, without their stars; or the texts of extents.
    stars : for each digit, whether it is one axis for each axis of the group.
    joined : whether axes of the group are digits of a single axis.
    """

    names: tuple[str, ...]
    stars: tuple[bool, ...]
    joined: bool


def has_group(shape: str) -> bool:
    """Return whether the text of a shape has a group of axes.

    >>> has_group("N, *S, C"), has_group("(*b N), C"), has_group("*1, *(2*S)"), has_group("N, 2*S"), has_group("(N, C)")
    (True, True, True, False, False)
    """
    return re.search(r"(?:^|[,(])\s*\*\s*[\w(]", shape) is not None


def read_shape(text: str) -> tuple[Item, ...]:
    """Return the entries of a shape that has a group of axes.

    >>> [entry.names for entry in read_shape("N, *S, (*b 2*n)")]
    [('N',), ('S',), ('b', '2*n')]
    """
    if len(text) > MAX_TEXT:
        raise FormatError(f"a shape has more than {MAX_TEXT} characters")
    inner = text.strip()
    if inner.startswith("(") and inner.endswith(")") and "," in inner[: inner.find(")")]:
        inner = inner[1:-1]
    return tuple(_entry(part.strip(), text) for part in inner.rstrip(", ").split(","))


def _entry(text: str, shape: str) -> Item:
    if text.startswith(STAR):
        return Item((text[1:].strip(),), (True,), False)
    if not (text.startswith("(") and has_group(text)):
        return Item((text,), (False,), False)
    factors = text[1:-1].split()
    if not text.endswith(")") or STAR in factors:
        raise FormatError(f"{shown(text)} is no joined axis of the shape {shown(shape)}\n  help: write (*b N)")
    return _joined([(f.removeprefix(STAR), f.startswith(STAR)) for f in factors], shape)


def _joined(factors: Sequence[tuple[str, bool]], text: str) -> Item:
    return Item(tuple(name for name, _ in factors), tuple(star for _, star in factors), True)


def read_pattern(text: str) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Return the items of both sides of a pattern.

    Raises
    ------
    FormatError
        *text* is not in the grammar, or its sides have different names.

    Examples
    --------
    >>> left, right = read_pattern("N *(s b) C -> (*b N) *s C")
    >>> [item.names for item in left], [item.names for item in right]
    ([('N',), ('s', 'b'), ('C',)], [('b', 'N'), ('s',), ('C',)])
    """
    if not isinstance(text, str) or len(text) > MAX_TEXT or text.count("->") != 1:
        raise FormatError(f"{shown(text)} is no pattern of axes: it has two sides with -> between them")
    middle = text.index("->")
    sides = _side(text, 0, middle), _side(text, middle + 2, len(text))
    names = [sorted((n, s) for item in side for n, s in zip(item.names, item.stars, strict=True)) for side in sides]
    for found in names:
        if repeated := {name for k, (name, _) in enumerate(found) if name in [n for n, _ in found[:k]]}:
            raise FormatError(f"{min(repeated)} stands twice on one side of the pattern {shown(text)}")
    if names[0] != names[1]:
        name, star = min(set(names[0]) ^ set(names[1]))
        raise FormatError(f"{STAR * star}{name} is on one side of the pattern {shown(text)} alone")
    return sides


def _side(text: str, start: int, stop: int) -> tuple[Item, ...]:
    items: list[Item] = []
    opened: str | None = None
    inside: list[tuple[str, bool]] = []
    for token in _TOKEN.finditer(text, start, stop):
        word, kind = token[token.lastgroup or 0], token.lastgroup
        digit = word.removeprefix(STAR), word.startswith(STAR)
        if kind == "name" and opened is None:
            items.append(Item((digit[0],), (digit[1],), False))
        elif kind == "name" and not (opened == "*(" and digit[1]):
            inside.append((digit[0], digit[1] or opened == "*("))
        elif kind == "open" and opened is None:
            opened, inside = word, []
        elif kind == "close" and opened is not None and inside:
            joined = opened == "(" and any(star for _, star in inside)
            items.append(Item(tuple(n for n, _ in inside), tuple(s for _, s in inside), joined))
            opened = None
        else:
            raise FormatError(f"{word} cannot stand here\n{pointed(text, token.start(kind or 0))}")
    if opened is not None:
        raise FormatError(f"( is not closed\n{pointed(text, stop)}")
    return tuple(items)
