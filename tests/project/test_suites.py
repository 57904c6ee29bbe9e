"""``make test`` and ``make test-all AFTER=test`` run every test that is not exhaustive, and only random ones twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

TESTS = '''
import pytest
from hypothesis import given, strategies as st

def test_plain():
    """
    >>> 1 + 1
    2
    """

@pytest.mark.slow
def test_slow():
    pass

@pytest.mark.exhaustive
def test_exhaustive():
    pass

@pytest.mark.sample(2)
@pytest.mark.parametrize("case", range(4))
def test_sampled(case):
    pass

@given(st.integers())
def test_random(number):
    pass
'''
ASKING = """
from tests.support.effort import examples

def test_asking():
    assert examples(9)
"""


def collected(folder: Path, *options: str) -> set[str]:
    """Return the names of the tests of a folder that pytest selects."""
    words = [
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--collect-only",
        "-q",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *options, str(folder)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return {line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("suites")
    (made / "test_marked.py").write_text(TESTS, encoding="utf-8")
    (made / "test_asking.py").write_text(ASKING, encoding="utf-8")
    return made


@pytest.mark.slow
def test_both_together_run_every_test_and_only_random_ones_twice(folder: Path) -> None:
    first = collected(folder, "-m", "not slow", "--hypothesis-profile=quick")
    second = collected(folder, "--after-quick")
    assert first | second == collected(folder)
    assert first & second == {"test_random", "test_asking"}
    assert second - first == {"test_slow", "test_sampled[1]", "test_sampled[3]"}
    assert collected(folder, "-m", "exhaustive", "--exhaustive") == {"test_exhaustive"}
    assert collected(folder, "--exhaustive") - collected(folder) == {"test_exhaustive"}
