"""Index maps print the shortest form, the same in every process, and that form means what is read."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout.maps.compose_chain import normalise
from symlayout.maps.composed_map import index_map_of
from tests.language.test_to_text import ceil_div, check_latex
from tests.support import oracle
from tests.support.chains import build
from tests.support.effort import examples
from tests.support.paths import ROOT
from tests.support.strategies import STEPS, Case, cases

N, C, H, W = sl.dims("N C H W")
B = sl.dim("b", min=1)
P, Q, S = sl.dims("p q s")


def leaf(*shape: Any) -> sl.Tensor:
    return sl.tensor(shape, name="x")


def halves(x: sl.Tensor) -> sl.Tensor:
    return sl.concatenate([x[:, :C], x[:, C:]], 1)


PRINTED: dict[str, tuple[sl.Tensor, str]] = {
    "space_to_depth": (
        sl.space_to_depth(leaf(N, C, B * H, B * W), B),
        "(i0, i1, i2, i3) -> (i0, i1 % C, i2*b + i1//(C*b), i3*b + (i1//C % b))",
    ),
    "depth_to_space": (
        sl.depth_to_space(leaf(N, C, H), B),
        "(i0, i1, i2) -> (i0, (i2 % b)*(C/b) + i1, i2//b)",
    ),
    "channel_shuffle": (
        sl.channel_shuffle(leaf(N, C), B),
        "(i0, i1) -> (i0, (i1 % b)*(C/b) + i1//b)",
    ),
    "pad": (sl.pad(leaf(H), 1, constant_values=5), "(i0) -> (i0 - 1) if 0 <= i0 - 1 < H else 5"),
    "fills": (
        sl.pad(leaf(H), 1, constant_values=[[1, 2]]),
        "(i0) -> (i0 - 1) where 0 <= i0 - 1 < H; 1 where 0 <= i0 < 1; 2 where 0 <= i0 - H - 1 < 1",
    ),
    "edge": (sl.pad(leaf(H), [[P, 1]], "edge"), "(i0) -> (min(max(0, i0 - p), H - 1))"),
    "edge of two axes": (
        sl.pad(leaf(H, W), [[1, 2], [P, Q]], "edge"),
        "(i0, i1) -> (min(max(0, i0 - 1), H - 1), min(max(0, i1 - p), W - 1))",
    ),
    "reflect": (
        sl.pad(leaf(H), 1, "reflect"),
        "(i0) -> (min((i0 - 1) % (2*H - 2), 2*H - ((i0 - 1) % (2*H - 2)) - 2))",
    ),
    "wrap": (sl.pad(leaf(H), [[P, Q]], "wrap"), "(i0) -> ((i0 - p) % H)"),
    "roll": (sl.roll(leaf(8), 3), "(i0) -> ((i0 - 3) % 8)"),
    "roll of a number that is a dim": (sl.roll(leaf(H, W), S, 1), "(i0, i1) -> (i0, (i1 - s) % W)"),
    "concatenate of halves": (halves(leaf(N, 2 * C)), "(i0, i1) -> (i0, i1)"),
    "stack of rows": (sl.stack([leaf(2, N)[0], leaf(2, N)[1]]), "(i0, i1) -> (i0, i1)"),
    "concatenate of two": (
        sl.concatenate([leaf(N), sl.tensor((H,), name="w")]),
        "(i0) -> x(i0) where 0 <= i0 < N; w(i0 - N) where 0 <= i0 - N < H",
    ),
    "slice": (leaf(H)[5:1:-3], "(i0) -> (min(5, H - 1) - 3*i0)"),
    "reshape": (sl.reshape(leaf(H, W), [W, H]), "(i0, i1) -> ((i0*H + i1)//W, (i0*H + i1) % W)"),
    "names that are taken": (leaf(sl.dim("i0"))[1:], "(o0) -> (o0 + 1)"),
}


@pytest.mark.parametrize("name", PRINTED)
def test_a_map_prints_its_shortest_form(name: str) -> None:
    t, text = PRINTED[name]
    assert str(t.index_map) == str(index_map_of(t)) == text


def read_by_text(text: str, coordinate: tuple[int, ...]) -> Any:
    """Return what the printed map reads: a coordinate, or a fill."""
    names, _, pieces = text.partition(" -> ")
    values: dict[str, Any] = dict(zip(names.strip("()").split(", "), coordinate, strict=True)) if coordinate else {}
    for piece in pieces.split("; "):
        read, _, where = piece.partition(" where ")
        values["ceil_div"] = ceil_div
        if not where or eval(where, values):
            return eval(read, values)
    raise AssertionError(f"no piece of {text} is about {coordinate}")


@settings(deadline=None, derandomize=True, max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(cases(most_steps=3, only=[name for name in STEPS if name != "pack"]))
def test_the_printed_form_means_what_is_read(case: Case) -> None:
    numbers = np.arange(1000, 1000 + np.prod(case.shape, dtype=int), dtype="i4").reshape(case.shape)
    expected = oracle.run(oracle.grid(numbers), case.steps)
    text = str(build(sl.tensor(case.shape, name="x"), case.steps).index_map)
    for coordinate in list(oracle.box(expected.shape))[::3]:
        value = int(np.frombuffer(expected.cells[coordinate], "i4")[0])
        read = read_by_text(text, coordinate)
        if isinstance(read, tuple) or (len(case.shape) == 1 and value >= 1000):
            assert numbers[read] == value, (text, coordinate)
        else:
            assert read == value, (text, coordinate)


@settings(deadline=None, derandomize=True, max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(cases(most_steps=3, only=[name for name in STEPS if name not in ("pack", "pad")]))
def test_the_lambda_for_tvm_means_what_is_read(case: Case) -> None:
    numbers = np.arange(1000, 1000 + np.prod(case.shape, dtype=int), dtype="i4").reshape(case.shape)
    t = build(sl.tensor(case.shape, name="x"), case.steps)
    try:
        text = t.index_map.to_tvm()
    except sl.FormatError:  # several pieces, fills or tables
        return
    module = SimpleNamespace(min=min, max=max, ceildiv=ceil_div, const=lambda n, _: n)
    f = eval(text, {"T": module})
    expected = oracle.run(oracle.grid(numbers), case.steps)
    for coordinate in list(oracle.box(expected.shape))[::3]:
        value = int(np.frombuffer(expected.cells[coordinate], "i4")[0])
        assert numbers[tuple(f(*coordinate))] == value, (text, coordinate)


@pytest.mark.parametrize("name", PRINTED)
def test_latex_is_balanced(name: str) -> None:
    check_latex(PRINTED[name][0].index_map.latex())


def test_latex_has_cases_for_pieces_and_fills() -> None:
    assert sl.pad(leaf(H), 1).index_map.latex() == (
        r"(i_{0}) \mapsto \begin{cases}x[i_{0} - 1] & \text{if } 0 \le i_{0} - 1 < H \\ 0 & \text{otherwise}\end{cases}"
    )
    assert sl.space_to_depth(leaf(N, C, B * H), B).index_map._repr_latex_() == (
        r"$\displaystyle (i_{0}, i_{1}, i_{2}) \mapsto "
        r"x[i_{0}, i_{1} \bmod C, i_{2} b + \left\lfloor \frac{i_{1}}{C} \right\rfloor]$"
    )


@pytest.mark.slow
def test_text_is_the_same_in_every_process() -> None:
    script = (
        "import symlayout as sl\n"
        "from tests.maps.test_composed_map import PRINTED\n"
        "for t, _ in PRINTED.values():\n"
        "    print(t.index_map, t.index_map.latex(), t.index_map.coords)\n"
        "print(sl.inverse(PRINTED['space_to_depth'][0]).explain())\n"
    )
    root = ROOT
    printed = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{root}{os.pathsep}{root / 'codegen'}"}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=600
        )
        printed.add(done.stdout)
    assert len(printed) == 1
    assert len(printed.pop().splitlines()) > len(PRINTED)


# ---------------------------------------------------------------------- composition


@settings(deadline=None, derandomize=True, max_examples=examples(100), suppress_health_check=list(HealthCheck))
@given(cases(most_steps=4))
def test_composed_maps_read_what_the_chain_reads(case: Case) -> None:
    at = len(case.steps) // 2
    first = build(sl.tensor(case.shape, name="x"), case.steps[:at])
    then = build(sl.tensor(first.shape, name="y"), case.steps[at:])
    composed = first.index_map.compose(then.index_map)
    assert str(composed) == str(build(first, case.steps[at:]).index_map)


def test_a_chain_without_cases_is_one_read() -> None:
    x = sl.tensor("N, H", name="x")
    (read,) = normalise(sl.pad(sl.flip(sl.pad(sl.transpose(x), 2)), 1))
    assert read.leaf is not None
    assert len(read.guards) == 4


def test_self_comes_after_other() -> None:
    turned, flipped = sl.transpose(leaf(3, 5)), sl.flip(sl.tensor((5, 3), name="y"), 0)
    assert str(turned.index_map.compose(flipped.index_map)) == "(i0, i1) -> (i1, 4 - i0)"


def test_dims_of_the_outer_map_take_the_values_of_the_inner_domain() -> None:
    inner = sl.space_to_depth(leaf(N, C, 2 * H), 2)
    outer = sl.pad(sl.tensor("A, B, C", name="y"), [(0, 0), (P, P), (0, 0)])
    composed = inner.index_map.compose(outer.index_map)
    assert composed.domain == (N, 2 * C + 2 * P, H)
    assert str(composed) == str(sl.pad(inner, [(0, 0), (P, P), (0, 0)]).index_map)


def test_a_shape_that_no_dim_gives_is_required() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.flip(leaf(5, 3)).index_map.compose(sl.flip(leaf(5, 4)).index_map)
    assert caught.value.kind == "size_mismatch"
    with pytest.raises(sl.ShapeError) as caught:
        sl.flip(leaf(5, 3)).index_map.compose(sl.flip(leaf(15)).index_map)
    assert caught.value.kind == "rank"
    with pytest.raises(sl.ShapeError) as caught:
        sl.flip(leaf(5)).index_map.compose(sl.flip(sl.tensor((sl.dim("K", min=6),), name="y")).index_map)
    assert caught.value.kind == "infeasible"


def test_one_of_several_inputs_is_named() -> None:
    joined = sl.concatenate([leaf(N), sl.tensor((H,), name="w")]).index_map
    flipped = sl.flip(sl.tensor((C,), name="z")).index_map
    assert str(flipped.compose(joined, "w")) == (
        "(i0) -> x(i0) where 0 <= i0 < N; z(C + N - i0 - 1) where 0 <= i0 - N < C"
    )
    for source in (None, "v"):
        with pytest.raises(sl.ShapeError) as caught:
            flipped.compose(joined, source)
        assert caught.value.kind == "source"


def test_a_map_is_written_for_tvm_if_it_has_one_piece_without_fills() -> None:
    x = sl.tensor("N, if", name="x")
    assert sl.transpose(x, (1, 0)).index_map.to_tvm() == "lambda i0, i1: [i1, i0]"
    assert sl.flip(x, 1).index_map.to_tvm() == "lambda i0, i1: [i0, if_ - i1 - 1]"
    for t in (sl.pad(x, [(1, 0), (0, 0)]), sl.concatenate([x, sl.tensor("M, if", name="y")], 0)):
        with pytest.raises(sl.FormatError):
            t.index_map.to_tvm()
