"""`parse`: what people type becomes trees, and everything else a `FormatError` with its place."""

from __future__ import annotations

import contextlib
import math
import string
from typing import Any

import pytest
import sympy
from hypothesis import example, given, settings
from hypothesis import strategies as st

from symlayout.errors import FormatError
from symlayout.language.grammar_trees import ParsedStep
from symlayout.language.parse import evaluate, names_of, parse_relations, parse_shape, parse_step
from tests.support.effort import examples
from tests.support.steps import STEPS, counted

DIMS = {"N": 7, "h": 5, "w": 3, "b": 2, "b_1": 4}


def shape(text: str) -> tuple[Any, ...]:
    return tuple(evaluate(entry, DIMS) for entry in parse_shape(text))


def step(text: str) -> tuple[str, list[Any], dict[str, Any]]:
    found = parse_step(text)
    positional = [evaluate(tree, DIMS) for tree in found.positional]
    return found.name, positional, {key: evaluate(tree, DIMS) for key, tree in found.keywords}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("N, 2*h, 2*w, 3", (7, 10, 6, 3)),
        ("(N, 2*h)", (7, 10)),
        ("[N,2*h,]", (7, 10)),
        ("()", ()),
        ("(N)", (7,)),
        ("(N + 1)*2, (h)", (16, 5)),
        ("(N), (h)", (7, 5)),
        ("?, None, -1", (None, None, None)),
        ("1..8, 2.., N..2*N", ((1, 8), (2, None), (7, 14))),
        ("N - h - 1, N - (h - 1), -h + N", (1, 3, 2)),
        ("N//2, N % 2, 10/h, -N//2, 20//3//2, 8*3//5", (3, 1, 2, -4, 3, 4)),
        ("h**2, 2*h**3, h**0", (25, 250, 1)),
        ("b_1>=1, N<=9, 1<=h<=9", (4, 7, 5)),
        ("1234567890123456789012345678901234567890", (1234567890123456789012345678901234567890,)),
        ("\tN ,\n h ", (7, 5)),
    ],
)
def test_a_shape_is_read(text: str, expected: tuple[Any, ...]) -> None:
    assert shape(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ravel", ("ravel", [], {})),
        ("ravel()", ("ravel", [], {})),
        ("transpose(0, 2, 3, 1)", ("transpose", [0, 2, 3, 1], {})),
        ("transpose((0,2,3,1))", ("transpose", [(0, 2, 3, 1)], {})),
        ("flip(axis=-1)", ("flip", [], {"axis": -1})),
        ("reshape(N, -1)", ("reshape", [7, -1], {})),
        ("reshape(N, ?)", ("reshape", [7, None], {})),
        ("onnx:SpaceToDepth(blocksize=2)", ("onnx:SpaceToDepth", [], {"blocksize": 2})),
        (
            "openvino:BatchToSpace-2(block_shape=[1,b,2], crops_begin=[0,0,0], crops_end=[0,?,None])",
            (
                "openvino:BatchToSpace-2",
                [],
                {"block_shape": [1, 2, 2], "crops_begin": [0, 0, 0], "crops_end": [0, None, None]},
            ),
        ),
        (
            "tensorflow:SpaceToBatchND(block_shape=[b,2*b-1], paddings=[[1,1],[1,1]])",
            ("tensorflow:SpaceToBatchND", [], {"block_shape": [2, 3], "paddings": [[1, 1], [1, 1]]}),
        ),
        (
            'pad([[0,0],[1,1]], mode="constant", constant_values=-0.5)',
            ("pad", [[[0, 0], [1, 1]]], {"mode": "constant", "constant_values": -0.5}),
        ),
        ("depth_to_space(2, mode=DCR)", ("depth_to_space", [2], {"mode": "DCR"})),
        ("pad(1, 'edge')", ("pad", [1, "edge"], {})),
        ("f(true, false, True, False, 1e-3, -inf)", ("f", [True, False, True, False, 1e-3, -math.inf], {})),
        ("f((), (1,), (1), [])", ("f", [(), (1,), 1, []], {})),
        ("torch:pixel_shuffle(2)", ("torch:pixel_shuffle", [2], {})),
        ("[1:-1:2, ..., ::-1]", ("[]", [slice(1, -1, 2), ..., slice(None, None, -1)], {})),
        ("[None, -1, h:, :N - h, :]", ("[]", [None, -1, slice(5, None), slice(None, 2), slice(None)], {})),
    ],
)
def test_a_step_is_read(text: str, expected: tuple[str, list[Any], dict[str, Any]]) -> None:
    assert step(text) == expected


def test_nan_is_a_fill_value() -> None:
    assert math.isnan(step("pad(1, constant_values=nan)")[2]["constant_values"])


def test_symbols_keep_their_algebra() -> None:
    h = sympy.Symbol("h", integer=True, nonnegative=True)
    (entry,) = parse_shape("(2*h + 2)/2 + h//2 - h % 3")
    assert evaluate(entry, {"h": h}) == (2 * h + 2) / 2 + h // 2 - h % 3


