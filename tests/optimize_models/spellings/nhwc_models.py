"""Networks as converters from TensorFlow leave them: the channels last, and two transposes around each convolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper

TO_NHWC, TO_NCHW = [0, 2, 3, 1], [0, 3, 1, 2]
Extent = int | str


class Network:
    """A graph while it is written; each method appends an operation, and returns the name of its result."""

    def __init__(self, opset: int = 17) -> None:
        self.opset = opset
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.random = np.random.default_rng(0)

    def __call__(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name, **attributes))
        return name

    def given(self, values: object, dtype: type = np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(values, dtype), name))
        return name

    def weights(self, *shape: int) -> str:
        return self.given(self.random.normal(size=shape) / np.sqrt(np.prod(shape[1:])))

    def first(self, op: str, x: str, *inputs: str, **attributes: object) -> str:
        """Append an operation that has its channels first, between transposes."""
        y = self(op, self("Transpose", x, perm=TO_NCHW), *inputs, **attributes)
        return self("Transpose", y, perm=TO_NHWC)

    def conv(self, x: str, i: int, o: int, k: int = 3, stride: int = 1, group: int = 1, dilation: int = 1) -> str:
        """Append a convolution and its bias; a batch normalisation is folded into them."""
        pad = {"auto_pad": "SAME_UPPER"} if stride > 1 else {"pads": [k // 2 * dilation] * 4}
        w = self.weights(o, i // group, k, k)
        y = self.first("Conv", x, w, group=group, strides=[stride] * 2, dilations=[dilation] * 2, **pad)
        return self("Add", y, self.weights(o))

    def swish(self, x: str) -> str:
        return self("Mul", x, self("Sigmoid", x))

    def mean(self, x: str, keepdims: int = 1) -> str:
        return self("ReduceMean", x, axes=[1, 2], keepdims=keepdims)

    def upsampled(self, x: str, mode: str = "nearest") -> str:
        return self("Resize", x, "", self.given([1, 2, 2, 1]), mode=mode)

    def dense(self, x: str, i: int, o: int) -> str:
        return self("Add", self("MatMul", x, self.weights(i, o)), self.weights(o))

    def model(self, shape: Sequence[Extent], output: str, rank: int, dtype: int = TensorProto.FLOAT) -> ModelProto:
        """Return the model with the input x and the output y."""
        self.nodes.append(helper.make_node("Identity", [output], ["y"]))
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
        y = helper.make_tensor_value_info("y", dtype, [None] * rank)
        graph = helper.make_graph(self.nodes, "graph", [x], [y], self.constants)
        opsets = [helper.make_opsetid("", self.opset)]
        made: ModelProto = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        return made


def efficientnet(shape: Sequence[Extent]) -> ModelProto:
    """Return a network with squeeze and excite on means, swish, residual connections."""
    n = Network()
    x = n("Sub", n("Mul", "x", n.given(1 / 255)), n.given([0.485, 0.456, 0.406]))
    x = n.swish(n.conv(x, 3, 8, stride=2))
    for i, o, stride in ((8, 12, 2), (12, 12, 1), (12, 16, 2)):
        y = n.swish(n.conv(x, i, 4 * i, 1))
        y = n.swish(n.conv(y, 4 * i, 4 * i, 3, stride, 4 * i))
        s = n.conv(n.swish(n.conv(n.mean(y), 4 * i, 4, 1)), 4, 4 * i, 1)
        y = n.conv(n("Mul", y, n("Sigmoid", s)), 4 * i, o, 1)
        x = n("Add", y, x) if i == o else y
    x = n.mean(n.swish(n.conv(x, 16, 32, 1)), keepdims=0)
    return n.model(shape, n("Softmax", n.dense(x, 32, 10), axis=-1), 2)


def mobilenet(shape: Sequence[Extent]) -> ModelProto:
    """Return a network with padding apart from convolutions, ReLU6, and a maximum instead of a mean."""
    n = Network()

    def act(x: str) -> str:
        return n("Clip", x, n.given(0), n.given(6))

    def padded(x: str, c: int, stride: int) -> str:
        if stride == 1:
            return n.conv(x, c, c, group=c)
        x = n("Pad", x, n.given([0, 0, 0, 0, 0, 1, 1, 0], np.int64), n.given(0))
        return n("Add", n.first("Conv", x, n.weights(c, 1, 3, 3), group=c, strides=[2, 2]), n.weights(c))

    x = act(n.conv("x", 3, 8, stride=2))
    for i, o, stride in ((8, 8, 1), (8, 12, 2), (12, 12, 1)):
        y = act(padded(act(n.conv(x, i, 6 * i, 1)), 6 * i, stride))
        y = n.conv(y, 6 * i, o, 1)
        x = n("Add", x, y) if i == o and stride == 1 else y
    x = n("ReduceMax", act(n.conv(x, 12, 32, 1)), axes=[1, 2], keepdims=0)
    return n.model(shape, n("Softmax", n.dense(x, 32, 10), axis=-1), 2)


def unet(shape: Sequence[Extent]) -> ModelProto:
    """Return a network with upsampling and joined channels, as in onnxruntime's issue 26761."""
    n = Network()

    def double(x: str, i: int, o: int) -> str:
        return n("Relu", n.conv(n("Relu", n.conv(x, i, o)), o, o))

    def pooled(x: str) -> str:
        return n.first("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])

    a = double("x", 3, 8)
    b = double(pooled(a), 8, 16)
    c = double(pooled(b), 16, 32)
    d = double(n("Concat", n.upsampled(c), b, axis=3), 48, 16)
    e = double(n("Concat", n.upsampled(d, "linear"), a, axis=-1), 24, 8)
    return n.model(shape, n("Sigmoid", n.conv(e, 8, 1, 1)), 4)


def deeplab(shape: Sequence[Extent]) -> ModelProto:
    """Return a network of dilated convolutions, joined and upsampled, whose result is the index of a class."""
    n = Network()
    x = n("Relu", n.conv("x", 3, 8, stride=2))
    x = n("Relu", n.conv(x, 8, 16, stride=2))
    parts = [n("Relu", n.conv(x, 16, 8, 3, dilation=d)) for d in (1, 2, 3)]
    x = n("Relu", n.conv(n("Concat", *parts, axis=3), 24, 16, 1))
    x = n.upsampled(n.upsampled(n.conv(x, 16, 5, 1), "linear"), "linear")
    return n.model(shape, n("ArgMax", x, axis=3, keepdims=0), 3, TensorProto.INT64)


def quantized(shape: Sequence[Extent]) -> ModelProto:
    """Return a network of quantized values, with a slope for each channel, whose channels are split."""
    n = Network()

    def rounded(x: str, c: int = 0) -> str:
        """Quantize with one scale, or with a scale for each of the channels."""
        axis = {"axis": 3} if c else {}
        s = [n.given(np.linspace(0.1, 0.2, c) if c else 0.1), n.given(np.zeros(c) if c else 0, np.int8)]
        return n("DequantizeLinear", n("QuantizeLinear", x, *s, **axis), *s, **axis)

    x = rounded("x")
    for i, o in ((3, 8), (8, 12)):
        x = rounded(n("PRelu", n.conv(x, i, o, stride=2), n.weights(o)), o)
    n.nodes.append(helper.make_node("Split", [x, n.given([4, 8], np.int64)], ["left", "right"], "split", axis=3))
    x = n("Concat", rounded(n.conv("right", 8, 8)), n("LogSoftmax", "left", axis=3), axis=3)
    x = n.first("ConvTranspose", x, n.weights(12, 4, 2, 2), strides=[2, 2])
    return n.model(shape, n("Tanh", x), 4)


NETWORKS: dict[str, Callable[[Sequence[Extent]], ModelProto]] = {
    f.__name__: f for f in (efficientnet, mobilenet, unet, deeplab, quantized)
}
STATIC: tuple[Extent, ...] = (1, 32, 32, 3)
SHAPES: dict[str, tuple[Extent, ...]] = {
    "static": STATIC,
    "dynamic batch": ("N", 32, 32, 3),
    "all dynamic": ("N", "H", "W", 3),
}
