"""Headers: written by producers, read by people and tools. Servers read them in the kernel.

The encoding is described in ``docs/notes/headers.md``; ``crates/routing/src/header.rs`` has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from penstock import kernel
from penstock.limits import Limits
from penstock.routing.configuration import Configuration
from penstock.routing.evaluation import Evaluator

if TYPE_CHECKING:
    from typing_extensions import Buffer

State = Literal["absent", "one", "multiple", "hidden"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What a header says of a view: how many nodes it has, and where the only one is.

    ``hidden`` is a node whose value does not stand in its own bytes: it comes from an entity, or
    depends on a declaration. For queries it is as good as ``multiple``.
    """

    state: State
    kind: str | None = None
    start: int | None = None
    end: int | None = None
    checksum: int | None = None


@dataclass(frozen=True, slots=True)
class Header:
    """What a header says."""

    configuration: bytes
    document_bytes: int
    document_checksum: int
    is_recoded: bool
    """Whether the document is not in UTF-8: then there are no entries."""
    is_declaring: bool
    entries: tuple[Entry, ...]


class HeaderError(ValueError):
    """Bytes are no header; ``reason`` is a word."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"this is no header that can be read ({reason})")
        self.reason = reason


class Stamper:
    """Computes the headers of documents for one configuration."""

    def __init__(self, configuration: Configuration, limits: Limits | None = None) -> None:
        self.configuration = configuration
        self._evaluator = Evaluator((), configuration, limits)

    def stamp(self, document: Buffer | Iterable[Buffer], encoding: str | None = None) -> bytes:
        """Return the header of a document, which may come in pieces.

        Raises:
            DocumentError: The document is not well-formed.
            LimitError: The document passed a limit.
        """
        if isinstance(document, bytes | bytearray | memoryview):
            pieces: list[Buffer] = [document]
            whole: Buffer = document
        else:
            pieces = list(document)  # type: ignore[arg-type]  # an iterable of pieces
            whole = b"".join(pieces)
        header = self._evaluator.answer_pieces(pieces, whole, encoding)[1]
        assert header is not None, "there is a configuration"
        return header


@lru_cache(maxsize=64)
def _stamper(configuration: Configuration) -> Stamper:
    return Stamper(configuration)


def stamp(
    document: Buffer | Iterable[Buffer], configuration: Configuration, encoding: str | None = None
) -> bytes:
    """Return the header of a document: where the nodes of the views are.

    ``encoding`` overrides what the document says of itself. A document that is not in UTF-8 gets
    a header that answers nothing.

    Raises:
        DocumentError: The document is not well-formed.
        LimitError: The document passed a limit.
    """
    return _stamper(configuration).stamp(document, encoding)


def read(header: bytes) -> Header:
    """Return what a header says.

    Raises:
        HeaderError: It is damaged, or of another version.
    """
    said = kernel.read_header(header)
    if "refusal" in said:
        raise HeaderError(said["refusal"])
    entries = tuple(
        Entry(state) if one is None else Entry(state, *one[:4]) for state, one in said.pop("views")
    )
    return Header(**said, entries=entries)


def verify(
    header: bytes, document: bytes, configuration: Configuration, encoding: str | None = None
) -> list[str]:
    """Return what is wrong with a header of a document; nothing if the document has this header.

    The document is parsed and stamped anew: this is for tools, not for servers.

    Raises:
        DocumentError: The document is not well-formed.
    """
    try:
        said = read(header)
    except HeaderError as error:
        return [str(error)]
    if said.configuration != configuration.id:
        return [
            f"it belongs to the configuration {said.configuration.hex()}, "
            f"not to {configuration.id.hex()}"
        ]
    right = read(stamp(document, configuration, encoding))
    wrong = [
        f"{name} is {getattr(said, name)}, and the document has {getattr(right, name)}"
        for name in ("document_bytes", "document_checksum", "is_recoded", "is_declaring")
        if getattr(said, name) != getattr(right, name)
    ]
    pairs = zip(configuration.views, said.entries, right.entries, strict=False)
    wrong += [
        f"{view.path} is {_place(ours)}, and the document has {_place(theirs)}"
        for view, ours, theirs in pairs
        if ours != theirs
    ]
    if not wrong and header != stamp(document, configuration, encoding):
        wrong.append("namespaces in scope differ")
    return wrong


def _place(entry: Entry) -> str:
    if entry.state != "one":
        return entry.state
    return f"one {entry.kind} at {entry.start}-{entry.end} ({entry.checksum:08x})"
