"""Write layouts for other libraries: as CuTe's C++ and Python, for pycute, Triton, TVM and SymPy.

A library that has layouts gets sizes and strides, in a row of `_TARGETS`.  A library without layouts gets the offset of
a coordinate as an expression.  How expressions are written is a row of `language.notations`.

The requirements of a layout become assertions in its text, where the library has them.  That sizes are at least 1 is
not asserted.  The text computes in the integers of its dims: that offsets fit is up to the caller.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from math import lcm
from typing import Any, NamedTuple

from symlayout.algebra.facts import Dim, Facts
from symlayout.algebra.polynomial import Extent, symbol
from symlayout.errors import FormatError, ShapeError, shown
from symlayout.language import sympy_bridge
from symlayout.language.notations import (
    CUTE_CPP,
    CUTE_DSL,
    PYTHON,
    TRITON,
    TVM,
    Notation,
    in_tvm,
    index_lambda,
    legal_names,
    lowered,
)
from symlayout.language.readable import Sum, fold_fixed
from symlayout.language.to_text import axis_names, spell
from symlayout.layouts import modes as algebra
from symlayout.layouts.nested import Nest, Nested, flat
from symlayout.layouts.shapes import basis
from symlayout_codegen.values import Value


class Printed(NamedTuple):
    """What is printed: sizes and strides, what is known of their symbols, and an offset under a swizzle.

    *swizzle* has the numbers of `swizzle.Swizzle`: bits, base and shift.
    """

    nest: Nest
    facts: Facts
    requires: Sequence[Any]
    offset: Extent = 0
    swizzle: tuple[int, int, int] | None = None


class Target(Value):
    """How a library writes layouts; each field is a format."""

    notation: Notation
    shape: str
    stride: str
    single: str
    layout: str
    composed: str
    statement: str
    condition: str
    multiple: str = ""
    path: str = ""
    element: str = ""
    scaled: str = ""


_CPP = Target(
    CUTE_CPP,
    shape="make_shape({})",
    stride="make_stride({})",
    single="{}",
    layout="make_layout({}, {})",
    composed="composition(Swizzle<{}, {}, {}>{{}}, {}, {})",
    statement="auto {} = {};",
    condition="assert({});",
    path="{}",
    element="E<{}>{{}}",
    scaled="{0}*E<{1}>{{}}",
)
_DSL = Target(
    CUTE_DSL,
    shape="({})",
    stride="({})",
    single="{},",
    layout="cute.make_layout({}, stride={})",
    composed="cute.make_composed_layout(cute.make_swizzle({}, {}, {}), {}, {})",
    statement="{} = {}",
    condition="cute.testing.assert_({})",
    multiple="{0} = cute.assume({0}, divby={1})",
    path="[{}]",
    element="cute.E({})",
    scaled="cute.ScaledBasis({0}, {1})",
)
_PYCUTE = Target(
    PYTHON,
    shape="({})",
    stride="({})",
    single="{},",
    layout="Layout({}, {})",
    composed="ComposedLayout(Swizzle({}, {}, {}), {}, {})",
    statement="{} = {}",
    condition="assert {}",
)


class LayoutText:
    """The methods that write a layout for other libraries."""

    __slots__ = ()

    @abstractmethod
    def _printed(self) -> Printed:
        """Return what is printed."""

    def _offsets(self) -> Printed:
        """Return what is printed where values are offsets."""
        printed = self._printed()
        if printed.nest.is_based():
            raise ShapeError(f"the values of {self} are coordinates, which the library has not", "attr_dtype")
        return printed

    def to_cute(self) -> str:
        """Return the layout in CuTe's notation, which `symlayout.layout` reads.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(M,N)").to_cute()
        '(M,N):(1,M)'
        """
        return str(self)

    def to_cute_cpp(self, name: str | None = None) -> str:
        """Return statements of C++ that make the layout in CuTe, after ``using namespace cute``.

        Numbers are static, and a dim is a variable: an integer, or an ``Int<n>{}``.  Requirements are asserted.

        Parameters
        ----------
        name : str, optional
            The variable of the layout; by default ``a``, with underscores if dims have that name.

        Raises
        ------
        FormatError
            *name* is not an identifier.

        References
        ----------
        CuTe: https://docs.nvidia.com/cutlass/latest/media/docs/cpp/cute/01_layout.html

        Examples
        --------
        >>> import symlayout as sl
        >>> print(sl.layout("(M,(4,N/4)):(N,(1,4))").to_cute_cpp())
        assert(N % Int<4>{} == Int<0>{});
        auto a = make_layout(make_shape(M, make_shape(Int<4>{}, N/Int<4>{})), make_stride(N, make_stride(Int<1>{}, \
Int<4>{})));
        """
        return _statements(self._printed(), _CPP, name)

    def to_cute_dsl(self, name: str | None = None) -> str:
        """Return statements of Python that make the layout in CuTe's Python, where ``cutlass.cute`` is ``cute``.

        A dim is a variable: an int, or an ``Int32``.  The multiple of a dim becomes ``cute.assume(dim, divby=)``, and
        other requirements are asserted.

        Parameters
        ----------
        name : str, optional
            The variable of the layout; by default ``a``, with underscores if dims have that name.

        Raises
        ------
        FormatError
            *name* is not an identifier.

        References
        ----------
        CuTe DSL: https://docs.nvidia.com/cutlass/latest/media/docs/pythonDSL/cute_dsl.html

        Examples
        --------
        >>> import symlayout as sl
        >>> print(sl.layout("(M,(4,N/4)):(N,(1,4))").to_cute_dsl())
        N = cute.assume(N, divby=4)
        a = cute.make_layout((M, (4, N//4)), stride=(N, (1, 4)))
        """
        return _statements(self._printed(), _DSL, name)

    def to_pycute(self, name: str | None = None) -> str:
        """Return statements of Python that make the layout in pycute, or in tensor-layouts if there is no swizzle.

        Parameters
        ----------
        name : str, optional
            The variable of the layout; by default ``a``, with underscores if dims have that name.

        Raises
        ------
        FormatError
            *name* is not an identifier.

        Examples
        --------
        >>> import symlayout as sl
        >>> print(sl.layout("S<3,0,3> o 0 o (8,8):(8,1)").to_pycute())
        a = ComposedLayout(Swizzle(3, 0, 3), 0, Layout((8, 8), (8, 1)))
        """
        return _statements(self._offsets(), _PYCUTE, name)

    def to_triton(self, name: str | None = None, indices: Sequence[str] | None = None) -> str:
        """Return statements of Triton that compute the offset of a coordinate.

        Parameters
        ----------
        name : str, optional
            The variable of the offset; by default ``offset``, with underscores if dims have that name.
        indices : sequence of str, optional
            The variables of the coordinate, one for each mode at the top: numbers or blocks of them.

        Raises
        ------
        FormatError
            A name is not an identifier, or is not free.
        ShapeError
            ``rank`` if there is not one index for each mode.

        Examples
        --------
        >>> import symlayout as sl
        >>> print(sl.layout("(M,(4,N/4)):(N,(1,4))").to_triton(indices="ij"))
        tl.device_assert(N % 4 == 0)
        offset = N*i + j
        >>> print(sl.layout("S<3,0,3> o 0 o (8,8):(8,1)").to_triton())
        offset = 8*i0 + i1
        offset = offset ^ ((offset & 56) >> 3)
        """
        printed = self._offsets()
        coordinate = _modes_named(printed, indices)
        name = _free("offset", {*coordinate, *printed.facts.dims}) if name is None else _checked(name)
        writer = _Writer(printed, TRITON, (*coordinate, name))
        lines = [f"tl.device_assert({condition})" for condition in writer.conditions(multiples=True)]
        lines.append(f"{name} = {writer.offset()}")
        if (bits := printed.swizzle) is not None and bits[0]:
            lines.append(f"{name} = {_exclusive_or(bits, name, name)}")
        return "\n".join(lines)

    def to_tvm(self, indices: Sequence[str] | None = None) -> str:
        """Return the value at a coordinate as a lambda, which ``tvm.tirx.IndexMap.from_func`` takes.

        It is the offset, or the coordinate that strides step through.
        A dim is a variable of TVM, and ``T`` is ``tvm.tirx``.  Requirements are not in the text.

        Parameters
        ----------
        indices : sequence of str, optional
            The names of the coordinate, one for each mode at the top.

        Raises
        ------
        FormatError
            A name is not an identifier, or is not free.
        ShapeError
            ``rank`` if there is not one index for each mode.

        References
        ----------
        TVM: https://tvm.apache.org/docs/reference/api/python/tir/tir.html

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("((2,4),N):((N,2*N),1)").to_tvm()
        'lambda i0, i1: [N*i0 + i1]'
        >>> sl.layout("S<3,0,3> o 0 o (8,8):(8,1)").to_tvm(indices="ij")
        'lambda i, j: [(n := 8*i + j) ^ ((n & 56) >> 3)]'
        >>> sl.make_identity_layout("(M,(4,N))").to_tvm()
        'lambda i0, i1: [i0, i1 % 4, i1//4]'
        """
        printed = self._printed()
        names = _modes_named(printed, indices)
        writer = _Writer(printed, TVM, names)
        if printed.nest.is_based():
            return index_lambda(names, writer.coordinate())
        found = writer.offset()
        if (bits := printed.swizzle) is not None and bits[0]:
            free = _free("n", writer.taken)
            found = _exclusive_or(bits, f"({free} := {in_tvm(found)})", free)
        return index_lambda(names, [found])

    def to_sympy(self, indices: Sequence[str] | None = None) -> Any:
        """Return the offset of a coordinate as a SymPy Lambda; the exclusive or of a swizzle is `symlayout.xor`.

        Parameters
        ----------
        indices : sequence of str, optional
            The names of the coordinate, one for each mode at the top.

        Raises
        ------
        FormatError
            A name is not an identifier, or is not free.
        ShapeError
            ``rank`` if there is not one index for each mode.

        Examples
        --------
        >>> import symlayout as sl
        >>> sl.layout("(M,(4,N)):(4*N,(N,1))").to_sympy()
        Lambda((i0, i1), 4*N*i0 + N*(Mod(i1, 4)) + floor(i1/4))
        >>> sl.layout("S<1,0,3> o 0 o (8,8):(8,1)").to_sympy()
        Lambda((i0, i1), xor(8*i0 + i1, Mod(i0 + floor(i1/8), 2)))
        """
        printed = self._offsets()
        names = _modes_named(printed, indices)
        facts, offset = _offset(printed, names)
        f = sympy_bridge.function_of(names, offset, facts)
        if printed.swizzle is None or not printed.swizzle[0]:
            return f
        from symlayout.language.index_expressions import IndexExpression  # imports SymPy

        bits, base, shift = printed.swizzle
        n = IndexExpression(f.expr)
        return f.func(f.variables, (n ^ n // 2 ** (base + max(0, shift)) % 2**bits * 2 ** (base + max(0, -shift))).e)


def _checked(name: str) -> str:
    if not isinstance(name, str) or not re.fullmatch(r"[^\W\d]\w*", name, re.ASCII):
        raise FormatError(f"{shown(name)} is not an identifier")
    return name


def _modes_named(printed: Printed, indices: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of a coordinate, one for each mode at the top."""
    rank = len(printed.nest.parts())
    if indices is None:
        return axis_names(rank, printed.facts.dims)
    names = tuple(_checked(name) for name in indices)
    if len(names) != rank:
        raise ShapeError(f"{len(names)} indices for {rank} modes", "rank")
    for name in names:
        if name in printed.facts.dims or names.count(name) > 1:
            raise FormatError(f"the index {name} has the name of a dim or of another index")
    return names


def _offset(printed: Printed, names: Sequence[str]) -> tuple[Facts, Extent]:
    """Return the offset of a coordinate before the swizzle, under facts that know the bounds of the coordinate."""
    facts = printed.facts.fork()
    total = printed.offset
    for name, part in zip(names, printed.nest.reduced(facts).parts(), strict=True):
        facts.declare(Dim(name, 0))
        facts.require_nonnegative(part.size() - 1 - symbol(name), "infeasible")
        total = total + algebra.offset(part.modes(), symbol(name), facts)
    return facts, facts.reduce(total)


class _Writer:
    """Writes the expressions of one layout in one language; *names* are taken by the coordinate and the result."""

    def __init__(self, printed: Printed, notation: Notation, names: Sequence[str] = ()) -> None:
        self.printed, self._notation, self._indices = printed, notation, names[: len(printed.nest.parts())]
        self._names = legal_names([*names, *printed.facts.dims], notation)
        for name in names:
            if self._names[name] != name or name in printed.facts.dims:
                raise FormatError(f"the name {name} is not free in {notation.name}")
        self.taken = set(self._names.values())

    def offset(self) -> str:
        """Return the offset of a coordinate, before the swizzle."""
        facts, total = _offset(self.printed, self._indices)
        return self(total, facts)

    def coordinate(self) -> list[str]:
        """Return the coordinate that strides step through; its parts in order if it is nested."""
        facts, total = _offset(self.printed, self._indices)
        parts = basis.parts(total)
        paths = sorted({path for stride in flat(self.printed.nest.stride) for path in basis.parts(stride)})
        return [self(parts.get(path, 0), facts) for path in paths]

    def __call__(self, e: Extent, facts: Facts | None = None) -> str:
        """Return an extent as text."""
        known = self.printed.facts if facts is None else facts

        def is_nonnegative(dividend: Sum) -> bool:
            trial = known.fork()
            value = sympy_bridge.written(dividend, lambda name: sympy_bridge.symbol_of(trial.dims[name]))
            return trial.nonnegative(sympy_bridge.to_extent(value, trial))

        return spell(lowered(fold_fixed(e, known), self._notation, self._names, is_nonnegative), self._notation)

    def nested(self, e: Nested, around: str, target: Target) -> str:
        """Return nested extents as text."""
        if not isinstance(e, tuple):
            return self._step(basis.parts(e), target) if basis.is_based(e) else self(e)
        inside = ", ".join(self.nested(part, around, target) for part in e)
        return around.format(target.single.format(inside) if len(e) == 1 else inside)

    def _step(self, parts: Mapping[basis.Path, Extent], target: Target) -> str:
        """Return a stride that steps through one coordinate."""
        if len(parts) > 1:
            raise ShapeError("a stride that steps through several coordinates has no text in CuTe", "attr_dtype")
        ((path, factor),) = parts.items()
        place = target.path.format(", ".join(map(str, path)))
        if factor == 1:
            return target.element.format(place)
        times = self(factor)
        return target.scaled.format(f"({times})" if " " in times or times[0] == "-" else times, place)

    def multiples(self) -> Iterator[tuple[str, int]]:
        """Yield each dim that is a multiple of a number, with the number."""
        found: dict[str, int] = {name: d.multiple_of for name, d in self.printed.facts.dims.items()}
        for left, sign, right in self._relations():
            if (pair := _multiple(left, sign, right)) is not None:
                found[pair[0]] = lcm(found[pair[0]], pair[1])
        yield from ((self._names[name], n) for name, n in found.items() if n != 1)

    def conditions(self, *, multiples: bool) -> Iterator[str]:
        """Yield what is required of the dims, with *multiples* or without them."""
        if multiples:
            number = self._notation.number
            yield from (f"{name} % {number(n)} == {number(0)}" for name, n in self.multiples())
        for name, dim in self.printed.facts.dims.items():
            for sign, bound in ((">=", dim.min if dim.min is not None and dim.min > 1 else None), ("<=", dim.max)):
                if bound is not None:
                    yield f"{self._names[name]} {sign} {self._notation.number(bound)}"
        for left, sign, right in self._relations():
            if _multiple(left, sign, right) is None:
                yield f"{self._side(left)} {sign} {self._side(right)}"

    def _relations(self) -> Iterator[tuple[Any, str, Any]]:
        for relation in self.printed.requires:
            yield from sympy_bridge.relations_of(relation)

    def _side(self, e: Any) -> str:
        facts = Facts()  # those of the layout know that the relation holds
        return self(sympy_bridge.to_extent(sympy_bridge.with_plain_dims(e), facts), facts)


def _multiple(left: Any, sign: str, right: Any) -> tuple[str, int] | None:
    """Return the name of a dim and the number that divides it, if this is what a relation says."""
    pair = sympy_bridge.remainder_of(left) if sign == "==" and right == 0 else None
    if pair is None or not isinstance(record := getattr(pair[0], "record", None), Dim) or not pair[1].is_Integer:
        return None
    return record.name, int(pair[1])


def _free(name: str, taken: Collection[str]) -> str:
    """Return *name*, with underscores as many as it needs to be none of *taken*."""
    while name in taken:
        name += "_"
    return name


def _statements(printed: Printed, target: Target, name: str | None) -> str:
    writer = _Writer(printed, target.notation)
    name = _free("a", writer.taken) if name is None else name
    if _checked(name) in writer.taken or name in target.notation.words:
        raise FormatError(f"the name {name} is not free in {target.notation.name}")
    lines = [target.multiple.format(*pair) for pair in writer.multiples()] if target.multiple else []
    lines += map(target.condition.format, writer.conditions(multiples=not target.multiple))
    shape, stride = (
        writer.nested(e, around, target) for e, around in zip(printed.nest, (target.shape, target.stride), strict=True)
    )
    made = target.layout.format(shape, stride)
    if (bits := printed.swizzle) is not None:
        made = target.composed.format(*bits, writer(printed.offset), made)
    return "\n".join([*lines, target.statement.format(name, made)])


def _exclusive_or(swizzle: tuple[int, int, int], left: str, name: str) -> str:
    """Return ``left ^ ((name & mask) >> shift)``, where both are one number."""
    bits, base, shift = swizzle
    mask = ((1 << bits) - 1) << (base + max(0, shift))
    return f"{left} ^ (({name} & {mask}) {'>>' if shift >= 0 else '<<'} {abs(shift)})"
