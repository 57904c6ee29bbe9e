"""A task for a peer, and the replay of a program with the functions of a library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symlayout.commands.peers.program import Chain, Move, Shape, UnsupportedError, trace

Array = np.ndarray[Any, Any]
Call = Callable[[], Any]
Function = Callable[..., Any]
Verbs = Mapping[str, Function]
Limits = Mapping[str, Callable[..., bool]]


@dataclass(frozen=True, slots=True)
class Task:
    """The task to run *chain*, or its adjoint, on *source*.

    Attributes
    ----------
    chain : Chain or Move
        The chain to compute.  A `Move` is one operation of a single framework, ``"framework:Name"``.
    source : ndarray
        The input, row-major.
    out : ndarray, optional
        The array for the result, if the library can write into one; with None, the result is a new array.
    adjoint_of : shape, optional
        With the adjoint, the chain's input shape; *source* is then the cotangent of its output.
    threads : int
        The most threads that the library uses.
    """

    chain: Chain | Move
    source: Array
    out: Array | None = None
    adjoint_of: Shape | None = None
    threads: int = 1

    @property
    def shape(self) -> Shape:
        """The shape of the chain's input."""
        return self.source.shape if self.adjoint_of is None else self.adjoint_of

    def program(
        self, verbs: Verbs, limits: Limits | None = None, native: Callable[[str], Function] | None = None
    ) -> tuple[list[Move], list[Function]]:
        """Return the chain as moves in *verbs*, and the function of each move.

        Parameters
        ----------
        verbs : the library's functions.  Each takes the inputs, then the arguments.
        limits : for some verbs, a test of the input's shape and the arguments: does the library support them?
        native : returns the framework's operation of a name, to be called as ``f(x, values, keywords)``.

        Raises
        ------
        UnsupportedError
            The chain cannot be expressed in these verbs.
        """
        if isinstance(self.chain, Move):
            if native is None:
                raise UnsupportedError(self.chain.verb)
            return [self.chain], [native(self.chain.verb.partition(":")[2])]
        tests = {verb: (limits or {}).get(verb, _always) for verb in verbs}
        moves = trace(self.chain, self.shape, tests)
        return moves, [verbs[move.verb] for move in moves]

    def only_forward(self) -> None:
        """Raise `UnsupportedError` if the task is an adjoint."""
        if self.adjoint_of is not None:
            raise UnsupportedError("adjoint")


def replay(moves: Sequence[Move], functions: Sequence[Function]) -> Callable[[Any], Any]:
    """Return *moves* as a function of the source.  *functions* has the function of each move."""
    if all(move.inputs == (k,) for k, move in enumerate(moves)):
        steps = [(function, move.arguments) for function, move in zip(functions, moves, strict=True)]

        def straight(x: Any) -> Any:
            for function, arguments in steps:
                x = function(x, *arguments)
            return x

        return straight

    def branching(x: Any) -> Any:
        values = [x]
        for function, move in zip(functions, moves, strict=True):
            values.append(function(*[values[k] for k in move.inputs], *move.arguments))
        return values[-1]

    return branching


def agrees(call: Call, out: Array, expected: Array) -> bool:
    """Return whether the result of *call* has the bytes of *expected*.  If it returns no array, the result is *out*."""
    out.reshape(-1).view(np.uint8).fill(0xA5)
    value = call()
    result = out if value is None or isinstance(value, Mapping) else np.asarray(value)
    return result.dtype == expected.dtype and np.ascontiguousarray(result).tobytes() == expected.tobytes()


def _always(*_: Any) -> bool:
    return True
