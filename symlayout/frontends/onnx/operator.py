"""Register operators of ONNX: constants become tensors, and the documentation is completed from tables.

An operator is a function whose parameters have the names of the standard: inputs first, in the standard's order, then
attributes.  A parameter that is annotated `Tensor` takes a tensor, or an array, which becomes a constant.  Any other
input (axes, a shape, repeats) takes what attributes take.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Collection, Mapping
from keyword import iskeyword
from typing import Any, ParamSpec, TypeVar

import numpy as np

from symlayout.errors import ShapeError, shown
from symlayout.frontends.registry import register
from symlayout.tensors.chain import Applicable, Tensor, not_a_tensor
from symlayout.tensors.computation import constant

P = ParamSpec("P")
R = TypeVar("R")

EXAMPLES: dict[str, tuple[str, str]] = {}
"""For each operator the shapes of an example's inputs, and its attributes."""

AT_LEAST_0 = range(1 << 31)
"""The numbers that may be 0."""

AT_LEAST_1 = range(1, 1 << 31)
"""The numbers of things of which there is one at least."""

Sizes = Any
"""An input that also takes integers that a model computes from its dims."""

# What the parameters mean that several operators have.
PARAMETERS: dict[str, tuple[str, str]] = {
    "alpha": ("float", "A coefficient of the formula."),
    "approximate": ("str", '``"none"`` or ``"tanh"``.'),
    "auto_pad": ("str", '``"NOTSET"``: *pads* count.  ``"SAME_UPPER"``, ``"SAME_LOWER"`` or ``"VALID"``.'),
    "axes": ("sequence of int, optional", "Negative ones count from the end.  None is all axes."),
    "axis": ("int", "Negative ones count from the end."),
    "batch_dims": ("int", "How many of the first axes all inputs have."),
    "beta": ("float", "A coefficient of the formula."),
    "bias": ("float", "What is added."),
    "block_size": ("int", "How many elements share a scale; 0 is a whole axis."),
    "ceil_mode": ("int", "Whether a last window may reach past the end."),
    "count_include_pad": ("int", "Whether the pads count as elements."),
    "dilations": ("sequence of int, optional", "One for each spatial axis; None is 1 for all."),
    "direction": ("str", "The direction, as the standard spells it."),
    "dtype": ("int, optional", "The number of an element type."),
    "epsilon": ("float", "What is added to the variance."),
    "exclusive": ("int", "Whether a result leaves its own element out."),
    "group": ("int", "The number of groups of channels."),
    "keepdims": ("int", "Whether the axes stay, with extent 1."),
    "kernel_shape": ("sequence of int, optional", "One for each spatial axis."),
    "mode": ("str", "The mode, as the standard spells it."),
    "momentum": ("float", "Has no effect on inference."),
    "noop_with_empty_axes": ("int", "Whether no axes means no reduction."),
    "output_dtype": ("int", "The number of the result's element type; 0 is the default."),
    "outputs": ("int", "How many outputs of the standard are returned: several as a list."),
    "p": ("int", "The exponent of the norm."),
    "pads": ("sequence of int, optional", "Begins of all spatial axes, then their ends; None is 0 for all."),
    "reduction": ("str", "How several values become one, as the standard spells it."),
    "reverse": ("int", "Whether to begin at the end."),
    "saturate": ("int", "Whether values that are too large become the largest one."),
    "seed": ("float, optional", "Has no effect: random values equal nothing."),
    "shape": ("sequence of int", "The extents of the result."),
    "strides": ("sequence of int, optional", "One for each spatial axis; None is 1 for all."),
    "to": ("int", "The number of the element type."),
}


