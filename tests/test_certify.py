"""Certificates of true claims: they check, they are the same every time, and altered they prove nothing false."""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import symlayout as sl
from symlayout.check import refusal
from symlayout.claim import Claim
from tests.certified import falsity, points
from tests.fuzz_check import alterations, at, certificate, few, run, sealed, sites, words_of
from tests.fuzz_prove import build as build_chain
from tests.fuzz_prove import random_family
from tests.test_claims import CLAIMS, build
from tests.watched import Certificate, watch

ROOT = Path(__file__).parent.parent
ALTERED = "the seal does not match: the certificate was altered"
SIZES = 12  # at which a claim is enumerated


def space(m: int) -> tuple[sl.Tensor, list[Any], list[list[Any]]]:
    """Return a tensor with *m* spatial axes, and a block and a pair of pads for each."""
    x = sl.tensor([sl.dim("N"), *sl.dims(" ".join(f"s{k}" for k in range(m))), 3], name="x")
    block = list(sl.dims(" ".join(f"b{k}" for k in range(m)), min=1))
    return x, block, [list(sl.dims(f"p{k} q{k}")) for k in range(m)]


def round_trip(m: int) -> tuple[sl.Tensor, sl.Tensor]:
    x, block, pads = space(m)
    return sl.batch_to_space(sl.space_to_batch(x, block, pads), block, pads), x


def depth_round_trip(m: int) -> tuple[sl.Tensor, sl.Tensor]:
    _, block, _ = space(m)
    cells = sl.dims(" ".join(f"h{k}" for k in range(m)))
    x = sl.tensor([sl.dim("N"), sl.dim("C"), *(h * b for h, b in zip(cells, block, strict=True))], name="x")
    return sl.depth_to_space(sl.space_to_depth(x, block), block), x


def named() -> dict[str, tuple[sl.Tensor, sl.Tensor]]:
    """Return claims that the corpus does not have."""
    h, w, p, q = sl.dims("h w p q")
    b = sl.dim("b", min=1)
    small = sl.dim("k", min=1, max=3)
    x, v = sl.tensor([h, w], name="x"), sl.tensor([h], name="x")
    pair = sl.tensor([2], name="x")
    empty = sl.tensor([2, sl.dim("e", max=1)], name="x")[:, 2:]
    return {
        **{f"space_to_batch in {m} axes": round_trip(m) for m in (1, 2, 3, 4)},
        **{f"space_to_depth in {m} axes": depth_round_trip(m) for m in (1, 2, 3, 4)},
        "pads add up": (sl.pad(sl.pad(v, [[p, 0]]), [[q, 1]]), sl.pad(v, [[p + q, 1]])),
        "a product that is divided": (sl.reshape(sl.reshape(x, [h * w / b, b]), [h, w]), x),
        "clamped slices": (v[2:5][1:], v[3:5]),
        "a slice by a maximum": (v[1:][1:], v[2:]),
        "every second of the flipped": (sl.flip(sl.flip(v)[::2])[::-1], sl.flip(v)[::2]),
        "parts joined": (sl.concatenate([v[:p], v[p:]], 0), v),
        "stacked": (sl.stack([x, x], 0)[1], x),
        "rolled around": (sl.roll(sl.roll(v, p, 0), q, 0), sl.roll(v, p + q, 0)),
        "an empty output": (sl.flip(empty), empty),
        "no element": (sl.flip(pair[1:1:-2]), pair[1:1:-2]),
        "few values": (sl.roll(sl.tensor([small], name="x"), 6, 0), sl.tensor([small], name="x")),
        "a scalar": (sl.tensor([], name="x"), sl.tensor([], name="x")),
    }


NAMED = named()


def sample() -> list[Any]:
    """Return three claims of each category of the corpus, of its beginning, middle and end."""
    found = []
    for _, group in itertools.groupby([c for c in CLAIMS if c.verdict == "proved"], lambda claim: claim.category):
        claims = list(group)
        found += [claims[0], claims[len(claims) // 2], claims[-1]]
    return found


# ---------------------------------------------------------------------- true claims


def confirm(left: sl.Tensor, right: sl.Tensor) -> Certificate:
    """Return the certificate of a claim, after a look at it: it checks as JSON, and its claim is true."""
    proof = sl.prove_equal(left, right)
    assert proof.certificate is not None
    found = json.loads(json.dumps(proof.certificate))
    assert refusal(found) == ""
    assert sl.check(found)
    assert found == proof.certificate
    assert falsity(found["claim"], SIZES) == ""
    return certificate_of(found)


def certificate_of(found: Any) -> Certificate:
    assert found.keys() == {"claim", "proof", "seal"}
    return dict(found)


@pytest.mark.parametrize("name", NAMED)
def test_a_named_claim_has_a_certificate(name: str) -> None:
    assert confirm(*NAMED[name])["claim"]["trusted"] is False


@pytest.mark.parametrize("claim", sample(), ids=str)
def test_a_claim_of_the_corpus_has_a_certificate(claim: Any) -> None:
    assert confirm(*build(claim))["claim"]["trusted"] is False
