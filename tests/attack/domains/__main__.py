"""The command line: `python -m tests.attack.domains --operators Pad,Gather`; see the package."""

from __future__ import annotations

import sys
from functools import partial

import tests.attack.domains
from tests.attack.domains import attack_of
from tests.attack.one_nodes import import_runtimes, seeds, versions
from tests.attack.runner import main

arguments = sys.argv[1:]
operators: tuple[str, ...] = ()
if "--operators" in arguments:
    k = arguments.index("--operators")
    operators = tuple(arguments[k + 1].split(","))
    del arguments[k : k + 2]
for one in versions():  # once, before processes fork
    if not operators or one[0] in operators:
        seeds(*one[:2])
import_runtimes()
sys.exit(main({"domains": partial(attack_of, operators)}, arguments, tests.attack.domains.__doc__))
