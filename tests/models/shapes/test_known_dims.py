"""Values and bounds that users give for the dims of a model: `sl.load(path, dims=...)` and `--dim`."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl
from symlayout.commands import subject
from symlayout.commands.command_line import main
from symlayout.models.known_dims import KnownDims
from tests.support.paths import ROOT

MODEL = ROOT / "examples" / "models" / "round_trip_dynamic.xml"
ONNX = ROOT / "examples" / "models" / "pixel_unshuffle.onnx"
H = sl.dim("H", min=1)


def test_values_and_bounds_hold_from_the_inputs_on() -> None:
    t = sl.load(MODEL, dims={"data.0": (1, None), "data.1": 4, "data.2": (2, 8), "data.3": 2 * H + 1})["result"]
    assert t.bounds() == [(1, None), (4, 4), (2, 8), (3, None)]
    assert [leaf.name for leaf in t.leaves()] == ["data"]
    assert [str(r) for r in t.requires] == ["Eq(Mod(data.2, 2), 0)"]


def test_an_onnx_model_takes_them_too() -> None:
    pytest.importorskip("onnx")
    (t,) = sl.load(ONNX).values()
    names = list(t.facts.dims)
    (bounded,) = sl.load(ONNX, dims={name: (1, None) for name in names}).values()
    assert all(low >= 1 for low, _ in bounded.bounds() if low is not None)
    assert bounded.facts.dims.keys() == t.facts.dims.keys()


@pytest.mark.parametrize(
    ("dims", "error", "message"),
    [
        ({"q": 1}, sl.FormatError, "'q' is a dim of no input\n  known: data.0, data.1, data.2, data.3"),
        ({"data.0": (1, 2, 3)}, sl.ShapeError, "is not a pair"),
        ({"data.0": (3, 1)}, sl.ShapeError, "is an empty range"),
        ({"data.0": -1}, sl.ShapeError, "outside its bounds"),
        ({"data.0": "x"}, sl.ShapeError, ""),
        ({"data.2": 3, "data.3": 3}, sl.ShapeError, ""),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused(dims: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        sl.load(MODEL, dims=dims)
    assert message in str(caught.value)


def test_the_command_line_takes_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["infer", str(MODEL), "--dim", "data.0=1..", "--dim", "data.1=4", "--json"]) == 0
    assert '"data.0"' in capsys.readouterr().out
    (t,) = subject.build(["N, 2*h", "reshape(-1, 2)"], known=subject.parse_known(["N=1..", "h=3"]))
    assert t.bounds() == [(3, None), (2, 2)]
    for option, message in (("N", "is not NAME=RANGE"), ("M=1..", "M is not a dim here"), ("N=3..1", "")):
        assert main(["infer", "N", "--dim", option]) == 4
        assert message in capsys.readouterr().err


def test_a_leaf_without_these_dims_stays() -> None:
    x = sl.tensor("N", name="x")
    known = KnownDims({})
    assert known.of_leaf(x).shape == x.shape
    known.check_used()
