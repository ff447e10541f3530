"""Files, folders and globs."""

from pathlib import Path

import pytest

from penstock.sources.listing import list_files
from penstock.sources.stores import Stores


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files to be seen and files to be passed over."""
    for name in ("b.xml", "a.xml", "c.txt", ".hidden", "_started", "deep/d.xml", ".git/e.xml"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"<a/>")
    return tmp_path


def names(folder: Path, *paths: str, **options: object) -> list[str]:
    """Return what paths stand for, relative to the folder."""
    found = list_files([f"{folder}/{path}" for path in paths], **options)  # type: ignore[arg-type]
    return [str(Path(one.path).relative_to(folder)) for one in found]


def test_a_folder_stands_for_the_visible_files_below_it(folder: Path) -> None:
    assert names(folder, "") == ["a.xml", "b.xml", "c.txt", "deep/d.xml"]
    assert names(folder, "", is_recursive=False) == ["a.xml", "b.xml", "c.txt"]
    assert names(folder, "", name_glob="*.xml") == ["a.xml", "b.xml", "deep/d.xml"]


def test_a_glob_stands_for_what_it_matches_even_nothing(folder: Path) -> None:
    assert names(folder, "*.xml", "[bc].*") == ["a.xml", "b.xml", "c.txt"]
    assert names(folder, "**/*.xml") == ["a.xml", "b.xml", "deep/d.xml"]
    assert names(folder, "*.none") == []


def test_a_file_named_outright_counts_whatever_its_name(folder: Path) -> None:
    assert names(folder, ".hidden") == [".hidden"]
    (found,) = list_files([f"file://{folder}/a.xml"])
    assert found.size == 4


def test_a_path_that_leads_nowhere_is_an_error(folder: Path) -> None:
    with pytest.raises(FileNotFoundError):
        names(folder, "none.xml")
    with pytest.raises(ValueError, match=r"PS0020.*binaryFile"):
        list_files(["ftp://host/a.xml"], stores=Stores())
    with pytest.raises(ValueError, match="penstock-xml"):
        list_files(["s3://bucket/a.xml"])
