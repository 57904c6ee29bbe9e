"""Draw the page in the README again, by Chromium: ``python -m tests.reports.draw_page``."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

from PIL import Image

import symlayout as sl
from tests.commands.outcome import MODELS
from tests.reports.browser import chromium, opened
from tests.support.paths import ROOT

PICTURE = ROOT / "docs" / "images" / "page.png"
_COLOURS = 48  # which a page has, so that the picture is small
_SELECTED = """
const pane = symlayoutPage.panes[0];
const box = pane.get('cy').$('.marked')[0];
box.select();
box.emit('tap');
"""


def main() -> None:
    """Write the picture."""
    before = sl.read_model(MODELS / "unet.onnx")
    with chromium() as driver, tempfile.TemporaryDirectory() as folder:
        driver.set_window_size(1500, 1000)
        opened(
            driver,
            sl.optimize(before).html("symlayout optimize unet.onnx -o smaller.onnx --html page.html"),
            Path(folder),
        )
        driver.execute_script(_SELECTED)
        driver.execute_script("return new Promise(done => setTimeout(done, 300))")
        taken = Image.open(io.BytesIO(driver.get_screenshot_as_png())).convert("RGB")
        taken.quantize(_COLOURS).save(PICTURE, optimize=True)


if __name__ == "__main__":
    main()
