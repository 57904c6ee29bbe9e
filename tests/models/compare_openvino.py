"""Compare the shapes of models in OpenVINO's IR with those that OpenVINO infers once the inputs have sizes."""

# mypy: disable-error-code="import-untyped, import-not-found"

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import symlayout as sl
from symlayout.models.model import Model
from tests.models.compare_shapes import SIZES, difference, shares, timed
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "models" / "exported"


@dataclass(frozen=True)
class OpenVINORow:
    """What is measured of one model."""

    name: str
    nodes: int
    dims: int
    ours: int
    theirs: int
    points: int
    wrong: tuple[str, ...]
    milliseconds: float


def random_sizes(m: Model, seed: int) -> Iterator[dict[Any, int]]:
    """Yield random sizes that are valid for a model; inputs have the same size on axes of one number."""
    symbols = sorted({s for t in m.inputs.values() for e in t.shape for s in getattr(e, "free_symbols", ())}, key=str)
    rnd = random.Random(seed)
    found = 0
    for _ in range(40 * SIZES):
        drawn = {axis: rnd.randrange(1, 5) if axis == "0" else 8 * rnd.randrange(2, 8) for axis in "01234567"}
        sizes = {s: drawn[s.name.rpartition(".")[2]] for s in symbols}
        try:
            for t in m.outputs.values():
                t.subs({s.name: n for s, n in sizes.items()})
        except sl.ShapeError:
            continue
        yield sizes
        found += 1
        if found == (SIZES if symbols else 1):
            return


def disagreements(m: Model, path: Path, seed: int = 0) -> tuple[int, list[str]]:
    """Return at how many sizes OpenVINO inferred shapes, and where one of a value differs from ours."""
    import openvino

    wrong: list[str] = []
    points = 0
    for sizes in random_sizes(m, seed):
        points += 1
        theirs = openvino.Core().read_model(path)
        shapes = [[e if isinstance(e, int) else int(e.subs(sizes)) for e in t.shape] for t in m.inputs.values()]
        theirs.reshape(dict(zip(theirs.inputs, shapes, strict=True)))
        known = {op.get_friendly_name(): op for op in theirs.get_ordered_ops()}
        for node in m.nodes:
            if node.name not in known:
                continue
            for number, name in enumerate(node.outputs):
                shape = known[node.name].output(number).get_partial_shape()
                if name in m.tensors and shape.rank.is_static:
                    extents = [d.get_length() if d.is_static else None for d in shape]
                    wrong += difference(name, m.tensors[name], extents, sizes)
    return points, wrong


def measured(path: Path) -> OpenVINORow:
    """Return what is measured of one model."""
    import openvino

    m, seconds = timed(path)
    dims, ours = shares(m)
    theirs = 0
    for op in openvino.Core().read_model(path).get_ordered_ops():
        if op.get_type_name() not in ("Parameter", "Constant", "Result"):
            shapes = [output.get_partial_shape() for output in op.outputs()]
            theirs += sum(d.is_static for shape in shapes if shape.rank.is_static for d in shape)
    points, wrong = disagreements(m, path)
    milliseconds = seconds / max(len(m.nodes), 1) * 1e3
    return OpenVINORow(path.stem, len(m.nodes), dims, ours, theirs, points, tuple(wrong), milliseconds)


def table(rows: list[OpenVINORow]) -> str:
    """Return the rows as Markdown."""
    lines = [
        "| model | nodes | symlayout | OpenVINO | sizes | differences | ms a node |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for r in rows:
        share = f"{100 * r.ours / r.dims:.1f} % | {100 * r.theirs / r.dims:.1f} %"
        lines.append(f"| {r.name} | {r.nodes} | {share} | {r.points} | {len(r.wrong)} | {r.milliseconds:.2f} |")
    nodes, dims = sum(r.nodes for r in rows), sum(r.dims for r in rows)
    share = " | ".join(f"{100 * n / dims:.1f} %" for n in (sum(r.ours for r in rows), sum(r.theirs for r in rows)))
    mean = sum(r.milliseconds * r.nodes for r in rows) / max(nodes, 1)
    points, wrong = sum(r.points for r in rows), sum(len(r.wrong) for r in rows)
    return "\n".join([*lines, f"| all | {nodes} | {share} | {points} | {wrong} | {mean:.2f} |"])
