"""What writes in place do to the other values of a graph: views of one storage, and what is not known of them.

torch's graphs are not functional: ``relu_`` writes where its input is, and whoever reads the input later, or a view of
it, reads what was written.  A write makes a new value of the whole storage, and each view of it is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symlayout.models.formats.pt2_graph import NodeRecord

Again = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _Link:
    """How a value follows from the one that it is a view of.

    Attributes
    ----------
    base : str
        The other value.
    certain : bool
        Whether both are in one storage for sure.
    view : callable or None
        Returns the view of a base.
    put : callable or None
        Returns the base with its view replaced; None if that is not known.
    """

    base: str
    certain: bool
    view: Again | None
    put: Callable[[Any, Any], Any] | None


@dataclass(slots=True)
class Storages:
    """The values of a graph that share a storage.

    Attributes
    ----------
    last_read : dict
        The number of the last node that reads a value; one more than there are for an output.
    """

    last_read: dict[str, int]
    _links: dict[str, _Link] = field(default_factory=dict)
    _views: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, nodes: tuple[NodeRecord, ...], outputs: Iterator[str]) -> Storages:
        """Return them for the nodes of a graph, before any is computed."""
        last: dict[str, int] = {}
        for node in nodes:
            last.update((ref.name, node.number) for ref in node.refs())
        last.update(dict.fromkeys(outputs, len(nodes)))
        return cls(last)

    def link(
        self, name: str, base: str, *, certain: bool, view: Again | None = None,
        put: Callable[[Any, Any], Any] | None = None,
    ) -> None:  # fmt: skip
        """Note that a new value is, or may be, in the storage of another one."""
        if name not in self._links and name != base:
            self._links[name] = _Link(base, certain, view, put)
            self._views.setdefault(base, []).append(name)

    def written(self, name: str, number: int, value: Any, values: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Return what values become after node *number* wrote a value, and those of which that is not known."""
        new: dict[str, Any] = {name: value}
        at = name
        path = [name]
        unknown: set[str] = set()
        while at in self._links:
            link = self._links[at]
            made = None
            if link.certain and link.put is not None and at in new:
                made = link.put(values[link.base], new[at])
            if made is None:
                unknown.add(link.base)
            else:
                new[link.base] = made
            at = link.base
            path.append(at)
        waiting = [(base, view) for base in path for view in self._views.get(base, ()) if view not in path]
        while waiting:
            base, view = waiting.pop()
            link = self._links[view]
            made = link.view(new[base]) if base in new and link.certain and link.view is not None else None
            if made is None:
                unknown.add(view)
            else:
                new[view] = made
            waiting += [(view, other) for other in self._views.get(view, ())]
        read = {key for key, last in self.last_read.items() if last > number}
        return {k: v for k, v in new.items() if k in read or k == name}, unknown & read

    def is_view(self, name: str) -> bool:
        """Return whether a value is in the storage of another one, or may be."""
        return name in self._links

    def together(self, name: str, number: int) -> set[str]:
        """Return the values that may be in the storage of one, with it, of those that are read after node *number*."""
        found, waiting = {name}, [name]
        while waiting:
            at = waiting.pop()
            near = [*self._views.get(at, ()), *([self._links[at].base] if at in self._links else [])]
            waiting += [other for other in near if other not in found]
            found.update(near)
        return {key for key in found if self.last_read.get(key, -1) > number}
