"""Models in runtimes: onnxruntime without its optimisation, and the reference evaluator of the package ``onnx``."""

from __future__ import annotations

import mmap
import signal
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]

_LONGEST = 10.0  # seconds of the processor that the evaluator may take

# what a message says if the runtime lacks something, and the model may be a good one
_LACKS = ("NOT_IMPLEMENTED", "NotImplemented", "under development", "No implementation", "not supported", "unsupported",
          "No Op registered", "unable to load", "bad_alloc", "MemoryError", "not implemented",
          "mode only supports", "(between attn_mask and Q)", "MLDataType", "No corresponding Numpy type")  # fmt: skip

# what onnxruntime 1.32.0 says of the mode wrap of Pad where an axis is empty, also one that is not padded
_NO_WRAP = "Unexpected mode of 3"
_EVALUATED_SINCE = {"Softmax": 13, "LogSoftmax": 13, "Hardmax": 13, "RoiAlign": 16}

_STRETCHED = "one number is stretched to several, which the standard does not do"


def _scales_channels(_: Any, shapes: Sequence[list[int]]) -> bool:
    """Return whether GroupNormalization gets one scale for several channels, which have one each since version 21."""
    x, *parameters = shapes
    return len(x) > 1 and [1] in parameters and x[1] != 1


def _has_one_key(node: Any, shapes: Sequence[list[int]]) -> bool:
    """Return whether heads of LinearAttention have one key element for several of the queries."""
    heads = {a.name: a.i for a in node.attribute}
    query, key = (x[-1] if x else 0 for x in shapes[:2])
    queries, keys = heads.get("q_num_heads", 0), heads.get("kv_num_heads", 0)
    return bool(0 < queries != query and key == keys)


_STRETCHES = {"GroupNormalization": _scales_channels, "LinearAttention": _has_one_key}

