"""Attack the rules of the prover: pairs of small expressions, rewritten by what may hold, judged at special values.

``python -m tests.attack.rules --seconds 600`` draws expressions of a few bodies and movements, rewrites each of them by
an equation that holds always, sometimes or never, and asks for a proof with some laws granted.  A proof without a law
has to give equal bits at -0.0, NaN, infinities, subnormals and the extremes of integers, at sizes from 0 on.  A proof
under ``reassociate`` has to give equal bits where all arithmetic is exact; under other laws the values are near.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

import symlayout as sl
from tests.attack.values import GRANTED

Array = np.ndarray[Any, Any]
op: Any = sl.onnx
DTYPES = ("float32", "float32", "float32", "float16", "float64", "int32", "int8", "uint8", "int64")
SIZES = ((2, 3), (1, 1), (3, 1), (1, 2), (0, 2), (2, 0), (3, 3))
PLAIN = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -2.0)
SPECIAL = (np.inf, -np.inf, np.nan, 1e-45, 3e38, -3e38, 1e-7)
EXACT = {
    "add", "sub", "mul", "neg", "max", "min", "abs", "relu", "where", "floor", "ceil", "round", "transpose",
    "flip", "roll", "concat", "pad", "slice", "twice", "tile", "square", "reduce_max", "reduce_min",
    "reduce_sum", "reduce_l1", "reduce_prod", "reduce_sum_square", "in", "const",
}  # fmt: skip


class Node(NamedTuple):
    """An expression: an operation, its operands, and its attributes."""

    op: str
    args: tuple[Node, ...] = ()
    given: tuple[Any, ...] = ()

    def nodes(self) -> Iterator[Node]:
        yield self
        for a in self.args:
            yield from a.nodes()

    def __str__(self) -> str:
        if self.op in ("in", "const"):
            return str(self.given[0])
        return f"{self.op}({', '.join(map(str, (*self.args, *self.given)))})"


def is_float(dtype: str) -> bool:
    return dtype.startswith("float")


UNARY = ("relu", "neg", "abs", "floor", "ceil", "round", "sqrt", "exp", "sign", "reciprocal", "sigmoid")
ATTRIBUTED = {"leaky_relu": "alpha", "elu": "alpha", "thresholded_relu": "alpha", "celu": "alpha"}
BINARY = ("add", "sub", "mul", "max", "min", "div", "pow")
FOLDS = ("reduce_max", "reduce_min", "reduce_sum", "reduce_mean", "reduce_prod", "reduce_l1", "reduce_sum_square")
MOVES: dict[str, Callable[..., Any]] = {
    "transpose": lambda x: sl.transpose(x, (1, 0)),
    "flip": lambda x, axis: sl.flip(x, axis),
    "roll": lambda x, axis: sl.roll(x, 1, axis),
    "pad": lambda x, axis, value: sl.pad(x, [(1, 1) if k == axis else (0, 0) for k in range(2)], constant_values=value),
    "slice": lambda x, axis: x[1:] if axis == 0 else x[:, 1:],
    "twice": lambda x, axis: sl.concatenate([x, x], axis),
    "tile": lambda x, axis: sl.tile(x, [2 if k == axis else 1 for k in range(2)]),
}


def built(e: Node, dtype: str) -> Any:
    """Return the tensor of an expression."""
    args = [built(a, dtype) for a in e.args]
    if e.op == "in":
        return sl.tensor("N, C", dtype, name=e.given[0])
    if e.op == "const":
        value = e.given[0]
        whole = dtype if is_float(dtype) else "int64"
        with np.errstate(all="ignore"):
            number = np.array(value if is_float(dtype) else int(np.nan_to_num(value, posinf=127, neginf=-128))).astype(
                whole
            )
        return sl.constant(number.astype(dtype))
    if e.op in MOVES:
        value = e.given
        if e.op == "pad" and not is_float(dtype):
            value = (e.given[0], int(np.clip(np.nan_to_num(e.given[1]), 0, 100)))
        return MOVES[e.op](*args, *value)
    if e.op in ATTRIBUTED:
        return getattr(op, e.op)(*args, **{ATTRIBUTED[e.op]: e.given[0]})
    if e.op == "concat":
        return sl.concatenate(args, e.given[0])
    if e.op in FOLDS:
        return getattr(op, e.op)(*args, axes=list(e.given), keepdims=1)
    if e.op == "where":
        return op.where(op.less(args[0], args[1]), args[1], args[2])
    if e.op == "softmax":
        return op.softmax(*args, axis=e.given[0])
    if e.op == "cast":
        return op.cast(op.cast(*args, to=e.given[0]), to=dtype)
    if e.op == "square":
        return op.mul(*args, *args)
    return getattr(op, e.op)(*args)


class Draw:
    """Random expressions and rewritings."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.is_arithmetic = seed % 2 == 1  # sums and products, whose forms are compared under laws
        self.dtype = "float32" if self.is_arithmetic else self.random.choice(DTYPES)

    def number(self) -> float:
        usual = 0.95 if self.is_arithmetic else 0.75
        return self.random.choice(PLAIN if self.random.random() < usual else SPECIAL)

    def const(self) -> Node:
        return Node("const", (), (self.number(),))

    def leaf(self) -> Node:
        return Node("in", (), (self.random.choice("xyz"),)) if self.random.random() < 0.8 else self.const()

    def expression(self, depth: int) -> Node:
        r = self.random
        if depth <= 0:
            return Node("in", (), (r.choice("xyz"),))
        if self.is_arithmetic:
            name = r.choice(
                ("add", "add", "add", "sub", "mul", "mul", "mul", "div", "neg", "square", "sqrt", "exp", "relu")
            )
            inner = self.expression(depth - 1)
            if name not in BINARY:
                return Node(name, (inner,))
            other = self.const() if r.random() < 0.3 else self.expression(r.randrange(depth))
            return Node(name, (inner, other) if r.random() < 0.6 else (other, inner))
        kind = r.choices(("unary", "attributed", "binary", "constant", "fold", "move", "other"), (3, 2, 4, 4, 3, 3, 1))[
            0
        ]
        inner = self.expression(depth - 1)
        if kind == "unary":
            return Node(r.choice(UNARY), (inner,))
        if kind == "attributed":
            return Node(r.choice(list(ATTRIBUTED)), (inner,), (self.number(),))
        if kind in ("binary", "constant"):
            other = self.const() if kind == "constant" else self.expression(r.randrange(depth))
            pair = (inner, other) if r.random() < 0.6 else (other, inner)
            return Node(r.choice(BINARY[: 5 if r.random() < 0.7 else None]), pair)
        if kind == "fold":
            return Node(r.choice(FOLDS), (inner,), r.choice(((0,), (1,), (0, 1))))
        if kind == "move":
            return self.moved(inner)
        name = r.choice(("where", "concat", "softmax", "cast", "square"))
        if name == "where":
            return Node(name, (inner, self.leaf(), self.leaf()))
        if name == "concat":
            return Node(name, (inner, inner), (r.randrange(2),))
        if name == "softmax":
            return Node(name, (inner,), (r.randrange(2),))
        return Node(
            name, (inner,), (r.choice(("float64", "float32", "float16", "int32", "bool")),) if name == "cast" else ()
        )

    def moved(self, x: Node) -> Node:
        name = self.random.choice(list(MOVES))
        given: tuple[Any, ...] = () if name == "transpose" else (self.random.randrange(2),)
        return Node(name, (x,), (*given, self.number()) if name == "pad" else given)

    # ------------------------------------------------------------------ rewriting

    def rewritten(self, e: Node) -> Node | None:
        """Return an expression with one of its nodes rewritten; None if the rule does not fit there."""
        places = list(e.nodes())
        place = self.random.randrange(len(places))
        made = self.rule(places[place])
        return None if made is None else _with(e, place, made)

    def rule(self, e: Node) -> Node | None:
        rules = [rule for rule in _RULES for _ in range(rule.weight) if not self.is_arithmetic or rule.is_arithmetic]
        for rule in self.random.sample(rules, len(rules)):
            if (made := rule.make(self, e)) is not None and made != e:
                return made
        return None


