"""A whole model: its graph as it stands in the file, and every value of it as a lazy tensor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from symlayout import facade
from symlayout.algebra.facts import Facts, Requirement
from symlayout.errors import FormatError, one_line, shortened
from symlayout.language import sympy_bridge
from symlayout.show import wording
from symlayout.show.brief import brief_html
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.element_types import type_name
from symlayout.tensors.requirements import origins, requirements
from symlayout.tensors.substitute_input import called
from symlayout_codegen.forks import cached_property

UNKNOWN = "?"  # the shape of a value whose rank is not known
_FRAMEWORKS = {"": "onnx", "com.microsoft": "microsoft", "ai.onnx.ml": "ml"}
"""What the catalogue calls the domains of ONNX."""
CATALOGUE = ("microsoft", "ml", "onnx", "openvino", "stablehlo", "tensorflow", "tflite", "torch")
"""All names that it has for frameworks."""


TENSOR = "tensor"


@dataclass(frozen=True, slots=True)
class Unshaped:
    """A value of which the rank is not known: it has no shape.

    What it is a function of is known: two of them are equal if they are the same function of equal operands.

    Attributes
    ----------
    handle : Tensor
        A tensor without axes that stands for the value where operations read it.
    kind : str
        ``"tensor"``, ``"sequence"``, ``"optional"`` or ``"map"``.
    rank, shape : None
        As of a `Tensor`; they are not known.
    """

    handle: Tensor
    kind: str = TENSOR
    rank: ClassVar[None] = None
    shape: ClassVar[None] = None

    @property
    def name(self) -> str:
        """The name of an input, or of the operation that makes the value."""
        return self.handle.name

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The element type of a tensor; None if that is not known."""
        return self.handle.dtype

    @property
    def requires(self) -> tuple[Any, ...]:
        """What must hold of the dims of the inputs, as SymPy relations."""
        return self.handle.requires

    @property
    def facts(self) -> Facts:
        """What is known of the dims of the inputs."""
        return self.handle.facts

    def bounds(self) -> list[tuple[int, int | None]] | None:
        """Return None: no extent is known."""
        return None

    def __str__(self) -> str:
        return UNKNOWN if self.kind == TENSOR else self.kind

    def __repr__(self) -> str:
        return f"Unshaped({self.name}: {self}, dtype={type_name(self.dtype)})"


MaybeTensor = Tensor | Any
"""A `Tensor` or an `Unshaped`, in types: who reads models whose ranks are all known need not ask each time."""


@dataclass(frozen=True, slots=True)
class Items:
    """A sequence with a known number of elements."""

    elements: tuple[Any, ...]


Value = Tensor | np.ndarray[Any, Any] | Unshaped | Items
"""What a node computes.  An array has numbers, or Python ints and expressions in dims."""


@dataclass(frozen=True, slots=True)
class ModelNode:
    """One operation of the graph.

    Attributes
    ----------
    name : str
        The name of the node; any text, and not always there.
    op_type, domain : str
        The operation, such as ``"Conv"``, and who defines it: ``""`` is ONNX.
    inputs, outputs : tuple of str
        The names of values; empty where one is left out.
    version : int
        The version of the operation set.
    source : NodeProto, Layer, OperatorRecord, NodeRecord or OperationRecord
        The node as the file has it, with its attributes.
    """

    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: int
    source: Any = field(repr=False)

    @property
    def title(self) -> str:
        """The operation with its domain, such as ``"onnx:Conv"``.

        A domain of an ONNX file that is called as the catalogue calls a framework is none: ``"torch (domain):flip"``.
        """
        own = _FRAMEWORKS.get(self.domain)
        if own is None:
            is_another = self.domain in CATALOGUE and hasattr(self.source, "op_type")
            own = f"{self.domain} (domain)" if is_another else self.domain
        return f"{own}:{self.op_type}"

    def __str__(self) -> str:
        return f"node {shortened(self.name or next(iter(self.outputs), ''))!r}, {one_line(self.op_type, 40)}"


