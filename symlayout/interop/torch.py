"""Make a tensor a PyTorch operator: a compiled kernel, its gradient, and shapes under ``torch.compile``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import symlayout as sl
from symlayout.algebra.table import Table
from symlayout.errors import ArrayError, FormatError, shown
from symlayout.interop.array_moves import Part, assembled, parts_of, whole
from symlayout.interop.shape_function import ShapeFunction
from symlayout.maps.adjoint_map import Adjoint
from symlayout.tensors.bind_dims import bind_shapes
from symlayout.tensors.element_types import element_type, fill_element

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
    requirements of *y* become PyTorch's guards.  ``torch.onnx.export`` writes pads, reshapes, transposes and, where
    those do not suffice, gathers of ONNX; with dynamic shapes, the requirements and that inputs are not empty are not
    checked in the model.

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
        self._shapes: dict[tuple[Any, ...], tuple[tuple[int, ...], list[int]]] = {}  # see `_known`
        self.shape = ShapeFunction(y, torch.sym_min, torch.sym_max)
        self._exported = ShapeFunction(y, _minimum, _maximum, _floor_div)
        self.fills = any(c.fill and c.fill.value != 0 for n in y.nodes() if n.declared for c in n.declared.cases)
        for dim in self.shape.free:
            if not re.fullmatch(r"[A-Za-z]\w*", dim, re.ASCII):
                raise FormatError(f"dim {dim} must be an argument, but PyTorch does not allow this name for one")
        self._run = _Kernel(sl.compile(y))
        tensors = [f"Tensor x{k}" for k in range(len(self.leaves))]
        schema = f"({', '.join([*tensors, *(f'SymInt {dim}' for dim in self.shape.free)])}) -> Tensor"
        self.forward: Any = _defined(
            name, schema, self._forward, self._fake, len(self.leaves), self._save, self._backward
        )
        torch._decomp.register_decomposition(self.forward)(self._in_operators)  # ONNX's exporter asks for it
        self.gradients = [self._gradient(f"{name}_grad{k}", sl.adjoint(y, leaf), k) for k, leaf in self._real_inputs(y)]

    def _real_inputs(self, y: sl.Tensor) -> list[tuple[int, sl.Tensor]]:
        """Return the inputs that can have a gradient, floats and complex numbers, each with its number."""
        return [(k, leaf) for k, leaf in enumerate(self.leaves) if leaf.dtype is None or leaf.dtype.kind in "fc"]

    def _gradient(self, name: str, adjoint: Adjoint, number: int) -> Any:
        """Return the operator from the cotangent of the result and the value of each dim to that of input *number*."""
        names, run = list(self.shape.t.facts.dims), _Kernel(sl.compile(adjoint))
        shapes: dict[tuple[int, ...], tuple[int, ...]] = {}

        def transposed(dy: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
            key = tuple(dims)
            values = dict(zip(names, key, strict=True))
            if key not in shapes:
                if len(shapes) >= _MOST_SHAPES:
                    shapes.clear()
                shapes[key] = tuple(self.shape.of(values, adjoint.leaf))
            wide = dy.float() if dy.dtype in _BITS else dy  # add bfloat16 and float8 in float32, as PyTorch does
            found = run([wide], values, shapes[key])
            return found if wide is dy else found.to(dy.dtype)

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

        return _defined(name, "(Tensor dy, SymInt[] dims) -> Tensor", transposed, fake, 1, save, backward)

    def _forward(self, *arguments: Any) -> torch.Tensor:
        count = len(self.leaves)
        out = self._run.again(arguments[:count], arguments[count:])
        if out is None:
            tensors, free = self._tensors_and_dims(arguments)
            out = self._run(tensors, free, self._known([x.shape for x in tensors], free)[0])
        return out

    def _in_operators(self, *arguments: Any) -> torch.Tensor:
        """Return the result by operators of PyTorch, for sizes that may be symbols."""
        tensors, free = self._tensors_and_dims(arguments)
        shapes = [x.shape for x in tensors]
        if len(dtypes := {x.dtype for x in tensors}) > 1:
            raise _mixed(dtypes)
        t = self.shape.t
        part: Part
        if _are_known(shapes, free):
            self._known(shapes, free)  # raises a ShapeError for shapes that do not fit
            dims = self.shape.dims(shapes, free)
            part = parts_of(t.bind(dims))
        else:
            self._guarded(shapes, free)  # fake tensors are made by this function too
            dims = self._exported.dims(shapes, free)
            part = whole(t)
        by_key = dict(zip((leaf.key for leaf in self.leaves), tensors, strict=True))
        return assembled(_Torch(tensors[0].device), part, self._exported, dims, by_key)

    def _tensors_and_dims(self, arguments: Sequence[Any]) -> tuple[list[torch.Tensor], dict[str, Any]]:
        """Split the arguments of a call into the tensors and the dims."""
        count = len(self.leaves)
        return list(arguments[:count]), dict(zip(self.shape.free, arguments[count:], strict=True))

    def _known(self, shapes: Sequence[Sequence[int]], free: dict[str, Any]) -> tuple[tuple[int, ...], list[int]]:
        """Return the result's shape and the dims for known sizes; raise `ShapeError` if they break a requirement."""
        key = (*shapes, *free.values())
        found = self._shapes.get(key)
        if found is None:
            bound = self.shape.t.bind(bind_shapes(self.shape.t, [tuple(shape) for shape in shapes], free))
            if len(self._shapes) >= _MOST_SHAPES:
                self._shapes.clear()
            found = self._shapes[key] = bound.shape, list(self.shape.dims(shapes, free).values())
        return found

    def _fake(self, *arguments: Any) -> torch.Tensor:
        """Return a tensor with the shape of the result and no data, for sizes that may be symbols."""
        tensors, free = self._tensors_and_dims(arguments)
        shapes = [x.shape for x in tensors]
        if _are_known(shapes, free):
            return tensors[0].new_empty(self._known(shapes, free)[0])
        return tensors[0].new_empty(self.shape.of(self._guarded(shapes, free)))

    def _guarded(self, shapes: Sequence[Sequence[Any]], free: dict[str, Any]) -> dict[str, Any]:
        """Return the value of each dim; make the requirements guards of PyTorch."""
        dims = self.shape.dims(shapes, free)
        for r in self.shape.requirements(dims, shapes):
            value = r.value % r.modulus if r.relation == "divides" else r.value
            holds = value >= 0 if r.relation == "nonnegative" else value == 0
            torch._check(holds, lambda rule=r.rule: f"symlayout: {rule} does not hold for {_spelled(dims)}")
        return dims

    def _save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        tensors, free = self._tensors_and_dims(inputs)
        shapes = [x.shape for x in tensors]
        known = _are_known(shapes, free)
        ctx.dims = self._known(shapes, free)[1] if known else list(self.shape.dims(shapes, free).values())

    def _backward(self, ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        count = len(self.leaves)
        found: list[torch.Tensor | None] = [None] * (count + len(self.shape.free))
        for (k, _), gradient in zip(self._real_inputs(self.shape.t), self.gradients, strict=True):
            if ctx.needs_input_grad[k]:
                found[k] = gradient(dy, ctx.dims)
        return tuple(found)


def _are_known(shapes: Sequence[Sequence[Any]], free: dict[str, Any]) -> bool:
    return all(type(n) is int for shape in shapes for n in shape) and all(type(n) is int for n in free.values())


def _spelled(dims: dict[str, Any]) -> str:
    """Return the sizes as text; of a symbol, the size that it stands for while the graph is traced."""
    hints = {name: n if isinstance(n, int) else getattr(n.node, "hint", n) for name, n in dims.items()}
    return ", ".join(f"{name} = {n}" for name, n in hints.items())


_LIBRARIES: list[Any] = []  # an operator lives as long as its library


def _defined(
    name: str,
    schema: str,
    compute: Callable[..., torch.Tensor],
    fake: Callable[..., torch.Tensor],
    count: int,
    save: Callable[..., None],
    backward: Callable[..., Any],
) -> Any:
    """Register an operator with a gradient, and return it.

    `torch.library.custom_op` does the same; its wrappers in Python take longer than most kernels.

    Parameters
    ----------
    compute, fake : functions of the operator's arguments
        The result on the CPU, and a tensor of its shape.
    count : int
        How many of the arguments are tensors; they come first.
    save, backward : functions
        As in `torch.library.register_autograd`.
    """
    namespace, _, short = name.partition("::")
    if hasattr(getattr(torch.ops, namespace), short):
        raise FormatError(f"operator {name} is registered in this process already")
    library = torch.library.Library(namespace, "FRAGMENT")
    _LIBRARIES.append(library)
    library.define(short + schema, tags=[torch.Tag.pt2_compliant_tag, torch.Tag.needs_fixed_stride_order])
    operator = getattr(getattr(torch.ops, namespace), short).default
    below = torch._C._AutoDispatchBelowAutograd
    dual = torch.autograd.forward_ad

    class Differentiable(torch.autograd.Function):  # type: ignore[misc]  # PyTorch's types are not read
        """The operator, and the operator of its gradient.  There is no forward mode: PyTorch raises an error."""

        @staticmethod
        def forward(*arguments: Any) -> torch.Tensor:
            with below():
                result: torch.Tensor = operator(*arguments)
            return result

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            save(ctx, inputs, output)

        @staticmethod
        def backward(ctx: Any, dy: torch.Tensor) -> Any:
            return backward(ctx, dy)

    def differentiated(*arguments: Any) -> torch.Tensor:
        wanted = torch.is_grad_enabled() and any(x.requires_grad for x in arguments[:count])
        if wanted or dual._current_level >= 0:
            result: torch.Tensor = Differentiable.apply(*arguments)
            return result
        with below():
            return operator(*arguments)

    library.impl(short, compute, "CPU")
    library.impl(short, differentiated, "Autograd")
    torch.library.register_fake(name, fake, lib=library)
    return operator


class _Kernel:
    """A compiled kernel on tensors.  A call with known sizes is remembered, and made with addresses."""

    def __init__(self, kernel: sl.Kernel) -> None:
        self._kernel = kernel
        self._calls: dict[tuple[Any, ...], tuple[Callable[..., int], tuple[int, ...]] | None] = {}

    def again(self, tensors: Sequence[torch.Tensor], dims: Sequence[Any]) -> torch.Tensor | None:
        """Return the result of a call like one before; None if there was none, or a tensor is not contiguous."""
        found = self._calls.get((*[x.shape for x in tensors], *[x.dtype for x in tensors], *dims))
        if found is None:
            return None
        for x in tensors:
            if not x.is_contiguous() or x.is_conj() or x.is_neg():
                return None
        call, shape = found
        out = torch.empty(shape, dtype=tensors[0].dtype)
        call(*[x.data_ptr() for x in tensors], out.data_ptr())
        return out

    def __call__(self, tensors: Sequence[torch.Tensor], dims: dict[str, Any], shape: tuple[int, ...]) -> torch.Tensor:
        """Return the result in a new tensor of *shape*."""
        if (out := self.again(tensors, [*dims.values()])) is not None:
            return out
        if len(dtypes := {x.dtype for x in tensors}) > 1:
            raise _mixed(dtypes)
        out = torch.empty(shape, dtype=tensors[0].dtype)
        arrays, written = [_array(x) for x in tensors], _array(out)
        self._kernel(*arrays, out=written, dims=dims or None)
        key = (*[x.shape for x in tensors], *[x.dtype for x in tensors], *dims.values())
        if key not in self._calls and all(a.flags.c_contiguous for a in arrays):
            if len(self._calls) >= _MOST_SHAPES:
                self._calls.clear()
            call = self._kernel.at_addresses(arrays, written, dims)
            self._calls[key] = None if call is None else (call, shape)
        return out


def _mixed(dtypes: set[torch.dtype]) -> ArrayError:
    return ArrayError(f"the tensors have element types {', '.join(sorted(map(str, dtypes)))}")


class _Torch:
    """The moves of `array_moves` in PyTorch's operators, on one device."""

    def __init__(self, device: torch.device) -> None:
        self._device = device

    def pad(self, x: torch.Tensor, widths: Sequence[tuple[Any, Any]], value: Any) -> torch.Tensor:
        return torch.nn.functional.pad(x, [n for pair in reversed(widths) for n in pair], value=value)

    def reshape(self, x: torch.Tensor, shape: Sequence[Any]) -> torch.Tensor:
        return x.reshape(tuple(shape))

    def transpose(self, x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
        return x.permute(tuple(axes))

    def flip(self, x: torch.Tensor, axes: Sequence[int]) -> torch.Tensor:
        return x.flip(tuple(axes))

    def broadcast_to(self, x: torch.Tensor, shape: Sequence[Any]) -> torch.Tensor:
        return x.expand(tuple(shape))

    def concatenate(self, arrays: Sequence[torch.Tensor], axis: int) -> torch.Tensor:
        return torch.cat(list(arrays), axis)

    def value(self, fill: Any, like: torch.Tensor) -> Any:
        if like.dtype in _BITS:
            return float(fill_element(fill, element_type(_BITS[like.dtype][1])))
        return fill_element(fill, np.dtype(str(like.dtype).removeprefix("torch."))).item()

    def full(self, shape: Sequence[Any], value: Any, like: torch.Tensor) -> torch.Tensor:
        return torch.full(tuple(shape), value, dtype=like.dtype, device=self._device)

    def coordinate(self, shape: Sequence[Any], axis: int) -> torch.Tensor:
        return torch.arange(shape[axis], device=self._device).reshape([-1] + [1] * (len(shape) - 1 - axis))

    def integer(self, size: Any) -> torch.Tensor:
        return torch.full((), size, dtype=torch.int64, device=self._device)

    def entry(self, table: Table, at: Any) -> torch.Tensor:
        at = at if isinstance(at, torch.Tensor) else self.integer(at)
        # An exported program has no place for a tensor that its operators make at once: they fill one entry each.
        return torch.cat([self.integer(n).reshape(1) for n in table.values])[at.clamp(0, len(table.values) - 1)]

    def take(self, x: torch.Tensor, coords: Sequence[Any], shape: Sequence[Any]) -> torch.Tensor:
        if not coords:
            return x.expand(tuple(shape))
        at = [c if isinstance(c, torch.Tensor) else self.integer(c) for c in coords]
        return x[tuple(c.clamp(0, n - 1).expand(tuple(shape)) for c, n in zip(at, x.shape, strict=True))]

    def where(self, condition: Any, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        if isinstance(condition, torch.Tensor):
            return torch.where(condition, a, b)
        return a if condition else b


def _minimum(a: Any, b: Any) -> Any:
    """Return the minimum of sizes, or of coordinates in tensors."""
    if isinstance(a, torch.Tensor):
        return a.clamp(max=b)
    return b.clamp(max=a) if isinstance(b, torch.Tensor) else torch.sym_min(a, b)


def _maximum(a: Any, b: Any) -> Any:
    if isinstance(a, torch.Tensor):
        return a.clamp(min=b)
    return b.clamp(min=a) if isinstance(b, torch.Tensor) else torch.sym_max(a, b)


def _floor_div(a: Any, b: Any) -> Any:
    """Return ``a // b`` as a quotient without a remainder: ONNX's division rounds towards 0."""
    return a // b if isinstance(a, int) and isinstance(b, int) else (a - a % b) // b


def _array(x: torch.Tensor) -> np.ndarray[Any, Any]:
    """Return a NumPy array over the memory of *x*."""
    x = x.detach().resolve_conj().resolve_neg()
    bits, name = _BITS.get(x.dtype, (x.dtype, None))
    array: np.ndarray[Any, Any] = x.view(bits).numpy()
    return array if name is None else array.view(element_type(name))
