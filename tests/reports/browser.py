"""A headless Chromium without a network, for tests of pages; skipped where Chromium or its driver is not installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SETTINGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1600,1200",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)  # fmt: skip


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser for the ``with`` block; skip the test if there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")]
    if None in programs:
        pytest.skip("Chromium and chromedriver are not installed (Debian: apt install chromium chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    for setting in SETTINGS:
        options.add_argument(setting)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(programs[1]))
    try:
        yield driver
    finally:
        driver.quit()


def opened(driver: Any, page: str, folder: Path) -> Any:
    """Open a page as a file, and return the driver; the page must have shown itself without an error."""
    path = folder / "page.html"
    path.write_text(page, encoding="utf-8")
    driver.get(path.as_uri())
    assert driver.get_log("browser") == []
    assert driver.execute_script("return window.symlayoutPage !== undefined")
    return driver
