"""The attack on onnxruntime's own domain: a part of it, what it found, and that it finds what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.registry import names
from symlayout.proof.forms.rounded_functions import without_rounding
from tests.attack import microsoft
from tests.attack.microsoft import DRAWERS, Draw, Node, attack, compare, drawn_node
from tests.attack.runtimes import Sessions, has_onnxruntime
from tests.attack.tally import Tally

needs_onnxruntime = pytest.mark.skipif(not has_onnxruntime(), reason="onnxruntime is not installed, which judges")


def floats(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def ints(*shape: int, dtype: Any = np.int32) -> Any:
    return np.ones(shape, dtype)


WORDS = [ints(2, 3), None, floats(5, 4), floats(6, 4), None]
BYTE, SCALE = ints(dtype=np.uint8), floats()
REFUSED = [
    Node("FastGelu", [floats()]),
    Node("EmbedLayerNormalization", [*WORDS, floats(1, 4), floats(4)], outputs=2),
    Node("EmbedLayerNormalization", [*WORDS, floats(), floats(4)], outputs=2),
    Node("EmbedLayerNormalization", [*WORDS, floats(4), floats(1, 4)], outputs=2),
    Node("EmbedLayerNormalization", [*WORDS, floats(4), floats(4), ints(2)], outputs=2),
    Node("EmbedLayerNormalization", [ints(2, 3), ints(2), floats(5, 4), floats(6, 4), floats(2, 4), floats(4),
                                     floats(4)], outputs=2),
    Node("RotaryEmbedding", [floats(1, 3, 4), ints(1, 3, dtype=np.int64), floats(6), floats(6)]),
    Node("RotaryEmbedding", [floats(1, 2, 3, 4), ints(1, 1, 3, dtype=np.int64), floats(6, 2), floats(6, 2)]),
    Node("RotaryEmbedding", [floats(1, 2, 3, 4), ints(3, dtype=np.int64), floats(6, 2), floats(6, 2)]),
    Node("QLinearSigmoid", [ints(3, dtype=np.uint8), floats(3), BYTE, SCALE, BYTE]),
    Node("QLinearAveragePool", [ints(1, 1, 3, dtype=np.uint8), floats(1), BYTE, SCALE, BYTE], {"kernel_shape": [2]}),
    Node("QLinearLeakyRelu", [ints(3, dtype=np.uint8), SCALE, BYTE, SCALE, ints(3, dtype=np.uint8)]),
    Node("QLinearAdd", [ints(3, dtype=np.uint8), floats(3), BYTE, ints(3, dtype=np.uint8), SCALE, BYTE, SCALE, BYTE]),
    Node("FusedMatMul", [floats(4, 2, 3), floats(2, 3, 4, 1)], {"transA": 1, "transBatchB": 1}),
    Node("FusedMatMul", [floats(4, 2), floats(2, 3)], {"transBatchB": 1}),
    Node("MultiHeadAttention", [floats(2, 1, 2), floats(2, 1, 2), floats(2, 1, 6), None, ints(1, 1, 1)],
         {"num_heads": 2}),
]  # fmt: skip


@pytest.mark.parametrize("node", REFUSED, ids=str)
def test_what_onnxruntime_refuses_is_refused_with_a_typed_error(tmp_path: Path, node: Node) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(node.model().SerializeToString())
    with pytest.raises(sl.ShapeError):
        sl.read_model(path)
    if has_onnxruntime():
        ran = Sessions(node.model()).by_onnxruntime(node.given)
        assert ran.arrays is None
        assert not ran.lacks


def test_a_scale_with_an_axis_of_one_adds_none(tmp_path: Path) -> None:
    node = Node("QLinearSigmoid", [BYTE, floats(1), BYTE, floats(1), BYTE])
    path = tmp_path / "model.onnx"
    path.write_bytes(node.model().SerializeToString())
    assert sl.read_model(path).outputs["y0"].shape == ()


ON_OTHER_PROVIDERS = {
    "NhwcConv": [floats(1, 4, 4, 2), floats(3, 2, 2, 2)],
    "NhwcFusedConv": [floats(1, 4, 4, 2), floats(3, 2, 2, 2)],
    "GroupNorm": [floats(1, 2, 2, 4), floats(4), floats(4)],
    "SkipGroupNorm": [floats(1, 2, 2, 4), floats(4), floats(4), floats(1, 4)],
    "BiasAdd": [floats(1, 2, 4), floats(4), floats(1, 2, 4)],
    "BiasSplitGelu": [floats(1, 2, 4), floats(4)],
    "BiasSoftmax": [floats(1, 2, 4), floats(1, 2, 4)],
    "GemmFastGelu": [floats(2, 4), floats(4, 3)],
}
"""Operations that onnxruntime's provider of processors does not have, so that nothing judges them here."""


@needs_onnxruntime
@pytest.mark.parametrize("op", ON_OTHER_PROVIDERS)
def test_onnxruntime_does_not_run_what_is_not_drawn(op: str) -> None:
    given = {"groups": 2, "activation": 0} if "GroupNorm" in op else {}
    given |= {"is_inner_broadcast": 1} if op == "BiasSoftmax" else {}
    assert Sessions(Node(op, ON_OTHER_PROVIDERS[op], given).model()).by_onnxruntime({}).lacks


@needs_onnxruntime
def test_nodes_are_as_onnxruntime_computes_them() -> None:
    tally = Tally()
    for seed in range(300, 300 + 4 * len(DRAWERS)):
        attack(seed, tally)
    assert not tally.wrong, tally.wrong[0].text
    assert tally.totals()["both run"] > len(DRAWERS)


@needs_onnxruntime
def test_a_formula_of_a_rounded_value_that_is_off_by_two_units_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    one = np.asarray(0.1, np.float32)
    node = Node("QLinearSigmoid", [np.arange(9, dtype=np.uint8), one, BYTE, one, BYTE])
    assert compare(node) == ("both run", "")

    def wrong(outputs: Any) -> Any:
        return {name: sl.onnx.add(y, np.uint8(2)) for name, y in without_rounding(outputs).items()}

    monkeypatch.setattr(microsoft, "without_rounding", wrong)
    assert compare(node)[1].startswith("other")


@needs_onnxruntime
@pytest.mark.parametrize(
    ("made", "kind"), [([np.zeros((2, 3), np.float32)], "other"), ("refused: it is", "narrow"), ([None], "")]
)
def test_a_wrong_reading_is_found(monkeypatch: pytest.MonkeyPatch, made: Any, kind: str) -> None:
    monkeypatch.setattr(microsoft, "ours", lambda *_: made)
    outcome, text = compare(Node("Gelu", [floats(2, 3)]))
    assert (outcome, text[: len(kind)]) == ("wrong" if kind else "both run", kind)


@needs_onnxruntime
def test_a_demand_that_is_not_stated_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microsoft, "ours", lambda *_: [None])
    assert compare(Node("BiasGelu", [floats(2, 3), floats(2)]))[1].startswith("wide")


def test_each_operation_is_drawn() -> None:
    rows = {name.removeprefix("microsoft:") for name in names() if name.startswith("microsoft:")}
    drawn = {draw(Draw(0)).op for draw in DRAWERS}
    other_names = {"TransposeMatMul", "LayerNormalization", "SimplifiedLayerNormalization"}
    assert drawn == rows - other_names - ON_OTHER_PROVIDERS.keys()
    assert {drawn_node(seed).op for seed in range(len(DRAWERS))} == drawn
