"""Figures that are not times of kernels: each is measured by a short program in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

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
# Another kernel is compiled first, so that all modules are imported.
_COMPILE = """
import numpy as np, symlayout as sl
sl.compile(sl.flip(sl.tensor("N")), dtype="uint8", strict=True)
y = sl.tensorflow.space_to_batch_nd(sl.tensor("N, 2*h, 2*w, C"), block_shape=[2, 2], paddings=[[1, 1], [1, 1]])
y.shape
print(middle(lambda k: sl.compile(y, dtype="float32", strict=True), 1))
"""
_INFER = """
import symlayout as sl
def chain(k):
    x = sl.tensor(sl.dims(f"N{k} C{k}") + (2 * sl.dim(f"h{k}"), 2 * sl.dim(f"w{k}")))
    for step in (
        lambda t: sl.space_to_depth(t, 2), lambda t: sl.transpose(t, (0, 2, 3, 1)), lambda t: sl.pad(t, 1),
        lambda t: sl.flip(t, 2), lambda t: t[:, 1:-1], lambda t: sl.tile(t, (1, 1, 2, 1)),
        lambda t: sl.expand_dims(t, 0), lambda t: sl.squeeze(t, 0),
    ):
        x = step(x)
        x.shape
for k in range(5):
    chain(k)
print(middle(lambda k: chain(k + 5), 41) / 8)
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
_IMPORT = """
import sys, numpy, time
start = time.perf_counter()
import symlayout
print(time.perf_counter() - start)
assert "sympy" not in sys.modules
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A time, the program that prints it, and what it may be; *beside* are peers' programs."""

    what: str
    goal: float
    program: str
    needs: str = ""
    cache: str = ""
    processes: int = 3


FIGURES = (
    Figure("shape inference of one operation, symbolic", 25e-6, _INFER),
    Figure("the same, jax.eval_shape", 0.0, _INFER_JAX, needs="jax"),
    Figure("round trip proved, 4-D, all symbolic, chains built anew", 2e-3, _PROOF),
    Figure("first compile", 0.25, _COMPILE, cache="empty"),
    Figure("compile from the cache", 5e-3, _COMPILE, cache="kept"),
    Figure("import symlayout, above numpy", 0.06, _IMPORT, processes=5),
)


def measure(figure: Figure) -> float | None:
    """Return the seconds of *figure*, the median over its processes; None where a peer is absent."""
    if figure.needs and find_spec(figure.needs) is None:
        return None
    with tempfile.TemporaryDirectory() as kept:
        count = figure.processes + (figure.cache == "kept")  # the first fills the cache
        times = []
        for k in range(count):
            folder = str(Path(kept) / str(k if figure.cache == "empty" else 0))
            times.append(_run(_TIMED + figure.program, folder if figure.cache else None))
    return median(times[1:] if figure.cache == "kept" else times)


def _run(program: str, cache: str | None) -> float:
    paths = [str(ROOT), str(ROOT / "codegen"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu"}
    if cache is not None:
        environment["SYMLAYOUT_CACHE_DIR"] = cache
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    return float(done.stdout)
