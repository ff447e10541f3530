"""Queries over sequences become programs: what is read of a document, and what is evaluated."""

from penstock.planning.sequences.programs import compile_sequences
from penstock.planning.sequences.streams import only_stream, reads_current

__all__ = ["compile_sequences", "only_stream", "reads_current"]
