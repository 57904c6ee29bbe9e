"""Build the tensor that a command is about from its words: ``SHAPE STEP...`` or ``MODEL [STEP...]``."""

from __future__ import annotations

import argparse
import difflib
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import symlayout as sl
from symlayout.errors import FormatError, SymlayoutError, UnknownOpError, one_line, shortened, shown
from symlayout.frontends import registry
from symlayout.language.grammar_trees import ParsedStep
from symlayout.language.parse import evaluate, names_of, parse_shape, parse_step
from symlayout.language.read_tokens import pointed
from symlayout.models.model import TENSOR
from symlayout.run.storage import WHOLE, Whole, nibbles

MODELS = (".xml", ".onnx", ".tflite", ".pt2", ".mlir", ".mlirbc", ".jax")
_FILE = re.compile(r"[^,()\[\]*\n]+\.[A-Za-z]\w*")  # the name of a file with a suffix
MAX_STDIN = 1 << 20  # characters that are read from standard input
_MOST_SUGGESTED = 5  # names that an error suggests
_MOST_COMPARED = 80  # characters of a name
CORE_OPS: tuple[str, ...] = (
    "transpose", "moveaxis", "swapaxes", "reshape", "ravel", "squeeze", "expand_dims",
    "pad", "flip", "roll", "tile", "repeat", "broadcast_to", "take", "as_strided", "window", "resize_nearest",
    "space_to_batch", "batch_to_space", "space_to_depth", "depth_to_space",
    "pack", "unpack", "channel_shuffle",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """Declare the arguments that name the tensor of the command."""
    parser.add_argument(
        "subject",
        nargs="+" if required else "*",
        metavar="SHAPE STEP... | MODEL",
        help="a shape such as 'N, 2*h, W' and operations on it, or an .onnx, .tflite, .pt2, .mlir, .jax or OpenVINO "
        ".xml file; - reads them from standard input, one a line",
    )
    parser.add_argument("--dtype", metavar="TYPE", help="element type of the input, for example uint8")
    parser.add_argument(
        "--dim",
        metavar="NAME=RANGE",
        action="append",
        default=[],
        help="a value or bounds of a dim: H=224, H=1.., H=1..512; may be given several times",
    )
    parser.add_argument("--output", metavar="NAME", help="the output to take of a MODEL with several outputs")


def read(arguments: argparse.Namespace, *chains: Sequence[str]) -> list[sl.Tensor]:
    """Return the tensors of the command line, as `build` does."""
    known = parse_known(arguments.dim)
    return build(arguments.subject, *chains, dtype=arguments.dtype, output=arguments.output, known=known)


def elements(arguments: argparse.Namespace) -> Whole:
    """Return how the elements of ``--dtype`` are stored.  A type of half a byte is then removed from *arguments*."""
    if (packed := nibbles(arguments.dtype)) is not None:
        arguments.dtype = None
    return packed or WHOLE


def build(
    words: Sequence[str],
    *chains: Sequence[str],
    dtype: str | None = None,
    output: str | None = None,
    known: Mapping[str, Any] | None = None,
) -> list[sl.Tensor]:
    """Return the tensor of *words*, and for each of *chains* its steps applied to the same input.

    A name means the same dim in all of them.  *known* has values and bounds of dims: see `parse_known`.

    Raises
    ------
    FormatError
        A shape, a step or a model cannot be read.
    ShapeError
        An operation does not fit its input's shape.
    """
    start, x, steps, others, dims = _begin(words, chains, dtype, output, known or {})
    return [apply(start, steps, dims), *(apply(x, chain, dims) for chain in others)]


def trace(arguments: argparse.Namespace) -> list[tuple[str, sl.Tensor]]:
    """Return the tensor before the steps, with the text "", and for each step its text and the tensor after it."""
    start, _, steps, _, dims = _begin(
        arguments.subject, (), arguments.dtype, arguments.output, parse_known(arguments.dim)
    )
    found = [("", start)]
    for step in steps:
        found.append((step.text, apply(found[-1][1], [step], dims)))
    return found


def demanding(arguments: argparse.Namespace) -> list[tuple[str, sl.Tensor]]:
    """Return the nodes of the subject's model that state requirements, with what they compute; none of a shape."""
    if not arguments.subject[0].endswith(MODELS):
        return []
    return sl.read_model(arguments.subject[0], dims=parse_known(arguments.dim)).demanding()


def notes(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return what is unusual about the file of the subject's model; nothing of a shape."""
    return sl.read_model(arguments.subject[0]).notes if arguments.subject[0].endswith(MODELS) else ()


def name_of_start(start: sl.Tensor) -> str:
    """Return how answers call the tensor before the steps: an input, or what a model computes."""
    return "the model" if start.inputs else "the input"


def _begin(
    words: Sequence[str],
    chains: Sequence[Sequence[str]],
    dtype: str | None,
    output: str | None,
    known: Mapping[str, Any],
) -> tuple[sl.Tensor, sl.Tensor, list[ParsedStep], list[list[ParsedStep]], dict[str, Any]]:
    """Return the first tensor of *words*, its only leaf, the steps of *words*, those of *chains*, and the dims."""
    first, *rest = expand(words)
    steps = [parse_step(word) for word in rest]
    others = [[parse_step(word) for word in expand(chain)] for chain in chains]
    trees = [tree for step in (*steps, *itertools.chain(*others)) for tree in _trees(step)]
    if first.endswith(MODELS):
        result = _model_output(first, output, known)
        x = _only_leaf(result, first) if chains else result
        dims = {name: sl.dim(name, *bounds) for name, bounds in names_of(*trees).items()}
        dims |= {symbol.name: symbol for leaf in result.leaves() for symbol in _symbols(leaf.shape)}
    else:
        entries = _entries(first)
        bounds = names_of(*entries, *trees)
        if unknown := sorted(known.keys() - bounds.keys()):
            raise FormatError(f"--dim: {unknown[0]} is not a dim here\n  known: {', '.join(bounds) or 'none'}")
        dims = {name: _dim(name, known.get(name, limits)) for name, limits in bounds.items()}
        shape = tuple(evaluate(entry, dims) for entry in entries)
        result = x = sl.tensor(shape, dtype=dtype, name="x")
    return result, x, steps, others, dims


def _entries(first: str) -> list[Any]:
    """Return the entries of a shape; a word that is none, and looks like the name of a file, is refused as that."""
    try:
        return list(parse_shape(first))
    except FormatError:
        if _FILE.fullmatch(first):
            sl.read_model(first)  # which says that there is no such file, or that it is no model
        raise


def expand(words: Sequence[str]) -> list[str]:
    """Return *words* with ``-`` replaced by the lines of standard input.  Lines that begin with ``#`` are comments."""
    expanded: list[str] = []
    for word in words:
        if word != "-":
            expanded.append(word)
            continue
        text = sys.stdin.read(MAX_STDIN + 1)
        if len(text) > MAX_STDIN:
            raise FormatError(f"standard input has more than {MAX_STDIN} characters")
        lines = (line.strip() for line in text.splitlines())
        expanded += [line for line in lines if line and not line.startswith("#")]
    if words and not expanded:
        raise FormatError("standard input is empty\n  help: write a shape, then one step a line")
    return expanded


def apply(x: sl.Tensor, steps: Sequence[ParsedStep], dims: Mapping[str, Any]) -> sl.Tensor:
    """Return *x* after *steps*; *dims* has the dim of each name in them."""
    for step in steps:
        try:
            x = _apply_step(x, step, dims)
        except SymlayoutError as error:
            if step.text[:40] not in str(error) and "\n  in: " not in str(error):
                error.add_note(f"in: {shortened(re.sub('[^ -~]', '?', step.text), 100)}")
            raise
    return x


def _apply_step(x: sl.Tensor, step: ParsedStep, dims: Mapping[str, Any]) -> sl.Tensor:
    values = [evaluate(tree, dims, fractions=True) for tree in step.positional]
    keywords = {key: evaluate(tree, dims, fractions=True) for key, tree in step.keywords}
    if step.name == "[]":
        return x[tuple(values)]
    try:
        function = find(step.name)
    except UnknownOpError as error:
        first, *others = str(error).splitlines()
        raise UnknownOpError("\n".join([first, pointed(step.text, 0), *others])) from None
    signature = inspect.signature(function)
    if len(values) >= len(signature.parameters) and all(_is_entry(value) for value in values):
        values = [tuple(values)]  # transpose(0, 2, 1) for transpose((0, 2, 1))
    try:
        signature.bind(x, *values, **keywords)
    except TypeError as error:
        raise FormatError(f"{step.name}: {error}\n{_arguments(step, signature)}") from None
    if registry.is_joint(step.name):
        raise FormatError(f"{step.name} takes several tensors, and a chain has one\n  help: use it from Python")
    result = function(x, *values, **keywords)
    if not isinstance(result, sl.Tensor):
        raise FormatError(
            f"{step.name} gives {len(result)} tensors, and a step gives one\n"
            "  help: take a part by an index such as [:, 0:2]"
        )
    return result


def find(name: str) -> Callable[..., Any]:
    """Return the operation *name*: a framework's operation if it has a colon, else a core operation.

    Raises
    ------
    UnknownOpError
        No operation has this name.
    """
    if name in CORE_OPS:
        function: Callable[..., Any] = getattr(sl, name)
        return function
    if ":" in name:
        return registry.find(name)
    meant = nearest(name, [*CORE_OPS, *registry.names()])
    hint = f"the nearest are {', '.join(meant)}" if meant else f"core operations are {', '.join(CORE_OPS)}"
    raise UnknownOpError(f"no core operation is called {shown(name)}\n  help: {hint}")


def nearest(name: str, known: Iterable[str]) -> list[str]:
    """Return the names of *known* that are most similar to *name*, up to case, punctuation and framework.

    >>> nearest("spacetodepth", ["space_to_depth", "onnx:SpaceToDepth", "flip"])
    ['space_to_depth', 'onnx:SpaceToDepth']
    """

    def plain(op: str) -> str:
        return re.sub(r"[^a-z]", "", op.lower().partition(":")[2].partition("-")[0] or op.lower())

    names = list(known)
    close = difflib.get_close_matches(plain(name[:_MOST_COMPARED]), {plain(op) for op in names}, n=3, cutoff=0.6)
    return [op for match in close for op in names if plain(op) == match][:_MOST_SUGGESTED]


def _arguments(step: ParsedStep, signature: inspect.Signature) -> str:
    """Return lines for an error: the position of an unknown argument in a step, and the arguments that exist."""
    parameters = list(signature.parameters)[1:]
    unknown = [key for key, _ in step.keywords if key not in parameters]
    found = re.search(rf"\b{unknown[0]}\s*=", step.text) if unknown else None
    meant = difflib.get_close_matches(unknown[0], parameters, n=1) if unknown else []
    lines = [pointed(step.text, found.start() if found else 0), f"  known: {', '.join(parameters) or 'none'}"]
    return "\n".join(lines + [f"  help: the nearest is {name}" for name in meant])


def parse_dims(text: str | None) -> dict[str, int]:
    """Return the values of ``--dims``: ``"H=224, W=224"`` is ``{"H": 224, "W": 224}``.

    Raises
    ------
    FormatError
        *text* is not a list of ``name=integer``.
    """
    step = parse_step(f"dims({text or ''})")
    numbers = not any(names_of(tree) for _, tree in step.keywords)
    values = {key: evaluate(tree, {}) for key, tree in step.keywords} if numbers else {}
    if step.positional or not numbers or not all(type(value) is int for value in values.values()):
        raise FormatError(f"--dims {shown(text)} is not a list of name=integer\n  help: --dims H=224,W=224")
    return values


def parse_known(texts: Sequence[str]) -> dict[str, Any]:
    """Return what ``--dim`` says of dims: an int, or bounds ``(lo, hi)``.

    >>> parse_known(["H=1..", "W=8..64", "N=4", "data.0=1.."])
    {'H': (1, None), 'W': (8, 64), 'N': 4, 'data.0': (1, None)}
    """
    found: dict[str, Any] = {}
    for text in texts:
        match = re.fullmatch(r"\s*([\w.]{1,80})\s*=\s*(-?\d{1,18})\s*(?:(\.\.)\s*(-?\d{1,18})?)?\s*", text, re.ASCII)
        if match is None:
            raise FormatError(
                f"--dim {shown(text)} is not NAME=RANGE\n  help: --dim H=1.. or --dim H=1..512 or --dim H=224"
            )
        name, low, dots, high = match.groups()
        found[name] = (int(low), int(high) if high else None) if dots else int(low)
    return found


def parse_coordinate(text: str) -> tuple[int, ...]:
    """Return the coordinate of ``--at``.

    >>> parse_coordinate("0,1,2"), parse_coordinate("(3,)"), parse_coordinate("")
    ((0, 1, 2), (3,), ())
    """
    inner = re.fullmatch(r"\s*[(\[]?\s*((?:\d{1,18}\s*(?:,\s*\d{1,18}\s*)*,?)?)\s*[)\]]?\s*", text, re.ASCII)
    if inner is None:
        raise argparse.ArgumentError(None, f"--at {shown(text)} is not a coordinate: write --at 0,1,2")
    return tuple(int(part) for part in inner[1].split(",") if part.strip())


def bind(t: sl.Tensor, text: str | None) -> sl.Tensor:
    """Return *t* with the dims of ``--dims`` bound; raise `FormatError` for a name that is not a dim of *t*."""
    values = parse_dims(text)
    check_dims(t, values)
    return t.subs(values) if values else t


def check_dims(t: sl.Tensor, values: Mapping[str, int]) -> None:
    """Raise `FormatError` if a name in *values* is not a dim of *t*."""
    if unknown := sorted(values.keys() - t.facts.dims.keys()):
        known = ", ".join(t.facts.dims) or "none"
        raise FormatError(f"--dims: {', '.join(unknown)} is not a dim here\n  known: {known}")


def _is_entry(value: Any) -> bool:
    """Return whether *value* can be an entry of a list without brackets, as in ``transpose(0, 2, 1)``."""
    return value is None or not isinstance(value, (list, tuple, str, bool, float))


def _trees(step: ParsedStep) -> list[Any]:
    return [*step.positional, *(tree for _, tree in step.keywords)]


def _symbols(shape: tuple[Any, ...]) -> list[Any]:
    """Return the dims of *shape* in order of use."""
    found = [symbol for e in shape for symbol in sorted(getattr(e, "free_symbols", ()), key=str)]
    return list(dict.fromkeys(found))


def _dim(name: str, given: Any) -> Any:
    """Return a dim with the bounds *given*, or the value that is given."""
    return given if isinstance(given, int) else sl.dim(name, *given)


def _model_output(path: str, name: str | None, known: Mapping[str, Any]) -> sl.Tensor:
    outputs, file = sl.load(path, dims=known), one_line(path, 4096)
    names = ", ".join(map(one_line, outputs))
    if name is None and len(outputs) != 1:
        raise FormatError(f"{file} has {len(outputs)} outputs\n  known: {names}\n  help: choose one with --output")
    if name is not None and name not in outputs:
        raise FormatError(f"{file} has no output {shown(name)}\n  known: {names}")
    name = next(iter(outputs)) if name is None else name
    result = outputs[name]
    if not isinstance(result, sl.Tensor):
        what = "of unknown rank" if result.kind == TENSOR else f"a {result.kind}"
        raise FormatError(f"output {shown(name)} of {file} is {what}, which has no map")
    return result


def _only_leaf(t: sl.Tensor, path: str) -> sl.Tensor:
    leaves = t.leaves()
    if len(leaves) != 1:
        raise FormatError(f"{one_line(path, 4096)} reads {len(leaves)} inputs; a claim about it needs one")
    return leaves[0]
