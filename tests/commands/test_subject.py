"""Steps of the command line that are no chain of one tensor."""

from __future__ import annotations

import pytest

from symlayout.commands import subject
from symlayout.errors import FormatError


@pytest.mark.parametrize(
    ("step", "message"),
    [("onnx:Split(num_outputs=2, axis=1)", "gives 2 tensors"), ("onnx:Concat(axis=1)", "takes several tensors")],
)
def test_a_step_has_one_tensor_in_and_one_out(step: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        subject.build(["N,C,H,W", step])
