"""Compare what `sl.optimize` makes of models with what other tools make of them, and print a table of it.

    python -m tests.optimize_models.compare --model unet --results figures.jsonl

The models are those of ``tests/models/exported``, and networks with their channels last (`nhwc_models`).  Transposes,
and the bytes that movement writes with 16 for each dim, are counted alike for all.  The result without laws runs in
onnxruntime with optimisation off at random sizes, and has to compute the same bits as the model.  Each model is
optimized in a process of its own.  ``--docs`` writes the table to ``docs/optimize-figures.md``.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

import symlayout as sl
from symlayout.optimize_models.movement_regions import cost_of_model
from tests.equivalence.tools import EXPORTED, TOOLS
from tests.models.compare_shapes import random_inputs
from tests.optimize_models.spellings.nhwc_models import NETWORKS, SHAPES
from tests.support.paths import ROOT

OTHERS = ("onnxruntime-basic", "onnxruntime-extended", "onnxsim", "onnxslim", "onnxscript-rewriter")
OURS: dict[str, tuple[str, ...]] = {"ours": (), "ours, reassociate": ("reassociate",)}  # with the granted laws
TIMED = ("onnxsim", "onnxslim")  # whose files are run, too
CALLS = 101  # of which the median is taken
LIMIT = 1800  # seconds for one model, which stops a tool that does not end
_KINDS = ("static", "dynamic batch")  # of the networks with their channels last


@dataclass
class Row:
    """What is measured of one model.

    Attributes
    ----------
    before : list of int
        Transposes, bytes that movement writes, and nodes of the model.
    after : dict
        The same of what each tool makes of it; None if the tool fails, or makes a file that is not read.
    sizes, equal : int
        At how many sizes both were run, and at how many the bits are equal.
    seconds : float
        What our own takes.
    """

    name: str
    before: list[int]
    after: dict[str, list[int] | None] = field(default_factory=dict)
    sizes: int = 0
    equal: int = 0
    seconds: float = 0.0

    def best(self, figure: int) -> int:
        """Return the best figure of the other tools and of the model itself."""
        return min([found[figure] for tool in OTHERS if (found := self.after.get(tool))] + [self.before[figure]])

    def least(self, figure: int) -> int:
        """Return the best figure of all tools, our own among them, and of the model itself."""
        return min([found[figure] for tool in OURS if (found := self.after.get(tool))] + [self.best(figure)])

    def is_beaten(self) -> bool:
        """Return whether another tool is better than our own without laws."""
        ours = self.after["ours"]
        return ours is not None and any(ours[k] > self.best(k) for k in (0, 1))


def counted(path: Path) -> list[int]:
    """Return the transposes, the bytes that movement writes, and the nodes of a model."""
    m = sl.read_model(path)
    cost = cost_of_model(m)
    return [cost.transposes, cost.typical(), len(m.source.graph.node)]


def measured(path: Path, folder: Path) -> Row:
    """Return what is measured of one model."""
    row = Row(path.stem, counted(path))
    for name, laws in OURS.items():
        start = time.perf_counter()
        made = sl.optimize(path, laws=laws)
        row.seconds = row.seconds or time.perf_counter() - start
        target = folder / f"{len(row.after)}.onnx"
        made.save(target)
        row.after[name] = counted(target)
        if not made.report.laws and not row.sizes:
            results = [compare(path, target, seed) for seed in range(2)]
            row.sizes, row.equal = sum(n for n, _ in results), sum(n for _, n in results)
    for tool in OTHERS:
        target = folder / f"{tool}.onnx"
        try:
            TOOLS[tool](path, target)
            row.after[tool] = counted(target)
        except Exception as error:  # tools raise whatever they raise
            print(f"{path.stem}: {tool}: {error}"[:300], file=sys.stderr)
            row.after[tool] = None
    return row


def compare(before: Path, after: Path, seed: int) -> tuple[int, int]:
    """Return at how many random sizes two models were run by onnxruntime, and at how many the bits are equal."""
    import onnxruntime as ort  # here, so that the module is read without it

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    sessions = [ort.InferenceSession(str(p), options, providers=["CPUExecutionProvider"]) for p in (before, after)]
    sizes = equal = 0
    for _, arrays in random_inputs(sl.read_model(before), seed):
        results = [session.run(None, arrays) for session in sessions]
        sizes += 1
        equal += all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(*results, strict=True))
    return sizes, equal


def times(path: Path, folder: Path) -> str:
    """Return a row: milliseconds of a call of onnxruntime for each tool's file, first without its optimisation."""
    import onnxruntime as ort

    files = [path, *(folder / f"{name}.onnx" for name in ("ours", *TIMED))]
    sl.optimize(path, laws=("reassociate",)).save(files[1])
    for tool, target in zip(TIMED, files[2:], strict=True):
        TOOLS[tool](path, target)
    _, arrays = next(iter(random_inputs(sl.read_model(path), 0)))
    cells = []
    for level in ("ORT_DISABLE_ALL", "ORT_ENABLE_ALL"):
        options = ort.SessionOptions()
        options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        sessions = [ort.InferenceSession(str(p), options, providers=["CPUExecutionProvider"]) for p in files]
        taken: list[list[float]] = [[] for _ in files]
        for _ in range(CALLS):
            for session, found in zip(sessions, taken, strict=True):
                start = time.perf_counter()
                session.run(None, arrays)
                found.append(time.perf_counter() - start)
        cells += [f"{1000 * sorted(found)[CALLS // 2]:.3f}" for found in taken]
    return f"| {path.stem} | {' | '.join(cells)} |"


