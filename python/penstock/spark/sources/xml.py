"""The data source ``penstock-xml``: documents, or records split from them, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from penstock.sources.listing import Listed, list_files
from penstock.sources.stores import LOCAL
from penstock.spark.features import Feature, require
from penstock.spark.schema import schema_of
from penstock.spark.sources import offsets
from penstock.spark.sources.bounds import (
    Reached,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from penstock.spark.sources.options import (
    XML_COLUMNS,
    XmlOptions,
    chosen_columns,
    require_columns,
)
from penstock.spark.sources.partitions import plan_units
from penstock.spark.sources.reading import batches_of

_WAY_OUT = (
    "leave it away, or set oneBatchPerRun to true: then a run with the trigger availableNow reads "
    "one micro-batch"
)


class PenstockXml(DataSource):
    """XML files, folders, globs, gz, zip and tar as rows: a document, or a record of one, each.

    Columns: ``id`` (path, ``!`` and the name in the archive, ``#`` and the number of the record),
    ``xml`` (UTF-8 for records, as it is for documents), ``path``, ``member``, ``offset`` and
    ``length`` (bytes in the document), ``ancestors``, ``ts`` (when the file or member was
    modified) and ``fault``. What cannot be read, or not to the end, gives one row with ``fault``
    and without ``xml``, after the records before the error.

    Options: ``path``; ``recordPath``, ``namespaces`` and ``ancestors`` (the latter two JSON
    objects); ``mode`` (PERMISSIVE, DROPMALFORMED, FAILFAST); ``maxPartitionBytes``;
    ``maxDocumentBytes``; ``pathGlobFilter``; ``recursiveFileLookup`` (true unless said
    otherwise); ``limits`` (a JSON object of ``Limits``); ``columns`` (names and commas: only these
    are made); for streams ``maxFilesPerTrigger`` and
    ``maxBytesPerTrigger``, which Spark before 4.2 takes with ``oneBatchPerRun`` only.
    """

    stores = LOCAL
    """How files of object stores and HDFS are reached; ``register`` takes it from Hadoop."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "penstock-xml"

    def schema(self) -> StructType:
        """Return the columns that the option ``columns`` names, or all."""
        return schema_of({name: XML_COLUMNS[name] for name in chosen_columns(self.options)})

    def reader(self, schema: Any) -> XmlReader:
        """Return what reads a batch."""
        return XmlReader(self._options(schema))

    def streamReader(self, schema: Any) -> XmlStreamReader:  # noqa: N802
        """Return what reads a stream."""
        return XmlStreamReader(self._options(schema))

    def _options(self, schema: StructType) -> XmlOptions:
        """Return the options with the columns of a schema, which the user may have given."""
        options = XmlOptions.of(self.options)
        names = tuple(schema.fieldNames())
        require_columns(names)
        for given, own in zip(schema, schema_of({n: XML_COLUMNS[n] for n in names}), strict=True):
            if given.dataType != own.dataType:
                found, needed = given.dataType.simpleString(), own.dataType.simpleString()
                raise ValueError(f"the column `{given.name}` is {needed}, not {found}")
        return replace(options, columns=names, stores=self.stores)


class _Files:
    """Files that the options stand for."""

    def __init__(self, options: XmlOptions) -> None:
        self._options = options

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the rows of a task as record batches."""
        return batches_of(partition.value, self._options)

    def _list(self) -> list[Listed]:
        options = self._options
        return list_files(options.paths, options.is_recursive, options.name_glob, options.stores)

    def _partitions(self, files: list[Listed]) -> list[InputPartition]:
        # Where there is nothing to read, Spark would ask for a partition of its own making.
        return [InputPartition(units) for units in plan_units(files, self._options) or [()]]


class XmlReader(_Files, DataSourceReader):
    """Reads what is there."""

    def partitions(self) -> Sequence[InputPartition]:
        """Return what each task reads."""
        return self._partitions(self._list())


class XmlStreamReader(_Files, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads files as they appear, each once, by its path.

    A file should be complete when it appears: write it elsewhere and move it. The offset of a
    micro-batch names its files, so a replay reads the same.

    Spark before 4.2 does not say that it wants all that is there now, and asks for one offset only.
    """

    def __init__(self, options: XmlOptions) -> None:
        super().__init__(options)
        is_bounded = options.files_per_trigger_max or options.bytes_per_trigger_max
        if is_bounded and not options.is_one_batch_per_run:
            require(
                Feature.READ_LIMITS, "a stream with maxFilesPerTrigger or its like needs", _WAY_OUT
            )
        self._reached = Reached()
        self._target: frozenset[str] | None = None
        self._waiting = 0

    def initialOffset(self) -> offsets.Offset:  # noqa: N802
        """Return the offset before the first file."""
        return offsets.initial()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return the bound of a micro-batch."""
        if self._options.files_per_trigger_max is not None:
            return ReadMaxFiles(self._options.files_per_trigger_max)
        if self._options.bytes_per_trigger_max is not None:
            return ReadMaxBytes(self._options.bytes_per_trigger_max)
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Take down what is there now; nothing later is read."""
        self._target = frozenset(file.path for file in self._list())

    def latestOffset(  # noqa: N802
        self, start: offsets.Offset | None = None, limit: ReadLimit | None = None
    ) -> offsets.Offset:
        """Return the offset after the next micro-batch, or ``start`` if there is nothing new."""
        start = self._reached.start(start, offsets.initial())
        present = self._list()
        new = offsets.unseen(start, present)
        if self._target is not None:
            new = [file for file in new if file.path in self._target]
        chosen = _choose(new, limit or self.getDefaultReadLimit())
        self._waiting = len(new) - len(chosen)
        return self._reached.note(offsets.advance(start, present, chosen) if chosen else start)

    def reportLatestOffset(self) -> offsets.Offset:  # noqa: N802
        """Return, for the stream's progress, how many files wait behind the micro-batch."""
        return {offsets.WAITING: self._waiting}

    def partitions(self, start: offsets.Offset, end: offsets.Offset) -> Sequence[InputPartition]:
        """Return what each task of a micro-batch reads."""
        self._reached.resume(end)
        return [] if start == end else self._partitions(offsets.files_of(end))


def _choose(files: list[Listed], limit: ReadLimit) -> list[Listed]:
    match limit:
        case ReadMaxFiles(max_files=count):
            return files[:count]
        case ReadMaxBytes(max_bytes=bytes_max):
            total = 0
            for index, file in enumerate(files):
                total += file.size
                # One file always goes, or a large one would stop the stream.
                if index and total > bytes_max:
                    return files[:index]
            return files
        case _:
            return files
