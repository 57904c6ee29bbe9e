"""Linear layouts, as Triton has them: maps of bits, each a sum over the field of two elements.

A layout is given by what it does to each bit of its input: the values at 1, 2, 4, ... of each in dim, its bases.  The
value elsewhere is the exclusive or of the bases of the bits that are set.  Compact layouts of powers of two, swizzles
and fragments of tensor cores are linear layouts.

References
----------
Zhou et al., Linear Layouts: Robust Code Generation of Efficient Tensor Computation Using F2, 2025,
https://arxiv.org/abs/2505.23819; Triton, include/triton/Tools/LinearLayout.h
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symlayout.algebra.arithmetic import MAX_BIT
from symlayout.errors import ShapeError, shown
from symlayout.inverses.properties import Finding
from symlayout.layouts.linear import f2_columns as f2
from symlayout.layouts.linear.linear_view import Row, linear_view, value_of
from symlayout.layouts.strided_layout import Layout, layout
from symlayout.layouts.swizzle import ComposedLayout, Swizzle
from symlayout.proof.verdict import Verdict
from symlayout.tensors.chain import Tensor, check_tensors

Basis = tuple[int, ...]


class LinearLayout:
    """A map from in dims to out dims that is linear over bits.

    Attributes
    ----------
    bases : dict of str to tuple
        For each in dim the values at 1, 2, 4, ...: a tuple each, with a number for each out dim.
    in_dims, out_dims : dict of str to int
        The sizes, which are powers of two.

    Examples
    --------
    >>> import symlayout as sl
    >>> a = sl.linear_layout({"register": [1, 2], "lane": [4, 9]}, ["offset"])
    >>> a
    linear_layout({'register': [1, 2], 'lane': [4, 9]}, {'offset': 16})
    >>> a(3, 2), a(1, 3)
    (10, 12)
    >>> a.pseudoinvert().compose(a).bases
    {'offset': ((1,), (2,), (4,), (8,))}
    """

    __slots__ = ("bases", "in_dims", "out_dims")

    def __init__(self, bases: Mapping[str, Sequence[Basis]], out_dims: Mapping[str, int]) -> None:
        self.bases = {name: tuple(map(tuple, vectors)) for name, vectors in bases.items()}
        self.out_dims = dict(out_dims)
        self.in_dims = {name: 1 << len(vectors) for name, vectors in self.bases.items()}
        for size in self.out_dims.values():
            log2(size)
        for name, vectors in self.bases.items():
            for vector in vectors:
                if len(vector) != len(self.out_dims):
                    raise ShapeError(
                        f"the basis {vector} of {name!r} has {len(vector)} numbers for {len(self.out_dims)} out dims",
                        "length_mismatch",
                    )
                for value, (out, size) in zip(vector, self.out_dims.items(), strict=True):
                    if not 0 <= value < size:
                        raise ShapeError(f"the basis {vector} of {name!r} is outside of {out!r}", "infeasible")
        for what, bits in (("in", self._in_bits()), ("out", self._out_bits())):
            if bits > MAX_BIT:
                raise ShapeError(f"a linear layout with {bits} {what} bits has more than {MAX_BIT}", "infeasible")

    # ------------------------------------------------------------------ made from little

    @staticmethod
    def identity_1d(size: int, name: str, out: str) -> LinearLayout:
        """Return the identity between an in dim and an out dim of this size, a power of two."""
        return LinearLayout.strided_1d(size, 1, name, out)

    @staticmethod
    def strided_1d(size: int, stride: int, name: str, out: str) -> LinearLayout:
        """Return the layout ``k -> stride*k``; the size and the stride are powers of two.

        >>> LinearLayout.strided_1d(4, 8, "lane", "offset")
        linear_layout({'lane': [8, 16]}, {'offset': 32})
        """
        bits, step = log2(size), 1 << log2(stride)
        return LinearLayout({name: [(step << k,) for k in range(bits)]}, {out: step << bits})

    @staticmethod
    def zeros_1d(size: int, name: str, out: str, out_size: int = 1) -> LinearLayout:
        """Return the layout that is 0 at each of *size* coordinates, a power of two."""
        return LinearLayout({name: [(0,)] * log2(size)}, {out: out_size})

    @staticmethod
    def from_matrix(matrix: Any, ins: Mapping[str, int], outs: Mapping[str, int]) -> LinearLayout:
        """Return the layout with this matrix, in the order of `LinearLayout.to_matrix`, and these sizes.

        Raises
        ------
        ShapeError
            ``size_mismatch`` if the matrix does not have a row for each out bit and a column for each in bit.

        Examples
        --------
        >>> LinearLayout.from_matrix([[1, 1], [0, 1]], {"x": 4}, {"offset": 4})
        linear_layout({'x': [1, 3]}, {'offset': 4})
        """
        a = np.asarray(matrix)
        rows, width = (sum(map(log2, sizes.values())) for sizes in (outs, ins))
        if a.size != rows * width or (a.size and a.shape != (rows, width)) or not np.isin(a, (0, 1)).all():
            raise ShapeError(f"the matrix is not one of {rows} rows and {width} columns of bits", "size_mismatch")
        columns = [sum(int(a[row, c]) << row for row in range(rows)) for c in range(width)]
        return _of_columns(columns, ins, outs)

    # ------------------------------------------------------------------ what it is

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearLayout) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[Any, ...]:
        """Return the bases and the sizes; the order of the dims counts."""
        return tuple(self.bases.items()), tuple(self.out_dims.items())

    def __reduce__(self) -> tuple[Callable[..., LinearLayout], tuple[Any, ...]]:
        return LinearLayout, (self.bases, self.out_dims)

    def __repr__(self) -> str:
        single = len(self.out_dims) == 1
        bases = {name: [v[0] if single else list(v) for v in vectors] for name, vectors in self.bases.items()}
        return f"linear_layout({bases}, {self.out_dims})"

    def _in_bits(self) -> int:
        return sum(map(len, self.bases.values()))

    def _out_bits(self) -> int:
        return sum(log2(size) for size in self.out_dims.values())

    def _columns(self) -> list[int]:
        """Return the matrix: a column for each in bit and a bit for each out bit, the first dims lowest."""
        return [self._joined(vector) for vectors in self.bases.values() for vector in vectors]

    def _joined(self, values: Iterable[int]) -> int:
        total = shift = 0
        for value, size in zip(values, self.out_dims.values(), strict=True):
            total |= value << shift
            shift += log2(size)
        return total

    def is_injective(self) -> Finding:
        """Decide whether no two coordinates have one value.

        The witness is ``(value, coordinate, other coordinate)``, with a number for each dim.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.linear_layout({"lane": [1, 0], "warp": [2]}).is_injective()
        REFUTED: the value (0,) is that of (0, 0) and of (2, 0)
        """
        what = "no two coordinates have one value"
        if (other := f2.null_vector(self._columns(), self._out_bits())) is None:
            return Finding(what, Verdict.PROVED, searched=1, point={})
        value, zeros, at = (0,) * len(self.out_dims), (0,) * len(self.in_dims), _parts_of(other, self.in_dims)
        reason = f"the value {value} is that of {zeros} and of {at}"
        return Finding(what, Verdict.REFUTED, {}, (value, zeros, at), reason, searched=1)

    def is_surjective(self) -> Finding:
        """Decide whether each coordinate of the out dims is a value.

        The witness is ``(value,)``, which no coordinate has, with a number for each out dim.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.linear_layout({"lane": [1, 4]}, {"offset": 8}).is_surjective()
        REFUTED: the value (2,) is reached nowhere
        """
        what = "each value is reached"
        if (missing := f2.outside(self._columns(), self._out_bits())) is None:
            return Finding(what, Verdict.PROVED, searched=1, point={})
        value = _parts_of(missing, self.out_dims)
        return Finding(what, Verdict.REFUTED, {}, (value,), f"the value {value} is reached nowhere", searched=1)

    def is_invertible(self) -> bool:
        """Return whether it is injective and surjective."""
        return f2.rank(self._columns()) == self._in_bits() == self._out_bits()

    def free_variable_masks(self) -> dict[str, int]:
        """Return, for each in dim, the bits whose bases are sums of those of earlier bits.

        >>> import symlayout as sl
        >>> sl.linear_layout({"lane": [1, 0], "warp": [1, 2]}).free_variable_masks()
        {'lane': 2, 'warp': 1}
        """
        mask = f2.dependent(self._columns())
        found = {}
        for name, size in self.in_dims.items():
            found[name] = mask % size
            mask //= size
        return found

    def num_consecutive(self) -> int:
        """Return how many coordinates of the first in dim, from any multiple of that number, stay consecutive.

        The values are those of the first out dim; the others do not change.
        """
        if not self.bases or not self.out_dims:
            return 1
        first, *others = self.bases.values()
        unit = (0,) * (len(self.out_dims) - 1)
        count = next((k for k, v in enumerate(first) if v != (1 << k, *unit)), len(first))
        rest = 0
        for vector in itertools.chain(first[count:], *others):
            rest |= vector[0]
        return min(1 << count, rest & -rest or 1 << count)

    # ------------------------------------------------------------------ the function

    def __call__(self, *coordinate: Any) -> Any:
        """Return the value: a number if there is one out dim, otherwise a tuple.

        Parameters
        ----------
        coordinate : int, array or expression
            One for each in dim, or a tuple of them.  Bits beyond the size do not count.

        Raises
        ------
        ShapeError
            ``rank`` if there is not one number for each in dim.
        """
        (at,) = coordinate if len(coordinate) == 1 and isinstance(coordinate[0], (tuple, list)) else (coordinate,)
        if len(at) != len(self.bases):
            raise ShapeError(f"{len(at)} numbers for {len(self.bases)} in dims", "rank")
        found = tuple(value_of(rows, at) for rows in self._rows())
        return found[0] if len(found) == 1 else found

    def apply(self, coordinate: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value by names, as Triton does.

        >>> import symlayout as sl
        >>> sl.linear_layout({"x": [1, 3]}, ["offset"]).apply({"x": 3})
        {'offset': 2}
        """
        _same_dims(coordinate, self.bases, "in dims")
        at = [coordinate[name] for name in self.bases]
        return dict(zip(self.out_dims, (value_of(rows, at) for rows in self._rows()), strict=True))

    def _rows(self) -> tuple[tuple[Row, ...], ...]:
        """Return, for each out dim, the sum of bits that each bit of its value is."""
        places = [(dim, k, v) for dim, vectors in enumerate(self.bases.values()) for k, v in enumerate(vectors)]
        return tuple(
            tuple(
                tuple((dim, place) for dim, place, vector in places if vector[out] >> t & 1) for t in range(log2(size))
            )
            for out, size in enumerate(self.out_dims.values())
        )

    def view(self, x: Tensor) -> Tensor:
        """Return the tensor that reads *x* at the values, with an axis for each in dim.

        The last axes of *x* are the out dims; axes before them stay.

        Raises
        ------
        ShapeError
            ``rank`` if *x* has fewer axes than there are out dims; ``size_mismatch`` if an axis is too short.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.linear_layout("(4,8):(8,1)")
        >>> x = sl.tensor("32", name="x")
        >>> sl.prove_equal(a.view(x), sl.layout("(4,8):(8,1)").view(x)).verdict
        <Verdict.PROVED: 'proved'>
        """
        check_tensors("view", x)
        return linear_view(x, self._rows(), tuple(self.in_dims.values()), tuple(self.out_dims.values()))

    def tiles(self, x: Tensor) -> Tensor:
        """Return the tensor that reads each tile of *x* at the values: ``(*before, *tiles, *in dims)``.

        The last axes of *x* are cut into tiles of the sizes of the out dims, which divide them; they may be symbolic.

        Raises
        ------
        ShapeError
            ``rank`` if *x* has fewer axes than there are out dims; ``non_divisible`` if a size does not divide an axis.

        Examples
        --------
        >>> import symlayout as sl
        >>> a = sl.linear_layout({"register": [(0, 1)], "lane": [(1, 0), (2, 2)]}, ["row", "column"])
        >>> a.tiles(sl.tensor("M, 4*n", name="x")).shape
        (M/4, n, 2, 4)
        """
        check_tensors("tiles", x)
        return linear_view(x, self._rows(), tuple(self.in_dims.values()), tuple(self.out_dims.values()), tiled=True)

    # ------------------------------------------------------------------ the algebra

    def compose(self, outer: LinearLayout) -> LinearLayout:
        """Return ``x -> outer(self(x))``; the out dims of this layout are the in dims of *outer*, by name.

        Raises
        ------
        ShapeError
            ``length_mismatch`` if the names differ; ``size_mismatch`` if an out dim is larger than that of *outer*.
        """
        _same_dims(self.out_dims, outer.in_dims, "dims between two layouts")
        for name, size in self.out_dims.items():
            if size > outer.in_dims[name]:
                raise ShapeError(f"{name!r} has the size {size}, and then {outer.in_dims[name]}", "size_mismatch")
        at = [list(self.out_dims).index(name) for name in outer.in_dims]

        def value(vector: Basis) -> Basis:
            return tuple(value_of(rows, [vector[k] for k in at]) for rows in outer._rows())

        return LinearLayout({name: [value(v) for v in vectors] for name, vectors in self.bases.items()}, outer.out_dims)

    def pseudoinvert(self) -> LinearLayout:
        """Return *r* with ``self(r(self(x))) == self(x)``: at each value it is one of the coordinates that have it.

        Bits whose bases are sums of those of earlier bits are 0 in *r*.
        """
        columns = f2.pseudo_inverse(self._columns(), self._out_bits())
        return _of_columns(columns, self.out_dims, self.in_dims)

    def right_inverse(self) -> LinearLayout:
        """Return *r* with ``self(r(y)) == y``; ``no_inverse`` if some y is no value."""
        if self.is_surjective().verdict is not Verdict.PROVED:
            raise ShapeError(f"{self} has no right inverse: it is not surjective", "no_inverse")
        return self.pseudoinvert()

    def left_inverse(self) -> LinearLayout:
        """Return *r* with ``r(self(x)) == x``; ``no_inverse`` if two coordinates have one value."""
        if self.is_injective().verdict is not Verdict.PROVED:
            raise ShapeError(f"{self} has no left inverse: it is not injective", "no_inverse")
        return self.pseudoinvert()

    def invert(self) -> LinearLayout:
        """Return the inverse from both sides; ``no_inverse`` if there is none."""
        if not self.is_invertible():
            raise ShapeError(f"{self} has no inverse: it is not a bijection", "no_inverse")
        return self.pseudoinvert()

    def invert_and_compose(self, other: LinearLayout) -> LinearLayout:
        """Return *c* with ``other(c(x)) == self(x)``: where *other* has what is at *x* here.

        Where there are several, bits of *c* are 0 if their bases are sums of those of earlier bits.

        Raises
        ------
        ShapeError
            ``length_mismatch`` if the out dims differ; ``no_inverse`` if *other* does not have all of the values.
        """
        _same_dims(self.out_dims, other.out_dims, "out dims of two layouts")
        sizes = {name: max(size, other.out_dims[name]) for name, size in self.out_dims.items()}
        wide, onto = (LinearLayout(a.transpose_outs(sizes).bases, sizes) for a in (self, other))
        found = wide.compose(onto.pseudoinvert())
        if found.compose(onto) != wide:
            raise ShapeError(f"{other} does not have all values of {self}", "no_inverse")
        return found

    def __mul__(self, outer: LinearLayout) -> LinearLayout:
        """Return the product: this layout on the low bits, *outer* on the high bits of each dim."""
        outs = {**dict.fromkeys((*self.out_dims, *outer.out_dims), 1), **self.out_dims}  # what the high bits begin at
        bases: dict[str, list[Basis]] = {name: [] for name in (*self.bases, *outer.bases)}
        for part, step in ((self, dict.fromkeys(outs, 1)), (outer, outs)):
            for name, vectors in part.bases.items():
                for values in (dict(zip(part.out_dims, vector, strict=True)) for vector in vectors):
                    bases[name].append(tuple(values.get(out, 0) * step[out] for out in outs))
        return LinearLayout(bases, {name: size * outer.out_dims.get(name, 1) for name, size in outs.items()})

    def divide_left(self, inner: LinearLayout) -> LinearLayout:
        """Return *c* with ``inner * c == self``; ``no_layout`` if there is none.

        >>> LinearLayout.identity_1d(8, "lane", "offset").divide_left(LinearLayout.identity_1d(4, "lane", "offset"))
        linear_layout({'lane': [1]}, {'offset': 2})
        """
        bases = {}
        for name, vectors in self.bases.items():
            low = [inner.out_dims.get(out, 1) for out in self.out_dims]
            rest = vectors[len(inner.bases.get(name, ())) :]
            bases[name] = [tuple(v // n for v, n in zip(vector, low, strict=True)) for vector in rest]
        sizes = {name: size // inner.out_dims.get(name, 1) for name, size in self.out_dims.items()}
        return self._quotient(bases, sizes, inner, lambda c: inner * c)

    def divide_right(self, outer: LinearLayout) -> LinearLayout:
        """Return *c* with ``c * outer == self``; ``no_layout`` if there is none."""
        bases = {n: vectors[: len(vectors) - len(outer.bases.get(n, ()))] for n, vectors in self.bases.items()}
        sizes = {name: size // outer.out_dims.get(name, 1) for name, size in self.out_dims.items()}
        return self._quotient(bases, sizes, outer, lambda c: c * outer)

    def _quotient(
        self,
        bases: Mapping[str, Sequence[Basis]],
        sizes: Mapping[str, int],
        divisor: LinearLayout,
        again: Callable[[LinearLayout], LinearLayout],
    ) -> LinearLayout:
        if 0 not in sizes.values() and _are_inside(bases, sizes):
            found = LinearLayout(bases, sizes)
            product = again(found)
            has_dims = product.bases.keys() == self.bases.keys() and product.out_dims.keys() == self.out_dims.keys()
            if has_dims and product.transpose_outs(self.out_dims).transpose_ins(self.bases) == self:
                return found
        raise ShapeError(f"{self} is no product with {divisor}", "no_layout")

    # ------------------------------------------------------------------ its dims

    def transpose_ins(self, names: Iterable[str]) -> LinearLayout:
        """Return the layout with its in dims in another order."""
        order = list(names)
        _same_dims(order, self.bases, "in dims")
        return LinearLayout({name: self.bases[name] for name in order}, self.out_dims)

    def transpose_outs(self, names: Iterable[str]) -> LinearLayout:
        """Return the layout with its out dims in another order."""
        order = list(names)
        _same_dims(order, self.out_dims, "out dims")
        return self.sublayout(self.bases, order)

    def sublayout(self, ins: Iterable[str], outs: Iterable[str]) -> LinearLayout:
        """Return the layout of some in dims, the others 0, and the values of some out dims, in this order."""
        places = {name: k for k, name in enumerate(self.out_dims)}
        ins, outs = list(ins), list(outs)
        for name in (*(n for n in ins if n not in self.bases), *(n for n in outs if n not in places)):
            raise ShapeError(f"{shown(name)} is no dim of {self}", "length_mismatch")
        bases = {name: [tuple(v[places[out]] for out in outs) for v in self.bases[name]] for name in ins}
        return LinearLayout(bases, {out: self.out_dims[out] for out in outs})

    def reshape_ins(self, sizes: Mapping[str, int]) -> LinearLayout:
        """Return the same function of other in dims: the bits in order, the first dim lowest.

        Raises
        ------
        ShapeError
            ``size_mismatch`` if the bits are not as many, or a size is no power of two.
        """
        return _of_columns(self._columns(), _checked_sizes(sizes, self._in_bits()), self.out_dims)

    def reshape_outs(self, sizes: Mapping[str, int]) -> LinearLayout:
        """Return the same function with other out dims, as `reshape_ins`."""
        return _of_columns(self._columns(), self.in_dims, _checked_sizes(sizes, self._out_bits()))

    def flatten_ins(self) -> LinearLayout:
        """Return the same function of one in dim, with the name of the first."""
        return self.reshape_ins({name: 1 << self._in_bits() for name in itertools.islice(self.bases, 1)})

    def flatten_outs(self) -> LinearLayout:
        """Return the same function with one out dim, with the name of the first."""
        return self.reshape_outs({name: 1 << self._out_bits() for name in itertools.islice(self.out_dims, 1)})

    def quotient(self, names: Iterable[str]) -> LinearLayout:
        """Return the layout without dims that it keeps as they are, each an in dim and an out dim.

        Raises
        ------
        ShapeError
            ``no_layout`` if it changes them, or they have a part in other values.
        """
        gone = list(names)
        if all(name in self.in_dims and self.in_dims[name] == self.out_dims.get(name) for name in gone):
            rest = self.sublayout([n for n in self.bases if n not in gone], [n for n in self.out_dims if n not in gone])
            kept = LinearLayout({}, {})
            for name in gone:
                kept = kept * LinearLayout.identity_1d(self.in_dims[name], name, name)
            again = (rest * kept).transpose_outs(self.out_dims).transpose_ins(self.bases)
            if again == self:
                return rest
        raise ShapeError(f"{self} is not the identity on {gone} by itself", "no_layout")

    # ------------------------------------------------------------------ other forms

    def to_matrix(self) -> np.ndarray[Any, Any]:
        """Return the matrix of 0 and 1, a row for each out bit and a column for each in bit, the first dims first.

        >>> import symlayout as sl
        >>> sl.linear_layout({"x": [1, 3]}).to_matrix().tolist()
        [[1, 1], [0, 1]]
        """
        columns = self._columns()
        return np.array([[c >> row & 1 for c in columns] for row in range(self._out_bits())], np.uint8).reshape(
            self._out_bits(), self._in_bits()
        )

    def to_layout(self) -> Layout | ComposedLayout:
        """Return the layout of sizes and strides with the same offsets, under a swizzle if it needs one.

        It has a mode for each in dim.

        Raises
        ------
        ShapeError
            ``no_layout`` if there is more than one out dim, or no swizzle makes it a layout.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.linear_layout({"x": [1, 2, 8], "y": [4, 16]}).to_layout()
        ((4,2),(2,2)):((1,8),(4,16))
        >>> sl.linear_layout({"x": [1, 2], "y": [5, 10]}).to_layout()
        S<2,0,2> o 0 o (4,4):(1,4)
        """
        if len(self.out_dims) != 1:
            raise ShapeError(f"{self} has {len(self.out_dims)} values\n  help: flatten_outs() joins them", "no_layout")
        if (plain := self._strided()) is not None:
            return plain
        bits, (out,) = self._out_bits(), self.out_dims
        for shift in sorted(range(-bits, bits + 1), key=abs):
            for count in range(1, abs(shift) + 1):
                for base in range(bits - count - abs(shift) + 1):
                    swizzle = Swizzle(count, base, shift)
                    bases = {name: [(swizzle(v[0]),) for v in vectors] for name, vectors in self.bases.items()}
                    if (inner := LinearLayout(bases, {out: 1 << bits})._strided()) is not None:
                        return swizzle.composition(inner)
        raise ShapeError(f"{self} is no layout of sizes and strides under a swizzle", "no_layout")

    def _strided(self) -> Layout | None:
        """Return the layout of sizes and strides, if no two bases have a bit in common."""
        used = 0
        shape, stride = [], []
        for vectors in self.bases.values():
            modes: list[tuple[int, int]] = []
            for (value,) in vectors:
                if used & value:
                    return None
                used |= value
                if modes and value == modes[-1][0] * modes[-1][1]:
                    modes[-1] = modes[-1][0] * 2, modes[-1][1]
                else:
                    modes.append((2, value))
            sizes, steps = zip(*modes, strict=True) if modes else ((1,), (0,))
            shape.append(sizes if len(sizes) > 1 else sizes[0])
            stride.append(steps if len(steps) > 1 else steps[0])
        is_one = len(shape) == 1 and not isinstance(shape[0], tuple)
        return layout(shape[0], stride[0]) if is_one else layout(tuple(shape), tuple(stride))

    def to_triton(self) -> str:
        """Return the expression that makes the layout in Triton's Python.

        >>> import symlayout as sl
        >>> sl.linear_layout({"lane": [1, 3]}).to_triton()
        "LinearLayout.from_bases([('lane', [[1], [3]])], ['dim0'], [4], False)"
        """
        bases = [(name, [list(v) for v in vectors]) for name, vectors in self.bases.items()]
        return f"LinearLayout.from_bases({bases}, {list(self.out_dims)}, {list(self.out_dims.values())}, False)"


def log2(size: int) -> int:
    """Return the number of bits of a size; ``infeasible`` if it is no power of two."""
    if size < 1 or size & (size - 1):
        raise ShapeError(f"the size {size} is no power of two", "infeasible")
    return size.bit_length() - 1


def _same_dims(one: Iterable[str], other: Iterable[str], what: str) -> None:
    left, right = list(one), list(other)
    if sorted(left) != sorted(right):
        raise ShapeError(f"the {what} differ: {left} and {right}", "length_mismatch")


def _are_inside(bases: Mapping[str, Sequence[Basis]], sizes: Mapping[str, int]) -> bool:
    values = (zip(vector, sizes.values(), strict=True) for vectors in bases.values() for vector in vectors)
    return all(0 <= value < size for pairs in values for value, size in pairs)


def _checked_sizes(sizes: Mapping[str, int], bits: int) -> Mapping[str, int]:
    if sum(map(log2, sizes.values())) != bits:
        raise ShapeError(f"the sizes {dict(sizes)} do not have {bits} bits", "size_mismatch")
    return sizes


def _parts_of(number: int, sizes: Mapping[str, int]) -> Basis:
    """Return the coordinate whose numbers have these bits together, the first dims lowest."""
    found = []
    for size in sizes.values():
        found.append(number % size)
        number //= size
    return tuple(found)


def _of_columns(columns: Sequence[int], ins: Mapping[str, int], outs: Mapping[str, int]) -> LinearLayout:
    """Return the layout with these columns, and in and out dims of these sizes."""
    left = iter(columns)
    bases = {n: [_parts_of(c, outs) for c in itertools.islice(left, log2(size))] for n, size in ins.items()}
    return LinearLayout(bases, outs)
