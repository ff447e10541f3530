"""A comparison with a single child is decided when that child ends, whatever it is."""

from random import Random

import pytest

import penstock
from benchmarks.broker.documents import documents
from benchmarks.broker.dtds import BIB
from penstock.kernel import trace
from penstock.planning.programs import compile_program
from penstock.planning.schemas.programs import Compiled, compile_for
from penstock.schemas import Name, Schema

TRUSTED = penstock.schema(BIB.path, mode="trust")
HEAD = b"<bib><book year='1'><title>t</title><author><last>l</last><first>f</first></author>"
BODY = HEAD + b"<publisher>p</publisher><price>20</price>"
TAIL = b"</book></bib>"


def decided(text: str, schema: Schema | None) -> tuple[list[int], int]:
    """Return the places at which results are decided, and how many events one is held for."""
    query = penstock.xpath(text)
    program = None if schema is None else compile_for(query, "query", schema, is_fed=True)[0]
    events = trace([program or compile_program(query)], BODY + TAIL)
    return [at for at, found, _ in events for _ in found], sum(bool(held) for *_, held in events)


@pytest.mark.parametrize(
    "text", ["//book[price < 11]/title", "//book[publisher = 'q' and price > 3]/title"]
)
def test_what_is_false_is_dropped_before_the_parent_ends(text: str) -> None:
    plain, trusted = decided(text, None), decided(text, TRUSTED)
    assert plain[0] == trusted[0] == []
    assert trusted[1] < plain[1]


def test_documents_at_hand_keep_comparisons_that_an_index_answers() -> None:
    query = penstock.xpath("/bib/book[price < 11]/title")
    assert compile_for(query, "query", TRUSTED) == Compiled()


@pytest.mark.parametrize(
    "text",
    [
        "//book[price = '']",
        "//book[price != 'x']",
        "//book[author = 'x']",
        "//book[price]",
        "//book[not(price < 11)]",
        "//book[not(title and price < 11)]",
    ],
)
def test_other_conditions_stay(text: str) -> None:
    program = compile_for(penstock.xpath(text), "query", TRUSTED, is_fed=True).program
    same = penstock.xpath(text.replace("//book", "/bib/book"))
    assert program == compile_program(same)


def test_results_stay_the_same_with_and_without_the_child() -> None:
    random = Random(5)
    texts = [
        f"//book[{negation}({child} {operator} {value})]"
        for child in ("price", "publisher", "title")
        for operator in ("=", "!=", "<", ">=")
        for value in ("3", "'3'", "''")
        for negation in ("not", "boolean")
    ]
    elements = dict(TRUSTED.elements)
    loose = Schema(elements, TRUSTED.roots, "trust")
    assert loose.elements[Name("", "book")].children[Name("", "price")].is_single
    registry = penstock.Registry()
    for text in texts:
        registry.add(text, text)
    for document in documents(BIB, 5):
        text = document.decode()
        for child in ("price", "publisher"):
            # At most once is all that is used, so a child may be missing.
            if random.random() < 0.5:
                start, end = text.index(f"<{child}>"), text.index(f"</{child}>")
                text = text[:start] + text[end + len(child) + 3 :]
        plain = [*penstock.Engine(registry).run(text)]
        with penstock.Engine(registry, schemas={"default": loose}).open() as opened:
            under = opened.feed(text.encode())
        under += opened.results
        assert {(row.subscription, row.start) for row in plain} == {
            (row.subscription, row.start) for row in under
        }
