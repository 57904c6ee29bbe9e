"""Random changes of texts and files that are valid."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from tests.promises.hostile_inputs.seeds import TOKENS

Item = tuple[str, Callable[[], object]]
"""What is tried: how it reads, and what reads it."""


def mutated(seeds: Sequence[str], rnd: random.Random) -> str:
    """Return one of *seeds* with a few changes."""
    text = rnd.choice(seeds)
    for _ in range(rnd.choice((1, 1, 2, 3, 5))):
        i, k = sorted((rnd.randint(0, len(text)), rnd.randint(0, len(text))))
        match rnd.randrange(5):
            case 0:
                text = text[:i] + rnd.choice(TOKENS) + text[i:]
            case 1:
                text = text[:i] + rnd.choice(TOKENS) + text[k:]
            case 2:
                text = text[:i] + text[k:]
            case 3:
                text = text[:k] + text[i:k] * rnd.choice((1, 2, 50)) + text[k:]
            case _:
                other = rnd.choice(seeds)
                text = text[:i] + other[rnd.randint(0, len(other)) :]
    return text


def changed(seeds: Sequence[bytes], rnd: random.Random) -> bytes:
    """Return one of *seeds* with a few bytes changed, removed, repeated, or replaced by numbers that are extreme."""
    data = bytearray(rnd.choice(seeds))
    for _ in range(rnd.choice((1, 1, 1, 2, 4, 16))):
        i, k = sorted((rnd.randint(0, len(data)), rnd.randint(0, len(data))))
        match rnd.randrange(6):
            case 0:
                data[i : i + 1] = bytes([rnd.randrange(256)])
            case 1:
                data[i : i + 1] = bytes([data[i] ^ 1 << rnd.randrange(8)]) if i < len(data) else b""
            case 2:
                del data[i : i + rnd.choice((1, 2, 8, k - i))]
            case 3:
                data[i:i] = data[i : i + rnd.choice((1, 8, 64))] * rnd.choice((1, 2, 100))
            case 4:
                data[i:i] = rnd.choice(
                    (b"\xff" * 10, b"\xff" * 9 + b"\x01", b"\x00", b"-1", b"9" * 19, b"9" * 5000, b"&#0;")
                )
            case _:
                number = rnd.choice(
                    (b"-8", b"0", b"9223372036854775807", b"9223372036854775808", b"2147483648", b"1,1", b"?", b"")
                )
                data = bytearray(_with_number(bytes(data), number, rnd))
    return bytes(data)


def _with_number(data: bytes, number: bytes, rnd: random.Random) -> bytes:
    """Return *data* with one of its runs of digits replaced."""
    starts = [i for i, c in enumerate(data) if c in b"0123456789"]
    if not starts:
        return data
    i = rnd.choice(starts)
    k = i
    while k < len(data) and data[k] in b"0123456789":
        k += 1
    return data[:i] + number + data[k:]
