"""A canvas writes well-formed SVG whatever the text is."""

from __future__ import annotations

from xml.etree import ElementTree

from symlayout.show.svg import Canvas


def test_text_is_escaped_and_groups_are_closed() -> None:
    canvas = Canvas()
    with canvas.group("<title> & more", "hot"):
        canvas.text(1, 2, '<script>"&', "head", anchor="middle", size=9)
        canvas.rect(0, 0, 10, 5, "box")
    canvas.arrow(0, 0, 10, 0)
    canvas.arrow(0, 0, 0, 10)
    document = canvas.document(20, 10, "a <b>", "c & d")
    root = ElementTree.fromstring(document)
    assert root.tag.endswith("svg")
    texts = [e.text for e in root.iter() if e.tag.endswith("text")]
    assert texts == ['<script>"&']
    titles = [e.text for e in root.iter() if e.tag.endswith("title")]
    assert "<title> & more" in titles
    assert "a <b>" in titles
