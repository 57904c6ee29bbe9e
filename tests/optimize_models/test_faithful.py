"""Whatever else a model has, `sl.optimize` keeps it: subgraphs, functions, external data, names, unread values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper, numpy_helper

import symlayout as sl
from tests.equivalence.unoptimized_onnxruntime import outputs

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
SHAPE = ("N", 4, 6, 6)
SIZES = ((1, 4, 6, 6), (3, 4, 6, 6))


class Hunt:
    """A random model that has, besides pairs of transposes, what rewrites of a graph easily damage."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[TensorProto] = []
        self.functions: list[onnx.FunctionProto] = []
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE)]
        self.values = ["x"]
        self.outputs: list[str] = []
        self.taken = 0

    def name(self) -> str:
        """Return a new name, among them those that rewrites make of others."""
        self.taken += 1
        ends = ("", "_permuted", "_before", "_transpose", "_Transpose", "_shape", "_reshape", "_copy")
        return f"v{self.taken}{ends[int(self.random.integers(len(ends)))]}"

    def put(self, op: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        made = self.name()
        label = (made, "", f"{made}_Transpose", f"{made}_permuted")[int(self.random.integers(4))]
        self.nodes.append(helper.make_node(op, list(inputs), [made], label, domain=domain, **attributes))
        self.values.append(made)
        return made

    def pick(self) -> str:
        return self.values[-1 - int(self.random.integers(min(4, len(self.values))))]

    def given(self, *shape: int) -> str:
        made = self.name()
        self.constants.append(numpy_helper.from_array(self.random.normal(size=shape).astype(np.float32), made))
        return made

    # ------------------------------------------------------------------ what a model may have

    def moved(self) -> None:
        x = self.put("Transpose", self.pick(), perm=TO_NHWC)
        y = self.put("Relu", x)
        self.put("Transpose", y, perm=TO_NCHW)
        self.values = [v for v in self.values if v not in (x, y)]

    def subgraph(self) -> None:
        """Append an If that captures two values of the graph around it, and has names of its own."""
        a, b, condition = self.pick(), self.pick(), self.name()
        self.nodes.append(helper.make_node("Constant", [], [condition], value=_scalar(bool(self.random.integers(2)))))
        branches = []
        for op, name in (("Add", a), ("Mul", b)):
            inner, made = self.name(), self.name()
            nodes = [helper.make_node("Transpose", [name], [inner], perm=[0, 1, 3, 2])]
            nodes.append(helper.make_node(op, [inner, a], [made]))
            out = helper.make_tensor_value_info(made, TensorProto.FLOAT, [None] * 4)
            branches.append(helper.make_graph(nodes, "branch", [], [out]))
        self.put("If", condition, then_branch=branches[0], else_branch=branches[1])

    def function(self) -> None:
        if not self.functions:
            nodes = [helper.make_node("Transpose", ["a"], ["t"], perm=TO_NHWC), helper.make_node("Relu", ["t"], ["r"])]
            nodes.append(helper.make_node("Transpose", ["r"], ["b"], perm=TO_NCHW))
            opsets = [helper.make_opsetid("", 18)]
            self.functions.append(helper.make_function("ours", "turned", ["a"], ["b"], nodes, opsets))
        self.put("turned", self.pick(), domain="ours")

    def unread(self) -> None:
        self.put("Transpose", self.pick(), perm=TO_NHWC)
        self.values.pop()
        self.given(3)

    def initial_input(self) -> None:
        """Multiply by an initializer that is an input too: callers may give another value."""
        name = self.given(1, 4, 1, 1)
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4, 1, 1]))
        self.put("Mul", self.pick(), name)

    def weights(self) -> None:
        last = self.put("Transpose", self.pick(), perm=TO_NHWC)
        added = self.put("Add", last, self.given(4))
        self.put("Transpose", added, perm=TO_NCHW)
        self.values = [v for v in self.values if v not in (last, added)]

    def output(self) -> None:
        """Make an output of a value of the movement, or one beside it."""
        x = self.put("Transpose", self.pick(), perm=TO_NHWC)
        self.outputs.append(x)
        self.put("Transpose", x, perm=TO_NCHW)
        self.values.remove(x)

    def copies(self) -> None:
        """Make two outputs of one value: by Identity, and by a pair of transposes."""
        x = self.pick()
        self.outputs.append(self.put("Identity", x))
        t = self.put("Transpose", x, perm=TO_NHWC)
        self.values.remove(t)
        self.outputs.append(self.put("Transpose", t, perm=TO_NCHW))

    def model(self, steps: int = 9) -> ModelProto:
        ways: list[Callable[[], None]] = [
            self.moved, self.moved, self.subgraph, self.function, self.unread, self.initial_input, self.weights,
            self.output, self.copies,
        ]  # fmt: skip
        for _ in range(steps):
            ways[int(self.random.integers(len(ways)))]()
        if steps:
            self.outputs.append(self.put("Sum", *dict.fromkeys((self.values[-1], self.pick(), self.pick()))))
        outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [None] * 4) for n in dict.fromkeys(self.outputs)]
        graph = helper.make_graph(self.nodes, "hunt", self.inputs, outputs, self.constants, "what is said of it")
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("ours", 1)]
        made: ModelProto = helper.make_model(
            graph, opset_imports=opsets, ir_version=8, functions=self.functions, producer_name="hunt"
        )
        helper.set_model_props(made, {"author": "someone", "empty": ""})
        return made


