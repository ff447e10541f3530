"""``penstock match`` on folders, globs, archives, compressed files and standard input."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data/deep").mkdir(parents=True)
    Path("data/a.xml").write_text("<r><x>1</x></r>")
    Path("data/deep/b.xml").write_text("<r><x>2</x></r>")
    Path("data/notes.txt").write_text("no XML at all")
    Path("data/.hidden.xml").write_text("<r><x>0</x></r>")


def matched(capsys: Capture, *arguments: str) -> list[str]:
    """Return the lines that a match prints."""
    assert main(["match", "//x/text()", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def tar_of(*names: str) -> bytes:
    """Return a tar archive of files in the folder `data`."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in names:
            archive.add(f"data/{name}", name)
    return packed.getvalue()


def test_a_folder_stands_for_the_files_below_it(capsys: Capture) -> None:
    lines = matched(capsys, "--include", "*.xml", "data")
    assert lines == ["data/a.xml\t1", "data/deep/b.xml\t2"]


def test_a_folder_may_hold_what_is_no_xml(capsys: Capture) -> None:
    assert main(["match", "//x/text()", "data"]) == 3
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 2
    assert "data/notes.txt: PD" in captured.err


def test_a_glob_is_expanded(capsys: Capture) -> None:
    assert matched(capsys, "data/**/*.xml") == ["data/a.xml\t1", "data/deep/b.xml\t2"]


def test_a_glob_that_fits_nothing_is_not_silent(capsys: Capture) -> None:
    assert main(["match", "//x", "data/*.xlm"]) == 3
    assert "data/*.xlm: PS0001: no file fits this glob" in capsys.readouterr().err


def test_one_file_needs_no_name_beside_its_results(capsys: Capture) -> None:
    assert matched(capsys, "data/a.xml") == ["1"]
    assert matched(capsys, "-H", "data/a.xml") == ["data/a.xml\t1"]
    assert matched(capsys, "--no-filename", "data/a.xml", "data/deep/b.xml") == ["1", "2"]


@pytest.mark.parametrize("name", PACKERS)
def test_compression_is_known_by_the_first_bytes(name: str, capsys: Capture) -> None:
    Path("packed").write_bytes(PACKERS[name](Path("data/a.xml").read_bytes()))
    assert matched(capsys, "packed") == ["1"]


@pytest.mark.parametrize("name", ["", *PACKERS])
def test_members_of_a_tar_are_documents(name: str, capsys: Capture) -> None:
    data = tar_of("a.xml", "deep/b.xml")
    Path("archive").write_bytes(PACKERS[name](data) if name else data)
    assert matched(capsys, "archive") == ["archive!a.xml\t1", "archive!deep/b.xml\t2"]


def test_members_of_a_zip_are_documents(capsys: Capture) -> None:
    with zipfile.ZipFile("archive", "w") as archive:
        archive.write("data/a.xml", "a.xml")
        archive.writestr("b.xml.zst", zstandard.compress(Path("data/deep/b.xml").read_bytes()))
    assert matched(capsys, "archive") == ["archive!a.xml\t1", "archive!b.xml.zst\t2"]


