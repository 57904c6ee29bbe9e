"""Certificates about constants that are parts of each other state which elements are equal, and that is checked."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import symlayout as sl
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.check_computed import refusal_alone
from symlayout.proof.certificate.checker import seal
from symlayout.proof.certificate.checker.schema import sealed

Weights = dict[str, np.ndarray[Any, Any]]
WHOLE = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)
CUT = 3


def written(path: Path, nodes: list[Any], weights: Weights, outputs: list[str]) -> Path:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(
        nodes,
        "halves",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 5])],
        values,
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path)
    return path


def joined(folder: Path, whole: np.ndarray[Any, Any] = WHOLE) -> Path:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"]),
        helper.make_node("Split", ["y", "sizes"], ["a", "b"], axis=1),
    ]
    return written(folder / "joined.onnx", nodes, {"w": whole, "sizes": np.array([CUT, 7 - CUT])}, ["a", "b"])


def apart(folder: Path, first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], name: str = "apart") -> Path:
    nodes = [helper.make_node("MatMul", ["x", w], [y]) for w, y in (("u", "a"), ("v", "b"))]
    return written(folder / f"{name}.onnx", nodes, {"u": first, "v": second}, ["a", "b"])


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("halves")
    return joined(folder), apart(folder, WHOLE[:, :CUT].copy(), WHOLE[:, CUT:].copy())


@pytest.fixture(scope="module")
def shown(models: tuple[Path, Path]) -> Any:
    found = sl.verify(*models)
    assert found.verdict is sl.Verdict.PROVED
    return json.loads(json.dumps(found.certificate))


def stated(certificate: Any) -> list[Any]:
    """Return the certificates of movement whose claims state elements to be equal."""
    views = [view for pair in certificate["pairs"] for view in pair["views"]]
    return [view for view in (*views, *certificate["outputs"].values()) if view and "elements" in view["claim"]]


def test_halves_of_a_weight_are_parts_of_it(models: tuple[Path, Path], shown: Any) -> None:
    assert len(stated(shown)) == 2
    assert sl.check(shown)
    assert sl.check(shown, before=models[0], after=models[1])
    found = sl.verify(models[1], models[0])  # and the other way round
    assert sl.check(json.loads(json.dumps(found.certificate)), before=models[1], after=models[0])


def test_it_is_no_certificate_of_other_weights(shown: Any, models: tuple[Path, Path], tmp_path: Path) -> None:
    before = models[0]
    first, second = WHOLE[:, :CUT].copy(), WHOLE[:, CUT:].copy()
    changed = second.copy()
    changed[4, 3] = np.nextafter(changed[4, 3], np.float32(9))
    assert not sl.check(shown, before=before, after=apart(tmp_path, first, changed, "changed"))
    assert not sl.check(shown, before=before, after=apart(tmp_path, WHOLE[:, 4:].copy(), second, "other"))
    assert not sl.check(shown, before=joined(tmp_path, -WHOLE), after=models[1])


def test_a_forged_claim_about_other_weights_is_refused(shown: Any, models: tuple[Path, Path], tmp_path: Path) -> None:
    """The forger writes the digests of the changed weights into a true certificate."""
    from symlayout.proof.certificate.claim import constant_name

    second = WHOLE[:, CUT:].copy()
    changed = second.copy()
    changed[4, 3] += 1
    text = json.dumps(shown).replace(constant_name(second), constant_name(changed))
    assert text != json.dumps(shown)
    forged = resealed(json.loads(text))
    after = apart(tmp_path, WHOLE[:, :CUT].copy(), changed)
    assert refusal_alone(forged) == ""  # it proves what it states: that elements are equal which are not
    assert "have other elements there" in check_models(forged, models[0], after)


def resealed(certificate: Any) -> Any:
    for pair in certificate["pairs"]:
        for view in filter(None, pair["views"]):
            view["seal"] = seal(view)
    return sealed(certificate)


def _another_place(claim: Any) -> None:
    for side in claim["elements"][0][:2]:
        side[1] = side[1][::-1]


def _a_smaller_box(claim: Any) -> None:
    claim["elements"][0][2][0][2] -= 1


def _a_larger_box(claim: Any) -> None:
    claim["elements"][0][2][0][2] += 1


def _no_elements(claim: Any) -> None:
    claim["elements"] = []


def _the_same_constant(claim: Any) -> None:
    claim["elements"][0][1][0] = claim["elements"][0][0][0]


def _an_input(claim: Any) -> None:
    claim["elements"][0][1][0] = "x"


def _names_of_nothing(claim: Any) -> None:
    claim["elements"][0][2].pop()


@pytest.mark.parametrize(
    "change",
    [
        _another_place,
        _a_smaller_box,
        _a_larger_box,
        _no_elements,
        _the_same_constant,
        _an_input,
        _names_of_nothing,
    ],
)
def test_elements_that_are_altered_and_sealed_again_are_refused(
    shown: Any, models: tuple[Path, Path], change: Callable[[Any], None]
) -> None:
    altered = copy.deepcopy(shown)
    for view in stated(altered):
        change(view["claim"])
    assert check_models(resealed(altered), *models) not in ("", "the seal does not match: the certificate was altered")


def test_constants_that_are_joined_padded_and_reshaped_have_certificates() -> None:
    x, n = sl.tensor("N, 5", "float32", name="x"), sl.constant
    whole = n(WHOLE)
    padded = np.pad(WHOLE, ((0, 0), (1, 0)))[:, 1:]
    claims = [
        (sl.onnx.matmul(x, sl.concatenate([n(WHOLE[:, :2].copy()), n(WHOLE[:, 2:].copy())], axis=1)), whole),
        (sl.onnx.matmul(x, sl.reshape(n(WHOLE.reshape(35).copy()), (5, 7))), whole),
        (sl.onnx.matmul(x, sl.flip(n(WHOLE[::-1].copy()), 0)), whole),
        (sl.onnx.matmul(x, n(padded)), whole),
    ]
    for left, weight in claims:
        proof = sl.prove_equal(left, sl.onnx.matmul(x, weight))
        assert proof.verdict is sl.Verdict.PROVED
        assert sl.check(json.loads(json.dumps(proof.certificate)))