# what onnxruntime demands of the attributes of LRN beyond the standard
BEYOND_OF_LRN = ("size_ % 2 == 1", "alpha_ > 0.0f", "beta_ > 0.0f")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a runtime makes of a model and inputs: arrays, or why it refuses; `lacks` if it cannot judge."""

    arrays: list[Array] | None
    refusal: str = ""

    @property
    def lacks(self) -> bool:
        """Whether the runtime has no kernel for this, which says nothing about the model."""
        beyond = "nn/lrn.h" in self.refusal and any(text in self.refusal for text in BEYOND_OF_LRN)
        return self.arrays is None and (beyond or any(text in self.refusal for text in _LACKS))


def has_onnxruntime() -> bool:
    """Return whether onnxruntime is installed."""
    return find_spec("onnxruntime") is not None


class Sessions:
    """One model in the runtimes that are installed."""

    def __init__(self, model: Any) -> None:
        self.model = model

    @cached_property
    def _onnxruntime(self) -> Any:
        ort = import_module("onnxruntime")
        ort.set_default_logger_severity(4)
        options = ort.SessionOptions()
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        data = self.model.SerializeToString()
        try:
            return ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # each of its errors is a refusal
            return f"{type(error).__name__}: {error}"

    @cached_property
    def _reference(self) -> Any:
        try:
            return _evaluator(self.model)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    @cached_property
    def _with_ordered_zeros(self) -> Any:
        try:
            return _evaluator(self.model, _ordered_extremes())
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def by_onnxruntime(self, given: Arrays) -> Ran:
        """Return what onnxruntime computes."""
        if not has_onnxruntime():
            return Ran(None, "NotImplemented: onnxruntime is not installed")
        if any(_ends_at_most(n, self.model) for n in self.model.graph.node):
            return Ran(None, "NotImplemented: the largest end, with a step below 0, is none for onnxruntime")
        if _takes_logarithms_of_integers(self.model):
            return Ran(None, "NotImplemented: onnxruntime takes ReduceLogSumExp of integers without their fractions")
        if self._stretches(given):
            return Ran(None, _STRETCHED)
        with in_runtime():
            ran = _ran(self._onnxruntime, self.model, given)
        if "running Pad node" in ran.refusal and _NO_WRAP in ran.refusal and self._can_wrap(given):
            return Ran(None, "NotImplemented: onnxruntime wraps no axis where another one is empty")
        return ran

    def _can_wrap(self, given: Arrays) -> bool:
        """Return whether the reference evaluator pads: it refuses to wrap an empty axis, and to crop by a pad.

        It refuses to flatten what is empty, too.
        """
        ran = self.by_reference(given)
        return ran.arrays is not None or "negative values" in ran.refusal or "reshape array of size 0" in ran.refusal

    def by_reference(self, given: Arrays) -> Ran:
        """Return what the reference evaluator computes; it accepts much that the standard forbids."""
        version = min((o.version for o in self.model.opset_import if o.domain in ("", "ai.onnx")), default=0)
        for n in self.model.graph.node:
            if version < _EVALUATED_SINCE.get(n.op_type, 0):
                return Ran(None, f"NotImplemented: the evaluator takes {n.op_type} for that of a newer version")
        layers = (n for n in self.model.graph.node if n.op_type in ("RNN", "GRU", "LSTM"))
        if any(a.name == "clip" for n in layers for a in n.attribute):
            return Ran(None, "NotImplemented: the evaluator leaves out limits of recurrent layers")
        if self._stretches(given):
            return Ran(None, _STRETCHED)
        return self._by_evaluator(self._reference, given)

    def with_ordered_zeros(self, given: Arrays) -> Ran:
        """Return what the reference evaluator computes if -0.0 is less than 0.0 for Max and Min.

        The standard leaves open which zero they give.
        """
        if not any(n.op_type in ("Max", "Min") for n in self.model.graph.node):
            return self.by_reference(given)
        return self._by_evaluator(self._with_ordered_zeros, given)

    @cached_property
    def _broadcast(self) -> list[Any]:
        """The nodes whose function broadcasts what the standard does not."""
        since_21 = any(o.domain == "" and o.version >= 21 for o in self.model.opset_import)
        return [n for n in self.model.graph.node if since_21 and n.op_type in _STRETCHES]

    @cached_property
    def _shapes_of_operands(self) -> Any:
        """The evaluator of the shapes of what these nodes get; a left-out operand has none."""
        onnx = import_module("onnx")
        probe = onnx.ModelProto()
        probe.CopyFrom(self.model)
        del probe.graph.output[:]
        for k, name in enumerate(name for n in self._broadcast for name in n.input if name):
            probe.graph.node.append(onnx.helper.make_node("Shape", [name], [f"shape of operand {k}"]))
            probe.graph.output.append(onnx.ValueInfoProto(name=f"shape of operand {k}"))
        try:
            return _evaluator(probe)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _stretches(self, given: Arrays) -> bool:
        """Return whether a node gets one number for several, which only its function broadcasts.

        Both runtimes compute the function: onnxruntime 1.32.0, and the evaluator of onnx 1.23.2.
        """
        if not self._broadcast:
            return False
        shapes = iter(self._by_evaluator(self._shapes_of_operands, given).arrays or [])
        each = [[list(next(shapes, ())) if name else [] for name in n.input] for n in self._broadcast]
        return any(_STRETCHES[n.op_type](n, operands) for n, operands in zip(self._broadcast, each, strict=True))

    def _by_evaluator(self, evaluator: Any, given: Arrays) -> Ran:
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"), _ended():
                warnings.simplefilter("ignore")
                return _ran(evaluator, self.model, given)
        except TimeoutError as error:  # it is raised once more while the first one is handled
            return Ran(None, str(error))


@contextmanager
def _ended() -> Iterator[None]:
    """Raise in the block after `_LONGEST`: loops of the evaluator are as long as elements say."""

    def expired(*_: object) -> None:
        raise TimeoutError("NotImplemented: the evaluator takes too long")

    before = signal.signal(signal.SIGVTALRM, expired)
    signal.setitimer(signal.ITIMER_VIRTUAL, _LONGEST, 0.05)  # once more: Python drops what is raised in a finalizer
    try:
        yield
    finally:
        while signal.getsignal(signal.SIGVTALRM) is expired:
            with suppress(TimeoutError):
                signal.setitimer(signal.ITIMER_VIRTUAL, 0)
                signal.signal(signal.SIGVTALRM, before)


_place = mmap.mmap(-1, 1)  # shared with the processes that this one forks


def share_place() -> None:
    """Share with the processes that this one forks, and no others, whether they are `in_runtime`."""
    global _place
    _place = mmap.mmap(-1, 1)


@contextmanager
def in_runtime() -> Iterator[None]:
    """Let `was_in_runtime` return True, in another process too, if this process ends in the block."""
    _place[0] = 1
    try:
        yield
    finally:
        _place[0] = 0


def was_in_runtime() -> bool:
    """Return whether a process is in a block of `in_runtime`, or ended there."""
    found = bool(_place[0])
    _place[0] = 0
    return found


def _ends_at_most(node: Any, model: Any) -> bool:
    """Return whether a Slice has a step below 0, and the largest number for an end."""
    if node.op_type != "Slice" or len(node.input) < 5:
        return False
    held = {t.name: t for t in model.graph.initializer}
    ends, steps = (held.get(name) for name in (node.input[2], node.input[4]))
    if ends is None or steps is None:
        return False
    pairs = zip(*(import_module("onnx.numpy_helper").to_array(t).ravel().tolist() for t in (ends, steps)), strict=False)
    return any(step < 0 and end in (2**63 - 1, 2**31 - 1) for end, step in pairs)


def _takes_logarithms_of_integers(model: Any) -> bool:
    """Return whether a ReduceLogSumExp is of integers: the standard's body casts to float64 and back."""
    nodes = [n for n in model.graph.node if n.op_type == "ReduceLogSumExp"]
    if not nodes:
        return False
    graph = import_module("onnx.shape_inference").infer_shapes(model).graph
    values = (*graph.input, *graph.value_info, *graph.output)
    types = {v.name: v.type.tensor_type.elem_type for v in values} | {t.name: t.data_type for t in graph.initializer}
    floats = {0, *(import_module("onnx").TensorProto.DataType.Value(name) for name in ("FLOAT", "DOUBLE", "FLOAT16"))}
    return any(types.get(n.input[0], 0) not in floats for n in nodes)


