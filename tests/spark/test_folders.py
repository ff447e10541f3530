"""Folders do the same on a disk and on what Java reaches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import SinkError
from penstock.sinks.folders import Folders, HadoopFolders, LocalFolders, folders_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def made(spark: SparkSession, kind: str) -> Folders:
    if kind == "local":
        return LocalFolders()
    java = spark._jvm
    assert java is not None
    settings = spark._jsparkSession.sessionState().newHadoopConf()
    system = java.org.apache.hadoop.fs.FileSystem.getLocal(settings).getRaw()
    return HadoopFolders(spark, system)


@pytest.mark.parametrize("kind", ["local", "hadoop"])
def test_folders_are_listed_moved_and_removed(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    folders = made(spark, kind)
    place = str(tmp_path / "a b%20é")
    assert folders.names(place) == []
    assert folders.read(f"{place}/none") is None
    for name in ("one/x", "two/y", ".hidden"):
        path = Path(place, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode() + b"\x00\xff")
    assert folders.names(place) == [".hidden", "one", "two"]
    assert folders.read(f"{place}/one/x") == b"one/x\x00\xff"
    folders.move(f"{place}/one", f"{place}/two")
    assert (folders.names(place), folders.names(f"{place}/two")) == ([".hidden", "two"], ["x"])
    folders.move(f"{place}/two", f"{place}/deep/below/three")
    assert folders.names(f"{place}/deep/below/three") == ["x"]
    for name in ("deep", ".hidden", "none"):
        folders.remove(f"{place}/{name}")
    assert folders.names(place) == []
    with pytest.raises(SinkError) as caught:
        folders.move(f"{place}/none", f"{place}/other")
    assert caught.value.code == "PO0001"


@pytest.mark.parametrize("kind", ["local", "hadoop"])
def test_small_files_are_written_and_replaced(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    folders, file = made(spark, kind), str(tmp_path / "new/folder/é")
    for data in (b"one\x00\xff", b"", b"three"):
        folders.write(file, data)
        assert folders.read(file) == data
    assert folders.names(str(tmp_path / "new/folder")) == ["é"]
    with pytest.raises(SinkError, match="PO0001"):
        folders.write(f"{file}/below", b"")


def test_a_disk_of_this_host_is_told_from_others(spark: SparkSession, tmp_path: Path) -> None:
    for path in (str(tmp_path), tmp_path.as_uri()):
        folders = folders_of(spark, path)
        assert isinstance(folders, LocalFolders)
        assert folders.names(path) == []
    with pytest.raises(SinkError, match="nowhere://host/path cannot be used"):
        folders_of(spark, "nowhere://host/path")
