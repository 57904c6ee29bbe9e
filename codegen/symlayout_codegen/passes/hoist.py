"""Compute once what does not change in a loop: offsets and strides become locals of the loops around.

    to[s*i + t*j + k]    becomes    at = s*i + t*j  where j is known,  and there  to[at + k]

Strides, which parameters alone decide, are written as products where they are, and become locals of the kernel;
these are computed before the first loop, so the printer checks their arithmetic.  Within an `If`, nothing moves out
of it: what stands there need have no meaning elsewhere.  The value of every expression stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from symlayout_codegen.ir.factor_polynomial import factored
from symlayout_codegen.ir.integer_expressions import Expr, Literal, Name, Product, Sum, add, mul
from symlayout_codegen.ir.queries import ZERO, expanded, is_polynomial, names
from symlayout_codegen.ir.statements import Body, If, Interval, Let, Loop, Share, Statement, mapped
from symlayout_codegen.passes.rename import identifier

CHEAP = 2
"""An expression of at most so many operations stays where it is."""


@dataclass(slots=True)
class _Scope:
    """The body of a loop, of a branch (*closed*: nothing moves out of it) or of the kernel, as far as it is written."""

    digit: str
    closed: bool = False
    written: list[Statement] = field(default_factory=list)
    made: dict[Expr, Name] = field(default_factory=dict)


def hoist(body: Body, taken: set[str]) -> tuple[tuple[Let, ...], Body]:
    """Return the locals of the kernel that stand before all loops, and statements that do what *body* does."""
    outermost = _Scope("")
    steps: list[Let] = []
    _Hoister(taken, steps, outermost).statements(body)
    return tuple(steps), tuple(outermost.written)


class _Hoister:
    """Writes the statements of the scopes that are open, outermost first."""

    def __init__(self, taken: set[str], steps: list[Let], outermost: _Scope) -> None:
        self.taken, self.steps = taken, steps
        self.products: dict[Expr, Name] = {}
        self.scopes = [outermost]
        self.known: dict[str, int] = {}  # the scope of each name that one defines; the others are the kernel's

    def statements(self, body: Body) -> None:
        """Write *body*, each statement after what it needs."""
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
        """Return the number of the outermost scope in which *expr* can be computed and may stand; -1 is the kernel."""
        closed = max((k for k, scope in enumerate(self.scopes) if scope.closed), default=-1)
        return max(closed, max((self.known.get(name, -1) for name in names(expr)), default=-1))

    def expression(self, expr: Expr) -> Expr:
        """Return *expr*, what can be computed further outside as locals there."""
        if _cost(expr) <= CHEAP or not is_polynomial(expr):
            return expr
        terms = expr.terms if isinstance(expr, Sum) else (expr,)
        literal = add(*(term for term in terms if isinstance(term, Literal)))
        by_depth: dict[int, list[Expr]] = {}
        for term in terms:
            if not isinstance(term, Literal):
                by_depth.setdefault(self.depth(term), []).append(self.term(term))
        total: Expr = ZERO
        for depth in sorted(by_depth):
            total = add(total, *by_depth[depth])
            if depth < len(self.scopes) - 1:
                total = self.local(total, depth)
        return add(total, literal)

    def term(self, term: Expr) -> Expr:
        """Return *term*, the product of those of its factors that the parameters decide as a local."""
        factors = term.factors if isinstance(term, Product) else (term,)
        fixed = mul(*(factor for factor in factors if self.depth(factor) < 0))
        rest = [factor for factor in factors if self.depth(factor) >= 0]
        return mul(self.local(fixed, -1), *rest) if rest and _cost(fixed) > CHEAP else term

    def local(self, value: Expr, depth: int) -> Expr:
        """Return what stands for *value*: itself where it is cheap, else a local of the scope at *depth*."""
        value = factored(value) if depth < 0 else value
        if _cost(value) <= CHEAP:
            return value
        scope = self.scopes[depth] if depth >= 0 else None
        made = scope.made if scope else self.products
        key = expanded(value)
        if key not in made:
            let = Let(identifier(f"at_{scope.digit}" if scope and scope.digit else "step", self.taken), value)
            made[key] = Name(let.name)
            if scope:
                scope.written.append(let)
                self.known[let.name] = depth
            else:
                self.steps.append(let)
        return made[key]


def _defined(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Let(name):
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
        case Sum(parts) | Product(parts):
            return len(parts) - 1 + sum(map(_cost, parts))
        case _:
            return 0