def ratio(rows: Iterable[Row], tool: str, figure: int) -> float:
    """Return the geometric mean of a tool's figure by the best of the others."""
    return _mean([(after[figure], row.best(figure)) for row in rows if (after := row.after.get(tool))], figure)


def _mean(pairs: Sequence[tuple[int, int]], figure: int) -> float:
    """Return the geometric mean of ratios; 1 is added to each number, of bytes 1024."""
    more = 1 if figure == 0 else 1024
    found = [math.log((a + more) / (b + more)) for a, b in pairs]
    return math.exp(sum(found) / max(len(found), 1))


def _at_most(left: list[int], right: list[int]) -> bool:
    """Return whether both figures of one tool are at most those of another."""
    return left[0] <= right[0] and left[1] <= right[1]


def table(rows: list[Row]) -> str:
    """Return the rows as Markdown: those first in which another tool is better."""
    tools = [*OURS, *OTHERS]
    lines = [
        f"| model | before | {' | '.join(tools)} | equal bits | s |",
        f"|---|--:|{'--:|' * (len(tools) + 2)}",
    ]
    for r in sorted(rows, key=lambda r: (not r.is_beaten(), r.name)):
        cells = [_cell(r.after.get(tool)) for tool in tools]
        mark = " (!)" if r.is_beaten() else ""
        shown = " | ".join([_cell(r.before), *cells, f"{r.equal} of {r.sizes}", f"{r.seconds:.0f}"])
        lines.append(f"| {r.name}{mark} | {shown} |")
    lines.append("")
    for tool in OURS:
        means = [ratio(rows, tool, k) for k in (0, 1)]
        lines.append(f"- {tool}: {means[0]:.2f} of the best other tool's transposes, {means[1]:.2f} of its bytes.")
    for tool in OTHERS:
        both = [(r.name, ours, theirs) for r in rows if (ours := r.after["ours"]) and (theirs := r.after.get(tool))]
        means = [_mean([(ours[k], theirs[k]) for _, ours, theirs in both], k) for k in (0, 1)]
        ahead = [name for name, ours, theirs in both if theirs[:2] != ours[:2] and _at_most(theirs, ours)]
        lines.append(
            f"- ours beside {tool}: {means[0]:.2f} of its transposes, {means[1]:.2f} of its bytes; "
            f"it is ahead in {', '.join(ahead) or 'none'}."
        )
    for k, what in enumerate(("transposes", "bytes")):
        less = [r for r in rows if r.least(k) < 0.99 * r.before[k]]
        means = [ratio(less, tool, k) for tool in OURS]
        none = sum(r.before[k] == 0 for r in rows)
        lines.append(
            f"- {none} of {len(rows)} models have no {what} to take out. In {len(less)} a tool or ours takes out "
            f"1 % or more. Over these, ours has {means[0]:.2f} of the best other tool's {what}, "
            f"and {means[1]:.2f} with the law."
        )
    above = [r.name for r in rows if (o := r.after["ours"]) and (o[0] > r.before[0] or o[1] > r.before[1])]
    lines.append(f"- models with more transposes or bytes than before: {', '.join(above) or 'none'}.")
    lines.append(f"- models in which another tool is better: {sum(r.is_beaten() for r in rows)} of {len(rows)}.")
    return "\n".join(lines)


