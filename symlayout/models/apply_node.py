"""Apply the nodes of a model: operations of the catalogue, on tensors, with constants as attributes."""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.errors import FormatError, SymlayoutError
from symlayout.tensors.chain import Tensor

_LONGEST_NAME = 80  # of a leaf; names in a file have no limit

Constant = np.ndarray[Any, Any]  # of numbers, or of Python ints and expressions in dims
Value = Tensor | Constant  # what a layer computes


def identifier(name: str, taken: set[str]) -> str:
    """Return *name* as an identifier that is not in *taken*, and add it there.

    A character that an identifier may not have becomes ``_``.

    >>> identifier("a:0", {"a_0"})
    'a_0_2'
    """
    stem = re.sub(r"\W", "_", name[:_LONGEST_NAME], flags=re.ASCII)
    stem = stem if stem.isidentifier() else f"_{stem}"
    made = next(n for n in itertools.chain([stem], (f"{stem}_{k}" for k in itertools.count(2))) if n not in taken)
    taken.add(made)
    return made


def apply_layer(title: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], where: str) -> list[Tensor]:
    """Return the outputs of the operation *title*, such as ``"onnx:Pad"``, in a list.

    The first input is the data and the others are attributes, in the order of the operation's arguments; a joint
    operation, such as ``Concat``, has data only.  None is an attribute that is left out.

    Raises
    ------
    UnknownOpError
        The catalogue has no such operation.
    FormatError
        Data is a constant, or an attribute is not.
    ShapeError
        Whatever the operation raises.
    """
    try:
        operation = frontends.find(title)
        joint = frontends.is_joint(title)
        known = list(inspect.signature(operation).parameters)
        count = len(inputs) if joint else 1
        for k, value in enumerate(inputs[:count] or [None]):
            if not isinstance(value, Tensor):
                name = f"{known[0]}[{k}]" if joint else known[0]
                raise FormatError(f"input {name} is not computed from an input of the model\n  in: {where}")
        for k, value in enumerate(inputs[count:], start=count):
            if isinstance(value, Tensor):
                name = known[k] if k < len(known) else str(k)
                raise FormatError(f"input {name} is not a constant\n  in: {where}")
        result = operation(*([inputs] if joint else inputs), **attributes)
    except FormatError:
        raise
    except SymlayoutError as error:
        error.add_note(f"in: {where}")
        raise
    return result if isinstance(result, list) else [result]
