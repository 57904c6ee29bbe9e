"""The instruction set of kernels: what is chosen, what is refused, and that each level computes the same."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.commands import doctor, subject
from symlayout.commands.output.report import ExitStatus
from symlayout_codegen import compile_nest
from symlayout_codegen.jit import build, instruction_set, shared_objects
from symlayout_codegen.jit.build import kernel_flags
from symlayout_codegen.jit.cache_identity import cache_key
from symlayout_codegen.jit.instruction_set import LEVELS, NATIVE, VARIABLE, available, choose, cpu_flags
from tests.support import nests

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(shared_objects, "_objects", {})
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.fixture
def avx2(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the processor have AVX2 and no AVX-512, as far as checks go."""
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: LEVELS["x86-64-v3"] | {"sse2"})
    monkeypatch.setattr("platform.machine", lambda: "x86_64")


@pytest.mark.usefixtures("avx2")
def test_the_argument_is_taken_then_the_variable_then_native(monkeypatch: pytest.MonkeyPatch) -> None:
    assert choose() == choose("native") == NATIVE
    monkeypatch.setenv(VARIABLE, "x86-64-v2")
    assert choose() == "x86-64-v2"
    assert choose("v3") == choose("x86-64-v3") == "x86-64-v3"
    assert choose("native") == NATIVE
    monkeypatch.setenv(VARIABLE, "")
    assert choose() == NATIVE
    assert available() == ["x86-64-v2", "x86-64-v3"]


@pytest.mark.usefixtures("avx2")
def test_a_level_that_the_processor_lacks_is_refused_by_name_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "x86-64-v4")
    with pytest.raises(sl.ProcessorError) as caught:
        sl.compile(sl.flip(sl.tensor("N")))
    assert str(caught.value) == (
        "SYMLAYOUT_MARCH='x86-64-v4': this processor lacks avx512bw, avx512cd, avx512dq, avx512f, avx512vl\n"
        "  help: use 'x86-64-v3' or 'native'"
    )
    with pytest.raises(sl.ProcessorError, match=r"^march='v4': this processor lacks avx512bw"):
        compile_nest(nests.transpose(), 4, march="v4")


@pytest.mark.parametrize("value", ["x86-64-v5", "v1", "haswell", "native -O0", "", "x86-64-v3;", ["v3"]], ids=str)
def test_an_unknown_instruction_set_is_refused(value: object) -> None:
    with pytest.raises(sl.ProcessorError) as caught:
        sl.compile(sl.flip(sl.tensor("N")), march=value)  # type: ignore[arg-type]
    assert str(caught.value) == (
        f"march={value!r} is no instruction set\n  known: x86-64-v2, x86-64-v3, x86-64-v4, native"
    )


def test_a_processor_that_is_not_known_has_native_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: frozenset[str]())
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    with pytest.raises(sl.ProcessorError, match="does not say which instructions"):
        choose("v2")
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(sl.ProcessorError, match=r"this processor is aarch64\n  help: use 'native'"):
        choose("v2")
    assert available() == []
    assert choose() == NATIVE


@pytest.mark.usefixtures("avx2")
def test_the_level_is_a_flag_after_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CFLAGS", "-march=skylake-avx512 -O2")
    assert kernel_flags("x86-64-v2")[-3:] == ["-march=skylake-avx512", "-O2", "-march=x86-64-v2"]
    assert kernel_flags()[-2:] == ["-march=skylake-avx512", "-O2"]
    assert "-march=native" in kernel_flags()


