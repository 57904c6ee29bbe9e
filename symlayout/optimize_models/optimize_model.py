"""`sl.optimize`: a model with less movement that is proved equal to the model that it is made from."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from symlayout.budgets import limits
from symlayout.deadlines import at_phase, goals_within, no_deadline, question, within, work
from symlayout.equivalence.verify_models import verify
from symlayout.errors import FormatError, SymlayoutError, one_line
from symlayout.models.model import Model, ModelNode
from symlayout.models.read_model import read_model
from symlayout.optimize_models.changed_regions import changed_regions
from symlayout.optimize_models.constant_fills import make_fills
from symlayout.optimize_models.crossings.layouts import check_layout, crossings_to, held_back, interior_cost
from symlayout.optimize_models.crossings.moved_functions import move_functions
from symlayout.optimize_models.crossings.permuted_nodes import Found, inverse
from symlayout.optimize_models.crossings.transpose_cut import Crossing, crossings_of, run_permuted
from symlayout.optimize_models.dilations import dilate
from symlayout.optimize_models.fewer_nodes.other_layouts import transpose_computed
from symlayout.optimize_models.fewer_nodes.packed_operands import packed_constants
from symlayout.optimize_models.fewer_nodes.take_out_nodes import state_constants, take_out_nodes
from symlayout.optimize_models.fold_moves import fold_pads, fold_repeats, split_repeats
from symlayout.optimize_models.joins.join_elsewhere import join_elsewhere
from symlayout.optimize_models.joins.negated_parts import negate_factors
from symlayout.optimize_models.kernel_functions import call_kernels, kernels_of
from symlayout.optimize_models.movement_cost import COPY_FREE, renamed_data
from symlayout.optimize_models.movement_regions import cost_of_model, respell_regions
from symlayout.optimize_models.onnx_graph import EditedGraph
from symlayout.optimize_models.optimize_report import Change, OptimizeReport
from symlayout.optimize_models.products.permuted_terms import permute_terms
from symlayout.optimize_models.products.split_products import split_products
from symlayout.optimize_models.report_in_words import what_stayed
from symlayout.optimize_models.rewritten import Rewritten
from symlayout.optimize_models.spellings.computed_bounds import places_of
from symlayout.optimize_models.spellings.spell_movement import Speller
from symlayout.proof.laws import REASSOCIATE, check_laws
from symlayout.proof.prove import prove_equal
from symlayout.proof.verdict import Proof, Verdict
from symlayout.run.bound_kernels import kernel_files
from symlayout.show.brief import brief_html
from symlayout.tensors.chain import Tensor
from symlayout.tensors.requirements import implies
from symlayout.tensors.stand_in import rebased

if TYPE_CHECKING:
    from onnx import ModelProto

_LEAST_SECONDS = 0.001  # that are left where reading took all
_MAX_ROUNDS = 12  # of all rewrites
_LEAVE_MOVES = ("layout", "products", "joins", "functions", "twice")  # what they leave to move goes as regions
_MAX_BLAMED = 64  # results that are verified to find which values are to blame
_VALUE_GOALS = 4  # that a value counts which is read or compared
_POINTS = 64  # at which a result is compared: only a proof counts, so a long search for a witness is no use


class OptimizedModel(Model):
    """A model that `optimize` made.

    Attributes
    ----------
    report : OptimizeReport
        What was changed and how it is proved.
    original : Model
        The model before.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> model = Path(sl.__file__).parents[1] / "examples" / "models" / "pixel_unshuffle.onnx"  # in a checkout
    >>> sl.verify(model, sl.optimize(model)).verdict
    <Verdict.PROVED: 'proved'>
    """

    def __init__(self, model: Model, report: OptimizeReport, original: Model) -> None:
        super().__init__(
            model.path,
            model.format,
            model.inputs,
            model.outputs,
            model.tensors,
            model.nodes,
            model.source,
            model.demands,
            unused=model.unused,
            demanded_by=model.demanded_by,
            partial=model.partial,
            assumed=model.assumed,
            notes=model.notes,
        )
        self.report, self.original = report, original

    def _repr_html_(self) -> str:
        return brief_html(repr(self), str(self.report), self.report.svg(self.path.name))

    def save(self, path: str | os.PathLike[str], data: str = "copy") -> None:
        """Write the model as an ``.onnx`` file.

        Parameters
        ----------
        path : str or path
            The new file.
        data : {"copy", "refer"}
            What becomes of constants in other files if *path* is in another folder than the model: they are copied
            into one file beside it, or found where they are, which has to be in the folder of *path* or below.

        Raises
        ------
        FormatError
            The constants would not be found.
        ShapeError
            ``bad_mode`` for another *data*.
        OSError
            A file cannot be written.
        """
        from symlayout.models.write_onnx import write_model

        write_model(self, path, data)

    def kernel_files(self, command: str = "symlayout optimize MODEL -o OUT --kernels DIR") -> dict[str, str]:
        """Return the C of the kernels for the model's functions, by file name; none if it has no such function.

        The files are those of `symlayout emit`, functions that bind the dims from shapes, and in the folder
        ``onnxruntime`` a library of custom operators.

        Parameters
        ----------
        command : str
            The command that writes the files again, for the comments at their tops.

        Raises
        ------
        FormatError
            A function of the model is not one that symlayout wrote.
        """
        kernels = kernels_of(self)
        return kernel_files(kernels, command) if kernels else {}


def optimize(
    model: Model | str | os.PathLike[str],
    layout: str | None = None,
    *,
    laws: Sequence[str] = (),
    kernels: bool = False,
    time_limit: float | None = None,
) -> OptimizedModel:
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
        ``"NCHW"`` or ``"NHWC"`` carries the whole network over: every operation runs in that layout that has a spelling
        there and saves a transpose inside by it.  Inputs and outputs keep their shapes and get at most one transpose
        each, which may move more bytes than before; inside there are never more transposes or bytes than before.
        ONNX's operators for images, such as Conv, have their channels first only, so they stay; the report names the
        operators that hold the network back.  A layout grants ``"reassociate"`` to sums that move.
    laws : sequence of str
        ``"reassociate"`` lets sums run in another layout, where runtimes may add up the terms in another order.  Sums
        stay where they are without it, so that the result computes the same bits in onnxruntime.
    kernels : bool
        Whether regions that several operators of ONNX still move become local functions of the model, each of which one
        C kernel computes: see `OptimizedModel.kernel_files`.  Without the kernels, runtimes run the functions' bodies.
    time_limit : float, optional
        The most seconds that the search may take.  Then the result is the best one that was proved by then, and
        `OptimizeReport.out_of_time` says so.

    Raises
    ------
    FormatError
        The model is of another format, or cannot be read.
    TimeLimitError
        The model is not read within the time limit.
    ShapeError
        ``bad_mode`` for a layout or a law that is not known.

    Examples
    --------
    >>> from pathlib import Path
    >>> import symlayout as sl
    >>> models = Path(sl.__file__).parents[1] / "examples" / "models"  # in a checkout
    >>> o = optimize(models / "pixel_unshuffle.onnx")
    >>> o.report.after.transposes <= o.report.before.transposes
    True
    """
    check_layout(layout)
    check_laws(laws)
    begin = time.monotonic()
    given = model if isinstance(model, Model) else read_model(model, time_limit=time_limit)
    if given.format != "ONNX":
        raise FormatError(f"models of ONNX are optimized, this one is {given.format}")
    original = _reread(given, given.source)
    left = None if time_limit is None else max(time_limit - (time.monotonic() - begin), _LEAST_SECONDS)
    return _Search(original, layout, tuple(laws), kernels).result(left)


