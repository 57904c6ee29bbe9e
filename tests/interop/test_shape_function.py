"""Shapes as functions of sizes agree with binding, whatever the sizes are."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import symlayout as sl
from symlayout.errors import ShapeError
from symlayout.interop.shape_function import ShapeFunction

CHAINS: dict[str, Callable[[], sl.Tensor]] = {
    "blocks": lambda: sl.space_to_depth(sl.pad(sl.tensor("N, C, H, W"), [(0, 0), (0, 0), (1, 1), (2, 0)]), 2),
    "declared": lambda: sl.transpose(sl.tensor("2*h + 1, 3*h - w, w")),
    "rounded": lambda: sl.tensor("N, M")[::2, 1::3],
    "least": lambda: sl.tensor("N, M")[:5],
    "window": lambda: sl.window(sl.tensor("H, W"), [3, 2], axis=[0, 1]),
    "joined": lambda: sl.concatenate([sl.tensor("N, C", name="a"), sl.tensor("M, C", name="b")], axis=0),
    "free": lambda: sl.tile(sl.tensor("N"), (sl.dim("r", min=1),)),
    "packed": lambda: sl.reshape(sl.tensor("N, C"), (-1, 4)),
}
SIZES = [(7, 4), (6, 3), (1, 1), (5, 3, 1), (2, 3, 4, 6), (4,), (9, 3, 3), (12, 8), (5, 5, 1)]


class Size:
    """An int that knows nothing but arithmetic, as the symbols of other libraries."""

    def __init__(self, value: int) -> None:
        self.value = value

    def __add__(self, other: object) -> Size:
        return Size(self.value + number(other))

    def __sub__(self, other: object) -> Size:
        return Size(self.value - number(other))

    def __mul__(self, other: object) -> Size:
        return Size(self.value * number(other))

    def __floordiv__(self, other: object) -> Size:
        return Size(self.value // number(other))

    def __rfloordiv__(self, other: int) -> Size:
        return Size(other // self.value)

    def __mod__(self, other: object) -> Size:
        return Size(self.value % number(other))

    def __neg__(self) -> Size:
        return Size(-self.value)

    def __radd__(self, other: int) -> Size:
        return self + other

    def __rsub__(self, other: int) -> Size:
        return Size(other - self.value)

    def __rmul__(self, other: int) -> Size:
        return self * other


def number(value: object) -> int:
    if isinstance(value, Size):
        return value.value
    assert isinstance(value, int)
    return value


def smallest(a: object, b: object) -> Size:
    return Size(min(number(a), number(b)))


def largest(a: object, b: object) -> Size:
    return Size(max(number(a), number(b)))


@pytest.mark.parametrize("name", CHAINS)
def test_shapes_and_requirements_are_those_of_binding(name: str) -> None:
    y = CHAINS[name]()
    known, opaque = ShapeFunction(y), ShapeFunction(y, smallest, largest)
    given = {"r": 3} if name == "free" else {}
    tried = 0
    for sizes in SIZES:
        shapes = [sizes[: leaf.rank] for leaf in y.leaves()]
        if any(len(shape) != leaf.rank for shape, leaf in zip(shapes, y.leaves(), strict=True)):
            continue
        wrapped = [tuple(map(Size, shape)) for shape in shapes]
        dims = opaque.dims(wrapped, {key: Size(value) for key, value in given.items()})
        values = {key: number(value) for key, value in dims.items()}
        assert values == known.dims(shapes, given)
        holds = {
            "zero": lambda v, m: v == 0,
            "nonnegative": lambda v, m: v >= 0,
            "divides": lambda v, m: v % m == 0,
        }
        required = opaque.requirements(dims, wrapped)
        fits = all(holds[d.relation](number(d.value), number(d.modulus)) for d in required)
        try:
            expected = y.bind(bound(y, shapes, given)).shape
        except ShapeError:
            assert not fits
        else:
            assert fits
            assert tuple(map(number, opaque.of(dims))) == known.of(values) == expected
            tried += 1
    assert tried


def bound(y: sl.Tensor, shapes: list[tuple[int, ...]], given: dict[str, int]) -> dict[str, int]:
    from symlayout.tensors.bind_dims import bind_shapes

    return bind_shapes(y, shapes, given)


def test_what_nothing_determines_is_named() -> None:
    shape = ShapeFunction(CHAINS["free"]())
    assert shape.free == ("r",)
    with pytest.raises(ShapeError, match="nothing determines r") as caught:
        shape.dims([(2,)])
    assert caught.value.kind == "unbound_dim"
    with pytest.raises(ShapeError, match="rank 2") as caught:
        shape.dims([(2, 2)], {"r": 1})
    assert caught.value.kind == "rank"
