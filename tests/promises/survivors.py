"""Mutants that no test notices, each with the reason why that is right."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
