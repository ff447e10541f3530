"""Documents that are small and give much: rows, attributes, values are within bounds."""

from __future__ import annotations

import penstock
from penstock.results import Result


def engine_of(*queries: str, limits: penstock.Limits | None = None) -> penstock.Engine:
    registry = penstock.Registry()
    for number, query in enumerate(queries):
        registry.add(f"q{number}", query)
    return penstock.Engine(registry, limits)


def codes(rows: list[Result]) -> set[tuple[str | None, str]]:
    return {(row.subscription, row.error.code) for row in rows if row.error is not None}


def test_default_attributes_take_steps() -> None:
    declared = "".join(f'n{number} CDATA "x" ' for number in range(1_000))
    document = f"<!DOCTYPE r [<!ATTLIST a {declared}>]><r>{'<a/>' * 5_000}</r>"
    rows = list(engine_of("count(//a)").run([document.encode(), b"<r><a/></r>"]))
    assert {code for _, code in codes(rows)} == {"PL0014"}
    assert [row.value for row in rows if row.error is None][-1] == "1"


def test_one_reference_may_give_many_rows() -> None:
    document = f'<!DOCTYPE r [<!ENTITY e "{"<a/>" * 300_000}">]><r>&e;</r>'.encode()
    most = 0
    count = 0
    for rows in engine_of("//a").steps(document):
        most = max(most, len(rows))
        count += len(rows)
    assert count == 300_000
    assert most <= 1 << 14


def test_many_rows_of_a_small_document_come_in_lists() -> None:
    queries = [f"//a[. != '{number}']" for number in range(100)]
    lists = list(engine_of(*queries).steps(b"<r>" + b"<a>x</a>" * 1_000 + b"</r>"))
    assert sum(map(len, lists)) == 100_000
    assert max(map(len, lists)) <= 1 << 16


def test_rows_in_lists_are_those_of_one_list() -> None:
    document = b"<r xmlns:p='urn:p'>" + b"<a p:x='1'>x</a>" * 300 + b"</r>"
    queries = [f"//a[. != '{number}']" for number in range(100)]
    together = [row for row in engine_of(*queries).run(document) if row.subscription == "q7"]
    alone = list(engine_of(*queries[7:8]).run(document))
    assert [(row.ordinal, row.start, row.value) for row in together] == [
        (row.ordinal, row.start, row.value) for row in alone
    ]


def test_who_passes_a_limit_of_expressions_fails_alone() -> None:
    document = b"<r>" + b"<a>x</a>" * 3_000 + b"</r>"
    engine = engine_of(
        "//a[preceding::a/following::a = .]", "count(//a)", limits=penstock.Limits(pairs_max=1_000)
    )
    rows = list(engine.run(document))
    assert codes(rows) == {("q0", "PL0012")}
    assert [row.value for row in rows if row.subscription == "q1"] == ["3000"]


def test_nested_results_of_small_documents_are_within_bounds() -> None:
    queries = [f"//a[. != '{number}']" for number in range(100)]
    document = b"<a>" * 5_000 + b"x" * 50_000 + b"</a>" * 5_000
    rows = list(engine_of(*queries).run([document, b"<a>x</a>"]))
    assert {code for _, code in codes(rows)} <= {"PL0013", "PL0014"}
    assert sum(row.value == "<a>x</a>" for row in rows) == 100
