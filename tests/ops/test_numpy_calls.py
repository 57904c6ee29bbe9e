"""Core operations called as NumPy functions are, with arguments right and wrong: the same results, or both refuse."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symlayout as sl

Array = np.ndarray[Any, Any]
Call = tuple[tuple[Any, ...], dict[str, Any]]

many = settings(
    deadline=None,
    derandomize=True,
    max_examples=250,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
KINDS = {
    "attr_dtype", "bad_axis", "bad_mode", "block_lt_1", "crop_exceeds", "length_mismatch", "negative_pad",
    "non_divisible", "rank", "size_mismatch",
}  # fmt: skip

SHAPES = st.lists(st.sampled_from((1, 2, 3, 4, 0)), max_size=4).map(tuple)
SMALL = st.integers(-4, 4)
AXIS = st.integers(-5, 4)
AXES = st.one_of(AXIS, st.lists(AXIS, max_size=3).map(tuple))
WRONG = st.sampled_from((1.5, "1", 2.0))
MODES = st.sampled_from(("constant", "edge", "reflect", "symmetric", "wrap", "Edge"))


def mostly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return *strategy* with a value of a wrong type now and then."""
    return st.integers(0, 19).flatmap(lambda n: WRONG if n == 0 else strategy)


def calls(*positional: st.SearchStrategy[Any], **keywords: st.SearchStrategy[Any]) -> st.SearchStrategy[Call]:
    """Return a strategy of arguments; a keyword may be left out."""
    chosen = st.fixed_dictionaries({}, optional=keywords)
    return st.tuples(st.tuples(*map(mostly, positional)), chosen)


def numbers(most: int, values: st.SearchStrategy[Any] = SMALL) -> st.SearchStrategy[Any]:
    return st.one_of(values, st.lists(values, max_size=most).map(tuple))


WIDTHS = st.one_of(
    SMALL,
    st.tuples(SMALL),
    st.tuples(SMALL, SMALL),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4).map(tuple),
    st.dictionaries(AXIS, st.one_of(SMALL, st.tuples(st.integers(0, 4), st.integers(0, 4))), max_size=3),
)
ENTRIES = st.one_of(
    st.builds(slice, st.none() | st.integers(-6, 6), st.none() | st.integers(-6, 6), st.none() | st.integers(-3, 3)),
    st.integers(-5, 4),
    st.none(),
    st.just(Ellipsis),
)

CALLS: dict[str, st.SearchStrategy[Call]] = {
    "transpose": calls(axes=st.none() | st.lists(AXIS, max_size=4).map(tuple)),
    "reshape": calls(numbers(4, st.sampled_from((-1, 0, 1, 2, 3, 4, 6, 12)))),  # NumPy takes -2 for -1
    "ravel": calls(),
    "squeeze": calls(axis=AXES),
    "expand_dims": calls(AXES),
    "moveaxis": calls(AXES, AXES),
    "swapaxes": calls(AXIS, AXIS),
    "flip": calls(axis=st.none() | AXES),
    "roll": calls(numbers(3, st.integers(-9, 9)), axis=st.none() | AXES.filter(lambda a: a != ())),
    "tile": calls(numbers(4, st.integers(-1, 3))),
    "repeat": calls(numbers(4, st.integers(-1, 3)), axis=st.none() | AXIS),
    "broadcast_to": calls(numbers(5, st.integers(-1, 4))),
    "pad": calls(WIDTHS, MODES),
    "array_split": calls(st.one_of(st.integers(-1, 5), st.lists(st.integers(-5, 5), max_size=3)), axis=AXIS),
    "split": calls(st.one_of(st.integers(-1, 4), st.lists(st.integers(-5, 5), max_size=3)), axis=AXIS),
}


def outcome(call: Callable[[], Any], refusals: tuple[type[Exception], ...]) -> Any:
    """Return what *call* gives, or the error by which it refuses."""
    try:
        return call()
    except refusals as error:
        return error


def numpy_outcome(call: Callable[[], Any]) -> Any:
    # NumPy's errors are whatever the code beneath happens to raise
    return outcome(call, (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError, AttributeError))


def numpy_is_lax(name: str, kind: str, array: Array) -> bool:
    """Return whether NumPy takes what its documentation does not have.

    It truncates some floats, takes an axis of a scalar here and there, and repeats an empty array less than never.
    """
    return (
        kind == "attr_dtype"
        or (name in ("squeeze", "repeat") and kind == "bad_axis" and array.ndim == 0)
        or (name in ("tile", "repeat") and kind == "size_mismatch" and array.size == 0)
    )


