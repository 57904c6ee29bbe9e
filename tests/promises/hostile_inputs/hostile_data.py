"""What strangers may hand over besides text and models: certificates, command lines, notes beside kept kernels."""

from __future__ import annotations

import contextlib
import copy
import io
import json
import os
import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import symlayout as sl
from symlayout.commands import command_line
from symlayout.proof.certificate.checker import seal
from symlayout_codegen.jit import cache
from tests.promises.hostile_inputs.alter import Item, changed, mutated
from tests.promises.hostile_inputs.seeds import BOMBS, RELATIONS, SHAPES, STEPS, TOKENS

DEPTH = 100_000
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    1 << 64,
    10**4000,
    1e308,
    float("nan"),
    "",
    "N",
    [],
    {},
    [[]],
    [0] * 1000,
    {"claim": {}},
)
QUIET = ("infer", "show", "explain", "prove", "ops", "help", "completion")  # commands that run and write nothing
OPTIONS = ("--json", "--dims", "N=1", "N=1,H=4", "--assume", "H % 2 == 0", "--at", "0,1", "--solve", "--", "-", "--svg")


def certificates(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield certificates, altered and sealed again: what is refused is refused without an error."""
    seeds = _certificates()
    nested: Any = 0
    for _ in range(900):
        nested = [nested]
    bombs = [*VALUES, nested, *({**seeds[0], key: value} for key in seeds[0] for value in (*VALUES, nested))]
    for data in [*bombs, *(_altered(rnd, rnd.choice(seeds)) for _ in range(count))]:
        yield repr(data)[:3000], partial(_checked, data)


def _certificates() -> list[dict[str, Any]]:
    n, h = sl.dims("n h")
    x = sl.tensor((n, 2 * h), name="x")
    pairs = [
        (sl.flip(sl.flip(x)), x),
        (sl.reshape(sl.reshape(x, (-1,)), (n, 2 * h)), x),
        (sl.pad(sl.pad(x, 1), 1), sl.pad(x, 2)),
    ]
    return [json.loads(json.dumps(sl.prove_equal(*pair).certificate)) for pair in pairs]


def _altered(rnd: random.Random, certificate: dict[str, Any]) -> Any:
    """Return *certificate* with a few values anywhere replaced, sealed again more often than not."""
    made = copy.deepcopy(certificate)
    for _ in range(rnd.choice((1, 1, 2, 5))):
        holder, key = rnd.choice(list(_places(made)))
        value = rnd.choice((*VALUES, *BOMBS, *TOKENS)) if rnd.random() < 0.7 else rnd.choice(list(_places(made)))[0]
        holder[key] = copy.deepcopy(value)
    if isinstance(made, dict) and rnd.random() < 0.8:
        with contextlib.suppress(Exception):  # what cannot be sealed is handed over as it is
            made["seal"] = seal(made)
    return made


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each holder within *data* with each of its keys."""
    for key in data if isinstance(data, dict) else range(len(data)) if isinstance(data, list) else ():
        yield data, key
        yield from _places(data[key])


def _checked(data: Any) -> None:
    if sl.check(data) not in (True, False):
        raise TypeError("check has no answer")


def arguments(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield command lines, of commands that write and run nothing: each has an exit status."""
    for _ in range(count):
        words = [rnd.choice(QUIET) if rnd.random() < 0.95 else mutated(QUIET, rnd)]
        words.append(mutated(SHAPES, rnd) if rnd.random() < 0.5 else rnd.choice(SHAPES))
        for _ in range(rnd.randint(0, 3)):
            words.append(mutated(STEPS, rnd) if rnd.random() < 0.3 else rnd.choice(STEPS))
        for _ in range(rnd.choice((0, 0, 1, 2))):
            option = rnd.choice((*OPTIONS, *RELATIONS))
            words.insert(rnd.randint(1, len(words)), mutated([option], rnd) if rnd.random() < 0.3 else option)
        words = [word for word in words if "--svg" not in word and "\0" not in word]
        yield repr(words), partial(_commanded, words, folder)


def _commanded(words: list[str], folder: Path) -> None:
    os.chdir(folder)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            status = command_line.main(words)
        except SystemExit as left:  # of argparse
            status = left.code if isinstance(left.code, int) else -1
    if status not in (0, 1, 2, 3, 4) or "Traceback" in said.getvalue():
        raise ValueError(f"exit status {status}")


def notes(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield what may lie beside a kept kernel, in the user's own folder: a note is what was written, or absent."""
    os.environ["SYMLAYOUT_CACHE_DIR"] = str(folder / "cache")
    key, note = "0" * 64, {"walk": "first", "reason": "tuned"}
    assert cache.store(key, b"\x7fELF", "int x;")
    assert cache.store_note(key, "tuned", note)
    path = cache.cache_root() / key / "tuned.json"
    seed = path.read_bytes()
    bombs = [
        b"",
        b"null",
        b"[]",
        b"{}",
        b"[" * DEPTH,
        b'{"note": 1, "sha256": 2}',
        b'{"note": {}}',
        b"9" * 900,
        seed * 3,
    ]

    def read(data: bytes) -> None:
        path.write_bytes(data)
        if cache.load_note(key, "tuned") not in (None, note):
            raise ValueError("another note than was written is believed")

    for data in [*bombs, *(changed([seed], rnd) for _ in range(count))]:
        yield repr(data[:3000]), partial(read, data)
