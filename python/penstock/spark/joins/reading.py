"""The documents of record batches, read for joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.engine.follower import Fixed
from penstock.engine.reading import Pace, Reader
from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import BUNDLE_DOCUMENTS_MAX, Witness
from penstock.sources.inputs import Input
from penstock.spark.documents import documents_of
from penstock.spark.joins.bindings import Bound

if TYPE_CHECKING:
    import pyarrow as pa

# Nothing counts the bytes of witnesses, so they are taken after every bundle.
_PACE = Pace(bundle_documents_max=BUNDLE_DOCUMENTS_MAX, is_prompt=False)


@dataclass(slots=True)
class ReadDocument:
    """A document with its witness, or with what is wrong with it.

    ``bindings`` are what the sides of queries over streams bind; a document that failed has none.
    ``failing`` are the sides that failed alone.
    """

    document: Input
    witness: Witness | DocumentError
    bindings: list[Bound] = field(default_factory=list)
    failing: list[tuple[int, DocumentError]] = field(default_factory=list)


def read_each(
    reader: WitnessReader, batch: pa.RecordBatch, is_text: bool, sides: int
) -> Iterator[ReadDocument]:
    """Yield the documents of a batch, each with its witness or with what is wrong with it.

    The first four columns of a batch are document, id, time and stream. What so many sides bind
    comes with the document.
    """
    streams = [stream or "default" for stream in batch.column(3).to_pylist()]
    # Sides have no names: an error of one says its number.
    reading = Reader(Fixed(reader.session, [*map(str, range(sides))]), _PACE)
    bindings: dict[int, list[Bound]] = {}
    failing: dict[int, list[tuple[int, DocumentError]]] = {}
    start = 0
    for portion in reading.run(documents_of(batch.column(0), is_text, streams)):
        found: dict[int, Witness | DocumentError] = {}
        found.update(portion.batch.witnesses())
        for number, error in portion.errors:
            if error.subscription is None:
                found[number] = error
            else:
                failing.setdefault(number, []).append((int(error.subscription), error))
        if sides:
            for number, side, at, values, fragment in portion.batch.take_bindings(0).bindings():
                bindings.setdefault(number, []).append(Bound(side, at, values, fragment))
        end = len(portion.documents) - portion.is_open
        for number in range(start, end):
            one = ReadDocument(portion.documents[number], found[number])
            if not isinstance(one.witness, DocumentError):
                one.bindings = bindings.pop(number, [])
                one.failing = failing.pop(number, [])
            yield one
        start = end
        if not portion.is_open:
            bindings, failing, start = {}, {}, 0
