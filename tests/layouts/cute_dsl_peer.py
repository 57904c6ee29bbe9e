"""CuTe's Python as a peer: its own notebooks are played, and it is asked what other peers were asked.

All layouts are static, so that they are computed while a function is traced: no GPU is needed.
"""

from __future__ import annotations

import importlib
import json
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Operand = Any  # ("layout", shape, stride), ("tiler", operands...), a number or None


def play(folder: Path) -> None:
    """Run the cells of all notebooks in a folder; a cell that fails, such as one that needs a GPU, ends."""
    with tempfile.TemporaryDirectory() as place:
        for notebook in sorted(folder.glob("*.ipynb")):
            known: dict[str, Any] = {"__name__": notebook.stem}
            for k, cell in enumerate(json.loads(notebook.read_text(encoding="utf-8"))["cells"]):
                if cell["cell_type"] != "code":
                    continue
                lines = [
                    line for line in "".join(cell["source"]).splitlines() if not line.lstrip().startswith(("%", "!"))
                ]
                file = Path(place) / f"{notebook.stem}_{k}.py"  # the tracer reads the source of a function
                file.write_text("\n".join(lines), encoding="utf-8")
                try:
                    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), known)
                except Exception as error:
                    print(f"{notebook.name}, cell {k}: {type(error).__name__}")


def answers(calls: Iterable[Any], plain: Callable[[Any, type], Any]) -> dict[Any, Any]:
    """Return what CuTe's Python makes of each call of an operation that it has; None where it raises."""
    cute = importlib.import_module("cutlass.cute")
    found: dict[Any, Any] = {}

    def operand(e: Operand) -> Any:
        if not isinstance(e, tuple):
            return e
        return cute.make_layout(e[1], stride=e[2]) if e[0] == "layout" else tuple(map(operand, e[1:]))

    def ask() -> None:
        for call in calls:
            name, first, others = call
            operation = getattr(cute, name, None)
            if operation is None:
                continue
            try:
                a = operand(first)
                if name == "complement" and not others:
                    others = (cute.cosize(a),)
                rest = [operand(e) for e in others if e is not None]
                result = operation(a, target_profile=rest[0]) if name == "coalesce" and rest else operation(a, *rest)
                found[call] = plain(result, cute.Layout)
            except Exception:
                found[call] = None

    def traced() -> None:  # the tracer rewrites its text, so it is short
        ask()

    cute.jit(traced)()
    return found
