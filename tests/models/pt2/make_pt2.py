"""Make the files of torch.export in ``exported``, and what PyTorch computes of them: needs torch and onnxscript.

``python tests/models/pt2/make_pt2.py`` writes ``torch_*.pt2``, for networks ``torch_*.onnx``, and ``torch_*.npz`` with
arrays for the inputs and what PyTorch makes of them: ``in.NAME`` and ``out.0``, ``out.1``, ....
"""

# mypy: disable-error-code="import-untyped, import-not-found, no-untyped-call, misc"

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

FOLDER = Path(__file__).parent.parent / "exported"
AUTO, Dim = torch.export.Dim.AUTO, torch.export.Dim
_NOTES = ("stack_trace", "nn_module_stack", "source_fn_stack", "torch_fn")


class Calls(nn.Module):
    """What a function makes of tensors."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *xs: Any) -> Any:
        return self.function(*xs)


def save(name: str, module: nn.Module, inputs: tuple[Any, ...], axes: Any, onnx: bool = False) -> None:
    """Write a module, and what it makes of other inputs of one more along each dynamic axis."""
    torch.manual_seed(len(name))
    module.eval()
    for p in (*module.parameters(), *module.buffers()):
        if p.is_floating_point():
            p.data = torch.randn_like(p) * 0.3 + (1.0 if p.dim() == 1 else 0.0)
            p.data = p.data.abs() + 0.1 if p.dim() == 1 else p.data
    shapes = axes
    program = torch.export.export(module, inputs, dynamic_shapes=shapes)
    for node in program.graph.nodes:
        for key in _NOTES:
            node.meta.pop(key, None)
    torch.export.save(program, str(FOLDER / f"torch_{name}.pt2"))
    if onnx:
        torch.onnx.export(
            module,
            inputs,
            FOLDER / f"torch_{name}.onnx",
            dynamic_shapes=shapes,
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    names = [s.arg.name for s in program.graph_signature.input_specs if s.kind.name == "USER_INPUT"]
    given = [x.clone() for x in inputs]
    made = module(*[x.clone() for x in given])
    outputs = torch.utils._pytree.tree_leaves(made)
    arrays = {f"in.{n}": x.numpy() for n, x in zip(names, given, strict=True)}
    arrays |= {f"out.{k}": y.detach().numpy() for k, y in enumerate(outputs)}
    np.savez_compressed(FOLDER / f"torch_{name}.npz", **arrays)


def elementwise(x: Any, y: Any, n: Any, m: Any) -> list[Any]:
    """Return functions of single elements of floats *x* and *y*, integers *n* and truth values *m*."""
    p = x.abs() + 0.5
    inner = x.clamp(-0.9, 0.9)
    unary = [
        torch.abs,
        torch.neg,
        torch.relu,
        torch.sign,
        torch.square,
        torch.ceil,
        torch.floor,
        torch.round,
        torch.trunc,
        torch.exp,
        torch.expm1,
        torch.sin,
        torch.cos,
        torch.tan,
        torch.atan,
        torch.sinh,
        torch.cosh,
        torch.asinh,
        torch.tanh,
        torch.erf,
        torch.sigmoid,
        torch.reciprocal,
        F.relu6,
        F.silu,
        F.mish,
        F.softplus,
        F.softsign,
        F.elu,
        F.celu,
        F.selu,
        F.gelu,
        F.hardswish,
        F.hardsigmoid,
        F.hardtanh,
        F.hardshrink,
        F.softshrink,
        F.leaky_relu,
        F.logsigmoid,
        F.tanhshrink,
        torch.isnan,
        torch.isinf,
        torch.logical_not,
        torch.positive,
    ]
    of_integers = [torch.abs, torch.neg, torch.bitwise_not, torch.ceil, torch.sqrt, torch.sigmoid, torch.sign]
    comparisons = [torch.eq, torch.ne, torch.lt, torch.gt, torch.le, torch.ge]
    return [
        *(f(x) for f in unary),
        *(f(p) for f in (torch.log, torch.log2, torch.log10, torch.log1p, torch.sqrt, torch.rsqrt)),
        *(f(inner) for f in (torch.asin, torch.acos, torch.atanh)),
        torch.acosh(p + 1),
        torch.logit(inner, 0.3),
        *(f(n.abs()) if f is torch.sqrt else f(n) for f in of_integers),
        ~m,
        *(f(x, y) for f in comparisons),
        *(f(n, 2) for f in comparisons),
        *(f(x, 0.5) for f in comparisons),
        x + y,
        x + 2,
        torch.add(x, y, alpha=2),
        n + 1,
        n + 0.5,
        n + x,
        m + m,
        m + n,
        x - y,
        1 - x,
        n - 3,
        torch.sub(x, y, alpha=3),
        x * y,
        x * 2,
        n * n,
        m * m,
        m * x,
        x / p,
        x / 3,
        n / 2,
        n // 3,
        torch.div(n, 3, rounding_mode="trunc"),
        torch.div(x, p, rounding_mode="trunc"),
        torch.div(x, p, rounding_mode="floor"),
        n % 3,
        torch.fmod(x, p),
        torch.fmod(n, 3),
        x**2,
        p**0.5,
        p**y,
        n**2,
        2.0**x,
        torch.maximum(x, y),
        torch.minimum(n, n * 2),
        torch.clamp(x, -0.5, 0.5),
        torch.clamp(x, min=0.1),
        torch.clamp(n, max=1),
        torch.clamp(x, y, y + 1),
        n.clamp(0.5, 2),
        torch.where(m, x, y),
        torch.where(m, x, 0.0),
        torch.where(m, n, x),
        x.masked_fill(m, -1e9),
        n.masked_fill(m, 7),
        m & ~m,
        m | m,
        n & 3,
        n | 4,
        n ^ 5,
        m ^ m,
        torch.logical_and(m, x),
        torch.logical_or(m, n),
        torch.logical_xor(m, n),
        torch.addcmul(x, y, y, value=0.5),
        torch.addcdiv(x, y, p),
        torch.lerp(x, y, 0.25),
        torch.rsub(x, 2, alpha=2),
        F.gelu(x, approximate="tanh"),
        F.threshold(x, 0.2, -3.0),
        F.prelu(x, y[0, :1]),
        x.to(torch.float64),
        x.to(torch.int32),
        n.type_as(x),
        n.float(),
        m.int(),
        x.half().float(),
        F.elu(x, 0.7),
        F.softshrink(x, 0.2),
        F.celu(x, 0.7),
    ]


def along(x: Any, n: Any) -> list[Any]:
    """Return reductions, and what goes along an axis."""
    three = x[:, :, :3]
    return [
        x.sum(),
        x.sum(1),
        x.sum((0, 2), keepdim=True),
        n.sum(1),
        x.mean(),
        x.mean((1, 2)),
        x.mean(-1, keepdim=True),
        x.prod(2),
        n.prod(),
        x.amax((1, 2)),
        x.amin(1, keepdim=True),
        x.max(),
        x.min(),
        *x.max(1),
        *x.min(2, keepdim=True),
        x.argmax(),
        x.argmax(1),
        x.argmin(-1, keepdim=True),
        (x > 0).all(1),
        (x > 0).any(),
        (x > 2).any(2),
        (n > 0).all(),
        x.var(2),
        x.std(2),
        x.var((1, 2), correction=0),
        x.std(1, unbiased=False),
        *torch.var_mean(x, 2, correction=0),
        torch.linalg.vector_norm(x, dim=1),
        torch.linalg.vector_norm(x, 1, (1, 2), True),
        torch.norm(x, dim=2),
        torch.logsumexp(x, 1),
        x.softmax(-1),
        torch.softmax(x, 0),
        x.log_softmax(1),
        x.cumsum(1),
        n.cumsum(0),
        x.cumprod(2),
        *x.topk(2, 2),
        *x.topk(2, 2, largest=False),
        *x.sort(2),
        *x.sort(2, descending=True),
        x.argsort(2),
        F.glu(x[:, :, :4]),
        three.tril(),
        three.triu(1),
        F.normalize(x, dim=1),
        n.sum(dtype=torch.float32),
        x.sum(1, dtype=torch.float64),
    ]


def movement(x: Any, n: Any) -> list[Any]:
    """Return movements of *x* (b, 4, 6), and tensors that are made; *n* has coordinates (2, 3) below 4."""
    b = x.shape[0]
    row = torch.tensor([3, 0, 1])
    return [
        x.view(b, -1),
        x.view(-1, 3, 2),
        x.reshape(b * 4, 6),
        x.flatten(1),
        x.flatten(),
        x.unflatten(2, (2, 3)),
        x.unflatten(2, (-1, 2)),
        x.permute(2, 0, 1),
        x.transpose(1, 2),
        x[0].t(),
        x.movedim(0, 2),
        x.unsqueeze(1),
        x.unsqueeze(-1),
        x[:, :1].squeeze(1),
        x[:, :1].squeeze(),
        x[:, :1].expand(b, 5, 6),
        x[:, :1].expand(-1, 3, -1),
        x[:, :1].expand_as(x),
        x.repeat(1, 2, 1),
        x.repeat(2, 1, 1, 1),
        torch.tile(x, (2, 1)),
        x.repeat_interleave(2, 1),
        torch.cat([x, x * 2], 1),
        torch.stack([x, x * 2], 2),
        torch.stack([x, x], -1),
        x[:, 1],
        x[:, -1],
        x[:, 1:3],
        x[:, ::2],
        x[..., -2:],
        x[:, :, 1:100],
        x.narrow(2, 1, 3),
        *x.split(2, 1),
        *x.split([1, 3], 1),
        *x.chunk(3, 2),
        *x.unbind(1),
        x.flip(1),
        x.flip((1, 2)),
        x.roll(1, 1),
        x.roll((1, -1), (1, 2)),
        F.pad(x, (1, 2)),
        F.pad(x, (1, 2, 0, 1), value=3.0),
        F.pad(x, (-1, 1)),
        F.pad(x, (1, 2), mode="reflect"),
        F.pad(x, (1, 2), mode="replicate"),
        F.pad(x, (1, 2), mode="circular"),
        x.unfold(2, 3, 2),
        x.index_select(1, row),
        x[:, row],
        x[:, row, row],
        x[:, row[:, None], row],
        x[:, row, :, None],
        x[:, n],
        x[0, n],
        x[row % 2, :, row],
        x.gather(1, n[None, :, :3].expand(1, 2, 3).expand(b, 2, 3)),
        x.gather(2, n[None].expand(b, 2, 3)),
        x.scatter(1, n[None, :, :3].expand(b, 2, 3), 9.0),
        x.scatter(1, n[None].expand(b, 2, 3), x[:, :2, :3]),
        torch.where(x > 0, x, 0),
        x.masked_fill(x > 0, 0),
        x.clone(),
        x.contiguous(),
        x.detach(),
        torch.zeros(b, 2),
        torch.ones(2, 3, dtype=torch.int64),
        torch.full((b, 2), 1.5),
        torch.full((2,), 3),
        torch.zeros_like(x),
        torch.ones_like(n),
        torch.full_like(x, 2),
        x.new_zeros(b, 1),
        x.new_ones(2),
        x.new_full((2, b), 4),
        torch.arange(5),
        torch.arange(b),
        torch.arange(1, 7, 2),
        torch.arange(3, dtype=torch.float32),
        torch.eye(3),
        torch.arange(b)[:, None] + torch.arange(3),
        torch.scalar_tensor(2.5),
        F.pixel_shuffle(x[:, :, :, None].expand(b, 4, 6, 2), 2),
        F.pixel_unshuffle(x[:, :, :, None].expand(b, 4, 6, 2), 2),
        F.channel_shuffle(x, 2),
        x[:, None, 2],
        x.T if x.dim() == 2 else x,
        x.view(b, 2, 2, 6).permute(0, 2, 1, 3).reshape(b, 4, 6),
        x[:, [0, 2]],
        x.swapaxes(0, 1),
        x.view_as(x),
        x.type_as(n),
    ]


def written(x: Any) -> list[Any]:
    """Return what writes in place leave behind: in the value, in what it is a view of, in other views of that."""
    a = x.clone()
    a[:, 0] = 1.0
    a[:, 1:3, 2] += 2
    c = x.clone()
    rows = c.view(x.shape[0], -1)
    rows.mul_(2)
    turned = c.transpose(1, 2)
    turned[:, 1].add_(5)
    first, second = c.chunk(2, 1)
    first.relu_()
    d = x * 1
    e = d.unsqueeze(0)
    d.fill_(3.0)
    f = torch.zeros_like(x)
    f[:, 1:2].copy_(x[:, :1])
    g = x + 1
    h = F.relu(g, inplace=True)
    i = x.clone()
    i[i > 0] = 0.0
    j = x.clone().masked_fill_(x < 0, -1.0)
    j.clamp_(max=0.5).div_(2)
    k = x.clone()
    k[:, torch.tensor([0, 2])] = k[:, torch.tensor([1, 3])]
    q = x[0].clone()
    q[torch.tensor([0, 2])] = 7.0
    parts = x.clone().unbind(1)
    parts[1].sub_(1)
    return [a, c, rows, turned, second, d, e, f, g, h, i, j, q, torch.stack(parts)]


def layers(x: Any, q: Any, ids: Any) -> list[Any]:
    """Return layers without weights of their own."""
    w, v = torch.arange(24).view(4, 6) % 7 * 0.3 - 1, torch.arange(6) * 0.3 + 0.5
    image = x[:, :, None, :].expand(x.shape[0], 4, 6, 6) * v[:, None]
    kernel = torch.arange(72).view(2, 4, 3, 3) % 11 * 0.2 - 1
    turned = kernel.view(4, 2, 3, 3)
    return [
        F.linear(x, w),
        F.linear(x, w, w[:, 0]),
        x @ w.t(),
        torch.bmm(x, x.transpose(1, 2)),
        torch.mm(x[0], w.t()),
        torch.addmm(v[:4], x[0], w.t(), beta=0.5, alpha=2),
        torch.baddbmm(x[:, :, :4], x, x.transpose(1, 2)),
        x[0] @ v,
        torch.dot(v, v),
        torch.outer(v, v),
        torch.einsum("bij,kj->bik", x, w),
        torch.einsum("bij->bji", x),
        F.layer_norm(x, (6,)),
        F.layer_norm(x, (6,), v, v),
        F.layer_norm(x, (4, 6)),
        F.group_norm(x, 2),
        F.group_norm(x, 2, v[:4], v[:4]),
        F.instance_norm(x),
        F.instance_norm(x, weight=v[:4], bias=v[:4]),
        F.rms_norm(x, (6,), v, eps=1e-5),
        F.batch_norm(x, v[:4], v[:4], v[:4], v[:4]),
        F.batch_norm(image, v[:4], v[:4]),
        F.embedding(ids, w),
        F.dropout(x, 0.5, False),
        F.scaled_dot_product_attention(q, q, q),
        F.scaled_dot_product_attention(q, q, q, is_causal=True),
        F.scaled_dot_product_attention(q, q, q, q @ q.transpose(-1, -2)),
        F.scaled_dot_product_attention(q, q, q, scale=0.3),
        F.scaled_dot_product_attention(q, q, q, (q @ q.transpose(-1, -2)) > -5),
        F.scaled_dot_product_attention(x, x, x),
        F.conv2d(image, kernel),
        F.conv2d(image, kernel, v[:2], 2, 1),
        F.conv2d(image, kernel, padding="same"),
        F.conv2d(image, kernel.view(4, 2, 3, 3)[:, :1], None, 1, 1, 2, groups=4),
        F.conv1d(x, kernel[:, :, 0]),
        F.conv3d(image[:, :, None].expand(-1, -1, 4, -1, -1), kernel[:, :, None].expand(-1, -1, 2, -1, -1)),
        F.conv_transpose2d(image, turned),
        F.conv_transpose2d(image, turned, v[:2], 2, 1, 1),
        F.conv_transpose1d(x, turned[:, :, 0], stride=2),
        F.conv_transpose2d(image, turned.view(4, 2, 3, 3), groups=2, dilation=2),
        F.max_pool2d(image, 2),
        F.max_pool2d(image, 3, 2, 1),
        F.max_pool2d(image, 3, 2, 1, ceil_mode=True),
        F.max_pool1d(x, 2, dilation=2),
        *F.max_pool2d(image, 2, return_indices=True),
        F.max_pool3d(image[:, :, None].expand(-1, -1, 4, -1, -1), 2),
        F.avg_pool2d(image, 2),
        F.avg_pool2d(image, 3, 2, 1),
        F.avg_pool2d(image, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(image, 3, 2, 1, ceil_mode=True),
        F.avg_pool1d(x, 2),
        F.avg_pool3d(image[:, :, None].expand(-1, -1, 4, -1, -1), 2),
        F.adaptive_avg_pool2d(image, 1),
        F.adaptive_avg_pool2d(image, (3, 2)),
        F.adaptive_avg_pool2d(image, (4, 5)),
        F.adaptive_avg_pool1d(x, 3),
        F.interpolate(image, scale_factor=2),
        F.interpolate(image, (12, 3)),
        F.interpolate(image, scale_factor=2, mode="bilinear"),
        F.interpolate(image, (9, 4), mode="bilinear", align_corners=True),
        F.interpolate(image, (9, 4), mode="bilinear"),
        F.interpolate(image, (9, 4), mode="bicubic"),
        F.interpolate(x, scale_factor=2),
        F.interpolate(x, 9, mode="linear"),
        F.grid_sample(image, image.permute(0, 2, 3, 1)[..., :2].tanh(), align_corners=False),
        F.pad(image, (1, 1, 2, 2), mode="reflect"),
        F.pad(image, (1, 1, 2, 2), mode="replicate"),
    ]


class Recurrent(nn.Module):
    """Two layers of each kind, in two directions."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True)
        self.gru, self.rnn = nn.GRU(6, 3, 2), nn.RNN(3, 3, nonlinearity="relu", bias=False)
        self.weighted = nn.utils.weight_norm(nn.Conv1d(3, 4, 2))

    def forward(self, x: Any) -> Any:
        y, (h, c) = self.lstm(x)
        z, g = self.gru(y)
        r, s = self.rnn(z)
        return y, h, c, z, g, r, s, self.weighted(r.transpose(1, 2))


