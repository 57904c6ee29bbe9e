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
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import SymlayoutError, one_line
from symlayout.models.model import Model
from symlayout.ops.concatenate import stack
from symlayout.optimize_models.crossings.permuted_nodes import is_as_fast, rounds_alike
from symlayout.optimize_models.movement_cost import Cost, Movement, bytes_of, cost_of
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.products.column_parts import (
    ROUNDED_ALIKE,
    ColumnPart,
    Columns,
    JointProduct,
    JointProducts,
    is_whole,
)
from symlayout.optimize_models.products.product_forms import FLAT, ColumnGroup, ProductForm, ProductPlan, spread
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.movement_steps import Step
from symlayout.optimize_models.spellings.spell_movement import Speller, Spelling
from symlayout.tensors.chain import Tensor
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

Array = np.ndarray[Any, Any]

_MAX_ROWS = 1 << 16  # bytes of a row that is written for all rows


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


class _Products:
    """The products of a graph while they are cut."""

    def __init__(self, graph: EditedGraph, movement: Movement, speller: Speller) -> None:
        self.graph, self.movement, self.tensors, self.speller = graph, movement, movement.tensors, speller
        self.joint = JointProducts(graph, movement)
        self.producers = graph.producers()
        self.weights: dict[tuple[str, Columns, ProductForm, int, int], str] = {}  # those that are cut already
        self.initializers = {t.name for t in graph.message.graph.initializer}
        self.touched: set[str] = set()

    def rewrite(self, node: NodeProto) -> Rewritten | None:
        """Cut a product; return what was done, or None."""
        product = self.joint.product(node)
        region = None if product is None else self.joint.region(product.value)
        if product is None or region is None:
            return None
        ends, inside = region
        if not self.touched.isdisjoint((*ends, *inside)):
            return None
        parts = self.joint.parts(product, ends)
        if self.joint.is_joined_again(product, parts, ends):
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
        text = f"{one_line(product.value)}: {node.op_type} of {product.columns} columns became those of {counts}"
        return Rewritten(node.output[0], text, proofs, tuple(ends))

    # ------------------------------------------------------------------ the plan

    def _plan(self, product: JointProduct, parts: Sequence[ColumnPart], before: Cost) -> ProductPlan | None:
        """Return the cheapest plan that costs less than before, and no more at any size."""
        alike: dict[Any, list[ColumnPart]] = {}
        for part in parts:
            alike.setdefault(part.likeness, []).append(part)
        forms = self._forms(product, parts)
        if len(parts) == 1 and forms == [FLAT]:
            return None
        single: list[tuple[ColumnPart, ...]] = [(part,) for part in parts]
        ways: list[tuple[list[tuple[ColumnPart, ...]], list[ProductForm]]] = [
            (single, [f for f in forms if not f.turned])
        ]
        if any(form.turned for form in forms):
            ways.append((single, forms))
        if len(alike) < len(parts):
            ways.append(([tuple(group) for group in alike.values()], [FLAT]))
        value = self.joint.tensor(product.value)
        best: ProductPlan | None = None
        for way, allowed in ways:
            plan = self._planned(product, way, allowed, before)
            if plan is None or not plan.is_new or not plan.cost.at_most(before, value.requires):
                continue
            if plan.cost.key()[:2] < (before if best is None else best.cost).key()[:2]:
                best = plan
        return best

    def _planned(
        self,
        product: JointProduct,
        groups: Sequence[tuple[ColumnPart, ...]],
        forms: Sequence[ProductForm],
        before: Cost,
    ) -> ProductPlan | None:
        plan = ProductPlan()
        costs: list[Cost] = []
        for parts in groups:
            columns = tuple(itertools.chain.from_iterable(part.columns for part in parts))
            best: tuple[tuple[int, ...], ColumnGroup, Cost] | None = None
            for form in forms if len(parts) == 1 else [FLAT]:
                if not self._runs_alike(product, form, len(columns)):
                    continue
                spellings = tuple(self._spelled(product, parts, columns, form, before))
                if len(spellings) == len(parts[0].ends):
                    group = ColumnGroup(columns, parts, form, spellings)
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
            plan.cost = plan.cost + Cost(Counter({bytes_of(self.joint.tensor(product.source)): 1}), 1, 1)
        return plan

    def _spare_transposes(self, product: JointProduct, plan: ProductPlan, costs: list[Cost], before: Cost) -> None:
        """Move some groups without a Transpose, those first that this costs the least, until there are not too many."""
        more = sum(cost.transposes for cost in costs) - before.transposes
        if more <= 0:
            return
        found: list[tuple[int, int, ColumnGroup, Cost]] = []
        for k, group in enumerate(plan.groups):
            if group.form == FLAT and costs[k].transposes:
                none = replace(before, transposes=0)
                spellings = tuple(self._spelled(product, group.parts, group.columns, FLAT, none))
                if len(spellings) == len(group.spellings):
                    other = replace(group, spellings=spellings)
                    cost = other.cost(self.tensors)
                    found.append((cost.typical() - costs[k].typical(), k, other, cost))
        for _, k, group, cost in sorted(found, key=lambda each: each[:2]):
            if more > 0:
                more -= costs[k].transposes
                plan.groups[k], costs[k] = group, cost

    def _forms(self, product: JointProduct, parts: Sequence[ColumnPart]) -> list[ProductForm]:
        """Return the forms that products of single parts may have."""
        value = self.joint.tensor(product.value)
        if product.nodes[0].op_type != "MatMul" or value.dtype != ROUNDED_ALIKE:
            return [FLAT]
        shapes = [self.joint.tensor(name).shape for part in parts for name in part.ends]
        extents = {int(e) for shape in shapes for e in shape if is_whole(e)}
        return [FLAT, *(ProductForm(batches=e) for e in sorted(extents)), ProductForm(turned=True)]

    def _runs_alike(self, product: JointProduct, form: ProductForm, columns: int) -> bool:
        """Return whether a product of some columns is as fast in a form, and rounded alike."""
        if form == FLAT:
            return True
        name = product.nodes[0].input[1]
        value, weights = self.joint.tensor(product.value), self.joint.values(name)
        if weights is None or name not in self.initializers or columns % form.batches:
            return False
        if form.batches > 1 and self._has_row_after(product) and not _is_small(value, columns):
            return False
        terms, (*_, rows, columns) = weights.shape[0], form.extents((*value.extents[:-1], columns))
        if not form.turned and not value.facts.nonnegative(rows - terms):
            return False
        return is_as_fast(terms, columns, value.facts) and rounds_alike(terms, rows, columns, value.facts)

    def _has_row_after(self, product: JointProduct) -> bool:
        """Return whether a constant with an element for each column is added to a product, or multiplied with it."""
        steps = zip(product.nodes[1:], product.carried[1:], strict=True)
        others = (name for node, carried in steps for k, name in enumerate(node.input) if name and k != carried)
        return any((values := self.joint.values(name)) is not None and _is_row(values) for name in others)

    def _spelled(
        self, product: JointProduct, group: Sequence[ColumnPart], columns: Columns, form: ProductForm, before: Cost
    ) -> Iterator[Spelling]:
        """Yield the movement from a group's columns to each of its ends."""
        value = self.joint.tensor(product.value)
        leaf = self._narrow(product, columns, form)
        try:
            whole = spread(form.flat(leaf, self._narrow(product, columns, FLAT).shape), columns, product.columns)
            for names in zip(*(part.ends for part in group), strict=True):
                moved = [rebased(self.joint.tensor(name), {id(value): whole}) for name in names]
                made = [t for t in moved if t is not None]
                if len(made) != len(names):
                    return
                found = self.speller.cheapest(leaf, stack(made, 0) if len(made) > 1 else made[0], before)
                if found is None:
                    return
                yield found
        except SymlayoutError:  # the movement cannot be told for these columns alone
            return

    def _narrow(self, product: JointProduct, columns: Columns, form: ProductForm) -> Tensor:
        """Return a stand-in for the product of some columns."""
        value = self.joint.tensor(product.value)
        extents = form.extents((*value.extents[:-1], len(columns)))
        return Tensor("x", value.dtype, extents, value.facts, key="some columns")

    # ------------------------------------------------------------------ the new graph

    def _apply(self, product: JointProduct, plan: ProductPlan) -> None:
        graph, sources = self.graph, {FLAT: product.source}
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

    def _emit_source(self, product: JointProduct, form: ProductForm, nodes: list[NodeProto]) -> str:
        """Append what makes the operand of a product in a form; return its name."""
        shape = tuple(self.joint.tensor(product.source).shape)
        axes = list(range(len(shape)))
        step = Step("Unsqueeze", (), (*shape[:-2], 1, *shape[-2:]))
        if form.turned:
            perm = [*axes[:-2], axes[-1], axes[-2]]
            step = Step("Transpose", (("perm", perm),), tuple(shape[k] for k in perm))
        name = self.graph.new_name(f"{product.nodes[0].output[0]}_{'columns' if form.turned else 'rows'}")
        nodes += step.emit(self.graph, product.source, shape, name, (product.source, shape))
        return name

    def _emit_product(self, product: JointProduct, group: ColumnGroup, at: str, nodes: list[NodeProto]) -> str:
        """Append the product of *at* and a group's columns, and what follows it; return its name."""
        for node, carried in zip(product.nodes, product.carried, strict=True):
            new = type(node)()
            new.CopyFrom(node)
            is_turned = node is product.nodes[0] and bool(self.graph.attribute(node, "transB"))
            rows = self.joint.tensor(product.value).shape[-2] if node is not product.nodes[0] else 1
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

    def _cut(self, name: str, group: ColumnGroup, count: int, axis: int, rows: Any, nodes: list[NodeProto]) -> str:
        """Return the name of a constant's columns; of the constant itself if it has one element for all.

        In batches a row is written *rows* times.
        """
        values = self.joint.values(name) if name else None
        if values is None or values.size == 1 or (group.form == FLAT and values.shape[axis] != count):
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


def _count(group: ColumnGroup) -> str:
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
