"""`sl.optimize`: a model with less movement that is proved equal to the model that it is made from."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symlayout.equivalence.verify_models import verify
from symlayout.errors import FormatError, ShapeError, SymlayoutError, shown
from symlayout.models.model import Model
from symlayout.models.read_model import read_model
from symlayout.optimize_models.movement_cost import Cost
from symlayout.optimize_models.movement_regions import cost_of_model, respell_regions
from symlayout.optimize_models.transpose_cut import permutations_of, run_permuted
from symlayout.proof.prove import Verdict, implies

if TYPE_CHECKING:
    from onnx import ModelProto

_MAX_ROUNDS = 12  # of all rewrites


@dataclass(frozen=True, slots=True)
class Change:
    """One rewrite of the graph, and what came of it.

    Attributes
    ----------
    rule : str
        ``"movement"`` for regions in their cheapest spelling, ``"layout"`` for operations that run in another layout.
    details : tuple of str
        What was rewritten.
    accepted : bool
        Whether the rewrite is in the result.
    reason : str
        Why it is not.
    """

    rule: str
    details: tuple[str, ...]
    accepted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OptimizeReport:
    """What `optimize` did.

    Attributes
    ----------
    changes : tuple of Change
        The rewrites that were tried, in order.
    before, after : Cost
        What movement costs in the model before and after.
    nodes : tuple of int
        The number of nodes before and after.
    verdicts : dict of str to Verdict
        The verdict of each output.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> model = Path(sl.__file__).parents[1] / "examples" / "models" / "pixel_unshuffle.onnx"  # in a checkout
    >>> report = sl.optimize(model).report
    >>> report.nodes[1] < report.nodes[0], report.verdicts
    (True, {'y': <Verdict.PROVED: 'proved'>})
    """

    changes: tuple[Change, ...]
    before: Cost
    after: Cost
    nodes: tuple[int, int]
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "changes": [
                {"rule": c.rule, "details": list(c.details), "accepted": c.accepted, "reason": c.reason}
                for c in self.changes
            ],
            "before": _cost_data(self.before, self.nodes[0]),
            "after": _cost_data(self.after, self.nodes[1]),
            "verdicts": {name: verdict.value for name, verdict in self.verdicts.items()},
        }

    def __str__(self) -> str:
        before, after = self.before, self.after
        lines = [
            f"transposes   {before.transposes} -> {after.transposes}",
            f"bytes moved  {before.total} -> {after.total}",
            f"nodes        {self.nodes[0]} -> {self.nodes[1]}",
            *(f"output {name}: {verdict.name}" for name, verdict in self.verdicts.items()),
        ]
        for change in self.changes:
            lines += [f"{'' if change.accepted else 'not done: '}{detail}" for detail in change.details]
            lines += [f"  because {change.reason}"] if change.reason else []
        return "\n".join(lines)


def _cost_data(cost: Cost, nodes: int) -> dict[str, Any]:
    total = cost.total
    return {
        "transposes": cost.transposes,
        "bytes": total if isinstance(total, int) else str(total),
        "nodes": nodes,
    }


class OptimizedModel(Model):
    """A model that `optimize` made.

    Attributes
    ----------
    report : OptimizeReport
        What was changed and how it is proved.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> model = Path(sl.__file__).parents[1] / "examples" / "models" / "pixel_unshuffle.onnx"  # in a checkout
    >>> sl.verify(model, sl.optimize(model)).verdict
    <Verdict.PROVED: 'proved'>
    """

    def __init__(self, model: Model, report: OptimizeReport) -> None:
        super().__init__(
            model.path,
            model.format,
            model.inputs,
            model.outputs,
            model.tensors,
            model.nodes,
            model.source,
            model.demands,
        )
        self.report = report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model as an ``.onnx`` file.

        Parameters
        ----------
        path : str or path
            The new file.  It has to be in the folder of the model if that has constants in other files.

        Raises
        ------
        FormatError
            The constants in other files would not be found.
        OSError
            The file cannot be written.
        """
        from symlayout.models.write_onnx import write_model

        write_model(self, path)


