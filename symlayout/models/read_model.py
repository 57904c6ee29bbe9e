"""Read a model: from a file to every value of its graph as a tensor."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from symlayout.deadlines import within
from symlayout.errors import FormatError, TimeLimitError, shortened
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import MaybeTensor, Model
from symlayout.models.model_file import missing_file, near_files

_FORMATS = {
    ".xml": "OpenVINO IR",
    ".onnx": "ONNX",
    ".tflite": "TFLite",
    ".pt2": "PyTorch",
    ".mlir": "StableHLO",
    ".mlirbc": "StableHLO",
    ".jax": "StableHLO",
}


def read_model(
    path: str | os.PathLike[str], dims: Mapping[str, Any] | None = None, *, time_limit: float | None = None
) -> Model:
    """Return the model in *path*: its inputs, its outputs, and every value between them as lazy tensors.

    The formats are ONNX (``.onnx``, with the package ``onnx``; external data and local functions too), OpenVINO IR
    (an ``.xml`` with its ``.bin`` in the same folder), TensorFlow Lite (``.tflite``), PyTorch's exported programs
    (``.pt2``) and StableHLO, with the package ``jaxlib``: text (``.mlir``), a portable artefact (``.mlirbc``) or what
    ``jax.export`` serialises (``.jax``).

    A leaf has the name of its input, with ``_`` for each character
    that a name may not have.  Only the nodes that an output needs are read.

    No operation is refused.  An operation without a declaration is opaque: a function of its whole operands and its
    attributes, with a shape as far as it is known.  An extent that depends on data is a dim of its own.  What
    is not known is not guessed: a value of unknown rank, a sequence, an optional or a map has None as its ``rank`` and
    ``shape``.  Weights are mapped, and read where values are compared.

    ONNX: a name in a shape, such as ``batch`` or ``2*h``, is a dim or an expression in dims; an input with an
    initializer is that constant.  Shapes that the model computes (``Shape``, ``Gather``, ``Div``, ``Concat``, ...)
    are computed on expressions.  If a `Reshape` fits only where a quotient of extents is exact, its exactness becomes
    a requirement.  ONNX itself also accepts other sizes for empty arrays.  Nodes may stand in any order; a file in
    which they do not follow what they read is noted in `Model.notes`.

    The name of a dim in an ONNX file may be any text.  It is read as an expression, as exporters write them, where it
    multiplies or adds to one name, such as ``2*h + 1``, or where all names in it are dims of the inputs by themselves:
    ``past + sequence`` beside ``past`` and ``sequence``.  Anything else is a name: ``batch-size`` is the dim
    ``batch_size``.

    OpenVINO: a value has the name of its tensor (the alphabetically first, if there are several), else the name of
    the layer that computes it.

    TensorFlow Lite: inputs and outputs have the names of the signature, or of their tensors without one.  Operators on
    quantised numbers are opaque, but for those that move them, and for ``DEQUANTIZE``.  What an operator keeps from run
    to run is a value that is not known.

    PyTorch: inputs and outputs have the names of the graph.  Dims have torch's names, such as ``s0``, and the bounds
    that the file states: a least extent of 2 is mostly torch's own, and a note says so.  Guards of the file leave out
    sizes.  Writes in place are followed through views; where that is not possible, what reads them is not known, and a
    note says so.  Pickles in the archive are not opened.

    StableHLO: functions are inlined.  Inputs have the names of the program's arguments where the file has them, else
    ``arg0``, ``arg1``.  Dims have JAX's names, and are at least 1 as JAX demands; without a signature they are called
    by input and axis.  Assertions about shapes become requirements; a note tells those that are not read.  MLIR's
    parser runs in a process of its own.

    Parameters
    ----------
    path : str or path
        The file.
    dims : mapping, optional
        What is known of the dims in the shapes of the inputs, by name: an int, ``(lo, hi)`` with *hi* None for no
        limit, a dim or an expression.  An axis without a name is called by its input and number, as in ``data.0``.
    time_limit : float, optional
        The most seconds that this may take.

    Raises
    ------
    FormatError
        If a file is malformed, too large, or of another format; or if no input has a dim of *dims*.
    ShapeError
        If shapes and attributes do not fit together; the kinds are those of the operation.
    MissingFileError
        If the file, or a file with constants that it needs, is not there: a `FileNotFoundError`.
    MissingPackageError
        If the model is ONNX and the package ``onnx`` is not installed, or StableHLO and ``jaxlib`` is not: an
        `ImportError`.
    TimeLimitError
        If the time limit ends it: a `TimeoutError`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> m = read_model(models / "round_trip_dynamic.xml")
    >>> {name: t.shape for name, t in m.outputs.items()}
    {'result': (data.0, data.1, data.2, data.3)}
    >>> read_model(models / "round_trip_dynamic.xml", dims={"data.0": 1, "data.3": (9, 32)}).outputs["result"].bounds()
    [(1, 1), (1, 8), (2, None), (9, 31)]
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"read_model takes the path of a file, not {type(path).__name__}")
    file = Path(path)
    if file.suffix not in _FORMATS:
        if not file.exists() and near_files(file):
            raise missing_file(file)
        known = ", ".join(f"{suffix} ({title})" for suffix, title in _FORMATS.items())
        raise FormatError(f"{shortened(file.name)!r} is no model that can be read\n  known: {known}")
    if dims is not None and not isinstance(dims, Mapping):
        raise TypeError(f"read_model takes dims as a mapping from their names, not {type(dims).__name__}")

    def refused() -> Model:
        raise TimeLimitError(f"{shortened(file.name)!r} is not read within {time_limit} seconds")

    return within(time_limit, lambda: _read(file, KnownDims(dims or {})), refused)


def _read(file: Path, known_dims: KnownDims) -> Model:
    if file.suffix == ".onnx":  # the readers are imported by those who read a model
        from symlayout.models.load_onnx import read_onnx

        model = read_onnx(file, known_dims)
    elif file.suffix == ".tflite":
        from symlayout.models.formats.load_tflite import read_tflite

        model = read_tflite(file, known_dims)
    elif file.suffix == ".pt2":
        from symlayout.models.formats.load_pt2 import read_pt2

        model = read_pt2(file, known_dims)
    elif _FORMATS[file.suffix] == "StableHLO":
        from symlayout.models.formats.stablehlo.load_stablehlo import read_stablehlo

        model = read_stablehlo(file, known_dims)
    else:
        from symlayout.models.load_openvino import read_openvino

        model = read_openvino(file, known_dims)
    known_dims.check_used()
    return model


def load(path: str | os.PathLike[str], dims: Mapping[str, Any] | None = None) -> dict[str, MaybeTensor]:
    """Return the outputs of the model in *path* by name, each as a lazy tensor (see `read_model`).

    An output whose rank is not known has None as its ``rank`` and ``shape``.

    Parameters
    ----------
    path : str or path
        The file.
    dims : mapping, optional
        As for `read_model`.

    Raises
    ------
    FormatError, ShapeError, MissingFileError, MissingPackageError
        As for `read_model`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> load(models / "round_trip_dynamic.xml")
    {'result': Tensor(batch_to_space: (data.0, data.1, data.2, data.3), dtype=float32)}
    """
    return read_model(path, dims).outputs
