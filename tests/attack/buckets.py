"""Small random graphs over the same inputs, in buckets of those whose results agree at drawn points.

    python -m tests.attack.buckets --seconds 60 --seed 0

Two graphs of one bucket are a claim that is likely to be true, two of different buckets one that is false.
"""

from __future__ import annotations

import random

import numpy as np
from onnx import ModelProto, TensorProto, helper

from tests.attack.bases import constant
from tests.attack.claims import Answers, paired
from tests.attack.judge import Pair, Side, points_of
from tests.attack.runner import main_of
from tests.attack.spellings import MOST, node
from tests.attack.steps.computed_shapes import COMPUTED, Made, Step
from tests.attack.tally import Tally

GRAPHS = 60  # of one case
PAIRS = 100  # of one case that agree, and as many that differ as do
VERSIONS = (13, 15, 18, 20, 22)


def _elementwise(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    op = rnd.choice(
        ("Relu", "Neg", "Abs", "Sign", "Floor", "LeakyRelu", "Identity", "Clip", "HardSigmoid", "Elu", "Sqrt")
    )
    given = {"LeakyRelu": {"alpha": rnd.choice((0.0, -0.0, 1.0, 0.5))}, "Elu": {"alpha": rnd.choice((0.0, -0.0, 1.0))}}
    return [node(op, [x], y, **given.get(op, {}))], [], rank


def _number(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    op = rnd.choice(("Add", "Mul", "Max", "Min", "Sub", "Div", "Pow"))
    value = rnd.choice((0.0, -0.0, 1.0, 2.0, 0.5, -1.0))
    inputs = [x, f"{y}_c"]
    if rnd.random() < 0.5:
        inputs.reverse()
    return [node(op, inputs, y)], [constant(f"{y}_c", value, np.float32)], rank


def _transpose(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if rank < 2:
        return None
    return [node("Transpose", [x], y, perm=rnd.sample(range(rank), rank))], [], rank


def _reduced(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    name, keeps = rnd.choice(("Max", "Min", "Sum", "Mean")), rnd.randint(0, 1)
    axes = rnd.sample(range(rank), rnd.randint(1, min(rank, 2)))
    axes = [a - rank if rnd.random() < 0.4 else a for a in axes]
    left = rank if keeps else rank - len(axes)
    if version >= (13 if name == "Sum" else 18):
        return [node(f"Reduce{name}", [x, f"{y}_a"], y, keepdims=keeps)], [constant(f"{y}_a", axes)], left
    return [node(f"Reduce{name}", [x], y, keepdims=keeps, axes=axes)], [], left


def _sliced(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(-rank, rank)
    start, end, step = rnd.choice(
        ((0, MOST, 1), (1, MOST, 1), (0, -1, 1), (-1, -MOST, -1), (MOST, -MOST - 1, -1), (0, 2, 1), (-2, MOST, 1),
         (0, MOST, 2), (1, MOST, 2), (-3, 3, 1))
    )  # fmt: skip
    names = [f"{y}_{k}" for k in ("starts", "ends", "axes", "steps")]
    held = [constant(n, [v]) for n, v in zip(names, (start, end, axis, step), strict=True)]
    return [node("Slice", [x, *names], y)], held, rank


def _reshaped(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    if rnd.random() < 0.3:
        axis = rnd.randint(-rank, rank)
        return [node("Flatten", [x], y, axis=axis)], [], 2
    target = rnd.choice(([-1], [1, -1], [0, -1], [-1, 2], [0, 0, -1], [-1, 0], [2, -1]))
    target = target[: max(rank, 1)] if 0 in target[rank:] else target
    return [node("Reshape", [x, f"{y}_t"], y)], [constant(f"{y}_t", target)], len(target)


def _axes(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if rnd.random() < 0.6 and rank < 4:
        return [node("Unsqueeze", [x, f"{y}_a"], y)], [constant(f"{y}_a", [rnd.randint(-rank - 1, rank)])], rank + 1
    if not rank:
        return None
    return [node("Squeeze", [x, f"{y}_a"], y)], [constant(f"{y}_a", [rnd.randrange(-rank, rank)])], rank - 1


def _padded(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    pads = [0] * (2 * rank)
    pads[rnd.randrange(2 * rank)] = rnd.choice((1, 2, -1))
    pads[rnd.randrange(2 * rank)] += rnd.choice((0, 1, -1))
    mode = rnd.choice(("constant", "constant", "edge", "reflect"))
    return [node("Pad", [x, f"{y}_p"], y, mode=mode)], [constant(f"{y}_p", pads)], rank


def _joined(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    return [node("Concat", [x] * rnd.randint(1, 2), y, axis=rnd.randrange(-rank, rank))], [], rank


def _tiled(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    counts = [rnd.choice((1, 1, 2)) for _ in range(rank)]
    return [node("Tile", [x, f"{y}_r"], y)], [constant(f"{y}_r", counts)], rank


def _gathered(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    indices = rnd.choice((0, -1, [0, 1], [-1, -2], [1, 0], [0, 0], [[0, 1]]))
    held = constant(f"{y}_i", indices)
    return [node("Gather", [x, f"{y}_i"], y, axis=rnd.randrange(-rank, rank))], [held], rank - 1 + np.ndim(indices)


def _along(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made | None:
    if not rank:
        return None
    axis = rnd.randrange(-rank, rank)
    if rnd.random() < 0.5:
        given = {"exclusive": rnd.randint(0, 1), "reverse": rnd.randint(0, 1)}
        return [node("CumSum", [x, f"{y}_a"], y, **given)], [constant(f"{y}_a", axis)], rank
    return [node(rnd.choice(("Softmax", "LogSoftmax", "Hardmax")), [x], y, axis=axis)], [], rank


def _with_itself(x: str, y: str, rank: int, version: int, rnd: random.Random) -> Made:
    op = rnd.choice(("Add", "Mul", "Max", "Min", "Sub", "Sum", "Mean"))
    return [node(op, [x, x], y)], [], rank


STEPS: tuple[Step, ...] = (
    _elementwise, _elementwise, _number, _number, _transpose, _transpose, _transpose, _reduced, _reduced, _sliced,
    _sliced, _reshaped, _axes, _padded, _joined, _tiled, _gathered, _along, _with_itself,
)  # fmt: skip


def graph(rank: int, words: list[Step], version: int, rnd: random.Random) -> ModelProto:
    """Return a model of a few random steps over the inputs x and z of the same shape."""
    dims = ["N", "M", "K"][:rank]
    nodes, held, at, left = [], [], "x", rank
    if rnd.random() < 0.3:
        nodes.append(node(rnd.choice(("Add", "Mul", "Max", "Sub")), rnd.sample(["x", "z"], 2), "v"))
        at = "v"
    for k in range(rnd.randint(1, 3)):
        tried = (word(at, f"v{k}", left, version, rnd) for word in rnd.sample(words, len(words)))
        made = next(filter(None, tried), None) or _elementwise(at, f"v{k}", left, version, rnd)
        nodes += made[0]
        held += made[1]
        at, left = f"v{k}", made[2]
    nodes.append(node("Identity", [at], "y"))
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, dims) for n in ("x", "z")]
    made_graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("y")], held)
    return helper.make_model(made_graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)


def attack(seed: int, tally: Tally) -> None:
    """Make graphs, put them into buckets, and judge what is said of pairs inside buckets and across them."""
    rnd = random.Random(seed)
    rank, version = rnd.randint(1, 3), rnd.choice(VERSIONS)
    plain = rnd.random() < 0.5
    words = [*rnd.sample(STEPS, 1 + plain), *([_elementwise] if plain else rnd.sample(COMPUTED, 2))]
    sides = [Side(graph(rank, words, version, rnd)) for _ in range(GRAPHS)]
    base = {"N": 2, "M": 3, "K": 4}
    points = points_of(sides, base, {}, rnd)
    agreeing, differing = paired(list({side.data: side for side in sides}.values()), points, rnd)
    answers = Answers()
    agreeing = agreeing[:PAIRS]
    for subject, pairs in (("agree", agreeing), ("differ", differing[: max(len(agreeing), 10)])):
        for before, after in pairs:
            answers.ask(Pair(subject, "bucket", before, after, base, {}, points, subject == "agree"), rnd, tally)
    answers.attack_certificate(rnd, tally)


if __name__ == "__main__":
    main_of("buckets", attack, __doc__)
