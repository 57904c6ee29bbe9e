"""Every row of tests/conformance: shapes, values, bounds and errors from the frameworks' own tests."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.conformance.corpus import FOLDER, Row, contains, rows
from tests.support import oracle

# Rows on which the peer's answer is not ours, and why.  Each has its own test below.
OVERRULED = {
    "ov.s2b.tp.when_data_dynamic_": "pads of the batch are an error; OpenVINO infers a shape without them",
    "ov.s2b.tp.default_ctor": "pads of the batch are an error; OpenVINO infers a shape without them",
    "ov.b2s.tp.incompatible_input_element_types.1": "attributes may have any integer types, also mixed",
    "ov.b2s.tp.incompatible_input_element_types.2": "attributes may have any integer types, also mixed",
    "ov.b2s.tp.incompatible_input_element_types.3": "refused, but because two of the types are not integers",
}
# Rows that spell an operation or its inputs otherwise than the specification: the name and the inputs there.
RESPELLED = {
    "bug.ov.transpose.zero": ("openvino:Transpose-1", {"perm": "input_order"}),
    "bug.onnx.slice.neg_start": ("onnx:Slice", {"start": "starts", "stop": "ends", "step": "steps"}),
}
MOST_ELEMENTS = 100_000
MOST_SYMBOLIC_RANK = 4
# OpenVINO counts the bits of an element, NumPy the bytes.
NUMPY_NAMES = {f"{kind}{8 * size}": f"{kind}{size}" for kind in "iuf" for size in (1, 2, 4, 8)}

ROWS = {row.id: row for row in rows()}
OURS = [row for row in ROWS.values() if row.id not in OVERRULED | RESPELLED]
SHAPED = [row for row in OURS if "shape" in row.expect]
PARTIAL = [row for row in OURS if row.expect.get("partial_shape") is not None]
UNRANKED = [row for row in OURS if "partial_shape" in row.expect and row.expect["partial_shape"] is None]
REFUSED = [row for row in OURS if row.kinds]
RUN = [row for row in SHAPED if "values" in row.input or 0 in row.expect["shape"]]

# What the rows call a model: brute force.
MODELS: dict[str, Callable[[Row, oracle.Grid], oracle.Grid]] = {
    "tensorflow:SpaceToBatchND": lambda row, x: oracle.space_to_batch(x, **row.attrs),
    "tensorflow:SpaceToDepth": lambda row, x: oracle.space_to_depth(x, row.attrs["block_size"]),  # NCHW
}


def each(some: Iterable[Row]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", list(some), ids=lambda row: row.id)


def test_every_row_is_tested_once() -> None:
    assert len(ROWS) == 330
    tested = [*SHAPED, *PARTIAL, *UNRANKED, *REFUSED]
    assert sorted(row.id for row in tested) == sorted(set(ROWS) - set(OVERRULED) - set(RESPELLED))


def test_every_case_that_a_disagreement_cites_is_a_row() -> None:
    topics = json.loads((FOLDER / "disagreements.json").read_text(encoding="utf-8"))
    assert {case for topic in topics for case in topic["cases"]} <= set(ROWS)


# -- results


@each(SHAPED)
def test_shape(row: Row) -> None:
    assert row.apply(row.tensor()).shape == tuple(row.expect["shape"])


@each(RUN)
def test_values_of_the_interpreter(row: Row) -> None:
    x = row.array()
    check_values(row, x, sl.interpret(row.apply(row.tensor()), x))


@each(row for row in RUN if "dtypes_tested" in row.rest)
def test_values_in_the_other_element_types(row: Row) -> None:
    y = row.apply(sl.tensor(row.static_shape))
    for name in set(row.rest["dtypes_tested"]) - {"bf16", "bfloat16"}:  # NumPy has none
        x = row.array().astype(NUMPY_NAMES.get(name, name))
        check_values(row, x, sl.interpret(y, x))


@pytest.mark.sample(2)
@each(RUN)
def test_values_of_a_kernel_for_all_shapes_and_attributes(row: Row) -> None:
    x = row.array()
    attributes = row.attributes()
    key = skeleton(attributes, symbolic=x.ndim <= MOST_SYMBOLIC_RANK)
    kernel, dims = dynamic_kernel(row.op, x.ndim, str(x.dtype), key)
    values = {k: n for name, value in attributes.items() for k, n in numbers(name, value).items()}
    check_values(row, x, kernel(x, dims={k: n for k, n in values.items() if k in dims}))


def check_values(row: Row, x: np.ndarray[Any, Any], result: np.ndarray[Any, Any]) -> None:
    """Assert that *result* is what the row, or the oracle where it refers to a model, expects of *x*."""
    assert result.shape == tuple(row.expect["shape"])
    assert result.dtype == x.dtype
    if "values_from" in row.expect:
        expected = MODELS[row.op](row, oracle.grid(x)).data()
    else:
        expected = np.array(row.expect.get("values", [])).astype(x.dtype).tobytes()
    assert result.tobytes() == expected


# A kernel is made once for all rows that differ in numbers only: the extents of the input and the
# integers of the attributes are dims, so that these rows also test kernels with symbolic blocks and pads.
# The proofs for a dozen symbolic blocks and pads take long, so at higher ranks only the extents are dims.


def skeleton(value: Any, *, symbolic: bool) -> Any:
    """Return *value* in a form that can be hashed; if *symbolic*, with None for every integer."""
    if isinstance(value, dict):
        return tuple((k, skeleton(v, symbolic=symbolic)) for k, v in value.items())
    if isinstance(value, list | np.ndarray):
        return tuple(skeleton(v, symbolic=symbolic) for v in value)
    return None if symbolic and not isinstance(value, str) else value


def numbers(name: str, value: Any) -> dict[str, int]:
    """Return the integers of an attribute by name and position: ``{"crops_0_1": 2, ...}``."""
    if isinstance(value, list | np.ndarray):
        return {k: n for i, v in enumerate(value) for k, n in numbers(f"{name}_{i}", v).items()}
    return {} if isinstance(value, str) else {name: int(value)}


def symbols(name: str, entry: Any, least: int) -> Any:
    """Return a skeleton with a dim for each None, named as in `numbers`."""
    if isinstance(entry, tuple):
        return [symbols(f"{name}_{i}", e, least) for i, e in enumerate(entry)]
    return sl.dim(name, min=least) if entry is None else entry


@functools.cache
def dynamic_kernel(op: str, rank: int, dtype: str, attributes: Any) -> tuple[Callable[..., Any], set[str]]:
    """Return a kernel with dims for all extents, and for every None among the attributes; and the dims that it has."""
    given = {}
    for name, entry in attributes:
        least = 0 if name.startswith(("pad", "crop")) else 1
        if op.startswith("tensorflow:") and name == "block_size":
            least = 2
        given[name] = symbols(name, entry, least)
        if op in ("openvino:SpaceToBatch-2", "openvino:BatchToSpace-2"):
            given[name][0] = least  # the entry of the batch is a constant
    x = sl.tensor([sl.dim(f"n{k}") for k in range(rank)], dtype=dtype, name="x")
    y = sl.op(op)(x, **given)
    return sl.compile(y, strict=True), set(y.facts.dims)


# -- bounds


@each(PARTIAL)
def test_bounds_are_never_looser_than_the_peers(row: Row) -> None:
    x = row.tensor()
    y = row.apply(x)
    assert contains(row.expect["partial_shape"], y.bounds()), y.bounds()
    for k, axis in enumerate(row.expect.get("symbols_from_input_axis", ())):
        assert axis is None or y.shape[k] == x.shape[axis]


@each(UNRANKED)
def test_the_rank_has_to_be_known(row: Row) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        row.tensor()
    assert caught.value.kind == "unknown_rank"


# -- errors


@each(REFUSED)
def test_error_kind(row: Row) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        row.apply(row.tensor())
    assert caught.value.kind in row.kinds


@each(row for row in REFUSED if row.static_shape is not None)
def test_error_kind_is_the_same_when_the_shape_comes_later(row: Row) -> None:
    assert row.static_shape is not None
    extents = [sl.dim(f"n{k}") for k in range(len(row.static_shape))]
    with pytest.raises(sl.ShapeError) as caught:
        row.apply(sl.tensor(extents)).subs(dict(zip(extents, row.static_shape, strict=True)))
    assert caught.value.kind in row.kinds


@each(row for row in REFUSED if row.static_shape is not None and math.prod(row.static_shape) <= MOST_ELEMENTS)
def test_error_kind_is_the_same_at_run_time(row: Row) -> None:
    x = row.array()
    with pytest.raises(sl.ShapeError) as caught:
        sl.interpret(row.apply(sl.tensor([None] * x.ndim)), x)
    assert caught.value.kind in row.kinds


# -- rows that are overruled, and rows in another spelling


@pytest.mark.parametrize("name", ["ov.s2b.tp.when_data_dynamic_", "ov.s2b.tp.default_ctor"])
def test_pads_of_the_batch_are_refused_and_without_them_the_row_holds(name: str) -> None:
    row = ROWS[name]
    with pytest.raises(sl.ShapeError) as caught:
        row.apply(row.tensor())
    assert caught.value.kind == "batch_pad_nonzero"
    attributes = row.attributes()
    for pads in (attributes["pads_begin"], attributes["pads_end"]):
        pads[0] = 0
    assert contains(row.expect["partial_shape"], row.apply(row.tensor(), **attributes).bounds())


@pytest.mark.parametrize("number", [1, 2])
def test_attributes_of_mixed_integer_types_are_accepted(number: int) -> None:
    row = ROWS[f"ov.b2s.tp.incompatible_input_element_types.{number}"]
    assert row.apply(row.tensor()).shape == (5, 52)


def test_attributes_of_mixed_types_that_are_not_all_integers_are_refused() -> None:
    row = ROWS["ov.b2s.tp.incompatible_input_element_types.3"]
    with pytest.raises(sl.ShapeError) as caught:
        row.apply(row.tensor())
    assert caught.value.kind == "attr_dtype"


@pytest.mark.parametrize("name", RESPELLED)
def test_rows_in_the_spelling_of_the_specification(name: str) -> None:
    op, inputs = RESPELLED[name]
    row, x = ROWS[name], ROWS[name].array()
    attributes = {inputs.get(key, key): value for key, value in row.attributes().items()}
    check_values(row, x, sl.interpret(sl.op(op)(row.tensor(), **attributes), x))
    check_values(row, x, sl.compile(sl.op(op)(row.tensor(), **attributes), strict=True)(x))
