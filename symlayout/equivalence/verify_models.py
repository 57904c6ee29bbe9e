"""Decide whether two models compute the same, output by output, for all sizes that the model before is valid for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import product
from symlayout.budgets import limits
from symlayout.deadlines import at_phase, question, within
from symlayout.equivalence.data_extents import (
    other_data,
    proof_of,
    with_data_as_shown,
    with_one_data,
)
from symlayout.equivalence.frontier import Frontier, parted_at
from symlayout.equivalence.joint_models import PARTIAL, JointModels, joint_models
from symlayout.equivalence.replay import Replay
from symlayout.equivalence.run_models import TwoRuns
from symlayout.equivalence.shared_ends import EndsAsStated, SharedEnds, ends_as_shown
from symlayout.equivalence.unknown_ranks import ShapedValues, Values, with_handles, without_ranks
from symlayout.equivalence.valid_sizes import (
    Domain,
    RefusedSizes,
    demanded_beyond,
    domain_of,
    facts_of,
    refused_after,
    refused_everywhere,
)
from symlayout.equivalence.verification import ModelClaim, ModelWitness, Verification, with_matched
from symlayout.errors import InconclusiveError, ShapeError, SymlayoutError
from symlayout.language import sympy_bridge
from symlayout.language.sympy_bridge import symbol_of
from symlayout.models.model import Model
from symlayout.proof.attempts import DEFAULT_BUDGET, budget_by_laws, compared_by_laws, pairs_known, round_by_laws
from symlayout.proof.certificate.check_computed import refusal_of_computed
from symlayout.proof.congruence import Congruence
from symlayout.proof.counterexample import Witness, sample, valid_inputs
from symlayout.proof.laws import check_laws
from symlayout.proof.points import is_empty, point_of
from symlayout.proof.rewritings import FORM_OF
from symlayout.proof.verdict import Proof, Verdict
from symlayout.show import wording
from symlayout.tensors.chain import Tensor


def verify(
    before: Values | str | os.PathLike[str],
    after: Values | str | os.PathLike[str],
    *,
    laws: Sequence[str] = (),
    by_position: bool = False,
    match: Mapping[str, str] | None = None,
    layout: Mapping[str, str] | None = None,
    budget: int = DEFAULT_BUDGET,
    run: bool = True,
    advise: bool = True,
    time_limit: float | None = None,
) -> Verification:
    """Decide whether two models compute the same outputs, for all sizes that *before* is valid for, and all inputs.

    A model is valid for the sizes that all of its nodes accept, those too whose values are read for their shape only,
    or not at all.  `Verification.requires` says what that is.

    PROVED: wherever the model before is valid, the model after is, and each output has the same shape and equal
    elements: the same elements of the inputs and constants go through the same functions, which gives the same bits.
    Sizes for which the reader demands more than the standard are left out; `Verification.assumed` says which.  Where
    laws were needed, or a fused function stands for a chain with its formula, `Verification.laws` and
    `Verification.formulas` name them; then rounding may differ.
    REFUTED: at the witness they differ, or the model after is refused for sizes for which the model before is valid.
    Dims of an input that have other names in the other model are one dim; a dim that is a number in one model is that
    number.  An input with an initializer is that constant: no claim is made about other values that a caller may pass
    for it.

    Parameters
    ----------
    before, after : Model, or path
        The two models, or their files.
    laws : sequence of str
        What may be used beyond equality bit for bit: see `prove_equal`.
    by_position : bool
        Match inputs and outputs by their order, not by name.
    match : mapping of str to str, optional
        Inputs and outputs that have other names after, by their names before.
    layout : mapping of str to str, optional
        Inputs and outputs that have their axes in another order after, by their names before: ``"NHWC:NCHW"`` has a
        letter for each axis before, then the same letters in the order after.  It is a part of the claim; coordinates
        are those before.
    budget : int
        How many points the search for a witness may evaluate for each output: see `prove_equal`.
    run : bool
        Run both models where this does not decide it: by onnxruntime, if that is installed, and by the reference
        evaluator of the package ``onnx``, in a child process.  That refutes only.  False runs nothing.
    advise : bool
        Whether UNKNOWN says that the law ``"signed-zero"``, which is not granted, would help.  That takes a second
        comparison.
    time_limit : float, optional
        The most seconds that reading and comparing may take.  Then every output is UNKNOWN.

    Raises
    ------
    TypeError
        A model is neither a `Model` nor a path.
    FormatError
        The models do not have the same inputs and outputs, a file is no model, or a name of *match* or *layout* is
        that of no input and no output.
    ShapeError
        ``bad_mode`` for a law that is not known; ``bad_format`` and ``rank`` for a layout that does not name each axis
        once; ``size_mismatch`` if an input has two ranks or extents; ``infeasible`` if no sizes are valid before.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C", name="x")
    >>> def model(y):
    ...     return SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={"x": x, "y": y})
    >>> verify(model(sl.flip(sl.transpose(x), 0)), model(sl.transpose(sl.flip(x, 1)))).verdict
    <Verdict.PROVED: 'proved'>
    >>> print(verify(model(sl.flip(x, 0)), model(sl.flip(x, 1))).witness)
    N = 1, C = 2: output y at (0, 0) is x[0, 0] before and x[0, 1] after
    >>> turned = sl.tensor("C, N", name="x")
    >>> verify(model(sl.flip(x, 0)), model(sl.flip(turned, 1)), layout={"x": "NC:CN", "y": "NC:CN"}).verdict
    <Verdict.PROVED: 'proved'>
    """
    check_laws(laws)
    stated = EndsAsStated(by_position, match or {}, layout or {})
    names: list[str] = []

    def decided() -> Verification:
        read = [_read(m) for m in (before, after)]
        names.extend(read[0].outputs)
        values = sum(len(m.outputs) + len(m.tensors) for m in read)
        with question(limits.question_goals + limits.value_goals * values):
            return _verified((read[0], read[1]), laws, stated, budget, run=run, advise=advise).of_models(*read)

    return within(time_limit, decided, lambda: Verification({}, out_of_time=tuple(names) or ("",)))


def _verified(
    models: tuple[Values, Values], laws: Sequence[str], stated: EndsAsStated, budget: int, *, run: bool, advise: bool
) -> Verification:
    before, after = map(with_handles, models)
    ends = stated.of(before, after)
    joint = joint_models(before, after, ends)
    replay = _replay(models, ends)
    runtimes = replay if run and before.can_run() and after.can_run() else None
    left, right, again = joint.left, joint.right, joint.again
    if (refused := refused_everywhere(left, right)) is not None:
        inputs = _inputs_of_witness(before, joint, again[0], ends)
        return _refused(refused, inputs, joint, runtimes, before.outputs)
    right, made, renamed_at = with_one_data(left, right)
    values = left, right
    here = facts_of(left)
    left, right = ({name: side[name] for name in before.outputs} for side in values)
    if made:
        again = again[0], {**made, **{key: made.get(id(t), t) for key, t in again[1].items()}}
    proofs: dict[str, Proof] = {}
    name_after = dict(ends.outputs)
    decided, others = dict(left), dict(right)
    origins = [{n: t for n, t in side.items() if n not in before.outputs} for side in values]
    while decided and (refused := refused_after({**origins[0], **decided}, {**origins[1], **others}, decided)):
        name = refused.output if refused.output in decided else next(iter(decided))
        a, b = decided.pop(name), others.pop(name)
        proofs[name] = Proof(a, b, a.facts, Verdict.REFUTED, refused.witness(a, here))
        if name != refused.output:  # no output needs what is refused: then it is refused for all of them
            break
    domain = domain_of(here, *values, before.outputs, joint.stated, refused=proofs)
    facts = domain.both
    open_, trial = demanded_beyond(here, values[1]) if not proofs else ([], here)
    known = pairs_known(facts, laws, sides=(list(decided.values()), [right[name] for name in decided]))
    read = [[*o.values(), *side.values()] for o, side in zip(origins, (decided, others), strict=True)]
    doubt = other_data(read[0], read[1], facts, known)
    if open_:
        demand = wording.relation(sympy_bridge.to_relation(open_[0], trial))
        doubt = f"the model after is valid wherever the model before is: it requires {demand}"
    reading = _partial_of(values[0], before.outputs).values()
    points = budget_by_laws(decided, {name: right[name] for name in decided}, laws, budget)
    for k, (name, t) in enumerate(decided.items()):
        at_phase("compare", k, len(decided))
        proof = proof_of(t, right[name], facts, known, points, domain.dims, reading)
        if doubt and proof.verdict is Verdict.PROVED:
            proof = Proof(t, right[name], facts, Verdict.UNKNOWN, None, doubt, proof.searched)
        if name in before.unknown or name_after[name] in after.unknown:
            proof = without_ranks(proof, t, right[name], facts)
        proofs[name] = proof
    asked = {n: t for n, t in decided.items() if not doubt and (advise or FORM_OF.keys() & set(laws))}

    def decided_again(a: Tensor, b: Tensor, pairs: tuple[Congruence, Congruence], points: int) -> Proof:
        return proof_of(a, b, facts, pairs, points, domain.dims, reading)

    compared_by_laws(asked, right, facts, laws, budget, proofs, decided_again)
    proofs = {name: proofs[name] for name in left}
    used = tuple(sorted(set().union(*(p.laws for p in proofs.values()))))
    found = Verification(proofs, used, domain=domain, ends=ends)
    for name, proof in proofs.items():
        if proof.witness is not None and proof.witness.coord is None and not proof.witness.dims:
            proofs[name] = _at_a_point(proof, left[name], right[name], values[0], here)
    for name, t in left.items():
        if proofs[name].verdict is Verdict.PROVED and _is_random(t):
            doubt = "a random operation computes the same twice"
            proofs[name] = Proof(t, right[name], facts, Verdict.UNKNOWN, None, doubt)
    if all(p.verdict is Verdict.PROVED for p in proofs.values()):
        partial = tuple(_partial_of(side, before.outputs) for side in values)
        matched, more, doubt = _matched_partial(partial[0], partial[1], facts, known)
        point = point_of([*values[0].values(), *values[1].values()], facts)
        if point is None and is_empty(facts):
            raise ShapeError("no sizes are valid for both models", "infeasible")
        if not doubt and point is not None:
            at = {symbol_of(facts.dims[name]): value for name, value in point.dims.items()}
            claim = ModelClaim(left, right, facts, values, renamed_at, point, matched, more)
            return replace(found, claim=claim, point=at)
        doubt = doubt or "there are sizes for which both models are valid"
        proofs |= {name: Proof(t, right[name], facts, Verdict.UNKNOWN, None, doubt) for name, t in left.items()}
    inputs = _inputs_of_witness(before, joint, again[0], ends)
    witness = _witness_inside(proofs, left, right, inputs, reading, runtimes)
    rounded = round_by_laws([*left.values(), *right.values()], laws)
    if witness is None and runtimes is not None and not rounded:  # a runtime does not say what is a unit
        witness = _when_run(runtimes, before, left, right, again[0], facts, reading, proofs)
    if witness is not None:
        found = replace(found, replay=replay)
    return _with_region(
        replace(found, witness=witness), known, (before, after), again, (left, right), facts, joint.spare
    )


def _at_a_point(proof: Proof, left: Tensor, right: Tensor, values: Mapping[str, Tensor], here: Facts) -> Proof:
    """Return a proof that two outputs differ whatever the sizes, with sizes for which the model before is valid."""
    point = point_of(list(values.values()), here)
    if point is None:
        return Proof(left, right, here, Verdict.UNKNOWN, None, "there are sizes for which the model before is valid")
    assert proof.witness is not None
    at = {symbol_of(here.dims[name]): value for name, value in point.dims.items()}
    return Proof(left, right, here, Verdict.REFUTED, replace(proof.witness, dims=at))


def _refused(
    refused: RefusedSizes,
    inputs: InputsOfWitness,
    joint: JointModels,
    replay: Replay | None,
    outputs: Collection[str],
) -> Verification:
    """Return the verdict on two models without a common size: each output differs where the model before is valid."""
    left, right, here = joint.left, joint.right, facts_of(joint.left)
    shown = {name: refused.witness(left[name], here) for name in outputs}
    proofs = {name: Proof(left[name], right[name], here, Verdict.REFUTED, w) for name, w in shown.items()}
    dims = frozenset(name for t in inputs.before.values() for name in t.facts.dims)
    witness = _witness_inside(proofs, left, right, inputs, _partial_of(left, outputs).values(), replay)
    return Verification(proofs, (), witness, domain=Domain(here, here, here, dims, joint.stated), ends=inputs.ends)


def _partial_of(side: Mapping[str, Tensor], outputs: Container[str]) -> dict[str, Tensor]:
    """Return the values of one side that may not be valid for all elements of what they read, by the names there."""
    return {name: t for name, t in side.items() if name.startswith(PARTIAL) and name not in outputs}


def _matched_partial(
    left: Mapping[str, Tensor], right: Mapping[str, Tensor], facts: Facts, known: tuple[Congruence, Congruence]
) -> tuple[dict[str, str], list[Proof], str]:
    """Return for partial values after equal ones before, by name, with the proofs, and what was not shown of another.

    A value after is valid wherever the model before is, if that computes it, too.  Pairs that the outputs needed are
    asked first, then values of one name: other pairs of one function may take long, and are seldom equal.
    """
    found: dict[str, str] = {}
    proofs: list[Proof] = []
    names = {id(a): other for other, a in left.items()}
    shown = {id(b): names[id(a)] for pairs in known for a, b in pairs.equal_values() if id(a) in names}
    for name, b in right.items():
        for other in itertools.chain(filter(None, (shown.get(id(b)), name if name in left else None)), left):
            a = left[other]
            if a.body == b.body and a.rank == b.rank:
                proof = proof_of(a, b, facts, known, 0)
                if proof.verdict is Verdict.PROVED:
                    found[name] = other
                    proofs.append(proof)
                    break
        if name not in found:
            return {}, [], f"{b.name} after is valid for all elements for which the model before is"
    return found, proofs, ""


def check_models(
    certificate: Any,
    before: Values | str | os.PathLike[str],
    after: Values | str | os.PathLike[str],
    asked: EndsAsStated | None = None,
) -> str:
    """Return why *certificate* does not prove that the models are one; an empty text if it does.

    The models are read again, and the claims are made again from them.  The search of the prover is not used; the
    functions that match pairs and take out added zeros and idle functions are (see `check_computed`).

    Parameters
    ----------
    certificate : dict
        The value of `Verification.certificate`, or the same data read back from JSON.
    before, after : Model, or path
        The two models, or their files.
    asked : EndsAsStated, optional
        Which inputs and outputs are one, where their names do not say it.

    Raises
    ------
    FormatError
        A file is no model.
    """
    left, right = (with_handles(_read(m)) for m in (before, after))
    try:
        return _refusal_of_models(certificate, left, right, EndsAsStated() if asked is None else asked)
    except SymlayoutError as error:
        return str(error).splitlines()[0]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        return f"the certificate has another form: {type(error).__name__}"


def _refusal_of_models(certificate: Any, before: ShapedValues, after: ShapedValues, asked: EndsAsStated) -> str:
    """Return why *certificate* does not prove that models are one; an empty text if it does (see `check_models`).

    What it states is read before its form is known, so another form raises errors.
    """
    ends = ends_as_shown(certificate["ends"], before, after)
    ends.check_asked(before, after, asked)
    joint = joint_models(before, after, ends)
    left = joint.left
    right, reason = with_data_as_shown(certificate.get("data", []), left, joint.right)
    if reason:
        return reason
    here = facts_of(left)
    if demanded_beyond(here, right)[0]:
        return "the model after is not shown to be valid wherever the model before is"
    domain = domain_of(here, left, right, before.outputs, joint.stated)
    facts = domain.both
    if certificate.get("domain") != domain.data:
        return "the claim is about other sizes"
    if reason := _refusal_of_point(certificate.get("point"), left, right, facts):
        return reason
    partial = tuple(_partial_of(side, before.outputs) for side in (left, right))
    matched = certificate.get("partial", {})
    if matched.keys() != partial[1].keys() or not {*matched.values()} <= {*partial[0]}:
        return "the certificate does not say which values before those after are that are not valid for all elements"
    left, right = ({name: side[name] for name in before.outputs} for side in (left, right))
    left, right = with_matched(left, right, partial, matched)
    return refusal_of_computed(certificate, left, right, facts)


def _refusal_of_point(point: Any, left: Mapping[str, Tensor], right: Mapping[str, Tensor], facts: Facts) -> str:
    """Return why *point* gives no sizes for which both models are valid; an empty text if it does."""
    if not isinstance(point, dict) or point.keys() != facts.dims.keys():
        return "the certificate names no point"
    if not all(type(n) is int and facts.dims[name].allows(n) for name, n in point.items()):
        return "the point is outside of the bounds of the dims"
    try:
        for t in (*left.values(), *right.values()):
            t.bind({name: n for name, n in point.items() if name in t.facts.dims})
    except (ShapeError, InconclusiveError) as error:
        return f"a model is not valid at the point: {str(error).splitlines()[0]}"
    return ""


def assert_same_model(
    before: Values | str | os.PathLike[str], after: Values | str | os.PathLike[str], *, laws: Sequence[str] = ()
) -> None:
    """Raise `AssertionError` unless the models are proved to compute the same; its text says where they part.

    Parameters
    ----------
    before, after : Model, or path
        The two models, or their files.
    laws : sequence of str
        What may be used beyond equality bit for bit: see `prove_equal`.

    Raises
    ------
    AssertionError
        They differ, or it is not decided.
    FormatError
        The models do not have the same inputs and outputs, or a file is no model.
    ShapeError
        As of `verify`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> import symlayout as sl
    >>> x = sl.tensor("N", name="x")
    >>> def model(y):
    ...     return SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={"x": x, "y": y})
    >>> assert_same_model(model(sl.flip(sl.flip(x))), model(x))
    """
    found = verify(before, after, laws=laws)
    if found.verdict is not Verdict.PROVED:
        raise AssertionError(found.explain())


def _read(model: Values | str | os.PathLike[str]) -> Values:
    """Return *model*; what has no values by name is read as the path of a file, or refused as that."""
    from symlayout.models.read_model import read_model

    is_read = not isinstance(model, str | os.PathLike) and hasattr(model, "outputs")
    return cast(Values, model if is_read else read_model(cast(Any, model)))


def _inputs_of_witness(
    before: ShapedValues, joint: JointModels, made: Mapping[int, Tensor], ends: SharedEnds
) -> InputsOfWitness:
    return InputsOfWitness({name: made.get(id(t), t) for name, t in before.inputs.items()}, joint.spare, ends)


@dataclass(frozen=True, slots=True)
class InputsOfWitness:
    """The inputs of the model before by their names there, and those that the model after has alone by theirs."""

    before: Mapping[str, Tensor]
    spare: Mapping[str, Tensor]
    ends: SharedEnds


def _model_witness(
    found: Witness,
    name: str,
    left: Tensor,
    right: Tensor,
    inputs: InputsOfWitness,
    reading: Iterable[Tensor],
) -> ModelWitness | None:
    """Return a witness with the arrays of *inputs*, as far as they are few.

    The values *reading* of that model are valid there; None if no such arrays are found.
    """
    values = {str(symbol): value for symbol, value in found.dims.items()}

    def bound(t: Tensor) -> Tensor:
        return t.bind({n: v for n, v in values.items() if n in t.facts.dims})

    arrays: dict[str, np.ndarray[Any, Any]] = {}
    after: dict[str, np.ndarray[Any, Any]] = {}
    leaves = {key: bound(t) for key, t in inputs.before.items()}
    spare = {key: bound(t) for key, t in inputs.spare.items()}
    spare = {key: t for key, t in spare.items() if _is_small(t)}
    if all(map(_is_small, leaves.values())):
        sides = [bound(t) for t in ((left, right) if found.coord is not None else (left,))]
        names = {name for t in inputs.before.values() for name in t.facts.dims}
        try:
            others = [bound(t) for t in reading if t.facts.dims.keys() <= names]
            drawn, draw = valid_inputs(sides, found.draw, others)
        except (ShapeError, InconclusiveError):
            return None
        arrays, others_after = (
            {k: np.asarray(drawn[t.key] if t.key in drawn else sample(t, draw)) for k, t in side.items()}
            for side in (leaves, spare)
        )
        after = inputs.ends.arrays_after(arrays) | others_after
    return ModelWitness(found.dims, name, found.coord, _value(found.left), _value(found.right), arrays, after)


def _is_small(t: Tensor) -> bool:
    count = product(t.extents)
    return isinstance(count, int) and count <= _MOST_ELEMENTS


_MOST_ELEMENTS = 1 << 22  # of an input that a witness has


def _replay(models: tuple[Values, Values], ends: SharedEnds) -> Replay | None:
    """Return what replays a witness; None if a side is no model of a file."""
    left, right = models
    if not isinstance(left, Model) or not isinstance(right, Model):
        return None
    return Replay((left, right), ends)


def _witness_inside(
    proofs: dict[str, Proof],
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    inputs: InputsOfWitness,
    reading: Collection[Tensor],
    replay: Replay | None,
) -> ModelWitness | None:
    """Return the first witness of *proofs* at which the model before is valid; None if there is none.

    Where a value before has no meaning here, it may be refused.  Then a witness counts if a runtime shows it.  One of
    infinities or NaN, which functions reach on different ways, does not count where a runtime computes the same.  A
    proof with a witness that does not count becomes UNKNOWN.
    """
    witnesses = {n: p.witness for n, p in proofs.items() if p.witness is not None}
    drawn = (_model_witness(w, n, left[n], right[n], inputs, reading) for n, w in witnesses.items())
    meaningless = any(t.body is not None and t.body.function is None for t in reading)

    def counts(w: ModelWitness) -> bool:
        first = witnesses[w.output]
        if not meaningless and (first.is_finite or first.is_special):
            return True
        differ = None if replay is None else replay.differ((w.inputs, w.inputs_after), w.output)
        return bool(differ) if meaningless else differ is not False

    shown = [w for w in drawn if w is not None and counts(w)]
    for name in witnesses.keys() - {w.output for w in shown}:
        known = meaningless or witnesses[name].is_finite
        doubt = f"{'the model before is valid' if known else 'a runtime shows other values'} where they differ"
        proofs[name] = Proof(left[name], right[name], proofs[name].facts, Verdict.UNKNOWN, None, doubt)
    return next(iter(shown), None)


def _when_run(
    runtimes: Replay,
    before: ShapedValues,
    left: dict[str, Tensor],
    right: dict[str, Tensor],
    made: Mapping[int, Tensor],
    facts: Facts,
    reading: Collection[Tensor],
    proofs: dict[str, Proof],
) -> ModelWitness | None:
    """Return where outputs that are not decided differ when both models run, and note that in *proofs*."""
    facts = facts.fork()
    inputs = {}
    for name, _ in runtimes.ends.inputs:
        t = before.inputs[name]
        inputs[name] = made.get(id(t), t)
        facts.merge(inputs[name].facts)
    open_ = {
        name: left[name]
        for name, _ in runtimes.ends.outputs
        if proofs[name].verdict is Verdict.UNKNOWN and not (_is_random(left[name]) or _is_random(right[name]))
    }
    found = TwoRuns(runtimes.models, runtimes.ends, inputs, open_, facts, tuple(reading)).difference()
    if found is None:
        return None
    dims = {symbol_of(facts.dims[name]): value for name, value in found.sizes.items()}
    apart = found.apart
    values = (("value", v) for v in (apart.left, apart.right)) if apart.coord is not None else (apart.left, apart.right)
    witness = Witness(dims, apart.coord, *values)
    proofs[found.output] = Proof(left[found.output], right[found.output], facts, Verdict.REFUTED, witness)
    after = runtimes.ends.arrays_after(found.inputs)
    return ModelWitness(dims, found.output, apart.coord, apart.left, apart.right, found.inputs, after)


def _is_random(t: Tensor) -> bool:
    """Return whether a value is computed by a random operation."""
    return any(node.body is not None and node.body.random for node in t.graph())


def _value(side: Any) -> Any:
    return side[1] if isinstance(side, tuple) and side[:1] == ("value",) else side


def _with_region(
    found: Verification,
    known: tuple[Congruence, Congruence],
    models: tuple[ShapedValues, ShapedValues],
    again: tuple[dict[int, Tensor], dict[int, Tensor]],
    sides: tuple[Mapping[str, Tensor], Mapping[str, Tensor]],
    facts: Facts,
    spare: Mapping[str, Tensor],
) -> Verification:
    """Return what was found with the names of the values at which the models part, and what these are at the witness.

    A pair of outputs stands for values without a name.
    """
    before, after = models
    named = [_names(model.tensors, made) for model, made in zip(models, again, strict=True)]
    ends = (
        {id(t): name for name, t in sides[0].items()},
        {id(again[1].get(id(t), t)): name for name, t in after.outputs.items()},
    )
    outputs = [(sides[0][n], sides[1][n]) for n, p in found.proofs.items() if p.verdict is not Verdict.PROVED]
    search = Frontier((ends[0] | named[0], ends[1] | named[1]), facts, known)
    pairs = [(a, b) for a, b in search.of(outputs) if id(a) in search.names[0] and id(b) in search.names[1]]
    pairs = pairs or outputs[:1]
    frontier = tuple((search.names[0].get(id(a), ""), search.names[1].get(id(b), "")) for a, b in pairs)
    parted = None
    if found.witness is not None:
        arrays = {before.inputs[name].key: array for name, array in found.witness.inputs.items()}
        drawn = found.witness.inputs_after
        arrays |= {t.key: drawn[name] for name, t in spare.items() if name in drawn}
        parted = parted_at(pairs[0], {str(dim): n for dim, n in found.witness.dims.items()}, arrays)
    return replace(found, region=frontier[0], frontier=frontier, parted=parted)


def _names(tensors: Mapping[str, Tensor], made: Mapping[int, Tensor]) -> dict[int, str]:
    """Return the name of each value, by ``id`` of the tensor that is compared.

    A value that is moved on from a computed one has a name of its own; the first name is that of the computed one.
    """
    found: dict[int, str] = {}
    for name, t in tensors.items():
        found.setdefault(id(made.get(id(t), t)), name)
    return found
