"""The Arrow schema of tables; pyarrow is imported when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.twigs.tables import Column, ColumnType, Table

if TYPE_CHECKING:
    import pyarrow as pa


def table_schema(table: Table) -> pa.Schema:
    """Return the schema of a table's rows."""
    import pyarrow as pa

    fields = [pa.field(column.name, _type_of(column)) for column in table.columns]
    if table.has_errors:
        text = pa.string()
        misfit = pa.struct([("column", text), ("value", text), ("reason", text)])
        fields.append(pa.field("errors", pa.list_(misfit)))
    return pa.schema(fields)


def _type_of(column: Column) -> pa.DataType:
    import pyarrow as pa

    if column.type is not None:
        type_ = _scalar(column.type)
    else:
        type_ = pa.struct([pa.field(one.name, _type_of(one)) for one in column.columns])
    return pa.list_(type_) if column.is_list else type_


def _scalar(type_: ColumnType) -> pa.DataType:
    import pyarrow as pa

    if type_.name == "decimal":
        return pa.decimal128(type_.digits, type_.scale)
    return {
        "string": pa.string(),
        "xml": pa.string(),
        "integer": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "binary": pa.binary(),
    }[type_.name]
