"""Files that are fetched ahead are those that would have been opened, and are few at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import pytest

from penstock.sources.listing import Listed
from penstock.sources.stores import Opened
from penstock.sources.stores.ahead import BYTES_AHEAD, FILE_BYTES_MAX, FILES_AHEAD, ReadAhead
from penstock.sources.stores.base import State
from tests.waiting import wait_until


class Files:
    """A store that counts what is opened and, if it is told to, waits before it answers."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files
        self.opened: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self._lock = threading.Lock()

    def open(self, path: str) -> Opened:
        with self._lock:
            self.opened.append(path)
        self.gate.wait()
        if path not in self.files:
            raise FileNotFoundError(path)
        return _File(self.files[path])

    def listed(self) -> list[Listed]:
        return [Listed(path, len(data), 0) for path, data in self.files.items()]


class _File(Opened):
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.state = State(len(data), 0)

    def read_at(self, start: int, end: int) -> bytes:
        return self.data[start:end]

    def look_again(self) -> State:
        return self.state


def test_each_small_file_is_fetched_once_however_often_it_is_opened() -> None:
    store = Files({f"s3a://b/{n:03}": b"%d" % n for n in range(100)})
    with ReadAhead(store, store.listed()) as ahead:
        for path, data in store.files.items():
            for _ in range(2):
                with ahead.open(path) as opened:
                    assert opened.stream().read() == data
    assert sorted(store.opened) == list(store.files)


def test_files_are_fetched_at_once_and_not_all_of_them() -> None:
    store = Files({f"s3a://b/{n:03}": b"x" for n in range(100)})
    store.gate.clear()
    with ReadAhead(store, store.listed()) as ahead:
        reading = threading.Thread(target=lambda: ahead.open("s3a://b/000"))
        reading.start()
        wait_until(lambda: len(store.opened) == FILES_AHEAD, "files are fetched")
        store.gate.set()
        reading.join()
        assert len(store.opened) == FILES_AHEAD


def test_large_files_and_those_of_a_disk_are_opened_when_it_is_their_turn() -> None:
    store = Files({"s3a://b/large": bytes(FILE_BYTES_MAX + 1), "/disk": b"d", "s3a://b/s": b"s"})
    with ReadAhead(store, store.listed()) as ahead:
        with ahead.open("s3a://b/large") as opened:
            assert isinstance(opened, _File)
        with ahead.open("/disk") as opened:
            assert isinstance(opened, _File)
        assert ahead.open("s3a://b/s").stream().read() == b"s"


def test_what_is_held_is_bounded() -> None:
    size = BYTES_AHEAD // 4
    store = Files({f"s3a://b/{n}": bytes(size) for n in range(10)})
    with ReadAhead(store, store.listed()) as ahead:
        assert len(ahead.open("s3a://b/0").stream().read()) == size
        assert len(store.opened) <= 4


def test_a_file_that_is_gone_is_missed_when_it_is_its_turn() -> None:
    store = Files({"s3a://b/1": b"1", "s3a://b/3": b"3"})
    files = [Listed(f"s3a://b/{n}", 1, 0) for n in (1, 2, 3)]
    with ReadAhead(store, files) as ahead:
        assert ahead.open("s3a://b/1").stream().read() == b"1"
        with pytest.raises(FileNotFoundError):
            ahead.open("s3a://b/2")
        assert ahead.open("s3a://b/3").stream().read() == b"3"


def test_a_file_that_grew_is_read_as_it_comes() -> None:
    store = Files({"s3a://b/1": bytes(FILE_BYTES_MAX + 5)})
    with ReadAhead(store, [Listed("s3a://b/1", 1, 0)]) as ahead:
        assert len(ahead.open("s3a://b/1").stream().read()) == FILE_BYTES_MAX + 5
