"""The table of functions whose value is NaN, infinite or a zero of a sign as the standard says, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.compute import scalars, trace
from symlayout.compute.fixed_kinds import OPEN, ROUNDED, is_open, kind
from symlayout.frontends.onnx import elementwise
from tests.attack.rules import specials
from tests.attack.runtimes import Sessions

Array = np.ndarray[Any, Any]
ALPHAS = (0.0, -0.0, 0.5, 1.0, -1.0)
OTHERS: dict[str, tuple[Callable[..., Any], int]] = {
    "Max": (trace.larger, 2),
    "Min": (trace.smaller, 2),
    "Where": (scalars.select, 3),
}
TABLE = [(name, row.function, len(row.inputs.split())) for name, row in elementwise.ROWS.items()]
TABLE = [row for row in (*TABLE, *((name, *row) for name, row in OTHERS.items())) if row[1] in OPEN]


def operands(name: str, count: int) -> list[Array]:
    """Return all combinations of special values, so often that a runtime takes them as vectors, too."""
    values = specials("bool" if name in ("And", "Or", "Xor", "Not") else "float32")
    if values.dtype != bool:
        values = np.array([v for v in values if v == 0 or not 0 < abs(v) < 1e-30], values.dtype)  # may be flushed to 0
    if name == "Where":
        x, y, c = (a.ravel() for a in np.meshgrid(values, values, [False, True]))
        return [c, x, y]
    return [np.tile(a.ravel(), 3) for a in np.meshgrid(*[values] * count)]


def run(name: str, arrays: list[Array], given: dict[str, float]) -> Array:
    """Return what onnxruntime makes of one operator."""
    pytest.importorskip("onnxruntime")
    helper = pytest.importorskip("onnx").helper
    names = [f"x{k}" for k in range(len(arrays))]
    types = {np.dtype(np.float32): 1, np.dtype(bool): 9}
    row = elementwise.ROWS.get(name)
    made = np.dtype(np.float32 if row is None or row.dtype is None else row.dtype)
    inputs = [helper.make_tensor_value_info(n, types[a.dtype], a.shape) for n, a in zip(names, arrays, strict=True)]
    output = helper.make_tensor_value_info("y", types[made], None)
    graph = helper.make_graph([helper.make_node(name, names, ["y"], **given)], "one", inputs, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    found = Sessions(model).by_onnxruntime(dict(zip(names, arrays, strict=True)))
    assert found.arrays is not None, found.refusal
    return found.arrays[0]


@pytest.mark.parametrize(("name", "function", "count"), TABLE, ids=[row[0] for row in TABLE])
def test_onnxruntime_computes_values_of_the_same_kind_where_the_table_leaves_nothing_open(
    name: str, function: Any, count: int
) -> None:
    arrays = operands(name, count)
    row = elementwise.ROWS.get(name)
    for given in [{"alpha": a} for a in ALPHAS] if row is not None and "alpha" in row.attributes else [{}]:
        read = [*arrays[1:], arrays[0]] if name == "Where" else arrays
        defaults = {} if row is None else row.attributes
        with np.errstate(all="ignore"):
            value = np.asarray(function(*read, **{**defaults, **given}))
        body = sl.Body(name, function)
        closed = np.array(
            [not is_open(body, [a[k : k + 1] for a in read], value[k : k + 1]) for k in range(value.size)]
        )
        assert closed.mean() > 0.7
        made = run(name, arrays, given)
        if made.dtype == bool:
            assert (made == value)[closed].all(), given
            continue
        parts = (kind(made) != kind(value)) & closed
        assert not parts.any(), (given, [a[parts][:4] for a in arrays], made[parts][:4], value[parts][:4])
        if function not in ROUNDED:
            assert ((made == value) | (kind(value) > 0))[closed].all(), given


def test_every_function_of_the_table_is_one_of_an_operator() -> None:
    assert {function for _, function, _ in TABLE} == set(OPEN)
    assert set(OPEN) > ROUNDED


def test_other_functions_are_relied_on_for_numbers_that_are_not_0_only() -> None:
    body = sl.Body("exp", np.exp)
    one = np.array([1.0])
    assert not is_open(body, [one], one)
    for odd in (0.0, -0.0, np.inf, np.nan):
        assert is_open(body, [one], np.array([odd]))
    for odd in (np.inf, np.nan):
        assert is_open(body, [np.array([odd])], one)


def test_a_kind_tells_zeros_and_infinities_by_their_sign_and_nans_not() -> None:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0])
    assert kind(values)[0] == kind(values)[1]
    assert len(set(kind(values).tolist())) == 6
