"""Forged certificates: those that were accepted once, by name, and many at random; no false claim is accepted."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import symlayout as sl
from symlayout.proof.certificate.checker import blocks, readings, refusal, seal
from symlayout.proof.certificate.checker.known import Known
from tests.fuzz_check import few
from tests.promises.forge import AcceptedError, run
from tests.support.certificates.certified import falsity

Data = dict[str, Any]
AGREED: Data = {"steps": [["point"]], "agree": [[], []]}


def twice_flipped() -> Data:
    """Return the genuine certificate that two flips are none."""
    x = sl.tensor("N", name="x")
    found: Data = json.loads(json.dumps(sl.prove_equal(sl.flip(sl.flip(x)), x).certificate))
    return found


def side_by_side() -> Data:
    """Return the genuine certificate that the second part of two that are joined is that part."""
    x, y = sl.tensor("N", name="x"), sl.tensor("M", name="y")
    joined = sl.concatenate([x, y], 0)
    found: Data = json.loads(json.dumps(sl.prove_equal(joined[x.shape[0] :], y).certificate))
    return found


def sealed(data: Data) -> Data:
    return {**data, "seal": seal(data)}


def once_flipped(data: Data) -> None:
    """Let the claim be that one flip is none, with a node that is an operation and an input."""
    data["claim"]["left"] = 1
    data["claim"]["nodes"][1]["input"] = "x"
    del data["claim"]["nodes"][2]
    data["proof"] = {**data["proof"], "maps": data["proof"]["maps"][:1], "sides": AGREED}


def overlapping(data: Data) -> None:
    """Let each of two cases hold everywhere, one of which reads the element itself."""
    once_flipped(data)
    del data["claim"]["nodes"][1]["input"]
    itself = {"source": 0, "where": [], "coords": [["axis", 0]], "fill": None}
    data["claim"]["nodes"][1]["cases"].insert(0, itself)
    data["proof"]["maps"] = [{"steps": [["point"]], "case": [0, [[0, "below"]]]}]
    data["proof"]["sides"] = {"steps": [["point"]], "agree": [[[0, None]], []]}


def taken_for_granted(data: Data) -> None:
    """Let an operation without a fill read beyond its input, so that no point is left."""
    once_flipped(data)
    node = data["claim"]["nodes"][1]
    del node["input"]
    node["cases"][0]["coords"] = [["+", ["axis", 0], ["extent", [[1, "N"]]]]]
    absurd = ["combine", -1, 1, [[[[-1], [-1, "#0"]], 1], [[[1, "#0"]], 1]], []]
    steps = [["point"], ["inside", "left", [[0, None]]], absurd]
    above = ["combine", [[1, "#0"], [1, "N"]], 1, [[[[1, "#0"]], 1], [[[1, "N"]], 1]], []]
    data["proof"]["maps"] = [{"steps": [["point"], above], "case": [0, []]}]
    data["proof"]["sides"] = {"steps": steps, "absurd": []}


def early(data: Data) -> None:
    """Let the coordinate of the output, of which there is one element, stand for those of the operations."""
    data["proof"]["given"].append(["point"])


def claim_of(key: str, value: Any) -> Callable[[Data], None]:
    """Return what gives a member of the claim another value."""

    def forge(data: Data) -> None:
        data["claim"][key] = value

    return forge


def node_of(number: int, key: str, value: Any) -> Callable[[Data], None]:
    """Return what gives a member of a node another value."""

    def forge(data: Data) -> None:
        data["claim"]["nodes"][number][key] = value

    return forge


def appended(key: str, value: Any) -> Callable[[Data], None]:
    """Return what adds to a list of the claim."""

    def forge(data: Data) -> None:
        data["claim"][key].append(value)

    return forge


INPUT = {"input": "x", "shape": [[[1, "N"]]]}
FORGED: dict[str, tuple[Callable[[Data], None], str]] = {
    "a node that is an operation and an input": (once_flipped, "'input', 'inputs', 'op', 'shape'] is not ['input'"),
    "cases that overlap": (overlapping, "a case has no window 0"),
    "a read outside that is taken for granted": (taken_for_granted, "-#0 - 1 >= 0 is not shown"),
    "a coordinate before the maps": (early, "a coordinate is introduced before the maps, which"),
    "a member that the format does not have": (claim_of("trusted", True), "'trusted'] is not ['assumptions'"),
    "symbols that are no list": (claim_of("symbols", False), "claim.symbols: False is not a list"),
    "a side that is a truth value": (claim_of("left", True), "claim.left: True is not a number >= 0"),
    "a side that there is not": (claim_of("left", 3), "there is no node 3"),
    "a side from behind": (claim_of("right", -3), "claim.right: -3 is not a number >= 0"),
    "no nodes": (claim_of("nodes", []), "there is no node 2"),
    "a node that nothing reads": (appended("nodes", INPUT), "neither side reads node 3"),
    "a node that reads itself": (node_of(1, "inputs", [1]), "node 1 reads a node that does not come before it"),
    "a node that reads a later one": (node_of(1, "inputs", [2]), "node 1 reads a node that does not come before it"),
    "a node without a name": (node_of(1, "op", ""), "claim.nodes.op: '' is not a name"),
    "an extent in a dim that there is not": (node_of(0, "shape", [[[1, "M"]]]), "the claim does not say what M is"),
    "two dims of one name": (appended("dims", ["N", 0, 0, 1]), "the name N stands for two things"),
    "a dim without values": (claim_of("dims", [["N", 3, 5, 7]]), "the dim N has no values"),
    "a dim that is a multiple of 0": (claim_of("dims", [["N", 0, None, 0]]), "the dim N has no values"),
    "a symbol of itself": (appended("symbols", ["q", "max", [[1, "q"]], 0]), "the claim does not say what q is"),
    "a symbol without a value": (appended("symbols", ["q", "//", 1, 0]), "q has no meaning"),
    "no dims": (claim_of("dims", []), "the claim does not say what N is"),
    "an assumption of what there is not": (appended("assumptions", [">=", [[1, "q"]]]), "does not say what q is"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_certificate_is_refused(name: str) -> None:
    forge, reason = FORGED[name]
    data = twice_flipped()
    assert refusal(data) == ""
    forge(data)
    assert reason in refusal(sealed(data))
    assert not sl.check(sealed(data))


def alone(data: Data, *start: Any) -> Data:
    """Let the proof of the first operation start from nothing but these steps."""
    block = data["proof"]["maps"][0]
    data["proof"]["maps"][0] = {"alone": {**block, "steps": [*start, *block["steps"]]}}
    return sealed(data)


def test_a_map_that_is_shown_alone_takes_up_what_it_needs_itself() -> None:
    assert refusal(alone(twice_flipped(), ["dim", "N"])) == ""
    assert "names without a meaning" in refusal(alone(twice_flipped()))
    known_before = twice_flipped()
    known_before["proof"]["given"].append(["define", "t", [[1, "N"]]])
    known_before["proof"]["maps"][0]["steps"].insert(0, ["lows", [[1, "t"]], []])
    assert "symbols that nothing introduced" in refusal(alone(known_before, ["dim", "N"]))


def test_only_a_map_is_shown_alone() -> None:
    data = twice_flipped()
    data["proof"]["sides"] = {"alone": data["proof"]["sides"]}
    assert "is not one end of a block" in refusal(sealed(data))
    twice = alone(twice_flipped(), ["dim", "N"])
    twice["proof"]["maps"][0] = {"alone": twice["proof"]["maps"][0]}
    assert "is not one end of a block" in refusal(sealed(twice))


@pytest.mark.parametrize("forge", [once_flipped, overlapping, taken_for_granted])
def test_the_claims_of_these_are_false(forge: Callable[[Data], None]) -> None:
    data = twice_flipped()
    forge(data)
    data["claim"]["nodes"][1].pop("input", None)
    assert falsity(data["claim"]) != ""


def test_a_partition_that_is_moved_is_refused() -> None:
    """Of two parts that are joined the second begins one too late or too early: a gap, or an overlap."""
    genuine = side_by_side()
    assert refusal(genuine) == ""
    (number,) = [k for k, node in enumerate(genuine["claim"]["nodes"]) if len(node.get("cases", [])) == 2]
    for change in (1, -1):
        data = copy.deepcopy(genuine)
        window = data["claim"]["nodes"][number]["cases"][1]["where"][0]
        window[0] = ["-", window[0], ["extent", change]]
        assert falsity(data["claim"]) != ""
        assert refusal(sealed(data)) != ""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_no_forged_certificate_of_a_false_claim_is_accepted(seed: int) -> None:
    found: Counter[str] = Counter()
    for (_, what), number in run(few(), 1200, seed).items():
        found[what] += number
    assert found["refused"] > 900
    assert found["refused, looked at: false"] > 60
    assert found["accepted, true"] > 5
    assert found["accepted, a genuine claim"] > 20


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("module", "name", "instead"),
    [
        (readings, "check_case", lambda *parts: None),
        (blocks, "check_claim", lambda claim: None),
        (Known, "is_absurd", lambda known: True),
    ],
    ids=["maps", "claim", "absurd"],
)
def test_the_forger_notices_a_check_that_is_left_out(
    module: Any, name: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, instead)
    with pytest.raises(AcceptedError):
        run(few(), 3000, 0)
