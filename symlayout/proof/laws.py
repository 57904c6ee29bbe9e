"""The laws that a proof may use although they do not hold bit for bit (`symlayout.prove_equal` describes each)."""

from __future__ import annotations

from collections.abc import Sequence

from symlayout.errors import ShapeError, shown

REASSOCIATE, REAL, RECIPROCAL = "reassociate", "real", "reciprocal"
FOLD, SIGNED_ZERO, REQUANTIZE, HALF = "fold-batchnorm", "signed-zero", "requantize", "half"
LAWS = (REASSOCIATE, REAL, RECIPROCAL, FOLD, SIGNED_ZERO, REQUANTIZE, HALF)


def check_laws(laws: Sequence[str]) -> None:
    """Raise for a law that is not known, and for laws that are text and not a sequence of them."""
    if unknown := [law for law in laws if law not in LAWS] if not isinstance(laws, str) else [laws]:
        raise ShapeError(f"law {shown(unknown[0])} is none of {', '.join(LAWS)}", "bad_mode")
