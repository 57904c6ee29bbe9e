"""Pages about a model, a verdict about two models, and an optimised model, as data and as HTML.

The data of each page has:

- ``kind``, ``title``, ``made_by``: what the page is about, and the command that makes it again;
- ``verdict``, ``summary``: a verdict or None, and lines of text;
- ``dims``, ``values``: the dims with their bounds, and a value for each to begin with;
- ``requires``: what must hold of them, each with the nodes that state it;
- ``shapes``: each shape as text and as trees; other data has numbers of them;
- ``graphs``: see `symlayout.reports.page_data.graph_data`;
- ``sections``: tables with a title, a note, columns and rows, where a cell is text, ``{"shape": k}``,
  ``{"value": name, "graph": k}`` that leads to a box, or ``{"text": expression, "tree": tree}``;
- ``files``: what may be saved, each with its name, its media type and its content in Base64.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.equivalence.run_models import write_arrays
from symlayout.equivalence.verification import Verification
from symlayout.errors import InconclusiveError, legible
from symlayout.language.expression_tree import tree
from symlayout.language.sympy_bridge import to_relation
from symlayout.models.model import Model
from symlayout.optimize_models.changed_regions import ChangedRegion, RegionNode
from symlayout.optimize_models.optimize_model import OptimizedModel
from symlayout.proof.points import valid_sizes
from symlayout.proof.verdict import Proof
from symlayout.reports.page import html_page
from symlayout.reports.page_data import Data, PageData, clean, expression, graph_data
from symlayout.show.wording import relation
from symlayout.tensors.element_types import type_name
from symlayout.tensors.requirements import origins, requirements

_MOST_TRIED = 16  # valid sizes from which those of a page are chosen
_MOST_ROWS = 2000  # of a table
_MOST_ELEMENTS = 200  # of an array that a page prints whole
_MOST_BYTES = 8 << 20  # of a file in a page
_MOST_LINES = 60  # of a proof in words


def html_of(subject: Model | Verification, made_by: str = "") -> str:
    """Return a page about a model, an optimised model or a verdict, as one HTML file that needs no network.

    Parameters
    ----------
    subject : Model, OptimizedModel or Verification
        What the page is about.
    made_by : str
        The command that makes the page again, which the page shows.
    """
    if isinstance(subject, Verification):
        data = data_of_verification(subject)
    elif isinstance(subject, OptimizedModel):
        data = data_of_optimized(subject)
    else:
        data = data_of_model(subject)
    return html_page({**data, "made_by": clean(made_by)})


def data_of_model(model: Model) -> Data:
    """Return the page about a model as data."""
    page = PageData()
    graphs = [graph_data(model, model.path.name, page)]
    text = f"{model.format}, {len(model.nodes)} nodes; every shape holds for all sizes that meet the requirements."
    return {
        "kind": "model",
        "title": clean(model.path.name),
        "verdict": None,
        "summary": [text],
        "graphs": graphs,
        "sections": [*_ends(model, page), *_table("Notes", ["note"], [[clean(note)] for note in model.notes])],
        "files": [],
        **_sizes(page, _demands(model, page), model.domain),
    }


def data_of_verification(found: Verification) -> Data:
    """Return the page about a verdict as data."""
    page = PageData()
    models = found.models or ()
    graphs: list[Data] = []
    other_names = _renamed_dims(found)
    for side, model in zip(("before", "after"), models, strict=False):
        page.renamed = {name: tree(e) for name, e in other_names.items()} if side == "after" else {}
        graphs.append(graph_data(model, f"{side}: {model.path.name}", page))
    known = {} if found.domain is None else found.domain.both.dims
    requires = [page.relation(r, known) for r in found.requires]
    text = legible(found.explain()).splitlines()
    sections = [
        *_table(
            "Outputs",
            ["output", "verdict", "what was found"],
            [
                [_value(name, 0), verdict.name, clean(found.proofs[name].conclusion if name in found.proofs else "")]
                for name, verdict in found.outputs.items()
            ],
        ),
        *_table("The claim", ["what", ""], _claim(found, other_names)),
        *_table(
            "The first values that differ or were not decided",
            ["before", "after"],
            [[_value(a, 0), _value(b, 1)] for a, b in found.frontier or filter(None, [found.region])],
            "What these values are made of was shown to be equal.",
        ),
        *_witness(found),
    ]
    for k, graph in enumerate(graphs):
        graph["marks"] = [clean(pair[k]) for pair in found.frontier or filter(None, [found.region])]
    at = found.witness.dims if found.witness is not None else found.point or {}
    facts = Facts() if found.domain is None else found.domain.both
    data = _sizes(page, requires, facts, {str(dim): int(value) for dim, value in at.items()})
    return {
        "kind": "verification",
        "title": " and ".join(clean(m.path.name) for m in models) or "two models",
        "verdict": found.verdict.name,
        "summary": [clean(line.strip().removeprefix(f"{found.verdict.name}: "), 2000) for line in text],
        "graphs": graphs,
        "sections": sections,
        "files": _files_of(found),
        **data,
    }


def data_of_optimized(model: OptimizedModel) -> Data:
    """Return the page about an optimised model as data."""
    page, report = PageData(), model.report
    graphs = [graph_data(m, side, page) for side, m in (("before", model.original), ("after", model))]
    costs = [report.before.total, report.after.total]
    counts: list[list[Any]] = [
        ["transposes", str(report.before.transposes), str(report.after.transposes)],
        ["bytes moved", *({"text": str(cost), "tree": expression(cost)} for cost in costs)],
        ["nodes", *map(str, report.nodes)],
    ]
    sections = [
        *_table("What it costs", ["", "before", "after"], counts),
        *_table("Outputs", ["output", "verdict"], [[_value(n, 1), v.name] for n, v in report.verdicts.items()]),
    ]
    for k, region in enumerate(report.regions):
        sections += _region(region, k)
    for k, graph in enumerate(graphs):
        changed = [(r.before, r.after)[k] for r in report.regions]
        graph["marks"] = [clean(name) for nodes in changed for node in nodes for name in node.outputs]
    proofs = [
        [c.rule, clean(each.text), ", ".join(sorted({p.verdict.name for p in each.proofs})), _words(each.proofs)]
        for c in report.changes
        if c.accepted
        for each in c.rewritten
    ]
    sections += _table("Rewrites and their proofs", ["rule", "what was done", "verdict", "proof in words"], proofs)
    refused = [
        [c.rule, clean(t), clean(c.reason)] for c in report.changes if not c.accepted for t in c.details or ("",)
    ]
    sections += _table("Not done", ["rule", "what was tried", "why not"], refused)
    verdicts = {v.name for v in report.verdicts.values()}
    data = _sizes(page, _demands(model, page), model.domain)
    return {
        "kind": "optimized",
        "title": clean(model.original.path.name),
        "verdict": next(iter(verdicts)) if len(verdicts) == 1 else None,
        "summary": [clean(line, 2000) for line in str(report).splitlines()[:3]],
        "graphs": graphs,
        "sections": sections,
        "files": _file("report.json", "application/json", json.dumps(report.to_json(), indent=1).encode()),
        **data,
    }


def _demands(model: Model, page: PageData) -> list[Data]:
    """Return what the nodes of a model demand of its inputs' dims."""
    nodes, facts = model.demanding(), model.domain
    asked = origins(facts, [value.facts for _, value in nodes])
    inputs = {name for t in model.inputs.values() for name in t.facts.dims}
    found = []
    for r, by in zip(requirements(facts), asked, strict=True):
        stated = to_relation(r, facts)
        if {s.name for s in stated.free_symbols} <= inputs:
            found.append(page.relation(stated, facts.dims, [nodes[k][0] for k in by]))
    return found


