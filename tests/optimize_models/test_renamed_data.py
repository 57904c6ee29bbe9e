"""Extents that depend on data are named after what brings them in; costs are compared with one name for each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from onnx import NodeProto

from symlayout.models.model import Model
from symlayout.models.read_model import read_model
from symlayout.optimize_models.movement_cost import renamed_data
from symlayout.optimize_models.movement_regions import cost_of_model
from tests.optimize_models.test_optimize_model import ops, optimized
from tests.support.onnx_writer import model, node, value_info

PAIR = [node("Transpose", "a", "b", perm=[1, 0]), node("Transpose", "b", "c", perm=[1, 0])]
PLACES = [node("Transpose", "found", "rows", perm=[1, 0]), node("Cast", "rows", "e", to=1), node("Exp", "e", "y")]


def written(path: Path, *nodes: NodeProto) -> Model:
    path.write_bytes(model(list(nodes), [value_info("x", ("N", "C"))]))
    return read_model(path)


def test_a_pair_before_what_counts_elements_goes(tmp_path: Path) -> None:
    """The Transpose of the places stays, and moves as many bytes as before, of an extent with another name."""
    o = optimized(tmp_path, [node("Relu", "x", "a"), *PAIR, node("NonZero", "c", "found"), *PLACES], ("N", "C"))
    assert Counter(ops(o)) == Counter(["Relu", "NonZero", "Transpose", "Cast", "Exp"])
    names = {symbol for size in o.report.before.sizes for symbol in size.free_symbols}
    assert all(size.free_symbols <= names for size in o.report.after.sizes)


def test_costs_have_one_name_for_an_extent_of_one_value(tmp_path: Path) -> None:
    relu = node("Relu", "x", "a")
    before = written(tmp_path / "before.onnx", relu, *PAIR, node("NonZero", "c", "found"), *PLACES)
    after = written(tmp_path / "after.onnx", relu, node("NonZero", "a", "found"), *PLACES)
    ours, theirs = (m.tensors["found"].shape[1] for m in (before, after))
    assert ours != theirs
    assert renamed_data(before, after) == {theirs: ours}
    assert not cost_of_model(after).at_most(cost_of_model(before))
    assert cost_of_model(after).renamed({theirs: ours}).at_most(cost_of_model(before))
    assert not cost_of_model(before).renamed({ours: theirs}).at_most(cost_of_model(after))


def test_an_extent_that_two_values_call_by_two_names_keeps_its_own(tmp_path: Path) -> None:
    """Two values that were counted apart are one count after, which says nothing of either."""
    both = [node("Add", "one, two", "sum"), node("Neg", "sum", "y")]
    apart = [node("NonZero", "a", "one"), node("NonZero", "x", "two")]
    joined = [node("NonZero", "a", "one"), node("NonZero", "a", "two")]
    before, after = (
        written(tmp_path / f"{name}.onnx", node("Relu", "x", "a"), *nodes, *both)
        for name, nodes in (("before", apart), ("after", joined))
    )
    assert len({before.tensors[n].shape[1] for n in ("one", "two")}) == 2
    names = {after.tensors[n].shape[1] for n in ("one", "two")}
    assert names.isdisjoint(renamed_data(before, after))
