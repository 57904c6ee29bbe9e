"""``python -m symlayout``: the command line."""

import sys

from symlayout.commands.command_line import main

if __name__ == "__main__":
    sys.exit(main())
