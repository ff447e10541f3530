"""Programs of queries in any language. Whatever is subscribed is compiled here, once.

Texts of one shape share most of the work: ``Forms``, ``JoinTexts`` and ``SequenceTexts`` remember
shapes, and never change a program by that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from penstock.errors import RegistryError
from penstock.languages.xpath import xpath
from penstock.languages.xscl import xscl
from penstock.planning.forms import Forms
from penstock.planning.modes import Mode, compile_in_mode
from penstock.planning.records import write_records
from penstock.planning.templates import JoinQuery, compile_join
from penstock.planning.templates.texts import JoinTexts
from penstock.twigs import Event, Fragments, Query
from penstock.twigs.sequences import Sequences
from penstock.twigs.tables import Table


def _read_xquery(text: str, **options: Any) -> Query:
    # Its front end is the largest, and most who compile have no query in it.
    from penstock.languages.xquery import xquery

    return xquery(text, **options)


def _read_table(text: str, **options: Any) -> Query:
    from penstock.languages.tables import read_table

    return read_table(text, **options)


if TYPE_CHECKING:
    from penstock.planning.sequences.texts import SequenceTexts

LANGUAGES: Mapping[str, Callable[..., Query]] = {
    "xpath": xpath,
    "xscl": xscl,
    "xquery": _read_xquery,
    "table": _read_table,
}
"""What reads the texts of a language."""

_COMMON = ("namespaces", "variables")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "xpath": (*_COMMON, "select", "dialect", "context"),
    "xscl": _COMMON,
    "xquery": (*_COMMON, "untyped", "empty", "within"),
    "table": _COMMON,
}
"""The options of a language, which a subscription keeps beside its text."""

_FORMS = Forms()
_JOIN_TEXTS = JoinTexts()


def compile_program(
    query: Query | str,
    mode: Mode = "query",
    language: str = "xpath",
    options: Mapping[str, Any] | None = None,
) -> bytes:
    """Return the program of a query, or of a text in a language with the options to read it.

    Compiling is pure: equal queries give equal bytes.

    Raises:
        QueryError: It is no query, or not one that is evaluated.
        RegistryError: The mode is none, or not one for this query.
    """
    if isinstance(query, Query):
        return _compile_query(query, mode)
    if language == "xpath":
        return _FORMS.compile(query, mode, options)
    if language == "xquery" and mode == "query":
        return _sequence_texts().compile(query, options)
    if language in ("xquery", "table"):
        return _compile_query(LANGUAGES[language](query, **(options or {})), mode)
    compiled = _JOIN_TEXTS.compile(query, options)
    if isinstance(compiled, Query):
        return _compile_query(compiled, mode)
    return _compile_records(compiled, mode)


@cache
def _sequence_texts() -> SequenceTexts:
    from penstock.planning.sequences.texts import SequenceTexts

    def compile_one(text: str, options: Mapping[str, Any] | None) -> bytes:
        return _compile_query(_read_xquery(text, **(options or {})), "query")

    return SequenceTexts(compile_one)


def _compile_query(query: Query, mode: Mode) -> bytes:
    match query.output:
        case Event() if query.language == "xscl" and query.text:
            compiled = _JOIN_TEXTS.compile(query.text, query.options, query)
            assert isinstance(compiled, JoinQuery), "events are joined"
            return _compile_records(compiled, mode)
        case Event():
            return _compile_records(compile_join(query), mode)
        case Fragments(variable=variable) if query.blocks[0].stream is not None:
            # A block of a stream by itself reports events of one node.
            event = compile_join(replace(query, output=Event((variable,))))
            return _compile_records(event, mode, is_node=True)
        case Sequences() as output:
            from penstock.planning.bindings import compile_bindings, is_over_streams
            from penstock.planning.sequences.programs import compile_sequences
            from penstock.planning.sequences.streams import only_stream
            from penstock.planning.sequences.variables import check_bound

            if mode != "query":
                raise RegistryError("PR0004", f"a query in XQuery has no mode {mode!r}")
            check_bound(query)
            if is_over_streams(output):
                return compile_bindings(query)
            return compile_sequences(output, only_stream(query))
        case Table() as output:
            from penstock.planning.tables import compile_table

            if mode != "query":
                raise RegistryError("PR0004", f"a table has no mode {mode!r}")
            return compile_table(output, query.constants)
        case _:
            return compile_in_mode(query, mode)


def _compile_records(query: JoinQuery, mode: Mode, is_node: bool = False) -> bytes:
    if mode != "query":
        raise RegistryError("PR0004", f"a query that joins documents has no mode {mode!r}")
    return write_records(query, is_node)
