"""Declarations of users that compute with dims, or return no coordinates: typed errors with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl
from symlayout.declare import Case, Declared, index_map

H, W = sl.dims("H W")
k = sl.dim("k", min=1)
q = sympy.Symbol("q")
EXTENT = r"x.extent\(value\)"


def declared(declaration: Callable[..., Any]) -> Any:
    """Return the map of an operation of a user; *declaration* takes the operand and its two extents."""

    @sl.operation
    def mine(x: Any) -> Declared:
        made: Declared = declaration(x, *x.shape)
        return made

    return mine(sl.tensor((H, W), name="x")).index_map


FOREIGN: dict[str, Callable[..., Any]] = {
    "a dim that is added": lambda x, n, w: index_map((n, w), lambda i, j: ((i + k) % n, j)),
    "a dim that is added to": lambda x, n, w: index_map((n, w), lambda i, j: ((k + i) % n, j)),
    "a dim as a factor": lambda x, n, w: index_map((n, w), lambda i, j: (k * i, j)),
    "a dim as a divisor": lambda x, n, w: index_map((n, w), lambda i, j: (i // k, j)),
    "a dim as a coordinate": lambda x, n, w: index_map((n, w), lambda i, j: (k, j)),
    "a dim as an extent": lambda x, n, w: index_map((k, w), lambda i, j: (i % n, j)),
    "a dim times an extent": lambda x, n, w: index_map((n * k, w), lambda i, j: (i // k, j)),
    "the dim of an extent": lambda x, n, w: index_map((H, w), lambda i, j: (n - 1 - i, j)),
    "a symbol": lambda x, n, w: index_map((n, w), lambda i, j: ((i + q) % n, j)),
    "an expression": lambda x, n, w: index_map((n, w), lambda i, j: ((i + k * H) % n, j)),
    "a window": lambda x, n, w: Declared((n, w), (Case(lambda i, j: (i, j), where=lambda i, j: [(i - k, n)]),)),
    "a float": lambda x, n, w: index_map((n, w), lambda i, j: (i + 0.5, j)),
    "text as a coordinate": lambda x, n, w: index_map((n, w), lambda i, j: ("a", j)),
    "no coordinate": lambda x, n, w: index_map((n, w), lambda i, j: (None, j)),
    "a float as an extent": lambda x, n, w: index_map((n, 2.5), lambda i, j: (i, j)),  # type: ignore[arg-type]
    "text as an extent": lambda x, n, w: index_map((n, "w"), lambda i, j: (i, j)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("declaration", FOREIGN.values(), ids=FOREIGN.keys())
def test_a_declaration_that_computes_with_no_extent_says_how_to_make_one(declaration: Callable[..., Any]) -> None:
    with pytest.raises(sl.ShapeError, match=EXTENT) as refused:
        declared(declaration)
    assert refused.value.kind == "attr_dtype"


FAILING: dict[str, Callable[..., Any]] = {
    "a comparison": lambda x, n, w: index_map((n, w), lambda i, j: (i if i < n else 0, j)),
    "a comparison with a dim": lambda x, n, w: index_map((n, w), lambda i, j: (i if n > k else 0, j)),
    "a fraction": lambda x, n, w: index_map((n, w), lambda i, j: (i / 2, j)),
    "a function of SymPy": lambda x, n, w: index_map((n, w), lambda i, j: (sympy.Min(i, k), j)),
    "one parameter for two axes": lambda x, n, w: index_map((n, w), lambda i: (i, 0)),
    "no map": lambda x, n, w: None,
}


@pytest.mark.parametrize("declaration", FAILING.values(), ids=FAILING.keys())
def test_a_function_of_a_map_that_fails_is_a_typed_error(declaration: Callable[..., Any]) -> None:
    with pytest.raises(sl.FormatError, match=r"mine.*\n  help: "):
        declared(declaration)


@pytest.mark.parametrize("coordinates", [None, 3, "ab"], ids=repr)
def test_a_map_returns_one_coordinate_for_each_axis(coordinates: Any) -> None:
    with pytest.raises(sl.ShapeError, match="one coordinate for each axis") as refused:
        declared(lambda x, n, w: index_map((n, w), lambda i, j: coordinates if coordinates != "ab" else (i,)))
    assert refused.value.kind == "rank"


def test_extents_of_dims_and_integers_of_numpy_are_taken() -> None:
    rolled = declared(lambda x, n, w: index_map((n, w), lambda i, j: ((i + x.extent(k)) % n, j * np.int64(1))))
    assert str(rolled) == "(i0, i1) -> ((i0 + k) % H, i1)"
