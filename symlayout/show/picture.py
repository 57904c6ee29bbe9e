"""Draw which source element each output element of an index map reads, on small sizes, as SVG and as text.

A picture shows the chain as a strip of shapes, the map, the cells of the inputs and the output, and the loops.
A source element and the output elements that read it have the same number and the same colour; fills are hatched.
The numbers say everything that the colours say.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from symlayout.errors import SymlayoutError, shortened
from symlayout.run.kernel import Kernel
from symlayout.show import chain_diagram, map_panels, wording
from symlayout.show.brief import brief_html
from symlayout.show.cell_text import text
from symlayout.show.read_numbers import Cells, cells
from symlayout.show.small_sizes import illustrative_sizes, with_sizes
from symlayout.show.svg import CHAR, Canvas, wrapped
from symlayout.show.theme import escape
from symlayout.show.trace_element import as_coordinate, check_inside, sizes_with_coordinate
from symlayout.show.whole_file import write_file
from symlayout.tensors.chain import Tensor

WIDTH = 460.0  # of a picture, in pixels: readable on a telephone
_MARGIN = 14.0  # in pixels
_INNER_WIDTH = WIDTH - 2 * _MARGIN
_MAX_CHARACTERS = 400  # of a map, a shape or the sizes in a description
_MAX_LISTED = 64  # a description lists the elements of an output up to this size


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a tensor's map.  A notebook displays it; `print` writes it as text.

    Attributes
    ----------
    svg : str
        The picture as a complete SVG document.
    text : str
        The output as text: the number of the element that each cell reads, or a dot for a fill.
    dims : dict
        The value of each dim, given or chosen.
    html : str
        The picture to be embedded in a page.  It follows the page's theme.

    Examples
    --------
    >>> import symlayout as sl
    >>> picture = sl.transpose(sl.tensor("2, 3", name="x")).show()
    >>> print(picture)
    0 3
    1 4
    2 5
    >>> picture.svg.partition(" ")[0]
    '<svg'
    """

    svg: str
    text: str
    dims: dict[str, int]
    html: str

    def __str__(self) -> str:
        chosen = assignments(self.dims)
        return f"{chosen}\n{self.text}" if chosen else self.text

    __repr__ = __str__

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the SVG to the file *path*.  After an error, the file is as it was before."""
        write_file(Path(path), self.svg.encode("utf-8"))

    def _repr_html_(self) -> str:
        return self.html


def picture(
    t: Tensor,
    dims: Mapping[Any, Any] | None = None,
    at: Sequence[int] | None = None,
    *,
    loops: bool = True,
    made_by: str = "",
) -> Picture:
    """Return the picture of *t*.

    Parameters
    ----------
    dims : mapping, optional
        Values of dims, by dim or name.  The other dims get small values that satisfy the requirements.
    at : sequence of int, optional
        An output coordinate to mark, with the element that it reads.
    loops : bool
        Whether to draw the loops.
    made_by : str
        The command that draws the picture again; it is written into the SVG as metadata.

    Raises
    ------
    ShapeError
        *dims* do not meet the requirements, or *at* is not a coordinate of the output.
    InconclusiveError
        No small values that satisfy the requirements were found.
    """
    fixed, given = with_sizes(t, dims)
    followed = None if at is None else as_coordinate(t, at)
    bound, chosen = illustrative_sizes(fixed) if followed is None else sizes_with_coordinate(fixed, followed)
    values = {**given, **chosen}
    if followed is not None:
        check_inside(bound, followed)
    drawn = cells(bound)
    svg, page = _documents(t, bound, values, drawn, followed, made_by, loops=loops)
    return Picture(svg, text(drawn), values, page)


def of_tensor(t: Tensor) -> str | None:
    """Return the picture of *t* for a page; None if it cannot be drawn, so that a notebook shows the text instead."""
    try:
        return picture(t).html
    except SymlayoutError:
        return None


def of_kernel(kernel: Kernel) -> str:
    """Return a kernel for a page: what it computes for which elements, its map, and a picture if it can be drawn."""
    t = kernel.tensor
    drawn = of_tensor(t) if isinstance(t, Tensor) else None
    return brief_html(repr(kernel), str(kernel.index_map), drawn or "")


def of_claim(
    left: Tensor,
    right: Tensor,
    conclusion: str,
    derivation: str,
    dims: Mapping[Any, int],
    coord: Sequence[int] | None,
) -> str:
    """Return a claim as HTML: the conclusion, pictures of both sides, and the derivation.

    The sides are drawn for *dims*, the witness's sizes, or for small sizes if *dims* is empty.
    """
    sides = []
    sizes = {str(key): value for key, value in dims.items()} or _common_sizes(left, right)
    for name, t in (("left", left), ("right", right)):
        try:
            own = {key: value for key, value in sizes.items() if key in t.facts.dims}
            drawn = picture(t, own, coord if coord is not None and len(coord) == t.rank else None, loops=False).html
        except SymlayoutError as error:
            drawn = f"<p>no picture: {escape(str(error).splitlines()[0])}</p>"
        sides.append(f"<figure style='margin:0;flex:1 1 380px'><figcaption>{name} side</figcaption>{drawn}</figure>")
    return (
        f"<p><strong>{escape(conclusion)}</strong></p>"
        f"<div style='display:flex;flex-wrap:wrap;gap:16px'>{''.join(sides)}</div>"
        f"<details><summary>derivation</summary><pre>{escape(derivation)}</pre></details>"
    )


def _common_sizes(left: Tensor, right: Tensor) -> dict[str, int]:
    """Return small sizes for both sides: those of the side with more dims.  None if the other side rejects them."""
    first, second = sorted((left, right), key=lambda t: -len(t.facts.dims))
    try:
        _, sizes = illustrative_sizes(first)
        second.subs(sizes)
    except SymlayoutError:
        return {}
    return sizes


def assignments(values: Mapping[str, int]) -> str:
    """Return sizes as text.

    >>> assignments({"N": 1, "H": 4})
    'N = 1, H = 4'
    """
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def _documents(
    t: Tensor,
    bound: Tensor,
    values: Mapping[str, int],
    drawn: Cells,
    at: Sequence[int] | None,
    made_by: str,
    *,
    loops: bool,
) -> tuple[str, str]:
    """Return the picture as a complete document, and as part of a page."""
    canvas = Canvas()
    chain = chain_diagram.stages(t, bound)
    y = _MARGIN
    y += chain_diagram.strip(canvas, _MARGIN, y, _INNER_WIDTH, chain) + 8
    for line in wrapped(str(t.index_map), int(_INNER_WIDTH / CHAR), 5):
        y += 14
        canvas.text(_MARGIN, y, line, "mono", size=10.5)
    requires = [wording.words(r) for r in t.requires]
    for line in wrapped(f"requires {'; '.join(requires)}", 78, 2) if requires else ():
        y += 15
        canvas.text(_MARGIN, y, line, "soft")
    symbolic = {leaf.name: wording.shape(leaf.shape) for leaf in t.leaves()} | {"output": wording.shape(t.shape)}
    y = map_panels.draw(canvas, _MARGIN, y + 16, _INNER_WIDTH, drawn, symbolic, at) + 10
    for line in [f"example: {assignments(values)}"] * bool(values) + [map_panels.legend(drawn)]:
        for part in wrapped(line, 84, 2):
            y += 14
            canvas.text(WIDTH / 2, y, part, "soft", anchor="middle", size=10)
    if loops:
        y += 18 + chain_diagram.loops(canvas, _MARGIN, y + 18, _INNER_WIDTH, t, values)
    y += _MARGIN
    title = f"Index map of {t.name}: {shortened(wording.shape(t.shape), _MAX_CHARACTERS)}"
    description = _description(t, chain, drawn, values)
    document = canvas.document(WIDTH, y, title, description, made_by=made_by)
    return document, canvas.document(WIDTH, y, title, description, page=True)


def _description(t: Tensor, chain: list[chain_diagram.Stage], drawn: Cells, values: Mapping[str, int]) -> str:
    """Return in words what the picture shows, for readers who cannot see it."""
    parts = [f"{'; '.join(chain_diagram.words(chain))}. The map is {shortened(str(t.index_map), _MAX_CHARACTERS)}."]
    if values:
        parts.append(f"Drawn for {shortened(assignments(values), _MAX_CHARACTERS)}.")
    numbers = drawn.numbers.ravel()
    if 0 < numbers.size <= _MAX_LISTED and drawn.output.whole:
        listed = ", ".join("fill" if n < 0 else str(n) for n in numbers.tolist())
        parts.append(f"In row-major order the output reads elements {listed}.")
    return " ".join(parts)
