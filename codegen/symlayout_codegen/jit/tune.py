"""Choose among the candidate schedules of a nest by timing them on the arrays of a call.

The answer is kept beside the library of the model's choice: a later process reads it and times nothing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from symlayout_codegen.errors import CompilerError
from symlayout_codegen.ir.choice import CANDIDATES
from symlayout_codegen.ir.nest import Nest
from symlayout_codegen.jit import cache
from symlayout_codegen.jit.kernel import CompiledKernel, compile_nest, source_of

ROUNDS = 5
"""Each candidate runs at least so often."""

SECONDS = 0.05
"""And the candidates together for so long."""

MARGIN = 0.97
"""Another candidate than the model's is taken where it needs less than this part of the time."""

Run = Callable[[CompiledKernel], None]


def tune(nest: Nest, element_size: int, model: CompiledKernel, arguments: Sequence[int], run: Run) -> CompiledKernel:
    """Return the fastest candidate for *arguments*, with what was measured in its `reason`.

    Parameters
    ----------
    model : the kernel of the model's choice.
    arguments : what decides how fast a candidate is: the arguments, and the number of threads.
    run : does the call with a candidate.
    """
    name = f"tuned-{hashlib.sha256(repr(tuple(arguments)).encode()).hexdigest()[:16]}"
    known = cache.load_note(model.key, name)
    if known is not None and (found := _recorded(nest, element_size, model, known)):
        return found
    kernels, sources = [model], {model.source}
    for choice in CANDIDATES[1:]:
        if (source := source_of(nest, element_size, choice)) in sources:
            continue
        sources.add(source)
        with suppress(CompilerError):  # the model's choice was built, and it will do
            kernels.append(compile_nest(nest, element_size, choice, model.march))
    if len(kernels) == 1:
        return model.because("all candidates are the same loops")
    times = _times(kernels, run)
    best = min(range(len(kernels)), key=times.__getitem__)
    best = best if times[best] < MARGIN * times[0] else 0
    figures = ", ".join(f"{k.choice.label} {t * 1e6:.1f} us" for k, t in zip(kernels, times, strict=True))
    reason = f"timed on the arrays of a call: {figures}"
    cache.store_note(model.key, name, {"choice": kernels[best].choice.label, "reason": reason})
    return kernels[best].because(reason)


def _recorded(nest: Nest, element_size: int, model: CompiledKernel, known: dict[str, str]) -> CompiledKernel | None:
    """Return the candidate that the record names; None if there is no such candidate."""
    for choice in CANDIDATES:
        if choice.label == known.get("choice"):
            other = choice != model.choice
            kernel = compile_nest(nest, element_size, choice, model.march) if other else model
            return kernel.because(f"{known.get('reason')}, kept in the cache")
    return None


def _times(kernels: Sequence[CompiledKernel], run: Run) -> list[float]:
    """Return the least time that each candidate took; they take turns."""
    times = [float("inf")] * len(kernels)
    end = time.perf_counter() + SECONDS
    rounds = 0
    while rounds < ROUNDS or time.perf_counter() < end:
        for k, kernel in enumerate(kernels):
            start = time.perf_counter()
            run(kernel)
            times[k] = min(times[k], time.perf_counter() - start)
        rounds += 1
    return times
