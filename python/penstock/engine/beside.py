"""Sources of several streams, read side by side at the speed at which they arrive.

Each source has a thread that reads it ahead by a few pieces and then waits: memory is bounded, and
a source that gives nothing holds up no other one. All documents are evaluated in the thread of the
run, one piece of each source that has one in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any

from penstock.engine.reading import Portion, Reader
from penstock.engine.stages import JoinStages
from penstock.errors import DocumentError
from penstock.results import Heartbeat
from penstock.sources import Input, Piece, Source

Read = Callable[[Source], Iterator[Input | Heartbeat]]
"""Takes the documents out of a source."""

AHEAD_MAX = 4
"""So many pieces, or documents at hand, of each source are read ahead."""
_STOPPED_SECONDS = 0.1
"""A thread that waits for room looks so often whether the run has ended."""

_DOCUMENT_END, _SOURCE_END = object(), object()


class _StoppedError(Exception):
    """The run has ended."""


class _Failed:
    """What a source raised, or a document while it was read."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Given(Input):
    """A document of a lane: its bytes, or None if they come in pieces."""

    def __init__(self, document: Input, stream: str) -> None:
        super().__init__(document.document, stream, document.event_time)
        self.encoding = document.encoding
        self._given = document
        data = document.whole()
        self.data = None if data is None else bytes(data)

    def whole(self) -> Piece | None:
        return self.data

    def pieces(self) -> Iterator[Piece]:
        assert self.data is not None, "the pieces of others are pushed"
        return iter((self.data,))

    def again(self) -> Input | None:
        again = self._given.again()
        if again is not None:
            again.stream = self.stream
        return again

    def original(self) -> bytes | None:
        return self._given.original()


class Lane:
    """One source: a thread puts what it reads into a queue, the run takes it out."""

    def __init__(self, stream: str, source: Source, read: Read, ready: Event) -> None:
        self.stream = stream
        self._items = read
        self._source = source
        self._ready = ready
        self._queue: Queue[Any] = Queue(AHEAD_MAX)
        self._is_stopped = Event()
        Thread(target=self._read, name=f"penstock-{stream}", daemon=True).start()

    def take(self) -> Any:
        """Return what comes next; None if it has not arrived."""
        try:
            return self._queue.get_nowait()
        except Empty:
            return None

    def stop(self) -> None:
        """Let the thread end as soon as its source gives something."""
        self._is_stopped.set()

    def _put(self, entry: Any) -> None:
        while not self._is_stopped.is_set():
            with suppress(Full):
                self._queue.put(entry, timeout=_STOPPED_SECONDS)
                self._ready.set()
                return
        raise _StoppedError

    def _read(self) -> None:
        with suppress(_StoppedError):
            try:
                for item in self._items(self._source):
                    if isinstance(item, Heartbeat):
                        self._put(Heartbeat(self.stream, item.time))
                    else:
                        self._read_document(item)
                self._put(_SOURCE_END)
            except _StoppedError:
                raise
            except BaseException as error:  # the run raises it
                self._put(_Failed(error))

    def _read_document(self, item: Input) -> None:
        given = _Given(item, self.stream)
        self._put(given)
        if given.data is not None:
            return
        try:
            for piece in item.pieces():
                # What a source hands out may be overwritten by the next piece.
                self._put(bytes(piece))
        except DocumentError as error:
            self._put(_Failed(error))
        self._put(_DOCUMENT_END)


def read_beside(
    sources: Mapping[str, Source],
    read: Read,
    reader_of: Callable[[], Reader],
    note: Callable[[Input], None],
    joins: JoinStages,
) -> Iterator[Portion]:
    """Yield what the documents of several streams decide, in portions, and at last what waited.

    The documents of one source are read one after the other. ``note`` is given each of them.
    """
    ready = joins.changed = Event()
    lanes = [Lane(stream, source, read, ready) for stream, source in sources.items()]
    readers = {lane: reader_of() for lane in lanes}
    try:
        reading = [*lanes]
        while reading and not joins.is_halted:
            ready.clear()
            joins.check()
            entries = [(lane, lane.take()) for lane in reading]
            for lane, entry in entries:
                if entry is _SOURCE_END:
                    reading.remove(lane)
                    joins.end_stream(lane.stream)
                elif entry is not None:
                    yield from _portions(readers[lane], entry, note)
            if reading and all(entry is None for _, entry in entries):
                ready.wait()
        yield from readers[lanes[0]].end()
    finally:
        for lane in lanes:
            lane.stop()


def _portions(reader: Reader, entry: Any, note: Callable[[Input], None]) -> Iterator[Portion]:
    """Yield what one entry decides."""
    match entry:
        case bytes():
            yield from reader.push(entry)
        case _Given(data=None):
            note(entry)
            reader.begin(entry)
        case _Given():
            note(entry)
            yield from reader.read([entry])
        case Heartbeat():
            yield from reader.beat(entry)
        case _Failed(error=DocumentError() as error):
            reader.fail(error)
        case _Failed(error=error):
            raise error
        case _:
            reader.end_document()
            yield from reader.finish()
