"""The broker gives the messages that one query at a time gives, however documents are read."""

from __future__ import annotations

from random import Random

import pytest

import penstock
from penstock import kernel
from penstock.planning.programs import compile_program
from penstock.planning.sequences.programs import IS_BROKERED
from penstock_testing.generate.brokered import random_brokered, random_nested
from penstock_testing.sequences import DynamicError, rows_of
from penstock_testing.sequences.describing import canonical
from penstock_testing.tree import parse

SEEDS = range(12)
COUNT = 20
"""As many queries have a broker."""
Row = tuple[str | None, str | None, str | None]


def is_brokered(text: str) -> bool:
    """Return whether a program has a form for the broker."""
    program = compile_program(text, "query", "xquery")
    # After the head is the code, with its length before it; then come the flags.
    length, shift, place = 0, 0, 5
    while True:
        byte = program[place]
        place += 1
        length |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return bool(program[place + length] & IS_BROKERED)


def registry_of(texts: list[str], **options: str) -> penstock.Registry:
    registry = penstock.Registry()
    for number, text in enumerate(texts):
        registry.add(f"q{number}", penstock.xquery(text, **options))
    return registry


def rows(found: list[penstock.Result]) -> list[Row]:
    described = [
        (row.subscription, row.value, row.error.reason if row.error else None) for row in found
    ]
    return sorted(described, key=str)


def fed(registry: penstock.Registry, document: bytes, cuts: list[int]) -> list[Row]:
    """Return the rows of a document in pieces, for which there is no broker."""
    snapshot = registry.snapshot()
    session = kernel.Session(snapshot.plan)
    session.begin()
    found: list[Row] = []
    for start, end in zip([0, *cuts], [*cuts, len(document)], strict=True):
        session.feed(document[start:end])
    session.finish()
    for row in session.take().rows()[0]:
        found.append((snapshot.names[row[0]], row[4], None))
    for _, subscription, error in session.take_failing():
        found.append((snapshot.names[subscription], None, error.reason))
    return sorted(found, key=str)


def is_same(text: str, found: list[Row], expected: list[Row]) -> bool:
    """Return whether rows of a query are equal.

    Which part of a conjunction is decided first is free (section 2.3.4 of XQuery 1.0), and a value
    of another part that is no number is seen or not seen with it. No other difference is free.
    """
    if found == expected:
        return True
    errors = {row[2].partition(":")[0] for row in (*found, *expected) if row[2]}
    return (" and " in text or "[" in text) and errors == {"FORG0001"}


def of(name: str, found: list[Row]) -> list[Row]:
    return [row for row in found if row[0] == name]


def whole(registry: penstock.Registry, document: bytes) -> list[Row]:
    return rows(list(penstock.Engine(registry).run(document)))


def test_most_random_queries_are_brokered() -> None:
    random = Random(0)
    texts = [random_brokered(random) for _ in range(200)]
    assert sum(map(is_brokered, texts)) > 150


@pytest.mark.parametrize("seed", SEEDS)
def test_together_whole_documents_give_what_each_query_gives_alone_in_pieces(seed: int) -> None:
    random = Random(seed)
    texts = [random_brokered(random) for _ in range(COUNT)]
    untyped = random.choice(("error", "false"))
    registry = registry_of(texts, untyped=untyped)
    for _ in range(3):
        document = random_nested(random)
        together = whole(registry, document)
        in_pieces = fed(registry, document, sorted(random.sample(range(len(document)), 3)))
        for number, text in enumerate(texts):
            name = f"q{number}"
            alone = penstock.Registry()
            alone.add(name, penstock.xquery(text, untyped=untyped))
            own = of(name, together)
            assert is_same(text, own, of(name, in_pieces)), (text, document)
            assert is_same(text, own, whole(alone, document)), (text, document)


@pytest.mark.parametrize("seed", SEEDS)
def test_messages_are_those_of_the_reference(seed: int) -> None:
    random = Random(1_000 + seed)
    texts = [random_brokered(random) for _ in range(COUNT)]
    registry = registry_of(texts)
    document = random_nested(random)
    found = {name: (value, error) for name, value, error in whole(registry, document)}
    for number, text in enumerate(texts):
        value, error = found.get(f"q{number}", (None, None))
        expected: list[Row]
        try:
            rows_found = rows_of(penstock.xquery(text), parse(document))
            expected = [(None, canonical(row.value), None) for row in rows_found]
        except DynamicError as failed:
            expected = [(None, None, failed.code)]
        own: list[Row] = [] if value is None else [(None, canonical(value), None)]
        if error is not None:
            own = [(None, None, error.partition(":")[0])]
        assert is_same(text, own, expected), (text, document)


def test_live_changes_equal_a_fresh_build() -> None:
    random = Random(7)
    texts = [random_brokered(random) for _ in range(60)]
    registry = penstock.Registry()
    engine = penstock.Engine(registry)
    subscribed: dict[str, str] = {}
    for turn in range(30):
        for _ in range(random.randint(1, 4)):
            name = f"s{random.randrange(40)}"
            if name in subscribed:
                registry.remove(name)
                del subscribed[name]
            else:
                subscribed[name] = random.choice(texts)
                registry.add(name, penstock.xquery(subscribed[name]))
        document = random_nested(random)
        fresh = penstock.Registry()
        for name, text in subscribed.items():
            fresh.add(name, penstock.xquery(text))
        live = rows(list(engine.run(document)))
        new = whole(fresh, document)
        assert live == new, (turn, document)


def test_equal_messages_are_made_once_and_point_to_the_same_bytes() -> None:
    pytest.importorskip("pyarrow")
    registry = registry_of(["<r>{for $x in //a where $x/b = '1' return $x/b}</r>"] * 40)
    document = b"<a><b>1</b><b>2</b></a>"
    [found] = penstock.Engine(registry).matches([penstock.Document(document)])
    assert len(found.entries) == 40
    assert found.fragments.column("value").to_pylist() == ["<r><b>1</b><b>2</b></r>"]
    assert {tuple(one) for one in found.entries.column("fragments").to_pylist()} == {(0,)}


def test_a_document_that_is_too_large_gives_the_same_messages() -> None:
    texts = [f"<r>{{for $x in //a where $x/b = {number} return $x/b}}</r>" for number in range(20)]
    registry = registry_of(texts)
    many = b"<d>" + b"".join(b"<a><b>%d</b></a>" % (n % 25) for n in range(5_000)) + b"</d>"
    assert whole(registry, many) == fed(registry, many, [100])
