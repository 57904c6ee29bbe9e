"""Operations on text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]


def matches(x: Array, pattern: str) -> Array:
    """Return whether texts match a regular expression from their first to their last character."""
    compiled = re.compile(pattern)
    return np.array([compiled.fullmatch(str(t)) is not None for t in x.reshape(-1)], bool).reshape(x.shape)


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))


def normalized_text(x: Array, axes: Axes, case: str, sensitive: bool, stopwords: tuple[str, ...]) -> Array:
    """Return texts in one case, without accents and stop words; those that become empty are left out.

    If all become empty, one empty text stays.
    """
    change = {"LOWER": str.lower, "UPPER": str.upper}.get(case, str)
    stops = set(stopwords) if sensitive else {change(word) for word in stopwords}

    def kept(text: str) -> str:
        return " ".join(word for word in text.split(" ") if word not in stops) if stops else text

    made = []
    for item in x.reshape(-1).tolist():
        text = _without_accents(item)
        made.append(change(kept(text)) if sensitive else kept(change(text)))
    if x.ndim == 2 and x.shape[0] != 1:
        return np.array(made, np.str_).reshape(x.shape)
    left = [text for text in made if text] or [""]
    return np.array(left, np.str_).reshape((1, -1) if x.ndim == 2 else (-1,))


def _pieces(x: Array, delimiter: str, limit: int | None) -> list[list[str]]:
    return [str(text).split(delimiter or None, -1 if limit is None else limit) for text in x.reshape(-1)]


def split_text(x: Array, axes: Axes, delimiter: str, limit: int | None) -> Array:
    """Return the parts of texts along a new axis; empty texts follow where there are fewer."""
    pieces = _pieces(x, delimiter, limit)
    count = max(map(len, pieces), default=0)
    rows = [[*row, *[""] * (count - len(row))] for row in pieces]
    return np.array(rows, np.str_).reshape(*x.shape, count)


def count_parts(x: Array, delimiter: str, limit: int | None) -> Array:
    """Return the number of parts of each text."""
    return np.array([len(row) for row in _pieces(x, delimiter, limit)], np.int64).reshape(x.shape)


def term_weights(
    x: Array,
    axes: Axes,
    grams: tuple[tuple[tuple[Any, ...], int, float], ...],
    size: int,
    skips: int,
    mode: str,
) -> Array:
    """Return how often sequences of elements occur in each vector, weighted.

    *grams* has each sequence with its place in the result and its weight.  Between two elements of a sequence, up to
    *skips* others are left out, the same number everywhere.
    """
    rows = x.reshape(-1, x.shape[-1])
    made = np.zeros((len(rows), size), np.float32)
    table = {gram: (place, weight) for gram, place, weight in grams}
    for number, row in enumerate(rows.tolist()):
        for length in {len(gram) for gram in table}:
            for step in range(1, (skips if length > 1 else 0) + 2):
                for start in range(len(row) - (length - 1) * step):
                    found = table.get(tuple(row[start : start + (length - 1) * step + 1 : step]))
                    if found is not None:
                        made[number, found[0]] += 1
    weights = np.ones(size, np.float32)
    for place, weight in table.values():
        weights[place] = weight
    if mode == "IDF":
        made = (made > 0) * weights
    elif mode == "TFIDF":
        made = made * weights
    return made.reshape(*x.shape[:-1], size).astype(np.float32)


def sequences(pool: Sequence[Any], starts: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the sequences of a pool: from each start on, those that are one element longer than the ones before.

    >>> sequences([2, 3, 5, 4, 5, 6], [0, 2])
    [(2,), (3,), (5, 4), (5, 6)]
    """
    found: list[tuple[Any, ...]] = []
    for length, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), start=1):
        found += [tuple(pool[k : k + length]) for k in range(start, end - length + 1, length)]
    return found
