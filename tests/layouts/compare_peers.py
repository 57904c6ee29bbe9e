"""The algebra beside pycute, tensor-layouts and CuTe's Python, on the operands of their own tests.

    python -m tests.layouts.compare_peers DIR... [--symbols | --cute-dsl]

DIR has tests of a peer: ``test/python/pycute`` of CUTLASS, ``tests`` of tensor-layouts, or
``examples/python/CuTeDSL/cute/notebooks`` of CUTLASS.  They run once; each call of an operation is recorded with what
the peer returned.  Then symlayout is asked the same.  An answer is equal if it is the same function of integers.  If
not, both answers are compared with the operation's definition, by enumeration.  ``--symbols`` asks again with one size
or stride as a symbol, or two, and judges the answers at sizes.  ``--cute-dsl`` asks CuTe's Python the calls of the
other peer, and compares with it.

pycute is part of ``nvidia-cutlass``; the ``pycute`` of PyPI is another project.  A peer that is absent is skipped.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import symlayout as sl
from tests.layouts import cute_dsl_peer
from tests.layouts.brute_layouts import value
from tests.layouts.brute_symbols import Judge, Modes, holds, modes_at, refuted, spread, tops

NAMES = {
    "coalesce": "coalesce", "composition": "composition", "compose": "composition", "complement": "complement",
    "right_inverse": "right_inverse", "left_inverse": "left_inverse", "logical_divide": "logical_divide",
    "zipped_divide": "zipped_divide", "tiled_divide": "tiled_divide", "flat_divide": "flat_divide",
    "logical_product": "logical_product", "zipped_product": "zipped_product", "tiled_product": "tiled_product",
    "flat_product": "flat_product", "blocked_product": "blocked_product", "raked_product": "raked_product",
    "filter": "filter", "upcast": "upcast", "downcast": "downcast", "nullspace": "nullspace",
}  # fmt: skip
"""The operations of the peers, and their names here."""
PEERS = {
    "pycute": ("pycute", "pycute.layout"),
    "tensor_layouts": ("tensor_layouts", "tensor_layouts.layouts"),
    "cutlass.cute": ("cutlass.cute", "cutlass.cute.core"),
}
_PLACES = ("loc", "ip")  # arguments of CuTe's Python that say where code is made
VERDICTS = {True: "right", False: "wrong", None: "not judged"}
_MOST = 4096  # coordinates of a result that are compared
_JUDGED = (
    "composition",
    "complement",
    "right_inverse",
    "left_inverse",
    "logical_divide",
    "logical_product",
    "coalesce",
)

Call = tuple[
    str, Any, tuple[Any, ...]
]  # the operation, the layout, and the other operands, as (shape, stride) in tuples


def recorded(peer: str, folder: Path) -> dict[Call, Any]:
    """Return what the peer returned for each call while its tests ran; None where it raised."""
    found: dict[Call, Any] = {}
    modules = [importlib.import_module(name) for name in PEERS[peer]]
    layout_class = modules[0].Layout
    originals = {name: getattr(modules[0], name) for name in NAMES if hasattr(modules[0], name)}

    def recorder(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*operands: Any, **named: Any) -> Any:
            stated = [e for label, e in named.items() if label not in _PLACES]
            first, *others = (plain(e, layout_class) for e in (*operands, *stated))
            key = None if first is None else (NAMES[name], first, tuple(others))
            try:
                result = original(*operands, **named)
            except Exception:
                if key is not None:
                    found.setdefault(key, None)
                raise
            if key is not None:
                found.setdefault(key, plain(result, layout_class))
            return result

        return call

    places = [(m, name, getattr(m, name)) for m, name in itertools.product(modules, originals) if hasattr(m, name)]
    for module, name, _ in places:
        setattr(module, name, recorder(name, originals[name]))
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            play = cute_dsl_peer.play if peer == "cutlass.cute" else _run_tests
            play(folder)
    finally:
        for module, name, original in places:
            setattr(module, name, original)
    return found


def _run_tests(folder: Path) -> None:
    files = sorted(str(f) for f in folder.glob("*.py") if f.name not in ("conftest.py", "run_all_tests.py", "viz.py"))
    settings = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", "/dev/null", "-o", "python_files=*.py"]
    pytest.main([*settings, "--continue-on-collection-errors", *files])


def plain(e: Any, layout_class: type) -> Any:
    """Return ``("layout", shape, stride)``, ``("tiler", ...)``, a number or None of a peer's operand; else "other"."""
    if isinstance(e, layout_class):
        shape, stride = getattr(e, "shape", None), getattr(e, "stride", None)
        return ("layout", shape, stride) if _is_numbers(shape) and _is_numbers(stride) else "other"
    if e is None or isinstance(e, int):
        return e
    if isinstance(e, tuple):
        parts = tuple(plain(part, layout_class) for part in e)
        return "other" if "other" in parts else ("tiler", *parts)
    return "other"


