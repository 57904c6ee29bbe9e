"""Pairs of small models by operator, version, attribute and law: a random node, and the same changed in one place.

python -m tests.attack.pairs --seconds 60 --seed 0
"""

from __future__ import annotations

import random
from collections.abc import Callable

import symlayout as sl
from tests.attack.bases import Base, drawn_base
from tests.attack.certificates import attack_certificate
from tests.attack.judge import Pair, Side, ask, drawn_laws
from tests.attack.mutations import mutated
from tests.attack.runner import main_of
from tests.attack.spellings import dead, for_shape, spelled
from tests.attack.tally import Tally

PER_BASE = 8  # variants of one model


def attack(seed: int, tally: Tally) -> None:
    """Make a base, and ask about it beside each of its variants, both ways."""
    attack_base(drawn_base, seed, tally)


def attack_base(draw: Callable[[random.Random], Base], seed: int, tally: Tally) -> None:
    """Make variants of the base that *draw* gives, and judge what is said of each beside the base, both ways."""
    rnd = random.Random(seed)
    base = draw(rnd)
    if rnd.random() < 0.15:
        base = Base(base.subject, for_shape(base.proto), base.data, base.sizes)
    side = Side(base.proto)
    first = side.sessions.by_onnxruntime(base.data)
    if first.arrays is None:
        first = side.sessions.by_reference(base.data)
    if first.arrays is None:
        tally.note(base.subject, "base refused")
        return
    ranks = {name: a.ndim for name, a in base.data.items()} | {base.proto.graph.output[0].name: first.arrays[0].ndim}
    proved: list[tuple[Pair, sl.Verification]] = []
    refuted: list[Pair] = []
    for _ in range(PER_BASE):
        draws = rnd.random()
        found = (
            mutated(base, rnd)
            if draws < 0.6
            else spelled(base.proto, ranks, rnd)
            if draws < 0.85
            else dead(base.proto, ranks, rnd)
        )
        if found is None:
            continue
        kind, proto = found
        pair = Pair(base.subject, kind, side, Side(proto), base.sizes, base.data)
        laws = drawn_laws(rnd)
        for one in (pair, pair.reversed()):
            verdict = ask(one, rnd, tally, laws)
            if verdict is not None and verdict.verdict is sl.Verdict.PROVED:
                proved.append((one, verdict))
            elif verdict is not None and verdict.verdict is sl.Verdict.REFUTED:
                refuted.append(one)
    if proved and rnd.random() < 0.3:
        attack_certificate(*rnd.choice(proved), refuted, rnd, tally)


if __name__ == "__main__":
    main_of("pairs", attack, __doc__)
