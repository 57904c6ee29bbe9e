"""einops' patterns: the values and refusals of einops itself, symbolic sizes, and patterns that prove each other."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.frontends.einops import rearrange, repeat
from symlayout.language.axis_patterns import parse_pattern

B, H, W, C, P = sl.dims("b h w c p")

PATTERNS: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "b h w c -> b c h w": ((2, 3, 4, 5), {}),
    "b h w c -> (b h) w c": ((2, 3, 4, 5), {}),
    "(b1 b2) h w c -> b1 b2 h w c": ((4, 3, 4, 5), {"b1": 2}),
    "(b1 b2) h w c -> (b1 h) (b2 w) c": ((4, 3, 2, 3), {"b1": 2}),
    "b (h h2) (w w2) c -> h (b h2 w2) w c": ((2, 6, 4, 1), {"h2": 2, "w2": 2}),
    "b (h 1) w -> b h w 1": ((2, 3, 2), {}),
    "a b 1 -> () (a b)": ((2, 3, 1), {}),
    "... -> ...": ((2, 3, 4), {}),
    "b ... c -> b c ...": ((2, 3, 4, 5), {}),
    "b ... c -> b (... c)": ((2, 3, 4, 5), {}),
    "b ... c -> (c ...) b": ((2, 5), {}),
    "... (h p) -> p ... h": ((2, 3, 6), {"p": 2}),
    "... -> (...)": ((2, 3), {}),
    "(a b c) -> c (b a)": ((24,), {"a": 2, "b": 3}),
    "  a   b->b a ": ((2, 3), {}),
    "a (b) -> (a) b": ((2, 3), {}),
    "->": ((), {}),
    "-> 1": ((), {}),
    "a b -> b a": ((0, 3), {}),
}
REPEATS: dict[str, tuple[tuple[int, ...], dict[str, int]]] = {
    "h w -> h w c": ((2, 3), {"c": 3}),
    "h w -> (repeat h) w": ((2, 3), {"repeat": 2}),
    "h w -> h (w repeat)": ((2, 3), {"repeat": 2}),
    "h w -> (h 2) (w 2)": ((2, 3), {}),
    "... -> 2 ... 3": ((2, 3), {}),
    "a ... -> (... k) a 1": ((2, 3, 2), {"k": 2}),
    "1 (b c) -> 5 c b": ((1, 6), {"b": 2}),
    "-> 4": ((), {}),
    "a -> a b": ((2,), {"b": 0}),
    "a -> 2 a (2 2)": ((2,), {}),
}
REFUSED = [
    "a b", "a b -> a", "a b -> a b c", "a b -> a a", "a a -> a", "(a b -> a b", "a b) -> a b", "a (b (c)) -> a b c",
    "a ... -> a", "a b -> a b ...", "(a ...) -> a ...", "... ... -> ...", "a b -> b a_", "_a b -> b _a", "2 a -> a 2",
    "a b -> a b -> a b", "a - b -> a b", "a.b -> b a", "a 0 -> a 0", "a b .. -> a b ..", "a b > a b", "a b -> b -a",
    "1a b -> b 1a",
]  # fmt: skip


@pytest.mark.parametrize("pattern", [*PATTERNS, *REPEATS])
def test_a_pattern_is_einops(pattern: str) -> None:
    einops = pytest.importorskip("einops")
    shape, sizes = (PATTERNS | REPEATS)[pattern]
    name = "rearrange" if pattern in PATTERNS else "repeat"
    data = np.arange(int(np.prod(shape))).reshape(shape)
    expected = getattr(einops, name)(data, pattern, **sizes)
    dims = [sl.dim(f"n{k}") for k in range(len(shape))]
    for x in (sl.tensor(shape, name="x"), sl.tensor(dims, name="x")):
        t = (rearrange if name == "rearrange" else repeat)(x, pattern, **sizes)
        for found in (sl.interpret(t, data), sl.compile(t, strict=True)(data)):
            assert (found.shape, found.tolist()) == (expected.shape, expected.tolist())


@pytest.mark.parametrize("pattern", REFUSED)
def test_what_einops_refuses_is_refused(pattern: str) -> None:
    with pytest.raises(sl.FormatError):
        sl.einops.rearrange(sl.tensor("n, m"), pattern)
    einops = pytest.importorskip("einops")
    with pytest.raises((einops.EinopsError, ValueError)):  # einops unpacks what split() finds
        einops.rearrange(np.zeros((2, 3)), pattern)


def drawn(rng: random.Random) -> tuple[str, tuple[int, ...], dict[str, int], bool]:
    """Return a random pattern with the shape and the sizes that it is for, and whether it repeats."""
    names = rng.sample("abcdefgh", rng.randint(1, 6))
    size = {name: rng.choice((1, 2, 2, 3)) for name in names}

    def grouped(items: list[str]) -> list[list[str]]:
        groups: list[list[str]] = []
        while items:
            count = rng.choice((1, 1, 1, 2, 3))
            groups.append(items[:count])
            items = items[count:]
            if rng.random() < 0.1:
                groups.append([])
        return groups

    def text(groups: list[list[str]]) -> str:
        return " ".join(g[0] if len(g) == 1 and rng.random() < 0.9 else f"({' '.join(g)})" for g in groups)

    left = grouped(names)
    added = rng.sample("xyz", rng.choice((0, 0, 1, 2)))
    size |= {name: rng.choice((0, 1, 2)) for name in added}
    moved = [*names, *added]
    rng.shuffle(moved)
    given: dict[str, int] = {name: size[name] for name in added}
    for group in left:
        known = list(group)
        if group and rng.random() < 0.8:
            known.remove(rng.choice(group))
        given |= {name: size[name] for name in known if len(group) > 1}
    shape = tuple(int(np.prod([size[n] for n in g])) for g in left)
    return f"{text(left)} -> {text(grouped(moved))}", shape, given, bool(added)


@pytest.mark.parametrize("seed", range(60))
def test_random_patterns_are_einops(seed: int) -> None:
    einops = pytest.importorskip("einops")
    pattern, shape, sizes, repeats = drawn(random.Random(seed))
    name = "repeat" if repeats else "rearrange"
    data = np.arange(int(np.prod(shape))).reshape(shape)
    expected = getattr(einops, name)(data, pattern, **sizes)
    found = sl.interpret(getattr(sl.einops, name)(sl.tensor(shape, name="x"), pattern, **sizes), data)
    assert (found.shape, found.tolist()) == (expected.shape, expected.tolist()), pattern


def test_sizes_are_inferred_as_requirements() -> None:
    x = sl.tensor((B, H, W), name="x")
    t = sl.einops.rearrange(x, "b (h p) w -> b h (p w)", p=P)
    assert t.shape == (B, H / P, P * W)
    assert [str(r) for r in t.requires] == ["p >= 1", "Eq(Mod(h, p), 0)"]
    both = sl.einops.rearrange(x, "b (h p) w -> b h (p w)", p=P, h=C)
    assert [str(r) for r in both.requires] == ["Eq(c*p - h, 0)"] or sl.prove_equal(
        both.subs({H: C * P}), t.subs({H: C * P})
    ).verdict is sl.Verdict.PROVED
    with pytest.raises(sl.ShapeError) as caught:
        t.subs({H: 5, P: 2})
    assert caught.value.kind == "non_divisible"


@pytest.mark.parametrize(
    ("pattern", "sizes", "kind"),
    [
        ("(a b) c -> a b c", {}, "unbound_dim"),
        ("a b -> b a", {"a": 5}, "size_mismatch"),
        ("a b c -> a b c", {}, "rank"),
        ("a b c ... -> a b c ...", {}, "rank"),
        ("(a b) c -> a b c", {"a": 4}, "non_divisible"),
        ("(a b) c -> a b c", {"a": 0}, "size_mismatch"),
        ("(a b) c -> a b c", {"a": 2, "b": 2}, "size_mismatch"),
        ("1 c -> c", {}, "size_mismatch"),
        ("a b -> b a", {"a": 6.0}, "attr_dtype"),
        ("(a b) c -> a b c", {"a": -2}, "infeasible"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(pattern: str, sizes: Any, kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        sl.einops.rearrange(sl.tensor((6, 2)), pattern, **sizes)
    assert caught.value.kind == kind


def test_a_size_for_no_axis_is_refused_and_new_axes_need_one() -> None:
    x = sl.tensor((6, 2))
    with pytest.raises(sl.FormatError, match="k is no axis of the pattern"):
        sl.einops.rearrange(x, "a b -> b a", k=2)
    with pytest.raises(sl.ShapeError, match="nothing determines the size of c"):
        sl.einops.repeat(x, "a b -> a b c")
    with pytest.raises(TypeError):
        sl.einops.rearrange(np.zeros((6, 2)), "a b -> b a")  # type: ignore[arg-type]


def test_a_list_is_stacked_first() -> None:
    x, y = sl.tensor((H, W), name="x"), sl.tensor((H, W), name="y")
    t = sl.einops.rearrange([x, y], "n h w -> h (w n)")
    a, b = np.arange(6).reshape(2, 3), -np.arange(6).reshape(2, 3)
    assert sl.interpret(t, a, b).tolist() == np.stack([a, b]).transpose(1, 2, 0).reshape(2, 6).tolist()


def test_patterns_and_operations_prove_each_other() -> None:
    x = sl.tensor((B, C, 2 * H, 2 * W), name="x")
    pattern = sl.einops.rearrange(x, "b c (h p) (w q) -> b (p q c) h w", p=2, q=2)
    assert sl.prove_equal(pattern, sl.space_to_depth(x, 2)).verdict is sl.Verdict.PROVED
    back = sl.einops.rearrange(pattern, "b (p q c) h w -> b c (h p) (w q)", p=2, q=2)
    proof = sl.prove_equal(back, x)
    assert proof.verdict is sl.Verdict.PROVED
    sl.check(proof.certificate)
    wrong = sl.einops.rearrange(x, "b c (h p) (w q) -> b (q p c) h w", p=2, q=2)
    assert sl.prove_equal(wrong, sl.space_to_depth(x, 2)).verdict is sl.Verdict.REFUTED
    n = sl.dim("n", min=1)
    repeated = sl.einops.repeat(x, "b c h w -> (b n) c h w", n=n)
    assert sl.prove_equal(repeated, sl.repeat(x, n, 0)).verdict is sl.Verdict.PROVED


def test_a_pattern_is_read_within_its_length() -> None:
    with pytest.raises(sl.FormatError, match="more than 65536 characters"):
        parse_pattern("a " * 65536, 1, repeats=False)
    with pytest.raises(sl.FormatError, match="no extent"):
        parse_pattern("-> " + "9" * 99, 0, repeats=True)
