"""Find what could be wrong in a Python file: each place where one operator, condition or statement is another.

A mutant is a small change of the text: a comparison or a sign turned round, a condition negated or dropped, a number
one off, a statement left out.  Texts for readers (docstrings, messages) and annotations are left alone.
"""

from __future__ import annotations

import ast
import hashlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], ast.cmpop] = {
    ast.Lt: ast.LtE(),
    ast.LtE: ast.Lt(),
    ast.Gt: ast.GtE(),
    ast.GtE: ast.Gt(),
    ast.Eq: ast.NotEq(),
    ast.NotEq: ast.Eq(),
    ast.Is: ast.IsNot(),
    ast.IsNot: ast.Is(),
    ast.In: ast.NotIn(),
    ast.NotIn: ast.In(),
}
OPERATORS: dict[type[ast.operator], ast.operator] = {
    ast.Add: ast.Sub(),
    ast.Sub: ast.Add(),
    ast.Mult: ast.Add(),
    ast.FloorDiv: ast.Mult(),
    ast.Mod: ast.FloorDiv(),
    ast.BitOr: ast.BitAnd(),
    ast.BitAnd: ast.BitOr(),
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """In the function *where* of *file*, the text from byte *start* to *end* becomes *new*.

    ``name`` says so in words, and stays the same while the lines of the file move.
    """

    file: str
    where: str
    line: int
    start: int
    end: int
    new: str
    name: str

    def apply(self, source: str) -> str:
        """Return *source* with the change."""
        text = source.encode("utf-8")
        return (text[: self.start] + self.new.encode("utf-8") + text[self.end :]).decode("utf-8")

    def is_python(self, source: str) -> bool:
        """Return whether *source* can be read with the change, as it cannot where a pattern has no such expression."""
        try:
            compile(self.apply(source), self.file, "exec")
        except SyntaxError:
            return False
        return True

    def rank(self, seed: int) -> str:
        """Return the place of the mutant in the random order *seed*, which a change elsewhere does not shuffle."""
        return hashlib.sha256(f"{seed} {self.name}".encode()).hexdigest()


def mutants(root: Path, file: str) -> list[Mutant]:
    """Return every mutant of *file*, in the order of the text; what is no Python, such as a name in a pattern, too."""
    source = (root / file).read_text("utf-8")
    encoded = source.encode("utf-8")
    starts = [0, *itertools.accumulate(map(len, encoded.splitlines(keepends=True)))]
    lines = source.splitlines()
    seen: Counter[str] = Counter()
    found = []
    for where, node, changed in _changes(ast.parse(source)):
        start, end = _span(starts, node)
        old = encoded[start:end].decode("utf-8")
        new = changed if isinstance(node, ast.stmt) else f"({changed})"
        name = f"{file}: {where}: {_short(old)} -> {_short(changed)}"
        if isinstance(node, ast.Constant):
            name += f" in {_short(lines[node.lineno - 1].strip())}"
        seen[name] += 1
        if seen[name] > 1:
            name += f" #{seen[name]}"
        found.append(Mutant(file, where, node.lineno, start, end, new, name))
    return found


def _span(starts: Sequence[int], node: ast.expr | ast.stmt) -> tuple[int, int]:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset


def _short(text: str) -> str:
    """Return *text* on one line; where it is long, its ends and what tells it from others."""
    line = " ".join(text.split())
    return line if len(line) <= 100 else f"{line[:80]}... {hashlib.sha256(line.encode()).hexdigest()[:6]}"


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield the function, the node and the text that stands for it."""

    def visit(node: ast.AST, where: str) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            where = node.name if where == "module" else f"{where}.{node.name}"
        if isinstance(node, ast.expr):
            yield from ((where, node, text) for text in _expression(node))
        if isinstance(node, ast.stmt):
            yield from ((where, node, text) for text in _statement(node))
        if isinstance(node, (ast.If, ast.While, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.Constant)):
            yield where, node.test, f"not ({ast.unparse(node.test)})"
        if isinstance(node, ast.comprehension):
            yield from ((where, test, "True") for test in node.ifs)
        for child in _mutable(node):
            yield from visit(child, where)

    yield from visit(tree, "module")


def _mutable(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of *node* that a program does and no reader reads."""
    match node:
        case ast.FunctionDef():
            yield from (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None), *node.body)
        case ast.ClassDef():
            yield from node.body
        case ast.AnnAssign():
            yield from [node.value] if node.value is not None else []
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert():
            return
        case ast.If(test=ast.Name("TYPE_CHECKING")):
            return
        case _:
            yield from ast.iter_child_nodes(node)


def _expression(node: ast.expr) -> Iterator[str]:
    match node:
        case ast.Compare(left, [op], [right]):
            yield ast.unparse(ast.Compare(left, [COMPARISONS[type(op)]], [right]))
        case ast.Compare(left, ops, rights):
            for k, op in enumerate(ops):
                yield ast.unparse(ast.Compare(left, [*ops[:k], COMPARISONS[type(op)], *ops[k + 1 :]], rights))
        case ast.BinOp(left, op, right) if type(op) in OPERATORS and not isinstance(
            left, (ast.Constant, ast.JoinedStr)
        ):
            yield ast.unparse(ast.BinOp(left, OPERATORS[type(op)], right))
        case ast.BoolOp(op, values):
            yield ast.unparse(ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values))
            for k in range(len(values)):  # a condition is forgotten
                rest = [*values[:k], *values[k + 1 :]]
                yield ast.unparse(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand) if not isinstance(operand, ast.Constant):
            yield ast.unparse(operand)
        case ast.Constant(bool(value)):
            yield str(not value)
        case ast.Constant(int(value)) if value < 10:  # larger ones are budgets
            yield str(value + 1)


def _statement(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            yield "pass"
        case ast.Return(value) if value is not None and not isinstance(value, ast.Constant):
            yield "return None"
        case ast.If(_, body, []) if isinstance(body[-1], (ast.Return, ast.Raise, ast.Continue)):
            yield "pass"
