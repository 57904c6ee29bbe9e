"""What a kernel returns: the statuses, their numbers and what they mean."""

from __future__ import annotations

MEANING: dict[str, tuple[int, str]] = {
    "overflow": (-1, "an extent or a number of elements is not a 64-bit integer"),
    "non_divisible": (-2, "an extent is not a multiple of its divisor"),
    "crop_exceeds": (-3, "more is cropped than there is"),
    "negative_pad": (-4, "a pad is negative"),
    "negative_crop": (-5, "a crop is negative"),
    "block_lt_1": (-6, "a block is less than 1"),
    "block_lt_2": (-7, "a block is less than 2"),
    "size_mismatch": (-8, "sizes that must agree do not"),
    "infeasible": (-9, "a dim is outside of its bounds"),
    "bad_axis": (-10, "an axis or an index is out of range"),
}
"""Number and meaning of the error kinds that have a status of their own; the numbers never change."""

STATUS = {kind: code for kind, (code, _) in MEANING.items()}

PRECONDITION = -100
"""Status of every other kind."""


def status_code(kind: str) -> int:
    """Return what a kernel returns where a precondition of this kind fails.

    >>> status_code("non_divisible"), status_code("rank")
    (-2, -100)
    """
    return STATUS.get(kind, PRECONDITION)


def status_name(kind: str) -> str:
    """Return the name in C of that status.

    >>> status_name("non_divisible"), status_name("rank")
    ('SL_NON_DIVISIBLE', 'SL_PRECONDITION')
    """
    return f"SL_{kind.upper()}" if kind in STATUS else "SL_PRECONDITION"
