"""Rows of other frameworks' elementwise operations that are functions of ONNX's: their names and attributes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from symlayout.frontends.onnx.elementwise import apply
from symlayout.tensors.chain import Tensor


@dataclass(frozen=True, slots=True)
class FunctionRow:
    """An operation that is a function of ONNX's.

    Attributes
    ----------
    function : str or callable
        The name of ONNX's operator, or what returns the result of the inputs and the attributes.
    inputs : str
        The names of the inputs.
    attributes : dict
        Names of attributes, with the defaults of the framework; ``...`` is none.
    """

    function: str | Callable[..., Tensor]
    inputs: str = "x"
    attributes: dict[str, Any] = field(default_factory=dict)

    def as_function(
        self, module: str, name: str, about: str, checks: Mapping[str, tuple[Any, Callable[[Any], None]]]
    ) -> Any:
        """Return the row as a function of *module* called *name*, with a signature.

        Parameters
        ----------
        about : str
            Its docstring.
        checks : mapping of str to pair
            Further attributes, each with its default and what refuses a value; the row's function does not get them.
        """
        inputs = self.inputs.split()
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        defaults = {**self.attributes, **{key: default for key, (default, _) in checks.items()}}
        signature = inspect.Signature(
            [inspect.Parameter(i, kind, annotation="Tensor") for i in inputs]
            + [
                inspect.Parameter(a, kind, default=inspect.Parameter.empty if d is ... else d, annotation="Any")
                for a, d in defaults.items()
            ],
            return_annotation="Tensor",
        )

        def applied(*args: Any, **kwargs: Any) -> Tensor:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = dict(bound.arguments)
            for key, (_, check) in checks.items():
                check(given.pop(key))
            xs = [given.pop(i) for i in inputs]
            return apply(self.function, *xs, **given) if isinstance(self.function, str) else self.function(*xs, **given)

        applied.__module__ = module
        applied.__name__ = applied.__qualname__ = name
        applied.__doc__ = about
        applied.__signature__ = signature  # type: ignore[attr-defined]
        return applied


def squared_difference(a: Tensor, b: Tensor) -> Tensor:
    """Return the square of the difference of elements, broadcast together."""
    d = apply("Sub", a, b)
    return apply("Mul", d, d)
