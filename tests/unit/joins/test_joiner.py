"""Joins through the engine: rows, lateness, eviction, spilling, changes of the registry."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

import penstock
from penstock.joins import Joiner, JoinOptions, WitnessReader
from penstock.planning.programs import compile_program
from penstock.results import Document, Heartbeat, Result

SAME = "S//a->x[k->y] FOLLOWED BY{y = z, 10} S//b->w[k->z]"


def registry_of(**texts: str) -> penstock.Registry:
    registry = penstock.Registry()
    for name, text in texts.items():
        registry.add(name, penstock.xscl(text))
    return registry


def document(name: str, time: float, key: str = "1", number: str | None = None) -> Document:
    identity = f"{name}{time:g}" if number is None else number
    return Document(f"<{name}><k>{key}</k></{name}>", identity, "S", time)


def pairs(rows: list[Result]) -> list[tuple[str, ...] | None]:
    return [row.documents for row in rows if not row.is_error]


def test_a_row_says_what_was_joined() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    (row,) = engine.run([document("a", 1), document("b", 3)])
    assert (row.subscription, row.document, row.documents) == ("q", "b3", ("a1", "b3"))
    assert (row.kind, row.name) == ("event", "event")
    assert row.value == "<event><a><k>1</k></a><b><k>1</k></b></event>"
    assert row.event_time is not None
    assert row.event_time.timestamp() == 3
    assert row.bindings == {"x": "a1[0-15]", "w": "b3[0-15]"}


def test_an_empty_section_at_the_end_of_a_text_is_part_of_the_node() -> None:
    text = "<a>1<![CDATA[]]></a>"
    query = "S//a/text()->x FOLLOWED BY{x = z, 10} S//b/text()->z"
    arrivals = [Document(text, "a", "S", 1), Document("<b>1</b>", "b", "S", 2)]
    (row,) = penstock.Engine(registry_of(q=query)).run(arrivals)
    (selected,) = penstock.evaluate("//a/text()", text)
    assert row.bindings == {"x": f"a[{selected.start}-{selected.end}]", "z": "b[3-4]"}


def test_the_document_of_a_row_is_the_latest_whatever_arrives_first() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    (one,) = engine.run([document("a", 1), document("b", 3)])
    (other,) = engine.run([document("b", 3), document("a", 1)])
    assert one == other


def test_windows_end_with_their_last_moment() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    arrivals = [document("a", 0), document("b", 10), document("b", 10.000001), document("b", 0)]
    assert pairs(list(engine.run(arrivals))) == [("a0", "b10")]


def test_namespaces_in_scope_travel_with_what_is_selected() -> None:
    registry = penstock.Registry()
    text = "SELECT x FROM S//p:a->x[p:k->y] FOLLOWED BY{y = z, 10} S//b[k->z]"
    registry.add("q", penstock.xscl(text, namespaces={"p": "urn:p"}))
    left = Document("<r xmlns='urn:p' xmlns:q='urn:q'><a><k>1</k></a></r>", "l", "S", 1)
    (row,) = penstock.Engine(registry).run([left, document("b", 2)])
    assert row.value == '<event><a xmlns="urn:p" xmlns:q="urn:q"><k>1</k></a></event>'


def test_entities_are_expanded_in_what_is_selected() -> None:
    source = (
        "<!DOCTYPE r [<!ENTITY e '1'>]>"
        "<r xmlns:p='urn:p'><a xmlns:q='urn:q' q:n='&e;&#9;'>"
        "<k>&e;</k><p:c/><?i x?><!--&--></a></r>"
    )
    engine = penstock.Engine(
        registry_of(q="SELECT x FROM S//a->x[k->y] JOIN{y = z, 10} S//b[k->z]")
    )
    (row,) = engine.run([Document(source, "l", "S", 1), document("b", 2)])
    assert row.value == (
        '<event><a xmlns:p="urn:p" xmlns:q="urn:q" q:n="1&#9;">'
        "<k>1</k><p:c></p:c><?i x?><!--&--></a></event>"
    )


def test_a_late_document_is_reported_and_kept_aside() -> None:
    engine = penstock.Engine(registry_of(q=SAME), lateness=5)
    rows = list(engine.run([document("a", 1), document("b", 20), document("b", 2)]))
    (late,) = (row for row in rows if row.is_error)
    assert late.error is not None
    assert (late.error.code, late.document) == ("PJ0001", "b2")
    assert late.source == b"<b><k>1</k></b>"
    assert pairs(rows) == []


def test_records_go_when_no_window_can_need_them() -> None:
    joiner = Joiner(JoinOptions(lateness=1))
    joiner.add(0, 0, "q", compile_program(penstock.xscl(SAME)))
    joiner.settle()
    reader = WitnessReader(joiner.joins)
    for second in range(1000):
        witness = reader.read("S", [f"<a><k>{second}</k></a>".encode()])
        assert joiner.join(witness, str(second), second * 1_000_000, 0)
        assert list(joiner.results(0)) == []
    assert joiner.statistics().records <= 13


def test_a_malformed_document_joins_nothing() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    broken = Document("<a><k>1</k>", "broken", "S", 1)
    rows = list(engine.run([broken, document("b", 2)]))
    assert [row.is_error for row in rows] == [True]


def test_a_document_larger_than_its_limit_joins_nothing() -> None:
    limits = penstock.Limits(buffer_bytes_max=4096)
    engine = penstock.Engine(registry_of(q=SAME), limits)
    large = Document(f"<a><k>1</k>{'<x/>' * 200}</a>", "large", "S", 1)
    rows = list(engine.run([large, document("a", 1.5), document("b", 2)]))
    assert [row.error.code for row in rows if row.error] == ["PL0007"]
    assert pairs(rows) == [("a1.5", "b2")]


def test_absence_is_reported_when_its_window_has_passed() -> None:
    text = "S//a->x[k->y] NOT FOLLOWED BY{y = z, 10} S//b[k->z]"
    engine = penstock.Engine(registry_of(q=text), lateness=0)
    steps = engine.steps(
        [document("a", 0), document("b", 5, "2"), document("b", 10, "2"), document("c", 10.5)]
    )
    assert [[row.documents for row in rows] for rows in steps if rows] == [[("a0",)]]


def test_an_absence_far_back_is_published_before_what_depends_on_it() -> None:
    engine = penstock.Engine(
        registry_of(
            lonely="SELECT x FROM S//a->x[k->y] NOT FOLLOWED BY{y = z, 5} S//b[k->z] PUBLISH L",
            silent="S//c->x[k->y] NOT FOLLOWED BY{y = z, 2} L//a[k->z]",
        ),
        lateness=0,
    )
    # `a` is lonely, and that is known only when time jumps; then `c` is not silent.
    rows = list(engine.run([document("c", 0), document("a", 1), document("d", 1000)]))
    assert [(row.subscription, row.documents) for row in rows] == [("lonely", ("a1",))]


def test_a_later_subscription_does_not_see_earlier_documents() -> None:
    registry = registry_of(q=SAME)

    def arrivals() -> Iterator[Document]:
        yield document("a", 1)
        registry.add("late", penstock.xscl(SAME))
        yield document("b", 2)
        yield document("a", 3)
        yield document("b", 4)

    rows = list(penstock.Engine(registry).run(arrivals()))
    found = sorted((str(row.subscription), row.documents) for row in rows)
    assert found == [
        ("late", ("a3", "b4")),
        ("q", ("a1", "b2")),
        ("q", ("a1", "b4")),
        ("q", ("a3", "b4")),
    ]


def test_a_removed_subscription_joins_no_more() -> None:
    registry = registry_of(q=SAME, other=SAME)

    def arrivals() -> Iterator[Document]:
        yield document("a", 1)
        registry.remove("q")
        yield document("b", 2)

    rows = list(penstock.Engine(registry).run(arrivals()))
    assert [row.subscription for row in rows] == ["other"]


def test_join_queries_stand_beside_others() -> None:
    registry = registry_of(q=SAME)
    registry.add("keys", "//k")
    rows = list(penstock.Engine(registry).run([document("a", 1), document("b", 2)]))
    assert sorted(str(row.subscription) for row in rows) == ["keys", "keys", "q"]


def test_a_bare_block_reads_its_stream_alone() -> None:
    engine = penstock.Engine(registry_of(q="S//k"))
    other = Document("<a><k>2</k></a>", "other", "T", 1)
    (row,) = engine.run([document("a", 1), other])
    assert (row.document, row.kind, row.value, row.start, row.end) == (
        "a1",
        "element",
        "<k>1</k>",
        3,
        11,
    )


def test_a_durable_registry_keeps_join_queries(tmp_path: object) -> None:
    path = str(tmp_path)
    penstock.Registry.open(path).add("q", penstock.xscl(SAME))
    (row,) = penstock.Engine(penstock.Registry.open(path)).run([document("a", 1), document("b", 2)])
    assert row.documents == ("a1", "b2")


def test_batches_have_the_same_rows() -> None:
    engine = penstock.Engine(registry_of(q=SAME))
    source = [document("a", 1), document("b", 2)]
    (row,) = engine.run(source)
    (batch,) = engine.batches(source)
    (column,) = batch.to_pylist()
    assert (column["documents"], column["value"]) == (["a1", "b2"], row.value)


def test_batches_join_for_a_subscription_that_comes_later() -> None:
    registry = registry_of()
    registry.add("keys", "//k")

    def arrivals() -> Iterator[Document | Heartbeat]:
        yield document("a", 1)
        registry.add("q", penstock.xscl(SAME))
        yield document("a", 2)
        yield Heartbeat("S", 2.5)
        yield document("b", 3)

    batches = penstock.Engine(registry, lateness=1).batches(arrivals())
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [row["documents"] for row in rows if row["subscription"] == "q"] == [["a2", "b3"]]
    assert sum(row["subscription"] == "keys" for row in rows) == 3


def test_one_value_in_ten_thousand_records_is_found_after_spilling() -> None:
    options = JoinOptions(state_bytes_max=100_000)
    engine = penstock.Engine(registry_of(q=SAME.replace("10}", "INF}")), joins=options)
    arrivals = [document("a", second, str(second)) for second in range(5000)]
    rows = list(engine.run([*arrivals, document("b", 6000, "17"), document("b", 6001, "4999")]))
    assert pairs(rows) == [("a17", "b6000"), ("a4999", "b6001")]


def test_an_event_that_cannot_be_published_is_an_error_of_its_subscription() -> None:
    deep = "SELECT <o><o>{x}</o></o> FROM S//a->x JOIN{x = y, 9} S//b->y PUBLISH P"
    registry = registry_of(deep=deep, same="S//a->x JOIN{x = y, 9} S//b->y", reader="P//o")
    engine = penstock.Engine(registry, penstock.Limits(depth_max=3))
    rows = list(engine.run([document("a", 1), document("b", 2)]))
    (failed,) = (row for row in rows if row.is_error)
    (same,) = (row for row in rows if not row.is_error)
    assert same.subscription == "same"
    assert failed.error is not None
    assert (failed.subscription, failed.kind, failed.error.code) == ("deep", "error", "PL0001")
    assert (failed.source, failed.value, failed.bindings) == (None, None, None)
    assert (failed.document, failed.documents) == ("b2", ("a1", "b2"))
    assert failed.event_time == same.event_time


def test_event_time_goes_on_before_anybody_joins() -> None:
    registry = registry_of()

    def arrivals() -> Iterator[Document]:
        yield document("z", 100)
        registry.add("q", penstock.xscl(SAME))
        yield document("a", 1)

    (row,) = penstock.Engine(registry, lateness=5).run(arrivals())
    assert row.error is not None
    assert (row.document, row.error.code) == ("a1", "PJ0001")


def test_an_engine_keeps_the_lateness_of_its_joins() -> None:
    options = JoinOptions(lateness=5)
    engines = [
        penstock.Engine(registry_of(q=SAME), joins=options),
        penstock.Engine(registry_of(q=SAME), lateness=1, joins=options),
        penstock.Engine(registry_of(q=SAME)),
    ]
    assert [engine.lateness for engine in engines] == [5, 1, None]
    assert [engine.joins.lateness for engine in engines] == [5, 1, None]


@pytest.mark.parametrize("lateness", [-1, float("nan"), float("inf"), timedelta.max])
def test_lateness_is_a_number_of_seconds(lateness: float) -> None:
    with pytest.raises(ValueError, match="lateness"):
        penstock.Engine(registry_of(), lateness=lateness)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("S//@n", ("attribute", "n", "<", "&lt;")),
        ("S//p:b", ("element", "{urn:p}b", None, None)),
        ("S//comment()", ("comment", "", "c", "<!--c-->")),
        ("S//processing-instruction()", ("processing-instruction", "x", "y", "<?x y?>")),
        ("S//text()", ("text", "", "&", "&amp;")),
    ],
)
def test_a_bare_block_gives_nodes_of_all_kinds(query: str, found: tuple[str, ...]) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xscl(query, namespaces={"p": "urn:p"}))
    xml = "<a n='&lt;' xmlns:p='urn:p'><!--c--><?x y?>&amp;<p:b/></a>"
    (row,) = penstock.Engine(registry).run(Document(xml, stream="S"))
    kind, name, value, text = found
    assert (row.kind, row.name) == (kind, name)
    assert row.value == (value or '<p:b xmlns:p="urn:p"/>')
    assert row.xml == (text or row.value)


def test_xml_of_an_event_is_its_value() -> None:
    (row,) = penstock.Engine(registry_of(q=SAME)).run([document("a", 1), document("b", 2)])
    assert row.xml == row.value
    assert str(row.value).startswith("<event>")
