"""Tables become programs: regions of records, the nodes that columns need, and typed columns."""

from penstock.planning.tables.programs import compile_table
from penstock.planning.tables.verdicts import explain_table, table_verdict

__all__ = ["compile_table", "explain_table", "table_verdict"]
