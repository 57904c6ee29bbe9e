"""A library is loaded for as long as something can call it: a process that compiles without end stays small."""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from symlayout_codegen import compile_nest
from symlayout_codegen.jit import build, cache
from symlayout_codegen.jit.kernel import CompiledKernel
from symlayout_codegen.jit.load import Function, foreign_functions, load_functions
from tests.promises.forked import forked
from tests.support import nests

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the maps of a process are read from /proc")
ANSWER = {"answer": "int32_t(*)(int32_t)"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMLAYOUT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(build, "_recent", deque(maxlen=3))


def loaded() -> int:
    """Return how many libraries of ours the process has in memory."""
    gc.collect()
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return sum("memfd:symlayout" in line and " r-xp " in line for line in lines)


def library() -> bytes:
    """Return a library with a function that adds 1."""
    texts = {cache.SOURCE: "#include <stdint.h>\nint32_t answer(int32_t n) { return n + 1; }"}
    build.build(texts[cache.SOURCE], lambda: texts, ANSWER)
    (entry,) = cache.cache_root().iterdir()
    return (entry / cache.LIBRARY).read_bytes()


def test_a_library_without_functions_is_unloaded() -> None:
    content = library()
    before = loaded()
    for n in range(100):
        assert load_functions(content, ANSWER)["answer"](n) == n + 1
    assert loaded() == before


def test_each_function_alone_keeps_its_library() -> None:
    content = library()
    before = loaded()
    kept: list[Function] = [load_functions(content, ANSWER)["answer"] for _ in range(10)]
    assert loaded() == before + 10
    assert [each(1) for each in kept] == [2] * 10
    kept.clear()
    assert loaded() == before


def reversed_by(kernel: CompiledKernel) -> bool:
    x, out = np.arange(6, dtype=np.int16).reshape(2, 3), np.empty((2, 3), np.int16)
    kernel((2, 3), [x], out)
    return bool(np.array_equal(out, x[::-1, ::-1]))


def test_a_process_that_compiles_many_kernels_keeps_few_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    before = loaded()
    for k in range(8):
        monkeypatch.setenv("CFLAGS", f"-O0 -DNUMBER={k}")
        assert reversed_by(compile_nest(nests.flip(), 2))
    assert loaded() <= before + 3


def test_a_kernel_keeps_what_it_calls_by_its_address() -> None:
    kernel = compile_nest(nests.flip(), 2)
    single = kernel.at_addresses((2, 3), None, 2)
    build._recent.clear()
    assert loaded() >= 1
    assert reversed_by(kernel)
    del kernel
    gc.collect()
    x, out = np.arange(6, dtype=np.int16).reshape(2, 3), np.empty((2, 3), np.int16)
    assert single(x.ctypes.data, out.ctypes.data) == 0
    assert np.array_equal(out, x[::-1, ::-1])


def test_a_kernel_that_is_compiled_again_while_it_lives_is_loaded_once() -> None:
    kernels = [compile_nest(nests.flip(), 2)]
    before = loaded()
    build._recent.clear()
    kernels.append(compile_nest(nests.flip(), 2))
    assert loaded() == before
    assert all(map(reversed_by, kernels))


def test_threads_that_call_do_not_lose_their_code() -> None:
    content = library()
    before = loaded()

    def work() -> None:
        failed = []

        def one() -> None:
            for n in range(300):
                if load_functions(content, ANSWER)["answer"](n) != n + 1:
                    failed.append(n)

        threads = [threading.Thread(target=one) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed
        load_functions(content, ANSWER)
        assert loaded() <= before + 3

    assert forked(work, 300) == 0  # a process of its own: a call of code that is gone ends it


def test_a_function_with_a_library_is_still_a_function_of_cffi() -> None:
    ffi = foreign_functions()
    answer = load_functions(library(), ANSWER)["answer"]
    assert ffi.typeof(answer) is ffi.typeof(ANSWER["answer"])
