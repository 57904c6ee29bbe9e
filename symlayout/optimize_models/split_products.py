"""Products with constant weights whose columns part at once: the parts of the weights are products of their own.

A joint projection ``x @ w`` is cut along its last axis, moved, and read in parts: queries, keys and values, or the two
halves of a gate.  Each part is a product of *x* with those columns of *w*, so that nothing has to be cut.  A sum has
the same terms in the same order as before.  Which columns a value reads, its composed map says at examples; the
movement that is left is spelled, and proved, as that of regions.
Parts that are moved alike may stay together, so that there are no more transposes than before.

Columns that are transposed to the batches, as those of a head are, may be batches of the weights: ``x`` with an axis of
extent 1 before its rows, times ``w`` as a block of columns for each batch.  Runtimes lay the weights out anew for each
batch then.  So this is done where each batch has at least as many rows as each sum has terms: writing the result costs
as much as that.  A row of constants that follows, such as a bias, is written for all rows of a batch, since onnxruntime
adds one row among batches element by element.  Their number has to be known for that.

Columns that are transposed to rows are rows of the weights, in ``w^T x^T``: one transpose of *x* serves all parts.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError
from symlayout.models.model import Model
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.pad import pad
from symlayout.ops.reshape import reshape
from symlayout.ops.transpose import transpose
from symlayout.optimize_models.crossings.permuted_nodes import is_as_fast, rounds_alike
from symlayout.optimize_models.movement_cost import Cost, Movement, bytes_of, cost_of
from symlayout.optimize_models.movement_regions import is_end
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_digits import Example, examples
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Array = np.ndarray[Any, Any]
Columns = tuple[int, ...]

_MAX_CONSTANT = 1 << 26  # bytes of weights that are cut
_MAX_ROWS = 1 << 16  # bytes of a row that is written for all rows
_MAX_ENDS = 32  # values that are moved from one product
_MAX_RUNS = 64  # of neighbouring columns in one part
# onnxruntime rounds a sum of these alike for any number of columns of constant weights; of other floats it does not.
_ROUNDED_ALIKE = np.dtype(np.float32)
_MAX_CHAIN = 16  # elementwise operations after a product


def split_products(
    model: Model, kept: Set[str] = frozenset(), speller: Speller | None = None
) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with products in the parts in which they are read, and what was changed.

    The new movement is proved here; the new products are not.

    Parameters
    ----------
    kept : set of str
        Products that are made as they are.
    speller : Speller, optional
        One that remembers the spellings of other models with these operations.
    """
    graph = EditedGraph(model.source)
    products = _Products(graph, Movement(model), speller or Speller(graph.opset))
    changes = [
        change
        for node in list(graph.nodes)
        if node.output and node.output[0] not in kept and (change := products.rewrite(node)) is not None
    ]
    return graph.finish(), changes


@dataclass(frozen=True, slots=True)
class _Product:
    """A product with constant weights, and the elementwise operations with constants that follow it.

    Attributes
    ----------
    nodes : tuple of NodeProto
        The product, and the operations after it.
    carried : tuple of int
        For each operation which operand is computed by the one before; of the product which one is no constant.
    value : str
        The last value.
    columns : int
        The extent of its last axis.
    """

    nodes: tuple[NodeProto, ...]
    carried: tuple[int, ...]
    value: str
    columns: int

    @property
    def source(self) -> str:
        """The operand of the product that is no constant."""
        return str(self.nodes[0].input[0])


@dataclass(frozen=True, slots=True)
class _Part:
    """Columns that are read together.

    Attributes
    ----------
    columns : tuple of int
        Their numbers, in order.
    ends : tuple of str
        The values that read them.
    likeness : tuple
        What is equal for parts that are moved alike.
    """

    columns: Columns
    ends: tuple[str, ...]
    likeness: tuple[Any, ...]


@dataclass(slots=True)
class _Plan:
    """The groups of parts that are computed together, with the movement after each.

    Attributes
    ----------
    groups : list of _Group
        The groups.
    cost : Cost
        What all movement costs.
    """

    groups: list[_Group] = field(default_factory=list)
    cost: Cost = field(default_factory=Cost)

    @property
    def is_new(self) -> bool:
        """Whether the product is not what it was."""
        return len(self.groups) > 1 or any(group.form != _FLAT for group in self.groups)


