"""HDFS over HTTP, as every name node serves it (WebHDFS): workers of Python need no Java."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from time import monotonic, sleep
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import OpenerDirector, ProxyHandler, build_opener

from penstock.sources.stores.base import Entry, Opened, State, Store, StoreError

HTTP_ADDRESS = "dfs.namenode.http-address"
HTTPS_ADDRESS = "dfs.namenode.https-address"
USER = "penstock.hdfs.user"
"""The setting under which the driver says as whom it reads."""

_PORTS = {"http": 9870, "https": 9871}
_TIMEOUT_SECONDS = 60.0
_RETRY_SECONDS = 60.0
"""So long a name node that does not answer is asked again."""
_WAIT_SECONDS_MAX = 5.0
_STANDBY, _NOT_FOUND = 403, 404


class HdfsStore(Store):
    """The files of a name node, or of a name service with several.

    Raises:
        StoreError: The cluster asks for Kerberos.
    """

    def __init__(self, scheme: str, authority: str, settings: Mapping[str, str]) -> None:
        self._root = f"{scheme}://{authority}"
        if settings.get("hadoop.security.authentication", "simple") != "simple":
            message = f"{self._root} asks for Kerberos, which Python does not speak here; read it "
            raise StoreError("PS0022", f"{message}with Spark: kind: spark, format: binaryFile")
        if not authority:
            authority = settings.get("fs.defaultFS", "").removeprefix("hdfs://").partition("/")[0]
        is_secure = scheme == "swebhdfs" or settings.get("dfs.http.policy") == "HTTPS_ONLY"
        self._protocol = "https" if is_secure else "http"
        self._addresses = _addresses(scheme, authority, settings, self._protocol)
        self._user = settings.get(USER)
        # Clusters are reached directly, whatever the environment says of the web.
        self._opener: OpenerDirector = build_opener(ProxyHandler({}))

    def look(self, path: str) -> Entry | None:
        try:
            told = json.loads(self._ask(path, "GETFILESTATUS"))["FileStatus"]
        except FileNotFoundError:
            return None
        return _entry(path, told)

    def walk(self, folder: str, is_recursive: bool) -> Iterator[Entry]:
        try:
            told = json.loads(self._ask(folder, "LISTSTATUS"))
        except FileNotFoundError:
            return
        for one in told["FileStatuses"]["FileStatus"]:
            entry = _entry(f"{folder}/{one['pathSuffix']}".strip("/"), one)
            if not entry.is_folder:
                yield entry
            elif is_recursive:
                yield from self.walk(entry.path, is_recursive)

    def open(self, path: str) -> Opened:
        entry = self.look(path)
        if entry is None or entry.is_folder:
            raise FileNotFoundError(f"there is no file {self._root}/{path}")
        return _HdfsFile(self, entry)

    def read(self, path: str, start: int, end: int) -> bytes:
        """Return the bytes of a range of a file."""
        return self._ask(path, "OPEN", offset=start, length=end - start)

    def _ask(self, path: str, operation: str, **more: int) -> bytes:
        """Return the answer of the name node that is active, or of the data node it names."""
        query: dict[str, Any] = {"op": operation, **more}
        if self._user:
            query["user.name"] = self._user
        tail = f"/webhdfs/v1/{quote(path)}?{urlencode(query)}"
        deadline, wait = monotonic() + _RETRY_SECONDS, 0.1
        while True:
            for address in self._addresses:
                try:
                    url = f"{self._protocol}://{address}{tail}"
                    with self._opener.open(url, timeout=_TIMEOUT_SECONDS) as answer:
                        data: bytes = answer.read()
                        return data
                except HTTPError as error:
                    reason = _told(error)
                    if error.code == _NOT_FOUND and "FileNotFound" in reason:
                        raise FileNotFoundError(f"there is no {self._root}/{path}") from None
                    is_final = error.code < 500 and "Standby" not in reason
                    if is_final:
                        raise self._refused(reason) from None
                except (HTTPException, OSError) as error:
                    reason = str(getattr(error, "reason", error))
            if monotonic() > deadline:
                raise self._refused(reason)
            sleep(wait)
            wait = min(2 * wait, _WAIT_SECONDS_MAX)

    def _refused(self, reason: str) -> StoreError:
        asked = ", ".join(self._addresses)
        return StoreError("PS0021", f"{self._root} does not answer at {asked}: {reason}")


class _HdfsFile(Opened):
    """A file; HDFS has no marks, but times in milliseconds."""

    def __init__(self, store: HdfsStore, entry: Entry) -> None:
        self._store = store
        self._path = entry.path
        self.state = State(entry.size, entry.mtime_ns)

    def read_at(self, start: int, end: int) -> bytes:
        return self._store.read(self._path, start, end)

    def look_again(self) -> State | None:
        entry = self._store.look(self._path)
        return None if entry is None else State(entry.size, entry.mtime_ns)


def _entry(path: str, told: Mapping[str, Any]) -> Entry:
    is_folder = told["type"] == "DIRECTORY"
    return Entry(path, is_folder, told["length"], told["modificationTime"] * 1_000_000)


def _addresses(
    scheme: str, authority: str, settings: Mapping[str, str], protocol: str
) -> tuple[str, ...]:
    """Return where the name nodes speak HTTP."""
    if scheme != "hdfs":
        return (authority,)
    key = HTTPS_ADDRESS if protocol == "https" else HTTP_ADDRESS
    nodes = settings.get(f"dfs.ha.namenodes.{authority}")
    if nodes:
        names = [node.strip() for node in nodes.split(",")]
        found = [settings.get(f"{key}.{authority}.{name}") for name in names]
        return tuple(filter(None, found))
    host = authority.partition(":")[0] or "localhost"
    given_host, _, port = settings.get(key, "").rpartition(":")
    is_given = given_host not in ("", "0.0.0.0")
    return (f"{given_host if is_given else host}:{port or _PORTS[protocol]}",)


def _told(error: HTTPError) -> str:
    """Return what a name node says of an error: the exception and the first line of its message."""
    try:
        told = json.loads(error.read())["RemoteException"]
        return f"{told['exception']}: {str(told['message']).splitlines()[0]}"
    except (ValueError, KeyError, OSError, IndexError):
        return f"HTTP {error.code}"
