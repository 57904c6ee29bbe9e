"""ONNX's layers with states, dropout, random values, losses, and steps of training."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from symlayout.compute import along_axis
from symlayout.compute.demands import demanding, nonempty
from symlayout.compute.elementwise import elementwise
from symlayout.compute.recurrent import ACTIVATIONS, CELLS, recurrent
from symlayout.compute.training import STEPS
from symlayout.compute.whole import class_loss, where_elements, whole
from symlayout.errors import LEFT_OUT, ShapeError
from symlayout.frontends import attributes
from symlayout.frontends.onnx.element_types import of_number
from symlayout.frontends.onnx.operator import AT_LEAST_1, is_known, known_number, operator
from symlayout.frontends.onnx.shape_values import dims_of
from symlayout.frontends.rank import require_rank, require_shape
from symlayout.ops.broadcast import broadcast_to
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import constant
from symlayout.tensors.declaration import Body, Places

_LAYER = {
    "activations": "Names of functions.",
    "activation_alpha": "Coefficients of the functions.",
    "activation_beta": "Coefficients of the functions.",
    "clip": "The largest absolute value of what functions get.",
    "hidden_size": "The number of values of a state.",
    "input_forget": "Whether the input gate follows from the forget gate.",
    "layout": "0: time is the first axis; 1: the batch is.",
    "linear_before_reset": "Where the reset gate is applied.",
    "output_sequence": "Has no effect since opset 7.",
}


# For each layer its inputs, the attribute that only it has, its number of states, and the gates of the example.
_LAYERS: dict[str, tuple[str, str | None, int, int]] = {
    "RNN": ("X W R B sequence_lens initial_h", None, 1, 1),
    "GRU": ("X W R B sequence_lens initial_h", "linear_before_reset", 1, 3),
    "LSTM": ("X W R B sequence_lens initial_h initial_c P", "input_forget", 2, 4),
}
_LAYER_ATTRIBUTES: dict[str, Any] = {
    "hidden_size": None,
    "direction": "forward",
    "layout": 0,
    "activations": (),
    "activation_alpha": (),
    "activation_beta": (),
    "clip": None,
    "output_sequence": 0,
    "outputs": 1,
}


def _layer(name: str, xs: Sequence[Tensor | None], given: Mapping[str, Any]) -> Tensor | list[Tensor]:
    X, W, R = xs[:3]
    assert X is not None
    assert W is not None
    assert R is not None
    for x in (X, W, R):
        require_rank(name, x, 3, 3)
    mode = attributes.choice("direction", given["direction"], ("forward", "reverse", "bidirectional"))
    size, clip = given["hidden_size"], given["clip"]
    is_open = size is None or (clip is not None and not clip > 0)  # runtimes differ in what they make of it
    size = R.shape[2] if size is None else size
    ways = 2 if mode == "bidirectional" else 1
    batch_first = attributes.flag("layout", given["layout"])
    time, batch = (X.shape[1], X.shape[0]) if batch_first else X.shape[:2]
    every = (batch, time, ways, size) if batch_first else (time, ways, batch, size)
    first = last = (batch, ways, size) if batch_first else (ways, batch, size)
    variant = _LAYERS[name][1]
    rows = _LAYERS[name][3] * size
    weights = ((ways, rows, X.shape[2]), (ways, rows, size), (ways, 2 * rows))
    shapes_of = (X.shape, *weights, (batch,), first, first, (ways, 3 * size))
    fitting: list[Tensor | None] = []
    for k, (one, shape) in enumerate(zip(xs, shapes_of, strict=False)):
        if one is None:
            fitting.append(None if k == _LENGTHS else _zeros(shape, X))
        else:
            fitting.append(require_shape(f"input {k} of {name}", one, shape))
    xs = fitting
    functions = given["activations"] or ()
    needed = ways * len(CELLS[name][2])
    if functions and len(functions) != needed and list(functions) != _DEFAULT:
        raise ShapeError(f"{name} has {needed} activations, got {len(functions)}", "length_mismatch")
    known_names = [key.lower() for key in ACTIVATIONS]
    for function in functions:
        attributes.choice("activations", function.lower(), known_names)
    settings = [
        ("cell", name),
        ("given", [x is not None for x in xs]),
        ("direction", mode),
        ("layout", batch_first),
        ("activations", functions),
        ("alpha", given["activation_alpha"] or ()),
        ("beta", given["activation_beta"] or ()),
        ("clip", clip),
        ("variant", variant is not None and attributes.flag(variant, given[variant])),
    ]
    operands = [x for x in xs if x is not None]
    shapes = [every, *[last] * _LAYERS[name][2]][: given["outputs"]]
    number = sum(x is not None for x in xs[:_LENGTHS])
    has_lengths = len(xs) > _LENGTHS and xs[_LENGTHS] is not None
    places = (Places(number, axes=(int(batch_first),), lengths=True),) if has_lengths else ()
    function = None if is_open else recurrent
    made = partial(whole, name, operands, function=function, dtype=X.dtype, places=places)
    found = [made(shape, attributes=[*settings, ("output", k)]) for k, shape in enumerate(shapes)]
    return found if given["outputs"] > 1 else found[0]


_DEFAULT = ["Tanh", "Tanh"]  # the activations of RNN, of which one direction needs the first
_LENGTHS = 4  # the number of the input that has no elements where it is left out


def _zeros(shape: tuple[Any, ...], like: Tensor) -> Tensor:
    """Return what the standard says that an input is which is left out."""
    return broadcast_to(constant(np.zeros((), like.dtype or np.float32), "zero"), shape)


def _registered(name: str) -> Callable[..., Any]:
    inputs, variant, states, gates = _LAYERS[name]
    names = inputs.split()
    defaults = {**({variant: 0} if variant else {}), **_LAYER_ATTRIBUTES}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        *(inspect.Parameter(n, kind, annotation="Tensor") for n in names[:3]),
        *(inspect.Parameter(n, kind, default=None, annotation="Tensor | None") for n in names[3:]),
        *(inspect.Parameter(n, kind, default=d, annotation="Any") for n, d in defaults.items()),
    ]
    signature = inspect.Signature(parameters, return_annotation="Tensor | list[Tensor]")

    def applied(*args: Any, **kwargs: Any) -> Tensor | list[Tensor]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = dict(bound.arguments)
        return _layer(name, [values.pop(n) for n in names], values)

    applied.__name__ = applied.__qualname__ = name.lower()
    cells = ", then the last cell" if states == 2 else ""
    applied.__doc__ = f"Return the states of an {name} layer at all times, then the last state{cells}."
    applied.__signature__ = signature  # type: ignore[attr-defined]
    shapes = f"T, N, C; 1, {8 * gates}, C; 1, {8 * gates}, 8"
    example = (shapes, "hidden_size=8", "(T, 1, N, 8)")
    kinds, allowed = "rank, bad_mode, size_mismatch", {"hidden_size": AT_LEAST_1}
    return operator(name, example=example, kinds=kinds, about=_LAYER, allowed=allowed)(applied)


globals().update({name.lower(): _registered(name) for name in _LAYERS})


@operator(
    "Dropout",
    example=("N, C", "", "(N, C)"),
    kinds="attr_dtype, attr_range, rank",
    about={
        "ratio": "The part of elements that becomes 0 in training: at least 0 and less than 1.",
        "training_mode": "Whether elements are dropped.",
    },
)
def dropout(
    data: Tensor,
    ratio: Tensor | Any = None,
    training_mode: Tensor | Any = None,
    seed: Any = None,
    is_test: Any = None,
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return *data*, and with two *outputs* the mask of the elements that stay.  In training, the result is random."""
    for name, x in (("ratio", ratio), ("training_mode", training_mode)):
        if isinstance(x, Tensor):
            require_rank(name, x, 0, 0)
    trains = training_mode is not None and not (
        is_known(training_mode) and not known_number("training_mode", training_mode)
    )
    is_open = ratio is not None and not is_known(ratio)
    part = None if ratio is None or is_open else known_number("ratio", ratio)
    if part is not None and not 0 <= part < 1:
        raise ShapeError(f"ratio {part} is not from 0 to 1", "attr_range")
    none = part is not None and not part
    if trains and not none:
        xs = [x for x in (data, ratio, training_mode) if isinstance(x, Tensor)]
        drops = partial(whole, "dropout", xs, data.shape, random=True, total=not is_open)  # a ratio may be outside
        made = [
            drops(dtype=dtype, attributes=[("output", k)])
            for k, dtype in enumerate((data.dtype, np.dtype(bool))[:outputs])
        ]
    else:
        made = [data, broadcast_to(constant(np.ones((), bool)), data.shape)][:outputs]
    if is_open and not trains:
        made = [where_elements(x, ratio, "ratio", Places(0, limits=(0, 1), below=True)) for x in made]
    return made if outputs > 1 else made[0]


