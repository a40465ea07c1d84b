"""Building HTML from strings; text that is not markup is escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

__all__ = ["Markup", "element", "inline", "join", "prose"]

_VOID = {"meta", "link", "img", "source", "br", "hr"}
_CODE = re.compile(r"`([^`\n]+)`")
_SIGNS = (
    (re.compile(r"\blambda\b"), "λ"),
    (re.compile(r"\balpha\b"), "α"),
    (
        re.compile(r"\b(\d+(?:\.\d+)?)e([+-])0*(\d+)\b"),
        "\\1\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10^{\\2\\3}",
    ),
    (re.compile(r"\^\{\+"), "^{"),
    (re.compile(r"(?<=\S) = (?=\S)"), "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"),
    (re.compile(r"(?<![\w)])-(?=\d)"), "−"),
)
_RAISED = re.compile(r"(?<=[\w)])(?:(\^)|_(?=\{))(\{[^{}]*\}|-?\d+|[^\W\d_]+|\*)")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(name: str, /, *content: str | None, **attributes: str | None) -> Markup:
    """An element; content that is not `Markup` is escaped, and None is left out.

    Parameters
    ----------
    name : str
        The tag.
    *content : str or None
        The content.
    **attributes : str or None
        An underscore at the end is dropped (``class_``), others become hyphens.

    Examples
    --------
    >>> element("p", "1 < 2 ", element("b", "& so on"), class_="note", title='"')
    '<p class="note" title="&quot;">1 &lt; 2 <b>&amp; so on</b></p>'
    """
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    start = f"<{name}{named}>"
    return Markup(start if name in _VOID else f"{start}{join(content)}</{name}>")


def join(parts: Iterable[str | None]) -> Markup:
    """Parts one after the other, escaped unless they are `Markup`."""
    return Markup(
        "".join(
            part if isinstance(part, Markup) else html.escape(part, quote=False)
            for part in parts
            if part is not None
        )
    )


def prose(text: str) -> Markup:
    r"""Paragraphs, which empty lines separate; words between backticks are code.

    Examples
    --------
    >>> prose("Of `pairwise`,\ntwo lines.\n\nAnother.")
    '<p>Of <code>pairwise</code>,\ntwo lines.</p><p>Another.</p>'
    """
    return join(element("p", inline(part)) for part in re.split(r"\n\s*\n", text.strip()) if part)


def inline(text: str) -> Markup:
    r"""A line of text: words between backticks are code; exponents, indices, Greek are typeset.

    Examples
    --------
    >>> inline("exp(-t M^2), r c^T and d_{M,alpha}; `alpha`")
    'exp(-t M<sup>2</sup>), r c<sup>T</sup> and d<sub>M,α</sub>; <code>alpha</code>'
    >>> inline("within 1e-08, or -3%").replace("\N{NO-BREAK SPACE}", " ")
    'within 1 × 10<sup>−8</sup>, or −3%'
    """
    pieces = _CODE.split(text)  # text and code take turns
    return join(
        element("code", piece) if number % 2 else _formula(piece)
        for number, piece in enumerate(pieces)
    )


def _formula(text: str) -> Markup:
    """A text with its exponents raised, its indices lowered, and the paper's letters in Greek."""
    for form, sign in _SIGNS:
        text = form.sub(sign, text)
    parts: list[str] = []
    end = 0
    for found in _RAISED.finditer(text):
        name = "sup" if found[1] == "^" else "sub"
        parts += [text[end : found.start()], element(name, found[2].strip("{}"))]
        end = found.end()
    return join([*parts, text[end:]])
