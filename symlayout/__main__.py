"""``python -m symlayout``: the command line."""

from __future__ import annotations

import sys

from symlayout.interrupts import INTERRUPTED, raise_again


def main() -> int:
    """Run the command line of this process, and return the exit status.

    Loading it takes a fifth of a second: an interrupt ends that as it ends a command.
    """
    try:
        raise_again()
        from symlayout.commands import command_line

        return command_line.main()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
