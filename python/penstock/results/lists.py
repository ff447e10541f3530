"""Results of one document, as a list."""

from __future__ import annotations

from penstock.results.html import table
from penstock.results.rows import Result

_SHOWN = 5
_HEAD = ("kind", "name", "value", "start", "end")


class Results(list[Result]):
    """A list of results in document order, with a short form for people.

    >>> import penstock
    >>> penstock.evaluate("//b", "<a><b>1</b><b>2</b></a>")
    [<Result element b '<b>1</b>'>, <Result element b '<b>2</b>'>]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        shown = [repr(row) for row in self[:_SHOWN]]
        more = len(self) - len(shown)
        return f"[{', '.join([*shown, f'… {more:,} more'] if more else shown)}]"

    def _repr_html_(self) -> str:
        names = list(dict.fromkeys(name for row in self for name in row.bindings or ()))
        rows = (
            [*(getattr(row, name) for name in _HEAD), *((row.bindings or {}).get(n) for n in names)]
            for row in self
        )
        count = f"{len(self):,} result{'' if len(self) == 1 else 's'}"
        return table([*_HEAD, *names], rows, count)
