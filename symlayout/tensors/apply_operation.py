"""Operations on tensors: a declaration of an index map, and what it makes of tensors that it is applied to."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from symlayout.algebra.floor_normal_form import renew
from symlayout.algebra.polynomial import Extent, integer_or_extent
from symlayout.errors import ArrayError, FormatError, ShapeError, SymlayoutError, shown
from symlayout.tensors.chain import ASSUMED, Applicable, Tensor, check_tensors
from symlayout.tensors.declaration import UNDETERMINED, Case, Declared, Operand, Replacement
from symlayout.tensors.element_types import check_fill, type_name
from symlayout.tensors.ranged_coordinate import RangedBox, plain
from symlayout.tensors.trial_coordinate import TrialCoordinate

if TYPE_CHECKING:
    import numpy as np

P = ParamSpec("P")
F = TypeVar("F", bound=Callable[..., Any])


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
    >>> import symlayout as sl
    >>> from symlayout.tensors.declaration import index_map
    >>> @operation
    ... def mirror(x):
    ...     (n,) = x.shape
    ...     return index_map((n,), lambda i: (n - 1 - i,))
    >>> mirror(sl.tensor((5,), name="x")).index_map
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
    if own:
        declared = declaration(operand, *args, **kwargs)
    else:
        with operand.dividing():
            try:
                made = declaration(operand, *args, **kwargs)
            except ZeroDivisionError:
                raise ShapeError(f"{operand.where}: the declaration divides by 0", "non_divisible") from None
            declared = _checked(made, operand, [x.rank for x in inputs])
        for axis, extent in enumerate(declared.domain):
            operand.require(extent, "infeasible", "extent {} of axis {} is negative", extent, axis)
        _try(declared, operand)
    return mapped(operand, declared, inputs, Application(declaration, args, kwargs, values or {}, own))


def _checked(declared: Any, operand: Operand, ranks: Sequence[int]) -> Declared:
    """Return the map that a user's declaration returned; its coordinates are checked when they are computed.

    *ranks* are those of the inputs.  The shapes of *operand* may be those that the declaration sees.
    """
    if not isinstance(declared, Declared):
        raise FormatError(
            f"the declaration {operand.where} returns {shown(declared)}, and not a map\n  help: return index_map(...)"
        )

    domain = tuple(map(integer_or_extent, declared.domain))
    box = RangedBox(domain, operand)

    def checked(case: Case) -> Case:
        rank = ranks[case.source]

        def coords(*o: Any) -> Sequence[Any]:
            found = _called(operand, case.coords, given := box.given(o))
            if not isinstance(found, Sequence) or isinstance(found, str) or len(found) != rank:
                raise ShapeError(
                    f"{operand.where}: the map returns {shown(found)}, its input has {rank} axes\n"
                    "  help: return one coordinate for each axis of the input",
                    "rank",
                )
            return found if given is o else [plain(c) for c in found]

        windows = case.where
        if windows is None:
            return case._replace(coords=coords)

        def where(*o: Any) -> Sequence[tuple[Any, Extent]]:
            found: Sequence[tuple[Any, Extent]] = _called(operand, windows, given := box.given(o))
            return found if given is o else [(plain(value), extent) for value, extent in found]

        return case._replace(coords=coords, where=where)

    return Declared(domain, tuple(map(checked, declared.cases)))


def _try(declared: Declared, operand: Operand) -> None:
    """Call the functions of a user's map once: what they divide by is required, and whether they use ``^`` is seen."""
    at = [TrialCoordinate(operand)] * len(declared.domain)
    for case in declared.cases:
        case.coords(*at)
        if case.where is not None:
            case.where(*at)


def _called(operand: Operand, function: Callable[..., Any], o: Sequence[Any]) -> Any:
    """Return what a function of a user's map returns of coordinates."""
    name = operand.where
    try:
        with operand.dividing():
            return function(*o)
    except SymlayoutError:
        raise
    except ZeroDivisionError:
        raise ShapeError(f"{name}: a function of the map divides by 0", "non_divisible") from None
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
    return inputs, operand_of(name, inputs, values)


def operand_of(name: str, xs: Sequence[Tensor], values: Mapping[str, Extent] | None = None) -> Operand:
    """Return the `Operand` of tensors: their shapes, and the facts of all of them as one system.

    That is the system of one of the tensors, if it has the others' facts already.
    """
    if len(xs) == 1:
        return Operand((xs[0].extents,), xs[0].facts, name, values)
    facts, own, solved = xs[0].facts, False, 0
    for x in xs[1:]:
        if facts.includes(x.facts):
            continue
        if x.facts.includes(facts):
            facts, own = x.facts, False
            continue
        if not own:
            facts, own, solved = facts.fork(), True, len(facts.solved)
        facts.merge(x.facts)
    if own and facts.floors and len(facts.solved) > solved:
        renew(facts)
    shapes = tuple([x.extents if x.facts is facts else facts.reduce_all(x.extents) for x in xs])
    return Operand(shapes, facts, name, values, owned=own)


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
    facts = operand.facts
    if rest := declared.domain[len(known) :] if known else declared.domain:
        operand.check_countable(rest, count)
        rest = facts.reduce_all(rest)
        known = (*known, *rest) if known else rest
    dtype = _common_dtype(declared.cases, inputs, operand.where)
    for case in declared.cases:
        if case.fill is not None and case.fill.value is not UNDETERMINED:
            check_fill(case.fill.value, dtype)
    counts = tuple(operand.counts)
    return Tensor(operand.where, dtype, known, facts, declared, inputs, again, own=again.own, counts=counts)


class Application(NamedTuple):
    """A declaration with the attributes that it was applied to; a call applies it again, to other inputs."""

    declaration: Callable[..., Declared]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    values: Mapping[str, Extent]
    own: bool

    def __call__(self, bound: tuple[Tensor, ...], values: Mapping[str, Extent]) -> Tensor:
        """Return what the declaration makes of the inputs *bound*, with the dims of *values* replaced."""
        both = Replacement.of(self.values).then(values)
        return apply(self.declaration, bound, self.args, self.kwargs, both, own=self.own)

    def record(self) -> tuple[Any, ...]:
        """Return data from which another process makes it again: the operation's import path and the attributes."""
        operation = getattr(self.declaration, "operation", self.declaration)
        return operation, self.args, dict(self.kwargs), self.values, self.own


def _common_dtype(cases: Sequence[Case], inputs: Sequence[Tensor], name: str) -> np.dtype[Any] | None:
    """Return the element type of the inputs that the cases of a map read; `ArrayError` if they have several."""
    if len(inputs) == 1:
        return inputs[0].dtype
    if len(cases) == 1:
        return inputs[cases[0].source].dtype
    read = [inputs[k].dtype for k in sorted({case.source for case in cases})]
    dtypes = [dtype for dtype in read if dtype is not None]
    for dtype in dtypes[1:]:
        if dtype != dtypes[0]:
            raise ArrayError(f"{name}: the inputs have dtypes {type_name(dtypes[0])} and {type_name(dtype)}")
    return dtypes[0] if dtypes else None