def _with(e: Node, place: int, new: Node) -> Node:
    """Return *e* with the node at a place, counted from the outside, replaced."""
    if place == 0:
        return new
    place -= 1
    args = []
    for a in e.args:
        size = sum(1 for _ in a.nodes())
        args.append(_with(a, place, new) if 0 <= place < size else a)
        place -= size
    return e._replace(args=tuple(args))


class _Rule(NamedTuple):
    make: Callable[[Draw, Node], Node | None]
    weight: int = 1
    is_arithmetic: bool = False


def _c(value: float) -> Node:
    return Node("const", (), (value,))


def _exchanged(d: Draw, e: Node) -> Node | None:
    return e._replace(args=e.args[::-1]) if len(e.args) == 2 else None


def _grouped(d: Draw, e: Node) -> Node | None:
    """Return (a . b) . c as a . (b . c), also where the operations are two."""
    if len(e.args) == 2 and e.op in BINARY and e.args[0].op in BINARY and len(e.args[0].args) == 2:
        (inner, c) = e.args
        if inner.op == e.op or d.random.random() < 0.3:
            return Node(inner.op, (inner.args[0], Node(e.op, (inner.args[1], c))))
    return None


def _distributed(d: Draw, e: Node) -> Node | None:
    if e.op in ("mul", "div", "max", "min") and e.args[0].op in ("add", "sub", "max", "min"):
        inner, c = e.args
        return Node(inner.op, tuple(Node(e.op, (a, c)) for a in inner.args))
    return None


