"""Rows as text: fragments for people and pipes, or one JSON object per line."""

from __future__ import annotations

from collections import Counter
from typing import IO

from penstock.results import Fault, Result


class JsonPrinter:
    """Writes every row with all its columns."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out

    def write(self, row: Result) -> None:
        self._out.write(row.as_json().encode() + b"\n")

    def finish(self) -> None:
        """Nothing is held back."""


class CountPrinter:
    """Counts, and writes one number per subscription at the end."""

    def __init__(self, out: IO[bytes], names: list[str]) -> None:
        self._out = out
        self._names = names
        self._counts: Counter[str | None] = Counter()

    def write(self, row: Result) -> None:
        self._counts[row.subscription] += 1

    def finish(self) -> None:
        for name in self._names:
            label = f"{name}\t" if len(self._names) > 1 else ""
            self._out.write(f"{label}{self._counts[name]}\n".encode())


class FragmentPrinter:
    """Writes one fragment after the other, each on a line of its own.

    A large fragment is written as it arrives. Results inside it wait until it is complete, since
    two fragments cannot be written at once.
    """

    def __init__(self, out: IO[bytes], has_labels: bool) -> None:
        self._out = out
        self._has_labels = has_labels
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
        if self._has_labels and self._current is None:
            self._out.write(f"{row.subscription}\t".encode())
        text = row.xml if row.kind in ("element", "document") else row.value or ""
        self._out.write(text.encode("utf-8", "replace"))
        if _is_piece(row):
            self._current = row.id
            return
        self._out.write(b"\n")
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
            self._out.write(b"\n")
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
