"""From samples, or from a schema, to a table: its record, its columns, and the evidence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from penstock.engine.diagnosis.counting import count_nodes
from penstock.engine.diagnosis.names import names_of
from penstock.engine.diagnosis.samples import BYTES_MAX, Samples
from penstock.engine.follower import Fixed
from penstock.engine.inference.columns import ColumnProposer, Proposed
from penstock.engine.inference.names import Prefixes, uri_of
from penstock.engine.inference.records import Path, find_named, find_record, shape_at
from penstock.engine.inference.schemas import read_types
from penstock.engine.inference.shapes import OTHERS, Shape, read_shape
from penstock.engine.inference.writing import (
    named_columns,
    numbered_columns,
    text_columns,
    yaml_lines,
)
from penstock.engine.reading import EACH_PIECE, Reader
from penstock.errors import SettingError
from penstock.kernel import Plan, Session
from penstock.languages.tables import table
from penstock.languages.xpath import xpath
from penstock.planning.programs import compile_program
from penstock.sources import Input
from penstock.twigs import Query

_TEXTS_MAX = 2000
"""Paths that are asked for text of their own."""


@dataclass(slots=True)
class Proposal:
    """A table for a person to edit. ``headers`` are values around records, not taken as columns."""

    record: str
    namespaces: dict[str, str]
    columns: list[Proposed]
    headers: list[Proposed] = field(default_factory=list)
    records: int = 0
    documents: int = 0
    notes: list[str] = field(default_factory=list)

    def table(self) -> Query:
        """Return the table with the types that were found."""
        return table(self.record, named_columns(self.columns), namespaces=self.namespaces)

    def yaml(self) -> str:
        """Return the table as a file that a person edits and ``penstock table`` runs."""
        return "\n".join(yaml_lines(self)) + "\n"


def infer(
    read: Callable[[], Iterable[Input]], *, record: str | None = None, bytes_max: int = BYTES_MAX
) -> Proposal:
    """Return a table for the documents of samples, which are read several times.

    All values that were seen fit the types of their columns. ``record`` names the elements that
    are records; without it they are those that repeat and hold most of the values.

    Raises:
        SettingError: There is no such element, or no element at all.
    """
    documents, notes = _shape_of(read, bytes_max)
    samples = Samples(read, bytes_max, is_each=True)
    prefixes = _prefixes_of(documents, names_of(samples).prefixes)
    finder = _Finder(documents, prefixes, record, lambda one, base: one.count >= 2 * base.count)
    texts = _paths_with_text(finder.shapes(), prefixes, samples)
    proposal = finder.propose(lambda path: path in texts, notes)
    every = [*proposal.columns, *proposal.headers]
    _collect(proposal, every, samples)
    _try_types(proposal, every, samples)
    proposal.documents = documents.count
    return proposal


def infer_schema(file: FilePath, *, record: str | None = None, root: str | None = None) -> Proposal:
    """Return a table for the documents that an XML Schema describes.

    Raises:
        SchemaError: The file is no XML Schema.
        SettingError: There is no such element.
    """
    documents, types = read_types(file, root)
    prefixes = _prefixes_of(documents, {})
    finder = _Finder(documents, prefixes, record, lambda one, base: one.most > 1)
    proposal = finder.propose(lambda path: types.get(path) is not None, [])
    for column in [each for one in [*proposal.columns, *proposal.headers] for each in one.each()]:
        column.type = column.type or types.get(column.place) or "string"
    return proposal


class _Finder:
    """Finds the record, and proposes columns for it."""

    def __init__(
        self,
        documents: Shape,
        prefixes: Prefixes,
        record: str | None,
        is_repeated: Callable[[Shape, Shape], bool],
    ) -> None:
        self._documents = documents
        self._prefixes = prefixes
        if record is None:
            path = find_record(documents, is_repeated)
            if not path:
                raise SettingError("PC0011", "there is no element in the samples")
            self._paths, self._shape = [path], shape_at(documents, path)
            self._record = f"/{prefixes.path(path)}"
            return
        self._paths, self._shape = find_named(documents, record)
        if not self._paths:
            message = f"no element is called `{record}`; `penstock profile` lists the paths"
            raise SettingError("PC0011", message)
        (path, *others) = self._paths
        last = path[-(record.strip("/").count("/") + 1) :]
        self._record = f"//{prefixes.path(last)}" if others else f"/{prefixes.path(path)}"

    def shapes(self) -> Iterator[tuple[Path, Shape]]:
        """Yield the elements around records and inside, the record first."""
        for path in self._paths:
            yield path, shape_at(self._documents, path)
        for path, shape in self._documents.paths():
            if not path[-1].startswith("@") and OTHERS not in path:
                yield path, shape

    def propose(self, has_text: Callable[[Path], bool], notes: list[str]) -> Proposal:
        """Return the proposed table, without values."""
        first, *others = self._paths

        def has_some(place: Path) -> bool:
            rest = place[len(first) :]
            return has_text(place) or any(has_text((*path, *rest)) for path in others)

        proposer = ColumnProposer(self._prefixes, has_some)
        columns = proposer.columns(self._shape, first)
        headers = [] if others else proposer.headers(self._documents, first, columns)
        if proposer.left_out:
            notes.append(f"{proposer.left_out} further names were left out")
        paths = [each.path for one in [*columns, *headers] for each in one.each()]
        namespaces = self._prefixes.bindings([self._record, *paths])
        return Proposal(self._record, namespaces, columns, headers, notes=notes)


def _shape_of(read: Callable[[], Iterable[Input]], bytes_max: int) -> tuple[Shape, list[str]]:
    whole, notes = Shape(), []
    for document in read():
        profile = read_shape(document, bytes_max)
        name, failure = document.document, profile.failure
        if failure is not None and not profile.bytes:
            notes.append(f"{name} could not be read: {failure.code}")
            continue
        whole.add(profile.shape)
        if failure is not None:
            notes.append(f"{name} failed and is known in part: {failure.code}")
        elif profile.is_cut:
            notes.append(f"{name} was read in part")
    return whole, notes


def _prefixes_of(documents: Shape, known: Mapping[str, Iterable[str]]) -> Prefixes:
    counts: Counter[str] = Counter()
    for path, shape in documents.paths():
        if not path[-1].startswith("@"):
            counts[uri_of(path[-1])] += shape.count
    return Prefixes(counts, known)


def _paths_with_text(
    shapes: Iterator[tuple[Path, Shape]], prefixes: Prefixes, samples: Samples
) -> set[Path]:
    """Return the paths of elements that have text of their own somewhere."""
    paths = list(dict.fromkeys(path for path, _ in shapes))[:_TEXTS_MAX]
    texts = [f"/{prefixes.path(path)}[text()[normalize-space()]]" for path in paths]
    bound = prefixes.bindings(texts)
    counts = count_nodes([xpath(text, namespaces=bound) for text in texts], samples)
    return {path for path, count in zip(paths, counts, strict=True) if count}


def _collect(proposal: Proposal, columns: list[Proposed], samples: Samples) -> None:
    """Collect the values of all columns, as text."""
    query = table(proposal.record, text_columns(columns), namespaces=proposal.namespaces)
    for row in _rows(query, samples):
        proposal.records += 1
        _take(columns, row.values())


def _take(columns: Iterable[Proposed], values: Iterable[Any]) -> None:
    for column, value in zip(columns, values, strict=True):
        if value is None or column.type == "xml":
            continue
        for one in value if column.is_list else [value]:
            if column.is_struct:
                _take(column.columns, one.values())
            else:
                column.values.add(one)


def _try_types(proposal: Proposal, columns: list[Proposed], samples: Samples) -> None:
    """Let the engine read all values, and take what does not fit as text."""
    query = table(proposal.record, numbered_columns(columns), namespaces=proposal.namespaces)
    for row in _rows(query, samples):
        for misfit in row.get("errors") or ():
            inside = columns
            for number in map(int, misfit["column"].split(".")):
                column = inside[number]
                inside = column.columns
            column.values.is_text = True


def _rows(query: Query, samples: Samples) -> Iterator[dict[str, Any]]:
    session = Session(Plan.build([compile_program(query)]))
    for portion in Reader(Fixed(session), EACH_PIECE).run(samples):
        for row in portion.batch.rows()[0]:
            yield json.loads(row[4])
