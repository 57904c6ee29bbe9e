"""Symbolic shapes and index maps of tensor data movement, with kernels and proofs.

An operation is declared once, as the map from output coordinates to input coordinates.  From it
follow the shape, the NumPy interpreter, the C kernel and the proof.  SymPy is imported when the
first symbol is made, and cffi when the first kernel is.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from symlayout import interrupts as _interrupts  # noqa: F401  the first, as it acts on what loads the others

# isort: split
from symlayout import compute as _room  # noqa: F401  has the name of a function, which is bound after it
from symlayout import facade as _facade
from symlayout import moved as _moved
from symlayout.budgets import Limits, limits
from symlayout.errors import (
    ArrayError,
    CompilerError,
    FormatError,
    InconclusiveError,
    MissingFileError,
    ProcessorError,
    ShapeError,
    SymlayoutError,
    TimeLimitError,
    UnknownOpError,
)
from symlayout.language.sympy_bridge import dim, dims
from symlayout.ops.axes import expand_dims, moveaxis, ravel, squeeze, swapaxes
from symlayout.ops.broadcast import broadcast_to
from symlayout.ops.channel_shuffle import channel_shuffle
from symlayout.ops.concatenate import concatenate, stack
from symlayout.ops.flip import flip
from symlayout.ops.full import full
from symlayout.ops.pack import pack, unpack
from symlayout.ops.pad import pad
from symlayout.ops.reshape import as_strided, reshape
from symlayout.ops.resize import resize_nearest
from symlayout.ops.roll import roll
from symlayout.ops.slicing import getitem, update_slice
from symlayout.ops.space_batch import batch_to_space, space_to_batch
from symlayout.ops.space_depth import depth_to_space, space_to_depth
from symlayout.ops.split import array_split, split
from symlayout.ops.take import take
from symlayout.ops.tile import repeat, tile
from symlayout.ops.transpose import transpose
from symlayout.ops.window import window
from symlayout.tensors.apply_operation import operation
from symlayout.tensors.assumptions import assume
from symlayout.tensors.chain import Tensor
from symlayout.tensors.computation import Computed, View, computation, compute, constant
from symlayout.tensors.declaration import Body
from symlayout.tensors.input_tensor import tensor
from symlayout_codegen.forks import held_off as _held_off

if TYPE_CHECKING:
    from symlayout.equivalence.cached_rows import RowVerification, assert_same_rows, verify_rows
    from symlayout.equivalence.check import check
    from symlayout.equivalence.verification import ModelWitness, Verification
    from symlayout.equivalence.verify_models import assert_same_model, verify
    from symlayout.frontends import einops, onnx, openvino, tensorflow, torch
    from symlayout.frontends.registry import find as op
    from symlayout.inverses.find_inverse import Inverse, inverse
    from symlayout.inverses.properties import Finding, is_identity, is_injective, is_surjective, reads_all
    from symlayout.inverses.scatter_map import transform_layout
    from symlayout.language.index_expressions import xor
    from symlayout.layouts.access import bank_conflicts, coalescing, owner
    from symlayout.layouts.answers import Answer
    from symlayout.layouts.find_swizzle import BestSwizzle, choose_swizzle, find_swizzle
    from symlayout.layouts.linear.linear_layout import LinearLayout
    from symlayout.layouts.linear.read_linear_layout import linear_layout
    from symlayout.layouts.shapes.basis import E
    from symlayout.layouts.shapes.compare_shapes import compatible, congruent, weakly_compatible, weakly_congruent
    from symlayout.layouts.shapes.coordinates import crd2crd, crd2idx, idx2crd
    from symlayout.layouts.shapes.make_layout import (
        make_identity_layout,
        make_layout,
        make_layout_like,
        make_ordered_layout,
    )
    from symlayout.layouts.strided_layout import Layout, layout
    from symlayout.layouts.swizzle import ComposedLayout, ComposedMap, Swizzle, make_composed_layout, swizzle
    from symlayout.layouts.vector_width import vector_width
    from symlayout.maps.adjoint_map import Adjoint, adjoint
    from symlayout.maps.box_image import Image
    from symlayout.maps.composed_map import IndexMap
    from symlayout.maps.interpreter import interpret
    from symlayout.maps.sympy_maps import from_sympy, index_map
    from symlayout.models.read_model import load, read_model
    from symlayout.optimize_models.optimize_model import OptimizedModel, optimize
    from symlayout.optimize_models.optimize_report import OptimizeReport
    from symlayout.proof.counterexample import Witness
    from symlayout.proof.prove import prove_equal
    from symlayout.proof.verdict import Proof, Verdict
    from symlayout.run.compile_tensor import compile
    from symlayout.run.kernel import Kernel
    from symlayout.show.picture import Picture
    from symlayout.show.requirement_reasons import Reason, reasons
    from symlayout.show.trace_element import Trace, trace
    from symlayout.tensors.shape_solver import Solution, Status, solve_shape

__version__ = "0.1.0"

_FRONTENDS = ("einops", "onnx", "openvino", "tensorflow", "torch")
_LATER = {  # imported when first asked for, by the room and the module
    **dict.fromkeys(("RowVerification", "assert_same_rows", "verify_rows"), "equivalence.cached_rows"),
    "check": "equivalence.check",
    **dict.fromkeys(("ModelWitness", "Verification"), "equivalence.verification"),
    **dict.fromkeys(("assert_same_model", "verify"), "equivalence.verify_models"),
    **dict.fromkeys(("Inverse", "inverse"), "inverses.find_inverse"),
    "transform_layout": "inverses.scatter_map",
    "xor": "language.index_expressions",
    **dict.fromkeys(("Finding", "is_identity", "is_injective", "is_surjective", "reads_all"), "inverses.properties"),
    **dict.fromkeys(("Layout", "layout"), "layouts.strided_layout"),
    "E": "layouts.shapes.basis",
    **dict.fromkeys(
        ("compatible", "congruent", "weakly_compatible", "weakly_congruent"), "layouts.shapes.compare_shapes"
    ),
    **dict.fromkeys(("crd2crd", "crd2idx", "idx2crd"), "layouts.shapes.coordinates"),
    **dict.fromkeys(
        ("make_identity_layout", "make_layout", "make_layout_like", "make_ordered_layout"),
        "layouts.shapes.make_layout",
    ),
    **dict.fromkeys(("bank_conflicts", "coalescing", "owner"), "layouts.access"),
    "Answer": "layouts.answers",
    **dict.fromkeys(("BestSwizzle", "choose_swizzle", "find_swizzle"), "layouts.find_swizzle"),
    "LinearLayout": "layouts.linear.linear_layout",
    "linear_layout": "layouts.linear.read_linear_layout",
    "vector_width": "layouts.vector_width",
    **dict.fromkeys(("ComposedLayout", "ComposedMap", "Swizzle", "make_composed_layout", "swizzle"), "layouts.swizzle"),
    **dict.fromkeys(("Adjoint", "adjoint"), "maps.adjoint_map"),
    "Image": "maps.box_image",
    "IndexMap": "maps.composed_map",
    "interpret": "maps.interpreter",
    **dict.fromkeys(("from_sympy", "index_map"), "maps.sympy_maps"),
    **dict.fromkeys(("load", "read_model"), "models.read_model"),
    "OptimizeReport": "optimize_models.optimize_report",
    **dict.fromkeys(("OptimizedModel", "optimize"), "optimize_models.optimize_model"),
    "Witness": "proof.counterexample",
    **dict.fromkeys(("Proof", "Verdict"), "proof.verdict"),
    "prove_equal": "proof.prove",
    "Kernel": "run.kernel",
    "compile": "run.compile_tensor",
    "Picture": "show.picture",
    **dict.fromkeys(("Reason", "reasons"), "show.requirement_reasons"),
    **dict.fromkeys(("Trace", "trace"), "show.trace_element"),
    **dict.fromkeys(("Solution", "Status", "solve_shape"), "tensors.shape_solver"),
}

__all__ = [
    "Adjoint",
    "Answer",
    "ArrayError",
    "BestSwizzle",
    "Body",
    "CompilerError",
    "ComposedLayout",
    "ComposedMap",
    "Computed",
    "E",
    "Finding",
    "FormatError",
    "Image",
    "InconclusiveError",
    "IndexMap",
    "Inverse",
    "Kernel",
    "Layout",
    "Limits",
    "LinearLayout",
    "MissingFileError",
    "ModelWitness",
    "OptimizeReport",
    "OptimizedModel",
    "Picture",
    "ProcessorError",
    "Proof",
    "Reason",
    "RowVerification",
    "ShapeError",
    "Solution",
    "Status",
    "Swizzle",
    "SymlayoutError",
    "Tensor",
    "TimeLimitError",
    "Trace",
    "UnknownOpError",
    "Verdict",
    "Verification",
    "View",
    "Witness",
    "adjoint",
    "array_split",
    "as_strided",
    "assert_same_model",
    "assert_same_rows",
    "assume",
    "bank_conflicts",
    "batch_to_space",
    "broadcast_to",
    "channel_shuffle",
    "check",
    "choose_swizzle",
    "coalescing",
    "compatible",
    "compile",
    "computation",
    "compute",
    "concatenate",
    "congruent",
    "constant",
    "crd2crd",
    "crd2idx",
    "depth_to_space",
    "dim",
    "dims",
    "einops",
    "expand_dims",
    "find_swizzle",
    "flip",
    "from_sympy",
    "full",
    "getitem",
    "idx2crd",
    "index_map",
    "interpret",
    "inverse",
    "is_identity",
    "is_injective",
    "is_surjective",
    "layout",
    "limits",
    "linear_layout",
    "load",
    "make_composed_layout",
    "make_identity_layout",
    "make_layout",
    "make_layout_like",
    "make_ordered_layout",
    "moveaxis",
    "onnx",
    "op",
    "openvino",
    "operation",
    "optimize",
    "owner",
    "pack",
    "pad",
    "prove_equal",
    "ravel",
    "read_model",
    "reads_all",
    "reasons",
    "repeat",
    "reshape",
    "resize_nearest",
    "roll",
    "solve_shape",
    "space_to_batch",
    "space_to_depth",
    "split",
    "squeeze",
    "stack",
    "swapaxes",
    "swizzle",
    "take",
    "tensor",
    "tensorflow",
    "tile",
    "torch",
    "trace",
    "transform_layout",
    "transpose",
    "unpack",
    "update_slice",
    "vector_width",
    "verify",
    "verify_rows",
    "weakly_compatible",
    "weakly_congruent",
    "window",
    "xor",
]

_REGISTERED = {  # functions of the facade, by the room, the module and the function that computes them
    "index_map_of": "maps.composed_map index_map_of",
    "getitem": "ops.slicing getitem",
    "pickled": "tensors.pickled_chain pickled",
    "inverse": "inverses.find_inverse inverse",
    "proved_inverse": "inverses.find_inverse proved_inverse",
    "picture": "show.picture picture",
    "picture_of_tensor": "show.picture of_tensor",
    "kernel_html": "show.picture of_kernel",
    "as_tensors": "layouts.linear.read_linear_layout as_tensors",
    "composed_layout": "layouts.swizzle read_composed",
    "any_rank_tensor": "any_rank.any_rank_input any_rank_tensor",
    "prove_any_rank": "any_rank.prove_all_ranks prove_all_ranks",
    "html_page": "reports.pages html_of",
    "picture_of_model": "reports.model_outline picture_on_page",
}


def _registered_later(name: str) -> Callable[..., Any]:
    """Return a function that imports what computes *name*, puts it in its own place, and calls it."""
    module, function = _REGISTERED[name].split()

    def call(*args: Any, **named: Any) -> Any:
        with _held_off:
            found = getattr(import_module(f"{__name__}.{module}"), function)
        _facade.registered[name] = found
        return found(*args, **named)

    return call


_moved.install()
_facade.registered.update({name: _registered_later(name) for name in _REGISTERED})


def __getattr__(name: str) -> Any:
    """Return a name of a module that is not imported yet."""
    with _held_off:
        if name in _FRONTENDS:
            value = import_module(f"{__name__}.frontends.{name}")
        elif name == "op":
            value = import_module(f"{__name__}.frontends").find
        elif name in _LATER:
            value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names, those of modules that are not imported yet too, and nothing that the module imports."""
    return sorted({*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"})
