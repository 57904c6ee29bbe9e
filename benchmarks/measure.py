"""Measure a case: compare every contender's result with the interpreter's, then time the contenders in turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from statistics import median
from typing import Any

import numpy as np

import symlayout as sl
from benchmarks.arena import Arena, Place, bytes_of, places
from benchmarks.cases import Case
from benchmarks.peer import Peer
from benchmarks.states import before, clock, last_level_cache
from symlayout.commands.peers.program import Chain, output_shape
from symlayout.commands.peers.task import Call, agrees
from symlayout.commands.peers.timing import Spread, ratios, repeatedly, take_turns

MEMCPY = "memcpy"
_OURS, _SPECIALISED = "symlayout ", "specialised "


def ours(march: str) -> str:
    """Return the name, as a contender, of the kernel for an instruction set.

    >>> ours("x86-64-v3"), ours("native")
    ('symlayout v3', 'symlayout native')
    """
    return _OURS + march.removeprefix("x86-64-")


def specialised(name: str) -> str:
    """Return the name, as a contender, of the kernel for one shape beside the kernel *name* for all.

    >>> specialised("symlayout v3")
    'specialised v3'
    """
    return _SPECIALISED + name.removeprefix(_OURS)


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
        Peers whose result differs from the interpreter's, which are not timed.
    died : dict
        How the process of a peer ended, by peer.
    """

    case: Case
    size: int
    rounds: int
    seconds: dict[str, float]
    ratios: dict[str, Spread]
    differs: tuple[str, ...] = ()
    died: dict[str, str] = field(default_factory=dict)

    @property
    def kernels(self) -> list[str]:
        """The names of the kernels for all shapes, one for each instruction set, in the order of measurement."""
        return [name for name in self.ratios if name.startswith(_OURS)]

    @property
    def fastest_peer(self) -> str | None:
        """The fastest contender other than symlayout's kernels."""
        peers = [name for name in self.ratios if not name.startswith((_OURS, _SPECIALISED))]
        return min(peers, key=lambda name: self.ratios[name].median, default=None)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the arrays of a case lie."""

    source: Place
    out: Place
    expected: Place
    spare: Place
    junk: Place


def placed(case: Case) -> Places:
    """Return where the arrays of *case* lie."""
    given, made = case.shape, output_shape(case.chain, case.shape)
    if case.adjoint:
        given, made = made, given
    junk = 2 * last_level_cache() if case.state == "cold" else 0
    return Places(*places([
        (given, case.dtype), (made, case.dtype), (made, case.dtype), ((case.size,), "uint8"), ((junk,), "uint8"),
    ]))  # fmt: skip


def arena(cases: Sequence[Case]) -> Arena:
    """Return memory for any of *cases*."""
    return Arena(max(bytes_of([placed(case).junk]) for case in cases))


def measure(
    case: Case, memory: Arena, peers: Sequence[Peer], marches: Sequence[str], seconds: float, threads: int
) -> Row:
    """Return the times of one case, measured for *seconds*."""
    tensor = _tensor(case.chain, len(case.shape), case.dims, case.dtype)
    subject = sl.adjoint(tensor) if case.adjoint else tensor
    where = placed(case)
    source, out, expected, spare, junk = map(
        memory.array, (where.source, where.out, where.expected, where.spare, where.junk)
    )
    source[...] = np.random.default_rng(0).integers(0, 100, source.shape)
    # The extents of a cotangent need not determine those of the input, so all are given.
    dims = _dims(tensor, case.shape) if case.adjoint else {}
    expected[...] = sl.interpret(subject, source, dims=dims)
    target = None if case.state == "fresh" else out
    kernels: dict[str, Call] = {}
    for march in marches:
        kernels[ours(march)] = _call(_kernel(subject, case.dtype, threads, march), source, target, dims)
        if case.against == "itself":
            alone = _kernel(subject.subs(_dims(tensor, case.shape)), case.dtype, threads, march)
            kernels[specialised(ours(march))] = _call(alone, source, target, {})
    if wrong := [name for name, call in kernels.items() if not agrees(call, out, expected)]:
        raise AssertionError(f"the kernel is wrong: {wrong[0]}, {case}")
    larger = max(source, out, key=lambda a: a.nbytes).reshape(-1).view(np.uint8)
    copy: Call = larger.copy if case.state == "fresh" else lambda: np.copyto(spare, larger)
    prepare = before(case.state, junk)
    samplers = {name: repeatedly(call, prepare, clock(threads)) for name, call in {MEMCPY: copy, **kernels}.items()}
    differs = []
    beside = peers if case.against == "peers" else []
    for peer in beside:
        same = peer.prepare(case, where.source, where.out, where.expected, where.junk)
        if same:
            samplers[peer.name] = peer.sample
        elif same is not None:
            differs.append(peer.name)
    times = take_turns(samplers, seconds, least=3, most=41, single=prepare is not None)
    died = {peer.name: peer.died for peer in beside if peer.died is not None}
    middles = {name: median(taken) for name, taken in times.items()}
    return Row(case, larger.nbytes, len(times[MEMCPY]), middles, ratios(times, MEMCPY), tuple(differs), died)


def _call(kernel: sl.Kernel, source: Any, out: Any, dims: Mapping[str, int]) -> Call:
    if dims:
        return lambda: kernel(source, out=out, dims=dims)
    return lambda: kernel(source, out=out)


@cache
def _tensor(chain: Chain, rank: int, dims: str, dtype: str) -> sl.Tensor:
    shape: Any = dims or [sl.dim(f"n{k}") for k in range(rank)]
    result: sl.Tensor = chain(sl, sl.tensor(shape, dtype=dtype, name="x"))
    return result


@cache
def _kernel(subject: Any, dtype: str, threads: int, march: str) -> sl.Kernel:
    return sl.compile(subject, dtype=dtype, strict=True, threads=threads, march=march)


def _dims(tensor: sl.Tensor, shape: tuple[int, ...]) -> dict[str, int]:
    """Return the values of the dims at *shape*; each extent of the input is a multiple of one dim."""
    found = {}
    for extent, n in zip(tensor.leaves()[0].shape, shape, strict=True):
        (symbol,) = extent.free_symbols
        found[symbol.name] = n // int(extent.coeff(symbol))
    return found
