"""What a path of a store stands for, without a store; `tests/spark/places` has real ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import DocumentError
from penstock.sources.stores import Opened, Store, StoreError, Stores, has_store
from penstock.sources.stores.arrow import s3_options
from penstock.sources.stores.base import BLOCK_BYTES, Entry, State
from penstock.sources.stores.choosing import _globbed, place_of
from penstock.sources.stores.hdfs import HdfsStore, _addresses


class Dictionary(Store):
    """Files in a dictionary, so that globs have something to look at."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def look(self, path: str) -> Entry | None:
        return Entry(path, False, len(self.files[path]), 0) if path in self.files else None

    def walk(self, folder: str, is_recursive: bool) -> Iterator[Entry]:
        start = f"{folder}/" if folder else ""
        for name in sorted(self.files):
            if name.startswith(start) and (is_recursive or "/" not in name[len(start) :]):
                yield Entry(name, False, len(self.files[name]), 0)

    def open(self, path: str) -> Opened:
        return Bytes(self.files[path])


class Bytes(Opened):
    """A file in memory that counts how often it is asked."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.state = State(len(data), 0)
        self.asked = 0

    def read_at(self, start: int, end: int) -> bytes:
        self.asked += 1
        return self.data[start:end]

    def look_again(self) -> State:
        return State(len(self.data), 0)


@pytest.mark.parametrize(
    ("path", "root", "below"),
    [
        ("s3a://bucket", "s3a://bucket", ""),
        ("s3a://bucket/", "s3a://bucket", ""),
        ("hdfs://host:8020/a b/%20+é", "hdfs://host:8020", "a b/%20+é"),
        ("hdfs:///a", "hdfs://", "a"),
        ("s3a://bucket/line\nbreak", "s3a://bucket", "line\nbreak"),
    ],
)
def test_nothing_in_a_path_is_quoted(path: str, root: str, below: str) -> None:
    assert place_of(path) == (root, below)
    assert has_store(path)


@pytest.mark.parametrize("path", ["/a/b", "file:///a", "a://", "relative/x", "c:\\x", "12://x/y"])
def test_a_path_of_a_disk_is_none_of_a_store(path: str) -> None:
    assert has_store(path) is (path == "a://")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("in/*.xml", ["in/a.xml", "in/b.xml"]),
        ("in/?.xml", ["in/a.xml", "in/b.xml"]),
        ("in/[!a].xml", ["in/b.xml"]),
        ("in/s*", ["in/sub/c.xml", "in/sub/deep/d.xml"]),
        ("in/**/d.xml", ["in/sub/deep/d.xml"]),
        ("**/a.xml", ["in/a.xml"]),
        ("*/.hid*", [".h/.hidden.xml", "in/.hidden.xml"][1:]),
        ("in/*/*.xml", ["in/sub/c.xml"]),
        ("none/*", []),
    ],
)
def test_globs_are_those_of_a_disk(pattern: str, found: list[str]) -> None:
    names = ["in/a.xml", "in/b.xml", "in/sub/c.xml", "in/sub/deep/d.xml", "in/.hidden.xml"]
    store = Dictionary(dict.fromkeys([*names, "in/sub/_x/e.xml", ".h/.hidden.xml"], b""))
    assert [entry.path for entry in _globbed(store, pattern, True)] == found


def test_a_folder_of_a_glob_is_read_flat_if_asked() -> None:
    store = Dictionary(dict.fromkeys(["in/a/1.xml", "in/a/b/2.xml"], b""))
    assert [entry.path for entry in _globbed(store, "in/*", False)] == ["in/a/1.xml"]


@given(
    st.binary(max_size=400),
    st.lists(st.tuples(st.booleans(), st.integers(0, 500)), max_size=20),
)
def test_a_stream_reads_and_seeks_as_a_file_in_memory(
    data: bytes, steps: list[tuple[bool, int]]
) -> None:
    ours, theirs = Bytes(data).stream(), io.BytesIO(data)
    for is_seek, count in steps:
        if is_seek:
            assert ours.seek(count) == theirs.seek(count)
        else:
            assert ours.read(count) == theirs.read(count)
        assert ours.tell() == theirs.tell()
    assert ours.read() == theirs.read()


def test_a_large_file_is_asked_for_in_blocks() -> None:
    opened = Bytes(bytes(3 * BLOCK_BYTES))
    stream = opened.stream()
    while stream.read(64 << 10):
        pass
    assert opened.asked <= 5


@pytest.mark.parametrize("size", [BLOCK_BYTES, 2 * BLOCK_BYTES, 3 * BLOCK_BYTES])
def test_a_file_that_is_replaced_between_two_requests_is_told(size: int) -> None:
    opened = Bytes(bytes(2 * BLOCK_BYTES))
    stream = opened.stream()
    assert stream.read(1) == b"\0"
    opened.data = bytes(size)
    if size == 2 * BLOCK_BYTES:
        # Nobody can tell: the content is the same.
        assert len(stream.read()) == size - 1
        return
    with pytest.raises(DocumentError, match="PS0004"):
        stream.read()


def test_a_zip_archive_is_read_from_a_stream() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.xml", b"<a/>")
    with zipfile.ZipFile(Bytes(file.getvalue()).stream()) as archive:
        assert archive.read("a.xml") == b"<a/>"


@pytest.mark.parametrize(
    ("authority", "settings", "addresses"),
    [
        ("host:8020", {}, ("host:9870",)),
        ("host:8020", {"dfs.namenode.http-address": "0.0.0.0:50070"}, ("host:50070",)),
        ("host:8020", {"dfs.namenode.http-address": "web:1"}, ("web:1",)),
        (
            "lake",
            {
                "dfs.ha.namenodes.lake": "a, b",
                "dfs.namenode.http-address.lake.a": "one:9870",
                "dfs.namenode.http-address.lake.b": "two:9870",
            },
            ("one:9870", "two:9870"),
        ),
    ],
)
def test_the_addresses_of_name_nodes_are_those_of_hadoops_configuration(
    authority: str, settings: dict[str, str], addresses: tuple[str, ...]
) -> None:
    assert _addresses("hdfs", authority, settings, "http") == addresses


@pytest.mark.parametrize(
    ("settings", "options"),
    [
        ({}, {}),
        ({"endpoint": "s3.amazonaws.com"}, {}),
        ({"endpoint": "https://s3.eu-west-1.amazonaws.com"}, {"region": "eu-west-1"}),
        ({"endpoint": "s3-eu-west-1.amazonaws.com/"}, {"region": "eu-west-1"}),
        (
            {"endpoint": "s3.amazonaws.com", "endpoint.region": "us-west-2"},
            {"region": "us-west-2"},
        ),
        (
            {"endpoint": "minio:9000", "path.style.access": "true"},
            {
                **{"scheme": "https", "endpoint_override": "minio:9000", "region": "us-east-1"},
                "force_virtual_addressing": False,
            },
        ),
        (
            {"endpoint": "minio:9000", "connection.ssl.enabled": "false"},
            {
                **{"scheme": "http", "endpoint_override": "minio:9000", "region": "us-east-1"},
                "force_virtual_addressing": True,
            },
        ),
        ({"access.key": "a", "bucket.b.access.key": "own"}, {"access_key": "own"}),
        ({"access.key": "a", "bucket.other.access.key": "own"}, {"access_key": "a"}),
        (
            {"aws.credentials.provider": "org.x.AnonymousAWSCredentialsProvider"},
            {"anonymous": True},
        ),
    ],
)
def test_hadoops_settings_mean_the_same_to_arrow(
    settings: dict[str, str], options: dict[str, object]
) -> None:
    given = {f"fs.s3a.{name}": value for name, value in settings.items()}
    assert s3_options("b", given) == options


def test_a_path_without_a_host_is_that_of_the_default_file_system() -> None:
    store = HdfsStore("hdfs", "", {"fs.defaultFS": "hdfs://name:8020/"})
    assert store._addresses == ("name:9870",)


def test_a_cluster_with_kerberos_is_rejected_with_a_way_out() -> None:
    with pytest.raises(StoreError, match=r"PS0022: .*Kerberos.*binaryFile"):
        HdfsStore("hdfs", "host", {"hadoop.security.authentication": "kerberos"})


def test_secrets_are_not_printed() -> None:
    assert "hush" not in repr(Stores({"fs.s3a.secret.key": "hush"}))
