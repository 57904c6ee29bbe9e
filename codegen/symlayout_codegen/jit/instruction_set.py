"""Which instruction set kernels are compiled for: this processor's own, or a level of x86-64 that the user names.

A named level is checked against the processor before anything is compiled or loaded, so that no kernel meets an
instruction that the processor lacks.  Libraries of a named level serve every processor that has it, libraries of
``native`` only processors of the same features: both are part of the cache key.  ``CFLAGS`` may ask for instructions
too; the compiler itself then refuses those that the instruction set lacks.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from functools import cache as once

from symlayout_codegen.errors import ProcessorError

VARIABLE = "SYMLAYOUT_MARCH"
"""The environment variable that names the instruction set where no argument does."""

NATIVE = "native"
"""All instructions of this processor."""

_V2 = frozenset(["cx16", "lahf_lm", "pni", "popcnt", "sse4_1", "sse4_2", "ssse3"])
_V3 = _V2 | frozenset(["abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"])
_V4 = _V3 | frozenset(["avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"])

_VECTORS = "f bw cd dq vl ifma vbmi _vbmi2 _vnni _bitalg _vpopcntdq _bf16 _fp16"
_MACROS = {
    "abm": "__LZCNT__",
    "bmi1": "__BMI__",
    "pni": "__SSE3__",
    **{
        name: f"__{name.upper()}__"
        for name in "avx avx2 bmi2 f16c fma gfni movbe popcnt sse4_1 sse4_2 ssse3 vaes".split()  # noqa: SIM905
    },
    **{f"avx512{name}": f"__AVX512{name.strip('_').upper()}__" for name in _VECTORS.split()},
}
"""The features that compilers use by themselves, as Linux calls them, and the macro by which a compiler says so."""

LACKS = "instruction set: "
"""How the error of `guard` begins."""

LEVELS = {"x86-64-v2": _V2, "x86-64-v3": _V3, "x86-64-v4": _V4}
"""The levels of x86-64 (its psABI), lowest first, and the features that each has, as Linux calls them."""


def choose(march: str | None = None) -> str:
    """Return the instruction set to compile for: *march*, else what ``$SYMLAYOUT_MARCH`` names, else `NATIVE`.

    ``v3`` is short for ``x86-64-v3``.

    Raises
    ------
    ProcessorError
        The value is unknown, or this processor lacks instructions of that level.
    """
    given, origin = (march, "march=") if march is not None else (os.environ.get(VARIABLE) or NATIVE, f"{VARIABLE}=")
    level = f"x86-64-{given}" if f"x86-64-{given}" in LEVELS else given
    if level == NATIVE:
        return NATIVE
    if not isinstance(level, str) or level not in LEVELS:
        raise ProcessorError(f"{origin}{given!r} is no instruction set\n  known: {', '.join([*LEVELS, NATIVE])}")
    if platform.machine() not in ("x86_64", "AMD64"):
        raise ProcessorError(f"{origin}{given!r}: this processor is {platform.machine()}\n  help: use {NATIVE!r}")
    features = cpu_flags()
    if not features:
        raise ProcessorError(
            f"{origin}{given!r}: the system does not say which instructions the processor has\n  help: use {NATIVE!r}"
        )
    if missing := LEVELS[level] - features:
        raise ProcessorError(
            f"{origin}{given!r}: this processor lacks {', '.join(sorted(missing))}\n"
            f"  help: use {' or '.join(repr(name) for name in [*available()[-1:], NATIVE])}"
        )
    return level


def available() -> list[str]:
    """Return the levels that this processor has, lowest first; none where the system does not tell."""
    if platform.machine() not in ("x86_64", "AMD64"):
        return []
    return [name for name, needed in LEVELS.items() if needed <= cpu_flags()]


def target_flags(march: str) -> list[str]:
    """Return the compiler's arguments for what `choose` returned; none where the compiler has no name for it."""
    known = march != NATIVE or platform.machine() in ("x86_64", "AMD64", "aarch64")
    return [f"-march={march}"] if known else []


def guard(march: str, flags: Sequence[str]) -> str:
    """Return C that a compiler refuses if *flags*, the user's, let it use instructions that *march* lacks.

    It is empty where *flags* name no instructions, and where the system does not say what the processor has.
    """
    has = cpu_flags() if march == NATIVE else LEVELS[march]
    if not has or not any(flag.startswith("-m") for flag in flags):
        return ""
    owner = "this processor" if march == NATIVE else march
    lines = [
        f'#ifdef {macro}\n#error "{LACKS}{owner} lacks {name}"\n#endif\n'
        for name, macro in _MACROS.items()
        if name not in has
    ]
    return "".join(lines)


def processors(march: str) -> str:
    """Return a text that is the same for all processors that may run a library built for *march*."""
    if march != NATIVE:
        return f"any {march}"
    features = " ".join(sorted(cpu_flags()))
    # Where the system does not say what the processor has, a library is for this machine alone.
    return f"{platform.machine()} {features or f'{platform.processor()} {platform.node()}'}"


@once
def cpu_flags() -> frozenset[str]:
    """Return the features of this processor as Linux calls them; none where the system does not tell."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as lines:
            found = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        return frozenset()
    return frozenset(found.partition(":")[2].split())
