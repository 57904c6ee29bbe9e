"""Search for a witness by running both models: where no proof is found, and the interpreter cannot compute an output.

A runtime computes bodies of loops, and what lies behind an extent that depends on data.  It is onnxruntime, where that
is installed, and the reference evaluator of the package ``onnx``.  A difference counts if all runtimes that run both
models compute it.  A loop of a model may run for ever, and a runtime may end its process.  So models run in a child
process that has ``symlayout.limits.run_seconds`` and ``run_bytes``.
"""

from __future__ import annotations

import math
import operator
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, evaluate, names_of
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.budgets import limits
from symlayout.deadlines import check_time, remaining, within
from symlayout.equivalence import runtime_process
from symlayout.equivalence.shared_ends import SharedEnds
from symlayout.errors import InconclusiveError
from symlayout.maps.evaluate_bodies import stirred
from symlayout.maps.gather_elements import int_extents
from symlayout.maps.index_ranges import in_range, ranges_of
from symlayout.models.model import Model
from symlayout.proof.cases.array_difference import ArrayDifference, difference_of
from symlayout.tensors.chain import Tensor, graph_of

Array = np.ndarray[Any, Any]
Arrays = dict[str, Array]

_MOST_SIZES = 2000  # sizes that are tried, to find some that are valid
_SIZES = (0, 1, 4, 12, 30, 70)  # which of the valid sizes are run: the first ones are the smallest
_FACTORS = (8, 24)  # of small sizes, for larger ones
_SCALES = (1, 16)  # large inputs reach what small ones leave behind a threshold
_MOST_ELEMENTS = 1 << 22  # of all values at sizes that are run


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two models that were run differ.

    Attributes
    ----------
    sizes : dict
        A value for each dim of the inputs, by its name.
    inputs : dict
        The arrays of the inputs, by their names before.
    output : str
        The name of the output before.
    apart : ArrayDifference
        The coordinate in it, and both values there.
    """

    sizes: dict[str, int]
    inputs: Arrays
    output: str
    apart: ArrayDifference


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Two models that are run on the same inputs.

    Attributes
    ----------
    models : pair of Model
        The models.
    ends : SharedEnds
        Which of their inputs and outputs are one.
    inputs : dict of str to Tensor
        The inputs before that are shared, with the dims of the claim.
    outputs : dict of str to Tensor
        The outputs before that are compared.
    facts : Facts
        What holds for all sizes that both models are valid for.
    reading : sequence of Tensor
        The values before that are not valid for all elements: operations read at places that inputs have.
    """

    models: tuple[Model, Model]
    ends: SharedEnds
    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    facts: Facts
    reading: Sequence[Tensor] = ()

    def difference(self) -> Difference | None:
        """Return where an output differs by more than rounding explains; None if no such place is found.

        All runs together have ``limits.run_seconds``.
        """
        return within(limits.run_seconds, self._difference, lambda: None)

    def _difference(self) -> Difference | None:
        points = list(self._points())
        runtimes = installed_runtimes() if points else ()
        for number, runtime in enumerate(runtimes):
            results = self._results(points, runtime)
            if all(made is None for pair in results for made in pair):
                continue
            for (values, arrays), (before, after) in zip(points, results, strict=True):
                if before is None or after is None:
                    continue
                for name in self.outputs:
                    found = self._apart(name, arrays, before, after, runtime)
                    if found is not None and self._agree(name, arrays, runtimes[number + 1 :]):
                        return Difference(values, arrays, name, found)
            return None
        return None

    def _points(self) -> Iterator[tuple[dict[str, int], Arrays]]:
        """Yield sizes that both models are valid for, and inputs there."""
        for values in self._sizes():
            try:
                yield from ((values, self._drawn(values, scale)) for scale in _SCALES)
            except InconclusiveError:  # an axis that is read at has no place
                continue

    def _sizes(self) -> Iterator[dict[str, int]]:
        """Yield some of the small sizes that are valid, and some of their multiples, where data have more to pick."""
        dims = sorted({name for t in self.inputs.values() for name in t.facts.dims})
        least = dict.fromkeys(self.facts.dims, 0) | dict.fromkeys(dims, 1)
        seen: dict[tuple[int, ...], None] = {}
        large: list[tuple[int, ...]] = []  # with them or more, the models have too many elements
        for tried in islice(sizes(self.facts, least), _MOST_SIZES):
            values = {name: tried[name] for name in dims}
            key = tuple(values.values())
            if key in seen or any(all(map(operator.ge, key, most)) for most in large) or not self._holds(values):
                continue
            if not self._is_small(values):
                large.append(key)
                continue
            if len(seen) in _SIZES:
                yield values
            seen[key] = None
            if len(seen) > _SIZES[-1]:
                break
        for factor in _FACTORS if dims else ():
            larger = ({name: n * factor for name, n in zip(dims, key, strict=True)} for key in seen)
            yield from islice((v for v in larger if self._allowed(v) and self._holds(v) and self._is_small(v)), 2)

    def _allowed(self, values: Mapping[str, int]) -> bool:
        return all(self.facts.dims[name].allows(value) for name, value in values.items())

    def _holds(self, values: Mapping[str, int]) -> bool:
        """Return whether all requirements hold that name the inputs' dims only."""
        known = self.facts.values(values)
        return all(r.holds(known) for r in self.facts.requirements if names_of(r.value) <= known.keys())

    def _is_small(self, values: Mapping[str, int]) -> bool:
        """Return whether all values together have few enough elements."""
        nodes = graph_of(self.outputs.values())
        shared = {id(node.facts): node.facts for node in nodes}
        known_of = {key: facts.values(values) for key, facts in shared.items()}
        return sum(_elements(node, known_of[id(node.facts)]) for node in nodes) <= _MOST_ELEMENTS

    def _drawn(self, values: Mapping[str, int], scale: int) -> Arrays:
        draw = np.random.default_rng(scale)
        arrays = {}
        ranges = ranges_of([*self.reading, *self.outputs.values()], partial(_extent, values))
        for name, t in self.inputs.items():
            shape = int_extents(t.bind({dim: value for dim, value in values.items() if dim in t.facts.dims}))
            dtype = np.dtype(np.float32) if t.dtype is None else t.dtype
            if t.key in ranges and dtype.kind in "iuf":
                arrays[name] = in_range(draw.integers(-9, 10, shape), ranges[t.key]).astype(dtype)
            elif dtype.kind == "f":
                arrays[name] = np.asarray(draw.normal(size=shape) * scale).astype(dtype)
            else:  # small integers are indices of small tables too
                arrays[name] = np.asarray(draw.integers(0, 2 if scale == 1 else 5, shape)).astype(dtype)
        return arrays

    def _results(
        self, points: Sequence[tuple[dict[str, int], Arrays]], runtime: str
    ) -> list[tuple[Arrays | None, Arrays | None]]:
        """Return what both models compute at each point."""
        feeds = [arrays for _, arrays in points]
        after = [self.ends.arrays_after(arrays) for arrays in feeds]
        left, right = run_models(self.models, (feeds, after), runtime)
        made = [[None if isinstance(each, str) else each for each in side] for side in (left, right)]
        return list(zip(*made, strict=True))

    def _apart(self, name: str, arrays: Arrays, before: Arrays, after: Arrays, runtime: str) -> ArrayDifference | None:
        """Return where an output differs by more than the model before changes with the last bits of its inputs."""
        a, b = before[name], self.ends.array_before(name, after)

        def again() -> Array | None:
            moved = {key: stirred(array) for key, array in arrays.items()}
            ((made,),) = run_models(self.models[:1], [[moved]], runtime)
            return None if isinstance(made, str) else made[name]

        found = difference_of(a, b, again)
        return found if found is not None and found.is_plain else None

    def _agree(self, name: str, arrays: Arrays, runtimes: Sequence[str]) -> bool:
        """Return whether other runtimes compute a difference too, as far as they run both models."""
        for runtime in runtimes:
            ((before, after),) = self._results([({}, arrays)], runtime)
            if before is not None and after is not None and self._apart(name, arrays, before, after, runtime) is None:
                return False
        return True


