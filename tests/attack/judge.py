"""Judge what `symlayout.verify` says of two models by what the runtimes compute."""

from __future__ import annotations

import hashlib
import random
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.proof.attempts import DEFAULT_BUDGET
from tests.attack.runtimes import Ran, Sessions, apart, apart_by_laws, has_onnxruntime
from tests.attack.tally import Tally, Wrong
from tests.attack.values import GRANTED, arrays, dims_of, sizes

Array = np.ndarray[Any, Any]

# operators whose results of a few small multiples of 1/4 are exact
_EXACT = {"Abs", "Add", "Concat", "Conv", "CumSum", "Einsum", "Expand", "Flatten", "Gather", "Gemm", "Identity",
          "MatMul", "Max", "Min", "Mul", "Neg", "Pad", "ReduceMax", "ReduceMin", "ReduceSum", "Relu", "Reshape",
          "Shape", "Slice", "Split", "Squeeze", "Sub", "Sum", "Tile", "Transpose", "Unsqueeze"}  # fmt: skip
POINTS = 12  # sizes at which a verdict is judged
SECONDS = 3.0  # that a verdict may take
_FEW = 25  # points that the search for a witness may evaluate: it finds most of those that there are at the first ones
_ALL, _SOME = 0.04, 0.2  # of the claims have the budget that users have, and of those that agree at points have any
_FOLDER = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)


@dataclass(frozen=True, eq=False)
class Point:
    """Sizes of dims, and inputs that have them."""

    at: Mapping[str, int]
    given: Mapping[str, Array]


class Side:
    """One model: its proto, the model that our reader makes of it, and what runtimes compute at points, kept."""

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        self.sessions = Sessions(proto)
        self._ran: dict[tuple[str, Point], Ran] = {}

    def by_onnxruntime(self, point: Point) -> Ran:
        """Return what onnxruntime computes at a point."""
        key = ("onnxruntime", point)
        if key not in self._ran:
            self._ran[key] = self.sessions.by_onnxruntime(point.given)
        return self._ran[key]

    def by_reference(self, point: Point) -> Ran:
        """Return what the reference evaluator computes at a point."""
        key = ("reference", point)
        if key not in self._ran:
            self._ran[key] = self.sessions.by_reference(point.given)
        return self._ran[key]

    @cached_property
    def data(self) -> bytes:
        """The bytes of the file."""
        found: bytes = self.proto.SerializeToString()
        return found

    @cached_property
    def model(self) -> Any:
        """Our model, or the error that says why there is none."""
        path = Path(_FOLDER.name) / "model.onnx"
        path.write_bytes(self.data)
        try:
            return sl.read_model(path)
        except sl.SymlayoutError as error:
            return error


@dataclass(frozen=True)
class Pair:
    """Two models over the same inputs, and what is known of them.

    Attributes
    ----------
    subject : str
        What counts are kept for: an operator.
    kind : str
        How the second model comes from the first.
    base : dict of str to int
        Sizes for which the first model is likely to run.
    data : dict of str to array
        Inputs for these sizes.
    points : sequence of Point
        Where a proof is judged, for many pairs of the same models; none: at points of its own.
    agrees : bool
        Whether the results are the same at these points: then a search for a witness seldom finds one.
    """

    subject: str
    kind: str
    before: Side
    after: Side
    base: Mapping[str, int] = field(default_factory=dict)
    data: Mapping[str, Array] = field(default_factory=dict)
    points: Sequence[Point] = ()
    agrees: bool = False


_asked: set[bytes] = set()  # by this process


