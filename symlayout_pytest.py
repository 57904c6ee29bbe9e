"""A plugin of pytest: a fixture that compares models, and a page about those that differ.

pytest loads it where symlayout is installed; the package itself is imported when a test asks for the fixture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option for the folder of pages."""
    text = "write a page to DIR for each comparison of models that does not hold"
    parser.getgroup("symlayout").addoption("--symlayout-html", metavar="DIR", default=None, help=text)


@pytest.fixture
def assert_same_model(
    request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> Callable[..., None]:
    """Return a function that fails the test unless two models are proved to compute the same.

    It takes what `symlayout.verify` takes.  The verdict is a property of the test in JUnit's XML.
    """
    import symlayout as sl

    pages = 0

    def compare(before: object, after: object, *, laws: Sequence[str] = (), **options: object) -> None:
        nonlocal pages
        found = sl.verify(before, after, laws=laws, **options)  # type: ignore[arg-type]
        record_property("symlayout", found.verdict.name)
        if found.verdict is sl.Verdict.PROVED:
            return
        text = found.explain()
        folder = request.config.getoption("--symlayout-html")
        if folder is not None:
            pages += 1
            path = Path(folder) / f"{re.sub(r'[^A-Za-z0-9_.-]+', '-', request.node.nodeid)}-{pages}.html"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found.html(), encoding="utf-8")
            text += f"\n  page: {path}"
        pytest.fail(text, pytrace=False)

    return compare
