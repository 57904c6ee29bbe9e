"""Feed hostile text and files to everything that reads: ``python -m tests.promises.hostile N``.

Shapes, steps, relations, names, attributes, OpenVINO IR and ONNX models, certificates, command lines, and notes in
the cache of kernels: known bombs, and N random changes of valid ones for each.  Every outcome is a result or a
`SymlayoutError`, after at most 3 million calls of functions, about a second, and with at most 256 MiB more memory than
the process had.  What can be said of a result (shape, requirements, map, LaTeX) is said too, within the same calls.
What is done with whole models, to optimize them for example, may take 20 seconds of the processor and 1 GiB.  A few
items are tried in each process, which has these limits.

A finding names its number: ``--first NUMBER`` and a count of 1, with the same seed, try it again.
"""

from __future__ import annotations

import argparse
import random
import resource
import shutil
import signal
import string
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

import symlayout as sl
from symlayout.any_rank.grouped_tensor import AnyRankTensor
from symlayout.commands import subject
from symlayout.errors import SymlayoutError
from tests.promises.forked import forked
from tests.promises.hostile_inputs import hostile_data, hostile_models
from tests.promises.hostile_inputs.alter import Item, changed, mutated
from tests.promises.hostile_inputs.seeds import BOMBS, RELATIONS, SHAPES, STEP_BOMBS, STEPS, TOKENS
from tests.support import onnx_writer
from tests.support.paths import ROOT
from tests.support.steps import STEPS as FEW
from tests.support.steps import counted

BATCH = 20  # items in one process
HANGING = 3600.0  # seconds after which a process that waits for something is ended
KEPT = 5  # findings of one kind of which the files are kept
LONGEST = 70_000  # characters of an error: it may show a text of 64 KiB
MODELS = ROOT / "examples" / "models"


def spoken(t: sl.Tensor) -> None:
    """Say everything of a tensor."""
    str(t), str(t.shape)
    if t.rank is not None:
        str(t.requires), t.bounds(), str(t.index_map), t.index_map.latex()


