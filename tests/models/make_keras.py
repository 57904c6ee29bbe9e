"""Export small networks from Keras by tf2onnx: ``python -m tests.models.make_keras``.  Needs tensorflow and tf2onnx.

With ``--tflite`` TensorFlow's converter writes those of the folder that it can, with all extents dynamic; the weights
are those of the ONNX files.  Needs tensorflow.

Channels are last, so that the exporter adds transposes; each network is exported with a dynamic batch, and with all
extents dynamic that its architecture allows.
"""

# mypy: disable-error-code="import-untyped, import-not-found, no-untyped-call"

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "exported"
OPSET = 17


def unet(layers: Any) -> Any:
    """Return a U-Net that repeats pixels and joins them with what came before."""
    x = image = layers.Input((None, None, 3))
    x = before = layers.Conv2D(8, 3, padding="same", activation="relu")(x)
    x = layers.Conv2D(12, 3, padding="same", activation="relu")(layers.MaxPooling2D()(x))
    x = layers.Concatenate()([layers.UpSampling2D()(x), before])
    return image, layers.Conv2D(2, 1, activation="softmax")(x)


def dilated(layers: Any) -> Any:
    """Return dilated convolutions, which TensorFlow computes between space_to_batch and batch_to_space."""
    x = image = layers.Input((None, None, 3))
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(x)
    x = layers.DepthwiseConv2D(3, dilation_rate=2, padding="same")(x)
    x = layers.Conv2D(8, 3, dilation_rate=3, padding="same", activation="relu")(x)
    return image, layers.Conv2D(4, 1)(x)


def separable(layers: Any) -> Any:
    """Return inverted bottlenecks with squeeze and excitation, as EfficientNet has them."""
    x = image = layers.Input((None, None, 3))
    x = layers.Conv2D(8, 3, strides=2, padding="same", use_bias=False)(x)
    for stride in (1, 2):
        y = layers.BatchNormalization()(layers.Conv2D(16, 1, use_bias=False)(x))
        y = layers.Activation("swish")(y)
        y = layers.ZeroPadding2D(((0, 1), (0, 1)))(y) if stride == 2 else y
        y = layers.DepthwiseConv2D(3, strides=stride, padding="same" if stride == 1 else "valid")(y)
        s = layers.Reshape((1, 1, 16))(layers.GlobalAveragePooling2D()(y))
        s = layers.Conv2D(16, 1, activation="sigmoid")(layers.Conv2D(4, 1, activation="swish")(s))
        y = layers.Conv2D(8, 1)(layers.Multiply()([y, s]))
        x = layers.Add()([x, y]) if stride == 1 else y
    return image, layers.Dense(5)(layers.GlobalAveragePooling2D()(x))


def attention(layers: Any) -> Any:
    """Return one block of a transformer over words."""
    words = layers.Input((None,), dtype="int32")
    x = layers.Embedding(40, 16)(words)
    x = layers.LayerNormalization()(layers.Add()([x, layers.MultiHeadAttention(2, 8)(x, x)]))
    y = layers.Dense(16)(layers.Dense(32, activation="swish")(x))
    return words, layers.LayerNormalization()(layers.Add()([x, y]))


def recurrent(layers: Any) -> Any:
    """Return a bidirectional layer with states, then one whose last state is kept."""
    x = steps = layers.Input((None, 6))
    x = layers.Bidirectional(layers.LSTM(8, return_sequences=True))(x)
    return steps, layers.Dense(3)(layers.GRU(8)(x))


def sharpened(layers: Any) -> Any:
    """Return a network that trades channels for pixels, and resizes what it began with."""
    import tensorflow as tf

    x = image = layers.Input((None, None, 3))
    y = layers.Conv2D(12, 3, padding="same")(layers.Conv2D(8, 3, padding="same", activation="relu")(x))
    y = layers.Lambda(lambda t: tf.nn.depth_to_space(t, 2))(y)
    x = layers.Lambda(lambda t: tf.image.resize(t, 2 * tf.shape(t)[1:3]))(x)
    return image, layers.Add()([x, y])


NETWORKS: dict[str, tuple[Callable[[Any], Any], tuple[int | None, ...]]] = {
    "keras_unet": (unet, (32, 48, 3)),
    "keras_dilated": (dilated, (32, 48, 3)),
    "keras_separable": (separable, (32, 48, 3)),
    "keras_attention": (attention, (12,)),
    "keras_recurrent": (recurrent, (9, 6)),
    "keras_sharpened": (sharpened, (16, 24, 3)),
}


NOT_CONVERTED = ("keras_unet", "keras_recurrent")
"""Networks that TensorFlow's converter refuses, or makes lists of."""


def export(make: Callable[[Any], Any], shape: tuple[int | None, ...], path: Path) -> None:
    """Write the network that *make* returns, with *shape* for one element of the batch."""
    import keras
    import tensorflow as tf
    import tf2onnx

    keras.utils.set_random_seed(0)
    given, made = make(keras.layers)
    network = keras.Model(given, made)
    signature = (tf.TensorSpec((None, *shape), given.dtype, name="x"),)
    function = tf.function(lambda x: network(x), input_signature=signature)
    tf2onnx.convert.from_function(function, input_signature=signature, opset=OPSET, output_path=str(path))


def export_tflite(make: Callable[[Any], Any], path: Path) -> None:
    """Write the network that *make* returns by TensorFlow's converter, with the dims that its input leaves open."""
    import keras
    import tensorflow as tf

    keras.utils.set_random_seed(0)
    given, made = make(keras.layers)
    path.write_bytes(tf.lite.TFLiteConverter.from_keras_model(keras.Model(given, made)).convert())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the networks to export; all if none")
    parser.add_argument("--tflite", action="store_true", help="write files of TensorFlow Lite only")
    arguments = parser.parse_args()
    wanted = arguments.names
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    for name, (make, shape) in NETWORKS.items():
        if wanted and name not in wanted:
            continue
        if arguments.tflite:
            if name not in NOT_CONVERTED:
                export_tflite(make, FOLDER / f"{name}_dynamic.tflite")
            continue
        inner = tuple(n if k == len(shape) - 1 and len(shape) > 1 else None for k, n in enumerate(shape))
        for suffix, extents in (("batch", shape), ("dynamic", inner)):
            path = FOLDER / f"{name}_{suffix}.onnx"
            export(make, extents, path)
            print(f"{path.stem:32} {path.stat().st_size:>8} bytes", flush=True)


if __name__ == "__main__":
    main()
