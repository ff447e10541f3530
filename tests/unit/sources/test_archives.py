"""Documents in files, compressed files and archives."""

import gzip
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from penstock.errors import DocumentError
from penstock.sources.archives import members
from penstock.sources.listing import Listed

FILES = {"a.xml": b"<a/>", "deep/b.xml": b"<b/>" * 100_000, ".hidden": b"no", "deep/_skip": b"no"}
SEEN = {"a.xml": b"<a/>", "deep/b.xml": b"<b/>" * 100_000}


def contents(path: Path) -> dict[str, bytes]:
    """Return the documents of a file by member."""
    found = members(Listed.of(str(path)))
    return {one.member: b"".join(map(bytes, one.pieces())) for one in found}


def write_tar(path: Path, mode: str) -> None:
    """Write the files into a tar archive."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, data in FILES.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)


def write_zip(path: Path) -> None:
    """Write the files into a zip archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("folder")
        for name, data in FILES.items():
            archive.writestr(name, data)


def test_a_plain_file_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "one.xml"
    path.write_bytes(b"<one/>")
    assert contents(path) == {"": b"<one/>"}
    (tmp_path / "none.xml").write_bytes(b"")
    assert contents(tmp_path / "none.xml") == {"": b""}


def test_a_compressed_file_is_one_document(tmp_path: Path) -> None:
    path = tmp_path / "one.xml.gz"
    path.write_bytes(gzip.compress(b"<one/>"))
    assert contents(path) == {"": b"<one/>"}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_the_members_of_a_tar_are_documents(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "archive"
    write_tar(path, mode)
    assert contents(path) == SEEN


def test_the_members_of_a_zip_are_documents(tmp_path: Path) -> None:
    path = tmp_path / "archive"
    write_zip(path)
    assert contents(path) == SEEN
    one, *_ = members(Listed.of(str(path)))
    assert one.id == f"{path}!a.xml"


def test_compressed_members_are_read_as_documents(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.xml.gz", gzip.compress(b"<a/>"))
    assert contents(path) == {"a.xml.gz": b"<a/>"}


def test_a_name_that_climbs_is_only_a_name(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../etc/x.xml", b"<a/>")
    assert contents(path) == {"../../etc/x.xml": b"<a/>"}
    assert sorted(os.listdir(tmp_path)) == ["archive.zip"]


def test_damage_of_one_member_leaves_the_others(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.xml", b"<aaaaaaaa/>")
        archive.writestr("b.xml", b"<b/>")
    path.write_bytes(path.read_bytes().replace(b"<aaaaaaaa/>", b"<aaaabaaa/>", 1))
    found = members(Listed.of(str(path)))
    damaged = next(found)
    with pytest.raises(DocumentError) as caught:
        list(damaged.pieces())
    assert caught.value.code == "PS0006"
    assert b"".join(map(bytes, next(found).pieces())) == b"<b/>"


def test_a_damaged_archive_says_so(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    write_zip(path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(DocumentError) as caught:
        contents(path)
    assert caught.value.code == "PS0006"


def test_an_encrypted_member_says_so(tmp_path: Path) -> None:
    path = tmp_path / "archive.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.xml", b"<a/>")
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    found = members(Listed.of(str(path)))
    one = next(found)
    with pytest.raises(DocumentError, match="encrypted"):
        list(one.pieces())


def test_damaged_compression_is_an_error_of_the_document(tmp_path: Path) -> None:
    path = tmp_path / "one.xml.gz"
    path.write_bytes(gzip.compress(b"<one/>" * 1000)[:40])
    found = members(Listed.of(str(path)))
    one = next(found)
    with pytest.raises(DocumentError) as caught:
        list(one.pieces())
    assert caught.value.code == "PS0002"


def test_a_file_that_is_gone_says_so(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        list(members(Listed(str(tmp_path / "gone"), 0, 0)))
    assert caught.value.code == "PS0001"
