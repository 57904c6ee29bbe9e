"""Draw the measured times as plain SVG: for each row, the kernel and the fastest peer in units of memcpy."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log2
from statistics import median

from benchmarks.measure import Row

_WIDTH, _LEFT, _RIGHT, _LINE, _TOP = 900, 230, 20, 26, 64
_MARGIN = 30  # for fonts that are wider than expected

# Colours that are read on a white page and on a black one; the text follows the page.
_STYLE = """
text { font: 13px sans-serif; fill: #24292f }
.axis { stroke: #8b949e; stroke-width: 1; stroke-opacity: 0.4 }
.memcpy { stroke: #8b949e; stroke-width: 2 }
.ours { fill: #1f77d0 }
.peer { fill: #e07b1a }
circle { fill-opacity: 0.55 }
.mean { fill-opacity: 1; stroke: #ffffff; stroke-width: 1 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .mean { stroke: #0d1117 } }
"""


def plot(rows: Sequence[Row]) -> str:
    """Return the picture: one line for each group, on a logarithmic axis; slower is further right.

    The kernels are those of the highest instruction set.
    """
    shown = [r for r in rows if r.fastest_peer is not None]
    groups = list(dict.fromkeys(r.case.group for r in shown))
    values = [value for r in shown for value in (r.ratios[r.kernels[-1]].median, r.ratios[str(r.fastest_peer)].median)]
    low, high = floor(log2(min([*values, 0.5]))), ceil(log2(max([*values, 2.0])))

    def place(ratio: float) -> float:
        return round(_LEFT + (log2(ratio) - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)

    height = _TOP + _LINE * len(groups) + 30
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{-_MARGIN} 0 {_WIDTH + 2 * _MARGIN} {height}" '
        f'width="{_WIDTH + 2 * _MARGIN}" height="{height}" '
        'role="img"><title>Times by that of a memcpy: symlayout and the fastest peer of each row</title>',
        f"<style>{_STYLE}</style>",
        _dot("ours", _LEFT, 20, 5) + _text(_LEFT + 12, 25, "symlayout"),
        _dot("peer", _LEFT + 110, 20, 5) + _text(_LEFT + 122, 25, "fastest peer of the row"),
        _text(_LEFT + 300, 25, "in units of a memcpy; small: a row, large: the median"),
    ]
    for power in range(low, high + 1):
        x, kind = place(2.0**power), "memcpy" if power == 0 else "axis"
        parts.append(f'<line class="{kind}" x1="{x}" x2="{x}" y1="{_TOP - 14}" y2="{height - 26}"/>')
        parts.append(_text(x, height - 8, f"{2.0**power:g}", "middle"))
    for k, group in enumerate(groups):
        y = _TOP + _LINE * k
        of = [r for r in shown if r.case.group == group]
        parts.append(_text(_LEFT - 12, y + 5, group, "end"))
        for kind, shift, times in (
            ("ours", -4, [r.ratios[r.kernels[-1]].median for r in of]),
            ("peer", 4, [r.ratios[str(r.fastest_peer)].median for r in of]),
        ):
            parts += [_dot(kind, place(value), y + shift, 2.5) for value in times]
            parts.append(_dot(f"{kind} mean", place(median(times)), y + shift, 5))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _dot(kind: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'
