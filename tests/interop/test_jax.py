"""A tensor as a function of JAX: values and gradients, under jit, vmap and export, on the host and in XLA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, reject, settings

import symlayout as sl
from symlayout.errors import ArrayError, ShapeError
from tests.support.chains import build, symbolic
from tests.support.effort import examples
from tests.support.strategies import Case, cases

jax: Any = pytest.importorskip("jax", reason="the extra jax is not installed")

from symlayout.interop.jax import function  # noqa: E402  # needs jax


def blocks() -> sl.Tensor:
    padded = sl.pad(sl.tensor("N, C, H, W", name="x"), [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=2)
    return sl.space_to_depth(padded, 2)


def joined() -> sl.Tensor:
    pair = [sl.tensor("N, C", name="a"), sl.tensor("N, D", name="b")]
    return sl.repeat(sl.concatenate(pair, axis=1), sl.dim("r", min=1), axis=0)


def window() -> sl.Tensor:
    return sl.window(sl.tensor("L", name="s"), [3], axis=[0])


CASES: dict[str, tuple[Callable[[], sl.Tensor], list[tuple[int, ...]], dict[str, int]]] = {
    "blocks": (blocks, [(2, 3, 4, 6)], {}),
    "joined": (joined, [(2, 3), (2, 1)], {"r": 3}),
    "window": (window, [(7,)], {}),
    "table": (lambda: sl.take(sl.tensor("N, M", name="x"), [k * k % 5 for k in range(70)], 1), [(2, 5)], {}),
}


@pytest.mark.parametrize("native", [False, True], ids=["host", "native"])
@pytest.mark.parametrize("name", CASES)
def test_values_gradients_and_batches(name: str, native: bool) -> None:
    make, shapes, dims = CASES[name]
    y = make()
    f = function(y, native=native)
    source = np.random.default_rng(0)
    arrays = [source.normal(size=(4, *shape)).astype(np.float32) for shape in shapes]
    first = [a[0] for a in arrays]
    expected = sl.interpret(y, *first, dims=dims)
    weights = source.normal(size=expected.shape).astype(np.float32)
    assert np.array_equal(f(*first, **dims), expected)
    assert np.array_equal(jax.jit(lambda *xs: f(*xs, **dims))(*first), expected)
    batched = jax.vmap(lambda *xs: f(*xs, **dims))(*arrays)
    assert np.array_equal(batched, [sl.interpret(y, *(a[k] for a in arrays), dims=dims) for k in range(4)])
    gradients = jax.jit(jax.grad(lambda *xs: (f(*xs, **dims) * weights).sum(), argnums=tuple(range(len(first)))))(
        *first
    )
    for leaf, a, found in zip(y.leaves(), first, gradients, strict=True):
        assert found.shape == a.shape
        dimensions = {**dims, "C": 3, "N": 2, "L": 7, "D": 1, "H": 4, "W": 6, "M": 5}
        known = {key: value for key, value in dimensions.items() if key in y.facts.dims}
        assert np.allclose(found, sl.interpret(sl.adjoint(y, leaf), weights, dims=known), atol=1e-5)


@pytest.mark.parametrize("native", [False, True], ids=["host", "native"])
def test_some_arguments_are_batched_and_others_not(native: bool) -> None:
    f = function(sl.concatenate([sl.tensor("N", name="a"), sl.tensor("M", name="b")]), native=native)
    found = jax.vmap(f, in_axes=(0, None))(np.ones((3, 2), np.float32), np.zeros(1, np.float32))
    assert found.tolist() == [[1, 1, 0]] * 3


def test_export_keeps_the_expressions() -> None:
    shape = jax.export.symbolic_shape("n, c, 2*h, 2*w")
    exported = jax.export.export(jax.jit(function(blocks())))(jax.ShapeDtypeStruct(shape, np.float32))
    assert str(exported.out_avals[0].shape) == "(n, 4*c, h + 1, w + 1)"
    again = jax.export.deserialize(exported.serialize())
    for sizes in [(2, 3, 4, 6), (1, 1, 2, 2), (3, 2, 8, 2)]:
        x = np.random.default_rng(1).normal(size=sizes).astype(np.float32)
        assert np.array_equal(again.call(x), sl.interpret(blocks(), x))


@settings(max_examples=examples(12), deadline=None, suppress_health_check=list(HealthCheck))
@given(case=cases(most_steps=3))
def test_the_map_in_xla_is_the_interpreters(case: Case) -> None:
    """The chain has dims for all sizes; what follows from them is computed from the symbolic normal form."""
    case = replace(case, dtype="i4", layout="contiguous")
    dims: dict[str, int] = {}
    steps = [(name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps)]
    x = case.array()
    try:
        y = build(sl.tensor([sl.dim(f"n{k}") for k in range(len(case.shape))], name="x"), steps)
        expected = sl.interpret(y, x, dims=dims)
    except ShapeError:  # a chain that is one for these sizes, or attributes that are known, only
        reject()
    used = {name: n for name, n in dims.items() if name in y.facts.dims}
    assert np.array_equal(function(y, native=True)(x, **used), expected)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "bool", "complex64", "float8_e4m3fn"])
@pytest.mark.parametrize("native", [False, True], ids=["host", "native"])
def test_element_types(dtype: str, native: bool) -> None:
    x = jax.numpy.arange(6).reshape(2, 3).astype(dtype)
    y = function(sl.pad(sl.transpose(sl.tensor("N, M")), 1, constant_values=1), native=native)(x)
    assert y.dtype == x.dtype
    assert np.array_equal(y, np.pad(np.asarray(x).T, 1, constant_values=np.ones((), x.dtype)))


def test_gradient_of_bfloat16_is_summed_in_float32() -> None:
    f = function(sl.repeat(sl.tensor("N"), 1000))
    found = jax.grad(lambda x: f(x).astype(np.float32).sum())(jax.numpy.ones(2, "bfloat16"))
    assert (str(found.dtype), found.tolist()) == ("bfloat16", [1000, 1000])


def test_integers_have_no_gradient() -> None:
    f = function(sl.concatenate([sl.tensor("N", np.int32, "a"), sl.tensor("M", np.int32, "b")]))
    assert f(np.ones(1, np.int32), np.zeros(1, np.int32)).tolist() == [1, 0]


def test_errors() -> None:
    f = function(blocks())
    with pytest.raises(ShapeError) as caught:
        jax.jit(f)(np.zeros((1, 1, 3, 4), np.float32))
    assert caught.value.kind == "non_divisible"
    with pytest.raises(ArrayError, match="takes 1 arrays, got 2"):
        f(np.zeros(1), np.zeros(1))
    with pytest.raises(ArrayError, match="element types float32, int32"):
        function(joined())(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.int32), r=1)
    with pytest.raises(ShapeError) as caught:
        function(joined())(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32))
    assert caught.value.kind == "unbound_dim"


def test_known_sizes_take_no_callback_and_no_gather() -> None:
    x = sl.tensor("N, C, H, W", name="x")
    chains = [sl.space_to_depth(sl.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), 2), sl.roll(x, 1, 2), sl.flip(x)[:, ::2]]
    for y in chains:
        text = str(jax.make_jaxpr(function(y))(np.zeros((2, 3, 4, 6), np.float32)))
        assert "callback" not in text
        assert "gather" not in text
    host = str(jax.make_jaxpr(function(chains[0], native=False))(np.zeros((2, 3, 4, 6), np.float32)))
    assert "callback" in host
