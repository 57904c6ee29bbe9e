"""What is no value of its kind gets a typed error, soon: other types, endless lists, integers of many digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import printable, shortened, shown
from tests.support.steps import STEPS, counted

HUGE: Any = 10**5000  # which Python writes in no message
ENDLESS: Any = range(10**9)
ARRAY: Any = np.arange(2)
N, C = sl.dims("N C")
X = sl.tensor((N, C, 4, 6), name="x")


class Unwritable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


TYPES: dict[str, Callable[..., Any]] = {
    "moveaxis": lambda v: sl.moveaxis(v, 0, 1),
    "swapaxes": lambda v: sl.swapaxes(v, 0, 1),
    "split at": lambda v: sl.split(v, [1]),
    "concatenate": lambda v: sl.concatenate(v),
    "trace": lambda v: sl.trace(v, (0, 0)),
    "reasons": lambda v: sl.reasons(X, [v]),
    "subs": lambda v: X.subs(v),
    "dims of trace": lambda v: sl.trace(X, (0, 0, 0, 0), v),
    "compose": lambda v: X.index_map.compose(v),
    "image": lambda v: X.index_map.image(v),
    "inverse": lambda v: sl.inverse(sl.flip(X, 0))(v),
    "load": lambda v: sl.load(v),
    "dims": lambda v: sl.dims(v),
}


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("value", [3, 1.5, np.arange(3), HUGE, Unwritable()], ids=shown)
def test_what_is_of_another_type_is_a_type_error(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=r"takes|is a mapping") as caught:
        TYPES[name](value)
    assert type(value).__name__ in str(caught.value) or name == "concatenate"


SHAPES: dict[str, tuple[Callable[[], Any], str]] = {
    "extent": (lambda: sl.tensor((HUGE,)), "overflow"),
    "block": (lambda: sl.space_to_depth(X, HUGE), "overflow"),
    "crop": (lambda: sl.batch_to_space(X, [1, 1], HUGE), "length_mismatch"),
    "shift": (lambda: sl.roll(X, HUGE, 1), "overflow"),
    "axis": (lambda: sl.flip(X, HUGE), "bad_axis"),
    "blocksize": (lambda: sl.onnx.depth_to_space(X, HUGE), "overflow"),
    "repeats": (lambda: sl.openvino.tile(X, HUGE), "length_mismatch"),
    "least": (lambda: sl.dim("K", min=HUGE), "overflow"),
    "source": (lambda: sl.reads_all(X, HUGE), "source"),
    "coordinate": (lambda: sl.trace(X, (HUGE, 0, 0, 0)), "overflow"),
    "endless shape": (lambda: sl.onnx.reshape(X, ENDLESS), "length_mismatch"),
    "endless order": (lambda: sl.openvino.transpose(X, ENDLESS), "length_mismatch"),
    "endless coordinate": (lambda: sl.trace(X, ENDLESS), "rank"),
    "endless parts": (lambda: sl.split(X, 10**30), "overflow"),
    "array as mode": (lambda: sl.space_to_depth(X, 2, mode=ARRAY), "bad_mode"),
    "array as judge": (lambda: sl.prove_equal(X, X, judge=ARRAY), "bad_mode"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_what_no_tensor_has_is_a_shape_error(name: str) -> None:
    call, kind = SHAPES[name]
    with counted(STEPS), pytest.raises(sl.ShapeError) as caught:
        call()
    assert caught.value.kind == kind
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("length", [0, 1, 79, 80, 81, 5000])
def test_long_texts_are_cut_and_marked(length: int) -> None:
    text = "x" * length
    assert shortened(text) == (text if length <= 80 else "x" * 79 + "…")
    assert shortened(text, 5) == (text if length <= 5 else "xxxx…")


def test_messages_mark_the_names_that_they_cut() -> None:
    assert shown("x" * 79) == repr("x" * 79)[:79] + "…"
    with pytest.raises(sl.MissingFileError, match=f"no file '{'x' * 79}…'"):
        sl.load(f"{'x' * 200}.onnx")


def test_a_relation_without_end_is_a_format_error() -> None:
    with pytest.raises(sl.FormatError, match="<int> is not a relation"):
        sl.assume(X, HUGE)


def test_the_text_of_another_packages_error_moves_no_terminal() -> None:
    with pytest.raises(sl.ArrayError) as caught:
        sl.tensor((2,), dtype="<\x1b[31m\u202ef4,q")
    assert str(caught.value).replace("\n", "").isprintable()
    assert printable(ValueError("a\n" + "b" * 300)) == "a\\n" + "b" * 197 + "…"
