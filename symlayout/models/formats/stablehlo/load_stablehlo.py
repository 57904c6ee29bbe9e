"""Read a module of StableHLO: from its operations to its values as tensors.  Functions are inlined."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.deadlines import check_time
from symlayout.errors import FormatError, InconclusiveError, ShapeError, SymlayoutError, shortened
from symlayout.models.apply_node import identifier
from symlayout.models.arithmetic.shape_arithmetic import exact_target, settled
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.formats.node_values import FormatNode, declared_values, digest_of, of_stated_type, opaque_values
from symlayout.models.formats.pt2_expressions import SizeGuard, conditions
from symlayout.models.formats.stablehlo import regions, sizes
from symlayout.models.formats.stablehlo.mlir_module import (
    Block,
    Function,
    MLIRModule,
    MLIRType,
    OperationRecord,
    Stored,
)
from symlayout.models.formats.stablehlo.operations import CALLS, OPERATIONS, RANDOM, SAME, OperationRow, attributes_of
from symlayout.models.formats.stablehlo.regions import OperationTexts, captured_by
from symlayout.models.formats.stablehlo.signature import Signature
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Items, Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.opaque import OutputType, opaque
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import end_of_type
from symlayout.tensors.input_tensor import tensor

MAX_OPERATIONS = 100_000  # of a module, with its functions inlined
MAX_CALLS = 64  # within each other
_COUNT = itertools.count()  # tells values apart that are equal to no other


def read_stablehlo(file: Path, known: KnownDims) -> Model:
    """Return the model in the *file*: a module as text, or an artefact (see `symlayout.read_model`)."""
    module, signature = Signature.read(file)
    reader = _Reader(module, signature, known)
    evaluation = settled(reader.evaluated, reader.count)
    _name_results(evaluation, module.main.result_names)
    outputs = {name: evaluation.shown(evaluation.values[name], name) for name in evaluation.results}
    inputs = {name: evaluation.shown(value, name) for name, value in evaluation.inputs.items()}
    needed = _needed(evaluation)
    return Model(
        file,
        "StableHLO",
        inputs,
        outputs,
        Tensors(evaluation.values, evaluation.shown),
        tuple(node for node in evaluation.nodes if node.name in needed),
        module,
        evaluation.demands,
        unused=tuple(node for node in evaluation.nodes if node.name not in needed),
        demanded_by=evaluation.demanded_by,
        partial=evaluation.partial,
        assumed=evaluation.assumed,
        notes=tuple(dict.fromkeys((*signature.notes, *evaluation.notes))),
    )


def _name_results(evaluation: StableHLOEvaluation, stated: Sequence[str]) -> None:
    """Give results the names that the file states, or ``result``; a value that is a result twice stands twice."""
    several = len(evaluation.results) > 1
    names: list[str] = []
    new: dict[str, str] = {}
    for k, name in enumerate(evaluation.results):
        made = stated[k] if k < len(stated) and stated[k] else f"result_{k}" if several else "result"
        while made in names or made in evaluation.values:
            made = f"{made}:{k}"
        names.append(made)
        if name in evaluation.inputs or name in new:
            evaluation.values[made] = evaluation.values[name]
        else:
            new[name] = made

    def named(name: str) -> str:
        return new.get(name, name)

    evaluation.results = names
    evaluation.values = {named(name): value for name, value in evaluation.values.items()}
    evaluation.demands = {named(name): demands for name, demands in evaluation.demands.items()}
    evaluation.demanded_by = {named(name): value for name, value in evaluation.demanded_by.items()}
    evaluation.assumed = {named(name): demands for name, demands in evaluation.assumed.items()}
    evaluation.nodes = [
        replace(
            node, name=named(node.name), inputs=tuple(map(named, node.inputs)), outputs=tuple(map(named, node.outputs))
        )
        for node in evaluation.nodes
    ]


def _inlined(module: MLIRModule, function: Function, known: dict[str, int], callers: tuple[str, ...]) -> int:
    """Return how many operations a function has with those that it calls.

    Raises
    ------
    FormatError
        There are too many, or a function calls itself.
    """
    if function.name in callers or len(callers) >= MAX_CALLS:
        raise FormatError(f"function {shortened(function.name, 40)!r} calls itself, or calls are {MAX_CALLS} deep")
    if function.name not in known:
        count = len(function.block.operations)
        for operation in function.block.operations:
            if operation.name in CALLS and operation.callee in module.functions:
                count += _inlined(module, module.functions[operation.callee], known, (*callers, function.name))
        if count > MAX_OPERATIONS:
            raise FormatError(f"the functions of the module have more than {MAX_OPERATIONS} operations, inlined")
        known[function.name] = count
    return known[function.name]


def _needed(evaluation: StableHLOEvaluation) -> set[str]:
    """Return the nodes, by their first values, that results are computed from."""
    found: set[str] = set()
    wanted = set(evaluation.results)
    for node in reversed(evaluation.nodes):
        if wanted.intersection(node.outputs):
            found.add(node.name)
            wanted.update(node.inputs)
    return found


class StableHLOEvaluation(Evaluation):
    """The values of a module, each with a name of its own: those of inlined functions, too."""

    def __init__(self, exact: Collection[Any], count: int) -> None:
        super().__init__({}, exact, count)
        self.exact = set(exact)
        self.nodes: list[ModelNode] = []
        self.digests: dict[str, str] = {}
        self.inputs: dict[str, Value] = {}
        self.results: list[str] = []
        self.notes: list[str] = []
        self.relations: dict[str, SizeGuard] = {}
        self.counting: dict[str, int] = {}  # values that are the coordinate along an axis

    def set(self, name: str, value: Value, digest: str) -> None:
        """Give a value its name, and text that two values share only if they are equal."""
        self.define(name, value)
        self.digests[name] = digest


class _Reader:
    """Reads one module, as often as more is known to be exact."""

    def __init__(self, module: MLIRModule, signature: Signature, known: KnownDims) -> None:
        self.module, self.signature, self.known = module, signature, known
        self.texts = OperationTexts(module.functions)
        self.count = _inlined(module, module.main, {}, ())
        self._numbers = itertools.count()

    def evaluated(self, exact: Collection[Any]) -> tuple[StableHLOEvaluation, set[Any]]:
        """Return the values of the module, and the rounded quotients that some operation requires to be exact."""
        evaluation = StableHLOEvaluation(exact, self.count)
        self._numbers = itertools.count()
        main = self.module.main
        leaves: set[str] = set()
        names = []
        for k, (kind, name) in enumerate(zip(main.block.types, self.signature.names, strict=True)):
            title = identifier(name, leaves)
            leaf: Tensor | Unshaped
            if kind.extents is None:
                leaf = Unshaped(tensor((), kind.dtype, title))
            else:
                leaf = self.known.of_leaf(self.signature.leaf(k, kind, title))
                leaf = self.signature.required(leaf, exact)
                evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
            evaluation.inputs[name] = leaf
            evaluation.set(name, leaf, f"input {name}")
            names.append(name)
        evaluation.results = self.run(evaluation, main.block, names)
        return evaluation, evaluation.exact | evaluation.shapes.supposed

    def run(self, evaluation: StableHLOEvaluation, block: Block, arguments: Sequence[str]) -> list[str]:
        """Evaluate a block; return the names of what it returns."""
        names = dict(zip(block.arguments, arguments, strict=True))
        for operation in block.operations:
            check_time()
            if operation.name in ("func.return", "stablehlo.return"):
                return [names[n] for n in operation.operands]
            inputs = [names[n] for n in operation.operands]
            if operation.name in CALLS and (made := self._called(evaluation, operation, inputs)) is not None:
                names.update(zip(operation.results, made, strict=True))
                continue
            if operation.name in SAME:
                names.update(zip(operation.results, inputs, strict=True))
                continue
            read = [*inputs, *(names[n] for n in captured_by(operation))]
            step = _Step(self, evaluation, operation, inputs, read)
            names.update(zip(operation.results, step.applied(), strict=True))
        raise FormatError("a function of the module returns nothing")

    def _called(
        self, evaluation: StableHLOEvaluation, operation: OperationRecord, inputs: list[str]
    ) -> list[str] | None:
        """Return what a call returns; None if the module does not have the function, or it has a row."""
        name = operation.callee
        if name not in self.module.functions or operation.attributes.get("name") in OPERATIONS:
            return None
        block = self.module.functions[name].block
        if len(block.arguments) != len(inputs):
            raise FormatError(f"function {shortened(name, 40)!r} is called with {len(inputs)} arguments")
        made = self.run(evaluation, block, inputs)
        if len(made) != len(operation.results):
            raise FormatError(f"function {shortened(name, 40)!r} returns {len(made)} values")
        return made

    def new_name(self) -> str:
        """Return a name for a value; those of inputs are identifiers."""
        return f"%{next(self._numbers)}"


class _Step:
    """Applies one operation."""

    def __init__(
        self,
        reader: _Reader,
        evaluation: StableHLOEvaluation,
        operation: OperationRecord,
        inputs: list[str],
        read: list[str],
    ) -> None:
        self.reader, self.evaluation, self.operation = reader, evaluation, operation
        self.names, self.read = inputs, read
        self.inputs: list[Value | None] = [evaluation.values[name] for name in inputs]
        if (composite := operation.attributes.get("name")) in OPERATIONS and operation.name in CALLS:
            given = operation.attributes.get("composite_attributes", {})
            operation = self.operation = replace(operation, name=composite, attributes=given.get("entries", {}))
        self.short = operation.name.removeprefix("stablehlo.")
        self.results = [reader.new_name() for _ in operation.results]
        self.where = f"{operation} ({', '.join(self.results) or 'no result'})"
        self.row = OPERATIONS.get(operation.name)

    def applied(self) -> list[str]:
        """Give the results of the operation their values; return their names."""
        evaluation, operation = self.evaluation, self.operation
        if self._is_assertion():
            return []
        if operation.name == "stablehlo.constant":
            (name,) = self.results
            evaluation.set(name, *self._stored())
            return self.results
        evaluation.partly = None
        made = self._computed()
        fitting = None if made is None else self._fitting(made)
        node = self._node(self.row.title if self.row else f"stablehlo:{self.short}", {})
        if fitting is None:
            read = [evaluation.values[name] for name in self.read]
            fitting = [v for v in opaque_values(evaluation, node, read) if v is not None]
        for k, (name, value, kind) in enumerate(zip(self.results, fitting, operation.types, strict=True)):
            evaluation.note_type(value, kind.dtype)
            evaluation.set(name, value, f"{node.digest}.{k}")
        if self.results:
            self._note_counting()
            title = self.short
            evaluation.nodes.append(
                ModelNode(self.results[0], title, "stablehlo", tuple(self.read), tuple(self.results), 0, operation)
            )
        return self.results

    # ------------------------------------------------------------------ constants and assertions

    def _stored(self) -> tuple[Value, str]:
        (kind,) = self.operation.types
        stored = self.operation.attributes.get("value")
        if isinstance(stored, Stored) and stored.array is not None:
            array = stored.array
            if array.size > MAX_CONSTANT and not any(array.strides):
                whole = self.evaluation.tensor(array[(0,) * array.ndim].reshape(()))
                made = frontends.find("stablehlo:broadcast_in_dim")(whole, list(array.shape), [])
                return made, f"{array.dtype} {array.shape} all {array[(0,) * array.ndim].tobytes()!r}"
            elements = hashlib.sha256(array.tobytes()).hexdigest() if array.size <= MAX_CONSTANT else next(_COUNT)
            return array, f"{array.dtype} {array.shape} {elements}"
        text = stored.text if isinstance(stored, Stored) else repr(stored)
        identity = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        types = [OutputType(kind.dtype, _known(kind))]
        (value,) = opaque("stablehlo:stored", [], (("elements", identity),), types, stem="stored", identity=identity,
                          total=True)  # fmt: skip
        assert value is not None
        return value, identity

    def _is_assertion(self) -> bool:
        """Demand what the module asserts of sizes; what it asserts of elements is not looked at."""
        given = self.operation.attributes
        if self.operation.name != "stablehlo.custom_call" or given.get("call_target_name") != "shape_assertion":
            return False
        if self.results or not self.inputs:
            return False
        evaluation, value = self.evaluation, self.inputs[0]
        if isinstance(value, np.ndarray):
            if not value.all():
                raise ShapeError(f"no sizes meet the assertions of the module\n  in: {self.where}", "infeasible")
            return True
        guard = evaluation.relations.get(self.names[0])
        try:
            if guard is None:
                raise InconclusiveError("an assertion of the module")
            for e in conditions(guard, evaluation.shapes.at_least):
                evaluation.shapes.suppose(e)
        except (InconclusiveError, SymlayoutError):
            evaluation.notes.append(f"an assertion is not read: {_message(given)}")
        return True

    # ------------------------------------------------------------------ values

    def _computed(self) -> Sequence[Value | None] | None:
        """Return the results, by arithmetic on sizes or by the declaration; None if the operation is opaque."""
        if any(isinstance(v, Unshaped | Items) for v in self.inputs):
            return None
        if (made := self._of_sizes()) is not None:
            return made
        if (made := self._position()) is not None:
            return made
        row = self.row
        if row is None or (self.operation.regions and (region := self._region()) is None):
            return None
        given = attributes_of(self.operation.attributes, row, self.where)
        if self.operation.regions:
            assert region is not None
            given |= region
        arguments = self._arguments(row, given)
        if arguments is None:
            return None
        inputs, attributes = arguments
        node = self._node(row.title, attributes)
        made = None
        if row.moves and self.evaluation.is_shape_node("", inputs):
            made = self.evaluation.shape_values(row.title, inputs, attributes, self.where)
        if made is None:
            made = declared_values(self.evaluation, node, inputs)
        return made

    def _of_sizes(self) -> Sequence[Value | None] | None:
        """Return what an operation computes of the shapes of values; None if it does not."""
        evaluation, name, inputs = self.evaluation, self.short, self.inputs
        if name == "get_dimension_size":
            shape = getattr(inputs[0], "shape", None)
            axis = self.operation.attributes.get("dimension")
            if shape is None or not isinstance(axis, int) or not 0 <= axis < len(shape):
                return None
            e = shape[axis]
            return [np.array(e, object if hasattr(e, "free_symbols") else np.int32)]
        if (found := sizes.decided(name, inputs)) is not None and self._has_shape_of(found):
            return [found]
        if not sizes.is_of_sizes(inputs):
            return None
        arrays: list[Any] = list(inputs)
        made: Any = None
        if name == "compare":
            direction = str(attributes_of(self.operation.attributes, self._own_row(), self.where).get(
                "comparison_direction"))  # fmt: skip
            if direction not in sizes.SIGNS:
                return None
            made = sizes.compared(evaluation.shapes, direction, *arrays)
            if made is None and (guard := sizes.guard_of(direction, *arrays)) is not None:
                evaluation.relations[self.results[0]] = guard
        elif name == "sign":
            made = sizes.sign(evaluation.shapes, *arrays)
        elif name == "remainder":
            made = sizes.remainder(evaluation.shapes, *arrays)
        elif self.row is not None and self.row.arithmetic:
            op = self.row.arithmetic
            if evaluation.is_shape_node(op, inputs):
                given = {"to": self.operation.types[0].dtype} if op == "Cast" else {}
                return evaluation.shape_values(op, inputs, given, self.where)
        return None if made is None else [made]

    def _own_row(self) -> OperationRow:
        assert self.row is not None
        return self.row

    def _has_shape_of(self, value: Value) -> bool:
        shape = getattr(value, "shape", None)
        stated = self.operation.types[0].extents
        if shape is None or stated is None or len(shape) != len(stated):
            return False
        return all(n is not None and n == m for n, m in zip(stated, shape, strict=True))

    def _region(self) -> dict[str, Any] | None:
        """Return attributes that say what the region of an operation computes; None if it has no name."""
        operation = self.operation
        if len(operation.regions) != 1 or len(operation.regions[0]) != 1 or len(self.read) != len(self.names):
            return None
        block = operation.regions[0][0]
        if self.short == "sort":
            order = regions.order_name(block) if len(self.names) == 1 else None
            return None if order is None else {"comparator": order}
        if self.short == "scatter":
            names = regions.fold_names(block) if len(self.names) == 3 else None
            return None if names is None else {"body": names[0]}
        if self.short in ("reduce", "reduce_window"):
            names = regions.fold_names(block)
            return None if names is None or "second" in names or "subtract" in names else {"body": names}
        return None

    def _arguments(self, row: OperationRow, given: dict[str, Any]) -> tuple[list[Value | None], dict[str, Any]] | None:
        """Return the operands and attributes of the declaration; None if it does not take these."""
        parameters = inspect.signature(frontends.find(row.title)).parameters
        kind = self.operation.types[0] if self.operation.types else MLIRType(None, None)
        inputs = list(self.inputs)
        if row.shape:
            if kind.extents is None or None in kind.extents:
                return None
            given[row.shape] = list(kind.extents)
        if row.dtype:
            if kind.dtype is None:
                return None
            given[row.dtype] = kind.dtype
        if self.short == "dynamic_iota" and not isinstance(inputs[0], np.ndarray):
            return None
        if row.numbers is not None and all(isinstance(v, np.ndarray) for v in inputs[row.numbers :]):
            starts = [v.item() for v in inputs[row.numbers :] if isinstance(v, np.ndarray)]
            given["starts"], inputs = starts, inputs[: row.numbers]
        if self.short == "dynamic_reshape":
            target, quotients = exact_target(*inputs)  # type: ignore[arg-type]
            inputs = [inputs[0], inputs[1] if target is None else target]
            self.evaluation.exact |= quotients
        return (inputs, given) if given.keys() <= parameters.keys() else None

    def _position(self) -> Sequence[Value | None] | None:
        """Return the position of an extreme, as JAX reduces to it; None for other operations.

        The extreme itself, which JAX does not read, is a function of the operands: of two zeros it may be either.
        """
        operation, evaluation = self.operation, self.evaluation
        if self.short != "reduce" or len(self.inputs) != 4 or len(self.read) != 4:
            return None
        outputs = regions.outputs_of(operation.regions[0][0])
        largest = regions.EXTREMES.get(outputs or ())
        axes = operation.attributes.get("dimensions")
        first, _, start, zero = self.inputs
        if largest is None or not isinstance(axes, list) or len(axes) != 1 or first is None:
            return None
        first = evaluation.tensor(first)
        if first.dtype is None or not isinstance(start, np.ndarray) or not isinstance(zero, np.ndarray):
            return None
        end = np.asarray(end_of_type(first.dtype, lowest=largest), first.dtype)
        if start.shape or start.tobytes() != end.tobytes() or zero.shape or zero.item() != 0:
            return None
        if evaluation.counting.get(self.names[1]) != axes[0]:
            return None
        attributes = {"dimension": axes[0], "largest": largest, "dtype": operation.types[1].dtype}
        node = self._node("stablehlo:arg_extreme", attributes)
        made = declared_values(evaluation, replace(node, stated=node.stated[1:]), [first])
        if made is None or not isinstance(place := made[0], Tensor | np.ndarray):
            return None
        types = [OutputType(first.dtype, tuple(place.shape))]
        operands = [evaluation.tensor(v) for v in self.inputs if v is not None]
        extreme = opaque(
            "stablehlo:reduce", operands, node.key, types, stem="extreme", identity=node.digest, total=True
        )
        return [extreme[0], place]

    def _note_counting(self) -> None:
        given = self.operation.attributes
        if self.short in ("iota", "dynamic_iota") and isinstance(given.get("iota_dimension"), int):
            self.evaluation.counting[self.results[0]] = given["iota_dimension"]

    # ------------------------------------------------------------------ results

    def _fitting(self, made: Sequence[Value | None]) -> list[Value] | None:
        """Return results if they are what the file states of them; None if they are not."""
        results: list[Value] = []
        if len(made) != len(self.results):
            return None
        for value, kind in zip(made, self.operation.types, strict=True):
            if value is None or isinstance(value, Items) or kind.extents is None:
                return None
            if isinstance(value, Tensor | np.ndarray):
                if value.dtype is not None and value.dtype != object and kind.dtype not in (None, value.dtype):
                    value = of_stated_type(value, kind.dtype)
                    if not isinstance(value, Tensor | np.ndarray) or value.dtype != kind.dtype:
                        return None
                if len(value.shape) != len(kind.extents):
                    return None
                for n, stated in zip(value.shape, kind.extents, strict=True):
                    if isinstance(n, int) and stated is not None and n != stated:
                        return None
            results.append(value)
        return results

    def _node(self, title: str, attributes: Mapping[str, Any]) -> FormatNode:
        text = self.reader.texts.of(self.operation)
        stated = tuple((kind.extents, kind.dtype) for kind in self.operation.types)
        digests = [self.evaluation.digests[name] for name in self.read]
        random = self.operation.name in RANDOM or self.operation.attributes.get("has_side_effect") is True
        parts = [self.operation.name, text, *digests, *([str(next(_COUNT))] if random else [])]
        return FormatNode(
            title, self.where, attributes, stated, random=random, key=(("operation", text),), digest=digest_of(parts)
        )


def _known(kind: MLIRType) -> tuple[int, ...] | None:
    if kind.extents is None or None in kind.extents:
        return None
    return tuple(n for n in kind.extents if n is not None)


def _message(given: Mapping[str, Any]) -> str:
    """Return the beginning of what an assertion says."""
    text = str(given.get("error_message", "")).partition(" Using the following")[0]
    return shortened(re.sub(r"\s+", " ", text.removeprefix("Input shapes do not match the polymorphic shapes "
                                                           "specification. ")), 120)  # fmt: skip
