"""The subgraphs of a node: their nodes, and what they read from around them."""

from __future__ import annotations

from collections.abc import Sequence

from onnx import AttributeProto, GraphProto, NodeProto, TensorProto, helper

from symlayout.models.onnx_subgraphs import graphs_of, has_graphs, inner_nodes, outer_names


def graph(nodes: Sequence[NodeProto], output: str, inputs: Sequence[str] = ()) -> GraphProto:
    def info(name: str) -> object:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [])

    return helper.make_graph(nodes, "inner", [info(name) for name in inputs], [info(output)])


def branches() -> NodeProto:
    """Return an If whose first branch has an If of its own."""
    deepest = graph([helper.make_node("Add", ["made", "far"], ["sum"])], "sum")
    inner = helper.make_node("If", ["flag"], ["y"], then_branch=deepest, else_branch=graph([], "kept"))
    first = graph([helper.make_node("Relu", ["near"], ["made"]), inner], "y")
    return helper.make_node("If", ["cond"], ["z"], then_branch=first, else_branch=graph([], "near"))


def test_nodes_are_found_at_every_depth() -> None:
    assert sorted(node.op_type for node in inner_nodes(branches())) == ["Add", "If", "Relu"]
    assert list(inner_nodes(helper.make_node("Relu", ["x"], ["y"]))) == []


def test_names_from_around_are_those_that_no_graph_between_makes() -> None:
    assert sorted(outer_names(branches())) == ["far", "flag", "kept", "near"]


def test_inputs_of_a_subgraph_are_its_own() -> None:
    body = graph([helper.make_node("Add", ["state", "step"], ["next"])], "next", ["state"])
    assert outer_names(helper.make_node("Loop", ["n"], ["y"], body=body)) == ["step"]


def test_a_graph_is_found_whatever_type_the_attribute_states() -> None:
    hidden = AttributeProto(name="a", type=AttributeProto.INT, g=graph([], "x"))
    hidden.graphs.append(graph([], "y"))
    assert [g.output[0].name for g in graphs_of(hidden)] == ["x", "y"]
    node = helper.make_node("Relu", ["x"], ["y"])
    assert not has_graphs(node)
    node.attribute.append(hidden)
    assert has_graphs(node)
    assert sorted(outer_names(node)) == ["x", "y"]
