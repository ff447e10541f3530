"""Results in bulk, as Arrow record batches: which subscriptions matched, and each node once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.engine.messages import MessagePage
from penstock.engine.reading import Pace, Portion
from penstock.kernel import BUNDLE_DOCUMENTS_MAX, Plan, Session
from penstock.planning.program import Request
from penstock.registry import AnyRegistry
from penstock.registry.plans.names import AttachedNames, look_up
from penstock.registry.requests import require_requests
from penstock.registry.subscriptions import Snapshot
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

_ENTRY = ("document", "subscription", "offsets", "sizes", "values")
_DOCUMENT = ("document", "stream", "event_time")
FRAGMENT = ("kind", "name", "value", "start", "end", "bindings")
"""The columns that say what was found."""


@dataclass(frozen=True, slots=True)
class Matches:
    """What some documents gave.

    ``entries`` says who found something where: ``document`` is a row of ``documents``,
    ``subscription`` a number that ``names`` names, and ``fragments`` lists rows of ``fragments``;
    a filter lists none. A subscription may have several entries for a document. Lists and
    fragments are shared by all who found the same. ``errors`` are rows as ``batches`` has them, and
    so are ``joined``, those of joins, which only pushed documents have.
    """

    documents: pa.RecordBatch
    entries: pa.RecordBatch
    fragments: pa.RecordBatch
    errors: pa.RecordBatch
    names: Sequence[str]
    joined: pa.RecordBatch

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
        joined = portion.joined
        yield Matches(
            _documents(portion.documents),
            pa.record_batch(entries),
            fragments_of(fragments),
            batch_of(portion.error_rows()),
            portion.names,
            joined.batch() if isinstance(joined, MessagePage) else batch_of([*joined]),
        )


def without_joins(registry: AnyRegistry, documents: Iterable[Input]) -> Iterator[Input]:
    """Return the documents; the iterator raises as soon as a later subscription joins them.

    Raises:
        RegistryError: A subscription joins documents.
    """
    snapshot = registry.snapshot()
    _require_rows(snapshot)
    return _checked(registry, snapshot, documents)


def _checked(
    registry: AnyRegistry, checked: Snapshot, documents: Iterable[Input]
) -> Iterator[Input]:
    for document in documents:
        snapshot = registry.snapshot()
        if snapshot is not checked:
            _require_rows(snapshot)
            checked = snapshot
        yield document


def _require_rows(snapshot: Snapshot) -> None:
    served = (Request.ROWS, Request.MESSAGES)
    require_requests(snapshot, served, "Engine.matches", "Engine.run")


def merged(portions: Iterable[Portion]) -> Matches:
    """Return the matches of all portions as one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    several = [*matches_of(portions)]
    if not several:
        session = Session(Plan.build([]))
        several = [*matches_of([Portion((), session, (), session.take(), (), ())])]
    if len(several) == 1:
        return several[0]
    names = AttachedNames(one.names for one in several)
    firsts = dict.fromkeys(("document", "fragment", "place"), 0)
    columns: dict[str, list[Any]] = {name: [] for name in _ENTRY}
    fragments = []

    def behind(numbers: Any, first: int) -> Any:
        return pc.add(numbers, pa.scalar(first, numbers.type))

    for one, first in zip(several, names.starts, strict=False):
        document, subscription, lists = one.entries.columns
        columns["document"].append(behind(document, firsts["document"]))
        columns["subscription"].append(behind(subscription, first))
        columns["offsets"].append(behind(lists.offsets, firsts["place"]))
        columns["sizes"].append(lists.sizes)
        columns["values"].append(behind(lists.values, firsts["fragment"]))
        moved = behind(one.fragments.column("document"), firsts["document"])
        fragments.append(one.fragments.set_column(0, "document", moved))
        firsts["document"] += len(one.documents)
        firsts["fragment"] += len(one.fragments)
        firsts["place"] += len(lists.values)
    whole = {name: pa.concat_arrays(parts) if parts else [] for name, parts in columns.items()}
    places = (whole.pop(name) for name in ("offsets", "sizes", "values"))
    return Matches(
        pa.concat_batches([one.documents for one in several]),
        pa.record_batch(whole | {"fragments": pa.ListViewArray.from_arrays(*places)}),
        pa.concat_batches(fragments),
        pa.concat_batches([one.errors for one in several]),
        names,
        pa.concat_batches([one.joined for one in several]),
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
