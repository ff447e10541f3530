"""Tables: records as rows, paths as typed columns."""

from penstock.languages.tables.frontend import read_table, record_query, table

__all__ = ["read_table", "record_query", "table"]
