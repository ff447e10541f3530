"""The program of a table: its layout, and what of documents is read for it.

It is a program that requests messages, whose code is a *layout*: patterns of all expressions, the
records, what becomes of values that do not fit, and the columns. The readers are
``crates/kernel/src/message/program.rs`` and ``crates/kernel/src/tabular/layout.rs``.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.languages.tables.types import TYPES
from penstock.planning import program as p
from penstock.planning.circuits import ExpressionWriter
from penstock.planning.sequences.programs import write_place
from penstock.planning.tables.projection import TableProjection
from penstock.planning.tables.regions import region_of
from penstock.twigs.blanks import Atom
from penstock.twigs.tables import Column, ColumnType, Table

IS_TABLE, IS_WHOLE = 16, 32
"""Flags: the code is that of a table; the document is its only region."""
_ONE, _LIST, _STRUCT, _FIRST_STRUCT, _STRUCTS = range(5)


def compile_table(table: Table, constants: Sequence[Atom]) -> bytes:
    """Return the program of a table."""
    region = region_of(table.record)
    projection = TableProjection(table, region)
    writer = ExpressionWriter(constants)
    records = writer.place(region.records)
    columns = _columns(table.columns, writer)
    patterns = b"".join([part for part in writer.patterns([]) if isinstance(part, bytes)])
    fails = table.on_error != "null"
    layout = b"".join(
        [
            p.varint(len(patterns)),
            patterns,
            p.varints(records, fails, table.has_errors),
            columns,
        ]
    )
    parts = [
        p.Request.MESSAGES.head,
        p.varint(len(layout)),
        layout,
        p.varint(IS_TABLE | (0 if region.steps else IS_WHOLE)),
        b"\0",  # documents of all streams
        p.many([0]),  # one part gathers
        p.varint(1),  # one document is read
        p.constant_bytes(""),
    ]
    write_place(projection.root, parts, is_table=True)
    return b"".join(parts)


def _columns(columns: Sequence[Column], writer: ExpressionWriter) -> bytes:
    encoded = [p.constant_bytes(column.name) + _column(column, writer) for column in columns]
    return p.varint(len(encoded)) + b"".join(encoded)


def _column(column: Column, writer: ExpressionWriter) -> bytes:
    if column.type is not None:
        assert column.source is not None, "a value has a source"
        head = p.varints(_LIST if column.is_list else _ONE, writer.place(column.source))
        return head + _type(column.type)
    if column.source is None:
        return p.varint(_STRUCT) + _columns(column.columns, writer)
    code = _STRUCTS if column.is_list else _FIRST_STRUCT
    return p.varints(code, writer.place(column.source)) + _columns(column.columns, writer)


def _type(type_: ColumnType) -> bytes:
    code = p.varint(TYPES.index(type_.name))
    return code + (p.varints(type_.digits, type_.scale) if type_.name == "decimal" else b"")
