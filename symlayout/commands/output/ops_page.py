"""Write docs/ops.md, the page of all operations, from the registry: each with its meaning and an example.

An example is a shape and a step as the command line reads them.  The operation is applied to it; its map, its
shape, what it requires, and for a framework's operation the core operations behind it, are read from the result.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import symlayout as sl
from symlayout.frontends import registry
from symlayout.frontends.onnx.operator import EXAMPLES
from symlayout.language.parse import evaluate, names_of, parse_shape, parse_step
from symlayout.ops.slicing import getitem
from symlayout.show import wording

INDEX = "x[...]"
FRAMEWORKS = ("openvino", "tensorflow", "onnx", "microsoft", "ml", "tflite", "torch", "stablehlo")
_SHOWN = {
    "getitem": INDEX,
    "broadcast_with": "broadcast_to",
    "equal_part": "split",
    "sized_part": "split",
    "ceil_part": "split",
    "near_part": "array_split",
    "broadcast_jointly": "broadcast_to",
    "centered": "pad",
    "constant": "full",
    "updated_slice": "update_slice",
}

# Operation: the shapes of its inputs, and its attributes.
CORE_EXAMPLES: dict[str, tuple[str, str]] = {
    "transpose": ("N, C, H, W", "axes=(0, 2, 3, 1)"),
    "moveaxis": ("N, C, H, W", "source=1, destination=-1"),
    "swapaxes": ("N, C, H", "axis1=0, axis2=2"),
    "reshape": ("N, C, 2*h", "shape=(N, -1, 2)"),
    "ravel": ("H, W", ""),
    "squeeze": ("N, C, 1", "axis=2"),
    "expand_dims": ("H, W", "axis=(0, -1)"),
    INDEX: ("H, W", "[1:, ::-2]"),
    "flip": ("H, W", "axis=1"),
    "roll": ("H, W", "shift=(s, 1), axis=(0, 1)"),
    "pad": ("H, W", "pad_width=((p, 1), (0, 0))"),
    "tile": ("H, W", "reps=(r, 1)"),
    "repeat": ("H, W", "repeats=r, axis=1"),
    "broadcast_to": ("1, W", "shape=(N, H, W)"),
    "concatenate": ("H, W; K, W", "axis=0"),
    "stack": ("H, W; H, W", "axis=1"),
    "split": ("H, W", "indices_or_sections=2, axis=0"),
    "array_split": ("H, W", "indices_or_sections=3, axis=0"),
    "window": ("N, L", "window_shape=3, axis=1, strides=2, padding=1"),
    "space_to_batch": ("N, H, W, C", "block_shape=(2, b>=1), paddings=((1, 1), (0, 0))"),
    "batch_to_space": ("4*N, H, W, C", "block_shape=(2, 2), crops=((1, 1), (0, 0))"),
    "space_to_depth": ("N, C, H, W", "block_size=2"),
    "depth_to_space": ("N, 4*C, H, W", "block_size=2"),
    "channel_shuffle": ("N, C, H, W", "groups=g>=1"),
    "pack": ("N, C, H, W", "axis=1, block=4"),
    "unpack": ("N, C, H, W, 4", "axis=1"),
    "resize_nearest": ("H, W", "scale=2"),
    "take": ("H, W", "indices=(0, 2, 4, 1), axis=1"),
    "as_strided": ("N", "shape=((2, 3), 4), strides=((1, 8), 2)"),
    "full": ("", "shape=(N, 3), value=7"),
    "update_slice": ("H, W; 2, 3", "starts=(s, 0)"),
}
FRAMEWORK_EXAMPLES: dict[str, tuple[str, str]] = {
    "microsoft:FusedConv": ("N, C, H, W; M, C, 3, 3", 'pads=(1, 1, 1, 1), activation="Relu"'),
    "microsoft:FusedGemm": ("M, K; K, N", 'activation="Relu"'),
    "microsoft:FusedMatMul": ("B, K, M; B, K, N", "transA=1"),
    "microsoft:TransposeMatMul": ("B, M, K; B, N, K", "transB=1"),
    "onnx:Concat": ("H, W; K, W", "axis=0"),
    "onnx:DepthToSpace": ("N, 4*C, H, W", "blocksize=2"),
    "onnx:Expand": ("1, W", "shape=(N, H, 1)"),
    "onnx:Flatten": ("N, C, H", "axis=1"),
    "onnx:Identity": ("H, W", ""),
    "onnx:Pad": ("H, W", "pads=(p, 0, 1, 0)"),
    "onnx:Reshape": ("N, C, H", "shape=(0, -1)"),
    "onnx:Slice": ("H, W", "starts=(1, -1), ends=(-1, -9), steps=(2, -1)"),
    "onnx:SpaceToDepth": ("N, C, H, W", "blocksize=2"),
    "onnx:Split": ("H, W", "num_outputs=2"),
    "onnx:Squeeze": ("N, 1", "axes=(1,)"),
    "onnx:Tile": ("H, W", "repeats=(r, 1)"),
    "onnx:Transpose": ("N, C, H", "perm=(0, 2, 1)"),
    "onnx:Unsqueeze": ("H, W", "axes=(0,)"),
    "openvino:BatchToSpace-2": ("4*N, H, W", "block_shape=(1, 2, 2), crops_begin=(0, 1, 0), crops_end=(0, 1, 0)"),
    "openvino:Broadcast-3": ("1, W", "target_shape=(N, H, W)"),
    "openvino:Concat-1": ("H, W; K, W", "axis=0"),
    "openvino:DepthToSpace-1": ("N, 4*C, H, W", 'mode="depth_first", block_size=2'),
    "openvino:Pad-12": ("H, W", 'pads_begin=(p, 0), pads_end=(1, 0), pad_mode="constant"'),
    "openvino:Reshape-1": ("N, C, H", "shape=(0, -1), special_zero=True"),
    "openvino:Roll-7": ("H, W", "shift=1, axes=(1,)"),
    "openvino:ShuffleChannels-1": ("N, C, H, W", "group=g>=1"),
    "openvino:Slice-8": ("H, W", "start=(1,), stop=(-1,), step=(2,)"),
    "openvino:SpaceToBatch-2": ("N, H, W", "block_shape=(1, 2, 2), pads_begin=(0, 1, 0), pads_end=(0, 1, 0)"),
    "openvino:SpaceToDepth-1": ("N, C, H, W", 'mode="blocks_first", block_size=2'),
    "openvino:Split-1": ("H, W", "axis=0, num_splits=2"),
    "openvino:Squeeze-1": ("N, 1", "axes=(1,)"),
    "openvino:Tile-1": ("H, W", "repeats=(r, 1)"),
    "openvino:Transpose-1": ("N, C, H", "input_order=(0, 2, 1)"),
    "openvino:Unsqueeze-1": ("H, W", "axes=(0,)"),
    "tensorflow:BatchToSpace": ("4*N, H, W, C", "crops=((1, 0), (0, 0)), block_size=2"),
    "tensorflow:BatchToSpaceND": ("4*N, H, W, C", "block_shape=(2, 2), crops=((1, 1), (0, 0))"),
    "tensorflow:BroadcastTo": ("1, W", "shape=(N, H, W)"),
    "tensorflow:ConcatV2": ("H, W; K, W", "axis=0"),
    "tensorflow:DepthToSpace": ("N, H, W, 4*C", "block_size=2"),
    "tensorflow:MirrorPad": ("H, W", 'paddings=((p, 1), (0, 0)), mode="REFLECT"'),
    "tensorflow:Pad": ("H, W", "paddings=((p, 1), (0, 0))"),
    "tensorflow:PadV2": ("H, W", "paddings=((p, 1), (0, 0)), constant_values=7"),
    "tensorflow:Reshape": ("N, C, 2*h", "shape=(N, -1, 2)"),
    "tensorflow:ReverseV2": ("H, W", "axis=(1,)"),
    "tensorflow:Roll": ("H, W", "shift=(s,), axis=(0,)"),
    "tensorflow:Slice": ("H, W", "begin=(1, 0), size=(3, -1)"),
    "tensorflow:SpaceToBatch": ("N, H, W, C", "paddings=((1, 1), (0, 0)), block_size=2"),
    "tensorflow:SpaceToBatchND": ("N, H, W, C", "block_shape=(2, 2), paddings=((1, 1), (0, 0))"),
    "tensorflow:SpaceToDepth": ("N, H, W, C", "block_size=2"),
    "tensorflow:StridedSlice": ("H, W", "begin=(0, -1), end=(5, 0), strides=(2, 1), begin_mask=1, shrink_axis_mask=2"),
    "tensorflow:Tile": ("H, W", "multiples=(r, 1)"),
    "tensorflow:Transpose": ("N, C, H", "perm=(0, 2, 1)"),
    "torch:channel_shuffle": ("N, C, H, W", "groups=g>=1"),
    "torch:flip": ("H, W", "dims=(1,)"),
    "torch:pad": ("H, W", "pad=(p, 1)"),
    "torch:permute": ("N, C, H", "dims=(0, 2, 1)"),
    "torch:pixel_shuffle": ("N, 4*C, H, W", "upscale_factor=2"),
    "torch:pixel_unshuffle": ("N, C, H, W", "downscale_factor=2"),
    "torch:reshape": ("N, C, 2*h", "shape=(N, -1, 2)"),
    "torch:roll": ("H, W", "shifts=(s,), dims=(0,)"),
    "torch:tile": ("H, W", "dims=(r, 1)"),
    "torch:unfold": ("N, L", "dimension=1, size=3, step=2"),
}


FRAMEWORK_EXAMPLES.update(EXAMPLES)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An operation, and the result of its example."""

    name: str
    function: Callable[..., Any]
    example: str
    result: sl.Tensor

    @property
    def signature(self) -> str:
        """The attributes with their defaults."""
        parameters = list(inspect.signature(self.function).parameters.values())[_operands(self.function) :]
        return ", ".join(str(p.replace(annotation=inspect.Parameter.empty)) for p in parameters)

    @property
    def summary(self) -> str:
        """The first line of the operation's text."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def kinds(self) -> str:
        """The kinds of error that the text names."""
        raised = (inspect.getdoc(self.function) or "").partition("\nRaises\n")[2]
        return ", ".join(dict.fromkeys(re.findall(r"``[a-z_0-9]+``", raised))).replace("``", "`") or "nothing"

    @property
    def numpy(self) -> str:
        """NumPy's function of the same meaning, if it has one."""
        found = re.search(r"`(numpy[.][\w.]+)`", inspect.getdoc(self.function) or "")
        return found[1] if found else ""

    @property
    def core(self) -> list[str]:
        """The core operations that were applied."""
        nodes = [node for node in self.result.graph() if node.declared is not None]
        return list(dict.fromkeys(_SHOWN.get(node.name, node.name) for node in nodes if node.name[0] != "_"))

    @property
    def rows(self) -> list[tuple[str, str]]:
        """The rows of the table: the results of the example."""
        requires = ", ".join(f"`{wording.words(r)}`" for r in self.result.requires)
        return [
            ("shape", f"`{wording.shape(self.result.shape)}`"),
            ("map", f"`{self.result.index_map}`"),
            ("requires", requires or "nothing"),
            ("errors", self.kinds),
        ]


