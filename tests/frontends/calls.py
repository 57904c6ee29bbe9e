"""Dims, and the kind of the error that a call raises."""

from __future__ import annotations

from typing import Any

import pytest

import symlayout as sl

N, C, H, W = sl.dims("N C H W")


def kind_of(call: Any) -> str:
    with pytest.raises(sl.ShapeError) as caught:
        call()
    return caught.value.kind
