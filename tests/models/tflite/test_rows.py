"""Small parts of the reader: rows at their borders, names of inputs, and what formats state of types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.tflite.along_axes import members
from symlayout.frontends.tflite.movement import pack, squeeze
from symlayout.frontends.tflite.windows import conv_2d, transpose_conv
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.formats import tflite_graph
from symlayout.models.formats.load_tflite import read_tflite
from symlayout.models.formats.node_values import FormatNode, digest_of, of_stated_type, opaque_values
from symlayout.models.known_dims import KnownDims
from tests.models.tflite.files import Op, T, write

I32 = np.dtype(np.int32)


def test_the_places_of_segments_are_in_order() -> None:
    assert members([1, 0, 1, 3, -1], 4) == [[1], [0, 2], [], [3]]


@pytest.mark.parametrize(("ids", "count"), [([2], 2), ([[0]], 1), ([0.5], 1), ([0], -1), ([0], 1 << 20)])
def test_what_is_no_segment_is_refused(ids: Any, count: int) -> None:
    with pytest.raises(sl.ShapeError):
        members(ids, count)


def test_integers_get_the_stated_type_if_it_holds_them() -> None:
    sizes = np.array([3, 4], np.int64)
    made = of_stated_type(sizes, I32)
    assert isinstance(made, np.ndarray)
    assert made.dtype == I32
    large = np.array([1 << 40], np.int64)
    assert of_stated_type(large, I32) is large
    assert of_stated_type(sizes, None) is sizes


def test_an_opaque_node_has_the_shape_that_the_file_states() -> None:
    x = sl.tensor("N, 3", name="x")
    stated = (((None, 3), np.dtype(np.float32)), (None, None))
    node = FormatNode("any:Foo", "node", {}, stated, keeps_shape=True, digest=digest_of(["foo"]))
    first, second = opaque_values(Evaluation({}), node, [x])
    assert isinstance(first, sl.Tensor)
    assert [str(n) for n in first.shape] == ["N", "3"]
    assert second is not None
    assert getattr(second, "rank", 0) is None
    assert digest_of(["a", "b"]) != digest_of(["ab"])


def test_groups_follow_from_the_channels() -> None:
    x, w = sl.tensor("N, H, W, 8", name="x"), sl.tensor("6, 3, 3, 4", name="w")
    assert str(conv_2d(x, w).shape) == "(N, H, W, 6)"
    with pytest.raises(sl.ShapeError, match="filters of 3 channels do not fit 8"):
        conv_2d(x, sl.tensor("6, 3, 3, 3", name="w"))


def test_what_depends_on_more_than_is_known_is_not_declared() -> None:
    x, w = sl.tensor("1, H, 4, 2", name="x"), sl.tensor("3, 2, 2, 2", name="w")
    with pytest.raises(NotDeclaredError):
        transpose_conv(x, w, [1, 8, 8, 3], stride_h=2, stride_w=2)
    with pytest.raises(sl.ShapeError, match="each is at least 1"):
        transpose_conv(x, w, [1, 8, 8, 3], stride_h=2, stride_w=0)
    with pytest.raises(NotDeclaredError):
        squeeze(sl.tensor("N, 1", name="x"))
    with pytest.raises(sl.ShapeError, match="there is none"):
        pack([])


def test_inputs_have_the_names_of_the_signature(tmp_path: Path) -> None:
    tensors = [T("serving_default_x:0", (None, 3)), T("PartitionedCall:0", (None, 3))]
    ends = {"inputs": tensors[0].name, "outputs": tensors[1].name}
    operators = [Op("ABS", tensors[0].name, tensors[1].name)]
    plain = tflite_graph.read(write(tmp_path, tensors, operators, **ends))
    assert plain.inputs == (("serving_default_x:0", 0),)
    named = write(tmp_path, tensors, operators, signature={tensors[0].name: "x", tensors[1].name: "y"}, **ends)
    model = read_tflite(named, KnownDims({}))
    assert (list(model.inputs), list(model.outputs)) == (["x"], ["y"])
    assert [str(n) for n in model.outputs["y"].shape] == ["x.0", "3"]
