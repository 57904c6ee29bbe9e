"""``python -m symlayout``: the command line."""

from __future__ import annotations

import sys

from symlayout.interrupts import INTERRUPTED, raise_again


def main() -> int:
    """Run the command line of this process, and return the exit status.

    An interrupt while it is loaded ends it as one during a command does.
    """
    try:
        raise_again()
        from symlayout.commands import command_line

        return command_line.main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
