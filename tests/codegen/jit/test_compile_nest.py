"""Compiled C does what the nest says: every hand-made nest, many shapes, every element size."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from symlayout_codegen import CompiledKernel, Nest, PreconditionFailed, compile_nest, simulate
from symlayout_codegen.ir.integer_expressions import IntLiteral, add
from symlayout_codegen.ir.nest import Add, AffineForm, Digit, NestPiece, Term
from symlayout_codegen.jit.load import foreign_functions
from tests.support import nests

MARGIN = 64
"""Elements on each side of the output that must stay as they are."""


def pointers(*addresses: int) -> list[object]:
    return [foreign_functions().cast("void *", address) for address in addresses]


def source_bounds(written: dict[int, tuple[Term, ...]], name: str) -> tuple[int, int]:
    """Return the least and one past the greatest offset that is read from source *name*."""
    offsets = [offset for terms in written.values() for source, offset in terms if source == name]
    return (min(offsets), max(offsets) + 1) if offsets else (0, 0)


def random_elements(count: int, size: int, seed: int) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (count, size), dtype=np.uint8)


def check(kernel: CompiledKernel, nest: Nest, arguments: tuple[int, ...]) -> None:
    """Assert that one call writes what `simulate` says, and nothing else."""
    values = dict(zip(nest.parameters, arguments, strict=True))
    size = kernel.element_size
    try:
        written = simulate(nest, values)
    except ValueError as error:
        broken = str(error)
        with pytest.raises(PreconditionFailed) as caught:
            kernel(arguments, [0] * len(nest.sources), 0, 0 if nest.fills else None)
        assert (caught.value.kind, values) == (broken, values)
        return
    memory: dict[str, tuple[NDArray[np.uint8], int]] = {}
    addresses = []
    for seed, name in enumerate(nest.sources):
        low, high = source_bounds(written, name)
        # One byte off: no alignment may be relied on.
        buffer = np.empty((high - low) * size + 1, dtype=np.uint8)
        buffer[1:] = random_elements(high - low, size, seed).ravel()
        memory[name] = buffer[1:].reshape(high - low, size), low
        addresses.append(buffer.ctypes.data + 1 - low * size)
    fills = random_elements(nest.fills, size, 99)

    def element(term: Term) -> NDArray[np.uint8]:
        elements, low = memory.get(term[0], (fills, 0))
        return np.asarray(elements[term[1] - low])

    count = max(written, default=-1) + 1
    before = random_elements(count + 2 * MARGIN, size, 7)
    expected = before.copy()
    for at, terms in written.items():
        expected[MARGIN + at] = element(terms[0])
        if nest.combine is not None:
            numbers = np.stack([element(term) for term in terms]).view(nest.combine.number)
            expected[MARGIN + at] = numbers.sum(0, numbers.dtype).view(np.uint8)
    fill = [fills.ctypes.data] if nest.fills else []
    for parts in (1, 5):
        out = before.copy()
        for part in reversed(range(parts)):
            at = out.ctypes.data + MARGIN * size
            status = kernel.function(part, parts, *arguments, *pointers(*addresses, at, *fill))
            assert status == 0
        assert np.array_equal(out, expected), (values, parts, np.argwhere((out != expected).any(1)) - MARGIN)


def samples(nest: Nest) -> list[tuple[int, ...]]:
    """Return many small arguments, -1 and 0 among them, and some long ones that reach the tiles."""
    count = len(nest.parameters)
    generator = np.random.default_rng(0)
    small = list(itertools.product((-1, 0, 1, 2, 3), repeat=count))
    chosen = [small[i] for i in generator.permutation(len(small))[:50]]
    chosen += [tuple(map(int, generator.integers(1, 8, count))) for _ in range(10)]
    chosen += [tuple(37 if k == at else 2 for k in range(count)) for at in range(count)]
    if count <= 4:
        chosen += [tuple(37 if k in (at, at - 1) else 1 for k in range(count)) for at in range(count)]
    return [arguments for arguments in chosen if math.prod(max(1, n) for n in arguments) <= 1500]


@pytest.mark.slow
@pytest.mark.parametrize("nest", nests.ALL, ids=lambda nest: nest.name)
def test_kernel_writes_what_the_nest_says(nest: Nest) -> None:
    kernel = compile_nest(nest, 4)
    for arguments in samples(nest):
        check(kernel, nest, arguments)


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", [1, 2, 3, 8, 16])
@pytest.mark.parametrize(
    "nest",
    [nests.transpose(), nests.pad(), nests.space_to_depth(2), nests.depth_to_space()],
    ids=lambda nest: nest.name,
)
def test_every_element_size(nest: Nest, size: int) -> None:
    kernel = compile_nest(nest, size)
    for arguments in samples(nest)[::5]:
        check(kernel, nest, arguments)


@pytest.mark.sample(2)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 16, 40])
def test_transposes_of_every_size_around_the_tiles(size: int) -> None:
    """Sides next to those of a register's tile and of a cache line's, and of a power of two."""
    kernel = compile_nest(nests.transpose(), size)
    for shape in itertools.product((1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 64, 65, 130, 256, 300), repeat=2):
        x = random_elements(math.prod(shape), size, 0).reshape(*shape, size)
        memory = np.full((shape[1] * shape[0] + 2, size), 7, np.uint8)
        kernel(shape, [x], memory.ctypes.data + size)
        assert np.array_equal(memory[1:-1].reshape(shape[1], shape[0], size), x.transpose(1, 0, 2)), shape
        assert (memory[[0, -1]] == 7).all(), shape


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("nest", [nests.deal_rows(), nests.deal_rows_back()], ids=lambda nest: nest.name)
def test_long_rows_in_blocks(nest: Nest, size: int) -> None:
    """Rows long enough for vectors, cut or padded within the first and the last blocks."""
    kernel = compile_nest(nest, size)
    for long, p, q in itertools.product((64, 129, 150), (0, 1, 2, 3, 5), (0, 1, 2, 5)):
        check(kernel, nest, (2, long, p, q))


def test_buffers_and_addresses_are_the_same() -> None:
    kernel = compile_nest(nests.transpose(), 4)
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    first, second = np.empty((4, 3), np.float32), np.empty((4, 3), np.float32)
    kernel((3, 4), [x], first)
    kernel((3, 4), [x.ctypes.data], second.ctypes.data)
    assert np.array_equal(first, x.T)
    assert np.array_equal(second, x.T)


def test_failed_precondition_names_its_kind_and_writes_nothing() -> None:
    kernel = compile_nest(nests.batch_to_space(), 1)
    out = np.full(8, 7, np.uint8)
    with pytest.raises(PreconditionFailed) as caught:
        kernel((2, 1, 3, 3, 2), [out], out)
    assert (caught.value.kind, str(caught.value)) == ("crop_exceeds", "p + q <= b*H")
    assert (out == 7).all()


@pytest.mark.parametrize("huge", [2**62, 2**63 - 1, 2**63, -(2**63) - 1, 10**30])
def test_sizes_beyond_int64_are_overflow_and_never_wrap(huge: int) -> None:
    kernel = compile_nest(nests.batch_to_space(), 1)
    with pytest.raises(PreconditionFailed) as caught:
        kernel((huge, 1, 0, 0, 4), [0], 0)
    assert caught.value.kind == ("bad_extent" if huge < 0 else "overflow")


def test_readonly_output_is_refused_by_the_buffer_protocol() -> None:
    kernel = compile_nest(nests.transpose(), 4)
    out = np.zeros((4, 3), np.float32)
    out.flags.writeable = False
    with pytest.raises((BufferError, ValueError), match=r"read-only|not writable"):
        kernel((3, 4), [np.zeros((3, 4), np.float32)], out)


@pytest.mark.parametrize(("each", "within"), [(0, 5), (1, 3), (2, 3), (1, 40)])
def test_sums_of_floats_are_in_order(each: int, within: int) -> None:
    """Several sums side by side, or columns from the last: each element gets its terms in the order of the points."""
    piece = NestPiece(
        nests.digits(i=nests.N, j=within), nests.affine(0, (0, 1), (1, each)), 0, nests.affine(0, (0, within), (1, 1))
    )
    ground = NestPiece(nests.digits(z=add(nests.N, within * each)), nests.affine(0, (0, 1)), None, None, fill=0)
    size = add(nests.N, within * each)
    kernel = compile_nest(nests.nest("sums", "N", [piece], size, fills=1, combine=Add("float32"), background=ground), 4)
    for rows in (1, 7, 8, 9, 41, 2050):
        x = np.random.default_rng(rows).standard_normal(rows * within, np.float32)
        out, expected = np.empty((2, rows + within * each), np.float32)
        expected[:] = 0
        for i, j in itertools.product(range(rows), range(within)):
            expected[i + each * j] += x[i * within + j]
        kernel((rows,), [x], out, np.zeros(1, np.float32))
        assert np.array_equal(out.view(np.uint32), expected.view(np.uint32)), rows


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("order", "size"),
    list(zip(itertools.permutations(range(4)), itertools.cycle((1, 2, 4, 1, 8, 16, 3)), strict=False)),
    ids=str,
)
def test_axes_of_every_order_change_places(order: tuple[int, ...], size: int) -> None:
    """Tiles of axes that are each shorter than a cache line."""
    extents = (3, 20, 7, 34)
    names = [Digit(f"i{k}", IntLiteral(extents[k])) for k in range(4)]
    strides = [math.prod(extents[k + 1 :]) for k in range(4)]
    shape = [extents[k] for k in order]
    written = affine_of({k: math.prod(shape[at + 1 :]) for at, k in enumerate(order)})
    piece = NestPiece(tuple(names), written, 0, affine_of(dict(enumerate(strides))))
    x = random_elements(math.prod(extents), size, 0).reshape(*extents, size)
    memory = np.full((math.prod(extents) + 2, size), 7, np.uint8)
    kernel = compile_nest(nests.nest("permute", "", [piece], math.prod(extents)), size)
    kernel((), [x], memory.ctypes.data + size)
    assert np.array_equal(memory[1:-1].reshape(*shape, size), x.transpose(*order, 4))
    assert (memory[[0, -1]] == 7).all()


def affine_of(strides: dict[int, int]) -> AffineForm:
    return AffineForm(IntLiteral(0), tuple((k, IntLiteral(stride)) for k, stride in strides.items()))


def test_source_and_schedule_are_text() -> None:
    kernel = compile_nest(nests.transpose(), 4)
    assert kernel.source.startswith("/* Generated by symlayout")
    assert "sl_transpose(to, H*j_begin + i_begin, sl_axis_1(j_end - j_begin, H), from0, " in kernel.schedule


def test_function_takes_cffi_pointers_for_callers_in_a_hurry() -> None:
    kernel = compile_nest(nests.transpose(), 4)
    x, out = np.arange(6, dtype=np.float32).reshape(2, 3), np.empty((3, 2), np.float32)
    assert kernel.function(0, 1, 2, 3, kernel.pointer(x), kernel.pointer(out)) == 0
    assert np.array_equal(out, x.T)
