"""What accesses of known tiles cost: ``python -m tests.layouts.pages.access_page`` writes the page and its pictures.

A question states a layout and what is asked of it.  `Question.counted` answers it again, word by word: the tests
compare each number of the page with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import symlayout as sl
from symlayout.show.svg import Canvas
from symlayout.show.theme import hue
from tests.layouts.access_sweep import width_of, words
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "access.md"
IMAGES = ROOT / "docs" / "images"
COMMAND = "python -m tests.layouts.pages.access_page"
DIMS = {"ld": sl.dim("ld", min=32), "k": sl.dim("k", min=1)}
BANKS, WORD, SECTOR = 32, 4, 32

# ---------------------------------------------------------------------- questions


@dataclass(frozen=True)
class Question:
    """A call of symlayout about a layout, and for which access."""

    access: str
    name: str
    layout: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def call(self) -> str:
        """The text of the call."""
        return f"sl.{self.name}({', '.join([self.layout, *(f'{k}={v}' for k, v in self.options.items())])})"

    def answer(self) -> Any:
        """Return what symlayout answers."""
        return eval(self.call, {"sl": sl, **DIMS})

    def counted(self, **dims: int) -> int:
        """Return the number for values of the dims, by enumeration."""
        found = eval(self.layout, {"sl": sl, **dims})
        tile: Any = sl.layout(found) if isinstance(found, str) else found
        if self.name == "vector_width":
            swizzle = (3, 3, 3) if SWIZZLE in self.layout else (0, 0, 0)
            inner = tile.layout if SWIZZLE in self.layout else tile
            return width_of(inner.shape, inner.stride, swizzle, self.options["axis"], self.options["base_alignment"])
        offsets = [int(tile(*at)) for at in self._coordinates()]
        element = self.options["element"]
        if self.name == "coalescing":
            return len(words(offsets, element, SECTOR))
        return max(Counter(w % BANKS for w in words(offsets, element, WORD)).values())

    def _coordinates(self) -> list[tuple[int, ...]]:
        threads = range(self.options.get("threads", 32))
        return [(t, v) for t in threads for v in range(8)] if self.options.get("values") else [(t,) for t in threads]


def _matrix(access: str, layout: str) -> Question:
    """Return a question on what ``ldmatrix`` does at once: eight threads, each of which has a row of eight halves."""
    return Question(access, "bank_conflicts", layout, {"threads": 8, "element": 2, "values": True})


def _floats(access: str, layout: str) -> Question:
    return Question(access, "bank_conflicts", layout, {"element": 4})


MATRICES = [
    _matrix("rows of 64", '"(8,8):(64,1)"'),
    *(
        _matrix(
            f"rows of 64, swizzled, matrix at ({row}, {column})", f'"S<3,3,3> o {64 * row + column} o (8,8):(64,1)"'
        )
        for row in (0, 8)
        for column in (0, 8)
    ),
    _matrix("rows of 72", '"(8,8):(72,1)"'),
]
MATRIX_OF_ANY_ROWS = _matrix("rows of 8*k", "sl.layout((8, 8), (8*k, 1))")
ALIGNED_ROWS = Question("rows of ld", "vector_width", "sl.layout((16, 16), (ld, 1))", {"axis": 1, "base_alignment": 8})
MATRIX_SWIZZLE = 'sl.choose_swizzle("(8,8):(8,1)", "(8,8):(64,1)", threads=8, element=2, values=True, keep=8)'

GLOBAL = [
    Question("a row of the matrix", "coalescing", '"32:1"', {"element": 4}),
    Question("a column of the matrix", "coalescing", "sl.layout((32,), (ld,))", {"element": 4}),
]
SHARED = [
    _floats("write a row", '"32:1"'),
    _floats("read a column, rows of 32", '"32:32"'),
    _floats("read a column, rows of 33", '"32:33"'),
    _floats("write a row, swizzled", '"S<5,0,5> o 0 o 32:1"'),
    _floats("read a column, rows of 32, swizzled", '"S<5,0,5> o 0 o 32:32"'),
]
COLUMN_OF_ANY_ROWS = _floats("read a column, rows of ld", "sl.layout((32,), (ld,))")
TRANSPOSE_SWIZZLE = 'sl.choose_swizzle("32:1", "32:32", element=4)'

SWIZZLE = "S<3,3,3> o 0 o "


class Padded(NamedTuple):
    """The questions on a tile of 64 by 64 halves whose rows are padded."""

    width: Question
    matrix: Question
    column: Question


def padded(ld: int, swizzle: str = "") -> Padded:
    """Return the questions on a tile with rows of *ld* halves, or on a swizzled one."""
    width = Question("row", "vector_width", f'"{swizzle}(64,64):({ld},1)"', {"axis": 1, "base_alignment": 64})
    column = Question("column", "bank_conflicts", f'"{swizzle}32:{ld}"', {"element": 2})
    return Padded(width, _matrix("matrix", f'"{swizzle}(8,8):({ld},1)"'), column)


PADDED = {64 + pad: padded(64 + pad) for pad in (0, 1, 2, 4, 8, 16, 24)}
SWIZZLED = padded(64, SWIZZLE)

CONSTANT = [*MATRICES, GLOBAL[0], *SHARED, *SWIZZLED, *(question for asked in PADDED.values() for question in asked)]
SYMBOLIC = [MATRIX_OF_ANY_ROWS, ALIGNED_ROWS, GLOBAL[1], COLUMN_OF_ANY_ROWS]

# ---------------------------------------------------------------------- pictures

CELL, LEFT, GAP, TOP = 12, 16, 32, 44
PANEL = BANKS * CELL
BARS = 64  # the height of the tallest bar


class Panel(NamedTuple):
    """A tile in shared memory, and the elements that one access reads."""

    question: Question
    tile: str
    reads: Callable[[int], range]
    element: int

    def bank(self, row: int, word: int) -> int:
        """Return the bank of a word of a row."""
        tile: Any = sl.layout(self.tile)
        return int(tile(row, word * WORD // self.element)) * self.element // WORD % BANKS


class Picture(NamedTuple):
    """Panels side by side."""

    name: str
    title: str
    rows: int
    panels: Sequence[Panel]


def _rows_of_matrix(row: int) -> range:
    return range(4 if row < 8 else 0)


def _column(row: int) -> range:
    return range(1)


PICTURES = [
    Picture(
        "access_mma",
        "ldmatrix of 8 by 8 halves from a tile of 16 by 64",
        16,
        [
            Panel(MATRICES[0], "(16,64):(64,1)", _rows_of_matrix, 2),
            Panel(MATRICES[1], "S<3,3,3> o 0 o (16,64):(64,1)", _rows_of_matrix, 2),
        ],
    ),
    Picture(
        "access_transpose",
        "a column of a tile of 32 by 32 floats",
        32,
        [
            Panel(SHARED[1], "(32,32):(32,1)", _column, 4),
            Panel(SHARED[2], "(32,32):(33,1)", _column, 4),
        ],
    ),
    Picture(
        "access_padded",
        "a matrix and a column of a tile of halves with rows of 72",
        32,
        [
            Panel(PADDED[72].matrix, "(32,64):(72,1)", _rows_of_matrix, 2),
            Panel(PADDED[72].column, "(32,64):(72,1)", _column, 2),
        ],
    ),
]


def served(panel: Panel, rows: int) -> Counter[int]:
    """Return how many words each bank serves for the access of a panel."""
    return Counter(panel.bank(row, word) for row in range(rows) for word in panel.reads(row))


def drawing(picture: Picture) -> str:
    """Return a picture as SVG: each word in the colour of its bank, and below it what each bank serves."""
    canvas = Canvas()
    bottom = TOP + picture.rows * CELL
    base = bottom + 32 + BARS
    most = max(max(served(panel, picture.rows).values()) for panel in picture.panels)
    for number, panel in enumerate(picture.panels):
        x0 = LEFT + number * (PANEL + GAP)
        steps = panel.question.answer()
        canvas.text(x0, 20, panel.tile, "strong", "mono")
        canvas.text(x0, 36, f"{panel.question.access}: {_steps(steps)}", "soft")
        _draw_words(canvas, panel, picture.rows, x0)
        canvas.text(x0, bottom + 18, "words that each bank serves", "soft")
        for bank, count in sorted(served(panel, picture.rows).items()):
            height = BARS * count / most
            canvas.rect(x0 + bank * CELL, base - height, CELL - 1, height, hue(bank, BANKS), radius=0)
            canvas.text(x0 + bank * CELL + CELL / 2, base - height - 3, str(count), "soft", anchor="middle", size=8)
        canvas.path(f"M{x0} {base}h{PANEL}", "line")
        for bank in range(BANKS):
            canvas.text(x0 + bank * CELL + CELL / 2, base + 10, str(bank), "soft", anchor="middle", size=8)
    width = 2 * LEFT + len(picture.panels) * (PANEL + GAP) - GAP
    said = "; ".join(f"{p.tile}, {p.question.access}: {_steps(p.question.answer())}" for p in picture.panels)
    return canvas.document(width, base + 20, f"Banks: {picture.title}", f"{said}.", made_by=COMMAND)


def _draw_words(canvas: Canvas, panel: Panel, rows: int, x0: int) -> None:
    """Draw the words in the colours of their banks; those that are read have a frame and the number of the bank."""
    cells: dict[str, list[str]] = {}
    read = []
    for row in range(rows):
        for word in range(BANKS):
            bank = panel.bank(row, word)
            x, y = x0 + word * CELL, TOP + row * CELL
            cells.setdefault(hue(bank, BANKS), []).append(f"M{x} {y}h{CELL - 1}v{CELL - 1}h{1 - CELL}z")
            if word in panel.reads(row):
                read.append((x, y, bank))
    for colour, squares in sorted(cells.items()):
        canvas.path("".join(squares), colour)
    canvas.path("".join(f"M{x} {y}h{CELL - 1}v{CELL - 1}h{1 - CELL}z" for x, y, _ in read), "way")
    for x, y, bank in read:
        canvas.text(x + CELL / 2 - 0.5, y + 8.5, str(bank), anchor="middle", size=8)


def _steps(number: Any) -> str:
    return f"{number} step{'s' if int(number) > 1 else ''}"


# ---------------------------------------------------------------------- the page


def _code(text: object) -> str:
    return f"`{text}`".replace("|", "\\|")


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _calls(number: str, questions: Sequence[Question]) -> str:
    return _table(["access", "call", number], [(q.access, _code(q.call), q.answer()) for q in questions])


def _cases(number: str, question: Question) -> str:
    found = question.answer()
    rows = [(_code(condition), value) for condition, value in found.items()]
    return f"{_code(question.call)} has a number for each case:\n\n{_table(['if', number], rows)}"


def _choice(call: str) -> str:
    found = eval(call, {"sl": sl})
    bound = "no arrangement of the elements has fewer" if found.is_optimal else f"the bound is {sum(found.bound)}"
    return f"{_code(call)} is {_code(found)}; {bound}.\n"


def _image(name: str) -> str:
    found = next(p for p in PICTURES if p.name == name)
    return f"![{found.title}: the bank of each word, and the words that each bank serves](images/{name}.svg)\n"


def _pads() -> str:
    rows = []
    for name, ld, asked in [*((str(ld), ld, asked) for ld, asked in PADDED.items()), ("64, swizzled", 64, SWIZZLED)]:
        width = int(asked.width.answer())
        matrix = asked.matrix.answer() if width >= 8 else "rows not aligned"
        rows.append((name, width, matrix, asked.column.answer(), 64 * ld * 2))
    heads = ["halves in a row", "elements in a vector", "steps of a matrix", "steps of a column", "bytes of the tile"]
    return _table(heads, rows)


def page() -> str:
    """Return the text of ``docs/access.md``."""
    example = PADDED[72]
    return f"""# What an access costs