def _extent(values: Mapping[str, int], t: Tensor, e: Extent) -> int | None:
    """Return an extent for sizes; None if it depends on more."""
    known = t.facts.values({name: n for name, n in values.items() if name in t.facts.dims})
    n, d = t.facts.to_user(e)
    return evaluate(n, known) // (evaluate(d, known) or 1) if names_of(n) | names_of(d) <= known.keys() else None


def _elements(t: Tensor, known: Mapping[str, int]) -> int:
    """Return how many elements a value has for these symbols; an extent that is not known counts as one."""
    count = 1
    for n, d in map(t.facts.to_user, t.extents):
        if names_of(n) | names_of(d) <= known.keys():
            count *= evaluate(n, known) // (evaluate(d, known) or 1)
    return count


def installed_runtimes() -> tuple[str, ...]:
    """Return the runtimes that are installed, the fastest one first."""
    return tuple(name for name in runtime_process.RUNTIMES if find_spec(name) is not None)


def run_models(models: Sequence[Model], feeds: Sequence[Sequence[Arrays]], runtime: str) -> list[list[Arrays | str]]:
    """Return the outputs of each model for each of its feeds, by name; why it was not run, if that is known, else.

    Parameters
    ----------
    models : sequence of Model
        The models.  Those that are not of ONNX are not run.
    feeds : sequence of sequence of dict
        For each model the arrays of its inputs, several times.
    runtime : str
        The name of the runtime: see `installed_runtimes`.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if all(_write(model, folder / f"{k}.onnx") for k, model in enumerate(models)):
            for k, given in enumerate(feeds):
                for number, arrays in enumerate(given):
                    write_arrays(folder / f"{k}-{number}.in.npz", arrays)
            _call(runtime, folder)
        return [
            [_read(folder, f"{k}-{number}", model) for number in range(len(given))]
            for k, (model, given) in enumerate(zip(models, feeds, strict=True))
        ]


def _write(model: Model, path: Path) -> bool:
    """Write a model, or where it is; return whether it can be run."""
    if model.format != "ONNX":
        return False
    if not any(tensor.external_data for tensor in model.source.graph.initializer):
        path.write_bytes(model.source.SerializeToString())
    elif model.path.is_file():  # it finds its constants beside it
        path.with_suffix(".path").write_text(str(model.path.resolve()), "utf-8")
    else:
        return False
    return True


def _call(runtime: str, folder: Path) -> None:
    """Run the models of a folder.  What is not computed within the limits of time and memory has no file."""
    check_time()
    command = [sys.executable, "-P", runtime_process.__file__, runtime, str(folder), str(limits.run_bytes)]
    seconds = None if (left := remaining()) == math.inf else left
    quiet = subprocess.DEVNULL
    try:
        subprocess.run(command, stdin=quiet, stdout=quiet, stderr=quiet, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return


def _read(folder: Path, stem: str, model: Model) -> Arrays | str:
    try:
        with np.load(folder / f"{stem}.out.npz", allow_pickle=False) as file:
            return {name: file[f"arr_{k}"] for k, name in enumerate(model.outputs)}
    except (OSError, KeyError, ValueError):
        why = folder / f"{stem}.error.txt"
        return why.read_text("utf-8", errors="replace") if why.is_file() else ""


def write_arrays(path: Path | BinaryIO, arrays: Mapping[str, Array]) -> None:
    """Write arrays as ``numpy.savez`` does, whatever characters their names have."""
    with zipfile.ZipFile(path, "w") as file:
        for name, array in arrays.items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asarray(array), allow_pickle=False)
