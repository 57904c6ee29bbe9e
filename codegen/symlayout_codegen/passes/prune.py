"""Drop locals that nothing reads, and loops and tests with nothing in them.

    n_last = min(n, m); for i < n: {}    becomes    nothing

Assumes: a local is read only after it, in its own body or inside of it.
Guarantees: the same elements in the same order.
"""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.ir.queries import names
from symlayout_codegen.ir.statements import Body, Entry, If, Interval, Let, Loop, Share, Statement, expressions


def prune(body: Body) -> Body:
    """Return *body* without the locals that nothing reads, and without empty loops and tests."""
    return _pruned(body)[0]


def _pruned(body: Body) -> tuple[Body, set[str]]:
    """Return what is left of *body*, and the names that this reads."""
    kept: list[Statement] = []
    used: set[str] = set()
    for statement in reversed(body):
        match statement:
            case Let(name) | Entry(name) if name not in used:
                continue
            case Interval(first, last) if not used & {first, last}:
                continue
            case Share(_, loops) if not used & {name for begin, end, _ in loops for name in (begin, end)}:
                continue
            case Loop():
                inner, read = _pruned(statement.body)
                if not inner:
                    continue
                statement = replace(statement, body=inner)
                used |= read
            case If():
                inside, read = _pruned(statement.inside)
                outside, read_outside = _pruned(statement.outside)
                if not inside and not outside:
                    continue
                statement = replace(statement, inside=inside, outside=outside)
                used |= read | read_outside
            case _:
                pass
        kept.append(statement)
        used.update(*map(names, expressions(statement)))
    return tuple(reversed(kept)), used
