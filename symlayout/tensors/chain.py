"""Lazy tensors: leaves with a shape, and operations on tensors.  A tensor holds no data."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar

from symlayout import facade
from symlayout.algebra.fact_store import describe_dim
from symlayout.algebra.facts import Dim, Facts, Interval, Requirement
from symlayout.algebra.polynomial import Extent, integer_or_extent, names_of, product, substitute, symbol
from symlayout.errors import ArrayError, FormatError, ShapeError, SymlayoutError, shown
from symlayout.language import sympy_bridge
from symlayout.language.group_patterns import has_group
from symlayout.language.parse import evaluate, parse_shape
from symlayout.language.parse import names_of as dims_in
from symlayout.tensors.declaration import UNDETERMINED, Body, Case, Declared, Operand, as_list
from symlayout.tensors.element_types import check_fill, element_type
from symlayout.tensors.requirements import bounds, requirements

if TYPE_CHECKING:
    import numpy as np

    from symlayout.facade import IndexMap, Picture

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

ASSUMED: ContextVar[Callable[[Tensor, Iterable[Any]], Tensor] | None] = ContextVar("ASSUMED", default=None)
"""Set inside `assume` blocks: a function that adds the assumed relations to a tensor, given its attributes."""
_EMPTY = "(empty)"  # the key of `empty_source`: no identifier, so that no leaf of a user has it
_UNNAMED = itertools.count()
_PROCESS = os.urandom(8).hex()  # with the process id, tells unnamed leaves of different processes apart


class Again(Protocol):
    """A function that makes a node again, on other inputs and with dims replaced by values."""

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return the node on the inputs *bound*."""

    def record(self) -> tuple[Any, ...]:
        """Return data from which another process makes the node again."""


class Applicable:
    """What operations can be applied to beside a `Tensor`."""

    __slots__ = ()

    def applied(self, name: str, args: tuple[Any, ...], attributes: Mapping[str, Any]) -> Any:
        """Return what the operation *name* makes of this object."""
        raise NotImplementedError

    def applied_to_several(
        self, name: str, xs: Sequence[Any], args: tuple[Any, ...], attributes: Mapping[str, Any]
    ) -> Any:
        """Return what the operation *name* makes of several tensors, one of which is this object."""
        raise NotImplementedError

    def refusal(self, name: str) -> Exception:
        """Return the error that says that the function *name* does not take this object."""
        raise NotImplementedError


