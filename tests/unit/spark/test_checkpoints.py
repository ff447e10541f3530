"""A checkpoint after a kill: what Spark stumbles over goes, and nothing else."""

from pathlib import Path

import pytest

from penstock.sinks.folders import LocalFolders
from penstock.spark.checkpoints import clear_leftovers, stream_name

TMP = "6b0e2a32-0f3c-4a2b-a6a4-b0d2b8a4d111.tmp"


def made(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("v1")
    return str(folder)


def left(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("present", "removed"),
    [
        ((), ()),
        (("metadata",), ()),
        (("metadata", f"offsets/.0.{TMP}"), (f"offsets/.0.{TMP}",)),
        ((f"offsets/..0.{TMP}.crc", "metadata"), (f"offsets/..0.{TMP}.crc",)),
        (("metadata", "offsets/.0.crc"), ("offsets/.0.crc",)),
        (("offsets/0", f"commits/.0.{TMP}"), ()),
        (("offsets/0", "offsets/.0.crc", "offsets/.1.crc"), ("offsets/.1.crc",)),
        (("offsets/0", "offsets/1", "commits/0", f"offsets/.2.{TMP}", f"commits/.1.{TMP}"), ()),
        (("offsets/.hidden", "offsets/0.compact", "commits/notes.tmp"), ()),
    ],
)
def test_only_what_keeps_spark_from_starting_is_removed(
    tmp_path: Path, present: tuple[str, ...], removed: tuple[str, ...]
) -> None:
    checkpoint = made(tmp_path / "checkpoint", *present)
    assert clear_leftovers(LocalFolders(), checkpoint) == list(removed)
    assert left(tmp_path / "checkpoint") == sorted(set(present) - set(removed))
    assert clear_leftovers(LocalFolders(), f"file:{checkpoint}") == []


def test_a_stream_is_named_by_its_checkpoint(tmp_path: Path) -> None:
    folders = LocalFolders()
    assert stream_name(folders, str(tmp_path)) is None
    (tmp_path / "metadata").write_text('{"id":"abc"}')
    assert stream_name(folders, str(tmp_path)) == "abc"
    for damaged in ("", "{", "[]", "{}"):
        (tmp_path / "metadata").write_text(damaged)
        assert stream_name(folders, str(tmp_path)) is None
