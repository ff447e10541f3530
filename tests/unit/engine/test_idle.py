"""Subscriptions that do not match end no document for others, however many there are."""

import pytest

from penstock import Engine, Limits, Registry, xquery
from penstock.results import Result

LINE = "<line><n>a</n><b k='7'>x</b><b k='8'>y</b></line>"
KINDS = {
    "counts": "//line[count(b) = 1{}0]",
    "comparisons": "//line[n = b][@z{}]",
    "sets": "//line[@q{} = b]",
    "positions": "//b[@k = 'c{}'][2]",
    "loops": "for $l in //line where $l/n = 'z{}' return <m>{{$l/b}}</m>",
    "counting loops": "for $l in //line[n = 'z{}'] return <m>{{count($l/b)}}</m>",
}
DEAR = "count(for $i in 1 to 1000000000 return <a>{$i}</a>)"


def rows_of(kind: str, count: int, document_bytes: int, limits: Limits, *dear: str) -> list[Result]:
    registry = Registry()
    for number in range(count):
        text = KINDS[kind].format(number)
        registry.add(f"idle{number}", xquery(text) if text.startswith("for ") else text)
    registry.add("first", "/r/line[1]/n")
    for number, text in enumerate(dear):
        registry.add(f"dear{number}", xquery(text))
    document = f"<r>{LINE * (document_bytes // len(LINE))}</r>"
    return list(Engine(registry, limits).run(document))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_idle_subscriptions_end_no_document(kind: str) -> None:
    limits = Limits(pairs_max=10_000, steps_max=100_000)
    (row,) = rows_of(kind, 200, 20_000, limits)
    assert (row.subscription, row.value) == ("first", "<n>a</n>")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_idle_subscriptions_end_no_large_document(kind: str) -> None:
    (row,) = rows_of(kind, 1_000, 1_800_000, Limits())
    assert (row.subscription, row.value) == ("first", "<n>a</n>")


@pytest.mark.filterwarnings("ignore")
def test_one_that_is_dear_is_stopped_alone_among_many_that_are_idle() -> None:
    first, dear = sorted(
        rows_of("loops", 200, 20_000, Limits(), DEAR), key=lambda row: row.error is not None
    )
    assert (first.subscription, first.error) == ("first", None)
    assert dear.subscription == "dear0"
    assert dear.error is not None
    assert dear.error.code == "PL0014"
