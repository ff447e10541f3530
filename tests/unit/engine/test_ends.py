"""With trust, documents of a trusted schema are read as far as there may be matches."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.errors import PenstockError
from penstock.planning.modes import Mode
from penstock.registry import MemoryRegistry
from penstock.results import Result
from penstock_testing.generate import NAMESPACES, random_expression
from penstock_testing.generate.names import ATTRIBUTES, ELEMENTS, ROOT
from penstock_testing.generate.schemas import (
    Model,
    RandomDtd,
    random_dtd,
    random_valid_document,
)

DTD = """
<!ELEMENT page (head, body)>
<!ELEMENT head (title, meta*)>
<!ELEMENT body (title | p)*>
<!ELEMENT title (#PCDATA)> <!ELEMENT meta EMPTY> <!ELEMENT p (#PCDATA)>
"""
HEAD = b"<page><head><title>t</title><meta/></head><body>"
LONG = HEAD + b"<p>x</p>" * 300_000 + b"</body></page>"
PIECE_BYTES = 3
SEEDS = 60
REGISTRIES = 6


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> penstock.Schema:
    return schema_of(DTD, tmp_path_factory.mktemp("page"))


def schema_of(dtd: str, folder: Path) -> penstock.Schema:
    path = folder / "some.dtd"
    path.write_text(dtd, "utf-8")
    return penstock.schema(path, root="page" if "page" in dtd else "r", mode="trust")


def registry_of(*texts: str, mode: Mode = "query") -> MemoryRegistry:
    registry = penstock.Registry()
    for text in texts:
        registry.add(text, text, mode)
    return registry


class Slow:
    """A document that comes in small pieces; it counts the bytes that were read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.place = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int) -> bytes:
        piece = self._data[self.place : self.place + min(size, PIECE_BYTES)]
        self.place += len(piece)
        return piece


def engine_of(
    registry: MemoryRegistry, schema: penstock.Schema, *, trust: bool = True
) -> penstock.Engine:
    return penstock.Engine(registry, trust=trust, schemas={"default": schema})


def read_of(engine: penstock.Engine, data: bytes) -> tuple[list[Result], int]:
    """Return the rows of a document that comes in small pieces, and how many bytes were read."""
    source = Slow(data)
    return [*engine.run(source)], source.place


def test_a_document_is_read_up_to_the_end_of_possible_matches(page: penstock.Schema) -> None:
    registry = registry_of("//meta", "/page/head/title")
    end = HEAD.index(b"<body>")
    rows, read = read_of(engine_of(registry, page), HEAD + b"<p>x</p></body></page>")
    assert [row.name for row in rows] == ["title", "meta"]
    assert end <= read < end + 2 * PIECE_BYTES
    _, read = read_of(engine_of(registry, page, trust=False), HEAD + b"</body></page>")
    assert read == len(HEAD + b"</body></page>")


def test_explain_names_the_end(page: penstock.Schema) -> None:
    registry = registry_of("//meta", "/page/head/title")
    line = "no match after </head> (page/head): long documents end there"
    assert line in engine_of(registry, page).explain()
    assert "no match" not in engine_of(registry, page, trust=False).explain()
    registry.add("count", "count(//meta)")
    said = engine_of(registry, page).explain()
    assert "no match" not in said
    assert "matches anywhere: `count`; long documents are read to their end" in said


def test_explain_names_the_first_of_many_that_have_no_end(page: penstock.Schema) -> None:
    registry = registry_of("//meta")
    assert "matches anywhere" not in engine_of(registry, page).explain()
    for number in range(5):
        registry.add(f"all {number}", "//*")
    said = engine_of(registry, page).explain()
    assert "matches anywhere: `all 0`, `all 1`, `all 2` and 2 more;" in said


@pytest.mark.parametrize("further", ["count(//meta)", "//p", "//title", "//meta/following::p"])
def test_whoever_may_have_more_is_read_for(page: penstock.Schema, further: str) -> None:
    registry = registry_of("//meta", further)
    data = HEAD + b"<title/><p>x</p></body></page>"
    rows, read = read_of(engine_of(registry, page), data)
    plain, _ = read_of(penstock.Engine(registry), data)
    assert described(rows) == described(plain)
    assert read >= data.index(b"</page>")


def test_what_waits_is_read_for(page: penstock.Schema) -> None:
    registry = registry_of("/page[body/p = 'y']/head/title", "//meta")
    data = HEAD + b"<p>x</p><p>y</p><p>x</p><p>x</p></body></page>"
    rows, read = read_of(engine_of(registry, page), data)
    assert [row.name for row in rows] == ["meta", "title"]
    decided = data.index(b"y</p>") + len(b"y</p>")
    assert decided <= read < decided + 2 * PIECE_BYTES


def test_a_filter_that_is_false_ends_with_its_element(page: penstock.Schema) -> None:
    registry = registry_of("//head/title[. = 'u']", "//head[title = 'u']", mode="filter")
    data = HEAD + b"<p>x</p></body></page>"
    rows, read = read_of(engine_of(registry, page), data)
    assert rows == []
    assert read < data.index(b"</p>")