@operator(
    "Dropout-10",
    "Dropout-7",
    example=("N, C", "", "(N, C)"),
    kinds="attr_dtype",
    about={"ratio": "Has no effect on inference."},
)
def dropout_10(data: Tensor, ratio: Any = 0.5) -> Tensor:
    """Return *data*, as until opset 11; the standard does not say what the mask is there."""
    return data


def _drawn(name: str, xs: Sequence[Tensor], shape: Sequence[Any], dtype: Any, given: dict[str, Any]) -> Tensor:
    return whole(name, xs, shape, dtype=dtype, random=True, attributes=sorted(given.items()))


_RANDOM = {
    "mean": "The mean.",
    "scale": "The standard deviation.",
    "low": "The lower limit.",
    "high": "The upper limit.",
    "sample_size": "How many are drawn for each row.",
}


@operator("RandomNormal", example=("", "shape=(2, 3)", "(2, 3)"), kinds="attr_dtype", about=_RANDOM)
def random_normal(shape: Any, mean: float = 0.0, scale: float = 1.0, dtype: Any = 1, seed: Any = None) -> Tensor:
    """Return values of a normal distribution."""
    given = {"mean": mean, "scale": scale}
    return _drawn("RandomNormal", [], dims_of("shape", shape), of_number("dtype", dtype), given)


