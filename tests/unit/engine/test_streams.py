"""Queries over several streams in the engine: side by side, pushed, changed while they run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

import penstock
from penstock.engine.beside import AHEAD_MAX
from penstock.engine.gathering import GatheringRegistry, GatheringSnapshot
from penstock.errors import RegistryError
from penstock.joins import JoinOptions
from penstock.registry.requests import joins_of

PAIRS = (
    "for $a in stream('news')//item, $b in stream('blogs')//post where $a/k = $b/k "
    "return <m>{string($a/@id)}-{string($b/@id)}</m>"
)


def engine_of(*texts: str, **options: object) -> penstock.Engine:
    registry = penstock.Registry()
    for number, text in enumerate(texts or [PAIRS]):
        registry.add(f"q{number}", penstock.xquery(text))
    return penstock.Engine(registry, **options)  # type: ignore[arg-type]


def item(number: int, key: object, time: float | None = None) -> penstock.Document:
    data = f"<r><item id='{number}'><k>{key}</k></item></r>"
    return penstock.Document(data, id=f"n{number}", stream="news", time=time)


def post(number: int, key: object, time: float | None = None) -> penstock.Document:
    data = f"<r><post id='{number}'><k>{key}</k></post></r>"
    return penstock.Document(data, id=f"b{number}", stream="blogs", time=time)


def values(rows: list[penstock.Result]) -> list[str]:
    return [(row.value or "").removeprefix("<m>").removesuffix("</m>") for row in rows]


def test_rows_name_their_documents_and_have_the_latest_event_time() -> None:
    (row,) = engine_of().run([item(1, "x", 5), post(2, "x", 3)])
    assert (row.documents, row.document, row.stream) == (("n1", "b2"), "n1", "blogs")
    assert row.event_time is not None
    assert row.event_time.timestamp() == 5


def test_ids_do_not_depend_on_the_order_of_arrival() -> None:
    documents = [item(1, "x"), post(2, "x"), item(3, "x"), post(4, "x")]
    forward = {(row.value, row.ordinal) for row in engine_of().run(documents)}
    backward = {(row.value, row.ordinal) for row in engine_of().run(documents[::-1])}
    assert forward == backward
    assert len({ordinal for _, ordinal in forward}) == 4


def test_results_come_while_both_inputs_are_open() -> None:
    has_row = Event()

    def items() -> Iterator[penstock.Document]:
        yield item(1, "x")
        assert has_row.wait(60)
        yield item(2, "x")

    def posts() -> Iterator[penstock.Document]:
        yield post(1, "x")
        assert has_row.wait(60)

    found = []
    for row in engine_of().run({"news": items(), "blogs": posts()}):
        found.append(row)
        has_row.set()
    assert values(found) == ["1-1", "2-1"]


def test_a_source_is_not_read_far_ahead_of_the_results() -> None:
    given = 0

    def items() -> Iterator[penstock.Document]:
        nonlocal given
        for given in range(1, 1000):
            yield item(given, "x")

    rows = engine_of().run({"news": items(), "blogs": [post(1, "x")]})
    taken = [next(rows) for _ in range(20)]
    assert len(taken) == 20
    # What is taken, what is under way, what waits in the queue and what waits for room there.
    assert given <= 20 + 2 * AHEAD_MAX + 2


def test_a_large_document_does_not_hold_up_another_one() -> None:
    large = "<r>" + "<item id='1'><k>x</k></item>" + "<pad/>" * 500_000 + "</r>"
    late = large.replace("<pad/></r>", "<item id='9'><k>x</k></item></r>")
    rows = [*engine_of().run({"news": late, "blogs": [post(1, "x"), post(2, "x")]})]
    assert values(rows)[-2:] == ["9-1", "9-2"]
    assert set(values(rows)[:2]) == {"1-1", "1-2"}


def test_an_error_of_a_source_ends_the_run() -> None:
    def broken() -> Iterator[penstock.Document]:
        yield item(1, "x")
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        list(engine_of().run({"news": broken(), "blogs": [post(1, "x")]}))


def test_what_a_malformed_document_gave_before_its_error_stands() -> None:
    bad = penstock.Document("<r><post id='7'><k>x</k></post></s>", id="bad", stream="blogs")
    joined, error, later = engine_of().run([item(1, "x"), bad, item(2, "x")])
    assert values([joined, later]) == ["1-7", "2-7"]
    assert error.error is not None
    assert error.error.reason.endswith("after 1 bindings that were joined")


def test_bindings_of_one_document_join_each_other() -> None:
    text = (
        "for $a in doc('s')//a, $b in doc('s')//b, $c in stream('t')//c "
        "where $a = $b and $b = $c return <m>{string($a)}</m>"
    )
    documents = [
        penstock.Document("<r><a>1</a><b>1</b><b>2</b></r>", stream="s"),
        penstock.Document("<r><c>1</c><c>2</c></r>", stream="t"),
    ]
    assert values([*engine_of(text).run(documents)]) == ["1"]


def test_documents_that_are_pushed_join_as_soon_as_a_binding_is_complete() -> None:
    engine = engine_of()
    news, blogs = engine.open(stream="news"), engine.open(stream="blogs")
    assert news.feed(b"<r><item id='1'><k>x</k></item><item id='2'><k>y") == []
    assert values(blogs.feed(b"<r><post id='1'><k>y</k><k>x</k></post>")) == ["1-1"]
    assert values(news.feed(b"</k></item>")) == ["2-1"]
    with pytest.raises(penstock.DocumentError, match="after 1 bindings"):
        blogs.feed(b"</s>")
    assert values(news.feed(b"<item id='3'><k>x</k></item></r>")) == ["3-1"]
    assert news.finish() == []
    assert engine.close() == []
    with engine.open(stream="blogs") as after:
        assert after.feed(b"<r><post id='5'><k>x</k></post></r>") == []


def test_what_memory_missed_comes_at_the_end_of_what_is_pushed() -> None:
    engine = engine_of(joins=JoinOptions(state_bytes_max=4000))
    early = []
    for number in range(200):
        with engine.open(stream="news" if number % 2 else "blogs") as document:
            name = "item" if number % 2 else "post"
            data = f"<r><{name} id='{number}'><k>{number % 20 // 2}</k></{name}></r>"
            early += document.feed(data.encode())
        early += document.results
    settled = engine.heartbeat("news", 1)
    assert settled
    rows = early + settled + engine.close()
    assert len(rows) == len({row.value for row in rows}) == 1000


def test_a_subscription_that_comes_later_sees_what_is_read_from_then_on() -> None:
    engine = engine_of()
    registry = engine.registry
    assert isinstance(registry, penstock.Registry)

    def documents() -> Iterator[penstock.Document]:
        yield item(1, "x")
        registry.add("later", penstock.xquery(PAIRS))
        yield post(1, "x")
        yield item(2, "x")
        registry.remove("q0")
        yield item(3, "x")

    rows = [*engine.run(documents())]
    found = [(row.subscription, value) for row, value in zip(rows, values(rows), strict=True)]
    assert found == [("q0", "1-1"), ("q0", "2-1"), ("later", "2-1"), ("later", "3-1")]


def test_what_is_too_far_apart_does_not_join() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(PAIRS, within="2 h"))
    hours = [item(1, "x", 0), post(1, "x", 7200), post(2, "x", 7201), item(2, "x", 10_000)]
    assert values([*penstock.Engine(registry).run(hours)]) == ["1-1", "2-1", "2-2"]


def test_with_lateness_the_state_is_bounded_by_event_time() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(PAIRS, within="10 s"))
    engine = penstock.Engine(registry, lateness=5)
    for second in range(1000):
        with engine.open(stream="news", time=second) as document:
            document.feed(b"<r><item id='1'><k>x</k></item></r>")
    (tables,) = engine._pushed_joins.stages[-1]._tables
    resident = sum(one.resident for one in tables._joiner.statistics().streams)
    assert 10 <= resident <= 10 + 5 + 10 // 4 + 2


def test_a_document_before_the_watermark_is_late() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xquery(PAIRS, within="10 s"))
    rows = [*penstock.Engine(registry, lateness=5).run([item(1, "x", 100), post(1, "x", 94)])]
    assert [row.error and row.error.code for row in rows] == ["PJ0001"]


def test_equal_twigs_are_matched_once_and_equal_joins_share_their_tables() -> None:
    other = PAIRS.replace("<m>", "<n>").replace("</m>", "</n>")
    third = PAIRS.replace("stream('blogs')//post", "stream('mail')//post")
    engine = engine_of(PAIRS, other, third)
    snapshot = GatheringRegistry(engine.registry).snapshot()
    assert isinstance(snapshot, GatheringSnapshot)
    assert len(snapshot.sides) == 3
    binder = engine._pushed_joins.stages[-1]
    binder._take_over(snapshot)
    assert [tables.names for tables in binder._tables] == [["q0", "q1"], ["q2"]]
    assert len([*engine.run([item(1, "x"), post(1, "x")])]) == 2


def test_a_tuple_without_a_message_leaves_the_others_theirs() -> None:
    text = PAIRS.replace("string($a/@id)", "$a/@id + 1")
    bad = penstock.Document("<r><item id='no'><k>x</k></item></r>", id="bad", stream="news")
    rows = [*engine_of(text, PAIRS).run([item(1, "x"), bad, item(3, "x"), post(1, "x")])]
    assert values([row for row in rows if row.subscription == "q0" and not row.error]) == [
        "2-1",
        "4-1",
    ]
    (error,) = [row for row in rows if row.error]
    assert (error.subscription, error.documents) == ("q0", ("bad", "b1"))
    assert len([row for row in rows if row.subscription == "q1"]) == 3


def test_a_condition_that_has_no_value_is_an_error_of_its_subscriptions() -> None:
    text = PAIRS.replace("where ", "where $a/@id > 0 and ")
    bad = penstock.Document("<r><item id='no'><k>x</k></item></r>", id="bad", stream="news")
    rows = [*engine_of(text).run([item(1, "x"), bad, post(1, "x")])]
    assert [(row.subscription, row.error and row.error.code) for row in rows] == [
        ("q0", "PX0001"),
        ("q0", None),
    ]


def test_a_condition_that_has_no_value_is_an_error_of_those_whose_others_hold() -> None:
    others = ["", " and $a/@of = 'x'", " and $a/@of = 'y'", " and $a/@id <= 2"]
    engine = engine_of(*[PAIRS.replace("where ", f"where $a/@id >= 1{one} and ") for one in others])
    news = "<item id='no' of='x'><k>x</k></item><item id='no'/><item id='3' of='x'><k>x</k></item>"
    bad = penstock.Document(f"<r>{news}</r>", id="bad", stream="news")
    rows = [*engine.run([item(2, "x"), bad, post(1, "x")])]
    failed = [row.subscription for row in rows if row.error]
    assert sorted(failed) == ["q0", "q1", "q3"], "each is told of a document once"
    assert {row.error.code for row in rows if row.error} == {"PX0001"}
    assert sorted(row.subscription for row in rows if not row.error) == ["q0", "q0", "q1", "q3"]


def test_rows_as_batches_are_the_same() -> None:
    documents = [item(1, "x"), post(1, "x"), post(2, "x")]
    batches = engine_of().batches(documents)
    found = [value for batch in batches for value in batch.column("value").to_pylist()]
    assert found == [row.value for row in engine_of().run(documents)]


def test_calls_that_cannot_join_streams_say_so() -> None:
    engine = engine_of()
    with pytest.raises(RegistryError, match=r"q0.*joins streams.*use Engine\.run"):
        engine.matches([])
    with pytest.raises(RegistryError, match="without `live`"):
        engine.open(live=True)
    for call in ("penstock.spark.statements", "a pipeline"):
        with pytest.raises(RegistryError, match=rf"{call} does not evaluate; use Engine\.run"):
            joins_of(engine.registry.snapshot(), call)


def test_an_engine_with_schemas_refuses_streams(tmp_path: Path) -> None:
    dtd = tmp_path / "shop.dtd"
    dtd.write_text("<!ELEMENT r ANY>")
    engine = engine_of(schemas={"news": penstock.schema(str(dtd))})
    with pytest.raises(RegistryError, match="an engine with schemas"):
        list(engine.run([item(1, "x")]))


def test_streams_with_sources_are_for_runs_of_rows() -> None:
    with pytest.raises(TypeError, match="side by side"):
        list(engine_of().batches({"news": [item(1, "x")]}))  # type: ignore[dict-item]


def test_bindings_beyond_a_limit_of_results_give_an_error() -> None:
    engine = engine_of(limits=penstock.Limits(results_max=10))
    many = "<r>" + "<item><k>x</k></item>" * 20 + "</r>"
    rows = [*engine.run({"news": many, "blogs": [post(1, "x")]})]
    assert [(row.subscription, row.error.code) for row in rows if row.error] == [("q0", "PL0016")]
    # A binding with one value takes two of the results of its side.
    assert len(rows) == 1 + 10 // 2


def test_changes_take_effect_between_documents_that_come_in_pieces() -> None:
    engine = engine_of()
    registry = engine.registry
    assert isinstance(registry, penstock.Registry)
    has_row = Event()
    pad = " " * (2 << 20)

    def items() -> Iterator[penstock.Document]:
        yield penstock.Document(f"<r><item id='1'><k>x</k></item>{pad}</r>")
        assert has_row.wait(60)
        registry.add("later", penstock.xquery(PAIRS))
        yield penstock.Document(f"<r><item id='2'><k>x</k></item>{pad}</r>")

    def posts() -> Iterator[penstock.Document]:
        yield penstock.Document(f"<r><post id='1'><k>x</k></post>{pad}</r>")
        assert has_row.wait(60)

    found = []
    for row in engine.run({"news": items(), "blogs": posts()}):
        found.append((row.subscription, values([row])[0]))
        has_row.set()
    assert found == [("q0", "1-1"), ("q0", "2-1")]
    assert [row.subscription for row in engine.run([item(1, "x"), post(1, "x")])] == ["q0", "later"]


def test_cancel_ends_a_run_over_several_sources() -> None:
    engine = engine_of()
    rows = engine.run({"news": (item(n, "x") for n in range(10_000)), "blogs": [post(1, "x")]})
    next(rows)
    engine.cancel()
    with pytest.raises(penstock.errors.CancelledError):
        list(rows)