def _cell(figures: list[int] | None) -> str:
    return "fails" if figures is None else f"{figures[0]}, {figures[1] / 1024:.0f} KiB"


PAGE = """# Figures of `sl.optimize`

Transposes, and the bytes that movement writes with 16 for each dim, of small networks of known architectures, and of
networks with their channels last as converters from TensorFlow leave them. "Ours" is `sl.optimize(model)`, and
`sl.optimize(model, laws=["reassociate"])`, where sums may run in another layout. Beside it: onnxruntime at the levels
basic and extended, onnxsim, onnxslim and the rewriter of onnxscript, each as installed. They may use operators of
`com.microsoft`, and may change what a sum rounds to. The result without laws was run by onnxruntime with optimisation
off: the column "equal bits" says at how many random sizes its bits are equal. The last column has seconds on a busy
machine. The means are geometric, with 1 added to transposes and 1 KiB to bytes.

`python -m tests.optimize_models.compare --docs` writes this page.

## Where another tool is better

Rows marked with (!) come first: there, another tool has fewer transposes or fewer bytes than ours without laws.

- efficientnet: its means over pixels run in another layout. That is the law `reassociate`: with it, ours is ahead.
  onnxruntime adds up the pixels of (1, 2) and of (2, 3) in two orders: the bits differ at all seven sizes tried.
- keras_attention: a transpose goes into `com.microsoft.FusedMatMul`, which the standard does not have.
- keras_recurrent: onnxsim folds two states of zeros that are expanded and joined, 1.5 KiB. An extent of its loop
  depends on data and has another name then, so it is not proved that the result accepts the same sizes.

## What still moves

- One transpose of an input or an output, or the join of two branches: nhwc, keras_dilated, keras_separable,
  keras_sharpened, detector, deeplab, unet, espcn and space_to_depth_stem. All that is moved is read, so no operator of
  the standard moves less. A Conv of each branch instead of a join would add up sums in another order.
- A layer normalisation between two layouts: convnext, segformer, the first transpose of mixer and vit. In the other
  layout the sums run along other axes, which is the law `reassociate`.
- bert, and the models with a dynamic number of rows among swin, mobilevit and xcit: batches of heads need no transpose,
  but onnxruntime is slower with them where a batch has fewer rows than a sum has terms
  ([decision](decisions/0034-products-turn-where-runtimes-keep-up.md)). A transpose for each of queries, keys and values
  is one more than the model has, so queries are split and joined, or are products of their heads.
- Keys, which a product reads transposed, and what heads are joined to: two transposes in each attention.
- llama: halves of heads change places, once for queries and once for keys.
- swin with dynamic sizes: a shifted window is two slices and a join on each axis.
- shufflenet: two joins, and one cut in halves of which one is read by a Conv.

## All models

"""


_TIMED = ("before", "ours", *TIMED)
TIMES = f"""| model | {" | ".join(f"{name}, {how}" for how in ("as written", "all optimisations") for name in _TIMED)} |
|---|{"--:|" * 2 * len(_TIMED)}
"""