class Tensor:
    """A shape, and where its elements come from.  `tensor` and operations make tensors.

    Attributes
    ----------
    name : str
        The name of a leaf in proofs and calls, or the name of the operation.
    dtype : numpy.dtype or None
        The element type; None accepts any array.
    extents : tuple of Extent
        The shape in the symbols of the algebra, for the engine.  Users read `shape`.
    facts : Facts
        The bounds and requirements of the dims.
    declared : Declared or None
        The index map to the inputs; None for a leaf and for a value that is computed.
    inputs : tuple of Tensor
        The tensors that the map reads, or the views that the body reads.
    body : Body or None
        What computes the value from the views; None for a leaf and for an operation that moves elements.
    batch : int
        With a body, how many of the first axes are the batch.
    values : ndarray or None
        The elements of a constant.
    own : bool
        Whether this package declares the map.  The package's tests prove that such maps read only inside their inputs,
        for all sizes; other maps are checked when they are used.

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

    __slots__ = (
        "_again", "_cache", "batch", "body", "declared", "dtype", "extents", "facts", "inputs", "key", "name", "own",
        "values",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        dtype: np.dtype[Any] | None,
        extents: tuple[Extent, ...],
        facts: Facts,
        declared: Declared | None = None,
        inputs: tuple[Tensor, ...] = (),
        again: Again | None = None,
        key: str = "",
        own: bool = True,
        body: Body | None = None,
        batch: int = 0,
        values: np.ndarray[Any, Any] | None = None,
    ) -> None:
        self.body, self.batch, self.values = body, batch, values
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
        """The requirements of the dims as SymPy relations, in the order of the steps; none follows from the others."""
        return tuple(sympy_bridge.to_relation(r, self.facts) for r in requirements(self.facts))

    def bounds(self) -> list[Interval]:
        """Return ``(lo, hi)`` of each extent, over all dims that meet the requirements; *hi* None is unbounded."""
        return bounds(self.extents, self.facts)

    @property
    def index_map(self) -> IndexMap:
        """The map from output coordinates to coordinates in the leaves, composed over the chain."""
        if "index_map" not in self._cache:
            self._cache["index_map"] = facade.index_map_of(self)
        result: IndexMap = self._cache["index_map"]
        return result

    def nodes(self) -> list[Tensor]:
        """Return this tensor and all tensors that its elements are moved from: inputs first, each tensor once.

        The walk ends at computed values; `graph` also visits the tensors that these are computed from.
        """
        return self._ordered(whole=False)

    def graph(self) -> list[Tensor]:
        """Return this tensor and all tensors that it is made from: inputs first, each tensor once."""
        return self._ordered(whole=True)

    def _ordered(self, *, whole: bool, ends: Container[str] = ()) -> list[Tensor]:
        order: dict[int, Tensor] = {}
        stack: list[tuple[Tensor, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in order:
                continue
            if ready or not node.inputs or (node.body is not None and (not whole or node.key in ends)):
                order[id(node)] = node
            else:
                stack.append((node, True))
                stack.extend((i, False) for i in reversed(node.inputs))
        return list(order.values())

    def leaves(self) -> list[Tensor]:
        """Return the tensors that elements are moved from, in order of first use: inputs, constants, computed values.

        `empty_source` is not included: it has no element.
        """
        seen: dict[str, Tensor] = {}
        for node in self.nodes():
            if node.declared is None and node.key != _EMPTY:
                seen.setdefault(node.key, node)
        return list(seen.values())

    def arguments(self) -> list[Tensor]:
        """Return the inputs for which callers pass arrays, in order of first use."""
        seen: dict[str, Tensor] = {}
        for node in self.graph():
            if node.declared is None and node.body is None and node.values is None and node.key != _EMPTY:
                seen.setdefault(node.key, node)
        return list(seen.values())

    @property
    def computes(self) -> bool:
        """Whether a leaf is a computed value or a constant."""
        return any(leaf.body is not None or leaf.values is not None for leaf in self.leaves())

    # ------------------------------------------------------------------ as people see it

    def show(self, dims: Mapping[Any, Any] | None = None, at: Sequence[int] | None = None) -> Picture:
        """Return a picture of the map on small sizes.  Notebooks display the picture; ``print`` shows it as text.

        Parameters
        ----------
        dims : mapping, optional
            Values of dims, by dim or name.  Other dims get small values that meet the requirements.
        at : sequence of int, optional
            An output coordinate; the picture shows where its element comes from.

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
        """Return the tensor with dims replaced by values.

        Parameters
        ----------
        values : mapping
            Maps dims, or their names, to ints, dims or expressions.  Dims that the tensor lacks are ignored.

        Raises
        ------
        ShapeError
            ``infeasible`` if a value is outside the dim's bounds; a failing requirement raises its own kind.
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
        """Return the tensor built again with dims replaced by extents (see `subs`); without values, return itself."""
        if not values:
            return self
        made: dict[int, Tensor] = {}
        for node in self.graph():
            if node._again is None:
                made[id(node)] = _bind_leaf(node, values, apart) if node.values is None else node
            else:
                made[id(node)] = node._again(tuple(made[id(i)] for i in node.inputs), values)
        self._check_requirements(values)
        return made[id(self)]

    def _check_requirements(self, values: Mapping[str, Extent]) -> None:
        """Raise if a requirement fails whose dims are all bound.

        Most requirements fail earlier, when the declarations run again with the values.  This check finds the others:
        a declaration may state other requirements when it knows more.
        """
        known = self.facts.values({name: v for name, v in values.items() if isinstance(v, int)})
        if (r := self.facts.failing(known)) is not None:
            raise ShapeError(f"{r.where}: {r} fails for {_assignment(r, known)}", r.kind)

    def remade(self, inputs: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return the last step of the chain again, on other inputs and with the dims of *values* bound.

        A leaf has no inputs, and gets its dims bound only.
        """
        if self._again is not None:
            return self._again(inputs, values)
        return self if self.values is not None or not values else _bind_leaf(self, values, None)

    def replace(self, leaves: Mapping[str, Tensor], values: Mapping[str, Extent] | None = None) -> Tensor:
        """Return the same chain on other inputs: *leaves* maps the keys of leaves to tensors, *values* binds dims."""
        made: dict[int, Tensor] = {}
        for node in self._ordered(whole=True, ends=leaves):
            if node._again is None or (node.body is not None and node.key in leaves):
                made[id(node)] = leaves.get(node.key, node)
            else:
                made[id(node)] = node._again(tuple(made[id(i)] for i in node.inputs), values or {})
        return made[id(self)]

    # ------------------------------------------------------------------ Python's protocols

    def __reduce__(self) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
        """Return the chain as data for another process: leaves, and the names and attributes of operations."""
        nodes = self.graph()
        place = {id(node): k for k, node in enumerate(nodes)}
        records: list[tuple[Any, ...]] = []
        for node in nodes:
            if node._again is None:
                records.append((None, node.name, node.dtype, node.extents, node.facts, node.key, node.values))
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
    operand = Operand((), facts, leaf.name, values)  # also replaces the dims inside floors and maxima
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
        Each entry is an int, a dim, an expression, ``None`` or ``-1`` (an unknown extent, which becomes a new dim), or
        ``(lo, hi)`` (a new dim with these bounds; *hi* None is unbounded).  A string such as ``"N, 2*h, 2*w, C"``
        names dims >= 0.  In a string, ``*S`` stands for any number of axes (`symlayout.any_rank.AnyRankTensor`).
    dtype : dtype_like, optional
        The element type; None accepts arrays of any fixed-size type.
    name : str, optional
        The name of the leaf.  Leaves with the same name are the same input.

    Raises
    ------
    ShapeError
        ``unknown_rank`` if *shape* is None, ``infeasible`` for a negative extent or an empty interval, ``dim_conflict``
        if two dims share a name, ``overflow`` beyond int64, ``attr_dtype`` for an entry that is not an integer.
    FormatError
        The string is not a shape, or *name* is not an identifier.

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
    if isinstance(shape, str) and has_group(shape):
        return facade.any_rank_tensor(shape, dtype, name)  # type: ignore[no-any-return]
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


