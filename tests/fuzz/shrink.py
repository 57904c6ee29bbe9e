"""Make a failure smaller, and print it as something to type."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from tests.fuzz.chains import Chain, Drawn, at_points
from tests.fuzz.judge import Plan, filled, judge
from tests.fuzz_prove.shrink import typed_dim, typed_input, typed_steps

SECONDS = 20.0


def smallest(drawn: Drawn, how: Plan, seed: int, seconds: float = SECONDS) -> tuple[Drawn, Plan, str]:
    """Return the smallest chain and plan that fail in the same way, of those that there was time for, and how."""
    end = time.monotonic() + seconds
    failure = judge(drawn, how, seed).failure
    again = True
    while again:
        again = False
        for smaller, plan in _smaller(drawn, how):
            if time.monotonic() > end:
                break
            found = judge(smaller, plan, seed).failure
            if _kind(found) == _kind(failure):
                drawn, how, failure, again = smaller, plan, found, True
                break
    return drawn, how, failure


def _kind(failure: str) -> str:
    return " ".join(failure.split()[:4])


def _smaller(drawn: Drawn, how: Plan) -> Iterator[tuple[Drawn, Plan]]:
    """Yield chains and plans that are a little smaller."""
    chain, points = drawn.chain, drawn.points
    for k in range(len(chain.links)):
        fewer = replace(chain, links=(*chain.links[:k], *chain.links[k + 1 :]))
        names = fewer.names()
        every = [{name: p[name] for name in names} for p in (*drawn.without, *(p for p, _ in points))]
        try:
            yield at_points(fewer, every), replace(how, fixed={})
        except Exception:  # a step that is left has no sense without the one that is gone
            continue
    if how.fixed or how.declared:
        yield drawn, replace(how, fixed={}, declared="")
    if len(how.dtypes) > 1:
        for dtype in how.dtypes:
            yield drawn, replace(how, dtypes=(dtype,))
    if len(points) > 2:
        for half in (points[: len(points) // 2], points[len(points) // 2 :]):
            yield Drawn(chain, half, drawn.without), how
    if drawn.without:
        yield Drawn(chain, points, []), how
    if len(drawn.without) > 1:
        yield Drawn(chain, points[:1], drawn.without[:1]), how


def typed(chain: Chain) -> str:
    """Return a chain as code."""
    inputs = [typed_input(shape, name) for name, shape in chain.inputs().items()]
    steps = [filled(link.said, chain.fill) for link in chain.links]
    needs = ["from numpy import inf, nan"] if chain.fill not in (1, 5, 2.5, 0) else []
    return "\n".join([*needs, *map(typed_dim, chain.used()), *inputs, f"y = {typed_steps('x0', steps)}"])