def check_same(ours: Any, theirs: Any, arrays: dict[str, Any], name: str = "") -> None:
    """Assert that both refuse, we by a known kind, or both give the same arrays."""
    if isinstance(ours, sl.ShapeError):
        assert ours.kind in KINDS
        lax = numpy_is_lax(name, ours.kind, arrays.get("x", np.ones(1)))
        assert lax or isinstance(theirs, Exception), f"NumPy gives {theirs}"
        return
    assert not isinstance(theirs, Exception), f"NumPy refuses: {theirs}"
    ours, theirs = ([made] if not isinstance(made, list) else made for made in (ours, theirs))
    assert [y.shape for y in ours] == [x.shape for x in theirs]
    for y, x in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(sl.interpret(y, **{leaf.name: arrays[leaf.name] for leaf in y.leaves()}), x)


def is_a_crop(name: str, arguments: Call) -> bool:
    """Return whether a pad takes elements away, which NumPy does not have."""
    (width, mode) = (*arguments[0], "constant")[:2] if name == "pad" else (0, "")
    return mode == "constant" and isinstance(width, int | tuple | dict) and "-" in str(width).replace("{-", "{")


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_call_gives_what_numpy_gives(name: str) -> None:
    @many
    @given(SHAPES, CALLS[name])
    def run(shape: tuple[int, ...], arguments: Call) -> None:
        positional, keywords = arguments
        if (name == "pad" and not shape) or is_a_crop(name, arguments):
            return
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
        theirs = numpy_outcome(lambda: getattr(np, name)(array, *positional, **keywords))
        ours = outcome(lambda: getattr(sl, name)(sl.tensor(shape, name="x"), *positional, **keywords), (sl.ShapeError,))
        check_same(ours, theirs, {"x": array}, name)

    run()


@pytest.mark.slow
@many
@given(SHAPES, st.lists(ENTRIES, max_size=5).map(tuple))
def test_an_index_gives_what_numpy_gives(shape: tuple[int, ...], key: tuple[Any, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    theirs = numpy_outcome(lambda: np.asarray(array[key]))
    ours = outcome(lambda: sl.tensor(shape, name="x")[key], (sl.ShapeError,))
    check_same(ours, theirs, {"x": array})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_a_join_gives_what_numpy_gives(name: str) -> None:
    @many
    @given(st.lists(SHAPES.filter(len) | SHAPES, min_size=1, max_size=3), st.booleans(), AXIS | st.none())
    def run(shapes: list[tuple[int, ...]], alike: bool, axis: Any) -> None:
        shapes = [shapes[0]] * len(shapes) if alike else shapes
        if (axis is None and name == "stack") or (axis is not None and any(not shape for shape in shapes[1:])):
            return
        arrays = {f"x{k}": 100 * k + np.arange(np.prod(s, dtype=int)).reshape(s) for k, s in enumerate(shapes)}
        theirs = numpy_outcome(lambda: getattr(np, name)(list(arrays.values()), axis=axis))
        leaves = [sl.tensor(x.shape, name=n) for n, x in arrays.items()]
        check_same(outcome(lambda: getattr(sl, name)(leaves, axis=axis), (sl.ShapeError,)), theirs, arrays)

    run()


@pytest.mark.parametrize("key", [True, (0, False), [0, 1], (slice(None), [1]), 1.0, "0", np.zeros(2, int)], ids=str)
def test_what_is_no_basic_index_is_refused(key: Any) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.tensor((2, 3))[key]
    assert caught.value.kind == "attr_dtype"


@pytest.mark.parametrize("mode", ["linear_ramp", "maximum", "mean", "median", "minimum"])
def test_modes_of_pad_that_compute_elements_are_refused(mode: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.pad(sl.tensor((2, 3)), 1, mode)
    assert caught.value.kind == "bad_mode"


def test_an_empty_pad_is_one_of_zeros() -> None:
    x = sl.tensor((2, 3), name="x")
    same = sl.prove_equal(sl.pad(x, 2, "empty"), sl.pad(x, 2))
    assert same.verdict is sl.Verdict.PROVED


@pytest.mark.parametrize("name", [*CALLS, "concatenate", "stack"])
def test_parameters_have_numpys_names_and_defaults(name: str) -> None:
    ours = list(inspect.signature(getattr(sl, name)).parameters.values())[1:]
    theirs = inspect.signature(getattr(np, name)).parameters
    for p in ours:
        if name == "pad" and p.name in ("constant_values", "bounded", "interior"):
            continue  # NumPy takes the first as one of **kwargs and has not the others
        assert p.name in theirs
        assert p.default == theirs[p.name].default


def test_the_only_element_of_symbolic_axes_is_a_scalar() -> None:
    y = sl.reshape(sl.tensor("N, M", name="x"), ())
    assert str(y.index_map) == "() -> (0, 0)"
    assert sl.compile(y, strict=True)(np.array([[4]])) == 4