def _reread(model: Model, source: ModelProto, *, defaults: bool = True, same_bits: bool = True) -> Model:
    """Return the model with another source; external data is where it was.

    Callers may give other values for initializers that are inputs, so that these are no constants here.  Neither are
    values whose last bits depend on the runtime, such as the cosines of a constant, if *same_bits*.
    """
    from symlayout.models.known_dims import KnownDims
    from symlayout.models.load_onnx import model_of
    from symlayout.models.onnx_model import graph_of

    graph = graph_of(source, model.path.parent, defaults=defaults)
    return model_of(graph, model.path, KnownDims({}), same_bits=same_bits)


@dataclass(frozen=True, slots=True)
class _Rewrite:
    """A rewritten graph: by which rule, what was done, and the laws that it needs.

    With free ends, transposes of inputs and outputs cost nothing.
    """

    rule: str
    source: ModelProto
    rewritten: list[Rewritten]
    free_ends: bool = False
    laws: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """What tells it from others."""
        return self.rule, *(each.text for each in self.rewritten)


_Maker = Callable[[Set[str]], _Rewrite]
"""Makes a rewrite that leaves some values as they are."""


class _Search:
    """The rewrites of one model, until none makes it cheaper."""

    def __init__(self, original: Model, layout: str | None, laws: tuple[str, ...], kernels: bool) -> None:
        self.original = self.best = original
        self.kernels = kernels
        self.layout, self.laws = layout, laws
        self.before = self.cost = cost_of_model(original)
        self.changes: list[Change] = []
        self.verdicts = dict.fromkeys(original.outputs, Verdict.PROVED)
        self.refused: set[tuple[str, ...]] = set()
        self.kept: set[str] = set()  # values whose rewrite made the result UNKNOWN
        self.found: Found = {}
        self.speller = Speller(EditedGraph(original.source).opset, places_of(original.inputs))
        self.used: set[str] = set()
        self.idle: dict[str | Crossing, tuple[Model, set[str]]] = {}  # where a rule did nothing
        self.sums: dict[str, None] = {}  # that stay because their law is not granted
        self.failed: list[str] = []  # operators without a spelling in the layout
        self.requires = [r for t in original.outputs.values() for r in t.requires]
        self.size = len(original.tensors)
        self.doubt: str | None = None  # why the original is not proved equal to itself; None until that is asked

    def result(self, time_limit: float | None) -> OptimizedModel:
        goals = limits.optimize_goals + limits.optimize_value_goals * self.size
        ended = within(time_limit, lambda: goals_within(goals, self._improve, lambda: "goals"), lambda: "time")
        with self._for_the_report():
            return self._reported(ended)

    @contextmanager
    def _for_the_report(self) -> Iterator[None]:
        """Let the block end by no deadline: the result is proved.  The proofs of its parts have goals of their own."""
        with no_deadline(), question(limits.question_goals + limits.value_goals * self.size):
            yield

    def _improve(self) -> str:
        """Try the rules until none does anything; return an empty text, as nothing cut this short."""
        tried = self.best  # the model in which values were kept
        for _ in range(_MAX_ROUNDS):
            self.failed = []
            if any([self._try_again(rule, maker) for rule, maker in self._rewrites()]):
                continue
            if self._try_again("nodes", lambda kept: _Rewrite("nodes", *take_out_nodes(self.best, kept))):
                continue
            if self.best is tried or not self._forgets_kept():
                break
            tried = self.best
        if self.kernels:
            self._try(lambda kept: _Rewrite("kernel", *call_kernels(self.best, kept)))
        return ""

    def _reported(self, ended: str) -> OptimizedModel:
        """Return the best model with the report."""
        nodes = len(self.original.source.graph.node), len(self.best.source.graph.node)
        if self.layout is not None:
            held = held_back(self.best, self.layout, self.failed)
        else:
            held = tuple(self.sums) if self.cost.transposes else ()
        laws = tuple(sorted(self.used))
        regions = changed_regions(self.original, self.best)
        refused = [(each, c.rule, c.reason) for c in self.changes if not c.accepted for each in c.rewritten]
        stayed = what_stayed(self.best, refused, held)
        before, after = self.before.where(self.requires), self.cost.where(self.requires)
        report = OptimizeReport(
            tuple(self.changes),
            before,
            after,
            nodes,
            self.verdicts,
            laws,
            held,
            regions,
            stayed,
            out_of_time=ended == "time",
            out_of_goals=ended == "goals",
        )
        made = _reread(self.best, self.best.source, defaults=False, same_bits=False)  # as `read_model` would
        return OptimizedModel(made, report, self.original)

    def _forgets_kept(self) -> bool:
        """Forget values whose movement was not proved, as it may be beside others now; return whether there are any."""
        again = {each.value for each in respell_regions(self.best, speller=self.speller)[1]} & self.kept
        self.kept -= again
        self.refused.clear()
        self.idle.clear()
        self.changes = [c for c in self.changes if c.accepted or again.isdisjoint(each.value for each in c.rewritten)]
        return bool(again)

    def _rewrites(self) -> Iterator[tuple[str | Crossing, _Maker]]:
        """Yield the rules, by name or crossing, and what makes a rewrite by them."""
        carried = [] if self.layout is None else crossings_to(self.layout)
        for crossing in carried:
            yield crossing, partial(self._crossed, crossing)
        yield "constants", self._constants_stated
        yield "dilation", lambda kept: _Rewrite("dilation", *dilate(self.best, kept))
        yield "movement", self._respelled
        inside = self.layout is not None  # what the layout leaves at inputs and outputs is not taken inside again
        yield "functions", lambda kept: _Rewrite("functions", *move_functions(self.best, kept, self.speller), inside)
        yield "twice", lambda kept: _Rewrite("twice", *transpose_computed(self.best, kept), inside)
        yield "fills", lambda kept: _Rewrite("fills", *make_fills(self.best, kept))
        yield "joins", lambda kept: _Rewrite("joins", *join_elsewhere(self.best, kept, self.speller))
        yield "products", lambda kept: _Rewrite("products", *split_products(self.best, kept, self.speller))
        if REASSOCIATE in self.laws:
            yield (
                "terms",
                lambda kept: _Rewrite("terms", *permute_terms(self.best, kept, self.speller), laws=(REASSOCIATE,)),
            )
        apart = {perm for c in carried for perm in (c.perm, inverse(c.perm))}
        for crossing in crossings_of(self.best, reorder=REASSOCIATE in self.laws):
            if crossing.perm not in apart:
                yield crossing, partial(self._crossed, crossing)
        yield "signs", lambda kept: _Rewrite("signs", *negate_factors(self.best, kept, self.speller))
        yield "repeats", lambda kept: _Rewrite("repeats", *fold_repeats(self.best, kept))
        yield "split repeats", lambda kept: _Rewrite("repeats", *split_repeats(self.best, kept, self.speller))
        yield "pads", lambda kept: _Rewrite("pads", *fold_pads(self.best, kept))

    def _constants_stated(self, kept: Set[str]) -> _Rewrite:
        source, changes = state_constants(self.best, kept | self._unpacked())
        return _Rewrite("constants", source, changes, laws=self._packing(changes))

    def _respelled(self, kept: Set[str]) -> _Rewrite:
        source, changes = respell_regions(self.best, kept | self._unpacked(), self.speller)
        return _Rewrite("movement", source, changes, laws=self._packing(changes))

    def _unpacked(self) -> Set[str]:
        """Return what must stay computed, since runtimes would round in another way if it was a constant."""
        return frozenset() if REASSOCIATE in self.laws else packed_constants(self.best)

    def _packing(self, changes: Sequence[Rewritten]) -> tuple[str, ...]:
        """Return the law by which constants are packed that were not before, if some are."""
        granted = REASSOCIATE in self.laws and bool(changes)
        return (
            (REASSOCIATE,) if granted and not packed_constants(self.best).isdisjoint(c.value for c in changes) else ()
        )

    def _terms_permuted(self, kept: Set[str]) -> _Rewrite:
        return _Rewrite("terms", *permute_terms(self.best, kept, self.speller), laws=(REASSOCIATE,))

    def _try_again(self, rule: str | Crossing, maker: _Maker) -> bool:
        """Do what `_try` does, unless the rule was tried on this very model and did nothing."""
        at_phase(f"optimize: {rule if isinstance(rule, str) else 'layout'}")
        model, kept = self.idle.get(rule, (None, None))
        if model is self.best and kept == self.kept:
            return False
        if self._try(maker):
            return True
        if isinstance(rule, str) or not rule.free_ends:  # what holds back a layout is told anew each time
            self.idle[rule] = self.best, set(self.kept)
        return False

    def _crossed(self, crossing: Crossing, kept: Set[str]) -> _Rewrite:
        made = run_permuted(self.best, crossing, self.found, kept, self.speller)
        self.sums.update(dict.fromkeys(made.refused))
        if crossing.free_ends:
            self.failed += made.failed
        laws = (REASSOCIATE,) if made.reordered else ()
        return _Rewrite("layout", made.source, made.changes, crossing.free_ends, laws)

    def _try(self, maker: _Maker) -> bool:
        """Apply a rewrite if it makes the model cheaper and is proved; return whether it did.

        Values that keep the result from being proved are found, and stay as they are.
        """
        if self.doubt:
            return False
        made = self._made(maker, self.kept)
        if not made.rewritten or made.key in self.refused:
            return False
        self.refused.add(made.key)
        found = self._read(made)
        if isinstance(found, Model) and not self._is_cheaper(found, made.free_ends):
            return False
        reason = found if isinstance(found, str) else self._why_not(found)
        if reason:
            return self._is_blamed(maker, made, reason) and self._try(maker)
        assert isinstance(found, Model)
        with self._for_the_report():
            self._take(made, found)
        return True

    def _made(self, maker: _Maker, kept: Set[str]) -> _Rewrite:
        """Return what *maker* makes, which counts as work."""
        work(self.size)
        return maker(kept)

    def _take(self, made: _Rewrite, found: Model) -> None:
        """Let the model *found* be the best one."""
        producers = {out: node for node in found.nodes for out in node.outputs}
        rewritten = tuple(self._proved(each, found, producers) for each in made.rewritten)
        self.changes.append(Change(made.rule, rewritten, True))
        self.refused.discard(made.key)
        self.best, self.cost = found, cost_of_model(found).renamed(renamed_data(self.original, found))
        self.used.update(made.laws)

    def _read(self, made: _Rewrite) -> Model | str:
        """Return a rewritten model, or why it cannot be read; what a layout leaves behind is respelled."""
        work(_VALUE_GOALS * self.size)
        try:
            model = _reread(self.original, made.source)
            if made.rule in _LEAVE_MOVES:
                source, more = respell_regions(model, self.kept, self.speller)
                if more:
                    made.rewritten.extend(more)
                    model = _reread(self.original, source)
        except SymlayoutError as error:
            return f"the result cannot be read: {error}"
        return model

    def _is_blamed(self, maker: _Maker, made: _Rewrite, reason: str) -> bool:
        """Keep the values whose rewrites are to blame that a result is not proved; return whether others are left.

        Half of the values are rewritten, and half of what fails, until single values are found.  If the original is not
        even proved equal to itself, nothing is.
        """
        if self.doubt is None:
            self.doubt = self._why_not(self.original)
        if self.doubt:
            self.changes.append(Change(made.rule, tuple(made.rewritten), False, self.doubt))
            return False
        values = list(dict.fromkeys(each.value for each in made.rewritten))
        tries = iter(range(_MAX_BLAMED))
        why: dict[str, str] = {}

        def grown(good: set[str], more: list[str]) -> set[str]:
            """Return the good values, and those of *more* that can be rewritten beside them."""
            if not more:
                return good
            failed = reason
            if len(more) < len(values) and next(tries, None) is not None:
                one = self._made(maker, self.kept | (set(values) - good - set(more)))
                found = self._read(one)
                failed = found if isinstance(found, str) else self._why_not(found)
                if not failed:
                    return good | set(more)
            if len(more) == 1:
                why[more[0]] = failed
                return good
            half = len(more) // 2
            return grown(grown(good, more[:half]), more[half:])

        grown(set(), values)
        for each in made.rewritten:
            if each.value in why:
                self.changes.append(Change(made.rule, (each,), False, why[each.value]))
        self.kept |= set(why)
        return len(why) < len(values)

    def _proved(self, each: Rewritten, model: Model, producers: Mapping[str, ModelNode]) -> Rewritten:
        """Return what was rewritten with its own proofs, which are found in the models before and after."""
        proofs = [_own_proof(self.best, model, end, producers) for end in each.ends]
        return replace(each, proofs=(*each.proofs, *(proof for proof in proofs if proof is not None)))

    def _is_cheaper(self, model: Model, free_ends: bool) -> bool:
        """Return whether a model costs less than the best one, and no more at any size."""
        cost_in = interior_cost if free_ends else cost_of_model
        cost, best = (cost_in(m).renamed(renamed_data(self.original, m)) for m in (model, self.best))
        if not cost.at_most(best, self.requires):
            return False
        return (*cost.key()[:2], *_node_counts(model)) < (*best.key()[:2], *_node_counts(self.best))

    def _why_not(self, model: Model) -> str:
        """Return why a model must not take the place of the original; an empty text if it may."""
        work(_VALUE_GOALS * self.size)
        try:
            found = verify(self.original, model, laws=self.laws, budget=_POINTS, run=False, advise=False)
        except SymlayoutError as error:
            return f"the models cannot be compared: {error}"
        for name, verdict in found.outputs.items():
            if verdict is not Verdict.PROVED:
                return f"output {one_line(name)} is {verdict.name}"
            if not implies(self.original.outputs[name].facts, model.outputs[name].facts):
                return f"output {one_line(name)} is not proved to accept the same sizes"
        self.used.update(found.laws)
        return ""


