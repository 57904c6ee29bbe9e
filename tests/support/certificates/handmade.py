"""Claims and proofs made by hand, for the checker's tests.

What a rule needs, a claim of this kind assumes, so that it can be left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from symlayout.algebra.polynomial import Poly, symbol
from symlayout.proof.certificate.checker import Context, encode, refusal, seal

X, Y, Z, N, U, W = map(symbol, "xyznuw")  # dims, and w, which is none
I0, M, Q, T = map(symbol, ("#0", "m", "q", "t"))
CHECKER = sys.modules["symlayout.check"]  # the name in the package is the function
NO_CERTIFICATE = "this is no certificate: "
NOT_TRUSTED = "it is not taken for granted that this case reads inside its source"
OPEN = "the block ends in 'absurd', which is not shown"  # what is said of a block whose steps are all accepted


def data(value: Any) -> Any:
    """Return a value with the polynomials in it as data."""
    if isinstance(value, Poly):
        return encode(value)
    if isinstance(value, dict):
        return {key: data(item) for key, item in value.items()}
    return [data(item) for item in value] if isinstance(value, list | tuple) else value


def case(*coords: Any, where: Sequence[Any] = (), fill: Any = None, source: int = 0) -> dict[str, Any]:
    return {"source": source, "where": list(where), "coords": list(coords), "fill": fill}


def node(shape: Sequence[Any], *cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    return {"op": "an operation", "inputs": list(inputs), "shape": list(shape), "cases": list(cases)}


def claim(*nodes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the claim that the last two nodes are equal; the first is the input ``x[n]``."""
    every = [{"input": "x", "shape": [N]}, *nodes]
    dims = [["x", 0, None, 1], ["y", 2, 9, 1], ["z", -3, None, 1], ["n", 0, None, 1], ["u", -9, None, 1]]
    sides = {"left": max(len(every) - 2, 0), "right": len(every) - 1}
    about = {"dims": dims, "symbols": [], "assumptions": [], "nodes": every, **sides, "trusted": False}
    found: dict[str, Any] = data(about | changes)
    return found


def said(block: Any, about: Any) -> str:
    """Return why a proof of a claim is refused."""
    certificate = {"claim": about, "proof": data(block)}
    return refusal(json.loads(json.dumps({**certificate, "seal": seal(certificate)})))


def all_of(about: dict[str, Any]) -> list[Any]:
    """Return the steps that take up the dims and assumptions of a claim."""
    dims = [["dim", name] for name, *_ in about["dims"]]
    return dims + [["assume", number] for number in range(len(about["assumptions"]))]


def steps_said(*steps: Any, about: dict[str, Any] | None = None) -> str:
    """Return why steps are refused, or `OPEN`."""
    about = about or claim()
    return said({"steps": [*all_of(about), *steps], "absurd": []}, about)


def known(*steps: Any, about: dict[str, Any] | None = None) -> Context:
    """Return what is known after steps."""
    about = about or claim()
    context = Context(about)
    for step in data([*all_of(about), *steps]):
        context.step(step)
    return context


def reader(*cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    """Return an operation whose output has one element."""
    return node([1], *cases, inputs=inputs)


def at(*coords: Any, **given: Any) -> dict[str, Any]:
    """Return a case that reads at a coordinate that is the same everywhere."""
    return case(*(["extent", c] for c in coords), **given)


def agreement(left: Any, right: Any, about: dict[str, Any], *steps: Any) -> str:
    """Return why it is refused that both sides read the same by these paths."""
    return said({"steps": [*all_of(about), ["point"], *steps], "agree": [left, right]}, about)
