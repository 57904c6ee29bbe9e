"""Record what openvino computes: ``python -m tests.openvino_nodes.record`` writes ``recorded.json``.

The file has some cases of each operation: the IR as openvino saves it, the inputs, and openvino's outputs.  Tests read
it where openvino is not installed.
"""

from __future__ import annotations

import base64
import importlib
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from tests.onnx_nodes.random_nodes import Array
from tests.openvino_nodes.against_openvino import Case, cases, model_of, theirs

FILE = Path(__file__).with_name("recorded.json")
EACH = 1  # cases of an operation
DRAWN = 4000


def _written(array: Array) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "data": data}


def read(row: dict[str, Any]) -> Array:
    """Return an array as it was written."""
    flat = np.frombuffer(base64.b64decode(row["data"]), row["dtype"])
    return flat.reshape(row["shape"])


def _row(case: Case) -> dict[str, Any] | None:
    model = model_of(case)
    expected = None if model is None else theirs(model, case)
    if expected is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.xml"
        importlib.import_module("openvino").save_model(model, path, compress_to_fp16=False)
        xml, weights = path.read_text(encoding="utf-8"), path.with_suffix(".bin").read_bytes()
    start = xml.find("\t<rt_info>")
    return {
        "case": str(case).partition("; constants")[0],
        "xml": "".join(line.strip() for line in (xml[:start] + "</net>").splitlines()),
        "bin": base64.b64encode(weights).decode(),
        "inputs": {f"x{k}": _written(a) for k, a in enumerate(case.inputs) if k not in case.constants},
        "outputs": [_written(a) for a in expected],
    }


def main() -> None:
    """Write the file."""
    counts: Counter[str] = Counter()
    rows = []
    for _, case in cases(DRAWN, first=20_000):
        key = f"{case.op} {case.opset}"
        if counts[key] < EACH and sum(a.size for a in case.inputs) < 400 and (row := _row(case)) is not None:
            counts[key] += 1
            rows.append(row)
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
