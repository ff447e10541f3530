"""Queries over sequences become programs: what is read of a document, and what is evaluated."""

from penstock.planning.sequences.programs import compile_sequences
from penstock.planning.sequences.streams import only_stream, reads_current
from penstock.planning.sequences.variables import check_bound

__all__ = ["check_bound", "compile_sequences", "only_stream", "reads_current"]
