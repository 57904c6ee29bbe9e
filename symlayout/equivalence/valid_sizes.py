"""Find sizes for which one model is valid and another one is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

from symlayout.algebra.facts import Facts
from symlayout.algebra.search.enumerate_sizes import sizes
from symlayout.errors import InconclusiveError, ShapeError
from symlayout.language import sympy_bridge
from symlayout.proof.counterexample import Witness
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import implies

_MOST_SIZES = 2000  # most sizes that are tried


def facts_of(*models: Mapping[str, Tensor]) -> Facts:
    """Return what holds for all outputs of models."""
    tensors = [t for outputs in models for t in outputs.values()]
    facts = tensors[0].facts.fork()
    for t in tensors:
        facts.merge(t.facts)
    return facts


@dataclass(frozen=True, slots=True)
class RefusedSizes:
    """Sizes for which the output before is valid, and the output after is not.

    Attributes
    ----------
    sizes : dict
        A value for each dim, by its name.
    output : str
        The name of the output.
    why : str
        Why the output after is not valid.
    """

    sizes: dict[str, int]
    output: str
    why: str

    def witness(self, left: Tensor) -> Witness:
        """Return the sizes as a witness: the shape before, and why there is none after."""
        dims = {sympy_bridge.symbol_of(d): self.sizes[name] for name, d in left.facts.dims.items()}
        return Witness(dims, None, left.bind(_of(left, self.sizes)).extents, f"refused ({self.why})")


def refused_after(left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> RefusedSizes | None:
    """Return the first sizes for which the outputs *left* are valid and have elements, and one of *right* is not valid.

    None says that there are no such sizes, that none is among the first ones, or that an extent depends on data.
    """
    here, there = facts_of(left), facts_of(right)
    leaves = [leaf for t in (*left.values(), *right.values()) for leaf in t.graph() if not leaf.inputs]
    given = {name for leaf in leaves for name in leaf.facts.dims}
    if not here.dims.keys() | there.dims.keys() <= given or implies(here, there):
        return None
    for values in islice(sizes(here, dict.fromkeys(here.dims, 1)), _MOST_SIZES):
        if _hold(here, values) and not _hold(there, values) and _have_elements(left.values(), values):
            for name, t in right.items():
                try:
                    t.bind(_of(t, values))
                except ShapeError as error:
                    return RefusedSizes(values, name, str(error).splitlines()[0])
                except InconclusiveError:
                    continue
    return None


def _hold(facts: Facts, values: Mapping[str, int]) -> bool:
    """Return whether all requirements hold, as far as the dims have values."""
    if not facts.dims.keys() <= values.keys():
        return False
    known = facts.values(values)
    try:
        return all(r.holds(known) for r in facts.requirements)
    except KeyError:  # a symbol has no value there
        return False


def _have_elements(outputs: Iterable[Tensor], values: Mapping[str, int]) -> bool:
    """Return whether all outputs are valid for these sizes and none is empty."""
    try:
        bound = [t.bind(_of(t, values)) for t in outputs]
    except (ShapeError, InconclusiveError):
        return False
    return not any(e == 0 for t in bound for e in t.extents)


def _of(t: Tensor, values: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in values.items() if name in t.facts.dims}
