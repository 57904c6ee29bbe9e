"""Every use in tests/conformance/uses: what the frameworks answered, and our answer where theirs is a bug.

Each row is asked three times: with the shapes known, with none of the extents known until they are bound, and with
none known until the arrays come.
"""

from __future__ import annotations

import json
import math
import zlib
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from tests.frontends.calls import MOVEMENT
from tests.peers.ask_blocks import uses as blocks
from tests.peers.ask_bounds import uses as bounds
from tests.peers.ask_shapes import uses as shapes
from tests.peers.asked import Asked, not_integers
from tests.support.paths import ROOT

FOLDER = ROOT / "tests" / "conformance" / "uses"
USES = [*blocks(), *shapes(), *bounds()]
SMALL = 10**6  # elements of arrays that are made
FRAMEWORKS = ("onnx", "openvino", "tensorflow", "torch")


@dataclass(frozen=True, slots=True)
class Row:
    """A use, and what is expected of it."""

    id: str
    attrs: dict[str, Any]
    input: dict[str, Any]
    expect: dict[str, Any]
    joint: bool = False
    differs: str = ""

    @property
    def op(self) -> str:
        return self.id.rpartition(".")[0]

    @property
    def kinds(self) -> list[str]:
        """The kinds of error that are expected; none for a result."""
        return self.expect["error"].split("|") if "error" in self.expect else []

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(shape) for shape in self.input["shapes"]]

    @property
    def is_small(self) -> bool:
        return all(math.prod(shape) < SMALL for shape in self.shapes)

    @property
    def removes_ones(self) -> bool:
        """Whether the rank of the result depends on the extents, so that these have to be known."""
        if self.op not in ("onnx:Squeeze", "openvino:Squeeze-1"):
            return False
        if "axes" not in self.attrs:
            return True
        (shape,) = self.shapes
        others = any(-len(shape) <= a < len(shape) and shape[a] != 1 for a in self.attrs["axes"] if type(a) is int)
        return self.op == "openvino:Squeeze-1" and others

    def applied(self, shapes: Any, attrs: Any = None) -> list[sl.Tensor]:
        """Return the results for inputs of these shapes."""
        leaves = [sl.tensor(shape, name=f"x{k}") for k, shape in enumerate(shapes)]
        made = sl.op(self.op)(leaves if self.joint else leaves[0], **(self.attrs if attrs is None else attrs))
        return made if isinstance(made, list) else [made]

    def symbolic(self) -> tuple[list[list[Any]], dict[Any, int]]:
        """Return shapes of dims, and the dims' values."""
        dims = [[sl.dim(f"n{k}_{axis}") for axis in range(len(shape))] for k, shape in enumerate(self.shapes)]
        pairs = [pair for each, shape in zip(dims, self.shapes, strict=True) for pair in zip(each, shape, strict=True)]
        return dims, dict(pairs)

    def late(self) -> list[sl.Tensor]:
        """Return the results for inputs of dims, which are then bound."""
        dims, values = self.symbolic()
        made = self.applied(dims)
        return [y.subs({d: n for d, n in values.items() if d.name in y.facts.dims}) for y in made]

    def computed(self, made: list[sl.Tensor]) -> list[np.ndarray[Any, Any]]:
        arrays: dict[str, Any] = {
            f"x{k}": np.arange(math.prod(shape), dtype=np.float32).reshape(shape) for k, shape in enumerate(self.shapes)
        }
        return [sl.interpret(y, **{x.name: arrays[x.name] for x in y.leaves()}) for y in made]


def rows(framework: str) -> list[Row]:
    return [Row(**row) for row in json.loads((FOLDER / f"{framework}.json").read_text(encoding="utf-8"))["rows"]]


ROWS = {framework: rows(framework) for framework in FRAMEWORKS}
OPS = sorted({row.op for each in ROWS.values() for row in each})


def of(op: str) -> list[Row]:
    return [row for row in ROWS[op.partition(":")[0]] if row.op == op]


def check_results(row: Row, arrays: list[np.ndarray[Any, Any]]) -> None:
    assert [list(x.shape) for x in arrays] == row.expect["shapes"], row
    for x, values in zip(arrays, row.expect["values"], strict=True):
        found = zlib.crc32(x.tobytes()) if isinstance(values, int) else [int(n) for n in x.ravel()]
        assert found == values, row


