"""Decide whether a step of a language model with a cache computes the last rows of the run over all tokens."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.deadlines import within
from symlayout.equivalence.blocks import Blocks
from symlayout.equivalence.joint_models import DEMAND
from symlayout.equivalence.unknown_ranks import Values
from symlayout.errors import FormatError, ShapeError, SymlayoutError, legible, one_line, shown
from symlayout.models.model import Model, relations
from symlayout.models.read_model import read_model
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.slicing import getitem
from symlayout.proof.counterexample import Witness, WitnessSearch
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.verdict import Verdict
from symlayout.show.wording import relation
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.input_tensor import tensor
from symlayout.tensors.substitute_input import called

_POINTS = 60  # sizes at which a step that is not proved is compared with the run
_SENTENCES = {
    Verdict.PROVED: "a step computes the last rows of the run over all tokens, for all lengths of both{domain}.",
    Verdict.REFUTED: "a step differs from the last rows of the run over all tokens.",
    Verdict.UNKNOWN: "not decided, and no difference was found.",
}


@dataclass(frozen=True)
class RowVerification:
    """What was found out about a step beside the run over all tokens.

    Attributes
    ----------
    outputs : dict of str to Verdict
        By the names of the outputs of the model with a cache.
    cache : dict of str to str
        The output of which each input of the cache has the first positions.
    witness : Witness or None
        With REFUTED, sizes, a coordinate of `output`, and what the step and the run compute there.
    output : str
        The output that differs.
    unmatched : tuple of str
        With UNKNOWN and REFUTED, the first operations of the step that were not shown to compute rows of the run.
    requires : tuple
        What holds of the lengths beyond their bounds, as SymPy relations: the claim is about these.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x, past = sl.tensor("S", dtype="float32", name="x"), sl.tensor("P", dtype="float32", name="past")
    >>> run = SimpleNamespace(inputs={"x": x}, outputs={"present": sl.onnx.relu(x)})
    >>> def step(*parts):
    ...     return SimpleNamespace(inputs={"x": x, "past": past}, outputs={"present": sl.concatenate(parts)})
    >>> found = sl.verify_rows(run, step(sl.onnx.relu(x), past))
    >>> found.outputs, found.cache
    ({'present': <Verdict.REFUTED: 'refuted'>}, {'past': 'present'})
    """

    outputs: dict[str, Verdict]
    cache: dict[str, str] = field(default_factory=dict)
    witness: Witness | None = None
    output: str = ""
    unmatched: tuple[str, ...] = ()
    requires: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        raise TypeError("a verification has three outcomes; compare its verdict with Verdict.PROVED")

    @property
    def verdict(self) -> Verdict:
        """The least certain verdict of the outputs: REFUTED if one is, else UNKNOWN if one is."""
        found = {*self.outputs.values()}
        return next((v for v in (Verdict.REFUTED, Verdict.UNKNOWN) if v in found), Verdict.PROVED)

    def __str__(self) -> str:
        domain = f" with {', '.join(map(relation, self.requires))}" if self.requires else ""
        lines = [f"{self.verdict.name}: {_SENTENCES[self.verdict].format(domain=domain)}"]
        lines += [f"  {one_line(n)}: {v.name}" for n, v in self.outputs.items() if v is not Verdict.PROVED]
        if self.witness is not None:
            lines.append(f"  {one_line(self.output)}: {self.witness}")
        if self.unmatched:
            lines.append(f"  the first operations that are not shown to be rows: {', '.join(self.unmatched)}")
        return legible("\n".join(lines))


def verify_rows(
    prefill: Values | str | os.PathLike[str],
    decode: Values | str | os.PathLike[str],
    *,
    cache: Mapping[str, str] | None = None,
    time_limit: float | None = None,
) -> RowVerification:
    """Decide whether a step with a cache computes the last rows of the run over all tokens.

    The run is *prefill* over all P + S tokens, with an empty cache if it takes one.  The step is *decode* over the last
    S of them, and its cache has the first P positions of what the run returns.  PROVED: each output of the step has the
    elements of the run's output of that name bit for bit, for all lengths P and S and all inputs: the same functions of
    the same elements.  Where the extents of the two outputs differ along an axis, the last rows are meant.

    That the first P positions of a longer run are those of a run over P tokens is another claim, which is not made.

    Parameters
    ----------
    prefill, decode : Model, or path
        The two models, or their files; one file may be both.
    cache : mapping of str to str, optional
        For each input of *decode* that is a cache, the output of both models that has its elements and those of the
        step.  If None, names say so: ``past_key_values.0.key`` and ``present.0.key``, ``past_0`` and ``present_0``.
    time_limit : float, optional
        The most seconds that this may take; then the verdicts are UNKNOWN.

    Raises
    ------
    FormatError
        The models have other inputs or outputs than that needs, or no input is a cache.
    ShapeError
        ``size_mismatch`` if extents do not fit.
    InconclusiveError
        An extent of a model depends on data.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x, past = sl.tensor("S", dtype="float32", name="x"), sl.tensor("P", dtype="float32", name="past")
    >>> run = SimpleNamespace(inputs={"x": x}, outputs={"present": sl.onnx.relu(x)})
    >>> def step(*parts):
    ...     return SimpleNamespace(inputs={"x": x, "past": past}, outputs={"present": sl.concatenate(parts)})
    >>> print(verify_rows(run, step(past, sl.onnx.relu(x))))
    PROVED: a step computes the last rows of the run over all tokens, for all lengths of both.
    """
    names: list[str] = []

    def decided() -> RowVerification:
        models = [read_model(m) if isinstance(m, str | os.PathLike) else m for m in (prefill, decode)]
        names.extend(models[1].outputs)
        return _verified(_Ends.of(models[0]), _Ends.of(models[1]), cache)

    return within(time_limit, decided, lambda: RowVerification(dict.fromkeys(names or [""], Verdict.UNKNOWN)))


def assert_same_rows(
    prefill: Values | str | os.PathLike[str],
    decode: Values | str | os.PathLike[str],
    *,
    cache: Mapping[str, str] | None = None,
) -> None:
    """Raise `AssertionError` unless a step is proved to compute the last rows of the run over all tokens.

    Parameters
    ----------
    prefill, decode : Model, or path
        The model that runs over all tokens, and the one that takes a cache, or their files.
    cache : mapping of str to str, optional
        For each input that is a cache, the output that has its elements: see `verify_rows`.

    Raises
    ------
    AssertionError
        They differ, or it is not decided.
    FormatError, ShapeError, InconclusiveError
        As of `verify_rows`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x, past = sl.tensor("S", dtype="float32", name="x"), sl.tensor("P", dtype="float32", name="past")
    >>> run = SimpleNamespace(inputs={"x": x}, outputs={"present": sl.onnx.relu(x)})
    >>> def step(*parts):
    ...     return SimpleNamespace(inputs={"x": x, "past": past}, outputs={"present": sl.concatenate(parts)})
    >>> assert_same_rows(run, step(past, sl.onnx.relu(x)))
    """
    found = verify_rows(prefill, decode, cache=cache)
    if found.verdict is not Verdict.PROVED:
        raise AssertionError(str(found))


@dataclass(frozen=True, slots=True)
class _Ends:
    """The inputs and outputs of a model, by name; all have a rank."""

    inputs: dict[str, Tensor]
    outputs: dict[str, Tensor]
    demands: dict[str, Tensor]  # what nodes compute that demand something of the sizes, used or not

    @classmethod
    def of(cls, model: Values) -> _Ends:
        """Return the ends of a model; ``unknown_rank`` if the rank of one is not known."""
        found: list[dict[str, Tensor]] = [{}, {}]
        for ends, known in zip((model.inputs, model.outputs), found, strict=True):
            for name, t in ends.items():
                if not isinstance(t, Tensor):
                    raise ShapeError(f"the rank of {shown(name)} is not known", "unknown_rank")
                known[name] = t
        demanding = model.demanding() if isinstance(model, Model) else []
        return cls(found[0], found[1], {f"{DEMAND}{k}": t for k, (_, t) in enumerate(demanding)})

    def called(self, given: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], Facts]:
        """Return the outputs where inputs are other tensors, and what all nodes demand there."""
        made = called(self.inputs, self.outputs | self.demands, given)
        facts = Facts()
        for t in made.values():
            facts.merge(t.facts)
        return {name: made[name] for name in self.outputs}, facts


def _verified(prefill: _Ends, decode: _Ends, stated: Mapping[str, str] | None) -> RowVerification:
    cache = _cache_of(decode, stated)
    for here, there, what in ((decode.outputs, prefill.outputs, "output"), (prefill.inputs, decode.inputs, "input")):
        if missing := [name for name in here if name not in there]:
            other = "without" if what == "output" else "with"
            raise FormatError(f"the model {other} a cache has no {what} {shown(missing[0])}")
    tokens = _Tokens.of(decode, cache)
    given = {
        name: tokens.empty(t) if name in cache else tokens.all_of(name, prefill, t)
        for name, t in decode.inputs.items()
        if name in prefill.inputs
    }
    whole, facts = prefill.called(given)
    rows = {name: _rows(t, decode.inputs[name].shape) for name, t in given.items() if name not in cache}
    for past, present in cache.items():
        if decode.inputs[past].rank != whole[present].rank:
            raise ShapeError(f"{shown(past)} and {shown(present)} have other ranks", "size_mismatch")
        rows[past] = _rows(whole[present], decode.inputs[past].shape, first=True)
    step, demanded = decode.called(rows)
    facts.merge(demanded)
    blocks = Blocks(whole.values(), facts)
    found = dict(zip(step, blocks.of_part(step.values()), strict=True))
    outputs: dict[str, Verdict] = {}
    for name in step:
        sides = _compared(found[name], blocks.of_whole(whole[name]))
        outputs[name] = Verdict.PROVED if blocks.are_equal(*sides) else Verdict.UNKNOWN
    result = RowVerification(outputs, cache, requires=relations(facts, facts.dims.keys()))
    if result.verdict is Verdict.PROVED:
        return result
    unmatched = tuple(one_line(t.name) for t in blocks.unmatched[:3])
    for name, t in step.items():
        if outputs[name] is not Verdict.PROVED and (witness := _witness(*_compared(t, whole[name]))) is not None:
            return replace(
                result, outputs=outputs | {name: Verdict.REFUTED}, witness=witness, output=name, unmatched=unmatched
            )
    return replace(result, unmatched=unmatched)


def _cache_of(decode: _Ends, stated: Mapping[str, str] | None) -> dict[str, str]:
    """Return the output of which each input of a cache has the first positions."""
    if stated is None:
        named = {n: re.sub("^past(_key_values|_values)?", "present", n) for n in decode.inputs if n.startswith("past")}
        found = {n: other for n, other in named.items() if other in decode.outputs}
    else:
        found = dict(stated)
        for name, other in found.items():
            if name not in decode.inputs or other not in decode.outputs:
                raise FormatError(f"the model has no input {shown(name)}, or no output {shown(other)}")
    if not found:
        raise FormatError("no input of the model is a cache\n  help: state cache={input: output}")
    return found


@dataclass(frozen=True, slots=True)
class _Tokens:
    """How many tokens a cache has, and how many it has after the step, as SymPy expressions of the step's dims."""

    past: Any
    total: Any

    @classmethod
    def of(cls, decode: _Ends, cache: Mapping[str, str]) -> _Tokens:
        found = set()
        for past, present in cache.items():
            own, made = decode.inputs[past], decode.outputs[present]
            if own.rank != made.rank or own.rank is None:
                raise ShapeError(f"{shown(past)} and {shown(present)} have other ranks", "size_mismatch")
            found |= {(e, n) for e, n in zip(own.shape, made.shape, strict=True) if e != n}
        if len(found) != 1:
            raise ShapeError(
                f"the outputs of the cache are longer in {len(found)} ways than its inputs", "size_mismatch"
            )
        return cls(*found.pop())

    def empty(self, own: Tensor) -> Tensor:
        """Return a cache without positions."""
        zero = constant(np.zeros((), own.dtype))
        return broadcast_to(zero, [0 if e == self.past else e for e in own.shape])

    def all_of(self, name: str, prefill: _Ends, step: Tensor) -> Tensor:
        """Return an input of the run: that of the step, with all tokens where the step has its own."""
        own = prefill.inputs[name]
        if own.rank != step.rank:
            raise ShapeError(f"input {shown(name)} has ranks {own.rank} and {step.rank}", "size_mismatch")
        extents = [
            self.total if n == self.total - self.past and not isinstance(e, int) else n
            for e, n in zip(own.shape, step.shape, strict=True)
        ]
        return tensor(extents, dtype=step.dtype, name=f"all_{step.key}" if step.key.isidentifier() else None)