Shared memory has 32 banks, and a word of a bank has 4 bytes. A bank serves one word in a step; threads that read the
same word share it. So an access takes as many steps as there are words in the bank that has the most.
`sl.bank_conflicts` counts the steps, `sl.coalescing` counts the sectors of global memory, and `sl.vector_width` says
how many elements one aligned access may take. Where a stride is a dim, an answer has cases.

On this page, `k = sl.dim("k", min=1)` and `ld = sl.dim("ld", min=32)`. In the pictures, a cell is a word in the colour
of its bank; neighbouring banks may share a colour. What one access reads has a frame and the number of the bank. The
bars are the words that each bank serves.

`{COMMAND}` writes this page and its pictures. `tests/layouts/pages/test_access_page.py` counts
each number again, word by word.

## A tile of a tensor core

`ldmatrix` reads 16 by 16 halves as four matrices of 8 by 8, one after the other. For each, eight threads name a row of
eight halves. Here the tile has rows of 64 halves, so that all rows begin in the same bank. `Swizzle<3,3,3>` moves them
apart:

{_calls("steps", MATRICES)}
{_image("access_mma")}
{_choice(MATRIX_SWIZZLE)}
The write in this choice is of whole rows, eight halves by each thread.

{_cases("steps", MATRIX_OF_ANY_ROWS)}
A row of a matrix has to begin at a multiple of 16 bytes. {_cases("elements in a vector", ALIGNED_ROWS)}
## A transpose through shared memory

