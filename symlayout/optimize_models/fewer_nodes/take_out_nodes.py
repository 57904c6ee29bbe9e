"""The rules that take nodes out: known values; equal values, and shapes that fewer nodes compute."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from symlayout.models.model import Model
from symlayout.optimize_models.fewer_nodes.biased_products import add_rows
from symlayout.optimize_models.fewer_nodes.constant_targets import state_targets
from symlayout.optimize_models.fewer_nodes.equal_nodes import merge_equal
from symlayout.optimize_models.fewer_nodes.known_constants import fold_constants
from symlayout.optimize_models.fewer_nodes.shape_numbers import respell_numbers
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.rewritten import Rewritten

if TYPE_CHECKING:
    from onnx import ModelProto


def state_constants(model: Model, kept: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with initializers and constant targets where nodes compute these, and what was changed.

    Nothing is proved here.

    Parameters
    ----------
    model : Model
        Read so that constants have the same bits in all runtimes.
    kept : set of str
        Values that are made as they are.
    """
    graph = EditedGraph(model.source)
    changes = fold_constants(graph, model, kept)
    changes += state_targets(graph, model, kept)
    return graph.finish(), changes


def take_out_nodes(model: Model, kept: Set[str] = frozenset()) -> tuple[ModelProto, list[Rewritten]]:
    """Return the model with each value computed once, and numbers of shapes in the fewest nodes; and what was changed.

    Products and the rows that are added to them become one node where the bits stay.  Shapes are read from few values
    then, which stay for it: so this comes when nothing else can be done.  Nothing is proved here.

    Parameters
    ----------
    kept : set of str
        Values that are made as they are.
    """
    graph = EditedGraph(model.source)
    changes = merge_equal(graph, model, kept)
    graph.drop_unread()
    changes += respell_numbers(graph, model, kept)
    changes += merge_equal(graph, model, kept)
    changes += add_rows(graph, model, kept)
    return graph.finish(), changes
