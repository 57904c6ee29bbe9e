"""The command line: run all parts, one after the other."""

from __future__ import annotations

import sys

from tests import attack
from tests.attack.runner import main, parts

if __name__ == "__main__":
    sys.exit(main(parts(), sys.argv[1:], attack.__doc__))
