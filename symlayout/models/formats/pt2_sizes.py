"""What torch.export's files state of sizes: dims with their bounds, extents of values, and guards."""

from __future__ import annotations

import itertools
from typing import Any

from symlayout.algebra.facts import Dim, Facts
from symlayout.deadlines import check_time
from symlayout.errors import FormatError, InconclusiveError, ShapeError, shortened
from symlayout.language.sympy_bridge import symbol_of, to_extent
from symlayout.models.arithmetic.shape_arithmetic import Supposed
from symlayout.models.formats import pt2_graph
from symlayout.models.formats.pt2_expressions import UnreadError, guards_of, one_of, size_of, symbols_of
from symlayout.models.formats.pt2_graph import PT2Graph
from symlayout.models.opaque import OutputType, UnknownExtent

_MAX_GUARDS = 400
_SPECIAL = 2  # the least extent for which torch.export makes one graph, unless it is told of others


class StatedSizes:
    """The sizes in a graph.

    Attributes
    ----------
    graph : PT2Graph
        The graph.
    dims : dict of str to symbol
        The dims of its inputs.
    hints : list of Supposed
        What has to be at least 0 by its guards.
    notes : list of str
        What users should know.

    Raises
    ------
    FormatError
        A name of a dim is none, or a guard never holds.
    ShapeError
        ``infeasible`` if no sizes meet the bounds or the guards.
    """

    def __init__(self, graph: PT2Graph) -> None:
        self.graph = graph
        self.notes: list[str] = []
        self.dims: dict[str, Any] = {}
        self._state_dims()
        self.hints = self._guards()

    def _state_dims(self) -> None:
        """Make a dim of each symbol in the shapes of inputs, with the bounds that the file states."""
        for record in self._callers():
            stated = self.graph.stated.get(record.name)
            for size in stated.sizes if stated is not None else ():
                for name in sorted(symbols_of(size)) if isinstance(size, str) else ():
                    self._state_dim(name)

    def _callers(self) -> list[pt2_graph.InputRecord]:
        return [r for r in self.graph.inputs if r.ref is not None and not r.ref.number and not r.stored]

    def _state_dim(self, name: str) -> None:
        if name in self.dims:
            return
        if not name.isidentifier() or not name.isascii():
            raise FormatError(f"{shortened(name)!r} is no name of a dim")
        low, high = self.graph.bounds.get(name, (None, None))
        low = max(low or 0, 0)
        if high is not None and high < low:
            raise ShapeError(
                f"the file has no sizes for {shortened(name)}: at least {low}, at most {high}", "infeasible"
            )
        self.dims[name] = symbol_of(Dim(name, low, high))
        if low == _SPECIAL:
            self.notes.append(f"{name} >= {low} is a bound of torch.export, which makes other graphs for 0 and 1")

    def size(self, size: int | str) -> Any:
        """Return an extent that the file states, an int or an expression in dims; None if it is not known."""
        if isinstance(size, int):
            return size
        try:
            return size_of(size, self.dims)
        except UnreadError:
            return None

    def _extent(self, path: str, axis: int) -> Any:
        """Return the extent of an input, as guards write it."""
        stated = self.graph.stated.get(path)
        if stated is None or axis >= len(stated.sizes) or (found := self.size(stated.sizes[axis])) is None:
            raise UnreadError(f"an extent of {shortened(path, 30)!r}")
        return found

    def _guards(self) -> list[Any]:
        """Return what has to be at least 0 by the guards of the file."""
        found: dict[Any, None] = {}
        unread = 0
        facts = Facts()

        def at_least(e: Any, low: int) -> bool:
            return e >= low if isinstance(e, int) else facts.nonnegative(to_extent(e, facts) - low)

        guards = self.graph.guards
        for text in guards[:_MAX_GUARDS]:
            check_time()
            try:
                stated = guards_of(text, self._extent)
                for e in itertools.chain(*(one_of(guards, at_least) for guards in stated)):
                    facts.assume_nonnegative(to_extent(e, facts))
                    found[e] = None
            except (UnreadError, InconclusiveError):
                unread += 1
            except ShapeError as error:
                raise ShapeError(f"no sizes meet the guards of the file: {error}", "infeasible") from None
        unread += max(len(guards) - _MAX_GUARDS, 0)
        if unread:
            self.notes.append(f"{unread} of {len(guards)} guards are not read: sizes outside them are not left out")
        return [Supposed(e) for e in found]

    def type_of(self, name: str) -> OutputType:
        """Return what the file states of a value, as an opaque operation has it."""
        stated = self.graph.stated.get(name)
        if stated is None:
            return OutputType(None, None)
        sizes = [self.size(size) for size in stated.sizes]
        return OutputType(stated.dtype, tuple(UnknownExtent() if e is None else e for e in sizes))
