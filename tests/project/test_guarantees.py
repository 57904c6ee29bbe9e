"""Each statement of ``docs/guarantees.md`` about verdicts has its tests, which are listed by its first words."""

from __future__ import annotations

import ast
import re

import pytest

from tests.support.paths import ROOT

# The first words of each statement, and the tests of what it says, as file and name below ``tests``.
TESTS: dict[str, tuple[str, ...]] = {
    "PROVED agrees with enumeration on small dims": (
        "project/test_fuzz_prove.py",
        "proof/test_counterexample.py::test_a_flip_differs_first_at_two_elements",
        "proof/test_prove.py::test_a_changed_map_is_refuted_at_the_smallest_sizes",
    ),
    "A separate package, which imports nothing else": (
        "project/test_architecture.py",
        "proof/certificate/test_checker.py::test_a_step_whose_condition_fails_is_refused",
        "proof/certificate/test_forge.py::test_no_forged_certificate_of_a_false_claim_is_accepted",
        "proof/certificate/test_point_of_a_certificate.py::test_each_point_counts_as_work",
    ),
    "The tests notice a missing side condition": ("project/test_promises.py::test_sample",),
    "Claims of [the fragment that is decided]": (
        "proof/test_fragment.py::test_claims_of_the_fragment_are_decided_as_enumeration_says",
    ),
    "Equal means bit for bit for operations that move": (
        "proof/test_congruence.py::test_an_elementwise_value_moves_with_its_operand",
        "proof/test_congruence.py::test_convolution_in_two_layouts_needs_the_order_of_the_sum",
        "proof/test_congruence.py::test_constants_are_equal_by_their_bits_under_the_maps",
        "proof/test_folds.py::test_float_sums_are_not_merged_without_the_law",
    ),
    "`Max` and `Min` of zeros with unlike signs": (
        "compute/test_trace.py::test_zeros_have_one_maximum_and_one_minimum",
    ),
    "Where no other difference is found, sides differ in the sign": (
        "proof/test_counterexample.py::test_a_difference_of_a_sign_of_zero_or_at_a_special_value_is_found",
        "proof/test_counterexample.py::test_a_sign_that_is_open_refutes_nothing",
        "tensors/test_attribute_key.py::test_an_attribute_of_0_is_not_minus_0",
        "compute/test_fixed_kinds.py::"
        "test_onnxruntime_computes_values_of_the_same_kind_where_the_table_leaves_nothing_open",
    ),
    "`Clip` without a bound has the last finite number": (
        "models/onnx_nodes/test_schemas.py::test_each_version_has_its_own_meaning_and_defaults",
    ),
    "Where no proof decides it, `sl.verify` runs both models": (
        "equivalence/test_run_models.py::test_another_function_of_what_data_pick_is_a_difference",
        "equivalence/test_run_models.py::test_what_rounding_explains_is_no_difference",
    ),
    "One sum, product or quotient equals another one": (
        "proof/forms/test_compare_forms.py::test_one_operation_that_is_exact_up_to_its_rounding_needs_no_law",
        "proof/forms/test_compare_forms.py::test_a_factor_moves_through_products_under_a_law_also_if_it_is_a_power_of_two",
        "proof/forms/test_compare_forms.py::test_a_power_of_two_that_moves_changes_what_overflows_and_what_underflows",
    ),
    "A function that returns an operand bit for bit": (
        "proof/test_idle_functions.py::test_a_function_that_returns_its_operand_is_that_operand",
        "proof/test_idle_functions.py::test_a_function_that_changes_some_element_is_not_its_operand",
        "proof/test_rules_at_special_values.py::test_a_function_that_is_taken_out_returns_its_operand_bit_for_bit",
    ),
    "A fused function, such as Gelu": (
        "proof/forms/test_compare_forms.py::test_a_fused_function_is_the_chain_that_has_its_formula",
        "proof/forms/test_bodies_of_users.py::test_a_formula_says_at_which_special_values_it_parts",
        "equivalence/test_verify_models.py::test_functions_that_are_equal_by_formula_only_are_named",
    ),
    "A law says exactly what it allows": (
        "proof/test_rules_at_special_values.py::test_a_step_needs_its_law_and_no_other",
        "proof/forms/test_compare_forms.py::test_nothing_is_cancelled_without_the_law_of_real_numbers",
        "proof/forms/test_compare_forms.py::test_only_the_law_is_named_that_the_difference_needs",
    ),
    "Attributes are equal by type and bits": (
        "tensors/test_attribute_key.py::test_values_that_a_function_tells_apart_have_two_keys",
        "tensors/test_attribute_key.py::test_a_value_is_itself",
    ),
    "Every declared property of a function": (
        "proof/test_rules_at_special_values.py::"
        "test_each_property_of_a_body_that_a_rule_relies_on_has_a_test_at_special_values",
        "proof/test_rules_at_special_values.py::test_rules_on_all_operators_are_tested_from_the_table_of_operators",
        "proof/test_rules_at_special_values.py::test_each_step_has_a_claim",
    ),
    "A proof is about all sizes of its claim": (
        "inverses/test_domains.py::test_a_proof_about_fewer_sizes_proves_nothing",
        "inverses/test_domains.py::test_the_proofs_of_an_inverse_require_what_the_tensor_requires",
    ),
    "Every PROVED names a point": (
        "proof/test_points.py::test_a_proof_names_a_point_and_so_does_its_certificate",
        "proof/test_points.py::test_a_point_at_which_the_sides_differ_is_refused",
        "proof/test_points.py::test_without_a_point_nothing_is_proved",
        "equivalence/domains/test_model_domains.py::test_demands_that_contradict_each_other_prove_nothing",
    ),
    "A number of a formula, such as the root of 2": (
        "proof/forms/test_compare_forms.py::test_a_constant_is_that_of_the_formula_up_to_its_rounding",
        "proof/test_rounded_constants.py::test_constants_within_the_rounding_are_equal_under_the_law_only",
        "proof/forms/test_embedded_sums.py::test_a_scale_is_its_root_on_both_sides_under_a_law",
    ),
    "The law `requantize` puts the formula of": (
        "proof/test_requantize.py::test_one_unit_refutes_nothing_under_the_law_and_two_units_do",
    ),
    "The law `half` takes a float16 or bfloat16 value": (
        "proof/forms/test_half_precision.py::test_a_model_in_half_precision_is_the_one_it_came_from",
        "proof/forms/test_half_precision.py::test_mistakes_that_keep_shapes_are_refuted",
        "proof/forms/test_half_precision.py::test_float32_models_gain_nothing_by_the_law",
    ),
    "The law `signed-zero` replaces a sum": (
        "proof/test_added_zeros.py::test_a_sum_with_0_is_replaced_under_the_law_only",
        "proof/test_added_zeros.py::test_what_replaces_a_sum_differs_from_it_in_the_sign_of_0_only",
        "proof/test_added_zeros.py::test_other_values_are_not_replaced",
        "proof/test_added_zeros.py::test_the_certificate_of_two_chains_names_the_law",
    ),
    "A model is valid at the sizes and values": (
        "equivalence/domains/test_model_domains.py::test_what_unused_values_demand_is_part_of_the_claim",
        "equivalence/test_verify_models.py::test_a_model_that_is_refused_where_the_other_one_is_valid_is_another_one",
        "equivalence/test_verify_models.py::test_another_element_type_is_another_output",
    ),
    "Where the standard says nothing of sizes and a runtime refuses": (
        "equivalence/domains/test_model_domains.py::test_a_demand_of_the_reader_alone_is_said_and_refuses_nothing",
        "equivalence/domains/test_demands_of_nodes.py::test_nothing_is_said_of_the_mean_of_nothing",
    ),
    "What the reader demands beyond the standard": (
        "models/shapes/test_by_cases.py::test_sizes_where_a_0_would_copy_an_extent_are_left_out",
        "equivalence/domains/test_model_domains.py::test_a_dim_that_one_model_states_is_said",
        "equivalence/domains/test_model_domains.py::test_a_proof_and_its_check_are_about_the_same_sizes",
    ),
    "A witness is inside the domain of the model before": (
        "equivalence/domains/test_partial_values.py::test_a_witness_is_where_an_index_is_in_range",
        "equivalence/domains/test_partial_values.py::test_indices_and_labels_of_a_witness_are_in_range",
        "equivalence/domains/test_partial_values.py::test_a_witness_is_where_nodes_that_no_output_needs_are_valid",
        "equivalence/domains/test_partial_values.py::test_a_threshold_lies_between_0_and_1",
        "equivalence/domains/test_demands_of_nodes.py::test_a_witness_divides_by_no_0",
        "equivalence/domains/test_demands_of_nodes.py::test_positions_of_a_rotary_embedding_are_not_below_0",
        "equivalence/test_last_bits.py::test_a_window_is_not_another_one_than_its_own_function_body",
    ),
    "A node without a meaning here": (
        "equivalence/domains/test_partial_values.py::"
        "test_a_witness_counts_if_a_model_with_a_node_without_a_meaning_is_valid_there",
        "equivalence/domains/test_partial_values.py::test_a_custom_operation_that_nobody_needs_may_refuse",
    ),
    "`Model.requires` has nothing of what the bodies": (
        "equivalence/subgraphs/test_subgraph_bodies.py::"
        "test_what_a_branch_demands_of_sizes_is_not_demanded_where_it_is_not_taken",
        "equivalence/domains/test_partial_values.py::test_what_a_branch_does_not_return_may_refuse",
        "equivalence/domains/test_partial_values.py::"
        "test_what_a_body_that_is_compared_as_text_does_not_return_may_refuse",
        "equivalence/subgraphs/test_subgraph_keys.py::"
        "test_a_value_that_moves_out_of_a_nested_subgraph_is_the_same_if_nothing_refuses_it",
    ),
    "What is random is equal to nothing": (
        "equivalence/domains/test_partial_values.py::test_what_is_random_is_equal_to_nothing",
        "equivalence/domains/test_partial_values.py::test_a_model_that_reads_at_more_indices_is_not_the_same",
    ),
    "Each node is read by the row of its version": (
        "models/onnx_nodes/test_schemas.py::test_each_version_has_its_own_meaning_and_defaults",
        "models/onnx_nodes/test_schemas.py::test_a_node_that_does_not_follow_its_schema_is_refused_by_name",
        "models/shapes/test_unknown_ranks.py::test_nothing_is_guessed_of_an_operation_that_nobody_knows",
        "models/shapes/test_unknown_ranks.py::test_a_false_shape_that_the_file_states_is_not_believed",
        "frontends/test_versions.py::test_each_version_of_an_operator_is_compared",
    ),
    "A number that runtimes compute differently": (
        "models/shapes/test_open_shapes.py::test_a_number_that_runtimes_compute_differently_is_not_known",
    ),
    "The check derives the domain again from both files": (
        "equivalence/test_check.py::test_a_certificate_is_about_the_models_that_it_was_made_of",
        "equivalence/test_check.py::test_what_is_altered_and_sealed_again_is_refused",
        "equivalence/domains/test_model_domains.py::test_a_proof_and_its_check_are_about_the_same_sizes",
        "equivalence/test_check_constants.py::test_it_is_no_certificate_of_other_weights",
    ),
}


def statements() -> list[str]:
    """Return the statements of section 2, which is about verdicts, each in one line; limits are none."""
    page = (ROOT / "docs" / "guarantees.md").read_text("utf-8")
    _, _, rest = page.partition("\n## 2. ")
    lines = [item.partition("\n\n")[0] for item in re.split(r"\n- ", rest.partition("\n## 3. ")[0])[1:]]
    return [" ".join(line.split()) for line in lines]


@pytest.mark.parametrize("statement", statements(), ids=lambda text: text[:40])
def test_each_statement_about_verdicts_has_tests(statement: str) -> None:
    assert sum(statement.startswith(words) for words in TESTS) == 1, "tests of it have to be listed here"


@pytest.mark.parametrize("words", TESTS)
def test_the_tests_of_a_statement_are_there(words: str) -> None:
    assert any(statement.startswith(words) for statement in statements()), "the page does not say so"
    assert TESTS[words]
    for test in TESTS[words]:
        file, _, name = test.partition("::")
        tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
        names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
        assert name in names if name else any(n.startswith("test_") for n in names), test
