"""Compare the elements of constants that a claim states to be equal.

A claim may state of two constants that, for all integers in a box, the one has the bits at some coordinates that the
other one has at others.  A proof may use it (`readings.check_equal_elements`).  Whether it is true, only the elements
of the constants tell.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from symlayout.proof.certificate.checker.box_values import MAX_INT, values_at
from symlayout.proof.certificate.checker.polynomials import Refused, Work, decode

MAX_COMPARED = 1 << 28  # most points to compare for one claim
_BLOCK = 1 << 20  # points that are compared at once

Constants = Mapping[str, "np.ndarray[Any, Any]"]


def refusal_of_elements(claim: dict[str, Any], constants: Constants) -> str:
    """Return why *constants* do not have the equal elements that a claim states; an empty text if they do.

    *claim* has the form that `schema.check_claim` checks.  *constants* are known by the names of the claim's inputs.
    """
    stated = claim.get("elements", [])
    try:
        if sum(_points(box) for _, _, box in stated) > MAX_COMPARED:
            raise Refused(f"the claim is about more than {MAX_COMPARED} elements of constants")
        for one, other, box in stated:
            _compare(one, other, box, constants)
    except Refused as error:
        return str(error)
    return ""


def refusal_of_rounded(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], most: float) -> str:
    """Return why two constants are not one but for roundings, of *most* in all; an empty text if they are."""
    if one.dtype.kind != "f" or one.dtype.newbyteorder("=") != other.dtype.newbyteorder("="):
        return "constants are floats of two types"
    if one.shape != other.shape or not most > 0:
        return "constants of other shapes, or that are not rounded, are not one"
    with np.errstate(invalid="ignore"):
        is_near = np.abs(one.astype(np.float64) - other.astype(np.float64)) <= most  # infinities are near to nothing
    return "" if bool(is_near.all()) else "constants differ by more than their rounding"


def _points(box: list[Any]) -> int:
    return prod(max(high - low + 1, 0) for _, low, high in box)


def _compare(one: list[Any], other: list[Any], box: list[Any], constants: Constants) -> None:
    for name, _ in (one, other):
        if name not in constants:
            raise Refused(f"{name} is no constant")
        if constants[name].dtype.hasobject:
            raise Refused(f"the elements of {name} have no bits")
    if any(max(abs(low), abs(high)) >= MAX_INT for _, low, high in box):
        raise Refused("a box may be too large for 64 bits")
    sizes, count = [max(high - low + 1, 0) for _, low, high in box], _points(box)
    for start in range(0, count, _BLOCK):
        size = min(_BLOCK, count - start)
        places = np.unravel_index(np.arange(start, start + size), sizes) if box else ()
        values = {name: place + low for (name, low, _), place in zip(box, places, strict=True)}
        if _bits(one, values, size, constants) != _bits(other, values, size, constants):
            raise Refused(f"{one[0]} and {other[0]} have other elements there")


def _bits(side: list[Any], values: dict[str, Any], count: int, constants: Constants) -> tuple[Any, bytes]:
    """Return the element type of one constant, up to the order of bytes, and the bits of its elements at all points."""
    name, coordinates = side
    places = []
    for data, extent in zip(coordinates, constants[name].shape, strict=True):
        found = np.broadcast_to(values_at(decode(data, Work(sys.maxsize)), values, count), (count,))
        if found.min() < 0 or found.max() >= extent:
            raise Refused(f"a coordinate is outside of {name}")
        places.append(found)
    elements = constants[name][tuple(places)] if places else np.broadcast_to(constants[name], (count,))
    kind = elements.dtype.newbyteorder("=")
    return kind, elements.astype(kind).tobytes()
