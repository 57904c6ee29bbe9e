"""Forge certificates and see that no false claim is accepted: ``python -m tests.promises.forge 100000``.

A genuine certificate is altered the way somebody would who wants a false claim accepted: its claim is made to say
something else, its parts are dropped, doubled, exchanged or retyped, its proof is cut short or taken from another, and
it is sealed again.  What is accepted is compared with brute force at small sizes
(`tests.support.certificates.certified`).
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from symlayout.proof.certificate.checker import refusal, seal
from tests.fuzz_check import alterations, at, few, many, sites, words_of
from tests.support.certificates.certified import EndlessError, UndefinedError, falsity

Data = dict[str, Any]
TRIVIAL: tuple[Data, ...] = ({"steps": [], "absurd": []}, {"steps": [["point"]], "agree": [[], []]})
VALUES: tuple[Any, ...] = (False, True, None, 0, 1, -1, "", "x", "0", [], {}, [[]], [[1, "N"]], 1.0)
SIZES = 12  # at which a claim is enumerated


class AcceptedError(AssertionError):
    """A false claim was accepted, or the checker raised."""


# ---------------------------------------------------------------------- alterations of any part


def _place(rnd: random.Random, data: Data, kind: type | None = None) -> tuple[Any, Any]:
    """Return a list or an object within the claim or the proof, and a key of it whose value is of a kind."""
    part = rnd.choice(("claim", "claim", "proof"))
    paths = [path for path in sites(data[part]) if kind is None or isinstance(at(data[part], path), kind)]
    if not paths:
        return data, part
    *path, key = rnd.choice(paths)
    return at(data[part], path), key


def change(rnd: random.Random, data: Data, _: Data) -> None:
    """Change a value to one of the same type."""
    holder, key = _place(rnd, data)
    holder[key] = copy.deepcopy(rnd.choice(list(alterations(holder[key], words_of(data)[:20])) or [None]))


def retype(rnd: random.Random, data: Data, _: Data) -> None:
    """Change a value to one of another type: a bool for a number, a text for a list."""
    holder, key = _place(rnd, data)
    holder[key] = copy.deepcopy(rnd.choice([value for value in VALUES if type(value) is not type(holder[key])]))


def drop(rnd: random.Random, data: Data, _: Data) -> None:
    """Leave out a member of an object or an element of a list."""
    holder, key = _place(rnd, data)
    del holder[key]


def add(rnd: random.Random, data: Data, other: Data) -> None:
    """Add a member that the format does not have there, or one that it has elsewhere."""
    holder, key = _place(rnd, data, dict)
    names = ("input", "op", "cases", "fill", "trusted", "note", "absurd", "agree", "split", "where", "steps")
    given = [at(other, path) for path in sites(other) if path[-1] in names]
    holder[key][rnd.choice(names)] = copy.deepcopy(rnd.choice([*given, *VALUES]))


def double(rnd: random.Random, data: Data, _: Data) -> None:
    """Repeat an element of a list."""
    holder, key = _place(rnd, data, list)
    if items := holder[key]:
        k = rnd.randrange(len(items))
        items.insert(rnd.randrange(len(items) + 1), copy.deepcopy(items[k]))


def swap(rnd: random.Random, data: Data, _: Data) -> None:
    """Exchange two elements of a list."""
    holder, key = _place(rnd, data, list)
    if len(items := holder[key]) > 1:
        i, k = rnd.sample(range(len(items)), 2)
        items[i], items[k] = items[k], items[i]


# ---------------------------------------------------------------------- parts of other certificates


def splice(rnd: random.Random, data: Data, other: Data) -> None:
    """Take a part of a proof from another certificate, or from elsewhere in this one."""
    source = rnd.choice((data, other))
    kind = rnd.choice(("steps", "given", "sides", "maps", "agree", "case", "cases", "where", "coords", "shape"))
    here = [path for path in sites(data) if path[-1] == kind]
    there = [at(source, path) for path in sites(source) if path[-1] == kind]
    if not here or not there:
        return
    *path, key = rnd.choice(here)
    holder, new = at(data, path), copy.deepcopy(rnd.choice(there))
    if isinstance(holder[key], list) and isinstance(new, list) and rnd.random() < 0.5:
        k = rnd.randrange(len(new) + 1)  # its beginning, and then what was here
        new = new[:k] + holder[key][min(k, len(holder[key])) :]
    holder[key] = new


def other_proof(rnd: random.Random, data: Data, other: Data) -> None:
    """Take the whole proof, or the claim's dims and assumptions, from another certificate."""
    if rnd.random() < 0.7:
        data["proof"] = copy.deepcopy(other["proof"])
    else:
        for part in ("dims", "symbols", "assumptions"):
            data["claim"][part] = copy.deepcopy(other["claim"][part])