class Tensors(Mapping[str, MaybeTensor]):
    """The values of a graph by name, as tensors.  A constant becomes a tensor when it is first read.

    Attributes
    ----------
    shaped : mapping of str to Tensor
        Those of which the rank is known.
    by_runtime : set of str
        Constants whose last bits may be others in other runtimes.
    """

    def __init__(
        self,
        values: Mapping[str, Value | Callable[[], Value]],
        convert: Callable[[Value], Tensor | Unshaped],
        by_runtime: Set[str] = frozenset(),
    ) -> None:
        self._values = values
        self.by_runtime = by_runtime
        self._convert = convert
        self._made: dict[str, MaybeTensor] = {}
        self.shaped: Mapping[str, Tensor] = _Shaped(
            self, dict.fromkeys(n for n, v in values.items() if not isinstance(v, Unshaped | Items))
        )

    def __getitem__(self, name: str) -> MaybeTensor:
        if name not in self._made:
            value = self._values[name]
            self._made[name] = self._convert(value() if callable(value) else value)
        return self._made[name]

    def numbers(self, name: str) -> np.ndarray[Any, Any] | None:
        """Return the integers and the expressions in dims that a value holds; None if it holds none that are known."""
        value = self._values.get(name)
        return value if isinstance(value, np.ndarray) and value.dtype == object else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class _Shaped(Mapping[str, Tensor]):
    """The values of known rank among those of a graph."""

    def __init__(self, values: Mapping[str, Tensor | Unshaped], names: Mapping[str, None]) -> None:
        self._values, self._names = values, names

    def __getitem__(self, name: str) -> Tensor:
        if name not in self._names:
            raise KeyError(name)
        t = self._values[name]
        assert isinstance(t, Tensor)
        return t

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Model:
    """A model: see `read_model`.

    Attributes
    ----------
    path : Path
        The file.
    format : str
        ``"ONNX"``, ``"OpenVINO IR"``, ``"TFLite"``, ``"PyTorch"`` or ``"StableHLO"``.
    inputs, outputs : dict of str to Tensor or Unshaped
        By their names in the file, in its order.  A value whose rank is not known is `Unshaped`: its ``rank`` and
        ``shape`` are None, and so is its ``dtype`` if that is not known.
    tensors : mapping of str to Tensor or Unshaped
        Every value: inputs, constants, and what the nodes compute.
    nodes : tuple of ModelNode
        The operations that the outputs need, each after the nodes that it reads; local functions are inlined.
    unused : tuple of ModelNode
        The other operations.  Runtimes compute these too, so what they demand of the sizes counts.
    source : ModelProto, IRGraph, TFLiteGraph, PT2Graph or MLIRModule
        What the file has.
    demands : dict of str to tuple of Requirement
        For each value the requirements that its node was the first to state.
    demanded_by : dict of str to Tensor
        The values that state these.
    partial : sequence of Tensor
        Values, and steps within nodes, that are not valid for all elements of what they read, or of which that is not
        known.
    assumed : dict of str to tuple of Requirement
        For each value what is demanded of the sizes beyond the standard.
    notes : tuple of str
        What is unusual about the file, such as nodes out of order.
    """

    def __init__(
        self,
        path: Path,
        format: str,
        inputs: dict[str, MaybeTensor],
        outputs: dict[str, MaybeTensor],
        tensors: Tensors,
        nodes: tuple[ModelNode, ...],
        source: Any,
        demands: dict[str, tuple[Requirement, ...]],
        unused: tuple[ModelNode, ...] = (),
        demanded_by: Mapping[str, Tensor] = MappingProxyType({}),
        partial: Sequence[Tensor] = (),
        assumed: Mapping[str, tuple[Requirement, ...]] = MappingProxyType({}),
        notes: tuple[str, ...] = (),
    ) -> None:
        self.path, self.format, self.inputs, self.outputs = path, format, inputs, outputs
        self.tensors, self.nodes, self.source, self.demands = tensors, nodes, source, demands
        self.unused, self.demanded_by, self.assumed, self.notes = unused, demanded_by, assumed, notes
        self.partial = partial
        self._producers = {name: node for node in (*nodes, *unused) for name in node.outputs if name}

    @cached_property
    def domain(self) -> Facts:
        """What all nodes demand, those too whose values are read for their shape only, or not at all.

        Raises
        ------
        ShapeError
            ``infeasible`` if no sizes meet all demands.
        """
        facts = Facts()
        inputs = (t for t in self.inputs.values() if isinstance(t, Tensor))
        for t in (*inputs, *self.demanded_by.values()):
            if not facts.includes(t.facts):
                facts.merge(t.facts)
        return facts

    @property
    def requires(self) -> tuple[Any, ...]:
        """What all nodes demand of the inputs' dims, as SymPy relations; none follows from the others.

        Examples
        --------
        >>> from pathlib import Path
        >>> import symlayout as sl
        >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
        >>> sl.read_model(models / "pixel_unshuffle.onnx").requires
        (Eq(Mod(H, 2), 0), Eq(Mod(W, 2), 0), W >= 2, H >= 2)
        """
        inputs = (t for t in self.inputs.values() if isinstance(t, Tensor))
        return relations(self.domain, {name for t in inputs for name in t.facts.dims})

    def __call__(self, given: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the outputs where inputs are other tensors, by name: the model as a function in a chain.

        A dim of a replaced input is what the tensor in its place has there.  Bounds of these dims, and what the nodes
        demand, become requirements of the outputs.  Inputs that are not *given* stay what they are.

        Parameters
        ----------
        given : mapping of str to Tensor
            Tensors by the names of inputs.

        Raises
        ------
        FormatError
            The model has no input of a name.
        ArrayError
            A tensor has another element type than the input.
        ShapeError
            ``size_mismatch`` for another rank, or an extent that does not fit; ``unknown_rank`` if the rank of an input
            or an output is not known.
        InconclusiveError
            An extent of the model depends on data.

        Examples
        --------
        >>> from pathlib import Path
        >>> import symlayout as sl
        >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
        >>> model = sl.read_model(models / "pixel_unshuffle.onnx")
        >>> x = sl.tensor("1, 3, 2*a, 2*b", dtype="float32", name="image")
        >>> model({"x": x})["y"].shape
        (1, 12, a, b)
        """
        return called(self.inputs, self.outputs, given)

    def producer(self, name: str) -> ModelNode | None:
        """Return the node that computes a value; None for an input and a constant."""
        return self._producers.get(name)

    def explain(self, name: str) -> str:
        """Return how the shape of a value comes about, and which nodes demand what of the inputs' dims.

        Parameters
        ----------
        name : str
            A value of the graph.

        Raises
        ------
        KeyError
            The graph has no value with this name.
        """
        value = self.tensors[name]
        lines = [f"{one_line(name)}: {_shape(value)}"]
        steps = 0
        at: str | None = name
        while at is not None and (node := self.producer(at)) is not None and steps < _STEPS:
            read = [f"{one_line(n)} {_shape(self.tensors[n])}" for n in node.inputs if n in self.tensors]
            made = f"{one_line(at)} {_shape(self.tensors[at])}"
            lines.append(f"  {made} = {one_line(node.op_type)}({', '.join(read)})")
            at = next((n for n in node.inputs if n in self.tensors and not self._is_constant(n)), None)
            steps += 1
        for r, nodes in zip(value.requires, self.asked_by(value), strict=True):
            lines.append(f"  requires {wording.relation(r)}")
            lines += [f"    in: {node}" for node in nodes]
        return "\n".join(lines)

    def _is_constant(self, name: str) -> bool:
        t = self.tensors[name]
        return isinstance(t, Tensor) and t.values is not None

    def demanding(self) -> list[tuple[str, Tensor]]:
        """Return the nodes that state requirements, in order: how texts call them, and what they compute."""
        known = self.tensors.shaped
        values = [(name, known[name]) for name in self.demands if name in known]
        return [(str(self.producer(name) or f"input {one_line(name)}"), t) for name, t in values]

    def asked_by(self, t: Tensor | Unshaped) -> list[list[str]]:
        """Return for each requirement of *t*, a value of the model, the nodes that state it or a part of it."""
        nodes = self.demanding()
        return [[nodes[k][0] for k in numbers] for numbers in origins(t.facts, [value.facts for _, value in nodes])]

    def html(self, made_by: str = "") -> str:
        """Return a page about the model: one HTML file, which needs no network.

        It shows the graph, in which nodes are found by name, every shape in terms of the inputs' dims and for sizes
        that the reader chooses, and which requirement these sizes fail.

        Parameters
        ----------
        made_by : str
            The command that makes the page again, which the page shows.
        """
        return facade.html_page(self, made_by)

    def _repr_html_(self) -> str:
        return brief_html(repr(self), picture=facade.picture_of_model(self))

    def __repr__(self) -> str:
        inputs = ", ".join(f"{one_line(n)} {_shape(t)}" for n, t in self.inputs.items())
        outputs = ", ".join(f"{one_line(n)} {_shape(t)}" for n, t in self.outputs.items())
        return f"Model({inputs} -> {outputs}; {len(self.nodes)} nodes)"


_STEPS = 12  # of an explanation


def relations(facts: Facts, dims: Set[str]) -> tuple[Any, ...]:
    """Return the requirements of *facts* that are about *dims* only, as SymPy relations; none follows from the others.

    Others are about extents that depend on data.
    """
    found = (sympy_bridge.to_relation(r, facts) for r in requirements(facts))
    return tuple(relation for relation in found if {s.name for s in relation.free_symbols} <= dims)


def _shape(t: Tensor | Unshaped) -> str:
    if isinstance(t, Unshaped):
        return str(t)
    return "(" + ", ".join(t.facts.spell(e) for e in t.extents) + ("," if t.rank == 1 else "") + ")"


def constant_tensor(array: np.ndarray[Any, Any], name: str = "constant", rounding: float = 0.0) -> Tensor:
    """Return an array of numbers as a tensor; Python ints become int64.  See `constant` for *rounding*.

    Raises
    ------
    FormatError
        The array holds expressions.
    """
    if array.dtype == object:
        if any(type(n) not in (int, bool) for n in array.reshape(-1)):
            raise FormatError(f"{shortened(name)!r} holds expressions in dims")
        kind = bool if array.size and all(type(n) is bool for n in array.reshape(-1)) else np.int64
        array = array.astype(kind)
    return constant(array, name, rounding=rounding)