def _sizes(page: PageData, requires: list[Data], facts: Facts, at: Mapping[str, int] | None = None) -> Data:
    """Return the dims, a value for each, the requirements and the shapes.

    The values are those of a witness or a point, or small ones that meet *facts*, if possible without a 0.
    """
    values = dict(at or {})
    if not values:
        tried = list(islice(valid_sizes(facts), _MOST_TRIED))
        values = next((sizes for sizes in tried if min(sizes.values(), default=1) > 0), tried[0] if tried else {})
    for name, d in page.dims.items():
        least = max(int(d["min"] or 0), 1 if d["max"] is None else 0)
        values.setdefault(name, -(-least // d["step"]) * d["step"])
    dims = list(page.dims.values())
    return {
        "dims": dims,
        "values": {d["name"]: str(values[d["name"]]) for d in dims},
        "requires": requires,
        "shapes": page.shapes,
    }


def _ends(model: Model, page: PageData) -> list[Data]:
    rows = [
        [what, _value(name, 0), {"shape": page.shape(t)}, clean(type_name(t.dtype) or "any")]
        for what, ends in (("input", model.inputs), ("output", model.outputs))
        for name, t in ends.items()
    ]
    return _table("Inputs and outputs", ["", "name", "shape", "type"], rows)


def _renamed_dims(found: Verification) -> dict[str, Any]:
    """Return what dims of the model after are in those of the model before, by the inputs that are one."""
    renamed: dict[str, Any] = {}
    if found.models is None or found.ends is None:
        return renamed
    before, after = found.models
    for name, other in found.ends.inputs:
        shapes = before.inputs[name].shape, after.inputs[other].shape
        if None in shapes or len(shapes[0]) != len(shapes[1]):
            continue
        axes = found.ends.axes.get(name, range(len(shapes[0])))
        for axis, e in zip(axes, shapes[1], strict=True):
            if getattr(e, "is_Symbol", False) and str(e) != str(shapes[0][axis]):
                renamed.setdefault(e.name, shapes[0][axis])
    return renamed


def _claim(found: Verification, renamed: Mapping[str, Any]) -> list[list[str]]:
    """Return what the claim is about, and under which conditions it holds."""
    texts = [
        ("domain", [relation(r) for r in found.requires] or ["all sizes within the bounds of the dims"]),
        ("assumed", [relation(r) for r in found.assumed] or ["nothing"]),
        ("laws", list(found.laws) or ["none: equal bit for bit"]),
        ("dims", [f"{name} after is {e}" for name, e in renamed.items()]),
        ("pairs", list(found.ends.texts) if found.ends is not None else []),
        ("formulas", [f"{name}: {found.formula_values.get(name) or 'rounding may differ'}" for name in found.formulas]),
        ("sampled", [f"{n} differs by {a:.1e}, {b:.1e} of its greatest" for n, (a, b) in found.differences.items()]),
        ("evaluated at", [", ".join(f"{dim} = {value}" for dim, value in found.point.items())] if found.point else []),
    ]  # fmt: skip
    return [[what, clean(line, 2000)] for what, lines in texts for line in lines]


def _witness(found: Verification) -> list[Data]:
    """Return the witness: the sizes, where the models differ, and the values of the inputs."""
    witness = found.witness
    if witness is None:
        return []
    place = f"{witness.output} at {witness.coord}" if witness.coord is not None else witness.output
    rows = [["output", clean(place)], ["before", clean(witness.left)], ["after", clean(witness.right)]]
    rows += [[f"{dim}", str(value)] for dim, value in witness.dims.items()]
    for runtime, (before, after) in found.printed.items():
        rows.append([clean(runtime), clean(f"{before} before and {after} after")])
    for name, array in witness.inputs.items():
        printed = np.array2string(array, threshold=_MOST_ELEMENTS, max_line_width=100)
        rows.append([clean(f"input {name}"), legible(f"{array.dtype} of shape {array.shape}\n{printed}")])
    note = "At these sizes and inputs the models differ; the values of the dims beside the graph begin with them."
    return _table("The witness", ["what", "value"], rows, note)


def _files_of(found: Verification) -> list[Data]:
    """Return the certificate and the inputs of the witness as files."""
    files: list[Data] = []
    try:
        certificate = found.certificate
    except InconclusiveError:
        certificate = None
    if certificate is not None:
        files += _file("certificate.json", "application/json", json.dumps(certificate).encode("utf-8"))
    witness = found.witness
    if witness is not None and witness.inputs:
        after = [("inputs_after.npz", witness.inputs_after)] if witness.has_others_after else []
        for name, arrays in [("inputs.npz", witness.inputs), *after]:
            made = io.BytesIO()
            write_arrays(made, arrays)
            files += _file(name, "application/zip", made.getvalue())
    return files


def _region(region: ChangedRegion, number: int) -> list[Data]:
    """Return a region before and after, node by node."""
    times = f", {region.count} times" if region.count > 1 else ""
    sides = (("before", region.before, 0), ("after", region.after, 1))
    hidden = zip(("before", "after"), region.shape_nodes, strict=True)
    note = ", ".join(f"{count} nodes {side} compute shapes" for side, count in hidden if count)
    rows: list[list[Any]] = []
    for side, nodes, graph in sides:
        for node in nodes:
            rows.append([side, clean(node.op), *_region_node(node, graph)])
        if not nodes:
            rows.append([side, "nothing", "", "", ""])
    return _table(f"Region {number + 1}{times}", ["", "operation", "makes", "shape", "bytes moved"], rows, note)


def _region_node(node: RegionNode, graph: int) -> list[Any]:
    return [_value(next(iter(node.outputs), ""), graph), clean(node.shape), clean(node.bytes or "computes")]


def _words(proofs: Iterable[Proof]) -> str:
    """Return the derivation of the first proof as text."""
    for proof in proofs:
        return "\n".join(clean(line, 300) for line in proof.explain().splitlines()[:_MOST_LINES])
    return ""


def _value(name: str, graph: int) -> Data:
    """Return a cell that leads to the box of a value."""
    return {"value": clean(name), "graph": graph}


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], note: str = "") -> list[Data]:
    """Return a section with a table; none if it has no rows."""
    more = f"{len(rows) - _MOST_ROWS} rows more" if len(rows) > _MOST_ROWS else ""
    note = ", ".join(filter(None, (note, more)))
    return [{"title": title, "note": note, "columns": columns, "rows": rows[:_MOST_ROWS]}] if rows else []


def _file(name: str, kind: str, content: bytes) -> list[Data]:
    """Return a file that a page may save; none if it is too large for a page."""
    if len(content) > _MOST_BYTES:
        return []
    return [{"name": name, "type": kind, "content": base64.b64encode(content).decode("ascii")}]
