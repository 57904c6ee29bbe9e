"""Certificates: each is accepted for its pair, and refused for another one and wherever an edit makes it false.

python -m tests.attack.certificates --seconds 60 --seed 0
"""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import symlayout as sl
from tests.attack.judge import Pair, described
from tests.attack.tally import Tally, Wrong

EDITS = 6  # of a certificate that is tried for a pair that differs
OTHERS = 5  # pairs that differ
SUBJECT = "certificates"


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
