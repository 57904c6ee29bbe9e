"""Properties of maps are proved for all sizes, or refuted by a witness that brute force confirms."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import symlayout as sl
from symlayout import Verdict
from symlayout.inverses.properties import is_injective, reads_all
from symlayout.tensors.declaration import Declared, Operand, index_map
from tests.support import oracle
from tests.support.chains import build, symbolic
from tests.support.strategies import DYNAMIC, Case, cases

N, C, H, W = sl.dims("N C H W")
B = sl.dim("b", min=1)
P, Q, S = sl.dims("p q s")
K = sl.dim("k", min=1)

YES, NO = Verdict.PROVED, Verdict.REFUTED


def leaf(*shape: Any) -> sl.Tensor:
    return sl.tensor(shape, name="x")


def focus(x: sl.Tensor) -> sl.Tensor:
    return sl.concatenate([x[..., i::2, j::2] for j in (0, 1) for i in (0, 1)], 1)


def swapped_halves(x: sl.Tensor) -> sl.Tensor:
    return sl.concatenate([x[:, C:], x[:, :C]], 1)


# a map, whether it is injective, and whether it is surjective, for all sizes
CASES: dict[str, tuple[sl.Tensor, Verdict, Verdict]] = {
    "transpose": (sl.transpose(leaf(N, C)), YES, YES),
    "flip": (sl.flip(leaf(N, C)), YES, YES),
    "reshape": (sl.reshape(leaf(H, W), [W, H]), YES, YES),
    "space_to_depth": (sl.space_to_depth(leaf(N, C, B * H, B * W), B), YES, YES),
    "space_to_batch": (sl.space_to_batch(leaf(N, H), [B], [[P, Q]]), YES, YES),
    "batch_to_space": (sl.batch_to_space(leaf(2 * N, H), [2], [[1, 0]]), YES, NO),
    "channel_shuffle": (sl.channel_shuffle(leaf(N, C), B), YES, YES),
    "pack": (sl.pack(leaf(N, C), 1, B), YES, YES),
    "pad": (sl.pad(leaf(H), [[P, 1]]), YES, YES),
    "pad with fills": (sl.pad(leaf(H, W), 1, constant_values=[[1, 2], [3, 4]]), YES, YES),
    "crop": (sl.pad(leaf(H), -1), YES, NO),
    "crop and pad": (sl.pad(leaf(H), [[-1, 1]]), YES, NO),
    "slice with a step": (leaf(H)[::2], YES, NO),
    "slice with a step back": (leaf(H)[::-3], YES, NO),
    "index": (leaf(3, N)[1], YES, NO),
    "roll": (sl.roll(leaf(H, W), [1, S], [0, 1]), YES, YES),
    "roll in row-major order": (sl.roll(leaf(H, W), S), YES, YES),
    "tile": (sl.tile(leaf(H), 2), NO, YES),
    "tile by a number that is a dim": (sl.tile(leaf(H), S), NO, NO),
    "repeat": (sl.repeat(leaf(H), 3), NO, YES),
    "broadcast_to": (sl.broadcast_to(leaf(1, H), (K, H)), NO, YES),
    "window": (sl.window(leaf(H), B), NO, YES),
    "window with steps": (sl.window(leaf(H), 3, strides=2, padding=1), NO, YES),
    "windows that do not overlap": (sl.window(leaf(3 * K), 3, strides=3), YES, YES),
    "windows with gaps": (sl.window(leaf(H), 2, strides=3), YES, NO),
    "edge": (sl.pad(leaf(H), [[P, 1]], "edge"), NO, YES),
    "reflect": (sl.pad(leaf(H), 1, "reflect"), NO, YES),
    "symmetric": (sl.pad(leaf(H), [[P, Q]], "symmetric"), NO, YES),
    "wrap": (sl.pad(leaf(H), [[P, Q]], "wrap"), NO, YES),
    "resize_nearest": (sl.resize_nearest(leaf(H), scale=2), NO, YES),
    "focus": (focus(leaf(N, C, 2 * H, 2 * W)), YES, YES),
    "swapped halves": (swapped_halves(leaf(N, 2 * C)), YES, YES),
    "one half twice": (sl.concatenate([leaf(H), leaf(H)]), NO, YES),
    "concatenate of two": (sl.concatenate([leaf(H), sl.tensor((W,), name="w")]), YES, YES),
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("name", CASES)
def test_the_verdict_is_about_all_sizes(name: str) -> None:
    t, injective, surjective = CASES[name]
    for found, verdict in ((is_injective(t), injective), (sl.is_surjective(t), surjective)):
        assert found.verdict is verdict, str(found)
        check_witness(t, found)


def numbered(t: sl.Tensor) -> tuple[np.ndarray[Any, Any], list[np.ndarray[Any, Any]]]:
    """Return the inputs of a tensor without dims, whose elements are numbered from 1000, and what it makes of them."""
    inputs, first = [], 1000
    for source in t.leaves():
        shape = tuple(int(n) for n in source.shape)
        inputs.append(np.arange(first, first + np.prod(shape, dtype=int), dtype="i4").reshape(shape))
        first += inputs[-1].size
    return sl.interpret(t, *inputs), inputs


def properties(t: sl.Tensor) -> tuple[bool, bool]:
    """Return whether a tensor without dims is injective and surjective, by looking at every element."""
    result, inputs = numbered(t)
    return truth(result[result >= 1000], sum(a.size for a in inputs))


def truth(read: np.ndarray[Any, Any], size: int) -> tuple[bool, bool]:
    different = len(np.unique(read))
    return different == read.size, different == size


def check_witness(t: sl.Tensor, found: sl.Finding) -> None:
    """Assert that a refutation is right at its witness."""
    if found.verdict is not NO:
        assert found.dims is None
        return
    assert found.dims is not None
    result, inputs = numbered(t.subs(found.dims))
    source, element, *places = found.witness
    value = inputs[[leaf.name for leaf in t.leaves()].index(source)][element]
    if places:
        first, second = places
        assert first != second
        assert result[first] == result[second] == value
    else:
        assert value not in result


@pytest.mark.slow
def test_random_chains_of_fixed_shapes_are_decided() -> None:
    counts: Counter[tuple[bool, bool]] = Counter()

    @settings(deadline=None, derandomize=True, max_examples=500, suppress_health_check=list(HealthCheck))
    @given(cases(most_steps=5))
    def run(case: Case) -> None:
        t = build(sl.tensor(case.shape, name="x"), case.steps)
        numbers = np.arange(1000, 1000 + np.prod(case.shape, dtype=int), dtype="i4").reshape(case.shape)
        made = np.frombuffer(oracle.run(oracle.grid(numbers), case.steps).data(), "i4")
        expected = truth(made[made >= 1000], numbers.size)
        found = [is_injective(t, budget=1), sl.is_surjective(t, budget=1)]
        assert [f.verdict for f in found] == [YES if holds else NO for holds in expected]
        for f in found:
            check_witness(t, f)
        counts[expected] += 1

    run()
    assert len(counts) == 4, counts


@pytest.mark.slow
def test_random_chains_of_symbolic_shapes_are_never_decided_wrongly() -> None:
    counts: Counter[Verdict] = Counter()

    @settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=list(HealthCheck))
    @given(cases(most_steps=2, only=DYNAMIC))
    def run(case: Case) -> None:
        dims: dict[str, int] = {}
        steps = [(name, symbolic(k, attributes, dims)) for k, (name, attributes) in enumerate(case.steps)]
        t = build(sl.tensor([sl.dim(f"n{k}") for k in range(len(case.shape))], name="x"), steps)
        found = [is_injective(t, budget=60), sl.is_surjective(t, budget=60)]
        points = [{**dims, **{f"n{k}": n for k, n in enumerate(case.shape)}}]
        rnd = random.Random(case.seed)
        points += [{d.name: rnd.randint(d.nearest(), d.nearest() + 3) for d in t.facts.dims.values()} for _ in range(8)]
        for f in found:
            counts[f.verdict] += 1
            check_witness(t, f)
        for point in points:
            try:
                bound = t.subs(point)
            except sl.ShapeError:
                continue
            for f, holds in zip(found, properties(bound), strict=True):
                assert f.verdict is not YES or holds, (str(f), point)

    run()
    assert counts[YES] > 60
    assert counts[NO] > 3


@pytest.mark.parametrize("ask", [is_injective, sl.is_surjective, sl.is_identity, reads_all])
def test_a_finding_has_no_truth_value(ask: Callable[[sl.Tensor], sl.Finding]) -> None:
    with pytest.raises(TypeError, match="three values"):
        bool(ask(leaf(H)))


def test_reads_all_is_about_the_inputs_that_are_named() -> None:
    w = sl.tensor((N, W), name="w")
    t = sl.concatenate([leaf(N, H + 1)[:, 1:], w], 1)
    assert reads_all(t, "w").verdict is YES
    refuted = reads_all(t, "x")
    assert refuted.verdict is NO
    assert refuted.witness == ("x", (0, 0))
    assert sl.is_surjective(t).verdict is NO
    with pytest.raises(sl.ShapeError) as caught:
        reads_all(t, "y")
    assert caught.value.kind == "source"


def test_the_identity_is_told_from_what_only_has_its_shape() -> None:
    assert sl.is_identity(sl.flip(sl.flip(leaf(H, W), 1), 1)).verdict is YES
    assert sl.is_identity(sl.roll(leaf(H), H)).verdict is YES
    refuted = sl.is_identity(sl.flip(leaf(H)))
    assert (refuted.verdict, refuted.dims, refuted.witness) == (NO, {H: 2}, ((0,), ("x", (1,))))
    assert str(refuted) == "REFUTED: H = 2: at (0,) the sides read x[1] and x[0]"
    refuted = sl.is_identity(sl.pad(leaf(H), 1))
    assert refuted.witness == ((2,), (0,))


def test_an_element_that_is_read_twice_is_named() -> None:
    refuted = is_injective(sl.tile(leaf(H), 2))
    assert str(refuted) == "REFUTED: H = 1: x[0] is read at (0,) and at (1,)"
    assert refuted.explain() == str(refuted)
    assert str(sl.is_surjective(leaf(H)[1:])) == "REFUTED: H = 1: x[0] is read nowhere"
    assert str(is_injective(leaf(H)[1:])) == "PROVED: no element is read twice, for all sizes"


def test_few_sizes_do_not_prove() -> None:
    t = leaf(H)[:1000]
    found = sl.is_surjective(t, budget=10)
    assert (found.verdict, found.searched, found.witness) == (Verdict.UNKNOWN, 10, ())
    assert str(found) == "UNKNOWN: every element is read (10 sizes searched, none says no)"
    assert sl.is_surjective(t).dims == {H: 1001}


def test_reads_that_are_not_shown_to_be_inside_use_up_the_budget() -> None:
    """An operation from outside the package that reads beyond its input has no size to evaluate."""

    @sl.operation
    def beyond(x: Operand) -> Declared:
        (n,) = x.shape
        return index_map((n,), lambda i: (i + 1,))

    found = is_injective(beyond(sl.tensor("n", name="x")), budget=7)
    assert (found.verdict, found.searched) == (sl.Verdict.UNKNOWN, 7)


@pytest.mark.parametrize(
    "function", [is_injective, sl.is_surjective, reads_all, sl.is_identity, sl.inverse, sl.interpret, sl.reasons]
)
def test_what_is_no_tensor(function: Callable[..., object]) -> None:
    with pytest.raises(TypeError, match=f"{function.__name__} takes a symlayout tensor, not int"):
        function(3)
    with pytest.raises(TypeError, match="prove_equal takes a symlayout tensor, not int"):
        sl.prove_equal(sl.tensor("N"), 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="solve_shape takes a symlayout tensor, not int"):
        sl.solve_shape(3, (1,))  # type: ignore[arg-type]


TYPED: dict[str, Callable[[sl.Tensor], sl.Tensor]] = {
    "flip": sl.flip,
    "pad": lambda x: sl.pad(x, 1),
    "edge": lambda x: sl.pad(x, 1, mode="edge"),
    "crop": lambda x: x[1:],
    "concatenate": lambda x: sl.concatenate([x, sl.tensor((W,), dtype=x.dtype, name="w")]),
    "tile": lambda x: sl.tile(x, 2),
}


@pytest.mark.parametrize("dtype", ["float32", "bool", "S3", [("re", "i4"), ("im", "i4")]], ids=str)
@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("ask", [sl.is_injective, sl.is_surjective, sl.reads_all])
def test_the_element_type_makes_no_difference(name: str, ask: Callable[[sl.Tensor], sl.Finding], dtype: Any) -> None:
    typed, untyped = (ask(TYPED[name](sl.tensor((N,), dtype=d, name="x"))) for d in (dtype, None))
    assert str(typed) == str(untyped)
    assert typed.verdict is not Verdict.UNKNOWN


@pytest.mark.parametrize("ask", [sl.is_injective, sl.is_surjective, sl.reads_all, sl.inverse])
def test_a_quotient_of_a_digit_that_is_always_0(ask: Callable[[sl.Tensor], Any]) -> None:
    """All copies of one element are reflected: the digit of the input has one value, and its step is a dim."""
    t = sl.pad(sl.repeat(leaf(1), B, 0), (0, 3), mode="reflect")
    try:
        found = ask(t)
    except sl.InconclusiveError:
        return
    assert ask is sl.inverse or found.verdict is not (YES if ask is sl.is_injective else NO)


SWIZZLES: dict[str, tuple[tuple[Any, ...], Callable[..., tuple[Any, ...]]]] = {
    "parity": ((N, 2), lambda i, j: (i, (i + j) % 2)),
    "a difference": ((N, 4), lambda i, j: (i, (i - j) % 4)),
    "a multiple": ((N, 8), lambda i, j: (i, (5 * i + 3 * j + 1) % 8)),
    "XOR of two bits": ((N, 4, 4), lambda n, i, j: (n, i, 2 * ((i // 2 + j // 2) % 2) + (i % 2 + j % 2) % 2)),
    "of a row-major number": ((16 * N,), lambda i: (i // 4 * 4 + (i // 4 + i) % 4,)),
    "one after the other": ((N, 3, 3), lambda n, i, j: (n, (n + i) % 3, (i + j) % 3)),
    "bits reversed": ((8 * N,), lambda i: (i // 8 * 8 + 4 * (i % 2) + 2 * (i // 2 % 2) + i // 4 % 2,)),
}


@pytest.mark.parametrize("name", SWIZZLES)
def test_a_remainder_determines_a_digit(name: str) -> None:
    shape, f = SWIZZLES[name]
    t = sl.index_map(sl.tensor(shape, name="x"), shape, f)
    assert sl.is_injective(t).verdict is Verdict.PROVED
    assert sl.is_surjective(t).verdict is Verdict.PROVED
    found = sl.inverse(t)
    assert found.holds == "both"
    for n in (1, 2, 5):
        sizes = [int(e) for e in t.subs({N: n}).shape]
        data = np.arange(math.prod(sizes)).reshape(sizes)
        assert np.array_equal(sl.interpret(found(sl.tensor(shape, name="y")), sl.interpret(t, data)), data)


@pytest.mark.parametrize(
    "f",
    [lambda i, j: (i, (i + 2 * j) % 4), lambda i, j: (i, (i + j) % 3), lambda i, j: (i, i % 4)],
    ids=["a factor of the modulus", "more values than the modulus", "no other digit"],
)
def test_a_remainder_that_does_not_determine_its_digit_reads_an_element_twice(f: Callable[..., Any]) -> None:
    t = sl.index_map(sl.tensor((N, 4), name="x"), (N, 4), f)
    assert sl.is_injective(t).verdict is Verdict.REFUTED
    with pytest.raises(sl.ShapeError) as caught:
        sl.inverse(t)
    assert caught.value.kind == "no_inverse"
