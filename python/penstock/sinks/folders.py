"""Folders of any file system that Spark writes to: a local disk, HDFS, an object store."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from penstock.errors import SinkError
from penstock.sinks.base import first_line, java_of
from penstock.storage import TEMPORARY, whole_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_OBJECT_STORES = ("s3a", "s3", "gs", "abfs", "abfss", "wasb", "wasbs")
"""Where an object appears when it is whole, and renaming means copying."""


class Folders(ABC):
    """A file system. Every method raises ``SinkError`` if it cannot be reached."""

    @abstractmethod
    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none if there is no folder."""

    @abstractmethod
    def read(self, file: str) -> bytes | None:
        """Return what a small file holds, or None if there is none."""

    @abstractmethod
    def write(self, file: str, data: bytes) -> None:
        """Write a small file, in the place of what has its name; it appears when it is whole."""

    @abstractmethod
    def move(self, folder: str, target: str) -> None:
        """Give a folder another name, in the place of what has it."""

    @abstractmethod
    def remove(self, path: str) -> None:
        """Remove a file, or a folder with everything in it, if it is there."""


def folders_of(spark: SparkSession, path: str) -> Folders:
    """Return the file system of a path, as the session's driver sees it.

    Raises:
        SinkError: It cannot be reached.
    """
    jvm = java_of(spark)
    if jvm is None:
        return LocalFolders()
    with _reported(path):
        settings = spark._jsparkSession.sessionState().newHadoopConf()
        system = jvm.org.apache.hadoop.fs.Path(path).getFileSystem(settings)
        is_local = system.getUri().getScheme() == "file"
    # Hadoop shows a local disk without the checksums that it keeps there.
    return LocalFolders() if is_local else HadoopFolders(spark, system)


class LocalFolders(Folders):
    """A disk of this host."""

    def names(self, folder: str) -> list[str]:
        with _reported(folder):
            try:
                return sorted(os.listdir(_local(folder)))
            except FileNotFoundError:
                return []

    def read(self, file: str) -> bytes | None:
        with _reported(file):
            try:
                return _local(file).read_bytes()
            except FileNotFoundError:
                return None

    def write(self, file: str, data: bytes) -> None:
        with _reported(file), whole_file(_local(file)) as opened:
            opened.write(data)

    def move(self, folder: str, target: str) -> None:
        with _reported(target):
            self.remove(target)
            _local(target).parent.mkdir(parents=True, exist_ok=True)
            os.replace(_local(folder), _local(target))

    def remove(self, path: str) -> None:
        place = _local(path)
        with _reported(path):
            if place.is_dir() and not place.is_symlink():
                shutil.rmtree(place)
            else:
                place.unlink(missing_ok=True)


class HadoopFolders(Folders):
    """A file system that Java reaches."""

    def __init__(self, spark: SparkSession, system: Any) -> None:
        self._java = java_of(spark)
        self._gateway: Any = spark.sparkContext._gateway
        self._system = system
        self._path = self._java.org.apache.hadoop.fs.Path

    def names(self, folder: str) -> list[str]:
        with _reported(folder):
            if not self._system.exists(self._path(folder)):
                return []
            entries = self._system.listStatus(self._path(folder))
            return sorted(entry.getPath().getName() for entry in entries)

    def read(self, file: str) -> bytes | None:
        with _reported(file):
            if not self._system.exists(self._path(file)):
                return None
            stream = self._system.open(self._path(file))
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()

    def write(self, file: str, data: bytes) -> None:
        with _reported(file):
            is_store = self._system.getUri().getScheme() in _OBJECT_STORES
            folder, _, name = file.rpartition("/")
            unfinished = self._path(file if is_store else f"{folder}/.{name}{TEMPORARY}")
            stream = self._system.create(unfinished, True)
            try:
                stream.write(bytearray(data))
            finally:
                stream.close()
            if not is_store:
                self._replace(unfinished, self._path(file))

    def _replace(self, source: Any, target: Any) -> None:
        """Give a file another name in one step, in the place of what has it."""
        hadoop = self._java.org.apache.hadoop.fs
        options = self._gateway.new_array(hadoop.Options.Rename, 1)
        options[0] = hadoop.Options.Rename.OVERWRITE
        context = hadoop.FileContext.getFileContext(self._system.getUri(), self._system.getConf())
        context.rename(
            self._system.makeQualified(source), self._system.makeQualified(target), options
        )

    def move(self, folder: str, target: str) -> None:
        with _reported(target):
            place = self._path(target)
            self._system.delete(place, True)
            self._system.mkdirs(place.getParent())
            if not self._system.rename(self._path(folder), place):
                raise OSError("the file system does not rename it")

    def remove(self, path: str) -> None:
        with _reported(path):
            self._system.delete(self._path(path), True)


def _local(path: str) -> Path:
    return Path(unquote(urlparse(path).path)) if path.startswith("file:") else Path(path)


@contextmanager
def _reported(path: str) -> Iterator[None]:
    """Make an error of a sink of what goes wrong, in Python or Java."""
    try:
        yield
    except SinkError:
        raise
    except Exception as error:
        raise SinkError("PO0001", f"{path} cannot be used: {first_line(error)}") from error
