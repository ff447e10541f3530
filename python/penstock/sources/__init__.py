"""Where documents come from: files, memory, binary streams, and iterables of documents."""

from penstock.sources.documents import Source, inputs
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece

__all__ = ["SOURCE_BYTES_MAX", "Input", "Piece", "Source", "inputs"]
