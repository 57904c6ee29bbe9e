"""Assume relations between dims: more than the bounds of each dim by itself.

An assumption is an operation with the identity as its map and with requirements.  So the assumption is one of the
tensor's requirements, the algebra solves it together with all other facts, and it is checked when dims get values.  A
violation has the kind ``infeasible``, as a dim outside its bounds has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, overload

from symlayout.algebra.fact_store import describe_dim
from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent
from symlayout.errors import ShapeError
from symlayout.language import sympy_bridge
from symlayout.tensors.apply_operation import core_operation
from symlayout.tensors.chain import ASSUMED, Tensor
from symlayout.tensors.declaration import Declared, Operand, as_list, index_map, is_list
from symlayout.tensors.input_tensor import tensor
from symlayout_codegen.values import Value


class Relation(Value):
    """A relation ``left sign right``; *text* is its spelling.  A side is a SymPy expression, an int or a tree."""

    left: Any
    sign: str
    right: Any
    text: str

    @property
    def names(self) -> set[str]:
        """The names of the dims in the relation."""
        from symlayout.language.grammar_trees import Tree, names_of

        found: set[str] = set()
        for side in (self.left, self.right):
            found |= names_of(side).keys() if isinstance(side, Tree) else {s.name for s in _symbols_in(side)}
        return found

    def about(self, dims: Mapping[str, Any]) -> Relation:
        """Return the relation with each name replaced by its entry of *dims*, or else by a new dim >= 0."""
        from symlayout.language.grammar_trees import Tree, evaluate

        named = {name: dims[name] if name in dims else sympy_bridge.dim(name) for name in self.names}
        left, right = (evaluate(e, named) if isinstance(e, Tree) else e for e in (self.left, self.right))
        return Relation(left, self.sign, right, self.text)


@overload
def assume(x: Tensor, /, *relations: Any) -> Tensor: ...
@overload
def assume(*relations: Any) -> AbstractContextManager[None]: ...
def assume(*given: Any) -> Tensor | AbstractContextManager[None]:
    """Assume relations between dims, for one tensor or inside a ``with`` block.

    ``sl.assume(x, *relations)`` returns a tensor with the elements of *x* for which the relations hold.  Inside
    ``with sl.assume(*relations):`` a relation holds for each leaf and each result of an operation whose shape or
    attributes mention all dims of the relation.  The relations are part of the tensor's ``requires``.  They are checked
    when dims get values.

    Parameters
    ----------
    *given : Tensor (optional), then SymPy relations or str
        The tensor, if the relations are for one tensor, and the relations.  A SymPy relation is Eq, ``>=``, ``<=``,
        ``>``, ``<`` or And, of expressions in dims with exact ``/``, floor, ceiling, Mod, Min and Max.  A text is like
        ``"H % 4 == 0"``, ``"1 <= H <= 2*W"`` or ``"a*b <= c, a == b"``.  A name in a text means the tensor's dim of
        that name, or else a new dim >= 0.

    Returns
    -------
    Tensor or context manager
        The tensor for which the relations hold, or the ``with`` block.

    Raises
    ------
    ShapeError
        ``infeasible`` if a relation contradicts the known facts, ``dim_conflict`` if two dims share a name.
    FormatError
        A text is not a relation, or an object is not a supported relation (such as Ne).

    Examples
    --------
    >>> from symlayout.tensors.input_tensor import tensor
    >>> assume(tensor("H, W", name="x"), "H % 4 == 0", "H % 6 == 0", "H == 2*W").requires
    (Eq(Mod(H, 12), 0), Eq(H, 2*W))
    >>> with assume("H >= 3"):
    ...     tensor("N, H").bounds()
    [(0, None), (3, None)]
    """
    if given and isinstance(given[0], Tensor):
        x, *relations = given
        return assumption(x, *(r.about(_dims_of(x)) for r in _read(relations)))
    return _block(_read(given))


@contextmanager
def _block(relations: tuple[Relation, ...]) -> Iterator[None]:
    around = ASSUMED.get()
    token = ASSUMED.set(_Within((*(around.relations if isinstance(around, _Within) else ()), *relations)))
    try:
        yield
    finally:
        ASSUMED.reset(token)


class _Within(Value):
    """The relations of all ``with`` blocks around; a call adds them to a tensor."""

    relations: tuple[Relation, ...]

    def __call__(self, x: Tensor, attributes: Iterable[Any]) -> Tensor:
        """Return *x* with those relations whose dims all occur in *x* or in *attributes*."""
        dims = {symbol.name: symbol for value in attributes for symbol in _symbols_in(value)} | _dims_of(x)
        relations = [r.about(dims) for r in self.relations if r.names <= dims.keys()]
        token = ASSUMED.set(None)  # the assumption itself is made as if outside the blocks
        try:
            made = assumption(x, *relations) if relations else x
        finally:
            ASSUMED.reset(token)
        return made if len(made.facts.requirements) > len(x.facts.requirements) else x


def assumed_about(dims: Mapping[str, Any], given: Any = ()) -> Facts | None:
    """Return the facts that *given* and the ``with`` blocks around state of *dims*, symbols by name; None for none.

    Raises
    ------
    ShapeError, FormatError
        As for `assume`.
    """
    relations = [r.about(dims) for r in _read(as_list(given) if is_list(given) else [given])]
    if isinstance(around := ASSUMED.get(), _Within):
        relations += [r.about(dims) for r in around.relations if r.names <= dims.keys()]
    if not relations:
        return None
    token = ASSUMED.set(None)
    try:
        return assumption(tensor(()), *relations).facts
    finally:
        ASSUMED.reset(token)


def _dims_of(x: Tensor) -> dict[str, Any]:
    return {name: sympy_bridge.symbol_of(d) for name, d in x.facts.dims.items()}


def _symbols_in(value: Any) -> Iterator[Any]:
    """Yield the dims in an expression, or in the expressions of a list, slice or mapping."""
    if isinstance(value, slice):
        value = [value.start, value.stop, value.step]
    if isinstance(value, Mapping):
        value = list(value.values())
    if is_list(value):
        for item in as_list(value):
            yield from _symbols_in(item)
    else:
        yield from getattr(value, "free_symbols", ())


def _read(relations: Any) -> tuple[Relation, ...]:
    found: list[Relation] = []
    for r in relations:
        if isinstance(r, str):
            from symlayout.language.parse import parse_relations

            found += [Relation(c.left, c.sign, c.right, r.strip()) for c in parse_relations(r)]
        else:
            found += [Relation(left, sign, right, str(r)) for left, sign, right in sympy_bridge.relations_of(r)]
    return tuple(found)


@core_operation
def assumption(x: Operand, *relations: Relation) -> Declared:
    """Return *x*, and require that all *relations* hold: ``y[o] = x[o]``.

    Raises
    ------
    ShapeError
        ``infeasible`` if a relation fails.
    """
    for r in relations:
        try:
            _demand(x, r)
        except ShapeError as error:
            if error.kind in ("dim_conflict", "attr_dtype"):
                raise
            first, *rest = str(error).removeprefix(f"{x.where}: ").splitlines()
            raise ShapeError("\n".join((f"the assumption {r.text} fails: {first}", *rest)), "infeasible") from error
    from symlayout.algebra.search.branch_and_bound import can_hold

    if relations and not can_hold(x.facts):
        known = ", ".join((*map(describe_dim, x.facts.dims.values()), *map(str, x.facts.requirements)))
        raise ShapeError(
            f"the assumption {relations[-1].text} fails: no sizes meet it and the other requirements\n  known: {known}",
            "infeasible",
        )
    return index_map(x.shape, lambda *o: o)


def _demand(x: Operand, r: Relation) -> None:
    left, right = r.left, r.right
    if sympy_bridge.remainder_of(left) is None:
        left, right = right, left
    if r.sign == "==" and (pair := sympy_bridge.remainder_of(left)) is not None:
        value, modulus = (_extent(x, e) for e in pair)
        residue = _extent(x, right)
        if isinstance(modulus, int) and modulus < 0:  # e % -m is -(-e % m)
            value, modulus, residue = -value, -modulus, -residue
        x.require(modulus - 1, "infeasible", "the modulus {} is not positive", modulus)
        x.require(residue, "infeasible", "a remainder is never {}", residue)
        x.require(modulus - 1 - residue, "infeasible", "a remainder modulo {} is never {}", modulus, residue)
        x.divide(value - residue, modulus, "infeasible")
        return
    gap, _ = _fraction(x, r.left - r.right)
    needed = [gap, -gap] if r.sign == "==" else [(gap if r.sign[0] == ">" else -gap) - (len(r.sign) == 1)]
    for e in needed:
        if x.facts.nonnegative(-1 - e):
            raise ShapeError(f"{x.spell(e)} is negative\n  known: {x.facts.describe(e)}", "infeasible")
    if r.sign == "==":
        x.require_equal(gap, 0, "infeasible")
    else:
        x.require(needed[0], "infeasible")


def _extent(x: Operand, e: Any) -> Extent:
    return x.divide(*_fraction(x, e), "infeasible")


def _fraction(x: Operand, e: Any) -> tuple[Extent, Extent]:
    """Return a side as numerator and denominator in the symbols of *x*; require that the denominator is >= 1."""
    apart = Facts()
    n, d = sympy_bridge.to_fraction(e, apart, "an assumption")
    for needed in apart.requirements:
        value = x.translate(needed.value, apart)
        if needed.relation == "divides":
            x.divide(value, x.translate(needed.modulus, apart), "infeasible")
        else:
            x.require(value, "infeasible")
    return x.translate(n, apart), x.translate(d, apart)
