"""Nests that move and fill elements."""

from __future__ import annotations

from symlayout_codegen.ir.integer_expressions import Expr, FloorDiv, FloorMod, IntLiteral, NamedInt, add, mul
from symlayout_codegen.ir.nest import (
    AffineForm,
    Carried,
    Digit,
    Local,
    Nest,
    NestGuard,
    NestPiece,
    NestWindow,
    Precondition,
)
from symlayout_codegen.ir.queries import ONE
from tests.support.nests.parts import C, H, N, W, affine, b, digits, nest, not_negative, p, q


def transpose() -> Nest:
    """``(i, j) -> (j, i)``, output (W, H)."""
    piece = NestPiece(digits(j=W, i=H), affine(0, (0, H), (1, 1)), 0, affine(0, (1, W), (0, 1)))
    return nest("transpose", "H W", [piece], mul(H, W))


def turn() -> Nest:
    """``(i, j) -> (W - 1 - j, i)``: a quarter turn of (W, H), whose columns are read from the last."""
    piece = NestPiece(
        digits(i=H, j=W), affine(0, (0, W), (1, 1)), 0, affine(mul(H, add(W, -1)), (0, 1), (1, mul(-1, H)))
    )
    return nest("turn", "H W", [piece], mul(H, W))


def transpose_planes() -> Nest:
    """``(n, w, h, c) -> (n, c, h, w)``: three digits change places."""
    piece = NestPiece(
        digits(n=N, w=W, h=H, c=C),
        affine(0, (0, mul(C, H, W)), (1, mul(C, H)), (2, C), (3, 1)),
        0,
        affine(0, (0, mul(C, H, W)), (3, mul(H, W)), (2, W), (1, 1)),
    )
    return nest("transpose_planes", "N C H W", [piece], mul(N, C, H, W))


def identity() -> Nest:
    """Four digits that coalesce to one run."""
    strides = [mul(C, H, W), mul(H, W), W, 1]
    face = affine(0, *enumerate(strides))
    piece = NestPiece(digits(n=N, c=C, h=H, w=W), face, 0, face)
    return nest("identity", "N C H W", [piece], mul(N, C, H, W))


def pad() -> Nest:
    """Pad both axes of (H, W) by p before and q after."""
    high, wide = add(H, p, q), add(W, p, q)
    piece = NestPiece(
        digits(i=high, j=wide),
        affine(0, (0, wide), (1, 1)),
        0,
        affine(mul(-1, p, add(W, 1)), (0, W), (1, 1)),
        guards=(
            NestGuard(NestWindow(affine(mul(-1, p), (0, 1)), H), 0),
            NestGuard(NestWindow(affine(mul(-1, p), (1, 1)), W), 0),
        ),
    )
    return nest("pad", "H W p q", [piece], mul(high, wide), fills=1)


def pad_two_fills(first: int = 0) -> Nest:
    """Axis 0 is padded with one fill, axis 1 with another; *first* says whose guard comes first."""
    plain = pad()
    rows, columns = plain.pieces[0].guards
    guards = (rows, NestGuard(columns.window, 1))
    piece = NestPiece(
        plain.pieces[0].digits,
        plain.pieces[0].output,
        0,
        plain.pieces[0].offset,
        guards=guards if first == 0 else guards[::-1],
    )
    return nest(f"pad_two_fills_{first}", "H W p q", [piece], plain.output_size or 0, fills=2)


def space_to_depth(block: Expr | int = b) -> Nest:
    """Blocks of (H*b, W*b) go to channels; H and W are the output's."""
    k = add(block)
    row, plane = mul(W, k), mul(H, W, k, k)
    read = affine(0, (0, mul(C, plane)), (1, row), (2, 1), (3, plane), (4, mul(k, row)), (5, k))
    write = affine(
        0,
        (0, mul(k, k, C, H, W)),
        (1, mul(k, C, H, W)),
        (2, mul(C, H, W)),
        (3, mul(H, W)),
        (4, W),
        (5, 1),
    )
    piece = NestPiece(digits(n=N, y=k, x=k, c=C, h=H, w=W), write, 0, read)
    return _block_nest(f"space_to_depth_{_suffix(k)}", piece, k)


