"""The base class of small immutable values, for modules that ``import symlayout`` imports.

`dataclasses` compiles the text of six methods for each frozen class, which takes half a millisecond.  Here all classes
share the methods.  A call with all its arguments takes twice the time of a dataclass, about a microsecond.
"""

from __future__ import annotations

from typing import Any, ClassVar, Never, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Value:
    """A value with named fields; a subclass annotates them, and gives defaults to the last ones.

    Values of one class are equal if their fields are.

    Examples
    --------
    >>> class Point(Value):
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0), Point(2, 3).replaced(x=4)
    (Point(x=1, y=0), True, Point(x=4, y=3))
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]

    def __init__(self, *values: Any, **named: Any) -> None:
        fields = self.__match_args__
        given = dict(zip(fields, values, strict=False))
        if named or len(values) != len(fields):
            twice = given.keys() & named.keys()
            given |= named
            if twice or len(values) > len(fields) or not given.keys() <= set(fields):
                raise TypeError(f"{type(self).__name__} has the fields {', '.join(fields)}, each given once")
            try:
                given = {name: given[name] if name in given else getattr(type(self), name) for name in fields}
            except AttributeError as error:
                raise TypeError(f"{type(self).__name__} needs the field {error.name!r}") from None
        vars(self).update(given)

    def replaced(self, **named: Any) -> Self:
        """Return the value with the fields in *named*."""
        return type(self)(**(vars(self) | named))

    def _key(self) -> tuple[Any, ...]:
        """Return what equal values have in common."""
        return tuple(vars(self).values())

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __setattr__(self, name: str, value: Any) -> Never:
        raise AttributeError(f"cannot assign to field {name!r}: a {type(self).__name__} does not change")

    def __delattr__(self, name: str) -> Never:
        raise AttributeError(f"cannot delete field {name!r}: a {type(self).__name__} does not change")
