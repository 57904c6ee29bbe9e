"""Claims about tensors with a group of axes of unknown number, beside what they are at ranks 0 to 3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.any_rank import compute_groups, move_groups
from symlayout.any_rank.any_rank_input import any_rank_tensor
from symlayout.any_rank.grouped_tensor import RULES
from tests.any_rank.any_rank_claims import (
    PROVED,
    RANKS,
    REFUTED,
    TRUE,
    b,
    both_at,
    maximum,
    p,
    prove,
    q,
    rearrange,
    same,
    x,
    y,
)


@pytest.mark.sample(29)
@pytest.mark.parametrize("claim", TRUE.values(), ids=TRUE.keys())
def test_what_holds_for_all_ranks_is_proved_and_the_checker_agrees(claim: Callable[[], tuple[Any, Any]]) -> None:
    left, right = claim()
    proof = prove(left, right)
    assert proof.verdict is PROVED, str(proof)
    assert sl.check(proof.certificate)
    for count in range(3):
        assert sl.prove_equal(left.at(count), right.at(count), budget=50).verdict is not REFUTED


def test_a_tensor_at_a_rank_requires_what_it_does_for_all_ranks() -> None:
    joined = rearrange(x("N, *S"), "n *s -> (n *s)")
    split = rearrange(joined, "(m i *s) -> i m *s", i=sl.dim("k"))
    assert len(split.requires) == 2  # k is at least 1 and divides N; the group may be empty
    for count in RANKS:
        assert split.at(count).requires == split.requires


FALSE: dict[str, tuple[int, Callable[[], tuple[Any, Any]]]] = {
    "an axis outside of the group is flipped": (0, lambda: (sl.flip(x(), 0), x())),
    "the group is flipped": (1, lambda: (sl.flip(x(), 1), x())),
    "the crop is another": (
        1,
        lambda: (sl.batch_to_space(sl.space_to_batch(x(), b, (p, q)), b, (q, p)), x()),
    ),
    "the batch comes before the blocks": (
        1,
        lambda: (
            sl.space_to_batch(x(), b, (p, q)),
            rearrange(sl.pad(x(), {1: (p, q)}), "N *(s b) C -> (N *b) *s C", b=b),
        ),
    ),
    "blocks of each axis in turn, or of all axes first": (  # at one axis they are the same
        2,
        lambda: (
            rearrange(rearrange(x("*s, *t"), "*s *t -> *(s t)"), "*u -> (*u)"),
            rearrange(x("*s, *t"), "*s *t -> (*s *t)"),
        ),
    ),
    "a group changes places with another one": (1, lambda: (sl.transpose(x("*s, *t"), (1, 0)), x("*s, *t"))),
    # rules of the same kinds that fail
    "a pad of a flip": (1, lambda: (sl.flip(sl.pad(x(), {1: (1, 2)}), 1), sl.pad(sl.flip(x(), 1), {1: (1, 2)}))),
    "joined tensors in another order": (0, lambda: (sl.concatenate([x(), y()]), sl.concatenate([y(), x()]))),
    "a flip of joined tensors that keeps their order": (
        0,
        lambda: (
            sl.flip(sl.concatenate([x(), y()], 2), 2),
            sl.concatenate([sl.flip(x(), 2), sl.flip(y(), 2)], 2),
        ),
    ),
    "a tile is no repeat": (1, lambda: (sl.tile(x(), (1, 2, 1)), sl.repeat(x(), 2, axis=1))),
    "a reshape is no transpose": (
        0,
        lambda: (sl.reshape(x("2*N, *S"), "N, 2, *S"), sl.transpose(sl.reshape(x("2*N, *S"), "2, N, *S"), (1, 0, 2))),
    ),
    "a function with its operands exchanged": (0, lambda: (sl.onnx.sub(x(), y()), sl.onnx.sub(y(), x()))),
    "flips of two operands change places": (  # outside of the group, and in it, both sides read the same pairs
        1,
        lambda: (
            sl.onnx.mul(sl.flip(x(), 0), sl.flip(x(), 1)),
            sl.onnx.mul(x(), sl.flip(x(), (0, 1))),
        ),
    ),
    "a function of a pad": (1, lambda: (sl.onnx.exp(sl.pad(x(), {1: (1, 0)})), sl.pad(sl.onnx.exp(x()), {1: (1, 0)}))),
    "a maximum over less": (1, lambda: (maximum(x("N, *S>=2")[:, :-1], 1), maximum(x("N, *S>=2"), 1))),
    "a group is at the front or at the back": (
        1,
        lambda: (sl.transpose(x("C, *S"), (1, 0)), x("C, *S")),
    ),
}


@pytest.mark.sample(11)
@pytest.mark.parametrize(("count", "claim"), FALSE.values(), ids=FALSE.keys())
def test_what_fails_at_some_rank_is_refuted_there(count: int, claim: Callable[[], tuple[Any, Any]]) -> None:
    left, right = claim()
    proof = prove(left, right)
    assert (proof.verdict, proof.count) == (REFUTED, count), str(proof)
    assert proof.certificate is None
    for smaller in range(count):
        assert sl.prove_equal(left.at(smaller), right.at(smaller)).verdict is PROVED
    assert not same(*both_at(left, right, count, {s.name: n for s, n in proof.witness.dims.items()}))


# ---------------------------------------------------------------------- what has no meaning for all ranks

REFUSED: dict[str, tuple[str, Callable[[], Any]]] = {
    "a slice of joined axes": ("any_rank", lambda: rearrange(x(), "N *S C -> (*S) N C")[1:]),
    "a pad of joined axes": ("any_rank", lambda: sl.pad(rearrange(x(), "N *S C -> (*S N) C"), [1, 0])),
    "joined axes split in another order": (
        "any_rank",
        lambda: rearrange(rearrange(x(), "N *S C -> (*S N) C"), "(N *S) C -> N *S C"),
    ),
    "joined axes split in other sizes": (
        "any_rank",
        lambda: rearrange(x("(*b N), C"), "(*c N) C -> *c N C", c=sl.dim("c")),
    ),
    "a batch that is not known to have blocks": ("any_rank", lambda: sl.batch_to_space(x(), b, (0, 0))),
    "blocks of another size": ("any_rank", lambda: sl.batch_to_space(x("(*b N), *S, C"), sl.dim("c"), (0, 0))),
    "an axis of the group by its number": ("any_rank", lambda: x()[0]),
    "two fills": ("any_rank", lambda: sl.pad(sl.pad(x(), {1: (1, 0)}), {0: (1, 0)}, constant_values=1)),
    "an operation without a rule": ("any_rank", lambda: sl.space_to_depth(x(), 2)),
    "tensors joined along the group": ("any_rank", lambda: sl.concatenate([x(), x()], 1)),
    "joined tensors of which one has a rank": ("any_rank", lambda: sl.concatenate([x(), sl.tensor("N, C")], 0)),
    "joined tensors whose groups differ": ("any_rank", lambda: sl.concatenate([x(), sl.flip(x(), 1)], 0)),
    "joined tensors whose groups have other extents": ("any_rank", lambda: sl.concatenate([x(), y("N, *T, C")], 0)),
    "joined tensors that are computed": ("any_rank", lambda: sl.concatenate([sl.onnx.relu(x()), y()], 0)),
    "an operation made of others": ("any_rank", lambda: sl.ravel(x())),
    "a reshape without text": ("any_rank", lambda: sl.reshape(x(), (-1,))),
    "a reshape of the group": ("any_rank", lambda: sl.reshape(x(), "N, *S*C")),
    "a reshape that moves elements past the group": ("any_rank", lambda: sl.reshape(x("2*N, *S, C"), "N, *S, 2*C")),
    "an operation that computes along an axis": ("any_rank", lambda: sl.onnx.softmax(x(), axis=1)),
    "a function of other entries": ("any_rank", lambda: sl.onnx.add(x(), x("*S, N, C"))),
    "a function with a vector along the group": ("any_rank", lambda: sl.onnx.add(x("N, *S"), sl.tensor("K"))),
    "a function of joined axes that may differ": (
        "any_rank",
        lambda: sl.onnx.add(x("(*S N), C"), y("(*S M), C")),
    ),
    "a sum that keeps a joined axis": ("any_rank", lambda: sl.onnx.reduce_sum(x("(*S N), C"), axes=[0])),
    "a map": ("any_rank", lambda: x().index_map),
    "bounds": ("any_rank", lambda: x().bounds()),
    "an operation of a framework": ("any_rank", lambda: sl.torch.pixel_shuffle(x(), 2)),
    "a kernel": ("any_rank", lambda: sl.compile(x())),
    "an interpretation": ("any_rank", lambda: sl.interpret(x(), np.zeros((1, 2)))),
    "an inverse": ("any_rank", lambda: sl.inverse(x())),
    "an adjoint": ("any_rank", lambda: sl.adjoint(x())),
    "a dim of the group outside of it": ("dim_conflict", lambda: sl.pad(x(), [(p, 0), (p, 0), (0, 0)])),
    "another rank": ("length_mismatch", lambda: sl.pad(x(), [(1, 1)])),
    "no permutation": ("bad_axis", lambda: sl.transpose(x())),
}


@pytest.mark.parametrize(("kind", "make"), REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_meaning_for_all_ranks_is_refused(kind: str, make: Callable[[], Any]) -> None:
    with pytest.raises(sl.ShapeError) as refused:
        make()
    assert refused.value.kind == kind


def test_sides_of_one_claim_have_one_input_and_one_use_of_a_name() -> None:
    with pytest.raises(sl.ShapeError, match="not one input of any rank"):
        prove(x(), x("*S, N, C"))
    with pytest.raises(sl.ShapeError, match="p is a dim of the group on one side"):
        prove(sl.pad(x(), {1: (p, 0)}), sl.pad(x(), {0: (p, 0)}))
    with pytest.raises(TypeError, match="is compared with another one"):
        prove(x(), sl.tensor("N, S, C", name="x"))


def test_a_refusal_names_all_operations_that_take_any_rank() -> None:
    modules = {rule.__module__ for rule in RULES.values()}
    assert {compute_groups.__name__, move_groups.__name__} <= modules
    text = str(any_rank_tensor("N, *S", None, "x").refusal("ravel"))
    assert all(name in text for name in RULES if not name.startswith("_"))


def test_a_member_that_needs_a_rank_says_so() -> None:
    with pytest.raises(sl.ShapeError, match=r"help: at\(2\).index_map is that with 2 axes in the group") as refused:
        x().index_map  # noqa: B018
    assert isinstance(refused.value, AttributeError)
    assert not hasattr(x(), "facts")
    assert not hasattr(x(), "no_such_member")


def test_a_proof_says_why_it_holds_for_all_ranks() -> None:
    text = prove(*TRUE["batch_to_space undoes space_to_batch"]()).explain()
    assert "an arbitrary one stands for all, and for every rank" in text
    assert "space_to_batch reads its input at" in text
    assert text.endswith("for all ranks and all such sizes.")
