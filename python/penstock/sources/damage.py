"""Damaged documents, mended: what is broken becomes white space and goes to quarantine."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from penstock.errors import DocumentError, SettingError
from penstock.kernel import WHOLE_BYTES_MAX, Mender, error_of, raise_failure
from penstock.limits import Limits
from penstock.results import Heartbeat
from penstock.sources.encodings import in_utf8
from penstock.sources.inputs import SOURCE_BYTES_MAX, Input, Piece, Refused
from penstock.sources.paths import RecordPath


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes of a document that were left out, by their range, and why.

    The range counts bytes of the document's text in UTF-8. ``data`` are the bytes, or None if
    they are too many.
    """

    start: int
    end: int
    error: DocumentError
    data: bytes | None


class Mending:
    """Mends one document: ``pieces`` are well-formed, ``stretches`` are what they leave out.

    Outside the stretches nothing changes, and each stretch becomes white space of the same length,
    so offsets stay. Where an end tag is missing it is put in; ``original`` says what an offset
    behind it was.
    """

    def __init__(self, path: RecordPath, limits: Limits | None = None) -> None:
        require_target(path)
        self._mender = Mender(path.names, path.depth, limits or Limits(), SOURCE_BYTES_MAX)
        self._shifts: list[tuple[int, int]] = [(0, 0)]
        self.stretches: list[Stretch] = []

    def pieces(self, pieces: Iterable[Piece], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the bytes of the mended document, in UTF-8.

        Raises:
            DocumentError: There is no root element, or the bytes cannot be had from some place on
                before the root element began.
        """
        lost: DocumentError | None = None
        try:
            for piece in in_utf8(iter(pieces), encoding):
                if mended := self._take(self._mender.feed(piece)):
                    yield mended
        except DocumentError as error:
            # What cannot be read is lost; what was read before is not.
            lost = error
        given, failure = self._mender.finish()
        if lost is not None and failure is not None:
            raise lost
        raise_failure(failure)
        if mended := self._take(given):
            yield mended
        if lost is not None:
            self.stretches.append(Stretch(lost.byte, lost.byte, lost, b""))

    @property
    def is_shifted(self) -> bool:
        """Whether some offsets are not those of the document."""
        return len(self._shifts) > 1

    def original(self, offset: int) -> int:
        """Return where a byte of the mended document was in the document."""
        place = bisect_right(self._shifts, offset, key=lambda shift: shift[0]) - 1
        mended, before = self._shifts[place]
        return before + offset - mended

    def take_stretches(self, before: int | None = None) -> list[Stretch]:
        """Return what was left out since the last call, up to a byte of the document."""
        count = len(self.stretches)
        if before is not None:
            count = bisect_left(self.stretches, before, key=lambda stretch: stretch.start)
        taken, self.stretches = self.stretches[:count], self.stretches[count:]
        return taken

    def _take(self, given: tuple[bytes, list[_Given], list[tuple[int, int]]]) -> bytes:
        mended, stretches, shifts = given
        self._shifts += shifts
        self.stretches += [
            Stretch(start, end, _left_out(error_of(failure), start, end), data)
            for start, end, failure, data in stretches
        ]
        return mended


def mended(
    items: Iterable[Input | Heartbeat], path: RecordPath, limits: Limits | None = None
) -> Iterator[Input | Heartbeat]:
    """Yield the documents, mended; behind each of them what it left out, as documents that fail."""
    require_target(path)
    for item in items:
        if isinstance(item, Heartbeat | Refused):
            yield item
            continue
        document = MendedInput(item, path, limits)
        yield document
        for stretch in document.stretches:
            yield LeftOut(item.document, item.stream, item.event_time, stretch)


class MendedInput(Input):
    """A document that is mended while it is read."""

    encoding = "utf-8"

    def __init__(self, document: Input, path: RecordPath, limits: Limits | None) -> None:
        super().__init__(document.document, document.stream, document.event_time)
        self._document = document
        self._path = path
        self._limits = limits
        self._mending = Mending(path, limits)
        self._whole: bytes | DocumentError | None = None

    @property
    def stretches(self) -> list[Stretch]:
        """What was left out so far."""
        return self._mending.stretches

    def whole(self) -> Piece | None:
        if self._whole is None:
            data = self._document.whole()
            if data is None:
                return None
            try:
                self._whole = b"".join(self._mending.pieces([data], self._document.encoding))
            except DocumentError as error:
                self._whole = error
        if isinstance(self._whole, DocumentError) or len(self._whole) > WHOLE_BYTES_MAX:
            return None
        return self._whole

    def again(self) -> Input | None:
        again = self._document.again()
        return None if again is None else MendedInput(again, self._path, self._limits)

    def pieces(self) -> Iterator[Piece]:
        if self._whole is None:
            yield from self._mending.pieces(self._document.pieces(), self._document.encoding)
        elif isinstance(self._whole, DocumentError):
            raise self._whole
        else:
            yield self._whole

    def original(self) -> bytes | None:
        return self._document.original()


class LeftOut(Input):
    """Bytes that a document left out, as a document that fails."""

    def __init__(
        self, document: str, stream: str, event_time: datetime | None, stretch: Stretch
    ) -> None:
        super().__init__(f"{document}@{stretch.start}-{stretch.end}", stream, event_time)
        self._stretch = stretch

    def pieces(self) -> Iterator[Piece]:
        raise self._stretch.error
        yield b""

    def original(self) -> bytes | None:
        return self._stretch.data


_Given = tuple[int, int, tuple[str, str, int, int, str, str | None, str | None], bytes | None]


def _left_out(error: DocumentError, start: int, end: int) -> DocumentError:
    reason = f"{error.reason}; bytes {start} to {end} are left out"
    return DocumentError(error.code, reason, error.byte, error.line, error.path)


def require_target(path: RecordPath) -> None:
    """Return if it can be told by its looks where a record of a path starts.

    Raises:
        SettingError: Any element may be a record.
    """
    if path.names is None and path.depth is None:
        message = f"the start of a record of `{path.text}` cannot be told from any other element"
        raise SettingError("PM0012", f"{message}; give the records a name to skip damage")
