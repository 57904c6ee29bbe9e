"""Kernels of computed values: movement, bodies and one reduction in one C function, for the element types of a call."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.errors import CompilerError, InconclusiveError
from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import int_extents
from symlayout.run.call_plan import Array, Plan, contiguous_strides, element_strides, worthwhile
from symlayout.run.repeat_calls import Memory, memory
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.chain import Tensor
from symlayout.tensors.element_types import new_array
from symlayout_codegen.forks import held_off
from symlayout_codegen.jit import trampoline

if TYPE_CHECKING:
    from symlayout.run.lower_bodies import Lowered
    from symlayout_codegen.jit.kernel import CompiledKernel

_MAX_PLANS = 256

Types = tuple[np.dtype[Any], ...]


@dataclass(frozen=True, slots=True)
class _Planned:
    """A plan, and what gives the arrays of the kernel's sources.

    Attributes
    ----------
    places : the number of the input for each source; -1 for a constant or a computed value.
    computed : the constants and computed values among the sources, bound to the dims.
    """

    plan: Plan
    places: tuple[int, ...]
    computed: tuple[Tensor, ...]

    def reads_its_inputs(self, count: int) -> bool:
        """Return whether a C function reads the *count* arrays of the call in their order, and nothing else."""
        return self.plan.native is not None and not self.computed and self.places == tuple(range(count))


class BodyKernel:
    """The C function of a tensor whose bodies are computed in C.

    Attributes
    ----------
    tensor : Tensor
        The tensor that the kernel computes.
    """

    def __init__(self, tensor: Tensor, march: str, threads: int) -> None:
        self.tensor, self._march, self._threads = tensor, march, threads
        self._arguments = tensor.arguments()
        self._lowered: dict[tuple[Types, bool], Lowered | None] = {}
        self._natives: dict[tuple[Types, bool], CompiledKernel | None] = {}
        self._plans: dict[Any, _Planned | None] = {}
        self._memory: Memory | None = None
        self._lock = threading.Lock()

    def lowered(self, types: Types, *, strided: bool) -> Lowered | None:
        """Return the nest for inputs of these types; None if the interpreter has to compute the bodies."""
        from symlayout.run.lower_bodies import lower_bodies

        with held_off, self._lock:
            key = types, strided
            if key not in self._lowered:
                given = {leaf.key: dtype for leaf, dtype in zip(self._arguments, types, strict=True)}
                try:
                    self._lowered[key] = lower_bodies(self.tensor, given, strided=strided)
                except InconclusiveError:
                    self._lowered[key] = None
            return self._lowered[key]

    def native(self, types: Types, *, strided: bool) -> CompiledKernel | None:
        """Return the compiled kernel; None if there is none."""
        key = types, strided
        if key not in self._natives:
            with held_off:
                from symlayout_codegen.jit.kernel import compile_nest
            found = self.lowered(types, strided=strided)
            native = None
            if found is not None:
                with trampoline.beside():
                    try:
                        native = compile_nest(found.nest, found.types[-1].itemsize, march=self._march)
                    except CompilerError:
                        native = None  # the movement alone is tried next: it warns
            self._natives[key] = native
        return self._natives[key]

    def __call__(
        self, given: Sequence[Array], out: Array | None, dims: Mapping[Any, Any] | None, threads: int | None
    ) -> Array | None:
        """Return the result; None, with nothing done, if there is no such kernel."""
        key = _key(given, out, tuple(dims.items()) if dims else None, threads)
        new = key not in self._plans
        if new:
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = self._plan(given, out, dims, threads)
        planned = self._plans[key]
        if planned is None:
            return None
        done = self._run(planned, given, out)
        if new and not dims and threads is None and planned.reads_its_inputs(len(given)):
            assert planned.plan.native is not None
            if self._memory is None:
                self._memory = memory(self._threads)
            self._memory.add(planned.plan, planned.plan.native, list(given), done)
        return done

    def again(self, given: Sequence[Any], out: Any) -> Array | None:
        """Return the result if a call with such arrays succeeded before, without dims or threads; else None."""
        if self._memory is not None and (done := self._memory.call(tuple(given), out)) is not None:
            return done
        if not all(type(a) is np.ndarray for a in given) or (out is not None and type(out) is not np.ndarray):
            return None
        planned = self._plans.get(_key(given, out, None, None))
        return None if planned is None else self._run(planned, given, out)

    def _run(self, planned: _Planned, given: Sequence[Array], out: Array | None) -> Array:
        plan = planned.plan
        if out is None:
            out = new_array(plan.shape, plan.dtype)
        else:
            plan.check(out, list(given))
        if plan.native is None:  # the result has no elements
            return out
        inputs = [given[place] for place in planned.places if place >= 0]
        if planned.computed:
            keys = [leaf.key for leaf in self._arguments]
            found = evaluated(planned.computed, dict(zip(keys, given, strict=True)))
            sources = [np.broadcast_to(found[id(s)], int_extents(s)) for s in planned.computed]
            inputs += [np.asarray(a, order="C") for a in sources]  # of a scalar, ascontiguousarray makes a vector
        plan.run(plan.native, inputs, out)
        return out

    def _plan(
        self, given: Sequence[Array], out: Array | None, dims: Mapping[Any, Any] | None, threads: int | None
    ) -> _Planned | None:
        types = tuple(a.dtype for a in given)
        whole = all(a.flags.c_contiguous for a in (*given, *([] if out is None else [out])))
        misfit = any(s % a.itemsize for a in (*given, *([] if out is None else [out])) for s in a.strides)
        found = None if misfit else self.lowered(types, strided=not whole)
        if found is None:
            return None
        values = bind_shapes(self.tensor, [a.shape for a in given], dims)
        bound = self.tensor.bind(values)
        shape = int_extents(bound)
        native = None if 0 in shape else self.native(types, strided=not whole)
        if native is None and 0 not in shape:
            return None
        order = [leaf.key for leaf in self._arguments]
        places = tuple(order.index(s.key) if s.key in order else -1 for s in found.sources)
        nodes = {node.key: node for node in bound.graph()}
        graph = [node.key for node in self.tensor.graph()]
        again = dict(zip(graph, [node.key for node in bound.graph()], strict=True))
        computed = tuple(nodes[again[s.key]] for s, place in zip(found.sources, places, strict=True) if place < 0)
        arguments = tuple(values.values())
        if not whole:
            arguments += contiguous_strides(shape) if out is None else element_strides(out)
            for s, place in zip(found.sources, places, strict=True):
                if place >= 0:
                    arguments += element_strides(given[place])
                else:
                    arguments += contiguous_strides(int_extents(nodes[again[s.key]]))
        dtype = found.types[-1]
        used = worthwhile(self._threads if threads is None else threads, prod(shape) * dtype.itemsize)
        return _Planned(Plan(shape, dtype, arguments, native, None, values, used), places, computed)


def _key(given: Sequence[Array], out: Array | None, dims: Any, threads: int | None) -> Any:
    arrays = tuple([(a.shape, a.strides, a.dtype) for a in given])
    return arrays, None if out is None else (out.shape, out.strides), dims, threads
