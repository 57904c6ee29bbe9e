"""Measure a case: compare every contender's result with the interpreter's, then time the contenders in turns."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import symlayout as sl
from benchmarks.cases import Case
from symlayout.commands.peers.program import Chain, output_shape
from symlayout.commands.peers.rivals import RIVALS
from symlayout.commands.peers.task import Array, Call, Task, agrees
from symlayout.commands.timing import Spread, ratios, take_turns

OURS, SPECIALISED, MEMCPY = "symlayout", "specialised", "memcpy"


@dataclass(frozen=True, slots=True)
class Row:
    """The measured times of one case.

    Attributes
    ----------
    size : int
        The bytes of the larger side.
    seconds : dict
        The median by contender; memcpy, of *size* bytes, among them.
    ratios : dict
        Times by memcpy's, by contender; who has no such operation is absent.
    differs : tuple of str
        Contenders whose result differs from the interpreter's, which are not timed.
    """

    case: Case
    size: int
    rounds: int
    seconds: dict[str, float]
    ratios: dict[str, Spread]
    differs: tuple[str, ...]

    @property
    def ours(self) -> Spread:
        """The kernel's time divided by memcpy's."""
        return self.ratios[OURS]

    @property
    def fastest_peer(self) -> str | None:
        """The fastest contender other than symlayout's kernels."""
        peers = [name for name in self.ratios if name not in (OURS, SPECIALISED)]
        return min(peers, key=lambda name: self.ratios[name].median, default=None)


def measure(case: Case, peers: list[str], seconds: float, threads: int) -> Row:
    """Return the times of one case, measured for *seconds*."""
    tensor = _tensor(case.chain, len(case.shape), case.dims, case.dtype)
    subject = sl.adjoint(tensor) if case.adjoint else tensor
    given, made = case.shape, output_shape(case.chain, case.shape)
    if case.adjoint:
        given, made = made, given
    source = np.random.default_rng(0).integers(0, 100, given).astype(case.dtype)
    out = np.empty(made, case.dtype)
    # The extents of a cotangent need not determine those of the input, so all are given.
    dims = _dims(tensor, case.shape) if case.adjoint else {}
    expected = sl.interpret(subject, source, dims=dims)
    target = None if case.state == "fresh" else out
    task = Task(case.chain, source, target, case.shape if case.adjoint else None, threads)
    kernels = {OURS: _ours(_kernel(subject, case.dtype, threads), task, dims)}
    if case.against == "itself":
        kernels[SPECIALISED] = _ours(_kernel(subject.subs(_dims(tensor, case.shape)), case.dtype, threads), task, {})
    if wrong := [name for name, call in kernels.items() if not agrees(call, out, expected)]:
        raise AssertionError(f"the kernel is wrong: {wrong[0]}, {case}")
    calls, differs = kernels, []
    for name in peers if case.against == "peers" else []:
        try:
            call = RIVALS[name](task)
            same = agrees(call, out, expected)
        except Exception:  # each peer has errors of its own for what it lacks: an operation, a rank, an element type
            continue
        if same:
            calls[name] = call
        else:
            differs.append(name)
    larger = max(source, out, key=lambda a: a.nbytes).reshape(-1)
    spare = np.empty_like(larger)
    copy: Call = larger.copy if case.state == "fresh" else lambda: np.copyto(spare, larger)
    before = {"warm": None, "cold": _flush, "fresh": _release}[case.state]
    times = take_turns({MEMCPY: copy, **calls}, seconds, least=3, most=41, before=before)
    middles = {name: median(taken) for name, taken in times.items()}
    return Row(case, larger.nbytes, len(times[MEMCPY]), middles, ratios(times, MEMCPY), tuple(differs))


def _ours(kernel: sl.Kernel, task: Task, dims: Mapping[str, int]) -> Call:
    source, out = task.source, task.out
    if dims:
        return lambda: kernel(source, out=out, dims=dims)
    return lambda: kernel(source, out=out)


@cache
def _tensor(chain: Chain, rank: int, dims: str, dtype: str) -> sl.Tensor:
    shape: Any = dims or [sl.dim(f"n{k}") for k in range(rank)]
    result: sl.Tensor = chain(sl, sl.tensor(shape, dtype=dtype, name="x"))
    return result


@cache
def _kernel(subject: Any, dtype: str, threads: int) -> sl.Kernel:
    return sl.compile(subject, dtype=dtype, strict=True, threads=threads)


def _dims(tensor: sl.Tensor, shape: tuple[int, ...]) -> dict[str, int]:
    """Return the values of the dims at *shape*; each extent of the input is a multiple of one dim."""
    found = {}
    for extent, n in zip(tensor.leaves()[0].shape, shape, strict=True):
        (symbol,) = extent.free_symbols
        found[symbol.name] = n // int(extent.coeff(symbol))
    return found


@cache
def _junk() -> Array:
    return np.zeros(2 * _last_level_cache(), np.uint8)


def _flush() -> None:
    """Evict the operands from the caches."""
    junk = _junk()
    np.add(junk, 1, out=junk)


def _release() -> None:
    """Return free memory to the system, so that new arrays are touched for the first time."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def _last_level_cache() -> int:
    """Return the bytes of the largest cache; 32 MiB if the system does not state it."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max([int(s[:-1]) << {"K": 10, "M": 20}[s[-1]] for s in sizes if s[-1:] in ("K", "M")], default=32 << 20)
