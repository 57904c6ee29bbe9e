"""What tinygrad and JAX state in their tests about integer expressions with symbols, beside our bounds.

`bounds.json` has the facts of ``TestSymbolic`` in ``test/null/test_uop_symbolic.py`` of tinygrad at a9069c17, and of
``DimExprTest`` in ``tests/shape_poly_test.py`` of JAX at cec06d11.  A fact of tinygrad has the name of the test, the
expression, the least and greatest value of each symbol, and the bounds.  With "<" the fact is about ``expression < 0``,
and the bounds are those of a truth value.  A fact of JAX has the name of the test, the expression in sizes of at least
1, what is assumed, and the bounds; None is unbounded.

Both round quotients down, as we do.  They also divide by negative numbers, which we refuse: ``x // -c`` is written
``-x // c`` and ``x % -c`` is ``-(-x % c)``, and facts about symbols that may be negative are marked as refused.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

import symlayout as sl

FACTS: dict[str, list[Any]] = json.loads(Path(__file__).with_name("bounds.json").read_text())
FAR = 10**6
JAX_SIZES = {1: 60, 2: 24, 3: 10, 4: 6, 5: 4}  # of each of so many symbols


@pytest.mark.sample(60)
@pytest.mark.parametrize("number", range(len(FACTS["tinygrad"])))
def test_bounds_are_exact_where_tinygrad_states_some(number: int) -> None:
    _, text, ranges, (kind, least, greatest), *refused = FACTS["tinygrad"][number]
    dims = {name: sl.dim(name, *ends) for name, ends in ranges.items()}
    written = eval(text, {"max": sympy.Max, "min": sympy.Min, **dims})
    if refused:
        with pytest.raises(sl.ShapeError, match=r"divides by|no sizes are left"):
            sl.tensor((written + FAR,))
        return
    low, high = sl.tensor((written + FAR,)).bounds()[0]
    assert low is not None
    assert high is not None
    bounds = low - FAR, high - FAR
    if kind == "<":
        assert (int(bounds[1] < 0), int(bounds[0] < 0)) == (least, greatest)
    elif (exact := _enumerated(text, ranges)) is not None:
        assert bounds == exact
        assert least <= exact[0] <= exact[1] <= greatest
    else:
        assert bounds == (least, greatest)


def _enumerated(text: str, ranges: dict[str, tuple[int, int]]) -> tuple[int, int] | None:
    """Return the least and the greatest value; None where there are too many points."""
    axes = [np.arange(low, high + 1) for low, high in ranges.values()]
    if np.prod([len(axis) for axis in axes]) > 1 << 20:
        return None
    values = np.asarray(
        eval(text, {"max": np.maximum, "min": np.minimum}, dict(zip(ranges, np.meshgrid(*axes), strict=True)))
    )
    return int(values.min()), int(values.max())


@pytest.mark.sample(60)
@pytest.mark.parametrize("number", range(len(FACTS["jax"])))
def test_bounds_are_those_that_jax_states_or_nearer(number: int) -> None:
    _, text, given, (least, greatest) = FACTS["jax"][number]
    names = sorted(set(re.findall(r"[A-Za-z_]\w*", " ".join([text, *given]))) - {"max", "min"})
    found = []
    for sign in (1, -1):
        t = sl.tensor(f"max({FAR} + {sign}*({text}), 0), {', '.join(f'{name} >= 1' for name in names)}")
        low = (sl.assume(t, ", ".join(given)) if given else t).bounds()[0][0]
        found.append(None if low is None or low <= 0 else sign * (low - FAR))
    low, high = found
    assert least is None or (low is not None and low >= least)
    assert greatest is None or (high is not None and high <= greatest)
    for point in itertools.product(range(1, JAX_SIZES[len(names)] + 1), repeat=len(names)):
        known = {"max": max, "min": min, **dict(zip(names, point, strict=True))}
        if all(eval(relation, known) for relation in given):
            try:
                value = eval(text, known)
            except ZeroDivisionError:  # JAX's expression has no value there
                continue
            assert low is None or low <= value, known
            assert high is None or value <= high, known
