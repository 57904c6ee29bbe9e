"""Pairs of small models by operator, version, attribute and law: a random node, and the same changed in one place.

python -m tests.attack.pairs --seconds 60 --seed 0
"""

from __future__ import annotations

import random
from collections.abc import Callable

from onnx import ModelProto

from tests.attack.bases import Base, drawn_base, version_of
from tests.attack.claims import Answers, paired
from tests.attack.judge import Pair, Side, points_of
from tests.attack.mutations import mutated
from tests.attack.one_nodes import FIRST
from tests.attack.runner import main_of
from tests.attack.spellings import dead, for_shape, spelled
from tests.attack.tally import Tally

PER_BASE = 10  # variants of one model
MORE = 20  # pairs of variants that agree, and as many that differ


def attack(seed: int, tally: Tally) -> None:
    """Make a base, and ask about it beside each of its variants, both ways."""
    attack_base(drawn_base, seed, tally)


def attack_base(draw: Callable[[random.Random], Base], seed: int, tally: Tally) -> None:
    """Make variants of the base that *draw* gives, and judge what is said of each beside the base and beside others."""
    rnd = random.Random(seed)
    base = draw(rnd)
    if version_of(base.proto) < FIRST:
        tally.note(base.subject, "before opset 7")
        return
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
    kinds = {side: ""}
    for kind, proto in filter(None, (_variant(base, ranks, rnd) for _ in range(PER_BASE))):
        variant = Side(proto)
        if all(variant.data != other.data for other in kinds):
            kinds[variant] = kind
    points = points_of([*kinds], base.sizes, base.data, rnd)
    agreeing, differing = paired([*kinds], points, rnd)
    asked = [pair for one in kinds if one is not side for pair in ((side, one), (one, side))]
    more = [[pair for pair in pairs if side not in pair][:MORE] for pairs in (agreeing, differing)]
    agree = set(agreeing)
    answers = Answers()
    for before, after in (*asked, *more[0], *more[1]):
        kind = " beside ".join(filter(None, (kinds[before], kinds[after])))
        agrees = (before, after) in agree
        answers.ask(Pair(base.subject, kind, before, after, base.sizes, base.data, points, agrees), rnd, tally)
    answers.attack_certificate(rnd, tally)


def _variant(base: Base, ranks: dict[str, int], rnd: random.Random) -> tuple[str, ModelProto] | None:
    draws = rnd.random()
    if draws < 0.6:
        return mutated(base, rnd)
    return spelled(base.proto, ranks, rnd) if draws < 0.85 else dead(base.proto, ranks, rnd)


if __name__ == "__main__":
    main_of("pairs", attack, __doc__)
