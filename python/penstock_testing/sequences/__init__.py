"""The reference evaluator of XQuery: expressions over sequences, by the definitions alone."""

from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.evaluation import evaluate_sequences
from penstock_testing.sequences.items import Atom, Item, Items
from penstock_testing.sequences.rows import Row, row_of, rows_of
from penstock_testing.sequences.serialising import serialise, serialise_node
from penstock_testing.sequences.values import python_value

__all__ = [
    "Atom",
    "DynamicError",
    "Item",
    "Items",
    "Row",
    "evaluate_sequences",
    "python_value",
    "row_of",
    "rows_of",
    "serialise",
    "serialise_node",
]
