"""The composed index map in the form that people read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from symlayout import facade
from symlayout.algebra.facts import Facts
from symlayout.algebra.floor_normal_form import digit_name
from symlayout.algebra.polynomial import names_of, symbol
from symlayout.errors import FormatError, shown
from symlayout.language import latex, sympy_bridge
from symlayout.language.notations import TVM, index_lambda, legal_names, lowered
from symlayout.language.readable import Sum, fold
from symlayout.language.to_text import axis_names, spell
from symlayout.maps.compose_chain import Guard, Read, Window, normalise
from symlayout.maps.merge_pieces import Piece, as_piece, merge, written
from symlayout.maps.outer_fills import OuterFill, outer_fills
from symlayout.tensors.chain import check_moves
from symlayout.tensors.element_types import same_fill
from symlayout_codegen.forks import cached_property

if TYPE_CHECKING:
    from symlayout.facade import Inverse
    from symlayout.maps.box_image import Image
    from symlayout.tensors.chain import Tensor


class IndexMap:
    """The map from output coordinates to the input coordinates that they read.

    It prints as ``(i0, i1) -> (i1, i0)``.  A read that may leave the source prints with ``if ... else fill``.  Parts of
    the domain that read differently print with ``where`` conditions, separated by ``;``.  Elements that a
    pad around all parts fills print with ``elsewhere``.

    Attributes
    ----------
    domain : tuple
        The extents of the output: ints and SymPy expressions.
    reads : list of Read
        The pieces in normal form.

    Examples
    --------
    >>> import symlayout as sl
    >>> m = sl.pad(sl.tensor("H, W", name="x"), [(1, 1), (0, 0)]).index_map
    >>> m
    (i0, i1) -> (i0 - 1, i1) if 0 <= i0 - 1 < H else 0
    >>> m.domain
    (H + 2, W)
    >>> m.coords
    (i0 - 1, i1)
    >>> m.fill
    0
    """

    def __init__(self, t: Tensor, reads: list[Read] | None = None) -> None:
        self._t = t
        self.reads = normalise(t, shown=all(node.own for node in t.nodes())) if reads is None else reads

    def __reduce__(self) -> tuple[Callable[..., IndexMap], tuple[Any, ...]]:
        return index_map_of, (self._t,)

    # ------------------------------------------------------------------ as data

    @cached_property
    def domain(self) -> tuple[Any, ...]:
        """The shape of the output."""
        return self._t.shape

    @cached_property
    def indices(self) -> tuple[Any, ...]:
        """The SymPy symbols of the output coordinate."""
        import sympy

        return tuple(sympy.Symbol(n, integer=True, nonnegative=True) for n in self.names)

    @cached_property
    def coords(self) -> tuple[Any, ...]:
        """The coordinate that the first piece reads, as ints and SymPy expressions."""
        return tuple(self._sympy(e) for e in _coords(self.pieces[0], self._digits)) if self.pieces else ()

    @cached_property
    def guard(self) -> Any:
        """The condition under which the first piece reads its source, as a SymPy boolean; elsewhere it is the fill."""
        import sympy

        if not self.pieces or self.pieces[0].leaf is None:
            return sympy.false
        return self._conditions([g.window for g in self.pieces[0].guards])

    @cached_property
    def fixed(self) -> Any:
        """The condition under which an element is read from its own coordinate, as a SymPy boolean.

        Only sources of the rank of the output are considered.  Computed elements are refused, with `ArrayError`.
        """
        check_moves("fixed", self._t, constants=True)
        import sympy

        found = []
        for read in self.reads:
            windows = [*read.windows, *(g.window for g in read.guards)]
            facts, rank = read.facts, self._t.rank
            if read.leaf is None or read.leaf.rank != rank or any(_fails(w, facts) for w in windows):
                continue
            own = [symbol(digit_name(k)) if digit_name(k) in facts.low else 0 for k in range(rank)]
            moved = [k for k in range(rank) if not facts.vanishes(facts.reduce(read.coords[k] - own[k]))]
            same = [sympy.Eq(self._sympy(fold(read.coords[k], facts, self._digits)), self.indices[k]) for k in moved]
            found.append(sympy.And(self._conditions(windows), *same))
        return sympy.Or(*found)

    def _conditions(self, windows: Sequence[Window]) -> Any:
        import sympy

        conditions = []
        for window in windows:
            value, extent = (self._sympy(e) for e in _sides(window, self._digits))
            conditions += [sympy.Ge(value, 0), sympy.Lt(value, extent)]
        return sympy.And(*conditions)

    @property
    def fill(self) -> Any:
        """The fill value of the first piece, or None if all of its elements come from a source."""
        fills = [g.fill for read in self.reads for g in read.guards]
        fills += [read.fill for read in self.reads if read.leaf is None]
        return fills[0] if fills else None

    @cached_property
    def pieces(self) -> list[Piece]:
        """The parts of the domain that read differently, merged as far as that is proved."""
        if len(self.reads) == 1 and not self.reads[0].windows:  # a single read uses the digits in which it is affine
            (split,) = normalise(self._t, shown=True, split=True)
            aligned = not any(name in split.facts.floors for e in split.coords for name in names_of(e))
            forms = [[split]] if aligned else [[split], self.reads]  # where radices do not line up, the shorter form
            return min((merge(self._t, reads) for reads in forms), key=lambda pieces: len(self._written(pieces[0])))
        return merge(self._t, self.reads)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the output coordinate's axes."""
        return axis_names(self._t.rank, self._t.facts.dims)

    def to_sympy(self) -> Any:
        """Return the map as a SymPy Lambda from an output coordinate to the element: `from_sympy` reads it.

        Raises
        ------
        FormatError
            SymPy cannot express a fill: text, a NaN, or -0.

        Examples
        --------
        >>> import symlayout as sl
        >>> H = sl.dim("H")
        >>> x = sl.tensor((H,), name="x")
        >>> y = sl.pad(x, 1)
        >>> y.index_map.to_sympy()
        Lambda(i0, Piecewise((0, ~((i0 - 1 >= 0) & (i0 - 1 < H))), (x[i0 - 1], True)))
        >>> sl.prove_equal(sl.from_sympy(x, y.shape, y.index_map.to_sympy()), y).verdict
        <Verdict.PROVED: 'proved'>
        """
        import sympy

        parts: dict[tuple[Any, Any], None] = {}
        for part in self.reads if any(b.guards for read in self.reads for b in read.branches) else self.pieces:
            for k, guard in enumerate(part.guards):  # in order, each before the windows that it guards
                first = len(part.windows)
                if isinstance(part, Read):
                    first = next((b.windows for b in part.branches if b.guards > k), first)
                here = self._conditions([*part.windows[:first], *(g.window for g in part.guards[:k])])
                fails = sympy.Not(self._conditions([guard.window]))
                parts[_number(guard.fill), sympy.And(here, fails)] = None
            held = [*part.windows, *(g.window for g in part.guards if isinstance(part, Read))]
            parts[self._element(part), self._conditions(held)] = None
        if not parts:  # the output has no elements
            return sympy.Lambda(self.indices, sympy.Integer(0))
        *others, (last, _) = parts
        element = sympy.Piecewise(*others, (last, sympy.true), evaluate=False) if others else last
        return sympy.Lambda(self.indices, element)

    def to_tvm(self) -> str:
        """Return the coordinate that is read as a lambda, which ``tvm.tirx.IndexMap.from_func`` takes.

        A dim is a variable of TVM, and ``T`` is ``tvm.tirx``.  `symlayout.index_map` reads a lambda.

        Raises
        ------
        FormatError
            The map has fills or several pieces, which an index map of TVM does not have.

        Examples
        --------
        >>> import symlayout as sl
        >>> x = sl.tensor("N, C, 2*h, W", name="x")
        >>> y = sl.reshape(x, (sl.dim("N"), sl.dim("C"), sl.dim("h"), 2, sl.dim("W")))
        >>> y.index_map.to_tvm()
        'lambda i0, i1, i2, i3, i4: [i0, i1, 2*i2 + i3, i4]'
        """
        if len(self.pieces) != 1 or self.fill is not None:
            raise FormatError("an index map of TVM has one piece, and no fill")
        legal = legal_names([*self.names, *self._t.facts.dims], TVM)
        coords = [spell(lowered(e, TVM, legal), TVM) for e in _coords(self.pieces[0], self._digits)]
        return index_lambda(self.names, coords)

    def _element(self, part: Piece | Read) -> Any:
        import sympy

        if part.leaf is None:
            return _number(part.fill)
        piece = part if isinstance(part, Piece) else as_piece(part)
        coords = [self._sympy(e) for e in _coords(piece, self._digits)]
        name = part.leaf.name
        return sympy.Indexed(sympy.IndexedBase(name), *coords) if coords else sympy.Symbol(name)

    # ------------------------------------------------------------------ with other maps

    def compose(self, other: IndexMap, source: str | None = None) -> IndexMap:
        """Return the map ``c -> self(other(c))``: *other* is applied to an output coordinate first, then *self*.

        The order is that of MLIR's ``AffineMap.compose`` and of the function composition ``self o other``.  Tensors
        compose the other way round: the map of ``g(f(x))`` is ``f(x).index_map.compose(g(y).index_map)``.  A dim of
        *other* that is an extent of its input gets its value from the domain of *self*, as at a call.  Any other dim
        means the dim of that name in *self*.

        Parameters
        ----------
        other : IndexMap
            The map to apply first.
        source : str, optional
            The input of *other* that *self* replaces; required if *other* has several.

        Raises
        ------
        ShapeError
            ``rank`` or ``size_mismatch`` if the input of *other* does not have the shape of the domain of *self*;
            ``dim_conflict`` if two dims share a name; ``source`` if no input, or several, match.

        Examples
        --------
        >>> from symlayout.ops.flip import flip
        >>> from symlayout.ops.transpose import transpose
        >>> from symlayout.tensors.input_tensor import tensor
        >>> turned = transpose(tensor("N, C")).index_map
        >>> turned.compose(flip(tensor("H, W"), 0).index_map)
        (i0, i1) -> (i1, C - i0 - 1)
        """
        from symlayout.tensors.substitute_input import compose

        if not isinstance(other, IndexMap):
            raise TypeError(f"compose takes an index map, not {type(other).__name__}")
        return IndexMap(compose(self._t, other._t, source))

    def image(self, box: Sequence[tuple[Any, Any] | None]) -> tuple[Image, ...]:
        """Return the input boxes that an output box reads: one `Image` for each input, in order of first use.

        `symlayout.maps.box_image.image` is the same function and lists the errors.

        Parameters
        ----------
        box : sequence of (start, stop) or None
            A half-open range of ints, dims or expressions for each axis of the output; None is the whole axis.
        """
        from symlayout.maps.box_image import image

        return image(self._t, box)

    def inverse(self) -> Inverse:
        """Return the inverse of the map, with proofs of its round trips: see `find_inverse.inverse`."""
        return facade.inverse(self._t)

    # ------------------------------------------------------------------ as text

    def __str__(self) -> str:
        pieces, fills = outer_fills(self._t, self.pieces)
        parts = [*map(self._written, pieces), *(text for fill in fills for text in self._outside(fill))]
        return f"({', '.join(self.names)}) -> " + ("; ".join(parts) or "nothing")

    __repr__ = __str__

    def latex(self) -> str:
        r"""Return the map in LaTeX, with ``cases`` if parts of the domain read differently.

        >>> from symlayout.ops.transpose import transpose
        >>> from symlayout.tensors.input_tensor import tensor
        >>> print(transpose(tensor("N, C", name="x")).index_map.latex())
        (i_{0}, i_{1}) \mapsto x[i_{1}, i_{0}]
        """
        rows: list[tuple[str, list[str]]] = []
        pieces, fills = outer_fills(self._t, self.pieces)
        for piece in pieces:
            where = [latex.window(*_sides(w, self._digits)) for w in piece.windows]
            reads = [latex.sum_(e) for e in _coords(piece, self._digits)]
            inner = latex.fill(piece.fill) if piece.leaf is None else latex.element(piece.leaf.name, reads)
            conditions = [latex.window(*_sides(g.window, self._digits)) for g in piece.guards]
            rows.append((inner, where + conditions))
            rows += [(latex.fill(f), where + conditions[:first]) for f, first, _ in self._otherwise(piece.guards)]
        for outer in fills:
            where = [latex.window(*_sides(w, self._digits)) for w in outer.windows]
            conditions = [latex.window(*_sides(g.window, self._digits)) for g in outer.guards]
            rows += [(latex.fill(f), where + conditions[:first]) for f, first, _ in self._otherwise(outer.guards)]
        return latex.index_map(list(self.names), rows)

    def _repr_html_(self) -> str | None:
        return facade.picture_of_tensor(self._t)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _written(self, piece: Piece) -> str:
        if piece.leaf is None:
            text = str(piece.fill)
        else:
            coords = ", ".join(map(spell, _coords(piece, self._digits)))
            leaves = self._t.leaves()
            is_plain = len(leaves) == 1 and leaves[0].body is None and leaves[0].values is None
            text = f"{'' if is_plain else piece.leaf.name}({coords})"
        conditions = [self._window(g.window) for g in piece.guards]
        for fill, _, last in self._otherwise(piece.guards):
            text += f" if {' and '.join(conditions[:last])} else {fill}"
        if piece.windows:
            text += " where " + " and ".join(self._window(w) for w in piece.windows)
        return text

    def _outside(self, outer: OuterFill) -> Iterator[str]:
        """Yield the parts of the domain that are filled around pieces."""
        where = [self._window(w) for w in outer.windows]
        conditions = [self._window(g.window) for g in outer.guards]
        for fill, first, last in self._otherwise(outer.guards):
            held = where + conditions[:first]
            inner = " and ".join(conditions[first:last])
            yield f"{fill} where {' and '.join([*held, f'not ({inner})'])}" if held else f"{fill} elsewhere"

    def _otherwise(self, guards: Sequence[Guard]) -> Iterator[tuple[Any, int, int]]:
        """Yield ``(fill, first, stop)``, innermost first: guards ``first`` to ``stop - 1`` give this fill."""
        fills = [g.fill for g in guards]
        last = len(fills)
        while last:
            first = last - 1
            while first and same_fill(fills[first - 1], fills[last - 1], self._t.dtype):
                first -= 1
            yield fills[last - 1], first, last
            last = first

    def _window(self, window: Window) -> str:
        value, extent = _sides(window, self._digits)
        return f"0 <= {spell(value)} < {spell(extent)}"

    @cached_property
    def _digits(self) -> dict[str, str]:
        return {digit_name(k): n for k, n in enumerate(self.names)}

    def _sympy(self, e: Sum) -> Any:
        """Return an expression as an int or a SymPy expression over `indices`."""
        index = dict(zip(self.names, self.indices, strict=True))
        dims = self._t.facts.dims
        value = sympy_bridge.written(
            e, lambda name: index[name] if name in index else sympy_bridge.symbol_of(dims[name])
        )
        return int(value) if value.is_Integer else value


