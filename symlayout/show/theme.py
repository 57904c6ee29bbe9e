"""The style sheet of pictures, with colours for light pages, dark pages and print; and the escaping of text."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping

from symlayout.errors import legible

HUES = 24  # number of colour classes; the elements get h0 to h23 in order
CLASS = "symlayout"  # class of the <svg> element; every rule applies inside such an element only
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif"
_LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "soft": "#59636e",
    "line": "#d1d9e0",
    "box": "#f6f8fa",
    "mark": "#0a3069",
}
_DARK = {
    "paper": "#0d1117",
    "ink": "#f0f6fc",
    "soft": "#9198a1",
    "line": "#3d444d",
    "box": "#151b23",
    "mark": "#ffffff",
}
_PRINT = {"paper": "#fff", "ink": "#000", "soft": "#333", "line": "#777", "box": "#fff", "mark": "#000"}
_DARK_PAGES = ('[data-jp-theme-light="false"]', ".vscode-dark", '[data-md-color-scheme="slate"]')
_LIGHT_PAGES = ('[data-jp-theme-light="true"]', ".vscode-light", '[data-md-color-scheme="default"]')


def escape(text: str) -> str:
    """Return *text* for an XML document: `legible`, with markup escaped.

    >>> escape('<a & "b">')
    '&lt;a &amp; &quot;b&quot;&gt;'
    """
    return html.escape(legible(text))


def hue(number: int, total: int) -> str:
    """Return the colour class of element *number* of *total*.

    >>> hue(0, 96), hue(95, 96), hue(0, 1)
    ('h0', 'h23', 'h0')
    """
    return f"h{number * HUES // max(total, 1)}"


def style(*, page: bool = False) -> str:
    """Return the style sheet; with *page*, it also follows the themes of notebooks and sites.

    Every colour is a custom property: a scheme is a list of values, and each rule is written once.
    """
    root = f".{CLASS}"
    light, dark = _values(_LIGHT, 0.885, 0.075), _values(_DARK, 0.43, 0.085)
    on_paper = _values(_PRINT, 0.885, 0.075)
    rules = [
        f"{root}{{{light}max-width:100%;height:auto;font:11px {SANS}}}",
        f"@media (prefers-color-scheme:dark){{{root}{{{dark}}}}}",
    ]
    if page:
        rules += [f"{','.join(f'{p} {root}' for p in _LIGHT_PAGES)}{{{light}}}"]
        rules += [f"{','.join(f'{p} {root}' for p in _DARK_PAGES)}{{{dark}}}"]
    rules += [
        f"{root} .paper{{fill:var(--paper)}}",
        f"{root} .box{{fill:var(--box);stroke:var(--line)}}",
        f"{root} text{{fill:var(--ink)}}",
        f"{root} .mono{{font-family:{MONO}}}",
        f"{root} .soft{{fill:var(--soft)}}",
        f"{root} .halo{{paint-order:stroke;stroke:var(--paper);stroke-width:4;stroke-linejoin:round}}",
        f"{root} .strong{{font-weight:600}}",
        f"{root} .n{{font:10.5px {MONO};text-anchor:middle;pointer-events:none}}",
        f"{root} .line{{fill:none;stroke:var(--soft)}}",
        f"{root} .tip{{fill:var(--soft)}}",
        f"{root} .unread{{fill:none;stroke:var(--line);stroke-dasharray:3 2}}",
        f"{root} .fill{{stroke:var(--line)}}",
        f"{root} .hatch{{stroke:var(--soft);stroke-width:1.2;opacity:.55}}",
        *(f"{root} .h{k}{{fill:var(--h{k})}}" for k in range(HUES)),
        f"{root} .at rect,{root} g.e:hover rect{{stroke:var(--mark);stroke-width:2.5}}",
        f"{root}:has(g.e:hover) g.e:not(:hover){{opacity:.3}}",
        f"{root} .way{{fill:none;stroke:var(--mark);stroke-width:1.8;opacity:.8}}",
        f"{root} .waytip{{fill:var(--mark)}}",
        f"@media print{{{root}{{{on_paper}}}{root} .e rect{{stroke:#000;fill-opacity:.4}}}}",
    ]
    return "\n".join(rules)


def fallback(name: str) -> str:
    """Return a colour of the light scheme, for programs that do not support custom properties."""
    return _LIGHT[name] if name in _LIGHT else _hex(0.885, 0.075, _degrees(int(name.removeprefix("h"))))


def _values(colours: Mapping[str, str], lightness: float, chroma: float) -> str:
    hues = {f"h{k}": _hex(lightness, chroma, _degrees(k)) for k in range(HUES)}
    return _properties({**colours, **hues})


def _properties(values: Mapping[str, str]) -> str:
    return "".join(f"--{name}:{value};" for name, value in values.items())


def _degrees(k: int) -> float:
    """Return the hue of colour class *k* in degrees: from blue over green and yellow to red."""
    return 255 - 285 * k / (HUES - 1)


def _hex(lightness: float, chroma: float, degrees: float) -> str:
    """Return an Oklch colour as sRGB.  Colours of equal Oklch lightness look equally light.

    Bjorn Ottosson, "A perceptual color space for image processing", 2020.

    >>> _hex(1.0, 0.0, 0.0), _hex(0.0, 0.0, 0.0)
    ('#ffffff', '#000000')
    """
    a, b = (chroma * f(math.radians(degrees)) for f in (math.cos, math.sin))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _gamma(min(max(c, 0.0), 1.0))):02x}" for c in linear)


def _gamma(c: float) -> float:
    return 12.92 * c if c <= 0.0031308 else 1.055 * math.pow(c, 1 / 2.4) - 0.055
