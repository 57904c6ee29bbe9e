"""One model for each builtin operation of TensorFlow Lite that has a row, with dims where the runtime resizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.models.tflite.files import Op, T, const

_DRAW = np.random.default_rng(0)


@dataclass(frozen=True)
class Case:
    """A model of one operator, and the shapes of its inputs for a run."""

    op: str
    inputs: Sequence[T]
    constants: Sequence[T]
    outputs: Sequence[T]
    options: Mapping[str, Any] = field(default_factory=dict)
    sizes: Sequence[Sequence[int]] = ()
    order: str = ""
    low: float = -3.0
    high: float = 3.0
    version: int = 1

    @property
    def model(self) -> dict[str, Any]:
        """What `tests.models.tflite.files.flat_model` takes."""
        names = self.order or " ".join(t.name for t in (*self.inputs, *self.constants))
        outputs = " ".join(t.name for t in self.outputs)
        return {
            "tensors": [*self.inputs, *self.constants, *self.outputs],
            "operators": [Op(self.op, names, outputs, self.options, version=self.version)],
            "inputs": " ".join(t.name for t in self.inputs),
            "outputs": outputs,
        }

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return values for the inputs."""
        draw = np.random.default_rng(7)
        found = {}
        for k, t in enumerate(self.inputs):
            shape = self.sizes[k] if self.sizes else [n or 1 for n in t.shape]
            kind = np.dtype(t.dtype)
            if kind == np.bool_:
                found[t.name] = draw.random(shape) < 0.5
            elif kind.kind in "iu":
                found[t.name] = np.asarray(draw.integers(int(self.low), int(self.high) + 1, shape)).astype(kind)
            else:
                found[t.name] = np.asarray(draw.uniform(self.low, self.high, shape)).astype(kind)
        return found


N = None
I32, I64, F, B = np.int32, np.int64, np.float32, np.bool_


def _of(op: str, *given: Any, options: Mapping[str, Any] | None = None, sizes: Any = (), **more: Any) -> Case:
    """Return a case: shapes or tensors of the inputs, a list of constants, and the shape or tensors of the outputs."""
    *ends, constants, results = given
    inputs = [e if isinstance(e, T) else T(f"x{k}" if ends[1:] else "x", e) for k, e in enumerate(ends)]
    outputs = results if isinstance(results, list) and isinstance(results[0], T) else [T("y", results)]
    return Case(op, inputs, constants, outputs, options or {}, sizes, **more)


def _i(name: str, values: Any) -> T:
    return const(name, values, I32)


_UNARY = (
    "ABS CEIL COS ELU EXP FLOOR HARD_SWISH LOGISTIC NEG RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 ROUND SIGN SIN SQUARE TANH"
)
_BINARY = "ADD SUB MUL DIV MAXIMUM MINIMUM SQUARED_DIFFERENCE FLOOR_DIV"
_COMPARE = "EQUAL NOT_EQUAL LESS LESS_EQUAL GREATER GREATER_EQUAL"
_W = _DRAW.normal(size=(4, 3, 3, 2)).astype(F)
_D = _DRAW.normal(size=(1, 3, 3, 4)).astype(F)
_BIAS = const("b", np.arange(4, dtype=F))
_IMAGE = (N, N, N, 2)
_SIZE = [(2, 7, 6, 2)]
_SAME = {"padding": "SAME", "stride_w": 2, "stride_h": 1, "fused_activation_function": "RELU"}
_VALID = {"padding": "VALID", "stride_w": 1, "stride_h": 2, "dilation_w_factor": 2, "dilation_h_factor": 1}
_POOL = {"stride_w": 2, "stride_h": 2, "filter_width": 3, "filter_height": 2}
_LAST = T("y", (N, N), I32)
_X23 = (N, 3)
_PADS = [[0, 0], [1, 2], [2, 1]]