@dataclass(frozen=True, slots=True)
class _Form:
    """What a product with the columns of a group looks like.

    Attributes
    ----------
    batches : int
        How many blocks of columns are batches of the product.
    turned : bool
        Whether columns are rows, and rows are columns.
    """

    batches: int = 1
    turned: bool = False

    def extents(self, extents: Sequence[Any]) -> tuple[Any, ...]:
        """Return the extents of the product in this form."""
        *lead, rows, columns = extents
        if self.turned:
            return (*lead, columns, rows)
        return (*lead, rows, columns) if self.batches == 1 else (*lead, self.batches, rows, columns // self.batches)

    def flat(self, t: Tensor, shape: Sequence[Any]) -> Tensor:
        """Return the product with rows and columns of a product in this form."""
        axes = list(range(t.rank))
        if self.turned:
            return transpose(t, [*axes[:-2], axes[-1], axes[-2]])
        return t if self.batches == 1 else reshape(transpose(t, [*axes[:-3], axes[-2], axes[-3], axes[-1]]), shape)

    def constant(self, values: Array) -> Array:
        """Return a constant that has an element for each column, or one for all, in this form.

        >>> _Form(batches=2).constant(np.array([1, 2, 3, 4])).tolist()
        [[[1, 2]], [[3, 4]]]
        >>> _Form(turned=True).constant(np.array([1, 2])).tolist()
        [[1], [2]]
        """
        if self == _FLAT:
            return values
        rows = values.reshape((1,) * (2 - values.ndim) + values.shape)
        if self.turned:
            return np.swapaxes(rows, -1, -2)
        blocks = self.batches if rows.shape[-1] > 1 else 1
        return np.moveaxis(rows.reshape(*rows.shape[:-1], blocks, -1), -2, -3)


_FLAT = _Form()


@dataclass(frozen=True, slots=True)
class _Group:
    """Parts that are computed together.

    Attributes
    ----------
    columns : tuple of int
        The columns of all.
    parts : tuple of _Part
        The parts.
    form : _Form
        What their product looks like.
    spellings : tuple of Spelling
        The movement to each end; in a group of several parts, to their ends stacked.
    """

    columns: Columns
    parts: tuple[_Part, ...]
    form: _Form
    spellings: tuple[Spelling, ...]

    def cost(self, tensors: Mapping[str, Tensor | None]) -> Cost:
        """Return what the movement costs, and taking the parts apart."""
        total = Cost()
        for spelling, name in zip(self.spellings, self.parts[0].ends, strict=True):
            t, count = tensors[name], len(self.parts)
            assert t is not None
            taken = Cost(Counter({bytes_of(t): count}), 0, count) if count > 1 else Cost()
            total = total + spelling.cost + taken
        return total


class _Products:
    """The products of a graph while they are cut."""

    def __init__(self, graph: EditedGraph, movement: Movement, speller: Speller) -> None:
        self.graph, self.movement, self.tensors, self.speller = graph, movement, movement.tensors, speller
        self.needed = graph.outputs | graph.captured()
        self.named = graph.named()
        self.producers = graph.producers()
        self.readers = graph.readers()
        self.weights: dict[tuple[str, Columns, _Form, int, int], str] = {}  # those that are cut already
        self.initializers = {t.name for t in graph.message.graph.initializer}
        self.touched: set[str] = set()

    def rewrite(self, node: NodeProto) -> Rewritten | None:
        """Cut a product; return what was done, or None."""
        product = self._product(node)
        region = None if product is None else self._region(product.value)
        if product is None or region is None:
            return None
        ends, inside = region
        if not self.touched.isdisjoint((*ends, *inside)):
            return None
        parts = self._parts(product, ends)
        if self._is_joined_again(product, parts, ends):
            return None
        moves = [n for n in self.graph.nodes if not inside.isdisjoint(n.output)]
        before = cost_of(moves, self.tensors, self.movement.sources)
        plan = self._plan(product, parts, before)
        if plan is None:
            return None
        self.touched.update(ends)
        self._apply(product, plan)
        proofs = tuple(proof for group in plan.groups for spelling in group.spellings for proof in spelling.proofs)
        counts = ", ".join(_count(group) for group in plan.groups)
        text = f"{product.value[:80]}: {node.op_type} of {product.columns} columns became those of {counts}"
        return Rewritten(node.output[0], text, proofs, tuple(ends))

    # ------------------------------------------------------------------ what there is

    def _product(self, node: NodeProto) -> _Product | None:
        """Return the product that a node begins; None if it begins none."""
        graph = self.graph
        y = self.tensors.get(node.output[0])
        if not graph.is_standard(node, "MatMul", "Gemm") or y is None or y.rank < 2 or not _is_whole(y.shape[-1]):
            return None
        weights = self._values(node.input[1])
        if weights is None or weights.ndim != 2 or weights.nbytes > _MAX_CONSTANT or self._is_constant(node.input[0]):
            return None
        if len(node.input) > 2 and node.input[2] and not self._is_constant(node.input[2]):
            return None
        if y.dtype is None or (y.dtype.kind == "f" and y.dtype != _ROUNDED_ALIKE):
            return None
        nodes, carried, at = [node], [0], node.output[0]
        while len(nodes) < _MAX_CHAIN and at not in self.needed and len(self.readers.get(at, [])) == 1:
            (reader,) = self.readers[at]
            if at not in self.movement.sources and not self._follows(reader, at):
                break
            nodes.append(reader)
            carried.append(list(reader.input).index(at))
            at = reader.output[0]
        return _Product(tuple(nodes), tuple(carried), at, int(y.shape[-1]))

    def _follows(self, node: NodeProto, name: str) -> bool:
        """Return whether a node computes each element of one element of a value, and of constants."""
        t, made = self.tensors.get(name), self.tensors.get(node.output[0])
        if t is None or made is None or made.body is None or made.body.over or made.batch != made.rank:
            return False
        if list(node.input).count(name) != 1 or len(node.output) != 1 or made.shape != t.shape:
            return False
        others = [n for n in node.input if n and n != name]
        return all(self._fits_columns(n, t) for n in others)

    def _fits_columns(self, name: str, t: Tensor) -> bool:
        """Return whether a value is a constant that has an element for each column, or one for all."""
        values = self._values(name)
        return values is not None and (values.size == 1 or values.shape[-1] in (1, t.shape[-1]))

    def _values(self, name: str) -> Array | None:
        t = self.tensors.get(name)
        return None if t is None or t.values is None or name not in self.named else np.asarray(t.values)

    def _is_constant(self, name: str) -> bool:
        return self._values(name) is not None

    def _region(self, name: str) -> tuple[list[str], set[str]] | None:
        """Return the first values that are read of those moved from a value, and all on the way; None if it is one."""
        if is_end(name, self.movement, self.readers, self.needed):
            return None
        ends: dict[str, None] = {}
        inside: set[str] = set()
        waiting = [name]
        while waiting:
            for node in self.readers.get(waiting.pop(), []):
                for out in node.output:
                    if not out or out in inside:
                        continue
                    inside.add(out)
                    if is_end(out, self.movement, self.readers, self.needed):
                        ends[out] = None
                    else:
                        waiting.append(out)
        return (list(ends), inside) if 0 < len(ends) <= _MAX_ENDS else None

    # ------------------------------------------------------------------ the parts

    def _parts(self, product: _Product, ends: Sequence[str]) -> list[_Part]:
        """Return the parts, those with the first columns first; none if that is not known."""
        value = self.tensors[product.value]
        assert value is not None
        reads: dict[str, list[Example]] = {}
        columns: dict[str, Columns] = {}
        for name in ends:
            bare = Tensor("x", None, value.extents, value.facts, key="the product")
            t = self.tensors.get(name)
            moved = None if t is None else rebased(t, {id(value): bare})
            if moved is None or moved.leaves() != [bare]:
                return []
            reads[name] = examples(moved)
            found = {tuple(int(c) for c in np.unique(x.reads % product.columns)) for x in reads[name]}
            if len(found) != 1:
                return []
            (columns[name],) = found
        parts = []
        for group in _joined(columns):
            union = tuple(sorted({c for name in group for c in columns[name]}))
            if len(_runs(union)) > _MAX_RUNS:
                return []
            parts.append(_Part(union, tuple(group), tuple(self._likeness(n, reads[n], union) for n in group)))
        return sorted(parts, key=lambda part: part.columns)

    def _is_joined_again(self, product: _Product, parts: Sequence[_Part], ends: Sequence[str]) -> bool:
        """Return whether all parts are read by one join, and products of so few columns would take longer."""
        joins = {id(node): node for name in ends for node in self.readers.get(name, [])}
        if len(parts) < 2 or len(joins) != 1 or not self.graph.is_standard(next(iter(joins.values())), "Concat"):
            return False
        weights, facts = self._values(product.nodes[0].input[1]), self._tensor(product.value).facts
        return weights is None or not all(is_as_fast(weights.shape[0], len(part.columns), facts) for part in parts)

    def _likeness(self, name: str, reads: Sequence[Example], columns: Columns) -> tuple[Any, ...]:
        """Return what is equal for values that are moved alike from their parts."""
        t = self.tensors[name]
        assert t is not None
        patterns = []
        for x in reads:
            row, column = np.divmod(x.reads, x.start[-1])
            patterns.append((x.start[:-1], row.tobytes(), np.searchsorted(columns, column).tobytes()))
        return tuple(t.shape), len(columns), tuple(patterns)

    def _plan(self, product: _Product, parts: Sequence[_Part], before: Cost) -> _Plan | None:
        """Return the cheapest plan that costs less than before, and no more at any size."""
        alike: dict[Any, list[_Part]] = {}
        for part in parts:
            alike.setdefault(part.likeness, []).append(part)
        forms = self._forms(product, parts)
        if len(parts) == 1 and forms == [_FLAT]:
            return None
        single: list[tuple[_Part, ...]] = [(part,) for part in parts]
        ways: list[tuple[list[tuple[_Part, ...]], list[_Form]]] = [(single, [f for f in forms if not f.turned])]
        if any(form.turned for form in forms):
            ways.append((single, forms))
        if len(alike) < len(parts):
            ways.append(([tuple(group) for group in alike.values()], [_FLAT]))
        value = self._tensor(product.value)
        best: _Plan | None = None
        for way, allowed in ways:
            plan = self._planned(product, way, allowed, before)
            if plan is None or not plan.is_new or not plan.cost.at_most(before, value.requires):
                continue
            if plan.cost.key()[:2] < (before if best is None else best.cost).key()[:2]:
                best = plan
        return best

    def _planned(
        self, product: _Product, groups: Sequence[tuple[_Part, ...]], forms: Sequence[_Form], before: Cost
    ) -> _Plan | None:
        plan = _Plan()
        costs: list[Cost] = []
        for parts in groups:
            columns = tuple(itertools.chain.from_iterable(part.columns for part in parts))
            best: tuple[tuple[int, ...], _Group, Cost] | None = None
            for form in forms if len(parts) == 1 else [_FLAT]:
                if not self._runs_alike(product, form, len(columns)):
                    continue
                spellings = tuple(self._spelled(product, parts, columns, form, before))
                if len(spellings) == len(parts[0].ends):
                    group = _Group(columns, parts, form, spellings)
                    cost = group.cost(self.tensors)
                    if best is None or cost.key()[:2] < best[0]:
                        best = cost.key()[:2], group, cost
            if best is None:
                return None
            plan.groups.append(best[1])
            costs.append(best[2])
        self._spare_transposes(product, plan, costs, before)
        plan.cost = sum(costs, start=Cost())
        if any(group.form.turned for group in plan.groups):
            plan.cost = plan.cost + Cost(Counter({bytes_of(self._tensor(product.source)): 1}), 1, 1)
        return plan

    def _spare_transposes(self, product: _Product, plan: _Plan, costs: list[Cost], before: Cost) -> None:
        """Move some groups without a Transpose, those first that this costs the least, until there are not too many."""
        more = sum(cost.transposes for cost in costs) - before.transposes
        if more <= 0:
            return
        found: list[tuple[int, int, _Group, Cost]] = []
        for k, group in enumerate(plan.groups):
            if group.form == _FLAT and costs[k].transposes:
                none = replace(before, transposes=0)
                spellings = tuple(self._spelled(product, group.parts, group.columns, _FLAT, none))
                if len(spellings) == len(group.spellings):
                    other = replace(group, spellings=spellings)
                    cost = other.cost(self.tensors)
                    found.append((cost.typical() - costs[k].typical(), k, other, cost))
        for _, k, group, cost in sorted(found, key=lambda each: each[:2]):
            if more > 0:
                more -= costs[k].transposes
                plan.groups[k], costs[k] = group, cost

    def _forms(self, product: _Product, parts: Sequence[_Part]) -> list[_Form]:
        """Return the forms that products of single parts may have."""
        value = self._tensor(product.value)
        if product.nodes[0].op_type != "MatMul" or value.dtype != _ROUNDED_ALIKE:
            return [_FLAT]
        shapes = [self._tensor(name).shape for part in parts for name in part.ends]
        extents = {int(e) for shape in shapes for e in shape if _is_whole(e)}
        return [_FLAT, *(_Form(batches=e) for e in sorted(extents)), _Form(turned=True)]

    def _runs_alike(self, product: _Product, form: _Form, columns: int) -> bool:
        """Return whether a product of some columns is as fast in a form, and rounded alike."""
        if form == _FLAT:
            return True
        name = product.nodes[0].input[1]
        value, weights = self._tensor(product.value), self._values(name)
        if weights is None or name not in self.initializers or columns % form.batches:
            return False
        if form.batches > 1 and self._has_row_after(product) and not _is_small(value, columns):
            return False
        terms, (*_, rows, columns) = weights.shape[0], form.extents((*value.extents[:-1], columns))
        if not form.turned and not value.facts.nonnegative(rows - terms):
            return False
        return is_as_fast(terms, columns, value.facts) and rounds_alike(terms, rows, columns, value.facts)

    def _has_row_after(self, product: _Product) -> bool:
        """Return whether a constant with an element for each column is added to a product, or multiplied with it."""
        steps = zip(product.nodes[1:], product.carried[1:], strict=True)
        others = (name for node, carried in steps for k, name in enumerate(node.input) if name and k != carried)
        return any((values := self._values(name)) is not None and _is_row(values) for name in others)

    def _spelled(
        self, product: _Product, group: Sequence[_Part], columns: Columns, form: _Form, before: Cost
    ) -> Iterator[Spelling]:
        """Yield the movement from a group's columns to each of its ends."""
        value = self._tensor(product.value)
        leaf = self._narrow(product, columns, form)
        try:
            whole = _spread(form.flat(leaf, self._narrow(product, columns, _FLAT).shape), columns, product.columns)
            for names in zip(*(part.ends for part in group), strict=True):
                moved = [rebased(self._tensor(name), {id(value): whole}) for name in names]
                made = [t for t in moved if t is not None]
                if len(made) != len(names):
                    return
                found = self.speller.cheapest(leaf, stack(made, 0) if len(made) > 1 else made[0], before)
                if found is None:
                    return
                yield found
        except SymlayoutError:  # the movement cannot be told for these columns alone
            return

    def _tensor(self, name: str) -> Tensor:
        t = self.tensors[name]
        assert t is not None
        return t

    def _narrow(self, product: _Product, columns: Columns, form: _Form) -> Tensor:
        """Return a stand-in for the product of some columns."""
        value = self._tensor(product.value)
        extents = form.extents((*value.extents[:-1], len(columns)))
        return Tensor("x", value.dtype, extents, value.facts, key="some columns")

    # ------------------------------------------------------------------ the new graph

    def _apply(self, product: _Product, plan: _Plan) -> None:
        graph, sources = self.graph, {_FLAT: product.source}
        for group in plan.groups:
            nodes: list[NodeProto] = []
            form = replace(group.form, batches=min(group.form.batches, 2))  # which all batches share
            if form not in sources:
                sources[form] = self._emit_source(product, form, nodes)
            at = self._emit_product(product, group, sources[form], nodes)
            shape = tuple(self._narrow(product, group.columns, group.form).shape)
            for k, spelling in enumerate(group.spellings):
                names = [part.ends[k] for part in group.parts]
                target = names[0] if len(names) == 1 else graph.new_name(f"{names[0]}_joint")
                for name in names:
                    made_by = self.producers[name]
                    made_by.output[list(made_by.output).index(name)] = graph.new_name(f"{name}_before")
                made = spelling.emit(graph, at, shape, target)
                nodes += made or [graph.node("Identity", [at], target)]
                for number, name in enumerate(names if len(names) > 1 else ()):
                    index, extra = graph.constant(np.array(number, np.int64), f"{name}_number")
                    nodes += [*extra, graph.node("Gather", [target, index], name, axis=0)]
            graph.insert(nodes, before=product.nodes[0])

    def _emit_source(self, product: _Product, form: _Form, nodes: list[NodeProto]) -> str:
        """Append what makes the operand of a product in a form; return its name."""
        shape = tuple(self._tensor(product.source).shape)
        axes = list(range(len(shape)))
        step = Step("Unsqueeze", (), (*shape[:-2], 1, *shape[-2:]))
        if form.turned:
            perm = [*axes[:-2], axes[-1], axes[-2]]
            step = Step("Transpose", (("perm", perm),), tuple(shape[k] for k in perm))
        name = self.graph.new_name(f"{product.nodes[0].output[0]}_{'columns' if form.turned else 'rows'}")
        nodes += step.emit(self.graph, product.source, shape, name, (product.source, shape))
        return name

    def _emit_product(self, product: _Product, group: _Group, at: str, nodes: list[NodeProto]) -> str:
        """Append the product of *at* and a group's columns, and what follows it; return its name."""
        for node, carried in zip(product.nodes, product.carried, strict=True):
            new = type(node)()
            new.CopyFrom(node)
            is_turned = node is product.nodes[0] and bool(self.graph.attribute(node, "transB"))
            rows = self._tensor(product.value).shape[-2] if node is not product.nodes[0] else 1
            for k, name in enumerate(node.input):
                axis = 0 if is_turned and k == 1 else -1
                new.input[k] = at if k == carried else self._cut(name, group, product.columns, axis, rows, nodes)
            if node is product.nodes[0] and group.form.turned:
                new.input[0], new.input[1] = new.input[1], new.input[0]
            at = self.graph.new_name(f"{node.output[0]}_part")
            new.output[0] = at
            new.name = self.graph.new_name(f"{at}_{node.op_type}")
            nodes.append(new)
        return at

    def _cut(self, name: str, group: _Group, count: int, axis: int, rows: Any, nodes: list[NodeProto]) -> str:
        """Return the name of a constant's columns; of the constant itself if it has one element for all.

        In batches a row is written *rows* times.
        """
        values = self._values(name) if name else None
        if values is None or values.size == 1 or (group.form == _FLAT and values.shape[axis] != count):
            return name
        times = int(rows) if group.form.batches > 1 and _is_row(values) else 1
        key = name, group.columns, group.form, axis, times
        if key not in self.weights:
            part = np.take(values, group.columns, axis) if values.shape[axis] == count else values
            found = np.repeat(group.form.constant(part), times, -2) if times > 1 else group.form.constant(part)
            made, extra = self.graph.constant(found, f"{name}_part")
            self.weights[key] = made
            nodes += extra
        return self.weights[key]


def _count(group: _Group) -> str:
    """Return how many columns a group has, as text."""
    batches = f" in {group.form.batches} batches" if group.form.batches > 1 else ""
    return f"{len(group.columns)}{batches}{' as rows' if group.form.turned else ''}"


def _is_row(values: Array) -> bool:
    """Return whether a constant has several columns and one row."""
    return bool(values.ndim and values.shape[-1] > 1 and (values.ndim == 1 or values.shape[-2] == 1))


def _is_small(value: Tensor, columns: int) -> bool:
    """Return whether a constant for all rows of a value, with so many columns, is small."""
    rows, width = value.shape[-2], 0 if value.dtype is None else value.dtype.itemsize
    return isinstance(rows, int) and rows * columns * width <= _MAX_ROWS


def _is_whole(extent: Any) -> bool:
    return isinstance(extent, int) and extent > 1


def _joined(columns: dict[str, Columns]) -> list[list[str]]:
    """Return the names in groups whose columns overlap, in order."""
    groups: list[tuple[set[int], list[str]]] = []
    for name, own in columns.items():
        near = [g for g in groups if not g[0].isdisjoint(own)]
        groups = [g for g in groups if g[0].isdisjoint(own)]
        groups.append((set(own).union(*(g[0] for g in near)), [*itertools.chain(*(g[1] for g in near)), name]))
    return [names for _, names in groups]


def _runs(columns: Sequence[int]) -> list[tuple[int, int]]:
    """Return where neighbouring columns start and end.

    >>> _runs((0, 1, 2, 6, 7))
    [(0, 3), (6, 8)]
    """
    ends = [k for k in range(1, len(columns)) if columns[k] != columns[k - 1] + 1]
    bounds = itertools.pairwise([0, *ends, len(columns)])
    return [(columns[a], columns[b - 1] + 1) for a, b in bounds]


def _spread(part: Tensor, columns: Columns, count: int) -> Tensor:
    """Return a value of *count* columns, in which *columns* are those of *part*, and others are 0."""
    starts = np.cumsum([0, *(b - a for a, b in _runs(columns))])
    pieces, at = [], 0
    placed = sorted(zip(_runs(columns), starts, strict=False))
    for k, ((low, high), first) in enumerate(placed):
        end = count if k == len(placed) - 1 else high
        piece = part[..., int(first) : int(first) + high - low]
        widths = [(0, 0)] * (part.rank - 1) + [(low - at, end - high)]
        pieces.append(pad(piece, widths))
        at = end
    return concatenate(pieces, -1) if len(pieces) > 1 else pieces[0]
