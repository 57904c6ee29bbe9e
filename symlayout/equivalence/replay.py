"""What the installed runtimes compute at a witness.

The verdict follows the standard.  A runtime may differ from it, such as by a fused kernel of half precision that rounds
otherwise; what each of them prints shows it.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass

import numpy as np

from symlayout.budgets import limits
from symlayout.deadlines import within
from symlayout.equivalence.run_models import Array, Arrays, installed_runtimes, run_models
from symlayout.equivalence.shared_ends import SharedEnds
from symlayout.errors import one_line
from symlayout.models.model import Model

_LONGEST = 160  # characters of why a runtime refuses a model


@dataclass(frozen=True, slots=True)
class Replay:
    """Two models that runtimes run, and which of their inputs and outputs are one."""

    models: tuple[Model, Model]
    ends: SharedEnds

    def printed(
        self, inputs: tuple[Arrays, Arrays], output: str, coord: tuple[int, ...] | None
    ) -> dict[str, tuple[str, str]]:
        """Return for each installed runtime what both models compute of an output, as text.

        It is the element at *coord*, or the shape and the type without one, or why the runtime does not run the model.
        """
        found: dict[str, tuple[str, str]] = {}

        def run() -> None:
            for runtime in installed_runtimes():
                (before,), (after,) = run_models(self.models, [[feed] for feed in inputs], runtime)
                found[runtime] = self._text(before, output, coord), self._text(after, output, coord, after=True)

        within(limits.run_seconds, run, lambda: None)
        return found

    def differ(self, inputs: tuple[Arrays, Arrays], output: str) -> bool | None:
        """Return whether a runtime computes another output after, or refuses that model; None if it refuses the first.

        It is the first installed runtime that has the operations of both models; None if there is none.
        """

        def run() -> bool | None:
            for runtime in installed_runtimes():
                (before,), (after,) = run_models(self.models, [[feed] for feed in inputs], runtime)
                if any(isinstance(made, str) and _is_lack(made) for made in (before, after)):
                    continue
                if isinstance(before, str):
                    return None
                if isinstance(after, str):
                    return True
                return not _equal(before[output], self.ends.array_before(output, after))
            return None

        return within(limits.run_seconds, run, lambda: None)

    def _text(self, made: Arrays | str, output: str, coord: tuple[int, ...] | None, *, after: bool = False) -> str:
        if isinstance(made, str):
            return f"refused ({one_line(made, _LONGEST)})" if made else "not run"
        array = self.ends.array_before(output, made) if after else np.asarray(made[output])
        if coord is not None and len(coord) == array.ndim and all(map(operator.lt, coord, array.shape)):
            return str(array[coord])
        return f"{array.dtype} of shape {array.shape}"


_LACKS = (  # what a refusal says if the runtime lacks an operation; the model may be a good one
    "NOT_IMPLEMENTED",
    "NotImplemented",
    "No Op registered",
    "MemoryError",
    "bad_alloc",
)


def _is_lack(refusal: str) -> bool:
    return not refusal or any(text in refusal for text in _LACKS)


def _equal(a: Array, b: Array) -> bool:
    """Return whether two arrays are one, with NaNs as one value."""
    return a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
