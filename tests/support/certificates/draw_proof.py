"""Draw how a claim is proved: both sides, the values that are one, and the claims of movement that show it.

The claim is that of docs/how-a-proof-is-found.md; the picture is made of its certificate.

    python -m tests.support.certificates.draw_proof
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import symlayout as sl
from symlayout.proof.certificate.computed_claims import nodes_of
from symlayout.show.layered_graph import BoxGraph, GraphBox, LayeredGraph
from symlayout.show.svg import Canvas, width_of
from symlayout.tensors.chain import Tensor
from tests.support.paths import ROOT

FILE = ROOT / "docs" / "how-a-proof-is-found.svg"
SOURCE = """\
N, S, K, D = sl.dims("N S K D")
x = sl.tensor((N, S, K), "float32", name="x")
w = sl.tensor((K, D), "float32", name="w")
left = sl.transpose(sl.onnx.relu(sl.onnx.matmul(x, w)), (0, 2, 1))
rows = sl.onnx.relu(sl.onnx.matmul(sl.reshape(x, (N * S, K)), w))
right = sl.transpose(sl.reshape(rows, (N, S, D)), (0, 2, 1))
proof = sl.prove_equal(left, right)
"""
MARGIN, APART, LINE = 20.0, 60.0, 17.0


def claim() -> dict[str, Any]:
    """Return the names that the page's example defines."""
    names: dict[str, Any] = {"sl": sl}
    exec(SOURCE, names)
    return names


def graph(side: Tensor, values: Mapping[int, int]) -> BoxGraph:
    """Return the graph of one side; *values* are the numbers of pairs by those of nodes."""
    nodes = nodes_of([side])
    numbers = {id(node): k for k, node in enumerate(nodes)}
    boxes = []
    for k, node in enumerate(nodes):
        kind = "move" if node.declared is not None else "compute" if node.body is not None else "input"
        label = f"value {values[k]}" if k in values else ""
        shape = f"({', '.join(map(str, node.shape))})"
        boxes.append(GraphBox((node.name, shape), "output" if node is side else kind, label))
    edges = [(numbers[id(x)], k) for k, node in enumerate(nodes) for x in sources(node)]
    return BoxGraph(tuple(boxes), tuple(edges))


def sources(node: Tensor) -> list[Tensor]:
    """Return what elements of a node are read from."""
    if node.declared is None:
        return list(node.inputs)
    return [node.inputs[k] for k in sorted({case.source for case in node.declared.cases})]


def read(nodes: list[Any], number: int) -> str:
    """Return what a node of a claim reads, as text."""
    node = nodes[number]
    if "input" in node:
        return str(node["input"])
    sources = dict.fromkeys(node["inputs"][case["source"]] for case in node["cases"])
    return f"{node['op']}({', '.join(read(nodes, k) for k in sources)})"


def shown(certificate: Mapping[str, Any]) -> str:
    """Return a claim of movement, and the number of steps of its proof."""
    data, proof = certificate["claim"], certificate["proof"]
    steps = [proof["given"], proof["sides"]["steps"], *(m.get("alone", m)["steps"] for m in proof["maps"])]
    sides = (read(data["nodes"], data[side]) for side in ("left", "right"))
    return f"{' = '.join(sides)}, in {sum(map(len, steps))} steps"


def lines(certificate: Mapping[str, Any]) -> list[str]:
    """Return each pair with its claims, and the claim about the output."""
    found = []
    for number, pair in enumerate(certificate["pairs"]):
        how = "with its batch in another shape" if "reshaped" in pair else f"axes {pair['order']}"
        found.append(f"value {number}: {pair['function'][0]} left and right, {how}, since")
        found += [f"    {shown(view)}" if view is not None else "    both read the same" for view in pair["views"]]
    return [*found, "the output, since", f"    {shown(certificate['outputs'][''])}"]


def drawing() -> str:
    """Return the picture."""
    names = claim()
    certificate = names["proof"].certificate
    canvas, top, x = Canvas(), MARGIN + 32, MARGIN
    bottom = 0.0
    for title, side, key in (("left", names["left"], "before"), ("right", names["right"], "after")):
        values = {pair[key]: k for k, pair in enumerate(certificate["pairs"])}
        placed = LayeredGraph(graph(side, values))
        canvas.text(x, MARGIN + 12, title, "strong", size=13)
        placed.draw(canvas, x, top)
        x, bottom = x + placed.width + APART, max(bottom, top + placed.height)
    said = lines(certificate)
    for k, line in enumerate(said):
        canvas.text(MARGIN + 8 * (len(line) - len(line.lstrip())), bottom + 30 + LINE * k, line.strip(), "mono")
    width = max(x - APART, *(MARGIN + 32 + 1.05 * width_of(line) for line in said)) + MARGIN
    made_by = "python -m tests.support.certificates.draw_proof"
    title = "Two sides of a claim, the values that are one, and what shows it"
    return canvas.document(width, bottom + 30 + LINE * len(said), title, "; ".join(said), made_by=made_by)


if __name__ == "__main__":
    FILE.write_text(drawing(), encoding="utf-8")