def ask(pair: Pair, rnd: random.Random, tally: Tally, laws: tuple[str, ...] = ()) -> Any:
    """Verify a pair, judge the verdict, and note it; return the verification, or None if there is none.

    A claim is asked once in a process.
    """
    rnd = random.Random(rnd.getrandbits(64))  # what follows for other pairs does not depend on this answer
    claim = hashlib.sha256(b"\0".join((pair.before.data, pair.after.data, *map(str.encode, laws)))).digest()
    if claim in _asked:
        tally.note(pair.subject, "asked before")
        return None
    _asked.add(claim)
    before, after = pair.before.model, pair.after.model
    if isinstance(before, Exception) or isinstance(after, Exception):
        tally.note(pair.subject, "not read")
        return None
    drawn = rnd.random()
    budget = DEFAULT_BUDGET if drawn < _ALL else _FEW if drawn < _SOME or not pair.agrees else 0
    try:
        found = sl.verify(before, after, laws=laws, run=False, time_limit=SECONDS, budget=budget)
        if found.witness is not None and not _is_finite(found.witness):  # as it is told by default
            found = sl.verify(before, after, laws=laws, time_limit=SECONDS, budget=budget)
    except sl.SymlayoutError:
        tally.note(pair.subject, "no claim")
        return None
    name = found.verdict.name
    tally.note(pair.subject, name)
    if found.verdict is sl.Verdict.UNKNOWN:
        return found
    judged = judged_proof(pair, found, rnd) if found.verdict is sl.Verdict.PROVED else judged_witness(pair, found, rnd)
    outcome, text = judged
    if outcome in ("wrong", "disputed"):
        versions = "-".join(dict.fromkeys(str(s.proto.opset_import[0].version) for s in (pair.before, pair.after)))
        text = f"{pair.subject}, opset {versions}, {pair.kind}: {outcome}\n{text}\n{found.explain()}\n{described(pair)}"
        kind = _kind(name, outcome, pair, judged[1])
        wrong = Wrong(kind, text, {"before.onnx": pair.before.data, "after.onnx": pair.after.data})
        if outcome == "wrong":
            tally.note_wrong(pair.subject, wrong)
        else:
            tally.note(pair.subject, "disputed")
            tally.keep([wrong])
    elif outcome:
        tally.note(pair.subject, outcome)
    return found


def _kind(verdict: str, outcome: str, pair: Pair, text: str) -> str:
    """Return what is alike in wrong answers: which node refuses, or else the subject and how the pair is made."""
    invalid = re.search(
        r"(before|after) refused \(\w+: \[ONNXRuntimeError\] : \d+ : \w+ : This is an invalid model", text
    )
    if invalid:
        return f"{verdict}-{outcome}-invalid-{invalid[1]}-{pair.subject}-{pair.kind.split()[0]}"
    refused = re.search(r"(before|after) refused .*?while running (\w+) node", text)
    if refused:
        empty = "-empty" if re.search(r"witness at .*?: 0\b", text) else ""
        return f"{verdict}-{outcome}-{refused[1]}-refused-by-{refused[2]}{empty}"
    if pair.kind == "bucket":
        operators = {n.op_type for side in (pair.before, pair.after) for n in side.proto.graph.node} - {"Identity"}
        return f"{verdict}-{outcome}-{'-'.join(sorted(operators))}"
    return f"{verdict}-{outcome}-{pair.subject}-{re.split(' to | beside ', pair.kind)[0]}"


def described(pair: Pair) -> str:
    """Return both models as text."""
    from onnx.printer import to_text

    return f"before: {to_text(pair.before.proto.graph)}\nafter: {to_text(pair.after.proto.graph)}"


def points_of(
    sides: Sequence[Side], base: Mapping[str, int], data: Mapping[str, Array], rnd: random.Random
) -> list[Point]:
    """Return points at which models over the same inputs are judged: see `sizes` and `arrays`."""
    proto, *others = [side.proto for side in sides]
    drawn = sizes(proto, base, rnd, POINTS if dims_of(proto) else 4)
    return [Point(at, arrays(proto, at, rnd, data, others=others)) for at in drawn]


def judged_proof(pair: Pair, found: Any, rnd: random.Random) -> tuple[str, str]:
    """Return the outcome of a PROVED, and a text: at points, wherever the model before runs."""
    exact = found.laws == ("reassociate",) and not found.formulas and _is_exact(pair)
    loose = bool(found.laws or found.formulas) and not exact
    points = pair.points or points_of((pair.before, pair.after), pair.base, pair.data, rnd)
    if exact:
        points = [Point(p.at, arrays(pair.before.proto, p.at, rnd, manner="small")) for p in points]
    seen, worst, disputed = 0, "", ("", "")
    for point in points:
        if (outcome := _at(pair, point, loose, seen, _meets(found.requires, point.at))) is None:
            continue
        seen += 1
        what, text = outcome
        if what in ("wrong", "disputed"):
            if _left_out(found, point.at):
                continue
            answer = what, f"at {point.at}, {_shown(point.given)}: {text}"
            if what == "wrong":
                return answer
            disputed = disputed if disputed[0] else answer
            continue
        worst = what if what == "either zero" or not worst else worst
    if disputed[0]:
        return disputed
    return (worst, "") if seen else ("not judged", "")