def test_a_damaged_archive_fails_after_its_sound_members(capsys: Capture) -> None:
    numbers = "".join(f"<y>{number**5}</y>" for number in range(100_000))
    Path("data/deep/b.xml").write_text(f"<r>{numbers}</r>")
    packed = gzip.compress(tar_of("a.xml", "deep/b.xml"))
    Path("archive").write_bytes(packed[: len(packed) // 2])
    assert main(["match", "//x/text()", "archive"]) == 3
    captured = capsys.readouterr()
    assert captured.out == "archive!a.xml\t1\n"
    assert "archive!deep/b.xml: PS" in captured.err


def from_stdin(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))


def test_a_tar_may_come_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_stdin(lzma.compress(tar_of("a.xml", "deep/b.xml")), monkeypatch)
    assert matched(capsys, "-H", "-") == ["-!a.xml\t1", "-!deep/b.xml\t2"]


def test_a_zip_in_a_pipe_says_what_to_do(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.xml", "<x/>")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(Pipe(packed.getvalue())))
    assert main(["match", "//x", "-"]) == 3
    assert "give the name of its file" in capsys.readouterr().err


def test_files_of_archives_belong_to_streams_by_their_own_names(capsys: Capture) -> None:
    Path("archive.tar").write_bytes(tar_of("a.xml"))
    command = ["match", "--json", "--stream", "one=a*.xml", "//x", "archive.tar"]
    assert main(command) == 0
    assert '"stream":"one"' in capsys.readouterr().out


def test_jobs_write_what_one_process_writes(capsys: Capture) -> None:
    Path("data/notes.txt").unlink()
    for number in range(40):
        Path(f"data/n{number:02}.xml").write_text(f"<r><x>{number}</x></r>" * (number != 7))
    for form in (["--json"], ["--format", "csv"], [], ["--count"]):
        command = ["match", "-q", "x=//x", "-q", "none=//y", *form, "data"]
        assert main(command) == 3
        alone = capsys.readouterr()
        assert main([*command, "--jobs", "2"]) == 3
        together = capsys.readouterr()
        assert together.out == alone.out
        assert together.err == alone.err
    assert "n07.xml" in alone.err


def test_jobs_write_one_parquet_file(capsys: Capture) -> None:
    import pyarrow.parquet as pq

    Path("data/notes.txt").unlink()
    command = ["match", "//x", "--format", "parquet", "--columns", "document,value", "data"]
    assert main([*command, "--jobs", "2", "--output", "rows.parquet"]) == 0
    assert pq.read_table("rows.parquet").to_pylist() == [
        {"document": "data/a.xml", "value": "<x>1</x>"},
        {"document": "data/deep/b.xml", "value": "<x>2</x>"},
    ]


def test_a_pipe_is_read_once(capsys: Capture) -> None:
    os.mkfifo("pipe")
    text = Path("data/a.xml").read_bytes()
    for query, code in (("//x/text()", 0), ("//none", 1)):
        writer = threading.Thread(target=Path("pipe").write_bytes, args=(text,))
        writer.start()
        assert main(["match", query, "pipe"]) == code
        writer.join()
    assert capsys.readouterr().out == "1\n"


def test_what_is_no_file_is_written_in_place(capsys: Capture) -> None:
    before = os.stat(os.devnull)
    assert main(["match", "--output", os.devnull, "//x", "data/a.xml"]) == 0
    assert os.stat(os.devnull).st_ino == before.st_ino
    assert capsys.readouterr().out == ""


def test_a_sample_may_come_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from_stdin(gzip.compress(Path("data/a.xml").read_bytes()), monkeypatch)
    assert main(["check", "//x[. = '2']", "--sample", "-"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "0 results in 1 document",
        "`//x` 1 → `[. = '2']` 0",
        'values of `.` seen: "1"',
    ]


@pytest.mark.parametrize("jobs", [(), ("--jobs", "2")])
def test_many_documents_and_damage_are_read_by_choice(
    jobs: tuple[str, ...], capsys: Capture
) -> None:
    one = "<?xml version='1.0'?><r><i><x>1</x></i><i><x>&#0;</x></i><i><x>3</x></i></r>\n"
    Path("data/a.xml").write_text(one + one)
    Path("data/deep/b.xml").write_text("<r><x>2</x></r>")

    def values(*arguments: str) -> list[str]:
        files = ["data/a.xml", "data/deep/b.xml"]
        assert main(["match", "//x/text()", "--no-filename", *files, *jobs, *arguments]) == 3
        return capsys.readouterr().out.split()

    assert values() == ["1", "2"]
    assert values("--documents", "many") == ["1", "1", "2"]
    assert values("--documents", "many", "--damaged", "reject") == ["2"]
    skip = ("--documents", "many", "--damaged", "skip", "--record", "/r/i")
    assert values(*skip) == ["1", "3", "1", "3", "2"]


def test_skipping_needs_to_know_where_records_begin(capsys: Capture) -> None:
    for wrong in (["--damaged", "skip"], ["--record", "//x"]):
        with pytest.raises(SystemExit):
            main(["match", "//x", "data/a.xml", *wrong])
        assert "add --" in capsys.readouterr().err
