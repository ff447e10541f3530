"""Real servers of files on loopback, from Maven artifacts: S3Proxy, and Hadoop's for HDFS."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import string
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote
from urllib.request import OpenerDirector, ProxyHandler, Request, build_opener

from tests.spark.helpers.maven import UnavailableError, resolve

S3_SERVER = ["org.gaul:s3proxy:4.1.0"]
S3_REPAIR = ["com.fasterxml.jackson.core:jackson-annotations:2.22"]
"""The server's own pom leads to a release that is too old for it."""
HDFS_SERVER = [
    "org.apache.hadoop:hadoop-client-minicluster:3.5.0",
    "org.apache.hadoop:hadoop-client-runtime:3.5.0",
    "org.apache.hadoop:hadoop-client-api:3.5.0",
    "org.junit.jupiter:junit-jupiter-engine:5.11.4",
]
BUCKET = "penstock-tests"
ACCESS, SECRET = "tester", "not-a-secret-at-all"
_START_SECONDS_MAX = 300.0
_QUIET = '<configuration><root level="ERROR"/></configuration>'


class Place(Protocol):
    """A store with files, as a test fills it."""

    root: str
    settings: dict[str, str]
    """What Hadoop's configuration says of it."""

    def put(self, path: str, content: bytes) -> None:
        """Write a file."""

    def remove(self, path: str) -> None:
        """Remove a file."""


@dataclass
class S3Place:
    """A bucket; the server checks signatures."""

    root: str
    settings: dict[str, str]
    system: Any

    def put(self, path: str, content: bytes) -> None:
        # Arrow would compress what is named like a compressed file.
        with self.system.open_output_stream(f"{BUCKET}/{path}", compression=None) as file:
            file.write(content)

    def remove(self, path: str) -> None:
        self.system.delete_file(f"{BUCKET}/{path}")


@dataclass
class HdfsPlace:
    """A name node with one data node."""

    root: str
    settings: dict[str, str]
    address: str
    opener: OpenerDirector

    def put(self, path: str, content: bytes) -> None:
        told = self._ask("PUT", path, "CREATE&overwrite=true&noredirect=true")
        place = quote(json.loads(told)["Location"], safe=string.punctuation)
        headers = {"Content-Type": "application/octet-stream"}
        self.opener.open(Request(place, data=content, method="PUT", headers=headers)).close()

    def remove(self, path: str) -> None:
        self._ask("DELETE", path, "DELETE")

    def _ask(self, method: str, path: str, operation: str) -> bytes:
        url = f"http://{self.address}/webhdfs/v1/{quote(path)}?op={operation}&user.name=root"
        with self.opener.open(Request(url, method=method)) as answer:
            return bytes(answer.read())


@contextmanager
def s3(cache: Path, folder: Path) -> Iterator[S3Place]:
    """Run a server that speaks S3 until the block ends.

    Raises:
        UnavailableError: It cannot be had.
    """
    from pyarrow import fs

    jars = [*resolve(S3_REPAIR, cache, False), *resolve(S3_SERVER, cache, True)]
    port = _free_port()
    (folder / "data").mkdir(parents=True)
    (folder / "logback.xml").write_text(_QUIET, "utf-8")
    lines = {
        "s3proxy.authorization": "aws-v2-or-v4",
        "s3proxy.endpoint": f"http://127.0.0.1:{port}",
        "s3proxy.identity": ACCESS,
        "s3proxy.credential": SECRET,
        "jclouds.provider": "filesystem",
        "jclouds.filesystem.basedir": str(folder / "data"),
    }
    text = "".join(f"{key}={value}\n" for key, value in lines.items())
    (folder / "s3.properties").write_text(text, "utf-8")
    quiet = f"-Dlogback.configurationFile={folder / 'logback.xml'}"
    main = ["org.gaul.s3proxy.Main", "--properties", str(folder / "s3.properties")]
    with _java(jars, [quiet], main, folder) as process:
        _wait(process, folder, lambda: _listens(port))
        system = fs.S3FileSystem(
            access_key=ACCESS,
            secret_key=SECRET,
            endpoint_override=f"127.0.0.1:{port}",
            scheme="http",
            region="us-east-1",
            allow_bucket_creation=True,
        )
        system.create_dir(BUCKET)
        settings = {
            "fs.s3a.endpoint": f"http://127.0.0.1:{port}",
            "fs.s3a.access.key": ACCESS,
            "fs.s3a.secret.key": SECRET,
            "fs.s3a.path.style.access": "true",
        }
        yield S3Place(f"s3a://{BUCKET}", settings, system)


@contextmanager
def hdfs(cache: Path, folder: Path) -> Iterator[HdfsPlace]:
    """Run a name node and a data node until the block ends.

    Raises:
        UnavailableError: They cannot be had.
    """
    jars = resolve(HDFS_SERVER, cache, True)
    folder.mkdir(parents=True, exist_ok=True)
    told, details = folder / "conf.xml", folder / "details.json"
    main = ["org.apache.hadoop.test.MiniDFSClusterManager", "-format", "-datanodes", "1"]
    main += ["-writeConfig", str(told), "-writeDetails", str(details)]
    with _java(jars, [], main, folder) as process:
        _wait(process, folder, lambda: details.exists() and details.stat().st_size > 0)
        text = told.read_text("utf-8")
        names = ("fs.defaultFS", "dfs.namenode.http-address")
        root, address = (re.search(f"<name>{n}</name><value>([^<]*)", text) for n in names)
        assert root is not None, "the cluster says where it is"
        assert address is not None
        settings = {"dfs.namenode.http-address": address[1]}
        yield HdfsPlace(root[1], settings, address[1], build_opener(ProxyHandler({})))


@contextmanager
def _java(
    jars: Sequence[Path], options: list[str], main: list[str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    java = shutil.which("java")
    if java is None:
        raise UnavailableError("there is no java")
    options = ["-Xmx512m", "-XX:TieredStopAtLevel=1", *options]
    command = [java, *options, "-cp", os.pathsep.join(map(str, jars)), *main]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], folder: Path, claim: Any) -> None:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while not claim():
        if process.poll() is not None or time.monotonic() > deadline:
            said = (folder / "server.log").read_text("utf-8", "replace")
            raise UnavailableError(f"the server does not start: {said[-2000:]}")
        time.sleep(0.1)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
