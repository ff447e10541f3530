"""Results for notebooks: small tables and texts as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

ROWS_MAX = 20
_CELL_MAX = 200


class Text(str):
    """A text that notebooks show as it is, with its lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self)}</pre>"


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Return a table; long cells are cut, and only the first rows are shown."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    shown: list[str] = []
    more = 0
    for row in rows:
        if len(shown) < ROWS_MAX:
            cells = "".join(f"<td>{escape(_cell(value))}</td>" for value in row)
            shown.append(f"<tr>{cells}</tr>")
        else:
            more += 1
    if more:
        shown.append(f'<tr><td colspan="{len(columns)}">… {more:,} more</td></tr>')
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{''.join(shown)}</tbody></table>"


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return text if len(text) <= _CELL_MAX else text[: _CELL_MAX - 1] + "…"
