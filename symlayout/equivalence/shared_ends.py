"""Which inputs and outputs of two models are one, and in which order each side has their axes: a part of the claim."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from symlayout.equivalence.unknown_ranks import ShapedValues
from symlayout.errors import FormatError, ShapeError, one_line, shortened, shown
from symlayout.ops.transpose import transpose
from symlayout.tensors.chain import Tensor

Array = np.ndarray[Any, Any]
Axes = tuple[int, ...]

_NO_NAMES: Mapping[str, str] = MappingProxyType({})
_HELP = "help: match them by position, or state pairs of names"


@dataclass(frozen=True, slots=True)
class EndsAsStated:
    """What a user says of inputs and outputs.

    Attributes
    ----------
    by_position : bool
        Whether those that `match` does not name are matched by their order.
    match : mapping of str to str
        Names after by names before.
    layout : mapping of str to str
        By the name before, the axes before and after, as in ``"NHWC:NCHW"``.
    """

    by_position: bool = False
    match: Mapping[str, str] = field(default_factory=dict)
    layout: Mapping[str, str] = field(default_factory=dict)

    def of(self, before: ShapedValues, after: ShapedValues) -> SharedEnds:
        """Return what that is for two models.

        Raises
        ------
        FormatError
            The models do not have the same inputs and outputs, or one that is named is in no model.
        ShapeError
            ``bad_format`` for a layout that is none, and ``rank`` for one of another rank.
        """
        for name, other in self.match.items():
            for side, key, when in ((before, name, "before"), (after, other, "after")):
                if key not in side.inputs and key not in side.outputs:
                    raise FormatError(f"the model {when} has no input and no output {shown(key)}, which is matched")
            if not (name in before.inputs and other in after.inputs) and not (
                name in before.outputs and other in after.outputs
            ):
                raise FormatError(f"{shown(name)} before and {shown(other)} after are not both inputs, or both outputs")
        for name in self.layout:
            if name not in before.inputs and name not in before.outputs:
                raise FormatError(f"the model before has no input and no output {shown(name)}, whose layout is given")
        return SharedEnds(
            tuple(matched_names("input", before.inputs, after.inputs, self.by_position, self.match)),
            tuple(matched_names("output", before.outputs, after.outputs, self.by_position, self.match)),
            {name: self._axes(name, text, before) for name, text in self.layout.items()},
        )

    @staticmethod
    def _axes(name: str, text: str, before: ShapedValues) -> Axes:
        sides = re.fullmatch(r"([A-Za-z]+):([A-Za-z]+)", text, re.ASCII) if isinstance(text, str) else None
        if sides is None or len(set(sides[1])) < len(sides[1]) or sorted(sides[1]) != sorted(sides[2]):
            raise ShapeError(
                f"layout of {shown(name)} is {shown(text)}\n"
                "  help: it is one letter for each axis before, a colon, and the same letters after: NHWC:NCHW",
                "bad_format",
            )
        for t in (side[name] for side in (before.inputs, before.outputs) if name in side):
            if name in before.unknown or t.rank != len(sides[1]):
                rank = "no known rank" if name in before.unknown else f"rank {t.rank}"
                raise ShapeError(f"layout {text} has {len(sides[1])} axes, {shown(name)} has {rank}", "rank")
        return tuple(sides[1].index(letter) for letter in sides[2])


@dataclass(frozen=True, slots=True)
class SharedEnds:
    """Which inputs and outputs of two models are one.

    Attributes
    ----------
    inputs, outputs : tuple of pairs of str
        The names before and after.
    axes : mapping of str to tuple of int
        For names before whose axes have another order after: axis ``k`` after is ``axes[k]`` before.
    """

    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...]
    axes: Mapping[str, Axes]

    def check_asked(self, before: ShapedValues, after: ShapedValues, asked: EndsAsStated) -> None:
        """Raise `FormatError` where a certificate pairs ends in another way than is *asked*.

        Names that the models do not share may be paired as the certificate states.  A name that both models have is one
        value, unless it is asked for another one.
        """
        if asked.by_position:
            wanted = asked.of(before, after)
            if (self.inputs, self.outputs) != (wanted.inputs, wanted.outputs):
                raise FormatError("the certificate does not pair inputs and outputs by their positions")
        sides = (
            ("input", self.inputs, before.inputs, after.inputs),
            ("output", self.outputs, before.outputs, after.outputs),
        )
        for what, pairs, left, right in sides if not asked.by_position else ():
            for name, other in pairs:
                is_plain = name == other or (name not in right and other not in left)
                if asked.match.get(name, other) != other or not (is_plain or name in asked.match):
                    raise FormatError(
                        f"the certificate takes {what} {shown(name)} before for {shown(other)} after, unasked"
                        f"\n  help: if that is meant, state it: match={{{name!r}: {other!r}}}, or by_position"
                    )

    def given_after(self, name: str, t: Tensor) -> Tensor:
        """Return an input before as the model after takes it."""
        return transpose(t, self.axes[name]) if name in self.axes else t

    def made_before(self, name: str, t: Tensor) -> Tensor:
        """Return an output after with its axes in the order before."""
        return transpose(t, _inverse(self.axes[name])) if name in self.axes else t

    def arrays_after(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Return inputs before, by their names, as the model after takes them."""
        return {
            other: np.transpose(arrays[name], self.axes[name]) if name in self.axes else arrays[name]
            for name, other in self.inputs
            if name in arrays
        }

    def array_before(self, name: str, made: Mapping[str, Array]) -> Array:
        """Return an output of the model after, by its name before, with its axes in the order before."""
        array = np.asarray(made[dict(self.outputs)[name]])
        known = name in self.axes and array.ndim == len(self.axes[name])
        return np.transpose(array, _inverse(self.axes[name])) if known else array

    @property
    def data(self) -> dict[str, Any]:
        """What the certificate states, from which `ends_as_shown` makes this again."""
        return {
            "inputs": [list(pair) for pair in self.inputs],
            "outputs": [list(pair) for pair in self.outputs],
            "axes": {name: list(axes) for name, axes in self.axes.items()},
        }

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> SharedEnds:
        """Return the ends of which `data` states this."""
        inputs, outputs = (tuple((name, other) for name, other in data[key]) for key in ("inputs", "outputs"))
        return cls(inputs, outputs, {name: tuple(axes) for name, axes in data["axes"].items()})

    @property
    def texts(self) -> list[str]:
        """What is another one after: names, and the order of axes by the numbers before."""
        found = [
            f"{what} {one_line(name)} before is {one_line(other)} after"
            for what, pairs in (("input", self.inputs), ("output", self.outputs))
            for name, other in pairs
            if name != other
        ]
        axes = ((name, axes) for name, axes in self.axes.items() if list(axes) != sorted(axes))
        return found + [f"axes {list(axes)} of {one_line(name)} before are its axes after" for name, axes in axes]


