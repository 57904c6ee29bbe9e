"""Models of one node: each operator of the standard in each version since opset 7, with inputs that its tests have.

A node of the tests of the package ``onnx``, or a drawn one, is brought to another version: what is an input there and
an attribute here changes places.  Then it may be changed in some places.
"""

from __future__ import annotations

import io
import os
import pickle
import random
import select
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from onnx import defs, helper, numpy_helper

from symlayout.errors import shortened
from tests import onnx_nodes
from tests.attack.runtimes import Sessions, has_onnxruntime
from tests.attack.values import drawn
from tests.onnx_nodes.draw_nodes import DRAWS, Case
from tests.onnx_nodes.random_nodes import Draw

Array = np.ndarray[Any, Any]
FIRST = 7  # the opset from which on versions count
_MOST_ELEMENTS = 1 << 13
_MODULES = {"Range": "rangeop"}  # the modules of tests that are not called as their operators
_DRAWN = 30  # nodes of each drawer
_JUDGED_FOR = 20.0  # seconds
_RENAMED = {"k": "K", "value": "constant_value"}  # attributes that became inputs of another name


@dataclass
class OneNode:
    """A node, and arrays for its inputs; None is one that is left out."""

    op: str
    domain: str
    opset: int
    inputs: list[Array | None]
    attributes: dict[str, Any]
    outputs: int = 1
    constants: set[int] = field(default_factory=set)

    def __str__(self) -> str:
        shown = []
        for k, a in enumerate(self.inputs):
            text = "-" if a is None else f"{a.dtype}{list(a.shape)}"
            shown.append(f"{text}={a.tolist()}" if a is not None and a.size < 9 else text)
            shown[-1] += "!" * (k in self.constants)
        given = {n: shortened(str(v)) for n, v in self.attributes.items()}
        title = f"{self.domain}:{self.op} of opset {self.opset}"
        return f"{title} ({', '.join(shown)}; {given}) -> {self.outputs}"


@cache
def versions() -> tuple[tuple[str, str, int, int], ...]:
    """Return each operator, its domain, each of its versions from opset 7 on, and the last opset that has it."""
    every: dict[tuple[str, str], list[int]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain in ("", "ai.onnx.preview.training") and not schema.deprecated:
            every.setdefault((schema.name, schema.domain), []).append(schema.since_version)
    found = []
    for (op, domain), since in sorted(every.items()):
        first = FIRST if not domain else 1
        ends = [n - 1 for n in sorted(since)[1:]] + [defs.onnx_opset_version() if not domain else 1]
        for start, end in zip(sorted(since), ends, strict=True):
            if end >= first and not defs.get_schema(op, end, domain).deprecated:
                found.append((op, domain, max(start, first), end))
    return tuple(found)


@cache
def seeds(op: str, domain: str = "") -> tuple[OneNode, ...]:
    """Return nodes of an operator that run: those of its tests, and drawn ones."""
    found = [one for one in _drawn_ones() if one.op == op and not domain]
    known = {module.replace("_", ""): module for module in onnx_nodes.modules()}
    if (module := known.get(_MODULES.get(op, op.lower()))) is not None:
        for case in onnx_nodes.cases(module):
            nodes = case.model.graph.node
            if len(nodes) == 1 and nodes[0].op_type == op and onnx_nodes.has_tensors_only(case):
                found.append(_of_test(case))
    return tuple(one for one in found if sum(a.size for a in one.inputs if a is not None) <= _MOST_ELEMENTS)


@cache
def _drawn_ones() -> tuple[OneNode, ...]:
    return tuple(_of_case(draw(Draw(1000 * k + n))) for k, draw in enumerate(DRAWS) for n in range(_DRAWN))


def _of_test(case: Any) -> OneNode:
    (node,) = case.model.graph.node
    given = next(onnx_nodes.data_sets(case))[0] if case.data_sets else {}
    given |= {t.name: numpy_helper.to_array(t) for t in case.model.graph.initializer}
    inputs = [given.get(name) for name in node.input]
    opset = next((o.version for o in case.model.opset_import if o.domain == node.domain), 1)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return OneNode(node.op_type, node.domain, opset, inputs, attributes, len(node.output))


def _of_case(case: Case) -> OneNode:
    return OneNode(case.op, "", case.version, list(case.inputs), dict(case.attributes), case.outputs)


def at_version(one: OneNode, opset: int) -> OneNode:
    """Return a node as another version writes it."""
    schema = defs.get_schema(one.op, opset, one.domain)
    before = defs.get_schema(one.op, one.opset, one.domain)
    names = [i.name for i in schema.inputs]
    known = [i.name for i in before.inputs]
    variadic = bool(schema.inputs) and schema.inputs[-1].option == type(schema).FormalParameterOption.Variadic
    inputs, attributes = list(one.inputs), dict(one.attributes)
    for k, name in enumerate(known):
        if not variadic and name not in names and k < len(inputs):
            own = next((a for a in schema.attributes if _RENAMED.get(a, a) == name), None)
            if own is not None and inputs[k] is not None:
                listed = inputs[k].reshape(-1).tolist()  # type: ignore[union-attr]
                many = schema.attributes[own].type.name.endswith("S")
                attributes[own] = listed if many else listed[0] if listed else 0
    if not variadic:
        by_name = dict(zip(known, inputs, strict=False))
        same = len(set(known) & set(names)) < min(len(known), len(names))  # only names changed
        inputs = [by_name.get(n, inputs[k] if same and k < len(inputs) else None) for k, n in enumerate(names)]
        for name in [a for a in attributes if a not in schema.attributes]:
            moved = _RENAMED.get(name, name)
            if moved in names:
                formal = schema.inputs[names.index(moved)]
                value = attributes[name]
                kind = np.int64 if "int64" in "".join(formal.types) and "float" not in "".join(formal.types) else None
                first = one.inputs[0]
                inputs[names.index(moved)] = np.asarray(
                    value,
                    kind or (first.dtype if first is not None and name in ("min", "max", "value") else np.float32),
                )
        while inputs and inputs[-1] is None:
            inputs.pop()
    attributes = {name: value for name, value in attributes.items() if name in schema.attributes}
    return OneNode(one.op, one.domain, opset, inputs, attributes, min(one.outputs, schema.max_output))


def model_of(one: OneNode) -> Any:
    """Return the model of a node."""
    names = ["" if a is None else f"x{k}" for k, a in enumerate(one.inputs)]
    values, constants = [], []
    for k, (name, a) in enumerate(zip(names, one.inputs, strict=True)):
        if a is None:
            continue
        if k in one.constants:
            constants.append(numpy_helper.from_array(np.asarray(a, object) if a.dtype.kind == "U" else a, name))
        else:
            values.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape))
    results = [f"y{k}" for k in range(one.outputs)]
    node = helper.make_node(one.op, names, results, domain=one.domain)
    node.attribute.extend(_attribute(one, name, value) for name, value in one.attributes.items())
    graph = helper.make_graph([node], "g", values, [helper.make_empty_tensor_value_info(r) for r in results], constants)
    standard = one.opset if not one.domain else 20
    sets = [helper.make_opsetid("", standard)] + [helper.make_opsetid(one.domain, one.opset)] * bool(one.domain)
    return helper.make_model(graph, opset_imports=sets, ir_version=10)


