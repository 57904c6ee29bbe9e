"""Damage whole models, and do with them what users do.

Models are exported networks, the examples, the tests of all operators of the package ``onnx``, and nodes that are odd
in one place; `alter_models` beside this file damages them.  Then a model is read and explained, verified against the
model that it was, optimized, and given to the commands.
"""

from __future__ import annotations

import contextlib
import io
import os
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import symlayout as sl
from symlayout.commands import command_line
from tests.onnx_nodes import cases, modules
from tests.promises.hostile_inputs.alter import Item
from tests.promises.hostile_inputs.alter_models import damaged, damaged_ir
from tests.support.paths import ROOT

EXPORTED = ROOT / "tests" / "models" / "exported"
EXAMPLES = ROOT / "examples" / "models"
SMALL = 20_000  # bytes of most models before they are damaged, so that what is done with them takes little time
SHOWN = 5  # values of a model that are explained: each may take a second


def onnx_models(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield ONNX models that are damaged, of exported networks and of the tests of all operators."""
    files = _files_of("*.onnx")
    tests = modules()

    def one() -> bytes:
        return _drawn(files, rnd).read_bytes() if rnd.random() < 0.4 else _test_model(rnd, tests)

    for number in range(count):
        whole, other, seed = one(), one(), rnd.randrange(1 << 30)
        yield f"onnx-models {number}", partial(_use_onnx, whole, other, seed, folder)


def one_node_models(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield ONNX models of one node of any version that is odd in one place; half of them are damaged as well."""
    from tests.attack.one_node_models import odd_node
    from tests.attack.one_nodes import model_of

    for number in range(count):
        seed = rnd.randrange(1 << 30)
        drawn = odd_node(seed)
        try:
            whole = b"" if drawn is None else model_of(drawn[2]).SerializeToString()
        except (AssertionError, TypeError, ValueError, OverflowError):  # no message can have it
            whole = b""
        yield f"one-node-models {number}", partial(_use_onnx, whole, None if seed % 2 else whole, seed, folder)


def openvino_models(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield IRs that are damaged, of exported networks."""
    files = _files_of("*.xml")
    for number in range(count):
        file, other, seed = _drawn(files, rnd), _drawn(files, rnd), rnd.randrange(1 << 30)
        yield f"openvino-models {number}: {file.name}", partial(_use_openvino, file, other, seed, folder)


def _files_of(pattern: str) -> list[Path]:
    return sorted((*EXPORTED.glob(pattern), *EXAMPLES.glob(pattern)))


def _drawn(files: list[Path], rnd: random.Random) -> Path:
    """Return a file, most of the time a small one."""
    return rnd.choice([p for p in files if p.stat().st_size <= SMALL] if rnd.random() < 0.9 else files)


def _test_model(rnd: random.Random, tests: list[str]) -> bytes:
    """Return the model of a test of an operator."""
    found = [case.model for case in cases(rnd.choice(tests)) if case.model is not None]
    data: bytes = rnd.choice(found).SerializeToString() if found else b""
    return data if len(data) <= SMALL else b""


def _use_onnx(whole: bytes, other: bytes | None, seed: int, folder: Path) -> None:
    """Damage a model, if there is another one to cross it with, and use it."""
    rnd = random.Random(seed)
    inside, before = _folder(folder), folder / "inside" / "before.onnx"
    before.write_bytes(whole)
    path = inside / "model.onnx"
    path.write_bytes(whole if other is None else damaged(whole, other, rnd))
    _use(path, before, rnd)


def _use_openvino(file: Path, other: Path, seed: int, folder: Path) -> None:
    rnd = random.Random(seed)
    path = _folder(folder) / "model.xml"
    path.write_bytes(damaged_ir(file.read_text(encoding="utf-8"), other.read_text(encoding="utf-8"), rnd))
    constants = file.with_suffix(".bin").read_bytes() if file.with_suffix(".bin").exists() else b""
    match rnd.randrange(8):
        case 0:
            path.with_suffix(".bin").unlink(missing_ok=True)
        case 1:
            path.with_suffix(".bin").write_bytes(constants[: rnd.randint(0, len(constants))])
        case _:
            path.with_suffix(".bin").write_bytes(constants)
    _use(path, file, rnd)


def _folder(folder: Path) -> Path:
    """Return a folder inside *folder* with traps: a link that leaves it, and a pipe that nobody writes."""
    inside = folder / "inside"
    if not inside.exists():
        inside.mkdir()
        (folder / "secret.bin").write_bytes(b"secret" * 64)
        (inside / "link").symlink_to(folder / "secret.bin")
        os.mkfifo(inside / "pipe")
    return inside


def _use(path: Path, before: Path, rnd: random.Random) -> None:
    """Read the model, do two things more with it, and assert that only the folder of the model is written to."""
    held = _files(path.parent.parent)
    try:
        if rnd.random() < 0.9:  # the commands say what is wrong with the others
            _read(path, before)
        for use in rnd.sample(USES, 2):
            use(path, before)
    finally:
        assert _files(path.parent.parent) == held, "a file outside the folder is written"


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the size and the time of the files beside the folder of the model."""
    found = {p.name: p.stat() for p in folder.iterdir() if p.is_file() and p.name != "notes"}
    return {name: (s.st_size, s.st_mtime_ns) for name, s in found.items()}


def _read(path: Path, _: Path) -> None:
    model = sl.read_model(path)
    for name in list(model.tensors)[-SHOWN:]:
        t = model.tensors[name]
        str(t.shape), str(t.requires), t.bounds(), model.explain(name)


def _verify(path: Path, before: Path) -> None:
    str(sl.verify(before, path, run=False).explain())


def _verify_backwards(path: Path, before: Path) -> None:
    str(sl.verify(path, before, run=False).explain())


def _optimize(path: Path, _: Path) -> None:
    sl.optimize(path).save(path.with_name("smaller.onnx"))


def _command(*words: str) -> Callable[[Path, Path], None]:
    """Return a use of a command; MODEL, BEFORE and OUT in *words* are files."""

    def use(path: Path, before: Path) -> None:
        files = {"MODEL": str(path), "BEFORE": str(before), "OUT": str(path.with_name("out.onnx"))}
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = command_line.main([files.get(word, word) for word in words])
        assert status in (0, 1, 2, 3, 4), f"exit status {status}"
        assert "Traceback" not in said.getvalue(), said.getvalue()[-400:]
        assert "defect of symlayout" not in said.getvalue(), said.getvalue()[-400:]

    return use


USES: tuple[Callable[[Path, Path], None], ...] = (
    _verify, _verify, _verify_backwards, _optimize, _optimize,
    _command("infer", "MODEL", "--all", "--json"), _command("infer", "MODEL", "--write", "OUT"),
    _command("show", "MODEL"), _command("explain", "MODEL"),
    _command("verify", "BEFORE", "MODEL"), _command("verify", "MODEL", "MODEL", "--no-run"),
    _command("optimize", "MODEL", "-o", "OUT"),
)  # fmt: skip
