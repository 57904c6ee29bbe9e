"""Linear layouts: their function by enumeration, their algebra by its equations, and what Triton says of both."""

from __future__ import annotations

import itertools
import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.layouts.linear.f2_columns import dependent, product, pseudo_inverse, rank
from symlayout.layouts.linear.linear_layout import LinearLayout
from symlayout.layouts.linear.linear_view import value_of
from symlayout.layouts.linear.read_linear_layout import linear_layout
from tests.layouts.linear import triton_facts as facts

PROVED, REFUTED = sl.Verdict.PROVED, sl.Verdict.REFUTED


def made(given: facts.Given) -> LinearLayout:
    return linear_layout(*given)


def holds(found: sl.Finding) -> bool:
    """Return whether a property is proved; otherwise it has to be refuted."""
    assert found.verdict in (PROVED, REFUTED)
    return found.verdict is PROVED


def by_bits(bases: dict[str, Any], at: tuple[int, ...]) -> tuple[int, ...]:
    """Return the value at a coordinate by Python's ``^``, from the bases alone."""
    total: list[int] = []
    for vectors, k in zip(bases.values(), at, strict=True):
        for place, vector in enumerate(vectors):
            total += [0] * (len(vector) - len(total))
            if k >> place & 1:
                total = [a ^ b for a, b in zip(total, vector, strict=True)]
    return tuple(total)


def coordinates(a: LinearLayout) -> Iterator[tuple[int, ...]]:
    return itertools.product(*(range(n) for n in a.in_dims.values()))


def table(a: LinearLayout) -> list[tuple[int, ...]]:
    """Return all values, in row-major order of the in dims."""
    width = len(a.out_dims)
    return [by_bits(a.bases, at) or (0,) * width for at in coordinates(a)]


def random_layout(
    rng: random.Random, ins: int | None = None, outs: dict[str, int] | None = None, most: int = 3
) -> LinearLayout:
    outs = outs or {f"out{k}": 1 << rng.randrange(4) for k in range(rng.randint(1, 2))}
    count = rng.randint(1, 3) if ins is None else ins
    bases = {
        f"in{k}": [tuple(rng.randrange(n) for n in outs.values()) for _ in range(rng.randint(0, most))]
        for k in range(count)
    }
    return linear_layout(bases, outs)


# ---------------------------------------------------------------------- the function


@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(0, 300, 100)], ids=str)
def test_values_are_the_exclusive_or_of_the_bases(seeds: range) -> None:
    for seed in seeds:
        a = random_layout(random.Random(seed))
        found = [a(*at) for at in coordinates(a)]
        assert [v if isinstance(v, tuple) else (v,) for v in found] == table(a)
        grid = np.indices(tuple(a.in_dims.values()))
        values = a(*grid) if len(a.out_dims) > 1 else (a(*grid),)
        for value, want in zip(values, zip(*table(a), strict=True), strict=True):
            assert np.broadcast_to(value, grid[0].shape).ravel().tolist() == list(want)


@pytest.mark.parametrize("seeds", [range(k, k + 20) for k in range(0, 60, 20)], ids=str)
def test_views_read_at_the_values(seeds: range) -> None:
    for seed in seeds:
        a = random_layout(random.Random(f"view {seed}"))
        x = sl.tensor((3, *a.out_dims.values()), name="x", dtype="int64")
        memory = np.arange(3 * np.prod(list(a.out_dims.values()))).reshape(3, *a.out_dims.values())
        shape = tuple(a.in_dims.values())
        want = np.stack([np.array([memory[b][v] for v in table(a)]).reshape(shape) for b in range(3)])
        assert np.array_equal(sl.interpret(a.view(x), memory), want)
        if seed < 6:
            assert np.array_equal(sl.compile(a.view(x), strict=True)(memory), want)


