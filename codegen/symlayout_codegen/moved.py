"""Old paths of modules that moved: an import of one gives the module at its new path, with a `DeprecationWarning`."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from symlayout_codegen.forks import held_off

MOVED = {
    "budget": "ir.text_budget",
    "cir": "ir.integer_expressions",
    "expressions": "ir.queries",
    "factor": "ir.factor_polynomial",
    "nest": "ir.nest",
    "loops": "ir.statements",
    "choice": "ir.choice",
    "schedule": "passes.schedule",
    "rename": "passes.rename",
    "exact": "passes.use_divisibility",
    "narrow": "passes.narrow_digit_ranges",
    "align": "passes.align",
    "stack": "passes.stack_pieces",
    "coalesce": "passes.coalesce",
    "order": "passes.order",
    "share": "passes.split_among_threads",
    "bound": "passes.loop_bounds",
    "pending": "passes.pieces.pending_windows",
    "leaves": "passes.select_runs_and_transposes",
    "distribute": "passes.distribute",
    "rows": "passes.fuse_rows",
    "unroll": "passes.unroll",
    "strips": "passes.strips",
    "prune": "passes.prune",
    "hoist": "passes.hoist",
    "printer": "emit.printer",
    "halves": "emit.print_nibbles",
    "header": "emit.header",
    "text": "emit.text",
    "kernel": "jit.kernel",
    "build": "jit.build",
    "compiler": "jit.compiler",
    "cache": "jit.cache",
    "load": "jit.load",
    "identity": "jit.cache_identity",
    "pool": "jit.pool",
    "tune": "jit.tune",
    "trampoline": "jit.trampoline",
}


class MovedModules:
    """Finds the modules of *package* that moved; *moved* maps old paths to new ones, without the package's name.

    A finder and loader by its methods: the classes of `importlib.abc` would import 40 modules.
    """

    def __init__(self, package: str, moved: Mapping[str, str]) -> None:
        self._new = {f"{package}.{old}": f"{package}.{new}" for old, new in moved.items()}
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for the old path of a module, None for any other name."""
        return ModuleSpec(fullname, cast(Any, self)) if fullname in self._new else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module at its new path."""
        new = self._new[spec.name]
        warnings.warn(f"{spec.name} is now {new}", DeprecationWarning, stacklevel=2)
        module = import_module(new)
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module back its own spec, which the import system replaced by that of the old path."""
        old = module.__spec__
        if old is not None and old.name in self._specs:
            module.__spec__ = self._specs.pop(old.name)

    def share(self, old: str) -> None:
        """Let the old path, where a function of that name stands, give what the module at the new path has."""
        new = self._new[old]
        sys.modules[old] = sys.modules.get(new) or _LaterModule(old, new)


class _LaterModule(ModuleType):
    """A module whose names are those of another one, which is imported when the first of them is asked for."""

    def __init__(self, name: str, new: str) -> None:
        super().__init__(name)
        self._new = new

    def __getattr__(self, name: str) -> Any:
        with held_off:
            return getattr(import_module(self._new), name)


def find_moved(package: str, moved: Mapping[str, str]) -> MovedModules:
    """Let imports of the old paths in *moved* succeed; return the finder."""
    finder = MovedModules(package, moved)
    sys.meta_path.append(finder)
    return finder
