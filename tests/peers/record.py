"""Ask the installed frameworks about every use, and keep what they answer: ``python -m tests.peers.record``.

Rows go to tests/conformance/uses/, one file for each framework, in the format of tests/conformance/README.md.  A row
has our answer where that differs from the framework's for a reason that `tests.peers.exceptions` has; where it
differs without one it is printed, and nothing is written.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.peers import ask_blocks, ask_bounds, ask_shapes
from tests.peers.asked import Asked, Use
from tests.peers.case import Array, Case
from tests.peers.compare import Answer, Refused, answered, difference
from tests.peers.worker import NEEDED, PeerError, Worker

FOLDER = Path(__file__).parent.parent / "conformance" / "uses"
MOST_VALUES = 32  # of a result that is written out; of a larger one there is a checksum
MOST_NEIGHBOURS = 130


def uses() -> Iterator[Use]:
    """Yield the uses of all operations."""
    yield from ask_blocks.uses()
    yield from ask_shapes.uses()
    yield from ask_bounds.uses()


def main() -> int:
    """Write the files; return 1 if an answer differs without a reason."""
    wrong = 0
    for framework in sorted(NEEDED):
        counts: Counter[str] = Counter()
        rows = []
        with Worker(framework) as peer:
            versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in NEEDED[framework])
            for use in uses():
                if not use.op.startswith(f"{framework}:"):
                    continue
                for asked in use.asked:
                    number = counts[use.op]
                    counts[use.op] += 1
                    row, complaint = _row(f"{use.op}.{number}", asked, peer)
                    rows.append(row)
                    if complaint:
                        wrong += 1
                        print(complaint, flush=True)
        print(f"{framework}: {len(rows)} rows")
        if not wrong:
            FOLDER.mkdir(exist_ok=True)
            text = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
            head = f'{{"source":"observed {versions}","rows":[\n'
            (FOLDER / f"{framework}.json").write_text(f"{head}{text}\n]}}\n", encoding="utf-8")
    return 1 if wrong else 0


def _row(name: str, asked: Asked, peer: Worker) -> tuple[dict[str, Any], str]:
    """Return the row of a use, and what is wrong with it."""
    case = asked.case
    row: dict[str, Any] = {"id": name, "attrs": dict(case.attributes), "input": {"shapes": case.shapes}}
    if case.joint:
        row["joint"] = True
    ours, differs, reason = _answer(case, peer)
    complaints = [] if differs is None or reason else [differs]
    kind = ours.kind if isinstance(ours, Refused) else ""
    if kind not in asked.kind.split("|"):
        complaints.append(f"{asked.kind or 'a result'} was expected, not {ours}")
    if reason:
        row["differs"] = reason
    row["expect"] = {"error": asked.kind} if isinstance(ours, Refused) else _results(ours.arrays)
    if case.known != case.shapes:
        row["input"]["partial_shapes"] = case.known
        row["expect"]["bounds"], more = _hull(case, peer)
        complaints += more
        try:
            row["expect"]["inferred"] = peer.extents(case)
        except (PeerError, AttributeError):
            row["expect"]["inferred"] = None
    return row, "\n".join(f"{case}\n  {complaint}" for complaint in complaints)


def _answer(case: Case, peer: Worker) -> tuple[Answer | Refused, str | None, str | None]:
    """Return our answer, what differs from the framework's, and the reason for it."""
    ours = answered(case, late=False)
    found = difference(case, ours, peer)
    return ours, str(found) if found else None, found.reason if found else None


def _results(arrays: Sequence[Array]) -> dict[str, Any]:
    values = [[int(n) for n in x.ravel()] if x.size <= MOST_VALUES else zlib.crc32(x.tobytes()) for x in arrays]
    return {"shapes": [x.shape for x in arrays], "values": values}


def _hull(case: Case, peer: Worker) -> tuple[Any, list[str]]:
    """Return the hull of the extents that the results have over all possible shapes; None if these are too many."""
    bounded = all(isinstance(e, int) or e[1] is not None for entries in case.known for e in entries)
    some = list(itertools.islice(case.neighbours(MOST_NEIGHBOURS + 1), MOST_NEIGHBOURS + 1))
    if not bounded or len(some) > MOST_NEIGHBOURS:
        return None, []
    shapes, complaints = [], []
    for each in some:
        ours, differs, reason = _answer(each, peer)
        if differs and not reason:
            complaints.append(differs)
        if isinstance(ours, Answer):
            shapes.append(ours.shapes)
    if not shapes:
        return None, [*complaints, "no shape is possible"]
    if len({tuple(map(len, each)) for each in shapes}) > 1:  # OpenVINO's Squeeze skips some axes
        return None, complaints
    return [
        [(int(np.min(e)), int(np.max(e))) for e in zip(*extents, strict=True)] for extents in zip(*shapes, strict=True)
    ], complaints


if __name__ == "__main__":
    sys.exit(main())
