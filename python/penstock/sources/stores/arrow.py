"""Object stores that Arrow reads: S3 and what speaks like it, Google's and Azure's."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

from penstock import extras
from penstock.sources.stores.base import Entry, Opened, State, Store, StoreError

_ATTEMPTS = 10
"""A request that fails is made so often; Arrow waits longer each time."""
T = TypeVar("T")

_AMAZON = re.compile(r"(?:https?://)?s3(?:[.-]([a-z0-9-]+))?\.amazonaws\.com/?")
"""Amazon's own addresses, which Arrow makes of the region."""
_ANONYMOUS = "AnonymousAWSCredentialsProvider"


def arrow_store(scheme: str, authority: str, settings: Mapping[str, str]) -> Store:
    """Return the store of a bucket or container.

    Raises:
        StoreError: Its settings cannot be used.
        MissingExtraError: pyarrow is not installed.
    """
    fs = extras.load("pyarrow.fs", "arrow")
    root = f"{scheme}://{authority}"
    try:
        match scheme:
            case "s3a" | "s3":
                return ArrowStore(_s3(fs, authority, settings), root, authority)
            case "gs":
                return ArrowStore(fs.GcsFileSystem(), root, authority)
            case _:
                container, _, host = authority.partition("@")
                account = host.partition(".")[0]
                key = settings.get(f"fs.azure.account.key.{host}")
                system = fs.AzureFileSystem(account_name=account, account_key=key)
                return ArrowStore(system, root, container)
    except OSError as error:
        raise StoreError("PS0021", f"{root} does not answer: {error}") from None
    except ValueError as error:
        raise StoreError("PS0022", f"{root} cannot be opened: {error}") from None


def _s3(fs: Any, bucket: str, settings: Mapping[str, str]) -> Any:
    options = s3_options(bucket, settings)
    if "region" not in options:
        options["region"] = os.environ.get("AWS_REGION") or fs.resolve_s3_region(bucket)
    retry = fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS)
    return fs.S3FileSystem(retry_strategy=retry, **options)


def s3_options(bucket: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return what Hadoop's settings mean to Arrow; without a region the bucket tells its own."""

    def given(name: str) -> str | None:
        own = settings.get(f"fs.s3a.bucket.{bucket}.{name}")
        return own or settings.get(f"fs.s3a.{name}") or None

    options: dict[str, Any] = {
        "access_key": given("access.key"),
        "secret_key": given("secret.key"),
        "session_token": given("session.token"),
        "role_arn": given("assumed.role.arn"),
        "region": given("endpoint.region"),
    }
    if _ANONYMOUS in (given("aws.credentials.provider") or ""):
        options["anonymous"] = True
    endpoint = given("endpoint") or ""
    amazons = _AMAZON.fullmatch(endpoint)
    if amazons is not None:
        options["region"] = options["region"] or amazons[1]
    elif endpoint:
        address = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
        is_plain = given("connection.ssl.enabled") == "false"
        options["scheme"] = address.scheme or ("http" if is_plain else "https")
        options["endpoint_override"] = address.netloc
        options["force_virtual_addressing"] = given("path.style.access") != "true"
        options["region"] = options["region"] or "us-east-1"
    return {name: value for name, value in options.items() if value is not None}


class ArrowStore(Store):
    """A bucket or container."""

    def __init__(self, system: Any, root: str, container: str) -> None:
        self._system = system
        self._root = root
        self._container = container

    def look(self, path: str) -> Entry | None:
        import pyarrow.fs as fs

        info = self._asked(lambda: self._system.get_file_info(self._key(path)))
        return None if info.type == fs.FileType.NotFound else self._entry(info)

    def walk(self, folder: str, is_recursive: bool) -> Iterator[Entry]:
        import pyarrow.fs as fs

        selector = fs.FileSelector(
            self._key(folder), recursive=is_recursive, allow_not_found=bool(folder)
        )
        for info in self._asked(lambda: self._system.get_file_info(selector)):
            if info.type == fs.FileType.File:
                yield self._entry(info)

    def open(self, path: str) -> Opened:
        return _ArrowFile(self, path)

    def opened(self, path: str) -> tuple[Any, State]:
        """Return a file of Arrow, and what it is like.

        Raises:
            FileNotFoundError: It is not there.
        """
        file = self._asked(lambda: self._system.open_input_file(self._key(path)))
        told = {name.lower(): value.decode() for name, value in (file.metadata() or {}).items()}
        if "last-modified" in told:
            moment = datetime.fromisoformat(told["last-modified"])
            mtime_ns = int(moment.timestamp()) * 1_000_000_000
        else:
            entry = self.look(path)
            if entry is None:
                raise FileNotFoundError(f"there is no file {self._root}/{path}")
            mtime_ns = entry.mtime_ns
        return file, State(file.size(), mtime_ns, told.get("etag", ""))

    def read_at(self, file: Any, start: int, end: int) -> bytes:
        """Return the bytes of a range of a file."""
        data: bytes = self._asked(lambda: file.read_at(end - start, start))
        return data

    def _key(self, path: str) -> str:
        return f"{self._container}/{path}" if path else self._container

    def _entry(self, info: Any) -> Entry:
        path = info.path.removeprefix(self._container).strip("/")
        is_folder = info.size is None
        # Some stores list fractions of seconds, and leave them away where they tell of one object.
        seconds = 0 if is_folder else (info.mtime_ns or 0) // 1_000_000_000
        return Entry(path, is_folder, info.size or 0, seconds * 1_000_000_000)

    def _asked(self, request: Callable[[], T]) -> T:
        try:
            return request()
        except FileNotFoundError:
            raise
        except OSError as error:
            message = f"{self._root} does not answer: {error}"
            raise StoreError("PS0021", message) from None


class _ArrowFile(Opened):
    """An object; its mark is the ETag, where the store has one."""

    def __init__(self, store: ArrowStore, path: str) -> None:
        self._store = store
        self._path = path
        self._file, self.state = store.opened(path)

    def read_at(self, start: int, end: int) -> bytes:
        return self._store.read_at(self._file, start, end)

    def look_again(self) -> State | None:
        try:
            file, state = self._store.opened(self._path)
        except FileNotFoundError:
            return None
        file.close()
        return state

    def __exit__(self, *error: object) -> None:
        self._file.close()