def test_tiles_of_a_symbolic_tensor_read_each_tile_at_the_values() -> None:
    a = linear_layout({"register": [(0, 1)], "lane": [(1, 0), (2, 2), (0, 2)]}, ["row", "column"])
    x = sl.tensor("B, M, 4*n", name="x")
    y = a.tiles(x)
    assert [str(e) for e in y.shape] == ["B", "M/4", "n", "2", "8"]
    memory = np.arange(2 * 8 * 12).reshape(2, 8, 12)
    want = np.empty((2, 2, 3, 2, 8), int)
    for b, i, j, r, k in np.ndindex(*want.shape):
        row, column = by_bits(a.bases, (r, k))
        want[b, i, j, r, k] = memory[b, 4 * i + row, 4 * j + column]
    assert np.array_equal(sl.interpret(y, memory), want)
    assert np.array_equal(sl.compile(y, strict=True)(memory), want)
    assert sl.prove_equal(sl.inverse(y)(y), x).verdict is PROVED
    with pytest.raises(sl.ShapeError) as caught:
        a.tiles(sl.tensor("3, 4"))
    assert caught.value.kind == "non_divisible"


def test_a_block_of_a_symbolic_layout_may_be_linear() -> None:
    """Rows of 64 elements, swizzled, in a memory with as many rows as there are: the layout under a swizzle."""
    n = sl.dim("N")
    x = sl.tensor((512 * n,), name="x")
    block = linear_layout(sl.swizzle(3, 3, 3))
    swizzled_memory = sl.reshape(block.tiles(x), (512 * n,))
    a = sl.layout("(64,8*N):(1,64)")
    assert sl.prove_equal(a.view(swizzled_memory), sl.swizzle(3, 3, 3).composition(a).view(x)).verdict is PROVED


@pytest.mark.parametrize("x", ["4", "16, 16, 2"])
def test_a_tensor_that_is_too_small_is_refused(x: str) -> None:
    a = linear_layout({"in": [(1, 0), (0, 8)]}, ["row", "column"])
    with pytest.raises(sl.ShapeError) as caught:
        a.view(sl.tensor(x))
    assert caught.value.kind in ("rank", "size_mismatch")


@pytest.mark.parametrize("rows", [[((0, 0),), ((0, 1),)], [((0, 1),), ((0, 0), (1, 0))], [(), ((1, 2),), ((1, 0),)]])
def test_bits_of_a_value_are_sums_of_bits_of_the_coordinate(rows: list[tuple[tuple[int, int], ...]]) -> None:
    for at in itertools.product(range(8), repeat=2):
        bits = [sum(at[dim] >> place for dim, place in row) % 2 for row in rows]
        assert value_of(rows, at) == sum(b << k for k, b in enumerate(bits))


# ---------------------------------------------------------------------- columns of bits


@pytest.mark.parametrize("seed", range(20))
def test_columns_are_those_of_their_span(seed: int) -> None:
    rng = random.Random(f"columns {seed}")
    columns = [rng.randrange(16) for _ in range(rng.randint(0, 6))]
    vectors = range(1 << len(columns))
    span = {product(columns, v) for v in vectors}
    assert len(span) == 1 << rank(columns)
    spans = [{product(columns[:k], v) for v in range(1 << k)} for k in range(len(columns))]
    assert dependent(columns) == sum(1 << k for k, earlier in enumerate(spans) if columns[k] in earlier)
    back = pseudo_inverse(columns, 4)
    for image in span:
        assert product(columns, product(back, image)) == image
        assert product(back, image) & dependent(columns) == 0


# ---------------------------------------------------------------------- proofs


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 40, 10)], ids=str)
def test_proofs_about_linear_layouts_are_those_of_enumeration(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"proof {seed}")
        a = random_layout(rng, outs={"out": 16})
        bases = {name: list(vectors) for name, vectors in a.bases.items()}
        if changed := [name for name in bases if bases[name]]:
            name = rng.choice(changed)
            bases[name][-1] = (bases[name][-1][0] ^ 1 << rng.randrange(4),)
        b = linear_layout(bases, a.out_dims)
        assert sl.prove_equal(a, linear_layout(dict(a.bases), ["out"])).verdict is PROVED
        assert sl.prove_equal(a, b).verdict is (PROVED if table(a) == table(b) else REFUTED)


