"""Apply the operations of a graph: through their declarations where there are any, as opaque functions otherwise.

A value is a tensor, or an array of numbers and expressions in dims where a model makes a shape of it.  An array becomes
a tensor where an operation reads its elements as data.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, MutableMapping, Sequence
from math import copysign, prod
from typing import Any

import numpy as np

from symlayout import frontends
from symlayout.algebra.facts import Facts, Requirement
from symlayout.deadlines import in_question
from symlayout.errors import LEFT_OUT, FormatError, InconclusiveError, SymlayoutError, shortened
from symlayout.frontends.onnx.types import cast_to
from symlayout.frontends.parameters import needed_tensors, takes_outputs, takes_sizes, takes_tensors
from symlayout.frontends.registry import NotDeclaredError
from symlayout.frontends.slices import PAST_THE_END
from symlayout.maps.interpreter import interpret
from symlayout.maps.runtime_rounding import depends_on_runtime, has_fractions, largest_of, rounding_of, share_of
from symlayout.models.arithmetic.choices import is_open
from symlayout.models.arithmetic.real_arithmetic import Real
from symlayout.models.arithmetic.shape_arithmetic import INT32, REAL_OPS, ShapeNodes
from symlayout.models.arithmetic.shape_arrays import NotComputedError, is_small
from symlayout.models.model import Items, Unshaped, Value, constant_tensor
from symlayout.models.model_file import MAX_CONSTANT
from symlayout.models.opaque import DimPlace, OutputType, numbers_of_dims, opaque
from symlayout.models.open_shapes import ElementsReadLater, OpenShapes, open_shapes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import STRING

MAX_FOLDED = 1 << 16  # elements of the constants that a node may read to be computed at once
_LEAST_BYTES = 4  # of a type in which a size is taken to fit


class Evaluation:
    """The values of a graph, computed one node at a time.

    Attributes
    ----------
    values : mutable mapping
        The values by name.
    demands : dict
        For each value the requirements that it was the first to state.  Those of branches and loops, which may not be
        taken, are not among them.
    demanded_by : dict
        These values, those too that are inside a branch that is always taken.
    partial : list of Tensor
        Values, and steps within nodes, that are not valid for all elements of what they read, or of which that is not
        known.
    assumed : dict
        For each value what the reader demands of it beyond the standard: its demands of kind `LEFT_OUT`.
    partly : OpenShapes or None
        What the declaration of the last node says of its results where it is not all of their meaning: some extents
        depend on data.
    undeclared : NotDeclaredError or None
        Why the last operation that has a row has no meaning with its attributes.
    same_bits : bool
        Whether constants are computed only where all runtimes compute the same bits.  Others stay functions of the
        constants that they read, but for single elements, which may be needed for a shape.
    """

    def __init__(
        self,
        values: MutableMapping[str, Value],
        hints: Collection[Any] = (),
        nodes: int = 0,
        *,
        same_bits: bool = False,
    ) -> None:
        self.values, self.same_bits = values, same_bits
        self.shapes = ShapeNodes(hints, nodes)
        self.undeclared: NotDeclaredError | None = None
        self.demands: dict[str, tuple[Requirement, ...]] = {}
        self.demanded_by: dict[str, Tensor] = {}
        self.partial: list[Tensor] = []
        self.assumed: dict[str, tuple[Requirement, ...]] = {}
        self._stated: set[tuple[Any, ...]] = set()
        self._tensors: dict[int, tuple[Any, Tensor]] = {}  # of arrays, by id
        self._places: dict[str, tuple[Tensor, int]] = {}  # by dim: a tensor and an axis that has it as extent
        self._walked: dict[int, Tensor] = {}  # what values are made of, by id
        self._known_facts: dict[int, Facts] = {}  # whose requirements were looked at, by id
        self._choices: dict[int, tuple[Tensor, np.ndarray[Any, Any]]] = {}  # what integers depend on, by tensor
        self._reals: dict[int, tuple[Tensor, np.ndarray[Any, Any]]] = {}  # what floats stand for, by tensor
        self._rounded: dict[int, tuple[np.ndarray[Any, Any], float]] = {}  # see `is_by_runtime`, with how far, by id
        self.partly: OpenShapes | None = None
        self.elements = ElementsReadLater()
        self._noted_types: dict[int, tuple[Value, np.dtype[Any]]] = {}  # of integers of shapes, by id

    # ------------------------------------------------------------------ values

    def define(self, name: str, value: Value) -> None:
        """Give a value its name, and note where it shows dims and what it demands."""
        self.values[name] = value
        self._note_partial(value)
        if not isinstance(value, Tensor):
            return
        facts = value.facts
        for axis, e in enumerate(value.extents):
            if isinstance(e, int):
                continue
            for dim in e.names & facts.dims.keys():
                if dim not in self._places and set(e.terms) <= {(dim,), ()}:
                    self._places[dim] = (value, axis)
        if id(facts) in self._known_facts:
            return
        self._known_facts[id(facts)] = facts
        news = []
        for r in facts.requirements:
            key = (r.kind, r.relation, r.value, r.modulus)
            if key not in self._stated:
                self._stated.add(key)
                news.append(r)
        if news:
            self.demands[name] = tuple(news)
            if left_out := tuple(r for r in news if r.kind == LEFT_OUT):
                self.assumed[name] = left_out
            self.demanded_by[name] = value

    def _note_partial(self, value: Value) -> None:
        """Note of what a value is made what may not be valid for all elements: steps within a node, too."""
        made = value.elements if isinstance(value, Items) else (value,)
        waiting = [t.handle if isinstance(t, Unshaped) else t for t in made]
        while waiting:
            t = waiting.pop()
            if isinstance(t, Tensor) and id(t) not in self._walked:
                self._walked[id(t)] = t
                waiting += t.inputs
                if t.body is not None and t.body.is_partial:
                    self.partial.append(t)

    def tensor(self, value: Value, name: str = "constant") -> Tensor:
        """Return a value as a tensor: arrays become constants, or functions of the shapes that show their dims."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, Unshaped):
            return value.handle
        if isinstance(value, Items):
            raise FormatError(f"{shortened(name)!r} is a sequence, not a tensor")
        if id(value) not in self._tensors:
            if has_expressions(value):
                made = cast_to(self._of_dims(value), self._noted_type(value))
            else:
                array = value.astype(t) if (t := self._noted_type(value)) else value
                made = constant_tensor(array, name, self._rounding_of(value))
            self._tensors[id(value)] = value, made
        return self._tensors[id(value)][1]

    def shown(self, value: Value, name: str = "constant") -> Tensor | Unshaped:
        """Return a value as users read it: a tensor, or what has no known rank."""
        if isinstance(value, Unshaped):
            return value
        if isinstance(value, Items):
            lengths = (("length", len(value.elements)),)
            parts = [self.tensor(v, name) for v in value.elements]
            types = [OutputType(None, None, "sequence")]
            (made,) = opaque("sequence", parts, lengths, types, stem="sequence", identity="", total=True)
            assert isinstance(made, Unshaped)
            return made
        return self.tensor(value, name)

    def _of_dims(self, value: np.ndarray[Any, Any]) -> Tensor:
        symbols = list(
            dict.fromkeys(s for e in value.reshape(-1) for s in sorted(getattr(e, "free_symbols", ()), key=str))
        )
        views: list[Tensor] = []
        places = []
        for s in symbols:
            if s.name not in self._places:
                raise FormatError(f"no value of the graph has the extent {s}")
            source, axis = self._places[s.name]
            if not any(v is source for v in views):
                views.append(source)
            e = source.extents[axis]
            assert not isinstance(e, int)
            number = next(k for k, v in enumerate(views) if v is source)
            places.append((source, DimPlace(s, number, axis, e.terms[s.name,], e.terms.get((), 0))))
        return numbers_of_dims(value, views, tuple(p for _, p in places))

    def is_by_runtime(self, value: Value) -> bool:
        """Return whether a value is a constant whose last bits may be others in other runtimes."""
        return id(value) in self._rounded

    def _rounding_of(self, value: Value | None) -> float:
        """Return how far a constant may be from what another runtime computes."""
        if isinstance(value, Tensor):
            return value.rounding
        return self._rounded[id(value)][1] if id(value) in self._rounded else 0.0

    def note_type(self, value: Value | None, dtype: np.dtype[Any] | None) -> None:
        """Note the element type of integers that a model computes from dims; without a note it is int64."""
        if not isinstance(value, np.ndarray) or value.dtype != object:
            return
        if dtype is not None and dtype.kind in "iu" and dtype != np.int64:
            self._noted_types[id(value)] = value, dtype

    def _noted_type(self, value: Value | None) -> np.dtype[Any] | None:
        return self._noted_types[id(value)][1] if id(value) in self._noted_types else None

    def _note_types(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        made: Iterable[np.ndarray[Any, Any]],
    ) -> None:
        """Note the element type of the results of an operation on shapes: that of what they are computed from."""
        if op == "Cast":
            dtype = attributes["to"]
        elif op in _OF_INT64 or not inputs:
            return
        else:
            source = inputs[1 if op == "Where" else 0]
            dtype = (
                source.dtype if isinstance(source, np.ndarray) and source.dtype != object else self._noted_type(source)
            )
        for value in made:
            if not any(type(n) is bool for n in value.reshape(-1)):
                self.note_type(value, dtype)

    # ------------------------------------------------------------------ operations

    def is_shape_node(self, op: str, inputs: Sequence[Value | None]) -> bool:
        """Return whether a node computes with numbers of shapes: integers that are exact, as sizes are.

        Other constants, and integers that may wrap, have the meaning of the operation's declaration.
        """
        if op in ("Shape", "Size"):
            return True
        arrays = [v for v in inputs if isinstance(v, np.ndarray)]
        if op in _DIVIDING and arrays and arrays[-1].dtype.kind in "iu" and not arrays[-1].all():
            return not any(isinstance(v, Tensor) for v in inputs)  # there is no quotient, which is an error there
        if any(isinstance(v, Tensor) for v in inputs) or not any(v.dtype == object for v in arrays):
            return False
        types = [self._noted_type(v) or v.dtype for v in arrays]
        return all(t.kind not in "iu" or (t.kind == "i" and t.itemsize >= _LEAST_BYTES) for t in types)

    def shape_values(
        self, op: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], where: str
    ) -> list[Value] | None:
        """Return the outputs of an operation on arrays, or on a shape; None if that is not possible."""
        if any(isinstance(v, np.ndarray) and not is_small(v) for v in inputs):
            return None
        if any(isinstance(v, Unshaped | Items) for v in inputs):
            return None
        try:
            made: list[Any] = list(self.shapes.compute(op, inputs, attributes, where))  # type: ignore[arg-type]
        except (NotComputedError, InconclusiveError):
            return None
        self._note_types(op, inputs, attributes, made)
        if any(id(v) in self._rounded for v in inputs):
            fractions = [v for v in made if has_fractions(v.dtype)]
            if self.same_bits and any(v.size > 1 for v in fractions):
                return None
            share = max(share_of(v, self._rounding_of(v)) for v in inputs if isinstance(v, np.ndarray))
            self._rounded.update((id(v), (v, 2 * share * largest_of(v))) for v in fractions)
        return made

    def with_reals(
        self,
        op: str,
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        results: list[Value],
        where: str,
    ) -> list[Value]:
        """Note what the floats in the result of a node stand for; return the integers that they are cast to.

        *attributes* has the element type ``to`` of a Cast as a NumPy dtype.
        """
        to = attributes.get("to") if op == "Cast" else None
        starts = to is not None and to.kind == "f" and isinstance(v := inputs[0], np.ndarray) and v.dtype == object
        if not starts and (op not in REAL_OPS or not any(self._is_real(v) for v in inputs)):
            return results
        if to is not None and (to.kind not in "if" or to.itemsize < _LEAST_BYTES):
            return results  # a size may wrap, or be rounded
        given = [self.reals_of(v) for v in inputs]
        if to is not None and to.kind == "i":
            whole = None if given[0] is None else self.shapes.integers_of(given[0])
            self.note_type(whole, to)
            return results if whole is None else [whole]
        made = self.shapes.reals(op, given, {k: v for k, v in attributes.items() if k != "to"}, where)
        if made is not None and len(results) == 1 and isinstance(results[0], Tensor):
            self._reals[id(results[0])] = results[0], made
        return results

    def _is_real(self, value: Value | None) -> bool:
        return isinstance(value, Tensor) and id(value) in self._reals

    def reals_of(self, value: Value | None) -> np.ndarray[Any, Any] | None:
        """Return the numbers, expressions or `Real` that a small value stands for; None if they are not known."""
        if isinstance(value, Tensor):
            if id(value) in self._reals:
                return self._reals[id(value)][1]
            value = value.values
        return value if isinstance(value, np.ndarray) and is_small(value) else None

    def whole_number(self, number: np.ndarray[Any, Any]) -> Any:
        """Return the integer or expression that a number, an expression or a `Real` stands for; None if it is none."""
        one = number.reshape(()).item()
        if isinstance(one, Real):
            return None if (whole := self.shapes.whole(number.reshape(()))) is None else whole.item()
        if isinstance(one, float):
            return int(one) if one.is_integer() and (one or copysign(1, one) > 0) else None  # -0.0 is no integer
        return one if isinstance(one, int) or hasattr(one, "free_symbols") else None

    def type_of(self, value: Value | None) -> np.dtype[Any] | None:
        """Return the element type of a tensor, of a constant, or of integers that a model computes from dims."""
        if isinstance(value, np.ndarray) and value.dtype == object:
            return self._noted_type(value) or np.dtype(np.int64)
        return value.dtype if isinstance(value, np.ndarray | Tensor) else None

    def ends_of_range(self, inputs: Sequence[Value | None]) -> list[Any] | None:
        """Return start, limit and step of a range of dims, as integers and expressions; None for other ranges.

        Its length is known then, and its elements are not.  The inputs may be floats that stand for integers.
        """
        found = [None if (n := self.reals_of(v)) is None or n.size != 1 else self.whole_number(n) for v in inputs]
        of_dims = len(found) == 3 and any(hasattr(n, "free_symbols") for n in found)
        return found if of_dims and all(n is not None for n in found) else None

    def range_of(self, inputs: Sequence[Value | None], ends: list[Any]) -> Tensor:
        """Return a range of dims in the element type of its inputs, which holds sizes exactly."""
        numbers = [np.array(n, object) if hasattr(n, "free_symbols") else np.array(n) for n in ends]
        made = frontends.find("onnx:Range")(*numbers)
        types = {self.type_of(v) for v in inputs} - {np.dtype(np.int64)}
        return cast_to(made, types.pop()) if types else made

    def counts_up(self, ends: list[Any]) -> bool:
        """Return whether a range of dims goes up to an end that is not below its start.

        That is a number, or, with steps of 1, a size: then the range is the end of one that starts at 0.
        """
        start, limit, delta = ends
        up = isinstance(delta, int) and delta > 0
        known = isinstance(start, int) or (up and delta == 1 and self.shapes.at_least(start, 0))
        return up and known and self.shapes.at_least(limit - start, 0)

    def with_choices(
        self, op: str, inputs: Sequence[Value | None], attributes: Mapping[str, Any], results: list[Value], where: str
    ) -> list[Value]:
        """Note which integers a node chooses by comparing dims; return them as expressions where no choice is left."""
        starts = op == "Equal" and any(isinstance(v, np.ndarray) and has_expressions(v) for v in inputs)
        if len(results) != 1 or not (starts or any(id(v) in self._choices for v in inputs)):
            return results
        given = [self.choices_of(v) for v in inputs]
        made = self.shapes.choices(op, given, attributes, where)
        if made is None or not isinstance(results[0], Tensor):
            return results
        if not is_open(made.reshape(-1)):
            return [made]
        self._choices[id(results[0])] = results[0], made
        return results

    def choices_of(self, value: Value | None) -> np.ndarray[Any, Any] | None:
        """Return the integers, expressions and choices of a small value; None if they are not known."""
        return self._choices[id(value)][1] if id(value) in self._choices else self.reals_of(value)

    def ends_of(self, data: Value | None, ends: Value | None, axes: Value | None) -> Value | None:
        """Return the ends of a slice of *data*, as expressions where the model chooses them by comparing dims.

        A number beyond the axis stays one: a start may lie beyond the axis too.
        """
        chosen = self.choices_of(ends)
        if not isinstance(data, Tensor) or chosen is None:
            return ends
        along = np.arange(chosen.size) if axes is None else self.reals_of(axes)
        if chosen.ndim != 1 or along is None or along.shape != chosen.shape:
            return ends
        if any(not isinstance(axis, int) or not -data.rank <= axis < data.rank for axis in along.tolist()):
            return ends
        wanted = chosen.tolist()
        if all(isinstance(n, int) and n < INT32 for n in wanted):
            return ends
        try:
            found = [self.shapes.end_of(n, data.shape[axis]) for n, axis in zip(wanted, along.tolist(), strict=True)]
        except InconclusiveError:
            return ends
        found = [PAST_THE_END if isinstance(n, int) and e != n else e for n, e in zip(wanted, found, strict=True)]
        return ends if is_open(found) or found == wanted else np.array(found, object)

    def declared(
        self,
        titles: Iterable[str],
        inputs: Sequence[Value | None],
        attributes: Mapping[str, Any],
        where: str,
        outputs: int = 1,
    ) -> list[Value] | None:
        """Return the outputs of the first operation of *titles* that has a declaration; None if there is none.

        Nor is there one where the rank of the result depends on sizes.

        *outputs* is how many of them are wanted, for operations whose first ones do not need the others.

        Raises
        ------
        ShapeError
            Whatever the operation raises.
        """
        self.partly = None
        known = [t for t in titles if frontends.is_known(t)]
        if not known or any(isinstance(v, Unshaped | Items) for v in inputs):
            return None
        title = known[0]
        strings = any(isinstance(v, np.ndarray | Tensor) and v.dtype == STRING for v in inputs)
        if strings and _operation(title) not in _OF_STRINGS:
            return None
        operation = frontends.find(title)
        try:
            arguments, later = self._arguments(title, inputs)
        except FormatError as error:
            error.add_note(f"in: {where}")
            raise
        if arguments is None:
            return None
        if outputs > 1 and takes_outputs(title):
            attributes = {**attributes, "outputs": outputs}
        try:
            result = in_question(lambda: operation(*arguments, **attributes), _out_of_goals)
        except NotDeclaredError as error:
            self.undeclared = error
            return None
        except InconclusiveError:  # what is not decided within the budgets is a function of whole operands
            return None
        except SymlayoutError as error:
            if later or getattr(error, "kind", None) in ("unknown_rank", LEFT_OUT):
                return None
            error.add_note(f"in: {where}")
            raise
        results = list(result) if isinstance(result, list | tuple) else [result]
        given = {name for v in inputs if isinstance(v, Tensor) for name in v.facts.dims}
        shapes = [v for v in inputs if isinstance(v, np.ndarray) and v.dtype == object]
        read = {s.name for v in shapes for e in v.reshape(-1) for s in getattr(e, "free_symbols", ())}
        given |= read.union(*(self._places[name][0].facts.dims for name in read if name in self._places))
        if later or any(isinstance(t, Tensor) and not t.facts.dims.keys() <= given for t in results):
            # An extent depends on data: its dim has to be one for all values that are computed alike.
            self.partly = open_shapes(results, [v for v in inputs if isinstance(v, Tensor)], given)
            return None
        return results

    def _arguments(self, title: str, inputs: Sequence[Value | None]) -> tuple[list[Any] | None, bool]:
        """Return inputs as an operation takes them, and whether dims stand for elements that are read at run time.

        There are no arguments if an input has to be a constant and is computed.
        """
        later = False
        if frontends.is_joint(title):
            if any(value is None for value in inputs):
                return None, later
            return [[self.tensor(value) for value in inputs if value is not None]], later
        (roles, rest), sizes = takes_tensors(title), takes_sizes(title)
        for value, needed in zip(inputs, needed_tensors(title), strict=False):
            if value is None and needed:
                raise FormatError(f"input {needed} is left out")
        inputs = self._with_one_type(title, inputs)
        arguments: list[Any] = []
        for k, value in enumerate(inputs):
            is_tensor = roles[k] if k < len(roles) else rest
            if k < len(roles) and sizes[k] and isinstance(value, np.ndarray) and value.dtype == object:
                is_tensor = False
            if value is None or is_tensor:
                arguments.append(None if value is None else self.tensor(value))
                continue
            if isinstance(value, Tensor):
                if (found := value.values) is None and _operation(title) in _OPEN:
                    later, found = True, self.elements.of(value)
                if found is None:
                    return None, later
                value = found
            assert isinstance(value, np.ndarray)
            if value.size > MAX_CONSTANT:
                raise FormatError(f"constant of shape {list(value.shape)} has more than {MAX_CONSTANT} elements")
            arguments.append(value)
        return arguments, later

    def _with_one_type(self, title: str, inputs: Sequence[Value | None]) -> Sequence[Value | None]:
        """Give integers that a model computes from its dims the type of the tensor beside them."""
        kinds = {v.dtype for v in inputs if isinstance(v, Tensor) and v.dtype is not None and v.dtype.kind in "iu"}
        if _operation(title) not in _OF_ONE_TYPE or len(kinds) != 1:
            return inputs
        (kind,) = kinds
        return [
            cast_to(self.tensor(v), kind)
            if isinstance(v, np.ndarray)
            and v.dtype == object
            and kind != (self._noted_type(v) or np.int64)
            and all(type(n) is not bool for n in v.reshape(-1))
            else v
            for v in inputs
        ]

    def folded(self, results: list[Value], inputs: Sequence[Value | None]) -> list[Value]:
        """Return results as arrays where they are small and computed from small constants only."""
        if not all(value is None or _is_small_constant(value) for value in inputs):
            return results
        read_rounded = any(
            self.is_by_runtime(value) or self._rounding_of(value) for value in inputs if value is not None
        )
        most = MAX_CONSTANT if self.same_bits else MAX_FOLDED
        found: list[Value] = []
        for t in results:
            if not isinstance(t, Tensor):
                return results
            sizes = [e for e in t.extents if isinstance(e, int)]
            if len(sizes) < t.rank or prod(max(n, 1) for n in sizes) > most:  # an empty array has long axes, too
                return results
            rounded = has_fractions(t.dtype) and (read_rounded or depends_on_runtime(t))
            if self.same_bits and rounded and prod(sizes) > 1:
                return results
            try:
                array = interpret(t)
            except SymlayoutError:  # a body without a function here, or one that is random
                return results
            rounding = rounding_of(t, array) if rounded else 0.0
            if array.size > MAX_CONSTANT:  # too many to be numbers of shapes
                found.append(constant_tensor(array, t.name, rounding))
                continue
            if rounded:
                self._rounded[id(array)] = array, rounding
            found.append(array)
        return found


