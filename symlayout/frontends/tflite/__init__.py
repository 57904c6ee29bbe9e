"""TensorFlow Lite's builtin operations, by the names of its schema: ``sl.op("tflite:CONV_2D")``.

Images are NHWC.  Attributes have the names of the schema; enumerations are their texts, such as ``padding="SAME"``.
Operands are floats, integers or booleans as they are: a quantised operation is another one, and is not here.

>>> import symlayout as sl
>>> sl.op("tflite:CONV_2D")(sl.tensor("N, H, W, C"), sl.tensor("M, 3, 3, C", name="w"), padding="SAME").shape
(N, H, W, M)
"""

from symlayout.frontends.tflite import along_axes, elementwise, movement, windows

MODULES = (along_axes, elementwise, movement, windows)
