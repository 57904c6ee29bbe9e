"""ONNX's operators on text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from symlayout.compute import text as core
from symlayout.compute.demands import demanding, nonempty
from symlayout.compute.elementwise import elementwise
from symlayout.compute.whole import whole
from symlayout.errors import ShapeError, shown
from symlayout.frontends import attributes
from symlayout.frontends.onnx.operator import AT_LEAST_0, AT_LEAST_1, operator
from symlayout.frontends.rank import require_rank
from symlayout.frontends.registry import NotDeclaredError
from symlayout.language.sympy_bridge import fresh
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import compute
from symlayout.tensors.declaration import Body

_LONGEST_PATTERN = 4096


@operator(
    "RegexFullMatch",
    example=("N, C", 'pattern="a+"', "(N, C)"),
    kinds="bad_format",
    about={"pattern": "A regular expression."},
)
def regex_full_match(X: Tensor, pattern: str = "") -> Tensor:
    """Return whether texts match a regular expression from their first to their last character."""
    try:
        re.compile(pattern[:_LONGEST_PATTERN])
    except re.error as error:
        raise ShapeError(f"{shown(pattern)} is not a regular expression: {error}", "bad_format") from error
    return elementwise(Body("matches", core.matches, (("pattern", pattern),)), X, dtype=np.dtype(bool))


_TEXT = {
    "case_change_action": '``"LOWER"``, ``"UPPER"`` or ``"NONE"``.',
    "is_case_sensitive": "Whether stop words are compared before the case changes.",
    "locale": "Has no effect: the case of Unicode changes.",
    "stopwords": "Words that are left out.",
    "delimiter": "What is between two parts; none is white space.",
    "maxsplit": "How many times a text is split at most.",
    "max_gram_length": "The length of the longest sequences.",
    "min_gram_length": "The length of the shortest sequences.",
    "max_skip_count": "How many elements are left out at most between two of a sequence.",
    "ngram_counts": "For each length, where its sequences begin in the pool.",
    "ngram_indexes": "For each sequence its place in the result.",
    "pool_int64s": "The sequences of numbers, one after the other.",
    "pool_strings": "The sequences of texts, one after the other.",
    "weights": "For each sequence its weight.",
}


def _wide(x: Tensor, factor: int = 1) -> Any:
    """Return the type of texts that may be longer than those of *x*."""
    return None if x.dtype is None else np.dtype(f"U{max(x.dtype.itemsize // 4, 1) * factor}")


@operator("StringNormalizer", example=("N", 'case_change_action="LOWER"', "1"), kinds="rank, bad_mode", about=_TEXT)
def string_normalizer(
    X: Tensor, case_change_action: str = "NONE", is_case_sensitive: Any = 0, locale: str = "", stopwords: Any = ()
) -> Tensor:
    """Return texts in one case and without stop words; those that become empty are left out."""
    rank = require_rank("StringNormalizer", X, 1, 2)
    X = demanding(X, "{} rows, not {}", [(n, 1) for n in X.shape[: rank - 1]], [(X.shape[-1], 1)])
    case = attributes.choice("case_change_action", case_change_action, ("LOWER", "UPPER", "NONE"))
    sensitive = attributes.flag("is_case_sensitive", is_case_sensitive)
    given = [("case", case), ("sensitive", sensitive), ("stopwords", list(stopwords or ()))]
    count = fresh("texts", 0)
    shape = (*X.shape[: rank - 1], count)
    return whole("normalized_text", [X], shape, function=core.normalized_text, attributes=given, dtype=_wide(X, 3))


@operator("StringSplit", example=("N", "", "2"), kinds="attr_dtype", about=_TEXT)
def string_split(X: Tensor, delimiter: str = "", maxsplit: Any = None, outputs: int = 1) -> Tensor | list[Tensor]:
    """Return the parts of texts along a new axis; with two *outputs* also the number of parts of each text."""
    limit = None if maxsplit is None else attributes.constant("maxsplit", maxsplit)
    given: list[tuple[str, Any]] = [("delimiter", delimiter), ("limit", limit)]
    shape = (*X.shape, fresh("parts", 0))
    made = whole("split_text", [X], shape, function=core.split_text, attributes=given, dtype=_wide(X))
    if outputs == 1:
        return made
    body = Body("count_parts", core.count_parts, tuple(given))
    return [made, elementwise(body, X, dtype=np.dtype(np.int64))]


@operator(
    "TfIdfVectorizer",
    example=(
        "N, C",
        'mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0, ngram_counts=[0], ngram_indexes=[0, 1], '
        "pool_int64s=[2, 3]",
        "(N, 2)",
    ),
    kinds="rank, bad_mode, length_mismatch, attr_missing",
    about=_TEXT,
    allowed={"min_gram_length": AT_LEAST_1, "max_gram_length": AT_LEAST_1, "max_skip_count": AT_LEAST_0},
)
def tf_idf_vectorizer(
    X: Tensor,
    max_gram_length: Any,
    max_skip_count: Any,
    min_gram_length: Any,
    mode: str,
    ngram_counts: Any,
    ngram_indexes: Any,
    pool_int64s: Any = None,
    pool_strings: Any = None,
    weights: Any = None,
) -> Tensor:
    """Return how often sequences of a pool occur in each vector, weighted."""
    rank = require_rank("TfIdfVectorizer", X, 1, 2)
    X = nonempty(X, range(rank - 1))
    kind = attributes.choice("mode", mode, ("TF", "IDF", "TFIDF"))
    pool: Sequence[Any] = list(pool_int64s if pool_int64s is not None else pool_strings or ())
    starts = attributes.constants("ngram_counts", ngram_counts)
    if sorted([0, *starts, len(pool)]) != [0, *starts, len(pool)]:
        raise NotDeclaredError(f"sequences begin at {shown(starts)} in a pool of {len(pool)}")
    every = core.sequences(pool, starts)
    places = attributes.constants("ngram_indexes", ngram_indexes)
    factors = [1.0] * len(places) if weights is None else [float(w) for w in weights]
    if not len(every) == len(places) == len(factors) or not places:
        raise NotDeclaredError(
            f"{len(every)} sequences have {len(places)} places and {len(factors)} weights", "length_mismatch"
        )
    low, high = (attributes.constant("gram_length", e) for e in (min_gram_length, max_gram_length))
    if low > high:
        raise ShapeError(f"min_gram_length is {low}, above max_gram_length, which is {high}", "attr_range")
    grams = tuple(row for row in zip(every, places, factors, strict=True) if low <= len(row[0]) <= high)
    size = max(places) + 1
    given = (
        ("grams", grams),
        ("size", size),
        ("skips", attributes.constant("max_skip_count", max_skip_count)),
        ("mode", kind),
    )
    body = Body("term_weights", core.term_weights, given, over=True)
    return compute(body, [X], batch=rank - 1, result=(size,), dtype=np.dtype(np.float32))
