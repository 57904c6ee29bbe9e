"""PyTorch's operators of exported graphs: the declaration of each, and what it does to the storage of its input.

A target is ``aten.NAME.OVERLOAD``.  An operator without a row here is opaque.  Arguments have the names of the schema,
which are those of the declarations; ``self`` is *input*.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symlayout.frontends.torch.elementwise import ROWS as ELEMENTWISE


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """An operator.

    Attributes
    ----------
    title : str
        The declaration.
    alias : str
        ``"view"`` if the result is in the storage of the first input, ``"maybe"`` if it may be; else empty.
    names : tuple of pairs of str
        Arguments of the schema that have other names in the declaration.
    rest : tuple of str
        Lists of tensors that are, one after the other, the last operands.
    moves : bool
        Whether it moves numbers of shapes.
    """

    title: str
    alias: str = ""
    names: tuple[tuple[str, str], ...] = ()
    rest: tuple[str, ...] = ()
    moves: bool = False


IGNORED = frozenset(
    ("memory_format", "layout", "device", "pin_memory", "non_blocking", "copy", "generator", "requires_grad")
)
"""Arguments that change no element."""

IN_PLACE = "_"
_VIEW, _MAYBE = "view", "maybe"


@dataclass(frozen=True, slots=True)
class _Rows:
    found: dict[str, OperatorRow] = field(default_factory=dict)

    def add(
        self, base: str, overloads: str = "default", title: str = "", alias: str = "", names: str = "", rest: str = ""
    ) -> None:
        """Add the operator *base* with these overloads; *names* has pairs such as ``"dim:axis"``."""
        pairs = tuple((a, b) for a, _, b in (pair.partition(":") for pair in names.split()))
        for overload in overloads.split():
            row = OperatorRow(f"torch:{title or base}", alias, pairs, tuple(rest.split()))
            self.found[f"aten.{base}.{overload}"] = row


_rows = _Rows()
_OVERLOADS = {
    **dict.fromkeys(("add", "sub", "mul", "eq", "ne", "lt", "gt", "le", "ge", "fmod", "remainder"), "Tensor Scalar"),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), "Tensor Scalar"),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max"), "default Tensor"),
    **dict.fromkeys(("masked_fill", "fill", "lerp"), "Tensor Scalar"),
    "div": "Tensor Scalar Tensor_mode Scalar_mode", "floor_divide": "default Scalar", "rsub": "Tensor Scalar",
    "pow": "Tensor_Tensor Tensor_Scalar Scalar", "where": "self ScalarSelf ScalarOther Scalar",
}  # fmt: skip
for _name in sorted(ELEMENTWISE.keys() - {"softsign"}):  # which exports as what it is made of
    _rows.add(_name, _OVERLOADS.get(_name, "default"))
for _name in ("__and__", "__or__", "__xor__"):
    _rows.add(_name, "Tensor Scalar", f"bitwise_{_name.strip('_')}")
_rows.add("fill", "Tensor Scalar")
_rows.add("zero", title="zeros_like")
_rows.add("max", "other", "maximum")
_rows.add("min", "other", "minimum")
_rows.add("multiply", "Tensor Scalar", "mul")
_rows.add("subtract", "Tensor Scalar", "sub")
_rows.add("divide", "Tensor Scalar", "div")
_rows.add("true_divide", "Tensor Scalar", "div")
_rows.add("greater", "Tensor Scalar", "gt")
_rows.add("less", "Tensor Scalar", "lt")

# types
_rows.add("to", "dtype dtype_layout device prim_dtype", alias=_MAYBE)
_rows.add("to", "other", "type_as", alias=_MAYBE)
_rows.add("type_as", alias=_MAYBE)
_rows.add("_to_copy", title="to")

# reductions, and along an axis
_rows.add("sum", "default dim_IntList")
_rows.add("mean", "default dim")
_rows.add("prod", "default dim_int")
_rows.add("amax")
_rows.add("amin")
_rows.add("max", "default", "amax")
_rows.add("min", "default", "amin")
_rows.add("max", "dim", "max.dim")
_rows.add("min", "dim", "min.dim")
_rows.add("all", "default dim dims")
_rows.add("any", "default dim dims")
_rows.add("argmax")
_rows.add("argmin")
for _name in ("var", "std", "var_mean"):
    _rows.add(_name, "default dim correction")
_rows.add("linalg_vector_norm")
_rows.add("norm", "Scalar ScalarOpt_dim ScalarOpt_dim_dtype")
_rows.add("logsumexp")
_rows.add("softmax", "int")
_rows.add("_softmax", title="softmax")
_rows.add("log_softmax", "int")
_rows.add("_log_softmax", title="log_softmax")
for _name in ("cumsum", "cumprod", "topk", "glu", "tril", "triu", "_weight_norm"):
    _rows.add(_name)
_rows.add("sort", "default stable")
_rows.add("argsort", "default stable")

# layers
for _name in (
    "linear", "matmul", "addmm", "outer", "batch_norm", "_native_batch_norm_legit_no_training",
    "layer_norm", "rms_norm", "group_norm", "instance_norm", "scaled_dot_product_attention", "embedding",
):  # fmt: skip
    _rows.add(_name)
_rows.add("mm", names="mat2:other")
_rows.add("bmm", names="mat2:other")
_rows.add("mv", names="vec:other")
_rows.add("dot", names="tensor:other")
_rows.add("baddbmm", names="batch1:mat1 batch2:mat2")
_rows.add("einsum", rest="tensors", alias=_MAYBE)
_rows.add("lstm", "input", rest="input hx params")
for _name in ("gru", "rnn_tanh", "rnn_relu"):
    _rows.add(_name, "input", rest="input hx params")
_rows.add("dropout", alias=_MAYBE)
_rows.add("feature_dropout", title="dropout", alias=_MAYBE)
_rows.add("alpha_dropout", title="dropout", alias=_MAYBE)

# windows
for _name in (
    "conv_transpose1d", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool2d_with_indices", "avg_pool1d", "avg_pool2d",
    "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "convolution", "grid_sampler",
    "pixel_shuffle", "pixel_unshuffle", "channel_shuffle",
):  # fmt: skip
    _rows.add(_name, alias=_MAYBE if "shuffle" in _name else "")
for _name in ("conv1d", "conv2d", "conv3d"):
    _rows.add(_name, "default padding")
for _name in ("conv_transpose2d", "conv_transpose3d"):
    _rows.add(_name, "input")
_rows.add("_adaptive_avg_pool2d", title="adaptive_avg_pool2d")
_rows.add("grid_sampler_2d", title="grid_sampler")
_rows.add("channel_shuffle", alias=_MAYBE)
for _name in (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "upsample_linear1d", "upsample_bilinear2d",
    "upsample_trilinear3d", "upsample_bicubic2d",
):  # fmt: skip
    _rows.add(_name, "vec")

# movement
for _name, _title in (
    ("view", ""), ("_unsafe_view", "view"), ("view_as", ""), ("permute", ""), ("t", ""), ("numpy_T", "t"),
    ("unsqueeze", ""), ("expand", ""), ("expand_as", ""), ("narrow", ""),
):  # fmt: skip
    _rows.add(_name, title=_title, alias=_VIEW)
_rows.add("detach", title="clone", alias=_VIEW)
_rows.add("alias", title="clone", alias=_VIEW)
_rows.add("lift_fresh", title="clone", alias=_VIEW)
_rows.add("transpose", "int", alias=_VIEW)
_rows.add("swapaxes", title="transpose", alias=_VIEW, names="axis0:dim0 axis1:dim1")
_rows.add("swapdims", title="transpose", alias=_VIEW)
_rows.add("movedim", "int intlist", alias=_VIEW)
_rows.add("squeeze", "default dim dims", alias=_VIEW)
_rows.add("select", "int", alias=_VIEW)
_rows.add("slice", "Tensor", alias=_VIEW)
_rows.add("unflatten", "int", alias=_VIEW)
_rows.add("unfold", alias=_VIEW)
_rows.add("as_strided", alias=_VIEW)
_rows.add("split", "Tensor", alias=_VIEW)
_rows.add("split", "sizes", "split_with_sizes", alias=_VIEW, names="split_size:split_sizes")
_rows.add("split_with_sizes", alias=_VIEW)
_rows.add("chunk", alias=_VIEW)
_rows.add("unbind", "int", alias=_VIEW)
_rows.add("reshape", alias=_MAYBE)
_rows.add("reshape_as", title="view_as", alias=_MAYBE)
_rows.add("flatten", "using_ints", alias=_MAYBE)
_rows.add("contiguous", title="clone", alias=_MAYBE)
_rows.add("positive", title="clone", alias=_MAYBE)
_rows.add("clone")
_rows.add("lift_fresh_copy", title="clone")
for _name in ("flip", "roll", "tile", "repeat", "cat", "stack", "gather", "index_select", "pad", "constant_pad_nd"):
    _rows.add(_name)
_rows.add("concat", title="cat")
_rows.add("concatenate", title="cat")
_rows.add("repeat_interleave", "self_int")
_rows.add("index", "Tensor", rest="indices")
_rows.add("index_put", rest="indices")
_rows.add("scatter", "src value", names="value:src")
for _name in ("reflection_pad1d", "reflection_pad2d", "reflection_pad3d", "replication_pad1d", "replication_pad2d",
              "replication_pad3d"):  # fmt: skip
    _rows.add(_name)
for _name in ("full", "zeros", "ones", "full_like", "zeros_like", "ones_like", "new_full", "new_zeros", "new_ones",
              "scalar_tensor"):  # fmt: skip
    _rows.add(_name)
_rows.add("arange", "default start start_step")
_rows.add("eye", "default m")

TARGETS: dict[str, OperatorRow] = _rows.found
"""The operators by target."""

SIZES = {
    "_operator.add": "Add", "_operator.sub": "Sub", "_operator.mul": "Mul", "_operator.floordiv": "FloorDiv",
    "_operator.mod": "Mod", "_operator.neg": "Neg", "torch.sym_max": "Max", "torch.sym_min": "Min",
}  # fmt: skip
"""ONNX's names of what graphs compute with sizes."""

COMPARISONS = {
    "_operator.ge": ">=", "_operator.le": "<=", "_operator.gt": ">", "_operator.lt": "<", "_operator.eq": "==",
    "_operator.ne": "!=",
}  # fmt: skip

SILENT = frozenset(
    (
        "aten._assert_tensor_metadata.default", "aten._assert_async.msg", "aten._assert_async.default",
        "aten.sym_constrain_range.default", "aten.sym_constrain_range_for_size.default",
    )
)  # fmt: skip
"""Targets without results, that state what is known already or look at elements."""

RANDOM = frozenset(
    ("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "bernoulli", "multinomial",
     "normal", "uniform", "exponential", "empty", "empty_like", "new_empty", "empty_strided", "dropout",
     "native_dropout", "feature_dropout", "alpha_dropout", "rrelu", "poisson", "new_empty_strided")
)  # fmt: skip
"""Operators of which two evaluations may differ, also for elements that are not set."""
