"""The one key of an attribute: two attributes have equal keys if they are the same value, by type and bits.

Python's ``==`` says that 0.0 is -0.0, that 1 is True and 1.0, and that NaN is not itself.  A function of an attribute
tells these apart.  So bodies are compared by this key, and so is whatever is kept by the attributes that it was made
with.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

import numpy as np

_T = TypeVar("_T")


def attribute_key(value: Any) -> Hashable:
    """Return what attributes share only if they are equal by type and bits, with all that they contain.

    A tuple and a list with the same items have one key.  So have mappings with the same items, in any order.

    Raises
    ------
    TypeError
        The value, or what it contains, is neither hashable nor one of these.

    Examples
    --------
    >>> attribute_key(0.0) == attribute_key(-0.0), attribute_key(1) == attribute_key(True)
    (False, False)
    >>> attribute_key([float("nan"), (2,)]) == attribute_key((float("nan"), [2]))
    True
    """
    kind = type(value)
    if kind is str or kind is int or value is None or isinstance(value, type):
        return kind, value
    if kind is float:
        return kind, struct.pack("<d", value)
    if kind is complex:
        return kind, struct.pack("<dd", value.real, value.imag)
    if kind is tuple or kind is list:
        return tuple, tuple(map(attribute_key, value))
    if isinstance(value, tuple):
        return kind, tuple(map(attribute_key, value))
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.hasobject:
            return kind, str(value.dtype), value.shape, tuple(map(attribute_key, np.ravel(value).tolist()))
        native = value.astype(value.dtype.newbyteorder("="), copy=False)
        return (np.ndarray if value.shape else np.generic), str(native.dtype), value.shape, native.tobytes()
    if isinstance(value, Mapping):
        return dict, frozenset((attribute_key(k), attribute_key(v)) for k, v in value.items())
    hash(value)
    return kind, value


def kept_by_attributes(function: Callable[..., _T]) -> Callable[..., _T]:
    """Make a function keep its results, by the keys of its arguments; `functools.cache` keeps them by ``==``.

    >>> kept_by_attributes(lambda x: str(x))(0.0), kept_by_attributes(lambda x: str(x))(-0.0)
    ('0.0', '-0.0')
    """
    known: dict[Hashable, _T] = {}

    @functools.wraps(function)
    def kept(*args: Any) -> _T:
        key = attribute_key(args)
        if key not in known:
            known[key] = function(*args)
        return known[key]

    return kept
