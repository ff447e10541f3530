"""The documents of record batches, read for joins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from penstock.engine.driver import Driver, Pace
from penstock.engine.follower import Fixed
from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import BUNDLE_DOCUMENTS_MAX, Witness
from penstock.sources.inputs import Input
from penstock.spark.documents import documents_of

if TYPE_CHECKING:
    import pyarrow as pa

# Nothing counts the bytes of witnesses, so they are taken after every bundle.
_PACE = Pace(bundle_documents_max=BUNDLE_DOCUMENTS_MAX, is_prompt=False)


def read_witnesses(
    reader: WitnessReader, batch: pa.RecordBatch, is_text: bool
) -> Iterator[tuple[Input, Witness | DocumentError]]:
    """Yield the documents of a batch, each with its witness or with what is wrong with it.

    The first four columns of a batch are document, id, time and stream.
    """
    streams = [stream or "default" for stream in batch.column(3).to_pylist()]
    driver = Driver(Fixed(reader.session), _PACE)
    for portion in driver.run(documents_of(batch.column(0), is_text, streams)):
        found = dict[int, Witness | DocumentError]([*portion.batch.witnesses(), *portion.errors])
        for number, document in enumerate(portion.documents):
            yield document, found[number]
