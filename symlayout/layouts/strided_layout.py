"""Layouts as CuTe writes them, ``((2,4),3):((3,6),1)``: a shape, and a stride for each of its sizes.

A layout is the function from coordinates to offsets in memory.  `Layout.view` makes it an index map, so that layouts
are compared with every other map.  Results of the algebra are returned only with their defining equation proved.

Sizes are at least 1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, product, substitute
from symlayout.algebra.polynomial import names_of as names_in
from symlayout.errors import FormatError, InconclusiveError, ShapeError, shown
from symlayout.facade import composed_layout
from symlayout.language import sympy_bridge
from symlayout.language.grammar_trees import Group, Tree
from symlayout.language.parse import evaluate, names_of, parse_layout
from symlayout.language.sympy_conditions import at_most
from symlayout.layouts import modes as algebra
from symlayout.layouts.answers import SIZE, Answer, relations
from symlayout.layouts.conditions import CaseFound, cases, first_answer
from symlayout.layouts.image import ImageCases, LayoutImage
from symlayout.layouts.layout_algebra import LayoutAlgebra, Question
from symlayout.layouts.nested import Mode, Nest, Nested, compact, flat, profile, text
from symlayout.layouts.print_layout import LayoutText, Printed
from symlayout.layouts.shapes import basis
from symlayout.layouts.shapes.layout_modes import LayoutModes, has_open
from symlayout.maps.compose_chain import Read
from symlayout.maps.split_digits import Box, refine
from symlayout.ops.reshape import as_strided, linear
from symlayout.proof.prove import prove_on
from symlayout.proof.verdict import Verdict
from symlayout.show.brief import brief_html, table_html
from symlayout.show.wording import relation
from symlayout.tensors.assumptions import assume, assumed_about
from symlayout.tensors.chain import Tensor, check_moves, check_tensors
from symlayout.tensors.declaration import as_list, is_list
from symlayout.tensors.input_tensor import tensor
from symlayout_codegen.values import Value

_MOST_SHOWN = 1024  # values of a layout that a notebook shows as a table
_COMPOSED = re.compile(r"[\w)>]\s+o\s")  # two operands without an operator: the sign of a composition


class Layout(LayoutAlgebra["Layout"], LayoutText, LayoutModes, LayoutImage):
    """The function from coordinates to offsets: the sum of each coordinate times its stride.

    An integer coordinate of a nested size is split into digits, the first digit fastest.

    Attributes
    ----------
    shape, stride : int, expression, or nested tuples of them
        The sizes, and the step of each of them.
    rank : int
        The number of modes at the top.
    size : int or expression
        The number of coordinates.
    cosize : int or expression
        One more than the largest offset.
    requires : tuple of SymPy relations
        The sizes for which the layout is right; that each size is at least 1 goes without saying.
    cases : Cases
        The algebra with an answer for all sizes.

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.layout("((2,4),3):((3,6),1)")
    >>> a.size, a.cosize, a((1, 2), 0), a(5, 0)
    (24, 24, 15, 15)
    >>> a.composition("(4,2,3):(2,1,8)")
    (4,2,3):(6,3,1)
    """

    __slots__ = ("_facts", "_nest")

    def __init__(self, shape: Nested, stride: Nested, facts: Facts) -> None:
        self._nest, self._facts = Nest(shape, stride), facts

    # ------------------------------------------------------------------ what it is

    @property
    def shape(self) -> Any:
        """The sizes: an int, an expression, or nested tuples of them."""
        return self._written(self._nest.shape)

    @property
    def stride(self) -> Any:
        """The strides, nested as the shape is."""
        return self._written(self._nest.stride)

    @property
    def rank(self) -> int:
        """The number of modes at the top."""
        return len(self._nest.parts())

    @property
    def size(self) -> Any:
        """The number of coordinates."""
        return self._written(self._nest.size())

    @property
    def cosize(self) -> Any:
        """One more than the largest offset; of coordinates, the product of `coshape`."""
        return self._written(product(self._reach(strides) for strides in self._components().values()))

    @property
    def coshape(self) -> Any:
        """One more than the largest value of each coordinate, if the values are coordinates; else `cosize`."""
        found = {path: self._written(self._reach(strides)) for path, strides in self._components().items()}
        return basis.nested(found, found)

    @property
    def is_based(self) -> bool:
        """Whether the values are coordinates: the strides are multiples of `symlayout.E`."""
        return self._nest.is_based()

    @property
    def requires(self) -> tuple[Any, ...]:
        """The requirements of the dims as SymPy relations; none follows from the others."""
        return relations(self._facts)

    @property
    def nest(self) -> Nest:
        """The sizes and strides in the symbols of `facts`."""
        return self._nest

    @property
    def facts(self) -> Facts:
        """What is known of the symbols; not to be changed."""
        return self._facts

    def __getitem__(self, mode: Any) -> Layout:
        """Return one mode at the top, as a layout; of a coordinate that leaves modes open, `slice`.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.layout("((2,4),3):((3,6),1)")
        >>> a[0], a[0][1], a[:, 2]
        ((2,4):(3,6), 4:6, ((2,4)):((3,6)))
        """
        if has_open(mode):
            return self.slice(mode)
        if isinstance(mode, tuple):
            raise TypeError(f"{mode} leaves no mode open\n  help: a(0, 1) is an offset, a[0][1] a mode of a mode")
        return Layout(*self._nest.parts()[self._place(mode)], self._facts)

    def with_modes(self, nest: Nest, *others: Layout) -> Layout:
        """Return a layout of these modes, with the facts of this one and of *others*."""
        facts = self._facts
        if others:
            facts = facts.fork()
            for other in others:
                facts.merge(other.facts)
            nest = nest.reduced(facts)
        return Layout(*nest, facts)

    def __call__(self, *coordinate: Any) -> Any:
        """Return the offset of a coordinate: a number or expression, or one of them or a tuple for each mode.

        A number beyond the size counts on in the last digit.  Of a coordinate that leaves modes open, it is `slice`.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.layout("(M,N):(N,1)")
        >>> i, j = sl.dims("i j")
        >>> a(i, j), a(5)
        (N*i + j, N*(Mod(5, M)) + floor(5/M))
        """
        at = coordinate[0] if len(coordinate) == 1 else coordinate
        if has_open(at):
            return self.slice(at)
        facts = self._facts.fork()
        found = _offset(at, self._nest.reduced(facts), facts)
        if not self.is_based:
            return sympy_bridge.to_sympy(found, facts)
        return basis.nested({p: _to_user(e, facts) for p, e in basis.parts(found).items()}, self._components())

    def _components(self) -> dict[basis.Path, list[Extent]]:
        """Return the strides of each coordinate; of offsets, the strides under an empty path."""
        strides = list(flat(self._nest.stride))
        if not self.is_based:
            return {(): strides}
        parts = [basis.parts(stride) for stride in strides]
        paths = sorted({path for part in parts for path in part})
        return {path: [part.get(path, 0) for part in parts] for path in paths}

    def _reach(self, strides: Sequence[Extent]) -> Extent:
        """Return one more than the largest sum of these strides."""
        total: Extent = 1
        for size, stride in zip(flat(self._nest.shape), strides, strict=True):
            if not self._facts.nonnegative(stride):
                if not self._facts.nonnegative(-stride):
                    raise InconclusiveError(f"{self._facts.spell(stride)} >= 0", [self._facts.describe(stride)])
                stride = 0
            total = total + (size - 1) * stride
        return total

    def _written(self, e: Nested) -> Any:
        if isinstance(e, tuple):
            return tuple(self._written(part) for part in e)
        return _to_user(e, self._facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self.shape, self.stride) == (other.shape, other.stride)

    def __hash__(self) -> int:
        return hash((self.shape, self.stride))

    def _repr_html_(self) -> str:
        return brief_html(
            repr(self), "\n".join(f"requires {relation(r)}" for r in self.requires), self._offsets_table()
        )

    def _offsets_table(self) -> str:
        """Return the values of one mode or two of few constant sizes as a table; an empty text for others."""
        sizes = [self[k].size for k in range(self.rank)] if self.rank in (1, 2) else []
        if not sizes or not all(isinstance(n, int) for n in sizes) or self.size > _MOST_SHOWN:
            return ""
        rows, columns = sizes if len(sizes) == 2 else (1, *sizes)
        return table_html([[self(i, j) if len(sizes) == 2 else self(j) for j in range(columns)] for i in range(rows)])

    def __repr__(self) -> str:
        return f"{text(self._nest.shape, self._facts)}:{text(self._nest.stride, self._facts)}"

    def _printed(self) -> Printed:
        return Printed(self._nest, self._facts, self.requires)

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[Any, ...]]:
        return layout, (self.shape, self.stride, self.requires)

    # ------------------------------------------------------------------ as an index map

    def view(self, x: Tensor, offset: Any = 0) -> Tensor:
        """Return the tensor that reads *x* at these offsets, one axis for each mode (see `symlayout.as_strided`).

        Examples
        --------
        >>> import symlayout as sl
        >>> x = sl.tensor("6", name="x")
        >>> sl.prove_equal(sl.layout("(2,3):(3,1)").view(x), sl.reshape(x, (2, 3))).verdict
        <Verdict.PROVED: 'proved'>
        """
        check_tensors("view", x)
        if self.is_based:
            return self._view_at_coordinates(x)
        shape, stride = self.shape, self.stride
        if not isinstance(shape, tuple):
            shape, stride = (shape,), (stride,)
        t = as_strided(x, shape, stride, offset)
        return assume(t, *more) if (more := self.requires) else t

    def _view_at_coordinates(self, x: Tensor) -> Tensor:
        """Return the tensor that reads *x* at the coordinates that are the values of the layout."""
        components = self._components()
        if len(components) != len(x.shape):
            rank = f"the values are coordinates of {len(components)} axes, and {x!r} has {len(x.shape)}"
            raise ShapeError(rank, "rank")
        for stride in (d for strides in components.values() for d in strides):
            if not self._facts.nonnegative(stride):
                raise InconclusiveError(f"{self._facts.spell(stride)} >= 0", [self._facts.describe(stride)])
        steps = {path: product(x.shape[axis + 1 :]) for axis, path in enumerate(components)}

        def offset(stride: Any) -> Any:
            if isinstance(stride, tuple):
                return tuple(map(offset, stride))
            return sum(n * steps[path] for path, n in stride.terms.items()) if isinstance(stride, basis.E) else stride

        ends = [self._written(self._reach(strides)) for strides in components.values()]
        shape, stride = self.shape, offset(self.stride)
        pair = (shape, stride) if isinstance(shape, tuple) else ((shape,), (stride,))
        for end, extent in zip(ends, x.shape, strict=True):
            if isinstance(end, int) and isinstance(extent, int) and end > extent:
                raise ShapeError(f"coordinate {end - 1} is outside of {extent}", "size_mismatch")
        stated = [sympy_bridge.to_relation(r, self._facts) for r in self._facts.requirements]
        return as_strided(assume(x, *stated, *_inside(ends, x.shape)), *pair)

    def beside(self, other: Tensor | Layout) -> tuple[Tensor, Tensor]:
        """Return two layouts as tensors that read one memory, for a proof that they are equal.

        The offset of coordinate 0 is a dim if an offset may be negative.
        """
        if not isinstance(other, Layout):
            raise TypeError("a layout is compared with a layout\n  help: a.view(x) is a tensor")
        memory, start = memory_of(self, other)
        return self.view(memory, start), other.view(memory, start)

    # ------------------------------------------------------------------ the algebra

    @property
    def cases(self) -> Cases:
        """The same questions, answered for all sizes: ``a.cases.composition(b)`` is a tuple of `LayoutCase`."""
        return Cases(self)

    def max_common_vector(self, other: Any) -> Answer:
        """Return the size of `max_common_layout`: so many elements are contiguous in both, in one order.

        ``requires`` of the answer says for which sizes.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(4,2):(1,8)").max_common_vector("8:1")
        4
        """
        found = self.max_common_layout(other)
        return Answer([((), found.size)], found.facts)

    def _answer(self, question: Question, facts: Facts) -> Layout:
        found, nest = first_answer(facts, question)
        return Layout(*nest.reduced(found), found)

    def _layout(self) -> Layout:
        return self

    def read(self, value: Any) -> Layout:
        """Return *value* as a layout: a layout itself, its text, or its sizes.

        Raises
        ------
        ShapeError
            ``no_layout`` for a composition that is kept, such as a layout under a swizzle.
        """
        known = isinstance(value, Layout) or hasattr(value, "outer")
        found = value if known else layout(value)
        if isinstance(found, Layout):
            return found
        raise ShapeError(f"{found} is a composition, and no layout of sizes and strides", "no_layout")


class LayoutCase(Value):
    """One case of an answer.

    Attributes
    ----------
    requires : tuple of SymPy relations
        The sizes of this case.
    layout : Layout or None
        The answer; None if there is none.
    kind : str
        ``"layout"``, ``"open"`` if the answer is not decided, or the kind of the `ShapeError`, such as ``"no_layout"``.
    reason : str
        Why there is none.
    witness : mapping or None
        Sizes of this case, by name; None if none were found.
    """

    requires: tuple[Any, ...]
    layout: Layout | None
    kind: str
    reason: str
    witness: Mapping[str, int] | None


class Cases(LayoutAlgebra[tuple[LayoutCase, ...]], ImageCases):
    """The algebra of a layout, each answer for all sizes: disjoint cases, one of which holds at any sizes.

    Examples
    --------
    >>> import symlayout as sl
    >>> for case in sl.layout("(6,2):(1,N)").cases.composition("(3,2):(2,3)"):
    ...     print(case.requires, case.kind, case.layout, case.witness)
    (Eq(N, 6),) layout (3,2):(2,3) {'N': 6}
    (N >= 7,) no_layout None {'N': 7}
    (N <= 5,) no_layout None {'N': 0}
    """

    __slots__ = ("_asked",)

    def __init__(self, asked: Layout) -> None:
        self._asked = asked

    def _layout(self) -> Layout:
        return self._asked

    def _answer(self, question: Question, facts: Facts) -> tuple[LayoutCase, ...]:
        return tuple(_case(found) for found in cases(facts, question))


def _case(found: CaseFound[Nest]) -> LayoutCase:
    error = found.error
    kind = "layout" if error is None else error.kind if isinstance(error, ShapeError) else "open"
    made = None if found.answer is None else Layout(*found.answer.reduced(found.facts), found.facts)
    reason = "" if error is None else str(error).splitlines()[0]
    return LayoutCase(relations(found.facts), made, kind, reason, found.point)


def layout(shape: Any, stride: Any = None, given: Any = ()) -> Layout:
    """Return a layout, from CuTe's notation or from its sizes and strides.

    Parameters
    ----------
    shape : str, int, dim, expression, nested tuples of them, or Tensor
        The text ``shape:stride``, or the sizes, each at least 1.  Text of a composition, ``a o 0 o b``, gives a
        `ComposedMap`, or a `ComposedLayout` under a swizzle.  Of a
        tensor, the layout is that of its elements in the memory of its input, which is in row-major order:
        ``layout(t).view(x)`` is *t*, where *x* is the input.
    stride : int, dim, expression, or nested tuples of them, optional
        The strides, nested as the sizes are.  By default the layout is compact, with the first size fastest.
    given : str, SymPy relation, or list of them, optional
        Relations that hold for the dims, as in `symlayout.assume`.  Those of a ``with sl.assume(...)`` block hold, too.

    Raises
    ------
    FormatError
        The text is not a layout.  The message points at the place.
    ShapeError
        ``length_mismatch`` if sizes and strides are nested differently; ``infeasible`` for a size below 1;
        ``no_layout`` if the map of a tensor has pads or several pieces.
    InconclusiveError
        The offsets of a tensor's elements are not found to be a layout.

    References
    ----------
    CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/01_layout.html

    Examples
    --------
    >>> layout("((2,4),3):((3,6),1)").shape
    ((2, 4), 3)
    >>> layout("(M,N)")
    (M,N):(1,M)
    >>> import symlayout as sl
    >>> layout(sl.einops.rearrange(sl.tensor("4*h, W", name="x"), "(h p) w -> w (p h)", p=4))
    (W,(h,4)):(1,(4*W,W))
    >>> layout("(4,8):(1,4")
    Traceback (most recent call last):
    symlayout.errors.FormatError: expected ')', found the end, at column 11 of a layout
      in: (4,8):(1,4
                    ^
    """
    if isinstance(shape, Tensor):
        return _of_tensor(shape)
    if isinstance(shape, str):
        if stride is None and (shape.lstrip().startswith("S<") or _COMPOSED.search(shape)):
            return composed_layout(shape)  # type: ignore[no-any-return]
        if stride is not None:
            raise FormatError("a layout in text contains its strides")
        sizes, strides = parse_layout(shape)
        trees = (sizes,) if strides is None else (sizes, strides)
        dims = {n: sympy_bridge.dim(n, *ends) for tree in trees for n, ends in names_of(*trees).items()}
        shape = _evaluated(sizes, dims)
        stride = None if strides is None else _evaluated(strides, dims)
    facts = Facts()
    sizes_ = _read(shape, facts, "shape")
    for e in flat(sizes_):
        rule = f"size {facts.spell(e)} is less than 1"
        facts.require_nonnegative(e - 1, "infeasible", SIZE if _is_one_term(e) else "", rule=rule)
    if stride is None:
        strides_: Nested = compact(sizes_, facts)[0]
    else:
        strides_ = _read(stride, facts, "stride")
        if profile(sizes_) != profile(strides_):
            spelled = f"shape {text(sizes_, facts)} and stride {text(strides_, facts)}"
            raise ShapeError(f"{spelled} are nested differently", "length_mismatch")
        _check_basis(strides_)
    more = assumed_about({name: sympy_bridge.symbol_of(d) for name, d in facts.dims.items()}, given)
    if more is not None:
        facts.merge(more)
    return Layout(*Nest(sizes_, strides_).reduced(facts), facts)


def _inside(ends: Sequence[Any], extents: Sequence[Any]) -> list[Any]:
    """Return the relations that each end is at most an extent, of those that are not numbers."""
    relations = [at_most(end, extent) for end, extent in zip(ends, extents, strict=True)]
    return [r for r in relations if r.free_symbols]


def _check_basis(strides: Nested) -> None:
    """Raise unless strides are numbers, or all of them steps of coordinates that have places beside each other."""
    if any(map(basis.is_based, flat(strides))):
        paths = {path for stride in flat(strides) for path in basis.parts(stride)}
        basis.nested({}, paths)


def _is_one_term(e: Extent) -> bool:
    return isinstance(e, Poly) and len(e.terms) == 1


def _of_tensor(t: Tensor) -> Layout:
    """Return the layout of a tensor's elements in the memory of its input."""
    check_moves("layout", t)
    reads = t.index_map.reads
    if len(reads) != 1 or (source := reads[0].leaf) is None or reads[0].windows or reads[0].guards:
        raise ShapeError(f"the map of {t!r} is no layout: it has pads or several pieces", "no_layout")

    def offsets(_: Box, read: Read) -> list[Extent]:
        return [read.facts.reduce(linear(read.coords, [read.facts.reduce(e) for e in source.extents]))]

    box, read = refine(t, reads[0].path, lambda box, read: [*box.coords, *offsets(box, read)])
    facts, (offset,) = read.facts, offsets(box, read)
    if box.windows or any(facts.terms_within(name) for name in names_in(offset)):
        raise InconclusiveError(f"the offset {facts.spell(offset)} is that of a layout")
    first = substitute(offset, dict.fromkeys(box.digits(), 0))
    if facts.reduce(first) != 0:
        raise ShapeError(f"the map of {t!r} is no layout: it begins at element {facts.spell(first)}", "no_layout")
    axes = [_digits_of(facts.reduce(coordinate), offset, box, facts) for coordinate in box.coords]
    shape, stride = (tuple(pair[k] for pair in axes) for k in (0, 1))
    written = Layout(shape, stride, facts)
    found = layout(written.shape, written.stride)
    proof = prove_on(t.facts, found.view(source), t)
    if proof.verdict is not Verdict.PROVED:
        raise InconclusiveError(f"the elements of {t!r} have the layout {found}", [proof.conclusion])
    return found


def _digits_of(coordinate: Extent, offset: Extent, box: Box, facts: Facts) -> tuple[Nested, Nested]:
    """Return the sizes of the digits of a coordinate, the fastest first, and their steps in *offset*."""
    modes: list[Mode] = []
    for name in reversed(box.digits()):
        if name in names_in(coordinate):
            linear_in = coefficient_of(offset, name) if isinstance(offset, Poly) else (0, offset)
            if linear_in is None:
                raise InconclusiveError(f"{facts.spell(offset)} is linear in {name}")
            modes.append((facts.reduce(box.extents[name]), linear_in[0]))
    if len(modes) == 1:
        return modes[0]
    return (tuple(n for n, _ in modes), tuple(d for _, d in modes)) if modes else (1, 0)


def _evaluated(tree: Tree, dims: Mapping[str, Any]) -> Any:
    if isinstance(tree, Group):
        return tuple(_evaluated(item, dims) for item in tree.items)
    return evaluate(tree, dims)


def _read(value: Any, facts: Facts, what: str) -> Nested:
    if is_list(value):
        return tuple(_read(part, facts, what) for part in as_list(value))
    if isinstance(value, basis.E) and what == "stride":
        return basis.to_extent(value, facts)
    return sympy_bridge.to_extent(value, facts, what)


def _to_user(e: Extent, facts: Facts) -> Any:
    if not basis.is_based(e):
        return sympy_bridge.to_sympy(e, facts)
    return basis.from_terms({path: sympy_bridge.to_sympy(factor, facts) for path, factor in basis.parts(e).items()})


def _offset(at: Any, nest: Nest, facts: Facts) -> Extent:
    if is_list(at):
        coords, parts = as_list(at), nest.parts()
        if not isinstance(nest.shape, tuple) or len(coords) != len(parts):
            raise ShapeError(f"coordinate {shown(at)} does not fit the shape {text(nest.shape, facts)}", "rank")
        return facts.reduce(sum(_offset(c, part, facts) for c, part in zip(coords, parts, strict=True)))
    number = sympy_bridge.to_extent(at, facts, "coordinate")
    return algebra.offset(nest.modes(), number, facts)


def memory_of(*layouts: Layout) -> tuple[Tensor, Any]:
    """Return a memory of any size, and where coordinate 0 of layouts stands in it: a dim if an offset may be < 0."""
    rising = all(one.facts.nonnegative(d) for one in layouts for _, d in one.nest.modes())
    return tensor((sympy_bridge.dim("memory"),), name="memory"), 0 if rising else sympy_bridge.dim("origin")


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts as tensors that read one memory; return anything else as it is."""
    return left.beside(right) if isinstance(left, Layout) else (left, right)