MEASURED = f"""
## Times in onnxruntime

Milliseconds of a call, the median of {CALLS} that take turns, of the model, of ours with the law, and of what onnxsim
and onnxslim make of it: first with the graph as it is written, then with all of onnxruntime's own optimisations.
One thread of an Intel Xeon (AVX-512, 2 processors, no other work), onnxruntime 1.32.
`python -m tests.optimize_models.compare --times --model nhwc_unet` measures again. `nhwc_unet` and `keras_unet` have
the upsamplings of the U-Net from Keras that issue 26761 of onnxruntime is about. The rows from bert on are of a later
run, on an AMD EPYC (AVX-512, 2 processors). onnxsim or onnxslim is ahead in bert, lstm, mobilevit, swin and vit, and by
up to 4 % in mixer. Ours has fewer nodes than onnxslim in all of these but bert, and moves fewer bytes. It is
slower where queries, keys and values are products of their own: onnxruntime takes one large product in less time than
three small ones, and packs weights of two axes only
([decision](decisions/0034-products-turn-where-runtimes-keep-up.md)). Networks as small as these show it. With all
optimisations, onnxruntime runs `focus` faster than what ours makes of it.

{TIMES}| nhwc_deeplab_batch | 0.342 | 0.277 | 0.340 | 0.340 | 0.188 | 0.172 | 0.189 | 0.188 |
| nhwc_mobilenet_batch | 0.824 | 0.611 | 0.835 | 0.820 | 0.199 | 0.191 | 0.200 | 0.198 |
| nhwc_unet_batch | 2.400 | 1.996 | 2.403 | 2.383 | 1.264 | 1.253 | 1.272 | 1.255 |
| focus_batch | 0.124 | 0.122 | 0.121 | 0.121 | 0.072 | 0.101 | 0.072 | 0.073 |
| keras_dilated_dynamic | 2.531 | 1.085 | 2.520 | 2.532 | 1.619 | 0.889 | 1.624 | 1.604 |
| keras_unet_batch | 6.037 | 5.253 | 5.832 | 5.947 | 7.367 | 6.612 | 7.221 | 7.232 |
| keras_unet_dynamic | 2.708 | 2.375 | 2.658 | 2.654 | 2.857 | 2.624 | 2.855 | 2.850 |
| bert_batch | 0.095 | 0.085 | 0.081 | 0.083 | 0.091 | 0.088 | 0.078 | 0.080 |
| llama_batch | 0.109 | 0.077 | 0.078 | 0.080 | 0.095 | 0.072 | 0.072 | 0.075 |
| lstm_batch | 0.056 | 0.052 | 0.049 | 0.053 | 0.053 | 0.051 | 0.049 | 0.052 |
| mixer_batch | 0.050 | 0.051 | 0.049 | 0.049 | 0.036 | 0.035 | 0.035 | 0.035 |
| mobilevit_batch | 0.954 | 0.898 | 0.890 | 0.874 | 0.805 | 0.753 | 0.718 | 0.711 |
| swin_batch | 0.133 | 0.126 | 0.107 | 0.112 | 0.122 | 0.114 | 0.092 | 0.098 |
| vit_batch | 0.125 | 0.120 | 0.109 | 0.111 | 0.108 | 0.102 | 0.091 | 0.094 |
| xcit_batch | 0.120 | 0.063 | 0.110 | 0.111 | 0.072 | 0.052 | 0.104 | 0.105 |
"""


def models(folder: Path) -> list[Path]:
    """Return all models; the networks with their channels last are written to *folder*."""
    for name, network in NETWORKS.items():
        for kind in _KINDS:
            onnx.save(network(SHAPES[kind]), folder / f"nhwc_{name}_{kind.split()[-1]}.onnx")
    return [*sorted(folder.glob("nhwc_*.onnx")), *sorted(EXPORTED.glob("*.onnx"))]


def _child(path: Path) -> Row | None:
    command = [sys.executable, "-m", __spec__.name, "--one", str(path)]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    return None if done.returncode else Row(**json.loads(done.stdout.strip().splitlines()[-1]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", action="append", default=[], help="models whose name begins so; all without it")
    parser.add_argument("--results", type=Path, help="add a line of JSON for each model, and take what is there")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/optimize-figures.md")
    parser.add_argument("--times", action="store_true", help="print the times of calls, which a quiet machine needs")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        if arguments.one:
            print(json.dumps(asdict(measured(arguments.one, folder))))
            return 0
        if arguments.times:
            chosen = [p for p in models(folder) if p.stem.startswith(tuple(arguments.model) or "")]
            print(TIMES, end="")
            for path in chosen:
                print(times(path, folder), flush=True)
            return 0
        known: dict[str, Any] = {}
        if arguments.results and arguments.results.exists():
            known = {d["name"]: d for d in map(json.loads, arguments.results.read_text().splitlines())}
        rows, failed = [], []
        for path in models(folder):
            if arguments.model and not path.stem.startswith(tuple(arguments.model)):
                continue
            row = Row(**known[path.stem]) if path.stem in known else _child(path)
            if row is None:
                failed.append(path.stem)
                continue
            rows.append(row)
            if path.stem in known:
                continue
            print(row.name, row.before, row.after, f"{row.equal}/{row.sizes} {row.seconds:.0f} s", flush=True)
            if arguments.results:
                with arguments.results.open("a") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
    text = table(rows) + "".join(f"\n- {name}: not measured." for name in failed)
    print(text)
    if arguments.docs:
        (ROOT / "docs" / "optimize-figures.md").write_text(f"{PAGE}{text}\n{MEASURED}", encoding="utf-8")
    return int(bool(failed) or any(r.equal != r.sizes for r in rows))


if __name__ == "__main__":
    raise SystemExit(main())
