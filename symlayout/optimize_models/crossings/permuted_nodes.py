"""One node in another layout: the same operation on permuted values, with the attributes and constants that fit.

What names an axis is renamed, what holds an entry for each axis is permuted, and constants that are broadcast are
transposed.  That only proposes a node.  `PermutedNodes.find` returns it if the outputs are proved to be those of the
original, transposed, for all sizes.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.errors import SymlayoutError, one_line
from symlayout.models.onnx_nodes.schemas import package_schema
from symlayout.models.onnx_subgraphs import has_graphs
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.spellings.reshape_steps import target_shape
from symlayout.proof.prove import prove_briefly
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import is_pointwise
from symlayout.tensors.requirements import implies
from symlayout.tensors.stand_in import dims_of, rebased, stand_in

if TYPE_CHECKING:
    from onnx import NodeProto

Perm = tuple[int, ...]
Array = np.ndarray[Any, Any]

_MAX_CONSTANT = 1 << 26  # bytes of a constant that is permuted
_MAX_PROPOSALS = 8  # of one node
_POINTS = 64  # at which a proposal is compared before the last attempt to prove it
_FACTORS = (3, 5, 7, 11, 13, 17, 19, 23)  # that make the extents of axes different
_AXES = ("axis", "axes")  # operands and attributes that name axes
_PER_AXIS = ("pads", "scales", "sizes", "repeats", "shape", "roi")
"""Operands and attributes with one entry for each axis, or with as many more for the ends of the axes."""
_NUMBERS = (*_PER_AXIS, "starts", "ends", "steps")
"""Operands whose numbers say what the node does, and may depend on dims."""
_STEADY = (
    "softmax", "log_softmax", "hardmax", "cumulated", "index_of_extreme", "ordered_values", "ordered_positions",
    "lp_normalized", "product", "sum_of_absolutes", "sum_of_squares", "root_of_squares", "log_of_sum",
    "log_of_exponentials", "resampled",
)  # fmt: skip
"""Bodies on vectors that runtimes compute with the terms in one order, whatever the layout."""
# How onnxruntime multiplies float32: it adds up the terms of a sum in blocks of this length at least.  It shares large
# products among its threads, by 16 columns if there are more columns than rows, by rows if not.  A share of one row or
# one column is added up in another way, if the weights are not constants of two axes, which it packs.
_BLOCK = 128
_SHARED = 1 << 12  # terms of a row in shares of two rows at least, whatever the number of threads
_TILE = 16  # columns that it multiplies at once, where fewer take as long
_ROUNDED_ALIKE = np.dtype(np.float32)


def inverse(perm: Perm) -> Perm:
    """Return the permutation that undoes *perm*.

    >>> inverse((0, 2, 3, 1))
    (0, 3, 1, 2)
    """
    return tuple(int(k) for k in np.argsort(perm))


Found = dict[Any, "tuple[PermutedNode | None, bool]"]
"""By node and permutation: the node in the permuted layout, and whether the order of a sum changes by it."""


@dataclass(frozen=True, slots=True)
class Entries:
    """An operand of computed numbers, with its entries in another order."""

    order: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PermutedNode:
    """A node that computes what another one does, in the layout before a permutation.

    Attributes
    ----------
    node : NodeProto
        The node, with the attributes that fit; its operands and outputs have the names of the original.
    operands : tuple
        For each operand ``"same"`` or ``"permuted"``, the order of its `Entries`, or the array that takes its place.
        There may be operands more than the original has.
    outputs : tuple of bool
        For each output whether it is permuted.
    proofs : tuple of Proof
        Once it is proved, the proof of each output.
    swapped : bool
        Whether the node reads its two operands in the other order.
    """

    node: NodeProto
    operands: tuple[Any, ...]
    outputs: tuple[bool, ...]
    proofs: tuple[Proof, ...] = ()
    swapped: bool = False

    @property
    def order(self) -> range:
        """The numbers of the operands in the order in which the node reads them."""
        count = len(self.operands)
        return range(count - 1, -1, -1) if self.swapped else range(count)

    def reads_permuted(self, k: int) -> bool:
        """Return whether operand *k* is read in the permuted layout."""
        return isinstance(self.operands[k], str) and self.operands[k] == "permuted"


class PermutedNodes:
    """Finds the nodes of one graph in the layout before *perm*.

    Parameters
    ----------
    graph : EditedGraph
        The graph of the nodes.
    tensors : mapping
        The values of the graph; None for one that is no tensor.
    perm : tuple of int
        The permutation that makes the values of the graph of the permuted ones.
    known : dict
        What was found for nodes of this model, in this layout and in others; results are added.
    numbers : function, optional
        Returns the integers and the expressions in dims that a value holds; None if they are not known.
    reorder : bool
        Whether a sum may move whose terms runtimes add up in an order that the layout changes.
    """

    def __init__(
        self,
        graph: EditedGraph,
        tensors: Mapping[str, Tensor | None],
        perm: Perm,
        known: Found,
        numbers: Callable[[str], Array | None] = lambda _name: None,
        *,
        reorder: bool = False,
    ) -> None:
        self._graph, self._tensors, self._perm, self._reorder, self._known = graph, tensors, perm, reorder, known
        self._numbers = numbers
        self.reordered: set[str] = set()
        """Such sums that may move, by `name_of`."""
        self.refused: set[str] = set()
        """Such sums that must not move, by `name_of`."""

    # ------------------------------------------------------------------ proposals

    def propose(self, node: NodeProto) -> PermutedNode | None:
        """Return the likeliest spelling of the node in the permuted layout, not proved; None if there is none."""
        return next(self._proposals(node), None)

    def _proposals(self, node: NodeProto) -> Iterator[PermutedNode]:
        tensors = [self._tensors.get(name) for name in node.output if name]
        if not node.input or not tensors or has_graphs(node):
            return
        if any(t is None for t in tensors) or any(n and self._tensors.get(n) is None for n in self._read(node)):
            return
        outputs = tuple(self._is_whole(name) for name in node.output)
        if not any(outputs) and not any(self._is_whole(name) for name in node.input):
            return
        yield from self._swapped(node)
        choices = [list(self._operands(node, k, name)) for k, name in enumerate(node.input)]
        extra = self._added_axes(node)
        found = 0
        for new in self._attributes(node):
            for operands in itertools.product(*choices):
                if found == _MAX_PROPOSALS:
                    return
                if any(outputs) and all(isinstance(o, str) and o == "same" for o in operands):
                    continue
                found += 1
                yield PermutedNode(new, (*operands, *extra), outputs)

    def _swapped(self, node: NodeProto) -> Iterator[PermutedNode]:
        """Yield a product whose rows and columns are exchanged: ``(x w)^T = w^T x^T``, of constant weights or not."""
        rank = len(self._perm)
        if self._perm != (*range(rank - 2), rank - 1, rank - 2) or not self._graph.is_standard(node, "MatMul"):
            return
        a, b = (self._tensors.get(name) for name in node.input)
        x, w = (b, a) if a is not None and a.values is not None else (a, b)
        if x is None or w is None or x.values is not None or x.rank != rank:
            return
        if w.values is None and w.rank == rank:
            yield PermutedNode(node, ("permuted", "permuted"), (True,), swapped=True)
        if w.values is None or w.rank != 2:
            return
        terms, columns = int(w.shape[0 if w is b else 1]), x.extents[-1 if x is b else -2]
        values = np.asarray(w.values)
        if values.nbytes <= _MAX_CONSTANT and is_as_fast(terms, columns, x.facts):
            operands = ("permuted", values.T) if x is a else (values.T, "permuted")
            yield PermutedNode(node, operands, (True,), swapped=True)

    def _is_rounded_alike(self, node: NodeProto) -> bool:
        """Return whether the sums of a product keep their bits if its operands are swapped.

        Where both are computed, nothing is known of the kernels that a runtime takes.
        """
        a, b = (self._tensors[name] for name in node.input)
        assert a is not None
        assert b is not None
        x, w = (b, a) if a.values is not None else (a, b)
        if x.dtype is not None and x.dtype.kind in "iu":
            return True
        if w.values is None:
            return False
        terms, made = (int(w.shape[0]), int(w.shape[1])) if w is b else (int(w.shape[1]), int(w.shape[0]))
        named = node.input[1 if w is b else 0]
        packed = any(t.name == named for t in self._graph.message.graph.initializer)
        return (
            x.dtype == _ROUNDED_ALIKE and packed and rounds_alike(terms, made, x.extents[-1 if x is b else -2], x.facts)
        )

    def _rounds_by_neighbours(self, node: NodeProto, made: Tensor) -> bool:
        """Return whether a node rounds to float16: onnxruntime does not round before what it computes in float32."""
        x = self._tensors.get(node.input[0])
        return made.dtype == np.float16 and x is not None and x.dtype is not None and x.dtype != made.dtype

    def _read(self, node: NodeProto) -> list[str]:
        """Return the operands whose values have to be known; a reshape shows its target by its result."""
        return list(node.input[:1]) if self._graph.is_standard(node, "Reshape") else list(node.input)

    def _is_whole(self, name: str) -> bool:
        """Return whether a value has the rank of the permutation."""
        t = self._tensors.get(name) if name else None
        return t is not None and t.rank == len(self._perm)

    def _operands(self, node: NodeProto, k: int, name: str) -> Iterator[Any]:
        """Yield what may take the place of an operand, the likeliest first."""
        t = self._tensors.get(name) if name else None
        rank = len(self._perm)
        if k == 1 and self._graph.is_standard(node, "Reshape"):
            target = self._target(node)
            if target is not None:
                yield target
            return
        if (numbers := self._computed_numbers(node, k)) is not None:
            yield from self._ordered(numbers, _role(node, k, self._graph.opset))
            return
        if t is None or t.values is None:
            single = t is not None and t.rank <= rank and all(e == 1 for e in t.shape)
            yield "permuted" if self._is_whole(name) and not single else "same"
            return
        values = np.asarray(t.values)
        role = _role(node, k, self._graph.opset)
        if values.nbytes > _MAX_CONSTANT:
            yield "same"
        elif role in _AXES and values.ndim <= 1 and values.dtype.kind == "i":
            yield self._renamed(values)
        elif role in _PER_AXIS and values.ndim == 1:
            yield from self._permuted_entries(values, role)
            yield "same"
        elif values.size == 1 and values.ndim <= rank:
            yield "same"
        elif values.ndim == rank:
            yield values.transpose(inverse(self._perm))
            yield "same"
        elif values.ndim < rank and (t := self._tensors.get(node.output[0])) is not None and is_pointwise(t):
            yield values.reshape((1,) * (rank - values.ndim) + values.shape).transpose(inverse(self._perm))
            yield "same"  # one element for each channel
        else:
            yield "same"

    def _computed_numbers(self, node: NodeProto, k: int) -> Array | None:
        """Return the numbers of an operand that say what a node does, if the model computes them; else None."""
        name = node.input[k] if k < len(node.input) else ""
        t = self._tensors.get(name) if name else None
        if t is None or t.values is not None or _role(node, k, self._graph.opset) not in _NUMBERS:
            return None
        found = self._numbers(name)
        return found if found is not None and found.ndim == 1 else None

    def _ordered(self, numbers: Array, role: str) -> Iterator[Any]:
        """Yield what takes the place of computed numbers: they are gathered anew where their order changes."""
        order = np.arange(len(numbers))
        for entries in self._permuted_entries(order, role) if role in _PER_AXIS else ():
            if len(entries) == len(order):
                same = all(numbers[int(k)] == e for k, e in zip(entries, numbers, strict=True))
                yield "same" if same else Entries(tuple(int(k) for k in entries))
                return
        if role not in _PER_AXIS:
            yield "same"

    def _renamed(self, axes: Array) -> Array:
        return np.array([self._perm[a % len(self._perm)] for a in axes.ravel()], axes.dtype).reshape(axes.shape)

    def _permuted_entries(self, values: Array, role: str) -> Iterator[Array]:
        rank, back = len(self._perm), list(inverse(self._perm))
        if role == "shape" and 0 < len(values) < rank:  # of Expand
            values = np.concatenate([np.ones(rank - len(values), values.dtype), values])
        if len(values) == rank:
            yield values[back]
        elif len(values) == 2 * rank:
            yield values.reshape(2, rank)[:, back].ravel()

    def _target(self, node: NodeProto) -> Array | None:
        """Return the target with which a Reshape makes the permuted value."""
        x, y = self._tensors.get(node.input[0]), self._tensors.get(node.output[0])
        if x is None or y is None:
            return None
        back = inverse(self._perm)
        shapes = [[t.shape[k] for k in back] if t.rank == len(back) else list(t.shape) for t in (x, y)]
        numbers = target_shape(*shapes)
        return None if numbers is None else np.array(numbers, np.int64)

    def _attributes(self, node: NodeProto) -> Iterator[NodeProto]:
        """Yield the node with its attributes in the permuted layout, the likeliest first."""
        from onnx import helper

        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        rank = len(self._perm)
        changed: dict[str, Any] = {}
        axis = given.get("axis", _default_axis(node.op_type, node.domain, self._graph.opset))
        if isinstance(axis, int) and -rank <= axis < rank:
            changed["axis"] = self._perm[axis % rank]
        for name, value in given.items():
            if name == "axes":
                changed[name] = [self._perm[a % rank] for a in value]
            elif name in _PER_AXIS and isinstance(value, list):
                for entries in self._permuted_entries(np.array(value), name):
                    changed[name] = entries.tolist()
        if "axes" not in given and "starts" in given:  # Slice of version 1
            changed["axes"] = [self._perm[k] for k in range(min(len(given["starts"]), rank))]
        if changed:
            new = type(node)()
            new.CopyFrom(node)
            kept = [a for a in node.attribute if a.name not in changed]
            del new.attribute[:]
            new.attribute.extend([*kept, *(helper.make_attribute(name, value) for name, value in changed.items())])
            yield new
        yield node

    def _added_axes(self, node: NodeProto) -> tuple[Array, ...]:
        """Return the axes of a Slice that names none: the first ones, renamed."""
        if not self._graph.is_standard(node, "Slice") or len(node.input) != 3:
            return ()
        starts = self._tensors.get(node.input[1])
        if starts is None or not isinstance(starts.shape[0], int) or starts.shape[0] > len(self._perm):
            return ()
        return (np.array(self._perm[: starts.shape[0]], np.int64),)

    # ------------------------------------------------------------------ proofs

    def find(self, node: NodeProto) -> PermutedNode | None:
        """Return the node in the permuted layout if a proposal is proved; None if none is."""
        values = [self._tensors.get(name) for name in node.input]
        numbers = [str(self._computed_numbers(node, k)) for k in range(len(node.input))]
        key = (self._perm, node.SerializeToString(), tuple("" if t is None else repr(t) for t in values), *numbers)
        if key not in self._known:
            self._known[key] = self._first_proved(node)
        found, is_sum = self._known[key]
        if is_sum:
            (self.reordered if self._reorder else self.refused).add(name_of(node))
        return None if is_sum and not self._reorder else found

    def _first_proved(self, node: NodeProto) -> tuple[PermutedNode | None, bool]:
        """Return the first proposal that is proved, and whether the order of a sum changes by it."""
        for proposal in self._proposals(node):
            try:
                found = None if self._fits_by_chance(node, proposal) else self._proved(node, proposal)
            except SymlayoutError:  # the proposal is not valid for these shapes
                continue
            if found is not None:
                is_sum, proofs = found
                return replace(proposal, proofs=tuple(proofs)), is_sum
        return None, False

    def _proved(self, node: NodeProto, proposal: PermutedNode) -> tuple[bool, list[Proof]] | None:
        """Return whether the order of a sum changes by a proposal, and its proofs; None if it is not proved."""
        leaves = self._stand_ins(node)
        operands, made = self._made(node, proposal, leaves)
        is_sum, proofs = False, []
        for name, permuted, found in zip(node.output, proposal.outputs, made, strict=False):
            wanted = self._tensors.get(name) if name else None
            if wanted is None:
                continue
            if not isinstance(found, Tensor):
                return None
            moved = transpose(found, self._perm) if permuted else found
            original = rebased(wanted, {id(self._tensors[n]): leaf for n, leaf in leaves.items()})
            if original is None or moved.dtype != original.dtype or moved.rank != original.rank:
                return None
            if not implies(original.facts, moved.facts):
                return None
            proofs.append(prove_briefly(moved, original, budget=_POINTS))
            if proofs[-1].verdict is not Verdict.PROVED:
                return None
            is_sum |= self._rounds_by_neighbours(node, original)
            if proposal.swapped:
                is_sum |= not self._is_rounded_alike(node)
                continue
            bodies = [t for t in found.graph() if t.body is not None]
            is_sum |= not all(self._is_steady(t, operands) for t in bodies)
        return is_sum, proofs

    def _fits_by_chance(self, node: NodeProto, proposal: PermutedNode) -> bool:
        """Return whether a proposal fits no more once equal extents of the first operand differ.

        Axes of equal extents may be taken for each other: a Conv of 16 channels also reads 16 rows as channels.  That
        is no other spelling, but a proof would have to compare all elements to find out.
        """
        name = node.input[0]
        x = self._tensors.get(name)
        if x is None or x.values is not None:
            return False
        fixed = [e for e in x.extents if isinstance(e, int) and e > 1]
        if len(set(fixed)) == len(fixed):
            return False
        leaves = self._stand_ins(node)
        same = PermutedNode(node, ("same",) * len(node.input), (False,) * len(node.output))
        original = self._made(node, same, leaves)[1]
        for axis, (e, factor) in enumerate(zip(x.extents, _FACTORS, strict=False)):
            if isinstance(e, int) and e > 1:
                now = leaves[name]
                extents = (*now.extents[:axis], e * factor, *now.extents[axis + 1 :])
                leaves[name] = Tensor("x", x.dtype, extents, x.facts, key=now.key)
                try:
                    original = self._made(node, same, leaves)[1]
                except SymlayoutError:  # a constant, or another operand, fixes the extent
                    leaves[name] = now
        try:
            made = self._made(node, proposal, leaves)[1]
        except SymlayoutError:
            return True
        return any(
            [t.shape[k] for k in self._perm] != list(wanted.shape) if permuted else t.shape != wanted.shape
            for t, wanted, permuted in zip(made, original, proposal.outputs, strict=False)
            if isinstance(t, Tensor) and isinstance(wanted, Tensor)
        )

    def _stand_ins(self, node: NodeProto) -> dict[str, Tensor]:
        """Return a leaf for each operand that is no constant, with the facts about the dims of the node's values."""
        values = {n: t for n in (*node.input, *node.output) if n and (t := self._tensors.get(n)) is not None}
        dims = frozenset(dim for t in values.values() for dim in dims_of(t))
        leaves: dict[str, Tensor] = {}
        for n in dict.fromkeys(n for n in node.input if n):
            t = values.get(n)
            if t is not None and t.values is None:
                leaves[n] = stand_in(t, dims, f"stand-in {len(leaves)}")
        return leaves

    def _made(
        self, node: NodeProto, proposal: PermutedNode, leaves: Mapping[str, Tensor]
    ) -> tuple[list[Any], list[Any]]:
        """Return the operands and the outputs of a proposal, with leaves in the places of computed operands."""
        back = inverse(self._perm)
        values: dict[str, Any] = {}
        new = type(node)()
        new.CopyFrom(proposal.node)
        del new.input[:]
        for k in proposal.order:
            operand, name = proposal.operands[k], node.input[k] if k < len(node.input) else ""
            if isinstance(operand, str) and not name:
                new.input.append("")
                continue
            new.input.append(f"operand {k}")
            if isinstance(operand, Entries):
                numbers = self._computed_numbers(node, k)
                assert numbers is not None
                values[f"operand {k}"] = numbers[list(operand.order)]
                continue
            if not isinstance(operand, str):
                values[f"operand {k}"] = operand
                continue
            if (numbers := self._computed_numbers(node, k)) is not None:
                values[f"operand {k}"] = numbers
                continue
            t = leaves.get(name) or self._tensors[name]
            assert t is not None
            if operand == "permuted":
                values[f"operand {k}"] = transpose(t, back)
            else:
                values[f"operand {k}"] = t if name in leaves else t.values
        return list(values.values()), self._graph.evaluated(new, values)

    def _is_steady(self, t: Tensor, operands: Sequence[Any]) -> bool:
        """Return whether runtimes add up the terms in one order: any order if that is exact, else along last axes."""
        body = t.body
        assert body is not None
        if not body.over or body.exact or t.dtype is None or t.dtype.kind not in "fc":
            return True
        if body.name in _STEADY:
            return dict(body.attributes).get("mode") != "cubic"
        inner = t.inputs[0].rank - t.batch + len(t.inputs) - 1  # of a matrix product the rows too
        rank = len(self._perm)
        if inner >= rank or self._perm[rank - inner :] != tuple(range(rank - inner, rank)):
            return False
        return len(t.inputs) > 1 or any(t.inputs[0] is x for x in operands)


