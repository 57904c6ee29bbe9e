"""Compare random chains, changed in one place, with what onnxruntime fused of them before; onnxruntime is the judge.

    python -m tests.equivalence.fused_mutants 500 --seed 0

A change is one of those of `tests.mutation.models`, an operand that is another value, or a float constant some units in
the last place off.  These are errors: a mutant that is PROVED and differs, a float constant more than one unit off that
is PROVED without a law, and a chain without a change that is REFUTED.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import symlayout as sl
from symlayout.proof.laws import LAWS
from tests.equivalence.tools import TOOLS
from tests.mutation.models import built, differ, mutants, outputs

ULPS = (1, 2, 4, 16, 100, 10000)
SIZES = (1, 3)
Step = Callable[[Any, str, random.Random], str]


def _float(b: Any, value: float) -> str:
    name: str = b.constant(np.array(value, np.float32))
    return name


def _mul(b: Any, draw: random.Random, x: str, y: str) -> str:
    made: str = b("Mul", *draw.sample((x, y), 2))
    return made


def gelu(b: Any, x: str, draw: random.Random) -> str:
    """Return a Gelu, in one of the spellings of exporters."""
    root = b("Div", x, _float(b, 2**0.5)) if draw.random() < 0.7 else b("Mul", x, _float(b, 0.5**0.5))
    cumulated = b("Add", b("Erf", root), _float(b, 1.0))
    if draw.random() < 0.5:
        return _mul(b, draw, b("Mul", x, cumulated), _float(b, 0.5))
    return _mul(b, draw, b("Mul", x, _float(b, 0.5)), cumulated)


def tanh_gelu(b: Any, x: str, draw: random.Random) -> str:
    """Return the approximation of a Gelu by a tangent."""
    cubic = _mul(b, draw, b("Pow", x, _float(b, 3.0)), _float(b, 0.044715))
    inner = _mul(b, draw, b("Add", x, cubic), _float(b, (2 / np.pi) ** 0.5))
    return _mul(b, draw, b("Mul", x, _float(b, 0.5)), b("Add", b("Tanh", inner), _float(b, 1.0)))


def quick_gelu(b: Any, x: str, draw: random.Random) -> str:
    """Return a product with a sigmoid."""
    return _mul(b, draw, x, b("Sigmoid", b("Mul", x, _float(b, 1.702))))


def hard_swish(b: Any, x: str, draw: random.Random) -> str:
    """Return a HardSwish, as a quotient."""
    clipped = b("Clip", b("Add", x, _float(b, 3.0)), _float(b, 0.0), _float(b, 6.0))
    return str(b("Div", _mul(b, draw, x, clipped), _float(b, 6.0)))


def layer_norm(b: Any, x: str, draw: random.Random) -> str:
    """Return a normalization over the last axis, as a chain."""
    centred = b("Sub", x, b("ReduceMean", x, axes=[-1]))
    square = b("Pow", centred, _float(b, 2.0)) if draw.random() < 0.7 else b("Mul", centred, centred)
    deviation = b("Sqrt", b("Add", b("ReduceMean", square, axes=[-1]), _float(b, 1e-5)))
    return str(b("Add", _mul(b, draw, b("Div", centred, deviation), b.weights(4)), b.weights(4)))


def scaled_product(b: Any, x: str, draw: random.Random) -> str:
    """Return a product of matrices times a number."""
    product = b("MatMul", x, b("Transpose", x, perm=[0, 1, 3, 2]))
    return str(b("Mul", product, _float(b, draw.choice((0.125, 0.3)))))


def bias(b: Any, x: str, draw: random.Random) -> str:
    """Return a sum with a constant, or with the input of the model."""
    return str(b("Add", x, b.weights(4) if draw.random() < 0.5 else "x"))


STEPS: tuple[Step, ...] = (gelu, tanh_gelu, quick_gelu, hard_swish, layer_norm, scaled_product, bias)


def drawn(draw: random.Random) -> onnx.ModelProto:
    """Return a model of a few random steps."""

    def make(b: Any) -> str:
        y = "x"
        for step in draw.choices(STEPS, k=draw.randint(1, 3)):
            y = step(b, y, draw)
        return str(b("Relu", y)) if draw.random() < 0.3 else y

    return built(make)


def nudged(model: onnx.ModelProto) -> Iterator[tuple[str, int, onnx.ModelProto]]:
    """Yield copies with one float constant some units in the last place off."""
    for k, constant in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(constant)
        if array.dtype != np.float32:
            continue
        for ulps in (sign * ulp for ulp in ULPS for sign in (1, -1)):
            changed = array.copy()
            changed.reshape(-1)[-1:].view(np.int32)[...] += np.int32(ulps)
            copy = onnx.ModelProto()
            copy.CopyFrom(model)
            copy.graph.initializer[k].CopyFrom(numpy_helper.from_array(changed, constant.name))
            yield f"{constant.name} = {array.reshape(-1)[-1]} is {ulps} units off", abs(ulps), copy


def rewired(model: onnx.ModelProto) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield copies in which one operand is another value that is there before."""
    for k, node in enumerate(model.graph.node):
        before = ["x", *(n.output[0] for n in model.graph.node[:k])]
        for place, name in enumerate(node.input):
            for other in before:
                if name in before and other != name:
                    copy = onnx.ModelProto()
                    copy.CopyFrom(model)
                    copy.graph.node[k].input[place] = other
                    yield f"{node.name} reads {other} for {name}", copy


