"""Linear algebra over the field of two elements; a matrix is a list of columns: ints with a bit per row."""

from __future__ import annotations

from collections.abc import Sequence

Columns = Sequence[int]


def product(columns: Columns, vector: int) -> int:
    """Return the matrix times a vector: the exclusive or of the columns that the vector selects.

    >>> product([1, 2, 7], 0b101)
    6
    """
    total = 0
    for place, column in enumerate(columns):
        if vector >> place & 1:
            total ^= column
    return total


def echelon(columns: Columns) -> dict[int, tuple[int, int]]:
    """Return a basis of the span: by leading bit, a vector and the columns whose sum it is.

    No vector has the leading bit of another one.  Columns are taken in order, so that those which are sums of earlier
    ones are in no sum.

    >>> echelon([3, 1, 2])
    {1: (2, 3), 0: (1, 2)}
    """
    found: dict[int, tuple[int, int]] = {}
    for place, vector in enumerate(columns):
        sources = 1 << place
        for lead, (other, made_of) in found.items():
            if vector >> lead & 1:
                vector, sources = vector ^ other, sources ^ made_of
        if not vector:
            continue
        lead = vector.bit_length() - 1
        for key, (other, made_of) in found.items():
            if other >> lead & 1:
                found[key] = other ^ vector, made_of ^ sources
        found[lead] = vector, sources
    return found


def rank(columns: Columns) -> int:
    """Return the number of columns that are not sums of earlier ones."""
    return len(echelon(columns))


def dependent(columns: Columns) -> int:
    """Return which columns are sums of earlier ones, as bits.

    >>> dependent([1, 1, 2, 3])
    10
    """
    used = 0
    for _, made_of in echelon(columns).values():
        used |= made_of
    return ((1 << len(columns)) - 1) & ~used


def pseudo_inverse(columns: Columns, rows: int) -> list[int]:
    """Return the columns of a matrix R with ``A R A = A``, which selects no column that is a sum of earlier ones.

    >>> pseudo_inverse([0, 2, 1], 2)
    [4, 2]
    """
    basis = echelon(columns)
    return [basis[row][1] if row in basis else 0 for row in range(rows)]


def null_vector(columns: Columns, rows: int) -> int | None:
    """Return a vector that is not 0 and that the matrix takes to 0; None if there is none.

    >>> null_vector([1, 2, 3], 2), null_vector([1, 2], 2)
    (7, None)
    """
    if not (repeated := dependent(columns)):
        return None
    place = (repeated & -repeated).bit_length() - 1
    return 1 << place ^ product(pseudo_inverse(columns, rows), columns[place])


def outside(columns: Columns, rows: int) -> int | None:
    """Return the least vector that is no sum of columns; None if each is one.

    >>> outside([1, 4], 3), outside([3, 1], 2)
    (2, None)
    """
    basis = echelon(columns)
    return next((1 << row for row in range(rows) if row not in basis), None)