The matrix has rows of `ld` floats. A warp reads 32 of them. By rows, it reads few sectors of global memory:

{_calls("sectors", GLOBAL)}
So a kernel reads rows of a tile of 32 by 32, writes them to shared memory, and reads columns there. A pad of one float,
or a swizzle, takes away the conflicts:

{_calls("steps", SHARED)}
{_image("access_transpose")}
{_choice(TRANSPOSE_SWIZZLE)}
{_cases("steps", COLUMN_OF_ANY_ROWS)}
## A padded tile

The tile has 64 by 64 halves. A pad makes its rows longer. It decides about three accesses: vectors along a row, a
matrix of `ldmatrix`, and a column that 32 threads read. For rows of 72, the calls are {_code(example.width.call)},
{_code(example.matrix.call)} and {_code(example.column.call)}.

{_pads()}
{_image("access_padded")}
A pad of 8 keeps vectors of 16 bytes, and a matrix takes one step. A column takes one step with a pad of 2, but then the
rows are not aligned for `ldmatrix`. `Swizzle<3,3,3>`, in the last line, has the numbers of the pad of 8, without more
memory.
"""


def files() -> dict[str, str]:
    """Return the text of the page and of each picture, by its path below docs/."""
    return {"access.md": page(), **{f"images/{p.name}.svg": drawing(p) for p in PICTURES}}


if __name__ == "__main__":
    for name, text in files().items():
        (PAGE.parent / name).write_text(text, encoding="utf-8")