def _scalar(value: bool) -> TensorProto:
    return numpy_helper.from_array(np.array(value), "condition")


def saved(folder: Path, made: ModelProto, external: bool) -> Path:
    path = folder / "before.onnx"
    kept = ModelProto()
    kept.CopyFrom(made)
    onnx.save(kept, path, save_as_external_data=external, location="weights.bin", size_threshold=0)
    return path


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(s, marks=pytest.mark.slow) for s in range(6, 120))])
def test_the_result_is_the_model_with_less_movement(tmp_path: Path, seed: int) -> None:
    made = Hunt(seed).model()
    onnx.checker.check_model(made, full_check=True)
    path = saved(tmp_path, made, external=seed % 2 == 1)
    o = sl.optimize(path)
    o.save(tmp_path / "after.onnx")
    assert o.report.after.at_most(o.report.before)
    assert not [c for c in o.report.changes if "cannot" in c.reason]
    onnx.checker.check_model(tmp_path / "after.onnx", full_check=True)
    after = onnx.load(tmp_path / "after.onnx", load_external_data=False)
    for field in ("ir_version", "opset_import", "producer_name", "metadata_props", "functions"):
        assert getattr(after, field) == getattr(made, field)
    for field in ("name", "doc_string", "input", "output"):
        assert getattr(after.graph, field) == getattr(made.graph, field)
    again = sl.optimize(tmp_path / "after.onnx")
    assert again.source.SerializeToString() == (tmp_path / "after.onnx").read_bytes()
    random = np.random.default_rng(seed)
    for shape in SIZES:
        feeds = {"x": random.normal(size=shape).astype(np.float32)}
        for value in made.graph.input[1:] if shape[0] > 1 else ():
            feeds[value.name] = random.normal(size=(1, 4, 1, 1)).astype(np.float32)
        results = [outputs(p, feeds) for p in (path, tmp_path / "after.onnx")]
        for a, b in zip(*results, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_default_of_an_input_is_no_constant(tmp_path: Path) -> None:
    """The transpose of a default stays: callers give another value, which a folded constant would not know."""
    n = Hunt(0)
    last = n.put("Transpose", "x", perm=TO_NHWC)
    default = n.given(4)
    n.inputs.append(helper.make_tensor_value_info(default, TensorProto.FLOAT, [4]))
    n.outputs.append(n.put("Transpose", n.put("Add", last, default), perm=TO_NCHW))
    onnx.save(n.model(0), tmp_path / "before.onnx")
    o = sl.optimize(tmp_path / "before.onnx")
    o.save(tmp_path / "after.onnx")
    assert set(o.inputs) == {"x"}
    assert default in {name for node in o.source.graph.node for name in node.input}
    assert sl.verify(tmp_path / "before.onnx", o).verdict is sl.Verdict.PROVED
    feeds = {"x": np.ones((1, 4, 6, 6), np.float32), default: np.arange(4, dtype=np.float32)}
    before, after = (outputs(tmp_path / f"{name}.onnx", feeds) for name in ("before", "after"))
    np.testing.assert_array_equal(before[0], after[0])


def test_numbers_of_shapes_keep_their_element_type(tmp_path: Path) -> None:
    text = """<ir_version: 8, opset_import: ["": 17]>
    g (float[N,3] x) => (int32[1] y, float[A] z) <int64[1] from = {0}, int64[1] to = {1}, int32[1] width = {3}> {
        s = Shape(x)
        c = Cast<to = 6>(s)
        n = Slice(c, from, to)
        y = Mul(n, width)
        k = Cast<to = 7>(y)
        z = Reshape(x, k)
    }"""
    path = tmp_path / "m.onnx"
    onnx.save(onnx.parser.parse_model(text), path)
    made = sl.optimize(path).source
    onnx.shape_inference.infer_shapes(made, check_type=True, strict_mode=True)
