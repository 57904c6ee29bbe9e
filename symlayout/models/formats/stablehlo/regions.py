"""What regions of StableHLO's operations compute of their arguments, as text: known forms have names.

Arguments are ``a0``, ``a1``, ...; an operation is written with its attributes in brackets.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from symlayout.models.formats.stablehlo.mlir_module import Block, Function, OperationRecord, Stored
from symlayout.models.formats.stablehlo.operations import CALLS

_MOST = 64  # operations of a region that has a name
_LONGEST = 4096
_COMMUTES = frozenset(("add", "multiply", "maximum", "minimum", "and", "or"))
FOLDS = (*sorted(_COMMUTES), "subtract")
_PICK = "or(compare[{0}](a0,a2),compare[NE](a0,a0))"
EXTREMES: dict[tuple[str, ...], bool] = {
    (
        f"select({_PICK.format(sign)},a0,a2)",
        f"select(or({_PICK.format(sign)},and(compare[EQ](a0,a2),compare[LT](a1,a3))),a1,a3)",
    ): largest
    for sign, largest in (("GT", True), ("LT", False))
}
"""JAX's reductions to the position of an extreme: whether it is the largest."""


def outputs_of(block: Block) -> tuple[str, ...] | None:
    """Return what a region returns, as text of its arguments; None if it is long, or reads other values."""
    known = {number: f"a{k}" for k, number in enumerate(block.arguments)}
    for operation in block.operations[:_MOST]:
        if any(n not in known for n in operation.operands) or operation.regions:
            return None
        texts = [known[n] for n in operation.operands]
        name = operation.name.removeprefix("stablehlo.")
        if name == "return":
            return tuple(texts)
        if len(operation.results) != 1:
            return None
        made = f"{name}{_brackets(operation)}({','.join(texts)})"
        if len(made) > _LONGEST:
            return None
        known[operation.results[0]] = made
    return None


def _brackets(operation: OperationRecord) -> str:
    if operation.name == "stablehlo.compare":
        direction = str(operation.attributes.get("comparison_direction", {}).get("text", ""))
        kind = str(operation.attributes.get("compare_type", {}).get("text", ""))
        total = ",TOTALORDER" if "TOTALORDER" in kind else ""
        return f"[{direction.rpartition(' ')[2].rstrip('>')}{total}]"
    shown = ",".join(f"{key}={_text(value)}" for key, value in sorted(operation.attributes.items()))
    return f"[{shown}]" if shown else ""


def fold_names(block: Block) -> tuple[str, ...] | None:
    """Return for each result of a reduction the operation of two elements that makes it; None if it is another one.

    The arguments are the elements of all operands, then those that they are combined with.
    """
    outputs = outputs_of(block)
    if outputs is None or 2 * len(outputs) != len(block.arguments):
        return None
    names = []
    for k, text in enumerate(outputs):
        a, b = f"a{k}", f"a{k + len(outputs)}"
        if text == b:
            names.append("second")
            continue
        name = text.partition("(")[0]
        if name not in FOLDS or text not in (f"{name}({a},{b})", f"{name}({b},{a})"):
            return None
        if name not in _COMMUTES and text != f"{name}({a},{b})":
            return None
        names.append(name)
    return tuple(names)


def order_name(block: Block) -> str | None:
    """Return the direction in which a region orders single elements; None if it is another order."""
    outputs = outputs_of(block)
    for direction in ("LT", "GT"):
        if outputs == (f"compare[{direction}](a0,a1)",):
            return direction
    return None


class OperationTexts:
    """Texts of operations that two share only if they compute the same of their operands.

    Parameters
    ----------
    functions : mapping
        The functions that they may call.
    """

    def __init__(self, functions: Mapping[str, Function]) -> None:
        self._functions = functions
        self._known: dict[str, str] = {}

    def of(self, operation: OperationRecord) -> str:
        """Return the text of an operation without its operands."""
        numbers: dict[int, int] = {}
        for n in captured_by(operation):
            numbers.setdefault(n, len(numbers))
        return self._operation(operation, numbers, outer=True)

    def _operation(self, operation: OperationRecord, numbers: dict[int, int], *, outer: bool = False) -> str:
        parts = [operation.name, "" if outer else ",".join(str(numbers.setdefault(n, len(numbers)))
                                                            for n in operation.operands)]  # fmt: skip
        parts += [f"{key}={_text(value)}" for key, value in sorted(operation.attributes.items())]
        parts += [str((t.extents, str(t.dtype))) for t in operation.types]
        if operation.name in CALLS:
            parts.append(self._function(operation.callee))
        parts += [self._block(block, numbers) for region in operation.regions for block in region]
        if not outer:
            parts.append(",".join(str(numbers.setdefault(n, len(numbers))) for n in operation.results))
        return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()

    def _block(self, block: Block, numbers: dict[int, int]) -> str:
        own = [str(numbers.setdefault(n, len(numbers))) for n in block.arguments]
        types = [str((t.extents, str(t.dtype))) for t in block.types]
        return "\n".join([*own, *types, *(self._operation(op, numbers) for op in block.operations)])

    def _function(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = f"recursive {name}"
            if name in self._functions:
                self._known[name] = self._block(self._functions[name].block, {})
        return self._known[name]


def _inside(operation: OperationRecord) -> set[int]:
    """Return the values that the regions of an operation define."""
    found: set[int] = set()
    for region in operation.regions:
        for block in region:
            found.update(block.arguments)
            for inner in block.operations:
                found.update(inner.results)
                found |= _inside(inner)
    return found


def captured_by(operation: OperationRecord) -> list[int]:
    """Return the values that the regions of an operation read and do not define, in order."""
    inside = _inside(operation)
    return [n for n in dict.fromkeys(operation.captured()) if n not in inside]


def _text(value: Any) -> str:
    if isinstance(value, Stored):
        if value.array is None:
            return value.text
        elements = hashlib.sha256(value.array.tobytes()).hexdigest()
        return f"{value.array.dtype} {value.array.shape} {elements}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_text, value))}]"
    return repr(value)
