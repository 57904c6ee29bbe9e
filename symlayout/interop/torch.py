"""A tensor as an operator of PyTorch: compiled forward, gradient by the adjoint, shapes under ``torch.compile``."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

import symlayout as sl
from symlayout.errors import ArrayError, FormatError, shown
from symlayout.interop.shape_function import ShapeFunction
from symlayout.maps.adjoint_map import Adjoint
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.element_types import element_type

# Element types that NumPy has not: the integers of their size, and their names in ml_dtypes.
_BITS = {
    torch.bfloat16: (torch.int16, "bfloat16"),
    torch.float8_e4m3fn: (torch.uint8, "float8_e4m3fn"),
    torch.float8_e5m2: (torch.uint8, "float8_e5m2"),
}


def custom_op(name: str, y: sl.Tensor) -> Any:
    """Return *y* as an operator of PyTorch, which is also ``torch.ops.<namespace>.<name>`` from then on.

    It takes a CPU tensor for each input of *y*, in order of first use, of any strides, and an int for each dim that
    the shapes do not determine; it returns a new contiguous tensor.  It can be differentiated, twice where fills are
    0, and stands in ``torch.compile`` and ``torch.export`` with dynamic shapes.  What *y* requires becomes a guard.

    Parameters
    ----------
    name : str
        ``"namespace::name"``; each name once in a process.
    y : Tensor
        What the operator computes.

    Raises
    ------
    FormatError
        *name* has another form, or a dim to be passed has a name that PyTorch's schemas do not take.

    Examples
    --------
    >>> blocks = custom_op("symlayout_doc::blocks", sl.space_to_depth(sl.tensor("N, C, H, W", name="x"), 2))
    >>> blocks(torch.zeros(1, 3, 4, 6)).shape
    torch.Size([1, 12, 2, 3])
    """
    if not re.fullmatch(r"[A-Za-z_]\w*::[A-Za-z_]\w*", name, re.ASCII):
        raise FormatError(f"operator name {shown(name)} is not namespace::name")
    return _Operator(name, y).forward


class _Operator:
    """The operators of one tensor: its own, and one for the gradient of each input."""

    def __init__(self, name: str, y: sl.Tensor) -> None:
        self.leaves = y.leaves()
        self.shape = ShapeFunction(y, torch.sym_min, torch.sym_max)
        self.fills = any(c.fill and c.fill.value != 0 for n in y.nodes() if n.declared for c in n.declared.cases)
        for dim in self.shape.free:
            if not re.fullmatch(r"[A-Za-z]\w*", dim, re.ASCII):
                raise FormatError(f"dim {dim} has to be passed, and its name is none for an argument")
        kernel = sl.compile(y)
        tensors = [f"Tensor x{k}" for k in range(len(self.leaves))]
        schema = f"({', '.join([*tensors, *(f'SymInt {dim}' for dim in self.shape.free)])}) -> Tensor"
        make = functools.partial(torch.library.custom_op, mutates_args=(), device_types="cpu")

        def forward(*arguments: Any) -> torch.Tensor:
            arrays, free = self._split(arguments)
            return _called(kernel, arrays, free, self._checked([a.shape for a in arrays], free))

        self.forward: Any = make(name, forward, schema=schema)
        self.forward.register_fake(self._fake)
        self.forward.register_autograd(self._backward, setup_context=self._save)
        self.gradients = [self._gradient(f"{name}_grad{k}", sl.adjoint(y, leaf), k, make) for k, leaf in self._real(y)]

    def _real(self, y: sl.Tensor) -> list[tuple[int, sl.Tensor]]:
        """Return the inputs that have a gradient, with their numbers: those of floats and complex numbers."""
        return [(k, leaf) for k, leaf in enumerate(self.leaves) if leaf.dtype is None or leaf.dtype.kind in "fc"]

    def _gradient(self, name: str, adjoint: Adjoint, number: int, make: Any) -> Any:
        """Return the operator from the cotangent of the result, and all dims, to that of input *number*."""
        names, kernel = list(self.shape.t.facts.dims), sl.compile(adjoint)

        def transposed(dy: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
            values = dict(zip(names, dims, strict=True))
            wide = dy.float() if dy.dtype in _BITS else dy  # as PyTorch, sums of short floats are made in float32
            return _called(kernel, [wide], values, self.shape.of(values, adjoint.leaf)).to(dy.dtype)

        def fake(dy: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
            return dy.new_empty(self.shape.of(dict(zip(names, dims, strict=True)), adjoint.leaf))

        def save(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            ctx.dims = dict(zip(names, inputs[1], strict=True))

        def backward(ctx: Any, ddx: torch.Tensor) -> tuple[torch.Tensor, None]:
            if self.fills:
                raise RuntimeError(
                    f"{name} has no second derivative, since {self.shape.t.name} has a fill that is not 0"
                )
            others = [ddx.new_zeros(self.shape.of(ctx.dims, leaf)) for leaf in self.leaves]
            others[number] = ddx
            return self.forward(*others, *(ctx.dims[dim] for dim in self.shape.free)), None

        operator = make(name, transposed, schema="(Tensor dy, SymInt[] dims) -> Tensor")
        operator.register_fake(fake)
        operator.register_autograd(backward, setup_context=save)
        return operator

    def _split(self, arguments: Sequence[Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """Return the tensors and the dims that are passed."""
        count = len(self.leaves)
        return list(arguments[:count]), dict(zip(self.shape.free, arguments[count:], strict=True))

    def _checked(self, shapes: Sequence[Sequence[int]], free: dict[str, Any]) -> tuple[int, ...]:
        """Return the shape of the result for known sizes; `ShapeError` with the kind of the rule that they break."""
        bound = self.shape.t.bind(bind_shapes(self.shape.t, [tuple(shape) for shape in shapes], free))
        return bound.shape

    def _fake(self, *arguments: Any) -> torch.Tensor:
        """Return a result without elements, for sizes that may be symbols."""
        tensors, free = self._split(arguments)
        shapes = [x.shape for x in tensors]
        sizes = [n for shape in shapes for n in shape] + list(free.values())
        if all(type(n) is int for n in sizes):
            return tensors[0].new_empty(self._checked(shapes, free))
        dims = self.shape.dims(shapes, free)
        for demand in self.shape.demands(dims, shapes):
            value = demand.value % demand.modulus if demand.relation == "divides" else demand.value
            holds = value >= 0 if demand.relation == "nonnegative" else value == 0
            torch._check(holds, lambda rule=demand.rule: f"symlayout: {rule} does not hold")
        return tensors[0].new_empty(self.shape.of(dims))

    def _save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors, free = self._split(inputs)
        ctx.dims = list(self.shape.dims([x.shape for x in tensors], free).values())

    def _backward(self, ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        count = len(self.leaves)
        found: list[torch.Tensor | None] = [None] * (count + len(self.shape.free))
        for (k, _), gradient in zip(self._real(self.shape.t), self.gradients, strict=True):
            if ctx.needs_input_grad[k]:
                found[k] = gradient(dy, ctx.dims)
        return tuple(found)


def _called(kernel: sl.Kernel, tensors: list[torch.Tensor], dims: dict[str, Any], shape: Sequence[int]) -> torch.Tensor:
    """Return the kernel's result in a new tensor, whose memory it writes."""
    dtypes = {x.dtype for x in tensors}
    if len(dtypes) > 1:
        raise ArrayError(f"the tensors have element types {', '.join(sorted(map(str, dtypes)))}")
    out = torch.empty(tuple(shape), dtype=tensors[0].dtype)
    kernel(*(_array(x) for x in tensors), out=_array(out), dims=dims)
    return out


def _array(x: torch.Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array over the memory of *x*."""
    x = x.detach().resolve_conj().resolve_neg()
    bits, name = _BITS.get(x.dtype, (x.dtype, None))
    array: np.ndarray[Any, Any] = x.view(bits).numpy()
    return array if name is None else array.view(element_type(name))
