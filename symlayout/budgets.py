"""How much work a question may cost, in one object that a program may change: `symlayout.limits`.

Work is counted in goals, terms and characters, not in seconds, so that an answer is the same on every machine.  Other
programs, such as compilers and runtimes, have limits in seconds.
"""

from __future__ import annotations

from typing import Any

from symlayout_codegen.limits import CheckedLimits
from symlayout_codegen.limits import limits as _backend


class Limits(CheckedLimits):
    """What one question to the algebra may cost; beyond it the answer is UNKNOWN or `InconclusiveError`.

    Attributes
    ----------
    normal_form_goals : goals that the normal form of one chain may visit.
    normal_form_parts : parts that the normal form of one chain may have.
    read_goals : goals that splitting the digits of one read of a kernel may visit.
    nesting : quotients and maxima within each other.
    written_names : names in a quotient or maximum of dims, where those within it are written out.
    reading_goals : goals that one pass over the nodes of a model may visit while it is read, and as many more for each
        node as `reading_node_goals` says.  Beyond them operations are opaque functions, whose extents are named dims.
    reading_node_goals : see `reading_goals`.
    search_terms : terms that one search for the end of an interval may multiply out.
    decision_goals : goals that one decision of a claim may visit.
    decision_splits : cases that one decision of a claim may tell apart.
    question_goals : goals that all decisions of one `symlayout.verify` may visit together, and as many more for each
        value as `value_goals` says.  A decision is about one pair, and models that differ have many pairs.
    value_goals : see `question_goals`.
    optimize_goals : goals that one `symlayout.optimize` may visit, and as many more for each value of the model as
        `optimize_value_goals` says.  Values that are read, compared or rewritten count, too.
    optimize_value_goals : see `optimize_goals`.
    broadcast_parts : extents, of which it is not known which are 1, that one axis is broadcast from.  Each two of them
        have to fit, so their number would be cubic in a chain.
    points : of a box of digits with constant extents, which one goal may look at one by one.
    take_runs : pieces of the map of one `symlayout.take` of constant indices; more indices become a table.
    take_pieces : pieces of the map of one `symlayout.take` with dims among its indices.
    isl_operations : operations of isl in one decision.
    run_seconds : time that runtimes may take to run two models for one `symlayout.verify`, in seconds.
    run_bytes : memory that a runtime may take for it, and the size of a file that it may write.
    kernel_characters : length of the C of one kernel; a longer one runs in NumPy.
    compiler_seconds : time that one run of the compiler may take, in seconds.

    Examples
    --------
    >>> import symlayout as sl
    >>> sl.limits.search_terms
    1500000
    >>> sl.limits.search_term = 10
    Traceback (most recent call last):
    AttributeError: there is no limit 'search_term'
    ...
    """

    normal_form_goals: int = 20_000
    normal_form_parts: int = 5_000
    read_goals: int = 10_000
    nesting: int = 200
    written_names: int = 500
    reading_goals: int = 20_000
    reading_node_goals: int = 50
    search_terms: int = 1_500_000
    decision_goals: int = 40_000
    decision_splits: int = 150
    question_goals: int = 25_000
    value_goals: int = 20
    optimize_goals: int = 250_000
    optimize_value_goals: int = 250
    broadcast_parts: int = 8
    points: int = 1_000_000
    take_runs: int = 16
    take_pieces: int = 1_000
    isl_operations: int = 20_000_000
    run_seconds: float = 60.0
    run_bytes: int = 4 << 30

    @property
    def kernel_characters(self) -> int:
        """The length of the C of one kernel."""
        return _backend.kernel_characters

    @property
    def compiler_seconds(self) -> float:
        """The time that one run of the compiler may take, in seconds."""
        return _backend.compiler_seconds

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a limit where it is kept: here, or in the backend (see `symlayout_codegen.limits.CheckedLimits`)."""
        if isinstance(getattr(type(self), name, None), property):
            setattr(_backend, name, value)
        else:
            CheckedLimits.__setattr__(self, name, value)


limits = Limits()
"""The limits that hold in this process."""
