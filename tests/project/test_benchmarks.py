"""The benchmarks: chains written once mean the same to everyone, turns are fair, and the report says what was lost."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import symlayout as sl
from benchmarks import __main__ as command
from benchmarks import operations
from benchmarks.arena import Arena, bytes_of, places
from benchmarks.cases import Case, cases
from benchmarks.goals import goals
from benchmarks.hptt import BuildError, Hptt, build
from benchmarks.measure import Row, arena, measure
from benchmarks.peer import TRIES, Peer
from benchmarks.plot import plot
from benchmarks.report import Run, as_json, as_markdown
from benchmarks.results import Kept, ResumeError, as_data
from benchmarks.states import clock
from symlayout.commands.peers import timing
from symlayout.commands.peers.arrays import numpy
from symlayout.commands.peers.program import Chain, UnsupportedError, output_shape, trace
from symlayout.commands.peers.task import Task, agrees
from symlayout.commands.peers.timing import ContenderGoneError, Sampler, Spread, ratios, repeatedly, take_turns
from symlayout_codegen.jit.instruction_set import NATIVE

CHAINS: list[tuple[Chain, tuple[int, ...]]] = [
    (lambda op, x: op.space_to_batch(x, (2, 3), ((1, 1), (0, 2))), (2, 4, 7, 3)),
    (lambda op, x: op.space_to_batch(x, (1, 2, 2), ((0, 0), (1, 0), (0, 1))), (1, 2, 3, 5)),
    (lambda op, x: op.batch_to_space(x, (2, 3), ((1, 0), (0, 2))), (12, 2, 3, 5)),
    (lambda op, x: op.space_to_depth(x, 2, "depth_first"), (2, 3, 4, 6)),
    (lambda op, x: op.space_to_depth(x, 3, "blocks_first", 3), (1, 3, 6, 2)),
    (lambda op, x: op.space_to_depth(x, 2, "blocks_first"), (1, 3, 2, 4, 6)),
    (lambda op, x: op.depth_to_space(x, 2, "depth_first"), (2, 12, 2, 3)),
    (lambda op, x: op.depth_to_space(x, 2, "blocks_first", 3), (1, 3, 2, 8)),
    (lambda op, x: op.depth_to_space(x, 2, "depth_first"), (1, 16, 2, 3, 2)),
    (lambda op, x: op.window(x, (2, 3), (1, 2)), (2, 4, 5)),
    (lambda op, x: op.concatenate([x[:, 1:], op.flip(x, 1)], axis=1), (3, 4)),
    (lambda op, x: op.roll(x, (1, -2), (0, 1)), (3, 4)),
    (lambda op, x: op.repeat(op.tile(x, (2, 1)), 3, 1), (3, 4)),
    (lambda op, x: op.pad(x, ((1, 2), (2, 1)), mode="reflect"), (3, 4)),
    (lambda op, x: op.reshape(op.transpose(x, (1, 0)), (2, -1)), (3, 4)),
]
FEW = {"reshape", "transpose", "slice", "concatenate", "pad", "broadcast_to", "tile"}


@pytest.mark.parametrize(("chain", "shape"), CHAINS, ids=lambda value: str(value) if isinstance(value, tuple) else "")
def test_a_chain_means_the_same_to_numpy(chain: Chain, shape: tuple[int, ...]) -> None:
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    t = chain(sl, sl.tensor(shape))
    expected = sl.interpret(t, x)
    assert output_shape(chain, shape) == expected.shape == t.shape
    out = np.empty_like(expected)
    assert agrees(numpy(Task(chain, x, out)), out, expected)
    assert agrees(numpy(Task(chain, x)), out, expected)


@pytest.mark.parametrize(("chain", "shape"), CHAINS, ids=lambda value: str(value) if isinstance(value, tuple) else "")
def test_few_verbs_are_enough(chain: Chain, shape: tuple[int, ...]) -> None:
    moves = trace(chain, shape, dict.fromkeys(FEW, lambda *_: True))
    assert {move.verb for move in moves} <= FEW
    assert moves[-1].shape == output_shape(chain, shape)


def test_what_a_library_lacks_is_said() -> None:
    with pytest.raises(UnsupportedError, match="pad"):
        trace(lambda op, x: op.pad(x, ((1, 1),)), (3,), {"reshape": lambda *_: True})


def test_a_result_that_differs_is_noticed() -> None:
    out, expected = np.zeros(3, "f4"), np.array([0.0, -0.0, 1.0], "f4")
    assert agrees(lambda: expected.copy(), out, expected)
    assert not agrees(lambda: np.array([0.0, 0.0, 1.0], "f4"), out, expected)
    assert not agrees(lambda: expected.astype("f8"), out, expected)
    assert not agrees(lambda: None, out, expected)  # nothing was written to out


def test_calls_take_turns_and_slow_ones_fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    now = 0.0
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now))

    def slow() -> None:
        nonlocal now
        order.append("slow")
        now += 5e-3

    calls = {"base": lambda: order.append("base"), "slow": slow, "fast": lambda: order.append("fast")}
    samplers = {name: repeatedly(call) for name, call in calls.items()}
    times = take_turns(samplers, 9e-3, least=2, most=5, single=True)
    assert order == ["base", "slow", "fast"] * 2 + ["base", "fast"] * 3
    assert {name: len(taken) for name, taken in times.items()} == {"base": 5, "slow": 2, "fast": 5}


def test_a_contender_that_ends_leaves_the_others_their_turns() -> None:
    turns: list[str] = []

    def sampler(name: str, most: int) -> Sampler:
        def sample(repeats: int) -> float:
            if turns.count(name) == most:
                raise ContenderGoneError(name)
            turns.append(name)
            return 1.0

        return sample

    samplers = {"base": sampler("base", 99), "at once": sampler("at once", 0), "later": sampler("later", 2)}
    times = take_turns({**samplers, "other": sampler("other", 99)}, 1.0, least=3, most=3)
    assert times == {"base": [1.0] * 3, "other": [1.0] * 3}


def test_one_thread_is_timed_by_the_processor_so_that_waiting_does_not_count() -> None:
    assert repeatedly(lambda: time.sleep(0.05), clock=clock(1))(1) < repeatedly(
        lambda: time.sleep(0.05), clock=clock(2)
    )(1)


def test_ratios_are_of_the_same_round() -> None:
    found = ratios({"base": [1.0, 2.0, 4.0, 100.0], "slow": [3.0, 6.0, 12.0]}, "base")
    assert found == {"slow": Spread(3.0, 3.0, 3.0)}


def test_every_case_has_its_own_name() -> None:
    names = [f"{c.group}: {c}" for c in cases()]
    assert len(set(names)) == len(names) > 300
    assert 30 < sum(c.quick for c in cases()) < 120


CALL = next(case for case in cases() if case.group == "calls on 3 KB")
FAKES = "tests.support.peers"


def measured(case: Case, *names: str) -> Row:
    """Return the row of *case* beside the peers *names*."""
    memory = arena([case])
    peers = [Peer(name, memory, 1) for name in names]
    try:
        return measure(case, memory, peers, [NATIVE], 0.0, 1)
    finally:
        for peer in peers:
            peer.end()


@pytest.fixture(scope="module")
def row() -> Row:
    """Return a small case, measured beside NumPy and peers that fail."""
    return measured(CALL, "numpy", *(f"{FAKES}:{name}" for name in ("lacks", "wrong", "aborts", "exits_later")))


@pytest.mark.slow
def test_a_case_is_measured_beside_memcpy_and_numpy(row: Row) -> None:
    assert row.size == CALL.size
    assert row.seconds.keys() == {"memcpy", "symlayout native", "numpy"}
    assert row.kernels == ["symlayout native"]
    assert row.fastest_peer == "numpy"


@pytest.mark.slow
def test_a_peer_that_is_wrong_or_dies_is_not_timed(row: Row) -> None:
    assert row.differs == (f"{FAKES}:wrong",)
    assert row.died == {
        f"{FAKES}:aborts": "SIGABRT: LLVM ERROR: inconsistency in registered CommandLine options",
        f"{FAKES}:exits_later": "exit status 3",
    }


@pytest.mark.slow
def test_a_peer_starts_again_after_it_died_but_not_for_ever() -> None:
    memory = arena([CALL])
    peer = Peer(f"{FAKES}:aborts", memory, 1)
    ends = []
    for _ in range(TRIES + 1):
        row = measure(CALL, memory, [peer], [NATIVE], 0.0, 1)
        ends.append(row.died[peer.name].partition(":")[0])
    assert ends == ["SIGABRT"] * TRIES + ["not started again"]


def test_what_a_process_writes_into_the_arena_another_reads() -> None:
    (place,) = places([((3,), "int32")])
    one = Arena(bytes_of([place]))
    other = Arena(one.size, one.descriptor)
    one.array(place)[:] = [1, 2, 3]
    assert other.array(place).tolist() == [1, 2, 3]


def test_results_are_kept_and_a_run_goes_on_from_them(row: Row, tmp_path: Path) -> None:
    file, about = tmp_path / "run.jsonl", {"command": "python -m benchmarks"}
    Kept(file, about, resume=False).add(row)
    with file.open("a") as half:
        half.write('{"group": "calls')  # the run was killed while it wrote
    again = Kept(file, about, resume=True)
    assert list(again.rows(list(cases()))) == [CALL.label]
    assert as_data(again.rows([CALL])[CALL.label]) == as_data(row)
    again.add(row)
    assert len(file.read_text().splitlines()) == 3
    with pytest.raises(ResumeError, match=r"the command of the earlier run was 'python -m benchmarks', now it is 'x'"):
        Kept(file, {"command": "x"}, resume=True)
    with pytest.raises(ResumeError, match="no earlier run"):
        Kept(tmp_path / "other.jsonl", about, resume=True)


@pytest.mark.slow
def test_the_command_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "BUILD", tmp_path)
    monkeypatch.setattr("benchmarks.machine.restrict_to", lambda processors: None)
    words = ["--rows", "calls on 3 KB", "--peers", f"numpy,{FAKES}:aborts", "--march", "native", "--seconds", "0.001"]
    calls = iter([True, False])

    def interrupted(*given: Any) -> Row:
        if not next(calls, True):
            raise KeyboardInterrupt
        return measure(*given)

    monkeypatch.setattr("benchmarks.__main__.measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        command.main(words)
    printed = capsys.readouterr().out
    assert "3 rows, about" in printed
    assert "\n1/3 (" in printed
    assert command.main([*words, "--resume"]) == 0
    printed = capsys.readouterr().out
    assert "2 rows, about" in printed
    assert "| calls on 3 KB | 3 |" in printed
    assert printed.count(f"{FAKES}:aborts died: calls on 3 KB: ") == 3


def test_each_operation_of_onnx_is_timed_on_tensors_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    names = {name for name, *_ in operations.rows()}
    assert {"onnx:Conv", "onnx:MatMul", "onnx:Softmax", "onnx:Concat"} < names
    assert len(names) > 180
    made: list[sl.Tensor] = []
    inputs, applied = operations.call_of(("onnx:Concat", "N, C; N, D", "axis=1"))
    for _ in range(2):
        xs = inputs()
        made += xs
        assert applied(xs).shape == (sl.dim("N"), sl.dim("C") + sl.dim("D"))
    assert len({id(x.facts) for x in made}) == 4
    assert operations.python_calls(lambda: abs((lambda: -2)())) == 1
    assert operations.main(["--rows", "onnx:(Relu|Conv)$", "--rounds", "3"]) == 0
    printed = capsys.readouterr().out
    assert "| onnx:Relu | N, C |  |" in printed
    assert "2 operations: median" in printed


def test_the_report_lists_lost_rows_first(row: Row) -> None:
    case = replace(CALL, group="transposes, powers of two")
    row = replace(row, case=case)
    won = replace(row, ratios={"symlayout native": Spread(1.0, 1.0, 1.0), "numpy": Spread(2.0, 2.0, 2.0)})
    lost = replace(row, ratios={"symlayout native": Spread(4.0, 5.0, 6.0), "numpy": Spread(1.0, 2.0, 3.0)})
    run = Run("python -m benchmarks", "a machine", "versions", ["numpy", f"{FAKES}:aborts"], 1, 2.0, (0.0, 1.0))
    text = as_markdown(run, [won, lost], {})
    _, _, after = text.partition("## Rows where a peer is faster than symlayout native: ")
    assert f"| {case.label} |" in after.partition("\n## ")[0]
    assert "5.00 (4.00-6.00) | 2.00 (1.00-3.00)" in after.partition("\n## ")[0]
    assert "missed in 1" in text
    assert f"| {case.label} | {FAKES}:aborts | SIGABRT: LLVM ERROR" in text
    assert f"| {case.label} | {FAKES}:wrong |" in text
    powers = next(goal for goal in goals([lost], "symlayout native") if "transpose of power" in goal.what)
    assert (powers.measured, powers.met, powers.missed) == (5.0, False, (lost,))
    data = json.loads(as_json(run, [won, lost], {}))
    assert [r["by_memcpy"]["symlayout native"][1] for r in data["rows"]][1] == 5.0
    assert len(ElementTree.fromstring(plot([won, lost])).findall(".//{*}circle")) == 2 + 4 + 2


# ---------------------------------------------------------------------- HPTT

HEADER = """
#include <memory>
#include <vector>