@operator("RandomUniform", example=("", "shape=(2, 3)", "(2, 3)"), kinds="attr_dtype", about=_RANDOM)
def random_uniform(shape: Any, low: float = 0.0, high: float = 1.0, dtype: Any = 1, seed: Any = None) -> Tensor:
    """Return values of a uniform distribution."""
    given = {"low": low, "high": high}
    return _drawn("RandomUniform", [], dims_of("shape", shape), of_number("dtype", dtype), given)


def _like(input: Tensor, dtype: Any) -> Any:
    return input.dtype if dtype is None else of_number("dtype", dtype)


@operator("RandomNormalLike", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def random_normal_like(
    input: Tensor, mean: float = 0.0, scale: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Return values of a normal distribution, of the shape of *input*."""
    return _drawn("RandomNormalLike", [input], input.shape, _like(input, dtype), {"mean": mean, "scale": scale})


@operator("RandomUniformLike", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def random_uniform_like(
    input: Tensor, low: float = 0.0, high: float = 1.0, dtype: Any = None, seed: Any = None
) -> Tensor:
    """Return values of a uniform distribution, of the shape of *input*."""
    return _drawn("RandomUniformLike", [input], input.shape, _like(input, dtype), {"low": low, "high": high})


@operator("Bernoulli", example=("N, C", "", "(N, C)"), kinds="attr_dtype", about=_RANDOM)
def bernoulli(input: Tensor, dtype: Any = None, seed: Any = None) -> Tensor:
    """Return 0 or 1, with the probability of 1 that each element has."""
    return _drawn("Bernoulli", [input], input.shape, _like(input, dtype), {})


@operator("Multinomial", example=("N, C", "sample_size=4", "(N, 4)"), kinds="rank, attr_dtype", about=_RANDOM)
def multinomial(input: Tensor, sample_size: Any = 1, dtype: Any = 6, seed: Any = None) -> Tensor:
    """Return numbers of columns, drawn with the logarithms of probabilities that each row has."""
    require_rank("Multinomial", input, 2, 2)
    count = attributes.scalar("sample_size", sample_size, 0)
    return _drawn("Multinomial", [input], (input.shape[0], count), of_number("dtype", dtype), {})


_LOSS = {"ignore_index": "The class that does not count.", "reduction": '``"none"``, ``"sum"`` or ``"mean"``.'}


def _loss(name: str, x: Tensor, labels: Tensor, weight: Tensor | None, ignore: Any, reduction: str) -> Tensor:
    mode = attributes.choice("reduction", reduction, ("none", "sum", "mean"))
    require_rank(name, x, 2)
    require_rank(name, labels, x.rank - 1, x.rank - 1)
    what = "labels have an extent of {} beside one of {}"
    x = demanding(x, what, list(zip(labels.shape, (x.shape[0], *x.shape[2:]), strict=True)))
    x = nonempty(x, [1])
    if weight is not None:
        require_rank(name, weight, 1, 1)
        what, fitting = "{} weights of {} classes", [(weight.shape[0], x.shape[1])]
        if all(isinstance(n, int) for n in fitting[0]):
            demanding(x, what, at_least=fitting)
        x = demanding(x, what, fitting, kind=LEFT_OUT)  # runtimes read the weights of the labels alone
    xs = [x, labels, *([] if weight is None else [weight])]
    given = [("ignore", ignore), ("reduction", mode)]
    shape = labels.shape if mode == "none" else ()
    places = (Places(1, axes=(1,), from_end=False, other=ignore),)
    return whole(name, xs, shape, function=class_loss, attributes=given, dtype=x.dtype, places=places)


@operator("NegativeLogLikelihoodLoss", example=("N, C; N", "", "()"), kinds="rank, bad_mode", about=_LOSS)
def negative_log_likelihood_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, ignore_index: Any = None, reduction: str = "mean"
) -> Tensor:
    """Return the loss of logarithms of probabilities against classes."""
    return _loss("NegativeLogLikelihoodLoss", input, target, weight, ignore_index, reduction)


@operator("SoftmaxCrossEntropyLoss", example=("N, C; N", "", "()"), kinds="rank, bad_mode", about=_LOSS)
def softmax_cross_entropy_loss(
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    ignore_index: Any = None,
    reduction: str = "mean",
    outputs: int = 1,
) -> Tensor | list[Tensor]:
    """Return the loss of scores against classes, and with two *outputs* the logarithm of the softmax."""
    logarithm = along_axis.along(scores, [1], along_axis.log_softmax)
    full = [(n, 1) for n in scores.shape]  # onnxruntime reshapes scores with a -1
    logarithm = demanding(logarithm, "an extent of {}, below {}", at_least=full, kind=LEFT_OUT)
    loss = _loss("NegativeLogLikelihoodLoss", logarithm, labels, weights, ignore_index, reduction)
    return [loss, logarithm] if outputs > 1 else loss


def _step(name: str, R: Tensor, T: Tensor, inputs: Sequence[Tensor], given: Mapping[str, Any]) -> list[Tensor]:
    """Return the new values of each group of *inputs*: a parameter, its gradient, and what the method keeps."""
    function, kept = STEPS[name]
    count, rest = divmod(len(inputs), kept + 1)
    if rest or not count:
        raise ShapeError(f"{name} takes {kept + 1} tensors for each parameter, not {len(inputs)}", "length_mismatch")
    groups = [inputs[k::count] for k in range(count)]
    made = []
    for output in range(kept):
        body = Body(name, function, (*sorted(given.items()), ("output", output)))
        made += [elementwise(body, *group, R, T, dtype=group[0].dtype) for group in groups]
    return made


_TRAINING = {
    "R": "The learning rate.",
    "T": "The number of steps before.",
    "inputs": "All parameters, all gradients, then all of each thing that the method keeps.",
    "decay_factor": "How the learning rate decreases.",
    "norm_coefficient": "The factor of the parameter that is added to the gradient.",
    "norm_coefficient_post": "The factor of the parameter that is taken away after the step.",
    "alpha": "How much of the mean of gradients stays.",
    "beta": "How much of the mean of squares stays, or the factor of the gradient.",
    "epsilon": "What is added to the root.",
}
_PREVIEW = "ai.onnx.preview.training"


@operator(
    f"{_PREVIEW}.Adagrad", example=("1; 1; C; C; C", "", "[(C,), (C,)]"), kinds="length_mismatch", about=_TRAINING
)
def adagrad(
    R: Tensor,
    T: Tensor,
    *inputs: Tensor,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> list[Tensor]:
    """Return parameters after a step of Adagrad, then the sums of squared gradients."""
    given = {"decay_factor": decay_factor, "epsilon": epsilon, "norm_coefficient": norm_coefficient}
    return _step("Adagrad", R, T, inputs, given)


@operator(
    f"{_PREVIEW}.Adam", example=("1; 1; C; C; C; C", "", "[(C,), (C,), (C,)]"), kinds="length_mismatch", about=_TRAINING
)
def adam(
    R: Tensor,
    T: Tensor,
    *inputs: Tensor,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> list[Tensor]:
    """Return parameters after a step of Adam, then the means of gradients and of their squares."""
    given = {
        "alpha": alpha,
        "beta": beta,
        "epsilon": epsilon,
        "norm_coefficient": norm_coefficient,
        "norm_coefficient_post": norm_coefficient_post,
    }
    return _step("Adam", R, T, inputs, given)


@operator(
    f"{_PREVIEW}.Momentum",
    example=("1; 1; C; C; C", 'alpha=0.9, beta=1.0, mode="standard", norm_coefficient=0.0', "[(C,), (C,)]"),
    kinds="length_mismatch, bad_mode",
    about=_TRAINING,
)
def momentum(
    R: Tensor, T: Tensor, *inputs: Tensor, alpha: float, beta: float, mode: str, norm_coefficient: float
) -> list[Tensor]:
    """Return parameters after a step with momentum, then the momenta."""
    nesterov = attributes.choice("mode", mode, ("standard", "nesterov")) == "nesterov"
    given = {"alpha": alpha, "beta": beta, "nesterov": nesterov, "norm_coefficient": norm_coefficient}
    return _step("Momentum", R, T, inputs, given)
