"""Layouts as CuTe writes them, ``((2,4),3):((3,6),1)``: a shape, and a stride for each of its sizes.

A layout is the function from coordinates to offsets in memory.  `Layout.view` makes it an index map, so that layouts
are compared with every other map.  Results of the algebra are returned only with their defining equation proved.

Sizes are at least 1.  Tuples of layouts as tilers are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, Poly, coefficient_of, product, substitute
from symlayout.algebra.polynomial import names_of as names_in
from symlayout.errors import FormatError, InconclusiveError, ShapeError, shown
from symlayout.facade import composed_layout
from symlayout.language import sympy_bridge
from symlayout.language.grammar_trees import Group, Tree
from symlayout.language.parse import evaluate, names_of, parse_layout
from symlayout.layouts import modes as algebra
from symlayout.layouts.modes import Mode
from symlayout.maps.compose_chain import Read
from symlayout.maps.split_digits import Box, refine
from symlayout.ops.reshape import as_strided, linear
from symlayout.proof.prove import prove_equal, prove_on
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor, check_moves, check_tensors
from symlayout.tensors.declaration import as_list, is_list
from symlayout.tensors.input_tensor import tensor

Nested = Any  # an Extent, or a tuple of Nested


class Layout:
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

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.layout("((2,4),3):((3,6),1)")
    >>> a.size, a.cosize, a((1, 2), 0), a(5, 0)
    (24, 24, 15, 15)
    >>> a.composition("(4,2,3):(2,1,8)")
    (4,2,3):(6,3,1)
    """

    __slots__ = ("_facts", "_shape", "_stride")

    def __init__(self, shape: Nested, stride: Nested, facts: Facts) -> None:
        self._shape, self._stride, self._facts = shape, stride, facts

    # ------------------------------------------------------------------ what it is

    @property
    def shape(self) -> Any:
        """The sizes: an int, an expression, or nested tuples of them."""
        return self._written(self._shape)

    @property
    def stride(self) -> Any:
        """The strides, nested as the shape is."""
        return self._written(self._stride)

    @property
    def rank(self) -> int:
        """The number of modes at the top."""
        return len(self._shape) if isinstance(self._shape, tuple) else 1

    @property
    def size(self) -> Any:
        """The number of coordinates."""
        return self._written(product(_flat(self._shape)))

    @property
    def cosize(self) -> Any:
        """One more than the largest offset."""
        return self._written(self._cosize())

    def __call__(self, *coordinate: Any) -> Any:
        """Return the offset of a coordinate: a number, or one number or tuple for each mode.

        A number beyond the size counts on in the last digit.
        """
        at = coordinate[0] if len(coordinate) == 1 else coordinate
        return self._written(self._offset(at, self._shape, self._stride))

    def _offset(self, at: Any, shape: Nested, stride: Nested) -> Extent:
        if is_list(at):
            parts = as_list(at)
            if not isinstance(shape, tuple) or len(parts) != len(shape):
                raise ShapeError(f"coordinate {shown(at)} does not fit the shape {_text(shape, self._facts)}", "rank")
            return sum(self._offset(*triple) for triple in zip(parts, shape, stride, strict=True))
        facts = self._facts.fork()
        number = sympy_bridge.to_extent(at, facts, "coordinate")
        return algebra.offset(_modes(shape, stride), number, facts)

    def _cosize(self) -> Extent:
        total: Extent = 1
        for size, stride in self._modes():
            if not self._facts.nonnegative(stride):
                if not self._facts.nonnegative(-stride):
                    raise InconclusiveError(f"{self._facts.spell(stride)} >= 0", [self._facts.describe(stride)])
                stride = 0
            total = total + (size - 1) * stride
        return total

    def _modes(self) -> list[Mode]:
        return _modes(self._shape, self._stride)

    def _written(self, e: Nested) -> Any:
        if isinstance(e, tuple):
            return tuple(self._written(part) for part in e)
        return sympy_bridge.to_sympy(e, self._facts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self.shape, self.stride) == (other.shape, other.stride)

    def __hash__(self) -> int:
        return hash((self.shape, self.stride))

    def __repr__(self) -> str:
        return f"{_text(self._shape, self._facts)}:{_text(self._stride, self._facts)}"

    def __reduce__(self) -> tuple[Callable[..., Layout], tuple[Any, ...]]:
        return layout, (self.shape, self.stride)

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
        shape, stride = self.shape, self.stride
        return (
            as_strided(x, shape, stride, offset)
            if isinstance(shape, tuple)
            else as_strided(x, [shape], [stride], offset)
        )

    def beside(self, other: Tensor | Layout) -> tuple[Tensor, Tensor]:
        """Return two layouts as tensors that read one memory, for a proof that they are equal.

        The offset of coordinate 0 is a dim if an offset may be negative.
        """
        if not isinstance(other, Layout):
            raise TypeError("a layout is compared with a layout\n  help: a.view(x) is a tensor")
        memory, start = _memory(self, other)
        return self.view(memory, start), other.view(memory, start)

    # ------------------------------------------------------------------ the algebra

    def coalesce(self) -> Layout:
        """Return the same function of an integer, with the fewest modes."""
        return self._made(algebra.coalesced(self._modes(), self._facts), self._facts)

    def composition(self, other: Layout | str | int) -> Layout:
        """Return the layout ``c -> self(other(c))``, with the shape of *other*; its sizes may become tuples.

        Raises
        ------
        ShapeError
            ``no_layout`` if no layout has these values.
        InconclusiveError
            A condition on symbols is not decided.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(M,N):(N,1)").composition("4:1")
        Traceback (most recent call last):
        symlayout.errors.InconclusiveError: cannot decide whether M divides 4
          known: 0 <= M, M - 1 >= 0
          help: tighten the bounds of the dims, or fix some of them
        >>> sl.layout("(M,N):(N,1)").composition("(M,N):(1,M)")
        (M,N):(N,1)
        """
        other = _as_layout(other)
        facts = self._facts.fork()
        facts.merge(other._facts)
        outer = self._modes()

        def mode(size: Nested, stride: Nested) -> Layout:
            if isinstance(size, tuple):
                parts = [mode(*pair) for pair in zip(size, stride, strict=True)]
                return Layout(tuple(p._shape for p in parts), tuple(p._stride for p in parts), facts)
            return self._made(algebra.composed(outer, facts.reduce(size), facts.reduce(stride), facts), facts)

        found = mode(other._shape, other._stride)
        _demand_composed(self, other, found, facts)
        return found

    def complement(self, size: Any = 1) -> Layout:
        """Return the layout, in rising order, that reaches what this one leaves out.

        Together both reach each number below a multiple of *size* once, or below this layout's own reach.  Modes with
        the stride 0 do not count.

        Raises
        ------
        ShapeError
            ``no_layout`` if there is none.
        InconclusiveError
            A condition on symbols is not decided.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("4:2").complement(24)
        (2,3):(1,8)
        """
        facts = self._facts.fork()
        most = sympy_bridge.to_extent(size, facts, "size")
        return self._made(algebra.complemented(self._modes(), most, facts), facts)

    def right_inverse(self) -> Layout:
        """Return a layout *R* with ``self(R(k)) == k`` for all k below its size.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(8,4):(4,1)").right_inverse()
        (4,8):(8,1)
        """
        found = self._made(algebra.right_inverse(self._modes(), self._facts), self._facts)
        _demand_composed(self, found, _identity(found), self._facts)
        return found

    def left_inverse(self) -> Layout:
        """Return a layout *L* with ``L(self(k)) == k`` for all k below the size of this one.

        Raises
        ------
        ShapeError
            ``no_layout`` if two coordinates have one offset.
        InconclusiveError
            No layout is found.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(4,2):(1,16)").left_inverse()
        (16,2):(1,4)
        """
        found = self._made(algebra.left_inverse(self._modes(), self._facts), self._facts)
        _demand_composed(found, self, _identity(self), self._facts)
        return found

    def _made(self, modes: Sequence[Mode], facts: Facts) -> Layout:
        """Return the layout of flat modes."""
        if len(modes) == 1:
            return Layout(*modes[0], facts)
        return Layout(tuple(n for n, _ in modes), tuple(d for _, d in modes), facts)