class Residual(nn.Module):
    """Convolutions with a shortcut, normalised; a pool; a product."""

    def __init__(self) -> None:
        super().__init__()
        self.begin, self.norm = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8)
        self.deep, self.wide = nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(8, 8, 1)
        self.other, self.end = nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, image: Any) -> Any:
        x = F.relu(self.norm(self.begin(image)), inplace=True)
        y = self.other(self.wide(self.deep(x)))
        y += x
        x = F.max_pool2d(F.relu(y), 2)
        return self.end(F.adaptive_avg_pool2d(x, 1).flatten(1))


class Block(nn.Module):
    """A block of a transformer, with learned places."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(20, 8), nn.Embedding(16, 8)
        self.norm, self.mixed, self.end = nn.LayerNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.other, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, ids: Any) -> Any:
        b, t = ids.shape
        x = self.words(ids) + self.places(torch.arange(t))
        q, k, v = self.mixed(self.norm(x)).view(b, t, 3, 2, 4).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.end(y.transpose(1, 2).reshape(b, t, 8))
        return x + self.down(F.gelu(self.up(self.other(x))))


class Patches(nn.Module):
    """Windows of images that are cut out, mixed and put together again, as shifted windows are."""

    def forward(self, image: Any) -> Any:
        b, c, h, w = image.shape
        x = image.roll((-1, -1), (2, 3)).view(b, c, h // 2, 2, w // 2, 2).permute(0, 2, 4, 3, 5, 1).reshape(-1, 4, c)
        x = torch.flip(x, (1,)).reshape(b, h // 2, w // 2, 2, 2, c).permute(0, 5, 1, 3, 2, 4).reshape(b, c, h, w)
        return F.pad(x.roll((1, 1), (2, 3)), (1, 0, 0, 1))


class Upsampled(nn.Module):
    """A smaller image that is enlarged again beside the first one."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 6, 3, 2, 1), nn.ConvTranspose2d(6, 3, 2, 2)
        self.end = nn.Conv2d(6, 2, 1)

    def forward(self, image: Any) -> Any:
        x = F.silu(self.down(image))
        with torch.no_grad():
            y = torch.sigmoid(x)
        z = torch.cat([self.up(x), F.interpolate(y[:, :3], scale_factor=2.0)], 1)
        return self.end(z), x[:, ::2, 1:-1]


