"""Verify what installed tools make of exported models, and print a table of it.

    python -m tests.equivalence.tools --tool onnxruntime-basic --tool onnxsim --model resnet --markdown table.md

Each tool rewrites each model in a process of its own, which has a limit of time.  The result is verified without laws;
what that leaves unknown is verified again with all laws granted, which are then named.  ``--results`` keeps the rows of
a run that was stopped: the same command goes on with what is missing.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import symlayout as sl
from symlayout.proof.laws import LAWS

EXPORTED = Path(__file__).parent.parent / "models" / "exported"
LIMIT = 600  # seconds for one tool and one model, and for one verification
_FORK = multiprocessing.get_context("fork")  # a fork has the imports already


def _onnxruntime(level: str) -> Callable[[Path, Path], None]:
    def rewrite(source: Path, target: Path) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, f"ORT_ENABLE_{level}")
        options.optimized_model_filepath = str(target)
        ort.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])

    return rewrite


def _onnxsim(source: Path, target: Path) -> None:
    import onnx
    import onnxsim

    simplified, _ = onnxsim.simplify(onnx.load(source))
    onnx.save(simplified, target)


def _onnxslim(source: Path, target: Path) -> None:
    import onnx
    import onnxslim

    onnx.save(onnxslim.slim(onnx.load(source)), target)


def _onnxscript(source: Path, target: Path) -> None:
    import onnx
    from onnxscript import optimizer

    onnx.save(optimizer.optimize(onnx.load(source)), target)


def _onnxscript_rewriter(source: Path, target: Path) -> None:
    import onnx
    from onnxscript import optimizer, rewriter

    onnx.save(rewriter.rewrite(optimizer.optimize(onnx.load(source))), target)


def _onnxoptimizer(source: Path, target: Path) -> None:
    import onnx
    import onnxoptimizer

    onnx.save(onnxoptimizer.optimize(onnx.load(source), onnxoptimizer.get_fuse_and_elimination_passes()), target)


def _tf2onnx(source: Path, target: Path) -> None:
    import onnx

    graph_util = importlib.import_module("tf2onnx.graph").GraphUtil
    onnx.save(graph_util.optimize_model_proto(onnx.load(source), catch_errors=False), target)


TOOLS: dict[str, Callable[[Path, Path], None]] = {
    "onnxruntime-basic": _onnxruntime("BASIC"),
    "onnxruntime-extended": _onnxruntime("EXTENDED"),
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "onnxscript-optimizer": _onnxscript,
    "onnxscript-rewriter": _onnxscript_rewriter,
    "onnxoptimizer": _onnxoptimizer,
    "tf2onnx": _tf2onnx,
}


@dataclass
class Row:
    """What a verification of one tool's result found.

    Attributes
    ----------
    state : str
        ``"verified"``, or why there is nothing to verify: the tool's or the reader's message.
    nodes : tuple of int
        How many nodes the model has before and after.
    certificate : str
        ``"checked"`` if `sl.check` accepts the certificate of what is proved, or why there is none.
    proof_seconds, check_seconds : float
        Processor time of `sl.verify` with its certificate, and of `sl.check`; both without reading the models.
    outputs : dict
        The verdict of each output without laws, by name.
    granted : dict
        The same with all laws granted.
    laws : list
        Those that were needed.
    """

    tool: str
    model: str
    state: str
    nodes: tuple[int, int] = (0, 0)
    outputs: dict[str, str] = field(default_factory=dict)
    granted: dict[str, str] = field(default_factory=dict)
    laws: list[str] = field(default_factory=list)
    seconds: float = 0.0
    certificate: str = ""
    proof_seconds: float = 0.0
    check_seconds: float = 0.0
    megabytes: int = 0
    region: list[str] = field(default_factory=list)
    explanation: str = ""


def verified(tool: str, source: Path, target: Path) -> Row:
    """Return what `sl.verify` says of a tool's result."""
    start = time.perf_counter()
    before, after = sl.read_model(source), sl.read_model(target)
    begun = time.process_time()
    found = sl.verify(before, after)
    row = Row(tool, source.stem, "verified", (len(before.nodes), len(after.nodes)))
    row.seconds = time.perf_counter() - start
    row.outputs = {name: verdict.value for name, verdict in found.outputs.items()}
    if found.verdict is sl.Verdict.UNKNOWN:
        begun = time.process_time()
        granted = sl.verify(before, after, laws=LAWS)
        row.granted = {name: verdict.value for name, verdict in granted.outputs.items()}
        row.laws = list(granted.laws)
        found = granted
    if found.verdict is sl.Verdict.PROVED:
        _certify(row, found, before, after, begun)
    else:
        row.region, row.explanation = list(found.region or ()), found.explain()
    row.megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return row


def _certify(row: Row, found: sl.Verification, before: Any, after: Any, begun: float) -> None:
    """Write into *row* whether the certificate is accepted, and how long proof and check take."""
    try:
        shown = found.certificate
    except sl.InconclusiveError as error:
        row.certificate = str(error)
        return
    shown = json.loads(json.dumps(shown))
    row.proof_seconds = time.process_time() - begun
    begun = time.process_time()
    row.certificate = "checked" if sl.check(shown, before=before, after=after) else "REFUSED"
    row.check_seconds = time.process_time() - begun


