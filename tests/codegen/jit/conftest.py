"""A cache of kernels of its own for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from symlayout_codegen.jit import build, cache, compiler, shared_objects

REMEMBERING = """#!/bin/sh
case "$*" in *"-o kernel.o "*) made=kernel.o;; *) made=kernel.so;; esac
kept={folder}/$(printf '%s' "$*" | cat - kernel.c $(ls *.h *.o) | sha256sum | cut -c1-40)
if [ ! -e $kept ]; then
    {compiler} "$@" || exit
    cp $made $kept.$$ && mv $kept.$$ $kept
fi
cp $kept $made
"""


@pytest.fixture(scope="session")
def remembering_compiler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a compiler that compiles each text once in a session: these tests are about what becomes of the library."""
    folder = tmp_path_factory.mktemp("compiled")
    path = folder / "cc"
    path.write_text(REMEMBERING.format(folder=folder, compiler=shutil.which("cc")))
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path, remembering_compiler: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache folder, and a process that has loaded nothing yet."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(folder))
    monkeypatch.setenv("CC", str(remembering_compiler))
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(shared_objects, "_objects", {})
    monkeypatch.setattr(compiler, "_hung", set())  # on a busy machine a compiler may be too slow, for one test
    cache._warn_untrusted.cache_clear()
    return folder
