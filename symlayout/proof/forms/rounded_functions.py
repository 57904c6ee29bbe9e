"""Take values as runtimes round them for their formulas, under the law ``"requantize"``.

A runtime computes a function of quantized tensors with integers, or of tensors that it quantizes first, and rounds on
its way.  Such a value (`Body.rounds`) has the formula of its page as its first operand, which stands in its place.  A
sum of products of integers that becomes real, such as that of a QLinearConv, is one of real numbers then, as int32
holds it.  Prover and check both put formulas in the place of values before they compare.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from symlayout.compute import quantization
from symlayout.compute.elementwise import elementwise
from symlayout.proof.idle_functions import stands_for
from symlayout.tensors.chain import Tensor, graph_of, rebuilt
from symlayout.tensors.declaration import Body
from symlayout.walks import Walk

_FLOAT, _INT32 = np.dtype(np.float32), np.dtype(np.int32)
_CAST = Body("cast", quantization.cast, (("to", _FLOAT),))
_REAL = Body("as_real", quantization.as_real)
_EXACT = (np.add, np.subtract, np.multiply)  # functions of integers that are those of real numbers, as int32 holds them


def without_rounding(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return *tensors* with each value that a runtime rounds replaced by its formula; the same ones without any.

    Examples
    --------
    >>> import symlayout as sl
    >>> x, s = sl.tensor("N", dtype="uint8", name="x"), sl.tensor((), dtype="float32", name="s")
    >>> y = sl.op("microsoft:QLinearSigmoid")(x, s, None, s)
    >>> [value.body.name for value in without_rounding({"y": y})["y"].graph() if value.body]
    ['dequantized', 'Sigmoid', 'quantized']
    """

    def made_of(node: Tensor, inputs: tuple[Tensor, ...]) -> Tensor:
        again = node.remade(inputs, {})
        formula = _formula(again)
        return formula if formula is not None and stands_for(formula, again) else again

    made = rebuilt(graph_of(tensors.values()), made_of)
    return {name: made[id(t)] for name, t in tensors.items()}


def _formula(node: Tensor) -> Tensor | None:
    """Return what stands in the place of a value that a runtime rounds; None for other values."""
    body = node.body
    if body is None:
        return None
    if body.rounds:
        return node.inputs[0]
    is_real = body == _CAST and node.inputs[0].dtype == _INT32
    return _real(node.inputs[0], {}) if is_real and _sums_products(node.inputs[0]) else None


def _sums_products(t: Tensor) -> bool:
    """Return whether integers are made of a sum of products, by operations that real numbers have."""
    walk = Walk([t])
    for node in walk:
        if node.dtype == _INT32 and node.body is not None and node.body.sums_products:
            return True
        if node.dtype == _INT32 and (node.body is None or node.body.function in _EXACT):
            walk.to(node.inputs)
    return False


def _real(t: Tensor, made: dict[int, Tensor]) -> Tensor:
    """Return integers as real numbers, with the operations on them."""
    if t.dtype != _INT32:
        return t
    if id(t) not in made:
        made[id(t)] = _of_integers(t, made)
    return made[id(t)]


def _of_integers(t: Tensor, made: dict[int, Tensor]) -> Tensor:
    body = t.body
    if body is None:
        return t.remade(tuple([_real(x, made) for x in t.inputs]), {}) if t.inputs else _as_real(t)
    if body.sums_products:
        return t.remade(tuple([_real(x, made) for x in t.inputs]), {})
    if body.function in _EXACT:
        return elementwise(body, *(_real(x, made) for x in t.inputs), dtype=_FLOAT)
    if body.function is quantization.cast and t.inputs[0].dtype in (np.uint8, np.int8, np.uint16, np.int16):
        return _as_real(t.inputs[0])
    return _as_real(t)


def _as_real(t: Tensor) -> Tensor:
    return elementwise(_REAL, t, dtype=_FLOAT)
