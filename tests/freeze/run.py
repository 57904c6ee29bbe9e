"""Ask many questions, each in a fork of this process, which has asked none."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests.freeze.ask import Answer, Question, answer

_FORK = multiprocessing.get_context("fork")  # a fork has the imports already
_PATIENCE = 20  # seconds that may pass for each second of the processor that a question may take


def asked(questions: Sequence[Question], jobs: int, limit: float) -> Iterator[Answer]:
    """Yield the answers in the order of the questions; *jobs* are asked at a time."""
    waiting = dict(enumerate(questions))
    running: dict[Connection, tuple[int, Any, float]] = {}
    done: dict[int, Answer] = {}
    for number in range(len(questions)):
        while number not in done:
            while waiting and len(running) < jobs:
                k = next(iter(waiting))
                here, there = _FORK.Pipe(duplex=False)
                child = _FORK.Process(target=_send, args=(there, waiting.pop(k), limit))
                child.start()
                there.close()
                running[here] = k, child, time.monotonic()
            ready = wait(running, timeout=1)
            for here, (k, child, begun) in list(running.items()):
                if here in ready or time.monotonic() - begun > _PATIENCE * limit:
                    done[k] = _received(here, child, questions[k])
                    del running[here]
        yield done.pop(number)


def _received(here: Connection, child: Any, question: Question) -> Answer:
    """Return the answer of a process; one that it has not given says why."""
    try:
        if here.poll():
            made: Answer = here.recv()
            return made
        child.kill()
        return Answer(question.key, question.name)
    except EOFError:
        child.join()
        return Answer(question.key, question.name, f"error: exit status {child.exitcode}")
    finally:
        child.kill()
        child.join()
        here.close()


def _send(pipe: Connection, question: Question, limit: float) -> None:
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        tempfile.TemporaryDirectory() as folder,
    ):
        pipe.send(answer(question, Path(folder), limit))
