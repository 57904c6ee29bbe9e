"""Make ``examples/models/unet.onnx`` with Keras and tf2onnx, with the transposes and shape nodes that these leave.

This script needs the ``tensorflow`` and ``tf2onnx`` packages.  The model is committed, so the examples need neither:

    python examples/make_unet.py examples/models
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import keras
import onnx
import tensorflow as tf
import tf2onnx
from keras import layers

CHANNELS = (4, 6, 8)
DIMS = ("N", "H", "W")


def convolutions(x: Any, channels: int) -> Any:
    """Return two convolutions of *x*."""
    for _ in range(2):
        x = layers.ReLU()(layers.Conv2D(channels, 3, padding="same")(x))
    return x


def unet() -> keras.Model:
    """Return a U-Net of images of any size: two steps down, two up, and a class for each pixel."""
    keras.utils.set_random_seed(0)
    image = keras.Input((None, None, 3))
    x, skipped = image, []
    for channels in CHANNELS[:-1]:
        x = convolutions(x, channels)
        skipped.append(x)
        x = layers.MaxPooling2D()(x)
    x = convolutions(x, CHANNELS[-1])
    for channels, beside in zip(CHANNELS[-2::-1], reversed(skipped), strict=True):
        x = layers.Concatenate()([layers.UpSampling2D()(x), beside])
        x = convolutions(x, channels)
    return keras.Model(image, layers.Conv2D(2, 1, activation="softmax")(x))


def make(path: Path) -> None:
    """Export the model, with names for the sizes and short names for the values."""
    net = unet()
    signature = (tf.TensorSpec((None, None, None, 3), tf.float32, name="image"),)
    function = tf.function(lambda image: net(image), input_signature=signature)
    model, _ = tf2onnx.convert.from_function(function, input_signature=signature, opset=17)
    rename(model.graph)
    onnx.save(model, path)


def rename(graph: onnx.GraphProto) -> None:
    """Give the sizes and the values of a graph names that people can read."""
    del graph.value_info[:]
    for value in (*graph.input, *graph.output):
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param:
                dim.dim_param = DIMS[axis] if value in graph.input else f"{DIMS[axis]}_out"
    names = {"image": "image", graph.output[0].name: "classes", "": ""}
    graph.output[0].name = "classes"
    for tensor in graph.initializer:
        tensor.name = names.setdefault(tensor.name, f"constant_{len(names)}")
    for node in graph.node:
        node.name = ""
        for k, name in enumerate(node.output):
            node.output[k] = names.setdefault(name, f"{node.op_type.lower()}_{len(names)}")
    for node in graph.node:
        for k, name in enumerate(node.input):
            node.input[k] = names[name]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="make the example model")
    parser.add_argument("folder", type=Path, help="where the model goes")
    make(parser.parse_args().folder / "unet.onnx")