def check_kind(row: Row, caught: pytest.ExceptionInfo[sl.ShapeError]) -> None:
    assert caught.value.kind in row.kinds, f"{row}: {caught.value}"


def test_every_use_is_a_row_and_every_operation_has_some() -> None:
    assert sorted(OPS) == sorted(MOVEMENT)
    asked: Counter[str] = Counter()
    for use in USES:
        asked[use.op] += len(use.asked)
    assert asked == Counter(row.op for each in ROWS.values() for row in each)
    assert min(asked.values()) >= 5


@pytest.mark.parametrize("op", OPS)
def test_results_and_refusals(op: str) -> None:
    for row in of(op):
        if row.kinds:
            with pytest.raises(sl.ShapeError) as caught:
                row.applied(row.shapes)
            check_kind(row, caught)
        else:
            made = row.applied(row.shapes)
            assert [list(y.shape) for y in made] == row.expect["shapes"], row
            check_results(row, row.computed(made))


@pytest.mark.sample(55)
@pytest.mark.parametrize("op", OPS)
def test_results_and_refusals_are_the_same_when_the_shapes_come_later(op: str) -> None:
    for row in of(op):
        if row.removes_ones:
            continue
        if row.kinds:
            with pytest.raises(sl.ShapeError) as caught:
                row.late()
            check_kind(row, caught)
        else:
            assert [list(y.shape) for y in row.late()] == row.expect["shapes"], row


@pytest.mark.sample(32)
@pytest.mark.parametrize("op", OPS)
def test_results_and_refusals_are_the_same_when_the_arrays_come(op: str) -> None:
    for row in of(op):
        if not row.is_small or row.removes_ones:
            continue
        dims, _ = row.symbolic()
        if row.kinds:
            with pytest.raises(sl.ShapeError) as caught:
                row.computed(row.applied(dims))
            check_kind(row, caught)
        else:
            check_results(row, row.computed(row.applied(dims)))


@pytest.mark.slow
@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_bounds_are_the_hull_and_within_what_is_inferred(framework: str) -> None:
    some = [row for row in ROWS[framework] if "partial_shapes" in row.input]
    assert len(some) > 20
    for row in some:
        known = [[tuple(e) if isinstance(e, list) else e for e in shape] for shape in row.input["partial_shapes"]]
        found = [y.bounds() for y in row.applied(known)]
        if row.expect["bounds"] is not None:
            assert [[list(e) for e in each] for each in found] == row.expect["bounds"], row
        for ours, theirs in zip(found, row.expect["inferred"] or [], strict=False):
            assert theirs is None or all(
                low >= least and (most is None or (high is not None and high <= most))
                for (low, high), (least, most) in zip(ours, theirs, strict=True)
            ), f"{row}: {ours}"


@pytest.mark.parametrize("op", OPS)
def test_attributes_may_have_any_integer_type(op: str) -> None:
    for row in of(op):
        if not row.kinds:
            for scalar, array in ((np.int64, ">i8"), (np.array, "i8")):
                made = row.applied(row.shapes, {k: retyped(v, scalar, array) for k, v in row.attrs.items()})
                assert [list(y.shape) for y in made] == row.expect["shapes"], row


def retyped(value: Any, scalar: Any, array: str) -> Any:
    """Return an attribute with its integers of another type."""
    if isinstance(value, list):
        return np.array(value, array) if value else value
    return scalar(value) if type(value) is int else value


NOT_INTEGERS = [asked for use in USES for asked in not_integers(use)]


@pytest.mark.parametrize("op", OPS)
def test_what_is_no_integer_is_refused(op: str) -> None:
    some: list[Asked] = [asked for asked in NOT_INTEGERS if asked.case.op == op]
    assert some or op in ("onnx:Identity",)
    for asked in some:
        leaves = [sl.tensor(shape) for shape in asked.case.shapes]
        with pytest.raises(sl.ShapeError) as caught:
            sl.op(op)(leaves if asked.case.joint else leaves[0], **asked.case.attributes)
        assert caught.value.kind == asked.kind, asked
