"""What a rewrite did to one value: the text of it, and its own proof."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from symlayout.errors import InconclusiveError
from symlayout.proof.verdict import Proof

if TYPE_CHECKING:
    from onnx import NodeProto


@dataclass(frozen=True, slots=True)
class Rewritten:
    """One value that is made in another way.

    Attributes
    ----------
    value : str
        The name of the value, or of the first output of a node that runs in another layout.
    text : str
        What was done.
    proofs : tuple of Proof
        The proofs that what is made now equals what was made before, for all sizes; each output has one.
    ends : tuple of str
        Without proofs, the names of the values that have to be proved equal once the model is read.
    """

    value: str
    text: str
    proofs: tuple[Proof, ...] = ()
    ends: tuple[str, ...] = ()

    def to_json(self, certificates: bool = False) -> dict[str, Any]:
        """Return the value, what was done and the verdicts as JSON data; with the certificates on request."""
        data: dict[str, Any] = {
            "value": self.value,
            "text": self.text,
            "proofs": [proof.verdict.value for proof in self.proofs],
        }
        if certificates:
            data["certificates"] = [_certificate(proof) for proof in self.proofs]
        return data

    def __str__(self) -> str:
        verdicts = sorted({proof.verdict.name for proof in self.proofs})
        return f"{self.text} ({', '.join(verdicts)})" if verdicts else self.text


def ends_of(readers: Iterable[NodeProto]) -> tuple[str, ...]:
    """Return the values that are made of one that has another name now."""
    return tuple(name for node in readers for name in node.output if name)


def _certificate(proof: Proof) -> dict[str, Any] | str | None:
    """Return the certificate of a proof; a text that says why if there is none."""
    try:
        return proof.certificate
    except InconclusiveError as error:
        return f"no certificate: {error}"
