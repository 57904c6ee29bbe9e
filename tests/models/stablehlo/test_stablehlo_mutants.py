"""Modules with one operation changed, of which all shapes stay: none is proved equal, unless it has the same values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.models.formats.stablehlo import mlir_module
from tests.models.stablehlo.parsed import FOLDER, entries, feeds

OTHERS = {
    "add": "subtract", "subtract": "add", "multiply": "divide", "divide": "multiply", "maximum": "minimum",
    "exponential": "tanh", "tanh": "sine", "sine": "cosine", "rsqrt": "sqrt", "abs": "negate",
}  # fmt: skip
FOLDS = {"stablehlo.add": "stablehlo.maximum", "stablehlo.maximum": "stablehlo.minimum"}


def mutants(module: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield modules with one change, and what it is."""
    places = [
        (k, j)
        for k, function in enumerate(module["functions"])
        for j, _ in enumerate(function["blocks"][0]["operations"])
    ]
    for k, j in places:
        for what in ("name", "operands", "permutation", "dimensions", "fold", "kernel"):
            made = json.loads(json.dumps(module))
            if changed(made["functions"][k]["blocks"][0]["operations"][j], what):
                yield f"{what} of operation {j} of function {k}", made


def changed(op: dict[str, Any], what: str) -> bool:
    """Change an operation on floats; return whether it has what is to be changed."""
    name, given = op["name"].removeprefix("stablehlo."), op["attributes"]
    if not any("f32" in kind for _, kind in op["results"]):
        return False
    if what == "name" and name in OTHERS:
        op["name"] = f"stablehlo.{OTHERS[name]}"
    elif what == "operands" and name in ("subtract", "divide", "concatenate"):
        op["operands"].reverse()
    elif what == "permutation" and name == "transpose":
        axes = given["permutation"]
        axes[-2], axes[-3] = axes[-3], axes[-2]
    elif what == "dimensions" and name == "reverse":
        given["dimensions"] = []
    elif what == "fold" and name in ("reduce", "reduce_window") and len(op["results"]) == 1:
        inner = op["regions"][0][0]["operations"][0]
        inner["name"] = FOLDS.get(inner["name"], inner["name"])
    elif what == "kernel" and name in ("convolution", "dynamic_conv"):
        given["window_reversal"] = [not turned for turned in given.get("window_reversal", [False, False])]
    else:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", ["moved", "best", "transposed"])
def test_no_mutant_with_other_values_is_proved(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module, elements = entries(name)
    modules = {"before": module}

    def parse(file: Path, folder: Path) -> int:
        (folder / "module.json").write_text(json.dumps(modules[file.stem]), "utf-8")
        (folder / "elements.bin").write_bytes(elements)
        return 0

    monkeypatch.setattr(mlir_module, "_call", parse)
    before, after = tmp_path / "before.mlir", tmp_path / "after.mlir"
    for path in (before, after):
        path.write_text((FOLDER / f"{name}.mlir").read_text("utf-8"), "utf-8")
    inputs, outputs = feeds(name)
    refuted = others = 0
    for what, modules["after"] in mutants(module):
        try:
            model = sl.read_model(after)
        except sl.SymlayoutError:
            continue  # extents do not fit any more
        values = [
            sl.interpret(
                y, **{n: x for n, x in zip(model.inputs, inputs, strict=True) if n in {t.name for t in y.arguments()}}
            )
            for y in model.outputs.values()
        ]
        same = all(np.array_equal(a, b) for a, b in zip(values, outputs, strict=True))
        found = sl.verify(before, after, run=False, laws=("reassociate", "signed-zero"))
        assert same or found.verdict is not sl.Verdict.PROVED, what
        others += not same
        refuted += found.verdict is sl.Verdict.REFUTED
    assert refuted >= others > 0
