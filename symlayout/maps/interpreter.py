"""The meaning of a tensor, in NumPy: evaluate the coordinates on the domain, gather, fill.

Everything else is tested against the interpreter.  The interpreter knows no operation by name: it evaluates declared
maps on integer arrays, from the output to the leaves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from symlayout.errors import ArrayError
from symlayout.maps.adjoint_map import Adjoint, check_numbers
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import constant_type, gathered, gathers, int_extents
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.chain import Tensor, check_tensors
from symlayout.tensors.element_types import as_array, check_dtype, type_name


def interpret(
    t: Tensor | Adjoint, /, *arrays: Any, dims: Mapping[Any, Any] | None = None, **named: Any
) -> np.ndarray[Any, Any]:
    """Return the elements of *t* for the given inputs.

    Parameters
    ----------
    t : Tensor or Adjoint
        The tensor to evaluate.  An adjoint has one input, the cotangent ``dy``.
    *arrays, **named : array
        One array for each leaf: by position, in order of first use, or by the leaf's name.
    dims : mapping, optional
        Values of dims that the shapes of the arrays do not determine.

    Returns
    -------
    ndarray
        A C-contiguous array with the dtype of the inputs.

    Raises
    ------
    ArrayError
        An array is missing, is not an array, or has the wrong dtype; or an adjoint gets elements that are not numbers.
    ShapeError
        A shape does not match, or a requirement fails; the kind says which.
    InconclusiveError
        An operation that users declare reads outside its input.

    Examples
    --------
    >>> import numpy as np
    >>> import symlayout as sl
    >>> x = sl.tensor("N, C", name="x")
    >>> interpret(sl.transpose(x), np.array([[1, 2, 3]])).tolist()
    [[1], [2], [3]]
    >>> b = sl.dim("b", min=1)
    >>> interpret(sl.reshape(sl.tensor("N", name="x"), (-1, b)), x=np.arange(4), dims={b: 2}).tolist()
    [[0, 1], [2, 3]]
    """
    if isinstance(t, Adjoint):
        (dy,) = match_arrays(t.cotangent, arrays, named)
        return _transposed(t.bind(bind_shapes(t.cotangent, [dy.shape], dims)), dy)
    check_tensors("interpret", t)
    inputs = match_arrays(t, arrays, named)
    values = bind_shapes(t, [a.shape for a in inputs], dims)
    bound = t.bind(values)
    sources = {leaf.key: a for leaf, a in zip(t.arguments(), inputs, strict=True)}
    if not bound.computes:
        return gathered(bound, sources, result_type(inputs, t.dtype))
    extents = int_extents(bound)
    value = np.broadcast_to(evaluated([bound], sources)[id(bound)], extents)
    return np.ascontiguousarray(value).reshape(extents)  # NumPy gives a scalar an axis


def _transposed(a: Adjoint, dy: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the sum of *dy* over the output coordinates that read each coordinate of the leaf."""
    check_numbers(dy.dtype)
    result = np.zeros(int_extents(a.leaf), dy.dtype)
    room = result[np.newaxis]  # a leading axis, so that a scalar has an axis too
    for part in gathers(a.tensor) if dy.size else ():
        if part.key != a.leaf.key:
            continue
        mask, *coords, _ = np.broadcast_arrays(part.mask, *part.coords, dy)
        terms = dy[mask]  # in row-major order of the output
        read = (np.zeros(len(terms), np.int64), *(c[mask] for c in coords))
        if a.copies:
            room[read] = terms
        else:
            np.add.at(room, read, terms)
    return result


def match_arrays(t: Tensor, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> list[np.ndarray[Any, Any]]:
    """Return one array per leaf of *t*, in order of first use, from positional and named arrays."""
    leaves = t.arguments()
    if len(arrays) > len(leaves):
        raise ArrayError(f"{len(arrays)} arrays for {len(leaves)} input{'s' * (len(leaves) != 1)}")
    given = {leaf.name: a for leaf, a in zip(leaves, arrays, strict=False)}
    for name, a in named.items():
        if name in given or name not in {leaf.name for leaf in leaves}:
            raise ArrayError(f"array {name} is {'given twice' if name in given else 'no input'}")
        given[name] = a
    constant = None if t.computes else t.dtype  # the dtype of a constant that is joined with the leaves
    matched = []
    for leaf in leaves:
        if leaf.name not in given:
            raise ArrayError(f"array {leaf.name} is missing")
        a = as_array(given[leaf.name], leaf.name)
        check_dtype(a, leaf.dtype or constant, leaf.name)
        matched.append(a)
    return matched


def result_type(arrays: list[np.ndarray[Any, Any]], declared: np.dtype[Any] | None) -> np.dtype[Any]:
    """Return the common dtype of *arrays*, or without arrays the *declared* one; `ArrayError` if they differ."""
    if not arrays:
        return constant_type(declared)
    dtype: np.dtype[Any] = arrays[0].dtype
    for a in arrays[1:]:
        if a.dtype != dtype:
            raise ArrayError(f"the inputs have dtypes {type_name(dtype)} and {type_name(a.dtype)}; one is needed")
    return dtype
