"""Names from outside become C identifiers that nothing else has."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symlayout_codegen.ir.identifiers import PACKED, PARTED, identifier, rename_signature
from tests.support import nests


@given(st.lists(st.text(max_size=60), max_size=6))
def test_identifiers_are_legal_and_unique(names: list[str]) -> None:
    taken: set[str] = set()
    made = [identifier(name, taken) for name in names]
    assert all(re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) for name in made)
    assert len(set(made)) == len(made) == len(taken)


@pytest.mark.parametrize(
    "name", ["int", "template", "NULL", "UINT8_MAX", "sl_copy", "SL_OK", "from0", "x_t", "dst", "part"]
)
def test_names_of_c_and_of_the_printed_text_are_not_used(name: str) -> None:
    assert identifier(name, set()) != name


def test_the_functions_of_a_kernel_have_names_that_nothing_else_has() -> None:
    nest = nests.nest(f"f g {PARTED}", f"f_g__{PARTED} H", [], 1)
    renamed = rename_signature(nest)
    assert renamed.nest.name == f"f_g_{PARTED}"
    assert {renamed.nest.name + PARTED, renamed.nest.name + PACKED} < renamed.taken
    assert renamed.nest.parameters == ("f_g___part", "H")
    assert renamed.renamed == dict(zip(nest.parameters, renamed.nest.parameters, strict=True))
