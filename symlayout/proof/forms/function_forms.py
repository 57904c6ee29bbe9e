"""What functions make of forms: of elements that are read, and of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.proof.forms.coefficients import Rounding
from symlayout.proof.forms.real_forms import Atom, Atoms, Form
from symlayout.tensors.declaration import Body


def plain_atoms(dtype: Any = np.float64) -> Atoms:
    """Return atoms of which two are one if their contents are, with numbers that are rounded as *dtype* is."""
    return Atoms(lambda a, b: a.content == b.content, Rounding(np.dtype(dtype)))


def applied(body: Body, operands: Sequence[Form], **options: Any) -> Form | None:
    """Return what a function makes of forms; None if it does what forms do not."""
    assert body.function is not None
    try:
        made: Any = body.function(*operands, **options, **dict(body.attributes))
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None
    made = made.item() if isinstance(made, np.ndarray) and made.ndim == 0 else made
    return made if isinstance(made, Form) else None


def form_of(body: Body, numbers: Sequence[Any], dtype: Any = np.float64) -> tuple[Form | None, Atoms]:
    """Return what a function makes of *numbers*, with an element that is read for each None, and the atoms.

    >>> from symlayout.proof.forms.function_forms import form_of
    >>> made, atoms = form_of(Body("Sub", np.subtract), [None, 2])
    >>> made is not None and len(made.terms), atoms.steps
    (2, 1)
    """
    atoms = plain_atoms(dtype)
    operands = [atoms.form(Atom("read", (k,))) if n is None else atoms.number(float(n)) for k, n in enumerate(numbers)]
    return applied(body, operands), atoms
