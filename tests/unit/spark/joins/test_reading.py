"""Reading for joins: documents of a record batch give the witnesses that they give one by one."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest

from penstock.errors import DocumentError
from penstock.joins import WitnessReader
from penstock.kernel import WHOLE_BYTES_MAX, JoinState
from penstock.limits import Limits
from penstock.planning.programs import compile_program
from penstock.sources.memory import BytesInput, TextInput
from penstock.spark.documents import NullInput
from penstock.spark.joins.reading import read_each

PROGRAM = compile_program("S//a->x[./k->y] FOLLOWED BY{y=z,9} T//b->w[./k->z]", language="xscl")
LARGE = "<r>" + "<a><k>1</k></a>" * (WHOLE_BYTES_MAX // 15) + "</r>"
DOCUMENTS = [
    ("<a><k>1</k></a>", "S"),
    ("<a><k>1</k></a>", "T"),
    ("<b><k>2</k></b>", "T"),
    (None, "S"),
    ("<a><k>3</k></a>", None),
    ("<a><k>", "S"),
    ("<a><k>4</k></a>", "S"),
    (LARGE, "S"),
    ("a name", "S"),
    ("<b/>", "T"),
]
COMPRESSED = 6


@pytest.mark.parametrize("is_text", [False, True])
def test_all_kinds_of_documents_are_read_as_they_are_alone(is_text: bool) -> None:
    joins = JoinState(Limits())
    joins.add(0, 0, PROGRAM)
    reader = WitnessReader(joins)
    data = [xml if is_text or xml is None else xml.encode() for xml, _ in DOCUMENTS]
    if not is_text:
        data[COMPRESSED] = gzip.compress(b"<a><k>4</k></a>")
    streams = [stream for _, stream in DOCUMENTS]
    columns = [pa.array(data), pa.nulls(10), pa.nulls(10), pa.array(streams)]
    batch = pa.RecordBatch.from_arrays(columns, names=["document", "id", "time", "stream"])

    expected: list[bytes | str] = []
    for xml, stream in zip(data, streams, strict=True):
        names = ("", stream or "default", None)
        make = TextInput if isinstance(xml, str) else BytesInput
        alone = NullInput(*names) if xml is None else make(xml, *names)  # type: ignore[arg-type]
        try:
            witness = reader.read(alone.stream, alone.pieces(), alone.encoding)
        except DocumentError as error:
            expected.append(error.reason)
        else:
            expected.append(reader.joins.record(witness, 0, "", 0, 0))

    found: list[bytes | str] = []
    for one in read_each(reader, batch.slice(1), is_text, 0):
        read = one.witness
        is_bad = isinstance(read, DocumentError)
        found.append(read.reason if is_bad else reader.joins.record(read, 0, "", 0, 0))
    assert found == expected[1:]
    assert sum(isinstance(one, bytes) and len(one) > 0 for one in found) == 4
