"""StableHLO's operations: the declaration of each, and how attributes as MLIR prints them become those of it.

An operation without a row here is opaque.  Attributes have the names of the specification, which are those of the
declarations, and so have operands, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symlayout.errors import FormatError, shortened
from symlayout.frontends.stablehlo.elementwise import ROWS as ELEMENTWISE
from symlayout.models.formats.stablehlo.mlir_module import Stored


@dataclass(frozen=True, slots=True)
class OperationRow:
    """An operation.

    Attributes
    ----------
    title : str
        The declaration.
    names : mapping
        Attributes of the file that have other names in the declaration.
    shape, dtype : str
        The attributes of the declaration that are the shape and the element type of the result; else empty.
    arithmetic : str
        ONNX's name of the operation, if it computes with numbers of shapes; else empty.
    moves : bool
        Whether it moves numbers of shapes.
    numbers : int or None
        From which operand on operands are numbers, which the declaration takes as the attribute *starts*.
    """

    title: str
    names: Mapping[str, str] = field(default_factory=dict)
    shape: str = ""
    dtype: str = ""
    arithmetic: str = ""
    moves: bool = False
    numbers: int | None = None


_ARITHMETIC = {
    "add": "Add", "subtract": "Sub", "multiply": "Mul", "divide": "Div", "maximum": "Max", "minimum": "Min",
    "negate": "Neg", "select": "Where", "convert": "Cast",
}  # fmt: skip

OPERATIONS: dict[str, OperationRow] = {
    name if "." in name else f"stablehlo.{name}": OperationRow(
        f"stablehlo:{name}",
        dtype="to" if name == "convert" else "",
        arithmetic=_ARITHMETIC.get(name, ""),
    )
    for name in ELEMENTWISE
}


def _add(name: str, title: str = "", **given: Any) -> None:
    OPERATIONS[f"stablehlo.{name}"] = OperationRow(f"stablehlo:{title or name}", **given)


_add("bitcast_convert", dtype="to")
_add("transpose", moves=True)
_add("reshape", shape="output_shape", moves=True)
_add("dynamic_reshape", "reshape")
_add("broadcast_in_dim", shape="output_shape", moves=True)
_add("dynamic_broadcast_in_dim", "broadcast_in_dim", moves=True)
_add("concatenate", moves=True)
_add("slice", moves=True)
_add("real_dynamic_slice", "slice", moves=True)
_add("dynamic_slice", numbers=1, moves=True)
_add("dynamic_update_slice", numbers=2)
_add("pad")
_add("dynamic_pad", "pad")
_add("reverse", moves=True)
_add("iota", shape="output_shape", dtype="dtype")
_add("dynamic_iota", "iota", dtype="dtype")
_add("dot_general", dtype="dtype")
_add("convolution", dtype="dtype")
_add("dynamic_conv", "convolution", dtype="dtype")
_add("reduce")
_add("reduce_window")
_add("gather")
_add("dynamic_gather", "gather")
_add("scatter")
_add("sort")
OPERATIONS["chlo.top_k"] = OperationRow("stablehlo:chlo.top_k")

SAME = frozenset(("stablehlo.optimization_barrier",))
"""Operations whose results are their operands."""

CALLS = frozenset(("func.call", "stablehlo.composite"))
"""Operations that are what a function does."""

IGNORED = frozenset(
    ("precision_config", "algorithm", "indices_are_sorted", "unique_indices", "is_stable", "result_accuracy",
     "known_expanding_dimensions", "known_nonexpanding_dimensions", "mhlo.sharding", "sdy.sharding",
     "mhlo.frontend_attributes", "xla_metadata_call", "jax.result_info")
)  # fmt: skip
"""Attributes that change no element, or only how it is rounded."""

RANDOM = frozenset(
    f"stablehlo.{name}"
    for name in (
        "all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute", "infeed", "outfeed",
        "partition_id", "recv", "reduce_scatter", "replica_id", "rng", "send", "cross-replica-sum", "create_token",
    )
)  # fmt: skip
"""Operations of which two evaluations may differ, or that read what others have."""

_ENUM = re.compile(r"#(?:stablehlo|chlo)<\w+ (\w+)>")
_NUMBERS = re.compile(r"#stablehlo\.(?:gather|scatter|dot)<(.*)>", re.DOTALL)
_ENTRY = re.compile(r"(\w+) = (\[[\d, ]*\]|\d+)")
_CONV = re.compile(r"#stablehlo\.conv<\[(.*?)\]x\[(.*?)\]->\[(.*?)\]>")
_DOTS = tuple(f"{side}_{kind}_dimensions" for kind in ("batching", "contracting") for side in ("lhs", "rhs"))


def attributes_of(given: Mapping[str, Any], row: OperationRow, where: str) -> dict[str, Any]:
    """Return the attributes of an operation by the names of its declaration.

    Raises
    ------
    FormatError
        An attribute has a form that is not known.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name in IGNORED:
            continue
        if isinstance(value, dict):
            text = str(value.get("text", value))
            if name in ("dimension_numbers", "dot_dimension_numbers", "scatter_dimension_numbers"):
                found.update(_dimensions(text, where))
                continue
            value = enum[1] if (enum := _ENUM.fullmatch(text)) else text
        elif isinstance(value, Stored):
            value = value.array
        found[row.names.get(name, name)] = value
    return found


def _dimensions(text: str, where: str) -> dict[str, Any]:
    """Return the entries of dimension numbers.

    >>> _dimensions("#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>", "")["kernel_dimensions"]
    [2, 1, 0]
    >>> _dimensions("#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>", "")
    {'offset_dims': [1], 'index_vector_dim': 1}
    """
    if found := _CONV.fullmatch(text):
        names = ("input_dimensions", "kernel_dimensions", "output_dimensions")
        return {name: _order(part) for name, part in zip(names, found.groups(), strict=True)}
    if (found := _NUMBERS.fullmatch(text)) is None:
        raise FormatError(f"{where} has dimension numbers that are not read: {shortened(text)}")
    made: dict[str, Any] = {key: [] for key in _DOTS} if text.startswith("#stablehlo.dot") else {}
    for name, value in _ENTRY.findall(found[1]):
        made[name] = [int(n) for n in re.findall(r"\d+", value)] if value.startswith("[") else int(value)
    return made


def _order(labels: str) -> list[int]:
    """Return the axes of batch or results, of channels, then of space."""
    found = [label.strip() for label in labels.split(",")]
    space = sorted((label for label in found if label.isdigit()), key=int)
    first = [label for label in ("b", "o") if label in found and not (label == "o" and "b" in found)]
    second = [label for label in ("f", "i") if label in found]
    return [found.index(label) for label in (*first, *second, *space)]