_OF_STRINGS = frozenset(
    (
        "Concat", "Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape", "Shape", "Size",
        "Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze", "Where",
    )
)  # fmt: skip
"""What strings go through as other elements do; all else that reads strings is opaque."""


def _out_of_goals() -> Any:
    """Refuse to decide more: the operation is a function of whole operands then."""
    raise InconclusiveError("the shape of a result is known, within the goals of reading a model")


def _operation(title: str) -> str:
    """Return the name of an operation without its framework and version."""
    return title.partition(":")[2].partition("-")[0]


_OPEN = frozenset(
    ("Slice", "Pad", "Reshape", "Expand", "Tile", "Split", "Resize", "Upsample", "CenterCropPad", "Col2Im", "Broadcast",
     "VariadicSplit", "Interpolate")
)  # fmt: skip
"""Operations that are applied to learn extents, where integers that they read are not known."""
_OF_INT64 = frozenset({"Shape", "Size"})
_DIVIDING = frozenset({"Div", "Mod"})
_OF_ONE_TYPE = frozenset(
    (
        "Add",
        "Sub",
        "Mul",
        "Div",
        "Mod",
        "Min",
        "Max",
        "Equal",
        "Less",
        "Greater",
        "LessOrEqual",
        "GreaterOrEqual",
        "Where",
    )
)


def has_expressions(value: np.ndarray[Any, Any]) -> bool:
    """Return whether an array holds expressions in dims."""
    return value.dtype == object and any(hasattr(e, "free_symbols") for e in value.reshape(-1))


def _is_small_constant(value: Value) -> bool:
    if isinstance(value, Tensor):
        return value.values is not None and value.values.size <= MAX_FOLDED
    return isinstance(value, np.ndarray) and value.size <= MAX_FOLDED and not has_expressions(value)
