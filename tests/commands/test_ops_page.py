"""docs/ops.md: made from the registry, current, and about every operation."""

from __future__ import annotations

import pytest

from symlayout.commands.command_line import main
from symlayout.commands.output.ops_page import CORE_EXAMPLES, FRAMEWORK_EXAMPLES, markdown
from symlayout.commands.subject import CORE_OPS
from symlayout.frontends import names
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "ops.md"


@pytest.mark.slow
def test_the_page_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--markdown"]) == 0
    assert capsys.readouterr().out == PAGE.read_text(encoding="utf-8"), "run: symlayout ops --markdown > docs/ops.md"


def test_the_page_has_every_operation() -> None:
    assert set(FRAMEWORK_EXAMPLES) == set(names())
    assert set(CORE_EXAMPLES) == {
        *CORE_OPS, "array_split", "concatenate", "full", "split", "stack", "update_slice", "x[...]",
    }  # fmt: skip


@pytest.mark.slow
def test_an_operation_of_a_framework_stands_beside_its_core_operations() -> None:
    rows = [line for line in markdown().splitlines() if line.startswith("| `pad` |")]
    frameworks = (
        "| `Pad-12` | `MirrorPad`, `Pad`, `PadV2` | `CenterCropPad`, `Pad` |  |  | `MIRROR_PAD`, `PAD`, `PADV2` "
        "| `constant_pad_nd`, `pad`, `reflection_pad1d`, `reflection_pad2d`, `reflection_pad3d`, "
        "`replication_pad1d`, `replication_pad2d`, `replication_pad3d` | `pad` |"
    )
    assert rows == [f"| `pad` | `numpy.pad` {frameworks}"]
