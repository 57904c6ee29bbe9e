"""Tensors: a shape, and where the elements come from.  A tensor holds no data."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from symlayout import facade
from symlayout.algebra.fact_store import INT64_MAX, describe_dim
from symlayout.algebra.facts import Dim, Facts, Interval, Requirement
from symlayout.algebra.polynomial import Extent, names_of, product
from symlayout.errors import ArrayError, ShapeError, one_line
from symlayout.language import sympy_bridge
from symlayout.language.to_text import spell_extent
from symlayout.tensors.declaration import Body, Declared, Operand, Replacement
from symlayout.tensors.element_types import type_name
from symlayout.tensors.requirements import bounds, requirements
from symlayout.walks import Walk

if TYPE_CHECKING:
    import numpy as np

    from symlayout.facade import IndexMap, Picture

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])

ASSUMED: ContextVar[Callable[[Tensor, Iterable[Any]], Tensor] | None] = ContextVar("ASSUMED", default=None)
"""Set inside `assume` blocks: a function that adds the assumed relations to a tensor, given its attributes."""
EMPTY = "(empty)"  # the key of `empty_source`: no identifier, so that no leaf of a user has it


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
    """A shape, and where its elements come from.  `sl.tensor` and operations make tensors.

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
    rounding : float
        How far they may be from what another runtime computes, if they are computed from other constants.
    counts : tuple of Extent
        The numbers beside the extents that have to be int64: overflow is an error for sizes where one is not.
    again : Again or None
        What makes the tensor again on other inputs; None for a leaf.
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
        "_cache",
        "again",
        "batch",
        "body",
        "counts",
        "declared",
        "dtype",
        "extents",
        "facts",
        "inputs",
        "key",
        "name",
        "own",
        "rounding",
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
        rounding: float = 0.0,
        counts: tuple[Extent, ...] = (),
    ) -> None:
        self.body, self.batch, self.values, self.rounding = body, batch, values, rounding
        self.name, self.dtype, self.extents, self.facts = name, dtype, extents, facts
        self.declared, self.inputs, self.key, self.own = declared, inputs, key, own
        self.again, self.counts = again, counts
        self._cache: dict[str, Any] = {}

    # ------------------------------------------------------------------ what it is

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.extents)

    @property
    def shape(self) -> tuple[Any, ...]:
        """The extents in the user's dims: ints and SymPy expressions.

        >>> import symlayout as sl
        >>> sl.tensor((3, 2 * sl.dim("h"))).shape
        (3, 2*h)
        """
        if "shape" not in self._cache:
            facts = self.facts
            written: dict[int, Any] = {}
            for x in self.inputs:
                if x.facts is facts and "shape" in x._cache:  # most extents are those of an input
                    written.update(zip(map(id, x.extents), x._cache["shape"], strict=True))
            self._cache["shape"] = tuple(
                [
                    e if type(e) is int else written[id(e)] if id(e) in written else sympy_bridge.to_sympy(e, facts)
                    for e in self.extents
                ]
            )
        shape: tuple[Any, ...] = self._cache["shape"]
        return shape

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of the dims as SymPy relations, in the order of the steps; none follows from the others."""
        if "requires" not in self._cache:
            found = requirements(self.facts)
            self._cache["requires"] = tuple(sympy_bridge.to_relation(r, self.facts) for r in found)
        relations: tuple[Any, ...] = self._cache["requires"]
        return relations

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
        self._visit(order, whole=whole, ends=ends)
        return list(order.values())

    def _visit(self, order: dict[int, Tensor], *, whole: bool, ends: Container[str] = ()) -> None:
        """Add to *order* the tensors that are not in it, by ``id``."""
        stack: list[tuple[Tensor, bool]] = [(self, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in order:
                continue
            if ready or not node.inputs or (node.body is not None and (not whole or node.key in ends)):
                order[id(node)] = node
            else:
                stack.append((node, True))
                stack.extend([(i, False) for i in reversed(node.inputs)])

    def leaves(self) -> list[Tensor]:
        """Return the tensors that elements are moved from, in order of first use: inputs, constants, computed values.

        `empty_source` is not included: it has no element.
        """
        seen: dict[str, Tensor] = {}
        for node in self.nodes():
            if node.declared is None and node.key != EMPTY:
                seen.setdefault(node.key, node)
        return list(seen.values())

    def leaves_read(self) -> list[Tensor]:
        """Return the leaves whose elements are moved here; of others only the shape counts."""
        walk = Walk([self])
        for node in walk:
            if node.declared is not None:
                walk.to(node.inputs[case.source] for case in node.declared.cases)
        return [t for t in walk.seen if t.declared is None and t.key != EMPTY]

    def arguments(self) -> list[Tensor]:
        """Return the inputs for which callers pass arrays, in order of first use."""
        seen: dict[str, Tensor] = {}
        for node in self.graph():
            if node.declared is None and node.body is None and node.values is None and node.key != EMPTY:
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
        >>> import symlayout as sl
        >>> print(sl.tensor("2, 3", name="x")[:, ::-1].show())
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
        self.check_dims(values)
        values = values if apart is None else Replacement(values, apart.dims)
        made = rebuilt(self.graph(), lambda node, inputs: node.remade(inputs, values))
        self.check_requirements(values)
        return made[id(self)]

    def check_dims(self, values: Mapping[str, Extent]) -> None:
        """Raise ``overflow`` if a dim of the tensor gets an int that exceeds int64."""
        for name, value in values.items():
            if isinstance(value, int) and abs(value) > INT64_MAX and name in self.facts.dims:
                raise ShapeError(f"{name} = {value} exceeds int64", "overflow")

    def check_requirements(self, values: Mapping[str, Extent]) -> None:
        """Raise if a requirement fails whose dims are all bound.

        Most requirements fail earlier, when the declarations run again with the values.  This check finds the others:
        a declaration may state other requirements when it knows more.
        """
        known = self.facts.values({name: v for name, v in values.items() if isinstance(v, int)})
        if (r := self.facts.failing(known)) is not None:
            raise ShapeError(f"{r.where}: {r} fails for {_assignment(r, known)}", r.kind)

    def remade(self, inputs: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return the last step of the chain again, on other inputs and with the dims of *values* bound.

        It is the tensor itself if nothing changes.  A leaf has no inputs, and gets its dims bound only.
        """
        if not values and all(map(operator.is_, inputs, self.inputs)):
            return self
        if self.again is not None:
            return self.again(inputs, values)
        return self if self.values is not None else _bind_leaf(self, values)

    def replace(self, leaves: Mapping[str, Tensor], values: Mapping[str, Extent] | None = None) -> Tensor:
        """Return the same chain on other inputs: *leaves* maps the keys of leaves to tensors, *values* binds dims."""
        made: dict[int, Tensor] = {}
        for node in self._ordered(whole=True, ends=leaves):
            if node.again is None or (node.body is not None and node.key in leaves):
                made[id(node)] = leaves.get(node.key, node)
            else:
                made[id(node)] = node.again(tuple(made[id(i)] for i in node.inputs), values or {})
        return made[id(self)]

    # ------------------------------------------------------------------ Python's protocols

    def __reduce__(self) -> tuple[Any, ...]:
        return facade.pickled(self)

    def recorded(self) -> tuple[Any, ...] | None:
        """Return data from which the last step of the chain is made again on other inputs; None for a leaf."""
        return None if self.again is None else self.again.record()

    def __getitem__(self, key: Any) -> Tensor:
        return facade.getitem(self, key)

    def __iter__(self) -> Iterator[Tensor]:
        raise TypeError("a tensor holds no data, so it cannot be iterated; index it, or call interpret")

    def __repr__(self) -> str:
        dtype = "" if self.dtype is None else f", dtype={type_name(self.dtype)}"
        shape = ", ".join(spell_extent(e, self.facts) for e in self.extents)
        return f"Tensor({one_line(self.name)}: ({shape}{',' if self.rank == 1 else ''}){dtype})"


