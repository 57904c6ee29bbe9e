"""Node tests of the package ``onnx``, changed in one place, beside the tests as they are.

python -m tests.attack.node_tests --seconds 60 --seed 0
"""

from __future__ import annotations

from tests.attack.bases import node_tests, tested_base
from tests.attack.pairs import attack_base
from tests.attack.runner import main_of
from tests.attack.tally import Tally


def attack(seed: int, tally: Tally) -> None:
    """Take a node test, and ask about it beside each of its variants, both ways."""
    attack_base(tested_base, seed, tally)


if __name__ == "__main__":
    node_tests()  # once, before processes fork
    main_of("node_tests", attack, __doc__)
