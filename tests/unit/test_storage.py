"""Files are there whole or not at all."""

from pathlib import Path

import pytest

from penstock.storage import TEMPORARY, disk_path, offer_file, sync, whole_file


def test_a_file_takes_its_place_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    with whole_file(path) as file:
        file.write(b"one")
        assert not path.exists()
        (unfinished,) = path.parent.iterdir()
        assert unfinished.name.startswith(".")
        assert unfinished.name.endswith(TEMPORARY)
    assert path.read_bytes() == b"one"
    assert list(path.parent.iterdir()) == [path]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_offered_file_is_that_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "file"
    offer_file(path, b"one")
    offer_file(path, b"two")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_files_and_folders_are_synced(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"one")
    sync(tmp_path / "file")
    sync(tmp_path)
    with pytest.raises(FileNotFoundError):
        sync(tmp_path / "none")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a/b", "a/b"),
        ("/a b/%20", "/a b/%20"),
        ("file:/a%20b", "/a b"),
        ("file:///a%20b", "/a b"),
        ("s3a://bucket/x", None),
        (Path("hdfs://host/x"), None),
        ("c:/x", "c:/x"),
        ("a:b", "a:b"),
    ],
)
def test_a_path_of_a_store_is_none_of_a_disk(path: str | Path, expected: str | None) -> None:
    assert disk_path(path) == (None if expected is None else Path(expected))