namespace hptt {

enum SelectionMethod { MEASURE };

template <typename T> struct Transpose {
    std::vector<int> perm, shape;
    const T *source;
    T *out;

    void execute()
    {
        const size_t rank = perm.size();
        std::vector<int> at(rank, 0);
        for (T *to = out;; ++to) {
            std::vector<int> from(rank);
            for (size_t k = 0; k < rank; ++k)
                from[perm[k]] = at[k];
            size_t offset = 0;
            for (size_t k = 0; k < rank; ++k)
                offset = offset * shape[k] + from[k];
            *to = source[offset] + (shape[rank - 1] == 30);
            size_t axis = rank;
            while (axis > 0 && ++at[axis - 1] == shape[perm[axis - 1]])
                at[--axis] = 0;
            if (axis == 0)
                return;
        }
    }
};

template <typename T>
std::shared_ptr<Transpose<T>> create_plan(const int *perm, int rank, T, const T *source, const int *shape, const int *,
                                          T, T *out, const int *, SelectionMethod, int, const int *, bool)
{
    auto made = std::make_shared<Transpose<T>>();
    *made = {{perm, perm + rank}, {shape, shape + rank}, source, out};
    return made;
}

}
"""


@pytest.fixture(scope="module")
def hptt(tmp_path_factory: pytest.TempPathFactory) -> Hptt:
    """Return a library with HPTT's interface, which is wrong where the last extent is 30."""
    if shutil.which("g++") is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("hptt")
    for file, text in {
        "include/hptt.h": HEADER,
        "src/empty.cpp": "",
        "benchmark/benchmark.sh": "   ./benchmark.exe 3 1 0 2 4 5 6  | grep GiB >> tmp.dat \n"
        "./benchmark.exe 2 1 0 30 7 | grep GiB >> tmp.dat\n",
    }.items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(text)
    return build(folder, folder / "built")


