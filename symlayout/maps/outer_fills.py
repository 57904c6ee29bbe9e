"""Which guards of a map's pieces fill outside of all pieces.

A pad after a concatenation fills what no case of the concatenation covers.  In normal form its guards stand before the
windows of each case, so that a fill belongs to all cases together.  Here it becomes a part of the domain of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from symlayout.algebra.facts import Facts
from symlayout.errors import ShapeError
from symlayout.maps.compose_chain import Branch, Guard, Read, Window, assume, output_digits
from symlayout.maps.merge_pieces import Piece, always_holds, is_fork
from symlayout.tensors.chain import Tensor

_Key = tuple[tuple[int, ...], int]  # the cases taken before a map with cases, and how many steps come before it


@dataclass(frozen=True, slots=True)
class OuterFill:
    """Where *windows* hold, the first of *guards* that fails gives the fill.  Pieces cover the rest."""

    windows: tuple[Window, ...]
    guards: tuple[Guard, ...]


def outer_fills(t: Tensor, pieces: Sequence[Piece]) -> tuple[list[Piece], list[OuterFill]]:
    """Return *pieces* with the guards that fill around them as windows, and these fills, the innermost first.

    A piece keeps the guards that fill only within its own windows.
    """
    divided = {key for piece in pieces for read in piece.reads for key in _divided(piece, read, pieces)}
    if not any(b.guards for piece in pieces for read in piece.reads for b in _branches(read, divided)):
        return list(pieces), []
    everywhere = t.facts.fork()
    output_digits(t, everywhere)
    reads = [read for piece in pieces for read in piece.reads]
    if all(is_fork(read.facts, everywhere) for read in reads):
        for read in reads:
            everywhere.adopt(read.facts)
    found: dict[_Key, OuterFill] = {}
    for read in reads:
        count = 0
        for b in _branches(read, divided):
            if b.guards > count:
                windows = (*read.windows[: b.windows], *(g.window for g in read.guards[:count]))
                found[_key(read, b)] = OuterFill(_needed(windows, everywhere), read.guards[count : b.guards])
            count = b.guards
    fills = [found[key] for key in sorted(found, key=lambda key: -key[1])]
    return [_without_outer(piece, divided, everywhere) for piece in pieces], fills


def _without_outer(piece: Piece, divided: set[_Key], everywhere: Facts) -> Piece:
    """Return a piece with the guards before its last divided map as windows."""
    count = max((b.guards for b in _branches(piece.reads[0], divided)), default=0)
    outer, own = piece.guards[:count], piece.guards[count:]
    windows = _needed((*piece.windows, *(g.window for g in outer)), everywhere, len(piece.windows))
    return replace(piece, windows=windows, guards=own)


def _needed(windows: Sequence[Window], everywhere: Facts, kept: int = 0) -> tuple[Window, ...]:
    """Return the first *kept* windows, and those of the others that do not follow from the windows before them."""
    facts = everywhere.fork()
    found = []
    for k, window in enumerate(windows):
        if k < kept or not always_holds(window, facts):
            found.append(window)
        try:
            assume(window, facts)
        except ShapeError:  # no point is left
            break
    return tuple(found)


def _divided(piece: Piece, read: Read, pieces: Sequence[Piece]) -> list[_Key]:
    """Return the maps with cases on the way of *read* that several pieces, or windows of *piece*, divide."""
    keys = [_key(read, b) for b in read.branches]
    for k in reversed(range(len(keys))):
        others = any(
            _key(other, b) == keys[k] for p in pieces if p is not piece for other in p.reads for b in other.branches
        )
        before = read.windows[: read.branches[k].windows]
        if others or any(w not in before for w in piece.windows):
            return keys[: k + 1]  # and all maps before it
    return []


def _branches(read: Read, divided: set[_Key]) -> list[Branch]:
    return [b for b in read.branches if _key(read, b) in divided]


def _key(read: Read, b: Branch) -> _Key:
    return read.path[: b.steps], b.steps