def _idle(d: Draw, e: Node) -> Node | None:
    if d.is_arithmetic and d.random.random() < 0.8:
        name, number = d.random.choice((("add", 0.0), ("sub", 0.0), ("add", -0.0), ("mul", 1.0), ("div", 1.0)))
        return Node(name, (e, _c(number)))
    number = d.random.choice((0.0, -0.0, 1.0, -1.0, np.inf, -np.inf))
    return Node(d.random.choice(BINARY), (e, _c(number)))


def _bare(d: Draw, e: Node) -> Node | None:
    return d.random.choice(e.args) if e.args and d.random.random() < 0.3 else None


def _twice(d: Draw, e: Node) -> Node | None:
    return Node(e.op, (e,), e.given) if len(e.args) == 1 and e.op != "pad" else None


def _swapped(d: Draw, e: Node) -> Node | None:
    """Return f(g(x)) as g(f(x))."""
    if len(e.args) == 1 and len(e.args[0].args) == 1:
        inner = e.args[0]
        return inner._replace(args=(e._replace(args=inner.args),))
    return None


def _through(d: Draw, e: Node) -> Node | None:
    """Return f(g(x), c) as g(f(x, c))."""
    if len(e.args) == 2 and "const" in (e.args[0].op, e.args[1].op):
        k = int(e.args[0].op == "const")
        inner = e.args[k]
        if len(inner.args) == 1:
            pair = list(e.args)
            pair[k] = inner.args[0]
            return inner._replace(args=(e._replace(args=tuple(pair)),))
    return None


def _outwards(d: Draw, e: Node) -> Node | None:
    """Return g(f(x, c)) as f(g(x), c), and g(f(x, y)) as f(g(x), g(y))."""
    if len(e.args) == 1 and len(e.args[0].args) == 2 and e.args[0].op in BINARY:
        inner = e.args[0]
        return inner._replace(args=tuple(a if a.op == "const" else e._replace(args=(a,)) for a in inner.args))
    return None


def _collected(d: Draw, e: Node) -> Node | None:
    """Return a * c + b * c as (a + b) * c, and c * x + d * x as (c + d) * x."""
    if e.op in ("add", "sub") and all(a.op == "mul" for a in e.args):
        (a, c), (b, other) = (a.args for a in e.args)
        if c == other:
            return Node("mul", (Node(e.op, (a, b)), c))
    if e.op == "add" and e.args[0] == e.args[1]:
        return Node("mul", (_c(2.0), e.args[0]))
    return None


