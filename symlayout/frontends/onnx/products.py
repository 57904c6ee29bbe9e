"""ONNX's products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout.compute import contractions, reductions, scalars
from symlayout.compute.demands import spread
from symlayout.compute.elementwise import common_dtype, elementwise
from symlayout.errors import ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.elementwise import apply
from symlayout.frontends.onnx.operator import operator
from symlayout.frontends.rank import require_rank
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor
from symlayout.tensors.declaration import Body


@operator("MatMul", example=("B, M, K; K, N", "", "(B, M, N)"), kinds="rank, size_mismatch, overflow")
def mat_mul(A: Tensor, B: Tensor) -> Tensor:
    """Return the matrix product of *A* and *B*, whose first axes are broadcast together."""
    common_dtype("MatMul", (A, B))
    return contractions.matmul(A, B)


@operator(
    "Gemm",
    example=("M, K; N, K; N", "transB=1", "(M, N)"),
    kinds="rank, size_mismatch, attr_dtype",
    about={"transA": "Whether *A* is transposed.", "transB": "Whether *B* is transposed."},
)
def gemm(
    A: Tensor,
    B: Tensor,
    C: Tensor | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: Any = 0,
    transB: Any = 0,
) -> Tensor:
    """Return ``alpha * A @ B + beta * C``."""
    for x in (A, B):
        require_rank("Gemm", x, 2, 2)
    a, b = (transpose(x) if attributes.flag(n, t) else x for x, n, t in ((A, "transA", transA), (B, "transB", transB)))
    made = scaled(contractions.matmul(a, b), alpha)
    return made if C is None or beta == 0 else apply("Add", made, spread(scaled(C, beta), made.shape))


def scaled(x: Tensor, factor: float) -> Tensor:
    """Return *x* times a number."""
    if factor == 1:
        return x
    return elementwise(Body("scaled", scalars.scaled, (("factor", float(factor)),)), x, dtype=x.dtype)


@operator(
    "Einsum",
    example=("B, I, K; B, K, J", 'equation="bik,bkj->bij"', "(B, I, J)"),
    kinds="rank, size_mismatch, bad_format",
    about={"equation": "Letters for the axes of each input, and of the result after ``->``."},
)
def einsum(*Inputs: Tensor, equation: str) -> Tensor:
    """Return a sum of products, written as an equation of axes."""
    common_dtype("Einsum", Inputs)
    return _einsum(equation, Inputs)


def _einsum(equation: str, xs: Sequence[Tensor]) -> Tensor:
    text = "".join(equation.split())
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(xs):
        raise ShapeError(f"equation {shown(equation)} has {len(terms)} terms for {len(xs)} inputs", "length_mismatch")
    labels = [_labels(term, x.rank, equation) for term, x in zip(terms, xs, strict=True)]
    dots = max((sum(1 for label in each if label[0] == ".") for each in labels), default=0)
    if arrow:
        output = _labels(right, len(right.replace("...", "")) + dots, equation)
    else:
        every = [label for each in labels for label in each]
        single = sorted(label for label in set(every) if every.count(label) == 1 and label[0] != ".")
        output = [*(f".{k}" for k in range(dots - 1, -1, -1)), *single]
    unknown = set(output) - {label for each in labels for label in each}
    if unknown or len(set(output)) < len(output):
        raise ShapeError(f"equation {shown(equation)} has a result that no input has", "bad_format")
    if not all(len(set(each)) == len(each) for each in labels) and any(x.rank == 0 for x in xs):
        raise ShapeError(f"equation {shown(equation)} repeats an index", "bad_format")
    if len(xs) == 1 and len(set(labels[0])) == len(labels[0]):
        return _einsum_of_one(xs[0], labels[0], output)
    return contractions.einsum(*xs, tuple(map(tuple, labels)), tuple(output))


def _einsum_of_one(x: Tensor, labels: Sequence[str], output: Sequence[str]) -> Tensor:
    """Return a transpose, or a sum over the axes that the result lacks."""
    over = [k for k, label in enumerate(labels) if label not in output]
    if over:
        x = reductions.reduced(x, over, reductions.total, keepdims=False)
    kept = [label for label in labels if label in output]
    return transpose(x, [kept.index(label) for label in output])


def _labels(term: str, rank: int, equation: str) -> list[str]:
    """Return a label for each axis; the axes of ``...`` are numbered from the last one."""
    before, dots, after = term.partition("...")
    if not (before + after).isalpha() and before + after:
        raise ShapeError(f"equation {shown(equation)} has a term {shown(term)} that is no letters", "bad_format")
    free = rank - len(before) - len(after)
    if free < 0 or (free and not dots):
        raise ShapeError(f"equation {shown(equation)}: term {shown(term)} has other axes than rank {rank}", "rank")
    return [*before, *(f".{k}" for k in range(free - 1, -1, -1)), *after]
