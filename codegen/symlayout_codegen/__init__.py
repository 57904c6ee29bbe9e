"""The C backend of symlayout: from a nest of loops to a callable (see `nest`).

Knows loops, integer expressions, buffers and C; no tensor op, no SymPy and no proof.
The names below are imported when they are first used, so that a program that compiles nothing
pays for nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from symlayout_codegen.forks import held_off
from symlayout_codegen.moved import MOVED, find_moved

if TYPE_CHECKING:
    from symlayout_codegen.emit.header import print_header
    from symlayout_codegen.emit.printer import print_kernel
    from symlayout_codegen.errors import CompilerError, PreconditionFailed, SymlayoutError
    from symlayout_codegen.ir.nest import Nest, simulate
    from symlayout_codegen.jit.kernel import CompiledKernel, compile_nest

__all__ = [
    "CompiledKernel",
    "CompilerError",
    "Nest",
    "PreconditionFailed",
    "SymlayoutError",
    "compile_nest",
    "print_header",
    "print_kernel",
    "simulate",
]

_HOME = {
    "CompiledKernel": "jit.kernel",
    "CompilerError": "errors",
    "Nest": "ir.nest",
    "PreconditionFailed": "errors",
    "SymlayoutError": "errors",
    "compile_nest": "jit.kernel",
    "print_header": "emit.header",
    "print_kernel": "emit.printer",
    "simulate": "ir.nest",
}

find_moved(__name__, MOVED)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with held_off:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
