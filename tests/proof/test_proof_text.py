"""The derivation of a claim reads step by step, from the sizes to the verdict."""

from __future__ import annotations

import re

import pytest

import symlayout as sl
from symlayout.algebra.facts import Facts
from symlayout.proof.proof_text import explain, explain_latex
from tests.language.test_to_text import check_latex

N, C, H = sl.dims("N C H")
P = sl.dim("p", max=4)
B = sl.dim("b", min=1, multiple_of=2)

SIDES: dict[str, tuple[sl.Tensor, sl.Tensor]] = {
    "pads add up": (sl.pad(sl.pad(sl.tensor("H", name="x"), 1), 1), sl.pad(sl.tensor("H", name="x"), 2)),
    "halves": (
        (lambda x: sl.concatenate([x[:, :C], x[:, C:]], 1))(sl.tensor((N, 2 * C), name="x")),
        sl.tensor((N, 2 * C), name="x"),
    ),
    "blocks": (
        sl.depth_to_space(sl.space_to_depth(sl.tensor((N, C, H), name="x"), B), B),
        sl.tensor((N, C, H), name="x"),
    ),
    "shapes differ": (sl.transpose(sl.tensor((N, C), name="x")), sl.tensor((N, C), name="x")),
    "ranks differ": (sl.ravel(sl.tensor((N, C), name="x")), sl.tensor((N, C), name="x")),
    "no dims": (sl.flip(sl.tensor((2,), name="x")), sl.tensor((2,), name="x")),
    "no elements": (sl.tensor((0, N), name="x"), sl.flip(sl.tensor((0, N), name="x"))),
    "many parts": (
        sl.pad(sl.tensor((H, H), name="x"), [[1, P], [1, 1]], "edge"),
        sl.pad(sl.tensor((H, H), name="x"), [[1, P], [1, 1]], "edge"),
    ),
}


def system(left: sl.Tensor, right: sl.Tensor) -> Facts:
    facts = left.facts.fork()
    facts.merge(right.facts)
    return facts


def derivation(name: str) -> str:
    left, right = SIDES[name]
    return explain(left, right, system(left, right), "So it is.")


def test_a_derivation_reads_from_the_sizes_to_the_verdict() -> None:
    assert derivation("blocks") == (
        "1. Sizes.\n"
        "   For all integers N >= 0, C >= 0, H >= 0, b >= 1 a multiple of 2.\n"
        "   It is required that H is a multiple of b, by space_to_depth.\n"
        "2. Shapes. Both sides have the shape (N, C, H).\n"
        "3. Coordinates. Let (i0, i1, i2) be a coordinate of the output.\n"
        "4. The left side.\n"
        "   depth_to_space reads its input at (i0, (i2 % b)*C + i1, i2//b).\n"
        "   space_to_depth reads x at (i0, ((i2 % b)*C + i1) % C, (i2//b)*b + ((i2 % b)*C + i1)//C) = (i0, i1, i2).\n"
        "   So it is x[i0, i1, i2].\n"
        "5. The right side is x[i0, i1, i2].\n"
        "6. Equality. Both sides are x[i0, i1, i2].\n"
        "So it is."
    )


def test_a_fill_stands_at_the_step_that_fills() -> None:
    lines = derivation("pads add up").splitlines()
    at = lines.index("   pad reads its input at (i0 - 1).")
    assert lines[at + 1 : at + 4] == [
        "   There 0 <= i0 - 1 < H + 2; elsewhere pad fills with 0.",
        "   pad reads x at (i0 - 2).",
        "   There 0 <= i0 - 2 < H; elsewhere pad fills with 0.",
    ]


def test_parts_of_the_domain_are_told_one_by_one() -> None:
    text = derivation("halves")
    assert "Part 1 of 2, where 0 <= i1 < C:" in text
    assert "Part 2 of 2, where 0 <= i1 - C < C:" in text
    assert "The other 3 parts are alike." in derivation("many parts")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("shapes differ", "2. Shapes. The left side has the shape (C, N), the right side (N, C)."),
        ("ranks differ", "2. Shapes. The left side has the shape (C*N), the right side (N, C)."),
        ("many parts", "   It is required that H >= 1, by pad."),
        ("no dims", "1. Sizes. All sizes are fixed."),
        ("no elements", "3. Coordinates. There are none: the shape holds no element."),
    ],
)
def test_what_there_is_to_say_is_said(name: str, sentence: str) -> None:
    assert sentence in derivation(name).splitlines()


@pytest.mark.parametrize("name", SIDES)
def test_steps_are_numbered_and_the_conclusion_comes_last(name: str) -> None:
    lines = derivation(name).splitlines()
    numbers = [int(found[1]) for line in lines if (found := re.match(r"(\d+)\. ", line))]
    assert numbers == list(range(1, len(numbers) + 1))
    assert lines[-1] == "So it is."


@pytest.mark.parametrize("name", SIDES)
def test_the_derivation_in_latex_is_balanced(name: str) -> None:
    left, right = SIDES[name]
    written = explain_latex(left, right, system(left, right), "100% of {it}")
    check_latex(written)
    assert written.startswith(r"\begin{aligned}")
    assert written.endswith(r"\text{100\% of \{it\}}\end{aligned}")
