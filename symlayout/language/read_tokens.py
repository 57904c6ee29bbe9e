"""The tokens of texts: numbers, names, quoted texts and signs; errors show the text with a caret."""

from __future__ import annotations

import re

from symlayout.errors import FormatError, shortened
from symlayout_codegen.values import Value

MAX_TEXT = 64 * 1024  # characters of a text
MAX_NESTING = 64  # levels of brackets and signs


def pointed(text: str, at: int) -> str:
    """Return two lines for an error message: the text around position *at*, and a caret under that position.

    >>> print(pointed("flip(axes=0)", 5))
      in: flip(axes=0)
               ^
    """
    start, stop = max(0, at - 48), at + 24
    excerpt = re.sub(r"[^ -~]", "?", text[start:stop])
    before, after = "..." * (start > 0), "..." * (stop < len(text))
    return f"  in: {before}{excerpt}{after}\n      {' ' * (len(before) + at - start)}^"


class Token(Value):
    """A token of the text: the name of its group in `_TOKEN`, its characters, and the position of the first one."""

    kind: str
    text: str
    position: int


_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
      (?P<real>[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)(?![A-Za-z0-9_]))
    | (?P<int>[0-9]+(?![A-Za-z0-9_]))
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<text>"[^"\\\r\n]*"|'[^'\\\r\n]*')
    | (?P<sign>\.\.\.|\.\.|\*\*|//|>=|<=|==|!=|[-+*/%?,:=<>()\[\]])
    | (?P<end>\Z)
    )""",
    re.VERBOSE,
)


class TokenReader:
    """Reads the tokens of a text, one after the other; *form* is what errors call the text."""

    def __init__(self, text: str, form: str) -> None:
        self.text, self.form, self.depth = text, form, 0
        if len(text) > MAX_TEXT:
            raise FormatError(f"{form} has at most {MAX_TEXT} characters, not {len(text)}")
        self.token = self.scan(0)

    def scan(self, position: int) -> Token:
        """Return the token that begins at or after *position*."""
        found = _TOKEN.match(self.text, position)
        if found is None:
            while self.text[position] in " \t\r\n":
                position += 1
            self.token = Token("bad", self.text[position], position)
            hint = "a product is written 2*h" if self.text[position].isdigit() else ""
            raise self.error(f"cannot read {self.text[position]!a}", hint)
        kind = found.lastgroup or "end"
        return Token(kind, found[kind], found.start(kind))

    def error(self, message: str, hint: str = "") -> FormatError:
        """Return an error that shows the text around the current token, with a caret under it."""
        at = self.token.position
        lines = [
            f"{message}, at column {at + 1} of {self.form}",
            pointed(self.text, at),
            *([f"  help: {hint}"] if hint else []),
        ]
        return FormatError("\n".join(lines))

    def unexpected(self, expected: str, hint: str = "") -> FormatError:
        """Return the error that says what is expected in place of the current token."""
        text = self.token.text
        found = "the end" if self.token.kind == "end" else repr(shortened(text, 24))
        return self.error(f"expected {expected}, found {found}", hint)

    def take(self) -> Token:
        """Return the current token and move to the next one."""
        token = self.token
        self.token = self.scan(token.position + len(token.text))
        return token

    def accept(self, sign: str) -> bool:
        """Take the current token if it is *sign*; return whether it was."""
        if self.token.kind != "sign" or self.token.text != sign:
            return False
        self.take()
        return True

    def expect(self, sign: str) -> None:
        """Take the current token; raise `FormatError` if it is not *sign*."""
        if not self.accept(sign):
            raise self.unexpected(repr(sign))

    def expect_end(self) -> None:
        """Raise `FormatError` if any text is left."""
        if self.token.kind != "end":
            raise self.unexpected("',' or the end" if self.form == "a shape" else "the end")

    def enclosing_bracket(self) -> str:
        """Return the bracket at the end of the text, if it closes the bracket that is the current token; else ''."""
        closing = {"(": ")", "[": "]"}.get(self.token.text, "")
        if not closing or not self.text.rstrip(" \t\r\n").endswith(closing):
            return ""
        depth, tail = 0, self.text.rstrip(" \t\r\n")
        for position in range(self.token.position, len(tail)):
            depth += (tail[position] == self.token.text) - (tail[position] == closing)
            if depth == 0:
                return closing if position == len(tail) - 1 else ""
        return ""

    def enter(self) -> None:
        """Enter one more level of brackets or signs."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"brackets and signs are nested more than {MAX_NESTING} deep")
