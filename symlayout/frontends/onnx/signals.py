"""ONNX's operators that transform signals, and their windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from symlayout.compute.demands import demanding
from symlayout.compute.whole import cosine_window, fourier, mel_weights, room_of, short_time_fourier, whole
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.operator import as_tensor, is_known, known_number, operator
from symlayout.frontends.onnx.shape_values import dim_of, dims_of
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.frontends.registry import NotDeclaredError
from symlayout.tensors.chain import Tensor

_SIGNAL = {
    "size": "The extent of the window.",
    "dft_length": "How many elements are transformed.",
    "inverse": "Whether it is the inverse.",
    "onesided": "Whether only half of the result is returned.",
}


@operator(
    "DFT", "DFT-17", example=("N, 16, 1", "onesided=1", "(N, 9, 2)"), kinds="rank, bad_axis, attr_dtype", about=_SIGNAL
)
def dft(input: Tensor, dft_length: Any = None, axis: Any = None, inverse: Any = 0, onesided: Any = 0) -> Tensor:
    """Return the discrete Fourier transform along *axis*; the last axis has real and imaginary parts."""
    rank = require_rank("DFT", input, 2)
    number = -2 if axis is None else int(known_number("axis", axis))
    (along,) = attributes.axes("axis", number, rank)
    back, half = attributes.flag("inverse", inverse), attributes.flag("onesided", onesided)
    if along == rank - 1:
        raise ShapeError("DFT transforms an axis before the last, which has the parts of numbers", "bad_axis")
    parts = input.shape[-1]
    input = demanding(input, "{} beside {} parts of a number", [((parts - 1) * (parts - 2), 0)])
    if half and back:
        input = demanding(input, "{} parts of a number, not {}", [(parts, 2)])
    elif half:  # the standard says that it is not possible for complex numbers, and runtimes compute it
        if parts == 2:
            raise NotDeclaredError("half of the transform of complex numbers, which determines it for real ones only")
        input = demanding(input, "{} parts of a number, not {}", [(parts, 1)], kind=LEFT_OUT)
    n = input.shape[along] if dft_length is None else dim_of("dft_length", dft_length)
    if back and half and dft_length is None:
        n = 2 * (n - 1)
    some = [(n, 1), (input.shape[along], 1)]
    input = demanding(input, "{} elements to transform, not {}", at_least=some, kind=LEFT_OUT)
    shape = list(input.shape)
    shape[along] = n // 2 + 1 if half and not back else n
    shape[-1] = 1 if back and half else 2
    length = n if isinstance(n, int) and (dft_length is not None or (back and half)) else None
    usable = dft_length is None or isinstance(n, int)
    given = [("axis", along), ("length", length), ("inverse", back), ("onesided", half)]
    return whole("fourier", [input], shape, function=fourier if usable else None, attributes=given)


@operator(
    "STFT",
    example=("N, 128, 1", "frame_step=8, frame_length=16", "(N, 15, 9, 2)"),
    kinds="rank, attr_dtype",
    about=_SIGNAL | {"frame_step": "How far frames are apart.", "frame_length": "The extent of a frame."},
)
def stft(
    signal: Tensor, frame_step: Any, window: Tensor | None = None, frame_length: Any = None, onesided: Any = 1
) -> Tensor:
    """Return the Fourier transforms of frames of a signal."""
    require_rank("STFT", signal, 2, 3)
    step = dim_of("frame_step", frame_step)
    length = dim_of("frame_length", frame_length) if frame_length is not None else None
    if length is None:
        length = signal.shape[1] if window is None else window.shape[0]
    if window is not None:
        window = require_shape("the window", window, (length,))
    what = "{} elements do not fit {}"
    signal = demanding(signal, what, at_least=[(signal.shape[1], length), (step, 1)], kind="infeasible")
    if signal.rank == 3:
        parts = signal.shape[2]
        signal = demanding(signal, "{} beside {} parts of a number", [((parts - 1) * (parts - 2), 0)])
    frames = (signal.shape[1] - length) // step + 1
    half = attributes.flag("onesided", onesided)
    size = length // 2 + 1 if half else length
    xs = [signal, *([] if window is None else [window])]
    given = [("step", step), ("length", length), ("onesided", half)]
    shape = (signal.shape[0], frames, size, 2)
    return whole("stft", xs, shape, function=short_time_fourier, attributes=given, dtype=signal.dtype)


_WINDOW = {
    "periodic": "Whether the window is a period, whose first element follows its last.",
    "output_datatype": "The number of the element type.",
}


def _numbers(output_datatype: Any) -> np.dtype[Any]:
    """Return the element type of this number, which has to be one of numbers."""
    if (dtype := of_number("output_datatype", output_datatype)) is None:
        raise ShapeError(f"output_datatype is {output_datatype}, which is no type of numbers", "attr_dtype")
    return dtype


def _window(kind: str, size: Any, periodic: Any, output_datatype: Any) -> Tensor:
    dtype, shape = _numbers(output_datatype), dims_of("size", size)
    given = [("kind", kind), ("periodic", attributes.flag("periodic", periodic)), ("to", dtype)]
    return whole("cosine_window", [room_of(shape)], shape, function=cosine_window, attributes=given, dtype=dtype)


@operator("HannWindow", example=("", "size=8", "(8,)"), kinds="attr_dtype", about=_WINDOW | _SIGNAL)
def hann_window(size: Any, output_datatype: Any = 1, periodic: Any = 1) -> Tensor:
    """Return a Hann window."""
    return _window("hann", size, periodic, output_datatype)


@operator("HammingWindow", example=("", "size=8", "(8,)"), kinds="attr_dtype", about=_WINDOW | _SIGNAL)
def hamming_window(size: Any, output_datatype: Any = 1, periodic: Any = 1) -> Tensor:
    """Return a Hamming window."""
    return _window("hamming", size, periodic, output_datatype)


@operator("BlackmanWindow", example=("", "size=8", "(8,)"), kinds="attr_dtype", about=_WINDOW | _SIGNAL)
def blackman_window(size: Any, output_datatype: Any = 1, periodic: Any = 1) -> Tensor:
    """Return a Blackman window."""
    return _window("blackman", size, periodic, output_datatype)


_MEL = {
    "num_mel_bins": "The number of bins of the mel scale.",
    "dft_length": "How many elements the transform has.",
    "sample_rate": "Elements in a second.",
    "lower_edge_hertz": "The least frequency.",
    "upper_edge_hertz": "The largest frequency.",
    "output_datatype": "The number of the element type.",
}


@operator(
    "MelWeightMatrix",
    example=(
        "",
        "num_mel_bins=8, dft_length=16, sample_rate=8192, lower_edge_hertz=0.0, upper_edge_hertz=4096.0",
        "(9, 8)",
    ),
    kinds="attr_dtype",
    about=_MEL,
)
def mel_weight_matrix(
    num_mel_bins: Tensor | Any,
    dft_length: Tensor | Any,
    sample_rate: Tensor | Any,
    lower_edge_hertz: Tensor | Any,
    upper_edge_hertz: Tensor | Any,
    output_datatype: Any = 1,
) -> Tensor:
    """Return the matrix that takes a spectrum to the mel scale."""
    dtype = _numbers(output_datatype)
    bins = dim_of("num_mel_bins", num_mel_bins)
    rows = dim_of("rows", dft_length)  # a new dim if the length is read at run time
    rows = rows // 2 + 1 if is_known(dft_length) else rows
    given = {
        "num_mel_bins": num_mel_bins,
        "dft_length": dft_length,
        "sample_rate": sample_rate,
        "lower_edge_hertz": lower_edge_hertz,
        "upper_edge_hertz": upper_edge_hertz,
    }
    numbers = {name: np.asarray(known_number(name, v)) if is_known(v) else v for name, v in given.items()}
    xs = [as_tensor("MelWeightMatrix", name, v) for name, v in numbers.items()]
    return whole("mel_weights", xs, (rows, bins), function=mel_weights, attributes=[("to", dtype)], dtype=dtype)
