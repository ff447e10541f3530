"""Folders of any file system that Spark writes to: a local disk, HDFS, an object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import SinkError
from penstock.sinks.base import first_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Folders:
    """The file system of a path, as the session's driver sees it.

    Raises:
        SinkError: The file system cannot be reached, or the session has no driver of its own.
    """

    def __init__(self, spark: SparkSession, path: str) -> None:
        self._path = path
        # Spark Connect has no such attributes, and raises another error in every release.
        try:
            assert spark._jvm is not None, "a session has its Java"
            self._package = spark._jvm.org.apache.hadoop.fs
            settings = spark._jsparkSession.sessionState().newHadoopConf()
            self._system: Any = self._package.Path(path).getFileSystem(settings)
        except Exception as error:
            message = f"{path} cannot be reached: {first_line(error)}"
            raise SinkError("PO0001", message) from error

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder; none if there is no folder."""
        place = self._package.Path(folder)
        try:
            if not self._system.exists(place):
                return []
            return [entry.getPath().getName() for entry in self._system.listStatus(place)]
        except Exception as error:
            raise self._failure("read", error) from error

    def read(self, file: str) -> bytes | None:
        """Return what a small file holds, or None if there is none."""
        place = self._package.Path(file)
        try:
            if not self._system.exists(place):
                return None
            stream = self._system.open(place)
            try:
                return bytes(stream.readAllBytes())
            finally:
                stream.close()
        except Exception as error:
            raise self._failure("read", error) from error

    def move(self, folder: str, target: str) -> None:
        """Give a folder another name, in the place of what has it."""
        source, place = self._package.Path(folder), self._package.Path(target)
        try:
            self._system.delete(place, True)
            self._system.mkdirs(place.getParent())
            is_moved = self._system.rename(source, place)
        except Exception as error:
            raise self._failure("written", error) from error
        if not is_moved:
            raise SinkError("PO0001", f"{target} cannot be written")

    def remove(self, folder: str) -> None:
        """Remove a folder with everything in it, if it is there."""
        try:
            self._system.delete(self._package.Path(folder), True)
        except Exception as error:
            raise self._failure("written", error) from error

    def _failure(self, what: str, error: Exception) -> SinkError:
        return SinkError("PO0001", f"{self._path} cannot be {what}: {first_line(error)}")
