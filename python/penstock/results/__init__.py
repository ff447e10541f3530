"""Documents go in, rows come out: both as Python objects, and the schema of the rows."""

from penstock.results.columns import COLUMNS, Fault
from penstock.results.documents import Data, Document, Heartbeat, event_id
from penstock.results.lists import Results
from penstock.results.rows import KINDS, Result, Surroundings, make_row

__all__ = [
    "COLUMNS",
    "KINDS",
    "Data",
    "Document",
    "Fault",
    "Heartbeat",
    "Result",
    "Results",
    "Surroundings",
    "event_id",
    "make_row",
]
