"""Tables: what a query makes of records, a row of typed columns each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.twigs.expressions import Expression, Nodes

OnError = Literal["null", "quarantine", "raise"]


@dataclass(frozen=True, slots=True)
class ColumnType:
    """The type of one value; a decimal has ``digits`` in all, and ``scale`` after the point."""

    name: str
    digits: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.digits},{self.scale})" if self.name == "decimal" else self.name


@dataclass(frozen=True, slots=True)
class Column:
    """A column: the first value of its source, or with ``is_list`` all of them.

    The source is evaluated at the record, or at the node of the struct around the column. A value
    has a type, or it is a struct of ``columns``; a struct without a source is one of the record.
    """

    name: str
    source: Expression | None
    type: ColumnType | None = None
    columns: tuple[Column, ...] = ()
    is_list: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """The output of a query for a table: its records, and the columns of each row."""

    record: Nodes
    columns: tuple[Column, ...]
    on_error: OnError = "null"

    @property
    def has_errors(self) -> bool:
        """Whether there is a column ``errors``: where null stands for values that do not fit."""
        return self.on_error == "null" and any(map(_may_misfit, self.columns))


def _may_misfit(column: Column) -> bool:
    if column.type is None:
        return any(map(_may_misfit, column.columns))
    return column.type.name not in ("string", "xml")
