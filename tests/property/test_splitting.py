"""Splitting loses no record, doubles none and cuts none, wherever the pieces end."""

from collections.abc import Iterator
from tempfile import NamedTemporaryFile

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from penstock.errors import DocumentError
from penstock.languages.xpath import xpath
from penstock.sources.listing import Listed
from penstock.sources.paths import RecordPath
from penstock.sources.ranges import find_ranges, read_ranges, spread
from penstock.sources.spans import SpanFinder
from penstock.sources.splitting import Record, Splitter
from penstock.twigs import NodeKind
from penstock_testing.generate import NAMESPACES, DocumentKnobs
from penstock_testing.reference import evaluate
from penstock_testing.tree import Node, parse
from tests.property.strategies import documents

PATHS = (
    "//a",
    "//b",
    "/r/*",
    "//p:a",
    "//*[@x]",
    "//a[b]",
    "//c | //d",
    "//a//b",
    "/*[b]/a",
    "//*",
)
AROUND = {"here": "//b", "last": "//a/@x", "late": "/*[c]/a", "text": "//c/text()"}


def attempt(
    document: bytes, path: RecordPath, size: int
) -> tuple[list[Record], Splitter, DocumentError | None]:
    """Return the records of a document, and its error if it has one."""
    splitter = Splitter(path)
    found: list[Record] = []
    try:
        for start in range(0, len(document), size):
            found += splitter.feed(document[start : start + size])
        found += splitter.finish()
    except DocumentError as error:
        return [*found, *error.results], splitter, error
    return found, splitter, None


def outermost(nodes: list[Node]) -> Iterator[Node]:
    """Yield the nodes that are in no other."""
    chosen: set[int] = set()
    for node in nodes:
        above = node.parent
        while above is not None and id(above) not in chosen:
            above = above.parent
        if above is None:
            chosen.add(id(node))
            yield node


@given(documents(), st.sampled_from(PATHS))
def test_records_are_the_outermost_matches_and_every_byte_is_accounted_for(
    document: bytes, text: str
) -> None:
    nodes = evaluate(xpath(text, namespaces=NAMESPACES), parse(document))
    assert isinstance(nodes, list)
    expected = list(outermost(nodes))
    path = RecordPath(text, NAMESPACES)
    records, splitter, error = attempt(document, path, len(document))
    if error is not None:
        assert (error.code, b"&m;" in document) == ("PS0005", True)
        return
    assert [(r.start, r.end) for r in records] == [(n.start, n.end) for n in expected]
    assert [r.number for r in records] == list(range(len(records)))
    account = splitter.account
    assert account.bytes_in == len(document)
    assert account.bytes_records == sum(r.end - r.start for r in records)
    assert account.nested == len(nodes) - len(expected)
    between = bytearray(document)
    for record in reversed(records):
        del between[record.start : record.end]
    assert account.bytes_between == len(between)