def _coords(piece: Piece, names: dict[str, str]) -> list[Sum]:
    return [written(e, piece.facts, names) for e in piece.coords]


def _number(value: Any) -> Any:
    """Return a fill as the SymPy number that converts back to the same fill; ``FormatError`` if there is none."""
    import sympy

    if isinstance(value, (int, float)) or getattr(getattr(value, "dtype", None), "kind", "") in "biuf":
        plain = value.item() if hasattr(value, "item") else value
        made = sympy.Integer(plain) if isinstance(plain, int) else sympy.Float(plain, 17)
        if made.is_finite and same_fill(int(made) if made.is_Integer else float(made), value, None):
            return made
    raise FormatError(f"fill {shown(value)} is not a SymPy number")


def _sides(window: Window, names: dict[str, str]) -> tuple[Sum, Sum]:
    """Return the value and the extent of a window."""
    return fold(window.value, window.facts, names), fold(window.extent, window.facts, names)


def _fails(window: Window, facts: Facts) -> bool:
    """Return whether *facts*, which contain *window*, show that it never holds."""
    return facts.excludes(window.value) or facts.excludes(window.extent - 1 - window.value)


def index_map_of(t: Tensor, reads: list[Read] | None = None) -> IndexMap:
    """Return the composed index map of *t*.  *reads* may pass the reads of its normal form if the caller has them."""
    return IndexMap(t, reads)
