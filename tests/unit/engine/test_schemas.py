"""Engines with schemas: trusted, checked, off; for some streams and not for others."""

from pathlib import Path

import pytest

import penstock
from benchmarks.broker.documents import documents
from benchmarks.broker.dtds import BIB
from penstock.errors import SettingError
from penstock.registry import MemoryRegistry
from penstock.results import Result
from penstock.schemas import Mode

BIB_SCHEMA = penstock.schema(BIB.path)
FITTING = (
    "<bib><book year='1'><title>t</title><author><last>l</last><first>f</first></author>"
    "<publisher>p</publisher><price>9</price></book></bib>"
)
BREAKING = {
    "elsewhere": "<bib><book year='1'><title/><box><price>9</price></box></book></bib>",
    "another root": "<book><price>9</price></book>",
    "above": "<bib><shelf><book><price>9</price></book></shelf></bib>",
    "the root inside": "<bib><bib><book><price>9</price></book></bib></bib>",
    "the root alone": "<price>9</price>",
    "several": "<bib><book><price>20</price><price>9</price></book><price>1</price></bib>",
}
TEXTS = ("//price", "//book[.//price < 11]", "count(//price)", "//bib//price", "//book/price/..")


def registry_of(*texts: str) -> MemoryRegistry:
    """Return a registry of queries that are called after their texts."""
    registry = penstock.Registry()
    for text in texts:
        registry.add(text, text)
    return registry


def engine_of(registry: MemoryRegistry, mode: Mode = "verify") -> penstock.Engine:
    """Return an engine that reads the default stream under the schema."""
    return penstock.Engine(registry, schemas={"default": BIB_SCHEMA.with_mode(mode)})


def described(rows: list[Result]) -> list[tuple[object, ...]]:
    """Return rows without what they are read from, in an order of their own."""
    parts = ("subscription", "document", "ordinal", "kind", "value", "start", "decided_at")
    return sorted((tuple(getattr(row, part) for part in parts) for row in rows), key=repr)


@pytest.mark.parametrize("name", BREAKING)
def test_a_document_that_breaks_a_checked_schema_is_read_without_it(name: str) -> None:
    registry = registry_of(*TEXTS)
    plain = [*penstock.Engine(registry).run(BREAKING[name])]
    assert len(plain) >= 2
    assert described([*engine_of(registry).run(BREAKING[name])]) == described(plain)
    assert described([*engine_of(registry, "off").run(BREAKING[name])]) == described(plain)


def test_a_trusted_schema_may_miss_what_breaks_it() -> None:
    registry = registry_of("//price")
    assert [*engine_of(registry, "trust").run(BREAKING["elsewhere"])] == []
    assert len([*engine_of(registry, "trust").run(FITTING)]) == 1


@pytest.mark.parametrize("mode", ["verify", "trust"])
def test_fitting_documents_give_the_same_rows(mode: Mode) -> None:
    registry = registry_of(*TEXTS)
    for document in documents(BIB, 5):
        plain = described([*penstock.Engine(registry).run(document)])
        assert described([*engine_of(registry, mode).run(document)]) == plain


def test_broken_documents_in_a_bundle_keep_their_place() -> None:
    registry = registry_of(*TEXTS)
    texts = [FITTING, BREAKING["several"], BREAKING["above"], FITTING, "<bib><book>", FITTING] * 5
    given = [penstock.Document(text, id=str(place)) for place, text in enumerate(texts)]
    plain = penstock.Engine(registry).batches(given)
    under = engine_of(registry).batches(given)
    rows = [[row for batch in batches for row in batch.to_pylist()] for batches in (plain, under)]
    for kind in rows:
        kind.sort(key=lambda row: (int(row["document"]), repr(row)))
    assert rows[0] == rows[1]
    order = [
        int(row["document"]) for b in engine_of(registry).batches(given) for row in b.to_pylist()
    ]
    assert order == sorted(order)


def test_matches_are_the_same() -> None:
    registry = registry_of(*TEXTS)
    given = [FITTING, BREAKING["above"], FITTING]
    counts = []
    for engine in (penstock.Engine(registry), engine_of(registry)):
        found = [*engine.matches(map(penstock.Document, given))]
        counts.append(sorted(name for one in found for name in one.subscriptions().to_pylist()))
    assert counts[0] == counts[1]


def test_each_stream_has_its_own_schema_and_others_have_none() -> None:
    registry = registry_of("//price")
    trusted = BIB_SCHEMA.with_mode("trust")
    engine = penstock.Engine(registry, schemas={"books": trusted, "checked": BIB_SCHEMA})
    broken = BREAKING["elsewhere"]
    streams = ["books", "other", "checked", "books", "checked"]
    given = [
        penstock.Document(broken, id=str(place), stream=stream)
        for place, stream in enumerate(streams)
    ]
    assert [(row.document, row.stream) for row in engine.run(given)] == [
        ("1", "other"),
        ("2", "checked"),
        ("4", "checked"),
    ]


