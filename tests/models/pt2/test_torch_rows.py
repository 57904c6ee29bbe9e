"""Rows of PyTorch's operations at their borders: what is not declared, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.torch.along_axes import topk, var
from symlayout.frontends.torch.elementwise import FUNCTIONS
from symlayout.frontends.torch.layers import batch_norm, scaled_dot_product_attention
from symlayout.frontends.torch.movement import chunk, index, slice_scatter, squeeze, unflatten
from symlayout.frontends.torch.promotion import promoted, result_type
from symlayout.frontends.torch.windows import conv, max_pool2d, upsample_nearest2d
from symlayout.models.formats import pt2_graph
from symlayout.models.formats.pt2_sizes import StatedSizes
from symlayout.models.formats.pt2_storage import Storages
from symlayout.models.formats.pt2_views import PUTS

FOLDER = Path(__file__).parent.parent / "exported"


@pytest.mark.parametrize(
    ("a", "b", "made"),
    [
        ("uint8", "int8", "int16"),
        ("int64", "float16", "float16"),
        ("bool", "uint8", "uint8"),
        ("float32", "float64", "float64"),
        ("int32", "int64", "int64"),
    ],
)
def test_types_are_promoted_as_torch_promotes_them(a: str, b: str, made: str) -> None:
    assert promoted(np.dtype(a), np.dtype(b)) == promoted(np.dtype(b), np.dtype(a)) == np.dtype(made)


def test_a_tensor_without_axes_and_a_number_count_less() -> None:
    x = sl.tensor("N", "int32", "x")
    assert result_type(x, sl.tensor((), "int64", "y")) == np.int32
    assert result_type(x, sl.tensor((), "float64", "y")) == np.float64
    assert result_type(x, 1 << 40) == np.int32
    assert result_type(x, 0.5) == np.float32
    assert result_type(sl.tensor("N", "float16", "x"), 0.5) == np.float16
    with pytest.raises(NotDeclaredError):
        promoted(np.dtype(np.uint64), np.dtype(np.int8))


X = sl.tensor("N, C, H, W", "float32", name="x")


@pytest.mark.parametrize(
    "call",
    [
        lambda: var(X, dim=[1]),  # the number of elements, less 1, depends on sizes
        lambda: topk(X, 1, sorted=False),
        lambda: batch_norm(X),
        lambda: batch_norm(X, running_mean=X, running_var=X, training=True),
        lambda: scaled_dot_product_attention(X, X, X, dropout_p=0.1),
        lambda: upsample_nearest2d(X, scale_factors=[1.7, 1.7]),
        lambda: FUNCTIONS["remainder"](X, 2),
        lambda: FUNCTIONS["softplus"](X, beta=2),
        lambda: FUNCTIONS["pow"](sl.tensor("N", "int64", "i"), sl.tensor("N", "int64", "j")),
        lambda: index(X, sl.tensor("N", "bool", "m")),
        lambda: slice_scatter(X, sl.tensor("N, C, H, K", "float32", "s"), 3, 0, 4),
    ],
)
def test_what_has_no_declaration_says_so(call: Any) -> None:
    with pytest.raises(NotDeclaredError):
        call()


def test_what_torch_refuses_is_refused() -> None:
    with pytest.raises(sl.ShapeError, match="is more than half of a window"):
        max_pool2d(X, 2, padding=2)
    with pytest.raises(sl.ShapeError, match="padding is same, and there are strides"):
        conv(X, sl.tensor("M, C, 3, 3", "float32", "w"), stride=2, padding="same")
    with pytest.raises(sl.ShapeError, match="is no int32"):
        FUNCTIONS["fill"](sl.tensor("N", "int32", "i"), 0.5)


@pytest.mark.parametrize("name", ["unbind", "select", "slice", "chunk", "unflatten", "narrow", "sort", "topk", "glu"])
def test_a_tensor_without_axes_has_no_axis(name: str) -> None:
    """A damaged file had such an `unbind`: it was an IndexError."""
    more: dict[str, dict[str, Any]] = {
        "chunk": {"chunks": 2},
        "unflatten": {"sizes": [1]},
        "narrow": {"start": 0, "length": 1},
        "topk": {"k": 1},
    }
    given: dict[str, Any] = {"index": 0} if name == "select" else more.get(name, {})
    with pytest.raises(sl.ShapeError):
        sl.op(f"torch:{name}")(sl.tensor((), name="x"), dim=0, **given)


def test_parts_of_an_axis_follow_from_their_number() -> None:
    first, second = chunk(sl.tensor("N, C", name="x"), 2, 1, outputs=2)
    assert (str(first.shape), str(second.shape)) == ("(N, ceiling(C/2))", "(N, C - ceiling(C/2))")
    assert str(unflatten(sl.tensor("N, 6*c", name="x"), 1, [-1, 3]).shape) == "(N, 2*c, 3)"
    assert str(squeeze(sl.tensor("N, 1, C", name="x")).shape) == "(N, C)"


def test_indices_that_are_no_neighbours_come_first() -> None:
    i = sl.tensor("K", "int64", "i")
    assert str(index(X, i, None, i).shape) == "(K, C, W)"
    assert str(index(X, None, i, i).shape) == "(N, K, W)"
    assert str(index(X, None, i[:, None], i).shape) == "(N, K, K, W)"


def test_a_view_that_is_written_is_put_back() -> None:
    base, view = sl.tensor("3, 4", name="b"), sl.tensor("4", name="v")
    made = PUTS["torch:select"](base, view, {"dim": 0, "index": -1}, 0, [])
    x, y = np.arange(12.0).reshape(3, 4), np.full(4, 7.0)
    expected = x.copy()
    expected[-1] = y
    np.testing.assert_array_equal(sl.interpret(made, b=x, v=y), expected)


def test_values_of_one_storage_change_together() -> None:
    storages = Storages(dict.fromkeys(("a", "b", "c", "d"), 9))
    storages.link("b", "a", certain=True, view=lambda a: a + 1, put=lambda a, b: b - 1)
    storages.link("c", "a", certain=True, view=lambda a: a * 2)
    storages.link("d", "b", certain=False)
    assert storages.written("b", 1, 10, {"a": 1, "b": 2, "c": 2, "d": 2}) == ({"b": 10, "a": 9, "c": 18}, {"d"})
    assert storages.written("c", 1, 10, {"a": 1, "b": 2, "c": 2, "d": 2}) == ({"c": 10}, {"a", "b", "d"})
    assert storages.together("d", 8) == {"a", "b", "c", "d"}
    assert storages.together("d", 9) == set()


def test_dims_have_the_bounds_of_the_file() -> None:
    sizes = StatedSizes(pt2_graph.read(FOLDER / "torch_block.pt2"))
    assert {name: (d.record.min, d.record.max) for name, d in sizes.dims.items()} == {"s23": (2, None), "s27": (2, 16)}
    assert sizes.size("Symbol('u0')") is None
    assert not sizes.hints