def layout(shape: Any, stride: Any = None) -> Layout:
    """Return a layout, from CuTe's notation or from its sizes and strides.

    Parameters
    ----------
    shape : str, int, dim, expression, nested tuples of them, or Tensor
        The text ``shape:stride``, or the sizes, each at least 1.  Text with a swizzle gives a `ComposedLayout`.  Of a
        tensor, the layout is that of its elements in the memory of its input, which is in row-major order:
        ``layout(t).view(x)`` is *t*, where *x* is the input.
    stride : int, dim, expression, or nested tuples of them, optional
        The strides, nested as the sizes are.  By default the layout is compact, with the first size fastest.

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
        if shape.lstrip().startswith("S<") and stride is None:
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
    for e in _flat(sizes_):
        facts.require_nonnegative(e - 1, "infeasible", "layout", rule=f"size {facts.spell(e)} is less than 1")
    if stride is None:
        return Layout(sizes_, _compact(sizes_, 1, facts)[0], facts)
    strides_ = _read(stride, facts, "stride")
    if _profile(sizes_) != _profile(strides_):
        text = f"shape {_text(sizes_, facts)} and stride {_text(strides_, facts)} are nested differently"
        raise ShapeError(text, "length_mismatch")
    return Layout(sizes_, strides_, facts)


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
        parts = tuple(_read(part, facts, what) for part in as_list(value))
        if not parts:
            raise ShapeError(f"a layout has no empty {what}", "length_mismatch")
        return parts
    return sympy_bridge.to_extent(value, facts, what)


def _compact(shape: Nested, step: Extent, facts: Facts) -> tuple[Nested, Extent]:
    """Return the strides of a compact layout, and the stride that follows."""
    if not isinstance(shape, tuple):
        return step, facts.reduce(step * shape)
    found = []
    for part in shape:
        stride, step = _compact(part, step, facts)
        found.append(stride)
    return tuple(found), step


def _flat(e: Nested) -> Iterator[Extent]:
    if isinstance(e, tuple):
        for part in e:
            yield from _flat(part)
    else:
        yield e


def _modes(shape: Nested, stride: Nested) -> list[Mode]:
    return list(zip(_flat(shape), _flat(stride), strict=True))


def _profile(e: Nested) -> Any:
    return tuple(map(_profile, e)) if isinstance(e, tuple) else None


def _text(e: Nested, facts: Facts) -> str:
    if isinstance(e, tuple):
        return f"({','.join(_text(part, facts) for part in e)})"
    return facts.spell(e)


def _as_layout(value: Layout | str | int) -> Layout:
    return value if isinstance(value, Layout) else layout(value)


def _memory(*layouts: Layout) -> tuple[Tensor, Any]:
    """Return a memory of any size, and where coordinate 0 of layouts stands in it: a dim if an offset may be < 0."""
    rising = all(one._facts.nonnegative(d) for one in layouts for _, d in one._modes())
    return tensor((sympy_bridge.dim("memory"),), name="memory"), 0 if rising else sympy_bridge.dim("origin")


def _identity(like: Layout) -> Layout:
    """Return the layout with the shape of *like* whose offset is the number of the coordinate."""
    return Layout(like._shape, _compact(like._shape, 1, like._facts)[0], like._facts)


def _demand_composed(outer: Layout, inner: Layout, found: Layout, facts: Facts) -> None:
    """Raise unless ``outer(inner(c)) == found(c)`` is proved for all coordinates *c*.

    Raises
    ------
    ShapeError
        ``no_layout`` if the equation is refuted.
    InconclusiveError
        It is neither proved nor refuted.
    """
    if falls := [d for _, d in inner._modes() if not facts.nonnegative(d)]:
        raise ShapeError(f"{inner} may have a negative offset\n  known: {facts.describe(falls[0])}", "infeasible")
    *most, (_, step) = outer._modes()
    counts = (
        *(n for n, _ in most),
        facts.reduce(inner._cosize()),
    )  # the last digit counts on as far as *inner* reaches
    longer = Layout((counts,), ((*(d for _, d in most), step),), facts)
    memory, start = _memory(outer, found)
    if not isinstance(inner._shape, tuple):  # *found* has one axis, of several digits
        inner, found = (Layout((a._shape,), (a._stride,), facts) for a in (inner, found))
    proof = prove_equal(inner.view(longer.view(memory, start)), found.view(memory, start))
    if proof.verdict is Verdict.REFUTED:
        raise ShapeError(
            f"the composition is no layout: {outer} of {inner} is not {found}\n  known: {proof.conclusion}", "no_layout"
        )
    if proof.verdict is Verdict.UNKNOWN:
        raise InconclusiveError(f"{outer} of {inner} is {found}", [proof.conclusion])


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts as tensors that read one memory; return anything else as it is."""
    return left.beside(right) if isinstance(left, Layout) else (left, right)
