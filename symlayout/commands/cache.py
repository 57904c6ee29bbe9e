"""List, verify or remove the compiled kernels in the cache.

A kernel is loaded from the cache only if its files are unchanged; else it is compiled again.

for example:
  symlayout cache            print the folder and its entries, oldest first
  symlayout cache verify     check every entry; exit status 1 if one has changed
  symlayout cache prune --max-bytes 100M     remove changed entries, and the oldest until 100 MiB are left
  symlayout cache prune --all     remove all entries
"""

from __future__ import annotations

import argparse
import re
from datetime import datetime

from symlayout.commands import cache_folder
from symlayout.commands.cache_folder import Entry
from symlayout.commands.output.report import ExitStatus, Report, columns
from symlayout_codegen.jit import cache as store

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("action", nargs="?", choices=("list", "verify", "prune"), default="list")
    parser.add_argument("--all", action="store_true", help="prune: remove all entries, also unchanged ones")
    parser.add_argument("--max-bytes", type=_bytes, metavar="SIZE", help="prune: the most bytes to keep, such as 100M")


def run(arguments: argparse.Namespace) -> Report:
    """Return what the cache contains, and what was refused or removed."""
    if (arguments.all or arguments.max_bytes is not None) and arguments.action != "prune":
        raise argparse.ArgumentError(None, "--all and --max-bytes are for prune")
    root = store.cache_root()
    state = cache_folder.state(root)
    entries = cache_folder.entries(root)
    total = sum(entry.size for entry in entries)
    rows = [("path", str(root)), ("state", state), ("entries", str(len(entries))), ("bytes", str(total))]
    data: dict[str, object] = {"path": str(root), "state": state, "entries": len(entries), "bytes": total}
    if arguments.action == "list":
        rows += [("kept", "\n".join(map(_line, entries)))] if entries else []
        data["kept"] = [{"key": e.path.name, "kernel": e.kernel, "bytes": e.size, "made": e.made} for e in entries]
        return Report(columns(rows), data)
    refused = [entry for entry in entries if store.load(entry.path.name) is None]
    rows.append(("refused", "\n".join(entry.path.name for entry in refused) or "none"))
    data["refused"] = [entry.path.name for entry in refused]
    if arguments.action == "verify":
        return Report(columns(rows), data, ExitStatus.FAILS if refused else ExitStatus.HOLDS)
    unwanted = entries if arguments.all else _unwanted(entries, refused, arguments.max_bytes)
    leftovers = store.remove_stale(root, store.STAGING) if state == "ready" else 0
    removed = [entry for entry in unwanted if _remove(entry)]
    rows += [("removed", str(len(removed))), ("leftovers", str(leftovers))]
    data |= {"removed": [entry.path.name for entry in removed], "leftovers": leftovers}
    return Report(columns(rows), data, ExitStatus.HOLDS if len(removed) == len(unwanted) else ExitStatus.ERROR)


def _unwanted(entries: list[Entry], refused: list[Entry], limit: int | None) -> list[Entry]:
    """Return the refused entries, and the oldest of the others if what remains is larger than *limit*."""
    sound = [entry for entry in entries if entry not in refused]
    size, count = sum(entry.size for entry in sound), 0
    while limit is not None and size > limit:
        size -= sound[count].size
        count += 1
    return refused + sound[:count]


def _remove(entry: Entry) -> bool:
    """Remove one entry, a folder or any other file; return whether it is gone."""
    try:
        store.discard(entry.path)
    except FileNotFoundError:
        return True  # another process has removed it
    except OSError:
        return False
    return True


def _line(entry: Entry) -> str:
    made = datetime.fromtimestamp(entry.made).isoformat(" ", "seconds")
    return f"{entry.path.name[:16]}  {made}  {entry.size:8}  {entry.kernel}"


def _bytes(text: str) -> int:
    """Return the number of bytes of a size such as ``100M``, which is 100 MiB."""
    found = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 100M")
    return int(found[1]) * _UNITS[found[2]]
