"""Drop what nothing needs: locals that are not read, loops that are empty."""

from __future__ import annotations

from dataclasses import replace

from symlayout_codegen.loops import Body, If, Interval, Let, Loop, Share, Statement, statement_names


def prune(body: Body) -> Body:
    """Drop the locals that nothing reads, and the loops with nothing in them."""
    kept: list[Statement] = []
    used: set[str] = set()
    for statement in reversed(body):
        match statement:
            case Let(name) if name not in used:
                continue
            case Interval(first, last) if not used & {first, last}:
                continue
            case Share(_, loops) if not used & {name for begin, end, _ in loops for name in (begin, end)}:
                continue
            case Loop():
                statement = replace(statement, body=prune(statement.body))
                if not statement.body:
                    continue
            case If(_, _, inside, outside):
                statement = replace(statement, inside=prune(inside), outside=prune(outside))
                if not statement.inside and not statement.outside:
                    continue
            case _:
                pass
        kept.append(statement)
        used |= statement_names(statement)
    return tuple(reversed(kept))
