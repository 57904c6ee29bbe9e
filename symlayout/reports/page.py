"""A page: data as JSON in one template, a file that needs no network.

The page's policy lets a browser run the scripts of this package and load nothing.  What comes from a model stands in
the page as JSON, and the script puts it into elements as text.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from symlayout.errors import legible

_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


def html_page(data: Mapping[str, Any]) -> str:
    """Return a page that shows *data*: see `symlayout.reports.pages` for what that has.

    >>> "<script>alert" in html_page({"title": "<script>alert(1)</script>"})
    False
    """
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    for character, escaped in _ESCAPED.items():
        text = text.replace(character, escaped)
    scripts = [_file("vendor/cytoscape.min.js"), _file("expressions.js"), _file("page.js")]
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in scripts)
    policy = f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'"
    head = f"<title>{html.escape(legible(str(data['title'])))}</title>\n<style>\n{_file('page.css')}</style>"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}; form-action \'none\'">',
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n{head}\n</head>\n<body>',
            "<noscript>This page needs JavaScript; it loads nothing from a network.</noscript>",
            f'<script type="application/json" id="data">{text}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def _hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _file(name: str) -> str:
    """Return a file of this package; no script of it has an end tag."""
    text = (files("symlayout.reports") / name).read_text(encoding="utf-8")
    assert "</script" not in text.lower()
    return text
