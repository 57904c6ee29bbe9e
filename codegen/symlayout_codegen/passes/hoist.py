"""Compute offsets and strides before the loops in which they do not change.

    for j: for k: to[s*i + t*j + k]    becomes    for j: at = s*i + t*j; for k: to[at + k]

Strides depend on the parameters alone.  They are written as products where that is possible, and become locals of the
kernel before its first loop; the printer checks their arithmetic for overflow there.  Nothing moves out of an `If`:
an expression in it need not have a meaning, nor a value in range, where the test fails.

Assumes: a local is read only after it, in its own body or inside of it.  The names in use are known (`rename`).  It
comes last: the passes before it see the offsets as sums of products of names.
Guarantees: every expression keeps its value.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symlayout_codegen.ir.factor_polynomial import factored
from symlayout_codegen.ir.identifiers import identifier
from symlayout_codegen.ir.integer_expressions import Expr, IntLiteral, NamedInt, Product, Summation, add, mul
from symlayout_codegen.ir.queries import ZERO, expanded, is_polynomial, names
from symlayout_codegen.ir.statements import Body, Entry, If, Interval, Let, Loop, Share, Statement, mapped

CHEAP = 2
"""An expression of at most this many operations stays where it is."""


@dataclass(slots=True)
class _Scope:
    """The body of a loop, of a branch of an `If` or of the kernel, as far as it is written.

    Attributes
    ----------
    digit : the name of the loop that it is in.
    closed : nothing moves out of it, since it is a branch.
    made : the local that stands for each expression that was hoisted to it.
    """

    digit: str
    closed: bool = False
    written: list[Statement] = field(default_factory=list)
    made: dict[Expr, NamedInt] = field(default_factory=dict)


def hoist(body: Body, taken: set[str]) -> tuple[tuple[Let, ...], Body]:
    """Return the locals of the kernel, which stand before all loops, and *body* with what moved out of its loops."""
    outermost = _Scope("")
    steps: list[Let] = []
    _Hoister(taken, steps, outermost).statements(body)
    return tuple(steps), tuple(outermost.written)


class _Hoister:
    """Writes the statements of nested scopes; *scopes* are the open ones, outermost first."""

    def __init__(self, taken: set[str], steps: list[Let], outermost: _Scope) -> None:
        self.taken, self.steps = taken, steps
        self.products: dict[Expr, NamedInt] = {}
        self.scopes = [outermost]
        self.known: dict[str, int] = {}  # the scope that defines each name; all other names are the kernel's

    def statements(self, body: Body) -> None:
        """Write *body*, each statement after the locals that it needs."""
        for statement in body:
            made = mapped(statement, self.expression)
            scope = self.scopes[-1]
            match made:
                case Loop(name):
                    scope.written.append(replace(made, body=self.inside(_Scope(name), made.body, name)))
                case If(_, _, inside, outside):
                    kept, other = (self.inside(_Scope(scope.digit, closed=True), each) for each in (inside, outside))
                    scope.written.append(replace(made, inside=kept, outside=other))
                case _:
                    self.known |= dict.fromkeys(_defined(made), len(self.scopes) - 1)
                    scope.written.append(made)

    def inside(self, scope: _Scope, body: Body, *defined: str) -> Body:
        """Return *body* as it is written in *scope*, in which *defined* are new."""
        self.scopes.append(scope)
        self.known |= dict.fromkeys(defined, len(self.scopes) - 1)
        self.statements(body)
        self.scopes.pop()
        return tuple(scope.written)

    def depth(self, expr: Expr) -> int:
        """Return the number of the outermost scope in which *expr* has a value and may stand; -1 is the kernel."""
        closed = max((k for k, scope in enumerate(self.scopes) if scope.closed), default=-1)
        return max(closed, max((self.known.get(name, -1) for name in names(expr)), default=-1))

    def expression(self, expr: Expr) -> Expr:
        """Return *expr* with the parts that outer scopes can compute as locals of these."""
        if _cost(expr) <= CHEAP or not is_polynomial(expr):
            return expr
        terms = expr.terms if isinstance(expr, Summation) else (expr,)
        literal = add(*(term for term in terms if isinstance(term, IntLiteral)))
        by_depth: dict[int, list[Expr]] = {}
        for term in terms:
            if not isinstance(term, IntLiteral):
                by_depth.setdefault(self.depth(term), []).append(self.term(term))
        total: Expr = ZERO
        for depth in sorted(by_depth):
            total = add(total, *by_depth[depth])
            if depth < len(self.scopes) - 1:
                total = self.local(total, depth)
        return add(total, literal)

    def term(self, term: Expr) -> Expr:
        """Return *term* with the product of the factors that depend on parameters alone as a local."""
        factors = term.factors if isinstance(term, Product) else (term,)
        fixed = mul(*(factor for factor in factors if self.depth(factor) < 0))
        rest = [factor for factor in factors if self.depth(factor) >= 0]
        return mul(self.local(fixed, -1), *rest) if rest and _cost(fixed) > CHEAP else term

    def local(self, value: Expr, depth: int) -> Expr:
        """Return what stands for *value*: itself if it is cheap, else a local of the scope at *depth*."""
        value = factored(value) if depth < 0 else value
        if _cost(value) <= CHEAP:
            return value
        scope = self.scopes[depth] if depth >= 0 else None
        made = scope.made if scope else self.products
        key = expanded(value)
        if key not in made:
            let = Let(identifier(f"at_{scope.digit}" if scope and scope.digit else "step", self.taken), value)
            made[key] = NamedInt(let.name)
            if scope:
                scope.written.append(let)
                self.known[let.name] = depth
            else:
                self.steps.append(let)
        return made[key]


def _defined(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Let(name) | Entry(name):
            return (name,)
        case Interval(first, last):
            return first, last
        case Share(_, loops):
            return tuple(name for begin, end, _ in loops for name in (begin, end))
        case _:
            return ()


def _cost(expr: Expr) -> int:
    """Return the number of operations of *expr*."""
    match expr:
        case Summation(parts) | Product(parts):
            return len(parts) - 1 + sum(map(_cost, parts))
        case _:
            return 0
