"""What ``Engine.matches`` gives as rows of a DataFrame: one for a document, nothing for a pair.

A row lists who found something, those who found the same in one entry, and each fragment once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.engine.matches import FRAGMENT, fragments_of
from penstock.kernel import Batch
from penstock.registry.plans.names import look_up
from penstock.results import COLUMNS
from penstock.results import arrow as rows_in_arrow
from penstock.spark.rows import assemble

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

MATCHES = "matches"
"""The kind of a row that is no error."""
OWN_COLUMNS = ("subscription", "document", "stream", "event_time", "kind", "error", "source")
"""Columns that rows in bulk share with other rows; of a result the first and last two are null."""
COLUMNS_IN_BULK = (*OWN_COLUMNS, "entries", "fragments")


@cache
def arrow_schema() -> Any:
    """Return the schema of rows in bulk in Arrow, without the columns that come along."""
    import pyarrow as pa

    rows = rows_in_arrow.schema()
    fragment = pa.struct([rows.field(name) for name in FRAGMENT])
    entry = pa.struct(
        [
            pa.field("subscriptions", pa.list_(pa.string())),
            pa.field("fragments", pa.list_(pa.int32())),
        ]
    )
    own = [pa.field(name, rows.field(name).type) for name in OWN_COLUMNS]
    lists = (("entries", pa.list_(entry)), ("fragments", pa.list_(fragment)))
    return pa.schema([*own, *(pa.field(name, type_) for name, type_ in lists)])


@cache
def bulk_schema() -> StructType:
    """Return the schema of rows in bulk in Spark, without the columns that come along."""
    from pyspark.sql import types as t

    from penstock.spark.schema import schema_of

    texts, numbers = t.ArrayType(t.StringType()), t.ArrayType(t.IntegerType())
    entry = t.StructType(
        [t.StructField("subscriptions", texts), t.StructField("fragments", numbers)]
    )
    fragment = schema_of({name: COLUMNS[name] for name in FRAGMENT})
    own = schema_of({name: COLUMNS[name] for name in OWN_COLUMNS})
    return t.StructType(
        [
            *own.fields,
            t.StructField("entries", t.ArrayType(entry)),
            t.StructField("fragments", t.ArrayType(fragment)),
        ]
    )


def bulk_batch(batch: Batch, names: Sequence[str], inputs: Any) -> pa.RecordBatch | None:
    """Return the rows of documents in bulk; ``inputs`` are the documents, by their numbers.

    Documents in which nobody found anything have no row; None if that is true of all.
    """
    import numpy as np
    import pyarrow as pa

    entry_columns, fragment_columns = batch.matches()
    entries = pa.record_batch(entry_columns)
    if not len(entries):
        return None
    groups = _groups(entries)
    starts = _starts(groups.document)
    documents = groups.document[starts]
    fragments = fragments_of(fragment_columns)
    of_fragment = fragments.column("document").to_numpy()
    order = np.argsort(of_fragment, kind="stable")
    firsts = np.append(np.searchsorted(of_fragment[order], documents), len(order))
    if not (order[1:] > order[:-1]).all():
        fragments = fragments.take(pa.array(order))
    structs = pa.StructArray.from_arrays(
        [fragments.column(name) for name in FRAGMENT], names=list(FRAGMENT)
    )
    # Fragments are counted from the first one of their document.
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    row_of_group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(groups.document)))
    own = places[groups.listed] - np.repeat(firsts[row_of_group], np.diff(groups.lists))
    who = look_up(names, pa.array(groups.subscription)).cast(pa.string())
    pairs = pa.StructArray.from_arrays(
        [_lists(groups.members, who), _lists(groups.lists, pa.array(own.astype(np.int32)))],
        names=["subscriptions", "fragments"],
    )
    made = {
        "kind": pa.repeat(MATCHES, len(documents)),
        "entries": _lists(np.append(starts, len(pairs)), pairs),
        "fragments": _lists(firsts, structs),
    }
    besides = inputs.select(range(1, inputs.num_columns))
    return assemble(made, besides.take(pa.array(documents)), arrow_schema())


class _Groups(NamedTuple):
    """Entries of one document that list the same fragments, as arrays of numbers."""

    document: Any
    """One for each group."""
    members: Any
    """Where the subscriptions of each group begin, and where the last ones end."""
    subscription: Any
    lists: Any
    """Where the fragments of each group begin in ``listed``, and where the last ones end."""
    listed: Any


def _groups(entries: Any) -> _Groups:
    import numpy as np

    lists = entries.column("fragments")
    document = entries.column("document").to_numpy()
    count = lists.sizes.to_numpy().astype(np.int64)
    # Lists of nobody's fragments are equal wherever they begin.
    first = np.where(count == 0, 0, lists.offsets.to_numpy())
    order = np.lexsort((count, first, document))
    document, first, count = document[order], first[order], count[order]
    starts = _starts(document, first, count)
    ends = np.cumsum(count[starts])
    bounds = np.append(0, ends)
    # The numbers from ``first`` on, of one group behind the other.
    places = np.arange(bounds[-1]) + np.repeat(first[starts] - bounds[:-1], count[starts])
    return _Groups(
        document[starts],
        np.append(starts, len(order)),
        entries.column("subscription").to_numpy()[order],
        bounds,
        lists.values.to_numpy()[places],
    )


def _starts(*columns: Any) -> Any:
    """Return where runs of equal values begin in sorted columns."""
    import numpy as np

    changes = [column[1:] != column[:-1] for column in columns]
    return np.append(0, np.flatnonzero(np.logical_or.reduce(changes)) + 1)


def _lists(bounds: Any, values: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), values)