def markdown() -> str:
    """Return the page."""
    core = [_entry(name, *example) for name, example in CORE_EXAMPLES.items()]
    framework = [_entry(name, *FRAMEWORK_EXAMPLES[name]) for name in registry.names()]
    page = "\n".join([*_head(core, framework), *_core(core), *_frameworks(framework)]).rstrip()
    return re.sub(r"\b([a-z]+)\.\d+\b", r"\1", page)  # new dims are numbered


def _head(core: list[_Entry], framework: list[_Entry]) -> Iterator[str]:
    yield from (
        "# Operations",
        "",
        "Written by `symlayout ops --markdown`. Each entry comes from the operation and its result for an example. The",
        "example is a shape and a step of the command line. The map gives the input coordinate that an output",
        "coordinate reads; if an operation returns several arrays, it is the map of the last one. The first table",
        "lists the core operations with their names in the frameworks.",
        "",
        f"| core | NumPy | {' | '.join(FRAMEWORKS)} |",
        f"|---|---|{'---|' * len(FRAMEWORKS)}",
    )
    moving = [entry for entry in framework if all(node.body is None for node in entry.result.graph())]
    for entry in core:
        named = [other.name.split(":") for other in moving if entry.name in other.core]
        cells = [", ".join(f"`{title}`" for owner, title in named if owner == name) for name in FRAMEWORKS]
        yield f"| `{entry.name}` | {f'`{entry.numpy}`' if entry.numpy else ''} | {' | '.join(cells)} |"
    yield ""


