"""Integers that a model chooses by comparing dims, as tf2onnx and torch write them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pytest
from onnx import NodeProto, TensorProto

import symlayout as sl
from symlayout.errors import InconclusiveError
from symlayout.models.arithmetic.choices import Choice, branches, compared, is_open, joined
from symlayout.models.arithmetic.shape_arithmetic import LAST, MAX_PASSES, ShapeNodes, settled
from symlayout.models.load_onnx import OnnxEvaluation
from symlayout.models.model import ModelNode
from tests.models.onnx_files import ZERO, constants, extent_nodes, loaded
from tests.models.onnx_files import joined as listed
from tests.support.onnx_writer import node, value_info

N, C = sl.dims("N C")
CONSTANTS = (*ZERO, *constants(two=2, five=5, end=2147483647, nothing=0))


def result(tmp_path: Path, *nodes: NodeProto) -> sl.Tensor:
    return loaded(tmp_path, *extent_nodes(n=0), *nodes, constants=CONSTANTS, x=value_info("x", ("N",)))


def test_where_both_sides_meet_there_is_no_choice(tmp_path: Path) -> None:
    chosen = [
        node("Equal", "n, two", "q"),
        node("Where", "q, two, n", "e"),
        *listed("t", "e"),
        node("Tile", "x, t", "y"),
    ]
    assert str(result(tmp_path, *chosen).shape) == "(N**2,)"


def test_where_they_do_not_meet_the_dim_is_one_of_its_own(tmp_path: Path) -> None:
    chosen = [node("Equal", "n, two", "q"), node("Where", "q, five, n", "e"), *listed("t", "e")]
    y = result(tmp_path, *chosen, node("Tile", "x, t", "y"))
    assert [str(n).partition("_")[0] for n in y.shape] == ["Tile"]
    assert y.bounds() == [(0, None)]


def end_of_crop(crop: str) -> list[NodeProto]:
    """Return nodes that slice off *crop* elements as tf2onnx does: the end is -crop, or very large for a crop of 0."""
    return [
        node("Equal", f"{crop}, nothing", "q"), node("Not", "q", "r"), node("Cast", "r", "s", to=TensorProto.INT64),
        node("Neg", "s", "minus"), node("Mul", f"{crop}, minus", "a"), node("Cast", "q", "none", to=TensorProto.INT64),
        node("Mul", "end, none", "b"), node("Add", "a, b", "stop"), *listed("stops", "stop"),
        node("Slice", "x, zero, stops, zero", "y"),
    ]  # fmt: skip


def test_a_slice_ends_before_a_crop_that_may_be_0(tmp_path: Path) -> None:
    y = result(tmp_path, node("Mod", "n, two", "crop"), *end_of_crop("crop"))
    assert str(y.shape) == "(2*floor(N/2),)"
    assert [str(r) for r in y.requires] == ["N <= 2147483647"]
    for n in (1, 4, 7):
        assert sl.interpret(y, np.arange(n, dtype=np.float32)).tolist() == list(range(n - n % 2))


def test_a_slice_to_a_very_large_end_keeps_the_extent_and_requires_that_it_is_less(tmp_path: Path) -> None:
    """Sums of such slices had extents with more and more maxima, which took minutes to compare."""
    cut = [node("Slice", "x, zero, ends, zero", f"a{k}") for k in range(4)]
    nodes = [*cut, node("Add", "a0, a1", "b"), node("Mul", "b, a2", "c"), node("Add", "c, a3", "y")]
    given = (*ZERO, *constants(ends=[2147483647]))
    y = loaded(tmp_path, *nodes, constants=given, x=value_info("x", ("N",)))
    assert str(y.shape) == "(N,)"
    assert [str(r) for r in y.requires] == ["N <= 2147483647"]


@pytest.mark.parametrize(("end", "required"), [(2147483647, ["N <= 2147483647"]), (9223372036854775807, [])])
def test_a_slice_to_a_very_large_end_may_start_beyond_the_axis(tmp_path: Path, end: int, required: list[str]) -> None:
    """A start of 2 required N >= 2, and an end that no axis reaches required that N is less."""
    cut = node("Slice", "x, two_, ends, zero", "y")
    y = loaded(tmp_path, cut, constants=(*ZERO, *constants(two_=[2], ends=[end])), x=value_info("x", ("N",)))
    assert str(y.shape) == "(Max(0, N - 2),)"
    assert [str(r) for r in y.requires] == required
    assert sl.interpret(y, np.arange(1, dtype=np.float32)).size == 0


def test_a_guess_that_no_evaluation_follows_is_not_made() -> None:
    last = ShapeNodes({LAST})
    last.leaf_dims.append({"N"})
    with pytest.raises(InconclusiveError):
        last.end_of(2147483647, N)
    first = ShapeNodes()
    first.leaf_dims.append({"N"})
    assert first.end_of(2147483647, N) == N
    assert len(first.supposed) == 1
    first.suppose(N - 3)
    assert len(first.supposed) == 2
    with pytest.raises(InconclusiveError):
        last.suppose(N - 3)
    with pytest.raises(InconclusiveError):
        first.suppose(C - 3)


def test_a_sign_that_the_next_evaluation_requires_is_taken_for_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What follows such a quotient was opaque in the first evaluation, and took longer than all else."""
    opaque: list[str] = []
    evaluated = OnnxEvaluation.opaque

    def counted(self: OnnxEvaluation, node: ModelNode, *given: object) -> object:
        opaque.append(node.op_type)
        return evaluated(self, node, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(OnnxEvaluation, "opaque", counted)
    half = [node("Sub", "n, five", "less"), node("Div", "less, two", "half"), *listed("t", "half")]
    y = result(tmp_path, *half, node("Tile", "x, t", "y"))
    assert str(y.shape) == "(N*ceiling(N/2) - 3*N,)"
    assert [str(r) for r in y.requires] == ["N >= 5"]
    assert opaque == []


def test_an_evaluation_that_finds_more_and_more_is_the_last_one_at_some_time() -> None:
    seen: list[set[object]] = []

    def evaluate(hints: Collection[object]) -> tuple[bool, set[object]]:
        seen.append(set(hints))
        return LAST in hints, {*hints, len(seen)}

    assert settled(evaluate, nodes=1)
    assert len(seen) == MAX_PASSES + 1


def test_a_crop_that_may_be_negative_has_no_such_end(tmp_path: Path) -> None:
    y = result(tmp_path, node("Sub", "n, five", "crop"), *end_of_crop("crop"))
    assert [str(n).partition("_")[0] for n in y.shape] == ["Slice"]


@pytest.mark.parametrize("open_", [True, False])
def test_a_choice_lies_among_the_values(open_: bool) -> None:
    assert is_open([1, N, compared(N, 2) if open_ else N - 2]) == open_


def test_two_sides_are_one_value_only_if_they_agree_where_the_numbers_are_equal() -> None:
    assert joined(N - C, N, C) == C
    assert joined(N - C, N + C, 2 * C) == 2 * C
    assert joined(N - C, N, C + 1) == Choice(N - C, N, C + 1)
    assert joined(N - 1, True, 1) == Choice(N - 1, True, 1)


def test_a_number_is_0_on_the_side_where_it_is_compared_with_0() -> None:
    assert branches([compared(N, 2), N - 2, N]) == (N - 2, [True, 0, N], [False, N - 2, N])
