"""Documents in files."""

import gzip
from pathlib import Path

import pytest

import penstock
from penstock.sources import SOURCE_BYTES_MAX


@pytest.fixture
def engine() -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("b", "//b")
    return penstock.Engine(registry)


def test_a_path_names_its_document(engine: penstock.Engine, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a><b/></a>")
    (row,) = engine.run(path)
    assert (row.document, row.value) == (str(path), "<b/>")
    (row,) = engine.run(penstock.Document(path, id="d", stream="s"))
    assert (row.document, row.stream) == ("d", "s")


def test_compression_is_told_by_the_bytes_not_the_name(
    engine: penstock.Engine, tmp_path: Path
) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(gzip.compress(b"<a><b/></a>"))
    (row,) = engine.run(path)
    assert row.value == "<b/>"
    assert penstock.evaluate("count(//b)", path) == 1


def test_a_file_that_cannot_be_read_is_one_error_row(
    engine: penstock.Engine, tmp_path: Path
) -> None:
    good = tmp_path / "a.xml"
    good.write_bytes(b"<a><b/></a>")
    rows = list(engine.run([tmp_path / "none.xml", tmp_path, good]))
    codes = [row.error and row.error.code for row in rows]
    assert codes == ["PS0001", "PS0001", None]


def test_the_bytes_of_a_bad_file_come_with_its_row(engine: penstock.Engine, tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a><b/>")
    *_, row = engine.run(path)
    assert row.source == b"<a><b/>"
    path.write_bytes(b"<a><b/>" + b" " * SOURCE_BYTES_MAX)
    *_, row = engine.run(path)
    assert row.error is not None
    assert row.source is None
