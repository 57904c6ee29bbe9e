"""Write SVG: a canvas that collects elements and escapes their text."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from symlayout.errors import shortened
from symlayout.show.theme import CLASS, escape, fallback, style

CHAR = 6.35  # width in pixels of a character of the monospaced font at 10.5 px


class Canvas:
    """The elements of a picture.  Lengths are in user units, which are pixels at natural size."""

    def __init__(self) -> None:
        self._elements: list[str] = []

    def text(
        self, x: float, y: float, written: str, *classes: str, anchor: str = "", size: float | None = None
    ) -> None:
        """Write *written*; (x, y) is the *anchor* on the base line, by default the start of the text."""
        attributes = _classes(*classes)
        attributes += f' text-anchor="{anchor}"' if anchor else ""
        attributes += f' font-size="{_number(size)}"' if size else ""
        self._elements.append(f'<text x="{_number(x)}" y="{_number(y)}"{attributes}>{escape(written)}</text>')

    def rect(self, x: float, y: float, width: float, height: float, *classes: str, radius: float = 3) -> None:
        """Draw a rectangle with round corners."""
        self._elements.append(
            f'<rect x="{_number(x)}" y="{_number(y)}" width="{_number(width)}" height="{_number(height)}" '
            f'rx="{_number(radius)}"{_classes(*classes)}{_paint(classes)}/>'
        )

    def path(self, points: str, *classes: str) -> None:
        """Draw a path; *points* is the value of the SVG attribute ``d``."""
        open_ended = {"line", "way", "hatch"} & set(classes)
        paint = ' fill="none" stroke="#59636e"' if open_ended else _paint(tuple(c for c in classes if c[:1] == "h"))
        self._elements.append(f'<path d="{points}"{_classes(*classes)}{paint}/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a straight arrow to the right or downwards."""
        self.path(f"M{_number(x1)} {_number(y1)}L{_number(x2)} {_number(y2)}", "line")
        if x1 == x2:
            tip = f"M{_number(x2 - 3.5)} {_number(y2 - 5)}h7l-3.5 6z"
        else:
            tip = f"M{_number(x2 - 5)} {_number(y2 - 3.5)}v7l6 -3.5z"
        self.path(tip, "tip")

    @contextmanager
    def group(self, title: str = "", *classes: str) -> Iterator[None]:
        """Collect the elements drawn in the ``with`` block in one group; *title* is the group's tooltip."""
        self._elements.append(f"<g{_classes(*classes)}>" + (f"<title>{escape(title)}</title>" if title else ""))
        yield
        self._elements.append("</g>")

    def document(
        self, width: float, height: float, title: str, description: str, *, page: bool = False, made_by: str = ""
    ) -> str:
        """Return the picture as an SVG document.

        With *page*, the colours follow the theme of the page around it.  *made_by* is the command that draws the
        picture again, kept as metadata.
        """
        body = "\n".join(self._elements)
        title, description = escape(title), escape(description)
        name = f"sl-{hashlib.sha256((title + description + body).encode()).hexdigest()[:8]}"
        size = f'width="{_number(width)}" height="{_number(height)}" viewBox="0 0 {_number(width)} {_number(height)}"'
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" {size} class="{CLASS}" role="img" '
                f'aria-labelledby="{name}-t {name}-d">',
                f'<title id="{name}-t">{title}</title>',
                f'<desc id="{name}-d">{description}</desc>',
                *([f"<metadata>{escape(made_by)}</metadata>"] if made_by else []),
                f"<style>{escape_style(style(page=page))}</style>",
                f'<rect class="paper" width="100%" height="100%" rx="8"{_paint(("paper",))}/>',
                body,
                "</svg>",
                "",
            ]
        )


def escape_style(rules: str) -> str:
    """Return a style sheet with ``&`` and ``<`` escaped for an XML document.

    >>> escape_style("a{b:c}")
    'a{b:c}'
    """
    return rules.replace("&", "&amp;").replace("<", "&lt;")


def width_of(written: str) -> float:
    """Return the approximate width of a text in the monospaced font, in pixels."""
    return CHAR * len(written)


def wrapped(written: str, most: int, lines: int) -> list[str]:
    """Return *written* as at most *lines* lines of at most *most* characters, broken at spaces where possible.

    The last line ends in ``…`` if the text does not fit.

    >>> wrapped("(i0, i1) -> (i1, i0)", 12, 3)
    ['(i0, i1) ->', '(i1, i0)']
    """
    found: list[str] = []
    rest = written
    while rest:
        if len(found) == lines:
            found[-1] = shortened(f"{found[-1]} {rest}", most)
            break
        cut = len(rest) if len(rest) <= most else rest.rfind(" ", 1, most + 1)
        cut = most if cut <= 0 else cut
        found.append(rest[:cut].rstrip())
        rest = rest[cut:].lstrip()
    return found


def _classes(*classes: str) -> str:
    return f' class="{" ".join(classes)}"' if classes else ""


def _paint(classes: tuple[str, ...]) -> str:
    """Return presentation attributes, for programs that ignore the style sheet."""
    for name in classes:
        if name in ("paper",) or (name[0] == "h" and name[1:].isdigit()):
            return f' fill="{fallback(name)}"'
        if name == "box":
            return f' fill="{fallback("box")}" stroke="{fallback("line")}"'
        if name in ("unread", "fill", "line"):
            return f' fill="none" stroke="{fallback("line")}"'
    return ""


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
