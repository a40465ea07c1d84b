"""Drawings for the page: for phones and for larger screens, each in light and dark colours.

A drawing is embedded as an image, so it loads nothing and the styles of the page do not affect it.
Its colours follow the reader's preference for light or dark; browsers without that show white.
"""

from __future__ import annotations

import base64
import colorsys
import re

from sinkdist_paper import canvas
from sinkdist_paper.finding import Finding
from sinkdist_paper.report.markup import Markup, element

__all__ = ["dark", "picture", "themed"]

PHONE = "(max-width: 640px)"
_HEAD = re.compile(r"<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*|\s*<metadata>.*?</metadata>", re.DOTALL)
_COLOUR = re.compile(r"(?<=: )#([0-9a-f]{6})(?![0-9a-f])")
_SIZE = re.compile(r'<svg [^>]*?viewBox="0 0 ([\d.]+) ([\d.]+)"')

# Lightness on a dark page: black becomes nearly white, and white the colour of the page.
_BLACK, _WHITE = 0.92, 0.09


def picture(finding: Finding) -> Markup:
    """The drawing of a figure, for phones and for screens."""
    wide = themed(canvas.svg(finding.experiment, finding.records))
    narrow = themed(canvas.svg(finding.experiment, finding.records, width=canvas.NARROW))
    width, height = _size(wide)
    narrow_width, narrow_height = _size(narrow)
    return element(
        "picture",
        element(
            "source",
            media=PHONE, srcset=_address(narrow), type="image/svg+xml",
            width=narrow_width, height=narrow_height,
        ),
        element(
            "img",
            src=_address(wide), width=width, height=height, alt=_description(finding),
        ),
    )  # fmt: skip


def themed(svg: str) -> str:
    """A drawing whose colours follow the reader's preference for light or dark.

    Examples
    --------
    >>> print(themed('<svg viewBox="0 0 1 1"><path style="fill: #ffffff"/></svg>'))
    <svg viewBox="0 0 1 1"><style>:root{--ffffff:#ffffff;fill:#1a1a1a}\
@media (prefers-color-scheme:dark){:root{--ffffff:#171717;fill:#e5e5e5}}</style>\
<path style="fill: var(--ffffff)"/></svg>
    """
    svg = _HEAD.sub("", svg)
    used = sorted(set(_COLOUR.findall(svg)))
    bright = "".join(f"--{colour}:#{colour};" for colour in used)
    dim = "".join(f"--{colour}:#{dark(colour)};" for colour in used)
    # Matplotlib writes no fill for black.
    style = (
        f"<style>:root{{{bright}fill:#1a1a1a}}"
        f"@media (prefers-color-scheme:dark){{:root{{{dim}fill:#{dark('1a1a1a')}}}}}</style>"
    )
    start = svg.index(">", svg.index("<svg")) + 1
    body = _COLOUR.sub(r"var(--\1)", svg[start:])
    return svg[:start] + style + body


def dark(colour: str) -> str:
    """A colour on a dark page: greys are inverted, and colours become lighter and less saturated.

    Parameters
    ----------
    colour : str
        Six hexadecimal digits.

    Examples
    --------
    >>> dark("1a1a1a"), dark("ffffff"), dark("0072b2")
    ('e5e5e5', '171717', '30a2e1')
    """
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (0, 2, 4))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    is_grey = max(red, green, blue) - min(red, green, blue) < 0.1
    is_wash = lightness > 0.8  # a pale background area
    if is_grey or is_wash:
        # Middle greys are kept distinct from the background: they may be lines.
        lightness = _BLACK + (_WHITE - _BLACK) * lightness**1.6
    else:
        # The darker of two colours stays the darker one, so they remain distinguishable.
        lightness, saturation = 0.32 + 0.62 * lightness, 0.75 * saturation
    parts = colorsys.hls_to_rgb(hue, lightness, saturation)
    return "".join(f"{round(255 * part):02x}" for part in parts)


def _description(finding: Finding) -> str:
    """The alternative text of a drawing."""
    return (
        f"{finding.label}: {finding.experiment.title}. Its content is also in the text and the "
        "tables below."
    )


def _address(svg: str) -> str:
    """The drawing as a data URL."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode("utf-8")).decode("ascii")


def _size(svg: str) -> tuple[str, str]:
    """Width and height, in points; the browser needs their ratio to lay out the page."""
    found = _SIZE.search(svg)
    if found is None:
        raise ValueError("The drawing has no size.")
    return f"{float(found[1]):.0f}", f"{float(found[2]):.0f}"
