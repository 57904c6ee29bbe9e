"""Alter certificates and see that the checker shows nothing false: ``python -m tests.fuzz_check --cases 100000``.

One to four places of a claim and its proof are altered and the seal is made again.  What the checker then accepts,
step by step and as a whole, has to be so at the sizes that are enumerated (`tests.support.certificates.watched`).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import symlayout as sl
from symlayout.proof.certificate.checker import seal
from tests.proof.test_claims import CLAIMS, build
from tests.support.certificates.watched import Certificate, UnsoundError, watch

OPERATORS = ("+", "-", "*", "//", "%")
SIDES = ("below", "above", "empty")
FEW = (
    "boundaries: a pad of no columns has no corner",
    "joins: concatenate, then the second part",
    "pack: pack with NaN fills equals pack with NaN fills",
    "pad: flip exchanges the pads",
    "pad: pads of an empty axis on any side",
    "repeat: any copy of a tile is the array",
    "roll: roll by the extent",
    "slices: dropping both ends",
    "slices: integer bounds clamp to the smaller",
    "slices: step -3 is flip, then step 3",
    "space_to_batch: without crops both orders are the identity, 1 spatial",
)
LARGEST = 4000  # characters of a certificate that is altered, if not one of the few


# ---------------------------------------------------------------------- certificates


def few() -> list[Certificate]:
    """Return certificates that have every rule and every end between them."""
    pairs = [build(claim) for claim in CLAIMS if str(claim) in FEW]
    h, w = sl.dims("h w")
    x, y = sl.tensor([h, w], name="x"), sl.tensor([2], name="x")
    b = sl.dim("b", min=1)
    pairs.append((sl.reshape(sl.reshape(x, [h * w / b, b]), [h, w]), x))
    pairs.append((sl.flip(y[1:1:-2]), y[1:1:-2]))
    return [found for pair in pairs if (found := certificate(*pair)) is not None]


def many() -> list[Certificate]:
    """Return those, and all of the corpus that are small."""
    found = [certificate(*build(claim)) for claim in CLAIMS if claim.verdict == "proved" and str(claim) not in FEW]
    return few() + [c for c in found if c is not None and len(json.dumps(c)) <= LARGEST]


def certificate(left: sl.Tensor, right: sl.Tensor) -> Certificate | None:
    """Return the certificate of a claim; None if it has none."""
    try:
        found = sl.prove_equal(left, right).certificate
    except sl.InconclusiveError:
        return None
    return None if found is None else json.loads(json.dumps(found))


# ---------------------------------------------------------------------- alterations


def sites(data: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to every value within *data*, but for *data* itself."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*path, key)
        yield from sites(value, (*path, key))


def at(data: Any, path: Sequence[Any]) -> Any:
    """Return the value that *path* leads to."""
    for key in path:
        data = data[key]
    return data


def alterations(value: Any, words: Sequence[str]) -> Iterator[Any]:
    """Yield other values for *value*; *words* are strings to try for a string."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from dict.fromkeys(n for n in (value + 1, value - 1, 0, -value, 2 * value) if n != value)
    elif isinstance(value, str):
        yield from (word for word in (*words, "") if word != value)
        yield None
    elif value is None:
        yield from (0, 3, "0")
    elif isinstance(value, list):
        for k in range(len(value)):
            yield value[:k] + value[k + 1 :]
            yield [*value[: k + 1], *value[k:]]
            yield from (swapped(value, k, j) for j in range(k) if value[k] != value[j])
        yield [*value, 1]
    else:
        yield {}


def swapped(items: Sequence[Any], i: int, k: int) -> list[Any]:
    """Return *items* with two of them exchanged."""
    found = list(items)
    found[i], found[k] = found[k], found[i]
    return found


def words_of(data: Any) -> list[str]:
    """Return the strings within *data*, in order."""
    return list(dict.fromkeys(value for path in sites(data) if isinstance(value := at(data, path), str)))


def altered(rnd: random.Random, certificate: Certificate) -> Certificate:
    """Return a certificate with one to four places of its claim and proof altered, sealed again."""
    found: Certificate = copy.deepcopy({"claim": certificate["claim"], "proof": certificate["proof"]})
    for _ in range(rnd.choice((1, 1, 1, 2, 2, 3, 4))):
        _alter(rnd, found)
    return sealed(found)


def _alter(rnd: random.Random, data: Any) -> None:
    part = rnd.choice(("claim", "claim", "proof"))
    paths = [(part, *path) for path in sites(data[part])]
    *path, key = rnd.choice(paths)
    parent = at(data, path)
    old = parent[key]
    if rnd.random() < 0.3:  # something of the same kind from elsewhere
        others = [at(data, p) for p in paths]
        new = rnd.choice([other for other in others if type(other) is type(old)])
    else:
        new = rnd.choice(list(alterations(old, (*words_of(data), *OPERATORS, *SIDES))) or [old])
    if rnd.random() < 0.3:  # everywhere
        same = [p for p in sites(data) if len(p) > 1 and at(data, p) == old and type(at(data, p)) is type(old)]
        for *into, last in reversed(same):
            at(data, into)[last] = copy.deepcopy(new)
    else:
        parent[key] = copy.deepcopy(new)


def sealed(certificate: Certificate) -> Certificate:
    """Return a certificate with the seal that fits."""
    return {**certificate, "seal": seal(certificate)}


# ---------------------------------------------------------------------- runs


def run(certificates: Sequence[Certificate], cases: int, seed: int) -> Counter[str]:
    """Watch so many altered certificates, and count what becomes of them.

    Raises
    ------
    UnsoundError
        With the altered certificate in its text.
    """
    counts: Counter[str] = Counter()
    rnd = random.Random(seed)
    for number in range(cases):
        certificate = certificates[rnd.randrange(len(certificates))]
        trial = altered(rnd, certificate)
        try:
            reason = watch(trial)
        except UnsoundError as error:
            raise UnsoundError(f"case {number} of seed {seed}: {error}\n{json.dumps(trial)}") from error
        changed = trial["claim"] != certificate["claim"]
        counts["refused" if reason else "accepted, of another claim" if changed else "accepted, of the same claim"] += 1
    return counts


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless something false is shown, which raises."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz_check", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000, help="how many altered certificates (10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the alterations (0)")
    options = parser.parse_args(arguments)
    certificates = many()
    started = time.perf_counter()
    for what, number in sorted(run(certificates, options.cases, options.seed).items()):
        print(f"{number:9} {what}")
    print(f"{len(certificates):9} certificates, {time.perf_counter() - started:.0f} seconds")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
