"""What a query is, when its results are decided, and what is held until then."""

from __future__ import annotations

from penstock.languages.xpath import xpath
from penstock.planning.bindings import binding_verdict, explain_bindings, is_over_streams
from penstock.planning.expression_verdicts import expression_verdict
from penstock.planning.normalise import normalise
from penstock.planning.schemas.explaining import explain_schema
from penstock.planning.schemas.programs import rewrite_for
from penstock.planning.sequences.verdicts import explain_sequences, sequence_verdict
from penstock.planning.tables import explain_table, table_verdict
from penstock.planning.templates.explaining import explain_join, join_verdict
from penstock.planning.twig_verdicts import twig_verdict
from penstock.planning.verdicts import Verdict
from penstock.planning.words import COSTS
from penstock.results.html import Text
from penstock.schemas import Schema
from penstock.twigs import Event, Message, Query, Selection
from penstock.twigs.printing import print_query
from penstock.twigs.sequences import Sequences
from penstock.twigs.tables import Table


def verdict(query: Query | str, schema: Schema | None = None) -> Verdict:
    """Return when results are decided, what is held, and whether a stream may be endless.

    A text is XPath. With a ``schema`` it is about documents that are read under it. Of a query
    that joins documents an endless stream is one of documents without an end.

    >>> import penstock
    >>> said = penstock.verdict("//book[following::book]")
    >>> said.decided.value, said.suits_endless
    ('end of document', False)

    Raises:
        QueryError: The text is no query; the query is nested too deeply, or cannot be joined.
        TypeError: It is neither a text nor a query.
    """
    query = _read(query)
    if schema is not None:
        query = rewrite_for(query, schema, is_fed=True).query
    if isinstance(query.output, Sequences):
        is_joined = is_over_streams(query.output)
        return binding_verdict(query) if is_joined else sequence_verdict(query.output)
    if isinstance(query.output, Table):
        return table_verdict(query.output)
    if isinstance(query.output, Event):
        return join_verdict(query)
    return _verdict(normalise(query))


def explain(query: Query | str, schema: Schema | None = None) -> Text:
    """Return the query as written and in normal form, and the verdict on it in words.

    A text is XPath. With a ``schema`` it also says what the schema changes, and the verdict is
    about documents that are read under it.

    >>> import penstock
    >>> print(penstock.explain("//book[@id]").splitlines()[1])
      //book[@id]

    Raises:
        QueryError: The text is no query; the query is nested too deeply, or cannot be joined.
        TypeError: It is neither a text nor a query.
    """
    query = _read(query)
    sections = [
        ("query", query.text.splitlines()),
        ("representation", print_query(query).splitlines()),
    ]
    if schema is not None:
        lines, query = explain_schema(query, schema)
        sections.append(("schema", lines))
    if isinstance(query.output, Sequences) and is_over_streams(query.output):
        return _titled(sections + explain_bindings(query) + _said(binding_verdict(query)))
    if isinstance(query.output, Sequences):
        sections += explain_sequences(query.output)
        return _titled(sections + _said(sequence_verdict(query.output)))
    if isinstance(query.output, Table):
        sections += explain_table(query.output)
        return _titled(sections + _said(table_verdict(query.output)))
    normal = normalise(query)
    sections.append(("normal form", print_query(normal).splitlines()))
    if not isinstance(normal.output, Message | Event):
        sections += _said(_verdict(normal))
    elif isinstance(normal.output, Event):
        sections += explain_join(query)
    return _titled(sections)


def _read(query: Query | str) -> Query:
    if isinstance(query, Query):
        return query
    if isinstance(query, str):
        return xpath(query)
    raise TypeError(f"a query is XPath text, or what xpath() or xscl() returns, not {query!r}")


def _said(said: Verdict) -> list[tuple[str, list[str]]]:
    """Return the sections of a verdict."""
    return [
        ("decided", list(said.when)),
        ("held", list(said.held)),
        ("memory", [said.memory]),
        ("cost", [COSTS[said.cost]]),
        ("endless streams", [said.endless]),
    ]


def _titled(sections: list[tuple[str, list[str]]]) -> Text:
    """Return sections as text, those without lines left out."""
    parts = []
    for title, lines in sections:
        if lines:
            parts.append("\n".join([title, *("  " + line for line in lines)]))
    return Text("\n\n".join(parts) + "\n")


def _verdict(normal: Query) -> Verdict:
    if isinstance(normal.output, Selection):
        return expression_verdict(normal.output)
    if isinstance(normal.output, Message | Event):
        raise TypeError("there are verdicts on paths and values only")
    return twig_verdict(normal)
