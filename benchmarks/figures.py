"""Figures other than kernel times: a short program, in processes of its own, measures each."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from benchmarks.machine import PROCESSORS

ROOT = Path(__file__).parent.parent

_TIMED = """
import time
def middle(call, rounds):
    times = []
    for k in range(rounds):
        start = time.perf_counter()
        call(k)
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]
"""
# Compile another kernel first, so that all modules are imported.
_COMPILE = """
import numpy as np, symlayout as sl
sl.compile(sl.flip(sl.tensor("N")), dtype="uint8", strict=True)
y = sl.tensorflow.space_to_batch_nd(sl.tensor("N, 2*h, 2*w, C"), block_shape=[2, 2], paddings=[[1, 1], [1, 1]])
y.shape
print(middle(lambda k: sl.compile(y, dtype="float32", strict=True), 1))
"""
_COMPILE_TRANSPOSE = """
import numpy as np, symlayout as sl
sl.compile(sl.flip(sl.tensor("N")), dtype="uint8", strict=True)
y = sl.transpose(sl.tensor("N, C, h, w"), (0, 2, 3, 1))
y.shape
print(middle(lambda k: sl.compile(y, dtype="float32", strict=True), 1))
"""
_INFER = """
import symlayout as sl
tensors = [
    sl.tensor(sl.dims(f"N{k} C{k}") + (2 * sl.dim(f"h{k}"), 2 * sl.dim(f"w{k}"))) for k in range(46)
]
def chain(x, each):
    for step in (
        lambda t: sl.space_to_depth(t, 2), lambda t: sl.transpose(t, (0, 2, 3, 1)), lambda t: sl.pad(t, 1),
        lambda t: sl.flip(t, 2), lambda t: t[:, 1:-1], lambda t: sl.tile(t, (1, 1, 2, 1)),
        lambda t: sl.expand_dims(t, 0), lambda t: sl.squeeze(t, 0),
    ):
        x = step(x)
        if each:
            x.shape
    x.shape
for k in range(5):
    chain(tensors[k], EACH)
print(middle(lambda k: chain(tensors[k + 5], EACH), 41) / 8)
"""
_INFER_JAX = """
import jax, numpy as np, jax.numpy as jnp
def step(x):
    n, c, h, w = x.shape
    return jnp.transpose(jnp.reshape(x, (n, c, h // 2, 2, w // 2, 2)), (0, 3, 5, 1, 2, 4))
print(middle(lambda k: jax.eval_shape(step, jax.ShapeDtypeStruct((k + 1, 3, 8, 8), np.float32)), 41) / 2)
"""
_PROOF = """
import symlayout as sl
def proof(k):
    N, H, W, C = sl.dims(f"N{k} H{k} W{k} C{k}")
    a, b = sl.dims(f"a{k} b{k}", min=1)
    margins = [list(sl.dims(f"t{k} u{k}")), list(sl.dims(f"l{k} r{k}"))]
    x = sl.tensor((N, H, W, C))
    y = sl.batch_to_space(sl.space_to_batch(x, [a, b], margins), [a, b], margins)
    assert sl.prove_equal(y, x).verdict is sl.Verdict.PROVED
for k in range(3):
    proof(k)
print(middle(lambda k: proof(k + 3), 21))
"""
_THREADS = """
import time, numpy as np, symlayout as sl
from symlayout_codegen.jit.pool import run
x = np.ones((1, 16, SIZE, 512), "f4")
kernel = sl.compile(sl.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), 2), dtype="f4", strict=True)
out = kernel(x)
read, written = np.split(x.reshape(-1), 8), np.split(out.reshape(-1), 8)
def copy(part):
    np.copyto(written[part], read[part])
    return 0
def seconds(threads):
    start = time.perf_counter()
    CALL
    return time.perf_counter() - start
print(sorted(seconds(2) / seconds(1) for _ in range(41))[20])
"""
_KERNEL, _COPY = "kernel(x, out=out, threads=threads)", "run(copy, 8, threads)"


def _threads(mebibytes: int, call: str) -> str:
    return _THREADS.replace("SIZE", str(32 * mebibytes)).replace("CALL", call)


_IMPORT = """
import sys, numpy, time
start = time.perf_counter()
import symlayout
print(time.perf_counter() - start)
assert "sympy" not in sys.modules
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number that a program prints, and its goal.

    Attributes
    ----------
    goal : float
        In seconds if *is_time*; 0 if there is none.
    needs : str
        The peer that the program runs.
    cache : str
        Where kernels are kept: ``empty`` before each process, ``kept`` from a process before the first, or the user's.
    """

    what: str
    goal: float
    program: str
    needs: str = ""
    cache: str = ""
    processes: int = 3
    processors: int = 1
    is_time: bool = True


FIGURES = (
    Figure("shape inference of one operation of 8, symbolic", 25e-6, _INFER.replace("EACH", "False")),
    Figure("the same, and the shape as SymPy after each operation", 25e-6, _INFER.replace("EACH", "True")),
    Figure("jax.eval_shape of one operation of 2, fixed shapes", 0.0, _INFER_JAX, needs="jax"),
    Figure("round trip proved, 4-D, all symbolic, chains built anew", 2e-3, _PROOF),
    Figure("first compile", 0.25, _COMPILE, cache="empty"),
    Figure("first compile of a transpose, 2 processors", 0.25, _COMPILE_TRANSPOSE, cache="empty", processors=2),
    Figure("compile from the cache", 5e-3, _COMPILE, cache="kept"),
    *(
        Figure(f"time of 2 threads by that of 1, {what} of {size} MiB", goal, program, processors=2, is_time=False)
        for size in (16, 64)
        for what, goal, program in (
            ("space_to_depth", 1 / 1.7, _threads(size, _KERNEL)),
            ("memcpy", 0.0, _threads(size, _COPY)),
        )
    ),
    Figure("import symlayout, above numpy", 0.06, _IMPORT, processes=5),
)


def measure(figure: Figure) -> float | None:
    """Return the value of *figure*, the median over its processes; None without its peer or its processors."""
    if (figure.needs and find_spec(figure.needs) is None) or figure.processors > (os.cpu_count() or 1):
        return None
    with tempfile.TemporaryDirectory() as kept:
        times = []
        for k in range(figure.processes + 1):  # the first fills the cache, and compiles what Python imports
            folder = str(Path(kept) / str(k if figure.cache == "empty" else 0))
            times.append(_run(_TIMED + figure.program, kept, folder if figure.cache else None, figure.processors))
    return median(times[1:])


def _run(program: str, modules: str, cache: str | None, processors: int) -> float:
    paths = [str(ROOT), str(ROOT / "codegen"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "JAX_PLATFORMS": "cpu",
        "PYTHONPYCACHEPREFIX": modules,
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # modules are compiled once, as where they are installed
    if cache is not None:
        environment["SYMLAYOUT_CACHE_DIR"] = cache
    restrict = f"import os\nos.sched_setaffinity(0, {PROCESSORS[-processors:]})\n" if PROCESSORS else ""
    done = subprocess.run(
        [sys.executable, "-c", restrict + program],
        env=environment, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return float(done.stdout)
