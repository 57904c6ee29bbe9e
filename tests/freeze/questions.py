"""The questions, in groups, made of the corpora of the tests.  To make them asks nothing of a prover."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import random
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import onnx

import symlayout as sl
from symlayout.proof.laws import LAWS
from tests.conformance import corpus
from tests.equivalence.renamed_copy import renamed_copy
from tests.equivalence.test_edited_exports import EDITS, Edit
from tests.equivalence.tools import EXPORTED, TOOLS
from tests.freeze.ask import Question, Sides
from tests.fuzz_compute.claims import built
from tests.fuzz_compute.claims import random_claim as random_computed_claim
from tests.fuzz_prove import build as build_chain
from tests.fuzz_prove import random_family
from tests.mutation.models import mutants
from tests.proof.test_claims import build as build_claim
from tests.support import brute
from tests.support import claim as claims_of_files

PAIRS, PAIR_BUDGET = 2000, 100  # random pairs of chains, and the points that the search of one evaluates
COMPUTED = 600  # random claims through operations that compute
MUTANTS = 3  # of each exported model


def claims() -> Iterator[Question]:
    """Yield the claims of ``tests/claims``."""
    for claim in claims_of_files.load():
        content = repr((dict(claim.inputs), claim.left, claim.right, claim.dtype))
        yield Question("claims", str(claim), content, lambda _, claim=claim: build_claim(claim))  # type: ignore[misc]


def conformance() -> Iterator[Question]:
    """Yield a question for each row of ``tests/conformance``: whether an operation gives what the row says."""
    for row in corpus.rows():
        yield Question("conformance", row.id, repr(row), partial(_sides_of_row, row))


def _sides_of_row(row: corpus.Row, _: Path) -> Sides:
    """Return what an operation makes, and the elements that the row says; the same twice if it does not say which."""
    x = row.tensor()
    y = row.apply(x)
    if row.static_shape is None or "values" not in row.expect:
        return y, y
    elements = {value: place for place, value in enumerate(row.array().ravel().tolist())}
    if len(elements) < row.array().size:
        return y, y
    places = [elements.get(value, len(elements)) for value in np.ravel(row.expect["values"]).tolist()]
    filled = sl.pad(sl.reshape(x, (-1,)), [(0, 1)])
    return y, sl.reshape(sl.take(filled, np.array(places, np.int64), 0), row.expect["shape"])


def pairs() -> Iterator[Question]:
    """Yield random pairs of chains of movement, equal ones and others."""
    return itertools.islice(_pairs(), PAIRS)


def _pairs() -> Iterator[Question]:
    for seed in itertools.count():
        family = random_family(random.Random(seed))
        for i, k, kind in family.pairs():
            sides = family.chains[i], family.chains[k]
            name = f"{seed}:{i}:{k} {kind}"
            content = repr((*sides, family.dims))
            yield Question("pairs", name, content, partial(_chains, sides, family.dims), budget=PAIR_BUDGET)


def _chains(chains: tuple[brute.Chain, brute.Chain], dims: list[brute.Dim], _: Path) -> Sides:
    symbols = {d.name: sl.dim(d.name, d.min, d.max, d.multiple_of) for d in dims}
    return build_chain(chains[0], symbols), build_chain(chains[1], symbols)


def compute() -> Iterator[Question]:
    """Yield random claims through operations that compute."""
    for seed in range(COMPUTED):
        left, right, needs_law, is_true = random_computed_claim(seed)
        laws = ("reassociate",) if needs_law else ()
        name = f"{seed} {'rewritten' if is_true else 'mutated'}"
        sides = lambda _, left=left, right=right: (built(left), built(right))  # noqa: E731
        yield Question("compute", name, f"{left} == {right} {laws}", sides, laws)


def exported() -> Iterator[Question]:
    """Yield each exported model beside its copy with other names and another order; an IR beside itself."""
    for path in sorted(EXPORTED.glob("*.onnx")):
        yield Question("exported", path.name, _digest(path), partial(_copy, path), LAWS)
    for path in sorted(EXPORTED.glob("*.xml")):
        content = _digest(path) + _digest(path.with_suffix(".bin"))
        yield Question("exported", path.name, content, lambda _, path=path: (path, path), LAWS)  # type: ignore[misc]


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _copy(path: Path, folder: Path) -> Sides:
    return path, _saved(renamed_copy(onnx.load(path)), folder)


def _saved(model: onnx.ModelProto, folder: Path) -> Path:
    path = folder / "after.onnx"
    onnx.save(model, path)
    return path


def tools() -> Iterator[Question]:
    """Yield each exported model beside what each installed tool makes of it."""
    for tool in TOOLS:
        try:
            version = getattr(importlib.import_module(tool.partition("-")[0]), "__version__", "")
        except ImportError:
            continue
        for path in sorted(EXPORTED.glob("*.onnx")):
            content = f"{_digest(path)} {tool} {version}"
            yield Question("tools", f"{path.stem} {tool}", content, partial(_rewritten, path, tool), LAWS)


def _rewritten(path: Path, tool: str, folder: Path) -> Sides:
    TOOLS[tool](path, folder / "after.onnx")
    return path, folder / "after.onnx"


def skipped() -> Iterator[str]:
    """Yield why a tool is left out."""
    for tool in TOOLS:
        if importlib.util.find_spec(tool.partition("-")[0]) is None:
            yield f"{tool}: not installed"


def mutated() -> Iterator[Question]:
    """Yield exported models beside copies that are changed in one place, at random and by hand."""
    for path in sorted(EXPORTED.glob("*.onnx")):
        count = sum(1 for _ in mutants(onnx.load(path)))
        for number in sorted(random.Random(path.stem).sample(range(count), MUTANTS)):
            what, changed = next(itertools.islice(mutants(onnx.load(path)), number, None))
            sides = partial(_changed, path, changed)
            yield Question("mutants", f"{path.stem} {what}"[:120], f"{_digest(path)} {what}", sides, LAWS)
    for name, op, number, what, edit in EDITS:
        path = EXPORTED / f"{name}_dynamic.onnx"
        content = f"{_digest(path)} {op} {number} {what}"
        yield Question(
            "mutants", f"{name} {op} {number}: {what}", content, partial(_edited, path, op, number, edit), LAWS
        )


def _changed(path: Path, changed: onnx.ModelProto, folder: Path) -> Sides:
    return path, _saved(changed, folder)


def _edited(path: Path, op: str, number: int, edit: Edit, folder: Path) -> Sides:
    model = onnx.load(path)
    edit(model.graph, [node for node in model.graph.node if node.op_type == op][number])
    return path, _saved(model, folder)


GROUPS: dict[str, Callable[[], Iterator[Question]]] = {
    "claims": claims,
    "conformance": conformance,
    "pairs": pairs,
    "compute": compute,
    "exported": exported,
    "tools": tools,
    "mutants": mutated,
}
