"""Programs that request records of witnesses: what joins look for, and what they make of it.

Such a program asks for variables and edges, has rows, and says what becomes of results. It knows
nothing of other queries; the native joins find out what it shares with them. The native reader is
``crates/joins/src/subscribed.rs``, which says how the bytes lie; the two change together.
"""

from penstock.planning.records.asking import Asked
from penstock.planning.records.outputs import JoinOutput, is_publishing, output_of
from penstock.planning.records.reading import read_records
from penstock.planning.records.writing import write_records

__all__ = ["Asked", "JoinOutput", "is_publishing", "output_of", "read_records", "write_records"]
