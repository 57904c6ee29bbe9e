"""A certificate has the pairs of the attempts that proved the outputs: of the first one, of the last, or of both."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.proof import attempts
from symlayout.proof.counterexample import WitnessSearch
from symlayout.tensors.chain import Tensor
from tests.support.onnx_writer import model, node, tensor, value_info

PROVED = sl.Verdict.PROVED
RELU = sl.Body("relu", lambda x: np.maximum(x, 0))
X = sl.tensor("N, 6", name="x")


def relu(x: Tensor) -> Tensor:
    return sl.compute(RELU, [x], batch=x.rank)


def halves() -> Tensor:
    y = relu(X)
    return sl.concatenate([sl.flip(y[:, 3:], 1), sl.flip(y[:, :3], 1)], 1)


def of(**outputs: Tensor) -> Any:
    return SimpleNamespace(inputs={"x": X}, outputs=outputs, tensors={"x": X, **outputs})


def test_one_output_needs_the_last_attempt_and_another_one_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "FIRST_EFFORT", 0)
    before = of(plain=relu(X), turned=sl.flip(relu(X), 1), again=halves())
    after = of(plain=relu(X), turned=halves(), again=sl.flip(relu(X), 1))
    found = sl.verify(before, after, budget=20)
    assert found.verdict is PROVED
    assert {name: proof.searched > 0 for name, proof in found.proofs.items()} == {
        "plain": False,
        "turned": True,
        "again": True,
    }
    shown = json.loads(json.dumps(found.certificate))
    assert sl.check(shown, before=before, after=after)
    assert not sl.check(shown, before=before, after=of(plain=relu(X), turned=relu(X), again=relu(X)))


def test_the_last_attempt_may_prove_where_no_size_is_searched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(attempts, "FIRST_EFFORT", 0)
    constants = [
        tensor([n], name=name) for name, n in (("zero", 0), ("three", 3), ("end", 100), ("axis", 1), ("1", -1))
    ]
    paths: list[Path] = []
    for reads in ("left, right", "first, last"):
        nodes = [
            node("Slice", "x, zero, three, axis", "left"),
            node("Slice", "x, three, end, axis", "right"),
            node("Transpose", "x", "t", perm=[1, 0]),
            node("Slice", "t, zero, three, zero", "u"),
            node("Slice", "t, three, end, zero", "v"),
            node("Transpose", "u", "first", perm=[1, 0]),
            node("Transpose", "v", "last", perm=[1, 0]),
            node("Concat", reads, "all", axis=1),
            node("Relu", "all", "r"),
            node("NonZero", "r", "found"),
            node("Cast", "found", "y", to=1),
        ]
        paths.append(tmp_path / f"{len(paths)}.onnx")
        paths[-1].write_bytes(model(nodes, [value_info("x", ("N", 6))], constants=constants))
    found = sl.verify(*paths, run=False)
    assert found.verdict is PROVED
    assert found.proofs["y"].searched == 0
    assert sl.check(json.loads(json.dumps(found.certificate)), before=paths[0], after=paths[1])


def test_sides_without_added_zeros_are_not_searched_where_the_law_is_not_granted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points: list[tuple[Any, ...]] = []
    differ = WitnessSearch.differ

    def counted(self: WitnessSearch, values: dict[str, int]) -> Any:
        points.append((self.left, self.right))
        return differ(self, values)

    monkeypatch.setattr(WitnessSearch, "differ", counted)
    x = sl.tensor("N, 6", dtype="float32", name="x")
    zero = np.float32(0)
    opaque = [sl.compute(sl.Body("f", lambda x, k: x.copy(), (("k", k),)), [x], batch=2) for k in (1, 2)]
    before, after = (SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={}) for y in (
        sl.onnx.add(opaque[0], zero), opaque[1]
    ))  # fmt: skip
    found = sl.verify(before, after, budget=20)
    assert found.verdict is sl.Verdict.UNKNOWN
    assert points
    assert all(pair == points[0] for pair in points)
    points.clear()
    assert sl.verify(before, after, budget=20, laws=["signed-zero"]).verdict is sl.Verdict.UNKNOWN
    assert any(pair != points[0] for pair in points)


def test_verify_without_advice_compares_nothing_under_a_law_that_is_not_granted() -> None:
    """The advice of the law is the only difference, and its comparison is not made."""
    x = sl.tensor("N, 6", dtype="float32", name="x")
    zero = np.float32(0)
    before, after = (SimpleNamespace(inputs={"x": x}, outputs={"y": y}, tensors={}) for y in (sl.onnx.add(x, zero), x))
    texts = [sl.verify(before, after, budget=0, run=False, advise=advise).explain() for advise in (True, False)]
    assert "signed-zero" in texts[0]
    assert "signed-zero" not in texts[1]
    granted = sl.verify(before, after, laws=["signed-zero"], run=False, advise=False)
    assert granted.verdict is PROVED
    assert granted.laws == ("signed-zero",)