def test_names_come_in_order_of_first_use_with_all_of_their_bounds() -> None:
    block = parse_step("f(block_shape=[b>=1, b<=4, c])").keywords[0][1]
    trees = (*parse_shape("N, 2*h, 2<=b, h..N"), block)
    assert names_of(*trees) == {"N": (0, None), "h": (0, None), "b": (2, 4), "c": (0, None)}
    assert list(names_of(*trees)) == ["N", "h", "b", "c"]
    index = parse_step("[i:j:k, -(m**2)]").positional
    assert list(names_of(*index)) == ["i", "j", "k", "m"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "N, (2*)",
            "expected a number or a dim such as N, found ')', at column 7 of a shape\n  in: N, (2*)\n            ^",
        ),
        (
            "N 2",
            "expected ',' or the end, found '2', at column 3 of a shape\n  in: N 2\n        ^",
        ),
        (
            "2h",
            "cannot read '2', at column 1 of a shape\n  in: 2h\n      ^\n  help: a product is written 2*h",
        ),
        (
            "",
            "expected a shape, found nothing, at column 1 of a shape\n  in: \n      ^\n"
            "  help: a shape without axes is ()",
        ),
        ("N;M", "cannot read ';', at column 2 of a shape\n  in: N;M\n       ^"),
    ],
)
def test_an_error_shows_the_place(text: str, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_shape(text)
    assert str(caught.value) == message


def test_a_long_text_is_shown_around_the_error() -> None:
    with pytest.raises(FormatError) as caught:
        parse_shape("+".join(["N"] * 200) + ")" + "+N" * 200)
    _, excerpt, caret = str(caught.value).splitlines()
    assert len(excerpt) < 90
    assert excerpt[len(caret) - 1] == ")"


@pytest.mark.parametrize(
    "text",
    [
        "N,,M", ",", "N,*", "(N", "N)", "[N)", "((N)", "N++", "N^2", "N**-1", "N**h", "N**65", "3**4",
        "(N+1)**2", "1.5", "1e3", "N==2", "N>1", "N>=h", "2>=N", "N+1>=2", "1<=2", "1<=N>=2", "..3",
        "[1,2]*2", "'N'", "__import__('os')", "N.__class__", "lambda: 0", "N if 1 else 2", "N or 1",
        "(N,M)[0]", "f(N)", "x'", "\"", "true", "2*None", "nan", "N\0", "N\u0660", "\u0661", "n\u00e9",
        "\u202eN", "0x10", "1_000", "2 3",
    ],
)  # fmt: skip
def test_what_is_no_shape_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_shape(text)


@pytest.mark.parametrize(
    "text",
    [
        "", "()", "(1)", "f(", "f)", "f(1", "f(1,,2)", "f(a=1, a=2)", "f(a=1, 2)", "f(a==1)", "f(a=)",
        "f(=1)", "f 1", "f(1) g(2)", "f([1)", "f([1,2)", "f(1;2)", "f([1]+2)", "f(-[1])", "f(-true)",
        "f((1,2)+3)", "f('a'+1)", "f(2*true)", "f('a", "f(\"a')", "f(*x)", "f(**x)", "f(lambda: 0)",
        "f(x for x in y)", "f({})", "f(1)(2)", "f.g()(1)", "a:b:c()", "f-()", "f-x()", "f(1..2)", "[",
        "[]", "[1", "[1:2:3:4]", "[1]]", "[....]", "[1](2)", "__import__('os').x", "f(\\)", "f('\\x41')",
        "f(mode=)", "os.system('x'", "f(0.5.5)", "f(1.e5)", "f(.5)", "[,]",
    ],
)  # fmt: skip
def test_what_is_no_step_is_refused(text: str) -> None:
    with pytest.raises(FormatError):
        parse_step(text)


@pytest.mark.parametrize(
    ("text", "names", "message"),
    [
        ("7/2", {}, "7/2 is not an integer\n  help: // rounds down"),
        ("7//(2 - 2)", {}, "7 // 0 divides by zero"),
        ("7 % 0", {}, "7 % 0 divides by zero"),
        ("M", {"N": 1, "h": 2}, "M is not a dim here\n  known: N, h"),
    ],
)
def test_a_tree_without_a_value_is_refused(text: str, names: dict[str, int], message: str) -> None:
    with pytest.raises(FormatError) as caught:
        evaluate(parse_shape(text)[0], names)
    assert str(caught.value) == message


def test_bounds_that_leave_nothing_are_refused() -> None:
    with pytest.raises(FormatError, match=r"^no value of b is at least 5 and at most 4$"):
        names_of(*parse_shape("b>=5, b<=4"))


HOSTILE = {
    "nested brackets": "(" * 60_000,
    "nested and closed": "(" * 30_000 + "N" + ")" * 30_000,
    "nested lists": "f(" + "[" * 60_000,
    "signs": "-" * 60_000 + "N",
    "many axes": "1," * 32_000,
    "many factors": "*".join(["N"] * 32_000),
    "large product": "*".join(["9" * 40] * 1_500),
    "hidden product": "*".join(["(" + "*".join(["9" * 40] * 25) + ")"] * 60),
    "many terms": "*".join(["(N+M+K+L)"] * 60),
    "hidden terms": "*".join(["(" + "*".join(["(N+M)"] * 10) + ")"] * 6),
    "long integer": "9" * 60_000,
    "too long": "N" * 70_000,
    "spaces": " " * 65_000 + ";",
    "quotes": "f('" + "a" * 65_000,
    "dots": "." * 65_000,
    "digits then a letter": "1" * 65_000 + "a",
    "exponents": "1e" * 30_000,
    "tower": "N**" * 20_000 + "2",
    "bounds": "N>=" * 20_000 + "2",
}


@pytest.mark.sample(37)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("parse", [parse_shape, parse_step])
def test_hostile_text_is_refused_at_once(parse: Any, text: str) -> None:
    with counted(STEPS), pytest.raises(FormatError) as caught:
        parse(text)
    assert len(str(caught.value)) < 400


@pytest.mark.slow
def test_steps_that_read_and_add_terms_grow_as_their_number() -> None:
    names = string.ascii_letters[:50]
    dims = {name: sympy.Symbol(name, integer=True) for name in names}
    taken = []
    for count in (20, 200):  # of each name: 10000 terms at last
        with counted(10 * STEPS) as steps:
            (entry,) = parse_shape("+".join(f"{name}*{k}" for k in range(count) for name in names))
            total = evaluate(entry, dims)
        assert total.coeff(dims["h"]) == sum(range(count))
        taken.append(steps.count)
    assert taken[1] < 15 * taken[0]  # terms are sorted


SUMS = st.recursive(
    st.integers(0, 99).map(str) | st.sampled_from(["N", "h", "b"]),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner),
        st.builds("-{}".format, inner),
        st.builds("{} - {} + {}".format, inner, inner, inner).map("({})".format),
    ),
    max_leaves=12,
)


