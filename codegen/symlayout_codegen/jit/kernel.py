"""Make a callable of a nest, and call it.

Nothing about arrays is checked here: the caller knows the shapes, this module the addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from functools import partial
from typing import Any

from symlayout_codegen.emit.header import KERNELS_HEADER, print_header, runtime_of
from symlayout_codegen.emit.printer import describe, print_packed, print_program, print_ways
from symlayout_codegen.emit.transposes import ALL_WAYS, compiled_apart, linked_parts
from symlayout_codegen.errors import CompilerError, PreconditionFailed
from symlayout_codegen.ir.choice import MODEL, Choice
from symlayout_codegen.ir.identifiers import PACKED, PARTED, WAYS, rename_signature
from symlayout_codegen.ir.integer_expressions import evaluate
from symlayout_codegen.ir.nest import Local, Nest
from symlayout_codegen.jit.build import build, kernel_flags
from symlayout_codegen.jit.cache import SOURCE
from symlayout_codegen.jit.cache_identity import cache_key, identity
from symlayout_codegen.jit.compiler import find_compiler
from symlayout_codegen.jit.instruction_set import choose
from symlayout_codegen.jit.load import Function, foreign_functions
from symlayout_codegen.jit.pool import run
from symlayout_codegen.passes.schedule import Program, schedule
from symlayout_codegen.status import STATUS

PARTS_EACH = 4
"""Parts for each thread: those that are done earlier take more of them."""


class CompiledKernel:
    """A nest as a function of integers and memory.

    Attributes
    ----------
    nest : Nest
        What it does.
    element_size : int
        Bytes per element.
    choice : Choice
        What was chosen where the schedule leaves something open.
    reason : str
        Why.
    march : str
        The instruction set that it was compiled for.
    ways : int
        The ways to move elements, as bits, that it was linked to where its extents are unknown.
    function : Callable[..., int]
        The C function that does one part: the number of the part, that of all parts, the arguments, then a
        pointer per source, the output and, if the nest has fills, the fill values.  A pointer is a cffi
        object, such as `pointer` makes.
    packed : int
        The address of the C function that does the whole: of an array of the arguments, and one of those pointers.
        It is loaded for as long as this object lives.
    pointer : Callable[[Any], Any]
        Makes of a contiguous buffer its address, which keeps it; differences are in bytes.
    from_buffer, char : cffi's function and type
        ``from_buffer(char, a)`` is ``pointer(a)``; ``from_buffer(char, a, True)`` refuses a read-only *a*.
    """

    __slots__ = (
        "_cast",
        "_functions",
        "_further",
        "_unlinked",
        "_void",
        "char",
        "choice",
        "element_size",
        "from_buffer",
        "function",
        "march",
        "nest",
        "packed",
        "pointer",
        "reason",
        "ways",
    )

    def __init__(
        self,
        nest: Nest,
        element_size: int,
        functions: Mapping[str, Function],
        choice: Choice,
        march: str,
        ways: int,
    ) -> None:
        self.nest, self.element_size, self.march, self.ways = nest, element_size, march, ways
        self._functions = functions
        self.function, packed, self._unlinked = functions.values()
        self.choice, self.reason = choice, "by the model"
        self._further: dict[int, CompiledKernel] = {}
        ffi = foreign_functions()
        self.packed = int(ffi.cast("uintptr_t", packed))
        self.from_buffer, self.char = ffi.from_buffer, ffi.typeof("char *")
        self.pointer = partial(self.from_buffer, self.char)
        self._cast, self._void = ffi.cast, ffi.typeof("void *")

    @property
    def source(self) -> str:
        """The C text that was compiled; made anew, since a kernel that is kept is called without it."""
        return source_of(self.nest, self.element_size, self.choice, self.ways)

    @property
    def schedule(self) -> str:
        """What was chosen and why, then the loops, as text."""
        return f"{self.choice}; {self.reason}\n{describe(schedule(self.nest, self.choice))}"

    @property
    def key(self) -> str:
        """The name of its entry in the cache."""
        identity, _ = _origin(self.nest, self.element_size, self.choice, self.ways)
        return cache_key(identity, find_compiler(), kernel_flags(self.march), self.march)

    def because(self, reason: str) -> CompiledKernel:
        """Return the same kernel, chosen for *reason*."""
        made = copy(self)
        made.reason = reason
        return made

    def as_wanted(self) -> CompiledKernel:
        """Return this kernel linked to the ways that its calls wanted so far: itself if they wanted none."""
        return self._linked_to(self._unlinked(1))

    def whole(self) -> CompiledKernel:
        """Return this kernel linked to all ways that calls may want."""
        return self._linked_to(self._unlinked(0))

    def _linked_to(self, further: int) -> CompiledKernel:
        """Return this kernel linked to *further* ways too; itself, which is right but slower, if that fails."""
        if not further:
            return self
        if further not in self._further:
            made = self
            with suppress(CompilerError):
                made = compile_nest(self.nest, self.element_size, self.choice, self.march, self.ways | further)
            self._further[further] = made
        return self._further[further]

    def __call__(
        self, arguments: tuple[int, ...], sources: Sequence[Any], out: Any, fill: Any = None, threads: int = 1
    ) -> None:
        """Run the kernel; the GIL is released meanwhile.

        Parameters
        ----------
        arguments : the nest's parameters, in order.
        sources : for each source its address, or a contiguous buffer.
        out : the output's address, or a contiguous buffer; must not overlap a source.
        fill : where the fill values lie, one after the other; left out if the nest has none.
        threads : on how many threads to run.

        Raises
        ------
        PreconditionFailed
            The arguments break a rule; its ``kind`` says which.  `out` has not been written.
        """
        pointers = [self._memory(source) for source in sources]
        pointers.append(self._cast(self._void, out) if isinstance(out, int) else self.from_buffer("char[]", out, True))
        if fill is not None:
            pointers.append(self._memory(fill))
        try:
            status = self.run((*arguments, *pointers), threads)
        except OverflowError:  # an argument is not an int64
            status = STATUS["overflow"]
        if status:
            raise self.failure(arguments, status)

    def run(self, arguments: tuple[Any, ...], threads: int) -> int:
        """Return the status of `function` for *arguments*, done in parts where there are *threads* to do them."""
        if threads == 1:
            return self.function(0, 1, *arguments)
        parts = threads * PARTS_EACH
        return run(lambda part: self.function(part, parts, *arguments), parts, threads)

    def at_addresses(self, arguments: tuple[int, ...], fill: Any, count: int) -> Callable[..., int]:
        """Return `function` in one part, of *arguments* and *fill*, as a function of *count* addresses that are ints.

        They are those of the sources and of the output.  The result is the status.
        """
        cast, void = self._cast, self._void
        single = partial(self.function, 0, 1, *arguments)
        held = () if fill is None else (self.pointer(fill),)
        if count == 2:
            return lambda source, out: single(cast(void, source), cast(void, out), *held)
        return lambda *addresses: single(*[cast(void, a) for a in addresses], *held)

    def _memory(self, memory: Any) -> Any:
        return self._cast(self._void, memory) if isinstance(memory, int) else self.pointer(memory)

    def failure(self, arguments: tuple[int, ...], status: int) -> PreconditionFailed:
        """Return the error of a call that returned *status*: the first rule that exact integers break."""
        values = dict(zip(self.nest.parameters, arguments, strict=True))
        for step in self.nest.prelude:
            value = evaluate(step.value, values)
            if isinstance(step, Local):
                values[step.name] = value
            elif not (value == 0 if step.relation == "==" else value >= 0):
                return PreconditionFailed(step.text or f"{step.kind}: {value} {step.relation} 0", step.kind)
        kind = next((kind for kind, code in STATUS.items() if code == status), "precondition")
        return PreconditionFailed(f"a size computed from {values} is not a 64-bit integer", kind)


def compile_nest(
    nest: Nest, element_size: int, choice: Choice = MODEL, march: str | None = None, ways: int = ALL_WAYS
) -> CompiledKernel:
    """Return *nest* as a kernel for elements of *element_size* bytes, scheduled as *choice* says.

    *march* is the instruction set; without it ``$SYMLAYOUT_MARCH`` decides, else the processor.  Of the ways
    that unknown extents may want, the kernel is linked to *ways*, as bits; `CompiledKernel.as_wanted` adds others.

    Raises
    ------
    CompilerError
        There is no usable compiler.
    ProcessorError
        The instruction set is unknown, or this processor lacks it.
    SymlayoutError
        The nest holds a literal that is not an int64.
    """
    pointers = len(nest.sources) + 1 + bool(nest.fills)
    types = ["int64_t"] * (2 + len(nest.parameters)) + ["void *"] * pointers
    name = rename_signature(nest).nest.name
    declarations = {
        f"{name}{PARTED}": f"int32_t(*)({', '.join(types)})",
        f"{name}{PACKED}": "int32_t(*)(int64_t *, void **)",
        f"{name}{WAYS}": "int32_t(*)(int32_t)",
    }
    level = choose(march)
    functions = build(*_origin(nest, element_size, choice, ways), declarations, level)
    return CompiledKernel(nest, element_size, functions, choice, level, ways)


def source_of(nest: Nest, element_size: int, choice: Choice, ways: int = ALL_WAYS) -> str:
    """Return the C text that is compiled for the nest."""
    return _texts(schedule(nest, choice), element_size, ways)[SOURCE]


def _texts(program: Program, element_size: int, ways: int) -> dict[str, str]:
    """Return the C texts: of the kernel, of what it includes, and those that are compiled apart, by their names."""
    nest, apart = program.nest, compiled_apart(program, element_size, ways)
    linked = ALL_WAYS if apart is None else ways
    parts = (
        print_program(program, element_size, ways=linked),
        print_packed(nest),
        print_ways(program, element_size, linked),
    )
    runtime = runtime_of(program.body, nest.halves, linked_parts(apart))
    return {KERNELS_HEADER: print_header([nest]), **runtime, **(apart or {}), SOURCE: "".join(parts)}


def _origin(nest: Nest, element_size: int, choice: Choice, ways: int) -> tuple[str, Callable[[], Mapping[str, str]]]:
    """Return what `build` wants: what decides the texts, and what makes them."""

    def files() -> dict[str, str]:
        return _texts(schedule(nest, choice), element_size, ways)

    if known := identity(nest, element_size, choice):
        return f"{known}\n{ways}", files
    made = files()
    return "\n".join(made.values()), lambda: made