def test_a_library_in_a_shared_cache_is_for_processors_that_have_its_instructions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    machines = {
        "old": LEVELS["x86-64-v2"],
        "new": LEVELS["x86-64-v3"],
        "newest": LEVELS["x86-64-v4"],
        "other": LEVELS["x86-64-v4"] | {"avx512_vbmi"},
    }
    found: dict[str, dict[str, str]] = {}
    for name, flags in machines.items():
        monkeypatch.setattr(instruction_set, "cpu_flags", lambda flags=flags: flags)
        for march in [NATIVE, *available()]:
            key = cache_key("identity", ("/bin/sh",), kernel_flags(march), march)
            found.setdefault(march, {})[name] = key
    assert len(set(found[NATIVE].values())) == len(machines)
    for march in LEVELS:
        assert len(set(found[march].values())) == 1
        assert all(LEVELS[march] <= machines[name] for name in found[march])
    keys = [key for by_name in found.values() for key in set(by_name.values())]
    assert len(set(keys)) == len(keys)


def test_a_machine_that_does_not_say_what_it_has_shares_no_native_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: frozenset[str]())
    texts = set()
    for node in ("one", "two"):
        monkeypatch.setattr("platform.node", lambda node=node: node)
        texts.add(instruction_set.processors(NATIVE))
    assert len(texts) == 2


@pytest.mark.slow
@pytest.mark.skipif(not available(), reason="the levels are those of x86-64, on a system that says what it has")
def test_a_kernel_says_for_what_it_was_compiled_and_each_level_is_a_library_of_its_own(tmp_path: Path) -> None:
    kernels = [compile_nest(nests.flip(), 2, march=march) for march in [NATIVE, *available()]]
    assert [kernel.march for kernel in kernels] == [NATIVE, *available()]
    assert len({kernel.key for kernel in kernels}) == len(kernels)
    assert {path.name for path in (tmp_path / "cache").iterdir()} == {kernel.key for kernel in kernels}
    assert len({kernel.source for kernel in kernels}) == 1


@pytest.mark.slow
@pytest.mark.skipif("x86-64-v2" not in available(), reason="no x86-64-v2 here")
def test_a_library_has_no_instructions_of_a_higher_level(tmp_path: Path) -> None:
    kernel = compile_nest(nests.transpose(), 4, march="v2")
    library = tmp_path / "cache" / kernel.key / "kernel.so"
    listing = subprocess.run(["objdump", "-d", library], capture_output=True, text=True, check=False)
    if listing.returncode:
        pytest.skip("no objdump")
    assert "%xmm" in listing.stdout
    assert "%ymm" not in listing.stdout
    assert "%zmm" not in listing.stdout


@pytest.mark.skipif("x86-64-v3" not in available(), reason="this processor has no AVX2")
def test_flags_of_the_user_name_no_instructions_that_the_processor_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    t = sl.flip(sl.tensor("N"), 0)
    real = instruction_set.cpu_flags()
    monkeypatch.setenv("CFLAGS", "-O1 -mavx2 -msse4.2")
    assert sl.compile(t, dtype="u1", march="v3")(np.array([1, 2], "u1")).tolist() == [2, 1]
    with pytest.raises(sl.ProcessorError) as caught:
        sl.compile(t, dtype="u1", march="v2")
    assert str(caught.value) == (
        "CFLAGS='-O1 -mavx2 -msse4.2': x86-64-v2 lacks avx\n  help: name fewer instructions in CFLAGS"
    )
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: real - {"avx2"})
    monkeypatch.setenv("CFLAGS", "-O1 -mno-avx512f -mavx2")
    with pytest.raises(sl.ProcessorError, match="this processor lacks avx2"):
        sl.compile(t, dtype="u1")


def test_flags_that_name_no_instructions_are_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert instruction_set.guard(NATIVE, ["-O1", "-DX=-m"]) == ""
    assert "#ifdef __AVX512VL__" in instruction_set.guard("x86-64-v3", ["-mtune=native"])
    monkeypatch.setattr(instruction_set, "cpu_flags", lambda: frozenset[str]())
    assert instruction_set.guard(NATIVE, ["-mavx2"]) == ""


def test_the_doctor_shows_the_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    found = doctor.run(None)  # type: ignore[arg-type]  # it has no arguments
    assert found.data["instructions"] == {"march": NATIVE, "processor": available(), "problem": None}
    monkeypatch.setenv(VARIABLE, "x86-64-v9")
    refused = doctor.run(None)  # type: ignore[arg-type]
    assert refused.status == ExitStatus.FAILS
    assert "SYMLAYOUT_MARCH='x86-64-v9' is no instruction set" in refused.data["instructions"]["problem"]
    assert refused.data["compiler"]["works"]