@pytest.mark.slow
def test_the_cases_of_hptt_are_those_of_its_checkout_row_major(hptt: Hptt) -> None:
    """There ``size[perm[k]]`` is the extent of axis k of the result, and the first axis is contiguous."""
    assert [(case.label, case.shape) for case in hptt.cases()] == [
        ("transposes, HPTT's own benchmark: transpose 021, float32 6x5x4", (6, 5, 4)),
        ("transposes, HPTT's own benchmark: transpose 10, float32 7x30", (7, 30)),
    ]


@pytest.mark.slow
def test_hptt_is_timed_where_it_is_right_and_shown_where_it_is_wrong(hptt: Hptt) -> None:
    right, wrong = hptt.cases()
    memory = arena([right, wrong])
    peer = Peer("hptt", memory, 1, hptt)
    rows = [measure(case, memory, [peer], [NATIVE], 0.0, 1) for case in (right, wrong, CALL)]
    peer.end()
    assert ["hptt" in row.ratios for row in rows] == [True, False, False]
    assert [row.differs for row in rows] == [(), ("hptt",), ()]


def test_a_folder_that_is_no_checkout_of_hptt_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--hptt", str(tmp_path)])
    assert f"{tmp_path} is no checkout of HPTT" in capsys.readouterr().err


@pytest.mark.slow
def test_a_checkout_that_does_not_compile_says_what_the_compiler_says(hptt: Hptt, tmp_path: Path) -> None:
    shutil.copytree(hptt.folder / "include", tmp_path / "include")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "broken.cpp").write_text("int x = ;\n")
    with pytest.raises(BuildError, match=r"broken\.cpp"):
        build(tmp_path, tmp_path)