def _is_exact(pair: Pair) -> bool:
    """Return whether small numbers have exact results: then a sum is the same in any order."""
    return all(n.op_type in _EXACT for side in (pair.before, pair.after) for n in side.proto.graph.node)


def _left_out(found: Any, at: Mapping[str, int]) -> bool:
    """Return whether the verdict says that it is not about these sizes."""
    return any(isinstance(relation, str) for relation in found.assumed) or not _meets(found.assumed, at)


def _meets(relations: Any, at: Mapping[str, int]) -> bool:
    """Return whether sizes meet relations in dims."""
    for relation in relations:
        known = {s: at[s.name] for s in relation.free_symbols if s.name in at}
        try:
            if str(relation.subs(known)) != "True":
                return False
        except ZeroDivisionError:  # nothing is a multiple of 0
            return False
    return True


def _at(pair: Pair, point: Point, loose: bool, seen: int, inside: bool) -> tuple[str, str] | None:
    """Return the outcome at one point; None if no judge runs the model before.

    The reference evaluator takes much that the standard refuses.  Its word counts *inside* the domain that is stated.
    """
    if has_onnxruntime():
        a = pair.before.by_onnxruntime(point)
        if a.arrays is not None:
            b = pair.after.by_onnxruntime(point)
            if b.lacks:
                return None
            how = _difference(a, b, loose)
            if not how or how == "rounding":
                return how, ""
            outcome, text = _second(pair, point, loose, f"onnxruntime: {how}", a, b)
            x = pair.before.by_reference(point)
            if outcome == "wrong" and not inside and x.arrays is None and not x.lacks:
                return "disputed", text  # outside of the stated domain, where the reference evaluator refuses, too
            return outcome, text
        if not a.lacks:
            return None
    if not inside or (not has_onnxruntime() and seen > 3):
        return None
    a = pair.before.by_reference(point)
    if a.arrays is None:
        return None
    b = pair.after.by_reference(point)
    how = _difference(a, b, loose)
    if how in ("", "rounding"):
        return how, ""
    # the reference evaluator alone is a weak judge: it lacks what it should refuse
    return ("" if how.startswith("refused") or b.lacks else "wrong"), f"reference: {how}; {_both(a, b)}"


def _difference(a: Ran, b: Ran, loose: bool) -> str:
    assert a.arrays is not None
    if b.arrays is None:
        return f"refused after ({b.refusal[:200]})"
    return apart_by_laws(a.arrays, b.arrays) if loose else apart(a.arrays, b.arrays)


def _second(pair: Pair, point: Point, loose: bool, first: str, a: Ran, b: Ran) -> tuple[str, str]:
    """Return the outcome where onnxruntime finds a difference: what the reference evaluator says counts too."""
    if apart_from_itself(pair.before, point.given, a):
        return "random", ""
    if _agree_with_ordered_zeros(pair, point, loose):
        return "either zero", ""
    x, y = pair.before.by_reference(point), pair.after.by_reference(point)
    text = f"{first}; {_both(a, b)}"
    if op := _agree_without(pair, point, loose):
        return "disputed", f"{text}; they are equal without {_DEPARTS[op][0]}"
    if _has_no_steps(pair, point):
        return "disputed", f"{text}; onnxruntime sets no last states of a recurrent layer without steps"
    if _has_many_limits(pair, point):
        return "disputed", f"{text}; a limit of NonMaxSuppression is a scalar, and runtimes take the first of several"
    if x.arrays is None or (y.arrays is None and y.lacks):
        return "wrong", f"{text}; the reference evaluator does not judge: {(x.refusal or y.refusal)[:100]}"
    how = _difference(x, y, loose)
    if how in ("", "rounding"):
        return "disputed", f"{text}; the reference evaluator: equal, {_text(x)}"
    return "wrong", f"{text}; the reference evaluator: {how}, {_both(x, y)}"