CHAINS: list[tuple[str, list[str]]] = [
    ("3, 5*a, b", ["transpose(0,2,1)"]),
    ("a, b, 4*c", ["transpose(1,2,0)", "flip(1)"]),
    ("a, b, c", ["pad([(1,0),(2,1),(1,2)])"]),
    ("a, 2*b, 2*c", ["transpose(2,0,1)", "reshape(2*c, a*2*b)"]),
    ("a, 2*b, 2*c, 3", ["space_to_batch([2,2], [[1,1],[0,2]])"]),
    ("a, 2*b, 2*c, 2*d", ["space_to_batch([2,2,2], [[1,1],[0,2],[0,0]])"]),
    ("a, 3", ["transpose(1,0)"]),
]
EXTENTS = [{"a": 1, "b": 64, "c": 17, "d": 5}, {"a": 9, "b": 5, "c": 40, "d": 1}, {"a": 130, "b": 2, "c": 3, "d": 8}]


def numbered(shape: tuple[int, ...], size: int) -> Array:
    """Return an array of *shape* with random elements of *size* bytes."""
    raw = np.random.default_rng(size).integers(0, 256, (*shape, size), np.uint8)
    return raw.view(f"u{size}" if size in (1, 2, 4, 8) else f"V{size}").reshape(shape)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("march", "size"), [*itertools.product(LEVELS, (1, 2, 4, 8)), ("x86-64-v3", 3), ("x86-64-v3", 16)]
)
def test_every_element_size_computes_the_same_at_every_level(
    march: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if march not in available():
        missing = ", ".join(sorted(LEVELS[march] - cpu_flags()))
        pytest.skip(f"this processor has no {march}: it lacks {missing or 'x86-64'}")
    monkeypatch.setenv("CFLAGS", "-O1")  # a third of the time of -O3 to compile
    for words in CHAINS:
        (t,) = subject.build([words[0], *words[1]])
        kernel = sl.compile(t, dtype=numbered((1,), size).dtype, strict=True, march=march)
        (leaf,) = t.leaves()
        for values in EXTENTS:
            dims = {name: values[name] for name in leaf.facts.dims}
            x = numbered(tuple(int(e) for e in leaf.subs(dims).shape), size)
            assert kernel(x).tobytes() == sl.interpret(t, x).tobytes(), f"{words} of {x.shape}"


@pytest.mark.slow
@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("march", LEVELS)
def test_streams_are_right_wherever_the_output_begins_in_a_cache_line(
    march: str, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if march not in available():
        pytest.skip(f"this processor has no {march}")
    monkeypatch.setenv("CFLAGS", "-O1")
    memory = np.zeros(1 << 16, np.uint8)
    begin = -memory.ctypes.data % 64
    whole, rows = sl.tensor(f"2, B, {k}"), sl.tensor(f"2, {k}, B")
    for t, size in itertools.product((sl.transpose(whole, (0, 2, 1)), sl.transpose(rows, (0, 2, 1))), (1, 4)):
        kernel = sl.compile(t, dtype=f"u{size}", strict=True, march=march)
        for columns, offset in itertools.product((255, 256, 257, 320), range(0, 64, 20)):
            (leaf,) = t.leaves()
            x = numbered(tuple(int(e) for e in leaf.subs({"B": columns}).shape), size)
            expected = sl.interpret(t, x)
            part = memory[begin + offset : begin + offset + x.nbytes + 64]
            part[:] = 0xA5
            kernel(x, out=part[: x.nbytes].view(x.dtype).reshape(expected.shape))
            assert part[: x.nbytes].tobytes() == expected.tobytes(), f"{size}, {columns}, {offset}"
            assert set(part[x.nbytes :].tolist()) == {0xA5}
