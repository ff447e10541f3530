"""Where documents come from: files, memory, binary streams, and iterables of documents."""

from penstock.sources.documents import Source, inputs, items
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece, Refused

__all__ = ["SOURCE_BYTES_MAX", "Input", "Piece", "Refused", "Source", "inputs", "items"]