CASES: dict[str, Case] = {
    **{name: _of(name, (N, 3), [], (N, 3), sizes=[(2, 3)]) for name in _UNARY.split()},
    **{name: _of(name, (N, 3), [], (N, 3), sizes=[(2, 3)], low=0.5) for name in ("LOG", "SQRT", "RSQRT")},
    **{name: _of(name, (N, 3), (N, 3), [], (N, 3), sizes=[(2, 3), (2, 3)], low=0.5) for name in _BINARY.split()},
    **{
        f"{name}-int": _of(name, T("a", (2, 3), I32), T("c", (2, 3), I32), [], [T("y", (2, 3), I32)], low=1, high=9)
        for name in ("ADD", "MUL", "MAXIMUM")
    },
    **{name: _of(name, (2, 3), (2, 3), [], [T("y", (2, 3), B)]) for name in _COMPARE.split()},
    **{
        f"ADD-{a}": _of(
            "ADD", (2, 3), [const("c", [[1.0], [2.0]], F)], (2, 3), options={"fused_activation_function": a}
        )
        for a in ("RELU", "RELU6", "RELU_N1_TO_1")
    },
    **{
        name: _of(name, (N, 3, N), [_i("axes", [0, -1])], (3,), sizes=[(2, 3, 4)])
        for name in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
    },
    **{
        name: _of(name, T("x", (2, 3), B), [_i("axes", [1])], [T("y", (2, 1), B)], options={"keep_dims": True})
        for name in ("REDUCE_ANY", "REDUCE_ALL")
    },
    **{
        f"{name}-int": _of(
            name, T("x", (7,), I32), [const("c", [3, -3, 3, -3, 3, -3, 1], I32)], [T("y", (7,), I32)], low=-9, high=9
        )
        for name in ("FLOOR_DIV", "FLOOR_MOD")
    },
    "POW": _of("POW", (2, 3), (2, 3), [], (2, 3), low=0.5),
    "GELU": _of("GELU", (N, 3), [], (N, 3), sizes=[(2, 3)]),
    "GELU-tanh": _of("GELU", (N, 3), [], (N, 3), options={"approximate": True}, sizes=[(2, 3)]),
    "LEAKY_RELU": _of("LEAKY_RELU", (N, 3), [], (N, 3), options={"alpha": 0.25}, sizes=[(2, 3)]),
    "PRELU": _of("PRELU", (2, 4, 3), [const("a", np.ones((1, 1, 3)) * [0.1, 0.2, 0.3], F)], (2, 4, 3)),
    "LOGICAL_NOT": _of("LOGICAL_NOT", T("x", (3,), B), [], [T("y", (3,), B)]),
    "LOGICAL_AND": _of("LOGICAL_AND", T("a", (3,), B), T("c", (3,), B), [], [T("y", (3,), B)]),
    "LOGICAL_OR": _of("LOGICAL_OR", T("a", (3,), B), T("c", (3,), B), [], [T("y", (3,), B)]),
    "SELECT": _of("SELECT", T("a", (2,), B), T("c", (2, 3)), T("d", (2, 3)), [], (2, 3)),
    "SELECT_V2": _of("SELECT_V2", T("a", (2, 1), B), T("c", (2, 3)), T("d", (1, 3)), [], (2, 3)),
    "ADD_N": _of("ADD_N", (2, 3), (2, 3), (2, 3), [], (2, 3)),
    "CAST": _of("CAST", (2, 3), [], [T("y", (2, 3), I32)]),
    "CONV_2D": _of("CONV_2D", _IMAGE, [const("w", _W), _BIAS], (N, N, N, 4), options=_SAME, sizes=_SIZE),
    "CONV_2D-valid": _of("CONV_2D", _IMAGE, [const("w", _W), _BIAS], (N, N, N, 4), options=_VALID, sizes=_SIZE),
    "DEPTHWISE_CONV_2D": _of(
        "DEPTHWISE_CONV_2D", _IMAGE, [const("w", _D), _BIAS], (N, N, N, 4), options=_SAME, sizes=_SIZE
    ),
    "TRANSPOSE_CONV": _of(
        "TRANSPOSE_CONV",
        (1, 3, 4, 2),
        [_i("s", [1, 5, 8, 4]), const("w", _W)],
        (1, 5, 8, 4),
        options={"padding": "SAME", "stride_w": 2, "stride_h": 2},
        order="s w x",
    ),
    "TRANSPOSE_CONV-valid": _of(
        "TRANSPOSE_CONV",
        (1, 3, 4, 2),
        [_i("s", [1, 7, 9, 4]), const("w", _W)],
        (1, 7, 9, 4),
        options={"padding": "VALID", "stride_w": 2, "stride_h": 2},
        order="s w x",
    ),
    "AVERAGE_POOL_2D": _of("AVERAGE_POOL_2D", _IMAGE, [], _IMAGE, options={"padding": "SAME", **_POOL}, sizes=_SIZE),
    "MAX_POOL_2D": _of("MAX_POOL_2D", _IMAGE, [], _IMAGE, options={"padding": "SAME", **_POOL}, sizes=_SIZE),
    "MAX_POOL_2D-valid": _of("MAX_POOL_2D", _IMAGE, [], _IMAGE, options={"padding": "VALID", **_POOL}, sizes=_SIZE),
    "FULLY_CONNECTED": _of(
        "FULLY_CONNECTED", (N, 2, 3), [const("w", _DRAW.normal(size=(4, 3)), F), _BIAS], (N, 4), sizes=[(3, 2, 3)]
    ),
    "FULLY_CONNECTED-kept": _of(
        "FULLY_CONNECTED",
        (N, 2, 3),
        [const("w", _DRAW.normal(size=(4, 3)), F), _BIAS],
        (N, 2, 4),
        options={"keep_num_dims": True, "fused_activation_function": "RELU"},
        sizes=[(3, 2, 3)],
    ),
    "BATCH_MATMUL": _of("BATCH_MATMUL", (2, 3, 4), (2, 5, 4), [], (2, 3, 5), options={"adj_y": True}),
    "BATCH_MATMUL-x": _of("BATCH_MATMUL", (2, 4, 3), (2, 4, 5), [], (2, 3, 5), options={"adj_x": True}),
    "RESIZE_BILINEAR": _of("RESIZE_BILINEAR", (1, 3, 4, 2), [_i("s", [5, 7])], (1, 5, 7, 2)),
    "RESIZE_BILINEAR-half": _of(
        "RESIZE_BILINEAR", (1, 3, 4, 2), [_i("s", [5, 7])], (1, 5, 7, 2), options={"half_pixel_centers": True}
    ),
    "RESIZE_BILINEAR-corners": _of(
        "RESIZE_BILINEAR", (1, 3, 4, 2), [_i("s", [5, 7])], (1, 5, 7, 2), options={"align_corners": True}
    ),
    **{
        f"RESIZE_NEAREST_NEIGHBOR-{k}": _of(
            "RESIZE_NEAREST_NEIGHBOR", (1, 3, 4, 2), [_i("s", [5, 9])], (1, 5, 9, 2), options=options
        )
        for k, options in enumerate([{}, {"half_pixel_centers": True}, {"align_corners": True}])
    },
    "SOFTMAX": _of("SOFTMAX", (N, 3), [], (N, 3), options={"beta": 1.0}, sizes=[(2, 3)]),
    "SOFTMAX-beta": _of("SOFTMAX", (N, 3), [], (N, 3), options={"beta": 0.5}, sizes=[(2, 3)]),
    "LOG_SOFTMAX": _of("LOG_SOFTMAX", (N, 3), [], (N, 3), sizes=[(2, 3)]),
    "CUMSUM": _of("CUMSUM", (2, 5), [_i("a", 1)], (2, 5), options={"exclusive": True, "reverse": True}),
    "ARG_MAX": _of("ARG_MAX", (N, 5), [_i("a", 1)], [T("y", (N,), I32)], options={"output_type": I32}, sizes=[(2, 5)]),
    "ARG_MIN": _of("ARG_MIN", (N, 5), [_i("a", 1)], [T("y", (N,), I64)], options={"output_type": I64}, sizes=[(2, 5)]),
    "TOPK_V2": _of("TOPK_V2", (2, 5), [_i("k", 3)], [T("y", (2, 3)), T("z", (2, 3), I32)]),
    "UNSORTED_SEGMENT_PROD": _of(
        "UNSORTED_SEGMENT_PROD", (4, 3), [_i("s", [1, 0, 1, 3]), _i("n", 4)], (4, 3), order="x s n"
    ),
    "DEQUANTIZE": _of("DEQUANTIZE", T("x", (2, 3), np.int8, None, [0.5], [3]), [], (2, 3), low=-100, high=100),
    "RESHAPE": _of("RESHAPE", (N, 6), [_i("s", [-1, 2, 3])], (N, 2, 3), sizes=[(4, 6)]),
    "TRANSPOSE": _of("TRANSPOSE", (N, N, 3), [_i("p", [2, 0, 1])], (3, N, N), sizes=[(2, 4, 3)]),
    "CONCATENATION": _of("CONCATENATION", (2, 3), (2, 4), [], (2, 7), options={"axis": 1}),
    "PACK": _of("PACK", (2, 3), (2, 3), [], (2, 2, 3), options={"values_count": 2, "axis": 1}),
    "UNPACK": _of("UNPACK", (N, 2), [], [T("y", (N,)), T("z", (N,))], options={"num": 2, "axis": 1}, sizes=[(3, 2)]),
    "SPLIT": _of(
        "SPLIT",
        (N, 4),
        [_i("a", 1)],
        [T("y", (N, 2)), T("z", (N, 2))],
        options={"num_splits": 2},
        sizes=[(3, 4)],
        order="a x",
    ),
    "SPLIT_V": _of(
        "SPLIT_V",
        (N, 5),
        [_i("s", [2, -1]), _i("a", 1)],
        [T("y", (N, 2)), T("z", (N, 3))],
        options={"num_splits": 2},
        sizes=[(3, 5)],
    ),
    "SLICE": _of("SLICE", (N, 5), [_i("s", [0, 1]), _i("e", [-1, 3])], (N, 3), sizes=[(3, 5)]),
    "STRIDED_SLICE": _of(
        "STRIDED_SLICE",
        (N, 5, 4),
        [_i("s", [0, 4, 1]), _i("e", [0, 0, 2]), _i("d", [1, -2, 1])],
        (N, 2),
        options={"begin_mask": 1, "end_mask": 1, "shrink_axis_mask": 4},
        sizes=[(3, 5, 4)],
    ),
    "PAD": _of("PAD", (N, N, 2), [_i("p", _PADS)], (N, N, 5), sizes=[(2, 3, 2)]),
    "PADV2": _of("PADV2", (N, N, 2), [_i("p", _PADS), const("v", 7.0, F)], (N, N, 5), sizes=[(2, 3, 2)]),
    **{
        f"MIRROR_PAD-{mode}": _of(
            "MIRROR_PAD", (2, 4, 3), [_i("p", [[0, 0], [1, 2], [2, 1]])], (2, 7, 6), options={"mode": mode}
        )
        for mode in ("REFLECT", "SYMMETRIC")
    },
    "TILE": _of("TILE", (2, 3), [_i("m", [2, 3])], (4, 9)),
    "BROADCAST_TO": _of("BROADCAST_TO", (2, 1), [_i("s", [3, 2, 4])], (3, 2, 4), version=2),
    "EXPAND_DIMS": _of("EXPAND_DIMS", (N, 3), [_i("a", -1)], (N, 3, 1), sizes=[(2, 3)]),
    "SQUEEZE": _of("SQUEEZE", (N, 1, 3), [], (N, 3), options={"squeeze_dims": [1]}, sizes=[(2, 1, 3)]),
    "SQUEEZE-all": _of("SQUEEZE", (1, 2, 1, 3), [], (2, 3)),
    "REVERSE_V2": _of("REVERSE_V2", (2, 4, 3), [_i("a", [1])], (2, 4, 3)),
    "SPACE_TO_BATCH_ND": _of(
        "SPACE_TO_BATCH_ND",
        (N, N, N, 2),
        [_i("k", [2, 3]), _i("p", [[1, 0], [0, 2]])],
        (N, N, N, 2),
        sizes=[(2, 5, 4, 2)],
    ),
    "BATCH_TO_SPACE_ND": _of(
        "BATCH_TO_SPACE_ND",
        (N, N, N, 2),
        [_i("k", [2, 3]), _i("p", [[1, 0], [0, 2]])],
        (N, N, N, 2),
        sizes=[(12, 3, 2, 2)],
    ),
    "SPACE_TO_DEPTH": _of(
        "SPACE_TO_DEPTH", (N, N, N, 3), [], (N, N, N, 12), options={"block_size": 2}, sizes=[(2, 4, 6, 3)]
    ),
    "DEPTH_TO_SPACE": _of(
        "DEPTH_TO_SPACE", (N, N, N, 12), [], (N, N, N, 3), options={"block_size": 2}, sizes=[(2, 3, 2, 12)]
    ),
    "GATHER": _of(
        "GATHER", (N, 5), T("i", (2, 2), I32), [], (N, 2, 2), options={"axis": 1}, low=0, high=4, sizes=[(3, 5), (2, 2)]
    ),
    "GATHER-batch": _of(
        "GATHER", (3, 5), T("i", (3, 2), I32), [], (3, 2), options={"axis": 1, "batch_dims": 1}, low=0, high=4
    ),
    "EMBEDDING_LOOKUP": _of(
        "EMBEDDING_LOOKUP", T("i", (4,), I32), [const("t", _DRAW.normal(size=(5, 3)), F)], (4, 3), low=0, high=4
    ),
    "GATHER_ND": _of("GATHER_ND", (3, 3, 2), T("i", (4, 2), I32), [], (4, 2), low=0, high=2),
    "REVERSE_SEQUENCE": _of(
        "REVERSE_SEQUENCE",
        (4, 3, 2),
        T("n", (3,), I32),
        [],
        (4, 3, 2),
        options={"seq_dim": 0, "batch_dim": 1},
        low=1,
        high=4,
    ),
    "ONE_HOT": _of(
        "ONE_HOT",
        T("i", (2, 2), I32),
        [_i("k", 4), const("on", 2.0, F), const("off", -1.0, F)],
        (2, 2, 4),
        options={"axis": -1},
        low=0,
        high=3,
    ),
    "SHAPE": _of("SHAPE", (N, N, 3), [], [T("y", (3,), I32)], options={"out_type": I32}, sizes=[(2, 4, 3)]),
    "RANK": _of("RANK", (2, 4, 3), [], [T("y", (), I32)]),
    "FILL": _of("FILL", T("v", ()), [_i("d", [2, 3])], (2, 3), order="d v"),
    "ZEROS_LIKE": _of("ZEROS_LIKE", (N, 3), [], (N, 3), sizes=[(2, 3)]),
}
"""By the operation, and what is special about the case."""