def _fused(model: onnx.ModelProto, folder: Path) -> Path:
    source, target = folder / "source.onnx", folder / "fused.onnx"
    onnx.save(model, source)
    TOOLS["onnxruntime-extended"](source, target)
    return target


def tried(draw: random.Random, count: int, folder: Path, tally: Counter[str]) -> list[str]:
    """Return what is wrong with the verdicts on some mutants of one model; *tally* counts the verdicts."""
    model = drawn(draw)
    target = _fused(model, folder)
    after, values = sl.read_model(target), outputs(onnx.load(target), SIZES)
    assert values is not None
    tally["models in which something is fused"] += any(
        n.domain == "com.microsoft" for n in onnx.load(target).graph.node
    )
    changed = [(text, 0, m) for text, m in [*mutants(model), *rewired(model)]]
    constants = list(nudged(model))
    chosen = [("nothing is changed", 0, model)]
    for kind in (changed, constants):
        chosen += draw.sample(kind, min(count // 2, len(kind)))
    wrong: list[str] = []
    for text, ulps, mutant in chosen:
        expected = outputs(mutant, SIZES)
        if expected is None:
            continue
        try:
            path = folder / "mutant.onnx"
            onnx.save(mutant, path)
            before = sl.read_model(path)
            plain, granted = (sl.verify(before, after, laws=laws, budget=30) for laws in ((), LAWS))
        except sl.SymlayoutError as error:
            tally[f"refused: {type(error).__name__}"] += 1
            continue
        other = differ(expected, values)
        what = "unchanged" if mutant is model else f"{'units' if ulps else 'change'} {'differs' if other else 'same'}"
        tally[f"{what}: {plain.verdict.value}, under laws {granted.verdict.value}"] += 1
        verdicts = {plain.verdict, granted.verdict}
        unsound = other and sl.Verdict.PROVED in verdicts
        unsound |= ulps > 1 and plain.verdict is sl.Verdict.PROVED
        if unsound or (mutant is model and sl.Verdict.REFUTED in verdicts):
            ops = " ".join(n.op_type for n in mutant.graph.node)
            wrong.append(f"{text}: {plain.verdict.value}, under laws {granted.verdict.value} {granted.laws}; {ops}")
    return wrong


def main() -> int:
    """Count the verdicts, and print those that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many mutants, about")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=12, help="how many mutants of one model")
    arguments = parser.parse_args()
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as made:
        for k in range(max(1, arguments.count // arguments.each)):
            wrong += tried(random.Random(arguments.seed * 1000003 + k), arguments.each, Path(made), tally)
    for text, number in sorted(tally.items()):
        print(f"{number:6} {text}")
    for text in wrong:
        print(f"WRONG {text}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
