"""One query over one document."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engine.driver import EACH_PIECE, Driver
from penstock.engine.follower import Fixed
from penstock.engine.rows import Origin
from penstock.engine.silence import warn_of_query
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.results import Data, Document, Result, Results
from penstock.sources.documents import input_of

Answer = Results | float | str | bool


def evaluate(
    expression: str,
    document: Data | Document,
    *,
    context: str = "/",
    namespaces: NamespaceMap | None = None,
    variables: Mapping[str, object] | None = None,
    select: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Answer:
    """Return what an XPath expression selects in a document, or its value.

    Nodes come as a list of results in document order; a number, a string or a boolean as the
    Python value. The document is bytes, XML text, a path or a binary file, and is read once.
    ``select`` names paths whose values come along in ``bindings``. ``limits`` bound what the
    document may cost. An expression that selects nothing is warned of, once, with the likely
    reason (``PenstockWarning``).

    >>> import penstock
    >>> shop = "<shop><book id='1'><price>9.50</price></book><book id='2'/></shop>"
    >>> penstock.evaluate("sum(//price)", shop)
    9.5
    >>> [row.bindings for row in penstock.evaluate("//price", shop, select={"id": "../@id"})]
    [{'id': '1'}]

    Raises:
        QueryError: The expression is not valid XPath.
        DocumentError: The document is not well-formed or cannot be read; ``results`` holds what
            was decided before.
        LimitError: The document passed a limit.
    """
    query = xpath(
        expression, context=context, namespaces=namespaces, variables=variables, select=select
    )
    session = Session(Plan.build([compile_query(query)]), limits)
    source = input_of(document, 0)
    origin = Origin(session, [expression], source)
    numbered: list[tuple[int, Result]] = []
    for portion in Driver(Fixed(session), EACH_PIECE).run([source]):
        numbered += origin.numbered_rows(portion.batch)
        for _, error in portion.errors:
            raise error.with_results(_in_document_order(numbered))
    if query.selects_nodes:
        if not numbered:
            warn_of_query(query, source.again)
        return _in_document_order(numbered)
    (_, row), *others = numbered
    assert not others, "a query has one value"
    return _value(row)


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
