"""Rows in a table that Spark reaches through JDBC; a batch is one transaction."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from penstock.errors import SinkError
from penstock.sinks.base import Sink, WriteMode, first_line, java_of, known_mode, refusal
from penstock.sinks.tables import TYPES, checked_name, columns

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ATTEMPT = "attempt"
_SHORT = f"id VARCHAR(64), run VARCHAR(100), {_ATTEMPT} VARCHAR(32)"
"""Columns that are compared; Spark's type for text is one that not every database compares."""


class JdbcSink(Sink):
    """A table that Spark's JDBC writer reaches; ``options`` are those of the writer.

    Workers write a batch to the table ``…_staging``; from there one transaction moves it, and
    removes what it replaces: an earlier attempt at the batch and, with ``upsert``, the rows of
    earlier batches that have the same id. One pipeline writes to the table at a time. A table
    that is missing is made with Spark's types; make it beforehand for others.

    Raises:
        ValueError: The name of the table or the mode is not valid.
    """

    modes = ("upsert", "append", "overwrite", "fail")

    def __init__(
        self,
        url: str,
        table: str = "results",
        options: Mapping[str, str] | None = None,
        write_mode: WriteMode | None = None,
    ) -> None:
        self.url = url
        self.table = checked_name(table)
        self.options = dict(options or {})
        self.write_mode = known_mode(type(self), write_mode)

    @property
    def place(self) -> str:
        """The address without what may be secret in it."""
        return re.sub(r"//[^/@]*@", "//", re.split(r"[?;]", self.url)[0])

    @property
    def staging(self) -> str:
        """The table through which batches go."""
        return f"{self.table}_staging"

    def begin(self, spark: SparkSession, run: str | None) -> None:
        """Refuse a run if there are rows of another one and the mode is ``fail``."""
        if self.write_mode != "fail":
            return
        reader = spark.read.format("jdbc").options(**self.options)
        try:
            table = reader.option("url", self.url).option("dbtable", self.table).load()
            others = table if run is None else table.where(table["run"] != run)
            is_taken = not others.isEmpty()
        except Exception:
            # No two databases say in the same way that there is no table. If it is something
            # else, writing fails of the same.
            return
        if is_taken:
            raise refusal(f"the table `{self.table}` at {self.place}")

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch in the place of an earlier attempt at it."""
        from pyspark.sql import functions

        attempt = uuid4().hex
        flat = rows.select(*columns(run, batch))
        try:
            self._save(flat.limit(0), self.table)
            self._save(flat.withColumn(_ATTEMPT, functions.lit(attempt)), self.staging)
            self._move(rows.sparkSession, attempt, batch, run)
        except SinkError:
            raise
        except Exception as error:
            message = (
                f"the table `{self.table}` at {self.place} cannot be written: {first_line(error)}"
            )
            raise SinkError("PO0001", message) from error

    def _save(self, flat: DataFrame, table: str) -> None:
        types = [self.options.get("createTableColumnTypes", ""), _SHORT]
        if _ATTEMPT not in flat.columns:
            types[1] = _SHORT.rpartition(",")[0]
        writer = flat.write.format("jdbc").mode("append").options(**self.options)
        writer = writer.option("createTableColumnTypes", ", ".join(filter(None, types)))
        writer.option("url", self.url).option("dbtable", table).save()

    def _move(self, spark: SparkSession, attempt: str, batch: int, run: str) -> None:
        dialect, connection = self._connected(spark)
        quoted = {name: dialect.quoteIdentifier(name) for name in (*TYPES, _ATTEMPT)}
        names = ", ".join(quoted[name] for name in TYPES)
        own_run = f"{quoted['run']} = {_literal(run)}"
        own_rows = f"{quoted[_ATTEMPT]} = {_literal(attempt)}"
        statements = [f"DELETE FROM {self.table} WHERE {own_run} AND {quoted['batch']} = {batch}"]
        if self.write_mode == "overwrite":
            statements.append(f"DELETE FROM {self.table} WHERE NOT ({own_run})")
        if self.write_mode == "upsert":
            ids = f"SELECT {quoted['id']} FROM {self.staging} WHERE {own_rows}"
            statements.append(f"DELETE FROM {self.table} WHERE {quoted['id']} IN ({ids})")
        moved = f"SELECT {names} FROM {self.staging} WHERE {own_rows}"
        statements.append(f"INSERT INTO {self.table} ({names}) {moved}")
        # What a killed run left there goes, too: one pipeline at a time writes to the table.
        statements.append(f"DELETE FROM {self.staging}")
        with closing(connection):
            connection.setAutoCommit(False)
            try:
                with closing(connection.createStatement()) as statement:
                    for text in statements:
                        statement.executeUpdate(text)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise

    def _connected(self, spark: SparkSession) -> tuple[Any, Any]:
        """Return Spark's dialect of the database, and a connection as Spark makes it."""
        jvm = java_of(spark)
        if jvm is None:
            message = f"the table at {self.place} needs a session with a driver of its own, and "
            raise SinkError("PO0002", message + "Spark Connect has none")
        parameters = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(self.options)
        package = jvm.org.apache.spark.sql.execution.datasources.jdbc
        options = package.JDBCOptions(self.url, self.table, parameters)
        dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(self.url)
        return dialect, dialect.createConnectionFactory(options).apply(-1)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
