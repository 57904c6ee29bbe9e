"""Two models are one, or a witness tells them apart; the region says where they part."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.equivalence.valid_sizes import refused_after
from symlayout.equivalence.verification import Verification
from tests.proof.test_congruence import conv, relu

PROVED, REFUTED, UNKNOWN = sl.Verdict.PROVED, sl.Verdict.REFUTED, sl.Verdict.UNKNOWN
ADD = sl.Body("add", np.add, symmetric=True)


def network(depth: int, *, nhwc: bool = False, wrong: int = -1, shape: str = "N, 3, H, W", changed: int = -1) -> Any:
    """Return a residual network, its values in one layout or the other; at layer *wrong* H and W are exchanged."""
    x = first = sl.tensor(shape, "float32", "x")
    tensors = {"x": x}
    if nhwc:
        x = sl.transpose(x, (0, 2, 3, 1))
    for k in range(depth):
        weights = np.random.default_rng(k).normal(size=(3, 3, 3, 3)).astype("float32")
        if k == changed:
            weights[1, 2, 0, 1] += 1
        there, back = ((0, 3, 2, 1), (0, 3, 2, 1)) if k == wrong else ((0, 3, 1, 2), (0, 2, 3, 1))
        t = sl.transpose(x, there) if nhwc else x
        c = tensors[f"conv{k}"] = conv(sl.pad(t, ((0, 0), (0, 0), (1, 1), (1, 1))), sl.constant(weights))
        c = tensors[f"relu{k}"] = relu(c)
        x = tensors[f"add{k}"] = sl.compute(ADD, [sl.transpose(c, back) if nhwc else c, x], batch=4)
    y = tensors["y"] = sl.transpose(x, (0, 3, 1, 2)) if nhwc else x
    return SimpleNamespace(inputs={"x": first}, outputs={"y": y}, tensors=tensors)


def model(**outputs: sl.Tensor) -> Any:
    inputs = {leaf.name: leaf for y in outputs.values() for leaf in y.arguments()}
    return SimpleNamespace(inputs=inputs, outputs=outputs, tensors={**inputs, **outputs})


@pytest.mark.parametrize("shape", ["N, 3, H, W", "n, 3, h, w", "1, 3, H, W", "2, 3, 4, 5"])
def test_a_network_in_another_layout_is_the_same(shape: str) -> None:
    found = sl.verify(network(4), network(4, nhwc=True, shape=shape))
    assert (found.verdict, found.witness, found.region) == (PROVED, None, None)
    assert found.outputs == {"y": PROVED}
    with pytest.raises(TypeError, match="three outcomes"):
        bool(found)


@pytest.mark.slow
def test_an_exchange_of_axes_that_keeps_every_shape_is_found_where_it_stands() -> None:
    found = sl.verify(network(4, shape="1, 3, 6, 6"), network(4, nhwc=True, wrong=2, shape="1, 3, 6, 6"))
    assert found.verdict is REFUTED
    assert found.region == ("conv2", "conv2")
    assert found.witness is not None
    assert found.witness.output == "y"
    assert found.witness.left != found.witness.right
    assert "conv2" in found.explain()


@pytest.mark.slow
def test_a_changed_weight_is_found() -> None:
    found = sl.verify(network(3), network(3, changed=1))
    assert (found.verdict, found.region) == (REFUTED, ("conv1", "conv1"))


def test_the_witness_can_be_run(tmp_path: Path) -> None:
    before, after = network(2), network(2, nhwc=True, wrong=0)
    found = sl.verify(before, after).witness
    assert found is not None
    assert found.coord is not None
    arrays = np.load(found.save(tmp_path / "there"))
    sides = [sl.interpret(m.outputs["y"], arrays["x"])[found.coord] for m in (before, after)]
    assert sides == [found.left, found.right]


@pytest.mark.slow
def test_the_least_certain_output_decides() -> None:
    x, unknown = sl.tensor("N, C", name="x"), sl.Body("unknown", total=True)
    one, other = (sl.compute(unknown, [t], batch=2) for t in (x, sl.flip(x, 0)))
    same, flipped = sl.flip(sl.flip(x, 0), 0), sl.flip(x, 1)
    assert sl.verify(model(a=x, b=one), model(a=same, b=one)).verdict is PROVED
    found = sl.verify(model(a=x, b=one), model(a=same, b=other))
    assert list(found.outputs.values()) == [PROVED, UNKNOWN]
    assert found.verdict is UNKNOWN
    assert sl.verify(model(a=x, b=one), model(a=flipped, b=other)).verdict is REFUTED


def test_another_element_type_is_another_output() -> None:
    x = sl.tensor("N", "float32", "x")
    cast = [sl.compute(sl.Body("cast", lambda x: x), [x], batch=1, dtype=dtype) for dtype in ("int32", "int64")]
    found = sl.verify(*(model(y=t) for t in cast))
    assert found.verdict is REFUTED
    assert found.witness is not None
    assert "int32 before and int64 after" in str(found.witness)


def test_inputs_and_outputs_match_by_name_or_by_position() -> None:
    x, z = sl.tensor("N, C", name="x"), sl.tensor("n, c", name="z")
    with pytest.raises(sl.FormatError, match="output y, z is in one model only"):
        sl.verify(model(y=x), model(z=x))
    with pytest.raises(sl.FormatError, match="'x' is called 'z' after"):
        sl.verify(model(y=x), model(y=z))
    assert sl.verify(model(y=sl.flip(x, 1)), model(out=sl.flip(z, 1)), by_position=True).verdict is PROVED
    assert sl.verify(model(y=sl.flip(x, 1)), model(out=sl.flip(z, 0)), by_position=True).verdict is REFUTED


def test_inputs_of_other_shapes_are_refused() -> None:
    with pytest.raises(sl.ShapeError) as rank:
        sl.verify(model(y=sl.tensor("N", name="x")), model(y=sl.tensor("N, M", name="x")))
    with pytest.raises(sl.ShapeError) as extent:
        sl.verify(model(y=sl.tensor("3", name="x")), model(y=sl.tensor("4", name="x")))
    assert rank.value.kind == extent.value.kind == "size_mismatch"


@pytest.mark.slow
def test_an_extent_that_depends_on_data_is_one_only_if_the_value_is() -> None:
    x = sl.tensor("N", name="x")
    found, other = _nonzero(x), _nonzero(sl.flip(x))
    zeros = [sl.broadcast_to(sl.constant(np.zeros(1)), t.shape) for t in (found, other)]
    first = sl.Body("first", lambda a, b: a)
    joined = [sl.compute(first, [z, t], batch=1) for z, t in zip(zeros, (found, other), strict=True)]
    assert sl.verify(model(y=joined[0]), model(y=joined[0])).verdict is PROVED
    assert sl.verify(model(y=found), model(y=other)).verdict is UNKNOWN
    assert sl.verify(model(y=joined[0]), model(y=joined[1])).verdict is UNKNOWN


def _nonzero(x: sl.Tensor) -> sl.Tensor:
    return sl.compute(sl.Body("nonzero", over=True), [x], batch=0, result=(sl.dim("nnz"),))


def test_functions_that_are_equal_by_formula_only_are_named() -> None:
    from tests.proof.forms.test_compare_forms import X, gelu, op

    found = sl.verify(model(y=gelu(X)), model(y=op("Gelu", X)))
    assert (found.verdict, found.laws, found.formulas) == (PROVED, (), ("Gelu",))
    assert found.explain().splitlines()[1:] == ["  equal by formula: Gelu (rounding may differ)"]
    same = sl.verify(model(y=gelu(X)), model(y=gelu(X)))
    assert (same.verdict, same.formulas, same.explain().count("\n")) == (PROVED, (), 0)


def test_laws_are_granted_and_named() -> None:
    x = sl.tensor("N, M", "float32", "x")
    total = sl.Body("sum", lambda x, axes: x.sum(axes), over=True, commutative=True)
    one, other = (sl.compute(total, [t], batch=0) for t in (x, sl.transpose(x)))
    assert sl.verify(model(y=one), model(y=other)).verdict is UNKNOWN
    found = sl.verify(model(y=one), model(y=other), laws=("reassociate",))
    assert (found.verdict, found.laws) == (PROVED, ("reassociate",))
    with pytest.raises(sl.ShapeError) as error:
        sl.verify(model(y=one), model(y=other), laws=("magic",))
    assert error.value.kind == "bad_mode"


def test_the_difference_that_a_law_makes_is_reported() -> None:
    x = sl.tensor("N, C", "float32", "x")
    mul = sl.op("onnx:Mul")
    numbers = [sl.constant(np.array(v, np.float32)) for v in (0.1, 0.3, np.float32(0.1) * np.float32(0.3))]
    before, after = model(y=mul(mul(x, numbers[0]), numbers[1])), model(y=mul(x, numbers[2]))
    found = sl.verify(before, after, laws=("reassociate",))
    assert (found.verdict, found.laws) == (PROVED, ("reassociate",))
    absolute, relative = found.differences["y"]
    assert 0 < absolute < 1e-6
    assert 0 < relative < 1e-6
    assert f"at sampled inputs, y differs by {absolute:.1e}" in found.explain()
    assert sl.verify(before, before).differences == {}


def test_a_model_that_is_refused_where_the_other_one_is_valid_is_another_one() -> None:
    x = sl.tensor("H, W", "float32", "x")
    square = sl.concatenate([x, sl.transpose(x)], axis=0)[: x.shape[0]]
    found = sl.verify(model(y=x), model(y=square))
    assert found.verdict is REFUTED
    assert found.witness is not None
    assert {str(dim): size for dim, size in found.witness.dims.items()} in ({"H": 1, "W": 2}, {"H": 2, "W": 1})
    assert "refused" in found.explain()
    assert sl.verify(model(y=square), model(y=x)).verdict is PROVED
    both = sl.verify(model(y=x, z=x), model(y=square, z=x))
    assert both.outputs == {"y": REFUTED, "z": PROVED}
    assert [refused_after({"y": x}, {"y": t}) is None for t in (x, square)] == [True, False]


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
def test_a_state_that_is_left_out_is_zero(kind: str) -> None:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    x = sl.tensor("T, N, 5", "float32", "x")
    w, r = (sl.tensor(f"2, {6 * gates}, {k}", "float32", name) for k, name in ((5, "w"), (6, "r")))
    layer, zero = sl.op(f"onnx:{kind}"), sl.constant(np.zeros((), np.float32))
    state = sl.broadcast_to(zero, (2, x.shape[1], 6))
    left_out = layer(x, w, r, hidden_size=6, direction="bidirectional")
    given = layer(x, w, r, initial_h=state, hidden_size=6, direction="bidirectional")
    other = layer(
        x,
        w,
        r,
        initial_h=sl.op("onnx:Add")(state, sl.constant(np.float32(1))),
        hidden_size=6,
        direction="bidirectional",
    )
    assert sl.verify(model(y=left_out), model(y=given)).verdict is PROVED
    assert sl.verify(model(y=left_out), model(y=other)).verdict is REFUTED


@pytest.mark.parametrize("of_another_type", [3, None, SimpleNamespace(graph=None)])
def test_what_is_neither_a_model_nor_a_path_is_refused(of_another_type: Any) -> None:
    for models in ((of_another_type, network(1)), (network(1), of_another_type)):
        with pytest.raises(TypeError, match=f"takes the path of a file, not {type(of_another_type).__name__}"):
            sl.verify(*models)


def test_a_test_can_demand_that_two_models_are_the_same() -> None:
    sl.assert_same_model(network(2), network(2, nhwc=True))
    with pytest.raises(AssertionError, match="conv1"):
        sl.assert_same_model(network(2), network(2, changed=1))
    assert isinstance(sl.verify(network(1), network(1)), Verification)


@pytest.mark.slow
def test_a_deep_network_takes_no_deep_recursion() -> None:
    assert sl.verify(network(400), network(400, nhwc=True)).verdict is PROVED


@pytest.mark.slow
def test_the_region_is_where_the_functions_differ() -> None:
    x = sl.tensor("N", "float32", "x")
    tensors: list[dict[str, sl.Tensor]] = []
    for name in ("half", "third"):
        inner = sl.compute(sl.Body(name), [relu(x)], batch=1)
        tensors.append({"x": x, "inner": inner, "y": relu(sl.flip(inner, 0))})
    models = [SimpleNamespace(inputs={"x": x}, outputs={"y": t["y"]}, tensors=t) for t in tensors]
    found = sl.verify(*models)
    assert (found.verdict, found.region) == (UNKNOWN, ("inner", "inner"))
