"""The engine: many subscriptions, many documents, one pass."""

import io
import random
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.results import Result

QUERIES = {
    "cheap": "//book[price < 11]/title",
    "titles": "//title",
    "ids": "//book/@id",
    "count": "count(//book)",
    "dear": "//book[not(price < 11)]",
    "words": "//title/text()[contains(., 'b')]",
    "any": "boolean(//book[@id = '2'])",
}
SHELF = (
    "<shelf><book id='1'><title>ab</title><price>10</price></book>"
    "<book id='2'><price>12</price><title>bc</title></book></shelf>"
)
Key = tuple[str, int, str, str | None, int | None]


def registry_of(queries: dict[str, str], mode: str = "query") -> penstock.Registry:
    registry = penstock.Registry()
    for name, query in queries.items():
        registry.add(name, query, mode=mode)  # type: ignore[arg-type]
    return registry


def keys(rows: list[Result]) -> set[Key]:
    return {
        (str(row.subscription), row.ordinal, row.document, row.value, row.decided_at)
        for row in rows
    }


def test_together_subscriptions_give_what_each_gives_alone() -> None:
    together = keys(list(penstock.Engine(registry_of(QUERIES)).run(SHELF)))
    alone: set[Key] = set()
    for name, query in QUERIES.items():
        alone |= keys(list(penstock.Engine(registry_of({name: query})).run(SHELF)))
    assert together == alone
    assert {name for name, *_ in together} == set(QUERIES)


def test_the_order_of_adding_does_not_matter() -> None:
    expected = keys(list(penstock.Engine(registry_of(QUERIES)).run(SHELF)))
    for seed in range(5):
        names = list(QUERIES)
        random.Random(seed).shuffle(names)
        shuffled = {name: QUERIES[name] for name in names}
        assert keys(list(penstock.Engine(registry_of(shuffled)).run(SHELF))) == expected


def test_a_removed_subscription_leaves_no_trace() -> None:
    registry = registry_of(QUERIES)
    registry.add("gone", "//*")
    registry.remove("gone")
    expected = keys(list(penstock.Engine(registry_of(QUERIES)).run(SHELF)))
    assert keys(list(penstock.Engine(registry).run(SHELF))) == expected


def test_a_filter_reports_a_match_once_and_no_fragment() -> None:
    rows = list(penstock.Engine(registry_of({"f": "//book"}, "filter")).run([SHELF, "<a/>"]))
    assert [(row.document, row.kind, row.value, row.start) for row in rows] == [
        ("0", "match", "", None)
    ]


@pytest.mark.parametrize(
    "bad", ["<a><b/>", "<a></b>", "", b"\xff\xfe<", "<a>&x;</a>", "<a xmlns:p=''/>", "no xml"]
)
def test_a_malformed_document_never_harms_the_next(bad: str | bytes) -> None:
    engine = penstock.Engine(registry_of(QUERIES))
    rows = list(engine.run([SHELF, bad, SHELF, bad, SHELF]))
    by_document = [[row for row in rows if row.document == str(number)] for number in range(5)]
    first, *_ = by_document
    for number in (2, 4):
        assert [row.as_dict() | {"document": "0"} for row in by_document[number]] == [
            row.as_dict() for row in first
        ]
    for number in (1, 3):
        errors = [row for row in by_document[number] if row.is_error]
        assert len(errors) == 1
        assert by_document[number][-1] is errors[0]
        assert errors[0].subscription is None
        assert errors[0].source == (bad.encode() if isinstance(bad, str) else bad)


def test_results_decided_before_an_error_stand() -> None:
    first, second = penstock.Engine(registry_of({"b": "//b"})).run("<a><b>1</b><b></a>")
    assert first.value == "<b>1</b>"
    assert second.error is not None
    assert second.error.path == "/a/b"


def test_document_order_is_kept_per_subscription() -> None:
    document = "<r><a><b/><x/></a><c/></r>"
    query = {"q": "//a[x] | //b"}
    decided = [row.name for row in penstock.Engine(registry_of(query)).run(document)]
    ordered = [
        row.name for row in penstock.Engine(registry_of(query)).run(document, order="document")
    ]
    assert decided == ["b", "a"]
    assert ordered == ["a", "b"]


def test_an_unknown_order_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="order"):
        penstock.Engine(registry_of(QUERIES)).run(SHELF, order="random")  # type: ignore[arg-type]


def test_a_change_of_the_registry_is_seen_from_the_next_document_on() -> None:
    registry = registry_of({"b": "//b"})
    rows = penstock.Engine(registry).run(["<a><b/><c/></a>", "<a><b/><c/></a>"])
    assert next(rows).subscription == "b"
    registry.add("c", "//c")
    registry.remove("b")
    assert [(row.document, row.subscription) for row in rows] == [("1", "c")]


def test_engines_share_a_registry() -> None:
    registry = registry_of({"b": "//b"})
    one, other = penstock.Engine(registry).run("<b/>"), penstock.Engine(registry).run("<b/>")
    assert next(one) == next(other)


def test_trust_changes_nothing_that_is_found() -> None:
    registry = registry_of(QUERIES)
    trusting = penstock.Engine(registry, trust=True)
    assert list(trusting.run(SHELF)) == list(penstock.Engine(registry).run(SHELF))


class _Endless(io.RawIOBase):
    """An input that has an element and then never ends."""

    def __init__(self) -> None:
        self.reads = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self.reads += 1
        piece = b"<a><b/>" if self.reads == 1 else b"<c/>"
        buffer[: len(piece)] = piece
        return len(piece)