def _turned_around(d: Draw, e: Node) -> Node | None:
    """Return a - (b - c) as a - b + c, a / (b / c) as a * c / b, and the like."""
    inverse = {"sub": "add", "div": "mul"}
    if e.op in inverse and e.args[1].op in (e.op, inverse[e.op]):
        (a, (b, c)) = e.args[0], e.args[1].args
        last = inverse[e.op] if e.args[1].op == e.op else e.op
        return Node(last, (Node(e.op, (a, b)), c))
    if e.op == "neg" and e.args[0].op in ("add", "sub"):
        b, c = e.args[0].args
        return Node("sub" if e.args[0].op == "add" else "add", (Node("neg", (b,)), c))
    return None


def _other_fold(d: Draw, e: Node) -> Node | None:
    """Max of -x and - min of x."""
    turned = {"reduce_max": "reduce_min", "reduce_min": "reduce_max", "max": "min", "min": "max"}
    if e.op in turned:
        negated = tuple(Node("neg", (a,)) for a in e.args)
        return Node("neg", (Node(turned[e.op], negated, e.given),))
    return None


def _two_folds(d: Draw, e: Node) -> Node | None:
    if e.op in FOLDS and e.given == (0, 1):
        first = d.random.randrange(2)
        return Node(e.op, (Node(e.op, e.args, (first,)),), (1 - first,))
    return None


def _joined(d: Draw, e: Node) -> Node | None:
    join = {"reduce_max": "max", "reduce_min": "min", "reduce_sum": "add", "reduce_prod": "mul", "reduce_l1": "add"}
    if e.op in join and e.args[0].op in ("concat", "twice") and e.args[0].given[0] in e.given:
        inner = e.args[0]
        parts = inner.args if len(inner.args) == 2 else inner.args * 2
        return Node(join[e.op], tuple(Node(e.op, (p,), e.given) for p in parts))
    return None


def _other_number(d: Draw, e: Node) -> Node | None:
    if e.op == "const" or e.op in ATTRIBUTED or e.op == "pad":
        value = e.given[-1]
        new = d.random.choice((-value, float(np.nextafter(np.float32(value), np.float32(9))), d.number()))
        return e._replace(given=(*e.given[:-1], new))
    return None


def _formula(d: Draw, e: Node) -> Node | None:
    a = e.args
    choices: list[Node] = []
    if e.op == "relu":
        choices = [Node("max", (a[0], _c(0.0))), Node("max", (a[0], _c(-0.0))), Node("leaky_relu", a, (0.0,))]
    elif e.op == "neg":
        choices = [Node("sub", (_c(0.0), a[0])), Node("mul", (a[0], _c(-1.0))), Node("sub", (_c(-0.0), a[0]))]
    elif e.op == "sub":
        choices = [Node("add", (a[0], Node("neg", (a[1],)))), Node("neg", (Node("sub", a[::-1]),))]
    elif e.op == "add":
        choices = [Node("sub", (a[0], Node("neg", (a[1],))))]
        choices += [Node("mul", (a[0], _c(2.0)))] if a[0] == a[1] else []
    elif e.op == "mul":
        choices = [
            Node("div", (a[0], Node("reciprocal", (a[1],)))),
            Node("neg", (Node("mul", (Node("neg", (a[0],)), a[1])),)),
        ]
        choices += [Node("pow", (a[0], _c(2.0)))] if a[0] == a[1] else []
        choices += [Node("add", (a[0], a[0]))] if a[1] == _c(2.0) else []
    elif e.op == "div":
        choices = [Node("mul", (a[0], Node("reciprocal", (a[1],))))]
        choices += [Node("mul", (a[0], _c(1 / a[1].given[0])))] if a[1].op == "const" and a[1].given[0] else []
    elif e.op == "sqrt":
        choices = [Node("pow", (a[0], _c(0.5)))]
    elif e.op == "reciprocal":
        choices = [Node("div", (_c(1.0), a[0])), Node("pow", (a[0], _c(-1.0)))]
    elif e.op == "abs":
        choices = [Node("max", (a[0], Node("neg", a))), Node("leaky_relu", a, (-1.0,))]
    elif e.op == "square":
        choices = [Node("pow", (a[0], _c(2.0))), Node("square", (Node("neg", a),)), Node("mul", a * 2)]
    elif e.op == "pow" and a[1] in (_c(2.0), _c(3.0), _c(0.5), _c(1.0)):
        square = Node("mul", (a[0], a[0]))
        choices = [{2.0: square, 3.0: Node("mul", (square, a[0])), 0.5: Node("sqrt", a[:1]), 1.0: a[0]}[a[1].given[0]]]
    elif e.op == "reduce_l1":
        choices = [Node("reduce_sum", (Node("abs", a),), e.given)]
    elif e.op == "reduce_sum_square":
        choices = [Node("reduce_sum", (Node("square", a),), e.given)]
    elif e.op == "leaky_relu":
        choices = [Node("max", (a[0], Node("mul", (a[0], _c(e.given[0])))))]
    elif e.op == "sigmoid":
        choices = [Node("reciprocal", (Node("add", (_c(1.0), Node("exp", (Node("neg", a),)))),))]
    elif e.op == "twice":
        choices = [Node("concat", a * 2, e.given), Node("tile", a, e.given)]
    return d.random.choice(choices) if choices else None