def _assignment(r: Requirement, known: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {known[name]}" for name in sorted(names_of(r.value) | names_of(r.modulus)))


def check_bound(dim: Dim, value: Extent) -> None:
    """Raise ``infeasible`` if an int lies outside the bounds of *dim*."""
    if isinstance(value, int) and not dim.allows(value):
        raise ShapeError(f"{dim.name} = {value} is outside its bounds\n  known: {describe_dim(dim)}", "infeasible")


def _bind_leaf(leaf: Tensor, values: Mapping[str, Extent]) -> Tensor:
    facts = Facts()
    values = Replacement.of(values)
    used = {other for name in leaf.facts.dims.keys() & values.keys() for other in names_of(values[name])}
    for name, extra in values.brought_in.items():
        if name in used:
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


def graph_of(tensors: Iterable[Tensor]) -> list[Tensor]:
    """Return *tensors* and all tensors that they are made from: inputs first, each tensor once.

    >>> from symlayout.tensors.input_tensor import tensor
    >>> x, y = tensor("N", name="x"), tensor("N", name="y")
    >>> [t.name for t in graph_of([x, y, x])]
    ['x', 'y']
    """
    order: dict[int, Tensor] = {}
    for t in tensors:
        t._visit(order, whole=True)
    return list(order.values())


def rebuilt(nodes: Iterable[Tensor], make: Callable[[Tensor, tuple[Tensor, ...]], Tensor]) -> dict[int, Tensor]:
    """Return what *make* makes of each value and what it made of its inputs, which stand before it, by ``id``."""
    made: dict[int, Tensor] = {}
    for node in nodes:
        made[id(node)] = make(node, tuple([made[id(x)] for x in node.inputs]))
    return made


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


def check_moves(name: str, t: Tensor, *, constants: bool = False) -> None:
    """Raise `ArrayError` if *t*, given to a function called *name*, is moved from computed values or constants.

    With *constants*, it may be moved from these.
    """
    for leaf in t.leaves():
        if leaf.body is not None or (leaf.values is not None and not constants):
            raise ArrayError(
                f"{name} takes a tensor whose elements are moved from inputs; "
                f"{leaf.name} is {'computed' if leaf.body is not None else 'a constant'}\n"
                "  help: interpret and compile take it"
            )


def same_size(left: Sequence[Extent], right: Sequence[Extent], facts: Facts) -> bool:
    """Return whether two shapes are proved to hold the same number of elements."""
    return bool(facts.reduce(product(left)) == facts.reduce(product(right)))
