"""Use a chain as an operator of PyTorch: one kernel, its gradient, and dynamic shapes under torch.compile.

pip install symlayout[torch]
python examples/torch_op.py
"""

from __future__ import annotations

import torch

import symlayout as sl
from symlayout.interop.torch import custom_op

N, C, H, W = sl.dims("N C H W")
image = sl.tensor((N, C, H, W), name="image")
windows = sl.transpose(sl.reshape(image, (N, C, H / 4, 4, W / 4, 4)), (0, 2, 4, 3, 5, 1))  # as in Swin
partition = custom_op("examples::window_partition", sl.reshape(windows, (N * H * W / 16, 16, C)))


def model(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of squares of each window."""
    return (partition(x) ** 2).sum(dim=(1, 2))


compiled = torch.compile(model, backend="aot_eager", dynamic=True, fullgraph=True)
for shape in [(2, 3, 8, 12), (3, 5, 16, 4)]:
    x = torch.randn(shape, requires_grad=True)
    y = compiled(x)
    y.sum().backward()
    assert x.grad is not None
    print(f"{shape}: {y.shape[0]} windows, gradient is 2*x: {torch.allclose(x.grad, 2 * x)}")