def empty_source(dtype: Any = None) -> Tensor:
    """Return the leaf that constants read: it has no elements and takes no array, so every read gives the fill."""
    return Tensor("empty", _dtype(dtype), (0,), Facts(), key=_EMPTY)


def _interval(low: int, high: int | None, axis: int, label: str, facts: Facts) -> Extent:
    if low < 0:
        raise ShapeError(f"axis {axis}: lower bound {low} is negative", "infeasible")
    if low == high:
        return low  # a number instead of a dim
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

    The declaration gets the first argument as an `Operand`, and the attributes unchanged.  The engine calls it when the
    operation is applied, and again when dims get values.  So a requirement that fails raises the same kind both times.

    Parameters
    ----------
    declaration : function
        Takes an `Operand` and the attributes, and returns the `Declared` map.

    Returns
    -------
    function
        Takes a tensor and the attributes, and returns a tensor.

    Raises
    ------
    TypeError
        The function: its first argument is not a tensor, or the other arguments do not match.
    ShapeError
        The function: ``overflow`` if the number of elements exceeds int64, and the kinds of the declaration's
        requirements.

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
    """Make an operation of this package: like `operation`, but its maps are known to read only inside their inputs."""
    return _operation(declaration, own=True)


def core_joint_operation(
    declaration: Callable[Concatenate[Operand, P], Declared],
) -> Callable[Concatenate[Sequence[Tensor], P], Tensor]:
    """Make a `core_operation` on a sequence of tensors; the declaration finds their shapes in ``x.shapes``."""

    def applied(xs: Sequence[Tensor], /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        if not isinstance(xs, Sequence) or not xs:
            raise TypeError(f"{declaration.__name__} takes a sequence of one or more tensors")
        for x in xs:
            if isinstance(x, Applicable):
                return x.applied_to_several(declaration.__name__, xs, args, kwargs)  # type: ignore[no-any-return]
        return apply(declaration, tuple(xs), args, kwargs, own=True)

    return _presented(applied, declaration, "Sequence[Tensor]")


def _operation(
    declaration: Callable[Concatenate[Operand, P], Declared], *, own: bool
) -> Callable[Concatenate[Tensor, P], Tensor]:
    def applied(x: Tensor, /, *args: P.args, **kwargs: P.kwargs) -> Tensor:
        if isinstance(x, Applicable):
            return x.applied(declaration.__name__, args, kwargs)  # type: ignore[no-any-return]
        return apply(declaration, (x,), args, kwargs, own=own)

    return _presented(applied, declaration, "Tensor")


def _presented(applied: F, declaration: Callable[..., Declared], operand: str) -> F:
    """Give *applied* the name, the docstring and the signature of the declaration, with tensors for operands."""
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

    *own* says whether this package declares the map: only then are its reads known to be inside the inputs.

    Raises
    ------
    ArrayError
        The dtypes of the tensors differ, or the dtype cannot hold a fill.
    ShapeError
        A requirement of the declaration fails, or two tensors have different dims of one name (``dim_conflict``).
    """
    check_tensors(declaration.__name__, *inputs)
    inputs, operand = joined(declaration.__name__, inputs, (args, kwargs), values)
    declared = declaration(operand, *args, **kwargs)
    if not own:
        declared = _checked(declared, operand, [x.rank for x in inputs])
    return mapped(operand, declared, inputs, Application(declaration, args, kwargs, values or {}, own))


def _checked(declared: Any, operand: Operand, ranks: Sequence[int]) -> Declared:
    """Return the map that a user's declaration returned; its coordinates are checked when they are computed.

    *ranks* are those of the inputs.  The shapes of *operand* may be those that the declaration sees.
    """
    if not isinstance(declared, Declared):
        raise FormatError(
            f"the declaration {operand.where} returns {shown(declared)}, and not a map\n  help: return index_map(...)"
        )

    def checked(case: Case) -> Case:
        rank = ranks[case.source]

        def coords(*o: Any) -> Sequence[Any]:
            found = _called(operand.where, case.coords, o)
            if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != rank:
                raise ShapeError(
                    f"{operand.where}: the map returns {shown(found)}, its input has {rank} axes\n"
                    "  help: return one coordinate for each axis of the input",
                    "rank",
                )
            return found

        windows = case.where
        return replace(
            case, coords=coords, where=None if windows is None else lambda *o: _called(operand.where, windows, o)
        )

    return Declared(tuple(map(integer_or_extent, declared.domain)), tuple(map(checked, declared.cases)))


def _called(name: str, function: Callable[..., Any], o: tuple[Any, ...]) -> Any:
    """Return what a function of a user's map returns of coordinates."""
    try:
        return function(*o)
    except SymlayoutError:
        raise
    except (TypeError, ValueError, AttributeError) as error:  # SymPy refuses coordinates by ValueErrors
        raise FormatError(
            f"{name}: a function of the map fails: {error}\n"
            "  help: it takes one coordinate for each axis, and computes with + - * // % on coordinates and extents; "
            "x.extent(value) makes an extent of a dim"
        ) from error


def joined(
    name: str, inputs: tuple[Tensor, ...], attributes: tuple[Any, ...], values: Mapping[str, Extent] | None = None
) -> tuple[tuple[Tensor, ...], Operand]:
    """Return tensors with what is assumed, and the `Operand` with their shapes and the facts of all of them."""
    if (assumed := ASSUMED.get()) is not None and not values:
        inputs = (assumed(inputs[0], (*attributes, *(x.shape for x in inputs[1:]))), *inputs[1:])
    facts = joint_facts(inputs)
    shapes = tuple([x.extents if x.facts is facts else facts.reduce_all(x.extents) for x in inputs])
    return inputs, Operand(shapes, facts, name, values)


def joint_facts(xs: Sequence[Tensor]) -> Facts:
    """Return the facts of all tensors as one system: that of one tensor, if it has the others' facts already."""
    facts, own = xs[0].facts, False
    for x in xs[1:]:
        if facts.includes(x.facts):
            continue
        if x.facts.includes(facts):
            facts, own = x.facts, False
            continue
        if not own:
            facts, own = facts.fork(), True
        facts.merge(x.facts)
    return facts


def mapped(
    operand: Operand,
    declared: Declared,
    inputs: tuple[Tensor, ...],
    again: Application,
    known: tuple[Extent, ...] = (),
    count: int = 1,
) -> Tensor:
    """Return the tensor of a map that a declaration returned for an operand.

    Its first extents may be *known*: these are in the symbols that remain, and have at least *count* elements.
    """
    facts, rest = operand.facts, declared.domain[len(known) :]
    operand.check_countable(rest, count)
    read = inputs if len(inputs) == 1 else [inputs[k] for k in sorted({c.source for c in declared.cases})]
    dtype = _common_dtype(read, operand.where)
    _check_fills(declared, dtype)
    extents = (*known, *facts.reduce_all(rest))
    return Tensor(operand.where, dtype, extents, facts, declared, inputs, again, own=again.own)


@dataclass(frozen=True, slots=True)
class Application:
    """A declaration with the attributes that it was applied to; a call applies it again, to other inputs."""

    declaration: Callable[..., Declared]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    values: Mapping[str, Extent]
    own: bool

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return what the declaration makes of the inputs *bound*, with the dims of *values* replaced."""
        merged = {**values, **{name: substitute(e, values) for name, e in self.values.items()}}
        return apply(self.declaration, bound, self.args, self.kwargs, merged, own=self.own)

    def record(self) -> tuple[Any, ...]:
        """Return data from which another process makes it again: the operation's import path and the attributes."""
        operation = getattr(self.declaration, "operation", self.declaration)
        return operation, self.args, dict(self.kwargs), dict(self.values), self.own


def _rebuilt(records: Sequence[tuple[Any, ...]]) -> Tensor:
    """Make the tensors that *records* describe, leaves and operations on earlier tensors; return the last one."""
    made: list[Tensor] = []
    token = ASSUMED.set(None)  # the records contain the assumptions
    try:
        for inputs, *record in records:
            if inputs is None:
                name, dtype, extents, facts, key, elements = record
                if elements is not None:
                    key = f"{name}.{next(_UNNAMED)}.{os.getpid()}.{_PROCESS}"  # another process's is taken
                made.append(Tensor(name, dtype, extents, facts, key=key, values=elements))
            else:
                operation, args, kwargs, values, own = record
                if own is None:  # a body
                    made.append(operation(tuple(made[k] for k in inputs), *args, values))
                    continue
                declaration = getattr(operation, "__wrapped__", operation)
                made.append(apply(declaration, tuple(made[k] for k in inputs), args, kwargs, values, own=own))
    finally:
        ASSUMED.reset(token)
    return made[-1]


def check_tensors(name: str, *tensors: object) -> None:
    """Raise `TypeError` unless all arguments are tensors; *name* is the function that got them."""
    for x in tensors:
        if not isinstance(x, Tensor):
            raise not_a_tensor(name, x)


def not_a_tensor(name: str, x: object) -> Exception:
    """Return the error that says that *x*, which the function *name* got, is no `Tensor`."""
    if isinstance(x, Applicable):
        return x.refusal(name)
    return TypeError(f"{name} takes a symlayout tensor, not {type(x).__name__}\n  help: make one with tensor()")


def check_moves(name: str, t: Tensor) -> None:
    """Raise `ArrayError` if *t*, given to a function called *name*, is moved from computed values or constants."""
    for leaf in t.leaves():
        if leaf.body is not None or leaf.values is not None:
            raise ArrayError(
                f"{name} takes a tensor whose elements are moved from inputs; {leaf.name} is computed\n"
                "  help: interpret and compile take it"
            )


def _check_fills(declared: Declared, dtype: np.dtype[Any] | None) -> None:
    """Raise if a fill is not an element, or if *dtype* cannot hold it."""
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