def _is_minus_0(a: Array) -> Array:
    return np.asarray((a == 0) & np.signbit(a))


def _is_no_maximum(a: Array) -> Array:
    """Return where an element is NaN, negative infinity or -0.0, of which kernels make other maxima."""
    return np.asarray(np.isnan(a) | np.isneginf(a) | _is_minus_0(a))


_LAYERS = ("RNN", "GRU", "LSTM")
_LIMITED = "NonMaxSuppression"

_DEPARTS: dict[str, tuple[str, Callable[[Array], Array], float]] = {
    "MaxPool": ("NaN, -inf and -0.0, of which onnxruntime's kernels of MaxPool differ", _is_no_maximum, 1.0),
    "AveragePool": ("-0.0, of which one of onnxruntime's kernels of AveragePool makes 0.0", _is_minus_0, 0.0),
    "Where": ("-0.0, of which onnxruntime's Where makes 0.0", _is_minus_0, 0.0),
}  # what departs, at which elements, and what stands in their place


def _agree_with_ordered_zeros(pair: Pair, point: Point, loose: bool) -> bool:
    """Return whether Max and Min differ, and nothing else: the standard does not say which of two zeros they give."""
    sides = pair.before, pair.after
    if not any(n.op_type in ("Max", "Min") for side in sides for n in side.proto.graph.node):
        return False
    x, y = (side.sessions.with_ordered_zeros(point.given) for side in sides)
    return x.arrays is not None and y.arrays is not None and _difference(x, y, loose) in ("", "rounding")


def _agree_without(pair: Pair, point: Point, loose: bool) -> str:
    """Return the operator of onnxruntime that departs from the standard, by elements without which nothing differs."""
    sides = pair.before, pair.after
    ops = {n.op_type for side in sides for n in side.proto.graph.node}
    for op, (_, where, instead) in _DEPARTS.items():
        floats = {name: a for name, a in point.given.items() if a.dtype.kind == "f"}
        other = {name: np.where(where(a), a.dtype.type(instead), a) for name, a in floats.items()}
        if op not in ops or not any(where(a).any() for a in floats.values()):
            continue
        x, y = (side.sessions.by_onnxruntime({**point.given, **other}) for side in sides)
        if x.arrays is not None and _difference(x, y, loose) in ("", "rounding"):
            return op
    return "Where" if "Where" in ops and _agree_but_for_zeros(pair, point, loose) else ""


def _has_no_steps(pair: Pair, point: Point) -> bool:
    """Return whether an input is an empty sequence of a recurrent layer: its last states are memory as it was."""
    nodes = [n for side in (pair.before, pair.after) for n in side.proto.graph.node if n.op_type in _LAYERS]
    return any(n.input[0] in point.given and 0 in point.given[n.input[0]].shape[:2] for n in nodes)


def _has_many_limits(pair: Pair, point: Point) -> bool:
    """Return whether a limit of NonMaxSuppression, by the standard a scalar, is an input of several numbers."""
    nodes = [n for side in (pair.before, pair.after) for n in side.proto.graph.node if n.op_type == _LIMITED]
    return any(point.given[name].size > 1 for n in nodes for name in n.input[2:] if name in point.given)


def _agree_but_for_zeros(pair: Pair, point: Point, loose: bool) -> bool:
    """Return whether onnxruntime's results are equal if all zeros have one sign."""
    ran = [side.sessions.by_onnxruntime(point.given) for side in (pair.before, pair.after)]
    if any(each.arrays is None for each in ran):
        return False
    x, y = (replace(each, arrays=[a + 0 if a.dtype.kind == "f" else a for a in each.arrays or ()]) for each in ran)
    return _difference(x, y, loose) in ("", "rounding")


def apart_from_itself(side: Side, given: Mapping[str, Array], a: Ran) -> bool:
    """Return whether a second run computes something else."""
    again = side.sessions.by_onnxruntime(given)
    return again.arrays is None or a.arrays is None or apart(a.arrays, again.arrays) not in ("", "rounding")


