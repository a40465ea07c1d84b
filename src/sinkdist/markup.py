"""Tables in HTML, for notebooks: what ``_repr_html_`` methods return."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

__all__ = ["table"]


def table(caption: str, rows: Iterable[tuple[object, ...]], head: tuple[object, ...] = ()) -> str:
    """A table whose first column is a heading of its row; all text is escaped.

    Examples
    --------
    >>> table("a < b", [("value", 0.5)])
    '<table><caption>a &lt; b</caption><tr><th scope="row">value</th><td>0.5</td></tr></table>'
    """
    heads = "".join(f'<th scope="col">{escape(str(cell))}</th>' for cell in head)
    lines = [f"<tr>{heads}</tr>"] if head else []
    for first, *others in rows:
        cells = "".join(f"<td>{escape(str(cell))}</td>" for cell in others)
        lines.append(f'<tr><th scope="row">{escape(str(first))}</th>{cells}</tr>')
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"