def _is_numbers(e: Any) -> bool:
    return all(map(_is_numbers, e)) if isinstance(e, tuple) else isinstance(e, int)


def ours(e: Any) -> Any:
    """Return an operand for symlayout."""
    if isinstance(e, tuple):
        return sl.layout(e[1], e[2]) if e[0] == "layout" else tuple(map(ours, e[1:]))
    return e


def is_asked(call: Call) -> bool:
    """Return whether a call is one of layouts of positive sizes, with operands that symlayout has words for."""
    _, first, others = call
    if "other" in (first, *others) or not isinstance(first, tuple) or first[0] != "layout":
        return False
    return all(n > 0 for e in (first, *others) for n in _sizes(e))


def _sizes(e: Any) -> Iterator[int]:
    if isinstance(e, tuple):
        for part in [e[1]] if e[0] == "layout" else e[1:]:
            yield from (
                _sizes(part) if isinstance(part, tuple) and part[:1] in (("layout",), ("tiler",)) else _ints(part)
            )


def _ints(e: Any) -> Iterator[int]:
    if isinstance(e, tuple):
        for part in e:
            yield from _ints(part)
    elif isinstance(e, int):
        yield e


def answer(call: Call) -> sl.Layout:
    """Return the answer of symlayout."""
    name, first, others = call
    asked = ours(first)
    if name == "complement" and not others:
        others = (asked.cosize,)
    if name.startswith("coalesce") and others:
        others = tuple(e for e in others if e is not None)
    result: sl.Layout = getattr(asked, name)(*map(ours, others))
    return result


def is_right(call: Call, found: Modes, parts: list[Modes]) -> bool | None:
    """Return whether a result is what the operation is defined as; None where that is not judged."""
    name, first, others = call
    is_plain = all(isinstance(e, tuple) and e[0] == "layout" for e in others[:1])
    is_bound = name == "complement" and all(isinstance(e, int) for e in others)
    if name not in _JUDGED or not (is_plain or is_bound):
        return None
    a = modes_at(ours(first), {})
    if any(d < 0 for _, d in a) and name in ("complement", "left_inverse", "right_inverse"):
        return None
    if name == "complement":
        b = [(others[0], 1)] if others else [(max(spread(a)) + 1, 1)]
    else:
        b = modes_at(ours(others[0]), {}) if others else []
    if any(d < 0 for _, d in b):
        return None
    try:
        getattr(Judge, name)(a, b, parts if name in ("logical_divide", "logical_product") else found)
    except (AssertionError, ValueError):
        return False
    return True


def compare(calls: dict[Call, Any]) -> Counter[str]:
    """Return how often both agree, and what each is where they do not."""
    tally = Counter[str]()
    for call, peers in calls.items():
        if not is_asked(call):
            tally["not asked: swizzles, sizes of 0, other operands"] += 1
            continue
        is_layout = isinstance(peers, tuple) and peers[0] == "layout" and min(_sizes(peers), default=1) > 0
        theirs = ours(peers) if is_layout else None
        theirs_right = None if theirs is None else is_right(call, modes_at(theirs, {}), tops(theirs, {}))
        try:
            found = answer(call)
        except (sl.ShapeError, sl.InconclusiveError) as refused:
            if theirs is None:
                tally["refused by both"] += 1
            else:
                tally[f"refused, the peer is {VERDICTS[theirs_right]}"] += 1
            if theirs is not None and theirs_right is not False:
                print("refused:", call, str(refused).splitlines()[0])
            continue
        if theirs is not None and found.size == theirs.size <= _MOST and _same(found, theirs):
            tally["equal"] += 1
            continue
        right = is_right(call, modes_at(found, {}), tops(found, {}))
        other = "refuses" if theirs is None else f"is {VERDICTS[theirs_right]}"
        tally[f"different: symlayout is {VERDICTS[right]}, the peer {other}"] += 1
        if right is not True:
            print("different:", call, "ours", found, "theirs", peers)
    return tally


def _same(a: sl.Layout, b: sl.Layout) -> bool:
    x, y = modes_at(a, {}), modes_at(b, {})
    return [value(x, k) for k in range(a.size)] == [value(y, k) for k in range(a.size)]


# ---------------------------------------------------------------------- symbols


