"""What a user's typed program does: mypy and pyright check it, and it runs.

``assert_type`` says what a type checker has to find.  Each ignored line is a mistake that a checker has to find, since
an ignore without one is an error too.
"""

from __future__ import annotations

from typing import Any, assert_type

import numpy as np

import symlayout as sl
from symlayout.tensors.declaration import Declared, Fill, Operand, index_map


@sl.operation
def shifted(x: Operand, by: int) -> Declared:
    """Move a vector, with zeros where nothing was."""
    return index_map(x.shape, lambda i: (i - by,), fill=Fill(0))


def shapes() -> None:
    """Dims, shapes and what is known of them."""
    block = sl.dim("b", min=1)
    n, h, w = sl.dims("N h w")
    x = sl.tensor((n, block * h, block * w, 3), dtype=np.float32, name="x")
    assert_type(x, sl.Tensor)
    y = sl.space_to_depth(x, block, depth_axis=3)
    assert_type(y, sl.Tensor)
    assert_type(y.rank, int)
    assert_type(y.bounds(), list[tuple[int | None, int | None]])
    assert_type(sl.split(x, 3, axis=3), list[sl.Tensor])
    assert_type(sl.concatenate([x, x], axis=0), sl.Tensor)
    assert_type(y.subs({block: 2}), sl.Tensor)
    assert_type(sl.assume(x, "h >= 1"), sl.Tensor)
    with sl.assume("h >= 1"):
        assert_type(sl.onnx.space_to_depth(sl.tensor("N, C, 2*h, 2*w"), blocksize=2), sl.Tensor)
    assert_type(sl.solve_shape(y, (1, 2, 2, 12)).status, sl.Status)
    assert_type(y.index_map, sl.IndexMap)
    assert_type(y.index_map.image([(0, 1), None, None, None]), tuple[sl.Image, ...])


def values() -> None:
    """Arrays through the interpreter, a kernel and an adjoint."""
    x = sl.tensor("L", name="x")
    y = shifted(x, 1)
    assert_type(y, sl.Tensor)
    array = np.arange(4, dtype=np.int32)
    assert_type(sl.interpret(y, array), np.ndarray[Any, Any])
    kernel = sl.compile(y, dtype="int32")
    assert_type(kernel, sl.Kernel)
    assert kernel(array).tolist() == [0, 0, 1, 2]
    assert_type(kernel.source, str)
    gradient = sl.adjoint(y)
    assert_type(gradient, sl.Adjoint)
    assert sl.interpret(gradient, array).tolist() == [1, 2, 3, 0]


def proofs() -> None:
    """Verdicts, witnesses and inverses."""
    x = sl.tensor("N, C", name="x")
    proof = sl.prove_equal(sl.transpose(sl.transpose(x)), x)
    assert_type(proof, sl.Proof)
    assert proof.verdict is sl.Verdict.PROVED
    assert_type(proof.witness, sl.Witness | None)
    assert_type(proof.explain(), str)
    assert sl.check(proof.certificate)
    assert_type(sl.is_injective(x), sl.Finding)
    undo = sl.inverse(sl.flip(x))
    assert_type(undo, sl.Inverse)
    assert_type(undo(x), sl.Tensor)


def errors() -> None:
    """Errors have one root, and a kind."""
    try:
        sl.space_to_depth(sl.tensor("N, C, 5, 6"), 2)
    except sl.ShapeError as error:
        assert_type(error.kind, str)


def mistakes(x: sl.Tensor) -> None:
    """Write down calls that a type checker refuses; none is made."""
    sl.transpose(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sl.transpose(x, axis=(1, 0))  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    sl.concatenate(x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sl.dims("N", min="0")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    sl.tensor("N").shapes  # type: ignore[attr-defined]  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]


if __name__ == "__main__":
    shapes()
    values()
    proofs()
    errors()
