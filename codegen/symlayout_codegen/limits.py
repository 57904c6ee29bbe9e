"""The limits of the backend, in one object that a program may change: `limits`.

A limit is read from the object each time that it applies.  So a change holds everywhere at once, and no module has a
copy of its own.
"""

from __future__ import annotations

from typing import Any


class CheckedLimits:
    """Limits by name; a subclass annotates them.  Only known names and non-negative numbers can be set."""

    def __init__(self, **named: float) -> None:
        for name, value in named.items():
            setattr(self, name, value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)}' for n in type(self).__annotations__)})"

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a limit.

        Raises
        ------
        AttributeError
            There is no limit of that name.
        TypeError
            The value is no number, or no integer where the limit counts something.
        ValueError
            The value is negative.
        """
        types = type(self).__annotations__
        if name not in types:
            raise AttributeError(
                f"there is no limit {name!r}\n  known: {', '.join(n for n in dir(self) if n[0] != '_')}"
            )
        allowed = (int, float) if types[name] == "float" else (int,)
        if isinstance(value, bool) or not isinstance(value, allowed):
            raise TypeError(f"limit {name}: {value!r} is not {'a number' if float in allowed else 'an integer'}")
        if not value >= 0:
            raise ValueError(f"limit {name}: {value!r} is negative")
        object.__setattr__(self, name, value)


class BackendLimits(CheckedLimits):
    """What the backend spends at most on one kernel.

    Attributes
    ----------
    kernel_characters : length of the C of one kernel, without the headers.
    compiler_seconds : time that one run of the compiler may take, in seconds.
    """

    kernel_characters: int = 1 << 18
    compiler_seconds: float = 30.0


limits = BackendLimits()
