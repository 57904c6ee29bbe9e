"""Facts about linear layouts that Triton's tests state, as data: unittest/Tools/LinearLayoutTest.cpp.

A layout is ``(bases, out dims)``; out dims are names, or sizes by name.
"""

from __future__ import annotations

from typing import Any

Given = tuple[dict[str, list[Any]], Any]


def powers(*exponents: int) -> list[int]:
    return [1 << e for e in exponents]


def units(count: int, order: list[int]) -> list[tuple[int, ...]]:
    """Return the vectors that are 1 in one place: that of each number of *order*."""
    return [tuple(int(k == place) for k in range(count)) for place in order]


def identity(size: int, name: str = "in", out: str = "out") -> Given:
    return {name: powers(*range(size.bit_length() - 1))}, {out: size}


def zeros(size: int, name: str = "in", out: str = "out") -> Given:
    return {name: [0] * (size.bit_length() - 1)}, {out: 1}


EMPTY: Given = ({}, {})

PRODUCTS: dict[str, tuple[Given, Given, Given]] = {
    "identities": (identity(16), identity(32), identity(512)),
    "disjoint": (
        identity(32, "in1", "out1"),
        identity(16, "in2", "out2"),
        (
            {"in1": [(1, 0), (2, 0), (4, 0), (8, 0), (16, 0)], "in2": [(0, 1), (0, 2), (0, 4), (0, 8)]},
            {"out1": 32, "out2": 16},
        ),
    ),
    "by empty": (EMPTY, identity(32), identity(32)),
    "by zeros": (identity(8), zeros(16), ({"in": [1, 2, 4, 0, 0, 0, 0]}, {"out": 8})),
    "zeros by one point": (
        zeros(16, "in", "out1"),
        ({"in": []}, {"out2": 1}),
        ({"in": [(0, 0)] * 4}, {"out1": 1, "out2": 1}),
    ),
    "overlapping": (
        identity(4, "in", "out1"),
        identity(8, "in", "out2"),
        ({"in": [(1, 0), (2, 0), (0, 1), (0, 2), (0, 4)]}, {"out1": 4, "out2": 8}),
    ),
    "two dims": (
        ({"in1": [(1, 1), (2, 2)], "in2": [(0, 2), (0, 1)]}, ["out1", "out2"]),
        ({"in1": [(0, 2), (0, 1)], "in2": []}, ["out1", "out2"]),
        ({"in1": [(1, 1), (2, 2), (0, 8), (0, 4)], "in2": [(0, 2), (0, 1)]}, ["out1", "out2"]),
    ),
    "an in dim used up": (
        ({"in2": [(0, 1), (1, 0)]}, ["out1", "out2"]),
        ({"in2": [], "in1": [(1, 0), (0, 1)]}, ["out1", "out2"]),
        ({"in2": [(0, 1), (1, 0)], "in1": [(2, 0), (0, 2)]}, ["out1", "out2"]),
    ),
    "an out dim used up": (
        ({"in2": [(1, 0), (1, 0)]}, ["out1", "out2"]),
        ({"in2": [], "in1": [(1, 0), (0, 1)]}, ["out1", "out2"]),
        ({"in2": [(1, 0), (1, 0)], "in1": [(2, 0), (0, 1)]}, ["out1", "out2"]),
    ),
    "an in dim that is not in the divisor": (
        ({"in1": [(0, 1), (0, 2)]}, ["out1", "out2"]),
        ({"in1": [], "in2": []}, {"out1": 1, "out2": 1}),
        ({"in1": [(0, 1), (0, 2)], "in2": []}, ["out1", "out2"]),
    ),
    "nothing left": (
        ({"in2": [(0, 1)]}, ["out1", "out2"]),
        ({"in1": [], "in2": [], "in3": []}, {"out1": 1, "out2": 1}),
        ({"in2": [(0, 1)], "in1": [], "in3": []}, ["out1", "out2"]),
    ),
    "without in dims": (
        ({}, {"out1": 1}),
        ({"in1": [(0, 1), (0, 2)]}, ["out1", "out2"]),
        ({"in1": [(0, 1), (0, 2)]}, ["out1", "out2"]),
    ),
}
"""The first factor, the second one, and their product; Triton divides it by the first one again."""

