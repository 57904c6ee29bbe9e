"""Layouts of the offsets of another layout, where the composition is no layout: by enumeration."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from math import prod

import numpy as np
import pytest

import symlayout as sl
from tests.layouts.brute_layouts import Modes, value

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED


def of(modes: Modes) -> sl.Layout:
    found: sl.Layout = sl.layout(tuple(n for n, _ in modes), tuple(d for _, d in modes))
    return found


def random_modes(rng: random.Random, sizes: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    return [(rng.choice(sizes), rng.choice(strides)) for _ in range(rng.randint(1, 3))]


def has_none(a: sl.Layout, b: sl.Layout) -> bool:
    try:
        a.composition(b)
    except (sl.ShapeError, sl.InconclusiveError) as error:
        return isinstance(error, sl.ShapeError) and error.kind == "no_layout"
    return False


def pairs(seed: object, most: int) -> list[tuple[Modes, Modes]]:
    """Return modes of random pairs whose composition has no layout."""
    rng = random.Random(f"composed {seed}")
    found: list[tuple[Modes, Modes]] = []
    while len(found) < most:
        a = random_modes(rng, (2, 3, 4, 5), (0, 1, 2, 3, 5, 8, 12))
        b = random_modes(rng, (2, 3, 4), (0, 1, 2, 3, 5, 7))
        if has_none(of(a), of(b)):
            found.append((a, b))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_map_of_numbers_has_the_values_of_both(seed: int) -> None:
    rng = random.Random(seed)
    for a, b in pairs(seed, 12):
        offset = rng.choice([0, 0, 1, 6])
        found = sl.make_composed_layout(of(a), offset, of(b))
        want = [value(a, offset + value(b, k)) for k in range(prod(n for n, _ in b))]
        assert [found(k) for k in range(found.size)] == want
        shape = tuple(n for n, _ in b)
        assert [found(*map(int, at)) for at in np.ndindex(*shape)] == list(np.reshape(want, shape, order="F").flat)
        assert max(want) < found.cosize
        memory = np.arange(100, 100 + found.cosize)
        x = sl.tensor((found.cosize,), name="x", dtype="int64")
        assert np.array_equal(sl.interpret(found.view(x), memory), 100 + np.reshape(want, shape, order="F"))
        assert sl.layout(str(found)) == found == pickle.loads(pickle.dumps(found))


def with_dim(rng: random.Random, layouts: list[Modes]) -> tuple[list[sl.Layout], list[list[list[tuple[int, int]]]]]:
    """Return the layouts with N in place of one number, and the modes of both at several values of N."""
    side = rng.randrange(2)
    mode, part = rng.randrange(len(layouts[side])), rng.randrange(2)
    written, at = [], [[list(modes) for modes in layouts] for _ in range(5)]
    for modes in layouts:
        numbers: list[list[object]] = [list(pair) for pair in modes]
        if modes is layouts[side]:
            numbers[mode][part] = sl.dim("N")
        written.append(sl.layout(*(tuple(pair[k] for pair in numbers) for k in (0, 1))))
    for n, both in enumerate(at, 1):
        size, stride = both[side][mode]
        both[side][mode] = (n, stride) if part == 0 else (size, n)
    return written, at


@pytest.mark.parametrize("seed", range(3))
def test_the_map_of_symbols_has_the_values_of_both_at_all_sizes(seed: int) -> None:
    rng = random.Random(f"symbols {seed}")
    for pair in pairs(f"symbols {seed}", 4):
        (a, b), cases = with_dim(rng, list(pair))
        found = sl.make_composed_layout(a, 1, b)
        coordinate = sl.dims(" ".join(f"i{k}" for k in range(found.rank)))
        offset = found(*coordinate) if found.rank > 1 else found(coordinate)
        memory = np.arange(500)
        view = found.view(sl.tensor("memory", name="x", dtype="int64"))
        for n, (outer, inner) in enumerate(cases, 1):
            shape = tuple(size for size, _ in inner)
            want = [value(outer, 1 + value(inner, k)) for k in range(prod(shape))]
            want_by_axis = np.reshape(want, shape, order="F")
            bound = view.bind({"N": n, "memory": 500})
            assert np.array_equal(sl.interpret(bound, memory), want_by_axis)
            for at in np.ndindex(*shape):
                numbers = {f"i{k}": int(c) for k, c in enumerate(at)} | {"N": n}
                values = {symbol: numbers[str(symbol)] for symbol in getattr(offset, "free_symbols", ())}
                assert int(offset.subs(values) if values else offset) == want_by_axis[at]


def test_the_error_of_a_composition_names_the_map() -> None:
    with pytest.raises(sl.ShapeError, match=r"no layout: 2 of 3 .*\n  help: sl\.make_composed_layout\(a, 0, b\)"):
        sl.layout("(4,3):(1,5)").composition("3:2")
    with pytest.raises(sl.ShapeError, match=r"help: sl\.make_composed_layout\(a, 0, b\)"):
        sl.layout("(6,N):(1,7)").composition("(3,2):(2,3)")


def test_a_map_is_compared_beside_layouts() -> None:
    a = sl.make_composed_layout("(M,N):(N,1)", 0, "(M,N):(1,M)")
    assert sl.prove_equal(a, sl.layout("(M,N):(N,1)")).verdict is PROVED
    assert sl.prove_equal(sl.layout("(M,N):(N,1)"), a).verdict is PROVED
    tile = sl.layout("(M,N):(N,1)").composition("4:1")
    assert sl.prove_equal(sl.make_composed_layout("(M,N):(N,1)", 0, "4:1"), tile).verdict is PROVED
    none = sl.make_composed_layout("(4,3):(1,5)", 0, "3:2")
    assert sl.prove_equal(none, sl.layout("3:2")).verdict is REFUTED
    back = sl.make_composed_layout("(2,3):(3,-1)", 0, "6:1")
    assert sl.prove_equal(back, sl.layout("(2,3):(3,-1)").coalesce()).verdict is REFUTED  # shapes
    assert sl.prove_equal(back, sl.make_composed_layout("6:1", 0, "6:1")).verdict is REFUTED
    assert sl.prove_equal(back, back).verdict is PROVED
    bits = sl.linear_layout("(4,2):(1,4)")
    assert sl.prove_equal(sl.make_composed_layout("8:1", 0, "(4,2):(1,4)"), bits).verdict is PROVED


@pytest.mark.parametrize(
    "text",
    [
        "(4,3):(1,5) o -1 o 3:2",
        "(foo,3):(1,o) o o o 8:1",
        "(M,N):(N,1) o 2*K+1 o K:2",
        "8:1 o 0 o 6:1 o 2 o (2,3):(3,1)",
    ],
)
def test_a_map_prints_as_it_is_read(text: str) -> None:
    found = sl.layout(text)
    assert str(found) == text
    assert sl.layout(text.replace(",", " ,").replace("(", "( ")) == found


@pytest.mark.parametrize("text", ["(4,3):(1,5) o 3:2", "8:1 o 0 o", "8:1 o o 8:1", "8:1 o 0 o S<1,0,1>"])
def test_text_that_is_no_composition_is_a_format_error(text: str) -> None:
    with pytest.raises(sl.FormatError):
        sl.layout(text)


def test_compositions_of_compositions_are_flat() -> None:
    a = sl.make_composed_layout("S<2,0,2> o 0 o (8,4):(4,1)", 3, "(4,2):(5,1)")
    assert str(a) == "S<2,0,2> o 0 o (8,4):(4,1) o 3 o (4,2):(5,1)"
    assert sl.layout(str(a)) == a
    inner = [(8, 4), (4, 1)]
    want = [sl.swizzle(2, 0, 2)(value(inner, 3 + value([(4, 5), (2, 1)], k))) for k in range(8)]
    assert [a(k) for k in range(8)] == want
    x = sl.tensor((a.cosize,), name="x", dtype="int64")
    assert sl.interpret(a.view(x), np.arange(a.cosize)).ravel(order="F").tolist() == want
    once = sl.make_composed_layout("(4,3):(1,5)", 0, "6:1").composition("3:2")
    assert once == sl.make_composed_layout("(4,3):(1,5)", 0, "3:2")
    assert sl.make_composed_layout("(4,3):(1,5)", 0, "(2,3):(1,2)").coalesce().inner == sl.layout("6:1")
    assert sl.make_composed_layout(sl.swizzle(2, 0, 2), 0, "8:1") == sl.layout("S<2,0,2> o 0 o 8:1")


def test_a_map_of_coordinates_has_coordinates_as_its_values() -> None:
    a = sl.make_composed_layout(sl.make_identity_layout("(4,3)"), 0, "3:2")
    assert [a(k) for k in range(3)] == [(0, 0), (2, 0), (0, 1)]
    x = sl.tensor((4, 3), name="x", dtype="int64")
    assert sl.interpret(a.view(x), np.arange(12).reshape(4, 3)).tolist() == [0, 6, 1]


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda: sl.make_composed_layout("8:1", 0, sl.make_identity_layout("(4,3)")), "attr_dtype"),
        (lambda: sl.make_composed_layout("(4,3):(1,5)", 0, "3:2").view(sl.tensor("5")), "size_mismatch"),
        (lambda: sl.make_composed_layout("(4,3):(1,5)", -1, "3:2").view(sl.tensor("50")), "size_mismatch"),
        (lambda: sl.bank_conflicts("(4,3):(1,5) o 0 o 3:2"), "no_layout"),
        (lambda: sl.linear_layout("(4,4):(1,8) o 0 o 4:2"), "no_layout"),
        (lambda: sl.find_swizzle("(4,4):(1,8) o 0 o 4:2"), "no_layout"),
        (lambda: sl.layout("8:1").composition("(4,3):(1,5) o 0 o 3:2"), "no_layout"),
        (lambda: sl.swizzle(1, 0, 1).composition("(4,3):(1,5) o 0 o 3:2"), "no_layout"),
    ],
)
def test_what_takes_no_composition_refuses_it(ask: Callable[[], object], kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        ask()
    assert caught.value.kind == kind
