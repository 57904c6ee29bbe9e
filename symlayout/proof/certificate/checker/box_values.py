"""Values of polynomials at all points of a box, as arrays of 64-bit integers."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from symlayout.proof.certificate.checker.polynomials import Polynomial, Refused

MAX_INT = 1 << 62  # bound of the values of a polynomial
_POINTS_PER_OPERATION = 500  # evaluating so many points takes as long as one operation on a term

Values = dict[str, Any]  # the values of each name, at all points or along an axis


def values_at(e: Polynomial, values: Values, count: int) -> Any:
    """Return the values of a polynomial at the *count* points of a box."""
    if not e.names <= values.keys():
        raise Refused(f"{e} has symbols from outside the box")
    e.work.spend(1 + sum(1 + len(monomial) for monomial in e.terms) * count // _POINTS_PER_OPERATION)
    largest = {name: max(1, abs(int(values[name].min())), abs(int(values[name].max()))) for name in e.names}
    if sum(abs(c) * prod(largest[name] for name in monomial) for monomial, c in e.terms.items()) >= MAX_INT:
        raise Refused(f"{e} may be too large for 64 bits")
    terms = (prod((values[name] for name in m), start=np.int64(c)) for m, c in e.terms.items())
    return sum(terms, start=np.int64(0))