def depth_to_space(block: Expr | int = b) -> Nest:
    """Invert `space_to_depth`: its faces change places."""
    piece = space_to_depth(block).pieces[0]
    assert piece.offset is not None
    inverse = NestPiece(piece.digits, piece.offset, 0, piece.output)
    return _block_nest(f"depth_to_space_{_suffix(add(block))}", inverse, add(block))


def _suffix(block: Expr) -> str:
    return str(block.value) if isinstance(block, IntLiteral) else "b"


def _block_nest(name: str, piece: NestPiece, k: Expr) -> Nest:
    prelude = not_negative("N", "C", "H", "W")
    parameters = "N C H W"
    if k == b:
        parameters += " b"
        prelude += (Precondition(add(b, -1), ">=", "block_lt_1", "b >= 1"),)
    size = mul(N, C, H, W, k, k)
    return nest(name, parameters, [piece], size, prelude=prelude, positive=frozenset((k,)))


def channels_last() -> Nest:
    """``(n, h, w, c) -> (n, c, h, w)`` with three channels."""
    piece = NestPiece(
        digits(n=N, h=H, w=W, c=3),
        affine(0, (0, mul(3, H, W)), (1, mul(3, W)), (2, 3), (3, 1)),
        0,
        affine(0, (0, mul(3, H, W)), (1, W), (2, 1), (3, mul(H, W))),
    )
    return nest("channels_last", "N H W", [piece], mul(3, N, H, W))


def flip() -> Nest:
    """``(i, j) -> (H - 1 - i, W - 1 - j)``."""
    piece = NestPiece(
        digits(i=H, j=W),
        affine(0, (0, W), (1, 1)),
        0,
        affine(add(mul(H, W), -1), (0, mul(-1, W)), (1, -1)),
    )
    return nest("flip", "H W", [piece], mul(H, W))


def flip_padded() -> Nest:
    """Reverse an axis and pad it: the window's coefficient is negative."""
    long = add(W, p, q)
    piece = NestPiece(
        digits(i=H, j=long),
        affine(0, (0, long), (1, 1)),
        0,
        affine(add(W, p, -1), (0, W), (1, -1)),
        guards=(NestGuard(NestWindow(affine(add(W, p, -1), (1, -1)), W), 0),),
    )
    return nest("flip_padded", "H W p q", [piece], mul(H, long), fills=1)


def carried_reshape() -> Nest:
    """(H, W) transposed, then read as rows of three: radices without a common refinement."""
    rows = NamedInt("rows")
    piece = NestPiece(
        digits(i=rows, j=3),
        affine(0, (0, 3), (1, 1)),
        0,
        affine(0, (0, mul(3, W)), (1, W), (2, add(1, mul(-1, H, W)))),
        carried=(Carried("k", affine(0, (0, 3), (1, 1)), H),),
    )
    prelude = (
        *not_negative("H", "W"),
        Precondition(add(H, -1), ">=", "block_lt_1", "H >= 1"),
        Local("rows", FloorDiv(mul(H, W), IntLiteral(3))),
        Precondition(add(mul(H, W), mul(-3, rows)), "==", "non_divisible", "H*W % 3 == 0"),
    )
    return nest("carried_reshape", "H W", [piece], mul(H, W), prelude=prelude, positive=frozenset((H,)))


def carried_guard() -> Nest:
    """Guard a carried digit: only a test in the loop decides it."""
    piece = NestPiece(
        digits(i=H, j=W),
        affine(0, (0, W), (1, 1)),
        0,
        affine(0, (0, W), (1, 1)),
        carried=(Carried("k", affine(p, (0, 1), (1, -1)), IntLiteral(2)),),
        guards=(
            NestGuard(NestWindow(affine(0, (1, 1)), q), 0),
            NestGuard(NestWindow(affine(0, (2, 1)), q), 1),
            NestGuard(NestWindow(affine(0, (0, 1)), p), 2),
        ),
    )
    return nest("carried_guard", "H W p q", [piece], mul(H, W), fills=3)


