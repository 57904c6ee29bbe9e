"""A product in each form has the numbers of the product: its columns are batches, or rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

import symlayout as sl
from symlayout.optimize_models.movement_cost import Movement
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.products.column_parts import JointProducts
from symlayout.optimize_models.products.product_forms import FLAT, ProductForm, spread
from tests.optimize_models.products.test_split_products import CHANNELS, WAYS, WIDTH, attention

ROWS, TERMS, COLUMNS = 3, 4, 6


@pytest.mark.parametrize(
    "form", [FLAT, ProductForm(batches=2), ProductForm(batches=3), ProductForm(turned=True)], ids=str
)
def test_the_product_in_a_form_is_the_product_once_it_is_flat(form: ProductForm) -> None:
    rng = np.random.default_rng(0)
    x, w, row = (rng.integers(0, 9, shape) for shape in ((2, ROWS, TERMS), (TERMS, COLUMNS), (COLUMNS,)))
    weights, added = form.constant(w), form.constant(row)
    if form.turned:
        made = weights @ np.swapaxes(x, 1, 2) + added
    else:
        made = (x if form.batches == 1 else x[:, None]) @ weights + added
    assert made.shape == form.extents((2, ROWS, COLUMNS))
    flat = form.flat(sl.tensor(made.shape, name="x"), (2, ROWS, COLUMNS))
    assert np.array_equal(sl.interpret(flat, made), x @ w + row)


def test_columns_are_spread_to_where_they_were() -> None:
    part = sl.tensor((1, 4), dtype="int64", name="x")
    assert sl.interpret(spread(part, (1, 2, 5, 0), 7), np.array([[11, 12, 15, 10]])).tolist() == [
        [10, 11, 12, 0, 0, 15, 0]
    ]


@pytest.mark.parametrize("way", WAYS)
def test_the_parts_of_attention_are_its_queries_keys_and_values(way: str, tmp_path: Path) -> None:
    onnx.save(attention(way, "static"), tmp_path / "m.onnx")
    model = sl.read_model(tmp_path / "m.onnx")
    graph = EditedGraph(model.source)
    joint = JointProducts(graph, Movement(model))
    found = [product for node in graph.nodes if (product := joint.product(node)) is not None]
    (product,) = (product for product in found if product.columns == 3 * CHANNELS)
    region = joint.region(product.value)
    assert region is not None
    columns = [part.columns for part in joint.parts(product, region[0])]
    if way == "heads":  # queries, keys and values of a head stand together
        steps = range(0, 3 * WIDTH, WIDTH)
        heads = range(0, 3 * CHANNELS, 3 * WIDTH)
        assert columns == [tuple(h + s + k for h in heads for k in range(WIDTH)) for s in steps]
    else:
        assert columns == [tuple(range(k, k + CHANNELS)) for k in range(0, 3 * CHANNELS, CHANNELS)]
    assert [node.op_type for node in product.nodes] == ["MatMul", "Add"]
