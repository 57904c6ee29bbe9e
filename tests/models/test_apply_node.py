"""A node of a model becomes a call of its operation, or an error that says where."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import FormatError, MissingFileError, ShapeError
from symlayout.models.apply_node import apply_layer, identifier
from symlayout.models.model_file import open_model

X = sl.tensor((2, 3), name="x")


def test_the_first_input_is_data_and_the_others_are_attributes() -> None:
    (y,) = apply_layer("onnx:Transpose", [X], {"perm": [1, 0]}, "node t")
    assert y.shape == (3, 2)
    (joined,) = apply_layer("onnx:Concat", [X, X], {"axis": 0}, "node c")
    assert joined.shape == (4, 3)


def test_data_that_is_a_constant_and_attributes_that_are_not_are_refused() -> None:
    with pytest.raises(FormatError, match="is not computed from an input of the model\n  in: node t"):
        apply_layer("onnx:Transpose", [None], {"perm": [1, 0]}, "node t")
    with pytest.raises(FormatError, match="is not a constant\n  in: node p"):
        apply_layer("onnx:Pad", [X, X], {}, "node p")


def test_an_error_of_the_operation_says_where() -> None:
    with pytest.raises(ShapeError) as caught:
        apply_layer("onnx:Transpose", [X], {"perm": [0, 0]}, "node t")
    assert "in: node t" in caught.value.__notes__


def test_names_become_identifiers_of_their_own() -> None:
    taken: set[str] = set()
    made = [identifier(name, taken) for name in ("a:0", "a/0", "0a", "a:0")]
    assert all(name.isidentifier() for name in made)
    assert len(set(made)) == 4
    assert taken == set(made)


def test_a_model_is_a_regular_file(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        open_model(tmp_path / "none.onnx")
    os.mkfifo(tmp_path / "pipe.onnx")
    with pytest.raises(FormatError, match="is not a regular file"):
        open_model(tmp_path / "pipe.onnx")
    path = tmp_path / "a.onnx"
    path.write_bytes(np.arange(3, dtype="u1").tobytes())
    with open_model(path) as file:
        assert file.read() == b"\0\1\2"
