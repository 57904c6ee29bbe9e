"""Decide whether two tensors are equal for all sizes: proved, refuted with a witness, or unknown.

`symlayout.proof.attempts` decides the claim, once it is known that both sides are about one set of inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from symlayout import facade
from symlayout.algebra.facts import Facts
from symlayout.deadlines import out_of_time, within
from symlayout.errors import ArrayError, ShapeError, SymlayoutError, shown
from symlayout.language import sympy_bridge
from symlayout.proof.attempts import DEFAULT_BUDGET, FIRST_EFFORT, budget_by_laws, compared_by_laws, decide, pairs_known
from symlayout.proof.congruence import Congruence
from symlayout.proof.counterexample import Witness, WitnessSearch
from symlayout.proof.decide_equal import dtype_of
from symlayout.proof.idle_functions import without_idle_functions
from symlayout.proof.laws import check_laws
from symlayout.proof.natural_assumptions import advice
from symlayout.proof.points import is_empty, point_of
from symlayout.proof.verdict import Proof, Verdict
from symlayout.tensors.chain import Applicable, Tensor, check_tensors
from symlayout.tensors.element_types import type_name
from symlayout.tensors.requirements import implies, requirements

if TYPE_CHECKING:
    from symlayout.facade import AnyLayout

__all__ = ["Proof", "Verdict", "Witness", "prove_equal"]


def prove_equal(
    left: Tensor | AnyLayout,
    right: Tensor | AnyLayout,
    *,
    budget: int = DEFAULT_BUDGET,
    judge: str | None = None,
    laws: Sequence[str] = (),
    time_limit: float | None = None,
) -> Proof:
    """Decide whether *left* and *right* are equal for all sizes for which both are valid.

    D is the set of integer dims that meet the bounds and the requirements of both sides.  PROVED: on all of D, the
    shapes agree, and each coordinate reads the same element of an input or fills of equal bits.  REFUTED: the sides
    differ at the witness, a point of D.  UNKNOWN: neither is known.  Elements of inputs are opaque: distinct from each
    other and from fills.

    Parameters
    ----------
    left, right : Tensor, Layout, ComposedMap or LinearLayout
        The two sides.  Leaves with the same name are the same input.  Two layouts are compared as functions from
        coordinates to offsets.  Two tensors of any rank are compared for all ranks.
    budget : int
        The most points of D that the search for a witness evaluates.  A point counts once more for every 16 steps of
        the chains, and for every 65536 elements of the output.
    judge : str, optional
        ``"isl"`` consults the integer set library (extra ``isl``) if the verdict would be UNKNOWN and all radices are
        constants.  Its proofs have no certificate.
    laws : sequence of str
        Laws that a proof may use although they do not hold bit for bit; each allows what is said here, and nothing
        else.

        ``"reassociate"``: the terms of a float sum, and the factors of a product, may be taken in another order.

        ``"real"``: what is equal for real numbers is equal, such as ``x * (y + z)`` and ``x * y + x * z``,
        ``2 * x + 3 * x`` and ``5 * x``, ``x - x`` and 0, ``x ** 0.5`` and the root of ``x``.  Infinities may become
        NaN.

        ``"reciprocal"``: a quotient is a product with the reciprocal.

        ``"fold-batchnorm"``: constant factors and summands, such as those of a batch normalisation, may be part of
        other constants, such as the weights of a convolution.  Each number that is computed from constants, by a tool
        or where a model is read, may be rounded after each operation.

        ``"signed-zero"``: the value of ``x + 0``, with a constant 0, may be replaced by ``x``, which is another zero if
        it is -0, and ``-(x + y)`` by ``-x - y``, which is another zero where the sum is 0.  Functions that tell -0 from
        0, such as a quotient, are then compared as functions of the replaced value.

        ``"requantize"``: a value that a runtime computes of quantized tensors, or of tensors that it quantizes first,
        is the formula of its page; and a sum of products of integers that becomes real is one of real numbers, as long
        as int32 holds it.  So each quantized value may be one unit of its scale off, and nothing that differs by no
        more than such units refutes the claim.

        ``"half"``: a float16 or bfloat16 value counts as the float32 that it stands for, a cast between these types
        changes nothing, and a constant counts as rounded to the half precision that is there.  So both sides are equal
        up to the rounding of casts, as long as half precision holds all values.
    time_limit : float, optional
        The most seconds that this may take; then the verdict is UNKNOWN.

    Returns
    -------
    Proof
        The verdict, with a witness or with the undecided obligation.

    Raises
    ------
    ArrayError
        The dtypes differ.
    ShapeError
        ``infeasible`` if no sizes are valid for both sides; ``dim_conflict`` if two dims share a name;
        ``size_mismatch`` if an input has different shapes on the two sides; ``bad_mode`` for an unknown judge or law.

    Examples
    --------
    >>> from symlayout.ops.transpose import transpose
    >>> from symlayout.tensors.input_tensor import tensor
    >>> x = tensor("N, C", name="x")
    >>> prove_equal(transpose(transpose(x)), x).verdict
    <Verdict.PROVED: 'proved'>
    """
    if isinstance(left, Applicable) or isinstance(right, Applicable):
        check_laws(laws)
        return facade.prove_any_rank(left, right, budget, time_limit)
    sides: tuple[Any, Any] = (left, right) if isinstance(left, Tensor) else facade.as_tensors(left, right)

    def decided() -> Proof:
        return _with_point(_prove_tensors_equal(*sides, budget=budget, judge=judge, laws=laws))

    def undecided() -> Proof:
        return Proof(*sides, sides[0].facts.fork(), Verdict.UNKNOWN, None, out_of_time(time_limit))

    return within(time_limit, decided, undecided)


def prove_on(domain: Facts, left: Tensor, right: Tensor, *, budget: int = DEFAULT_BUDGET, brief: bool = False) -> Proof:
    """Decide whether two tensors are valid and equal for all sizes that meet the facts *domain*.

    A proof whose requirements do not follow from those of *domain* is about fewer sizes, and proves nothing.  Both
    tensors are made of tensors for which *domain* holds, so that a witness meets it.  *brief* is for claims that are
    not worth a long proof.
    """
    proof = prove_briefly(left, right, budget=budget) if brief else prove_equal(left, right, budget=budget)
    if proof.verdict is not Verdict.PROVED or implies(domain, proof.facts):
        return proof
    more = [r for r in proof.requires if r not in _relations(domain)] or proof.requires
    return proof.opened(f"{', '.join(map(str, more))} for all sizes of the claim")


def _relations(facts: Facts) -> tuple[Any, ...]:
    return tuple(sympy_bridge.to_relation(r, facts) for r in requirements(facts))


def prove_briefly(left: Tensor, right: Tensor, *, budget: int) -> Proof:
    """Decide what `prove_equal` decides of tensors, where claims that take long to prove are not worth it."""
    return _with_point(_prove_tensors_equal(left, right, budget=budget, judge=None, laws=(), goals=FIRST_EFFORT))


def _with_point(proof: Proof) -> Proof:
    """Return a proof with its point; PROVED without one is UNKNOWN, and REFUTED where the sides differ there.

    Raises
    ------
    ShapeError
        ``infeasible`` if no sizes are valid for both sides.
    """
    if proof.verdict is not Verdict.PROVED:
        return proof
    left, right = proof.sides
    search = WitnessSearch(left, right, proof.facts, dtype_of(left, right))
    apart: list[Witness] = []

    def compare(values: Mapping[str, int], sides: Sequence[Tensor], elements: bool) -> bool:
        try:
            if not elements and sides[0].extents == sides[1].extents:
                return False
            witness, _ = search.apart(values, *sides)
        except SymlayoutError:  # such as for a body without a function
            return False
        if witness is not None and (witness.coord is None or not proof.laws):
            apart.append(witness)
        return True

    point = point_of(proof.sides, proof.facts, compare)
    if apart:
        return proof.refuted(apart[0])
    if point is not None:
        return proof.at(point)
    if is_empty(proof.facts):
        raise ShapeError("no sizes are valid for both sides", "infeasible")
    return proof.opened("no sizes were found that are valid for both sides")


def _prove_tensors_equal(
    left: Tensor, right: Tensor, *, budget: int, judge: str | None, laws: Sequence[str], goals: int | None = None
) -> Proof:
    check_tensors("prove_equal", left, right)
    if judge is not None and not (isinstance(judge, str) and judge == "isl"):
        raise ShapeError(f"judge {shown(judge)} is not 'isl'", "bad_mode")
    check_laws(laws)
    if left.dtype != right.dtype and left.dtype is not None and right.dtype is not None:
        raise ArrayError(f"the sides have dtypes {type_name(left.dtype)} and {type_name(right.dtype)}")
    facts = left.facts.fork()
    facts.merge(right.facts)
    _match_leaves(left, right, facts)
    if left.computes or right.computes:
        busy = without_idle_functions({"left": left, "right": right})[0]
        if busy["left"] is not left or busy["right"] is not right:
            options = {"budget": budget, "judge": judge, "laws": laws, "goals": goals}
            return _prove_tensors_equal(busy["left"], busy["right"], **options).of(left, right)  # type: ignore[arg-type]
    known = pairs_known(facts, laws, goals, ([left], [right]))
    points = budget_by_laws({"": left}, {"": right}, laws, budget)
    proofs = {"": decide(left, right, facts, known, budget=points, judge=judge, advice=advice)}

    def decided(a: Tensor, b: Tensor, pairs: tuple[Congruence, Congruence], points: int) -> Proof:
        return decide(a, b, facts, pairs, budget=points)

    compared_by_laws({"": left}, {"": right}, facts, laws, budget, proofs, decided)
    return proofs[""]


def _match_leaves(left: Tensor, right: Tensor, facts: Facts) -> None:
    shapes = {leaf.key: leaf for leaf in left.arguments()}
    for leaf in right.arguments():
        other = shapes.get(leaf.key)
        if other is None or other is leaf:
            continue
        a, b = [tuple(facts.reduce(e) for e in x.extents) for x in (other, leaf)]
        if a != b:
            raise ShapeError(f"input {leaf.name} is {other!r} on the left and {leaf!r} on the right", "size_mismatch")
        if other.dtype is not None and leaf.dtype is not None and other.dtype != leaf.dtype:
            types = f"{type_name(other.dtype)} on the left and {type_name(leaf.dtype)} on the right"
            raise ArrayError(f"input {leaf.name} has dtype {types}")
