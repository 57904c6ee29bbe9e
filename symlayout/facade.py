"""What tensors and index maps offer that higher rooms compute.

The package's ``__init__`` registers the functions that compute it.  So no room imports a higher one; the names under
``TYPE_CHECKING`` are for annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from symlayout.equivalence.verification import Verification
    from symlayout.inverses.find_inverse import Inverse as Inverse
    from symlayout.layouts.linear.linear_layout import LinearLayout
    from symlayout.layouts.strided_layout import Layout
    from symlayout.layouts.swizzle import ComposedMap
    from symlayout.maps.composed_map import IndexMap as IndexMap
    from symlayout.models.model import Model
    from symlayout.run.kernel import Kernel
    from symlayout.show.picture import Picture as Picture
    from symlayout.tensors.chain import Tensor

    AnyLayout: TypeAlias = Layout | ComposedMap | LinearLayout

registered: dict[str, Callable[..., Any]] = {}
"""What computes each function of this module, by its name."""


def index_map_of(t: Tensor) -> IndexMap:
    """Return `symlayout.Tensor.index_map`."""
    return registered["index_map_of"](t)  # type: ignore[no-any-return]


def getitem(t: Tensor, key: Any) -> Tensor:
    """Return ``t[key]``."""
    return registered["getitem"](t, key)  # type: ignore[no-any-return]


def pickled(t: Tensor) -> tuple[Any, ...]:
    """Return ``t.__reduce__()``: a function, and the arguments of which it makes the chain again."""
    return registered["pickled"](t)  # type: ignore[no-any-return]


def inverse(t: Tensor) -> Inverse:
    """Return the inverse of the map of *t*."""
    return registered["inverse"](t)  # type: ignore[no-any-return]


def proved_inverse(t: Tensor, guesses: Sequence[Tensor], *, both: bool) -> Any:
    """Return the tensor that undoes *t*, and that *t* undoes if *both*; None if that is not proved.

    *guesses* are tried first.
    """
    return registered["proved_inverse"](t, guesses, both=both)


def picture(t: Tensor, dims: Mapping[Any, Any] | None, at: Sequence[int] | None) -> Picture:
    """Return `symlayout.Tensor.show`."""
    return registered["picture"](t, dims, at)  # type: ignore[no-any-return]


def picture_of_tensor(t: Tensor) -> str | None:
    """Return the picture of *t* as HTML for a notebook, None where there is none."""
    return registered["picture_of_tensor"](t)  # type: ignore[no-any-return]


def kernel_html(kernel: Kernel) -> str:
    """Return a kernel as HTML for a notebook."""
    return registered["kernel_html"](kernel)  # type: ignore[no-any-return]


def as_tensors(left: Any, right: Any) -> tuple[Any, Any]:
    """Return two layouts as tensors that read one memory; return anything else as it is."""
    return registered["as_tensors"](left, right)  # type: ignore[no-any-return]


def composed_layout(text: str) -> Any:
    """Return the composition of layouts that *text* describes."""
    return registered["composed_layout"](text)


def any_rank_tensor(shape: str, dtype: Any, name: str | None) -> Any:
    """Return the input of any rank that the text *shape* describes."""
    return registered["any_rank_tensor"](shape, dtype, name)


def prove_any_rank(left: Any, right: Any, budget: int, time_limit: float | None) -> Any:
    """Return the proof attempt for the claim that two tensors of any rank are equal."""
    return registered["prove_any_rank"](left, right, budget=budget, time_limit=time_limit)


def html_page(subject: Model | Verification, made_by: str) -> str:
    """Return the page about a model, an optimised model or a verdict, as one HTML file."""
    return registered["html_page"](subject, made_by)  # type: ignore[no-any-return]


def picture_of_model(model: Model) -> str:
    """Return the graph of a model as SVG for a notebook."""
    return registered["picture_of_model"](model)  # type: ignore[no-any-return]
