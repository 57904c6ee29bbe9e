"""Compare values with StableHLO's own tests: needs jaxlib and a checkout of openxla/stablehlo.

``python tests/models/stablehlo/compare_testdata.py stablehlo/testdata`` reads each ``.mlir`` of a folder.  A function
calls ``check.expect_eq``, ``expect_close`` or ``expect_almost_eq`` with what is computed and what is expected.  The
number of files is printed whose results are all right, of which one is wrong, or has an operation without a
declaration, and which.  The files are trusted, and parsed in this process.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import symlayout as sl
from symlayout.errors import SymlayoutError
from symlayout.models.formats.stablehlo import mlir_module, mlir_process

_CHECK = re.compile(
    r"(?:stablehlo\.custom_call @)?check\.expect_(?:eq|close|almost_eq)(?:\(| )(%[\w#]+), (%[\w#]+).*?: "
    r"\(?(tensor<(?:[^<>]|<[^<>]*>)*>)[^\n]*"
)


def with_results(text: str) -> str:
    """Return a module whose main function returns what it checks, each with what is expected."""
    pairs = _CHECK.findall(text)
    if not pairs:
        return ""
    text = _CHECK.sub("", text)
    types = ", ".join(kind for _, _, kind in pairs for _ in range(2))
    values = ", ".join(value for a, b, _ in pairs for value in (a, b))
    head = re.search(r"func\.func (?:public )?@main\(\)[^\n]*\{\n", text)
    assert head is not None
    start = head.start()
    end = text.index("\n    return", start) if "\n    return" in text[start:] else text.index("\n  return", start)
    stop = text.index("\n", end + 1)
    body = text[head.end() : end]
    return f"{text[:start]}func.func public @main() -> ({types}) {{\n{body}\n    return {values} : {types}{text[stop:]}"


def is_close(made: Any, wanted: Any) -> bool:
    """Return whether values are equal, or floats as near as sums in another order are."""
    if made.shape != wanted.shape or made.dtype != wanted.dtype:
        return False
    if made.dtype.kind in "biu":
        return bool(np.array_equal(made, wanted))
    wide = np.complex128 if made.dtype.kind == "c" else np.float64
    narrow = made.dtype.itemsize < 4
    a, b = made.astype(wide), wanted.astype(wide)
    size = float(np.max(np.abs(np.where(np.isfinite(b), b, 0)), initial=1))
    return bool(
        np.allclose(a, b, rtol=0.25 if narrow else 1e-4, atol=0.0625 * size if narrow else 1e-4, equal_nan=True)
    )


def outcome(path: Path, folder: Path) -> tuple[str, str]:
    """Return ``"right"``, ``"wrong"``, ``"opaque"``, ``"refused"`` or ``"unchecked"``, and details."""
    text = with_results(path.read_text("utf-8"))
    if not text:
        return "unchecked", ""
    file = folder / "module.mlir"
    file.write_text(text, "utf-8")
    try:
        values = list(sl.read_model(file).outputs.values())
    except SymlayoutError as error:
        return "refused", str(error).partition("\n")[0]
    for made, wanted in zip(values[::2], values[1::2], strict=True):
        opaque = [t.body.name for t in made.graph() if t.body is not None and t.body.function is None]
        if opaque:
            return "opaque", opaque[0]
        with np.errstate(all="ignore"):
            if not is_close(sl.interpret(made), sl.interpret(wanted)):
                return "wrong", made.name
    return "right", ""


def _parsed_here(file: Path, folder: Path) -> int:
    mlir_process.main(file, folder)
    return 0


def main(folders: Sequence[str]) -> None:
    """Print the counts for all files of folders."""
    mlir_module._call = _parsed_here
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        for path in (path for folder in folders for path in sorted(Path(folder).glob("*.mlir"))):
            kind, details = outcome(path, Path(name))
            found[kind] += 1
            if kind != "right":
                print(path.name, kind, details, flush=True)
    print(dict(found))


if __name__ == "__main__":
    main(sys.argv[1:])