def space_to_batch(block: Expr | int = b) -> Nest:
    """One axis of length W, padded by p and q, dealt to b batches: ``0 <= b*hi + lo - p < W``."""
    k, high = add(block), NamedInt("high")
    inner = affine(mul(-1, p), (1, k), (0, 1))
    piece = NestPiece(
        digits(lo=k, hi=high, c=C),
        affine(0, (0, mul(high, C)), (1, C), (2, 1)),
        0,
        affine(mul(-1, p, C), (1, mul(k, C)), (0, C), (2, 1)),
        guards=(NestGuard(NestWindow(inner, W), 0),),
    )
    prelude = (
        *not_negative("W", "C", "p", "q"),
        Precondition(add(k, -1), ">=", "block_lt_1", "b >= 1"),
        Local("high", FloorDiv(add(W, p, q), k)),
        Precondition(add(W, p, q, mul(-1, k, high)), "==", "non_divisible", "(W + p + q) % b == 0"),
    )
    return nest(
        f"space_to_batch_{_suffix(k)}",
        "W C p q" + (" b" if k == b else ""),
        [piece],
        mul(k, high, C),
        prelude=prelude,
        fills=1,
        positive=frozenset((k,)),
    )


def joined_rows(k: int, before: int, after: int) -> Nest:
    """Join k streams to each of k rows of blocks, without *before* and *after* rows and columns at the ends, if any."""
    rows, columns = (add(mul(k, extent), -before - after) for extent in (H, W))
    piece = NestPiece(
        digits(c=C, turn=IntLiteral(k), block=H, along=W, stream=IntLiteral(k)),
        affine(
            mul(-before, add(columns, 1)),
            (0, mul(rows, columns)),
            (1, columns),
            (2, mul(k, columns)),
            (3, IntLiteral(k)),
            (4, 1),
        ),
        0,
        affine(0, (0, mul(H, W)), (1, mul(k, C, H, W)), (2, W), (3, 1), (4, mul(C, H, W))),
        windows=(
            NestWindow(affine(-before, (1, 1), (2, IntLiteral(k))), rows),
            NestWindow(affine(-before, (4, 1), (3, IntLiteral(k))), columns),
        )
        if (before, after) != (0, 0)
        else (),
    )
    prelude = (
        *not_negative("C", "H", "W"),
        Precondition(rows, ">=", "crop_exceeds", "the crops <= k*H"),
        Precondition(columns, ">=", "crop_exceeds", "the crops <= k*W"),
    )
    more = {"prelude": prelude, "source_sizes": (mul(k, k, C, H, W),)}
    return nest(f"joined_{k}_{max(before, 0)}_{after}", "C H W", [piece], mul(C, rows, columns), **more)


def batch_to_space(block: Expr | int = b) -> Nest:
    """Deal b batches of H out to one axis and crop it by p and q: a window, not a guard."""
    k, long = add(block), NamedInt("long")
    inner = affine(mul(-1, p), (0, k), (1, 1))
    piece = NestPiece(
        digits(hi=H, lo=k, c=C),
        affine(mul(-1, p, C), (0, mul(k, C)), (1, C), (2, 1)),
        0,
        affine(0, (1, mul(H, C)), (0, C), (2, 1)),
        windows=(NestWindow(inner, long),),
    )
    prelude = (
        *not_negative("H", "C", "p", "q"),
        Precondition(add(k, -1), ">=", "block_lt_1", "b >= 1"),
        Local("long", add(mul(H, k), mul(-1, p), mul(-1, q))),
        Precondition(long, ">=", "crop_exceeds", "p + q <= b*H"),
    )
    return nest(
        f"batch_to_space_{_suffix(k)}",
        "H C p q" + (" b" if k == b else ""),
        [piece],
        mul(long, C),
        prelude=prelude,
        positive=frozenset((k,)),
    )


def deal_rows() -> Nest:
    """Rows of W, padded by p and q, are dealt to two planes: the two fastest digits are those of the block."""
    high = NamedInt("high")
    inner = affine(mul(-1, p), (2, 2), (0, 1))
    piece = NestPiece(
        digits(lo=2, row=H, hi=high),
        affine(0, (0, mul(H, high)), (1, high), (2, 1)),
        0,
        affine(mul(-1, p), (1, W), (2, 2), (0, 1)),
        guards=(NestGuard(NestWindow(inner, W), 0),),
    )
    prelude = (
        *not_negative("H", "W", "p", "q"),
        Local("high", FloorDiv(add(W, p, q), IntLiteral(2))),
        Precondition(add(W, p, q, mul(-2, high)), "==", "non_divisible", "(W + p + q) % 2 == 0"),
    )
    return nest("deal_rows", "H W p q", [piece], mul(2, H, high), prelude=prelude, fills=1)