NO_QUOTIENT: dict[str, tuple[Given, Given]] = {
    "another in dim": (identity(32), ({"in": [1, 2, 4, 8], "extra": [0]}, ["out"])),
}

COMPOSITIONS: dict[str, tuple[Given, Given, Given]] = {
    "two dims": (
        ({"in1": [(1, 1), (0, 1)], "in2": [(1, 0), (1, 2)]}, ["out1", "out2"]),
        ({"out1": [(2, 2), (1, 0)], "out2": [(1, 1), (2, 1)]}, ["out3", "out4"]),
        ({"in1": [(3, 3), (1, 1)], "in2": [(2, 2), (0, 3)]}, {"out3": 4, "out4": 4}),
    ),
    "four dims": (
        (
            {
                "in0": [(1, 0, 0, 0), (2, 0, 0, 0)],
                "in1": [(4, 0, 0, 0), (8, 0, 0, 0), (16, 0, 0, 0), (32, 0, 0, 0)],
                "in2": [(0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 2)],
                "in3": [],
            },
            ["out3", "out0", "out1", "out2"],
        ),
        (
            {
                "out3": [(1, 0, 0, 0), (2, 0, 0, 0), *[(0, 0, 0, 0)] * 4],
                "out0": [(0, 1, 0, 0)],
                "out1": [(0, 0, 1, 0)],
                "out2": [(0, 0, 0, 1), (0, 0, 0, 2)],
            },
            ["out3", "out2", "out1", "out0"],
        ),
        (
            {
                "in0": [(1, 0, 0, 0), (2, 0, 0, 0)],
                "in1": [(0, 0, 0, 0)] * 4,
                "in2": [(0, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 2)],
                "in3": [],
            },
            {"out3": 4, "out2": 2, "out1": 2, "out0": 4},
        ),
    ),
}

RESHAPED_INS: list[tuple[Given, dict[str, int], Given]] = [
    (({"in1": [1, 4, 8], "in2": [2]}, ["out"]), {"in3": 2, "in4": 8}, ({"in3": [1], "in4": [4, 8, 2]}, ["out"])),
    (({"in1": [1, 4, 2], "in2": []}, ["out"]), {"in3": 4, "in4": 2}, ({"in3": [1, 4], "in4": [2]}, ["out"])),
    (({"in1": [1, 4], "in2": [2]}, ["out"]), {"in3": 8, "in4": 1}, ({"in3": [1, 4, 2], "in4": []}, ["out"])),
    (({"in1": [1, 4], "in2": [2]}, ["out"]), {"in3": 1, "in4": 8}, ({"in3": [], "in4": [1, 4, 2]}, ["out"])),
]

RESHAPED_OUTS: list[tuple[Given, dict[str, int], Given]] = [
    (
        ({"in1": [1, 4, 8], "in2": [3]}, ["out"]),
        {"out2": 2, "out3": 8},
        ({"in1": [(1, 0), (0, 2), (0, 4)], "in2": [(1, 1)]}, ["out2", "out3"]),
    ),
    (
        ({"in1": [1, 4, 2], "in2": []}, ["out"]),
        {"out1": 4, "out2": 2},
        ({"in1": [(1, 0), (0, 1), (2, 0)], "in2": []}, ["out1", "out2"]),
    ),
    (
        ({"in1": [1, 4], "in2": [2]}, ["out"]),
        {"out1": 8, "out2": 1},
        ({"in1": [(1, 0), (4, 0)], "in2": [(2, 0)]}, ["out1", "out2"]),
    ),
]