def _evaluator(model: Any, more: Sequence[Any] = ()) -> Any:
    """Return the reference evaluator for *model*; its own Pad and Clip lack what the standard has."""
    if any(n.op_type == "Pad" for n in model.graph.node) and any(
        o.version >= 11 for o in model.opset_import if o.domain in ("", "ai.onnx")
    ):
        more = [*more, _cropping_pad()]
    if any(n.op_type == "Clip" for n in model.graph.node):
        more = [*more, _bounded_clip()]
    return import_module("onnx.reference").ReferenceEvaluator(model, new_ops=list(more))


@cache
def _cropping_pad() -> Any:
    base: Any = import_module("onnx.reference.ops.op_pad").Pad_18

    def run(self: Any, data: Array, pads: Array, fill: Any = None, axes: Any = None, mode: str = "constant") -> Any:
        of = list(range(data.ndim)) if axes is None else [a % data.ndim for a in np.asarray(axes).ravel().tolist()]
        kept = [slice(None)] * data.ndim
        for axis, begin, end in zip(of, pads[: len(of)], pads[len(of) :], strict=True):
            kept[axis] = slice(max(-begin, 0), data.shape[axis] + min(end, 0))
            if max(-begin, 0) > data.shape[axis] + min(end, 0):
                raise ValueError(f"pads take more than the {data.shape[axis]} elements of axis {axis}")
        return base._run(self, data[tuple(kept)], np.maximum(pads, 0), fill, axes, mode)

    return type("Pad", (base,), {"op_domain": "", "_run": run})


@cache
def _bounded_clip() -> Any:
    """Return Clip with the bounds by default: the least and the greatest finite number."""
    base: Any = import_module("onnx.reference.op_run").OpRun
    types = import_module("ml_dtypes")

    def run(_: Any, data: Array, *bounds: Any, **attributes: Any) -> Any:
        of = types.iinfo(data.dtype) if data.dtype.kind in "iu" else types.finfo(data.dtype)
        given = [*bounds, None, None][:2] if any(b is not None for b in bounds) else []
        low, high = given or [attributes.get("min"), attributes.get("max")]
        least, most = (np.asarray(f if b is None else b, data.dtype) for b, f in ((low, of.min), (high, of.max)))
        return (np.asarray(np.minimum(np.maximum(data, least), most)),)

    return type("Clip", (base,), {"op_domain": "", "_run": run})


