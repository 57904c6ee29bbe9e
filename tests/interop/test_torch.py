"""A tensor as an operator of PyTorch: PyTorch's own checks of operators pass, values and gradients are right."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest

import symlayout as sl
from symlayout.errors import ArrayError, FormatError, ShapeError

torch: Any = pytest.importorskip("torch", reason="the extra torch is not installed")

from symlayout.interop.torch import custom_op  # noqa: E402  # needs torch

NUMBERS = itertools.count()


def operator(y: sl.Tensor) -> Any:
    return custom_op(f"symlayout_test::op{next(NUMBERS)}", y)


def blocks() -> sl.Tensor:
    return sl.space_to_depth(sl.pad(sl.tensor("N, C, H, W", name="x"), [(0, 0), (0, 0), (1, 1), (1, 1)]), 2)


def joined() -> sl.Tensor:
    pair = [sl.tensor("N, C", name="a"), sl.tensor("N, D", name="b")]
    return sl.repeat(sl.concatenate(pair, axis=1), sl.dim("r", min=1), axis=0)


def _table() -> sl.Tensor:
    """Return elements by a list of indices that is too long to be pieces: a table."""
    x = sl.tensor("N, C, H, W", dtype="float32", name="x")
    return sl.take(x, [k * k % 4 for k in range(70)], axis=2)


def arguments(*shapes: tuple[int, ...], dtype: Any = None, free: tuple[int, ...] = ()) -> tuple[Any, ...]:
    made = [torch.randn(*shape, dtype=dtype or torch.float64, requires_grad=True) for shape in shapes]
    return (*made, *free)


CASES = {
    "blocks": (blocks, arguments((2, 3, 4, 6))),
    "joined": (joined, arguments((2, 3), (2, 1), free=(3,))),
    "window": (lambda: sl.window(sl.tensor("L", name="s"), [3], axis=[0]), arguments((7,))),
    "flipped part": (lambda: sl.flip(sl.tensor("N, M", name="x"), 1)[1:, ::2], arguments((4, 5))),
    "table": (lambda: sl.take(sl.tensor("N, M", name="x"), [k * k % 5 for k in range(70)], 1), arguments((3, 5))),
    "fixed": (lambda: sl.transpose(sl.tensor((2, 3), name="x")), arguments((2, 3))),
}


@pytest.mark.parametrize("name", CASES)
def test_opcheck_and_gradients(name: str) -> None:
    make, given = CASES[name]
    op = operator(make())
    torch.library.opcheck(op, given)
    tensors, free = [x for x in given if not isinstance(x, int)], [x for x in given if isinstance(x, int)]
    assert torch.autograd.gradcheck(lambda *xs: op(*xs, *free), tensors)
    assert torch.autograd.gradgradcheck(lambda *xs: op(*xs, *free), tensors)


@pytest.mark.parametrize("name", CASES)
def test_values_are_the_interpreters(name: str) -> None:
    make, given = CASES[name]
    y = make()
    arrays = [x.detach().numpy() for x in given if not isinstance(x, int)]
    dims = {"r": given[-1]} if isinstance(given[-1], int) else None
    assert np.array_equal(operator(y)(*given).detach().numpy(), sl.interpret(y, *arrays, dims=dims))


def test_compiled_with_dynamic_shapes() -> None:
    op = operator(blocks())
    compiled = torch.compile(lambda x: op(2 * x).relu(), backend="aot_eager", dynamic=True, fullgraph=True)
    torch._dynamo.utils.counters.clear()
    for shape in [(2, 3, 4, 6), (3, 4, 8, 10), (5, 2, 2, 4), (4, 7, 6, 6)]:
        (x,) = arguments(shape)
        y = compiled(x)
        y.backward(torch.ones_like(y))
        assert torch.equal(y, op(2 * x).relu())
        assert torch.equal(x.grad, torch.where(x > 0, 2.0, 0.0))
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
    with pytest.raises(Exception, match=r"\(H \+ 2\) % 2 == 0 does not hold"):
        compiled(torch.zeros(2, 3, 3, 4))
    torch._dynamo.reset()  # what it keeps would complain when Python ends


def test_exported_with_dynamic_shapes() -> None:
    op = operator(blocks())

    class Model(torch.nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
        def forward(self, x: Any) -> Any:
            return op(x)

    dynamic = torch.export.Dim.DYNAMIC
    program = torch.export.export(
        Model(), arguments((2, 3, 4, 6)), dynamic_shapes=({0: dynamic, 1: dynamic, 2: dynamic, 3: dynamic},)
    )
    (x,) = arguments((3, 5, 8, 2))
    assert torch.equal(program.module()(x), op(x))


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float16", "int32", "bool", "complex64", "uint8"]
)
def test_element_types(dtype: str) -> None:
    if dtype in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        pytest.importorskip("ml_dtypes", reason="the extra ml_dtypes is not installed")
    y = sl.pad(sl.transpose(sl.tensor("N, M", name="x")), 1, mode="constant", constant_values=1)
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, dtype))
    found = operator(y)(x)
    assert found.dtype == x.dtype
    expected = torch.nn.functional.pad(x.float().T if dtype != "complex64" else x.T, (1, 1, 1, 1), value=1)
    assert torch.equal(found.to(expected.dtype), expected)


def test_gradient_of_bfloat16_is_summed_in_float32() -> None:
    pytest.importorskip("ml_dtypes", reason="the extra ml_dtypes is not installed")
    x = torch.ones(2, dtype=torch.bfloat16, requires_grad=True)
    operator(sl.repeat(sl.tensor("N", name="x"), 1000))(x).sum().backward()
    assert x.grad.dtype == torch.bfloat16
    assert x.grad.tolist() == [1000, 1000]


def test_views_conjugates_and_empty_tensors() -> None:
    op = operator(sl.transpose(sl.tensor("N, M", name="x")))
    x = torch.randn(6, 8, dtype=torch.complex64)
    assert torch.equal(op(x.T[1::2].conj()), x.T[1::2].conj().T.resolve_conj())
    assert op(torch.zeros(0, 3)).shape == (3, 0)


def test_errors_have_the_kinds_of_the_tensor() -> None:
    op = operator(blocks())
    with pytest.raises(ShapeError) as caught:
        op(torch.zeros(1, 1, 3, 4))
    assert caught.value.kind == "non_divisible"
    with pytest.raises(ArrayError, match=r"element types torch.float32, torch.float64"):
        operator(joined())(torch.zeros(1, 1), torch.zeros(1, 1, dtype=torch.float64), 1)
    with pytest.raises(FormatError, match="is not namespace::name"):
        custom_op("blocks", blocks())


def test_a_fill_that_is_not_0_has_no_second_derivative() -> None:
    op = operator(sl.pad(sl.tensor("N", name="x"), 1, constant_values=-1))
    (x,) = arguments((3,))
    (first,) = torch.autograd.grad((op(x) ** 2).sum(), x, create_graph=True)
    assert torch.equal(first, 2 * x)
    with pytest.raises(RuntimeError, match="no second derivative"):
        first.sum().backward()


def test_a_call_of_known_sizes_binds_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    H, W, p = sl.dims("H W p")
    plain = custom_op("symlayout_test::known_sizes", sl.transpose(sl.tensor((H, W), name="x")))
    free = custom_op("symlayout_test::known_dims", sl.pad(sl.tensor((H, W), name="x"), ((p, 0), (0, 0))))
    x = torch.arange(6.0).reshape(2, 3)
    first = plain(x), free(x, 2), free(x, 0)

    def bind(*_arguments: object) -> None:
        raise AssertionError("the tensor is bound again")

    monkeypatch.setattr(sl.Tensor, "bind", bind)
    again = plain(x), free(x, 2), free(x, 0)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert [tuple(a.shape) for a in again] == [(3, 2), (4, 3), (2, 3)]
    with pytest.raises(AssertionError, match="bound again"):
        plain(x.T)


def calls_of(f: Any) -> int:
    """Return how many functions of Python a call of *f* calls."""
    counted = 0

    def count(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal counted
        counted += event == "call"

    f()  # what is remembered is remembered now
    sys.setprofile(count)
    try:
        f()
    finally:
        sys.setprofile(None)
    return counted


def test_a_call_takes_no_more_of_python_than_an_empty_operator_of_pytorch() -> None:
    @torch.library.custom_op("symlayout_test::empty", mutates_args=(), schema="(Tensor x) -> Tensor")  # type: ignore[untyped-decorator]
    def empty(x: Any) -> Any:
        return torch.empty(x.shape)

    empty.register_autograd(lambda _, dy: empty(dy), setup_context=lambda ctx, inputs, output: None)
    op = custom_op("symlayout_test::same_shape", sl.flip(sl.tensor("N, M", name="x"), 1))
    x, dy = torch.ones(3, 4), torch.ones(3, 4)
    assert calls_of(lambda: op(x)) <= calls_of(lambda: empty(x)) + 8
    (y,) = arguments((3, 4), dtype=torch.float32)
    ours, theirs = (calls_of(lambda f=f: torch.autograd.grad(f(y), y, dy)) for f in (op, empty))
    assert ours <= 2 * theirs


def test_forward_mode_is_an_error() -> None:
    op, x = operator(blocks()), torch.ones(1, 2, 4, 4)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        with pytest.raises(NotImplementedError, match="forward mode"):
            op(dual)
    with pytest.raises(NotImplementedError):
        torch.func.jvp(op, (x,), (x,))


def test_a_name_is_registered_once() -> None:
    custom_op("symlayout_test::once", blocks())
    with pytest.raises(FormatError, match="symlayout_test::once is registered"):
        custom_op("symlayout_test::once", blocks())


def test_an_error_under_compile_names_the_sizes() -> None:
    compiled = torch.compile(operator(blocks()), backend="aot_eager", dynamic=True)
    with pytest.raises(Exception, match=r"\(W \+ 2\) % 2 == 0 does not hold for N = 2, C = 3, H = 6, W = 5"):
        compiled(torch.zeros(2, 3, 6, 5))
    torch._dynamo.reset()


def _rolled_part() -> sl.Tensor:
    return sl.roll(sl.tensor("N, C, H, W", dtype="float32", name="x"), (1, -2), (2, 3))[..., ::-3]


def _filled() -> sl.Tensor:
    x = sl.tensor("N, C, H, W", dtype="float32", name="x")
    return sl.pad(
        sl.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), constant_values=2.5)[:, :, ::2],
        ((0, 0), (0, 0), (1, 2), (2, 0)),
        mode="reflect",
    )


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("make", [blocks, _rolled_part, _filled, _table])
def test_an_operator_is_exported_as_standard_operators_of_onnx(make: Any, dynamic: bool) -> None:
    """The exported model has operators of ONNX alone; with dynamic shapes it is right at other sizes too."""
    pytest.importorskip("onnxscript", reason="PyTorch's exporter needs onnxscript")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime runs the exported model")
    op = operator(make())

    class Model(torch.nn.Module):  # type: ignore[misc]  # PyTorch's types are not read
        def forward(self, x: Any) -> Any:
            return op(x)

    dims = dict.fromkeys(range(4), torch.export.Dim.DYNAMIC)
    given = (torch.randn(2, 3, 4, 6),)
    program = torch.onnx.export(Model(), given, dynamo=True, verbose=False, dynamic_shapes=(dims,) if dynamic else None)
    model = program.model_proto
    assert {(node.domain, node.op_type.islower()) for node in model.graph.node} == {("", False)}
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for shape in [(2, 3, 4, 6), (1, 5, 8, 12), (3, 2, 6, 8)][: 3 if dynamic else 1]:
        x = torch.randn(*shape)
        (found,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
        assert np.array_equal(found, op(x).numpy())
