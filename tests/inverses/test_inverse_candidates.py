"""Candidates of an inverse: from the digits of each piece, and the ranges of the input that pieces read."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import InconclusiveError
from symlayout.inverses.digit_sides import face
from symlayout.inverses.inverse_candidates import candidates
from symlayout.inverses.partition_input import cut
from symlayout.maps.compose_chain import normalise

X = sl.tensor((4, 6), name="x")
CHAINS = {
    "transpose": sl.transpose(X),
    "reshape": sl.reshape(X, (8, 3)),
    "roll": sl.roll(X, 1, axis=0),
    "pad": sl.pad(X, 1),
    "flip": sl.flip(X, 1),
}


@pytest.mark.parametrize("name", CHAINS)
def test_the_first_candidate_finds_every_element(name: str) -> None:
    t = CHAINS[name]
    candidate = next(candidates(t, X))
    x = np.arange(24).reshape(4, 6)
    found = candidate(sl.tensor(t.shape, name="z"))
    assert np.array_equal(sl.interpret(found, sl.interpret(t, x)), x)


def test_digits_of_a_transpose_are_told_by_the_axes() -> None:
    t = CHAINS["transpose"]
    (read,) = normalise(t)
    found = face(t, X, read.path, by_number=False)
    assert len(found.numbers) == 2
    assert not found.missing
    assert [(d.step, d.extent) for d in found.digits] == [(1, 4), (1, 6)]


def test_an_axis_that_is_not_read_tells_nothing() -> None:
    t = sl.transpose(X)[:, :1]
    (read,) = normalise(t)
    assert [n.span for n in face(t, X, read.path, by_number=False).numbers] == [1, 6]


def test_the_ranges_of_a_roll_cover_the_input_once() -> None:
    t = CHAINS["roll"]
    pieces = [face(t, X, read.path, by_number=False) for read in normalise(t)]
    regions = cut(pieces, [4, 6], t.facts)
    for i, j in itertools.product(range(4), range(6)):
        at = (i, j)
        holding = [
            piece
            for ranges, piece in regions
            if all(
                isinstance(r.start, int) and isinstance(r.count, int) and 0 <= at[r.axis] - r.start < r.count
                for r in ranges
            )
        ]
        assert len(holding) == 1
        assert holding[0] in pieces


def test_pieces_that_overlap_are_not_cut() -> None:
    t = sl.concatenate([X, X])
    pieces = [face(t, X, read.path, by_number=False) for read in normalise(t)]
    with pytest.raises(InconclusiveError, match="do not overlap"):
        cut(pieces, [4, 6], t.facts)


def test_a_missing_digit_is_not_found_by_a_floor_that_has_it() -> None:
    x = sl.tensor((sl.dim("W", min=1), 3), name="x")
    y = sl.reshape(x, (3, x.shape[0] / 3, 3))
    y = sl.pad(y, [(2, 2), (0, 0), (2, 0)], mode="reflect")
    y = sl.repeat(sl.pad(y, [(0, 1), (1, 0), (0, 0)], mode="symmetric"), 2, 0)
    try:
        undo = sl.inverse(y)
    except sl.InconclusiveError:
        return
    a = np.arange(18).reshape(6, 3)
    np.testing.assert_array_equal(sl.interpret(undo(y), a), a)