def test_documents_in_pieces_are_read_without_a_checked_schema() -> None:
    registry = registry_of("//price")
    for mode, count in (("verify", 1), ("trust", 0)):
        engine = engine_of(registry, mode)  # type: ignore[arg-type]
        with engine.open() as document:
            rows = document.feed(BREAKING["elsewhere"].encode())
        assert len(rows) + len(document.results) == count
    large = f"<bib><box><price>9</price></box>{'<!-- -->' * 200_000}</bib>"
    assert len([*engine_of(registry).run(large)]) == 1


def test_rows_of_one_event_may_come_in_another_order_and_of_one_subscription_never() -> None:
    registry = registry_of("/bib/book/price", "//title | //price", "//book//price")
    plain, checked = (
        [*engine.run(FITTING)] for engine in (penstock.Engine(registry), engine_of(registry))
    )
    assert [row.subscription for row in plain] != [row.subscription for row in checked]
    assert [row.decided_at for row in plain] == [row.decided_at for row in checked]
    by_name = [sorted(rows, key=lambda row: str(row.subscription)) for rows in (plain, checked)]
    assert described(by_name[0]) == described(by_name[1])


def test_files_are_read_once_more_with_the_bytes_they_had(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text(BREAKING["above"])
    registry = registry_of(*TEXTS)
    plain = described([*penstock.Engine(registry).run(path)])
    assert described([*engine_of(registry).run(path)]) == plain


def test_changes_of_the_registry_are_followed() -> None:
    registry = registry_of("//price")
    engine = engine_of(registry)
    assert len([*engine.run(FITTING)]) == 1
    registry.add("last", "//author//last")
    assert {row.subscription for row in engine.run(FITTING)} == {"//price", "last"}
    registry.replace("last", "//author//first")
    assert {row.value for row in engine.run(FITTING) if row.subscription == "last"} == {
        "<first>f</first>"
    }
    broken = "<bib><book><box><author><first>x</first></author></box></book></bib>"
    assert [row.subscription for row in engine.run(broken)] == ["last"]
    registry.remove("last")
    assert [row.subscription for row in engine.run(FITTING)] == ["//price"]


def test_a_change_while_documents_flow_takes_effect_at_the_next_one() -> None:
    registry = registry_of("//price")

    def source() -> object:
        yield penstock.Document(FITTING, id="0")
        registry.add("titles", "//title")
        yield penstock.Document(FITTING, id="1")
        yield penstock.Document(BREAKING["elsewhere"], id="2")

    rows = [(row.document, row.subscription) for row in engine_of(registry).run(source())]
    assert sorted(rows) == [
        ("0", "//price"),
        ("1", "//price"),
        ("1", "titles"),
        ("2", "//price"),
        ("2", "titles"),
    ]


def test_what_watches_is_no_subscription() -> None:
    registry = registry_of("//price")
    engine = engine_of(registry)
    rows = [*engine.run([penstock.Document(FITTING), penstock.Document(BREAKING["above"])])]
    assert {row.subscription for row in rows} == {"//price"}
    assert len(engine.statistics()) == 1
    said = engine.explain()
    assert "1 subscriptions are rewritten" in said
    assert "where bib, book, price may stand" in said


def test_joins_read_trusted_streams_with_rewritten_paths() -> None:
    registry = penstock.Registry()
    registry.add("same", penstock.xscl("S//book[.//price->p]->b JOIN{p = q, 1 h} T//price->q"))
    given = [
        penstock.Document(FITTING, id="1", stream="S", time=1),
        penstock.Document(FITTING, id="2", stream="T", time=2),
        penstock.Document(BREAKING["above"], id="3", stream="S", time=3),
    ]
    found = {}
    for mode in ("off", "verify", "trust"):
        schemas = {"S": BIB_SCHEMA.with_mode(mode), "T": BIB_SCHEMA.with_mode(mode)}  # type: ignore[arg-type]
        rows = penstock.Engine(registry, schemas=schemas).run(given)
        found[mode] = sorted(row.documents or () for row in rows)
    assert found["off"] == found["verify"] == [("1", "2"), ("3", "2")]
    assert found["trust"] == [("1", "2")]


def test_messages_of_xquery_are_the_same() -> None:
    registry = penstock.Registry()
    text = "<r>{for $b in //book where $b//price < 11 return <b>{$b//price}</b>}</r>"
    registry.add("cheap", penstock.xquery(text))
    for document in (FITTING, *BREAKING.values()):
        plain = described([*penstock.Engine(registry).run(document)])
        assert described([*engine_of(registry).run(document)]) == plain


def test_what_is_no_schema_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        penstock.Engine(registry_of("//a"), schemas={"default": "bib.dtd"})  # type: ignore[dict-item]
    assert caught.value.code == "PM0011"
