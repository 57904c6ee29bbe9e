"""The face of a framework offers what its modules define, and the catalogue calls the same functions."""

from __future__ import annotations

import inspect
from types import ModuleType

import pytest

import symlayout as sl
from symlayout.frontends import names
from symlayout.frontends.onnx import blocks as onnx_blocks
from symlayout.frontends.onnx import bounds as onnx_bounds
from symlayout.frontends.onnx import shapes as onnx_shapes
from symlayout.frontends.openvino import blocks as openvino_blocks
from symlayout.frontends.openvino import bounds as openvino_bounds
from symlayout.frontends.openvino import shapes as openvino_shapes
from symlayout.frontends.registry import find
from symlayout.frontends.tensorflow import blocks as tensorflow_blocks
from symlayout.frontends.tensorflow import bounds as tensorflow_bounds
from symlayout.frontends.tensorflow import shapes as tensorflow_shapes
from symlayout.frontends.torch import blocks as torch_blocks
from symlayout.frontends.torch import bounds as torch_bounds
from symlayout.frontends.torch import shapes as torch_shapes

MODULES: dict[str, tuple[ModuleType, ...]] = {
    "onnx": (onnx_blocks, onnx_bounds, onnx_shapes, *sl.onnx.MODULES),
    "openvino": (openvino_blocks, openvino_bounds, openvino_shapes, *sl.openvino.MODULES),
    "tensorflow": (tensorflow_blocks, tensorflow_bounds, tensorflow_shapes),
    "torch": (torch_blocks, torch_bounds, torch_shapes),
}


OPERATIONS = {find(name) for name in names() if "-" not in name or not name.startswith("onnx:")}


def defined(modules: tuple[ModuleType, ...]) -> dict[str, ModuleType]:
    return {
        name: module
        for module in modules
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value in OPERATIONS and value.__module__ == module.__name__
    }


@pytest.mark.parametrize("framework", MODULES)
def test_the_face_offers_what_the_modules_define(framework: str) -> None:
    face = getattr(sl, framework)
    found = defined(MODULES[framework])
    assert found
    for name, module in found.items():
        assert getattr(face, name) is getattr(module, name)


@pytest.mark.parametrize("framework", MODULES)
def test_the_catalogue_calls_functions_of_the_modules(framework: str) -> None:
    rows = getattr(getattr(sl, framework), "MODULES", ())  # operations of files, which have no function of the face
    files = {module.__name__ for module in (*MODULES[framework], *rows)} | {"symlayout.frontends.common"}
    called = [find(name) for name in names() if name.startswith(f"{framework}:")]
    assert called
    assert {inspect.unwrap(function).__module__ for function in called} <= files
