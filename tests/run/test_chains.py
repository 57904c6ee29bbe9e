"""Random chains of core operations: interpreter, kernel and brute force agree, over dtypes and strides.

``python -m tests.fuzz`` runs the same checks for as long as one likes.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from tests.support.chains import check_dynamic, check_interpreter, check_kernel
from tests.support.effort import examples
from tests.support.strategies import DYNAMIC, Case, cases

quick = settings(
    deadline=None,
    derandomize=True,  # the same chains on every machine; tests.fuzz draws new ones
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@settings(quick, max_examples=examples(250))
@given(cases())
def test_interpreter_agrees_with_brute_force(case: Case) -> None:
    check_interpreter(case)


@settings(quick, max_examples=examples(25))
@given(cases())
def test_kernel_agrees_with_brute_force(case: Case) -> None:
    check_kernel(case)


@settings(quick, max_examples=examples(100))
@given(cases(only=DYNAMIC, most_steps=3))
def test_chain_for_all_shapes_agrees_with_brute_force(case: Case) -> None:
    check_dynamic(case, compiled=False)


@settings(quick, max_examples=examples(20))
@given(cases(only=DYNAMIC, most_steps=3))
def test_kernel_for_all_shapes_agrees_with_brute_force(case: Case) -> None:
    check_dynamic(case, compiled=True)