@cache
def _ordered_extremes() -> list[Any]:
    """Return Max and Min for the reference evaluator, for which -0.0 is less than 0.0."""
    base: Any = import_module("onnx.reference.op_run").OpRun

    def extreme(name: str, pick: Any, zero_of: Any) -> Any:
        def two(a: Array, b: Array) -> Array:
            if a.dtype.kind != "f":
                return np.asarray(pick(a, b))
            negative = zero_of(np.signbit(a), np.signbit(b))
            zero = np.where(negative, a.dtype.type(-0.0), a.dtype.type(0.0))
            return np.asarray(np.where((a == 0) & (b == 0), zero, pick(a, b)))

        return type(name, (base,), {"op_domain": "", "_run": lambda self, *arrays: (np.asarray(reduce(two, arrays)),)})

    return [extreme("Max", np.maximum, np.logical_and), extreme("Min", np.minimum, np.logical_or)]


def _ran(session: Any, model: Any, given: Arrays) -> Ran:
    if isinstance(session, str):
        return Ran(None, session)
    try:
        made = session.run(None, {x.name: given[x.name] for x in model.graph.input})
    except Exception as error:
        return Ran(None, f"{type(error).__name__}: {error}")
    if not all(isinstance(a, np.ndarray | np.generic) for a in made):
        return Ran(None, "NotImplemented: an output is no array")
    return Ran([np.asarray(a) for a in made])


def apart(left: list[Array], right: list[Array], most: float = 16.0) -> str:
    """Return how outputs differ: "" (the same bits; NaN is NaN), "type", "shape", "rounding" or "value".

    Rounding is some units in the last place of an element, or of the largest element if that is at most *most*: terms
    of sums may cancel.
    """
    worst = ""
    for a, b in zip(left, right, strict=True):
        if a.dtype != b.dtype:
            return "type"
        if a.shape != b.shape:
            return "shape"
        found = _bits_apart(a, b, most)
        worst = "value" if "value" in (found, worst) else found or worst
    return worst


def apart_by_laws(left: list[Array], right: list[Array]) -> str:
    """Return how outputs differ that are equal under laws: what is finite on both sides is nearly the same."""
    how = apart(left, right)
    if how != "value":
        return how
    with np.errstate(all="ignore"):
        near = all(
            np.allclose(x.astype(np.float64), y.astype(np.float64), 1e-2, 1e-2, equal_nan=True)
            or not (np.isfinite(x).all() and np.isfinite(y).all())
            for x, y in zip(left, right, strict=True)
            if x.dtype.kind == "f"
        )
    return "rounding" if near else how


def _bits_apart(a: Array, b: Array, most: float) -> str:
    if a.dtype.kind in "USO":
        return "" if a.tolist() == b.tolist() else "value"
    if a.dtype.kind in "biu" or a.dtype.itemsize == 1 or "int" in a.dtype.name:
        return (
            ""
            if np.array_equal(a.view(_unsigned(a)) if a.ndim else a, b.view(_unsigned(b)) if b.ndim else b)
            else "value"
        )
    with np.errstate(all="ignore"):
        if a.dtype.kind == "c":
            a, b = np.stack([a.real, a.imag]), np.stack([b.real, b.imag])
        wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
        nan = np.isnan(wide_a)
        if not np.array_equal(nan, np.isnan(wide_b)):
            return "value"
        same = nan | ((wide_a == wide_b) & (np.signbit(wide_a) == np.signbit(wide_b)))
        if same.all():
            return ""
        size = np.maximum(np.abs(wide_a), np.abs(wide_b))
        unit = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}.get(
            a.dtype.name, 0.1
        )
        scale = float(np.max(size[np.isfinite(size)], initial=0.0))
        near = np.isfinite(size) & (np.abs(wide_a - wide_b) <= 4 * unit * np.maximum(size, min(scale, most)))
        zero = (wide_a == 0) & (wide_b == 0)
        return "rounding" if (same | (near & ~zero)).all() else "value"


def _unsigned(a: Array) -> Any:
    return np.dtype(f"u{a.dtype.itemsize}")
