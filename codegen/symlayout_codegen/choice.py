"""What a schedule leaves open: the candidates among which the model, or a measurement, chooses.

A candidate is a value of `Choice`; every one of them gives a program that does what the nest says.  To offer
another candidate, give `Choice` a field, have its pass look at it, and list the values here.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to schedule a nest.

    Attributes
    ----------
    walk : "output" or "source"
        In whose memory order the outer loops go.
    """

    walk: str = "output"

    def __str__(self) -> str:
        return f"outer loops in the order of the {self.walk}"


MODEL = Choice()
"""What the model takes: stores that leave the cache in order cost less than loads that do."""

CANDIDATES = (MODEL, Choice(walk="source"))
