"""Records and members of archives as documents of an engine."""

import zipfile
from pathlib import Path

import penstock
from penstock.sources.paths import RecordPath
from penstock.sources.records import documents, records


def engine() -> penstock.Engine:
    """Return an engine that looks for names."""
    registry = penstock.Registry()
    registry.add("names", penstock.xpath("//n"))
    return penstock.Engine(registry)


def test_records_run_through_an_engine(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.xml", b"<d><r><n>1</n></r><r><n>2</n></r></d>")
        archive.writestr("b.xml", b"<d><r><n>3</n></r><r>")
    rows = list(engine().run(records(path, "//r")))
    assert [(row.document, row.value) for row in rows[:3]] == [
        (f"{path}!a.xml#0", "<n>1</n>"),
        (f"{path}!a.xml#1", "<n>2</n>"),
        (f"{path}!b.xml#0", "<n>3</n>"),
    ]
    (failed,) = rows[3:]
    assert failed.error is not None
    assert (failed.document, failed.error.byte) == (f"{path}!b.xml", 21)


def test_records_come_from_anything_that_a_document_comes_from() -> None:
    path = RecordPath("//p:r", {"p": "urn:p"})
    source = [b"<r xmlns='urn:p'><n xmlns=''>1</n></r>", "<r/>", "no markup"]
    rows = list(engine().run(records(source, path)))
    assert [row.value for row in rows] == ["<n xmlns=''>1</n>", None]
    assert rows[0].document == "0#0"
    assert rows[1].error is not None
    assert rows[1].error.code == "PS0003"


def test_documents_of_a_folder_run_through_an_engine(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(b"<d><n>1</n></d>")
    (tmp_path / "b.zip").write_bytes(b"PK\x03\x04 and then nothing")
    rows = list(engine().run(documents(tmp_path)))
    assert [row.value for row in rows] == ["<n>1</n>", None]
    assert rows[1].error is not None
    assert rows[1].error.code == "PS0006"
    assert rows[0].event_time is not None


def test_heartbeats_and_what_has_no_time_go_through() -> None:
    given = penstock.Document("<d><r/></d>", time=float("nan"))
    beat = penstock.Heartbeat("S", 3)
    first, second = records([beat, given], "//r")
    assert first == beat
    (row,) = engine().run([second])
    assert row.error is not None
    assert row.error.code == "PS0010"
