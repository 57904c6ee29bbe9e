"""Standalone C kernels that find their dims in the shapes of arrays, and a library of them for onnxruntime."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import coefficient_of, names_of
from symlayout.run.entry_checks import Prelude
from symlayout.run.lower import lower
from symlayout.run.standalone_c import Unit, emit
from symlayout.tensors.chain import Tensor
from symlayout_codegen.emit.header import VERSION, template
from symlayout_codegen.emit.printer import print_extents
from symlayout_codegen.emit.text import comment_text, wrapped
from symlayout_codegen.ir.nest import Nest

LIBRARY = "symlayout_moves"


@dataclass(frozen=True, slots=True)
class BoundKernel:
    """A kernel that moves elements, and what a call of it gets.

    Attributes
    ----------
    name : str
        The C function.
    tensor : Tensor
        What the kernel computes.
    inputs : tuple of Tensor
        Leaves, in the order of a call: those of *tensor*, and others whose shapes tell the values of dims.
    types : tuple of int
        ONNX's numbers of the element types of the inputs, then of the output.
    """

    name: str
    tensor: Tensor
    inputs: tuple[Tensor, ...]
    types: tuple[int, ...]

    @property
    def arguments(self) -> list[int]:
        """Which inputs the C function reads elements of, in the order of its sources."""
        places = {leaf.key: k for k, leaf in enumerate(self.inputs)}
        return [places[leaf.key] for leaf in self.tensor.leaves()]


@dataclass(frozen=True, slots=True)
class Solved:
    """How a shape tells the value of a dim: ``(extent * times - plus) / by``.

    Attributes
    ----------
    dim : str
        The dim.
    place, axis : int
        The input, and its axis.
    """

    dim: str
    place: int
    axis: int
    times: int
    plus: int
    by: int


def solve(t: Tensor, inputs: Sequence[Tensor]) -> list[Solved] | None:
    """Return how the shapes of *inputs* tell each dim of *t*; None unless they tell all, by axes of one dim each."""
    found: dict[str, Solved] = {}
    for place, leaf in enumerate(inputs):
        for axis, e in enumerate(leaf.extents):
            top, bottom = leaf.facts.to_user(e)
            names = list(names_of(top))
            if isinstance(top, int) or not isinstance(bottom, int) or len(names) != 1 or names[0] in found:
                continue
            split = coefficient_of(top, names[0])
            if split is None or not isinstance(split[0], int) or not isinstance(split[1], int):
                continue
            made = Solved(names[0], place, axis, bottom, split[1], split[0])
            if made.by > 0:
                found[names[0]] = made
    dims = list(t.facts.dims)
    return [found[name] for name in dims] if found.keys() >= set(dims) else None


def kernel_files(kernels: Iterable[BoundKernel], command: str) -> dict[str, str]:
    """Return the C of kernels, of functions that bind their dims, and of an onnxruntime library, by file name.

    Parameters
    ----------
    kernels : iterable of BoundKernel
        At least one.
    command : str
        The command that writes the files again.
    """
    chosen = list(kernels)
    units = [Unit(k.tensor, k.name, _dtype(k.tensor).itemsize, command) for k in chosen]
    files = emit(units, LIBRARY)
    values = {"version": VERSION, "library": LIBRARY}
    files[f"{LIBRARY}_bound.h"] = Template(template("bound_kernels.h")).substitute(values)
    table = [_row(k) for k in chosen]
    files[f"{LIBRARY}_bound.c"] = Template(template("bound_kernels.c")).substitute(
        values,
        functions="\n".join(_functions(k) for k in chosen),
        table="\n".join(table),
        count=len(chosen),
    )
    files["onnxruntime/custom_ops.c"] = Template(template("custom_ops.c")).substitute(values)
    files["onnxruntime/CMakeLists.txt"] = Template(template("custom_ops.cmake")).substitute(values)
    return files


def _dtype(t: Tensor) -> np.dtype[Any]:
    assert t.dtype is not None
    return t.dtype


def _functions(kernel: BoundKernel) -> str:
    """Return the C functions of one kernel: the values of its dims, its extents, and its call."""
    name, t = kernel.name, kernel.tensor
    solved = solve(t, kernel.inputs)
    assert solved is not None
    prelude = Prelude(t.facts)
    dims = tuple(prelude.identifier(dim) for dim in t.facts.dims)
    prelude.check_requirements()
    known = [
        (place, axis, prelude.expr(e))
        for place, leaf in enumerate(kernel.inputs)
        for axis, e in enumerate(leaf.extents)
        if _is_known(leaf, t)
    ]
    extents = [*(e for _, _, e in known), *(prelude.expr(e) for e in t.extents)]
    nest = Nest(name, dims, tuple(prelude.steps), (), (), None, ())
    lines = [print_extents(nest, extents)]
    lines += [f"static int32_t {name}_bind(const int64_t *const *shape, int64_t *dim, int64_t *output)", "{"]
    lines += [f"    int64_t extent[{max(len(extents), 1)}];"]
    for k, s in enumerate(solved):
        at = f"shape[{s.place}][{s.axis}]"
        if (s.times, s.plus, s.by) == (1, 0, 1):
            lines.append(f"    dim[{k}] = {at};  /* {comment_text(s.dim)} */")
        else:
            lines.append(f"    if (!solved({at}, {s.times}, {s.plus}, {s.by}, &dim[{k}]))  /* {comment_text(s.dim)} */")
            lines.append("        return SL_SIZE_MISMATCH;")
    lines += [
        f"    const int32_t status = {name}_extents(dim, extent);",
        "    if (status != SL_OK)",
        "        return status;",
    ]
    for k, (place, axis, _) in enumerate(known):
        lines += [f"    if (shape[{place}][{axis}] != extent[{k}])", "        return SL_SIZE_MISMATCH;"]
    if not known and not solved:
        lines.append("    (void)shape;")
    lines += [] if solved else ["    (void)dim;"]
    lines += [f"    output[{k}] = extent[{len(known) + k}];" for k in range(t.rank)]
    lines += [] if t.rank else ["    (void)output;"]
    lines += ["    return SL_OK;", "}", ""]
    _, fills = lower(t, name)
    bits = b"".join(np.asarray(value, _dtype(t)).tobytes() for value in fills)
    if bits:
        lines += [wrapped(f"static const unsigned char {name}_fills[] = {{", [str(b) for b in bits], "};"), ""]
    lines += [
        f"static int32_t {name}_call(const int64_t *dim, const void *const *data, void *dst)",
        "{",
        *([] if dims else ["    (void)dim;"]),
    ]
    given = [f"dim[{k}]" for k in range(len(dims))] + [f"data[{k}]" for k in kernel.arguments] + ["dst"]
    lines += ["    (void)data;", wrapped(f"    return {name}(", given + [f"{name}_fills"] * bool(bits), ");"), "}", ""]
    ranks = [leaf.rank for leaf in kernel.inputs] + [t.rank]
    lines += [wrapped(f"static const int32_t {name}_ranks[] = {{", list(map(str, ranks)), "};")]
    lines += [wrapped(f"static const int32_t {name}_types[] = {{", list(map(str, kernel.types)), "};"), ""]
    return "\n".join(lines)


def _is_known(leaf: Tensor, t: Tensor) -> bool:
    """Return whether the dims of *t* determine the extents of an input: it is a source, or its extents are dims."""
    if leaf.key in {source.key for source in t.leaves()}:
        return True
    return all(names_of(e) <= t.facts.dims.keys() for e in leaf.extents)


def _row(kernel: BoundKernel) -> str:
    name = kernel.name
    dims = len(kernel.tensor.facts.dims)
    row = [f'"{name}"', str(len(kernel.inputs)), str(dims)]
    row += [f"{name}_{part}" for part in ("ranks", "types", "bind", "call")]
    return wrapped("    {", row, "},")
