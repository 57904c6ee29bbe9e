"""Export small networks of known architectures to ``tests/models/exported``: ``python -m tests.models.make_exported``.

Weights are random and configurations small.  Each network is exported with a dynamic batch, and with all extents
dynamic that its architecture allows; some by the newer exporter too.  Needs torch and onnxscript.
"""

# mypy: disable-error-code="misc"

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

FOLDER = Path(__file__).parent / "exported"
OPSET = 17


def conv(i: int, o: int, k: int = 3, s: int = 1, g: int = 1, act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    return nn.Sequential(nn.Conv2d(i, o, k, s, k // 2, groups=g, bias=False), nn.BatchNorm2d(o), act())


class BasicBlock(nn.Module):
    def __init__(self, i: int, o: int, s: int) -> None:
        super().__init__()
        self.a, self.b = conv(i, o, 3, s), conv(o, o, 3, act=nn.Identity)
        self.short = conv(i, o, 1, s, act=nn.Identity) if s > 1 or i != o else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(self.b(self.a(x)) + self.short(x))


def resnet() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3), nn.ReLU(), nn.MaxPool2d(3, 2, 1), BasicBlock(8, 8, 1), BasicBlock(8, 16, 2),
        BasicBlock(16, 16, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten(1), nn.Linear(16, 10),
    )  # fmt: skip


class Inverted(nn.Module):
    def __init__(self, i: int, o: int, s: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv(i, 4 * i, 1, act=nn.ReLU6), conv(4 * i, 4 * i, 3, s, 4 * i, nn.Hardswish),
                                  conv(4 * i, o, 1, act=nn.Identity))  # fmt: skip
        self.same = s == 1 and i == o

    def forward(self, x: Tensor) -> Tensor:
        return x + self.body(x) if self.same else self.body(x)


def mobilenet() -> nn.Module:
    return nn.Sequential(conv(3, 8, 3, 2), Inverted(8, 8, 1), Inverted(8, 12, 2), Inverted(12, 12, 1),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 10))  # fmt: skip


def shuffled(x: Tensor, groups: int) -> Tensor:
    b, c, h, w = x.shape
    return x.view(b, groups, c // groups, h, w).transpose(1, 2).contiguous().view(b, c, h, w)


class ShuffleUnit(nn.Module):
    def __init__(self, c: int, s: int) -> None:
        super().__init__()
        self.s = s
        i = c if s > 1 else c // 2
        self.right = nn.Sequential(conv(i, c // 2, 1), conv(c // 2, c // 2, 3, s, c // 2), conv(c // 2, c // 2, 1))
        self.left = nn.Sequential(conv(c, c, 3, s, c), conv(c, c // 2, 1)) if s > 1 else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        if self.s > 1:
            return shuffled(torch.cat((self.left(x), self.right(x)), 1), 2)
        a, b = x.chunk(2, dim=1)
        return shuffled(torch.cat((a, self.right(b)), 1), 2)


def shufflenet() -> nn.Module:
    return nn.Sequential(conv(3, 16, 3, 2), ShuffleUnit(16, 2), ShuffleUnit(16, 1), nn.AdaptiveAvgPool2d(1))


class Attention(nn.Module):
    def __init__(self, c: int, heads: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(c, 3 * c), nn.Linear(c, c)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        scores = q @ k.transpose(-2, -1) * (c // self.heads) ** -0.5
        if mask is not None:
            scores = scores + mask
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, c))


class Block(nn.Module):
    def __init__(self, c: int, heads: int) -> None:
        super().__init__()
        self.a, self.b = nn.LayerNorm(c), nn.LayerNorm(c)
        self.attention = Attention(c, heads)
        self.mlp = nn.Sequential(nn.Linear(c, 2 * c), nn.GELU(), nn.Linear(2 * c, c))

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.a(x))
        return x + self.mlp(self.b(x))


class ViT(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch, self.cls = nn.Conv2d(3, 16, 8, 8), nn.Parameter(torch.zeros(1, 1, 16))
        self.pos, self.blocks = nn.Parameter(torch.zeros(1, 17, 16)), nn.Sequential(Block(16, 2), Block(16, 2))
        self.head = nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), 1) + self.pos
        return self.head(self.blocks(x)[:, 0])


class Swin(nn.Module):
    """Windows, shifted by a roll, of a feature map."""

    def __init__(self, window: int = 4, shift: int = 2) -> None:
        super().__init__()
        self.window, self.shift, self.attention, self.norm = window, shift, Attention(16, 2), nn.LayerNorm(16)
        self.embed, self.merge = nn.Conv2d(3, 16, 4, 4), nn.Linear(64, 32)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x).permute(0, 2, 3, 1)
        b, h, w, c = x.shape
        k = self.window
        y = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        y = y.view(b, h // k, k, w // k, k, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, k * k, c)
        y = self.attention(y)
        y = y.view(b, h // k, w // k, k, k, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        x = x + torch.roll(y, (self.shift, self.shift), (1, 2))
        parts = [x[:, i::2, j::2] for j in (0, 1) for i in (0, 1)]
        return self.merge(torch.cat(parts, -1))


class Bert(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.word, self.place, self.norm = nn.Embedding(100, 16), nn.Embedding(64, 16), nn.LayerNorm(16)
        self.attention, self.block, self.pool = Attention(16, 4), Block(16, 4), nn.Linear(16, 16)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        n = ids.shape[1]
        x = self.norm(self.word(ids) + self.place(torch.arange(n, device=ids.device).unsqueeze(0)))
        hidden = (1.0 - mask[:, None, None, :].to(x.dtype)) * -10000.0
        x = self.block(x + self.attention(x, hidden))
        return x, torch.tanh(self.pool(x[:, 0]))


class Llama(nn.Module):
    """One layer with rotary positions, grouped keys and a causal mask."""

    def __init__(self, heads: int = 4, groups: int = 2, size: int = 8) -> None:
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, size
        self.word = nn.Embedding(50, 32)
        self.q, self.k, self.v = nn.Linear(32, heads * size), nn.Linear(32, groups * size), nn.Linear(32, groups * size)
        self.o, self.gate, self.up, self.down = (nn.Linear(a, b) for a, b in ((32, 32), (32, 48), (32, 48), (48, 32)))
        self.weight = nn.Parameter(torch.ones(32))
        self.register_buffer("rates", 1.0 / 10000 ** (torch.arange(0, size, 2).float() / size))

    def norm(self, x: Tensor) -> Tensor:
        return self.weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def turned(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        a, b = x[..., : self.size // 2], x[..., self.size // 2 :]
        return x * cos + torch.cat((-b, a), -1) * sin

    def repeated(self, x: Tensor) -> Tensor:
        b, g, n, d = x.shape
        count = self.heads // self.groups
        return x[:, :, None].expand(b, g, count, n, d).reshape(b, g * count, n, d)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.word(ids)
        b, n, c = x.shape
        angles = torch.arange(n, device=x.device).float()[:, None] * self.rates[None]
        angles = torch.cat((angles, angles), -1)
        cos, sin = angles.cos()[None, None], angles.sin()[None, None]
        y = self.norm(x)
        q = self.q(y).view(b, n, self.heads, self.size).transpose(1, 2)
        k, v = (f(y).view(b, n, self.groups, self.size).transpose(1, 2) for f in (self.k, self.v))
        q, k, v = self.turned(q, cos, sin), self.repeated(self.turned(k, cos, sin)), self.repeated(v)
        mask = torch.triu(torch.full((n, n), -1e9, device=x.device), 1)
        scores = (q @ k.transpose(2, 3) / self.size**0.5 + mask).softmax(-1)
        x = x + self.o((scores @ v).transpose(1, 2).reshape(b, n, c))
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class UNet(nn.Module):
    def __init__(self, transposed: bool = False) -> None:
        super().__init__()
        self.a, self.b, self.c, self.d = (
            conv(3, 8),
            conv(8, 16),
            conv(24 if not transposed else 16, 8),
            nn.Conv2d(8, 2, 1),
        )
        self.up = nn.ConvTranspose2d(16, 8, 2, 2) if transposed else nn.Upsample(scale_factor=2)

    def forward(self, x: Tensor) -> Tensor:
        a = self.a(x)
        b = self.up(self.b(F.max_pool2d(a, 2)))
        return self.d(self.c(torch.cat((a, b), 1)))


def espcn() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.Tanh(), nn.Conv2d(8, 9, 3, padding=1), nn.PixelShuffle(3))


class Focus(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = conv(12, 8, act=nn.SiLU)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(torch.cat([x[..., i::2, j::2] for j in (0, 1) for i in (0, 1)], 1))


class DeepLab(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 8, 3, 2), conv(8, 16, 3, 2))
        self.rates = nn.ModuleList(nn.Conv2d(16, 8, 3, padding=d, dilation=d) for d in (1, 2, 4))
        self.image, self.head = nn.Conv2d(16, 8, 1), nn.Conv2d(32, 3, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.stem(x)
        whole = F.interpolate(self.image(F.adaptive_avg_pool2d(y, 1)), size=y.shape[-2:], mode="bilinear")
        y = self.head(torch.cat([*(f(y) for f in self.rates), whole], 1))
        return F.interpolate(y, size=x.shape[-2:], mode="bilinear", align_corners=False)


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.Module]) -> None:
        super().__init__()
        self.cell, self.head = kind(8, 12, num_layers=2, batch_first=True, bidirectional=True), nn.Linear(24, 5)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.cell(x)[0])


class Mixer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patch, self.a, self.b = nn.Conv2d(3, 16, 8, 8), nn.LayerNorm(16), nn.LayerNorm(16)
        self.tokens = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))
        self.channels = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.a(x).transpose(1, 2)).transpose(1, 2)
        return (x + self.channels(self.b(x))).mean(1)


class ConvNeXt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.depth, self.norm = (
            nn.Conv2d(3, 12, 4, 4),
            nn.Conv2d(12, 12, 7, padding=3, groups=12),
            nn.LayerNorm(12),
        )
        self.a, self.b, self.scale = nn.Linear(12, 48), nn.Linear(48, 12), nn.Parameter(torch.ones(12))
        self.down = nn.Conv2d(12, 24, 2, 2)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = (self.scale * self.b(F.gelu(self.a(y)))).permute(0, 3, 1, 2)
        return self.down(x + y)


class Segformer(nn.Module):
    """Attention whose keys are reduced by a strided convolution; all levels are resized to the first."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.next = nn.Conv2d(3, 16, 7, 4, 3), nn.Conv2d(16, 24, 3, 2, 1)
        self.q, self.kv, self.reduce, self.norm = (
            nn.Linear(16, 16),
            nn.Linear(16, 32),
            nn.Conv2d(16, 16, 2, 2),
            nn.LayerNorm(16),
        )
        self.head = nn.Conv2d(40, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)
        b, c, h, w = x.shape
        tokens = x.flatten(2).transpose(1, 2)
        small = self.norm(self.reduce(x).reshape(b, c, -1).permute(0, 2, 1))
        q = self.q(tokens).reshape(b, -1, 2, 8).permute(0, 2, 1, 3)
        k, v = self.kv(small).reshape(b, -1, 2, 2, 8).permute(2, 0, 3, 1, 4)
        y = ((q @ k.transpose(-2, -1)).softmax(-1) @ v).transpose(1, 2).reshape(b, h * w, c)
        x = (tokens + y).transpose(1, 2).reshape(b, c, h, w)
        deep = F.interpolate(self.next(x), size=(h, w), mode="bilinear", align_corners=False)
        return self.head(torch.cat((x, deep), 1))


class SpaceToDepthStem(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = conv(48, 8)

    def forward(self, x: Tensor) -> Tensor:
        b, c, h, w = x.shape
        x = x.view(b, c, h // 4, 4, w // 4, 4).permute(0, 3, 5, 1, 2, 4).contiguous().view(b, c * 16, h // 4, w // 4)
        return self.conv(x)


class MobileViT(nn.Module):
    """Pixels of equal place in their patches attend to each other."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.block, self.b = conv(3, 16, 3, 2), Block(16, 2), conv(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.a(x)
        b, c, h, w = x.shape
        y = x.reshape(b * c * (h // 2), 2, w // 2, 2).transpose(1, 2).reshape(b, c, (h // 2) * (w // 2), 4)
        y = self.block(y.transpose(1, 3).reshape(b * 4, -1, c))
        y = y.view(b, 4, -1, c).transpose(1, 3).reshape(b * c * (h // 2), w // 2, 2, 2)
        return self.b(torch.cat((x, y.transpose(1, 2).reshape(b, c, h, w)), 1))


class SqueezeExcite(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = conv(3, 16, 3, 2, act=nn.SiLU), nn.Linear(16, 4), nn.Linear(4, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.a(x)
        s = torch.sigmoid(self.c(F.silu(self.b(x.mean((2, 3))))))
        return x * s[:, :, None, None]


class CrossCovariance(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed, self.qkv, self.out = nn.Conv2d(3, 16, 4, 4), nn.Linear(16, 48), nn.Linear(16, 16)

    def forward(self, x: Tensor) -> Tensor:
        x = self.embed(x)
        b, c, h, w = x.shape
        q, k, v = self.qkv(x.flatten(2).transpose(1, 2)).reshape(b, h * w, 3, 2, 8).permute(2, 0, 3, 4, 1)
        y = (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)).softmax(-1) @ v
        return self.out(y.permute(0, 3, 1, 2).reshape(b, h * w, c)).transpose(1, 2).reshape(b, c, h, w)


class Detector(nn.Module):
    """Boxes above a threshold: how many there are depends on data."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.score, self.box = conv(3, 8, 3, 4), nn.Conv2d(8, 1, 1), nn.Conv2d(8, 4, 1)

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        scores, boxes = self.score(y).flatten(), self.box(y).permute(0, 2, 3, 1).reshape(-1, 4)
        return boxes[scores > 0.1]


@dataclass(frozen=True)
class Network:
    """How a network is exported: its arguments, and for each the axes that may be dynamic."""

    make: Callable[[], nn.Module]
    arguments: tuple[tuple[int, ...], ...]
    axes: tuple[dict[int, str], ...]
    integers: bool = False
    dynamo: bool = False


IMAGE = ((2, 3, 32, 32),)
NHW = ({0: "N", 2: "H", 3: "W"},)
NETWORKS = {
    "resnet": Network(resnet, IMAGE, NHW, dynamo=True),
    "mobilenet": Network(mobilenet, IMAGE, NHW),
    "shufflenet": Network(shufflenet, IMAGE, NHW, dynamo=True),
    "vit": Network(ViT, IMAGE, ({0: "N"},), dynamo=True),
    "swin": Network(Swin, IMAGE, NHW),
    "bert": Network(Bert, ((2, 12), (2, 12)), ({0: "N", 1: "S"}, {0: "N", 1: "S"}), integers=True, dynamo=True),
    "llama": Network(Llama, ((2, 10),), ({0: "N", 1: "S"},), integers=True, dynamo=True),
    "unet": Network(UNet, IMAGE, NHW),
    "unet_transposed": Network(lambda: UNet(True), IMAGE, NHW),
    "espcn": Network(espcn, ((2, 1, 16, 20),), NHW, dynamo=True),
    "focus": Network(Focus, IMAGE, NHW),
    "deeplab": Network(DeepLab, IMAGE, NHW),
    "lstm": Network(lambda: Recurrent(nn.LSTM), ((2, 9, 8),), ({0: "N", 1: "S"},)),
    "gru": Network(lambda: Recurrent(nn.GRU), ((2, 9, 8),), ({0: "N", 1: "S"},)),
    "mixer": Network(Mixer, IMAGE, ({0: "N"},)),
    "convnext": Network(ConvNeXt, IMAGE, NHW, dynamo=True),
    "segformer": Network(Segformer, IMAGE, NHW),
    "space_to_depth_stem": Network(SpaceToDepthStem, IMAGE, NHW),
    "mobilevit": Network(MobileViT, IMAGE, NHW),
    "squeeze_excite": Network(SqueezeExcite, IMAGE, NHW),
    "xcit": Network(CrossCovariance, IMAGE, NHW),
    "detector": Network(Detector, IMAGE, NHW),
}


def exports(name: str, network: Network) -> Iterator[tuple[str, tuple[dict[int, str], ...], bool]]:
    """Yield the exports of a network: file name, dynamic axes, whether by the newer exporter."""
    batch = tuple({k: v for k, v in axes.items() if v == "N"} for axes in network.axes)
    yield f"{name}_batch", batch, False
    if batch != network.axes:
        yield f"{name}_dynamic", network.axes, False
    if network.dynamo:
        yield f"{name}_dynamo", network.axes, True
    if name in ("resnet", "bert"):
        yield f"{name}_static", tuple({} for _ in network.axes), False


def export(network: Network, axes: tuple[dict[int, str], ...], dynamo: bool, path: Path) -> None:
    torch.manual_seed(0)
    net = network.make().eval()
    if network.integers:
        inputs = tuple(torch.ones(shape, dtype=torch.int64) for shape in network.arguments)
    else:
        inputs = tuple(torch.randn(shape) for shape in network.arguments)
    names = [f"x{k}" if k else "x" for k in range(len(inputs))]
    keywords: dict[str, Any] = {"input_names": names, "opset_version": OPSET}
    if dynamo:
        dims = {v: torch.export.Dim(v, min=2) for each in axes for v in each.values()}
        shapes = tuple({k: dims[v] for k, v in each.items()} for each in axes)
        keywords = {"dynamo": True, "dynamic_shapes": shapes, "input_names": names, "external_data": False}
    else:
        keywords |= {"dynamo": False, "dynamic_axes": dict(zip(names, axes, strict=True))}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(net, inputs, str(path), **keywords)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="the networks to export; all if none")
    wanted = parser.parse_args().names
    FOLDER.mkdir(exist_ok=True)
    for name, network in NETWORKS.items():
        if wanted and name not in wanted:
            continue
        for file, axes, dynamo in exports(name, network):
            try:
                export(network, axes, dynamo, FOLDER / f"{file}.onnx")
                print(f"{file:32} {(FOLDER / f'{file}.onnx').stat().st_size:>8} bytes", flush=True)
            except Exception as error:  # an exporter that refuses a network is worth a line, not the end
                print(f"{file:32} {type(error).__name__}: {str(error)[:200]}", flush=True)


if __name__ == "__main__":
    main()
