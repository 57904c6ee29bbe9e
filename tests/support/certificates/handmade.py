"""Claims and proofs made by hand, for the checker's tests.

What a rule needs, a claim of this kind assumes, so that it can be left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from symlayout.algebra.polynomial import Extent, Poly, collapse, encode, symbol, terms_of
from symlayout.proof.certificate.checker import refusal, seal
from symlayout.proof.certificate.checker.blocks import take
from symlayout.proof.certificate.checker.known import Known
from symlayout.proof.certificate.checker.polynomials import Polynomial, Work, written

X, Y, Z, N, U, W = map(symbol, "xyznuw")  # dims, and w, which is none
I0, M, Q, T = map(symbol, ("#0", "m", "q", "t"))
SUPPOSED = "this case is not assumed to read inside its source"
OPEN = "a block ends as absurd, but no known fact is false"  # of a block whose steps are all accepted


def data(value: Any) -> Any:
    """Return a value with the polynomials in it as data."""
    if isinstance(value, Poly):
        return encode(value)
    if isinstance(value, dict):
        return {key: data(item) for key, item in value.items()}
    return [data(item) for item in value] if isinstance(value, list | tuple) else value


def text(e: Extent) -> str:
    """Return a polynomial as the checker writes it."""
    return written(terms_of(e))


def case(*coords: Any, where: Sequence[Any] = (), fill: Any = None, source: int = 0) -> dict[str, Any]:
    return {"source": source, "where": list(where), "coords": list(coords), "fill": fill}


def node(shape: Sequence[Any], *cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    return {"op": "an operation", "inputs": list(inputs), "shape": list(shape), "cases": list(cases)}


def claim(*nodes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the claim that the last two nodes are equal; the first is the input ``x[n]``."""
    every = [{"input": "x", "shape": [N]}, *nodes]
    dims = [["x", 0, None, 1], ["y", 2, 9, 1], ["z", -3, None, 1], ["n", 0, None, 1], ["u", -9, None, 1]]
    sides = {"left": max(len(every) - 2, 0), "right": len(every) - 1}
    about = {"dims": dims, "symbols": [], "assumptions": [], "nodes": every, **sides}
    found: dict[str, Any] = data(about | changes)
    return found


def given(about: dict[str, Any]) -> list[Any]:
    """Return the steps that take up the dims and assumptions of a claim."""
    dims = [["dim", name] for name, *_ in about["dims"]]
    return dims + [["assume", number] for number in range(len(about["assumptions"]))]


def maps(about: dict[str, Any]) -> list[Any]:
    """Return the proofs that the operations of a claim are maps, where each has one case and reads inside."""
    return [{"steps": [["point"]], "case": [0, []]} for node in about["nodes"] if "cases" in node]


def sealed(about: Any, proof: Any) -> dict[str, Any]:
    """Return a certificate of data, with its seal."""
    certificate: dict[str, Any] = json.loads(json.dumps({"claim": about, "proof": data(proof)}))
    return {**certificate, "seal": seal(certificate)}


def said(sides: Any, about: Any, *, start: Sequence[Any] = (), shown: Sequence[Any] | None = None) -> str:
    """Return why a proof of a claim is refused; *start* follows its dims and assumptions, *shown* is of its maps."""
    proof = {"given": [*given(about), *start], "maps": maps(about) if shown is None else shown, "sides": sides}
    return refusal(sealed(about, proof))


def steps_said(*steps: Any, about: dict[str, Any] | None = None) -> str:
    """Return why steps are refused, or `OPEN`; those up to the last meaning of a symbol are about the claim."""
    about = about or claim()
    first = max((k + 1 for k, step in enumerate(steps) if step and step[0] == "mean"), default=0)
    return said({"steps": list(steps[first:]), "absurd": []}, about, start=steps[:first])


def known(*steps: Any, about: dict[str, Any] | None = None) -> SimpleNamespace:
    """Return what is known after steps, in the prover's polynomials."""
    about = about or claim()
    found = Known(about, Work(sys.maxsize))
    for step in data([*given(about), *steps]):
        take(found, step)
    return SimpleNamespace(
        known=found,
        nonnegative={extent(e) for e in found.nonnegative},
        zero={extent(e) for e in found.zero},
        symbols=found.symbols,
        solved={name: extent(e) for name, e in found.solved.items()},
        rewrites=[(times, m, extent(e)) for times, m, e in found.rewrites],
        maxima={name: extent(e) for name, e in found.maxima.items()},
        meaning={name: extent(e) for name, e in found.meaning.items()},
        floors={(extent(e), extent(k)): extent(q) for (e, k), q in found.floors.items()},
        read=lambda value: extent(found.read(data(value))),
    )


def extent(e: Polynomial) -> Extent:
    """Return a polynomial of the checker as one of the prover."""
    return collapse(e.terms)


def reader(*cases: dict[str, Any], inputs: Sequence[int] = (0,)) -> dict[str, Any]:
    """Return an operation whose output has one element."""
    return node([1], *cases, inputs=inputs)


def at(*coords: Any, **given: Any) -> dict[str, Any]:
    """Return a case that reads at a coordinate that is the same everywhere."""
    return case(*(["extent", c] for c in coords), **given)


def agreement(left: Any, right: Any, about: dict[str, Any], *steps: Any, shown: Sequence[Any] | None = None) -> str:
    """Return why it is refused that both sides read the same by these paths."""
    return said({"steps": [["point"], *steps], "agree": [left, right]}, about, shown=shown)
