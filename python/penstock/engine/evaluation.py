"""One question to one document."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.origin import Origin
from penstock.errors import DocumentError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.planning.compile import compile_query
from penstock.results import Data, Document, Result
from penstock.sources.documents import input_of

Answer = list[Result] | float | str | bool


def evaluate(
    expression: str,
    document: Data | Document,
    *,
    context: str = "/",
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
) -> Answer:
    """Return what an XPath expression selects in a document, or its value.

    Nodes come as a list of results in document order; a number, a string or a boolean as the
    Python value. The document is bytes, XML text, a path or a binary file, and is read once.

    Raises:
        QueryError: The expression is none.
        DocumentError: The document is not well-formed or cannot be read; ``results`` holds what
            was decided before.
        LimitError: The document passed a limit.
    """
    query = xpath(expression, context=context, namespaces=namespaces, variables=variables)
    session = Session(Plan.build([compile_query(query)]))
    source = input_of(document, 0)
    origin = Origin([expression], source.document, source.stream, source.event_time)
    found: list[tuple[int, Result]] = []
    try:
        session.begin(source.encoding)
        for piece in source.pieces():
            session.feed(piece)
            found += origin.take_numbered(session)
        session.finish()
    except DocumentError as error:
        found += origin.take_numbered(session)
        raise attach(error, _in_document_order(found)) from None
    found += origin.take_numbered(session)
    if query.selects_nodes:
        return _in_document_order(found)
    (_, row), *others = found
    assert not others, "a query has one value"
    return _value(row)


def attach(error: DocumentError, results: list[Result]) -> DocumentError:
    """Give an error the results that were decided before it; they travel with it."""
    error.results = results
    error.args = (*error.args[:5], results, *error.args[6:])
    return error


def _in_document_order(found: list[tuple[int, Result]]) -> list[Result]:
    return [row for _, row in sorted(found, key=lambda pair: pair[0])]


def _value(row: Result) -> float | str | bool:
    assert row.value is not None
    match row.kind:
        case "number":
            return float(row.value)
        case "boolean":
            return row.value == "true"
        case _:
            return row.value
