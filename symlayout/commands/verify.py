"""Verify that two models compute the same, for all sizes and all inputs: what an optimiser or a converter did.

Exit status 0 is PROVED, 1 is REFUTED with a witness, and 3 is UNKNOWN. With --since, each model of the git repository
that was changed since a commit is compared with what it was; the exit status is the worst of all.

for example:
  symlayout verify before.onnx after.onnx
  symlayout verify before.onnx after.onnx --law reassociate --witness differs/
  symlayout verify before.onnx after.onnx --html report.html
  symlayout verify --since origin/main --junit results.xml --github
  symlayout verify nhwc.onnx nchw.onnx --match image=x --layout image=NHWC:NCHW
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from textwrap import indent
from urllib.parse import quote

import symlayout as sl
from symlayout.commands.ci.changed_models import changed_models
from symlayout.commands.ci.github import annotated, guarded, write_summary
from symlayout.commands.ci.junit import junit_xml
from symlayout.commands.ci.outcome import Outcome, worst
from symlayout.commands.output.page_option import add_html, write_html
from symlayout.commands.output.report import Report, exit_status
from symlayout.errors import FormatError, InconclusiveError, SymlayoutError, legible, one_line, shown
from symlayout.proof.laws import LAWS
from symlayout.show.whole_file import write_file
from symlayout.show.wording import relation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    formats = "an .onnx, a .tflite, a .pt2, a .mlir, a .jax or an .xml of OpenVINO"
    models = f"BEFORE and AFTER: {formats}; with --since, models to look at"
    parser.add_argument("models", metavar="MODEL", nargs="*", help=models)
    law = "what may be used beyond equality bit for bit: %(choices)s"
    parser.add_argument("--law", action="append", default=[], choices=LAWS, metavar="LAW", help=law)
    parser.add_argument("--by-position", action="store_true", help="match inputs and outputs by order, not by name")
    match = "an input or output that is called B after, and A before"
    parser.add_argument("--match", action="append", default=[], metavar="A=B", help=match)
    layout = "an input or output whose axes have another order after: X=NHWC:NCHW"
    parser.add_argument("--layout", action="append", default=[], metavar="X=AXES:AXES", help=layout)
    parser.add_argument("--no-run", action="store_true", help="do not run the models, to decide it or at a witness")
    proof = "write the proof to FILE, which the command check verifies"
    parser.add_argument("--certificate", metavar="FILE", type=Path, help=proof)
    parser.add_argument(
        "--witness",
        metavar="DIR",
        help="write the inputs where the models differ to DIR/inputs.npz (inputs_after.npz)",
    )
    add_html(parser)
    since = "verify each model that was changed since a commit of git; --html is a folder then"
    parser.add_argument("--since", metavar="COMMIT", help=since)
    parser.add_argument("--junit", metavar="FILE", type=Path, help="write the results to FILE as JUnit's XML")
    github = "print annotations for GitHub's workflows, and add to the summary of the step"
    parser.add_argument("--github", action="store_true", help=github)


def run(arguments: argparse.Namespace) -> Report:
    """Return the verdicts, with the witness and the first values that differ."""
    if arguments.since is not None:
        report, outcomes = _since(arguments)
    elif len(arguments.models) == 2:
        before, after = arguments.models
        report, outcome = _timed(arguments, before, after, after)
        outcomes = [outcome]
    else:
        raise argparse.ArgumentError(None, "two models are compared: BEFORE and AFTER, or those of --since COMMIT")
    if arguments.junit is not None:
        write_file(arguments.junit, junit_xml(outcomes).encode("utf-8"))
    if not arguments.github:
        return report
    write_summary(outcomes)
    lines = annotated(outcomes)
    if arguments.json:
        print(lines, file=sys.stderr)
    return replace(report, text="\n".join(filter(None, (guarded(report.text), lines))))


def _since(arguments: argparse.Namespace) -> tuple[Report, list[Outcome]]:
    """Return the verdicts about all models that were changed since a commit."""
    if arguments.certificate is not None or arguments.witness is not None:
        raise FormatError("--certificate and --witness take two models, BEFORE and AFTER")
    outcomes, data, texts = [], {}, []
    with changed_models(arguments.since, arguments.models) as models:
        for model in models:
            if model.before is None:
                outcome = Outcome(model.name, "NEW", "there was no such model before")
                data[model.name] = {"result": "NEW", "explanation": outcome.text}
            else:
                try:
                    report, outcome = _timed(arguments, str(model.before), str(model.after), model.name)
                    data[model.name] = {"result": outcome.result, **report.data}
                except (SymlayoutError, OSError) as error:
                    outcome = Outcome(model.name, "ERROR", f"{type(error).__name__}: {error}")
                    data[model.name] = {"result": "ERROR", "explanation": outcome.text}
            outcomes.append(outcome)
            texts.append(f"{one_line(model.name)}\n{indent(legible(outcome.text), '  ')}")
    text = "\n".join(texts) or f"no model was changed since {shown(arguments.since)}"
    return Report(text, {"since": arguments.since, "models": data}, worst(outcomes)), outcomes


def _timed(arguments: argparse.Namespace, before: str, after: str, name: str) -> tuple[Report, Outcome]:
    started = time.perf_counter()
    report = _compared(arguments, before, after, name)
    seconds = time.perf_counter() - started
    return report, Outcome(name, str(report.data["verdict"]).upper(), report.text, seconds)


def _compared(arguments: argparse.Namespace, before: str, after: str, name: str) -> Report:
    """Return the verdict about two models, and write what is asked for."""
    found = sl.verify(
        before,
        after,
        laws=arguments.law,
        by_position=arguments.by_position,
        match=named("--match", arguments.match),
        layout=named("--layout", arguments.layout),
        run=not arguments.no_run,
        time_limit=arguments.time_limit,
    )
    witness = found.witness
    text = found.explain()
    printed = {} if arguments.no_run else found.printed
    for runtime, (before, after) in printed.items():
        text += f"\n  {runtime} there: {before} before and {after} after"
    if witness is not None and arguments.witness is not None:
        text += f"\n  inputs: {witness.save(arguments.witness)}"
    text += "" if arguments.certificate is None else f"\n  {_write(found, arguments.certificate)}"
    page = arguments.html if arguments.since is None or arguments.html is None else arguments.html / _page_name(name)
    text += write_html(found, page, arguments.made_by, "\n  page: ")
    data = {
        "verdict": found.verdict.value,
        "outputs": {name: verdict.value for name, verdict in found.outputs.items()},
        "requires": [*map(relation, found.requires)],
        "assumed": [*map(relation, found.assumed)],
        "point": None if found.point is None else {str(dim): value for dim, value in found.point.items()},
        "laws": list(found.laws),
        "formulas": list(found.formulas),
        "formula_values": found.formula_values,
        "differences": {name: list(pair) for name, pair in found.differences.items()},
        "region": None if found.region is None else list(found.region),
        "frontier": [list(pair) for pair in found.frontier],
        "witness": None
        if witness is None
        else {
            "dims": {str(dim): int(value) for dim, value in witness.dims.items()},
            "output": witness.output,
            "coord": None if witness.coord is None else list(witness.coord),
            "before": str(witness.left),
            "after": str(witness.right),
            "runtimes": {runtime: list(pair) for runtime, pair in printed.items()},
        },
        "explanation": text,
    }
    return Report(text, data, exit_status(found.verdict))


def _page_name(name: str) -> str:
    """Return the file of the page about a model of a repository: one for each path."""
    return quote(name, safe=" ") + ".html"


def _write(found: sl.Verification, path: Path) -> str:
    """Write the certificate to a file, if there is one, and return a line that says so."""
    try:
        certificate = found.certificate
    except InconclusiveError as error:
        return f"no certificate was written: {one_line(str(error), 400)}"
    if certificate is None:
        return "no certificate was written: both models are not proved to compute the same"
    write_file(path, json.dumps(certificate).encode("utf-8"))
    return f"certificate: {one_line(str(path))}"


def named(option: str, texts: list[str]) -> dict[str, str]:
    """Return what is said of each name: the last ``=`` of a text ends the name, which may have others."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.rpartition("=")
        if not equals or not name or not value or name in found:
            raise FormatError(
                f"{option} takes a name, =, and what is said of it, once for each name, not {shown(text)}"
            )
        found[name] = value
    return found