def trivial_proof(rnd: random.Random, data: Data, _: Data) -> None:
    """Cut a proof short: a block becomes one that shows nothing, or loses its steps or half of a distinction."""
    blocks = [path for path in sites(data) if isinstance(at(data, path), dict) and "steps" in at(data, path)]
    *path, key = rnd.choice(blocks)
    holder = at(data, path)
    block = holder[key]
    branches = [b for end in ("split", "masked") for b in block.get(end, []) if isinstance(b, dict)]
    holder[key] = copy.deepcopy(rnd.choice([*TRIVIAL, *branches, {**block, "steps": []}, {**block, "steps": []}]))


# ---------------------------------------------------------------------- claims that say something else


def _nodes(data: Data) -> list[Data]:
    nodes: list[Data] = data["claim"]["nodes"]
    return nodes


def another_side(rnd: random.Random, data: Data, _: Data) -> None:
    """Let a side be another node, with what the proof says of its path cut to fit."""
    side = rnd.choice(("left", "right"))
    data["claim"][side] = rnd.randrange(len(_nodes(data)))
    for path in [path for path in sites(data["proof"]) if path[-1] == "agree"]:
        reads = at(data["proof"], path)
        number = ("left", "right").index(side)
        reads[number] = reads[number][rnd.randrange(len(reads[number]) + 1) :]


def input_of_operation(rnd: random.Random, data: Data, other: Data) -> None:
    """Let an operation be an input as well, or instead; then a side may end there."""
    node = rnd.choice(_nodes(data))
    node["input"] = rnd.choice([n["input"] for n in _nodes(data) if "input" in n])
    if rnd.random() < 0.5:
        for member in ("op", "inputs", "cases"):
            node.pop(member, None)
    another_side(rnd, data, other)


def renumber(rnd: random.Random, data: Data, _: Data) -> None:
    """Put the nodes in another order, with the numbers that refer to them or without."""
    nodes = _nodes(data)
    order = rnd.sample(range(len(nodes)), len(nodes))
    data["claim"]["nodes"] = [nodes[k] for k in order]
    if rnd.random() < 0.6:
        for node in nodes:
            if "inputs" in node:
                node["inputs"] = [order.index(k) for k in node["inputs"]]
        for side in ("left", "right"):
            data["claim"][side] = order.index(data["claim"][side])


def rewire(rnd: random.Random, data: Data, _: Data) -> None:
    """Let an operation read another node, or a case another source."""
    operations = [node for node in _nodes(data) if node.get("inputs")]
    if operations:
        node = rnd.choice(operations)
        node["inputs"][rnd.randrange(len(node["inputs"]))] = rnd.randrange(len(_nodes(data)))


def overlap(rnd: random.Random, data: Data, _: Data) -> None:
    """Let two cases hold at once, none hold somewhere, or a case read elsewhere."""
    operations = [node for node in _nodes(data) if node.get("cases")]
    if not operations:
        return
    node = rnd.choice(operations)
    cases, number = node["cases"], rnd.randrange(len(node["cases"]))
    case = copy.deepcopy(cases[number])
    choice = rnd.randrange(5)
    if choice == 0:
        cases.append(case)
    elif choice == 1:
        del cases[number]
    elif choice == 2 and case["where"]:
        del cases[number]["where"][rnd.randrange(len(case["where"]))]
    elif choice == 3:
        case["coords"] = [["-", c, ["extent", 1]] for c in case["coords"]]
        cases.insert(number, case)
    else:
        window = [["axis", 0], rnd.choice((1, 2, *node["shape"]))] if node["shape"] else [["extent", 0], 1]
        cases[number]["where"].append(window)
    if rnd.random() < 0.5:  # and the proof follows
        for path in [path for path in sites(data["proof"]) if path[-1] == "case"]:
            end = at(data["proof"], path)
            end[1] = [[0, rnd.choice(("below", "above", "empty"))] for _ in range(len(cases) - 1)]


def shifted(rnd: random.Random, data: Data, _: Data) -> None:
    """Let a coordinate, an extent, or a bound be another by one, everywhere that it stands or in one place."""
    claim = data["claim"]
    kind = rnd.choice(("coords", "shape", "dims", "fill", "assumptions"))
    if kind == "dims" and claim["dims"]:
        row = rnd.choice(claim["dims"])
        k = rnd.choice((1, 2, 3))
        row[k] = (row[k] or 0) + rnd.choice((-2, -1, 1, 2))
    elif kind == "assumptions" and claim["assumptions"]:
        k = rnd.randrange(len(claim["assumptions"]))
        claim["assumptions"][k] = rnd.choice(([">=", 0], ["==", 0], ["divides", 0, 1], [">=", [[1, "N"]]]))
    else:
        paths = [path for path in sites(claim) if path[-1] == kind]
        if not paths:
            return
        holder = at(claim, paths[0][:-1]) if len(paths) == 1 else at(claim, rnd.choice(paths)[:-1])
        if kind == "fill":
            holder["fill"] = rnd.choice((None, "0", "1", "nan"))
        elif holder[kind] and kind == "coords":
            k = rnd.randrange(len(holder["coords"]))
            wrapped = (["+", holder["coords"][k], ["extent", rnd.choice((1, -1))]], ["extent", 0], ["axis", 0])
            holder["coords"][k] = rnd.choice(wrapped)
        elif holder[kind]:
            k = rnd.randrange(len(holder["shape"]))
            old, new = holder["shape"][k], rnd.choice((1, 2, [[1], [1, "N"]], 0))
            for path in sites(claim) if rnd.random() < 0.5 else ():
                if path[-2:-1] == ("shape",) and at(claim, path) == old:
                    at(claim, path[:-1])[path[-1]] = new
            holder["shape"][k] = new


