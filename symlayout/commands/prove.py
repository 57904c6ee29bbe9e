"""Prove that one chain of operations equals another on the same input, or equals the identity.

The steps after -- are the right side. Without them, the right side is the input itself. With -, it may
also stand on a line of standard input.
Exit status 0 is PROVED, 1 is REFUTED with the smallest dims and the coordinate where the two sides differ, and 3 is
UNKNOWN.

for example:
  symlayout prove "N,H,W,C" "space_to_batch([2,2], [[1,1],[1,1]])" "batch_to_space([2,2], [[1,1],[1,1]])"
  symlayout prove "N,H,W" "transpose(0,2,1)" "flip(1)" -- "flip(2)" "transpose(0,2,1)"
  symlayout prove model.xml -- "openvino:SpaceToDepth-1(block_size=2, mode=blocks_first)"
"""

from __future__ import annotations

import argparse

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.output.describe import SEPARATOR
from symlayout.commands.output.report import Report, exit_status
from symlayout.errors import FormatError
from symlayout.show import wording


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments.  `command_line.main` splits off the right side before they are parsed."""
    subject.add_arguments(parser)


def _sides(arguments: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Return the words of the left side and the steps of the right side; -- may also stand in standard input."""
    words, right = subject.expand(arguments.subject), arguments.right
    if SEPARATOR not in words:
        return words, right
    at = words.index(SEPARATOR)
    if right:
        raise FormatError("-- stands in standard input and on the command line, and a claim has two sides")
    if at == 0:
        raise FormatError("no shape stands before --\n  help: write a shape, one step a line, --, then the right side")
    return words[:at], words[at + 1 :]


def run(arguments: argparse.Namespace) -> Report:
    """Return the verdict, with the witness or the derivation."""
    arguments.subject, arguments.right = _sides(arguments)
    left, right = subject.read(arguments, arguments.right)
    proof = sl.prove_equal(left, right, time_limit=arguments.time_limit)
    witness = proof.witness
    found = None
    if witness is not None:
        found = {
            "dims": {str(dim): int(value) for dim, value in witness.dims.items()},
            "coord": None if witness.coord is None else list(witness.coord),
            "left": str(witness.left),
            "right": str(witness.right),
        }
    data = {
        "verdict": proof.verdict.value,
        "left": wording.facts(left),
        "right": wording.facts(right),
        "requires": [wording.relation(r) for r in proof.requires],
        "same_requires": proof.same_requires,
        "witness": found,
        "explanation": proof.explain(),
    }
    text = proof.explain()
    headline = proof.verdict.value.upper()
    if not text.upper().startswith(headline):
        text = f"{headline}\n{text}"
    return Report(text, data, exit_status(proof.verdict))
