"""The lazy tensor: a leaf with a shape, or an operation on tensors.  It holds no data."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from symlayout import facade
from symlayout.algebra.fact_store import describe_dim
from symlayout.algebra.facts import Dim, Facts, Interval, Requirement
from symlayout.algebra.polynomial import Extent, names_of, product, substitute, symbol
from symlayout.errors import ArrayError, FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.parse import evaluate, parse_shape
from symlayout.language.parse import names_of as dims_in
from symlayout.tensors.declaration import UNDETERMINED, Declared, Operand, as_list
from symlayout.tensors.element_types import check_fill, element_type
from symlayout.tensors.requirements import bounds, requirements

if TYPE_CHECKING:
    import numpy as np

    from symlayout.facade import IndexMap, Picture

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

ASSUMED: ContextVar[Callable[[Tensor, Iterable[Any]], Tensor] | None] = ContextVar("ASSUMED", default=None)
"""Set inside `assume` blocks: returns a tensor that knows what they say of its dims and of those in attributes."""
_UNNAMED = itertools.count()
_PROCESS = os.urandom(8).hex()  # a leaf without a name is no other process's leaf; a fork tells itself by its number


class Tensor:
    """A shape and where its elements come from; made by `tensor` and by operations.

    Attributes
    ----------
    name : str
        Of a leaf: what it is called in proofs and calls.  Of an operation: the operation's name.
    dtype : numpy.dtype or None
        None accepts any array.
    extents : tuple of Extent
        The shape in solved symbols, for the engine; users read `shape`.
    facts : Facts
        The bounds and requirements that hold here.
    declared : Declared or None
        The index map to the inputs; None for a leaf.
    inputs : tuple of Tensor
        What the map reads.
    own : bool
        Whether the map is this package's, whose tests show its reads inside the inputs for all sizes.

    Examples
    --------
    >>> import symlayout as sl
    >>> x = sl.tensor("N, H, W, C", name="x")
    >>> y = sl.space_to_depth(x, 2, depth_axis=3)
    >>> y.shape
    (N, H/2, W/2, 4*C)
    >>> y.requires
    (Eq(Mod(H, 2), 0), Eq(Mod(W, 2), 0))
    >>> y.bounds()
    [(0, None), (0, None), (0, None), (0, None)]
    """

    __slots__ = ("_again", "_cache", "declared", "dtype", "extents", "facts", "inputs", "key", "name", "own")

    def __init__(
        self,
        name: str,
        dtype: np.dtype[Any] | None,
        extents: tuple[Extent, ...],
        facts: Facts,
        declared: Declared | None = None,
        inputs: tuple[Tensor, ...] = (),
        again: _Application | None = None,
        key: str = "",
        own: bool = True,
    ) -> None:
        self.name, self.dtype, self.extents, self.facts = name, dtype, extents, facts
        self.declared, self.inputs, self.key, self.own = declared, inputs, key, own
        self._again = again
        self._cache: dict[str, Any] = {}

    # ------------------------------------------------------------------ what it is

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents in the user's dims: ints and SymPy expressions.

        >>> h = sympy_bridge.dim("h")
        >>> tensor((3, 2 * h)).shape
        (3, 2*h)
        """
        if "shape" not in self._cache:
            self._cache["shape"] = tuple(sympy_bridge.to_sympy(e, self.facts) for e in self.extents)
        shape: tuple[Any, ...] = self._cache["shape"]
        return shape

    @property
    def requires(self) -> tuple[Any, ...]:
        """What must hold of the dims, as SymPy relations; minimal, in the order of the steps."""
        return tuple(sympy_bridge.to_relation(r, self.facts) for r in requirements(self.facts))

    def bounds(self) -> list[Interval]:
        """Return ``(lo, hi)`` of each extent over all dims that meet the requirements; hi None is unbounded."""
        return bounds(self.extents, self.facts)

    @property
    def index_map(self) -> IndexMap:
        """The map from output coordinates to the inputs' coordinates, composed over the chain."""
        if "index_map" not in self._cache:
            self._cache["index_map"] = facade.index_map_of(self)
        result: IndexMap = self._cache["index_map"]
        return result

    def nodes(self) -> list[Tensor]:
        """Return this tensor and all that it is made from, inputs first, each once."""
        order: dict[int, Tensor] = {}
        stack: list[tuple[Tensor, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in order:
                continue
            if ready or not node.inputs:
                order[id(node)] = node
            else:
                stack.append((node, True))
                stack.extend((i, False) for i in reversed(node.inputs))
        return list(order.values())

    def leaves(self) -> list[Tensor]:
        """Return the leaves, in order of first use."""
        seen: dict[str, Tensor] = {}
        for node in self.nodes():
            if node.declared is None:
                seen.setdefault(node.key, node)
        return list(seen.values())

    # ------------------------------------------------------------------ as people see it

    def show(self, dims: Mapping[Any, Any] | None = None, at: Sequence[int] | None = None) -> Picture:
        """Return a picture of the map on small sizes: it shows itself in notebooks, and prints as text.

        Parameters
        ----------
        dims : mapping, optional
            Values of dims, by dim or name; the others get small ones that satisfy the requirements.
        at : sequence of int, optional
            A coordinate of the output to follow.

        Examples
        --------
        >>> print(tensor("2, 3", name="x")[:, ::-1].show())
        2 1 0
        5 4 3
        """
        return facade.picture(self, dims, at)

    def _repr_html_(self) -> str | None:
        return facade.picture_of_tensor(self)

    def _repr_latex_(self) -> str:
        return self.index_map._repr_latex_()

    # ------------------------------------------------------------------ binding

    def subs(self, values: Mapping[Any, Any]) -> Tensor:
        """Return the tensor with dims bound.

        Parameters
        ----------
        values : mapping
            From dims, or their names, to ints, dims or expressions.  Dims that do not occur are ignored.

        Raises
        ------
        ShapeError
            A value outside the dim's bounds is ``infeasible``; a requirement that fails has its own kind.
        """
        if not isinstance(values, Mapping):
            raise TypeError(f"subs takes a mapping from dims to values, not {type(values).__name__}")
        bound: dict[str, Extent] = {}
        apart = Facts()
        for key, value in values.items():
            name = key if isinstance(key, str) else key.name
            bound[name] = sympy_bridge.to_extent(value, apart, name)
            if (dim := self.facts.dims.get(name)) is not None:
                check_bound(dim, bound[name])
        if apart.requirements:
            raise ShapeError("a dim can only be bound to an integer or a polynomial in dims", "attr_dtype")
        return self.bind(bound, apart)

    def bind(self, values: Mapping[str, Extent], apart: Facts | None = None) -> Tensor:
        """Return the tensor built again with dims replaced by extents (see `subs`); itself where there are none."""
        if not values:
            return self
        made: dict[int, Tensor] = {}
        for node in self.nodes():
            if node._again is None:
                made[id(node)] = _bind_leaf(node, values, apart)
            else:
                made[id(node)] = node._again(tuple(made[id(i)] for i in node.inputs), values)
        self._check_requirements(values)
        return made[id(self)]

    def _check_requirements(self, values: Mapping[str, Extent]) -> None:
        """Raise where a requirement fails whose dims are all bound.

        A declaration that is asked again demands most of them with the concrete values in the message; one that
        chose between rules by what was known of a symbol keeps to its choice.
        """
        known = self.facts.values({name: v for name, v in values.items() if isinstance(v, int)})
        for r in self.facts.requirements:
            if names_of(r.value) | names_of(r.modulus) <= known.keys() and not r.holds(known):
                raise ShapeError(f"{r.where}: {r} fails for {_assignment(r, known)}", r.kind)

    def replace(self, leaves: Mapping[str, Tensor], values: Mapping[str, Extent] | None = None) -> Tensor:
        """Return the same chain on other inputs, a tensor for each key of a leaf, with the dims of *values* bound."""
        made: dict[int, Tensor] = {}
        for node in self.nodes():
            if node._again is None:
                made[id(node)] = leaves.get(node.key, node)
            else:
                made[id(node)] = node._again(tuple(made[id(i)] for i in node.inputs), values or {})
        return made[id(self)]

    # ------------------------------------------------------------------ Python's protocols

    def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
        """Return the chain as data: leaves, and operations by name, so that another process applies them again."""
        nodes = self.nodes()
        place = {id(node): k for k, node in enumerate(nodes)}
        records: list[tuple[Any, ...]] = []
        for node in nodes:
            if node._again is None:
                records.append((None, node.name, node.dtype, node.extents, node.facts, node.key))
            else:
                records.append((tuple(place[id(i)] for i in node.inputs), *node._again.record()))
        return _rebuilt, (records,)

    def __getitem__(self, key: Any) -> Tensor:
        return facade.getitem(self, key)

    def __iter__(self) -> Iterator[Tensor]:
        raise TypeError("a tensor holds no data, so it cannot be iterated; index it, or call interpret")

    def __repr__(self) -> str:
        dtype = "" if self.dtype is None else f", dtype={self.dtype}"
        shape = ", ".join(self.facts.spell(e) for e in self.extents)
        return f"Tensor({self.name}: ({shape}{',' if self.rank == 1 else ''}){dtype})"


def _assignment(r: Requirement, known: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {known[name]}" for name in sorted(names_of(r.value) | names_of(r.modulus)))


def check_bound(dim: Dim, value: Extent) -> None:
    """Raise ``infeasible`` if an int lies outside the bounds of *dim*."""
    if isinstance(value, int) and not dim.allows(value):
        raise ShapeError(f"{dim.name} = {value} is outside its bounds\n  known: {describe_dim(dim)}", "infeasible")


def _bind_leaf(leaf: Tensor, values: Mapping[str, Extent], apart: Facts | None) -> Tensor:
    facts = Facts()
    for extra in apart.dims.values() if apart else ():
        facts.declare(extra)
    for name, dim in leaf.facts.dims.items():
        if name not in values:
            facts.declare(dim)
        elif not isinstance(values[name], int):
            value = facts.reduce(values[name])
            for e, _ in dim.limits(value):
                facts.require_nonnegative(e, "infeasible")
            if dim.multiple_of != 1:
                facts.divide(value, dim.multiple_of, "infeasible")
    operand = Operand((), facts, leaf.name, values)  # gives floors and maxima their values too
    for r in leaf.facts.requirements:
        value, modulus = operand.translate(r.value, leaf.facts), operand.translate(r.modulus, leaf.facts)
        facts = operand.facts
        if r.relation == "divides":
            facts.divide(value, modulus, r.kind, r.where)
        elif r.relation == "zero":
            facts.require_zero(value, r.kind, r.where)
        else:
            facts.require_nonnegative(value, r.kind, r.where)
    extents = [operand.translate(e, leaf.facts) for e in leaf.extents]
    facts = operand.facts
    for axis, e in enumerate(extents):
        facts.require_nonnegative(
            e, "infeasible", leaf.name, rule=f"extent {facts.spell(e)} of axis {axis} is negative"
        )
    operand.check_countable(extents)
    return Tensor(leaf.name, leaf.dtype, tuple(extents), facts, key=leaf.key)


def tensor(shape: Any, dtype: Any = None, name: str | None = None) -> Tensor:
    """Return a leaf: a named input with a shape and, if given, an element type.

    Parameters
    ----------
    shape : sequence or str
        Each entry is an int, a dim or an expression, ``None`` or ``-1`` (unknown: a dim of its own), or
        ``(lo, hi)`` with *hi* None for no limit.  A string such as ``"N, 2*h, 2*w, C"`` names dims >= 0.
    dtype : dtype_like, optional
        None accepts arrays of any fixed-size type.
    name : str, optional
        What the leaf is called; leaves of one name are the same input.

    Raises
    ------
    ShapeError
        ``unknown_rank`` for None, ``infeasible`` for a negative extent or an empty interval, ``dim_conflict``,
        ``overflow`` beyond int64, ``attr_dtype`` for an entry that is no integer.
    FormatError
        A string that is no shape, or a name that is not an identifier.

    Examples
    --------
    >>> tensor("N, 2*h", name="x")
    Tensor(x: (N, 2*h))
    """
    if shape is None:
        raise ShapeError(
            "the rank is unknown\n  help: give one entry for each axis; None is an unknown extent",
            "unknown_rank",
        )
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise FormatError(f"tensor name {shown(name)} is not an identifier")
    label = name or "x"
    facts = Facts()
    if isinstance(shape, str):
        entries = _parsed(shape)
    else:
        entries = as_list(shape) if not hasattr(shape, "free_symbols") else [shape]
    extents = tuple(_entry(entry, axis, label, facts) for axis, entry in enumerate(entries))
    operand = Operand((extents,), facts, f"tensor {label}")
    for axis, e in enumerate(extents):
        operand.require(e, "infeasible", "extent {} of axis {} is negative", e, axis)
    operand.check_countable(extents)
    facts = operand.facts
    leaf = Tensor(
        label,
        _dtype(dtype),
        tuple(facts.reduce(e) for e in extents),
        facts,
        key=name or f"x.{next(_UNNAMED)}.{os.getpid()}.{_PROCESS}",
    )
    assumed = ASSUMED.get()
    return leaf if assumed is None else assumed(leaf, ())


def _entry(entry: Any, axis: int, label: str, facts: Facts) -> Extent:
    if entry is None or (type(entry) is int and entry == -1):
        return _interval(0, None, axis, label, facts)
    if isinstance(entry, (tuple, list)):
        if len(entry) != 2:
            raise ShapeError(f"axis {axis}: {shown(entry)} is not an interval (lo, hi)", "length_mismatch")
        low = sympy_bridge.to_extent(entry[0], facts, f"axis {axis}")
        high = None if entry[1] is None else sympy_bridge.to_extent(entry[1], facts, f"axis {axis}")
        if not isinstance(low, int) or not (high is None or isinstance(high, int)):
            raise ShapeError(f"axis {axis}: the bounds of an interval are integers", "attr_dtype")
        return _interval(low, high, axis, label, facts)
    return sympy_bridge.to_extent(entry, facts, f"axis {axis}")


def _interval(low: int, high: int | None, axis: int, label: str, facts: Facts) -> Extent:
    if low < 0:
        raise ShapeError(f"axis {axis}: lower bound {low} is negative", "infeasible")
    if low == high:
        return low  # no dim: nothing would determine it
    dim = Dim(f"{label}.{axis}", low, high)
    facts.declare(dim)
    return symbol(dim.name)


def _parsed(text: str) -> list[Any]:
    entries = parse_shape(text)
    named = {name: sympy_bridge.dim(name, *limits) for name, limits in dims_in(*entries).items()}
    return [evaluate(entry, named) for entry in entries]


def _dtype(dtype: Any) -> np.dtype[Any] | None:
    if dtype is None:
        return None
    return element_type(dtype)


def operation(
    declaration: Callable[Concatenate[Operand, P], Declared],
) -> Callable[Concatenate[Tensor, P], Tensor]:
    """Make an operation on tensors from the declaration of its index map.

    The declaration gets the first argument as an `Operand`; the attributes pass through as they
    are.  It is called once when the operation is applied, and again when dims are bound, so a rule
    that fails then fails with the same kind.

    Parameters
    ----------
    declaration : function
        Of an `Operand` and the attributes; it returns the `Declared` map.

    Raises
    ------
    TypeError
        When it is applied: to what is no tensor, or with arguments that the declaration does not have.
    ShapeError
        When it is applied: ``overflow`` for more elements than int64 counts, and what the declaration demands.

    Examples
    --------
    >>> from symlayout.tensors.declaration import index_map
    >>> @operation
    ... def mirror(x):
    ...     (n,) = x.shape
    ...     return index_map((n,), lambda i: (n - 1 - i,))
    >>> mirror(tensor((5,), name="x")).index_map
    (i0) -> (4 - i0)
    """
    return _operation(declaration, own=False)


def core_operation(
    declaration: Callable[Concatenate[Operand, P], Declared],
) -> Callable[Concatenate[Tensor, P], Tensor]:
    """Make an operation of this package: as `operation`, and its reads count as shown to be inside the input."""
    return _operation(declaration, own=True)


def core_joint_operation(
    declaration: Callable[Concatenate[Operand, P], Declared],
) -> Callable[Concatenate[Sequence[Tensor], P], Tensor]:
    """Make a `core_operation` on a sequence of tensors; the declaration reads their shapes in ``x.shapes``."""

    def applied(xs: Sequence[Tensor], /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        if not isinstance(xs, Sequence) or not xs:
            raise TypeError(f"{declaration.__name__} takes a sequence of one or more tensors")
        return apply(declaration, tuple(xs), args, kwargs, own=True)

    return _presented(applied, declaration, "Sequence[Tensor]")


def _operation(
    declaration: Callable[Concatenate[Operand, P], Declared], *, own: bool
) -> Callable[Concatenate[Tensor, P], Tensor]:
    def applied(x: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        return apply(declaration, (x,), args, kwargs, own=own)

    return _presented(applied, declaration, "Tensor")


def _presented(applied: F, declaration: Callable[..., Declared], operand: str) -> F:
    """Return *applied* under the name, text and attributes of the declaration, taking and returning tensors."""
    functools.update_wrapper(applied, declaration)
    declaration.operation = applied  # type: ignore[attr-defined]  # for pickles, which name functions
    declared = inspect.signature(declaration)
    parameters = list(declared.parameters.values())
    parameters[:1] = [p.replace(annotation=operand, kind=p.POSITIONAL_ONLY) for p in parameters[:1]]
    signature = declared.replace(parameters=parameters, return_annotation="Tensor")
    applied.__signature__ = signature  # type: ignore[attr-defined]  # inspect reads it, and so do help() and the docs
    return applied


def apply(
    declaration: Callable[..., Declared],
    inputs: tuple[Tensor, ...],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    values: Mapping[str, Extent] | None = None,
    *,
    own: bool,
) -> Tensor:
    """Apply a declaration to tensors, with the dims of *values* replaced in its attributes.

    *own* says whether the declaration is this package's: only then do its reads count as shown to be inside the
    inputs.

    Raises
    ------
    ArrayError
        The tensors' dtypes differ, or cannot hold a fill.
    ShapeError
        Whatever the declaration demands, and ``dim_conflict`` between the tensors.
    """
    name = declaration.__name__
    check_tensors(name, *inputs)
    if (assumed := ASSUMED.get()) is not None and not values:
        inputs = (assumed(inputs[0], (args, kwargs, *(x.shape for x in inputs[1:]))), *inputs[1:])
    facts = inputs[0].facts
    for x in inputs[1:]:
        if x.facts is not facts:
            facts = facts.fork()
            facts.merge(x.facts)
    reduce = facts.reduce
    shapes = tuple([x.extents if x.facts is facts else tuple([reduce(e) for e in x.extents]) for x in inputs])
    operand = Operand(shapes, facts, name, values)
    declared = declaration(operand, *args, **kwargs)
    operand.check_countable(declared.domain)
    facts = operand.facts
    reduce = facts.reduce
    extents = tuple([reduce(e) for e in declared.domain])

    dtype = _common_dtype(inputs, name)
    _check_fills(declared, dtype)
    again = _Application(declaration, args, kwargs, values or {}, own)
    return Tensor(name, dtype, extents, facts, declared, inputs, again, own=own)


@dataclass(frozen=True, slots=True)
class _Application:
    """A declaration and its attributes, as they were applied: with what makes the node again on other inputs."""

    declaration: Callable[..., Declared]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    values: Mapping[str, Extent]
    own: bool

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        merged = {**values, **{name: substitute(e, values) for name, e in self.values.items()}}
        return apply(self.declaration, bound, self.args, self.kwargs, merged, own=self.own)

    def record(self) -> tuple[Any, ...]:
        """Return what makes it again elsewhere: the declaration by the name under which users find its operation."""
        operation = getattr(self.declaration, "operation", self.declaration)
        return operation, self.args, dict(self.kwargs), dict(self.values), self.own


def _rebuilt(records: Sequence[tuple[Any, ...]]) -> Tensor:
    """Return the last of the tensors that *records* describe: leaves, and operations on those before them."""
    made: list[Tensor] = []
    token = ASSUMED.set(None)  # what was assumed is in the records
    try:
        for inputs, *record in records:
            if inputs is None:
                name, dtype, extents, facts, key = record
                made.append(Tensor(name, dtype, extents, facts, key=key))
            else:
                operation, args, kwargs, values, own = record
                declaration = getattr(operation, "__wrapped__", operation)
                made.append(apply(declaration, tuple(made[k] for k in inputs), args, kwargs, values, own=own))
    finally:
        ASSUMED.reset(token)
    return made[-1]


def check_tensors(name: str, *tensors: object) -> None:
    """Raise `TypeError` if a function called *name* was given something else than *tensors*."""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise TypeError(f"{name} takes a symlayout tensor, not {type(x).__name__}\n  help: make one with tensor()")


def _check_fills(declared: Declared, dtype: np.dtype[Any] | None) -> None:
    """Raise if a fill is no element, or none that the type holds."""
    for case in declared.cases:
        if case.fill is not None and case.fill.value is not UNDETERMINED:
            check_fill(case.fill.value, dtype)


def _common_dtype(inputs: Sequence[Tensor], name: str) -> np.dtype[Any] | None:
    dtypes = [x.dtype for x in inputs if x.dtype is not None]
    for dtype in dtypes[1:]:
        if dtype != dtypes[0]:
            raise ArrayError(f"{name}: the inputs have dtypes {dtypes[0]} and {dtype}")
    return dtypes[0] if dtypes else None


def same_size(left: Sequence[Extent], right: Sequence[Extent], facts: Facts) -> bool:
    """Return whether two shapes are proved to hold the same number of elements."""
    return bool(facts.reduce(product(left)) == facts.reduce(product(right)))
