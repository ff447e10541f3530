"""Object stores that Arrow reads: S3 and what speaks like it, Google's and Azure's."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from penstock import extras
from penstock.sources.stores.base import Entry, Opened, State, Store, StoreError

_ATTEMPTS = 10
"""A request that fails is made so often; Arrow waits longer each time."""
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
    def given(name: str) -> str | None:
        own = settings.get(f"fs.s3a.bucket.{bucket}.{name}")
        return own or settings.get(f"fs.s3a.{name}") or None

    options: dict[str, Any] = {
        "retry_strategy": fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        "access_key": given("access.key"),
        "secret_key": given("secret.key"),
        "session_token": given("session.token"),
        "region": given("endpoint.region"),
    }
    if _ANONYMOUS in (given("aws.credentials.provider") or ""):
        options["anonymous"] = True
    if role := given("assumed.role.arn"):
        options["role_arn"] = role
    endpoint = given("endpoint")
    if endpoint:
        address = urlsplit(endpoint if "://" in endpoint else f"//{endpoint}")
        is_plain = given("connection.ssl.enabled") == "false"
        options["scheme"] = address.scheme or ("http" if is_plain else "https")
        options["endpoint_override"] = address.netloc
        options["force_virtual_addressing"] = given("path.style.access") != "true"
        options["region"] = options["region"] or "us-east-1"
    elif not options["region"]:
        options["region"] = os.environ.get("AWS_REGION") or fs.resolve_s3_region(bucket)
    return fs.S3FileSystem(**{name: value for name, value in options.items() if value is not None})


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
        entry = self.look(path)
        if entry is None or entry.is_folder:
            raise FileNotFoundError(f"there is no file {self._root}/{path}")
        file = self._asked(lambda: self._system.open_input_file(self._key(path)))
        return _ArrowFile(self, file, entry)

    def _key(self, path: str) -> str:
        return f"{self._container}/{path}" if path else self._container

    def _entry(self, info: Any) -> Entry:
        path = info.path.removeprefix(self._container).strip("/")
        is_folder = info.size is None
        return Entry(path, is_folder, info.size or 0, 0 if is_folder else info.mtime_ns or 0)

    def _asked(self, request: Any) -> Any:
        try:
            return request()
        except FileNotFoundError:
            raise
        except OSError as error:
            message = f"{self._root} does not answer: {error}"
            raise StoreError("PS0021", message) from None


class _ArrowFile(Opened):
    """An object; its mark is the ETag, where the store has one."""

    def __init__(self, store: ArrowStore, file: Any, entry: Entry) -> None:
        self._store = store
        self._file = file
        mark = (file.metadata() or {}).get("ETag", b"").decode()
        self.state = State(file.size(), entry.mtime_ns, mark)

    def read_at(self, start: int, end: int) -> bytes:
        data: bytes = self._store._asked(lambda: self._file.read_at(end - start, start))
        return data

    def __exit__(self, *error: object) -> None:
        self._file.close()
