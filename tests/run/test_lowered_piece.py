"""A piece of half bytes becomes one of whole bytes where both halves move alike."""

from __future__ import annotations

from dataclasses import replace

from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import Extent, symbol
from symlayout.run.lowered_piece import Part, part_in_bytes

ROW, HALF = digit_name(0), digit_name(1)


def part(output: Extent, offset: Extent) -> Part:
    facts = Facts()
    i, h = facts.add_digit(ROW, 5), facts.add_digit(HALF, 2)
    assert (i, h) == (symbol(ROW), symbol(HALF))
    return Part(facts, facts, {ROW: 5, HALF: 2}, output, offset, 0, (), (), None, {})


N, H = symbol(ROW), symbol(HALF)


def test_two_halves_of_one_byte_become_one_point() -> None:
    made = part_in_bytes(part(2 * N + H, 6 * N + H + 4), HALF)
    assert made is not None
    assert (made.output, made.offset, made.digits) == (N, 3 * N + 2, {ROW: 5})


def test_halves_that_are_read_from_two_bytes_stay() -> None:
    assert part_in_bytes(part(2 * N + H, 2 * N + 2 * H), HALF) is None
    assert part_in_bytes(part(2 * N + H, 2 * N - H + 1), HALF) is None


def test_halves_at_an_odd_place_stay() -> None:
    assert part_in_bytes(part(2 * N + H, 2 * N + H + 1), HALF) is None


def test_a_piece_that_only_fills_needs_no_source() -> None:
    made = part_in_bytes(replace(part(2 * N + H, 0), source=None), HALF)
    assert made is not None
    assert made.output == N


def test_a_digit_that_is_not_there_halves_nothing() -> None:
    assert part_in_bytes(part(2 * N + H, 2 * N + H), digit_name(7)) is None
