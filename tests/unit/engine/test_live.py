"""Subscriptions that come and go in the middle of a document that does not end."""

from random import Random

import pytest

import penstock
from penstock import Registry
from penstock_testing.generate import random_document

PATHS = ["//a", "//b[@x]", "/r//c", "//a//d", "//*[@y]/b", "//d/@n", "/r/a", "//c[@x or @y]//*"]
# What they select does not depend on what open elements contained before.
EXPRESSIONS = [
    "//a[count(ancestor::*) > 2]",
    "//d/ancestor::*[count(@*) > 0]",
    "//*[../../@x = @x]",
    "//b[count(ancestor::a) + count(@*) > 1]/@*",
    "//c[last() > 0]/..",
    "//*[local-name(..) = 'a']",
]


def rows_of(registry: Registry, document: bytes) -> list[tuple[object, ...]]:
    rows = penstock.Engine(registry).run(document)
    return [(row.subscription, row.start, row.end, row.value, row.xml) for row in rows]


@pytest.mark.parametrize("paths", [PATHS, EXPRESSIONS], ids=["twigs", "expressions"])
@pytest.mark.parametrize("seed", range(40))
def test_a_later_subscription_gets_what_is_opened_from_then_on(seed: int, paths: list[str]) -> None:
    random = Random(seed)
    document = random_document(random)
    registry, everything = Registry(), Registry()
    for path in paths[:3]:
        registry.add(path, path)
    for path in paths:
        everything.add(path, path)
    joined: dict[object, int] = dict.fromkeys(paths[:3], 0)
    found = []
    opened = penstock.Engine(registry).open(id="d", live=True)
    position = 0
    while position < len(document):
        if random.random() < 0.5 and len(joined) < len(paths):
            path = paths[len(joined)]
            registry.add(path, path)
            joined[path] = position
        step = random.randint(1, 40)
        found += opened.feed(document[position : position + step])
        position += step
    found += opened.finish()
    expected = sorted(
        row for row in rows_of(everything, document) if int(str(row[1])) >= joined.get(row[0], 1e9)
    )
    assert sorted((r.subscription, r.start, r.end, r.value, r.xml) for r in found) == expected
    for path in paths:
        ordinals = [row.ordinal for row in found if row.subscription == path]
        assert sorted(ordinals) == list(range(len(ordinals)))


def test_what_is_removed_is_silent_and_what_is_replaced_starts_anew() -> None:
    registry = Registry()
    registry.add("a", "//a")
    registry.add("b", "//b")
    with penstock.Engine(registry).open(live=True) as stream:
        assert [row.subscription for row in stream.feed(b"<r><a/><b/>")] == ["a", "b"]
        registry.remove("b")
        registry.replace("a", "/r/c")
        assert [row.subscription for row in stream.feed(b"<a/><b/><c/>")] == ["a"]
        registry.add("b", "//r")
        assert stream.feed(b"<b/><r/>")[0].value == "<r/>"
        stream.feed(b"</r>")


def test_a_condition_that_began_before_a_change_holds_after_it() -> None:
    registry = Registry()
    registry.add("early", "//a[b]")
    with penstock.Engine(registry).open(live=True) as stream:
        assert stream.feed(b"<r><a><b/>") == []
        registry.add("late", "//a[b]")
        rows = stream.feed(b"</a><a><b/></a>")
        assert [row.subscription for row in rows] == ["early", "early", "late"]
        stream.feed(b"</r>")


@pytest.mark.parametrize("query", ["count(//a)", "count(//a[count(ancestor::*) >= 0])"])
def test_an_aggregate_that_comes_later_counts_what_is_opened_from_then_on(query: str) -> None:
    registry = Registry()
    registry.add("first", "//none")
    with penstock.Engine(registry).open(live=True) as stream:
        assert stream.feed(b"<a><a/><a>") == []
        registry.add("count", query, mode="running")
        assert [row.value for row in stream.feed(b"<a/></a><a/>")] == ["1", "2"]
        registry.add("beside", penstock.xpath("//b", select={"n": "@n", "up": "../@n"}))
        (row,) = stream.feed(b"<b n='1'/>")
        assert row.bindings == {"n": "1", "up": None}
        stream.feed(b"</a>")


def test_a_document_that_is_not_live_keeps_its_subscriptions() -> None:
    registry = Registry()
    registry.add("a", "//a")
    with penstock.Engine(registry).open() as opened:
        assert len(opened.feed(b"<r><a/>")) == 1
        registry.add("b", "//a")
        registry.remove("a")
        assert [row.subscription for row in opened.feed(b"<a/></r>")] == ["a"]


def test_many_changes_leave_the_work_that_one_leaves() -> None:
    registry = Registry()
    names = [f"q{number}" for number in range(60)]
    for name in names:
        registry.add(name, f"//item[@sku = '{name}']/price")
    with penstock.Engine(registry).open(live=True) as stream:
        session = stream._open_reader()._session

        def work_of(items: int) -> int:
            before = session.statistics().steps
            for _ in range(items):
                assert stream.feed(b"<item sku='a'><price>1</price></item>") == []
            return session.statistics().steps - before

        stream.feed(b"<feed>")
        expected = work_of(200)
        for number in range(60, 560):
            names.append(f"q{number}")
            registry.add(names[-1], f"//item[@sku = '{names[-1]}']/price")
            registry.remove(names.pop(0))
            work_of(1)
        work_of(200)
        assert work_of(200) == expected
        assert len(session.tier_states()) == 1
        sku = names[-1]
        rows = stream.feed(f"<item sku='{sku}'><price>2</price></item>".encode())
        assert [(row.subscription, row.ordinal) for row in rows] == [(sku, 0)]
        stream.feed(b"</feed>")


def test_a_subscription_goes_on_counting_its_results_in_a_merged_tier() -> None:
    registry = Registry()
    registry.add("early", "//a")
    with penstock.Engine(registry).open(live=True) as stream:
        assert [row.ordinal for row in stream.feed(b"<r><a/><a/>")] == [0, 1]
        registry.add("late", "//a")
        for _ in range(9):
            stream.feed(b"<b/>")
        assert len(stream._open_reader()._session.tier_states()) == 1
        rows = stream.feed(b"<a/>")
        assert [(row.subscription, row.ordinal) for row in rows] == [("early", 2), ("late", 0)]
        stream.feed(b"</r>")


def test_a_message_of_a_later_subscription_begins_with_the_next_document() -> None:
    registry = Registry()
    registry.add("a", "//a")
    engine = penstock.Engine(registry)
    with engine.open(live=True) as stream:
        stream.feed(b"<r><!--c")
        registry.add("m", penstock.xquery("for $a in //a return <m>{$a/@n}</m>"))
        assert [row.subscription for row in stream.feed(b"--><a n='1'/></r>")] == ["a"]
    with engine.open(live=True) as stream:
        rows = stream.feed(b"<r><a n='2'/></r>")
    assert [row.value for row in rows + stream.results if row.subscription == "m"] == ['<m n="2"/>']