_RULES = (
    _Rule(_exchanged, 1, True), _Rule(_grouped, 4, True), _Rule(_distributed, 3, True), _Rule(_idle, 2, True),
    _Rule(_collected, 2, True), _Rule(_turned_around, 2, True), _Rule(_bare), _Rule(_twice, 2),
    _Rule(_swapped, 4), _Rule(_through, 4), _Rule(_outwards, 3), _Rule(_other_fold, 2), _Rule(_two_folds, 3),
    _Rule(_joined, 4), _Rule(_other_number), _Rule(_formula, 5, True),
)  # fmt: skip


# ---------------------------------------------------------------------- judging


def specials(dtype: Any) -> Array:
    """Return the values of a type at which rules fail: signed zeros, infinities, NaN, subnormals, extremes."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(
            sorted({info.min, max(info.min, -1), max(info.min, -2), 0, 1, 2, 3, info.max - 1, info.max}), dtype
        )
    about: Any = np.finfo(dtype) if dtype.kind == "f" else import_module("ml_dtypes").finfo(dtype)
    sizes = [0.0, float(about.smallest_subnormal), float(about.tiny), 0.5, 1.0, 1.5, 3.0, float(about.max), np.inf]
    return np.array([*sizes, *(-s for s in sizes), np.nan]).astype(dtype)


EXACT_VALUES = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, np.inf, -np.inf, np.nan])


def same_bits(a: Array, b: Array) -> bool:
    """Return whether two arrays have the same bits; NaNs are one value."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "biu":
        return bool((a == b).all())
    x, y = a.astype(np.float64), b.astype(np.float64)
    nan = np.isnan(x) & np.isnan(y)
    return bool((nan | ((x == y) & (np.signbit(x) == np.signbit(y)))).all())


def inputs(values: Array, shape: tuple[int, int], rng: Any, uniform: bool) -> dict[str, Array]:
    return {
        name: np.full(shape, rng.choice(values), values.dtype) if uniform else rng.choice(values, shape)
        for name in "xyz"
    }


def value(t: Any, arrays: dict[str, Array], shape: tuple[int, int]) -> Array | None:
    """Return what the interpreter gives; None if these sizes are not valid."""
    names = {leaf.name for leaf in t.arguments()}
    given: dict[str, Any] = {name: arrays[name] for name in names}
    if not names:  # then only its shape has dims
        known = {str(s) for e in t.shape for s in getattr(e, "free_symbols", ())}
        given["dims"] = {s: n for s, n in zip(sl.dims("N C"), shape, strict=True) if str(s) in known}
    try:
        return np.asarray(sl.interpret(t, **given))
    except (sl.ShapeError, sl.InconclusiveError):
        return None


