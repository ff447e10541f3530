"""What tests ask of the front end: how a query is printed, or why it is rejected."""

from typing import Any

import pytest

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xquery import xquery
from penstock.planning.sequences.variables import check_bound
from penstock.twigs.printing import print_query


def printed(text: str, **options: Any) -> str:
    """Return the printed form of a query, on one line."""
    return " ".join(print_query(xquery(text, **options)).splitlines())


def rejected(text: str, **options: Any) -> tuple[str, str | None, str]:
    """Return the two codes of the error about a query, and what it underlines."""
    error = error_of(text, **options)
    start, end = error.span
    return error.code, error.xquery_code, text[start:end]


def error_of(text: str, **options: Any) -> QueryError:
    """Return the error about a query."""
    with pytest.raises(QueryError) as caught:
        check_bound(xquery(text, **options))
    error = caught.value
    assert error.code in QUERY_CODES
    assert error.help
    assert error.text == text
    return error
