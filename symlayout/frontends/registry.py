"""Framework operations by name: ``framework:Name`` stands for the function that translates the operation.

A frontend registers its functions with `register`; `find` returns them.  The functions take the
framework's own attribute names, so a wrong name is a fact about the operation and has a typed error.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from symlayout.errors import ShapeError, UnknownOpError, shortened

P = ParamSpec("P")
R = TypeVar("R")

_OPS: dict[str, Callable[..., Any]] = {}
_JOINT: set[str] = set()


class AttributeNameError(ShapeError, TypeError):
    """An attribute that an operation does not have, or one that it needs and did not get.

    Its kind is ``attr_unknown`` or ``attr_missing``.
    """


def is_attribute_error(error: Exception) -> bool:
    """Return whether an operation was given an attribute that its declaration does not have."""
    return isinstance(error, AttributeNameError) and error.kind == "attr_unknown"


class NotDeclaredError(ShapeError):
    """A mode or an element type for which an operation has no declaration; its kind is mostly ``not_declared``.

    In a model, such an operation is an opaque function of its operands.

    Attributes
    ----------
    result : tuple or None
        The element type and the shape of the first output, where they do not depend on what is not declared.
    """

    def __init__(self, message: str, kind: str = "not_declared", result: tuple[Any, Any] | None = None) -> None:
        super().__init__(message, kind)
        self.result = result


def register(*names: str, joint: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that keeps a function as the operation *names*; *joint* if it takes a list of tensors.

    The decorated function raises `AttributeNameError` where Python's own call raises `TypeError`
    because the arguments do not fit the signature.
    """

    def keep(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def translated(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return function(*args, **kwargs)
            except TypeError:  # only now is it worth asking whether the call itself was wrong
                _check_names(", ".join(names), inspect.signature(function), args, kwargs)
                raise

        for name in names:
            _OPS[name] = translated
        if joint:
            _JOINT.update(names)
        return translated

    return keep


def find(name: str) -> Callable[..., Any]:
    """Return the function of the operation *name*, such as ``"openvino:BatchToSpace-2"``.

    Parameters
    ----------
    name : str
        ``framework:Name``, with the version where the framework has one: see ``symlayout ops``.

    Raises
    ------
    UnknownOpError
        No frontend has *name*; the message lists the nearest names.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.op("onnx:DepthToSpace")(sl.tensor("N, 4*c, h, w"), blocksize=2).shape
    (N, c, 2*h, 2*w)
    """
    try:
        return _OPS[name]
    except (KeyError, TypeError):
        raise UnknownOpError(_unknown(shortened(str(name)))) from None


def is_known(name: str) -> bool:
    """Return whether there is an operation *name*."""
    return name in _OPS


def is_joint(name: str) -> bool:
    """Return whether the operation *name* takes a list of tensors, as its first argument."""
    return name in _JOINT


def names() -> tuple[str, ...]:
    """Return the names of all operations, sorted."""
    return tuple(sorted(_OPS))


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, _OPS, n=3, cutoff=0.5)  # takes quadratic time: a short name
    known = ", ".join(near or sorted({op.partition(":")[0] + ":..." for op in _OPS}))
    return f"no operation is called {name!r}\n  help: {'the nearest are' if near else 'there are'} {known}"


def _check_names(name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise `AttributeNameError` if the arguments do not fit *signature*."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        known = signature.parameters
        unknown = len(args) > len(known) or not set(kwargs) <= set(known)
        raise AttributeNameError(
            f"{name}: {error}\n  help: the arguments are {', '.join(known)}",
            "attr_unknown" if unknown else "attr_missing",
        ) from None