def _core(core: list[_Entry]) -> Iterator[str]:
    yield from ("## Core operations", "")
    for entry in core:
        operands = ("x, ", "x, update, ")[_operands(entry.function) - 1] if _operands(entry.function) else ""
        call = INDEX if entry.name == INDEX else f"{entry.name}({operands}{entry.signature})".replace(", )", ")")
        yield from (f"### {entry.name}", "", entry.summary, "", f"    {call}", "")
        yield from _table("example", f"`{entry.example}`", entry.rows)


def _frameworks(framework: list[_Entry]) -> Iterator[str]:
    yield from ("## Operations of frameworks", "")
    for entry in framework:
        yield from (f"### {entry.name}", "", entry.summary, "")
        core = ", ".join(f"`{name}`" for name in entry.core) or "the input itself"
        rows = [("attributes", f"`{entry.signature}`" if entry.signature else "none"), ("core", core), *entry.rows]
        yield from _table("example", f"`{entry.example}`", rows)


def _table(heading: str, text: str, rows: list[tuple[str, str]]) -> Iterator[str]:
    yield from (f"| {heading} | {text} |", "|---|---|")
    yield from (f"| {name} | {value} |" for name, value in rows)
    yield ""


def _entry(name: str, shapes: str, attributes: str) -> _Entry:
    """Return an operation with its example applied."""
    texts = shapes.split("; ") if shapes else []
    step = parse_step(attributes if name == INDEX else f"{name}({attributes})")
    trees = [*step.positional, *(tree for _, tree in step.keywords)]
    entries = [parse_shape(text) for text in texts]
    dims = {n: sl.dim(n, *limits) for n, limits in names_of(*(e for each in entries for e in each), *trees).items()}
    names = ["x"] if len(texts) == 1 else [f"x{k}" for k in range(len(texts))]
    xs = [
        sl.tensor(tuple(evaluate(e, dims) for e in each), name=name) for each, name in zip(entries, names, strict=True)
    ]
    given = {key: evaluate(tree, dims) for key, tree in step.keywords}
    if name == INDEX:
        function: Callable[..., Any] = getitem
        made: Any = xs[0][tuple(evaluate(tree, dims) for tree in step.positional)]
    else:
        function = registry.find(name) if ":" in name else getattr(sl, name)
        joint = registry.is_joint(name) if ":" in name else len(xs) > _operands(function)
        made = function(xs, **given) if joint else function(*xs, **given)
    result = made[-1] if isinstance(made, list) else made
    shown = f"x{step.text}" if name == INDEX else step.text
    return _Entry(name, function, f"({'), ('.join(texts)}): {shown}" if texts else shown, result)


def _operands(function: Callable[..., Any]) -> int:
    """Return how many of the first parameters are operands: a tensor, or a sequence of them."""
    annotations = [str(p.annotation) for p in inspect.signature(function).parameters.values()]
    return sum("Tensor" in text for text in annotations)
