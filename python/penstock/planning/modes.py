"""What a standing query reports: its results, that it has one, or its value as it grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from penstock.errors import RegistryError
from penstock.planning.compile import compile_form, compile_query
from penstock.planning.program import Part
from penstock.twigs import Aggregate, Query, Selection

Mode = Literal["query", "filter", "running"]
"""``query`` reports every result, ``filter`` only that a document has one, ``running`` the value
of an aggregate after every node, for streams that do not end."""

_MODES = get_args(Mode)


def query_in_mode(query: Query, mode: Mode) -> Query:
    """Return the query that a mode makes of one.

    Raises:
        RegistryError: The mode is none, or not one for this query.
    """
    if mode not in _MODES:
        raise RegistryError(
            "PR0004", f"the mode {mode!r} is none; use `query`, `filter` or `running`"
        )
    if mode != "running":
        return query
    match query.output:
        case Aggregate() | Selection(aggregate=str()) as output:
            return replace(query, output=replace(output, running=True))
        case _:
            message = "the mode `running` is for count(), sum(), avg(), min() and max()"
            raise RegistryError("PR0004", message)


def compile_in_mode(query: Query, mode: Mode) -> bytes:
    """Return the program of a query in a mode.

    Raises:
        QueryError: The query needs something that the kernel does not evaluate yet.
        RegistryError: The mode is none, or not one for this query.
    """
    return compile_query(query_in_mode(query, mode), is_filter=mode == "filter")


def form_in_mode(query: Query, mode: Mode) -> list[Part]:
    """Return the same in pieces, for a query whose constants are blanks.

    Raises:
        ExaminedError: A blank was looked at.
    """
    return compile_form(query_in_mode(query, mode), is_filter=mode == "filter")
