"""Which computed values one kernel computes: those whose bodies have steps, and of reductions at most one on each way.

What the kernel reads besides is a source: an input, a large constant, or a value that the interpreter computes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from symlayout.algebra.polynomial import Extent
from symlayout.compute.trace import BodyTrace, TracedElement, UntraceableError
from symlayout.errors import InconclusiveError
from symlayout.tensors.chain import Tensor
from symlayout.walks import Walk

MOST_STEPS = 256
"""The most steps of a formula."""

Types = Mapping[str, np.dtype[Any]]


class Fusion:
    """Which computed values are part of a kernel, and the element types of all values."""

    def __init__(self, t: Tensor, types: Types) -> None:
        self.t = t
        self._given = types
        self._types: dict[str, np.dtype[Any]] = {}
        self._reduces: dict[str, bool] = {}
        self._stopped: set[str] = set()
        self.over: tuple[Extent, ...] = ()
        self._find()

    def _find(self) -> None:
        """Find the bodies that have steps, those nearest to the inputs first."""
        self.over = ()
        self._reduces = {}
        for node in self.t.graph():
            if node.declared is not None or (node.key in self._types and node.key in self._stopped):
                continue
            if node.body is None:
                dtype = node.values.dtype if node.values is not None else self._given.get(node.key, node.dtype)
                if dtype is not None:
                    self._types[node.key] = dtype
            elif node.key not in self._stopped:
                self._fuse(node)

    def stop(self, leaf: Tensor) -> None:
        """Take *leaf* as a source."""
        self._stopped.add(leaf.key)
        self._find()

    def _fuse(self, node: Tensor) -> None:
        """Note the type of a body's result, and whether the kernel computes it."""
        assert node.body is not None
        trace = BodyTrace()
        try:
            operands = [trace.load(k, self.view_type(v), reduced=node.body.over) for k, v in enumerate(node.inputs)]
            made = call_body(trace, node, operands)
            reduces = any(self._reduces.get(leaf.key, False) for v in node.inputs for leaf in _read_leaves(v))
            fused = node.body.random is False and node.rank == node.batch and not trace.is_reduced(made)
            if node.body.over:
                over = {v.extents[node.batch :] for v in node.inputs}
                fused &= len(over) == 1 and not reduces and (not self.over or over == {self.over})
                if fused:
                    (self.over,) = over
            if fused:
                self._types[node.key] = made.dtype
                self._reduces[node.key] = reduces or node.body.over
                return
        except UntraceableError:
            pass
        self._stopped.add(node.key)
        if node.dtype is not None:
            self._types[node.key] = node.dtype

    def view_type(self, view: Tensor) -> np.dtype[Any]:
        """Return the element type of a view.

        Raises
        ------
        UntraceableError
            It is not known, or the view reads elements of several types.
        """
        leaves = view.leaves() if view.dtype is None else _read_leaves(view)
        found = {self._types.get(leaf.key) for leaf in leaves}
        dtype = view.dtype if not found else found.pop()
        if dtype is None or found or (view.dtype is not None and view.dtype != dtype):
            raise UntraceableError(f"the element type of {view.name}")
        return dtype

    def computes(self, leaf: Tensor) -> bool:
        """Return whether the kernel computes *leaf*."""
        return leaf.body is not None and leaf.key not in self._stopped

    @property
    def fuses(self) -> bool:
        """Whether the kernel computes a value."""
        return any(self.computes(leaf) for leaf in _read_leaves(self.t))

    def sources(self) -> list[Tensor]:
        """Return what the kernel reads: inputs first, in order of first use by the interpreter, then the others."""
        found: dict[str, Tensor] = {}
        todo = _read_leaves(self.t)[::-1]
        while todo:
            leaf = todo.pop()
            if leaf.key in found:
                continue
            if self.computes(leaf):
                todo += [each for v in reversed(leaf.inputs) for each in reversed(_read_leaves(v))]
            else:
                found[leaf.key] = leaf
        order = [leaf.key for leaf in self.t.arguments()]
        return sorted(found.values(), key=lambda leaf: order.index(leaf.key) if leaf.key in order else len(order))

    def type_of(self, leaf: Tensor) -> np.dtype[Any]:
        """Return the element type of a leaf."""
        if leaf.key not in self._types:
            raise InconclusiveError(f"the element type of {leaf.name} is known")
        return self._types[leaf.key]


def _read_leaves(view: Tensor) -> list[Tensor]:
    """Return the leaves that *view* reads; others of its inputs only have their extents."""
    walk = Walk([view])
    for node in walk:
        if node.declared is not None:
            walk.to(node.inputs[case.source] for case in node.declared.cases)
    return list({node.key: node for node in walk.seen if node.declared is None}.values())


def call_body(trace: BodyTrace, node: Tensor, operands: Sequence[TracedElement]) -> TracedElement:
    """Return what the body of *node* computes of *operands*, in the type of *node*; see `evaluate_bodies`."""
    assert node.body is not None
    if node.body.function is None:
        raise UntraceableError(node.body.name)
    named = dict(node.body.attributes)
    if node.body.over:
        named["axes"] = tuple(range(node.batch - node.inputs[0].rank, 0))
    made = trace.call(node.body.function, *operands, **named)
    if len(trace.steps) > MOST_STEPS:
        raise UntraceableError(f"more than {MOST_STEPS} steps")
    return made if node.dtype is None else made.astype(node.dtype)