@given(documents(), st.sampled_from(PATHS))
def test_every_piece_size_gives_the_same_records(document: bytes, text: str) -> None:
    path = RecordPath(text, NAMESPACES, AROUND)
    outcomes = []
    for size in (*range(1, 18), len(document) // 2 + 1, len(document)):
        records, splitter, error = attempt(document, path, size)
        outcomes.append((records, splitter.account, error and (error.code, error.byte)))
    assert all(outcome == outcomes[0] for outcome in outcomes)


@given(documents(), st.sampled_from(PATHS))
def test_a_record_read_alone_is_the_element_in_its_document(document: bytes, text: str) -> None:
    records, _, error = attempt(document, RecordPath(text, NAMESPACES), len(document))
    if error is not None:
        return
    tree = parse(document)
    nodes = evaluate(xpath(text, namespaces=NAMESPACES), tree)
    assert isinstance(nodes, list)
    for record, node in zip(records, outermost(nodes), strict=True):
        alone = etree.fromstring(record.xml)
        assert alone.tag == record.name
        assert alone.xpath("string(.)") == node.string_value()
        assert record.declarations.items() <= {
            (prefix or "", uri) for prefix, uri in alone.nsmap.items()
        } | {("xml", "http://www.w3.org/XML/1998/namespace")}


@given(documents(), st.sampled_from(PATHS))
def test_a_record_carries_the_last_value_that_is_complete_where_it_ends(
    document: bytes, text: str
) -> None:
    path = RecordPath(text, NAMESPACES, {"here": "//b"})
    records, _, error = attempt(document, path, len(document))
    if error is not None:
        return
    nodes = evaluate(xpath("//b", namespaces=NAMESPACES), parse(document))
    assert isinstance(nodes, list)
    for record in records:
        values = [node.string_value() for node in nodes if node.end <= record.end]
        assert record.ancestors == ({"here": values[-1]} if values else {})


@given(documents(DocumentKnobs(doctype=0)), st.sampled_from(PATHS), st.integers(1, 60))
def test_tasks_of_every_size_together_read_every_record_once(
    document: bytes, text: str, task_bytes: int
) -> None:
    path = RecordPath(text, NAMESPACES, AROUND)
    records, splitter, error = attempt(document, path, len(document))
    assert error is None
    with NamedTemporaryFile() as file:
        file.write(document)
        file.flush()
        found = find_ranges(Listed.of(file.name), path, task_bytes)
        assert found is not None
        assert (found.account, found.failure) == (splitter.account, None)
        read = [record for task in found.tasks for record in read_ranges(task)]
    assert [record._replace(name="") for record in records] == read


def spans_of(
    document: bytes, path: RecordPath, size: int
) -> tuple[list[tuple[object, ...]], SpanFinder]:
    """Return where the records are, each with what holds for it."""
    finder = SpanFinder(path)
    found = []
    pieces = iter([document[start : start + size] for start in range(0, len(document), size)])
    while finder.failure is None:
        piece = next(pieces, None)
        spans = finder.finish() if piece is None else finder.feed(piece)
        if spans:
            declarations, ancestors = (
                spread(runs, len(spans)) for runs in (spans.declarations, spans.ancestors)
            )
            numbers = range(spans.first, spans.first + len(spans))
            bounds = (spans.starts, spans.ends)
            found += zip(numbers, *bounds, declarations, ancestors, strict=True)
        if piece is None:
            break
    return found, finder


@given(
    documents(DocumentKnobs(doctype=0)), st.integers(0, 1000), st.sampled_from(PATHS), st.booleans()
)
def test_spans_are_those_of_the_records_in_pieces_of_every_size(
    document: bytes, cut: int, text: str, has_ancestors: bool
) -> None:
    path = RecordPath(text, NAMESPACES, AROUND if has_ancestors else None)
    part = document[:cut]
    records, splitter, error = attempt(part, path, len(part) + 1)
    expected = [(r.number, r.start, r.end, r.declarations, r.ancestors) for r in records]
    for size in (1, 2, 3, 7, 16, len(part) + 1):
        found, finder = spans_of(part, path, size)
        assert found == expected
        assert finder.account == splitter.account
        failure = finder.failure
        assert (failure and (failure.code, failure.byte)) == (error and (error.code, error.byte))


@given(documents(), st.integers(0, 400), st.sampled_from(PATHS))
def test_a_document_that_ends_early_keeps_the_records_before(
    document: bytes, cut: int, text: str
) -> None:
    path = RecordPath(text, NAMESPACES)
    whole, _, error = attempt(document, path, len(document))
    if error is not None:
        return
    # What may follow the root element is not missed.
    (root,) = (node for node in parse(document).root.children if node.kind is NodeKind.ELEMENT)
    part = document[: min(cut, root.end - 1)]
    outcomes = []
    for size in (1, 5, len(part) + 1):
        found, splitter, failure = attempt(part, path, size)
        assert failure is not None
        outcomes.append((found, splitter.account, failure.code, failure.byte))
        account = splitter.account
        assert account.bytes_in - account.bytes_between == sum(r.end - r.start for r in found)
    assert all(outcome == outcomes[0] for outcome in outcomes)
    assert [r for r in whole if r.end <= len(part)][: len(outcomes[0][0])] == outcomes[0][0]
