"""What the nodes of any format compute: by arithmetic on shapes, by a declaration, or as an opaque function.

A reader makes a `FormatNode` of each node of its file.  Nothing here knows a format.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symlayout.models.apply_node import identifier
from symlayout.models.arithmetic.shape_arithmetic import is_shape_node
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.model import Items, Unshaped, Value
from symlayout.models.opaque import OutputType, SameAs, UnknownExtent, opaque

Stated = tuple[tuple[int | None, ...] | None, np.dtype[Any] | None]
"""The extents that a file states for an output, None for one that it does not know, and its element type."""


@dataclass(frozen=True, slots=True)
class FormatNode:
    """A node of a file in the words that all formats share.

    Attributes
    ----------
    title : str
        The operation in the catalogue, such as ``"openvino:Add-1"``; one that it lacks is opaque.
    where : str
        The node as errors name it.
    attributes : mapping
        The attributes by the names of the declaration.
    stated : tuple
        What the file states of each output: see `Stated`; None for extents of unknown rank.
    arithmetic : str
        ONNX's name of the operation, if it computes with numbers of shapes; else an empty text.
    moves : bool
        Whether it moves numbers of shapes.
    keeps_shape : bool
        Whether a result has the shape of an input of its rank.
    random : bool
        Whether two evaluations may differ.
    key : tuple of pairs
        What tells the node from others of the same title, where it is opaque.
    digest : str
        Text that two nodes share only if their outputs are equal.
    """

    title: str
    where: str
    attributes: Mapping[str, Any]
    stated: tuple[Stated, ...]
    arithmetic: str = ""
    moves: bool = False
    keeps_shape: bool = False
    random: bool = False
    key: tuple[tuple[str, Any], ...] = ()
    digest: str = field(default="", repr=False)


def opaque_values(evaluation: Evaluation, node: FormatNode, inputs: Sequence[Value | None]) -> list[Value | None]:
    """Return the outputs of a node as functions of whole operands, with the shapes that the file states.

    An extent that the file does not know is that of the first input's axis where the file gives both the same rank and
    the operation keeps the shape of its input; it depends on data otherwise.
    """
    operands = [None if v is None else evaluation.tensor(v) for v in inputs if not isinstance(v, Items)]
    types: list[OutputType | None] = []
    for extents, dtype in node.stated:
        if extents is None:
            types.append(OutputType(dtype, None))
            continue
        same = [k for k, t in enumerate(operands) if t is not None and t.rank == len(extents)]
        unknown = [
            SameAs(same[0], axis) if same and node.keeps_shape else UnknownExtent() for axis in range(len(extents))
        ]
        types.append(OutputType(dtype, tuple(u if n is None else n for n, u in zip(extents, unknown, strict=True))))
    partly, evaluation.partly = evaluation.partly, None
    types = types if partly is None else partly.merged(types)
    name = node.title.partition(":")[2].partition("-")[0]
    stem = f"{identifier(name[:40], set())}_{node.digest[:6]}"
    demands = () if partly is None else partly.demands
    made = opaque(
        node.title, operands, node.key, types, stem=stem, identity=node.digest, random=node.random, total=node.random,
        demands=demands,
    )  # fmt: skip
    return list(made)


def node_values(
    evaluation: Evaluation,
    node: FormatNode,
    inputs: Sequence[Value | None],
    numbers: Sequence[Value | None],
    kept: Mapping[str, Any],
) -> Sequence[Value | None] | None:
    """Return the outputs of a node by arithmetic on shapes, or by its declaration; None if it has neither.

    Parameters
    ----------
    numbers, kept : sequence, mapping
        The inputs and attributes as ONNX's operation `FormatNode.arithmetic` takes them.
    """
    if any(isinstance(v, Unshaped | Items) for v in inputs):
        return None
    made: Sequence[Value | None] | None = None
    if node.arithmetic and is_shape_node(node.arithmetic, inputs):  # type: ignore[arg-type]
        made = evaluation.shape_values(node.arithmetic, numbers, kept, node.where)
    elif node.moves and inputs and is_shape_node("", inputs):  # type: ignore[arg-type]
        made = evaluation.shape_values(node.title, inputs, node.attributes, node.where)
    return declared_values(evaluation, node, inputs) if made is None else made


def declared_values(
    evaluation: Evaluation, node: FormatNode, inputs: Sequence[Value | None]
) -> Sequence[Value | None] | None:
    """Return the outputs of a node by its declaration; None if it has none, or does not take these inputs."""
    results = evaluation.declared([node.title], inputs, node.attributes, node.where, len(node.stated))
    return None if results is None else evaluation.folded(results, inputs)


def of_stated_type(value: Value | None, dtype: np.dtype[Any] | None) -> Value | None:
    """Return integers that a model computes as a shape in the integer type that the file states for them."""
    if not isinstance(value, np.ndarray) or dtype is None or dtype.kind not in "iu":
        return value
    if dtype == value.dtype or not all(isinstance(n, (int, np.integer)) for n in value.reshape(-1)):
        return value
    made = value.astype(dtype)
    return made if np.array_equal(made, value) else value


def digest_of(parts: Sequence[str]) -> str:
    """Return a digest of texts."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
