"""Models that would cost much are read, and what can be said of them is said, within steps that are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

import symlayout as sl
from tests.promises.deep_models import DEEP
from tests.support.steps import STEPS, counted


def write(folder: Path, name: str, depth: int) -> Path:
    path = folder / "model.onnx"
    path.write_bytes(DEEP[name][0](depth).SerializeToString())
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", DEEP)
def test_a_model_that_would_cost_much_is_read(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, name, DEEP[name][1])
    with counted(25 * STEPS):
        try:
            model = sl.read_model(path)
        except sl.SymlayoutError:
            return
        assert str(model)
        for value in list(model.tensors)[-3:]:
            assert model.explain(value)


def test_the_goals_of_reading_leave_dims_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "quotients and remainders of sizes", 20)
    whole = sl.read_model(path).outputs["y"].shape
    monkeypatch.setattr(sl.limits, "reading_goals", 10)
    monkeypatch.setattr(sl.limits, "reading_node_goals", 0)
    part = sl.read_model(path).outputs["y"].shape
    assert str(whole) != str(part)
    assert str(part).startswith("(Expand")
    assert sl.verify(path, path, run=False).verdict is sl.Verdict.PROVED


def test_an_extent_that_is_too_long_is_a_dim_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "broadcasts of slices", 2)
    whole = sl.read_model(path).outputs["y"].shape
    monkeypatch.setattr(sl.limits, "written_names", 20)
    part = sl.read_model(path).outputs["y"].shape
    assert part[:3] == whole[:3]
    assert {s.name for s in whole[3].free_symbols} == {"W"}
    assert {s.name for s in part[3].free_symbols} != {"W"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "use", "depth"),
    [
        ("many outputs", "verify", 40),
        ("joined inputs", "optimize", 150),
    ],
)
def test_work_grows_with_the_depth(name: str, use: str, depth: int, tmp_path: Path) -> None:
    """Twice the depth takes about twice the steps, or less where a budget ends the work."""

    def steps_at(depth: int) -> int:
        path = write(tmp_path, name, depth)
        with counted() as steps:
            if use == "verify":
                assert sl.verify(path, path, run=False).verdict is sl.Verdict.PROVED
            else:
                assert all(verdict is sl.Verdict.PROVED for verdict in sl.optimize(path).report.verdicts.values())
        return steps.count

    steps_at(3)  # imports modules
    assert steps_at(2 * depth) < 2.6 * steps_at(depth)
