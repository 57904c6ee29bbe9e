"""Write a sum over a small box as one over a larger box in which its elements are read, with coefficients 0 elsewhere.

A convolution with a kernel of 1 x 1 is one with a kernel of 3 x 3 that is 0 around its middle, and the identity is a
convolution that has 1 in the middle of each channel.  So the branches of a block become one convolution, as RepVGG
(Ding et al., 2021) does before it is deployed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from symlayout.algebra.facts import Facts
from symlayout.algebra.polynomial import Extent, names_of, substitute, symbol
from symlayout.proof.cases.read_element import SideRead
from symlayout.proof.forms.coefficients import Coefficient
from symlayout.proof.forms.real_forms import COMPUTED, Atom, Atoms, Form, Key, UnformedError
from symlayout.tensors.chain import Tensor

_MOST_PLACES = 100  # of a larger box, at which the element of a smaller one is looked for
_Place = tuple[tuple[str, int | str], ...]  # a number, or the name of a digit, for each digit of the larger box alone


class FormReader(Protocol):
    """Makes forms of elements."""

    facts: Facts
    atoms: Atoms

    def form_at(self, view: Tensor, side: int, coords: Sequence[Extent]) -> Form | None:
        """Return the form of what *view* reads at *coords*; None if that depends on the coordinate."""


def with_larger_boxes(form: Form, reader: FormReader, extents: Mapping[str, int]) -> Form:
    """Return *form*, in which terms over small boxes are terms over the larger boxes of other terms, where they can be.

    *extents* has the digits whose extents are numbers.
    """
    # a kernel has a number for each place of its box
    wide = [key for key, c in form.terms.items() if _is_sum(key, reader.atoms) and set(key[1]) <= set(c.names)]
    wide.sort(key=lambda key: -len(key[1]))
    made = Form(reader.atoms, {})
    for key, value in form.terms.items():
        larger = [other for other in wide if len(other[1]) > len(key[1])] if _is_of_one(key) else []
        found = (_embedded(key, value, other, reader, extents) for other in larger)
        made += next((term for term in found if term is not None), Form(reader.atoms, {key: value}))
    return made


def have_other_boxes(forms: Sequence[Form]) -> bool:
    """Return whether two terms with one atom each are added over boxes of unlike sizes."""
    return len({len(key[1]) for form in forms for key in form.terms if _is_of_one(key)}) > 1


def _is_of_one(key: Key) -> bool:
    return len(key[0]) == 1 and key[0][0][1] == 1


def _is_sum(key: Key, atoms: Atoms) -> bool:
    """Return whether a term adds up the elements of a view, and has nothing else beside a coefficient."""
    return _is_of_one(key) and bool(key[1]) and atoms.found[key[0][0][0]].kind in ("view", "read")


def _embedded(key: Key, value: Coefficient, wide: Key, reader: FormReader, extents: Mapping[str, int]) -> Form | None:
    """Return a term as a term over the box of *wide*, if the view of *wide* has its element at some coordinate."""
    sizes = [extents.get(name) for name in value.names]
    if list(value.array.shape) != sizes or not all(name in extents for name in (*wide[1], *key[1])):
        return None
    side, view, coords = _read_of(reader.atoms.found[wide[0][0][0]])
    atom = reader.atoms.found[key[0][0][0]]
    if atom.kind in ("view", "read") and not _may_be_one(view, _read_of(atom)[1]):
        return None
    wanted = _form_of(key[0][0][0], reader)
    for place in _places(key, wide[1], reader, extents):
        values = {name: at if isinstance(at, int) else symbol(at) for name, at in place}
        try:
            found = reader.form_at(view, side, [reader.facts.reduce(substitute(e, values)) for e in coords])
        except UnformedError:
            continue
        if found is not None and found.is_near(wanted):
            if not reader.atoms.may(COMPUTED) or not reader.atoms.may("a product with 0"):
                return None
            renamed = {at: name for name, at in place if isinstance(at, str) and at in key[1]}
            moved = _renamed(value, renamed)
            others = tuple((name, at) for name, at in place if renamed.get(str(at)) != name)
            return Form(reader.atoms, {wide: reader.atoms.rounding.product(moved, _selection(others, extents))})
    return None


def _may_be_one(view: Tensor, other: Tensor) -> bool:
    """Return whether two views may read one element: of one input, or of values of one function."""
    leaves = [[t] if t.declared is None else t.leaves() for t in (view, other)]
    return any(a.key == b.key or (a.body is not None and a.body == b.body) for a in leaves[0] for b in leaves[1])


def _read_of(atom: Atom) -> tuple[int, Tensor, Sequence[Extent]]:
    """Return the side of a view or a read, its tensor, and the coordinates."""
    if atom.kind == "view":
        return atom.content
    side, read = atom.content
    return side, read.leaf, read.coords


def _form_of(number: int, reader: FormReader) -> Form:
    """Return the form of an atom, taken apart if it is a view or a read."""
    atom = reader.atoms.found[number]
    side_view_coords = _read_of(atom) if atom.kind in ("view", "read") else None
    if side_view_coords is not None:
        side, view, coords = side_view_coords
        if (found := reader.form_at(view, side, coords)) is not None:
            return found
    return reader.atoms.form(atom)


def _places(key: Key, digits: Sequence[str], reader: FormReader, extents: Mapping[str, int]) -> Iterator[_Place]:
    """Yield places of the digits: numbers, and digits of the same extent that the element of *key* is read at.

    Each digit that *key* adds over is one of them, once.
    """
    own = sorted(_names(reader.atoms.found[key[0][0][0]]) | set(key[1]))
    choices: list[list[int | str]] = []
    for name in digits:
        alike = [n for n in own if extents.get(n) == extents[name]]
        choices.append([*sorted(alike, key=lambda n: n != name), *range(extents[name])])
    for place in itertools.islice(itertools.product(*choices), _MOST_PLACES):
        if all(place.count(name) == 1 for name in key[1]):
            yield tuple(zip(digits, place, strict=True))


def _renamed(value: Coefficient, names: Mapping[str, str]) -> Coefficient:
    """Return a coefficient with other names of its digits."""
    new = [names.get(name, name) for name in value.names]
    order = sorted(range(len(new)), key=new.__getitem__)
    error = value.error.transpose(order) if value.error.ndim else value.error
    return Coefficient(tuple(new[k] for k in order), value.array.transpose(order), error, value.real)


def _names(atom: Atom) -> set[str]:
    """Return the digits of the coordinates that an atom is read at."""
    found: set[str] = set()
    waiting: list[Any] = [atom]
    while waiting:
        at = waiting.pop()
        if isinstance(at, Atom | tuple | list):
            waiting += at.content if isinstance(at, Atom) else at
        elif isinstance(at, Form):
            numbers = {number for powers, _ in at.terms for number, _ in powers}
            waiting += [at.atoms.found[number] for number in numbers]
        elif isinstance(at, SideRead):
            waiting += at.coords
        elif not isinstance(at, Tensor | str | int) and hasattr(at, "terms"):
            found |= names_of(at)
    return found


def _selection(place: _Place, extents: Mapping[str, int]) -> Coefficient:
    """Return 1 where the digits have the numbers or the values of the digits of a place, and 0 elsewhere."""
    names = tuple(sorted({name for name, _ in place} | {at for _, at in place if isinstance(at, str)}))
    shape = [extents[name] for name in names]
    grid = dict(zip(names, np.indices(shape, sparse=True), strict=True))
    chosen = np.ones(shape, bool)
    for name, at in place:
        chosen = chosen & (grid[name] == (grid[at] if isinstance(at, str) else at))
    return Coefficient(names, chosen.astype(np.float64))
