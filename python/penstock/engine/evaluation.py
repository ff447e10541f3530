"""One query over one document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, overload

from penstock.engine.follower import Fixed
from penstock.engine.items import Item, item_of
from penstock.engine.reading import EACH_PIECE, Reader
from penstock.engine.rows import Origin
from penstock.engine.silence import warn_of_query
from penstock.errors import QueryError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.languages.xpath.frontend import Select
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.results import Data, Document, Result, Results
from penstock.sources import Input
from penstock.sources.documents import input_of
from penstock.twigs import Query
from penstock.twigs.sequences import Sequences
from penstock.twigs.tables import Table

Answer = Results | float | str | bool

_NOTHING = b"<nothing/>"
"""What is read where there is no document; no query sees it."""


@overload
def evaluate(
    expression: str,
    document: Data | Document,
    *,
    context: str = "/",
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    select: Select | None = None,
    limits: Limits | None = None,
) -> Any: ...


@overload
def evaluate(
    expression: Query,
    document: Data | Document | None,
    *,
    variables: Mapping[str, object] | None = None,
    limits: Limits | None = None,
) -> Any: ...


def evaluate(
    expression: str | Query,
    document: Data | Document | None,
    *,
    context: str = "/",
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    select: Select | None = None,
    limits: Limits | None = None,
) -> Answer | list[Item]:
    """Return what an expression selects in a document, or its value.

    What kind of answer there is depends on the text of the expression, so type checkers take any
    annotation for it: ``total: float = penstock.evaluate("sum(//price)", shop)``.

    A text is XPath; :func:`penstock.xquery` makes a query of other texts. The document is bytes,
    XML text, a path or a binary file, and is read once. ``limits`` bound what it may cost.

    For XPath, nodes come as a list of results in document order; a number, a string or a boolean
    as the Python value. ``select`` names paths whose values come along in ``bindings``. An
    expression that selects nothing is warned of, once, with the likely reason
    (``PenstockWarning``).

    For XQuery, the answer is always a list of items: results for nodes, Python values for atomic
    ones. All streams that the query names are the given document; ``variables`` may bind others.
    Without a document there is no context item.

    >>> import penstock
    >>> shop = "<shop><book id='1'><price>9.50</price></book><book id='2'/></shop>"
    >>> penstock.evaluate("sum(//price)", shop)
    9.5
    >>> [row.bindings for row in penstock.evaluate("//price", shop, select={"id": "../@id"})]
    [{'id': '1'}]
    >>> penstock.evaluate(penstock.xquery("for $b in //book return count($b/price)"), shop)
    [1, 0]

    Raises:
        QueryError: The expression is not valid, or a variable has no value.
        DocumentError: The document is not well-formed or cannot be read; ``results`` holds what
            was decided before.
        EvaluationError: A query in XQuery has no value for the document.
        LimitError: The document passed a limit.
    """
    if isinstance(expression, Query) and isinstance(expression.output, Sequences):
        return _evaluate_sequences(expression, document, variables, limits)
    if document is None:
        raise TypeError("an expression in XPath needs a document")
    query = expression
    if isinstance(query, Query) and isinstance(query.output, Table):
        raise TypeError("a table has typed columns: use penstock.Engine(registry).table(document)")
    if isinstance(query, str):
        query = xpath(
            query, context=context, namespaces=namespaces, variables=variables, select=select
        )
    session = Session(Plan.build([compile_query(query)]), limits)
    source = input_of(document, 0)
    numbered = [*_rows(session, query.text, source)]
    if query.selects_nodes:
        if not numbered:
            warn_of_query(query, source.again)
        return _in_document_order(numbered)
    (_, row), *others = numbered
    assert not others, "a query has one value"
    return _value(row)


def _evaluate_sequences(
    query: Query,
    document: Data | Document | None,
    variables: Mapping[str, object] | None,
    limits: Limits | None,
) -> list[Item]:
    # Few evaluate XQuery, and its front end is large.
    from penstock.languages.xquery import bind, stream_of
    from penstock.planning.sequences.programs import compile_sequences
    from penstock.planning.sequences.streams import reads_current
    from penstock.planning.sequences.variables import check_bound

    if variables:
        query = bind(query, variables)
    assert isinstance(query.output, Sequences)
    check_bound(query)
    given = {stream_of(name): other for name, other in query.documents.items()}
    if document is None and reads_current(query.output, given):
        message = "the query reads a document, and there is none"
        way_out = "pass a document, or bind a variable to one"
        raise QueryError("PQ0533", message, (0, len(query.text)), way_out, query.text, "XPDY0002")
    program = compile_sequences(query.output, given=[*given], has_items=True)
    session = Session(Plan.build([program]), limits)
    for name, other in given.items():
        for _ in _rows(session, query.text, input_of(replace(other, stream=name), 0)):
            pass  # it is kept for the document that follows
    source = input_of(_NOTHING if document is None else document, 0)
    return [item_of(row) for _, row in _rows(session, query.text, source)]


def _rows(session: Session, name: str, source: Input) -> Iterator[tuple[int, Result]]:
    """Yield the rows of a document with their nodes' places, as they are decided."""
    origin = Origin(session, [name], source)
    before: list[tuple[int, Result]] = []
    for portion in Reader(Fixed(session, [name]), EACH_PIECE).run([source]):
        rows = origin.numbered_rows(portion.batch)
        before += rows
        yield from rows
        for _, error in portion.errors:
            raise error.with_results(_in_document_order(before))


def _in_document_order(numbered: list[tuple[int, Result]]) -> Results:
    return Results(row for _, row in sorted(numbered, key=lambda pair: pair[0]))


def _value(row: Result) -> float | str | bool:
    assert row.value is not None
    match row.kind:
        case "number":
            return float(row.value)
        case "boolean":
            return row.value == "true"
        case _:
            return row.value
