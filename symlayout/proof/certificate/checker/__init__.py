"""Check a certificate: a proof that two chains of index maps are equal, as data.

This package imports nothing else of the project.  It computes with its own integer polynomials.  A certificate is a
dict of JSON values with these members.

``claim``
    ``dims``: ``[name, min, max, multiple_of]``.  ``symbols``: ``[name, form, a, b]``, where form is
    ``/`` (the exact quotient), ``//`` or ``max``.  ``assumptions``: ``["divides", e, k]``, ``[">=", e]`` or
    ``["==", e]``.  ``nodes``: inputs ``{"input", "shape"}`` and operations ``{"op", "inputs", "shape", "cases"}``,
    each after the nodes that it reads; ``left`` and ``right`` are numbers of nodes.  A case holds where
    ``0 <= value < extent`` for each pair of its ``where``.  It reads its source at ``coords``, or ``fill`` if a
    coordinate is outside the source.  The proof shows that one case holds at every coordinate of an operation, and that
    a case without a fill reads inside.
``proof``
    ``given``: steps that introduce the names of the claim.  ``maps``: a block for each operation, in order; it proves
    that the cases of the operation are a map.  ``sides``: the block that proves that both sides are equal.

    A block has ``steps``, each of which adds a known fact, and an end.  Ends of any block: ``split`` (a polynomial, the
    block where it is >= 0, and the block where it is < 0) and ``absurd`` (a known fact is false, so the block is about
    no point).  End of an operation: ``case`` (the case that holds, and the window at which each other case fails).
    Ends of the sides: ``agree`` (both sides are evaluated and read the same element) and ``masked`` (all fills are
    equal; one block for the points at which the left side reads inside all of its sources with a fill, and one block
    for the right side).
``point``, ``evaluated``
    A value for each dim, at which the bounds and assumptions hold, and whether the elements of both sides were compared
    there or their shapes only (``"elements"`` or ``"shapes"``).  The checker compares them again.  Certificates that
    are parts of others have none.
``seal``
    The SHA-256 of the other members.  It reveals accidental changes.  It is no protection against forgery: anybody can
    seal an altered certificate again.

A polynomial is an int or a list of terms ``[coefficient, name, ...]``.  Known facts are polynomials that are ``>= 0``
or ``== 0`` for all integers that the claim is about.  ``docs/algebra.md`` states why each rule is sound.

A certificate proves the claim that it states; its point shows that the assumptions do not contradict each other.  One
question remains for its reader: whether the maps are those of the named operations.
"""

from __future__ import annotations

from symlayout.proof.certificate.checker.blocks import check, refusal
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import seal

__all__ = ["Refused", "check", "refusal", "seal"]
