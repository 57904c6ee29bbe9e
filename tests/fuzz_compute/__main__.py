"""The command line: ``python -m tests.fuzz_compute --claims 2000``."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

import symlayout as sl
from tests.fuzz_compute.claims import DIMS, SHAPES, built, random_claim
from tests.fuzz_compute.truth import Array, Node, meaning

SIZES = ((1, 1, 1, 1, 1), (2, 1, 1, 2, 2), (1, 2, 2, 1, 1), (2, 2, 1, 1, 2), (3, 1, 3, 2, 1))
DRAWS = 100  # of arrays: two maxima may differ for few of them


def arrays_of(names: list[str], dims: Mapping[Any, int], seed: int) -> dict[str, Array]:
    """Return an array for each leaf; one draw of ten has large elements, whose exponentials overflow."""
    rng = np.random.default_rng(seed)
    scale = 1000 if seed % 10 == 9 else 1
    shapes = {name: [int(n.subs(dims)) if hasattr(n, "subs") else n for n in SHAPES[name]] for name in names}
    return {name: scale * rng.standard_normal(shape) for name, shape in shapes.items()}


def _values(sides: tuple[Node, Node], dims: Mapping[Any, int], seed: int, repeats: bool) -> list[Array] | None:
    """Return what both sides are; None if an expression has no value at these sizes."""
    names = list(dict.fromkeys([*sides[0].leaves(), *sides[1].leaves()]))
    arrays = arrays_of(names, dims, seed)
    try:
        return [meaning(side, arrays, repeats) for side in sides]
    except ValueError:  # shapes that do not fit
        return None


def equal_at(
    sides: tuple[Node, Node], dims: Mapping[Any, int], seed: int, coord: Any = None, repeats: bool = False
) -> bool | None:
    """Return whether both sides are equal at some sizes, or at one coordinate; None if there is no value."""
    made = _values(sides, dims, seed, repeats)
    if made is None:
        return None
    left, right = made
    if left.shape != right.shape:
        return False
    if coord is not None:
        left, right = left[tuple(coord)], right[tuple(coord)]
    return bool(np.allclose(left, right, rtol=1e-9, atol=1e-9, equal_nan=True))


def judged(seed: int) -> tuple[str, str]:
    """Return the outcome of a claim, and a text if the verdict is wrong."""
    left, right, needs_law, is_true = random_claim(seed)
    sides = (left, right)
    text = f"{seed}: {left} == {right}"
    points = [dict(zip(DIMS, sizes, strict=True)) for sizes in SIZES]
    found = [equal_at(sides, dims, k) for k, dims in enumerate(points)]
    if is_true and False in found:
        return "wrong rewrite", f"{text}: the sides differ, so the generator is wrong"
    try:
        a, b = built(left), built(right)
        proof = sl.prove_equal(a, b, laws=("reassociate",) if needs_law else ())
    except sl.ShapeError as error:  # of a mutation that does not fit, or that no sizes fit
        if is_true:
            return "refused", f"{text}: {str(error).splitlines()[0]}"
        return "mutation that does not fit", ""
    if proof.verdict is sl.Verdict.PROVED:
        if False in found:
            return "wrong PROVED", f"{text}: PROVED, and the values differ"
        return f"{'true' if is_true else 'mutated, equal'}: PROVED", ""
    if proof.verdict is sl.Verdict.REFUTED:
        witness = proof.witness
        assert witness is not None
        dims = {d: 1 for d in DIMS} | dict(witness.dims)
        if witness.is_special:  # the sign of a zero, which is not one of these draws
            return "false: REFUTED specially", ""
        same = (equal_at(sides, dims, k, witness.coord, repeats=True) for k in range(DRAWS))
        if False not in same:
            return "wrong REFUTED", f"{text}: REFUTED at {witness.dims}, {witness.coord}, and the values agree"
        return "false: REFUTED", ""
    return f"{'true' if is_true else 'false' if False in found else 'mutated, equal'}: UNKNOWN", ""


def main(arguments: list[str]) -> int:
    """Run the command line; return 1 if a verdict is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_compute")
    parser.add_argument("--claims", type=int, default=2000, help="how many claims (2000)")
    parser.add_argument("--first", type=int, default=0, help="number of the first claim (0)")
    parser.add_argument("--unknown", action="store_true", help="print claims that are not decided")
    options = parser.parse_args(arguments)
    counts: Counter[str] = Counter()
    for seed in range(options.first, options.first + options.claims):
        outcome, text = judged(seed)
        counts[outcome] += 1
        if text:
            print(text, flush=True)
        elif options.unknown and outcome.endswith("UNKNOWN"):
            left, right, *_ = random_claim(seed)
            print(f"{seed}: {outcome}: {left} == {right}", flush=True)
    for what, number in sorted(counts.items()):
        print(f"{number:9} {what}")
    return 1 if any(what.startswith("wrong") for what in counts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