def _is_finite(witness: Any) -> bool:
    return not any(isinstance(v, float | complex) and not np.isfinite(v) for v in (witness.left, witness.right))


def judged_witness(pair: Pair, found: Any, rnd: random.Random) -> tuple[str, str]:
    """Return the outcome of a REFUTED, and a text: the witness is replayed."""
    witness = found.witness
    if witness is None:
        return "wrong", "REFUTED without a witness"
    at = {str(symbol): value for symbol, value in witness.dims.items()}
    names = dims_of(pair.before.proto)
    if any(n not in at for n in names):
        at = {**dict.fromkeys(names, 1), **at}
    texts, verdicts = [], []
    for k in range(1 if witness.inputs else 3):
        given = arrays(pair.before.proto, at, rnd, pair.data) | {
            name: np.asarray(array) for name, array in witness.inputs.items()
        }
        if k == 0 and not witness.inputs:
            given = arrays(pair.before.proto, at, random.Random(1), pair.data)
        verdict, text = _replayed(pair, given, str(witness.right).startswith("refused"))
        if verdict == "":
            return "", ""
        verdicts.append(verdict)
        texts.append(f"{_shown(given)}: {text}")
    outcome = min(verdicts, key=("disputed", "not judged", "wrong").index)
    return outcome, f"witness at {at}: {texts[verdicts.index(outcome)]}"


def _replayed(pair: Pair, given: Mapping[str, Array], refused: bool) -> tuple[str, str]:
    """Return "" if a runtime shows the difference that the witness states, else the outcome and a text."""
    sides = pair.before.sessions, pair.after.sessions
    if has_onnxruntime():
        a, b = (s.by_onnxruntime(given) for s in sides)
        if (ours := _outcome(a, b)) == "differ":
            return "", ""
    x, y = (s.by_reference(given) for s in sides)
    theirs = _outcome(x, y)
    if not has_onnxruntime():
        if theirs == "equal" and not refused:  # it lacks what it should refuse
            return "wrong", f"equal: {_text(x)}"
        return "" if theirs == "differ" else "not judged", ""
    text = f"onnxruntime {ours}: {_both(a, b)}; reference {theirs}: {_both(x, y)}"
    if "INVALID_GRAPH : This is an invalid model. Type Error" in a.refusal:
        return "not judged", text  # it is no model: an element type is none that the operator takes
    if ours == "equal" and theirs == "lacks" and a.arrays and x.arrays and apart(a.arrays, x.arrays) == "value":
        return "disputed", text  # the runtimes do not agree on the model before
    if ours in ("equal", "outside"):
        return ("disputed" if theirs == "differ" else "wrong"), text
    if theirs == "equal" and not refused:  # it has the meaning of the last version only for some operators
        return "disputed", text
    return ("" if theirs == "differ" else "not judged"), text


def _outcome(a: Ran, b: Ran) -> str:
    if a.arrays is None:
        return "lacks" if a.lacks else "outside"
    if b.arrays is None:
        return "lacks" if b.lacks else "differ"
    how = apart(a.arrays, b.arrays)
    return "equal" if how == "" else "differ"


def _both(a: Ran, b: Ran) -> str:
    return f"before {_text(a)} | after {_text(b)}"


def _text(ran: Ran) -> str:
    if ran.arrays is None:
        return f"refused ({' '.join(ran.refusal.split())[:160]})"
    return ", ".join(
        f"{a.dtype}{list(a.shape)} {np.array2string(a.ravel()[:12], max_line_width=200)}" for a in ran.arrays
    )


def _shown(given: Mapping[str, Array]) -> str:
    return "; ".join(
        f"{name} {a.dtype}{list(a.shape)} {np.array2string(a.ravel()[:12], max_line_width=200)}"
        for name, a in given.items()
    )


def drawn_laws(rnd: random.Random) -> tuple[str, ...]:
    """Return the laws to grant: mostly none, one, or all."""
    return rnd.choice(((), (), (), (), (rnd.choice(GRANTED),), GRANTED))