def deal_padded_rows(fill: int = 0) -> Nest:
    """Rows of W, padded by one, are dealt to two planes; p rows before them, and q after, are *fill*."""
    row = NestGuard(NestWindow(affine(mul(-1, p), (1, 1)), H), fill)
    piece = NestPiece(
        digits(lo=2, row=add(p, H, q), hi=add(W, 1)),
        affine(0, (0, mul(add(p, H, q), add(W, 1))), (1, add(W, 1)), (2, 1)),
        0,
        affine(add(mul(-2, p, W), -1), (1, mul(2, W)), (2, 2), (0, 1)),
        guards=(row, NestGuard(NestWindow(affine(-1, (2, 2), (0, 1)), mul(2, W)), 0)),
    )
    size = mul(2, add(p, H, q), add(W, 1))
    return nest(f"deal_padded_rows_{fill}", "H W p q", [piece], size, fills=2, source_sizes=(mul(2, H, W),))


def deal_sheared_rows() -> Nest:
    """Rows of W, padded by one, are dealt to two planes of each of C images, whose rows begin one further each time."""
    rows = add(p, H, q)
    row = NestGuard(NestWindow(affine(mul(-1, p), (0, 1), (2, 1)), H), 0)
    piece = NestPiece(
        digits(img=C, lo=2, row=rows, hi=add(W, 1)),
        affine(0, (0, mul(2, rows, add(W, 1))), (1, mul(rows, add(W, 1))), (2, add(W, 1)), (3, 1)),
        0,
        affine(add(mul(-2, p, W), -1), (0, mul(2, W)), (2, mul(2, W)), (3, 2), (1, 1)),
        guards=(row, NestGuard(NestWindow(affine(-1, (3, 2), (1, 1)), mul(2, W)), 0)),
    )
    size = mul(2, C, rows, add(W, 1))
    return nest("deal_sheared_rows", "C H W p q", [piece], size, fills=1, source_sizes=(mul(2, H, W),))


def deal_padded_images(margin: int = 1) -> Nest:
    """Images, p of them, of 2*q planes of 2*H rows of 2*W are dealt out in blocks of two, with a *margin* around."""
    depth, height, width = (add(half, margin) for half in (q, H, W))
    image = mul(depth, height, width)
    steps = (mul(4, H, W), mul(2, W), ONE)
    blocks, parts = ("plane", "row", "hi"), ("a", "b", "lo")
    extents = {"img": p, "plane": depth, "a": 2, "b": 2, "row": height, "lo": 2, "hi": width}
    at = {name: k for k, name in enumerate(extents)}
    axes = [(at[block], at[part]) for block, part in zip(blocks, parts, strict=True)]
    reads = [
        (k, mul(size, step))
        for axis, step in zip(axes, steps, strict=True)
        for k, size in zip(axis, (2, 1), strict=True)
    ]
    guards = (
        NestGuard(NestWindow(affine(-margin, (block, 2), (part, 1)), mul(2, half)), 0)
        for (block, part), half in zip(axes, (q, H, W), strict=True)
    )
    writes = [(at[part], mul(2**k, p, image)) for k, part in enumerate(reversed(parts))]
    writes += [(at["img"], image), (at["plane"], mul(height, width)), (at["row"], width), (at["hi"], ONE)]
    piece = NestPiece(
        digits(**extents),
        affine(0, *writes),
        0,
        affine(mul(-margin, add(*steps)), (at["img"], mul(8, q, H, W)), *reads),
        guards=tuple(guards),
    )
    sizes = (mul(8, p, q, H, W),)
    return nest(f"deal_images_{margin}", "H W p q", [piece], mul(8, p, image), fills=1, source_sizes=sizes)


