"""The command line: `python -m tests.attack.microsoft`; see the package."""

from __future__ import annotations

import tests.attack.microsoft
from tests.attack.microsoft import attack
from tests.attack.runner import main_of

main_of("microsoft", attack, tests.attack.microsoft.__doc__)
