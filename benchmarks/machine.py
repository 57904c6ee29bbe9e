"""Describe the machine and the versions of a measurement, and how busy the machine was."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from pathlib import Path

# What this process may use before it restricts itself; the last processors have the fewest interrupts.
PROCESSORS = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def restrict_to(processors: int) -> None:
    """Restrict this process to *processors* processors; OpenVINO takes its number of threads from that."""
    if PROCESSORS:
        os.sched_setaffinity(0, PROCESSORS[-processors:])


def machine() -> str:
    """Return the processor, its caches, the system and Python."""
    sizes = {}
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        if (cache / "type").read_text().strip() != "Instruction":
            sizes[(cache / "level").read_text().strip()] = (cache / "size").read_text().strip()
    caches = ", ".join(f"L{level} {size}" for level, size in sizes.items())
    here = f"{processor()}, {os.cpu_count()} processors" + (f" ({caches})" if caches else "")
    return f"{here}, {platform.system()}, Python {platform.python_version()}"


def versions(names: Iterable[str]) -> str:
    """Return *names* with their versions."""
    found = []
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(name)
    return ", ".join(found)


def load() -> float | None:
    """Return the load average of the last minute, None where the system has none."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