def operator(
    *names: str,
    example: tuple[str, str, str],
    kinds: str = "size_mismatch, overflow",
    about: Mapping[str, str] | None = None,
    allowed: Mapping[str, Collection[Any]] | None = None,
    joint: bool = False,
    any_rank: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that registers a function as the operators *names*.

    Parameters
    ----------
    names : str
        The operator's name, and names of older versions of the same meaning; with a framework before a colon if it is
        none of the standard's.
    example : tuple of str
        The shapes of the inputs, separated by semicolons, the attributes, and the shape of the result.
    kinds : str
        The kinds of `ShapeError` that it raises.
    about : mapping of str, optional
        The meanings of parameters that `PARAMETERS` does not have.
    allowed : mapping of str, optional
        The values that the standard knows for attributes: texts or numbers, or a range of numbers.
    joint : bool
        Whether it takes a list of tensors as its first argument.
    any_rank : bool
        Whether it takes tensors of any rank, too.
    """

    def keep(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        _complete(names[0], function, signature, example, f"{kinds}, attr_range" if allowed else kinds, about or {})
        titles = [_title(name) for name in names]
        EXAMPLES.update(dict.fromkeys(titles, example[:2]))
        converting = _converting(names[0], function, signature, any_rank=any_rank)
        return register(*titles, joint=joint)(_checking(converting, signature, allowed) if allowed else converting)

    return keep


def _title(name: str) -> str:
    return name if ":" in name else f"onnx:{name}"


def movement(*names: str, joint: bool = False) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that registers an operator whose docstring is complete: a movement of elements."""

    def keep(function: Callable[P, R]) -> Callable[P, R]:
        converting = _converting(names[0], function, inspect.signature(function))
        return register(*(f"onnx:{name}" for name in names), joint=joint)(converting)

    return keep


def snake_case(name: str) -> str:
    """Return the name of the function of an operator.

    >>> [snake_case(name) for name in ("ReduceL1", "MatMul", "GatherND", "LRN", "QLinearConv", "IsNaN")]
    ['reduce_l1', 'mat_mul', 'gather_nd', 'lrn', 'q_linear_conv', 'is_nan']
    """
    name = name.rpartition(":")[2].replace("NaN", "Nan").partition("-")[0].rpartition(".")[2]
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def as_tensor(operator: str, name: str, value: Any, like: Any = None) -> Tensor:
    """Return a tensor: a constant of an array, a number, or lists of numbers.

    Python's numbers get the element type of *like*, and lists of them if that type can hold them.

    Raises
    ------
    TypeError
        *value* is none of these.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, (bool, int, float, complex)) and like is not None and like.dtype is not None:
        try:
            return constant(np.asarray(value, like.dtype), name)
        except (OverflowError, TypeError):
            raise ShapeError(f"{operator}: {name} is {shown(value)}, which is no {like.dtype}", "attr_dtype") from None
    if isinstance(value, (bool, int, float)) or hasattr(value, "__array__"):
        array = np.asarray(value)
        return constant(array.astype(str) if array.dtype.kind == "O" and _is_text(array) else array, name)
    if (numbers := _listed(value)) is not None:
        fitting = numbers if like is None or like.dtype is None else numbers.astype(like.dtype)
        is_same = fitting.dtype.kind in "fcV" or np.array_equal(fitting, numbers)
        return constant(fitting if is_same else numbers, name)
    raise not_a_tensor(operator, value)


def _listed(value: Any) -> np.ndarray[Any, Any] | None:
    """Return lists of numbers as an array; None for other values, and for lists of several lengths."""
    if not isinstance(value, (list, tuple)):
        return None
    try:
        array = np.asarray(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None


def known(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return the elements of an input that has to be a constant.

    Raises
    ------
    ShapeError
        ``attr_dtype`` if *value* is a tensor without known elements.
    """
    if isinstance(value, Tensor):
        if value.values is None:
            raise ShapeError(f"{name} is {shown(value)}, it has to be a constant", "attr_dtype")
        return value.values
    return np.asarray(value)


def known_number(name: str, value: Any) -> Any:
    """Return the only element of an input that has to be a constant: of any rank, as runtimes take it.

    Raises
    ------
    ShapeError
        ``attr_dtype`` as for `known`, and if it has no element or several.
    """
    elements = known(name, value).reshape(-1)
    if elements.size != 1:
        raise ShapeError(f"{name} is one number, got {elements.size}", "attr_dtype")
    return elements[0]


def is_known(value: Any) -> bool:
    """Return whether an input is a constant."""
    return not isinstance(value, Tensor) or value.values is not None


def _is_text(array: np.ndarray[Any, Any]) -> bool:
    return all(isinstance(v, (str, bytes)) for v in array.reshape(-1))


def _converting(
    name: str, function: Callable[P, R], signature: inspect.Signature, *, any_rank: bool = False
) -> Callable[P, R]:
    """Make a function turn arrays into constants, and constants into arrays, as its annotations say."""
    tensors: dict[str, bool] = {}  # parameter: whether it takes a list
    others: set[str] = set()
    lists: set[str] = set()
    order: list[str] = []
    rest: str | None = None
    for p in signature.parameters.values():
        kind = str(p.annotation)
        if p.kind is inspect.Parameter.VAR_POSITIONAL:
            rest = p.name
        elif p.kind is not inspect.Parameter.KEYWORD_ONLY:
            order.append(p.name)
        if kind in ("Tensor", "Tensor | None"):
            tensors[p.name] = p.default is None
        elif kind == "Sequence[Tensor]":
            lists.add(p.name)
        else:
            others.add(p.name)

    def one(parameter: str, value: Any, like: Any) -> Any:
        if isinstance(value, Tensor):
            return value if parameter in tensors or value.values is None or parameter not in others else value.values
        if any_rank and isinstance(value, Applicable):
            return value
        if parameter in lists and isinstance(value, (list, tuple)):
            return [as_tensor(name, parameter, v, like) if hasattr(v, "__array__") else v for v in value]
        if parameter in tensors and not (value is None and tensors[parameter]):
            return as_tensor(name, parameter, value, like)
        return value

    passed = len(list(itertools.takewhile(tensors.__contains__, order)))  # so many parameters take tensors as they are
    passed = sys.maxsize if rest in tensors and passed == len(order) else passed

    def converted(*args: P.args, **kwargs: P.kwargs) -> R:
        if (
            len(args) <= passed
            and all([type(a) is Tensor for a in args])
            and all([key in others and not isinstance(a, Tensor) for key, a in kwargs.items()])
        ):
            return function(*args, **kwargs)  # nothing is to be converted
        like = next((a for a in args if isinstance(a, (Tensor, Applicable))), None)
        new: Any = [one(order[k] if k < len(order) else rest or "", a, like) for k, a in enumerate(args)]
        return function(*new, **{key: one(key, a, like) for key, a in kwargs.items()})

    converted.__module__, converted.__doc__ = function.__module__, function.__doc__
    converted.__name__, converted.__qualname__ = function.__name__, function.__qualname__
    converted.__wrapped__ = function  # type: ignore[attr-defined]
    return converted


def _checking(
    function: Callable[P, R], signature: inspect.Signature, allowed: Mapping[str, Collection[Any]]
) -> Callable[P, R]:
    """Make a function refuse values of attributes that the standard does not know; None is one that is left out.

    Of a list, each element is such a value.
    """
    places = {name: k for k, name in enumerate(signature.parameters) if name in allowed}

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name, place in places.items():
            given = args[place] if place < len(args) else kwargs.get(name)
            for value in given if isinstance(given, list | tuple) else () if given is None else (given,):
                if not isinstance(value, (int, str, np.integer)) or value not in allowed[name]:
                    raise ShapeError(f"{name} is {shown(given)}, {_rule(allowed[name])}", "attr_range")
        return function(*args, **kwargs)

    return checked


def _rule(values: Collection[Any]) -> str:
    """Return what an attribute has to be, for a message."""
    if isinstance(values, range):
        return f"it has to be at least {values.start}" + f" and below {values.stop}" * (values.stop < AT_LEAST_0.stop)
    return f"none of {', '.join(map(repr, values))}"


def _source(name: str) -> str:
    """Return where an operator is specified."""
    framework, _, own = name.rpartition(":")
    if framework == "openvino":
        return f"OpenVINO, operation specification {own}."
    if framework == "tflite":
        return (
            f"TensorFlow Lite, tensorflow/lite/schema/schema.fbs and tensorflow/lite/kernels, builtin operator {own}."
        )
    if framework == "stablehlo":
        part = "CHLO, chlo" if own.startswith("chlo.") else "StableHLO, specification of"
        return f"{part} {own.removeprefix('chlo.')}: https://openxla.org/stablehlo/spec"
    if framework == "torch":
        return f"PyTorch, ATen operator {own}: aten/src/ATen/native/native_functions.yaml."
    if framework == "ml":
        return f"ONNX, operator ai.onnx.ml.{own}: https://onnx.ai/onnx/operators/onnx_aionnxml_{own}.html"
    if framework:
        return f"onnxruntime, docs/ContribOperators.md, com.{framework}.{own}."
    return f"ONNX, operator {own}: https://onnx.ai/onnx/operators/onnx__{own.partition('-')[0]}.html"


def _complete(
    name: str,
    function: Callable[..., Any],
    signature: inspect.Signature,
    example: tuple[str, str, str],
    kinds: str,
    about: Mapping[str, str],
) -> None:
    """Add to a docstring the sections that follow from tables."""
    lines = [inspect.cleandoc(function.__doc__ or f"Return the values of {name}."), "", "Parameters", "----------"]
    for p in signature.parameters.values():
        given = str(p.annotation)
        star = "*" if p.kind is inspect.Parameter.VAR_POSITIONAL else ""
        if "Tensor" in given:
            optional = ", optional" if p.default is None else ""
            what, text = ("Tensor" + optional, about.get(p.name, "An input of the standard."))
        else:
            what, text = PARAMETERS.get(p.name, ("int, float or str", "As in the standard."))
            text = about.get(p.name, text)
        lines += [f"{star}{p.name} : {what}", f"    {text}"]
    shapes, attributes, result = example
    texts = [t for t in shapes.split("; ") if t]
    tensors = [f'sl.tensor("{t}"{f", name={chr(34)}x{k}{chr(34)}" if texts[1:] else ""})' for k, t in enumerate(texts)]
    operands = ", ".join(tensors)
    if any(str(p.annotation) == "Sequence[Tensor]" for p in signature.parameters.values()):
        operands = f"[{operands}]"
    short = snake_case(name)
    own = set(name) & set("-:") or iskeyword(short)
    function_name = f'sl.op("{_title(name)}")' if own else f"sl.onnx.{short}"
    call = f"{function_name}({operands}{', ' if operands and attributes else ''}{attributes})"
    shown_call = f"[y.shape for y in {call}]" if result.startswith("[") else f"{call}.shape"
    if result.isdigit():  # an extent is named when the operator is applied
        shown_call = f"len({call}.shape)"
    lines += [
        "",
        "Raises",
        "------",
        "ShapeError",
        f"    {', '.join(f'``{kind}``' for kind in kinds.split(', '))}.",
        "",
        "References",
        "----------",
        _source(name),
        "",
        "Examples",
        "--------",
        ">>> import symlayout as sl",
        f">>> {shown_call}",
        result,
    ]
    function.__doc__ = "\n".join(lines)