def _child(step: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Run one step in a process of its own, a fork of this one; return its result, and why it failed."""
    here, there = _FORK.Pipe(duplex=False)
    child = _FORK.Process(target=_send, args=(there, step, arguments))
    child.start()
    there.close()
    try:
        if not here.poll(LIMIT):
            return None, f"takes more than {LIMIT} s"
        result, failure = here.recv()
        return result, failure
    except EOFError:
        child.join()
        return None, f"exit status {child.exitcode}"
    finally:
        child.kill()
        child.join()


def _send(pipe: Any, step: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Send what a step returns, or the error that it raises."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        try:
            pipe.send((step(*arguments), ""))
        except Exception as error:  # each tool has errors of its own
            pipe.send((None, f"{type(error).__name__}: {' '.join(str(error).split())}"))


def row_of(tool: str, source: Path, folder: Path) -> Row:
    """Return the verdicts on what *tool* makes of the model *source*."""
    target = folder / f"{source.stem}.{tool}.onnx"
    _, failure = _child(TOOLS[tool], source, target)
    if failure or not target.exists():
        return Row(tool, source.stem, f"the tool fails: {failure or 'no file'}")
    row, failure = _child(verified, tool, source, target)
    return Row(tool, source.stem, f"not verified: {failure}") if failure else row


def table(rows: Iterable[Row]) -> str:
    """Return the counts of each tool as a table, and what is not proved."""
    by_tool: dict[str, list[Row]] = {}
    for row in rows:
        by_tool.setdefault(row.tool, []).append(row)
    lines = [
        "| tool | models | outputs | proved | proved under laws | refuted | unknown | longest |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for tool, mine in by_tool.items():
        done = [r for r in mine if r.state == "verified"]
        counts: Counter[str] = Counter()
        for r in done:
            for name, verdict in r.outputs.items():
                law = verdict == "unknown" and r.granted.get(name) == "proved"
                counts["law" if law else r.granted.get(name, verdict)] += 1
        slowest = max((r.seconds for r in done), default=0.0)
        figures = [counts.total(), *(counts[k] for k in ("proved", "law", "refuted", "unknown"))]
        lines.append(f"| {tool} | {len(done)} of {len(mine)} | {' | '.join(map(str, figures))} | {slowest:.0f} s |")
    lines.append("")
    for row in (r for mine in by_tool.values() for r in mine):
        verdicts = {**row.outputs, **row.granted}
        if row.state != "verified":
            lines.append(f"- {row.tool}, {row.model}: {row.state}")
        elif set(verdicts.values()) != {"proved"}:
            names = [f"{n} {v}" for n, v in verdicts.items() if v != "proved"]
            lines.append(f"- {row.tool}, {row.model}: {', '.join(names)}; region {' and '.join(row.region)}")
    return "\n".join(lines)


def main() -> int:
    """Rewrite and verify; the exit status is 1 if a result is refuted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", action="append", choices=TOOLS, help="which tools; all without it")
    parser.add_argument("--model", action="append", default=[], help="models whose name begins so; all without it")
    parser.add_argument("--folder", type=Path, default=EXPORTED, help="where the models are")
    parser.add_argument("--keep", type=Path, help="keep the rewritten models in this folder")
    parser.add_argument("--results", type=Path, help="add a line of JSON for each model to this file")
    parser.add_argument("--markdown", type=Path, help="write the table to this file")
    arguments = parser.parse_args()
    earlier = _earlier(arguments.results)
    rows = []
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        for tool in arguments.tool or TOOLS:
            with contextlib.suppress(ImportError):  # the forks have it then; without it, each row says that it fails
                importlib.import_module(tool.partition("-")[0])
            for source in sorted(arguments.folder.glob("*.onnx")):
                if arguments.model and not source.stem.startswith(tuple(arguments.model)):
                    continue
                row = earlier.get((tool, source.stem)) or row_of(tool, source, folder)
                rows.append(row)
                verdict = Counter({**row.outputs, **row.granted}.values())
                about = f"{dict(verdict)} {row.seconds:.1f} s {' '.join(row.laws)}" if verdict else row.state
                print(f"{tool} {source.stem}: {about} {' '.join(row.region)}", flush=True)
                if arguments.results and (tool, source.stem) not in earlier:
                    with arguments.results.open("a") as file:
                        file.write(json.dumps(asdict(row)) + "\n")
    text = table(rows)
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text + "\n")
    return int(any("refuted" in {**r.outputs, **r.granted}.values() for r in rows))


def _earlier(results: Path | None) -> dict[tuple[str, str], Row]:
    """Return the rows that a run before wrote to its file of results, by tool and model."""
    if results is None or not results.exists():
        return {}
    rows = [Row(**json.loads(line)) for line in results.read_text().splitlines()]
    return {(row.tool, row.model): row for row in rows}


if __name__ == "__main__":
    sys.exit(main())