def deal_rows_back() -> Nest:
    """Two planes of rows of W are dealt out to one row each, cropped by p and q."""
    long = NamedInt("long")
    inner = affine(mul(-1, p), (1, 2), (2, 1))
    piece = NestPiece(
        digits(row=H, hi=W, lo=2),
        affine(mul(-1, p), (0, long), (1, 2), (2, 1)),
        0,
        affine(0, (2, mul(H, W)), (0, W), (1, 1)),
        windows=(NestWindow(inner, long),),
    )
    prelude = (
        *not_negative("H", "W", "p", "q"),
        Local("long", add(mul(2, W), mul(-1, p), mul(-1, q))),
        Precondition(long, ">=", "crop_exceeds", "p + q <= 2*W"),
    )
    return nest("deal_rows_back", "H W p q", [piece], mul(H, long), prelude=prelude)


def deal_whole(block: int, before: int, after: int, *, run: int = 1, crop: bool = False) -> Nest:
    """Rows of ``block*W`` runs, padded by numbers, are dealt to as many planes; or, with *crop*, these back to rows.

    All is known of the blocks: ``block*hi + lo - before`` is in the array for W of them, whatever *lo* is.
    """
    k, margin = block, (before + after) // block
    high, inside = add(W, margin), mul(k, W)
    plane, image = add(mul(H, k, high, run), 1), add(mul(H, inside, run), 1)  # with a gap, so that they stay a digit
    order = ("plane", "row", "hi", "lo", "c") if crop else ("plane", "lo", "row", "hi", "c")
    extents = {"plane": N, "row": H, "hi": high, "lo": IntLiteral(k), "c": IntLiteral(run)}
    at = {name: n for n, name in enumerate(order)}
    digit = tuple(Digit(name, extents[name]) for name in order)
    dealt, rows = (
        affine(constant, *((at[name], mul(coefficient, run)) for name, coefficient in steps.items()), (at["c"], 1))
        for constant, steps in (
            (0, {"lo": mul(H, high), "row": high, "hi": ONE}),
            (-before * run, {"row": inside, "hi": IntLiteral(k), "lo": ONE}),
        )
    )
    dealt = AffineForm(dealt.constant, ((at["plane"], plane), *dealt.terms))
    rows = AffineForm(rows.constant, ((at["plane"], image), *rows.terms))
    window = NestWindow(affine(-before, (at["hi"], k), (at["lo"], 1)), inside)
    name = f"deal_{k}_{before}_{after}_{run}"
    if crop:
        return nest(f"{name}_back", "N H W", [NestPiece(digit, rows, 0, dealt, windows=(window,))], mul(N, image))
    piece = NestPiece(digit, dealt, 0, rows, guards=(NestGuard(window, 0),))
    return nest(name, "N H W", [piece], mul(N, plane), fills=1)


def halves() -> Nest:
    """Every second of n elements, which are known to be even in number, then the others."""
    n, half = NamedInt("n"), NamedInt("half")
    piece = NestPiece(digits(lo=2, hi=half), affine(0, (0, half), (1, 1)), 0, affine(0, (0, 1), (1, 2)))
    prelude = (
        *not_negative("n"),
        Precondition(FloorMod(add(n, 2), IntLiteral(2)), "==", "non_divisible", "(n + 2) % 2 == 0"),
        Local("half", FloorDiv(n, IntLiteral(2))),
    )
    return nest("halves", "n", [piece], n, prelude=prelude)


def two_windows() -> Nest:
    """Cut a box by two windows that may not meet, one of them on a sum of two digits."""
    cut = NestPiece(
        digits(i=H, j=W),
        affine(0, (0, W), (1, 1)),
        0,
        affine(0, (0, W), (1, 1)),
        windows=(NestWindow(affine(mul(-1, p), (0, 1), (1, 1)), q), NestWindow(affine(0, (1, 1)), q)),
    )
    return nest("two_windows", "H W p q", [cut], mul(H, W))


def unknown_step() -> Nest:
    """Guard by a window whose coefficient is a parameter of any sign, or 0."""
    piece = NestPiece(
        digits(i=H, j=W),
        affine(0, (0, W), (1, 1)),
        0,
        affine(0, (0, W), (1, 1)),
        guards=(NestGuard(NestWindow(affine(p, (0, 1), (1, q)), W), 0),),
    )
    prelude = not_negative("H", "W")
    return nest("unknown_step", "H W p q", [piece], mul(H, W), prelude=prelude, fills=1, nonnegative=frozenset())


