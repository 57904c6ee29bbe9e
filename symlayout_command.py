"""The console script ``symlayout``, outside of the package: an interrupt ends it also while the package is loaded."""

from __future__ import annotations

INTERRUPTED = 130  # as `symlayout.commands.output.report.ExitStatus` has it, which is not loaded yet


def main() -> int:
    """Run the command line of this process, and return the exit status."""
    try:
        from symlayout.__main__ import main as run

        return run()
    except KeyboardInterrupt:
        return INTERRUPTED
