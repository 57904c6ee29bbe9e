"""Compare the result of ``symlayout run MODEL -i INPUT -o RESULT`` with the interpreter, bit for bit.

    python examples/check_model.py MODEL INPUT RESULT

``symlayout run`` uses the compiled kernel; the interpreter evaluates the model's index map in NumPy.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import symlayout as sl


def agrees(model: str, given: str, computed: str) -> bool:
    """Return whether *computed* equals the interpreted output of *model* for the array in *given*."""
    (output,) = sl.load(model).values()
    meant, result = sl.interpret(output, np.load(given)), np.load(computed)
    same_form = (meant.shape, meant.dtype) == (result.shape, result.dtype)
    return same_form and meant.tobytes() == result.tobytes()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="compare a result with the interpreter")
    for name in ("model", "given", "computed"):
        parser.add_argument(name)
    arguments = parser.parse_args()
    same = agrees(arguments.model, arguments.given, arguments.computed)
    print(f"{arguments.computed} {'equals' if same else 'DIFFERS FROM'} the interpreter's result, bit for bit")
    sys.exit(0 if same else 1)