def is_as_fast(terms: int, columns: Any, facts: Facts) -> bool:
    """Return whether onnxruntime multiplies by this many columns at full speed, or nearly so.

    It fills columns up to a multiple of 16.  The terms of these cost little where they are an eighth of all, or as few
    as 16 for each element: a move of the element costs more.

    Examples
    --------
    >>> [is_as_fast(terms, columns, Facts()) for terms, columns in ((64, 16), (64, 17), (64, 196), (16, 8), (64, 8))]
    [True, False, True, True, False]
    """
    if not isinstance(columns, int):
        return facts.nonnegative(columns - 8 * (_TILE - 1))
    filled = -columns % _TILE
    return columns > 0 and (8 * filled <= columns or terms * filled <= _TILE * columns)


def rounds_alike(terms: int, rows: Any, columns: Any, facts: Facts) -> bool:
    """Return whether onnxruntime rounds a product of two values as the product with packed weights that it replaces.

    This was measured for float32, and holds for any number of threads.

    Parameters
    ----------
    terms : int
        How many terms each sum has.
    rows, columns : Extent
        The extents of the last two axes of the product.
    facts : Facts
        What is known of the dims.
    """
    if terms > _BLOCK or not isinstance(columns, int) or columns % _TILE == 1:
        return False
    if not facts.nonnegative(rows - 2):
        return False
    return columns > 1 and (terms * columns <= _SHARED or facts.nonnegative(columns - 1 - rows))


def name_of(node: NodeProto) -> str:
    """Return the operator and its name for messages."""
    return f"{node.op_type} {one_line(node.name or node.output[0])}"


def _schema(op: str, domain: str, opset: int) -> Any:
    standard = domain in ("", "ai.onnx")
    return package_schema(op, opset if standard else 1, "" if standard else domain)


def _role(node: NodeProto, k: int, opset: int) -> str:
    """Return the name that the standard gives an operand; empty if it is not known."""
    formal = _formals(node.op_type, node.domain, opset)
    return formal[min(k, len(formal) - 1)] if formal else ""


@functools.cache
def _formals(op: str, domain: str, opset: int) -> tuple[str, ...]:
    """Return the names of an operation's operands; empty if they are not known."""
    schema = _schema(op, domain, opset)
    return () if schema is None else tuple(x.name for x in schema.inputs)


@functools.cache
def _default_axis(op: str, domain: str, opset: int) -> int | None:
    """Return the axis of an operation that is given none; None if it has no such attribute."""
    schema = _schema(op, domain, opset)
    if schema is None or "axis" not in schema.attributes:
        return None
    default = schema.attributes["axis"].default_value
    return int(default.i) if default.name == "axis" else None