@given(SUMS)
@settings(max_examples=examples(300), deadline=None)
def test_arithmetic_is_python_arithmetic(text: str) -> None:
    """The texts are drawn from Python's own grammar, so its `eval` is the oracle here."""
    (entry,) = parse_shape("0 + " + text)
    try:
        expected = eval(text, {"__builtins__": {}}, dict(DIMS))
    except ZeroDivisionError:
        with pytest.raises(FormatError, match="divides by zero"):
            evaluate(entry, DIMS)
    else:
        assert evaluate(entry, DIMS) == expected


@given(st.text(alphabet="Nhb0129+-*/%.,:=<>()[]?'\" _\n", max_size=40) | st.text(max_size=20))
@settings(max_examples=examples(500), deadline=None)
@example("'")
@example("(,)")
@example("N..]")
def test_any_text_is_read_or_refused(text: str) -> None:
    """Bounds and quotients may be refused after reading; nothing but a `FormatError` may come out."""
    for parse in (parse_shape, parse_step):
        with contextlib.suppress(FormatError):
            found = parse(text)
            trees = found.positional if isinstance(found, ParsedStep) else found
            values = dict.fromkeys(names_of(*trees), 3)
            assert len([evaluate(tree, values) for tree in trees]) == len(trees)


# --- relations ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "signs"),
    [
        ("H % 4 == 0", ["=="]),
        ("1 <= H < 2*W", ["<=", "<"]),
        ("a*b >= c, a == b == c", [">=", "==", "=="]),
        ("(H + 1)//2 > W", [">"]),
    ],
)
def test_relations(text: str, signs: list[str]) -> None:
    assert [r.sign for r in parse_relations(text)] == signs


def test_a_chain_of_comparisons_shares_its_sides() -> None:
    first, second = parse_relations("1 <= H + W <= 8")
    assert first.right == second.left
    assert evaluate(first.right, {"H": 2, "W": 3}) == 5


@pytest.mark.parametrize(
    "text", ["", "H", "H >=", "H = 3", "H != 3", "H >= 3,", ">= 3", "H >= 3 4", "H >= [3]", "H?", "H>=1.5"]
)
def test_text_that_states_no_relation_is_refused(text: str) -> None:
    with pytest.raises(FormatError) as caught:
        parse_relations(text)
    assert "of a relation" in str(caught.value)


def test_names_and_divisions_are_counted() -> None:
    assert len(names_of(*parse_shape("+".join(f"n{k}" for k in range(256))))) == 256
    with pytest.raises(FormatError, match="at most 256 different names"):
        parse_shape("+".join(f"n{k}" for k in range(257)))
    parse_shape("+".join(f"(N//{k})" for k in range(1, 65)))
    for sign in ("/", "//", "%"):
        with pytest.raises(FormatError, match="at most 64 divisions"):
            parse_shape("+".join(f"(N{sign}{k})" for k in range(1, 66)))
