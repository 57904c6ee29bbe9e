"""Check a certificate: a proof that two chains of index maps are equal, as data.

This package imports nothing of the project.  It has its own integer polynomials, which it expands and compares.
A certificate is a dict of JSON values.

``claim``
    ``dims``: ``[name, min, max, multiple_of]``.  ``symbols``: ``[name, form, a, b]``, where form is
    ``/`` (the exact quotient), ``//`` or ``max``.  ``assumptions``: ``["divides", e, k]``, ``[">=", e]`` or
    ``["==", e]``.  ``nodes``: inputs ``{"input", "shape"}`` and operations ``{"op", "inputs", "shape", "cases"}``,
    each after those that it reads; ``left`` and ``right`` are numbers of nodes.  A case holds where
    ``0 <= value < extent`` for each pair of its ``where``; it reads its source at ``coords``, or ``fill`` where one of
    these lies outside.  At every coordinate of an operation one case holds, and one without a fill reads inside: the
    proof shows both.
``proof``
    ``given``: steps that take up what the claim says of its names.  ``maps``: a block for each operation, in order,
    which shows that its cases are a map.  ``sides``: the block that shows that both sides are equal.
    A block is ``steps``, each of which adds to what is known, and an end: ``split`` (a polynomial, the block where it
    is >= 0 and the block where it is < 0); ``absurd`` (something known is false, so no point is left); of an operation
    ``case`` (the one that holds, and where each other fails); of the sides ``agree`` (both are evaluated and read the
    same) or ``masked`` (where all fills are equal: a block for the points where the left side reads inside all its
    sources that have a fill, and one for the right side).
``seal``
    The SHA-256 of the rest.  It shows accidental changes and is no security: anybody can seal an altered
    certificate again.

A polynomial is an int or a list of terms ``[coefficient, name, ...]``.  What is known is polynomials that are
``>= 0`` or ``== 0`` for all integers the claim is about.  ``docs/algebra.md`` states why each step is sound.

A certificate proves the claim that it states.  Its reader has to decide whether the maps are those of the operations
that it names, and whether the assumptions can hold together.
"""

from __future__ import annotations

from symlayout.proof.certificate.checker.blocks import check, refusal
from symlayout.proof.certificate.checker.polynomials import Refused
from symlayout.proof.certificate.checker.schema import seal

__all__ = ["Refused", "check", "refusal", "seal"]