def concatenate() -> Nest:
    """Two sources and a fill, one after the other along the rows."""
    sources = []
    start: Expr = IntLiteral(0)
    for k, wide in enumerate((W, C)):
        sources.append(
            NestPiece(
                digits(i=H, j=wide),
                affine(start, (0, add(W, C, p)), (1, 1)),
                k,
                affine(0, (0, wide), (1, 1)),
            )
        )
        start = add(start, wide)
    filled = NestPiece(digits(i=H, j=p), affine(start, (0, add(W, C, p)), (1, 1)), None, None, fill=1)
    return nest(
        "concatenate",
        "H W C p",
        [*sources, filled],
        mul(H, add(W, C, p)),
        sources=("left", "right"),
        source_sizes=(mul(H, W), mul(H, C)),
        fills=2,
    )


def slices(backwards: bool = False) -> Nest:
    """Every second row and column of (C, 2*H, 2*W), by the place that it starts from, one after the other.

    With *backwards*, the rows from the last on, and the pieces' windows count down.
    """
    pieces = []
    for k, (i, j) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
        first = add(mul(2, W, add(mul(2, H), -2)), mul(2, i, W), j) if backwards else add(mul(2, i, W), j)
        shift = mul(-4, k, C, H, W)
        window = affine(add(mul(k + 1, C), -1), (0, -1)) if backwards else affine(mul(-k, C), (0, 1))
        rows = mul(-4, W) if backwards else mul(4, W)
        pieces.append(
            NestPiece(
                digits(c=mul(4, C), i=H, j=W),
                affine(0, (0, mul(H, W)), (1, W), (2, 1)),
                0,
                affine(add(first, shift), (0, mul(4, H, W)), (1, rows), (2, 2)),
                windows=(NestWindow(window, C),),
            )
        )
    return nest(f"slices{'_backwards' * backwards}", "C H W", pieces, mul(4, C, H, W))


def windows() -> Nest:
    """Windows of 3 by 3 of (C, H + 2, W + 2), each with its channels a row of the output."""
    wide = add(W, 2)
    plane = mul(add(H, 2), wide)
    write = affine(0, (0, mul(9, C, W)), (1, mul(9, C)), (2, 9), (3, 3), (4, 1))
    piece = NestPiece(
        digits(y=H, x=W, c=C, i=3, j=3), write, 0, affine(0, (0, wide), (1, 1), (2, plane), (3, wide), (4, 1))
    )
    return nest("windows", "C H W", [piece], mul(9, C, H, W))


def strided() -> Nest:
    """Read a source of any strides: parameters that may be negative or 0."""
    s, t = NamedInt("s"), NamedInt("t")
    piece = NestPiece(digits(i=H, j=W), affine(0, (0, W), (1, 1)), 0, affine(0, (0, s), (1, t)))
    return nest("strided", "H W s t", [piece], mul(H, W), prelude=not_negative("H", "W"), nonnegative=frozenset())


def scalar() -> Nest:
    """No digit at all."""
    return nest("scalar", "", [NestPiece((), affine(0), 0, affine(0))], 1)


def all_fill() -> Nest:
    """No source is read."""
    piece = NestPiece(digits(i=H, j=W), affine(0, (0, W), (1, 1)), None, None, fill=0)
    return nest("all_fill", "H W", [piece], mul(H, W), fills=1)


def padded_parts() -> Nest:
    """Two parts of x, with fills around both: a piece that only its guard fills, and one for each part."""
    around = NestWindow(affine(mul(-1, p), (0, 1)), mul(2, W))
    frame = NestPiece(digits(i=add(mul(2, W), p, q)), affine(0, (0, 1)), None, None, guards=(NestGuard(around, 0),))
    pieces = [frame]
    for start in (0, W):
        shift = add(mul(-1, p), mul(-1, start))
        part = NestWindow(affine(shift, (0, 1)), W)
        windows = (part, around)
        pieces.append(NestPiece(frame.digits, frame.output, 0, affine(shift, (0, 1)), windows=windows))
    return nest("padded_parts", "W p q", pieces, add(mul(2, W), p, q), fills=1)
