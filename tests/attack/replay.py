"""Replay verdicts of tests in onnxruntime: each PROVED at the sizes 0, 1, 2 and 3, each REFUTED at its witness.

``tests/conftest.py`` says which folders of tests take part.  Where onnxruntime is not
installed, nothing is replayed.  onnxruntime may end its process: it has one of its own, which is started again then.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import ModelProto

import symlayout as sl
from symlayout.equivalence.shared_ends import SharedEnds
from symlayout.models.model import Model
from tests.attack.runtimes import Ran, Sessions, apart, apart_by_laws
from tests.attack.values import arrays, dims_of

Array = np.ndarray[Any, Any]
SIZES = (0, 1, 2, 3)
_MOST_BYTES = 1 << 24  # of a model that is replayed


@contextmanager
def replays() -> Iterator[None]:
    """Replay what `sl.verify` and `sl.optimize` say in the block; fail at its end if a verdict is wrong."""
    wrong: list[str] = []
    verify, optimize = sl.verify, sl.optimize

    def verified(before: Any, after: Any, **options: Any) -> Any:
        found = verify(before, after, **options)
        if text := refuted(before, after, found):
            wrong.append(text)
        return found

    def optimized(model: Any, *args: Any, **options: Any) -> Any:
        made = optimize(model, *args, **options)
        if text := changed(_model(model), made.source, loose=bool(made.report.laws)):
            wrong.append(text)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sl, "verify", verified)
        patch.setattr(sl, "optimize", optimized)
        yield
    assert not wrong, "\n\n".join(wrong)


def refuted(before: Any, after: Any, found: Any) -> str:
    """Return why a verdict is wrong, by what onnxruntime computes; an empty text if it is not."""
    if found.verdict is sl.Verdict.UNKNOWN:
        return ""
    left, right = _model(before), _model(after)
    if left is None or right is None:
        return ""
    if found.verdict is sl.Verdict.PROVED:
        loose = bool(found.laws or found.formulas)
        sizes = [n for n in SIZES if all(r.subs(dict.fromkeys(r.free_symbols, n)) for r in found.assumed)]
        return changed(left, right.source, loose=loose, ends=found.ends, sizes=sizes)
    if (witness := found.witness) is None:
        return "REFUTED without a witness"
    at = {str(symbol): n for symbol, n in witness.dims.items()}
    files = left.source.SerializeToString(), right.source.SerializeToString()
    text = _apart(_equal_at, *files, at, dict(witness.inputs), found.ends)
    return text and f"REFUTED, {text}, at the witness {witness}"


def _model(model: Any) -> Model | None:
    """Return a model of ONNX whose constants are in its file; None for anything else."""
    if isinstance(model, str | Path):
        model = sl.read_model(model)
    if not isinstance(model, Model) or model.format != "ONNX" or model.source.ByteSize() > _MOST_BYTES:
        return None
    return None if any(t.external_data for t in model.source.graph.initializer) else model


def changed(
    before: Model | None,
    after: Any,
    *,
    loose: bool = False,
    ends: SharedEnds | None = None,
    sizes: Sequence[int] | None = None,
) -> str:
    """Return where the model after refuses what the model before takes, or computes something else.

    The *sizes* are those that no verdict leaves out; without them, those that the reader of the model before takes.
    """
    if before is None:
        return ""
    if sizes is None:
        sizes = SIZES[1:] if any(before.assumed.values()) else SIZES
    given = tuple(sizes), loose, ends
    return _apart(_changed, before.source.SerializeToString(), after.SerializeToString(), *given)


@cache
def _pool() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, get_context("spawn"))


def _apart(work: Callable[..., str], *arguments: Any) -> str:
    """Do *work* in the process that has onnxruntime; what ends that process is not judged."""
    try:
        return _pool().submit(work, *arguments).result()
    except BrokenProcessPool:
        _pool.cache_clear()
        return ""


def _changed(before: bytes, after: bytes, sizes: tuple[int, ...], loose: bool, ends: SharedEnds | None) -> str:
    proto, other = _untyped(before), _untyped(after)
    sides = Sessions(proto), Sessions(other)
    rnd = random.Random(0)
    names = dims_of(proto)
    for size in sizes if names else sizes[:1]:
        at = dict.fromkeys(names, size)
        given = arrays(proto, at, rnd)
        a, b = _both(sides, given, ends)
        if a.arrays is None or b.lacks or "invalid dimensions for input" in b.refusal:  # extents that only one states
            continue
        if b.arrays is None:
            return f"PROVED, at {at} onnxruntime refuses the model after: {b.refusal}"
        how = _how(a, b, loose)
        if not how or _how(a, _both(sides, given, ends)[0], loose):  # what is random is not judged
            continue
        if _how(*_both(sides, given, ends, by_reference=True), loose) != "":
            return f"PROVED, at {at} runtimes find another {how}: {given}: {a.arrays} and {b.arrays}"
    return ""


def _how(a: Ran, b: Ran, loose: bool) -> str:
    """Return how the outputs differ by more than rounding, beside the largest element; "refused" if a side has none."""
    if a.arrays is None or b.arrays is None:
        return "refused"
    how = apart_by_laws(a.arrays, b.arrays) if loose else apart(a.arrays, b.arrays, most=np.inf)
    return "" if how == "rounding" else how


def _untyped(data: bytes) -> ModelProto:
    """Return the model without the types that it states for outputs, some of which are wrong in tests."""
    proto = ModelProto.FromString(data)
    for y in proto.graph.output:
        y.ClearField("type")
    return proto


def _equal_at(
    before: bytes, after: bytes, at: dict[str, int], inputs: dict[str, Array], ends: SharedEnds | None
) -> str:
    proto, other = _untyped(before), _untyped(after)
    sizes = dict.fromkeys(dims_of(proto), 1) | at
    given = arrays(proto, sizes, random.Random(0)) | inputs
    a, b = _both((Sessions(proto), Sessions(other)), given, ends)
    if a.lacks or b.lacks:
        return ""
    if a.arrays is None:
        return f"onnxruntime refuses the model before: {a.refusal}"
    if b.arrays is not None and not apart(a.arrays, b.arrays):
        return f"both models compute {a.arrays}"
    return ""


def _both(
    sides: tuple[Sessions, Sessions], given: Mapping[str, Array], ends: SharedEnds | None, by_reference: bool = False
) -> tuple[Ran, Ran]:
    before, after = sides
    run = Sessions.by_reference if by_reference else Sessions.by_onnxruntime
    a = run(before, given)
    inputs = [x.name for x in after.model.graph.input]
    if ends is not None:
        shared = {name for name, _ in ends.inputs}  # the model after may have other inputs of these names
        given = {name: a for name, a in given.items() if name not in shared} | ends.arrays_after(given)
    if not given.keys() >= set(inputs):
        return a, Ran(None, "NotImplemented: the model after has other inputs")
    b = run(after, given)
    if b.arrays is not None:
        by_name = dict(zip((y.name for y in after.model.graph.output), b.arrays, strict=True))
        outputs = [y.name for y in before.model.graph.output]
        b = Ran([by_name[name] if ends is None else ends.array_before(name, by_name) for name in outputs])
    return a, b