def _with_symbols(call: Call, rng: random.Random) -> tuple[sl.Layout, sl.Layout | None, dict[str, int]] | None:
    """Return the operands with one or two numbers as symbols, and what these were."""
    _, first, others = call
    operands = [first, *(e for e in others[:1] if isinstance(e, tuple) and e[0] == "layout")]
    sides = [(k, side) for k in range(len(operands)) for side in (1, 2)]
    places = [(k, side, at) for k, side in sides for at, n in enumerate(_ints(operands[k][side])) if n > 1]
    if not places:
        return None
    chosen = rng.sample(places, min(len(places), rng.randint(1, 2)))
    names = dict(zip(chosen, sl.dims("N K"), strict=False))
    made = [sl.layout(*(_put(e[side], k, side, names, [0]) for side in (1, 2))) for k, e in enumerate(operands)]
    was = {s.name: list(_ints(operands[k][side]))[at] for (k, side, at), s in names.items()}
    return made[0], made[1] if len(made) > 1 else None, was


def _put(e: Any, operand: int, side: int, names: dict[tuple[int, int, int], Any], count: list[int]) -> Any:
    if isinstance(e, tuple):
        return tuple(_put(part, operand, side, names, count) for part in e)
    count[0] += 1
    return names.get((operand, side, count[0] - 1), e)


def with_symbols(calls: Sequence[Call], rng: random.Random) -> tuple[Counter[str], list[float]]:
    """Return how often an answer with symbols is right at all sizes that it is for, and the seconds of each."""
    tally, times = Counter[str](), list[float]()
    for call in calls:
        name = call[0]
        if name not in _JUDGED or not is_asked(call) or (drawn := _with_symbols(call, rng)) is None:
            continue
        a, b, was = drawn
        other: tuple[Any, ...] = () if b is None else (b,)
        if name == "complement":
            other = tuple(e for e in call[2] if isinstance(e, int)) or (1,)
        elif b is None and name in ("composition", "logical_divide", "logical_product"):
            continue
        begun = time.perf_counter()
        try:
            found = getattr(a, name)(*other)
            times.append(time.perf_counter() - begun)
        except sl.InconclusiveError as error:
            tally["open"] += 1
            print("open:", name, a, *other, str(error).splitlines()[0])
            continue
        except sl.ShapeError as error:
            times.append(time.perf_counter() - begun)
            here = _points(was)
            if error.kind == "no_layout" and b is not None:
                wrong = not all(refuted(name, modes_at(a, at), modes_at(b, at)) for at in here)
                tally["no_layout, WRONG" if wrong else "no_layout, right"] += 1
            else:
                tally[f"refused: {error.kind}"] += 1
            continue
        tally[_judged(name, a, other, found, was)] += 1
    return tally, times


def _points(was: dict[str, int]) -> list[dict[str, int]]:
    values = ({1, 2, 3, 4, 6, 8, 12, n} for n in was.values())
    return [dict(zip(was, at, strict=True)) for at in itertools.product(*values)]


def _judged(name: str, a: sl.Layout, other: tuple[Any, ...], found: sl.Layout, was: dict[str, int]) -> str:
    compared = 0
    for at in _points(was):
        if not holds(found.requires, at):
            continue
        x = modes_at(a, at)
        y = [mode for e in other for mode in ([(e, 1)] if isinstance(e, int) else modes_at(e, at))]
        result = modes_at(found, at)
        if max(len(spread(x)), len(spread(result))) > _MOST:
            continue
        try:
            getattr(Judge, name)(x, y, tops(found, at) if name in ("logical_divide", "logical_product") else result)
        except AssertionError:
            print("WRONG:", name, a, *other, "is", found, found.requires, at)
            return "WRONG"
        compared += 1
    return "right" if compared else "not compared"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--symbols", action="store_true")
    parser.add_argument("--cute-dsl", action="store_true")
    parser.add_argument("--most", type=int, default=100_000, help="the most calls that are asked with symbols")
    given = parser.parse_args()
    for folder in given.folders:
        peer = "cutlass.cute" if any(folder.glob("*.ipynb")) else "tensor_layouts"
        peer = "pycute" if "pycute" in str(folder) else peer
        try:
            importlib.import_module(peer).Layout  # noqa: B018
        except (ImportError, AttributeError) as absent:
            print(f"{peer}: skipped, {absent}")
            continue
        calls = recorded(peer, folder)
        if given.cute_dsl:
            calls = cute_dsl_peer.answers([call for call in calls if is_asked(call)], plain)
        if given.symbols:
            some = random.Random(0).sample([*calls], min(len(calls), given.most))
            counted, seconds = with_symbols(some, random.Random(0))
            print(f"{peer} with symbols: median {1000 * sorted(seconds)[len(seconds) // 2]:.1f} ms")
        else:
            counted = compare(calls)
            print(f"{peer}{', asked of CuTe DSL' if given.cute_dsl else ''}: {len(calls)} calls")
        for label, many in sorted(counted.items()):
            print(f"{many:8} {label}")
