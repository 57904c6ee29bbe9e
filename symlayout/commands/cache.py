"""Look after the compiled kernels that are kept between runs.

An entry that does not verify is never loaded: it is compiled again when it is needed.

for example:
  symlayout cache            where it is, how many entries, how large
  symlayout cache verify     check every entry; exit status 1 if one is not what was kept
  symlayout cache prune      remove the entries that do not verify
  symlayout cache prune --all
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from symlayout.commands import cache_folder
from symlayout.commands.report import Report, columns
from symlayout_codegen import cache as store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("action", nargs="?", choices=("list", "verify", "prune"), default="list")
    parser.add_argument("--all", action="store_true", help="prune: remove sound entries too")


def run(arguments: argparse.Namespace) -> Report:
    """Look after the cache."""
    if arguments.all and arguments.action != "prune":
        raise argparse.ArgumentError(None, "--all is for prune")
    root = store.cache_root()
    state = cache_folder.state(root)
    entries = cache_folder.entries(root)
    total = sum(map(cache_folder.size, entries))
    rows = [("path", str(root)), ("state", state), ("entries", str(len(entries))), ("bytes", str(total))]
    data: dict[str, object] = {"path": str(root), "state": state, "entries": len(entries), "bytes": total}
    holds = True
    if arguments.action != "list":
        refused = [entry for entry in entries if store.load(entry.name) is None]
        rows.append(("refused", "\n".join(entry.name for entry in refused) or "none"))
        data["refused"] = [entry.name for entry in refused]
        holds = arguments.action == "prune" or not refused
        if arguments.action == "prune":
            removed = entries if arguments.all else refused
            for entry in removed:
                _remove(entry)
            rows.append(("removed", str(len(removed))))
            data["removed"] = [entry.name for entry in removed]
    return Report(columns(rows), data, holds)


def _remove(entry: Path) -> None:
    """Remove one entry, whatever it is; a link goes and what it points to stays."""
    if entry.is_symlink() or not entry.is_dir():
        entry.unlink(missing_ok=True)
    else:
        shutil.rmtree(entry)
