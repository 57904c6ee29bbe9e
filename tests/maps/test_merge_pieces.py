"""Pieces become one where one expression describes them, and only there."""

from __future__ import annotations

import numpy as np

import symlayout as sl
from symlayout.maps.compose_chain import normalise
from symlayout.maps.merge_pieces import JoinedPart, is_fork, merge

X = sl.tensor("N", name="x")


def test_halves_that_change_places_are_one_piece_with_a_remainder() -> None:
    t = sl.concatenate([X[1:], X[:1]])
    assert len(normalise(t)) == 2
    (piece,) = merge(t, normalise(t))
    assert len(piece.reads) == 2
    assert str(t.index_map) == "(i0) -> ((i0 + 1) % N)"


def test_the_pieces_of_an_edge_pad_are_one_with_a_minimum_and_a_maximum() -> None:
    t = sl.pad(sl.tensor("H", name="x"), 2, "edge")
    (piece,) = merge(t, normalise(t))
    (outer,) = piece.coords
    assert isinstance(outer, JoinedPart)
    assert outer.form == "min"
    assert any(isinstance(part, JoinedPart) and part.form == "max" for part in outer.parts)
    assert len(piece.reads) == len(normalise(t)) == 3
    assert np.array_equal(sl.interpret(t, np.arange(3)), np.pad(np.arange(3), 2, "edge"))


def test_pieces_of_two_inputs_stay_apart() -> None:
    t = sl.concatenate([X, sl.tensor("M", name="y")])
    pieces = merge(t, normalise(t))
    assert [p.leaf.name for p in pieces if p.leaf is not None] == ["x", "y"]
    assert all(len(p.reads) == 1 for p in pieces)


def test_facts_are_a_fork_of_those_they_were_made_from() -> None:
    assert is_fork(X.facts.fork(), X.facts)