FLATTENED: list[tuple[Given, Given, Given]] = [  # with one in dim; with one out dim
    (
        ({"in1": [1, 4, 8], "in2": [2]}, ["out"]),
        ({"in1": [1, 4, 8, 2]}, ["out"]),
        ({"in1": [1, 4, 8], "in2": [2]}, ["out"]),
    ),
    (
        ({"in1": [(1, 0), (4, 1), (8, 4)], "in2": [(3, 2)]}, {"out1": 16, "out2": 8}),
        ({"in1": [(1, 0), (4, 1), (8, 4), (3, 2)]}, {"out1": 16, "out2": 8}),
        ({"in1": [1, 20, 72], "in2": [35]}, {"out1": 128}),
    ),
    (({"in1": []}, {"out": 1}), ({"in1": []}, {"out": 1}), ({"in1": []}, {"out": 1})),
    (({"in1": []}, {}), ({"in1": []}, {}), ({"in1": []}, {})),
    (({}, {"out": 1}), ({}, {"out": 1}), ({}, {"out": 1})),
    (EMPTY, EMPTY, EMPTY),
]

CONVERSIONS: dict[str, tuple[Given, Given, Given | None]] = {  # None: the equation alone is stated
    "simple": (({"in1": [2, 1, 4]}, ["out"]), ({"in2": [4, 1, 2]}, ["out"]), ({"in1": [4, 2, 1]}, {"in2": 8})),
    "not injective": (
        ({"in1": [2, 1, 4]}, ["out"]),
        ({"in2": [0, 2, 1, 4]}, ["out"]),
        ({"in1": [2, 4, 8]}, {"in2": 16}),
    ),
    "a broadcast in dim": (
        ({"in1": [2, 1, 4], "in2": [0]}, ["out"]),
        ({"in": [4, 1, 2]}, ["out"]),
        ({"in1": [4, 2, 1], "in2": [0]}, {"in": 8}),
    ),
    "broadcast at the beginning": (
        ({"in": [1, 2, 4]}, ["out"]),
        ({"in": [0, 4, 1, 2]}, ["out"]),
        ({"in": [4, 8, 2]}, {"in": 16}),
    ),
    "broadcast at the end": (
        ({"in1": [1, 2, 4]}, ["out"]),
        ({"in2": [4, 1, 2, 0]}, ["out"]),
        ({"in1": [2, 4, 1]}, {"in2": 16}),
    ),
    "broadcast at both ends": (
        ({"in": [1, 2, 4]}, ["out"]),
        ({"in": [0, 4, 1, 2, 0]}, ["out"]),
        ({"in": [4, 8, 2]}, {"in": 32}),
    ),
    "many dims": (
        ({"in1": [(1, 0), (0, 1), (2, 0), (3, 2)], "in2": [(2, 2)]}, ["out1", "out2"]),
        ({"in3": [(0, 1), (1, 0), (0, 0), (0, 2), (2, 1)]}, ["out2", "out1"]),
        None,
    ),
    "many dims, backwards": (
        ({"in3": [(0, 1), (1, 0), (0, 0), (0, 2), (2, 1)]}, ["out2", "out1"]),
        ({"in1": [(1, 0), (0, 1), (2, 0), (3, 2)], "in2": [(2, 2)]}, ["out1", "out2"]),
        None,
    ),
    "broadcast dims": (
        ({"in1": [1, 2, 4], "in2": [0]}, ["out"]),
        ({"in3": [1, 2, 4], "in4": [0]}, ["out"]),
        ({"in1": [(1, 0), (2, 0), (4, 0)], "in2": [(0, 0)]}, {"in3": 8, "in4": 2}),
    ),
    "broadcast dims in another order": (
        ({"in1": [1, 2], "in2": [0]}, ["out"]),
        ({"in3": [2, 1], "in4": [0]}, ["out"]),
        ({"in1": [(2, 0), (1, 0)], "in2": [(0, 0)]}, {"in3": 4, "in4": 2}),
    ),
    "an identity in one dim": (
        (
            {
                "register": units(9, [8, 7]),
                "lane": units(9, [0, 1, 2, 3, 4]),
                "warp": units(9, [5, 6]),
                "block": [],
            },
            [f"dim{k}" for k in range(9)],
        ),
        (
            {
                "register": units(9, [8, 7]),
                "lane": units(9, [6, 5, 4, 3, 2]),
                "warp": units(9, [1, 0]),
                "block": [],
            },
            [f"dim{k}" for k in range(9)],
        ),
        None,
    ),
}
"""Two layouts, and where the second one has what the first one has at each coordinate."""

