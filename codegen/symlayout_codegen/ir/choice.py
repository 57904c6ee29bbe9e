"""What a schedule leaves open: the candidates among which the model, or a measurement, chooses.

A candidate is a value of `Choice`; every one of them gives a program that does what the nest says.  To offer
another candidate, give `Choice` a field, have its pass look at it, and list the values here.
"""

from __future__ import annotations

from dataclasses import dataclass

ALWAYS, NEVER = 0, 2**63 - 1


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to schedule a nest.

    Attributes
    ----------
    walk : "output" or "source"
        In whose memory order the outer loops go.
    tiles : int
        How many tiles of a transpose go together, each way; a tile is a cache line high and wide.
    past : int
        From how many bytes on an output with transposes is written past the caches, where its lines are whole.
    """

    walk: str = "output"
    tiles: int = 8
    past: int = 24 << 20

    def __str__(self) -> str:
        past = {ALWAYS: "always", NEVER: "never"}.get(self.past, f"from {self.past >> 20} MiB on")
        return (
            f"outer loops in the order of the {self.walk}, transposes by {self.tiles} x {self.tiles} tiles, "
            f"written past the caches {past}"
        )

    @property
    def label(self) -> str:
        """What it is called beside other candidates: in what it differs from the model's choice."""
        words = [self.walk] if self.walk != MODEL.walk or self == MODEL else []
        if self.tiles != MODEL.tiles:
            words.append(f"{self.tiles} x {self.tiles} tiles")
        if self.past != MODEL.past:
            words.append(f"{'always' if self.past == ALWAYS else 'never'} past the caches")
        return " and ".join(words)


MODEL = Choice()
"""What the model takes: stores that leave the cache in order cost less than loads that do."""

CANDIDATES = (
    MODEL,
    Choice(walk="source"),
    Choice(tiles=2),
    Choice(tiles=16),
    Choice(past=ALWAYS),
    Choice(past=NEVER),
)
