"""Valid shapes, steps and relations to be changed, what to change them with, and texts that were bombs somewhere."""

from __future__ import annotations

import re

SHAPES = (
    "N, 2*h, 2*w, C", "(N, 3, ?, 1..8)", "[h**2 - 1, b>=1, 1<=w<=9]", "N//2 + N%3, (a+b)*(a-b), -1",
    "2..n*m, None, 0",
    "((N + 2)//2)*4, 9223372036854775807",
)  # fmt: skip
STEPS = (
    "transpose(0,2,3,1)", "reshape([N, -1])", "reshape([h*w*C*N*4])", "pad([[1, 1], [0, n], [2, 0], [0, 0]])", "flip",
    "space_to_depth(2)", "depth_to_space(2)", "space_to_batch([2, 2], [[1, 1], [0, 0]])", "tile([1, 2, 3, N])",
    "[1:-1:2, ..., ::-1]",
    "batch_to_space(block_shape=[1, 2, b], crops=[[0, 0], [1, 1], [0, 0]])", "roll(5, axis=2)", "repeat(3, axis=1)",
    "window([3, 3], axis=[1, 2], strides=[2, 2], dilation=[1, 1])", "pack(axis=3, block=4)", "channel_shuffle(2)",
    "resize_nearest(scale=[2, 1.5], axes=[1, 2])", "broadcast_to([2, N, 2*h, 2*w, C])", "expand_dims([0, 3])",
    "onnx:SpaceToDepth(blocksize=2)", "tensorflow:SpaceToBatchND(block_shape=[2,2], paddings=[[1,1],[1,1]])",
    "openvino:BatchToSpace-2(block_shape=[1,1,2,2], crops_begin=[0,0,1,1], crops_end=[0,0,1,1])",
    "torch:unfold(1, 3, 1)",
    "torch:pixel_unshuffle(2)", "openvino:Tile-1([1, 2, 1, 1])",
    "tensorflow:StridedSlice([0,0,0,0],[1,1,1,1],[1,1,1,1])",
    "onnx:DepthToSpace(blocksize=2, mode=DCR)", "moveaxis(0, -1)", "squeeze", "unpack(axis=2, extent=3)",
)  # fmt: skip
RELATIONS = ("H % 4 == 0, W >= 3", "1 <= a <= b < c", "2*h + 1 == n//3", "a*b == c*d, a > 0")
TOKENS = (
    "0", "1", "-1", "2", "7", "64", "1000000", "2147483648", "9007199254740993", "9223372036854775807",
    "9223372036854775808", "18446744073709551616", "1" + "0" * 30, "9" * 41, "1e400", "-0.0", "nan", "inf", "?",
    "None",
    "..", "...", "**", "//", "%", "/", "*", "+", "-", "(", ")", "[", "]", ",", ":", "=", "==", ">=", "<", "'",
    '"', "\\",
    "\0", "\n", "\x1b[2J", "é", "\u0661", "\U0001f600", "\ud800", "__import__('os').system('id')", "lambda: 0", "{}",
    "$(id)",
    "N", "h", "a*b*c", "(a + b)", "mode=", "axis=", "x" * 300, "_", "None" * 20,
)  # fmt: skip
BOMBS = (
    "(" * 60_000, "[" * 60_000, "-" * 60_000, "9" * 60_000, "N" * 60_000, "N," * 30_000, "N*" * 30_000 + "N",
    "N+" * 30_000 + "N",
    "(a+b+c+d+e)**64", "((((a+b)**64)**64)**64)**64", "2**64**64", "(2**64)**64", "9" * 40 + "**64",
    "(a+b)**64*(c+d)**64*(e+f)**64",
    "+".join(f"n{k}" for k in range(10_000)), "*".join(f"n{k}" for k in range(10_000)), "//".join(["N"] * 3000),
    "%".join(["N"] * 3000), "+".join(f"(N//{k})" for k in range(1, 2000)), "*".join(f"(n{k} + 1)" for k in range(60)),
    "+".join(f"n{k}*n{k + 1}//{k + 2}" for k in range(500)), ".." * 30_000, "1.." * 20_000, "?," * 64 + "?",
    "'" * 60_000,
    "x" * 100_000, "(N+1)//2" * 1000, "((N//2" * 60 + "))" * 60, "N" + "//2" * 3000, "N" + "%7" * 3000,
    "N**63*N**63*N**63",
)  # fmt: skip
_STEP_BOMBS = (
    "tile([9223372036854775807, 9223372036854775807])",
    "tile([" + "2," * 60 + "2])",
    "repeat(E30)",
    "repeat(9223372036854775807)",
    "reshape([" + "1," * 5000 + "-1])",
    "pad(9223372036854775807)",
    "pad([[E30, E30]])",
    "roll(E39)",
    "expand_dims([" + "0," * 500 + "])",
    "window(E18, axis=0)",
    "window([1], axis=[0], strides=[E30])",
    "space_to_depth(4294967296)",
    "depth_to_space(9007199254740993)",
    "space_to_batch([" + "2," * 1000 + "], [" + "[0,0]," * 1000 + "])",
    "transpose(" + ",".join(map(str, range(2000))) + ")",
    "flip(" + "[" * 500 + ")",
    "[" + ":," * 3000 + ":]",
    "[" + "None," * 300 + "]",
    "[::9223372036854775808]",
    "[-E39:E39:-E30]",
    "resize_nearest(scale=[1e300], axes=[0])",
    "resize_nearest(scale=[1e-300], axes=[0])",
    "resize_nearest(shape=[E18], axes=[0])",
    "broadcast_to([E18, E18, E18, N, 2*h, 2*w, C])",
    "pack(axis=0, block=E30)",
    "unpack(axis=0, extent=E30)",
    "channel_shuffle(E30)",
    "pad(1, mode=wrap)",
    "pad([[N**9, N**9]], mode=wrap)",
    "pad(100000, mode=reflect)",
    "pad(1000000000, mode=symmetric)",
    "openvino:Nope-9(" + "a=1," * 3000 + ")",
    "torch:unfold(0, E18, E18)",
    "onnx:Slice([0],[E30])",
    "tensorflow:Tile([2147483648,2147483648,2147483648,2147483648])",
    "a" * 5000 + "()",
    "ravel(" + "x=" * 3000,
)
_LARGE = {"E18": str(10**18), "E30": str(10**30), "E39": str(10**39)}
STEP_BOMBS = tuple(re.sub("E18|E30|E39", lambda found: _LARGE[found[0]], text) for text in _STEP_BOMBS)
