"""The kernel of a tensor that is moved from computed values or constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from symlayout.maps.evaluate_bodies import evaluated
from symlayout.maps.gather_elements import int_extents
from symlayout.maps.interpreter import match_arrays
from symlayout.run.body_kernel import BodyKernel
from symlayout.run.call_plan import check_threads
from symlayout.run.kernel import DEFAULT_DTYPE, Kernel, check_is_array
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.chain import Tensor
from symlayout_codegen.forks import held_off

if TYPE_CHECKING:
    from symlayout.run.lower_bodies import Lowered

Array = np.ndarray[Any, Any]


class ComputedKernel(Kernel):
    """The kernel of a tensor that is moved from computed values or constants.

    The C function computes the last bodies that C can compute as NumPy does (`BodyKernel`).  Without such bodies, the
    C function moves the result alone.  The interpreter computes the other values.

    Attributes
    ----------
    tensor : Tensor
        The last movement, from leaves that stand for what is computed.
    whole : Tensor
        The tensor that the kernel computes.
    """

    def __init__(self, whole: Tensor, *options: Any) -> None:
        leaves = {leaf.key: _stand_in(leaf, f"v{k}") for k, leaf in enumerate(whole.leaves())}
        super().__init__(whole.replace(leaves), *options)
        self.whole, self.inputs = whole, whole.arguments()
        self._bodies = None if self._storage.halves else BodyKernel(whole, self._march, self._threads)

    @property
    def source(self) -> str:
        """The C code of the kernel for contiguous arrays of its element types (float32 where none is declared)."""
        with held_off:
            from symlayout_codegen.emit.printer import print_kernel

        found = self._computed()
        return super().source if found is None else print_kernel(found.nest, found.types[-1].itemsize)

    @property
    def schedule(self) -> str:
        """The schedule of the kernel in `source` as text: the choices, their reasons and the loops."""
        native = self._bodies.native(self._types(), strided=False) if self._bodies and self._computed() else None
        return super().schedule if native is None else native.schedule

    def _types(self) -> tuple[np.dtype[Any], ...]:
        """Return the element types of the inputs that are declared, or the default."""
        return tuple(leaf.dtype or self._dtype or DEFAULT_DTYPE for leaf in self.inputs)

    def _computed(self) -> Lowered | None:
        return self._bodies.lowered(self._types(), strided=False) if self._bodies else None

    def at_addresses(self, inputs: list[Array], out: Array, dims: Mapping[Any, Any] | None) -> None:
        """Return None: more than one C function computes the result."""

    def write(self, out: Array, inputs: list[Array], dims: Mapping[str, int]) -> bool:
        """Return False: more than one C function computes the result."""
        return False

    def __reduce__(self) -> tuple[Callable[..., Kernel], tuple[Any, ...]]:
        rebuild, (_, *options) = super().__reduce__()
        return rebuild, (self.whole, *options)

    def __call__(
        self,
        *arrays: Any,
        out: Array | None = None,
        dims: Mapping[Any, Any] | None = None,
        threads: int | None = None,
        **named: Any,
    ) -> Array:
        """Compute the sources and run the kernel; see `Kernel.__call__`."""
        if self._bodies is not None and not named and dims is None and threads is None:
            done = self._bodies.again(arrays, out)
            if done is not None:
                return done
        given = match_arrays(self.whole, arrays, named)
        if self._bodies is not None:
            if out is not None:
                check_is_array(out)
            done = self._bodies(given, out, dims, None if threads is None else check_threads(threads))
            if done is not None:
                return done
        values = bind_shapes(self.whole, [a.shape for a in given], dims)
        sources = self.whole.bind(values).leaves()
        keys = [leaf.key for leaf in self.whole.arguments()]
        found = evaluated(sources, dict(zip(keys, given, strict=True)))
        inner = [np.asarray(np.broadcast_to(found[id(s)], int_extents(s)), order="C") for s in sources]
        known = {name: v for name, v in values.items() if name in self._input.facts.dims}
        return super().__call__(*inner, out=out, dims=known, threads=threads)


def _stand_in(leaf: Tensor, name: str) -> Tensor:
    """Return an input with the shape and type of what is computed."""
    return Tensor(name, leaf.dtype, leaf.extents, leaf.facts, key=name)