def wrong(left: Any, right: Any, proof: Any, e: tuple[Node, Node], dtype: str, seed: int) -> str:
    """Return where a PROVED claim does not hold; an empty text if it holds wherever it was tried."""
    rng = np.random.default_rng(seed)
    fused = bool(proof.formulas)
    laws = set(proof.laws)
    exact = all(n.op in EXACT for side in e for n in side.nodes())
    for shape in SIZES:
        for k in range(8):
            if laws or fused:
                if k < 4 and laws <= {"reassociate"} and exact and not fused and is_float(dtype):
                    values, bits = EXACT_VALUES.astype(dtype), True
                elif k < 4 and laws <= {"reassociate", "reciprocal"} and not fused and is_float(dtype):
                    values, bits = EXACT_VALUES.astype(dtype), False
                else:
                    values, bits = (np.arange(1, 9) / 4).astype(dtype), False
            else:
                values, bits = specials(dtype), True
            arrays = inputs(values, shape, rng, uniform=k % 2 == 1)
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                a, b = value(left, arrays, shape), value(right, arrays, shape)
            if a is None or b is None:
                continue
            near = bits or a.dtype.kind in "biu" or a.shape != b.shape
            patterns = values.dtype.kind == "f" and bool(np.isinf(values).any())
            if same_bits(a, b) if near else _are_near(a, b, patterns):
                continue
            return f"{shape}, {arrays}: {a.tolist()} and {b.tolist()}"
    return ""


def _are_near(a: Array, b: Array, patterns: bool) -> bool:
    """Return whether finite elements are near to each other, and with *patterns* which are finite."""
    rounding = 3e-2 if a.dtype.itemsize < 4 else 1e-3
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        size = np.abs(x[np.isfinite(x)]).max(initial=1.0)
        near = np.isclose(x, y, rtol=rounding, atol=rounding * size, equal_nan=True)
        return bool((near | ((not patterns) & (~np.isfinite(x) | ~np.isfinite(y)))).all())


def judged(seed: int, budget: int = 4) -> tuple[str, str]:
    """Return the outcome of one pair, and a text if it is wrong."""
    d = Draw(seed)
    first = d.expression(d.random.randint(1, 4))
    second: Node | None = first
    for _ in range(d.random.choice((1, 1, 1, 2, 3))):
        second = d.rewritten(second) if second is not None else None
    if second is None or second == first:
        return "no pair", ""
    some = [law for law in GRANTED if d.random.random() < 0.5]
    laws = tuple(d.random.choice((["reassociate"], some, GRANTED) if d.is_arithmetic else ((), (), (), some)))
    try:
        with np.errstate(all="ignore"):
            left, right = built(first, d.dtype), built(second, d.dtype)
    except (sl.SymlayoutError, ValueError, OverflowError, TypeError):
        return "not built", ""
    if left.dtype != right.dtype:
        return "not built", ""
    text = f"{seed}: {d.dtype} {first} == {second} under {laws}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            proof = sl.prove_equal(left, right, laws=laws, budget=budget, time_limit=2)
    except sl.SymlayoutError as error:
        return f"error {type(error).__name__}", ""
    except Exception as error:
        return "wrong error", f"{text}: {type(error).__name__}: {error}"
    if proof.verdict is not sl.Verdict.PROVED:
        return proof.verdict.name, ""
    if not set(proof.laws) <= set(laws):
        return "wrong law", f"{text}: PROVED by {proof.laws}"
    if found := wrong(left, right, proof, (first, second), d.dtype, seed):
        return "wrong PROVED", f"{text}: PROVED by {proof.laws}, and at {found}"
    return f"PROVED by {', '.join(proof.laws) or 'no law'}", ""


def main() -> int:
    """Run the attack, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    sl.limits.decision_goals = 1000
    counts: Counter[str] = Counter()
    end, seed = time.monotonic() + given.seconds, given.seed
    while time.monotonic() < end:
        outcome, text = judged(seed)
        counts[outcome] += 1
        seed += 1
        if text:
            print(text, flush=True)
    for outcome, count in counts.most_common():
        print(f"{count:8} {outcome}")
    return int(any(outcome.startswith("wrong") for outcome in counts))


if __name__ == "__main__":
    sys.exit(main())
