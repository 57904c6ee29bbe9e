"""TensorFlow Lite's schema: the builtin operations by number, with the fields of their options.

Format: tensorflow/lite/schema/schema.fbs.  An operation without a row here is opaque.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ELEMENT_TYPES = {
    0: "float32", 1: "float16", 2: "int32", 3: "uint8", 4: "int64", 6: "bool", 7: "int16", 8: "complex64", 9: "int8",
    10: "float64", 11: "complex128", 12: "uint64", 15: "uint32", 16: "uint16",
}  # fmt: skip
"""Element types by number.  Strings, resources, variants and types of less than a byte have none."""

PADDING = ("SAME", "VALID")
ACTIVATION = ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
MIRROR = ("REFLECT", "SYMMETRIC")
WEIGHTS = ("DEFAULT", "SHUFFLED4x16INT8")


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an operation's options.

    Attributes
    ----------
    name : str
        The attribute of the declaration.
    number : int
        The number of the field in the table.
    kind : str or tuple of str
        NumPy's text for a number; ``"type"`` for an element type, ``"list"`` for a vector of int32, or the texts of an
        enumeration.
    default : object
        The value where the field is left out.
    """

    name: str
    number: int
    kind: str | tuple[str, ...] = "<i4"
    default: Any = 0


@dataclass(frozen=True, slots=True)
class Builtin:
    """A builtin operation with a declaration.

    Attributes
    ----------
    name : str
        Its name: the declaration is ``tflite:NAME``.
    options : int
        The number of its options in the union; 0 if it has none that count.
    fields : tuple of Field
        Those of its options that count.
    order : tuple of int
        Which input of the file each parameter of the declaration is; empty if they are in order.
    arithmetic : str
        ONNX's name of the operation, if it computes with numbers of shapes.
    moves : bool
        Whether it moves numbers of shapes.
    levels : bool
        Whether it moves elements whatever they stand for, such as levels of quantised numbers.
    """

    name: str
    options: int = 0
    fields: tuple[Field, ...] = ()
    order: tuple[int, ...] = ()
    arithmetic: str = ""
    moves: bool = False
    levels: bool = False


def _fused(number: int) -> Field:
    return Field("fused_activation_function", number, ACTIVATION)


def _flag(name: str, number: int) -> Field:
    return Field(name, number, "?", False)


_STRIDES = (Field("padding", 0, PADDING), Field("stride_w", 1), Field("stride_h", 2))
_CONV = (*_STRIDES, _fused(3), Field("dilation_w_factor", 4, "<i4", 1), Field("dilation_h_factor", 5, "<i4", 1))
_DEPTHWISE = (*_STRIDES, _fused(4), Field("dilation_w_factor", 5, "<i4", 1), Field("dilation_h_factor", 6, "<i4", 1))
_POOL = (*_STRIDES, Field("filter_width", 3), Field("filter_height", 4), _fused(5))
_SLICE = tuple(
    Field(name, k) for k, name in enumerate(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask",
                                             "shrink_axis_mask"))
)  # fmt: skip
_KEEP = (_flag("keep_dims", 0),)

