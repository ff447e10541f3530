"""The rows of tables as Arrow record batches with their own columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from penstock.engine.reading import Pace, Portion
from penstock.engine.table_schema import table_schema
from penstock.errors import DocumentError, PenstockWarning, RegistryError
from penstock.kernel import BUNDLE_DOCUMENTS_MAX
from penstock.planning.program import Request
from penstock.planning.programs import compile_program
from penstock.registry import AnyRegistry
from penstock.registry.requests import requests_of
from penstock.registry.subscriptions import Subscription
from penstock.twigs import Query
from penstock.twigs.tables import Table

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(
    rows_max=16 << 10,
    value_bytes_max=4 << 20,
    documents_max=16 << 10,
    linger_seconds=0.5,
    bundle_documents_max=BUNDLE_DOCUMENTS_MAX,
    with_times=False,
)


class TableRows:
    """Takes the rows of one table out of portions.

    ``report`` hears of documents that failed. Without it they raise, or are warned of if the
    table sets them aside.
    """

    def __init__(
        self,
        name: str,
        query: Query,
        report: Callable[[DocumentError, str], None] | None = None,
    ) -> None:
        assert isinstance(query.output, Table), "only tables have columns"
        self.name = name
        self.schema = table_schema(query.output)
        self.query = query
        if report is None:
            report = _warn if query.output.on_error == "quarantine" else _raise
        self._report = report
        self._program = compile_program(query)
        self._names: Sequence[str] = ()
        self._number = -1

    def batches(self, portions: Iterable[Portion]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of portions; an error comes behind the rows before it.

        Raises:
            DocumentError: A document failed, unless the table sets such documents aside: then
                they are warned of.
        """
        import pyarrow as pa

        for portion in portions:
            number = self._number_in(portion.names)
            if portion.batch.row_count and number >= 0:
                batch = pa.record_batch(portion.batch.table(number, self._program))
                if batch.num_rows:
                    yield batch
            for place, error in portion.errors:
                if error.subscription in (None, self.name):
                    self._report(error, portion.documents[place].document)

    def _number_in(self, names: Sequence[str]) -> int:
        if names is not self._names:
            self._names = names
            self._number = next((at for at, name in enumerate(names) if name == self.name), -1)
        return self._number


def _raise(error: DocumentError, document: str) -> None:
    raise error


def _warn(error: DocumentError, document: str) -> None:
    warnings.warn(f"the document {document} failed: {error}", PenstockWarning, stacklevel=4)


def find_table(registry: AnyRegistry, name: str | None) -> TableRows:
    """Return the table of a name, or the only one.

    Raises:
        RegistryError: There is none, or there are several.
    """
    if name is not None:
        subscription = registry[name]
        if not _is_table(subscription):
            raise RegistryError("PR0016", f"`{name}` is no table; use Engine.run")
        return TableRows(name, subscription.query)
    requests = requests_of(registry.snapshot(), Request.MESSAGES)
    found = [one for one in map(registry.__getitem__, requests) if _is_table(one)]
    match found:
        case [only]:
            return TableRows(only.name, only.query)
        case []:
            message = "no subscription is a table; registry.add('name', penstock.table(…))"
            raise RegistryError("PR0016", message)
        case _:
            names = ", ".join(f"`{one.name}`" for one in found[:5])
            raise RegistryError("PR0016", f"there are several tables: {names}; say which one")


def _is_table(subscription: Subscription) -> bool:
    question = subscription.question
    if isinstance(question, Query):
        return isinstance(question.output, Table)
    return subscription.language == "table"
