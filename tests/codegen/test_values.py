"""Values share their methods, and are what frozen dataclasses with the same fields are."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass

import pytest

from symlayout_codegen.values import Value


class Point(Value):
    """A place with a name."""

    x: int
    y: int = 0
    name: str = ""


class Other(Value):
    """The same fields as `Point`."""

    x: int
    y: int = 0
    name: str = ""


@dataclass(frozen=True)
class Oracle:
    """What a `Point` behaves like."""

    x: int
    y: int = 0
    name: str = ""


class Quiet(Value):
    """Of which the second field is not compared."""

    x: int
    note: str = ""

    def _key(self) -> tuple[int]:
        return (self.x,)


CALLS = [((1,), {}), ((1, 2), {}), ((1, 2, "p"), {}), ((), {"x": 1, "name": "p"}), ((1,), {"name": "p"})]


@pytest.mark.parametrize(("values", "named"), CALLS)
def test_fields_are_given_as_to_a_dataclass(values: tuple[object, ...], named: dict[str, object]) -> None:
    made, expected = Point(*values, **named), Oracle(*values, **named)  # type: ignore[arg-type]
    assert vars(made) == vars(expected)
    assert list(vars(made)) == ["x", "y", "name"]
    assert repr(made) == repr(expected).replace("Oracle", "Point")


@pytest.mark.parametrize(
    ("values", "named"),
    [((), {}), ((1, 2, "p", 3), {}), ((1,), {"x": 2}), ((1,), {"z": 2}), ((), {"y": 1}), ((), {"x": 1, "z": 2})],
)
def test_wrong_arguments_are_refused(values: tuple[object, ...], named: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Oracle(*values, **named)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^Point (has the fields x, y, name, each given once|needs the field 'x')$"):
        Point(*values, **named)  # type: ignore[arg-type]


def test_values_of_one_class_with_equal_fields_are_equal() -> None:
    assert Point(1, 2) == Point(x=1, y=2)
    assert hash(Point(1, 2)) == hash(Point(x=1, y=2))
    assert Point(1, 2) != Point(1, 3)
    assert Point(1, 2) != Other(1, 2)
    assert Point(1) != (1, 0, "")
    assert Quiet(1, "a") == Quiet(1, "b") != Quiet(2, "b")
    assert len({Point(1), Point(1, 0), Other(1), Quiet(1, "a"), Quiet(1, "b")}) == 3


def test_a_value_does_not_change() -> None:
    point = Point(1)
    with pytest.raises(AttributeError, match="cannot assign to field 'x': a Point does not change"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="cannot delete field 'x': a Point does not change"):
        del point.x
    assert point.replaced(y=5) == Point(1, 5)
    assert point == Point(1)


def test_a_value_is_matched_copied_and_pickled() -> None:
    match Point(1, 2, "p"):
        case Point(x, y, name):
            assert (x, y, name) == (1, 2, "p")
    point = Point(1, 2)
    assert copy.deepcopy(point) == copy.copy(point) == pickle.loads(pickle.dumps(point)) == point
