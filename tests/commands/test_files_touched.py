"""Commands read nothing outside the folder of a model, and write nothing that was not named: system calls say so."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from onnx import TensorProto

from tests.support import onnx_writer as w

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed"),
]
CALLS = "open,openat,creat,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,symlinkat,linkat,truncate"
WRITES = re.compile(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|^(?:\d+ +)?(?:creat|rename|unlink|mkdir|symlink|link|truncate)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with models whose constants are here and elsewhere, beside a file that is none of theirs."""
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    (inside / "w.bin").write_bytes(bytes(16))
    (inside / "link").symlink_to(tmp_path / "secret.bin")
    for name, location in (
        ("good", "w.bin"),
        ("outside", "../secret.bin"),
        ("linked", "link"),
        ("system", "/etc/fstab"),
    ):
        constant = TensorProto(name="w", dims=[4], data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        constant.external_data.add(key="location", value=location)
        nodes = [
            w.node("Transpose", "x", "t", perm=[1, 0]),
            w.node("Transpose", "t", "u", perm=[1, 0]),
            w.node("Add", "u,w", "y"),
        ]
        data = w.model(nodes, [w.value_info("x", ("N", 4))], constants=[constant])
        (inside / f"{name}.onnx").write_bytes(data)
    return inside


def touched(folder: Path, *words: str) -> Iterator[tuple[bool, Path]]:
    """Run a command in *folder*; yield whether each file that it reached was written, and its path."""
    trace = folder.parent / "trace"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        "strace",
        "-f",
        "-qq",
        "-e",
        f"trace={CALLS}",
        "-o",
        str(trace),
        sys.executable,
        "-m",
        "symlayout",
        *words,
    ]
    subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=600)
    for line in trace.read_text(encoding="utf-8", errors="replace").splitlines():
        if " = -1 " not in line:
            for name in re.findall(r'"([^"]*)"', line):
                yield bool(WRITES.search(line)), Path(os.path.realpath(folder / name))


@pytest.mark.parametrize("name", ["good", "outside", "linked", "system"])
def test_commands_touch_the_files_that_are_named(folder: Path, name: str) -> None:
    model, out, held = f"{name}.onnx", folder.parent / "out", sorted(folder.iterdir())
    out.mkdir()
    strangers = {folder.parent / "secret.bin", Path(os.path.realpath("/etc/fstab"))}
    for words in (("infer", model, "--all"), ("verify", model, model), ("optimize", model, "-o", str(out / "o.onnx"))):
        reached = list(touched(folder, *words))
        assert (False, folder / model) in reached
        assert not strangers & {path for _, path in reached}, words
        assert {path.parent for is_written, path in reached if is_written} <= {out, Path("/dev")}, words
    assert sorted(folder.iterdir()) == held
    assert (out / "o.onnx").exists() is (name == "good")
