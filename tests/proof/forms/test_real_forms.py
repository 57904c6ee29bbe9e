"""Functions of bodies run on forms: what they compute is compared as sums of products."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symlayout.compute import scalars
from symlayout.proof.forms.coefficients import Coefficient, Rounding
from symlayout.proof.forms.real_forms import Atom, Atoms, Form, UnformedError


@pytest.fixture
def atoms() -> Atoms:
    return Atoms(lambda a, b: a.content == b.content, Rounding(np.dtype(np.float32)))


def named(atoms: Atoms, name: str) -> Form:
    return atoms.form(Atom("read", (name,)))


def test_sums_and_products_have_one_form(atoms: Atoms) -> None:
    x: Any = named(atoms, "x")
    y: Any = named(atoms, "y")
    assert ((x + y) * (x - y) + y * y * 0).is_near(x * x - y**2 + 0.0 * (x * y) + 0.0 * y * y)
    assert (x / y).is_near(x * (1 / y))
    assert not (x / y).is_near(y / x)
    assert (1 / np.sqrt(x + 1)).is_near((1 + x) ** -0.5)
    assert np.maximum(x, y).is_near(np.maximum(y, x))
    assert not np.subtract(x, y).is_near(y - x)


def test_nothing_is_cancelled(atoms: Atoms) -> None:
    x = named(atoms, "x")
    assert not (x - x).is_near(atoms.number(0))
    assert not (x / x).is_near(atoms.number(1))


@pytest.mark.parametrize(
    "function", [scalars.hard_swish, scalars.gelu, scalars.mish, scalars.softsign, scalars.reciprocal, scalars.swish]
)
def test_functions_of_bodies_run_on_forms(atoms: Atoms, function: Any) -> None:
    made = [np.asarray(function(named(atoms, name))).item() for name in ("x", "x", "y")]
    assert made[0].is_near(made[1])
    assert not made[0].is_near(made[2])


def test_constants_are_computed(atoms: Atoms) -> None:
    c = atoms.number(Coefficient(("i",), np.array([4.0, 9.0])))
    assert np.sqrt(c).is_near(atoms.number(Coefficient(("i",), np.array([2.0, 3.0]))))
    assert not c.is_near(atoms.number(4.0))


def test_what_is_no_form_is_refused(atoms: Atoms) -> None:
    x = named(atoms, "x")
    for function in (lambda: x + np.ones(3), lambda: x.mean((-1,)), lambda: np.concatenate([x, x])):
        with pytest.raises(UnformedError):
            function()