def test_the_next_document_is_read_from_its_start(page: penstock.Schema) -> None:
    registry = registry_of("//meta")
    engine = engine_of(registry, page)
    broken = LONG[:-20] + b"<<<"
    rows = [*engine.run([penstock.Document(one) for one in (LONG, broken, LONG)])]
    assert [(row.document, row.kind) for row in rows] == [(str(n), "element") for n in range(3)]
    assert engine.statistics().of("//meta").matches == 3
    (session,) = [
        one.session for one in engine._pool.idle_ones(engine._readers.fed_under["default"])
    ]
    assert 0 < session.statistics().bytes_tokenized < len(LONG)


def test_changes_of_the_registry_move_the_end(page: penstock.Schema) -> None:
    registry = registry_of("//meta")
    engine = engine_of(registry, page)
    data = HEAD + b"<p>x</p></body></page>"
    reads = [read_of(engine, data)[1]]
    registry.add("p", "//p")
    reads.append(read_of(engine, data)[1])
    registry.remove("p")
    reads.append(read_of(engine, data)[1])
    assert reads[0] == reads[2] < data.index(b"</p>") < reads[1]


def described(rows: list[Result]) -> list[tuple[object, ...]]:
    """Return rows as they are compared: everything but the object they are read from."""
    parts = ("subscription", "ordinal", "kind", "name", "value", "start", "end", "decided_at")
    return sorted((tuple(getattr(row, part) for part in parts) for row in rows), key=repr)


def result_of(row: Result) -> str:
    """Return a row without the moment of its decision, which a trusted schema moves."""
    return repr((row.subscription, row.kind, row.name, row.value, row.start, row.end))


def random_graph(random: Random) -> RandomDtd:
    """Return a DTD in which most children occur at most once."""
    names = (ROOT, *ELEMENTS)
    models: dict[str, Model | None] = {}
    for place, name in enumerate(names):
        children = [one for one in names[place + 1 :] if random.random() < 0.5]
        occurs = {one: random.choice(("", "?", "?", "*")) for one in children}
        if place and random.random() < 0.1:
            occurs[random.choice(names[1 : place + 1])] = "?"
        parts = tuple(Model(one, occurs=often) for one, often in occurs.items())
        models[name] = Model(separator=",", parts=parts) if parts else None
    mixed = frozenset(name for name, model in models.items() if model is None)
    attributes = {name: dict.fromkeys(ATTRIBUTES, False) for name in names}
    return RandomDtd(models, mixed, attributes, frozenset())


def random_path(random: Random) -> str:
    """Return a path with few steps and conditions, which has matches more often than others."""
    steps = [random.choice(("/r/", "//"))]
    for _ in range(random.randint(1, 3)):
        steps.append(random.choice((*ELEMENTS, "*")))
        if random.random() < 0.3:
            inside = random.choice((*ELEMENTS, "@*", ".//*", "/r/*"))
            steps.append(random.choice(("[{}]", "[not({})]", "[{} = '1']")).format(inside))
        steps.append(random.choice(("/", "/", "//")))
    return "".join(steps[:-1]) + random.choice(("", "", "", "/@*", "/text()"))


def random_registries(random: Random) -> Iterator[MemoryRegistry]:
    """Yield registries of one to three queries."""
    for _ in range(REGISTRIES):
        registry = penstock.Registry()
        for number in range(random.randint(1, 3)):
            write = random.choice((random_expression, random_path, random_path, random_path))
            mode: Mode = "filter" if random.random() < 0.3 else "query"
            try:
                query = penstock.xpath(write(random), namespaces=NAMESPACES)
                registry.add(str(number), query, mode)
            except PenstockError:
                continue  # some random texts are rejected
        yield registry


def test_random_documents_give_the_same_rows_and_are_read_less(tmp_path: Path) -> None:
    counts = {"with rows": 0, "read less": 0, "read less, with rows": 0}
    warnings.simplefilter("ignore", penstock.PenstockWarning)
    for seed in range(SEEDS):
        random = Random(seed)
        dtd = random_graph(random) if seed % 4 else random_dtd(random)
        schema = schema_of(str(dtd), tmp_path)
        for registry in random_registries(random):
            data = random_valid_document(random, dtd)
            rows, read = read_of(engine_of(registry, schema), data)
            whole, _ = read_of(engine_of(registry, schema, trust=False), data)
            assert described(rows) == described(whole), (seed, str(dtd), data)
            plain, _ = read_of(penstock.Engine(registry), data)
            assert sorted(map(result_of, rows)) == sorted(map(result_of, plain))
            # Without a schema, trust ends at filters that are all true, and where nobody asks.
            _, trusting = read_of(penstock.Engine(registry, trust=True), data)
            is_less = read < trusting
            counts["with rows"] += bool(rows)
            counts["read less"] += is_less
            counts["read less, with rows"] += is_less and bool(rows)
    assert min(counts.values()) > SEEDS // 3
