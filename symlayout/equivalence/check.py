"""Check a certificate of any kind: of two chains of movement, for one rank or for all, or of two models."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from symlayout.equivalence.shared_ends import EndsAsStated
from symlayout.equivalence.unknown_ranks import Values
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.check_computed import (
    refusal_alone,
    refusal_of_chains,
    refusal_of_computed_ranks,
)
from symlayout.proof.certificate.checker import check as check_movement
from symlayout.proof.certificate.checker.all_ranks import refusal_of_all_ranks
from symlayout.tensors.chain import Tensor, check_tensors


def check(
    certificate: Any,
    *,
    before: Values | Tensor | str | os.PathLike[str] | None = None,
    after: Values | Tensor | str | os.PathLike[str] | None = None,
    match: Mapping[str, str] | None = None,
    by_position: bool = False,
) -> bool:
    """Return whether *certificate* proves its claim.

    Parameters
    ----------
    certificate : dict
        The value of `Proof.certificate` or `Verification.certificate`, or the same data read back from JSON.  Any other
        object gives False; no object raises an error.
    before, after : Model, path or Tensor, optional
        The two models that the certificate of a `Verification` is about, or the left and the right side that the
        certificate of a `Proof` is about.  Without them, only the steps are checked, not
        whether they are about these models, nor whether constants have the equal elements that a claim states.
    match : mapping of str to str, optional
        Names after by names before, as `verify` takes them: of inputs and outputs that have a name in both models and
        yet another one after.  A certificate that takes a name for another one, unasked, is not about the two models.
    by_position : bool, optional
        Whether the claim is about inputs and outputs by their order, and not by their names.

    Returns
    -------
    bool
        True if the claim is proved.  False says nothing about the claim.  The certificate of a `Verification` states
        the claim: its ``"ends"`` are the inputs and outputs that are one, and the axes that have another order after.

    Raises
    ------
    FormatError
        A file is no model.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C", name="x")
    >>> certificate = sl.prove_equal(sl.transpose(sl.transpose(x)), x).certificate
    >>> sl.check(certificate)
    True
    >>> certificate["claim"]["dims"][0][1] = -1  # altered: N may be negative
    >>> sl.check(certificate)
    False
    """
    if isinstance(before, Tensor) or isinstance(after, Tensor):
        check_tensors("check", before, after)
        return refusal_of_chains(certificate, before, after) == ""  # type: ignore[arg-type]
    if before is not None and after is not None:
        return check_models(certificate, before, after, EndsAsStated(by_position, match or {})) == ""
    if isinstance(certificate, dict) and "pairs" in certificate:
        return refusal_alone(certificate) == ""
    if isinstance(certificate, dict) and "any_rank" in certificate:
        if isinstance(certificate.get("plain"), dict) and "pairs" in certificate["plain"]:
            return refusal_of_computed_ranks(certificate) == ""
        return refusal_of_all_ranks(certificate) == ""
    return check_movement(certificate)
