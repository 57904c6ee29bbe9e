"""What is proved of an inverse or of a property is so for all sizes of the tensor, and of elements that are moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout import Verdict
from symlayout.proof.prove import prove_on
from symlayout.tensors.requirements import implies
from tests.attack.inverses import attack
from tests.attack.tally import Tally

N, W = sl.dims("N W")
PROPERTIES = [sl.is_injective, sl.is_surjective, sl.reads_all]


def test_random_chains_have_no_wrong_answer() -> None:
    tally = Tally()
    for seed in range(1000, 1025):
        attack(seed, tally)
    assert not [wrong.text for wrong in tally.wrong]
    assert tally.totals()["PROVED"] > 10


def test_an_axis_that_is_repeated_beside_a_list_is_read_twice() -> None:
    """Its round trip was proved for W == 0, where there is no element."""
    x = sl.tensor("2, W", name="x")
    found = sl.is_injective(sl.tile(sl.roll(x, 1, 1), [2, 2]))
    assert found.verdict is Verdict.REFUTED
    assert found.dims == {W: 1}


@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
def test_the_proofs_of_an_inverse_require_what_the_tensor_requires(mode: str) -> None:
    x = sl.tensor("6, W", name="x")
    y = sl.pad(sl.tile(sl.reshape(x, (3, 2, W)), [2, 1, 2]), [(2, 2), (0, 0), (0, 0)], mode=mode)
    undo = sl.inverse(y)
    assert undo.holds == "left"
    assert implies(y.facts, undo.left.facts)
    elements = np.arange(12).reshape(6, 2)
    assert (sl.interpret(undo(y).subs({W: 2}), elements) == elements).all()


def test_a_proof_about_fewer_sizes_proves_nothing() -> None:
    x = sl.tensor((W,), name="x")
    with sl.assume(W >= 5):
        y = sl.flip(sl.flip(x))
    assert sl.prove_equal(y, x).verdict is Verdict.PROVED
    proof = prove_on(x.facts, y, x)
    assert proof.verdict is Verdict.UNKNOWN
    assert "W >= 5" in proof.obligation
    assert prove_on(y.facts, y, x).verdict is Verdict.PROVED


def test_a_property_that_is_proved_names_sizes_at_which_it_was_seen() -> None:
    found = sl.is_injective(sl.pad(sl.flip(sl.tensor((W,), name="x")), 1))
    assert found.verdict is Verdict.PROVED
    assert found.point is not None
    assert found.point.keys() == {W}


@pytest.mark.parametrize("least", [0, 1, 2, 3])
@pytest.mark.parametrize("turned", [False, True])
def test_parts_of_a_square_that_change_places_are_decided(least: int, turned: bool) -> None:
    """Sizes below 2 are cases of their own: there the parts are empty, or overlap."""
    w = sl.dim("W", min=least)
    x = sl.tensor((w, w), name="x")
    t = sl.transpose(x) if turned else x
    y = sl.reshape(sl.concatenate([t[:, 2:], t[:, :2]], 1), (w * w,))
    assert sl.is_injective(y).verdict is Verdict.PROVED
    assert sl.is_surjective(y).verdict is Verdict.PROVED
    twice = sl.reshape(sl.concatenate([t[:, 1:], t[:, :2]], 1), (-1,))
    assert sl.is_injective(twice).verdict is Verdict.REFUTED


# ---------------------------------------------------------------------- values that are computed


def computed() -> dict[str, sl.Tensor]:
    x = sl.tensor("N", dtype="float32", name="x")
    w = sl.tensor("N", dtype="float32", name="w")
    relu = sl.onnx.relu
    return {
        "relu": relu(x),
        "of a part": relu(x[1:]),
        "of copies": relu(sl.tile(x, 2)),
        "a sum": sl.onnx.add(x, w),
        "moved": sl.flip(relu(x)),
        "beside an input": sl.concatenate([relu(x), w]),
        "of rank 0": relu(sl.tensor((), dtype="float32", name="s")),
    }


@pytest.mark.parametrize("name", computed())
@pytest.mark.parametrize(
    "ask",
    [
        *PROPERTIES,
        sl.inverse,
        sl.adjoint,
        sl.layout,
        lambda t: t.index_map.inverse(),
        lambda t: t.index_map.fixed,
        lambda t: t.index_map.image([None] * t.rank),
    ],
)
def test_properties_of_maps_are_not_answered_for_computed_values(ask: Callable[[sl.Tensor], Any], name: str) -> None:
    with pytest.raises(sl.ArrayError, match=r"moved from inputs; \w+ is computed"):
        ask(computed()[name])


def test_a_computed_value_is_compared_with_its_argument() -> None:
    x = sl.tensor("N", dtype="float32", name="x")
    one = sl.full((), 1, dtype="float32")
    assert sl.is_identity(sl.onnx.mul(x, one)).verdict is Verdict.PROVED
    found = sl.is_identity(sl.onnx.relu(x))
    assert found.verdict is Verdict.REFUTED
    assert found.dims == {N: 1}
    assert sl.is_identity(sl.onnx.add(x, x)).verdict is Verdict.REFUTED
    assert sl.is_identity(sl.onnx.relu(sl.tile(x, 2))).verdict is Verdict.REFUTED
    with pytest.raises(sl.ArrayError, match="dtypes"):
        sl.is_identity(sl.onnx.cast(x, to=11))


@pytest.mark.parametrize("t", [sl.full((3,), 1), sl.constant(np.arange(3)), sl.flip(sl.constant(np.arange(3)))])
def test_a_tensor_without_inputs_is_no_identity(t: sl.Tensor) -> None:
    with pytest.raises(sl.ShapeError, match="with an input") as error:
        sl.is_identity(t)
    assert error.value.kind == "source"
    assert sl.is_injective(t).verdict is Verdict.PROVED
    assert sl.solve_shape(t, (3,)).inputs == {}


def test_constants_beside_an_input_are_no_elements_of_it() -> None:
    x = sl.tensor("N", dtype="int64", name="x")
    t = sl.concatenate([sl.flip(x), sl.take(sl.constant(np.arange(3)), [0, 0])])
    assert sl.is_injective(t).verdict is Verdict.PROVED
    assert sl.is_surjective(t).verdict is Verdict.PROVED
    with pytest.raises(sl.ShapeError, match="no input"):
        sl.reads_all(t, "constant")
    assert (sl.interpret(sl.adjoint(t), np.arange(5)) == [2, 1, 0]).all()
    with pytest.raises(sl.ArrayError, match="is a constant"):
        sl.inverse(sl.flip(sl.constant(np.arange(3))))


def test_the_text_of_a_map_names_what_is_no_input() -> None:
    x = sl.tensor("N", dtype="float32", name="x")
    assert str(sl.flip(sl.onnx.relu(x)).index_map) == "(i0) -> Relu(N - i0 - 1)"
    assert str(sl.flip(x).index_map) == "(i0) -> (N - i0 - 1)"


def test_solve_shape_is_about_the_inputs_of_computed_values() -> None:
    x = sl.tensor("N", dtype="float32", name="x")
    assert sl.solve_shape(sl.onnx.relu(sl.tile(x, 2)), (6,)).inputs == {"x": (3,)}
