"""``penstock match --follow``: files that appear, and a file that grows."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.cli.following import GrowingFile, new_files

FOLLOW = [sys.executable, "-m", "penstock", "match", "--follow", "--poll", "0.01"]


@contextmanager
def following(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [*FOLLOW, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        try:
            yield running
        finally:
            with suppress(ProcessLookupError):
                os.kill(running.pid, signal.SIGINT)


def next_line(running: subprocess.Popen[bytes]) -> bytes:
    assert running.stdout is not None
    return running.stdout.readline()


def move_in(path: Path, text: str) -> None:
    """Write a file elsewhere and move it to its place."""
    path.with_suffix(".part").write_text(text)
    path.with_suffix(".part").rename(path)


def test_files_that_appear_in_a_folder_are_matched(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<r><x>1</x></r>")
    with following("--include", "*.xml", "//x/text()", str(tmp_path)) as running:
        assert next_line(running).endswith(b"a.xml\t1\n")
        move_in(tmp_path / "b.xml", "<r><x>2</x></r>")
        assert next_line(running).endswith(b"b.xml\t2\n")
        move_in(tmp_path / "c.xml", "<r><x>3</x>")
        assert next_line(running).endswith(b"c.xml\t3\n")
    assert running.returncode == 130


def test_a_file_that_grows_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "log.xml"
    path.write_text("<log><x>1</x>")
    with following("--no-filename", "//x/text()", str(path)) as running:
        assert next_line(running) == b"1\n"
        with path.open("a") as log:
            log.write("<x>2</x>")
        assert next_line(running) == b"2\n"
        move_in(path, "<log><x>3</x></log>")
        assert next_line(running) == b"3\n"
    assert running.returncode == 130


def test_a_registry_is_followed_as_well(tmp_path: Path) -> None:
    from penstock import Registry

    registry = Registry.open(tmp_path / "rules")
    registry.add("x", "//x/text()")
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    move_in(inbox / "a.xml", "<r><x>1</x><y>2</y></r>")
    with following("--registry", str(tmp_path / "rules"), str(inbox)) as running:
        assert next_line(running).endswith(b"a.xml\tx\t1\n")
        registry.add("y", "//y/text()")
        registry.remove("x")
        move_in(inbox / "b.xml", "<r><x>1</x><y>2</y></r>")
        assert next_line(running).endswith(b"b.xml\ty\t2\n")


class Clock:
    """Looks that are counted; what is to happen in between is done then."""

    def __init__(self, *steps: object) -> None:
        self.steps = list(steps)

    def __call__(self, seconds: float) -> None:
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if callable(step):
            step()


def test_a_file_that_is_still_written_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a>")
    clock = Clock(lambda: path.write_text("<a><b/></a>"), None, None, None)
    names = new_files([str(tmp_path)], None, 0, clock)
    assert next(names) == str(path)
    assert len(clock.steps) == 2  # one look after the last change
    with pytest.raises(KeyboardInterrupt):
        next(names)


def test_a_file_that_is_missing_may_still_come(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    clock = Clock(None, lambda: path.write_bytes(b"<a>"), lambda: path.write_bytes(b""))
    file = GrowingFile(str(path), 0, clock)
    assert file.read(100) == b"<a>"
    assert file.read(100) == b""  # cut off: the document ends there


@pytest.mark.parametrize("files", [[], ["-"], ["{}", "{}"]])
def test_what_cannot_be_followed_is_refused(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<a/>")
    with pytest.raises(SystemExit) as caught:
        main(["match", "--follow", "//a", *(file.format(path) for file in files)])
    assert caught.value.code == 2
    assert "--follow" in capsys.readouterr().err
