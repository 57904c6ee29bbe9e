"""The signature of a module: the names of its inputs, and their shapes in dims, as JAX states them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symlayout.algebra.facts import Dim
from symlayout.errors import FormatError, SymlayoutError
from symlayout.language.sympy_bridge import symbol_of
from symlayout.models.arithmetic.shape_arithmetic import required
from symlayout.models.formats.flat_buffer import FlatBuffer, FlatTable
from symlayout.models.formats.stablehlo import mlir_module
from symlayout.models.formats.stablehlo.mlir_module import MLIRModule, MLIRType
from symlayout.models.formats.stablehlo.mlir_process import BYTECODE
from symlayout.models.model_file import open_model
from symlayout.tensors.chain import Tensor
from symlayout.tensors.input_tensor import tensor

_VERSIONS = range(2, 8)
_SPECIFICATION = re.compile(r"args\[(\d+)\]\.shape = \(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_FLAT = re.compile(r"[\w\s*+,-]*")
_LONGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Signature:
    """What a file states of the inputs of its module.

    Attributes
    ----------
    names : tuple of str
        The names of inputs: of the program's arguments where the file has them.
    shapes : dict of int to str
        The shapes of inputs by number, as texts such as ``"b, 2*h"``.
    notes : list of str
        What users should know.
    """

    names: tuple[str, ...]
    shapes: dict[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @classmethod
    def read(cls, file: Path) -> tuple[MLIRModule, Signature]:
        """Return the module in a file, and its signature.

        Raises
        ------
        FormatError
            The file is neither text nor an artefact, or is damaged.
        MissingPackageError
            The package ``jaxlib`` is not installed.
        """
        with open_model(file) as opened:
            start = opened.read(4)
        if file.suffix != ".jax" or start == BYTECODE:
            module = mlir_module.read(file)
            return module, cls(_names_of(module), _specified(module))
        with open_model(file) as opened:
            data = np.frombuffer(opened.read(mlir_module.MAX_FILE + 1), np.uint8)
        if len(data) > mlir_module.MAX_FILE:
            raise FormatError(f"the file has more than {mlir_module.MAX_FILE} bytes")
        exported = FlatBuffer(data).root()
        version = exported.number(0, "<u2", 0)
        if version not in _VERSIONS:
            raise FormatError(f"the file is no artefact of jax.export, or one of version {version}, which is not known")
        serialized = exported.numbers(13, "u1")
        if not len(serialized):
            raise FormatError("the artefact has no module")
        with tempfile.TemporaryDirectory() as folder:
            inner = Path(folder) / "module.mlirbc"
            inner.write_bytes(serialized.tobytes())
            module = mlir_module.read(inner)
        made = cls(_names_of(module), _stated(exported, module))
        return module, made

    def leaf(self, number: int, kind: MLIRType, name: str) -> Tensor:
        """Return an input in the dims of the signature, at least 1 as JAX has them; else in dims of its own."""
        assert kind.extents is not None
        own = [-1 if n is None else n for n in kind.extents]
        text = self.shapes.get(number, "")
        if None not in kind.extents or not text or len(text) > _LONGEST or not _FLAT.fullmatch(text):
            return tensor(own, kind.dtype, name)
        try:
            made = tensor(text, kind.dtype, name)
            bounds = {dim: symbol_of(Dim(dim, 1)) for dim in made.facts.dims}
            made = made.subs(bounds)
        except SymlayoutError:
            return tensor(own, kind.dtype, name)
        fits = len(made.shape) == len(kind.extents) and all(
            (n is None) == hasattr(e, "free_symbols") and (n is None or n == e)
            for n, e in zip(kind.extents, made.shape, strict=True)
        )
        return made if fits else tensor(own, kind.dtype, name)

    def required(self, leaf: Tensor, hints: Collection[Any]) -> Tensor:
        """Return an input that requires what is supposed of its dims."""
        return required(leaf, hints)


def _names_of(module: MLIRModule) -> tuple[str, ...]:
    """Return the names of arguments: of the function that they go to unchanged, where the caller has none."""
    block = module.main.block
    names = list(block.names)
    for operation in block.operations:
        if operation.name != "func.call":
            continue
        callee = module.functions.get(operation.callee)
        if callee is None:
            continue
        for given, name in zip(operation.operands, callee.block.names, strict=False):
            if name and given in block.arguments and not names[block.arguments.index(given)]:
                names[block.arguments.index(given)] = name
    found: dict[str, None] = {}
    for k, name in enumerate(names):
        made = name if name and len(name) <= 80 and name not in found else f"arg{k}"
        while made in found:
            made += "_"
        found[made] = None
    return tuple(found)


def _specified(module: MLIRModule) -> dict[int, str]:
    """Return the shapes that the assertions of a module say are those of its arguments."""
    for operation in module.main.block.operations:
        if operation.attributes.get("call_target_name") == "shape_assertion":
            text = str(operation.attributes.get("error_message", ""))[:_LONGEST]
            _, _, rest = text.partition("polymorphic shapes specifications: ")
            stated = rest.partition(". Obtained")[0]
            return {int(number): shape for number, shape in _SPECIFICATION.findall(stated)}
    return {}


def _stated(exported: FlatTable, module: MLIRModule) -> dict[int, str]:
    """Return the shapes that an artefact states of the arguments that its module keeps."""
    indices = exported.numbers(22, "<u4").tolist()
    unique = exported.tables(19) if indices else exported.tables(3)
    order = indices or list(range(len(unique)))
    if any(k >= len(unique) for k in order):
        raise FormatError("the artefact has an argument without a type")
    kept = exported.numbers(15, "<u2").tolist() if exported.has(15) else []
    texts = [_shape_of(unique[k]) for k in order]
    if kept and all(k < len(texts) for k in kept):
        texts = [texts[k] for k in kept]
    count = len(module.main.block.arguments)
    return dict(enumerate(texts)) if len(texts) == count else {}


def _shape_of(table: FlatTable) -> str:
    return ", ".join(table.texts(1))
