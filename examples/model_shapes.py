"""Read a model that PyTorch exported to ONNX: its symbolic shapes, its requirements, and the operation that it equals.

python examples/model_shapes.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import symlayout as sl

model = Path(__file__).parent / "models" / "pixel_unshuffle.onnx"
y = sl.load(model)["y"]
(x,) = y.leaves()
print(f"{x.shape} -> {y.shape}, where {', '.join(map(str, y.requires))}")
print(sl.prove_equal(y, sl.torch.pixel_unshuffle(x, downscale_factor=2)))
image = np.arange(2 * 3 * 4 * 6, dtype=np.float32).reshape(2, 3, 4, 6)
print(f"one kernel for the whole model: {sl.compile(y)(image).shape}")
