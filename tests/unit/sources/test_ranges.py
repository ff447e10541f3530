"""One file in several tasks."""

import gzip
import os
from itertools import accumulate
from pathlib import Path

import pytest

from penstock.errors import DocumentError
from penstock.sources.listing import Listed
from penstock.sources.paths import RecordPath
from penstock.sources.ranges import find_ranges, read_ranges, read_windows, spread

PATH = RecordPath("//r", ancestors={"h": "//h"})
DOCUMENT = b"<d><h>1</h>" + b"<r>12345</r>\n" * 10 + b"<h>2</h>" + b"<r>&amp;</r>" * 5 + b"</d>"


def listed(folder: Path, data: bytes) -> Listed:
    """Write a file and look at it."""
    path = folder / "one.xml"
    path.write_bytes(data)
    return Listed.of(str(path))


def test_tasks_have_at_most_the_size_that_was_asked_for_or_one_record(tmp_path: Path) -> None:
    found = find_ranges(listed(tmp_path, DOCUMENT), PATH, 40)
    assert found is not None
    assert [len(list(read_ranges(task))) for task in found.tasks] == [3, 3, 3, 2, 3, 1]
    for task in found.tasks:
        bounds = task.bounds()
        assert bounds[-1] - bounds[0] <= 40
    single = find_ranges(listed(tmp_path, DOCUMENT), PATH, 1)
    assert single is not None
    assert len(single.tasks) == 15
    whole = find_ranges(listed(tmp_path, DOCUMENT), PATH, 1 << 20)
    assert whole is not None
    assert len(whole.tasks) == 1
    assert whole.tasks[0].ancestors == ((0, {"h": "1"}), (10, {"h": "2"}))


def test_windows_of_every_size_hold_what_holds_for_their_records(tmp_path: Path) -> None:
    found = find_ranges(listed(tmp_path, DOCUMENT), PATH, 1 << 20)
    assert found is not None
    for window_bytes in range(1, 200):
        windows = list(read_windows(found.tasks[0], window_bytes))
        around = [one for window in windows for one in spread(window.ancestors, len(window))]
        assert around == [{"h": "1"}] * 10 + [{"h": "2"}] * 5
        assert [w.first for w in windows] == list(accumulate(map(len, windows), initial=0))[:-1]


def test_records_before_an_error_are_found(tmp_path: Path) -> None:
    found = find_ranges(listed(tmp_path, DOCUMENT[:-4] + b"<"), PATH, 40)
    assert found is not None
    assert found.failure is not None
    assert sum(len(list(read_ranges(task))) for task in found.tasks) == 15


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress(DOCUMENT),
        DOCUMENT.decode().encode("utf-16"),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + DOCUMENT,
        b'<!DOCTYPE d [<!ENTITY e "1">]>' + DOCUMENT,
        b"<!--" + b" " * ((1 << 20) - 10) + b'--><!DOCTYPE d SYSTEM "d">' + DOCUMENT,
    ],
    ids=["gzip", "utf-16", "iso-8859-1", "entity", "far doctype"],
)
def test_what_has_other_bytes_than_the_file_is_read_in_one_piece(
    tmp_path: Path, data: bytes
) -> None:
    assert find_ranges(listed(tmp_path, data), PATH, 40) is None


def test_a_file_that_changed_is_not_read(tmp_path: Path) -> None:
    file = listed(tmp_path, DOCUMENT)
    found = find_ranges(file, PATH, 40)
    assert found is not None
    os.utime(file.path, ns=(1, 1))
    with pytest.raises(DocumentError) as caught:
        list(read_ranges(found.tasks[0]))
    assert caught.value.code == "PS0004"


def test_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    file = listed(tmp_path, DOCUMENT)
    found = find_ranges(file, PATH, 40)
    assert found is not None
    os.remove(file.path)
    with pytest.raises(DocumentError, match="No such file"):
        list(read_ranges(found.tasks[0]))
    with pytest.raises(DocumentError, match="No such file"):
        find_ranges(file, PATH, 40)
