"""XQuery gives the same rows however documents are read, and whoever else is subscribed."""

from __future__ import annotations

from random import Random

import pytest

import penstock
from penstock.errors import QueryError
from penstock_testing.generate.documents import random_document
from penstock_testing.generate.flwor import random_xquery
from tests.volume import short

Row = tuple[str | None, int, str, str | None, str]
SEEDS = short(range(40), 10)


def queries(random: Random, count: int) -> dict[str, penstock.Query]:
    """Return random queries by name; those that are rejected are drawn again."""
    made: dict[str, penstock.Query] = {}
    while len(made) < count:
        try:
            made[f"q{len(made)}"] = penstock.xquery(random_xquery(random))
        except QueryError:
            continue
    return made


def registry_of(made: dict[str, penstock.Query]) -> penstock.Registry:
    registry = penstock.Registry()
    for name, query in made.items():
        registry.add(name, query)
    return registry


def comparable(rows: list[penstock.Result]) -> list[Row]:
    """Return what a subscription gets, in its own order."""
    listed = [
        (
            row.subscription,
            row.ordinal,
            row.kind,
            row.value,
            row.error.reason if row.error else f"{row.start}-{row.end}",
        )
        for row in rows
    ]
    return sorted(listed, key=lambda row: (row[0] or "", row[1], row[2]))


def fed(registry: penstock.Registry, document: bytes, cuts: list[int]) -> list[penstock.Result]:
    rows: list[penstock.Result] = []
    with penstock.Engine(registry).open() as opened:
        for start, end in zip([0, *cuts], [*cuts, len(document)], strict=True):
            rows += opened.feed(document[start:end])
        rows += opened.finish()
    return rows


@pytest.mark.parametrize("seed", SEEDS)
def test_pieces_of_any_size_give_the_same_rows(seed: int) -> None:
    random = Random(seed)
    registry = registry_of(queries(random, 4))
    document = random_document(random)
    whole = comparable(list(penstock.Engine(registry).run(document)))
    assert comparable(fed(registry, document, [*range(1, len(document))])) == whole
    for _ in range(3):
        places = random.sample(range(len(document) + 1), min(5, len(document)))
        assert comparable(fed(registry, document, sorted(places))) == whole


@pytest.mark.parametrize("seed", SEEDS)
def test_queries_together_give_what_each_gives_alone(seed: int) -> None:
    random = Random(1_000 + seed)
    made = queries(random, 5)
    documents = [random_document(random) for _ in range(3)]
    registry = registry_of(made)
    registry.add("path", "//*")
    together = list(penstock.Engine(registry).run(documents))
    for name, query in made.items():
        alone = list(penstock.Engine(registry_of({name: query})).run(documents))
        ours = [row for row in together if row.subscription == name]
        assert comparable(ours) == comparable(alone)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_query_that_came_and_went_leaves_no_trace(seed: int) -> None:
    random = Random(2_000 + seed)
    made = queries(random, 3)
    document = random_document(random)
    registry = registry_of(made)
    engine = penstock.Engine(registry)
    expected = comparable(list(penstock.Engine(registry_of(made)).run(document)))
    assert comparable(list(engine.run(document))) == expected
    registry.add("guest", penstock.xquery("count(//*)"))
    with_guest = list(engine.run(document))
    assert len([row for row in with_guest if row.subscription == "guest"]) == 1
    assert comparable([row for row in with_guest if row.subscription != "guest"]) == expected
    registry.remove("guest")
    assert comparable(list(engine.run(document))) == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_a_document_that_declares_entities_gives_the_same_items(seed: int) -> None:
    random = Random(3_000 + seed)
    registry = registry_of(queries(random, 4))
    plain = random_document(random).decode()
    while plain.startswith("<?xml") or "<!DOCTYPE" in plain:
        plain = random_document(random).decode()
    declared = f'<!DOCTYPE x [<!ENTITY unused "text">]>{plain}'
    rows = [list(penstock.Engine(registry).run(text.encode())) for text in (plain, declared)]
    kinds = [[(row.subscription, row.ordinal, row.kind) for row in some] for some in rows]
    assert kinds[0] == kinds[1]
    for one, other in zip(*rows, strict=True):
        if one.kind not in ("element", "document", "message", "error"):
            assert one.value == other.value


def test_memory_stays_that_of_one_binding() -> None:
    query = penstock.xquery("for $b in //b where $b/c > 1 return <d>{$b/c/text()}</d>")
    registry = registry_of({"q": query})
    limits = penstock.Limits(memory_bytes_max=8 << 20)
    record = b"<b><c>7</c><unused>" + b"x" * 1000 + b"</unused></b>"

    def pieces() -> list[bytes]:
        return [b"<a>", *[record * 20] * 1_000, b"</a>"]

    count = 0
    with penstock.Engine(registry, limits).open() as opened:
        for piece in pieces():
            count += len(opened.feed(piece))
        count += len(opened.finish())
    assert count == 20_000


def test_the_first_row_comes_with_the_end_of_the_first_binding() -> None:
    registry = registry_of({"q": penstock.xquery("for $b in /a/b return <c>{$b/@n}</c>")})
    with penstock.Engine(registry).open() as opened:
        assert opened.feed(b'<a><b n="1"><x/>') == []
        assert [row.value for row in opened.feed(b"</b>")] == ['<c n="1"/>']
        opened.feed(b"</a>")
        opened.finish()


def test_nested_bindings_come_from_outside_in() -> None:
    registry = registry_of({"q": penstock.xquery("for $b in //b return string($b/@n)")})
    document = b'<a><b n="1"><b n="2"/></b><b n="3"/></a>'
    assert [row.value for row in penstock.Engine(registry).run(document)] == ["1", "2", "3"]


def test_an_error_of_one_query_leaves_the_others_alone() -> None:
    registry = registry_of(
        {
            "bad": penstock.xquery("for $b in //b return $b + 1"),
            "good": penstock.xquery("for $b in //b return string($b)"),
        }
    )
    for _ in range(4):  # it is never suspended: another document may suit it
        rows = list(penstock.Engine(registry).run(b"<a><b>1</b><b>x</b><b>2</b></a>"))
        errors = [row for row in rows if row.is_error]
        assert [(row.subscription, row.error and row.error.code) for row in errors] == [
            ("bad", "PX0001")
        ]
        assert [row.value for row in rows if row.subscription == "good"] == ["1", "x", "2"]


def test_streams_have_other_names() -> None:
    registry = registry_of({"q": penstock.xquery('doc("doc.xml")//b/string()')})
    document = b"<a><b>1</b></a>"
    assert list(penstock.Engine(registry, suspend_after=None).run(document)) == []
    engine = penstock.Engine(registry, streams={"doc.xml": "default"})
    assert [row.value for row in engine.run(document)] == ["1"]
    other = penstock.Document(document, stream="other")
    assert list(engine.run([other])) == []


def test_a_document_without_an_end_gives_a_message_for_each_binding() -> None:
    text = "<m>{for $b in //b where $b/@n > 1 return <c>{$b/@n}</c>}</m>"
    registry = registry_of({"q": penstock.xquery(text)})
    with penstock.Engine(registry).open(live=True) as opened:
        assert opened.feed(b'<a><b n="1"/>') == []
        assert [row.value for row in opened.feed(b'<b n="2"/>')] == ['<m><c n="2"/></m>']
        assert [row.value for row in opened.feed(b'<b n="3"/>')] == ['<m><c n="3"/></m>']
        opened.feed(b"</a>")
        assert opened.finish() == []