def no_sizes(rnd: random.Random, data: Data, _: Data) -> None:
    """Let a proof say that there is no point, or name a symbol or dim twice, or one that there is not."""
    claim = data["claim"]
    choice = rnd.randrange(4)
    if choice == 0 and claim["dims"]:
        claim["dims"].append([rnd.choice(claim["dims"])[0], *rnd.choice(([0, 0, 1], [1, None, 1], [5, 3, 1]))])
    elif choice == 1 and claim["dims"]:
        claim["dims"].pop(rnd.randrange(len(claim["dims"])))
    elif choice == 2:
        claim["symbols"].append(["q", rnd.choice(("/", "//", "max")), 1, rnd.choice((0, 1, [[1, "q"]]))])
    data["proof"]["sides"] = copy.deepcopy(TRIVIAL[0])
    data["proof"]["given"].append(["combine", -1, 1, [[1, 1]], []])


KINDS: tuple[Callable[[random.Random, Data, Data], None], ...] = (
    change,
    retype,
    drop,
    add,
    double,
    swap,
    splice,
    other_proof,
    trivial_proof,
    another_side,
    input_of_operation,
    renumber,
    rewire,
    overlap,
    shifted,
    no_sizes,
)


# ---------------------------------------------------------------------- runs


def forged(rnd: random.Random, genuine: Sequence[Data]) -> tuple[str, Data]:
    """Return a forged certificate and the kind of its first alteration; there are one to four."""
    first, other = rnd.choice(genuine), rnd.choice(genuine)
    data: Data = copy.deepcopy({"claim": first["claim"], "proof": first["proof"]})
    kind = rnd.choice(KINDS)
    for alter in (kind, *rnd.choices(KINDS, k=rnd.choice((0, 0, 1, 1, 2, 3)))):
        try:
            alter(rnd, data, other)
        except (AttributeError, LookupError, TypeError, ValueError):
            break  # what an earlier alteration has left is no longer of the form that this one expects
    return kind.__name__, {**data, "seal": seal(data)}


def truth(claim: Any, sizes: int = SIZES) -> str:
    """Return ``true``, ``false``, or ``malformed`` where nothing can be enumerated."""
    try:
        return "false" if falsity(claim, sizes) else "true"
    except (AttributeError, LookupError, TypeError, ValueError, UndefinedError, EndlessError, RecursionError):
        return "malformed"


def run(genuine: Sequence[Data], count: int, seed: int, *, looked_at: int = 4) -> Counter[tuple[str, str]]:
    """Forge certificates, and count by kind what becomes of them; the truth of one refused in *looked_at* is told too.

    Raises
    ------
    AcceptedError
        With the certificate in its text.
    """
    counts: Counter[tuple[str, str]] = Counter()
    rnd = random.Random(seed)
    claims = [json.dumps(c["claim"], sort_keys=True) for c in genuine]
    for number in range(count):
        kind, data = forged(rnd, genuine)
        what = f"forgery {number} of seed {seed}, {kind}"
        try:
            reason = refusal(data)
        except Exception as error:
            raise AcceptedError(f"{what}: {error!r}\n{json.dumps(data)}") from error
        if not reason:
            is_genuine = json.dumps(data["claim"], sort_keys=True) in claims
            found = "accepted, a genuine claim" if is_genuine else f"accepted, {truth(data['claim'])}"
            if found not in ("accepted, a genuine claim", "accepted, true"):
                raise AcceptedError(f"{what}: {found}\n{json.dumps(data)}")
            counts[kind, found] += 1
        else:
            counts[kind, "refused"] += 1
            if number % looked_at == 0:
                counts[kind, f"refused, looked at: {truth(data['claim'], 6)}"] += 1
    return counts


def main(arguments: list[str]) -> int:
    """Run the command line; return 0 unless a false claim is accepted, which raises."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises.forge", description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int, nargs="?", default=20_000, help="how many forged certificates (20000)")
    parser.add_argument("--seed", type=int, default=0, help="of the forgeries (0)")
    parser.add_argument("--all", action="store_true", help="forge the small certificates of the whole corpus")
    options = parser.parse_args(arguments)
    genuine = many() if options.all else few()
    counts = run(genuine, options.count, options.seed)
    total: Counter[str] = Counter()
    for (_, what), number in counts.items():
        total[what] += number
    for kind in KINDS:
        row = ", ".join(f"{n} {what}" for (k, what), n in sorted(counts.items()) if k == kind.__name__)
        print(f"{kind.__name__}: {row}")
    print(f"of {len(genuine)} certificates: " + ", ".join(f"{n} {what}" for what, n in sorted(total.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
