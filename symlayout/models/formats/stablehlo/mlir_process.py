"""Parse MLIR by the bindings of jaxlib: ``python mlir_process.py FILE FOLDER BYTES``, a process of its own.

MLIR's parser is a C++ program.  A bad file may end it, so that it runs beside the process that asks.  The folder gets
the module as ``module.json``, with the elements of its constants in ``elements.bin``; or ``error.txt`` says why there
is none.  The process takes no more than so many bytes, where the system can see to it.  This script imports nothing of
the package.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

BYTECODE = b"ML\xefR"
_DEEPEST = 64  # regions within regions


class DepthError(Exception):
    """Regions stand too deep within each other."""


def limit_memory(most: int) -> None:
    """Let this process take, and write into one file, no more than so many bytes."""
    try:
        import resource
    except ImportError:  # a system without POSIX
        return
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _parsed(data: bytes) -> Any:
    """Return the module of a text or of a portable artefact."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import chlo, stablehlo

    context = ir.Context()
    context.append_dialect_registry(_dialects(ir))
    stablehlo.register_dialect(context)
    chlo.register_dialect(context)
    context.allow_unregistered_dialects = True
    with context:
        if data.startswith(BYTECODE):
            return stablehlo.deserialize_portable_artifact(context, data)
        return ir.Module.parse(data.decode("utf-8"))


def _dialects(ir: Any) -> Any:
    """Return a registry with the dialect of functions, which jaxlib has under two names."""
    registry = ir.DialectRegistry()
    try:
        from jaxlib.mlir._mlir_libs import _jax_mlir_ext as extension
    except ImportError:
        from jaxlib.mlir._mlir_libs import register_jax_dialects as extension
    extension.register_dialects(registry)
    return registry


class ModuleWriter:
    """Makes data of a module: functions of blocks, blocks of operations, whose values have numbers."""

    def __init__(self, elements: Any) -> None:
        from jaxlib.mlir import ir

        self._ir, self._elements, self._end = ir, elements, 0
        self._numbers: dict[Any, int] = {}

    def module(self, module: Any) -> dict[str, Any]:
        """Return the functions of a module, and the names of what else it has."""
        functions, others = [], []
        for op in module.body.operations:
            operation = op.operation
            if operation.name != "func.func":
                others.append(operation.name)
                continue
            attributes = self._attributes(operation)
            blocks = [self._block(block, 0) for block in operation.regions[0].blocks]
            functions.append({"attributes": attributes, "blocks": blocks})
        return {"functions": functions, "others": others}

    def _number(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _block(self, block: Any, depth: int) -> dict[str, Any]:
        if depth > _DEEPEST:
            raise DepthError(f"regions stand within each other more than {_DEEPEST} times")
        arguments = [[self._number(a), str(a.type), _name_of(a.location)] for a in block.arguments]
        return {"arguments": arguments, "operations": [self._operation(op.operation, depth) for op in block.operations]}

    def _operation(self, operation: Any, depth: int) -> dict[str, Any]:
        return {
            "name": operation.name,
            "operands": [self._number(v) for v in operation.operands],
            "results": [[self._number(v), str(v.type)] for v in operation.results],
            "attributes": self._attributes(operation),
            "regions": [[self._block(b, depth + 1) for b in region.blocks] for region in operation.regions],
        }

    def _attributes(self, operation: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key in list(operation.attributes):
            name = key if isinstance(key, str) else key.name
            try:
                found[name] = self._value(operation.attributes[name])
            except TypeError:  # the bindings have no class for it, as for complex numbers
                text = str(operation)
                stored = operation.name == "stablehlo.constant" and name == "value"
                kind = str(operation.results[0].type) if stored else ""
                found[name] = {"dense": text[text.find("dense<") :], "type": kind} if stored else {"text": text}
        return found

    def _value(self, attribute: Any) -> Any:
        ir = self._ir
        if isinstance(attribute, ir.BoolAttr):
            return bool(attribute.value)
        if isinstance(attribute, ir.IntegerAttr | ir.StringAttr):
            return attribute.value
        if isinstance(attribute, ir.FloatAttr):
            return {"float": repr(attribute.value)}
        if isinstance(attribute, ir.FlatSymbolRefAttr):
            return {"symbol": attribute.value}
        if isinstance(attribute, ir.ArrayAttr):
            return [self._value(a) for a in attribute]
        if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr | ir.DenseBoolArrayAttr):
            return list(attribute)
        if isinstance(attribute, ir.DictAttr):
            return {"entries": {entry.name: self._value(entry.attr) for entry in attribute}}
        if isinstance(attribute, ir.DenseElementsAttr):
            return self._dense(attribute)
        return {"text": str(attribute)}

    def _dense(self, attribute: Any) -> dict[str, Any]:
        """Return where the elements of a constant are; their text for types that Python has no buffers of."""
        kind = str(attribute.type)
        try:
            array = np.asarray(memoryview(attribute))
        except (TypeError, ValueError, BufferError):
            return {"dense": str(attribute), "type": kind}
        one = bool(attribute.is_splat)
        data = (array[(0,) * array.ndim] if one and array.size else array).tobytes()
        start, self._end = self._end, self._end + len(data)
        self._elements.write(data)
        return {"at": [start, len(data)], "type": kind, "dtype": array.dtype.name, "splat": one and bool(array.size)}


def _name_of(location: Any) -> str:
    """Return the name that an argument has in the program that made the module; an empty text without one."""
    text = str(location)
    return text[5:-2] if text.startswith('loc("') and text.endswith('")') and text.count('"') == 2 else ""


def main(file: Path, folder: Path) -> None:
    """Write what a file has into a folder."""
    try:
        data = file.read_bytes()
        with (folder / "elements.bin").open("wb") as elements:
            made = ModuleWriter(elements).module(_parsed(data))
        made["digest"] = hashlib.sha256(data).hexdigest()
        (folder / "module.json").write_text(json.dumps(made), "utf-8")
    except Exception as error:  # MLIR has a tree of errors of its own
        (folder / "error.txt").write_text(str(error) or type(error).__name__, "utf-8", errors="replace")


if __name__ == "__main__":
    limit_memory(int(sys.argv[3]))
    main(Path(sys.argv[1]), Path(sys.argv[2]))
