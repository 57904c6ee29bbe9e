"""Nests that add elements: adjoints and sums."""

from __future__ import annotations

from symlayout_codegen.ir.integer_expressions import Expr, NamedInt, add, mul
from symlayout_codegen.ir.nest import (
    Add,
    Local,
    Nest,
    NestPiece,
    NestWindow,
    Precondition,
)
from tests.support.nests.parts import C, H, W, affine, b, digits, nest, not_negative, p, q


def zero(size: Expr | int) -> NestPiece:
    """Fill number 0 over all of a contiguous output."""
    return NestPiece(digits(z=size), affine(0, (0, 1)), None, None, fill=0)


def tile_adjoint() -> Nest:
    """(q, W) summed over its first axis, which may be empty: the loops are then left out."""
    piece = NestPiece(
        digits(r=q, i=W),
        affine(0, (1, 1)),
        0,
        affine(0, (0, W), (1, 1)),
        windows=(NestWindow(affine(), mul(q, W)),),
    )
    return nest("tile_adjoint", "W q", [piece], W, fills=1, combine=Add("uint32"), background=zero(W))


def repeat_adjoint() -> Nest:
    """(W, 3) summed over its last axis."""
    piece = NestPiece(digits(i=W, r=3), affine(0, (0, 1)), 0, affine(0, (0, 3), (1, 1)))
    return nest("repeat_adjoint", "W", [piece], W, fills=1, combine=Add("uint32"), background=zero(W))


def window_adjoint() -> Nest:
    """Windows of b elements, p apart, of an axis padded by q, are added up where they overlap."""
    long = NamedInt("long")
    piece = NestPiece(
        digits(w=C, k=b),
        affine(mul(-1, q), (0, p), (1, 1)),
        0,
        affine(0, (0, b), (1, 1)),
        windows=(NestWindow(affine(mul(-1, q), (0, p), (1, 1)), long),),
    )
    prelude = (
        *not_negative("C", "b", "p", "q"),
        Local("long", add(mul(C, p), b, mul(-1, q))),
        Precondition(long, ">=", "crop_exceeds", "q <= C*p + b"),
    )
    return nest(
        "window_adjoint",
        "C b p q",
        [piece],
        long,
        prelude=prelude,
        fills=1,
        combine=Add("uint32"),
        background=zero(long),
    )


def image_adjoint(run: int = 3) -> Nest:
    """Windows of 2 x *run* elements of each of C channels, one element apart, are added up in their pictures."""
    wide = add(W, run - 1)
    plane = mul(add(H, 1), wide)
    patch = mul(2, run)
    piece = NestPiece(
        digits(y=H, x=W, c=C, k=2, l=run),
        affine(0, (0, wide), (1, 1), (2, plane), (3, wide), (4, 1)),
        0,
        affine(0, (0, mul(patch, C, W)), (1, mul(patch, C)), (2, patch), (3, run), (4, 1)),
        apart=(2,),
    )
    ground = NestPiece(digits(c=C, z=plane), affine(0, (0, plane), (1, 1)), None, None, fill=0, apart=(0,))
    size = mul(C, plane)
    name = f"image_adjoint_{run}"
    return nest(name, "H W C", [piece], size, fills=1, combine=Add("float32"), background=ground)


def block_sum() -> Nest:
    """Add up rows of W that are cut into pairs from p on, in their own order: no pairs are dealt with first."""
    inner = affine(mul(-1, p), (1, 2), (2, 1))
    piece = NestPiece(
        digits(row=H, hi=C, lo=2),
        affine(mul(-1, p), (1, 2), (2, 1)),
        0,
        affine(mul(-1, p), (0, W), (1, 2), (2, 1)),
        windows=(NestWindow(inner, W),),
    )
    return nest("block_sum", "H W C p", [piece], W, fills=1, combine=Add("uint32"), background=zero(W))


def crop_adjoint() -> Nest:
    """Every second element of 2*W + p is written, the others are zero."""
    long = add(mul(2, W), p)
    piece = NestPiece(digits(i=W), affine(0, (0, 2)), 0, affine(0, (0, 1)))
    return nest("crop_adjoint", "W p", [piece], long, fills=1, background=zero(long))
