"""The kernels of the folder ``generated/``, as rows of text in the command line's syntax.

`DYNAMIC` has kernels of operations for all shapes.  `EXAMPLES` has the worked examples of the frameworks'
specifications, with fixed shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel by its name, and the chain that it computes."""

    name: str
    shape: str
    steps: tuple[str, ...]


EXAMPLE_SIZES = (1, 4)
"""The element sizes of `EXAMPLES`, in bytes."""

ELEMENT_SIZES = (1, 2, 4, 8)
"""The element sizes of `DYNAMIC`, in bytes."""

DYNAMIC = (
    Row("transpose_nhwc_to_nchw", "N, H, W, C", ("transpose(0, 3, 1, 2)",)),
    Row("transpose_nchw_to_nhwc", "N, C, H, W", ("transpose(0, 2, 3, 1)",)),
    Row("transpose_2d", "M, N", ("transpose(1, 0)",)),
    Row("reshape_ravel", "N, H, W, C", ("reshape(N*H*W*C)",)),
    Row("pad_2d", "H, W", ("pad([[top, bottom], [left, right]])",)),
    Row("slice_inner", "N, H>=2, W>=2, C", ("[:, 1:-1, 1:-1, :]",)),
    Row("slice_every_second", "N, 2*h, 2*w, C", ("[:, ::2, ::2, :]",)),
    Row("flip_width", "N, H, W, C", ("flip(2)",)),
    Row(
        "space_to_batch_2d",
        "N, H, W, C",
        ("space_to_batch([b0>=1, b1>=1], [[top, bottom], [left, right]])",),
    ),
    Row(
        "batch_to_space_2d",
        "N, H, W, C",
        ("batch_to_space([b0>=1, b1>=1], [[top, bottom], [left, right]])",),
    ),
    Row("space_to_depth_nhwc", "N, H, W, C", ("tensorflow:SpaceToDepth(block_size=b>=2)",)),
    Row("depth_to_space_nhwc", "N, H, W, C", ("tensorflow:DepthToSpace(block_size=b>=2)",)),
    Row(
        "space_to_depth_blocks_first",
        "N, C, H, W",
        ("openvino:SpaceToDepth-1(block_size=b>=1, mode=blocks_first)",),
    ),
    Row(
        "space_to_depth_depth_first",
        "N, C, H, W",
        ("openvino:SpaceToDepth-1(block_size=b>=1, mode=depth_first)",),
    ),
    Row("depth_to_space_dcr", "N, C, H, W", ("onnx:DepthToSpace(blocksize=b>=1, mode=DCR)",)),
    Row("depth_to_space_crd", "N, C, H, W", ("onnx:DepthToSpace(blocksize=b>=1, mode=CRD)",)),
)

EXAMPLES = (
    Row(
        "openvino_batch_to_space_2d",
        "10, 2",
        ("openvino:BatchToSpace-2(block_shape=[1,5], crops_begin=[0,2], crops_end=[0,0])",),
    ),
    Row(
        "openvino_batch_to_space_5d",
        "48, 3, 3, 1, 3",
        ("openvino:BatchToSpace-2(block_shape=[1,2,4,3,1], crops_begin=[0,0,1,0,0], crops_end=[0,0,1,0,0])",),
    ),
    Row(
        "openvino_space_to_batch_5d",
        "2, 6, 10, 3, 3",
        ("openvino:SpaceToBatch-2(block_shape=[1,2,4,3,1], pads_begin=[0,0,1,0,0], pads_end=[0,0,1,0,0])",),
    ),
    Row(
        "openvino_space_to_depth_blocks_first",
        "5, 7, 4, 6",
        ("openvino:SpaceToDepth-1(block_size=2, mode=blocks_first)",),
    ),
    Row(
        "openvino_space_to_depth_depth_first",
        "5, 7, 4, 6",
        ("openvino:SpaceToDepth-1(block_size=2, mode=depth_first)",),
    ),
    Row(
        "tensorflow_space_to_batch_nd_1",
        "1, 2, 2, 1",
        ("tensorflow:SpaceToBatchND(block_shape=[2,2], paddings=[[0,0],[0,0]])",),
    ),
    Row(
        "tensorflow_space_to_batch_nd_2",
        "1, 2, 2, 3",
        ("tensorflow:SpaceToBatchND(block_shape=[2,2], paddings=[[0,0],[0,0]])",),
    ),
    Row(
        "tensorflow_space_to_batch_nd_3",
        "1, 4, 4, 1",
        ("tensorflow:SpaceToBatchND(block_shape=[2,2], paddings=[[0,0],[0,0]])",),
    ),
    Row(
        "tensorflow_space_to_batch_nd_4",
        "2, 2, 4, 1",
        ("tensorflow:SpaceToBatchND(block_shape=[2,2], paddings=[[0,0],[2,0]])",),
    ),
)


def kernels() -> Iterator[tuple[Row, int, str]]:
    """Yield each kernel of the folder: its row, its element size in bytes, and its name in C."""
    for rows, sizes in ((DYNAMIC, ELEMENT_SIZES), (EXAMPLES, EXAMPLE_SIZES)):
        for row in rows:
            for size in sizes:
                yield row, size, f"{row.name}_x{size}"