def ends_as_shown(data: Any, before: ShapedValues, after: ShapedValues) -> SharedEnds:
    """Return what a certificate states of the inputs and outputs of two models.

    Each output of a model is one of the other model, and so is each input of one of the models.  No value is in two
    pairs.  Pairs are in the order before.

    Raises
    ------
    FormatError
        The statement has another form, or is about other models.
    """
    if not isinstance(data, dict) or data.keys() != {"inputs", "outputs", "axes"} or not isinstance(data["axes"], dict):
        raise FormatError("the certificate does not say which inputs and outputs are one")
    _check_pairs("input", data["inputs"], before.inputs, after.inputs)
    _check_pairs("output", data["outputs"], before.outputs, after.outputs)
    if len(data["inputs"]) < min(len(before.inputs), len(after.inputs)):
        raise FormatError("the certificate leaves out inputs that both models have")
    if not len(data["outputs"]) == len(before.outputs) == len(after.outputs):
        raise FormatError("the certificate leaves out outputs")
    for name, axes in data["axes"].items():
        ranks = [side[name].rank for side in (before.inputs, before.outputs) if name in side]
        if not isinstance(axes, list) or any(type(n) is not int for n in axes):
            raise FormatError(f"the certificate states no axes of {shown(name)}")
        if not ranks or name in before.unknown or any(sorted(axes) != list(range(rank)) for rank in ranks):
            raise FormatError(f"the certificate states axes of {shown(name)} that it does not have")
    return SharedEnds.of_data(data)


def _check_pairs(what: str, pairs: Any, left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> None:
    """Raise `FormatError` unless *pairs* are names before and after, each once, in the order before."""
    if not isinstance(pairs, list) or not all(isinstance(p, list) and len(p) == 2 for p in pairs):
        raise FormatError(f"the certificate does not say which {what}s are one")
    if any(not (isinstance(a, str) and isinstance(b, str) and a in left and b in right) for a, b in pairs):
        raise FormatError(f"the certificate names {what}s that the models do not have")
    names, others = [a for a, _ in pairs], {b for _, b in pairs}
    if names != [name for name in left if name in {*names}] or len(others) < len(pairs):
        raise FormatError(f"the certificate has {what}s twice, or in another order")


def matched_names(
    what: str,
    left: Mapping[str, Tensor],
    right: Mapping[str, Tensor],
    by_position: bool,
    match: Mapping[str, str] = _NO_NAMES,
) -> list[tuple[str, str]]:
    """Return the names before and after of what the models share, in the order before.

    Raises
    ------
    FormatError
        They do not have the same, or two of *match* are one.
    """
    stated = {name: other for name, other in match.items() if name in left and other in right}
    if len({*stated.values()}) < len(stated):
        raise FormatError(f"two {what}s before are matched with one after")
    before = [name for name in left if name not in stated]
    after = [name for name in right if name not in stated.values()]
    if by_position:
        if len(before) != len(after):
            raise FormatError(f"the models have {len(left)} and {len(right)} {what}s, which are matched by position")
        pairs = dict(zip(before, after, strict=True))
    elif what == "input":
        pairs = {name: name for name in before if name in after}
        _check_spare([n for n in before if n not in pairs], [n for n in after if n not in pairs])
    elif apart := sorted({*before} ^ {*after}):
        raise FormatError(f"{what} {one_line(', '.join(apart), 200)} is in one model only\n  {_HELP}")
    else:
        pairs = {name: name for name in before}
    pairs |= stated
    return [(name, pairs[name]) for name in left if name in pairs]


def _check_spare(before: list[str], after: list[str]) -> None:
    """Raise for an input that only one model has, if the other one may have it by another name."""
    if before and after:
        raise FormatError(f"input {shortened(before[0])!r} is called {shortened(after[0])!r} after\n  {_HELP}")


def _inverse(axes: Axes) -> Axes:
    return tuple(axes.index(k) for k in range(len(axes)))
