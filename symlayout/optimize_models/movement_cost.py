"""What movement costs: the bytes that nodes write without computing, Transpose nodes, and nodes."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from symlayout.algebra.facts import Facts
from symlayout.errors import FormatError
from symlayout.language.sympy_arithmetic import rounded, total
from symlayout.language.sympy_bridge import remainder_of, to_extent
from symlayout.models.model import Model, ModelNode
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import STRING
from symlayout.walks import Walk

if TYPE_CHECKING:
    from onnx import NodeProto

COPY_FREE = ("Reshape", "Squeeze", "Unsqueeze", "Flatten", "Identity", "Dropout")
"""Operations of ONNX that give a value another shape or name, and need not copy it."""
_TYPICAL = 16  # what a dim is taken for where two costs cannot be compared for all sizes


@dataclass(frozen=True, slots=True)
class Cost:
    """What the movement of a graph costs.

    Attributes
    ----------
    sizes : Counter
        How many values of each size in bytes are written by movement; a size is an int or an expression in dims.
    transposes : int
        The number of Transpose nodes.
    nodes : int
        The number of nodes that move.
    """

    sizes: Counter[Any] = field(default_factory=Counter)
    transposes: int = 0
    nodes: int = 0

    @property
    def total(self) -> Any:
        """The bytes, as an int or an expression in dims."""
        return total(self.sizes)

    def typical(self) -> int:
        """Return the bytes with 16 for each dim."""
        return sum(typical(size) * count for size, count in self.sizes.items())

    def key(self) -> tuple[int, int, int]:
        """Return what to minimise: bytes, then transposes, then nodes."""
        return self.typical(), self.transposes, self.nodes

    def at_most(self, other: Cost, requires: Iterable[Any] = ()) -> bool:
        """Return whether this costs no more for all sizes that meet *requires*, in bytes and in transposes.

        It is decided by proof.
        """
        if self.transposes > other.transposes:
            return False
        more, less = (self - other).sizes, (other - self).sizes
        if not more:  # a size is at least 0, whatever its form
            return True
        spare = total(less) - total(more)
        return _is_nonnegative(spare) or _is_nonnegative(_multiples(spare, requires))

    def where(self, requires: Sequence[Any]) -> Cost:
        """Return the cost at sizes that meet *requires*: quotients that are exact there are not rounded."""
        steps = exact_steps(requires)
        back = {dim: dim * dim / multiple for dim, multiple in steps.items()}
        sizes: Counter[Any] = Counter()
        for size, count in self.sizes.items():
            exact = {}
            for quotient in rounded(size):
                found = quotient.subs(steps, simultaneous=True)
                if not rounded(found):
                    exact[quotient] = found.subs(back, simultaneous=True)
            sizes[expanded(size.xreplace(exact) if exact else size)] += count
        return replace(self, sizes=sizes)

    def renamed(self, names: Mapping[Any, Any]) -> Cost:
        """Return the cost with dims replaced."""
        sizes: Counter[Any] = Counter()
        for size, count in self.sizes.items():
            changes = bool(names) and not isinstance(size, int) and not names.keys().isdisjoint(size.free_symbols)
            sizes[expanded(size.xreplace(names)) if changes else size] += count
        return replace(self, sizes=sizes)

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.sizes + other.sizes, self.transposes + other.transposes, self.nodes + other.nodes)

    def __sub__(self, other: Cost) -> Cost:
        return Cost(self.sizes - other.sizes, self.transposes - other.transposes, self.nodes - other.nodes)


def _is_nonnegative(size: Any) -> bool:
    """Return whether a size is proved to be 0 or more for all dims."""
    if isinstance(size, int):
        return size >= 0
    facts = Facts()
    return facts.nonnegative(to_extent(size, facts))


def _multiples(size: Any, requires: Iterable[Any]) -> Any:
    """Return a size in dims that are divided by what *requires* says that they are multiples of."""
    return size if isinstance(size, int) else size.subs(exact_steps(requires), simultaneous=True)


def exact_steps(requires: Iterable[Any]) -> dict[Any, Any]:
    """Return for each dim that *requires* says is a multiple of a number that number times the dim.

    Where the dims stand for what they are multiples of, quotients that are exact have no remainder to be rounded.
    """
    steps = {}
    for relation in requires:
        found = remainder_of(relation.lhs) if relation.rel_op == "==" and relation.rhs == 0 else None
        if found is not None and found[0].is_Symbol and found[1].is_Integer:
            steps[found[0]] = found[1] * found[0]
    return steps


def typical(size: Any) -> int:
    """Return a size with 16 for each dim."""
    return size if isinstance(size, int) else _typical(size)


@functools.lru_cache(maxsize=4096)
def _typical(size: Any) -> int:
    return max(int(size.xreplace(dict.fromkeys(size.free_symbols, _TYPICAL))), 0)


def bytes_of(t: Tensor) -> Any:
    """Return how many bytes a value takes, as an int or an expression in dims."""
    size: Any = 4 if t.dtype is None else t.dtype.itemsize
    for e in t.shape:
        size = size * e
    return expanded(size)


def expanded(size: Any) -> Any:
    """Return a size in the form in which sizes are compared."""
    return int(size) if isinstance(size, int) or size.is_Integer else size.expand()


def renamed_data(before: Model, after: Model) -> dict[Any, Any]:
    """Return for dims of *after* that depend on data the dims of *before* that they are.

    Such a dim is named after the function that brings it in and what that reads, so it gets another name where that is
    spelled anew.  A rewrite keeps the names of values, so the extents of one axis of one value are one.  A dim that two
    axes say different things of is left out.
    """
    given = {name for t in before.inputs.values() for name in t.facts.dims}
    found: dict[Any, Any] = {}
    doubtful = set()
    for name, t in tensors_of(after).items():
        if t is None or t.facts.dims.keys() <= given:
            continue
        old = _tensor(before, name)
        if old is None or old.rank != t.rank:
            continue
        for e, new in zip(old.shape, t.shape, strict=True):
            if isinstance(e, int) or isinstance(new, int) or not (e.is_Symbol and new.is_Symbol) or new.name in given:
                continue
            if found.setdefault(new, e) != e:
                doubtful.add(new)
    return {new: e for new, e in found.items() if new not in doubtful and new != e}


def _tensor(model: Model, name: str) -> Tensor | None:
    """Return a value of a model; None for one that is no tensor: numbers of dims that no value shows are none.

    None is also returned for strings, which no rewrite can write.
    """
    try:
        t = model.tensors.shaped.get(name)
    except FormatError:
        return None
    return None if t is not None and t.dtype == STRING else t


def tensors_of(model: Model) -> dict[str, Tensor | None]:
    """Return the values of a model by name; None for one that is no tensor, and for strings."""
    return {name: _tensor(model, name) for name in model.tensors.shaped}


def cost_of(nodes: Iterable[NodeProto], tensors: Mapping[str, Tensor | None], moving: Iterable[str]) -> Cost:
    """Return what those of *nodes* cost whose outputs are in *moving*."""
    moved = set(moving)
    cost = Cost()
    transposes = count = 0
    for node in nodes:
        outputs = [name for name in node.output if name in moved]
        if not outputs:
            continue
        count += 1
        transposes += node.op_type == "Transpose"
        if node.op_type in COPY_FREE:
            continue
        for name in outputs:
            t = tensors[name]
            assert t is not None
            cost.sizes[bytes_of(t)] += 1
    return Cost(cost.sizes, transposes, count)


class Movement:
    """Which values of a model are moved, not computed."""

    def __init__(self, model: Model) -> None:
        self.tensors = tensors_of(model)
        self.numbers = model.tensors.numbers
        """Returns the integers and the expressions in dims that a value holds; None if it holds none that are known."""
        self.sources: dict[str, list[str]] = {}
        """For each moved value the values that its node reads elements of."""
        for node in model.nodes:
            for name in node.outputs:
                if name and not self._may_change_type(node, name) and (found := self._read_by(name, node.inputs)):
                    self.sources[name] = found

    def _may_change_type(self, node: ModelNode, name: str) -> bool:
        """Return whether a node casts numbers of a shape: models have these without their element type."""
        t = self.tensors.get(name)
        return node.op_type in ("Cast", "CastLike") and t is not None and t.declared is None

    def _read_by(self, name: str, inputs: Iterable[str]) -> list[str]:
        """Return the inputs that the value is moved from; empty if it is not moved from inputs alone."""
        t = self.tensors.get(name)
        if t is None:
            return []
        ends = {x: n for n in inputs if n and (x := self.tensors.get(n)) is not None}
        found: dict[str, None] = {}
        walk = Walk([t])
        for at in walk:
            if at in ends:
                found[ends[at]] = None
            elif at.declared is None:
                return []
            else:
                walk.to(at.inputs)
        return list(found)