def _attribute(one: OneNode, name: str, value: Any) -> Any:
    known = defs.get_schema(one.op, one.opset, one.domain).attributes.get(name)
    if known is None:
        return helper.make_attribute(name, value)
    try:
        return helper.make_attribute(name, value, attr_type=int(known.type.value))
    except (TypeError, ValueError):
        return helper.make_attribute(name, value)


def arrays_of(one: OneNode) -> dict[str, Array]:
    """Return what the inputs of the model get."""
    return {f"x{k}": a for k, a in enumerate(one.inputs) if a is not None and k not in one.constants}


# ---------------------------------------------------------------------- changes


def _choices(op: str, domain: str, name: str) -> list[Any]:
    """Return the values that tests give an attribute."""
    return [one.attributes[name] for one in seeds(op, domain) if name in one.attributes]


def with_another_attribute(one: OneNode, rnd: random.Random) -> OneNode:
    """Leave an attribute out, or give it a value that it may have."""
    schema = defs.get_schema(one.op, one.opset, one.domain)
    if not schema.attributes or one.op == "Constant":  # which has one attribute
        return one
    name = rnd.choice(sorted(schema.attributes))
    attributes = dict(one.attributes)
    kind = schema.attributes[name].type.name
    known = _choices(one.op, one.domain, name)
    if name in attributes and rnd.random() < 0.5:
        del attributes[name]
    elif kind == "INT":
        attributes[name] = rnd.choice((0, 1, -1, 2, *([int(v) for v in known if isinstance(v, int)])))
    elif kind == "FLOAT":
        attributes[name] = rnd.choice((0.0, 0.5, 1.0, -0.25, 2.0))
    elif kind == "INTS" and name in attributes:
        attributes[name] = [rnd.choice((n, n, 0, 1, 2)) for n in attributes[name]]
    elif known and kind not in ("GRAPH", "GRAPHS"):
        attributes[name] = rnd.choice(known)
    return replace(one, attributes=attributes)


