"""Mutants that no test notices, each with the reason why that is right."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {
    'codegen/symlayout_codegen/jit/cache.py: _is_own: if not hasattr(os, "getuid"): return True -> pass': (
        "of a system on which no kernel is built"
    ),
    "codegen/symlayout_codegen/jit/cache.py: load_note: status.st_size > _MANIFEST_BYTES -> status.st_size >="
    " _MANIFEST_BYTES": "a budget, of one less",
    "symlayout/proof/cases/choose_split.py: _remainder: d > MAX_VALUES -> d >= MAX_VALUES": "a budget, of one less",
    "symlayout/run/call_plan.py: processors: 1 -> 2 in return len(os.sched_getaffinity(0)) if hasattr(os,"
    ' "sched_getaffinity") else os.cpu_count() or 1': "a guess, on a system that does not say how many it has",
    "symlayout/proof/certificate/checker/readings.py: point: True -> False in known.nonnegative.update(e - 1 - i for e,"
    " i in zip(extents, known.point, strict=True))": "the point has a digit for each extent, by the line before",
    "symlayout/algebra/defined_symbols.py: Derived._excess: e.terms[lead] < 0 -> e.terms[lead] <= 0": "no coefficient is 0",
    "symlayout/algebra/floor_normal_form.py: _candidates: fact.names & rest.names -> fact.names | rest.names": (
        "more quotients are suggested; each is proved before it is used"
    ),
    "symlayout/algebra/facts.py: Facts.assume_inhabited: not self.nonnegative(e - 1) -> True": (
        "what is proved already is assumed once more"
    ),
    "symlayout/algebra/nonnegative.py: Inequalities._by_facts_first: 0 -> 1 in proof = self._prove(bound.bound, 0)": (
        "a budget: the search goes deeper, and every proof is as good"
    ),
    "symlayout/algebra/nonnegative.py: _remainder_apart: n[0] == DIGIT -> True": (
        "the bound holds for any symbol; it is tried for digits alone, whose shares are told apart"
    ),
    "symlayout/maps/compose_chain.py: _enter: e - 1 -> e + 1 #3": (
        "the extent of an axis that is read inside is at least 1, as the coordinate's two bounds say already"
    ),
    "symlayout/run/repeat_calls.py: _several.several: raise _failure(plan, native, status) -> pass": (
        "the status is decided by the arguments, with which the first call, which is remembered, had none"
    ),
    "symlayout/proof/certificate/logged_inequalities.py: Notes._by_floors: continue -> pass #2": (
        "the identity holds all the same, and is tried in vain"
    ),
    "symlayout/proof/certificate/logged_inequalities.py: Notes._by_floors: sign > 0 -> sign >= 0": "the sign is 1 or -1",
    "symlayout/proof/certificate/logged_facts.py: Recorder.assume_inhabited: 1 -> 2 in ends = [end for c, e in zip(coords, extents,"
    " strict=True) for end in (c, e - 1 - c)]": "what the claim takes for granted is said once more than it is needed",
    "symlayout/proof/certificate/logged_equations.py: SolvingNotes._without_factor: exact_quotient(e, primitive) or 1 -> exact_quotient(e,"
    " primitive)": "the quotient is exact, and not 0",
    "symlayout/proof/certificate/logged_equations.py: _bezout: 1 -> 2 in if r in (1, -1): #2": "-1 is tried in any case",
}