def _node_counts(model: Model) -> tuple[int, int]:
    """Return how many nodes read and write elements, those aside that compute numbers of shapes; and of all nodes."""
    nodes = model.source.graph.node
    busy = (
        n
        for n in nodes
        if n.op_type not in (*COPY_FREE, "Constant") and any(model.tensors.numbers(out) is None for out in n.output)
    )
    return sum(1 for _ in busy), len(nodes)


def _own_proof(before: Model, after: Model, name: str, made: Mapping[str, ModelNode]) -> Proof | None:
    """Return the proof that a value is the same in both models, as a function of values that both have.

    These are its operands.  If an operand was computed twice before and once after, only one model has it; then the
    operands of that operand are taken.  The result is None if the value is not the same function of them: two equal
    operands may have traded places, and its readers may read another value after.  *made* has the nodes of the model
    after by their outputs.
    """
    for depth in (0, 1):
        proof = _proof_within(before, after, name, depth, made)
        if proof is not None and proof.verdict is Verdict.PROVED:
            return proof
    return None


def _proof_within(before: Model, after: Model, name: str, depth: int, made: Mapping[str, ModelNode]) -> Proof | None:
    """Return the proof for a value as a function of values that are so many steps further from it than its operands."""
    if not (_has_tensor(before, name) and _has_tensor(after, name)):
        return None
    common: dict[str, Tensor] = {}
    waiting, seen = [(name, -1)], set()
    while waiting:
        at, level = waiting.pop(0)
        node = made.get(at)
        if at in seen:
            continue
        seen.add(at)
        if (level >= depth or node is None) and _has_tensor(before, at) and _has_tensor(after, at):
            t = after.tensors.shaped[at]
            if t.values is None:
                common[at] = Tensor("x", t.dtype, t.extents, t.facts, key=f"stand-in {len(common)}")
        elif node is not None:
            waiting += [(n, level + 1) for n in node.inputs if n]
    left, right = (
        rebased(m.tensors.shaped[name], {id(m.tensors.shaped[n]): leaf for n, leaf in common.items()})
        for m in (before, after)
    )
    return None if left is None or right is None else prove_equal(left, right, budget=_POINTS)


def _has_tensor(model: Model, name: str) -> bool:
    """Return whether a value of a model is a tensor: numbers of dims that no value shows are none."""
    try:
        return model.tensors.shaped.get(name) is not None
    except FormatError:
        return False