def _rows(t: Tensor, extents: Sequence[Any], *, first: bool = False) -> Tensor:
    """Return the last rows of a tensor, or the *first*, along each axis on which it has another extent."""
    ends = [
        slice(None) if e == n else slice(e) if first else slice(n - e, None)
        for e, n in zip(extents, t.shape, strict=True)
    ]
    return getitem(t, tuple(ends))


def _compared(step: Tensor, whole: Tensor) -> tuple[Tensor, Tensor]:
    """Return what is compared of two outputs: the last rows that both have."""
    if step.rank != whole.rank:
        raise ShapeError(f"an output has ranks {step.rank} and {whole.rank}", "size_mismatch")
    if any(n == 1 and e != 1 for e, n in zip(step.shape, whole.shape, strict=True)):
        return _rows(step, whole.shape), whole
    return step, _rows(whole, step.shape)


def _witness(left: Tensor, right: Tensor) -> Witness | None:
    """Return sizes and inputs at which two tensors differ by more than rounding; None if none are found."""
    facts = left.facts.fork()
    facts.merge(right.facts)
    try:
        found, _, _ = WitnessSearch(left, right, facts, dtype_of(left, right)).run(_POINTS)
    except SymlayoutError:
        return None
    return found if found is not None and found.is_plain else None
