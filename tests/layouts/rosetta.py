"""Ten maps in every notation: ``python -m tests.layouts.rosetta > docs/rosetta.md`` writes the page.

A map is stated as operations.  The other cells are written by symlayout, or stated where a library has names of its
own.  `read` makes a tensor of the text of any cell, so that the tests prove each cell equal to its map.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

import sympy

import symlayout as sl

DIMS = {name: sl.dim(name) for name in ("B", "C", "H", "K", "M", "N", "S", "W", "a", "b", "d", "h", "n", "w")}


class Gap(NamedTuple):
    """Why a notation does not state a map."""

    reason: str


class Map(NamedTuple):
    """A map: what it is for, its input, and its cells that are stated."""

    title: str
    use: str
    source: str
    operations: str
    einops: str | Gap
    onnx: str | Gap
    cute: str | None = None
    tvm: str | None = None
    sympy: str | None = None
    linear: str | None = None


MAPS = [
    Map(
        "Transpose",
        "rows become columns",
        "M, N",
        "sl.transpose(x, (1, 0))",
        "rearrange(x, 'm n -> n m')",
        "Transpose(x, perm=[1, 0])",
    ),
    Map(
        "Space to depth",
        "blocks of 2 by 2 become channels; the block is the slower digit of a channel",
        "N, C, 2*h, 2*w",
        "sl.space_to_depth(x, 2, depth_axis=1)",
        "rearrange(x, 'n c (h p) (w q) -> n (p q c) h w', p=2, q=2)",
        "SpaceToDepth(x, blocksize=2)",
    ),
    Map(
        "Batch to space",
        "each four images of a batch become one of twice the height and width",
        "4*N, h, w, C",
        "sl.batch_to_space(x, [2, 2], [[0, 0], [0, 0]])",
        "rearrange(x, '(p q n) h w c -> n (h p) (w q) c', p=2, q=2)",
        "Reshape(Transpose(Reshape(x, [2, 2, N, h, w, C]), perm=[2, 3, 0, 4, 1, 5]), [N, 2*h, 2*w, C])",
    ),
    Map(
        "Tiles of 4 by 4",
        "a matrix in blocks, each contiguous",
        "4*a, 4*b",
        "sl.transpose(sl.reshape(x, (a, 4, b, 4)), (0, 2, 1, 3))",
        "rearrange(x, '(a p) (b q) -> a b p q', p=4, q=4)",
        "Transpose(Reshape(x, [a, 4, b, 4]), perm=[0, 2, 1, 3])",
        linear="linear_layout({'i': [(1, 0), (2, 0)], 'j': [(0, 1), (0, 2)]}, ['row', 'column']).tiles(x)",
    ),
    Map(
        "Roll",
        "each element moves by one, the last one to the front",
        "N",
        "sl.roll(x, 1, 0)",
        Gap("a pattern has no shifts"),
        "Concat([Slice(x, starts=[-1], ends=[N]), Slice(x, starts=[0], ends=[-1])], axis=0)",
    ),
    Map(
        "Pad and crop",
        "the first row goes, two columns of zeros come on the left and one on the right",
        "H, W",
        "sl.pad(x[1:], [(0, 0), (2, 1)])",
        Gap("a pattern has no fills"),
        "Pad(Slice(x, starts=[1], ends=[H], axes=[0]), [0, 2, 0, 1])",
    ),
    Map(
        "Swizzle",
        "a tile of 8 by 8 in shared memory, without bank conflicts by column",
        "64",
        "sl.index_map(x, (8, 8), lambda i, j: 8*i + (i ^ j))",
        Gap("a pattern has no exclusive or"),
        Gap("there is no exclusive or of indices; a Gather needs a table of 64 numbers"),
        "S<3,0,3> o 0 o (8,8):(8,1)",
        "lambda i0, i1: [8*i0 + (i0 ^ i1)]",
        "Lambda((i0, i1), x[8*i0 + xor(i0, i1)])",
    ),
    Map(
        "Windows",
        "the patches of im2col, 3 by 3; the last two axes are places in a patch",
        "H, W",
        "sl.window(x, [3, 3])",
        Gap("a pattern has no sums of indices"),
        Gap("there is no operator of windows; nine slices and their joins are needed"),
    ),
    Map(
        "Heads of attention",
        "features are split among 8 heads",
        "B, S, 8*d",
        "sl.transpose(sl.reshape(x, (B, S, 8, d)), (0, 2, 1, 3))",
        "rearrange(x, 'b s (h d) -> b h s d', h=8)",
        "Transpose(Reshape(x, [0, 0, 8, d]), perm=[0, 2, 1, 3])",
    ),
    Map(
        "Order of packed int4",
        "eight values of a word in the order 0 2 4 6 1 3 5 7, as AWQ packs them",
        "K, 8*n",
        "sl.reshape(sl.transpose(sl.reshape(x, (K, n, 4, 2)), (0, 1, 3, 2)), (K, 8*n))",
        "rearrange(x, 'k (n p q) -> k (n q p)', p=4, q=2)",
        "Reshape(Transpose(Reshape(x, [K, n, 4, 2]), perm=[0, 1, 3, 2]), [K, 8*n])",
        linear="sl.reshape(linear_layout({'place': [2, 4, 1]}, 'nibble').tiles(x), (K, 8*n))",
    ),
]


def source(m: Map) -> sl.Tensor:
    """Return the input of a map."""
    return sl.tensor(m.source, name="x")


# ---------------------------------------------------------------------- writing


def _cute(m: Map, t: sl.Tensor) -> str:
    return m.cute or sl.layout(t).to_cute()


def _linear(m: Map, t: sl.Tensor) -> str:
    if m.linear:
        return m.linear
    return f"{sl.linear_layout(_cute(m, t))}.view(x)"


def _strided(m: Map, t: sl.Tensor) -> str:
    if m.cute:
        raise sl.FormatError("the steps of an axis are no constant")
    found = sl.layout(t)
    for axis in range(found.rank):
        if isinstance(found[axis].shape, tuple):
            raise sl.FormatError(f"axis {axis} has several strides: {found[axis]}")
    return f"as_strided(x, {found.shape}, {found.stride})"


def _sympy(m: Map, t: sl.Tensor) -> str:
    return m.sympy or str(t.index_map.to_sympy())


def _stated(cell: str | Gap) -> str:
    if isinstance(cell, Gap):
        raise sl.FormatError(cell.reason)
    return cell


WRITERS: Mapping[str, Callable[[Map, sl.Tensor], str]] = {
    "symlayout": lambda m, t: m.operations,
    "einops": lambda m, t: _stated(m.einops),
    "CuTe": _cute,
    "linear layout": _linear,
    "strided view": _strided,
    "TVM": lambda m, t: m.tvm or t.index_map.to_tvm(),
    "SymPy": _sympy,
    "ONNX": lambda m, t: _stated(m.onnx),
}


# ---------------------------------------------------------------------- reading


def _evaluated(text: str, x: sl.Tensor, **names: Any) -> Any:
    return eval(text, {"sl": sl, "x": x, **DIMS, **names})


def _read_tvm(text: str, x: sl.Tensor, shape: Any) -> sl.Tensor:
    module = SimpleNamespace(min=sympy.Min, max=sympy.Max, const=lambda n, _: n)
    return sl.index_map(x, shape, _evaluated(text, x, T=module))


def _read_sympy(text: str, x: sl.Tensor, shape: Any) -> sl.Tensor:
    indices = {f"i{k}": sympy.Symbol(f"i{k}", integer=True, nonnegative=True) for k in range(len(shape))}
    words = {name: getattr(sympy, name) for name in ("Lambda", "Piecewise", "Mod", "floor", "Max", "Min")}
    written = eval(text, {**words, **indices, **DIMS, "x": sympy.IndexedBase("x"), "xor": sl.xor})
    return sl.from_sympy(x, shape, written)


def _read_onnx(text: str, x: sl.Tensor, _: Any) -> sl.Tensor:
    operators = ("Concat", "Pad", "Reshape", "Slice", "SpaceToDepth", "Transpose")
    found: sl.Tensor = _evaluated(text, x, **{name: sl.op(f"onnx:{name}") for name in operators})
    return found


READERS: Mapping[str, Callable[[str, sl.Tensor, Any], sl.Tensor]] = {
    "symlayout": lambda text, x, _: _evaluated(text, x),
    "einops": lambda text, x, _: _evaluated(text, x, rearrange=sl.einops.rearrange),
    "CuTe": lambda text, x, _: sl.layout(text).view(x),
    "linear layout": lambda text, x, _: _evaluated(text, x, linear_layout=sl.linear_layout),
    "strided view": lambda text, x, _: _evaluated(text, x, as_strided=sl.as_strided),
    "TVM": _read_tvm,
    "SymPy": _read_sympy,
    "ONNX": _read_onnx,
}


@functools.lru_cache(maxsize=1)
def cells() -> dict[tuple[str, str], str | Gap]:
    """Return each cell by the title of its map and its notation: its text, or why it has none."""
    found: dict[tuple[str, str], str | Gap] = {}
    for m in MAPS:
        t = _evaluated(m.operations, source(m))
        for notation, write in WRITERS.items():
            try:
                found[m.title, notation] = write(m, t)
            except (sl.FormatError, sl.ShapeError, sl.InconclusiveError) as error:
                found[m.title, notation] = Gap(_why(error))
    return found


_REASONS = {"pads": "it has pads or several pieces", "no power of two": "a size is a symbol, and no power of two"}


def _why(error: sl.SymlayoutError) -> str:
    if isinstance(error, sl.FormatError):
        return str(error)
    found = (reason for words, reason in _REASONS.items() if words in str(error))
    return next(found, "the offsets are no sizes with strides")


# ---------------------------------------------------------------------- the page

_HEAD = """# One map, many notations

