"""``python -m symlayout``: the command line."""

from __future__ import annotations

import sys

_INTERRUPTED = 130  # as `symlayout.commands.output.report.ExitStatus` has it, which may not be loaded yet


def main() -> int:
    """Run the command line of this process, and return the exit status.

    Loading it takes a fifth of a second: an interrupt ends that as it ends a command.
    """
    try:
        from symlayout.commands import command_line
    except KeyboardInterrupt:
        return _INTERRUPTED
    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
