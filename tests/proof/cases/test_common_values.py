"""Sides that read one value on their way: what the value is made of is not decided, and the certificate says so."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.cases.common_values import share_operations
from symlayout.proof.certificate.checker import refusal, seal

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED
Step = Callable[[sl.Tensor], sl.Tensor]


def edge(last: int) -> Step:
    """Return an ONNX Pad in mode edge whose third axis loses or keeps its last element."""
    widths = ((2, 2), (1, 2), (1, last), (2, 2))
    return lambda x: sl.onnx.pad(x, pads=[w[k] for k in (0, 1) for w in widths], mode="edge")


def to_batch(x: sl.Tensor) -> sl.Tensor:
    return sl.tensorflow.space_to_batch_nd(x, block_shape=[2, 2], paddings=[[2, 2], [1, 1]])


def to_space(x: sl.Tensor) -> sl.Tensor:
    return sl.tensorflow.batch_to_space_nd(x, block_shape=[3, 1], crops=[[2, 1], [2, 1]])


def there_and_back(x: sl.Tensor) -> sl.Tensor:
    """Return *x* after a pad of every axis and the crop that undoes it."""
    return sl.pad(sl.pad(x, (1, 2)), (-1, -2))


def chain(steps: list[Step]) -> sl.Tensor:
    x = sl.tensor("N, A, B, C", name="x")
    for step in steps:
        x = step(x)
    return x


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize(
    "steps", [[edge(-1), to_batch, to_space], [edge(0), to_batch, to_space]], ids=["crops", "pads"]
)
def test_a_detour_that_leads_back_decides_no_case_of_the_steps_around_it(steps: list[Step], at: int) -> None:
    proof = sl.prove_equal(chain(steps), chain([*steps[:at], there_and_back, *steps[at:]]))
    assert (proof.verdict, proof.searched) == (PROVED, 0)
    assert proof._facts.effort < 2000


def test_a_detour_that_leads_elsewhere_is_refuted() -> None:
    steps = [edge(0), to_batch]
    wrong: Step = lambda x: sl.pad(sl.pad(x, (1, 2)), ((-1, -2), (-1, -2), (-2, -1), (-1, -2)))  # noqa: E731
    for at in range(3):
        assert sl.prove_equal(chain(steps), chain([*steps[:at], wrong, *steps[at:]])).verdict is REFUTED


def test_only_sides_with_operations_of_one_name_are_looked_at() -> None:
    x = sl.tensor("N, M", name="x")
    assert share_operations(sl.flip(sl.pad(x, 1)), sl.pad(sl.flip(x), 1))
    assert not share_operations(sl.flip(x), sl.pad(x, 1))
    assert not share_operations(sl.flip(x), sl.flip(sl.reshape(x, (-1,))))


@pytest.mark.slow
def test_operations_of_other_names_may_be_one() -> None:
    steps: list[Step] = [edge(0), lambda x: x[None], lambda x: sl.pad(x, ((1, 1),) * 5, "edge")]
    other: list[Step] = [there_and_back, edge(0), lambda x: sl.reshape(x, (1, *x.shape)), steps[2]]
    proof = sl.prove_equal(chain(steps), chain(other))
    assert (proof.verdict, proof.searched) == (PROVED, 0)
    assert refusal(json.loads(json.dumps(proof.certificate))) == ""


@pytest.fixture(scope="module")
def shown() -> Any:
    steps = [edge(0), to_batch]
    sides = chain(steps), chain([there_and_back, *steps])
    return json.loads(json.dumps(sl.prove_equal(*sides).certificate))


def ends(block: Any) -> list[str]:
    return [key for key in block if key != "steps"]


def test_its_certificate_has_the_proof_of_the_parts(shown: Any) -> None:
    assert refusal(shown) == ""
    assert ends(shown["proof"]["sides"]) == ["meet"]
    assert len(shown["proof"]["parts"]) == 1


def _without_parts(shown: Any) -> None:
    del shown["proof"]["parts"]


def _parts_after_the_sides(shown: Any) -> None:
    shown["proof"]["parts"] = []


def _of_other_nodes(shown: Any) -> None:
    left, right, block = shown["proof"]["parts"][0]
    shown["proof"]["parts"][0] = [left, right + 1, block]


def _of_one_node(shown: Any) -> None:
    left, _, block = shown["proof"]["parts"][0]
    shown["proof"]["parts"][0] = [left, left, block]


def _of_no_node(shown: Any) -> None:
    left, _, block = shown["proof"]["parts"][0]
    shown["proof"]["parts"][0] = [left, 99, block]


def _with_a_wider_pad(shown: Any) -> None:
    (node,) = [node for node in shown["claim"]["nodes"] if node.get("op") == "pad" and node["cases"][0]["fill"]][:1]
    node["cases"][0]["coords"][0] = ["-", ["axis", 0], ["extent", 2]]


def _with_another_path(shown: Any) -> None:
    shown["proof"]["sides"]["meet"][1] = [[0, None]]


@pytest.mark.parametrize(
    "change",
    [
        _without_parts,
        _parts_after_the_sides,
        _of_other_nodes,
        _of_one_node,
        _of_no_node,
        _with_a_wider_pad,
        _with_another_path,
    ],
)
def test_what_is_altered_and_sealed_again_is_refused(shown: Any, change: Callable[[Any], None]) -> None:
    altered = copy.deepcopy(shown)
    change(altered)
    altered["seal"] = seal(altered)
    assert altered != shown
    assert refusal(altered) not in ("", "the seal does not match: the certificate was altered")
