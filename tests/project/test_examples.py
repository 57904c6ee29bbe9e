"""The demo runs as a user would type it, and what it writes is what it says."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support.paths import ROOT


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """Return what the demo printed, and the folder that it wrote; `make demo` runs the same script."""
    pytest.importorskip("PIL", reason="the demo needs Pillow: pip install symlayout[demo]")
    folder = tmp_path_factory.mktemp("demo")
    for name, words in (("python", [sys.executable]), ("symlayout", [sys.executable, "-m", "symlayout"])):
        (folder / name).write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join([str(folder), os.environ["PATH"]])
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "codegen")])
    command = ["sh", str(ROOT / "examples" / "demo.sh"), str(folder / "out")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr
    return done.stdout, folder / "out"


@pytest.mark.slow
def test_every_model_agrees_with_the_interpreter(demo: tuple[str, Path]) -> None:
    printed, _ = demo
    models = sorted(path.stem for path in (ROOT / "examples" / "models").glob("*.xml"))
    assert len(models) == 5
    for model in models:
        assert f"{model}.npy equals the interpreter's result, bit for bit" in printed


@pytest.mark.slow
def test_every_claim_is_decided(demo: tuple[str, Path]) -> None:
    lines = demo[0].splitlines()
    assert (lines.count("PROVED"), lines.count("REFUTED"), lines.count("UNKNOWN")) == (5, 1, 0)
    assert sum(line.startswith("proved: ") for line in lines) == 2


@pytest.mark.slow
def test_photograph_comes_back(demo: tuple[str, Path]) -> None:
    from PIL import Image

    photo = np.asarray(Image.open(ROOT / "examples" / "photo" / "chelsea.png"))
    assert np.array_equal(np.asarray(Image.open(demo[1] / "batch_to_space.png")), photo)
    assert np.array_equal(np.asarray(Image.open(demo[1] / "depth_to_space.png")), photo[:, :450])


@pytest.mark.slow
def test_small_images_are_every_fourth_pixel(demo: tuple[str, Path]) -> None:
    from PIL import Image

    photo = np.asarray(Image.open(ROOT / "examples" / "photo" / "chelsea.png"))
    spread = np.asarray(Image.open(demo[1] / "space_to_batch.png"))
    assert np.array_equal(spread[75:150, 226:339], photo[1::4, 2::4])  # the third of the second row
    deep = np.asarray(Image.open(demo[1] / "space_to_depth.png"))
    assert np.array_equal(deep[:150, 225:], photo[0::2, 1:450:2])  # the second of the first row
