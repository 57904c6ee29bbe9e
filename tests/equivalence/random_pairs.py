"""Pairs of small models with nodes that nobody needs, each verdict judged by onnxruntime at all sizes from 0 to 4.

    python -m tests.equivalence.random_pairs --seconds 600 --seed 1

A model has two to four nodes that move, slice, join, gather, multiply and reshape; some are read for their shape only,
and some by nobody.  The other model is the same with one node less, more, or another one.  Each PROVED has to agree at
all sizes at which the model before runs, but for those that the verdict leaves out.  Each REFUTED has to have a witness
at which the model before runs and the model after does not, or computes something else.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto

import symlayout as sl
from tests.support.onnx_writer import INT64, model, node, tensor, value_info

SIZES = range(5)
INPUTS = (("x", ("N", "C")), ("z", ("K", "M")))


def constants(rnd: random.Random) -> dict[str, TensorProto]:
    """Return constants that nodes may read, by name."""
    vectors = {
        "one": [1], "zero": [0], "two": [2], "pair": [2, -1], "copy": [0, -1], "flat": [-1], "keep": [0, 0],
        "row": [1, -1], "many": [rnd.randrange(-3, 4) for _ in range(11)], "ends": [rnd.randrange(-2, 5)],
        "tiles": [rnd.randrange(1, 3), rnd.randrange(0, 3)], "wide": [rnd.randrange(1, 5), rnd.randrange(1, 5)],
        "pads": [rnd.randrange(-1, 3) for _ in range(4)],
    }  # fmt: skip
    found = {name: tensor(values, name=name) for name, values in vectors.items()}
    table = np.arange(15, dtype=np.float32).reshape(5, 3)
    found["table"] = TensorProto(dims=[5, 3], data_type=1, float_data=table.reshape(-1).tolist(), name="table")
    found["spot"] = tensor([rnd.randrange(-2, 4)], [], "spot")
    return found


def drawn_node(rnd: random.Random, values: list[str], out: str) -> list[NodeProto]:
    """Return nodes that compute *out* of some of *values*, which have two axes."""
    a, b = rnd.choice(values), rnd.choice(values)
    axis = rnd.randrange(2)
    makers = (
        lambda: [node("Relu", a, out)],
        lambda: [node("Transpose", a, out, perm=[1, 0])],
        lambda: [node("MatMul", f"{a}, {b}", out)],
        lambda: [node("Concat", f"{a}, {b}", out, axis=axis)],
        lambda: [node("Add", f"{a}, {b}", out)],
        lambda: [node("Gather", f"{a}, {rnd.choice(['many', 'ends', 'two'])}", out, axis=axis)],
        lambda: [node("Slice", f"{a}, {rnd.choice(['zero', 'one', 'ends'])}, {rnd.choice(['ends', 'two'])}, "
                      f"{rnd.choice(['zero', 'one'])}", out)],
        lambda: [node("Reshape", f"{a}, {rnd.choice(['pair', 'copy', 'keep', 'row'])}", out)],
        lambda: [node("Shape", b, f"{out}_s"), node("Reshape", f"{a}, {out}_s", out)],
        lambda: [node("Shape", b, f"{out}_s"), node("Expand", f"{a}, {out}_s", out)],
        lambda: [node("Shape", b, f"{out}_s", start=axis, end=axis + 1),
                 node("Concat", f"{out}_s, flat" if rnd.random() < 0.5 else f"flat, {out}_s", f"{out}_t", axis=0),
                 node("Reshape", f"{a}, {out}_t", out)],
        lambda: [node("Shape", a, f"{out}_s", start=axis, end=axis + 1),
                 node("Slice", f"{b}, zero, {out}_s, {rnd.choice(['zero', 'one'])}", out)],
        lambda: [node("Tile", f"{a}, tiles", out)],
        lambda: [node("Expand", f"{a}, wide", out)],
        lambda: [node("Pad", f"{a}, pads", out)],
        lambda: [node("ReduceSum", f"{a}, {rnd.choice(['zero', 'one'])}", out, keepdims=1)],
        lambda: [node("Split", a, f"{out}, {out}_2", axis=axis, num_outputs=2)],
        lambda: [node("MatMul", f"{a}, table", out)],
        lambda: [node("Flatten", a, out, axis=rnd.randrange(3))],
        lambda: [node("Squeeze", f"{a}, zero", f"{out}_q"),
                 node("Unsqueeze", f"{out}_q, {rnd.choice(['zero', 'one'])}", out)],
    )  # fmt: skip
    return rnd.choice(makers)()


def drawn_graph(rnd: random.Random) -> list[list[NodeProto]]:
    """Return groups of nodes: each computes one value; the last ones compute ``y``."""
    values = [name for name, _ in INPUTS]
    groups = []
    for k in range(rnd.randrange(1, 4)):
        groups.append(drawn_node(rnd, values, f"v{k}"))
        values.append(f"v{k}")
    source = rnd.choice(values)
    ends = (
        [node("Relu", source, "y")],
        [node("Shape", source, "y")],
        [node("Identity", source, "y")],
        [node("Shape", source, "s"), node("Expand", "scalar, s", "y")],
        [node("Size", source, "y")],
        [node("Transpose", source, "y", perm=[1, 0])],
    )
    return [*groups, rnd.choice(ends)]


def changed(rnd: random.Random, groups: list[list[NodeProto]]) -> list[list[NodeProto]]:
    """Return a graph that is near to another one."""
    names = [name for name, _ in INPUTS] + [f"v{k}" for k in range(len(groups) - 1)]
    kind = rnd.randrange(5)
    if kind == 0:  # one more value, which nobody needs
        return [*groups, drawn_node(rnd, names, "more")]
    if kind == 1 and len(groups) > 1:  # another node for one value
        k = rnd.randrange(len(groups) - 1)
        return [*groups[:k], drawn_node(rnd, names[: 2 + k], f"v{k}"), *groups[k + 1 :]]
    if kind == 2:  # what nobody needs is left out
        wanted, kept = {"y"}, []
        for group in reversed(groups):
            if wanted & {name for n in group for name in n.output}:
                kept.append(group)
                wanted |= {name for n in group for name in n.input}
        return kept[::-1]
    if kind == 3:  # another end
        return [*groups[:-1], drawn_graph(rnd)[-1] if len(groups) == 1 else [node("Relu", names[-1], "y")]]
    return [*groups, *[[node("Identity", "y", "copied")]], drawn_node(rnd, [*names, "y"], "more")]


def drawn_pair(seed: int) -> tuple[list[list[list[NodeProto]]], dict[str, TensorProto]]:
    """Return two graphs that are near to each other, as groups of nodes, and the constants of both."""
    rnd = random.Random(seed)
    given = constants(rnd)
    given["scalar"] = TensorProto(dims=[], data_type=1, float_data=[2.0], name="scalar")
    groups = drawn_graph(rnd)
    sides = [groups, changed(rnd, groups)]
    if rnd.random() < 0.5:
        sides.reverse()
    return sides, given


class Session:
    """A model in onnxruntime, without its optimisations."""

    def __init__(self, data: bytes) -> None:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 4, 1
        self.session: Any = None
        try:
            self.session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # each runtime has its own tree of errors
            self.why = str(error)[:200]

    def __call__(self, arrays: dict[str, np.ndarray[Any, Any]]) -> np.ndarray[Any, Any] | str:
        """Return the output, or why there is none."""
        if self.session is None:
            return self.why
        given = {x.name: arrays[x.name] for x in self.session.get_inputs()}
        try:
            made: np.ndarray[Any, Any] = self.session.run(None, given)[0]
            return made
        except Exception as error:  # the same
            return str(error)[:200]


def arrays_at(at: dict[str, int]) -> dict[str, np.ndarray[Any, Any]]:
    """Return inputs of these sizes."""
    rnd = np.random.default_rng(0)
    return {name: rnd.integers(-9, 9, [at[d] for d in dims]).astype(np.float32) for name, dims in INPUTS}


def same(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any] | str) -> bool:
    """Return whether two results are one: type, shape and elements."""
    return not isinstance(b, str) and a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def holds(relation: Any, at: dict[str, int]) -> bool:
    """Return whether a relation holds for sizes; a division by 0 does not."""
    try:
        return bool(relation.subs({s: at[s.name] for s in relation.free_symbols}))
    except ZeroDivisionError:
        return False


def judged(before: bytes, after: bytes, found: sl.Verification) -> str:
    """Return why a verdict is wrong; an empty text if it is not."""
    one, other = Session(before), Session(after)
    if found.verdict is sl.Verdict.REFUTED:
        witness = found.witness
        if witness is None:
            return "no witness"
        at = dict.fromkeys("NCKM", 1) | {str(d): n for d, n in witness.dims.items()}
        arrays = arrays_at(at) | {name: np.asarray(a) for name, a in witness.inputs.items()}
        a = one(arrays)
        if isinstance(a, str):
            return f"the model before is refused at the witness: {a}"
        return f"both compute the same at {at}" if same(a, other(arrays)) else ""
    for sizes in product(SIZES, repeat=4) if found.verdict is sl.Verdict.PROVED else ():
        at = dict(zip("NCKM", sizes, strict=True))
        if not all(holds(r, at) for r in found.assumed):
            continue
        arrays = arrays_at(at)
        a = one(arrays)
        if not all(holds(r, at) for r in found.requires):
            continue  # onnxruntime joins arrays of other extents than the standard does, where they are empty
        if isinstance(a, str):
            return f"requires {found.requires} at {at}: {a}"
        if not same(a, b := other(arrays)):
            return f"at {at}: {b if isinstance(b, str) else 'another result'}"
    return ""


def written(groups: list[list[NodeProto]], given: dict[str, TensorProto]) -> bytes:
    """Return a model."""
    nodes = [n for group in groups for n in group]
    read = {name for n in nodes for name in n.input}
    own = [t for name, t in given.items() if name in read]
    sizes = any(n.op_type in ("Shape", "Size") and "y" in n.output for n in nodes)
    made = ModelProto.FromString(model(nodes, [value_info(name, dims) for name, dims in INPUTS], constants=own))
    made.graph.output[0].type.tensor_type.elem_type = INT64 if sizes else TensorProto.FLOAT
    data: bytes = made.SerializeToString()
    return data


def main() -> None:
    """Draw pairs until the time is over, and print those whose verdict is wrong."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    end, seed, counts = time.time() + arguments.seconds, arguments.seed * 10**6, Counter[str]()
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("before.onnx", "after.onnx")]
        while time.time() < end:
            seed += 1
            sides, given = drawn_pair(seed)
            data = [written(side, given) for side in sides]
            for path, text in zip(paths, data, strict=True):
                path.write_bytes(text)
            try:
                found = sl.verify(*paths, run=False)
            except sl.SymlayoutError as error:
                counts[f"error {type(error).__name__} {getattr(error, 'kind', '')}"] += 1
                continue
            counts[found.verdict.value] += 1
            if found.verdict is sl.Verdict.UNKNOWN:
                counts[str(found.proofs["y"].obligation)[:40]] += 1
            if wrong := judged(data[0], data[1], found):
                counts["WRONG"] += 1
                print(f"seed {seed}: {found.verdict.name}: {wrong}")
                print("  ", found.explain().replace("\n", "\n   "))
                for side in sides:
                    nodes = [n for group in side for n in group]
                    print("   ", [f"{n.op_type}({', '.join(n.input)}) -> {', '.join(n.output)}" for n in nodes])
                    read = {k: list(given[k].int64_data) for n in nodes for k in n.input if k in given}
                    print("     ", read, flush=True)
    for key, count in counts.most_common():
        print(f"{count:6} {key}")


if __name__ == "__main__":
    main()
