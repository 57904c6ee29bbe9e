"""Load a model: from a file to its outputs as tensors."""

from __future__ import annotations

import os
from pathlib import Path

from symlayout.errors import FormatError
from symlayout.tensors.chain import Tensor

_FORMATS = {".xml": "OpenVINO IR", ".onnx": "ONNX"}


def load(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Return the outputs of the model in *path* by name, each as a lazy tensor.

    The formats are ONNX (``.onnx``, with the package ``onnx``) and OpenVINO IR (an ``.xml`` with its ``.bin`` in the
    same folder).  Only the nodes that an output needs are read.  A leaf has the name of its input, with ``_`` for each
    character that a name may not have.

    ONNX: a name in a shape, such as ``batch`` or ``2*h``, is a dim or an expression in dims; an input with an
    initializer is that constant.  Shapes that the model computes (``Shape``, ``Gather``, ``Div``, ``Concat``, ...)
    are computed on expressions.  If a `Reshape` fits only where a quotient of extents is exact, its exactness becomes
    a requirement.  ONNX itself also accepts other sizes for empty arrays.

    OpenVINO: an output has the name of its tensor (the alphabetically first, if there are several), else the name of
    the layer that computes it.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    FormatError
        If a file is malformed, too large, or of another format; if an input that must be constant, such as
        ``block_shape``, is computed from elements; or if data is a constant.
    UnknownOpError
        If an output needs an operation that is not in the catalogue.
    ShapeError
        If shapes and attributes do not fit together; the kinds are those of the operation.
    InconclusiveError
        If a shape depends on an unknown property of the dims, such as the sign of a dividend.
    MissingFileError
        If the file, or the ``.bin`` that it needs, is not there: a `FileNotFoundError`.
    MissingPackageError
        If the model is ONNX and the package ``onnx`` is not installed: an `ImportError`.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> load(models / "round_trip_dynamic.xml")
    {'result': Tensor(batch_to_space: (data.0, data.1, data.2, data.3), dtype=float32)}
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"load takes the path of a file, not {type(path).__name__}")
    file = Path(path)
    if file.suffix not in _FORMATS:
        known = ", ".join(f"{suffix} ({title})" for suffix, title in _FORMATS.items())
        raise FormatError(f"{file.name[:80]!r} is no model that can be read\n  known: {known}")
    if file.suffix == ".onnx":  # the readers are imported by those who load a model
        from symlayout.models.load_onnx import load_onnx

        return load_onnx(file)
    from symlayout.models.load_openvino import load_openvino

    return load_openvino(file)
