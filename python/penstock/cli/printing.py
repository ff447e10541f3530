"""Rows as text: fragments for people and pipes, and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from penstock.results import Fault, Result


def print_counts(out: IO[bytes], names: Sequence[str], counts: Mapping[str, int]) -> None:
    """Write how many results each subscription has, one to a line."""
    for name in names:
        label = f"{name}\t" if len(names) > 1 else ""
        out.write(f"{label}{counts.get(name, 0)}\n".encode())


class CountingWriter:
    """Writes no row: whoever reads the rows counts them."""

    has_errors = False

    def write(self, row: Result) -> None:
        """Do nothing."""

    def finish(self) -> None:
        """Nothing is held back."""


@dataclass(frozen=True, slots=True)
class TextStyle:
    """What stands before and after each fragment."""

    has_files: bool = False
    has_names: bool = False
    end: bytes = b"\n"


class FragmentPrinter:
    """Writes one fragment after the other, each on a line of its own.

    A large fragment is written as it arrives. Results inside it wait until it is complete, since
    two fragments cannot be written at once.
    """

    def __init__(self, out: IO[bytes], style: TextStyle) -> None:
        self._out = out
        self._style = style
        self._current: tuple[object, ...] | None = None
        self._waiting: dict[tuple[object, ...], list[Result]] = {}

    def write(self, row: Result) -> None:
        if row.is_error:
            self._abandon()
        elif self._current is None or self._current == row.id:
            self._write(row)
        else:
            self._waiting.setdefault(row.id, []).append(row)

    def finish(self) -> None:
        """Nothing is held back: what waits, waits for a fragment whose document goes on."""
        assert self._current is None

    def _write(self, row: Result) -> None:
        if self._current is None:
            labels = f"{row.document}\t" if self._style.has_files else ""
            labels += f"{row.subscription}\t" if self._style.has_names else ""
            self._out.write(labels.encode("utf-8", "surrogateescape"))
        text = row.xml if row.kind in ("element", "document") else row.value or ""
        self._out.write(text.encode("utf-8", "replace"))
        if _is_piece(row):
            self._current = row.id
            return
        self._out.write(self._style.end)
        if self._current is not None:
            self._current = None
            self._release()

    def _release(self) -> None:
        while self._waiting and self._current is None:
            first = next(iter(self._waiting))
            for row in self._waiting.pop(first):
                self._write(row)

    def _abandon(self) -> None:
        """The document failed: what is incomplete stays so, what is complete is written."""
        if self._current is not None:
            self._out.write(self._style.end)
        self._current = None
        waiting, self._waiting = self._waiting, {}
        for rows in waiting.values():
            if not _is_piece(rows[-1]):
                for row in rows:
                    self._write(row)


def _is_piece(row: Result) -> bool:
    return row.start is not None and row.end is None


def complaint(document: str, fault: Fault) -> str:
    """Return one line about a document that failed."""
    # A document that cannot be read at all has no lines.
    place = f" at byte {fault.byte}, line {fault.line} ({fault.path or '/'})" if fault.line else ""
    return f"{document}: {fault.code}: {fault.reason}{place}"