def test_with_trust_a_document_is_read_until_everything_is_decided() -> None:
    registry = penstock.Registry()
    registry.add("b", "//b", mode="filter")
    registry.add("holds", "boolean(/a/b)")
    source = _Endless()
    rows = list(penstock.Engine(registry, trust=True).run(source))
    assert sorted(row.subscription or "" for row in rows) == ["b", "holds"]
    assert source.reads < 10
    # What follows is not checked then, and is checked otherwise.
    broken = "<a><b/>" + "<c/>" * 400_000 + "</b>"
    kinds = [row.kind for row in penstock.Engine(registry, trust=True).run(broken)]
    assert sorted(kinds) == ["boolean", "match"]
    assert [row.kind for row in penstock.Engine(registry).run(broken)][-1] == "error"


def test_with_trust_what_is_undecided_is_read_to_the_end() -> None:
    registry = penstock.Registry()
    registry.add("b", "//b", mode="filter")
    registry.add("nodes", "//c")
    document = "<a><b/>" + "<d/>" * 400_000 + "<c/></a>"
    rows = list(penstock.Engine(registry, trust=True).run(document))
    assert [row.subscription for row in rows] == ["b", "nodes"]


def test_explain_names_the_structures() -> None:
    registry = penstock.Registry()
    for number in range(200):
        registry.add(f"q{number}", f"//b[@n = {number}]")
    registry.add("count", "count(//b)")
    registry.compact()
    assert penstock.Engine(registry).explain().splitlines() == [
        "201 subscriptions, version 201",
        "tier 1",
        "  200 questions: asked of each small document as a whole",
        "  1 questions: matched event by event",
        "documents above 1,048,576 bytes, and those that are fed:",
        "  all questions: matched event by event",
    ]
    few = penstock.Registry()
    few.add("q", "//b")
    assert "asked" not in penstock.Engine(few).explain()
    assert penstock.Engine(penstock.Registry()).explain() == "0 subscriptions, version 0"


def test_explain_names_every_kind_of_listener(tmp_path: Path) -> None:
    streams = "for $a in stream('S')//a, $b in stream('T')//b where $a = $b return "
    registry = penstock.Registry()
    registry.add("path", "//a")
    registry.add("one", penstock.xquery("<m>{count(//a)}</m>"))
    registry.add("same", penstock.xquery("<m>{count(//a)}</m>"))
    registry.add("form", penstock.xquery("for $b in //a where $b/c = 'x' return <m>{$b/d}</m>"))
    registry.add("table", penstock.table("//a", {"value": "."}))
    registry.add("pair", penstock.xscl("S//a->x JOIN{x = y, 10} T//b->y"))
    registry.add("wide", penstock.xscl("S//a->x JOIN{x = y, 20} T//b->y"))
    listeners = [
        "tier 1",
        "  1 questions: matched event by event",
        "documents above 1,048,576 bytes, and those that are fed:",
        "  all questions: matched event by event",
        "2 queries in XQuery of 3 subscriptions: evaluated part by part",
        "1 table: each record gives a row",
    ]
    joins = [
        "joins of documents: 2 subscriptions",
        "  templates: 1",
        "  variables: 2",
        "  steps of paths: 4",
        "  conditions: 1",
        "  pairs of variables with equal values: 1",
    ]
    (tmp_path / "r.dtd").write_text("<!ELEMENT r (a*)> <!ELEMENT a (#PCDATA)>")
    schema = penstock.schema(tmp_path / "r.dtd")
    under = penstock.Engine(registry, schemas={"S": schema}).explain().splitlines()
    assert under[1 : 1 + len(listeners + joins)] == listeners + joins
    indented = [line for line in under[-len(listeners) - 2 :] if "checks" not in line]
    assert indented[-3:] == [f"  {line}" for line in listeners[-3:]]
    assert any(line.startswith("  checks") for line in under)

    registry.add("outline", penstock.xquery(streams + "<m>{$a}{$b}</m>", within="2 h"))
    registry.add("shares", penstock.xquery(streams + "<n>{$a}{$b}</n>", within="2 h"))
    registry.add("evaluated", penstock.xquery(streams + "<m n='{count(($a, $b))}'/>", within="2 h"))
    bound = penstock.Engine(registry).explain().splitlines()
    assert bound[1 + len(listeners) :] == [
        "4 sides: what joins of streams read of one stream",
        *joins,
        "join of 2 streams: 2 subscriptions",
        "  messages: put together from pieces",
        "join of 2 streams: 1 subscription",
        "  messages: evaluated for each tuple",
    ]


def test_a_run_that_was_broken_off_leaves_nothing_behind() -> None:
    registry = penstock.Registry()
    registry.add("b", "//b")
    engine = penstock.Engine(registry)
    for start in (engine.run, engine.batches, engine.matches):
        broken = start(["<a><b/></a>"] * 3)
        next(iter(broken))
        broken.close()  # type: ignore[attr-defined]
        assert [row.value for row in engine.run("<a><b>1</b></a>")] == ["<b>1</b>"]
        with pytest.raises(ValueError, match="stop"):
            list(start(_failing()))
        assert [row.value for row in engine.run("<a><b>2</b></a>")] == ["<b>2</b>"]
    assert engine.statistics().of("b").matches >= 6


def _failing() -> Any:
    yield "<a><b/></a>"
    raise ValueError("stop")
