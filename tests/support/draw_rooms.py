"""Draw the rooms of both packages and their imports: docs/architecture.svg.

The names and their descriptions are those of the block ``rooms`` in docs/architecture.md.  The arrows are read from
the source: one room imports another, and no path of other arrows leads there.

    python -m tests.support.draw_rooms
"""

from __future__ import annotations

import ast
import re
from graphlib import TopologicalSorter

from symlayout.show.svg import Canvas, wrapped
from tests.support.paths import PACKAGES, ROOT

FILE = ROOT / "docs" / "architecture.svg"
WIDTH, TOP, BOX, STEP = 1190, 46, 46, 64
CHARACTER = 5.7  # width of a character of a description

# Where a room stands: the row, and the left and right ends.  Rooms that are left out are single modules.
PLACES: dict[str, tuple[int, int, int]] = {
    "symlayout.commands": (0, 30, 880),
    "symlayout.interop": (1, 30, 880),
    "symlayout": (2, 30, 880),
    "symlayout.reports": (3, 30, 290),
    "symlayout.optimize_models": (4, 30, 290),
    "symlayout.equivalence": (5, 30, 290),
    "symlayout.layouts": (5, 310, 493),
    "symlayout.any_rank": (5, 503, 687),
    "symlayout.inverses": (5, 697, 880),
    "symlayout.models": (6, 30, 290),
    "symlayout.proof": (6, 310, 880),
    "symlayout.frontends": (7, 30, 290),
    "symlayout.show": (7, 310, 880),
    "symlayout.run": (8, 310, 880),
    "symlayout.compute": (9, 30, 290),
    "symlayout.maps": (9, 310, 880),
    "symlayout.ops": (10, 30, 290),
    "symlayout.tensors": (11, 30, 880),
    "symlayout.language": (12, 30, 880),
    "symlayout.algebra": (13, 30, 880),
    "symlayout.errors": (14, 30, 445),
    "symlayout.budgets": (14, 465, 880),
    "symlayout_codegen.jit": (8, 940, 1170),
    "symlayout_codegen.emit": (9, 940, 1170),
    "symlayout_codegen.passes": (10, 940, 1170),
    "symlayout_codegen.ir": (11, 940, 1170),
    "symlayout_codegen": (15, 30, 1170),
}
LAST = max(row for row, _, _ in PLACES.values())
JIT = PLACES["symlayout_codegen.jit"]
OUTSIDE = ("symlayout.facade", "symlayout_codegen.__init__", "symlayout.__main__")  # may import upwards


def descriptions() -> dict[str, str]:
    """Return what each room is, from the page."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.search(r"^```rooms\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found is not None
    return {name: what.strip() for name, _, what in (line.partition(":") for line in found[1].splitlines())}


def imports() -> set[tuple[str, str]]:
    """Return the pairs of placed rooms of which one imports the other and no path of others leads there."""
    pairs = set()
    for package, folder in PACKAGES.items():
        for file in folder.rglob("*.py"):
            name = ".".join([package, *file.relative_to(folder).with_suffix("").parts])
            asked = []
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    asked += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom):
                    asked += [f"{node.module}.{alias.name}" for alias in node.names]
            if name not in OUTSIDE and room(name) in PLACES:
                pairs |= {(room(name), room(other)) for other in asked if room(other) in PLACES}
    lower: dict[str, set[str]] = {name: {b for a, b in pairs if a == name != b} for name in PLACES}
    reached: dict[str, set[str]] = {}
    for name in TopologicalSorter(lower).static_order():
        reached[name] = lower[name].union(*(reached[b] for b in lower[name]))
    return {(a, b) for a in lower for b in lower[a] if not any(b in reached[c] for c in lower[a])}


def room(name: str) -> str:
    """Return the room of a module or of what it defines; a module at the root of symlayout is a room of its own."""
    package, first = f"{name}.__init__".split(".")[:2]
    folder = PACKAGES.get(package)
    is_room = folder is not None and ((folder / first).is_dir() or (package == "symlayout" and _is_module(first)))
    return f"{package}.{first}" if is_room else package


def _is_module(name: str) -> bool:
    return name[0] != "_" and (PACKAGES["symlayout"] / f"{name}.py").is_file()


def drawing() -> str:
    """Return the picture."""
    canvas, about = Canvas(), descriptions()
    bottom = TOP + LAST * STEP
    jit, floor = TOP + JIT[0] * STEP - 24, bottom - 7
    left, right = JIT[1] - 16, JIT[2] + 16
    canvas.rect(14, 26, left - 42, floor - 6 - 26, "unread")
    canvas.path(f"M{left} {jit}H{right}V{bottom + BOX + 8}H14V{floor}H{left}Z", "unread")
    canvas.text(22, 20, "symlayout", "strong", "mono")
    canvas.text(left + 8, jit - 6, "symlayout_codegen", "strong", "mono")
    for upper, low in sorted(imports()):
        _arrow(canvas, PLACES[upper], PLACES[low])
    for name, (row, left, right) in PLACES.items():
        y = TOP + row * STEP
        title = name.rpartition(".")[2] if "." in name else f"{name}/__init__.py" if name == "symlayout" else name
        text = about[name]
        lines = wrapped(text, int((right - left - 20) / CHARACTER), 2)
        canvas.rect(left, y, right - left, BOX, "box")
        canvas.text(left + 10, y + (15 if len(lines) > 1 else 19), title, "strong", "mono")
        for k, line in enumerate(lines):
            canvas.text(left + 10, y + (28 if len(lines) > 1 else 35) + 12 * k, line, "soft")
    title = "The rooms of symlayout and symlayout_codegen, and which imports which"
    arrows = "; ".join(f"{upper} imports {low}" for upper, low in sorted(imports()))
    return canvas.document(WIDTH, bottom + BOX + 14, title, f"{arrows}.", made_by="python -m tests.support.draw_rooms")


def _arrow(canvas: Canvas, upper: tuple[int, int, int], low: tuple[int, int, int]) -> None:
    """Draw an arrow: across to a room of the same row, down to one below, or round a corner."""
    (row, left, right), (row_low, left_low, right_low) = upper, low
    y, y_low = TOP + row * STEP, TOP + row_low * STEP
    first, last = max(left, left_low), min(right, right_low)
    if row == row_low:
        canvas.arrow(right, y + BOX / 2, left_low, y + BOX / 2)
    elif last - first >= 10:
        x = (first + last) / 2
        canvas.arrow(x, y + BOX, x, y_low - 1)
    else:
        x, end = (right - 20, left_low + 20) if right <= left_low else (left + 20, right_low - 20)
        turn = y_low - 9
        canvas.path(f"M{x} {y + BOX}V{turn}H{end}", "line")
        canvas.arrow(end, turn, end, y_low - 1)


if __name__ == "__main__":
    FILE.write_text(drawing(), encoding="utf-8")
