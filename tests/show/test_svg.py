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


def test_a_path_in_the_colour_of_an_element_has_it_without_the_style_sheet() -> None:
    canvas = Canvas()
    canvas.rect(0, 0, 1, 1, "h5")
    canvas.path("M0 0h1v1z", "h5")
    canvas.path("M0 0h1v1z", "tip")
    shapes = list(ElementTree.fromstring(canvas.document(9, 9, "title", "description")))[-3:]
    assert shapes[0].get("fill") == shapes[1].get("fill") != shapes[2].get("fill") is None
