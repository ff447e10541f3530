"""Documents of a pipeline's sources, to be looked at again when it is over."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from penstock.sources import Input, inputs
from penstock.sources.listing import list_files
from penstock.sources.paths import RecordPath
from penstock.sources.records import documents_of, records
from penstock.sources.stores import has_store
from penstock.spark.pipelines.configuration import Pipeline
from penstock.spark.pipelines.settings import FileSource

_FILES_MAX = 3
_RECORDS_MAX = 100


def sample_documents(pipeline: Pipeline) -> Iterator[Input]:
    """Yield the first documents, or records, of sources that are local files."""
    for source in pipeline.sources:
        if isinstance(source, FileSource) and not has_store(source.path):
            yield from islice(_documents(source), _RECORDS_MAX)


def _documents(source: FileSource) -> Iterator[Input]:
    try:
        files = list_files([source.path])[:_FILES_MAX]
    except OSError:
        return  # not there any more
    found = (document for file in files for document in documents_of(file, stream=source.stream))
    if source.record is None:
        yield from inputs(found)
    else:
        path = RecordPath(source.record, source.namespaces)
        yield from inputs(records(found, path, stream=source.stream))
