"""Translations of the frameworks' operations, with their attribute names, into core ops.

`symlayout.ops` declares the index maps and the shape rules; this package declares none.  Its import fills the registry
with every operation.
"""

from symlayout.frontends import (
    microsoft,
    microsoft_attention,
    microsoft_images,
    microsoft_language,
    microsoft_packed,
    microsoft_products,
    microsoft_quantized,
    onnx,
    onnx_ml,
    openvino,
    stablehlo,
    tensorflow,
    tflite,
    torch,
)
from symlayout.frontends.registry import find, is_joint, is_known, names, register

__all__ = [
    "find",
    "is_joint",
    "is_known",
    "microsoft",
    "microsoft_attention",
    "microsoft_images",
    "microsoft_language",
    "microsoft_packed",
    "microsoft_products",
    "microsoft_quantized",
    "names",
    "onnx",
    "onnx_ml",
    "openvino",
    "register",
    "stablehlo",
    "tensorflow",
    "tflite",
    "torch",
]
