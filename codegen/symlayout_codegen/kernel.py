"""Make a callable of a nest, and call it.

Nothing about arrays is checked here: the caller knows the shapes, this module the addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symlayout_codegen.build import Function, build, foreign_functions
from symlayout_codegen.cir import evaluate
from symlayout_codegen.errors import PreconditionFailed
from symlayout_codegen.nest import Local, Nest
from symlayout_codegen.printer import (
    KERNELS_HEADER,
    RUNTIME_HEADER,
    STATUS,
    describe,
    print_header,
    print_program,
    template,
)
from symlayout_codegen.rename import PARTED
from symlayout_codegen.schedule import Program, schedule


class CompiledKernel:
    """A nest as a function of integers and memory.

    Attributes
    ----------
    nest : Nest
        What it does.
    element_size : int
        Bytes per element.
    source : str
        The C text.
    function : Callable[..., int]
        The C function that does one part: the number of the part, that of all parts, the arguments, then a
        pointer per source, the output and, if the nest has fills, the fill values.  A pointer is a cffi
        object, such as ``from_buffer`` makes.
    """

    __slots__ = ("_cast", "_program", "_void", "element_size", "from_buffer", "function", "nest", "source")

    def __init__(self, program: Program, nest: Nest, element_size: int, source: str, function: Function) -> None:
        self._program = program
        self.nest, self.element_size, self.source, self.function = nest, element_size, source, function
        ffi = foreign_functions()
        self.from_buffer, self._cast, self._void = ffi.from_buffer, ffi.cast, ffi.typeof("void *")

    @property
    def schedule(self) -> str:
        """The loops as text."""
        return describe(self._program)

    def __call__(
        self,
        arguments: tuple[int, ...],
        sources: Sequence[Any],
        out: Any,
        fill: Any = None,
        *,
        part: int = 0,
        parts: int = 1,
    ) -> None:
        """Run the kernel, or one part of it; the GIL is released meanwhile.

        Parameters
        ----------
        arguments : the nest's parameters, in order.
        sources : for each source its address, or a contiguous buffer.
        out : the output's address, or a contiguous buffer; must not overlap a source.
        fill : where the fill values lie, one after the other; left out if the nest has none.
        part, parts : do number *part* of *parts* parts of the work, which may run at once.

        Raises
        ------
        PreconditionFailed
            The arguments break a rule; its ``kind`` says which.  `out` has not been written.
        """
        cast, void, from_buffer = self._cast, self._void, self.from_buffer
        pointers = [cast(void, s) if isinstance(s, int) else from_buffer(s) for s in sources]
        pointers.append(cast(void, out) if isinstance(out, int) else from_buffer("char[]", out, True))
        if fill is not None:
            pointers.append(cast(void, fill) if isinstance(fill, int) else from_buffer(fill))
        try:
            status = self.function(part, parts, *arguments, *pointers)
        except OverflowError:  # an argument is not an int64
            status = STATUS["overflow"]
        if status:
            raise self.failure(arguments, status)

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


def compile_nest(nest: Nest, element_size: int) -> CompiledKernel:
    """Return *nest* as a kernel for elements of *element_size* bytes.

    Raises
    ------
    CompilerError
        There is no usable compiler.
    SymlayoutError
        The nest holds a literal that is not an int64.
    """
    program = schedule(nest)
    source = print_program(program, element_size)
    headers = {KERNELS_HEADER: print_header([nest]), RUNTIME_HEADER: template(RUNTIME_HEADER)}
    pointers = len(nest.sources) + 1 + bool(nest.fills)
    types = ["int64_t"] * (2 + len(nest.parameters)) + ["void *"] * pointers
    function = build(source, headers, f"{program.nest.name}{PARTED}", f"int32_t(*)({', '.join(types)})")
    return CompiledKernel(program, nest, element_size, source, function)
