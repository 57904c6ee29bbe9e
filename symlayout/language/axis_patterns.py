"""Parse patterns of named axes, as einops writes them.

::

    pattern : side "->" side
    side    : (axis | "..." | "(" (axis | "...")* ")")*
    axis    : name | int                    an int is an axis without a name, of that extent

A name is an identifier that neither begins nor ends with ``_``; ``...`` are the axes that no other item names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from symlayout.errors import FormatError, shown
from symlayout.language.read_tokens import MAX_TEXT, pointed

ELLIPSIS = "..."
_TOKEN = re.compile(r"\s*(?:(?P<axis>\w+)|(?P<mark>\.\.\.|->|[()])|(?P<other>\S))")
_MOST_DIGITS = 18

Group = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AxisPattern:
    """The groups of axes of both sides, and the extents of axes without a name, which are called ``2@5``."""

    left: tuple[Group, ...]
    right: tuple[Group, ...]
    sizes: Mapping[str, int]


def parse_pattern(text: str, rank: int, *, repeats: bool) -> AxisPattern:
    """Return the groups of a pattern for an input of the given rank.

    Parameters
    ----------
    repeats : bool
        Whether the right side may have axes that the left side has not.

    Raises
    ------
    FormatError
        *text* is not in the grammar, names an axis twice on a side, or names different axes on both sides.

    Examples
    --------
    >>> parse_pattern("b (h p) c -> b h p c", 3, repeats=False)
    AxisPattern(left=(('b',), ('h', 'p'), ('c',)), right=(('b',), ('h',), ('p',), ('c',)), sizes={})
    """
    if not isinstance(text, str):
        raise FormatError(f"{shown(text)} is no pattern of axes")
    if len(text) > MAX_TEXT:
        raise FormatError(f"a pattern has more than {MAX_TEXT} characters")
    if text.count("->") != 1:
        raise FormatError(f"a pattern has one ->\n{pointed(text, len(text))}")
    middle = text.index("->")
    left, right = _Side(text, 0, middle), _Side(text, middle + 2, len(text))
    for side, other in ((left, right), (right, left)):
        for name, at in side.places.items():
            unnamed = name in side.sizes
            if unnamed and (side is left or not repeats):
                raise FormatError(f"an axis without a name has extent 1 here\n{pointed(text, at)}")
            if name not in other.places and not unnamed and (side is left or not repeats or name == ELLIPSIS):
                hint = "\n  help: repeat adds axes" if side is right and name != ELLIPSIS else ""
                raise FormatError(f"{name} is on one side of the pattern alone\n{pointed(text, at)}{hint}")
    if left.joins_rest:
        raise FormatError(f"... is in parentheses on the right side alone\n{pointed(text, left.places[ELLIPSIS])}")
    rest = tuple(f"{ELLIPSIS}{k}" for k in range(rank - len(left.items) + 1))
    return AxisPattern(left.groups(rest), right.groups(rest), right.sizes)


class _Side:
    """One side of a pattern.

    Attributes
    ----------
    items : groups of names; ``...`` outside of parentheses stands for itself.
    places : where each name stands in the text.
    sizes : the extents of axes without a name, but 1.
    joins_rest : whether ``...`` is in parentheses.
    """

    def __init__(self, text: str, start: int, stop: int) -> None:
        self.items: list[Group | str] = []
        self.places: dict[str, int] = {}
        self.sizes: dict[str, int] = {}
        self.joins_rest = False
        group: list[str] | None = None
        opened = start
        for token in _TOKEN.finditer(text, start, stop):
            at = token.start(token.lastgroup or 0)
            word = token[token.lastgroup or 0]
            if word == "(" and group is None:
                group, opened = [], at
            elif word == ")" and group is not None:
                self.items.append(tuple(group))
                group = None
            elif word == ELLIPSIS or token.lastgroup == "axis":
                names = list(self._names(text, word, at))
                self.joins_rest |= word == ELLIPSIS and group is not None
                if group is not None:
                    group += names
                else:
                    self.items.append(ELLIPSIS if word == ELLIPSIS else tuple(names))
            else:
                raise FormatError(f"{word} cannot stand here\n{pointed(text, at)}")
        if group is not None:
            raise FormatError(f"( is not closed\n{pointed(text, opened)}")

    def _names(self, text: str, word: str, at: int) -> Iterator[str]:
        """Yield the name of an axis, none for an axis of extent 1."""
        if word.isdecimal() and word.isascii():
            if not int(word[:_MOST_DIGITS]) >= 1 or len(word) > _MOST_DIGITS:
                raise FormatError(f"{shown(word)} is no extent of an axis without a name\n{pointed(text, at)}")
            if int(word) == 1:
                return
            self.sizes[name := f"{word}@{at}"] = int(word)
        else:
            name = word
            if word != ELLIPSIS and (not word.isidentifier() or word[0] == "_" or word[-1] == "_"):
                raise FormatError(f"{shown(word)} is no name of an axis\n{pointed(text, at)}")
            if name in self.places:
                raise FormatError(f"{name} stands twice on one side\n{pointed(text, at)}")
        self.places[name] = at
        yield name

    def groups(self, rest: Group) -> tuple[Group, ...]:
        """Return the groups, with the axes *rest* for ``...``."""
        found: list[Group] = []
        for item in self.items:
            if isinstance(item, str):
                found += [(name,) for name in rest]
            else:
                found.append(tuple(one for name in item for one in (rest if name == ELLIPSIS else (name,))))
        return tuple(found)