def test_a_fragment_of_a_tensor_core_has_a_proved_inverse() -> None:
    """The accumulator of ``mma.m16n8``: each lane has two columns of two rows."""
    a = linear_layout(
        {"register": [(0, 1), (8, 0)], "lane": [(0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]}, ["row", "column"]
    )
    x = sl.tensor((16, 8), name="x")
    y = a.view(x)
    found = sl.inverse(y)
    assert found.left.verdict is found.right.verdict is PROVED
    assert sl.prove_equal(found(y), a.invert().view(y)).verdict is PROVED
    assert sl.prove_equal(a.invert().view(y), x).verdict is PROVED
    assert sl.prove_equal(y, sl.einops.rearrange(x, "(h r) (c w) -> (h w) (r c)", h=2, w=2)).verdict is PROVED


def test_layouts_of_another_number_of_values_are_not_compared() -> None:
    two = linear_layout({"in": [(1, 0)]}, ["row", "column"])
    with pytest.raises(sl.ShapeError) as caught:
        sl.prove_equal(two, sl.layout("2:1"))
    assert caught.value.kind == "rank"


# ---------------------------------------------------------------------- layouts of sizes and strides


@pytest.mark.parametrize(
    "text",
    ["8:1", "1:0", "(4,8):(8,1)", "((2,4),8):((1,16),2)", "(4,4):(0,1)", "S<3,4,3> o 0 o (8,128):(128,1)",
     "S<2,0,2> o 0 o (4,4):(1,4)", "S<1,2,-2> o 0 o (8,2):(1,8)"],
)  # fmt: skip
def test_a_layout_of_powers_of_two_is_linear_and_comes_back(text: str) -> None:
    a = sl.layout(text)
    found = linear_layout(text)
    modes = a.layout if isinstance(a, sl.ComposedLayout) else a
    sizes = [modes[k].size for k in range(modes.rank)]
    assert list(found.in_dims.values()) == sizes
    for at in itertools.product(*map(range, sizes)):
        assert found(*at) == a(*at)
    assert sl.prove_equal(found, a).verdict is PROVED
    back = found.to_layout()
    assert [back(*at) for at in coordinates(found)] == [a(*at) for at in coordinates(found)]
    assert sl.prove_equal(back, a).verdict is PROVED


@pytest.mark.parametrize(
    "text",
    ["6:1", "(4,N):(1,4)", "(2,4):(1,1)", "4:3", "2:-1", "4:N", "S<2,0,2> o 1 o (4,4):(1,4)"],
)
def test_a_layout_that_is_not_linear_is_refused(text: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        linear_layout(text)
    assert caught.value.kind == "no_layout"


@pytest.mark.parametrize("seeds", [range(k, k + 100) for k in range(0, 300, 100)], ids=str)
def test_what_is_said_to_be_linear_is_what_enumeration_finds(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"linear {seed}")
        shape = tuple(rng.choice([1, 2, 4, 8]) for _ in range(rng.randint(1, 3)))
        stride = tuple(rng.choice([0, 1, 2, 3, 4, 5, 6, 8, 12, 16]) for _ in shape)
        a = sl.layout(shape, stride)
        box = list(itertools.product(*map(range, shape)))
        value = {at: sum(c * d for c, d in zip(at, stride, strict=True)) for at in box}
        is_linear = all(
            value[tuple(p ^ q for p, q in zip(one, two, strict=True))] == value[one] ^ value[two]
            for one in box
            for two in box
        )
        if is_linear:
            assert [linear_layout(a)(*at) for at in box] == list(value.values())
        else:
            with pytest.raises(sl.ShapeError, match="not linear"):
                linear_layout(a)


def test_a_layout_of_coordinates_has_an_out_dim_for_each_of_them() -> None:
    tiles = sl.make_identity_layout((16, 8)).zipped_divide((4, 2))
    found = linear_layout(tiles, ["row", "column"], ins=("element", "tile"))
    assert found.out_dims == {"row": 16, "column": 8}
    assert [found(*at) for at in coordinates(found)] == [tiles(*at) for at in coordinates(found)]
    assert linear_layout("1:0").bases == {"i0": ()}
    assert linear_layout("1:0")(0) == 0
    with pytest.raises(sl.ShapeError) as caught:
        linear_layout(sl.make_identity_layout((6, 8)))
    assert caught.value.kind == "no_layout"


@pytest.mark.parametrize("seeds", [range(k, k + 200) for k in range(0, 400, 200)], ids=str)
def test_a_permutation_of_bits_under_a_swizzle_is_a_layout_and_comes_back(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"layout {seed}")
        places = rng.sample(range(6), rng.randint(1, 6))
        cut = rng.randrange(len(places) + 1)
        count = rng.randrange(3)
        swizzle = sl.swizzle(count, rng.randrange(3), rng.choice([1, -1]) * (count + rng.randrange(2)))
        bases = {"x": [swizzle(1 << k) for k in places[:cut]], "y": [swizzle(1 << k) for k in places[cut:]]}
        a = linear_layout(bases, ["offset"])
        back = a.to_layout()
        assert [back(*at) for at in coordinates(a)] == [a(*at) for at in coordinates(a)]
        assert linear_layout(back, a.out_dims, ins=("x", "y")) == a


def test_a_map_that_needs_two_swizzles_is_no_layout() -> None:
    with pytest.raises(sl.ShapeError) as caught:
        linear_layout({"x": [1, 2, 4, 8], "y": [17, 35, 70, 142]}).to_layout()
    assert caught.value.kind == "no_layout"


# ---------------------------------------------------------------------- the algebra by its equations


@pytest.mark.parametrize("seeds", [range(k, k + 200) for k in range(0, 600, 200)], ids=str)
def test_the_algebra_meets_its_equations(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"algebra {seed}")
        a = random_layout(rng)
        values = table(a)
        every = list(itertools.product(*map(range, a.out_dims.values())))
        once, reached = a.is_injective(), a.is_surjective()
        assert holds(once) == holds(sl.is_injective(a)) == (len(set(values)) == len(values))
        assert holds(reached) == holds(sl.is_surjective(a)) == (set(values) == set(every))
        if once.witness:
            value, *both = once.witness
            assert both[0] != both[1]
            assert [by_bits(a.bases, at) or value for at in both] == [value, value]
        if reached.witness:
            assert reached.witness[0] in set(every) - set(values)
        inverse = a.pseudoinvert()
        assert a.compose(inverse).compose(a) == a
        if holds(a.is_surjective()):
            assert table(inverse.compose(a)) == every
            assert a.right_inverse() == inverse
        if holds(a.is_injective()):
            assert table(a.compose(inverse)) == list(coordinates(a))
            assert a.left_inverse() == inverse
        if a.is_invertible():
            assert a.invert().invert() == a
        b = linear_layout(
            {name: [tuple(rng.randrange(8) for _ in range(2)) for _ in range(n.bit_length())]
             for name, n in a.out_dims.items()},
            {"p": 8, "q": 8},
        )  # fmt: skip
        assert table(a.compose(b)) == [by_bits(b.bases, value) for value in values]
        c = random_layout(rng)
        product = a * c
        for one in coordinates(a):
            low = dict(zip(a.in_dims, one, strict=True))
            two = {name: rng.randrange(n) for name, n in c.in_dims.items()}
            at = {n: low.get(n, 0) + a.in_dims.get(n, 1) * two.get(n, 0) for n in product.in_dims}
            left, right = a.apply(low), c.apply(two)
            want = {n: left.get(n, 0) + a.out_dims.get(n, 1) * right.get(n, 0) for n in product.out_dims}
            assert product.apply(at) == want
        assert a * product.divide_left(a) == product
        assert product.divide_right(c) * c == product
        assert LinearLayout.from_matrix(a.to_matrix(), a.in_dims, a.out_dims) == a
        wide = linear_layout(a.bases, b.in_dims).to_matrix()
        assert np.array_equal(a.compose(b).to_matrix(), b.to_matrix() @ wide % 2)
        assert pickle.loads(pickle.dumps(a)) == a
        assert eval(repr(a), {"linear_layout": linear_layout}) == a


@pytest.mark.parametrize("seeds", [range(k, k + 200) for k in range(0, 400, 200)], ids=str)
def test_a_conversion_finds_the_values_of_one_layout_in_another(seeds: range) -> None:
    for seed in seeds:
        rng = random.Random(f"conversion {seed}")
        outs = {"row": 4, "column": 8}
        a, b = random_layout(rng, outs=outs), random_layout(rng, outs=outs, most=4)
        if set(table(a)) <= set(table(b)):
            assert a.invert_and_compose(b).compose(b) == a
        else:
            with pytest.raises(sl.ShapeError, match="does not have all values"):
                a.invert_and_compose(b)


# ---------------------------------------------------------------------- what Triton says


@pytest.mark.parametrize("name", facts.PRODUCTS)
def test_products_are_those_of_triton_and_are_divided(name: str) -> None:
    a, b, product = map(made, facts.PRODUCTS[name])
    assert a * b == product
    rest = product.divide_left(a)
    assert a * rest == product
    if b.in_dims.keys() == product.in_dims.keys() and b.out_dims.keys() == product.out_dims.keys():
        assert (rest.bases, rest.out_dims) == (b.bases, b.out_dims)  # in any order of the dims
    assert product.divide_right(b) * b == product


@pytest.mark.parametrize("name", facts.NO_QUOTIENT)
def test_what_is_no_product_is_not_divided(name: str) -> None:
    a, b = map(made, facts.NO_QUOTIENT[name])
    with pytest.raises(sl.ShapeError) as caught:
        a.divide_left(b)
    assert caught.value.kind == "no_layout"


@pytest.mark.parametrize("name", facts.COMPOSITIONS)
def test_compositions_are_those_of_triton(name: str) -> None:
    a, b, composed = map(made, facts.COMPOSITIONS[name])
    assert a.compose(b) == composed
    assert not holds(composed.is_surjective())


def test_other_dims_are_those_of_triton() -> None:
    for given, sizes, want in facts.RESHAPED_INS:
        assert made(given).reshape_ins(sizes) == made(want)
    for given, sizes, want in facts.RESHAPED_OUTS:
        assert made(given).reshape_outs(sizes) == made(want)
    for given, ins, outs in facts.FLATTENED:
        assert made(given).flatten_ins() == made(ins)
        assert made(given).flatten_outs() == made(outs)
    for names, values, want in facts.SUBLAYOUTS:
        assert made(facts.SUBLAYOUT_OF).sublayout(names, values) == made(want)
    a = made(facts.PRODUCTS["disjoint"][2])
    assert list(a.transpose_outs(["out2", "out1"]).bases["in1"]) == [(0, 1 << k) for k in range(5)]
    assert list(a.transpose_ins(["in2", "in1"]).bases) == ["in2", "in1"]


@pytest.mark.parametrize("name", facts.CONVERSIONS)
def test_conversions_are_those_of_triton(name: str) -> None:
    one, other, want = facts.CONVERSIONS[name]
    a, b = made(one), made(other)
    found = a.invert_and_compose(b)
    assert found.compose(b).transpose_outs(a.out_dims) == a
    assert want is None or found == made(want)


def test_answers_about_bits_are_those_of_triton() -> None:
    assert [made(given).num_consecutive() for given, _ in facts.CONSECUTIVE] == [n for _, n in facts.CONSECUTIVE]
    assert [made(given).free_variable_masks() for given, _ in facts.FREE] == [masks for _, masks in facts.FREE]
    for given, at, value in facts.APPLIED:
        assert made(given).apply(at) == value
    for given, names, rest in facts.QUOTIENTS:
        if rest is None:
            with pytest.raises(sl.ShapeError) as caught:
                made(given).quotient(names)
            assert caught.value.kind == "no_layout"
        else:
            assert made(given).quotient(names) == made(rest)


def test_random_layouts_are_those_of_triton() -> None:
    linear = pytest.importorskip("triton._C.libtriton.linear_layout", reason="Triton is not installed")
    peer = linear.LinearLayout

    def theirs(a: LinearLayout) -> Any:
        return eval(a.to_triton(), {"LinearLayout": peer})

    def ours(p: Any) -> LinearLayout:
        return linear_layout({n: [tuple(v) for v in vectors] for n, vectors in p.bases}, dict(p.out_dims))

    compared = 0
    for seed in range(2000):
        rng = random.Random(f"triton {seed}")
        a = random_layout(rng)
        p = theirs(a)
        assert ours(p) == a
        assert (holds(a.is_injective()), holds(a.is_surjective()), a.is_invertible()) == (
            p.is_injective(), p.is_surjective(), p.is_invertible()
        )  # fmt: skip
        assert a.to_matrix().tolist() == p.get_matrix_view() or not a.to_matrix().size
        at = {name: rng.randrange(n) for name, n in a.in_dims.items()}
        assert a.apply(at) == p.apply(at)
        c = random_layout(rng)
        assert ours(p * theirs(c)) == a * c
        b = random_layout(rng, outs={"p": 8, "q": 4})
        b = linear_layout(dict(zip(a.out_dims, itertools.cycle(b.bases.values()), strict=False)), b.out_dims)
        if all(a.out_dims[name] <= b.in_dims[name] for name in a.out_dims):
            assert ours(p.compose(theirs(b))) == a.compose(b)
        if holds(a.is_surjective()):
            compared += 1
            assert ours(p.pseudoinvert()) == a.pseudoinvert()
            if a.is_invertible():
                assert ours(p.invert()) == a.invert()
            e = random_layout(rng, outs=a.out_dims)
            found = ours(theirs(e).invert_and_compose(p))
            assert found.compose(a) == e == e.invert_and_compose(a).compose(a)
    assert compared > 300


# ---------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("bases", "outs", "kind"),
    [
        ({"x": [1, 8]}, {"out": 8}, "infeasible"),
        ({"x": [-1]}, {"out": 8}, "infeasible"),
        ({"x": [1]}, {"out": 6}, "infeasible"),
        ({"x": [(1, 2), (1,)]}, ["a", "b"], "length_mismatch"),
        ({"x": [(1, 2)]}, ["a"], "length_mismatch"),
        ({"x": [1 << k for k in range(50)]}, None, "infeasible"),
    ],
)
def test_bases_that_do_not_fit_are_refused(bases: Any, outs: Any, kind: str) -> None:
    with pytest.raises(sl.ShapeError) as caught:
        linear_layout(bases, outs)
    assert caught.value.kind == kind


@pytest.mark.parametrize(("bases", "outs"), [({"x": 1}, None), ({"x": [1.5]}, None), ({"x": [1]}, ["a", "a"])])
def test_what_is_no_list_of_bases_is_a_format_error(bases: Any, outs: Any) -> None:
    with pytest.raises(sl.FormatError):
        linear_layout(bases, outs)


def test_there_is_no_inverse_of_what_is_no_bijection() -> None:
    wide, narrow = linear_layout({"x": [1, 1]}), linear_layout({"x": [2]})
    for ask in (wide.left_inverse, wide.invert, narrow.right_inverse, narrow.invert):
        with pytest.raises(sl.ShapeError) as caught:
            ask()
        assert caught.value.kind == "no_inverse"
    with pytest.raises(sl.ShapeError) as caught:
        wide.compose(narrow)
    assert caught.value.kind == "length_mismatch"
