"""Pages come back as they were, or an error says why not; nothing is left on disk."""

import errno
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.joins import pages
from penstock.joins.pages import PageFile


def test_pages_come_back_as_they_were() -> None:
    file = PageFile()
    kept = {file.write(content): content for content in (b"a", b"", b"b" * 100_000)}
    assert {number: file.read(number) for number in kept} == kept


def test_a_file_goes_with_its_last_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "EXTENT_BYTES_MAX", 10)
    file = PageFile()
    first, second = file.write(b"x" * 10), file.write(b"y" * 10)
    extent = file._places[first].extent
    assert extent is not file._places[second].extent
    file.remove(first)
    assert extent.file.closed
    assert file.read(second) == b"y" * 10
    file.close()
    assert len(file) == 0


def test_a_damaged_page_is_an_error() -> None:
    file = PageFile()
    number = file.write(b"content")
    place = file._places[number]
    os.pwrite(place.extent.file.fileno(), b"C", place.start)
    with pytest.raises(StateError, match=r"PJ0007.*damaged"):
        file.read(number)


def test_a_file_that_was_cut_off_is_an_error() -> None:
    file = PageFile()
    number = file.write(b"content")
    os.ftruncate(file._places[number].extent.file.fileno(), 3)
    with pytest.raises(StateError, match="PJ0007"):
        file.read(number)


def test_a_page_that_is_lost_is_an_error() -> None:
    file = PageFile()
    number = file.write(b"content")
    file.remove(number)
    with pytest.raises(StateError, match=r"PJ0007.*lost"):
        file.read(number)


def test_a_full_disk_is_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    file = PageFile()
    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(StateError, match=r"PJ0006.*No space left.*TMPDIR"):
        file.write(b"content")


def test_a_killed_process_leaves_no_file(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from penstock.joins.pages import PageFile\n"
        "file = PageFile()\n"
        "number = file.write(b'x' * 100_000)\n"
        "print(len(file.read(number)), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    folder = dict(os.environ, TMPDIR=str(tmp_path))
    run = subprocess.run([sys.executable, "-c", program], env=folder, capture_output=True)
    assert run.stdout.strip() == b"100000"
    assert run.returncode < 0
    assert list(tmp_path.iterdir()) == []


def test_the_folder_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StateError, match=f"PJ0006.*{tmp_path.name}"):
        PageFile().write(b"x")