BUILTINS: dict[int, Builtin] = {
    0: Builtin("ADD", 11, (_fused(0),), arithmetic="Add"),
    1: Builtin("AVERAGE_POOL_2D", 5, _POOL),
    2: Builtin("CONCATENATION", 10, (Field("axis", 0), _fused(1)), moves=True, levels=True),
    3: Builtin("CONV_2D", 1, _CONV),
    4: Builtin("DEPTHWISE_CONV_2D", 2, _DEPTHWISE),
    5: Builtin("DEPTH_TO_SPACE", 94, (Field("block_size", 0),), levels=True),
    6: Builtin("DEQUANTIZE"),
    7: Builtin("EMBEDDING_LOOKUP", order=(1, 0)),
    8: Builtin("FLOOR"),
    9: Builtin("FULLY_CONNECTED", 8, (_fused(0), Field("weights_format", 1, WEIGHTS), _flag("keep_num_dims", 2))),
    14: Builtin("LOGISTIC"),
    17: Builtin("MAX_POOL_2D", 5, _POOL),
    18: Builtin("MUL", 21, (_fused(0),), arithmetic="Mul"),
    19: Builtin("RELU"),
    20: Builtin("RELU_N1_TO_1"),
    21: Builtin("RELU6"),
    22: Builtin("RESHAPE", 17, (Field("new_shape", 0, "list", ()),), moves=True, levels=True),
    23: Builtin("RESIZE_BILINEAR", 15, (_flag("align_corners", 2), _flag("half_pixel_centers", 3))),
    25: Builtin("SOFTMAX", 9, (Field("beta", 0, "<f4", 0.0),)),
    26: Builtin("SPACE_TO_DEPTH", 19, (Field("block_size", 0),), levels=True),
    28: Builtin("TANH"),
    34: Builtin("PAD"),
    36: Builtin("GATHER", 23, (Field("axis", 0), Field("batch_dims", 1)), arithmetic="Gather", levels=True),
    37: Builtin("BATCH_TO_SPACE_ND", levels=True),
    38: Builtin("SPACE_TO_BATCH_ND"),
    39: Builtin("TRANSPOSE", moves=True, levels=True),
    40: Builtin("MEAN", 27, _KEEP),
    41: Builtin("SUB", 28, (_fused(0),), arithmetic="Sub"),
    42: Builtin("DIV", 29, (_fused(0),), arithmetic="Div"),
    43: Builtin("SQUEEZE", 30, (Field("squeeze_dims", 0, "list", ()),), moves=True, levels=True),
    45: Builtin("STRIDED_SLICE", 32, (*_SLICE, _flag("offset", 5)), moves=True, levels=True),
    47: Builtin("EXP"),
    48: Builtin("TOPK_V2"),
    49: Builtin("SPLIT", 35, (Field("num_splits", 0),), order=(1, 0), moves=True, levels=True),
    50: Builtin("LOG_SOFTMAX"),
    53: Builtin("CAST", arithmetic="Cast"),
    54: Builtin("PRELU"),
    55: Builtin("MAXIMUM", arithmetic="Max"),
    56: Builtin("ARG_MAX", 40, (Field("output_type", 0, "type"),)),
    57: Builtin("MINIMUM", arithmetic="Min"),
    58: Builtin("LESS"),
    59: Builtin("NEG", arithmetic="Neg"),
    60: Builtin("PADV2"),
    61: Builtin("GREATER"),
    62: Builtin("GREATER_EQUAL"),
    63: Builtin("LESS_EQUAL"),
    64: Builtin("SELECT", arithmetic="Where"),
    65: Builtin("SLICE", moves=True, levels=True),
    66: Builtin("SIN"),
    67: Builtin("TRANSPOSE_CONV", 49, (*_STRIDES, _fused(3)), order=(2, 1, 0, 3)),
    69: Builtin("TILE", moves=True, levels=True),
    70: Builtin("EXPAND_DIMS", moves=True, levels=True),
    71: Builtin("EQUAL", arithmetic="Equal"),
    72: Builtin("NOT_EQUAL"),
    73: Builtin("LOG"),
    74: Builtin("SUM", 27, _KEEP),
    75: Builtin("SQRT"),
    76: Builtin("RSQRT"),
    77: Builtin("SHAPE", 55, (Field("out_type", 0, "type"),), arithmetic="Shape"),
    78: Builtin("POW"),
    79: Builtin("ARG_MIN", 57, (Field("output_type", 0, "type"),)),
    81: Builtin("REDUCE_PROD", 27, _KEEP, arithmetic="ReduceProd"),
    82: Builtin("REDUCE_MAX", 27, _KEEP),
    83: Builtin("PACK", 59, (Field("values_count", 0), Field("axis", 1)), moves=True, levels=True),
    84: Builtin("LOGICAL_OR"),
    85: Builtin("ONE_HOT", 61, (Field("axis", 0),), order=(0, 2, 3, 1)),
    86: Builtin("LOGICAL_AND"),
    87: Builtin("LOGICAL_NOT"),
    88: Builtin("UNPACK", 64, (Field("num", 0), Field("axis", 1)), moves=True, levels=True),
    89: Builtin("REDUCE_MIN", 27, _KEEP),
    90: Builtin("FLOOR_DIV", arithmetic="FloorDiv"),
    91: Builtin("REDUCE_ANY", 27, _KEEP),
    92: Builtin("SQUARE"),
    93: Builtin("ZEROS_LIKE"),
    94: Builtin("FILL", order=(1, 0)),
    95: Builtin("FLOOR_MOD", arithmetic="Mod"),
    96: Builtin("RANGE", arithmetic="Range"),
    97: Builtin("RESIZE_NEAREST_NEIGHBOR", 74, (_flag("align_corners", 0), _flag("half_pixel_centers", 1))),
    98: Builtin("LEAKY_RELU", 75, (Field("alpha", 0, "<f4", 0.0),)),
    99: Builtin("SQUARED_DIFFERENCE"),
    100: Builtin("MIRROR_PAD", 77, (Field("mode", 0, MIRROR),), levels=True),
    101: Builtin("ABS"),
    102: Builtin("SPLIT_V", 79, (Field("num_splits", 0),), moves=True, levels=True),
    104: Builtin("CEIL"),
    105: Builtin("REVERSE_V2", levels=True),
    106: Builtin("ADD_N"),
    107: Builtin("GATHER_ND", levels=True),
    108: Builtin("COS"),
    110: Builtin("RANK"),
    111: Builtin("ELU"),
    112: Builtin("REVERSE_SEQUENCE", 87, (Field("seq_dim", 0), Field("batch_dim", 1)), levels=True),
    116: Builtin("ROUND"),
    117: Builtin("HARD_SWISH"),
    123: Builtin("SELECT_V2", arithmetic="Where"),
    126: Builtin("BATCH_MATMUL", 101, (_flag("adj_x", 0), _flag("adj_y", 1))),
    128: Builtin("CUMSUM", 102, (_flag("exclusive", 0), _flag("reverse", 1))),
    130: Builtin("BROADCAST_TO", moves=True, levels=True),
    140: Builtin("REDUCE_ALL", 27, _KEEP),
    150: Builtin("GELU", 116, (_flag("approximate", 0),)),
    152: Builtin("RELU_0_TO_1"),
    153: Builtin("UNSORTED_SEGMENT_PROD"),
    158: Builtin("SIGN"),
}

CUSTOM = 32
RANDOM = frozenset((146, 148, 149, 142, 143, 144, 129, 136, 137, 138, 139))
"""Operations that draw numbers, or that read and write a state."""
