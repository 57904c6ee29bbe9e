"""The runtime's transposes, of any extents and strides, for vectors of each width, under the sanitizers."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.codegen.emit.sanitized_c import build, run
from tests.support.paths import C_SOURCES

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")]

NAMED_PROCESSOR = ("-include", str(C_SOURCES / "named_processor.h"))
"""One program for several processors, whose answers it looks up: most of the time of a test was gcc's."""
NATIVE = ("-march=native",)
SHORT_BLOCKS = ("-DSL_TILES_PER_BLOCK=3",)
"""As if the arrays were larger: there are more blocks of tiles."""
X86 = platform.machine() == "x86_64"
AVX2 = ("-mavx2",) if X86 else NATIVE
HALF_A_LINE = (*NATIVE, "-mno-avx512f") if X86 else NATIVE
QUARTER_OF_A_LINE = (*NATIVE, "-mno-avx") if X86 else NATIVE
"""What makes vectors narrower than a cache line."""
NO_TABLES = (*NATIVE, "-mno-avx512vbmi") if X86 else NATIVE
"""Without an instruction that takes any bytes from vectors of a cache line: x86-64-v4 has none."""
NO_WAYS = ("-DSL_STREAMS=0", "-DSL_LARGE_ARRAYS=0", "-DSL_SMALL_MATRICES=0", "-DSL_NARROW_MATRICES=0")
TILES = (*NATIVE, *NO_WAYS)
"""All are transposed in tiles or bands."""
FIRST = (*NO_WAYS, "-DSL_NEAR_TILES=1")
"""As in a kernel that is not linked to further ways yet: in those of near arrays."""

ALL = (1, 2, 4, 8)
WHOLE_LINES = {
    **{"at_hand": ALL, "near": ALL, "panels": ALL, "strips": ALL},
    **{"sets": (1, 4), "crowded": (4, 8), "many": (1, 4)},
}
"""The sizes of elements for which a processor is tried: those that a way of it moves differently."""
NARROWER = {
    **{"near": ALL, "panels": ALL, "strips": ALL},
    **{"sets": (1, 4), "crowded": (4, 8), "large": (1, 2, 4)},
}
BUILDS: list[tuple[tuple[str, ...], dict[str, tuple[int, ...]]]] = [
    (NATIVE, WHOLE_LINES),
    ((*NATIVE, *SHORT_BLOCKS), dict.fromkeys(("large", "prompt"), ALL)),
    ((*HALF_A_LINE, *SHORT_BLOCKS), NARROWER),
    ((*QUARTER_OF_A_LINE, *SHORT_BLOCKS), {**NARROWER, "many": (2, 4, 8)}),
    ((*NO_TABLES, *SHORT_BLOCKS), dict.fromkeys(("at_hand", "large", "near", "panels"), (1, 2))),
    ((*TILES, *SHORT_BLOCKS), dict.fromkeys(("large", "sets"), ALL)),
    ((*NATIVE, *FIRST, *SHORT_BLOCKS), {"large": ALL}),
    ((*QUARTER_OF_A_LINE, *FIRST, *SHORT_BLOCKS), {"near": ALL}),
]


CASES = list(
    dict.fromkeys(
        (size, flags, processor)
        for flags, processors in BUILDS
        for processor, sizes in processors.items()
        for size in sizes
    )
)
Build = Callable[[int, tuple[str, ...]], Path]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Return what compiles the program for named processors, once for each size of elements and flags."""
    return cache(
        lambda size, flags: build("transposes", size, [*NAMED_PROCESSOR, *flags], tmp_path_factory.mktemp("built"))
    )


@pytest.mark.parametrize(("size", "flags", "processor"), CASES, ids=str)
def test_a_named_processor_moves_what_an_element_at_a_time_does(
    size: int, flags: tuple[str, ...], processor: str, program: Build
) -> None:
    run(program(size, flags), processor)


@pytest.mark.parametrize(("size", "flags"), [(1, AVX2), (1, ()), (4, ()), (3, ())], ids=str)
def test_the_processor_at_hand_moves_what_an_element_at_a_time_does(
    size: int, flags: tuple[str, ...], tmp_path: Path
) -> None:
    run(build("transposes", size, flags, tmp_path))
