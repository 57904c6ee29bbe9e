"""Many claims about few models over the same inputs: those that agree at points, and those that differ.

The certificate of a proof is accepted for its pair, and refused for another one and wherever an edit makes it false.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

import symlayout as sl
from tests.attack.judge import Pair, Point, Side, ask, described, drawn_laws
from tests.attack.runtimes import has_onnxruntime
from tests.attack.tally import Tally, Wrong

Sides = list[tuple[Side, Side]]
OPEN = 2  # claims about one model that may be open before no more are asked
EDITS = 6  # of a certificate that is tried for a pair that differs
OTHERS = 5  # pairs that differ
SUBJECT = "certificates"


def paired(sides: Sequence[Side], points: Sequence[Point], rnd: random.Random) -> tuple[Sides, Sides]:
    """Return pairs whose results agree at all points, in both directions, and pairs that differ, in a drawn order.

    Of those that differ, every second one agrees at some point.  A pair of which a side runs nowhere is left out.
    """
    groups: dict[tuple[Any, ...], list[Side]] = {}
    for side in sides:
        key = tuple(_result(side, point) for point in points)
        if any(k is not None for k in key):
            groups.setdefault(key, []).append(side)
    agreeing = [pair for group in groups.values() for pair in itertools.permutations(group, 2)]
    near: Sides = []
    far: Sides = []
    for (key, group), (other, others) in itertools.permutations(groups.items(), 2):
        alike = any(a == b and a is not None for a, b in zip(key, other, strict=True))
        (near if alike else far).extend(itertools.product(group, others))
    for some in (agreeing, near, far):
        rnd.shuffle(some)
    count = min(len(near), len(far))
    mixed = [pair for two in zip(near, far, strict=False) for pair in two]
    return agreeing, mixed + near[count:] + far[count:]


class Answers:
    """The answers about pairs of a few models: those that are proved and refuted, for certificates."""

    def __init__(self) -> None:
        self.proved: list[tuple[Pair, sl.Verification]] = []
        self.refuted: list[Pair] = []
        self._open: Counter[Side] = Counter()

    def ask(self, pair: Pair, rnd: random.Random, tally: Tally) -> None:
        """Ask about a pair (see `judge.ask`), unless claims about one of its models were open twice: others will be."""
        if max(self._open[pair.before], self._open[pair.after]) >= OPEN:
            return
        found = ask(pair, rnd, tally, drawn_laws(rnd))
        if found is None:
            return
        if found.verdict is sl.Verdict.PROVED:
            self.proved.append((pair, found))
        elif found.verdict is sl.Verdict.REFUTED:
            self.refuted.append(pair)
        else:
            self._open.update((pair.before, pair.after))

    def attack_certificate(self, rnd: random.Random, tally: Tally) -> None:
        """Attack the certificate of one proof, now and then."""
        if self.proved and rnd.random() < 0.3:
            attack_certificate(*rnd.choice(self.proved), self.refuted, rnd, tally)


def _result(side: Side, point: Point) -> Any:
    """Return what tells results apart: None for a refusal."""
    made = (side.by_onnxruntime if has_onnxruntime() else side.by_reference)(point).arrays
    return None if made is None else tuple((a.dtype.name, a.shape, _bits(a)) for a in made)


def _bits(a: np.ndarray[Any, Any]) -> Any:
    """Return the elements, whose NaN are one."""
    if a.dtype.kind in "USO":
        return tuple(a.ravel().tolist())
    if a.dtype.kind not in "fc":
        return a.tobytes()
    return np.where(np.isnan(a), a.dtype.type("nan"), a).tobytes()


def attack_certificate(pair: Pair, found: Any, refuted: list[Pair], rnd: random.Random, tally: Tally) -> None:
    """Check the certificate of a PROVED for its pair, and, edited too, for pairs of the same base that differ."""
    try:
        shown = found.certificate
    except sl.InconclusiveError:
        tally.note(SUBJECT, "without certificate")
        return
    shown = json.loads(json.dumps(shown))
    if _accepts(shown, pair):
        tally.note(SUBJECT, "accepted")
    else:
        files = {"before.onnx": pair.before.data, "after.onnx": pair.after.data, "certificate.json": _text(shown)}
        text = f"the certificate of a PROVED is refused for its own pair\n{found.explain()}\n{described(pair)}"
        tally.note_wrong(SUBJECT, Wrong(f"certificate-refused-{pair.subject}-{pair.kind}", text, files))
    for other in rnd.sample(refuted, min(OTHERS, len(refuted))):
        for certificate in (shown, *(_edited(shown, rnd) for _ in range(EDITS))):
            if _accepts(certificate, other):
                files = {"before.onnx": other.before.data, "after.onnx": other.after.data,
                         "certificate.json": _text(certificate)}  # fmt: skip
                text = f"a certificate is accepted for a pair that differs\n{described(other)}"
                tally.note_wrong(SUBJECT, Wrong(f"certificate-accepted-{other.subject}-{other.kind}", text, files))
            else:
                tally.note(SUBJECT, "refused for another pair")


def _accepts(certificate: Any, pair: Pair) -> bool:
    try:
        return bool(sl.check(certificate, before=pair.before.model, after=pair.after.model))
    except sl.SymlayoutError:
        return False


def _text(certificate: Any) -> bytes:
    return json.dumps(certificate, indent=1).encode()


def _edited(certificate: Any, rnd: random.Random) -> Any:
    """Return the certificate with a change in a random place."""
    made = copy.deepcopy(certificate)
    places = list(_places(made))
    holder, key = rnd.choice(places)
    old = holder[key]
    if isinstance(old, bool):
        holder[key] = not old
    elif isinstance(old, int):
        holder[key] = old + rnd.choice((-1, 1, 2))
    elif isinstance(old, str):
        other = rnd.choice(places)
        holder[key] = rnd.choice(("", f"{old}+1", other[0][other[1]] if isinstance(other[0][other[1]], str) else "0"))
    elif isinstance(old, list):
        holder[key] = rnd.choice(([], old[:-1], old[::-1], old + old))
    elif isinstance(old, dict):
        holder[key] = {}
    else:
        holder[key] = 0
    return made


def _places(value: Any) -> Any:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from _places(item)
