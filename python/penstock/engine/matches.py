"""Results in bulk, as Arrow record batches: which subscriptions matched, and each node once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.engine.driver import Pace, Portion
from penstock.kernel import BUNDLE_DOCUMENTS_MAX
from penstock.registry.plans.names import look_up
from penstock.results.arrow import batch_of, kernel_arrays, kind_names, schema
from penstock.results.html import ROWS_MAX, table
from penstock.sources import Input

if TYPE_CHECKING:
    import pyarrow as pa

PACE = Pace(
    rows_max=1 << 20,
    value_bytes_max=64 << 20,
    documents_max=256,
    linger_seconds=0.05,
    bundle_documents_max=BUNDLE_DOCUMENTS_MAX,
    with_times=False,
    is_prompt=False,
)

_DOCUMENT = ("document", "stream", "event_time")
FRAGMENT = ("kind", "name", "value", "start", "end", "bindings")
"""The columns that say what was found."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What some documents gave.

    ``entries`` says who found something where: ``document`` is a row of ``documents``,
    ``subscription`` a number that ``names`` names, and ``fragments`` lists rows of ``fragments``;
    a filter lists none. A subscription may have several entries for a document. Lists and
    fragments are shared by all who found the same. ``errors`` are rows as ``batches`` has them.
    """

    documents: pa.RecordBatch
    entries: pa.RecordBatch
    fragments: pa.RecordBatch
    errors: pa.RecordBatch
    names: Sequence[str]

    def __repr__(self) -> str:
        counts = (
            f"{len(getattr(self, name))} {name}"
            for name in ("documents", "entries", "fragments", "errors")
        )
        return f"<Matches: {', '.join(counts)}>"

    def _repr_html_(self) -> str:
        names = self.subscriptions().slice(0, ROWS_MAX).to_pylist()
        documents = self.documents.column("document")
        rows = [
            (name, documents[entry["document"]].as_py(), len(entry["fragments"] or ()))
            for name, entry in zip(names, self.entries.slice(0, ROWS_MAX).to_pylist(), strict=True)
        ]
        return table(("subscription", "document", "fragments"), rows, repr(self)[1:-1])

    def subscriptions(self) -> Any:
        """Return the names of the entries' subscriptions, as an Arrow array."""
        return look_up(self.names, self.entries.column("subscription"))


def matches_of(portions: Iterable[Portion]) -> Iterator[Matches]:
    """Yield the matches of portions."""
    import pyarrow as pa

    for portion in portions:
        entries, fragments = portion.batch.matches()
        yield Matches(
            _documents(portion.documents),
            pa.record_batch(entries),
            fragments_of(fragments),
            batch_of(portion.further_rows()),
            portion.names,
        )


def _documents(documents: Sequence[Input]) -> Any:
    import pyarrow as pa

    columns = [
        pa.array([getattr(document, name) for document in documents], schema().field(name).type)
        for name in _DOCUMENT
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(_DOCUMENT))


def fragments_of(columns: Any) -> Any:
    """Return the kernel's columns of fragments as a record batch."""
    import pyarrow as pa

    arrays = kernel_arrays(columns)
    arrays["kind"] = kind_names().take(arrays["kind"])
    names = ["document", *FRAGMENT]
    return pa.RecordBatch.from_arrays([arrays[name] for name in names], names=names)
