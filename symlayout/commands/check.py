"""Check a certificate that two models compute the same, as `verify --certificate` writes it, and say what it claims.

The claim is made again from both models and from what the certificate says: which inputs and outputs are one, which of
them have their axes in another order, and which laws were granted.  The proof is not searched for again.

Inputs and outputs of one name are one; --match and --by-position say otherwise, as for verify.  The seal in the file
shows accidental changes only: anybody can seal a changed certificate, and what is printed here does not rest on it.

Exit status 0 is a proof of the claim that is printed, and 3 is no proof of any.

for example:
  symlayout verify before.onnx after.onnx --certificate proof.json
  symlayout check proof.json before.onnx after.onnx
  symlayout check proof.json before.onnx after.onnx --json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from symlayout.commands.output.report import ExitStatus, Report
from symlayout.commands.verify import named
from symlayout.equivalence.shared_ends import EndsAsStated
from symlayout.equivalence.verification import stated_claim
from symlayout.equivalence.verify_models import check_models
from symlayout.errors import FormatError, legible, one_line, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("certificate", metavar="CERTIFICATE", type=Path, help="the file of the certificate")
    parser.add_argument("before", metavar="BEFORE", help="the model, an .onnx or an .xml of OpenVINO")
    parser.add_argument("after", metavar="AFTER", help="the model that it became")
    parser.add_argument("--by-position", action="store_true", help="inputs and outputs are one by order, not by name")
    match = "an input or output that is called B after, and A before, though both models have one of these names"
    parser.add_argument("--match", action="append", default=[], metavar="A=B", help=match)


def run(arguments: argparse.Namespace) -> Report:
    """Return the claim that is proved, or why the certificate is no proof."""
    certificate = _read(arguments.certificate)
    asked = EndsAsStated(arguments.by_position, named("--match", arguments.match))
    reason = check_models(certificate, arguments.before, arguments.after, asked)
    claim = "" if reason else stated_claim(certificate)
    text = f"REFUSED: {one_line(reason, 400)}" if reason else f"PROVED: {claim}"
    data = {"proved": not reason, "claim": claim, "reason": legible(reason)}
    return Report(text, data, ExitStatus.UNDECIDED if reason else ExitStatus.HOLDS)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise FormatError(f"{shown(str(path))} is no JSON") from None
