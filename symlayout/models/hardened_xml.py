"""Parse XML from a stranger into a tree of elements, within fixed limits.

The standard library's expat is driven directly, so that the limits hold while the text is read and not on
a tree that was already built.  The limits are: no document type declaration (so no entity except XML's own five,
nothing external, no expansion), a size, a depth, and numbers of elements, attributes and names.  The text
is UTF-8, whatever its declaration says.

Left out: text between tags is read and dropped, as are comments and processing instructions; a prefix is a
part of its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from symlayout.errors import FormatError

MAX_BYTES = 32 << 20
MAX_DEPTH = 64
MAX_ELEMENTS = 250_000
MAX_TEXT = 64  # characters of an element that are kept
MAX_ATTRIBUTES = 64  # of one element
MAX_NAMES = 10_000  # different tags and attribute names


@dataclass(slots=True)
class Element:
    """One element: its tag, its attributes, the line on which it starts, the elements inside it, and its text."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> list[Element]:
        """Return the children called *tag*, in order."""
        return [child for child in self.children if child.tag == tag]


def parse(data: bytes) -> Element:
    """Return the root element of the XML document *data*.

    Raises
    ------
    FormatError
        If *data* is not well-formed UTF-8 XML, declares a document type, or exceeds one of the limits above.

    Examples
    --------
    >>> net = parse(b'<net><layer id="0"/><layer id="1"/></net>')
    >>> [layer.attributes["id"] for layer in net.all("layer")]
    ['0', '1']
    """
    if len(data) > MAX_BYTES:
        raise FormatError(f"XML has more than {MAX_BYTES} bytes")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"XML is not UTF-8: {error.reason}\n  in: byte {error.start}") from None
    names: dict[str, str] = {}  # expat keeps every different name in it
    parser = expat.ParserCreate("utf-8", None, names)
    parser.buffer_text = True
    parser.ordered_attributes = True  # a flat list: counted before it becomes a dict
    root = Element("", {}, 0)
    open_elements = [root]
    budget = MAX_ELEMENTS

    def start(tag: str, attributes: list[str]) -> None:
        nonlocal budget
        budget -= 1
        line = parser.CurrentLineNumber
        if budget < 0:
            raise FormatError(f"XML has more than {MAX_ELEMENTS} elements\n  in: line {line}")
        if len(open_elements) > MAX_DEPTH:
            raise FormatError(f"XML is nested more than {MAX_DEPTH} elements deep\n  in: line {line}")
        if len(attributes) > 2 * MAX_ATTRIBUTES:
            raise FormatError(f"XML element has more than {MAX_ATTRIBUTES} attributes\n  in: line {line}")
        if len(names) > MAX_NAMES:
            raise FormatError(f"XML has more than {MAX_NAMES} different names\n  in: line {line}")
        element = Element(tag, dict(zip(attributes[::2], attributes[1::2], strict=True)), line)
        open_elements[-1].children.append(element)
        open_elements.append(element)

    def characters(text: str) -> None:
        element = open_elements[-1]
        if len(element.text) < MAX_TEXT:
            element.text += text[:MAX_TEXT].strip()

    def end(_tag: str) -> None:
        open_elements.pop()

    def doctype(*_: object) -> NoReturn:
        raise FormatError(f"XML declares a document type, which is refused\n  in: line {parser.CurrentLineNumber}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = expat.errors.messages[error.code]
        raise FormatError(f"XML is not well formed: {message}\n  in: line {error.lineno}") from None
    return root.children[0]
