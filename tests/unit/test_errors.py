"""Errors carry fields, print their place and survive pickling."""

import pickle

import pytest

from penstock.errors import (
    QUERY_CODES,
    DocumentError,
    LimitError,
    PenstockError,
    QueryError,
    RegistryError,
    SinkError,
    StateError,
)

ERRORS = [
    QueryError("PQ0204", "`id()` is not evaluated", (8, 15), "compare @id", "//order[id('x')]"),
    QueryError("PQ0101", "bad", (0, 1)),
    DocumentError("PD0007", "</item> closes <order>", 5120, 88, "/orders/order", [1, 2]),
    LimitError("PD0101", "too deep", 7, 1, "/a", (), "depth_max"),
    RegistryError("PR0001", "`cheap` is taken"),
    SinkError("PS0001", "the disk is full"),
    StateError("PJ0002", "a run is missing"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_pickling_with_all_fields(error: PenstockError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)


def test_a_query_error_underlines_its_span() -> None:
    assert str(ERRORS[0]) == (
        "PQ0204: `id()` is not evaluated\n"
        "  1 | //order[id('x')]\n"
        "    |         ^^^^^^^\n"
        "help: compare @id"
    )


def test_the_line_of_the_span_is_shown() -> None:
    error = QueryError("PQ0103", "no", (6, 8), "", "//a[b\n or]\n/c")
    assert str(error).splitlines()[1:] == ["  2 |  or]", "    | ^^"]


def test_a_span_at_the_end_gets_one_mark() -> None:
    error = QueryError("PQ0104", "no", (4, 4), "", "//a[")
    assert str(error).splitlines()[2] == "    |     ^"


def test_a_tab_before_the_span_stays_a_tab() -> None:
    error = QueryError("PQ0103", "no", (1, 2), "", "\t]")
    assert str(error).splitlines()[2] == "    | \t^"


def test_a_document_error_says_where() -> None:
    assert str(ERRORS[2]) == (
        "PD0007: </item> closes <order> at byte 5120, line 88 (/orders/order)"
    )


def test_a_limit_error_is_a_document_error_that_names_the_limit() -> None:
    error = ERRORS[3]
    assert isinstance(error, DocumentError)
    assert isinstance(error, LimitError)
    assert error.limit == "depth_max"


def test_every_code_of_a_query_is_well_formed_and_named() -> None:
    assert all(code.startswith("PQ") and len(code) == 6 for code in QUERY_CODES)
    assert all(QUERY_CODES.values())
    assert len(set(QUERY_CODES.values())) == len(QUERY_CODES)