def shapes(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield shapes, as strings and on the command line."""
    for text in [*BOMBS, *(f"{b}, N" for b in BOMBS), *(mutated(SHAPES, rnd) for _ in range(count))]:
        yield text, partial(_shape, text)


def steps(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield operations on a shape of four axes."""
    applied = [
        f"{name}({bomb})"
        for name in subject.CORE_OPS
        for bomb in (BOMBS[8], BOMBS[14], "[" + "N*" * 63 + "N]", f"{10**39}")
    ]
    for text in [*BOMBS, *STEP_BOMBS, *applied, *(mutated(STEPS, rnd) for _ in range(count))]:
        yield text, partial(_step, text)


def relations(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield relations between dims, assumed of a tensor."""
    applied = [f"{bomb} == 0" for bomb in BOMBS] + [f"N % {n} == 0" for n in TOKENS[:14]]
    for text in [*BOMBS, *applied, *(mutated(RELATIONS, rnd) for _ in range(count))]:
        yield text, partial(_relation, text)


def names(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield names of dims, tensors, operations and files."""
    letters = string.printable + "".join(TOKENS)
    texts = [
        "",
        " ",
        "<script>",
        "]]>",
        "&amp;",
        'x" onload="',
        "\\input{x}",
        "*/ int f;",
        "a\nb",
        "N" * 10_000,
        *BOMBS,
        *TOKENS,
    ]
    texts += ["3i4", "(2,3)f8", "i4," * 3000, "V2147483647", "S99999999999", "O", "f4,O", "M8[ns]", ">c16"]
    texts += ["".join(rnd.choices(letters, k=rnd.randint(0, 12))) for _ in range(count)]
    for text in texts:
        yield f"dim {text}", partial(_dim, text)
        yield f"tensor {text}", partial(_leaf, text)
        yield f"C {text}", partial(_plain_c, text)
        yield f"op {text}", partial(sl.op, text)
        yield f"dtype {text}", partial(sl.tensor, (2, 3), dtype=text)


def _shape(text: str) -> None:
    t = sl.tensor(text)
    str(t), str(t.shape), str(t.requires), (t.at(2) if isinstance(t, AnyRankTensor) else t).bounds()


def _step(text: str) -> None:
    spoken(subject.build(["N, 2*h, 2*w, C", text])[0])


def _relation(text: str) -> None:
    t = sl.assume(sl.tensor("H, W, a, b, N"), text)
    str(t), str(t.requires), t.bounds()


def _dim(text: str) -> None:
    spoken(sl.flip(sl.tensor((sl.dim(text), 2))))


def _leaf(text: str) -> None:
    spoken(sl.flip(sl.tensor((2, 3), name=text)))


def _plain_c(text: str) -> None:
    """Assert that a name that is accepted is an identifier, and that its C is plain text without surprises."""
    source = sl.compile(sl.flip(sl.tensor((sl.dim(text), 2), name=text))).source
    assert text.isidentifier(), "a dim is no identifier"
    assert source.isascii(), "the C is not ASCII"
    assert source.count("*/") == source.count("/*"), "a comment is closed early"


def openvino(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield OpenVINO models with their constants."""
    files = sorted(MODELS.glob("*.xml"))
    seeds = [path.read_bytes() for path in files]
    bombs = [
        b"", b"<", b"<net>" * 100_000, b"<net " + b'a="1" ' * 100_000 + b"/>", b"\xff\xfe<\0n\0",
        seeds[0] * 2, seeds[0][:-200],
        b'<!DOCTYPE net [<!ENTITY a "' + b"a" * 50_000 + b'">]><net>' + b"&a;" * 50_000 + b"</net>",
        b"\xef\xbb\xbf" + seeds[0],
        b"<?xml version='1.0' encoding='utf-7'?>" + seeds[0].partition(b"?>")[2], b"<net xmlns:xi='http://www.w3.org/2001/XInclude'/>",
        seeds[0].replace(b"<net", b"<!-- " + b"-" * 3 + b" --><net", 1), b"<a>" + b"&#x41;" * 1_000_000 + b"</a>",
        b"<net>" + b"<![CDATA[" + b"x" * 7_000_000 + b"]]></net>", b"<net " + b"a" * 7_000_000 + b"='1'/>",
        b"<net a='" + b"1" * 7_000_000 + b"'/>",
    ]  # fmt: skip
    path = folder / "model.xml"

    def load(data: bytes, constants: bytes) -> None:
        path.write_bytes(data)
        path.with_suffix(".bin").write_bytes(constants)
        for t in sl.load(path).values():
            spoken(t)

    for data in [*bombs, *(changed(seeds, rnd) for _ in range(count))]:
        held = rnd.choice(files).with_suffix(".bin").read_bytes()
        yield repr(data[:3000]), partial(load, data, held)
    for data in (changed([path.with_suffix(".bin").read_bytes() for path in files], rnd) for _ in range(count // 4)):
        yield f"constants {data!r}", partial(load, rnd.choice(seeds), data)


def onnx(count: int, rnd: random.Random, folder: Path) -> Iterator[Item]:
    """Yield ONNX models."""
    w = onnx_writer
    x = w.value_info("x", ("N", "C", "2*h", 8))
    axes = w.tensor([0, 2, 3, 1], name="p")
    shapes_ = [
        w.node("Shape", "x", "s"), w.node("Constant", "", "k", value=w.tensor([0])), w.node("Gather", "s,k", "n",
        axis=0),
        w.node("Constant", "", "m", value=w.tensor([-1])), w.node("Concat", "n,m", "t", axis=0), w.node("Reshape",
        "x,t", "y"),
    ]  # fmt: skip
    seeds = [
        w.model([w.node("Transpose", "x", "y", perm=[0, 2, 3, 1])], [x]),
        w.model([w.node("SpaceToDepth", "x", "y", blocksize=2)], [x]),
        w.model(shapes_, [x]),
        w.model(
            [w.node("Pad", "x,p", "y", mode="constant")], [x], constants=[w.tensor([0, 0, 1, 1, 0, 0, 2, 2], name="p")]
        ),
        w.model([w.node("Tile", "x,p", "y")], [x], constants=[axes]),
    ]
    bombs = [
        b"", b"\x00", b"\xff" * 100_000, b"\x0a" * 100_000, b"\x3a\xff\xff\xff\xff\x0f",
        seeds[0] * 3, b"\x3a\xc0\xcf\x24" + b"\x0a\x00" * 300_000,
        b"\x3a\x06\x0a\x04\x2a\x02\x32\x00", b"\x0b" * 50_000, w.model([], [x] * 5000),
        b"\x08" + b"\x80" * 10_000 + b"\x01",
        w.model([w.node("Identity", f"a{k}", f"a{k + 1}") for k in range(3000)], [x]),
        w.model([w.node("Transpose", "x", "y", perm=list(range(100_000)))], [x]),
        w.model([w.node("Identity", "x", "y")], [w.value_info("x", [BOMBS[14][:50_000]])]),
        w.model([w.node("Identity", "x", "y")], [w.value_info("x", ["(a+b+c+d+e)**64", "N" + "//2" * 1000])]),
        w.model([w.node("Reshape", "x,p", "y")], [x], constants=[w.tensor([1] * 50_000, name="p")]),
        w.model([w.node("Reshape", "x,p", "y")], [x], constants=[w.tensor([2], [1 << 62], name="p")]),
    ]  # fmt: skip
    path = folder / "model.onnx"

    def load(data: bytes) -> None:
        path.write_bytes(data)
        for t in sl.load(path).values():
            spoken(t)

    for data in [*bombs, *(changed(seeds, rnd) for _ in range(count))]:
        yield repr(data[:3000]), partial(load, data)


READERS: dict[str, Callable[[int, random.Random, Path], Iterator[Item]]] = {
    "shapes": shapes, "steps": steps, "relations": relations, "names": names, "openvino": openvino, "onnx": onnx,
    "certificates": hostile_data.certificates, "arguments": hostile_data.arguments, "notes": hostile_data.notes,
    "onnx-models": hostile_models.onnx_models, "openvino-models": hostile_models.openvino_models,
    "one-node-models": hostile_models.one_node_models,
}  # fmt: skip


@dataclass(frozen=True)
class Bounds:
    """What one item may take.

    Attributes
    ----------
    bytes : memory beyond what the process has.
    seconds : time of the processor, of the process and of those that it starts, where a loop of 10^7 additions takes
        half a second; more where it takes more, as on a machine that is busy.
    steps : calls of functions; they are not counted where this is None.
    """

    bytes: int = 256 << 20
    seconds: float = 600.0
    steps: int | None = FEW


OF_MODELS = Bounds(1 << 30, 20.0, None)


class TooLong(BaseException):
    """An item takes longer than it may.  Nothing takes it for an error of a file."""


def attack(items: Iterable[Item], folder: Path, bounds: Bounds, out: Path | None = None) -> Counter[str]:
    """Try each item, a few in each process; return how often what came of them."""
    counts: Counter[str] = Counter()
    notes = folder / "notes"
    drawn = iter(items)
    todo: list[Item] = []
    while todo := todo or list(islice(drawn, BATCH)):
        notes.write_text("", encoding="ascii")
        try:
            status = forked(partial(_try, todo, notes, bounds, out), HANGING)
        except AssertionError:  # it hangs
            status = -1
        lines = notes.read_text("ascii").splitlines()
        text = "nothing"
        for line in lines:
            kind, _, rest = line.partition(" ")
            if kind == "begin":
                text = rest
            else:
                outcome = rest.partition(":")[0]
                counts[outcome] += 1
                if rest.startswith("BROKEN") and counts[outcome] <= KEPT:
                    print(f"{rest}\n  in: {text}", flush=True)
        done = sum(line.startswith("end ") for line in lines)
        if status:
            print(f"BROKEN, process ended with {status}\n  in: {text}", flush=True)
            counts["BROKEN, process ended"] += 1
            _keep(folder, out, text)
            done += 1
        todo = todo[done:]
    return counts


def _keep(folder: Path, out: Path | None, text: str) -> None:
    """Keep the files of a finding."""
    if out is not None and (folder / "inside").is_dir():
        name = "".join(c for c in text.partition(" (")[0] if c.isalnum() or c in " -").replace(" ", "-")
        kept = out / name
        kept.mkdir(parents=True, exist_ok=True)
        for path in (folder / "inside").iterdir():
            if path.is_file() and not path.is_symlink():
                shutil.copy(path, kept)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block after so many seconds of the processor, and each second after that."""

    def expired(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _slowness() -> float:
    """Return how many times the time of the machine of `Bounds.seconds` this one takes now, at least 1."""
    begin, total = time.process_time(), 0
    for n in range(1_000_000):
        total += n
    return max(1.0, (time.process_time() - begin) / 0.05)


def _spent() -> float:
    """Return the time of the processor that this process and the processes that it waited for have taken."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _try(items: Sequence[Item], notes: Path, bounds: Bounds, out: Path | None) -> None:
    bounds = replace(bounds, seconds=bounds.seconds * _slowness())
    limit = _virtual() + bounds.bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with notes.open("a", encoding="ascii", buffering=1) as file:
        for text, work in items:
            file.write(f"begin {text[:200]!a} ({len(text)} characters)\n")
            outcome = _outcome(work, bounds)
            file.write(f"end {outcome}\n")
            if outcome.startswith("BROKEN"):
                _keep(notes.parent, out, repr(text[:200]))


def _outcome(work: Callable[[], object], bounds: Bounds) -> str:
    """Return what comes of an item: "result", the name of a typed error, or a text that begins with BROKEN."""
    begin = _spent()
    try:
        with _within(bounds.seconds), nullcontext() if bounds.steps is None else counted(bounds.steps):
            work()
        outcome = "result"
    except SymlayoutError as error:
        outcome = type(error).__name__
        if len(str(error)) > LONGEST:
            outcome = f"BROKEN, {outcome} of {len(str(error))} characters"
    except TooLong:
        return f"BROKEN, too long: interrupted after {bounds.seconds:.0f} s at {_places()}"
    except Exception as error:
        outcome = f"BROKEN, {type(error).__name__} at {_places(1)}: {str(error)[-400:]!a} by {_places()}"
    spent = _spent() - begin
    return outcome if spent < bounds.seconds else f"BROKEN, too long: {spent:.1f} s, {outcome}"


def _places(most: int = 6) -> str:
    """Return where in the packages what is being handled was raised, the innermost places first."""
    frames = traceback.extract_tb(sys.exception().__traceback__)  # type: ignore[union-attr]
    inside = [f"{Path(f.filename).name} {f.lineno}" for f in frames if "symlayout" in f.filename]
    return ", ".join(inside[: -most - 1 : -1])


def _virtual() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless something breaks a limit or is no typed error."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=3000, help="random changes for each reader (3000)")
    parser.add_argument("--seed", type=int, default=0, help="of the changes (0)")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="the number of the first item (0)")
    parser.add_argument("--only", nargs="*", choices=READERS, default=list(READERS), help="which readers")
    parser.add_argument("--out", type=Path, metavar="DIR", help="keep the model files of findings in DIR")
    options = parser.parse_args(arguments)
    _import_all()
    broken = []
    with tempfile.TemporaryDirectory(prefix="symlayout-promise-") as name:
        for reader in options.only:
            begin = time.monotonic(), _spent()
            items = READERS[reader](options.first + options.count, random.Random(options.seed), Path(name))
            bounds = OF_MODELS if reader.endswith("-models") else Bounds()
            counts = attack(islice(items, options.first, None), Path(name), bounds, options.out)
            taken = f" ({time.monotonic() - begin[0]:.0f} s, {_spent() - begin[1]:.0f} s of the processor)"
            said = ", ".join(f"{number} {what}" for what, number in counts.most_common())
            print(f"{reader}: {said}{taken}", flush=True)
            if any(what.startswith("BROKEN") for what in counts):
                broken.append(reader)
    print(f"promise broken by: {', '.join(broken)}" if broken else "the promise holds")
    return int(bool(broken))


def _import_all() -> None:
    """Import what is imported where it is first used, before the limits are set."""
    spoken(sl.pad(sl.tensor("n, 2*m"), 1))
    sl.load(MODELS / "space_to_depth.xml")
    path = MODELS / "pixel_unshuffle.onnx"
    sl.load(path)
    sl.optimize(path)
    sl.verify(path, path, run=False).explain()
    sl.compile(sl.flip(sl.tensor("n"))).source  # noqa: B018


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
