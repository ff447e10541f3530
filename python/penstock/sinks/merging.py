"""Rows in tables whose commits are atomic: what Delta and Iceberg have in common.

A batch is one commit, so it is in the table whole or not at all. With ``upsert`` the commit is a
``MERGE`` by result id: rows of earlier batches with the ids of new ones go, and all rows of the
batch come.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

from penstock.errors import SinkError
from penstock.sinks.base import Sink, WriteMode, first_line, java_of, known_mode, refusal
from penstock.sinks.releases import require_release
from penstock.sinks.tables import id_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OWN = ("id", "run", "batch")
"""The columns of a table beside those of the rows."""

_KEY, _IS_ROW = "__penstock_key", "__penstock_is_row"


class MergingSink(Sink):
    """A table of a format with atomic commits, at a path or by its name in a catalog.

    The columns are those of the rows, then the hash ``id`` of a result's id, ``run`` and
    ``batch``. A table that is missing is made, with ``partition_by`` as its partitions.

    Raises:
        ValueError: The mode is not valid, or the place is not one of a path and a name.
    """

    modes = ("upsert", "append", "overwrite", "fail")
    format: ClassVar[str]
    """Spark's name of the format."""
    releases: ClassVar[tuple[str, ...]]
    """The releases of Spark with which the format is tested."""
    library: ClassVar[str]
    """The coordinates of its jar, and a class that is in it."""
    library_class: ClassVar[str]

    def __init__(
        self,
        path: str | None = None,
        table: str | None = None,
        write_mode: WriteMode | None = None,
        partition_by: Sequence[str] = (),
    ) -> None:
        if (path is None) == (table is None):
            raise ValueError(f"{type(self).__name__} needs a path or a table's name, not both")
        self.path = None if path is None else path.rstrip("/") or "/"
        self.table = table
        self.partition_by = tuple(partition_by)
        self.write_mode = known_mode(type(self), write_mode)

    @property
    def place(self) -> str:
        """The table, for people."""
        return f"the table `{self.table}`" if self.path is None else f"the table at {self.path}"

    @abstractmethod
    def name(self, spark: SparkSession) -> str:
        """Return the name of the table in SQL."""

    @abstractmethod
    def _exists(self, spark: SparkSession) -> bool: ...

    @abstractmethod
    def _create(self, spark: SparkSession, empty: DataFrame) -> None: ...

    @abstractmethod
    def _append(self, rows: DataFrame, batch: int, run: str) -> None:
        """Add a batch in one commit, unless the table has it."""

    @abstractmethod
    def _execute(self, spark: SparkSession, statement: str, batch: int, run: str) -> None:
        """Run a statement that is one commit, unless the table has the batch."""

    def begin(self, spark: SparkSession, run: str | None) -> None:
        """Check Spark and its libraries; refuse a run if the mode is ``fail`` and there is one."""
        self._require(spark)
        if self.write_mode != "fail":
            return
        with self._reported():
            is_taken = self._exists(spark) and self._has_others(spark, run)
        if is_taken:
            raise refusal(self.place)

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch, unless the table has it.

        Raises:
            SinkError: The rows cannot be written, or not with this version of Spark.
        """
        spark = rows.sparkSession
        self._require(spark)
        with self._reported():
            flat = flat_rows(rows, batch, run)
            if self._exists(spark):
                require_columns(self.place, self._read(spark).columns, flat)
            else:
                self._create(spark, flat.limit(0))
            is_alone = self.write_mode != "overwrite" or not self._has_others(spark, run)
            if is_alone and self.write_mode != "upsert":
                self._append(flat, batch, run)
            else:
                self._merge(flat, batch, run, is_alone)

    def _require(self, spark: SparkSession) -> None:
        what = f"{self.format.capitalize()} tables"
        require_release(spark.version, self.releases, what)
        jvm = java_of(spark)
        if jvm is None:
            message = f"{what} need a session with a driver of its own, and Spark Connect has none"
            raise SinkError("PO0002", message)
        if not jvm.org.apache.spark.util.Utils.classIsLoadable(self.library_class):
            message = f"{what} need a library; add `spark.jars.packages: {self.library}` to the "
            raise SinkError("PO0006", f"{message}settings of Spark")

    def _read(self, spark: SparkSession) -> DataFrame:
        return spark.table(self.name(spark))

    def _has(self, spark: SparkSession, batch: int, run: str) -> bool:
        table = self._read(spark)
        return not table.where((table["run"] == run) & (table["batch"] == batch)).isEmpty()

    def _has_others(self, spark: SparkSession, run: str | None) -> bool:
        table = self._read(spark)
        return not (table if run is None else table.where(table["run"] != run)).isEmpty()

    def _merge(self, flat: DataFrame, batch: int, run: str, is_alone: bool) -> None:
        """Put a batch into the table and take out what it replaces, in one commit."""
        from pyspark.sql import functions as f

        # Rows of one batch never replace each other, so they have no key and come as they are;
        # beside them stands each id once, and takes the rows of earlier batches out.
        spark = flat.sparkSession
        source = flat.withColumns({_KEY: f.lit(None).cast("string"), _IS_ROW: f.lit(True)})
        if self.write_mode == "upsert":
            keys = flat.where("id IS NOT NULL").select(f.col("id").alias(_KEY)).distinct()
            replaced = keys.withColumn(_IS_ROW, f.lit(False))
            source = source.unionByName(replaced, allowMissingColumns=True)
        view = f"penstock_{uuid4().hex}"
        source.createOrReplaceTempView(view)
        names = ", ".join(quoted(name) for name in flat.columns)
        values = ", ".join(f"s.{quoted(name)}" for name in flat.columns)
        statement = (
            f"MERGE INTO {self.name(spark)} t USING {view} s ON t.id = s.{_KEY} "
            "WHEN MATCHED THEN DELETE "
            f"WHEN NOT MATCHED AND s.{_IS_ROW} THEN INSERT ({names}) VALUES ({values})"
        )
        if not is_alone:
            statement += f" WHEN NOT MATCHED BY SOURCE AND t.run <> {literal(run)} THEN DELETE"
        try:
            self._execute(spark, statement, batch, run)
        finally:
            spark.catalog.dropTempView(view)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except SinkError:
            raise
        except Exception as error:
            message = f"{self.place} cannot be written: {first_line(error)}"
            raise SinkError("PO0001", message) from error


def flat_rows(rows: DataFrame, batch: int, run: str) -> DataFrame:
    """Return rows with the columns that a table has beside theirs.

    Raises:
        SinkError: They have one of them already.
    """
    from pyspark.sql import functions as f

    taken = [name for name in rows.columns if name.lower() in OWN]
    if taken:
        message = f"the rows have a column `{taken[0]}`, which is one of the table's own"
        raise SinkError("PO0002", f"{message}; rename that of the documents")
    own = (id_column(), f.lit(run), f.lit(batch).cast("long"))
    return rows.select("*", *(column.alias(name) for column, name in zip(own, OWN, strict=True)))


def require_columns(place: str, present: Sequence[str], rows: DataFrame) -> None:
    """Return if a table has all columns of rows; it may have more.

    Raises:
        SinkError: One is missing.
    """
    known = {name.lower() for name in present}
    missing = [name for name in rows.columns if name.lower() not in known]
    if missing:
        message = f"{place} has no column `{missing[0]}`; add it, or name another table"
        raise SinkError("PO0003", message)


def literal(text: str) -> str:
    """Return a text as Spark's SQL writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted(name: str) -> str:
    """Return a name as Spark's SQL writes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
