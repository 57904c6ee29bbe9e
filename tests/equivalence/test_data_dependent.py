"""Extents that depend on data are one in two models if one function of equal operands brings them in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import NodeProto

import symlayout as sl
from symlayout.equivalence import data_extents
from symlayout.equivalence.data_extents import with_data_as_shown
from symlayout.equivalence.joint_models import joint_models
from symlayout.equivalence.shared_ends import EndsAsStated
from symlayout.equivalence.unknown_ranks import with_handles
from symlayout.equivalence.verify_models import check_models
from symlayout.proof.certificate.checker.schema import sealed
from tests.support.onnx_writer import model, node, tensor, value_info


def written(path: Path, *nodes: NodeProto, outputs: tuple[str, ...] = ("y",)) -> Path:
    constants = (tensor([0], name="zero"), tensor([-1], name="all"))
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], outputs=outputs, constants=constants))
    return path


@pytest.mark.slow
def test_an_extent_that_data_determine_is_followed_through_another_graph(tmp_path: Path) -> None:
    tail = [
        node("Transpose", "found", "places", perm=[1, 0]),
        node("GatherND", "x, places", "picked"),
        node("Shape", "picked", "count"),
        node("Concat", "count, all", "target", axis=0),
        node("Reshape", "picked, target", "column"),
    ]
    before = written(
        tmp_path / "before.onnx",
        node("Relu", "x", "r"),
        node("Transpose", "r", "t", perm=[1, 0]),
        node("Transpose", "t", "u", perm=[1, 0]),
        node("NonZero", "u", "found"),
        *tail,
        node("Neg", "column", "y"),
    )
    after = written(
        tmp_path / "after.onnx",
        node("Relu", "x", "r"),
        node("NonZero", "r", "found"),
        *tail,
        node("Neg", "column", "y"),
    )
    other = written(tmp_path / "other.onnx", node("NonZero", "x", "found"), *tail, node("Neg", "column", "y"))
    assert sl.verify(before, after).verdict is sl.Verdict.PROVED
    assert sl.verify(after, before).verdict is sl.Verdict.PROVED
    assert sl.verify(before, other, run=False).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(before, other).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_the_first_of_two_extents_is_not_the_second(tmp_path: Path) -> None:
    paths = []
    for k, first in enumerate(("x", "r")):
        second = "r" if first == "x" else "x"
        nodes = [
            node("Relu", "x", "r"),
            node("NonZero", first, "a"),
            node("NonZero", second, "b"),
            node("Concat", "a, b", "both", axis=1),
            node("Neg", "both", "y"),
        ]
        paths.append(written(tmp_path / f"{k}.onnx", *nodes))
    assert sl.verify(paths[0], paths[0]).verdict is sl.Verdict.PROVED
    assert sl.verify(paths[0], paths[1]).verdict is not sl.Verdict.PROVED


def test_an_extent_that_data_determine_stays_when_dims_get_values(tmp_path: Path) -> None:
    nodes = [
        node("NonZero", "x", "found"),
        node("Shape", "found", "size"),
        node("Transpose", "found", "rows", perm=[1, 0]),
        node("Slice", "size, one, two", "count"),
        node("Concat", "count, all", "target", axis=0),
        node("Reshape", "rows, target", "y"),
    ]
    path = tmp_path / "model.onnx"
    constants = (tensor([1], name="one"), tensor([2], name="two"), tensor([-1], name="all"))
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], constants=constants))
    found = sl.read_model(path).outputs["y"]
    bound = found.subs({"N": 2})
    assert bound.shape == found.shape
    assert (found.bounds()[0], bound.bounds()[0]) == ((1, None), (1, 8))


def two_counts(path: Path, first: str, second: str, *, twice: bool = False) -> Path:
    """Write a model with the places of the elements that are not zero in *first* and in *second*: two extents."""
    turned = [node("Transpose", "r", "t", perm=[1, 0]), node("Transpose", "t", "u", perm=[1, 0])]
    return written(
        path,
        node("Relu", "x", "r"),
        *(turned if twice else []),
        node("Neg", "u" if twice else "r", "s"),
        node("NonZero", first, "a"),
        node("NonZero", second, "b"),
        node("Sin", "x", "z"),
        node("Transpose", "a", "places", perm=[1, 0]),
        node("GatherND", "z, places", "picked"),
        node("Shape", "picked", "count"),
        node("Cast", "b", "found", to=1),
        node("Neg", "found", "y"),
        node("Concat", "count, all", "target", axis=0),
        node("Reshape", "picked, target", "column"),
        outputs=("column", "y"),
    )


def test_the_certificate_shows_that_an_extent_that_depends_on_data_is_one(tmp_path: Path) -> None:
    before = two_counts(tmp_path / "before.onnx", "s", "x", twice=True)
    after = two_counts(tmp_path / "after.onnx", "s", "x")
    for one, other in ((before, after), (after, before), (after, after)):
        shown = json.loads(json.dumps(sl.verify(one, other).certificate))
        assert [set(part) for part in shown["data"]] == [{"before", "after", "operands"}] * 2
        assert check_models(shown, one, other) == ""
        assert sl.check(shown)
        for wrong in (("x", "x"), ("s", "s"), ("x", "s"), ("r", "x")):
            changed = two_counts(tmp_path / "changed.onnx", *wrong)
            assert check_models(shown, one, changed) != ""
            assert check_models(shown, changed, other) != ""


@pytest.fixture(scope="module")
def two_models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, str]:
    folder = tmp_path_factory.mktemp("models")
    before = two_counts(folder / "before.onnx", "s", "x", twice=True)
    after = two_counts(folder / "after.onnx", "s", "x")
    return before, after, json.dumps(sl.verify(before, after).certificate)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data.clear(), "not shown to be the same"),
        (lambda data: data.pop(), "not shown to be the same"),
        (lambda data: data.pop(0), "not shown to be valid"),
        (lambda data: data[0].update(before=data[1]["before"]), "extent 0"),
        (lambda data: data[0].update(after=data[1]["after"]), "extent 0"),
        (lambda data: data[1].update(operands=data[0]["operands"]), "extent 1"),
        (
            lambda data: data[1]["operands"].update(sealed({**data[1]["operands"], "laws": ["reassociate"]})),
            "laws do not show",
        ),
        (lambda data: data[0]["operands"]["pairs"].pop(), "seal"),
        (lambda data: data[0].pop("operands"), "another form"),
        (lambda data: data.__setitem__(0, None), "another form"),
        (lambda data: data[0].update(after=10**6), "another form"),
        (lambda data: data[0].update(before=0), "extent 0"),
    ],
)
def test_a_changed_proof_about_an_extent_is_refused(
    two_models: tuple[Path, Path, str], change: Callable[[list[Any]], object], reason: str
) -> None:
    before, after, text = two_models
    shown = json.loads(text)
    change(shown["data"])
    assert reason in check_models(sealed(shown), before, after)


def test_extents_get_the_names_before_only_by_their_proofs(two_models: tuple[Path, Path, str]) -> None:
    before, after, text = two_models
    sides = with_handles(sl.read_model(before)), with_handles(sl.read_model(after))
    joint = joint_models(*sides, EndsAsStated().of(*sides))
    left, right = joint.left, joint.right
    assert left["column"].extents != right["column"].extents
    named, reason = with_data_as_shown(json.loads(text)["data"], left, right)
    assert reason == ""
    assert {name: named[name].extents for name in ("column", "y")} == {
        name: left[name].extents for name in ("column", "y")
    }
    assert with_data_as_shown([], left, right)[0] == right


@pytest.mark.slow
def test_an_extent_is_not_shown_by_what_only_holds_if_it_is_one(tmp_path: Path) -> None:
    """If both extents were one, N would be four and the operands equal: a proof must not assume that."""
    constants = [
        node("Constant", "", name, value=tensor(values)) for name, values in (("from", [0]), ("to", [4]), ("on", [0]))
    ]

    def picked(path: Path, cut: bool) -> Path:
        parts = [node("Slice", "x, from, to, on", "s")] if cut else [node("Identity", "x", "s")]
        count = [node("NonZero", "s", "a"), node("Squeeze", "a, on", "flat"), node("Cast", "flat", "found", to=1)]
        path.write_bytes(
            model([*constants, *parts, *count, node("MatMul", "found, s", "y")], [value_info("x", ("N",))])
        )
        return path

    before, after = picked(tmp_path / "before.onnx", cut=False), picked(tmp_path / "after.onnx", cut=True)
    shown = json.loads(json.dumps(sl.verify(before, before).certificate))
    assert check_models(shown, before, before) == ""
    assert sl.verify(before, after, run=False).verdict is not sl.Verdict.PROVED
    assert check_models(shown, before, after) != ""


def test_an_extent_behind_another_one_is_shown_after_it(tmp_path: Path) -> None:
    path = written(
        tmp_path / "model.onnx",
        node("NonZero", "x", "a"),
        node("Transpose", "a", "places", perm=[1, 0]),
        node("GatherND", "x, places", "picked"),
        node("NonZero", "picked", "y"),
    )
    shown = json.loads(json.dumps(sl.verify(path, path).certificate))
    assert check_models(shown, path, path) == ""
    data = shown["data"]
    for others in (data[1:], data[::-1]):
        assert "its operands have an extent" in check_models(sealed({**shown, "data": others}), path, path)


def counted(path: Path, of: str, *, by: str = "sines", twice: bool = False) -> Path:
    """Write a model of the first elements of a column, as many as *of* has that are not zero: only that is read."""
    turned = [node("Transpose", of, "t", perm=[1, 0]), node("Transpose", "t", "u", perm=[1, 0])]
    return written(
        path,
        node("Relu", "x", "r"),
        node("Neg", "x", "s"),
        *(turned if twice else []),
        node("NonZero", "u" if twice else of, "found"),
        node("Shape", "found", "count", start=1),
        node("Sin", "x", "sines"),
        node("Reshape", f"{by}, all", "column"),
        node("Slice", "column, zero, count", "first"),
        node("Exp", "first", "y"),
    )


@pytest.mark.slow
def test_an_extent_of_a_value_that_is_read_as_a_shape_only(tmp_path: Path) -> None:
    before, after = counted(tmp_path / "before.onnx", "r"), counted(tmp_path / "after.onnx", "r", twice=True)
    other = counted(tmp_path / "other.onnx", "s")
    values = counted(tmp_path / "values.onnx", "r", by="r")
    for one, two in ((before, before), (before, after), (after, before), (after, after)):
        found = sl.verify(one, two, run=False)
        assert found.verdict is sl.Verdict.PROVED, found.explain()
        assert list(found.outputs) == ["y"]
        shown = json.loads(json.dumps(found.certificate))
        assert check_models(shown, one, two) == ""
        assert check_models(shown, one, other) != ""
        assert check_models(shown, other, two) != ""
        assert check_models(shown, one, values) != ""
        assert check_models(sealed({**shown, "data": []}), one, two) != ""
    assert sl.verify(before, other, run=False).verdict is sl.Verdict.UNKNOWN
    assert sl.verify(before, other).verdict is sl.Verdict.REFUTED
    assert sl.verify(before, values).verdict is sl.Verdict.REFUTED


@pytest.mark.slow
def test_the_count_of_another_input_is_another_extent(tmp_path: Path) -> None:
    paths = []
    for name, read in (("before", "x"), ("after", "z")):
        nodes = [
            node("NonZero", read, "found"),
            node("Shape", "found", "count", start=1),
            node("Slice", "x, zero, count", "y"),
        ]
        inputs = [value_info("x", ("N",)), value_info("z", ("N",))]
        paths.append(tmp_path / f"{name}.onnx")
        paths[-1].write_bytes(
            model(nodes, inputs[:: 1 if name == "before" else -1], constants=[tensor([0], name="zero")])
        )
    assert sl.verify(*paths, run=False).verdict is not sl.Verdict.PROVED
    assert sl.verify(*paths, by_position=True, run=False).verdict is not sl.Verdict.PROVED
    assert sl.verify(paths[0], paths[0], run=False).verdict is sl.Verdict.PROVED


def test_the_dims_of_an_input_are_no_data_where_only_its_shape_is_read(tmp_path: Path) -> None:
    def places(path: Path, step: str) -> Path:
        nodes = [
            node("Shape", "x", "shape", end=1),
            node("Squeeze", "shape", "rows"),
            node("Range", f"none, rows, {step}", "y"),
        ]
        constants = [tensor([k], (), name) for k, name in enumerate(("none", "one", "two"))]
        path.write_bytes(model(nodes, [value_info("x", ("N", 4))], constants=constants))
        return path

    one, two = places(tmp_path / "one.onnx", "one"), places(tmp_path / "two.onnx", "two")
    found = sl.verify(one, one)
    assert found.verdict is sl.Verdict.PROVED
    assert check_models(json.loads(json.dumps(found.certificate)), one, one) == ""
    differs = sl.verify(one, two, run=False)
    assert differs.verdict is sl.Verdict.REFUTED
    assert differs.witness is not None
    assert differs.witness.left == (2,)
    assert differs.witness.right == (1,)


@pytest.mark.slow
def test_values_that_bring_in_extents_are_compared_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[Any, Any]] = []
    have_equal_operands = data_extents._have_equal_operands

    def counted(a: Any, b: Any, *more: Any) -> bool:
        compared.append((a, b))
        return have_equal_operands(a, b, *more)

    monkeypatch.setattr(data_extents, "_have_equal_operands", counted)
    count = 3
    outputs = tuple(f"{kind}{k}" for kind in "zy" for k in range(count))

    def found(other: str, *, turned: bool) -> list[NodeProto]:
        """Return places of values that one model has, and then of those that both have: *turned* names them else."""
        made = [node("Neg", "x", "u0"), node(other, "x", "v0")]
        for k in range(count):
            made += [node("Exp", f"u{k}", f"u{k + 1}"), node(other, f"v{k}", f"v{k + 1}")]
            made += [node("Transpose", f"u{k}", f"s{k}", perm=[1, 0]), node("Transpose", f"s{k}", f"t{k}", perm=[1, 0])]
            made += [node("NonZero", f"v{k}", f"z{k}"), node("NonZero", f"t{k}" if turned else f"u{k}", f"y{k}")]
        return made

    before = written(tmp_path / "before.onnx", *found("Sin", turned=True), outputs=outputs)
    after = written(tmp_path / "after.onnx", *found("Cos", turned=False), outputs=outputs)
    verdicts = sl.verify(before, after, run=False).outputs
    assert {name for name, verdict in verdicts.items() if verdict is sl.Verdict.PROVED} == {"y0", "y1", "y2"}
    assert 0 < len(compared) <= (2 * count) ** 2


@pytest.mark.parametrize(("value", "count"), [(1.0, 6), (0.0, 0), (-0.0, 0), (np.nan, 6), (True, 6), (0, 0)])
def test_the_places_of_a_constant_are_as_many_as_it_says(value: float, count: int) -> None:
    n, m = sl.dims("N M")
    places = sl.onnx.non_zero(sl.onnx.constant_of_shape((n, m), np.array([value])))
    assert places.shape == (2, n * m if count else 0)
    found = sl.interpret(places, dims={n: 2, m: 3})
    assert found.tolist() == [list(k) for k in np.nonzero(np.full((2, 3), value))]
    assert found.shape == (2, count)


def test_the_places_of_other_constants_depend_on_data() -> None:
    x = sl.tensor("N, 3", "float32", "x")
    for source in (x, sl.pad(sl.onnx.constant_of_shape(x.shape[:1]), (1, 1)), sl.constant(np.eye(3))):
        assert str(sl.onnx.non_zero(source).shape[-1]).startswith("nnz")


def _strided(path: Path, *, plain: bool = False, row: int = 4, all_places: bool = True) -> Path:
    """Write windows of an input as torch exports `as_strided`: gathered from all elements, by sums of places."""
    nodes = [
        node("Shape", "x", "extents"),
        node("ConstantOfShape", "extents", "ones", value=tensor([int(all_places)], name="one")),
        node("NonZero", "ones", "found"),
        node("Split", "found", "r, c", axis=0, num_outputs=2),
        node("Mul", "r, row", "down"),
        *([] if plain else [node("Mul", "c, step", "across")]),
        node("Add", "down, c" if plain else "down, across", "at"),
        node("Reshape", "x, all", "flat"),
        node("Gather", "flat, at", "y", axis=0),
    ]
    constants = (tensor([row], name="row"), tensor([1], name="step"), tensor([-1], name="all"))
    path.write_bytes(model(nodes, [value_info("x", ("N", 4))], outputs=("y",), constants=constants))
    return path


def test_windows_that_are_gathered_at_places_of_a_constant_are_one(tmp_path: Path) -> None:
    before, after = _strided(tmp_path / "before.onnx"), _strided(tmp_path / "after.onnx", plain=True)
    found = sl.verify(before, after)
    assert found.verdict is sl.Verdict.PROVED
    assert sl.check(found.certificate, before=before, after=after)
    for k, mutant in enumerate(({"row": 3}, {"all_places": False})):
        other = _strided(tmp_path / f"{k}.onnx", plain=True, **mutant)  # type: ignore[arg-type]
        assert sl.verify(before, other).verdict is sl.Verdict.REFUTED