def optimize(model: Model | str | os.PathLike[str], layout: str | None = None) -> OptimizedModel:
    """Return the model with less movement, proved to compute the same outputs for all sizes and all inputs.

    Each region of transposes, reshapes, slices and concats between computing operations becomes the cheapest spelling
    that is found: nothing, one operation, or a few.  Operations run in another layout where transposes cancel by that.
    A rewrite is kept if it costs no more for all sizes, in transposes and in bytes, and `verify` proves every output
    without laws.  What is not proved is not done, and the report says so.

    Names of inputs and outputs, metadata, operation sets, subgraphs and all other nodes stay as they are.

    Parameters
    ----------
    model : Model or path
        A model of ONNX.
    layout : str, optional
        The layout of the whole network; only None, which leaves it, is known yet.

    Raises
    ------
    FormatError
        The model is of another format, or cannot be read.
    ShapeError
        ``bad_mode`` for a *layout*.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> o = optimize(models / "pixel_unshuffle.onnx")
    >>> o.report.after.transposes <= o.report.before.transposes
    True
    """
    if layout is not None:
        raise ShapeError(f"layout {shown(layout)} is not known yet\n  known: None", "bad_mode")
    given = model if isinstance(model, Model) else read_model(model)
    if given.format != "ONNX":
        raise FormatError(f"models of ONNX are optimized, this one is {given.format}")
    original = _reread(given, given.source)
    return _Search(original).result()


def _reread(model: Model, source: ModelProto) -> Model:
    """Return the model with another source; external data is where it was."""
    from symlayout.models.known_dims import KnownDims
    from symlayout.models.load_onnx import model_of
    from symlayout.models.onnx_model import graph_of

    return model_of(graph_of(source, model.path.parent), model.path, KnownDims({}))


class _Search:
    """The rewrites of one model, until none makes it cheaper."""

    def __init__(self, original: Model) -> None:
        self.original = self.best = original
        self.before = self.cost = cost_of_model(original)
        self.changes: list[Change] = []
        self.verdicts = dict.fromkeys(original.outputs, Verdict.PROVED)
        self.refused: set[tuple[str, tuple[str, ...]]] = set()

    def result(self) -> OptimizedModel:
        for _ in range(_MAX_ROUNDS):
            if not any([self._try(rule, rewrite) for rule, rewrite in self._rewrites()]):
                break
        nodes = len(self.original.source.graph.node), len(self.best.source.graph.node)
        report = OptimizeReport(tuple(self.changes), self.before, self.cost, nodes, self.verdicts)
        return OptimizedModel(self.best, report)

    def _rewrites(self) -> Iterator[tuple[str, Callable[[], tuple[ModelProto, list[str]]]]]:
        yield "movement", lambda: respell_regions(self.best)
        for perm in permutations_of(self.best):
            yield "layout", lambda perm=perm: run_permuted(self.best, perm)  # type: ignore[misc]

    def _try(self, rule: str, rewrite: Callable[[], tuple[ModelProto, list[str]]]) -> bool:
        """Apply a rewrite if it makes the model cheaper and is proved; return whether it did."""
        source, details = rewrite()
        if not details or (rule, tuple(details)) in self.refused:
            return False
        try:
            model = _reread(self.original, source)
            if rule == "layout":  # identities and pairs of transposes are left, which go as regions
                source, more = respell_regions(model)
                details += more
                model = _reread(self.original, source)
        except SymlayoutError as error:
            self.changes.append(Change(rule, tuple(details), False, f"the result cannot be read: {error}"))
            self.refused.add((rule, tuple(details)))
            return False
        cost = cost_of_model(model)
        counts = len(model.source.graph.node), len(self.best.source.graph.node)
        if not cost.at_most(self.cost) or (*cost.key()[:2], counts[0]) >= (*self.cost.key()[:2], counts[1]):
            self.refused.add((rule, tuple(details)))
            return False
        reason = self._why_not(model)
        self.changes.append(Change(rule, tuple(details), not reason, reason))
        if reason:
            self.refused.add((rule, tuple(details)))
            return False
        self.best, self.cost = model, cost
        return True

    def _why_not(self, model: Model) -> str:
        """Return why a model must not take the place of the original; an empty text if it may."""
        try:
            found = verify(self.original, model)
        except SymlayoutError as error:
            return f"the models cannot be compared: {error}"
        for name, proof in found.outputs.items():
            if proof.verdict is not Verdict.PROVED:
                return f"output {name[:80]} is {proof.verdict.name}"
            if not implies(self.original.outputs[name].facts, model.outputs[name].facts):
                return f"output {name[:80]} is not proved to accept the same sizes"
        return ""