def main() -> None:
    """Write all files."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    x, y, n = torch.randn(3, 5), torch.randn(3, 5), torch.randint(-4, 5, (3, 5))
    batch = {0: AUTO}
    save("elementwise", Calls(elementwise), (x, y, n, x > 0), ((batch, batch, batch, batch),))
    save("along_axes", Calls(along), (torch.randn(3, 4, 5), torch.randint(-4, 5, (3, 4))), ((batch, batch),))
    save("movement", Calls(movement), (torch.randn(3, 4, 6), torch.randint(0, 4, (2, 3))), ((batch, None),))
    save("written", Calls(written), (torch.randn(3, 4, 6),), ((batch,),))
    wide = torch.randn(3, 4, 6), torch.randn(3, 2, 5, 4), torch.randint(0, 4, (3, 2))
    save("layers", Calls(layers), wide, ((batch, batch, batch),))
    save("recurrent", Recurrent(), (torch.randn(3, 5, 4),), (batch,))
    image = torch.randn(2, 3, 8, 12)
    space = {0: Dim("n", min=1, max=64), 2: AUTO, 3: AUTO}
    save("residual", Residual(), (image,), (space,), onnx=True)
    save("block", Block(), (torch.randint(0, 20, (2, 7)),), ({0: AUTO, 1: Dim("t", min=2, max=16)},), onnx=True)
    half = {0: AUTO, 2: 2 * Dim("h", min=2), 3: 2 * Dim("w", min=2)}
    save("patches", Patches(), (image,), (half,), onnx=True)
    save("upsampled", Upsampled(), (image,), (half,), onnx=True)


if __name__ == "__main__":
    main()
