"""Make a tensor a PyTorch operator: a compiled kernel, its gradient, and shapes under ``torch.compile``."""

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

# Element types that NumPy lacks: an integer type of the same size, and the name in ml_dtypes.
_BITS = {
    torch.bfloat16: (torch.int16, "bfloat16"),
    torch.float8_e4m3fn: (torch.uint8, "float8_e4m3fn"),
    torch.float8_e5m2: (torch.uint8, "float8_e5m2"),
}

_MOST_SHAPES = 256  # of results that an operator remembers


def custom_op(name: str, y: sl.Tensor) -> Any:
    """Return *y* as a PyTorch operator, and register it as ``torch.ops.<namespace>.<name>``.

    The operator takes a CPU tensor with any strides for each input of *y*, in order of first use, and then an int for
    each dim that the shapes do not determine.  It returns a new contiguous tensor.  It is differentiable, and twice
    differentiable if all fills are 0.  It works in ``torch.compile`` and ``torch.export`` with dynamic shapes; the
    requirements of *y* become PyTorch's guards.

    Parameters
    ----------
    name : str
        ``"namespace::name"``.  Each name can be registered once in a process.
    y : Tensor
        The tensor that the operator computes.

    Raises
    ------
    FormatError
        *name* has another form, or a dim that must be passed has a name that PyTorch's schemas do not allow.

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
    """The operators of one tensor: one that computes it, and one for the gradient of each input."""

    def __init__(self, name: str, y: sl.Tensor) -> None:
        self.leaves = y.leaves()
        self._shapes: dict[tuple[Any, ...], tuple[int, ...]] = {}  # of results, by the sizes of a call
        self.shape = ShapeFunction(y, torch.sym_min, torch.sym_max)
        self.fills = any(c.fill and c.fill.value != 0 for n in y.nodes() if n.declared for c in n.declared.cases)
        for dim in self.shape.free:
            if not re.fullmatch(r"[A-Za-z]\w*", dim, re.ASCII):
                raise FormatError(f"dim {dim} must be an argument, but PyTorch does not allow this name for one")
        kernel = sl.compile(y)
        tensors = [f"Tensor x{k}" for k in range(len(self.leaves))]
        schema = f"({', '.join([*tensors, *(f'SymInt {dim}' for dim in self.shape.free)])}) -> Tensor"
        make = functools.partial(torch.library.custom_op, mutates_args=(), device_types="cpu")

        def forward(*arguments: Any) -> torch.Tensor:
            arrays, free = self._tensors_and_dims(arguments)
            return _run(kernel, arrays, free, self._checked_shape([a.shape for a in arrays], free))

        self.forward: Any = make(name, forward, schema=schema)
        self.forward.register_fake(self._fake)
        self.forward.register_autograd(self._backward, setup_context=self._save)
        self.gradients = [
            self._gradient(f"{name}_grad{k}", sl.adjoint(y, leaf), k, make) for k, leaf in self._real_inputs(y)
        ]

    def _real_inputs(self, y: sl.Tensor) -> list[tuple[int, sl.Tensor]]:
        """Return the inputs that can have a gradient, floats and complex numbers, each with its number."""
        return [(k, leaf) for k, leaf in enumerate(self.leaves) if leaf.dtype is None or leaf.dtype.kind in "fc"]

    def _gradient(self, name: str, adjoint: Adjoint, number: int, make: Any) -> Any:
        """Return the operator from the cotangent of the result and the value of each dim to that of input *number*."""
        names, kernel = list(self.shape.t.facts.dims), sl.compile(adjoint)

        def transposed(dy: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
            values = dict(zip(names, dims, strict=True))
            wide = dy.float() if dy.dtype in _BITS else dy  # add bfloat16 and float8 in float32, as PyTorch does
            return _run(kernel, [wide], values, self.shape.of(values, adjoint.leaf)).to(dy.dtype)

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

    def _tensors_and_dims(self, arguments: Sequence[Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """Split the arguments of a call into the tensors and the dims."""
        count = len(self.leaves)
        return list(arguments[:count]), dict(zip(self.shape.free, arguments[count:], strict=True))

    def _checked_shape(self, shapes: Sequence[Sequence[int]], free: dict[str, Any]) -> tuple[int, ...]:
        """Return the result's shape for known sizes; raise `ShapeError` if they break a requirement."""
        key = (*map(tuple, shapes), tuple(free.values()))
        found = self._shapes.get(key)
        if found is None:
            bound = self.shape.t.bind(bind_shapes(self.shape.t, [tuple(shape) for shape in shapes], free))
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            found = self._shapes[key] = bound.shape
        return found

    def _fake(self, *arguments: Any) -> torch.Tensor:
        """Return a tensor with the shape of the result and no data, for sizes that may be symbols."""
        tensors, free = self._tensors_and_dims(arguments)
        shapes = [x.shape for x in tensors]
        sizes = [n for shape in shapes for n in shape] + list(free.values())
        if all(type(n) is int for n in sizes):
            return tensors[0].new_empty(self._checked_shape(shapes, free))
        dims = self.shape.dims(shapes, free)
        for r in self.shape.requirements(dims, shapes):
            value = r.value % r.modulus if r.relation == "divides" else r.value
            holds = value >= 0 if r.relation == "nonnegative" else value == 0
            torch._check(holds, lambda rule=r.rule: f"symlayout: {rule} does not hold")
        return tensors[0].new_empty(self.shape.of(dims))

    def _save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors, free = self._tensors_and_dims(inputs)
        ctx.dims = list(self.shape.dims([x.shape for x in tensors], free).values())

    def _backward(self, ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        count = len(self.leaves)
        found: list[torch.Tensor | None] = [None] * (count + len(self.shape.free))
        for (k, _), gradient in zip(self._real_inputs(self.shape.t), self.gradients, strict=True):
            if ctx.needs_input_grad[k]:
                found[k] = gradient(dy, ctx.dims)
        return tuple(found)


def _run(kernel: sl.Kernel, tensors: list[torch.Tensor], dims: dict[str, Any], shape: Sequence[int]) -> torch.Tensor:
    """Return the result of the kernel in a new tensor of *shape*."""
    dtypes = {x.dtype for x in tensors}
    if len(dtypes) > 1:
        raise ArrayError(f"the tensors have element types {', '.join(sorted(map(str, dtypes)))}")
    out = torch.empty(tuple(shape), dtype=tensors[0].dtype)
    kernel(*(_array(x) for x in tensors), out=_array(out), dims=dims or None)  # a call without dims is remembered
    return out


def _array(x: torch.Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array over the memory of *x*."""
    x = x.detach().resolve_conj().resolve_neg()
    bits, name = _BITS.get(x.dtype, (x.dtype, None))
    array: np.ndarray[Any, Any] = x.view(bits).numpy()
    return array if name is None else array.view(element_type(name))
