"""A process of its own for a framework: one that dies, or does not answer, is an answer too."""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import sys
from multiprocessing.connection import Connection
from typing import Any

from tests.peers.case import Array, Case

Intervals = list[tuple[int, int | None]]
NEEDED = {
    "onnx": ("onnx", "onnxruntime"),
    "openvino": ("openvino",),
    "tensorflow": ("tensorflow",),
    "torch": ("torch",),
}
PATIENCE = 600.0  # seconds; the first answer includes the import of the framework


class PeerError(Exception):
    """What the framework said when it refused, or ``"died"`` where its process ended, ``"no answer"``."""


def missing(framework: str) -> str | None:
    """Return the package that a framework needs and that is not installed, if any."""
    return next((name for name in NEEDED[framework] if importlib.util.find_spec(name) is None), None)


class Worker:
    """A framework in a process of its own, which is started again when it has ended."""

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self._process: Any = None
        self._pipe: Connection | None = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def results(self, case: Case) -> list[Array]:
        """Return the arrays that the operation gives; `PeerError` where the framework refuses."""
        made: list[Array] = self._ask("results", case)
        return made

    def extents(self, case: Case) -> list[Intervals | None]:
        """Return the interval of each extent that the framework infers; None for an unknown rank."""
        found: list[Intervals | None] = self._ask("extents", case)
        return found

    def _ask(self, function: str, case: Case) -> Any:
        if self._pipe is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(self.framework, theirs), daemon=True)
            self._process.start()
            theirs.close()
        try:
            self._pipe.send((function, case))
            if not self._pipe.poll(PATIENCE):
                self._stop()
                raise PeerError("no answer")
            refused, answer = self._pipe.recv()
        except (EOFError, ConnectionError):
            self._stop()
            raise PeerError("died") from None
        if refused:
            raise PeerError(answer)
        return answer

    def _stop(self) -> None:
        if self._pipe is not None:
            self._pipe.close()
            self._process.terminate()
            self._process.join()
            self._pipe = None


def _serve(framework: str, pipe: Connection) -> None:
    """Answer questions until the other end is closed."""
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), sys.stderr.fileno())  # what a framework says on the way down
    module = importlib.import_module(f"tests.peers.{framework}")
    while True:
        try:
            function, case = pipe.recv()
        except EOFError:
            return
        try:
            answer = (False, getattr(module, function)(case))
        except Exception as error:
            answer = (True, f"{type(error).__name__}: {error}"[:2000])
        pipe.send(answer)
