"""Read a model of torch.export: from its nodes to its values as tensors."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.deadlines import at_phase, check_time
from symlayout.errors import LEFT_OUT, FormatError, InconclusiveError, ShapeError, SymlayoutError, one_line, shortened
from symlayout.frontends.onnx.types import cast_to
from symlayout.language.sympy_bridge import to_extent
from symlayout.models.apply_node import identifier
from symlayout.models.arithmetic.shape_arithmetic import Supposed, required, settled
from symlayout.models.evaluate_graph import Evaluation
from symlayout.models.formats import pt2_graph
from symlayout.models.formats.node_values import FormatNode, declared_values, digest_of, of_stated_type
from symlayout.models.formats.pt2_archive import element_type
from symlayout.models.formats.pt2_expressions import (
    SizeGuard,
    conditions,
)
from symlayout.models.formats.pt2_graph import ElementType, NodeRecord, Other, PT2Graph, Ref, Subgraph
from symlayout.models.formats.pt2_sizes import StatedSizes
from symlayout.models.formats.pt2_storage import Storages
from symlayout.models.formats.pt2_targets import COMPARISONS, IGNORED, RANDOM, SILENT, SIZES, TARGETS, OperatorRow
from symlayout.models.formats.pt2_views import PUTS
from symlayout.models.known_dims import KnownDims
from symlayout.models.model import Items, Model, ModelNode, Tensors, Unshaped, Value
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.opaque import OutputType, opaque
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

_COUNT = itertools.count()  # tells values apart that are equal to no other


def read_pt2(file: Path, known: KnownDims) -> Model:
    """Return the model in the ``.pt2`` *file* (see `symlayout.read_model`)."""
    graph = pt2_graph.read(file)
    reader = _Reader(graph, known)
    evaluation = settled(reader.evaluated, len(graph.nodes))
    outputs: dict[str, Tensor | Unshaped] = {}
    for k, ref in enumerate(graph.outputs):
        name = ref.name if isinstance(ref, Ref) else f"output_{k}"
        if name in outputs:
            name = f"{name}:{k}"
        value = evaluation.values[ref.name] if isinstance(ref, Ref) else np.asarray(ref)
        if ref is not None:
            outputs[name] = evaluation.shown(value, name)
    inputs = {name: evaluation.shown(evaluation.inputs[name], name) for name in evaluation.inputs}
    return Model(
        file,
        "PyTorch",
        inputs,
        outputs,
        Tensors(evaluation.values, evaluation.shown),
        tuple(evaluation.nodes),
        graph,
        evaluation.demands,
        demanded_by=evaluation.demanded_by,
        partial=evaluation.partial,
        assumed=evaluation.assumed,
        notes=tuple(dict.fromkeys((*reader.sizes.notes, *evaluation.notes))),
    )


class PT2Evaluation(Evaluation):
    """The values of a graph by their names in the file; those that a write changes have their last value."""

    def __init__(self, graph: PT2Graph, exact: Collection[Any]) -> None:
        super().__init__({}, exact, len(graph.nodes))
        self.exact = set(exact)
        self.nodes: list[ModelNode] = []
        self.digests: dict[str, str] = {}
        self.inputs: dict[str, Value] = {}
        self.notes: list[str] = []
        outputs = (ref.name for ref in graph.outputs if isinstance(ref, Ref))
        self.storages = Storages.of(graph.nodes, outputs)
        self.relations: dict[str, SizeGuard] = {}

    def set(self, name: str, value: Value, digest: str) -> None:
        """Give a value its name, and text that two values share only if they are equal."""
        self.define(name, value)
        self.digests[name] = digest

    def number(self, ref: Ref) -> Any:
        """Return a number of the graph, an int or an expression; None if it is not known."""
        value = self.values[ref.name]
        if not isinstance(value, np.ndarray) or value.ndim:
            return None
        return value.item()


class _Reader:
    """Reads one graph, as often as more is known to be exact."""

    def __init__(self, graph: PT2Graph, known: KnownDims) -> None:
        self.graph, self.known = graph, known
        self.sizes = StatedSizes(graph)

    def evaluated(self, exact: Collection[Any]) -> tuple[PT2Evaluation, set[Any]]:
        """Return the values of the graph, and the rounded quotients that some node requires to be exact."""
        hints = {*exact, *self.sizes.hints}
        evaluation = PT2Evaluation(self.graph, hints)
        self._define_inputs(evaluation, hints)
        for k, node in enumerate(self.graph.nodes):
            check_time()
            at_phase("read", k, len(self.graph.nodes))
            _Step(self, evaluation, node).apply()
            read = tuple(ref.name for ref in node.refs())
            written = tuple(ref.name for ref in node.outputs if ref is not None)
            if written:
                op = node.target.removeprefix("aten.")
                evaluation.nodes.append(ModelNode(node.name, op, "torch", read, written, 0, node))
        return evaluation, evaluation.exact | evaluation.shapes.supposed

    def _define_inputs(self, evaluation: PT2Evaluation, hints: Collection[Any]) -> None:
        leaves: set[str] = set()
        found: dict[str, Tensor] = {}
        for record in self.graph.inputs:
            if record.stored:
                evaluation.set(record.name, *self._stored(record))
            elif record.ref is not None and record.ref.number:
                leaf = tensor((), np.int64, identifier(record.name, leaves))
                found[record.name] = leaf
            elif record.ref is not None:
                stated = self.graph.stated.get(record.name)
                sizes = None if stated is None else [self.sizes.size(size) for size in stated.sizes]
                if stated is None or sizes is None or None in sizes:
                    raise FormatError(f"the sizes of the input {shortened(record.name)!r} are not read")
                leaf = self.known.of_leaf(tensor(sizes, stated.dtype, identifier(record.name, leaves)))
                found[record.name] = required(leaf, hints)
                evaluation.shapes.leaf_dims.append(set(leaf.facts.dims))
        dims = [set(leaf.facts.dims) for leaf in found.values()]
        for e in sorted((hint.value for hint in hints if isinstance(hint, Supposed)), key=str):
            names = {s.name for s in e.free_symbols}
            if not any(names <= known for known in dims):  # it is about several inputs
                for leaf in [leaf for leaf in found.values() if names & leaf.facts.dims.keys()][:1]:
                    leaf.facts.require_nonnegative(to_extent(e, leaf.facts), LEFT_OUT, "shape of the inputs")
        for name, leaf in found.items():
            evaluation.inputs[name] = leaf
            evaluation.set(name, leaf, f"input {name}")

    def _stored(self, record: pt2_graph.InputRecord) -> tuple[Value, str]:
        """Return a weight, and its digest."""
        value = self.graph.tensors[record.stored]
        if isinstance(value, np.ndarray):
            elements = hashlib.sha256(value.tobytes()).hexdigest() if value.size <= MAX_CONSTANT else next(_COUNT)
            return value, f"{value.dtype} {value.shape} {elements}"
        types = [self.sizes.type_of(record.name)]
        key = (("elements", value),)
        (made,) = opaque("torch:stored", [], key, types, stem="stored", identity=value, total=True)
        assert made is not None
        return made, value


class _Step:
    """Applies one node."""

    def __init__(self, reader: _Reader, evaluation: PT2Evaluation, node: NodeRecord) -> None:
        self.reader, self.evaluation, self.node = reader, evaluation, node
        self.where = str(node)
        self.row, self.in_place = _row_of(node.target)

    def apply(self) -> None:
        """Give the outputs of the node their values."""
        node, evaluation = self.node, self.evaluation
        if node.target in SILENT or self._is_assertion():
            return
        if any(ref is not None and ref.number for ref in node.outputs) and self._number():
            return
        if node.target == pt2_graph.ALIAS:
            (given,), (made,) = [*node.refs()], node.outputs
            assert made is not None
            evaluation.set(made.name, evaluation.values[given.name], evaluation.digests[given.name])
            evaluation.storages.link(made.name, given.name, certain=True, view=_same, put=_same_of)
            return
        values = self._declared()
        fitting = None if values is None else self._fitting(values)
        results = self._opaque() if fitting is None else fitting
        self._write(results, known=fitting is not None)

    # ------------------------------------------------------------------ numbers

    def _is_assertion(self) -> bool:
        """Demand what the graph asserts of sizes; what it asserts of elements is not looked at."""
        if self.node.target != "aten._assert_scalar.default":
            return False
        refs = [*self.node.refs()]
        guard = self.evaluation.relations.get(refs[0].name) if refs else None
        if guard is None:
            return True
        try:
            for e in conditions(guard, self.evaluation.shapes.at_least):
                self.evaluation.shapes.suppose(e)
        except (InconclusiveError, SymlayoutError):
            self.evaluation.notes.append(f"an assertion is not read: {self.where}")
        return True

    def _number(self) -> bool:
        """Compute a number of sizes; False if the node computes none that is known."""
        node, evaluation = self.node, self.evaluation
        (ref, *more) = node.outputs
        if ref is None or more:
            return False
        given = dict(node.inputs)
        if node.target in ("aten.sym_size.int", "aten.sym_numel.default"):
            source = given.get("self")
            value = evaluation.values[source.name] if isinstance(source, Ref) else None
            shape = value.shape if isinstance(value, Tensor | np.ndarray) else None
            if shape is None:
                return False
            axis = given.get("dim", 0)
            if node.target.endswith("numel.default"):
                made: Any = 1
                for n in shape:
                    made = made * n
            elif type(axis) is int and -len(shape) <= axis < len(shape):
                made = shape[axis]
            else:
                raise FormatError(f"{self.where} has axis {shortened(str(axis), 20)} of {len(shape)}")
            return self._set_number(ref, made)
        numbers = [evaluation.number(v) if isinstance(v, Ref) else v for _, v in node.inputs]
        if any(n is None or isinstance(n, str | float | tuple) for n in numbers):
            return False
        if node.target in COMPARISONS and len(numbers) == 2:
            evaluation.relations[ref.name] = SizeGuard(numbers[0], COMPARISONS[node.target], numbers[1])
            return False
        if node.target not in SIZES:
            return False
        arrays = [np.array(n, object) for n in numbers]
        made = evaluation.shape_values(SIZES[node.target], arrays, {}, self.where)
        return made is not None and isinstance(made[0], np.ndarray) and self._set_number(ref, made[0].item())

    def _set_number(self, ref: Ref, value: Any) -> bool:
        made = np.array(value, object if hasattr(value, "free_symbols") else np.int64)
        self.evaluation.set(ref.name, made, f"number {value}")
        return True

    # ------------------------------------------------------------------ arguments

    def _arguments(self, row: OperatorRow) -> tuple[list[Value | None], dict[str, Any]] | None:
        """Return the operands and attributes of the declaration; None if it does not take these arguments."""
        parameters = inspect.signature(frontends.find(row.title)).parameters
        names = dict(row.names)
        given: dict[str, Any] = {}
        rest: list[Value | None] = []
        lists = dict(self.node.inputs)
        for key in row.rest:
            entries = lists.get(key, ())
            found = self._value(entries if isinstance(entries, tuple) else (entries,), operands=True)
            if found is _UNKNOWN:
                return None
            rest += found
        for key, value in self.node.inputs:
            if key in row.rest:
                continue
            name = names.get(key, "input" if key == "self" else key)
            if name not in parameters:
                if key in IGNORED:
                    continue
                return None
            joint = frontends.is_joint(row.title) and isinstance(value, tuple) and name == next(iter(parameters))
            found = self._value(value, operands=joint)
            if found is _UNKNOWN:
                return None
            if joint:
                rest = found
            else:
                given[name] = found
        if "outputs" in parameters and "dim" in parameters and len(self.node.outputs) == 1:
            given["outputs"] = 1
        if frontends.is_joint(row.title):
            return rest, given
        return _in_order(parameters, given, rest)

    def _value(self, value: Any, *, operands: bool = False) -> Any:
        """Return an argument as a declaration takes it; `_UNKNOWN` for one that it does not."""
        if isinstance(value, Ref):
            return self.evaluation.values[value.name]
        if isinstance(value, ElementType):
            return _UNKNOWN if (dtype := element_type(value.number)) is None else dtype
        if isinstance(value, Other):
            return None if value.kind in ("as_device", "as_memory_format", "as_layout") else _UNKNOWN
        if isinstance(value, Subgraph):
            return _UNKNOWN
        if not isinstance(value, tuple):
            return value
        if operands:
            found = [self.evaluation.values[v.name] if isinstance(v, Ref) else v for v in value]
            return found if all(v is None or not isinstance(v, int | float | str) for v in found) else _UNKNOWN
        numbers = [self.evaluation.number(v) if isinstance(v, Ref) else v for v in value]
        if any(n is None for n in numbers):
            return _UNKNOWN
        symbolic = any(hasattr(n, "free_symbols") for n in numbers)
        return np.array(numbers, object) if symbolic else numbers

    def _declared(self) -> list[Value | None] | None:
        """Return the outputs by the declaration; None if there is none, or it does not take these arguments."""
        row = self.row
        if row is None or self._is_random() or (self.in_place and row.alias and row.title not in _SAME_IN_PLACE):
            return None
        arguments = self._arguments(row)
        if arguments is None or (row.title == "torch:as_strided" and not self._is_whole_storage()):
            return None
        return self._of_row(row, *arguments)

    def _of_row(
        self, row: OperatorRow, inputs: Sequence[Value | None], attributes: Mapping[str, Any]
    ) -> list[Value | None] | None:
        """Return what a declaration makes of operands and attributes; None if nothing."""
        if any(isinstance(v, Unshaped | Items) for v in inputs):
            return None
        stated = tuple((None, None) for _ in self.node.outputs)
        node = FormatNode(row.title, self.where, attributes, stated)
        try:
            made = declared_values(self.evaluation, node, inputs)
        except ShapeError as error:
            if error.kind in ("attr_unknown", "attr_missing"):
                return None
            raise
        return None if made is None else list(made)

    def _is_random(self) -> bool:
        base = self.node.target.split(".")[1] if self.node.target.count(".") > 1 else ""
        if base.rstrip("_") not in RANDOM:
            return False
        return "dropout" not in base or dict(self.node.inputs).get("train", True) is not False

    def _is_whole_storage(self) -> bool:
        """Return whether the first operand is contiguous, and all of its storage."""
        ref = next(self.node.refs())
        return self.reader.graph.stated[ref.name].plain and not self.evaluation.storages.is_view(ref.name)

    # ------------------------------------------------------------------ results

    def _fitting(self, made: Sequence[Value | None]) -> list[Value] | None:
        """Return results if they are what the file states of them; None if they are not."""
        results: list[Value] = []
        refs = self.node.outputs
        if len(made) != len(refs):
            return None
        for ref, value in zip(refs, made, strict=True):
            if value is None or isinstance(value, Items):
                return None
            stated = self.reader.graph.stated.get(ref.name) if ref is not None else None
            if stated is not None and isinstance(value, Tensor | np.ndarray):
                if self.in_place and isinstance(value, Tensor):
                    value = cast_to(value, stated.dtype)
                value = of_stated_type(value, stated.dtype)
                assert isinstance(value, Tensor | np.ndarray)
                if len(value.shape) != len(stated.sizes):
                    return None
                if value.dtype is not None and value.dtype != object and stated.dtype not in (None, value.dtype):
                    return None
                for n, size in zip(value.shape, stated.sizes, strict=True):
                    if isinstance(n, int) and isinstance(size, int) and n != size:
                        return None
            results.append(value)
        return results

    def _digest(self) -> str:
        parts = [self.node.target]
        for key, value in self.node.inputs:
            parts.append(f"{key}={self._text(value)}")
        if self._is_random():
            parts.append(str(next(_COUNT)))
        return digest_of(parts)

    def _text(self, value: Any) -> str:
        if isinstance(value, Ref):
            return self.evaluation.digests.get(value.name, value.name)
        if isinstance(value, tuple):
            return f"[{', '.join(map(self._text, value))}]"
        if isinstance(value, Subgraph):
            return hashlib.sha256(json.dumps(value.data, sort_keys=True).encode()).hexdigest()
        return repr(value)

    def _opaque(self) -> list[Value]:
        """Return the outputs as functions of whole operands, with the shapes that the file states."""
        evaluation, digest = self.evaluation, self._digest()
        partly, evaluation.partly = evaluation.partly, None
        operands: list[Tensor | None] = []
        key: list[tuple[str, Any]] = []
        for name, value in self.node.inputs:
            entries = value if isinstance(value, tuple) else (value,)
            plan = []
            for entry in entries:
                if isinstance(entry, Ref):
                    plan.append(f"operand {len(operands)}")
                    operands.append(evaluation.tensor(evaluation.values[entry.name]))
                elif isinstance(entry, Subgraph):
                    plan.append(self._text(entry))
                else:
                    plan.append(repr(entry))
            key.append((name, tuple(plan) if isinstance(value, tuple) else plan[0]))
        refs = [ref for ref in self.node.outputs if ref is not None]
        types = [OutputType(None, ()) if ref.number else self.reader.sizes.type_of(ref.name) for ref in refs]
        merged = types if partly is None or len(partly.types) != len(types) else partly.merged(types)
        random = self._is_random()
        stem = f"{identifier(self.node.target.removeprefix('aten.').partition('.')[0][:40], set())}_{digest[:6]}"
        made = opaque(
            f"torch:{self.node.target}", operands, tuple(key), merged, stem=stem, identity=digest, random=random,
            total=random, demands=() if partly is None else partly.demands,
        )  # fmt: skip
        return [value for value in made if value is not None]

    def _write(self, results: Sequence[Value], *, known: bool) -> None:
        """Give outputs their values, and note or do what a write in place means for others."""
        evaluation, digest = self.evaluation, self._digest()
        refs = [ref for ref in self.node.outputs if ref is not None]
        for k, (ref, value) in enumerate(zip(refs, results, strict=True)):
            evaluation.note_type(value, np.dtype(np.int64))
            evaluation.set(ref.name, value, f"{digest}.{k}")
        tensors = [ref.name for ref in self.node.refs() if not ref.number]
        if self.in_place and tensors and refs:
            self._overwrite(tensors[0], results[0] if known else None, digest)
            evaluation.storages.link(refs[0].name, tensors[0], certain=True, view=_same, put=_same_of)
        elif self._may_write():
            for name in tensors:
                self._overwrite(name, None, digest)
        if self.in_place or not tensors:
            return
        alias = self.row.alias if self.row is not None else "maybe"
        if alias:
            for k, ref in enumerate(refs):
                view, put = self._view(k), self._put(k)
                evaluation.storages.link(ref.name, tensors[0], certain=alias == "view" and known, view=view, put=put)

    def _may_write(self) -> bool:
        """Return whether a target may write to what it reads."""
        space, _, name = self.node.target.partition(".")
        if self.row is not None:
            return False
        return space not in _FUNCTIONAL or name.endswith(".out") or name.split(".")[0].endswith("_")

    def _overwrite(self, name: str, value: Value | None, digest: str) -> None:
        """Replace a value, and all that are in its storage."""
        evaluation = self.evaluation
        number = self.node.number
        new: dict[str, Any] = {}
        if value is None:
            unknown = evaluation.storages.together(name, number)
        else:
            new, unknown = evaluation.storages.written(name, number, value, evaluation.values)
        for key, made in new.items():
            evaluation.set(key, made, f"{digest}.{key}")
        for key in unknown:
            what = digest_of([digest, key, str(next(_COUNT))])
            key_type = self.reader.sizes.type_of(key)
            stem = f"written_{what[:6]}"
            (lost,) = opaque("torch:written", [], (("what", what),), [key_type], stem=stem, identity=what, random=True,
                             total=True)  # fmt: skip
            assert lost is not None
            evaluation.set(key, lost, what)
            evaluation.notes.append(f"{one_line(key, 40)!r} is not known after a write in place: {self.where}")

    def _view(self, number: int) -> Any:
        """Return how output *number* follows from the first operand; None if it has no declaration."""
        row = self.row
        arguments = None if row is None else self._arguments(row)
        if row is None or arguments is None:
            return None
        inputs, attributes = arguments

        def view(base: Value) -> Value | None:
            made = self._of_row(row, [base, *inputs[1:]], attributes)
            return None if made is None or number >= len(made) else made[number]

        return view

    def _put(self, number: int) -> Any:
        """Return how the first operand follows from output *number* and itself; None if that is not known."""
        row = self.row
        arguments = None if row is None else self._arguments(row)
        if row is None or arguments is None or row.title not in PUTS:
            return None
        given = dict(arguments[1])
        parameters = list(inspect.signature(frontends.find(row.title)).parameters)
        given.update(zip(parameters, arguments[0], strict=False))
        given.pop("input", None)
        parts = [self.evaluation.values[ref.name] for ref in self.node.outputs if ref is not None]

        def put(base: Value, view: Value) -> Value | None:
            tensors = [self.evaluation.tensor(v) for v in (base, view)]
            try:
                made = PUTS[row.title](*tensors, given, number, parts)
            except (ShapeError, InconclusiveError):
                return None
            return self.evaluation.folded([made], [base, view])[0]

        return put


_UNKNOWN = object()
_SAME_IN_PLACE = ("torch:clone", "torch:dropout")  # which leave what they write to as it is
_FUNCTIONAL = ("aten", "prims", "torchvision", "higher_order", "_operator", "math", "torch", "quantized_decomposed")


def _same(base: Any) -> Any:
    return base


def _same_of(base: Any, view: Any) -> Any:
    return view


def _row_of(target: str) -> tuple[OperatorRow | None, bool]:
    """Return the row of a target, and whether it writes in place."""
    if target in TARGETS:
        return TARGETS[target], False
    space, _, rest = target.partition(".")
    base, _, overload = rest.partition(".")
    if not base.endswith("_") or base.endswith("__"):
        return None, False
    return TARGETS.get(f"{space}.{base[:-1]}.{overload}"), True


def _in_order(
    parameters: Mapping[str, inspect.Parameter], given: dict[str, Any], rest: list[Value | None]
) -> tuple[list[Value | None], dict[str, Any]] | None:
    """Return arguments as operands up to the last one that is a value, and the others by name."""
    order = [p for p in parameters.values() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    if any(
        str(p.annotation).startswith("Tensor") and "Any" not in str(p.annotation)
        and not isinstance(given.get(p.name), Tensor | np.ndarray | Unshaped | Items | None)
        for p in order
    ):  # fmt: skip
        return None
    values = [k for k, p in enumerate(order) if isinstance(given.get(p.name), Tensor | np.ndarray | Unshaped | Items)]
    last = len(order) if rest else max(values, default=-1) + 1
    inputs: list[Value | None] = []
    for p in order[:last]:
        value = given.pop(p.name, None if p.default is inspect.Parameter.empty else p.default)
        if value is None or isinstance(value, Tensor | np.ndarray | Unshaped | Items):
            inputs.append(value)
        elif isinstance(value, bool | int | float):
            inputs.append(
                np.asarray(int(value) if isinstance(value, bool) and "Tensor" not in str(p.annotation) else value)
            )
        elif isinstance(value, list | tuple) and all(isinstance(e, int | float) for e in value):
            inputs.append(np.asarray(value, None if value else np.int64))
        else:
            return None
    return [*inputs, *rest], given
