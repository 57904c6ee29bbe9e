"""`take` of long lists of constant indices, which a table in the kernel holds: chains, proofs, properties, C."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.run.lower import lower
from symlayout_codegen.ir.nest import simulate
from symlayout_codegen.ir.statements import Entry, walk
from symlayout_codegen.passes.schedule import schedule
from tests.support.loop_interpreter import run

RANDOM = np.random.default_rng(5)
X = sl.tensor("N, C", name="x")
SIXTY, BITS = sl.tensor("N, 60", name="x"), sl.tensor("N, 64", name="x")
DATA = np.arange(40 * 6, dtype="f4").reshape(40, 6)
ROWS: list[int] = RANDOM.integers(0, 40, 60).tolist()
BOTH_ENDS: list[int] = RANDOM.integers(-40, 40, 60).tolist()
ORDER: list[int] = RANDOM.permutation(60).tolist()
GRID: list[list[int]] = RANDOM.integers(0, 6, (6, 9)).tolist()
TAKEN = DATA[ROWS]

CHAINS: dict[str, tuple[Callable[[sl.Tensor], sl.Tensor], np.ndarray[Any, Any]]] = {
    "rows": (lambda x: sl.take(x, ROWS, 0), TAKEN),
    "from both ends": (lambda x: sl.take(x, BOTH_ENDS, 0), DATA[BOTH_ENDS]),
    "from the end": (lambda x: sl.take(x, [-1 - k for k in ROWS], 0), DATA[[-1 - k for k in ROWS]]),
    "two axes of indices": (lambda x: sl.take(x, GRID, 1), DATA.take(GRID, 1)),
    "all elements": (lambda x: sl.take(x, ROWS), DATA.take(ROWS)),
    "take of take": (lambda x: sl.take(sl.take(x, ROWS, 0), ORDER, 0), TAKEN[ORDER]),
    "both axes": (lambda x: sl.take(sl.take(x, ROWS, 0), GRID, 1), TAKEN.take(GRID, 1)),
    "transposed": (lambda x: sl.transpose(sl.take(x, ROWS, 0)), TAKEN.T),
    "reversed and cut": (lambda x: sl.flip(sl.take(x, ROWS, 0), 0)[2:-3:2], TAKEN[::-1][2:-3:2]),
    "padded": (lambda x: sl.pad(sl.take(x, ROWS, 0), ((2, 3), (1, 0))), np.pad(TAKEN, ((2, 3), (1, 0)))),
    "padded, in blocks": (
        lambda x: sl.reshape(sl.pad(sl.ravel(sl.take(x, ROWS, 0)), ((7, 5),)), (-1, 4)),
        np.pad(TAKEN.ravel(), (7, 5)).reshape(-1, 4),
    ),
    "of a pad": (lambda x: sl.take(sl.pad(x, ((2, 3), (1, 0))), ROWS, 0), np.pad(DATA, ((2, 3), (1, 0)))[ROWS]),
    "reshaped": (lambda x: sl.reshape(sl.take(x, ROWS, 0), (5, -1)), TAKEN.reshape(5, -1)),
    "of a ravel": (lambda x: sl.take(sl.ravel(sl.take(x, ROWS, 0)), ORDER), TAKEN.ravel()[ORDER]),
    "beside another": (lambda x: sl.concatenate([sl.take(x, ROWS, 0), x]), np.concatenate([TAKEN, DATA])),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", CHAINS)
@pytest.mark.parametrize("sizes", ["for all sizes", "for one size"])
def test_interpreter_and_kernel_read_what_numpy_reads(name: str, sizes: str) -> None:
    chain, expected = CHAINS[name]
    t = chain(X if sizes == "for all sizes" else sl.tensor(DATA.shape, name="x"))
    assert sl.interpret(t, DATA).tolist() == expected.tolist()
    assert sl.compile(t, strict=True)(DATA).tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["padded", "padded, in blocks", "take of take", "all elements", "of a ravel"])
def test_loops_read_only_entries_of_the_table_and_do_what_the_nest_says(name: str) -> None:
    chain, _ = CHAINS[name]
    nest, _ = lower(chain(X))
    program = schedule(nest)
    assert any(isinstance(s, Entry) for s in walk(program.body))
    sizes = {"N": 40, "C": 6}
    assert run(program, sizes) == simulate(nest, sizes)


def test_a_dim_may_be_the_place_in_a_table() -> None:
    k = sl.dim("k", min=0, max=59)
    kernel = sl.compile(sl.take(sl.take(X, ROWS, 0), k, 0), strict=True)
    assert [kernel(DATA, dims={k: at}).tolist() for at in (0, 7, 59)] == TAKEN[[0, 7, 59]].tolist()


@pytest.mark.slow
def test_twenty_thousand_indices_are_one_loop() -> None:
    rows = RANDOM.integers(0, 20_000, 20_000)
    t = sl.take(X, rows.tolist(), 0)
    assert str(t.index_map).count("where") == 0
    kernel = sl.compile(t, strict=True)
    assert kernel.source.count("for (") == 1
    data = RANDOM.integers(0, 99, (20_000, 3))
    assert (kernel(data) == data[rows]).all()


def test_indices_out_of_range_are_refused_as_in_short_lists() -> None:
    for indices in ([*ROWS, 40], [*ROWS, -41]):
        with pytest.raises(sl.ShapeError) as caught:
            sl.take(sl.tensor((40,)), indices, 0)
        assert caught.value.kind == "bad_axis"
    assert str(sl.take(X, [*ROWS, 39, -50], 0).requires) == "(N >= 50,)"
    with pytest.raises(sl.ShapeError) as caught:
        sl.compile(sl.take(X, [*ROWS, 39], 0), strict=True)(DATA[:39])
    assert caught.value.kind == "bad_axis"


CLAIMS: dict[str, tuple[sl.Tensor, sl.Tensor]] = {
    "the same": (sl.take(X, ROWS, 0), sl.take(X, list(ROWS), 0)),
    "transposed": (sl.transpose(sl.take(X, ROWS, 0)), sl.take(sl.transpose(X), ROWS, 1)),
    "cut": (sl.take(X, ROWS, 0)[:, 1:], sl.take(X[:, 1:], ROWS, 0)),
    "two axes of indices": (
        sl.reshape(sl.take(X, ROWS, 0), (5, 12, -1)),
        sl.take(X, np.reshape(ROWS, (5, 12)).tolist(), 0),
    ),
    "take of take": (sl.take(sl.take(X, ROWS, 0), ORDER, 0), sl.take(X, [ROWS[k] for k in ORDER], 0)),
    "back again": (sl.take(sl.take(SIXTY, ORDER, 1), np.argsort(ORDER).tolist(), 1), SIXTY),
    "reversed": (sl.flip(sl.take(X, ROWS, 0), 0), sl.take(X, ROWS[::-1], 0)),
    "joined": (sl.concatenate([sl.take(X, ROWS[:30], 0), sl.take(X, ROWS[30:], 0)], 0), sl.take(X, ROWS, 0)),
    "each twice": (sl.take(X, np.repeat(ROWS, 2).tolist(), 0), sl.repeat(sl.take(X, ROWS, 0), 2, 0)),
    "from the end": (sl.take(SIXTY, [k - 60 for k in ORDER], 1), sl.take(SIXTY, ORDER, 1)),
    "bits in reverse": (
        sl.take(BITS, [int(f"{k:06b}"[::-1], 2) for k in range(64)], 1),
        sl.reshape(sl.transpose(sl.reshape(BITS, (-1, *[2] * 6)), (0, 6, 5, 4, 3, 2, 1)), (-1, 64)),
    ),
}


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", CLAIMS)
def test_equal_chains_are_proved_and_the_certificate_checks(name: str) -> None:
    proof = sl.prove_equal(*CLAIMS[name])
    assert proof.verdict is sl.Verdict.PROVED
    assert sl.check(proof.certificate)


def test_other_indices_are_refuted() -> None:
    for k in (0, 17, 59):
        other = [*ROWS[:k], (ROWS[k] + 1) % 40, *ROWS[k + 1 :]]
        proof = sl.prove_equal(sl.take(X, ROWS, 0), sl.take(X, other, 0))
        assert proof.verdict is sl.Verdict.REFUTED
        assert proof.witness is not None
        assert proof.witness.coord is not None
        assert proof.witness.coord[0] == k


def test_a_certificate_with_another_table_is_refused() -> None:
    from symlayout.proof.certificate.checker.schema import seal

    certificate = sl.prove_equal(*CLAIMS["transposed"]).certificate
    assert certificate is not None
    for table in ([41, *ROWS[1:]], []):
        altered = copy.deepcopy(certificate)
        entry = altered["claim"]["nodes"][1]["cases"][0]["coords"][0]
        assert entry[:2] == ["entry", ROWS]
        entry[1] = table
        altered["seal"] = seal(altered)
        assert not sl.check(altered)


def test_what_a_map_reads_is_found_out_of_its_table() -> None:
    t = sl.take(X, ROWS, 0)
    (image,) = t.index_map.image([(3, 9), None])
    assert image.box is not None
    assert (image.box[0], image.exact) == ((min(ROWS[3:9]), max(ROWS[3:9]) + 1), True)
    assert sl.is_injective(t).verdict is sl.Verdict.REFUTED
    assert sl.is_injective(sl.take(sl.tensor((60, 2)), ORDER, 0)).verdict is sl.Verdict.PROVED
    assert sl.is_surjective(sl.take(sl.tensor((60, 2)), ORDER, 0)).verdict is sl.Verdict.PROVED
    assert sl.is_surjective(sl.take(X, ORDER, 0)).verdict is sl.Verdict.REFUTED
    with pytest.raises(sl.InconclusiveError):
        sl.inverse(sl.take(X, ORDER, 0))


def test_the_adjoint_adds_what_is_read_twice() -> None:
    dy = np.arange(60 * 6, dtype="f4").reshape(60, 6)
    a = sl.adjoint(sl.take(sl.tensor((40, 6), name="x"), ROWS, 0))
    expected = np.zeros((40, 6), "f4")
    np.add.at(expected, ROWS, dy)
    assert not a.copies
    assert sl.interpret(a, dy).tolist() == expected.tolist()
    assert sl.compile(a, strict=True)(dy).tolist() == expected.tolist()


def test_a_table_is_written_by_its_first_entries() -> None:
    t = sl.take(X, [5, 3, 9, *ROWS], 0)
    assert str(t.index_map) == "(i0, i1) -> ([5, 3, 9, ...][i0], i1)"
    assert r"x[[5, 3, 9, \ldots]_{i_{0}}, i_{1}]" in t.index_map.latex()
    assert t.index_map.coords[0].subs({t.index_map.indices[0]: 0}) is not None