def with_other_inputs(one: OneNode, rnd: random.Random) -> OneNode:
    """Leave an optional input out, give elements other values, or another type."""
    schema = defs.get_schema(one.op, one.opset, one.domain)
    inputs = list(one.inputs)
    optional = [
        k
        for k, i in enumerate(schema.inputs)
        if i.option == type(schema).FormalParameterOption.Optional and k < len(inputs)
    ]
    way = rnd.random()
    if optional and way < 0.4:
        inputs[rnd.choice(optional)] = None
        while inputs and inputs[-1] is None:
            inputs.pop()
    elif way < 0.6:
        inputs = _other_type(schema, inputs, rnd)
    elif inputs:
        k = rnd.randrange(len(inputs))
        a = inputs[k]
        rng = np.random.default_rng(rnd.getrandbits(32))
        if a is not None and a.dtype.kind not in "USO":
            if a.dtype.kind in "iu" and a.size:
                made = np.asarray(rng.permutation(a.reshape(-1)).reshape(a.shape))
            else:
                made = drawn(rng, a.shape, a.dtype, rnd.choice(("small", "special", "normal")))
            inputs[k] = made
    return replace(one, inputs=inputs)


def _other_type(schema: Any, inputs: list[Array | None], rnd: random.Random) -> list[Array | None]:
    """Give all inputs of one type variable another type that the schema knows."""
    variables = {i.type_str: i.types for i in schema.inputs if len(i.types) > 1}
    if not variables:
        return inputs
    variable = rnd.choice(sorted(variables))
    names = sorted(t[7:-1] for t in variables[variable] if t.startswith("tensor(") and "string" not in t)
    if not names:
        return inputs
    number = helper.TensorProto.DataType.Value(rnd.choice(names).upper())
    dtype = helper.tensor_dtype_to_np_dtype(number)
    made = []
    for k, a in enumerate(inputs):
        formal = schema.inputs[min(k, len(schema.inputs) - 1)]
        if a is None or formal.type_str != variable or a.dtype.kind in "USO":
            made.append(a)
            continue
        with np.errstate(all="ignore"):
            real = np.nan_to_num(a.real if a.dtype.kind == "c" else a.astype(np.float64))
            made.append(np.asarray(real).astype(dtype))
    return made


def with_constants(one: OneNode, rnd: random.Random) -> OneNode:
    """Make inputs constants: mostly small integers, from which shapes follow."""
    chosen = set()
    all_of_them = rnd.random() < 0.15
    for k, a in enumerate(one.inputs):
        if a is not None and (k or len(one.inputs) == 1 or all_of_them):
            likely = 0.85 if a.dtype.kind in "iu" and a.ndim < 2 else 0.6 if a.size < 9 else 0.1
            if a.dtype.kind not in "USO" and (all_of_them or rnd.random() < likely):
                chosen.add(k)
    return replace(one, constants=chosen)


def drawn_node(seed: int, *, changed: bool = True) -> tuple[str, OneNode, random.Random] | None:
    """Return a node of a version, each version in turn, *changed* in places or as tests have it.

    It is valid most of the time.  None if the operator has no tests.
    """
    every = versions()
    op, domain, start, end = every[seed % len(every)]
    rnd = random.Random(seed)
    known = seeds(op, domain)
    if not known:
        return None
    one = at_version(rnd.choice(known), rnd.choice((start, end, rnd.randint(start, end))))
    for _ in range(rnd.choice((0, 1, 1, 2, 3)) if changed else 0):
        one = rnd.choice((with_another_attribute, with_other_inputs))(one, rnd)
    most = defs.get_schema(op, one.opset, domain).max_output
    if changed and rnd.random() < 0.3 and most < 9:
        one = replace(one, outputs=rnd.randint(max(one.outputs, 1), most))
    return (
        f"{domain and domain + '.'}{op}-{defs.get_schema(op, start, domain).since_version}",
        with_constants(one, rnd),
        rnd,
    )


@cache
def import_runtimes() -> None:
    """Import what the judges need, so that processes that fork have it already."""
    one = OneNode("Relu", "", 14, [np.zeros(1, np.float32)], {})
    Sessions(model_of(one)).by_reference(arrays_of(one))
    if has_onnxruntime():
        import_module("onnxruntime")


def in_a_process(functions: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return what functions return in a process of its own; less if that ends, or takes too long."""
    import_runtimes()
    here, there = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(here)
            with os.fdopen(there, "wb") as pipe:
                for function in functions:
                    pickle.dump(function(), pipe)
                    pipe.flush()
        finally:
            os._exit(0)
    os.close(there)
    data = b""
    with os.fdopen(here, "rb", 0) as pipe:
        while select.select([pipe], [], [], _JUDGED_FOR)[0]:
            part = pipe.read(1 << 16)
            if not part:
                break
            data += part
        else:
            os.kill(child, 9)
    os.waitpid(child, 0)
    found: list[Any] = []
    stream = io.BytesIO(data)
    with suppress(EOFError, pickle.UnpicklingError):
        while len(found) < len(functions):
            found.append(pickle.load(stream))
    return found