Ten maps as operations, in einops, in CuTe, as a linear layout, as a strided view, as an index map of TVM, in SymPy and
in ONNX. `x` is the input. A cell is a text that symlayout reads; each is proved equal to its map for all sizes. Where a
notation has no words for a map, the cell says why.

`python -m tests.layouts.rosetta > docs/rosetta.md` writes this page, and `tests/layouts/test_rosetta.py` proves it.

- CuTe: offsets in the memory of `x`, in row-major order. An axis of the result is a mode; its first digit is the
  fastest.
- Linear layout: the values at 1, 2, 4, ... of each index, as Triton has them; `tiles` repeats it in every tile of `x`.
- Strided view: the sizes and steps of `sl.as_strided`, or of `torch.as_strided` of a contiguous tensor.
- TVM: the coordinate that is read, as `IndexMap.from_func` takes it. `sl.index_map` reads it.
- SymPy: the element that is read. `sl.from_sympy` reads it; `xor` is `sl.xor`.
- ONNX: operators with their attributes and constant inputs by name. A dim in a shape stands for a number, or for what
  Shape gives.
"""


def page() -> str:
    """Return the text of ``docs/rosetta.md``."""
    parts = [_HEAD]
    for m in MAPS:
        shape = _evaluated(m.operations, source(m)).shape
        one = "," if "," not in m.source else ""
        sentence = f"`x` is `({m.source}{one})`, the result `{shape}`: {m.use}.\n"
        parts += [f"## {m.title}\n", sentence, "| notation | text |", "|---|---|"]
        for notation in WRITERS:
            cell = cells()[m.title, notation]
            text = f"none: {cell.reason}" if isinstance(cell, Gap) else f"`{cell}`".replace("|", "\\|")
            parts.append(f"| {notation} | {text} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    print(page(), end="")