CONSECUTIVE: list[tuple[Given, int]] = [
    (identity(1), 1),
    (identity(4), 4),
    (({"in1": [1, 2], "in2": [4, 8, 16]}, ["out"]), 4),
    (({"in": [(1, 0), (2, 0), (0, 1), (0, 2), (0, 4)]}, ["out1", "out2"]), 4),
    (({"in": [(0, 0), (0, 0), (0, 1), (0, 2)]}, ["out1", "out2"]), 1),
    (({"in": [1, 2, 4, 9]}, ["out"]), 1),
    (({"in": [1, 2, 4, 10]}, ["out"]), 2),
    (({"in": [1, 4, 2]}, ["out"]), 2),
    (({"in": [1, 2, 4], "in2": [8, 18]}, ["out"]), 2),
]

SUBLAYOUT_OF: Given = ({"in1": [(1, 0), (0, 1), (2, 0)], "in2": [(0, 1)]}, ["out1", "out2"])
SUBLAYOUTS: list[tuple[list[str], list[str], Given]] = [
    (["in1", "in2"], ["out1"], ({"in1": [1, 0, 2], "in2": [0]}, ["out1"])),
    (["in1", "in2"], ["out1", "out2"], SUBLAYOUT_OF),
    (["in1"], ["out1"], ({"in1": [1, 0, 2]}, ["out1"])),
    ([], [], EMPTY),
    (["in1"], [], ({"in1": [(), (), ()]}, {})),
    ([], ["out1"], ({}, {"out1": 4})),
]

FREE: list[tuple[Given, dict[str, int]]] = [
    (identity(4), {"in": 0}),
    (zeros(16), {"in": 0b1111}),
    (({"in": [1, 0, 0, 2, 4, 0]}, ["out"]), {"in": 0b100110}),
    (
        ({"in1": [(1, 1), (2, 2), (0, 0)], "in2": [(1, 0), (0, 1), (2, 0)]}, ["out1", "out2"]),
        {"in1": 0b100, "in2": 0b10},
    ),
]

QUOTIENTS: list[tuple[Given, list[str], Given | None]] = [  # None: there is none
    (
        ({"dim1": [(1, 0)], "dim2": [(0, 0)]}, {"dim1": 2, "dim2": 1}),
        ["dim1"],
        ({"dim2": [0]}, {"dim2": 1}),
    ),
    (({"dim2": [0]}, {"dim2": 1}), ["dim2"], None),
    (
        ({"dim1": [(1, 0), (2, 0), (4, 0)], "dim2": [(0, 1), (0, 2)]}, ["dim1", "dim2"]),
        ["dim1", "dim2"],
        EMPTY,
    ),
    (
        (
            {
                "dim1": [(1, 0, 2), (2, 0, 1)],
                "dim2": [(0, 1, 0), (0, 2, 0), (0, 4, 0)],
                "dim3": [(0, 0, 1), (0, 0, 2)],
            },
            ["dim1", "dim2", "dim3"],
        ),
        ["dim2"],
        ({"dim1": [(1, 2), (2, 1)], "dim3": [(0, 1), (0, 2)]}, ["dim1", "dim3"]),
    ),
    (
        (
            {
                "dim1": [(1, 0, 2), (2, 0, 1)],
                "dim2": [(0, 1, 0), (0, 2, 0), (0, 4, 0)],
                "dim3": [(0, 1, 1), (0, 0, 2)],
            },
            ["dim1", "dim2", "dim3"],
        ),
        ["dim2"],
        None,
    ),
    (EMPTY, ["dim1"], None),
]

APPLIED: list[tuple[Given, dict[str, int], dict[str, int]]] = [
    (
        ({"in1": [(4, 2), (2, 1), (1, 0)], "in2": [(1, 2), (2, 1)]}, {"out1": 8, "out2": 4}),
        {"in1": one, "in2": two},
        {"out1": out1, "out2": out2},
    )
    for one, two, out1, out2 in [(0, 0, 0, 0), (1, 0, 4, 2), (0, 1, 1, 2)]
]
